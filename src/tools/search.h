// search.h - search_files.
#ifndef PONS_TOOLS_SEARCH_H
#define PONS_TOOLS_SEARCH_H

#include "tools/core/core.h"

int pons__search_files(pons__work *w, pons_error *err);

#endif
