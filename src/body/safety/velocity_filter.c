// velocity_filter.c - the last gate before the wheels.
//
// Every velocity that reaches a driver has come through pons__safety_step(). It knows nothing of
// goals, maps or models; it sees a command, odometry and the newest scan, and it answers with the
// velocity that may be written now. It allocates nothing, locks nothing and asks nobody, so the
// safety thread can call it at any time and a test can call it with numbers.
//
//     command --> void? --> too old? --> clamp --> zones --> acceleration --> driver
//                  | latch     | 200 ms            | lidar     | a, brake
//                  v           v                   v           v
//                 zero now    brake              slower      ramp
//
// **Latch.** A stop, a driver's fault or a body that ended badly latches: zero is written at once,
// and only a reset lifts it. Commands of goals that had started before the latch stay void after
// the reset: only a new command moves the robot again.
//
// The latch has a copy on the disk, which another thread writes (latch_thread.c). Here is decided what it
// shall say: each change of it has a number, `gen`, and what is on the disk is known by the number
// that comes back.
//
//     free --stop: gen+1--> latched --reset, once gen is saved: gen+1--> lifting --gen saved--> free
//                              ^                                            |
//                              +------------ stop, or reset taken back: gen+1
//
// The wheels are free only after the disk says so, and a stop's `latched` is told only when the disk
// says latched; so a stop that comes while a reset is being written wins, on the disk as well.
//
// **Zones.** The scan's points are kept in the odometry frame, so they stay right while the robot
// moves between two scans. A command (v, w) is an arc; the footprint's disc, wider by a margin,
// swept along that arc, meets the first point after `free` metres. Then
//
//     stop       free ≤ stop_margin            v = 0; turning in place is still allowed
//     approach   v ≤ √(2·a·(free − margin))    the speed from which comfortable braking suffices
//     limit      something within limit_m      v falls linearly with clearance …
//     slow       something within slow_m       … down to a creep
//
// v is lowered along the same arc (w in proportion), so the robot goes where it was told, only
// slower. Backing up looks behind. Docking may come closer, but only slowly. A disc sweeps nothing
// when it turns; where something touches it turns slowly. A footprint with corners is swept as the polygon
// it is (footprint_sweep.c), and does sweep when it turns: it turns as fast as it could still stop. What no lidar sees, zones that the world
// keeps robots out of or slow in, lowers v likewise (zone_limits.c), and so does a person who wants all of it
// slower (person_speed_limit.c).
//
// **The way out.** Something may be nearer than the stop margin all the same: it came by itself, or
// nobody looked for a while. Then nothing passes that brings the robot nearer to any point inside
// the margin: v must point away from all of them, and is slow; of a polygon v and w together. Turning in place
// changes no distance from a disc, so a robot beside a wall turns until one end faces away from it, and leaves. Between
// two points of which one lies ahead and one behind, it stands.
//
// **Collision risk** is not "something is near": passing a door and stopping before a wall are
// ordinary. It is set when stopping before what is ahead would need more than `surprise_mps2`,
// which the approach zone never allows to arise from anything the lidar saw in time.
#include "body/safety/velocity_filter.h"

#include "body/safety/footprint_sweep.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define REACH_M        3.0  // points further than this do not matter to the gate
#define STRAIGHT       1e-3 // curvature below which an arc counts as a line [1/m]
#define STILL_MPS      1e-3 // slower than this is standing
#define STILL_RADPS    1e-2
#define TURN_ROOM_RAD  0.01     // that is left between a corner and what it must not come near
#define RISK_MIN_MPS   0.15     // slower than this cannot surprise: noise in free/v² is too large
#define MAX_STEP_NS    50000000 // a longer gap between two steps ramps like this one
#define ODOM_MAX_GAP_S 0.3      // further than this from any sample, a scan's pose is not guessed

// ---- inputs -------------------------------------------------------------------------------------

static void remember_odom(pons__safety *s, const pons_robot_state *state)
{
    if (s->odom_n > 0) {
        const int newest = (s->odom_head + PONS__SAFETY_HISTORY - 1) % PONS__SAFETY_HISTORY;
        if (s->odom[newest].stamp_ns >= state->stamp_ns) {
            return;
        }
    }
    s->odom[s->odom_head].stamp_ns = state->stamp_ns;
    s->odom[s->odom_head].pose = state->odom_from_base;
    s->odom_head = (s->odom_head + 1) % PONS__SAFETY_HISTORY;
    if (s->odom_n < PONS__SAFETY_HISTORY) {
        s->odom_n++;
    }
}

