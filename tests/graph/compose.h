// compose.h - how programs put runs together: breakpoints and a context given for a run, one call
// for a whole run, policies for all nodes, subgraphs with mapped channels, one case each, on any
// store. tests/graph/test_compose.c has memory and SQLite, tests/store PostgreSQL.
#ifndef TESTS_GRAPH_COMPOSE_H
#define TESTS_GRAPH_COMPOSE_H

#include "graph/faults.h"

int compose_run(const fault_store *kind); // all cases; the number that failed

#endif
