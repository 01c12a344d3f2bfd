// job_queue.h - who runs next: the jobs of each thread in their order, and the threads that have one due.
#pragma once

#include "serve/runs/run_job.h"

#include <pthread.h>

enum { PONS__BUCKETS = 256 };

typedef struct pons__mail { // about an await, on its way to the run's worker
    struct pons__mail *next;
    char await[64];
    pons__tell what;
    pons_value *value;
} pons__mail;

typedef struct pons__session { // a thread that has jobs
    struct pons__session *next, *next_ready;
    char thread[PONS_NAME_MAX];
    pons__job *jobs;     // by due_ms; the one at work is the first
    bool working;        // a worker has the first one
    bool ready;          // it is in the list of those that a worker may take
    int wake;            // the worker's descriptor, while working
    pons_cancel *cancel; // of the run at work; NULL: none has begun
    pons__mail *mail, **mail_end;
} pons__session;

typedef struct pons__jobs {
    pthread_mutex_t mtx; // a leaf, but for `grow`
    pthread_cond_t due, ended;
    pons__session *buckets[PONS__BUCKETS];
    pons__session *ready, **ready_end;
    size_t n_jobs;
    size_t idle; // workers that wait
    bool closing;
    void (*grow)(void *user); // a session is ready and no worker waits; under the lock
    void *user;
} pons__jobs;

void pons__jobs_init(pons__jobs *q, void (*grow)(void *user), void *user);
void pons__jobs_fini(pons__jobs *q);
void pons__jobs_close(pons__jobs *q); // takes nothing more; workers leave

// Puts a job behind its thread's others, and takes a reference. Until pons__jobs_release it is there
// but not begun. *ret_stopped: those that had to give way before they began, linked by `next`, with a
// reference each; those at work are told. PONS_EBUSY: there are others, and the job rejects that.
int pons__jobs_put(pons__jobs *q, pons__job *j, pons__job **ret_stopped, pons_error *err);
// False: somebody stopped it before.
bool pons__jobs_release(pons__jobs *q, pons__job *j, int64_t wall_ms);
// Takes it out again: it was not begun. Drops the queue's reference.
void pons__jobs_withdraw(pons__jobs *q, pons__job *j);
// Asks a job to end. A pending one leaves the queue and is given in *ret_stopped. PONS_ENOTFOUND.
int pons__jobs_stop(pons__jobs *q, const char *thread, const char *run, bool rollback,
                    pons__job **ret_stopped, pons_error *err);
// Whatever of it has come due may be taken. Returns how long until the next (wall ms), or INT64_MAX.
int64_t pons__jobs_tick(pons__jobs *q, int64_t wall_ms);

// A worker's: waits for a session whose first job is due. NULL: closing. wake: an eventfd of its own.
pons__session *pons__jobs_take(pons__jobs *q, int wake);
// The first job is to be seen as ended, and counts no more; its session is still the worker's. Takes
// error.
void pons__jobs_ending(pons__jobs *q, pons__session *s, pons__job_state state, pons_value *error,
                       int64_t wall_ms);
// What a node at work looks at: requested when its job is to end. The worker's; NULL: no more.
void pons__jobs_cancel(pons__jobs *q, pons__session *s, pons_cancel *c);
void pons__jobs_not_ended(pons__jobs *q, const pons__session *s); // it has not, after all
// The worker has put everything away: the first job leaves, the next one may begin.
void pons__jobs_done(pons__jobs *q, pons__session *s, int64_t wall_ms);
typedef enum pons__halt { // why a job is to end before its time
    PONS__HALT_NOT,
    PONS__HALT_CLOSING, // the server; the next one goes on
    PONS__HALT_STOP,
    PONS__HALT_ROLLBACK
} pons__halt;
// What came for the worker since: mail, and whether the job is to end.
pons__mail *pons__jobs_mail(pons__jobs *q, pons__session *s, pons__halt *ret_halt);
// Waits until no worker has the thread that has nothing left to do with it; at most so long.
void pons__jobs_settle(pons__jobs *q, const char *thread, int64_t timeout_ms);
// Takes value. PONS_ENOTFOUND: nobody is at work on the thread.
int pons__jobs_tell(pons__jobs *q, const char *thread, const char *await, pons__tell what,
                    pons_value *value);

bool pons__jobs_busy(pons__jobs *q, const char *thread); // has jobs that have not ended
// A reference, or NULL: it is not (any more) in the queue.
pons__job *pons__jobs_find(pons__jobs *q, const char *thread, const char *run);
// The jobs of a thread (NULL: of all), as pons__job_keep, newest last.
pons_value *pons__jobs_list(pons__jobs *q, const char *thread);
// What a job is now, as pons__job_keep gives it; *ret_gone (may be NULL): it has ended, and is to be as
// if it had never been.
pons_value *pons__jobs_look(pons__jobs *q, const pons__job *j, bool *ret_gone);
void pons__jobs_ref(pons__jobs *q, pons__job *j);
void pons__jobs_unref(pons__jobs *q, pons__job *j); // NULL-safe
void pons__mail_drop(pons__mail *m);                // a list; NULL-safe
