// test_decisions.c - what decisions, words and messages may say beyond one task: switching, words as
// answers, claims, budgets, deadlines, priorities, and answers of a model that talks around its JSON.
//
// What is read is what a person would see: events, the status, and what the body was sent.
#include "brain_bench.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SOON    10.0
#define KITCHEN "'ops':[{'op':'dispatch','skill':'navigate_to_pose','args':{'zone':'kitchen'}}]"
#define BEDROOM "'ops':[{'op':'dispatch','skill':'navigate_to_pose','args':{'zone':'bedroom'}}]"
#define IDLE    "{'repeat':true,'decision':{'type':'CONTINUE','reason':'nothing to do'}}"

static void begin(bench *b, const char *script)
{
    bench_open(b, script);
    bench_brain(b);
    bench_run(b, 0.5);
}

// A brain with another configuration.
static void begin_anew(bench *b, const char *group, const char *key, json_t *value)
{
    json_object_set_new(json_object_get(b->config, group), key, value);
    bench_kill(b);
    bench_brain(b);
    bench_run(b, 0.5);
}

static bool says(const pons_value *v, const char *key, const char *part)
{
    return strstr(pons_get_str(v, key, ""), part) != NULL;
}

static void assert_refused(bench *b, const char *part)
{
    const pons_value *refused = bench_await(b, "guard.refused", NULL, NULL, SOON);
    const char *got = pons_get_str(json_array_get(pons_get(refused, "rules"), 0), "message", "");
    if (!strstr(got, part)) {
        fail_msg("“%s” does not say “%s”", got, part);
    }
}

static void assert_status_of(bench *b, const char *id, const char *status)
{
    pons_autovalue s = pons_brain_status(b->brain);
    size_t i;
    json_t *task;
    json_array_foreach(pons_get(s, "queue"), i, task) {
        if (strcmp(pons_get_str(task, "id", ""), id) == 0) {
            assert_string_equal(pons_get_str(task, "status", ""), status);
            return;
        }
    }
    fail_msg("there is no %s in the queue", id);
}

// ---- several tasks ------------------------------------------------------------------------------

// The model sees the queue and takes up the other one; the first keeps its place.
static void a_model_switches_between_tasks(void **state)
{
    (void)state;
    bench b;
    begin(&b, "[{'decision':{'type':'CONTINUE','reason':'go','wake_s':2," KITCHEN "}},"
              "{'decision':{'type':'SWITCH_TASK','reason':'that one first','task_id':'task-2'}},"
              "{'decision':{'type':'CONTINUE','reason':'go'," BEDROOM "}},"
              "{'decision':{'type':'FINISH','reason':'there'}},"
              "{'decision':{'type':'CONTINUE','reason':'go'," KITCHEN "}},"
              "{'decision':{'type':'FINISH','reason':'there'}}," IDLE "]");
    b.base_ms = 8000;
    bench_goal_text(&b, "去厨房");
    bench_await(&b, "effect", "state", "accepted", SOON);
    bench_say(&b, "去卧室");
    const pons_value *to = bench_await(&b, "task.switched", NULL, NULL, SOON);
    assert_string_equal(pons_get_str(to, "to", ""), "task-2");
    bench_run(&b, 0.5);
    assert_status_of(&b, "task-1", "paused");
    assert_status_of(&b, "task-2", "active");
    const pons_value *done = bench_await(&b, "task.done", "status", "succeeded", 30.0);
    assert_string_equal(pons_get_str(done, "task_id", ""), "task-2");
    done = bench_await(&b, "task.done", "status", "succeeded", 30.0);
    assert_string_equal(pons_get_str(done, "task_id", ""), "task-1");
    assert_int_equal(bench_count(&b, "guard.refused", NULL, NULL), 0);
    bench_close(&b);
}

// What it would begin for the other task is begun by that one: of a task that is left nothing goes on.
static void what_leaves_a_task_starts_nothing(void **state)
{
    (void)state;
    bench b;
    begin(&b, "[{'decision':{'type':'CONTINUE','reason':'go','wake_s':2," KITCHEN "}},"
              "{'decision':{'type':'SWITCH_TASK','reason':'x','task_id':'task-2'," BEDROOM "}},"
              "{'decision':{'type':'SWITCH_TASK','reason':'x','task_id':'task-2'}}," IDLE "]");
    b.base_ms = 8000;
    bench_goal_text(&b, "去厨房");
    bench_await(&b, "effect", "state", "accepted", SOON);
    bench_say(&b, "去卧室");
    const pons_value *refused = bench_await(&b, "guard.refused", "rule", "ends", SOON);
    assert_true(says(json_array_get(pons_get(refused, "rules"), 0), "message", "leaves the task"));
    bench_await(&b, "task.switched", "to", "task-2", SOON);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 1);
    bench_close(&b);
}

static void priorities_decide_what_may_be_switched_to(void **state)
{
    (void)state;
    bench b;
    begin(&b, "[{'decision':{'type':'CONTINUE','reason':'go','wake_s':2," KITCHEN "}},"
              "{'decision':{'type':'SWITCH_TASK','reason':'x','task_id':'task-2'}},"
              "{'decision':{'type':'SWITCH_TASK','reason':'x','task_id':'task-9'}}," IDLE "]");
    b.base_ms = BENCH_NEVER;
    bench_goal_text(&b, "去厨房");
    bench_await(&b, "effect", "state", "accepted", SOON);
    bench_post(&b, "say", "{'text':'go to the bedroom','priority':'background'}");
    assert_refused(&b, "task-2 has priority 10, below the 50 of task-1");
    const pons_value *d = bench_await(&b, "decision", "source", "guard", SOON); // it left a REPLAN
    assert_string_equal(pons_get_str(pons_get(d, "decision"), "type", ""), "REPLAN");
    assert_refused(&b, "there is no task task-9 in the queue");
    assert_int_equal(bench_count(&b, "task.switched", NULL, NULL), 0);
    bench_close(&b);
}

static void a_preempted_task_is_paused_and_the_reason_names_both(void **state)
{
    (void)state;
    bench b;
    begin(&b, NULL);
    b.base_ms = 5000;
    bench_goal_text(&b, "去厨房");
    bench_await(&b, "effect", "state", "accepted", SOON);
    bench_say(&b, "马上去卧室");
    const pons_value *d = bench_await(&b, "decision", "type", "SWITCH_TASK", SOON);
    assert_true(says(pons_get(d, "decision"), "reason", "task-2 has priority 80, task-1 has 50"));
    bench_run(&b, 0.5);
    assert_status_of(&b, "task-1", "paused");
    assert_status_of(&b, "task-2", "active");
    bench_await(&b, "task.done", "task_id", "task-2", 30.0);
    bench_run(&b, 0.5);
    assert_status_of(&b, "task-1", "active");
    bench_close(&b);
}

