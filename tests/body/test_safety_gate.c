// The gate, with numbers: each test builds a scan by hand, gives the gate a command for a while and
// looks at what it lets through. It is a pure function, so nothing else is needed.
#include "body/safety/velocity_filter.h"
#include "pons/random.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define TICK_NS (5 * PONS_NS_PER_MS)
#define BEAMS   360

typedef struct rig {
    pons__safety s;
    pons__command cmd;
    pons_robot_state state;
    pons_scan scan;
    int64_t now_ns;
    const char *fault;
    bool scans_stop, stamps_stop; // the lidar, the loop are silent
    bool disk_full;
    int spoilt;         // scans: one of the spoils
    pons_box2 boxes[4]; // in odom
    int n_boxes;
} rig;

static void open_rig(rig *r)
{
    const pons_robot_caps caps = {.radius_m = 0.22,
                                  .speed_max_mps = 0.6,
                                  .reverse_max_mps = 0.3,
                                  .yaw_rate_max_radps = 1.5,
                                  .accel_max_mps2 = 1.0,
                                  .brake_max_mps2 = 2.0,
                                  .yaw_accel_max_radps2 = 4.0};
    pons__safety_params p;
    pons__safety_params_from_caps(&p, &caps);
    memset(r, 0, sizeof *r);
    pons__safety_init(&r->s, &p);
    r->now_ns = PONS_NS_PER_S;
    r->cmd.alive_until_host_ns = INT64_MAX;
    r->cmd.goal_seq = 1;
}

static void add_box(rig *r, double x, double y, double sx, double sy)
{
    r->boxes[r->n_boxes++] = (pons_box2){.x = x, .y = y, .sx = sx, .sy = sy};
}

enum { SOUND, NO_NUMBER, NEGATIVE, TOO_NEAR, NO_ANGLE, NO_STEP, NO_RANGE_MIN, SPOILS };

static void spoil(pons_scan *s, int how)
{
    for (int i = 0; i < s->n; i++) {
        float *r = &s->ranges[i];
        *r = how == NO_NUMBER ? NAN : how == NEGATIVE ? -*r : how == TOO_NEAR ? 0.01F : *r;
    }
    s->angle_min = how == NO_ANGLE ? NAN : s->angle_min;
    s->angle_increment = how == NO_STEP ? INFINITY : s->angle_increment;
    s->range_min = how == NO_RANGE_MIN ? NAN : how == NEGATIVE ? -INFINITY : s->range_min;
}

// A lidar by marching along each beam: slow and obvious.
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
    spoil(&r->scan, r->spoilt);
}

// One tick: the robot has moved as it was told, and is told again.
static pons_twist2 tick(rig *r)
{
    const double dt = (double)TICK_NS / (double)PONS_NS_PER_S;
    r->now_ns += TICK_NS;
    if (!r->disk_full) { // the latch thread has done what it was asked at the last tick
        pons__safety_saved(&r->s, &(pons__latch_saved){.gen = r->s.status.gen});
    }
    pons_pose2 *p = &r->state.odom_from_base;
    p->x += r->state.twist.v * cos(p->yaw) * dt;
    p->y += r->state.twist.v * sin(p->yaw) * dt;
    p->yaw += r->state.twist.w * dt;
    r->state.stamp_ns = r->now_ns;
    if (!r->scans_stop &&
        (r->scan.n == 0 || r->now_ns - r->scan.stamp_ns >= 100 * PONS_NS_PER_MS)) {
        look(r);
    }
    if (!r->stamps_stop) {
        r->cmd.stamp_ns = r->now_ns;
    }
    r->state.twist = pons__safety_step(&r->s, &r->cmd, &r->state, r->scan.n > 0 ? &r->scan : NULL,
                                       r->fault, r->now_ns, r->now_ns);
    return r->state.twist;
}

static pons_twist2 ticks(rig *r, double seconds)
{
    pons_twist2 out = {0};
    for (int i = 0; i < (int)(seconds * 200.0 + 0.5); i++) {
        out = tick(r);
    }
    return out;
}

