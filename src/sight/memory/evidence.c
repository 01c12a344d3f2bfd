// evidence.c - how detections and looks weigh.
#include "sight/memory/evidence.h"

#include "pons/buf.h"
#include "pons/geometry.h"

#include <string.h>

static const double FLOOR_M =
    0.05; // 1 sigma: errors of one visit are alike, so they never average out
static const double STEP_D2 = 6.25;    // 90 %: beyond, the thing itself may have moved
static const double FALSE_ALARM = 0.1; // of a sighting where nothing is: labels are also confused
static const double MISS_LEAST = 0.05; // things are hidden by what no map has
static const double ODDS_MOST = 4.0, ODDS_LEAST = -2.5;
static const double FAR_M = 1e5;
static const double EDGE_RAD = 0.05; // at the rim of a picture nothing is certain

static bool bad_name(const char *s, size_t cap)
{
    return !s || !*s || strlen(s) >= cap || pons_utf8_valid(s, strlen(s)) < strlen(s);
}

static bool within(double v, double low, double high)
{
    return v >= low && v <= high; // false for NaN
}

const char *pons__view_fault(const pons_object_view *v)
{
    if (bad_name(v->detector, PONS_OBJECT_TEXT)) {
        return "detector must have 1 to 63 bytes of UTF-8";
    }
    if (bad_name(v->source, 192)) {
        return "source must have 1 to 191 bytes of UTF-8";
    }
    for (int i = 0; i < 3; i++) {
        if (!within(v->eye[i], -FAR_M, FAR_M)) {
            return "the eye's place is not finite";
        }
    }
    if (!within(v->yaw, -10.0, 10.0) || !within(v->fov_rad, 0.0, 2.0 * M_PI + 1e-6) ||
        !within(v->near_m, 0.0, FAR_M) || !within(v->far_m, v->near_m, FAR_M)) {
        return "yaw, fov_rad, near_m, far_m make no cone";
    }
    if (!within(v->pose_sd_m, 0.0, FAR_M) || !within(v->pose_sd_rad, 0.0, 10.0)) {
        return "the pose's spread is not finite";
    }
    return within(v->miss, 0.0, 1.0) ? NULL : "miss must be 0 to 1";
}

void pons__detection_cov(const pons_object_view *v, const pons_detection *d, double ret[4])
{
    const double dx = d->position[0] - v->eye[0], dy = d->position[1] - v->eye[1];
    const double pose = v->pose_sd_m * v->pose_sd_m + 1e-4;
    const double turn = v->pose_sd_rad * v->pose_sd_rad; // moves it across: (-dy, dx)
    ret[0] = d->cov[0] + pose + turn * dy * dy;
    ret[1] = d->cov[1] - turn * dx * dy;
    ret[2] = d->cov[2] + pose + turn * dx * dx;
    ret[3] = d->cov[3] + 1e-4;
}

double pons__cov_sd(const double cov[4])
{
    const double middle = 0.5 * (cov[0] + cov[2]), half = 0.5 * (cov[0] - cov[2]);
    return sqrt(middle + hypot(half, cov[1]));
}

const char *pons__detection_fault(const pons_object_view *v, const pons_detection *d)
{
    if (bad_name(d->label, PONS_OBJECT_TEXT)) {
        return "label must have 1 to 63 bytes of UTF-8";
    }
    if (d->identity && *d->identity && bad_name(d->identity, PONS_OBJECT_TEXT)) {
        return "identity must have at most 63 bytes of UTF-8";
    }
    if (!within(d->score, 0.0, 1.0)) {
        return "score must be 0 to 1";
    }
    for (int i = 0; i < 3; i++) {
        if (!within(d->position[i], -FAR_M, FAR_M)) {
            return "position is not finite";
        }
    }
    if (!within(d->cov[0], 0.0, FAR_M) || !within(d->cov[2], 0.0, FAR_M) ||
        !within(d->cov[3], 0.0, FAR_M) ||
        !(d->cov[1] * d->cov[1] <= d->cov[0] * d->cov[2] + 1e-9)) {
        return "cov is no covariance";
    }
    double cov[4];
    pons__detection_cov(v, d, cov);
    const double dx = d->position[0] - v->eye[0], dy = d->position[1] - v->eye[1];
    const double r = hypot(dx, dy), slack = 3.0 * pons__cov_sd(cov);
    if (r > v->far_m + slack) {
        return "position is out of the view's reach";
    }
    const double off = fabs(pons_wrap_angle(atan2(dy, dx) - v->yaw));
    const double wide = slack >= r ? M_PI : asin(slack / r);
    return off > 0.5 * v->fov_rad + wide + EDGE_RAD ? "position is behind or beside the view"
                                                    : NULL;
}

