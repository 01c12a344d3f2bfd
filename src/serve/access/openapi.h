// openapi.h - the document of the API, which checks each request and is published.
#pragma once

#include "serve/access/route.h"

// Of schemas/openapi.json. PONS_ENOTFOUND or PONS_EINVAL: a broken installation.
int pons__openapi_open(pons__openapi **ret, pons_error *err);
void pons__openapi_close(pons__openapi *o); // NULL-safe
// Reads the request's query, and compares it and the body with what the document has for this row. Negative:
// it is refused with 422, and the row's own form of an error where it has one.
int pons__openapi_admits(pons__request *r, const pons__route *row);
