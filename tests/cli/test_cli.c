// test_cli.c - `pons` as a person and a program meet it: the real program, real processes, real
// sockets, a workspace in a mkdtemp directory.
//
// What is shown: two goals from end to end, with the kinematic robot and with physics; one brain a
// thread and one body a workspace; what `pons status` has; approvals; a model that decides.
// test_deaths.c, test_watch.c, test_input.c, test_threads.c and test_graph.c show the rest. No test
// measures time.
#include "cli_bench.h"
#include "prepared.h"
#include "unit.h"

#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const pons_value *last_event(const proc *p)
{
    return json_array_get(p->events, json_array_size(p->events) - 1);
}

// ---- a run --------------------------------------------------------------------------------------

static void every_line_has_its_members(const proc *p, const char *thread)
{
    static const struct {
        const char *type, *members[8];
        bool durable;
    } rows[] = {
        {"run.started", {"goal", "options"}, true},
        {"mode", {"mode", "reason"}, true},
        {"task.queued", {"task"}, true},
        {"task.active", {"task"}, true},
        {"task.done", {"task_id", "status", "reason"}, true},
        {"observation", {"observation"}, true},
        {"decision", {"decision", "source", "iter"}, true},
        {"effect", {"goal_id", "skill", "args", "state"}, true},
        {"skill.feedback", {"goal_id", "distance_remaining_m"}, false},
        {"telemetry", {"pose", "battery_pct", "stop"}, false},
        {"token", {"content"}, false},
        {"stop", {"latched", "reason"}, true},
        {"run.done",
         {"status", "tasks", "iterations", "replans", "distance_m", "battery_pct"},
         true},
    };
    int64_t seq = 0;
    size_t lines = 0;
    for (const char *c = p->text; *c; c++) {
        lines += *c == '\n';
    }
    assert_int_equal(lines, json_array_size(p->events)); // each line is one JSON object
    size_t i;
    json_t *ev;
    json_array_foreach(p->events, i, ev) {
        const char *type = pons_get_str(ev, "type", "");
        assert_true(json_is_integer(pons_get(ev, "ts_ms")));
        assert_true(json_is_integer(pons_get(ev, "robot_ms")));
        assert_string_equal(pons_get_str(ev, "thread", ""), thread);
        if (pons_get(ev, "seq")) {
            assert_true(pons_get_int(ev, "seq", 0) > seq);
            seq = pons_get_int(ev, "seq", 0);
        }
        size_t r = 0;
        while (r < sizeof rows / sizeof rows[0] && strcmp(rows[r].type, type) != 0) {
            r++;
        }
        if (r == sizeof rows / sizeof rows[0]) {
            fail_msg("an event of the type %s", type);
        }
        for (size_t k = 0; k < 8 && rows[r].members[k]; k++) {
            if (!pons_get(ev, rows[r].members[k])) {
                fail_msg("%s has no %s", type, rows[r].members[k]);
            }
        }
        assert_int_equal(pons_get(ev, "seq") != NULL, rows[r].durable);
    }
}

static void two_goals(const char *options)
{
    bench b;
    proc p = {0};
    char words[256];
    bench_open(&b);
    snprintf(words, sizeof words, "run --json --thread two %s 去厨房 'go back to the living room'",
             options);
    bench_start(&b, &p, NULL, words);
    bench_await(&p, "run.started", NULL, NULL);
    bench_await(&p, "decision", "type", "CONTINUE");
    bench_await(&p, "task.done", "status", "succeeded");
    bench_await(&p, "decision", "type", "CONTINUE");
    bench_await(&p, "decision", "type", "FINISH");
    bench_await(&p, "task.done", "status", "succeeded");
    bench_await(&p, "run.done", "status", "succeeded");
    bench_must_exit(&p, 0);
    assert_string_equal(pons_get_str(last_event(&p), "type", ""), "run.done");
    assert_true(pons_get_num(last_event(&p), "distance_m", 0.0) > 5.0);
    every_line_has_its_members(&p, "two");
    char *err = bench_stderr(&p);
    assert_string_equal(err, "");
    free(err);
    bench_ledger_check(&b);
    bench_free(&p);

    // Its body was the run's, and went with it; a finished run says so again.
    assert_int_equal(bench_body_pid(&b), 0);
    bench_start(&b, &p, NULL, "resume two --json");
    bench_await(&p, "run.done", "status", "succeeded");
    bench_must_exit(&p, 0);
    assert_int_equal(json_array_size(p.events), 1);
    bench_free(&p);
    bench_close(&b);
}

static void two_goals_with_the_kinematic_robot(void **state)
{
    (void)state;
    two_goals(FAST);
}

static void two_goals_with_physics(void **state)
{
    (void)state;
    if (access(PONS_BINARY_DIR "/lib/pons/driver-mujoco.so", F_OK) < 0) {
        skip();
    }
    two_goals("--driver mujoco --seed 3 --speed 8");
}

static void goals_from_a_pipe(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    bench_start(&b, &p, "去厨房\n", "run --json --thread piped " FAST);
    bench_await(&p, "task.done", "status", "succeeded");
    bench_must_exit(&p, 0);
    bench_free(&p);
    bench_close(&b);
}