double pons__place_distance2(const double a[3], const double cov_a[4], const double b[3],
                             const double cov_b[4])
{
    const double dx = a[0] - b[0], dy = a[1] - b[1], dz = a[2] - b[2];
    const double xx = cov_a[0] + cov_b[0], xy = cov_a[1] + cov_b[1], yy = cov_a[2] + cov_b[2];
    const double det = xx * yy - xy * xy;
    return (yy * dx * dx - 2.0 * xy * dx * dy + xx * dy * dy) / det +
           dz * dz / (cov_a[3] + cov_b[3]);
}

void pons__place_fuse(double at[3], double cov[4], const double seen[3], const double cov_seen[4])
{
    const double far2 = pons__place_distance2(at, cov, seen, cov_seen);
    const double trust = far2 > STEP_D2 ? far2 / 2.0 : 1.0;
    const double least = FLOOR_M * FLOOR_M;
    double p[4];
    for (int i = 0; i < 4; i++) {
        p[i] = cov[i] * trust;
    }
    // A Kalman filter's update, K = P (P + R)^-1, P' = (1 - K) P.
    const double xx = p[0] + cov_seen[0], xy = p[1] + cov_seen[1], yy = p[2] + cov_seen[2];
    const double det = xx * yy - xy * xy;
    const double k00 = (p[0] * yy - p[1] * xy) / det, k01 = (p[1] * xx - p[0] * xy) / det;
    const double k10 = (p[1] * yy - p[2] * xy) / det, k11 = (p[2] * xx - p[1] * xy) / det;
    const double kz = p[3] / (p[3] + cov_seen[3]);
    const double dx = seen[0] - at[0], dy = seen[1] - at[1];
    at[0] += k00 * dx + k01 * dy;
    at[1] += k10 * dx + k11 * dy;
    at[2] += kz * (seen[2] - at[2]);
    cov[0] = fmax((1.0 - k00) * p[0] - k01 * p[1], least);
    cov[1] = (1.0 - k00) * p[1] - k01 * p[2];
    cov[2] = fmax((1.0 - k11) * p[2] - k10 * p[1], least);
    cov[3] = fmax((1.0 - kz) * p[3], least);
    const double most = 0.99 * sqrt(cov[0] * cov[2]);
    cov[1] = fmin(fmax(cov[1], -most), most);
}

double pons__belief_of(double log_odds)
{
    return 1.0 / (1.0 + exp(-log_odds));
}

double pons__log_odds_of(double belief)
{
    const double b = fmin(fmax(belief, 1e-6), 1.0 - 1e-6);
    return fmin(log(b / (1.0 - b)), ODDS_MOST);
}

double pons__belief_faded(double belief, double half_life_s, int64_t ms)
{
    return ms <= 0 ? belief : belief * exp2(-(double)ms / (1000.0 * half_life_s));
}

double pons__odds_first(double score)
{
    return pons__log_odds_of(fmin(fmax(0.8 * score, 0.2), 0.8));
}

double pons__odds_seen(double odds, double miss)
{
    const double gain = log((1.0 - fmin(miss, 0.8)) / FALSE_ALARM);
    return fmin(fmax(odds, ODDS_LEAST) + gain, ODDS_MOST);
}

double pons__odds_missed(double odds, double miss)
{
    return fmax(odds + log(fmin(fmax(miss, MISS_LEAST), 1.0)), ODDS_LEAST);
}

bool pons__view_covers(const pons_object_view *v, const double at[3], double sd_m)
{
    const double dx = at[0] - v->eye[0], dy = at[1] - v->eye[1], r = hypot(dx, dy);
    const double side = 2.0 * sd_m + v->pose_sd_m; // it may be so far beside
    if (!v->clear || r < v->near_m + side || r > v->far_m - side || r <= side) {
        return false;
    }
    const double off = fabs(pons_wrap_angle(atan2(dy, dx) - v->yaw));
    if (v->fov_rad < 2.0 * M_PI - EDGE_RAD &&
        off > 0.5 * v->fov_rad - asin(side / r) - v->pose_sd_rad - EDGE_RAD) {
        return false;
    }
    const double sx = -dy / r * side, sy = dx / r * side;
    const double left[3] = {at[0] + sx, at[1] + sy, at[2]},
                 right[3] = {at[0] - sx, at[1] - sy, at[2]};
    return v->clear(v->user, v->eye, at) && v->clear(v->user, v->eye, left) &&
           v->clear(v->user, v->eye, right);
}
