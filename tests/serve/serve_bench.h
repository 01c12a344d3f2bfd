// serve_bench.h - what the tests of the server share: one over a store in memory, with a host that
// writes down what it was told, and a client that sends bytes.
#ifndef SERVE_BENCH_H
#define SERVE_BENCH_H

#include "pons/serve.h"
#include "unit.h"

#include <stdatomic.h>

typedef struct bench {
    pons_serve *serve;
    pons_serve_options o; // for the next bench_start
    pons_store store;
    pons_lease lease; // of the thread main
    char dir[64], tokens[96];
    int port, stop_port;
    atomic_int changes; // calls of the host that change something
    atomic_int stops;
    char reason[256];   // of the last stop, or the last word to the fleet
    char words[256];    // that were said last, or the place that was told
    bool body;          // there is one:
    atomic_int body_fd; // its end of the server's link, once it is connected
} bench;

void bench_open(bench *b); // starts
void bench_start(bench *b);
void bench_close(bench *b);
void bench_commit(bench *b, int n); // n events, and the server is told
const char *bench_token(const bench *b, const char *role);

typedef struct ask {
    const char *method, *path, *host, *token, *headers, *body; // NULL: the usual one, or none
    bool stop_port;
} ask;

int bench_connect(int port);
// Everything that comes until `what` is in it (NULL: until the end); the caller's.
char *bench_until(int fd, const char *what);
int bench_send(const bench *b, const ask *a); // the connection
char *bench_reply(const bench *b, const ask *a);
int bench_code(const char *reply); // 0: it is none
int bench_status(const bench *b, const ask *a);

#endif
