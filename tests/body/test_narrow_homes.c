// test_narrow_homes.c - goals in generated homes whose doors leave 10 cm beside the robot, with posts, and with furniture
// that one has to turn for; every second start stands near something and faces it. Where a disc of the robot's size gets
// with that much beside it, the robot drives, and touches nothing. `./dev test --full` has a hundred homes.
#include "body_bench.h"
#include "pons/drivers.h"
#include "pons/random.h"
#include "rounds.h"
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BOXES = 64, CELLS = 160, GOALS = 5 };
static const double WALL_M = 0.1, CELL_M = 0.06;
static const double BESIDE_M = 0.10; // of the disc, on the way,
static const double ENDS_M = 0.5;    // and so near to start and goal as much as there

// The robots, home after home; a disc covers each.
static const struct {
    double radius_m;
    const char *shape;
} robots[] = {
    {0.22, "radius_m: 0.22"},
    {0.14, "radius_m: 0.14"},
    {0.361, "footprint: [[0.3, 0.2], [-0.3, 0.2], [-0.3, -0.2], [0.3, -0.2]]"},
    {0.28, "footprint: [[0.2, 0.19], [-0.2, 0.19], [-0.2, -0.19], [0.2, -0.19]]"},
};
enum { ROBOTS = sizeof robots / sizeof *robots };

typedef struct box {
    double x0, y0, x1, y1;
} box;

typedef struct home {
    pons_rand rand;
    box boxes[BOXES];
    int n;
    double w, d; // of a room
    int robot;
    double radius;
} home;

static double between(home *h, double low, double high)
{
    return low + (high - low) * pons_rand_unit(&h->rand);
}

static void add(home *h, double x0, double y0, double x1, double y1)
{
    assert_true(h->n < BOXES);
    h->boxes[h->n++] = (box){fmin(x0, x1), fmin(y0, y1), fmax(x0, x1), fmax(y0, y1)};
}

// A box by its place along a wall and beside it.
static void add_at(home *h, bool along_x, double a0, double b0, double a1, double b1)
{
    along_x ? add(h, a0, b0, a1, b1) : add(h, b0, a0, b1, a1);
}

// A wall with a narrow door. Its posts stand out on one side; behind it, often, something that one has to turn for.
static void add_wall(home *h, bool along_x, double from, double to, double at)
{
    const double least = 2.0 * (h->radius + BESIDE_M), t = 0.5 * WALL_M;
    const double gap = between(h, least, least + 0.14);
    const double a = between(h, from + 0.4, to - 0.4 - gap), b = a + gap;
    add_at(h, along_x, from, at - t, a, at + t);
    add_at(h, along_x, b, at - t, to, at + t);
    const double side = pons_rand_below(&h->rand, 2) ? 1.0 : -1.0, out = between(h, 0.05, 0.25);
    add_at(h, along_x, a - 0.1, at, a, at + side * (t + out));
    add_at(h, along_x, b, at, b + 0.1, at + side * (t + out));
    if (pons_rand_below(&h->rand, 4) > 0) {
        const double off = t + out + between(h, least, least + 0.2);
        const double shift = between(h, -0.6, 0.6);
        add_at(h, along_x, a + shift, at + side * off, b + shift, at + side * (off + 0.3));
    }
}

static void make(home *h, uint64_t seed)
{
    *h = (home){.robot = (int)(seed % ROBOTS)};
    h->radius = robots[h->robot].radius_m;
    pons_rand_seed(&h->rand, seed);
    h->w = between(h, 3.4, 4.6);
    h->d = between(h, 3.0, 4.0);
    const double w = 2.0 * h->w, d = 2.0 * h->d;
    add(h, 0.0, 0.0, w, WALL_M);
    add(h, 0.0, d - WALL_M, w, d);
    add(h, 0.0, 0.0, WALL_M, d);
    add(h, w - WALL_M, 0.0, w, d);
    add_wall(h, false, 0.0, h->d, h->w);
    add_wall(h, false, h->d, d, h->w);
    add_wall(h, true, 0.0, h->w, h->d);
    add_wall(h, true, h->w, w, h->d);
    for (int i = 0; i < 6; i++) { // furniture
        const double x = between(h, 0.2, w - 1.0), y = between(h, 0.2, d - 1.0);
        add(h, x, y, x + between(h, 0.3, 0.8), y + between(h, 0.3, 0.6));
    }
}

