// test_plan.c - `pons plan check|show|run` and `pons run --plan`, as a person meets them.
//
// check and show: canonical text on standard output, repairs and the critic's rules on standard
// error, the exit status of each case. run: with a robot, through its ledger; approved from another
// terminal; killed in the middle of a drive and resumed, after which the body has started no goal
// twice and has done each step once.
#include "cli_bench.h"
#include "unit.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DRIVE                                                                                      \
    "{\"step_id\":2,\"action\":\"navigate_to_pose\",\"parameters\":{\"zone\":\"kitchen\"},"        \
    "\"preconditions\":{\"battery_pct_above\":20}}"
#define SPEAK                                                                                      \
    "{\"step_id\":1,\"action\":\"say\",\"tool_call_type\":\"speak\",\"parameters\":{\"text\":"     \
    "\"I go\"}}"
#define WAIT "{\"step_id\":3,\"action\":\"wait\",\"parameters\":{\"s\":1}}"
#define PLAN(steps)                                                                                \
    "{\"plan_id\":\"plan_1\",\"goal\":\"see the kitchen\",\"created_at\":0,\"steps\":[" steps "]}"

// "WORDS DIR/plan.json MORE"; static storage.
static const char *command(bench *b, const char *words, const char *text, const char *more)
{
    static char line[1024];
    snprintf(line, sizeof line, "%s %s %s", words, bench_file(b, "plan.json", text), more);
    return line;
}

static void expect_stderr(proc *p, const char *const *says)
{
    char *err = bench_stderr(p);
    for (; *says; says++) {
        if (!strstr(err, *says)) {
            fail_msg("“%s” does not say “%s”", err, *says);
        }
    }
    free(err);
}

// ---- tools --------------------------------------------------------------------------------------

