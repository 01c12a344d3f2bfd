// test_questions.c - several questions at once: of one decision, and of tasks that were put aside while
// others run.
//
// A task that waits for a person lets the others go first; its question stays open, under its id, and is
// answered at any time: before its turn comes, in any order, by whom and however late. What was asked is
// asked once, and what was approved is done once, whoever dies meanwhile. A stop, a cancel and a
// deadline close questions wherever they stand.
#include "brain_bench.h"
#include "pons/graph.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define SOON 5.0
#define LONG 60.0

#define MOVES "navigate_to_pose"

static void begin(bench *b, const char *script)
{
    bench_open(b, script);
    json_object_set_new(json_object_get(b->config, "approval"), "skills", json_pack("[s]", MOVES));
    bench_brain(b);
    bench_run(b, 0.2);
}

// The questions that are open by now, as `pons status` shows them. The caller's.
static pons_value *open_now(bench *b)
{
    pons_autovalue status = pons_brain_status(b->brain);
    return pons_value_ref(pons_get(status, "approvals"));
}

static const char *id_of(const pons_value *open, const char *task)
{
    const pons_value *q = NULL;
    size_t i;
    json_t *one;
    json_array_foreach(open, i, one) {
        q = strcmp(pons_get_str(one, "task_id", ""), task) == 0 ? one : q;
    }
    if (!q) {
        fail_msg("no question of %s is open", task);
    }
    return pons_get_str(q, "id", "");
}

static void answer(bench *b, const char *id, const char *rest)
{
    char text[300];
    snprintf(text, sizeof text, "{'id':'%s','nonce':'n','by':'anna',%s}", id, rest);
    bench_post(b, "answer", text);
}

#define APPROVE "'action':'approve'"
#define REJECT  "'action':'reject','reason':'the floor is wet'"

static void say(bench *b, const char *text)
{
    bench_post(b, "say", text);
}

// A task that asks is put aside, and one that does not is done; the id of the question that is still open.
static void put_aside(bench *b, char ret[64])
{
    begin(b, NULL);
    bench_goal_text(b, "去厨房");
    const pons_value *asked = bench_await(b, "approval.requested", NULL, NULL, SOON);
    snprintf(ret, 64, "%s", pons_get_str(asked, "id", ""));
    say(b, "{'text':'wait 1 seconds'}");
    bench_await(b, "task.done", "status", "succeeded", SOON);
    assert_int_equal(bench_starts(b, "wait"), 1);
    assert_int_equal(bench_count(b, "approval.resolved", NULL, NULL), 0);
}

// The inner loop was left because a person is needed, and says so where it was left.
static void why_it_was_left_is_kept(void **state)
{
    (void)state;
    bench b;
    char id[64];
    put_aside(&b, id);
    pons_autovalue past = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_true(pons_state_history(b.store, "t1", "react", 200, true, &past, &err) >= 0);
    int found = 0;
    size_t i;
    json_t *point;
    json_array_foreach(past, i, point) {
        const pons_value *react = pons_get(pons_get(point, "values"), "react");
        found += strcmp(pons_get_str(react, "stop_reason", ""), "need_human") == 0;
    }
    assert_true(found > 0);
    bench_close(&b);
}

static void others_run_while_one_waits(void **state)
{
    (void)state;
    for (int how = 0; how < 3; how++) { // approve, reject, edit
        bench b;
        char id[64];
        put_aside(&b, id);
        pons_autovalue open = open_now(&b);
        assert_string_equal(id_of(open, "task-1"), id);
        answer(&b, id,
               how == 0   ? APPROVE
               : how == 1 ? REJECT
                          : "'action':'edit','args':{'zone':'bedroom'}");
        const pons_value *closed = bench_await(&b, "approval.resolved", "id", id, SOON);
        assert_string_equal(pons_get_str(closed, "by", ""), "anna");
        bench_await(&b, "task.done", "status", how == 1 ? "aborted" : "succeeded", LONG);
        assert_int_equal(bench_starts(&b, MOVES), how != 1);
        assert_int_equal(bench_count(&b, "approval.requested", NULL, NULL), 1);
        assert_true(how != 2 || b.y < 4.0); // in the bedroom
        bench_close(&b);
    }
}

