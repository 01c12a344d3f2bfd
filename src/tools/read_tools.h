// read_tools.h - read_file, list_dir.
#pragma once

#include "tools/core/core.h"

int pons__read_file(pons__work *w, pons_error *err);
int pons__list_dir(pons__work *w, pons_error *err);
