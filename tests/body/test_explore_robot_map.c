// test_explore_robot_map.c - a robot whose own SLAM makes the map explores a place. Maps come rarely, each with another size and
// origin. The SLAM skips scans that are close to an earlier one, and its map is rotated until a loop is closed. If the SLAM ends,
// never ran or starts anew, exploring ends with the reason.
//
// The test plays the SLAM: it draws scans from the true pose of the kinematic robot, in a frame that it may skew.
#include "body/body_bench.h"
#include "body/core/body.h"
#include "body/floor_plan.h"
#include "pons/drivers.h"
#include "pons/file.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIDE = 640, FIRST = SIDE / 2 }; // cells
static const double RES = 0.05, OFF = 0.013,
                    LONGEST_S = 1200.0;             // of no common multiple with the body's
static const int64_t EVERY_NS = 5 * PONS_NS_PER_S;  // between maps, as slam_toolbox has it
static const double APART_M = 0.5, APART_RAD = 0.5; // least motion between scans that it takes

static struct {
    uint8_t hits[SIDE * SIDE], passes[SIDE * SIDE];
    bool none, ended;      // it never gives a map; it has stopped giving maps
    const char *why;       // the reason that the driver gives
    uint64_t maps, closes; // maps so far; number of the map that closes a loop
    pons_pose2 skew;       // of its frame until that map
    double reach_m;        // longest beam that it uses; 0: all
    bool flickers;         // the floor at FLICKER is unknown, except from near to it
    int64_t given_ns, scan_ns;
    bool scanned;
    pons_pose2 at; // pose of the scan that it took last
} slam;

static const double FLICKER_X = 1.0, FLICKER_Y = 1.0, FLICKER_M = 0.3, FLICKER_FAR_M = 1.0;

static bench t;

static pons_pose2 truth(void *self) // the true pose in the map, whose origin is the robot's start
{
    const pons_value *start = pons_get(pons_get(t.world, "simulated"), "start");
    const pons_pose2 from = {pons_get_num(start, "x", 0), pons_get_num(start, "y", 0),
                             pons_get_num(start, "yaw", 0)};
    pons_pose2 now;
    pons_robot_kinematic.truth(self, &now);
    return pons_pose_between(from, now);
}

static pons_pose2 skew(void)
{
    return slam.maps < slam.closes ? slam.skew : (pons_pose2){0};
}

static void mark(uint8_t *cells, double x, double y)
{
    const int cx = FIRST + (int)floor((x - OFF) / RES), cy = FIRST + (int)floor((y - OFF) / RES);
    if (cx >= 0 && cy >= 0 && cx < SIDE && cy < SIDE && cells[cy * SIDE + cx] < UINT8_MAX) {
        cells[cy * SIDE + cx]++;
    }
}

static void draw(const pons_scan *s, pons_pose2 base)
{
    const pons_pose2 from = pons_pose_compose(base, s->from);
    for (int i = 0; i < s->n; i++) {
        const double a = from.yaw + (double)s->angle_min + i * (double)s->angle_increment;
        const bool returned = isfinite(s->ranges[i]);
        const double all = returned ? (double)s->ranges[i] : (double)s->range_max,
                     r = slam.reach_m > 0.0 ? fmin(all, slam.reach_m) : all;
        const bool hit = returned && r == all;
        for (double d = 0.0; d < r - RES; d += 0.5 * RES) {
            mark(slam.passes, from.x + d * cos(a), from.y + d * sin(a));
        }
        if (hit) {
            mark(slam.hits, from.x + r * cos(a), from.y + r * sin(a));
        }
    }
}

// The newest scan, if the robot has moved far enough since the last one that was taken.
static void take_scan(void *self)
{
    pons_scan s;
    const pons_pose2 at = truth(self);
    if (!pons_robot_kinematic.scan(self, &s)) {
        return;
    }
    if (!slam.scanned || hypot(at.x - slam.at.x, at.y - slam.at.y) > APART_M ||
        fabs(pons_wrap_angle(at.yaw - slam.at.yaw)) > APART_RAD) {
        draw(&s, at);
        slam.scanned = true;
        slam.at = at;
    }
    slam.scan_ns = s.stamp_ns;
}

static int8_t cell(int at)
{
    const double x = (at % SIDE - FIRST) * RES + OFF, y = (at / SIDE - FIRST) * RES + OFF;
    if (slam.flickers && hypot(x - FLICKER_X, y - FLICKER_Y) < FLICKER_M &&
        hypot(slam.at.x - FLICKER_X, slam.at.y - FLICKER_Y) > FLICKER_FAR_M) {
        return -1;
    }
    const int hits = slam.hits[at], passes = slam.passes[at];
    return (int8_t)(hits + passes == 0 ? -1 : 10 * hits > passes ? 100 : 0);
}

