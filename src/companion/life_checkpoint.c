// life_checkpoint.c - what of a life is kept, and how: one JSON object as a checkpoint of the companion's
// thread, its events as events, messages from its inbox; and what was read as items (lasting_memories.c). A
// commit has all of a minute, or none.
//
//     {"v":1, "minute":..., "first":..., "until":..., "seed":..., "simulated":..., "time":"...",
//      "place":"home", "energy":71.5, "signature":"...",
//      "activity":{"type":"sleep","since":...,"ends":...,"until":"...","branch":"..."} | null,
//      "memory":{"last_sleep":...,"last_wake":...,"last_school":...},
//      "messages":[{"text","from"?,"urgent","at"}],
//      "policy":{"asked_window","cool_until","requests","pending"?,"suggestion"?,"used",
//                "rejects":[...]}}
#include "companion/life_checkpoint.h"

#include "companion/events.h"
#include "companion/lasting_memories.h"
#include "companion/world_moment.h"
#include "companion/world_view_queries.h"
#include "pons/growing_list.h"
#include "pons/printable.h"

#include <stdlib.h>
#include <string.h>

enum { STATE_VERSION = 1, MS_A_MINUTE = 60000, KEEP_CHECKPOINTS = 2 };
static const char NS[] = "companion", KIND[] = "message";

static int pons__co_hear(pons_companion *c, const char *text, const char *from, bool urgent)
{
    if (!pons_list_reserve(&c->world.messages, NULL, c->world.n_messages + 1,
                           sizeof *c->world.messages)) {
        return PONS_ENOMEM;
    }
    pons__co_message m = {.text = strndup(text, pons_text_whole(text, PONS__CO_TEXT_MAX)),
                          .from = from ? strdup(from) : NULL,
                          .urgent = urgent,
                          .at = c->minute};
    if (!m.text || (from && !m.from)) {
        pons__co_message_fini(&m);
        return PONS_ENOMEM;
    }
    c->world.messages[c->world.n_messages++] = m;
    return PONS_OK;
}

// ---- state --------------------------------------------------------------------------------------

static pons_value *proposal_json(const pons__co_proposal *p)
{
    return pons_object("type", json_string(p->type), "place", json_string(p->place), "device",
                       json_string(p->device), "preemptive", json_boolean(p->preemptive),
                       "rationale", json_string(p->rationale), NULL);
}

static pons_value *policy_json(const pons__co_policy *p)
{
    pons_value *rejects = json_array();
    for (size_t i = 0; i < p->n_rejects; i++) {
        const pons__co_reject *r = &p->rejects[i];
        json_array_append_new(rejects,
                              pons_object("key", json_string(r->key), "until",
                                          json_integer(r->until), "reason", json_string(r->reason),
                                          "done", json_boolean(r->done), NULL));
    }
    pons_value *waits = json_array();
    for (size_t i = 0; i < sizeof p->waits / sizeof *p->waits; i++) {
        if (*p->waits[i].key) {
            json_array_append_new(waits, pons_object("key", json_string(p->waits[i].key), "at",
                                                     json_integer(p->waits[i].at), NULL));
        }
    }
    return pons_object("asked_window", json_integer(p->asked_window), "cool_until",
                       json_integer(p->cool_until), "requests", json_integer(p->requests),
                       "pending", p->pending ? json_integer(p->pending) : NULL, "suggestion",
                       p->has ? proposal_json(&p->suggestion) : NULL, "used", json_boolean(p->used),
                       "rejects", rejects, "waits", waits, NULL);
}

static pons_value *messages_json(const pons__co_world *w)
{
    pons_value *list = json_array();
    for (size_t i = 0; i < w->n_messages; i++) {
        const pons__co_message *m = &w->messages[i];
        json_array_append_new(list, pons_object("text", json_string(m->text), "from",
                                                m->from ? json_string(m->from) : NULL, "urgent",
                                                json_boolean(m->urgent), "at", json_integer(m->at),
                                                NULL));
    }
    return list;
}

static pons_value *done_json(const pons__co_world *w)
{
    pons_value *list = json_array();
    for (size_t i = 0; i < w->n_done; i++) {
        const pons__co_done *d = &w->done[i];
        json_array_append_new(list,
                              pons_object("type", json_string(d->type), "at", json_integer(d->at),
                                          "branch", json_string(d->branch), "rationale",
                                          json_string(d->rationale), NULL));
    }
    return list;
}

