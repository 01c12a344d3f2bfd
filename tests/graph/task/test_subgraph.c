// test_subgraph.c - a graph as a node: shared channels in and out, the three ways of keeping its
// state, awaits and interrupts that come up through it, and a crash in the middle.
#include "graph/graph_help.h"

#include <string.h>

static int node_ask_human(pons_cx *cx, void *user, pons_error *err)
{
    if (user) {
        ++*(int *)user;
    }
    const pons_value *answer;
    int st = pons_interrupt(cx, json("'go?'"), &answer, err);
    return st == PONS_OK ? pons_cx_put(cx, "log", pons_value_ref(answer)) : st;
}

static int node_tick(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    pons_cx_put(cx, "sum", json_integer(1));
    return pons_cx_put(cx, "private",
                       json_integer(json_integer_value(pons_cx_get(cx, "private")) + 1));
}

// first → [ask →] tick, with channels shared (log, sum, messages) and one of its own.
static pons_graph *inner(bool ask, int *asked)
{
    pons_graph_builder *gb = pons_graph_builder_create("inner");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    channel(gb, "sum", PONS_CHANNEL_REDUCE, pons_reduce_add);
    channel(gb, "private", PONS_CHANNEL_LAST, NULL);
    pons_graph_node(gb, "first", node_log, NULL);
    pons_graph_node(gb, "tick", node_tick, NULL);
    pons_graph_edge(gb, PONS_START, "first");
    if (ask) {
        pons_graph_node(gb, "ask", node_ask_human, asked);
        pons_graph_edge(gb, "first", "ask");
        pons_graph_edge(gb, "ask", "tick");
    } else {
        pons_graph_edge(gb, "first", "tick");
    }
    pons_graph_edge(gb, "tick", PONS_END);
    return compile(gb, NULL);
}

static pons_graph *outer(const pons_graph *sub, pons_subgraph_mode mode)
{
    pons_graph_builder *gb = pons_graph_builder_create("outer");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    channel(gb, "sum", PONS_CHANNEL_REDUCE, pons_reduce_add);
    pons_graph_node(gb, "before", node_log, NULL);
    pons_graph_subgraph(gb, "sub", sub, mode);
    pons_graph_node(gb, "side", node_log, NULL);
    pons_graph_edge(gb, PONS_START, "before");
    pons_graph_edge(gb, "before", "sub");
    pons_graph_edge(gb, "before", "side");
    pons_graph_edge(gb, "sub", PONS_END);
    pons_graph_edge(gb, "side", PONS_END);
    return compile(gb, NULL);
}

static void shared_channels_go_in_and_only_changes_come_out(void **state)
{
    (void)state;
    for (pons_subgraph_mode m = PONS_SUBGRAPH_INHERIT; m <= PONS_SUBGRAPH_NONE; m++) {
        bed b;
        bed_open(&b);
        pons_graph *in = inner(false, NULL), *g = outer(in, m);
        for (int run = 1; run <= 2; run++) {
            pons_run *r = run_to(&b, g, "", "{'sum':10}", PONS_RUN_DONE);
            pons_autovalue sum = json_integer(11 * run);
            assert_true(json_equal((pons_value *)(uintptr_t)pons_run_get(r, "sum"), sum));
            if (run == 1) {
                assert_json(pons_run_get(r, "log"), "['before','side','first']");
            } else {
                assert_int_equal(json_array_size(pons_run_get(r, "log")), 6);
            }
            pons_run_destroy(r);
        }
        pons_value *v = NULL; // a stable namespace keeps its own state across runs
        int st = pons_state_read(b.store, "t1", "sub", &v, &b.err);
        assert_int_equal(st, m == PONS_SUBGRAPH_OWN ? PONS_OK : PONS_ENOTFOUND);
        if (st == PONS_OK) {
            assert_int_equal(pons_get_int(v, "private", 0), 2);
        }
        pons_value_unref(v);
        pons_graph_destroy(g);
        pons_graph_destroy(in);
        bed_close(&b);
    }
}

static void an_interrupt_inside_is_answered_from_outside(void **state)
{
    (void)state;
    for (pons_subgraph_mode m = PONS_SUBGRAPH_INHERIT; m <= PONS_SUBGRAPH_NONE; m++) {
        for (int crash = 0; crash < 2; crash++) {
            bed b;
            bed_open(&b);
            int asked = 0;
            pons_graph *in = inner(true, &asked), *g = outer(in, m);
            pons_run *r = run_to(&b, g, "n", NULL, PONS_RUN_INTERRUPTED);
            pons_autovalue yes = json("'yes'");
            if (crash) {
                pons_run_destroy(r);
                bed_thread(&b);
                pons_run_options o = {.durability = PONS_DURABILITY_SYNC};
                assert_ok(pons_run_resume(b.t, g, "n", &o, &r, &b.err));
                if (m == PONS_SUBGRAPH_NONE) { // it starts again and asks anew
                    assert_ok(pons_run_advance(r, &b.err));
                }
            }
            pons_autovalue pending = pons_run_pending(r);
            assert_int_equal(json_array_size(pending), 1);
            assert_string_equal(pons_get_str(json_array_get(pending, 0), "node", ""), "ask");
            assert_ok(pons_run_resume_value(r, yes, &b.err));
            assert_ok(pons_run_advance(r, &b.err));
            assert_int_equal(pons_run_state_get(r), PONS_RUN_DONE);
            assert_json(pons_run_get(r, "log"), "['before','side','first','yes']");
            assert_int_equal(asked, crash && m == PONS_SUBGRAPH_NONE ? 3 : 2);
            pons_run_destroy(r);
            pons_graph_destroy(g);
            pons_graph_destroy(in);
            bed_close(&b);
        }
    }
}

