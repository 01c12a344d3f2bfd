// test_footprint_sweep.c - a footprint with corners in the gate. The free way and the free turn are held against a walk
// in small steps; then a long robot is told anything at all among boxes for minutes, and must never touch one;
// and it passes a door that its length does not fit through.
#include "body/safety/footprint_sweep.h"
#include "body/safety/velocity_filter.h"
#include "pons/random.h"
#include "rounds.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const int64_t TICK_NS = 5 * PONS_NS_PER_MS;
enum { BEAMS = 360, BOXES_MAX = 8 };

static double between(pons_rand *r, double low, double high)
{
    return low + (high - low) * (double)(pons_rand_u64(r) >> 11) / 9007199254740992.0;
}

static pons_footprint shape_of(const char *text)
{
    pons_autovalue v = json_loads(text, 0, NULL);
    pons_footprint f;
    const char *why = pons_footprint_read(v, &f);
    if (why) {
        fail_msg("%s: %s", text, why);
    }
    return f;
}

static const char LONG[] = "[[0.55,0.25],[0.55,-0.25],[-0.35,-0.25],[-0.35,0.25]]";
static const char *const shapes[] = {LONG, "[[0.4,0],[-0.2,0.3],[-0.2,-0.3]]",
                                     "[[0.3,0.1],[0.2,0.25],[-0.2,0.25],[-0.4,0.1],[-0.4,-0.1],[-0."
                                     "2,-0.25],[0.2,-0.25],[0.3,-0.1]]"};

// ---- against a walk -----------------------------------------------------------------------------

// Where a point lies for a robot that has gone s along an arc, or turned by it.
static void seen(double x, double y, int dir, double curvature, bool turns, double s, double *ret_x,
                 double *ret_y)
{
    const double turn = turns ? dir * s : dir * s * curvature, half = 0.5 * turn;
    const double chord = turns ? 0.0 : dir * s * (fabs(half) < 1e-9 ? 1.0 : sin(half) / half);
    const pons_pose2 at = {chord * cos(half), chord * sin(half), turn};
    const pons_pose2 p = pons_pose_compose(pons_pose_inverse(at), (pons_pose2){x, y, 0.0});
    *ret_x = p.x;
    *ret_y = p.y;
}

static double walked(const pons_footprint *f, double x, double y, double r, int dir,
                     double curvature, bool turns, double reach)
{
    double last = pons_footprint_distance(f, x, y);
    for (double s = 1e-3; s < reach; s += 1e-3) {
        double px, py;
        seen(x, y, dir, curvature, turns, s, &px, &py);
        const double d = pons_footprint_distance(f, px, py);
        if (d < r && d < last - 1e-7) {
            return s - 1e-3;
        }
        last = d;
    }
    return reach;
}

static void the_free_way_is_what_a_walk_finds(void **state)
{
    (void)state;
    const uint64_t seed = 20261123;
    pons_rand rand;
    pons_rand_seed(&rand, seed);
    printf("seed %llu\n", (unsigned long long)seed);
    int shorter = 0, touching = 0;
    for (int round = 0; round < 5000; round++) {
        const pons_footprint f = shape_of(shapes[round % 3]);
        const double x = between(&rand, -1.0, 1.0), y = between(&rand, -0.8, 0.8);
        const double r = round % 5 == 0 ? 0.0 : between(&rand, 0.0, 0.1);
        const int dir = round & 8 ? 1 : -1;
        const bool turns = round % 4 == 3;
        const double k = round % 4 == 0 ? 0.0 : between(&rand, -4.0, 4.0);
        const double reach = turns ? 2.0 * M_PI : 2.0;
        if (fabs(k) > 0.0 && reach * fabs(k) > 6.0) {
            continue; // more than a turn
        }
        const double want = walked(&f, x, y, r, dir, k, turns, reach);
        const double got = turns ? pons__sweep_turn(&f, &x, &y, 1, r, dir)
                                 : pons__sweep_free(&f, &x, &y, 1, r, dir, k, reach);
        const double d = pons_footprint_distance(&f, x, y);
        if (d < r) { // nothing that brings it nearer; the gate asks anew at every step
            double px, py;
            seen(x, y, dir, k, turns, 1e-4, &px, &py);
            const double then = pons_footprint_distance(&f, px, py);
            assert_true(!(then < d - 2e-6) || got == 0.0);
            assert_true(!(then > d + 2e-6) || got > 0.0);
            touching += got == 0.0;
            continue;
        }
        if (got > want + 2.5e-3 || got < want - 2.5e-3) {
            // A graze of less than a step's depth is seen by one of them alone.
            double px, py;
            seen(x, y, dir, k, turns, fmin(got, want) + 1e-3, &px, &py);
            if (fabs(pons_footprint_distance(&f, px, py) - r) > 2e-3) {
                fail_msg(
                    "round %d: shape %d, (%.3f, %.3f), r %.3f, dir %d, k %.3f%s: %.4f, walked %.4f",
                    round, round % 3, x, y, r, dir, k, turns ? ", turning" : "", got, want);
            }
        }
        shorter += want < reach && want > 0.01;
    }
    printf("%d ways end, %d begin inside\n", shorter, touching);
    assert_true(shorter > 300 && touching > 100);
}

