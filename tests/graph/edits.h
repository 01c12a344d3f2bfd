// edits.h - what becomes of a thread that waits when its state is changed from outside: every change
// at every kind of waiting, and then a resume or an answer, as LangGraph has it.
#ifndef TESTS_GRAPH_EDITS_H
#define TESTS_GRAPH_EDITS_H

#include "graph/faults.h"

int edits_run(const fault_store *kind); // how many cases failed

#endif
