// test_run.c - the superstep loop as its user sees it: the order in which writes are applied,
// joins, routers, the recursion limit, stops before and after a node, failures that keep what
// siblings did, quiet runs that leave no trace, a commit that fails and is tried again. All on a
// memory store with a clock that stands still.
#include "graph/graph_help.h"

#include <string.h>

static int node_count(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    return pons_cx_put(cx, "count", json_integer(json_integer_value(pons_cx_get(cx, "count")) + 1));
}

static int route_count(pons_cx *cx, void *user, pons_error *err)
{
    (void)err;
    const int *until = user;
    pons_cx_goto(cx, json_integer_value(pons_cx_get(cx, "count")) < *until ? "count" : PONS_END);
    return PONS_OK;
}

static pons_graph *counter(int *until, const pons_graph_options *opts)
{
    static const char *const to[] = {"count", PONS_END, NULL};
    pons_graph_builder *b = pons_graph_builder_create("counter");
    pons_graph_channel(b, "count", NULL);
    pons_graph_node(b, "count", node_count, NULL);
    pons_graph_edge(b, PONS_START, "count");
    pons_graph_router(b, "count", route_count, until, to);
    return compile(b, opts);
}

static void a_linear_run_ends_and_is_stored(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    pons_graph_builder *gb = pons_graph_builder_create("line");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    pons_graph_node(gb, "one", node_log, NULL);
    pons_graph_node(gb, "two", node_log, NULL);
    pons_graph_edge(gb, PONS_START, "one");
    pons_graph_edge(gb, "one", "two");
    pons_graph_edge(gb, "two", PONS_END);
    pons_graph *g = compile(gb, NULL);
    pons_run *r = run_to(&b, g, "", "{'log':['in']}", PONS_RUN_DONE);
    assert_json(pons_run_get(r, "log"), "['in','one','two']");
    assert_int_equal(pons_run_supersteps(r), 2);
    pons_run_destroy(r);

    pons_autovalue v = NULL;
    pons_autovalue h = NULL;
    assert_ok(pons_state_read(b.store, "t1", "", &v, &b.err));
    assert_json(v, "{'log':['in','one','two']}");
    assert_ok(pons_state_history(b.store, "t1", "", 0, true, &h, &b.err));
    assert_int_equal(json_array_size(h), 4); // input, start, one, two
    const pons_value *head = json_array_get(h, 0), *first = json_array_get(h, 3);
    assert_int_equal(pons_get_int(head, "step", -9), 2);
    assert_json(pons_get(head, "next"), "[]");
    assert_json(pons_get(json_array_get(h, 1), "next"), "['two']");
    assert_json(pons_get(json_array_get(h, 1), "values"), "{'log':['in','one']}");
    assert_int_equal(pons_get_int(first, "step", -9), -1);
    assert_string_equal(pons_get_str(first, "source", ""), "input");
    assert_json(pons_get(first, "next"), "['__start__']");
    assert_int_equal(pons_get_int(head, "ts_ms", 0), 1700000001000LL);

    pons_run *again; // of what has ended: its state
    assert_ok(pons_run_resume(b.t, g, "", NULL, &again, &b.err));
    assert_int_equal(pons_run_state_get(again), PONS_RUN_DONE);
    assert_json(pons_run_get(again, "log"), "['in','one','two']");
    pons_run_destroy(again);
    assert_int_equal(pons_run_resume(b.t, g, "none", NULL, &again, &b.err), PONS_ENOTFOUND);
    pons_graph_destroy(g);
    bed_close(&b);
}

static void the_order_of_names_decides_not_of_edges(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    pons_graph_builder *gb = pons_graph_builder_create("fan");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    channel(gb, "any", PONS_CHANNEL_ANY, NULL);
    static const char *const names[] = {"zeta", "alpha", "mid"};
    for (int i = 0; i < 3; i++) {
        pons_graph_node(gb, names[i], node_log, NULL);
        pons_graph_edge(gb, PONS_START, names[i]);
    }
    pons_graph_node(gb, "sum", node_log, NULL);
    pons_graph_join(gb, names, 3, "sum");
    pons_graph_edge(gb, "sum", PONS_END);
    pons_graph *g = compile(gb, NULL);
    pons_run *r = run_to(&b, g, "", NULL, PONS_RUN_DONE);
    assert_json(pons_run_get(r, "log"), "['alpha','mid','zeta','sum']");
    pons_run_destroy(r);
    pons_graph_destroy(g);
    bed_close(&b);
}