static void a_task_is_raised_and_another_cancelled(void **state)
{
    (void)state;
    bench b;
    begin(&b, NULL);
    b.base_ms = BENCH_NEVER;
    bench_goal_text(&b, "去厨房");
    bench_await(&b, "effect", "state", "accepted", SOON);
    bench_say(&b, "去客厅");
    bench_say(&b, "去卧室");
    bench_run(&b, 0.5);
    bench_post(&b, "control", "{'word':'raise','task':'task-3'}");
    const pons_value *active = bench_await(&b, "task.active", NULL, NULL, SOON);
    assert_string_equal(pons_get_str(pons_get(active, "task"), "id", ""), "task-3");
    bench_post(&b, "control", "{'word':'cancel','task':'task-2'}");
    bench_await(&b, "task.done", "task_id", "task-2", SOON);
    assert_status_of(&b, "task-3", "active");
    assert_status_of(&b, "task-1", "paused");
    bench_post(&b, "control", "{'word':'raise','task':'task-7'}");
    assert_true(says(bench_await(&b, "control", "word", "raise", SOON), "ignored", "no such task"));
    bench_close(&b);
}

static void what_is_said_twice_is_one_task(void **state)
{
    (void)state;
    bench b;
    begin(&b, NULL);
    b.base_ms = 3000;
    bench_goal_text(&b, "去厨房");
    bench_say(&b, "去厨房");
    bench_await(&b, "task.merged", "task_id", "task-1", SOON);
    bench_say(&b, "go to the kitchen"); // in other words
    bench_await(&b, "task.merged", "task_id", "task-1", SOON);
    bench_await(&b, "task.done", "status", "succeeded", 30.0);
    bench_run(&b, 2.0);
    assert_int_equal(bench_count(&b, "task.queued", NULL, NULL), 1);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 1);
    bench_close(&b);
}

static void a_task_ends_at_its_deadline(void **state)
{
    (void)state;
    bench b;
    begin(&b, NULL);
    b.base_ms = BENCH_NEVER;
    char said[160];
    const long long soon_ms = (long long)pons_wall_ms(&b.clock) + 4000;
    snprintf(said, sizeof said, "{'text':'go to the kitchen','deadline_ms':%lld}", soon_ms);
    bench_post(&b, "say", said);
    bench_await(&b, "effect", "state", "accepted", SOON);
    pons_autovalue s = pons_brain_status(b.brain);
    assert_int_equal(pons_get_int(json_array_get(pons_get(s, "queue"), 0), "deadline", 0), soon_ms);
    bench_await(&b, "task.overdue", "task_id", "task-1", SOON);
    const pons_value *done = bench_await(&b, "task.done", "status", "failed", SOON);
    assert_true(says(done, "reason", "its deadline has passed"));
    bench_await(&b, "effect", "state", "canceled", SOON);
    bench_close(&b);
}

// A clock that is set back by a day keeps no wish of ten minutes for a day; to and fro by a second, and set forward
// by less than is left, it changes nothing.
static void a_tasks_deadline_outlives_the_clock(void **state)
{
    (void)state;
    bench b;
    char said[160];
    begin(&b, NULL);
    b.base_ms = BENCH_NEVER;
    const long long then_ms = (long long)pons_wall_ms(&b.clock) + 600000;
    snprintf(said, sizeof said, "{'text':'go to the kitchen','deadline_ms':%lld}", then_ms);
    bench_post(&b, "say", said);
    bench_post(&b, "say", "{'text':'去卧室'}");
    bench_await(&b, "effect", "state", "accepted", SOON);
    for (int i = 0; i < 6; i++) {
        b.time.wall_epoch_ms += i % 2 ? 1900 : -1900;
        bench_run(&b, 0.5);
    }
    b.time.wall_epoch_ms += 590000;
    bench_run(&b, 1.0);
    assert_int_equal(bench_count(&b, "task.done", NULL, NULL), 0);
    b.time.wall_epoch_ms -= 86400000;
    const pons_value *done = bench_await(&b, "task.done", "status", "failed", SOON);
    assert_true(says(done, "reason", "the clock went back"));
    b.time.wall_epoch_ms += 2 * 86400000LL;
    bench_await(&b, "task.active", NULL, NULL, SOON); // the other one has none, and goes on
    bench_run(&b, 2.0);
    assert_int_equal(bench_count(&b, "task.done", NULL, NULL), 1);
    bench_close(&b);
}

// ---- people -------------------------------------------------------------------------------------

// Words answer a model's question, and reach it.
static void words_answer_a_question(void **state)
{
    (void)state;
    static const struct {
        const char *kind, *message, *answer;
    } rows[] = {
        {"say", "{'text':'2'}", "right"},
        {"say", "{'text':'LEFT'}", "left"},
        {"answer", "{'action':'approve','answer':'neither'}", "neither"},
        {"answer", "{'action':'approve','answer':'2'}", "right"},
        {"answer", "{'action':'answer','answer':'Right'}", "right"}, // at the page, by the API
        {"answer", "{'action':'answer','answer':'3'}", "3"},
        {"say", "{'text':'the green one'}", "the green one"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench b;
        begin(&b, "[{'decision':{'type':'ASK_HUMAN','reason':'two doors','ops':[{'op':'approval',"
                  "'question':'which door?','options':['left','right']}]}}," IDLE "]");
        bench_goal_text(&b, "water the plants");
        const pons_value *asked = bench_await(&b, "approval.requested", NULL, NULL, SOON);
        assert_string_equal(pons_get_str(asked, "question", ""), "which door?");
        assert_int_equal(json_array_size(pons_get(asked, "options")), 2);
        bench_post(&b, rows[i].kind, rows[i].message);
        const pons_value *seen = bench_await(&b, "observation", NULL, NULL, SOON);
        const pons_value *human = pons_get(pons_get(seen, "observation"), "human");
        assert_string_equal(pons_get_str(human, "question", ""), "which door?");
        assert_string_equal(pons_get_str(human, "answer", ""), rows[i].answer);
        assert_int_equal(bench_count(&b, "task.queued", NULL, NULL), 1); // it is no new wish
        bench_close(&b);
    }
}

// An option may be a number in words: its words go before the number of another one, at every door.
static void words_go_before_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *kind, *message, *answer;
    } rows[] = {
        {"say", "{'text':'1'}", "1"},
        {"answer", "{'action':'approve','answer':'3'}", "3"}, // `pons approve`, the prompt
        {"answer", "{'action':'answer','answer':'1'}", "1"},  // a button at the page
        {"answer", "{'action':'answer','answer':'Yes'}", "Yes"},
        {"answer", "{'action':'answer','answer':'YES'}", "yes"},
        {"answer", "{'action':'answer','answer':'2'}", "7"},
        {"say", "{'text':'5'}", "Yes"},
        {"say", "{'text':'7'}", "7"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench b;
        begin(&b, "[{'decision':{'type':'ASK_HUMAN','reason':'r','ops':[{'op':'approval',"
                  "'question':'which?','options':['3','7','1','yes','Yes']}]}}," IDLE "]");
        bench_goal_text(&b, "water the plants");
        bench_await(&b, "approval.requested", NULL, NULL, SOON);
        bench_post(&b, rows[i].kind, rows[i].message);
        const pons_value *seen = bench_await(&b, "observation", NULL, NULL, SOON);
        const pons_value *human = pons_get(pons_get(seen, "observation"), "human");
        assert_string_equal(pons_get_str(human, "answer", ""), rows[i].answer);
        bench_close(&b);
    }
}

