// blocking_node.h - nodes that block, on worker threads.
#ifndef PONS_GRAPH_TASK_BLOCKING_NODE_H
#define PONS_GRAPH_TASK_BLOCKING_NODE_H

#include "graph/core/task.h"

int pons__work_run(pons_cx *cx, pons_error *err); // queues it, or takes its result
int64_t pons__work_moved_ns(const pons_cx *cx);   // the newest progress; 0: none

#endif
