// test_graph.c - building and compiling: every fault of a graph in one message; drawings.
#include "graph/graph_help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void every_fault_at_once(void **state)
{
    (void)state;
    pons_graph_builder *gb = pons_graph_builder_create("bad");
    pons_graph_channel(gb, "c", NULL);
    pons_graph_channel(gb, "c", NULL);
    channel(gb, "r", PONS_CHANNEL_REDUCE, NULL);
    pons_graph_channel(gb, "__x", NULL);
    pons_graph_node(gb, "a", node_log, NULL);
    pons_graph_node(gb, "a", node_log, NULL);
    pons_graph_node(gb, "b:c", node_log, NULL);
    pons_graph_node(gb, "empty", NULL, NULL);
    pons_graph_edge(gb, PONS_START, "a");
    pons_graph_edge(gb, "a", "nowhere");
    pons_graph_edge(gb, "noone", "a");
    pons_graph_edge(gb, PONS_END, "a");
    pons_graph_edge(gb, "a", PONS_START);
    pons_graph *g = NULL;
    pons_error err = PONS_ERROR_INIT;
    static const char *const stop[] = {"ghost", NULL};
    assert_int_equal(
        pons_graph_compile(gb, &(pons_graph_options){.interrupt_before = stop}, &g, &err),
        PONS_EINVAL);
    static const char *const parts[] = {
        "channel 'c' is declared twice",
        "channel 'r' needs a reducer",
        "'__x' has a reserved name",
        "node 'a' is declared twice",
        "'b:c' has ':'",
        "'empty' has no function",
        "'nowhere'",
        "'noone'",
        "'ghost'",
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!strstr(err.message, parts[i])) {
            fail_msg("missing \"%s\" in: %s", parts[i], err.message);
        }
    }
    assert_null(g);
    pons_graph_builder_destroy(gb);
}

static void paths_are_checked(void **state)
{
    (void)state;
    pons_graph_builder *gb = pons_graph_builder_create("paths");
    pons_graph_node(gb, "a", node_log, NULL);
    pons_graph_node(gb, "island", node_log, NULL);
    pons_graph_node(gb, "trap", node_log, NULL);
    pons_graph_edge(gb, PONS_START, "a");
    pons_graph_edge(gb, "a", "trap");
    pons_graph_edge(gb, "island", PONS_END);
    pons_graph *g = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_graph_compile(gb, NULL, &g, &err), PONS_EINVAL);
    assert_non_null(strstr(err.message, "node 'island' can't be reached from START"));
    assert_non_null(strstr(err.message, "node 'trap' has no way out"));
    pons_graph_builder_destroy(gb);
    gb = pons_graph_builder_create("empty");
    assert_int_equal(pons_graph_compile(gb, NULL, &g, &err), PONS_EINVAL);
    assert_non_null(strstr(err.message, "no edge leaves START"));
    pons_graph_builder_destroy(gb);
}

static int route(pons_cx *cx, void *user, pons_error *err)
{
    (void)err;
    pons_cx_goto(cx, user);
    return PONS_OK;
}

static void drawings_name_every_edge(void **state)
{
    (void)state;
    static const char *const to[] = {"b", PONS_END, NULL};
    pons_graph_builder *gb = pons_graph_builder_create("drawn");
    pons_graph_channel(gb, "c", NULL);
    pons_graph_node(gb, "a", node_log, NULL);
    pons_graph_node(gb, "b", node_log, NULL);
    pons_graph_edge(gb, PONS_START, "a");
    pons_graph_router(gb, "a", route, (void *)(uintptr_t) "b", to);
    pons_graph_edge(gb, "b", PONS_END);
    pons_graph *g = compile(gb, NULL);
    pons_error err = PONS_ERROR_INIT;
    char *text = NULL;
    assert_ok(pons_graph_draw(g, "mermaid", &text, &err));
    assert_non_null(strstr(text, "__start__ --> a"));
    assert_non_null(strstr(text, "a -.-> __end__"));
    free(text);
    assert_ok(pons_graph_draw(g, "dot", &text, &err));
    assert_non_null(strstr(text, "\"a\" -> \"b\" [style=dashed];"));
    free(text);
    assert_ok(pons_graph_draw(g, "json", &text, &err));
    pons_autovalue v = json(text);
    assert_int_equal(json_array_size(pons_get(v, "edges")), 4);
    assert_json(pons_get(v, "nodes"), "['__start__','a','b','__end__']");
    free(text);
    assert_int_equal(pons_graph_draw(g, "png", &text, &err), PONS_EINVAL);
    int st = pons_graph_draw(g, "svg", &text, &err); // where graphviz is installed
    if (st == PONS_OK) {
        assert_non_null(strstr(text, "</svg>"));
        assert_non_null(strstr(text, ">a</text>"));
        free(text);
    } else {
        assert_int_equal(st, PONS_EENV);
        assert_non_null(strstr(err.message, "graphviz"));
    }
    assert_string_equal(pons_graph_name(g), "drawn");
    pons_graph_destroy(g);
}

