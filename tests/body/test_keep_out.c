// test_keep_out.c - no part of a robot gets where nobody may be: whatever a hand wants, and with each planner, round
// or with corners; nor is it sent there, or goes on from there by itself.
//
// Areas are rectangles, also lines that are thinner than a cell, so the judge is exact: the gap between the footprint
// where the robot truly is and the rectangle.
#include "body/body_bench.h"
#include "body/core/body.h"
#include "body/safety/velocity_filter.h"
#include "pons/buf.h"
#include "pons/drivers.h"
#include "pons/map_preview.h"
#include "pons/random.h"
#include "rounds.h"
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { AREAS_MAX = 8, TICK_MS = 10 };

static const char *const SHAPES[] = {
    NULL, // round, 0.22 m
    "[[0.35, 0.25], [0.35, -0.25], [-0.35, -0.25], [-0.35, 0.25]]",
    "[[0.25, 0.2], [0.25, -0.2], [-0.75, -0.15], [-0.75, 0.15]]",
};

static double between(pons_rand *r, double low, double high)
{
    return low + (high - low) * pons_rand_unit(r);
}

static pons_footprint shape_of(const char *text)
{
    pons_footprint f = pons_footprint_circle(0.22);
    pons_autovalue v = text ? json_string(text) : NULL;
    assert_null(v ? pons_footprint_read(v, &f) : NULL);
    return f;
}

static double gap(const pons_footprint *f, pons_pose2 at, const pons_box2 *b)
{
    return f->n > 0 ? pons_footprint_gap(f, at, b)
                    : pons_box2_distance(b, at.x, at.y) - f->circumscribed_m;
}

// The areas as a world has them.
static pons_value *areas_of(const pons_box2 *b, int n)
{
    pons_value *all = json_array();
    for (int i = 0; i < n; i++) {
        pons_value *polygon = json_array();
        char id[16];
        snprintf(id, sizeof id, "a%d", i);
        for (int k = 0; k < 4; k++) {
            const double x = (k == 0 || k == 3 ? -0.5 : 0.5) * b[i].sx,
                         y = (k < 2 ? -0.5 : 0.5) * b[i].sy;
            const pons_pose2 p =
                pons_pose_compose((pons_pose2){b[i].x, b[i].y, b[i].yaw}, (pons_pose2){x, y, 0.0});
            json_array_append_new(polygon, json_pack("[f,f]", p.x, p.y));
        }
        json_array_append_new(all, pons_object("id", json_string(id), "polygon", polygon, "reason",
                                               json_string("fresh paint"), NULL));
    }
    return all;
}

// ---- the gate -----------------------------------------------------------------------------------

typedef struct rig {
    pons__safety s;
    pons__command cmd;
    pons_robot_state state;
    pons_scan scan;
    pons_footprint f;
    pons__area *area;
    int64_t now_ns;
} rig;

static void open_rig(rig *r, const char *shape, const pons_box2 *b, int n, double cell)
{
    memset(r, 0, sizeof *r);
    r->f = shape_of(shape);
    const pons_robot_caps caps = {.radius_m = r->f.circumscribed_m,
                                  .footprint = r->f,
                                  .speed_max_mps = 0.6,
                                  .reverse_max_mps = 0.3,
                                  .yaw_rate_max_radps = 1.5,
                                  .accel_max_mps2 = 1.0,
                                  .brake_max_mps2 = 2.0,
                                  .yaw_accel_max_radps2 = 4.0};
    pons_autovalue world = pons_object("robot", json_pack("{s:f}", "speed_max_mps", 0.6),
                                       "keep_out", areas_of(b, n), NULL);
    const int side = (int)(8.0 / cell);
    const pons__area_frame frame = {-4.0, -4.0, cell, side, side};
    assert_int_equal(pons__area_create(world, &frame, &r->area, NULL), PONS_OK);
    pons__safety_params p;
    pons__safety_params_from_caps(&p, &caps);
    pons__safety_init(&r->s, &p);
    pons__safety_set_area(&r->s, r->area);
    r->now_ns = PONS_NS_PER_S;
    r->cmd.alive_until_host_ns = INT64_MAX;
    r->cmd.goal_seq = 1;
}

