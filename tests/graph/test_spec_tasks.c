// test_spec_tasks.c - conformance: tasks and awaits, the inbox. Each case quotes its sentence.
#include "graph/spec.h"

#include <stdio.h>
#include <string.h>

typedef struct story {          // what a node does, changed between two processes
    const char *first, *second; // names of its calls: "task:a 1", "await 1", …
    int runs, works;
    int64_t wall_ms;
    uint64_t random;
    char id[PONS_ID_MAX];
} story;

static int work(void *user, const pons_value *args, pons_value **ret, pons_error *err)
{
    (void)err;
    ((story *)user)->works++;
    *ret = pons_value_ref(args);
    return PONS_OK;
}

static int one_call(pons_cx *cx, story *s, const char *call, pons_error *err)
{
    const pons_value *answer = NULL;
    pons_autovalue arg = json(strchr(call, ' ') + 1);
    char kind[32];
    snprintf(kind, sizeof kind, "%.*s", (int)strcspn(call, " "), call);
    int st = strncmp(kind, "task:", 5) == 0
                 ? pons_task(cx, kind + 5, arg, work, s, &answer, err)
                 : pons_await(cx, kind, pons_value_ref(arg), 0, &answer, err);
    return st == PONS_OK ? pons_cx_put(cx, "log", pons_value_ref(answer)) : st;
}

static int node_story(pons_cx *cx, void *user, pons_error *err)
{
    story *s = user;
    char id[PONS_ID_MAX];
    int64_t wall_ms = pons_cx_wall_ms(cx);
    uint64_t random = pons_cx_random(cx);
    pons_cx_id(cx, id);
    if (s->runs++ == 0) {
        s->wall_ms = wall_ms;
        s->random = random;
        memcpy(s->id, id, sizeof id);
    }
    assert_int_equal(wall_ms, s->wall_ms);
    assert_int_equal(random, s->random);
    assert_string_equal(id, s->id);
    int st = one_call(cx, s, s->first, err);
    return st == PONS_OK ? one_call(cx, s, s->second, err) : st;
}

static pons_graph *story_graph(story *s)
{
    pons_graph_builder *gb = pons_graph_builder_create("story");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    pons_graph_node(gb, "n", node_story, s);
    pons_graph_edge(gb, PONS_START, "n");
    pons_graph_edge(gb, "n", PONS_END);
    return compile(gb, NULL);
}

// "pons_task(cx, name, args, fn): result stored; replay returns it without running." "Time, random
// numbers and ids inside a task are fixed at its first run." "An await commits in exit durability
// too."
static void a_replay_is_the_same(void **state)
{
    (void)state;
    for (int d = 0; d < 3; d++) {
        for (int reopen = 0; reopen < 2; reopen++) {
            bed b;
            bed_open(&b);
            story s = {.first = "task:get {'n':1}", .second = "ask 'then?'"};
            pons_graph *g = story_graph(&s);
            pons_run_options o = {.durability = (pons_durability)d};
            pons_run *r = NULL;
            assert_ok(pons_run_start(b.t, g, "", NULL, &o, &r, &b.err));
            assert_ok(pons_run_advance(r, &b.err));
            assert_int_equal(pons_run_state_get(r), PONS_RUN_PARKED);
            if (reopen) {
                pons_run_destroy(r);
                b.time.now_ns += 5 * PONS_NS_PER_S; // time goes on outside
                bed_thread(&b);
                assert_ok(pons_run_resume(b.t, g, "", &o, &r, &b.err));
                assert_ok(pons_run_advance(r, &b.err));
                assert_int_equal(json_array_size(b.started), 2);
                assert_json(pons_get(json_array_get(b.started, 1), "restarted"), "true");
            }
            char id[64];
            spec_pending(r, 0, id);
            assert_ok(pons_run_answer(r, id, json("'so'"), &b.err));
            assert_ok(pons_run_advance(r, &b.err));
            assert_int_equal(pons_run_state_get(r), PONS_RUN_DONE);
            assert_int_equal(s.works, 1);
            assert_int_equal(s.runs, 2);
            pons_run_destroy(r);
            spec_state(&b, "", "{'log':[{'n':1},'so']}");
            pons_graph_destroy(g);
            bed_close(&b);
        }
    }
}

