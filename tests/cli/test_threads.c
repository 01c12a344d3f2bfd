// test_threads.c - what a run of the brain shows of its inside, and what can be done with its
// thread afterwards: streams in every mode and their replay, one superstep at a time, a stop or a
// pause that nobody lifts, forks at its checkpoints whose effects a person confirms, sizes and
// pruning. Real processes; the tests run at the same time, each in a workspace of its own.
#include "cli_bench.h"
#include "pons/graph.h"
#include "pons/store.h"
#include "prepared.h"
#include "unit.h"

#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bench has_waited; // a run that waited a second
static bench has_driven; // and one that is in the kitchen

#define MODES "values,updates,messages,custom,tasks,checkpoints,debug"

// The lines of a run that have a number, without the robot's time, which live telemetry tells.
static pons_value *numbered(const proc *p)
{
    pons_value *list = json_array();
    size_t i;
    json_t *ev;
    json_array_foreach(p->events, i, ev) {
        if (pons_get(ev, "seq")) {
            json_t *copy = json_copy(ev);
            json_object_del(copy, "robot_ms");
            json_array_append_new(list, copy);
        }
    }
    return list;
}

static void streams_and_their_replay(void **state)
{
    (void)state;
    static const char *const modes[] = {"values", "updates", "tasks", "checkpoints", "debug"};
    bench b;
    proc p = {0}, again = {0};
    char words[128];
    bench_open(&b);
    bench_start(&b, &p, NULL, "run --json --thread t --stream " MODES " " FAST " 去厨房");
    bench_must_exit(&p, 0);
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        char type[32];
        snprintf(type, sizeof type, "stream.%s", modes[i]);
        assert_true(bench_count(&p, type, NULL, NULL) > 0);
    }
    pons_autovalue shown = numbered(&p);
    for (size_t i = 0; i < json_array_size(shown); i++) { // from 1, without a gap
        assert_int_equal(pons_get_int(json_array_get(shown, i), "seq", 0), (int64_t)i + 1);
    }
    const size_t from[] = {0, json_array_size(shown) / 3};
    for (size_t k = 0; k < 2; k++) {
        snprintf(words, sizeof words, "threads events t --json --after %zu", from[k]);
        bench_start(&b, &again, NULL, words);
        bench_must_exit(&again, 0);
        pons_autovalue replayed = numbered(&again);
        assert_int_equal(json_array_size(replayed), json_array_size(shown) - from[k]);
        for (size_t i = 0; i < json_array_size(replayed); i++) {
            assert_true(
                json_equal(json_array_get(replayed, i), json_array_get(shown, from[k] + i)));
        }
        bench_free(&again);
    }
    bench_start(&b, &again, NULL, "threads events t --json --stream updates --ns react");
    bench_must_exit(&again, 0);
    assert_int_equal(json_array_size(again.events), bench_count(&p, "stream.updates", NULL, NULL));
    bench_free(&again);
    bench_free(&p);
    bench_close(&b);
}

// What was decided and why, as prose, in the order in which it happened.
static void why_is_told_as_prose(void **state)
{
    (void)state;
    static const char *const says[] = {
        "It was asked to \"wait 1 seconds\" (task-1, priority 50).",
        "The mode became EXEC: ",
        "It took up task-1.",
        "The rules decided: on with it. Goal 1 of 1: ",
        "wait {\"s\":1.0} began.",
        "wait ended as done.",
        "The rules decided: it is done. ",
        "task-1 ended as succeeded: ",
    };
    bench b;
    proc p = {0};
    bench_open_copy(&b, &has_waited);
    bench_start(&b, &p, NULL, "threads show t --why");
    bench_must_exit(&p, 0);
    const char *at = p.text;
    for (size_t i = 0; i < sizeof says / sizeof says[0]; i++) {
        const char *next = strstr(at, says[i]);
        if (!next) {
            fail_msg("\"%s\" does not come after what came before it, in\n%s", says[i], p.text);
        }
        at = next + 1;
    }
    bench_free(&p);
    bench_close(&b);
}

