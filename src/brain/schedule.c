// schedule.c - goals of a time: kept, looked at once a second, and said to the kernel when they are due.
//
//     "every day at 9 …" --K5--> item, with the tick      pons schedule add --> item
//                                  |
//                   look: next_ms <= now?  --no--> nothing
//                                  | in time                        | too late
//          one commit: letter `wish`, event schedule.due,     event schedule.missed,
//                      item with the next next_ms             item with the next next_ms
//
// The letter is a wish: it answers no question that happens to be open, and sets nothing free.
#include "brain/schedule.h"

#include "brain/letter.h"
#include "brain/places.h"
#include "brain/record_table.h"
#include "pons/brain_schedule.h"
#include "pons/log.h"
#include "pons/schedule.h"

#include <stdlib.h>
#include <string.h>

#define WHERE        "schedule"
#define BY           "schedule "
#define LOOK_NS      PONS_NS_PER_S
#define CLOCK_WAS_MS (24 * INT64_C(3600000)) // that the wall clock goes back, and it had been wrong

// ---- items --------------------------------------------------------------------------------------

static int next_of(const pons_value *v, int64_t after_ms, int64_t *ret, pons_error *err)
{
    pons_zone *zone = NULL;
    pons_schedule when;
    int rc = pons_zone_open(pons_get_str(v, "zone", NULL), &zone, err);
    rc = rc < 0 ? rc
                : pons_schedule_read(pons_get_str(v, "schedule", ""), pons_get_int(v, "made_ms", 0),
                                     zone, &when, err);
    if (rc >= 0) {
        *ret = pons_schedule_next(&when, zone, after_ms);
    }
    pons_zone_close(zone);
    return rc;
}

static void new_id(char ret[16])
{
    static const char letters[] = "0123456789abcdefghjkmnpqrstvwxyz";
    pons_rand r;
    pons_rand_seed_os(&r);
    ret[0] = 's';
    ret[1] = '-';
    for (int i = 0; i < 6; i++) {
        ret[2 + i] = letters[pons_rand_below(&r, sizeof letters - 1)];
    }
    ret[8] = '\0';
}

int pons_schedule_goal_make(const pons_schedule_goal *g, int64_t now_ms, pons_value **ret,
                            pons_error *err)
{
    char id[16];
    int64_t next = 0;
    const char *text = g->text + strspn(g->text, " \t\r\n");
    if (!*text || strlen(text) > PONS_SCHEDULE_GOAL_MAX) {
        return pons_error_set(err, PONS_EINVAL, WHERE, "a goal has 1 to %d bytes",
                              PONS_SCHEDULE_GOAL_MAX);
    }
    new_id(id);
    pons_autovalue v = pons_object(
        "id", json_string(g->id ? g->id : id), "text", json_string(text), "schedule",
        json_string(g->schedule), "zone", json_string(g->zone ? g->zone : ""), "enabled",
        json_true(), "made_ms", json_integer(now_ms), "set_ms", json_integer(now_ms), "late_ms",
        json_integer(g->late_ms), "priority", g->priority ? json_string(g->priority) : NULL,
        "deadline_ms", g->deadline_ms > 0 ? json_integer(g->deadline_ms) : NULL, "by",
        json_string(g->by ? g->by : "a person"), "done", json_integer(0), "missed", json_integer(0),
        NULL);
    if (!v || !pons_get(v, "text") || !pons_get(v, "schedule")) {
        return pons_error_set(err, PONS_EINVAL, WHERE, "the goal is not valid UTF-8");
    }
    const int rc = next_of(v, now_ms, &next, err);
    if (rc < 0) {
        return rc;
    }
    if (next == 0) {
        return pons_error_set(err, PONS_EINVAL, WHERE, "'%s' is never due", g->schedule);
    }
    json_object_set_new(v, "next_ms", json_integer(next));
    *ret = pons_value_ref(v);
    return PONS_OK;
}

