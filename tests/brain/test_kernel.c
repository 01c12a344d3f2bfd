// test_kernel.c - the kernel's rules, seen from outside: modes, interrupts, priorities, quiet
// ticks.
//
// The test plays the body (brain_bench.h) and reads the brain's events and status. Nothing depends
// on the machine: time is the test's.
#include "brain_bench.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SOON 2.0 // s: for anything that needs a few ticks

static void begin(bench *b)
{
    bench_open(b, NULL);
    bench_brain(b);
    bench_run(b, 0.5);
}

// ---- modes --------------------------------------------------------------------------------------

static void battery_mode_has_hysteresis(void **state)
{
    (void)state;
    static const struct {
        double pct;
        const char *mode;
    } rows[] = {{25, "IDLE"},   {21, "IDLE"},   {20.1, "IDLE"}, {19, "CHARGE"},
                {21, "CHARGE"}, {50, "CHARGE"}, {79, "CHARGE"}, {81, "IDLE"},
                {50, "IDLE"},   {21, "IDLE"},   {20, "CHARGE"}, {85, "IDLE"}};
    bench b;
    begin(&b);
    b.base_ms = 200;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        b.battery = rows[i].pct;
        b.docked = b.docked && rows[i].pct > 20.0;
        b.battery_state = b.docked ? "charging" : "discharging";
        bench_run(&b, SOON);
        if (strcmp(bench_mode(&b), rows[i].mode) != 0) {
            fail_msg("row %zu: at %.1f %% the mode is %s, not %s", i, rows[i].pct, bench_mode(&b),
                     rows[i].mode);
        }
    }
    assert_true(bench_starts(&b, "dock_to_charger") >= 2); // once for each time
    bench_close(&b);
}

static void modes_have_an_order(void **state)
{
    (void)state;
    static const struct {
        double pct;
        bool latched, risk, charging;
        const char *mode, *reason;
    } rows[] = {
        {90, false, false, false, "EXEC", "a task is waiting"},
        {90, true, false, false, "SAFE", "protective stop is latched"},
        {15, true, true, false, "SAFE", "protective stop is latched"},
        {15, false, true, false, "SAFE", "collision risk"},
        {15, false, false, false, "CHARGE", "battery low"},
        {10, false, false, false, "SAFE", "battery at its end"},
        {10, false, false, true, "CHARGE", "battery low"},
        {9, false, true, true, "SAFE", "collision risk"},
        {90, false, false, false, "EXEC", "a task is waiting"},
    };
    bench b;
    begin(&b);
    json_object_set_new(json_object_get(b.config, "safety"), "after_reset",
                        json_string("continue")); // test_stopped.c has the other
    pons_brain_close(b.brain);
    bench_drop(&b);
    bench_brain(&b);
    b.base_ms = BENCH_NEVER;
    bench_goal_text(&b, "去厨房");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        b.battery = rows[i].pct;
        b.latched = rows[i].latched;
        b.stop_reason = rows[i].latched ? "test" : "";
        b.risk = rows[i].risk;
        b.battery_state = rows[i].charging ? "charging" : "discharging";
        bench_run(&b, SOON);
        pons_autovalue status = pons_brain_status(b.brain);
        if (strcmp(pons_get_str(status, "mode", ""), rows[i].mode) != 0 ||
            strcmp(pons_get_str(status, "mode_reason", ""), rows[i].reason) != 0) {
            fail_msg("row %zu: %s (%s), not %s (%s)", i, pons_get_str(status, "mode", ""),
                     pons_get_str(status, "mode_reason", ""), rows[i].mode, rows[i].reason);
        }
    }
    bench_close(&b);
}

static void a_latch_stops_the_base_and_keeps_the_task(void **state)
{
    (void)state;
    bench b;
    begin(&b);
    b.base_ms = 3000;
    bench_goal_text(&b, "去厨房");
    bench_await(&b, "effect", "state", "accepted", SOON);
    b.latched = true;
    b.stop_reason = "a person pressed stop";
    bench_await(&b, "mode", "mode", "SAFE", SOON);
    bench_await(&b, "effect", "skill", "stop_base", SOON);
    bench_run(&b, SOON);
    assert_string_equal(bench_newest(&b, "navigate_to_pose")->state, "canceled");
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 1);
    assert_int_equal(bench_count(&b, "stop", NULL, NULL), 1);
    assert_int_equal(b.resets, 0); // only the latch of an unclean boot lifts itself
    bench_run(&b, 20.0);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 1);
    b.latched = false;
    bench_await(&b, "mode", "mode", "IDLE", SOON);
    bench_say(&b, "continue"); // test_stopped.c: without it nothing moves
    bench_await(&b, "task.done", "status", "succeeded", 10.0);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 2);
    bench_close(&b);
}

