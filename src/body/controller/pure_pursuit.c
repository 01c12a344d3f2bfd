// pure_pursuit.c - follows a path: regulated pure pursuit.
//
// The robot steers for the carrot, the point LOOKAHEAD further along the path than its own
// projection on it, on the arc that leads there: curvature 2·sin(α)/L, α the carrot's bearing, L
// its distance (Coulter 1992). The speed is the least of what the rest allows (Macenski et al.,
// "Regulated pure pursuit", 2023):
//
//     straight on           speed_max
//     a tight arc           lateral acceleration and the yaw rate
//     near to something     in proportion to the clearance here and at the carrot
//     towards the end       √(2·a·distance left)
//
// Near to something the carrot is taken nearer, as far as it must, until the arc to it, or the turn towards it, is
// free for the robot's shape, with as much beside it as it has where it stands, at most SHAPE_MARGIN_M. So no bend
// is cut, and out of a place too near to something the path is followed as it was planned. (Who tries velocities looks
// at each of them.)
//
// Curves. A robot that cannot turn where it stands never does: it drives
// its tightest curve, and comes to the goal's heading by its path. By another name (`samples`) what is not a
// turn is driven by dwa_controller.c.
//
//              bearing > TURN_FROM               at the end, with a yaw
//     +-------+ -----------> +------+   +-------+ --------------> +-------+
//     | DRIVE |              | TURN |   | DRIVE |                 | ALIGN |--> DONE
//     +-------+ <----------- +------+   +-------+ --> DONE        +-------+
//              bearing < TURN_TO                   without
#include "body/controller/controller.h"

static const double LOOKAHEAD_S = 0.9; // how far ahead, in time at the present speed,
static const double LOOKAHEAD_MIN_M = 0.30, LOOKAHEAD_MAX_M = 0.60;
static const double TURN_FROM_RAD = 0.90, TURN_FROM_STILL_RAD = 0.35, TURN_TO_RAD = 0.12;
static const double STILL_MPS = 0.05;
static const double LATERAL_MPS2 = 0.6;
static const double SLOW_FROM_M = 0.35; // clearance beyond the radius at which speed is full
static const double SLOWEST = 0.35;     // of speed_max, beside an obstacle
static const double CRAWL_MPS = 0.06;
static const double ARRIVED_M = 0.04;     // goes on until this near
static const double SEARCH_AHEAD_M = 0.8; // where the projection may have moved to in a step
static const double YAW_ACCEL_RADPS2 = 3.0;
static const double NEAREST_M = 0.12;      // that the carrot is taken to
static const double SHAPE_MARGIN_M = 0.06; // the gate's 0.05, and a little
static const double LAG_S = 0.3; // a command runs ahead of the measured speed by no more than this

void pons__follower_begin(pons__follower *f, pons_twist2 twist)
{
    *f = (pons__follower){.phase = PONS__FOLLOW_DRIVE, .cmd = twist};
}

void pons__follower_new_path(pons__follower *f, double from_s)
{
    f->s = from_s;
    if (f->phase != PONS__FOLLOW_TURN) {
        f->phase = PONS__FOLLOW_DRIVE;
    }
}

// Share of the full speed that the clearance at a point allows.
static double clearance_share(const pons__nav_params *p, const pons__costmap *g, double x, double y)
{
    const double room = ((double)pons__costmap_dist(g, x, y) - p->radius_m) / SLOW_FROM_M;
    return room < SLOWEST ? SLOWEST : room > 1.0 ? 1.0 : room;
}

static double regulated_speed(const pons__nav_params *p, const pons__costmap *g, pons_pose2 pose,
                              double carrot_x, double carrot_y, double curvature, double left)
{
    double v = p->speed_max_mps;
    v *= fmin(clearance_share(p, g, pose.x, pose.y), clearance_share(p, g, carrot_x, carrot_y));
    const double k = fabs(curvature);
    if (k > 1e-6) {
        v = fmin(v, sqrt(LATERAL_MPS2 / k));
        v = fmin(v, 0.8 * p->yaw_rate_max_radps / k);
    }
    // Half of the acceleration for braking leaves the other half for what was not foreseen.
    return fmin(v, fmax(CRAWL_MPS, sqrt(p->accel_mps2 * left)));
}

