// The watch, step by step: each rule is broken once on purpose and must be told once, with its time;
// what is as it should be is not told. The ledger is a file that the test writes, the events lie in
// a store in memory.
#include "pons/drivers.h"
#include "pons/yaml.h"
#include "scenario/checks/invariants.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOUSE   PONS_SOURCE_DIR "/worlds/house.yaml"
#define STEP_NS (10 * PONS_NS_PER_MS)

static struct bench {
    char ledger[64];
    pons_value *world, *config, *always;
    pons__watch w;
    pons__watch_step step;
    double s; // robot time
} t;

static int open_bench(void **state)
{
    (void)state;
    pons_error err = PONS_ERROR_INIT;
    t = (struct bench){.ledger = "/tmp/pons-watch-XXXXXX"};
    const int fd = mkstemp(t.ledger);
    assert_true(fd >= 0);
    close(fd);
    assert_true(pons_world_load(HOUSE, &t.world, &err) >= 0);
    t.config = json_pack("{s:{s:[s]}}", "approval", "skills", "dock_to_charger");
    t.always = json_pack("{s:f, s:s, s:f, s:[s,s]}", "speed_max_mps", 0.7, "outside", "kitchen",
                         "battery_above_pct", 20.0, "skills", "navigate_to_pose", "wait");
    pons__watch_init(&t.w, t.ledger, t.world, t.config, t.always);
    t.step = (pons__watch_step){.dt_ns = STEP_NS,
                                .body = true,
                                .reported = true,
                                .met = true,
                                .battery_pct = 90.0,
                                .bumps = -1,
                                .truth = {.x = 2.0, .y = 1.6}};
    return 0;
}

static int close_bench(void **state)
{
    (void)state;
    pons__watch_fini(&t.w);
    pons_value_unref(t.world);
    pons_value_unref(t.config);
    pons_value_unref(t.always);
    unlink(t.ledger);
    return 0;
}

static void row(const char *json)
{
    FILE *f = fopen(t.ledger, "a");
    assert_non_null(f);
    for (; *json; json++) {
        fputc(*json == '\'' ? '"' : *json, f);
    }
    fputc('\n', f);
    assert_int_equal(fclose(f), 0);
}

static void look(double seconds)
{
    for (double until = t.s + seconds; t.s < until; t.s += 0.01) {
        t.step.robot_s = t.s;
        pons__watch_look(&t.w, &t.step, NULL, (pons_store){0}, "t");
    }
}

static void expect_misses(size_t n, const char *last)
{
    const size_t got = json_array_size(t.w.misses);
    const char *text = got ? json_string_value(json_array_get(t.w.misses, got - 1)) : "";
    if (got != n || (last && !strstr(text, last))) {
        fail_msg("%zu misses, the last is “%s”; %zu expected, with “%s”", got, text, n,
                 last ? last : "");
    }
}

static void one_goal_has_the_base(void **state)
{
    (void)state;
    row("{'kind':'boot','boot_id':'b1'}");
    row("{'goal_id':'g1','skill':'navigate_to_pose','state':'started','task_id':'t1'}");
    row("{'goal_id':'g2','skill':'wait','state':'started','task_id':'t1'}"); // needs no base
    look(0.02);
    expect_misses(0, NULL);
    row("{'goal_id':'g1','skill':'navigate_to_pose','state':'canceled','task_id':'t1'}");
    row("{'goal_id':'g3','skill':'navigate_to_pose','state':'started','task_id':'t2'}");
    look(0.02);
    expect_misses(0, NULL);
    row("{'goal_id':'g4','skill':'navigate_to_pose','state':'started','task_id':'t2'}");
    look(0.02);
    expect_misses(1, "while goal g3 had the base");
}

static void another_boot_has_no_goals(void **state)
{
    (void)state;
    row("{'goal_id':'g1','skill':'navigate_to_pose','state':'started','task_id':'t1'}");
    row("{'kind':'boot','boot_id':'b2'}");
    row("{'goal_id':'g2','skill':'navigate_to_pose','state':'started','task_id':'t1'}");
    look(0.02);
    expect_misses(0, NULL);
    row("{'goal_id':'g1','skill':'wait','state':'started','task_id':'t1'}");
    look(0.02);
    expect_misses(1, "g1 started twice");
}