static double clearance(const home *h, double x, double y)
{
    double nearest = INFINITY;
    for (int i = 0; i < h->n; i++) {
        const box *b = &h->boxes[i];
        const double dx = fmax(fmax(b->x0 - x, x - b->x1), 0.0),
                     dy = fmax(fmax(b->y0 - y, y - b->y1), 0.0);
        nearest = fmin(nearest, hypot(dx, dy));
    }
    return nearest;
}

// Does a disc get there, with BESIDE_M beside it, or around the ends as much as it has there?
static bool fits(const home *h, pons_pose2 from, pons_pose2 to)
{
    static int queue[CELLS * CELLS];
    static bool known[CELLS * CELLS];
    const double room_from = clearance(h, from.x, from.y) - h->radius,
                 room_to = clearance(h, to.x, to.y) - h->radius;
    memset(known, 0, sizeof known);
    const int goal = (int)(to.y / CELL_M) * CELLS + (int)(to.x / CELL_M);
    int n = 0;
    queue[n++] = (int)(from.y / CELL_M) * CELLS + (int)(from.x / CELL_M);
    known[queue[0]] = true;
    for (int i = 0; i < n; i++) {
        if (queue[i] == goal) {
            return true;
        }
        static const int steps[] = {1, -1, CELLS, -CELLS};
        for (int k = 0; k < 4; k++) {
            const int at = queue[i] + steps[k];
            if (at < 0 || at >= CELLS * CELLS || known[at]) {
                continue;
            }
            const double x = (at % CELLS + 0.5) * CELL_M, y = (at / CELLS + 0.5) * CELL_M;
            double beside = BESIDE_M;
            beside = hypot(x - from.x, y - from.y) < ENDS_M ? fmin(beside, room_from) : beside;
            beside = hypot(x - to.x, y - to.y) < ENDS_M ? fmin(beside, room_to) : beside;
            if (x < 2.0 * h->w && y < 2.0 * h->d && clearance(h, x, y) >= h->radius + beside) {
                known[at] = true;
                queue[n++] = at;
            }
        }
    }
    return false;
}

static pons_pose2 somewhere(home *h, double low, double high)
{
    for (;;) {
        const double x = between(h, 0.3, 2.0 * h->w - 0.3), y = between(h, 0.3, 2.0 * h->d - 0.3);
        const double room = clearance(h, x, y) - h->radius;
        if (room >= low && room <= high) {
            return (pons_pose2){x, y, between(h, -M_PI, M_PI)};
        }
    }
}

// Every second start is near something, and faces it.
static pons_pose2 start_of(home *h, int i)
{
    if (i % 2 == 0) {
        return somewhere(h, 0.10, 9.0);
    }
    pons_pose2 at = somewhere(h, 0.01, 0.20);
    double best = INFINITY, yaw = 0.0;
    for (double a = -M_PI; a < M_PI; a += 0.05) {
        const double room = clearance(h, at.x + 0.1 * cos(a), at.y + 0.1 * sin(a));
        if (room < best) {
            best = room;
            yaw = a;
        }
    }
    at.yaw = pons_wrap_angle(yaw + between(h, -0.4, 0.4));
    return at;
}

