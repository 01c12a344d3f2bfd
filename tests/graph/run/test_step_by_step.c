// test_step_by_step.c - a run that is looked at between its supersteps: what is next, after each of them,
// with Sends and after a resume; and sleeping for a blocking node without running anything.
#include "graph/graph_help.h"

#include <string.h>

static int node_fan(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    for (int i = 0; i < 2; i++) {
        pons_cx_send(cx, "leaf", json_integer(i));
    }
    return pons_cx_put(cx, "log", json_string("fan"));
}

static int node_asks(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    const pons_value *answer = NULL;
    int st = pons_interrupt(cx, json_string("?"), &answer, err);
    return st == PONS_OK ? pons_cx_put(cx, "log", json_string("asked")) : st;
}

static int blocks(pons_work *w, void *user, const pons_value *input, pons_value **ret,
                  pons_error *err)
{
    (void)w;
    (void)user;
    (void)input;
    (void)err;
    *ret = json("{'log':'worked'}");
    return PONS_OK;
}

static void assert_next(const pons_run *r, const char *text)
{
    pons_autovalue next = pons_run_next(r);
    assert_json(next, text);
}

static pons_graph *wide(void)
{
    static const char *const to[] = {"leaf", NULL};
    pons_graph_builder *gb = pons_graph_builder_create("wide");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    pons_graph_node(gb, "fan", node_fan, NULL);
    pons_graph_node(gb, "other", node_log, NULL);
    pons_graph_node(gb, "leaf", node_log, NULL);
    pons_graph_node(gb, "ask", node_asks, NULL);
    pons_graph_node_options(gb, "fan", &(pons_node_options){.goes = to});
    pons_graph_edge(gb, PONS_START, "fan");
    pons_graph_edge(gb, "fan", "other");
    pons_graph_edge(gb, "other", "ask");
    pons_graph_edge(gb, "leaf", PONS_END);
    pons_graph_edge(gb, "ask", PONS_END);
    return compile(gb, NULL);
}

static void what_is_next_is_known_between_supersteps(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    pons_graph *g = wide();
    pons_run *r = NULL;
    assert_ok(pons_run_start(b.t, g, "", NULL, NULL, &r, &b.err));
    assert_next(r, "['fan']");
    assert_ok(pons_run_step(r, &b.err));
    assert_int_equal(pons_run_supersteps(r), 1);
    assert_next(r, "['other','leaf','leaf']"); // by name, then Sends in their order
    assert_ok(pons_run_step(r, &b.err));
    assert_next(r, "['ask']");
    assert_ok(pons_run_step(r, &b.err));
    assert_int_equal(pons_run_state_get(r), PONS_RUN_INTERRUPTED);
    assert_int_equal(pons_run_supersteps(r), 2); // the third is under way
    assert_next(r, "['ask']");
    pons_run_destroy(r);
    bed_thread(&b); // another process
    assert_ok(pons_run_resume(b.t, g, "", NULL, &r, &b.err));
    assert_next(r, "['ask']");
    assert_ok(pons_run_step(r, &b.err));
    pons_autovalue yes = json_true();
    assert_ok(pons_run_resume_value(r, yes, &b.err));
    assert_ok(pons_run_step(r, &b.err));
    assert_int_equal(pons_run_state_get(r), PONS_RUN_DONE);
    assert_next(r, "[]");
    pons_run_destroy(r);
    pons_graph_destroy(g);
    bed_close(&b);
}

static void a_sleep_runs_nothing(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    b.clock = pons_clock_real();
    bed_thread(&b);
    pons_graph_builder *gb = pons_graph_builder_create("slow");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    pons_graph_blocking(gb, "work", blocks, NULL);
    pons_graph_node(gb, "after", node_log, NULL);
    pons_graph_edge(gb, PONS_START, "work");
    pons_graph_edge(gb, "work", "after");
    pons_graph_edge(gb, "after", PONS_END);
    pons_graph *g = compile(gb, NULL);
    pons_run *r = NULL;
    assert_ok(pons_run_start(b.t, g, "", NULL, NULL, &r, &b.err));
    assert_ok(pons_run_step(r, &b.err));
    assert_int_equal(pons_run_state_get(r), PONS_RUN_PARKED);
    assert_ok(pons_run_sleep(r, &b.err));
    assert_int_equal(pons_run_state_get(r), PONS_RUN_READY); // it has come back
    assert_int_equal(pons_run_supersteps(r), 0);             // and has not been taken further
    assert_next(r, "['work']");
    assert_ok(pons_run_step(r, &b.err));
    assert_next(r, "['after']");
    assert_json(pons_run_get(r, "log"), "['worked']");
    assert_ok(pons_run_step(r, &b.err));
    assert_int_equal(pons_run_state_get(r), PONS_RUN_DONE);
    assert_ok(pons_run_sleep(r, &b.err)); // nothing to sleep for
    pons_run_destroy(r);
    pons_graph_destroy(g);
    bed_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_next_is_known_between_supersteps),
        cmocka_unit_test(a_sleep_runs_nothing),
    };
    pons_value_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