// A server of mcp.json: pons itself, in a workspace of its own, whose writes ask a person.
static void add_server(bench *b)
{
    char text[1024], path[256];
    snprintf(text, sizeof text,
             "{\"mcpServers\": {\"notes\": {\"command\": \"%s/pons\", \"args\": [\"mcp\", "
             "\"serve\", \"--tools\", \"core\", \"--workspace\", \"%s/notes\"], \"risk\": "
             "{\"write_file\": \"dangerous\"}}}}",
             PONS_BINARY_DIR, b->dir);
    mkdir(b->workspace, 0700);
    snprintf(path, sizeof path, "%s/notes", b->dir);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/mcp.json", b->workspace);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static bool noted(const bench *b)
{
    char path[256];
    snprintf(path, sizeof path, "%s/notes/a.txt", b->dir);
    return access(path, F_OK) == 0;
}

#define CALL(tool, id, parameters)                                                                 \
    "{\"step_id\":" id ",\"action\":\"" tool "\",\"parameters\":" parameters "}"
#define WRITE CALL("notes.write_file", "1", "{\"path\":\"a.txt\",\"content\":\"hello\"}")
#define READ  CALL("notes.read_file", "2", "{\"path\":\"a.txt\"}")

// Tools of a server are steps as skills are: asked about, done once, gone on with by a resume; no model is there.
static void a_servers_tools_are_steps(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    char words[256];
    bench_open(&b);
    add_server(&b);
    // Before anything is done.
    bench_must_fail(&b,
                    command(&b, "plan run", PLAN(READ "," CALL("notes.raed_file", "3", "{}")), ""),
                    3, "step 3, notes.raed_file: there is no tool of that name here");
    // The third step fails, and ends the plan before the fourth.
    bench_start(&b, &p, NULL,
                command(&b, "plan run",
                        PLAN(WRITE "," READ
                                   "," CALL("notes.read_file", "3", "{\"path\":\"none\"}") "," CALL(
                                       "notes.list_dir", "4", "{}")),
                        "--json"));
    const pons_value *asks = bench_await(&p, "approval_request", "tool", "notes.write_file");
    pons_autovalue thread = pons_value_ref(pons_get(asks, "thread"));
    bench_must_exit(&p, 4);
    bench_free(&p);
    assert_false(noted(&b));
    snprintf(words, sizeof words, "approve %s approve", json_string_value(thread));
    assert_int_equal(bench_run(&b, words), 0);
    snprintf(words, sizeof words, "resume %s --json", json_string_value(thread));
    bench_start(&b, &p, NULL, words);
    bench_must_exit(&p, 1);
    assert_int_equal(bench_count(&p, "tool_start", "tool", "notes.write_file"), 1);
    assert_int_equal(bench_count(&p, "plan_updated", "status", "completed"), 2);
    assert_int_equal(bench_count(&p, "plan_updated", "status", "skipped"), 1);
    const char *said = pons_get_str(bench_await(&p, "done", NULL, NULL), "content", "");
    assert_ptr_equal(strstr(said, "the plan is failed: error: "), said);
    bench_free(&p);
    assert_true(noted(&b));
    bench_close(&b);
}

// ---- check and show -----------------------------------------------------------------------------

static void check_prints_what_it_is_and_what_it_breaks(void **state)
{
    (void)state;
    static const struct {
        const char *text, *more;
        int status;
        const char *says[6];
    } rows[] = {
        // every default is named, in one line; their values stand in the canonical text
        {PLAN(DRIVE),
         "",
         0,
         {"pons: ", "plan.json: default: reasoning, risk_level, requires_confirmation, ",
          ", steps[0].fallback, steps[0].status, "}},
        {PLAN(DRIVE ","), "", 0, {"trailing-comma"}},
        {PLAN(DRIVE "," DRIVE), "", 2, {"steps[1].step_id: 2 already exists, use a unique id"}},
        {"no plan at all", "", 2, {"no plan found"}},
        {PLAN(DRIVE), "--world house", 0, {""}},
        {PLAN("{\"step_id\":1,\"action\":\"navigate_to_pose\",\"parameters\":{\"zone\":\"attic\"}},"
              "{\"step_id\":2,\"action\":\"navigate_to_pose\",\"parameters\":{\"pose\":{\"x\":50,"
              "\"y\":1}}},{\"step_id\":3,\"action\":\"fly\"}"),
         "--world house",
         1,
         {"step 1, navigate_to_pose: zone: unknown zone attic",
          "step 2, navigate_to_pose: map_bounds: target [50.00, 1.00] is outside the map [0.00, "
          "0.00] to [10.00, 8.00]",
          "step 3, fly: known_skill: no skill fly on this robot"}},
        {PLAN(DRIVE), "--world atlantis", 2, {"atlantis"}},
        {PLAN(DRIVE), "--embodiment /nowhere/arm.yaml", 2, {"/nowhere/arm.yaml"}},
    };
    bench b;
    bench_open(&b);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        proc p = {0};
        bench_start(&b, &p, NULL, command(&b, "plan check", rows[i].text, rows[i].more));
        bench_must_exit(&p, rows[i].status);
        expect_stderr(&p, rows[i].says);
        bench_free(&p);
    }
    bench_close(&b);
}

static void check_knows_an_arm(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    char more[256];
    bench_open(&b);
    snprintf(more, sizeof more, "--json --embodiment %s",
             bench_file(&b, "arm.yaml",
                        "name: panda\nmax_reach_m: 0.855\npayload_kg: 3\n"
                        "supported_actions: [move_to]\n"));
    bench_start(&b, &p, NULL,
                command(&b, "plan check",
                        PLAN("{\"step_id\":1,\"action\":\"move_to\",\"parameters\":{"
                             "\"target_pose\":[1.8,0.75,0.8,0,0,0]}},"
                             "{\"step_id\":2,\"action\":\"fly\"}"),
                        more));
    bench_must_exit(&p, 1);
    static const char *const says[] = {
        "step 1, move_to: reach: target [1.8, 0.75, 0.8] is 2.11 m away; max reach 0.855 m",
        "step 2, fly: supported_action: panda can't do fly: it is not one of its 1 supported "
        "actions",
        NULL};
    expect_stderr(&p, says);
    const pons_value *verdict = json_array_get(p.events, 1); // behind the canonical plan
    assert_false(pons_get_bool(verdict, "ok", true));
    assert_int_equal(json_array_size(pons_get(verdict, "rules")), 2);
    bench_free(&p);

    bench_start(&b, &p, NULL,
                command(&b, "plan check", PLAN(WAIT),
                        "--embodiment /dev/null")); // nothing is no profile
    bench_must_exit(&p, 2);
    bench_free(&p);
    bench_close(&b);
}

