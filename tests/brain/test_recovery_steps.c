// test_recovery_steps.c - a task that gets nowhere ends at a person, and nothing but real progress gives it
// new tries: not a change of mode, not a restart, not a person's yes, not what a model does.
//
// config: other_ways 1, waits 1, so the third motion that fails asks; iterations_max 20.
#include "brain_bench.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SOON 2.0
#define GO   "'ops':[{'op':'dispatch','skill':'navigate_to_pose','args':{'zone':'kitchen'}}]"

static void begin(bench *b, const char *script)
{
    bench_open(b, script);
    bench_brain(b);
    bench_run(b, 0.5);
    b->base_ms = 200;
    b->fail_code = 105;
    bench_goal_text(b, "去厨房");
}

// Until so many navigations have failed.
static void fail_times(bench *b, int n)
{
    for (int i = 0; i < n; i++) {
        bench_await(b, "effect", "state", "failed", 40.0);
    }
}

static pons_value *ladder(bench *b)
{
    pons_autovalue status = pons_brain_status(b->brain);
    return pons_value_ref(pons_get(status, "ladder"));
}

static void assert_ladder(bench *b, const char *step, int failures, int tries_left)
{
    pons_autovalue l = ladder(b);
    assert_string_equal(pons_get_str(l, "step", ""), step);
    assert_int_equal(pons_get_int(l, "failures", -1), failures);
    assert_int_equal(pons_get_int(l, "tries_left", -1), tries_left);
}

static void assert_asks(bench *b, int starts)
{
    bench_await(b, "approval.requested", NULL, NULL, 40.0);
    assert_int_equal(bench_count(b, "effect", "state", "failed"), starts);
    assert_ladder(b, "ask", starts, 0);
}

static void another_way_then_a_pause_then_a_person(void **state)
{
    (void)state;
    bench b;
    begin(&b, NULL);
    b.base_ms = 3000;
    fail_times(&b, 1);
    bench_run(&b, 0.2);
    assert_ladder(&b, "another_way", 1, 2);
    fail_times(&b, 1);
    const pons_value *d = bench_await(&b, "decision", "source", "ladder", SOON);
    assert_string_equal(pons_get_str(pons_get(d, "decision"), "type", ""), "REPLAN");
    assert_ladder(&b, "wait", 2, 1);
    bench_run(&b, 0.2);
    assert_int_equal(bench_starts(&b, "wait"), 1);
    assert_true(pons_get_num(bench_newest(&b, "wait")->args, "s", 0.0) == 20.0);
    assert_asks(&b, 3);
    // Nothing more happens while nobody answers.
    const int decisions = bench_count(&b, "decision", NULL, NULL);
    bench_run(&b, 60.0);
    assert_int_equal(bench_count(&b, "decision", NULL, NULL), decisions);
    bench_close(&b);
}

static void a_yes_is_for_one_try_and_a_no_is_the_end(void **state)
{
    (void)state;
    bench b;
    begin(&b, NULL);
    for (int n = 3; n <= 5; n++) {
        assert_asks(&b, n);
        bench_post(&b, "answer", n < 5 ? "{'action':'approve'}" : "{'action':'reject'}");
    }
    const pons_value *done = bench_await(&b, "task.done", "status", "aborted", SOON);
    assert_non_null(strstr(pons_get_str(done, "reason", ""), "a person said no"));
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 5);
    bench_close(&b);
}

