// test_recovery.c - what becomes of a goal when the brain, the body or the link between them dies.
//
// The table is the specification's: INTENDED was never sent, so it is arbitrated again; DISPATCHED
// is asked about; ACCEPTED is asked about and never sent. The brain is killed at the very commit
// that makes each state durable, just before it and just after it, or while the body has the goal.
// In every row the task is done at the end, and the body has started each goal id once: it counts.
#include "brain_bench.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONG 60.0
#define SOON 2.0

static void begin(bench *b)
{
    bench_open(b, NULL);
    bench_brain(b);
    bench_run(b, 0.5);
}

// Runs until the armed kill has come, buries that brain and opens the next.
static void die(bench *b, double dead_s)
{
    for (int i = 0; i < 500 && !b->dead; i++) {
        bench_run(b, 0.02);
    }
    assert_true(b->dead);
    bench_kill(b);
    bench_run(b, dead_s);
    bench_brain(b);
}

static int effects_in(bench *b, pons_effect_state state, const char *skill)
{
    pons_autovalue list = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_true(pons_effects_read(b->memory, "t1", 1U << state, &list, &err) >= 0);
    int n = 0;
    size_t i;
    json_t *e;
    json_array_foreach(list, i, e) {
        n += strcmp(pons_get_str(e, "skill", ""), skill) == 0;
    }
    return n;
}

static void no_effect_is_left_open(bench *b)
{
    assert_int_equal(effects_in(b, PONS_EFFECT_INTENDED, "navigate_to_pose"), 0);
    assert_int_equal(effects_in(b, PONS_EFFECT_DISPATCHED, "navigate_to_pose"), 0);
    assert_int_equal(effects_in(b, PONS_EFFECT_ACCEPTED, "navigate_to_pose"), 0);
}

// ---- the brain dies at a commit -----------------------------------------------------------------

