// own_returns.c - what a lidar sees of its own robot: posts, an arm, a load.
//
// The robot's own returns say nothing, to the gate as to costmap, localizer and mapper: a post hides what is behind it,
// and is no obstacle. They are told by where a beam ends:
//
//     inside an outline with corners   own: that is drawn around the robot, and nothing else can be there
//     inside a circle                  own where the lidar saw the same in its first LEARN scans, and for the gate until the
//                                      robot has turned by TURN_RAD. A circle is wider than most robots: a foot fits into
//                                      it, before the wheels, but does not turn with the robot
//     in the last PRESSED_M of either  an obstacle: it may press against the robot
//     just outside                     an obstacle: from one scan nobody can tell
//
// A lidar with more than half of its beams on its own robot is covered: the whole scan says nothing, and the gate brakes
// as before a silent lidar.
//
// What sticks out of the outline is in the same directions at the same distance in every scan, whatever the robot does.
// A goal that fails meanwhile says where, so that a person can draw the outline around it. A wall beside a robot that stands
// looks alike but for its width: what is wider than WIDE_RAD is not told of.
#include "body/safety/own_returns.h"

#include <math.h>
#include <stdio.h>

static const double PRESSED_M = 0.02;
static const double BESIDE_M = 0.15; // what is further out hinders nothing
static const float SAME_M = 0.03F;   // a lidar's noise
static const double WIDE_RAD = 0.6;
static const double TURN_RAD = 1.0;
enum { LEARN = 20 };

// From the outline to where a beam ends [m]; negative inside.
static double beyond(const pons__own_returns *o, const pons_scan *s, int i, float range)
{
    const double a = (double)s->angle_min + i * (double)s->angle_increment;
    const pons_pose2 at = pons_pose_compose(
        s->from, (pons_pose2){(double)range * cos(a), (double)range * sin(a), 0.0});
    return o->outline.n > 0 ? pons_footprint_distance(&o->outline, at.x, at.y)
                            : hypot(at.x, at.y) - o->radius_m;
}

static bool same(float a, float b)
{
    return fabsf(a - b) <= SAME_M;
}

// Whether a return from inside the circle is the robot's. The edge of a post is hit now and then: its neighbour knows it.
static bool was_there(pons__own_returns *o, int i, float range)
{
    const int before = (i + o->n - 1) % o->n, after = (i + 1) % o->n;
    float *at = &o->within[i];
    if (o->scans > LEARN && (!o->cautious || o->turned_rad >= TURN_RAD)) {
        return same(*at, range) || same(o->within[before], range) || same(o->within[after], range);
    }
    if (*at == INFINITY) {
        *at = range;
    }
    *at = same(*at, range) ? *at : NAN;
    return !o->cautious;
}

bool pons__own_returns_drop(pons__own_returns *o, double yaw, pons_scan *scan)
{
    const double reach = o->radius_m + hypot(scan->from.x, scan->from.y) + BESIDE_M;
    int own = 0;
    const bool as_many = o->n == scan->n || (o->n == PONS_SCAN_MAX && scan->n > o->n);
    if (!as_many || o->angle_min != scan->angle_min) {
        o->scans = 0;
        o->first_yaw = yaw;
        o->turned_rad = 0.0;
        o->n = scan->n < PONS_SCAN_MAX ? scan->n : PONS_SCAN_MAX;
        o->angle_min = scan->angle_min;
    }
    o->scans++;
    o->turned_rad = fmax(o->turned_rad, fabs(pons_wrap_angle(yaw - o->first_yaw)));
    for (int i = 0; i < o->n; i++) {
        const float r = scan->ranges[i];
        const double out = r >= 0.0F && (double)r < reach ? beyond(o, scan, i, r) : INFINITY;
        const bool inside = out < -PRESSED_M;
        if (o->scans == 1) {
            o->within[i] = INFINITY;
            o->beside[i] = !inside && out < BESIDE_M ? r : NAN;
        }
        o->beside[i] = same(o->beside[i], r) ? o->beside[i] : NAN;
        if (inside && (o->outline.n > 0 || was_there(o, i, r))) {
            scan->ranges[i] = NAN;
            own++;
        }
    }
    o->covered = 2 * own > o->n;
    for (int i = 0; o->covered && i < o->n; i++) {
        scan->ranges[i] = NAN;
    }
    return !o->covered;
}

const char *pons__own_returns_say(const pons__own_returns *o, const pons_scan *scan, char *buf,
                                  size_t cap)
{
    double out = INFINITY;
    int from = -1, to = -1, all = 0;
    snprintf(buf, cap, "%s",
             o->covered ? "the lidar is covered: most of what it sees is inside the robot's outline"
                        : "");
    for (int i = 0; o->scans >= LEARN && i < o->n; i++) {
        if (!isnan(o->beside[i])) {
            from = from < 0 ? i : from;
            to = all++ == i - from ? i : to; // of the first ones that lie side by side
            out = fmin(out, beyond(o, scan, i, o->beside[i]));
        }
    }
    if (o->covered || all == 0 || all * (double)scan->angle_increment > WIDE_RAD) {
        return buf;
    }
    const double ahead = scan->from.yaw + (double)scan->angle_min, deg = 180.0 / M_PI;
    snprintf(buf, cap,
             "the lidar has always seen something %.2f m outside the robot's outline, from %.0f to "
             "%.0f degrees; if it is a part of the robot, draw robot.footprint around it",
             fmax(out, 0.0), deg * pons_wrap_angle(ahead + from * (double)scan->angle_increment),
             deg * pons_wrap_angle(ahead + to * (double)scan->angle_increment));
    return buf;
}
