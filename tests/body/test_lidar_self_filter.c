// test_lidar_self_filter.c - listed parts do not stop the robot, and hide only what is behind them. Unlisted parts are reported,
// and a covered lidar stops the robot.
//
// The driver is the kinematic one with parts of the robot drawn into its scans.
#include "body/core/body.h"
#include "body/sensing/lidar_self_filter.h"
#include "body_bench.h"
#include "pons/buf.h"
#include "pons/drivers.h"
#include "pons/file.h"
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOUSE    PONS_SOURCE_DIR "/worlds/house.yaml"
#define RADIUS_M 0.22 // of its robot

typedef struct part { // between two directions, at a distance from the lidar
    double from_deg, to_deg, at_m;
} part;

static bench t;
static const part *parts; // ends with a part at distance 0

static bool scan(void *self, pons_scan *ret)
{
    if (!pons_robot_kinematic.scan(self, ret)) {
        return false;
    }
    for (const part *p = parts; p->at_m > 0.0; p++) {
        for (int i = 0; i < ret->n; i++) {
            const double a =
                180.0 / M_PI *
                pons_wrap_angle((double)(ret->angle_min + (float)i * ret->angle_increment));
            if (a >= p->from_deg && a <= p->to_deg) {
                ret->ranges[i] = fminf(ret->ranges[i], (float)p->at_m);
            }
        }
    }
    return true;
}

// The house with these parts in lidar.self_filter (NULL: none).
static void open_robot(const part *of, const part *told)
{
    static pons_robot_ops ops;
    static char path[64];
    size_t n = 0;
    pons_autobuf world = PONS_BUF_INIT;
    char *house = pons_file_text(HOUSE, 100000, &n), *at = strstr(house, "  beams: "),
         *mjcf = strstr(house, "mjcf:");
    assert_true(at && mjcf);
    memcpy(mjcf, "#   :", 5); // it is elsewhere
    pons_buf_printf(&world, "%.*s", (int)(at - house), house);
    for (const part *p = told; p && p->at_m > 0.0; p++) {
        pons_buf_printf(&world, "%s    - {from_deg: %g, to_deg: %g, within_m: %g}\n",
                        p == told ? "  self_filter:\n" : "", p->from_deg - 2.0, p->to_deg + 2.0,
                        p->at_m + 0.03);
    }
    pons_buf_str(&world, at);
    free(house);
    snprintf(path, sizeof path, "%s/pons-self-XXXXXX", bench_disk());
    const int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, world.data, world.len) == (ssize_t)world.len);
    close(fd);
    ops = pons_robot_kinematic;
    ops.scan = scan;
    parts = of;
    bench_open_with(&t, path, &ops, 7);
    unlink(path);
    bench_hello(&t);
    bench_step(&t, 0.5);
}

static const char *message(const char *id)
{
    return pons_get_str(pons_get(t.results, id), "error_msg", "");
}

static const part posts[] = {{40, 50, 0.15}, {-50, -40, 0.15}, {85, 95, 0.17},
                             {-6, 6, 0.12},  {150, 180, 0.17}, {0, 0, 0}};

static void what_it_is_told_of_stops_nobody(void **state)
{
    (void)state;
    open_robot(posts, posts);
    bench_goal(&t, "go", "navigate_to_pose", "{\"zone\":\"kitchen\"}");
    assert_string_equal(bench_until_result(&t, "go", 120.0), "done 0");
    assert_int_equal(pons_get_int(pons_get(pons_get(t.results, "go"), "metrics"), "recoveries", -1),
                     0);
    assert_int_equal(t.risks, 0);
    bench_close(&t);
}

// How far the robot gets, of a metre straight ahead.
static double ahead(const char *id)
{
    pons_pose2 was;
    assert_int_equal(pons_body_truth(t.body, &was, NULL), PONS_OK);
    bench_goal(&t, id, "drive_on_heading", "{\"distance_m\":1.0,\"speed_mps\":0.3}");
    assert_string_not_equal(bench_until_result(&t, id, 60.0), "done 0");
    return bench_truth_to(&t, was.x, was.y);
}

// A box behind a post, a foot beside a post, and anything against the outline are obstacles; also after the robot has turned.
static void nothing_else_is_left_out(void **state)
{
    (void)state;
    static const part pressed[] = {{-15, 15, RADIUS_M - 0.01}, {0, 0, 0}},
                      foot[] = {{-30, 30, 0.17}, {40, 50, 0.15}, {0, 0, 0}};
    open_robot(posts, posts);
    bench_step(&t, 3.0);
    bench_goal(&t, "left", "spin", "{\"angle_rad\":1.2}");
    assert_string_equal(bench_until_result(&t, "left", 60.0), "done 0");
    bench_goal(&t, "right", "spin", "{\"angle_rad\":-1.2}");
    assert_string_equal(bench_until_result(&t, "right", 60.0), "done 0");
    pons_pose2 at;
    assert_int_equal(pons_body_truth(t.body, &at, NULL), PONS_OK);
    bench_send(&t, json_pack("{s:s, s:s, s:f, s:f, s:f, s:f}", "type", "world.spawn", "id", "box",
                             "x", at.x + 1.3 * cos(at.yaw), "y", at.y + 1.3 * sin(at.yaw), "sx",
                             0.3, "sy", 0.3));
    bench_step(&t, 0.5);
    const double free_m = 1.3 - 0.15 - RADIUS_M, went_m = ahead("box");
    assert_true(went_m > 0.05 && went_m < free_m);
    parts = pressed;
    bench_step(&t, 0.5);
    assert_true(ahead("pressed") < 0.01);
    parts = foot;
    bench_step(&t, 0.5);
    assert_true(ahead("foot") < 0.01);
    bench_close(&t);
}

