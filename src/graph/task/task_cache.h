// task_cache.h - what a node made of the same input before.
#pragma once

#include "graph/core/task.h"

// *ret: the cache has it. An error is that of the node's key.
int pons__cache_recall(pons_cx *cx, bool *ret, pons_error *err);
void pons__cache_store(pons_cx *cx);
