// job_queue.c - who runs next.
//
//     put --> [thread A] job job job      a thread's jobs in the order in which they are due; one at
//             [thread B] job              a time is at work
//                 | first one due, nobody at work on it
//                 v
//             ready: B A … --> a worker takes one, carries it out, and says done
//
// A thread is in the table while it has jobs. A job is put in first and released when the store has
// it, so that who comes second sees who came first, and nothing runs that a client was not told of.
#include "serve/runs/job_queue.h"

#include "pons/out_of_memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>

#define HOST "serve"

static const int64_t HELD = INT64_MAX; // the due_ms of a job that is not released yet

void pons__jobs_init(pons__jobs *q, void (*grow)(void *user), void *user)
{
    *q = (pons__jobs){.grow = grow, .user = user};
    pthread_mutex_init(&q->mtx, NULL);
    pthread_cond_init(&q->due, NULL);
    pthread_cond_init(&q->ended, NULL);
    q->ready_end = &q->ready;
}

// ---- helpers, all under the lock ----------------------------------------------------------------

static size_t bucket_of(const char *thread)
{
    size_t h = 5381;
    for (const char *s = thread; *s; s++) {
        h = h * 33 + (unsigned char)*s;
    }
    return h % PONS__BUCKETS;
}

static pons__session *find(pons__jobs *q, const char *thread)
{
    pons__session *s = q->buckets[bucket_of(thread)];
    while (s && strcmp(s->thread, thread) != 0) {
        s = s->next;
    }
    return s;
}

static pons__session *find_or_make(pons__jobs *q, const char *thread)
{
    pons__session *s = find(q, thread);
    if (!s) {
        s = pons_need_zeroed(1, sizeof *s);
        memcpy(s->thread, thread, strlen(thread) + 1);
        s->mail_end = &s->mail;
        s->wake = -1;
        s->next = q->buckets[bucket_of(thread)];
        q->buckets[bucket_of(thread)] = s;
    }
    return s;
}

void pons__mail_drop(pons__mail *m)
{
    while (m) {
        pons__mail *next = m->next;
        pons_value_unref(m->value);
        free(m);
        m = next;
    }
}

static void drop_if_empty(pons__jobs *q, pons__session *s)
{
    if (s->jobs || s->working || s->ready) {
        return;
    }
    pons__session **at = &q->buckets[bucket_of(s->thread)];
    while (*at != s) {
        at = &(*at)->next;
    }
    *at = s->next;
    pons__mail_drop(s->mail);
    free(s);
}

static void insert(pons__session *s, pons__job *j)
{
    pons__job **at = &s->jobs;
    while (*at && ((*at)->state != PONS__JOB_PENDING || (*at)->due_ms <= j->due_ms)) {
        at = &(*at)->next;
    }
    j->next = *at;
    *at = j;
}

static void take_out(pons__jobs *q, pons__session *s, pons__job *j)
{
    pons__job **at = &s->jobs;
    while (*at && *at != j) {
        at = &(*at)->next;
    }
    if (*at) {
        *at = j->next;
        j->next = NULL;
        q->n_jobs--;
    }
}

static void unref(pons__job *j)
{
    if (j && --j->refs == 0) {
        pons__job_free(j);
    }
}

static void make_ready(pons__jobs *q, pons__session *s, int64_t wall_ms)
{
    if (s->working || s->ready || !s->jobs || s->jobs->due_ms > wall_ms || q->closing) {
        return;
    }
    s->ready = true;
    s->next_ready = NULL;
    *q->ready_end = s;
    q->ready_end = &s->next_ready;
    if (q->idle == 0) {
        q->grow(q->user);
    }
    pthread_cond_signal(&q->due);
}

static void ring(const pons__session *s)
{
    if (s->working && s->wake >= 0) {
        eventfd_write(s->wake, 1);
    }
}

// Whether a job has not ended.
static bool at_work(const pons__session *s)
{
    const pons__job *j = s->jobs;
    while (j && pons__job_ended(j)) {
        j = j->next;
    }
    return j != NULL;
}

