// test_fork.c - the past: forks of older checkpoints, effects that then wait for a person,
// updates from outside with their routers, copies and prunes. Every case asserts the history's
// exact sources and steps, and reads the state as another process would.
#include "graph/graph_help.h"

#include <stdio.h>
#include <string.h>

// The history as "source step>next,…", newest first.
static void assert_history(bed *b, const char *ns, const char *want)
{
    pons_value *list = NULL, *row, *name;
    char have[1024] = "";
    size_t i, k, n = 0;
    assert_ok(pons_state_history(b->store, "t1", ns, 0, false, &list, &b->err));
    json_array_foreach(list, i, row) {
        n += (size_t)snprintf(have + n, sizeof have - n, "%s%s %d>", i ? " " : "",
                              pons_get_str(row, "source", ""), (int)pons_get_int(row, "step", 0));
        json_array_foreach(pons_get(row, "next"), k, name) {
            n += (size_t)snprintf(have + n, sizeof have - n, "%s%s", k ? "," : "",
                                  json_string_value(name));
        }
    }
    pons_value_unref(list);
    assert_string_equal(have, want);
}

static void nth_checkpoint(bed *b, size_t n, char ret[32])
{
    pons_value *list = NULL;
    assert_ok(pons_state_history(b->store, "t1", "", 0, false, &list, &b->err));
    snprintf(ret, 32, "%s", pons_get_str(json_array_get(list, n), "checkpoint_id", ""));
    pons_value_unref(list);
}

static void assert_log(bed *b, const char *want)
{
    pons_value *state = NULL;
    assert_ok(pons_state_read(b->store, "t1", "", &state, &b->err));
    assert_json(pons_get(state, "log"), want);
    pons_value_unref(state);
}

static int node_asks(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    const pons_value *answer;
    int st = pons_interrupt(cx, json_string("ok?"), &answer, err);
    return st == PONS_OK ? pons_cx_put(cx, "log", pons_value_ref(answer)) : st;
}

static pons_graph *line(pons_node_fn middle, void *user)
{
    pons_graph_builder *gb = pons_graph_builder_create("line");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    pons_graph_node(gb, "a", node_log, NULL);
    pons_graph_node(gb, "b", middle, user);
    pons_graph_node(gb, "c", node_log, NULL);
    pons_graph_edge(gb, PONS_START, "a");
    pons_graph_edge(gb, "a", "b");
    pons_graph_edge(gb, "b", "c");
    pons_graph_edge(gb, "c", PONS_END);
    return compile(gb, NULL);
}

// ---- forks --------------------------------------------------------------------------------------

static void a_fork_asks_again(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    pons_graph *g = line(node_asks, NULL);
    pons_run *r = run_to(&b, g, "", NULL, PONS_RUN_INTERRUPTED);
    pons_autovalue yes = json("'yes'");
    pons_autovalue no = json("'no'");
    assert_ok(pons_run_resume_value(r, yes, &b.err));
    assert_ok(pons_run_advance(r, &b.err));
    pons_run_destroy(r);
    assert_history(&b, "", "loop 3> loop 2>c loop 1>b loop 0>a input -1>__start__");
    char at[32], head[32];
    nth_checkpoint(&b, 2, at);
    nth_checkpoint(&b, 0, head);
    bed_thread(&b); // from another process
    assert_ok(pons_run_fork(b.t, g, "", at, NULL, NULL, &r, &b.err));
    assert_ok(pons_run_advance(r, &b.err));
    assert_int_equal(pons_run_state_get(r), PONS_RUN_INTERRUPTED);
    assert_log(&b, "['a']");
    pons_run_destroy(r);
    bed_thread(&b); // the fork is the head now: this is a resume of it
    nth_checkpoint(&b, 0, at);
    assert_ok(pons_run_fork(b.t, g, "", at, NULL, NULL, &r, &b.err));
    assert_ok(pons_run_resume_value(r, no, &b.err));
    assert_ok(pons_run_advance(r, &b.err));
    assert_int_equal(pons_run_state_get(r), PONS_RUN_DONE);
    assert_log(&b, "['a','no','c']");
    assert_history(&b, "",
                   "loop 4> loop 3>c fork 2>b loop 3> loop 2>c loop 1>b loop 0>a "
                   "input -1>__start__");
    pons_run_destroy(r);
    // The other branch is as it was.
    pons_value *list = NULL;
    assert_ok(pons_state_history(b.store, "t1", "", 0, true, &list, &b.err));
    assert_string_equal(pons_get_str(json_array_get(list, 3), "checkpoint_id", ""), head);
    assert_json(pons_get(pons_get(json_array_get(list, 3), "values"), "log"), "['a','yes','c']");
    pons_value_unref(list);
    // The head of what has ended gives its state; an unknown one is not found.
    nth_checkpoint(&b, 0, at);
    assert_ok(pons_run_fork(b.t, g, "", at, NULL, NULL, &r, &b.err));
    assert_int_equal(pons_run_state_get(r), PONS_RUN_DONE);
    assert_json(pons_run_get(r, "log"), "['a','no','c']");
    pons_run_destroy(r);
    assert_int_equal(pons_run_fork(b.t, g, "", "nothing", NULL, NULL, &r, &b.err), PONS_ENOTFOUND);
    assert_log(&b, "['a','no','c']");
    pons_graph_destroy(g);
    bed_close(&b);
}

