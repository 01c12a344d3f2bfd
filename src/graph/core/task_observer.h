// task_observer.h - what tasks do, told to who measures.
#pragma once

#include "graph/core/task.h"

void pons__seen_begins(const pons_cx *cx);
void pons__seen_over(const pons_cx *cx, int status); // a pass; status: of its failure
void pons__seen_run(const pons_run *r);              // has ended, failed or waits for people
