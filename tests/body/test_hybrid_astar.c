// test_hybrid_astar.c - ways on which the heading counts: a long robot goes through a door lengthwise, and into a
// corridor that is narrower than the circle that holds it only as far as it never has to turn there; curves are
// no tighter than they may be, and end at the goal's heading; what the planners and the controllers that are
// called by different names do differently. Maps are boxes; the judge of a path is the footprint along it.
#include "body/mini_sim.h"
#include "body/planner/planner.h"
#include "pons/drivers.h"
#include "pons/random.h"
#include "rounds.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char LONG[] = "[[0.55,0.25],[0.55,-0.25],[-0.35,-0.25],[-0.35,0.25]]";

typedef struct bench {
    pons_value *world;
    pons__costmap *grid;
    pons__shape shape;
    pons_footprint f;
    pons__planner *planner;
    pons__path *path;
    char msg[200];
} bench;

// The empty room, without its pillar.
static pons_value *room_of(const double (*boxes)[4], int n, pons_pose2 start)
{
    pons_value *world = mini_sim_world("empty.yaml", boxes, n, start);
    json_t *list = json_object_get(json_object_get(world, "map"), "boxes");
    for (size_t i = json_array_size(list); i-- > 0;) {
        if (strcmp(pons_get_str(json_array_get(list, i), "id", ""), "pillar") == 0) {
            json_array_remove(list, i);
        }
    }
    return world;
}

static bench bench_with(pons_value *world, const char *shape)
{
    bench b = {.world = world};
    pons_error err = PONS_ERROR_INIT;
    if (shape) {
        pons_autovalue v = json_loads(shape, 0, NULL);
        assert_null(pons_footprint_read(v, &b.f));
    } else {
        b.f = pons_footprint_circle(0.22);
    }
    assert_int_equal(pons__costmap_from_world(b.world, &b.grid, &err), PONS_OK);
    b.path = calloc(1, sizeof *b.path);
    assert_non_null(b.path);
    pons__shape_of(&b.f, &b.shape);
    return b;
}

static bench bench_of(const double (*boxes)[4], int n, const char *shape)
{
    return bench_with(room_of(boxes, n, (pons_pose2){1.5, 1.5, 0.0}), shape);
}

// A hall of its own size, with walls around it.
static bench bench_in(double w, double h, const double (*boxes)[4], int n, const char *shape)
{
    pons_value *world = room_of(boxes, n, (pons_pose2){1.5, 1.5, 0.0});
    json_t *list = json_object_get(json_object_get(world, "map"), "boxes");
    for (size_t i = json_array_size(list); i-- > 0;) {
        if (strncmp(pons_get_str(json_array_get(list, i), "id", ""), "wall_", 5) == 0) {
            json_array_remove(list, i);
        }
    }
    for (int i = 0; i < 4; i++) {
        const bool lies = i < 2;
        char id[8];
        snprintf(id, sizeof id, "side%d", i);
        json_array_append_new(list, json_pack("{s:s,s:f,s:f,s:f,s:f,s:s}", "id", id, "x",
                                              lies ? 0.5 * w : (i - 2) * w, "y",
                                              lies ? i * h : 0.5 * h, "sx", lies ? w : 0.1, "sy",
                                              lies ? 0.1 : h, "kind", "wall"));
    }
    json_object_set_new(world, "bounds", json_pack("[f,f,f,f]", 0.0, 0.0, w, h));
    return bench_with(world, shape);
}

static int plan(bench *b, pons__plan_kind kind, double turning_radius_m, pons_pose2 from,
                pons_pose2 to)
{
    pons__planner_destroy(b->planner);
    b->planner = pons__planner_create_for(b->grid, &b->shape, turning_radius_m);
    assert_non_null(b->planner);
    pons__planner_use(b->planner, kind);
    return pons__planner_plan(b->planner, from, to, b->path, b->msg, sizeof b->msg);
}

static void bench_end(bench *b)
{
    pons__planner_destroy(b->planner);
    pons__costmap_destroy(b->grid);
    pons_value_unref(b->world);
    free(b->path);
}