static void show_is_for_people(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    bench_start(&b, &p, NULL, command(&b, "plan show", PLAN(SPEAK "," DRIVE), ""));
    assert_string_equal(bench_line(&p), "plan_1  see the kitchen");
    assert_string_equal(bench_line(&p), "  created, risk low, from llm");
    assert_string_equal(bench_line(&p), "  [ ] 1. say (speak)");
    bench_must_exit(&p, 0);
    bench_free(&p);
    bench_close(&b);
}

static void plan_run_does_what_needs_no_robot(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    // What came by standard input is read; a step that needs a robot is refused before anything is said.
    bench_start(&b, &p, PLAN(SPEAK "," DRIVE), "plan run -");
    bench_must_exit(&p, 3);
    bench_err_await(&p, "no runner for execute is connected");
    bench_free(&p);
    // What is mended in a plan is told once, though a run reads it again.
    bench_start(&b, &p, NULL,
                command(&b, "plan run",
                        "{\"plan\": " PLAN(SPEAK "," CALL("dance", "2", "{}")) ", \"note\": 1}",
                        "--driver kinematic"));
    bench_must_exit(&p, 2);
    char *said = bench_stderr(&p);
    const char *once = strstr(said, "left-out: note");
    assert_non_null(once);
    assert_null(strstr(once + 1, "left-out: note"));
    free(said);
    bench_free(&p);
    // From a file it is a run with a body.
    bench_start(&b, &p, NULL,
                command(&b, "plan run", PLAN(SPEAK "," DRIVE), "--driver kinematic --json"));
    bench_await(&p, "plan.status", "status", "completed");
    bench_await(&p, "run.done", "status", "succeeded");
    bench_must_exit(&p, 0);
    bench_free(&p);
    assert_int_equal(bench_ledger_skill(&b, "navigate_to_pose"), 1);
    bench_start(&b, &p, NULL, command(&b, "plan run", PLAN(SPEAK), ""));
    bench_must_exit(&p, 0);
    bench_free(&p);
    static const char ask[] = PLAN("{\"step_id\":1,\"action\":\"ask\",\"tool_call_type\":"
                                   "\"ask_user\",\"parameters\":{\"prompt\":\"Which?\"}}");
    bench_start(&b, &p, NULL, command(&b, "plan run", ask, ""));
    bench_must_exit(&p, 4); // nobody is there to answer
    bench_free(&p);
    bench_start(&b, &p, "blue\n", command(&b, "plan run", ask, ""));
    bench_must_exit(&p, 0);
    bench_free(&p);
    static const char *const ends[] = {"取消\n", "cancel\n", "stop\n", "停\n", "forget it\n"};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) { // no answer
        bench_start(&b, &p, ends[i], command(&b, "plan run", ask, ""));
        bench_must_exit(&p, 1);
        assert_non_null(strstr(p.text, "  cancelled"));
        bench_free(&p);
    }
    bench_close(&b);
}

// A yes in either language, and nothing else, lets a step begin; what is neither is asked again.
static void a_step_begins_with_an_outright_yes(void **state)
{
    (void)state;
    static const struct {
        const char *said;
        int status;
        const char *ends;
    } rows[] = {
        {"好\n", 0, "  completed"},
        {"确认\n", 0, "  completed"},
        {"Yes, please.\n", 0, "  completed"},
        {"可以吗\n是的\n", 0, "  completed"},
        {"不行\n", 1, "  cancelled"},
        {"yesterday never\n", 4, "  waits for a person"},
        {"好像不行\nis that ok\n", 4, "  waits for a person"},
        {"停\n", 1, "  cancelled"}, // ends the plan
        {"Stop!\n", 1, "  cancelled"},
        {"取消\n", 1, "  cancelled"},
    };
    static const char plan[] = PLAN(
        "{\"step_id\":1,\"action\":\"say\",\"tool_call_type\":\"speak\",\"parameters\":{\"text\":"
        "\"hi\"},\"requires_confirmation\":true,\"confirmation_message\":\"Now?\"}");
    bench b;
    bench_open(&b);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        proc p = {0};
        bench_start(&b, &p, rows[i].said, command(&b, "plan run", plan, ""));
        bench_finish(&p);
        if (p.status != rows[i].status || !strstr(p.text, rows[i].ends) ||
            (strstr(p.text, "says: hi") != NULL) != (rows[i].status == 0)) {
            fail_msg("%s ends with %d:\n%s", rows[i].said, p.status, p.text);
        }
        bench_free(&p);
    }
    bench_close(&b);
}

