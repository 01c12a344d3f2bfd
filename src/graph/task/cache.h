// cache.h - what a node made of the same input before.
#ifndef PONS_GRAPH_TASK_CACHE_H
#define PONS_GRAPH_TASK_CACHE_H

#include "graph/core/task.h"

bool pons__cache_recall(pons_cx *cx); // the cache has it
void pons__cache_store(pons_cx *cx);

#endif
