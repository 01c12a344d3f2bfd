// 06_await.c - things that take time, without threads: the node awaits, the program serves.
//
// An await is a request to the program that runs the graph. Its handler begins the work and
// returns; when the answer is there, pons_run_answer records it and the run goes on. One loop can
// so serve thousands of runs. An answer that was recorded is never asked for again, also after a
// crash.
//
// Prints:
//   asked: {"city":"Kyoto"}
//   asked: {"city":"Oslo"}
//   weather: {"Kyoto":"rain","Oslo":"snow"}
#include "example.h"

typedef struct service { // stands for a server on the network
    char ids[2][64];
    int n;
} service;

static void start(void *user, pons_run *run, const char *id, const pons_value *request,
                  bool restarted)
{
    (void)run;
    (void)restarted; // true: it was asked before a crash, and may have been done
    service *s = user;
    show("asked", request);
    snprintf(s->ids[s->n++], sizeof s->ids[0], "%s", id);
}

static int look_up(pons_cx *cx, void *user, pons_error *err)
{
    const char *city = user;
    const pons_value *answer = NULL;
    int st =
        pons_await(cx, "weather", pons_object("city", json_string(city), NULL), 0, &answer, err);
    if (st != PONS_OK) {
        return st;
    }
    return pons_cx_put(cx, "weather", pons_object(city, pons_value_ref(answer), NULL));
}

int main(void)
{
    pons_value_init();
    pons_error err = PONS_ERROR_INIT;
    static char kyoto[] = "Kyoto", oslo[] = "Oslo";

    pons_graph_builder *b = pons_graph_builder_create("await");
    pons_graph_channel(b, "weather",
                       &(pons_channel_options){PONS_CHANNEL_REDUCE, .reduce = pons_reduce_merge});
    pons_graph_node(b, "a", look_up, kyoto);
    pons_graph_node(b, "b", look_up, oslo);
    pons_graph_edge(b, PONS_START, "a");
    pons_graph_edge(b, PONS_START, "b");
    pons_graph_edge(b, "a", PONS_END);
    pons_graph_edge(b, "b", PONS_END);
    pons_graph *g = compiled(b);

    service s = {0};
    pons_await_handler weather = {.kind = "weather", .start = start, .user = &s};
    pons_thread_options o = {
        .clock = pons_clock_real(), .seed = 1, .handlers = &weather, .n_handlers = 1};
    pons_thread *t = NULL;
    need(pons_thread_open((pons_store){0}, "t1", &o, &t, &err), &err);
    pons_run *r = NULL;
    need(pons_run_start(t, g, "", NULL, NULL, &r, &err), &err);
    need(pons_run_advance(r, &err), &err); // PARKED: both have been asked
    need(pons_run_answer(r, s.ids[1], json_string("snow"), &err), &err);
    need(pons_run_answer(r, s.ids[0], json_string("rain"), &err), &err);
    need(pons_run_advance(r, &err), &err);
    show("weather", pons_run_get(r, "weather"));

    pons_run_destroy(r);
    pons_thread_close(t);
    pons_graph_destroy(g);
    return 0;
}
