// run_host.h - the run host: carries out the runs that clients ask for, one at a time a thread of the
// store, as many threads at once as there are workers.
//
//     pons__runhost_submit --> queue (kept by the store) --> a worker: the engine, on that thread
//                                                            |  events, each with its number
//     pons__runhost_watch  <-- the store's events of the thread <
//
// A run is taken when the store has it: a kill of the server after that loses nothing, the next
// server goes on with it. Between the events run.started {run_id, graph_id, attempt} and run.ended
// {run_id, status, error?} of a thread, every event is that run's, so what a client sees of it is
// made from the log alone, again and again the same.
#pragma once

#include "pons/items.h"
#include "serve/access/server.h"
#include "serve/runs/run_followers.h"
#include "serve/runs/run_job.h"

#define PONS__RUN_STARTED "run.started"
#define PONS__RUN_ENDED   "run.ended"

typedef struct pons__ask { // a run that a client wants
    const char *thread;    // NULL: one of its own, which goes when the run has ended
    const char *run; // its id; NULL: a fresh one. One that was taken before is not taken again
    const char *own; // thread NULL: the name of its own; NULL: a fresh one
    const char *assistant; // whoever it is for, as the run's record says it
    const char *graph;     // an id of pons_serve_options.graphs
    pons__multitask multitask;
    int64_t after_ms;           // not before so long
    bool keep;                  // thread NULL: it stays
    const pons_value *kwargs;   // input, command, config, … (pons__order_read); borrowed
    const pons_value *metadata; // of the run; may be NULL
} pons__ask;

int pons__runhost_open(pons_serve *s, pons__runhost **ret, pons_error *err);
void pons__runhost_stop(
    pons__runhost *h); // runs stop between two supersteps, watches end; NULL-safe
void pons__runhost_close(pons__runhost *h); // frees; after the server's last request. NULL-safe

// The rest: any thread.

const pons_serve_graph *pons__runhost_graph(const pons__runhost *h, const char *id); // NULL: none
const pons_items *pons__runhost_items(const pons__runhost *h);

// Whether a text can be a thread's name: what a person can see, without spaces and slashes.
bool pons__thread_name(const char *name);
// Taken, durably. *ret: what pons__runhost_run gives. PONS_ENOTFOUND: no such graph. PONS_EBUSY: the
// thread has runs, and this one rejects that. PONS_EINVAL: it cannot be carried out.
int pons__runhost_submit(pons__runhost *h, const pons__ask *a, pons_value **ret, pons_error *err);
// {run_id, thread_id, assistant_id, graph_id, status, multitask_strategy, created_ms, updated_ms,
// after, attempt, temporary, metadata, kwargs, error?}. PONS_ENOTFOUND. thread NULL: wherever it is,
// while it has not ended.
int pons__runhost_run(pons__runhost *h, const char *thread, const char *run, pons_value **ret,
                      pons_error *err);
// Newest first. status: a word, or NULL for all.
int pons__runhost_runs(pons__runhost *h, const char *thread, const char *status, int64_t limit,
                       int64_t offset, pons_value **ret, pons_error *err);
// Asks a run to end; rollback: as if it had never been. Returns at once. One that has ended stays as
// it is; PONS_ENOTFOUND.
int pons__runhost_cancel(pons__runhost *h, const char *thread, const char *run, bool rollback,
                         pons_error *err);
// All that stand so ("pending", "running"; NULL: either).
void pons__runhost_cancel_all(pons__runhost *h, const char *status, bool rollback);
// PONS_EBUSY: it has not ended.
int pons__runhost_forget(pons__runhost *h, const char *thread, const char *run, pons_error *err);
// A thread goes, with its runs. PONS_EBUSY: it has some that have not ended.
int pons__runhost_thread_delete(pons__runhost *h, const char *thread, pons_error *err);
bool pons__runhost_busy(pons__runhost *h, const char *thread); // it has runs that have not ended
// Waits until the host has let go of a thread on which nothing is left to do: somebody who has just
// heard of a run's end may change the thread now.
void pons__runhost_settle(pons__runhost *h, const char *thread);

// Follows a thread's events; with w->run set, until that run has ended. The status is this
// function's: w is the caller's when it fails.
int pons__runhost_watch(pons__runhost *h, pons__watch *w, pons_error *err);
// Calls fn about once a second, on the watcher's thread, until the host is stopped.
void pons__runhost_each(pons__runhost *h, void (*fn)(pons_serve *s));
// What a handler of an await that has begun says to its run: the answer (pons_serve_answer), or before it what is
// to be shown to who follows the run. Takes it.
int pons__runhost_tell(pons__runhost *h, const char *thread, const char *await, pons__tell what,
                       pons_value *value);
// A thread has new events that were not this host's.
void pons__runhost_event(pons__runhost *h, const char *thread);
