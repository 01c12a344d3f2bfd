// commit_queue.c - who writes, and when.
//
// A store of this kind has one connection that writes, and a right to use it that is handed round:
//
//     commit        --> queue --> whoever finds nobody writing leads: takes what is queued,
//     commit_async  --> (copy)    has it written together, tells the others
//     everything else that writes --> pons__commitq_enter … leave
//
// Alone, a caller leads its own commit: no other thread is woken, nothing is copied. Under
// contention, and while a synced commit waits for the disk, others gather in the queue and the next
// leader takes them all: one transaction, one sync. A caller that waits is woken when its own
// commit is done or when it is its turn to lead, and for nothing else: with sixty callers, waking
// them all after each batch would cost more than the batch.
//
// The pipeline (commit_async) is the same queue with copies, and with a thread that leads when
// nobody else does: at once after a silence, in a flood once in PACE_NS, so that one transaction has
// what many callers gave and a page is written once for all of it. It holds nobody up: who wants to
// know, or to write, leads. It is bounded: a caller that is too fast leads or waits. When an async commit
// fails, those queued behind it on the same thread would stand on nothing and are dropped, until
// the failure was reported once: to that thread's next commit or flush, or to a drain.
#include "store/commit_queue.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PACE_NS         1000000               // from one batch of the thread's to the next
#define PACE_COUNT      (PONS__BATCH_MAX / 2) // async commits for which it does not wait
#define QUEUE_COUNT_MAX 1024                  // async commits waiting
#define QUEUE_BYTES_MAX ((size_t)8 << 20)     // and their bytes

void pons__commitq_init(commit_queue *q, const commit_queue_ops *ops, void *backend)
{
    *q = (commit_queue){.ops = ops, .backend = backend};
    q->tail = &q->head;
    pthread_mutex_init(&q->mtx, NULL);
    pthread_cond_init(&q->changed, NULL);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&q->work, &attr);
    pthread_condattr_destroy(&attr);
}

void pons__commitq_stop(commit_queue *q)
{
    pthread_mutex_lock(&q->mtx);
    q->closing = true;
    pthread_cond_signal(&q->work);
    bool joins = q->thread_on;
    pthread_mutex_unlock(&q->mtx);
    if (joins) {
        pthread_join(q->thread, NULL);
    }
}

void pons__commitq_fini(commit_queue *q)
{
    pthread_cond_destroy(&q->work);
    pthread_cond_destroy(&q->changed);
    pthread_mutex_destroy(&q->mtx);
}

// ---- leading; [mtx] is held ---------------------------------------------------------------------

static commit_line *find(commit_queue *q, const pons_lease *lease)
{
    for (commit_line *line = q->lines; line; line = line->next) {
        // The pointer alone may be of an earlier lease, freed and given out again.
        if (line == lease->impl && line->epoch == lease->epoch &&
            strcmp(line->thread, lease->thread) == 0) {
            return line;
        }
    }
    return NULL;
}

static const commit_line *find_thread(const commit_queue *q, const char *thread)
{
    const commit_line *line = q->lines;
    while (line && strcmp(line->thread, thread) != 0) {
        line = line->next;
    }
    return line;
}

static void enqueue(commit_queue *q, commit_request *r)
{
    r->next = NULL;
    r->generation = r->line->generation;
    *q->tail = r;
    q->tail = &r->next;
    q->enqueued++;
    q->queued_bytes += r->bytes;
}

// Without the lock. Whoever waits for these commits waits until this is over.
static void tell(commit_request *const *batch, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const pons_commit *c = batch[i]->c;
        bool again = !batch[i]->async || !c->written;
        for (size_t k = i + 1; k < n && !again; k++) {
            again = batch[k]->async && batch[k]->c->user == c->user &&
                    batch[k]->c->written == c->written;
        }
        if (!again) {
            c->written(c->user);
        }
    }
}

