// test_protocol_files.c - a workspace's files beside `pons run`: what it does is shown in them, what people write into them
// is done, what a person has lowered is refused with a lesson, and a watchdog beside it does nothing twice.
#include "cli_bench.h"
#include "pons/workspace.h"
#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *get(const bench *b, const char *name)
{
    char path[160];
    snprintf(path, sizeof path, "%s/%s", b->workspace, name);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    char *text = calloc(1, 65536);
    assert_true(fread(text, 1, 65535, f) > 0);
    fclose(f);
    return text;
}

// The first `what` becomes `by`, as an editor saves it.
static void edit(const bench *b, const char *name, const char *what, const char *by)
{
    char path[160], temp[170];
    char *text = get(b, name), *at = strstr(text, what);
    assert_non_null(at);
    snprintf(path, sizeof path, "%s/%s", b->workspace, name);
    snprintf(temp, sizeof temp, "%s.saved", path);
    FILE *f = fopen(temp, "w");
    assert_non_null(f);
    fprintf(f, "%.*s%s%s", (int)(at - text), text, by, at + strlen(what));
    assert_int_equal(fclose(f), 0);
    assert_int_equal(rename(temp, path), 0);
    free(text);
}

// The one record of a kind that has this member; the caller's.
static pons_value *record(const bench *b, pons_ws_file file, const char *kind, const char *key,
                          const char *value)
{
    pons_ws_doc *d = NULL;
    pons_error err = PONS_ERROR_INIT;
    pons_value *found = NULL;
    size_t n = 0;
    assert_int_equal(pons_ws_load(PONS_WS_BY_PERSON, b->workspace, file, &d, &err), PONS_OK);
    const pons_ws_record *all = pons_ws_records(d, &n);
    for (size_t i = 0; i < n && !found; i++) {
        if (strcmp(all[i].kind, kind) == 0 &&
            strcmp(pons_get_str(all[i].value, key, ""), value) == 0) {
            found = pons_value_ref(all[i].value);
        }
    }
    pons_ws_destroy(d);
    return found;
}

static void must_be(const bench *b, pons_ws_file file, const char *kind, const char *key,
                    const char *value, const char *status)
{
    pons_autovalue r = record(b, file, kind, key, value);
    if (!r) {
        fail_msg("no %s with %s %s", kind, key, value);
    }
    assert_string_equal(pons_get_str(r, "status", ""), status);
}

static void await_status(const bench *b, pons_ws_file file, const char *kind, const char *key,
                         const char *value, const char *status)
{
    for (int64_t since = 0;;) {
        pons_autovalue r = record(b, file, kind, key, value);
        if (r && strcmp(pons_get_str(r, "status", ""), status) == 0) {
            return;
        }
        bench_again(&since, status);
    }
}

static void a_run_is_shown(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    assert_int_equal(bench_run(&b, "onboard"), 0);
    bench_start(&b, &p, NULL, "run " FAST " --json 'go to the kitchen, then go to the study'");
    bench_must_exit(&p, 0);
    bench_free(&p);
    must_be(&b, PONS_WS_TASK, "subtask", "goal", "kitchen", "done");
    must_be(&b, PONS_WS_TASK, "subtask", "goal", "study", "done");
    must_be(&b, PONS_WS_ACTION, "action", "action_type", "target_navigation", "completed");
    char *task = get(&b, "TASK.md"), *body = get(&b, "EMBODIED.md");
    assert_non_null(strstr(task, "**总体进度**: 2/2 (100%)"));
    assert_non_null(strstr(body, "pons wheeled base"));
    free(task);
    free(body);
    pons_autovalue r = record(&b, PONS_WS_ENVIRONMENT, "robot_state", "robot_id", "robot_001");
    const pons_value *pose = pons_get(r, "pose"); // in the study
    assert_true(json_number_value(json_array_get(pose, 0)) > 5.05);
    assert_true(json_number_value(json_array_get(pose, 1)) < 3.95);
    bench_start(&b, &p, NULL, "workspace check");
    bench_must_exit(&p, 0);
    bench_free(&p);
    bench_close(&b);
}

static void what_a_person_took_out_is_refused(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    assert_int_equal(bench_run(&b, "onboard"), 0);
    assert_int_equal(bench_run(&b, "run " FAST " 'go to the kitchen'"), 0);
    edit(&b, "EMBODIED.md", "| target_navigation ", "| something_else ");
    edit(&b, "EMBODIED.md", "| move_to ", "| another_thing ");
    for (int i = 0; i < 2; i++) { // the second time by the lesson's name, which is one
        bench_start(&b, &p, NULL, "run " FAST " --json 'go to the study'");
        bench_must_exit(&p, 1);
        assert_int_equal(bench_count(&p, "effect", "state", "dispatched"), 0);
        assert_true(bench_count(&p, "guard.refused", "type", "guard.refused") > 0);
        assert_int_equal(strstr(p.text, "it failed before") != NULL, i);
        bench_free(&p);
    }
    pons_autovalue r =
        record(&b, PONS_WS_LESSONS, "lesson", "action", "target_navigation to study");
    assert_non_null(r);
    assert_non_null(strstr(pons_get_str(r, "refusal", ""), "EMBODIED.md Supported Actions"));
    bench_start(&b, &p, NULL, "lessons search --json study");
    bench_must_exit(&p, 0);
    assert_int_equal(bench_count(&p, "lesson", "type", "lesson"), 1);
    bench_free(&p);
    must_be(&b, PONS_WS_TASK, "subtask", "goal", "study", "failed");
    bench_close(&b);
}

