// test_config.c - `pons config` and `pons logs`: which files count and what is wrong with them, and what
// was printed where nobody watched.
#include "cli_bench.h"
#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void put(bench *b, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/config", b->workspace);
    mkdir(b->workspace, 0700);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/run", b->workspace);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/%s", b->workspace, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void what_ships_is_sound(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    bench_start(&b, &p, NULL, "config check --json");
    bench_must_exit(&p, 0);
    assert_true(bench_count(&p, "config", "ok", "true") >= 6);
    assert_int_equal(bench_count(&p, "config", "ok", "false"), 0);
    bench_free(&p);
    bench_shell("test -z \"$(find %s -type f)\"", b.workspace); // a check writes nothing
    bench_must_fail(&b, "config show nope", 2, "no configuration file 'nope'");
    bench_must_fail(&b, "config show", 2, "name of a file");
    bench_must_fail(&b, "config show fleet.yaml", 2, "there is no fleet.yaml here");
    bench_must_fail(&b, "config chekc", 2, "did you mean 'check'");
    bench_close(&b);
}

// Each fault with its place, and none hides another; the workspace's file stands for the shipped one.
static void all_faults_are_told(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    put(&b, "config/kernel.yaml", "kernel:\n  speed: [1\n");
    put(&b, "mcp.json", "{\"mcpServers\": 3}\n");
    put(&b, "config/world-view.yaml", "nobody: 1\n");
    put(&b, "config/tools.yaml", "hidden: secrets\n"); // the agent's tools are its, too
    bench_start(&b, &p, NULL, "config check");
    bench_must_exit(&p, 2);
    char *said = bench_stderr(&p);
    assert_non_null(strstr(said, "config/kernel.yaml:3:1"));
    assert_non_null(strstr(said, "mcp.json:1:16"));
    assert_non_null(strstr(said, "config/world-view.yaml:1:"));
    const char *once = strstr(said, "/hidden: expected array");
    assert_non_null(once);
    assert_null(strstr(once + 1, "/hidden: expected array"));
    free(said);
    assert_non_null(strstr(p.text, "notify.yaml"));
    bench_free(&p);
    bench_start(&b, &p, NULL, "config path kernel.yaml --json");
    bench_must_exit(&p, 0);
    assert_int_equal(bench_count(&p, "config", "from", "workspace"), 1);
    bench_free(&p);
    bench_start(&b, &p, NULL, "config show kernel.yaml");
    assert_string_equal(bench_line(&p), "kernel:");
    bench_must_exit(&p, 0);
    bench_free(&p);
    bench_close(&b);
}

// A tool that nobody has, by its place; what a server of mcp.json or a body may have is no fault, and nothing is
// started to see it.
static void a_wrong_tool_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says; // NULL: sound
    } rows[] = {
        {"graph:\n  nodes:\n    agent:\n      tools: [core, nonsense]\n", "graph_config.yaml:4:21"},
        {"graph:\n  nodes:\n    executor:\n      tools: [note.read]\n",
         "no category named note.read"},
        {"graph:\n  tools:\n    risk: {termnal: blocked}\n", "graph_config.yaml:3:21"},
        {"graph:\n  tools:\n    approve: [core]\n", "there is no tool named core"},
        {"graph:\n  nodes:\n    agent:\n      tools: [all, mcp, robot, core, notes.read, "
         "navigate_to_pose, query_world, save_memory, terminal, propose_action]\n"
         "  tools:\n    risk: {notes.write: blocked, spin: dangerous, pick: warn, sing: warn}\n    "
         "approve: [terminal]\n",
         NULL},
    };
    bench b;
    bench_open(&b);
    put(&b, "mcp.json", "{\"mcpServers\": {\"notes\": {\"command\": \"false\"}}}\n");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        put(&b, "config/graph_config.yaml", rows[i].text);
        if (rows[i].says) {
            bench_must_fail(&b, "config check graph_config.yaml", 2, rows[i].says);
        } else {
            assert_int_equal(bench_run(&b, "config check graph_config.yaml"), 0);
        }
    }
    char log[300];
    snprintf(log, sizeof log, "%s/run/mcp-notes.log", b.workspace);
    assert_int_not_equal(access(log, F_OK), 0);
    bench_close(&b);
}

