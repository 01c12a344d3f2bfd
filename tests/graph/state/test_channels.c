// test_channels.c - what the writes of one step make of each kind of channel. Nodes a, b, c (in
// that order of names) write what a case gives them; the case names the value that must come out.
#include "graph/graph_help.h"
#include "pons/log.h"

#include <stdio.h>
#include <string.h>

typedef struct script { // what node a, b, c write to "x": lists of updates, or NULL
    const char *a, *b, *c;
} script;

static int node_script(pons_cx *cx, void *user, pons_error *err)
{
    (void)err;
    const script *s = user;
    const char *node = pons_cx_node(cx);
    const char *text = node[0] == 'a' ? s->a : node[0] == 'b' ? s->b : s->c;
    if (!text) {
        return PONS_OK;
    }
    pons_autovalue list = json(text);
    size_t i;
    pons_value *v;
    json_array_foreach(list, i, v) {
        int st = pons_cx_put(cx, "x", pons_value_ref(v));
        if (st != PONS_OK) {
            return st;
        }
    }
    return PONS_OK;
}

typedef struct example {
    const char *name;
    pons_channel_kind kind;
    const pons_reducer_fn *reduce;
    const char *initial; // as input, or NULL
    script s;
    const char *want; // NULL: it stays empty
    int status;       // of a failing run
} example;

static pons_graph *three(const example *e)
{
    pons_graph_builder *gb = pons_graph_builder_create("three");
    channel(gb, "x", e->kind, e->reduce ? *e->reduce : NULL);
    static const char *const names[] = {"a", "b", "c"};
    for (int i = 0; i < 3; i++) {
        pons_graph_node(gb, names[i], node_script, (void *)(uintptr_t)&e->s);
        pons_graph_edge(gb, PONS_START, names[i]);
        pons_graph_edge(gb, names[i], PONS_END);
    }
    return compile(gb, NULL);
}