// The least gap of the footprint to a box, turned as the path leads.
static double room(const bench *b)
{
    const pons_value *boxes = pons_get(pons_get(b->world, "map"), "boxes");
    double least = INFINITY;
    for (int i = 1; i < b->path->n; i++) {
        const double dx = b->path->x[i] - b->path->x[i - 1], dy = b->path->y[i] - b->path->y[i - 1];
        const pons_pose2 at = {b->path->x[i], b->path->y[i], atan2(dy, dx)};
        for (size_t k = 0; hypot(dx, dy) > 1e-6 && k < json_array_size(boxes); k++) {
            const pons_value *v = json_array_get(boxes, k);
            const pons_box2 box = {pons_get_num(v, "x", 0), pons_get_num(v, "y", 0),
                                   pons_get_num(v, "yaw", 0), pons_get_num(v, "sx", 0),
                                   pons_get_num(v, "sy", 0)};
            least = fmin(least, pons_footprint_gap(&b->f, at, &box));
        }
    }
    return least;
}

static double end_yaw(const bench *b)
{
    const pons__path *p = b->path;
    double x, y;
    pons__path_at(p, pons__path_length(p) - 0.1, &x, &y);
    return atan2(p->y[p->n - 1] - y, p->x[p->n - 1] - x);
}

// The tightest curve, over half a metre of it.
static double tightest(const bench *b)
{
    double most = 0.0, x[3], y[3];
    for (double s = 0.0; s + 0.5 <= pons__path_length(b->path); s += 0.02) {
        for (int k = 0; k < 3; k++) {
            pons__path_at(b->path, s + 0.25 * k, &x[k], &y[k]);
        }
        const double turn =
            pons_wrap_angle(atan2(y[2] - y[1], x[2] - x[1]) - atan2(y[1] - y[0], x[1] - x[0]));
        most = fmax(most, fabs(turn) / 0.25);
    }
    return most;
}

// A wall across the room, with a door of 0.80 m at y = 3.
static const double door[][4] = {{3.0, 1.3, 0.2, 2.6}, {3.0, 4.7, 0.2, 2.6}};

static void a_long_robot_fits_through_a_door_lengthwise_only(void **state)
{
    (void)state;
    bench b = bench_of(door, 2, LONG);
    const pons_pose2 from = {1.5, 1.5, M_PI / 2}, to = {4.7, 4.2, M_PI / 2};
    if (plan(&b, PONS__PLAN_CELLS, 0.0, from, to) != PONS_NAV_OK) {
        fail_msg("%s", b.msg);
    }
    assert_true(room(&b) > 0.04);
    assert_true(hypot(b.path->x[b.path->n - 1] - to.x, b.path->y[b.path->n - 1] - to.y) < 1e-6);
    // Of the circle that holds it there is no way; nor of a robot as wide as this one is long.
    b.f = pons_footprint_circle(b.f.circumscribed_m);
    pons__shape_of(&b.f, &b.shape);
    assert_int_equal(plan(&b, PONS__PLAN_CELLS, 0.0, from, to), PONS_PLAN_NO_VALID_PATH);
    bench_end(&b);
    b = bench_of(door, 2, "[[0.25,0.45],[0.25,-0.45],[-0.25,-0.45],[-0.25,0.45]]");
    assert_int_equal(plan(&b, PONS__PLAN_CELLS, 0.0, from, to), PONS_PLAN_NO_VALID_PATH);
    assert_non_null(strstr(b.msg, "for its footprint"));
    bench_end(&b);
}

// A dead end of 0.85 m: narrower than the circle of 1.2 m that holds the robot.
static const double dead_end[][4] = {
    {4.2, 2.5, 2.4, 0.15}, {4.2, 3.5, 2.4, 0.15}, {5.4, 3.0, 0.1, 1.2}};

static void in_a_corridor_that_is_narrower_than_its_circle_it_goes_straight(void **state)
{
    (void)state;
    bench b = bench_of(dead_end, 3, LONG);
    const pons_pose2 from = {1.5, 3.0, M_PI};
    if (plan(&b, PONS__PLAN_TURNS, 0.0, from, (pons_pose2){4.4, 3.0, 0.0}) != PONS_NAV_OK) {
        fail_msg("%s", b.msg);
    }
    assert_true(room(&b) > 0.04);
    assert_int_equal(plan(&b, PONS__PLAN_TURNS, 0.0, from, (pons_pose2){4.4, 3.0, NAN}),
                     PONS_NAV_OK);
    // To look out of it the robot would have to turn inside.
    assert_int_equal(plan(&b, PONS__PLAN_TURNS, 0.0, from, (pons_pose2){4.4, 3.0, M_PI}),
                     PONS_PLAN_NO_VALID_PATH);
    bench_end(&b);
}

