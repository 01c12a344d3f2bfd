// test_spec_routing.c - conformance: routers, Sends, commands. Each case quotes its sentence and
// compares every streamed event and every stored checkpoint.
#include "graph/spec.h"

#include <string.h>

// Sees the state and its node's own writes, not a sibling's; goes to a name and to a list of Sends.
static int route_seeing(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    const pons_value *log = pons_cx_get(cx, "log");
    pons_cx_send(cx, "t", pons_value_ref(log));
    pons_cx_send(cx, "t", json_integer((json_int_t)json_array_size(log)));
    pons_cx_goto(cx, json_array_size(log) == 2 ? "t" : PONS_END);
    pons_cx_goto(cx, PONS_END);
    return PONS_OK;
}

// "A router runs inside its node's task and sees the state plus that node's own writes; returns a
// name, END, a Send, or a list." "A Send runs its target next superstep with a private argument."
static void a_router_sees_its_nodes_writes(void **state)
{
    (void)state;
    static const char *const to[] = {"t", PONS_END, NULL};
    bed b;
    bed_open(&b);
    spec_node n[] = {{"a", "put log 'sibling'", "END"},
                     {"r", "put log 'mine'", ""},
                     {"t", "arg", "END"},
                     {NULL}};
    pons_graph_builder *gb = spec_builder(&(spec_graph){"a,r", n});
    pons_graph_router(gb, "r", route_seeing, NULL, to);
    pons_graph *g = compile(gb, NULL);
    pons_run_destroy(spec_run(&b, g, "{'log':'in'}", SPEC_UPDATES, PONS_RUN_DONE));
    spec_events(&b, SPEC_UPDATES, false,
                "[{'a':{'log':'sibling'}},{'r':{'log':'mine'}},{'t':{'log':null}},"
                "{'t':{'log':['in','mine']}},{'t':{'log':2}}]");
    spec_checkpoints(&b, "",
                     "[[-1,'input',['__start__'],{}],[0,'loop',['a','r'],{'log':['in']}],"
                     "[1,'loop',['t','t','t'],{'log':['in','sibling','mine']}],"
                     "[2,'loop',[],{'log':['in','sibling','mine',null,'in','mine',2]}]]");
    pons_graph_destroy(g);
    bed_close(&b);
}

static int route_fails(pons_cx *cx, void *user, pons_error *err)
{
    (void)cx;
    (void)user;
    return pons_error_set(err, PONS_EIO, "test", "no way");
}

// Inside the task: a router that fails fails the task, whose writes are not applied.
static void a_router_fails_its_task(void **state)
{
    (void)state;
    static const char *const to[] = {PONS_END, NULL};
    bed b;
    bed_open(&b);
    spec_node n[] = {{"a", "put log 'a'", "END"}, {"r", "put log 'r'", ""}, {NULL}};
    pons_graph_builder *gb = spec_builder(&(spec_graph){"a,r", n});
    pons_graph_router(gb, "r", route_fails, NULL, to);
    pons_graph *g = compile(gb, NULL);
    pons_run *r = spec_run(&b, g, NULL, SPEC_UPDATES, PONS_RUN_FAILED);
    assert_string_equal(pons_run_error(r)->message, "no way");
    pons_run_destroy(r);
    spec_events(&b, SPEC_UPDATES, false, "[{'a':{'log':'a'}}]");
    spec_checkpoints(&b, "", "[[-1,'input',['__start__'],{}],[0,'loop',['a','r'],{}]]");
    pons_graph_destroy(g);
    bed_close(&b);
}

// A node that is triggered and sent to runs once for the trigger and once for each Send; triggered
// twice it runs once.
static void triggers_and_sends_are_counted_apart(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    spec_node n[] = {{"a", "send t 'a1'; goto t; send t 'a2'", "t"},
                     {"b", "goto t; send t 'b'", "t"},
                     {"t", "arg", "END"},
                     {NULL}};
    pons_graph *g = spec_compile(&(spec_graph){"b,a", n});
    pons_run_destroy(spec_run(&b, g, NULL, 0, PONS_RUN_DONE));
    assert_int_equal(n[2].runs, 4);
    spec_checkpoints(&b, "",
                     "[[-1,'input',['__start__'],{}],[0,'loop',['a','b'],{}],"
                     "[1,'loop',['t','t','t','t'],{}],[2,'loop',[],{'log':[null,'a1','a2','b']}]]");
    pons_graph_destroy(g);
    bed_close(&b);
}

// "Command{update, goto, resume, graph}: goto adds to the static edges."
static int node_command(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    static const char *const go[] = {"extra", NULL};
    const pons_send sends[] = {{"t", json_integer(1)}};
    return pons_cx_command(
        cx,
        &(pons_command){
            .update = json("{'log':'update','sum':1}"), .go = go, .sends = sends, .n_sends = 1},
        err);
}

