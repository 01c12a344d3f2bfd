// search_lessons.h - search_lessons.
#pragma once

#include "tools/core/core.h"

int pons__search_lessons(pons__work *w, pons_error *err);
