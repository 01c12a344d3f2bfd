// test_plans.c - a task that is a plan: each kind of step, each way it may end, through the same
// critic, approvals and effect ledger as everything else.
//
// What is read are the events plan.created, plan.step, plan.result and plan.status, what the body
// was asked to do, and how the task ended. One test kills the brain at every commit of a plan's
// life, before it and after it: whatever the commit, the body starts each step once.
#include "brain_bench.h"
#include "pons/plan.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SOON 5.0
#define LONG 60.0

// JSON with ' for ", a plan without its id, goal and time.
static void add_plan(bench *b, const char *steps, const char *more)
{
    char text[4096];
    pons_error err = PONS_ERROR_INIT;
    pons_plan *plan = NULL;
    snprintf(text, sizeof text, "{'plan_id':'plan_1','goal':'look after the house','steps':[%s]%s}",
             steps, more);
    for (char *p = text; *p; p++) {
        *p = *p == '\'' ? '"' : *p;
    }
    pons_value *v = NULL;
    if (pons_value_parse(text, strlen(text), &v, &err) < 0 ||
        pons_plan_from_value(v, 0, &plan, &err) < 0 ||
        pons_brain_add_plan(b->brain, plan, &err) < 0) {
        fail_msg("%s: %s", text, err.message);
    }
    pons_value_unref(v);
    pons_plan_destroy(plan);
}

static void begin(bench *b, const char *steps, const char *more)
{
    bench_open(b, NULL);
    bench_brain(b);
    add_plan(b, steps, more);
}

// Every status of the steps, in the order of the events: "1 running 1 success 2 running …".
static void expect_steps(const bench *b, const char *expected)
{
    char said[2048] = "";
    size_t i, used = 0;
    json_t *ev;
    json_array_foreach(b->events, i, ev) {
        const pons_value *p = pons_get(ev, "payload");
        if (strcmp(pons_get_str(ev, "type", ""), "plan.step") == 0 && used < sizeof said) {
            used += (size_t)snprintf(said + used, sizeof said - used, "%s%lld %s", used ? " " : "",
                                     (long long)pons_get_int(p, "step_id", -1),
                                     pons_get_str(p, "status", ""));
        }
    }
    assert_string_equal(said, expected);
}

static const pons_value *result_of(bench *b, int64_t step_id)
{
    const pons_value *found = NULL;
    size_t i;
    json_t *ev;
    json_array_foreach(b->events, i, ev) {
        const pons_value *p = pons_get(ev, "payload");
        if (strcmp(pons_get_str(ev, "type", ""), "plan.result") == 0 &&
            pons_get_int(p, "step_id", -1) == step_id) {
            found = p;
        }
    }
    assert_non_null(found);
    return found;
}

static void expect_end(bench *b, const char *status, const char *reason)
{
    const pons_value *done = bench_await(b, "task.done", NULL, NULL, LONG);
    assert_string_equal(pons_get_str(done, "status", ""), status);
    if (!strstr(pons_get_str(done, "reason", ""), reason)) {
        fail_msg("“%s” does not say “%s”", pons_get_str(done, "reason", ""), reason);
    }
}

#define QUERY                                                                                      \
    "{'step_id':1,'action':'q','tool_call_type':'query_world','parameters':{'query':"              \
    "'robot.zone'}},"
#define SPEAK "{'step_id':2,'action':'say','tool_call_type':'speak','parameters':{'text':'I go'}},"
#define DRIVE                                                                                      \
    "{'step_id':3,'action':'navigate_to_pose','parameters':{'zone':'kitchen'},'preconditions':{"   \
    "'battery_pct_above':20}}"
#define WAIT ",{'step_id':4,'action':'wait','parameters':{'s':1}}"
#define NOOP ",{'step_id':5,'action':'n','tool_call_type':'noop'}"