static void assert_drawn(const pons_graph *g, const char *format, int xray, const char *want)
{
    pons_error err = PONS_ERROR_INIT;
    char *text = NULL;
    assert_ok(
        pons_graph_draw_as(g, &(pons_draw_options){.format = format, .xray = xray}, &text, &err));
    assert_string_equal(text, want);
    free(text);
}

// Where a node may go but has not said that it does is not drawn; one that no edge leaves ends there.
static void what_is_not_meant_is_not_drawn(void **state)
{
    (void)state;
    static const char *const anywhere[] = {"a", "b", PONS_END, NULL};
    const pons_node_options free_to_go = {.goes = anywhere, .goes_undrawn = true};
    pons_graph_builder *gb = pons_graph_builder_create("free");
    pons_graph_channel(gb, "c", NULL);
    pons_graph_node(gb, "a", node_log, NULL);
    pons_graph_node(gb, "b", node_log, NULL);
    pons_graph_node_options(gb, "a", &free_to_go);
    pons_graph_node_options(gb, "b", &free_to_go);
    pons_graph_edge(gb, PONS_START, "a");
    pons_graph_edge(gb, "a", "b");
    pons_graph_router(gb, "b", route, (void *)(uintptr_t) "a", NULL);
    pons_graph *g = compile(gb, NULL);
    assert_drawn(g, "mermaid", 0,
                 "graph TD\n  __start__([start])\n  a[a]\n  b[b]\n  __end__([end])\n"
                 "  __start__ --> a\n  a --> b\n  b --> __end__\n");
    pons_graph_destroy(g);
}

static pons_graph *nest(const char *name, const pons_graph *sub, const char *node)
{
    pons_graph_builder *gb = pons_graph_builder_create(name);
    pons_graph_node(gb, node, node_log, NULL);
    pons_graph_node(gb, "end", node_log, NULL);
    if (sub) {
        pons_graph_subgraph(gb, "sub", sub, PONS_SUBGRAPH_INHERIT);
        pons_graph_edge(gb, node, "sub");
        pons_graph_edge(gb, "sub", "end");
    } else {
        pons_graph_edge(gb, node, "end");
    }
    pons_graph_edge(gb, PONS_START, node);
    pons_graph_edge(gb, "end", PONS_END);
    return compile(gb, NULL);
}

