// runtime_watchdog.c - the Runtime watchdog's loop.
//
//     SESSIONS.md <--file.c--> lanes of a store --claim--> session_run.c: one session, step by step --finish--> lanes
//                                   ^                        |  ^
//             other watchdogs ------+             body of the target (its ledger), policy
//
// It beats; a watchdog that others have not seen beat for the lease loses what it runs to who noticed,
// by that one's own clock, which only goes on: clocks that jump move nobody's lanes. Of one that died on
// this machine nobody waits for the end of the lease.
#include "pons/out_of_memory.h"
#include "workspace/runtime/runtime_common.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define WHERE    "runtime"
#define BEAT_MS  3000
#define LEASE_MS 10000
#define LOOK_MS  1000 // between looks at what no notice tells of
#define BUSY_MS  50   // while something runs
#define RUNS_MAX 64

// ---- bodies -------------------------------------------------------------------------------------

static rt_run *run_on(const pons_runtime *r, const char *target)
{
    for (size_t i = 0; i < r->n_runs; i++) {
        if (strcmp(pons__rt_run_target(r->runs[i]), target) == 0) {
            return r->runs[i];
        }
    }
    return NULL;
}

static void hear_bodies(pons_runtime *r)
{
    for (rt_body *b = r->bodies; b; b = b->next) {
        pons_tool_event e;
        while (b->tools.ops->next(b->tools.self, &e)) {
            rt_run *s = run_on(r, b->target);
            if (s) {
                pons__rt_run_event(s, &e);
            }
            pons_tool_event_clear(&e);
        }
    }
}

// ---- sessions -----------------------------------------------------------------------------------

static int begin(void *user, const pons_session_row *row)
{
    pons_runtime *r = user;
    r->runs = pons_need_more(r->runs, (r->n_runs + 1) * sizeof *r->runs);
    pons__rt_file_show(r, row);
    r->runs[r->n_runs++] = pons__rt_run_begin(r, row);
    return 0;
}

// The targets that this watchdog may work for and is not working for: the registered ones, and what
// sessions name without there being such a one, so that they are refused and do not wait for ever.
static pons_value *wanted(const pons_runtime *r)
{
    pons_value *set = json_object();
    static const struct {
        pons_ws_file file;
        const char *kind, *key;
    } from[] = {{PONS_WS_TARGETS, "target", "id"}, {PONS_WS_SESSIONS, "session", "target_ref"}};
    for (size_t f = 0; f < 2; f++) {
        size_t n = 0;
        const pons_ws_doc *d = pons_ws_place_doc(r->o.place, from[f].file);
        const pons_ws_record *all = d ? pons_ws_records(d, &n) : NULL;
        for (size_t i = 0; i < n; i++) {
            const char *id = pons_get_str(all[i].value, from[f].key, "");
            if (strcmp(all[i].kind, from[f].kind) == 0 && *id &&
                (!r->only[0] || strcmp(id, r->only) == 0) && !run_on(r, id)) {
                json_object_set_new(set, id, json_true());
            }
        }
    }
    return set;
}

// One more session; false: there is none.
static bool claim_one(pons_runtime *r)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue set = wanted(r);
    const size_t n = json_object_size(set);
    const char **lanes = pons_need_zeroed(n + 1, sizeof *lanes);
    size_t i = 0;
    pons_each_member(key, ignored, set) {
        lanes[i++] = key;
    }
    const pons_session_claim how = {.runner = r->runner, .lanes = lanes, .n_lanes = n};
    const size_t had = r->n_runs;
    if (n) {
        r->o.lanes.ops->claim(r->o.lanes.self, &how, begin, r, &err);
    }
    free(lanes);
    return r->n_runs > had;
}

static void step_runs(pons_runtime *r)
{
    for (size_t i = 0; i < r->n_runs;) {
        if (!pons__rt_run_step(r->runs[i])) {
            i++;
            continue;
        }
        session_copy next;
        const bool chained = pons__rt_run_next(r->runs[i], &next);
        pons__rt_run_free(r->runs[i]);
        memmove(&r->runs[i], &r->runs[i + 1], (--r->n_runs - i) * sizeof *r->runs);
        r->claims = true;
        if (chained) {
            begin(r, &next.row);
            pons__rt_copy_free(&next);
        }
    }
}