static void each_kind_of_step_runs(void **state)
{
    (void)state;
    bench b;
    begin(&b, QUERY SPEAK DRIVE WAIT NOOP, "");
    const pons_value *created = bench_await(&b, "plan.created", NULL, NULL, SOON);
    assert_string_equal(pons_get_str(created, "kind", ""), "given");
    expect_end(&b, "succeeded", "plan plan_1 is completed");
    expect_steps(&b, "1 running 1 success 2 running 2 success 3 running 3 success 4 running 4 "
                     "success 5 running 5 success");
    assert_string_equal(pons_get_str(pons_get(result_of(&b, 1), "output"), "robot.zone", ""),
                        "living_room");
    assert_int_equal(bench_starts(&b, "speak"), 1);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 1);
    assert_int_equal(bench_starts(&b, "wait"), 1);
    assert_string_equal(pons_get_str(bench_newest(&b, "navigate_to_pose")->args, "zone", ""),
                        "kitchen");
    assert_true(bench_count(&b, "decision", "source", "plan") > 0);
    assert_int_equal(bench_count(&b, "decision", "source", "rule_engine"), 0);
    pons_autovalue status = pons_brain_status(b.brain);
    assert_string_equal(pons_get_str(pons_get(status, "plan"), "status", ""), "completed");
    bench_close(&b);
}

// The robot's channel is what a step may ask for, as the body tells it.
static void a_step_may_ask_how_it_moves(void **state)
{
    (void)state;
    bench b;
    begin(&b,
          "{'step_id':1,'action':'q','tool_call_type':'query_world','parameters':{'query':"
          "'robot.twist'}}",
          "");
    expect_end(&b, "succeeded", "plan plan_1 is completed");
    const pons_value *twist = pons_get(pons_get(result_of(&b, 1), "output"), "robot.twist");
    assert_true(json_is_number(pons_get(twist, "v")) && json_is_number(pons_get(twist, "w")));
    bench_close(&b);
}

static void a_precondition_is_checked_before_the_step(void **state)
{
    (void)state;
    bench b;
    begin(&b,
          SPEAK "{'step_id':3,'action':'navigate_to_pose','parameters':{'zone':'kitchen'},"
                "'preconditions':{'battery_pct_above':95}}" WAIT,
          "");
    expect_end(&b, "failed", "precondition battery_pct_above: battery_pct is 90.0, not above 95");
    expect_steps(&b, "2 running 2 success 3 running 3 failed 4 skipped");
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 0);
    bench_close(&b);
}

static void what_the_critic_refuses_fails_with_every_rule(void **state)
{
    (void)state;
    bench b;
    begin(&b,
          "{'step_id':1,'action':'navigate_to_pose','parameters':{'zone':'attic','pose':{'x':"
          "99,'y':1}}}" WAIT,
          "");
    const pons_value *refused = bench_await(&b, "guard.refused", NULL, NULL, SOON);
    assert_int_equal(json_array_size(pons_get(refused, "rules")), 2);
    expect_end(&b, "failed", "unknown zone attic; target [99.00, 1.00] is outside the map");
    expect_steps(&b, "1 running 1 failed 4 skipped");
    assert_int_equal(bench_sent(&b, "goal", NULL, NULL), 0);
    bench_close(&b);
}

static void an_unknown_skill_fails_the_step(void **state)
{
    (void)state;
    bench b;
    begin(&b, "{'step_id':1,'action':'fly'}", "");
    expect_end(&b, "failed", "no skill fly on this robot");
    bench_close(&b);
}

