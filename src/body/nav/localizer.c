// localizer.c - where the robot is: odometry, corrected by matching scans to the map.
//
// Odometry is smooth and drifts; a scan against the map is noisy and does not. What is estimated is
// the transform map → odom, with a 3 × 3 covariance of the pose.
//
//     predict   the pose follows odometry; its covariance grows with the way travelled and turned
//     correct   the pose that explains the scan best without leaving what odometry made likely:
//
//         minimise  Σ ρ(surface(T·pᵢ)) / σ²  +  (T − T₀)ᵀ P⁻¹ (T − T₀)
//
// surface is the map's signed distance field (costmap.c), so a beam's end on a face costs nothing and
// the gradient points the way to it from either side; the points need no partners. Gauss-Newton
// converges in a few rounds. ρ is Geman and McClure's: an end far from any face, on something that
// is not in the map, has next to no say. Its scale starts wide and narrows from round to round.
//
// P⁻¹ is what keeps the estimate still where the scan says nothing, as along a corridor. A
// correction is bounded in a single scan.
//
// When few beams agree with the map for a while (the robot was lifted, or an error has grown beyond
// the reach of the gradient), a coarse search over the neighbourhood looks for a better start.
#include "body/nav/parts.h"

#include <stdlib.h>
#include <string.h>

enum {
    ROUNDS_MAX = 6,
    LOST_SCANS = 5,   // badly explained scans in a row before the coarse search
    SEARCH_STEPS = 4, // to each side, in x, y and yaw
    SEARCH_BEAMS = 40,
    BEAMS_MIN = 8
};
static const double SCALE_FIRST_M = 0.30, SCALE_LAST_M = 0.08; // of ρ
static const double SIGMA_M = 0.15; // of one beam: wide, for a scan's errors are alike
static const double INLIER_M = 0.10, INLIERS_ENOUGH = 0.5;
static const double STEP_MAX_M = 0.10, STEP_MAX_RAD = 0.10; // of one scan's correction
static const double CONVERGED_M = 2e-4, CONVERGED_RAD = 2e-4;
static const double SEARCH_STEP_M = 0.12, SEARCH_STEP_RAD = 0.08;
static const double LOST_STD_M = 0.3, LOST_STD_RAD = 0.2; // at least, when lost
static const double SEARCH_BETTER = 0.15;                 // more of the beams must agree
static const double STILL_M = 0.005, STILL_RAD = 0.003;
static const int64_t STILL_PERIOD_NS = PONS_NS_PER_S; // a robot at rest looks once in a while
static const double STD_START_M = 0.05, STD_START_RAD = 0.05;
static const double STD_MAX_M = 1.0, STD_MAX_RAD = 0.5;
// A scan's errors are not independent of the last one's: a hundred scans are not ten times as good.
static const double FLOOR_STD_M = 0.005, FLOOR_STD_RAD = 0.004;
// Growth of the variances: 1 sigma after a metre and after a radian, and of yaw after a metre.
static const double MOVE_STD_M = 0.05, TURN_STD_RAD = 0.08, MOVE_STD_RAD = 0.03;

typedef struct sym3 { // symmetric 3 × 3, (x, y, yaw)
    double xx, xy, xt, yy, yt, tt;
} sym3;

typedef struct match_result {
    pons_pose2 pose;
    sym3 information; // inverse of its covariance
    double share;     // of the scan's ends that the map explains there
} match_result;

struct pons__localizer {
    const pons__costmap *grid; // borrowed
    pons_pose2 map_from_odom;
    pons_pose2 odom; // odom_from_base, the newest
    bool has_odom;
    sym3 cov;
    int lost;     // badly explained scans in a row
    bool doubted; // somebody says that the pose is wrong

    pons_pose2 corrected_at; // odometry at the last correction
    int64_t corrected_ns;
    bool corrected;

    // Unit vectors of the beams, and what they were made for.
    int n;
    float angle_min, angle_increment;
    float ux[PONS_SCAN_MAX], uy[PONS_SCAN_MAX];

