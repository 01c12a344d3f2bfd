// worker_pool.c - worker threads for functions that block.
//
//   loop      put: queue, wake a worker --+                +--> take: the done list, all of it
//                                         v                |
//   workers          wait -> take one -> fn(input) -> done list, a count into the eventfd
//
// What crosses is a pons_work: the loop writes it before it is queued and reads it after it is on
// the done list, both under the pool's lock. A work that nobody waits for any more is only told so,
// and freed when it comes back.
//
// Workers are started when work is queued and none is idle, up to WORKERS_MAX; destroying the pool
// waits for them.
#include "graph/util/worker_pool.h"

#include "graph/engine.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { WORKERS_MAX = 8 };

struct pons__pool {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pons_work *queue, **queue_end; // [lock]
    pons_work *done, **done_end;   // [lock]
    size_t idle;                   // [lock]
    bool closing;                  // [lock]
    int fd;                        // const
    size_t pending;                // loop: queued and not delivered
    pthread_t workers[WORKERS_MAX];
    size_t n_workers; // loop
};

// ---- the worker's side --------------------------------------------------------------------------

static void *worker(void *arg)
{
    pons__pool *p = arg;
    pthread_mutex_lock(&p->lock);
    for (;;) {
        p->idle++;
        while (!p->queue && !p->closing) {
            pthread_cond_wait(&p->wake, &p->lock);
        }
        p->idle--;
        if (p->closing) {
            break;
        }
        pons_work *w = p->queue;
        p->queue = w->next;
        p->queue_end = p->queue ? p->queue_end : &p->queue;
        w->next = NULL;
        pthread_mutex_unlock(&p->lock);
        if (!pons_work_canceled(w)) {
            w->st = w->fn(w, w->user, w->input, &w->update, &w->err);
        }
        pthread_mutex_lock(&p->lock);
        *p->done_end = w;
        p->done_end = &w->next;
        uint64_t one = 1;
        while (write(p->fd, &one, sizeof one) < 0 && errno == EINTR)
            ;
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static int start_worker(pons__pool *p, pons_error *err)
{
    if (pthread_create(&p->workers[p->n_workers], NULL, worker, p) != 0) {
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "cannot start a worker thread");
    }
    p->n_workers++;
    return PONS_OK;
}

bool pons_work_canceled(const pons_work *w)
{
    return atomic_load_explicit(&w->canceled, memory_order_acquire) ||
           (w->cancel && pons_cancel_requested(w->cancel) != PONS_CANCEL_NONE);
}

void pons_work_progress(pons_work *w)
{
    atomic_fetch_add_explicit(&w->progress, 1, memory_order_relaxed);
}

// ---- the loop's side ----------------------------------------------------------------------------

pons__pool *pons__pool_create(void)
{
    pons__pool *p = calloc(1, sizeof *p);
    if (!p) {
        return NULL;
    }
    p->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (p->fd < 0) {
        free(p);
        return NULL;
    }
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->wake, NULL);
    p->queue_end = &p->queue;
    p->done_end = &p->done;
    return p;
}

void pons__pool_destroy(pons__pool *p)
{
    if (!p) {
        return;
    }
    pthread_mutex_lock(&p->lock);
    p->closing = true;
    pthread_cond_broadcast(&p->wake);
    pthread_mutex_unlock(&p->lock);
    for (size_t i = 0; i < p->n_workers; i++) {
        pthread_join(p->workers[i], NULL);
    }
    pons_work *lists[] = {p->queue, p->done};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        while (lists[i]) {
            pons_work *w = lists[i];
            lists[i] = w->next;
            pons__work_free(w);
        }
    }
    close(p->fd);
    pthread_cond_destroy(&p->wake);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

int pons__pool_fd(const pons__pool *p)
{
    return p->fd;
}

bool pons__pool_busy(const pons__pool *p)
{
    return p->pending > 0;
}

int pons__pool_put(pons__pool *p, pons_work *w, pons_error *err)
{
    pthread_mutex_lock(&p->lock);
    *p->queue_end = w;
    p->queue_end = &w->next;
    bool more = p->idle == 0 || p->pending >= p->n_workers;
    pthread_cond_signal(&p->wake);
    pthread_mutex_unlock(&p->lock);
    p->pending++;
    int st = more && p->n_workers < WORKERS_MAX ? start_worker(p, err) : PONS_OK;
    return p->n_workers > 0 ? PONS_OK : st; // the workers that are there will come to it
}

pons_work *pons__pool_take(pons__pool *p)
{
    uint64_t count;
    if (read(p->fd, &count, sizeof count) < 0 && errno == EAGAIN) {
        return NULL; // nothing has come back since
    }
    pthread_mutex_lock(&p->lock);
    pons_work *list = p->done;
    p->done = NULL;
    p->done_end = &p->done;
    pthread_mutex_unlock(&p->lock);
    for (const pons_work *w = list; w; w = w->next) {
        p->pending--;
    }
    return list;
}

void pons__work_cancel(pons_work *w)
{
    if (!w) {
        return;
    }
    if (w->finished) {
        pons__work_free(w);
        return;
    }
    w->cx = NULL;
    atomic_store_explicit(&w->canceled, true, memory_order_release);
}

void pons__work_free(pons_work *w)
{
    pons_value_unref(w->input);
    pons_value_unref(w->update);
    pons_cancel_destroy(w->cancel);
    free(w);
}
