// test_begin.c - nodes that a host works on beside each other (pons_graph_begin): of several tasks each is
// begun before the first one's function is called, of one none is; who is cached or canceled is not; another
// attempt and another step begin anew.
#include "graph/graph_help.h"
#include "pons/functional.h"

#include <stdio.h>
#include <string.h>

static char told[256];

static void tell(const char *what, const pons_cx *cx)
{
    const size_t n = strlen(told);
    snprintf(told + n, sizeof told - n, "%s%s ", what, pons_cx_node(cx));
}

static void begins(pons_cx *cx, void *user)
{
    (void)user;
    tell("+", cx);
}

static int tries;
static pons_run *to_cancel;

static int works(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    tell("", cx);
    if (tries > 0 && strcmp(pons_cx_node(cx), "b") == 0) {
        tries--;
        return pons_error_set(err, PONS_EIO, "test", "once more");
    }
    if (to_cancel) {
        pons_run_cancel(to_cancel, PONS_CANCEL_INTERRUPT);
        to_cancel = NULL;
    }
    return pons_cx_put(cx, "log", json_string(pons_cx_node(cx)));
}

// START --> a, b, c --> last
static pons_graph *wide(bool cache)
{
    static const char *const nodes[] = {"a", "b", "c", "last"};
    pons_graph_builder *gb = pons_graph_builder_create("wide");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    for (int i = 0; i < 4; i++) {
        pons_graph_node(gb, nodes[i], works, NULL);
        pons_graph_begin(gb, nodes[i], begins);
        pons_graph_node_options(
            gb, nodes[i], &(pons_node_options){.retry = {.attempts = 2}, .cache = cache && i == 1});
        pons_graph_edge(gb, i < 3 ? PONS_START : "c", nodes[i]);
    }
    pons_graph_edge(gb, "last", PONS_END);
    pons_graph_edge(gb, "a", PONS_END);
    pons_graph_edge(gb, "b", PONS_END);
    return compile(gb, NULL);
}

static void each_is_begun_before_the_first_runs(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    pons_graph *g = wide(false);
    told[0] = '\0';
    tries = 1;
    pons_run *r = run_to(&b, g, "", "{'log':[]}", PONS_RUN_DONE);
    // b's second attempt is alone with what is left, and so is `last`
    assert_string_equal(told, "+a +b +c a b b c last ");
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
    told[0] = '\0';
    pons_run_destroy(run_to(&b, g, "one", "{'log':[]}", PONS_RUN_DONE));
    pons_run_destroy(run_to(&b, g, "two", "{'log':[]}", PONS_RUN_DONE));
    assert_string_equal(told, "+a +b +c a b c last +a +c a c last ");
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
    told[0] = '\0';
    assert_ok(pons_run_start(b.t, g, "", input, NULL, &r, &b.err));
    to_cancel = r;
    assert_ok(pons_run_advance(r, &b.err));
    assert_int_equal(pons_run_state_get(r), PONS_RUN_FAILED);
    assert_string_equal(told, "+a +b +c a "); // b and c are given up
    pons_run_destroy(r);
    told[0] = '\0';
    r = resume_to(&b, g, "", PONS_RUN_DONE);
    assert_string_equal(told, "+b +c b c last ");
    assert_json(pons_run_get(r, "log"), "['a','b','c','last']");
    pons_run_destroy(r);
    pons_graph_destroy(g);
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
        cmocka_unit_test(what_the_cache_gives_is_not_begun),
        cmocka_unit_test(a_canceled_step_begins_anew),
        cmocka_unit_test(only_functions_are_begun),
    };
    pons_value_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