static void a_person_confirms(void **state)
{
    (void)state;
    static const struct {
        const char *more_of_plan, *more_of_step, *answer, *status, *steps;
        int drives;
    } rows[] = {
        {"", ",'requires_confirmation':true,'confirmation_message':'Shall I?'",
         "{\"action\":\"approve\"}", "succeeded", "3 wait_confirmation 3 running 3 success", 1},
        {"", ",'requires_confirmation':true,'confirmation_message':'Shall I?'",
         "{\"action\":\"reject\",\"reason\":\"late\"}", "cancelled",
         "3 wait_confirmation 3 skipped", 0},
        {",'requires_confirmation':true,'confirmation_message':'Shall I?'", "",
         "{\"action\":\"approve\"}", "succeeded", "3 running 3 success", 1},
        {",'requires_confirmation':true,'confirmation_message':'Shall I?'", "",
         "{\"action\":\"reject\"}", "cancelled", "3 skipped", 0},
        {"", ",'requires_confirmation':true,'confirmation_message':'Shall I?'",
         "{\"action\":\"approve\",\"answer\":\"no\"}", "cancelled", "3 wait_confirmation 3 skipped",
         0},
        {",'requires_confirmation':true,'confirmation_message':'Shall I?'", "",
         "{\"action\":\"approve\",\"answer\":\"不要\"}", "cancelled", "3 skipped", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench b;
        char steps[512];
        snprintf(steps, sizeof steps,
                 "{'step_id':3,'action':'navigate_to_pose','parameters':{'zone':'kitchen'}%s}",
                 rows[i].more_of_step);
        begin(&b, steps, rows[i].more_of_plan);
        const pons_value *asked = bench_await(&b, "approval.requested", NULL, NULL, SOON);
        assert_string_equal(pons_get_str(asked, "question", ""), "Shall I?");
        bench_run(&b, 2.0);
        assert_int_equal(bench_starts(&b, "navigate_to_pose"), 0);
        // The question survives the brain.
        bench_kill(&b);
        bench_brain(&b);
        bench_run(&b, 1.0);
        bench_post(&b, "answer", rows[i].answer);
        expect_end(&b, rows[i].status, "plan plan_1 is");
        expect_steps(&b, rows[i].steps);
        assert_int_equal(bench_starts(&b, "navigate_to_pose"), rows[i].drives);
        assert_int_equal(bench_count(&b, "approval.requested", NULL, NULL), 1);
        bench_close(&b);
    }
}

// A plan that waits for a person's word is put aside while another task runs, and goes on at that step.
static void a_plan_that_asks_lets_others_run(void **state)
{
    (void)state;
    for (int yes = 0; yes < 2; yes++) {
        bench b;
        begin(&b,
              "{'step_id':3,'action':'navigate_to_pose','parameters':{'zone':'kitchen'},"
              "'requires_confirmation':true,'confirmation_message':'Shall I?'}" WAIT,
              "");
        bench_await(&b, "approval.requested", NULL, NULL, SOON);
        bench_say(&b, "wait 1 seconds");
        const pons_value *end = bench_await(&b, "task.done", "status", "succeeded", SOON);
        assert_string_equal(pons_get_str(end, "text", ""), "wait 1 seconds");
        bench_kill(&b);
        bench_brain(&b);
        bench_run(&b, 1.0);
        bench_post(&b, "answer", yes ? "{'action':'approve'}" : "{'action':'reject'}");
        expect_end(&b, yes ? "succeeded" : "cancelled", "plan plan_1 is");
        assert_int_equal(bench_starts(&b, "navigate_to_pose"), yes);
        assert_int_equal(bench_count(&b, "approval.requested", NULL, NULL), 1);
        bench_close(&b);
    }
}

static void a_step_asks_the_user(void **state)
{
    (void)state;
    static const struct {
        const char *answer, *status, *step;
    } rows[] = {{"{\"action\":\"approve\",\"answer\":\"the blue one\"}", "succeeded",
                 "1 running 1 success 4 running 4 success"},
                {"{\"action\":\"reject\",\"reason\":\"no idea\"}", "failed",
                 "1 running 1 failed 4 skipped"}};
    for (size_t i = 0; i < 2; i++) {
        bench b;
        begin(&b,
              "{'step_id':1,'action':'ask','tool_call_type':'ask_user','parameters':{'prompt':"
              "'Which cup?'}}" WAIT,
              "");
        const pons_value *asked = bench_await(&b, "approval.requested", NULL, NULL, SOON);
        assert_string_equal(pons_get_str(asked, "question", ""), "Which cup?");
        bench_post(&b, "answer", rows[i].answer);
        expect_end(&b, rows[i].status, i ? "no idea" : "");
        expect_steps(&b, rows[i].step);
        assert_string_equal(pons_get_str(pons_get(result_of(&b, 1), "output"), "answer", ""),
                            i ? "no" : "the blue one");
        bench_close(&b);
    }
}

static void a_failed_skill_is_tried_again_as_its_map_says(void **state)
{
    (void)state;
    static const struct {
        int code, starts;
        const char *why;
    } rows[] = {{105, 3, "(3 tries)"}, {203, 1, "navigate_to_pose failed"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench b;
        begin(&b, DRIVE WAIT, "");
        b.fail_code = rows[i].code;
        expect_end(&b, "failed", rows[i].why);
        expect_steps(&b, "3 running 3 failed 4 skipped");
        assert_int_equal(bench_starts(&b, "navigate_to_pose"), rows[i].starts);
        bench_close(&b);
    }
}

static void a_fallback_runs_when_a_step_has_failed(void **state)
{
    (void)state;
    bench b;
    begin(&b,
          "{'step_id':1,'action':'navigate_to_pose','parameters':{'zone':'kitchen'},"
          "'fallback':'dock_to_charger'}" WAIT,
          "");
    b.fail_code = 203;
    expect_end(&b, "failed", "step 1 failed");
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 1);
    assert_int_equal(bench_starts(&b, "dock_to_charger"), 1);
    const pons_value *fallback = pons_get(pons_get(result_of(&b, 1), "output"), "fallback");
    assert_string_equal(pons_get_str(fallback, "action", ""), "dock_to_charger");
    assert_true(pons_get_bool(fallback, "success", false));
    bench_close(&b);
}

static void the_kernel_interrupts_a_plan_and_it_goes_on(void **state)
{
    (void)state;
    bench b;
    begin(&b, SPEAK DRIVE WAIT, "");
    b.base_ms = 20000;
    bench_await(&b, "effect", "skill", "navigate_to_pose", SOON);
    bench_run(&b, 1.0);
    b.battery = 15.0; // CHARGE: what runs is let go of
    bench_await(&b, "mode", "mode", "CHARGE", SOON);
    bench_await(&b, "effect", "skill", "dock_to_charger", SOON);
    b.base_ms = 1000;
    b.battery = 85.0;
    b.battery_state = "charging";
    bench_await(&b, "task.done", "status", "succeeded", LONG); // the charge task
    b.battery_state = "discharging";
    expect_end(&b, "succeeded", "completed");
    expect_steps(&b, "2 running 2 success 3 running 3 success 4 running 4 success");
    assert_int_equal(bench_starts(&b, "speak"), 1); // what was done is not done again
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 2);
    bench_close(&b);
}