static void tick(rig *r)
{
    const double dt = TICK_MS / 1000.0;
    r->now_ns += TICK_MS * PONS_NS_PER_MS;
    pons_pose2 *p = &r->state.odom_from_base;
    p->x += r->state.twist.v * cos(p->yaw) * dt;
    p->y += r->state.twist.v * sin(p->yaw) * dt;
    p->yaw = pons_wrap_angle(p->yaw + r->state.twist.w * dt);
    r->state.stamp_ns = r->cmd.stamp_ns = r->now_ns;
    r->scan = (pons_scan){.stamp_ns = r->now_ns, .n = 1, .range_min = 0.05f, .range_max = 10.0f};
    r->scan.ranges[0] = INFINITY; // nothing stands there
    r->state.twist =
        pons__safety_step(&r->s, &r->cmd, &r->state, &r->scan, NULL, r->now_ns, r->now_ns);
}

// Wishes of every kind, also those that hardly drive while they turn, among lines, spikes and pads.
static void whatever_is_wanted_no_part_gets_in(void **state)
{
    (void)state;
    static const double cells[] = {0.05, 0.03, 0.1};
    pons_rand rand;
    pons_rand_seed(&rand, 1205);
    printf("seed 1205\n");
    const int all = (int)rounds(ROUNDS_body_wishes);
    double went = 0.0, turned = 0.0, nearest = INFINITY;
    for (int round = 0; round < all; round++) {
        rig r;
        pons_box2 b[AREAS_MAX];
        int n = 0;
        const char *shape = SHAPES[round % 3];
        const pons_footprint f = shape_of(shape);
        while (n < AREAS_MAX) { // around where it begins
            const double far = between(&rand, 0.7, 2.2), to = between(&rand, -M_PI, M_PI);
            const bool line = n % 2;
            b[n] = (pons_box2){far * cos(to), far * sin(to), between(&rand, -M_PI, M_PI),
                               line ? 1.2 : between(&rand, 0.05, 0.4),
                               line ? 0.01 : between(&rand, 0.05, 0.4)};
            n += gap(&f, (pons_pose2){0}, &b[n]) > 0.15;
        }
        open_rig(&r, shape, b, n, cells[round / 3 % 3]);
        for (int k = 0; k < 30 * 20;
             k++) { // half a minute, with a new wish every half a second or so
            if (pons_rand_u64(&rand) % 12 == 0) {
                const uint64_t kind = pons_rand_u64(&rand) % 4;
                r.cmd.want.v = kind == 0   ? 0.0
                               : kind == 1 ? between(&rand, -0.03, 0.03)
                                           : between(&rand, -0.4, 0.8);
                r.cmd.want.w = pons_rand_u64(&rand) % 4 ? between(&rand, -2.0, 2.0) : 0.0;
            }
            for (int i = 0; i < 5; i++) {
                tick(&r);
                for (int a = 0; a < n; a++) {
                    const double left = gap(&r.f, r.state.odom_from_base, &b[a]);
                    nearest = fmin(nearest, left);
                    if (left <= 0.0) {
                        const pons_pose2 p = r.state.odom_from_base;
                        fail_msg("round %d, %.2f s: shape %d in area %d at (%.3f, %.3f, %.3f), "
                                 "wanted %.3f %.3f",
                                 round, k * 0.05, round % 3, a, p.x, p.y, p.yaw, r.cmd.want.v,
                                 r.cmd.want.w);
                    }
                }
            }
            went += fabs(r.state.twist.v) * 0.05;
            turned += fabs(r.state.twist.w) * 0.05;
        }
        pons__area_destroy(r.area);
    }
    printf("%.0f m and %.0f rad, never nearer than %.4f m\n", went, turned, nearest);
    assert_true(went > 40.0 * all / 45.0 && turned > 300.0 * all / 45.0); // it does move
}

// ---- driving there ------------------------------------------------------------------------------

static char dir[64];
static bench t;

