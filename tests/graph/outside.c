// outside.c - see outside.h.
#include "graph/outside.h"

#include "graph/place.h"
#include "pons/items.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pons_value *look(bed *b, const char *ns, const pons_snapshot_options *opts)
{
    pons_value *v = NULL;
    if (pons_state_snapshot(b->store, "t1", ns, opts, &v, &b->err)) {
        char line[1024];
        fail_msg("%s", pons_error_line(&b->err, line, sizeof line));
    }
    return v;
}

// The task of a name.
static const pons_value *task_of(const pons_value *snapshot, const char *name)
{
    pons_value *task;
    size_t i;
    json_array_foreach(pons_get(snapshot, "tasks"), i, task) {
        if (strcmp(pons_get_str(task, "name", ""), name) == 0) {
            return task;
        }
    }
    fail_msg("no task %s", name);
    return NULL;
}

static int node_asks(pons_cx *cx, void *user, pons_error *err)
{
    const pons_value *answer;
    int st = pons_interrupt(cx, json_string(user ? user : "ok?"), &answer, err);
    return st == PONS_OK ? pons_cx_put(cx, "log", pons_value_ref(answer)) : st;
}

static int node_fails(pons_cx *cx, void *user, pons_error *err)
{
    const bool *broken = user;
    (void)cx;
    return *broken ? pons_error_set(err, PONS_EIO, "test", "the gripper is stuck") : PONS_OK;
}

static int node_awaits(pons_cx *cx, void *user, pons_error *err)
{
    const pons_value *answer;
    (void)user;
    return pons_await(cx, "ask", json_string("how far?"), 0, &answer, err);
}

// start -> a -> (asks, done, more…) -> end
static pons_graph *fan(pons_node_fn fn, void *user)
{
    pons_graph_builder *gb = pons_graph_builder_create("fan");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    channel(gb, "wanted", PONS_CHANNEL_LAST, NULL);
    pons_graph_node(gb, "a", node_log, NULL);
    pons_graph_node(gb, "asks", node_asks, NULL);
    pons_graph_node(gb, "done", node_log, NULL);
    pons_graph_edge(gb, PONS_START, "a");
    pons_graph_edge(gb, "a", "asks");
    pons_graph_edge(gb, "a", "done");
    pons_graph_edge(gb, "asks", PONS_END);
    pons_graph_edge(gb, "done", PONS_END);
    if (fn) {
        pons_graph_node(gb, "more", fn, user);
        pons_graph_edge(gb, "a", "more");
        pons_graph_edge(gb, "more", PONS_END);
    }
    return compile(gb, NULL);
}

static pons_run *start(bed *b, const pons_graph *g, const char *ns, const char *metadata)
{
    pons_run_options opts = PONS_RUN_OPTIONS_INIT;
    pons_value *m = metadata ? json(metadata) : NULL, *input = json("{'wanted':1}");
    pons_run *r = NULL;
    opts.durability = PONS_DURABILITY_SYNC;
    opts.metadata = m;
    assert_ok(pons_run_start(b->t, g, ns, input, &opts, &r, &b->err));
    pons_value_unref(m); // the run has its own reference
    pons_value_unref(input);
    assert_ok(pons_run_advance(r, &b->err));
    return r;
}

// ---- one checkpoint -----------------------------------------------------------------------------

