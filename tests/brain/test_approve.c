// test_approve.c - questions to a person: what they show, which answer counts, what an edit changes.
//
// The first answer that was posted binds, whoever lives meanwhile; a later one is told. A stop, and a
// reject of what has not started, win over an approval. What an edit says is held against the rules
// before it counts, and what it says of a goal's place is the goal from then on.
#include "brain_bench.h"
#include "unit.h"

#include <string.h>

#define SOON 2.0
#define LONG 20.0

#define GO_AND_SAY                                                                                 \
    "'ops':[{'op':'dispatch','skill':'navigate_to_pose','args':{'zone':'kitchen'}},"               \
    "{'op':'dispatch','skill':'wait','args':{'seconds':1}},{'op':'speak','text':'here I come'}]"
#define MODEL                                                                                      \
    "[{'decision':{'type':'CONTINUE','reason':'the kitchen is next'," GO_AND_SAY "}},"             \
    "{'decision':{'type':'CONTINUE','reason':'wait'}}]"

static void ask_first(bench *b)
{
    json_object_set_new(json_object_get(b->config, "approval"), "skills",
                        json_pack("[s]", "navigate_to_pose"));
}

// A question is open; its id.
static const char *asked(bench *b, const char *script)
{
    static char id[64];
    bench_open(b, script);
    ask_first(b);
    bench_brain(b);
    bench_goal_text(b, "去厨房");
    const pons_value *q = bench_await(b, "approval.requested", NULL, NULL, SOON);
    snprintf(id, sizeof id, "%s", pons_get_str(q, "id", ""));
    bench_run(b, 0.1);
    return id;
}

static int motions(const bench *b)
{
    return bench_starts(b, "navigate_to_pose");
}

static void answer(bench *b, const char *id, const char *nonce, const char *rest)
{
    char text[512];
    snprintf(text, sizeof text, "{'id':'%s','nonce':'%s','by':'%s','at_ms':%d,%s}", id, nonce,
             nonce, 1000 + nonce[0], rest);
    bench_post(b, "answer", text);
}

// What its teller is told.
static void expect_verdict(bench *b, const char *id, const char *nonce, const char *verdict,
                           const char *first)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue got = NULL;
    assert_int_equal(pons_answer_read(b->memory, "t1", id, nonce, &got, &err), PONS_OK);
    if (strcmp(pons_get_str(got, "verdict", ""), verdict) != 0) {
        fail_msg("%s is %s, not %s", nonce, pons_get_str(got, "verdict", ""), verdict);
    }
    if (first) {
        assert_string_equal(pons_get_str(pons_get(got, "first"), "by", ""), first);
        assert_int_equal(pons_get_int(pons_get(got, "first"), "at_ms", 0), 1000 + first[0]);
    }
}

#define APPROVE "'action':'approve'"
#define REJECT  "'action':'reject','reason':'the floor is wet'"

// ---- the question -------------------------------------------------------------------------------

static void a_question_shows_every_operation(void **state)
{
    (void)state;
    static const char *const skills[] = {"navigate_to_pose", "wait", "speak"};
    bench b;
    asked(&b, MODEL);
    pons_autovalue status = pons_brain_status(b.brain);
    const pons_value *q = json_array_get(pons_get(status, "approvals"), 0);
    const pons_value *ops = pons_get(q, "ops");
    assert_int_equal(json_array_size(ops), 3);
    for (size_t i = 0; i < 3; i++) {
        const pons_value *op = json_array_get(ops, i);
        assert_string_equal(pons_get_str(op, "skill", ""), skills[i]);
        assert_true(json_is_object(pons_get(op, "args")));
        assert_string_equal(pons_get_str(op, "reason", ""), "the kitchen is next");
        assert_int_equal(json_array_size(pons_get(op, "asks")), i == 0); // the rule that asks
    }
    const pons_value *rule = json_array_get(pons_get(json_array_get(ops, 0), "asks"), 0);
    assert_string_equal(pons_get_str(rule, "rule", ""), "approval");
    assert_true(strlen(pons_get_str(rule, "message", "")) > 0);
    bench_close(&b);
}