// ---- the gate -----------------------------------------------------------------------------------

typedef struct rig {
    pons__safety s;
    pons__command cmd;
    pons_robot_state state;
    pons_scan scan;
    pons_footprint f;
    int64_t now_ns;
    pons_box2 boxes[BOXES_MAX];
    int n_boxes;
    double nearest; // the least gap so far
} rig;

static void open_rig(rig *r, const char *shape)
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
    pons__safety_params p;
    pons__safety_params_from_caps(&p, &caps);
    pons__safety_init(&r->s, &p);
    r->now_ns = PONS_NS_PER_S;
    r->cmd.alive_until_host_ns = INT64_MAX;
    r->cmd.goal_seq = 1;
    r->nearest = INFINITY;
}

static void look(rig *r)
{
    r->scan = (pons_scan){.stamp_ns = r->now_ns,
                          .n = BEAMS,
                          .angle_min = (float)-M_PI,
                          .angle_increment = (float)(2.0 * M_PI / BEAMS),
                          .range_min = 0.05f,
                          .range_max = 10.0f};
    const pons_pose2 at = r->state.odom_from_base;
    for (int i = 0; i < BEAMS; i++) {
        const double a = at.yaw - M_PI + i * 2.0 * M_PI / BEAMS;
        double range = 0.0, step = 1.0;
        while (range < 4.0 && step > 1e-4) {
            step = 4.0;
            for (int k = 0; k < r->n_boxes; k++) {
                step = fmin(step, pons_box2_distance(&r->boxes[k], at.x + range * cos(a),
                                                     at.y + range * sin(a)));
            }
            range += step;
        }
        r->scan.ranges[i] = range < 4.0 ? (float)range : INFINITY;
    }
}

static void tick(rig *r)
{
    const double dt = (double)TICK_NS / (double)PONS_NS_PER_S;
    r->now_ns += TICK_NS;
    pons_pose2 *p = &r->state.odom_from_base;
    p->x += r->state.twist.v * cos(p->yaw) * dt;
    p->y += r->state.twist.v * sin(p->yaw) * dt;
    p->yaw = pons_wrap_angle(p->yaw + r->state.twist.w * dt);
    r->state.stamp_ns = r->now_ns;
    if (r->scan.n == 0 || r->now_ns - r->scan.stamp_ns >= 100 * PONS_NS_PER_MS) {
        look(r);
    }
    r->cmd.stamp_ns = r->now_ns;
    r->state.twist =
        pons__safety_step(&r->s, &r->cmd, &r->state, &r->scan, NULL, r->now_ns, r->now_ns);
    for (int k = 0; k < r->n_boxes; k++) {
        r->nearest = fmin(r->nearest, pons_footprint_gap(&r->f, *p, &r->boxes[k]));
    }
}

static void add_box(rig *r, double x, double y, double sx, double sy)
{
    r->boxes[r->n_boxes++] = (pons_box2){.x = x, .y = y, .sx = sx, .sy = sy};
}

static void whatever_is_wanted_nothing_is_touched(void **state)
{
    (void)state;
    const uint64_t seed = 7711;
    pons_rand rand;
    pons_rand_seed(&rand, seed);
    printf("seed %llu\n", (unsigned long long)seed);
    double went = 0.0, turned = 0.0;
    const int all = (int)rounds(ROUNDS_body_corners);
    for (int round = 0; round < all; round++) {
        rig r;
        open_rig(&r, shapes[round % 3]);
        add_box(&r, 0.0, 1.1, 6.0, 0.2); // a corridor, and things in it
        add_box(&r, 0.0, -1.1, 6.0, 0.2);
        add_box(&r, 2.0, between(&rand, -0.8, 0.8), 0.3, 0.3);
        add_box(&r, -2.0, between(&rand, -0.8, 0.8), 0.4, 0.2);
        add_box(&r, 3.2, 0.0, 0.2, 2.4);
        add_box(&r, -3.2, 0.0, 0.2, 2.4);
        look(&r);
        for (int k = 0; k < 30 * 20;
             k++) { // half a minute, with a new wish every half a second or so
            if (pons_rand_u64(&rand) % 12 == 0) {
                r.cmd.want.v = between(&rand, -0.4, 0.8);
                r.cmd.want.w = pons_rand_u64(&rand) % 3 ? between(&rand, -2.0, 2.0) : 0.0;
                r.cmd.want.v = pons_rand_u64(&rand) % 4 ? r.cmd.want.v : 0.0;
            }
            for (int i = 0; i < 10; i++) {
                tick(&r);
            }
            went += fabs(r.state.twist.v) * 0.05;
            turned += fabs(r.state.twist.w) * 0.05;
            if (r.nearest <= 0.0) {
                fail_msg("round %d, %.1f s: shape %d touches at (%.2f, %.2f, %.2f)", round,
                         k * 0.05, round % 3, r.state.odom_from_base.x, r.state.odom_from_base.y,
                         r.state.odom_from_base.yaw);
            }
        }
    }
    printf("%.0f m and %.0f rad\n", went, turned);
    assert_true(went > all && turned > 2.0 * all); // it does move
}