// SAFE and back, CHARGE and back, pause and back: between any two rungs.
static void a_change_of_mode_gives_no_new_tries(void **state)
{
    (void)state;
    for (int which = 0; which < 3; which++) {
        for (int rung = 1; rung <= 2; rung++) {
            bench b;
            begin(&b, NULL);
            fail_times(&b, rung);
            if (which == 0) {
                b.risk = true;
                bench_await(&b, "mode", "mode", "SAFE", SOON);
                b.risk = false;
                bench_await(&b, "mode", "mode", "EXEC", 10.0);
            } else if (which == 1) {
                b.battery = 18.0;
                bench_await(&b, "mode", "mode", "CHARGE", SOON);
                bench_run(&b, 1.0);
                b.battery = 90.0;
                bench_await(&b, "mode", "mode", "EXEC", 10.0);
            } else {
                bench_post(&b, "say", "{'text':'pause'}");
                bench_await(&b, "mode", "mode", "IDLE", SOON);
                bench_post(&b, "say", "{'text':'continue'}");
                bench_await(&b, "mode", "mode", "EXEC", 10.0);
            }
            assert_asks(&b, 3);
            bench_close(&b);
        }
    }
}

// A question that the kernel took back is no answer: the same is asked again, and nothing was tried.
static void a_question_taken_back_is_asked_again(void **state)
{
    (void)state;
    bench b;
    begin(&b, NULL);
    assert_asks(&b, 3);
    const int starts = bench_starts(&b, "navigate_to_pose");
    b.lifts = true;
    bench_say(&b, "stop");
    bench_await(&b, "mode", "mode", "SAFE", SOON);
    bench_run(&b, 1.0);
    bench_post(&b, "control", "{'word':'reset'}");
    bench_run(&b, 1.0);
    bench_post(&b, "control", "{'word':'continue'}");
    bench_await(&b, "approval.requested", NULL, NULL, 10.0);
    assert_ladder(&b, "ask", 3, 0);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), starts);
    bench_close(&b);
}

// Charging takes over: the question stays open, under its id, and a yes is for one more try as ever.
static void a_question_outlives_charging(void **state)
{
    (void)state;
    bench b;
    begin(&b, NULL);
    assert_asks(&b, 3);
    const int starts = bench_starts(&b, "navigate_to_pose");
    const int asked = bench_count(&b, "approval.requested", NULL, NULL);
    b.battery = 18.0;
    bench_await(&b, "mode", "mode", "CHARGE", SOON);
    bench_run(&b, 1.0);
    b.battery = 90.0;
    bench_await(&b, "mode", "mode", "EXEC", 10.0);
    bench_run(&b, 30.0);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), starts);
    bench_post(&b, "answer", "{'action':'approve'}");
    bench_await(&b, "approval.requested", NULL, NULL, 60.0);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), starts + 1);
    assert_int_equal(bench_count(&b, "approval.requested", NULL, NULL), asked + 1);
    bench_close(&b);
}

static void a_restart_gives_no_new_tries(void **state)
{
    (void)state;
    for (int rung = 1; rung <= 3; rung++) {
        bench b;
        begin(&b, NULL);
        for (int i = 0; i < rung; i++) {
            fail_times(&b, 1);
            bench_kill(&b);
            bench_run(&b, 0.6);
            bench_brain(&b);
        }
        assert_asks(&b, 3);
        // The question itself outlives one more.
        bench_kill(&b);
        bench_run(&b, 0.6);
        bench_brain(&b);
        bench_run(&b, 30.0);
        assert_int_equal(bench_starts(&b, "navigate_to_pose"), 3);
        assert_ladder(&b, "ask", 3, 0);
        bench_post(&b, "answer", "{'action':'reject'}");
        bench_await(&b, "task.done", "status", "aborted", SOON);
        bench_close(&b);
    }
}

// Two tries fail at once; the third gets nearer than ever before it fails, and the count is anew.
static void getting_nearer_than_ever_begins_anew(void **state)
{
    (void)state;
    bench b;
    begin(&b, NULL);
    fail_times(&b, 2);
    b.base_ms = 17000; // looks 5 s apart, a metre nearer each second
    fail_times(&b, 1);
    bench_run(&b, 0.2);
    assert_ladder(&b, "another_way", 1, 2);
    // The same way again is no progress, however long it is.
    fail_times(&b, 2);
    bench_await(&b, "approval.requested", NULL, NULL, 40.0);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 5);
    bench_close(&b);
}

