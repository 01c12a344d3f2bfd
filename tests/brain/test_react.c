// test_react.c - the inner loop: decisions that are refused, questions to people, models that
// answer badly, late or never, and bodies that say no.
//
// The model is the scripted one under the test's clock, the body is the test's (brain_bench.h).
#include "brain_bench.h"
#include "pons/graph.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define SOON 2.0
#define GO   "'ops':[{'op':'dispatch','skill':'navigate_to_pose','args':{'zone':'kitchen'}}]"
#define GOES "{'decision':{'type':'CONTINUE','reason':'go'," GO "}}"
// … and it wants to look in while the skill runs
#define LOOKS "{'decision':{'type':'CONTINUE','reason':'go','wake_s':5," GO "}}"

static void begin(bench *b, const char *script)
{
    bench_open(b, script);
    bench_brain(b);
    bench_run(b, 0.5);
}

static void begin_asking(bench *b)
{
    bench_open(b, NULL);
    json_object_set_new(json_object_get(b->config, "approval"), "skills",
                        json_pack("[s]", "navigate_to_pose"));
    bench_brain(b);
    bench_run(b, 0.5);
}

static bool says(const pons_value *v, const char *key, const char *part)
{
    return strstr(pons_get_str(v, key, ""), part) != NULL;
}

// ---- what a model may not do --------------------------------------------------------------------

static void finish_is_held_against_the_world(void **state)
{
    (void)state;
    bench b;
    begin(&b, "[{'decision':{'type':'FINISH','reason':'I say so'}}," GOES
              ",{'decision':{'type':'FINISH','reason':'now it is'}}]");
    bench_goal_text(&b, "去厨房");
    bench_await(&b, "decision", "type", "FINISH", SOON);
    const pons_value *refused = bench_await(&b, "guard.refused", "rule", "goal_met", SOON);
    assert_true(says(json_array_get(pons_get(refused, "rules"), 0), "message", "living_room"));
    pons_autovalue status = pons_brain_status(b.brain);
    assert_string_equal(pons_get_str(pons_get(status, "decision"), "type", ""), "REPLAN");
    assert_int_equal(bench_count(&b, "task.done", NULL, NULL), 0);
    bench_await(&b, "task.done", "status", "succeeded", 10.0);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 1);
    bench_close(&b);
}

static void what_ends_a_task_starts_nothing(void **state)
{
    (void)state;
    static const char *const types[] = {"FINISH", "ABORT"};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        char script[512];
        bench b;
        snprintf(script, sizeof script,
                 "[" GOES ",{'decision':{'type':'%s','reason':'over','ops':[{'op':'dispatch',"
                 "'skill':'dock_to_charger','args':{}}]}},"
                 "{'repeat':true,'decision':{'type':'%s','reason':'over','ops':[{'op':'speak',"
                 "'text':'there'}]}}]",
                 types[i], types[i]);
        begin(&b, script);
        bench_goal_text(&b, "去厨房");
        const pons_value *refused = bench_await(&b, "guard.refused", "rule", "ends", 10.0);
        assert_true(
            says(json_array_get(pons_get(refused, "rules"), 0), "message", "dock_to_charger"));
        bench_await(&b, "task.done", NULL, NULL, 10.0);
        assert_int_equal(bench_starts(&b, "dock_to_charger"), 0);
        assert_int_equal(bench_starts(&b, "speak"), 1);
        bench_close(&b);
    }
}

