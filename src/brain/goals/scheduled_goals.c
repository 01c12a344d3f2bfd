// scheduled_goals.c - goals of a time: kept, looked at once a second, and said to the kernel when they are due.
//
//     "every day at 9 …" --K5--> item, with the tick      pons schedule add --> item
//     "when somebody is at the door …": the same, due by what was seen (pons/brain_schedule.h)
//                                  |
//                   look: next_ms <= now?  --no--> nothing
//                                  | in time                        | too late
//          one commit: letter `wish`, event schedule.due,     event schedule.missed,
//                      item with the next next_ms             item with the next next_ms
//
// The letter is a wish: it answers no question that happens to be open, and sets nothing free.
#include "brain/goals/scheduled_goals.h"

#include "brain/goals/named_places.h"
#include "brain/goals/seen_objects.h"
#include "brain/records/event_fields.h"
#include "brain/records/inbox_fields.h"
#include "brain/records/intent_fields.h"
#include "brain/records/item_fields.h"
#include "pons/brain_schedule.h"
#include "pons/buf.h"
#include "pons/log.h"
#include "pons/object_memory.h"
#include "pons/schedule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WHERE        "schedule"
#define BY           "schedule "
#define LOOK_NS      PONS_NS_PER_S
#define CLOCK_WAS_MS (24 * INT64_C(3600000)) // that the wall clock goes back, and it had been wrong

#define WATCH        "when "
#define WATCH_NEAR_M 2.0 // of an object that stands for a place

// ---- watches ------------------------------------------------------------------------------------

// "when THING at PLACE". False: it is a schedule of time.
static bool watch_of(const char *schedule, char thing[PONS_OBJECT_TEXT],
                     char place[PONS_OBJECT_TEXT])
{
    if (strncmp(schedule, WATCH, strlen(WATCH)) != 0) {
        return false;
    }
    char *at = NULL;
    pons_utf8_copy(thing, PONS_OBJECT_TEXT, schedule + strlen(WATCH));
    at = strstr(thing, " at ");
    pons_utf8_copy(place, PONS_OBJECT_TEXT, at ? at + strlen(" at ") : "");
    thing[at ? (size_t)(at - thing) : strlen(thing)] = '\0';
    return *thing;
}

static bool is_watch(const pons__scheduled *s)
{
    char thing[PONS_OBJECT_TEXT], place[PONS_OBJECT_TEXT];
    return watch_of(s->schedule, thing, place);
}

// Where the place is that is no zone: 门口 is at the 门. Not known: nothing is called so.
static pons__pose object_at(const pons_brain *b, const char *name)
{
    static const char beside[] = "口";
    char called[PONS_OBJECT_TEXT];
    const size_t n = strlen(name), k = strlen(beside);
    pons_utf8_copy(called, sizeof called, name);
    if (n > k && n < sizeof called && strcmp(name + n - k, beside) == 0) {
        called[n - k] = '\0';
    }
    const char *id = called;
    pons_each(one, pons_get(b->port.greeting.as.hello.world, "objects")) {
        pons_each_member(language, words, pons_get(one, "names")) {
            id = pons_list_has_word(words, called) ? pons_get_str(one, "id", id) : id;
        }
    }
    pons_autovalue found = pons__seen_find(b, id, 0);
    const pons_value *mapped =
        pons__find(pons_get(b->port.greeting.as.hello.world, "objects"), "id", id);
    const pons_value *at =
        pons_get(json_array_size(found) ? json_array_get(found, 0) : mapped, "position");
    return (pons__pose){.known = json_array_size(at) >= 2,
                        .x = json_number_value(json_array_get(at, 0)),
                        .y = json_number_value(json_array_get(at, 1))};
}