// Three ask at once, and are answered from behind.
static void three_questions_in_any_order(void **state)
{
    (void)state;
    static const char *const tasks[] = {"task-1", "task-2", "task-3"};
    for (int deaths = 0; deaths < 2; deaths++) {
        bench b;
        begin(&b, NULL);
        bench_goal_text(&b, "去厨房");
        bench_goal_text(&b, "去卧室");
        bench_goal_text(&b, "去厨房");
        for (int i = 0; i < 3; i++) {
            bench_await(&b, "approval.requested", NULL, NULL, SOON);
        }
        bench_run(&b, 0.5);
        if (deaths) {
            bench_kill(&b);
            bench_run(&b, 0.5);
            bench_brain(&b);
            bench_run(&b, 0.5);
        }
        pons_autovalue open = open_now(&b);
        assert_int_equal(json_array_size(open), 3);
        say(&b, "{'text':'yes'}"); // to which?
        bench_await(&b, "control", "word", "yes", SOON);
        assert_int_equal(bench_count(&b, "approval.resolved", NULL, NULL), 0);
        for (int i = 2; i >= 0; i--) {
            answer(&b, id_of(open, tasks[i]), i == 1 ? REJECT : APPROVE);
            const pons_value *end = bench_await(&b, "task.done", NULL, NULL, LONG);
            assert_string_equal(pons_get_str(end, "task_id", ""), tasks[i]);
            assert_string_equal(pons_get_str(end, "status", ""), i == 1 ? "aborted" : "succeeded");
        }
        assert_int_equal(bench_starts(&b, MOVES), 2);
        assert_int_equal(bench_count(&b, "approval.requested", NULL, NULL), 3);
        bench_close(&b);
    }
}

// However many are open, each is found: the last of eighty, and the first by default.
static void eighty_questions(void **state)
{
    (void)state;
    enum { MANY = 80 };
    static const char *const goals[] = {"去厨房", "去卧室"};
    bench b;
    begin(&b, NULL);
    for (int i = 0; i < MANY; i++) {
        bench_goal_text(&b, goals[i % 2]);
    }
    for (int i = 0; i < MANY; i++) {
        bench_await(&b, "approval.requested", NULL, NULL, SOON);
    }
    bench_run(&b, 0.5);
    pons_autovalue open = open_now(&b);
    assert_int_equal(json_array_size(open), MANY);
    answer(&b, id_of(open, "task-80"), APPROVE);
    const pons_value *end = bench_await(&b, "task.done", "status", "succeeded", LONG);
    assert_string_equal(pons_get_str(end, "task_id", ""), "task-80");
    for (int i = 0; i < 30; i++) { // more than hci.answers keeps
        pons_autovalue left = open_now(&b);
        answer(&b, pons_get_str(json_array_get(left, 0), "id", ""), REJECT);
        bench_await(&b, "task.done", NULL, NULL, LONG); // it is in the bedroom: those are met
    }
    assert_int_equal(bench_starts(&b, MOVES), 1);
    bench_close(&b);
}

// It has its answer while another one of its priority is at work: that one is not interrupted.
static void an_answer_waits_for_its_turn(void **state)
{
    (void)state;
    bench b;
    begin(&b, NULL);
    bench_goal_text(&b, "去厨房");
    char id[64];
    const pons_value *asked = bench_await(&b, "approval.requested", NULL, NULL, SOON);
    snprintf(id, sizeof id, "%s", pons_get_str(asked, "id", ""));
    say(&b, "{'text':'wait 1 seconds'}");
    bench_await(&b, "effect", "skill", "wait", SOON);
    answer(&b, id, APPROVE);
    const pons_value *end = bench_await(&b, "task.done", NULL, NULL, SOON);
    assert_string_equal(pons_get_str(end, "task_id", ""), "task-2");
    assert_int_equal(bench_starts(&b, MOVES), 0);
    bench_await(&b, "task.done", "status", "succeeded", LONG);
    assert_int_equal(bench_starts(&b, MOVES), 1);
    assert_int_equal(bench_sent(&b, "cancel", NULL, NULL), 0);
    bench_close(&b);
}