// docs/reference/plans.md: a protective stop interrupts the plan; its step begins anew afterwards.
static void a_stop_interrupts_a_plan_and_it_goes_on(void **state)
{
    (void)state;
    bench b;
    begin(&b, SPEAK DRIVE WAIT, "");
    b.base_ms = 20000;
    bench_await(&b, "effect", "state", "accepted", SOON);
    bench_await(&b, "effect", "skill", "navigate_to_pose", SOON);
    bench_run(&b, 1.0);
    bench_latch(&b, "a hand");
    bench_await(&b, "mode", "mode", "SAFE", SOON);
    bench_run(&b, 1.0);
    b.latched = false;
    b.base_ms = 1000;
    bench_run(&b, 1.0);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 1); // before a person says so
    bench_say(&b, "continue");
    expect_end(&b, "succeeded", "completed");
    expect_steps(&b, "2 running 2 success 3 running 3 success 4 running 4 success");
    assert_int_equal(bench_starts(&b, "speak"), 1);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 2);
    bench_close(&b);
}

static void what_nobody_knows_is_asked(void **state)
{
    (void)state;
    for (int yes = 0; yes < 2; yes++) {
        bench b;
        bench_open(&b, NULL);
        json_array_append_new(
            json_object_get(json_object_get(b.config, "approval"), "ask_on_unknown"),
            json_string("navigate_to_pose"));
        bench_brain(&b);
        add_plan(&b, DRIVE WAIT, "");
        b.base_ms = BENCH_NEVER;
        bench_await(&b, "effect", "state", "accepted", SOON);
        bench_drop(&b);
        b.boot = "boot-2"; // another body: what became of the goal is not known
        const pons_value *asked = bench_await(&b, "approval.requested", NULL, NULL, LONG);
        assert_non_null(strstr(pons_get_str(asked, "question", ""), "Was it?"));
        bench_post(&b, "answer", yes ? "{\"action\":\"approve\"}" : "{\"action\":\"reject\"}");
        expect_end(&b, yes ? "succeeded" : "failed", yes ? "" : "a person says that it was not");
        assert_int_equal(bench_starts(&b, "navigate_to_pose"), 1); // never sent blindly
        bench_close(&b);
    }
}

