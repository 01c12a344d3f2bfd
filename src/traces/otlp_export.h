// otlp_export.h - spans on their way to a collector.
#pragma once

#include "pons/ext/http.h"
#include "pons/traces.h"

#define PONS__TRACES "traces"

typedef struct pons__export pons__export;

int pons__export_open(const pons_traces_options *o, pons__export **ret, pons_error *err);
void pons__export_span(pons__export *x, pons_value *span); // takes it; any thread, never waits
void pons__export_close(pons__export *x); // sends what is left, for a second at most; NULL-safe
