// task_cache_store.h - where cached tasks are kept: in the compiled graph, or in a thread's store.
#pragma once

#include "graph/core/task.h"

pons_value *pons__cache_get(const pons_cx *cx, const char key[33]); // a new reference, or NULL
void pons__cache_put(const pons_cx *cx, const char key[33], pons_value *task); // takes task