static void a_cancel_ends_it(void **state)
{
    (void)state;
    bench b;
    begin(&b, DRIVE WAIT, "");
    b.base_ms = BENCH_NEVER;
    bench_await(&b, "effect", "state", "accepted", SOON);
    bench_say(&b, "cancel");
    expect_end(&b, "cancelled", "the user said cancel");
    bench_run(&b, 3.0);
    assert_int_equal(bench_starts(&b, "wait"), 0);
    assert_string_equal(bench_newest(&b, "navigate_to_pose")->state, "canceled");
    bench_close(&b);
}

// The commits of a whole life are counted once; then each of them is the last of a brain, lost or
// kept, and the next brain goes on.
static void a_kill_at_every_commit_repeats_nothing(void **state)
{
    (void)state;
    int64_t commits = 0;
    for (int at = 0; at == 0 || at <= commits; at++) {
        for (int before = 0; before < (at ? 2 : 1); before++) {
            if (at && !bench_due(ROUNDS_brain_deaths, 2 * (at - 1) + before, 2 * (int)commits)) {
                continue;
            }
            bench b;
            bench_open(&b, NULL);
            bench_brain(&b);
            b.kill_at = at;
            b.kill_before = before != 0;
            pons_error err = PONS_ERROR_INIT;
            pons_plan *plan = NULL;
            pons_autovalue v =
                json_pack("{s:s,s:s,s:[{s:i,s:s,s:s,s:{s:s}},{s:i,s:s,s:{s:s}},{s:i,s:s,s:{s:f}}]}",
                          "plan_id", "p", "goal", "g", "steps", "step_id", 1, "action", "say",
                          "tool_call_type", "speak", "parameters", "text", "x", "step_id", 2,
                          "action", "navigate_to_pose", "parameters", "zone", "kitchen", "step_id",
                          3, "action", "wait", "parameters", "s", 1.0);
            assert_int_equal(pons_plan_from_value(v, 0, &plan, &err), PONS_OK);
            const bool said = pons_brain_add_plan(b.brain, plan, &err) >= 0;
            for (int i = 0; i < 300 && !b.dead; i++) {
                bench_run(&b, 0.02);
            }
            if (at == 0) {
                commits = b.commits;
                assert_true(commits > 20);
            } else if (b.dead) {
                bench_kill(&b);
                bench_run(&b, 0.2);
                bench_brain(&b);
                if (!said && before) { // it was never said: whoever said it was told so
                    assert_int_equal(pons_brain_add_plan(b.brain, plan, &err), PONS_OK);
                }
                for (int i = 0; i < 60 && !bench_count(&b, "task.done", NULL, NULL); i++) {
                    bench_run(&b, 0.1);
                }
                bench_run(&b, 0.3); // time for a step to be begun once more
            }
            pons_plan_destroy(plan);
            static const char *const skills[] = {"speak", "navigate_to_pose", "wait"};
            for (size_t k = 0; k < 3; k++) {
                if (bench_starts(&b, skills[k]) != 1) {
                    fail_msg("killed %s commit %d: %s started %d times", before ? "before" : "at",
                             at, skills[k], bench_starts(&b, skills[k]));
                }
            }
            pons_autovalue status = pons_brain_status(b.brain);
            if (strcmp(pons_get_str(pons_get(status, "plan"), "status", ""), "completed") != 0) {
                fail_msg("killed %s commit %d: the plan is not completed", before ? "before" : "at",
                         at);
            }
            bench_close(&b);
        }
    }
}

// ---- a model's plans ----------------------------------------------------------------------------

#define FINISH ",{'repeat':true,'decision':{'type':'FINISH','reason':'all done'}}]"

