// test_spec_subgraphs.c - conformance: subgraphs, their namespaces, their three persistences, and
// their heads from outside. Each case quotes its sentence.
#include "graph/spec.h"

#include <stdio.h>
#include <string.h>

static int list_ns(void *user, const char *ns)
{
    json_array_append_new(user, json_string(ns));
    return 0;
}

// The namespace that begins with a prefix; "" when there is none.
static void ns_of(bed *b, const char *prefix, char ret[PONS_NAME_MAX])
{
    pons_autovalue all = json_array();
    size_t i;
    pons_value *v;
    ret[0] = '\0';
    assert_ok(b->store.ops->namespaces(b->store.self, "t1", list_ns, all, &b->err));
    json_array_foreach(all, i, v) {
        const char *s = json_string_value(v);
        if (s[0] && strncmp(s, prefix, strlen(prefix)) == 0) {
            snprintf(ret, PONS_NAME_MAX, "%s", s);
        }
    }
}

// "Namespace node:taskid|child:taskid", and what a checkpoint stands on.
static void namespaces_are_nested(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    spec_node deep[] = {{"ask", "ask 'deep?'", "END"}, {NULL}};
    pons_graph *dg = spec_compile(&(spec_graph){"ask", deep});
    spec_node mid[] = {{"m", "put log 'm'", "child"},
                       {"child", NULL, "END", .sub = dg, .mode = PONS_SUBGRAPH_INHERIT},
                       {NULL}};
    pons_graph *mg = spec_compile(&(spec_graph){"m", mid});
    spec_node n[] = {{"node", NULL, "END", .sub = mg, .mode = PONS_SUBGRAPH_INHERIT}, {NULL}};
    pons_graph *g = spec_compile(&(spec_graph){"node", n});
    pons_run *r = spec_run(&b, g, NULL, SPEC_UPDATES, PONS_RUN_INTERRUPTED);
    spec_events(
        &b, SPEC_UPDATES, true,
        "[[['node:#1'],'updates',{'m':{'log':'m'}}],"
        "[['node:#1','child:#2'],'updates',{'__interrupt__':[{'id':'#3','value':'deep?'}]}],"
        "[['node:#1'],'updates',{'__interrupt__':[{'id':'#3','value':'deep?'}]}],"
        "[[],'updates',{'__interrupt__':[{'id':'#3','value':'deep?'}]}]]");
    char ns[PONS_NAME_MAX], id[3][32];
    ns_of(&b, "node:", ns);
    char *child = strchr(ns, '|');
    assert_non_null(child);
    assert_int_equal(strlen("node:0123456789abcdef"), (size_t)(child - ns));
    assert_true(strncmp(child, "|child:", 7) == 0);
    pons_autovalue history = NULL;
    assert_ok(pons_state_history(b.store, "t1", ns, 0, false, &history, &b.err));
    *child = '\0';
    spec_checkpoint_at(&b, "", 0, id[0]);
    spec_checkpoint_at(&b, ns, 1, id[1]);
    char want[256];
    snprintf(want, sizeof want, "{'':'%s','%s':'%s'}", id[0], ns, id[1]);
    for (size_t i = 0; i < json_array_size(history); i++) {
        assert_json(pons_get(json_array_get(history, i), "parents"), want);
    }
    assert_int_equal(json_array_size(history), 2);
    pons_value_unref(history);
    assert_ok(pons_state_history(b.store, "t1", "", 0, false, &history, &b.err));
    assert_json(pons_get(json_array_get(history, 0), "parents"), "{}");
    spec_answer(&b, r, "'yes'", PONS_RUN_DONE);
    pons_run_destroy(r);
    spec_checkpoints(&b, ns,
                     "[[-1,'input',['__start__'],{}],[0,'loop',['m'],{}],"
                     "[1,'loop',['child'],{'log':['m']}],[2,'loop',[],{'log':['m','yes']}]]");
    spec_checkpoints(&b, "",
                     "[[-1,'input',['__start__'],{}],[0,'loop',['node'],{}],"
                     "[1,'loop',[],{'log':['m','yes']}]]");
    pons_graph_destroy(g);
    pons_graph_destroy(mg);
    pons_graph_destroy(dg);
    bed_close(&b);
}