    int n_points; // the scan's ends in base
    float px[PONS_SCAN_MAX], py[PONS_SCAN_MAX];
};

static void learn_beams(pons__localizer *l, const pons_scan *scan);
static void take_points(pons__localizer *l, const pons_scan *scan);
static bool is_no_news(const pons__localizer *l, const pons_scan *scan, pons_pose2 odom);
static void move_to(pons__localizer *l, pons_pose2 predicted, const match_result *f,
                    pons_pose2 odom, bool jump);
static bool search_around(pons__localizer *l, pons_pose2 predicted, match_result *ret);
static bool match(const pons__localizer *l, match_result *f);
static bool coarse_search(const pons__localizer *l, pons_pose2 *pose);
static bool sym3_inverse(const sym3 *a, sym3 *ret);
static void grow(sym3 *cov, double moved, double turned);
static double share_explained(const pons__localizer *l, pons_pose2 pose, int stride);

pons__localizer *pons__localizer_create(const pons__costmap *grid, pons_pose2 start_in_map)
{
    pons__localizer *l = calloc(1, sizeof *l);
    if (!l) {
        return NULL;
    }
    l->grid = grid;
    pons__localizer_reset(l, start_in_map, (pons_pose2){0.0, 0.0, 0.0});
    l->has_odom = false; // the first odometry is where the start is, whatever it reads
    return l;
}

void pons__localizer_destroy(pons__localizer *l)
{
    free(l);
}

void pons__localizer_reset(pons__localizer *l, pons_pose2 pose_in_map, pons_pose2 odom_from_base)
{
    l->odom = odom_from_base;
    l->has_odom = true;
    l->map_from_odom = pons_pose_compose(pose_in_map, pons_pose_inverse(odom_from_base));
    l->cov = (sym3){.xx = STD_START_M * STD_START_M,
                    .yy = STD_START_M * STD_START_M,
                    .tt = STD_START_RAD * STD_START_RAD};
    l->lost = 0;
    l->corrected = false;
}

void pons__localizer_predict(pons__localizer *l, pons_pose2 odom_from_base)
{
    if (!isfinite(odom_from_base.x + odom_from_base.y + odom_from_base.yaw)) {
        return;
    }
    if (!l->has_odom) {
        pons__localizer_reset(l, pons__localizer_pose(l), odom_from_base);
        return;
    }
    const double moved = hypot(odom_from_base.x - l->odom.x, odom_from_base.y - l->odom.y);
    const double turned = fabs(pons_wrap_angle(odom_from_base.yaw - l->odom.yaw));
    grow(&l->cov, moved, turned);
    l->odom = odom_from_base;
}

void pons__localizer_correct(pons__localizer *l, const pons_scan *scan, pons_pose2 odom_at_scan)
{
    if (!isfinite(odom_at_scan.x + odom_at_scan.y + odom_at_scan.yaw)) {
        return;
    }
    if (!l->has_odom) {
        pons__localizer_predict(l, odom_at_scan);
    }
    if (is_no_news(l, scan, odom_at_scan)) {
        return;
    }
    learn_beams(l, scan);
    take_points(l, scan);
    const pons_pose2 predicted = pons_pose_compose(l->map_from_odom, odom_at_scan);
    match_result f = {.pose = predicted};
    if (l->n_points < BEAMS_MIN || !match(l, &f)) {
        return;
    }
    bool jump = false;
    l->lost = f.share < INLIERS_ENOUGH ? l->lost + 1 : 0;
    if (l->lost >= LOST_SCANS || l->doubted) {
        l->lost = 0;
        l->doubted = false;
        jump = search_around(l, predicted, &f);
    }
    move_to(l, predicted, &f, odom_at_scan, jump);
    l->corrected = true;
    l->corrected_at = odom_at_scan;
    l->corrected_ns = scan->stamp_ns;
}

pons_pose2 pons__localizer_pose(const pons__localizer *l)
{
    return pons_pose_compose(l->map_from_odom, l->odom);
}