static void nothing_that_a_model_says_gives_new_tries(void **state)
{
    (void)state;
    static const char *const scripts[] = {
        // starts again and again
        "[{'repeat':true,'decision':{'type':'RETRY','reason':'again'," GO "}}]",
        // with a goal of its own before each, which is met at once
        "[{'repeat':true,'decision':{'type':'REPLAN','reason':'again'," GO
        ",'plan_patch':{'goals':[{'intent':'say','text':'hello','done':true}]}}}]",
        // and with words in between
        "[{'repeat':true,'decision':{'type':'CONTINUE','reason':'again','ops':[{'op':'speak',"
        "'text':'soon'},{'op':'dispatch','skill':'navigate_to_pose','args':{'zone':'kitchen'}}]}}]",
    };
    for (size_t i = 0; i < sizeof scripts / sizeof scripts[0]; i++) {
        bench b;
        begin(&b, scripts[i]);
        bench_await(&b, "approval.requested", NULL, NULL, 90.0);
        assert_in_range(bench_starts(&b, "navigate_to_pose"), 1, 3);
        assert_true(bench_count(&b, "decision", "source", "llm") <= 20);
        bench_close(&b);
    }
}

// What a policy lets go of has failed, too.
static void a_cancel_by_the_policy_is_a_failure(void **state)
{
    (void)state;
    bench b;
#define GO_2_S "{'decision':{'type':'CONTINUE','reason':'go','wake_s':2," GO "}}"
#define LET_GO                                                                                     \
    "{'decision':{'type':'REPLAN','reason':'no','ops':[{'op':'cancel','goal_id':'all'}]}}"
    bench_open(&b, "[" GO_2_S "," LET_GO "," GO_2_S "," LET_GO "," GO_2_S "," LET_GO "]");
    bench_brain(&b);
    bench_run(&b, 0.5);
    b.base_ms = BENCH_NEVER;
    b.stuck = true;
    bench_goal_text(&b, "去厨房");
    bench_await(&b, "approval.requested", NULL, NULL, 90.0);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 3);
    assert_ladder(&b, "ask", 3, 0);
    bench_close(&b);
}

#define TO(zone)                                                                                   \
    "{'decision':{'type':'CONTINUE','reason':'there','ops':[{'op':'dispatch','skill':"             \
    "'navigate_to_pose','args':{'zone':'" zone "'},'goal_index':0}]}}"
#define TO_AND_FRO TO("living_room") "," TO("bedroom")

static void swing_open(bench *b, const char *goal)
{
    bench_open(b, "[" TO_AND_FRO "," TO_AND_FRO "," TO_AND_FRO "," TO_AND_FRO "," TO_AND_FRO
                  "," TO_AND_FRO "," TO_AND_FRO "]");
    json_object_set_new(json_object_get(b->config, "model"), "decisions_max", json_integer(100));
    json_object_set_new(json_object_get(b->config, "limits"), "iterations_max", json_integer(100));
    bench_brain(b);
    bench_run(b, 0.5);
    b->base_ms = 400;
    bench_goal_text(b, goal);
}

// Each of its motions ends well, and none leads to the goal. Decisions may be as many as they like
// here: it is the motions that are counted. The brain dies after each of the first four.
static void a_model_that_swings_is_seen(void **state)
{
    (void)state;
    for (int deaths = 0; deaths <= 4; deaths += 4) {
        bench b;
        swing_open(&b, "去厨房");
        for (int i = 0; i < deaths; i++) {
            bench_await(&b, "effect", "state", "done", 40.0);
            bench_kill(&b);
            bench_run(&b, 0.6);
            bench_brain(&b);
        }
        bench_await(&b, "decision", "source", "rule_engine", 40.0);
        assert_int_equal(bench_starts(&b, "navigate_to_pose"), 5); // A B A B A
        bench_await(&b, "task.done", "status", "succeeded", 40.0);
        assert_int_equal(bench_starts(&b, "navigate_to_pose"), 6);
        bench_close(&b);
    }
}