static const example examples[] = {
    {"last, one writer", PONS_CHANNEL_LAST, NULL, "1", {"[2]", NULL, NULL}, "2", 0},
    {"last, nobody writes", PONS_CHANNEL_LAST, NULL, "1", {NULL, NULL, NULL}, "1", 0},
    {"last, twice by one node", PONS_CHANNEL_LAST, NULL, NULL, {"[2,3]", NULL, NULL}, "3", 0},
    {"last, two writers",
     PONS_CHANNEL_LAST,
     NULL,
     "1",
     {"[2]", "[3]", NULL},
     "1",
     PONS_ECONCURRENT},
    {"any, last in task order", PONS_CHANNEL_ANY, NULL, NULL, {"[2]", "[3]", NULL}, "3", 0},
    {"any, nobody writes", PONS_CHANNEL_ANY, NULL, "1", {NULL, NULL, NULL}, NULL, 0},
    {"ephemeral, cleared", PONS_CHANNEL_EPHEMERAL, NULL, "1", {NULL, NULL, NULL}, NULL, 0},
    {"ephemeral, written", PONS_CHANNEL_EPHEMERAL, NULL, "1", {"[2]", NULL, NULL}, "2", 0},
    {"topic flattens",
     PONS_CHANNEL_TOPIC,
     NULL,
     "['old']",
     {"[1]", "[[2,3],4]", NULL},
     "[1,2,3,4]",
     0},
    {"topic, cleared", PONS_CHANNEL_TOPIC, NULL, "['old']", {NULL, NULL, NULL}, NULL, 0},
    {"topic that accumulates",
     PONS_CHANNEL_TOPIC_ACC,
     NULL,
     "['old']",
     {"[[1]]", NULL, "[2]"},
     "['old',1,2]",
     0},
    {"untracked", PONS_CHANNEL_UNTRACKED, NULL, "1", {NULL, "[5]", NULL}, "5", 0},
    {"append",
     PONS_CHANNEL_REDUCE,
     &pons_reduce_append,
     "[0]",
     {"[[1]]", "[2]", "[[],[3,4]]"},
     "[0,1,2,3,4]",
     0},
    {"add", PONS_CHANNEL_REDUCE, &pons_reduce_add, "1", {"[1,1]", "[0.5]", NULL}, "3.5", 0},
    {"add a word",
     PONS_CHANNEL_REDUCE,
     &pons_reduce_add,
     "1",
     {"['x']", NULL, NULL},
     "1",
     PONS_EINVAL},
    {"merge",
     PONS_CHANNEL_REDUCE,
     &pons_reduce_merge,
     "{'k':1,'gone':1}",
     {"[{'k':2}]", "[{'gone':null,'n':3}]", NULL},
     "{'k':2,'n':3}",
     0},
    {"union",
     PONS_CHANNEL_REDUCE,
     &pons_reduce_union,
     "[1,2]",
     {"[[2,3]]", "[1,4]", NULL},
     "[1,2,3,4]",
     0},
    {"overwrite",
     PONS_CHANNEL_REDUCE,
     &pons_reduce_append,
     "[0]",
     {"[1]", "[{'__overwrite__':[9]}]", "[2]"},
     "[9]",
     0},
    {"overwrite twice",
     PONS_CHANNEL_REDUCE,
     &pons_reduce_append,
     "[0]",
     {"[{'__overwrite__':[1]}]", "[{'__overwrite__':[2]}]", NULL},
     "[0]",
     PONS_ECONCURRENT},
    {"overwrite a merge",
     PONS_CHANNEL_REDUCE,
     &pons_reduce_merge,
     "{'k':1}",
     {"[{'__overwrite__':{'z':1}}]", "[{'k':2}]", NULL},
     "{'z':1}",
     0},
    {"messages, new",
     PONS_CHANNEL_MESSAGES,
     NULL,
     "[{'id':'1','t':'a'}]",
     {"[{'id':'2','t':'b'}]", "[[{'id':'3'}]]", NULL},
     "[{'id':'1','t':'a'},{'id':'2','t':'b'},{'id':'3'}]",
     0},
    {"messages, replaced in place",
     PONS_CHANNEL_MESSAGES,
     NULL,
     "[{'id':'1','t':'a'},{'id':'2'}]",
     {"[{'id':'1','t':'z'}]", NULL, NULL},
     "[{'id':'1','t':'z'},{'id':'2'}]",
     0},
    {"messages, removed",
     PONS_CHANNEL_MESSAGES,
     NULL,
     "[{'id':'1'},{'id':'2'}]",
     {"[{'type':'remove','id':'1'}]", NULL, NULL},
     "[{'id':'2'}]",
     0},
    {"messages, removed and written again",
     PONS_CHANNEL_MESSAGES,
     NULL,
     "[{'id':'1'},{'id':'2'}]",
     {"[[{'type':'remove','id':'1'},{'id':'1','t':'back'}]]", NULL, NULL},
     "[{'id':'1','t':'back'},{'id':'2'}]",
     0},
    {"messages, unknown removal",
     PONS_CHANNEL_MESSAGES,
     NULL,
     "[{'id':'1'}]",
     {"[{'type':'remove','id':'9'}]", NULL, NULL},
     "[{'id':'1'}]",
     PONS_EINVAL},
    {"messages, all removed",
     PONS_CHANNEL_MESSAGES,
     NULL,
     "[{'id':'1'}]",
     {"[[{'id':'2'},{'type':'remove','id':'__remove_all__'},{'id':'3'}]]", NULL, NULL},
     "[{'id':'3'}]",
     0},
    {"messages, the same id twice",
     PONS_CHANNEL_MESSAGES,
     NULL,
     NULL,
     {"[[{'id':'1','t':1},{'id':'1','t':2}]]", "[{'id':'1','t':3}]", NULL},
     "[{'id':'1','t':3}]",
     0},
    {"messages, not an object",
     PONS_CHANNEL_MESSAGES,
     NULL,
     NULL,
     {"['hi']", NULL, NULL},
     NULL,
     PONS_EINVAL},
};

static void check_example(const example *e)
{
    bed b;
    bed_open(&b);
    pons_graph *g = three(e);
    char input[256] = "{}";
    if (e->initial) {
        snprintf(input, sizeof input, "{'x':%s}", e->initial);
    }
    pons_run *r = run_to(&b, g, "", input, e->status ? PONS_RUN_FAILED : PONS_RUN_DONE);
    assert_int_equal(pons_run_error(r)->status, e->status);
    if (e->want) {
        assert_json(pons_run_get(r, "x"), e->want);
    } else {
        assert_null(pons_run_get(r, "x"));
    }
    pons_run_destroy(r);
    pons_autovalue v = NULL; // and the store says the same
    assert_ok(pons_state_read(b.store, "t1", "", &v, &b.err));
    if (e->want && e->kind != PONS_CHANNEL_UNTRACKED) {
        assert_json(pons_get(v, "x"), e->want);
    } else {
        assert_null(pons_get(v, "x"));
    }
    pons_graph_destroy(g);
    bed_close(&b);
}

static void every_kind_of_channel(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        print_message("  %s\n", examples[i].name);
        check_example(&examples[i]);
    }
}

static int node_writes(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    pons_cx_put(cx, "x", json_integer(1));
    return pons_cx_put(cx, "m", json("{'t':'no id'}"));
}

static int route_looks(pons_cx *cx, void *user, pons_error *err)
{
    (void)err;
    *(pons_value **)user = json_deep_copy(pons_cx_get(cx, "x"));
    pons_cx_goto(cx, json_array_size(pons_cx_get(cx, "m")) == 1 ? PONS_END : "n");
    return PONS_OK;
}

