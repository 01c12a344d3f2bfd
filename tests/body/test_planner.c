// test_planner.c - the planner: its numbers 203–208, clearance along the whole path, doors, moved
// starts and goals, the cheaper of two ways. Maps are made of boxes, written as rows; the judge of
// a path is the distance to the boxes, walked in steps of a centimetre.
#include "body/mini_sim.h"
#include "body/planner/astar.h"
#include "body/planner/planner.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double RADIUS_M = 0.22;

typedef struct bench {
    pons_value *world;
    pons__costmap *grid;
    pons__planner *planner;
    pons__path *path;
    char msg[160];
} bench;

static bench bench_of(const char *name, const double (*boxes)[4], int n)
{
    bench b = {.world = mini_sim_world(name, boxes, n, (pons_pose2){1.5, 1.5, 0.0})};
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons__costmap_from_world(b.world, &b.grid, &err), PONS_OK);
    b.planner = pons__planner_create(b.grid, RADIUS_M);
    b.path = calloc(1, sizeof *b.path);
    assert_non_null(b.planner);
    assert_non_null(b.path);
    return b;
}

static void bench_end(bench *b)
{
    free(b->path);
    pons__planner_destroy(b->planner);
    pons__costmap_destroy(b->grid);
    pons_value_unref(b->world);
}

static int plan(bench *b, double ax, double ay, double bx, double by)
{
    memset(b->msg, 0, sizeof b->msg);
    return pons__planner_plan(b->planner, (pons_pose2){ax, ay, 0.0}, (pons_pose2){bx, by, 0.0},
                              b->path, b->msg, sizeof b->msg);
}

// Least distance from the path to a box of the world.
static double path_clearance(const bench *b)
{
    const pons_value *boxes = pons_get(pons_get(b->world, "map"), "boxes");
    double least = INFINITY;
    for (double s = 0.0; s <= pons__path_length(b->path); s += 0.01) {
        double x, y;
        pons__path_at(b->path, s, &x, &y);
        for (size_t i = 0; i < json_array_size(boxes); i++) {
            const pons_value *v = json_array_get(boxes, i);
            const double yaw = pons_get_num(v, "yaw", 0.0);
            const double dx = x - pons_get_num(v, "x", 0.0), dy = y - pons_get_num(v, "y", 0.0);
            const double lx = fabs(cos(yaw) * dx + sin(yaw) * dy) - 0.5 * pons_get_num(v, "sx", 0);
            const double ly = fabs(cos(yaw) * dy - sin(yaw) * dx) - 0.5 * pons_get_num(v, "sy", 0);
            least = fmin(least, hypot(fmax(lx, 0.0), fmax(ly, 0.0)));
        }
    }
    return least;
}

static void check_shape(const bench *b)
{
    const pons__path *p = b->path;
    assert_true(p->n >= 2);
    for (int i = 1; i < p->n; i++) {
        const double step = hypot(p->x[i] - p->x[i - 1], p->y[i] - p->y[i - 1]);
        assert_true(step <= 0.08);
        assert_true(fabs(p->s[i] - p->s[i - 1] - step) < 1e-9);
    }
}