// When such a thing was seen there last, after a time; 0: it was not.
static int64_t seen_since(const pons_brain *b, const char *thing, const char *place,
                          int64_t after_ms)
{
    const pons__zone *zone = *place ? pons__zone_find(b, place) : NULL;
    const pons__pose near = *place && !zone ? object_at(b, place) : (pons__pose){0};
    pons_autovalue found = pons__seen_find(b, thing, after_ms + 1);
    int64_t newest = 0;
    pons_each(one, found) {
        const pons_value *at = pons_get(one, "position");
        const double away_m = hypot(json_number_value(json_array_get(at, 0)) - near.x,
                                    json_number_value(json_array_get(at, 1)) - near.y);
        const bool there = !*place || (zone ? strcmp(zone->id, pons_get_str(one, "zone", "")) == 0
                                            : near.known && away_m <= WATCH_NEAR_M);
        const int64_t last_ms = pons_get_int(one, "last_ms", 0);
        newest = there && pons_get_bool(one, "known", false) && last_ms > newest ? last_ms : newest;
    }
    return newest;
}

// ---- items --------------------------------------------------------------------------------------

static int next_of(const pons__scheduled *s, int64_t after_ms, int64_t *ret, pons_error *err)
{
    pons_zone *zone = NULL;
    pons_schedule when;
    int rc = pons_zone_open(s->zone, &zone, err);
    if (rc >= 0 && is_watch(s)) {
        *ret = after_ms; // looked at all the time
        pons_zone_close(zone);
        return rc;
    }
    rc = rc < 0 ? rc : pons_schedule_read(s->schedule, s->made_ms, zone, &when, err);
    if (rc >= 0) {
        *ret = pons_schedule_next(&when, zone, after_ms);
    }
    pons_zone_close(zone);
    return rc;
}

static bool is_utf8(const char *text)
{
    return pons_utf8_valid(text, strlen(text)) == strlen(text);
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
    const char *text = g->text + strspn(g->text, " \t\r\n");
    if (!*text || strlen(text) > PONS_SCHEDULE_GOAL_MAX) {
        return pons_error_set(err, PONS_EINVAL, WHERE, "a goal has 1 to %d bytes",
                              PONS_SCHEDULE_GOAL_MAX);
    }
    new_id(id);
    pons_autovalue priority = g->priority ? json_string(g->priority) : NULL;
    pons__scheduled made = {.id = g->id ? g->id : id,
                            .text = text,
                            .schedule = g->schedule,
                            .zone = g->zone ? g->zone : "",
                            .enabled = true,
                            .made_ms = now_ms,
                            .set_ms = now_ms,
                            .late_ms = g->late_ms,
                            .priority = priority,
                            .deadline_ms = g->deadline_ms > 0 ? g->deadline_ms : 0,
                            .by = g->by ? g->by : "a person"};
    if (is_watch(&made)) {
        made.again_ms = g->again_ms > 0 ? g->again_ms : PONS_WATCH_AGAIN_USUAL_MS;
    }
    if (!is_utf8(made.id) || !is_utf8(text) || !is_utf8(made.schedule) || !is_utf8(made.zone) ||
        !is_utf8(made.by) || (g->priority && !priority)) {
        return pons_error_set(err, PONS_EINVAL, WHERE, "the goal is not valid UTF-8");
    }
    const int rc = next_of(&made, now_ms, &made.next_ms, err);
    if (rc < 0) {
        return rc;
    }
    if (made.next_ms == 0) {
        return pons_error_set(err, PONS_EINVAL, WHERE, "'%s' is never due", g->schedule);
    }
    *ret = pons__record_write(&pons__scheduled_record, &made);
    return PONS_OK;
}

static int enabled(const pons__scheduled *was, bool on, int64_t now_ms, pons_value **ret,
                   pons_error *err)
{
    pons__scheduled s = *was;                                                 // its texts are was's
    s.made_ms = now_ms < was->made_ms - CLOCK_WAS_MS ? now_ms : was->made_ms; // by a wrong clock
    const int rc = next_of(&s, now_ms, &s.next_ms, err);
    if (rc < 0) {
        return rc;
    }
    if (on && s.next_ms == 0) {
        return pons_error_set(err, PONS_EINVAL, WHERE, "%s: its time is over", was->id);
    }
    s.enabled = on;
    s.set_ms = now_ms;
    *ret = pons__record_write(&pons__scheduled_record, &s);
    return PONS_OK;
}

