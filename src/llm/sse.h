// sse.h - server-sent events, as the HTML standard (§9.2.6) reads them, from pieces of any size.
#ifndef PONS_LLM_SSE_H
#define PONS_LLM_SSE_H

#include "pons/buf.h"

// One event: its type ("message" when none was given) and its data, which ends with a zero that len
// does not count. Not 0 ends the reading; pons__sse_feed returns it.
typedef int (*pons__sse_fn)(void *user, const char *event, const char *data, size_t len);

typedef struct pons__sse { // the caller's storage
    pons_buf line, data;
    char event[32]; // a longer type is cut
    size_t max;     // bytes of one event
    bool after_cr, begun, has_data;
} pons__sse;

void pons__sse_init(pons__sse *s, size_t event_max);
void pons__sse_fini(pons__sse *s);
// PONS_OK, what fn returned, PONS_EPROTOCOL for an event over event_max, or PONS_ENOMEM. An event
// that the stream's end cuts off is not handed on, as the standard says.
int pons__sse_feed(pons__sse *s, const char *bytes, size_t n, pons__sse_fn fn, void *user);

#endif