// "Checkpointing per subgraph: inherit (fresh per parent task), own (stable namespace, state
// persists across runs), none." The inner graph counts its runs in a channel of its own.
static void the_three_persistences(void **state)
{
    (void)state;
    static const struct {
        pons_subgraph_mode mode;
        const char *log; // after two runs
    } cases[] = {{PONS_SUBGRAPH_INHERIT, "[1,1]"},
                 {PONS_SUBGRAPH_OWN, "[1,2]"},
                 {PONS_SUBGRAPH_NONE, "[1,1]"}};
    for (size_t i = 0; i < 3; i++) {
        bed b;
        bed_open(&b);
        spec_node in[] = {{"count", "put sum 1", "tell"}, {"tell", "see sum", "END"}, {NULL}};
        pons_graph_builder *ib = pons_graph_builder_create("inner"); // sum is the inner one's alone
        channel(ib, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
        channel(ib, "mine", PONS_CHANNEL_REDUCE, pons_reduce_add);
        pons_graph_builder_destroy(ib);
        pons_graph *sub = spec_compile(&(spec_graph){"count", in});
        pons_graph_builder *gb = pons_graph_builder_create("outer");
        channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
        pons_graph_subgraph(gb, "sub", sub, cases[i].mode);
        pons_graph_edge(gb, PONS_START, "sub");
        pons_graph_edge(gb, "sub", PONS_END);
        pons_graph *g = compile(gb, NULL);
        for (int run = 0; run < 2; run++) {
            pons_run_destroy(spec_run(&b, g, NULL, 0, PONS_RUN_DONE));
        }
        char want[64], ns[PONS_NAME_MAX];
        snprintf(want, sizeof want, "{'log':%s}", cases[i].log);
        spec_state(&b, "", want);
        ns_of(&b, "sub", ns);
        if (cases[i].mode == PONS_SUBGRAPH_NONE) {
            assert_string_equal(ns, "");
        } else if (cases[i].mode == PONS_SUBGRAPH_OWN) {
            assert_string_equal(ns, "sub");
        } else {
            assert_int_equal(strlen(ns), strlen("sub:0123456789abcdef"));
        }
        if (cases[i].mode == PONS_SUBGRAPH_OWN) {
            spec_checkpoints(&b, "sub",
                             "[[-1,'input',['__start__'],{}],[0,'loop',['count'],{}],"
                             "[1,'loop',['tell'],{'sum':1}],[2,'loop',[],{'sum':1,'log':[1]}],"
                             "[3,'input',['__start__'],{'sum':1,'log':[1]}],"
                             "[4,'loop',['count'],{'sum':1,'log':[1,1]}],"
                             "[5,'loop',['tell'],{'sum':2,'log':[1,1]}],"
                             "[6,'loop',[],{'sum':2,'log':[1,1,2]}]]");
        }
        pons_graph_destroy(g);
        pons_graph_destroy(sub);
        bed_close(&b);
    }
}

// A Send to a subgraph is a task of its own: two of them are two fresh namespaces, and each waits
// for its own answer.
static void two_sends_are_two_children(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    spec_node in[] = {{"ask", "ask 'who?'", "END"}, {NULL}};
    pons_graph *sub = spec_compile(&(spec_graph){"ask", in});
    spec_node n[] = {{"split", "send sub {}; send sub {}", ""},
                     {"sub", NULL, "END", .sub = sub, .mode = PONS_SUBGRAPH_INHERIT},
                     {NULL}};
    pons_graph *g = spec_compile(&(spec_graph){"split", n});
    pons_run *r = spec_run(&b, g, NULL, SPEC_UPDATES, PONS_RUN_INTERRUPTED);
    char id[2][64];
    spec_pending(r, 0, id[0]);
    spec_pending(r, 1, id[1]);
    assert_string_not_equal(id[0], id[1]);
    pons_autovalue second = json_object();
    json_object_set_new(second, id[1], json_string("two"));
    assert_ok(pons_run_resume_map(r, second, &b.err));
    assert_ok(pons_run_advance(r, &b.err));
    assert_int_equal(pons_run_state_get(r), PONS_RUN_INTERRUPTED);
    spec_answer(&b, r, "'one'", PONS_RUN_DONE);
    pons_run_destroy(r);
    spec_state(&b, "", "{'log':['one','two']}"); // in the order of the Sends
    pons_graph_destroy(g);
    pons_graph_destroy(sub);
    bed_close(&b);
}

// "The head of a subgraph can be read, resumed and forked from outside."
static void a_head_from_outside(void **state)
{
    (void)state;
    for (int fork = 0; fork < 2; fork++) {
        bed b;
        bed_open(&b);
        spec_node in[] = {{"count", "put sum 1", "ask"}, {"ask", "ask 'ok?'", "END"}, {NULL}};
        pons_graph *sub = spec_compile(&(spec_graph){"count", in});
        spec_node n[] = {{"sub", NULL, "after", .sub = sub, .mode = PONS_SUBGRAPH_OWN},
                         {"after", "put log 'after'", "END"},
                         {NULL}};
        pons_graph *g = spec_compile(&(spec_graph){"sub", n});
        pons_run_destroy(spec_run(&b, g, NULL, 0, PONS_RUN_INTERRUPTED));
        spec_state(&b, "sub", "{'sum':1}"); // read
        pons_run *r = NULL;
        pons_run_options o = {.durability = PONS_DURABILITY_SYNC};
        pons_autovalue yes = json("'yes'");
        if (fork) {
            char at[32];
            spec_checkpoint_at(&b, "sub", 0, at);
            assert_ok(pons_run_fork(b.t, sub, "sub", at, NULL, &o, &r, &b.err));
        } else {
            assert_ok(pons_run_resume(b.t, sub, "sub", &o, &r, &b.err));
        }
        assert_ok(pons_run_advance(r, &b.err));
        assert_int_equal(pons_run_state_get(r), PONS_RUN_INTERRUPTED);
        assert_ok(pons_run_resume_value(r, yes, &b.err));
        assert_ok(pons_run_advance(r, &b.err));
        assert_int_equal(pons_run_state_get(r), PONS_RUN_DONE);
        pons_run_destroy(r);
        spec_checkpoints(&b, "sub",
                         fork
                             ? "[[-1,'input',['__start__'],{}],[0,'loop',['count'],{}],"
                               "[1,'loop',['ask'],{'sum':1}],[1,'fork',['count'],{}],"
                               "[2,'loop',['ask'],{'sum':1}],[3,'loop',[],{'sum':1,'log':['yes']}]]"
                             : "[[-1,'input',['__start__'],{}],[0,'loop',['count'],{}],"
                               "[1,'loop',['ask'],{'sum':1}],"
                               "[2,'loop',[],{'sum':1,'log':['yes']}]]");
        pons_run_destroy(spec_resume(&b, g, 0, PONS_RUN_DONE)); // and the graph around it takes it
        spec_checkpoints(&b, "",
                         "[[-1,'input',['__start__'],{}],[0,'loop',['sub'],{}],"
                         "[1,'loop',['after'],{'sum':1,'log':['yes']}],"
                         "[2,'loop',[],{'sum':1,'log':['yes','after']}]]");
        assert_int_equal(in[0].runs, fork ? 2 : 1);
        pons_graph_destroy(g);
        pons_graph_destroy(sub);
        bed_close(&b);
    }
}

typedef struct counted {
    int all, fresh;
} counted;

static int count_ns(void *user, const char *ns)
{
    counted *c = user;
    c->all++;
    c->fresh += strchr(ns, ':') != NULL;
    return 0;
}

static counted namespaces(bed *b)
{
    counted c = {0};
    assert_ok(b->store.ops->namespaces(b->store.self, "t1", count_ns, &c, &b->err));
    return c;
}

// "Prune gives it back": fresh subgraphs go with the task that they were of, also those inside
// them; one that still waits stays, and so does one that keeps its state.
static void a_prune_takes_fresh_subgraphs(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    spec_node deep[] = {{"d", "put log 'd'", "END"}, {NULL}};
    pons_graph *dg = spec_compile(&(spec_graph){"d", deep});
    spec_node mid[] = {{"child", NULL, "own", .sub = dg, .mode = PONS_SUBGRAPH_INHERIT},
                       {"own", NULL, "ask", .sub = dg, .mode = PONS_SUBGRAPH_OWN},
                       {"ask", "ask 'mid?'", "END"},
                       {NULL}};
    pons_graph *mg = spec_compile(&(spec_graph){"child", mid});
    spec_node n[] = {{"keep", NULL, "node", .sub = dg, .mode = PONS_SUBGRAPH_OWN},
                     {"node", NULL, "END", .sub = mg, .mode = PONS_SUBGRAPH_INHERIT},
                     {NULL}};
    pons_graph *g = spec_compile(&(spec_graph){"keep", n});
    pons_run *r = spec_run(&b, g, NULL, 0, PONS_RUN_INTERRUPTED);
    counted c = namespaces(&b);
    assert_int_equal(c.all, 5); // "", keep, node:1, node:1|child:2, node:1|own
    assert_int_equal(c.fresh, 3);
    int64_t removed = 0;
    assert_ok(pons_thread_prune(b.t, 1, 0, &removed, &b.err)); // its holder may, in the middle
    c = namespaces(&b);
    assert_int_equal(c.all, 4); // the inner one's task is over
    pons_run_destroy(r);
    bed_thread(&b);
    assert_ok(pons_thread_prune(b.t, 1, 0, &removed, &b.err));
    assert_int_equal(namespaces(&b).all, 4);
    pons_run_options o = PONS_RUN_OPTIONS_INIT;
    assert_ok(pons_run_resume(b.t, g, "", &o, &r, &b.err));
    assert_ok(pons_run_advance(r, &b.err));
    assert_int_equal(pons_run_state_get(r), PONS_RUN_INTERRUPTED);
    spec_answer(&b, r, "'yes'", PONS_RUN_DONE);
    pons_run_destroy(r);
    pons_thread_close(b.t);
    b.t = NULL;
    pons_autovalue before = NULL;
    pons_autovalue after = NULL;
    assert_ok(pons_state_read(b.store, "t1", "", &before, &b.err));
    pons_prune_result result;
    const pons_prune events = {.events_since_ms = 1};
    assert_ok(pons_state_prune_as(b.store, "t1", &events, &result, &b.err));
    assert_int_equal(namespaces(&b).all, 4); // no rule for checkpoints
    const pons_prune last = {.keep_last = 1};
    assert_ok(pons_state_prune_as(b.store, "t1", &last, &result, &b.err));
    assert_true(result.checkpoints >= 2);
    c = namespaces(&b);
    assert_int_equal(c.all, 2); // "" and keep
    assert_int_equal(c.fresh, 0);
    assert_ok(pons_state_read(b.store, "t1", "", &after, &b.err));
    assert_true(json_equal(before, after));
    const pons_prune one_ns = {.keep_last = 1, .ns = "keep"};
    assert_int_equal(pons_state_prune_as(b.store, "t1", &one_ns, NULL, &b.err), PONS_EINVAL);
    bed_thread(&b);
    pons_run_destroy(spec_run(&b, g, NULL, 0, PONS_RUN_INTERRUPTED)); // and it goes on
    pons_graph_destroy(g);
    pons_graph_destroy(mg);
    pons_graph_destroy(dg);
    bed_close(&b);
}

int main(void)
{
    pons_value_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(namespaces_are_nested),         cmocka_unit_test(the_three_persistences),
        cmocka_unit_test(two_sends_are_two_children),    cmocka_unit_test(a_head_from_outside),
        cmocka_unit_test(a_prune_takes_fresh_subgraphs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