// Killed at every commit from the moment at which it is put aside to its end.
static void whoever_dies_it_is_done_once(void **state)
{
    (void)state;
    enum { COMMITS = 60 };
    int deaths = 0, tried = 0;
    for (int n = 1; n <= COMMITS; n++) {
        for (int before = 0; before <= 1; before++) {
            if (!bench_due(ROUNDS_brain_deaths, 2 * (n - 1) + before, 2 * COMMITS)) {
                continue;
            }
            tried++;
            bench b;
            char id[64];
            begin(&b, NULL);
            bench_goal_text(&b, "去厨房");
            const pons_value *asked = bench_await(&b, "approval.requested", NULL, NULL, SOON);
            snprintf(id, sizeof id, "%s", pons_get_str(asked, "id", ""));
            bench_run(&b, 0.1);
            b.kill_at = b.commits + n;
            b.kill_before = before;
            say(&b, "{'text':'wait 1 seconds'}");
            bench_run(&b, 1.0);
            answer(&b, id, n % 2 ? APPROVE : REJECT);
            bench_run(&b, 1.0);
            deaths += b.dead;
            bench_kill(&b);
            bench_run(&b, 0.5);
            bench_brain(&b);
            bench_settle(
                &b,
                10.0); // an event of the last commit is in the store alone: the status is looked at
            pons_autovalue status = pons_brain_status(b.brain);
            const pons_value *ended = pons_get(status, "finished");
            int succeeded = 0;
            for (size_t i = 0; i < json_array_size(ended); i++) {
                const char *how = pons_get_str(json_array_get(ended, i), "status", "");
                succeeded += strcmp(how, "succeeded") == 0;
            }
            assert_int_equal(json_array_size(ended), 2);
            assert_int_equal(bench_starts(&b, MOVES), n % 2);
            assert_int_equal(bench_starts(&b, "wait"), 1);
            assert_int_equal(succeeded, 1 + n % 2);
            pons_autovalue open = open_now(&b);
            assert_int_equal(json_array_size(open), 0);
            bench_close(&b);
        }
    }
    assert_true(deaths * 2 * COMMITS > 40 * tried);
}

// One that is stuck asks whether it shall go on; others need not wait for that.
static void who_is_stuck_lets_others_go(void **state)
{
    (void)state;
    for (int yes = 0; yes < 2; yes++) {
        bench b;
        bench_open(&b, NULL);
        bench_brain(&b);
        b.fail_code = 204;
        bench_goal_text(&b, "去厨房");
        const pons_value *asked = bench_await(&b, "approval.requested", NULL, NULL, 120.0);
        char id[64];
        snprintf(id, sizeof id, "%s", pons_get_str(asked, "id", ""));
        const int starts = bench_starts(&b, MOVES);
        say(&b, "{'text':'wait 1 seconds'}");
        bench_await(&b, "task.done", "status", "succeeded", SOON);
        bench_run(&b, 60.0); // and nothing of it moves meanwhile
        assert_int_equal(bench_starts(&b, MOVES), starts);
        b.fail_code = 0;
        answer(&b, id, yes ? APPROVE : REJECT);
        bench_await(&b, "task.done", "status", yes ? "succeeded" : "aborted", LONG);
        assert_int_equal(bench_starts(&b, MOVES), starts + yes);
        assert_int_equal(bench_count(&b, "approval.requested", NULL, NULL), 1);
        bench_close(&b);
    }
}

// ---- what closes a question ---------------------------------------------------------------------

static void a_stop_closes_what_was_put_aside(void **state)
{
    (void)state;
    for (int approved = 0; approved < 2; approved++) {
        bench b;
        char id[64];
        put_aside(&b, id);
        say(&b, "{'text':'stop'}");
        if (approved) {
            answer(&b, id, APPROVE); // in one breath
        }
        bench_await(&b, "mode", "mode", "SAFE", SOON);
        bench_run(&b, 2.0);
        pons_autovalue open = open_now(&b);
        assert_int_equal(json_array_size(open), 0);
        assert_int_equal(bench_starts(&b, MOVES), 0);
        b.lifts = true;
        bench_post(&b, "control", "{'word':'reset'}");
        bench_run(&b, 1.0);
        bench_post(&b, "control", "{'word':'continue'}");
        bench_await(&b, "approval.requested", NULL, NULL, LONG); // anew
        assert_int_equal(bench_starts(&b, MOVES), 0);
        bench_close(&b);
    }
}

static void a_cancel_closes_it(void **state)
{
    (void)state;
    bench b;
    char id[64];
    put_aside(&b, id);
    bench_post(&b, "control", "{'word':'cancel','task':'task-1'}");
    bench_await(&b, "approval.resolved", "id", id, SOON);
    bench_await(&b, "task.done", "status", "cancelled", SOON);
    answer(&b, id, APPROVE);
    const pons_value *late = bench_await(&b, "approval.late", "id", id, SOON);
    assert_string_equal(pons_get_str(late, "verdict", ""), "closed");
    bench_run(&b, 5.0);
    assert_int_equal(bench_starts(&b, MOVES), 0);
    bench_close(&b);
}