static void a_bad_answer_goes_back_once(void **state)
{
    (void)state;
    static const struct {
        const char *bad, *complaint;
    } rows[] = {
        {"{'decision':{'type':'CONTINUE','reason':'up','ops':[{'op':'dispatch','skill':'fly',"
         "'args':{}}]}}",
         "unknown skill fly"},
        {"{'content':'I would go to the kitchen.'}", "not one JSON object"},
        {"{'decision':{'type':'PANIC','reason':'oh'}}", "/type"},
        {"{'decision':{'type':'CONTINUE'}}", "reason"},
        {"{'content':'{\\'type\\':\\'CONTINUE\\',\\'reason\\':\\'cut'}", "not one JSON object"},
        {"{'content':'<think>Perhaps {\\'type\\':\\'FINISH\\',\\'reason\\':\\'x\\'}, or'}",
         "a thought without end"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char script[1024];
        bench once, twice;
        snprintf(script, sizeof script,
                 "[%s," GOES ",{'repeat':true,'decision':{'type':'FINISH','reason':'there'}}]",
                 rows[i].bad);
        begin(&once, script);
        bench_goal_text(&once, "去厨房");
        const pons_value *d = bench_await(&once, "decision", NULL, NULL, SOON);
        assert_string_equal(pons_get_str(d, "source", ""), "llm");
        assert_null(pons_get(d, "fallback"));
        assert_int_equal(once.llm_starts, 2);
        bench_await(&once, "task.done", "status", "succeeded", 10.0);
        bench_close(&once);

        snprintf(script, sizeof script,
                 "[%s,%s,{'repeat':true,'decision':{'type':'FINISH','reason':'there'}}]",
                 rows[i].bad, rows[i].bad);
        begin(&twice, script);
        bench_goal_text(&twice, "去厨房");
        d = bench_await(&twice, "decision", NULL, NULL, SOON);
        assert_string_equal(pons_get_str(d, "source", ""), "rule_engine");
        if (!says(d, "fallback", rows[i].complaint) || !says(d, "fallback", "2 times")) {
            fail_msg("row %zu: “%s”", i, pons_get_str(d, "fallback", ""));
        }
        bench_await(&twice, "task.done", "status", "succeeded", 10.0);
        assert_int_equal(bench_starts(&twice, "navigate_to_pose"), 1);
        bench_close(&twice);
    }
}

// Small damage is repaired as a plan's is, and the model is not asked again.
static void a_damaged_answer_is_read(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "I go.\\n```json\\n{\\'type\\': \\'CONTINUE\\', \\'reason\\': \\'so\\',}\\n```",
        "{type: \\'CONTINUE\\', reason: \\'so\\' // why\\n}",
        "<think>{\\'type\\': \\'ABORT\\'</think>{\\'type\\': \\'CONTINUE\\' \\'reason\\': "
        "\\'so\\'}",
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char script[512];
        bench b;
        snprintf(script, sizeof script,
                 "[{'content':'%s'},{'repeat':true,'decision':{'type':'FINISH','reason':'x'}}]",
                 rows[i]);
        begin(&b, script);
        bench_goal_text(&b, "去厨房");
        const pons_value *d = bench_await(&b, "decision", NULL, NULL, SOON);
        const char *type = pons_get_str(pons_get(d, "decision"), "type", "");
        if (strcmp(type, "CONTINUE") != 0) { // not the one that the second answer would be
            fail_msg("row %zu: “%s” %s", i, type, pons_get_str(d, "fallback", ""));
        }
        bench_close(&b);
    }
}

static void a_lost_model_is_tried_again_later(void **state)
{
    (void)state;
    bench b;
    begin(&b, "[{'error':{'status':503,'message':'overloaded'}},"
              "{'repeat':true,'decision':{'type':'CONTINUE','reason':'fine'}}]");
    b.base_ms = 60000;
    bench_goal_text(&b, "去厨房");
    const pons_value *d = bench_await(&b, "decision", NULL, NULL, SOON);
    assert_string_equal(pons_get_str(d, "source", ""), "rule_engine");
    assert_true(says(d, "fallback", "overloaded"));
    bench_run(&b, 18.0); // config: retry_s 20; a decision at each look, 5 s apart
    assert_int_equal(b.llm_starts, 1);
    assert_true(bench_count(&b, "decision", "source", "rule_engine") >= 3);
    d = bench_await(&b, "decision", "source", "llm", 12.0);
    assert_null(pons_get(d, "fallback"));
    bench_close(&b);
}

