// test_cli.c - `pons` as a person and a program meet it: the real program, real processes, real
// sockets, a workspace in a mkdtemp directory.
//
// What is shown: two goals from end to end, with the kinematic robot and with physics; the brain
// killed at random moments (PONS_KILL_ROUNDS rounds, the seed is printed) and resumed, with the
// body's ledger as the judge; the body killed; the brain frozen; stop, reset, pause, continue, say
// and approve from other processes; a model server, and its death; and a table of bad input, each
// row with its exit status and its one line on standard error. No test measures time.
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli_bench.h"
#include "pons/rand.h"

#define FAST      "--driver kinematic --seed 3 --speed 20"
#define WATCHABLE "--driver kinematic --seed 3 --speed 1" // long enough to say something meanwhile

static void must_exit(proc *p, int status)
{
    const int got = bench_finish(p);
    if (got != status) {
        char *err = bench_stderr(p);
        print_error("%s\n%s\n", p->text ? p->text : "", err);
        free(err);
        fail_msg("exit status %d, not %d", got, status);
    }
}

static const pons_value *last_event(const proc *p)
{
    return json_array_get(p->events, json_array_size(p->events) - 1);
}

// ---------------------------------------------------------------- a run

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
    json_array_foreach(p->events, i, ev)
    {
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
    must_exit(&p, 0);
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
    must_exit(&p, 0);
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
    must_exit(&p, 0);
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
    must_exit(&p, 0);
    assert_non_null(strstr(p.text, "FINISH"));
    assert_non_null(strstr(p.text, "succeeded"));
    assert_null(strchr(p.text, '\033')); // no terminal, no colours
    bench_free(&p);
    bench_close(&b);
}

// ---------------------------------------------------------------- deaths

static void finish_after_kills(bench *b, proc *p, pons_rand *r, int kills)
{
    int left = kills;
    for (;;) {
        if (left > 0) {
            bench_rest((int64_t)pons_rand_below(r, 900));
            if (bench_alive(p)) {
                bench_signal(p, SIGKILL);
            }
            left--;
        }
        const int status = bench_finish(p);
        if (status == 0) {
            return;
        }
        assert_int_equal(status, 128 + SIGKILL);
        bench_free(p);
        bench_start(b, p, NULL, "resume --json killed");
    }
}

static void kill_and_resume_until_done(void **state)
{
    (void)state;
    const char *text = getenv("PONS_KILL_ROUNDS");
    const int rounds = text && atoi(text) > 0 ? atoi(text) : 3;
    for (int i = 0; i < rounds; i++) {
        const uint64_t seed = 1000 + (uint64_t)i;
        pons_rand r;
        pons_rand_seed(&r, seed);
        bench b;
        proc p = {0};
        bench_open(&b);
        bench_start(&b, &p, NULL,
                    "run --json --thread killed --driver kinematic --seed 3 --speed 8 去厨房 "
                    "'go back to the living room'");
        bench_await(&p, "run.started", NULL, NULL); // from here on the goals are safe
        const int kills = 2 + (int)pons_rand_below(&r, 4);
        print_message("seed %llu: %d kills\n", (unsigned long long)seed, kills);
        finish_after_kills(&b, &p, &r, kills);
        const pons_value *done = last_event(&p);
        assert_string_equal(pons_get_str(done, "type", ""), "run.done");
        assert_string_equal(pons_get_str(done, "status", ""), "succeeded");
        size_t k;
        json_t *task;
        assert_int_equal(json_array_size(pons_get(done, "tasks")), 2);
        json_array_foreach(pons_get(done, "tasks"), k, task)
        {
            assert_string_equal(pons_get_str(task, "status", ""), "succeeded");
        }
        bench_ledger_check(&b);
        bench_free(&p);
        bench_close(&b);
    }
}