static void a_kill_at_each_state_of_a_goal_loses_nothing(void **state)
{
    (void)state;
    static const struct {
        int at;
        bool before;
        int sent; // goal messages of navigate_to_pose, over both lives
    } rows[] = {
        {PONS_EFFECT_INTENDED, true, 1},
        {PONS_EFFECT_INTENDED, false, 1},   // nothing was sent: dispatched by the next life
        {PONS_EFFECT_DISPATCHED, true, 1},  // the same
        {PONS_EFFECT_DISPATCHED, false, 1}, // nothing was sent: the body does not know it; sent now
        {PONS_EFFECT_ACCEPTED, true, 1},    // the body has it: adopted
        {PONS_EFFECT_ACCEPTED, false, 1},   // the same
        {PONS_EFFECT_DONE, true, 1},        // it is done: asked, not sent
        {PONS_EFFECT_DONE, false, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench b;
        begin(&b);
        b.kill_state = rows[i].at;
        b.kill_before = rows[i].before;
        bench_goal_text(&b, "去厨房");
        die(&b, 0.5);
        bench_await(&b, "task.done", "status", "succeeded", 20.0);
        if (bench_sent(&b, "goal", "skill", "navigate_to_pose") != rows[i].sent ||
            bench_starts(&b, "navigate_to_pose") != 1) {
            fail_msg("row %zu: sent %d, started %d", i,
                     bench_sent(&b, "goal", "skill", "navigate_to_pose"),
                     bench_starts(&b, "navigate_to_pose"));
        }
        assert_int_equal(bench_count(&b, "effect", "state", "outcome_unknown"), 0);
        no_effect_is_left_open(&b);
        bench_close(&b);
    }
}

// ---- the table for DISPATCHED -------------------------------------------------------------------

typedef enum body_then { KNOWS, FINISHED, FORGOT } body_then;

static void what_the_body_says_decides(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        body_then body;
        bool other_boot;
        double dead_s;
        bool accepted; // the first life had heard "accepted"
        bool adopted, unknown, same_id_again;
    } rows[] = {
        {"known, finished, same boot", FINISHED, false, 0.5, false, false, false, false},
        {"known, finished, other boot", FINISHED, true, 0.5, false, false, false, false},
        {"known, same boot", KNOWS, false, 0.5, false, true, false, false},
        {"known, same boot, long after", KNOWS, false, 60.0, true, true, false, false},
        {"known, other boot", KNOWS, true, 0.5, false, false, true, false},
        {"known, other boot, accepted", KNOWS, true, 0.5, true, false, true, false},
        {"unknown, same boot, fresh", FORGOT, false, 0.5, false, false, false, true},
        {"unknown, same boot, expired", FORGOT, false, 6.0, false, false, true, false},
        {"unknown, same boot, accepted", FORGOT, false, 0.5, true, false, true, false},
        {"unknown, other boot", FORGOT, true, 0.5, false, false, true, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench b;
        begin(&b);
        b.base_ms = 4000;
        b.mute = !rows[i].accepted;
        bench_goal_text(&b, "去厨房");
        for (int k = 0; k < 100 && !bench_newest(&b, "navigate_to_pose"); k++) {
            bench_run(&b, 0.02);
        }
        bench_goal *g = bench_newest(&b, "navigate_to_pose");
        assert_non_null(g);
        char first[40];
        memcpy(first, g->id, sizeof first);
        if (rows[i].accepted) {
            bench_await(&b, "effect", "state", "accepted", SOON);
        }
        bench_kill(&b);
        if (rows[i].body == FINISHED) {
            snprintf(g->state, sizeof g->state, "done");
            b.x = b.y = 7.5; // it went there alone
        } else if (rows[i].body == FORGOT) {
            bench_forget(&b, g);
        }
        b.mute = false;
        b.boot = rows[i].other_boot ? "boot-2" : b.boot;
        bench_run(&b, rows[i].dead_s);
        json_array_clear(b.got);
        bench_brain(&b);
        bench_await(&b, "task.done", "status", "succeeded", 60.0);

        const int again = bench_sent(&b, "goal", "goal_id", first);
        const int unknown = bench_count(&b, "effect", "state", "outcome_unknown");
        if (bench_sent(&b, "status", "goal_id", first) < 1 ||
            (bench_sent(&b, "adopt", "goal_id", first) > 0) != rows[i].adopted ||
            (unknown > 0) != rows[i].unknown || (again > 0) != rows[i].same_id_again) {
            fail_msg("%s: asked %d, adopted %d, unknown %d, sent again %d", rows[i].name,
                     bench_sent(&b, "status", "goal_id", first),
                     bench_sent(&b, "adopt", "goal_id", first), unknown, again);
        }
        // An unknown outcome is looked into, then tried with a new id; the old one is history.
        assert_int_equal(effects_in(&b, PONS_EFFECT_OUTCOME_UNKNOWN, "navigate_to_pose"),
                         rows[i].unknown);
        const bench_goal *last = bench_newest(&b, "navigate_to_pose");
        if (rows[i].unknown) {
            assert_string_not_equal(last->id, first);
            assert_true(bench_starts(&b, "look") + bench_starts(&b, "wait") > 0);
        } else {
            assert_string_equal(last->id, first);
        }
        no_effect_is_left_open(&b);
        bench_close(&b);
    }
}

// ---- the link breaks, the brain lives -----------------------------------------------------------

static void a_broken_link_is_the_same_table(void **state)
{
    (void)state;
    static const struct {
        body_then body;
        bool other_boot, unknown;
    } rows[] = {{KNOWS, false, false},
                {FINISHED, false, false},
                {KNOWS, true, true},
                {FORGOT, false, true},
                {FORGOT, true, true}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench b;
        begin(&b);
        b.base_ms = 4000;
        bench_goal_text(&b, "去厨房");
        bench_await(&b, "effect", "state", "accepted", SOON);
        bench_goal *g = bench_newest(&b, "navigate_to_pose");
        bench_drop(&b);
        b.away = true;
        if (rows[i].body == FINISHED) {
            snprintf(g->state, sizeof g->state, "done");
            b.x = b.y = 7.5;
        } else if (rows[i].body == FORGOT) {
            bench_forget(&b, g);
        }
        b.boot = rows[i].other_boot ? "boot-2" : b.boot;
        bench_run(&b, 3.0);
        b.away = false;
        bench_await(&b, "task.done", "status", "succeeded", 60.0);
        assert_int_equal(bench_count(&b, "effect", "state", "outcome_unknown"), rows[i].unknown);
        assert_int_equal(bench_starts(&b, "navigate_to_pose"),
                         1 + (rows[i].unknown && rows[i].body != FORGOT));
        no_effect_is_left_open(&b);
        bench_close(&b);
    }
}

static void an_unknown_outcome_of_some_skills_is_a_persons(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, NULL);
    json_object_set_new(json_object_get(b.config, "approval"), "ask_on_unknown",
                        json_pack("[s]", "navigate_to_pose"));
    bench_brain(&b);
    b.base_ms = 4000;
    bench_goal_text(&b, "去厨房");
    bench_await(&b, "effect", "state", "accepted", SOON);
    bench_kill(&b);
    b.boot = "boot-2";
    bench_brain(&b);
    bench_await(&b, "effect", "state", "outcome_unknown", SOON);
    bench_await(&b, "decision", "type", "ASK_HUMAN", SOON);
    bench_await(&b, "approval.requested", NULL, NULL, SOON);
    bench_run(&b, 10.0);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 1);
    bench_post(&b, "answer", "{'action':'approve'}");
    bench_await(&b, "task.done", "status", "succeeded", 20.0);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 2);
    bench_close(&b);
}

