// test_pace.c - `pons pace`, and "slower" as a person says it: the robot of the simulator is slower at once, also
// when body and brain have been killed; and what is no pace is one clear line.
#include "cli_bench.h"
#include "pons/link.h"
#include "pons/link_message.h"
#include "unit.h"

#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOISE 0.02 // of a measured speed [m/s]

// The newest that the body tells.
static pons_value *telemetry_of(const bench *b)
{
    char path[160];
    pons_link *link = NULL;
    pons_error err = PONS_ERROR_INIT;
    pons_value *found = NULL;
    snprintf(path, sizeof path, "%s/run/body.sock", b->workspace);
    const pons_message hello = {
        .type = PONS_MESSAGE_HELLO,
        .as.hello = {.protocol = PONS_LINK_PROTOCOL, .role = "observer", .name = "test"}};
    if (pons_link_connect(path, &link, &err) < 0 || pons_message_send(link, &hello, &err) < 0) {
        fail_msg("%s", err.message);
    }
    int64_t since = 0;
    for (int rc = 0; !found && rc >= 0;) {
        pons_autovalue msg = NULL;
        rc = pons_link_recv(link, &msg, &err);
        if (rc > 0 && strcmp(pons_get_str(msg, "type", ""), "telemetry") == 0) {
            found = pons_value_ref(msg);
        } else if (rc == 0) {
            struct pollfd p = {.fd = pons_link_fd(link), .events = POLLIN};
            poll(&p, 1, 1000);
            bench_again(&since, "the body's telemetry");
        }
    }
    pons_link_close(link);
    assert_non_null(found);
    return found;
}

static double speed_of(const bench *b)
{
    pons_autovalue t = telemetry_of(b);
    return fabs(pons_get_num(pons_get(t, "twist"), "v", 0.0));
}

static int64_t percent_of(const bench *b)
{
    pons_autovalue t = telemetry_of(b);
    return pons_get_int(t, "pace_percent", 0);
}

// Until it drives as fast as that at least.
static void drives(const bench *b, double least)
{
    for (int64_t since = 0; speed_of(b) < least;) {
        bench_again(&since, "a robot that drives");
    }
}

static void slower_at_once_and_after_every_death(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    pons_autovalue now = NULL;
    bench_open(&b);
    bench_start(&b, &p, NULL, "run --json --thread t " WATCHABLE " 去厨房 去卧室 去厨房 去卧室");
    bench_await(&p, "task.active", NULL, NULL);
    drives(&b, 0.4);
    assert_int_equal(bench_run(&b, "say --thread t 慢一点"), 0);
    bench_await(&p, "tempo.set", NULL, NULL);
    assert_int_equal(percent_of(&b), 75);
    assert_int_equal(bench_run_json(&b, "pace 30% --json", &now), 0);
    assert_int_equal(pons_get_int(now, "percent", 0), 30);
    const double most = pons_get_num(now, "speed_max_mps", 0.0);
    assert_true(most > 0.1 && most < 0.3);
    for (int64_t since = 0; speed_of(&b) > most + NOISE;) { // it brakes
        bench_again(&since, "a robot that is slower");
    }
    for (int i = 0; i < 20; i++) {
        assert_true(speed_of(&b) <= most + NOISE);
        bench_rest(50);
    }
    bench_signal(&p, SIGKILL); // the brain, and then the body
    bench_finish(&p);
    bench_free(&p);
    assert_int_equal(percent_of(&b), 30);
    bench_end_body(&b);
    bench_start(&b, &p, NULL, "resume t --json");
    bench_await(&p, "telemetry", NULL, NULL); // of the new body: a mode need not change
    assert_int_equal(percent_of(&b), 30);
    drives(&b, 0.5 * most);
    for (int i = 0; i < 20; i++) {
        assert_true(speed_of(&b) <= most + NOISE);
        bench_rest(50);
    }
    assert_int_equal(bench_run(&b, "say --thread t 正常速度"), 0);
    bench_await(&p, "tempo.set", NULL, NULL);
    drives(&b, 0.4);
    bench_signal(&p, SIGKILL);
    bench_finish(&p);
    bench_free(&p);
    bench_end_body(&b);
    bench_close(&b);
}

