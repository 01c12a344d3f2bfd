// run_host.c - the run host: taking runs, stopping them, telling of them, and taking up at a start what
// a server before this one had taken.
//
//     submit:  put (held) --> the store keeps it --> release --> a worker, in its turn
//     start:   what the store keeps as open --> put, in the order in which it was taken
//
// Threads of runs without one of their own go a minute after the run's end, or later while somebody
// follows them: a client that lost its connection can still read how it ended.
#include "serve/runs/run_host.h"

#include "pons/log.h"
#include "pons/out_of_memory.h"
#include "pons/printable.h"
#include "serve/runs/internal.h"
#include "serve/runs/job_store.h"

#include <stdlib.h>
#include <string.h>

enum { LINGER_MS = 60000, TICK_MS = 1000, SETTLE_MS = 10000 };

// ---- what has ended -----------------------------------------------------------------------------

// The record of jobs that ended before they began. One that the store cannot take now is tried again
// each second: until then a kill of the server would bring the run back. It stays in the list until
// the store has it, also while it is written: who asks finds it in one of the two.
static void unkept_leave(pons__runhost *h, pons__unkept *u) // [mtx]
{
    pons__unkept **at = &h->unkept;
    while (*at != u) {
        at = &(*at)->next;
    }
    *at = u->next;
    pons__jobs_unref(&h->queue, u->job);
    free(u);
}

static int keep(pons__runhost *h, pons__job *j, pons_error *err)
{
    pons__unkept *u = pons_need_zeroed(1, sizeof *u);
    pons__jobs_ref(&h->queue, j);
    u->job = j;
    u->writing = true;
    pthread_mutex_lock(&h->mtx);
    u->next = h->unkept;
    h->unkept = u;
    pthread_mutex_unlock(&h->mtx);
    const int rc = pons__runhost_ended(h, j, err);
    pthread_mutex_lock(&h->mtx);
    u->writing = false;
    if (rc >= 0) {
        unkept_leave(h, u);
    }
    pthread_mutex_unlock(&h->mtx);
    return rc;
}

static pons__unkept *next_unkept(const pons__runhost *h) // [mtx]
{
    pons__unkept *u = h->unkept;
    while (u && u->writing) {
        u = u->next;
    }
    return u;
}

static void keep_unkept(pons__runhost *h, bool last)
{
    pthread_mutex_lock(&h->mtx);
    bool again = true;
    for (pons__unkept *u; again && (u = next_unkept(h));) {
        u->writing = true;
        pthread_mutex_unlock(&h->mtx);
        pons_error err = PONS_ERROR_INIT;
        again = pons__runhost_ended(h, u->job, &err) >= 0 || last;
        pthread_mutex_lock(&h->mtx);
        u->writing = false;
        if (again) {
            unkept_leave(h, u);
        }
    }
    pthread_mutex_unlock(&h->mtx);
}

// As it is in memory; NULL: the store has it, or it was taken back.
static pons_value *find_unkept(pons__runhost *h, const char *thread, const char *run)
{
    pons_value *found = NULL;
    bool taken_back = false;
    pthread_mutex_lock(&h->mtx);
    for (const pons__unkept *u = h->unkept; u && !found; u = u->next) {
        if (strcmp(u->job->thread, thread) == 0 && strcmp(u->job->id, run) == 0) {
            found = pons__jobs_look(&h->queue, u->job, &taken_back);
        }
    }
    pthread_mutex_unlock(&h->mtx);
    if (taken_back) {
        pons_value_unref(found);
        found = NULL;
    }
    return found;
}

static int stopped(pons__runhost *h, pons__job *list, pons_error *err)
{
    int rc = PONS_OK;
    while (list) {
        pons__job *next = list->next;
        list->next = NULL;
        list->updated_ms = pons_wall_ms(&h->s->o.clock);
        const int kept = keep(h, list, err);
        rc = rc < 0 ? rc : kept;
        pons__watcher_ended(h->watcher, list->thread, list->id);
        pons__jobs_unref(&h->queue, list);
        list = next;
    }
    return rc;
}

