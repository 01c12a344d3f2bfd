// called_tasks.h - tasks of a superstep that another task has called: who called them, and their end.
#pragma once

#include "graph/core/task.h"

pons_cx *pons__called_find(const pons_cx *caller, size_t call);           // or NULL
pons_cx *pons__called_add(pons_cx *caller, size_t call, pons_error *err); // NULL: no memory
void pons__called_retire(pons_cx *called); // its place is for the next one that is called