void pons__localizer_doubt(pons__localizer *l)
{
    l->doubted = true;
    l->corrected = false; // also at rest
}

double pons__localizer_std_m(const pons__localizer *l)
{
    return sqrt(fmax(l->cov.xx, 0.0) + fmax(l->cov.yy, 0.0));
}

// ---- helpers ------------------------------------------------------------------------------------

// A robot at rest looks only now and then.
static bool is_no_news(const pons__localizer *l, const pons_scan *scan, pons_pose2 odom)
{
    const double moved = hypot(odom.x - l->corrected_at.x, odom.y - l->corrected_at.y);
    const double turned = fabs(pons_wrap_angle(odom.yaw - l->corrected_at.yaw));
    const int64_t since_ns = scan->stamp_ns - l->corrected_ns;
    return l->corrected && moved < STILL_M && turned < STILL_RAD && l->lost == 0 && since_ns >= 0 &&
           since_ns < STILL_PERIOD_NS;
}

// Takes the match, at most a step of it unless it may jump.
static void move_to(pons__localizer *l, pons_pose2 predicted, const match_result *f,
                    pons_pose2 odom, bool jump)
{
    const double dx = f->pose.x - predicted.x, dy = f->pose.y - predicted.y;
    const double dyaw = pons_wrap_angle(f->pose.yaw - predicted.yaw);
    const double far = fmax(hypot(dx, dy) / STEP_MAX_M, fabs(dyaw) / STEP_MAX_RAD);
    const double part = far > 1.0 && !jump ? 1.0 / far : 1.0;
    const pons_pose2 now = {predicted.x + part * dx, predicted.y + part * dy,
                            pons_wrap_angle(predicted.yaw + part * dyaw)};
    l->map_from_odom = pons_pose_compose(now, pons_pose_inverse(odom));
    // A scan that the map explains badly, or a bounded step, is no reason for confidence.
    sym3 cov;
    if (f->share >= INLIERS_ENOUGH && part >= 1.0 && sym3_inverse(&f->information, &cov)) {
        l->cov = cov;
        l->cov.xx += FLOOR_STD_M * FLOOR_STD_M;
        l->cov.yy += FLOOR_STD_M * FLOOR_STD_M;
        l->cov.tt += FLOOR_STD_RAD * FLOOR_STD_RAD;
    }
}

// Lost: admits how little is known, and looks for a better place; false leaves *ret as it was.
static bool search_around(pons__localizer *l, pons_pose2 predicted, match_result *ret)
{
    const double var = fmax(fmax(l->cov.xx, l->cov.yy), LOST_STD_M * LOST_STD_M);
    l->cov = (sym3){.xx = var, .yy = var, .tt = fmax(l->cov.tt, LOST_STD_RAD * LOST_STD_RAD)};
    match_result f = {.pose = predicted};
    if (!coarse_search(l, &f.pose) || !match(l, &f)) {
        return false;
    }
    *ret = f;
    return true;
}

static void learn_beams(pons__localizer *l, const pons_scan *scan)
{
    if (l->n == scan->n && l->angle_min == scan->angle_min &&
        l->angle_increment == scan->angle_increment) {
        return;
    }
    l->n = scan->n > PONS_SCAN_MAX ? PONS_SCAN_MAX : scan->n;
    l->angle_min = scan->angle_min;
    l->angle_increment = scan->angle_increment;
    for (int k = 0; k < l->n; k++) {
        const double a = (double)scan->angle_min + k * (double)scan->angle_increment;
        l->ux[k] = (float)cos(a);
        l->uy[k] = (float)sin(a);
    }
}

static void take_points(pons__localizer *l, const pons_scan *scan)
{
    l->n_points = 0;
    for (int k = 0; k < l->n; k++) {
        const float r = scan->ranges[k];
        if (r > scan->range_min && r < scan->range_max) {
            l->px[l->n_points] = r * l->ux[k];
            l->py[l->n_points] = r * l->uy[k];
            l->n_points++;
        }
    }
}