#define assert_near(a, b, eps)                                                                     \
    do {                                                                                           \
        const double a_ = (a), b_ = (b);                                                           \
        if (!(fabs(a_ - b_) <= (eps)))                                                             \
            fail_msg("%s is %.4f, expected %.4f", #a, a_, b_);                                     \
    } while (0)

// ---- ways ---------------------------------------------------------------------------------------

static void the_free_way_has_these_lengths(void **state)
{
    (void)state;
    static const struct {
        double x, y; // of the one point
        int dir;
        double curvature;
        double free; // of a disc of 0.2 m
    } table[] = {
        {1.0, 0.0, 1, 0.0, 0.8},        // straight ahead
        {1.0, 0.12, 1, 0.0, 0.84},      // touched by the disc's flank: √(0.2² − 0.12²) = 0.16
        {1.0, 0.2, 1, 0.0, 3.0},        // beside the way
        {-1.0, 0.0, 1, 0.0, 3.0},       // behind
        {-1.0, 0.0, -1, 0.0, 0.8},      // behind, going back
        {0.15, 0.0, 1, 0.0, 0.0},       // inside, ahead: no way
        {0.15, 0.0, -1, 0.0, 3.0},      // inside, ahead: the way out is back
        {-0.15, 0.05, 1, 0.0, 3.0},     // inside, behind: the way out is ahead
        {1.0, 0.0, 1, 0.5, 3.0},        // a left turn of 2 m passes a point ahead at 0.236 m
        {1.0, 1.0, 1, 1.0, 1.370462},   // on the circle: (π/2 − 2·asin(0.1)) · 1 m
        {1.0, -1.0, 1, -1.0, 1.370462}, // its mirror image
        {-1.0, 1.0, -1, -1.0, 1.370462}, // and backwards: the wheels turn the other way
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const double f = pons__safety_free(&table[i].x, &table[i].y, 1, 0.2, table[i].dir,
                                           table[i].curvature, 3.0);
        if (fabs(f - table[i].free) > 1e-4) {
            fail_msg("row %zu: free %.4f, expected %.4f", i, f, table[i].free);
        }
    }
}

// ---- zones --------------------------------------------------------------------------------------

static void in_the_open_the_command_passes_with_its_acceleration(void **state)
{
    (void)state;
    rig r;
    open_rig(&r);
    r.cmd.want = (pons_twist2){0.6, 0.0};
    tick(&r);
    assert_near(ticks(&r, 0.3).v, 0.3, 0.011); // 1 m/s²
    assert_near(ticks(&r, 0.5).v, 0.6, 1e-9);
    assert_int_equal(r.s.status.zone, PONS__ZONE_CLEAR);
    r.cmd.want = (pons_twist2){0};
    assert_near(ticks(&r, 0.1).v, 0.4, 0.011); // 2 m/s²
    assert_near(ticks(&r, 0.3).v, 0.0, 1e-9);
    r.cmd.want = (pons_twist2){9.0, -9.0};
    ticks(&r, 2.0);
    assert_near(r.state.twist.v, 0.6, 1e-9); // clamped to what the robot can
    assert_near(r.state.twist.w, -1.5, 1e-9);
    r.cmd.want = (pons_twist2){NAN, 1.0};
    assert_near(ticks(&r, 1.0).v, 0.0, 1e-9);
    assert_near(r.state.twist.w, 0.0, 1e-9);
}

static void it_stops_before_a_wall_without_a_surprise(void **state)
{
    (void)state;
    rig r;
    open_rig(&r);
    add_box(&r, 2.5, 0.0, 1.0, 4.0); // its face is at x = 2.0
    r.cmd.want = (pons_twist2){0.6, 0.0};
    bool approached = false;
    for (int i = 0; i < 200 * 20; i++) {
        tick(&r);
        approached = approached || r.s.status.zone == PONS__ZONE_APPROACH;
        assert_false(r.s.status.collision_risk);
    }
    assert_true(approached);
    assert_int_equal(r.s.status.zone, PONS__ZONE_STOP);
    assert_near(r.state.odom_from_base.x, 2.0 - 0.22 - 0.05, 0.02);
    assert_near(r.state.twist.v, 0.0, 1e-9);
}

static void a_robot_at_a_wall_may_turn_and_back_up(void **state)
{
    (void)state;
    rig r;
    open_rig(&r);
    add_box(&r, 0.76, 0.0, 1.0, 4.0); // 0.04 m before the footprint
    r.cmd.want = (pons_twist2){0.3, 0.0};
    assert_near(ticks(&r, 0.5).v, 0.0, 1e-9);
    assert_int_equal(r.s.status.zone, PONS__ZONE_STOP);
    r.cmd.want = (pons_twist2){0.3, 0.8}; // forward is taken away, the turn is left
    assert_near(ticks(&r, 0.5).v, 0.0, 1e-9);
    assert_near(r.state.twist.w, 0.8, 1e-9);
    r.cmd.want = (pons_twist2){0};
    ticks(&r, 1.0);
    r.state.odom_from_base.yaw = 0.0;
    look(&r);
    r.cmd.want = (pons_twist2){-0.2, 0.0};
    assert_true(ticks(&r, 0.5).v < -0.1);
}

static void backing_up_looks_behind(void **state)
{
    (void)state;
    rig r;
    open_rig(&r);
    add_box(&r, -1.5, 0.0, 1.0, 4.0); // its face is at x = -1.0
    r.cmd.want = (pons_twist2){-0.3, 0.0};
    ticks(&r, 20.0);
    assert_near(r.state.odom_from_base.x, -1.0 + 0.22 + 0.05, 0.02);
    assert_false(r.s.status.collision_risk);
}

static void a_door_of_0_9_m_is_passed(void **state)
{
    (void)state;
    rig r;
    open_rig(&r);
    add_box(&r, 2.0, 1.45, 0.1, 2.0); // jambs at y = ±0.45
    add_box(&r, 2.0, -1.45, 0.1, 2.0);
    r.cmd.want = (pons_twist2){0.6, 0.0};
    double slowest = 1.0;
    for (int i = 0; i < 200 * 10 && r.state.odom_from_base.x < 3.0; i++) {
        tick(&r);
        assert_false(r.s.status.collision_risk);
        if (r.state.odom_from_base.x > 1.0) {
            slowest = fmin(slowest, r.state.twist.v);
        }
    }
    assert_true(r.state.odom_from_base.x >= 3.0);
    assert_true(slowest > 0.4);  // near things limit the speed …
    assert_true(slowest < 0.55); // … a little
}

static void very_near_things_make_it_slow(void **state)
{
    (void)state;
    rig r;
    open_rig(&r);
    add_box(&r, 0.0, 1.28, 40.0, 2.0); // a wall along the way, 0.06 m beside the footprint
    r.cmd.want = (pons_twist2){0.6, 0.0};
    const double v = ticks(&r, 3.0).v;
    assert_int_equal(r.s.status.zone, PONS__ZONE_SLOW);
    assert_true(v > 0.12 && v < 0.25);
}

static void turning_in_place_is_slow_where_something_touches(void **state)
{
    (void)state;
    rig r;
    open_rig(&r);
    add_box(&r, 0.74, 0.0, 1.0, 4.0); // 0.02 m
    r.cmd.want = (pons_twist2){0.0, 1.0};
    assert_near(ticks(&r, 0.5).w, 1.0, 1e-9);
    open_rig(&r);
    add_box(&r, 0.725, 0.0, 1.0, 4.0); // 0.005 m
    r.cmd.want = (pons_twist2){0.0, 1.0};
    assert_near(ticks(&r, 0.5).w, 0.3, 1e-9); // slowly
    assert_int_equal(r.s.status.zone, PONS__ZONE_SLOW);
}

static void docking_may_come_closer_but_slowly(void **state)
{
    (void)state;
    rig r;
    open_rig(&r);
    add_box(&r, 1.5, 0.0, 1.0, 4.0); // its face is at x = 1.0
    r.cmd.want = (pons_twist2){0.6, 0.0};
    r.cmd.docking = true;
    double fastest = 0.0;
    for (int i = 0; i < 200 * 20; i++) {
        fastest = fmax(fastest, tick(&r).v);
    }
    assert_near(fastest, 0.15, 1e-9);
    assert_near(r.state.odom_from_base.x, 1.0 - 0.22 - 0.02, 0.01);
    assert_false(r.s.status.collision_risk);
}

static void only_a_surprise_is_a_collision_risk(void **state)
{
    (void)state;
    static const struct {
        double gap; // from the footprint to a box that appears before a robot at 0.6 m/s [m]
        bool risk;  // 0.36 / (2·(gap − 0.05)) > 1.5 m/s² below 0.17 m
    } table[] = {{0.60, false}, {0.30, false}, {0.25, false}, {0.14, true}, {0.08, true}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        rig r;
        open_rig(&r);
        r.cmd.want = (pons_twist2){0.6, 0.0};
        ticks(&r, 1.0);
        add_box(&r, r.state.odom_from_base.x + 0.22 + table[i].gap + 0.5, 0.0, 1.0, 1.0);
        look(&r); // seen at once
        ticks(&r, 0.05);
        if (r.s.status.collision_risk != table[i].risk) {
            fail_msg("gap %.2f: risk %d", table[i].gap, r.s.status.collision_risk);
        }
        ticks(&r, 0.8);
        assert_int_equal(r.s.status.collision_risk, table[i].risk); // long enough to be noticed
        ticks(&r, 2.0);
        assert_false(r.s.status.collision_risk);
        assert_near(r.state.twist.v, 0.0, 1e-9);
    }
}

// ---- silence, latch -----------------------------------------------------------------------------

static void an_old_command_brakes(void **state)
{
    (void)state;
    rig r;
    open_rig(&r);
    r.cmd.want = (pons_twist2){0.6, 0.5};
    ticks(&r, 2.0);
    r.stamps_stop = true;
    assert_near(ticks(&r, 0.2).v, 0.6, 1e-9); // 200 ms are allowed
    assert_near(ticks(&r, 0.1).v, 0.4, 0.011);
    assert_int_equal(r.s.status.zone, PONS__ZONE_OLD_COMMAND);
    assert_near(ticks(&r, 0.3).v, 0.0, 1e-9);
    r.stamps_stop = false;
    assert_true(ticks(&r, 0.3).v > 0.2); // it is no latch
}

static void an_old_scan_brakes_and_allows_no_turn(void **state)
{
    (void)state;
    rig r;
    open_rig(&r);
    assert_near(tick(&r).v, 0.0, 1e-9);
    r.cmd.want = (pons_twist2){0.6, 0.0};
    ticks(&r, 1.0);
    r.scans_stop = true;
    ticks(&r, 1.0);
    assert_int_equal(r.s.status.zone, PONS__ZONE_OLD_SCAN);
    assert_near(r.state.twist.v, 0.0, 1e-9);
    r.cmd.want = (pons_twist2){0.0, 1.0};
    assert_near(ticks(&r, 0.5).w, 0.0, 1e-9);
}

// Scans come as often as ever, and say nothing.
static void a_blind_lidar_is_none(void **state)
{
    (void)state;
    for (int how = SOUND; how < SPOILS; how++) {
        rig r;
        open_rig(&r);
        add_box(&r, 2.0, 0.0, 0.2, 2.0);
        r.cmd.want = (pons_twist2){0.6, 0.0};
        ticks(&r, 1.0);
        r.spoilt = how;
        ticks(&r, 4.0);
        if (r.state.odom_from_base.x + 0.22 > 1.9 || fabs(r.state.twist.v) > 1e-9 ||
            (r.s.status.zone == PONS__ZONE_OLD_SCAN) != (how != SOUND)) {
            fail_msg("%d: at %.2f m, %.2f m/s, %d", how, r.state.odom_from_base.x, r.state.twist.v,
                     r.s.status.zone);
        }
        r.spoilt = SOUND; // it sees again, and the robot goes on
        r.boxes[0].x = 9.0;
        assert_true(ticks(&r, 1.0).v > 0.2);
    }
}

static void before_the_first_scan_nothing_moves(void **state)
{
    (void)state;
    rig r;
    open_rig(&r);
    r.scans_stop = true;
    r.cmd.want = (pons_twist2){0.6, 1.0};
    ticks(&r, 0.5);
    assert_near(r.state.twist.v, 0.0, 1e-9);
    assert_near(r.state.twist.w, 0.0, 1e-9);
}

static void a_hold_brakes_and_is_no_latch(void **state)
{
    (void)state;
    rig r;
    open_rig(&r);
    r.cmd.want = (pons_twist2){0.6, 0.0};
    ticks(&r, 1.0);
    r.cmd.hold = true;
    assert_near(ticks(&r, 0.1).v, 0.4, 0.011);
    assert_int_equal(r.s.status.zone, PONS__ZONE_HELD);
    ticks(&r, 1.0);
    r.cmd.hold = false;
    assert_true(ticks(&r, 0.5).v > 0.4);
    r.cmd.alive_until_host_ns = r.now_ns; // the heartbeat is over, whatever the loop says
    assert_near(ticks(&r, 1.0).v, 0.0, 1e-9);
    assert_int_equal(r.s.status.zone, PONS__ZONE_HELD);
}

static void a_stop_writes_zero_at_once_and_latches(void **state)
{
    (void)state;
    rig r;
    open_rig(&r);
    r.cmd.want = (pons_twist2){0.6, 0.5};
    ticks(&r, 2.0);
    pons__safety_latch(&r.s, PONS__ORIGIN_STOP, "a person");
    const pons_twist2 out = tick(&r);
    assert_true(out.v == 0.0 && out.w == 0.0); // no ramp
    assert_string_equal(r.s.status.reason, "a person");
    ticks(&r, 5.0);
    assert_near(r.state.twist.v, 0.0, 0.0);

    // A reset lifts it, but the old goal's commands stay void.
    r.cmd.reset_count++;
    r.cmd.reset_latch = r.s.status.latch_count;
    r.cmd.reset_goal_seq = r.cmd.goal_seq;
    ticks(&r, 1.0);
    assert_false(r.s.status.latched);
    assert_near(r.state.twist.v, 0.0, 0.0);
    r.cmd.goal_seq++;
    assert_true(ticks(&r, 0.5).v > 0.4);
}

static void a_reset_lifts_only_what_it_was_meant_for(void **state)
{
    (void)state;
    rig r;
    open_rig(&r);
    tick(&r);
    pons__safety_latch(&r.s, PONS__ORIGIN_STOP, "first");
    const uint64_t seen = r.s.status.latch_count;
    pons__safety_latch(&r.s, PONS__ORIGIN_STOP,
                       "second"); // by the stop socket, as the reset is on its way
    r.cmd.reset_count++;
    r.cmd.reset_latch = seen;
    tick(&r);
    assert_true(r.s.status.latched);
    assert_string_equal(r.s.status.reason, "first");

    // A stop and then a reset that arrive together leave it free …
    r.cmd.stop_count++;
    r.cmd.reset_count++;
    r.cmd.reset_latch = r.s.status.latch_count + 1;
    tick(&r);
    assert_true(r.s.status.latched); // until the disk says so
    tick(&r);
    tick(&r);
    assert_false(r.s.status.latched);
    // … a reset and then a stop do not.
    r.cmd.reset_count++;
    r.cmd.reset_latch = r.s.status.latch_count;
    r.cmd.stop_count++;
    snprintf(r.cmd.reason, sizeof r.cmd.reason, "third");
    tick(&r);
    assert_true(r.s.status.latched);
    assert_string_equal(r.s.status.reason, "third");
}

static void a_fault_latches_again_after_a_reset(void **state)
{
    (void)state;
    rig r;
    open_rig(&r);
    tick(&r);
    r.fault = "NaN in qacc";
    tick(&r);
    assert_true(r.s.status.latched);
    r.cmd.reset_count++;
    r.cmd.reset_latch = r.s.status.latch_count;
    ticks(&r, 0.1);
    assert_true(r.s.status.latched);
    assert_true(r.s.status.latch_count > 1);
    assert_string_equal(r.s.status.reason, "NaN in qacc");
}

// A process that did not run for ten seconds: the wheels brake at once, and go on only with a scan
// and a command from after the gap. Both clocks count, each on its own.
static void after_a_gap_it_brakes_until_it_has_looked_again(void **state)
{
    (void)state;
    for (int which = 0; which < 2; which++) {
        rig r;
        open_rig(&r);
        add_box(&r, 20.0, 0.0, 1.0, 1.0);
        r.cmd.want.v = 0.5;
        assert_near(ticks(&r, 2.0).v, 0.5, 1e-9);
        assert_int_equal(r.s.status.gaps, 0);

        // The newest scan and command are stamped as late as the clock allows: at the gap itself.
        const int64_t gap_ns = 10 * PONS_NS_PER_S;
        r.now_ns += which ? gap_ns : TICK_NS;
        r.state.stamp_ns = r.cmd.stamp_ns = r.now_ns;
        look(&r);
        const int64_t host_ns = which ? r.now_ns : r.now_ns + gap_ns;
        double v = pons__safety_step(&r.s, &r.cmd, &r.state, &r.scan, NULL, r.now_ns, host_ns).v;
        assert_true(v < 0.5);
        assert_int_equal(r.s.status.gaps, 1);
        assert_int_equal(r.s.status.zone, PONS__ZONE_OLD_SCAN);

        // Commands alone do not move it, nor does a scan alone.
        for (int i = 1; i < 100; i++) {
            const int64_t now_ns = r.now_ns + i * TICK_NS;
            r.state.stamp_ns = r.cmd.stamp_ns = now_ns;
            const double next = pons__safety_step(&r.s, &r.cmd, &r.state, &r.scan, NULL, now_ns,
                                                  host_ns + i * TICK_NS)
                                    .v;
            assert_true(next < v || next == 0.0);
            v = next;
        }
        assert_true(v == 0.0);
        r.now_ns += 100 * TICK_NS;
        r.state.stamp_ns = r.now_ns;
        look(&r);
        r.cmd.stamp_ns = r.s.blind_until_ns;
        pons__safety_step(&r.s, &r.cmd, &r.state, &r.scan, NULL, r.now_ns, host_ns + 100 * TICK_NS);
        assert_int_equal(r.s.status.zone, PONS__ZONE_OLD_COMMAND);
        r.cmd.stamp_ns = r.now_ns;
        v = pons__safety_step(&r.s, &r.cmd, &r.state, &r.scan, NULL, r.now_ns + TICK_NS,
                              host_ns + 101 * TICK_NS)
                .v;
        assert_true(v > 0.0);
    }
}

static bool on_disk(const rig *r)
{
    return r->s.status.saved_gen == r->s.status.gen;
}

static void a_reset_waits_for_the_disk_and_a_stop_wins_over_it(void **state)
{
    (void)state;
    rig r;
    open_rig(&r);
    tick(&r);
    r.disk_full = true;
    pons__safety_latch(&r.s, PONS__ORIGIN_STOP, "first");
    tick(&r);
    assert_false(on_disk(&r));
    r.cmd.reset_count++;
    r.cmd.reset_latch = r.s.status.latch_count;
    ticks(&r, 1.0);
    assert_true(r.s.status.latched);
    assert_false(r.s.status.lifting); // not even begun: the latch itself is not there yet
    assert_true(pons__safety_want(&r.s).latched);

    // The latch gets there; its end is asked for, and not given.
    pons__safety_saved(&r.s, &(pons__latch_saved){.gen = r.s.status.gen});
    assert_true(r.s.status.latched && r.s.status.lifting);
    assert_false(pons__safety_want(&r.s).latched);
    const uint64_t lifting = r.s.status.gen;

    // While that is written a stop comes: the late answer of the disk lifts nothing, and the disk is
    // to say latched again.
    pons__safety_latch(&r.s, PONS__ORIGIN_STOP, "second");
    pons__safety_saved(&r.s, &(pons__latch_saved){.gen = lifting});
    ticks(&r, 1.0);
    assert_true(r.s.status.latched);
    assert_false(on_disk(&r));
    assert_true(pons__safety_want(&r.s).latched);
    assert_string_equal(r.s.status.reason, "second");

    // The same when the reset is taken back.
    r.disk_full = false;
    ticks(&r, 0.1);
    r.disk_full = true;
    r.cmd.reset_count++;
    r.cmd.reset_latch = r.s.status.latch_count;
    tick(&r);
    assert_true(r.s.status.lifting);
    r.cmd.reset_count++;
    r.cmd.reset_latch = 0;
    tick(&r);
    assert_false(r.s.status.lifting);
    r.disk_full = false;
    ticks(&r, 0.1);
    assert_true(r.s.status.latched && on_disk(&r));
}

static void a_persons_stop_takes_over_a_boots_doubt(void **state)
{
    (void)state;
    rig r;
    open_rig(&r);
    pons__safety_latch(&r.s, PONS__ORIGIN_BOOT, "boot: it ended badly");
    ticks(&r, 0.1);
    pons__safety_latch(&r.s, PONS__ORIGIN_STOP, "a person");
    assert_false(on_disk(&r)); // the disk must know whose it is
    assert_int_equal(r.s.status.origin, PONS__ORIGIN_STOP);
    ticks(&r, 0.1);
    pons__safety_latch(&r.s, PONS__ORIGIN_BOOT, "boot: again");
    assert_string_equal(r.s.status.reason, "a person");
    assert_true(on_disk(&r));
}

static double between(pons_rand *r, double low, double high)
{
    return low + pons_rand_unit(r) * (high - low);
}

// Points anywhere about a robot that stands, at least one inside the stop margin, and a command that
// may be anything: what passes brings the robot no nearer to any point inside the margin, and where
// one end faces away from all of them something does pass.
static void what_passes_leads_away_from_what_is_inside_the_margin(void **state)
{
    (void)state;
    const uint64_t seed = 20261122;
    printf("seed %llu\n", (unsigned long long)seed);
    pons_rand rand;
    pons_rand_seed(&rand, seed);
    int left = 0, stood = 0;
    for (int round = 0; round < 20000; round++) {
        rig r;
        open_rig(&r);
        const pons__safety_params *p = &r.s.p;
        const double margin = p->radius_m + p->stop_margin_m;
        r.scan = (pons_scan){.stamp_ns = r.now_ns + TICK_NS,
                             .n = BEAMS,
                             .angle_min = (float)-M_PI,
                             .angle_increment = (float)(2.0 * M_PI / BEAMS),
                             .range_min = 0.05f,
                             .range_max = 10.0f};
        for (int i = 0; i < BEAMS; i++) {
            r.scan.ranges[i] = INFINITY;
        }
        // One cluster or several; some further out.
        const int clusters = 1 + (int)(pons_rand_u64(&rand) % 3);
        for (int c = 0; c < clusters; c++) {
            const int at = (int)(pons_rand_u64(&rand) % BEAMS);
            const int wide = (int)(pons_rand_u64(&rand) % 40);
            for (int i = 0; i <= wide; i++) {
                r.scan.ranges[(at + i) % BEAMS] =
                    (float)between(&rand, 0.18, c == 0 && i == 0 ? margin : 0.6);
            }
        }
        r.cmd.want.v = between(&rand, -0.8, 0.8);
        r.cmd.want.w = between(&rand, -2.0, 2.0);
        r.now_ns += TICK_NS;
        r.state.stamp_ns = r.cmd.stamp_ns = r.now_ns;
        pons__safety_step(&r.s, &r.cmd, &r.state, &r.scan, NULL, r.now_ns, r.now_ns);
        pons_twist2 out = {0};
        for (int k = 1; k <= 10; k++) { // past the ramp; the robot is held, so nothing shifts
            const int64_t now_ns = r.now_ns + k * TICK_NS;
            r.state.stamp_ns = r.cmd.stamp_ns = now_ns;
            out = pons__safety_step(&r.s, &r.cmd, &r.state, &r.scan, NULL, now_ns, now_ns);
        }
        bool ahead = false, behind = false;
        for (int i = 0; i < BEAMS; i++) {
            const double range = (double)r.scan.ranges[i], a = -M_PI + i * 2.0 * M_PI / BEAMS;
            if (range >= margin) {
                continue;
            }
            const double x = range * cos(a), y = range * sin(a);
            ahead = ahead || x > -1e-6;
            behind = behind || x < 1e-6;
            // A millisecond later, along the arc that passed.
            const double far = hypot(x - out.v * 1e-3, y);
            if (far < range - 1e-9 - 0.5 * out.v * out.v * 1e-6) {
                fail_msg("round %d: v %.3f brings a point at (%.3f, %.3f) nearer", round, out.v, x,
                         y);
            }
        }
        if (!ahead && !behind) {
            continue; // covered by another cluster
        }
        assert_true(fabs(out.v) <= p->leave_mps + 1e-9);
        const bool wants_out = r.cmd.want.v > 0.1 ? !ahead : r.cmd.want.v < -0.1 && !behind;
        left += out.v != 0.0;
        stood += out.v == 0.0 && (ahead && behind);
        if (out.v == 0.0 && wants_out) { // something outside the margin may be in that way
            assert_true(r.s.status.free_m <= p->stop_margin_m + 1e-6);
        }
    }
    assert_true(left > 1000 && stood > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_free_way_has_these_lengths),
        cmocka_unit_test(in_the_open_the_command_passes_with_its_acceleration),
        cmocka_unit_test(it_stops_before_a_wall_without_a_surprise),
        cmocka_unit_test(a_blind_lidar_is_none),
        cmocka_unit_test(a_robot_at_a_wall_may_turn_and_back_up),
        cmocka_unit_test(backing_up_looks_behind),
        cmocka_unit_test(a_door_of_0_9_m_is_passed),
        cmocka_unit_test(very_near_things_make_it_slow),
        cmocka_unit_test(turning_in_place_is_slow_where_something_touches),
        cmocka_unit_test(docking_may_come_closer_but_slowly),
        cmocka_unit_test(only_a_surprise_is_a_collision_risk),
        cmocka_unit_test(an_old_command_brakes),
        cmocka_unit_test(an_old_scan_brakes_and_allows_no_turn),
        cmocka_unit_test(before_the_first_scan_nothing_moves),
        cmocka_unit_test(a_hold_brakes_and_is_no_latch),
        cmocka_unit_test(a_stop_writes_zero_at_once_and_latches),
        cmocka_unit_test(a_reset_lifts_only_what_it_was_meant_for),
        cmocka_unit_test(a_fault_latches_again_after_a_reset),
        cmocka_unit_test(after_a_gap_it_brakes_until_it_has_looked_again),
        cmocka_unit_test(a_reset_waits_for_the_disk_and_a_stop_wins_over_it),
        cmocka_unit_test(a_persons_stop_takes_over_a_boots_doubt),
        cmocka_unit_test(what_passes_leads_away_from_what_is_inside_the_margin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
