// test_answer_taken_back.c - a no after a yes, and an answer that comes where nobody waits just then: wherever the
// brain dies, what its teller is told is what happens.
//
// Each story brings the brain to a question (or two), answers it, and kills the brain at one commit after the
// other. Then a no is posted, `pons_answer_read` is asked what it will be, and the next life must do that.
#include "brain_bench.h"
#include "pons/plan.h"
#include "unit.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define SOON    5.0
#define LONG    60.0
#define COMMITS 18
#define IDS     3

#define MOVES   "navigate_to_pose"
#define APPROVE "'action':'approve'"
#define REJECT  "'action':'reject','reason':'the floor is wet'"
#define KITCHEN "{'op':'dispatch','skill':'navigate_to_pose','args':{'zone':'kitchen'}}"
#define ASKS    "{'decision':{'type':'ASK_HUMAN','reason':'and now?'},'repeat':true}]"

static void answer(bench *b, const char *id, const char *by, const char *rest)
{
    char text[300];
    snprintf(text, sizeof text, "{'id':'%s','nonce':'%s','by':'%s',%s}", id, by, by, rest);
    bench_post(b, "answer", text);
}

static void begin(bench *b, const char *script)
{
    bench_open(b, script);
    json_object_set_new(json_object_get(b->config, "approval"), "skills", json_pack("[s]", MOVES));
    bench_brain(b);
    bench_run(b, 0.2);
}

static void next_id(bench *b, char ret[64])
{
    const pons_value *asked = bench_await(b, "approval.requested", NULL, NULL, LONG);
    snprintf(ret, 64, "%s", pons_get_str(asked, "id", ""));
}

// ---- the stories --------------------------------------------------------------------------------

typedef struct story {
    const char *name;
    void (*ask)(bench *b, char ids[IDS][64]); // until all questions are open
    int questions, taken_back;                // how many, and which one's yes is taken back
    int (*went)(bench *b);                    // how often what was approved has happened
    bool last;                                // a no ends it: nothing is asked again
} story;

static int moved(bench *b)
{
    return bench_starts(b, MOVES);
}

// By what is stored: who dies behind a commit tells nobody.
static int ended(bench *b)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue is = NULL;
    assert_int_equal(pons_status_read(b->memory, "t1", NULL, NULL, &is, &err), PONS_OK);
    return json_array_size(pons_get(is, "queue")) == 0;
}

// A task was put aside with its question, and another one is done meanwhile.
static void put_aside(bench *b, char ids[IDS][64])
{
    begin(b, NULL);
    bench_goal_text(b, "去厨房");
    next_id(b, ids[0]);
    bench_post(b, "say", "{'text':'wait 1 seconds'}");
    bench_await(b, "task.done", "status", "succeeded", SOON);
}

static void two_of_one_decision(bench *b, char ids[IDS][64])
{
    begin(b,
          "[{'decision':{'type':'CONTINUE','reason':'r','ops':[{'op':'approval','question':'may I "
          "go?'},{'op':'approval','question':'is nobody there?'}," KITCHEN "]}}," ASKS);
    bench_goal_text(b, "water the plants");
    next_id(b, ids[0]);
    next_id(b, ids[1]);
}

static void an_end(bench *b, char ids[IDS][64])
{
    begin(
        b,
        "[{'decision':{'type':'ABORT','reason':'r','ops':[{'op':'approval','question':'may I give "
        "up?'}]}}," ASKS);
    bench_goal_text(b, "water the plants");
    next_id(b, ids[0]);
}

static void one_more_try(bench *b, char ids[IDS][64])
{
    bench_open(b, NULL);
    bench_brain(b);
    b->fail_code = 208;
    bench_goal_text(b, "去厨房");
    next_id(b, ids[0]);
}

// The body died under way, and nobody knows what came of it: a yes settles that.
static void what_nobody_knows(bench *b, char ids[IDS][64])
{
    bench_open(b,
               "[{'decision':{'type':'CONTINUE','reason':'go','ops':[" KITCHEN
               "]}},{'decision':{'type':'ASK_HUMAN','reason':'shall I go on?'}},"
               "{'repeat':true,'decision':{'type':'CONTINUE','reason':'go','ops':[" KITCHEN "]}}]");
    json_object_set_new(json_object_get(b->config, "approval"), "ask_on_unknown",
                        json_pack("[s]", MOVES));
    bench_brain(b);
    b->base_ms = 4000;
    bench_goal_text(b, "water the plants");
    bench_await(b, "effect", "state", "accepted", SOON);
    bench_kill(b);
    b->boot = "boot-2";
    bench_brain(b);
    next_id(b, ids[0]);
}

