// task_random.h - a task's time, randomness and ids: fixed at its first pass, the same in a replay.
#ifndef PONS_GRAPH_CORE_TASK_RANDOM_H
#define PONS_GRAPH_CORE_TASK_RANDOM_H

#include "graph/core/task.h"

void pons__task_fix(pons_cx *cx);       // wall and seed, before a park
const char *pons__task_id(pons_cx *cx); // mints the checkpoint's id when needed
void pons__cx_make_id(pons_cx *cx, char ret[PONS_ID_MAX]);

#endif