// The map, cropped to the known cells.
static bool give(pons_robot_map *ret)
{
    int x0 = SIDE, y0 = SIDE, x1 = -1, y1 = -1;
    for (int i = 0; i < SIDE * SIDE; i++) {
        if (cell(i) >= 0) {
            x0 = i % SIDE < x0 ? i % SIDE : x0;
            x1 = i % SIDE > x1 ? i % SIDE : x1;
            y0 = i / SIDE < y0 ? i / SIDE : y0;
            y1 = i / SIDE;
        }
    }
    assert_true(x1 >= 0);
    *ret = (pons_robot_map){.number = ++slam.maps,
                            .stamp_ns = slam.scan_ns,
                            .w = x1 - x0 + 1,
                            .h = y1 - y0 + 1,
                            .resolution_m = RES};
    ret->origin = pons_pose_compose(
        skew(), (pons_pose2){(x0 - FIRST) * RES + OFF, (y0 - FIRST) * RES + OFF, 0.0});
    ret->cells = malloc((size_t)ret->w * (size_t)ret->h);
    assert_non_null(ret->cells);
    for (int y = 0; y < ret->h; y++) {
        for (int x = 0; x < ret->w; x++) {
            ret->cells[y * ret->w + x] = cell((y0 + y) * SIDE + x0 + x);
        }
    }
    return true;
}

static bool own_map(void *self, uint64_t seen, pons_robot_map *ret,
                    char ret_why[PONS_OUTSIDE_TEXT_MAX])
{
    assert_true(seen <= slam.maps);
    snprintf(ret_why, PONS_OUTSIDE_TEXT_MAX, "%s", slam.why ? slam.why : "");
    if (slam.none || slam.ended) {
        return false;
    }
    take_scan(self);
    if (!slam.scanned || (slam.maps > 0 && slam.scan_ns - slam.given_ns < EVERY_NS)) {
        return false;
    }
    slam.given_ns = slam.scan_ns;
    return give(ret);
}

static bool own_place(void *self, pons_robot_place *ret)
{
    pons_robot_state s;
    pons_robot_kinematic.read(self, &s);
    const pons_pose2 at = pons_pose_compose(skew(), truth(self));
    *ret = (pons_robot_place){.known = true,
                              .map_from_odom =
                                  pons_pose_compose(at, pons_pose_inverse(s.odom_from_base)),
                              .std_m = 0.02};
    return true;
}

static bool lacks_nothing(void *self, char ret_why[PONS_OUTSIDE_TEXT_MAX])
{
    (void)self;
    (void)ret_why;
    return false;
}

static pons_robot_ops robot; // the kinematic robot with the SLAM above

static void open_place(void)
{
    static const pons_robot_outside_ops outside = {
        .lacks = lacks_nothing, .place = own_place, .map = own_map};
    memset(&slam, 0, sizeof slam);
    robot = pons_robot_kinematic;
    robot.outside = &outside;
    place_write(PLACE_SMALL);
    bench_open_with(&t, in_place("new.yaml"), &pons_robot_kinematic, 7);
    t.opts.robot = &robot;
    t.opts.auto_reset_sim = true;
    bench_reboot(&t);
    bench_hello(&t);
}

static void close_place(void)
{
    bench_close(&t);
    place_remove(NULL);
}

static char result[256];

static const char *until_end(const char *id)
{
    snprintf(result, sizeof result, "%s", bench_until_result(&t, id, LONGEST_S));
    return pons_get_str(pons_get(t.results, id), "error_msg", "");
}

// Its end is in `result`; what it said of it.
static const char *explores(void)
{
    static char id[32];
    snprintf(id, sizeof id, "%s", bench_goal(&t, NULL, "explore", "{}"));
    return until_end(id);
}

static void touches_nothing(void)
{
    pons_autovalue saved = NULL;
    assert_int_equal(robot.save(t.body->self, (pons_value **)&saved, NULL), PONS_OK);
    assert_int_equal(pons_get_int(saved, "bumps", -1), 0);
}

static void knows_the_place(void)
{
    const place_score s = place_judge(pons_get(t.world, "simulated"), t.world,
                                      in_place("new.map.yaml"), t.body->caps.radius_m + 0.1, 10.0);
    if (!(s.known >= 0.98 && s.iou >= 0.95)) {
        fail_msg("%.4f of the floor is known, IoU %.4f", s.known, s.iou);
    }
}

static void comes_back(void)
{
    const pons_pose2 at = truth(t.body->self);
    assert_true(hypot(at.x, at.y) < 0.3);
}

// Works without a SLAM module. A restarted body continues with the same SLAM.
static void test_explores_with_the_robots_map(void **state)
{
    (void)state;
    open_place();
    assert_string_equal(explores(), "");
    assert_string_equal(result, "done 0");
    touches_nothing();
    knows_the_place();
    comes_back();
    assert_true(slam.maps >= 4);
    assert_int_equal(access(in_place("new.map.g2o"), F_OK), -1);
    bench_reboot(&t);
    bench_hello(&t);
    explores();
    assert_string_equal(result, "done 0");
    knows_the_place();
    close_place();
}

