// test_stop_state.c - stop, reset, continue, resume, cancel: what moves the robot after a protective stop,
// and what does not.
//
// A reset permits motion and starts none. Each test looks at the goals that the body took: between a
// stop and a person's `continue` (or a `resume` typed after the reset) there is none of a skill that
// moves the base, whoever dies meanwhile and in whatever order the words come.
#include "brain_bench.h"
#include "unit.h"

#include <string.h>

#define SOON 2.0  // s: for anything that needs a few ticks
#define LONG 20.0 // s: in which a robot that would move has moved

// One goal under way.
static void under_way(bench *b)
{
    bench_open(b, NULL);
    bench_brain(b);
    b->base_ms = BENCH_NEVER;
    bench_goal_text(b, "去厨房");
    bench_await(b, "effect", "state", "accepted", SOON);
}

static void rules(bench *b, const char *key, const char *value)
{
    json_object_set_new(json_object_get(b->config, "safety"), key, json_string(value));
}

static int motions(const bench *b)
{
    return bench_starts(b, "navigate_to_pose") + bench_starts(b, "dock_to_charger");
}

static void goes_on(bench *b)
{
    const int before = motions(b);
    b->base_ms = 1000;
    bench_await(b, "task.done", "status", "succeeded", LONG);
    assert_int_equal(motions(b), before + 1);
}

static void stands(bench *b, const char *mode)
{
    const int before = motions(b);
    bench_settle(b, LONG);
    assert_int_equal(motions(b), before);
    assert_string_equal(bench_mode(b), mode);
}

static void a_reset_starts_no_motion(void **state)
{
    (void)state;
    bench b;
    under_way(&b);
    bench_latch(&b, "a person pressed stop");
    bench_await(&b, "mode", "mode", "SAFE", SOON);
    stands(&b, "SAFE");
    b.latched = false;
    stands(&b, "IDLE");
    pons_autovalue status = pons_brain_status(b.brain);
    assert_non_null(strstr(pons_get_str(status, "mode_reason", ""), "continue"));
    assert_int_equal(json_array_size(pons_get(status, "queue")), 1);
    bench_say(&b, "继续");
    goes_on(&b);
    bench_close(&b);
}

static void after_reset_continue_goes_on(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, NULL);
    rules(&b, "after_reset", "continue");
    bench_brain(&b);
    b.base_ms = BENCH_NEVER;
    bench_goal_text(&b, "去厨房");
    bench_await(&b, "effect", "state", "accepted", SOON);
    bench_latch(&b, "a person pressed stop");
    stands(&b, "SAFE");
    b.latched = false;
    goes_on(&b);
    bench_close(&b);
}

// Lifted before any telemetry showed it: the goal's end says that there was a stop.
static void a_stop_that_no_telemetry_showed(void **state)
{
    (void)state;
    bench b;
    under_way(&b);
    bench_latch(&b, "a person pressed stop");
    b.latched = false;
    stands(&b, "IDLE");
    assert_int_equal(bench_count(&b, "stop", NULL, NULL), 0);
    bench_post(&b, "control", "{'word':'continue'}");
    goes_on(&b);
    bench_close(&b);
}

static void a_continue_before_the_reset_is_none(void **state)
{
    (void)state;
    bench b;
    under_way(&b);
    bench_latch(&b, "a person pressed stop");
    bench_await(&b, "mode", "mode", "SAFE", SOON);
    bench_post(&b, "control", "{'word':'continue'}");
    bench_await(&b, "control", "word", "continue", SOON); // and it is told so
    bench_run(&b, SOON);
    b.latched = false;
    stands(&b, "IDLE");
    bench_close(&b);
}