static void test_what_is_asked_and_done(void **state)
{
    place p;
    open_place(&p, state);
    pons_graph *g = fan(NULL, NULL);
    pons_run *r = start(&p.b, g, "", "{'user':'mara','tags':['night']}");
    pons_value *s = look(&p.b, "", NULL);
    assert_json(pons_get(s, "next"), "['asks']"); // the other one has finished
    assert_json(pons_get(s, "values"), "{'log':['a'],'wanted':1}");
    assert_json(pons_get(task_of(s, "done"), "result"), "{'log':'done'}");
    assert_json(pons_get(task_of(s, "done"), "interrupts"), "[]");
    assert_json(pons_get(task_of(s, "asks"), "result"), "null");
    assert_json(pons_get(task_of(s, "asks"), "error"), "null");
    const pons_value *asked = json_array_get(pons_get(s, "interrupts"), 0);
    assert_string_equal(pons_get_str(asked, "value", ""), "ok?");
    const pons_value *m = pons_get(s, "metadata");
    assert_string_equal(pons_get_str(m, "source", ""), "loop");
    assert_int_equal(pons_get_int(m, "step", -9), 1);
    assert_string_equal(pons_get_str(m, "user", ""), "mara");
    assert_json(pons_get(m, "tags"), "['night']");
    assert_json(pons_get(m, "parents"), "{}");
    // Its id is the one that an answer takes.
    pons_value *answers = json_object();
    json_object_set_new(answers, pons_get_str(asked, "id", ""), json_string("yes"));
    assert_ok(pons_run_resume_map(r, answers, &p.b.err));
    assert_ok(pons_run_advance(r, &p.b.err));
    assert_int_equal(pons_run_state_get(r), PONS_RUN_DONE);
    pons_value_unref(answers);
    pons_value_unref(s);
    s = look(&p.b, "", NULL);
    assert_json(pons_get(s, "next"), "[]");
    assert_json(pons_get(s, "tasks"), "[]");
    assert_json(pons_get(pons_get(s, "values"), "log"), "['a','yes','done']");
    pons_value_unref(s);
    s = look(&p.b, "", &(pons_snapshot_options){.bare = true});
    assert_null(pons_get(s, "values"));
    pons_value_unref(s);
    pons_value *none = NULL;
    assert_int_equal(pons_state_snapshot(p.b.store, "t1", "nowhere", NULL, &none, &p.b.err),
                     PONS_ENOTFOUND);
    assert_int_equal(pons_state_snapshot(p.b.store, "t1", "",
                                         &(pons_snapshot_options){.checkpoint = "nothing"}, &none,
                                         &p.b.err),
                     PONS_ENOTFOUND);
    pons_run_destroy(r);
    pons_graph_destroy(g);
    close_place(&p);
}

static void test_what_failed_and_what_is_awaited(void **state)
{
    place p;
    bool broken = true;
    open_place(&p, state);
    pons_graph *g = fan(node_fails, &broken);
    pons_run *r = start(&p.b, g, "", NULL);
    assert_int_equal(pons_run_state_get(r), PONS_RUN_FAILED);
    pons_value *s = look(&p.b, "", NULL);
    assert_non_null(strstr(pons_get_str(task_of(s, "more"), "error", ""), "the gripper is stuck"));
    assert_json(pons_get(task_of(s, "done"), "result"), "{'log':'done'}");
    assert_json(pons_get(s, "next"), "['asks','more']");
    pons_value_unref(s);
    pons_run_destroy(r);
    broken = false; // a resume runs what failed: its error is no more
    r = resume_to(&p.b, g, "", PONS_RUN_INTERRUPTED);
    s = look(&p.b, "", NULL);
    assert_json(pons_get(task_of(s, "more"), "error"), "null");
    assert_json(pons_get(s, "next"), "['asks']");
    pons_value_unref(s);
    pons_run_destroy(r);
    pons_graph_destroy(g);
    g = fan(node_awaits, NULL);
    r = start(&p.b, g, "other", NULL);
    s = look(&p.b, "other", NULL);
    const pons_value *await = json_array_get(pons_get(task_of(s, "more"), "awaits"), 0);
    assert_string_equal(pons_get_str(await, "kind", ""), "ask");
    assert_string_equal(pons_get_str(await, "request", ""), "how far?");
    assert_int_equal(json_array_size(pons_get(s, "interrupts")), 1);
    pons_value_unref(s);
    pons_run_destroy(r);
    pons_graph_destroy(g);
    close_place(&p);
}

static int route_sends(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    pons_cx_send(cx, "worker", json_integer(7));
    pons_cx_send(cx, "worker", json_integer(8));
    return PONS_OK;
}

static int node_odd(pons_cx *cx, void *user, pons_error *err)
{
    const bool even = json_integer_value(pons_cx_arg(cx)) % 2 == 0;
    return even ? node_asks(cx, user, err) : pons_cx_put(cx, "log", json_string("odd"));
}