static void a_join_waits_for_every_leg_across_steps(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    pons_graph_builder *gb = pons_graph_builder_create("join");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    static const char *const names[] = {"a", "b", "b2", "c"};
    for (int i = 0; i < 4; i++) {
        pons_graph_node(gb, names[i], node_log, NULL);
    }
    pons_graph_edge(gb, PONS_START, "a");
    pons_graph_edge(gb, PONS_START, "b");
    pons_graph_edge(gb, "b", "b2");
    pons_graph_join(gb, (const char *const[]){"a", "b2"}, 2, "c");
    pons_graph_edge(gb, "c", PONS_END);
    pons_graph *g = compile(gb, NULL);
    pons_run *r;
    assert_ok(pons_run_start(b.t, g, "", NULL,
                             &(pons_run_options){.durability = PONS_DURABILITY_SYNC}, &r, &b.err));
    assert_ok(pons_run_step(r, &b.err)); // a and b; then the process dies
    pons_run_destroy(r);
    bed_thread(&b);
    r = resume_to(&b, g, "", PONS_RUN_DONE);
    assert_json(pons_run_get(r, "log"), "['a','b','b2','c']");
    pons_run_destroy(r);
    pons_graph_destroy(g);
    bed_close(&b);
}

static void the_limit_needs_one_more_than_the_steps(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    int until = 5;
    pons_graph *g = counter(&until, &(pons_graph_options){.recursion_limit = 6});
    pons_run *r = run_to(&b, g, "", NULL, PONS_RUN_DONE);
    assert_json(pons_run_get(r, "count"), "5");
    pons_run_destroy(r);
    until = 11;
    r = run_to(&b, g, "", NULL, PONS_RUN_FAILED); // would need 6 steps, so a limit of 7
    assert_int_equal(pons_run_error(r)->status, PONS_ERECURSION);
    pons_run_destroy(r);
    pons_graph_destroy(g);
    bed_close(&b);
}

static int node_fail_once(pons_cx *cx, void *user, pons_error *err)
{
    int *runs = user;
    ++*runs;
    pons_cx_put(cx, "log", json_string("lost"));
    if (*runs == 1) {
        return pons_error_set(err, PONS_EIO, "test", "the network is down");
    }
    return node_log(cx, user, err);
}

static int node_counted(pons_cx *cx, void *user, pons_error *err)
{
    ++*(int *)user;
    pons_cx_emit(cx, "ran", json_integer(1));
    return node_log(cx, user, err);
}

static void a_failure_keeps_what_siblings_did(void **state)
{
    (void)state;
    for (int reopen = 0; reopen < 2; reopen++) {
        bed b;
        bed_open(&b);
        int failing = 0, sibling = 0;
        pons_graph_builder *gb = pons_graph_builder_create("fail");
        channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
        pons_graph_node(gb, "bad", node_fail_once, &failing);
        pons_graph_node(gb, "good", node_counted, &sibling);
        pons_graph_edge(gb, PONS_START, "bad");
        pons_graph_edge(gb, PONS_START, "good");
        pons_graph_edge(gb, "bad", PONS_END);
        pons_graph_edge(gb, "good", PONS_END);
        pons_graph *g = compile(gb, NULL);
        pons_run *r = run_to(&b, g, "", NULL, PONS_RUN_FAILED);
        assert_string_equal(pons_run_error(r)->message, "the network is down");
        assert_int_equal(bed_events(&b, "ran"), 0); // not committed yet
        if (reopen) {
            pons_run_destroy(r);
            bed_thread(&b);
            r = NULL;
        }
        pons_run *again = resume_to(&b, g, "", PONS_RUN_DONE);
        assert_json(pons_run_get(again, "log"), "['lost','bad','good']");
        assert_int_equal(sibling, 1);
        assert_int_equal(failing, 2);
        assert_int_equal(bed_events(&b, "ran"), 1);
        pons_run_destroy(r);
        pons_run_destroy(again);
        pons_graph_destroy(g);
        bed_close(&b);
    }
}