// What the brain knows of the body is some milliseconds old; who says continue has looked.
static void a_continue_that_overtakes_the_telemetry(void **state)
{
    (void)state;
    bench b;
    under_way(&b);
    bench_latch(&b, "a person pressed stop");
    bench_await(&b, "mode", "mode", "SAFE", SOON);
    bench_run(&b, SOON);
    bench_post(&b, "control", "{'word':'continue','stop_latched':false}");
    bench_run(&b, 0.2);
    assert_int_equal(motions(&b), 1);
    b.latched = false;
    goes_on(&b);

    // A stop that comes instead of that telemetry is a new one.
    b.base_ms = BENCH_NEVER;
    bench_say(&b, "去卧室");
    bench_await(&b, "effect", "state", "accepted", SOON);
    bench_latch(&b, "a person pressed stop");
    bench_run(&b, SOON);
    bench_post(&b, "control", "{'word':'continue','stop_latched':false}");
    bench_run(&b, SOON);
    b.latched = false;
    stands(&b, "IDLE");
    bench_close(&b);
}

static void the_word_stop_latches_and_keeps_the_task(void **state)
{
    (void)state;
    static const char *const words[] = {"stop", "停", "停止", "please stop the thing you do"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        bench b;
        under_way(&b);
        bench_say(&b, words[i]);
        bench_await(&b, "stop", NULL, NULL, SOON);
        assert_true(b.latched);
        assert_int_equal(b.stops, 1); // sent until it was seen, and not again
        stands(&b, "SAFE");
        assert_int_equal(b.stops, 1);
        assert_int_equal(bench_count(&b, "task.done", NULL, NULL), 0);
        bench_say(&b, "reset");
        bench_run(&b, SOON);
        assert_int_equal(b.resets, 1);
        b.latched = false;
        stands(&b, "IDLE");
        bench_say(&b, "continue");
        goes_on(&b);
        bench_close(&b);
    }
}

// One after the other in one breath, before any telemetry: the words mean what their order says.
static void words_in_one_breath(void **state)
{
    (void)state;
    static const struct {
        const char *words[4];
        bool goes;
    } rows[] = {{{"stop", "reset", "continue", NULL}, true},
                {{"stop", "continue", "reset", NULL}, false},
                {{"continue", "stop", "reset", NULL}, false},
                {{"stop", "reset", NULL}, false}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench b;
        under_way(&b);
        b.lifts = true;
        b.base_ms = 1000; // of what comes now
        for (size_t k = 0; rows[i].words[k]; k++) {
            bench_say(&b, rows[i].words[k]);
        }
        bench_run(&b, 0.5);
        assert_int_equal(b.stops, 1); // and each of them happens
        assert_int_equal(b.resets, 1);
        assert_false(b.latched);
        if (rows[i].goes) {
            bench_await(&b, "task.done", "status", "succeeded", LONG);
            assert_int_equal(motions(&b), 2);
        } else {
            stands(&b, "IDLE");
        }
        bench_close(&b);
    }
}

// A kill at every commit after the word was posted: the next brain sends the stop, and goes nowhere.
static void a_stop_that_was_said_survives_every_kill(void **state)
{
    (void)state;
    enum { COMMITS = 12 };
    for (int n = 1; n <= COMMITS; n++) {
        for (int before = 0; before <= 1; before++) {
            if (!bench_due(ROUNDS_brain_deaths, 2 * (n - 1) + before, 2 * COMMITS)) {
                continue;
            }
            bench b;
            under_way(&b);
            b.kill_at = b.commits + n;
            b.kill_before = before;
            bench_post(&b, "say", "{'text':'stop'}");
            bench_run(&b, 0.3);
            bench_kill(&b);
            bench_run(&b, SOON);
            const int started = motions(&b);
            bench_brain(&b);
            bench_settle(&b, LONG);
            if (!b.latched || b.stops < 1) {
                fail_msg("commit %d, %s: the stop was lost", n, before ? "before" : "after");
            }
            assert_int_equal(motions(&b), started);
            assert_string_equal(bench_mode(&b), "SAFE");
            bench_close(&b);
        }
    }
}

