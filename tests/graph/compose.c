// compose.c - see compose.h.
#include "graph/compose.h"

#include "graph/place.h"
#include "graph/spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pons_run *start_with(bed *b, const pons_graph *g, const pons_run_options *o,
                            pons_run_state want)
{
    pons_run *r = NULL;
    assert_ok(pons_run_start(b->t, g, "", NULL, o, &r, &b->err));
    assert_ok(pons_run_advance(r, &b->err));
    assert_int_equal(pons_run_state_get(r), want);
    return r;
}

static void breakpoints_of_one_run(void **state)
{
    place p;
    open_place(&p, state);
    spec_node n[] = {{"a", "put log 'a'", "b"}, {"b", "put log 'b'", "END"}, {NULL}};
    pons_graph *g = spec_compile(&(spec_graph){"a", n});
    static const char *const all[] = {"*", NULL}, *const only[] = {"a", NULL},
                             *const ghost[] = {"ghost", NULL};
    pons_run *r = start_with(&p.b, g, &(pons_run_options){.interrupt_before = all},
                             PONS_RUN_INTERRUPTED); // before a
    assert_ok(pons_run_resume_value(r, NULL, &p.b.err));
    assert_ok(pons_run_advance(r, &p.b.err));
    assert_json(pons_run_get(r, "log"), "['a']"); // before b
    assert_int_equal(pons_run_state_get(r), PONS_RUN_INTERRUPTED);
    pons_run_destroy(r);
    r = start_with(&p.b, g, &(pons_run_options){.interrupt_after = only}, PONS_RUN_INTERRUPTED);
    assert_json(pons_run_get(r, "log"), "['a','a']");
    pons_run_destroy(r);
    pons_run_destroy(start_with(&p.b, g, NULL, PONS_RUN_DONE)); // the next one has none
    assert_int_equal(pons_run_start(p.b.t, g, "", NULL,
                                    &(pons_run_options){.interrupt_before = ghost}, &r, &p.b.err),
                     PONS_EINVAL);
    assert_non_null(strstr(p.b.err.message, "'ghost'"));
    pons_graph_destroy(g);
    static const spec_node again[] = {
        {"a", "put log 'a'", "b"}, {"b", "put log 'b'", "END"}, {NULL}};
    spec_node m[3];
    memcpy(m, again, sizeof m);
    g = spec_compile(&(spec_graph){"a", m, .opts = &(pons_graph_options){.interrupt_before = all}});
    pons_run_destroy(start_with(&p.b, g, NULL, PONS_RUN_INTERRUPTED));
    pons_graph_destroy(g);
    close_place(&p);
}

static int node_context(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    ++*(int *)pons_cx_context_user(cx);
    return pons_cx_put(cx, "log", pons_value_ref(pons_cx_context(cx)));
}

static void a_context_reaches_subgraphs_and_no_store(void **state)
{
    place p;
    open_place(&p, state);
    pons_graph *g[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        pons_graph_builder *gb = pons_graph_builder_create("g");
        channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
        pons_graph_node(gb, "n", node_context, NULL);
        pons_graph_edge(gb, PONS_START, "n");
        pons_graph_edge(gb, "n", i ? "sub" : PONS_END);
        if (i) {
            pons_graph_subgraph(gb, "sub", g[0], PONS_SUBGRAPH_INHERIT);
            pons_graph_edge(gb, "sub", PONS_END);
        }
        g[i] = compile(gb, NULL);
    }
    int seen = 0;
    pons_value *who = json("{'who':'me'}");
    pons_run_options o = {.context = who, .context_user = &seen};
    pons_run *r = NULL;
    assert_ok(pons_run_start(p.b.t, g[1], "", NULL, &o, &r, &p.b.err));
    pons_value_unref(who); // the run holds it
    assert_ok(pons_run_advance(r, &p.b.err));
    assert_json(pons_run_get(r, "log"), "[{'who':'me'},{'who':'me'}]");
    assert_int_equal(seen, 2);
    pons_run_destroy(r);
    pons_graph_destroy(g[1]);
    pons_graph_destroy(g[0]);
    close_place(&p);
}

static void one_call_runs_asks_and_goes_on(void **state)
{
    place p;
    open_place(&p, state);
    pons_error err = PONS_ERROR_INIT;
    pons_value *s = NULL;
    spec_node n[] = {{"a", "put log 'a'; ask 'ok?'", "END"}, {NULL}};
    pons_graph *g = spec_compile(&(spec_graph){"a", n});
    pons_autovalue in = json("{'last':1}");
    pons_autovalue yes = json("'yes'");
    assert_int_equal(pons_graph_invoke(g, p.store, "t", NULL, NULL, NULL, &s, &err),
                     PONS_ENOTFOUND);
    assert_ok(pons_graph_invoke(g, p.store, "t", in, NULL, NULL, &s, &err));
    assert_json(pons_get(json_array_get(pons_get(s, "__interrupt__"), 0), "value"), "'ok?'");
    pons_value_unref(s);
    assert_ok(pons_graph_invoke(g, p.store, "t", NULL, yes, NULL, &s, &err));
    assert_json(s, "{'last':1,'log':['a','yes']}");
    pons_value_unref(s);
    assert_ok(pons_graph_invoke(g, p.store, "t", NULL, NULL, NULL, &s, &err)); // what has ended
    assert_json(s, "{'last':1,'log':['a','yes']}");
    pons_value_unref(s);
    assert_int_equal(pons_graph_invoke(g, p.store, "t", in, yes, NULL, &s, &err), PONS_EINVAL);
    pons_graph_destroy(g);
    close_place(&p);
}