// ---- time ---------------------------------------------------------------------------------------

static void forget_doomed(pons__runhost *h, bool all)
{
    const int64_t now = pons_now_ms(&h->s->o.clock);
    pthread_mutex_lock(&h->mtx);
    for (pons__doomed **at = &h->doomed; *at;) {
        pons__doomed *d = *at;
        const bool due = all || now - d->since_ms >= LINGER_MS;
        if (!due || (!all && pons__watcher_has(h->watcher, d->thread))) {
            at = &d->next;
            continue;
        }
        *at = d->next;
        pthread_mutex_unlock(&h->mtx);
        pons_error err = PONS_ERROR_INIT;
        const int rc = pons__runhost_thread_delete(h, d->thread, &err);
        if (rc < 0 && err.status != PONS_ENOTFOUND) {
            pons_log(PONS_LOG_WARN, PONS__SERVE, "%s", err.message);
        }
        if (rc == PONS_EIO && !all) { // when there is room
            pons__runhost_doom(h, d->thread);
        }
        free(d);
        pthread_mutex_lock(&h->mtx);
        at = &h->doomed;
    }
    pthread_mutex_unlock(&h->mtx);
}

static void call_each(pons__runhost *h)
{
    const int64_t now = pons_now_ms(&h->s->o.clock);
    pthread_mutex_lock(&h->mtx);
    void (*fn)(pons_serve *s) = now - h->each_at_ms >= TICK_MS ? h->each : NULL;
    h->each_at_ms = fn ? now : h->each_at_ms;
    pthread_mutex_unlock(&h->mtx);
    if (fn) {
        fn(h->s);
    }
}

void pons__runhost_each(pons__runhost *h, void (*fn)(pons_serve *s))
{
    pthread_mutex_lock(&h->mtx);
    h->each = fn;
    pthread_mutex_unlock(&h->mtx);
}

static int64_t tick(void *user)
{
    pons__runhost *h = user;
    const int64_t next = pons__jobs_tick(&h->queue, pons_wall_ms(&h->s->o.clock));
    keep_unkept(h, false);
    forget_doomed(h, false);
    call_each(h);
    return next < TICK_MS ? next : TICK_MS;
}

static void grow(void *user) // under the queue's lock
{
    pons__runhost *h = user;
    if (h->n_workers < PONS__WORKERS_MAX &&
        pthread_create(&h->workers[h->n_workers], NULL, pons__worker, h) == 0) {
        h->n_workers++;
    }
}

// ---- taking a run -------------------------------------------------------------------------------

bool pons__thread_name(const char *name)
{
    const size_t n = strlen(name);
    pons_autobuf plain = PONS_BUF_INIT;
    return n > 0 && n < PONS_NAME_MAX && !strpbrk(name, " /") &&
           pons_plain(&plain, name, n, false) >= 0 && plain.len == n &&
           memcmp(plain.data, name, n) == 0;
}

