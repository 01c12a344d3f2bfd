// langgraph_bench.h - a server that serves one graph, and a client that speaks JSON to it.
#ifndef LANGGRAPH_BENCH_H
#define LANGGRAPH_BENCH_H

#include "serve/serve_bench.h"

#include <pthread.h>

// letters: writes `letters` until there are as many as `wanted`, asks whether to post them, posts. With
// `gated` each letter waits for lg_open_gate; with `broken` the second one fails. It says each letter as
// a message and as a custom event.
typedef struct lg {
    bench b;
    pons_graph *graph, *outer;
    pons_serve_graph
        served[3]; // letters, the same under another name, and within another graph (mail)
    pons_await_handler handler;
    pthread_mutex_t mtx;
    char gate[64], thread[128]; // [mtx] what waits now; "" nothing
    int asked, restarted;       // [mtx] how often a gate was asked for
} lg;

void lg_open(lg *t);
void lg_restart(lg *t); // the server goes and comes, over the same store
void lg_close(lg *t);
void lg_wait_gate(lg *t, int asked); // until a gate was asked for so often
void lg_open_gate(lg *t);

// The reply's body; its status is want.
pons_value *lg_call(lg *t, int want, const char *method, const char *path, const char *body);
// A stream's or a wait's body, as text, to its end. headers may be NULL.
char *lg_text(lg *t, const char *method, const char *path, const char *headers, const char *body);
void lg_thread(lg *t, char ret[64]); // a fresh one
// A request that is not waited for; the descriptor.
int lg_begin(lg *t, const char *method, const char *path, const char *headers, const char *body);
pons_value *lg_until(lg *t, const char *path, const char *member,
                     const char *is); // GET, until it is so

extern atomic_int lg_stuck; // how many nodes have stood still so far

#endif