static void a_model_makes_a_plan(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, "[{'decision':{'type':'CONTINUE','reason':'r','plan_patch':{'steps':["
                   "{'action':'say','tool_call_type':'speak','parameters':{'text':'hi'},"
                   "'status':'success'},"
                   "{'action':'navigate_to_pose','parameters':{'zone':'kitchen'}},"
                   "{'action':'wait','parameters':{'s':1}}]}}}" FINISH);
    bench_brain(&b);
    bench_goal_text(&b, "去厨房");
    const pons_value *created = bench_await(&b, "plan.created", NULL, NULL, SOON);
    assert_string_equal(pons_get_str(created, "kind", ""), "patch");
    assert_string_equal(pons_get_str(pons_get(created, "plan"), "source", ""), "llm");
    bench_await(&b, "effect", "skill", "wait", LONG);
    assert_int_equal(b.llm_starts, 1); // its steps need no further decision
    bench_await(&b, "plan.status", "status", "completed", LONG);
    expect_end(&b, "succeeded", "all done");
    assert_int_equal(b.llm_starts, 2); // its end does
    // A model may not say that something has happened.
    expect_steps(&b, "1 running 1 success 2 running 2 success 3 running 3 success");
    assert_int_equal(bench_starts(&b, "speak"), 1);
    bench_close(&b);
}

// Recovery's question, which comes before the plan goes on with the answer to its own, is no question of the plan's.
static void the_ladders_question_is_none_of_the_plans(void **state)
{
    (void)state;
    for (int yes = 0; yes < 2; yes++) {
        bench b;
        bench_open(&b,
                   "[{'decision':{'type':'REPLAN','reason':'hm'}},{'decision':{'type':'CONTINUE',"
                   "'reason':'r','plan_patch':{'steps':[{'action':'ask','tool_call_type':"
                   "'ask_user','parameters':{'prompt':'Which cup?'}},{'action':"
                   "'navigate_to_pose','parameters':{'zone':'kitchen'}}]}}}" FINISH);
        json_object_set_new(json_object_get(b.config, "limits"), "iterations_max", json_integer(3));
        bench_brain(&b);
        bench_goal_text(&b, "water the plants");
        const pons_value *asked = bench_await(&b, "approval.requested", NULL, NULL, SOON);
        assert_string_equal(pons_get_str(asked, "question", ""), "Which cup?");
        bench_post(&b, "answer", "{'action':'approve','answer':'the blue one'}");
        asked = bench_await(&b, "approval.requested", NULL, NULL, SOON);
        assert_non_null(strstr(pons_get_str(asked, "question", ""), "shall I go on?"));
        assert_false(pons_get_bool(asked, "words", false));
        bench_post(&b, "answer", "{'action':'approve','answer':'hm, which one'}");
        bench_await(&b, "approval.requested", NULL, NULL, SOON); // these words are no answer
        bench_post(&b, "answer",
                   yes ? "{'action':'approve'}" : "{'action':'approve','answer':'no'}");
        bench_await(&b, "task.done", "status", yes ? "succeeded" : "aborted", LONG);
        assert_int_equal(bench_starts(&b, "navigate_to_pose"), yes);
        if (yes) {
            assert_string_equal(pons_get_str(pons_get(result_of(&b, 1), "output"), "answer", ""),
                                "the blue one");
        }
        bench_close(&b);
    }
}

static void a_model_s_bad_plan_is_refused_whole(void **state)
{
    (void)state;
    static const struct {
        const char *steps;
        size_t rules;
        const char *message;
    } rows[] = {
        {"{'action':'navigate_to_pose','parameters':{'zone':'kitchen'}},{'action':'fly'},"
         "{'action':'navigate_to_pose','parameters':{'zone':'attic'}}",
         2, "no skill fly on this robot; unknown zone attic"},
        {"{'action':'wait','step_id':1},{'action':'wait','step_id':1}", 1,
         "1 already exists, use a unique id"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench b;
        char script[1024];
        snprintf(script, sizeof script,
                 "[{'decision':{'type':'CONTINUE','reason':'r','plan_patch':{'steps':[%s]}}},"
                 "{'repeat':true,'decision':{'type':'ABORT','reason':'enough'}}]",
                 rows[i].steps);
        bench_open(&b, script);
        bench_brain(&b);
        bench_goal_text(&b, "去厨房");
        const pons_value *refused = bench_await(&b, "guard.refused", NULL, NULL, SOON);
        assert_int_equal(json_array_size(pons_get(refused, "rules")), rows[i].rules);
        const pons_value *seen = bench_await(&b, "observation", NULL, NULL, SOON);
        const pons_value *last = pons_get(pons_get(seen, "observation"), "last_result");
        assert_non_null(strstr(pons_get_str(last, "error_msg", ""), rows[i].message));
        expect_end(&b, "aborted", "enough");
        assert_int_equal(bench_count(&b, "plan.created", NULL, NULL), 0);
        assert_int_equal(bench_sent(&b, "goal", NULL, NULL), 0);
        bench_close(&b);
    }
}

static void a_model_s_failed_plan_goes_back_to_it(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, "[{'decision':{'type':'CONTINUE','reason':'r','plan_patch':{'steps':["
                   "{'action':'navigate_to_pose','parameters':{'zone':'kitchen'}},"
                   "{'action':'wait','parameters':{'s':1}}]}}},"
                   "{'repeat':true,'decision':{'type':'ABORT','reason':'I give up'}}]");
    bench_brain(&b);
    b.fail_code = 203;
    bench_goal_text(&b, "去厨房");
    bench_await(&b, "plan.status", "status", "failed", LONG);
    expect_end(&b, "aborted", "I give up");
    // What it was asked with says how far the plan got.
    const pons_value *seen = NULL;
    size_t i;
    json_t *ev;
    json_array_foreach(b.events, i, ev) {
        if (strcmp(pons_get_str(ev, "type", ""), "observation") == 0) {
            seen = pons_get(pons_get(pons_get(ev, "payload"), "observation"), "task");
        }
    }
    const pons_value *plan = pons_get(seen, "plan");
    assert_non_null(plan);
    assert_int_equal(json_array_size(pons_get(plan, "steps")), 2);
    bench_close(&b);
}