static void a_router_sees_its_own_nodes_writes(void **state)
{
    (void)state;
    static const char *const to[] = {"n", PONS_END, NULL};
    pons_value *seen = NULL;
    bed b;
    bed_open(&b);
    pons_graph_builder *gb = pons_graph_builder_create("view");
    channel(gb, "x", PONS_CHANNEL_REDUCE, pons_reduce_append);
    channel(gb, "m", PONS_CHANNEL_MESSAGES, NULL);
    pons_graph_node(gb, "n", node_writes, NULL);
    pons_graph_node(gb, "o", node_writes, NULL); // a sibling's writes it does not see
    pons_graph_edge(gb, PONS_START, "n");
    pons_graph_edge(gb, PONS_START, "o");
    pons_graph_edge(gb, "o", PONS_END);
    pons_graph_router(gb, "n", route_looks, &seen, to);
    pons_graph *g = compile(gb, NULL);
    pons_run *r = run_to(&b, g, "", "{'x':[0]}", PONS_RUN_DONE);
    assert_json(seen, "[0,1]");
    assert_json(pons_run_get(r, "x"), "[0,1,1]");
    assert_int_equal(json_array_size(pons_run_get(r, "m")), 2);
    assert_true(strlen(pons_get_str(json_array_get(pons_run_get(r, "m"), 0), "id", "")) == 26);
    pons_value_unref(seen);
    pons_run_destroy(r);
    pons_graph_destroy(g);
    bed_close(&b);
}

static void initial_values_are_there_and_shared(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    pons_autovalue first = json("[7]");
    pons_graph_builder *gb = pons_graph_builder_create("initial");
    pons_graph_channel(gb, "x",
                       &(pons_channel_options){.kind = PONS_CHANNEL_REDUCE,
                                               .reduce = pons_reduce_append,
                                               .initial = first});
    channel(gb, "m", PONS_CHANNEL_MESSAGES, NULL);
    pons_graph_node(gb, "n", node_writes, NULL);
    pons_graph_edge(gb, PONS_START, "n");
    pons_graph_edge(gb, "n", PONS_END);
    pons_graph *g = compile(gb, NULL);
    for (int i = 0; i < 2; i++) {
        pons_run *r = run_to(&b, g, i ? "other" : "", NULL, PONS_RUN_DONE);
        assert_json(pons_run_get(r, "x"), "[7,1]");
        pons_run_destroy(r);
    }
    assert_json(first, "[7]"); // appending in place never touches what others hold
    pons_graph_destroy(g);
    bed_close(&b);
}

typedef struct received {
    int n;
    char last[256];
} received;

static void hear(void *user, const pons_log_record *r)
{
    received *h = user;
    h->n += r->level == PONS_LOG_WARN && strcmp(r->module, "graph") == 0;
    snprintf(h->last, sizeof h->last, "%s", r->message);
}

static int node_nowhere(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    assert_int_equal(pons_cx_put(cx, "nowhere", json("[1]")), PONS_OK);
    pons_command c = {.update = json("{'elsewhere':2,'log':'kept'}")};
    return pons_cx_command(cx, &c, err);
}

// An unknown channel is a warning at run, and nothing else; from outside it is an error.
static void a_write_to_nowhere_is_dropped_with_a_warning(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    received h = {0};
    pons_log_set_sink(hear, &h);
    pons_graph_builder *gb = pons_graph_builder_create("nowhere");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    pons_graph_node(gb, "n", node_nowhere, NULL);
    pons_graph_edge(gb, PONS_START, "n");
    pons_graph_edge(gb, "n", PONS_END);
    pons_graph *g = compile(gb, NULL);
    pons_run *r = run_to(&b, g, "", NULL, PONS_RUN_DONE);
    assert_json(pons_run_get(r, "log"), "['kept']");
    assert_int_equal(h.n, 2);
    assert_string_equal(h.last,
                        "thread t1 step 1: node 'n' writes unknown channel 'elsewhere': dropped");
    pons_run_destroy(r);
    pons_autovalue in = json("{'nowhere':1}");
    assert_int_equal(pons_run_start(b.t, g, "", in, NULL, &r, &b.err), PONS_EINVAL);
    assert_non_null(strstr(b.err.message, "'nowhere'"));
    assert_int_equal(pons_state_update(b.t, g, "", in, "n", NULL, &b.err), PONS_EINVAL);
    pons_log_set_sink(NULL, NULL);
    pons_graph_destroy(g);
    bed_close(&b);
}

int main(void)
{
    pons_value_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_channel),
        cmocka_unit_test(a_router_sees_its_own_nodes_writes),
        cmocka_unit_test(initial_values_are_there_and_shared),
        cmocka_unit_test(a_write_to_nowhere_is_dropped_with_a_warning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
