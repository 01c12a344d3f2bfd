// terminal_tool.h - commands of a model, run.
#pragma once

#include "tools/core/core.h"

int pons__terminal(pons__work *w, pons_error *err);
// A call was said to be safe: whatever is found when it starts, it runs behind the wall.
void pons__terminal_promise(const pons__core *c, const pons_value *args);
