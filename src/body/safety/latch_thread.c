// latch_thread.c - see latch_thread.h.
//
//   safety --want (mailbox, eventfd)--> latch thread --write, fsync, rename, fsync--> body.epoch
//      ^                                     |
//      +----------saved (mailbox, kick)------+
//
// The safety thread goes on while this one waits for the disk. What cannot be saved is tried again
// ten times a second, for as long as it takes. Under the virtual clock there is no thread: the body
// calls pons__saver_work() itself, after each tick of the gate.
#include "body/safety/latch_thread.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define MODULE   "body"
#define RETRY_MS 100

int pons__keeper_init(pons__keeper *k, const char *path, pons_error *err)
{
    *k = (pons__keeper){.path = path ? strdup(path) : NULL};
    pthread_mutex_init(&k->mtx, NULL);
    if (path && !k->path) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for a path");
    }
    return PONS_OK;
}

void pons__keeper_fini(pons__keeper *k)
{
    free(k->path);
    k->path = NULL;
    pthread_mutex_destroy(&k->mtx);
}

static int save(const pons__keeper *k, pons_error *err)
{
    return k->path ? pons__durable_save(k->path, &k->d, err) : PONS_OK;
}

int pons__keeper_epoch(pons__keeper *k, int64_t epoch, pons_error *err)
{
    pthread_mutex_lock(&k->mtx);
    const int64_t before = k->d.epoch;
    k->d.epoch = epoch;
    const int rc = save(k, err);
    if (rc < 0) {
        k->d.epoch = before;
    }
    pthread_mutex_unlock(&k->mtx);
    return rc;
}

// A latch, and a pace that is slower, stay in k when they could not be saved, for whoever saves next; their
// end does not.
int pons__keeper_latch(pons__keeper *k, const pons__latch_want *w, pons_error *err)
{
    pthread_mutex_lock(&k->mtx);
    const pons__durable before = k->d;
    k->d.latched = w->latched;
    k->d.origin = w->latched ? w->origin : PONS__ORIGIN_NONE;
    snprintf(k->d.reason, sizeof k->d.reason, "%s", w->latched ? w->reason : "");
    k->d.taken_pct = w->taken_pct;
    const int rc = save(k, err);
    if (rc < 0 && !w->latched) {
        k->d = before;
    }
    if (rc < 0) {
        k->d.taken_pct = w->taken_pct > before.taken_pct ? w->taken_pct : before.taken_pct;
    }
    pthread_mutex_unlock(&k->mtx);
    return rc;
}

// ---- the thread ---------------------------------------------------------------------------------

void pons__saver_init(pons__saver *s, pons__gate *g, pons__keeper *k)
{
    memset(s, 0, sizeof *s);
    s->guard = g;
    s->keeper = k;
    s->wake_fd = -1;
    atomic_init(&s->quit, false);
}

void pons__saver_work(pons__saver *s)
{
    const pons__latch_want *w = pons__gate_want(s->guard);
    if (w->gen <= s->saved.gen) {
        return;
    }
    pons_error err = PONS_ERROR_INIT;
    s->failing = pons__keeper_latch(s->keeper, w, &err) < 0;
    s->saved.tried = w->gen;
    if (s->failing) {
        snprintf(s->saved.why, sizeof s->saved.why, "body.epoch: %.80s",
                 err.cause[0] ? err.cause : err.message);
    } else {
        s->saved.gen = w->gen;
        s->saved.why[0] = '\0';
    }
    pons__gate_saved(s->guard, &s->saved);
    if (s->done) {
        s->done(s->done_ctx);
    }
}

static void *run(void *arg)
{
    pons__saver *s = arg;
    while (!atomic_load_explicit(&s->quit, memory_order_acquire)) {
        struct pollfd p = {.fd = s->wake_fd, .events = POLLIN};
        uint64_t count;
        poll(&p, 1, s->failing ? RETRY_MS : -1);
        (void)!read(s->wake_fd, &count, sizeof count);
        pons__saver_work(s);
    }
    return NULL;
}

int pons__saver_start(pons__saver *s, pons_error *err)
{
    s->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (s->wake_fd < 0) {
        return pons_error_set(err, PONS_EIO, MODULE, "cannot make a descriptor: %s",
                              strerror(errno));
    }
    s->runs = pthread_create(&s->thread, NULL, run, s) == 0;
    return s->runs ? PONS_OK
                   : pons_error_set(err, PONS_EIO, MODULE, "cannot start the latch thread");
}

void pons__saver_wake(void *arg)
{
    const pons__saver *s = arg;
    const uint64_t one = 1;
    (void)!write(s->wake_fd, &one, sizeof one); // a full counter wakes as well
}

void pons__saver_stop(pons__saver *s)
{
    if (s->runs) {
        atomic_store_explicit(&s->quit, true, memory_order_release);
        pons__saver_wake(s);
        pthread_join(s->thread, NULL);
        s->runs = false;
        pons__saver_work(s);
    }
    if (s->wake_fd >= 0) {
        close(s->wake_fd);
        s->wake_fd = -1;
    }
}
