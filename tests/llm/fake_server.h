// fake_server.h - an HTTP server that answers exactly the bytes it was told to, well or badly.
//
// One thread, plain sockets on 127.0.0.1. Each connection gets one request read and one step of the
// script; the last step is used again for every further one.
#ifndef PONS_TESTS_LLM_FAKE_SERVER_H
#define PONS_TESTS_LLM_FAKE_SERVER_H

#include <stdbool.h>
#include <stddef.h>

typedef struct fake_step {
    const char *bytes; // of the whole reply, headers and all; NULL: none
    size_t n;          // 0: strlen(bytes)
    size_t piece;      // bytes of one send, each its own packet; 0: all at once
    const char *again; // after that, these again and again; NULL: nothing
    size_t again_max;  // until so many bytes of them have been sent, or the client has closed
    bool hold;         // after that, keep the connection open until the client closes it
    bool reset;        // close with a reset
} fake_step;

typedef struct fake_server fake_server;
fake_server *fake_server_start(const fake_step *steps, size_t n); // steps outlive the server
void fake_server_stop(fake_server *s);
int fake_server_port(const fake_server *s);
size_t fake_server_requests(fake_server *s);
// The body of request i (from 0); borrowed until stop. NULL when there was none such.
const char *fake_server_body(fake_server *s, size_t i);
const char *fake_server_head(fake_server *s, size_t i);
// How many bytes of all answers the clients' side has taken.
size_t fake_server_sent(fake_server *s);
// Waits until n requests have come, or n clients have closed a connection before its end.
void fake_server_wait_requests(fake_server *s, size_t n);
void fake_server_wait_hangups(fake_server *s, size_t n);

#endif
