// commit_queue.h - who writes, and when: what the stores that write through one connection share.
// commit_queue.c has the idea.
#pragma once

#include "store/store.h"

#include <pthread.h>

#define PONS__BATCH_MAX 64 // commits that are written together

// A thread that the store holds, from acquire to release: the first member of the backend's own
// record of it. Kept in the queue's list, so that a stale lease is never followed.
typedef struct commit_line {
    struct commit_line *next; // [mtx]
    char thread[PONS_NAME_MAX];
    uint64_t epoch;
    size_t queued;     // [mtx] async commits on their way
    pons_error failed; // [mtx] an async commit's failure, until it is reported
    // [mtx] rises when a failure is reported: async commits of an earlier one are dropped, because
    // they stand on what was not applied.
    uint64_t generation;
} commit_line;

// A commit on its way.
typedef struct commit_request {
    struct commit_request *next;
    const pons_commit *c;
    commit_line *line;
    bool async;          // the queue's own copy: freed when done
    uint64_t generation; // of the line when it was queued
    size_t bytes;
    bool done;           // [mtx]
    pthread_cond_t wake; // [mtx] of who waits for it, when it is not async
    bool settled;        // its fate is known, whatever happens to the batch
    int64_t event_first; // seq of the first event
    int status;
    pons_error err;

    int64_t *nids; // the backend's, in the time of a batch
    size_t *order; // of its items, the same
    int sent;
} commit_request;

typedef struct commit_queue_ops {
    // Writes a batch in order and settles every member; on the thread of one of the callers, or on
    // the queue's, never two at once. No lock is held.
    void (*write)(void *backend, commit_request **batch, size_t n);
    // What was asked for by pons__commitq_aside; on the queue's thread, while others may write.
    void (*aside)(void *backend);
    const struct sql_reads *reads; // how it reads (sql_read.h)
} commit_queue_ops;

typedef struct commit_queue {
    const commit_queue_ops *ops; /* const */
    void *backend;               /* const */
    pthread_mutex_t mtx;
    pthread_cond_t changed; // [mtx] room, or the right to write, or something has completed
    pthread_cond_t work;    // [mtx] the queue's thread has something to do
    size_t waiting;         // [mtx] callers that wait for `changed`
    bool writing;           // [mtx] the right to write is taken
    commit_request *head;   // [mtx]
    commit_request **tail;  // [mtx]
    uint64_t enqueued;      // [mtx] requests so far
    uint64_t completed;     // [mtx] requests so far; they complete in order
    size_t queued_bytes;    // [mtx]
    commit_line *lines;     // [mtx]
    pons_error orphan;      // [mtx] a failure whose thread was released before it was reported
    bool thread_on;         // [mtx]
    bool thread_idle;       // [mtx] it waits for `work`
    bool pacing;            // [mtx] the thread waits for more, or for its time
    int64_t led_ns;         // the thread's own: when it last led
    bool aside;             // [mtx]
    bool closing;           // [mtx]
    pthread_t thread;
} commit_queue;

void pons__commitq_init(commit_queue *q, const commit_queue_ops *ops, void *backend);
void pons__commitq_stop(commit_queue *q); // writes what is queued, ends the thread
void pons__commitq_fini(commit_queue *q); // stopped; the lines are the backend's

// The ops of a store whose first member is its queue. err may be NULL.
int pons__commitq_commit(void *store, const pons_commit *c, pons_error *err);
int pons__commitq_commit_async(void *store, const pons_commit *c, pons_error *err);
// The same where nothing is won by waiting for others, as there is no disk.
int pons__commitq_commit_now(void *store, const pons_commit *c, pons_error *err);
int pons__commitq_drain(void *store, pons_error *err);
int pons__commitq_flush(void *store, const pons_lease *lease, pons_error *err);

// Lines. Whoever takes or returns one of a lease waits for its async commits first; NULL: the lease
// is not, or no longer, this store's.
void pons__commitq_add(commit_queue *q, commit_line *line);
commit_line *pons__commitq_remove(commit_queue *q, const pons_lease *lease);
commit_line *pons__commitq_find(commit_queue *q, const pons_lease *lease);
void pons__commitq_settle_thread(commit_queue *q, const char *thread); // of a thread by its name
uint64_t pons__commitq_epoch(commit_queue *q, const char *thread);     // 0: no line is of it

// The right to write, for a transaction that is no commit.
void pons__commitq_enter(commit_queue *q);
void pons__commitq_leave(commit_queue *q);
// Has ops->aside called on the queue's thread. False when there is no thread to be had. The caller
// may have the right to write.
bool pons__commitq_aside(commit_queue *q);

// For ops->write: whether a member must not be applied (it is settled), and what became of one.
bool pons__commitq_refused(commit_queue *q, commit_request *r);
void pons__commitq_settle(commit_queue *q, commit_request *r, int status);