// A name in approval.skills that no skill has holds nothing back: whoever runs it is told, once.
static void a_name_that_no_skill_has_is_told(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, NULL);
    json_object_set_new(json_object_get(b.config, "approval"), "skills",
                        json_pack("[ss]", "wait", "navigate_to_pse"));
    bench_brain(&b);
    const pons_value *doubt = bench_await(&b, "config.doubt", NULL, NULL, SOON);
    assert_string_equal(pons_get_str(doubt, "path", ""), "approval.skills[1]");
    assert_non_null(strstr(pons_get_str(doubt, "message", ""), "navigate_to_pse"));
    bench_run(&b, 1.0);
    assert_int_equal(bench_count(&b, "config.doubt", NULL, NULL), 1);
    bench_close(&b);
}

// ---- the first answer binds ---------------------------------------------------------------------

// Two people: in one breath, one after the other, to nobody, to a brain that dies on the way.
static void the_first_answer_binds(void **state)
{
    (void)state;
    static const struct {
        const char *first, *second;
        const char *verdict; // of the second
        bool drives;
    } rows[] = {{APPROVE, APPROVE, "late", true},
                {REJECT, APPROVE, "late", false},
                {REJECT, REJECT, "late", false},
                {REJECT, "'action':'edit','args':{'zone':'bedroom'}", "late", false},
                {"'action':'edit','args':{'zone':'kitchen'}", APPROVE, "late", true}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int how = 0; how < 3; how++) { // 0: one breath; 1: the first is heard; 2: nobody there
            bench b;
            const char *id = asked(&b, NULL);
            if (how == 2) {
                bench_kill(&b);
            }
            answer(&b, id, "anna", rows[i].first);
            if (how == 1) {
                bench_run(&b, 0.04);
            }
            answer(&b, id, "bert", rows[i].second);
            expect_verdict(&b, id, "anna", "bound", "anna"); // before any brain says so
            expect_verdict(&b, id, "bert", rows[i].verdict, "anna");
            if (how == 2) {
                bench_brain(&b);
            }
            bench_await(&b, "task.done", "status", rows[i].drives ? "succeeded" : "aborted", LONG);
            assert_int_equal(motions(&b), rows[i].drives);
            expect_verdict(&b, id, "anna", "bound", "anna"); // and after
            expect_verdict(&b, id, "bert", rows[i].verdict, "anna");
            const pons_value *late = NULL;
            b.mark = 0;
            late = bench_await(&b, "approval.late", NULL, NULL, 0.1);
            assert_string_equal(pons_get_str(pons_get(late, "first"), "by", ""), "anna");
            bench_close(&b);
        }
    }
}

// The brain is killed at every commit after the answers: what was told to the two stays true.
static void what_was_told_survives_every_kill(void **state)
{
    (void)state;
    enum { COMMITS = 14 };
    for (int n = 1; n <= COMMITS; n++) {
        for (int before = 0; before <= 1; before++) {
            for (int yes = 0; yes <= 1; yes++) {
                if (!bench_due(ROUNDS_brain_deaths, 4 * (n - 1) + 2 * before + yes, 4 * COMMITS)) {
                    continue;
                }
                bench b;
                const char *id = asked(&b, NULL);
                b.kill_at = b.commits + n;
                b.kill_before = before;
                answer(&b, id, "anna", yes ? APPROVE : REJECT);
                answer(&b, id, "bert", APPROVE);
                bench_run(&b, 0.2);
                bench_kill(&b);
                expect_verdict(&b, id, "anna", "bound", "anna");
                expect_verdict(&b, id, "bert", "late", "anna");
                bench_brain(&b);
                bench_await(&b, "task.done", "status", yes ? "succeeded" : "aborted", 60.0);
                assert_int_equal(motions(&b), yes);
                expect_verdict(&b, id, "anna", "bound", "anna");
                expect_verdict(&b, id, "bert", "late", "anna");
                bench_close(&b);
            }
        }
    }
}

// ---- what wins over an approval -----------------------------------------------------------------

static void a_reject_wins_over_an_approve_that_has_not_started(void **state)
{
    (void)state;
    for (int how = 0; how < 2; how++) {
        bench b;
        const char *id = asked(&b, NULL);
        if (how == 1) {
            bench_kill(&b);
        }
        answer(&b, id, "anna", APPROVE);
        answer(&b, id, "bert", REJECT);
        expect_verdict(&b, id, "bert", "overrides", NULL);
        if (how == 1) {
            bench_brain(&b);
        }
        bench_await(&b, "task.done", "status", "aborted", LONG);
        assert_int_equal(motions(&b), 0);
        expect_verdict(&b, id, "bert", "overrides", NULL);
        bench_close(&b);
    }
}

