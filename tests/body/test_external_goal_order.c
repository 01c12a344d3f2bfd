// test_external_goal_order.c - what the robot's own software (ext/outside.h) carries out, and each pair of {goal, cancel,
// stop, spin, dock}, one right after the other: the order in which that software hears of it, that nothing follows a
// cancel before its answer, that the ledger has the same order, and what each goal ends as. The software is played: it
// answers a cancel at once, late, with a no, or never.
#include "body_bench.h"
#include "pons/drivers.h"
#include "pons/ext/outside.h"
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define HOUSE PONS_SOURCE_DIR "/worlds/house.yaml"

typedef enum answers { AT_ONCE, LATE, FIRST, NO, NEVER, ANSWERS } answers;
// FIRST: late, and by then the goal had succeeded.

typedef struct external_goal {
    char id[8];
    pons_external_goal_state state; // as it is told
    bool asked;                     // to end
    int asked_for;                  // looks since then
} external_goal;

static struct {
    answers how;
    external_goal all[4];
    int n;
    char wire[160]; // "+x" x is begun, "-x" it is asked to end, ".x" that is answered
    bool overtaken; // something was begun before a cancel was answered
} software;

static bool lacks_nothing(void *self, char ret_why[PONS_OUTSIDE_TEXT_MAX])
{
    (void)self;
    ret_why[0] = '\0';
    return false;
}

static bool takes(void *self, const char *skill)
{
    (void)self;
    return strcmp(skill, "spin") == 0 || strcmp(skill, "navigate_to_pose") == 0 ||
           strcmp(skill, "dock_to_charger") == 0;
}

static external_goal *find(const char *id)
{
    for (int i = 0; i < software.n; i++) {
        if (strcmp(software.all[i].id, id) == 0) {
            return &software.all[i];
        }
    }
    return NULL;
}

static void note(char what, const char *id)
{
    const size_t n = strlen(software.wire);
    snprintf(software.wire + n, sizeof software.wire - n, "%s%c%s", n > 0 ? " " : "", what, id);
}

static void begin(void *self, const pons_external_goal_request *goal)
{
    (void)self;
    for (int i = 0; i < software.n; i++) {
        software.overtaken = software.overtaken ||
                             (software.all[i].asked && software.all[i].state == PONS_ERRAND_RUNS);
    }
    external_goal *e = &software.all[software.n++];
    snprintf(e->id, sizeof e->id, "%s", goal->goal_id);
    e->state = PONS_ERRAND_RUNS;
    note('+', e->id);
}

static void look(void *self, const char *goal_id, pons_external_goal *ret)
{
    (void)self;
    external_goal *e = find(goal_id);
    ret->state = e ? e->state : PONS_ERRAND_NONE;
    if (!e || !e->asked || e->state != PONS_ERRAND_RUNS) {
        return;
    }
    e->asked_for++;
    if (software.how <= FIRST && e->asked_for > (software.how == AT_ONCE ? 1 : 40)) {
        e->state = software.how == FIRST ? PONS_ERRAND_DONE : PONS_ERRAND_CANCELED;
        note('.', e->id);
    }
}

static void end(void *self, const char *goal_id)
{
    (void)self;
    external_goal *e = find(goal_id);
    if (e && !e->asked && e->state == PONS_ERRAND_RUNS) {
        e->asked = true;
        note('-', e->id);
    }
}

static const pons_robot_outside_ops of_software = {
    .lacks = lacks_nothing, .takes = takes, .begin = begin, .look = look, .end = end};

// ---- the table ----------------------------------------------------------------------------------

typedef enum op { GOAL, CANCEL, STOP, SPIN, DOCK, OPS } op;
static const char *const words[OPS] = {"goal", "cancel", "stop", "spin", "dock"};

static bool begins(op o)
{
    return o == GOAL || o == SPIN || o == DOCK;
}

static void do_op(bench *t, op o, const char *id, const char *of)
{
    switch (o) {
    case GOAL:
        bench_goal(t, id, "navigate_to_pose", "{\"zone\":\"kitchen\"}");
        return;
    case SPIN:
        bench_goal(t, id, "spin", "{\"angle_rad\":3.0}");
        return;
    case DOCK:
        bench_goal(t, id, "dock_to_charger", "{}");
        return;
    case CANCEL:
        bench_send(t, pons_object("type", json_string("cancel"), "goal_id", json_string(of),
                                  "epoch", json_integer(t->epoch), NULL));
        return;
    case STOP:
        bench_send(t,
                   pons_object("type", json_string("stop"), "reason", json_string("a hand"), NULL));
        return;
    case OPS:
        return;
    }
}

// What a goal that was to end as `asked` ends as.
static const char *ends(answers how, const char *asked)
{
    return how == FIRST ? "done 0" : how >= NO ? "failed 9909" : asked;
}

static void is(const char *what, const char *got, const char *expected)
{
    if (strcmp(got, expected) != 0) {
        fail_msg("%s: %s, not %s", what, got, expected);
    }
}