static void a_fork_takes_an_input(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    pons_graph *g = line(node_log, NULL);
    pons_run *r = run_to(&b, g, "", NULL, PONS_RUN_DONE);
    pons_run_destroy(r);
    char at[32];
    nth_checkpoint(&b, 2, at);
    pons_autovalue in = json("{'log':'again'}");
    assert_ok(pons_run_fork(b.t, g, "", at, in, NULL, &r, &b.err));
    assert_ok(pons_run_advance(r, &b.err));
    pons_run_destroy(r);
    assert_log(&b, "['a','again','a','b','c']");
    pons_graph_destroy(g);
    bed_close(&b);
}

typedef struct world {
    int sent;
    pons_effect_state found;
} world;

static int send_it(void *user, const pons_effect *e, pons_error *err)
{
    (void)e;
    (void)err;
    ((world *)user)->sent++;
    return PONS_OK;
}

static int node_acts(pons_cx *cx, void *user, pons_error *err)
{
    world *w = user;
    const pons_value *later;
    char id[40];
    int st = pons_effect_intend(cx, "move", json("{'to':'door'}"), 0, NULL, id, err);
    if (st == PONS_OK) {
        st = pons_effect_dispatch(cx, id, NULL, send_it, w, &w->found, err);
    }
    if (st == PONS_OK) { // so that what was dispatched is seen by a replay
        st = pons_await(cx, "ask", json_string("and?"), 0, &later, err);
    }
    return st;
}

static void effects_of_a_fork_wait_for_a_person(void **state)
{
    (void)state;
    for (int says = 0; says < 2; says++) {
        bed b;
        bed_open(&b);
        b.instant = json_true();
        world w = {0};
        pons_graph *g = line(node_acts, &w);
        pons_run_destroy(run_to(&b, g, "", NULL, PONS_RUN_DONE));
        assert_int_equal(w.sent, 1);
        char at[32];
        nth_checkpoint(&b, 2, at);
        pons_run *r = NULL;
        assert_ok(pons_run_fork(b.t, g, "", at, NULL, NULL, &r, &b.err));
        assert_ok(pons_run_advance(r, &b.err));
        assert_int_equal(pons_run_state_get(r), PONS_RUN_INTERRUPTED);
        assert_int_equal(w.sent, 1);
        pons_run_destroy(r);
        bed_thread(&b); // it is a fork in another process, too
        r = resume_to(&b, g, "", PONS_RUN_INTERRUPTED);
        pons_value *pending = pons_run_pending(r);
        const pons_value *q = pons_get(json_array_get(pending, 0), "request");
        assert_string_equal(pons_get_str(q, "type", ""), "confirm_effect");
        assert_json(pons_get(q, "args"), "{'to':'door'}");
        pons_value_unref(pending);
        pons_autovalue answer = says ? json("{'confirm':true}") : json("'no'");
        assert_ok(pons_run_resume_value(r, answer, &b.err));
        assert_ok(pons_run_advance(r, &b.err));
        assert_int_equal(pons_run_state_get(r), PONS_RUN_DONE);
        assert_int_equal(w.sent, says ? 2 : 1);
        pons_run_destroy(r);
        pons_value *effects = NULL;
        assert_ok(pons_effects_read(b.store, "t1", UINT32_MAX, &effects, &b.err));
        assert_int_equal(json_array_size(effects), 2);
        assert_string_equal(pons_get_str(json_array_get(effects, 1), "state", ""),
                            says ? "dispatched" : "refused");
        pons_value_unref(effects);
        pons_run_destroy(
            run_to(&b, g, "", NULL, PONS_RUN_DONE)); // a person's new word: no question
        assert_int_equal(w.sent, says ? 3 : 2);
        pons_graph_destroy(g);
        bed_close(&b);
    }
}

// ---- updates ------------------------------------------------------------------------------------

