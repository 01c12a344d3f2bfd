// test_link_body_python.c - a body in another language (examples/ros2/link_body.py, its base a disc) and the real program: what
// docs/reference/ros2-own-body.md promises of it. A goal is driven once and ends; without its brain the robot stands, and the brain
// that comes back goes on with the same goal; a stop outlives the body's death.
#include "cli_bench.h"
#include "unit.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PYTHON "/usr/bin/python3"
#define EAST   "--driver own --world empty 'go to the east side'"
#define WEST   "--driver own --world empty 'go to the west side'"

static bool no_python(void)
{
    if (access(PYTHON, X_OK) == 0) {
        return false;
    }
    print_message("skipped: there is no " PYTHON "\n");
    return true;
}

static void path_of(const bench *b, const char *name, char ret[256])
{
    snprintf(ret, 256, "%s/run/%s", b->workspace, name);
}

static void start_body_of(bench *b, proc *body, const char *script)
{
    char words[768], path[256];
    path_of(b, "body.sock", path);
    unlink(path);
    snprintf(words, sizeof words, "%s %s --try", script, b->workspace);
    bench_start_program(b, body, PYTHON, words);
    int64_t since = 0;
    while (access(path, F_OK) != 0) {
        bench_again(&since, "a body");
        if (!bench_alive(body)) {
            char *said = bench_stderr(body);
            fail_msg("the body has ended: %s", said);
        }
    }
}

static void start_own_body(bench *b, proc *body)
{
    start_body_of(b, body, PONS_SOURCE_DIR "/examples/ros2/link_body.py");
}

// Lines of the body's own ledger that have both.
static int lines(const bench *b, const char *one, const char *two)
{
    char path[256], line[4096];
    int n = 0;
    path_of(b, "own.ledger", path);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f)) {
        n += strstr(line, one) && strstr(line, two);
    }
    if (f) {
        fclose(f);
    }
    return n;
}

static double x_of(bench *b)
{
    pons_autovalue s = NULL;
    assert_int_equal(bench_run_json(b, "status --json", &s), 0);
    return pons_get_num(pons_get(s, "pose"), "x", NAN);
}

// Looks until it has not moved between two looks; where.
static double stands(bench *b)
{
    int64_t since = 0;
    double was = NAN, x = x_of(b);
    while (x != was) {
        bench_again(&since, "standstill");
        bench_rest(200);
        was = x;
        x = x_of(b);
    }
    return x;
}

static void it_drives_where_it_is_told(void **state)
{
    (void)state;
    bench b;
    proc body = {0}, run = {0};
    if (no_python()) {
        return;
    }
    bench_open(&b);
    start_own_body(&b, &body);
    bench_start(&b, &run, NULL, "run --json --thread t " EAST);
    bench_must_exit(&run, 0);
    bench_free(&run);
    assert_true(fabs(stands(&b) - 4.5) < 0.1);
    assert_int_equal(lines(&b, "\"state\": \"started\"", "navigate_to_pose"), 1);
    assert_int_equal(lines(&b, "\"state\": \"done\"", "goal_id"), 1);
    bench_signal(&body, SIGKILL);
    bench_finish(&body);
    bench_free(&body);
    bench_close(&b);
}

