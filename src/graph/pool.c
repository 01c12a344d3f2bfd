// pool.c - nodes that block, on worker threads.
//
//   loop thread   work_run: copy the input, queue, park ───┐            ┌─► deliver: task TODO, run
//   READY worker        wait ─► take ─► fn(copy) ─► result, done list ─► eventfd
//
// What crosses is a pons_work: the loop writes it before it is queued and reads it after it is on
// the done list, both under the pool's lock. The input is a deep copy, so no reference count is
// touched by two threads. A work that nobody waits for any more (its task timed out, or was
// cleared) is only told so, and freed when it comes back.
//
// Workers are started when work is queued and none is idle, up to WORKERS_MAX; closing the thread
// waits for them.
#include "graph/graph_internal.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { WORKERS_MAX = 8 };

struct pons_work {
    struct pons_work *next;
    pons_blocking_fn fn; // const
    void *user;          // const
    pons_value *input;   // the worker's from queue to done
    atomic_bool canceled;
    atomic_uint progress; // how often it has told
    unsigned seen;        // loop: of those
    int64_t moved_ns;     // loop: when it looked and there was more
    int st;               // the worker's until done
    pons_value *update;   // the same
    pons_error err;       // the same
    pons_cx *cx;          // loop; NULL: nobody waits
    bool finished;        // loop
};

typedef struct pons__pool {
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
} pons__pool;

static pons__pool *pool_of(pons_thread *t);
static int queue(pons_cx *cx, pons_error *err);
static int start_worker(pons__pool *p, pons_error *err);
static void *worker(void *arg);
static void work_free(pons_work *w);
static pons_value *input_of(const pons_cx *cx);

// ---------------------------------------------------------------- the loop's side

int pons__work_run(pons_cx *cx, pons_error *err)
{
    pons_work *w = cx->work;
    if (!w) {
        int st = queue(cx, err);
        return st == PONS_OK ? PONS_EPARKED : st;
    }
    if (!w->finished)
        return PONS_EPARKED;
    cx->work = NULL;
    int st = w->st;
    if (st == PONS_OK && w->update)
        st = pons__cx_input(cx, w->update, err);
    else if (st != PONS_OK && err)
        *err = w->err;
    work_free(w);
    return st == PONS_EPARKED ? PONS_EINVAL : st;
}

static int queue(pons_cx *cx, pons_error *err)
{
    pons_thread *t = cx->run->t;
    pons__pool *p = pool_of(t);
    pons_work *w = p ? calloc(1, sizeof *w) : NULL;
    if (!w)
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a blocking node");
    *w = (pons_work){
        .fn = cx->node->blocking, .user = cx->node->user, .input = input_of(cx), .cx = cx};
    if (!w->input) {
        work_free(w);
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a blocking node");
    }
    pthread_mutex_lock(&p->lock);
    *p->queue_end = w;
    p->queue_end = &w->next;
    bool more = p->idle == 0 || p->pending >= p->n_workers;
    pthread_cond_signal(&p->wake);
    pthread_mutex_unlock(&p->lock);
    p->pending++;
    cx->work = w;
    int st = more && p->n_workers < WORKERS_MAX ? start_worker(p, err) : PONS_OK;
    return p->n_workers > 0 ? PONS_OK : st; // the workers that are there will come to it
}

void pons__work_drop(pons_cx *cx)
{
    pons_work *w = cx->work;
    if (!w)
        return;
    cx->work = NULL;
    if (w->finished) {
        work_free(w);
        return;
    }
    w->cx = NULL;
    atomic_store_explicit(&w->canceled, true, memory_order_release);
}

// The injected clock is the loop's alone, so progress counts from when the loop looks.
int64_t pons__work_moved_ns(const pons_cx *cx)
{
    pons_work *w = cx->work;
    if (!w)
        return 0;
    unsigned told = atomic_load_explicit(&w->progress, memory_order_relaxed);
    if (told != w->seen)
        w->moved_ns = pons_now_ns(&cx->run->t->clock);
    w->seen = told;
    return w->moved_ns;
}

int pons_thread_fd(pons_thread *t)
{
    pons__pool *p = pool_of(t);
    return p ? p->fd : -1;
}

int pons_thread_deliver(pons_thread *t)
{
    pons__pool *p = t->pool;
    if (!p)
        return 0;
    uint64_t count;
    if (read(p->fd, &count, sizeof count) < 0 && errno == EAGAIN)
        return 0; // nothing has come back since
    pthread_mutex_lock(&p->lock);
    pons_work *list = p->done;
    p->done = NULL;
    p->done_end = &p->done;
    pthread_mutex_unlock(&p->lock);
    int n = 0;
    while (list) {
        pons_work *w = list;
        list = w->next;
        p->pending--;
        if (!w->cx) {
            work_free(w);
            continue;
        }
        w->finished = true;
        if (w->cx->state == PONS__TASK_PARKED)
            w->cx->state = PONS__TASK_TODO;
        pons__run_wake(w->cx->run);
        n++;
    }
    return n;
}