// The same of a reset: the next brain lifts the latch that was meant, and starts nothing.
static void a_reset_that_was_said_survives_every_kill(void **state)
{
    (void)state;
    enum { COMMITS = 8 };
    for (int n = 1; n <= COMMITS; n++) {
        for (int before = 0; before <= 1; before++) {
            if (!bench_due(ROUNDS_brain_deaths, 2 * (n - 1) + before, 2 * COMMITS)) {
                continue;
            }
            bench b;
            under_way(&b);
            b.lifts = true;
            bench_latch(&b, "a person pressed stop");
            bench_await(&b, "mode", "mode", "SAFE", SOON);
            const int started = motions(&b);
            b.kill_at = b.commits + n;
            b.kill_before = before;
            bench_post(&b, "say", "{'text':'reset'}");
            bench_run(&b, 0.3);
            bench_kill(&b);
            bench_run(&b, SOON);
            bench_brain(&b);
            bench_settle(&b, LONG);
            if (b.latched || b.resets < 1) {
                fail_msg("commit %d, %s: the reset was lost", n, before ? "before" : "after");
            }
            assert_int_equal(motions(&b), started);
            bench_close(&b);
        }
    }
}

// The loop heard the word, stored it, and died with the message in its hand.
static void a_reset_that_was_heard_and_not_sent_is_sent(void **state)
{
    (void)state;
    bench b;
    under_way(&b);
    bench_latch(&b, "a person pressed stop");
    bench_await(&b, "mode", "mode", "SAFE", SOON);
    bench_say(&b, "reset"); // the body does not do it
    bench_run(&b, SOON);
    assert_true(b.latched && b.resets >= 1);
    bench_kill(&b);
    const int sent = b.resets;
    b.lifts = true;
    bench_brain(&b);
    bench_run(&b, SOON);
    assert_true(b.resets > sent);
    assert_false(b.latched);
    stands(&b, "IDLE");
    bench_close(&b);
}

// It means the stop that was in force when it was said, whoever has pressed another one since.
static void an_old_reset_lifts_no_later_stop(void **state)
{
    (void)state;
    for (int dies = 0; dies <= 1; dies++) {
        bench b;
        under_way(&b);
        bench_latch(&b, "a person pressed stop");
        bench_await(&b, "mode", "mode", "SAFE", SOON);
        bench_say(&b, "reset"); // the body does not do it
        bench_run(&b, 0.5);
        if (dies) {
            bench_kill(&b);
        }
        bench_latch(&b, "another person pressed stop");
        b.lifts = true;
        if (dies) {
            bench_brain(&b);
        }
        stands(&b, "SAFE");
        assert_true(b.latched);
        bench_say(&b, "reset");
        bench_run(&b, SOON);
        assert_false(b.latched);
        bench_close(&b);
    }
}

// Said to a brain that was dead, and another stop came before it was heard: it means the one that was in force when it was
// said. Also where the brain has never seen that one.
static void a_reset_that_nobody_heard_lifts_no_later_stop(void **state)
{
    (void)state;
    for (int seen = 0; seen <= 1; seen++) {
        for (int later = 0; later <= 1; later++) {
            bench b;
            under_way(&b);
            if (seen) {
                bench_latch(&b, "a person pressed stop");
                bench_await(&b, "mode", "mode", "SAFE", SOON);
            }
            bench_kill(&b);
            if (!seen) {
                bench_latch(&b, "a person pressed stop");
            }
            bench_post(&b, "say", "{'text':'reset'}");
            if (later) {
                bench_latch(&b, "another person pressed stop");
            }
            b.lifts = true;
            bench_brain(&b);
            stands(&b, later ? "SAFE" : "IDLE");
            assert_true(b.latched == later);
            bench_close(&b);
        }
    }
}

