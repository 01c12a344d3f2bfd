// ext/http.h - the contract of an HTTP client: requests go out, events come back.
//
// One implementation, the module http-curl (src/http/curl): one thread a process, which all clients
// of the process share. A client belongs to one user (a model's provider, a server of mcp.json, one
// page) and has a descriptor to wait on:
//
//     user: start, cancel --> the shared thread --> connections
//     user: event_fd, next <-- events of calls <--- heads, bytes, ends
//
// No function waits for the network or for a name to be looked up; close may wait for the thread,
// two seconds at most, when it is the last client's. All functions are for any thread; the events
// of one client are for one thread at a time.
//
// The events of a call keep their order: HEAD, DATA…, END; FAILED may come at any point and is the
// last. No event of a call comes after cancel has returned (pons/event_queue.h). What a user does not
// take is bounded: beyond PONS_HTTP_UNREAD_MAX bytes of a client its connections are not read on,
// and a decoded reply has its own limit.
#pragma once

#include "pons/buf.h"
#include "pons/error.h"
#include "pons/linkage.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

PONS_C_BEGIN

#define PONS_HTTP_ABI        1u
#define PONS_HTTP_UNREAD_MAX (1024 * 1024)
#define PONS_HTTP_HEAD_MAX   (256 * 1024) // bytes of all headers of a reply, interim ones too

typedef enum pons_http_fault {
    PONS_HTTP_UNREACHABLE,  // no such name, or nobody listens: nothing was sent
    PONS_HTTP_TLS,          // no secure connection came about: nothing was sent
    PONS_HTTP_UNTRUSTED,    // the server's certificate is not to be trusted: nothing was sent
    PONS_HTTP_LOST,         // the connection broke, perhaps after the server had acted
    PONS_HTTP_SLOW_CONNECT, // a limit of time: no connection; nothing was sent
    PONS_HTTP_SLOW_START,   // no byte of the body
    PONS_HTTP_SLOW_NEXT,    // no further byte of it
    PONS_HTTP_SLOW_WHOLE,   // not whole
    PONS_HTTP_LONG_HEAD,    // headers beyond PONS_HTTP_HEAD_MAX
    PONS_HTTP_LONG_BODY,    // body_max: DATA up to there has come
    PONS_HTTP_ADDRESS,      // permit said no; text is the address
    PONS_HTTP_REDIRECTS,    // more than were allowed
    PONS_HTTP_BAD_URL,
    PONS_HTTP_BAD_SCHEME, // neither http nor https, also of a redirect
    PONS_HTTP_BROKEN      // anything else, no memory among it
} pons_http_fault;

typedef enum pons_http_event_kind {
    PONS_HTTP_HEAD, // status, url, headers; with the first byte of the body, or the end
    PONS_HTTP_DATA, // data, n
    PONS_HTTP_END,  // the reply is whole
    PONS_HTTP_FAILED
} pons_http_event_kind;

typedef struct pons_http_event { // the receiver clears
    uint64_t call;
    void *user; // the request's
    pons_http_event_kind kind;
    int status;            // HEAD
    pons_http_fault fault; // FAILED
    char *url;             // HEAD, FAILED: the address that was asked last, after redirects
    char *headers;         // HEAD: those that were asked for, by pons_http_header
    char *data;            // DATA, ends with a zero that n does not count; FAILED: why, one line
    size_t n;
} pons_http_event;

typedef struct pons_http_request { // copied by start, but for what `want` points to
    void *user;                    // comes back with every event
    const char *method;            // NULL: GET, with a body POST
    const char *url;               // http or https
    const char *const *headers;    // "Name: value", NULL at the end; or NULL
    const char *body;              // or NULL
    size_t body_n;
    const char *const *want; // names of headers for HEAD, NULL at the end; static; or NULL
    const char *ca_file;     // who signs servers' certificates; NULL: the system's list
    const char *proxy;       // "" none; NULL: the environment's, but none for this machine
    bool decode;             // may be compressed, which is always unpacked; needs body_max
    size_t body_max;         // bytes; 0: none
    unsigned redirects;      // to be followed, by a GET without headers; 0: one is a reply
    // Milliseconds, 0: none. connect is of each redirect again, the others are of the whole call.
    int64_t connect_ms, start_ms, next_ms, whole_ms;
    // Which addresses may be connected to, asked with each one that is about to be, and once more
    // with the one that was; such a call shares no connection. The shared thread; must not block.
    bool (*permit)(const struct sockaddr *address);
} pons_http_request;

typedef struct pons_http_url { // strings; the caller frees both
    char *url, *shown;         // shown: without user, password, query and fragment
} pons_http_url;

typedef struct pons_http_ops {
    uint32_t abi; // PONS_HTTP_ABI
    // turn NULL: the user waits on event_fd. Else the shared thread calls turn(user) when events of
    // this client have come, after wake, and when the milliseconds are over that it returned last
    // (negative: not by itself). It takes events, starts and cancels, and must neither block nor
    // close: everybody's bytes wait for it.
    int (*open)(int (*turn)(void *user), void *user, void **ret_self, pons_error *err);
    // Aborts what runs, and waits for a turn that is being taken; none comes after it. NULL-safe.
    void (*close)(void *self);
    void (*wake)(void *self); // asks for a turn
    // The call number is the caller's choice, unique for the client's life: PONS_EEXIST. PONS_EINVAL
    // for a request that cannot be made.
    int (*start)(void *self, uint64_t call, const pons_http_request *request, pons_error *err);
    void (*cancel)(void *self, uint64_t call);
    int (*event_fd)(void *self); // readable while events wait
    bool (*next)(void *self, pons_http_event *ret);
    // An http or https address with `tail` behind its path, unless that ends so. PONS_EINVAL.
    int (*url)(const char *url, const char *tail, pons_http_url *ret, pons_error *err);
    int64_t (*date)(const char *text); // of a header, in seconds since 1970; -1: none
} pons_http_ops;

// Loads the module; PONS_ENOTFOUND, PONS_EENV as pons_module_load.
int pons_http_load(const pons_http_ops **ret, pons_error *err);
void pons_http_event_clear(pons_http_event *ev);
// Makes one call and waits until it is over, for a thread that does nothing else with its client. It appends the reply's body
// to `body` (NULL: it is dropped) and sets *ret_status. PONS_ECANCELED: end_fd (negative: none) became readable first;
// PONS_EPROTOCOL: the body is longer than body_max; PONS_EIO: no complete reply. These errors name the address.
int pons_http_call(const pons_http_ops *http, void *client, uint64_t call,
                   const pons_http_request *request, int end_fd, pons_buf *body, int *ret_status,
                   pons_error *err);
// Makes such a call and returns the reply's status only; 0: no reply.
int pons_http_status(const pons_http_ops *http, void *client, uint64_t call,
                     const pons_http_request *request, int end_fd);
// The value of a header of a HEAD, the last of that name, cut to cap; false and "" without one.
bool pons_http_header(const pons_http_event *head, const char *name, char *ret, size_t cap);

PONS_C_END
