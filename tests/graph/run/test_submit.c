// test_submit.c - a second run on a thread that is at work, in its four ways, and stopping at a
// superstep's boundary. The first run waits for the host, so that what the second one does to it is
// exact: which awaits are canceled, which checkpoints are there, in what order runs have their
// turn.
#include "graph/graph_help.h"

#include <stdio.h>
#include <string.h>

static int node_waits(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    const pons_value *a;
    int st = pons_await(cx, "ask", json_string("?"), 0, &a, err);
    return st == PONS_OK ? pons_cx_put(cx, "log", json_string("w")) : st;
}

static int node_counts(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    return pons_cx_put(cx, "own", json_integer(1));
}

static int node_waits_alone(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    const pons_value *a;
    return pons_await(cx, "ask", json_string("inside?"), 0, &a, err);
}

static pons_graph *waiting(void)
{
    pons_graph_builder *gb = pons_graph_builder_create("waiting");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    pons_graph_node(gb, "a", node_log, NULL);
    pons_graph_node(gb, "w", node_waits, NULL);
    pons_graph_edge(gb, PONS_START, "a");
    pons_graph_edge(gb, "a", "w");
    pons_graph_edge(gb, "w", PONS_END);
    return compile(gb, NULL);
}

static pons_run *submit(bed *b, const pons_graph *g, const char *input, pons_busy how, int want)
{
    pons_autovalue in = json(input);
    pons_run *r = NULL;
    pons_run_options o = {.durability = PONS_DURABILITY_SYNC};
    assert_int_equal(pons_run_submit(b->t, g, "", in, how, &o, &r, &b->err), want);
    if (want == PONS_OK) {
        assert_ok(pons_run_advance(r, &b->err));
    }
    return r;
}

static void answer_newest(bed *b, pons_run *r)
{
    const pons_value *last = json_array_get(b->started, json_array_size(b->started) - 1);
    assert_ok(pons_run_answer(r, pons_get_str(last, "id", ""), json_null(), &b->err));
    assert_ok(pons_run_advance(r, &b->err));
}

static void sources(bed *b, char *have, size_t cap)
{
    pons_value *list = NULL, *row;
    size_t i, n = 0;
    have[0] = '\0';
    assert_ok(pons_state_history(b->store, "t1", "", 0, false, &list, &b->err));
    json_array_foreach(list, i, row) {
        n += (size_t)snprintf(have + n, cap - n, "%s%s %d", i ? " " : "",
                              pons_get_str(row, "source", ""), (int)pons_get_int(row, "step", 0));
    }
    pons_value_unref(list);
}

static void enqueued_runs_have_their_turns(void **state)
{
    (void)state;
    for (int store = 0; store < 2; store++) {
        bed b;
        if (store) {
            bed_open(&b);
        } else {
            bed_open_without_store(&b);
        }
        pons_graph *g = waiting();
        pons_run *one = submit(&b, g, "{'log':1}", PONS_BUSY_ENQUEUE, PONS_OK);
        pons_run *two = submit(&b, g, "{'log':2}", PONS_BUSY_ENQUEUE, PONS_OK);
        pons_run *never = submit(&b, g, "{'log':'never'}", PONS_BUSY_ENQUEUE, PONS_OK);
        pons_run *three = submit(&b, g, "{'log':3}", PONS_BUSY_ENQUEUE, PONS_OK);
        assert_int_equal(pons_run_state_get(two), PONS_RUN_PARKED);
        assert_int_equal(json_array_size(b.started), 1);
        pons_run_destroy(never); // it changed its mind
        answer_newest(&b, one);
        assert_int_equal(pons_run_state_get(one), PONS_RUN_DONE);
        assert_int_equal(pons_run_state_get(two), PONS_RUN_READY);
        assert_int_equal(pons_run_state_get(three), PONS_RUN_PARKED);
        assert_ok(pons_run_advance(three, &b.err)); // out of turn: nothing happens
        assert_ok(pons_run_advance(two, &b.err));
        assert_json(pons_run_get(two, "log"), "[1,'a','w',2,'a']");
        pons_run_destroy(one);
        pons_run_destroy(two); // left unfinished: the next one may begin
        assert_int_equal(pons_run_state_get(three), PONS_RUN_READY);
        assert_ok(pons_run_advance(three, &b.err));
        answer_newest(&b, three);
        assert_int_equal(pons_run_state_get(three), PONS_RUN_DONE);
        assert_json(pons_run_get(three, "log"), "[1,'a','w',2,'a',3,'a','w']");
        pons_run_destroy(three);
        pons_graph_destroy(g);
        bed_close(&b);
    }
}

static void a_second_run_may_be_rejected(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    pons_graph *g = waiting();
    pons_run *one = submit(&b, g, "{'log':1}", PONS_BUSY_REJECT, PONS_OK);
    submit(&b, g, "{'log':2}", PONS_BUSY_REJECT, PONS_EBUSY);
    answer_newest(&b, one);
    assert_json(pons_run_get(one, "log"), "[1,'a','w']");
    pons_run_destroy(one);
    pons_graph_destroy(g);
    bed_close(&b);
}

