// 04_map_reduce.c - as many tasks as there are things to do, and one that waits for all of them.
//
// A send runs a node with a private argument. All sends of a step run in the next one, and their
// writes are applied in the order in which they were sent, whatever finishes first. A deferred node
// waits until nothing else is left to run.
//
// Prints:
//   lengths: [3,5,4]
//   report: "3 words, 12 letters"
#include "example.h"

static int split(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    size_t i;
    pons_value *word;
    json_array_foreach((pons_value *)(uintptr_t)pons_cx_get(cx, "words"), i, word) {
        pons_cx_send(cx, "measure", json_incref(word));
    }
    pons_cx_goto(cx, "report");
    return PONS_OK;
}

static int measure(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    return pons_cx_put(cx, "lengths",
                       json_integer((json_int_t)json_string_length(pons_cx_arg(cx))));
}

static int report(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    const pons_value *lengths = pons_cx_get(cx, "lengths");
    int sum = 0;
    for (size_t i = 0; i < json_array_size(lengths); i++) {
        sum += (int)json_integer_value(json_array_get(lengths, i));
    }
    return pons_cx_put(cx, "report",
                       json_sprintf("%d words, %d letters", (int)json_array_size(lengths), sum));
}

int main(void)
{
    pons_value_init();
    pons_error err = PONS_ERROR_INIT;
    static const char *const goes[] = {"measure", "report", NULL};

    pons_graph_builder *b = pons_graph_builder_create("map_reduce");
    pons_graph_channel(b, "words", NULL);
    pons_graph_channel(b, "lengths",
                       &(pons_channel_options){PONS_CHANNEL_REDUCE, .reduce = pons_reduce_append});
    pons_graph_channel(b, "report", NULL);
    pons_graph_node(b, "split", split, NULL);
    pons_graph_node_options(b, "split", &(pons_node_options){.goes = goes});
    pons_graph_node(b, "measure", measure, NULL);
    pons_graph_node(b, "report", report, NULL);
    pons_graph_node_options(b, "report", &(pons_node_options){.deferred = true});
    pons_graph_edge(b, PONS_START, "split");
    pons_graph_edge(b, "measure", PONS_END);
    pons_graph_edge(b, "report", PONS_END);
    pons_graph *g = compiled(b);

    pons_thread *t = opened((pons_store){0}, "t1");
    pons_autovalue input = value("{'words':['one','three','four']}");
    pons_run *r = NULL;
    need(pons_run_start(t, g, "", input, NULL, &r, &err), &err);
    need(pons_run_advance(r, &err), &err);
    show("lengths", pons_run_get(r, "lengths"));
    show("report", pons_run_get(r, "report"));

    pons_run_destroy(r);
    pons_thread_close(t);
    pons_graph_destroy(g);
    return 0;
}
