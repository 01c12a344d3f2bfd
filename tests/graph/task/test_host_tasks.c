// test_host_tasks.c - nodes that a host works on beside each other (pons_graph_begin): of several tasks each is
// begun before the first one's function is called, of one none is; who is cached or canceled is not; another
// attempt and another step begin anew. However a step ends, each that was begun is run once or dropped once.
#include "graph/graph_help.h"
#include "pons/functional.h"

#include <stdio.h>
#include <string.h>

static char reported[256];
static pons_cx *begun_c;

static void tell(const char *what, const pons_cx *cx)
{
    const size_t n = strlen(reported);
    snprintf(reported + n, sizeof reported - n, "%s%s ", what, pons_cx_node(cx));
}

static void begins(pons_cx *cx, void *user)
{
    (void)user;
    tell("+", cx);
    if (strcmp(pons_cx_node(cx), "c") == 0) {
        begun_c = cx;
    }
}

static void drops(pons_cx *cx, void *user)
{
    (void)user;
    tell("-", cx);
}

static int tries;
static pons_run *to_cancel;
static bed *late;       // its clock goes on by a second in the next node
static bed *looks;      // at what the store has of the step, in b
static bool ends_early; // c has, when a's function is called
static fuse *fails_now; // the store does, with an effect that the next node sends

static int sends(void *user, const pons_effect *e, pons_error *err)
{
    (void)user, (void)e, (void)err;
    return PONS_OK;
}

// [c] for a task whose end is stored.
static void tell_kept(bed *b)
{
    pons_autovalue found = NULL;
    size_t i;
    pons_value *task;
    assert_ok(pons_state_snapshot(b->store, pons_thread_id(b->t), "", NULL, &found, &b->err));
    json_array_foreach(json_object_get(found, "tasks"), i, task) {
        if (json_is_object(json_object_get(task, "result"))) {
            const size_t n = strlen(reported);
            snprintf(reported + n, sizeof reported - n, "[%s] ",
                     json_string_value(json_object_get(task, "name")));
        }
    }
}

static int works(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    tell("", cx);
    if (tries > 0 && strcmp(pons_cx_node(cx), "b") == 0) {
        tries--;
        return pons_error_set(err, PONS_EIO, "test", "once more");
    }
    if (ends_early && strcmp(pons_cx_node(cx), "a") == 0) {
        ends_early = false;
        pons_cx_ended(begun_c);
        pons_cx_ended(begun_c); // once is enough
    }
    if (looks && strcmp(pons_cx_node(cx), "b") == 0) {
        tell_kept(looks);
    }
    if (to_cancel) {
        pons_run_cancel(to_cancel, PONS_CANCEL_INTERRUPT);
        to_cancel = NULL;
    }
    if (late) {
        late->time.now_ns += PONS_NS_PER_S;
        late = NULL;
    }
    if (fails_now) {
        char id[40];
        pons_effect_state found;
        fails_now->left = 0;
        fails_now = NULL;
        assert_ok(pons_effect_intend(cx, "skill", json_object(), 1, NULL, id, err));
        return pons_effect_dispatch(cx, id, NULL, sends, NULL, &found, err);
    }
    return pons_cx_put(cx, "log", json_string(pons_cx_node(cx)));
}

// START --> a, b, c --> last
static pons_graph *wide_timed(bool cache, int64_t step_timeout_ms)
{
    static const char *const nodes[] = {"a", "b", "c", "last"};
    pons_graph_builder *gb = pons_graph_builder_create("wide");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    for (int i = 0; i < 4; i++) {
        pons_graph_node(gb, nodes[i], works, NULL);
        pons_graph_begin(gb, nodes[i], begins);
        pons_graph_drop(gb, nodes[i], drops);
        pons_graph_node_options(
            gb, nodes[i], &(pons_node_options){.retry = {.attempts = 2}, .cache = cache && i == 1});
        pons_graph_edge(gb, i < 3 ? PONS_START : "c", nodes[i]);
    }
    pons_graph_edge(gb, "last", PONS_END);
    pons_graph_edge(gb, "a", PONS_END);
    pons_graph_edge(gb, "b", PONS_END);
    return compile(gb, &(pons_graph_options){.step_timeout_ms = step_timeout_ms});
}

static pons_graph *wide(bool cache)
{
    return wide_timed(cache, 0);
}

