// test_lidar_pose.c - a lidar that is not in the robot's middle: the robot knows where it is and keeps its
// distance as well as with one that is, whether its world or its URDF says so.
//
// Where the robot and what it meets truly are is the simulation's word, so a scan that is taken for one from
// the middle shows: the pose is wrong by as much, and the robot stops too late or too early.
#include "body/core/body.h"
#include "body/localization/scan_score.h"
#include "body/mini_sim.h"
#include "body/nav/navigator.h"
#include "body_bench.h"
#include "pons/yaml.h"
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HOUSE   PONS_SOURCE_DIR "/worlds/house.yaml"
#define SIDE_M  0.2  // of a box in the way
#define RADIUS  0.22 // of the house's robot
#define POSE    "{x: 0.2, y: 0.0, yaw: 0.6}"
#define FLIPPED "{x: -0.15, y: 0.1, yaw: -2.5}"

static char dir[64];
static bench t;

static const char *in_dir(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static void write_text(const char *name, const char *text)
{
    FILE *f = fopen(in_dir(name), "we");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static int set_up(void **state)
{
    (void)state;
    snprintf(dir, sizeof dir, "/tmp/pons-lidar-XXXXXX");
    assert_non_null(mkdtemp(dir));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(in_dir("house.yaml"));
    unlink(in_dir("robot.urdf"));
    return rmdir(dir);
}

// The house, with a line more under `lidar` and one under `robot`.
static void write_house(const char *lidar, const char *robot)
{
    static const struct {
        const char *line;
        int which;
    } marks[] = {{"lidar:\n", 0}, {"robot:\n", 1}, {"mjcf: house.xml\n", 2}};
    char line[512];
    FILE *from = fopen(HOUSE, "re"), *to = fopen(in_dir("house.yaml"), "we");
    assert_non_null(from);
    assert_non_null(to);
    while (fgets(line, sizeof line, from)) {
        int which = -1;
        for (int i = 0; i < 3; i++) {
            which = strcmp(line, marks[i].line) == 0 ? marks[i].which : which;
        }
        if (which != 2) {
            fputs(line, to);
        }
        fputs(which == 0 ? lidar : which == 1 ? robot : "", to);
    }
    fclose(from);
    assert_int_equal(fclose(to), 0);
}

static const char URDF[] =
    "<robot name=\"r\"><link name=\"base_link\"/>"
    "<link name=\"mast\"/><link name=\"laser\"/>"
    "<joint name=\"a\" type=\"fixed\"><parent link=\"base_link\"/><child link=\"mast\"/>"
    "<origin xyz=\"0.1 0.1 0.2\" rpy=\"0 0 1.5707963\"/></joint>"
    "<joint name=\"b\" type=\"fixed\"><parent link=\"mast\"/><child link=\"laser\"/>"
    "<origin xyz=\"-0.1 -0.1 0.05\" rpy=\"0 0 -0.9707963\"/></joint></robot>"; // POSE, in two steps

static const struct {
    const char *what, *lidar, *robot;
} robots[] = {{"in the middle", "", ""},
              {"by its world", "  pose: " POSE "\n", ""},
              {"by its URDF", "", "  urdf: robot.urdf\n"},
              {"behind, turned round", "  pose: " FLIPPED "\n", ""}};
enum { ROBOTS = sizeof robots / sizeof *robots };

static void open_robot(int which)
{
    write_text("robot.urdf", URDF);
    write_house(robots[which].lidar, robots[which].robot);
    bench_open(&t, in_dir("house.yaml"));
    bench_hello(&t);
}

static pons_pose2 truth(void)
{
    pons_pose2 p;
    assert_int_equal(pons_body_truth(t.body, &p, NULL), PONS_OK);
    return p;
}

static pons_pose2 believed(void)
{
    const pons_value *p = pons_get(t.telemetry, "pose");
    return (pons_pose2){pons_get_num(p, "x", NAN), pons_get_num(p, "y", NAN),
                        pons_get_num(p, "yaw", NAN)};
}

static int64_t bumps(void)
{
    pons_autovalue saved = NULL;
    assert_int_equal(t.body->robot->save(t.body->self, &saved, NULL), PONS_OK);
    return pons_get_int(saved, "bumps", -1);
}

// Through the house; the worst error of the pose whenever the robot stands, and how much of what was seen is
// taken for something that is not in the map.
static void tour(double *ret_m, double *ret_rad)
{
    static const char *const stops[] = {"{\"zone\":\"kitchen\"}", "{\"zone\":\"study\"}",
                                        "{\"pose\":{\"x\":2.6,\"y\":3.2}}"};
    *ret_m = *ret_rad = 0.0;
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
        const char *id = bench_goal(&t, NULL, "navigate_to_pose", stops[i]);
        assert_string_equal(bench_until_result(&t, id, 120.0), "done 0");
        bench_step(&t, 1.5);
        const pons_pose2 is = truth(), reported = believed();
        *ret_m = fmax(*ret_m, hypot(is.x - reported.x, is.y - reported.y));
        *ret_rad = fmax(*ret_rad, fabs(pons_wrap_angle(is.yaw - reported.yaw)));
    }
    assert_int_equal(bumps(), 0);
}

static void it_knows_where_it_is(void **state)
{
    (void)state;
    double middle_m = 0.0;
    for (int i = 0; i < ROBOTS; i++) {
        double m, rad;
        open_robot(i);
        tour(&m, &rad);
        const int64_t seen =
            (int64_t)json_array_size(pons_get(t.telemetry, "obstacles")); // nothing is there
        print_message("%-22s %.3f m, %.3f rad, %lld obstacles\n", robots[i].what, m, rad,
                      (long long)seen);
        middle_m = i == 0 ? m : middle_m;
        assert_true(m < middle_m + 0.03);
        assert_true(rad < 0.04);
        assert_int_equal(seen, 0);
        bench_close(&t);
    }
}

// Straight at a small box that is in no map, to the robot's left, right and middle: how near its edge comes.
static double gap_before(double side_m)
{
    const pons_pose2 at = truth();
    const double ahead = 0.9, c = cos(at.yaw), s = sin(at.yaw);
    const double x = at.x + c * ahead - s * side_m, y = at.y + s * ahead + c * side_m;
    bench_send(&t, json_pack("{s:s, s:s, s:f, s:f, s:f, s:f, s:f}", "type", "world.spawn", "id",
                             "box", "x", x, "y", y, "sx", SIDE_M, "sy", SIDE_M, "yaw", at.yaw));
    bench_step(&t, 0.5);
    bench_goal(&t, NULL, "drive_by_hand", "{}"); // by hand: nothing but the gate looks ahead
    double nearest = INFINITY;
    for (int i = 0; i < 120; i++) {
        bench_send(&t, json_pack("{s:s, s:f, s:f, s:b}", "type", "steer", "v", 0.6, "w", 0.0,
                                 "let_go", 0));
        bench_step(&t, 0.05);
        const pons_pose2 box = {x, y, at.yaw}, in = pons_pose_between(box, truth());
        nearest = fmin(nearest, hypot(fmax(fabs(in.x) - 0.5 * SIDE_M, 0.0),
                                      fmax(fabs(in.y) - 0.5 * SIDE_M, 0.0)) -
                                    RADIUS);
    }
    return nearest;
}

static void it_stops_as_far_before_what_is_in_the_way(void **state)
{
    (void)state;
    static const double sides[] = {0.0, 0.2, -0.2};
    for (size_t k = 0; k < 3; k++) {
        double middle = 0.0;
        for (int i = 0; i < ROBOTS; i++) {
            open_robot(i);
            const double gap = gap_before(sides[k]);
            print_message("box %+.1f m to the side, lidar %-22s stops %.3f m before it\n", sides[k],
                          robots[i].what, gap);
            middle = i == 0 ? gap : middle;
            assert_int_equal(bumps(), 0);
            assert_true(gap > 0.02);
            assert_true(fabs(gap - middle) < 0.03);
            bench_close(&t);
        }
    }
}

// What was there and has gone is seen through from where the lidar is.
static void what_has_gone_is_forgotten(void **state)
{
    (void)state;
    for (int i = 0; i < ROBOTS; i++) {
        open_robot(i);
        const double gap = gap_before(0.0);
        assert_true(gap > 0.02);
        bench_send(&t,
                   json_pack("{s:s, s:s, s:b}", "type", "world.spawn", "id", "box", "remove", 1));
        bench_step(&t, 3.0);
        assert_int_equal(json_array_size(pons_get(t.telemetry, "obstacles")), 0);
        bench_close(&t);
    }
}

// The ends of the beams, as they are told for pictures, lie on the house's walls.
static void what_is_told_of_the_scan_is_where_it_is(void **state)
{
    (void)state;
    for (int i = 0; i < ROBOTS; i++) {
        open_robot(i);
        pons_link *eye = bench_join(&t);
        assert_int_equal(
            pons_link_send(eye,
                           json_pack("{s:s,s:i,s:s,s:b,s:b}", "type", "hello", "protocol", 1,
                                     "role", "observer", "view", 1, "laser", 1),
                           NULL),
            PONS_OK);
        pons_autovalue view = NULL;
        for (int k = 0; k < 40 && !view; k++) {
            bench_step(&t, 0.05);
            pons_value *m = NULL;
            while (pons_link_recv(eye, &m, NULL) == 1) {
                if (strcmp(pons_get_str(m, "type", ""), "view") == 0 &&
                    json_array_size(pons_get(m, "scan")) > 20) {
                    pons_value_unref(view);
                    view = pons_value_ref(m);
                }
                pons_value_unref(m);
            }
        }
        assert_non_null(view);
        const pons_value *scan = pons_get(view, "scan"), *laser = pons_get(view, "laser");
        for (size_t k = 0; k + 1 < json_array_size(scan); k += 2) {
            const double x = json_number_value(json_array_get(scan, k)),
                         y = json_number_value(json_array_get(scan, k + 1));
            double near = INFINITY;
            for (size_t b = 0; b < json_array_size(pons_get(pons_get(t.world, "map"), "boxes"));
                 b++) {
                const pons_value *v =
                    json_array_get(pons_get(pons_get(t.world, "map"), "boxes"), b);
                const pons_box2 box = {.x = pons_get_num(v, "x", 0),
                                       .y = pons_get_num(v, "y", 0),
                                       .yaw = pons_get_num(v, "yaw", 0),
                                       .sx = pons_get_num(v, "sx", 0),
                                       .sy = pons_get_num(v, "sy", 0)};
                near = fmin(near, fabs(pons_box2_distance(&box, x, y)));
            }
            assert_true(near < 0.12);
        }
        const pons_value *at = pons_get(pons_get(t.world, "lidar"), "pose");
        static const char *const keys[] = {"x", "y", "yaw"};
        for (int k = 0; k < 3; k++) {
            assert_true(fabs(pons_get_num(laser, keys[k], NAN) - pons_get_num(at, keys[k], 0.0)) <
                        1e-6);
        }
        pons_link_close(eye);
        bench_close(&t);
    }
}

// Whether a beam goes through a mapped wall is asked from where the lidar is. A wall ends at x = 3: from x = 3.5 the
// beams pass its end, from x = 2.7 they go through it, wherever the robot's middle is.
static void beams_begin_at_the_lidar(void **state)
{
    (void)state;
    static const double wall[][4] = {{2.0, 2.0, 2.0, 0.2}}, yaws[] = {0.0, 0.7, -2.5};
    const struct {
        pons_pose2 middle, lidar;
        bool through;
    } table[] = {
        {{2.7, 1.2, 0.0}, {3.5, 1.2, 0.0}, false},
        {{3.5, 1.2, 0.0}, {2.7, 1.2, 0.0}, true},
        {{3.5, 1.2, 0.0}, {3.5, 1.2, 0.0}, false},
        {{2.7, 1.2, 0.0}, {2.7, 1.2, 0.0}, true},
    };
    enum { BEAMS = 20 };
    pons_autovalue world = mini_sim_world("empty.yaml", wall, 1, (pons_pose2){1.0, 4.5, 0.0});
    pons__costmap *grid = NULL;
    assert_int_equal(pons__costmap_from_world(world, &grid, NULL), PONS_OK);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        for (size_t k = 0; k < sizeof yaws / sizeof *yaws; k++) {
            const pons_pose2 base = {table[i].middle.x, table[i].middle.y, yaws[k]},
                             lidar = {table[i].lidar.x, table[i].lidar.y, 1.1},
                             from = pons_pose_between(base, lidar);
            float x[BEAMS], y[BEAMS]; // of something that is not mapped, north of the wall
            for (int b = 0; b < BEAMS; b++) {
                const pons_pose2 end =
                    pons_pose_between(base, (pons_pose2){2.94 + 0.008 * b, 2.42, 0.0});
                x[b] = (float)end.x;
                y[b] = (float)end.y;
            }
            const pons__agreement a = pons__agreement_of(grid, base, from, x, y, BEAMS);
            if (a.hits != 0 || a.through != (table[i].through ? BEAMS : 0) ||
                a.contradicts != table[i].through) {
                fail_msg("%zu, yaw %g: %d hits, %d through a wall", i, yaws[k], a.hits, a.through);
            }
        }
    }
    pons__costmap_destroy(grid);
}