// The surface field between cell centres, and its gradient; false outside the map.
static bool surface_at(const pons__costmap *g, double x, double y, double *ret, double *ret_gx,
                       double *ret_gy)
{
    const double fx = (x - g->x0) * g->inv_res - 0.5, fy = (y - g->y0) * g->inv_res - 0.5;
    if (!(fx >= 0.0 && fy >= 0.0 && fx < g->w - 1 && fy < g->h - 1)) {
        return false;
    }
    const int cx = (int)fx, cy = (int)fy;
    const double tx = fx - cx, ty = fy - cy;
    const float *c = g->surface + (size_t)cy * (size_t)g->w + (size_t)cx;
    const double a = (double)c[0], b = (double)c[1];
    const double d = (double)c[g->w], e = (double)c[g->w + 1];
    const double low = a + tx * (b - a), high = d + tx * (e - d);
    *ret = low + ty * (high - low);
    *ret_gx = ((b - a) + ty * ((e - d) - (b - a))) * g->inv_res;
    *ret_gy = (high - low) * g->inv_res;
    return true;
}

typedef struct normal {
    sym3 h;            // JᵀWJ
    double bx, by, bt; // JᵀWr
    double near;       // points that the map explains
} normal;

// One round's sums over the points.
static void accumulate(const pons__localizer *l, pons_pose2 pose, double scale, normal *ret)
{
    *ret = (normal){.near = 0.0};
    const double c = cos(pose.yaw), s = sin(pose.yaw), k2 = scale * scale;
    for (int i = 0; i < l->n_points; i++) {
        const double px = (double)l->px[i], py = (double)l->py[i];
        const double rx = c * px - s * py, ry = s * px + c * py;
        double r, gx, gy;
        if (!surface_at(l->grid, pose.x + rx, pose.y + ry, &r, &gx, &gy)) {
            continue;
        }
        ret->near += fabs(r) < INLIER_M ? 1.0 : 0.0;
        const double root = k2 / (k2 + r * r), w = root * root;
        const double gt = gy * rx - gx * ry; // along d(T·p)/dyaw
        ret->h.xx += w * gx * gx;
        ret->h.xy += w * gx * gy;
        ret->h.xt += w * gx * gt;
        ret->h.yy += w * gy * gy;
        ret->h.yt += w * gy * gt;
        ret->h.tt += w * gt * gt;
        ret->bx += w * gx * r;
        ret->by += w * gy * r;
        ret->bt += w * gt * r;
    }
}

// From f->pose, which is also what odometry says, to the pose that the scan makes likeliest.
static bool match(const pons__localizer *l, match_result *f)
{
    const pons_pose2 prior = f->pose;
    pons_pose2 *pose = &f->pose;
    sym3 prior_information;
    if (!sym3_inverse(&l->cov, &prior_information)) {
        return false;
    }
    const double weight = 1.0 / (SIGMA_M * SIGMA_M);
    double scale = SCALE_FIRST_M;
    normal n;
    for (int round = 0; round < ROUNDS_MAX; round++) {
        accumulate(l, *pose, scale, &n);
        const sym3 p = prior_information;
        const double ex = pose->x - prior.x, ey = pose->y - prior.y;
        const double et = pons_wrap_angle(pose->yaw - prior.yaw);
        const sym3 h = {weight * n.h.xx + p.xx, weight * n.h.xy + p.xy, weight * n.h.xt + p.xt,
                        weight * n.h.yy + p.yy, weight * n.h.yt + p.yt, weight * n.h.tt + p.tt};
        const double bx = weight * n.bx + p.xx * ex + p.xy * ey + p.xt * et;
        const double by = weight * n.by + p.xy * ex + p.yy * ey + p.yt * et;
        const double bt = weight * n.bt + p.xt * ex + p.yt * ey + p.tt * et;
        sym3 inv;
        if (!sym3_inverse(&h, &inv)) {
            return false;
        }
        const double dx = -(inv.xx * bx + inv.xy * by + inv.xt * bt);
        const double dy = -(inv.xy * bx + inv.yy * by + inv.yt * bt);
        const double dt = -(inv.xt * bx + inv.yt * by + inv.tt * bt);
        *pose = (pons_pose2){pose->x + dx, pose->y + dy, pons_wrap_angle(pose->yaw + dt)};
        f->information = h;
        const bool narrow = scale <= SCALE_LAST_M;
        if (narrow && fabs(dx) + fabs(dy) < CONVERGED_M && fabs(dt) < CONVERGED_RAD) {
            break;
        }
        scale = fmax(0.5 * scale, SCALE_LAST_M);
    }
    f->share = n.near / l->n_points;
    return isfinite(pose->x + pose->y + pose->yaw);
}