static void an_update_runs_the_routers_of_its_node(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    pons_graph *g = line(node_asks, NULL);
    pons_run_destroy(run_to(&b, g, "", NULL, PONS_RUN_INTERRUPTED));
    pons_autovalue v = json("{'log':'told'}");
    char id[32];
    // The last writer was a: b is next again, and asks again.
    assert_ok(pons_state_update(b.t, g, "", v, NULL, id, &b.err));
    assert_history(&b, "", "update 2>b loop 1>b loop 0>a input -1>__start__");
    char head[32];
    nth_checkpoint(&b, 0, head);
    assert_string_equal(head, id);
    // In the place of b: c is next. An update is the last writer of the next one.
    assert_ok(pons_state_update(b.t, g, "", v, "b", NULL, &b.err));
    assert_ok(pons_state_update(b.t, g, "", NULL, NULL, NULL, &b.err));
    assert_history(&b, "", "update 4>c update 3>c update 2>b loop 1>b loop 0>a input -1>__start__");
    bed_thread(&b);
    pons_run_destroy(resume_to(&b, g, "", PONS_RUN_DONE));
    assert_log(&b, "['a','told','told','c']");
    // As START it is an input; as END nothing is next.
    assert_ok(pons_state_update(b.t, g, "", v, PONS_START, NULL, &b.err));
    nth_checkpoint(&b, 0, head);
    assert_ok(pons_state_update(b.t, g, "", NULL, PONS_END, NULL, &b.err));
    pons_run *r = NULL;
    assert_ok(pons_run_resume(b.t, g, "", NULL, &r, &b.err));
    assert_int_equal(pons_run_state_get(r), PONS_RUN_DONE);
    pons_run_destroy(r);
    assert_int_equal(pons_state_update(b.t, g, "", v, "ghost", NULL, &b.err), PONS_EINVAL);
    pons_autovalue bad = json("{'ghost':1}");
    assert_int_equal(pons_state_update(b.t, g, "", bad, "a", NULL, &b.err), PONS_EINVAL);
    pons_graph_destroy(g);
    bed_close(&b);
}

static void an_update_of_nothing_is_an_input(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    pons_graph *g = line(node_log, NULL);
    pons_autovalue v = json("{'log':'in'}");
    assert_ok(pons_state_update(b.t, g, "", v, NULL, NULL, &b.err));
    assert_history(&b, "", "update 0>a");
    pons_run_destroy(resume_to(&b, g, "", PONS_RUN_DONE));
    assert_log(&b, "['in','a','b','c']");
    pons_graph_destroy(g);
    bed_close(&b);
}

static pons_graph *pair(void)
{
    pons_graph_builder *gb = pons_graph_builder_create("pair");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    pons_graph_node(gb, "a", node_log, NULL);
    pons_graph_node(gb, "b", node_asks, NULL);
    pons_graph_node(gb, "c", node_asks, NULL);
    pons_graph_node(gb, "d", node_log, NULL);
    static const char *const to[] = {"a", "b", "c"};
    for (size_t i = 0; i < 3; i++) {
        pons_graph_edge(gb, PONS_START, to[i]);
        pons_graph_edge(gb, to[i], "d");
    }
    pons_graph_edge(gb, "d", PONS_END);
    return compile(gb, NULL);
}

static void a_tie_is_an_error_and_siblings_keep_their_place(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    pons_graph *g = pair();
    pons_run *r = run_to(&b, g, "", NULL, PONS_RUN_INTERRUPTED);
    pons_run_destroy(r);
    // b is spoken for, a had finished, c still has to run.
    pons_autovalue v = json("{'log':'for b'}");
    assert_ok(pons_state_update(b.t, g, "", v, "b", NULL, &b.err));
    assert_log(&b, "['a','for b']");
    assert_history(&b, "", "update 1>c,d loop 0>a,b,c input -1>__start__");
    r = resume_to(&b, g, "", PONS_RUN_INTERRUPTED);
    pons_autovalue yes = json("'c'");
    assert_ok(pons_run_resume_value(r, yes, &b.err));
    assert_ok(pons_run_advance(r, &b.err));
    pons_run_destroy(r);
    assert_log(&b, "['a','for b','c','d','d']");
    // c and d ran in the same step: who wrote last?
    char at[32];
    nth_checkpoint(&b, 1, at);
    assert_ok(pons_run_fork(b.t, g, "", at, NULL, NULL, &r, &b.err));
    pons_run_destroy(r);
    assert_int_equal(pons_state_update(b.t, g, "", v, NULL, NULL, &b.err), PONS_EAMBIGUOUS);
    assert_non_null(strstr(b.err.message, "say as which"));
    pons_graph_destroy(g);
    bed_close(&b);
}