static void every_number_has_its_cause(void **state)
{
    (void)state;
    // A cell of 1 × 1 m around (4.5, 1.5), closed, in the empty square of 6 × 6 m.
    static const double boxes[][4] = {{4.5, 0.95, 1.2, 0.1},
                                      {4.5, 2.05, 1.2, 0.1},
                                      {3.95, 1.5, 0.1, 1.2},
                                      {5.05, 1.5, 0.1, 1.2},
                                      {1.5, 4.5, 1.4, 1.4}};
    static const struct {
        double ax, ay, bx, by;
        int code;
        const char *word, *says;
    } rows[] = {
        {-0.5, 1.5, 1.5, 3.0, PONS_PLAN_START_OUTSIDE_MAP, "START_OUTSIDE_MAP", "(-0.50, 1.50)"},
        {1.5, 6.01, 1.5, 3.0, PONS_PLAN_START_OUTSIDE_MAP, "START_OUTSIDE_MAP", "6.01"},
        {1.5, 1.5, 99.0, 3.0, PONS_PLAN_GOAL_OUTSIDE_MAP, "GOAL_OUTSIDE_MAP", "(99.00, 3.00)"},
        {1.5, 1.5, NAN, 3.0, PONS_PLAN_GOAL_OUTSIDE_MAP, "GOAL_OUTSIDE_MAP", "nan"},
        {1.5, 4.5, 1.5, 3.0, PONS_PLAN_START_OCCUPIED, "START_OCCUPIED", "(1.50, 4.50)"},
        {1.5, 1.5, 1.5, 4.5, PONS_PLAN_GOAL_OCCUPIED, "GOAL_OCCUPIED", "0.30 m"},
        {1.5, 1.5, 4.5, 1.5, PONS_PLAN_NO_VALID_PATH, "NO_VALID_PATH", "0.22 m"},
        {1.5, 1.5, 1.5, 3.0, PONS_NAV_OK, "NONE", ""},
    };
    bench b = bench_of("empty.yaml", boxes, 5);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        b.path->n = -7;
        const int code = plan(&b, rows[i].ax, rows[i].ay, rows[i].bx, rows[i].by);
        assert_int_equal(code, rows[i].code);
        assert_string_equal(pons__nav_error_word(code), rows[i].word);
        assert_non_null(strstr(b.msg, rows[i].says));
        assert_true(code == PONS_NAV_OK ? b.path->n >= 2 : b.path->n == -7);
    }
    bench_end(&b);
    assert_string_equal(pons__nav_error_word(105), "FAILED_TO_MAKE_PROGRESS");
    assert_string_equal(pons__nav_error_word(12345), "UNKNOWN");
}

static void paths_keep_their_distance(void **state)
{
    (void)state;
    bench b = bench_of("house.yaml", NULL, 0);
    static const pons_pose2 places[] = {{2.0, 1.6, 0},  {2.2, 2.7, 0},  {6.7, 6.4, 0},
                                        {3.2, 6.5, 0},  {5.3, 4.65, 0}, {7.5, 2.4, 0},
                                        {0.65, 4.65, 0}};
    const int n = (int)(sizeof places / sizeof *places);
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < n; k++) {
            assert_int_equal(plan(&b, places[i].x, places[i].y, places[k].x, places[k].y), 0);
            check_shape(&b);
            assert_false(b.path->moved_goal);
            assert_true(path_clearance(&b) >= RADIUS_M + 0.10);
            const double straight = hypot(places[i].x - places[k].x, places[i].y - places[k].y);
            assert_true(pons__path_length(b.path) >= straight - 1e-6);
            assert_true(pons__path_length(b.path) <= 2.0 * straight + 3.0);
            const int last = b.path->n - 1;
            assert_true(hypot(b.path->x[0] - places[i].x, b.path->y[0] - places[i].y) < 1e-9);
            assert_true(hypot(b.path->x[last] - places[k].x, b.path->y[last] - places[k].y) < 1e-9);
        }
    }
    bench_end(&b);
}