// The sample nearest to a stamp; samples are milliseconds apart. false when none is near.
static bool odom_at(const pons__safety *s, int64_t stamp_ns, pons_pose2 *ret)
{
    double best = ODOM_MAX_GAP_S;
    bool found = false;
    for (int i = 0; i < s->odom_n; i++) {
        const double gap = fabs((double)(s->odom[i].stamp_ns - stamp_ns)) / (double)PONS_NS_PER_S;
        if (gap <= best) {
            best = gap;
            *ret = s->odom[i].pose;
            found = true;
        }
    }
    return found;
}

static void take_scan(pons__safety *s, const pons_scan *newest)
{
    pons_pose2 base = {0};
    pons_scan all = *newest;
    const pons_scan *scan = &all;
    if (!odom_at(s, scan->stamp_ns, &base) ||
        !isfinite(scan->from.x + scan->from.y + scan->from.yaw)) {
        return;
    }
    pons__self_filter_apply(&s->p.self_filter, &all);
    // A lidar that says nothing at all is none, however often it says it.
    const double near = fmax((double)scan->range_min, 0.0);
    bool says = false;
    for (int i = 0; i < scan->n && i < PONS_SCAN_MAX; i++) {
        says = says || (double)scan->ranges[i] >= near;
    }
    if (!says || !isfinite(scan->angle_min + scan->angle_increment + scan->range_min)) {
        return;
    }
    const pons_pose2 at = pons_pose_compose(base, scan->from); // the lidar
    const double reach = REACH_M + hypot(scan->from.x, scan->from.y);
    s->scan_stamp_ns = scan->stamp_ns;
    s->n = 0;
    const double c = cos(at.yaw), sn = sin(at.yaw);
    for (int i = 0; i < scan->n && i < PONS_SCAN_MAX; i++) {
        const double range = (double)scan->ranges[i];
        if (!(range >= near && range <= reach)) {
            continue; // no return, too far to matter, or not a number
        }
        const double a = (double)scan->angle_min + i * (double)scan->angle_increment;
        const double x = range * cos(a), y = range * sin(a);
        s->px[s->n] = at.x + c * x - sn * y;
        s->py[s->n] = at.y + sn * x + c * y;
        s->n++;
    }
}

static void points_to_base(pons__safety *s, pons_pose2 odom_from_base)
{
    const double c = cos(odom_from_base.yaw), sn = sin(odom_from_base.yaw);
    double nearest2 = INFINITY;
    for (int i = 0; i < s->n; i++) {
        const double dx = s->px[i] - odom_from_base.x, dy = s->py[i] - odom_from_base.y;
        s->bx[i] = c * dx + sn * dy;
        s->by[i] = c * dy - sn * dx;
        const double d2 = dx * dx + dy * dy;
        nearest2 = d2 < nearest2 ? d2 : nearest2;
    }
    s->status.nearest_m = sqrt(nearest2);
}

static void change(pons__safety *s)
{
    s->status.gen++;
    s->status.unsaved[0] = '\0';
}

// A reset, as far as the disk allows: lifting begins when the latch is there, and ends when its end
// is. A pace that is on the disk is in force.
static void go_on(pons__safety *s)
{
    pons__safety_status *st = &s->status;
    if (st->saved_gen != st->gen) {
        return;
    }
    st->taken_pct = st->taken_seen;
    if (st->lifting) {
        st->latched = st->lifting = false;
        st->origin = PONS__ORIGIN_NONE;
        if (s->lift_goal_seq > s->dead_goal_seq) {
            s->dead_goal_seq = s->lift_goal_seq;
        }
    } else if (s->lift_wanted) {
        s->lift_wanted = false;
        st->lifting = true;
        change(s);
    }
}

static pons__zone check_inputs(const pons__safety *s, const pons__command *cmd, int64_t robot_ns,
                               int64_t host_ns)
{
    if (s->status.latched) {
        return PONS__ZONE_LATCHED;
    }
    if (s->lacks) {
        return PONS__ZONE_LACKS;
    }
    const bool moves = cmd->want.v != 0.0 || cmd->want.w != 0.0;
    if (s->scan_stamp_ns < 0 || robot_ns - s->scan_stamp_ns > s->p.scan_timeout_ns ||
        s->scan_stamp_ns <= s->blind_until_ns) {
        return PONS__ZONE_OLD_SCAN;
    }
    if (robot_ns - cmd->stamp_ns > s->p.cmd_timeout_ns || cmd->stamp_ns <= s->blind_until_ns ||
        (moves && cmd->goal_seq <= s->dead_goal_seq)) {
        return PONS__ZONE_OLD_COMMAND;
    }
    if (cmd->hold || (moves && host_ns > cmd->alive_until_host_ns)) {
        return PONS__ZONE_HELD;
    }
    return PONS__ZONE_CLEAR;
}