// A body that counts no stops: what the reset meant is over when it is seen free, and the next stop stays.
static void a_reset_lifts_one_stop_without_numbers(void **state)
{
    (void)state;
    bench b;
    under_way(&b);
    bench_latch(&b, "a person pressed stop");
    b.latches = 0;
    bench_await(&b, "mode", "mode", "SAFE", SOON);
    b.lifts = true;
    bench_post(&b, "say", "{'text':'reset'}");
    stands(&b, "IDLE");
    bench_latch(&b, "another person pressed stop");
    b.latches = 0;
    stands(&b, "SAFE");
    assert_true(b.latched);
    bench_close(&b);
}

// At one terminal in one breath, before any telemetry shows the first; and where whoever said reset saw the latch first.
static void a_reset_in_one_breath_is_kept(void **state)
{
    (void)state;
    for (int seen = 0; seen <= 1; seen++) {
        bench b;
        under_way(&b);
        b.lifts = true;
        if (seen) {
            bench_latch(&b, "a person pressed stop");
            bench_post(&b, "say", "{'text':'reset'}");
        } else {
            bench_say(&b, "stop");
            bench_say(&b, "reset");
        }
        stands(&b, "IDLE");
        assert_false(b.latched);
        bench_say(&b, "继续");
        goes_on(&b);
        bench_close(&b);
    }
}

// A continue that was said while it was latched is none, though the reset came before the brain heard either.
static void a_continue_before_a_reset_that_nobody_saw(void **state)
{
    (void)state;
    bench b;
    under_way(&b);
    bench_kill(&b);
    bench_latch(&b, "a person pressed stop");
    bench_post(&b, "say", "{'text':'continue'}");
    b.latched = false;
    bench_brain(&b);
    stands(&b, "IDLE");
    bench_say(&b, "继续");
    goes_on(&b);
    bench_close(&b);
}

// Said, and then another stop came and was lifted, all while the brain was dead: the continue is of the stop before.
static void a_continue_before_another_stop(void **state)
{
    (void)state;
    for (int latched = 0; latched <= 1; latched++) {
        bench b;
        under_way(&b);
        bench_latch(&b, "a person pressed stop");
        bench_await(&b, "mode", "mode", "SAFE", SOON);
        bench_kill(&b);
        b.latched = latched;
        bench_post(&b, "say", "{'text':'continue'}");
        b.latches++;
        b.latched = false;
        bench_brain(&b);
        stands(&b, "IDLE");
        bench_say(&b, "继续");
        goes_on(&b);
        bench_close(&b);
    }
}

static void dead_without_tasks(bench *b)
{
    bench_open(b, NULL);
    bench_brain(b);
    b->base_ms = 200;
    bench_goal_text(b, "去厨房");
    bench_await(b, "task.done", "status", "succeeded", LONG);
    bench_run(b, SOON);
    bench_kill(b);
}

// A wish that was said before a stop, or under one, waits for continue, though the brain saw neither.
static void a_wish_before_a_stop_that_nobody_saw(void **state)
{
    (void)state;
    for (int during = 0; during <= 1; during++) {
        bench b;
        dead_without_tasks(&b);
        b.latches += during;
        b.latched = during;
        bench_post(&b, "say", "{'text':'去卧室'}");
        b.latches += !during;
        b.latched = false;
        bench_brain(&b);
        stands(&b, "IDLE");
        bench_say(&b, "继续");
        goes_on(&b);
        bench_close(&b);
    }
}

// A robot without tasks was stopped and let go of: the next wish waits for nobody.
static void a_stop_between_tasks_is_over(void **state)
{
    (void)state;
    bench b;
    dead_without_tasks(&b);
    b.latches++;
    bench_brain(&b);
    bench_goal_text(&b, "去卧室");
    bench_await(&b, "task.done", "text", "去卧室", LONG);
    bench_close(&b);
}