static int set_up(void **state)
{
    (void)state;
    setenv("PONS_SHARE", PONS_SOURCE_DIR, 1);
    snprintf(dir, sizeof dir, "/tmp/pons-keep-out-XXXXXX");
    assert_non_null(mkdtemp(dir));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    char command[100];
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    assert_int_equal(system(command), 0);
    return 0;
}

static const char *in_dir(const char *name)
{
    static char paths[2][200];
    static int turn;
    char *path = paths[turn++ % 2];
    snprintf(path, sizeof paths[0], "%s/%s", dir, name);
    return path;
}

// A hall of 14 × 9 m with three shelves, an aisle that is shut by a line, a spike, and two pads.
static const pons_box2 HALL[] = {
    {5.5, 3.0, 0.0, 0.02, 1.6}, {9.5, 6.0, 0.5, 1.8, 0.1}, {3.0, 6.5, 0.8, 0.5, 0.5},
    {10.5, 1.5, 0.3, 0.6, 0.3}, {7.0, 8.3, 0.0, 0.1, 1.4},
};
enum { HALL_N = sizeof HALL / sizeof HALL[0] };

static void open_hall(const char *shape, double turning_radius_m, const char *start)
{
    char text[4000], robot[300];
    pons_autovalue areas = areas_of(HALL, HALL_N);
    char *list = json_dumps(areas, JSON_COMPACT);
    snprintf(robot, sizeof robot, shape ? "footprint: \"%s\"" : "radius_m: 0.22%.0s",
             shape ? shape : "");
    snprintf(text, sizeof text,
             "name: hall\nbounds: [0, 0, 14, 9]\nstart: %s\n"
             "robot: {id: r, %s, turning_radius_m: %g, wheel_radius_m: 0.08, track_m: 0.34, "
             "speed_max_mps: 0.6, reverse_max_mps: 0.3, yaw_rate_max_radps: 1.5, "
             "accel_max_mps2: 1.0, brake_max_mps2: 2.0, yaw_accel_max_radps2: 4.0}\n"
             "battery: {initial_pct: 90, idle_pct_per_s: 0, motion_pct_per_m: 0, "
             "charge_pct_per_s: 1}\n"
             "lidar: {beams: 180, angle_min: -3.141592653589793, angle_max: 3.141592653589793, "
             "range_min: 0.05, range_max: 12, hz: 10, noise_m: 0.005}\n"
             "charger: {pose: {x: 1.5, y: 1.5, yaw: 0}, contact_m: 0.1}\n"
             "zones: [{id: all, names: {zh: [全部], en: [all]}, "
             "polygon: [[0, 0], [14, 0], [14, 9], [0, 9]], target: {x: 1.5, y: 1.5, yaw: 0}}]\n"
             "map:\n  resolution_m: 0.05\n  boxes:\n"
             "    - {id: s, x: 7, y: 0.05, sx: 14, sy: 0.1, kind: wall}\n"
             "    - {id: n, x: 7, y: 8.95, sx: 14, sy: 0.1, kind: wall}\n"
             "    - {id: w, x: 0.05, y: 4.5, sx: 0.1, sy: 9, kind: wall}\n"
             "    - {id: e, x: 13.95, y: 4.5, sx: 0.1, sy: 9, kind: wall}\n"
             "    - {id: r1, x: 5.5, y: 4.3, sx: 4.0, sy: 0.6, kind: wall}\n"
             "    - {id: r2, x: 5.5, y: 1.7, sx: 4.0, sy: 0.6, kind: wall}\n"
             "    - {id: r3, x: 11, y: 3.8, sx: 1.5, sy: 0.6, kind: wall}\n"
             "keep_out: %s\n",
             start, robot, turning_radius_m, list);
    free(list);
    FILE *f = fopen(in_dir("hall.yaml"), "we");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
    bench_open(&t, in_dir("hall.yaml"));
    bench_hello(&t);
    bench_step(&t, 0.5);
}

static pons_pose2 truth(void)
{
    pons_pose2 p;
    assert_int_equal(pons_body_truth(t.body, &p, NULL), PONS_OK);
    return p;
}