static int make(pons__runhost *h, const pons__ask *a, pons__job **ret, pons_error *err)
{
    const pons_store store = h->s->o.store;
    pons__job *j = NULL;
    const int64_t now = pons_wall_ms(&h->s->o.clock);
    if (!pons__runhost_graph(h, a->graph)) {
        return pons_error_set(err, PONS_ENOTFOUND, PONS__SERVE, "there is no graph '%.80s'",
                              a->graph);
    }
    if ((a->thread && !pons__thread_name(a->thread)) || strlen(a->assistant) >= PONS_NAME_MAX ||
        (a->run && strlen(a->run) >= PONS__UUID)) {
        return pons_error_set(
            err, PONS_EINVAL, PONS__SERVE,
            "a thread's name has 1 to %d bytes, no spaces, slashes or what nobody "
            "can see",
            PONS_NAME_MAX - 1);
    }
    int rc = pons__job_create(pons_value_ref(a->kwargs), pons_value_ref(a->metadata), &j, err);
    if (rc < 0) {
        return rc;
    }
    if (a->run) {
        memcpy(j->id, a->run, strlen(a->run) + 1);
    } else {
        pons__uuid(now, j->id);
    }
    if (a->thread) {
        memcpy(j->thread, a->thread, strlen(a->thread) + 1);
        rc = store.ops->event_last(store.self, j->thread, &j->after, err);
    } else if (a->own) {
        memcpy(j->thread, a->own, strlen(a->own) + 1);
    } else {
        pons__uuid(now, j->thread);
    }
    memcpy(j->assistant, a->assistant, strlen(a->assistant) + 1);
    memcpy(j->graph, a->graph, strlen(a->graph) + 1);
    j->multitask = a->multitask;
    j->created_ms = now;
    j->due_ms = now + (a->after_ms > 0 ? a->after_ms : 0);
    j->temporary = !a->thread && !a->keep;
    if (rc < 0) {
        pons__job_free(j);
        return rc;
    }
    *ret = j;
    return PONS_OK;
}

int pons__runhost_submit(pons__runhost *h, const pons__ask *a, pons_value **ret, pons_error *err)
{
    pons__job *j = NULL, *gone = NULL;
    const char *where = a->thread ? a->thread : a->own;
    if (a->run && where && pons__runhost_run(h, where, a->run, ret, err) >= 0) {
        return PONS_OK;
    }
    *err = (pons_error)PONS_ERROR_INIT;
    int rc = make(h, a, &j, err);
    if (rc < 0) {
        return rc;
    }
    const int64_t due = j->due_ms;
    rc = pons__jobs_put(&h->queue, j, &gone, err);
    if (rc < 0) {
        pons__jobs_unref(&h->queue, j);
        return rc;
    }
    pons_error none = PONS_ERROR_INIT;
    stopped(h, gone, &none);
    pons_autovalue kept = pons__jobs_look(&h->queue, j, NULL);
    json_object_set_new(kept, "due_ms", json_integer(due));
    json_object_set_new(kept, "updated_ms", json_integer(j->created_ms));
    rc = pons__kept_open(&h->items, kept, j->id, err);
    if (rc < 0) {
        pons__jobs_withdraw(&h->queue, j);
    } else if (!pons__jobs_release(&h->queue, j, pons_wall_ms(&h->s->o.clock))) {
        keep(h, j, &none); // whoever stopped it was before the store
    }
    if (rc >= 0) {
        pons__watcher_wake(h->watcher); // it may be due later
        *ret = pons_value_ref(kept);
    }
    pons__jobs_unref(&h->queue, j);
    return rc;
}

// ---- stopping -----------------------------------------------------------------------------------

int pons__runhost_cancel(pons__runhost *h, const char *thread, const char *run, bool rollback,
                         pons_error *err)
{
    pons__job *gone = NULL;
    pons_autovalue kept = NULL;
    pons_error none = PONS_ERROR_INIT;
    if (pons__jobs_stop(&h->queue, thread, run, rollback, &gone, &none) >= 0) {
        return stopped(h, gone, err);
    }
    return pons__kept_get(&h->items, thread, run, &kept, err);
}

void pons__runhost_cancel_all(pons__runhost *h, const char *status, bool rollback)
{
    pons_autovalue all = pons__jobs_list(&h->queue, NULL);
    pons_error none = PONS_ERROR_INIT;
    pons_each(one, all) {
        if (!status || strcmp(status, pons_get_str(one, "status", "")) == 0) {
            pons__runhost_cancel(h, pons_get_str(one, "thread_id", ""),
                                 pons_get_str(one, "run_id", ""), rollback, &none);
        }
    }
}

