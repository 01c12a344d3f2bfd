// search_lessons.h - search_lessons.
#ifndef PONS_TOOLS_SEARCH_LESSONS_H
#define PONS_TOOLS_SEARCH_LESSONS_H

#include "tools/core/core.h"

int pons__search_lessons(pons__work *w, pons_error *err);

#endif