static void a_wrong_pose_is_told_with_its_place(void **state)
{
    (void)state;
    static const struct {
        const char *line, *says;
    } bad[] = {{"  pose: {x: 0.2, y: 0}\n", "yaw"},
               {"  pose: {x: 20, y: 0, yaw: 0}\n", "10"},
               {"  pose: {x: .nan, y: 0, yaw: 0}\n", "nan"},
               {"  pose: [0.2, 0, 0]\n", "object"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        pons_value *world = NULL;
        pons_error err = PONS_ERROR_INIT;
        char line[1200];
        write_house(bad[i].line, "");
        assert_int_not_equal(pons_world_load(in_dir("house.yaml"), &world, &err), PONS_OK);
        pons_error_line(&err, line, sizeof line);
        if (!strstr(line, bad[i].says) || !strstr(line, "house.yaml:")) {
            fail_msg("%s", line);
        }
    }
}

int main(void)
{
    setenv("PONS_SHARE", PONS_SOURCE_DIR, 1);
    pons_value_init();
#define ONE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        ONE(it_knows_where_it_is),       ONE(it_stops_as_far_before_what_is_in_the_way),
        ONE(what_has_gone_is_forgotten), ONE(what_is_told_of_the_scan_is_where_it_is),
        ONE(beams_begin_at_the_lidar),   ONE(a_wrong_pose_is_told_with_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
