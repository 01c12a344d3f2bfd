// serve_client.h - a client of `pons serve` that writes bytes.
#ifndef SERVE_CLIENT_H
#define SERVE_CLIENT_H

#include "cli_bench.h"

#define SERVE "serve --listen 127.0.0.1:0 --json "

typedef struct serve_at { // of a server that is ready
    int port, stop_port;
    char token[65]; // an operator's
} serve_at;

serve_at serve_ready(bench *b, proc *p);
// A request, by HTTP/1.0; more: lines of headers. The connection.
int serve_ask(const serve_at *a, int port, const char *method, const char *path, const char *more,
              const char *body);
char *serve_hear(int fd, const char *what); // until it is there, or (NULL) the end; the caller's
char *serve_reply(const serve_at *a, int port, const char *method, const char *path,
                  const char *body);
// The reply has this status, and `what` in it.
void serve_must(const serve_at *a, int port, const char *method, const char *path, const char *body,
                int status, const char *what);

#endif