// The right to write is free. Whose commit is the oldest leads; of an async one the queue's thread,
// or, when that is busy or not there, the first who waits for a commit.
static void hand_over(commit_queue *q)
{
    commit_request *r = q->head;
    q->writing = false;
    if (q->waiting > 0) {
        pthread_cond_broadcast(&q->changed);
    }
    if (r && r->async && q->thread_idle) {
        pthread_cond_signal(&q->work);
    }
    while (r && r->async && !q->thread_idle) {
        r = r->next;
    }
    if (r && !r->async) {
        pthread_cond_signal(&r->wake);
    }
}

// Writes a batch from the front of the queue. Nobody is writing, something is queued.
static void lead(commit_queue *q)
{
    commit_request *batch[PONS__BATCH_MAX];
    size_t n = 0;
    q->writing = true;
    for (; n < PONS__BATCH_MAX && q->head; n++) {
        batch[n] = q->head;
        q->head = q->head->next;
    }
    if (!q->head) {
        q->tail = &q->head;
    }
    pthread_mutex_unlock(&q->mtx);

    q->ops->write(q->backend, batch, n);
    tell(batch, n);

    pthread_mutex_lock(&q->mtx);
    for (size_t i = 0; i < n; i++) {
        q->completed++;
        q->queued_bytes -= batch[i]->bytes;
        if (batch[i]->async) {
            batch[i]->line->queued--;
            free(batch[i]);
        } else { // it may be gone once the lock is
            batch[i]->done = true;
            pthread_cond_signal(&batch[i]->wake);
        }
    }
    hand_over(q);
}

static void wait_changed(commit_queue *q)
{
    q->waiting++;
    pthread_cond_wait(&q->changed, &q->mtx);
    q->waiting--;
}

static void lead_or_wait(commit_queue *q)
{
    if (!q->writing && q->head) {
        lead(q);
    } else {
        wait_changed(q);
    }
}

static void flush_line(commit_queue *q, const commit_line *line)
{
    while (line->queued > 0) {
        lead_or_wait(q);
    }
}

// Tells an async failure, once.
static bool report(commit_line *line, pons_error *err)
{
    if (!line->failed.status) {
        return false;
    }
    *err = line->failed;
    line->failed = (pons_error)PONS_ERROR_INIT;
    line->generation++;
    return true;
}

// ---- the thread ---------------------------------------------------------------------------------

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static bool is_much(const commit_queue *q)
{
    return q->enqueued - q->completed >= PACE_COUNT;
}

// [mtx] Until the next batch is due, or whatever else the thread has to do.
static void pace(commit_queue *q)
{
    const int64_t due = q->led_ns + PACE_NS;
    const struct timespec until = {.tv_sec = due / 1000000000, .tv_nsec = due % 1000000000};
    q->pacing = true;
    pthread_cond_timedwait(&q->work, &q->mtx, &until);
    q->pacing = false;
}

static void *thread_main(void *arg)
{
    commit_queue *q = arg;
    pthread_mutex_lock(&q->mtx);
    while (q->head || !q->closing) {
        if (q->aside && !q->closing) {
            q->aside = false;
            pthread_mutex_unlock(&q->mtx);
            q->ops->aside(q->backend);
            pthread_mutex_lock(&q->mtx);
        } else if (!q->writing && q->head) {
            if (!q->closing && !is_much(q) && now_ns() - q->led_ns < PACE_NS) {
                pace(q);
            } else {
                q->led_ns = now_ns();
                lead(q);
            }
        } else {
            q->thread_idle = true;
            pthread_cond_wait(&q->work, &q->mtx);
            q->thread_idle = false;
        }
    }
    pthread_mutex_unlock(&q->mtx);
    return NULL;
}

static bool thread_start(commit_queue *q)
{
    if (!q->thread_on) {
        q->thread_on = pthread_create(&q->thread, NULL, thread_main, q) == 0;
    }
    return q->thread_on;
}

static commit_request *request_copy(const pons_commit *c, commit_line *line)
{
    pons_commit *mine;
    size_t bytes;
    commit_request *r = pons__commit_copy(c, sizeof *r, &mine, &bytes);
    if (!r) {
        return NULL;
    }
    r->c = mine;
    r->line = line;
    r->async = true;
    r->bytes = bytes;
    return r;
}