int pons_schedule_goal_enable(const pons_value *was, bool on, int64_t now_ms, pons_value **ret,
                              pons_error *err)
{
    int64_t next = 0;
    pons_autovalue v = json_copy((pons_value *)(uintptr_t)was);
    if (now_ms < pons_get_int(was, "made_ms", 0) - CLOCK_WAS_MS) { // by a clock that was wrong
        json_object_set_new(v, "made_ms", json_integer(now_ms));
    }
    const int rc = next_of(v, now_ms, &next, err);
    if (rc < 0) {
        return rc;
    }
    if (on && next == 0) {
        return pons_error_set(err, PONS_EINVAL, WHERE, "%s: its time is over",
                              pons_get_str(was, "id", ""));
    }
    json_object_set_new(v, "enabled", json_boolean(on));
    json_object_set_new(v, "set_ms", json_integer(now_ms));
    json_object_set_new(v, "next_ms", json_integer(next));
    *ret = pons_value_ref(v);
    return PONS_OK;
}

static int room(const pons_items *it, const char *ns, pons_error *err)
{
    pons_autovalue all = NULL;
    const int rc = pons_items_search(it, &(pons_items_query){.prefix = ns, .limit = -1}, &all, err);
    if (rc >= 0 && json_array_size(all) >= PONS_SCHEDULES_MAX) {
        return pons_error_set(err, PONS_EINVAL, WHERE, "there are %d already", PONS_SCHEDULES_MAX);
    }
    return rc;
}

int pons_schedule_goal_put(const pons_items *it, const char *ns, const pons_value *value,
                           pons_error *err)
{
    const char *id = pons_get_str(value, "id", "");
    pons_autovalue had = NULL;
    pons_error none = PONS_ERROR_INIT;
    const bool old = pons_items_get(it, ns, id, &had, &none) >= 0;
    const int rc = old ? PONS_OK : room(it, ns, err);
    return rc < 0 ? rc
                  : pons_items_put(it, ns, id, value,
                                   &(pons_item_put){.unsearched = true, .ttl_ms = -1}, err);
}

static pons_items items_of(const pons_brain *b)
{
    return (pons_items){.store = b->opts.store, .clock = b->opts.clock};
}

const char *pons__schedule_of(const char *by)
{
    return strncmp(by, BY, strlen(BY)) == 0 ? by + strlen(BY) : NULL;
}

// ---- looking ------------------------------------------------------------------------------------

// The item as it is to be from now on: due next; NULL: nothing is left of it.
static pons_value *moved_on(const pons_value *was, int64_t now_ms, bool missed, pons_error *err)
{
    int64_t next = 0;
    const int64_t due = pons_get_int(was, "next_ms", 0);
    if (next_of(was, now_ms > due ? now_ms : due, &next, err) < 0) {
        next = 0;
        missed = true; // its zone is gone, say: a person must see it
    }
    if (next == 0 && !missed) {
        return NULL;
    }
    pons_value *v = json_copy((pons_value *)(uintptr_t)was);
    const char *count = missed ? "missed" : "done";
    json_object_set_new(v, count, json_integer(pons_get_int(was, count, 0) + 1));
    json_object_set_new(v, missed ? "missed_ms" : "last_ms", json_integer(due));
    json_object_set_new(v, "set_ms", json_integer(now_ms));
    json_object_set_new(v, "next_ms", json_integer(next));
    json_object_set_new(v, "enabled", json_boolean(next != 0));
    return v;
}

static pons_value *told(pons_brain *b, const pons_value *item, int64_t now_ms)
{
    const int64_t due = pons_get_int(item, "next_ms", 0);
    return pons__event(b,
                       pons_object("schedule_id", json_string(pons_get_str(item, "id", "")), "text",
                                   json_string(pons_get_str(item, "text", "")), "due_ms",
                                   json_integer(due), "late_ms", json_integer(now_ms - due), NULL));
}

