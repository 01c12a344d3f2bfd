// lidar_self_filter.c - ignores the parts of the robot that its own lidar sees: posts, an arm, a load.
//
// A range alone cannot tell a post from a foot, for a foot fits into a robot's circle and between its forks. So only the
// parts that a person lists are ignored, by the gate as by the costmap, the localizer and the mapper. Everything else is an
// obstacle, also inside the outline.
//
// A robot that sees an unlisted part of itself does not move. The failed goal then names the direction in which something was
// near the outline in every scan. A wall beside a standing robot gives the same returns, so nothing wider than WIDE_RAD is
// reported. While the lidar is covered, the goal reports only that.
#include "body/sensing/lidar_self_filter.h"

#include <math.h>
#include <stdio.h>

static const double BESIDE_M = 0.15; // from the outline: returns further out do not stop the robot
static const float SAME_M = 0.03F;   // a lidar's noise
static const double WIDE_RAD = 0.6;
enum { SURE = 20 }; // scans before a part is reported

#define BIN_RAD (2.0 * M_PI / PONS__NEAR_BINS)
#define DEG     (180.0 / M_PI)

static double angle_of(const pons_scan *s, int i)
{
    return (double)s->angle_min + i * (double)s->angle_increment;
}

static int beams(const pons_scan *s)
{
    return isfinite(s->angle_min + s->angle_increment) ? (int)fmin(s->n, PONS_SCAN_MAX) : 0;
}

// ---- the filter ---------------------------------------------------------------------------------

void pons__self_filter_read(const pons_value *lidar, pons__self_filter *ret)
{
    *ret = (pons__self_filter){0};
    pons_each(part, pons_get(lidar, "self_filter")) {
        const double from = pons_get_num(part, "from_deg", 0.0),
                     to = pons_get_num(part, "to_deg", 0.0);
        const bool around = fabs(to - from) >= 360.0;
        if (ret->n < PONS__SELF_PARTS) {
            ret->at[ret->n].from = from / DEG;
            ret->at[ret->n].span = (around ? 360.0 : fmod(to - from + 720.0, 360.0)) / DEG;
            ret->at[ret->n++].within_m = pons_get_num(part, "within_m", 0.0);
        }
    }
}

void pons__self_filter_apply(const pons__self_filter *f, pons_scan *scan)
{
    const int n = beams(scan);
    for (int k = 0; k < f->n; k++) {
        for (int i = 0; i < n; i++) {
            const double left = pons_wrap_angle(angle_of(scan, i) - f->at[k].from);
            const double past = left < 0.0 ? left + 2.0 * M_PI : left;
            if (past <= f->at[k].span && (double)scan->ranges[i] <= f->at[k].within_m) {
                scan->ranges[i] = NAN;
            }
        }
    }
}

// ---- returns near the outline in every scan -----------------------------------------------------

// Distance from the outline to a beam's end [m]; negative inside.
static double beyond(const pons__near_returns *r, const pons_scan *s, double angle, float range)
{
    const pons_pose2 at = pons_pose_compose(
        s->from, (pons_pose2){(double)range * cos(angle), (double)range * sin(angle), 0.0});
    return r->outline.n > 0 ? pons_footprint_distance(&r->outline, at.x, at.y)
                            : hypot(at.x, at.y) - r->radius_m;
}

static void keep(float *at, bool near, float range)
{
    if (*at == INFINITY) { // the first beam in this direction
        *at = near ? range : NAN;
    } else if (!near || !(fabsf(*at - range) <= SAME_M)) {
        *at = NAN;
    }
}

void pons__near_returns_update(pons__near_returns *r, const pons_scan *scan)
{
    const double reach = r->radius_m + hypot(scan->from.x, scan->from.y) + BESIDE_M;
    const int n = beams(scan);
    int inside = 0;
    if (r->scans++ == 0) {
        for (int i = 0; i < PONS__NEAR_BINS; i++) {
            r->near[i] = INFINITY;
        }
    }
    for (int i = 0; i < n; i++) {
        const float range = scan->ranges[i];
        const double angle = angle_of(scan, i);
        const bool close = range >= 0.0F && (double)range < reach;
        const double out = close ? beyond(r, scan, angle, range) : INFINITY;
        const int bin = (int)floor((pons_wrap_angle(angle) + M_PI) / BIN_RAD);
        keep(&r->near[bin % PONS__NEAR_BINS], out < BESIDE_M, range);
        inside += out < 0.0;
    }
    r->covered = 2 * inside > n;
}

static bool is_near(const pons__near_returns *r, int bin)
{
    return isfinite(r->near[bin % PONS__NEAR_BINS]);
}

// How many bins, from this one on, belong to one part. A part may have gaps without returns of up to `gap` bins.
static int width_of(const pons__near_returns *r, int from, int gap)
{
    int last = 0;
    for (int i = 0; i < PONS__NEAR_BINS && i - last <= gap; i++) {
        last = is_near(r, from + i) ? i : last;
    }
    return last + 1;
}

// A bin that has more than `gap` bins without returns before it; -1: there is none, for something is all around the robot.
static int first_after_gap(const pons__near_returns *r, int gap)
{
    for (int from = 0, empty = 0; from < 2 * PONS__NEAR_BINS; from++) {
        if (is_near(r, from)) {
            empty = 0;
        } else if (++empty > gap) {
            return (from + 1) % PONS__NEAR_BINS;
        }
    }
    return -1;
}

// The first part that is narrow enough; false: there is none.
static bool find_part(const pons__near_returns *r, int gap, int *ret_from, int *ret_width)
{
    const int start = first_after_gap(r, gap);
    for (int i = 0; start >= 0 && i < PONS__NEAR_BINS;) {
        const int width = is_near(r, start + i) ? width_of(r, start + i, gap) : 0;
        if (width > 0 && width * BIN_RAD <= WIDE_RAD) {
            *ret_from = (start + i) % PONS__NEAR_BINS;
            *ret_width = width;
            return true;
        }
        i += width > 0 ? width : 1;
    }
    return false;
}

const char *pons__near_returns_report(const pons__near_returns *r, const pons_scan *scan, char *buf,
                                      size_t cap)
{
    const double wide = fmax(fabs((double)scan->angle_increment), BIN_RAD);
    const int gap = 1 + (int)fmin(wide / BIN_RAD, PONS__NEAR_BINS); // between two beams on one part
    int from = 0, width = 0;
    buf[0] = '\0';
    if (r->covered) {
        snprintf(buf, cap,
                 "the lidar is covered: most of what it sees is inside the robot's outline");
    } else if (r->scans >= SURE && find_part(r, gap, &from, &width)) {
        snprintf(buf, cap,
                 "the lidar sees something at %.2f m, from %d to %d degrees, in every scan; if it "
                 "is a part of the robot, add it to lidar.self_filter of the world",
                 (double)r->near[from], from - 180, from + width - 180);
    }
    return buf;
}
