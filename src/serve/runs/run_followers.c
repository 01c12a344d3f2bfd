// run_followers.c - the events of threads, to whoever follows them.
//
//     any thread:   event(T), ended(T, run) --> news --> wakes
//                   begin(watch)            --> coming
//     one thread:   news mark watches dirty; a dirty watch reads the store from where it is, as long
//                   as its client takes what it gets; one that is slow is looked at again a little
//                   later, and a flood is given in handfuls, a millisecond apart
//
// Everything comes from the store: what was said before a watch began and what is said meanwhile are
// the same rows, so there is no seam between them, and a client that comes back with a number gets
// what one that never left would have got.
#include "serve/runs/run_followers.h"

#include "pons/log.h"
#include "pons/out_of_memory.h"
#include "serve/access/worker_thread.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    BATCH = 64,             // rows a watch is given before the next one has its turn
    UNSENT_MAX = 64 * 1024, // bytes that wait for a client before it is let alone
    WATCHES_MAX = 1024,
    BEAT_MS = 5000,
    SLOW_MS = 20,   // until a slow client is looked at again
    PACE_US = 1000, // between two looks of a watcher that finds something each time
    LOOK_MS = 1000  // until all are looked at, for what another process has written
};

typedef struct news {
    struct news *next;
    char thread[PONS_NAME_MAX], run[40];
} news;

struct pons__watcher {
    const pons_serve *s;
    int64_t (*tick)(void *user);
    void *user;
    pons__thread t;
    news *news;          // [mtx]
    pons__watch *coming; // [mtx]
    size_t n;            // [mtx]
    pons__watch *all;    // its thread changes the list, under the lock
    int64_t looked_ms;
    int64_t gave_ns; // when events were last given
    bool slow;       // some client has to take what it has got first
};

bool pons__watch_write(pons__watch *w, const char *text, size_t n)
{
    w->gone = w->gone || w->http->stream_write(w->stream, text, n) < 0;
    return !w->gone;
}

typedef struct reading {
    pons__watch *w;
    int n;
    bool over, slow;
} reading;

static int give(void *user, const pons_event_row *row)
{
    reading *r = user;
    if (r->w->http->stream_unsent(r->w->stream) > UNSENT_MAX) {
        r->slow = true;
        return 1;
    }
    r->over = r->w->event(r->w, row) != 0 || r->w->gone;
    r->w->at = row->seq;
    return r->over || ++r->n >= BATCH;
}

// Whether the watch is over.
static bool serve(pons__watcher *ww, pons__watch *w)
{
    reading r = {.w = w};
    pons_error err = PONS_ERROR_INIT;
    const bool complete = w->complete; // before the store is read: what ended it is in there
    w->dirty = false;
    const pons_store store = ww->s->o.store;
    if (store.ops->events(store.self, w->thread, w->at, BATCH, give, &r, &err) < 0) {
        pons_log(PONS_LOG_WARN, "serve", "%s", err.message);
        w->dirty = err.status != PONS_ENOTFOUND;
        ww->slow |= w->dirty;
        return err.status == PONS_ENOTFOUND && complete;
    }
    if (r.n > 0 || r.over) {
        ww->gave_ns = pons_now_ns(&ww->s->o.clock);
        if (w->given) {
            w->given(w);
        }
    }
    w->dirty = r.slow || r.n >= BATCH;
    ww->slow |= r.slow;
    return r.over || (complete && !w->dirty);
}

static void leave(pons__watcher *ww, pons__watch **at)
{
    pons__watch *w = *at;
    pthread_mutex_lock(&ww->t.mtx);
    *at = w->next;
    ww->n--;
    pthread_mutex_unlock(&ww->t.mtx);
    w->over(w);
}

static bool beat(pons__watch *w, int64_t now)
{
    const int64_t every = w->beat_ms ? w->beat_ms : BEAT_MS;
    if (now - w->beaten_ms < every) {
        return true;
    }
    w->beaten_ms = now;
    return pons__watch_write(w, w->beat, strlen(w->beat));
}

static void take_answer(pons__watcher *ww, int64_t now)
{
    pthread_mutex_lock(&ww->t.mtx);
    news *n = ww->news;
    ww->news = NULL;
    while (ww->coming) {
        pons__watch *w = ww->coming;
        ww->coming = w->next;
        w->next = ww->all;
        w->dirty = true;
        w->beaten_ms = now;
        ww->all = w;
    }
    pthread_mutex_unlock(&ww->t.mtx);
    while (n) {
        news *next = n->next;
        for (pons__watch *w = ww->all; w; w = w->next) {
            if (strcmp(w->thread, n->thread) == 0) {
                w->dirty = true;
                w->complete |= n->run[0] && strcmp(w->run, n->run) == 0;
            }
        }
        free(n);
        n = next;
    }
    if (now - ww->looked_ms >= LOOK_MS) {
        ww->looked_ms = now;
        for (pons__watch *w = ww->all; w; w = w->next) {
            w->dirty = true;
        }
    }
}

