// letters.c - a graph of one's own, for `pons graph run letters`: it writes letters until there are
// enough, asks a person, and posts them.
//
//     pons graph show letters
//     pons graph run letters --thread t1 --input '{"wanted":3}' --step
//     pons graph resume t1 --answer '"yes"'
//     pons threads history t1
//     pons graph run letters --thread t1 --at CHECKPOINT
#include "pons/graph_module.h"
#include "pons/module.h"

#include <string.h>

static int write_one(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    const size_t n = json_array_size(pons_cx_get(cx, "letters"));
    pons_cx_custom(cx, pons_object("writing", json_integer((json_int_t)n + 1), NULL));
    return pons_cx_put(cx, "letters", json_sprintf("letter %zu", n + 1));
}

static int enough(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    const json_int_t wanted = json_integer_value(pons_cx_get(cx, "wanted"));
    const bool more = (json_int_t)json_array_size(pons_cx_get(cx, "letters")) < wanted;
    pons_cx_goto(cx, more ? "write" : "ask");
    return PONS_OK;
}

static int ask(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    const pons_value *answer = NULL;
    const size_t n = json_array_size(pons_cx_get(cx, "letters"));
    const int rc = pons_interrupt(cx, json_sprintf("post %zu letters?", n), &answer, err);
    if (rc != PONS_OK) {
        return rc;
    }
    const char *word = json_string_value(answer);
    const bool yes = json_is_true(answer) || (word && strcmp(word, "yes") == 0);
    pons_cx_goto(cx, yes ? "post" : PONS_END);
    return PONS_OK;
}

static int post(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    return pons_cx_put(cx, "posted", json_true());
}

static int build(pons_graph **ret, pons_error *err)
{
    static const char *const after_write[] = {"write", "ask", NULL};
    static const char *const after_ask[] = {"post", PONS_END, NULL};
    pons_graph_builder *b = pons_graph_builder_create("letters");
    pons_graph_channel(b, "wanted", NULL);
    pons_graph_channel(b, "posted", NULL);
    pons_graph_channel(b, "letters",
                       &(pons_channel_options){PONS_CHANNEL_REDUCE, .reduce = pons_reduce_append});
    pons_graph_node(b, "write", write_one, NULL);
    pons_graph_node(b, "ask", ask, NULL);
    pons_graph_node(b, "post", post, NULL);
    pons_graph_node_options(b, "ask", &(pons_node_options){.goes = after_ask});
    pons_graph_edge(b, PONS_START, "write");
    pons_graph_router(b, "write", enough, NULL, after_write);
    pons_graph_edge(b, "post", PONS_END);
    const int rc = pons_graph_compile(b, NULL, ret, err);
    pons_graph_builder_destroy(b);
    return rc;
}

static const pons_graph_module letters = {
    .abi = PONS_GRAPH_MODULE_ABI,
    .name = "letters",
    .help = "writes letters until there are enough, asks, and posts them (examples/graphs)",
    .build = build,
};
PONS_MODULE_EXPORT("graph", "letters", &letters);