// The twenty seconds are no day, whatever becomes of the clock.
static void a_lost_model_is_tried_again_by_a_clock_that_went_back(void **state)
{
    (void)state;
    bench b;
    begin(&b, "[{'error':{'status':503,'message':'overloaded'}},"
              "{'repeat':true,'decision':{'type':'CONTINUE','reason':'fine'}}]");
    b.base_ms = 60000;
    bench_goal_text(&b, "去厨房");
    bench_await(&b, "decision", "source", "rule_engine", SOON);
    b.time.wall_epoch_ms -= 86400000;
    bench_await(&b, "decision", "source", "llm", 30.0);
    bench_close(&b);
}

static void tokens_are_shown_as_they_come(void **state)
{
    (void)state;
    bench b;
    begin(&b, "[{'delay_ms':1000,'tokens':5,'decision':{'type':'CONTINUE','reason':'go'," GO "}}]");
    bench_goal_text(&b, "去厨房");
    bench_await(&b, "token", NULL, NULL, SOON);
    assert_int_equal(bench_count(&b, "decision", NULL, NULL), 0);
    bench_await(&b, "decision", "source", "llm", SOON);
    assert_int_equal(bench_count(&b, "token", NULL, NULL), 5);
    bench_close(&b);
}

// Who alone understands the task has worked on it and is gone: a person says whether to wait for it. A yes
// asks it again at once, though it is lost again; a no is the end.
static void a_task_that_only_the_lost_model_understands(void **state)
{
    (void)state;
    bench b;
    begin(&b, "[{'decision':{'type':'CONTINUE','reason':'to the plants'," GO "}},"
              "{'error':{'status':503,'message':'overloaded'}},"
              "{'error':{'status':503,'message':'still so'}},"
              "{'decision':{'type':'CONTINUE','reason':'and on'," GO "}},"
              "{'repeat':true,'error':{'status':503,'message':'gone'}}]");
    b.base_ms = 200;
    bench_goal_text(&b, "water the plants");
    static const char *const why[] = {"overloaded", "still so", "gone"};
    for (int i = 0; i < 3; i++) {
        const pons_value *asked = bench_await(&b, "approval.requested", NULL, NULL, SOON);
        assert_true(says(asked, "question", why[i]));
        assert_true(says(asked, "question", "shall I go on?"));
        const int starts = b.llm_starts;
        bench_run(&b, 60.0); // nobody answers: nobody is asked, and nothing ends
        assert_int_equal(b.llm_starts, starts);
        assert_int_equal(bench_count(&b, "task.done", NULL, NULL), 0);
        bench_post(&b, "answer", i < 2 ? "{'action':'approve'}" : "{'action':'reject'}");
    }
    bench_await(&b, "task.done", "status", "aborted", SOON);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 2);
    bench_close(&b);
}

// The rules do what the model has made of the task; that it is done is not what the person said.
static void the_models_goals_are_done_and_it_is_lost(void **state)
{
    (void)state;
    bench b;
    begin(&b, "[{'decision':{'type':'REPLAN','reason':'to the plants','plan_patch':{'goals':"
              "[{'intent':'go_to','zone':'kitchen'}]}," GO "}},"
              "{'repeat':true,'error':{'status':503,'message':'overloaded'}}]");
    b.base_ms = 200;
    bench_goal_text(&b, "water the plants");
    const pons_value *asked = bench_await(&b, "approval.requested", NULL, NULL, 30.0);
    assert_true(says(asked, "question", "overloaded"));
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 1);
    bench_post(&b, "answer", "{'action':'reject'}");
    bench_await(&b, "task.done", "status", "aborted", SOON);
    bench_close(&b);
}

