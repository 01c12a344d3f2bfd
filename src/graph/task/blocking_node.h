// blocking_node.h - nodes that block, on worker threads.
#pragma once

#include "graph/core/task.h"

int pons__work_run(pons_cx *cx, pons_error *err); // queues it, or takes its result
int64_t pons__work_moved_ns(const pons_cx *cx);   // the newest progress; 0: none