int pons_schedule_goal_enable(const pons_value *was, bool on, int64_t now_ms, pons_value **ret,
                              pons_error *err)
{
    PONS__AUTO(scheduled) s = pons__record_read(&pons__scheduled_record, was);
    return enabled(s, on, now_ms, ret, err);
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

static int put(const pons_items *it, const char *ns, const char *id, const pons_value *value,
               pons_error *err)
{
    pons_autovalue had = NULL;
    pons_error none = PONS_ERROR_INIT;
    const bool old = pons_items_get(it, ns, id, &had, &none) >= 0;
    const int rc = old ? PONS_OK : room(it, ns, err);
    return rc < 0 ? rc
                  : pons_items_put(it, ns, id, value,
                                   &(pons_item_put){.unsearched = true, .ttl_ms = -1}, err);
}

int pons_schedule_goal_put(const pons_items *it, const char *ns, const pons_value *value,
                           pons_error *err)
{
    PONS__AUTO(scheduled) s = pons__record_read(&pons__scheduled_record, value);
    return put(it, ns, s->id, value, err);
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
static pons_value *moved_on(const pons__scheduled *was, int64_t now_ms, bool missed,
                            pons_error *err)
{
    pons__scheduled s = *was; // its texts are was's
    if (next_of(was, now_ms > was->next_ms ? now_ms : was->next_ms, &s.next_ms, err) < 0) {
        s.next_ms = 0;
        missed = true; // its zone is gone, say: a person must see it
    }
    if (s.next_ms == 0 && !missed) {
        return NULL;
    }
    s.missed += missed;
    s.done += !missed;
    *(missed ? &s.missed_ms : &s.last_ms) = was->next_ms;
    s.set_ms = now_ms;
    s.enabled = s.next_ms != 0;
    return pons__record_write(&pons__scheduled_record, &s);
}

static pons_value *reported(pons_brain *b, const pons__record *type, const pons__scheduled *s,
                            int64_t now_ms, const char *reason)
{
    return pons__event(
        b,
        pons__record_write(type, &(pons__schedule_reported){
                                     .schedule_id = s->id,
                                     .text = s->text,
                                     .due_ms = s->next_ms,
                                     .late_ms = now_ms - s->next_ms,
                                     .reason = reason,
                                     .watch = is_watch(s) ? s->schedule + strlen(WATCH) : NULL}));
}

static int write_of(const pons_brain *b, const char *id, const pons_value *next, int64_t now_ms,
                    pons_item_write **ret, pons_error *err)
{
    const pons_items it = items_of(b);
    const pons_item_put how = {.unsearched = true, .ttl_ms = -1};
    return next
               ? pons_items_write_put(&it.opts, now_ms, b->opts.schedules, id, next, &how, ret, err)
               : pons_items_write_delete(b->opts.schedules, id, ret, err);
}

static int fire(pons_brain *b, const pons__scheduled *was, int64_t now_ms, pons_error *err)
{
    char by[64];
    pons_item_write *item = NULL;
    pons_error own = PONS_ERROR_INIT;
    pons_autovalue next = moved_on(was, now_ms, false, &own);
    snprintf(by, sizeof by, BY "%.48s", was->id);
    const pons__said said = {.text = was->text,
                             .stop_boot = "",
                             .word = "",
                             .by = by,
                             .priority = was->priority,
                             .deadline_ms = was->deadline_ms > 0 ? now_ms + was->deadline_ms : 0};
    pons_autovalue value = pons__record_write(&pons__said_record, &said);
    int rc = write_of(b, was->id, next, now_ms, &item, err);
    rc = rc < 0 ? rc
                : pons_thread_post_with(
                      b->thread, PONS_NS_KERNEL, pons__inbox_message_words[PONS_LETTER_WISH], value,
                      pons__schedule_due_record.name,
                      reported(b, &pons__schedule_due_record, was, now_ms, ""), item, err);
    free(item);
    b->tick_now = b->tick_now || rc >= 0;
    return rc;
}

// Told before it is written that it was: who dies in between tells it again, and does not keep it for himself.
static int miss(pons_brain *b, const pons__scheduled *was, int64_t now_ms, const char *why,
                pons_error *err)
{
    pons_error own = PONS_ERROR_INIT;
    pons_autovalue next = moved_on(was, now_ms, true, &own);
    const pons__record *type = &pons__schedule_missed_record;
    int rc = pons_thread_emit(b->thread, PONS_NS_KERNEL, type->name,
                              reported(b, type, was, now_ms, own.status ? own.message : why), err);
    const pons_items it = items_of(b);
    return rc < 0 ? rc : put(&it, b->opts.schedules, was->id, next, err);
}

// Each sighting moves the watch on; the first after a while is what it was made for.
static int look_for(pons_brain *b, const pons__scheduled *s, int64_t now_ms, pons_error *err)
{
    char thing[PONS_OBJECT_TEXT], place[PONS_OBJECT_TEXT];
    watch_of(s->schedule, thing, place);
    const int64_t last_ms = s->seen_ms > s->set_ms ? s->seen_ms : s->set_ms;
    const int64_t known_ms = last_ms > now_ms ? now_ms - 1 : last_ms; // the clock went back
    const int64_t newest = b->opts.objects ? seen_since(b, thing, place, known_ms) : 0;
    pons__scheduled seen = *s; // its texts are s's
    seen.seen_ms = newest;
    if (newest <= 0) {
        return PONS_OK;
    }
    if (s->seen_ms > 0 && newest - s->seen_ms < s->again_ms) { // it is still there
        const pons_items it = items_of(b);
        pons_autovalue value = pons__record_write(&pons__scheduled_record, &seen);
        return put(&it, b->opts.schedules, s->id, value, err);
    }
    seen.next_ms = newest;
    return s->late_ms >= 0 && now_ms - newest > s->late_ms
               ? miss(b, &seen, now_ms, "nobody was there at its time", err)
               : fire(b, &seen, now_ms, err);
}

static int look_at(pons_brain *b, const pons__scheduled *s, int64_t now_ms, pons_error *err)
{
    if (!s->enabled) {
        return PONS_OK;
    }
    if (is_watch(s)) {
        return look_for(b, s, now_ms, err);
    }
    if (now_ms < s->set_ms - CLOCK_WAS_MS) { // the clock was wrong when it was set
        pons_autovalue next = NULL;
        const pons_items it = items_of(b);
        return enabled(s, true, now_ms, &next, err) < 0
                   ? miss(b, s, now_ms, err->message, err)
                   : put(&it, b->opts.schedules, s->id, next, err);
    }
    if (s->next_ms == 0 || s->next_ms > now_ms) {
        return PONS_OK;
    }
    return s->late_ms >= 0 && now_ms - s->next_ms > s->late_ms
               ? miss(b, s, now_ms, "nobody was there at its time", err)
               : fire(b, s, now_ms, err);
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
    pons_each(one, all) {
        pons_error own = PONS_ERROR_INIT;
        PONS__AUTO(item) row = pons__record_read(&pons__item_record, one);
        PONS__AUTO(scheduled) s = pons__record_read(&pons__scheduled_record, row->value);
        const int looked = look_at(b, s, now_ms, &own);
        if (looked < 0 && looked != PONS_ESTALE) { // it stays due
            pons_log(PONS_LOG_WARN, WHERE, "%s: %s", row->key, own.message);
        }
        if (looked == PONS_ESTALE) { // the thread is somebody else's
            *err = own;
            rc = looked;
            break;
        }
    }
    if (b->opts.schedules_keep) {
        b->opts.schedules_keep(b->opts.user, false);
    }
    return rc;
}

// ---- words --------------------------------------------------------------------------------------

// "Go slowly to the kitchen": how fast is told when the time has come. NULL: nothing of it is said, or what only a person
// may say, then.
static pons__hurry *pace_of(const pons_brain *b, const char *text)
{
    const pons_policy_ops *ops = b->opts.policy.ops;
    pons_autovalue said = NULL;
    if (!ops->pace ||
        ops->pace(b->opts.policy.self, text, &said, &(pons_error)PONS_ERROR_INIT) < 0) {
        return NULL;
    }
    pons__hurry *pace = pons__record_read(&pons__hurry_record, said);
    if (pace->before || strcmp(pace->word, "faster") == 0 || strcmp(pace->word, "normal") == 0) {
        pons__record_free(&pons__hurry_record, pace);
        return NULL;
    }
    return pace;
}

// Why these words are no goal that can be done at a time; "": they are one.
static void fault_of(pons_brain *b, const char *text, char *ret, size_t cap)
{
    const pons_policy_ops *ops = b->opts.policy.ops;
    pons_autovalue parsed = NULL;
    pons_autovalue again = NULL;
    pons_error why = PONS_ERROR_INIT;
    pons_autovalue world = pons__places_world(b);
    pons__hurry *pace = pace_of(b, text);
    const char *wish = pace ? pace->rest : text;
    const int rc = wish ? ops->parse(b->opts.policy.self, wish, world, &parsed, &why) : PONS_OK;
    pons__record_free(&pons__hurry_record, pace);
    PONS__AUTO(understood) u = pons__record_read(&pons__understood_record, rc >= 0 ? parsed : NULL);
    const bool control = u->control;
    const bool twice =
        ops->when(b->opts.policy.self, text, &again, &(pons_error)PONS_ERROR_INIT) >= 0;
    snprintf(ret, cap, "%s",
             twice                    ? "two times are said"
             : control                ? "at a time goals are done, and nothing is controlled"
             : rc < 0 && !b->opts.llm ? why.message
                                      : "");
}

static int keep_said(pons_brain *b, pons_cx *cx, const pons__timed *when, const char *by,
                     pons_value **ret, pons_error *err)
{
    const pons_items it = items_of(b);
    char id[16];
    new_id(id);
    // Who is told of what was seen is told now, whatever the robot does.
    const bool tells = strncmp(when->schedule, WATCH, strlen(WATCH)) == 0 &&
                       (strncmp(when->text, "say ", 4) == 0 || strncmp(when->text, "说", 3) == 0);
    const pons_schedule_goal goal = {.id = id,
                                     .text = when->text,
                                     .schedule = when->schedule,
                                     .late_ms = PONS_SCHEDULE_LATE_USUAL_MS,
                                     .priority = tells ? "urgent" : NULL,
                                     .by = by};
    int rc = pons_schedule_goal_make(&goal, pons_cx_wall_ms(cx), ret, err);
    rc = rc < 0 ? rc : room(&it, b->opts.schedules, err);
    return rc < 0 ? rc
                  : pons_cx_item_put(cx, b->opts.schedules, id, *ret,
                                     &(pons_item_put){.unsearched = true, .ttl_ms = -1}, err);
}

bool pons__schedules_hear(pons_brain *b, pons_cx *cx, const char *text, const char *by)
{
    const pons_policy_ops *ops = b->opts.policy.ops;
    pons_autovalue said = NULL;
    pons_autovalue item = NULL;
    pons_error err = PONS_ERROR_INIT;
    char fault[PONS_ERROR_MESSAGE_MAX];
    if (!b->opts.schedules || !ops->when || ops->when(b->opts.policy.self, text, &said, &err) < 0) {
        return false;
    }
    PONS__AUTO(timed) when = pons__record_read(&pons__timed_record, said);
    char thing[PONS_OBJECT_TEXT], place[PONS_OBJECT_TEXT];
    const bool watch = watch_of(when->schedule, thing, place);
    if (watch && !pons__seen_kind(b, thing)) {
        return false; // it may mean something else
    }
    fault_of(b, when->text, fault, sizeof fault);
    if (watch && *place && !pons__zone_find(b, place) && !object_at(b, place).known) {
        snprintf(fault, sizeof fault, "nobody knows where %s is", place);
    }
    if (!*fault && keep_said(b, cx, when, by, &item, &err) < 0) {
        snprintf(fault, sizeof fault, "%s", err.message);
    }
    if (*fault) {
        PONS__EMIT(b, cx, schedule_refused, .text = text, .reason = fault);
        return true;
    }
    PONS__AUTO(scheduled) kept = pons__record_read(&pons__scheduled_record, item);
    PONS__EMIT(b, cx, schedule_added, .schedule = kept);
    return true;
}