static double share_explained(const pons__localizer *l, pons_pose2 pose, int stride)
{
    const double c = cos(pose.yaw), s = sin(pose.yaw);
    int near = 0, n = 0;
    for (int i = 0; i < l->n_points; i += stride) {
        const double px = (double)l->px[i], py = (double)l->py[i];
        double r, gx, gy;
        n++;
        near +=
            surface_at(l->grid, pose.x + c * px - s * py, pose.y + s * px + c * py, &r, &gx, &gy) &&
            fabs(r) < INLIER_M;
    }
    return n > 0 ? (double)near / n : 0.0;
}

static bool coarse_search(const pons__localizer *l, pons_pose2 *pose)
{
    const int stride = l->n_points / SEARCH_BEAMS > 1 ? l->n_points / SEARCH_BEAMS : 1;
    const pons_pose2 centre = *pose;
    double best = share_explained(l, centre, stride) + SEARCH_BETTER;
    bool found = false;
    for (int it = -SEARCH_STEPS; it <= SEARCH_STEPS; it++) {
        for (int iy = -SEARCH_STEPS; iy <= SEARCH_STEPS; iy++) {
            for (int ix = -SEARCH_STEPS; ix <= SEARCH_STEPS; ix++) {
                const pons_pose2 p = {centre.x + ix * SEARCH_STEP_M, centre.y + iy * SEARCH_STEP_M,
                                      centre.yaw + it * SEARCH_STEP_RAD};
                const double share = share_explained(l, p, stride);
                if (share > best) {
                    best = share;
                    *pose = p;
                    found = true;
                }
            }
        }
    }
    return found;
}

static bool sym3_inverse(const sym3 *a, sym3 *ret)
{
    const double cxx = a->yy * a->tt - a->yt * a->yt, cxy = a->xt * a->yt - a->xy * a->tt;
    const double cxt = a->xy * a->yt - a->xt * a->yy;
    const double det = a->xx * cxx + a->xy * cxy + a->xt * cxt;
    if (!(fabs(det) > 1e-30) || !isfinite(det)) {
        return false;
    }
    const double k = 1.0 / det;
    *ret = (sym3){.xx = k * cxx,
                  .xy = k * cxy,
                  .xt = k * cxt,
                  .yy = k * (a->xx * a->tt - a->xt * a->xt),
                  .yt = k * (a->xy * a->xt - a->xx * a->yt),
                  .tt = k * (a->xx * a->yy - a->xy * a->xy)};
    return true;
}

static void grow(sym3 *cov, double moved, double turned)
{
    const double q = MOVE_STD_M * MOVE_STD_M * moved;
    const double qt = TURN_STD_RAD * TURN_STD_RAD * turned + MOVE_STD_RAD * MOVE_STD_RAD * moved;
    if (cov->xx + q <= STD_MAX_M * STD_MAX_M && cov->yy + q <= STD_MAX_M * STD_MAX_M) {
        cov->xx += q;
        cov->yy += q;
    }
    if (cov->tt + qt <= STD_MAX_RAD * STD_MAX_RAD) {
        cov->tt += qt;
    }
}
