// thread_lease.h - what belongs to a thread that is held: namespaces, handlers, the order of commits.
#pragma once

#include "graph/core/thread.h"

const pons_await_handler *pons__handler(const pons_thread *t, const char *kind);

pons__ns *pons__ns_get(pons_thread *t, const char *name,
                       pons_error *err); // made when it is not there
// Loads the head once (stored: from the store) and shapes it for g.
int pons__ns_load(pons_thread *t, pons__ns *ns, const pons_graph *g, bool stored, pons_error *err);
void pons__ns_drop(pons_thread *t, pons__ns *ns);

// Every commit of a thread goes through the first, every wait for queued ones through the second:
// a failure of either may mean that queued commits are lost, and marks whose they were.
int pons__thread_commit(pons_thread *t, pons__ns *ns, const pons_commit *c, bool queued,
                        pons_error *err);
int pons__thread_flush(pons_thread *t, pons_error *err);