// ---- several goals ------------------------------------------------------------------------------

static void several_goals_are_a_plan(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, NULL);
    bench_brain(&b);
    bench_goal_text(&b, "去厨房，然后去卧室，然后说我到了");
    const pons_value *created = bench_await(&b, "plan.created", NULL, NULL, SOON);
    assert_string_equal(pons_get_str(created, "kind", ""), "goals");
    const pons_value *plan = pons_get(created, "plan");
    assert_string_equal(pons_get_str(plan, "source", ""), "rule_engine");
    assert_int_equal(json_array_size(pons_get(plan, "steps")), 3);
    expect_end(&b, "succeeded", "");
    expect_steps(&b, "1 running 1 success 2 running 2 success 3 running 3 success");
    assert_int_equal(bench_count(&b, "plan.status", "status", "completed"), 1);
    bench_close(&b);
}

static void several_goals_that_fail_are_a_failed_plan(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, NULL);
    bench_brain(&b);
    b.fail_code = 203; // abort
    bench_goal_text(&b, "去厨房，然后去卧室");
    expect_end(&b, "aborted", "");
    expect_steps(&b, "1 running 1 failed 2 skipped");
    assert_int_equal(bench_count(&b, "plan.status", "status", "failed"), 1);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_of_step_runs),
        cmocka_unit_test(a_step_may_ask_how_it_moves),
        cmocka_unit_test(a_precondition_is_checked_before_the_step),
        cmocka_unit_test(what_the_critic_refuses_fails_with_every_rule),
        cmocka_unit_test(an_unknown_skill_fails_the_step),
        cmocka_unit_test(a_person_confirms),
        cmocka_unit_test(a_plan_that_asks_lets_others_run),
        cmocka_unit_test(a_step_asks_the_user),
        cmocka_unit_test(the_ladders_question_is_none_of_the_plans),
        cmocka_unit_test(a_failed_skill_is_tried_again_as_its_map_says),
        cmocka_unit_test(a_fallback_runs_when_a_step_has_failed),
        cmocka_unit_test(the_kernel_interrupts_a_plan_and_it_goes_on),
        cmocka_unit_test(a_stop_interrupts_a_plan_and_it_goes_on),
        cmocka_unit_test(what_nobody_knows_is_asked),
        cmocka_unit_test(a_cancel_ends_it),
        cmocka_unit_test(a_kill_at_every_commit_repeats_nothing),
        cmocka_unit_test(a_model_makes_a_plan),
        cmocka_unit_test(a_model_s_bad_plan_is_refused_whole),
        cmocka_unit_test(a_model_s_failed_plan_goes_back_to_it),
        cmocka_unit_test(several_goals_are_a_plan),
        cmocka_unit_test(several_goals_that_fail_are_a_failed_plan),
    };
    pons_value_init();
    return cmocka_run_group_tests_name("plans", tests, NULL, NULL);
}
