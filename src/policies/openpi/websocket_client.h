// websocket_client.h - one WebSocket to a server (RFC 6455), as a client, for one thread that may wait.
#pragma once

#include "pons/error.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct ws_client ws_client;

typedef struct ws_message { // valid until the next one is waited for
    bool text;
    const char *data;
    size_t n;
} ws_message;

// url: ws://HOST:PORT/PATH or wss://. authorization: a header's value; NULL: none. message_max: bytes of one that comes.
// PONS_EINVAL: url; PONS_EIO: nobody is there, or it speaks something else.
int ws_connect(const char *url, const char *authorization, size_t message_max, ws_client **ret,
               pons_error *err);
void ws_close(ws_client *c);                                            // NULL-safe
int ws_send(ws_client *c, const void *data, size_t n, pons_error *err); // binary; PONS_EIO
// Waits for one. PONS_EIO: it has closed; PONS_EPROTOCOL: one is too long, or is none.
int ws_receive(ws_client *c, ws_message *ret, pons_error *err);