static void read_done(pons__co_world *w, const pons_value *list)
{
    w->n_done = 0;
    pons_each(o, list) {
        if (w->n_done < PONS__CO_DONE_MAX) {
            pons__co_done *d = &w->done[w->n_done++];
            *d = (pons__co_done){.at = pons_get_int(o, "at", 0)};
            snprintf(d->type, sizeof d->type, "%s", pons_get_str(o, "type", ""));
            snprintf(d->branch, sizeof d->branch, "%s", pons_get_str(o, "branch", ""));
            snprintf(d->rationale, sizeof d->rationale, "%s", pons_get_str(o, "rationale", ""));
        }
    }
}

pons_value *pons__co_state_json(const pons_companion *c)
{
    const pons__co_world *w = &c->world;
    const pons__co_current *now = &w->current;
    char time[32], until[32];
    pons_value *activity =
        !now->what
            ? json_null()
            : pons_object(
                  "type", json_string(now->what->id), "since", json_integer(now->since), "ends",
                  json_integer(now->until), "until",
                  json_string(pons_world_view_time(c->view, now->until, until, sizeof until)),
                  "branch", json_string(now->branch), NULL);
    return pons_object("v", json_integer(STATE_VERSION), "minute", json_integer(c->minute), "first",
                       json_integer(c->first_min), "until", json_integer(c->until_min), "seed",
                       json_integer((json_int_t)c->seed), "simulated", json_boolean(c->simulated),
                       "time",
                       json_string(pons_world_view_time(c->view, c->minute, time, sizeof time)),
                       "place", json_string(w->place), "energy", json_real(w->energy), "signature",
                       json_string(c->signature), "activity", activity, "memory",
                       pons_object("last_sleep", json_integer(w->last_sleep), "last_wake",
                                   json_integer(w->last_wake), "last_school",
                                   json_integer(w->last_school), "done", done_json(w), NULL),
                       "messages", messages_json(w), "policy", policy_json(&c->board.policy), NULL);
}

static void read_policy(pons__co_policy *p, const pons_value *o)
{
    const pons_value *s = pons_get(o, "suggestion");
    *p = (pons__co_policy){.asked_window = pons_get_int(o, "asked_window", -1),
                           .cool_until = pons_get_int(o, "cool_until", 0),
                           .requests = pons_get_int(o, "requests", 0),
                           .pending = pons_get_int(o, "pending", 0),
                           .has = s != NULL,
                           .used = pons_get_bool(o, "used", false)};
    p->suggestion = (pons__co_proposal){.preemptive = pons_get_bool(s, "preemptive", false),
                                        .from_model = true};
    snprintf(p->suggestion.type, PONS__CO_ID_MAX, "%s", pons_get_str(s, "type", ""));
    snprintf(p->suggestion.place, PONS__CO_ID_MAX, "%s", pons_get_str(s, "place", ""));
    snprintf(p->suggestion.device, PONS__CO_ID_MAX, "%s", pons_get_str(s, "device", ""));
    snprintf(p->suggestion.rationale, sizeof p->suggestion.rationale, "%s",
             pons_get_str(s, "rationale", ""));
    pons_each(r, pons_get(o, "rejects")) {
        if (p->n_rejects < PONS__CO_REJECTS_MAX) {
            pons__co_reject *to = &p->rejects[p->n_rejects++];
            to->until = pons_get_int(r, "until", 0);
            to->done = pons_get_bool(r, "done", false);
            snprintf(to->key, sizeof to->key, "%s", pons_get_str(r, "key", ""));
            snprintf(to->reason, sizeof to->reason, "%s", pons_get_str(r, "reason", ""));
        }
    }
}

static void read_waits(pons__co_policy *p, const pons_value *list)
{
    const size_t most = sizeof p->waits / sizeof *p->waits;
    for (size_t i = 0; i < json_array_size(list) && i < most; i++) {
        const pons_value *one = json_array_get(list, i);
        snprintf(p->waits[i].key, sizeof p->waits[i].key, "%s", pons_get_str(one, "key", ""));
        p->waits[i].at = pons_get_int(one, "at", 0);
    }
}

static int read_activity(pons_companion *c, const pons_value *o, pons_error *err)
{
    pons__co_current *now = &c->world.current;
    const char *type = pons_get_str(o, "type", NULL);
    *now = (pons__co_current){0};
    if (!type) {
        return PONS_OK;
    }
    now->what = pons__co_activity_of(c->view, type);
    now->since = pons_get_int(o, "since", 0);
    now->until = pons_get_int(o, "ends", 0);
    snprintf(now->branch, sizeof now->branch, "%s", pons_get_str(o, "branch", ""));
    return now->what ? PONS_OK
                     : pons_error_set(err, PONS_EINVAL, PONS__COMPANION,
                                      "the life that is kept is at '%s', which the world view has "
                                      "no more",
                                      type);
}