// ---- zones --------------------------------------------------------------------------------------

// How far the footprint, wider by a margin, may go along an arc.
static double free_along(const pons__safety *s, double margin, int dir, double curvature)
{
    const pons__safety_params *p = &s->p;
    return p->footprint.n > 0 ? pons__sweep_free(&p->footprint, s->bx, s->by, s->n, margin, dir,
                                                 curvature, REACH_M)
                              : pons__safety_free(s->bx, s->by, s->n, p->radius_m + margin, dir,
                                                  curvature, REACH_M);
}

// From the footprint to the nearest return; exact where it matters.
static double clearance_of(const pons__safety *s)
{
    const pons_footprint *f = &s->p.footprint;
    const double round = s->status.nearest_m - s->p.radius_m;
    if (f->n == 0 || round >= s->p.limit_m) {
        return round;
    }
    const double reach = s->p.radius_m + s->p.limit_m;
    double nearest = s->p.limit_m;
    for (int i = 0; i < s->n; i++) {
        if (s->bx[i] * s->bx[i] + s->by[i] * s->by[i] < reach * reach) {
            nearest = fmin(nearest, pons_footprint_distance(f, s->bx[i], s->by[i]));
        }
    }
    return nearest;
}

// How fast it may turn where it stands. A disc sweeps nothing when it turns. A polygon's corners do: it
// turns as fast as it can still stop before one comes within the side margin of something.
static double turn_limit(const pons__safety *s, double clearance, double w)
{
    const pons__safety_params *p = &s->p;
    const double near = clearance <= p->turn_margin_m ? p->leave_radps : p->yaw_rate_max_radps;
    if (p->footprint.n == 0 || w == 0.0) {
        return near;
    }
    const double room =
        pons__sweep_turn(&p->footprint, s->bx, s->by, s->n, p->side_margin_m, w < 0.0 ? -1 : 1);
    const double most = sqrt(p->yaw_accel_radps2 * fmax(room - TURN_ROOM_RAD, 0.0));
    return most < STILL_RADPS ? 0.0 : fmin(near, most);
}

// Does that way lead nearer to anything inside the stop margin? And is there anything?
static bool nearer_to_any(const pons__safety *s, pons_twist2 want, bool *ret_inside)
{
    const pons_footprint *f = &s->p.footprint;
    const int dir = want.v < 0.0 ? -1 : 1;
    const double reach = s->p.radius_m + s->p.stop_margin_m;
    bool nearer = false;
    *ret_inside = false;
    for (int i = 0; i < s->n; i++) {
        const double x = s->bx[i], y = s->by[i];
        if (x * x + y * y >= reach * reach) {
            continue;
        }
        if (f->n == 0) {
            *ret_inside = true;
            nearer = nearer || dir * x > 0.0;
        } else if (pons_footprint_distance(f, x, y) < s->p.stop_margin_m) {
            *ret_inside = true;
            nearer = nearer || pons__sweep_nearer(f, x, y, s->p.stop_margin_m, want);
        }
    }
    return nearer;
}

static double clamp(double x, double lo, double hi)
{
    return x < lo ? lo : x > hi ? hi : x;
}

