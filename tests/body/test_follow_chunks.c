// test_follow_chunks.c - a policy that thinks for 200 ± 100 ms while the robot drives: each chunk takes over from the one
// before, the base never stands for longer than a control period and its speed has no jump; what comes late leaves out
// what was driven meanwhile; what the base cannot do is refused, and the chunk before runs on to its end.
//
// The clock is virtual: the policy here answers when its time has come. A run's seed is in its message.
#include "body_bench.h"
#include "pons/random.h"
#include "rounds.h"
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define HOUSE     PONS_SOURCE_DIR "/worlds/house.yaml"
#define HZ        10
#define ACTIONS   8
#define RUN_S     4.0
#define SLOW_MPS  0.05  // below it the robot stands: every answer wants more than twice this speed
#define BRAKE_MPS 0.101 // change of speed of the house's robot when it brakes for 50 ms
#define JUMP_MPS  0.03  // largest change between two reports, 50 ms; answers may differ by 0.1

static bench t;

static int64_t now_ms(void)
{
    return pons_get_int(t.telemetry, "robot_ms", 0);
}

// A chunk of one speed, about what was seen at that time (-1: the first).
static const char *send(double v, int n, int64_t from_ms)
{
    char args[1024], from[48] = "";
    if (from_ms >= 0) {
        snprintf(from, sizeof from, ",\"from_ms\":%lld", (long long)from_ms);
    }
    int len = snprintf(args, sizeof args, "{\"hz\":%d%s,\"actions\":[", HZ, from);
    for (int i = 0; i < n; i++) {
        len += snprintf(args + len, sizeof args - (size_t)len, "%s[%.3f,0.4]", i ? "," : "", v);
    }
    snprintf(args + len, sizeof args - (size_t)len, "]}");
    return bench_goal(&t, NULL, "follow_actions", args);
}

// "done 0", or "" while it runs.
static const char *ended(const char *goal_id)
{
    static char text[64];
    const pons_value *r = pons_get(t.results, goal_id);
    snprintf(text, sizeof text, r ? "%s %d" : "", pons_get_str(r, "status", ""),
             (int)pons_get_int(r, "error_code", 0));
    return text;
}

// One run: asked for at half of a chunk, answered after 100 to 300 ms. How long the base stood at most, and the largest
// difference of its speed between two reports.
static void drive(pons_rand *rand, double *ret_stood_s, double *ret_jump)
{
    int64_t asked_ms = -1, due_ms = 0, began_ms;
    double before = -1, stood_s = 0;
    send(0.2, ACTIONS, -1);
    began_ms = now_ms();
    *ret_stood_s = *ret_jump = 0;
    for (double s = 0; s < RUN_S; s += 0.05) {
        bench_step(&t, 0.05);
        const double v = bench_speed(&t);
        if (s > 0.5) { // it has started
            stood_s = v < SLOW_MPS ? stood_s + 0.05 : 0;
            *ret_stood_s = fmax(*ret_stood_s, stood_s);
            *ret_jump = fmax(*ret_jump, fabs(v - before));
        }
        before = v;
        if (asked_ms < 0 && now_ms() - began_ms >= 1000 / HZ * ACTIONS / 2) {
            asked_ms = now_ms();
            due_ms = asked_ms + 100 + (int64_t)(200.0 * pons_rand_unit(rand));
        }
        if (asked_ms >= 0 && now_ms() >= due_ms) {
            send(0.15 + 0.1 * pons_rand_unit(rand), ACTIONS, asked_ms);
            began_ms = asked_ms;
            asked_ms = -1;
        }
    }
}

static void it_drives_on_while_the_policy_thinks(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= (uint64_t)rounds(ROUNDS_body_chunks); seed++) {
        pons_rand rand;
        double stood_s = 0, jump = 0;
        pons_rand_seed(&rand, seed);
        bench_open(&t, HOUSE);
        bench_hello(&t);
        drive(&rand, &stood_s, &jump);
        if (stood_s > 1.0 / HZ || jump > JUMP_MPS) {
            fail_msg("seed %d: it stood for %.2f s, its speed jumped by %.3f m/s", (int)seed,
                     stood_s, jump);
        }
        bench_close(&t);
    }
}

static void a_chunk_takes_over_in_the_middle(void **state)
{
    (void)state;
    char first[32];
    bench_open(&t, HOUSE);
    bench_hello(&t);
    snprintf(first, sizeof first, "%s", send(0.2, 10, -1));
    bench_step(&t, 0.5);
    char second[32];
    snprintf(second, sizeof second, "%s", send(0.2, 10, now_ms()));
    bench_step(&t, 0.5);
    assert_string_equal(ended(first), "canceled 9905");
    assert_string_equal(ended(second), "");
    bench_step(&t, 0.7);
    assert_string_equal(ended(second), "done 0");
    bench_step(&t, 0.5);
    assert_true(bench_speed(&t) < 0.01);
    // Without from_ms it takes over from nobody.
    snprintf(first, sizeof first, "%s", send(0.2, 10, -1));
    bench_step(&t, 0.1);
    send(0.2, 10, -1);
    bench_step(&t, 0.1);
    assert_string_equal(pons_get_str(bench_last(&t, "rejected"), "code", ""), "busy");
    bench_close(&t);
}