// Two rooms with a wall between them at x = 3 and a door of the given width in it.
static void doors(void **state)
{
    (void)state;
    static const struct {
        double width;
        bool passes;
    } rows[] = {{1.2, true}, {0.9, true}, {0.7, true}, {0.6, false}, {0.565, false}, {0.3, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const double w = rows[i].width, door_y = 4.5;
        const double low = door_y - 0.5 * w, high = 6.0 - door_y - 0.5 * w;
        const double boxes[][4] = {{3.0, 0.5 * low, 0.1, low}, {3.0, 6.0 - 0.5 * high, 0.1, high}};
        bench b = bench_of("empty.yaml", boxes, 2);
        const int code = plan(&b, 1.5, 1.5, 5.0, 1.5);
        assert_int_equal(code, rows[i].passes ? PONS_NAV_OK : PONS_PLAN_NO_VALID_PATH);
        if (rows[i].passes) {
            check_shape(&b);
            // Near the middle: what the robot may be off by is shared between the sides.
            assert_true(path_clearance(&b) >= 0.5 * w - 0.06);
        }
        bench_end(&b);
    }
}

// Two doors: the nearer one, until progress failed in it; and again when that is some minutes ago.
static void a_place_where_progress_failed_is_avoided_for_a_while(void **state)
{
    (void)state;
    const double boxes[][4] = {{3.0, 0.5, 0.1, 1.0}, {3.0, 3.0, 0.1, 2.0}, {3.0, 5.5, 0.1, 1.0}};
    bench b = bench_of("empty.yaml", boxes, 3);
    assert_int_equal(plan(&b, 1.5, 1.5, 5.0, 1.5), PONS_NAV_OK);
    const double near_m = pons__path_length(b.path);
    pons__planner_avoid(b.planner, 3.0, 1.5, 0);
    for (int s = 0; s < 200; s += 10) {
        pons__planner_now(b.planner, s * PONS_NS_PER_S);
        assert_int_equal(plan(&b, 1.5, 1.5, 5.0, 1.5), PONS_NAV_OK);
        const bool round = pons__path_length(b.path) > near_m + 1.0;
        assert_int_equal(round, s < 180);
    }
    bench_end(&b);
}

static void goals_and_starts_that_are_too_near_are_moved(void **state)
{
    (void)state;
    bench b = bench_of("empty.yaml", NULL, 0);
    // 0.1 m from the west wall's face at x = 0.1: free is 0.27 m from it.
    assert_int_equal(plan(&b, 3.0, 1.5, 0.2, 1.5), PONS_NAV_OK);
    assert_true(b.path->moved_goal);
    const int last = b.path->n - 1;
    assert_true(hypot(b.path->x[last] - 0.2, b.path->y[last] - 1.5) <= 0.3);
    assert_true(b.path->x[last] >= 0.1 + RADIUS_M);
    // The robot stands there: the path leads out.
    assert_int_equal(plan(&b, 0.2, 1.5, 3.0, 1.5), PONS_NAV_OK);
    check_shape(&b);
    assert_true(b.path->x[0] == 0.2 && b.path->y[0] == 1.5);
    double planned;
    assert_true(isfinite(pons__planner_cost_from(b.planner, b.path, 0.0, &planned)));
    assert_true(planned >= pons__path_length(b.path));
    // Already there.
    assert_int_equal(plan(&b, 3.0, 1.5, 3.0, 1.5), PONS_NAV_OK);
    assert_true(pons__path_length(b.path) < 0.15);
    bench_end(&b);
}

static void a_wide_way_beats_a_short_narrow_one(void **state)
{
    (void)state;
    // A wall at x = 3 with a door of 0.56 m straight ahead, and one of 1.2 m a little aside.
    static const double boxes[][4] = {
        {3.0, 0.66, 0.1, 1.12}, {3.0, 1.89, 0.1, 0.22}, {3.0, 4.6, 0.1, 2.8}};
    bench b = bench_of("empty.yaml", boxes, 3);
    assert_int_equal(plan(&b, 1.5, 1.6, 4.5, 1.6), PONS_NAV_OK);
    assert_true(path_clearance(&b) > 0.3);
    bench_end(&b);
}

// Random clutter: whatever is planned is clear, and the same question has the same answer.
static void random_clutter(void **state)
{
    (void)state;
    const uint64_t seed = 4711;
    print_message("seed %llu\n", (unsigned long long)seed);
    pons_rand r;
    pons_rand_seed(&r, seed);
    int found = 0;
    for (int round = 0; round < 25; round++) {
        double boxes[14][4];
        for (int i = 0; i < 14; i++) {
            boxes[i][0] = 6.0 * pons_rand_unit(&r);
            boxes[i][1] = 6.0 * pons_rand_unit(&r);
            boxes[i][2] = 0.1 + 0.8 * pons_rand_unit(&r);
            boxes[i][3] = 0.1 + 0.8 * pons_rand_unit(&r);
        }
        bench b = bench_of("empty.yaml", (const double(*)[4])boxes, 14);
        if (plan(&b, 0.8, 0.8, 5.2, 5.2) == PONS_NAV_OK) {
            found++;
            check_shape(&b);
            // The ends may be where they were asked to be, near something.
            const bool ends_free = pons__costmap_clearance(b.grid, 0.8, 0.8) >= 0.27 &&
                                   pons__costmap_clearance(b.grid, 5.2, 5.2) >= 0.27;
            assert_true(!ends_free || path_clearance(&b) >= RADIUS_M);
            pons__path *again = calloc(1, sizeof *again);
            assert_non_null(again);
            char msg[160];
            assert_int_equal(pons__planner_plan(b.planner, (pons_pose2){0.8, 0.8, 0.0},
                                                (pons_pose2){5.2, 5.2, 0.0}, again, msg,
                                                sizeof msg),
                             PONS_NAV_OK);
            assert_memory_equal(again, b.path, sizeof *again);
            free(again);
        }
        bench_end(&b);
    }
    assert_true(found >= 8);
}

// ---- large maps ---------------------------------------------------------------------------------

// 10 × 10 rooms of 10 m, with a door of 1.2 m to each neighbour and a thing in each; the room at
// (50 … 60, 50 … 60) has none. 4 million cells.
static bench building(void)
{
    enum { ROOMS = 10, BOXES = 5 * ROOMS * ROOMS + 4 };
    static double boxes[BOXES][4];
    int n = 0;
    for (int k = 0; k < 4; k++) {
        const double across = k % 2 ? 0.05 : 99.95;
        memcpy(boxes[n++],
               (double[4]){k < 2 ? 50 : across, k < 2 ? across : 50, k < 2 ? 100 : 0.1,
                           k < 2 ? 0.1 : 100},
               sizeof boxes[0]);
    }
    for (int r = 0; r < ROOMS * ROOMS; r++) {
        const int cx = r % ROOMS, cy = r / ROOMS;
        const double x = 10.0 * cx, y = 10.0 * cy, door = 2.0 + r * 7 % 11 * 0.5;
        const double left = door - 0.6, right = 10.0 - door - 0.6;
        const bool shut_x = cy == 5 && (cx == 5 || cx == 6),
                   shut_y = cx == 5 && (cy == 5 || cy == 6);
        if (cx > 0) {
            memcpy(boxes[n++],
                   (double[4]){x, y + (shut_x ? 5.0 : 0.5 * left), 0.1, shut_x ? 10.0 : left},
                   sizeof boxes[0]);
            memcpy(boxes[n++], (double[4]){x, y + 10.0 - 0.5 * right, 0.1, right}, sizeof boxes[0]);
        }
        if (cy > 0) {
            memcpy(boxes[n++],
                   (double[4]){x + (shut_y ? 5.0 : 0.5 * left), y, shut_y ? 10.0 : left, 0.1},
                   sizeof boxes[0]);
            memcpy(boxes[n++], (double[4]){x + 10.0 - 0.5 * right, y, right, 0.1}, sizeof boxes[0]);
        }
        memcpy(boxes[n++], (double[4]){x + 2.5 + r % 3, y + 7.0, 1.6, 0.8}, sizeof boxes[0]);
    }
    bench b = {.world = mini_sim_world("empty.yaml", NULL, 0, (pons_pose2){1.5, 1.5, 0.0})};
    json_object_set_new(b.world, "bounds", json_pack("[i,i,i,i]", 0, 0, 100, 100));
    pons_value *list = json_array();
    for (int i = 0; i < n; i++) {
        json_array_append_new(list, json_pack("{s:f,s:f,s:f,s:f}", "x", boxes[i][0], "y",
                                              boxes[i][1], "sx", boxes[i][2], "sy", boxes[i][3]));
    }
    json_object_set_new(json_object_get(b.world, "map"), "boxes", list);
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons__costmap_from_world(b.world, &b.grid, &err), PONS_OK);
    b.planner = pons__planner_create(b.grid, RADIUS_M);
    b.path = calloc(1, sizeof *b.path);
    assert_non_null(b.planner);
    assert_non_null(b.path);
    assert_true(pons__planner_is_large(b.planner));
    return b;
}