// A model's options make no answer of the words that stop and pause the robot.
static void no_option_takes_a_stop_away(void **state)
{
    (void)state;
    static const char *const words[] = {"stop", "停", "pause"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        bench b;
        char said[64];
        begin(&b, "[{'repeat':true,'decision':{'type':'ASK_HUMAN','reason':'r','ops':[{'op':"
                  "'approval','question':'well?','options':['Stop','停','pause']}]}}]");
        bench_goal_text(&b, "water the plants");
        bench_await(&b, "approval.requested", NULL, NULL, SOON);
        snprintf(said, sizeof said, "{'text':'%s'}", words[i]);
        bench_post(&b, "say", said);
        if (i < 2) {
            bench_await(&b, "stop", NULL, NULL, SOON);
            assert_true(b.latched);
        } else {
            bench_run(&b, 1.0);
            pons_autovalue status = pons_brain_status(b.brain);
            assert_true(pons_get_bool(status, "paused", false));
            assert_int_equal(bench_count(&b, "approval.resolved", "action", "approve"), 0);
        }
        bench_close(&b);
    }
}

// An operation waits with the question: an option that is said, even "no", is no yes to it.
static void words_approve_no_operation(void **state)
{
    (void)state;
    static const char *const messages[] = {"{'text':'no'}", "{'text':'left'}"};
    for (size_t i = 0; i < 2; i++) {
        bench b;
        begin(&b, "[{'decision':{'type':'CONTINUE','reason':'x','ops':[{'op':'approval','question':"
                  "'shall I?','options':['no','left']},{'op':'dispatch','skill':"
                  "'navigate_to_pose','args':{'zone':'kitchen'}}]}},"
                  "{'repeat':true,'decision':{'type':'ABORT','reason':'as you wish'}}]");
        bench_goal_text(&b, "water the plants");
        bench_await(&b, "approval.requested", NULL, NULL, SOON);
        bench_post(&b, "say", messages[i]);
        bench_await(&b, "task.done", "status", "aborted", SOON);
        assert_int_equal(bench_starts(&b, "navigate_to_pose"), 0);
        bench_close(&b);
    }
}

// "Shall I go on?" wants a yes or a no: words of no end the task, others are asked about again, and neither moves
// anything; a yes in words is one.
static void words_are_no_yes_to_go_on(void **state)
{
    (void)state;
    static const struct {
        const char *answer;
        int asks, starts;
        bool ends;
    } rows[] = {{"no", 1, 0, true},
                {"不要", 1, 0, true},
                {"the floor may be wet", 2, 0, false},
                {"yes", 1, 1, false}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench b;
        char said[120];
        begin(&b, "[{'decision':{'type':'REPLAN','reason':'hm'}},{'decision':{'type':'REPLAN',"
                  "'reason':'hm'}},{'repeat':true,'decision':{'type':'CONTINUE','reason':'go',"
                  "'ops':[{'op':'dispatch','skill':'navigate_to_pose','args':{'zone':'kitchen'}}]"
                  "}}]");
        b.base_ms = BENCH_NEVER;
        b.keep_running = true;
        begin_anew(&b, "limits", "iterations_max", json_integer(2));
        bench_goal_text(&b, "water the plants");
        const pons_value *asked = bench_await(&b, "approval.requested", NULL, NULL, SOON);
        assert_true(says(asked, "question", "shall I go on?"));
        snprintf(said, sizeof said, "{'action':'approve','answer':'%s'}", rows[i].answer);
        bench_post(&b, "answer", said);
        bench_run(&b, 3.0);
        assert_int_equal(bench_starts(&b, "navigate_to_pose"), rows[i].starts);
        assert_int_equal(bench_count(&b, "approval.requested", NULL, NULL), rows[i].asks);
        assert_int_equal(bench_count(&b, "task.done", "status", "aborted"), rows[i].ends);
        bench_close(&b);
    }
}

