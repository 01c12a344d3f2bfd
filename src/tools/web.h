// web.h - fetch_url.
#ifndef PONS_TOOLS_WEB_H
#define PONS_TOOLS_WEB_H

#include "tools/core/core.h"

int pons__fetch_url(pons__work *w, pons_error *err);

#endif