// Nobody could see what was in force: nothing is lifted, and it is told.
static void a_reset_that_no_body_saw_is_ignored(void **state)
{
    (void)state;
    bench b;
    under_way(&b);
    bench_latch(&b, "a person pressed stop");
    bench_await(&b, "mode", "mode", "SAFE", SOON);
    b.lifts = true;
    bench_post(&b, "control", "{'word':'reset','stop_boot':''}");
    const pons_value *reported = bench_await(&b, "control", "word", "reset", SOON);
    assert_non_null(strstr(pons_get_str(reported, "ignored", ""), "say it again"));
    stands(&b, "SAFE");
    assert_true(b.latched);
    bench_close(&b);
}

// The same of a continue: nobody could see whether the stop was lifted.
static void a_continue_that_no_body_saw_is_ignored(void **state)
{
    (void)state;
    bench b;
    under_way(&b);
    bench_latch(&b, "a person pressed stop");
    bench_await(&b, "mode", "mode", "SAFE", SOON);
    bench_kill(&b);
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue word = json_pack("{s:s}", "word", "continue");
    assert_int_equal(pons_inbox_post(b.memory, "t1", "kernel", "control", word, &err), PONS_OK);
    b.latched = false; // and then it is
    bench_brain(&b);
    bench_await(&b, "control", "word", "continue", SOON);
    stands(&b, "IDLE");
    bench_say(&b, "continue");
    goes_on(&b);
    bench_close(&b);
}

// One that is ignored takes nothing away, neither a pause.
static void an_ignored_continue_leaves_the_pause(void **state)
{
    (void)state;
    bench b;
    under_way(&b);
    bench_say(&b, "pause");
    bench_run(&b, SOON);
    bench_latch(&b, "a person pressed stop");
    bench_await(&b, "mode", "mode", "SAFE", SOON);
    bench_say(&b, "continue");
    bench_await(&b, "control", "word", "continue", SOON);
    b.latched = false;
    bench_run(&b, SOON);
    b.resumed = true; // a person types resume
    bench_kill(&b);
    bench_brain(&b);
    stands(&b, "IDLE");
    bench_say(&b, "continue");
    goes_on(&b);
    bench_close(&b);
}

// Whoever said stop has stopped the body and seen it latched, and it was reset before the brain heard the word: that
// stop is over, and no other one is sent.
static void a_stop_that_was_sent_is_sent_once(void **state)
{
    (void)state;
    bench b;
    under_way(&b);
    b.silent = true; // of all this it sees nothing until it is over
    bench_latch(&b, "a person said stop");
    bench_post(&b, "say", "{'text':'stop','stop_sent':true}");
    b.latched = false;
    bench_run(&b, 0.1);
    b.silent = false;
    bench_run(&b, SOON);
    assert_int_equal(b.stops, 0);
    assert_false(b.latched);
    stands(&b, "IDLE");
    bench_say(&b, "continue");
    goes_on(&b);
    bench_close(&b);
}

// Two people say stop at once: one has only said so, and the other's, which was sent, is over. The first is still owed.
static void a_stop_that_nobody_has_sent_is_owed(void **state)
{
    (void)state;
    bench b;
    under_way(&b);
    bench_post(&b, "say", "{'text':'stop','stop_boot':'boot-1','stop_number':1}");
    bench_post(&b, "control",
               "{'word':'stop','stop_boot':'boot-1','stop_number':1,"
               "'stop_latched':true,'stop_sent':true}");
    bench_run(&b, SOON);
    assert_true(b.stops > 0);
    assert_true(b.latched);
    assert_string_equal(bench_mode(&b), "SAFE");
    bench_close(&b);
}

