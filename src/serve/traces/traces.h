// traces.h - what happens as OpenTelemetry spans, for a collector.
#ifndef PONS_SERVE_TRACES_TRACES_H
#define PONS_SERVE_TRACES_TRACES_H

#include "serve/door/server.h"

int pons__traces_open(pons_serve *s, pons__traces **ret,
                      pons_error *err);                         // o.otlp.url NULL: *ret is NULL
void pons__traces_event(pons__traces *t, const pons_event *ev); // any thread; NULL-safe
void pons__traces_close(pons__traces *t); // what is there still goes out, for a moment; NULL-safe

#endif