static void test_sends(void **state)
{
    static const char *const targets[] = {"worker", NULL};
    place p;
    open_place(&p, state);
    pons_graph_builder *gb = pons_graph_builder_create("sends");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    channel(gb, "wanted", PONS_CHANNEL_LAST, NULL);
    pons_graph_node(gb, "a", node_log, NULL);
    pons_graph_node(gb, "worker", node_odd, NULL);
    pons_graph_edge(gb, PONS_START, "a");
    pons_graph_router(gb, "a", route_sends, NULL, targets);
    pons_graph_edge(gb, "worker", PONS_END);
    pons_graph *g = compile(gb, NULL);
    pons_run *r = start(&p.b, g, "", NULL);
    pons_value *s = look(&p.b, "", NULL);
    const pons_value *first = json_array_get(pons_get(s, "tasks"), 0),
                     *second = json_array_get(pons_get(s, "tasks"), 1);
    assert_json(pons_get(first, "arg"), "7");
    assert_json(pons_get(first, "result"), "{'log':'odd'}");
    assert_json(pons_get(second, "arg"), "8");
    assert_int_equal(json_array_size(pons_get(second, "interrupts")), 1);
    assert_json(pons_get(s, "next"), "['worker']");
    pons_value_unref(s);
    pons_run_destroy(r);
    pons_graph_destroy(g);
    close_place(&p);
}

// ---- subgraphs ----------------------------------------------------------------------------------

static pons_graph *inner_graph(void)
{
    pons_graph_builder *gb = pons_graph_builder_create("inner");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    channel(gb, "mine", PONS_CHANNEL_REDUCE, pons_reduce_append);
    pons_graph_node(gb, "in", node_log, NULL);
    pons_graph_node(gb, "asks", node_asks, (void *)(uintptr_t) "deeper?");
    pons_graph_edge(gb, PONS_START, "in");
    pons_graph_edge(gb, "in", "asks");
    pons_graph_edge(gb, "asks", PONS_END);
    return compile(gb, NULL);
}

static pons_graph *outer_graph(const pons_graph *inner, pons_subgraph_mode mode)
{
    pons_graph_builder *gb = pons_graph_builder_create("outer");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    channel(gb, "wanted", PONS_CHANNEL_LAST, NULL);
    pons_graph_subgraph(gb, "sub", inner, mode);
    pons_graph_edge(gb, PONS_START, "sub");
    pons_graph_edge(gb, "sub", PONS_END);
    return compile(gb, NULL);
}

static void subgraphs(void **state, pons_subgraph_mode mode)
{
    place p;
    char first_id[32];
    open_place(&p, state);
    pons_graph *inner = inner_graph(), *middle = NULL, *g = outer_graph(inner, mode);
    pons_run *r = start(&p.b, g, "", "{'user':'mara'}");
    pons_value *s = look(&p.b, "", NULL);
    const pons_value *task = task_of(s, "sub");
    assert_string_equal(pons_get_str(json_array_get(pons_get(task, "interrupts"), 0), "value", ""),
                        "deeper?");
    assert_non_null(pons_get(task, "ns"));
    assert_null(pons_get(task, "state"));
    snprintf(first_id, sizeof first_id, "%s", pons_get_str(s, "checkpoint_id", ""));
    // The namespace reads by itself, too.
    pons_value *below = look(&p.b, pons_get_str(task, "ns", ""), NULL);
    assert_json(pons_get(below, "next"), "['asks']");
    pons_value_unref(below);
    pons_value_unref(s);
    s = look(&p.b, "", &(pons_snapshot_options){.subgraphs = true});
    const pons_value *inside = pons_get(task_of(s, "sub"), "state");
    assert_json(pons_get(inside, "next"), "['asks']");
    assert_json(pons_get(pons_get(inside, "values"), "log"), "['in']");
    assert_string_equal(pons_get_str(pons_get(inside, "metadata"), "user", ""), "mara");
    assert_string_equal(pons_get_str(pons_get(pons_get(inside, "metadata"), "parents"), "", ""),
                        first_id);
    pons_value_unref(s);
    pons_value *yes = json_string("yes");
    assert_ok(pons_run_resume_value(r, yes, &p.b.err));
    assert_ok(pons_run_advance(r, &p.b.err));
    assert_int_equal(pons_run_state_get(r), PONS_RUN_DONE);
    pons_run_destroy(r);
    r = start(&p.b, g, "",
              NULL); // another one: of a subgraph with memory, the head is elsewhere now
    assert_ok(pons_run_resume_value(r, yes, &p.b.err));
    assert_ok(pons_run_advance(r, &p.b.err));
    pons_run_destroy(r);
    pons_value_unref(yes);
    s = look(&p.b, "", &(pons_snapshot_options){.checkpoint = first_id, .subgraphs = true});
    inside = pons_get(task_of(s, "sub"), "state");
    assert_json(pons_get(pons_get(inside, "values"), "log"), "['in','yes']"); // where its run ended
    pons_value_unref(s);
    pons_graph_destroy(g);
    pons_graph_destroy(inner);
    pons_graph_destroy(middle);
    close_place(&p);
}