// The latch that telemetry still shows is being lifted, or lifts itself: the word stop is one of its own.
static void a_stop_behind_a_latch_that_goes(void **state)
{
    (void)state;
    for (int itself = 0; itself < 2; itself++) {
        bench b;
        under_way(&b);
        bench_latch(&b, itself ? "boot: unclean end" : "a person pressed stop");
        bench_await(&b, "mode", "mode", "SAFE", SOON);
        bench_run(&b, SOON);
        assert_int_equal(b.stops, 0);
        b.silent = true; // it is lifted, and no telemetry has shown so yet
        b.latched = false;
        bench_say(&b, "stop");
        bench_run(&b, 0.1);
        b.silent = false;
        bench_run(&b, SOON);
        assert_true(b.stops > 0);
        assert_true(b.latched);
        stands(&b, "SAFE");
        bench_close(&b);
    }
}

// A stop that came and was lifted where the brain could not see it, dead or between two lines of telemetry, and no goal
// ended by it.
static void a_stop_that_is_over_stands_for_one(void **state)
{
    (void)state;
    for (int dead = 0; dead <= 1; dead++) {
        bench b;
        under_way(&b);
        if (dead) {
            bench_kill(&b);
        }
        b.latches++;
        if (dead) {
            bench_brain(&b);
        }
        stands(&b, "IDLE");
        assert_string_equal(b.goals[0].state, "canceled");
        bench_say(&b, "继续");
        goes_on(&b);
        bench_close(&b);
    }
}

// Nobody ran the thread when it was said: not even a goal that was held is taken up for a moment.
static void a_stop_that_was_said_to_nobody(void **state)
{
    (void)state;
    bench b;
    under_way(&b);
    bench_kill(&b);
    bench_post(&b, "say", "{'text':'停'}");
    bench_run(&b, SOON);
    bench_brain(&b);
    bench_run(&b, SOON);
    assert_true(b.latched);
    assert_int_equal(bench_sent(&b, "adopt", NULL, NULL), 0);
    stands(&b, "SAFE");
    bench_close(&b);
}

// resume: a word like continue, when it is typed after the reset.
static void resume_after_the_reset_goes_on(void **state)
{
    (void)state;
    for (int seen = 0; seen <= 1; seen++) { // whether the brain lived to see the latch
        bench b;
        under_way(&b);
        if (seen) {
            bench_latch(&b, "a person pressed stop");
            bench_await(&b, "mode", "mode", "SAFE", SOON);
        }
        bench_kill(&b);
        if (!seen) {
            bench_latch(&b, "a person pressed stop");
        }
        b.latched = false;
        b.resumed = true;
        bench_brain(&b);
        goes_on(&b);
        bench_close(&b);
    }
}

static void resume_before_the_reset_waits(void **state)
{
    (void)state;
    for (int seen = 0; seen <= 1; seen++) {
        bench b;
        under_way(&b);
        if (seen) {
            bench_latch(&b, "a person pressed stop");
            bench_await(&b, "mode", "mode", "SAFE", SOON);
        }
        bench_kill(&b);
        if (!seen) {
            bench_latch(&b, "a person pressed stop");
        }
        b.resumed = true;
        bench_brain(&b);
        bench_run(&b, SOON);
        b.latched = false;
        stands(&b, "IDLE");
        bench_say(&b, "continue");
        goes_on(&b);
        bench_close(&b);
    }
}

// A brain that is opened again by something else than a person's resume (a supervisor).
static void a_life_that_nobody_typed_waits(void **state)
{
    (void)state;
    bench b;
    under_way(&b);
    bench_latch(&b, "a person pressed stop");
    bench_await(&b, "mode", "mode", "SAFE", SOON);
    bench_kill(&b);
    b.latched = false;
    bench_brain(&b);
    stands(&b, "IDLE");
    bench_close(&b);
}

static void the_latch_of_a_boot_that_lifts_itself_is_nobodys(void **state)
{
    (void)state;
    bench b;
    under_way(&b);
    b.boot = "boot-2";
    b.stop_reason = "boot: unclean end";
    b.latched = true;
    bench_run(&b, 0.2);
    assert_true(b.resets >= 1);
    b.latched = false;
    b.base_ms = 1000;
    bench_kill(&b);
    bench_brain(&b);
    bench_await(&b, "task.done", "status", "succeeded", LONG);
    bench_close(&b);
}