static void the_latch_of_an_unclean_boot_lifts_itself_in_simulation_only(void **state)
{
    (void)state;
    for (int sim = 0; sim <= 1; sim++) {
        bench b;
        bench_open(&b, NULL);
        json_object_set_new(json_object_get(b.config, "safety"), "auto_reset",
                            json_string(sim ? "sim" : "never"));
        b.latched = true;
        b.stop_reason = "boot after an unclean end";
        bench_brain(&b);
        bench_run(&b, SOON);
        assert_int_equal(b.resets, sim);
        bench_close(&b);
    }
}

static void collision_risk_must_be_gone_for_a_while(void **state)
{
    (void)state;
    bench b;
    begin(&b);
    b.base_ms = BENCH_NEVER;
    bench_goal_text(&b, "去厨房");
    bench_await(&b, "effect", "state", "accepted", SOON);
    b.risk = true;
    bench_await(&b, "mode", "mode", "SAFE", SOON);
    bench_run(&b, SOON);
    assert_string_equal(bench_newest(&b, "navigate_to_pose")->state, "canceled");
    b.risk = false;
    bench_run(&b, 0.8); // config: collision_clear_s 1.0
    assert_string_equal(bench_mode(&b), "SAFE");
    bench_await(&b, "mode", "mode", "EXEC", SOON);
    bench_await(&b, "effect", "state", "accepted", SOON);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 2);
    bench_close(&b);
}

static void a_silent_body_is_safe_until_it_speaks(void **state)
{
    (void)state;
    bench b;
    begin(&b);
    b.base_ms = 20000;
    bench_goal_text(&b, "去厨房");
    bench_await(&b, "effect", "state", "accepted", SOON);
    b.silent = true;
    const pons_value *mode = bench_await(&b, "mode", "mode", "SAFE", SOON);
    assert_string_equal(pons_get_str(mode, "reason", ""), "the body is silent");
    b.silent = false;
    bench_await(&b, "mode", "mode", "EXEC", SOON);
    bench_close(&b);
}

static void a_low_battery_interrupts_and_the_task_goes_on_after(void **state)
{
    (void)state;
    bench b;
    begin(&b);
    b.base_ms = 2000;
    bench_goal_text(&b, "去厨房");
    bench_await(&b, "effect", "state", "accepted", SOON);
    b.battery = 19.0;
    bench_await(&b, "mode", "mode", "CHARGE", SOON);
    bench_await(&b, "effect", "skill", "dock_to_charger", SOON);
    assert_string_equal(bench_newest(&b, "navigate_to_pose")->state, "canceled");
    for (int i = 0; i < 50; i++) { // it fills while the rules wait: that is progress
        bench_run(&b, 0.1);
        b.battery += b.docked ? 0.5 : 0.0;
    }
    assert_true(b.docked);
    assert_string_equal(bench_mode(&b), "CHARGE");
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 1);
    b.battery = 81.0;
    bench_await(&b, "mode", "mode", "EXEC", SOON);
    bench_await(&b, "task.done", "text", "去厨房", 10.0);
    assert_int_equal(bench_count(&b, "task.done", "status", "succeeded"), 2);
    bench_close(&b);
}

// ---- words --------------------------------------------------------------------------------------

static void pause_keeps_the_task_and_its_place(void **state)
{
    (void)state;
    bench b;
    begin(&b);
    b.base_ms = 3000;
    bench_goal_text(&b, "去厨房");
    bench_await(&b, "effect", "state", "accepted", SOON);
    bench_post(&b, "control", "{'word':'pause'}");
    pons_brain_wake(b.brain);
    bench_await(&b, "mode", "mode", "IDLE", SOON);
    bench_run(&b, 10.0);
    assert_string_equal(bench_newest(&b, "navigate_to_pose")->state, "canceled");
    assert_int_equal(bench_count(&b, "task.done", NULL, NULL), 0);
    pons_autovalue status = pons_brain_status(b.brain);
    assert_true(pons_get_bool(status, "paused", false));
    assert_int_equal(json_array_size(pons_get(status, "queue")), 1);
    bench_say(&b, "继续");
    bench_await(&b, "task.done", "status", "succeeded", 10.0);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 2);
    bench_close(&b);
}

static void cancel_ends_the_task(void **state)
{
    (void)state;
    static const char *const words[] = {"取消", "cancel", "abort"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        bench b;
        begin(&b);
        b.base_ms = BENCH_NEVER;
        bench_goal_text(&b, "去厨房");
        bench_await(&b, "effect", "state", "accepted", SOON);
        bench_say(&b, words[i]);
        bench_await(&b, "task.done", "status", "cancelled", SOON);
        bench_run(&b, SOON);
        assert_string_equal(bench_newest(&b, "navigate_to_pose")->state, "canceled");
        assert_int_equal(bench_starts(&b, "stop_base"), 1);
        assert_string_equal(bench_mode(&b), "IDLE");
        bench_run(&b, 10.0);
        assert_int_equal(bench_starts(&b, "navigate_to_pose"), 1);
        bench_close(&b);
    }
}

