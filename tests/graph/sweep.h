// sweep.h - a run that has everything, for the tests that end its process at every commit: a
// fan-out by edges and one by Sends, a join, a router, an await, a task, a subgraph with an
// interrupt, an effect, the inbox, events and posts.
#ifndef TESTS_GRAPH_SWEEP_H
#define TESTS_GRAPH_SWEEP_H

#include "graph/graph_help.h"

typedef struct world { // what lies outside the process, so that it survives
    pons_value *sent;  // {effect id: times}
    int task_runs;
    const char *file; // what a child process has sent, an id a line; or NULL
} world;

typedef struct sweep_kind {
    const char *name;
    // Opens the database, with what an earlier life has left in it. NULL: the memory store, which
    // is kept alive across a death.
    int (*open)(const char *path, pons_store *ret, pons_error *err);
    void (*passed)(void); // after a death that leaves a lease behind: its time is over; or NULL
    bool quiet;
    pons_durability durability;
} sweep_kind;

// Where a process ends: point p of a life of n commits is just before (even) or just after commit p / 2 + 1.
// The point to try after p (-1: the first); 2 * n: that was the last. All of them, or as many as rounds.h
// says, spread over the life, with its first and its last.
int sweep_next(const sweep_kind *k, int p, int n);
enum {
    SWEEP_COUNT = -1
}; // where a life ends: nowhere, and its process with the number of its commits

// Runs with a death at every commit: of the store (it refuses everything from there on), or of the
// process, just before and just after the commit. Each life after it must end with the same state
// and events and no effect sent twice. Print how many deaths there were.
void sweep_stores(const sweep_kind *k);
void sweep_processes(const sweep_kind *k);
// The same for what belongs together over several namespaces: a fork, a rollback and a run under
// `exit` of a graph with subgraphs that keep their state, two levels deep. A life after the death
// finds them all before or all after it.
void sweep_together(const sweep_kind *k);

#endif
