// test_spec_superstep.c - conformance: the superstep loop, applying writes, compilation. Each case
// quotes its sentence and compares every streamed event and every stored checkpoint.
#include "graph/spec.h"

#include <stdlib.h>
#include <string.h>

// "The input checkpoint is step -1, the __start__ task step 0, nodes from step 1."
static void steps_are_numbered_from_the_input(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    spec_node n[] = {{"a", "put log 'a'", "b"}, {"b", "put log 'b'", "END"}, {NULL}};
    pons_graph *g = spec_compile(&(spec_graph){"a", n});
    pons_run_destroy(spec_run(&b, g, "{'last':1}", SPEC_ALL, PONS_RUN_DONE));
    spec_events(&b, SPEC_ALL, false,
                "[['values',{'last':1}],['updates',{'a':{'log':'a'}}],"
                "['values',{'last':1,'log':['a']}],['updates',{'b':{'log':'b'}}],"
                "['values',{'last':1,'log':['a','b']}]]");
    spec_checkpoints(&b, "",
                     "[[-1,'input',['__start__'],{}],[0,'loop',['a'],{'last':1}],"
                     "[1,'loop',['b'],{'last':1,'log':['a']}],"
                     "[2,'loop',[],{'last':1,'log':['a','b']}]]");
    // A second invocation goes on counting, with an input checkpoint of its own.
    pons_run_destroy(spec_run(&b, g, "{'last':2}", 0, PONS_RUN_DONE));
    spec_checkpoints(&b, "",
                     "[[-1,'input',['__start__'],{}],[0,'loop',['a'],{'last':1}],"
                     "[1,'loop',['b'],{'last':1,'log':['a']}],"
                     "[2,'loop',[],{'last':1,'log':['a','b']}],"
                     "[3,'input',['__start__'],{'last':1,'log':['a','b']}],"
                     "[4,'loop',['a'],{'last':2,'log':['a','b']}],"
                     "[5,'loop',['b'],{'last':2,'log':['a','b','a']}],"
                     "[6,'loop',[],{'last':2,'log':['a','b','a','b']}]]");
    pons_graph_destroy(g);
    bed_close(&b);
}

// "Load checkpoint → take input or resume": another process goes on where the first one stopped.
static void a_resume_loads_the_checkpoint(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    spec_node n[] = {{"a", "put log 'a'", "b"}, {"b", "put log 'b'", "END"}, {NULL}};
    pons_graph *g = spec_compile(&(spec_graph){"a", n});
    pons_run *r = NULL;
    pons_run_options o = {.durability = PONS_DURABILITY_SYNC, .stream = SPEC_UPDATES};
    assert_ok(pons_run_start(b.t, g, "", NULL, &o, &r, &b.err));
    assert_ok(pons_run_step(r, &b.err));
    pons_run_destroy(r);
    bed_thread(&b);
    pons_run_destroy(spec_resume(&b, g, SPEC_UPDATES, PONS_RUN_DONE));
    spec_events(&b, SPEC_UPDATES, false, "[{'a':{'log':'a'}},{'b':{'log':'b'}}]");
    assert_int_equal(n[0].runs, 1);
    pons_run_destroy(spec_resume(&b, g, 0, PONS_RUN_DONE)); // it had ended
    assert_int_equal(n[0].runs + n[1].runs, 2);
    pons_graph_destroy(g);
    bed_close(&b);
}

// "recursion_limit (default 100, per invocation): exceeding it is GRAPH_RECURSION_LIMIT, tested
// before preparing tasks, so k node supersteps need a limit >= k+1."
static void the_limit_is_exact(void **state)
{
    (void)state;
    for (int limit = 1; limit <= 5; limit++) {
        bed b;
        bed_open(&b);
        spec_node n[] = {
            {"a", "put sum 1", "b"}, {"b", "put sum 1", "c"}, {"c", "put sum 1", "END"}, {NULL}};
        pons_graph *g = spec_compile(&(spec_graph){"a", n});
        pons_run *r = NULL;
        pons_run_options o = {.durability = PONS_DURABILITY_SYNC, .recursion_limit = limit};
        for (int again = 0; again < 2; again++) { // per invocation
            assert_ok(pons_run_start(b.t, g, "", NULL, &o, &r, &b.err));
            assert_ok(pons_run_advance(r, &b.err));
            assert_int_equal(pons_run_state_get(r), limit >= 4 ? PONS_RUN_DONE : PONS_RUN_FAILED);
            assert_int_equal(pons_run_supersteps(r), limit >= 3 ? 3 : limit);
            assert_int_equal(pons_run_error(r)->status, limit >= 4 ? PONS_OK : PONS_ERECURSION);
            pons_run_destroy(r);
        }
        // What it had done is stored; a resume has a limit of its own.
        if (limit < 3) {
            r = spec_resume(&b, g, 0, PONS_RUN_DONE);
            assert_int_equal(pons_run_supersteps(r), 3 - limit);
            pons_run_destroy(r);
        }
        pons_graph_destroy(g);
        bed_close(&b);
    }
    assert_string_equal(pons_status_word(PONS_ERECURSION), "GRAPH_RECURSION_LIMIT");
}

