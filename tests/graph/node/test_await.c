// test_await.c - awaits, interrupts and tasks: parked, answered, replayed, across a reopened thread
// (the crash) as well as in the same process. A handler of kind "ask" notes what it was asked.
#include "graph/graph_help.h"

#include <stdio.h>
#include <string.h>

typedef struct notes { // what a node saw in each pass
    int passes;
    int64_t wall[4];
    uint64_t random[4];
    char ids[4][PONS_ID_MAX];
} notes;

static int node_ask(pons_cx *cx, void *user, pons_error *err)
{
    notes *n = user;
    if (n && n->passes < 4) {
        n->wall[n->passes] = pons_cx_wall_ms(cx);
        n->random[n->passes] = pons_cx_random(cx);
        pons_cx_id(cx, n->ids[n->passes]);
    }
    if (n) {
        n->passes++;
    }
    const pons_value *answer;
    int st = pons_await(cx, "ask", json("{'q':1}"), 0, &answer, err);
    if (st != PONS_OK) {
        return st;
    }
    return pons_cx_put(cx, "log", pons_value_ref(answer));
}

static pons_graph *one_node(pons_node_fn fn, void *user)
{
    pons_graph_builder *gb = pons_graph_builder_create("one");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    pons_graph_node(gb, "node", fn, user);
    pons_graph_edge(gb, PONS_START, "node");
    pons_graph_edge(gb, "node", PONS_END);
    return compile(gb, NULL);
}

static const char *started_id(const bed *b, size_t i)
{
    return pons_get_str(json_array_get(b->started, i), "id", "");
}

static void an_await_parks_and_its_answer_replays(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    notes n = {0};
    pons_graph *g = one_node(node_ask, &n);
    pons_run *r = run_to(&b, g, "", NULL, PONS_RUN_PARKED);
    assert_int_equal(json_array_size(b.started), 1);
    assert_ok(pons_run_advance(r, &b.err)); // nothing to do
    assert_int_equal(n.passes, 1);
    b.time.now_ns += 5 * PONS_NS_PER_S;
    assert_int_equal(pons_run_answer(r, "nobody", json("1"), &b.err), PONS_ENOTPENDING);
    assert_ok(pons_run_answer(r, started_id(&b, 0), json("'yes'"), &b.err));
    assert_int_equal(pons_run_answer(r, started_id(&b, 0), json("'no'"), &b.err), PONS_ENOTPENDING);
    assert_ok(pons_run_advance(r, &b.err));
    assert_int_equal(pons_run_state_get(r), PONS_RUN_DONE);
    assert_json(pons_run_get(r, "log"), "['yes']");
    assert_int_equal(n.passes, 2);
    assert_int_equal(n.wall[0], n.wall[1]);
    assert_true(n.random[0] == n.random[1]);
    assert_string_equal(n.ids[0], n.ids[1]);
    pons_run_destroy(r);
    pons_graph_destroy(g);
    bed_close(&b);
}

static void after_a_crash_it_is_started_again_with_the_same_time(void **state)
{
    (void)state;
    for (int answered = 0; answered < 2; answered++) {
        bed b;
        bed_open(&b);
        notes n = {0};
        pons_graph *g = one_node(node_ask, &n);
        pons_run *r = run_to(&b, g, "", NULL, PONS_RUN_PARKED);
        if (answered) {
            assert_ok(pons_run_answer(r, started_id(&b, 0), json("'yes'"), &b.err));
        }
        pons_run_destroy(r);
        b.time.now_ns += PONS_NS_PER_S;
        bed_thread(&b);
        r = resume_to(&b, g, "", answered ? PONS_RUN_DONE : PONS_RUN_PARKED);
        if (!answered) {
            assert_int_equal(n.passes, 1); // not run before it has an answer
            assert_int_equal(json_array_size(b.started), 2);
            assert_string_equal(started_id(&b, 0), started_id(&b, 1));
            assert_true(pons_get_bool(json_array_get(b.started, 1), "restarted", false));
            assert_ok(pons_run_answer(r, started_id(&b, 1), json("'yes'"), &b.err));
            assert_ok(pons_run_advance(r, &b.err));
        }
        assert_json(pons_run_get(r, "log"), "['yes']");
        assert_int_equal(n.passes, 2);
        assert_int_equal(n.wall[0], n.wall[1]);
        assert_true(n.random[0] == n.random[1]);
        pons_run_destroy(r);
        pons_graph_destroy(g);
        bed_close(&b);
    }
}