static void stops_before_and_after_go_on_with_a_null(void **state)
{
    (void)state;
    for (int after = 0; after < 2; after++) {
        bed b;
        bed_open(&b);
        pons_graph_builder *gb = pons_graph_builder_create("stop");
        channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
        pons_graph_node(gb, "one", node_log, NULL);
        pons_graph_node(gb, "two", node_log, NULL);
        pons_graph_edge(gb, PONS_START, "one");
        pons_graph_edge(gb, "one", "two");
        pons_graph_edge(gb, "two", PONS_END);
        static const char *const one[] = {"one", NULL}, *const two[] = {"two", NULL};
        pons_graph_options o = {.interrupt_before = after ? NULL : two,
                                .interrupt_after = after ? one : NULL};
        pons_graph *g = compile(gb, &o);
        pons_run *r = run_to(&b, g, "", NULL, PONS_RUN_INTERRUPTED);
        assert_json(pons_run_get(r, "log"), "['one']");
        if (after) {
            pons_run_destroy(r);
            bed_thread(&b);
            r = resume_to(&b, g, "", PONS_RUN_DONE);
        } else {
            assert_ok(pons_run_resume_value(r, NULL, &b.err));
            assert_ok(pons_run_advance(r, &b.err));
        }
        assert_int_equal(pons_run_state_get(r), PONS_RUN_DONE);
        assert_json(pons_run_get(r, "log"), "['one','two']");
        pons_run_destroy(r);
        pons_graph_destroy(g);
        bed_close(&b);
    }
}

static void a_new_input_discards_what_was_pending(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    int until = 3;
    pons_graph *g = counter(&until, NULL);
    pons_run *r, *other;
    pons_run_options o = {.durability = PONS_DURABILITY_SYNC};
    assert_ok(pons_run_start(b.t, g, "k", NULL, &o, &r, &b.err));
    assert_ok(pons_run_step(r, &b.err));
    assert_int_equal(pons_run_start(b.t, g, "k", NULL, &o, &other, &b.err), PONS_EBUSY);
    pons_run_destroy(r);
    r = run_to(&b, g, "k", "{'count':10}", PONS_RUN_DONE);
    assert_json(pons_run_get(r, "count"), "11");
    pons_run_destroy(r);
    pons_graph_destroy(g);
    bed_close(&b);
}

static int64_t rows(bed *b, const char *ns)
{
    pons_autovalue h = NULL;
    pons_error err = PONS_ERROR_INIT;
    if (pons_state_history(b->store, "t1", ns, 0, false, &h, &err) != PONS_OK) {
        return 0;
    }
    return (int64_t)json_array_size(h);
}

static int node_maybe(pons_cx *cx, void *user, pons_error *err)
{
    (void)err;
    const bool *write = user;
    pons_cx_put(cx, "seen", json_integer(pons_cx_superstep(cx))); // untracked
    const pons_value *in = pons_cx_inbox(cx, err);
    if (json_array_size(in) > 0) {
        pons_cx_put(cx, "said", pons_value_ref(pons_get(json_array_get(in, 0), "value")));
    }
    return pons_cx_put(cx, "kept", json_string(*write ? "new" : "old"));
}

static int node_none(pons_cx *cx, void *user, pons_error *err)
{
    (void)cx;
    (void)user;
    (void)err;
    return PONS_OK;
}