// In steps of `cells`; no step searches more. Returns the code; *ret_steps: how many it took.
static int plan_in_steps(bench *b, pons_pose2 from, pons_pose2 to, int cells, int *ret_steps)
{
    *ret_steps = 0;
    int searched = 0;
    int code = pons__planner_begin(b->planner, from, to, b->msg, sizeof b->msg);
    while (code == PONS__PLAN_GOES_ON) {
        code = pons__planner_step(b->planner, cells, b->path, b->msg, sizeof b->msg);
        const int now = pons__planner_searched(b->planner);
        assert_true(now - searched <= cells);
        searched = code == PONS__PLAN_GOES_ON ? now : searched;
        assert_true(++*ret_steps < 100000);
    }
    return code;
}

static void a_large_map_is_planned_in_small_steps(void **state)
{
    (void)state;
    bench b = building();
    static const pons_pose2 from = {1.5, 1.5, 0.0}, to = {98.0, 98.0, 0.0};
    int steps, more;
    assert_int_equal(plan_in_steps(&b, from, to, 30000, &steps), PONS_NAV_OK);
    print_message("%d steps of 30000 cells, %.1f m\n", steps, pons__path_length(b.path));
    assert_true(steps <= 30); // a tenth of the map's cells, and some
    assert_true(path_clearance(&b) >= RADIUS_M + 0.10 - 1e-6);
    const double straight = hypot(96.5, 96.5), length = pons__path_length(b.path);
    assert_true(length > straight && length < 1.3 * straight);
    // Smaller steps, the same path.
    const double mid_x = b.path->x[b.path->n / 2], mid_y = b.path->y[b.path->n / 2];
    const int n = b.path->n;
    assert_int_equal(plan_in_steps(&b, from, to, 2000, &more), PONS_NAV_OK);
    assert_true(more > steps);
    assert_int_equal(b.path->n, n);
    assert_true(b.path->x[n / 2] == mid_x && b.path->y[n / 2] == mid_y);
    // Into the room without doors, and out of it: known without searching a cell.
    assert_int_equal(plan_in_steps(&b, from, (pons_pose2){55.0, 52.0, 0.0}, 30000, &steps),
                     PONS_PLAN_NO_VALID_PATH);
    assert_non_null(strstr(b.msg, "regions searched"));
    assert_int_equal(plan_in_steps(&b, (pons_pose2){55.0, 52.0, 0.0}, to, 30000, &steps),
                     PONS_PLAN_NO_VALID_PATH);
    assert_true(steps <= 3);
    assert_int_equal(plan_in_steps(&b, (pons_pose2){55.0, 52.0, 0.0}, (pons_pose2){58.0, 58.5, 0.0},
                                   30000, &steps),
                     PONS_NAV_OK);
    // Given up in the middle, and begun anew.
    assert_int_equal(pons__planner_begin(b.planner, from, to, b.msg, sizeof b.msg),
                     PONS__PLAN_GOES_ON);
    pons__planner_step(b.planner, 5000, b.path, b.msg, sizeof b.msg);
    assert_int_equal(plan_in_steps(&b, from, to, 30000, &steps), PONS_NAV_OK);
    assert_int_equal(b.path->n, n);
    bench_end(&b);
}