static pons_twist2 zones(pons__safety *s, pons_twist2 want, bool docking)
{
    const pons__safety_params *p = &s->p;
    const double clearance = clearance_of(s);
    if (fabs(want.v) < STILL_MPS) {
        const double turn_max = turn_limit(s, clearance, want.w);
        want.v = 0.0;
        if (fabs(want.w) > turn_max) {
            s->status.zone = turn_max > 0.0 ? PONS__ZONE_SLOW : PONS__ZONE_STOP;
            want.w = copysign(turn_max, want.w);
        }
        return want;
    }
    const int dir = want.v < 0.0 ? -1 : 1;
    const double margin = docking ? p->dock_margin_m : p->stop_margin_m;
    s->status.free_m = free_along(s, p->side_margin_m, dir, want.w / want.v);

    double cap = fabs(want.v);
    bool inside = false;
    if (!docking && nearer_to_any(s, want, &inside)) {
        cap = 0.0;
    } else if (inside && cap > p->leave_mps) {
        cap = p->leave_mps;
        s->status.zone = PONS__ZONE_SLOW;
    }
    if (!docking && clearance < p->limit_m) {
        const double share = clamp(clearance / p->limit_m, 0.0, 1.0);
        const double near = p->creep_mps + share * (p->speed_max_mps - p->creep_mps);
        if (near < cap) {
            cap = near;
            s->status.zone = clearance < p->slow_m ? PONS__ZONE_SLOW : PONS__ZONE_LIMIT;
        }
    }
    const double usable = fmax(s->status.free_m - margin, 0.0);
    const double approach = sqrt(2.0 * p->approach_mps2 * usable);
    if (approach < cap) {
        cap = approach;
        s->status.zone = PONS__ZONE_APPROACH;
    }
    // It turns on when v is 0 already: not further than a corner may.
    if (p->footprint.n > 0 && want.w != 0.0) {
        const double bend = fabs(want.w / want.v);
        const double arc = sqrt(p->yaw_accel_radps2 * fmax(usable * bend - TURN_ROOM_RAD, 0.0));
        // (On an arc that is free, what hardly turns is no turn.)
        const double most = fmax(fmin(arc, turn_limit(s, clearance, want.w)), STILL_RADPS);
        if (most / bend < cap) {
            cap = most / bend;
            s->status.zone = PONS__ZONE_APPROACH;
        }
    }
    if (cap < STILL_MPS) { // no further this way; it may still turn
        const double turn_max = turn_limit(s, clearance, want.w);
        s->status.zone = PONS__ZONE_STOP;
        return (pons_twist2){0.0, clamp(want.w, -turn_max, turn_max)};
    }
    const double scale = cap / fabs(want.v);
    return (pons_twist2){want.v * scale, want.w * scale};
}

// Looks along the motion that is, not the one that is wanted.
static void watch_risk(pons__safety *s, double margin, int64_t robot_ns)
{
    const double v = s->last.v;
    if (fabs(v) >= RISK_MIN_MPS) {
        const double ahead = free_along(s, 0.0, v < 0.0 ? -1 : 1, s->last.w / v);
        const double usable = fmax(ahead - margin, 0.0);
        if (v * v > 2.0 * s->p.surprise_mps2 * usable) {
            s->risk_until_ns = robot_ns + s->p.risk_hold_ns;
        }
    }
    s->status.collision_risk = robot_ns < s->risk_until_ns;
}

static pons_twist2 clamp_to_caps(const pons__safety_params *p, pons_twist2 want, bool docking)
{
    if (!isfinite(want.v) || !isfinite(want.w)) {
        return (pons_twist2){0};
    }
    const double forward = docking ? fmin(p->dock_mps, p->speed_max_mps) : p->speed_max_mps;
    const double back = docking ? fmin(p->dock_mps, p->reverse_max_mps) : p->reverse_max_mps;
    return (pons_twist2){clamp(want.v, -back, forward),
                         clamp(want.w, -p->yaw_rate_max_radps, p->yaw_rate_max_radps)};
}

// One step towards a target: `brake` while the speed falls, `accel` while it rises; a change of
// sign goes through zero.
static double ramp(double from, double to, double accel, double brake, double dt)
{
    const bool falls = (from > 0.0 && to < from) || (from < 0.0 && to > from);
    if (!falls) {
        return from + clamp(to - from, -accel * dt, accel * dt);
    }
    const double floor_ = from * to > 0.0 ? to : 0.0;
    const double next = from + clamp(floor_ - from, -brake * dt, brake * dt);
    return next;
}

// ---- public functions ---------------------------------------------------------------------------

const char *pons__zone_word(pons__zone z)
{
    static const char *const words[] = {
#define ZONE_WORD(sym, word) [sym] = word,
        PONS__ZONE_TABLE(ZONE_WORD)
#undef ZONE_WORD
    };
    return words[z];
}