// Also of files that only a part of pons reads.
// Levels of the battery and priorities that are out of their order: the first is told, and nothing runs.
static void what_is_out_of_order_is_refused(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"battery: {charge_pct: 20, charged_pct: 15}",
         "/battery/charged_pct: 15 is not above charge_pct"},
        {"battery: {charge_pct: 5, safe_pct: 10}", "/battery/charge_pct: 5 is not above safe_pct"},
        {"priorities: {charge: 30}", "/priorities/charge: 30 is not above urgent"},
        {"priorities: {user: 50, urgent: 40}", "/priorities/urgent: 40 is not above user"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench b;
        bench_open(&b);
        put(&b, "config/kernel.yaml", rows[i][0]);
        proc p = {0};
        bench_start(&b, &p, NULL, "config check");
        bench_must_exit(&p, 2);
        char *said = bench_stderr(&p);
        assert_non_null(strstr(said, rows[i][1]));
        free(said);
        bench_free(&p);
        bench_must_fail(&b, "run --driver kinematic charge", 2, rows[i][1]);
        bench_close(&b);
    }
}

// Names of skills that pons has not: a misspelt one is a fault, by its place; another one may be a module's or the
// robot's, so its place is told and it is none.
static void a_skill_that_nobody_has_is_told(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
        int status;
    } rows[] = {
        {"approval:\n  ask_on_unknown: [pick, plce]\n", "kernel.yaml:2:26", 2},
        {"approval:\n  ask_on_unknown: [nonsense, place]\n", "kernel.yaml:2:20", 0},
        {"approval:\n  skills: [navigate_to_pse]\n", "did you mean 'navigate_to_pose'?", 2},
        {"approval:\n  skills: [spin, sing]\n",
         "kernel.yaml:2:18: approval.skills: pons has no skill 'sing'", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench b;
        proc p = {0};
        bench_open(&b);
        put(&b, "config/kernel.yaml", rows[i].text);
        bench_start(&b, &p, NULL, "config check kernel.yaml");
        bench_must_exit(&p, rows[i].status);
        char *said = bench_stderr(&p);
        if (!strstr(said, rows[i].says)) {
            fail_msg("row %zu: %s", i, said);
        }
        free(said);
        bench_free(&p);
        bench_close(&b);
    }
}

// Which robot moves hangs on it: what it does not know is named by whoever reads it, before anything is done.
static void a_slip_in_config_json_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"{\"robot\":\"ros2\"}", "config.json: /robot: "},
        {"{\"robot\":{\"drivr\":\"mujoco\"}}",
         "/robot/drivr: unknown property, did you mean 'driver'?"},
        {"[]", "config.json: "},
        {"{\"driver\":\"kinematic\"}",
         "/driver: unknown property, expected one of: dialect, robot, version"},
        {"{\"robot\":{\"driver\":\"kinematic\",\"scene_xml\":\"x.xml\"}}",
         "/robot/scene_xml: unknown"},
        {"{\"dialect\":\"sed\"}", "/dialect: "},
    };
    bench b;
    bench_open(&b);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        put(&b, "config.json", rows[i].text);
        bench_must_fail(&b, "run 去厨房", 2, rows[i].says);
        proc p = {0};
        bench_start(&b, &p, NULL, "config check");
        bench_must_exit(&p, 2);
        char *err = bench_stderr(&p);
        if (!strstr(err, rows[i].says) && !strstr(p.text, rows[i].says)) {
            fail_msg("%s: %s%s", rows[i].text, p.text, err);
        }
        free(err);
        bench_free(&p);
    }
    bench_close(&b);
}

static void doctor_looks_at_each(void **state)
{
    (void)state;
    bench b;
    bench_open(&b);
    put(&b, "config/notify.yaml", "on: [ask, sotp]\n");
    proc p = {0};
    bench_start(&b, &p, NULL, "doctor");
    bench_must_exit(&p, 3);
    assert_non_null(strstr(p.text, "config/notify.yaml:1:11"));
    assert_non_null(strstr(p.text, "`pons config check`"));
    bench_free(&p);
    bench_close(&b);
}

static void put_person(bench *b, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/person", b->dir);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/person/pons", b->dir);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "person/pons/%s", name);
    bench_file(b, path, text);
}