static void a_stop_outlives_the_body(void **state)
{
    (void)state;
    bench b;
    proc body = {0}, run = {0};
    if (no_python()) {
        return;
    }
    bench_open(&b);
    start_own_body(&b, &body);
    bench_start(&b, &run, NULL, "run --json --thread t --wait 1 " EAST);
    int64_t since = 0;
    while (lines(&b, "\"state\": \"started\"", "goal_id") == 0) {
        bench_again(&since, "a goal");
    }
    assert_int_equal(bench_run(&b, "stop"), 0);
    const double x = stands(&b);
    bench_must_exit(&run, 4);
    bench_free(&run);
    assert_int_equal(lines(&b, "\"state\": \"failed\"", "9902"), 1);
    bench_signal(&body, SIGKILL);
    bench_finish(&body);
    bench_free(&body);
    start_own_body(&b, &body);
    pons_autovalue s = NULL;
    assert_int_equal(bench_run_json(&b, "status --json", &s), 0);
    assert_true(pons_get_bool(pons_get(s, "stop"), "latched", false));
    bench_start(&b, &run, NULL, "run --json --thread u --wait 1 " EAST);
    bench_must_exit(&run, 4); // it stands
    bench_free(&run);
    assert_true(stands(&b) == 1.0); // where the disc of a new process is
    assert_int_equal(lines(&b, "\"state\": \"started\"", "goal_id"), 1);
    assert_int_equal(bench_run(&b, "reset"), 0);
    bench_start(&b, &run, NULL, "run --json --thread v " WEST);
    bench_must_exit(&run, 0);
    bench_free(&run);
    assert_true(x < 4.5);
    bench_signal(&body, SIGKILL);
    bench_finish(&body);
    bench_free(&body);
    bench_close(&b);
}

// stop.number is the body's to say, or not: a body that counts no stops is reset all the same.
static void a_body_without_numbers_is_reset(void **state)
{
    (void)state;
    bench b;
    proc body = {0};
    char script[128];
    if (no_python()) {
        return;
    }
    bench_open(&b);
    snprintf(script, sizeof script, "%s/uncounted.py", b.dir);
    FILE *f = fopen(script, "we");
    assert_non_null(f);
    fputs("import sys\n"
          "sys.path.insert(0, '" PONS_SOURCE_DIR "/examples/ros2')\n"
          "import body_link, link_body\n"
          "class Uncounted(body_link.Link):\n"
          "    def tell(self, c, kind, **more):\n"
          "        more.get('stop', {}).pop('number', None)\n"
          "        super().tell(c, kind, **more)\n"
          "Uncounted(sys.argv[1] + '/run', link_body.Robot(link_body.Disc())).serve()\n",
          f);
    fclose(f);
    start_body_of(&b, &body, script);
    assert_int_equal(bench_run(&b, "stop"), 0);
    pons_autovalue stopped = NULL;
    pons_autovalue lifted = NULL;
    assert_int_equal(bench_run_json(&b, "status --json", &stopped), 0);
    assert_true(pons_get_bool(pons_get(stopped, "stop"), "latched", false));
    assert_int_equal(bench_run(&b, "reset"), 0);
    assert_int_equal(bench_run_json(&b, "status --json", &lifted), 0);
    assert_false(pons_get_bool(pons_get(lifted, "stop"), "latched", true));
    bench_signal(&body, SIGKILL);
    bench_finish(&body);
    bench_free(&body);
    bench_close(&b);
}

static void it_stands_without_its_brain(void **state)
{
    (void)state;
    bench b;
    proc body = {0}, run = {0};
    if (no_python()) {
        return;
    }
    bench_open(&b);
    start_own_body(&b, &body);
    bench_start(&b, &run, NULL, "run --json --thread t " EAST);
    int64_t since = 0;
    while (x_of(&b) < 1.5) {
        bench_again(&since, "a motion");
    }
    bench_signal(&run, SIGKILL);
    bench_finish(&run);
    bench_free(&run);
    assert_true(stands(&b) < 4.0);
    bench_start(&b, &run, NULL, "resume t --json");
    bench_must_exit(&run, 0);
    bench_free(&run);
    assert_int_equal(lines(&b, "\"state\": \"started\"", "goal_id"), 1); // the same goal went on
    assert_true(fabs(stands(&b) - 4.5) < 0.1);
    bench_signal(&body, SIGKILL);
    bench_finish(&body);
    bench_free(&body);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(it_drives_where_it_is_told, bench_teardown),
        cmocka_unit_test_teardown(a_stop_outlives_the_body, bench_teardown),
        cmocka_unit_test_teardown(a_body_without_numbers_is_reset, bench_teardown),
        cmocka_unit_test_teardown(it_stands_without_its_brain, bench_teardown),
    };
    return bench_together("cli/own_body", tests, sizeof tests / sizeof tests[0]);
}