// ---- commits ------------------------------------------------------------------------------------

static int commit(commit_queue *q, const pons_commit *c, int64_t *ret_event_first, pons_error *err)
{
    err = err ? err : &(pons_error)PONS_ERROR_INIT;
    int rc = pons__store_check_commit(c, err);
    if (rc) {
        return rc;
    }
    commit_request r = {.c = c, .wake = PTHREAD_COND_INITIALIZER};
    pthread_mutex_lock(&q->mtx);
    r.line = find(q, c->lease);
    if (!r.line) {
        pthread_mutex_unlock(&q->mtx);
        return pons__store_stale(err, c->lease->thread, c->lease->epoch, 0);
    }
    enqueue(q, &r);
    while (!r.done) {
        if (!q->writing && q->head) {
            lead(q);
        } else {
            pthread_cond_wait(&r.wake, &q->mtx);
        }
    }
    pthread_mutex_unlock(&q->mtx);
    pthread_cond_destroy(&r.wake);
    if (r.status) {
        *err = r.err;
    }
    *ret_event_first = r.event_first;
    return r.status;
}

int pons__commitq_commit(void *store, const pons_commit *c, pons_error *err)
{
    int64_t first;
    const int rc = commit(store, c, &first, err);
    for (size_t i = 0; !rc && i < c->n_events; i++) {
        c->events[i].seq = first + (int64_t)i;
    }
    return rc;
}

int pons__commitq_commit_now(void *store, const pons_commit *c, pons_error *err)
{
    int64_t first;
    const int rc = commit(store, c, &first, err);
    if (!rc && c->written) {
        c->written(c->user);
    }
    return rc;
}

int pons__commitq_commit_async(void *store, const pons_commit *c, pons_error *err)
{
    commit_queue *q = store;
    err = err ? err : &(pons_error)PONS_ERROR_INIT;
    int rc = pons__store_check_commit(c, err);
    if (rc) {
        return rc;
    }
    pthread_mutex_lock(&q->mtx);
    commit_line *line = find(q, c->lease);
    commit_request *r = NULL;
    if (!line) {
        rc = pons__store_stale(err, c->lease->thread, c->lease->epoch, 0);
    } else if (report(line, err)) {
        rc = err->status;
    } else {
        r = request_copy(c, line);
        if (!r) {
            rc = pons_error_set(err, PONS_ENOMEM, "store", "out of memory");
        }
    }
    if (!rc) {
        line->queued++;
        while (q->queued_bytes > QUEUE_BYTES_MAX || q->enqueued - q->completed > QUEUE_COUNT_MAX) {
            lead_or_wait(q);
        }
        enqueue(q, r);
        if (!thread_start(q)) {
            if (!q->writing) {
                lead(q); // no thread to be had: slower, not wrong
            }
        } else if (!q->writing && (!q->pacing || is_much(q))) {
            pthread_cond_signal(&q->work);
        }
    }
    pthread_mutex_unlock(&q->mtx);
    return rc;
}

int pons__commitq_drain(void *store, pons_error *err)
{
    commit_queue *q = store;
    err = err ? err : &(pons_error)PONS_ERROR_INIT;
    int rc = PONS_OK;
    pthread_mutex_lock(&q->mtx);
    const uint64_t target = q->enqueued;
    while (q->completed < target) {
        lead_or_wait(q);
    }
    for (commit_line *line = q->lines; line && !rc; line = line->next) {
        if (report(line, err)) {
            rc = err->status;
        }
    }
    if (!rc && q->orphan.status) {
        *err = q->orphan;
        rc = err->status;
        q->orphan = (pons_error)PONS_ERROR_INIT;
    }
    pthread_mutex_unlock(&q->mtx);
    return rc;
}

