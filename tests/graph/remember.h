// remember.h - items that nodes write: they are there with their superstep's checkpoint and not
// before, once, whatever happens in between; and what a node reads of them meanwhile, one case
// each, on any store. tests/graph/test_remember.c has memory and SQLite, tests/store PostgreSQL.
#ifndef TESTS_GRAPH_REMEMBER_H
#define TESTS_GRAPH_REMEMBER_H

#include "graph/faults.h"

int remember_run(const fault_store *kind); // all cases; the number that failed

#endif
