// test_stream.c - what a run shows: the exact events of each mode, alone and together, in the order
// of their numbers; subgraphs; a client that comes back with its last number; nothing when nothing
// is asked.
#include "graph/graph_help.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static int node_speaks(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    pons_cx_message(cx, json_string("to"), NULL);
    pons_cx_message(cx, json_string("ken"), json("{'model':'m'}"));
    pons_cx_custom(cx, json("{'progress':0.5}"));
    return pons_cx_put(cx, "log", json_string("b"));
}

static pons_graph *line(void)
{
    pons_graph_builder *gb = pons_graph_builder_create("line");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    pons_graph_node(gb, "a", node_log, NULL);
    pons_graph_node(gb, "b", node_speaks, NULL);
    pons_graph_edge(gb, PONS_START, "a");
    pons_graph_edge(gb, "a", "b");
    pons_graph_edge(gb, "b", PONS_END);
    return compile(gb, NULL);
}

static pons_run *stream(bed *b, const pons_graph *g, const char *input, uint32_t modes,
                        bool subgraphs, pons_run_state want)
{
    pons_autovalue in = json(input);
    pons_run_options o = {.stream = modes, .stream_subgraphs = subgraphs};
    pons_run *r = NULL;
    assert_ok(pons_run_start(b->t, g, "", in, &o, &r, &b->err));
    assert_ok(pons_run_advance(r, &b->err));
    assert_int_equal(pons_run_state_get(r), want);
    return r;
}

// What was shown, as a client of these modes sees it.
static void assert_shown(bed *b, uint32_t modes, bool subgraphs, const char *want)
{
    pons_autovalue list = json_array();
    pons_value *e;
    size_t i;
    json_array_foreach(b->events, i, e) {
        pons_event ev = {.ns = pons_get_str(e, "ns", ""),
                         .type = pons_get_str(e, "type", ""),
                         .payload = pons_get(e, "payload")};
        pons_value *v = pons_stream_shape(&ev, modes, subgraphs);
        pons_value *meta = json_array_get(v, 1);
        if (modes == PONS_STREAM_MESSAGES) { // its task's id is anybody's guess
            assert_string_equal(pons_get_str(meta, "checkpoint_ns", "?"),
                                pons_get_str(meta, "langgraph_checkpoint_ns", ""));
            assert_memory_equal(pons_get_str(meta, "checkpoint_ns", ""), "b:", 2);
            json_object_del(meta, "checkpoint_ns");
            json_object_del(meta, "langgraph_checkpoint_ns");
        }
        if (v) {
            json_array_append_new(list, v);
        }
    }
    assert_json(list, want);
}

static void each_mode_alone(void **state)
{
    (void)state;
    static const struct {
        uint32_t mode;
        const char *want;
    } cases[] = {
        {PONS_STREAM_VALUES, "[{'log':['in']},{'log':['in','a']},{'log':['in','a','b']}]"},
        {PONS_STREAM_UPDATES, "[{'a':{'log':'a'}},{'b':{'log':'b'}}]"},
        {PONS_STREAM_MESSAGES,
         "[['to',{'thread_id':'t1','langgraph_step':2,'langgraph_node':'b','langgraph_triggers':"
         "['branch:to:b'],'langgraph_path':['__pregel_pull','b']}],"
         "['ken',{'thread_id':'t1','langgraph_step':2,'langgraph_node':'b','langgraph_triggers':"
         "['branch:to:b'],'langgraph_path':['__pregel_pull','b'],'model':'m'}]]"},
        {PONS_STREAM_CUSTOM, "[{'progress':0.5}]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int store = 0; store < 2; store++) {
            bed b;
            if (store) {
                bed_open(&b);
            } else {
                bed_open_without_store(&b);
            }
            pons_graph *g = line();
            pons_run_destroy(stream(&b, g, "{'log':'in'}", cases[i].mode, false, PONS_RUN_DONE));
            assert_shown(&b, cases[i].mode, false, cases[i].want);
            for (size_t k = 0; k < json_array_size(b.events); k++) { // numbers without a gap
                assert_int_equal(pons_get_int(json_array_get(b.events, k), "seq", -1),
                                 store ? (int)k + 1 : 0);
            }
            pons_graph_destroy(g);
            bed_close(&b);
        }
    }
}

static void several_modes_keep_the_order(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    pons_graph *g = line();
    const uint32_t modes = PONS_STREAM_VALUES | PONS_STREAM_UPDATES | PONS_STREAM_CUSTOM;
    pons_run_destroy(stream(&b, g, "{}", modes, false, PONS_RUN_DONE));
    assert_shown(&b, modes, false,
                 "[['values',{}],['updates',{'a':{'log':'a'}}],['values',{'log':['a']}],"
                 "['custom',{'progress':0.5}],['updates',{'b':{'log':'b'}}],"
                 "['values',{'log':['a','b']}]]");
    pons_graph_destroy(g);
    bed_close(&b);
}