static int tries;
static int fails_once(pons_cx *cx, void *user, pons_error *err)
{
    (void)cx;
    (void)user;
    return ++tries % 2 ? pons_error_set(err, PONS_EIO, "test", "not yet") : PONS_OK;
}

static void policies_for_all_nodes(void **state)
{
    place p;
    open_place(&p, state);
    pons_graph_builder *gb = pons_graph_builder_create("g");
    pons_graph_node(gb, "a", fails_once, NULL);
    pons_graph_node(gb, "b", fails_once, NULL);
    pons_graph_node_options(gb, "b", &(pons_node_options){.retry = {.attempts = 1}});
    pons_graph_defaults(gb, &(pons_node_options){.retry = {.attempts = 2}});
    pons_graph_edge(gb, PONS_START, "a");
    pons_graph_edge(gb, "a", "b");
    pons_graph_edge(gb, "b", PONS_END);
    pons_graph *g = compile(gb, NULL);
    tries = 0;
    pons_run *r = start_with(&p.b, g, NULL, PONS_RUN_FAILED); // b's own says: once
    assert_int_equal(tries, 3);
    pons_run_destroy(r);
    pons_graph_destroy(g);
    close_place(&p);
}

static void channels_are_mapped(void **state)
{
    place p;
    open_place(&p, state);
    spec_node in[] = {{"see", "see last; put sum 5", "END"}, {NULL}};
    pons_graph *sub = spec_compile(&(spec_graph){"see", in});
    static const pons_share to[] = {{"question", "last"}, {NULL, NULL}};
    static const pons_share from[] = {{"answers", "log"}, {NULL, NULL}};
    static const pons_share wrong[] = {{"answers", "ghost"}, {NULL, NULL}};
    for (int bad = 0; bad < 2; bad++) {
        pons_graph_builder *gb = pons_graph_builder_create("outer");
        channel(gb, "question", PONS_CHANNEL_LAST, NULL);
        channel(gb, "answers", PONS_CHANNEL_REDUCE, pons_reduce_append);
        channel(gb, "sum", PONS_CHANNEL_LAST, NULL);
        pons_graph_subgraph_mapped(gb, "sub", sub, PONS_SUBGRAPH_INHERIT, to, bad ? wrong : from);
        pons_graph_edge(gb, PONS_START, "sub");
        pons_graph_edge(gb, "sub", PONS_END);
        pons_graph *g = NULL;
        if (bad) {
            assert_int_equal(pons_graph_compile(gb, NULL, &g, &p.b.err), PONS_EINVAL);
            assert_non_null(strstr(p.b.err.message, "'ghost'"));
            pons_graph_builder_destroy(gb);
            break;
        }
        g = compile(gb, NULL);
        pons_run_destroy(
            spec_run(&p.b, g, "{'question':'why?','answers':['old']}", 0, PONS_RUN_DONE));
        spec_state(&p.b, "", "{'question':'why?','answers':['old','why?']}"); // sum is its own
        pons_graph_destroy(g);
    }
    pons_graph_destroy(sub);
    close_place(&p);
}

// "tasks" says what triggered a task, whether the cache gave it, and what it asks.
static void task_events_say_why_and_what(void **state)
{
    place p;
    open_place(&p, state);
    spec_node n[] = {{"a", "send z {}", "", NULL}, {"z", "ask 'ok?'", "END"}, {NULL}};
    pons_graph *g = spec_compile(&(spec_graph){"a", n});
    pons_run *r = spec_run(&p.b, g, NULL, PONS_STREAM_TASKS, PONS_RUN_INTERRUPTED);
    spec_events(&p.b, PONS_STREAM_TASKS, false,
                "[{'id':'#1','name':'a','input':{},'triggers':['branch:to:a']},"
                "{'id':'#1','name':'a','result':{},'error':null,'cached':false,'interrupts':[]},"
                "{'id':'#2','name':'z','input':{},'triggers':['__pregel_push']},"
                "{'id':'#2','name':'z','result':{},'error':null,'cached':false,"
                "'interrupts':[{'id':'#3','value':'ok?'}]}]");
    pons_run_destroy(r);
    pons_graph_destroy(g);
    close_place(&p);
}

int compose_run(const fault_store *kind)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(breakpoints_of_one_run),
        cmocka_unit_test(a_context_reaches_subgraphs_and_no_store),
        cmocka_unit_test(one_call_runs_asks_and_goes_on),
        cmocka_unit_test(policies_for_all_nodes),
        cmocka_unit_test(channels_are_mapped),
        cmocka_unit_test(task_events_say_why_and_what),
    };
    struct CMUnitTest of_kind[sizeof tests / sizeof *tests];
    memcpy(of_kind, tests, sizeof tests);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        of_kind[i].initial_state = (void *)(uintptr_t)kind;
    }
    return cmocka_run_group_tests(of_kind, NULL, NULL);
}