static void a_latched_robot_is_told_nothing_and_stands(void **state)
{
    (void)state;
    t.w.always = NULL; // its jumps are no speed here
    t.step.written.v = 0.5;
    look(0.1);
    expect_misses(0, NULL);
    t.step.reported = false;
    pons__watch_stopped(&t.w); // said just now; no telemetry yet
    t.step.written.v = 0.0;
    look(0.02);
    expect_misses(0, NULL);
    t.step.reported = t.step.latched = true;
    t.step.truth.x += 0.1; // it brakes
    look(1.0);
    expect_misses(0, NULL);
    t.step.truth.x += 0.03;
    look(0.02);
    expect_misses(1, "latched, and the robot moved");
    t.step.written.w = 0.1;
    look(0.05);
    expect_misses(2, "latched, and the wheels are told 0.000 m/s, 0.100 rad/s");
}

static void a_latch_ends_what_moves(void **state)
{
    (void)state;
    t.w.always = NULL;
    row("{'goal_id':'g1','skill':'navigate_to_pose','state':'started','task_id':''}");
    row("{'goal_id':'g2','skill':'wait','state':'started','task_id':''}");
    look(0.1);
    t.step.latched = true;
    look(0.5);
    expect_misses(0, NULL);
    look(0.5);
    expect_misses(1, "latched, and goal g1 has not ended");
}

static void a_stop_that_nobody_saw_yet_counts(void **state)
{
    (void)state;
    t.step.reported = false;
    t.step.written.v = 0.5;
    pons__watch_stopped(&t.w);
    look(0.01);
    expect_misses(1, "latched, and the wheels");
}

// Somebody's stop that is on the disk is the next body's too, unless it was reset.
static void the_next_body_is_latched_by_it(void **state)
{
    (void)state;
    t.w.always = NULL;
    t.step.awake = true;
    t.step.latched = t.step.by_stop = t.step.durable = true;
    look(0.1);
    pons__watch_rebooted(&t.w);
    look(0.1);
    expect_misses(0, NULL); // latched again
    pons__watch_received(&t.w, "reset");
    pons__watch_rebooted(&t.w);
    t.step.latched = false;
    look(0.1);
    expect_misses(0, NULL); // a person lifted it
    look(2.0);
    t.step.latched = true;
    t.step.durable = false;
    look(0.1);
    pons__watch_rebooted(&t.w);
    t.step.latched = false;
    look(0.1);
    expect_misses(0, NULL); // it was not saved yet, and nothing was promised
    t.step.latched = t.step.durable = true;
    look(0.1);
    pons__watch_rebooted(&t.w);
    t.step.latched = false;
    look(0.1);
    expect_misses(1, "a stop was lifted, and nobody has said reset");
}

static void the_word_stop_is_a_latch(void **state)
{
    (void)state;
    t.w.always = NULL;
    t.step.minded = t.step.awake = true;
    pons__watch_received(&t.w, "stop");
    look(0.3);
    t.step.latched = true;
    look(0.1);
    t.step.latched = false;
    look(1.0);
    expect_misses(0, NULL);
    t.step.awake = false;
    pons__watch_received(&t.w, "stop");
    look(2.0);
    expect_misses(0, NULL); // nobody was there to hear it
    t.step.awake = true;
    look(0.6);
    expect_misses(1, "stop was said, and nothing is latched");
}

static void without_a_brain_it_comes_to_rest(void **state)
{
    (void)state;
    t.w.always = NULL;
    t.step.minded = t.step.awake = true;
    t.step.written.v = 0.5;
    look(2.0);
    t.step.awake = false;
    look(0.3); // the heartbeat may still be good
    t.step.written.v = 0.3;
    look(0.3);
    t.step.written.v = 0.0;
    look(2.0);
    expect_misses(0, NULL);
    t.step.written.v = 0.2;
    look(0.02);
    expect_misses(2, "there is no brain for");
}