static void test_subgraph_inherits(void **state)
{
    subgraphs(state, PONS_SUBGRAPH_INHERIT);
}

static void test_subgraph_own(void **state)
{
    subgraphs(state, PONS_SUBGRAPH_OWN);
}

// ---- history ------------------------------------------------------------------------------------

// "source step user" of each, newest first.
static void assert_found(bed *b, const pons_history_query *q, const char *want)
{
    pons_value *list = NULL, *one;
    char have[1024] = "";
    size_t i, n = 0;
    assert_ok(pons_state_history_find(b->store, "t1", "", q, &list, &b->err));
    json_array_foreach(list, i, one) {
        const pons_value *m = pons_get(one, "metadata");
        n += (size_t)snprintf(have + n, sizeof have - n, "%s%s %d %s", i ? ", " : "",
                              pons_get_str(m, "source", ""), (int)pons_get_int(m, "step", -9),
                              pons_get_str(m, "user", "-"));
    }
    pons_value_unref(list);
    assert_string_equal(have, want);
}

static void test_history(void **state)
{
    static const char *const users[] = {"{'user':'mara'}", "{'user':'ben'}", NULL};
    place p;
    open_place(&p, state);
    pons_graph_builder *gb = pons_graph_builder_create("one");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    channel(gb, "wanted", PONS_CHANNEL_LAST, NULL);
    pons_graph_node(gb, "a", node_log, NULL);
    pons_graph_edge(gb, PONS_START, "a");
    pons_graph_edge(gb, "a", PONS_END);
    pons_graph *g = compile(gb, NULL);
    for (size_t i = 0; i < 3; i++) {
        pons_run_destroy(start(&p.b, g, "", users[i]));
    }
    assert_found(&p.b, &(pons_history_query){0},
                 "loop 7 -, loop 6 -, input 5 -, loop 4 ben, loop 3 ben, input 2 ben, loop 1 mara, "
                 "loop 0 mara, input -1 mara");
    assert_found(&p.b, &(pons_history_query){.limit = 2}, "loop 7 -, loop 6 -");
    pons_value *filter = json("{'user':'ben'}");
    assert_found(&p.b, &(pons_history_query){.filter = filter},
                 "loop 4 ben, loop 3 ben, input 2 ben");
    assert_found(&p.b, &(pons_history_query){.filter = filter, .limit = 1}, "loop 4 ben");
    pons_value_unref(filter);
    filter = json("{'source':'input','step':{'$lt':5}}");
    assert_found(&p.b, &(pons_history_query){.filter = filter}, "input 2 ben, input -1 mara");
    pons_value_unref(filter);
    // A cursor, from every place, in pages of two: the same list.
    pons_value *all = NULL;
    assert_ok(pons_state_history_find(p.b.store, "t1", "", &(pons_history_query){.bare = true},
                                      &all, &p.b.err));
    char before[32] = "";
    for (size_t at = 0; at < json_array_size(all);) {
        pons_value *page = NULL, *one;
        size_t i;
        const pons_history_query q = {.before = before, .limit = 2, .bare = true};
        assert_ok(pons_state_history_find(p.b.store, "t1", "", &q, &page, &p.b.err));
        assert_true(json_array_size(page) > 0);
        json_array_foreach(page, i, one) {
            assert_true(json_equal(one, json_array_get(all, at)));
            snprintf(before, sizeof before, "%s", pons_get_str(one, "checkpoint_id", ""));
            at++;
        }
        pons_value_unref(page);
    }
    pons_value_unref(all);
    pons_graph_destroy(g);
    close_place(&p);
}

// ---- threads ------------------------------------------------------------------------------------

