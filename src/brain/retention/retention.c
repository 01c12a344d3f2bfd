// retention.c - what ended tasks leave in the store, and for how long.
//
// A task that has ended keeps all that it left - every checkpoint of both graphs, every event - while it
// is among the last `tasks`, has ended within `days`, and the store is not larger than `size_mb`.
// Then its checkpoints go with their records, and of its events the bulky ones lose their payload. What
// is left is what an audit needs: effects, approvals, decisions, refusals, when it was said and how it
// ended. After `audit_days` that goes as well, and nothing makes it go sooner.
//
//     K6 --note--> channel `keep`: a mark where each task ended --hear--> this
//                                                                          |
//     each tick, when due:   choose a mark to cut at                       |  work
//       -> kernel's checkpoints, events and effects before it, 32 rows a tick
//       -> the inner loop's checkpoints
//       -> event store.pruned; the next tick writes the channel
//
// Marks are places in the store (checkpoints, event numbers), so what is older than a task follows
// from the order of commits and not from clocks. Days are those of the thread's life: the time that a
// brain ran by the host's monotonic clock, and for each gap what the wall clock says, at most a day. So
// a clock that leaps a year ahead and back has made nothing older, and a robot that was switched
// off for a winter finds what it had.
//
// Killed anywhere, nothing is lost: what went was of no use to what stays (trim), and a pass that was
// cut short is begun anew. A thread that another process holds is that one's to prune: the lease is
// asked for with every row.
#include "brain/retention/retention.h"

#include "pons/brain.h"
#include "pons/fields.h"

#include <stdio.h>
#include <string.h>

#define ROWS        32    // of one tick
#define EVENTS_READ 256   // of one tick, in the search for the newest run.started
#define LOOK_MS     1000  // host: between two searches for something to do
#define AGAIN_MS    60000 // host: after a failure
#define GAP_MS_MAX  (24 * 3600 * 1000LL)
#define DAY_MS      (24 * 3600 * 1000.0)
#define TASKS_LEAST 3 // ended ones that no size takes away
#define MB          1e6
#define PARTS       10 // a pass begins when so large a part of `tasks` is beyond them

#define NS_KERNEL "kernel"
#define NS_REACT  "react"

enum { NOTHING, FIND_STARTED, TRIM_KERNEL, TRIM_REACT, SAY };

static const char *const thin_types[] = {"observation", "task.active", "plan.step",
                                         "stream.*",    "token",       NULL};

void pons__keep_init(pons__keep *k, const pons__keep_rules *rules, pons_store store,
                     const char *thread, const pons_clock *clock)
{
    *k = (pons__keep){.rules = *rules, .store = store, .thread = thread, .clock = *clock};
}

void pons__keep_forget(pons__keep *k)
{
    pons__ends_fini(&k->ends);
    pons_value_unref(k->received);
    pons_value_unref(k->pass.started);
    k->received = NULL;
    k->known = k->await_answer = false;
    k->pass = (struct pons__keep_pass){0};
}

// ---- where tasks end ----------------------------------------------------------------------------

static bool begins(const pons__keep *k, const pons__keep_facts *facts)
{
    for (size_t i = 0; i < k->ends.n_begun; i++) {
        if (strcmp(k->ends.begun[i].task, facts->active) == 0) {
            return false;
        }
    }
    return facts->active[0] != '\0';
}

static void drop_ended(pons__ends *e, const pons__keep_facts *facts)
{
    size_t kept = 0;
    for (size_t i = 0; i < e->n_begun; i++) {
        if (facts->waits(facts->user, e->begun[i].task)) {
            e->begun[kept++] = e->begun[i];
        }
    }
    e->n_begun = kept;
}

static int first_id(void *user, const pons_checkpoint_row *row)
{
    snprintf(user, PONS_KEEP_ID, "%s", row->id);
    return 1;
}