// The rules may understand the goal and fail as well; and there are wishes that they do not understand.
static void and_ends_at_a_person(void **state)
{
    (void)state;
    bench b;
    swing_open(&b, "tidy up a little, would you");
    bench_await(&b, "approval.requested", NULL, NULL, 60.0);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 5);
    pons_autovalue l = ladder(&b);
    assert_non_null(strstr(pons_get_str(l, "why", ""), "ended where one had ended before"));
    bench_post(&b, "answer", "{'action':'approve'}");
    bench_await(&b, "approval.requested", NULL, NULL, 60.0); // three more, and not one
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 8);
    bench_close(&b);
}

// The kernel stops the base whenever the body was silent. That it stands where it stood is no motion of the task's.
static void stops_are_no_motions(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, NULL);
    bench_brain(&b);
    bench_run(&b, 0.5);
    b.base_ms = BENCH_NEVER;
    bench_goal_text(&b, "去厨房");
    for (int i = 1; i <= 5; i++) {
        bench_await(&b, "effect", "state", "accepted", 40.0);
        b.silent = true;
        bench_await(&b, "mode", "mode", "SAFE", 40.0);
        b.silent = false;
        bench_await(&b, "mode", "mode", "EXEC", 40.0);
    }
    assert_true(bench_starts(&b, "stop_base") >= 3);
    assert_int_equal(bench_count(&b, "approval.requested", NULL, NULL), 0);
    bench_close(&b);
}

// The same of one that fails, or whose end nobody knows.
static void stops_in_vain_are_no_motions(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, NULL);
    bench_brain(&b);
    bench_run(&b, 0.5);
    b.base_ms = BENCH_NEVER;
    b.fail_skill = "stop_base";
    b.fail_skill_code = 9909; // the robot's own software has lost it
    b.fail_skill_times = 100;
    bench_goal_text(&b, "去厨房");
    for (int i = 0; i < 5; i++) {
        bench_await(&b, "effect", "state", "accepted", 40.0);
        bench_latch(&b, "a person pressed stop");
        bench_await(&b, "effect", "state", "outcome_unknown", 10.0);
        b.latched = false;
        bench_run(&b, 1.0);
        bench_say(&b, "continue");
    }
    bench_await(&b, "effect", "state", "accepted", 40.0);
    bench_run(&b, 10.0);
    assert_int_equal(bench_count(&b, "approval.requested", NULL, NULL), 0);
    bench_close(&b);
}

static void no_way_begin(bench *b, bool poses_fail, const char *script)
{
    bench_open(b, script);
    bench_brain(b);
    bench_run(b, 0.5);
    b->base_ms = 400;
    b->fail_code = 208; // NO_VALID_PATH
    b->fail_zones = !poses_fail;
    bench_goal_text(b, "去厨房");
}

// The zone's other sides come before anything else, in their order, whoever decides; what was tried is in
// recovery, and in the decisions' reasons.
static void no_way_to_a_zone_tries_its_other_sides(void **state)
{
    (void)state;
    static const char *const scripts[] = {NULL, "[" TO("kitchen") "," TO("bedroom") "]"};
    for (size_t i = 0; i < 2; i++) {
        bench b;
        no_way_begin(&b, false, scripts[i]);
        const pons_value *d = bench_await(&b, "decision", "source", "ladder", 20.0);
        const char *reason = pons_get_str(pons_get(d, "decision"), "reason", "");
        assert_non_null(strstr(reason, "approach 1 of 2"));
        if (scripts[i]) { // FINISH is a model's to say
            bench_await(&b, "effect", "state", "done", 20.0);
        } else {
            bench_await(&b, "task.done", "status", "succeeded", 20.0);
        }
        assert_int_equal(bench_starts(&b, "navigate_to_pose"), 2);
        assert_true(b.x < 7.0 && b.y < 7.0); // the first of them
        bench_close(&b);
    }
}