static void planners_differ_by_their_names(void **state)
{
    (void)state;
    static const double box[][4] = {{3.0, 2.0, 0.4, 2.4}};
    bench b = bench_of(box, 1, NULL);
    const pons_pose2 from = {1.5, 1.5, -M_PI / 2}, to = {4.6, 1.5, M_PI / 2};
    assert_int_equal(plan(&b, PONS__PLAN_CELLS, 0.0, from, to), PONS_NAV_OK);
    assert_true(fabs(pons_wrap_angle(end_yaw(&b) - to.yaw)) > 1.0); // it turns when it is there

    static const double radii[] = {0.0, 0.4, 0.6}; // 0: the usual 0.4 m
    for (int i = 0; i < 3; i++) {
        const double r = radii[i] > 0.0 ? radii[i] : 0.4;
        if (plan(&b, PONS__PLAN_CURVES, radii[i], from, to) != PONS_NAV_OK) {
            fail_msg("%s", b.msg);
        }
        assert_true(fabs(pons_wrap_angle(end_yaw(&b) - to.yaw)) < 0.25);
        assert_true(tightest(&b) < 1.1 / r);
        assert_true(room(&b) > 0.05);
        // It begins as the robot stands.
        double x, y;
        pons__path_at(b.path, 0.1, &x, &y);
        assert_true(fabs(pons_wrap_angle(atan2(y - from.y, x - from.x) - from.yaw)) < 0.4);
    }
    bench_end(&b);
}

// A hall with three boxes: there is a way round them on curves of every radius, and it is found.
static void wide_turns_find_their_way(void **state)
{
    (void)state;
    static const double boxes[][4] = {
        {7.0, 4.0, 1.0, 4.0}, {10.0, 8.5, 1.0, 4.0}, {5.0, 9.5, 2.0, 1.0}};
    static const double radii[] = {0.5, 0.9, 1.5, 3.0};
    static const pons_pose2 goals[] = {
        {13.0, 6.1, 0.0}, {16.0, 8.0, M_PI / 2}, {16.0, 3.0, 0.0}, {3.0, 7.0, M_PI}};
    const pons_pose2 from = {3.0, 3.0, 0.0};
    bench b = bench_in(20.0, 12.0, boxes, 3, NULL);
    for (size_t r = 0; r < sizeof radii / sizeof *radii; r++) {
        for (size_t g = 0; g < sizeof goals / sizeof *goals; g++) {
            if (plan(&b, PONS__PLAN_CURVES, radii[r], from, goals[g]) != PONS_NAV_OK) {
                fail_msg("radius %g m, goal %zu: %s", radii[r], g, b.msg);
            }
            const pons__path *p = b.path;
            print_message("radius %g m, goal %zu: %.1f m\n", radii[r], g, pons__path_length(p));
            assert_true(room(&b) > 0.05);
            assert_true(tightest(&b) < 1.1 / radii[r]);
            assert_true(fabs(pons_wrap_angle(end_yaw(&b) - goals[g].yaw)) < 0.25);
            assert_true(hypot(p->x[p->n - 1] - goals[g].x, p->y[p->n - 1] - goals[g].y) < 0.02);
        }
    }
    bench_end(&b);
}