#define DRIVES(zone)                                                                               \
    "{'decision':{'type':'CONTINUE','reason':'go','wake_s':1,'ops':[{'op':'dispatch','skill':"     \
    "'navigate_to_pose','args':{'zone':'" zone "'}}]}}"
#define DRIVES_REST                                                                                \
    "'decision':{'type':'CONTINUE','reason':'go','ops':[{'op':'dispatch','skill':"                 \
    "'navigate_to_pose','args':{'zone':'kitchen'},'goal_index':0}]}}]"

#define DRIVES_ALWAYS "[{'repeat':true," DRIVES_REST

// What becomes of a motion is a person's to settle.
static void asks_about_motions(bench *b, const char *script)
{
    bench_open(b, script);
    json_object_set_new(json_object_get(b->config, "approval"), "ask_on_unknown",
                        json_pack("[s]", "navigate_to_pose"));
    bench_brain(b);
    b->base_ms = 4000;
}

// The body dies under way and latches; the latch is lifted, and the task comes back.
static void dies_under_way(bench *b, const char *script, const char *goal)
{
    asks_about_motions(b, script);
    bench_goal_text(b, goal);
    bench_await(b, "effect", "state", "accepted", SOON);
    bench_kill(b);
    b->boot = "boot-2";
    b->stop_reason = "boot: unclean end";
    b->latched = true;
    bench_brain(b);
    bench_await(b, "effect", "state", "outcome_unknown", SOON);
    bench_run(b, 1.0);
    b->latched = false;
}

// The kernel takes over meanwhile, and the task comes back without its result: it is a person's all the same, whoever
// decides.
static void an_unknown_outcome_stays_a_persons_behind_a_latch(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        bench b;
        dies_under_way(&b, i % 2 ? DRIVES_ALWAYS : NULL, "去厨房");
        if (i >= 2) { // and again on the way
            bench_kill(&b);
            bench_brain(&b);
            bench_say(&b, "continue");
        }
        bench_await(&b, "approval.requested", NULL, NULL, 20.0);
        bench_run(&b, 10.0);
        assert_int_equal(bench_starts(&b, "navigate_to_pose"), 1);
        bench_post(&b, "answer", "{'action':'approve'}");
        bench_await(&b, "effect", "state", "done", 20.0);
        assert_int_equal(bench_starts(&b, "navigate_to_pose"), 2);
        bench_close(&b);
    }
}

// An edit that is none, a yes that a stop overtook: nothing was sent by them, and a person is asked anew.
static void what_sends_nothing_settles_nothing(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        bench b;
        dies_under_way(&b, DRIVES_ALWAYS, "去厨房");
        bench_await(&b, "approval.requested", NULL, NULL, 20.0);
        if (i == 0) {
            bench_post(&b, "answer", "{'action':'edit','op':1,'args':{'zone':'moon'}}");
        } else {
            bench_post(&b, "answer", "{'action':'approve'}");
            bench_latch(&b, "a person pressed stop");
            bench_run(&b, 2.0);
            b.latched = false;
            bench_run(&b, 1.0);
            bench_say(&b, "continue");
        }
        bench_await(&b, "approval.requested", NULL, NULL, 20.0);
        bench_run(&b, 10.0);
        assert_int_equal(bench_starts(&b, "navigate_to_pose"), 1);
        bench_post(&b, "answer", "{'action':'approve'}");
        bench_await(&b, "effect", "state", "done", 20.0);
        bench_close(&b);
    }
}