static void an_urgent_goal_preempts(void **state)
{
    (void)state;
    bench b;
    begin(&b);
    b.base_ms = 3000;
    bench_goal_text(&b, "去厨房");
    bench_await(&b, "effect", "state", "accepted", SOON);
    bench_say(&b, "马上去卧室");
    bench_await(&b, "task.active", "text", "马上去卧室", SOON);
    bench_await(&b, "task.done", "text", "马上去卧室", 10.0);
    assert_string_equal(b.goals[0].state, "canceled");
    bench_await(&b, "task.done", "text", "去厨房", 10.0);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 3);
    assert_int_equal(bench_count(&b, "task.done", "status", "succeeded"), 2);
    bench_close(&b);
}

static void an_equal_goal_waits(void **state)
{
    (void)state;
    bench b;
    begin(&b);
    b.base_ms = 3000;
    bench_goal_text(&b, "去厨房");
    bench_await(&b, "effect", "state", "accepted", SOON);
    bench_say(&b, "去卧室");
    bench_await(&b, "task.queued", "text", "去卧室", SOON);
    bench_await(&b, "task.done", "text", "去厨房", 10.0);
    assert_string_equal(b.goals[0].state, "done");
    bench_await(&b, "task.done", "text", "去卧室", 10.0);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 2);
    assert_int_equal(bench_sent(&b, "cancel", NULL, NULL), 0);
    bench_close(&b);
}

static void what_nobody_understands_is_not_lost(void **state)
{
    (void)state;
    bench b;
    begin(&b);
    bench_say(&b, "frobnicate the gizmo");
    const pons_value *done = bench_await(&b, "task.done", "status", "failed", SOON);
    assert_string_equal(pons_get_str(done, "text", ""), "frobnicate the gizmo");
    assert_true(strlen(pons_get_str(done, "reason", "")) > 0);
    bench_close(&b);
}

static void reset_is_sent_once_for_a_word(void **state)
{
    (void)state;
    bench b;
    begin(&b);
    b.latched = true;
    b.stop_reason = "a person pressed stop";
    bench_run(&b, SOON);
    bench_post(&b, "control", "{'word':'reset'}");
    bench_run(&b, SOON);
    assert_int_equal(b.resets, 1);
    bench_close(&b);
}

// A reset where there is no stop means none: not the one that comes after it.
static void a_reset_of_nothing_is_none(void **state)
{
    (void)state;
    bench b;
    begin(&b);
    b.latches = 7;
    bench_run(&b, SOON);
    bench_post(&b, "control", "{'word':'reset'}");
    b.latched = true;
    b.latches++;
    bench_run(&b, SOON);
    assert_int_equal(b.resets, 0);
    bench_close(&b);
}

// ---- quiet --------------------------------------------------------------------------------------

static void quiet_ticks_write_nothing(void **state)
{
    (void)state;
    bench b;
    begin(&b);
    int64_t before = b.commits;
    int beats = b.heartbeats;
    for (int i = 0; i < 100; i++) { // 10 s: 100 ticks, while the world changes all the time
        b.battery -= 0.01;
        b.x += 0.001;
        bench_run(&b, 0.1);
    }
    assert_int_equal(b.commits, before);
    assert_in_range(b.heartbeats - beats, 95, 101); // one goes out with every tick

    // The same with a skill under way: between two looks at it, nothing is written.
    b.base_ms = BENCH_NEVER;
    bench_goal_text(&b, "去厨房");
    bench_await(&b, "effect", "state", "accepted", SOON);
    bench_run(&b, 0.5);
    before = b.commits;
    bench_run(&b, 4.0); // config: check_in_s 5
    assert_int_equal(b.commits, before);
    bench_close(&b);
}

static void nothing_is_done_before_the_body_is_there(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, NULL);
    b.away = true;
    bench_brain(&b);
    bench_goal_text(&b, "去厨房");
    bench_run(&b, 60.0);
    assert_int_equal(bench_count(&b, "run.started", NULL, NULL), 1);
    assert_int_equal(bench_count(&b, "task.queued", NULL, NULL), 0);
    b.away = false;
    bench_await(&b, "task.done", "status", "succeeded", 10.0);
    bench_close(&b);
}

// ---- questions ----------------------------------------------------------------------------------