static void a_killed_body_leaves_an_unknown_outcome(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    bench_start(&b, &p, NULL, "run --json --thread t --driver kinematic --seed 3 --speed 5 去厨房");
    const pons_value *accepted = bench_await(&p, "effect", "state", "accepted");
    char first[64];
    snprintf(first, sizeof first, "%s", pons_get_str(accepted, "goal_id", ""));
    bench_end_body(&b);
    bench_await(&p, "effect", "state", "outcome_unknown");
    bench_await(&p, "run.done", "status", "succeeded");
    must_exit(&p, 0);
    // The next body booted latched, the rules lifted that, and the way was begun anew.
    assert_int_equal(bench_ledger_count(&b, first, "started"), 1);
    assert_int_equal(bench_ledger_count(&b, first, "done"), 0);
    bench_ledger_check(&b);
    const pons_value *newest = NULL;
    size_t i;
    json_t *ev;
    json_array_foreach(p.events, i, ev)
    {
        if (strcmp(pons_get_str(ev, "skill", ""), "navigate_to_pose") == 0 &&
            strcmp(pons_get_str(ev, "state", ""), "done") == 0) {
            newest = ev;
        }
    }
    assert_non_null(newest);
    assert_string_not_equal(pons_get_str(newest, "goal_id", ""), first);
    bench_free(&p);
    bench_close(&b);
}

static void a_frozen_brain_is_a_hold(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    bench_start(&b, &p, NULL, "run --json --thread t " WATCHABLE " 去厨房");
    const pons_value *accepted = bench_await(&p, "effect", "state", "accepted");
    char goal[64];
    snprintf(goal, sizeof goal, "%s", pons_get_str(accepted, "goal_id", ""));
    bench_signal(&p, SIGSTOP);
    bench_ledger_await(&b, "held", 1);
    bench_signal(&p, SIGCONT);
    bench_await(&p, "run.done", "status", "succeeded");
    must_exit(&p, 0);
    assert_int_equal(bench_ledger_count(&b, goal, "started"), 1);
    assert_true(bench_ledger_count(&b, goal, "adopted") >= 1);
    assert_int_equal(bench_ledger_count(&b, goal, "done"), 1);
    bench_free(&p);
    bench_close(&b);
}

static void leaving_with_ctrl_c_is_no_end(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    bench_start(&b, &p, NULL, "run --json --thread t " WATCHABLE " 去厨房");
    const pons_value *accepted = bench_await(&p, "effect", "state", "accepted");
    char goal[64];
    snprintf(goal, sizeof goal, "%s", pons_get_str(accepted, "goal_id", ""));
    bench_signal(&p, SIGINT);
    must_exit(&p, 1);
    char *err = bench_stderr(&p);
    assert_non_null(strstr(err, "pons resume t"));
    free(err);
    bench_free(&p);
    bench_start(&b, &p, NULL, "resume --json");
    bench_await(&p, "run.done", "status", "succeeded");
    must_exit(&p, 0);
    assert_int_equal(bench_ledger_count(&b, goal, "started"), 1);
    bench_ledger_check(&b);
    bench_free(&p);
    bench_close(&b);
}

static void one_brain_a_thread(void **state)
{
    (void)state;
    bench b;
    proc p = {0}, second = {0};
    bench_open(&b);
    bench_start(&b, &p, NULL, "run --json --thread t " WATCHABLE " 去厨房");
    bench_await(&p, "effect", "state", "accepted");
    bench_start(&b, &second, NULL, "resume t");
    must_exit(&second, 3);
    char *err = bench_stderr(&second), pid[32];
    snprintf(pid, sizeof pid, "%ld", (long)p.pid);
    if (!strstr(err, pid)) {
        fail_msg("“%s” does not name the process %s", err, pid);
    }
    free(err);
    bench_free(&second);
    bench_signal(&p, SIGKILL);
    must_exit(&p, 128 + SIGKILL);
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
    must_exit(&second, 3);
    char *err = bench_stderr(&second), pid[32];
    snprintf(pid, sizeof pid, "%ld", (long)bench_body_pid(&b));
    if (!strstr(err, pid)) {
        fail_msg("“%s” does not name the process %s", err, pid);
    }
    free(err);
    bench_free(&second);
    bench_signal(&p, SIGKILL);
    must_exit(&p, 128 + SIGKILL);
    bench_free(&p);
    bench_close(&b);
}

static void a_body_of_a_persons_own_stays(void **state)
{
    (void)state;
    bench b;
    proc body = {0}, p = {0};
    bench_open(&b);
    bench_start(&b, &body, NULL, "body " FAST);
    while (bench_body_pid(&b) == 0) {
        assert_true(bench_alive(&body));
        bench_rest(10);
    }
    bench_start(&b, &p, NULL, "run --json " FAST " 去厨房");
    bench_await(&p, "run.done", "status", "succeeded");
    must_exit(&p, 0);
    assert_true(bench_alive(&body));
    bench_signal(&body, SIGTERM);
    must_exit(&body, 0);
    bench_free(&p);
    bench_free(&body);
    bench_close(&b);
}