static void a_handler_may_answer_inside_start(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    b.instant = json("'at once'");
    pons_graph *g = one_node(node_ask, NULL);
    pons_run *r = run_to(&b, g, "", NULL, PONS_RUN_DONE);
    assert_json(pons_run_get(r, "log"), "['at once']");
    pons_run_destroy(r);
    pons_graph_destroy(g);
    bed_close(&b);
}

static void without_a_store_awaits_work_too(void **state)
{
    (void)state;
    bed b;
    bed_open_without_store(&b);
    pons_graph *g = one_node(node_ask, NULL);
    pons_run *r = run_to(&b, g, "", NULL, PONS_RUN_PARKED);
    assert_ok(pons_run_answer(r, started_id(&b, 0), json("'yes'"), &b.err));
    assert_ok(pons_run_advance(r, &b.err));
    assert_json(pons_run_get(r, "log"), "['yes']");
    pons_run_destroy(r);
    pons_graph_destroy(g);
    bed_close(&b);
}

static int node_deadline(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    const pons_value *answer;
    int st = pons_await(cx, "ask", json("{}"), 250, &answer, err);
    return st == PONS_OK ? pons_cx_put(cx, "log", pons_value_ref(answer)) : st;
}

static void a_deadline_answers_and_cancels(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    pons_graph *g = one_node(node_deadline, NULL);
    pons_run *r = run_to(&b, g, "", NULL, PONS_RUN_PARKED);
    assert_true(pons_run_deadlines(r, &b.err) == b.time.now_ns + 250 * PONS_NS_PER_MS);
    b.time.now_ns += 100 * PONS_NS_PER_MS;
    pons_run_destroy(r); // the deadline survives a crash: 150 ms are left
    bed_thread(&b);
    r = resume_to(&b, g, "", PONS_RUN_PARKED);
    assert_true(pons_run_deadlines(r, &b.err) == b.time.now_ns + 150 * PONS_NS_PER_MS);
    b.time.now_ns += 150 * PONS_NS_PER_MS;
    assert_true(pons_run_deadlines(r, &b.err) == INT64_MAX);
    assert_int_equal(json_array_size(b.canceled), 1);
    assert_ok(pons_run_advance(r, &b.err));
    assert_json(pons_run_get(r, "log"), "[{'timeout':true}]");
    pons_run_destroy(r);
    pons_graph_destroy(g);
    bed_close(&b);
}

static void a_detach_answers_all_but_people(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    pons_graph *g = one_node(node_ask, NULL);
    pons_run *r = run_to(&b, g, "", NULL, PONS_RUN_PARKED);
    pons_autovalue gone = json("{'detached':true}");
    assert_int_equal(pons_run_detach(r, gone, &b.err), 1);
    assert_int_equal(json_array_size(b.canceled), 1);
    assert_int_equal(pons_run_detach(r, gone, &b.err), 0);
    pons_run_destroy(r); // it is recorded
    bed_thread(&b);
    r = resume_to(&b, g, "", PONS_RUN_DONE);
    assert_json(pons_run_get(r, "log"), "[{'detached':true}]");
    pons_run_destroy(r);
    pons_graph_destroy(g);
    bed_close(&b);
}

static int node_two_people(pons_cx *cx, void *user, pons_error *err)
{
    ++*(int *)user;
    const pons_value *first, *second;
    int st = pons_interrupt(cx, json("'first?'"), &first, err);
    if (st != PONS_OK) {
        return st;
    }
    st = pons_interrupt(cx, json("'second?'"), &second, err);
    if (st != PONS_OK) {
        return st;
    }
    pons_cx_put(cx, "log", pons_value_ref(first));
    return pons_cx_put(cx, "log", pons_value_ref(second));
}

