// outside.h - a thread read from outside, by other means than the one that is open: what is next,
// asked, failed and finished, in subgraphs and in the past; histories by place and by what is known
// of a run; looking for threads, one case each, on any store. tests/graph/test_outside.c has memory
// and SQLite, tests/store PostgreSQL.
#ifndef TESTS_GRAPH_OUTSIDE_H
#define TESTS_GRAPH_OUTSIDE_H

#include "graph/faults.h"

int outside_run(const fault_store *kind); // all cases; the number that failed

#endif