// Opened to any depth, each level in its own frame; names that a format would stumble over are
// written in its own way.
static void drawings_open_subgraphs(void **state)
{
    (void)state;
    pons_graph *in = nest("in", NULL, "say \"x\"");
    pons_graph *mid = nest("mid", in, "m");
    pons_graph *g = nest("g", mid, "a");
    assert_drawn(g, "mermaid", 0,
                 "graph TD\n  __start__([start])\n  a[a]\n  \\65nd[end]\n  sub[[sub]]\n"
                 "  __end__([end])\n  __start__ --> a\n  a --> sub\n  \\65nd --> __end__\n"
                 "  sub --> \\65nd\n");
    assert_drawn(g, "mermaid", 1,
                 "graph TD\n  __start__([start])\n  a[a]\n  \\65nd[end]\n  __end__([end])\n"
                 "  subgraph sub[sub]\n    sub\\3aend[end]\n    sub\\3am[m]\n"
                 "    sub\\3asub[[sub]]\n  end\n  __start__ --> a\n  a --> sub\\3am\n"
                 "  \\65nd --> __end__\n  sub\\3aend --> \\65nd\n"
                 "  sub\\3am --> sub\\3asub\n  sub\\3asub --> sub\\3aend\n");
    assert_drawn(
        g, "dot", -1,
        "digraph \"g\" {\n  \"__start__\" [shape=oval,label=\"start\"];\n"
        "  \"a\" [shape=box];\n  \"end\" [shape=box];\n"
        "  \"__end__\" [shape=oval,label=\"end\"];\n  subgraph \"cluster_sub\" {\n"
        "    label=\"sub\";\n    \"sub:end\" [shape=box,label=\"end\"];\n"
        "    \"sub:m\" [shape=box,label=\"m\"];\n    subgraph \"cluster_sub:sub\" {\n"
        "      label=\"sub\";\n      \"sub:sub:end\" [shape=box,label=\"end\"];\n"
        "      \"sub:sub:say \\\"x\\\"\" [shape=box,label=\"say \\\"x\\\"\"];\n    }\n  }\n"
        "  \"__start__\" -> \"a\";\n  \"a\" -> \"sub:m\";\n  \"end\" -> \"__end__\";\n"
        "  \"sub:end\" -> \"end\";\n  \"sub:m\" -> \"sub:sub:say \\\"x\\\"\";\n"
        "  \"sub:sub:end\" -> \"sub:end\";\n"
        "  \"sub:sub:say \\\"x\\\"\" -> \"sub:sub:end\";\n}\n");
    char *text = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_ok(
        pons_graph_draw_as(g, &(pons_draw_options){.format = "langgraph", .xray = 1}, &text, &err));
    pons_autovalue v = json(text);
    free(text);
    assert_json(json_array_get(pons_get(v, "nodes"), 0),
                "{'id':'__start__','type':'runnable','data':{'id':['pons','graph','node'],"
                "'name':'__start__'}}");
    assert_json(json_array_get(pons_get(v, "nodes"), 3), "{'id':'__end__'}");
    assert_json(pons_get(v, "edges"),
                "[{'source':'__start__','target':'a'},{'source':'a','target':'sub:m'},"
                "{'source':'end','target':'__end__'},{'source':'sub:end','target':'end'},"
                "{'source':'sub:m','target':'sub:sub'},{'source':'sub:sub','target':'sub:end'}]");
    pons_graph_destroy(g);
    pons_graph_destroy(mid);
    pons_graph_destroy(in);
}

// Twice as many nodes at every level: told, not drawn for ever.
static void a_drawing_has_an_end(void **state)
{
    (void)state;
    enum { LEVELS = 16 };
    pons_graph *g[LEVELS] = {nest("level", NULL, "n")};
    for (int i = 1; i < LEVELS; i++) {
        pons_graph_builder *gb = pons_graph_builder_create("level");
        pons_graph_subgraph(gb, "a", g[i - 1], PONS_SUBGRAPH_INHERIT);
        pons_graph_subgraph(gb, "b", g[i - 1], PONS_SUBGRAPH_INHERIT);
        pons_graph_edge(gb, PONS_START, "a");
        pons_graph_edge(gb, "a", "b");
        pons_graph_edge(gb, "b", PONS_END);
        g[i] = compile(gb, NULL);
    }
    pons_error err = PONS_ERROR_INIT;
    char *text = NULL;
    const pons_draw_options all = {.format = "json", .xray = -1};
    assert_int_equal(pons_graph_draw_as(g[LEVELS - 1], &all, &text, &err), PONS_EINVAL);
    assert_string_equal(err.message, "graph level has more than 5000 nodes with its subgraphs: "
                                     "open fewer levels");
    for (int i = 0; i < LEVELS; i++) {
        pons_graph_destroy(g[i]);
    }
}