int pons_run_wait(pons_run *r, pons_error *err)
{
    for (;;) {
        int st = pons_run_advance(r, err);
        if (st == PONS_OK && r->state == PONS_RUN_PARKED)
            st = pons_run_sleep(r, err);
        if (st != PONS_OK || r->state != PONS_RUN_READY)
            return st;
    }
}

int pons_run_sleep(pons_run *r, pons_error *err)
{
    pons_thread *t = r->t;
    while (r->state == PONS_RUN_PARKED) {
        int64_t due_ns = pons_run_deadlines(r, err);
        if (r->state != PONS_RUN_PARKED)
            break;
        bool working = t->pool && t->pool->pending > 0;
        if (due_ns == INT64_MAX && !working)
            break; // for something that the caller serves
        int timeout_ms = -1;
        if (due_ns != INT64_MAX) {
            int64_t ms = (due_ns - pons_now_ns(&t->clock) + PONS_NS_PER_MS - 1) / PONS_NS_PER_MS;
            timeout_ms = ms < 0 ? 0 : ms > INT32_MAX ? INT32_MAX : (int)ms;
        }
        struct pollfd p = {.fd = t->pool ? t->pool->fd : -1, .events = POLLIN};
        if (poll(&p, 1, timeout_ms) < 0 && errno != EINTR)
            return pons_error_set(err, PONS_EIO, PONS__MODULE, "cannot wait for a run");
        pons_thread_deliver(t);
    }
    return PONS_OK;
}

void pons__pool_close(pons_thread *t)
{
    pons__pool *p = t->pool;
    if (!p)
        return;
    t->pool = NULL;
    pthread_mutex_lock(&p->lock);
    p->closing = true;
    pthread_cond_broadcast(&p->wake);
    pthread_mutex_unlock(&p->lock);
    for (size_t i = 0; i < p->n_workers; i++)
        pthread_join(p->workers[i], NULL);
    pons_work *lists[] = {p->queue, p->done};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        while (lists[i]) {
            pons_work *w = lists[i];
            lists[i] = w->next;
            work_free(w);
        }
    close(p->fd);
    pthread_cond_destroy(&p->wake);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

// ---------------------------------------------------------------- the worker's side

static void *worker(void *arg)
{
    pons__pool *p = arg;
    pthread_mutex_lock(&p->lock);
    for (;;) {
        p->idle++;
        while (!p->queue && !p->closing)
            pthread_cond_wait(&p->wake, &p->lock);
        p->idle--;
        if (p->closing)
            break;
        pons_work *w = p->queue;
        p->queue = w->next;
        p->queue_end = p->queue ? p->queue_end : &p->queue;
        w->next = NULL;
        pthread_mutex_unlock(&p->lock);
        if (!pons_work_canceled(w))
            w->st = w->fn(w, w->user, w->input, &w->update, &w->err);
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

bool pons_work_canceled(const pons_work *w)
{
    return atomic_load_explicit(&w->canceled, memory_order_acquire);
}

void pons_work_progress(pons_work *w)
{
    atomic_fetch_add_explicit(&w->progress, 1, memory_order_relaxed);
}

// ---------------------------------------------------------------- helpers

static pons__pool *pool_of(pons_thread *t)
{
    if (t->pool)
        return t->pool;
    pons__pool *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (p->fd < 0) {
        free(p);
        return NULL;
    }
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->wake, NULL);
    p->queue_end = &p->queue;
    p->done_end = &p->done;
    t->pool = p;
    return p;
}

static int start_worker(pons__pool *p, pons_error *err)
{
    if (pthread_create(&p->workers[p->n_workers], NULL, worker, p) != 0)
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "cannot start a worker thread");
    p->n_workers++;
    return PONS_OK;
}

static pons_value *input_of(const pons_cx *cx)
{
    if (cx->arg)
        return json_deep_copy(cx->arg);
    pons_value *input = json_object();
    const pons_graph *g = cx->run->g;
    for (size_t i = 0; i < g->n_channels && input; i++) {
        const pons_value *v = cx->run->ns->slots[i].v;
        if (v && json_object_set_new(input, g->channels[i].name, json_deep_copy(v)) != 0) {
            pons_value_unref(input);
            input = NULL;
        }
    }
    return input;
}

static void work_free(pons_work *w)
{
    pons_value_unref(w->input);
    pons_value_unref(w->update);
    free(w);
}