int pons__co_state_read(pons_companion *c, const pons_value *s, pons_error *err)
{
    const pons_value *memory = pons_get(s, "memory");
    if (pons_get_int(s, "v", 0) != STATE_VERSION) {
        return pons_error_set(err, PONS_EUNSUPPORTED, PONS__COMPANION,
                              "the life that is kept has version %d, and this program reads %d",
                              (int)pons_get_int(s, "v", 0), STATE_VERSION);
    }
    c->minute = pons_get_int(s, "minute", 0);
    c->first_min = pons_get_int(s, "first", c->minute);
    c->until_min = pons_get_int(s, "until", 0);
    c->seed = (uint64_t)pons_get_int(s, "seed", 0);
    c->simulated = pons_get_bool(s, "simulated", false);
    c->world.energy = pons_get_num(s, "energy", 0);
    c->world.last_sleep = pons_get_int(memory, "last_sleep", 0);
    c->world.last_wake = pons_get_int(memory, "last_wake", 0);
    c->world.last_school = pons_get_int(memory, "last_school", 0);
    read_done(&c->world, pons_get(memory, "done"));
    snprintf(c->world.place, PONS__CO_ID_MAX, "%s", pons_get_str(s, "place", ""));
    snprintf(c->signature, sizeof c->signature, "%s", pons_get_str(s, "signature", ""));
    if (!pons__co_place_of(c->view, c->world.place)) {
        return pons_error_set(err, PONS_EINVAL, PONS__COMPANION,
                              "the life that is kept is in '%s', which the world view has no more",
                              c->world.place);
    }
    read_policy(&c->board.policy, pons_get(s, "policy"));
    read_waits(&c->board.policy, pons_get(pons_get(s, "policy"), "waits"));
    pons_each(m, pons_get(s, "messages")) {
        if (pons__co_hear(c, pons_get_str(m, "text", ""), pons_get_str(m, "from", NULL),
                          pons_get_bool(m, "urgent", false)) < 0) {
            return pons_error_set(err, PONS_ENOMEM, PONS__COMPANION, "cannot read the life");
        }
        c->world.messages[c->world.n_messages - 1].at = pons_get_int(m, "at", 0);
    }
    return read_activity(c, pons_get(s, "activity"), err);
}

// ---- the inbox ----------------------------------------------------------------------------------

static int take_row(void *user, const pons_inbox_row *row)
{
    pons_companion *c = user;
    pons_autovalue v = NULL;
    if (!pons_list_reserve(&c->taken, &c->cap_taken, c->n_taken + 1, sizeof *c->taken)) {
        c->nomem = true;
        return 1;
    }
    c->taken[c->n_taken++] = row->seq;
    if (pons_value_read(row->value.data, row->value.len, &v, NULL) < 0) {
        return 0; // not one of ours: taken and forgotten
    }
    const char *text = pons_get_str(v, "text", ""), *from = pons_get_str(v, "from", NULL);
    const bool urgent = pons_get_bool(v, "urgent", false);
    if (pons__co_hear(c, text, from, urgent) < 0) {
        c->nomem = true;
        return 1;
    }
    const pons__co_message *m = &c->world.messages[c->world.n_messages - 1];
    pons__co_event(c, "external.message", "text", json_string(m->text), "from",
                   from ? json_string(from) : NULL, "urgent",
                   json_boolean(pons__co_is_urgent(c, m)), NULL);
    return 0;
}

// Messages become the companion's with the commit of the minute that heard them.
int pons__co_take_messages(pons_companion *c, pons_error *err)
{
    if (!c->store.ops) {
        return PONS_OK;
    }
    const int rc = c->store.ops->inbox_read(c->store.self, c->thread, NS, 0, take_row, c, err);
    return rc < 0     ? rc
           : c->nomem ? pons_error_set(err, PONS_ENOMEM, PONS__COMPANION, "cannot hear a message")
                      : PONS_OK;
}

// ---- commits ------------------------------------------------------------------------------------