int pons__runhost_forget(pons__runhost *h, const char *thread, const char *run, pons_error *err)
{
    pons_autovalue kept = NULL;
    pons__job *j = pons__jobs_find(&h->queue, thread, run);
    pons__jobs_unref(&h->queue, j);
    if (j) {
        return pons_error_set(err, PONS_EBUSY, PONS__SERVE, "run %s has not ended: cancel it first",
                              run);
    }
    const int rc = pons__kept_get(&h->items, thread, run, &kept, err);
    return rc < 0 ? rc : pons__kept_delete(&h->items, thread, run, err);
}

int pons__runhost_thread_delete(pons__runhost *h, const char *thread, pons_error *err)
{
    const pons_store store = h->s->o.store;
    pons__runhost_settle(h, thread);
    if (pons__jobs_busy(&h->queue, thread)) {
        return pons_error_set(err, PONS_EBUSY, PONS__SERVE,
                              "thread %s has runs that have not ended", thread);
    }
    const int rc = store.ops->thread_delete(store.self, thread, err);
    return rc < 0 ? rc : pons__kept_forget(&h->items, thread, err);
}

// ---- looking ------------------------------------------------------------------------------------

const pons_items *pons__runhost_items(const pons__runhost *h)
{
    return &h->items;
}

bool pons__runhost_busy(pons__runhost *h, const char *thread)
{
    return pons__jobs_busy(&h->queue, thread);
}

int pons__runhost_run(pons__runhost *h, const char *thread, const char *run, pons_value **ret,
                      pons_error *err)
{
    if (!thread) {
        pons_autovalue all = pons__jobs_list(&h->queue, NULL);
        const pons_value *one = pons_find(all, "run_id", run);
        if (one) {
            *ret = pons_value_ref(one);
            return PONS_OK;
        }
        return pons_error_set(err, PONS_ENOTFOUND, PONS__SERVE, "there is no run %s at work", run);
    }
    bool taken_back = false;
    pons__job *j = pons__jobs_find(&h->queue, thread, run);
    if (j) {
        pons_value *v = pons__jobs_look(&h->queue, j, &taken_back);
        pons__jobs_unref(&h->queue, j);
        if (!taken_back) {
            *ret = v;
            return PONS_OK;
        }
        pons_value_unref(v);
    } else if ((*ret = find_unkept(h, thread, run))) {
        return PONS_OK;
    }
    const int rc = taken_back ? PONS_ENOTFOUND : pons__kept_get(&h->items, thread, run, ret, err);
    return rc == PONS_ENOTFOUND
               ? pons_error_set(err, rc, PONS__SERVE, "thread %s has no run %s", thread, run)
               : rc;
}

int pons__runhost_runs(pons__runhost *h, const char *thread, const char *status, int64_t limit,
                       int64_t offset, pons_value **ret, pons_error *err)
{
    pons_autovalue ended = NULL;
    pons_autovalue live = pons__jobs_list(&h->queue, thread);
    int rc = pons__kept_list(&h->items, thread, &ended, err);
    if (rc < 0) {
        return rc;
    }
    pons_value *list = json_array();
    const size_t n = json_array_size(live), all = n + json_array_size(ended);
    for (size_t i = 0; i < all; i++) {
        json_t *one = i < n ? json_array_get(live, n - 1 - i) : json_array_get(ended, i - n);
        if (status && strcmp(status, pons_get_str(one, "status", "")) != 0) {
            continue;
        }
        if (offset-- <= 0 && (limit < 0 || (int64_t)json_array_size(list) < limit)) {
            json_array_append_new(list, pons_value_ref(one));
        }
    }
    *ret = list;
    return PONS_OK;
}

// ---- following ----------------------------------------------------------------------------------