// To operations that wait a yes in words is a yes, a no one is a no with its reason, and other words are no answer.
static void words_to_operations(void **state)
{
    (void)state;
    static const struct {
        const char *answer, *reason;
        int asks, starts;
    } rows[] = {{"yes", NULL, 1, 1},
                {"好的", NULL, 1, 1},
                {"no", "a person said no: no", 1, 0},
                {"when I am back", "a person said no: 不要", 2, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench b;
        char said[120];
        begin(&b, NULL);
        json_object_set_new(json_object_get(b.config, "approval"), "skills",
                            json_pack("[s]", "navigate_to_pose"));
        begin_anew(&b, "approval", "deadline_s", json_real(0.0));
        b.keep_running = true;
        bench_goal_text(&b, "去厨房");
        bench_await(&b, "approval.requested", NULL, NULL, SOON);
        snprintf(said, sizeof said, "{'action':'approve','answer':'%s'}", rows[i].answer);
        bench_post(&b, "answer", said);
        if (rows[i].asks == 2) {
            const pons_value *again = bench_await(&b, "approval.requested", NULL, NULL, SOON);
            assert_true(says(again, "refused", "neither a yes nor a no"));
            assert_int_equal(bench_count(&b, "approval.resolved", "action", "answer"), 1);
            bench_post(&b, "answer", "{'action':'approve','answer':'不要'}");
        }
        if (rows[i].starts == 0) {
            const pons_value *end = bench_await(&b, "task.done", "status", "aborted", SOON);
            assert_true(says(end, "reason", rows[i].reason));
        }
        bench_run(&b, 3.0);
        assert_int_equal(bench_starts(&b, "navigate_to_pose"), rows[i].starts);
        bench_close(&b);
    }
}

// Who is asked whether the task may end, and says no, has not ended it: its goals go on, and none is left behind.
static void a_no_to_an_end_is_no_end(void **state)
{
    (void)state;
    static const char *const ends[] = {"ABORT", "FINISH"};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        bench b;
        char script[512];
        snprintf(script, sizeof script,
                 "[{'decision':{'type':'CONTINUE','reason':'go','ops':[{'op':'dispatch','skill':"
                 "'navigate_to_pose','args':{'zone':'kitchen'},'goal_index':0}],"
                 "'wake_s':1.0}},"
                 "{'decision':{'type':'%s','reason':'x','ops':[{'op':'approval','question':"
                 "'is that all?'}]}}]",
                 ends[i]);
        begin(&b, script);
        bench_goal_text(&b, "water the plants");
        bench_await(&b, "approval.requested", NULL, NULL, 60.0);
        bench_post(&b, "answer", "{'action':'reject','reason':'go on'}");
        bench_await(&b, "approval.resolved", "action", "reject", SOON);
        bench_run(&b, 1.0);
        // What it asks next, or does, is its own; it has not ended by what was refused.
        assert_int_equal(bench_count(&b, "task.done", "status", "succeeded"), 0);
        assert_int_equal(bench_count(&b, "task.done", "reason", "x"), 0);
        bench_close(&b);
    }
}

static void a_question_has_a_deadline(void **state)
{
    (void)state;
    bench b;
    begin(&b, NULL);
    json_object_set_new(json_object_get(b.config, "approval"), "skills",
                        json_pack("[s]", "navigate_to_pose"));
    begin_anew(&b, "approval", "deadline_s", json_real(3.0));
    b.keep_running = true;
    bench_goal_text(&b, "去厨房");
    bench_await(&b, "approval.requested", NULL, NULL, SOON);
    const pons_value *no = bench_await(&b, "approval.resolved", "action", "reject", SOON);
    assert_string_equal(pons_get_str(no, "by", ""), "the deadline");
    bench_await(&b, "task.done", "status", "aborted", 60.0);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 0);
    bench_close(&b);
}

// A clock that is set back by a day does not leave a question open for a day; one that is a little late
// changes nothing.
static void a_questions_deadline_outlives_the_clock(void **state)
{
    (void)state;
    bench b;
    begin(&b, NULL);
    json_object_set_new(json_object_get(b.config, "approval"), "skills",
                        json_pack("[s]", "navigate_to_pose"));
    begin_anew(&b, "approval", "deadline_s", json_real(30.0));
    b.keep_running = true;
    bench_goal_text(&b, "去厨房");
    bench_await(&b, "approval.requested", NULL, NULL, SOON);
    bench_run(&b, 1.0);
    b.time.wall_epoch_ms -= 1500;
    bench_run(&b, 5.0);
    assert_int_equal(bench_count(&b, "approval.resolved", NULL, NULL), 0);
    b.time.wall_epoch_ms -= 86400000;
    const pons_value *no = bench_await(&b, "approval.resolved", "action", "reject", SOON);
    assert_true(says(no, "reason", "the clock went back"));
    bench_await(&b, "task.done", "status", "aborted", 60.0);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 0);
    bench_close(&b);
}

// An answer that is given when the deadline has passed is none, though no brain was there to say no; one that
// was given before counts, however late it is heard.
// in_time: by the time that it is signed with, whenever it is heard. said: of what it is posted as, with its time last.
static void answered_while_dead(const char *kind, const char *said, bool in_time)
{
    bench b;
    char text[200];
    begin(&b, NULL);
    json_object_set_new(json_object_get(b.config, "approval"), "skills",
                        json_pack("[s]", "navigate_to_pose"));
    begin_anew(&b, "approval", "deadline_s", json_real(30.0));
    b.keep_running = true;
    b.pace = 100;
    bench_goal_text(&b, "去厨房");
    const pons_value *q = bench_await(&b, "approval.requested", NULL, NULL, SOON);
    const long long until_ms = pons_get_int(q, "deadline_ms", 0);
    snprintf(text, sizeof text, "{'id':'%s',%s,'at_ms':%lld}", pons_get_str(q, "id", ""), said,
             in_time ? until_ms - 1000 : until_ms + 1000);
    bench_run(&b, 0.5);
    bench_kill(&b);
    b.time.wall_epoch_ms += 60000;
    bench_post(&b, kind, text);
    bench_brain(&b);
    const pons_value *is = bench_await(&b, "approval.resolved", NULL, NULL, SOON);
    assert_string_equal(pons_get_str(is, "by", ""), in_time ? "anna" : "the deadline");
    bench_await(&b, "task.done", "status", in_time ? "succeeded" : "aborted", 60.0);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), in_time);
    bench_close(&b);
}

static void an_answer_behind_the_deadline_is_none(void **state)
{
    (void)state;
    static const char said[] = "'nonce':'n','action':'approve','by':'anna'";
    answered_while_dead("answer", said, false);
    answered_while_dead("answer", said, true);
}

// Words that were said in time count whenever they are heard, here a yes with a pace.
static void words_behind_the_deadline_are_of_their_time(void **state)
{
    (void)state;
    static const char said[] = "'text':'yes, at half speed','by':'anna'";
    answered_while_dead("say", said, false);
    answered_while_dead("say", said, true);
}

// ---- FINISH -------------------------------------------------------------------------------------

static void a_finish_that_nobody_can_check_says_so(void **state)
{
    (void)state;
    bench b;
    begin(&b, "[{'decision':{'type':'FINISH','reason':'done, trust me'}}," IDLE "]");
    bench_goal_text(&b, "water the plants");
    const pons_value *done = bench_await(&b, "task.done", "status", "succeeded", SOON);
    assert_true(json_is_false(pons_get(done, "verified")));
    bench_close(&b);
}