void pons__safety_params_from_caps(pons__safety_params *p, const pons_robot_caps *caps)
{
    *p = (pons__safety_params){
        .radius_m = caps->radius_m,
        .footprint = caps->footprint,
        .speed_max_mps = caps->speed_max_mps,
        .reverse_max_mps = caps->reverse_max_mps,
        .yaw_rate_max_radps = caps->yaw_rate_max_radps,
        .accel_mps2 = caps->accel_max_mps2,
        .brake_mps2 = caps->brake_max_mps2,
        .yaw_accel_radps2 = caps->yaw_accel_max_radps2,
        .approach_mps2 = fmin(0.8 * caps->accel_max_mps2, 0.4 * caps->brake_max_mps2),
        .surprise_mps2 = 0.75 * caps->brake_max_mps2,
        .stop_margin_m = 0.05,
        .side_margin_m = 0.02,
        .turn_margin_m = 0.01,
        .leave_mps = 0.08,
        .leave_radps = 0.3,
        .slow_m = 0.10,
        .limit_m = 0.30,
        .creep_mps = 0.12,
        .dock_mps = 0.15,
        .dock_margin_m = 0.0,
        .cmd_timeout_ns = 200 * PONS_NS_PER_MS,
        .scan_timeout_ns = 300 * PONS_NS_PER_MS,
        .risk_hold_ns = PONS_NS_PER_S,
        .gap_host_ns = 250 * PONS_NS_PER_MS,
        .gap_robot_ns = 250 * PONS_NS_PER_MS,
    };
}

void pons__safety_init(pons__safety *s, const pons__safety_params *p)
{
    memset(s, 0, sizeof *s);
    s->p = *p;
    s->last_ns = -1;
    s->blind_until_ns = INT64_MIN;
    s->scan_stamp_ns = -1;
    s->risk_until_ns = INT64_MIN;
    s->status.nearest_m = s->status.free_m = INFINITY;
    // 0 is no latch's: whoever has seen none names this one, and lifts no later stop.
    s->status.latch_count = 1;
}

void pons__safety_latch(pons__safety *s, pons__origin origin, const char *reason)
{
    pons__safety_status *st = &s->status;
    const bool doubt = st->origin == PONS__ORIGIN_BOOT || st->origin == PONS__ORIGIN_UNKNOWN;
    const bool kept = st->latched && !st->lifting && (!doubt || origin < PONS__ORIGIN_FAULT);
    st->latch_count++;
    s->lift_wanted = false;
    if (kept) {
        return;
    }
    st->latched = true;
    st->lifting = false;
    st->origin = origin;
    snprintf(st->reason, sizeof st->reason, "%s", reason && *reason ? reason : "stop");
    change(s);
}

// Stops first, then a reset, which lifts only the latch that it was meant for: a stop that came
// by another way since then, or after it, stays.
void pons__safety_requests(pons__safety *s, const pons__command *cmd, const char *fault)
{
    pons__safety_status *st = &s->status;
    if (cmd->stop_count != st->stops_seen) {
        st->latch_count += cmd->stop_count - st->stops_seen - 1;
        st->stops_seen = cmd->stop_count;
        pons__safety_latch(s, cmd->stop_origin, cmd->reason);
    }
    if (cmd->reset_count != st->resets_seen) {
        const bool meant = st->latched && cmd->reset_latch == st->latch_count;
        st->resets_seen = cmd->reset_count;
        s->lift_wanted = meant && !st->lifting;
        s->lift_goal_seq = cmd->reset_goal_seq;
        if (st->lifting && !meant) { // taken back: the disk must say latched again
            st->lifting = false;
            change(s);
        }
    }
    st->paces_seen = cmd->pace_count;
    if (cmd->taken_pct != st->taken_seen) {
        st->taken_seen = cmd->taken_pct;
        st->taken_pct = cmd->taken_pct > st->taken_pct ? cmd->taken_pct : st->taken_pct;
        change(s);
    }
    go_on(s);
    if (fault && !st->latched) {
        pons__safety_latch(s, PONS__ORIGIN_FAULT, fault);
    }
    if (st->latched) {
        const uint64_t newest =
            cmd->arm.goal_seq > cmd->goal_seq ? cmd->arm.goal_seq : cmd->goal_seq;
        s->dead_goal_seq = newest > s->dead_goal_seq ? newest : s->dead_goal_seq;
    }
}

void pons__safety_saved(pons__safety *s, const pons__latch_saved *saved)
{
    s->status.saved_gen = saved->gen;
    if (saved->gen == s->status.gen) {
        s->status.unsaved[0] = '\0';
    } else if (saved->tried == s->status.gen) { // of an older one it says nothing about this one
        snprintf(s->status.unsaved, sizeof s->status.unsaved, "%s", saved->why);
    }
    go_on(s);
}