// What a run has printed for programs is read again, and what is no result is named by its line.
static void results_are_read(void **state)
{
    (void)state;
    static const char ok[] = "{\"plan_id\":\"plan_1\",\"step_id\":1,\"success\":true,\"status\":"
                             "\"success\",\"message\":\"\",\"output\":{\"text\":\"hi\"},"
                             "\"timestamp\":1.5}\n",
                      bad[] = "{\"plan_id\":\"plan_1\",\"step_id\":2,\"success\":false,\"status\":"
                              "\"failed\",\"message\":\"no way\",\"output\":{},\"timestamp\":2}\n";
    bench b;
    proc p = {0};
    char both[512];
    bench_open(&b);
    snprintf(both, sizeof both, "%s%s", ok, bad);
    bench_start(&b, &p, NULL, command(&b, "plan results", ok, ""));
    bench_must_exit(&p, 0);
    assert_non_null(strstr(p.text, "1. success {\"text\":\"hi\"}"));
    bench_free(&p);
    bench_start(&b, &p, both, "plan results -");
    bench_must_exit(&p, 1);
    assert_non_null(strstr(p.text, "2. failed: no way"));
    bench_free(&p);
    snprintf(both, sizeof both, "%s\n{\"plan_id\":\"plan_1\",\"step_id\":2,\"status\":\"gone\"}\n",
             ok);
    bench_start(&b, &p, both, "plan results -");
    bench_must_exit(&p, 2);
    bench_err_await(&p, "status");
    bench_err_await(&p, "stdin:3");
    bench_free(&p);
    bench_must_fail(&b, "plan results /dev/null", 2, "there is no result");
    bench_close(&b);
}

// ---- with a robot -------------------------------------------------------------------------------

static void a_bad_plan_is_refused_before_anything_is_made(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    bench_start(&b, &p, NULL,
                command(&b, "run " FAST " --plan",
                        PLAN("{\"step_id\":1,\"action\":\"navigate_to_pose\",\"parameters\":{"
                             "\"zone\":\"attic\"}},{\"step_id\":2,\"action\":\"fly\"}"),
                        ""));
    bench_must_exit(&p, 2);
    static const char *const says[] = {"zone: unknown zone attic", "no skill fly on this robot",
                                       "refused; nothing was done", NULL};
    expect_stderr(&p, says);
    bench_free(&p);
    assert_int_equal(bench_body_pid(&b), 0);
    bench_must_fail(&b, "run --plan /nowhere/plan.json", 2, "/nowhere/plan.json");
    bench_must_fail(&b, command(&b, "run --plan", PLAN(WAIT), "去厨房"), 2, "not both");
    bench_close(&b);
}

static void a_plan_is_pursued(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    bench_start(
        &b, &p, NULL,
        command(&b, "run --json --thread t " FAST " --plan", PLAN(SPEAK "," DRIVE "," WAIT), ""));
    bench_await(&p, "plan.created", NULL, NULL);
    bench_await(&p, "run.done", "status", "succeeded");
    bench_must_exit(&p, 0);
    assert_int_equal(bench_count(&p, "plan.step", "status", "success"), 3);
    assert_int_equal(bench_count(&p, "plan.status", "status", "completed"), 1);
    assert_int_equal(bench_count(&p, "plan.result", NULL, NULL), 3);
    bench_ledger_check(&b);
    assert_int_equal(bench_ledger_count(&b, NULL, "done"), 3);
    bench_free(&p);
    pons_autovalue status = NULL;
    assert_int_equal(bench_run_json(&b, "status --json", &status), 0);
    assert_string_equal(pons_get_str(pons_get(status, "plan"), "status", ""), "completed");
    bench_close(&b);
}