static void people_answer_by_value_or_by_id(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    int left = 0, right = 0;
    pons_graph_builder *gb = pons_graph_builder_create("two");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    pons_graph_node(gb, "left", node_two_people, &left);
    pons_graph_node(gb, "right", node_two_people, &right);
    pons_graph_edge(gb, PONS_START, "left");
    pons_graph_edge(gb, PONS_START, "right");
    pons_graph_edge(gb, "left", PONS_END);
    pons_graph_edge(gb, "right", PONS_END);
    pons_graph *g = compile(gb, NULL);
    pons_run *r = run_to(&b, g, "", NULL, PONS_RUN_INTERRUPTED);

    pons_autovalue v = json("'x'");
    assert_int_equal(pons_run_resume_value(r, v, &b.err), PONS_EAMBIGUOUS);
    pons_autovalue unknown = json("{'nobody':1}");
    assert_int_equal(pons_run_resume_map(r, unknown, &b.err), PONS_ENOTPENDING);
    pons_value *pending = pons_run_pending(r);
    assert_int_equal(json_array_size(pending), 2);
    const pons_value *p = json_array_get(pending, 0);
    assert_string_equal(pons_get_str(p, "kind", ""), "human");
    assert_string_equal(pons_get_str(p, "node", ""), "left");
    assert_string_not_equal(pons_get_str(p, "id", ""),
                            pons_get_str(json_array_get(pending, 1), "id", ""));
    pons_value *map = json_object();
    json_object_set_new(map, pons_get_str(p, "id", ""), json_string("l1"));
    assert_ok(pons_run_resume_map(r, map, &b.err));
    pons_value_unref(map);
    pons_value_unref(pending);
    assert_ok(pons_run_advance(r, &b.err));
    assert_int_equal(left, 2);
    assert_int_equal(right, 1); // it has no answer, so it was not run
    pons_run_destroy(r);

    bed_thread(&b);
    r = resume_to(&b, g, "", PONS_RUN_INTERRUPTED);
    assert_int_equal(left + right, 3);
    pending = pons_run_pending(r);
    assert_int_equal(json_array_size(pending), 2);
    map = json_object();
    for (size_t i = 0; i < 2; i++) {
        const pons_value *q = json_array_get(pending, i);
        json_object_set_new(map, pons_get_str(q, "id", ""), pons_value_ref(pons_get(q, "request")));
    }
    assert_ok(pons_run_resume_map(r, map, &b.err));
    pons_value_unref(map);
    pons_value_unref(pending);
    assert_ok(pons_run_advance(r, &b.err)); // left is done, right asks again
    assert_int_equal(pons_run_state_get(r), PONS_RUN_INTERRUPTED);
    assert_ok(pons_run_resume_value(r, v, &b.err));
    assert_ok(pons_run_advance(r, &b.err));
    assert_json(pons_run_get(r, "log"), "['l1','second?','first?','x']");
    assert_int_equal(left, 3);
    assert_int_equal(right, 3);
    pons_run_destroy(r);
    pons_graph_destroy(g);
    bed_close(&b);
}

static int node_fickle(pons_cx *cx, void *user, pons_error *err)
{
    const char *const *kind = user;
    const pons_value *answer;
    return pons_await(cx, *kind, json("{}"), 0, &answer, err);
}

static void another_question_on_replay_is_nondeterminism(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    const char *kind = "ask";
    pons_graph *g = one_node(node_fickle, &kind);
    pons_run *r = run_to(&b, g, "", NULL, PONS_RUN_PARKED);
    assert_ok(pons_run_answer(r, started_id(&b, 0), json("1"), &b.err));
    kind = "tell";
    assert_ok(pons_run_advance(r, &b.err));
    assert_int_equal(pons_run_state_get(r), PONS_RUN_FAILED);
    assert_int_equal(pons_run_error(r)->status, PONS_ENONDETERMINISM);
    assert_non_null(strstr(pons_run_error(r)->message, "'ask'"));
    assert_non_null(strstr(pons_run_error(r)->message, "'tell'"));
    pons_run_destroy(r);
    pons_graph_destroy(g);
    bed_close(&b);
}

static int task_work(void *user, const pons_value *args, pons_value **ret, pons_error *err)
{
    (void)err;
    ++*(int *)user;
    *ret = pons_value_ref(args);
    return PONS_OK;
}

static int node_task(pons_cx *cx, void *user, pons_error *err)
{
    pons_autovalue args = json("{'n':3}");
    const pons_value *result, *answer;
    int st = pons_task(cx, "work", args, task_work, user, &result, err);
    if (st != PONS_OK) {
        return st;
    }
    st = pons_await(cx, "ask", json("{}"), 0, &answer, err);
    if (st != PONS_OK) {
        return st;
    }
    return pons_cx_put(cx, "log", pons_value_ref(result));
}

static void a_task_runs_once_whatever_happens_after(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    int runs = 0;
    pons_graph *g = one_node(node_task, &runs);
    pons_run *r = run_to(&b, g, "", NULL, PONS_RUN_PARKED);
    pons_run_destroy(r);
    bed_thread(&b);
    r = resume_to(&b, g, "", PONS_RUN_PARKED);
    assert_ok(pons_run_answer(r, started_id(&b, 1), json("1"), &b.err));
    assert_ok(pons_run_advance(r, &b.err));
    assert_json(pons_run_get(r, "log"), "[{'n':3}]");
    assert_int_equal(runs, 1);
    pons_run_destroy(r);
    pons_graph_destroy(g);
    bed_close(&b);
}