// The battery is the kernel's own reason to drive, and a reset is none of its.
static void a_low_battery_waits_too(void **state)
{
    (void)state;
    bench b;
    under_way(&b);
    bench_latch(&b, "a person pressed stop");
    bench_await(&b, "mode", "mode", "SAFE", SOON);
    b.battery = 15.0;
    bench_run(&b, SOON);
    b.latched = false;
    stands(&b, "IDLE");
    bench_say(&b, "continue");
    bench_await(&b, "effect", "skill", "dock_to_charger", SOON);
    bench_close(&b);
}

// A charge that a stop cut short has charged nothing, and goes on after it; one that is not needed any more is no
// success.
static void a_charge_that_a_stop_cut_short(void **state)
{
    (void)state;
    for (int enough = 0; enough < 2; enough++) {
        bench b;
        bench_open(&b, NULL);
        bench_brain(&b);
        b.base_ms = BENCH_NEVER;
        b.battery = 15.0;
        bench_await(&b, "effect", "skill", "dock_to_charger", SOON);
        bench_run(&b, SOON);
        bench_latch(&b, "a person pressed stop");
        bench_await(&b, "mode", "mode", "SAFE", SOON);
        b.battery = enough ? 40.0 : 15.0;
        b.latched = false;
        stands(&b, "IDLE");
        assert_int_equal(bench_count(&b, "task.done", NULL, NULL), 0);
        bench_say(&b, "continue");
        if (enough) {
            bench_await(&b, "task.done", "status", "aborted", SOON);
        } else {
            bench_run(&b, SOON);
            assert_int_equal(bench_starts(&b, "dock_to_charger"), 2);
        }
        assert_int_equal(bench_count(&b, "task.done", "status", "succeeded"), 0);
        bench_close(&b);
    }
}

// Nothing was interrupted, so nothing waits: the next wish is a new command.
static void a_stop_of_a_robot_without_tasks_leaves_nothing(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, NULL);
    bench_brain(&b);
    bench_run(&b, SOON);
    bench_say(&b, "stop");
    bench_run(&b, SOON);
    assert_true(b.latched);
    b.latched = false;
    bench_run(&b, SOON);
    bench_say(&b, "去厨房");
    bench_await(&b, "task.done", "status", "succeeded", LONG);
    bench_close(&b);
}

// "No!" where nothing is asked is about what goes on.
static void a_no_that_answers_nothing_stops(void **state)
{
    (void)state;
    static const char *const words[] = {"不要！", "别", "no no no", "don't"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        bench b;
        under_way(&b);
        bench_say(&b, words[i]);
        bench_run(&b, SOON);
        assert_true(b.latched);
        stands(&b, "SAFE");
        bench_close(&b);
    }
}

// But a wish that was said while it was latched is no command that a reset sets in motion.
static void a_wish_said_while_latched_waits(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, NULL);
    bench_brain(&b);
    bench_run(&b, SOON);
    bench_latch(&b, "a person pressed stop");
    bench_run(&b, SOON);
    bench_say(&b, "去厨房");
    bench_run(&b, SOON);
    b.latched = false;
    stands(&b, "IDLE");
    bench_say(&b, "continue");
    goes_on(&b);
    bench_close(&b);
}

static void cancel_names_a_task_or_takes_all(void **state)
{
    (void)state;
    bench b;
    under_way(&b);
    bench_say(&b, "去卧室");
    bench_await(&b, "task.queued", "text", "去卧室", SOON);
    bench_post(&b, "control", "{'word':'cancel','task':'task-2'}");
    bench_await(&b, "task.done", "text", "去卧室", SOON);
    assert_int_equal(bench_count(&b, "task.done", NULL, NULL), 1);
    assert_string_equal(bench_newest(&b, "navigate_to_pose")->state, "accepted");
    bench_post(&b, "control", "{'word':'cancel','task':'task-9'}");
    bench_await(&b, "control", "word", "cancel", SOON); // there is none
    bench_say(&b, "取消，去卧室");
    bench_await(&b, "task.done", "text", "去厨房", SOON);
    assert_int_equal(bench_count(&b, "task.done", "status", "cancelled"), 2);
    bench_await(&b, "task.active", "text", "取消，去卧室", SOON);
    bench_close(&b);
}

