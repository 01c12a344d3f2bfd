// sse.h - server-sent events, as the HTML standard (§9.2.6) reads them, from pieces of any size.
#pragma once

#include "pons/buf.h"
#include "pons/linkage.h"

PONS_C_BEGIN

// One event: its type ("message" when none was given) and its data, which ends with a zero that len
// does not count. Not 0 ends the reading; pons_sse_feed returns it.
typedef int (*pons_sse_fn)(void *user, const char *event, const char *data, size_t len);

typedef struct pons_sse { // the caller's storage
    pons_buf line, data;
    char event[32];    // a longer type is cut
    char id[256];      // as the stream said last; a longer one is cut
    char last_id[256]; // the same at the end of the last event, one without data too
    long retry_ms;     // how long to wait before asking again; 0: not said
    size_t max;        // bytes of one event
    bool after_cr, begun, has_data;
} pons_sse;

void pons_sse_init(pons_sse *s, size_t event_max);
void pons_sse_fini(pons_sse *s);
// PONS_OK, what fn returned, PONS_EPROTOCOL for an event over event_max, or PONS_ENOMEM. An event
// that the stream's end cuts off is not handed on, as the standard says.
int pons_sse_feed(pons_sse *s, const char *bytes, size_t n, pons_sse_fn fn, void *user);

PONS_C_END