// A job that is to end: one at work is told, another one leaves.
static pons__job *stop(pons__jobs *q, pons__session *s, pons__job *j, bool rollback)
{
    if (pons__job_ended(j)) {
        return NULL;
    }
    j->stop = true;
    j->rollback |= rollback;
    if (j->state == PONS__JOB_RUNNING) {
        if (s->cancel) {
            pons_cancel_request(s->cancel, PONS_CANCEL_INTERRUPT);
        }
        ring(s);
        return NULL;
    }
    take_out(q, s, j);
    j->state = PONS__JOB_INTERRUPTED;
    return j;
}

// ---- coming -------------------------------------------------------------------------------------

int pons__jobs_put(pons__jobs *q, pons__job *j, pons__job **ret_stopped, pons_error *err)
{
    int rc = PONS_OK;
    *ret_stopped = NULL;
    pthread_mutex_lock(&q->mtx);
    pons__session *s = find_or_make(q, j->thread);
    if (q->closing) {
        rc = pons_error_set(err, PONS_ECLOSED, HOST, "the server is closing");
    } else if (at_work(s) && j->multitask == PONS__MULTITASK_REJECT) {
        rc = pons_error_set(err, PONS_EBUSY, HOST,
                            "thread %s is already running a task: wait for it to finish, or choose "
                            "another multitask strategy",
                            j->thread);
    }
    if (rc >= 0 &&
        (j->multitask == PONS__MULTITASK_INTERRUPT || j->multitask == PONS__MULTITASK_ROLLBACK)) {
        for (pons__job *old = s->jobs, *next; old; old = next) {
            next = old->next;
            pons__job *gone = stop(q, s, old, j->multitask == PONS__MULTITASK_ROLLBACK);
            if (gone) {
                gone->next = *ret_stopped;
                *ret_stopped = gone;
            }
        }
    }
    if (rc >= 0) {
        j->refs++;
        j->updated_ms = j->due_ms; // until it is released
        j->due_ms = HELD;
        insert(s, j);
        q->n_jobs++;
    }
    drop_if_empty(q, s);
    pthread_mutex_unlock(&q->mtx);
    return rc;
}

bool pons__jobs_release(pons__jobs *q, pons__job *j, int64_t wall_ms)
{
    pthread_mutex_lock(&q->mtx);
    pons__session *s = find(q, j->thread);
    const bool there = s && !pons__job_ended(j);
    if (there) {
        take_out(q, s, j);
        q->n_jobs++;
        j->due_ms = j->updated_ms;
        j->updated_ms = j->created_ms;
        insert(s, j);
        make_ready(q, s, wall_ms);
    }
    pthread_mutex_unlock(&q->mtx);
    return there;
}

void pons__jobs_withdraw(pons__jobs *q, pons__job *j)
{
    pthread_mutex_lock(&q->mtx);
    pons__session *s = find(q, j->thread);
    if (s && !pons__job_ended(j)) {
        take_out(q, s, j);
        unref(j);
        drop_if_empty(q, s);
    }
    pthread_mutex_unlock(&q->mtx);
}

int pons__jobs_stop(pons__jobs *q, const char *thread, const char *run, bool rollback,
                    pons__job **ret_stopped, pons_error *err)
{
    *ret_stopped = NULL;
    pthread_mutex_lock(&q->mtx);
    pons__session *s = find(q, thread);
    pons__job *j = s ? s->jobs : NULL;
    while (j && strcmp(j->id, run) != 0) {
        j = j->next;
    }
    if (j) {
        *ret_stopped = stop(q, s, j, rollback);
        drop_if_empty(q, s);
    }
    pthread_mutex_unlock(&q->mtx);
    return j ? PONS_OK
             : pons_error_set(err, PONS_ENOTFOUND, HOST, "thread %s has no run %s at work", thread,
                              run);
}