static void tasks_checkpoints_and_debug(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    pons_graph *g = line();
    const uint32_t modes = PONS_STREAM_TASKS | PONS_STREAM_CHECKPOINTS | PONS_STREAM_DEBUG;
    pons_run_destroy(stream(&b, g, "{'log':'in'}", modes, false, PONS_RUN_DONE));
    char have[1024] = "", id[32] = "";
    size_t i, n = 0;
    pons_value *e, *list = NULL;
    assert_ok(pons_state_history(b.store, "t1", "", 1, false, &list, &b.err));
    json_array_foreach(b.events, i, e) {
        const pons_value *p = pons_get(e, "payload");
        const char *type = pons_get_str(e, "type", "") + strlen("stream.");
        const char *inner = pons_get_str(p, "type", "");
        n += (size_t)snprintf(have + n, sizeof have - n, "%s%.5s", i ? " " : "", type);
        if (inner[0]) {
            n += (size_t)snprintf(have + n, sizeof have - n, ":%s@%d", inner,
                                  (int)pons_get_int(p, "step", -9));
        }
        if (strcmp(type, "checkpoints") == 0) {
            const pons_value *config = pons_get(pons_get(p, "config"), "configurable");
            snprintf(id, sizeof id, "%s", pons_get_str(config, "checkpoint_id", ""));
        }
    }
    assert_string_equal(
        have,
        "debug:checkpoint@-1 check debug:checkpoint@0 check debug:task@1 tasks debug:task_result@1 "
        "tasks debug:checkpoint@1 check debug:task@2 tasks "
        "debug:task_result@2 tasks debug:checkpoint@2 check");
    // What was shown last is what is stored last.
    assert_string_equal(id, pons_get_str(json_array_get(list, 0), "checkpoint_id", ""));
    pons_value_unref(list);
    pons_graph_destroy(g);
    bed_close(&b);
}

static int node_asks(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    const pons_value *answer;
    int st = pons_interrupt(cx, json_string("ok?"), &answer, err);
    return st == PONS_OK ? pons_cx_put(cx, "log", pons_value_ref(answer)) : st;
}