// The next life of the brain has no model at all: it has worked on the task, so a person is asked, and nothing ends.
static void a_model_that_can_be_opened_no_more(void **state)
{
    (void)state;
    bench b;
    begin(&b, "[{'decision':{'type':'CONTINUE','reason':'to the plants'," GO "}}]");
    b.base_ms = 2000;
    bench_goal_text(&b, "water the plants");
    bench_await(&b, "effect", "state", "accepted", SOON);
    bench_kill(&b);
    b.llm.ops->close(b.llm.self);
    b.llm = (pons_llm){0};
    bench_brain(&b);
    const pons_value *asked = bench_await(&b, "approval.requested", NULL, NULL, 30.0);
    assert_true(says(asked, "question", "no model answers"));
    bench_run(&b, 60.0);
    assert_int_equal(bench_count(&b, "task.done", NULL, NULL), 0);
    bench_post(&b, "answer", "{'action':'reject'}");
    bench_await(&b, "task.done", "status", "aborted", SOON);
    bench_close(&b);
}

// A model that never said a word leaves nothing to go on with.
static void a_model_that_was_never_there(void **state)
{
    (void)state;
    bench b;
    begin(&b, "[{'repeat':true,'error':{'status':503,'message':'overloaded'}}]");
    bench_goal_text(&b, "water the plants");
    bench_await(&b, "task.done", "status", "aborted", SOON);
    assert_int_equal(b.llm_starts, 1);
    bench_close(&b);
}

// A task that the rules do not understand either: nobody but a person is left.
static void twenty_idle_decisions_ask_a_person(void **state)
{
    (void)state;
    bench b;
    begin(&b, "[{'repeat':true,'decision':{'type':'CONTINUE','reason':'thinking'}}]");
    bench_goal_text(&b, "water the plants");
    const pons_value *asked = bench_await(&b, "approval.requested", NULL, NULL, 30.0);
    assert_true(says(asked, "question", "20 decisions without progress"));
    assert_int_equal(bench_count(&b, "decision", "source", "llm"), 20);
    assert_int_equal(bench_count(&b, "decision", "source", "ladder"), 1);
    // A yes is for as many again, a no is the end.
    bench_post(&b, "answer", "{'action':'approve'}");
    bench_await(&b, "approval.requested", NULL, NULL, 30.0);
    assert_int_equal(bench_count(&b, "decision", "source", "llm"), 40);
    bench_post(&b, "answer", "{'action':'reject'}");
    const pons_value *done = bench_await(&b, "task.done", "status", "aborted", 30.0);
    assert_true(says(done, "reason", "40 decisions without progress"));
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 0);
    bench_close(&b);
}

// Where the rules understand the goal they take over from a model that leads nowhere, and say so.
static void the_rules_take_over_from_a_foolish_model(void **state)
{
    (void)state;
    bench b;
    begin(&b, "[{'repeat':true,'decision':{'type':'CONTINUE','reason':'thinking'}}]");
    json_object_set_new(json_object_get(b.config, "model"), "decisions_max", json_integer(5));
    bench_kill(&b);
    bench_brain(&b);
    bench_run(&b, 0.5);
    bench_goal_text(&b, "去厨房");
    const pons_value *d = bench_await(&b, "decision", "source", "rule_engine", 30.0);
    assert_true(says(d, "fallback", "led nowhere: the rules decide"));
    bench_await(&b, "task.done", "status", "succeeded", 60.0);
    assert_int_equal(bench_count(&b, "decision", "source", "llm"), 5);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 1);
    bench_close(&b);
}

// The last words are said to the end, each of them, before the task is over.
static void all_last_words_are_said(void **state)
{
    (void)state;
    bench b;
    begin(&b,
          "[{'repeat':true,'decision':{'type':'ABORT','reason':'over','ops':[{'op':'speak','text'"
          ":'one'},{'op':'dispatch','skill':'speak','args':{'text':'two','ms':3000}}]}}]");
    bench_goal_text(&b, "water the plants");
    bench_await(&b, "task.done", "status", "aborted", 10.0);
    assert_int_equal(bench_starts(&b, "speak"), 2);
    assert_int_equal(bench_count(&b, "effect", "state", "done"), 2);
    bench_close(&b);
}