// ---- other watchdogs ----------------------------------------------------------------------------

typedef struct watcher {
    pons_runtime *r;
    size_t n;
    struct {
        char name[RT_ID_MAX];
        int64_t beats;
    } *at;
} watcher;

typedef struct rt_gone { // a watchdog that is, and whether it had other targets than `only`
    const char *name, *only;
    bool *ret;
} rt_gone;

static int see(void *user, const char *runner, int64_t beats)
{
    watcher *w = user;
    w->at = pons_need_more(w->at, (w->n + 1) * sizeof *w->at);
    strncpy(w->at[w->n].name, runner, RT_ID_MAX - 1);
    w->at[w->n].name[RT_ID_MAX - 1] = '\0';
    w->at[w->n++].beats = beats;
    return 0;
}

// Since when its beats have not changed, by this watchdog's clock.
static int64_t silent_since(pons_runtime *r, const char *name, int64_t beats)
{
    const int64_t now = pons__rt_now(r);
    for (size_t i = 0; i < r->n_others; i++) {
        if (strcmp(r->others[i].name, name) == 0) {
            if (r->others[i].beats != beats) {
                r->others[i].beats = beats;
                r->others[i].since_ms = now;
            }
            return r->others[i].since_ms;
        }
    }
    r->others = pons_need_more(r->others, (r->n_others + 1) * sizeof *r->others);
    strcpy(r->others[r->n_others].name, name);
    r->others[r->n_others].beats = beats;
    r->others[r->n_others++].since_ms = now;
    return now;
}

static int is_others(void *user, const pons_session_row *row)
{
    const rt_gone *g = user;
    if (strcmp(row->owner, g->name) == 0 && strcmp(row->lane, g->only) != 0) {
        *g->ret = true;
    }
    return 0;
}

// Whether it has sessions of targets that this watchdog may not work for: it could not ask their bodies.
static bool has_others(const pons_runtime *r, const char *name)
{
    bool has = false;
    pons_error err = PONS_ERROR_INIT;
    rt_gone g = {name, r->only, &has};
    const pons_session_find find = {.states = 1u << PONS_SESSION_RUNNING};
    return r->only[0] &&
           (r->o.lanes.ops->list(r->o.lanes.self, &find, is_others, &g, &err) < 0 || has);
}

static void watch_others(pons_runtime *r)
{
    pons_error err = PONS_ERROR_INIT;
    watcher w = {.r = r};
    r->o.lanes.ops->runners(r->o.lanes.self, see, &w, &err);
    for (size_t i = 0; i < w.n; i++) {
        const char *name = w.at[i].name;
        if (strcmp(name, r->runner) == 0) {
            continue;
        }
        const int64_t since = silent_since(r, name, w.at[i].beats);
        const bool gone =
            (r->o.dead && r->o.dead(r->o.user, name)) || pons__rt_now(r) - since > r->o.lease_ms;
        if (gone && !has_others(r, name)) {
            r->o.lanes.ops->reclaim(r->o.lanes.self, name, w.at[i].beats, r->runner, begin, r,
                                    &err);
        }
    }
    size_t kept = 0; // those that are gone are forgotten
    for (size_t i = 0; i < r->n_others; i++) {
        for (size_t k = 0; k < w.n; k++) {
            if (strcmp(r->others[i].name, w.at[k].name) == 0) {
                r->others[kept++] = r->others[i];
                break;
            }
        }
    }
    r->n_others = kept;
    free(w.at);
}

// A pause is noted by the wall clock, as another watchdog may have to end it. One that is longer than any pause
// is of a clock that was set back since: it is over.
static void wake(pons_runtime *r, int64_t wall_ms)
{
    pons_error err = PONS_ERROR_INIT;
    const pons_lanes *l = &r->o.lanes;
    int rc = l->ops->wake(l->self, wall_ms, &r->due_ms, &err);
    while (rc >= 0 && r->due_ms > pons_later_ms(wall_ms, RT_PAUSE_MAX_MS)) {
        rc = l->ops->wake(l->self, r->due_ms, &r->due_ms, &err);
    }
}

