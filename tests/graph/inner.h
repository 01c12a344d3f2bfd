// inner.h - graphs that a node's function runs, one case each, on any store; and the death of the
// process at every commit of such a run. tests/graph/test_inner.c has memory and SQLite, tests/store
// PostgreSQL.
#ifndef TESTS_GRAPH_INNER_H
#define TESTS_GRAPH_INNER_H

#include "graph/faults.h"
#include "graph/sweep.h"

int inner_run(const fault_store *kind); // all cases; the number that failed
void sweep_inner(const sweep_kind *k);

#endif