// A stream of events is given in handfuls: whoever had some less than PACE_US ago waits for the rest of it.
// The first ones after a silence do not.
static void pace(const pons__watcher *ww)
{
    const int64_t left = PACE_US * 1000LL - (pons_now_ns(&ww->s->o.clock) - ww->gave_ns);
    if (left > 0 && left <= PACE_US * 1000LL) {
        nanosleep(&(struct timespec){.tv_nsec = (long)left}, NULL);
    }
}

static void *run(void *user)
{
    pons__watcher *ww = user;
    bool more = false;
    while (!pons__thread_closing(&ww->t)) {
        struct pollfd p = {.fd = ww->t.wake, .events = POLLIN};
        int64_t due = ww->tick(ww->user);
        due = due < 0 ? 0 : due > LOOK_MS ? LOOK_MS : due;
        poll(&p, 1, more ? 0 : ww->slow ? SLOW_MS : (int)due);
        if (p.revents) {
            pace(ww);
            pons__thread_awake(&ww->t);
        }
        const int64_t now = pons_now_ms(&ww->s->o.clock);
        take_answer(ww, now);
        more = ww->slow = false;
        for (pons__watch **at = &ww->all; *at;) {
            pons__watch *w = *at;
            const bool over = (w->dirty && serve(ww, w)) || !beat(w, now);
            if (over) {
                leave(ww, at);
            } else {
                more |= w->dirty && !ww->slow;
                at = &w->next;
            }
        }
    }
    take_answer(ww, 0);
    while (ww->all) {
        leave(ww, &ww->all);
    }
    return NULL;
}

int pons__watcher_open(const pons_serve *s, int64_t (*tick)(void *user), void *user,
                       pons__watcher **ret, pons_error *err)
{
    pons__watcher *ww = pons_need_zeroed(1, sizeof *ww);
    ww->s = s;
    ww->tick = tick;
    ww->user = user;
    const int rc = pons__thread_begin(&ww->t, run, ww, "to watch runs with", err);
    if (rc < 0) {
        pons__watcher_close(ww);
        return rc;
    }
    *ret = ww;
    return PONS_OK;
}

void pons__watcher_stop(pons__watcher *ww)
{
    if (ww) {
        pons__thread_stop(&ww->t);
    }
}

void pons__watcher_close(pons__watcher *ww)
{
    if (!ww) {
        return;
    }
    pons__watcher_stop(ww);
    while (ww->news) {
        news *next = ww->news->next;
        free(ww->news);
        ww->news = next;
    }
    pons__thread_fini(&ww->t);
    free(ww);
}

void pons__watcher_wake(pons__watcher *ww)
{
    pons__thread_wake(&ww->t);
}

int pons__watch_begin(pons__watcher *ww, pons__watch *w, pons_error *err)
{
    pthread_mutex_lock(&ww->t.mtx);
    const bool room = ww->n < WATCHES_MAX && !ww->t.closing;
    if (room) {
        w->next = ww->coming;
        ww->coming = w;
        ww->n++;
    }
    pthread_mutex_unlock(&ww->t.mtx);
    if (!room) {
        return pons_error_set(err, PONS_EAGAIN, "serve", "%d clients listen already", WATCHES_MAX);
    }
    pons__watcher_wake(ww);
    return PONS_OK;
}

// [mtx] Whether somebody follows the thread, or is about to.
static bool followed(const pons__watcher *ww, const char *thread)
{
    const pons__watch *lists[] = {ww->all, ww->coming};
    for (size_t i = 0; i < 2; i++) {
        for (const pons__watch *w = lists[i]; w; w = w->next) {
            if (strcmp(w->thread, thread) == 0) {
                return true;
            }
        }
    }
    return false;
}

bool pons__watcher_has(pons__watcher *ww, const char *thread)
{
    pthread_mutex_lock(&ww->t.mtx);
    const bool yes = followed(ww, thread);
    pthread_mutex_unlock(&ww->t.mtx);
    return yes;
}

void pons__watcher_ended(pons__watcher *ww, const char *thread, const char *run)
{
    pthread_mutex_lock(&ww->t.mtx);
    bool known = !followed(ww, thread);
    for (news *n = ww->news; n && !known; n = n->next) {
        known = strcmp(n->thread, thread) == 0 && strcmp(n->run, run) == 0;
    }
    if (!known) {
        news *n = pons_need_zeroed(1, sizeof *n);
        memcpy(n->thread, thread, strlen(thread) + 1);
        memcpy(n->run, run, strlen(run) + 1);
        n->next = ww->news;
        ww->news = n;
    }
    pthread_mutex_unlock(&ww->t.mtx);
    if (!known) {
        pons__watcher_wake(ww);
    }
}

void pons__watcher_event(pons__watcher *ww, const char *thread)
{
    pons__watcher_ended(ww, thread, "");
}
