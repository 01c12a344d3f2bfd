// websocket.h - a WebSocket: messages both ways on a connection that began as a request.
#pragma once

#include "http/microhttpd/request_reply.h"

pons_http_socket *pons__socket_begin(pons_http_exchange *x, const pons_http_socket_options *o);
int pons__socket_send(pons_http_socket *s, bool binary, const void *data, size_t n);
void pons__socket_end(pons_http_socket *s);
// The server closes: every socket is ended; returns when their threads have.
void pons__sockets_close(pons__server *sv);