static bool add_mark(pons__keep *k, pons__ends *e, int64_t ended)
{
    const pons_store_ops *ops = k->store.ops;
    pons_error ignored = PONS_ERROR_INIT;
    pons__mark m = {.n = ended, .lived_ms = k->lived_ms, .wall_ms = pons_wall_ms(&k->clock)};
    ops->history(k->store.self, k->thread, NS_KERNEL, "", 1, first_id, m.kernel, &ignored);
    ops->history(k->store.self, k->thread, NS_REACT, "", 1, first_id, m.react, &ignored);
    ops->event_last(k->store.self, k->thread, &m.event, &ignored);
    e->ended = ended;
    size_t gone = 0; // of which nothing is left
    while (gone < e->n_marks && e->marks[gone].n <= e->audited && e->marks[gone].n <= e->cut) {
        gone++;
    }
    memmove(e->marks, e->marks + gone, (e->n_marks - gone) * sizeof *e->marks);
    e->n_marks -= gone;
    return pons__ends_mark(e, &m);
}

// A clock that leaps is no time that has passed: what the monotonic one says counts.
static void live(pons__keep *k)
{
    const int64_t now = pons_now_ns(&k->clock);
    if (k->host_ns) {
        k->lived_ms += (now - k->host_ns) / PONS_NS_PER_MS;
    }
    k->host_ns =
        k->host_ns ? k->host_ns + (now - k->host_ns) / PONS_NS_PER_MS * PONS_NS_PER_MS : now;
}

pons_value *pons__keep_note(pons__keep *k, const pons_value *old, const pons__keep_facts *facts)
{
    pons__ends e;
    if (!k->known || (facts->ended == k->ends.ended && !k->await_answer && !begins(k, facts))) {
        return NULL; // a quiet tick costs two comparisons
    }
    live(k);
    if (pons__ends_read(old, &e) != PONS_OK) {
        return NULL;
    }
    const pons__ends *now = &k->ends; // with what has been done since
    e.cut = now->cut;
    e.audited = now->audited;
    e.thinned = now->thinned;
    e.looked = now->looked;
    e.started = now->started;
    e.checkpoints = now->checkpoints;
    e.events = now->events;
    e.effects = now->effects;
    e.bytes = now->bytes;
    e.pruned_ms = now->pruned_ms;
    for (size_t i = 0; i < e.n_marks && e.marks[i].n <= e.cut; i++) {
        e.marks[i].kernel[0] = e.marks[i].react[0] = '\0';
    }
    drop_ended(&e, facts);
    bool ok = facts->ended == e.ended || add_mark(k, &e, facts->ended);
    bool known = facts->active[0] == '\0';
    for (size_t i = 0; i < e.n_begun; i++) {
        known = known || strcmp(e.begun[i].task, facts->active) == 0;
    }
    ok = ok && (known || pons__ends_begin(&e, facts->active));
    e.lived_ms = k->lived_ms;
    e.wall_ms = pons_wall_ms(&k->clock);
    pons_value *v = ok ? pons__ends_write(&e) : NULL;
    pons__ends_fini(&e);
    return v; // without memory, the next tick tries again
}

void pons__keep_hear(pons__keep *k, const pons_value *channel)
{
    if (k->known && channel == k->received) {
        return;
    }
    pons__ends e;
    if (pons__ends_read(channel, &e) != PONS_OK) {
        return; // the next tick tries again
    }
    if (!k->known) { // another life of the thread: the gap is a day at most
        const int64_t now = pons_wall_ms(&k->clock), gap = e.wall_ms ? now - e.wall_ms : 0;
        k->lived_ms = e.lived_ms + (gap < 0 ? 0 : gap < GAP_MS_MAX ? gap : GAP_MS_MAX);
        k->host_ns = pons_now_ns(&k->clock);
    }
    pons__ends_fini(&k->ends);
    k->ends = e;
    k->await_answer = false;
    pons_value_unref(k->received);
    k->received = pons_value_ref(channel);
    k->known = true;
}

// ---- the newest run.started ---------------------------------------------------------------------

typedef struct search {
    int64_t last, started;
    pons_value *payload;
} search;

static int see_event(void *user, const pons_event_row *row)
{
    search *s = user;
    s->last = row->seq;
    if (strcmp(row->type, "run.started") == 0) {
        s->started = row->seq;
    }
    return 0;
}