int pons__runhost_watch(pons__runhost *h, pons__watch *w, pons_error *err)
{
    char thread[PONS_NAME_MAX], run[40];
    memcpy(thread, w->thread, sizeof thread);
    memcpy(run, w->run, sizeof run);
    const int rc = pons__watch_begin(h->watcher, w, err);
    if (rc >= 0 && *run) { // it may have ended before the watcher knew that somebody wants to hear
        pons__job *j = pons__jobs_find(&h->queue, thread, run);
        pons__jobs_unref(&h->queue, j);
        if (!j) {
            pons__watcher_ended(h->watcher, thread, run);
        }
    }
    return rc;
}

void pons__runhost_settle(pons__runhost *h, const char *thread)
{
    pons__jobs_settle(&h->queue, thread, SETTLE_MS);
}

int pons__runhost_tell(pons__runhost *h, const char *thread, const char *await, pons__tell what,
                       pons_value *value)
{
    return pons__jobs_tell(&h->queue, thread, await, what, value);
}

void pons__runhost_event(pons__runhost *h, const char *thread)
{
    if (h && h->watcher) {
        pons__watcher_event(h->watcher, thread);
    }
}

// ---- opening and closing ------------------------------------------------------------------------

// A run that was taken by a server before this one.
static void take_up(pons__runhost *h, const pons_value *kept)
{
    pons__job *j = NULL, *gone = NULL;
    pons_error err = PONS_ERROR_INIT;
    const int64_t now = pons_wall_ms(&h->s->o.clock);
    if (pons__job_read(kept, &j, &err) < 0) {
        pons_log(PONS_LOG_WARN, PONS__SERVE, "%s", err.message);
        return;
    }
    if (pons__job_ended(j)) { // of a thread that was to go
        pons__runhost_doom(h, j->thread);
    } else if (!pons__runhost_graph(h, j->graph)) {
        j->state = PONS__JOB_ERROR;
        j->updated_ms = now;
        j->error = pons_object("error", json_string("NotFound"), "message",
                               json_sprintf("the graph %s is not served any more", j->graph), NULL);
        keep(h, j, &err);
    } else {
        j->multitask = PONS__MULTITASK_ENQUEUE; // what had to give way has
        j->taken_up = true;
        if (pons__jobs_put(&h->queue, j, &gone, &err) >= 0) {
            pons__jobs_release(&h->queue, j, now);
        }
    }
    pons__jobs_unref(&h->queue, j);
}

int pons__runhost_open(pons_serve *s, pons__runhost **ret, pons_error *err)
{
    pons__runhost *h = pons_need_zeroed(1, sizeof *h);
    pons_autovalue open = NULL;
    h->s = s;
    h->items = (pons_items){.store = s->o.store, .clock = s->o.clock};
    pthread_mutex_init(&h->mtx, NULL);
    pons__jobs_init(&h->queue, grow, h);
    int rc = pons__watcher_open(s, tick, h, &h->watcher, err);
    rc = rc < 0 ? rc : pons__kept_list(&h->items, NULL, &open, err);
    if (rc < 0) {
        pons__runhost_close(h);
        return rc;
    }
    *ret = h; // before the first run: whoever serves its awaits answers to it
    for (size_t i = json_array_size(open); i > 0; i--) {
        take_up(h, json_array_get(open, i - 1));
    }
    return PONS_OK;
}

void pons__runhost_stop(pons__runhost *h)
{
    if (!h) {
        return;
    }
    pons__jobs_close(&h->queue);
    for (size_t i = 0; i < h->n_workers; i++) { // no more are made once it is closed
        pthread_join(h->workers[i], NULL);
    }
    h->n_workers = 0;
    pons__watcher_stop(h->watcher);
}

void pons__runhost_close(pons__runhost *h)
{
    if (!h) {
        return;
    }
    pons__runhost_stop(h);
    keep_unkept(h, true);
    forget_doomed(h, true);
    pons__watcher_close(h->watcher);
    pons__jobs_fini(&h->queue);
    pthread_mutex_destroy(&h->mtx);
    free(h);
}