static void the_default_limit_is_a_hundred(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    spec_node n[] = {{"a", "put sum 1; goto a", ""}, {NULL}};
    pons_graph *g = spec_compile(&(spec_graph){"a", n});
    pons_run *r = spec_run(&b, g, NULL, 0, PONS_RUN_FAILED);
    assert_json(pons_run_get(r, "sum"), "100");
    pons_run_destroy(r);
    pons_graph_destroy(g);
    bed_close(&b);
}

// "sort tasks by path (triggered nodes by name, then Sends by index)" and "The order in which tasks
// finish never affects state": the one that waits finishes last and is written first.
static void the_order_of_finishing_does_not_matter(void **state)
{
    (void)state;
    static const char *const orders[] = {"012", "021", "102", "120", "201", "210"};
    for (size_t k = 0; k < sizeof orders / sizeof *orders; k++) {
        bed b;
        bed_open(&b);
        spec_node n[] = {{"split", "goto b; goto a; send s 2; send s 1", ""},
                         {"a", "await 'a'; put last 'a'; put sum 1", "END"},
                         {"b", "await 'b'; put obj {'k':'b','b':1}", "END"},
                         {"s", "await 's'; arg; put obj {'k':'s'}", "END"},
                         {NULL}};
        pons_graph *g = spec_compile(&(spec_graph){"split", n});
        pons_run *r = spec_run(&b, g, NULL, SPEC_VALUES, PONS_RUN_PARKED);
        char id[4][64];
        for (size_t i = 0; i < 4; i++) {
            spec_pending(r, i, id[i]);
        }
        for (size_t i = 0; i < 3; i++) {
            assert_ok(pons_run_answer(r, id[orders[k][i] - '0'], json("'yes'"), &b.err));
        }
        assert_ok(pons_run_advance(r, &b.err));
        assert_ok(pons_run_answer(r, id[3], json("'yes'"), &b.err));
        assert_ok(pons_run_advance(r, &b.err));
        assert_int_equal(pons_run_state_get(r), PONS_RUN_DONE);
        pons_run_destroy(r);
        spec_checkpoints(&b, "",
                         "[[-1,'input',['__start__'],{}],[0,'loop',['split'],{}],"
                         "[1,'loop',['a','b','s','s'],{}],"
                         "[2,'loop',[],{'log':['yes','yes','yes',2,'yes',1],'last':'a','sum':1,"
                         "'obj':{'k':'s','b':1}}]]");
        pons_graph_destroy(g);
        bed_close(&b);
    }
}

// "unknown channel = error at compile": where a graph names one.
// "Compile rejects: unknown node in an edge, unreachable node, node without a way out unless it is
// a leaf that ends, duplicate names, reserved names", every fault at once.
static void every_fault_at_once(void **state)
{
    (void)state;
    static const char *const on[] = {"nothing", NULL}, *const to[] = {"ghost", NULL};
    pons_graph_builder *gb = pons_graph_builder_create("faults");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    channel(gb, "log", PONS_CHANNEL_LAST, NULL);
    channel(gb, "__mine", PONS_CHANNEL_LAST, NULL);
    pons_graph_node(gb, "a", node_log, NULL);
    pons_graph_node(gb, "a", node_log, NULL);
    pons_graph_node(gb, "__b", node_log, NULL);
    pons_graph_node(gb, "alone", node_log, NULL);
    pons_graph_node(gb, "stuck", node_log, NULL);
    pons_graph_node(gb, "x:y", node_log, NULL);
    pons_graph_edge(gb, PONS_START, "a");
    pons_graph_edge(gb, "a", "stuck");
    pons_graph_edge(gb, "a", "nowhere");
    pons_graph_edge(gb, "alone", PONS_END);
    pons_graph_router(gb, "a", NULL, NULL, to);
    pons_graph_node_options(gb, "stuck", &(pons_node_options){.cache = true, .cache_on = on});
    pons_value *list = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_ok(pons_graph_faults(gb, NULL, &list, &err));
    static const char *const want[] = {"channel 'log' is declared twice",
                                       "channel '__mine' has a reserved name",
                                       "'a'",
                                       "'__b' has a reserved name",
                                       "'alone' can't be reached",
                                       "'stuck' has no way out",
                                       "'x:y' has ':' or '|'",
                                       "unknown node 'nowhere'",
                                       "'ghost'",
                                       "unknown channel 'nothing'"};
    for (size_t w = 0; w < sizeof want / sizeof *want; w++) {
        bool found = false;
        for (size_t i = 0; i < json_array_size(list); i++) {
            found = found || strstr(json_string_value(json_array_get(list, i)), want[w]);
        }
        if (!found) {
            fail_msg("no fault says %s", want[w]);
        }
    }
    pons_graph *g = NULL;
    assert_int_equal(pons_graph_compile(gb, NULL, &g, &err), PONS_EINVAL);
    assert_null(g);
    pons_value_unref(list);
    pons_graph_builder_destroy(gb);
}