static void goto_adds_to_the_static_edges(void **state)
{
    (void)state;
    static const char *const goes[] = {"extra", "t", NULL};
    bed b;
    bed_open(&b);
    spec_node n[] = {{"extra", "put log 'extra'", "END"},
                     {"t", "arg", "END"},
                     {"static", "put log 'static'", "END"},
                     {NULL}};
    pons_graph_builder *gb = spec_builder(&(spec_graph){"c", n});
    pons_graph_node(gb, "c", node_command, NULL);
    pons_graph_node_options(gb, "c", &(pons_node_options){.goes = goes});
    pons_graph_edge(gb, "c", "static");
    pons_graph *g = compile(gb, NULL);
    pons_run_destroy(spec_run(&b, g, NULL, SPEC_UPDATES, PONS_RUN_DONE));
    spec_events(&b, SPEC_UPDATES, false,
                "[{'c':{'log':'update','sum':1}},{'extra':{'log':'extra'}},"
                "{'static':{'log':'static'}},{'t':{'log':1}}]");
    spec_checkpoints(&b, "",
                     "[[-1,'input',['__start__'],{}],[0,'loop',['c'],{}],"
                     "[1,'loop',['extra','static','t'],{'log':['update'],'sum':1}],"
                     "[2,'loop',[],{'log':['update','extra','static',1],'sum':1}]]");
    pons_graph_destroy(g);
    bed_close(&b);
}

// "graph=PARENT is applied by the parent node's writers, the child's other writes are dropped": its
// own update too, and what a sibling of the commanding node wrote. The static edges and the routers
// of the parent's node are followed as ever.
static void a_command_to_the_parent(void **state)
{
    (void)state;
    static const char *const goes[] = {"x", NULL};
    static const pons_node_options may = {.goes = goes};
    bed b;
    bed_open(&b);
    spec_node in[] = {{"first", "put log 'dropped'", "aa,up"},
                      {"aa", "put log 'dropped, too'", "never"},
                      {"never", "put log 'never'", "END"},
                      {"up", "put log 'and this'; parent {'log':'kept','sum':5} x", "never"},
                      {NULL}};
    pons_graph *sub = spec_compile(&(spec_graph){"first", in});
    spec_node n[] = {{"sub", NULL, "y", .sub = sub, .mode = PONS_SUBGRAPH_INHERIT, .opts = &may},
                     {"x", "put log 'x'", "END"},
                     {"y", "put log 'y'", "END"},
                     {NULL}};
    pons_graph *g = spec_compile(&(spec_graph){"sub", n});
    pons_run_destroy(spec_run(&b, g, "{'log':'in'}", SPEC_UPDATES, PONS_RUN_DONE));
    spec_events(&b, SPEC_UPDATES, false,
                "[{'first':{'log':'dropped'}},{'aa':{'log':'dropped, too'}},"
                "{'sub':{'log':'kept','sum':5}},{'x':{'log':'x'}},{'y':{'log':'y'}}]");
    spec_checkpoints(&b, "",
                     "[[-1,'input',['__start__'],{}],[0,'loop',['sub'],{'log':['in']}],"
                     "[1,'loop',['x','y'],{'log':['in','kept'],'sum':5}],"
                     "[2,'loop',[],{'log':['in','kept','x','y'],'sum':5}]]");
    assert_int_equal(in[2].runs, 0);
    pons_graph_destroy(g);
    pons_graph_destroy(sub);
    bed_close(&b);
}

// "as an input, PARENT is an error", and so it is in a graph that nothing surrounds; nothing is
// begun, or stored.
static void the_parent_must_be_there(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    spec_node n[] = {{"a", "parent {'log':'x'}", "END"}, {NULL}};
    pons_graph *g = spec_compile(&(spec_graph){"a", n});
    pons_run *r = NULL;
    assert_int_equal(pons_run_command(b.t, g, "",
                                      &(pons_command){.update = json("{'log':1}"), .parent = true},
                                      NULL, &r, &b.err),
                     PONS_EINVAL);
    spec_checkpoints(&b, "", "[]");
    r = spec_run(&b, g, NULL, 0, PONS_RUN_FAILED);
    assert_int_equal(pons_run_error(r)->status, PONS_EINVAL);
    pons_run_destroy(r);
    pons_graph_destroy(g);
    bed_close(&b);
}

// A command as input: an update beside a resume is there when the node is run again.
static void a_command_as_input_updates_and_resumes(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    spec_node n[] = {{"a", "ask 'ok?'; see sum", "b"}, {"b", "put log 'b'", "END"}, {NULL}};
    pons_graph *g = spec_compile(&(spec_graph){"a", n});
    pons_run_destroy(spec_run(&b, g, "{'sum':1}", 0, PONS_RUN_INTERRUPTED));
    pons_autovalue yes = json("'yes'");
    pons_run *r = NULL;
    pons_run_options o = {.durability = PONS_DURABILITY_SYNC};
    assert_ok(pons_run_command(
        b.t, g, "", &(pons_command){.update = json("{'sum':2}"), .resume = yes}, &o, &r, &b.err));
    assert_ok(pons_run_advance(r, &b.err));
    pons_run_destroy(r);
    spec_checkpoints(&b, "",
                     "[[-1,'input',['__start__'],{}],[0,'loop',['a'],{'sum':1}],"
                     "[1,'loop',['b'],{'log':['yes',3],'sum':3}],"
                     "[2,'loop',[],{'log':['yes',3,'b'],'sum':3}]]");
    pons_graph_destroy(g);
    bed_close(&b);
}

int main(void)
{
    pons_value_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_router_sees_its_nodes_writes),
        cmocka_unit_test(a_router_fails_its_task),
        cmocka_unit_test(triggers_and_sends_are_counted_apart),
        cmocka_unit_test(goto_adds_to_the_static_edges),
        cmocka_unit_test(a_command_to_the_parent),
        cmocka_unit_test(the_parent_must_be_there),
        cmocka_unit_test(a_command_as_input_updates_and_resumes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