// While the stop holds, cancel takes the task away; the reset then has nothing to wait for.
static void cancel_under_a_stop(void **state)
{
    (void)state;
    bench b;
    under_way(&b);
    bench_latch(&b, "a person pressed stop");
    bench_await(&b, "mode", "mode", "SAFE", SOON);
    bench_say(&b, "cancel");
    bench_await(&b, "task.done", "status", "cancelled", SOON);
    b.latched = false;
    bench_run(&b, SOON);
    bench_say(&b, "去卧室");
    b.base_ms = 1000;
    bench_await(&b, "task.done", "status", "succeeded", LONG);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reset_starts_no_motion),
        cmocka_unit_test(after_reset_continue_goes_on),
        cmocka_unit_test(a_stop_that_no_telemetry_showed),
        cmocka_unit_test(a_continue_before_the_reset_is_none),
        cmocka_unit_test(a_continue_that_overtakes_the_telemetry),
        cmocka_unit_test(the_word_stop_latches_and_keeps_the_task),
        cmocka_unit_test(words_in_one_breath),
        cmocka_unit_test(a_stop_that_was_said_survives_every_kill),
        cmocka_unit_test(a_reset_that_was_said_survives_every_kill),
        cmocka_unit_test(a_reset_that_was_heard_and_not_sent_is_sent),
        cmocka_unit_test(an_old_reset_lifts_no_later_stop),
        cmocka_unit_test(a_reset_that_nobody_heard_lifts_no_later_stop),
        cmocka_unit_test(a_reset_that_no_body_saw_is_ignored),
        cmocka_unit_test(a_reset_lifts_one_stop_without_numbers),
        cmocka_unit_test(a_reset_in_one_breath_is_kept),
        cmocka_unit_test(a_continue_before_a_reset_that_nobody_saw),
        cmocka_unit_test(a_continue_before_another_stop),
        cmocka_unit_test(a_wish_before_a_stop_that_nobody_saw),
        cmocka_unit_test(a_stop_between_tasks_is_over),
        cmocka_unit_test(a_continue_that_no_body_saw_is_ignored),
        cmocka_unit_test(an_ignored_continue_leaves_the_pause),
        cmocka_unit_test(a_stop_behind_a_latch_that_goes),
        cmocka_unit_test(a_stop_that_was_sent_is_sent_once),
        cmocka_unit_test(a_stop_that_nobody_has_sent_is_owed),
        cmocka_unit_test(a_stop_that_is_over_stands_for_one),
        cmocka_unit_test(a_stop_that_was_said_to_nobody),
        cmocka_unit_test(resume_after_the_reset_goes_on),
        cmocka_unit_test(resume_before_the_reset_waits),
        cmocka_unit_test(a_life_that_nobody_typed_waits),
        cmocka_unit_test(the_latch_of_a_boot_that_lifts_itself_is_nobodys),
        cmocka_unit_test(a_low_battery_waits_too),
        cmocka_unit_test(a_charge_that_a_stop_cut_short),
        cmocka_unit_test(a_stop_of_a_robot_without_tasks_leaves_nothing),
        cmocka_unit_test(a_no_that_answers_nothing_stops),
        cmocka_unit_test(a_wish_said_while_latched_waits),
        cmocka_unit_test(cancel_names_a_task_or_takes_all),
        cmocka_unit_test(cancel_under_a_stop),
    };
    pons_value_init();
    return cmocka_run_group_tests_name("stopped", tests, NULL, NULL);
}