static void its_deadline_goes_on(void **state)
{
    (void)state;
    for (int dead = 0; dead < 2; dead++) {
        bench b;
        bench_open(&b, NULL);
        json_t *approval = json_object_get(b.config, "approval");
        json_object_set_new(approval, "skills", json_pack("[s]", MOVES));
        json_object_set_new(approval, "deadline_s", json_integer(5));
        bench_brain(&b);
        bench_goal_text(&b, "去厨房");
        bench_await(&b, "approval.requested", NULL, NULL, SOON);
        say(&b, "{'text':'wait 1 seconds'}");
        bench_await(&b, "task.done", "status", "succeeded", SOON);
        if (dead) {
            bench_kill(&b);
            bench_run(&b, 10.0);
            bench_brain(&b);
        }
        const pons_value *closed = bench_await(&b, "approval.resolved", NULL, NULL, 10.0);
        assert_string_equal(pons_get_str(closed, "by", ""), "the deadline");
        bench_await(&b, "task.done", "status", "aborted", LONG);
        assert_int_equal(bench_starts(&b, MOVES), 0);
        bench_close(&b);
    }
}

static void a_reject_wins_until_its_turn_comes(void **state)
{
    (void)state;
    bench b;
    char id[64];
    begin(&b, NULL);
    bench_goal_text(&b, "去厨房");
    const pons_value *asked = bench_await(&b, "approval.requested", NULL, NULL, SOON);
    snprintf(id, sizeof id, "%s", pons_get_str(asked, "id", ""));
    say(&b, "{'text':'wait 1 seconds'}");
    bench_await(&b, "effect", "skill", "wait", SOON);
    answer(&b, id, APPROVE);
    bench_run(&b, 0.04);
    bench_post(&b, "answer", "{'action':'reject','nonce':'m','by':'bert'}"); // of no id: that one
    answer(&b, id, "'action':'reject','reason':'after all'");
    bench_await(&b, "task.done", "status", "succeeded", SOON);
    bench_await(&b, "task.done", "status", "aborted", LONG);
    assert_int_equal(bench_starts(&b, MOVES), 0);
    bench_close(&b);
}

// A higher priority takes over: the question stays what it was.
static void a_preemption_leaves_it_open(void **state)
{
    (void)state;
    bench b;
    char id[64];
    begin(&b, NULL);
    bench_goal_text(&b, "去厨房");
    const pons_value *asked = bench_await(&b, "approval.requested", NULL, NULL, SOON);
    snprintf(id, sizeof id, "%s", pons_get_str(asked, "id", ""));
    say(&b, "{'text':'wait 1 seconds','priority':'urgent'}");
    bench_await(&b, "task.done", "status", "succeeded", SOON);
    b.battery = 15.0; // and the kernel's own task
    bench_await(&b, "task.active", "source", "battery", SOON);
    bench_run(&b, 1.0);
    pons_autovalue open = open_now(&b);
    assert_string_equal(id_of(open, "task-1"), id);
    answer(&b, id, APPROVE);
    bench_run(&b, 1.0);
    assert_int_equal(bench_starts(&b, MOVES), 0); // charging goes first
    b.battery = 95.0;
    bench_await(&b, "task.done", "status", "succeeded", LONG);
    bench_await(&b, "task.done", "status", "succeeded", LONG);
    assert_int_equal(bench_starts(&b, MOVES), 1);
    bench_close(&b);
}

static void a_run_that_only_waits_for_people_says_so(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, NULL);
    json_object_set_new(json_object_get(b.config, "approval"), "skills", json_pack("[s]", MOVES));
    b.keep_running = false;
    bench_brain(&b);
    bench_goal_text(&b, "去厨房");
    bench_goal_text(&b, "wait 1 seconds");
    bench_goal_text(&b, "去卧室");
    bench_await(&b, "task.done", "status", "succeeded", SOON);
    bench_await(&b, "run.done", "status", "waiting", SOON);
    assert_int_equal(bench_count(&b, "run.done", NULL, NULL), 1); // not before what can run has run
    pons_autovalue open = open_now(&b);
    assert_int_equal(json_array_size(open), 2);
    answer(&b, id_of(open, "task-1"), APPROVE);
    answer(&b, id_of(open, "task-3"), APPROVE);
    bench_await(&b, "run.done", "status", "succeeded", LONG);
    assert_int_equal(bench_starts(&b, MOVES), 2);
    bench_close(&b);
}

