// stream_reply.h - a reply that is written as time goes on.
#pragma once

#include "http/microhttpd/request_reply.h"

pons_http_stream *pons__stream_begin(pons_http_exchange *x, int status, const char *const *headers);
int pons__stream_write(pons_http_stream *s, const void *data, size_t n);
size_t pons__stream_unsent(pons_http_stream *s);
void pons__stream_end(pons_http_stream *s);
// The server closes: what is written goes out, and no more.
void pons__streams_close(pons__server *sv);
