// `pons stop`, `pons reset` and `pons body pose` as programs, and what the body's process holds: the stop returns 0 only
// when the latch is on the disk, and 3 with the reason while the disk takes nothing; a body has no key
// in its environment, is root's in /proc, and keeps two capabilities. The full disk is a limit on the
// size of the body's files, set from outside.
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
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEY "sk-a-key-of-a-model"

static void limit_files(pid_t pid, bool full)
{
    struct rlimit r;
    assert_int_equal(prlimit(pid, RLIMIT_FSIZE, NULL, &r), 0);
    r.rlim_cur = full ? 0 : r.rlim_max;
    assert_int_equal(prlimit(pid, RLIMIT_FSIZE, &r, NULL), 0);
}

static void a_stop_that_cannot_be_saved_ends_with_3(void **state)
{
    (void)state;
    bench b;
    proc p = {0}, stop = {0};
    bench_open(&b);
    bench_start_body(&b, &p, "--driver kinematic");
    limit_files(p.pid, true);
    bench_start(&b, &stop, NULL, "stop 'a person'");
    assert_int_equal(bench_finish(&stop), 3);
    char *said = bench_stderr(&stop);
    assert_non_null(strstr(said, "stopped"));
    assert_non_null(strstr(said, "body.epoch: File too large"));
    free(said);
    bench_free(&stop);
    assert_int_equal(bench_run(&b, "reset"), 3); // what cannot be recorded is not lifted
    limit_files(p.pid, false);
    // There is room: the body has gone on trying, and the next stop finds it done.
    while (bench_run(&b, "stop again") != 0) {
        assert_true(bench_alive(&p));
    }
    bench_signal(&p, SIGKILL);
    bench_finish(&p);
    bench_free(&p);
    bench_start_body(&b, &p, "--driver kinematic");
    pons_autovalue reset = NULL;
    pons_autovalue again = NULL;
    assert_int_equal(bench_run_json(&b, "stop --json", &again), 0);
    assert_true(pons_get_bool(again, "durable", false));
    assert_int_equal(bench_run_json(&b, "reset --json", &reset), 0);
    assert_false(pons_get_bool(reset, "latched", true));
    bench_signal(&p, SIGTERM);
    bench_must_exit(&p, 0);
    bench_free(&p);
    bench_close(&b);
}

static bool holds(const char *path, const char *text)
{
    static char all[1 << 16];
    FILE *f = fopen(path, "r");
    if (!f) {
        assert_int_equal(errno, EACCES); // not even its owner may look
        return false;
    }
    const size_t n = fread(all, 1, sizeof all - 1, f);
    fclose(f);
    for (size_t i = 0; i < n; i++) {
        all[i] = all[i] ? all[i] : '\n';
    }
    all[n] = '\0';
    return strstr(all, text) != NULL;
}

// `pons body pose`: what is no pose, a body that is not there, a place in a wall, and one that is
// told.
static void a_person_says_where_the_robot_is(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    bench_must_fail(&b, "body pose 1.5 2", 2, "X and Y in metres and YAW in radians");
    bench_must_fail(&b, "body pose 1.5 2 north", 2, "YAW takes a number");
    bench_must_fail(&b, "body pose 2.0 1.6 0", 3, "body.sock");
    bench_start_body(&b, &p, "--driver kinematic");
    bench_must_fail(&b, "body pose 5.0 0.05 0", 3, "outside the map or in a wall");
    bench_must_fail(&b, "body pose -2.0 1.6 0", 3, "outside the map or in a wall");
    pons_autovalue said = NULL;
    assert_int_equal(bench_run_json(&b, "body pose 2.1 1.5 -0.1 --json", &said), 0);
    assert_string_equal(pons_get_str(said, "type", ""), "set_pose");
    assert_true(pons_get_num(said, "yaw", 0.0) < -0.05);
    bench_signal(&p, SIGTERM);
    bench_finish(&p);
    bench_free(&p);
    bench_must_fail(&b, "say reset", 3, "nobody can tell which stop is meant"); // without a body
    bench_close(&b);
}

static void a_body_holds_no_key_and_two_capabilities(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    char path[64];
    bench_open(&b);
    setenv("OTHER_API_KEY", KEY, 1);
    setenv("PONS_STORE", "postgres://u:" KEY "@nowhere/db", 1);
    bench_start_body(&b, &p, "--driver kinematic");
    unsetenv("OTHER_API_KEY");
    unsetenv("PONS_STORE");
    snprintf(path, sizeof path, "/proc/%ld/environ", (long)p.pid);
    assert_false(holds(path, KEY));
    snprintf(path, sizeof path, "/proc/%ld/status", (long)p.pid);
    if (geteuid() == 0) {
        assert_true(holds(path, "CapPrm:\t0000000000804000\n")); // CAP_SYS_NICE, CAP_IPC_LOCK
        assert_true(holds(path, "CapEff:\t0000000000804000\n"));
    } else {
        assert_true(holds(path, "CapEff:\t0000000000000000\n"));
        struct stat st;
        snprintf(path, sizeof path, "/proc/%ld", (long)p.pid);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_uid, 0); // not dumpable
    }
    assert_true(holds(path, "NoNewPrivs:\t1\n") || geteuid() != 0);
    bench_signal(&p, SIGTERM);
    bench_must_exit(&p, 0);
    bench_free(&p);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_stop_that_cannot_be_saved_ends_with_3, bench_teardown),
        cmocka_unit_test_teardown(a_person_says_where_the_robot_is, bench_teardown),
        cmocka_unit_test_teardown(a_body_holds_no_key_and_two_capabilities, bench_teardown),
    };
    pons_value_init();
    return bench_together("cli", tests, sizeof tests / sizeof tests[0]);
}
