// search_files.h - search_files.
#ifndef PONS_TOOLS_SEARCH_FILES_H
#define PONS_TOOLS_SEARCH_FILES_H

#include "tools/core/core.h"

int pons__search_files(pons__work *w, pons_error *err);

#endif