// A person ends what the run had said it waits with, and not by an answer: the run is over, and says how.
static void a_cancel_of_all_that_waits_ends_the_run(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, NULL);
    json_object_set_new(json_object_get(b.config, "approval"), "skills", json_pack("[s]", MOVES));
    b.keep_running = false;
    bench_brain(&b);
    bench_goal_text(&b, "去厨房");
    bench_goal_text(&b, "去卧室");
    bench_await(&b, "run.done", "status", "waiting", SOON);
    pons_autovalue open = open_now(&b);
    answer(&b, id_of(open, "task-2"), REJECT); // the other one was put aside
    bench_await(&b, "run.done", "status", "waiting", SOON);
    bench_post(&b, "control", "{'word':'cancel'}");
    // Of a rejected and a cancelled one, the worst.
    bench_await(&b, "run.done", "status", "aborted", SOON);
    assert_int_equal(bench_starts(&b, MOVES), 0);
    bench_close(&b);
}

// ---- several of one decision --------------------------------------------------------------------

#define ASKS_TWICE                                                                                 \
    "[{'decision':{'type':'CONTINUE','reason':'which?','ops':["                                    \
    "{'op':'dispatch','skill':'wait','args':{'seconds':1}},"                                       \
    "{'op':'approval','question':'may I wait?'},"                                                  \
    "{'op':'approval','question':'which door?','options':['left','right']},"                       \
    "{'op':'approval','question':'how are you?'}]}},"                                              \
    "{'decision':{'type':'ABORT','reason':'enough'},'repeat':true}]"

static void each_question_of_a_decision_is_its_own(void **state)
{
    (void)state;
    for (int how = 0; how < 4; how++) { // all yes; a no to the last; killed between; put aside
        bench b;
        begin(&b, ASKS_TWICE);
        bench_goal_text(&b, "do something");
        for (int i = 0; i < 3; i++) {
            bench_await(&b, "approval.requested", NULL, NULL, SOON);
        }
        bench_run(&b, 0.2);
        pons_autovalue open = open_now(&b);
        assert_int_equal(json_array_size(open), 3);
        const char *id[3];
        for (size_t i = 0; i < 3; i++) {
            id[i] = pons_get_str(json_array_get(open, i), "id", "");
        }
        assert_string_not_equal(id[0], id[1]);
        assert_int_equal(json_array_size(pons_get(json_array_get(open, 0), "ops")), 1);
        assert_int_equal(json_array_size(pons_get(json_array_get(open, 1), "ops")), 0);
        say(&b, "{'text':'left'}"); // the option of the second
        bench_run(&b, 0.3);
        pons_autovalue left = open_now(&b);
        assert_int_equal(bench_count(&b, "effect", NULL, NULL), 0);
        if (how == 2) {
            bench_kill(&b);
            bench_run(&b, 0.3);
            bench_brain(&b);
        } else if (how == 3) {
            b.battery = 15.0;
            bench_await(&b, "task.active", "source", "battery", SOON);
            bench_run(&b, 1.0);
            pons_autovalue still = open_now(&b);
            assert_int_equal(json_array_size(still), 2); // the one that was answered has its answer
        }
        answer(&b, id[2], how == 1 ? REJECT : "'action':'approve','answer':'fine'");
        answer(&b, id[0], APPROVE);
        bench_run(&b, 0.2);
        b.battery = 95.0;
        bench_await(&b, "approval.resolved", NULL, NULL, SOON);
        const pons_value *look = bench_await(&b, "observation", NULL, NULL, SOON);
        const pons_value *human = pons_get(pons_get(look, "observation"), "human");
        const pons_value *also = pons_get(human, "also");
        assert_string_equal(pons_get_str(human, "question", ""), "may I wait?");
        assert_int_equal(json_array_size(also), 2);
        assert_string_equal(pons_get_str(json_array_get(also, 0), "answer", ""), "left");
        assert_string_equal(pons_get_str(json_array_get(also, 1), "answer", ""),
                            how == 1 ? "no" : "fine");
        bench_run(&b, 1.0);
        assert_int_equal(bench_starts(&b, "wait"), 0); // whoever asked has the words first
        assert_int_equal(bench_count(&b, "approval.resolved", NULL, NULL), 3);
        bench_close(&b);
    }
}

