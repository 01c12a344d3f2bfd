// task_random.h - a task's time, randomness and ids: fixed at its first pass, the same in a replay.
#pragma once

#include "graph/core/task.h"

void pons__task_fix(pons_cx *cx);       // wall and seed, before a park
const char *pons__task_id(pons_cx *cx); // mints the checkpoint's id when needed
void pons__cx_make_id(pons_cx *cx, char ret[PONS_ID_MAX]);