// Of the arc to a point; no tighter than the base can.
static double curve_to(const pons__nav_params *p, double dist, double bearing)
{
    const double k = 2.0 * sin(bearing) / fmax(dist, 0.1), r = p->turning_radius_m;
    if (r <= 0.0) {
        return k;
    }
    return fabs(bearing) > 0.5 * M_PI ? copysign(1.0 / r, bearing)
                                      : fmin(fmax(k, -1.0 / r), 1.0 / r);
}

static bool is_free(const pons__nav_params *p, const pons__costmap *g, pons_pose2 at, double margin)
{
    return p->shape ? pons__shape_free(p->shape, g, at, margin)
                    : (double)pons__costmap_dist(g, at.x, at.y) >= p->radius_m + margin;
}

// How much must be free beside the robot on its way, which is no more than there is where it stands.
static double margin_at(const pons__nav_params *p, const pons__costmap *g, pons_pose2 pose)
{
    if (p->shape && p->shape->n > 0) {
        return is_free(p, g, pose, SHAPE_MARGIN_M) ? SHAPE_MARGIN_M : 0.5 * SHAPE_MARGIN_M;
    }
    return fmin(SHAPE_MARGIN_M, (double)pons__costmap_dist(g, pose.x, pose.y) - p->radius_m);
}

// Is the arc to the carrot, or the turn towards it, free for the shape?
static bool fits(const pons__nav_params *p, const pons__costmap *g, pons_pose2 pose, double dist,
                 double bearing, double turn_from)
{
    const bool turns = fabs(bearing) > turn_from;
    const double margin = margin_at(p, g, pose);
    const double turn = turns ? bearing : 2.0 * bearing, far = turns ? 0.0 : dist;
    const int n = 1 + (int)fmax(fabs(turn) / 0.15, far / g->res);
    for (int i = 1; i <= n; i++) {
        const double share = (double)i / n, half = 0.5 * turn * share;
        const pons_pose2 at = {pose.x + far * share * cos(pose.yaw + half),
                               pose.y + far * share * sin(pose.yaw + half),
                               pose.yaw + turn * share};
        if (!is_free(p, g, at, margin)) {
            return false;
        }
    }
    return true;
}

static pons_twist2 drive(pons__follower *f, const pons__nav_params *p, const pons__costmap *g,
                         const pons__path *path, pons_pose2 pose, pons_twist2 twist, bool has_yaw)
{
    const double end_x = path->x[path->n - 1], end_y = path->y[path->n - 1];
    const double to_end = hypot(end_x - pose.x, end_y - pose.y);
    const double left = fmax(pons__path_length(path) - f->s, 0.0);
    const double ahead = cos(pose.yaw) * (end_x - pose.x) + sin(pose.yaw) * (end_y - pose.y);
    const bool near_end = left <= p->xy_tolerance_m && to_end <= p->xy_tolerance_m;
    if (near_end && (to_end <= fmin(ARRIVED_M, p->xy_tolerance_m) || ahead <= 0.0)) {
        f->phase = has_yaw && p->turning_radius_m <= 0.0 ? PONS__FOLLOW_ALIGN : PONS__FOLLOW_DONE;
        return (pons_twist2){0.0, 0.0};
    }
    double reach = LOOKAHEAD_S * fabs(twist.v);
    reach = fmin(fmax(reach, LOOKAHEAD_MIN_M), LOOKAHEAD_MAX_M);
    const double turn_from = p->turning_radius_m > 0.0   ? INFINITY
                             : fabs(twist.v) < STILL_MPS ? TURN_FROM_STILL_RAD
                                                         : TURN_FROM_RAD;
    double cx, cy, dist, bearing;
    for (;; reach *= 0.6) {
        pons__path_at(path, f->s + reach, &cx, &cy);
        dist = hypot(cx - pose.x, cy - pose.y);
        bearing = pons_wrap_angle(atan2(cy - pose.y, cx - pose.x) - pose.yaw);
        if (f->samples || 0.6 * reach < NEAREST_M || fits(p, g, pose, dist, bearing, turn_from)) {
            break;
        }
    }

    // So close, a bearing says little: the last centimetres are driven straight.
    if (dist < 0.5 * p->xy_tolerance_m && fabs(bearing) < TURN_FROM_RAD) {
        return (pons_twist2){fmin(CRAWL_MPS + dist, p->speed_max_mps), 0.0};
    }
    if (f->phase == PONS__FOLLOW_TURN ? fabs(bearing) > TURN_TO_RAD : fabs(bearing) > turn_from) {
        f->phase = PONS__FOLLOW_TURN;
        return (pons_twist2){0.0, pons__turn_rate(p, bearing)};
    }
    f->phase = PONS__FOLLOW_DRIVE;
    if (f->samples) {
        return pons__sample(p, g, path, f->s, pose, f->cmd,
                            fmin(p->speed_max_mps, fmax(CRAWL_MPS, sqrt(p->accel_mps2 * left))));
    }
    const double curvature = curve_to(p, dist, bearing);
    const double v = regulated_speed(p, g, pose, cx, cy, curvature, left);
    const double w_max = p->yaw_rate_max_radps;
    return (pons_twist2){v, fmin(fmax(v * curvature, -w_max), w_max)};
}

