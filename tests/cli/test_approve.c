// test_approve.c - `pons approve` between processes: whose answer counts, and what the others are told.
//
// The run asks and ends (exit 4), so nobody lives while people answer; or it goes on in another
// process and hears them. Either way one answer counts, and each teller learns which.
#include "cli_bench.h"
#include "pons/graph.h"
#include "pons/store.h"
#include "prepared.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TELLERS 6

static bench of_asking; // a run that has asked and ended, and so has its body

// A run that has asked and ended; its body waits for somebody to go on.
static void asked_now(bench *b)
{
    proc p = {0};
    bench_open(b);
    bench_share(b, BENCH_ASKS);
    bench_start(b, &p, NULL, "run --json --thread t " FAST " 去厨房");
    bench_await(&p, "run.done", "status", "waiting");
    bench_must_exit(&p, 4);
    bench_free(&p);
}

static void asked(bench *b)
{
    bench_open_copy(b, &of_asking);
}

static void resumed(bench *b, const char *status, int exit)
{
    proc p = {0};
    bench_start(b, &p, NULL, "resume t --json");
    bench_await(&p, "run.done", "status", status);
    bench_must_exit(&p, exit);
    bench_free(&p);
}

static void must_say(bench *b, const char *line, const char *what)
{
    proc p = {0};
    bench_start(b, &p, NULL, line);
    bench_must_exit(&p, 0);
    if (!strstr(p.text, what)) {
        fail_msg("%s does not say \"%s\":\n%s", line, what, p.text);
    }
    bench_free(&p);
}

static void the_first_answer_binds(void **state)
{
    (void)state;
    bench b;
    asked(&b);
    assert_int_equal(bench_run(&b, "approve t reject 'the floor is wet'"), 0);
    bench_must_fail(&b, "approve t approve", 2, "already answered by ");
    bench_must_fail(&b, "approve t approve", 2, "reject, the floor is wet");
    bench_must_fail(&b, "say yes", 2, "already answered by ");
    resumed(&b, "aborted", 1);
    bench_must_fail(&b, "approve t approve", 2, "already answered by "); // and after it as well
    must_say(&b, "threads show t --why", "answered: reject, the floor is wet");
    must_say(&b, "threads show t --why", "approve came too late: ");
    must_say(&b, "threads show t --why", "The run ended as aborted, after ");
    assert_int_equal(bench_ledger_skill(&b, "navigate_to_pose"), 0);
    bench_close(&b);
}

// A yes and a no may be said in either language; what is neither is no answer, and the question stays.
static void an_answer_in_ones_own_words(void **state)
{
    (void)state;
    bench b;
    asked(&b);
    bench_must_fail(&b, "approve t 可以吗", 2, "approve: 可以吗; use approve");
    bench_must_fail(&b, "approve t 好像不行", 2, "approve: 好像不行; use approve");
    assert_int_equal(bench_run(&b, "approve t 不行 地面太湿"), 0);
    bench_must_fail(&b, "approve t 好", 2, "reject, 地面太湿");
    bench_close(&b);
    asked(&b);
    assert_int_equal(bench_run(&b, "approve t 好的"), 0);
    resumed(&b, "succeeded", 0);
    bench_close(&b);
}

// While a question is open, another id is no word of that nobody is waited for.
static void an_id_that_there_is_not_is_named(void **state)
{
    (void)state;
    bench b;
    asked(&b);
    bench_must_fail(&b, "approve t approve --id 01NOSUCHQUESTION", 2,
                    "t has no question 01NOSUCHQUESTION");
    bench_close(&b);
}

// Who comes after a reject that took a yes back is told of the reject, though no brain has heard of either.
static void the_reject_that_counts_is_told(void **state)
{
    (void)state;
    bench b;
    asked(&b);
    assert_int_equal(bench_run(&b, "approve t approve"), 0);
    assert_int_equal(bench_run(&b, "approve t reject the floor is wet"), 0);
    bench_must_fail(&b, "approve t approve", 2, ": reject, the floor is wet");
    bench_must_fail(&b, "approve t reject again", 2, ": reject, the floor is wet");
    bench_close(&b);
}

// Words are told as words, and not as the yes that they are none of.
static void words_are_told_as_words(void **state)
{
    (void)state;
    bench b;
    asked(&b);
    assert_int_equal(bench_run(&b, "approve t answer left"), 0);
    bench_must_fail(&b, "approve t approve", 2, ": the words \"left\"");
    resumed(&b, "waiting", 4);
    assert_int_equal(bench_ledger_skill(&b, "navigate_to_pose"), 0);
    bench_close(&b);
}