static int see_started(void *user, const pons_event_row *row)
{
    search *s = user;
    pons_value_read(row->payload.data, row->payload.len, &s->payload, NULL);
    return 1;
}

// It says how the run was begun, which a resume wants to know: it is not left behind.
static int find_started(pons__keep *k, pons_error *err)
{
    const pons_store_ops *ops = k->store.ops;
    search s = {.last = k->ends.looked, .started = k->ends.started};
    int rc = ops->events(k->store.self, k->thread, s.last, EVENTS_READ, see_event, &s, err);
    if (rc < 0) {
        return rc;
    }
    const bool end = s.last == k->ends.looked;
    k->ends.looked = s.last;
    k->ends.started = s.started;
    if (!end) {
        return PONS_OK;
    }
    k->pass.stage = TRIM_KERNEL;
    if (s.started && s.started <= k->pass.audit.event) {
        rc = ops->events(k->store.self, k->thread, s.started - 1, 1, see_started, &s, err);
        pons_value_unref(k->pass.started);
        k->pass.started = s.payload;
    }
    return rc;
}

// ---- rows ---------------------------------------------------------------------------------------

// Before which moment of the wall clock effects have had their time: the mark's, unless a clock that
// was set back has since made later ones that look older.
static int64_t effects_before(const pons__keep *k)
{
    const pons__mark *audit = &k->pass.audit;
    int64_t before = audit->wall_ms;
    for (size_t i = 0; i < k->ends.n_marks; i++) {
        const pons__mark *m = &k->ends.marks[i];
        before = m->n > audit->n && m->wall_ms < before ? m->wall_ms : before;
    }
    const int64_t now = pons_wall_ms(&k->clock) - (int64_t)(k->rules.audit_days * DAY_MS);
    return now < before ? now : before;
}

// The newest run.started again, before the one that is there goes.
static int repeat_started(pons__keep *k, pons_thread *t, pons_error *err)
{
    if (!k->pass.started) {
        return PONS_OK;
    }
    pons_value *again = json_deep_copy(k->pass.started);
    pons_value_unref(k->pass.started);
    k->pass.started = NULL;
    if (json_object_set_new(again, "kept", json_true()) != 0) {
        pons_value_unref(again);
        return pons_error_set(err, PONS_ENOMEM, "brain", "no memory to keep how the run began");
    }
    return pons_thread_emit(t, NS_KERNEL, "run.started", again, err);
}

static int trim(pons__keep *k, pons_thread *t, pons_error *err)
{
    struct pons__keep_pass *p = &k->pass;
    const bool kernel = p->stage == TRIM_KERNEL;
    const char *at = kernel ? p->cut.kernel : p->cut.react;
    pons_trim what = {.limit = ROWS, .thin_at = k->ends.thinned};
    what.ns = at[0] ? (kernel ? NS_KERNEL : NS_REACT) : NULL;
    what.before = at[0] ? at : NULL;
    if (kernel && p->cut.n) {
        what.thin_before = p->cut.event + 1;
        what.thin_types = thin_types;
    }
    int rc = PONS_OK;
    if (kernel && p->audit.n) {
        rc = repeat_started(k, t, err);
        what.events_before = p->audit.event + 1;
        what.effects_before_ms = effects_before(k);
        what.effect_states = 1U << PONS_EFFECT_DONE | 1U << PONS_EFFECT_FAILED |
                             1U << PONS_EFFECT_CANCELED | 1U << PONS_EFFECT_OUTCOME_UNKNOWN |
                             1U << PONS_EFFECT_REFUSED;
    }
    pons_trim_result done = {0};
    pons_error own = PONS_ERROR_INIT;
    rc = rc < 0 ? rc : pons_thread_trim(t, &what, &done, &own);
    if (rc == PONS_ENOTFOUND && what.before) { // a fork, or a person, has pruned it already
        (kernel ? p->cut.kernel : p->cut.react)[0] = '\0';
        return PONS_OK;
    }
    if (rc < 0) {
        *err = own.status ? own : *err;
        return rc;
    }
    k->ends.thinned = what.thin_at;
    k->ends.bytes = done.bytes ? done.bytes : k->ends.bytes;
    p->checkpoints += done.checkpoints;
    p->thinned += done.thinned;
    p->events += done.events;
    p->effects += done.effects;
    p->stage += !done.more;
    return PONS_OK;
}