static void an_interrupted_run_keeps_its_checkpoints(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    pons_graph *g = waiting();
    pons_run *one = submit(&b, g, "{'log':1}", PONS_BUSY_ENQUEUE, PONS_OK);
    pons_run *two = submit(&b, g, "{'log':2}", PONS_BUSY_INTERRUPT, PONS_OK);
    assert_int_equal(pons_run_state_get(one), PONS_RUN_FAILED);
    assert_int_equal(pons_run_error(one)->status, PONS_ECANCELED);
    assert_int_equal(json_array_size(b.canceled), 1);
    assert_ok(pons_run_advance(one, &b.err)); // it stays what it is
    answer_newest(&b, two);
    assert_json(pons_run_get(two, "log"), "[1,'a',2,'a','w']");
    pons_run_destroy(one);
    pons_run_destroy(two);
    char have[256];
    sources(&b, have, sizeof have);
    assert_string_equal(have, "loop 5 loop 4 loop 3 input 2 loop 1 loop 0 input -1");
    pons_graph_destroy(g);
    bed_close(&b);
}

static void a_rolled_back_run_leaves_no_checkpoint(void **state)
{
    (void)state;
    for (int first = 0; first < 2; first++) { // on a new thread, and on one with a past
        bed b;
        bed_open(&b);
        pons_graph *g = waiting();
        if (!first) {
            pons_run *zero = submit(&b, g, "{'log':0}", PONS_BUSY_ENQUEUE, PONS_OK);
            answer_newest(&b, zero);
            pons_run_destroy(zero);
        }
        pons_run *one = submit(&b, g, "{'log':1}", PONS_BUSY_ENQUEUE, PONS_OK);
        pons_run *two = submit(&b, g, "{'log':2}", PONS_BUSY_ROLLBACK, PONS_OK);
        assert_int_equal(pons_run_error(one)->status, PONS_ECANCELED);
        pons_run_destroy(one);
        pons_run_destroy(two);
        bed_thread(&b); // and so another process finds it
        two = resume_to(&b, g, "", PONS_RUN_PARKED);
        answer_newest(&b, two);
        assert_json(pons_run_get(two, "log"), first ? "[2,'a','w']" : "[0,'a','w',2,'a','w']");
        pons_run_destroy(two);
        char have[256];
        sources(&b, have, sizeof have);
        assert_string_equal(have, first ? "loop 2 loop 1 loop 0 input -1"
                                        : "loop 6 loop 5 loop 4 input 3 fork 2 loop 2 loop 1 "
                                          "loop 0 input -1");
        pons_graph_destroy(g);
        bed_close(&b);
    }
    bed b;
    bed_open_without_store(&b);
    pons_graph *g = waiting();
    submit(&b, g, "{}", PONS_BUSY_ROLLBACK, PONS_EUNSUPPORTED);
    pons_graph_destroy(g);
    bed_close(&b);
}

// A subgraph that keeps its state is rolled back with the run around it, whether it had ended or
// not.
static void a_rollback_takes_subgraphs_along(void **state)
{
    (void)state;
    for (int inside = 0; inside < 2; inside++) {
        bed b;
        bed_open(&b);
        pons_graph_builder *ib = pons_graph_builder_create("inner");
        channel(ib, "own", PONS_CHANNEL_REDUCE, pons_reduce_add);
        pons_graph_node(ib, "count", node_counts, NULL);
        pons_graph_edge(ib, PONS_START, "count");
        pons_graph_edge(ib, "count", inside ? "w" : PONS_END);
        if (inside) {
            pons_graph_node(ib, "w", node_waits_alone, NULL);
            pons_graph_edge(ib, "w", PONS_END);
        }
        pons_graph *in = compile(ib, NULL);
        pons_graph_builder *gb = pons_graph_builder_create("outer");
        channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
        pons_graph_subgraph(gb, "sub", in, PONS_SUBGRAPH_OWN);
        pons_graph_node(gb, "w", node_waits, NULL);
        pons_graph_edge(gb, PONS_START, "sub");
        pons_graph_edge(gb, "sub", "w");
        pons_graph_edge(gb, "w", PONS_END);
        pons_graph *g = compile(gb, NULL);
        pons_run *zero = submit(&b, g, "{}", PONS_BUSY_ENQUEUE, PONS_OK); // the past
        answer_newest(&b, zero);
        if (inside) {
            answer_newest(&b, zero);
        }
        assert_int_equal(pons_run_state_get(zero), PONS_RUN_DONE);
        pons_run_destroy(zero);
        pons_run *one = submit(&b, g, "{}", PONS_BUSY_ENQUEUE, PONS_OK);
        pons_autovalue v = NULL;
        assert_ok(pons_state_read(b.store, "t1", "sub", &v, &b.err));
        assert_json(pons_get(v, "own"), "2");
        pons_run *two = submit(&b, g, "{}", PONS_BUSY_ROLLBACK, PONS_OK);
        pons_run_destroy(one);
        pons_value_unref(v);
        assert_ok(pons_state_read(b.store, "t1", "sub", &v, &b.err));
        assert_json(pons_get(v, "own"), "2"); // 1, and this run's: not 3
        pons_run_destroy(two);
        pons_graph_destroy(g);
        pons_graph_destroy(in);
        bed_close(&b);
    }
}

