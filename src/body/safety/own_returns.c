// own_returns.c - what a lidar sees of its own robot: posts, an arm, a load.
//
// The robot's own returns say nothing, to the gate as to costmap, localizer and mapper: a post hides what is behind it,
// and is no obstacle. They are told by where a beam ends:
//
//     inside an outline with corners   own: that is drawn around the robot, and nothing else can be there
//     inside a circle                  own where every scan saw the same from the first ones on, LEARN of them, and for the
//                                      gate while the robot has turned by TURN_RAD. A circle is wider than most robots: a
//                                      foot fits into it, before the wheels, but does not turn with the robot
//     in the last PRESSED_M of either  an obstacle: it may press against the robot
//     just outside                     an obstacle: from one scan nobody can tell
//
// A lidar with more than half of its beams on its own robot is covered: the whole scan says nothing, and the gate brakes
// as before a silent lidar.
//
// What sticks out of the outline is in the same directions at the same distance in every scan, whatever the robot does.
// A goal that fails meanwhile says where, so that a person can draw the outline around it. A wall beside a robot that stands
// looks alike but for its width: what is wider than WIDE_RAD is not told of.
//
// What was seen is kept by direction, for a lidar may give another number of beams in each scan.
#include "body/safety/own_returns.h"

#include <math.h>
#include <stdio.h>

static const double PRESSED_M = 0.04; // more than a lidar's noise
static const double BESIDE_M = 0.15;  // what is further out hinders nothing
static const float SAME_M = 0.03F;    // a lidar's noise
static const double WIDE_RAD = 0.6;
static const double TURN_RAD = 1.0;
enum { LEARN = 20, FIRST = 5 }; // scans

#define BIN_RAD (2.0 * M_PI / PONS__OWN_BINS)

static double angle_of(const pons_scan *s, int i)
{
    return (double)s->angle_min + i * (double)s->angle_increment;
}

static int bin_of(double angle)
{
    const int bin = (int)floor((pons_wrap_angle(angle) + M_PI) / BIN_RAD);
    return bin < PONS__OWN_BINS ? bin : PONS__OWN_BINS - 1;
}

// From the outline to where a beam ends [m]; negative inside.
static double beyond(const pons__own_returns *o, const pons_scan *s, double angle, float range)
{
    const pons_pose2 at = pons_pose_compose(
        s->from, (pons_pose2){(double)range * cos(angle), (double)range * sin(angle), 0.0});
    return o->outline.n > 0 ? pons_footprint_distance(&o->outline, at.x, at.y)
                            : hypot(at.x, at.y) - o->radius_m;
}

static bool same(float a, float b)
{
    return fabsf(a - b) <= SAME_M;
}

// What every scan has shown in a direction since the first ones: its range, or NAN when one has not.
static void keep(const pons__own_returns *o, float *at, bool there, float range)
{
    if (*at == INFINITY && o->scans <= FIRST) { // nothing yet
        *at = there ? range : NAN;
    } else if (!there || !same(*at, range)) {
        *at = NAN;
    }
}

static bool is_learned(const pons__own_returns *o)
{
    return o->scans > LEARN && (!o->cautious || o->turned_rad >= TURN_RAD);
}

// Whether a return from inside the circle is the robot's. A post's edge is hit now and then: its neighbour knows it.
static bool was_there(const pons__own_returns *o, const pons_scan *s, int bin, float range)
{
    const int around = 1 + (int)fmin(fabs((double)s->angle_increment) / BIN_RAD, 10.0);
    bool was = !is_learned(o) && !o->cautious;
    for (int k = -around; k <= around && is_learned(o); k++) {
        was = was || same(o->within[(bin + k + PONS__OWN_BINS) % PONS__OWN_BINS], range);
    }
    return was;
}

static void begin(pons__own_returns *o, double yaw)
{
    for (int i = 0; i < PONS__OWN_BINS; i++) {
        o->within[i] = o->beside[i] = INFINITY;
    }
    o->first_yaw = yaw;
}

// Whether the scan says anything: else it is none.
static bool says(const pons_scan *s, int n)
{
    bool any = false;
    for (int i = 0; i < n; i++) {
        any = any || !isnan(s->ranges[i]);
    }
    return any && isfinite(s->angle_min + s->angle_increment);
}

bool pons__own_returns_drop(pons__own_returns *o, double yaw, pons_scan *scan)
{
    const double reach = o->radius_m + hypot(scan->from.x, scan->from.y) + BESIDE_M;
    const int n = scan->n < PONS_SCAN_MAX ? scan->n : PONS_SCAN_MAX;
    int own = 0;
    if (!says(scan, n)) {
        return true;
    }
    if (o->scans++ == 0) {
        begin(o, yaw);
    }
    o->turned_rad = fmax(o->turned_rad, fabs(pons_wrap_angle(yaw - o->first_yaw)));
    for (int i = 0; i < n; i++) {
        const float r = scan->ranges[i];
        const double angle = angle_of(scan, i);
        const double out = r >= 0.0F && (double)r < reach ? beyond(o, scan, angle, r) : INFINITY;
        const bool inside = out < -PRESSED_M;
        const int bin = bin_of(angle);
        if (isnan(r)) {
            continue;
        }
        if (!is_learned(o)) {
            keep(o, &o->within[bin], inside, r);
        }
        keep(o, &o->beside[bin], !inside && out < BESIDE_M, r);
        if (inside && (o->outline.n > 0 || was_there(o, scan, bin, r))) {
            scan->ranges[i] = NAN;
            own++;
        }
    }
    o->covered = 2 * own > n;
    for (int i = 0; o->covered && i < n; i++) {
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
    const double wide = fmax(fabs((double)scan->angle_increment), BIN_RAD);
    const int gap = 1 + (int)(wide / BIN_RAD); // between two of one part
    for (int i = 0; o->scans >= LEARN && i < PONS__OWN_BINS; i++) {
        if (isfinite(o->beside[i])) {
            from = from < 0 ? i : from;
            to = all++ == 0 || i - to <= gap ? i : to; // of the first ones that lie side by side
            out = fmin(out, beyond(o, scan, (i + 0.5) * BIN_RAD - M_PI, o->beside[i]));
        }
    }
    if (o->covered || all == 0 || all * wide > WIDE_RAD) {
        return buf;
    }
    const double ahead = scan->from.yaw - M_PI, deg = 180.0 / M_PI;
    snprintf(buf, cap,
             "the lidar has always seen something %.2f m outside the robot's outline, from %.0f to "
             "%.0f degrees; if it is a part of the robot, draw robot.footprint around it",
             fmax(out, 0.0), deg * pons_wrap_angle(ahead + from * BIN_RAD),
             deg * pons_wrap_angle(ahead + (to + 1) * BIN_RAD));
    return buf;
}
