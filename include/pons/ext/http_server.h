// ext/http_server.h - the contract of an HTTP server: requests come in, a reply or a stream goes out.
//
// One implementation, the module server-microhttpd (src/http/microhttpd). A server has one thread of
// its own for all connections, and `workers` for requests:
//
//     connections --> the server's thread --> queue --> a worker: handle(user, x)
//                                                          reply(x, …)        the whole of it, or
//                                                          stream(x, …) --> a stream
//     any thread: stream_write, stream_end --> its queue --> the server's thread --> the client
//
// handle is called with a request that is whole, body and all, or not at all (but for body_any): what is too long, too
// slow or no HTTP is answered by the server itself (400, 408 by closing, 413, 414, 431, 503). It may
// block, and ends with exactly one reply, stream or socket; x lives until then. A stream lives until its
// stream_end, which its owner calls in any case; writing never blocks. A client that reads more
// slowly than it is written to has stream_max bytes of room, then it is dropped.
//
// A WebSocket (RFC 6455) is a third way to end a request: both sides send messages until one of them
// ends it. The framing is the server's; each has a thread of its own, which calls its owner.
//
// Threads: open and close on one thread, close not from handle. Requests of one connection come one
// after the other; those of others at once.
#pragma once

#include "pons/error.h"
#include "pons/linkage.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

PONS_C_BEGIN

#define PONS_HTTP_SERVER_ABI  5u
#define PONS_HTTP_FINGERPRINT 96 // "AB:CD:…" of SHA-256, with the zero

typedef struct pons_http_exchange pons_http_exchange; // a request, and its reply to be
typedef struct pons_http_stream pons_http_stream;
typedef struct pons_http_socket pons_http_socket;

typedef struct pons_http_socket_options {
    const char
        *protocol;      // the subprotocol that is spoken, one of those the client named; NULL: none
    size_t message_max; // bytes of one from the client; a longer one ends the socket; 0: 64 KiB
    size_t unsent_max;  // bytes that wait for a slow client; 0: 4 MiB
    // On the socket's thread, and maybe before `socket` has returned. data ends with a zero beyond n;
    // the text is UTF-8.
    void (*message)(void *user, pons_http_socket *s, bool binary, const char *data, size_t n);
    // The last call: the client is gone, was silent for too long, or the socket was ended.
    void (*over)(void *user, pons_http_socket *s);
    void *user;
} pons_http_socket_options;

typedef struct pons_http_server_options {
    const char *address; // "127.0.0.1", "::1", "0.0.0.0"; no name
    uint16_t port;       // 0: a free one
    // PEM texts: the certificate's chain and its key; NULL: http without TLS.
    const char *certificate, *key;
    unsigned workers; // threads for handle; 0: 4
    // At once; one more ends the one that has been quiet the longest, of those without a request in
    // hand; 0: 2048.
    unsigned connections_max;
    size_t head_max;          // bytes of a request's line and headers; 0: 16 KiB
    size_t body_max;          // bytes of a request's body; 0: 1 MiB
    bool body_any;            // handle gets it as far as it came: too long, too slow, or cut off
    size_t stream_max;        // bytes that a stream keeps for a slow client; 0: 256 KiB
    int64_t head_ms, body_ms; // until a request's head, and its body, are whole; 0: 5 s, 20 s
    int64_t idle_ms;          // of a connection between two requests; 0: 30 s
    void (*handle)(void *user, pons_http_exchange *x);
    void *user;
} pons_http_server_options;

typedef struct pons_http_server_ops {
    uint32_t abi; // PONS_HTTP_SERVER_ABI
    const char *name;
    // Listens when it returns. PONS_EBUSY: somebody else has the port. PONS_EINVAL: no such address
    // here, or the certificate is none.
    int (*open)(const pons_http_server_options *opts, void **ret_self, pons_error *err);
    // Takes no more requests, waits for those in handle, ends every stream. NULL-safe. Streams that
    // their owners have not ended yet stay theirs, and take nothing more.
    void (*close)(void *self);
    uint16_t (*port)(void *self);

    // The request. Texts are borrowed until the reply, or the stream, has been made.
    const char *(*method)(const pons_http_exchange *x);
    const char *(*path)(const pons_http_exchange *x); // as it was sent: not decoded, without query
    const char *(*query)(const pons_http_exchange *x, const char *name); // decoded; NULL: none
    // The i-th of all ("" where it has no value), and its name; NULL: there are not so many.
    const char *(*query_at)(const pons_http_exchange *x, unsigned i, const char **ret_name);
    const char *(*header)(const pons_http_exchange *x, const char *name); // any case; NULL: none
    unsigned (*header_count)(const pons_http_exchange *x, const char *name);
    const char *(*body)(const pons_http_exchange *x, size_t *ret_n); // ends with a zero beyond n
    const char *(*peer)(const pons_http_exchange *x);                // the other's address

    // The reply. headers: "Name: value", NULL at the end; or NULL. Copies everything. Content-Length
    // and Date are the server's.
    void (*reply)(pons_http_exchange *x, int status, const char *const *headers, const void *body,
                  size_t n);
    // The reply's beginning; NULL without memory, and then the client gets 503. The client may be
    // gone at any time, which shows at a write.
    pons_http_stream *(*stream)(pons_http_exchange *x, int status, const char *const *headers);
    // Copies. PONS_ECANCELED: the client is gone, or was dropped. Any thread.
    int (*stream_write)(pons_http_stream *s, const void *data, size_t n);
    // Bytes that the client has not taken yet. Any thread.
    size_t (*stream_unsent)(pons_http_stream *s);
    // What was written still goes out; the stream is the server's again. NULL-safe. Any thread.
    void (*stream_end)(pons_http_stream *s);

    // The reply to a client that asks for a WebSocket; NULL: it was answered otherwise (400, 426, 503)
    // and no callback comes. The owner ends it in any case (socket_end), after which none of its
    // callbacks begins but `over`.
    pons_http_socket *(*socket)(pons_http_exchange *x, const pons_http_socket_options *o);
    // A message, whole. Copies, never blocks. PONS_EAGAIN: no room, it is not sent; PONS_ECANCELED:
    // the client is gone. Any thread.
    int (*socket_send)(pons_http_socket *s, bool binary, const void *data, size_t n);
    // What was sent still goes out, for a second or two, then the client is told and the connection
    // ends. The socket is the server's again. NULL-safe. Any thread, its own too.
    void (*socket_end)(pons_http_socket *s);

    // A certificate of one's own for these names and addresses, signed by itself: both PEM texts are
    // the caller's (free). *cert given: only its fingerprint. NULL in a server that can't.
    int (*certificate)(const char *const *names, size_t n, char **cert, char **key,
                       char ret_fingerprint[PONS_HTTP_FINGERPRINT], pons_error *err);
} pons_http_server_ops;

// Loads the module; PONS_ENOTFOUND, PONS_EENV as pons_module_load.
int pons_http_server_load(const pons_http_server_ops **ret, pons_error *err);

PONS_C_END