static void quiet_runs_leave_no_trace(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    bool write = false;
    pons_graph_builder *gb = pons_graph_builder_create("quiet");
    channel(gb, "seen", PONS_CHANNEL_UNTRACKED, NULL);
    channel(gb, "kept", PONS_CHANNEL_LAST, NULL);
    channel(gb, "said", PONS_CHANNEL_LAST, NULL);
    pons_graph_node(gb, "first", node_none, NULL);
    pons_graph_node(gb, "work", node_maybe, &write);
    pons_graph_node(gb, "last", node_none, NULL);
    pons_graph_edge(gb, PONS_START, "first");
    pons_graph_edge(gb, "first", "work");
    pons_graph_edge(gb, "work", "last");
    pons_graph_edge(gb, "last", PONS_END);
    pons_graph *g = compile(gb, &(pons_graph_options){.quiet = true});
    pons_run_destroy(run_to(&b, g, "k", NULL, PONS_RUN_DONE));
    int64_t n = rows(&b, "k");
    assert_int_equal(n, 2); // 'kept' became "old": that step, and the end
    for (int i = 0; i < 5; i++) {
        pons_run_destroy(run_to(&b, g, "k", NULL, PONS_RUN_DONE));
    }
    assert_int_equal(rows(&b, "k"), n);

    write = true; // a change in the middle of a run is stored with what comes next
    pons_run *r;
    pons_run_options o = {.durability = PONS_DURABILITY_SYNC};
    assert_ok(pons_run_start(b.t, g, "k", NULL, &o, &r, &b.err));
    assert_ok(pons_run_step(r, &b.err));
    assert_int_equal(rows(&b, "k"), n);
    assert_ok(pons_run_step(r, &b.err));
    assert_int_equal(rows(&b, "k"), n + 1);
    pons_autovalue h = NULL;
    assert_ok(pons_state_history(b.store, "t1", "k", 1, true, &h, &b.err));
    assert_json(pons_get(json_array_get(h, 0), "next"), "['last']");
    assert_json(pons_get(json_array_get(h, 0), "values"), "{'kept':'new'}");
    pons_run_destroy(r); // a crash now goes on from there
    bed_thread(&b);
    pons_run_destroy(resume_to(&b, g, "k", PONS_RUN_DONE));
    pons_run_destroy(resume_to(&b, g, "k", PONS_RUN_DONE)); // it had ended

    n = rows(&b, "k"); // a message is taken exactly once, and stored
    pons_autovalue hello = json("'hello'");
    assert_ok(pons_inbox_post(b.store, "t1", "k", "say", hello, &b.err));
    int64_t waiting = 0;
    assert_ok(pons_thread_inbox_count(b.t, "k", &waiting, &b.err));
    assert_int_equal(waiting, 1);
    r = run_to(&b, g, "k", NULL, PONS_RUN_DONE);
    assert_json(pons_run_get(r, "said"), "'hello'");
    pons_run_destroy(r);
    assert_ok(pons_thread_inbox_count(b.t, "k", &waiting, &b.err));
    assert_int_equal(waiting, 0);
    assert_true(rows(&b, "k") > n);
    pons_graph_destroy(g);
    bed_close(&b);
}

static void a_failed_commit_is_tried_again(void **state)
{
    (void)state;
    pons_store inner;
    pons_error err = PONS_ERROR_INIT;
    assert_ok(pons_store_memory_open(&inner, &err));
    fuse f = {.inner = inner, .left = 2};
    bed b;
    bed_open_on(&b, fuse_store(&f));
    int until = 4;
    pons_graph *g = counter(&until, NULL);
    pons_run *r;
    pons_run_options o = {.durability = PONS_DURABILITY_SYNC};
    assert_ok(pons_run_start(b.t, g, "", NULL, &o, &r, &b.err));
    assert_int_equal(pons_run_advance(r, &b.err), PONS_EIO);
    assert_int_equal(pons_run_state_get(r), PONS_RUN_READY);
    assert_int_equal(pons_run_advance(r, &b.err), PONS_EIO);
    f.dead = false; // the disk has room again
    f.left = -1;
    assert_ok(pons_run_advance(r, &b.err));
    assert_int_equal(pons_run_state_get(r), PONS_RUN_DONE);
    pons_run_destroy(r);
    pons_autovalue v = NULL;
    assert_ok(pons_state_read(b.store, "t1", "", &v, &b.err));
    assert_json(v, "{'count':4}");
    assert_int_equal(rows(&b, ""), 6); // input, start, four counts: none twice
    pons_graph_destroy(g);
    bed_close(&b);
    pons_store_close(&inner);
}