// An unlisted part counts as an obstacle: the robot does not move, and the failed goal says where the part is and what to do.
static void what_it_is_not_told_of_is_named(void **state)
{
    (void)state;
    static const part inside[] = {{20, 26, 0.15}, {0, 0, 0}},
                      bracket[] = {{20, 26, RADIUS_M + 0.04}, {0, 0, 0}};
    for (int k = 0; k < 2; k++) {
        open_robot(k ? bracket : inside, NULL);
        const pons_pose2 was = t.body->pose;
        bench_goal(&t, "go", "navigate_to_pose", "{\"zone\":\"kitchen\",\"timeout_s\":40}");
        assert_string_not_equal(bench_until_result(&t, "go", 60.0), "done 0");
        assert_true(bench_truth_to(&t, was.x, was.y) < 0.3);
        const char *where = strstr(message("go"), "the lidar sees something ");
        double m = 0.0;
        int from = 0, to = 0;
        assert_non_null(where);
        assert_int_equal(sscanf(where, "the lidar sees something at %lf m, from %d to %d degrees",
                                &m, &from, &to),
                         3);
        assert_true(fabs(m - (k ? RADIUS_M + 0.04 : 0.15)) < 0.02);
        assert_true(from >= 19 && from <= 22 && to >= 23 && to <= 27);
        assert_non_null(strstr(where, "add it to lidar.self_filter"));
        bench_close(&t);
    }
}

// Parts are filtered by direction and distance, also across the seam behind the robot, with any number of beams.
static void parts_by_direction(void **state)
{
    (void)state;
    pons_autovalue lidar =
        json_pack("{s:[{s:i,s:i,s:f},{s:i,s:i,s:f},{s:i,s:i,s:f}]}", "self_filter", "from_deg", 170,
                  "to_deg", -170, "within_m", 0.2, "from_deg", 30, "to_deg", 40, "within_m", 0.3,
                  "from_deg", -180, "to_deg", 180, "within_m", 0.05);
    pons__self_filter p;
    pons__self_filter_read(lidar, &p);
    assert_int_equal(p.n, 3);
    for (int n = 100; n <= PONS_SCAN_MAX; n += 13) {
        for (float r = 0.04F; r < 0.4F; r += 0.11F) {
            pons_scan s = {
                .n = n, .angle_min = (float)-M_PI, .angle_increment = (float)(2.0 * M_PI / n)};
            for (int i = 0; i < n; i++) {
                s.ranges[i] = r;
            }
            pons__self_filter_apply(&p, &s);
            for (int i = 0; i < n; i++) {
                const double deg =
                    180.0 / M_PI * ((double)s.angle_min + i * (double)s.angle_increment);
                const bool behind =
                    fabs(deg) > 170.0 && r<0.2F, left = deg> 30.0 && deg < 40.0 && r < 0.3F;
                const bool at_edge = fabs(fabs(deg) - 170.0) < 0.01 || fabs(deg - 30.0) < 0.01 ||
                                     fabs(deg - 40.0) < 0.01;
                if (!at_edge) {
                    assert_int_equal(isnan(s.ranges[i]), behind || left || r < 0.05F);
                }
            }
        }
    }
}

// Returns as wide as a wall, or not in every scan, are not reported as a part of the robot.
static void a_wall_is_not_named(void **state)
{
    (void)state;
    static const part walls[][3] = {{{20, 26, RADIUS_M + 0.04}, {0, 0, 0}}, // missing in one scan
                                    {{60, 120, RADIUS_M + 0.04}, {0, 0, 0}},
                                    {{155, 180, RADIUS_M + 0.04}, // behind it, over the seam
                                     {-180, -155, RADIUS_M + 0.04},
                                     {0, 0, 0}}},
                      none[] = {{0, 0, 0}};
    for (int i = 0; i < 3; i++) {
        open_robot(walls[i], NULL);
        bench_goal(&t, "go", "navigate_to_pose", "{\"zone\":\"kitchen\",\"timeout_s\":10}");
        bench_step(&t, 5.0);
        parts = i == 0 ? none : walls[i];
        bench_step(&t, 0.2);
        parts = walls[i];
        assert_string_equal(bench_until_result(&t, "go", 20.0), "failed 9003");
        assert_null(strstr(message("go"), "the lidar"));
        bench_close(&t);
    }
}

// The lidar is covered from the start, or while the robot drives.
static void a_covered_lidar_moves_nothing(void **state)
{
    (void)state;
    static const part cloth[] = {{-180, 100, 0.1}, {0, 0, 0}}, none[] = {{0, 0, 0}};
    for (int late = 0; late < 2; late++) {
        open_robot(late ? none : cloth, NULL);
        bench_step(&t, 3.0);
        const pons_pose2 was = t.body->pose;
        bench_goal(&t, "go", "navigate_to_pose", "{\"zone\":\"kitchen\"}");
        bench_step(&t, 4.0);
        assert_true(late == (bench_truth_to(&t, was.x, was.y) > 0.2));
        parts = cloth;
        bench_step(&t, 1.0);
        assert_true(bench_speed(&t) < 0.01);
        if (!late) {
            assert_string_not_equal(bench_until_result(&t, "go", 200.0), "done 0");
            assert_true(bench_truth_to(&t, was.x, was.y) < 0.01);
            assert_non_null(strstr(message("go"), "the lidar is covered"));
        }
        bench_close(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_it_is_told_of_stops_nobody),
        cmocka_unit_test(nothing_else_is_left_out),
        cmocka_unit_test(what_it_is_not_told_of_is_named),
        cmocka_unit_test(parts_by_direction),
        cmocka_unit_test(a_wall_is_not_named),
        cmocka_unit_test(a_covered_lidar_moves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