// A door that something stands in is seen by the regions, and so is that it has gone.
static void what_appears_changes_the_regions(void **state)
{
    (void)state;
    bench b = building();
    static const pons_pose2 from = {1.5, 1.5, 0.0}, to = {15.0, 1.5, 0.0};
    assert_int_equal(plan(&b, from.x, from.y, to.x, to.y), PONS_NAV_OK);
    const double before = pons__path_length(b.path);
    double dx = 0.0, dy = 0.0; // where it goes through the wall between
    for (int i = 1; i < b.path->n; i++) {
        if (b.path->x[i - 1] < 10.0 && b.path->x[i] >= 10.0) {
            dx = 10.0;
            dy = b.path->y[i];
        }
    }
    assert_true(dx > 0.0);
    pons_scan scan = mini_scan(360, INFINITY, 0);
    for (int i = 0; i < 6; i++) { // a wall of returns across the door, 1 m before the robot
        scan.stamp_ns += PONS_NS_PER_S;
        for (int k = 0; k < 360; k++) {
            const double a = (double)scan.angle_min + k * (double)scan.angle_increment;
            const double r = 1.0 / cos(a);
            scan.ranges[k] = fabs(a) < 1.0 && fabs(r * sin(a)) < 0.7 ? (float)r : INFINITY;
        }
        pons__costmap_observe(b.grid, (pons_pose2){dx - 1.2, dy, 0.0}, &scan);
    }
    assert_int_equal(plan(&b, from.x, from.y, to.x, to.y), PONS_NAV_OK);
    assert_true(pons__path_length(b.path) > before + 5.0); // through another room
    pons__costmap_clear_obstacles(b.grid);
    assert_int_equal(plan(&b, from.x, from.y, to.x, to.y), PONS_NAV_OK);
    assert_true(fabs(pons__path_length(b.path) - before) < 1e-9);
    bench_end(&b);
}

