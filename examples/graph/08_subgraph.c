// 08_subgraph.c - a graph inside a graph, which hands over to its parent's nodes.
//
// A subgraph shares the channels whose names both have. With PONS_SUBGRAPH_OWN it keeps a state of
// its own between runs; INHERIT begins afresh each time. A command with `parent` ends the subgraph
// and goes on in the parent, with the update that it carries.
//
// Prints:
//   log: ["clerk saw 1","manager"]
//   log: ["clerk saw 1","manager","clerk saw 2","manager"]
#include "example.h"

static int clerk(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    return pons_cx_put(cx, "seen", json_integer(1)); // its own: the parent has no such channel
}

static int hand_over(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    static const char *const go[] = {"manager", NULL};
    pons_value *line =
        json_sprintf("clerk saw %d", (int)json_integer_value(pons_cx_get(cx, "seen")));
    return pons_cx_command(
        cx, &(pons_command){.update = pons_object("log", line, NULL), .go = go, .parent = true},
        err);
}

static int manager(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    return pons_cx_put(cx, "log", json_string("manager"));
}

int main(void)
{
    pons_value_init();
    pons_error err = PONS_ERROR_INIT;
    static const char *const goes[] = {"manager", NULL};
    pons_channel_options append = {PONS_CHANNEL_REDUCE, .reduce = pons_reduce_append};

    pons_graph_builder *b = pons_graph_builder_create("office");
    pons_graph_channel(b, "log", &append);
    pons_graph_channel(b, "seen",
                       &(pons_channel_options){PONS_CHANNEL_REDUCE, .reduce = pons_reduce_add});
    pons_graph_node(b, "clerk", clerk, NULL);
    pons_graph_node(b, "hand_over", hand_over, NULL);
    pons_graph_edge(b, PONS_START, "clerk");
    pons_graph_edge(b, "clerk", "hand_over");
    pons_graph_edge(b, "hand_over", PONS_END);
    pons_graph *office = compiled(b);

    b = pons_graph_builder_create("firm");
    pons_graph_channel(b, "log", &append);
    pons_graph_subgraph(b, "office", office, PONS_SUBGRAPH_OWN);
    pons_graph_node_options(b, "office", &(pons_node_options){.goes = goes});
    pons_graph_node(b, "manager", manager, NULL);
    pons_graph_edge(b, PONS_START, "office");
    pons_graph_edge(b, "manager", PONS_END);
    pons_graph *firm = compiled(b);

    pons_thread *t = opened((pons_store){0}, "t1");
    for (int day = 0; day < 2; day++) {
        pons_run *r = NULL;
        need(pons_run_start(t, firm, "", NULL, NULL, &r, &err), &err);
        need(pons_run_advance(r, &err), &err);
        show("log", pons_run_get(r, "log"));
        pons_run_destroy(r);
    }

    pons_thread_close(t);
    pons_graph_destroy(firm);
    pons_graph_destroy(office);
    return 0;
}