static void each_is_begun_before_the_first_runs(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    pons_graph *g = wide(false);
    reported[0] = '\0';
    tries = 1;
    pons_run *r = run_to(&b, g, "", "{'log':[]}", PONS_RUN_DONE);
    // b's second attempt is alone with what is left, and so is `last`
    assert_string_equal(reported, "+a +b +c a b b c last ");
    assert_json(pons_run_get(r, "log"), "['a','b','c','last']");
    pons_run_destroy(r);
    pons_graph_destroy(g);
    bed_close(&b);
}

static void what_has_ended_is_stored_while_others_work(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    pons_graph *g = wide(false);
    reported[0] = '\0';
    ends_early = true;
    looks = &b;
    pons_run *r = run_to(&b, g, "", "{'log':[]}", PONS_RUN_DONE);
    looks = NULL;
    assert_string_equal(reported, "+a +b +c a c b [a] [c] last ");
    assert_json(pons_run_get(r, "log"), "['a','b','c','last']");
    pons_run_destroy(r);
    pons_graph_destroy(g);
    bed_close(&b);
}

static void what_the_cache_gives_is_not_begun(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    pons_graph *g = wide(true);
    reported[0] = '\0';
    pons_run_destroy(run_to(&b, g, "one", "{'log':[]}", PONS_RUN_DONE));
    pons_run_destroy(run_to(&b, g, "two", "{'log':[]}", PONS_RUN_DONE));
    assert_string_equal(reported, "+a +b +c a b c last +a +c a c last ");
    pons_graph_destroy(g);
    bed_close(&b);
}

static void a_canceled_step_begins_anew(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    pons_graph *g = wide(false);
    pons_autovalue input = json("{'log':[]}");
    pons_run *r = NULL;
    reported[0] = '\0';
    assert_ok(pons_run_start(b.t, g, "", input, NULL, &r, &b.err));
    to_cancel = r;
    assert_ok(pons_run_advance(r, &b.err));
    assert_int_equal(pons_run_state_get(r), PONS_RUN_FAILED);
    assert_string_equal(reported, "+a +b +c a -b -c "); // b and c are given up
    pons_run_destroy(r);
    reported[0] = '\0';
    r = resume_to(&b, g, "", PONS_RUN_DONE);
    assert_string_equal(reported, "+b +c b c last ");
    assert_json(pons_run_get(r, "log"), "['a','b','c','last']");
    pons_run_destroy(r);
    pons_graph_destroy(g);
    bed_close(&b);
}

static void a_step_over_its_time_drops_the_rest(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    pons_graph *g = wide_timed(false, 500);
    reported[0] = '\0';
    late = &b;
    pons_run_destroy(run_to(&b, g, "", "{'log':[]}", PONS_RUN_FAILED));
    assert_string_equal(reported, "+a +b +c a -b -c ");
    pons_run_destroy(resume_to(&b, g, "", PONS_RUN_DONE));
    assert_string_equal(reported, "+a +b +c a -b -c +a +b +c a b c last ");
    pons_graph_destroy(g);
    bed_close(&b);
}

// The store fails under a: the step is run again when there is room, and begins anew.
static void a_store_that_fails_drops_the_rest(void **state)
{
    (void)state;
    bed b;
    pons_store inner;
    pons_error err = PONS_ERROR_INIT;
    assert_ok(pons_store_memory_open(&inner, &err));
    fuse f = {.inner = inner, .left = -1};
    bed_open_on(&b, fuse_store(&f));
    pons_graph *g = wide(false);
    pons_autovalue input = json("{'log':[]}");
    pons_run *r = NULL;
    reported[0] = '\0';
    pons_run_options o = {.durability = PONS_DURABILITY_SYNC};
    assert_ok(pons_run_start(b.t, g, "", input, &o, &r, &b.err));
    fails_now = &f;
    assert_int_equal(pons_run_advance(r, &b.err), PONS_EIO);
    assert_string_equal(reported, "+a +b +c a -b -c ");
    reported[0] = '\0';
    f.dead = false;
    f.left = -1;
    assert_ok(pons_run_advance(r, &b.err));
    assert_int_equal(pons_run_state_get(r), PONS_RUN_DONE);
    assert_string_equal(reported, "+a +b +c a b c last ");
    pons_run_destroy(r);
    pons_graph_destroy(g);
    bed_close(&b);
    pons_store_close(&inner);
}

// A sibling's failure keeps nobody from running.
static int fails(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    tell("", cx);
    return pons_error_set(err, PONS_EIO, "test", "no");
}

