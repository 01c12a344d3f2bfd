// test_arm_chunks.c - a policy's chunks for an arm, in the tabletop under the virtual clock: deltas of the tool along the
// base's axes and its own lead where they say; a chunk takes over from the one before without a leap of any joint; what
// the arm cannot do is refused before anything moves.
//
// Without the MuJoCo module everything is skipped, with a message.
#include "arm_table.h"
#include "pons/arm.h"
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define OFF_M      0.004 // of the tool, at the end of a chunk
#define OFF_RAD    0.03
#define JUMP_RADPS 0.15 // of a joint's speed between two reports, 50 ms

static bench t;
static pons_arm *arm;

static void joints(double q[7])
{
    const pons_value *list = pons_get(pons_get(t.telemetry, "arm"), "joints");
    for (size_t i = 0; i < 7; i++) {
        q[i] = json_number_value(json_array_get(list, i));
    }
}

static pons_pose3 tool(void)
{
    double q[7];
    pons_pose3 p;
    joints(q);
    pons_arm_forward(arm, q, &p);
    return p;
}

// n actions of the same six numbers, at 10 Hz.
static const char *deltas(const char *frame, const char *six, int n, int64_t from_ms)
{
    char args[2048];
    int len = snprintf(args, sizeof args, "{\"mode\":\"tool_delta\",\"frame\":\"%s\"%s", frame,
                       from_ms < 0 ? "" : ",\"from_ms\":");
    if (from_ms >= 0) {
        len += snprintf(args + len, sizeof args - (size_t)len, "%lld", (long long)from_ms);
    }
    len += snprintf(args + len, sizeof args - (size_t)len, ",\"actions\":[");
    for (int i = 0; i < n; i++) {
        len += snprintf(args + len, sizeof args - (size_t)len, "%s[%s]", i ? "," : "", six);
    }
    snprintf(args + len, sizeof args - (size_t)len, "]}");
    return bench_goal(&t, NULL, "follow_joints", args);
}

static void it_leads_to(const char *frame, const char *six, const double by[6])
{
    const pons_pose3 from = tool(), d = pons_pose3_of(by[0], by[1], by[2], by[3], by[4], by[5]);
    const bool own = strcmp(frame, "tool") == 0;
    pons_pose3 to = pons_pose3_compose(own ? &from : &d, own ? &d : &from);
    for (int i = 0; i < 3 && !own; i++) {
        to.p[i] = from.p[i] + by[i];
    }
    const char *end = bench_until_result(&t, deltas(frame, six, 10, -1), 5.0);
    if (strcmp(end, "done 0") != 0) {
        fail_msg("%s %s: '%s' %s", frame, six, end,
                 *end ? "" : pons_get_str(bench_last(&t, "rejected"), "message", ""));
    }
    bench_step(&t, 0.3);
    const pons_pose3 is = tool();
    double turn[3];
    pons_pose3_turn(&is, &to, turn);
    const double off =
        sqrt(pow(is.p[0] - to.p[0], 2) + pow(is.p[1] - to.p[1], 2) + pow(is.p[2] - to.p[2], 2));
    if (off > OFF_M || fabs(turn[0]) + fabs(turn[1]) + fabs(turn[2]) > OFF_RAD) {
        fail_msg("%s %s: off by %.4f m, %.3f %.3f %.3f rad", frame, six, off, turn[0], turn[1],
                 turn[2]);
    }
}

static void deltas_lead_where_they_say(void **state)
{
    (void)state;
    table_open(&t, 2);
    it_leads_to("base", "0.005,0,0,0,0,0", (double[]){0.05, 0, 0, 0, 0, 0});
    it_leads_to("base", "0,0.004,0.003,0,0,0", (double[]){0, 0.04, 0.03, 0, 0, 0});
    it_leads_to("base", "0,0,0,0,0,0.02", (double[]){0, 0, 0, 0, 0, 0.2});
    // The tool looks down: its own z is the way to the table.
    const double z = tool().p[2];
    it_leads_to("tool", "0,0,-0.004,0,0,0", (double[]){0, 0, -0.04, 0, 0, 0});
    assert_true(tool().p[2] > z + 0.03);
    it_leads_to("tool", "0,0,0,0,0.02,0", (double[]){0, 0, 0, 0, 0.2, 0});
    bench_close(&t);
}

// Forth at 5 cm/s, on at 2 cm/s: each chunk comes while the one before runs.
static void a_chunk_takes_over(void **state)
{
    (void)state;
    char first[32], second[32];
    double q[3][7], jump = 0;
    table_open(&t, 2);
    snprintf(first, sizeof first, "%s", deltas("base", "0.005,0,0,0,0,0", 10, -1));
    joints(q[1]);
    bench_step(&t, 0.05);
    joints(q[2]);
    for (int i = 0; i < 40; i++) {
        if (i == 10) {
            snprintf(second, sizeof second, "%s",
                     deltas("base", "0.002,0,0,0,0,0", 10,
                            pons_get_int(t.telemetry, "robot_ms", 0) - 200));
        }
        bench_step(&t, 0.05);
        memcpy(q[0], q[1], sizeof q[0]);
        memcpy(q[1], q[2], sizeof q[1]);
        joints(q[2]);
        for (int k = 0; k < 7 && i > 4 && i < 24; k++) {
            jump = fmax(jump, fabs(q[2][k] - 2 * q[1][k] + q[0][k]) / 0.05);
        }
    }
    if (jump > JUMP_RADPS) {
        fail_msg("a joint's speed jumped by %.3f rad/s", jump);
    }
    assert_string_equal(pons_get_str(pons_get(t.results, first), "status", ""), "canceled");
    assert_string_equal(pons_get_str(pons_get(t.results, second), "status", ""), "done");
    bench_close(&t);
}

static void what_it_cannot_do_is_refused(void **state)
{
    (void)state;
    table_open(&t, 2);
    const pons_pose3 from = tool();
    table_refuses(&t, "follow_joints", "{\"mode\":\"tool_delta\",\"actions\":[[0,0,0,0,0,0]]}",
                  "bad_args", 0);
    table_refuses(&t, "follow_joints",
                  "{\"mode\":\"tool_delta\",\"frame\":\"base\",\"actions\":[[0,0,0]]}", "bad_args",
                  0);
    deltas("base", "0.1,0,0,0,0,0", 20, -1); // two metres
    bench_step(&t, 0.05);
    const char *why = pons_get_str(bench_last(&t, "rejected"), "message", "");
    assert_non_null(strstr(why, "action "));
    deltas("base", "0,0,0.2,0,0,0", 1, -1); // in a tenth of a second
    bench_step(&t, 0.05);
    assert_non_null(strstr(pons_get_str(bench_last(&t, "rejected"), "message", ""), "needs "));
    bench_step(&t, 0.3);
    assert_true(fabs(tool().p[0] - from.p[0]) + fabs(tool().p[2] - from.p[2]) < 0.002);
    bench_close(&t);
}

int main(void)
{
    int code = 0;
    pons_error err = PONS_ERROR_INIT;
    if (!table_load(&code)) {
        return code;
    }
    assert_int_equal(
        pons_arm_load(PONS_SOURCE_DIR "/worlds/arm7.urdf", "link0", "tool", &arm, &err), PONS_OK);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deltas_lead_where_they_say),
        cmocka_unit_test(a_chunk_takes_over),
        cmocka_unit_test(what_it_cannot_do_is_refused),
    };
    code = cmocka_run_group_tests_name("arm_chunks", tests, NULL, NULL);
    pons_arm_destroy(arm);
    return code;
}