static int let_go(bench *b)
{
    return bench_sent(b, "cancel", NULL, NULL) > 0;
}

static void a_cancel_alone(bench *b, char ids[IDS][64])
{
    bench_open(b, "[{'decision':{'type':'CONTINUE','reason':'go','wake_s':1,'ops':[" KITCHEN
                  "]}},{'decision':{'type':'CONTINUE','reason':'enough','ops':[{'op':'cancel',"
                  "'goal_id':'all'},{'op':'approval','question':'may I let go of it?'}]}}," ASKS);
    bench_brain(b);
    b->base_ms = BENCH_NEVER;
    bench_goal_text(b, "water the plants");
    next_id(b, ids[0]);
}

static void a_plans_step(bench *b, char ids[IDS][64])
{
    static const char steps[] = "{\"plan_id\":\"plan_1\",\"goal\":\"look after the "
                                "house\",\"steps\":[{\"step_id\":1,\"action\":"
                                "\"navigate_to_pose\",\"parameters\":{\"zone\":\"kitchen\"}}]}";
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue v = NULL;
    pons_plan *plan = NULL;
    begin(b, NULL);
    assert_int_equal(pons_value_parse(steps, strlen(steps), &v, &err), PONS_OK);
    assert_int_equal(pons_plan_from_value(v, 0, &plan, &err), PONS_OK);
    assert_int_equal(pons_brain_add_plan(b->brain, plan, &err), PONS_OK);
    pons_plan_destroy(plan);
    next_id(b, ids[0]);
}

static const story stories[] = {
    {"put aside", put_aside, 1, 0, moved, false},
    {"the first of two", two_of_one_decision, 2, 0, moved, false},
    {"the second of two", two_of_one_decision, 2, 1, moved, false},
    {"an end", an_end, 1, 0, ended, false},
    {"one more try", one_more_try, 1, 0, moved, true},
    {"what nobody knows", what_nobody_knows, 1, 0, moved, false},
    {"a plan's step", a_plans_step, 1, 0, moved, true},
    {"a cancel alone", a_cancel_alone, 1, 0, let_go, false},
};

static bool tell(bench *b, const char *id)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue reported = NULL;
    answer(b, id, "bert", REJECT);
    assert_int_equal(pons_answer_read(b->memory, "t1", id, "bert", &reported, &err), PONS_OK);
    return strcmp(pons_get_str(reported, "verdict", ""), "overrides") == 0;
}

// It is answered, the brain dies at the commit of that number, and a no is posted; whether that counts. It lives again.
static bool taken_back_behind(bench *b, int commit, const char *id, const char *first)
{
    b->kill_at = b->commits + commit;
    answer(b, id, "anna", first);
    bench_run(b, 1.0);
    bench_kill(b);
    const bool wins = tell(b, id);
    b->kill_at = 0;
    bench_brain(b);
    return wins;
}

static void what_is_told_is_what_happens(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof stories / sizeof stories[0]; i++) {
        const story *is = &stories[i];
        int won = 0, late = 0;
        for (int n = 1; n <= COMMITS; n++) {
            for (int before = 0; before <= 1; before++) {
                if (!bench_due(ROUNDS_brain_deaths, 2 * (n - 1) + before, 2 * COMMITS)) {
                    continue;
                }
                bench b;
                char ids[IDS][64];
                is->ask(&b, ids);
                const int went = is->went(&b);
                const int asked = bench_count(&b, "approval.requested", NULL, NULL);
                b.kill_at = b.commits + n;
                b.kill_before = before;
                for (int k = 0; k < is->questions; k++) {
                    answer(&b, ids[k], "anna", APPROVE);
                }
                bench_run(&b, 1.0);
                bench_kill(&b);
                const bool wins = tell(&b, ids[is->taken_back]);
                const int here = is->went(&b);
                b.kill_at = 0;
                bench_brain(&b);
                bench_settle(&b, 20.0);
                won += wins;
                late += !wins;
                // What has ended may do so by the no itself, as a task of recovery's does.
                const bool goes = is->went(&b) > here || (wins && here > went);
                if (wins && goes) {
                    fail_msg("%s, killed %s commit %d: the no counts, and it went", is->name,
                             before ? "before" : "after", n);
                }
                if (wins && is->last && bench_count(&b, "approval.requested", NULL, NULL) > asked) {
                    fail_msg("%s, killed %s commit %d: the no counts, and it is asked again",
                             is->name, before ? "before" : "after", n);
                }
                if (!wins && is->went(&b) == went) {
                    fail_msg("%s, killed %s commit %d: the no is late, and it never went", is->name,
                             before ? "before" : "after", n);
                }
                bench_close(&b);
            }
        }
        printf("%s: %d counted, %d late\n", is->name, won, late);
        assert_true(won > 0);
        assert_true(late > 0);
    }
}