// The tree that pons ships, with another planner.
static void write_tree(const char *planner)
{
    FILE *f = fopen(in_dir("tree.xml"), "we");
    assert_non_null(f);
    fprintf(f,
            "<root BTCPP_format=\"4\" main_tree_to_execute=\"MainTree\">\n"
            "<BehaviorTree ID=\"MainTree\">\n"
            "<RecoveryNode number_of_retries=\"3\" name=\"Navigate\">\n"
            "<PipelineSequence>\n<RateController hz=\"1.0\">\n"
            "<ComputePathToPose goal=\"{goal}\" path=\"{path}\" planner_id=\"%s\"/>\n"
            "</RateController>\n<FollowPath path=\"{path}\"/>\n</PipelineSequence>\n"
            "<Wait wait_duration=\"1\"/>\n</RecoveryNode>\n</BehaviorTree>\n</root>\n",
            planner);
    assert_int_equal(fclose(f), 0);
}

// Goals drawn from a seed, all of which it reaches.
static double drive_about(const char *shape, const char *planner, int goals, uint64_t seed)
{
    const pons_footprint f = shape_of(shape);
    pons_ground *g = NULL;
    pons_rand r;
    double nearest = INFINITY;
    pons_rand_seed(&r, seed);
    assert_int_equal(pons_ground_open(t.world, &g, NULL), PONS_OK);
    for (int i = 0; i < goals;) {
        char args[400];
        const double x = between(&r, 0.5, 13.5), y = between(&r, 0.5, 8.5),
                     yaw = between(&r, -M_PI, M_PI);
        pons_ground_way w = {0};
        // With room to turn, and not where a car has none to come from.
        if (pons_ground_room(g, x, y) < f.circumscribed_m + 0.45 ||
            pons_ground_plan(g, truth(), (pons_pose2){x, y, yaw}, &w, NULL) < 0) {
            continue;
        }
        pons_ground_way_clear(&w);
        i++;
        snprintf(args, sizeof args,
                 "{\"pose\":{\"x\":%.3f,\"y\":%.3f,\"yaw\":%.3f},\"behavior_tree\":\"%s\"}", x, y,
                 yaw, in_dir("tree.xml"));
        char id[80];
        snprintf(id, sizeof id, "%s", bench_goal(&t, NULL, "navigate_to_pose", args));
        const char *result = "";
        for (double s = 0.0; s < 300.0 && !*result; s += 0.05) {
            result = bench_until_result(&t, id, 0.05);
            for (int a = 0; a < HALL_N; a++) {
                nearest = fmin(nearest, gap(&f, truth(), &HALL[a]));
            }
        }
        const pons_pose2 at = truth();
        if (strcmp(result, "done 0") != 0 || nearest <= 0.0) {
            fail_msg("%s, goal %d (%.2f, %.2f, %.2f): '%s' at (%.2f, %.2f, %.2f), nearest %.3f",
                     planner, i, x, y, yaw, result, at.x, at.y, at.yaw, nearest);
        }
    }
    pons_ground_close(g);
    return nearest;
}