static void a_plan_asks_the_workspaces_documents(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    assert_true(mkdir(b.workspace, 0755) == 0 || errno == EEXIST);
    char file[512];
    snprintf(file, sizeof file, "%s/kettle.md", b.workspace);
    FILE *f = fopen(file, "w");
    assert_non_null(f);
    fputs("# Kettle\n\nThe kettle stands on the counter beside the sink. 水壶在水槽旁边。\n", f);
    fclose(f);
    bench_start(
        &b, &p, NULL,
        command(&b, "run --json --thread t " FAST " --plan",
                PLAN("{\"step_id\":1,\"action\":\"look_up\",\"tool_call_type\":"
                     "\"query_knowledge\",\"parameters\":{\"query\":\"水壶在哪里\"}}," WAIT),
                ""));
    const pons_value *result = bench_await(&p, "plan.result", NULL, NULL);
    char *line = NULL;
    assert_true(pons_value_line(result, &line) > 0);
    assert_non_null(strstr(line, "kettle.md"));
    assert_non_null(strstr(line, "水壶在水槽旁边"));
    free(line);
    bench_await(&p, "run.done", "status", "succeeded");
    bench_must_exit(&p, 0);
    bench_free(&p);
    bench_start(&b, &p, NULL,
                command(&b, "plan run --json",
                        PLAN("{\"step_id\":1,\"action\":\"look_up\",\"tool_call_type\":"
                             "\"query_knowledge\",\"parameters\":{\"query\":\"kettle\"}}"),
                        ""));
    bench_must_exit(&p, 0);
    bench_free(&p);
    bench_close(&b);
}

static void a_failed_step_fails_the_run(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    bench_start(&b, &p, NULL,
                command(&b, "run --json " FAST " --plan",
                        PLAN(SPEAK ",{\"step_id\":2,\"action\":\"wait\",\"parameters\":{\"s\":1},"
                                   "\"preconditions\":{\"battery_pct_above\":101}}"),
                        ""));
    const pons_value *done = bench_await(&p, "run.done", "status", "failed");
    const pons_value *task = json_array_get(pons_get(done, "tasks"), 0);
    assert_non_null(strstr(pons_get_str(task, "reason", ""), "not above 101"));
    bench_must_exit(&p, 1);
    bench_free(&p);
    bench_close(&b);
}

static void a_person_approves_from_another_terminal(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    bench_start(&b, &p, NULL,
                command(&b, "run --json --thread t " FAST " --plan",
                        PLAN("{\"step_id\":2,\"action\":\"wait\",\"parameters\":{\"s\":1},"
                             "\"requires_confirmation\":true,\"confirmation_message\":\"Now?\"}"),
                        ""));
    bench_await(&p, "run.done", "status", "waiting");
    bench_must_exit(&p, 4);
    bench_free(&p);
    assert_int_equal(bench_run(&b, "approve t approve"), 0);
    bench_start(&b, &p, NULL, "resume --json t");
    bench_await(&p, "run.done", "status", "succeeded");
    bench_must_exit(&p, 0);
    bench_free(&p);
    bench_close(&b);
}

// In the language of who asked for it, once, and whole.
static void a_question_is_said_once(void **state)
{
    (void)state;
    static const char plan[] =
        "{\"plan_id\":\"plan_1\",\"goal\":\"问一下\",\"created_at\":0,\"steps\":[{\"step_id\":1,"
        "\"action\":\"ask\","
        "\"tool_call_type\":\"ask_user\",\"parameters\":{\"prompt\":\"厨房还是客厅？"
        "请你仔细想一想再告诉我，因为路上可能有很多障碍物，机器人需要绕行，这会花费很长时间，而且电"
        "池电量已经不多了，"
        "所以请慎重决定，然后用一句话告诉我你想让它去哪里，以及到了那里之后要不要等你回来。\"}}]}";
    bench b;
    proc p = {0};
    bench_open(&b);
    bench_start(&b, &p, NULL, command(&b, "run --thread t " FAST " --plan", plan, ""));
    bench_must_exit(&p, 4);
    const char *first = strstr(p.text, "厨房还是客厅");
    assert_non_null(first);
    assert_non_null(strstr(first, "要不要等你回来"));
    assert_null(strstr(first + 1, "厨房还是客厅"));
    assert_non_null(strstr(p.text, "第 1 步要问人"));
    bench_free(&p);
    bench_close(&b);
}

// The pieces of a model's answer are one line, however many come.
static void an_answer_is_one_line(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    char words[256];
    bench_open(&b);
    bench_file(
        &b, "one.yaml",
        "replies:\n- {decision: {type: ABORT, reason: there is nothing to do here}, tokens: 12}\n");
    snprintf(words, sizeof words, "run --thread t " FAST " --llm script:%s/one.yaml 去厨房", b.dir);
    bench_start(&b, &p, NULL, words);
    bench_must_exit(&p, 1);
    const char *first = strstr(p.text, "  model   ");
    assert_non_null(first);
    assert_null(strstr(first + 1, "  model   "));
    assert_non_null(strstr(first, "there is nothing to do here"));
    bench_free(&p);
    bench_close(&b);
}