// The goal that an edit has changed is as it was, where the edit is taken back.
static void an_edit_that_is_taken_back(void **state)
{
    (void)state;
    int won = 0, tried = 0;
    for (int n = 1; n <= COMMITS; n++) {
        if (!bench_due(ROUNDS_brain_deaths, n - 1, COMMITS)) {
            continue;
        }
        bench b;
        char ids[IDS][64];
        begin(&b, "[{'decision':{'type':'CONTINUE','reason':'r','ops':[{'op':'dispatch','skill':"
                  "'navigate_to_pose','args':{'zone':'kitchen'},'goal_index':0}]}}," ASKS);
        bench_goal_text(&b, "去厨房");
        next_id(&b, ids[0]);
        const bool wins =
            taken_back_behind(&b, n, ids[0], "'action':'edit','args':{'zone':'bedroom'}");
        const pons_value *seen = bench_await(&b, "observation", NULL, NULL, LONG);
        const pons_value *task = pons_get(pons_get(seen, "observation"), "task");
        const char *zone =
            pons_get_str(json_array_get(pons_get(task, "goals"), 0), "zone", "nowhere");
        if (wins && strcmp(zone, "kitchen") != 0) {
            fail_msg("killed at commit %d: the no counts, and the goal is the %s", n, zone);
        }
        won += wins;
        tried++;
        bench_close(&b);
    }
    assert_true(won * COMMITS > 4 * tried);
}

// The first question is asked again, as its edit was none: a no to the other one, which had a yes, still counts.
static void a_no_beside_an_edit_that_was_none(void **state)
{
    (void)state;
    static const char *const edits[] = {"'action':'edit','op':7,'args':{'zone':'bedroom'}",
                                        "'action':'edit','args':{'zone':'moon'}"};
    for (size_t i = 0; i < 2 * sizeof edits / sizeof edits[0]; i++) {
        bench b;
        char ids[IDS][64];
        two_of_one_decision(&b, ids);
        answer(&b, ids[1], "anna", APPROVE);
        answer(&b, ids[0], "anna", edits[i % 2]);
        next_id(&b, ids[2]);
        if (i >= 2) { // the task is put aside, and taken up again
            bench_say(&b, "pause");
            bench_run(&b, 1.0);
        }
        assert_true(tell(&b, ids[1]));
        bench_run(&b, 0.5);
        bench_say(&b, "continue");
        bench_run(&b, 0.5);
        answer(&b, ids[2], "anna", APPROVE);
        bench_settle(&b, 20.0);
        assert_int_equal(moved(&b), 0);
        bench_close(&b);
    }
}

// The same to the first question itself, whose edit R4 has yet to refuse, or has: it is asked again, and a yes to that
// moves nothing.
static void a_no_to_an_edit_that_is_none(void **state)
{
    (void)state;
    int won = 0;
    for (int n = 1; n <= COMMITS; n++) {
        if (!bench_due(ROUNDS_brain_deaths, n - 1, COMMITS)) {
            continue;
        }
        bench b;
        char ids[IDS][64];
        begin(&b, NULL);
        bench_goal_text(&b, "去厨房");
        next_id(&b, ids[0]);
        const bool wins =
            taken_back_behind(&b, n, ids[0], "'action':'edit','args':{'zone':'moon'}");
        bench_run(&b, 1.0);
        pons_autovalue is = pons_brain_status(b.brain);
        const pons_value *open = json_array_get(pons_get(is, "approvals"), 0);
        if (open) {
            answer(&b, pons_get_str(open, "id", ""), "anna", APPROVE);
        }
        bench_settle(&b, 10.0);
        if (wins && moved(&b) > 0) {
            fail_msg("killed at commit %d: the no counts, and it went", n);
        }
        won += wins;
        bench_close(&b);
    }
    assert_true(won > 0);
}