// The first maps are rotated. After the loop closure the whole map, and the robot in it, jumps at once.
static void test_a_loop_is_closed(void **state)
{
    (void)state;
    open_place();
    slam.skew = (pons_pose2){0.15, -0.12, 0.05};
    slam.closes = 4;
    explores();
    assert_string_equal(result, "done 0");
    assert_true(slam.maps > slam.closes);
    touches_nothing();
    knows_the_place();
    comes_back();
    close_place();
}

static void test_no_map_comes(void **state)
{
    (void)state;
    open_place();
    slam.none = true;
    slam.why = "/map: nobody publishes it";
    const char *said = explores();
    assert_string_equal(result, "failed 9910");
    assert_string_equal(said,
                        "MAPPING_FAILED: mapper: the robot gives no map: is its SLAM running? "
                        "/map: nobody publishes it");
    comes_back(); // it did not move
    close_place();
}

// The SLAM ends under way, or gives no more maps. The robot drives on a little, by the map that it has, and then stops.
static void test_maps_stop_coming(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"/map: nobody publishes it", "has its SLAM ended? /map: nobody publishes it"},
        {NULL, "has its SLAM ended? its topic is silent"}};
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        open_place();
        char id[32];
        snprintf(id, sizeof id, "%s", bench_goal(&t, NULL, "explore", "{}"));
        for (int i = 0; i < 4000 && slam.maps < 2; i++) {
            bench_step(&t, 0.05);
        }
        slam.ended = true;
        slam.why = rows[row][0];
        const char *said = until_end(id);
        assert_string_equal(result, "failed 9910");
        assert_non_null(strstr(said, rows[row][1]));
        touches_nothing();
        bench_step(&t, 2.0);
        assert_true(bench_speed(&t) < 0.01);
        assert_int_equal(access(in_place("new.map.yaml"), F_OK), 0); // what was known
        close_place();
    }
}

// The SLAM starts anew without its old map: the file with the complete map is not overwritten.
static void test_a_map_that_begins_anew(void **state)
{
    (void)state;
    size_t n = 0, m = 0;
    open_place();
    explores();
    assert_string_equal(result, "done 0");
    char *was = pons_file_text(in_place("new.map.yaml"), 4096, &n);
    memset(slam.hits, 0, sizeof slam.hits);
    memset(slam.passes, 0, sizeof slam.passes);
    slam.scanned = false;
    slam.reach_m = 1.5;
    bench_step(&t, 6.0);
    const char *said = explores();
    assert_string_equal(result, "failed 9910");
    assert_non_null(strstr(said, "the robot's map begins anew"));
    char *is = pons_file_text(in_place("new.map.yaml"), 4096, &m);
    assert_string_equal(is, was);
    knows_the_place();
    free(was);
    free(is);
    close_place();
}

// The SLAM starts anew under way: the file keeps the floor that it had before.
static void test_it_begins_anew_under_way(void **state)
{
    (void)state;
    char id[32];
    size_t n = 0;
    open_place();
    snprintf(id, sizeof id, "%s", bench_goal(&t, NULL, "explore", "{}"));
    for (int i = 0; i < 4000 && slam.maps < 4; i++) {
        bench_step(&t, 0.05);
    }
    bench_step(&t, 1.0);
    memset(slam.hits, 0, sizeof slam.hits);
    memset(slam.passes, 0, sizeof slam.passes);
    slam.scanned = false;
    slam.reach_m = 1.0;
    assert_non_null(strstr(until_end(id), "the robot's map begins anew"));
    assert_string_equal(result, "failed 9910");
    char *is = pons_file_text(in_place("new.map.yaml"), 4096, &n);
    const double known = place_judge(pons_get(t.world, "simulated"), t.world,
                                     in_place("new.map.yaml"), t.body->caps.radius_m + 0.1, 10.0)
                             .known;
    assert_true(is && known > 0.3); // within a metre of the robot there is less
    free(is);
    close_place();
}

// A frontier that is in the map only while the robot is far away is driven to several times, and then given up.
static void test_a_frontier_that_comes_and_goes(void **state)
{
    (void)state;
    open_place();
    slam.flickers = true;
    const char *said = explores();
    assert_string_equal(result, "done 0");
    assert_string_equal(said, "too many frontiers are in vain, so some were not tried");
    touches_nothing();
    comes_back();
    close_place();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_begins_anew_under_way),
        cmocka_unit_test(test_a_frontier_that_comes_and_goes),
        cmocka_unit_test(test_explores_with_the_robots_map),
        cmocka_unit_test(test_a_loop_is_closed),
        cmocka_unit_test(test_no_map_comes),
        cmocka_unit_test(test_maps_stop_coming),
        cmocka_unit_test(test_a_map_that_begins_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