// Where nothing can be looked up a model's word does not end it as done; a person's does.
static void an_unknown_outcome_is_no_end(void **state)
{
    (void)state;
    bench b;
    dies_under_way(&b,
                   "[" DRIVES("kitchen") ",{'repeat':true,'decision':{'type':'FINISH','reason':"
                                         "'it must be'}}]",
                   "water the plants");
    const pons_value *asked = bench_await(&b, "approval.requested", NULL, NULL, 60.0);
    assert_non_null(strstr(pons_get_str(asked, "question", ""), "nobody knows what came of"));
    bench_run(&b, 10.0);
    assert_int_equal(bench_count(&b, "task.done", NULL, NULL), 0);
    bench_post(&b, "answer", "{'action':'approve'}");
    bench_await(&b, "task.done", "status", "succeeded", 20.0);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 1);
    bench_close(&b);
}

// It ends so while a model thinks, which lets go of it and sends something else in one decision: what nobody was asked
// about is not sent behind it.
static void an_end_that_is_learned_while_canceling(void **state)
{
    (void)state;
    bench b;
    asks_about_motions(&b, "[" DRIVES("kitchen") ",{'delay_ms':3000,'decision':{'type':'REPLAN',"
                                                 "'reason':'not there','ops':[{'op':'cancel',"
                                                 "'goal_id':'all'},{'op':'dispatch','skill':"
                                                 "'navigate_to_pose','args':{'zone':'bedroom'}}]}},"
                                                 "{'repeat':true," DRIVES_REST);
    b.base_ms = 2000;
    b.fail_code = 9909; // the robot's own software has lost the goal
    bench_goal_text(&b, "water the plants");
    bench_await(&b, "effect", "state", "refused", 20.0);
    bench_await(&b, "approval.requested", NULL, NULL, 20.0);
    bench_run(&b, 10.0);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 1);
    bench_close(&b);
}

// What runs ends so while a question is open beside it: the yes, which was asked for before, sends nothing.
static void an_end_that_is_learned_behind_a_yes(void **state)
{
    (void)state;
    bench b;
    asks_about_motions(&b, "[" DRIVES("kitchen") ",{'decision':{'type':'CONTINUE','reason':'rest',"
                                                 "'ops':[{'op':'dispatch','skill':'wait','args':"
                                                 "{'seconds':1}},{'op':'approval','question':"
                                                 "'may I?'}]}},{'repeat':true," DRIVES_REST);
    b.base_ms = 6000;
    b.fail_code = 9909; // the robot's own software has lost the goal
    bench_goal_text(&b, "water the plants");
    bench_await(&b, "approval.requested", NULL, NULL, SOON);
    bench_run(&b, 8.0);
    assert_int_equal(bench_starts(&b, "wait"), 0);
    bench_post(&b, "answer", "{'action':'approve'}");
    const pons_value *asked = bench_await(&b, "approval.requested", NULL, NULL, 20.0);
    char *ops = NULL;
    assert_true(pons_value_dump(pons_get(asked, "ops"), &ops) > 0);
    assert_non_null(strstr(ops, "nobody knows what came of navigate_to_pose"));
    free(ops);
    bench_run(&b, 10.0);
    assert_int_equal(bench_starts(&b, "wait"), 0);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 1);
    bench_close(&b);
}