static void a_model_may_abort_and_speak(void **state)
{
    (void)state;
    bench b;
    begin(&b, "[{'decision':{'type':'CONTINUE','reason':'tell','ops':[{'op':'speak','text':'no "
              "way'}]}},{'decision':{'type':'ABORT','reason':'the door is shut'}}]");
    bench_goal_text(&b, "去厨房");
    const pons_value *done = bench_await(&b, "task.done", "status", "aborted", 10.0);
    assert_string_equal(pons_get_str(done, "reason", ""), "the door is shut");
    assert_int_equal(bench_starts(&b, "speak"), 1);
    assert_string_equal(pons_get_str(bench_newest(&b, "speak")->args, "text", ""), "no way");
    bench_close(&b);
}

// ---- a mode changes meanwhile -------------------------------------------------------------------

static void a_mode_change_aborts_a_thinking_model(void **state)
{
    (void)state;
    bench b;
    begin(&b, "[" LOOKS ",{'delay_ms':60000,'decision':{'type':'CONTINUE','reason':'late'}}]");
    b.base_ms = BENCH_NEVER;
    bench_goal_text(&b, "去厨房");
    bench_await(&b, "effect", "state", "accepted", SOON);
    for (int i = 0; i < 500 && b.llm_starts < 2; i++) {
        bench_run(&b, 0.02); // to the next look at the running skill
    }
    assert_int_equal(b.llm_starts, 2);
    assert_int_equal(b.llm_cancels, 0);
    b.risk = true;
    bench_await(&b, "mode", "mode", "SAFE", SOON);
    bench_await(&b, "decision", "type", "SWITCH_TASK", SOON);
    bench_run(&b, SOON);
    assert_int_equal(b.llm_cancels, 1);
    assert_int_equal(b.llm_starts, 2); // the kernel's decision asks no model
    assert_string_equal(bench_newest(&b, "navigate_to_pose")->state, "canceled");
    assert_int_equal(bench_starts(&b, "stop_base"), 1);
    bench_close(&b);
}

static void a_word_aborts_a_thinking_model(void **state)
{
    (void)state;
    bench b;
    begin(&b, "[{'delay_ms':60000,'decision':{'type':'CONTINUE','reason':'late'," GO "}}]");
    bench_goal_text(&b, "去厨房");
    bench_run(&b, SOON);
    assert_int_equal(b.llm_starts, 1);
    bench_say(&b, "取消");
    bench_await(&b, "task.done", "status", "cancelled", SOON);
    bench_run(&b, 70.0);
    assert_int_equal(b.llm_cancels, 1);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 0);
    bench_close(&b);
}

// ---- people -------------------------------------------------------------------------------------

static void approve_lets_it_go(void **state)
{
    (void)state;
    bench b;
    begin_asking(&b);
    bench_goal_text(&b, "去厨房");
    const pons_value *asked = bench_await(&b, "approval.requested", NULL, NULL, SOON);
    const pons_value *op = json_array_get(pons_get(asked, "ops"), 0);
    assert_string_equal(pons_get_str(op, "skill", ""), "navigate_to_pose");
    assert_string_equal(pons_get_str(pons_get(op, "args"), "zone", ""), "kitchen");
    bench_run(&b, 30.0);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 0);
    bench_post(&b, "answer", "{'action':'approve'}");
    bench_await(&b, "approval.resolved", "action", "approve", SOON);
    bench_await(&b, "task.done", "status", "succeeded", 10.0);
    assert_int_equal(bench_count(&b, "approval.requested", NULL, NULL), 1);
    bench_close(&b);
}

static void a_rejection_ends_the_task(void **state)
{
    (void)state;
    bench b;
    begin_asking(&b);
    bench_goal_text(&b, "去厨房");
    bench_await(&b, "approval.requested", NULL, NULL, SOON);
    bench_post(&b, "answer", "{'action':'reject','reason':'the floor is wet'}");
    const pons_value *resolved = bench_await(&b, "approval.resolved", "action", "reject", SOON);
    assert_string_equal(pons_get_str(resolved, "reason", ""), "the floor is wet");
    bench_await(&b, "task.done", "status", "aborted", 10.0);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 0);
    bench_close(&b);
}

