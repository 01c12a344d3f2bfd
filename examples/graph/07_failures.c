// 07_failures.c - nodes that fail, are slow, or must block.
//
// A node's options say what happens: how often it is tried, how long it may take, which node takes
// over when it has failed for good. A wait is a deadline, never a sleep: pons_run_wait here sleeps
// for us; a program with a loop of its own asks pons_run_deadlines. A blocking node runs on a
// worker thread with a copy of the state.
//
// Prints:
//   log: ["third time lucky","read by a worker","broken: no such luck"]
#include "example.h"

static int flaky(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    if (pons_cx_attempt(cx) < 3) {
        return pons_error_set(err, PONS_EIO, "example", "not yet");
    }
    return pons_cx_put(cx, "log", json_string("third time lucky"));
}

static int broken(pons_cx *cx, void *user, pons_error *err)
{
    (void)cx;
    (void)user;
    return pons_error_set(err, PONS_EIO, "example", "no such luck");
}

static int repair(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    const pons_value *e = pons_cx_arg(cx);
    return pons_cx_put(
        cx, "log",
        json_sprintf("%s: %s", pons_get_str(e, "node", ""), pons_get_str(e, "message", "")));
}

static int read_slowly(pons_work *w, void *user, const pons_value *input, pons_value **ret_update,
                       pons_error *err)
{
    (void)w;
    (void)user;
    (void)input;
    (void)err; // a read() that blocks would be here
    *ret_update = pons_object("log", json_string("read by a worker"), NULL);
    return PONS_OK;
}

int main(void)
{
    pons_value_init();
    pons_error err = PONS_ERROR_INIT;

    pons_graph_builder *b = pons_graph_builder_create("failures");
    pons_graph_channel(b, "log",
                       &(pons_channel_options){PONS_CHANNEL_REDUCE, .reduce = pons_reduce_append});
    pons_graph_node(b, "flaky", flaky, NULL);
    pons_graph_node_options(
        b, "flaky",
        &(pons_node_options){
            .retry = {.attempts = 5, .initial_ms = 1, .factor = 2, .max_ms = 10, .jitter = 0.5},
            .run_timeout_ms = 1000});
    pons_graph_node(b, "broken", broken, NULL);
    pons_graph_node_options(b, "broken", &(pons_node_options){.error_handler = "repair"});
    pons_graph_node(b, "repair", repair, NULL);
    pons_graph_blocking(b, "reader", read_slowly, NULL);
    pons_graph_edge(b, PONS_START, "flaky");
    pons_graph_edge(b, PONS_START, "broken");
    pons_graph_edge(b, PONS_START, "reader");
    pons_graph_edge(b, "flaky", PONS_END);
    pons_graph_edge(b, "broken", PONS_END); // not taken: it fails
    pons_graph_edge(b, "reader", PONS_END);
    pons_graph_edge(b, "repair", PONS_END);
    pons_graph *g = compiled(b);

    pons_thread *t = opened((pons_store){0}, "t1");
    pons_run *r = NULL;
    need(pons_run_start(t, g, "", NULL, NULL, &r, &err), &err);
    need(pons_run_wait(r, &err), &err);
    show("log", pons_run_get(r, "log"));

    pons_run_destroy(r);
    pons_thread_close(t);
    pons_graph_destroy(g);
    return 0;
}