// Who answers as soon as the store has the question is heard, however slow the disk is.
static void a_no_on_a_slow_disk(void **state)
{
    (void)state;
    bench b;
    begin(&b, NULL);
    b.commit_ms = 150;
    bench_goal_text(&b, "去厨房");
    bool asked = false;
    for (int i = 0; i < 500 && !asked; i++) {
        pons_error err = PONS_ERROR_INIT;
        pons_autovalue is = NULL;
        bench_run(&b, 0.02);
        pons_status_read(b.memory, "t1", NULL, NULL, &is, &err);
        const pons_value *open = json_array_get(pons_get(is, "approvals"), 0);
        asked = open;
        if (asked) {
            answer(&b, pons_get_str(open, "id", ""), "anna", REJECT);
            bench_run(&b, 3.0);
            answer(&b, pons_get_str(open, "id", ""), "bert", APPROVE);
        }
    }
    assert_true(asked);
    bench_settle(&b, 20.0);
    assert_int_equal(moved(&b), 0);
    assert_int_equal(bench_count(&b, "approval.late", "verdict", "closed"), 0);
    bench_close(&b);
}

// The turn of a task has come whose question nobody has answered yet, and the inner loop has not read so: what is
// answered then is heard.
static void an_answer_between_two_loops(void **state)
{
    (void)state;
    for (int n = 1; n <= COMMITS; n++) {
        if (!bench_due(ROUNDS_brain_deaths, n - 1, COMMITS)) {
            continue;
        }
        bench b;
        char ids[IDS][64];
        begin(&b, NULL);
        bench_goal_text(&b, "去厨房");
        next_id(&b, ids[0]);
        bench_say(&b, "pause");
        bench_run(&b, 1.0);
        b.kill_at = b.commits + n;
        bench_say(&b, "continue");
        bench_run(&b, 1.0);
        bench_kill(&b);
        answer(&b, ids[0], "anna", APPROVE);
        b.kill_at = 0;
        bench_brain(&b);
        bench_run(&b, 2.0);
        if (bench_count(&b, "approval.late", NULL, NULL) > 0 || moved(&b) != 1) {
            fail_msg("killed at commit %d: %d late, %d goals", n,
                     bench_count(&b, "approval.late", NULL, NULL), moved(&b));
        }
        bench_close(&b);
    }
}

#define EIGHT                                                                                      \
    "{'decision':{'type':'CONTINUE','reason':'r','ops':[{'op':'approval','question':'a'},{'op':"   \
    "'approval','question':'b'},{'op':'approval','question':'c'},{'op':'approval','question':'d'"  \
    "},{'op':'approval','question':'e'},{'op':'approval','question':'f'},{'op':'approval',"        \
    "'question':'g'},{'op':'approval','question':'h'}]}},"

// However much is answered meanwhile, what somebody has said to a question that is still open stays said.
static void an_answer_is_not_forgotten(void **state)
{
    (void)state;
    bench b;
    char ids[IDS][64];
    begin(&b,
          "[{'decision':{'type':'CONTINUE','reason':'r','ops':[{'op':'approval','question':'may I "
          "go?'},{'op':'approval','question':'is nobody there?'}," KITCHEN
          "]}}," EIGHT EIGHT EIGHT ASKS);
    bench_goal_text(&b, "water the plants");
    next_id(&b, ids[0]);
    next_id(&b, ids[1]);
    bench_post(&b, "say", "{'text':'feed the fish'}");
    answer(&b, ids[0], "anna", REJECT);
    for (int i = 0; i < 24; i++) {
        next_id(&b, ids[2]);
        answer(&b, ids[2], "anna", "'action':'approve','answer':'blue'");
    }
    bench_await(&b, "approval.requested", "question", "and now?", SOON);
    answer(&b, ids[0], "bert", APPROVE);
    const pons_value *late = bench_await(&b, "approval.late", NULL, NULL, SOON);
    assert_string_equal(pons_get_str(late, "id", ""), ids[0]);
    assert_string_equal(pons_get_str(pons_get(late, "first"), "by", ""), "anna");
    answer(&b, ids[1], "bert", APPROVE);
    bench_settle(&b, 20.0);
    assert_int_equal(moved(&b), 0);
    bench_close(&b);
}