static void each_planner_goes_around(void **state)
{
    (void)state;
    static const struct {
        int shape;
        double turning_radius_m;
        const char *planner;
    } rows[] = {
        {0, 0.0, "GridBased"}, {0, 0.0, "Lattice"}, {0, 0.0, "Hybrid"},
        {1, 0.0, "GridBased"}, {2, 0.0, "Lattice"}, {1, 0.5, "Hybrid"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        write_tree(rows[i].planner);
        open_hall(SHAPES[rows[i].shape], rows[i].turning_radius_m, "{x: 1.5, y: 1.5, yaw: 0}");
        const double nearest = drive_about(SHAPES[rows[i].shape], rows[i].planner,
                                           (int)rounds(ROUNDS_body_drives), 40 + i);
        printf("shape %d, %s: never nearer than %.3f m\n", rows[i].shape, rows[i].planner, nearest);
        bench_close(&t);
    }
}

// The text of a goal's result. The goal must end before any recovery is tried.
static void refused_at_once(const char *id, const char *skill, const char *args, const char *says)
{
    const pons_pose2 was = truth();
    bench_goal(&t, id, skill, args);
    assert_string_equal(bench_until_result(&t, id, 2.0), "failed 9912");
    assert_true(bench_truth_to(&t, was.x, was.y) < 0.1);
    const pons_value *why = pons_get(t.results, id);
    assert_non_null(strstr(pons_get_str(why, "error_msg", ""), says));
    assert_int_equal(pons_get_int(pons_get(why, "metrics"), "recoveries", -1), 0);
}

// A goal in a keep-out area, or a start in one, ends at once and names the area, even with movable obstacles near.
static void in_there_it_stays_and_says_so(void **state)
{
    (void)state;
    for (int shape = 0; shape < 2; shape++) {
        open_hall(SHAPES[shape], 0.0, "{x: 3.0, y: 6.5, yaw: 0.8}"); // on a pad
        refused_at_once("out", "navigate_to_pose", "{\"pose\":{\"x\":12,\"y\":8}}",
                        "KEEP_OUT: start (3.00, 6.50) lies in the keep-out area a2: fresh paint; "
                        "drive the robot out by hand");
        bench_close(&t);

        open_hall(SHAPES[shape], 0.0, "{x: 1.5, y: 3.5, yaw: 0}");
        bench_send(&t, json_pack("{s:s, s:s, s:f, s:f, s:f, s:f}", "type", "world.spawn", "id",
                                 "box", "x", 2.5, "y", 2.5, "sx", 0.3, "sy", 0.3));
        bench_step(&t, 1.0);
        assert_true(t.body->grid->n_seen > 0);
        refused_at_once("in", "navigate_to_pose", "{\"pose\":{\"x\":3.0,\"y\":6.5}}",
                        "KEEP_OUT: goal (3.00, 6.50) lies in the keep-out area a2: fresh paint; "
                        "choose a place outside");
        refused_at_once("through", "navigate_through_poses",
                        "{\"poses\":[{\"x\":1.5,\"y\":5.5},{\"x\":3.0,\"y\":6.5}]}",
                        "lies in the keep-out area a2: fresh paint; choose a place outside (goal 2 "
                        "of 2)");
        bench_close(&t);
    }
}

// Names and reasons that are too long are cut, but never within a character.
static void a_long_name_stays_text(void **state)
{
    (void)state;
    static const char id[] = "刚刚打过蜡的大理石地板旁边的走廊",        // 48 bytes
        reason[] = "a刚刚打过蜡的大理石地板还没有干所以今天谁也不能走"; // 73
    pons_autovalue all = json_array();
    const pons__area_frame frame = {-4.0, -4.0, 0.05, 160, 160};
    char says[PONS__AREA_NAME_MAX];
    pons__area *area = NULL;
    for (int i = 0; i < 3; i++) {
        json_array_append_new(all, json_pack("{s:s,s:s,s:[[f,f],[f,f],[f,f]]}", "id", id, "reason",
                                             reason, "polygon", (double)i, 0.0, i + 1.0, 0.0,
                                             i + 0.5, 1.0));
    }
    pons_autovalue world =
        json_pack("{s:{s:f},s:O}", "robot", "speed_max_mps", 0.6, "keep_out", all);
    assert_int_equal(pons__area_create(world, &frame, &area, NULL), PONS_OK);
    assert_true(pons__area_nearest(area, 0.5, 0.2, 0.3, says, sizeof says) == 0.0);
    assert_string_equal(says,
                        "刚刚打过蜡的大理石地板旁边: a刚刚打过蜡的大理石地板还没有干所以今天");
    pons__area_ids(area, says, sizeof says);
    assert_true(strlen(says) > sizeof says - 4);
    assert_int_equal(pons_utf8_valid(says, strlen(says)), strlen(says));
    pons__area_destroy(area);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whatever_is_wanted_no_part_gets_in),
        cmocka_unit_test_setup_teardown(each_planner_goes_around, set_up, tear_down),
        cmocka_unit_test(a_long_name_stays_text),
        cmocka_unit_test_setup_teardown(in_there_it_stays_and_says_so, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