#define MINE                                                                                       \
    "{\"action_id\":\"mine\",\"action_type\":\"target_navigation\",\"params\":"                    \
    "{\"target_label\":\"study\"}}"

static void what_people_write_is_done(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    assert_int_equal(bench_run(&b, "onboard"), 0);
    bench_start(&b, &p, NULL, "serve --listen 127.0.0.1:0 " FAST " --json");
    bench_await(&p, "telemetry", NULL, NULL);
    edit(&b, "ACTION.md", "{\"queue\": []}", "{\"queue\": [" MINE "]}");
    await_status(&b, PONS_WS_ACTION, "action", "action_id", "mine", "completed");
    edit(&b, "TASK.md", "|---|---|---|---|---|\n",
         "|---|---|---|---|---|\n| 7 | 去卧室 | | ⬜ pending | |\n");
    await_status(&b, PONS_WS_TASK, "subtask", "n", "7", "done");
    pons_autovalue r = record(&b, PONS_WS_ACTION, "action", "action_id", "mine");
    assert_true(*pons_get_str(r, "claimed_by", "") != '\0');
    bench_signal(&p, SIGTERM);
    bench_finish(&p);
    bench_free(&p);
    bench_ledger_check(&b);
    assert_int_equal(bench_ledger_in(&b, "navigate_to_pose", "done"), 2);
    bench_close(&b);
}

static void a_watchdog_beside_a_run(void **state)
{
    (void)state;
    bench b;
    proc dog = {0}, p = {0};
    bench_open(&b);
    assert_int_equal(bench_run(&b, "onboard"), 0);
    bench_name_robot(&b, "--driver kinematic");
    bench_start(&b, &dog, NULL, "watchdog hal --json --speed 20");
    edit(&b, "ACTION.md", "{\"queue\": []}",
         "{\"queue\": [{\"action_id\":\"first\",\"action_type\":\"check_connection\"}]}");
    bench_await(&dog, "action", "id", "first");
    bench_start(&b, &p, NULL, "run --json 'go to the kitchen'");
    bench_must_exit(&p, 0);
    bench_free(&p);
    must_be(&b, PONS_WS_ACTION, "action", "action_type", "target_navigation", "completed");
    edit(&b, "ACTION.md", "{\"queue\": [", "{\"queue\": [" MINE ",");
    bench_await(&dog, "action", "status", "completed");
    await_status(&b, PONS_WS_ACTION, "action", "action_id", "mine", "completed");
    assert_int_equal(bench_count(&dog, "action", "status", "failed"), 0);
    bench_signal(&dog, SIGTERM);
    bench_must_exit(&dog, 0);
    bench_free(&dog);
    bench_ledger_check(&b);
    assert_int_equal(bench_ledger_in(&b, "navigate_to_pose", "done"), 2); // each once
    bench_close(&b);
}

static void a_task_in_words(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    assert_int_equal(bench_run(&b, "onboard"), 0);
    edit(&b, "ACTION.md", "{\"queue\": []}",
         "{\"queue\": [{\"action_id\":\"words\",\"action_type\":\"real_execute\",\"params\":"
         "{\"nl_task\":\"go to the kitchen, then go to the study\"}},\n"
         "{\"action_id\":\"option\",\"action_type\":\"real_execute\",\"params\":"
         "{\"nl_task\":\"--help\"}},\n" // words, whatever they look like
         "{\"action_id\":\"skill\",\"action_type\":\"strategy\",\"params\":"
         "{\"skill\":\"spin\",\"args\":{\"angle_rad\":1}}}]}");
    bench_start(&b, &p, NULL, "watchdog hal --once --json --driver kinematic --speed 20");
    bench_must_exit(&p, 1);
    bench_free(&p);
    must_be(&b, PONS_WS_ACTION, "action", "action_id", "words", "completed");
    must_be(&b, PONS_WS_ACTION, "action", "action_id", "option", "failed");
    must_be(&b, PONS_WS_ACTION, "action", "action_id", "skill", "completed");
    bench_ledger_check(&b);
    assert_int_equal(bench_ledger_in(&b, "navigate_to_pose", "done"), 2);
    assert_int_equal(bench_ledger_in(&b, "spin", "done"), 1);
    bench_close(&b);
}

// Two runs of one errand: the one that comes second adds nothing, also when the first is through already.
static void a_thread_is_begun_once(void **state)
{
    (void)state;
    bench b;
    bench_open(&b);
    assert_int_equal(bench_run(&b, "onboard"), 0);
    assert_int_equal(bench_run(&b, "run --new --thread hal-x " FAST " 'go to the kitchen'"), 0);
    bench_must_fail(&b, "run --new --thread hal-x " FAST " 'go to the kitchen'", 3,
                    "has been given goals before");
    assert_int_equal(bench_run(&b, "resume hal-x"), 0); // as the errand's next try
    bench_ledger_check(&b);
    assert_int_equal(bench_ledger_skill(&b, "navigate_to_pose"), 1);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_run_is_shown, bench_teardown),
        cmocka_unit_test_teardown(what_a_person_took_out_is_refused, bench_teardown),
        cmocka_unit_test_teardown(what_people_write_is_done, bench_teardown),
        cmocka_unit_test_teardown(a_watchdog_beside_a_run, bench_teardown),
        cmocka_unit_test_teardown(a_task_in_words, bench_teardown),
        cmocka_unit_test_teardown(a_thread_is_begun_once, bench_teardown),
    };
    return bench_together("files", tests, sizeof tests / sizeof tests[0]);
}