// A yes to a question of words with a pace beside it is both.
static void a_yes_and_a_pace(void **state)
{
    (void)state;
    static const struct {
        const char *words;
        int percent;
    } said[] = {{"yes, at half speed", 50}, {"yes, slower", 75}, {"好的，慢一点", 75}};
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
        bench b;
        begin(&b, "[{'decision':{'type':'FINISH','reason':'r','ops':[{'op':'approval','question':"
                  "'is that all?'}]}},"
                  "{'decision':{'type':'ASK_HUMAN','reason':'and now?'},'repeat':true}]");
        b.pace = 100;
        bench_run(&b, 1.0);
        bench_goal_text(&b, "water the plants");
        bench_await(&b, "approval.requested", NULL, NULL, SOON);
        bench_say(&b, said[i].words);
        bench_await(&b, "task.done", "status", "succeeded", SOON);
        bench_run(&b, 1.0);
        assert_int_equal(b.pace, said[i].percent);
        bench_close(&b);
    }
}

// What waits for the word to a model's question goes on by an outright yes alone: goals, steps, an end. Other words are
// for the model.
static void words_let_nothing_through_but_a_yes(void **state)
{
    (void)state;
    static const struct {
        const char *decision, *good; // what shows that it went through: an event, its key and value
    } carried[] = {
        {"'type':'REPLAN','plan_patch':{'goals':[{'intent':'go_to','zone':'kitchen'}]}", NULL},
        {"'type':'REPLAN','plan_patch':{'steps':[{'action':'navigate_to_pose','parameters':{'zone':"
         "'kitchen'}}]}",
         NULL},
        {"'type':'FINISH'", "succeeded"},
        {"'type':'ABORT'", "aborted"},
    };
    static const struct {
        const char *words;
        bool yes;
    } said[] = {{"no", false},           {"不要", false},        {"no, it is not done", false},
                {"不行，不安全", false}, {"maybe later", false}, {"ok?", false},
                {"yes", true},           {"好的", true}};
    for (size_t i = 0; i < sizeof carried / sizeof carried[0]; i++) {
        for (size_t k = 0; k < sizeof said / sizeof said[0]; k++) {
            bench b;
            char script[700], words[128];
            snprintf(
                script, sizeof script,
                "[{'decision':{%s,'reason':'r','ops':[{'op':'approval','question':'may I?'}]}},"
                "{'decision':{'type':'ASK_HUMAN','reason':'and now?'},'repeat':true}]",
                carried[i].decision);
            begin(&b, script);
            b.base_ms = 200;
            bench_goal_text(&b, "water the plants");
            bench_await(&b, "approval.requested", NULL, NULL, SOON);
            snprintf(words, sizeof words, "{'action':'approve','answer':'%s'}", said[k].words);
            bench_post(&b, "answer", words);
            bench_await(&b, "approval.resolved", said[k].yes ? NULL : "action",
                        said[k].yes ? NULL : "reject", SOON);
            bench_settle(&b, 20.0);
            const bool went = carried[i].good
                                  ? bench_count(&b, "task.done", "status", carried[i].good) > 0
                                  : bench_starts(&b, "navigate_to_pose") > 0;
            if (carried[i].good ? went != said[k].yes : went && !said[k].yes) {
                fail_msg("%s: “%s” %s", carried[i].decision, said[k].words,
                         went ? "let it through" : "did not");
            }
            bench_close(&b);
        }
    }
}

// The same of what is to be let go of.
static void words_let_go_of_nothing(void **state)
{
    (void)state;
    static const struct {
        const char *words;
        bool yes;
    } said[] = {{"no", false}, {"not yet", false}, {"ok?", false}, {"yes", true}};
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
        bench b;
        char words[128];
        bench_open(
            &b, "[{'decision':{'type':'CONTINUE','reason':'go','wake_s':1,'ops':[{'op':'dispatch',"
                "'skill':'navigate_to_pose','args':{'zone':'kitchen'}}]}},"
                "{'decision':{'type':'CONTINUE','reason':'enough','ops':[{'op':'cancel','goal_id':"
                "'all'},{'op':'approval','question':'may I let go of it?'}]}},"
                "{'decision':{'type':'ASK_HUMAN','reason':'and now?'},'repeat':true}]");
        bench_brain(&b); // no rule asks about motions
        b.base_ms = 60000;
        bench_goal_text(&b, "water the plants");
        bench_await(&b, "approval.requested", "question", "may I let go of it?", SOON);
        snprintf(words, sizeof words, "{'action':'approve','answer':'%s'}", said[i].words);
        bench_post(&b, "answer", words);
        bench_await(&b, "approval.resolved", NULL, NULL, SOON);
        bench_run(&b, 5.0);
        if ((bench_count(&b, "effect", "state", "canceled") > 0) != said[i].yes) {
            fail_msg("“%s” %s", said[i].words, said[i].yes ? "let go of nothing" : "let go of it");
        }
        bench_close(&b);
    }
}