// There is nothing to edit in a question that stands beside the operations.
static void an_edit_beside_is_no_yes(void **state)
{
    (void)state;
    static const char *const edits[] = {
        "'action':'edit','args':{'zone':'bedroom'}",
        "'action':'edit','ops':[{'skill':'navigate_to_pose','args':{'zone':'bedroom'}}]"};
    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
        bench b;
        char ids[IDS][64];
        two_of_one_decision(&b, ids);
        answer(&b, ids[1], "anna", edits[i]);
        answer(&b, ids[0], "anna", APPROVE);
        bench_await(&b, "approval.requested", "question", "and now?", SOON);
        bench_settle(&b, 10.0);
        assert_int_equal(moved(&b), 0);
        bench_close(&b);
    }
}

// Two like goals, one of them met: what is put back is no more met than it was.
static void like_goals_that_are_put_back(void **state)
{
    (void)state;
    enum { PUTS = 7 };
    for (int n = 1; n <= PUTS; n++) {
        if (!bench_due(ROUNDS_brain_deaths, n - 1, PUTS)) {
            continue;
        }
        bench b;
        char id[64];
        begin(&b, "[{'decision':{'type':'CONTINUE','reason':'hi','ops':[{'op':'dispatch','skill':"
                  "'speak','args':{'text':'hello'},'goal_index':0}]}},"
                  "{'decision':{'type':'REPLAN','reason':'more','plan_patch':{'goals':[{'intent':"
                  "'go_to','zone':'living_room','text':'look there'}]},'ops':[{'op':'approval',"
                  "'question':'may I look there too?'}]}},"
                  "{'decision':{'type':'FINISH','reason':'done'}}," ASKS);
        bench_goal_text(&b, "say hello, say hello");
        next_id(&b, id);
        b.kill_at = b.commits + n;
        answer(&b, id, "anna", APPROVE);
        bench_run(&b, 1.0);
        bench_kill(&b);
        answer(&b, id, "bert", REJECT);
        b.kill_at = 0;
        bench_brain(&b);
        bench_await(&b, "guard.refused", NULL, NULL, SOON); // one hello is still to be said
        bench_run(&b, 2.0);
        if (bench_count(&b, "task.done", NULL, NULL) != 0) {
            fail_msg("killed at commit %d: done, and said %d times", n, bench_starts(&b, "speak"));
        }
        bench_close(&b);
    }
}

// "No", which names no question, takes back the yes that is being acted on, as a reject by its id does.
static void a_no_in_words(void **state)
{
    (void)state;
    static const char *const kinds[][2] = {{"say", "{'text':'no','by':'bert'}"},
                                           {"say", "{'text':'不行','by':'bert'}"},
                                           {"control", "{'word':'no','by':'bert'}"}};
    enum { KINDS = sizeof kinds / sizeof kinds[0] };
    int counted[2] = {0};
    for (size_t k = 0; k < KINDS; k++) {
        for (int n = 1; n <= COMMITS; n++) {
            if (!bench_due(ROUNDS_brain_deaths, (int)k * COMMITS + n - 1, KINDS * COMMITS)) {
                continue;
            }
            int went[2];
            for (int by_id = 0; by_id < 2; by_id++) {
                bench b;
                char id[64];
                begin(&b, NULL);
                bench_goal_text(&b, "去厨房");
                next_id(&b, id);
                b.kill_at = b.commits + n;
                answer(&b, id, "anna", APPROVE);
                bench_run(&b, 1.0);
                bench_kill(&b);
                if (by_id) {
                    answer(&b, id, "bert", REJECT);
                } else {
                    bench_post(&b, kinds[k][0], kinds[k][1]);
                }
                b.kill_at = 0;
                bench_brain(&b);
                bench_run(&b, 5.0);
                went[by_id] = moved(&b);
                bench_close(&b);
            }
            if (went[0] != went[1]) {
                fail_msg("killed at commit %d, %s: went %d times, by its id %d", n, kinds[k][1],
                         went[0], went[1]);
            }
            counted[went[0]]++;
        }
    }
    const int least = 12 * (counted[0] + counted[1]);
    assert_true(counted[0] * KINDS * COMMITS >= least && counted[1] * KINDS * COMMITS >= least);
    print_message("a no in words: %d counted, %d came when it had begun\n", counted[0], counted[1]);
}

