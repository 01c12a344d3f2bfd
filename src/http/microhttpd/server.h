// server.h - a server at work, as its files see it.
#pragma once

#include "pons/ext/http_server.h"

#include <microhttpd.h>

#include <pthread.h>
#include <stdatomic.h>

#define PONS__HTTPD "http"

typedef struct pons__connection {         // what its deadline depends on
    struct pons__connection *next, *prev; // [mtx] next: quiet for longer
    int fd;
    int64_t until_ms;         // [mtx] 0: none
    bool shut;                // [mtx] MHD has not noticed yet
    pons_http_exchange *head; // MHD's thread alone: the request whose head is not whole
} pons__connection;

typedef struct pons__server {
    pons_http_server_options o;    // const after open, no zeros
    struct MHD_Daemon *daemon;     // const after open
    _Atomic(pthread_t) mhd_thread; // 0 before the first connection
    uint16_t port;                 // const after open
    pthread_t *workers;            // (o.workers), open and close alone
    unsigned n_workers;
    pthread_t janitor;
    bool has_janitor;
    pthread_mutex_t mtx;
    pthread_cond_t work;               // [mtx] the queue has something, or it closes
    pthread_cond_t bell;               // [mtx] it closes; then, a connection has gone
    bool closing;                      // [mtx]
    pons_http_exchange *first, *last;  // [mtx] waiting for a worker
    size_t waiting;                    // [mtx]
    pons_http_stream *streams;         // [mtx] whose client may still be there
    pons__connection *newest, *oldest; // [mtx] connections, by the last step that they made
    size_t n_open;                     // [mtx] of them, without those that are shut
    pons_http_socket *sockets;         // [mtx] whose thread has not ended, or not begun
    size_t n_sockets;                  // [mtx]
    pthread_cond_t quiet;              // [mtx] there are none
} pons__server;

int64_t pons__server_now_ms(void); // a clock that nobody sets