// A run whose model has asked which of these, and ended.
static void asked_which(bench *b, const char *options)
{
    proc p = {0};
    char line[512];
    bench_open(b);
    snprintf(line, sizeof line,
             "replies:\n- decision: {type: ASK_HUMAN, reason: two doors, ops: [{op: approval, "
             "question: 'which door?', options: %s}]}\n  repeat: true\n",
             options);
    bench_file(b, "doors.yaml", line);
    snprintf(line, sizeof line, "run --json --thread t --llm script:%s/doors.yaml " FAST " 浇花",
             b->dir);
    bench_start(b, &p, NULL, line);
    bench_await(&p, "run.done", "status", "waiting");
    bench_must_exit(&p, 4);
    bench_free(&p);
    bench_rests(b);
}

// An option is named by its words or its number. A number that none has is a slip, and a stop is no answer.
static void an_option_is_named(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    asked_which(&b, "[left, stop]");
    bench_must_fail(&b, "approve t answer 3", 2, "there are 2 options, and none of number 3");
    bench_must_fail(&b, "approve t answer 0", 2, "none of number 0");
    bench_must_fail(&b, "approve t answer 99999999999999999999", 2, "there are 2 options");
    assert_int_equal(bench_run(&b, "approve t answer stop"), 0);
    assert_int_equal(bench_run(&b, "approve t"), 4); // nobody has answered
    bench_start(&b, &p, NULL, "resume t --json --wait 0.5");
    bench_await(&p, "mode", "mode", "SAFE");
    bench_await(&p, "run.done", "status", "waiting");
    bench_must_exit(&p, 4);
    assert_int_equal(bench_count(&p, "approval.resolved", "action", "approve"), 0);
    bench_free(&p);
    bench_close(&b);
}

// The words of an option may be a number that is no option's place.
static void an_option_that_is_a_number(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    asked_which(&b, "[left, '7']");
    bench_must_fail(&b, "approve t answer 8", 2, "there are 2 options, and none of number 8");
    bench_must_fail(&b, "approve t answer 07", 2, "none of number 07");
    assert_int_equal(bench_run(&b, "approve t answer 7"), 0);
    bench_must_fail(&b, "approve t answer 1", 2, ": the words \"7\"");
    bench_start(&b, &p, NULL, "resume t --json");
    bench_await(&p, "approval.resolved", "answer", "7");
    bench_await(&p, "decision", "source", "llm"); // the model that the run was given is asked on
    bench_await(&p, "run.done", "status", "waiting");
    bench_must_exit(&p, 4);
    bench_free(&p);
    assert_int_equal(bench_run(&b, "approve t answer left"), 0);
    bench_start(&b, &p, NULL, "resume t --json --llm rules");
    bench_await(&p, "run.done", "status",
                "waiting"); // without its model nobody understands the task
    bench_must_exit(&p, 4);
    bench_free(&p);
    assert_int_equal(bench_run(&b, "approve t reject"), 0);
    bench_start(&b, &p, NULL, "resume t --json --llm rules");
    bench_await(&p, "run.done", "status", "aborted");
    bench_must_exit(&p, 1);
    bench_free(&p);
    bench_close(&b);
}

// A model that is there no more ends no run: that is said, and who alone understood the task is waited for, as a person
// says.
static void a_model_that_is_gone_ends_nothing(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    char path[256];
    asked_which(&b, "[left]");
    snprintf(path, sizeof path, "%s/doors.yaml", b.dir);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(bench_run(&b, "approve t answer left"), 0);
    bench_start(&b, &p, NULL, "resume t --json");
    bench_err_await(&p, "doors.yaml");
    bench_await(&p, "approval.requested", NULL, NULL);
    bench_await(&p, "run.done", "status", "waiting");
    bench_must_exit(&p, 4);
    bench_free(&p);
    bench_close(&b);
}

// The brain keeps no rule of a yes: one line says so, and the question stays open.
static void always_is_no_answer(void **state)
{
    (void)state;
    bench b;
    asked(&b);
    bench_must_fail(&b, "approve t always", 2, "is asked each time");
    bench_must_fail(&b, "approve t always zone", 2, "these very arguments");
    assert_int_equal(bench_run(&b, "approve t"), 4);
    assert_int_equal(bench_run(&b, "approve t approve"), 0);
    bench_close(&b);
}