static void a_question_gives_way_to_the_kernel(void **state)
{
    (void)state;
    bench b;
    begin_asking(&b);
    bench_goal_text(&b, "去厨房");
    bench_await(&b, "approval.requested", NULL, NULL, SOON);
    b.latched = true;
    b.stop_reason = "test";
    bench_await(&b, "mode", "mode", "SAFE", SOON);
    bench_await(&b, "approval.resolved", "action", "reject", SOON);
    bench_run(&b, SOON);
    bench_post(&b, "answer", "{'action':'approve'}"); // too late for that question
    b.latched = false;
    bench_await(&b, "mode", "mode", "IDLE", SOON);
    bench_say(&b, "continue");
    bench_await(&b, "approval.requested", NULL, NULL, 10.0);
    bench_run(&b, 10.0);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 0);
    bench_close(&b);
}

// ---- bodies -------------------------------------------------------------------------------------

static void a_refused_goal_is_tried_again_at_a_pace(void **state)
{
    (void)state;
    bench b;
    begin(&b, NULL);
    b.reject = "busy";
    bench_goal_text(&b, "去厨房");
    bench_run(&b, 5.0);
    const int tries = bench_sent(&b, "goal", NULL, NULL);
    assert_in_range(tries, 1, 11); // half a second apart at the least
    b.reject = NULL;
    bench_await(&b, "task.done", "status", "succeeded", 20.0);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 1);
    bench_close(&b);
}

static void no_progress_is_cancelled_and_planned_anew(void **state)
{
    (void)state;
    bench b;
    begin(&b, NULL);
    b.base_ms = BENCH_NEVER;
    b.stuck = true;
    bench_goal_text(&b, "去厨房");
    bench_await(&b, "effect", "state", "accepted", SOON);
    bench_run(&b, 55.0); // config: no_progress_s 60
    assert_int_equal(bench_sent(&b, "cancel", NULL, NULL), 0);
    bench_await(&b, "decision", "type", "REPLAN", 10.0);
    bench_await(&b, "effect", "state", "canceled", SOON);
    assert_int_equal(bench_sent(&b, "cancel", NULL, NULL), 1);
    b.stuck = false;
    b.base_ms = 1000;
    bench_await(&b, "task.done", "status", "succeeded", 30.0);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 2);
    bench_close(&b);
}

static void progress_is_not_disturbed(void **state)
{
    (void)state;
    bench b;
    begin(&b, NULL);
    b.base_ms = 60000;
    bench_goal_text(&b, "去厨房");
    bench_await(&b, "task.done", "status", "succeeded", 90.0);
    assert_int_equal(bench_count(&b, "decision", "type", "REPLAN"), 0);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 1);
    assert_in_range(bench_count(&b, "decision", "type", "CONTINUE"), 11, 15); // a look each 5 s
    int measured = 0;
    size_t i;
    json_t *event;
    json_array_foreach(b.events, i, event) {
        const pons_value *seen = pons_get(pons_get(event, "payload"), "observation");
        const pons_value *runs = json_array_get(pons_get(seen, "running"), 0);
        measured += pons_get_num(runs, "distance_remaining_m", 0.0) > 0.0;
        assert_true(!seen || pons_get_num(pons_get(seen, "limits"), "charged_pct", 0.0) >= 80.0);
    }
    assert_true(measured >= 11); // whoever decides is told how far it still is
    bench_close(&b);
}