static void subgraphs_and_interrupts(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    pons_graph_builder *ib = pons_graph_builder_create("inner");
    channel(ib, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    pons_graph_node(ib, "ask", node_asks, NULL);
    pons_graph_edge(ib, PONS_START, "ask");
    pons_graph_edge(ib, "ask", PONS_END);
    pons_graph *in = compile(ib, NULL);
    pons_graph_builder *gb = pons_graph_builder_create("outer");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    pons_graph_node(gb, "a", node_log, NULL);
    pons_graph_subgraph(gb, "sub", in, PONS_SUBGRAPH_OWN);
    pons_graph_edge(gb, PONS_START, "a");
    pons_graph_edge(gb, "a", "sub");
    pons_graph_edge(gb, "sub", PONS_END);
    pons_graph *g = compile(gb, NULL);
    pons_run *r = stream(&b, g, "{}", PONS_STREAM_UPDATES, true, PONS_RUN_INTERRUPTED);
    pons_value *pending = pons_run_pending(r);
    char want[512];
    snprintf(want, sizeof want,
             "[[[],'updates',{'a':{'log':'a'}}],"
             "[['sub'],'updates',{'__interrupt__':[{'id':'%s','value':'ok?'}]}],"
             "[[],'updates',{'__interrupt__':[{'id':'%s','value':'ok?'}]}],"
             "[['sub'],'updates',{'ask':{'log':'yes'}}],"
             "[[],'updates',{'sub':{'log':['yes']}}]]",
             pons_get_str(json_array_get(pending, 0), "id", ""),
             pons_get_str(json_array_get(pending, 0), "id", ""));
    pons_value_unref(pending);
    pons_autovalue yes = json("'yes'");
    assert_ok(pons_run_resume_value(r, yes, &b.err));
    assert_ok(pons_run_advance(r, &b.err));
    assert_shown(&b, PONS_STREAM_UPDATES, true, want);
    pons_run_destroy(r);
    json_array_clear(b.events); // without subgraphs only what a person must know of the inner graph
    r = stream(&b, g, "{}", PONS_STREAM_UPDATES, false, PONS_RUN_INTERRUPTED);
    pending = pons_run_pending(r);
    snprintf(want, sizeof want, "[{'a':{'log':'a'}},{'__interrupt__':[{'id':'%s','value':'ok?'}]}]",
             pons_get_str(json_array_get(pending, 0), "id", ""));
    pons_value_unref(pending);
    assert_shown(&b, PONS_STREAM_UPDATES, false, want);
    pons_run_destroy(r);
    pons_graph_destroy(g);
    pons_graph_destroy(in);
    bed_close(&b);
}

static void a_client_comes_back(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    pons_graph *g = line();
    const uint32_t modes = PONS_STREAM_VALUES | PONS_STREAM_CUSTOM;
    pons_run_destroy(stream(&b, g, "{'log':'in'}", modes, false, PONS_RUN_DONE));
    pons_value *list = NULL;
    assert_ok(pons_stream_read(b.store, "t1", modes, 1, 0, &list, &b.err));
    assert_int_equal(json_array_size(list), 3);
    assert_int_equal(pons_get_int(json_array_get(list, 0), "seq", 0), 2);
    assert_json(pons_get(json_array_get(list, 0), "payload"), "{'log':['in','a']}");
    pons_value_unref(list);
    assert_ok(pons_stream_read(b.store, "t1", PONS_STREAM_CUSTOM, 0, 1, &list, &b.err));
    assert_json(pons_get(json_array_get(list, 0), "payload"), "{'progress':0.5}");
    assert_string_equal(pons_get_str(json_array_get(list, 0), "mode", ""), "custom");
    pons_value_unref(list);
    pons_graph_destroy(g);
    bed_close(&b);
}

static int node_says_and_fails(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    pons_cx_custom(cx, json_string("said"));
    return pons_error_set(err, PONS_EIO, "test", "then it broke");
}

static void what_was_said_stays_when_the_node_fails(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    pons_graph_builder *gb = pons_graph_builder_create("fails");
    pons_graph_node(gb, "n", node_says_and_fails, NULL);
    pons_graph_edge(gb, PONS_START, "n");
    pons_graph_edge(gb, "n", PONS_END);
    pons_graph *g = compile(gb, NULL);
    pons_run_destroy(
        stream(&b, g, "{}", PONS_STREAM_CUSTOM | PONS_STREAM_TASKS, false, PONS_RUN_FAILED));
    pons_value *list = NULL;
    assert_ok(pons_stream_read(b.store, "t1", PONS_STREAM_CUSTOM, 0, 0, &list, &b.err));
    assert_int_equal(json_array_size(list), 1);
    pons_value_unref(list);
    const pons_value *last = json_array_get(b.events, json_array_size(b.events) - 1);
    assert_string_equal(pons_get_str(pons_get(last, "payload"), "error", ""), "then it broke");
    pons_graph_destroy(g);
    bed_close(&b);
}

static int node_waits(pons_cx *cx, void *user, pons_error *err)
{
    const pons_value *answer = NULL;
    (void)user;
    const int rc = pons_await(cx, "ask", json_string("how far?"), 0, &answer, err);
    return rc != PONS_OK ? rc : pons_cx_put(cx, "log", pons_value_ref(answer));
}

// Whoever serves an await shows what comes before its answer, as if the node had said it.
static void what_an_await_shows_before_its_answer(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    pons_graph_builder *gb = pons_graph_builder_create("waits");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    pons_graph_node(gb, "b", node_waits, NULL);
    pons_graph_edge(gb, PONS_START, "b");
    pons_graph_edge(gb, "b", PONS_END);
    pons_graph *g = compile(gb, NULL);
    const uint32_t modes = PONS_STREAM_MESSAGES | PONS_STREAM_CUSTOM;
    pons_run *r = stream(&b, g, "{}", modes, false, PONS_RUN_PARKED);
    char id[64];
    snprintf(id, sizeof id, "%s", pons_get_str(json_array_get(b.started, 0), "id", ""));
    assert_ok(pons_run_custom(r, id, json("{'half':true}"), &b.err));
    assert_ok(pons_run_message(r, id, json_string("to"), json("{'model':'m'}"), &b.err));
    assert_int_equal(pons_run_state_get(r), PONS_RUN_PARKED);
    pons_value *list = NULL; // stored, before the answer
    assert_ok(pons_stream_read(b.store, "t1", modes, 0, 0, &list, &b.err));
    assert_int_equal(json_array_size(list), 2);
    assert_json(pons_get(json_array_get(list, 0), "payload"), "{'half':true}");
    const pons_value *pair = pons_get(json_array_get(list, 1), "payload");
    assert_string_equal(json_string_value(json_array_get(pair, 0)), "to");
    assert_string_equal(pons_get_str(json_array_get(pair, 1), "langgraph_node", ""), "b");
    assert_string_equal(pons_get_str(json_array_get(pair, 1), "model", ""), "m");
    pons_value_unref(list);
    assert_ok(pons_run_answer(r, id, json_string("far"), &b.err));
    assert_int_equal(pons_run_custom(r, id, json_true(), &b.err), PONS_ENOTPENDING);
    assert_int_equal(pons_run_message(r, id, json_true(), NULL, &b.err), PONS_ENOTPENDING);
    assert_ok(pons_run_advance(r, &b.err));
    assert_int_equal(pons_run_state_get(r), PONS_RUN_DONE);
    pons_run_destroy(r);
    // Nobody asked to see it: nothing is kept.
    const int64_t before = (int64_t)json_array_size(b.events);
    r = stream(&b, g, "{}", 0, false, PONS_RUN_PARKED);
    snprintf(id, sizeof id, "%s", pons_get_str(json_array_get(b.started, 1), "id", ""));
    assert_ok(pons_run_custom(r, id, json_true(), &b.err));
    assert_int_equal(json_array_size(b.events), before);
    pons_run_destroy(r);
    pons_graph_destroy(g);
    bed_close(&b);
}

static void a_cached_update_says_so(void **state)
{
    (void)state;
    static const char *const on[] = {"in", NULL};
    bed b;
    bed_open(&b);
    pons_graph_builder *gb = pons_graph_builder_create("cached");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    channel(gb, "in", PONS_CHANNEL_LAST, NULL);
    pons_graph_node(gb, "n", node_log, NULL);
    pons_graph_edge(gb, PONS_START, "n");
    pons_graph_edge(gb, "n", PONS_END);
    pons_graph_node_options(gb, "n", &(pons_node_options){.cache = true, .cache_on = on});
    pons_graph *g = compile(gb, NULL);
    for (int i = 0; i < 2; i++) {
        pons_run_destroy(stream(&b, g, "{'in':1}", PONS_STREAM_UPDATES, false, PONS_RUN_DONE));
    }
    assert_shown(&b, PONS_STREAM_UPDATES, false,
                 "[{'n':{'log':'n'}},{'n':{'log':'n'},'__metadata__':{'cached':true}}]");
    pons_graph_destroy(g);
    bed_close(&b);
}

static void on_stored(void *user)
{
    atomic_fetch_add((atomic_int *)user, 1);
}

static void shown_by_callback(void *user, const pons_event *ev)
{
    (void)user;
    assert_true(strncmp(ev->type, "stream.", strlen("stream.")) != 0);
}

// A host that reads the store: what streams is queued, in order, and all there when the run ends.
static void a_reader_of_the_store_is_told(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    pons_graph *g = line();
    const uint32_t modes = PONS_STREAM_UPDATES | PONS_STREAM_CUSTOM;
    atomic_int reported = 0;
    const pons_thread_options o = {
        .clock = b.clock, .on_event = shown_by_callback, .on_stored = on_stored, .user = &reported};
    pons_thread *t = NULL;
    pons_run *r = NULL;
    assert_ok(pons_thread_open(b.store, "t2", &o, &t, &b.err));
    assert_ok(pons_run_start(t, g, "", NULL, &(pons_run_options){.stream = modes}, &r, &b.err));
    assert_ok(pons_run_advance(r, &b.err));
    assert_int_equal(pons_run_state_get(r), PONS_RUN_DONE);
    assert_true(atomic_load(&reported) > 0);
    pons_value *list = NULL;
    assert_ok(pons_stream_read(b.store, "t2", modes, 0, 0, &list, &b.err));
    assert_int_equal(json_array_size(list), 3);
    assert_json(pons_get(json_array_get(list, 0), "payload"), "{'a':{'log':'a'}}");
    assert_json(pons_get(json_array_get(list, 1), "payload"), "{'progress':0.5}");
    assert_json(pons_get(json_array_get(list, 2), "payload"), "{'b':{'log':'b'}}");
    pons_value_unref(list);
    pons_run_destroy(r);
    pons_thread_close(t);
    pons_graph_destroy(g);
    bed_close(&b);
}

static void nothing_asked_nothing_shown(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    pons_graph *g = line();
    pons_run_destroy(stream(&b, g, "{}", 0, true, PONS_RUN_DONE));
    assert_int_equal(json_array_size(b.events), 0);
    pons_graph_destroy(g);
    bed_close(&b);
}

int main(void)
{
    pons_value_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_mode_alone),
        cmocka_unit_test(several_modes_keep_the_order),
        cmocka_unit_test(tasks_checkpoints_and_debug),
        cmocka_unit_test(subgraphs_and_interrupts),
        cmocka_unit_test(a_client_comes_back),
        cmocka_unit_test(what_was_said_stays_when_the_node_fails),
        cmocka_unit_test(what_an_await_shows_before_its_answer),
        cmocka_unit_test(a_cached_update_says_so),
        cmocka_unit_test(a_reader_of_the_store_is_told),
        cmocka_unit_test(nothing_asked_nothing_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