// What a quiet run has not: each is a sentence. Without --why the newest of them are.
static void each_event_is_a_sentence(void **state)
{
    (void)state;
    static const struct {
        const char *type, *event, *says;
    } rows[] = {
        {"task.merged", "{\"task_id\":\"task-1\",\"said\":2}", "task-1 was said again."},
        {"task.raised", "{\"task_id\":\"task-2\",\"priority\":90}",
         "A person gave task-2 the priority 90."},
        {"task.overdue", "{\"task_id\":\"task-3\"}", "The deadline of task-3 passed."},
        {"task.switched", "{\"from\":\"task-1\",\"to\":\"task-2\",\"reason\":\"it is urgent\"}",
         "It left task-1 for task-2: it is urgent"},
        {"control", "{\"word\":\"cancel\",\"ignored\":\"there is no task\"}",
         "A word did nothing: cancel (there is no task)."},
        {"stop", "{\"latched\":true,\"reason\":\"a person\"}",
         "A protective stop latched: a person."},
        {"stop", "{\"latched\":false,\"reason\":\"\"}", "The stop was lifted."},
        {"approval.late", "{\"id\":\"q\",\"action\":\"approve\",\"verdict\":\"closed\"}",
         "approve came too late: no such question was open."},
    };
    bench b;
    proc p = {0};
    char path[256];
    pons_store store = {0};
    pons_thread *t = NULL;
    pons_error err = PONS_ERROR_INIT;
    const pons_thread_options opts = {.clock = pons_clock_real()};
    bench_open_copy(&b, &has_waited);
    snprintf(path, sizeof path, "%s/pons.db", b.workspace);
    assert_int_equal(pons_store_sqlite_open(path, &store, &err), PONS_OK);
    assert_int_equal(pons_thread_open(store, "t", &opts, &t, &err), PONS_OK);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pons_value *event = NULL;
        assert_int_equal(pons_value_parse(rows[i].event, strlen(rows[i].event), &event, &err),
                         PONS_OK);
        assert_int_equal(pons_thread_emit(t, "kernel", rows[i].type, event, &err), PONS_OK);
    }
    pons_thread_close(t);
    pons_store_close(&store);
    for (int whole = 0; whole < 2; whole++) {
        bench_start(&b, &p, NULL, whole ? "threads show t --why" : "threads show t");
        bench_must_exit(&p, 0);
        const char *at = p.text;
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            at = strstr(at, rows[i].says);
            if (!at) {
                fail_msg("\"%s\" does not come after what came before it, in\n%s", rows[i].says,
                         p.text);
            }
        }
        assert_int_equal(strstr(p.text, "It was asked to ") != NULL, whole); // of long ago
        bench_free(&p);
    }
    bench_close(&b);
}

// A thread for a person: its goal, what it waits for and what happened, and nothing that looks like a key;
// --json is for programs, and whole.
static void shown_without_keys(void **state)
{
    (void)state;
    static const char *const keys[] = {"sk-abcdefghijklmnop1234", "hunter2hunter2", "swordfish"};
    static const char *const looks[] = {"threads show t",
                                        "threads show t --why",
                                        "threads show t --ns kernel",
                                        "threads show t --ns react",
                                        "threads events t",
                                        "status t"};
    bench b;
    proc p = {0};
    bench_open(&b);
    setenv("FAKE_API_KEY", keys[1], 1); // one of the environment's
    bench_start(&b, &p, NULL,
                "run --json --thread t " FAST
                " 'say sk-abcdefghijklmnop1234 and hunter2hunter2 and password=swordfish'");
    bench_must_exit(&p, 0);
    assert_non_null(strstr(p.text, keys[0])); // it has been an argument of a skill
    bench_free(&p);
    for (size_t i = 0; i < sizeof looks / sizeof looks[0]; i++) {
        bench_start(&b, &p, NULL, looks[i]);
        bench_must_exit(&p, 0);
        // What is over is not in a status.
        assert_true(strstr(p.text, "[redacted]") || strncmp(looks[i], "status", 6) == 0);
        for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
            if (strstr(p.text, keys[k])) {
                fail_msg("%s shows %s:\n%s", looks[i], keys[k], p.text);
            }
        }
        if (i == 0) {
            assert_non_null(strstr(p.text, "succeeded"));
            assert_non_null(strstr(p.text, "waits     for nobody\n"));
            assert_non_null(strstr(p.text, "speak {"));
        }
        bench_free(&p);
    }
    unsetenv("FAKE_API_KEY");
    bench_close(&b);
}

static void tokens_are_messages(void **state)
{
    (void)state;
    if (bench_no_model_module()) {
        skip();
    }
    bench b;
    proc model = {0}, p = {0};
    char words[256];
    bench_open(&b);
    const int port = bench_start_model(&b, &model, "--rules");
    snprintf(words, sizeof words,
             "run --json --thread t --stream messages --llm http://127.0.0.1:%d/v1 " FAST " 去厨房",
             port);
    bench_start(&b, &p, NULL, words);
    bench_must_exit(&p, 0);
    const int tokens = bench_count(&p, "token", NULL, NULL);
    assert_true(tokens > 0);
    assert_int_equal(bench_count(&p, "stream.messages", NULL, NULL), tokens);
    bench_signal(&model, SIGKILL);
    bench_free(&model);
    bench_free(&p);
    bench_close(&b);
}

