// test_routing.c - where a run goes: sends with private arguments and their place in task order,
// commands from nodes, to the parent and as input, deferred nodes, what the engine manages. The
// exact checkpoints and the exact state are asserted; a resume between send and task finds the
// sends again.
#include "graph/graph_help.h"

#include <stdio.h>
#include <string.h>

static int log_text(pons_cx *cx, const char *text)
{
    return pons_cx_put(cx, "log", json_string(text));
}

static pons_graph_builder *builder(const char *name)
{
    pons_graph_builder *b = pons_graph_builder_create(name);
    channel(b, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    return b;
}

static void assert_state(bed *b, const char *ns, const char *channel_name, const char *want)
{
    pons_value *state = NULL;
    assert_ok(pons_state_read(b->store, "t1", ns, &state, &b->err));
    assert_json(pons_get(state, channel_name), want);
    pons_value_unref(state);
}

// ---- Send ---------------------------------------------------------------------------------------

static int fan_out(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    pons_cx_send(cx, "work", json_string("x"));
    pons_cx_send(cx, "work", json_string("y"));
    pons_cx_goto(cx, "zeta");
    pons_cx_send(cx, "alpha", json_string("z"));
    return PONS_OK;
}

static int node_arg(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    char text[64];
    snprintf(text, sizeof text, "%s(%s)", pons_cx_node(cx),
             pons_cx_arg(cx) ? json_string_value(pons_cx_arg(cx)) : "");
    return log_text(cx, text);
}

static pons_graph *fan(pons_node_fn work)
{
    static const char *const to[] = {"work", "alpha", "zeta", NULL};
    pons_graph_builder *gb = builder("fan");
    pons_graph_node(gb, "split", node_log, NULL);
    pons_graph_node(gb, "work", work, NULL);
    pons_graph_node(gb, "alpha", node_arg, NULL);
    pons_graph_node(gb, "zeta", node_arg, NULL);
    pons_graph_edge(gb, PONS_START, "split");
    pons_graph_router(gb, "split", fan_out, NULL, to);
    pons_graph_edge(gb, "work", PONS_END);
    pons_graph_edge(gb, "alpha", PONS_END);
    pons_graph_edge(gb, "zeta", PONS_END);
    return compile(gb, NULL);
}

static void sends_run_after_triggered_nodes_in_the_order_sent(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    pons_graph *g = fan(node_arg);
    pons_run *r = run_to(&b, g, "", NULL, PONS_RUN_DONE);
    assert_json(pons_run_get(r, "log"), "['split','zeta()','work(x)','work(y)','alpha(z)']");
    pons_value *list = NULL;
    assert_ok(pons_state_history(b.store, "t1", "", 0, false, &list, &b.err));
    assert_int_equal(json_array_size(list), 4);
    assert_json(pons_get(json_array_get(list, 1), "next"), "['zeta','work','work','alpha']");
    assert_json(pons_get(json_array_get(list, 0), "next"), "[]");
    pons_value_unref(list);
    pons_run_destroy(r);
    pons_graph_destroy(g);
    bed_close(&b);
}

static int work_asks(pons_cx *cx, void *user, pons_error *err)
{
    const pons_value *answer;
    int st = pons_interrupt(cx, pons_value_ref(pons_cx_arg(cx)), &answer, err);
    if (st != PONS_OK) {
        return st;
    }
    (void)user;
    return log_text(cx, json_string_value(answer));
}

static void sends_that_park_are_found_again(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    pons_graph *g = fan(work_asks);
    pons_run_destroy(run_to(&b, g, "", NULL, PONS_RUN_INTERRUPTED));
    bed_thread(&b); // another process
    pons_run *r = resume_to(&b, g, "", PONS_RUN_INTERRUPTED);
    pons_value *pending = pons_run_pending(r);
    assert_int_equal(json_array_size(pending), 2);
    assert_json(pons_get(json_array_get(pending, 0), "request"), "'x'");
    assert_json(pons_get(json_array_get(pending, 1), "request"), "'y'");
    assert_string_not_equal(pons_get_str(json_array_get(pending, 0), "id", ""),
                            pons_get_str(json_array_get(pending, 1), "id", ""));
    for (size_t i = 2; i-- > 0;) { // the order of answers changes nothing
        assert_ok(pons_run_answer(r, pons_get_str(json_array_get(pending, i), "id", ""),
                                  json_string(i ? "second" : "first"), &b.err));
    }
    pons_value_unref(pending);
    assert_ok(pons_run_advance(r, &b.err));
    assert_int_equal(pons_run_state_get(r), PONS_RUN_DONE);
    assert_json(pons_run_get(r, "log"), "['split','zeta()','first','second','alpha(z)']");
    pons_run_destroy(r);
    pons_graph_destroy(g);
    bed_close(&b);
}

static int send_astray(pons_cx *cx, void *user, pons_error *err)
{
    (void)err;
    pons_cx_send(cx, user, json_null());
    return PONS_OK;
}

static void a_node_sends_only_where_its_options_say(void **state)
{
    (void)state;
    static const char *const where[] = {"b", PONS_END, NULL};
    static const char *const goes[] = {"a", PONS_END, NULL};
    for (const char *const *to = where; *to; to++) {
        bed b;
        bed_open(&b);
        pons_graph_builder *gb = builder("astray");
        pons_graph_node(gb, "a", send_astray, (void *)(uintptr_t)*to);
        pons_graph_node(gb, "b", node_log, NULL);
        pons_graph_edge(gb, PONS_START, "a");
        pons_graph_edge(gb, PONS_START, "b");
        pons_graph_edge(gb, "b", PONS_END);
        pons_graph_node_options(gb, "a", &(pons_node_options){.goes = goes});
        pons_graph *g = compile(gb, NULL);
        pons_run *r = run_to(&b, g, "", NULL, PONS_RUN_FAILED);
        assert_int_equal(pons_run_error(r)->status, PONS_EINVAL);
        pons_run_destroy(r);
        pons_graph_destroy(g);
        bed_close(&b);
    }
}

// ---- Command ------------------------------------------------------------------------------------

static int commands(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    static const char *const go[] = {"c", NULL};
    pons_send send = {"d", json_string("sent")};
    return pons_cx_command(
        cx,
        &(pons_command){
            .update = json("{'log':'commanded'}"), .go = go, .sends = &send, .n_sends = 1},
        err);
}

static void a_command_adds_to_the_static_edges(void **state)
{
    (void)state;
    static const char *const goes[] = {"c", "d", NULL};
    bed b;
    bed_open(&b);
    pons_graph_builder *gb = builder("command");
    pons_graph_node(gb, "a", commands, NULL);
    pons_graph_node(gb, "b", node_log, NULL);
    pons_graph_node(gb, "c", node_log, NULL);
    pons_graph_node(gb, "d", node_arg, NULL);
    pons_graph_edge(gb, PONS_START, "a");
    pons_graph_edge(gb, "a", "b");
    pons_graph_edge(gb, "b", PONS_END);
    pons_graph_edge(gb, "c", PONS_END);
    pons_graph_edge(gb, "d", PONS_END);
    pons_graph_node_options(gb, "a", &(pons_node_options){.goes = goes});
    pons_graph *g = compile(gb, NULL);
    pons_run *r = run_to(&b, g, "", NULL, PONS_RUN_DONE);
    assert_json(pons_run_get(r, "log"), "['commanded','b','c','d(sent)']");
    assert_int_equal(pons_run_supersteps(r), 2);
    pons_run_destroy(r);
    pons_graph_destroy(g);
    bed_close(&b);
}

static int to_parent(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    static const char *const go[] = {"after", NULL};
    log_text(cx, "dropped");
    pons_cx_emit(cx, "said", json_true()); // events are no writes: they stay
    return pons_cx_command(
        cx, &(pons_command){.update = json("{'log':'for the parent'}"), .go = go, .parent = true},
        err);
}

static void a_command_to_the_parent_ends_the_child(void **state)
{
    (void)state;
    static const char *const goes[] = {"after", NULL};
    static const pons_subgraph_mode modes[] = {PONS_SUBGRAPH_INHERIT, PONS_SUBGRAPH_OWN,
                                               PONS_SUBGRAPH_NONE};
    for (size_t i = 0; i < 3; i++) {
        bed b;
        bed_open(&b);
        pons_graph_builder *inner = builder("inner");
        pons_graph_node(inner, "first", node_log, NULL);
        pons_graph_node(inner, "leave", to_parent, NULL);
        pons_graph_node(inner, "never", node_log, NULL);
        pons_graph_edge(inner, PONS_START, "first");
        pons_graph_edge(inner, "first", "leave");
        pons_graph_edge(inner, "leave", "never");
        pons_graph_edge(inner, "never", PONS_END);
        pons_graph *in = compile(inner, NULL);
        pons_graph_builder *gb = builder("outer");
        pons_graph_subgraph(gb, "sub", in, modes[i]);
        pons_graph_node(gb, "after", node_log, NULL);
        pons_graph_edge(gb, PONS_START, "sub");
        pons_graph_edge(gb, "after", PONS_END);
        pons_graph_node_options(gb, "sub", &(pons_node_options){.goes = goes});
        pons_graph *g = compile(gb, NULL);
        for (int again = 0; again < 2; again++) { // its own namespace is left unfinished: no matter
            pons_run *r = run_to(&b, g, "", "{'log':{'__overwrite__':[]}}", PONS_RUN_DONE);
            assert_json(pons_run_get(r, "log"), "['for the parent','after']");
            assert_int_equal(bed_events(&b, "said"), again + 1);
            pons_run_destroy(r);
        }
        pons_graph_destroy(g);
        pons_graph_destroy(in);
        bed_close(&b);
    }
}

static void the_parent_must_be_there(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    pons_graph_builder *gb = builder("root");
    pons_graph_node(gb, "a", to_parent, NULL);
    pons_graph_edge(gb, PONS_START, "a");
    pons_graph_edge(gb, "a", PONS_END);
    pons_graph *g = compile(gb, NULL);
    pons_run *r = run_to(&b, g, "", NULL, PONS_RUN_FAILED);
    assert_int_equal(pons_run_error(r)->status, PONS_EINVAL);
    assert_non_null(strstr(pons_run_error(r)->message, "parent"));
    pons_run_destroy(r);
    assert_int_equal(
        pons_run_command(b.t, g, "", &(pons_command){.parent = true}, NULL, &r, &b.err),
        PONS_EINVAL);
    pons_graph_destroy(g);
    bed_close(&b);
}

static int asks(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    const pons_value *answer;
    int st = pons_interrupt(cx, json_string("ok?"), &answer, err);
    if (st != PONS_OK) {
        return st;
    }
    char text[128];
    snprintf(text, sizeof text, "%s after %zu", json_string_value(answer),
             json_array_size(pons_cx_get(cx, "log")));
    return log_text(cx, text);
}

static void a_command_as_input(void **state)
{
    (void)state;
    static const char *const go[] = {"b", NULL}, *const nowhere[] = {"ghost", NULL};
    bed b;
    bed_open(&b);
    pons_graph_builder *gb = builder("input");
    pons_graph_node(gb, "a", asks, NULL);
    pons_graph_node(gb, "b", node_log, NULL);
    pons_graph_edge(gb, PONS_START, "a");
    pons_graph_edge(gb, "a", "b");
    pons_graph_edge(gb, "b", PONS_END);
    pons_graph *g = compile(gb, NULL);
    pons_run *r = NULL;
    pons_autovalue yes = json("'yes'");
    // Nothing is pending.
    assert_int_equal(pons_run_command(b.t, g, "", &(pons_command){.resume = yes}, NULL, &r, &b.err),
                     PONS_ENOTFOUND);
    pons_run_destroy(run_to(&b, g, "", "{'log':'in'}", PONS_RUN_INTERRUPTED));
    // A resume with an update, which a crash in between does not lose.
    assert_ok(pons_run_command(b.t, g, "", &(pons_command){.update = json("{'log':'told'}")}, NULL,
                               &r, &b.err));
    pons_run_destroy(r);
    bed_thread(&b);
    assert_ok(pons_run_command(b.t, g, "", &(pons_command){.resume = yes}, NULL, &r, &b.err));
    assert_ok(pons_run_advance(r, &b.err));
    assert_int_equal(pons_run_state_get(r), PONS_RUN_DONE);
    assert_json(pons_run_get(r, "log"), "['in','told','yes after 2','b']");
    pons_run_destroy(r);
    assert_state(&b, "", "log", "['in','told','yes after 2','b']");
    // Somewhere else than at START.
    assert_ok(pons_run_command(
        b.t, g, "", &(pons_command){.update = json("{'log':'jump'}"), .go = go}, NULL, &r, &b.err));
    assert_ok(pons_run_advance(r, &b.err));
    assert_int_equal(pons_run_state_get(r), PONS_RUN_DONE);
    assert_json(pons_run_get(r, "log"), "['in','told','yes after 2','b','jump','b']");
    pons_run_destroy(r);
    // What can't be.
    assert_int_equal(pons_run_command(b.t, g, "", &(pons_command){.go = nowhere}, NULL, &r, &b.err),
                     PONS_EINVAL);
    assert_int_equal(
        pons_run_command(b.t, g, "", &(pons_command){.go = go, .resume = yes}, NULL, &r, &b.err),
        PONS_EINVAL);
    // An update alone, with nothing to go on with: the state has it, nothing runs.
    assert_ok(pons_run_command(b.t, g, "", &(pons_command){.update = json("{'log':'end'}")}, NULL,
                               &r, &b.err));
    assert_ok(pons_run_advance(r, &b.err));
    assert_int_equal(pons_run_supersteps(r), 0);
    pons_run_destroy(r);
    assert_state(&b, "", "log", "['in','told','yes after 2','b','jump','b','end']");
    pons_graph_destroy(g);
    bed_close(&b);
}

// ---- deferred, managed --------------------------------------------------------------------------

static void a_deferred_node_waits_for_everything(void **state)
{
    (void)state;
    for (int crash = 0; crash < 2; crash++) {
        bed b;
        bed_open(&b);
        pons_graph_builder *gb = builder("deferred");
        static const char *const stop[] = {"long2", NULL};
        pons_graph_node(gb, "short", node_log, NULL);
        pons_graph_node(gb, "long1", node_log, NULL);
        pons_graph_node(gb, "long2", node_log, NULL);
        pons_graph_node(gb, "sum", node_log, NULL);
        pons_graph_edge(gb, PONS_START, "short");
        pons_graph_edge(gb, PONS_START, "long1");
        pons_graph_edge(gb, "long1", "long2");
        pons_graph_edge(gb, "short", "sum");
        pons_graph_edge(gb, "long2", "sum");
        pons_graph_edge(gb, "sum", PONS_END);
        pons_graph_node_options(gb, "sum", &(pons_node_options){.deferred = true});
        pons_graph *g = compile(gb, crash ? &(pons_graph_options){.interrupt_before = stop} : NULL);
        pons_run *r = run_to(&b, g, "", NULL, crash ? PONS_RUN_INTERRUPTED : PONS_RUN_DONE);
        if (crash) {
            pons_run_destroy(r);
            bed_thread(&b);
            r = resume_to(&b, g, "", PONS_RUN_DONE);
        }
        assert_json(pons_run_get(r, "log"), "['long1','short','long2','sum']");
        pons_run_destroy(r);
        pons_graph_destroy(g);
        bed_close(&b);
    }
}

static int node_left(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    pons_cx_goto(cx, json_is_true(pons_cx_get(cx, "last")) ? PONS_END : "n");
    return pons_cx_put(cx, "log", pons_value_ref(pons_cx_get(cx, "left")));
}

static int node_writes_managed(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    return pons_cx_put(cx, "left", json_integer(1));
}

static void managed_values_are_read_only(void **state)
{
    (void)state;
    static const char *const goes[] = {"n", PONS_END, NULL};
    for (int writes = 0; writes < 2; writes++) {
        bed b;
        bed_open(&b);
        pons_graph_builder *gb = builder("managed");
        channel(gb, "left", PONS_CHANNEL_REMAINING_STEPS, NULL);
        channel(gb, "last", PONS_CHANNEL_IS_LAST_STEP, NULL);
        pons_graph_node(gb, "n", writes ? node_writes_managed : node_left, NULL);
        pons_graph_edge(gb, PONS_START, "n");
        pons_graph_node_options(gb, "n", &(pons_node_options){.goes = goes});
        pons_graph *g = compile(gb, &(pons_graph_options){.recursion_limit = 4});
        // A graceful end at the limit, where GRAPH_RECURSION_LIMIT would have come.
        pons_run *r = run_to(&b, g, "", NULL, writes ? PONS_RUN_FAILED : PONS_RUN_DONE);
        if (!writes) {
            assert_json(pons_run_get(r, "log"), "[3,2,1]");
        } else {
            assert_non_null(strstr(pons_run_error(r)->message, "manages"));
        }
        pons_run_destroy(r);
        pons_graph_destroy(g);
        bed_close(&b);
    }
}

int main(void)
{
    pons_value_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sends_run_after_triggered_nodes_in_the_order_sent),
        cmocka_unit_test(sends_that_park_are_found_again),
        cmocka_unit_test(a_node_sends_only_where_its_options_say),
        cmocka_unit_test(a_command_adds_to_the_static_edges),
        cmocka_unit_test(a_command_to_the_parent_ends_the_child),
        cmocka_unit_test(the_parent_must_be_there),
        cmocka_unit_test(a_command_as_input),
        cmocka_unit_test(a_deferred_node_waits_for_everything),
        cmocka_unit_test(managed_values_are_read_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