static void claims_are_checked(void **state)
{
    (void)state;
    bench b;
    begin(&b, "[{'decision':{'type':'FINISH','reason':'a','claims':[{'in_zone':'bedroom'}]}},"
              "{'decision':{'type':'FINISH','reason':'b','claims':[{'holding':'apple'}]}},"
              "{'decision':{'type':'FINISH','reason':'c','claims':[{'battery':99.5}]}},"
              "{'decision':{'type':'CONTINUE','reason':'go'," KITCHEN "}},"
              "{'decision':{'type':'FINISH','reason':'d','claims':[{'in_zone':'kitchen'},"
              "{'battery':10}]}}," IDLE "]");
    b.battery = 70.0;
    b.base_ms = 500;
    bench_run(&b, 0.5);
    bench_goal_text(&b, "look after the stove");
    assert_refused(&b, "the robot is not in bedroom");
    assert_refused(&b, "the robot does not hold apple");
    assert_refused(&b, "the battery is at 70 %, not at 100 %");
    const pons_value *done = bench_await(&b, "task.done", "status", "succeeded", SOON);
    assert_true(json_is_true(pons_get(done, "verified")));
    bench_close(&b);
}

// What is so as long as there is a robot shows nothing.
static void a_claim_of_nothing_verifies_nothing(void **state)
{
    (void)state;
    bench b;
    begin(
        &b,
        "[{'decision':{'type':'FINISH','reason':'a','claims':[{'battery':0},{'battery':5}]}}," IDLE
        "]");
    bench_goal_text(&b, "look after the stove");
    const pons_value *done = bench_await(&b, "task.done", "status", "succeeded", SOON);
    assert_true(json_is_false(pons_get(done, "verified")));
    bench_close(&b);
}

// ---- the model ----------------------------------------------------------------------------------

static void what_models_put_around_their_json_is_taken_off(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "```json\\n{\\\"type\\\":\\\"ABORT\\\",\\\"reason\\\":\\\"found\\\"}\\n```",
        "Sure! Here it is: {\\\"type\\\":\\\"ABORT\\\",\\\"reason\\\":\\\"found\\\"} I hope it "
        "helps.",
        "<think>the map {x} says {\\\"type\\\":\\\"FINISH\\\",\\\"reason\\\":\\\"no\\\"}</think>"
        "{\\\"type\\\":\\\"ABORT\\\",\\\"reason\\\":\\\"found\\\"}",
        "{\\\"a\\\":1} and {\\\"type\\\":\\\"ABORT\\\",\\\"reason\\\":\\\"found\\\"}",
        "<Thinking>or {\\\"type\\\":\\\"FINISH\\\",\\\"reason\\\":\\\"no\\\"}</Thinking>"
        "{\\\"type\\\":\\\"ABORT\\\",\\\"reason\\\":\\\"found\\\"}",
        "{\\\"type\\\":\\\"ABORT\\\",\\\"reason\\\":\\\"found\\\"} twice: "
        "{\\\"type\\\":\\\"ABORT\\\",\\\"reason\\\":\\\"found\\\"}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        bench b;
        char script[512];
        snprintf(script, sizeof script, "[{'content':'%s'}," IDLE "]", texts[i]);
        begin(&b, script);
        bench_goal_text(&b, "去厨房");
        const pons_value *done = bench_await(&b, "task.done", "status", "aborted", SOON);
        assert_string_equal(pons_get_str(done, "reason", ""), "found");
        assert_int_equal(b.llm_starts, 1);
        bench_close(&b);
    }
}

// Which of the two is meant nobody knows: neither is done, and it goes back.
static void two_decisions_are_none(void **state)
{
    (void)state;
    bench b;
    begin(&b, "[{'content':'{\\\"type\\\":\\\"ABORT\\\",\\\"reason\\\":\\\"no\\\"} "
              "{\\\"type\\\":\\\"CONTINUE\\\",\\\"reason\\\":\\\"so\\\"}'},"
              "{'decision':{'type':'ABORT','reason':'found'}}," IDLE "]");
    bench_goal_text(&b, "去厨房");
    const pons_value *done = bench_await(&b, "task.done", "status", "aborted", SOON);
    assert_string_equal(pons_get_str(done, "reason", ""), "found");
    assert_int_equal(b.llm_starts, 2);
    bench_close(&b);
}

// ---- what meets a goal --------------------------------------------------------------------------