static int commit_rows(pons_companion *c, const char *state, size_t len, pons_error *err)
{
    pons_checkpoint_row row = {.step = c->minute, .snapshot = true, .data = {state, len}};
    pons_event_row *events = calloc(c->n_events + 1, sizeof *events);
    char **texts = calloc(c->n_events + 1, sizeof *texts);
    int rc = events && texts
                 ? PONS_OK
                 : pons_error_set(err, PONS_ENOMEM, PONS__COMPANION, "cannot keep the life");
    for (size_t i = 0; rc >= 0 && i < c->n_events; i++) {
        const long n = pons_value_line(c->events[i], &texts[i]);
        rc = n < 0 ? pons_error_set(err, PONS_ENOMEM, PONS__COMPANION, "cannot keep an event")
                   : PONS_OK;
        // The time of the life, so that the record of a simulated week is the same each time.
        events[i] = (pons_event_row){.ns = NS,
                                     .ts_ms = c->event_min * MS_A_MINUTE,
                                     .type = pons_get_str(c->events[i], "type", ""),
                                     .payload = {texts[i], n < 0 ? 0 : (size_t)n}};
    }
    pons__co_memories memories = {0};
    rc = rc < 0 ? rc : pons__co_memories_make(c, &memories, err);
    if (rc >= 0) {
        pons_id_make(&c->ids, row.id);
        const pons_commit commit = {.lease = &c->lease,
                                    .ns = NS,
                                    .checkpoints = &row,
                                    .n_checkpoints = 1,
                                    .inbox_taken = c->taken,
                                    .n_inbox_taken = c->n_taken,
                                    .events = events,
                                    .n_events = c->n_events,
                                    .items = memories.rows,
                                    .n_items = memories.n};
        rc = c->store.ops->commit(c->store.self, &commit, err);
    }
    pons__co_memories_fini(&memories);
    for (size_t i = 0; texts && i < c->n_events; i++) {
        free(texts[i]);
    }
    free(texts);
    free(events);
    return rc;
}

int pons__co_commit(pons_companion *c, pons_error *err)
{
    int rc = c->nomem ? pons_error_set(err, PONS_ENOMEM, PONS__COMPANION, "cannot live this minute")
                      : PONS_OK;
    if (rc >= 0 && c->store.ops) {
        pons_autovalue state = pons__co_state_json(c);
        char *text = NULL;
        const long len = state ? pons_value_line(state, &text) : PONS_ENOMEM;
        rc = len < 0 ? pons_error_set(err, PONS_ENOMEM, PONS__COMPANION, "cannot keep the life")
                     : commit_rows(c, text, (size_t)len, err);
        free(text);
    }
    if (rc < 0) {
        c->failed = true;
        return rc;
    }
    c->quiet = 0;
    c->n_taken = 0;
    for (size_t i = 0; i < c->n_read; i++) {
        pons__co_message_fini(&c->read[i]);
    }
    c->n_read = 0;
    for (size_t i = 0; i < c->n_events; i++) {
        pons__co_publish(c, c->events[i]);
        pons_value_unref(c->events[i]);
    }
    c->n_events = 0;
    return PONS_OK;
}

// Old checkpoints are of no use to anybody: the life goes on from the newest.
void pons__co_prune(pons_companion *c)
{
    const pons_prune what = {.lease = &c->lease, .ns = NS, .keep_last = KEEP_CHECKPOINTS};
    if (c->store.ops && c->store.ops->prune) {
        (void)c->store.ops->prune(c->store.self, c->thread, &what, NULL, NULL); // another day, then
    }
}

// ---- from outside -------------------------------------------------------------------------------

typedef struct head_reader {
    pons_value *state;
    int rc;
} head_reader;

static int read_head(void *user, const pons_checkpoint_row *row)
{
    head_reader *h = user;
    pons_value_unref(h->state);
    h->state = NULL;
    h->rc = pons_value_read(row->data.data, row->data.len, &h->state, NULL);
    return 0;
}

int pons_companion_read(pons_store store, const char *thread, pons_value **ret, pons_error *err)
{
    head_reader h = {0};
    const char *name = thread ? thread : PONS_COMPANION_THREAD;
    pons_error why = PONS_ERROR_INIT;
    int rc = store.ops->head(store.self, name, NS, read_head, &h, &why);
    if (rc == PONS_ENOTFOUND || (rc >= 0 && !h.state && h.rc >= 0)) {
        return pons_error_set(err, PONS_ENOTFOUND, PONS__COMPANION,
                              "no companion lives here yet; `pons companion run` begins a life");
    }
    if (rc < 0 || h.rc < 0) {
        pons_value_unref(h.state);
        if (rc < 0 && err) {
            *err = why;
        }
        return rc < 0 ? rc
                      : pons_error_set(err, PONS_ECORRUPT, PONS__COMPANION,
                                       "the life that is kept cannot be read");
    }
    *ret = h.state;
    return PONS_OK;
}