// ---------------------------------------------------------------- from another terminal

static void stop_and_reset(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    bench_start(&b, &p, NULL, "run --json --thread t " WATCHABLE " 去厨房");
    bench_await(&p, "effect", "state", "accepted");
    assert_int_equal(bench_run(&b, "stop 'the cat'"), 0);
    const pons_value *stop = bench_await(&p, "stop", NULL, NULL);
    assert_true(pons_get_bool(stop, "latched", false));
    bench_await(&p, "mode", "mode", "SAFE");
    pons_autovalue status = NULL;
    assert_int_equal(bench_run_json(&b, "status --json", &status), 0);
    assert_true(pons_get_bool(pons_get(status, "stop"), "latched", false));
    assert_non_null(strstr(pons_get_str(pons_get(status, "stop"), "reason", ""), "the cat"));
    assert_int_equal(bench_run(&b, "reset"), 0);
    bench_await(&p, "mode", "mode", "EXEC");
    bench_await(&p, "run.done", "status", "succeeded");
    must_exit(&p, 0);
    bench_ledger_check(&b);
    bench_free(&p);
    bench_close(&b);
}

static void pause_continue_say(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    bench_start(&b, &p, NULL, "run --json --thread t " WATCHABLE " 去厨房");
    bench_await(&p, "effect", "state", "accepted");
    assert_int_equal(bench_run(&b, "pause"), 0);
    bench_await(&p, "mode", "mode", "IDLE");
    bench_await(&p, "effect", "state", "canceled");
    assert_int_equal(bench_run(&b, "say 去卧室 --thread t"), 0);
    bench_await(&p, "task.queued", NULL, NULL);
    assert_int_equal(bench_run(&b, "continue --thread t"), 0);
    bench_await(&p, "mode", "mode", "EXEC");
    bench_await(&p, "task.done", "text", "去厨房");
    assert_int_equal(bench_run(&b, "say stop"), 0);
    bench_await(&p, "task.done", "status", "cancelled");
    bench_await(&p, "run.done", "status", "cancelled");
    must_exit(&p, 1);
    bench_ledger_check(&b);
    bench_free(&p);
    bench_close(&b);
}

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
    must_exit(&p, 128 + SIGKILL);
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

// A share directory in which a person is asked before every drive.
static void share_that_asks(bench *b)
{
    static const char *const linked[] = {"worlds", "schemas", "scenarios"};
    char from[256], to[256];
    snprintf(b->share, sizeof b->share, "%s/share", b->dir);
    assert_int_equal(mkdir(b->share, 0700), 0);
    snprintf(to, sizeof to, "%s/config", b->share);
    assert_int_equal(mkdir(to, 0700), 0);
    for (size_t i = 0; i < sizeof linked / sizeof linked[0]; i++) {
        snprintf(from, sizeof from, "%s/%s", PONS_SOURCE_DIR, linked[i]);
        snprintf(to, sizeof to, "%s/%s", b->share, linked[i]);
        assert_int_equal(symlink(from, to), 0);
    }
    snprintf(to, sizeof to, "%s/config/intents.yaml", b->share);
    assert_int_equal(symlink(PONS_SOURCE_DIR "/config/intents.yaml", to), 0);
    FILE *in = fopen(PONS_SOURCE_DIR "/config/kernel.yaml", "r");
    assert_non_null(in);
    static char text[1 << 16];
    const size_t n = fread(text, 1, sizeof text - 1, in);
    text[n] = '\0';
    fclose(in);
    char *skills = strstr(text, "  skills: []");
    assert_non_null(skills);
    static char changed[sizeof text + 64];
    snprintf(changed, sizeof changed, "%.*s  skills: [navigate_to_pose]%s", (int)(skills - text),
             text, skills + strlen("  skills: []"));
    bench_file(b, "share/config/kernel.yaml", changed);
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
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench b;
        proc p = {0};
        char words[128];
        bench_open(&b);
        share_that_asks(&b);
        bench_start(&b, &p, NULL, "run --json --thread t " FAST " 去厨房");
        bench_await(&p, "approval.requested", NULL, NULL);
        bench_await(&p, "run.done", "status", "waiting");
        must_exit(&p, 4);
        bench_free(&p);
        assert_int_equal(bench_ledger_count(&b, NULL, "started"), 0);
        assert_int_equal(bench_run(&b, "approve"), 4); // shows what it waits for
        snprintf(words, sizeof words, "approve t %s", rows[i].answer);
        assert_int_equal(bench_run(&b, words), 0);
        bench_start(&b, &p, NULL, "resume --json t");
        bench_await(&p, "approval.resolved", NULL, NULL);
        bench_await(&p, "run.done", "status", rows[i].status);
        must_exit(&p, rows[i].exit);
        bench_free(&p);
        assert_int_equal(bench_run(&b, "approve t"), 0); // waits for nobody any more
        bench_close(&b);
    }
}

