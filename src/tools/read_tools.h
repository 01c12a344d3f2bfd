// read_tools.h - read_file, list_dir.
#ifndef PONS_TOOLS_READ_TOOLS_H
#define PONS_TOOLS_READ_TOOLS_H

#include "tools/core/core.h"

int pons__read_file(pons__work *w, pons_error *err);
int pons__list_dir(pons__work *w, pons_error *err);

#endif