// Between the approval and the moment at which the goal goes out, whoever dies in it.
static void a_reject_in_the_gap_wins(void **state)
{
    (void)state;
    int vetoed = 0, late = 0;
    enum { COMMITS = 12 };
    for (int n = 1; n <= COMMITS; n++) {
        for (int before = 0; before <= 1; before++) {
            if (!bench_due(ROUNDS_brain_deaths, 2 * (n - 1) + before, 2 * COMMITS)) {
                continue;
            }
            bench b;
            const char *id = asked(&b, NULL);
            b.kill_at = b.commits + n;
            b.kill_before = before;
            answer(&b, id, "anna", APPROVE);
            bench_run(&b, 0.2);
            bench_kill(&b);
            const int started = motions(&b);
            answer(&b, id, "bert", REJECT);
            pons_error err = PONS_ERROR_INIT;
            pons_autovalue reported = NULL;
            assert_int_equal(pons_answer_read(b.memory, "t1", id, "bert", &reported, &err),
                             PONS_OK);
            const bool wins = strcmp(pons_get_str(reported, "verdict", ""), "overrides") == 0;
            vetoed += wins;
            late += !wins;
            bench_brain(&b);
            bench_await(&b, "task.done", "status", wins ? "aborted" : "succeeded", 60.0);
            if (wins) {
                assert_int_equal(started, 0);
                assert_int_equal(motions(&b), 0); // what was told is true
            }
            bench_close(&b);
        }
    }
    assert_true(vetoed > 0);
    assert_true(late > 0);
}

static void a_stop_wins_over_an_approve_that_has_not_started(void **state)
{
    (void)state;
    for (int how = 0; how < 3; how++) { // 0: in one breath; 1: to nobody; 2: the stop comes first
        bench b;
        const char *id = asked(&b, NULL);
        if (how == 1) {
            bench_kill(&b);
        }
        if (how == 2) {
            bench_post(&b, "say", "{'text':'stop'}");
        }
        answer(&b, id, "anna", APPROVE);
        if (how != 2) {
            bench_post(&b, "say", "{'text':'stop'}");
        }
        if (how == 1) {
            bench_brain(&b);
        }
        bench_await(&b, "mode", "mode", "SAFE", SOON);
        bench_settle(&b, LONG);
        assert_int_equal(motions(&b), 0);
        b.latched = false;
        bench_run(&b, SOON);
        bench_say(&b, "continue"); // it is asked anew: the old word was for then
        const pons_value *again = bench_await(&b, "approval.requested", NULL, NULL, SOON);
        assert_string_not_equal(pons_get_str(again, "id", ""), id);
        bench_run(&b, SOON);
        assert_int_equal(motions(&b), 0);
        answer(&b, id, "carl", APPROVE); // and another word for the old question is late
        bench_run(&b, SOON);
        assert_int_equal(motions(&b), 0);
        bench_close(&b);
    }
}

// A latch that the body knows of before the brain does: the goal is refused there, and the approval
// was for that one time.
static void a_latch_wins_over_an_approve(void **state)
{
    (void)state;
    bench b;
    const char *id = asked(&b, NULL);
    b.silent = true;
    b.reject = "latched";
    answer(&b, id, "anna", APPROVE);
    bench_run(&b, 0.2);
    b.silent = false;
    bench_latch(&b, "a person pressed stop");
    bench_run(&b, SOON);
    b.reject = NULL;
    b.latched = false;
    bench_run(&b, SOON);
    assert_int_equal(motions(&b), 0);
    bench_say(&b, "continue");
    bench_await(&b, "approval.requested", NULL, NULL, SOON);
    bench_run(&b, SOON);
    assert_int_equal(motions(&b), 0);
    bench_close(&b);
}

// ---- edits --------------------------------------------------------------------------------------

static void an_edit_names_its_operation_and_keeps_the_others(void **state)
{
    (void)state;
    bench b;
    const char *id = asked(&b, MODEL);
    answer(&b, id, "anna", "'action':'edit','op':2,'args':{'seconds':7}");
    bench_await(&b, "effect", "skill", "speak", SOON);
    bench_run(&b, 0.2);
    assert_int_equal(motions(&b), 1);
    assert_int_equal(bench_starts(&b, "speak"), 1);
    const bench_goal *g = bench_newest(&b, "wait");
    assert_non_null(g);
    assert_int_equal(pons_get_int(g->args, "seconds", 0), 7);
    g = bench_newest(&b, "navigate_to_pose");
    assert_string_equal(pons_get_str(g->args, "zone", ""), "kitchen");
    bench_close(&b);
}