// ---- telling ------------------------------------------------------------------------------------

typedef struct pruned { // the event store.pruned, of one pass
    int64_t tasks, tasks_kept, checkpoints, events_thinned, events, effects, bytes;
    const char *by;
} pruned;

// clang-format off
#define NUMBER(member, text) {#member, PONS_FIELD_INTEGER, PONS_FIELD_USUAL, offsetof(pruned, member), .means = (text)}
static const pons_field pruned_fields[] = {
    NUMBER(tasks,          "ended ones whose details this pass took"),
    NUMBER(tasks_kept,     "ended ones that have theirs"),
    NUMBER(checkpoints,    "that went"),
    NUMBER(events_thinned, "that lost their payload"),
    NUMBER(events,         "that went"),
    NUMBER(effects,        "that went"),
    NUMBER(bytes,          "of the store"),
    {"by", PONS_FIELD_STRING, PONS_FIELD_USUAL, offsetof(pruned, by), .means = "age, or size: the store was too large"},
};
// clang-format on

static int say(pons__keep *k, pons_thread *t, pons_error *err)
{
    struct pons__keep_pass p = k->pass;
    pons__ends *e = &k->ends;
    const int64_t from = e->cut;
    e->cut = p.cut.n > e->cut ? p.cut.n : e->cut;
    e->audited = p.audit.n > e->audited ? p.audit.n : e->audited;
    e->checkpoints += p.checkpoints;
    e->events += p.thinned + p.events;
    e->effects += p.effects;
    pons_value_unref(k->pass.started);
    k->pass = (struct pons__keep_pass){0};
    k->look_ns = 0;         // there may be more at once
    k->await_answer = true; // of the next tick
    if (p.checkpoints + p.thinned + p.events + p.effects == 0) {
        return PONS_OK;
    }
    e->pruned_ms = pons_wall_ms(&k->clock);
    const pruned reported = {.tasks = e->cut - from,
                             .tasks_kept = e->ended - e->cut,
                             .checkpoints = p.checkpoints,
                             .events_thinned = p.thinned,
                             .events = p.events,
                             .effects = p.effects,
                             .bytes = e->bytes,
                             .by = p.forced ? "size" : "age"};
    pons_value *event =
        pons_fields_object(pruned_fields, sizeof pruned_fields / sizeof *pruned_fields, &reported);
    return event ? pons_thread_emit(t, NS_KERNEL, "store.pruned", event, err)
                 : pons_error_set(err, PONS_ENOMEM, "brain", "no memory to tell what was pruned");
}

// ---- taking away --------------------------------------------------------------------------------

// How much there is; a trim of nothing tells, and gives free pages back.
static int measure(pons__keep *k, pons_thread *t, pons_error *err)
{
    pons_trim nothing = {.limit = 1};
    pons_trim_result done = {0};
    const int rc = pons_thread_trim(t, &nothing, &done, err);
    if (rc < 0) {
        return rc;
    }
    k->ends.bytes = done.bytes ? done.bytes : k->ends.bytes;
    k->measured = done.more ? k->measured : k->ends.ended;
    return PONS_OK;
}

