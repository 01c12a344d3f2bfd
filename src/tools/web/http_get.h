// http_get.h - one page, asked for over HTTP by fetch_url.
#pragma once

#include "pons/buf.h"

#define PONS__FETCH_TYPE 128
#define PONS__FETCH_URL  2048

typedef struct pons__fetch_request {
    const char *url;
    size_t max_bytes;
    long timeout_ms, redirects;
    bool private_ok;   // addresses of this machine and of private networks too
    const char *proxy; // "" for none
    int cancel_fd;     // readable: stop
} pons__fetch_request;

typedef struct pons__fetch_reply {
    long status;
    char type[PONS__FETCH_TYPE]; // Content-Type
    char url[PONS__FETCH_URL];   // after redirects
    pons_buf body;               // at most max_bytes
    bool truncated;
} pons__fetch_reply;

// Blocks. The caller frees ret->body, also after a failure.
int pons__fetch(const pons__fetch_request *request, pons__fetch_reply *ret, pons_error *err);