int64_t pons__jobs_tick(pons__jobs *q, int64_t wall_ms)
{
    int64_t next = INT64_MAX;
    pthread_mutex_lock(&q->mtx);
    for (size_t i = 0; q->n_jobs > 0 && i < PONS__BUCKETS; i++) {
        for (pons__session *s = q->buckets[i]; s; s = s->next) {
            if (!s->jobs || s->working || s->ready) {
                continue;
            }
            make_ready(q, s, wall_ms);
            next = !s->ready && s->jobs->due_ms < next ? s->jobs->due_ms : next;
        }
    }
    pthread_mutex_unlock(&q->mtx);
    return next == INT64_MAX ? next : next - wall_ms;
}

// ---- a worker's ---------------------------------------------------------------------------------

pons__session *pons__jobs_take(pons__jobs *q, int wake)
{
    pthread_mutex_lock(&q->mtx);
    q->idle++;
    while (!q->ready && !q->closing) {
        pthread_cond_wait(&q->due, &q->mtx);
    }
    q->idle--;
    pons__session *s = q->closing ? NULL : q->ready;
    if (s) {
        q->ready = s->next_ready;
        q->ready_end = q->ready ? q->ready_end : &q->ready;
        s->ready = false;
        if (!s->jobs) { // it was stopped meanwhile
            drop_if_empty(q, s);
            pthread_mutex_unlock(&q->mtx);
            return pons__jobs_take(q, wake);
        }
        s->working = true;
        s->wake = wake;
        s->jobs->state = PONS__JOB_RUNNING;
        s->jobs->attempt++;
        if (q->ready && q->idle == 0) {
            q->grow(q->user);
        }
    }
    pthread_mutex_unlock(&q->mtx);
    return s;
}

void pons__jobs_ending(pons__jobs *q, pons__session *s, pons__job_state state, pons_value *error,
                       int64_t wall_ms)
{
    pthread_mutex_lock(&q->mtx);
    pons__job *j = s->jobs;
    j->state = state;
    j->updated_ms = wall_ms;
    pons_value_unref(j->error);
    j->error = error;
    pthread_mutex_unlock(&q->mtx);
}

void pons__jobs_cancel(pons__jobs *q, pons__session *s, pons_cancel *c)
{
    pthread_mutex_lock(&q->mtx);
    s->cancel = c;
    if (c && s->jobs->stop) {
        pons_cancel_request(c, PONS_CANCEL_INTERRUPT);
    }
    pthread_mutex_unlock(&q->mtx);
}

void pons__jobs_not_ended(pons__jobs *q, const pons__session *s)
{
    pthread_mutex_lock(&q->mtx);
    s->jobs->state = PONS__JOB_RUNNING;
    pthread_mutex_unlock(&q->mtx);
}

void pons__jobs_done(pons__jobs *q, pons__session *s, int64_t wall_ms)
{
    pthread_mutex_lock(&q->mtx);
    pons__job *j = s->jobs;
    take_out(q, s, j);
    unref(j);
    s->working = false;
    s->wake = -1;
    pons__mail_drop(s->mail);
    s->mail = NULL;
    s->mail_end = &s->mail;
    make_ready(q, s, wall_ms);
    drop_if_empty(q, s);
    pthread_cond_broadcast(&q->ended);
    pthread_mutex_unlock(&q->mtx);
}

pons__mail *pons__jobs_mail(pons__jobs *q, pons__session *s, pons__halt *ret_halt)
{
    pthread_mutex_lock(&q->mtx);
    pons__mail *m = s->mail;
    const pons__job *j = s->jobs;
    s->mail = NULL;
    s->mail_end = &s->mail;
    *ret_halt = j->stop && j->rollback ? PONS__HALT_ROLLBACK
                : j->stop              ? PONS__HALT_STOP
                : q->closing           ? PONS__HALT_CLOSING
                                       : PONS__HALT_NOT;
    pthread_mutex_unlock(&q->mtx);
    return m;
}

void pons__jobs_settle(pons__jobs *q, const char *thread, int64_t timeout_ms)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += timeout_ms / 1000;
    pthread_mutex_lock(&q->mtx);
    for (;;) {
        const pons__session *s = find(q, thread);
        if (!s || !s->working || !pons__job_ended(s->jobs) ||
            pthread_cond_timedwait(&q->ended, &q->mtx, &until) != 0) {
            break;
        }
    }
    pthread_mutex_unlock(&q->mtx);
}