static void one_superstep_at_a_time(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    bench_start(&b, &p, "\nn\nq\n", "run --json --thread t --step " FAST " 去厨房");
    const pons_value *first = bench_await(&p, "step", NULL, NULL);
    assert_int_equal(json_array_size(pons_get(first, "ran")), 0);
    pons_autovalue next = pons_value_ref(pons_get(first, "next"));
    for (int i = 0; i < 2; i++) {
        const pons_value *step = bench_await(&p, "step", NULL, NULL);
        assert_true(json_equal(pons_get(step, "ran"), next)); // what was next has run
        assert_true(json_object_size(pons_get(step, "changed")) > 0);
        pons_value_unref(next);
        next = pons_value_ref(pons_get(step, "next"));
    }
    bench_must_exit(&p, 1); // left, with work to do
    assert_int_equal(bench_count(&p, "step", NULL, NULL), 3);
    assert_int_equal(bench_count(&p, "decision", NULL, NULL), 1);
    assert_int_equal(bench_count(&p, "effect", NULL, NULL), 0);
    assert_int_equal(bench_ledger_count(&b, NULL, "started"), 0);
    bench_free(&p);
    // A resume begins at the step that was held; with nobody to say "next" it only shows them.
    bench_start(&b, &p, NULL, "resume t --json --step");
    first = bench_await(&p, "step", NULL, NULL);
    assert_true(json_equal(pons_get(first, "next"), next));
    bench_await(&p, "run.done", "status", "succeeded");
    bench_must_exit(&p, 0);
    bench_ledger_check(&b);
    bench_free(&p);
    bench_close(&b);
}

static void a_stop_that_nobody_lifts(void **state)
{
    (void)state;
    bench b;
    proc body = {0}, p = {0};
    bench_open(&b);
    bench_start_body(&b, &body, FAST);
    assert_int_equal(bench_run(&b, "stop 'the cat'"), 0);
    bench_start(&b, &p, NULL, "run --json --thread t --wait 0.3 " FAST " 去厨房");
    bench_await(&p, "run.done", "status", "waiting");
    bench_must_exit(&p, 4);
    assert_int_equal(bench_count(&p, "effect", "skill", "navigate_to_pose"), 0);
    bench_free(&p);
    assert_int_equal(bench_run(&b, "reset"), 0);
    bench_start(&b, &p, NULL, "resume t --json");
    bench_await(&p, "run.done", "status", "succeeded");
    bench_must_exit(&p, 0);
    bench_free(&p);
    bench_signal(&body, SIGTERM);
    bench_must_exit(&body, 0);
    bench_free(&body);
    bench_close(&b);
}

static void a_pause_that_nobody_ends(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    bench_start(&b, &p, NULL, "run --json --thread t --wait 0.3 " WATCHABLE " 去厨房");
    bench_await(&p, "effect", "state", "accepted");
    assert_int_equal(bench_run(&b, "pause"), 0);
    bench_await(&p, "mode", "mode", "IDLE");
    bench_await(&p, "run.done", "status", "waiting");
    bench_must_exit(&p, 4);
    bench_free(&p);
    assert_int_equal(bench_run(&b, "continue"), 0);
    assert_int_equal(bench_run(&b, "cancel"), 0);
    bench_start(&b, &p, NULL, "resume t --json");
    bench_await(&p, "run.done", "status", "cancelled");
    bench_must_exit(&p, 1);
    bench_free(&p);
    bench_close(&b);
}

// The oldest checkpoint of a graph whose next node is this one.
static void checkpoint_of(bench *b, const char *ns, const char *node, char ret[64])
{
    char words[128];
    proc p = {0};
    size_t i;
    json_t *row;
    *ret = '\0';
    snprintf(words, sizeof words, "threads history t --json --ns %s --limit 500", ns);
    bench_start(b, &p, NULL, words);
    bench_must_exit(&p, 0);
    json_array_foreach(p.events, i, row) {
        const char *next = json_string_value(json_array_get(pons_get(row, "next"), 0));
        if (next && strcmp(next, node) == 0) {
            snprintf(ret, 64, "%s", pons_get_str(row, "checkpoint_id", ""));
        }
    }
    assert_true(*ret);
    bench_free(&p);
}