// The marks to cut at, if there is enough to cut.
static bool choose(pons__keep *k)
{
    const pons__keep_rules *r = &k->rules;
    const pons__ends *e = &k->ends;
    int64_t least = INT64_MAX; // where the oldest task began that has not ended: its details stay
    for (size_t i = 0; i < e->n_begun; i++) {
        least = e->begun[i].n < least ? e->begun[i].n : least;
    }
    const int64_t part = r->tasks >= PARTS ? r->tasks / PARTS : 1;
    const pons__mark *cut =
        r->tasks >= 0 ? pons__ends_find(e, e->ended - r->tasks, INT64_MAX) : NULL;
    cut = cut && cut->n - e->cut < part ? NULL : cut; // more at a time
    const int64_t old_ms = k->lived_ms - (int64_t)(r->days * DAY_MS);
    const pons__mark *old = r->days > 0 ? pons__ends_find(e, e->ended - TASKS_LEAST, old_ms) : NULL;
    cut = old && (!cut || old->n > cut->n) ? old : cut;
    cut = cut && cut->n > least ? pons__ends_find(e, least, INT64_MAX) : cut;
    k->pass.forced = r->size_mb > 0 && (double)e->bytes > r->size_mb * MB && k->tried < e->ended;
    // Half of what is there, whatever is kept for comfort: a task that was put aside for ever must not
    // fill the disk. What it needs to go on is its place in the queue, and no trim takes that.
    if (k->pass.forced) {
        const int64_t there = e->ended - e->cut - TASKS_LEAST;
        const pons__mark *half = pons__ends_find(e, e->cut + (there + 1) / 2, INT64_MAX);
        cut = half && (!cut || half->n > cut->n) ? half : cut;
    }
    const int64_t audit_ms = k->lived_ms - (int64_t)(r->audit_days * DAY_MS);
    const pons__mark *audit =
        r->audit_days > 0 ? pons__ends_find(e, e->ended - TASKS_LEAST, audit_ms) : NULL;
    k->pass.cut = cut && cut->n > e->cut ? *cut : (pons__mark){0};
    k->pass.audit = audit && audit->n > e->audited && audit->n <= e->cut ? *audit : (pons__mark){0};
    if (k->pass.forced && !k->pass.cut.n) {
        k->tried = e->ended; // nothing more until another one ends
    }
    return k->pass.cut.n || k->pass.audit.n;
}

int pons__keep_work(pons__keep *k, pons_thread *t, pons_error *err)
{
    const int64_t now = pons_now_ns(&k->clock);
    if (!k->known || !k->store.ops->trim) {
        return 0;
    }
    if (k->pass.stage == NOTHING) {
        if (now < k->look_ns) {
            return 0;
        }
        k->look_ns = now + LOOK_MS * PONS_NS_PER_MS;
        live(k);
        int rc = k->measured != k->ends.ended ? measure(k, t, err) : PONS_OK;
        if (rc < 0 || !choose(k)) {
            k->look_ns = rc < 0 ? now + AGAIN_MS * PONS_NS_PER_MS : k->look_ns;
            return rc;
        }
        k->pass.stage = k->pass.audit.n ? FIND_STARTED : TRIM_KERNEL;
    }
    const int rc = k->pass.stage == FIND_STARTED ? find_started(k, err)
                   : k->pass.stage == SAY        ? say(k, t, err)
                                                 : trim(k, t, err);
    if (rc < 0) { // what was taken away is gone, the rest goes another time
        pons_value_unref(k->pass.started);
        k->pass = (struct pons__keep_pass){0};
        k->look_ns = now + AGAIN_MS * PONS_NS_PER_MS;
    }
    return rc < 0 ? rc : 1;
}

// ---- for people ---------------------------------------------------------------------------------

int pons_brain_pruned(pons_store store, const char *thread, pons_value **ret, pons_error *err)
{
    pons_autovalue state = NULL;
    pons__ends e;
    int rc = pons_state_read(store, thread, NS_KERNEL, &state, err);
    rc = rc < 0 ? rc : pons__ends_read(pons_get(state, "keep"), &e);
    if (rc < 0) {
        return rc;
    }
    if (e.pruned_ms) {
        *ret = pons_object("tasks", json_integer(e.cut), "tasks_kept",
                           json_integer(e.ended - e.cut), "checkpoints",
                           json_integer(e.checkpoints), "events", json_integer(e.events), "effects",
                           json_integer(e.effects), "at_ms", json_integer(e.pruned_ms), NULL);
    } else {
        rc =
            pons_error_set(err, PONS_ENOTFOUND, "brain", "nothing of thread %s was pruned", thread);
    }
    pons__ends_fini(&e);
    return rc;
}
