// limits.h - what ends or repeats the work of a run: retries, the time of a superstep, cancels, and
// what is kept then, one case each, on any store. tests/graph/test_limits.c has memory and SQLite,
// tests/store PostgreSQL.
#ifndef TESTS_GRAPH_LIMITS_H
#define TESTS_GRAPH_LIMITS_H

#include "graph/faults.h"

int limits_run(const fault_store *kind); // all cases; the number that failed

#endif