// What the config says of it may be another one by the next life: what R6 has begun to do it ends.
static void another_config_while_something_is_sent(void **state)
{
    (void)state;
    for (int n = 1; n <= 6; n++) {
        bench b;
        asks_about_motions(&b, "[" DRIVES("kitchen") ",{'decision':{'type':'CONTINUE','reason':"
                                                     "'rest','ops':[{'op':'dispatch','skill':"
                                                     "'wait','args':{'seconds':1}}]}},{'repeat':"
                                                     "true,'decision':{'type':'CONTINUE',"
                                                     "'reason':'w','wake_s':5}}]");
        b.base_ms = 20000;
        bench_goal_text(&b, "water the plants");
        bench_await(&b, "decision", "reason", "rest", SOON);
        b.kill_at = b.commits + n;
        bench_run(&b, 1.0);
        bench_kill(&b);
        b.kill_at = 0;
        json_object_set_new(json_object_get(b.config, "approval"), "ask_on_unknown", json_array());
        bench_brain(&b);
        bench_run(&b, 2.0);
        assert_int_equal(b.error.status, PONS_OK);
        assert_int_equal(bench_starts(&b, "wait"), 1);
        bench_close(&b);
    }
}

// What R6 itself has let go of holds nothing up that follows, also where it dies behind that.
static void what_was_let_go_of_holds_nothing_up(void **state)
{
    (void)state;
    for (int n = 1; n <= 12; n++) {
        bench b;
        asks_about_motions(&b, "[" DRIVES("kitchen") ",{'decision':{'type':'CONTINUE','reason':"
                                                     "'r','ops':[{'op':'approval','question':"
                                                     "'elsewhere?'},{'op':'cancel','goal_id':"
                                                     "'all'},{'op':'dispatch','skill':"
                                                     "'navigate_to_pose','args':{'zone':"
                                                     "'bedroom'}}]}},{'repeat':true,'decision':"
                                                     "{'type':'ASK_HUMAN','reason':'now?'}}]");
        b.base_ms = 60000;
        bench_goal_text(&b, "water the plants");
        bench_await(&b, "approval.requested", NULL, NULL, SOON);
        b.kill_at = b.commits + n;
        bench_post(&b, "answer", "{'action':'approve'}");
        bench_run(&b, 0.5);
        bench_kill(&b);
        b.kill_at = 0;
        bench_brain(&b);
        bench_run(&b, 3.0);
        if (bench_starts(&b, "navigate_to_pose") != 2) {
            fail_msg("killed at commit %d: %d motions", n, bench_starts(&b, "navigate_to_pose"));
        }
        bench_close(&b);
    }
}

// A yes settles what its question has shown, and not what ends so in the step that acts on it.
static void a_yes_settles_what_was_shown(void **state)
{
    (void)state;
    for (int n = 1; n <= 6; n++) {
        bench b;
        bench_open(&b, "[{'decision':{'type':'CONTINUE','reason':'go','ops':[{'op':'dispatch',"
                       "'skill':'navigate_to_pose','args':{'zone':'kitchen'}},{'op':'dispatch',"
                       "'skill':'wait','args':{'ms':400}}]}},{'decision':{'type':'CONTINUE',"
                       "'reason':'r','ops':[{'op':'approval','question':'shall I let go?'},{'op':"
                       "'cancel','goal_id':'all'}]}},{'repeat':true,'decision':{'type':'CONTINUE'"
                       ",'reason':'again','ops':[{'op':'dispatch','skill':'navigate_to_pose',"
                       "'args':{'zone':'bedroom'}}]}}]");
        json_object_set_new(json_object_get(b.config, "approval"), "ask_on_unknown",
                            json_pack("[s,s]", "navigate_to_pose", "wait"));
        b.base_ms = 60000;
        b.fail_skill = "wait";
        b.fail_skill_code = 9907; // nobody knows what came of it
        b.fail_skill_times = 1;
        bench_brain(&b);
        bench_goal_text(&b, "water the plants");
        bench_await(&b, "approval.requested", NULL, NULL, LONG);
        b.kill_at = b.commits + n;
        bench_post(&b, "answer", "{'action':'approve'}");
        bench_run(&b, 0.5);
        bench_kill(&b);
        b.kill_at = 0;
        b.boot = "boot-2"; // and of the motion that it lets go of nobody knows, either
        bench_brain(&b);
        bench_await(&b, "approval.requested", NULL, NULL, LONG);
        bench_run(&b, 5.0);
        assert_int_equal(bench_starts(&b, "navigate_to_pose"), 1);
        bench_close(&b);
    }
}