// An edit that names no operation, or breaks a rule, is no answer: the same is asked again, with why.
static void a_bad_edit_is_no_answer(void **state)
{
    (void)state;
    static const struct {
        const char *edit, *says;
    } rows[] = {{"'args':{'zone':'attic'}", "several"},
                {"'op':4,'args':{'zone':'kitchen'}", "not"},
                {"'op':-1,'args':{'zone':'kitchen'}", "not"},
                {"'op':1,'args':{'zone':'attic'}", "attic"},
                {"'op':1,'args':{'speed':9}", "speed"},
                {"'op':3,'args':{}", "text"},
                {"'ops':[]", "no operation"},
                {"'ops':[{'skill':'fly','args':{}}]", "fly"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char edit[160];
        bench b;
        const char *id = asked(&b, MODEL);
        snprintf(edit, sizeof edit, "'action':'edit',%s", rows[i].edit);
        answer(&b, id, "anna", edit);
        const pons_value *again = bench_await(&b, "approval.requested", NULL, NULL, SOON);
        if (!strstr(pons_get_str(again, "refused", ""), rows[i].says)) {
            fail_msg("row %zu: “%s” does not say %s", i, pons_get_str(again, "refused", ""),
                     rows[i].says);
        }
        assert_string_not_equal(pons_get_str(again, "id", ""), id);
        const pons_value *ops = pons_get(again, "ops");
        assert_int_equal(json_array_size(ops), 3); // what was asked, not what the edit made of it
        assert_string_equal(pons_get_str(pons_get(json_array_get(ops, 0), "args"), "zone", ""),
                            "kitchen");
        char second[64];
        snprintf(second, sizeof second, "%s", pons_get_str(again, "id", ""));
        bench_settle(&b, LONG);
        assert_int_equal(motions(&b), 0);
        answer(&b, second, "bert", "'action':'approve'");
        bench_await(&b, "effect", "skill", "speak", SOON);
        bench_run(&b, 0.2);
        assert_int_equal(motions(&b), 1);
        bench_close(&b);
    }
}

// FINISH is held against what the edit says.
static void an_edited_goal_replaces_the_goal(void **state)
{
    (void)state;
    for (int kill = 0; kill <= 1; kill++) {
        bench b;
        const char *id = asked(&b, NULL);
        answer(&b, id, "anna", "'action':'edit','args':{'zone':'bedroom'}");
        const pons_value *changed = bench_await(&b, "goal.replaced", NULL, NULL, SOON);
        assert_string_equal(pons_get_str(pons_get(changed, "to"), "zone", ""), "bedroom");
        if (kill) {
            bench_kill(&b);
            bench_run(&b, SOON);
            bench_brain(&b);
        }
        const pons_value *done = bench_await(&b, "task.done", "status", "succeeded", LONG);
        const char *says = pons_get_str(done, "text", ""); // what was done, and not what was asked
        assert_true(strstr(says, "卧室") && !strstr(says, "厨房"));
        assert_int_equal(motions(&b), 1);
        assert_true(b.x > 6.0 && b.y < 4.0); // in the bedroom
        assert_int_equal(bench_count(&b, "approval.requested", NULL, NULL), 1);
        bench_close(&b);
    }
}

static void an_edited_pose_replaces_the_goal(void **state)
{
    (void)state;
    bench b;
    const char *id = asked(&b, NULL);
    b.base_ms = 1000;
    answer(&b, id, "anna", "'action':'edit','args':{'pose':{'x':8.0,'y':2.0,'yaw':0}}");
    bench_await(&b, "goal.replaced", NULL, NULL, SOON);
    bench_await(&b, "effect", "state", "accepted", SOON);
    b.x = 8.1; // the bench's body knows zones only
    b.y = 2.1;
    bench_await(&b, "task.done", "status", "succeeded", LONG);
    assert_int_equal(motions(&b), 1);
    bench_close(&b);
}

// A person says how long it is to wait, or what it is to say: that is the goal from then on, and is done once.
static void an_edited_call_is_the_goal(void **state)
{
    (void)state;
    static const struct {
        const char *goal, *skill, *edit;
    } rows[] = {{"wait 30 seconds", "wait", "'action':'edit','args':{'s':5}"},
                {"say hello", "speak", "'action':'edit','args':{'text':'good morning'}"},
                {"say hello", "speak", "'action':'edit','ops':[{'skill':'wait','args':{'s':1}}]"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench b;
        bench_open(&b, NULL);
        json_object_set_new(json_object_get(b.config, "approval"), "skills",
                            json_pack("[s]", rows[i].skill));
        bench_brain(&b);
        bench_goal_text(&b, rows[i].goal);
        const pons_value *q = bench_await(&b, "approval.requested", NULL, NULL, SOON);
        char id[64];
        snprintf(id, sizeof id, "%s", pons_get_str(q, "id", ""));
        bench_run(&b, 0.1);
        answer(&b, id, "anna", rows[i].edit);
        bench_await(&b, "goal.replaced", NULL, NULL, SOON);
        bench_await(&b, "task.done", "status", "succeeded", LONG);
        assert_int_equal(bench_starts(&b, "wait") + bench_starts(&b, "speak"), 1);
        assert_int_equal(bench_count(&b, "approval.requested", NULL, NULL), 1);
        bench_close(&b);
    }
}

// What is not the goal itself but a step towards it does not replace it.
static void an_edited_step_leaves_the_goal(void **state)
{
    (void)state;
    bench b;
    const char *id = asked(&b, "[{'decision':{'type':'CONTINUE','reason':'by the bedroom','ops':"
                               "[{'op':'dispatch','skill':'navigate_to_pose','args':{'zone':"
                               "'bedroom'}}]}},{'decision':{'type':'FINISH','reason':'there'}},"
                               "{'decision':{'type':'ABORT','reason':'enough'}}]");
    answer(&b, id, "anna", "'action':'edit','args':{'zone':'living_room'}");
    const pons_value *refused = bench_await(&b, "guard.refused", "rule", "goal_met", LONG);
    assert_non_null(refused); // the kitchen is still what the task is about
    assert_int_equal(bench_count(&b, "goal.replaced", NULL, NULL), 0);
    bench_close(&b);
}

// A run that said that it waits is not waiting for ever: who takes its question away ends it.
static void a_run_that_waited_ends_when_its_task_does(void **state)
{
    (void)state;
    static const char *const words[] = {"cancel", "stop"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        bench b;
        bench_open(&b, NULL);
        ask_first(&b);
        b.keep_running = false;
        bench_brain(&b);
        bench_goal_text(&b, "去厨房");
        bench_await(&b, "run.done", "status", "waiting", SOON);
        assert_int_equal(pons_brain_outcome_get(b.brain), PONS_BRAIN_WAITING);
        bench_say(&b, words[i]);
        bench_await(&b, "approval.resolved", "action", "reject", SOON);
        bench_run(&b, SOON);
        if (strcmp(words[i], "stop") == 0) { // it still has a task, which waits for continue
            assert_int_equal(pons_brain_outcome_get(b.brain), PONS_BRAIN_RUNNING);
            bench_say(&b, "cancel");
        }
        bench_await(&b, "run.done", "status", "cancelled", SOON);
        assert_int_equal(pons_brain_outcome_get(b.brain), PONS_BRAIN_CANCELLED);
        assert_int_equal(motions(&b), 0);
        bench_close(&b);
    }
}

// Words that a model may have written, in TASK.md or to the robot's tool in a chat: goals, and what stops. Neither a yes to
// its own question, nor the end of a pause.
static void a_wish_answers_nothing(void **state)
{
    (void)state;
    static const char *const words[] = {"yes", "approve", "同意", "no", "ok"};
    bench b;
    const char *id = asked(&b, MODEL);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        pons_autovalue wish = pons_object("text", json_string(words[i]), NULL);
        char *text = json_dumps(wish, 0);
        bench_post(&b, "wish", text);
        free(text);
        bench_run(&b, 0.2);
    }
    assert_int_equal(bench_count(&b, "approval.resolved", NULL, NULL), 0);
    assert_int_equal(motions(&b), 0);
    assert_int_equal(bench_count(&b, "task.done", "reason", "only a person may say so"), 5);
    bench_say(&b, "yes");
    bench_await(&b, "approval.resolved", "id", id, SOON);
    bench_close(&b);
}

// A doubt, or a question back, is neither yes nor no: it is asked on, and no task comes of it.
static void what_is_neither_leaves_the_question(void **state)
{
    (void)state;
    static const char *const words[] = {"好像不行", "可以吗", "yes?", "is that ok"};
    bench b;
    bench_open(&b, NULL);
    ask_first(&b);
    bench_brain(&b);
    bench_goal_text(&b, "去厨房");
    bench_await(&b, "approval.requested", NULL, NULL, SOON);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        bench_say(&b, words[i]);
        bench_run(&b, 0.2);
    }
    assert_int_equal(bench_count(&b, "approval.resolved", NULL, NULL), 0);
    assert_int_equal(bench_count(&b, "task.done", NULL, NULL), 0);
    assert_int_equal(motions(&b), 0);
    assert_int_equal(bench_count(&b, "control", "word", "answer"), 4);
    bench_say(&b, "行");
    bench_await(&b, "approval.resolved", "action", "approve", SOON);
    bench_close(&b);
}