static void ask_first(bench *b)
{
    json_object_set_new(json_object_get(b->config, "approval"), "skills",
                        json_pack("[s]", "navigate_to_pose"));
}

static void an_answer_is_bound_to_its_question(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, NULL);
    ask_first(&b);
    bench_brain(&b);
    bench_run(&b, 0.5);
    bench_post(&b, "answer", "{'action':'approve'}"); // nobody has asked
    bench_run(&b, SOON);
    bench_goal_text(&b, "去厨房");
    bench_await(&b, "approval.requested", NULL, NULL, SOON);
    bench_run(&b, SOON);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 0);
    bench_post(&b, "answer", "{'action':'approve','id':'01ANOTHERQUESTION000000000'}");
    bench_run(&b, SOON);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 0);
    bench_post(&b, "answer", "{'action':'approve'}");
    bench_await(&b, "task.done", "status", "succeeded", 10.0);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 1);

    // It was for that one time: the next one is asked for again, and yesterday's yes is no yes.
    bench_say(&b, "去卧室");
    bench_await(&b, "approval.requested", NULL, NULL, SOON);
    bench_run(&b, 5.0);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 1);
    bench_say(&b, "yes");
    bench_await(&b, "task.done", "text", "去卧室", 10.0);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 2);
    bench_close(&b);
}

static void a_run_that_waits_for_a_person_ends_waiting(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, NULL);
    ask_first(&b);
    b.keep_running = false;
    bench_brain(&b);
    bench_goal_text(&b, "去厨房");
    bench_await(&b, "run.done", "status", "waiting", SOON);
    assert_int_equal(pons_brain_outcome_get(b.brain), PONS_BRAIN_WAITING);
    pons_brain_close(b.brain);
    b.brain = NULL;
    bench_drop(&b);
    bench_post(&b, "answer", "{'action':'approve'}"); // while nobody runs it
    bench_brain(&b);
    bench_await(&b, "run.done", "status", "succeeded", 10.0);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 1);
    bench_close(&b);
}

static void a_run_is_named_by_its_worst_task(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, NULL);
    b.keep_running = false;
    bench_brain(&b);
    const char *goals[] = {"去厨房", "frobnicate the gizmo", "去卧室"};
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_brain_add_goals(b.brain, goals, 3, &err), PONS_OK);
    const pons_value *done = bench_await(&b, "run.done", NULL, NULL, 20.0);
    assert_string_equal(pons_get_str(done, "status", ""), "failed");
    assert_int_equal(json_array_size(pons_get(done, "tasks")), 3);
    assert_int_equal(pons_brain_outcome_get(b.brain), PONS_BRAIN_FAILED);
    bench_run(&b, SOON);
    assert_int_equal(bench_count(&b, "run.done", NULL, NULL), 1);
    bench_close(&b);
}

static void empty_goals_are_refused(void **state)
{
    (void)state;
    bench b;
    begin(&b);
    const char *goals[] = {"去厨房", " \t"};
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_brain_add_goals(b.brain, goals, 2, &err), PONS_EINVAL);
    assert_non_null(strstr(err.message, "goal 2"));
    bench_run(&b, SOON);
    assert_int_equal(bench_count(&b, "task.queued", NULL, NULL), 0);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(battery_mode_has_hysteresis),
        cmocka_unit_test(modes_have_an_order),
        cmocka_unit_test(a_latch_stops_the_base_and_keeps_the_task),
        cmocka_unit_test(the_latch_of_an_unclean_boot_lifts_itself_in_simulation_only),
        cmocka_unit_test(collision_risk_must_be_gone_for_a_while),
        cmocka_unit_test(a_silent_body_is_safe_until_it_speaks),
        cmocka_unit_test(a_low_battery_interrupts_and_the_task_goes_on_after),
        cmocka_unit_test(pause_keeps_the_task_and_its_place),
        cmocka_unit_test(cancel_ends_the_task),
        cmocka_unit_test(an_urgent_goal_preempts),
        cmocka_unit_test(an_equal_goal_waits),
        cmocka_unit_test(what_nobody_understands_is_not_lost),
        cmocka_unit_test(reset_is_sent_once_for_a_word),
        cmocka_unit_test(a_reset_of_nothing_is_none),
        cmocka_unit_test(quiet_ticks_write_nothing),
        cmocka_unit_test(nothing_is_done_before_the_body_is_there),
        cmocka_unit_test(an_answer_is_bound_to_its_question),
        cmocka_unit_test(a_run_that_waits_for_a_person_ends_waiting),
        cmocka_unit_test(a_run_is_named_by_its_worst_task),
        cmocka_unit_test(empty_goals_are_refused),
    };
    pons_value_init();
    return cmocka_run_group_tests_name("kernel", tests, NULL, NULL);
}