// A goal in a keep-out area is asked about at once, for waiting does not help.
static void an_area_that_keeps_it_out_is_asked_about(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, NULL);
    bench_brain(&b);
    bench_run(&b, 0.5);
    b.base_ms = 400;
    b.fail_code = 9912;
    bench_goal_text(&b, "去卧室");
    bench_await(&b, "approval.requested", NULL, NULL, 5.0);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 1);
    bench_close(&b);
}

// All of them fail: that is one rung, and a person is asked when the others are climbed. A kill after
// any motion tries none of them twice.
static void when_no_side_does_a_person_is_asked(void **state)
{
    (void)state;
    for (int deaths = 0; deaths <= 5; deaths += 5) {
        bench b;
        no_way_begin(&b, true, NULL);
        for (int i = 0; i < deaths; i++) {
            bench_await(&b, "effect", "state", "failed", 60.0);
            bench_kill(&b);
            bench_run(&b, 0.6);
            bench_brain(&b);
        }
        bench_await(&b, "approval.requested", NULL, NULL, 90.0);
        int poses[2] = {0};
        for (size_t i = 0; i < b.n_goals; i++) {
            const pons_value *pose = pons_get(b.goals[i].args, "pose");
            if (pose) {
                poses[pons_get_num(pose, "x", 0.0) > 7.0]++;
            }
        }
        assert_int_equal(poses[0], 1);
        assert_int_equal(poses[1], 1);
        assert_int_equal(bench_starts(&b, "navigate_to_pose"),
                         5); // the zone, its sides, the zone twice
        bench_close(&b);
    }
}

// A patrol is over when each of its zones was seen, not when one was as often as there are zones.
static void one_zone_over_and_over_is_no_patrol(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, "[" TO("bedroom") "," TO("bedroom") "," TO("bedroom") "," TO("bedroom") "," TO(
                       "bedroom") "," TO("bedroom") "]");
    bench_brain(&b);
    bench_run(&b, 0.5);
    b.base_ms = 400;
    bench_goal_text(&b, "patrol kitchen and bedroom");
    bench_await(&b, "task.done", "status", "succeeded", 60.0);
    bool kitchen = false;
    for (size_t i = 0; i < b.n_goals; i++) {
        kitchen = kitchen || strcmp(pons_get_str(b.goals[i].args, "zone", ""), "kitchen") == 0;
    }
    assert_true(kitchen);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_way_then_a_pause_then_a_person),
        cmocka_unit_test(a_yes_is_for_one_try_and_a_no_is_the_end),
        cmocka_unit_test(a_change_of_mode_gives_no_new_tries),
        cmocka_unit_test(a_question_taken_back_is_asked_again),
        cmocka_unit_test(a_question_outlives_charging),
        cmocka_unit_test(a_restart_gives_no_new_tries),
        cmocka_unit_test(getting_nearer_than_ever_begins_anew),
        cmocka_unit_test(nothing_that_a_model_says_gives_new_tries),
        cmocka_unit_test(a_cancel_by_the_policy_is_a_failure),
        cmocka_unit_test(a_model_that_swings_is_seen),
        cmocka_unit_test(stops_are_no_motions),
        cmocka_unit_test(stops_in_vain_are_no_motions),
        cmocka_unit_test(and_ends_at_a_person),
        cmocka_unit_test(no_way_to_a_zone_tries_its_other_sides),
        cmocka_unit_test(an_area_that_keeps_it_out_is_asked_about),
        cmocka_unit_test(when_no_side_does_a_person_is_asked),
        cmocka_unit_test(one_zone_over_and_over_is_no_patrol),
    };
    pons_value_init();
    return cmocka_run_group_tests_name("ladder", tests, NULL, NULL);
}
