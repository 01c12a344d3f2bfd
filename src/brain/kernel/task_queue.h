// task_queue.h - K5: what people and the inner loop have said becomes the queue of tasks (task_queue.c).
#pragma once

#include "brain/tasks/tasks.h"

int pons__task_queue_update(pons_cx *cx, void *user, pons_error *err);