static void a_bulk_update_is_a_checkpoint_a_superstep(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    pons_graph *g = line(node_log, NULL);
    pons_autovalue one = json("{'log':1}");
    pons_autovalue two = json("{'log':2}");
    pons_autovalue three = json("{'log':3}");
    pons_state_change first[] = {{one, PONS_START}}, second[] = {{two, "a"}, {three, "b"}};
    pons_state_step steps[] = {{first, 1}, {second, 2}};
    assert_ok(pons_state_update_bulk(b.t, g, "", steps, 2, NULL, &b.err));
    assert_history(&b, "", "update 1>b,c update 0>a");
    assert_log(&b, "[1,2,3]");
    assert_int_equal(pons_state_update(b.t, g, "", one, NULL, NULL, &b.err), PONS_EAMBIGUOUS);
    pons_graph_destroy(g);
    bed_close(&b);
}

// ---- subgraphs from outside ---------------------------------------------------------------------

static void a_subgraph_is_read_and_answered_from_outside(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    pons_graph *in = line(node_asks, NULL);
    pons_graph_builder *gb = pons_graph_builder_create("outer");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    pons_graph_subgraph(gb, "sub", in, PONS_SUBGRAPH_OWN);
    pons_graph_edge(gb, PONS_START, "sub");
    pons_graph_edge(gb, "sub", PONS_END);
    pons_graph *g = compile(gb, NULL);
    pons_run_destroy(run_to(&b, g, "", NULL, PONS_RUN_INTERRUPTED));
    assert_history(&b, "sub", "loop 1>b loop 0>a input -1>__start__");
    // Its head is changed from outside, as its node b: the interrupt is not asked any more.
    pons_autovalue v = json("{'log':'outside'}");
    assert_ok(pons_state_update(b.t, in, "sub", v, "b", NULL, &b.err));
    bed_thread(&b);
    pons_run *r = resume_to(&b, g, "", PONS_RUN_DONE);
    assert_json(pons_run_get(r, "log"), "['a','outside','c']");
    pons_run_destroy(r);
    pons_graph_destroy(g);
    pons_graph_destroy(in);
    bed_close(&b);
}

// ---- copy, prune --------------------------------------------------------------------------------

static void copies_and_prunes(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    if (!b.store.ops->thread_copy || !b.store.ops->prune) {
        bed_close(&b);
        skip();
    }
    pons_graph *g = line(node_asks, NULL);
    pons_run_destroy(run_to(&b, g, "", NULL, PONS_RUN_INTERRUPTED));
    assert_ok(pons_state_copy(b.store, "t1", "t2", &b.err));
    assert_int_equal(pons_state_copy(b.store, "t1", "t2", &b.err), PONS_EEXIST);
    pons_thread *t = NULL;
    pons_thread_options o = {.clock = b.clock, .seed = 3};
    assert_ok(pons_thread_open(b.store, "t2", &o, &t, &b.err));
    pons_run *r = NULL; // the copy goes on by itself
    pons_autovalue yes = json("'copy'");
    assert_ok(pons_run_resume(t, g, "", NULL, &r, &b.err));
    assert_ok(pons_run_resume_value(r, yes, &b.err));
    assert_ok(pons_run_advance(r, &b.err));
    assert_int_equal(pons_run_state_get(r), PONS_RUN_DONE);
    pons_run_destroy(r);
    pons_thread_close(t);
    assert_log(&b, "['a']");
    for (int i = 0; i < 20; i++) {
        assert_ok(pons_state_update(b.t, g, "", NULL, "a", NULL, &b.err));
    }
    int64_t removed = -1;
    assert_int_equal(pons_state_prune(b.store, "t1", 1, 0, NULL, &b.err), PONS_EBUSY);
    assert_ok(pons_thread_prune(b.t, 5, 0, &removed, &b.err)); // its holder may
    assert_ok(pons_state_update(b.t, g, "", NULL, "a", NULL, &b.err));
    pons_thread_close(b.t);
    b.t = NULL;
    assert_int_equal(pons_state_prune(b.store, "t1", -1, 0, NULL, &b.err), PONS_EINVAL);
    assert_ok(pons_state_prune(b.store, "t1", 1, 0, &removed, &b.err));
    assert_true(removed >= 0);
    assert_log(&b, "['a']");
    bed_thread(&b);
    pons_run_destroy(resume_to(&b, g, "", PONS_RUN_INTERRUPTED));
    pons_graph_destroy(g);
    bed_close(&b);
}

int main(void)
{
    pons_value_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fork_asks_again),
        cmocka_unit_test(a_fork_takes_an_input),
        cmocka_unit_test(effects_of_a_fork_wait_for_a_person),
        cmocka_unit_test(an_update_runs_the_routers_of_its_node),
        cmocka_unit_test(an_update_of_nothing_is_an_input),
        cmocka_unit_test(a_tie_is_an_error_and_siblings_keep_their_place),
        cmocka_unit_test(a_bulk_update_is_a_checkpoint_a_superstep),
        cmocka_unit_test(a_subgraph_is_read_and_answered_from_outside),
        cmocka_unit_test(copies_and_prunes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
