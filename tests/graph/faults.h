// faults.h - what the engine once did wrong with subgraphs, updates, answers and steps, one case
// each, on any store. tests/graph/test_faults.c has memory and SQLite, tests/store PostgreSQL.
#ifndef TESTS_GRAPH_FAULTS_H
#define TESTS_GRAPH_FAULTS_H

#include "pons/ext/store.h"

typedef struct fault_store {
    const char *name;
    // A new store; path is a file that does not exist yet, in a folder of its own.
    int (*open)(const char *path, pons_store *ret, pons_error *err);
} fault_store;

int faults_run(const fault_store *kind); // all cases; the number that failed

#endif
