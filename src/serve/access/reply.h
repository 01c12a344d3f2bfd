// reply.h - answers: JSON, an error, a stream of events.
#pragma once

#include "pons/buf.h"
#include "serve/access/server.h"

// Each ends the request, and returns what its handler does. Takes the value; NULL is null. more: headers, or NULL.
int pons__reply_json(pons__request *r, int status, pons_value *value);
int pons__reply_value(pons__request *r, const char *const *more, pons_value *value); // 200
// {"detail": "…"}, and a line in the log. PONS_EREFUSED: nothing is left to be done.
int pons__reply_error(pons__request *r, int status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
// 422 with "WHERE: MESSAGE".
int pons__reply_wrong(pons__request *r, const char *where, const char *message);
// The status that r->err's is, with its line.
int pons__reply_fault(pons__request *r);
// Of what has ended with a status: the value (taken), or that.
int pons__reply_result(pons__request *r, int rc, pons_value *value);
int pons__reply_done(pons__request *r); // 204
int pons__reply_bytes(pons__request *r, int status, const char *type, const char *const *more,
                      const void *data, size_t n);
// Begins a body that comes in pieces, and text/event-stream; NULL: the request is answered, there is no memory.
pons_http_stream *pons__reply_stream(pons__request *r, const char *type, const char *const *more);
pons_http_stream *pons__reply_events(pons__request *r, const char *const *more);
// Appends a value as a line of JSON; without memory the buffer has failed.
void pons__buf_value(pons_buf *b, const pons_value *value);
// Writes a value (taken) as a line of JSON between two texts. False: the client is gone.
bool pons__stream_value(const pons_serve *s, pons_http_stream *stream, const char *before,
                        pons_value *value, const char *after);