static void a_person_reads_lines(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    bench_start(&b, &p, NULL, "run " FAST " 去厨房");
    bench_must_exit(&p, 0);
    assert_non_null(strstr(p.text, "FINISH"));
    assert_non_null(strstr(p.text, "succeeded"));
    assert_null(strchr(p.text, '\033')); // no terminal, no colours
    bench_free(&p);
    bench_close(&b);
}

// ---- one of each --------------------------------------------------------------------------------

static void one_brain_a_thread(void **state)
{
    (void)state;
    bench b;
    proc p = {0}, second = {0};
    bench_open(&b);
    bench_start(&b, &p, NULL, "run --json --thread t " WATCHABLE " 去厨房");
    bench_await(&p, "effect", "state", "accepted");
    bench_start(&b, &second, NULL, "resume t");
    bench_must_exit(&second, 3);
    char *err = bench_stderr(&second), pid[32];
    snprintf(pid, sizeof pid, "%ld", (long)p.pid);
    if (!strstr(err, pid)) {
        fail_msg("“%s” does not name the process %s", err, pid);
    }
    free(err);
    bench_free(&second);
    bench_signal(&p, SIGKILL);
    bench_must_exit(&p, 128 + SIGKILL);
    bench_free(&p);
    bench_close(&b);
}

static void one_body_a_workspace(void **state)
{
    (void)state;
    bench b;
    proc p = {0}, second = {0};
    bench_open(&b);
    bench_start(&b, &p, NULL, "run --json --thread t " WATCHABLE " 去厨房");
    bench_await(&p, "effect", "state", "accepted");
    bench_start(&b, &second, NULL, "body --driver kinematic");
    bench_must_exit(&second, 3);
    char *err = bench_stderr(&second), pid[32];
    snprintf(pid, sizeof pid, "%ld", (long)bench_body_pid(&b));
    if (!strstr(err, pid)) {
        fail_msg("“%s” does not name the process %s", err, pid);
    }
    free(err);
    bench_free(&second);
    bench_signal(&p, SIGKILL);
    bench_must_exit(&p, 128 + SIGKILL);
    bench_free(&p);
    bench_close(&b);
}

static void a_body_of_a_persons_own_stays(void **state)
{
    (void)state;
    bench b;
    proc body = {0}, p = {0};
    bench_open(&b);
    bench_start_body(&b, &body, FAST);
    bench_start(&b, &p, NULL, "run --json " FAST " 去厨房");
    bench_await(&p, "run.done", "status", "succeeded");
    bench_must_exit(&p, 0);
    assert_true(bench_alive(&body));
    bench_signal(&body, SIGTERM);
    bench_must_exit(&body, 0);
    bench_free(&p);
    bench_free(&body);
    bench_close(&b);
}

// ---- from another terminal ----------------------------------------------------------------------

static void status_has_its_members(void **state)
{
    (void)state;
    static const char *const members[] = {
        "mode",         "stop",      "battery_pct", "pose", "zone",   "distance_to_target",
        "active_task",  "queue",     "skills",      "iter", "thread", "decision",
        "last_failure", "approvals", "body"};
    static const char *const of_body[] = {"driver", "robot_id", "boot_id", "realtime"};
    static const char *const of_skill[] = {"goal_id", "skill", "started_ms", "timeout_s"};
    bench b;
    proc p = {0};
    bench_open(&b);
    bench_start(&b, &p, NULL, "run --json --thread t " WATCHABLE " 去厨房 去卧室");
    bench_await(&p, "effect", "state", "accepted");
    pons_autovalue s = NULL;
    assert_int_equal(bench_run_json(&b, "status --json t", &s), 0);
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        if (!pons_get(s, members[i])) {
            fail_msg("status has no %s", members[i]);
        }
    }
    for (size_t i = 0; i < sizeof of_body / sizeof of_body[0]; i++) {
        assert_non_null(pons_get(pons_get(s, "body"), of_body[i]));
    }
    const pons_value *skill = json_array_get(pons_get(s, "skills"), 0);
    for (size_t i = 0; i < sizeof of_skill / sizeof of_skill[0]; i++) {
        assert_non_null(pons_get(skill, of_skill[i]));
    }
    assert_string_equal(pons_get_str(s, "mode", ""), "EXEC");
    assert_string_equal(pons_get_str(pons_get(s, "active_task"), "text", ""), "去厨房");
    assert_int_equal(json_array_size(pons_get(s, "queue")), 2);
    assert_non_null(pons_get(json_array_get(pons_get(s, "queue"), 0), "priority"));
    assert_non_null(pons_get(json_array_get(pons_get(s, "queue"), 0), "deadline"));
    assert_true(json_is_number(pons_get(pons_get(s, "pose"), "x")));
    bench_signal(&p, SIGKILL);
    bench_must_exit(&p, 128 + SIGKILL);
    bench_free(&p);

    // Without a brain it is read from the store all the same, and without a body too.
    bench_end_body(&b);
    pons_autovalue alone = NULL;
    assert_int_equal(bench_run_json(&b, "status --json", &alone), 0);
    assert_string_equal(pons_get_str(alone, "mode", ""), "EXEC");
    assert_true(json_is_null(pons_get(alone, "pose")));
    assert_int_equal(bench_run(&b, "status"), 0);
    assert_int_equal(bench_run(&b, "threads"), 0);
    assert_int_equal(bench_run(&b, "threads show t"), 0);
    assert_int_equal(bench_run(&b, "threads history t --json"), 0);
    assert_int_equal(bench_run(&b, "threads rm t"), 0);
    assert_int_equal(bench_run(&b, "threads show t"), 2);
    bench_close(&b);
}