static void every_durability_ends_with_the_same_state(void **state)
{
    (void)state;
    for (pons_durability d = PONS_DURABILITY_ASYNC; d <= PONS_DURABILITY_EXIT; d++) {
        bed b;
        bed_open(&b);
        int until = 40;
        pons_graph *g = counter(&until, NULL);
        pons_run *r;
        assert_ok(
            pons_run_start(b.t, g, "", NULL, &(pons_run_options){.durability = d}, &r, &b.err));
        assert_ok(pons_run_advance(r, &b.err));
        assert_int_equal(pons_run_state_get(r), PONS_RUN_DONE);
        pons_run_destroy(r);
        pons_autovalue v = NULL;
        assert_ok(pons_state_read(b.store, "t1", "", &v, &b.err));
        assert_json(v, "{'count':40}");
        assert_int_equal(rows(&b, ""), d == PONS_DURABILITY_EXIT ? 1 : 42);
        pons_graph_destroy(g);
        bed_close(&b);
    }
}

static void a_thread_without_a_store_runs_as_well(void **state)
{
    (void)state;
    bed b;
    bed_open_without_store(&b);
    int until = 30;
    pons_graph *g = counter(&until, NULL);
    pons_run *r = run_to(&b, g, "", NULL, PONS_RUN_DONE);
    assert_json(pons_run_get(r, "count"), "30");
    pons_run_destroy(r);
    pons_graph_destroy(g);
    bed_close(&b);
}

static void two_namespaces_interleave(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    int until = 10;
    pons_graph *g = counter(&until, NULL);
    pons_run *x, *y;
    pons_run_options o = {.durability = PONS_DURABILITY_SYNC};
    assert_ok(pons_run_start(b.t, g, "x", NULL, &o, &x, &b.err));
    assert_ok(pons_run_start(b.t, g, "y", NULL, &o, &y, &b.err));
    while (pons_run_state_get(x) == PONS_RUN_READY || pons_run_state_get(y) == PONS_RUN_READY) {
        assert_ok(pons_run_step(x, &b.err));
        assert_ok(pons_run_step(y, &b.err));
    }
    assert_json(pons_run_get(x, "count"), "10");
    assert_json(pons_run_get(y, "count"), "10");
    pons_run_destroy(x);
    pons_run_destroy(y);
    pons_graph_destroy(g);
    bed_close(&b);
}

static void faults_of_a_node_are_the_runs(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    int until = 1;
    pons_graph *g = counter(&until, NULL);
    pons_run *r;
    pons_autovalue in = json("{'nope':1}");
    assert_int_equal(pons_run_start(b.t, g, "", in, NULL, &r, &b.err), PONS_EINVAL);
    assert_non_null(strstr(b.err.message, "'nope'"));
    r = run_to(&b, g, "", NULL, PONS_RUN_DONE); // the namespace is free and as it was
    assert_json(pons_run_get(r, "count"), "1");
    pons_run_destroy(r);
    pons_graph_destroy(g);
    bed_close(&b);
}

int main(void)
{
    pons_value_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_linear_run_ends_and_is_stored),
        cmocka_unit_test(the_order_of_names_decides_not_of_edges),
        cmocka_unit_test(a_join_waits_for_every_leg_across_steps),
        cmocka_unit_test(the_limit_needs_one_more_than_the_steps),
        cmocka_unit_test(a_failure_keeps_what_siblings_did),
        cmocka_unit_test(stops_before_and_after_go_on_with_a_null),
        cmocka_unit_test(a_new_input_discards_what_was_pending),
        cmocka_unit_test(quiet_runs_leave_no_trace),
        cmocka_unit_test(a_failed_commit_is_tried_again),
        cmocka_unit_test(every_durability_ends_with_the_same_state),
        cmocka_unit_test(a_thread_without_a_store_runs_as_well),
        cmocka_unit_test(two_namespaces_interleave),
        cmocka_unit_test(faults_of_a_node_are_the_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
