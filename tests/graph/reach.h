// reach.h - what graphs can do beyond running: conversations, kinds of channels, streams, schemas, one
// case each, on any store. tests/graph/test_reach.c has memory and SQLite, tests/store PostgreSQL.
#ifndef TESTS_GRAPH_REACH_H
#define TESTS_GRAPH_REACH_H

#include "graph/faults.h"

int reach_run(const fault_store *kind); // all cases; the number that failed

#endif