static void failures_follow_their_map_and_end_with_a_person(void **state)
{
    (void)state;
    static const struct {
        int code;
        const char *first; // decision after the first failure
    } rows[] = {{105, "RETRY"}, {106, "REPLAN"}, {203, "ABORT"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench b;
        begin(&b, NULL);
        b.base_ms = 200;
        b.fail_code = rows[i].code;
        bench_goal_text(&b, "去厨房");
        bench_await(&b, "effect", "state", "failed", SOON);
        const pons_value *d = bench_await(&b, "decision", NULL, NULL, SOON);
        assert_string_equal(pons_get_str(pons_get(d, "decision"), "type", ""), rows[i].first);
        if (strcmp(rows[i].first, "ABORT") == 0) {
            bench_await(&b, "task.done", "status", "aborted", SOON);
        } else { // config: failures_max 3
            bench_await(&b, "decision", "type", "ASK_HUMAN", 30.0);
            assert_int_equal(bench_starts(&b, "navigate_to_pose"), 3);
            pons_autovalue status = pons_brain_status(b.brain);
            const pons_value *failure = pons_get(status, "last_failure");
            assert_int_equal(pons_get_int(failure, "error_code", 0), rows[i].code);
        }
        bench_close(&b);
    }
}

static void several_goals_in_one_sentence_are_done_in_order(void **state)
{
    (void)state;
    bench b;
    begin(&b, NULL);
    bench_goal_text(&b, "先去厨房，再去卧室");
    bench_await(&b, "task.done", "status", "succeeded", 20.0);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 2);
    assert_string_equal(pons_get_str(b.goals[0].args, "zone", ""), "kitchen");
    assert_string_equal(pons_get_str(b.goals[1].args, "zone", ""), "bedroom");
    bench_close(&b);
}

// Words beside a way that fails at once: both ends are told, and the failure is the one that is decided from.
static void no_end_of_a_step_hides_another(void **state)
{
    (void)state;
    bench b;
    begin(
        &b,
        "[{'decision':{'type':'CONTINUE','reason':'go','ops':[{'op':'dispatch','skill':"
        "'navigate_to_pose','args':{'zone':'kitchen'},'goal_index':0},{'op':'speak','text':'on my "
        "way'}]}},{'repeat':true,'decision':{'type':'CONTINUE','reason':'hm','wake_s':2}}]");
    b.base_ms = 120; // and words take 100, from one step later: both end in one
    b.fail_code = 106;
    bench_goal_text(&b, "去厨房");
    bench_await(&b, "effect", "state", "failed", 10.0);
    const pons_value *seen =
        pons_get(bench_await(&b, "observation", NULL, NULL, 10.0), "observation");
    const pons_value *last = pons_get(seen, "last_result"), *all = pons_get(seen, "results");
    assert_true(says(last, "skill", "navigate_to_pose"));
    assert_true(says(last, "status", "failed"));
    assert_int_equal(pons_get_int(last, "error_code", 0), 106);
    assert_int_equal(json_array_size(all), 2);
    bool spoke = false;
    for (size_t i = 0; i < 2; i++) {
        const pons_value *one = json_array_get(all, i);
        spoke = spoke || (says(one, "skill", "speak") && says(one, "status", "done"));
    }
    assert_true(spoke);
    bench_close(&b);
}

