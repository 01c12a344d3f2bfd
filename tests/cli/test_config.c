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
    bench_must_fail(&b, "config show nope", 2, "no file 'nope'");
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
    bench_start(&b, &p, NULL, "config check");
    bench_must_exit(&p, 2);
    char *said = bench_stderr(&p);
    assert_non_null(strstr(said, "config/kernel.yaml:3:1"));
    assert_non_null(strstr(said, "mcp.json:1:16"));
    assert_non_null(strstr(said, "config/world-view.yaml:1:"));
    free(said);
    assert_non_null(strstr(p.text, "tools.yaml"));
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

static void the_last_lines_of_logs(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    bench_must_fail(&b, "logs", 3, "has no logs");
    put(&b, "run/body.log", "one\ntwo\nthree");
    put(&b, "run/errand.log", "go\n\x1b[2Jgone\n");
    bench_must_fail(&b, "logs bodi", 3, "no such log");
    bench_start(&b, &p, NULL, "logs body --lines 2");
    assert_string_equal(bench_line(&p), "two");
    assert_string_equal(bench_line(&p), "three");
    bench_must_exit(&p, 0);
    bench_free(&p);
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
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(what_ships_is_sound, bench_teardown),
        cmocka_unit_test_teardown(all_faults_are_told, bench_teardown),
        cmocka_unit_test_teardown(the_last_lines_of_logs, bench_teardown),
    };
    pons_value_init();
    return cmocka_run_group_tests_name("cli/config", tests, NULL, NULL);
}