// One beam, straight at a pole that is as thin as it.
static void look_at(rig *r, double x, double y)
{
    const pons_pose2 p =
        pons_pose_compose(pons_pose_inverse(r->state.odom_from_base), (pons_pose2){x, y, 0.0});
    r->scan = (pons_scan){.stamp_ns = r->now_ns, .n = 1, .range_min = 0.01f, .range_max = 10.0f};
    r->scan.angle_min = (float)atan2(p.y, p.x);
    r->scan.ranges[0] = (float)hypot(p.x, p.y);
    r->nearest = fmin(r->nearest, pons_footprint_distance(&r->f, p.x, p.y));
}

// A robot with a long tail that brakes v sooner than w: the arc ends before a corner is at the pole.
static void an_arc_ends_before_a_corner_touches(void **state)
{
    (void)state;
    static const double bases[][4] = {// accel, brake, yaw accel, w
                                      {1.0, 2.0, 3.2, 2.8},
                                      {1.25, 2.5, 1.5, 1.5},
                                      {1.0, 2.0, 3.0, 1.5}};
    enum { ARCS = 3 * 6 * 5 * 63, SPREAD = 3571 }; // without a common divisor
    int came_near = 0;
    const int all = (int)rounds(ROUNDS_body_arcs);
    for (int i = 0; i < all && i < ARCS; i++) {
        const int n = (int)((long)i * SPREAD % ARCS);
        const double *base = bases[n % 3], radius = 0.05 + n / 3 % 6 * 0.1;
        const double far = 0.45 + n / 18 % 5 * 0.07, bearing = n / 90 * 0.1;
        const double x = far * cos(bearing), y = far * sin(bearing);
        rig r;
        open_rig(&r, "[[0.2,0.25],[0.2,-0.25],[-0.7,-0.25],[-0.7,0.25]]");
        if (pons_footprint_distance(&r.f, x, y) < 0.08) {
            continue;
        }
        const pons_robot_caps caps = {.radius_m = r.f.circumscribed_m,
                                      .footprint = r.f,
                                      .speed_max_mps = 0.8,
                                      .reverse_max_mps = 0.3,
                                      .yaw_rate_max_radps = base[3],
                                      .accel_max_mps2 = base[0],
                                      .brake_max_mps2 = base[1],
                                      .yaw_accel_max_radps2 = base[2]};
        pons__safety_params p;
        pons__safety_params_from_caps(&p, &caps);
        pons__safety_init(&r.s, &p);
        const double w = fmin(base[3], 0.8 / radius);
        r.cmd.want = (pons_twist2){radius * w, w};
        for (int k = 0; k < 600; k++) {
            look_at(&r, x, y);
            tick(&r);
        }
        if (r.nearest <= 0.0) {
            fail_msg("base %d, radius %.2f, pole at %.2f m and %.2f rad: touched", n % 3, radius,
                     far, bearing);
        }
        came_near += r.nearest < 0.08;
    }
    printf("%d arcs came near the pole\n", came_near);
    assert_true(came_near * (long)ARCS > 100L * all);
}

static void a_long_robot_passes_a_door_lengthwise_and_turns_in_no_narrow_corridor(void **state)
{
    (void)state;
    rig r;
    open_rig(&r, LONG);              // 0.90 by 0.50 m: the circle that holds it needs 1.2 m
    add_box(&r, 1.5, 0.9, 0.2, 1.0); // a door of 0.80 m
    add_box(&r, 1.5, -0.9, 0.2, 1.0);
    r.cmd.want.v = 0.5;
    for (int i = 0; i < 200 * 20; i++) {
        tick(&r);
    }
    assert_true(r.state.odom_from_base.x > 2.5);
    assert_true(r.nearest > 0.05);

    open_rig(&r, LONG);
    add_box(&r, 0.0, 0.5, 6.0, 0.2); // a corridor of 0.80 m
    add_box(&r, 0.0, -0.5, 6.0, 0.2);
    r.cmd.want.w = 1.0;
    for (int i = 0; i < 200 * 10; i++) {
        tick(&r);
    }
    assert_true(fabs(r.state.odom_from_base.yaw) < 0.6);
    assert_true(r.nearest > 0.0 && r.nearest < 0.06);
    assert_true(r.state.twist.w == 0.0);
    assert_int_equal(r.s.status.zone, PONS__ZONE_STOP);
    r.cmd.want = (pons_twist2){0.0, -1.0}; // back it may
    for (int i = 0; i < 200; i++) {
        tick(&r);
    }
    assert_true(r.state.odom_from_base.yaw < 0.1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_free_way_is_what_a_walk_finds),
        cmocka_unit_test(whatever_is_wanted_nothing_is_touched),
        cmocka_unit_test(an_arc_ends_before_a_corner_touches),
        cmocka_unit_test(a_long_robot_passes_a_door_lengthwise_and_turns_in_no_narrow_corridor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