// Before the critic had seen the drive: it is intended anew, and a person is asked.
static void a_fork_asks_before_it_acts(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    char at[64], words[128];
    bench_open_copy(&b, &has_driven);
    checkpoint_of(&b, "react", "guardrails_and_resource_check", at);
    static const char *const answers[] = {"approve", "reject 'not again'", "answer no",
                                          "answer better not"};
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        // Elsewhere: a fork that has to look once more, as its telemetry was old, finds the goal undone, and asks too.
        if (i < 2) { // who was refused the first time is there still
            snprintf(words, sizeof words, "run --thread u%zu " FAST " 去卧室", i);
            assert_int_equal(bench_run(&b, words), 0);
        }
        const int started = bench_ledger_count(&b, NULL, "started");
        snprintf(words, sizeof words, "threads fork t f%zu --at %s", i, at);
        assert_int_equal(bench_run(&b, words), 0);
        snprintf(words, sizeof words, "resume f%zu --json", i);
        bench_start(&b, &p, NULL, words);
        bench_await(&p, "approval.requested", NULL, NULL);
        bench_must_exit(&p, 4);
        bench_free(&p);
        snprintf(words, sizeof words, "approve f%zu", i);
        assert_int_equal(bench_run(&b, words), 4); // shows what it asks
        snprintf(words, sizeof words, "approve f%zu %s", i, answers[i]);
        assert_int_equal(bench_run(&b, words), 0);
        snprintf(words, sizeof words, "resume f%zu --json", i);
        bench_start(&b, &p, NULL, words);
        bench_await(&p, "approval.resolved", NULL, NULL);
        bench_await(&p, "effect", "state", i == 0 ? "done" : "refused");
        bench_await(&p, "run.done", NULL, NULL);
        bench_finish(&p);
        bench_free(&p);
        snprintf(words, sizeof words, "approve f%zu", i);
        assert_int_equal(bench_run(&b, words), i == 0 ? 0 : 4); // undone, it asks for it anew
        assert_int_equal(bench_ledger_count(&b, NULL, "started") - started, i == 0);
    }
    bench_close(&b);
}

// Wherever it is forked, a resume of the fork comes to an end.
static void every_fork_ends(void **state)
{
    (void)state;
    static const struct {
        const char *ns, *node;
    } from[] = {{"kernel", "sim_telemetry_sync"}, // the goal is taken, the inner loop unborn
                {"react", "build_observation"},
                {"react", "react_decide"},
                {"react", "observe_execution_result"},
                {"react", "react_stop_or_loop"}};
    bench b;
    char at[64], words[128];
    bench_open_copy(&b, &has_driven);
    for (size_t i = 0; i < sizeof from / sizeof from[0]; i++) {
        checkpoint_of(&b, from[i].ns, from[i].node, at);
        snprintf(words, sizeof words, "threads fork t f%zu --at %s", i, at);
        assert_int_equal(bench_run(&b, words), 0);
        proc p = {0};
        snprintf(words, sizeof words, "resume f%zu --json", i);
        bench_start(&b, &p, NULL, words);
        bench_await(&p, "run.done", NULL, NULL);
        const int status = bench_finish(&p);
        assert_true(status == 0 || status == 4);
        bench_free(&p);
    }
    bench_must_fail(&b, "threads fork t f0", 2, "f0");
    bench_must_fail(&b, "threads fork t f9 --at nope", 2, "nope");
    pons_autovalue pruned = NULL;
    assert_int_equal(bench_run_json(&b, "threads prune t --events 0 --json", &pruned), 0);
    assert_true(pons_get_int(pruned, "removed", 0) > 0);
    assert_true(pons_get_int(pruned, "events", 0) > 0);
    assert_true(pons_get_int(pruned, "bytes_after", 0) < pons_get_int(pruned, "bytes_before", 0));
    assert_int_equal(bench_run(&b, "threads show t --ns kernel"), 0);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_fork_asks_before_it_acts, bench_teardown),
        cmocka_unit_test_teardown(every_fork_ends, bench_teardown),
        cmocka_unit_test_teardown(streams_and_their_replay, bench_teardown),
        cmocka_unit_test_teardown(why_is_told_as_prose, bench_teardown),
        cmocka_unit_test_teardown(each_event_is_a_sentence, bench_teardown),
        cmocka_unit_test_teardown(shown_without_keys, bench_teardown),
        cmocka_unit_test_teardown(tokens_are_messages, bench_teardown),
        cmocka_unit_test_teardown(one_superstep_at_a_time, bench_teardown),
        cmocka_unit_test_teardown(a_stop_that_nobody_lifts, bench_teardown),
        cmocka_unit_test_teardown(a_pause_that_nobody_ends, bench_teardown),
    };
    pons_value_init();
    bench_open(&has_waited);
    assert_int_equal(bench_run(&has_waited, "run --json --thread t " FAST " 'wait 1 seconds'"), 0);
    bench_open(&has_driven);
    assert_int_equal(bench_run(&has_driven, "run --thread t " FAST " 去厨房"), 0);
    const int failed = bench_together("threads", tests, sizeof tests / sizeof tests[0]);
    bench_close(&has_waited);
    bench_close(&has_driven);
    return failed;
}