// Its own skill, called for it, but not as the goal says: that is no success, whatever the model says.
static void a_goal_is_met_by_the_call_that_it_means(void **state)
{
    (void)state;
    static const struct {
        const char *goal, *skill, *wrong, *right;
    } rows[] = {
        {"wait 30 seconds", "wait", "{'s':1}", "{'s':31}"},
        {"等三十秒", "wait", "{'s':29}", "{'s':30}"},
        {"say see you at 8", "speak", "{'text':'see you at 9'}", "{'text':'Well, see you at 8!'}"},
        {"where are you", "speak", "{'text':'on the moon'}",
         "{'text':'I am in living_room, at (2.51, 2.49).'}"},
        {"do move {\"by\": -1.5708}", "move", "{'by':-0.1}", "{'by':-1.571,'at':3}"},
        {"do move {\"by\": 0.5}", "move", "{'by':-0.5}", "{'by':0.5}"},
        {"do move {\"by\": 1, \"to\": \"kitchen\"}", "move", "{'by':1}", "{'by':1,'to':'kitchen'}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench b;
        char script[640];
        snprintf(
            script, sizeof script,
            "[{'decision':{'type':'CONTINUE','reason':'a','ops':[{'op':'dispatch','skill':'%s',"
            "'args':%s,'goal_index':0}]}},{'decision':{'type':'FINISH','reason':'wrong'}},"
            "{'decision':{'type':'CONTINUE','reason':'b','ops':[{'op':'dispatch','skill':'%s',"
            "'args':%s,'goal_index':0}]}},{'decision':{'type':'FINISH','reason':'right'}}," IDLE
            "]",
            rows[i].skill, rows[i].wrong, rows[i].skill, rows[i].right);
        bench_open(&b, script);
        b.skills_more = "[{'name':'move','interface_type':'internal','resources_required':[],"
                        "'args_schema':{'type':'object'},'timeout_s':5.0,"
                        "'error_map':{'default':'retry'}}]";
        bench_brain(&b);
        bench_run(&b, 0.5);
        bench_goal_text(&b, rows[i].goal);
        assert_refused(&b, "is not met");
        const pons_value *done = bench_await(&b, "task.done", "status", "succeeded", SOON);
        assert_string_equal(pons_get_str(done, "reason", ""), "right");
        bench_close(&b);
    }
}

// A pose is a very place: to be near it is not enough, nor to look elsewhere, until a motion to it has ended.
static void a_place_by_its_pose_is_gone_to(void **state)
{
    (void)state;
    static const struct {
        const char *goal;
        int starts;
    } rows[] = {{"go to 2.85 2.5", 1},
                {"go to 2.5 2.5 90 degrees", 1},
                {"go to 2.52 2.5", 0},
                {"去坐标2.5，2.5，0度", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench b;
        begin(&b, NULL);
        b.base_ms = 500;
        bench_goal_text(&b, rows[i].goal);
        bench_await(&b, "task.done", "status", "succeeded", SOON);
        assert_int_equal(bench_starts(&b, "navigate_to_pose"), rows[i].starts);
        bench_close(&b);
    }
}

// ---- what can never be --------------------------------------------------------------------------

// What the map, the body or a schema forbids is forbidden however often it is tried: the rules end it, and say why.
static void what_can_never_be_is_tried_once(void **state)
{
    (void)state;
    static const char *const goals[][2] = {
        {"go to -40 100", "outside the map"},
        {"do navigate_to_pose {\"zone\": \"kit\u0441hen\"}", "unknown zone"},
    };
    for (size_t i = 0; i < sizeof goals / sizeof goals[0]; i++) {
        bench b;
        begin(&b, NULL);
        bench_goal_text(&b, goals[i][0]);
        const pons_value *done = bench_await(&b, "task.done", "status", "aborted", SOON);
        assert_true(says(done, "reason", goals[i][1]));
        assert_int_equal(bench_count(&b, "guard.refused", NULL, NULL), 1);
        assert_int_equal(bench_count(&b, "approval.requested", NULL, NULL), 0);
        bench_close(&b);
    }
}

// Whoever is asked after decisions that lead nowhere is told what was in the way.
static void a_question_says_what_was_in_the_way(void **state)
{
    (void)state;
    bench b;
    begin(&b, "[{'repeat':true,'decision':{'type':'CONTINUE','reason':'go','ops':[{'op':'dispatch',"
              "'skill':'navigate_to_pose','args':{'pose':{'x':-40,'y':100}}}]}}]");
    bench_goal_text(&b, "make me glad");
    const pons_value *asked = bench_await(&b, "approval.requested", NULL, NULL, 60.0);
    assert_true(says(asked, "question", "20 decisions without progress"));
    assert_true(says(asked, "question", "outside the map"));
    bench_close(&b);
}

static void a_cancel_of_nothing_is_answered(void **state)
{
    (void)state;
    bench b;
    begin(&b, "[{'decision':{'type':'REPLAN','reason':'x','ops':[{'op':'cancel','goal_id':"
              "'abc'}]}}," IDLE "]");
    bench_goal_text(&b, "去厨房");
    assert_refused(&b, "there is no running skill with the goal_id abc");
    bench_close(&b);
}

// Nothing happens, and nobody is asked; a decision that wants to be woken is.
static void a_model_is_asked_on_events_not_by_the_clock(void **state)
{
    (void)state;
    bench b;
    begin(&b, "[{'decision':{'type':'CONTINUE','reason':'go'," KITCHEN "}}," IDLE "]");
    b.base_ms = 60000;
    bench_goal_text(&b, "去厨房");
    bench_await(&b, "effect", "state", "accepted", SOON);
    bench_run(&b, 50.0);
    assert_int_equal(b.llm_starts, 1);
    bench_await(&b, "task.done", "status", "succeeded", 60.0);
    assert_true(b.llm_starts <= 12); // then the rules see that it is there
    bench_close(&b);
    begin(&b, "[{'decision':{'type':'CONTINUE','reason':'go','wake_s':10," KITCHEN "}}," IDLE "]");
    b.base_ms = 60000;
    bench_goal_text(&b, "去厨房");
    bench_await(&b, "effect", "state", "accepted", SOON);
    bench_run(&b, 15.0);
    assert_int_equal(b.llm_starts, 2);
    bench_close(&b);
}

// The budget is the task's: neither a restart nor another activation begins it anew. What runs may end.
static void a_task_has_a_budget_of_calls(void **state)
{
    (void)state;
    bench b;
    begin(&b, "[{'repeat':true,'decision':{'type':'CONTINUE','reason':'go','wake_s':1,'ops':[{"
              "'op':'dispatch','skill':'wait','args':{'s':2}}]}}]");
    b.keep_running = true;
    json_object_set_new(json_object_get(b.config, "model"), "decisions_max", json_integer(999));
    json_object_set_new(json_object_get(b.config, "limits"), "iterations_max", json_integer(999));
    begin_anew(&b, "model", "calls_max", json_integer(6));
    bench_goal_text(&b, "water the plants");
    for (int i = 0; i < 500 && b.llm_starts < 3; i++) {
        bench_run(&b, 0.1);
    }
    bench_kill(&b);
    bench_brain(&b);
    const pons_value *asked = bench_await(&b, "approval.requested", NULL, NULL, 60.0);
    assert_true(says(asked, "question", "the task's budget of the model is used up: 6 calls"));
    assert_int_equal(b.llm_starts, 6); // the one that was under way when it died counts
    bench_post(&b, "answer", "{'action':'approve'}");
    bench_await(&b, "approval.requested", NULL, NULL, 60.0);
    assert_int_equal(b.llm_starts, 12); // as many again
    bench_post(&b, "answer", "{'action':'reject'}");
    bench_await(&b, "task.done", "status", "aborted", SOON);
    bench_close(&b);
}

// Called in for goals that the model itself has added, the rules can't go on with what the person said: the model is
// asked again, and its budget counts.
#define ADDS                                                                                       \
    "{'decision':{'type':'REPLAN','reason':'p','plan_patch':{'goals':[{'intent':'go_to','zone':"   \
    "'kitchen'}]}}},"

static void a_budget_counts_behind_the_rules(void **state)
{
    (void)state;
    bench b;
    begin(&b, "[" ADDS ADDS ADDS
              "{'repeat':true,'decision':{'type':'CONTINUE','reason':'go','wake_s':1,'ops':[{"
              "'op':'dispatch','skill':'wait','args':{'s':2}}]}}]");
    b.keep_running = true;
    b.base_ms = 200;
    json_object_set_new(json_object_get(b.config, "model"), "decisions_max", json_integer(3));
    json_object_set_new(json_object_get(b.config, "limits"), "iterations_max", json_integer(999));
    begin_anew(&b, "model", "calls_max", json_integer(9));
    bench_goal_text(&b, "water the plants");
    const pons_value *asked = bench_await(&b, "approval.requested", NULL, NULL, 120.0);
    assert_true(says(asked, "question", "the task's budget of the model is used up: 9 calls"));
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 1); // the rules were called in
    assert_int_equal(b.llm_starts, 9);
    bench_close(&b);
}

// A request that is taken back each time costs as much as one that is answered: pausing and going on is
// no way to ask for ever.
static void a_call_in_vain_is_a_call(void **state)
{
    (void)state;
    bench b;
    begin(&b, "[{'repeat':true,'delay_ms':600000,'decision':{'type':'CONTINUE','reason':'go'}}]");
    b.keep_running = true;
    begin_anew(&b, "model", "calls_max", json_integer(6));
    bench_goal_text(&b, "water the plants");
    for (int i = 0; i < 40 && bench_count(&b, "approval.requested", NULL, NULL) == 0; i++) {
        bench_run(&b, 1.0);
        bench_post(&b, "control", "{'word':'pause'}");
        bench_run(&b, 1.0);
        bench_post(&b, "control", "{'word':'continue'}");
    }
    const pons_value *asked = bench_await(&b, "approval.requested", NULL, NULL, SOON);
    assert_true(says(asked, "question", "the task's budget of the model is used up: 6 calls"));
    assert_in_range(b.llm_starts, 6, 7);
    bench_close(&b);
}

// Each life of the brain ends with a call under way. Every one of them is paid for, in calls and in tokens,
// and no number of lives asks more often than the budget says.
static void a_call_that_a_death_cut_short_is_paid_for(void **state)
{
    (void)state;
    bench b;
    begin(&b, "[{'repeat':true,'delay_ms':600000,'decision':{'type':'CONTINUE','reason':'go'}}]");
    b.keep_running = true;
    begin_anew(&b, "model", "calls_max", json_integer(2));
    bench_goal_text(&b, "water the plants");
    bench_run(&b, 1.0);
    for (int life = 0; life < 20; life++) {
        bench_kill(&b);
        bench_run(&b, 0.2);
        bench_brain(&b);
        bench_run(&b, 1.0);
    }
    assert_int_equal(b.llm_starts, 2);
    const pons_value *asked = bench_await(&b, "approval.requested", NULL, NULL, SOON);
    const char *text = pons_get_str(asked, "question", "");
    const char *spent = strstr(text, "2 calls, ");
    assert_non_null(spent);
    assert_true(strtol(spent + strlen("2 calls, "), NULL, 10) > 2 * 500); // two prompts
    bench_close(&b);
}

// Where the rules understand the goal it does not come to that: a model during whose calls the brain dies
// leaves the decision to them.
static void lives_that_end_while_a_model_thinks_are_few(void **state)
{
    (void)state;
    bench b;
    begin(&b, "[{'repeat':true,'delay_ms':600000,'decision':{'type':'CONTINUE','reason':'go'}}]");
    b.base_ms = 400;
    bench_goal_text(&b, "去厨房");
    bench_run(&b, 1.0);
    for (int life = 0; life < 4 && bench_starts(&b, "navigate_to_pose") == 0; life++) {
        bench_kill(&b);
        bench_brain(&b);
        bench_run(&b, 1.0);
    }
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 1);
    assert_int_equal(b.llm_starts, 3);
    bench_close(&b);
}