static int write_of(const pons_brain *b, const pons_value *was, const pons_value *next,
                    int64_t now_ms, pons_item_write **ret, pons_error *err)
{
    const pons_items it = items_of(b);
    const char *id = pons_get_str(was, "id", "");
    const pons_item_put put = {.unsearched = true, .ttl_ms = -1};
    return next
               ? pons_items_write_put(&it.opts, now_ms, b->opts.schedules, id, next, &put, ret, err)
               : pons_items_write_delete(b->opts.schedules, id, ret, err);
}

static int fire(pons_brain *b, const pons_value *was, int64_t now_ms, pons_error *err)
{
    char by[64];
    pons_item_write *item = NULL;
    pons_error own = PONS_ERROR_INIT;
    pons_autovalue next = moved_on(was, now_ms, false, &own);
    const int64_t lasts = pons_get_int(was, "deadline_ms", 0);
    snprintf(by, sizeof by, BY "%.48s", pons_get_str(was, "id", ""));
    const pons__said said = {.text = pons_get_str(was, "text", ""),
                             .word = "",
                             .by = by,
                             .priority = pons_get(was, "priority"),
                             .deadline_ms = lasts > 0 ? now_ms + lasts : 0};
    pons_autovalue value = pons__record_write(&pons__said_record, &said);
    int rc = write_of(b, was, next, now_ms, &item, err);
    rc = rc < 0 ? rc
                : pons_thread_post_with(b->thread, PONS_NS_KERNEL,
                                        pons__letter_words[PONS_LETTER_WISH], value, "schedule.due",
                                        told(b, was, now_ms), item, err);
    free(item);
    b->tick_now = b->tick_now || rc >= 0;
    return rc;
}

// Told before it is written that it was: who dies in between tells it again, and does not keep it for himself.
static int miss(pons_brain *b, const pons_value *was, int64_t now_ms, const char *why,
                pons_error *err)
{
    pons_error own = PONS_ERROR_INIT;
    pons_autovalue next = moved_on(was, now_ms, true, &own);
    pons_value *payload = told(b, was, now_ms);
    json_object_set_new(payload, "reason", json_string(own.status ? own.message : why));
    int rc = pons_thread_emit(b->thread, PONS_NS_KERNEL, "schedule.missed", payload, err);
    const pons_items it = items_of(b);
    return rc < 0 ? rc : pons_schedule_goal_put(&it, b->opts.schedules, next, err);
}

static int look_at(pons_brain *b, const pons_value *v, int64_t now_ms, pons_error *err)
{
    const int64_t due = pons_get_int(v, "next_ms", 0), late = pons_get_int(v, "late_ms", 0);
    if (!pons_get_bool(v, "enabled", false)) {
        return PONS_OK;
    }
    if (now_ms <
        pons_get_int(v, "set_ms", 0) - CLOCK_WAS_MS) { // the clock was wrong when it was set
        pons_autovalue next = NULL;
        const pons_items it = items_of(b);
        return pons_schedule_goal_enable(v, true, now_ms, &next, err) < 0
                   ? miss(b, v, now_ms, err->message, err)
                   : pons_schedule_goal_put(&it, b->opts.schedules, next, err);
    }
    if (due == 0 || due > now_ms) {
        return PONS_OK;
    }
    return late >= 0 && now_ms - due > late
               ? miss(b, v, now_ms, "nobody was there at its time", err)
               : fire(b, v, now_ms, err);
}