// A yes to what was asked before settles nothing of what came since, and lets nothing past it.
static void a_yes_from_before(void **state)
{
    (void)state;
    static const char *const asks[] = {"{'op':'approval','question':'shall I make tea?'}",
                                       "{'op':'dispatch','skill':'wait','args':{'seconds':1}},{'op'"
                                       ":'approval','question':'may I?'}"};
    for (int i = 0; i < 2; i++) {
        bench b;
        char script[700];
        snprintf(script, sizeof script,
                 "[" DRIVES("kitchen") ",{'decision':{'type':'%s','reason':'tea?','ops':[%s]}},"
                                       "{'repeat':true," DRIVES_REST,
                 i ? "CONTINUE" : "ASK_HUMAN", asks[i]);
        asks_about_motions(&b, script);
        b.base_ms = 20000;
        bench_goal_text(&b, "water the plants");
        bench_await(&b, "approval.requested", NULL, NULL, SOON);
        bench_kill(&b);
        b.boot = "boot-2";
        b.battery = 15.0;
        bench_brain(&b);
        bench_await(&b, "effect", "state", "outcome_unknown", 20.0);
        bench_post(&b, "answer", "{'action':'approve'}");
        bench_run(&b, 2.0);
        const int starts = bench_starts(&b, "navigate_to_pose"); // the charger's way is its own
        b.battery = 95.0;
        bench_await(&b, "approval.requested", NULL, NULL, 60.0);
        bench_run(&b, 10.0);
        assert_int_equal(bench_starts(&b, "navigate_to_pose"), starts);
        assert_int_equal(bench_starts(&b, "wait"), 0);
        bench_close(&b);
    }
}

// ---- other things that survive ------------------------------------------------------------------

static void a_question_survives(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, NULL);
    json_object_set_new(json_object_get(b.config, "approval"), "skills",
                        json_pack("[s]", "navigate_to_pose"));
    bench_brain(&b);
    bench_goal_text(&b, "去厨房");
    const pons_value *asked = bench_await(&b, "approval.requested", NULL, NULL, SOON);
    char id[64];
    snprintf(id, sizeof id, "%s", pons_get_str(asked, "id", ""));
    bench_kill(&b);
    bench_run(&b, 0.5);
    bench_brain(&b);
    bench_run(&b, SOON);
    pons_autovalue status = pons_brain_status(b.brain);
    const pons_value *approvals = pons_get(status, "approvals");
    assert_int_equal(json_array_size(approvals), 1);
    assert_string_equal(pons_get_str(json_array_get(approvals, 0), "id", ""), id);
    assert_int_equal(bench_count(&b, "approval.requested", NULL, NULL), 1); // not asked twice
    char answer[128];
    snprintf(answer, sizeof answer, "{'action':'approve','id':'%s'}", id);
    bench_post(&b, "answer", answer);
    bench_await(&b, "task.done", "status", "succeeded", 10.0);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 1);
    bench_close(&b);
}

static void words_to_a_dead_brain_are_heard_by_the_next(void **state)
{
    (void)state;
    bench b;
    begin(&b);
    b.base_ms = BENCH_NEVER;
    bench_goal_text(&b, "去厨房");
    bench_await(&b, "effect", "state", "accepted", SOON);
    bench_kill(&b);
    bench_post(&b, "say", "{'text':'取消'}");
    bench_run(&b, 1.0);
    bench_brain(&b);
    bench_await(&b, "task.done", "status", "cancelled", SOON);
    bench_run(&b, SOON);
    assert_string_equal(bench_newest(&b, "navigate_to_pose")->state, "canceled");
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 1);
    bench_close(&b);
}

static void many_deaths_one_start(void **state)
{
    (void)state;
    bench b;
    begin(&b);
    b.base_ms = 10000;
    bench_goal_text(&b, "去厨房");
    bench_await(&b, "effect", "state", "accepted", SOON);
    for (int i = 0; i < 12; i++) { // at times that share no period with anything
        bench_kill(&b);
        bench_run(&b, 0.14);
        bench_brain(&b);
        bench_run(&b, 0.06 + 0.1 * i);
    }
    bench_await(&b, "task.done", "status", "succeeded", 30.0);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 1);
    assert_int_equal(bench_sent(&b, "goal", "skill", "navigate_to_pose"), 1);
    assert_int_equal(bench_count(&b, "effect", "state", "done"), 1);
    bench_close(&b);
}

// ---- another life, another config ---------------------------------------------------------------

