// 01_hello.c - the smallest graph: one channel, one node, no store.
//
// A graph is nodes over named channels. A node reads the state and writes to channels; the writes
// are applied when every node of the superstep has run. START and END are names, not nodes.
//
// Prints:
//   state: "hello, world"
#include "example.h"

static int greet(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    const char *name = json_string_value(pons_cx_get(cx, "text"));
    return pons_cx_put(cx, "text", json_sprintf("hello, %s", name));
}

int main(void)
{
    pons_value_init();
    pons_error err = PONS_ERROR_INIT;

    pons_graph_builder *b = pons_graph_builder_create("hello");
    pons_graph_channel(b, "text", NULL); // the last value that was written
    pons_graph_node(b, "greet", greet, NULL);
    pons_graph_edge(b, PONS_START, "greet");
    pons_graph_edge(b, "greet", PONS_END);
    pons_graph *g = compiled(b);

    // A thread is the right to write one conversation. Without a store, it lives as long as we do.
    pons_thread *t = opened((pons_store){0}, "t1");
    pons_autovalue input = value("{'text':'world'}");
    pons_run *r = NULL;
    need(pons_run_start(t, g, "", input, NULL, &r, &err), &err);
    need(pons_run_advance(r, &err), &err);
    show("state", pons_run_get(r, "text"));

    pons_run_destroy(r);
    pons_thread_close(t);
    pons_graph_destroy(g);
    return 0;
}
