// search_files.h - search_files.
#pragma once

#include "tools/core/core.h"

int pons__search_files(pons__work *w, pons_error *err);