static void open_robot(bench *t, answers how)
{
    static pons_robot_ops robot;
    robot = pons_robot_kinematic;
    robot.outside = &of_software;
    memset(&software, 0, sizeof software);
    software.how = how;
    bench_open_with(t, HOUSE, &robot, 3);
    bench_hello(t);
    bench_step(t, 0.5);
}

static void one(op first, op second, answers how)
{
    bench t;
    char what[64], wire[160] = "";
    snprintf(what, sizeof what, "%s, %s, %d", words[first], words[second], (int)how);
    open_robot(&t, how);
    const char *a = begins(first) ? "a" : "n"; // the goal that is there when the second comes
    do_op(&t, begins(first) ? first : GOAL, a, NULL);
    bench_step(&t, 0.3);
    if (!begins(first)) {
        do_op(&t, first, NULL, a);
        bench_step(&t, first == STOP ? 0.02 : 0.0); // the gate's word
    }
    do_op(&t, second, "b", a); // in the same round
    bench_step(&t, 0.1);
    if (how != AT_ONCE && !(begins(first) && begins(second))) {
        assert_null(pons_get(t.results, a)); // nothing is told before it is so
    }
    bench_step(&t, 10.0);
    assert_false(software.overtaken);

    // The first: what it was asked to end as.
    if (begins(first) && begins(second)) {
        snprintf(wire, sizeof wire, "+a");
        assert_null(pons_get(t.results, a));
        is(what, pons_get_str(bench_last(&t, "rejected"), "code", ""), "busy");
    } else {
        const bool stopped = first == STOP || (begins(first) && second == STOP);
        snprintf(wire, sizeof wire, how < NO ? "+%s -%s .%s" : "+%s -%s", a, a, a);
        is(what, bench_until_result(&t, a, 1.0), ends(how, stopped ? "failed 9902" : "canceled 0"));
    }
    // The second.
    if (first == CANCEL && begins(second) && how < NO) { // after the answer, and in the ledger too
        snprintf(wire + strlen(wire), sizeof wire - strlen(wire), " +b");
        is(what, bench_until_result(&t, "b", 0.1), "");
        assert_int_equal(bench_ledger(&t, "b", "accepted"), 1);
        assert_int_equal(bench_ledger(&t, "b", "started"), 1);
    } else if (first == CANCEL && begins(second)) { // never begun over what nobody knows
        is(what, bench_until_result(&t, "b", 1.0), "failed 9908");
        assert_int_equal(bench_ledger(&t, "b", "started"), 0);
    } else if (first == STOP && begins(second)) {
        is(what, pons_get_str(bench_last(&t, "rejected"), "code", ""), "latched");
    }
    is(what, software.wire, wire);
    bench_close(&t);
}

static void each_pair_in_its_order(void **state)
{
    (void)state;
    for (int how = 0; how < ANSWERS; how++) {
        for (int i = 0; i < OPS; i++) {
            for (int k = 0; k < OPS; k++) {
                one((op)i, (op)k, (answers)how);
            }
        }
    }
}

// A goal that takes over, and stop_base: the one waits for the answer, the other does not.
static void who_takes_the_base(void **state)
{
    (void)state;
    bench t;
    open_robot(&t, LATE);
    bench_goal(&t, "n", "navigate_to_pose", "{\"zone\":\"kitchen\"}");
    bench_step(&t, 0.3);
    bench_goal(&t, "s", "stop_base", "{}");
    assert_string_equal(bench_until_result(&t, "s", 0.2), "done 0");
    assert_null(pons_get(t.results, "n"));
    bench_goal(&t, "m", "spin", "{\"angle_rad\":3.0}");
    bench_step(&t, 0.1);
    assert_string_equal(pons_get_str(bench_last(&t, "accepted"), "state", ""), "accepted");
    do_op(&t, CANCEL, NULL, "m"); // it was not begun: canceled at once
    assert_string_equal(bench_until_result(&t, "m", 0.1), "canceled 0");
    assert_string_equal(bench_until_result(&t, "n", 2.0), "canceled 9905");
    is("stop_base", software.wire, "+n -n .n");
    bench_close(&t);
}

// The body is gone from its controller, or ended: what is asked to end is settled all the same.
static void a_controller_that_leaves(void **state)
{
    (void)state;
    bench t;
    open_robot(&t, LATE);
    bench_goal(&t, "n", "navigate_to_pose", "{\"zone\":\"kitchen\"}");
    bench_step(&t, 0.3);
    bench_send(&t, pons_object("type", json_string("bye"), NULL));
    bench_step(&t, 0.1);
    assert_int_equal(bench_ledger(&t, "n", "canceled"), 0);
    t.epoch = 0;
    bench_step(&t, 2.0);
    assert_int_equal(bench_ledger(&t, "n", "canceled"), 1);
    is("bye", software.wire, "+n -n .n");
    bench_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_pair_in_its_order),
        cmocka_unit_test(who_takes_the_base),
        cmocka_unit_test(a_controller_that_leaves),
    };
    return cmocka_run_group_tests_name("body/errand_order", tests, NULL, NULL);
}