int pons__commitq_flush(void *store, const pons_lease *lease, pons_error *err)
{
    commit_queue *q = store;
    err = err ? err : &(pons_error)PONS_ERROR_INIT;
    int rc = PONS_OK;
    pthread_mutex_lock(&q->mtx);
    commit_line *line = find(q, lease);
    if (!line) {
        rc = pons__store_stale(err, lease->thread, lease->epoch, 0);
    } else {
        flush_line(q, line);
        rc = report(line, err) ? err->status : PONS_OK;
    }
    pthread_mutex_unlock(&q->mtx);
    return rc;
}

// ---- lines --------------------------------------------------------------------------------------

void pons__commitq_add(commit_queue *q, commit_line *line)
{
    pthread_mutex_lock(&q->mtx);
    line->next = q->lines;
    q->lines = line;
    pthread_mutex_unlock(&q->mtx);
}

commit_line *pons__commitq_remove(commit_queue *q, const pons_lease *lease)
{
    pthread_mutex_lock(&q->mtx);
    commit_line *line = find(q, lease);
    if (line) {
        flush_line(q, line);
        for (commit_line **at = &q->lines; *at; at = &(*at)->next) {
            if (*at == line) {
                *at = line->next;
                break;
            }
        }
        if (line->failed.status) {
            q->orphan = line->failed;
        }
    }
    pthread_mutex_unlock(&q->mtx);
    return line;
}

commit_line *pons__commitq_find(commit_queue *q, const pons_lease *lease)
{
    pthread_mutex_lock(&q->mtx);
    commit_line *line = find(q, lease);
    if (line) {
        flush_line(q, line);
    }
    pthread_mutex_unlock(&q->mtx);
    return line;
}

void pons__commitq_settle_thread(commit_queue *q, const char *thread)
{
    pthread_mutex_lock(&q->mtx);
    const commit_line *line = find_thread(q, thread);
    if (line) {
        flush_line(q, line);
    }
    pthread_mutex_unlock(&q->mtx);
}

uint64_t pons__commitq_epoch(commit_queue *q, const char *thread)
{
    pthread_mutex_lock(&q->mtx);
    const commit_line *line = find_thread(q, thread);
    const uint64_t epoch = line ? line->epoch : 0;
    pthread_mutex_unlock(&q->mtx);
    return epoch;
}

// ---- the right to write -------------------------------------------------------------------------

void pons__commitq_enter(commit_queue *q)
{
    pthread_mutex_lock(&q->mtx);
    while (q->writing) {
        wait_changed(q);
    }
    q->writing = true;
    pthread_mutex_unlock(&q->mtx);
}

void pons__commitq_leave(commit_queue *q)
{
    pthread_mutex_lock(&q->mtx);
    hand_over(q);
    pthread_mutex_unlock(&q->mtx);
}

bool pons__commitq_aside(commit_queue *q)
{
    pthread_mutex_lock(&q->mtx);
    bool asked = thread_start(q);
    if (asked) {
        q->aside = true;
        pthread_cond_signal(&q->work);
    }
    pthread_mutex_unlock(&q->mtx);
    return asked;
}

// ---- for the writers ----------------------------------------------------------------------------

bool pons__commitq_refused(commit_queue *q, commit_request *r)
{
    if (r->settled) {
        return true;
    }
    bool no = false;
    pthread_mutex_lock(&q->mtx);
    if (!r->async) {
        no = report(r->line, &r->err);
    } else if (r->line->failed.status || r->generation != r->line->generation) {
        no = true;
        r->err.status = PONS_ECANCELED;
    }
    pthread_mutex_unlock(&q->mtx);
    if (no) {
        r->settled = true;
        r->status = r->err.status;
    }
    return no;
}

void pons__commitq_settle(commit_queue *q, commit_request *r, int status)
{
    r->settled = true;
    r->status = status;
    if (!status || !r->async) {
        return;
    }
    pthread_mutex_lock(&q->mtx);
    if (!r->line->failed.status) {
        r->line->failed = r->err;
    }
    pthread_mutex_unlock(&q->mtx);
}