// What a call had cost when it was taken back is known to the budget of tokens as well.
static void what_is_taken_back_costs_its_tokens(void **state)
{
    (void)state;
    bench b;
    begin(&b, "[{'repeat':true,'delay_ms':600000,'decision':{'type':'CONTINUE','reason':'go'}}]");
    b.keep_running = true;
    begin_anew(&b, "model", "tokens_max", json_integer(3000));
    bench_goal_text(&b, "water the plants");
    for (int i = 0; i < 20 && bench_count(&b, "approval.requested", NULL, NULL) == 0; i++) {
        bench_run(&b, 1.0);
        bench_post(&b, "control", "{'word':'pause'}");
        bench_run(&b, 1.0);
        bench_post(&b, "control", "{'word':'continue'}");
    }
    const pons_value *asked = bench_await(&b, "approval.requested", NULL, NULL, SOON);
    assert_true(says(asked, "question", "the task's budget of the model is used up"));
    assert_in_range(b.llm_starts, 1, 6);
    bench_close(&b);
}

// What a server counts may be anything: a budget that it has burst is used up, and what a person grants then
// is a limit as before.
static void a_count_of_tokens_without_end_ends_no_budget(void **state)
{
    (void)state;
    bench b;
    begin(&b, "[{'repeat':true,'decision':{'type':'CONTINUE','reason':'go','wake_s':1},'usage':{"
              "'total_tokens':9223372036854775807,'prompt_tokens':9223372036854775807,"
              "'completion_tokens':9223372036854775807}}]");
    b.keep_running = true;
    bench_goal_text(&b, "water the plants");
    for (int i = 1; i <= 3; i++) {
        const pons_value *asked = bench_await(&b, "approval.requested", NULL, NULL, 60.0);
        assert_true(says(asked, "question", "the task's budget of the model is used up"));
        assert_int_equal(b.llm_starts, i);
        bench_post(&b, "answer", "{'action':'approve'}");
        bench_run(&b, 0.5);
    }
    bench_close(&b);
}

// What has no limit is granted none: a yes is for as much again of the other.
static void no_limit_stays_none(void **state)
{
    (void)state;
    static const char *const none[] = {"tokens_max", "calls_max"};
    for (size_t i = 0; i < 2; i++) {
        bench b;
        begin(&b, "[{'repeat':true,'decision':{'type':'CONTINUE','reason':'go','wake_s':1},'usage':"
                  "{'prompt_tokens':90,'completion_tokens':10,'total_tokens':100}}]");
        b.keep_running = true;
        json_object_set_new(json_object_get(b.config, "limits"), "iterations_max",
                            json_integer(999));
        json_object_set_new(json_object_get(b.config, "model"), none[i], json_integer(0));
        begin_anew(&b, "model", none[1 - i], json_integer(i ? 300 : 3));
        bench_goal_text(&b, "water the plants");
        for (int n = 1; n <= 3; n++) {
            bench_await(&b, "approval.requested", NULL, NULL, 60.0);
            assert_int_equal(b.llm_starts, 3 * n);
            bench_post(&b, "answer", "{'action':'approve'}");
        }
        bench_close(&b);
    }
}

// What was driven when a body died with its goal was driven.
static void a_bodys_death_forgets_no_metres(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, NULL);
    b.keep_running = false;
    bench_brain(&b);
    bench_run(&b, 0.1);
    b.base_ms = BENCH_NEVER;
    b.driven_m = 3.25;
    bench_goal_text(&b, "去厨房");
    bench_await(&b, "effect", "state", "accepted", SOON);
    bench_run(&b, 2.0);
    bench_drop(&b);
    b.boot = "boot-2";
    b.base_ms = 500;
    bench_await(&b, "effect", "state", "outcome_unknown", 30.0);
    const pons_value *done = bench_await(&b, "run.done", NULL, NULL, 60.0);
    assert_true(pons_get_num(done, "distance_m", 0.0) >= 3.25);
    bench_close(&b);
}