// What kernel.yaml is in force, by `pons config path`.
static void kernel_from(bench *b, const char *from, int beneath)
{
    proc p = {0};
    bench_start(b, &p, NULL, "config path kernel.yaml --json");
    bench_must_exit(&p, 0);
    const pons_value *row = json_array_get(p.events, 0);
    assert_string_equal(pons_get_str(row, "from", ""), from);
    assert_int_equal(json_array_size(pons_get(row, "beneath")), beneath);
    bench_free(&p);
}

// A person's file counts beneath the workspace's and above the shipped one, for those who read it too.
static void a_persons_own_configuration(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    kernel_from(&b, "shipped", 0);
    put_person(&b, "kernel.yaml", "kernel:\n  speed: [1\n");
    kernel_from(&b, "person", 1);
    bench_must_fail(&b, "config check kernel.yaml", 2, "person/pons/kernel.yaml:3:1");
    bench_must_fail(&b, "run " FAST " 去厨房", 2, "person/pons/kernel.yaml:3:1");
    put_person(&b, "mcp.json", "{\"mcpServers\": 3}\n");
    bench_must_fail(&b, "mcp tools", 2, "person/pons/mcp.json:1:16");
    put(&b, "config/kernel.yaml", "kernel:\n  speed: {\n");
    kernel_from(&b, "workspace", 2);
    bench_must_fail(&b, "config check kernel.yaml", 2, "ws/config/kernel.yaml");
    bench_start(&b, &p, NULL, "config path");
    assert_non_null(strstr(bench_line(&p), "workspace "));
    assert_non_null(strstr(bench_line(&p), "person/pons"));
    assert_non_null(strstr(bench_line(&p), "shipped "));
    bench_must_exit(&p, 0);
    bench_free(&p);
    bench_close(&b);
}

// One that somebody else could write, or that leads nowhere, is an error: never a reason to take the next.
static void a_persons_file_that_does_not_count(void **state)
{
    (void)state;
    bench b;
    char path[256];
    bench_open(&b);
    put_person(&b, "kernel.yaml", "{}\n");
    snprintf(path, sizeof path, "%s/person/pons/kernel.yaml", b.dir);
    assert_int_equal(chmod(path, 0666), 0);
    bench_must_fail(&b, "run " FAST " 去厨房", 3, "may be written by everybody");
    bench_must_fail(&b, "config show kernel.yaml", 3, "may be written by everybody");
    bench_must_fail(&b, "config check kernel.yaml", 2, "may be written by everybody");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("nowhere", path), 0);
    bench_must_fail(&b, "run " FAST " 去厨房", 3, "kernel.yaml");
    bench_close(&b);
}

// Where the workspace is when nobody says, by what `config path --json` tells of it.
static void workspace_is(bench *b, const char *environment, const char *want)
{
    char words[1024], path[256];
    proc p = {0};
    snprintf(words, sizeof words,
             "-u PONS_WORKSPACE -u XDG_DATA_HOME HOME=%s %s %s/pons config path --json", b->dir,
             environment, PONS_BINARY_DIR);
    bench_start_program(b, &p, "/usr/bin/env", words);
    const pons_value *row = bench_await(&p, "config.place", "place", "workspace");
    snprintf(path, sizeof path, "%s/%s/config", b->dir, want);
    assert_string_equal(pons_get_str(row, "path", ""), path);
    bench_must_exit(&p, 0);
    bench_free(&p);
}

static void a_workspace_that_nobody_names(void **state)
{
    (void)state;
    bench b;
    char data[128], path[128];
    bench_open(&b);
    snprintf(data, sizeof data, "XDG_DATA_HOME=%s/data", b.dir);
    workspace_is(&b, "", ".local/share/pons");
    workspace_is(&b, data, "data/pons");
    workspace_is(&b, "XDG_DATA_HOME=data", ".local/share/pons"); // relative: ignored
    workspace_is(&b, "XDG_DATA_HOME=", ".local/share/pons");
    snprintf(path, sizeof path, "PONS_WORKSPACE=%s/named", b.dir);
    workspace_is(&b, path, "named");
    snprintf(path, sizeof path, "%s/.pons", b.dir);
    assert_int_equal(mkdir(path, 0700), 0);
    workspace_is(&b, data, ".pons"); // one that is there goes on
    bench_close(&b);
}