static void a_goal_without_a_brain_is_held(void **state)
{
    (void)state;
    t.w.always = NULL;
    t.step.minded = t.step.awake = true;
    row("{'goal_id':'g1','skill':'navigate_to_pose','state':'started','task_id':''}");
    look(0.1);
    t.step.awake = false;
    look(0.5);
    row("{'goal_id':'g1','skill':'navigate_to_pose','state':'held','task_id':''}");
    look(2.0);
    expect_misses(0, NULL);
    t.step.awake = true;
    t.step.written.v = 0.1;
    look(0.02);
    expect_misses(1, "is held, and the wheels are told 0.100 m/s");
    row("{'goal_id':'g1','skill':'navigate_to_pose','state':'adopted','task_id':''}");
    t.step.written.v = 0.0;
    look(0.02);
    t.step.awake = false;
    look(2.0);
    expect_misses(2, "g1 is not held");
}

static void no_limit_is_passed(void **state)
{
    (void)state;
    t.w.always = NULL;
    t.step.caps = (pons_robot_caps){.speed_max_mps = 0.6,
                                    .reverse_max_mps = 0.3,
                                    .yaw_rate_max_radps = 1.5,
                                    .accel_max_mps2 = 1.0};
    t.step.pace_pct = 100;
    for (t.step.written.v = 0.0; t.step.written.v < 0.6; t.step.written.v += 0.01) {
        look(0.01);
    }
    t.step.written.v = 0.6;
    look(1.0);
    t.step.pace_pct = 50;
    look(0.9); // it brakes
    expect_misses(0, NULL);
    t.step.written.v = 0.29;
    look(1.0);
    expect_misses(0, NULL);
    t.step.written.v = 0.31;
    look(0.08); // it may have been given back, and not be told yet
    expect_misses(0, NULL);
    look(0.1);
    expect_misses(1, "50 % of 0.60 are allowed");
    t.step.written.v = 0.0;
    look(0.1);
    t.step.written.v = 0.2;
    look(0.01);
    expect_misses(2, "from 0.000 to 0.200 m/s in a step");
}

static void what_it_drives_into_is_told(void **state)
{
    (void)state;
    t.step.bumps = 3; // of before
    look(0.01);
    t.step.bumps = -1;
    look(0.5);
    t.step.bumps = 4;
    t.step.excused = true; // it came to it
    look(0.01);
    expect_misses(0, NULL);
    t.step.bumps = 5;
    t.step.excused = false;
    look(0.01);
    expect_misses(1, "it drove into something");
}

static void a_silent_body_is_safe(void **state)
{
    (void)state;
    t.w.always = NULL;
    t.step.reported = false;
    t.step.frozen = true;
    t.step.body = false;
    t.step.minded = t.step.awake = true;
    look(1.2);
    expect_misses(0, NULL);
    look(0.2); // there is no brain to ask: its mode is none
    expect_misses(1, "SAFE is due");
}

// A brain that was born beside a body that stands still: what it told others before, or that it is silent, nobody
// has told this one.
static void a_brain_that_has_heard_nothing_knows_nothing(void **state)
{
    (void)state;
    t.w.always = NULL;
    t.step.minded = true;
    t.step.latched = t.step.by_stop = t.step.durable = true;
    look(0.1); // told while there was no brain
    t.step.reported = t.step.body = t.step.met = false;
    t.step.frozen = t.step.awake = true;
    look(3.0);
    expect_misses(0, NULL);
    t.step.frozen = false;
    t.step.body = t.step.reported = t.step.met = true;
    look(0.2);
    expect_misses(0, NULL);
    look(0.1); // now it has
    expect_misses(1, "SAFE is due since 0.25 s");
}

static void the_files_own_rules(void **state)
{
    (void)state;
    t.step.battery_pct = 19.0;
    look(0.01);
    expect_misses(1, "the battery has 19.0");
    t.step.truth = (pons_pose2){.x = 6.7, .y = 6.4};
    pons__watch_moved(&t.w); // carried there: that is no speed
    look(0.01);
    expect_misses(2, "the robot is in kitchen");
    row("{'goal_id':'g1','skill':'spin','state':'started','task_id':'t1'}");
    look(0.02);
    expect_misses(3, "spin started, which may not");
    look(1.0);
    expect_misses(3, NULL); // once a kind
}

// ---- the events ---------------------------------------------------------------------------------

static pons_store memory;
static pons_lease lease;