// ---------------------------------------------------------------- a model

static int start_model(bench *b, proc *model, const char *words)
{
    bench_start_program(b, model, PONS_BINARY_DIR "/tests/scripted_model", words);
    const int port = atoi(bench_line(model));
    assert_in_range(port, 1, 65535);
    return port;
}

static bool no_model_module(void)
{
    return access(PONS_BINARY_DIR "/lib/pons/llm-openai.so", F_OK) < 0;
}

static void a_model_decides(void **state)
{
    (void)state;
    if (no_model_module()) {
        skip();
    }
    bench b;
    proc model = {0}, p = {0};
    char words[256];
    bench_open(&b);
    const int port = start_model(&b, &model, "--rules");
    snprintf(words, sizeof words,
             "run --json --thread t --llm http://127.0.0.1:%d/v1 " FAST
             " 去厨房 'go back to the living room'",
             port);
    bench_start(&b, &p, NULL, words);
    bench_await(&p, "run.done", "status", "succeeded");
    must_exit(&p, 0);
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

static void the_rules_carry_on_without_the_model(void **state)
{
    (void)state;
    if (no_model_module()) {
        skip();
    }
    bench b;
    proc model = {0}, p = {0};
    char words[256];
    bench_open(&b);
    const int port = start_model(&b, &model, "--rules --die-after 2");
    snprintf(words, sizeof words,
             "run --json --thread t --llm http://127.0.0.1:%d/v1 --driver kinematic --seed 3 "
             "--speed 5 去厨房 'go back to the living room'",
             port);
    bench_start(&b, &p, NULL, words);
    bench_await(&p, "run.done", "status", "succeeded");
    must_exit(&p, 0);
    assert_int_equal(bench_count(&p, "decision", "source", "llm"), 2);
    assert_true(bench_count(&p, "decision", "source", "rule_engine") >= 2);
    bool said = false;
    size_t i;
    json_t *ev;
    json_array_foreach(p.events, i, ev)
    {
        const char *why = pons_get_str(ev, "fallback", NULL);
        said = said || (why && strstr(why, "the rules decide"));
    }
    assert_true(said);
    bench_ledger_check(&b);
    assert_int_equal(bench_finish(&model), 1);
    bench_free(&model);
    bench_free(&p);
    bench_close(&b);
}

// ---------------------------------------------------------------- bad input

static void must_fail(bench *b, const char *words, int status, const char *says)
{
    proc p = {0};
    bench_start(b, &p, NULL, words);
    const int got = bench_finish(&p);
    char *err = bench_stderr(&p);
    size_t lines = 0;
    for (const char *c = err; *c; c++) {
        lines += *c == '\n';
    }
    if (got != status || lines != 1 || strncmp(err, "pons: ", 6) != 0 || !strstr(err, says) ||
        p.length > 0) {
        fail_msg("pons %s: exit %d (expected %d), %zu bytes of output, and “%s” (expected one line "
                 "with “%s”)",
                 words, got, status, p.length, err, says);
    }
    free(err);
    bench_free(&p);
}

static void bad_input_is_one_line_and_two(void **state)
{
    (void)state;
    static const struct {
        const char *words, *says;
    } rows[] = {
        {"run 'go to the moon'", "moon"},
        {"run 去月球", "月球"},
        {"run ' '", "goal 1 is empty"},
        {"run 去厨房 ''", "goal 2 is empty"},
        {"run 停", "control word"},
        {"run --fly 去厨房", "--fly"},
        {"run --speed 0 去厨房", "--speed"},
        {"run --speed fast 去厨房", "fast"},
        {"run --speed 1e9 去厨房", "1e9"},
        {"run --speed nan 去厨房", "nan"},
        {"run --seed -1 去厨房", "--seed"},
        {"run 去厨房 --speed", "needs a value"},
        {"run --thread a/b 去厨房", "a/b"},
        {"run --thread '' 去厨房", "--thread"},
        {"run --llm ftp://x 去厨房", "ftp://x"},
        {"run --llm script:/nonexistent.yaml 去厨房", "/nonexistent.yaml"},
        {"run --stream all 去厨房", "--stream"},
        {"run --world nowhere 去厨房", "nowhere"},
        {"run --driver --speed", "--"},
        {"body --battery 101", "--battery"},
        {"body --battery", "needs a value"},
        {"body now", "now"},
        {"body --speed 1000", "--speed"},
        {"say", "nothing to say"},
        {"scenario", "scenario"},
        {"scenario run", "scenario"},
        {"scenario run nothing-like-this", "nothing-like-this"},
        {"scenario fuzz --seeds 5", "--seeds"},
        {"scenario fuzz --seeds 5..1", "--seeds"},
        {"graph", "graph"},
        {"graph show cat", "cat"},
        {"graph show kernel --format png", "png"},
        {"threads eat", "eat"},
        {"threads show", "one thread"},
        {"status a b", "one thread"},
        {"resume a b", "one thread"},
        {"approve t maybe", "maybe"},
        {"dance", "dance"},
        {"help dance", "dance"},
    };
    bench b;
    bench_open(&b);
    assert_int_equal(mkdir(b.workspace, 0700), 0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        must_fail(&b, rows[i].words, 2, rows[i].says);
    }
    bench_close(&b);
}

static void an_unknown_thread_is_bad_input(void **state)
{
    (void)state;
    static const char *const before[] = {"status", "resume", "say hello", "pause", "approve"};
    static const char *const rows[] = {
        "status ghost",          "resume ghost",     "threads show ghost",
        "threads history ghost", "threads rm ghost", "say hello --thread ghost",
        "pause --thread ghost",  "approve ghost",    "continue --thread ghost",
        "approve ghost approve"};
    bench b;
    proc p = {0};
    bench_open(&b);
    assert_int_equal(mkdir(b.workspace, 0700), 0);
    for (size_t i = 0; i < sizeof before / sizeof before[0]; i++) {
        must_fail(&b, before[i], 2, "no thread");
    }
    bench_start(&b, &p, NULL, "run --json --thread real " FAST " 去厨房");
    must_exit(&p, 0);
    bench_free(&p);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        must_fail(&b, rows[i], 2, "ghost");
    }
    pons_autovalue s = NULL;
    assert_int_equal(bench_run_json(&b, "threads --json", &s), 0);
    assert_string_equal(pons_get_str(s, "thread", ""), "real"); // no ghost was made by asking
    bench_close(&b);
}

