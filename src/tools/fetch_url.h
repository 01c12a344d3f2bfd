// fetch_url.h - fetch_url.
#pragma once

#include "tools/core/core.h"

int pons__fetch_url(pons__work *w, pons_error *err);
