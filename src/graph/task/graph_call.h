// graph_call.h - graphs that a node's function runs.
#pragma once

#include "graph/core/task.h"

bool pons__graph_call_waits(const pons_cx *cx); // one is not at its end
// Opens the one that was left unfinished, if there is one, so that what it asks can be answered.
int pons__graph_call_open(pons_cx *cx, pons_error *err);