// It stood for 300 ms when the answer came: what the chunk before drove after the look is left out, what it stood is not.
static void a_late_chunk_goes_on_from_where_it_stands(void **state)
{
    (void)state;
    char late[32];
    bench_open(&t, HOUSE);
    bench_hello(&t);
    send(0.2, 10, -1);
    bench_step(&t, 0.6);
    const int64_t seen_ms = now_ms();
    bench_step(&t, 0.7);
    snprintf(late, sizeof late, "%s", send(0.2, 10, seen_ms)); // four of ten were driven
    bench_step(&t, 0.5);
    assert_string_equal(ended(late), "");
    bench_step(&t, 0.2);
    assert_string_equal(ended(late), "done 0");
    // All of it was driven by then: nothing moves.
    send(0.2, 10, -1);
    bench_step(&t, 0.1);
    const int64_t early_ms = now_ms();
    bench_step(&t, 1.5);
    snprintf(late, sizeof late, "%s", send(0.2, 5, early_ms));
    bench_step(&t, 0.1);
    assert_string_equal(ended(late), "done 0");
    assert_true(bench_speed(&t) < 0.01);
    bench_close(&t);
}

// A policy that takes 0.9 to 1.5 chunks is asked at a chunk's end: the base brakes, stands and starts within its limits.
// docs/how-to/use-a-policy.md has the shares.
static void a_slow_policy_leaves_it_standing_smoothly(void **state)
{
    (void)state;
    static const double takes[] = {0.9, 1.2, 1.5};
    for (size_t i = 0; i < sizeof takes / sizeof *takes; i++) {
        const double chunk_s = (double)ACTIONS / HZ, think_s = takes[i] * chunk_s;
        double way_m = 0, jump = 0, before = 0, all_s = 0;
        char id[32];
        bench_open(&t, HOUSE);
        bench_hello(&t);
        for (int k = 0; k < 4; k++) {
            const int64_t seen_ms = k ? now_ms() : -1;
            for (double s = 0; k && s < think_s - 0.01; s += 0.05) {
                bench_step(&t, 0.05);
                way_m += 0.05 * bench_speed(&t);
                jump = fmax(jump, fabs(bench_speed(&t) - before));
                before = bench_speed(&t);
                all_s += 0.05;
            }
            snprintf(id, sizeof id, "%s", send(0.2, ACTIONS, seen_ms));
            while (!*ended(id)) {
                bench_step(&t, 0.05);
                way_m += 0.05 * bench_speed(&t);
                jump = fmax(jump, fabs(bench_speed(&t) - before));
                before = bench_speed(&t);
                all_s += 0.05;
            }
            assert_string_equal(ended(id), "done 0");
        }
        const double share = way_m / (0.2 * all_s);
        if (fabs(share - 1.0 / (1.0 + takes[i])) > 0.06 || jump > BRAKE_MPS) {
            fail_msg("%g of a chunk: %.2f of its speed, %.3f m/s in 50 ms", takes[i], share, jump);
        }
        bench_close(&t);
    }
}

static void what_it_cannot_do_is_refused(void **state)
{
    (void)state;
    char good[32];
    bench_open(&t, HOUSE);
    bench_hello(&t);
    snprintf(good, sizeof good, "%s", send(0.2, 10, -1));
    bench_step(&t, 0.5);
    send(9.0, 10, now_ms());
    bench_step(&t, 0.2);
    assert_string_equal(pons_get_str(bench_last(&t, "rejected"), "code", ""), "bad_args");
    send(0.2, 10, INT64_MAX / 1000); // no time of a robot's in ns
    bench_step(&t, 0.1);
    assert_non_null(strstr(pons_get_str(bench_last(&t, "rejected"), "message", ""), "from_ms"));
    assert_true(bench_speed(&t) > SLOW_MPS);
    bench_step(&t, 0.4);
    assert_string_equal(ended(good), "done 0");
    bench_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_drives_on_while_the_policy_thinks),
        cmocka_unit_test(a_chunk_takes_over_in_the_middle),
        cmocka_unit_test(a_late_chunk_goes_on_from_where_it_stands),
        cmocka_unit_test(a_slow_policy_leaves_it_standing_smoothly),
        cmocka_unit_test(what_it_cannot_do_is_refused),
    };
    return cmocka_run_group_tests_name("follow_chunks", tests, NULL, NULL);
}