// Hands off to the hub around it.
static int hands_off(pons_cx *cx, void *user, pons_error *err)
{
    static const char *const hub[] = {"hub", NULL};
    (void)user;
    tell("", cx);
    return pons_cx_command(cx, &(pons_command){.parent = true, .go = hub}, err);
}

// START --> entry --> a, b, c, of which `a` is special.
static pons_graph *fork_of(pons_node_fn special)
{
    static const char *const nodes[] = {"entry", "a", "b", "c"};
    pons_graph_builder *gb = pons_graph_builder_create("fork");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    for (int i = 0; i < 4; i++) {
        pons_graph_node(gb, nodes[i], i == 1 ? special : works, NULL);
        pons_graph_begin(gb, nodes[i], begins);
        pons_graph_drop(gb, nodes[i], drops);
        pons_graph_edge(gb, i == 0 ? PONS_START : "entry", nodes[i]);
    }
    pons_graph_edge(gb, "a", PONS_END);
    pons_graph_edge(gb, "b", PONS_END);
    pons_graph_edge(gb, "c", PONS_END);
    return compile(gb, NULL);
}

static void a_siblings_failure_drops_nobody(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    pons_graph *g = fork_of(fails);
    reported[0] = '\0';
    pons_run_destroy(run_to(&b, g, "", "{'log':[]}", PONS_RUN_FAILED));
    assert_string_equal(reported, "entry +a +b +c a b c ");
    pons_graph_destroy(g);
    bed_close(&b);
}

static int rounds;

static int hub(pons_cx *cx, void *user, pons_error *err)
{
    static const char *const below[] = {"below", NULL}, *const end[] = {PONS_END, NULL};
    (void)user;
    tell("", cx);
    return pons_cx_command(cx, &(pons_command){.go = rounds-- > 0 ? below : end}, err);
}

static void a_command_to_the_parent_drops_the_rest(void **state)
{
    static const char *const goes[] = {"below", PONS_END, NULL}, *const back[] = {"hub", NULL};
    (void)state;
    bed b;
    bed_open(&b);
    pons_graph *inner = fork_of(hands_off);
    pons_graph_builder *gb = pons_graph_builder_create("around");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    pons_graph_node(gb, "hub", hub, NULL);
    pons_graph_node_options(gb, "hub", &(pons_node_options){.goes = goes});
    pons_graph_subgraph(gb, "below", inner, PONS_SUBGRAPH_INHERIT);
    pons_graph_node_options(gb, "below", &(pons_node_options){.goes = back});
    pons_graph_edge(gb, PONS_START, "hub");
    pons_graph *g = compile(gb, NULL);
    reported[0] = '\0';
    rounds = 2;
    pons_run_destroy(run_to(&b, g, "", "{'log':[]}", PONS_RUN_DONE));
    assert_string_equal(reported, "hub entry +a +b +c a -b -c hub entry +a +b +c a -b -c hub ");
    pons_graph_destroy(g);
    pons_graph_destroy(inner);
    bed_close(&b);
}

static void only_functions_are_begun(void **state)
{
    (void)state;
    pons_error err = PONS_ERROR_INIT;
    pons_graph *g = NULL;
    pons_graph_builder *gb = pons_graph_builder_create("wrong");
    pons_graph_entrypoint(gb, NULL, NULL);
    pons_graph_begin(gb, "wrong", begins);
    pons_graph_begin(gb, "nobody", begins);
    assert_int_equal(pons_graph_compile(gb, NULL, &g, &err), PONS_EINVAL);
    assert_non_null(strstr(err.message, "node 'wrong' can't be begun ahead"));
    assert_non_null(strstr(err.message, "unknown node 'nobody' is given a beginning"));
    pons_graph_builder_destroy(gb);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_begun_before_the_first_runs),
        cmocka_unit_test(what_has_ended_is_stored_while_others_work),
        cmocka_unit_test(what_the_cache_gives_is_not_begun),
        cmocka_unit_test(a_canceled_step_begins_anew),
        cmocka_unit_test(a_step_over_its_time_drops_the_rest),
        cmocka_unit_test(a_store_that_fails_drops_the_rest),
        cmocka_unit_test(a_siblings_failure_drops_nobody),
        cmocka_unit_test(a_command_to_the_parent_drops_the_rest),
        cmocka_unit_test(only_functions_are_begun),
    };
    pons_value_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