// Words that two questions could mean answer neither; a yes is any question's.
static void words_for_several_answer_none(void **state)
{
    (void)state;
    bench b;
    begin(&b, "[{'decision':{'type':'CONTINUE','reason':'which?','ops':["
              "{'op':'dispatch','skill':'wait','args':{'seconds':1}},"
              "{'op':'approval','question':'may I wait?'},"
              "{'op':'approval','question':'throw it away?','options':['yes','no']},"
              "{'op':'approval','question':'which room?'},"
              "{'op':'approval','question':'what colour?'}]}}]");
    bench_goal_text(&b, "do something");
    for (int i = 0; i < 4; i++) {
        bench_await(&b, "approval.requested", NULL, NULL, SOON);
    }
    static const char *const words[] = {"{'text':'yes'}", "{'text':'red'}", "{'text':'no'}"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        say(&b, words[i]);
        bench_await(&b, "control", NULL, NULL, SOON);
        bench_run(&b, 0.3);
        pons_autovalue open = open_now(&b);
        assert_int_equal(json_array_size(open), 4);
    }
    bench_close(&b);
}

// A no in words to a question beside sends nothing, and neither does an option: yes to all of them does.
static void words_beside_a_yes(void **state)
{
    (void)state;
    static const struct {
        const char *first, *beside;
        bool sent;
    } rows[] = {
        {"", "no, she is still there", false},
        {"", "不要", false},
        {"", "not clear", false},
        {"", "clear", false},
        {",'answer':'hmm'", "not clear", false}, // which must not be forgotten by asking again
        {"", "yes", true},
        {"", "好的", true}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench b;
        char words[128];
        begin(&b, "[{'decision':{'type':'CONTINUE','reason':'r','ops':["
                  "{'op':'dispatch','skill':'wait','args':{'seconds':1}},"
                  "{'op':'approval','question':'may I wait?'},"
                  "{'op':'approval','question':'is she gone?','options':['clear','not clear']}]}},"
                  "{'decision':{'type':'ABORT','reason':'enough'},'repeat':true}]");
        bench_goal_text(&b, "do something");
        bench_await(&b, "approval.requested", NULL, NULL, SOON);
        bench_await(&b, "approval.requested", NULL, NULL, SOON);
        bench_run(&b, 0.2);
        pons_autovalue open = open_now(&b);
        snprintf(words, sizeof words, "'action':'approve','answer':'%s'", rows[i].beside);
        answer(&b, pons_get_str(json_array_get(open, 1), "id", ""), words);
        snprintf(words, sizeof words, "'action':'approve'%s", rows[i].first);
        answer(&b, pons_get_str(json_array_get(open, 0), "id", ""), words);
        bench_run(&b, 3.0);
        assert_int_equal(bench_count(&b, "approval.resolved", NULL, NULL), 2);
        assert_int_equal(bench_count(&b, "approval.requested", NULL, NULL), 2);
        if ((bench_starts(&b, "wait") > 0) != rows[i].sent) {
            fail_msg("“%s”: %d started", rows[i].beside, bench_starts(&b, "wait"));
        }
        bench_close(&b);
    }
}