// A hall that is planned in stretches beside the way of the cells: what is found there is free, and hardly longer than
// that way. Where the shape does not follow it through a door, it finds another one, further off than it looks at first.
static void a_large_hall_is_planned_along_the_cells_way(void **state)
{
    (void)state;
    enum { BOXES = 70, SIDE = 50 };
    double boxes[BOXES][4];
    pons_rand r;
    pons_rand_seed(&r, 811);
    for (int i = 0; i < BOXES; i++) {
        boxes[i][0] = 4.0 + (SIDE - 8.0) * pons_rand_unit(&r);
        boxes[i][1] = 4.0 + (SIDE - 8.0) * pons_rand_unit(&r);
        boxes[i][2] = 0.3 + 3.0 * pons_rand_unit(&r);
        boxes[i][3] = 0.3 + 3.0 * pons_rand_unit(&r);
    }
    bench b = bench_in(SIDE, SIDE, (const double(*)[4])boxes, BOXES, LONG);
    double sum = 0.0, least = 0.0;
    const int ways = (int)rounds(ROUNDS_body_halls);
    for (int i = 0; i < ways; i++) {
        const double ends[2] = {1.5, SIDE - 1.5};
        const pons_pose2 from = {ends[i & 1], 1.5 + 47.0 * pons_rand_unit(&r), 0.0},
                         to = {ends[~i & 1], 1.5 + 47.0 * pons_rand_unit(&r), 1.0};
        const double radius = i % 3 == 2 ? 0.9 : 0.0;
        if (plan(&b, radius > 0.0 ? PONS__PLAN_CURVES : PONS__PLAN_TURNS, radius, from, to) !=
            PONS_NAV_OK) {
            fail_msg("%d: %s", i, b.msg);
        }
        assert_true(room(&b) > 0.04);
        sum += pons__path_length(b.path);
        least += hypot(to.x - from.x, to.y - from.y);
    }
    print_message("%.0f m of ways, %.0f m by air\n", sum, least);
    assert_true(sum < 1.15 * least);
    bench_end(&b);

    // The near door leads into a dead angle that the robot is too long for; the other one is 12 m further.
    static const double doors[][4] = {{20.0, 11.8, 0.2, 23.6},
                                      {20.0, 30.0, 0.2, 11.2},
                                      {20.0, 43.7, 0.2, 12.6},
                                      {20.95, 24.0, 0.2, 3.0},
                                      {20.5, 22.4, 1.1, 0.2}};
    b = bench_in(40.0, SIDE, doors, 5, "[[0.9,0.25],[0.9,-0.25],[-0.9,-0.25],[-0.9,0.25]]");
    const pons_pose2 from = {12.0, 24.0, 0.0}, to = {30.0, 24.0, 0.0};
    if (plan(&b, PONS__PLAN_TURNS, 0.0, from, to) != PONS_NAV_OK) {
        fail_msg("%s", b.msg);
    }
    assert_true(room(&b) > 0.04);
    assert_true(pons__path_length(b.path) > 25.0); // by the other door
    bench_end(&b);
}

static void a_long_robot_drives_there_and_touches_nothing(void **state)
{
    (void)state;
    pons_value *world = room_of(door, 2, (pons_pose2){1.5, 1.5, M_PI / 2});
    pons_value *robot = json_object_get(world, "robot");
    json_object_del(robot, "radius_m");
    json_object_set_new(robot, "footprint", json_loads(LONG, 0, NULL));
    mini_sim m;
    mini_sim_open(&m, world, 5);
    m.use_truth = true;
    const pons_pose2 goal = {4.7, 4.2, M_PI / 2};
    const pons__nav_status s = mini_sim_go(&m, goal, true, 90.0);
    if (s != PONS_NAV_SUCCEEDED) {
        const pons_pose2 t = mini_sim_truth(&m);
        fail_msg("%d at (%.2f, %.2f, %.2f): %s", s, t.x, t.y, t.yaw, m.out.error_msg);
    }
    const pons_pose2 t = mini_sim_truth(&m);
    assert_true(hypot(t.x - goal.x, t.y - goal.y) < 0.2);
    assert_int_equal(m.out.recoveries, 0);
    pons_error err = PONS_ERROR_INIT;
    pons_value *saved = NULL;
    assert_int_equal(pons_robot_kinematic.save(m.robot, &saved, &err), PONS_OK);
    assert_int_equal(pons_get_int(saved, "bumps", -1), 0);
    pons_value_unref(saved);
    mini_sim_close(&m);
    pons_value_unref(world);
}