static void however_many_faults_there_are(void **state)
{
    (void)state;
    static const char *const goes[] = {"nowhere", NULL}, *const on[] = {"unseen", NULL};
    pons_graph_builder *gb = pons_graph_builder_create("many");
    char name[16];
    for (int i = 0; i < 100; i++) { // more than a message has room for
        snprintf(name, sizeof name, "n%02d", i);
        pons_graph_node(gb, name, node_log, NULL);
        pons_graph_edge(gb, name, "missing");
    }
    pons_graph_node_options(
        gb, "n00",
        &(pons_node_options){.goes = goes, .cache = true, .cache_on = on, .error_handler = "n00"});
    pons_graph_node_options(gb, "ghost", &(pons_node_options){.deferred = true});
    pons_error err = PONS_ERROR_INIT;
    pons_value *list = NULL;
    assert_ok(pons_graph_faults(gb, NULL, &list, &err));
    char *text = NULL;
    assert_true(pons_value_dump(list, &text) > 0);
    static const char *const parts[] = {
        "unknown node 'missing' at the end of an edge",
        "unknown node 'nowhere' at the end of an edge",
        "node 'n00' is cached on unknown channel 'unseen'",
        "node 'n00' can't have 'n00' as its error handler",
        "unknown node 'ghost' is given options",
        "no edge leaves START",
        "node 'n00' can't be reached from START",
        "node 'n99' can't be reached from START",
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!strstr(text, parts[i])) {
            fail_msg("missing \"%s\"", parts[i]);
        }
    }
    assert_true(json_array_size(list) > 200);
    free(text);
    pons_value_unref(list);
    pons_graph *g = NULL;
    assert_int_equal(pons_graph_compile(gb, NULL, &g, &err), PONS_EINVAL);
    pons_graph_builder_destroy(gb);
    gb = pons_graph_builder_create("fine");
    pons_graph_node(gb, "a", node_log, NULL);
    pons_graph_edge(gb, PONS_START, "a");
    pons_graph_edge(gb, "a", PONS_END);
    assert_ok(pons_graph_faults(gb, NULL, &list, &err));
    assert_int_equal(json_array_size(list), 0);
    pons_value_unref(list);
    pons_graph_builder_destroy(gb);
}

static void a_router_may_only_go_where_it_said(void **state)
{
    (void)state;
    static const char *const to[] = {"b", NULL};
    bed b;
    bed_open(&b);
    pons_graph_builder *gb = pons_graph_builder_create("stray");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    pons_graph_node(gb, "a", node_log, NULL);
    pons_graph_node(gb, "b", node_log, NULL);
    pons_graph_edge(gb, PONS_START, "a");
    pons_graph_router(gb, "a", route, (void *)(uintptr_t) "a", to);
    pons_graph_edge(gb, "b", PONS_END);
    pons_graph *g = compile(gb, NULL);
    pons_run *r = run_to(&b, g, "", NULL, PONS_RUN_FAILED);
    assert_non_null(strstr(pons_run_error(r)->message, "has not named"));
    pons_run_destroy(r);
    pons_graph_destroy(g);
    bed_close(&b);
}

// A graph that did not compile is often just passed on.
static void no_graph_is_an_error(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    pons_run *r = NULL;
    pons_value *v = NULL;
    char *text = NULL;
    const char *node = NULL;
    const pons_command go = {0};
    const pons_state_change change = {0};
    const int got[] = {
        pons_graph_invoke(NULL, b.store, "t2", json_null(), NULL, NULL, &v, &b.err),
        pons_run_start(b.t, NULL, "", NULL, NULL, &r, &b.err),
        pons_run_resume(b.t, NULL, "", NULL, &r, &b.err),
        pons_run_command(b.t, NULL, "", &go, NULL, &r, &b.err),
        pons_run_submit(b.t, NULL, "", NULL, PONS_BUSY_ENQUEUE, NULL, &r, &b.err),
        pons_run_fork(b.t, NULL, "", "x", NULL, NULL, &r, &b.err),
        pons_state_update(b.t, NULL, "", NULL, NULL, NULL, &b.err),
        pons_state_update_bulk(b.t, NULL, "", &(pons_state_step){&change, 1}, 1, NULL, &b.err),
        pons_graph_schemas(NULL, &v, &b.err),
        pons_graph_draw(NULL, "mermaid", &text, &b.err),
        pons_graph_cache_clear(NULL, b.store, NULL, &b.err),
    };
    for (size_t i = 0; i < sizeof got / sizeof *got; i++) {
        assert_int_equal(got[i], PONS_EINVAL);
    }
    assert_non_null(strstr(b.err.message, "no graph was given"));
    assert_string_equal(pons_graph_name(NULL), "");
    assert_null(pons_graph_sub(NULL, 0, &node));
    pons_graph_destroy(NULL);
    bed_close(&b);
}

int main(void)
{
    pons_value_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fault_at_once),
        cmocka_unit_test(paths_are_checked),
        cmocka_unit_test(however_many_faults_there_are),
        cmocka_unit_test(drawings_name_every_edge),
        cmocka_unit_test(what_is_not_meant_is_not_drawn),
        cmocka_unit_test(drawings_open_subgraphs),
        cmocka_unit_test(a_drawing_has_an_end),
        cmocka_unit_test(a_router_may_only_go_where_it_said),
        cmocka_unit_test(no_graph_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
