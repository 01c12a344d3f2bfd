// test_spec_double_texting.c - conformance: "A second run on a busy thread: reject, enqueue
// (default), interrupt (the old run stops at a step boundary, its checkpoints stay), rollback (they
// go)." The first run waits in its second step; every checkpoint of both is compared, in each
// durability, with the one process and with another that finds what they left.
#include "graph/spec.h"

#include <stdio.h>
#include <string.h>

static const char first_run[] = "[-1,'input',['__start__'],{}],[0,'loop',['a'],{'sum':1}],"
                                "[1,'loop',['w'],{'sum':1,'log':['a']}]";

typedef struct two_runs {
    bed b;
    spec_node n[3];
    pons_graph *g;
    pons_run *one, *two;
} two_runs;

// One run that waits, and a second one that comes.
static int second_comes(two_runs *t, pons_busy how, pons_durability d)
{
    static const spec_node n[] = {{"a", "put log 'a'", "w"}, {"w", "await '?'", "END"}, {NULL}};
    pons_run_options o = {.durability = d};
    memset(t, 0, sizeof *t);
    bed_open(&t->b);
    memcpy(t->n, n, sizeof n);
    t->g = spec_compile(&(spec_graph){"a", t->n});
    pons_autovalue in = json("{'sum':1}");
    assert_ok(pons_run_submit(t->b.t, t->g, "", in, how, &o, &t->one, &t->b.err));
    assert_ok(pons_run_advance(t->one, &t->b.err));
    assert_int_equal(pons_run_state_get(t->one), PONS_RUN_PARKED);
    pons_autovalue more = json("{'sum':10}");
    return pons_run_submit(t->b.t, t->g, "", more, how, &o, &t->two, &t->b.err);
}

static void answer(two_runs *t, pons_run *r)
{
    char id[64];
    spec_pending(r, 0, id);
    assert_ok(pons_run_answer(r, id, json("'yes'"), &t->b.err));
    assert_ok(pons_run_advance(r, &t->b.err));
    assert_int_equal(pons_run_state_get(r), PONS_RUN_DONE);
}

static void over(two_runs *t)
{
    pons_run_destroy(t->one);
    pons_run_destroy(t->two);
    pons_graph_destroy(t->g);
    bed_close(&t->b);
}

static void checkpoints_are(two_runs *t, const char *rest)
{
    char want[1024];
    snprintf(want, sizeof want, "[%s,%s]", first_run, rest);
    spec_checkpoints(&t->b, "", want);
}

static void rejected(void **state)
{
    (void)state;
    two_runs t;
    assert_int_equal(second_comes(&t, PONS_BUSY_REJECT, PONS_DURABILITY_SYNC), PONS_EBUSY);
    answer(&t, t.one); // it is not disturbed
    checkpoints_are(&t, "[2,'loop',[],{'sum':1,'log':['a','yes']}]");
    over(&t);
}

static void enqueued(void **state)
{
    (void)state;
    two_runs t;
    assert_int_equal((pons_busy)0, PONS_BUSY_ENQUEUE); // the default
    assert_ok(second_comes(&t, PONS_BUSY_ENQUEUE, PONS_DURABILITY_SYNC));
    assert_int_equal(pons_run_state_get(t.two), PONS_RUN_PARKED);
    answer(&t, t.one);
    assert_int_equal(pons_run_state_get(t.two), PONS_RUN_READY);
    assert_ok(pons_run_advance(t.two, &t.b.err));
    answer(&t, t.two);
    checkpoints_are(&t, "[2,'loop',[],{'sum':1,'log':['a','yes']}],"
                        "[3,'input',['__start__'],{'sum':1,'log':['a','yes']}],"
                        "[4,'loop',['a'],{'sum':11,'log':['a','yes']}],"
                        "[5,'loop',['w'],{'sum':11,'log':['a','yes','a']}],"
                        "[6,'loop',[],{'sum':11,'log':['a','yes','a','yes']}]");
    over(&t);
}

static void interrupted(void **state)
{
    (void)state;
    for (int d = 0; d < 3; d++) {
        for (int reopen = 0; reopen < 2; reopen++) {
            two_runs t;
            assert_ok(second_comes(&t, PONS_BUSY_INTERRUPT, (pons_durability)d));
            assert_int_equal(pons_run_state_get(t.one), PONS_RUN_FAILED);
            assert_int_equal(pons_run_error(t.one)->status, PONS_ECANCELED);
            assert_int_equal(json_array_size(t.b.canceled), 1);
            assert_ok(pons_run_advance(t.two, &t.b.err));
            if (reopen) {
                pons_run_destroy(t.one);
                pons_run_destroy(t.two);
                t.one = t.two = NULL;
                bed_thread(&t.b);
                t.two = spec_resume(&t.b, t.g, 0, PONS_RUN_PARKED);
            }
            answer(&t, t.two);
            // The old run's steps and its update stay; what it waited for is given up.
            if (d != PONS_DURABILITY_EXIT) {
                checkpoints_are(&t, "[2,'input',['__start__'],{'sum':1,'log':['a']}],"
                                    "[3,'loop',['a'],{'sum':11,'log':['a']}],"
                                    "[4,'loop',['w'],{'sum':11,'log':['a','a']}],"
                                    "[5,'loop',[],{'sum':11,'log':['a','a','yes']}]");
            } else {
                spec_state(&t.b, "", "{'sum':11,'log':['a','a','yes']}");
            }
            over(&t);
        }
    }
}

static void rolled_back(void **state)
{
    (void)state;
    for (int d = 0; d < 3; d++) {
        for (int reopen = 0; reopen < 2; reopen++) {
            two_runs t;
            assert_ok(second_comes(&t, PONS_BUSY_ROLLBACK, (pons_durability)d));
            assert_int_equal(pons_run_state_get(t.one), PONS_RUN_FAILED);
            assert_int_equal(json_array_size(t.b.canceled), 1);
            assert_ok(pons_run_advance(t.two, &t.b.err));
            if (reopen) {
                pons_run_destroy(t.one);
                pons_run_destroy(t.two);
                t.one = t.two = NULL;
                bed_thread(&t.b);
                t.two = spec_resume(&t.b, t.g, 0, PONS_RUN_PARKED);
            }
            answer(&t, t.two);
            // As if the first one had never been.
            if (d != PONS_DURABILITY_EXIT) {
                spec_checkpoints(&t.b, "",
                                 "[[-1,'input',['__start__'],{}],[0,'loop',['a'],{'sum':10}],"
                                 "[1,'loop',['w'],{'sum':10,'log':['a']}],"
                                 "[2,'loop',[],{'sum':10,'log':['a','yes']}]]");
            } else {
                spec_state(&t.b, "", "{'sum':10,'log':['a','yes']}");
            }
            over(&t);
        }
    }
}

int main(void)
{
    pons_value_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rejected),
        cmocka_unit_test(enqueued),
        cmocka_unit_test(interrupted),
        cmocka_unit_test(rolled_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