int pons__jobs_tell(pons__jobs *q, const char *thread, const char *await, pons__tell what,
                    pons_value *value)
{
    int rc = PONS_ENOTFOUND;
    pons__mail *m = pons_need_zeroed(1, sizeof *m);
    m->what = what;
    m->value = value;
    const size_t n = strlen(await);
    pthread_mutex_lock(&q->mtx);
    pons__session *s = find(q, thread);
    if (s && s->working && n < sizeof m->await) {
        memcpy(m->await, await, n + 1);
        *s->mail_end = m;
        s->mail_end = &m->next;
        ring(s);
        m = NULL;
        rc = PONS_OK;
    }
    pthread_mutex_unlock(&q->mtx);
    pons__mail_drop(m);
    return rc;
}

// ---- looking ------------------------------------------------------------------------------------

bool pons__jobs_busy(pons__jobs *q, const char *thread)
{
    pthread_mutex_lock(&q->mtx);
    const pons__session *s = find(q, thread);
    const bool busy = s && at_work(s);
    pthread_mutex_unlock(&q->mtx);
    return busy;
}

pons__job *pons__jobs_find(pons__jobs *q, const char *thread, const char *run)
{
    pthread_mutex_lock(&q->mtx);
    const pons__session *s = find(q, thread);
    pons__job *j = s ? s->jobs : NULL;
    while (j && strcmp(j->id, run) != 0) {
        j = j->next;
    }
    if (j) {
        j->refs++;
    }
    pthread_mutex_unlock(&q->mtx);
    return j;
}

static void list(pons_value *to, const pons__session *s)
{
    for (const pons__job *j = s ? s->jobs : NULL; j; j = j->next) {
        json_array_append_new(to, pons__job_keep(j));
    }
}

pons_value *pons__jobs_list(pons__jobs *q, const char *thread)
{
    pons_value *to = json_array();
    pthread_mutex_lock(&q->mtx);
    for (size_t i = 0; !thread && i < PONS__BUCKETS; i++) {
        for (const pons__session *s = q->buckets[i]; s; s = s->next) {
            list(to, s);
        }
    }
    if (thread) {
        list(to, find(q, thread));
    }
    pthread_mutex_unlock(&q->mtx);
    return to;
}

pons_value *pons__jobs_look(pons__jobs *q, const pons__job *j, bool *ret_gone)
{
    pthread_mutex_lock(&q->mtx);
    pons_value *v = pons__job_keep(j);
    if (ret_gone) {
        *ret_gone = j->rollback && pons__job_ended(j);
    }
    pthread_mutex_unlock(&q->mtx);
    return v;
}

void pons__jobs_ref(pons__jobs *q, pons__job *j)
{
    pthread_mutex_lock(&q->mtx);
    j->refs++;
    pthread_mutex_unlock(&q->mtx);
}

void pons__jobs_unref(pons__jobs *q, pons__job *j)
{
    pthread_mutex_lock(&q->mtx);
    unref(j);
    pthread_mutex_unlock(&q->mtx);
}

// ---- closing ------------------------------------------------------------------------------------

void pons__jobs_close(pons__jobs *q)
{
    pthread_mutex_lock(&q->mtx);
    q->closing = true;
    pthread_cond_broadcast(&q->due);
    for (size_t i = 0; i < PONS__BUCKETS; i++) {
        for (const pons__session *s = q->buckets[i]; s; s = s->next) {
            ring(s);
        }
    }
    pthread_mutex_unlock(&q->mtx);
}

void pons__jobs_fini(pons__jobs *q)
{
    for (size_t i = 0; i < PONS__BUCKETS; i++) {
        while (q->buckets[i]) {
            pons__session *s = q->buckets[i];
            q->buckets[i] = s->next;
            while (s->jobs) {
                pons__job *next = s->jobs->next;
                unref(s->jobs);
                s->jobs = next;
            }
            pons__mail_drop(s->mail);
            free(s);
        }
    }
    pthread_cond_destroy(&q->due);
    pthread_cond_destroy(&q->ended);
    pthread_mutex_destroy(&q->mtx);
}
