// curl_options.h - one call on the wire: what the shared thread (curl.c) and libcurl's callbacks
// (curl_options.c) know of it.
#pragma once

#include "pons/buf.h"
#include "pons/event_queue.h"
#include "pons/ext/http.h"

#include <curl/curl.h>

#include <netinet/in.h>
#include <stdatomic.h>

#define PONS__HTTP "http"

typedef struct pons__http_loop pons__http_loop;

typedef struct pons__http_client {
    pons__http_loop *loop;   // const; the client has a part of it until close
    pons_event_queue events; // of pons__http_queued
    _Atomic size_t unread;   // bytes of DATA in the queue
    atomic_bool paused;      // a transfer waits for that to shrink
    unsigned refs;           // [loop's mtx] its owner and its transfers
    // Of a user who has turns on the thread:
    int (*turn)(void *user);             // const; or NULL
    void *turn_user;                     // const
    struct pons__http_client *next_turn; // [loop's mtx]
    atomic_bool wants_turn;              // something came, or wake was called
    int64_t turn_ms;                     // the thread's: when the next is due
} pons__http_client;

typedef struct pons__http_queued {
    pons_http_event event;
    pons__http_client *of;
} pons__http_queued;

typedef struct pons__transfer {
    struct pons__transfer *next; // [loop's mtx] written; the thread reads what it has seen
    pons__http_client *client;   // const
    uint64_t id;                 // const
    void *user;                  // const
    atomic_bool cancelled;       // nobody listens any more
    // From its first turn on the thread's, but for what start has set.
    CURL *easy;
    struct curl_slist *headers;
    const char *const *want;
    bool (*permit)(const struct sockaddr *address);
    size_t body_max;
    unsigned redirects, redirects_max;
    int64_t connect_ms, start_ms, next_ms, whole_ms;
    int64_t begun_ms, hop_ms, last_ms; // of the call, of this redirect, of the last byte
    bool added, decode;
    bool resolving; // a name may be looked up: taking the handle away would wait for that
    bool connected, got_head, got_byte, paused, is_redirect;
    bool has_fault; // a callback has found out why it ends
    pons_http_fault fault;
    char address[INET6_ADDRSTRLEN]; // that permit refused
    size_t received, head_bytes;
    pons_buf kept; // the wanted headers
    pons_buf turn; // bytes that came in this turn of the thread
    char detail[CURL_ERROR_SIZE];
} pons__transfer;

// Any thread: a transfer that is not on its way yet. PONS_EINVAL, PONS_ENOMEM; *ret may be half
// made then and is freed all the same.
int pons__transfer_make(const pons_http_request *r, pons__transfer **ret, pons_error *err);
void pons__transfer_free(pons__transfer *t);
// The thread, when the handle is in none of curl's hands: the next address of a redirect, or false.
bool pons__transfer_redirect(pons__transfer *t);
// Hands an event on and takes its strings.
void pons__transfer_emit(pons__transfer *t, pons_http_event ev, bool last);
// Hands on what came in this turn, the head before it.
void pons__transfer_flush(pons__transfer *t);
// Hands the head on, unless that has been done or no reply has come.
void pons__transfer_head(pons__transfer *t);
// The end by a fault; why NULL: curl's word for code.
void pons__transfer_fail(pons__transfer *t, pons_http_fault fault, const char *why);
pons_http_fault pons__transfer_fault(CURLcode code);

int pons__http_url(const char *url, const char *tail, pons_http_url *ret, pons_error *err);
