// static_files.h - the page's files.
#pragma once

#include "serve/access/route.h"

// Reads ui/ of the shared data into memory, or remembers o.ui_dir. PONS_ENOTFOUND without the files.
int pons__page_open(pons_serve *s, pons__page **ret, pons_error *err);
void pons__page_close(pons__page *p); // NULL-safe