static pons_twist2 align(pons__follower *f, const pons__nav_params *p, double yaw, pons_pose2 pose,
                         pons_twist2 twist)
{
    const double err = pons_wrap_angle(yaw - pose.yaw);
    // Well inside the tolerance before it counts, so that coming to rest cannot leave it.
    if (fabs(err) <= 0.2 * p->yaw_tolerance_rad && fabs(twist.w) < 0.3) {
        f->phase = PONS__FOLLOW_DONE;
        return (pons_twist2){0.0, 0.0};
    }
    return (pons_twist2){0.0, pons__turn_rate(p, err)};
}

pons_twist2 pons__follower_step(pons__follower *f, const pons__nav_params *p,
                                const pons__costmap *g, const pons__path *path,
                                const double *final_yaw, pons_pose2 pose, pons_twist2 twist,
                                double dt_s)
{
    f->s = pons__path_project(path, f->s, SEARCH_AHEAD_M, pose, &f->off_path);
    pons_twist2 want = {0.0, 0.0};
    if (f->phase == PONS__FOLLOW_DRIVE || f->phase == PONS__FOLLOW_TURN) {
        want = drive(f, p, g, path, pose, twist, final_yaw != NULL);
    }
    if (f->phase == PONS__FOLLOW_ALIGN) {
        want = align(f, p, *final_yaw, pose, twist);
    }
    f->cmd = pons__limit_accel(p, f->cmd, twist, want, dt_s);
    if (f->phase == PONS__FOLLOW_DONE) {
        f->cmd = (pons_twist2){0.0, 0.0};
    }
    return f->cmd;
}

double pons__turn_rate(const pons__nav_params *p, double err_rad)
{
    // The rate from which half of the yaw acceleration still stops in time; linear close by.
    const double mag = fabs(err_rad);
    double w = fmin(sqrt(YAW_ACCEL_RADPS2 * mag), 3.0 * mag);
    w = fmin(w, p->yaw_rate_max_radps);
    return err_rad < 0.0 ? -w : w;
}

static double approach(double from, double to, double step)
{
    return to > from + step ? from + step : to < from - step ? from - step : to;
}

pons_twist2 pons__limit_accel(const pons__nav_params *p, pons_twist2 last, pons_twist2 measured,
                              pons_twist2 want, double dt_s)
{
    // Someone between us and the wheels may be braking: a command that ran far ahead of the
    // measured speed would jump when the brake lifts.
    const double lag_v = p->accel_mps2 * LAG_S, lag_w = YAW_ACCEL_RADPS2 * LAG_S;
    last.v = fmin(fmax(last.v, measured.v - lag_v), measured.v + lag_v);
    last.w = fmin(fmax(last.w, measured.w - lag_w), measured.w + lag_w);
    return (pons_twist2){approach(last.v, want.v, p->accel_mps2 * dt_s),
                         approach(last.w, want.w, YAW_ACCEL_RADPS2 * dt_s)};
}