static void the_last_lines_of_logs(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    bench_must_fail(&b, "logs", 3, "has no logs");
    put(&b, "run/body.log", "one\ntwo\nthree");
    put(&b, "run/errand.log", "go\n\x1b[2Jgone\n");
    bench_must_fail(&b, "logs bodi", 3, "there is no log of bodi, did you mean body?");
    bench_must_fail(&b, "logs frobnicate", 3, "there are: body, errand");
    bench_start(&b, &p, NULL, "logs body --lines 2");
    assert_string_equal(bench_line(&p), "two");
    assert_string_equal(bench_line(&p), "three");
    bench_must_exit(&p, 0);
    bench_free(&p);
    put(&b, "run/keys.log",
        "-----BEGIN PRIVATE KEY-----\nMIIEkkq\nPPkkq==\n-----END PRIVATE KEY-----\nafter\n\xff "
        "kkq\n"
        "FAKE kkqkkqkk9999\n");
    setenv("FAKE_A_KEY", "kkqkkqkk", 1);
    setenv("FAKE_B_KEY", "kkqkkqkk9999", 1); // the first is how it begins
    bench_start(&b, &p, NULL, "logs keys");
    bench_must_exit(&p, 0);
    assert_null(strstr(p.text, "kkq"));
    assert_null(strstr(p.text, "9999"));
    assert_non_null(strstr(p.text, "after\n"));
    assert_non_null(strstr(p.text, "could not be searched"));
    bench_free(&p);
    bench_start(&b, &p, NULL,
                "logs keys --lines 5"); // what it begins with is not shown, and is known
    bench_must_exit(&p, 0);
    assert_null(strstr(p.text, "kkq"));
    bench_free(&p);
    bench_start(&b, &p, NULL, "logs keys --json");
    bench_must_exit(&p, 0);
    assert_int_equal(bench_count(&p, "log", "line", "after"), 1);
    assert_null(strstr(p.text, "kkq"));
    bench_free(&p);
    unsetenv("FAKE_A_KEY");
    unsetenv("FAKE_B_KEY");
    bench_start(&b, &p, NULL, "logs --json");
    bench_must_exit(&p, 0);
    assert_int_equal(bench_count(&p, "log", "log", "body"), 3);
    assert_int_equal(bench_count(&p, "log", "log", "errand"), 2);
    assert_null(strchr(p.text, '\x1b'));
    bench_free(&p);
    bench_start(&b, &p, NULL, "logs errand --lines 2 --follow --json");
    bench_await(&p, "log", "line", "go");
    char path[256];
    snprintf(path, sizeof path, "%s/run/errand.log", b.workspace);
    FILE *f = fopen(path, "a");
    assert_non_null(f);
    assert_true(fputs("more\n", f) >= 0);
    assert_int_equal(fclose(f), 0);
    bench_await(&p, "log", "line", "more");
    bench_signal(&p, SIGTERM);
    bench_must_exit(&p, 0);
    bench_free(&p);
    // A workspace may be called as a pattern is.
    char odd[256], said[320];
    snprintf(odd, sizeof odd, "%s/w[1]*", b.dir);
    assert_int_equal(rename(b.workspace, odd), 0);
    snprintf(said, sizeof said, "logs body --workspace %s", odd);
    bench_start(&b, &p, NULL, said);
    assert_string_equal(bench_line(&p), "one");
    bench_must_exit(&p, 0);
    bench_free(&p);
    assert_int_equal(rename(odd, b.workspace), 0);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(what_ships_is_sound, bench_teardown),
        cmocka_unit_test_teardown(all_faults_are_told, bench_teardown),
        cmocka_unit_test_teardown(a_wrong_tool_is_refused, bench_teardown),
        cmocka_unit_test_teardown(what_is_out_of_order_is_refused, bench_teardown),
        cmocka_unit_test_teardown(a_skill_that_nobody_has_is_told, bench_teardown),
        cmocka_unit_test_teardown(doctor_looks_at_each, bench_teardown),
        cmocka_unit_test_teardown(a_slip_in_config_json_is_named, bench_teardown),
        cmocka_unit_test_teardown(a_persons_own_configuration, bench_teardown),
        cmocka_unit_test_teardown(a_persons_file_that_does_not_count, bench_teardown),
        cmocka_unit_test_teardown(a_workspace_that_nobody_names, bench_teardown),
        cmocka_unit_test_teardown(the_last_lines_of_logs, bench_teardown),
    };
    pons_value_init();
    return bench_together("config", tests, sizeof tests / sizeof tests[0]);
}