static int node_bad(pons_cx *cx, void *user, pons_error *err)
{
    (void)cx;
    int *left = user;
    return --*left >= 0 ? pons_error_set(err, PONS_EIO, "test", "inside") : PONS_OK;
}

static void a_failure_inside_is_the_parents_and_is_resumed_inside(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    int left = 1;
    pons_graph_builder *gb = pons_graph_builder_create("inner");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    pons_graph_node(gb, "first", node_log, NULL);
    pons_graph_node(gb, "bad", node_bad, &left);
    pons_graph_edge(gb, PONS_START, "first");
    pons_graph_edge(gb, "first", "bad");
    pons_graph_edge(gb, "bad", PONS_END);
    pons_graph *in = compile(gb, NULL), *g = outer(in, PONS_SUBGRAPH_INHERIT);
    pons_run *r = run_to(&b, g, "", NULL, PONS_RUN_FAILED);
    assert_string_equal(pons_run_error(r)->message, "inside");
    pons_run *again = resume_to(&b, g, "", PONS_RUN_DONE); // in the same process
    assert_json(pons_run_get(again, "log"), "['before','side','first']");
    pons_run_destroy(r);
    pons_run_destroy(again);
    pons_graph_destroy(g);
    pons_graph_destroy(in);
    bed_close(&b);
}

static void messages_inside_are_known_by_their_ids(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    pons_graph_builder *gb = pons_graph_builder_create("inner");
    channel(gb, "m", PONS_CHANNEL_MESSAGES, NULL);
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    pons_graph_node(gb, "n", node_log, NULL);
    pons_graph_edge(gb, PONS_START, "n");
    pons_graph_edge(gb, "n", PONS_END);
    pons_graph *in = compile(gb, NULL);
    gb = pons_graph_builder_create("outer");
    channel(gb, "m", PONS_CHANNEL_MESSAGES, NULL);
    pons_graph_subgraph(gb, "sub", in, PONS_SUBGRAPH_OWN);
    pons_graph_edge(gb, PONS_START, "sub");
    pons_graph_edge(gb, "sub", PONS_END);
    pons_graph *g = compile(gb, NULL);
    pons_run *r = run_to(&b, g, "", "{'m':[{'id':'a','t':1},{'t':2}]}", PONS_RUN_DONE);
    assert_int_equal(json_array_size(pons_run_get(r, "m")), 2);
    pons_run_destroy(r);
    pons_graph_destroy(g);
    pons_graph_destroy(in);
    bed_close(&b);
}

static int router_sends_all(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    pons_cx_send(cx, "sub", json("{'log':['sent'],'left':7,'last':false,'none':1}"));
    return PONS_OK;
}

// Who sends its whole state sends what the engine manages with it: that stays the subgraph's own.
static void a_send_to_a_subgraph_may_have_what_the_engine_manages(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    pons_graph_builder *gb = pons_graph_builder_create("inner");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    channel(gb, "left", PONS_CHANNEL_REMAINING_STEPS, NULL);
    channel(gb, "last", PONS_CHANNEL_IS_LAST_STEP, NULL);
    pons_graph_node(gb, "n", node_log, NULL);
    pons_graph_edge(gb, PONS_START, "n");
    pons_graph_edge(gb, "n", PONS_END);
    pons_graph *in = compile(gb, NULL);
    gb = pons_graph_builder_create("outer");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    pons_graph_subgraph(gb, "sub", in, PONS_SUBGRAPH_INHERIT);
    pons_graph_router(gb, PONS_START, router_sends_all, NULL, (const char *const[]){"sub", NULL});
    pons_graph_edge(gb, "sub", PONS_END);
    pons_graph *g = compile(gb, NULL);
    pons_run *r = run_to(&b, g, "", NULL, PONS_RUN_DONE);
    assert_json(pons_run_get(r, "log"), "['sent','n']");
    pons_run_destroy(r);
    pons_graph_destroy(g);
    pons_graph_destroy(in);
    bed_close(&b);
}

int main(void)
{
    pons_value_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_channels_go_in_and_only_changes_come_out),
        cmocka_unit_test(an_interrupt_inside_is_answered_from_outside),
        cmocka_unit_test(a_failure_inside_is_the_parents_and_is_resumed_inside),
        cmocka_unit_test(messages_inside_are_known_by_their_ids),
        cmocka_unit_test(a_send_to_a_subgraph_may_have_what_the_engine_manages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