int pons__schedules_look(pons_brain *b, pons_error *err)
{
    const int64_t now_ns = pons_now_ns(&b->opts.clock);
    if (!b->opts.schedules || now_ns < b->schedules_ns) {
        return PONS_OK;
    }
    b->schedules_ns = now_ns + LOOK_NS;
    if (b->opts.schedules_keep && !b->opts.schedules_keep(b->opts.user, true)) {
        return PONS_OK;
    }
    pons_autovalue all = NULL;
    const pons_items it = items_of(b);
    const int64_t now_ms = pons_wall_ms(&b->opts.clock);
    int rc = pons_items_search(&it, &(pons_items_query){.prefix = b->opts.schedules, .limit = -1},
                               &all, err);
    size_t i;
    json_t *one;
    json_array_foreach(all, i, one)
    {
        pons_error own = PONS_ERROR_INIT;
        const int looked = look_at(b, pons_get(one, "value"), now_ms, &own);
        if (looked == PONS_ESTALE) { // the thread is somebody else's
            *err = own;
            rc = looked;
            break;
        }
        if (looked < 0) { // it stays due
            pons_log(PONS_LOG_WARN, WHERE, "%s: %s", pons_get_str(one, "key", ""), own.message);
        }
    }
    if (b->opts.schedules_keep) {
        b->opts.schedules_keep(b->opts.user, false);
    }
    return rc;
}

// ---- words --------------------------------------------------------------------------------------

// Why these words are no goal that can be done at a time; "": they are one.
static void fault_of(pons_brain *b, const char *text, char *ret, size_t cap)
{
    const pons_policy_ops *ops = b->opts.policy.ops;
    pons_autovalue parsed = NULL;
    pons_autovalue again = NULL;
    pons_error why = PONS_ERROR_INIT;
    pons_autovalue world = pons__places_world(b);
    const int rc = ops->parse(b->opts.policy.self, text, world, &parsed, &why);
    const bool control = rc >= 0 && json_is_string(pons_get(parsed, "control"));
    const bool twice =
        ops->when(b->opts.policy.self, text, &again, &(pons_error)PONS_ERROR_INIT) >= 0;
    snprintf(ret, cap, "%s",
             twice                    ? "two times are said"
             : control                ? "at a time goals are done, and nothing is controlled"
             : rc < 0 && !b->opts.llm ? why.message
                                      : "");
}

static int keep_said(pons_brain *b, pons_cx *cx, const pons_value *when, const char *by,
                     pons_value **ret, pons_error *err)
{
    const pons_items it = items_of(b);
    const pons_schedule_goal goal = {.text = pons_get_str(when, "text", ""),
                                     .schedule = pons_get_str(when, "schedule", ""),
                                     .late_ms = PONS_SCHEDULE_LATE_USUAL_MS,
                                     .by = by};
    int rc = pons_schedule_goal_make(&goal, pons_cx_wall_ms(cx), ret, err);
    rc = rc < 0 ? rc : room(&it, b->opts.schedules, err);
    return rc < 0 ? rc
                  : pons_cx_item_put(cx, b->opts.schedules, pons_get_str(*ret, "id", ""), *ret,
                                     &(pons_item_put){.unsearched = true, .ttl_ms = -1}, err);
}

bool pons__schedules_hear(pons_brain *b, pons_cx *cx, const char *text, const char *by)
{
    const pons_policy_ops *ops = b->opts.policy.ops;
    pons_autovalue when = NULL;
    pons_autovalue item = NULL;
    pons_error err = PONS_ERROR_INIT;
    char fault[PONS_ERROR_MESSAGE_MAX];
    if (!b->opts.schedules || !ops->when || ops->when(b->opts.policy.self, text, &when, &err) < 0) {
        return false;
    }
    fault_of(b, pons_get_str(when, "text", ""), fault, sizeof fault);
    if (!*fault && keep_said(b, cx, when, by, &item, &err) < 0) {
        snprintf(fault, sizeof fault, "%s", err.message);
    }
    pons_cx_emit(cx, *fault ? "schedule.refused" : "schedule.added",
                 pons__event(b, *fault ? pons_object("text", json_string(text), "reason",
                                                     json_string(fault), NULL)
                                       : pons_object("schedule", pons_value_ref(item), NULL)));
    return true;
}