// The channel `trace`: the newest entries, and what all of them add up to.
static void the_state_says_what_was_done(void **state)
{
    (void)state;
    bench b;
    begin(&b, NULL);
    b.base_ms = 2000;
    b.fail_code = 105;
    bench_goal_text(&b, "去厨房");
    bench_await(&b, "decision", "type", "ASK_HUMAN", 60.0);
    pons_autovalue inner = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_true(pons_state_read(b.store, "t1", "react", &inner, &err) >= 0);
    const pons_value *trace = pons_get(inner, "trace"), *sums = pons_get(trace, "metrics");
    assert_in_range(json_array_size(pons_get(trace, "log")), 10, 20);
    assert_int_equal(pons_get_int(sums, "decisions", 0), bench_count(&b, "decision", NULL, NULL));
    assert_int_equal(pons_get_int(sums, "replans", 0),
                     bench_count(&b, "decision", "type", "REPLAN") +
                         bench_count(&b, "decision", "type", "RETRY"));
    assert_int_equal(pons_get_int(sums, "failed", 0), bench_count(&b, "effect", "state", "failed"));
    assert_int_equal(pons_get_int(sums, "failed", 0), 3);
    assert_true(pons_get_int(sums, "ended", 0) > 3); // it has waited, or looked, between them
    assert_true(pons_get_int(sums, "skill_ms", 0) >= 3 * 2000);
    // An end is told with the time at which it came, not with that at which it was waited for.
    int64_t sent_ms = 0, ends = 0;
    size_t i;
    json_t *entry;
    json_array_foreach(pons_get(trace, "log"), i, entry) {
        const int64_t ts_ms = pons_get_int(entry, "ts_ms", 0);
        sent_ms = pons_get(entry, "dispatched") ? ts_ms : sent_ms;
        if (pons_get(entry, "status") && sent_ms) {
            assert_true(ts_ms - sent_ms >= pons_get_int(entry, "took_ms", 0) / 2);
            ends++;
        }
    }
    assert_true(ends >= 3);
    pons_autovalue kernel = NULL;
    assert_true(pons_state_read(b.store, "t1", "kernel", &kernel, &err) >= 0);
    trace = pons_get(kernel, "trace");
    assert_int_equal(pons_get_int(pons_get(trace, "metrics"), "arbitrations", 0), 1);
    const pons_value *first = json_array_get(pons_get(trace, "log"), 0);
    assert_true(says(first, "arbitration", "IDLE → EXEC: "));
    bench_close(&b);
}

static void a_good_end_says_bye(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, NULL);
    b.keep_running = false;
    bench_brain(&b);
    bench_goal_text(&b, "去厨房");
    const pons_value *done = bench_await(&b, "run.done", "status", "succeeded", 10.0);
    assert_true(pons_get_num(done, "battery_pct", -1.0) >= 0.0);
    pons_brain_close(b.brain);
    b.brain = NULL;
    bench_run(&b, 0.1);
    assert_true(b.bye);
    assert_true(b.bye_stop);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finish_is_held_against_the_world),
        cmocka_unit_test(what_ends_a_task_starts_nothing),
        cmocka_unit_test(a_bad_answer_goes_back_once),
        cmocka_unit_test(a_damaged_answer_is_read),
        cmocka_unit_test(a_lost_model_is_tried_again_later),
        cmocka_unit_test(a_lost_model_is_tried_again_by_a_clock_that_went_back),
        cmocka_unit_test(tokens_are_shown_as_they_come),
        cmocka_unit_test(a_task_that_only_the_lost_model_understands),
        cmocka_unit_test(the_models_goals_are_done_and_it_is_lost),
        cmocka_unit_test(a_model_that_can_be_opened_no_more),
        cmocka_unit_test(a_model_that_was_never_there),
        cmocka_unit_test(twenty_idle_decisions_ask_a_person),
        cmocka_unit_test(the_rules_take_over_from_a_foolish_model),
        cmocka_unit_test(a_model_may_abort_and_speak),
        cmocka_unit_test(all_last_words_are_said),
        cmocka_unit_test(a_mode_change_aborts_a_thinking_model),
        cmocka_unit_test(a_word_aborts_a_thinking_model),
        cmocka_unit_test(approve_lets_it_go),
        cmocka_unit_test(a_rejection_ends_the_task),
        cmocka_unit_test(a_question_gives_way_to_the_kernel),
        cmocka_unit_test(a_refused_goal_is_tried_again_at_a_pace),
        cmocka_unit_test(no_progress_is_cancelled_and_planned_anew),
        cmocka_unit_test(progress_is_not_disturbed),
        cmocka_unit_test(failures_follow_their_map_and_end_with_a_person),
        cmocka_unit_test(several_goals_in_one_sentence_are_done_in_order),
        cmocka_unit_test(no_end_of_a_step_hides_another),
        cmocka_unit_test(the_state_says_what_was_done),
        cmocka_unit_test(a_good_end_says_bye),
    };
    pons_value_init();
    return cmocka_run_group_tests_name("react", tests, NULL, NULL);
}
