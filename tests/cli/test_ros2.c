// test_ros2.c - `pons run --ros2`, whole: the body that a run starts is shown to ROS, and so is the one that a
// resume of the run starts after it.
#include "cli_bench.h"
#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool no_module(void)
{
    if (access(PONS_BINARY_DIR "/lib/pons/bridge-ros2.so", F_OK) == 0) {
        return false;
    }
    print_message("skipped: built without Cyclone DDS\n");
    return true;
}

// The body was told to; it would not have begun without its bridge.
static bool is_shown(bench *b)
{
    char path[64], words[4096];
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)bench_body_pid(b));
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    const size_t n = fread(words, 1, sizeof words - 1, f);
    fclose(f);
    words[n] = '\0';
    for (const char *w = words; w < words + n; w += strlen(w) + 1) {
        if (strcmp(w, "--ros2") == 0) {
            return true;
        }
    }
    return false;
}

static void a_resume_shows_its_body_too(void **state)
{
    (void)state;
    static const char *const all[] = {" --ros2", ""};
    if (no_module()) {
        return;
    }
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        bench b;
        proc p = {0};
        char words[256];
        bench_open(&b);
        snprintf(words, sizeof words,
                 "run --json --thread t " WATCHABLE "%s --wait 1 'go to the kitchen'", all[i]);
        bench_start(&b, &p, NULL, words);
        bench_ledger_await(&b, "started", 1);
        assert_int_equal(is_shown(&b), *all[i] != '\0');
        assert_int_equal(bench_run(&b, "stop"), 0);
        bench_must_exit(&p, 4);
        bench_free(&p);
        bench_end_body(&b);
        bench_start(&b, &p, NULL, "resume t --json --wait 1");
        bench_must_exit(&p, 4); // the stop is still in force
        bench_free(&p);
        assert_int_equal(is_shown(&b), *all[i] != '\0');
        bench_close(&b);
    }
}

// Two that serve the same actions would contradict each other.
static void a_body_is_shown_once(void **state)
{
    (void)state;
    bench b;
    proc body = {0};
    if (no_module()) {
        return;
    }
    bench_open(&b);
    bench_start_body(&b, &body, "--driver kinematic --ros2");
    bench_must_fail(&b, "body ros2", 3, "another process shows this body to ROS 2 already");
    bench_signal(&body, SIGTERM);
    bench_must_exit(&body, 0);
    bench_free(&body);
    bench_start_body(&b, &body, "--driver kinematic --ros2"); // it has let go
    bench_signal(&body, SIGTERM);
    bench_must_exit(&body, 0);
    bench_free(&body);
    bench_close(&b);
}

int main(void)
{
    char domain[8];
    setenv("CYCLONEDDS_URI",
           "<CycloneDDS><Domain><General><Interfaces><NetworkInterface name=\"lo\"/></Interfaces>"
           "<AllowMulticast>false</AllowMulticast></General></Domain></CycloneDDS>",
           1);
    snprintf(domain, sizeof domain, "%d", 1 + (int)getpid() % 200);
    setenv("ROS_DOMAIN_ID", domain, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_resume_shows_its_body_too, bench_teardown),
        cmocka_unit_test_teardown(a_body_is_shown_once, bench_teardown),
    };
    return cmocka_run_group_tests_name("cli/ros2", tests, NULL, NULL);
}