static int node_person(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    const pons_value *a;
    return pons_interrupt(cx, json_string("?"), &a, err);
}

static void a_run_that_waits_for_people_gives_its_place(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    pons_graph_builder *gb = pons_graph_builder_create("people");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    pons_graph_node(gb, "p", node_person, NULL);
    pons_graph_edge(gb, PONS_START, "p");
    pons_graph_edge(gb, "p", PONS_END);
    pons_graph *g = compile(gb, NULL);
    pons_run *one = submit(&b, g, "{'log':1}", PONS_BUSY_REJECT, PONS_OK);
    pons_run *two = submit(&b, g, "{'log':2}", PONS_BUSY_REJECT, PONS_OK);
    assert_int_equal(pons_run_state_get(one), PONS_RUN_FAILED);
    assert_int_equal(pons_run_state_get(two), PONS_RUN_INTERRUPTED);
    assert_json(pons_run_get(two, "log"), "[1,2]");
    pons_run_destroy(one);
    pons_run_destroy(two);
    pons_graph_destroy(g);
    bed_close(&b);
}

// ---- drain --------------------------------------------------------------------------------------

typedef struct inside {
    bed *b;
    pons_run *run, *other;
    const pons_graph *g;
} inside;

static int node_texts(pons_cx *cx, void *user, pons_error *err)
{
    inside *in = user;
    if (in->g && !in->other) {
        pons_autovalue v = json("{'log':'other'}");
        int st = pons_run_submit(pons_cx_thread(cx), in->g, "", v, PONS_BUSY_INTERRUPT, NULL,
                                 &in->other, err);
        if (st != PONS_OK) {
            return st;
        }
    } else if (!in->g) {
        pons_run_drain(in->run);
    }
    return node_log(cx, NULL, err);
}

static pons_graph *texting(inside *in)
{
    pons_graph_builder *gb = pons_graph_builder_create("texting");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    pons_graph_node(gb, "a", node_texts, in);
    pons_graph_node(gb, "b", node_log, NULL);
    pons_graph_edge(gb, PONS_START, "a");
    pons_graph_edge(gb, "a", "b");
    pons_graph_edge(gb, "b", PONS_END);
    return compile(gb, NULL);
}

static void a_drained_run_stops_between_steps(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    inside in = {.b = &b};
    pons_graph *g = texting(&in);
    assert_ok(pons_run_start(b.t, g, "", NULL, NULL, &in.run, &b.err));
    assert_ok(pons_run_advance(in.run, &b.err));
    assert_int_equal(pons_run_state_get(in.run), PONS_RUN_INTERRUPTED);
    assert_true(pons_run_drained(in.run));
    assert_json(pons_run_get(in.run, "log"), "['a']");
    assert_ok(pons_run_resume_value(in.run, NULL, &b.err)); // it may go on by itself,
    assert_ok(pons_run_advance(in.run, &b.err));
    assert_int_equal(pons_run_state_get(in.run), PONS_RUN_DONE);
    pons_run_destroy(in.run);
    assert_ok(pons_run_start(b.t, g, "", NULL, NULL, &in.run, &b.err));
    assert_ok(pons_run_advance(in.run, &b.err));
    pons_run_destroy(in.run);
    bed_thread(&b); // or in another process
    in.run = resume_to(&b, g, "", PONS_RUN_DONE);
    assert_json(pons_run_get(in.run, "log"), "['a','b','a','b']");
    pons_run_destroy(in.run);
    pons_graph_destroy(g);
    bed_close(&b);
}

static void a_node_may_text_its_own_thread(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    inside in = {.b = &b};
    pons_graph *g = texting(&in);
    in.g = g;
    assert_ok(pons_run_start(b.t, g, "", NULL, NULL, &in.run, &b.err));
    assert_ok(pons_run_advance(in.run, &b.err));
    assert_true(pons_run_drained(in.run)); // its step is done and stored
    assert_int_equal(pons_run_state_get(in.other), PONS_RUN_READY);
    assert_ok(pons_run_advance(in.other, &b.err));
    assert_int_equal(pons_run_error(in.run)->status, PONS_ECANCELED);
    assert_json(pons_run_get(in.other, "log"), "['a','other','a','b']");
    pons_run_destroy(in.run);
    pons_run_destroy(in.other);
    pons_graph_destroy(g);
    bed_close(&b);
}

int main(void)
{
    pons_value_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(enqueued_runs_have_their_turns),
        cmocka_unit_test(a_second_run_may_be_rejected),
        cmocka_unit_test(an_interrupted_run_keeps_its_checkpoints),
        cmocka_unit_test(a_rolled_back_run_leaves_no_checkpoint),
        cmocka_unit_test(a_rollback_takes_subgraphs_along),
        cmocka_unit_test(a_run_that_waits_for_people_gives_its_place),
        cmocka_unit_test(a_drained_run_stops_between_steps),
        cmocka_unit_test(a_node_may_text_its_own_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