int pons_companion_message(pons_store store, const char *thread, const char *text, const char *from,
                           bool urgent, pons_error *err)
{
    pons_autovalue v =
        pons_object("text", json_string(text), "from", from ? json_string(from) : NULL, "urgent",
                    json_boolean(urgent), NULL);
    char *line = NULL;
    if (!pons_get(v, "text") || (from && !pons_get(v, "from"))) {
        return pons_error_set(err, PONS_EINVAL, PONS__COMPANION, "the message is not UTF-8");
    }
    const long n = pons_value_line(v, &line);
    if (n < 0) {
        return pons_error_set(err, PONS_ENOMEM, PONS__COMPANION, "cannot send the message");
    }
    const pons_inbox_row row = {.ns = NS, .kind = KIND, .value = {line, (size_t)n}};
    int64_t seq;
    const int rc =
        store.ops->inbox_post(store.self, thread ? thread : PONS_COMPANION_THREAD, &row, &seq, err);
    free(line);
    return rc;
}

// ---- the log ------------------------------------------------------------------------------------

typedef struct log_reader {
    int64_t from_ms, to_ms;
    pons_companion_log_fn fn;
    void *user;
} log_reader;

typedef struct why_reader {
    const char *time; // of the minute asked for
    pons_value *decision, *activity, *events;
} why_reader;

static int log_row(void *user, const pons_event_row *row)
{
    log_reader *l = user;
    pons_autovalue ev = NULL;
    if (row->ts_ms < l->from_ms || row->ts_ms > l->to_ms || !row->ns || strcmp(row->ns, NS) != 0 ||
        pons_value_read(row->payload.data, row->payload.len, &ev, NULL) < 0) {
        return 0;
    }
    json_object_set_new(ev, "seq", json_integer(row->seq));
    return l->fn(l->user, ev);
}

int pons_companion_log(pons_store store, const char *thread, int64_t from_min, int64_t to_min,
                       pons_companion_log_fn fn, void *user, pons_error *err)
{
    log_reader l = {
        .from_ms = from_min * MS_A_MINUTE, .to_ms = to_min * MS_A_MINUTE, .fn = fn, .user = user};
    return store.ops->events(store.self, thread ? thread : PONS_COMPANION_THREAD, 0, 0, log_row, &l,
                             err);
}

static int why_row(void *user, const pons_value *ev)
{
    why_reader *w = user;
    const char *type = pons_get_str(ev, "type", "");
    if (strcmp(type, "decision") == 0) {
        pons_value_unref(w->decision);
        w->decision = pons_value_ref(ev);
    } else if (strcmp(type, "action.started") == 0) {
        pons_value_unref(w->activity);
        w->activity = pons_get(ev, "until") ? pons_value_ref(ev) : NULL;
    } else if (strcmp(type, "action.ended") == 0) {
        pons_value_unref(w->activity);
        w->activity = NULL;
    }
    if (strcmp(pons_get_str(ev, "time", ""), w->time) == 0) {
        json_array_append_new(w->events, pons_value_ref(ev));
    }
    return 0;
}

int pons_companion_why(pons_store store, const char *thread, const pons_world_view *v,
                       int64_t minute, pons_value **ret, pons_error *err)
{
    char time[32], first[32], next[32];
    pons_autovalue state = NULL;
    int rc = pons_companion_read(store, thread, &state, err);
    if (rc < 0) {
        return rc;
    }
    const int64_t begin = pons_get_int(state, "first", 0), end = pons_get_int(state, "minute", 0);
    pons_world_view_time(v, minute, time, sizeof time);
    if (minute < begin || minute >= end) {
        return pons_error_set(err, PONS_ENOTFOUND, PONS__COMPANION,
                              "nothing is known of %s: this life is kept from %s to before %s",
                              time, pons_world_view_time(v, begin, first, sizeof first),
                              pons_world_view_time(v, end, next, sizeof next));
    }
    why_reader w = {.time = time, .events = json_array()};
    rc = pons_companion_log(store, thread, begin, minute, why_row, &w, err);
    if (rc < 0) {
        pons_value_unref(w.decision);
        pons_value_unref(w.activity);
        pons_value_unref(w.events);
        return rc;
    }
    *ret = pons_object("time", json_string(time), "decision", w.decision ? w.decision : json_null(),
                       "activity", w.activity ? w.activity : json_null(), "events", w.events, NULL);
    return PONS_OK;
}