// Clutter of all densities: the regions know of a way exactly when a search of all cells finds one.
static void regions_know_whether_there_is_a_way(void **state)
{
    (void)state;
    const uint64_t seed = 77;
    print_message("seed %llu\n", (unsigned long long)seed);
    pons_rand r;
    pons_rand_seed(&r, seed);
    int ways = 0, none = 0;
    for (int world = 0; world < 24; world++) {
        enum { BOXES = 60 };
        double boxes[BOXES][4];
        for (int i = 0; i < BOXES; i++) {
            const bool upright = pons_rand_unit(&r) < 0.5;
            const double length = 0.3 + 2.5 * pons_rand_unit(&r);
            boxes[i][0] = 6.0 * pons_rand_unit(&r);
            boxes[i][1] = 6.0 * pons_rand_unit(&r);
            boxes[i][2] = upright ? 0.05 : length;
            boxes[i][3] = upright ? length : 0.05;
        }
        bench b = bench_of("empty.yaml", (const double(*)[4])boxes, 5 + world);
        uint16_t cost[PONS__LEVELS];
        for (int k = 0; k < PONS__LEVELS; k++) {
            cost[k] = (double)b.grid->metres[k] < 0.1 ? 0 : 16;
        }
        pons__regions *regions = pons__regions_create(b.grid, cost, 16);
        pons__search *search = pons__search_create(b.grid, cost, 16);
        pons__search_allow_all(search);
        for (int i = 0; i < 40; i++) {
            int c[4];
            for (int k = 0; k < 4; k++) {
                c[k] = (int)pons_rand_below(&r, 120);
            }
            if (!cost[pons__costmap_level(b.grid, (size_t)(c[1] * b.grid->w + c[0]))] ||
                !cost[pons__costmap_level(b.grid, (size_t)(c[3] * b.grid->w + c[2]))]) {
                continue;
            }
            assert_true(pons__regions_begin(regions, c[0], c[1], c[2], c[3], NULL, NULL));
            assert_true(pons__search_begin(search, c[0], c[1], c[2], c[3], NULL, NULL));
            const int coarse = pons__regions_step(regions, 1000000);
            assert_int_equal(pons__search_step(search, 1000000), coarse);
            ways += coarse > 0;
            none += coarse < 0;
        }
        pons__regions_destroy(regions);
        pons__search_destroy(search);
        bench_end(&b);
    }
    print_message("%d ways, %d times none\n", ways, none);
    assert_true(ways > 50 && none > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_has_its_cause),
        cmocka_unit_test(paths_keep_their_distance),
        cmocka_unit_test(doors),
        cmocka_unit_test(a_place_where_progress_failed_is_avoided_for_a_while),
        cmocka_unit_test(goals_and_starts_that_are_too_near_are_moved),
        cmocka_unit_test(a_wide_way_beats_a_short_narrow_one),
        cmocka_unit_test(random_clutter),
        cmocka_unit_test(a_large_map_is_planned_in_small_steps),
        cmocka_unit_test(what_appears_changes_the_regions),
        cmocka_unit_test(regions_know_whether_there_is_a_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
