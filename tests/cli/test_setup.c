// The workspace that a command opens: refused, with place and reason, when others may write in it,
// and private to its user in what pons writes there.
#include "cli_bench.h"
#include "unit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static mode_t mode_of(const bench *b, const char *name)
{
    char path[PATH_MAX + 64];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", b->workspace, name);
    return stat(path, &st) == 0 ? st.st_mode & 0777 : 0;
}

static void put(const bench *b, const char *name, mode_t mode)
{
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", b->workspace, name);
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0 && fchmod(fd, mode) == 0);
    close(fd);
}

static void others_may_not_write(void **state)
{
    (void)state;
    static const char *const commands[] = {"status",    "threads list",  "say hello",
                                           "mcp tools", "pause",         "companion status",
                                           "approve",   "backup copy.db"};
    bench b;
    bench_open(&b);
    assert_int_equal(mkdir(b.workspace, 0700), 0);
    assert_int_equal(chmod(b.workspace, 0777), 0);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        bench_must_fail(&b, commands[i], 3, "may be written by everybody");
    }
    assert_int_equal(mode_of(&b, "pons.db"), 0); // nothing was opened
    put(&b, "pons.db", 0600);
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/pons.db", b.workspace);
    assert_int_equal(truncate(path, 5000), 0); // no store
    assert_int_equal(bench_run(&b, "doctor --repair"), 1);
    assert_int_equal(mode_of(&b, "pons.db.damaged-1"), 0); // nothing was mended there
    assert_int_equal(chmod(b.workspace, 0700), 0);
    assert_int_equal(bench_run(&b, "doctor"), 1);
    assert_int_equal(bench_run(&b, "doctor --repair"), 0);
    assert_int_equal(mode_of(&b, "pons.db.damaged-1"), 0600);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(chmod(b.workspace, 0700), 0);
    put(&b, "graph_config.yaml", 0666);
    bench_must_fail(&b, "graph show agent", 3, "graph_config.yaml may be written by everybody");
    bench_close(&b);
}

static void what_is_written_is_private(void **state)
{
    (void)state;
    bench b;
    bench_open(&b);
    umask(0);
    assert_int_equal(mkdir(b.workspace, 0700), 0);
    bench_must_fail(&b, "say hello", 2, "no thread yet");
    assert_int_equal(mode_of(&b, "pons.db"), 0600);
    assert_int_equal(mode_of(&b, "run"), 0700);
    char path[PATH_MAX + 64]; // as an earlier version left it
    snprintf(path, sizeof path, "%s/pons.db", b.workspace);
    assert_int_equal(chmod(path, 0644), 0);
    snprintf(path, sizeof path, "%s/run", b.workspace);
    assert_int_equal(chmod(path, 0755), 0);
    bench_must_fail(&b, "say hello", 2, "no thread yet");
    assert_int_equal(mode_of(&b, "pons.db"), 0600);
    assert_int_equal(mode_of(&b, "run"), 0700);
    bench_close(&b);
}

// A key in the environment of a program of ours is no other process's to read: not of the brain, nor of
// the body that it started.
static bool shows_key(pid_t pid)
{
    char path[64], text[65536];
    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text);
    if (fd >= 0) {
        close(fd);
    }
    return n > 0 && memmem(text, (size_t)n, "sk-of-the-host", strlen("sk-of-the-host"));
}

static void a_key_is_not_in_proc(void **state)
{
    (void)state;
    bench b;
    proc run;
    bench_open(&b);
    setenv("OPENAI_API_KEY", "sk-of-the-host-4711", 1);
    bench_start(&b, &run, NULL, "run --json " WATCHABLE " 'go to the kitchen'");
    bench_await(&run, "decision", "type", "CONTINUE"); // the body is there
    assert_false(shows_key(run.pid));
    assert_true(bench_body_pid(&b) > 0);
    assert_false(shows_key(bench_body_pid(&b)));
    unsetenv("OPENAI_API_KEY");
    bench_signal(&run, SIGKILL);
    bench_finish(&run);
    bench_free(&run);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(others_may_not_write),
        cmocka_unit_test(what_is_written_is_private),
        cmocka_unit_test_teardown(a_key_is_not_in_proc, bench_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