static void a_person_approves(void **state)
{
    (void)state;
    static const struct {
        const char *answer, *status, *zone;
        int exit;
    } rows[] = {{"approve", "succeeded", "kitchen", 0},
                {"reject 'not today'", "aborted", NULL, 1},
                {"edit {\"zone\":\"kitchen\"}", "succeeded", "kitchen", 0}};
    bench asked;
    proc p = {0};
    bench_open(&asked);
    bench_share(&asked, BENCH_ASKS);
    bench_start(&asked, &p, NULL, "run --json --thread t " FAST " 去厨房");
    bench_await(&p, "approval.requested", NULL, NULL);
    bench_await(&p, "run.done", "status", "waiting");
    bench_must_exit(&p, 4);
    bench_free(&p);
    assert_int_equal(bench_ledger_count(&asked, NULL, "started"), 0);
    assert_int_equal(bench_run(&asked, "approve"), 4); // shows what it waits for
    bench_rests(&asked);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench b;
        char words[128];
        bench_open_copy(&b, &asked);
        snprintf(words, sizeof words, "approve t %s", rows[i].answer);
        assert_int_equal(bench_run(&b, words), 0);
        bench_start(&b, &p, NULL, "resume --json t");
        bench_await(&p, "approval.resolved", NULL, NULL);
        bench_await(&p, "run.done", "status", rows[i].status);
        bench_must_exit(&p, rows[i].exit);
        bench_free(&p);
        assert_int_equal(bench_run(&b, "approve t"), 0); // waits for nobody any more
        bench_close(&b);
    }
    bench_close(&asked);
}

// ---- a model ------------------------------------------------------------------------------------

static void a_model_decides(void **state)
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
             "run --json --thread t --llm http://127.0.0.1:%d/v1 " FAST
             " 去厨房 'go back to the living room'",
             port);
    bench_start(&b, &p, NULL, words);
    bench_await(&p, "run.done", "status", "succeeded");
    bench_must_exit(&p, 0);
    every_line_has_its_members(&p, "t");
    const int decisions = bench_count(&p, "decision", NULL, NULL);
    assert_true(decisions >= 4);
    assert_int_equal(bench_count(&p, "decision", "source", "llm"), decisions);
    assert_true(bench_count(&p, "token", NULL, NULL) >= decisions);
    assert_int_equal(bench_count(&p, "task.done", "status", "succeeded"), 2);
    bench_ledger_check(&b);
    bench_signal(&model, SIGKILL);
    bench_free(&model);
    bench_free(&p);
    bench_close(&b);
}

// One skill by its name, wherever its options stand: what is no option is the skill and its arguments, and no goal.
static void a_skill_is_called_wherever_the_options_stand(void **state)
{
    (void)state;
    static const char *const words[] = {"do " FAST " --json wait s=0.5",
                                        "do wait " FAST " s=0.5 --json",
                                        "do --json " FAST " -- wait s=0.5"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        bench b;
        proc p;
        bench_open(&b);
        bench_start(&b, &p, NULL, words[i]);
        const pons_value *task = pons_get(bench_await(&p, "task.queued", NULL, NULL), "task");
        const pons_value *goal = json_array_get(pons_get(task, "goals"), 0);
        assert_string_equal(pons_get_str(goal, "skill", ""), "wait");
        assert_true(pons_get_num(pons_get(goal, "args"), "s", 0.0) > 0.4);
        bench_must_exit(&p, 0);
        bench_free(&p);
        bench_close(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(two_goals_with_the_kinematic_robot, bench_teardown),
        cmocka_unit_test_teardown(two_goals_with_physics, bench_teardown),
        cmocka_unit_test_teardown(goals_from_a_pipe, bench_teardown),
        cmocka_unit_test_teardown(a_person_reads_lines, bench_teardown),
        cmocka_unit_test_teardown(one_brain_a_thread, bench_teardown),
        cmocka_unit_test_teardown(one_body_a_workspace, bench_teardown),
        cmocka_unit_test_teardown(a_body_of_a_persons_own_stays, bench_teardown),
        cmocka_unit_test_teardown(status_has_its_members, bench_teardown),
        cmocka_unit_test_teardown(a_person_approves, bench_teardown),
        cmocka_unit_test_teardown(a_model_decides, bench_teardown),
        cmocka_unit_test_teardown(a_skill_is_called_wherever_the_options_stand, bench_teardown),
    };
    pons_value_init();
    return bench_together("cli", tests, sizeof tests / sizeof tests[0]);
}