static int node_whichever(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    const pons_value *a, *c;
    int first = pons_await(cx, "ask", json("'a'"), 0, &a, err);
    int second = pons_await(cx, "ask", json("'b'"), 0, &c, err);
    if (first == PONS_OK) {
        return pons_cx_put(cx, "log", json_string("a"));
    }
    if (second == PONS_OK) {
        return pons_cx_put(cx, "log", json_string("b"));
    }
    return PONS_EPARKED;
}

static void a_node_may_take_whichever_comes_first(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    pons_graph *g = one_node(node_whichever, NULL);
    pons_run *r = run_to(&b, g, "", NULL, PONS_RUN_PARKED);
    assert_int_equal(json_array_size(b.started), 2);
    assert_ok(pons_run_answer(r, started_id(&b, 1), json("1"), &b.err));
    assert_ok(pons_run_advance(r, &b.err));
    assert_int_equal(pons_run_state_get(r), PONS_RUN_DONE);
    assert_json(pons_run_get(r, "log"), "['b']");
    assert_string_equal(json_string_value(json_array_get(b.canceled, 0)), started_id(&b, 0));
    pons_run_destroy(r);
    pons_graph_destroy(g);
    bed_close(&b);
}

static int node_reads_then_asks(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    const pons_value *in = pons_cx_inbox(cx, err), *answer;
    size_t n = json_array_size(in);
    int st = pons_await(cx, "ask", json("{}"), 0, &answer, err);
    if (st != PONS_OK) {
        return st;
    }
    return pons_cx_put(cx, "log", json_integer((json_int_t)n));
}

static void the_inbox_that_a_task_saw_is_fixed(void **state)
{
    (void)state;
    for (int crash = 0; crash < 2; crash++) {
        bed b;
        bed_open(&b);
        pons_graph *g = one_node(node_reads_then_asks, NULL);
        pons_autovalue word = json("'w'");
        assert_ok(pons_inbox_post(b.store, "t1", "n", "say", word, &b.err));
        pons_run *r = run_to(&b, g, "n", NULL, PONS_RUN_PARKED);
        assert_ok(pons_inbox_post(b.store, "t1", "n", "say", word, &b.err)); // too late for it
        if (crash) {
            pons_run_destroy(r);
            bed_thread(&b);
            r = resume_to(&b, g, "n", PONS_RUN_PARKED);
        }
        int64_t waiting = 0;
        assert_ok(pons_thread_inbox_count(b.t, "n", &waiting, &b.err));
        assert_int_equal(waiting, 2);
        assert_ok(
            pons_run_answer(r, started_id(&b, json_array_size(b.started) - 1), json("1"), &b.err));
        assert_ok(pons_run_advance(r, &b.err));
        assert_json(pons_run_get(r, "log"), "[1]");
        assert_ok(pons_thread_inbox_count(b.t, "n", &waiting, &b.err));
        assert_int_equal(waiting, 1);
        pons_run_destroy(r);
        pons_graph_destroy(g);
        bed_close(&b);
    }
}

static int node_post(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    return pons_cx_post(cx, "other", "note", json("{'hi':1}"));
}

static void posts_reach_the_other_namespace_with_the_step(void **state)
{
    (void)state;
    for (int store = 0; store < 2; store++) {
        bed b;
        if (store) {
            bed_open(&b);
        } else {
            bed_open_without_store(&b);
        }
        pons_graph *g = one_node(node_post, NULL);
        int64_t waiting = 0;
        pons_run *r = run_to(&b, g, "", NULL, PONS_RUN_DONE);
        assert_ok(pons_thread_inbox_count(b.t, "other", &waiting, &b.err));
        assert_int_equal(waiting, 1);
        pons_run_destroy(r);
        pons_graph_destroy(g);
        bed_close(&b);
    }
}

int main(void)
{
    pons_value_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_await_parks_and_its_answer_replays),
        cmocka_unit_test(after_a_crash_it_is_started_again_with_the_same_time),
        cmocka_unit_test(a_handler_may_answer_inside_start),
        cmocka_unit_test(without_a_store_awaits_work_too),
        cmocka_unit_test(a_deadline_answers_and_cancels),
        cmocka_unit_test(a_detach_answers_all_but_people),
        cmocka_unit_test(people_answer_by_value_or_by_id),
        cmocka_unit_test(another_question_on_replay_is_nondeterminism),
        cmocka_unit_test(a_task_runs_once_whatever_happens_after),
        cmocka_unit_test(a_node_may_take_whichever_comes_first),
        cmocka_unit_test(the_inbox_that_a_task_saw_is_fixed),
        cmocka_unit_test(posts_reach_the_other_namespace_with_the_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
