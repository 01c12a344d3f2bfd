// fetch_url.h - fetch_url.
#ifndef PONS_TOOLS_FETCH_URL_H
#define PONS_TOOLS_FETCH_URL_H

#include "tools/core/core.h"

int pons__fetch_url(pons__work *w, pons_error *err);

#endif
