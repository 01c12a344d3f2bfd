// route.h - commands as routes.
#pragma once

#include "graph/core/task.h"

int pons__cx_escape(pons_cx *cx, const pons_value *escape, pons_error *err); // as the parent's node
int pons__command_routes(pons_cx *cx, const pons_command *cmd, pons_error *err); // takes the args
void pons__command_drop(const pons_command *cmd);                                // frees the args
