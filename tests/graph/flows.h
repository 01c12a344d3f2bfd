// flows.h - entrypoints and the tasks that they call (pons/functional.h), one case each, on any store.
// tests/graph/test_flows.c has memory and SQLite, tests/store PostgreSQL.
#ifndef TESTS_GRAPH_FLOWS_H
#define TESTS_GRAPH_FLOWS_H

#include "graph/faults.h"

int flows_run(const fault_store *kind); // all cases; the number that failed

#endif