// Said to nobody: it is kept, and the next life does it.
static void said_while_nobody_lives(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    assert_int_equal(bench_run(&b, "run --thread t " FAST " 'wait 1 seconds'"), 0);
    assert_int_equal(bench_run(&b, "say --thread t 半速"), 0);
    bench_start(&b, &p, NULL, "run --json --thread t " FAST " 'wait 1 seconds'");
    bench_await(&p, "tempo.set", NULL, NULL);
    bench_must_exit(&p, 0);
    bench_free(&p);
    bench_close(&b);
}

// To the agent it is said as to anybody: the body has it, the model hears nothing of it.
static void said_to_the_agent(void **state)
{
    (void)state;
    bench b;
    proc body = {0}, p = {0};
    char line[256], words[] = "replies:\n- content: heard one\n- content: heard two\n";
    bench_open(&b);
    snprintf(line, sizeof line, "agent --json --llm script:%s", bench_file(&b, "s.yaml", words));
    char said[320];
    snprintf(said, sizeof said, "%s slower", line); // where no body is, it is the model's
    bench_start(&b, &p, NULL, said);
    bench_await(&p, "llm_end", NULL, NULL);
    bench_must_exit(&p, 0);
    bench_free(&p);
    bench_start_body(&b, &body, "--driver kinematic");
    bench_start(&b, &p, NULL, said);
    assert_int_equal(pons_get_int(bench_await(&p, "pace", NULL, NULL), "percent", 0), 75);
    bench_must_exit(&p, 0);
    assert_int_equal(bench_count(&p, "llm_start", NULL, NULL), 0);
    bench_free(&p);
    assert_int_equal(percent_of(&b), 75);
    // One line after the other, each when the one before is done; "80 %" alone is no pace.
    bench_start(&b, &p, "慢一点\n/pace 30%\n80 %\nslower, and tell me more\n/pace quick\n", line);
    bench_must_exit(&p, 0);
    static const int64_t paces[] = {50, 30, 25};
    size_t n = 0, i;
    const pons_value *ev;
    json_array_foreach(p.events, i, ev) {
        if (strcmp(pons_get_str(ev, "type", ""), "pace") == 0) {
            assert_in_range(n, 0, 2);
            assert_int_equal(pons_get_int(ev, "percent", 0), paces[n++]);
        }
    }
    assert_int_equal(n, 3);
    assert_int_equal(bench_count(&p, "llm_end", NULL, NULL), 2);
    char *reported = bench_stderr(&p);
    assert_non_null(strstr(reported, "/pace slower, faster"));
    free(reported);
    bench_free(&p);
    assert_int_equal(percent_of(&b), 25);
    static const struct {
        const char *words;
        int percent;
    } rows[] = {{"正常速度", 100},
                {"go slowly to the kitchen", 50}, // and the model has the words
                {"drive to the kitchen at 30% speed", 30},
                {"正常速度", 100}};
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snprintf(said, sizeof said, "%s '%s'", line, rows[i].words);
        assert_int_equal(bench_run(&b, said), 0);
        assert_int_equal(percent_of(&b), rows[i].percent);
    }
    snprintf(said, sizeof said, "%s faster", line);
    assert_int_equal(bench_run(&b, said), 1); // it is as fast as it may be
    bench_end_body(&b);
    bench_finish(&body);
    bench_free(&body);
    bench_close(&b);
}

static void what_is_no_pace(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"pace quick as lightning", "pace takes slower, faster"},
        {"pace slower, go to the kitchen", "pace takes slower, faster"},
        {"pace ok, slower", "pace takes slower, faster"},
        {"pase", "did you mean 'pace'"},
    };
    bench b;
    bench_open(&b);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench_must_fail(&b, rows[i][0], 2, rows[i][1]);
    }
    bench_must_fail(&b, "pace slower", 3, "no workspace");
    assert_int_equal(bench_run(&b, "run --thread t " FAST " 'wait 1 seconds'"), 0);
    bench_must_fail(&b, "pace", 3, "no body answers");
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(slower_at_once_and_after_every_death, bench_teardown),
        cmocka_unit_test_teardown(said_while_nobody_lives, bench_teardown),
        cmocka_unit_test_teardown(said_to_the_agent, bench_teardown),
        cmocka_unit_test_teardown(what_is_no_pace, bench_teardown),
    };
    pons_value_init();
    return bench_together("pace", tests, sizeof tests / sizeof tests[0]);
}