static void look(pons_runtime *r, int64_t now)
{
    pons_error err = PONS_ERROR_INIT;
    uint64_t ticks;
    if (r->lanes_fd >= 0 && read(r->lanes_fd, &ticks, sizeof ticks) == sizeof ticks) {
        r->claims = true;
    }
    if (now >= r->beat_at_ms) {
        r->beat_at_ms = now + r->o.beat_ms;
        r->o.lanes.ops->beat(r->o.lanes.self, r->runner, &err);
    }
    if (now >= r->look_at_ms) {
        r->look_at_ms = now + LOOK_MS;
        r->claims = true;
        watch_others(r);
    }
    const int64_t wall = pons_wall_ms(&r->o.clock);
    if (r->claims || (r->due_ms && wall >= r->due_ms)) {
        wake(r, wall);
        r->claims = true;
    }
}

// ---- public -------------------------------------------------------------------------------------

int pons_runtime_open(const pons_runtime_options *options, pons_runtime **ret, pons_error *err)
{
    pons_runtime *r = pons_need_zeroed(1, sizeof *r);
    r->o = *options;
    r->o.beat_ms = options->beat_ms ? options->beat_ms : BEAT_MS;
    r->o.lease_ms = options->lease_ms ? options->lease_ms : LEASE_MS;
    strncpy(r->runner, options->runner, sizeof r->runner - 1);
    strncpy(r->only, options->only ? options->only : "", sizeof r->only - 1);
    r->seed = options->seed;
    r->next_call = 1;
    r->claims = true;
    r->file_at_ms = r->tidy_at_ms = INT64_MIN / 2;
    r->known = json_object();
    r->logged = json_object();
    r->shows = json_array();
    r->epoll = epoll_create1(EPOLL_CLOEXEC);
    r->lanes_fd = r->o.lanes.ops->event_fd ? r->o.lanes.ops->event_fd(r->o.lanes.self) : -1;
    if (r->epoll < 0) {
        pons_runtime_close(r);
        return pons_error_set(err, PONS_EENV, WHERE, "no descriptors for the watchdog");
    }
    pons__rt_watch(r, pons_ws_place_fd(r->o.place));
    pons__rt_watch(r, r->lanes_fd);
    *ret = r;
    return PONS_OK;
}

void pons_runtime_close(pons_runtime *r)
{
    if (!r) {
        return;
    }
    pons_error ignored = PONS_ERROR_INIT;
    for (size_t i = 0; i < r->n_runs; i++) {
        pons__rt_run_free(r->runs[i]);
    }
    while (r->bodies) {
        rt_body *b = r->bodies;
        r->bodies = b->next;
        b->tools.ops->close(b->tools.self);
        pons_value_unref(b->record);
        free(b);
    }
    r->o.lanes.ops->leave(r->o.lanes.self, r->runner, &ignored);
    if (r->epoll >= 0) {
        close(r->epoll);
    }
    pons_value_unref(r->known);
    pons_value_unref(r->circles);
    pons_value_unref(r->logged);
    pons_value_unref(r->shows);
    free(r->runs);
    free(r->others);
    free(r);
}

int pons_runtime_step(pons_runtime *r)
{
    const int64_t now = pons__rt_now(r);
    int wait = pons_ws_place_poll(r->o.place, now);
    look(r, now);
    pons__rt_file_sync(r, false);
    hear_bodies(r);
    step_runs(r);
    while (r->claims && r->n_runs < RUNS_MAX && claim_one(r)) {
    }
    if (r->n_runs < RUNS_MAX) {
        r->claims = false;
    }
    step_runs(r);   // what has just begun
    hear_bodies(r); // they have answered at once what they were asked just now
    step_runs(r);
    pons__rt_file_flush(r);
    pons__rt_tidy(r, now);
    wait = wait < LOOK_MS ? wait : LOOK_MS;
    const bool busy = r->n_runs || r->claims || json_array_size(r->shows) || now >= r->tidy_at_ms;
    return busy && wait > BUSY_MS ? BUSY_MS : wait;
}

int pons_runtime_fd(const pons_runtime *r)
{
    return r->epoll;
}

bool pons_runtime_idle(const pons_runtime *r)
{
    return r->n_runs == 0 && !r->claims && r->pending == 0 && !json_array_size(r->shows) &&
           !r->unlooked && r->file_at_ms > INT64_MIN / 2 && r->tidied;
}

size_t pons_runtime_failed(const pons_runtime *r)
{
    return r->failed;
}