// Many at the same moment: one is told that it counts, and that is what happens.
static void many_answer_at_once(void **state)
{
    (void)state;
    bench b;
    proc tellers[TELLERS] = {0}, p = {0};
    int counts = 0, late = 0;
    bool edit = false;
    asked_now(&b);
    for (int i = 0; i < TELLERS; i++) {
        bench_start(&b, &tellers[i], NULL,
                    i % 2 ? "approve t edit '{\"zone\":\"corridor\"}'" : "approve t approve");
    }
    for (int i = 0; i < TELLERS; i++) {
        const int status = bench_finish(&tellers[i]);
        counts += status == 0;
        late += status == 2;
        edit = status == 0 ? i % 2 : edit;
        bench_free(&tellers[i]);
    }
    assert_int_equal(counts, 1);
    assert_int_equal(late, TELLERS - 1);
    bench_start(&b, &p, NULL, "resume t --json");
    bench_await(&p, "approval.resolved", "action", edit ? "edit" : "approve");
    bench_await(&p, "run.done", "status", "succeeded");
    bench_must_exit(&p, 0);
    assert_int_equal(bench_count(&p, "goal.replaced", NULL, NULL), edit);
    bench_free(&p);
    assert_int_equal(bench_ledger_skill(&b, "navigate_to_pose"), 1);
    bench_close(&b);
}

static void a_reject_takes_an_approve_back(void **state)
{
    (void)state;
    bench b;
    asked(&b);
    assert_int_equal(bench_run(&b, "approve t approve"), 0);
    assert_int_equal(bench_run(&b, "approve t reject 'after all'"), 0); // nothing has started
    bench_must_fail(&b, "approve t approve", 2, "already answered by ");
    resumed(&b, "aborted", 1);
    assert_int_equal(bench_ledger_skill(&b, "navigate_to_pose"), 0);
    bench_close(&b);
}

static void a_stop_takes_an_approve_back(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    asked_now(&b);
    assert_int_equal(bench_run(&b, "approve t approve"), 0);
    assert_int_equal(bench_run(&b, "say stop"), 0);
    bench_start(&b, &p, NULL, "resume t --json --wait 0.5");
    bench_await(&p, "run.done", "status", "waiting");
    bench_must_exit(&p, 4);
    assert_int_equal(bench_count(&p, "effect", "skill", "navigate_to_pose"), 0);
    bench_free(&p);
    assert_int_equal(bench_run(&b, "reset"), 0);
    bench_start(&b, &p, NULL, "resume t --json"); // typed after the reset: it asks anew
    bench_await(&p, "approval.requested", NULL, NULL);
    bench_await(&p, "run.done", "status", "waiting");
    bench_must_exit(&p, 4);
    assert_int_equal(bench_count(&p, "effect", "skill", "navigate_to_pose"), 0);
    bench_free(&p);
    bench_close(&b);
}

static void an_edit_replaces_the_goal(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    asked_now(&b);
    bench_must_fail(&b, "approve t edit 2 '{\"zone\":\"study\"}'", 2, "1 operations");
    bench_must_fail(&b, "approve t edit 1 '[]'", 2, "object");
    assert_int_equal(bench_run(&b, "approve t edit 1 '{\"zone\":\"nowhere\"}'"), 0);
    bench_start(&b, &p, NULL, "resume t --json");
    const pons_value *again = bench_await(&p, "approval.requested", NULL, NULL); // it was none
    assert_non_null(strstr(pons_get_str(again, "refused", ""), "nowhere"));
    bench_await(&p, "run.done", "status", "waiting");
    bench_must_exit(&p, 4);
    bench_free(&p);
    assert_int_equal(bench_run(&b, "approve t edit '{\"zone\":\"corridor\"}'"), 0);
    bench_start(&b, &p, NULL, "resume t --json");
    bench_await(&p, "goal.replaced", NULL, NULL);
    bench_await(&p, "run.done", "status", "succeeded");
    bench_must_exit(&p, 0);
    bench_free(&p);
    pons_autovalue status = NULL;
    assert_int_equal(bench_run_json(&b, "status --json", &status), 0);
    assert_string_equal(pons_get_str(status, "mode", ""), "IDLE");
    static const char *const why[] = {
        // who asks why it went there is told
        "It asked a person: 可以这样做吗？ (navigate_to_pose {\"zone\":\"kitchen\"})",
        "That was refused: unknown zone nowhere", "By that edit its goal is now corridor."};
    for (size_t i = 0; i < sizeof why / sizeof why[0]; i++) {
        must_say(&b, "threads show t --why", why[i]);
    }
    bench_close(&b);
}

// What is shown: each operation with its number, and the rule that asks.
static void a_question_is_shown_whole(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    asked(&b);
    bench_start(&b, &p, NULL, "approve t");
    const int status = bench_finish(&p);
    assert_int_equal(status, 4);
    assert_non_null(strstr(p.text, "1. navigate_to_pose {\"zone\":\"kitchen\"}"));
    assert_non_null(strstr(p.text, "approval: "));
    assert_non_null(strstr(p.text, "Goal 1 of 1")); // the reason
    bench_free(&p);
    bench_close(&b);
}

