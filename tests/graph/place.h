// place.h - a store of the kind that a suite is run on, in a folder of its own.
#ifndef TESTS_GRAPH_PLACE_H
#define TESTS_GRAPH_PLACE_H

#include "graph/faults.h"
#include "graph/graph_help.h"

typedef struct place {
    bed b;
    pons_store store;
    char folder[64];
} place;

void open_place(place *p, void **state); // *state: the fault_store
void close_place(place *p);
// The place again as the next process finds it: the thread is opened anew.
void reopen(place *p);
// A suite in memory and in an SQLite file, for main: how many cases failed.
int place_kinds(int (*suite)(const fault_store *kind));

#endif
