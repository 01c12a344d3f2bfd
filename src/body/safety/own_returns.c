// own_returns.c - what a lidar sees of its own robot: posts, an arm, a load.
//
// Nobody can tell a post from a foot by its distance: a foot fits into a robot's circle, and between its forks. So
//
//     lidar.own of the world       a person's word: the robot's own, and left out by the gate as by all others
//     else                         an obstacle, also inside the outline
//
// A robot that sees itself stands therefore, until it is told. A goal that fails meanwhile says in which direction something
// has been near the outline in every scan, and what to write. A wall beside a robot that stands looks alike but for its
// width: what is wider than WIDE_RAD is not told of.
//
// A lidar with more than half of its beams inside the outline is covered, which such a goal says as well.
#include "body/safety/own_returns.h"

#include <math.h>
#include <stdio.h>

static const double BESIDE_M = 0.15; // what is further out hinders nothing
static const float SAME_M = 0.03F;   // a lidar's noise
static const double WIDE_RAD = 0.6;
enum { SURE = 20 }; // scans

#define BIN_RAD (2.0 * M_PI / PONS__OWN_BINS)
#define DEG     (180.0 / M_PI)

static double angle_of(const pons_scan *s, int i)
{
    return (double)s->angle_min + i * (double)s->angle_increment;
}

static int beams(const pons_scan *s)
{
    return isfinite(s->angle_min + s->angle_increment) ? (int)fmin(s->n, PONS_SCAN_MAX) : 0;
}

// ---- parts --------------------------------------------------------------------------------------

void pons__own_parts_read(const pons_value *lidar, pons__own_parts *ret)
{
    *ret = (pons__own_parts){0};
    pons_each(part, pons_get(lidar, "own")) {
        const double from = pons_get_num(part, "from_deg", 0.0) / DEG,
                     to = pons_get_num(part, "to_deg", 0.0) / DEG;
        const double span = fmod(to - from + 4.0 * M_PI, 2.0 * M_PI);
        if (ret->n < PONS__OWN_PARTS) {
            ret->at[ret->n].from = from;
            ret->at[ret->n].span = span;
            ret->at[ret->n++].within_m = pons_get_num(part, "within_m", 0.0);
        }
    }
}

void pons__own_parts_drop(const pons__own_parts *p, pons_scan *scan)
{
    const int n = beams(scan);
    for (int k = 0; k < p->n; k++) {
        for (int i = 0; i < n; i++) {
            const double left = pons_wrap_angle(angle_of(scan, i) - p->at[k].from);
            const double past = left < 0.0 ? left + 2.0 * M_PI : left;
            if (past <= p->at[k].span && (double)scan->ranges[i] <= p->at[k].within_m) {
                scan->ranges[i] = NAN;
            }
        }
    }
}

// ---- by the outline -----------------------------------------------------------------------------

// From the outline to where a beam ends [m]; negative inside.
static double beyond(const pons__own_returns *o, const pons_scan *s, double angle, float range)
{
    const pons_pose2 at = pons_pose_compose(
        s->from, (pons_pose2){(double)range * cos(angle), (double)range * sin(angle), 0.0});
    return o->outline.n > 0 ? pons_footprint_distance(&o->outline, at.x, at.y)
                            : hypot(at.x, at.y) - o->radius_m;
}

static void keep(float *at, bool near, float range)
{
    if (*at == INFINITY) { // nothing yet
        *at = near ? range : NAN;
    } else if (!near || !(fabsf(*at - range) <= SAME_M)) {
        *at = NAN;
    }
}

void pons__own_returns_look(pons__own_returns *o, const pons_scan *scan)
{
    const double reach = o->radius_m + hypot(scan->from.x, scan->from.y) + BESIDE_M;
    const int n = beams(scan);
    int inside = 0;
    for (int i = 0; o->scans == 0 && i < PONS__OWN_BINS; i++) {
        o->near[i] = INFINITY;
    }
    o->scans++;
    for (int i = 0; i < n; i++) {
        const float r = scan->ranges[i];
        const double angle = angle_of(scan, i);
        const double out = r >= 0.0F && (double)r < reach ? beyond(o, scan, angle, r) : INFINITY;
        const int bin = (int)floor((pons_wrap_angle(angle) + M_PI) / BIN_RAD);
        keep(&o->near[bin < PONS__OWN_BINS ? bin : PONS__OWN_BINS - 1], out < BESIDE_M, r);
        inside += out < 0.0;
    }
    o->covered = 2 * inside > n;
}

// The first group of directions from there on in which something was always near; false: there is none.
static bool next_group(const pons__own_returns *o, int gap, int *from, int *to)
{
    while (*from < PONS__OWN_BINS && !isfinite(o->near[*from])) {
        ++*from;
    }
    *to = *from;
    for (int i = *from; i < PONS__OWN_BINS && i - *to <= gap; i++) {
        *to = isfinite(o->near[i]) ? i : *to;
    }
    return *from < PONS__OWN_BINS;
}

const char *pons__own_returns_say(const pons__own_returns *o, const pons_scan *scan, char *buf,
                                  size_t cap)
{
    const double wide = fmax(fabs((double)scan->angle_increment), BIN_RAD);
    const int gap = 1 + (int)fmin(wide / BIN_RAD, PONS__OWN_BINS); // between two of one part
    int from = 0, to = 0;
    snprintf(buf, cap, "%s",
             o->covered ? "the lidar is covered: most of what it sees is inside the robot's outline"
                        : "");
    for (; !o->covered && o->scans >= SURE && next_group(o, gap, &from, &to); from = to + 1) {
        if ((to + 1 - from) * BIN_RAD <= WIDE_RAD) {
            snprintf(buf, cap,
                     "the lidar has always seen something %.2f m from itself, from %d to %d "
                     "degrees; if it is a part of the robot, say so in lidar.own of its world",
                     (double)o->near[from], from - 180, to + 1 - 180);
            break;
        }
    }
    return buf;
}
