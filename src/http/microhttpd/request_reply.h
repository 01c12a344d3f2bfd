// request_reply.h - a request from its first line to its reply.
#pragma once

#include "http/microhttpd/server.h"

#define PONS__REPLY_MS 60000 // for a client to take a reply that is no stream

struct pons_http_exchange {
    pons__server *server;
    struct MHD_Connection *connection;
    pons__connection *seen;   // its deadline; NULL without memory
    pons_http_exchange *next; // in the server's queue
    char *path;               // as it was sent
    const char *uri;          // path and query in MHD's buffer, (uri_n) before they were cut
    size_t uri_n;
    char *method;
    char peer[64];
    char *body; // ends with a zero
    size_t body_n;
    bool begun;                    // its headers are there
    bool handled;                  // or it is being, or will not be
    struct MHD_Response *response; // made by the worker
    int status;
    pons_http_socket *socket;           // that begins when the reply is out; NULL: none does
    void (*never)(pons_http_socket *s); // told when it did not: the client is gone
};

// The server's thread: MHD's callbacks.
void *pons__exchange_begin(void *server, const char *uri, struct MHD_Connection *connection);
enum MHD_Result pons__exchange_access(void *server, struct MHD_Connection *connection,
                                      const char *url, const char *method, const char *version,
                                      const char *data, size_t *n, void **exchange);
void pons__exchange_over(void *server, struct MHD_Connection *connection, void **exchange,
                         enum MHD_RequestTerminationCode how);
void pons__exchange_log(void *server, const char *fmt, va_list ap);

// A worker: gives the connection back to the server's thread, with the response.
void pons__exchange_answer(pons_http_exchange *x, int status, struct MHD_Response *response,
                           const char *const *headers);
// headers: more than its type; NULL: none.
void pons__exchange_refuse(pons_http_exchange *x, int status, const char *const *headers,
                           const char *why);