static void event(const char *type, const char *json)
{
    char text[512];
    pons_error err = PONS_ERROR_INIT;
    snprintf(text, sizeof text, "%s", json);
    for (char *c = text; *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    pons_event_row e = {.ns = "kernel", .type = type, .payload = {text, strlen(text)}};
    const pons_commit c = {.lease = &lease, .ns = "kernel", .events = &e, .n_events = 1};
    if (memory.ops->commit(memory.self, &c, &err) < 0) {
        fail_msg("%s", err.message);
    }
    t.step.robot_s = t.s += 0.01;
    pons__watch_look(&t.w, &t.step, NULL, memory, "t");
}

static int open_events(void **state)
{
    pons_error err = PONS_ERROR_INIT;
    open_bench(state);
    assert_true(pons_store_memory_open(&memory, &err) >= 0);
    assert_true(memory.ops->lease_acquire(memory.self, "t", &lease, &err) >= 0);
    return 0;
}

static int close_events(void **state)
{
    memory.ops->lease_release(memory.self, &lease);
    pons_store_close(&memory);
    return close_bench(state);
}

#define DOCK "'skill':'dock_to_charger','args':{}"
#define GO   "'skill':'dock_to_charger','args':{'x':1}"

static void an_approval_is_for_one_dispatch(void **state)
{
    (void)state;
    event("approval.requested", "{'id':'q1','ops':[{" DOCK "}]}");
    event("approval.resolved", "{'id':'q1','action':'approve'}");
    event("effect", "{'goal_id':'g1'," DOCK ",'state':'dispatched'}");
    event("effect", "{'goal_id':'g1'," DOCK ",'state':'dispatched'}"); // sent again: the same
    expect_misses(0, NULL);
    event("effect", "{'goal_id':'g2'," DOCK ",'state':'dispatched'}");
    expect_misses(1, "nobody had agreed");
    event("approval.requested", "{'id':'q2','ops':[{" DOCK "}]}");
    event("effect", "{'goal_id':'g3'," DOCK ",'state':'dispatched'}");
    expect_misses(2, "while question q2 about it was open");
}

static void an_approval_is_for_what_it_showed(void **state)
{
    (void)state;
    event("approval.requested", "{'id':'q1','ops':[{" DOCK "}]}");
    event("approval.resolved", "{'id':'q1','action':'edit'}");
    event("effect", "{'goal_id':'g1'," GO ",'state':'dispatched'}"); // as a person has edited it
    expect_misses(0, NULL);
    event("approval.requested", "{'id':'q2','ops':[{" DOCK "}]}");
    event("approval.resolved", "{'id':'q2','action':'approve'}");
    event("effect", "{'goal_id':'g2'," GO ",'state':'dispatched'}");
    expect_misses(1, "nobody had agreed");
}

// Whoever has decided it: what was sent is known to the body, fits its schema, and lies in the world.
static void what_is_sent_can_be_done(void **state)
{
    (void)state;
    pons_autovalue skills = json_pack("[{s:s, s:{s:s, s:[s]}}]", "name", "go", "args_schema",
                                      "type", "object", "required", "pose");
    t.step.skills = skills;
    event("effect", "{'goal_id':'g1','skill':'go','args':{'pose':{'x':1.0,'y':2.0}},'state':"
                    "'dispatched'}");
    expect_misses(0, NULL);
    event("effect", "{'goal_id':'g2','skill':'rm -rf /','args':{},'state':'dispatched'}");
    expect_misses(1, "which no body knows");
    event("effect", "{'goal_id':'g3','skill':'go','args':{},'state':'dispatched'}");
    expect_misses(2, "with bad arguments");
    event("effect", "{'goal_id':'g4','skill':'go','args':{'pose':{'x':400.0,'y':2.0}},'state':"
                    "'dispatched'}");
    expect_misses(3, "out of the world");
}

static void a_stop_makes_an_approval_void(void **state)
{
    (void)state;
    event("approval.requested", "{'id':'q1','ops':[{" DOCK "}]}");
    event("approval.resolved", "{'id':'q1','action':'approve'}");
    t.step.latched = t.step.by_stop = true;
    event("mode", "{'mode':'SAFE'}");
    event("mode", "{'mode':'SAFE'}"); // the latch is known by now
    event("effect", "{'goal_id':'g1'," DOCK ",'state':'dispatched'}");
    expect_misses(1, "nobody had agreed");
}

// It is asked anew after the stop: who answers the old question answers nothing.
static void a_stop_makes_a_question_void(void **state)
{
    (void)state;
    event("approval.requested", "{'id':'q1','ops':[{" DOCK "}]}");
    t.step.latched = t.step.by_stop = true;
    event("mode", "{'mode':'EXEC'}"); // the latch is known by now
    event("mode", "{'mode':'SAFE'}");
    event("approval.resolved", "{'id':'q1','action':'approve'}");
    event("effect", "{'goal_id':'g1'," DOCK ",'state':'dispatched'}");
    expect_misses(1, "nobody had agreed");
}

#define QUEUED(id, more)                                                                           \
    "{'task':{'id':'" id "','source':'user','goals':[{'intent':'wait'}]" more "}}"

static void the_queue_has_its_order(void **state)
{
    (void)state;
    event("task.queued", QUEUED("task-1", ",'priority':50"));
    event("task.queued", QUEUED("task-2", ",'priority':50"));
    event("task.active", "{'task':{'id':'task-1'}}");
    event("task.queued", QUEUED("task-3", ",'priority':80"));
    event("task.active", "{'task':{'id':'task-3'}}");
    event("task.done", "{'task_id':'task-3','status':'succeeded'}");
    event("task.active", "{'task':{'id':'task-1'}}");
    expect_misses(0, NULL);
    event("task.raised", "{'task_id':'task-2','priority':60}");
    event("task.active", "{'task':{'id':'task-1'}}");
    expect_misses(1, "task-1 (50) is taken up, and task-2 (60) waits");
}

static void an_older_task_goes_first(void **state)
{
    (void)state;
    event("task.queued", QUEUED("task-1", ",'priority':50"));
    event("task.queued", QUEUED("task-2", ",'priority':50"));
    event("approval.requested", "{'id':'q1','task_id':'task-1','ops':[]}");
    event("task.active", "{'task':{'id':'task-2'}}"); // the other one waits for a person
    event("approval.resolved", "{'id':'q1','action':'approve'}");
    expect_misses(0, NULL);
    event("task.switched", "{'to':'task-2'}");
    event("task.active", "{'task':{'id':'task-2'}}");
    event("task.active", "{'task':{'id':'task-2'}}"); // again, after an urgent one
    expect_misses(0, NULL);
    event("task.switched", "{'to':'task-1'}");
    event("task.active", "{'task':{'id':'task-2'}}");
    expect_misses(1, "task-1 (50) waits");
}

// A stop and a reset that are said to a brain that sleeps: it hears both when it wakes, and lifts its own stop.
static void a_sleeper_hears_a_reset_late(void **state)
{
    (void)state;
    t.w.always = NULL;
    t.step.minded = true;
    t.step.awake = false;
    pons__watch_received(&t.w, "stop");
    look(1.8);
    pons__watch_received(&t.w, "reset");
    look(4.0);
    t.step.awake = true;
    t.step.latched = t.step.by_stop = t.step.durable = true;
    look(0.2);
    t.step.latched = false;
    look(0.2);
    expect_misses(0, NULL);
}

static void a_deadline_is_kept(void **state)
{
    (void)state;
    t.step.minded = t.step.awake = true;
    t.step.wall_ms = 1000;
    event("task.queued", QUEUED("task-1", ",'deadline_ms':2000"));
    look(1.0);
    expect_misses(0, NULL);
    t.step.wall_ms = 2500;
    t.step.met = false; // it ticks when it has heard from the body
    look(2.0);
    t.step.met = true;
    look(0.4);
    expect_misses(0, NULL);
    look(0.2);
    expect_misses(1, "its deadline has passed");
}

// The kernel ends a task, and its goal a moment later; whoever else ends one has ended its goals.
static void an_ended_task_has_nothing_under_way(void **state)
{
    (void)state;
    t.w.always = NULL;
    t.step.minded = t.step.awake = true;
    event("task.queued", QUEUED("task-1", ""));
    row("{'goal_id':'g1','skill':'navigate_to_pose','state':'started','task_id':'task-1'}");
    look(3.0);
    event("task.done", "{'task_id':'task-1','status':'cancelled'}");
    look(1.5);
    expect_misses(0, NULL);
    look(1.0);
    expect_misses(1, "its goal still has the base");
    event("task.queued", QUEUED("task-2", ""));
    row("{'goal_id':'g1','skill':'navigate_to_pose','state':'done','task_id':'task-1'}");
    row("{'goal_id':'g2','skill':'navigate_to_pose','state':'started','task_id':'task-2'}");
    look(0.1);
    event("task.done", "{'task_id':'task-2','status':'failed'}");
    expect_misses(2, "its goal g2 still has the base");
}

static void a_run_leaves_nothing_open(void **state)
{
    (void)state;
    event("effect", "{'goal_id':'g1','skill':'wait','args':{},'state':'dispatched'}");
    event("effect", "{'goal_id':'g1','skill':'wait','args':{},'state':'accepted'}");
    event("run.done", "{'status':'waiting'}");
    expect_misses(0, NULL);
    row("{'goal_id':'g1','skill':'wait','state':'started','task_id':''}");
    event("run.done", "{'status':'succeeded'}");
    expect_misses(2, "has no end");
    event("effect", "{'goal_id':'g2','skill':'wait','args':{},'state':'dispatched'}");
    event("effect", "{'goal_id':'g2','skill':'wait','args':{},'state':'outcome_unknown'}");
    event("run.done", "{'status':'succeeded'}");
    expect_misses(2, NULL);
}

// A stop in the midst of a task, a reset, and a motion.
static void stop_and_reset(void)
{
    t.w.always = NULL;
    event("task.queued", QUEUED("task-1", ""));
    t.step.minded = t.step.awake = true;
    t.step.latched = t.step.by_stop = true;
    look(0.5);
    pons__watch_received(&t.w, "reset");
    t.step.latched = t.step.by_stop = false;
    look(0.5);
}

static void a_reset_starts_nothing(void **state)
{
    (void)state;
    stop_and_reset();
    json_array_clear(t.w.misses); // SAFE, which nobody here is in
    json_object_clear(t.w.kinds);
    row("{'goal_id':'g1','skill':'stop_base','state':'started','task_id':'task-1'}");
    look(0.02);
    expect_misses(0, NULL);
    row("{'goal_id':'g2','skill':'navigate_to_pose','state':'started','task_id':'task-1'}");
    look(0.02);
    expect_misses(1, "nobody has said continue");
}

static void continue_goes_on(void **state)
{
    (void)state;
    stop_and_reset();
    json_array_clear(t.w.misses);
    json_object_clear(t.w.kinds);
    pons__watch_received(&t.w, "continue");
    row("{'goal_id':'g2','skill':'navigate_to_pose','state':'started','task_id':'task-1'}");
    look(0.02);
    expect_misses(0, NULL);
}

// Who dies of the very step in which it was said hears it when it lives again: after the reset, which was said later.
static void continue_may_be_heard_by_the_next_life(void **state)
{
    (void)state;
    t.w.always = NULL;
    event("task.queued", QUEUED("task-1", ""));
    t.step.minded = t.step.awake = true;
    t.step.latched = t.step.by_stop = true;
    look(0.5);
    json_array_clear(t.w.misses); // SAFE, which nobody here is in
    json_object_clear(t.w.kinds);
    pons__watch_received(&t.w, "continue");
    t.step.awake = false;
    look(0.5);
    pons__watch_received(&t.w, "reset");
    t.step.latched = t.step.by_stop = false;
    t.step.awake = true;
    look(0.1);
    row("{'goal_id':'g2','skill':'navigate_to_pose','state':'started','task_id':'task-1'}");
    look(0.02);
    expect_misses(0, NULL);
}

// A body that stood still reads the goal before the cancel, which has come since; but it reads no goal a second later.
static void a_goal_on_its_way_is_read(void **state)
{
    (void)state;
    look(0.02);
    for (int late = 0; late < 2; late++) {
        event("task.queued", QUEUED("task-1", ""));
        t.step.frozen = true;
        look(0.1);
        event("task.done", "{'task_id':'task-1','status':'cancelled'}");
        look(0.1);
        t.step.frozen = false;
        look(late ? 0.5 : 0.01);
        row(late
                ? "{'goal_id':'g2','skill':'navigate_to_pose','state':'started','task_id':'task-1'}"
                : "{'goal_id':'g1','skill':'navigate_to_pose','state':'started','task_id':'task-1'"
                  "}");
        look(0.01);
        expect_misses(late, late ? "which is over" : NULL);
        row("{'goal_id':'g1','skill':'navigate_to_pose','state':'canceled','task_id':'task-1'}");
        look(0.01);
    }
}

static void a_task_ends_once_and_where_it_says(void **state)
{
    (void)state;
    const char *queued = "{'task':{'id':'task-1','source':'user','goals':"
                         "[{'intent':'go_to','zone':'study'}]}}";
    look(0.02); // it runs
    event("task.queued", queued);
    event("task.done", "{'task_id':'task-1','status':'succeeded'}");
    expect_misses(1, "not in study");
    event("task.done", "{'task_id':'task-1','status':'failed'}");
    expect_misses(2, "had ended");
    row("{'goal_id':'g1','skill':'navigate_to_pose','state':'started','task_id':'task-1'}");
    look(0.02);
    expect_misses(3, "which is over");
    event("schema.failed", "{'what':'observation'}");
    expect_misses(4, "not as published");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_goal_has_the_base, open_bench, close_bench),
        cmocka_unit_test_setup_teardown(another_boot_has_no_goals, open_bench, close_bench),
        cmocka_unit_test_setup_teardown(a_latched_robot_is_told_nothing_and_stands, open_bench,
                                        close_bench),
        cmocka_unit_test_setup_teardown(a_latch_ends_what_moves, open_bench, close_bench),
        cmocka_unit_test_setup_teardown(a_stop_that_nobody_saw_yet_counts, open_bench, close_bench),
        cmocka_unit_test_setup_teardown(the_next_body_is_latched_by_it, open_bench, close_bench),
        cmocka_unit_test_setup_teardown(the_word_stop_is_a_latch, open_bench, close_bench),
        cmocka_unit_test_setup_teardown(without_a_brain_it_comes_to_rest, open_bench, close_bench),
        cmocka_unit_test_setup_teardown(a_goal_without_a_brain_is_held, open_bench, close_bench),
        cmocka_unit_test_setup_teardown(no_limit_is_passed, open_bench, close_bench),
        cmocka_unit_test_setup_teardown(what_it_drives_into_is_told, open_bench, close_bench),
        cmocka_unit_test_setup_teardown(a_silent_body_is_safe, open_bench, close_bench),
        cmocka_unit_test_setup_teardown(a_brain_that_has_heard_nothing_knows_nothing, open_bench,
                                        close_bench),
        cmocka_unit_test_setup_teardown(the_files_own_rules, open_bench, close_bench),
        cmocka_unit_test_setup_teardown(an_approval_is_for_what_it_showed, open_events,
                                        close_events),
        cmocka_unit_test_setup_teardown(what_is_sent_can_be_done, open_events, close_events),
        cmocka_unit_test_setup_teardown(a_stop_makes_an_approval_void, open_events, close_events),
        cmocka_unit_test_setup_teardown(a_stop_makes_a_question_void, open_events, close_events),
        cmocka_unit_test_setup_teardown(the_queue_has_its_order, open_events, close_events),
        cmocka_unit_test_setup_teardown(an_older_task_goes_first, open_events, close_events),
        cmocka_unit_test_setup_teardown(a_sleeper_hears_a_reset_late, open_events, close_events),
        cmocka_unit_test_setup_teardown(a_deadline_is_kept, open_events, close_events),
        cmocka_unit_test_setup_teardown(an_ended_task_has_nothing_under_way, open_events,
                                        close_events),
        cmocka_unit_test_setup_teardown(a_run_leaves_nothing_open, open_events, close_events),
        cmocka_unit_test_setup_teardown(a_reset_starts_nothing, open_events, close_events),
        cmocka_unit_test_setup_teardown(continue_goes_on, open_events, close_events),
        cmocka_unit_test_setup_teardown(continue_may_be_heard_by_the_next_life, open_events,
                                        close_events),
        cmocka_unit_test_setup_teardown(an_approval_is_for_one_dispatch, open_events, close_events),
        cmocka_unit_test_setup_teardown(a_goal_on_its_way_is_read, open_events, close_events),
        cmocka_unit_test_setup_teardown(a_task_ends_once_and_where_it_says, open_events,
                                        close_events),
    };
    pons_value_init();
    setenv("PONS_SHARE", PONS_SOURCE_DIR, 0);
    return cmocka_run_group_tests_name("the watch", tests, NULL, NULL);
}