// A straight path with a box beside its middle that reaches onto it, and one controller.
static double drives_past(bool samples, bool *ret_arrived)
{
    static const double box[][4] = {{3.0, 1.28, 0.3, 0.3}};
    bench b = bench_of(box, 1, NULL);
    pons__nav_params p = PONS_NAV_PARAMS_INIT;
    p.shape = &b.shape;
    pons__follower f;
    b.planner = pons__planner_create_for(b.grid, &b.shape, 0.0);
    b.path->n = 81;
    for (int i = 0; i < b.path->n; i++) {
        b.path->x[i] = 1.0 + 0.05 * i;
        b.path->y[i] = 1.5;
    }
    pons__planner_measure(b.planner, b.path);
    pons__follower_begin(&f, (pons_twist2){0});
    f.samples = samples;
    pons_pose2 at = {1.0, 1.5, 0.0};
    pons_twist2 go = {0};
    double nearest = INFINITY;
    for (int i = 0; i < 20 * 40 && f.phase != PONS__FOLLOW_DONE; i++) {
        go = pons__follower_step(&f, &p, b.grid, b.path, NULL, at, go, 0.05);
        at = (pons_pose2){at.x + go.v * 0.05 * cos(at.yaw), at.y + go.v * 0.05 * sin(at.yaw),
                          pons_wrap_angle(at.yaw + go.w * 0.05)};
        nearest = fmin(nearest, pons__costmap_clearance(b.grid, at.x, at.y));
    }
    *ret_arrived = f.phase == PONS__FOLLOW_DONE && hypot(at.x - 5.0, at.y - 1.5) < 0.2;
    bench_end(&b);
    return nearest;
}

static void controllers_differ_by_their_names(void **state)
{
    (void)state;
    bool arrived;
    assert_true(drives_past(false, &arrived) <
                0.22); // stays on its path: planner and gate look out
    assert_true(arrived);
    assert_true(drives_past(true, &arrived) >= 0.22); // leaves it for what stands there
    assert_true(arrived);
}

// A round robot needs no headings: what the search with them finds is hardly longer than the way over the cells. Goals
// by a seed, in the house.
static void headings_cost_a_round_robot_little(void **state)
{
    (void)state;
    bench b = bench_with(mini_sim_world("house.yaml", NULL, 0, (pons_pose2){2.0, 1.6, 0.0}), NULL);
    const pons_value *bounds = pons_get(b.world, "bounds");
    const double w = json_number_value(json_array_get(bounds, 2)),
                 h = json_number_value(json_array_get(bounds, 3));
    double worst = 0.0, sum = 0.0;
    int n = 0;
    pons_rand r;
    pons_rand_seed(&r, 7);
    while (n < 100) {
        const pons_pose2 from = {w * pons_rand_unit(&r), h * pons_rand_unit(&r), 0.0},
                         to = {w * pons_rand_unit(&r), h * pons_rand_unit(&r), NAN};
        // Only the planner of cells begins beside a robot that stands too near to something.
        if (pons__costmap_clearance(b.grid, from.x, from.y) < 0.35 ||
            plan(&b, PONS__PLAN_CELLS, 0.0, from, to) != PONS_NAV_OK ||
            pons__path_length(b.path) < 1.0) {
            continue;
        }
        const double cells = pons__path_length(b.path);
        if (plan(&b, PONS__PLAN_TURNS, 0.0, from, to) != PONS_NAV_OK) {
            fail_msg("(%.2f, %.2f) to (%.2f, %.2f): %s", from.x, from.y, to.x, to.y, b.msg);
        }
        worst = fmax(worst, pons__path_length(b.path) / cells);
        sum += pons__path_length(b.path) / cells;
        n++;
    }
    print_message("%.3f of the way over the cells, at most %.3f\n", sum / n, worst);
    assert_true(sum / n < 1.03);
    assert_true(worst < 1.10);
    bench_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_long_robot_fits_through_a_door_lengthwise_only),
        cmocka_unit_test(in_a_corridor_that_is_narrower_than_its_circle_it_goes_straight),
        cmocka_unit_test(planners_differ_by_their_names),
        cmocka_unit_test(wide_turns_find_their_way),
        cmocka_unit_test(a_large_hall_is_planned_along_the_cells_way),
        cmocka_unit_test(a_long_robot_drives_there_and_touches_nothing),
        cmocka_unit_test(headings_cost_a_round_robot_little),
        cmocka_unit_test(controllers_differ_by_their_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