// Writes worlds/house.yaml with a mistake in its bounds; returns the line that it is in.
static int house_with_a_word_for_a_number(bench *b)
{
    static char text[1 << 16];
    static const char right[] = "bounds: [0, 0, 10,";
    FILE *f = fopen(PONS_SOURCE_DIR "/worlds/house.yaml", "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    char *at = strstr(text, right);
    assert_non_null(at);
    memcpy(at + strlen("bounds: [0, 0, "), "XX", strlen("XX"));
    int line = 1;
    for (const char *c = text; c < at; c++) {
        line += *c == '\n';
    }
    bench_file(b, "w.yaml", text);
    return line;
}

static void bad_files_are_named_with_their_place(void **state)
{
    (void)state;
    bench b;
    char words[512], place[64];
    bench_open(&b);
    const int line = house_with_a_word_for_a_number(&b);
    snprintf(words, sizeof words, "run --world %s/w.yaml 去厨房", b.dir);
    snprintf(place, sizeof place, "w.yaml:%d:16", line);
    must_fail(&b, words, 2, place);
    snprintf(words, sizeof words, "body --driver kinematic --world %s",
             bench_file(&b, "w.yaml", "name: [w\n"));
    must_fail(&b, words, 2, "w.yaml:");
    snprintf(words, sizeof words, "scenario run %s",
             bench_file(&b, "s.yaml", "name: s\ngoals: [x]\nexpect: {status: happy}\n"));
    must_fail(&b, words, 2, "s.yaml:3:18");
    snprintf(words, sizeof words, "run --llm script:%s 去厨房",
             bench_file(&b, "m.yaml", "replies:\n  - contents: x\n"));
    must_fail(&b, words, 2, "m.yaml:2:");
    bench_close(&b);
}

static void an_environment_that_will_not_do_is_three(void **state)
{
    (void)state;
    bench b;
    bench_open(&b);
    must_fail(&b, "status", 3, "no workspace"); // nothing was made by looking
    assert_int_equal(access(b.workspace, F_OK), -1);
    assert_int_equal(mkdir(b.workspace, 0700), 0);
    must_fail(&b, "stop", 3, "");
    must_fail(&b, "reset", 3, "");
    must_fail(&b, "run --driver gazebo9 去厨房", 2, "gazebo9");
    bench_file(&b, "ws/pons.db", "this is no database, whatever its name says\n");
    must_fail(&b, "status", 3, "pons.db");
    must_fail(&b, "run --driver kinematic 去厨房", 3, "pons.db");
    bench_file(&b, "file", "a file where the workspace should be\n");
    snprintf(b.workspace, sizeof b.workspace, "%s/file", b.dir);
    must_fail(&b, "run --driver kinematic 去厨房", 3, "file");
    must_fail(&b, "body --driver kinematic", 3, "file");
    snprintf(b.workspace, sizeof b.workspace, "%s/file/below", b.dir);
    must_fail(&b, "run --driver kinematic 去厨房", 3, "file");
    bench_close(&b);
}

static void help_and_drawings(void **state)
{
    (void)state;
    static const char *const rows[] = {"help",
                                       "help run",
                                       "run --help",
                                       "--version",
                                       "help doctor",
                                       "graph show kernel",
                                       "graph show react --format dot",
                                       "graph show react --format json"};
    bench b;
    bench_open(&b);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        proc p = {0};
        bench_start(&b, &p, NULL, rows[i]);
        must_exit(&p, 0);
        assert_true(p.length > 0);
        bench_free(&p);
    }
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(two_goals_with_the_kinematic_robot, bench_teardown),
        cmocka_unit_test_teardown(two_goals_with_physics, bench_teardown),
        cmocka_unit_test_teardown(goals_from_a_pipe, bench_teardown),
        cmocka_unit_test_teardown(a_person_reads_lines, bench_teardown),
        cmocka_unit_test_teardown(kill_and_resume_until_done, bench_teardown),
        cmocka_unit_test_teardown(a_killed_body_leaves_an_unknown_outcome, bench_teardown),
        cmocka_unit_test_teardown(a_frozen_brain_is_a_hold, bench_teardown),
        cmocka_unit_test_teardown(leaving_with_ctrl_c_is_no_end, bench_teardown),
        cmocka_unit_test_teardown(one_brain_a_thread, bench_teardown),
        cmocka_unit_test_teardown(one_body_a_workspace, bench_teardown),
        cmocka_unit_test_teardown(a_body_of_a_persons_own_stays, bench_teardown),
        cmocka_unit_test_teardown(stop_and_reset, bench_teardown),
        cmocka_unit_test_teardown(pause_continue_say, bench_teardown),
        cmocka_unit_test_teardown(status_has_its_members, bench_teardown),
        cmocka_unit_test_teardown(a_person_approves, bench_teardown),
        cmocka_unit_test_teardown(a_model_decides, bench_teardown),
        cmocka_unit_test_teardown(the_rules_carry_on_without_the_model, bench_teardown),
        cmocka_unit_test_teardown(bad_input_is_one_line_and_two, bench_teardown),
        cmocka_unit_test_teardown(an_unknown_thread_is_bad_input, bench_teardown),
        cmocka_unit_test_teardown(bad_files_are_named_with_their_place, bench_teardown),
        cmocka_unit_test_teardown(an_environment_that_will_not_do_is_three, bench_teardown),
        cmocka_unit_test_teardown(help_and_drawings, bench_teardown),
    };
    pons_value_init();
    return cmocka_run_group_tests_name("cli", tests, NULL, NULL);
}
