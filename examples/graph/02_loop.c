// 02_loop.c - a router makes a loop; a reducer says what several writes make of a channel.
//
// A router runs after its node, in the same task: it sees the state with that node's own writes. It
// may only go where it has said it may, so that a drawing shows every way there is, and a
// misspelled name is found when the graph is compiled.
//
// Prints:
//   graph TD
//     __start__([start])
//     roll[roll]
//     __end__([end])
//     __start__ --> roll
//     roll -.-> roll
//     roll -.-> __end__
//   rolls: [1,2,4,8,16]
//   sum: 31
#include "example.h"

static int roll(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    const pons_value *rolls = pons_cx_get(cx, "rolls");
    int n = 1 << json_array_size(rolls);
    pons_cx_put(cx, "rolls", json_integer(n));      // appended
    return pons_cx_put(cx, "sum", json_integer(n)); // added
}

static int until_20(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    pons_cx_goto(cx, json_integer_value(pons_cx_get(cx, "sum")) < 20 ? "roll" : PONS_END);
    return PONS_OK;
}

int main(void)
{
    pons_value_init();
    pons_error err = PONS_ERROR_INIT;
    static const char *const to[] = {"roll", PONS_END, NULL};

    pons_graph_builder *b = pons_graph_builder_create("loop");
    pons_graph_channel(b, "rolls",
                       &(pons_channel_options){PONS_CHANNEL_REDUCE, .reduce = pons_reduce_append});
    pons_graph_channel(b, "sum",
                       &(pons_channel_options){PONS_CHANNEL_REDUCE, .reduce = pons_reduce_add});
    pons_graph_node(b, "roll", roll, NULL);
    pons_graph_edge(b, PONS_START, "roll");
    pons_graph_router(b, "roll", until_20, NULL, to);
    pons_graph *g = compiled(b);

    char *drawing = NULL;
    need(pons_graph_draw(g, "mermaid", &drawing, &err), &err);
    fputs(drawing, stdout);
    free(drawing);

    pons_thread *t = opened((pons_store){0}, "t1");
    pons_run *r = NULL;
    need(pons_run_start(t, g, "", NULL, NULL, &r, &err), &err);
    need(pons_run_advance(r, &err), &err);
    show("rolls", pons_run_get(r, "rolls"));
    show("sum", pons_run_get(r, "sum"));

    pons_run_destroy(r);
    pons_thread_close(t);
    pons_graph_destroy(g);
    return 0;
}