// A no to one takes the edit of another with it: what is decided next is nobody's edit, and is neither put back
// nor the person's goal.
static void a_no_takes_an_edit_with_it(void **state)
{
    (void)state;
    static const char *const next[] = {"bedroom", "attic"}; // R4 lets the one pass
    for (size_t i = 0; i < 2; i++) {
        bench b;
        char script[640];
        snprintf(script, sizeof script,
                 "[{'decision':{'type':'CONTINUE','reason':'r','ops':[{'op':'dispatch','skill':"
                 "'" MOVES "','args':{'zone':'kitchen'}},{'op':'approval','question':'may I?'},"
                 "{'op':'approval','question':'how are you?'}]}},"
                 "{'decision':{'type':'CONTINUE','reason':'r','ops':[{'op':'dispatch','skill':"
                 "'" MOVES "','args':{'zone':'%s'},'goal_index':0}]}},"
                 "{'decision':{'type':'ABORT','reason':'enough'},'repeat':true}]",
                 next[i]);
        bench_open(&b, script);
        bench_brain(&b);
        bench_run(&b, 0.2);
        bench_goal_text(&b, "去厨房");
        bench_await(&b, "approval.requested", NULL, NULL, SOON);
        bench_await(&b, "approval.requested", NULL, NULL, SOON);
        bench_run(&b, 0.2);
        pons_autovalue open = open_now(&b);
        answer(&b, pons_get_str(json_array_get(open, 0), "id", ""),
               "'action':'edit','args':{'zone':'living_room'}");
        answer(&b, pons_get_str(json_array_get(open, 1), "id", ""), REJECT);
        if (i == 0) {
            bench_await(&b, "effect", "state", "accepted", LONG);
        } else {
            bench_await(&b, "guard.refused", NULL, NULL, LONG);
            bench_await(&b, "task.done", "status", "aborted", LONG);
        }
        bench_run(&b, 1.0);
        assert_int_equal(bench_count(&b, "goal.replaced", NULL, NULL), 0);
        assert_int_equal(bench_count(&b, "approval.requested", NULL, NULL), 2);
        assert_int_equal(bench_starts(&b, MOVES), i == 0);
        bench_close(&b);
    }
}

// SAFE takes a question back, wherever the brain dies between the kernel's word and the inner loop's: when SAFE has
// passed before the next life, nobody is asked about a stop that the kernel has sent meanwhile.
static void safe_takes_a_question_back_over_a_death(void **state)
{
    (void)state;
    int stopped = 0;
    enum { COMMITS = 10 };
    for (int k = 1; k <= COMMITS; k++) {
        if (!bench_due(ROUNDS_brain_deaths, k - 1, COMMITS)) {
            continue;
        }
        bench b;
        bench_open(&b, "[{'repeat':true,'decision':{'type':'ASK_HUMAN','reason':'may I?','ops':[{"
                       "'op':'dispatch','skill':'stop_base','args':{}}]}}]");
        bench_brain(&b);
        bench_run(&b, 0.2);
        bench_goal_text(&b, "去厨房");
        char id[64];
        const pons_value *asked = bench_await(&b, "approval.requested", NULL, NULL, SOON);
        snprintf(id, sizeof id, "%s", pons_get_str(asked, "id", ""));
        b.kill_at = b.commits + k;
        b.silent = true;
        bench_run(&b, 3.0);
        b.silent = false;
        b.kill_at = 0;
        bench_kill(&b);
        bench_brain(&b);
        bench_run(&b, 3.0);
        pons_autovalue open = open_now(&b);
        const bool sent = bench_starts(&b, "stop_base") > 0;
        size_t n;
        json_t *one;
        json_array_foreach(open, n, one) {
            if (sent && strcmp(pons_get_str(one, "id", ""), id) == 0) {
                fail_msg("killed at commit %d: a stop was sent, the question about it is open", k);
            }
        }
        stopped += sent;
        bench_close(&b);
    }
    assert_true(stopped > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(why_it_was_left_is_kept),
        cmocka_unit_test(others_run_while_one_waits),
        cmocka_unit_test(three_questions_in_any_order),
        cmocka_unit_test(eighty_questions),
        cmocka_unit_test(an_answer_waits_for_its_turn),
        cmocka_unit_test(whoever_dies_it_is_done_once),
        cmocka_unit_test(who_is_stuck_lets_others_go),
        cmocka_unit_test(a_stop_closes_what_was_put_aside),
        cmocka_unit_test(a_cancel_closes_it),
        cmocka_unit_test(a_cancel_of_all_that_waits_ends_the_run),
        cmocka_unit_test(its_deadline_goes_on),
        cmocka_unit_test(a_reject_wins_until_its_turn_comes),
        cmocka_unit_test(a_preemption_leaves_it_open),
        cmocka_unit_test(a_run_that_only_waits_for_people_says_so),
        cmocka_unit_test(safe_takes_a_question_back_over_a_death),
        cmocka_unit_test(each_question_of_a_decision_is_its_own),
        cmocka_unit_test(a_no_takes_an_edit_with_it),
        cmocka_unit_test(a_yes_and_a_pace),
        cmocka_unit_test(words_let_nothing_through_but_a_yes),
        cmocka_unit_test(words_let_go_of_nothing),
        cmocka_unit_test(words_for_several_answer_none),
        cmocka_unit_test(words_beside_a_yes),
    };
    pons_value_init();
    return cmocka_run_group_tests_name("questions", tests, NULL, NULL);
}