static void write_world(const home *h, pons_pose2 start, const char *path)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(
        f,
        "name: home\nbounds: [0, 0, %.3f, %.3f]\nstart: {x: %.3f, y: %.3f, yaw: %.3f}\n"
        "robot: {id: pons-1, %s, wheel_radius_m: 0.08, track_m: 0.34, speed_max_mps: 0.6,"
        " reverse_max_mps: 0.3, yaw_rate_max_radps: 1.5, accel_max_mps2: 1, brake_max_mps2: 2,"
        " yaw_accel_max_radps2: 4}\n"
        "battery: {initial_pct: 100, idle_pct_per_s: 0, motion_pct_per_m: 0, charge_pct_per_s: 1}\n"
        "lidar: {beams: 120, angle_min: -3.141592653589793, angle_max: 3.141592653589793,"
        " range_min: 0.05, range_max: 10, hz: 10, noise_m: 0.01}\n"
        "odometry: {scale_std: 0.01, yaw_scale_std: 0.02, noise_m: 0.01, noise_rad: 0.02}\n"
        "map:\n  resolution_m: 0.05\n  boxes:\n",
        2.0 * h->w, 2.0 * h->d, start.x, start.y, start.yaw, robots[h->robot].shape);
    for (int i = 0; i < h->n; i++) {
        const box *b = &h->boxes[i];
        fprintf(f, "    - {id: b%d, x: %.4f, y: %.4f, sx: %.4f, sy: %.4f, kind: wall}\n", i,
                0.5 * (b->x0 + b->x1), 0.5 * (b->y0 + b->y1), b->x1 - b->x0, b->y1 - b->y0);
    }
    fprintf(
        f,
        "zones:\n  - {id: all, names: {en: [all]}, polygon: [[0, 0], [%.3f, 0], [%.3f, %.3f], [0, "
        "%.3f]], target: {x: %.3f, y: %.3f, yaw: 0}}\n",
        2.0 * h->w, 2.0 * h->w, 2.0 * h->d, 2.0 * h->d, start.x, start.y);
    fclose(f);
}

// How often it has driven into something, by the simulation.
static int64_t bumps(bench *b)
{
    char path[128];
    pons_autovalue state = NULL;
    bench_step(b, 1.0); // it is saved a few times a second
    snprintf(path, sizeof path, "%s/sim.json", b->dir);
    assert_int_equal(pons_value_load(path, &state, NULL), PONS_OK);
    const int64_t n = pons_get_int(pons_get(state, "state"), "bumps", -1);
    assert_true(n >= 0);
    return n;
}

// Drives there; false, and says how it ended, when it did not. *touched grows.
static bool drive(const home *h, pons_pose2 from, pons_pose2 to, int64_t *touched)
{
    char path[] = "/tmp/pons-narrow-XXXXXX.yaml", args[128], end[256];
    const int fd = mkstemps(path, 5);
    assert_true(fd >= 0);
    close(fd);
    write_world(h, from, path);
    bench b;
    bench_open_with(&b, path, &pons_robot_kinematic, 7);
    unlink(path);
    bench_hello(&b);
    bench_step(&b, 0.5); // it has seen where it stands
    snprintf(args, sizeof args, "{\"pose\":{\"x\":%.3f,\"y\":%.3f,\"yaw\":%.3f}}", to.x, to.y,
             to.yaw);
    const char *id = bench_goal(&b, NULL, "navigate_to_pose", args);
    snprintf(end, sizeof end, "%s", bench_until_result(&b, id, 240.0));
    const bool done = strcmp(end, "done 0") == 0;
    if (!done) {
        printf("%s from (%.2f, %.2f, %.2f) to (%.2f, %.2f): %s: %s\n", robots[h->robot].shape,
               from.x, from.y, from.yaw, to.x, to.y, *end ? end : "no end",
               *end ? pons_get_str(bench_last(&b, "result"), "error_msg", "") : "");
    }
    *touched += bumps(&b);
    bench_close(&b);
    return done;
}

static void test_goals_that_fit_are_driven_to(void **state)
{
    (void)state;
    const long homes = rounds(ROUNDS_body_homes);
    int driven = 0, asked = 0;
    int64_t touched = 0;
    home *h = malloc(sizeof *h);
    assert_non_null(h);
    for (long i = 0; i < homes; i++) {
        make(h, 41000 + (uint64_t)i);
        for (int k = 0, tries = 0; k < GOALS && tries < 200; tries++) {
            const pons_pose2 from = start_of(h, k), to = somewhere(h, 0.05, 9.0);
            if (hypot(to.x - from.x, to.y - from.y) >= 2.5 && fits(h, from, to)) {
                k++;
                asked++;
                driven += drive(h, from, to, &touched);
            }
        }
    }
    free(h);
    printf("%d of %d driven, %lld times touched\n", driven, asked, (long long)touched);
    assert_int_equal(touched, 0);
    assert_true(asked >= 3 * homes && driven * 100 >= asked * 98);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_goals_that_fit_are_driven_to)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