// "Identity = call order within the parent, checked against the name: a mismatch on replay is
// NONDETERMINISM with both names, never a silent wrong value." "An await's identity is its call
// order, kind and request hash."
static void a_changed_call_is_nondeterminism(void **state)
{
    (void)state;
    static const struct {
        const char *before, *after;
        const char *both[2];
    } cases[] = {
        {"task:get 1", "task:put 1", {"'get'", "'put'"}},
        {"task:get 1", "task:get 2", {"'get'", "'get'"}},
        {"task:get 1", "ask 1", {"task 'get'", "await 'ask'"}},
        {"ask 1", "ask 2", {"await 'ask'", "await 'ask'"}},
        {"ask 1", "other 1", {"await 'ask'", "await 'other'"}},
        {"ask 1", "task:get 1", {"await 'ask'", "task 'get'"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bed b;
        bed_open(&b);
        story s = {.first = cases[i].before, .second = "ask 'end'"};
        pons_graph *g = story_graph(&s);
        pons_run *r = spec_run(&b, g, NULL, 0, PONS_RUN_PARKED);
        char id[64];
        spec_pending(r, 0, id);
        pons_run_destroy(r);
        bed_thread(&b);
        s.first = cases[i].after;
        pons_run_options o = {.durability = PONS_DURABILITY_SYNC};
        assert_ok(pons_run_resume(b.t, g, "", &o, &r, &b.err));
        assert_ok(pons_run_answer(r, id, json_true(), &b.err));
        assert_ok(pons_run_advance(r, &b.err));
        assert_int_equal(pons_run_state_get(r), PONS_RUN_FAILED);
        assert_int_equal(pons_run_error(r)->status, PONS_ENONDETERMINISM);
        for (int k = 0; k < 2; k++) {
            if (!strstr(pons_run_error(r)->message, cases[i].both[k])) {
                fail_msg("'%s' does not name %s", pons_run_error(r)->message, cases[i].both[k]);
            }
        }
        pons_run_destroy(r);
        // With the code as it was, it goes on as if nothing had been.
        s.first = cases[i].before;
        assert_ok(pons_run_resume(b.t, g, "", &o, &r, &b.err));
        assert_ok(pons_run_advance(r, &b.err));
        assert_true(pons_run_state_get(r) != PONS_RUN_FAILED);
        pons_run_destroy(r);
        pons_graph_destroy(g);
        bed_close(&b);
    }
    assert_string_equal(pons_status_word(PONS_ENONDETERMINISM), "NONDETERMINISM");
}

static int node_deadline(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    const pons_value *answer;
    int st = pons_await(cx, "ask", json("'soon?'"), 250, &answer, err);
    return st == PONS_OK ? pons_cx_put(cx, "log", pons_value_ref(answer)) : st;
}

// "recorded answer, cancellable, with a deadline": at the deadline, not before, and after a crash
// at the same time of the wall; a late answer is not pending.
static void a_deadline_is_exact(void **state)
{
    (void)state;
    for (int reopen = 0; reopen < 2; reopen++) {
        bed b;
        bed_open(&b);
        spec_node n[] = {{"x", "", "END"}, {NULL}};
        pons_graph_builder *gb = spec_builder(&(spec_graph){"d", n});
        pons_graph_node(gb, "d", node_deadline, NULL);
        pons_graph_edge(gb, "d", "x");
        pons_graph *g = compile(gb, NULL);
        pons_run *r = spec_run(&b, g, NULL, 0, PONS_RUN_PARKED);
        const int64_t due = b.time.now_ns + 250 * PONS_NS_PER_MS;
        char id[64];
        spec_pending(r, 0, id);
        b.time.now_ns += 100 * PONS_NS_PER_MS;
        if (reopen) {
            pons_run_destroy(r);
            bed_thread(&b);
            r = spec_resume(&b, g, 0, PONS_RUN_PARKED);
        }
        assert_int_equal(pons_run_deadlines(r, &b.err), due);
        b.time.now_ns = due - 1;
        assert_int_equal(pons_run_deadlines(r, &b.err), due);
        assert_int_equal(pons_run_state_get(r), PONS_RUN_PARKED);
        b.time.now_ns = due;
        pons_run_deadlines(r, &b.err);
        assert_int_equal(json_array_size(b.canceled), 1);
        assert_int_equal(pons_run_answer(r, id, json_true(), &b.err), PONS_ENOTPENDING);
        assert_ok(pons_run_advance(r, &b.err));
        assert_int_equal(pons_run_state_get(r), PONS_RUN_DONE);
        pons_run_destroy(r);
        spec_checkpoints(&b, "",
                         "[[-1,'input',['__start__'],{}],[0,'loop',['d'],{}],"
                         "[1,'loop',['x'],{'log':[{'timeout':true}]}],"
                         "[2,'loop',[],{'log':[{'timeout':true}]}]]");
        pons_graph_destroy(g);
        bed_close(&b);
    }
}

// "pons_inbox_post: durable, ordered, consumed in a step's own transaction". A step that fails, or
// waits, consumes nothing; what comes meanwhile is for the next one.
static void the_inbox_goes_with_the_step(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    spec_node n[] = {{"a", "inbox; failonce x; ask 'ok?'", "b"}, {"b", "inbox", "END"}, {NULL}};
    pons_graph *g = spec_compile(&(spec_graph){"a", n});
    pons_autovalue v = NULL;
    int64_t count = 0;
    for (int i = 0; i < 4; i++) {
        pons_value_unref(v);
        v = json_integer(i);
        assert_ok(pons_inbox_post(b.store, "t1", i == 3 ? "elsewhere" : "", "k", v, &b.err));
    }
    pons_run_destroy(spec_run(&b, g, NULL, 0, PONS_RUN_FAILED));
    assert_ok(pons_thread_inbox_count(b.t, "", &count, &b.err));
    assert_int_equal(count, 3);
    pons_run *r = spec_resume(&b, g, 0, PONS_RUN_INTERRUPTED);
    assert_ok(pons_inbox_post(b.store, "t1", "", "k", v, &b.err)); // 3, while it waits
    assert_ok(pons_thread_inbox_count(b.t, "", &count, &b.err));
    assert_int_equal(count, 4);
    spec_answer(&b, r, "'yes'", PONS_RUN_DONE);
    pons_run_destroy(r);
    spec_checkpoints(
        &b, "",
        "[[-1,'input',['__start__'],{}],[0,'loop',['a'],{}],"
        "[1,'loop',['b'],{'log':[0,1,2,'yes']}],[2,'loop',[],{'log':[0,1,2,'yes',3]}]]");
    assert_ok(pons_thread_inbox_count(b.t, "", &count, &b.err));
    assert_int_equal(count, 0);
    assert_ok(pons_thread_inbox_count(b.t, "elsewhere", &count, &b.err));
    assert_int_equal(count, 1);
    pons_graph_destroy(g);
    bed_close(&b);
}

// "One lease a thread, one run at a time a namespace."
static void one_of_each(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    spec_node n[] = {{"a", "ask '?'", "END"}, {NULL}};
    pons_graph *g = spec_compile(&(spec_graph){"a", n});
    pons_run *r = spec_run(&b, g, NULL, 0, PONS_RUN_INTERRUPTED), *two = NULL;
    assert_int_equal(pons_run_start(b.t, g, "", NULL, NULL, &two, &b.err), PONS_EBUSY);
    assert_int_equal(pons_run_resume(b.t, g, "", NULL, &two, &b.err), PONS_EBUSY);
    assert_ok(pons_run_start(b.t, g, "other", NULL, NULL, &two, &b.err));
    pons_run_destroy(two);
    pons_thread *second = NULL;
    pons_thread_options o = {.clock = b.clock};
    assert_int_equal(pons_thread_open(b.store, "t1", &o, &second, &b.err), PONS_EBUSY);
    pons_run_destroy(r);
    pons_graph_destroy(g);
    bed_close(&b);
}

int main(void)
{
    pons_value_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_replay_is_the_same), cmocka_unit_test(a_changed_call_is_nondeterminism),
        cmocka_unit_test(a_deadline_is_exact),  cmocka_unit_test(the_inbox_goes_with_the_step),
        cmocka_unit_test(one_of_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