// A task with a yes waits for its turn: status shows that, and a no takes it back, whether it names the question or not.
static void a_yes_that_waits_is_shown_and_taken_back(void **state)
{
    (void)state;
    for (int named = 0; named < 2; named++) {
        bench b;
        char id[64];
        pons_error err = PONS_ERROR_INIT;
        begin(&b, NULL);
        bench_goal_text(&b, "去厨房");
        next_id(&b, id);
        bench_run(&b, 0.5);
        bench_say(&b, "pause");
        bench_run(&b, 2.0);
        answer(&b, id, "anna", APPROVE);
        bench_run(&b, 2.0);
        pons_autovalue is = pons_brain_status(b.brain);
        const pons_value *shown = json_array_get(pons_get(is, "answered"), 0);
        assert_string_equal(pons_get_str(shown, "id", ""), id);
        assert_string_equal(pons_get_str(pons_get(shown, "answer"), "by", ""), "anna");
        assert_int_equal(json_array_size(pons_get(is, "approvals")), 0);
        pons_autovalue no = json_pack("{s:s, s:s}", "action", "reject", "reason", "the floor");
        if (named) {
            json_object_set_new(no, "id", json_string(id));
        }
        assert_true(pons_brain_answer(b.brain, no, &err) >= 0);
        bench_run(&b, 1.0);
        pons_autovalue then = pons_brain_status(b.brain);
        assert_null(pons_get(then, "answered"));
        bench_say(&b, "continue");
        bench_settle(&b, 10.0);
        assert_int_equal(moved(&b), 0);
        bench_close(&b);
    }
}

// The task is cancelled while its question is between two hands: the question is over as well, and told so.
static void a_question_of_a_task_that_is_cancelled(void **state)
{
    (void)state;
    enum { HANDS = 21 };
    for (int n = 1; n <= HANDS; n++) {
        if (!bench_due(ROUNDS_brain_deaths, n - 1, HANDS)) {
            continue;
        }
        bench b;
        char id[64];
        begin(&b, NULL);
        bench_goal_text(&b, "去厨房");
        next_id(&b, id);
        bench_run(&b, 0.5);
        b.kill_at = b.commits + n;
        bench_post(&b, "say", "{'text':'wait 1 seconds'}"); // it is put aside for this one
        bench_run(&b, 1.0);
        bench_kill(&b);
        pons_autovalue is = NULL;
        pons_error err = PONS_ERROR_INIT;
        assert_true(pons_status_read(b.memory, "t1", NULL, NULL, &is, &err) >= 0);
        assert_int_equal(json_array_size(pons_get(is, "approvals")),
                         1); // also while nobody is there
        bench_post(&b, "control", "{'word':'cancel'}");
        b.kill_at = 0;
        bench_brain(&b);
        bench_run(&b, 6.0);
        if (bench_count(&b, "approval.resolved", "id", id) != 1) {
            fail_msg("killed at commit %d: told %d times that it is over", n,
                     bench_count(&b, "approval.resolved", "id", id));
        }
        bench_close(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_told_is_what_happens),
        cmocka_unit_test(an_edit_that_is_taken_back),
        cmocka_unit_test(a_no_beside_an_edit_that_was_none),
        cmocka_unit_test(a_no_to_an_edit_that_is_none),
        cmocka_unit_test(a_no_on_a_slow_disk),
        cmocka_unit_test(an_answer_between_two_loops),
        cmocka_unit_test(an_answer_is_not_forgotten),
        cmocka_unit_test(an_edit_beside_is_no_yes),
        cmocka_unit_test(like_goals_that_are_put_back),
        cmocka_unit_test(a_no_in_words),
        cmocka_unit_test(a_yes_that_waits_is_shown_and_taken_back),
        cmocka_unit_test(a_question_of_a_task_that_is_cancelled),
    };
    return cmocka_run_group_tests_name("a no after a yes", tests, NULL, NULL);
}