#define GO_THERE                                                                                   \
    "{'decision':{'type':'CONTINUE','reason':'go','ops':[{'op':'dispatch',"                        \
    "'skill':'navigate_to_pose','args':{'zone':'kitchen'}}]}},"                                    \
    "{'decision':{'type':'FINISH','reason':'there'},'repeat':true}"

// Whatever was waited for when the brain died is taken up by one with other limits, with a model or
// without: no change of the configuration leaves a thread that cannot be gone on with.
static void another_config_goes_on_with_every_wait(void **state)
{
    (void)state;
    static const struct {
        const char *script;
        const char *type, *key, *value; // killed soon after this
    } rows[] = {
        {NULL, "effect", "state", "accepted"},                                   // R7, of the rules
        {"[" GO_THERE "]", "effect", "state", "accepted"},                       // R7, of the model
        {"[{'delay_ms':5000,'content':'x'}," GO_THERE "]", "observation", 0, 0}, // R2
        {"[{'content':'x'},{'delay_ms':5000,'content':'x'}," GO_THERE "]", "observation", 0, 0},
        {NULL, "approval.requested", NULL, NULL}, // R5
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int with = 0; with < 2; with++) { // a model, in the second life
            bench b;
            const bool asks = strcmp(rows[i].type, "approval.requested") == 0;
            // One that comes later finds the motion under way, and the kitchen reached.
            bench_open(&b, rows[i].script ? rows[i].script
                                          : "[{'decision':{'type':'FINISH','reason':'there'}}]");
            const pons_llm model = b.llm;
            json_t *approval = json_object_get(b.config, "approval");
            if (!rows[i].script) {
                b.llm.ops = NULL;
            }
            if (asks) {
                json_object_set_new(approval, "skills", json_pack("[s]", "navigate_to_pose"));
            }
            b.base_ms = 3000;
            bench_brain(&b);
            bench_goal_text(&b, "去厨房");
            bench_await(&b, rows[i].type, rows[i].key, rows[i].value, SOON);
            bench_run(&b, 0.3);
            bench_kill(&b);
            json_t *limits = json_object_get(b.config, "limits");
            json_object_set_new(limits, "check_in_s", json_real(7.5));
            json_object_set_new(limits, "link_wait_ms", json_integer(9000));
            json_object_set_new(limits, "iterations_max", json_integer(9));
            json_object_set_new(json_object_get(b.config, "model"), "attempts", json_integer(1));
            json_object_set_new(approval, "deadline_s", json_integer(60));
            b.llm.ops = with ? model.ops : NULL;
            bench_brain(&b);
            if (asks) {
                bench_run(&b, 0.2);
                bench_post(&b, "say", "{'text':'yes'}");
            }
            bench_await(&b, "task.done", "status", "succeeded", 60.0);
            assert_int_equal(bench_starts(&b, "navigate_to_pose"), 1);
            b.llm = model;
            bench_close(&b);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kill_at_each_state_of_a_goal_loses_nothing),
        cmocka_unit_test(what_the_body_says_decides),
        cmocka_unit_test(a_broken_link_is_the_same_table),
        cmocka_unit_test(an_unknown_outcome_of_some_skills_is_a_persons),
        cmocka_unit_test(an_unknown_outcome_stays_a_persons_behind_a_latch),
        cmocka_unit_test(what_sends_nothing_settles_nothing),
        cmocka_unit_test(an_unknown_outcome_is_no_end),
        cmocka_unit_test(an_end_that_is_learned_while_canceling),
        cmocka_unit_test(an_end_that_is_learned_behind_a_yes),
        cmocka_unit_test(another_config_while_something_is_sent),
        cmocka_unit_test(what_was_let_go_of_holds_nothing_up),
        cmocka_unit_test(a_yes_settles_what_was_shown),
        cmocka_unit_test(a_yes_from_before),
        cmocka_unit_test(a_question_survives),
        cmocka_unit_test(words_to_a_dead_brain_are_heard_by_the_next),
        cmocka_unit_test(many_deaths_one_start),
        cmocka_unit_test(another_config_goes_on_with_every_wait),
    };
    pons_value_init();
    return cmocka_run_group_tests_name("recovery", tests, NULL, NULL);
}