pons__latch_want pons__safety_want(const pons__safety *s)
{
    const pons__safety_status *st = &s->status;
    pons__latch_want w = {.gen = st->gen,
                          .latched = st->latched && !st->lifting,
                          .origin = st->origin,
                          .taken_pct = st->taken_seen};
    snprintf(w.reason, sizeof w.reason, "%s", st->reason);
    return w;
}

pons_twist2 pons__safety_step(pons__safety *s, const pons__command *cmd,
                              const pons_robot_state *state, const pons_scan *scan,
                              const char *fault, int64_t robot_ns, int64_t host_ns)
{
    remember_odom(s, state);
    if (scan && scan->stamp_ns != s->scan_stamp_ns) {
        take_scan(s, scan);
    }
    points_to_base(s, state->odom_from_base);
    pons__safety_requests(s, cmd, fault);

    const int64_t passed = s->last_ns < 0 ? 0 : robot_ns - s->last_ns;
    const double dt = (double)(passed < 0             ? 0
                               : passed > MAX_STEP_NS ? MAX_STEP_NS
                                                      : passed) /
                      (double)PONS_NS_PER_S;
    if (s->last_ns >= 0 &&
        (host_ns - s->last_host_ns > s->p.gap_host_ns || passed > s->p.gap_robot_ns)) {
        s->blind_until_ns = robot_ns; // who knows what has happened meanwhile: brake, look again
        s->status.gaps++;
    }
    s->last_ns = robot_ns;
    s->last_host_ns = host_ns;
    s->status.scan_age_ns = s->scan_stamp_ns < 0 ? INT64_MAX : robot_ns - s->scan_stamp_ns;

    const bool docking = cmd->docking;
    pons_twist2 want = {0};
    s->status.zone = check_inputs(s, cmd, robot_ns, host_ns);
    s->status.free_m = INFINITY;
    if (s->status.zone == PONS__ZONE_CLEAR) {
        want = zones(s, clamp_to_caps(&s->p, cmd->want, docking), docking);
        want = pons__safety_ground(s, want,
                                   pons_pose_compose(cmd->map_from_odom, state->odom_from_base));
        want = pons__safety_pace(s, want);
    }
    watch_risk(s, docking ? s->p.dock_margin_m : s->p.stop_margin_m, robot_ns);

    pons_twist2 out = {0};
    if (s->status.zone != PONS__ZONE_LATCHED) {
        out.v = ramp(s->last.v, want.v, s->p.accel_mps2, s->p.brake_mps2, dt);
        out.w = ramp(s->last.w, want.w, s->p.yaw_accel_radps2, s->p.yaw_accel_radps2, dt);
    }
    s->last = s->status.out = out;
    s->status.ticks++;
    return out;
}

double pons__safety_free(const double *x, const double *y, int n, double r, int dir,
                         double curvature, double reach)
{
    // Going backwards along an arc is going forwards along its mirror image.
    const double k = dir < 0 ? -curvature : curvature;
    const double turn = fabs(k) < STRAIGHT ? INFINITY : 1.0 / fabs(k);
    const double side = k < 0.0 ? -1.0 : 1.0;
    const double inner = turn > r ? (turn - r) * (turn - r) : 0.0;
    const double outer = (turn + r) * (turn + r);
    double best = reach;
    for (int i = 0; i < n; i++) {
        const double px = dir * x[i], py = y[i] * (isinf(turn) ? 1.0 : side);
        const double d2 = px * px + py * py;
        if (d2 <= r * r) { // inside already: only the way out is free
            if (px > 0.0) {
                return 0.0;
            }
            continue;
        }
        if (d2 >= (best + r) * (best + r)) {
            continue; // no arc to it is shorter than the best one
        }
        if (isinf(turn)) {
            if (px > 0.0 && fabs(py) < r) {
                best = fmin(best, px - sqrt(r * r - py * py));
            }
            continue;
        }
        // The centre of the turn is (0, turn); the disc touches the point when the centre has gone
        // round by the point's angle less the half-angle under which the disc is seen there.
        const double cx = px, cy = turn - py;
        const double d2c = cx * cx + cy * cy;
        if (d2c <= inner || d2c >= outer || d2c < STRAIGHT * STRAIGHT) {
            continue;
        }
        const double d = sqrt(d2c);
        double angle = atan2(cx, cy); // 0 at the robot, rising along the way
        if (angle < 0.0) {
            angle += 2.0 * M_PI;
        }
        const double half = acos(clamp((turn * turn + d2c - r * r) / (2.0 * turn * d), -1.0, 1.0));
        best = fmin(best, fmax(angle - half, 0.0) * turn);
    }
    return best;
}
