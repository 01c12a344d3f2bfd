// task_writes.h - what a task has to say: writes, and where the run goes from it.
#pragma once

#include "graph/core/task.h"

int pons__cx_write(pons_cx *cx, uint32_t ch, pons_value *v, pons_error *err); // takes v
int pons__cx_input(pons_cx *cx, const pons_value *input, pons_error *err);    // {channel: value}
int pons__cx_route(pons_cx *cx, uint32_t to, pons_value *arg); // a goto, or a send (takes arg)
void pons__cx_dropped(const pons_cx *cx, const char *channel); // warns of a write to nowhere
void pons__task_drop(pons_cx *cx); // forgets what it wrote, where it goes, what it brings out
void pons__task_drop_routes(pons_cx *cx); // it goes nowhere, what it wrote stays
void pons__task_drop_writes(pons_cx *cx); // all but what it brings out