// What the nodes say as they go, for who streams it.
static void the_custom_stream_says_what_was_decided(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, NULL);
    b.stream = PONS_STREAM_CUSTOM;
    b.keep_running = false;
    bench_brain(&b);
    b.base_ms = 500;
    bench_goal_text(&b, "去厨房");
    const pons_value *said = bench_await(&b, "stream.custom", NULL, NULL, SOON);
    assert_non_null(said);
    bench_await(&b, "run.done", "status", "succeeded", 60.0);
    assert_true(bench_count(&b, "stream.custom", NULL, NULL) >= 4);
    bench_close(&b);
}

// Asked where it is, it says a place by the name that people have for it, and none that it is not sure of.
static void it_says_where_it_is(void **state)
{
    (void)state;
    static const struct {
        const char *asked, *says;
        bool astray;
    } rows[] = {
        {"where are you", "I am in living room, at (2.50, 2.50).", false},
        {"你在哪", "我在 客厅，坐标 (2.50, 2.50)。", false},
        {"where are you", "I am not sure where I am.", true},
        {"你在哪", "我不确定我在哪里。", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench b;
        begin(&b, NULL);
        b.astray = rows[i].astray;
        bench_run(&b, 0.5);
        bench_goal_text(&b, rows[i].asked);
        const pons_value *effect = bench_await(&b, "effect", "skill", "speak", SOON);
        assert_string_equal(pons_get_str(pons_get(effect, "args"), "text", ""), rows[i].says);
        bench_close(&b);
    }
}

// It comes back to where it knew that it was, and not to where it believed to be.
static void a_place_in_doubt_is_none_to_come_back_to(void **state)
{
    (void)state;
    static const char *const asked[] = {"come back", "go to the kitchen and come back"};
    for (size_t i = 0; i < 2; i++) {
        bench b;
        begin(&b, NULL);
        bench_goal_text(&b, "where are you");
        bench_await(&b, "task.done", "status", "succeeded", SOON);
        b.astray = true;
        bench_run(&b, 0.5);
        bench_goal_text(&b, "where are you");
        bench_await(&b, "task.done", "status", "succeeded", SOON);
        bench_goal_text(&b, asked[i]);
        const pons_value *done = bench_await(&b, "task.done", "status", "failed", SOON);
        assert_non_null(strstr(pons_get_str(done, "reason", ""), "nowhere to come back to"));
        assert_int_equal(bench_count(&b, "effect", "skill", "navigate_to_pose"), 0);
        bench_close(&b);
    }
}

// A robot that does not know where it is has reached nothing, wherever it believes to be: neither a
// goal is met nor a claim true, until the scans bear the place out.
static void a_place_in_doubt_reaches_no_goal(void **state)
{
    (void)state;
    bench b;
    begin(&b, "[{'decision':{'type':'FINISH','reason':'I stand in it'},'repeat':true}]");
    begin_anew(&b, "model", "decisions_max", json_integer(99));
    b.x = b.y = 7.5; // of the kitchen
    b.astray = true;
    bench_run(&b, 0.5);
    bench_goal_text(&b, "去厨房");
    assert_refused(&b, "a place that it does not know");
    assert_int_equal(bench_count(&b, "task.done", NULL, NULL), 0);
    b.astray = false;
    bench_await(&b, "task.done", "status", "succeeded", SOON);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_switches_between_tasks),
        cmocka_unit_test(what_leaves_a_task_starts_nothing),
        cmocka_unit_test(priorities_decide_what_may_be_switched_to),
        cmocka_unit_test(a_preempted_task_is_paused_and_the_reason_names_both),
        cmocka_unit_test(a_task_is_raised_and_another_cancelled),
        cmocka_unit_test(what_is_said_twice_is_one_task),
        cmocka_unit_test(a_place_in_doubt_is_none_to_come_back_to),
        cmocka_unit_test(a_task_ends_at_its_deadline),
        cmocka_unit_test(a_tasks_deadline_outlives_the_clock),
        cmocka_unit_test(words_answer_a_question),
        cmocka_unit_test(words_go_before_numbers),
        cmocka_unit_test(no_option_takes_a_stop_away),
        cmocka_unit_test(words_approve_no_operation),
        cmocka_unit_test(words_are_no_yes_to_go_on),
        cmocka_unit_test(words_to_operations),
        cmocka_unit_test(a_no_to_an_end_is_no_end),
        cmocka_unit_test(a_question_has_a_deadline),
        cmocka_unit_test(a_questions_deadline_outlives_the_clock),
        cmocka_unit_test(an_answer_behind_the_deadline_is_none),
        cmocka_unit_test(words_behind_the_deadline_are_of_their_time),
        cmocka_unit_test(a_call_in_vain_is_a_call),
        cmocka_unit_test(a_finish_that_nobody_can_check_says_so),
        cmocka_unit_test(claims_are_checked),
        cmocka_unit_test(a_claim_of_nothing_verifies_nothing),
        cmocka_unit_test(what_models_put_around_their_json_is_taken_off),
        cmocka_unit_test(two_decisions_are_none),
        cmocka_unit_test(a_goal_is_met_by_the_call_that_it_means),
        cmocka_unit_test(a_place_by_its_pose_is_gone_to),
        cmocka_unit_test(what_can_never_be_is_tried_once),
        cmocka_unit_test(a_question_says_what_was_in_the_way),
        cmocka_unit_test(a_cancel_of_nothing_is_answered),
        cmocka_unit_test(a_model_is_asked_on_events_not_by_the_clock),
        cmocka_unit_test(a_task_has_a_budget_of_calls),
        cmocka_unit_test(a_budget_counts_behind_the_rules),
        cmocka_unit_test(a_call_that_a_death_cut_short_is_paid_for),
        cmocka_unit_test(lives_that_end_while_a_model_thinks_are_few),
        cmocka_unit_test(what_is_taken_back_costs_its_tokens),
        cmocka_unit_test(a_count_of_tokens_without_end_ends_no_budget),
        cmocka_unit_test(no_limit_stays_none),
        cmocka_unit_test(a_bodys_death_forgets_no_metres),
        cmocka_unit_test(the_custom_stream_says_what_was_decided),
        cmocka_unit_test(it_says_where_it_is),
        cmocka_unit_test(a_place_in_doubt_reaches_no_goal),
    };
    pons_value_init();
    return cmocka_run_group_tests_name("decisions", tests, NULL, NULL);
}