// An answer is the owner's: nobody else may write what it is written to.
static void only_the_owner_may_write_an_answer(void **state)
{
    (void)state;
    static const char *const names[] = {"pons.db", "run"};
    bench b;
    asked(&b);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[256];
        struct stat st;
        snprintf(path, sizeof path, "%s/%s", b.workspace, names[i]);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 022, 0);
    }
    bench_close(&b);
}

// A second question in the log of t, as a fork of a run that asks has it.
static void asks_more(bench *b, const char *id, int64_t deadline_ms)
{
    char path[256];
    pons_store store = {0};
    pons_thread *t = NULL;
    pons_error err = PONS_ERROR_INIT;
    snprintf(path, sizeof path, "%s/pons.db", b->workspace);
    assert_int_equal(pons_store_sqlite_open(path, &store, &err), PONS_OK);
    const pons_thread_options opts = {.clock = pons_clock_real()};
    assert_int_equal(pons_thread_open(store, "t", &opts, &t, &err), PONS_OK);
    pons_value *question =
        json_pack("{s:s, s:s, s:[{s:s, s:{}}], s:I}", "id", id, "question", "Was it done?", "ops",
                  "skill", "navigate_to_pose", "args", "deadline_ms", (json_int_t)deadline_ms);
    assert_int_equal(pons_thread_emit(t, "react", "approval.requested", question, &err), PONS_OK);
    pons_thread_close(t);
    pons_store_close(&store);
}

static void of_several_questions_one_is_named(void **state)
{
    (void)state;
    bench b;
    asked(&b);
    asks_more(&b, "second-question", 0);
    proc p = {0};
    bench_start(&b, &p, NULL, "approve t");
    assert_int_equal(bench_finish(&p), 4);
    assert_non_null(strstr(p.text, "approve t --id second-question approve"));
    bench_free(&p);
    bench_must_fail(&b, "approve t approve", 2, "t has 2 open questions");
    bench_must_fail(&b, "approve t reject no", 2,
                    "second-question (Was it done? navigate_to_pose {})");
    bench_must_fail(&b, "say yes", 2, "t has 2 open questions");
    bench_must_fail(&b, "approve t --id nobody approve", 2, "t has no question nobody");
    assert_int_equal(bench_run(&b, "approve t --id second-question approve"), 0);
    bench_close(&b);
}

// Nobody was there to see its deadline pass, and who comes behind it is told.
static void an_answer_may_be_too_late(void **state)
{
    (void)state;
    bench b;
    asked(&b);
    asks_more(&b, "late", 1700000000000);
    bench_must_fail(&b, "approve t --id late approve", 2,
                    "nobody answered before the deadline, which is a no");
    bench_must_fail(&b, "approve t --id late answer left", 2, "before the deadline");
    assert_int_equal(bench_run(&b, "approve t --id late reject"), 0);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_in_ones_own_words),
        cmocka_unit_test(an_id_that_there_is_not_is_named),
        cmocka_unit_test(the_reject_that_counts_is_told),
        cmocka_unit_test(words_are_told_as_words),
        cmocka_unit_test_teardown(an_option_is_named, bench_teardown),
        cmocka_unit_test_teardown(an_option_that_is_a_number, bench_teardown),
        cmocka_unit_test_teardown(a_model_that_is_gone_ends_nothing, bench_teardown),
        cmocka_unit_test_teardown(the_first_answer_binds, bench_teardown),
        cmocka_unit_test_teardown(always_is_no_answer, bench_teardown),
        cmocka_unit_test_teardown(many_answer_at_once, bench_teardown),
        cmocka_unit_test_teardown(a_reject_takes_an_approve_back, bench_teardown),
        cmocka_unit_test_teardown(a_stop_takes_an_approve_back, bench_teardown),
        cmocka_unit_test_teardown(an_edit_replaces_the_goal, bench_teardown),
        cmocka_unit_test_teardown(a_question_is_shown_whole, bench_teardown),
        cmocka_unit_test_teardown(of_several_questions_one_is_named, bench_teardown),
        cmocka_unit_test_teardown(an_answer_may_be_too_late, bench_teardown),
        cmocka_unit_test_teardown(only_the_owner_may_write_an_answer, bench_teardown),
    };
    pons_value_init();
    asked_now(&of_asking);
    bench_rests(&of_asking);
    const int failed = bench_together("approve", tests, sizeof tests / sizeof tests[0]);
    bench_close(&of_asking);
    return failed;
}