static void a_wish_ends_no_pause(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, NULL);
    bench_brain(&b);
    b.base_ms = BENCH_NEVER;
    bench_goal_text(&b, "去厨房");
    bench_run(&b, 1.0);
    assert_int_equal(motions(&b), 1);
    bench_post(&b, "wish", "{'text':'pause'}"); // less may always be wished
    bench_run(&b, 1.0);
    bench_post(&b, "wish", "{'text':'continue, go to the bedroom'}");
    bench_post(&b, "wish", "{'text':'continue'}");
    bench_run(&b, 1.0);
    assert_int_equal(motions(&b), 1);
    bench_say(&b, "continue");
    bench_run(&b, 1.0);
    assert_int_equal(motions(&b), 2);
    bench_close(&b);
}

// ---- what came with it --------------------------------------------------------------------------

#define ADDS(zone)                                                                                 \
    "[{'decision':{'type':'CONTINUE','reason':'r','plan_patch':{'goals':[{'intent':'say','text':"  \
    "'hello'}]},'ops':[{'op':'dispatch','skill':'navigate_to_pose','args':{'zone':'" zone          \
    "'},'goal_index':1}]}},{'decision':{'type':'CONTINUE','reason':'wait'},'repeat':true}]"

// A decision counts as a whole: goals that it adds are the task's where it passes, and a no, of a person or
// of R4, leaves none of them.
static void a_refusal_takes_its_goals_back(void **state)
{
    (void)state;
    static const struct {
        const char *script, *answer;
        bool dies, aside;
        size_t goals;
    } rows[] = {
        {ADDS("kitchen"), APPROVE, false, false, 2}, {ADDS("kitchen"), REJECT, false, false, 1},
        {ADDS("kitchen"), APPROVE, true, false, 2},  {ADDS("kitchen"), REJECT, true, false, 1},
        {ADDS("kitchen"), APPROVE, false, true, 2},  {ADDS("kitchen"), REJECT, false, true, 1},
        {ADDS("attic"), NULL, false, false, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench b;
        bench_open(&b, rows[i].script);
        ask_first(&b);
        bench_brain(&b);
        bench_goal_text(&b, "去厨房");
        const pons_value *q = bench_await(
            &b, rows[i].answer ? "approval.requested" : "guard.refused", NULL, NULL, SOON);
        char id[64];
        snprintf(id, sizeof id, "%s", pons_get_str(q, "id", ""));
        if (rows[i].aside) {
            b.battery = 15.0;
            bench_await(&b, "task.active", "source", "battery", SOON);
            bench_run(&b, 1.0);
        }
        if (rows[i].dies) {
            bench_kill(&b);
            bench_brain(&b);
        }
        if (rows[i].answer) {
            answer(&b, id, "a", rows[i].answer);
            bench_run(&b, 0.2);
            b.battery = 95.0;
            bench_await(&b, "approval.resolved", NULL, NULL, SOON);
        }
        const pons_value *seen = bench_await(&b, "observation", NULL, NULL, LONG);
        const pons_value *task = pons_get(pons_get(seen, "observation"), "task");
        if (json_array_size(pons_get(task, "goals")) != rows[i].goals) {
            fail_msg("row %zu: %zu goals", i, json_array_size(pons_get(task, "goals")));
        }
        bench_close(&b);
    }
}

// A no that takes an approval back takes back what came with it, wherever the brain died meanwhile.
static void a_no_in_the_gap_takes_its_goals_back(void **state)
{
    (void)state;
    int vetoed = 0;
    enum { COMMITS = 8 };
    for (int n = 1; n <= COMMITS; n++) {
        if (!bench_due(ROUNDS_brain_deaths, n - 1, COMMITS)) {
            continue;
        }
        bench b;
        const char *id = asked(&b, ADDS("kitchen"));
        b.kill_at = b.commits + n;
        answer(&b, id, "anna", APPROVE);
        bench_run(&b, 0.2);
        bench_kill(&b);
        answer(&b, id, "bert", REJECT);
        pons_error err = PONS_ERROR_INIT;
        pons_autovalue reported = NULL;
        assert_int_equal(pons_answer_read(b.memory, "t1", id, "bert", &reported, &err), PONS_OK);
        const bool wins = strcmp(pons_get_str(reported, "verdict", ""), "overrides") == 0;
        bench_brain(&b);
        const pons_value *seen = bench_await(&b, "observation", NULL, NULL, LONG);
        const pons_value *task = pons_get(pons_get(seen, "observation"), "task");
        if (json_array_size(pons_get(task, "goals")) != (wins ? 1 : 2)) {
            fail_msg("killed at commit %d: %zu goals", n, json_array_size(pons_get(task, "goals")));
        }
        vetoed += wins;
        bench_close(&b);
    }
    assert_true(vetoed > 0);
}

#define HEARD                                                                                      \
    "[{'decision':{'type':'CONTINUE','reason':'r','plan_patch':{'goals':[{'intent':'say','text':"  \
    "'hello'}]},'ops':[{'op':'dispatch','skill':'speak','args':{'text':'hello'}}]}},"
#define THEN_AWAY                                                                                  \
    "{'decision':{'type':'CONTINUE','reason':'r','plan_patch':{'goals':[{'intent':'go_to','zone':" \
    "'bedroom'}]},'ops':[{'op':'dispatch','skill':'navigate_to_pose','args':{'zone':'bedroom'}}]"  \
    "}},{'decision':{'type':'CONTINUE','reason':'wait'},'repeat':true}]"

// A motion that names no goal serves the first that is open by the decision's own patch, in which a sub-goal that
// was met is gone.
static void a_motion_is_for_the_goal_at_hand(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, HEARD THEN_AWAY);
    ask_first(&b);
    bench_brain(&b);
    bench_goal_text(&b, "去厨房");
    const pons_value *q = bench_await(&b, "approval.requested", NULL, NULL, SOON);
    const pons_value *op = json_array_get(pons_get(q, "ops"), 0);
    assert_string_equal(pons_get_str(pons_get(op, "args"), "zone", ""), "bedroom");
    assert_int_equal(pons_get_int(op, "goal_index", -1), 0);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wish_answers_nothing),
        cmocka_unit_test(what_is_neither_leaves_the_question),
        cmocka_unit_test(a_wish_ends_no_pause),
        cmocka_unit_test(a_question_shows_every_operation),
        cmocka_unit_test(a_name_that_no_skill_has_is_told),
        cmocka_unit_test(a_run_that_waited_ends_when_its_task_does),
        cmocka_unit_test(the_first_answer_binds),
        cmocka_unit_test(what_was_told_survives_every_kill),
        cmocka_unit_test(a_reject_wins_over_an_approve_that_has_not_started),
        cmocka_unit_test(a_reject_in_the_gap_wins),
        cmocka_unit_test(a_stop_wins_over_an_approve_that_has_not_started),
        cmocka_unit_test(a_latch_wins_over_an_approve),
        cmocka_unit_test(an_edit_names_its_operation_and_keeps_the_others),
        cmocka_unit_test(a_bad_edit_is_no_answer),
        cmocka_unit_test(an_edited_goal_replaces_the_goal),
        cmocka_unit_test(an_edited_pose_replaces_the_goal),
        cmocka_unit_test(an_edited_call_is_the_goal),
        cmocka_unit_test(an_edited_step_leaves_the_goal),
        cmocka_unit_test(a_refusal_takes_its_goals_back),
        cmocka_unit_test(a_motion_is_for_the_goal_at_hand),
        cmocka_unit_test(a_no_in_the_gap_takes_its_goals_back),
    };
    pons_value_init();
    return cmocka_run_group_tests_name("approve", tests, NULL, NULL);
}