static void assert_threads(bed *b, pons_threads_query q, const char *want)
{
    pons_value *list = NULL, *one;
    char have[512] = "";
    size_t i, n = 0;
    q.by = PONS_THREADS_BY_ID;
    q.ascending = true;
    assert_ok(pons_threads_find(b->store, &q, &list, &b->err));
    json_array_foreach(list, i, one) {
        n += (size_t)snprintf(have + n, sizeof have - n, "%s%s %s", i ? ", " : "",
                              pons_get_str(one, "thread_id", ""), pons_get_str(one, "status", ""));
    }
    pons_value_unref(list);
    assert_string_equal(have, want);
}

static void set_metadata(bed *b, const char *thread, const char *text, bool merge)
{
    pons_value *m = json(text);
    assert_ok(pons_thread_metadata_set(b->store, thread, m, merge, &b->err));
    pons_value_unref(m);
}

static void test_threads(void **state)
{
    place p;
    bool broken = true;
    open_place(&p, state);
    set_metadata(&p.b, "t0", "{'graph':'letters'}", false); // makes it
    pons_graph *g = fan(node_awaits, NULL);
    pons_run *r = start(&p.b, g, "", NULL);
    assert_threads(&p.b, (pons_threads_query){0}, "t0 idle, t1 busy"); // it waits for the program
    set_metadata(&p.b, "t1", "{'graph':'fan','user':'mara'}", false);  // while it is held
    set_metadata(&p.b, "t1", "{'user':'ben'}", true);
    pons_value *filter = json("{'graph':'fan','user':'ben'}");
    assert_threads(&p.b, (pons_threads_query){.metadata = filter}, "t1 busy");
    pons_value_unref(filter);
    filter = json("{'graph':'nothing'}");
    assert_threads(&p.b, (pons_threads_query){.metadata = filter}, "");
    pons_value_unref(filter);
    pons_run_destroy(r);
    pons_graph_destroy(g);
    pons_thread_close(p.b.t);
    p.b.t = NULL;
    assert_threads(&p.b, (pons_threads_query){0}, "t0 idle, t1 interrupted"); // left as it was
    assert_threads(&p.b, (pons_threads_query){.status = "busy"}, "");
    assert_threads(&p.b, (pons_threads_query){.status = "idle"}, "t0 idle");
    bed_thread(&p.b);
    g = fan(node_fails, &broken);
    r = start(&p.b, g, "", NULL);
    assert_threads(&p.b, (pons_threads_query){0}, "t0 idle, t1 error");
    filter = json("{'wanted':1}");
    assert_threads(&p.b, (pons_threads_query){.values = filter}, "t1 error");
    pons_value_unref(filter);
    filter = json("{'wanted':2}");
    assert_threads(&p.b, (pons_threads_query){.values = filter}, "");
    pons_value_unref(filter);
    pons_value *one = NULL;
    assert_ok(pons_threads_find(p.b.store, &(pons_threads_query){.thread = "t1"}, &one, &p.b.err));
    assert_json(pons_get(json_array_get(one, 0), "metadata"), "{'graph':'fan','user':'ben'}");
    assert_int_equal(json_object_size(pons_get(json_array_get(one, 0), "interrupts")), 1);
    pons_value_unref(one);
    assert_int_equal(
        pons_threads_find(p.b.store, &(pons_threads_query){.thread = "t9"}, &one, &p.b.err),
        PONS_ENOTFOUND);
    assert_threads(&p.b, (pons_threads_query){.limit = 1}, "t0 idle");
    assert_threads(&p.b, (pons_threads_query){.limit = 1, .offset = 1}, "t1 error");
    pons_run_destroy(r);
    pons_graph_destroy(g);
    close_place(&p);
}

int outside_run(const fault_store *kind)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_asked_and_done),
        cmocka_unit_test(test_what_failed_and_what_is_awaited),
        cmocka_unit_test(test_sends),
        cmocka_unit_test(test_subgraph_inherits),
        cmocka_unit_test(test_subgraph_own),
        cmocka_unit_test(test_history),
        cmocka_unit_test(test_threads),
    };
    struct CMUnitTest of_kind[sizeof tests / sizeof *tests];
    memcpy(of_kind, tests, sizeof tests);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        of_kind[i].initial_state = (void *)(uintptr_t)kind;
    }
    return cmocka_run_group_tests(of_kind, NULL, NULL);
}