// "A join edge [a,b]→c is a barrier over the names, reset when consumed."
static void a_join_is_reset_when_consumed(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    // a3 arrives in step 1, b in step 3: c in step 4. Then a3 alone arrives again: no c.
    spec_node n[] = {{"a", "put log 'a'", "a2"},
                     {"a2", "put log 'a2'", "b"},
                     {"a3", "put log 'a3'", "END"},
                     {"b", "put log 'b'", "END"},
                     {"c", "put log 'c'; goto late", ""},
                     {"late", "put log 'late'", "a3"},
                     {NULL}};
    pons_graph *g = spec_compile(&(spec_graph){"a,a3", n, "a3+b>c"});
    pons_run *r = spec_run(&b, g, NULL, SPEC_UPDATES, PONS_RUN_DONE);
    spec_events(&b, SPEC_UPDATES, false,
                "[{'a':{'log':'a'}},{'a3':{'log':'a3'}},{'a2':{'log':'a2'}},{'b':{'log':'b'}},"
                "{'c':{'log':'c'}},{'late':{'log':'late'}},{'a3':{'log':'a3'}}]");
    pons_run_destroy(r);
    pons_graph_destroy(g);
    bed_close(&b);
}

// "State keys trigger nothing": a write to a channel runs nobody.
static void state_keys_trigger_nothing(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    spec_node n[] = {{"a", "put last 'x'; put log 'a'", "END"},
                     {"b", "see last", "END"},
                     {"go", "goto b", ""},
                     {NULL}};
    pons_graph *g = spec_compile(&(spec_graph){"a,go", n});
    pons_run_destroy(spec_run(&b, g, NULL, SPEC_UPDATES, PONS_RUN_DONE));
    spec_events(&b, SPEC_UPDATES, false,
                "[{'a':{'last':'x','log':'a'}},{'go':null},{'b':{'log':'x'}}]");
    assert_int_equal(n[1].runs, 1);
    pons_graph_destroy(g);
    bed_close(&b);
}

// "clear ephemeral channels that got nothing; if no updated channel triggers a node, release
// deferred nodes."
static void ephemeral_and_deferred(void **state)
{
    (void)state;
    static const pons_node_options late = {.deferred = true};
    bed b;
    bed_open(&b);
    spec_node n[] = {{"a", "put once 1; put topic 'x'; put any 1", "b,sum"},
                     {"b", "see once; see topic; see any", "c"},
                     {"c", "see once; see topic; see any", "END"},
                     {"sum", "put log 'sum'", "END", .opts = &late},
                     {NULL}};
    pons_graph *g = spec_compile(&(spec_graph){"a", n});
    pons_run_destroy(spec_run(&b, g, "{'once':0}", 0, PONS_RUN_DONE));
    spec_checkpoints(&b, "",
                     "[[-1,'input',['__start__'],{}],[0,'loop',['a'],{'once':0}],"
                     "[1,'loop',['b'],{'once':1,'topic':['x'],'any':1}],"
                     "[2,'loop',['c'],{'log':[1,'x',1]}],"
                     "[3,'loop',['sum'],{'log':[1,'x',1,null,null,null]}],"
                     "[4,'loop',[],{'log':[1,'x',1,null,null,null,'sum']}]]");
    pons_graph_destroy(g);
    bed_close(&b);
}

int main(void)
{
    pons_value_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_numbered_from_the_input),
        cmocka_unit_test(a_resume_loads_the_checkpoint),
        cmocka_unit_test(the_limit_is_exact),
        cmocka_unit_test(the_default_limit_is_a_hundred),
        cmocka_unit_test(the_order_of_finishing_does_not_matter),
        cmocka_unit_test(every_fault_at_once),
        cmocka_unit_test(a_join_is_reset_when_consumed),
        cmocka_unit_test(state_keys_trigger_nothing),
        cmocka_unit_test(ephemeral_and_deferred),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