// What became of a plan that a person has cancelled is told in the language of its goal.
static void a_cancelled_plan_is_told_in_its_language(void **state)
{
    (void)state;
    static const char plan[] = "{\"plan_id\":\"plan_1\",\"goal\":\"说两句\",\"created_at\":0,"
                               "\"steps\":[{\"step_id\":1,\"action\":\"say\","
                               "\"tool_call_type\":\"speak\",\"parameters\":{\"text\":\"hi\"},"
                               "\"requires_confirmation\":true},"
                               "{\"step_id\":2,\"action\":\"say\",\"tool_call_type\":\"speak\","
                               "\"parameters\":{\"text\":\"ho\"}}]}";
    bench b;
    proc p = {0};
    bench_open(&b);
    bench_start(&b, &p, "不要\n", command(&b, "plan run", plan, ""));
    bench_must_exit(&p, 1);
    assert_non_null(strstr(p.text, "1. 已跳过: 没有得到确认"));
    assert_non_null(strstr(p.text, "2. 已跳过: 计划已取消"));
    bench_free(&p);
    bench_start(&b, &p, NULL, command(&b, "run --json --thread t " FAST " --plan", plan, ""));
    bench_must_exit(&p, 4);
    bench_free(&p);
    assert_int_equal(bench_run(&b, "approve t 不行"), 0);
    bench_start(&b, &p, NULL, "resume --json t");
    const pons_value *done = bench_await(&p, "task.done", "status", "cancelled");
    assert_non_null(strstr(pons_get_str(done, "reason", ""), "已取消"));
    bench_must_exit(&p, 1);
    bench_free(&p);
    bench_close(&b);
}

static void killed_and_resumed_it_repeats_nothing(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    bench_start(&b, &p, NULL,
                command(&b, "run --json --thread t --driver kinematic --seed 3 --speed 4 --plan",
                        PLAN(SPEAK "," DRIVE "," WAIT), ""));
    bench_await(&p, "effect", "skill", "navigate_to_pose");
    bench_await(&p, "effect", "state", "accepted");
    bench_signal(&p, SIGKILL);
    bench_must_exit(&p, 128 + SIGKILL);
    bench_free(&p);
    bench_start(&b, &p, NULL, "resume --json t");
    bench_await(&p, "run.done", "status", "succeeded");
    bench_must_exit(&p, 0);
    bench_ledger_check(&b);
    assert_int_equal(bench_ledger_count(&b, NULL, "started"), 3);
    assert_int_equal(bench_ledger_count(&b, NULL, "done"), 3);
    bench_free(&p);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(check_prints_what_it_is_and_what_it_breaks, bench_teardown),
        cmocka_unit_test_teardown(check_knows_an_arm, bench_teardown),
        cmocka_unit_test_teardown(a_servers_tools_are_steps, bench_teardown),
        cmocka_unit_test_teardown(show_is_for_people, bench_teardown),
        cmocka_unit_test_teardown(plan_run_does_what_needs_no_robot, bench_teardown),
        cmocka_unit_test_teardown(results_are_read, bench_teardown),
        cmocka_unit_test_teardown(a_step_begins_with_an_outright_yes, bench_teardown),
        cmocka_unit_test_teardown(a_bad_plan_is_refused_before_anything_is_made, bench_teardown),
        cmocka_unit_test_teardown(a_plan_is_pursued, bench_teardown),
        cmocka_unit_test_teardown(a_plan_asks_the_workspaces_documents, bench_teardown),
        cmocka_unit_test_teardown(a_failed_step_fails_the_run, bench_teardown),
        cmocka_unit_test_teardown(a_person_approves_from_another_terminal, bench_teardown),
        cmocka_unit_test_teardown(a_question_is_said_once, bench_teardown),
        cmocka_unit_test_teardown(an_answer_is_one_line, bench_teardown),
        cmocka_unit_test_teardown(a_cancelled_plan_is_told_in_its_language, bench_teardown),
        cmocka_unit_test_teardown(killed_and_resumed_it_repeats_nothing, bench_teardown),
    };
    pons_value_init();
    return bench_together("plan", tests, sizeof tests / sizeof tests[0]);
}
