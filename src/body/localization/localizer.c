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
// When few beams agree with the map for a while (an error has grown beyond the reach of the
// gradient), a coarse search over the neighbourhood looks for a better start.
//
// Every scan is also asked whether it agrees with the map at the pose (scan_score.c), for a robot
// that was lifted matches the wrong walls well enough to feel sure:
//
//             DOUBT_SCANS contradict, and        one place fits: taken over
//             nowhere near is better            +-----------------------------+
//     SURE --------------------------> DOUBTFUL | whole map (global_localizer.c)      | AGREE_SCANS agree
//       ^                                  |    +-----------------------------+-------------> SURE
//       |                                  +--> several fit --> AMBIGUOUS --+ again after a
//       |                                  +--> none fits ----> LOST -------+ while: DOUBTFUL
//       +-- a person says where (told), and AGREE_SCANS agree there
//
// While in doubt the pose follows odometry alone. Several places that fit are not guessed between.
#include "body/localization/localizer.h"

#include "body/costmap/costmap.h"
#include "body/localization/global_localizer.h"
#include "body/localization/scan_score.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROUNDS_MAX = 6,
    LOST_SCANS = 5,   // badly explained scans in a row before the coarse search
    SEARCH_STEPS = 4, // to each side, in x, y and yaw
    SEARCH_BEAMS = 40,
    BEAMS_MIN = 8,
    DOUBT_SCANS = 5,   // that contradict, in a row
    EXPECT_BEAMS = 72, // that are followed through the map where a scan says nothing
    EXPECT_MORE = 3,   // times BEAMS_MIN that must end on walls for the silence to mean something
    AGREE_SCANS = 3,   // that agree, in a row, with a pose that was found or told
    THINK_LOOKUPS = 20000,
    MATCHES = 4 // in one slice: the map around each may have to be worked out
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
static const double GIVEN_JUMP_M = 0.5, GIVEN_JUMP_RAD = 0.5; // more at once is another place
static const double EXPECT_RANGE = 0.8; // of what the lidar has seen: what is farther may be missed
static const double EXPECT_FIRST = 0.4; // of what it promises, before it has seen anything
static const double STD_MAX_M = 1.0, STD_MAX_RAD = 0.5;
// The whole map: shares of the ends that a place must explain, from strict to lax, in the search and
// after the match; how much worse a place must be to be none; how soon to search again.
static const double SHARES[] = {0.85, 0.70, 0.55};
enum { N_SHARES = sizeof SHARES / sizeof *SHARES };
static const double FIT_TO_CORRECT = 0.35, FITS = 0.5, FITS_NEAR = 0.85, FITS_ASIDE = 0.88,
                    BETTER = 0.15, ALL = 0.97, STANDS = 0.5, RIVAL = 0.10, RIVAL_COARSE = 0.15;
static const double SAME_M = 0.3, SAME_RAD = 0.2;
static const double BESIDE_M = 1.0, BESIDE_RAD = 0.6; // an error that has grown, not another place
static const int64_t AGAIN_NS = 3 * PONS_NS_PER_S;
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
    bool given; // by the robot's own software: what follows is idle
    sym3 cov;
    int lost; // badly explained scans in a row

    pons__pose_watch watch;
    int against, in_favour; // scans in a row
    int silent;             // where the map has walls all around,
    bool blinded;           // and that is the doubt: what cannot tell does not end it
    float reach;            // the farthest return so far: a lidar may promise more than it sees
    bool reported;          // look around at the next scan
    bool found;             // doubtful, but there is a place: scans decide
    bool aside;             // the search is on suspicion: the pose is still believed
    int weak;               // scans in a row of which the map explains little,
    double fit;             // how much of the newest,
    bool looked;            // and since when the whole map has been searched
    pons__relocate *search; // NULL: none
    int pass;               // of SHARES; N_SHARES: the last, for rivals
    bool matching;          // the places that it found are matched, a few at a time:
    int at, n_fits;         // the next, and those that fit, best first
    double coarse;          // the best share of theirs before the match
    match_result fits[PONS__PLACES_MAX];
    pons_pose2 searched_at; // odometry of the scan that is searched for
    int64_t scan_ns;        // of the newest scan, and when to search again
    int64_t again_ns;
    int n_kept; // its ends
    float kx[PONS_SCAN_MAX], ky[PONS_SCAN_MAX];

    pons_pose2 corrected_at; // odometry at the last correction
    int64_t corrected_ns;
    bool corrected;

    // Unit vectors of the beams, and what they were made for.
    int n;
    float angle_min, angle_increment;
    pons_pose2 from; // in base: where they begin
    float ux[PONS_SCAN_MAX], uy[PONS_SCAN_MAX];

    int n_points; // the scan's ends in base
    float px[PONS_SCAN_MAX], py[PONS_SCAN_MAX];
};

// ---- helpers ------------------------------------------------------------------------------------

typedef struct normal {
    sym3 h;            // JᵀWJ
    double bx, by, bt; // JᵀWr
    double near;       // points that the map explains
} normal;

// A robot at rest looks only now and then.
static bool is_no_answer(const pons__localizer *l, const pons_scan *scan, pons_pose2 odom)
{
    const double moved = hypot(odom.x - l->corrected_at.x, odom.y - l->corrected_at.y);
    const double turned = fabs(pons_wrap_angle(odom.yaw - l->corrected_at.yaw));
    const int64_t since_ns = scan->stamp_ns - l->corrected_ns;
    return l->corrected && moved < STILL_M && turned < STILL_RAD && l->lost == 0 && since_ns >= 0 &&
           since_ns < STILL_PERIOD_NS;
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
    const float *c = pons__surface_at(g->surface, cx, cy);
    const double a = (double)c[0], b = (double)c[1];
    const double d = (double)c[PONS__PATCH_STRIDE], e = (double)c[PONS__PATCH_STRIDE + 1];
    const double low = a + tx * (b - a), high = d + tx * (e - d);
    *ret = low + ty * (high - low);
    *ret_gx = ((b - a) + ty * ((e - d) - (b - a))) * g->inv_res;
    *ret_gy = (high - low) * g->inv_res;
    return true;
}

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

// better: by so much that it is worth a jump.
static bool coarse_search(const pons__localizer *l, bool better, pons_pose2 *pose)
{
    const int stride = l->n_points / SEARCH_BEAMS > 1 ? l->n_points / SEARCH_BEAMS : 1;
    const pons_pose2 centre = *pose;
    double best = share_explained(l, centre, stride) + (better ? SEARCH_BETTER : 0.0);
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

// Lost: admits how little is known, and looks for a better place; false leaves *ret as it was.
static bool search_around(pons__localizer *l, pons_pose2 predicted, bool better, match_result *ret)
{
    const double var = fmax(fmax(l->cov.xx, l->cov.yy), LOST_STD_M * LOST_STD_M);
    l->cov = (sym3){.xx = var, .yy = var, .tt = fmax(l->cov.tt, LOST_STD_RAD * LOST_STD_RAD)};
    match_result f = {.pose = predicted};
    if (!coarse_search(l, better, &f.pose) || !match(l, &f)) {
        return false;
    }
    *ret = f;
    return true;
}

static void learn_beams(pons__localizer *l, const pons_scan *scan)
{
    if (l->n == scan->n && l->angle_min == scan->angle_min &&
        l->angle_increment == scan->angle_increment && l->from.x == scan->from.x &&
        l->from.y == scan->from.y && l->from.yaw == scan->from.yaw) {
        return;
    }
    l->n = scan->n > PONS_SCAN_MAX ? PONS_SCAN_MAX : scan->n;
    l->angle_min = scan->angle_min;
    l->angle_increment = scan->angle_increment;
    l->from = scan->from;
    for (int k = 0; k < l->n; k++) {
        const double a =
            scan->from.yaw + (double)scan->angle_min + k * (double)scan->angle_increment;
        l->ux[k] = (float)cos(a);
        l->uy[k] = (float)sin(a);
    }
}

static void take_points(pons__localizer *l, const pons_scan *scan)
{
    const float x = (float)l->from.x, y = (float)l->from.y;
    l->n_points = 0;
    for (int k = 0; k < l->n; k++) {
        const float r = scan->ranges[k];
        if (r > scan->range_min && r < scan->range_max) {
            l->px[l->n_points] = x + r * l->ux[k];
            l->py[l->n_points] = y + r * l->uy[k];
            l->n_points++;
            l->reach = fmaxf(l->reach, r);
        }
    }
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

// ---- doubt --------------------------------------------------------------------------------------

// How many beams of the scan end on a mapped face from there, about.
static int beams_expected(const pons__localizer *l, const pons_scan *scan, pons_pose2 odom)
{
    const pons_pose2 at = pons_pose_compose(l->map_from_odom, odom);
    const pons_pose2 eye = pons_pose_compose(at, l->from);
    const double c = cos(at.yaw), s = sin(at.yaw), res = 1.0 / l->grid->inv_res;
    const double promised = (double)scan->range_max, reach = (double)l->reach;
    const double far = reach > 0.0 ? EXPECT_RANGE * fmin(promised, reach) : EXPECT_FIRST * promised;
    const int stride = l->n > EXPECT_BEAMS ? l->n / EXPECT_BEAMS : 1;
    int n = 0;
    for (int k = 0; k < l->n; k += stride) {
        const double ux = c * (double)l->ux[k] - s * (double)l->uy[k];
        const double uy = s * (double)l->ux[k] + c * (double)l->uy[k];
        double d = 0.0, gx, gy, r = (double)scan->range_min;
        bool seen = false; // a wall nearer than range_min gives no return
        for (; r < far && surface_at(l->grid, eye.x + r * ux, eye.y + r * uy, &d, &gx, &gy);
             r += fmax(d, res)) {
            if (d <= 0.5 * res) {
                n += seen;
                break;
            }
            seen = true;
        }
    }
    return n * stride;
}

// A scan without returns where the map has walls all around bears no pose out: a lidar that is covered does not see
// that the robot is carried off. In doubt until scans agree again; in a hall beyond its range nothing is amiss.
static void watch_silence(pons__localizer *l, const pons_scan *scan, pons_pose2 odom)
{
    pons__pose_watch *w = &l->watch;
    if (l->n_points >= BEAMS_MIN || w->trust != PONS__POSE_SURE ||
        beams_expected(l, scan, odom) < EXPECT_MORE * BEAMS_MIN) {
        l->silent = 0;
        return;
    }
    if (++l->silent >= DOUBT_SCANS) {
        l->silent = 0;
        l->against = l->in_favour = 0;
        l->found = l->blinded = true; // agreeing scans are enough
        w->trust = PONS__POSE_DOUBTFUL;
        w->agreement = NAN;
        snprintf(w->why, sizeof w->why, "the lidar sees nothing where the map has walls");
    }
}

// For the newest scan, whose ends are kept: the search takes a while.
static void begin_search(pons__localizer *l, pons_pose2 odom)
{
    l->pass = 0;
    l->matching = false;
    l->aside = false;
    l->search = pons__relocate_create(l->grid, l->px, l->py, l->n_points, SHARES[0]);
    l->searched_at = odom;
    l->n_kept = l->n_points;
    memcpy(l->kx, l->px, sizeof l->kx);
    memcpy(l->ky, l->py, sizeof l->ky);
    l->again_ns = l->scan_ns + AGAIN_NS;
}

// What is seen ends early all around: people, boxes, or a smaller room than this. The map is searched
// while the pose is still believed; until that has ended, nothing is done because of it.
static void suspect(pons__localizer *l, const pons_scan *scan, pons_pose2 odom)
{
    if (l->weak == 0 && l->search) {
        pons__relocate_destroy(l->search);
        l->search = NULL;
    }
    if (l->weak >= DOUBT_SCANS && !l->search && scan->stamp_ns >= l->again_ns) {
        begin_search(l, odom);
        l->aside = true;
    }
    l->watch.contradicted = l->watch.contradicted ||
                            (!l->looked && (l->search || (l->weak > 0 && l->weak <= DOUBT_SCANS)));
    l->watch.pending = l->watch.contradicted;
    pons__localizer_think(l, THINK_LOOKUPS);
}

static void doubt(pons__localizer *l)
{
    const double var = STD_MAX_M * STD_MAX_M;
    pons__relocate_destroy(l->search);
    l->search = NULL;
    l->watch.trust = PONS__POSE_DOUBTFUL;
    l->found = l->reported = l->corrected = l->blinded = false;
    l->against = l->in_favour = 0;
    l->again_ns = INT64_MIN;
    l->cov = (sym3){.xx = var, .yy = var, .tt = STD_MAX_RAD * STD_MAX_RAD};
}

// Looks whether a scan agrees with the map. False: the pose is in doubt, and not to be corrected.
static bool watch_scan(pons__localizer *l, const pons_scan *scan, pons_pose2 odom)
{
    pons__pose_watch *w = &l->watch;
    const pons_pose2 at = pons_pose_compose(l->map_from_odom, odom);
    const pons__agreement a = pons__agreement_of(l->grid, at, l->from, l->px, l->py, l->n_points);
    w->agreement = a.share;
    w->contradicted = a.contradicts;
    l->against = a.contradicts ? l->against + 1 : 0;
    l->in_favour = a.contradicts ? 0 : l->in_favour + (!l->blinded || !isnan(a.share));
    if (w->trust == PONS__POSE_SURE || l->found) {
        if (l->found && l->in_favour >= AGREE_SCANS && !l->reported) {
            w->trust = PONS__POSE_SURE;
            w->why[0] = '\0';
            l->found = l->blinded = false;
        }
        l->weak = a.weak && !l->found ? l->weak + 1 : 0;
        l->looked = l->looked && l->weak > 0;
        l->fit = a.fit;
        if (l->against < DOUBT_SCANS) {
            suspect(l, scan, odom);
            // What is not the map cannot correct: it would drag the pose to walls that are hidden.
            return a.fit >= FIT_TO_CORRECT || a.contradicts || l->found;
        }
        // Near first: an error that has grown is no reason to search a map.
        match_result f = {.pose = at};
        if (w->trust == PONS__POSE_SURE && search_around(l, at, true, &f) &&
            pons__agreement_of(l->grid, f.pose, l->from, l->px, l->py, l->n_points).fit >=
                FITS_NEAR) {
            move_to(l, at, &f, odom, true);
            l->against = 0;
            return false;
        }
        doubt(l);
        snprintf(w->why, sizeof w->why, "of the beams that can tell, %.0f %% agree with the map",
                 100.0 * w->agreement);
    }
    if (!l->search && scan->stamp_ns >= l->again_ns) {
        begin_search(l, odom);
    }
    pons__localizer_think(l, THINK_LOOKUPS);
    return false;
}

static bool is_within(pons_pose2 a, pons_pose2 b, double m, double rad)
{
    return hypot(a.x - b.x, a.y - b.y) <= m && fabs(pons_wrap_angle(a.yaw - b.yaw)) <= rad;
}

// A place that was matched, among those that fit: best first; of those that a match brought
// together one is kept.
static void add_fit(pons__localizer *l, const match_result *f)
{
    match_result *all = l->fits;
    int at = 0;
    while (at < l->n_fits && !is_within(all[at].pose, f->pose, SAME_M, SAME_RAD)) {
        at++;
    }
    if (at < l->n_fits && all[at].share >= f->share) {
        return;
    }
    l->n_fits += at == l->n_fits;
    for (; at > 0 && all[at - 1].share < f->share; at--) {
        all[at] = all[at - 1];
    }
    all[at] = *f;
}

// Matches and tries the next places of a pass. True: that were all.
static bool match_places(pons__localizer *l)
{
    const pons__place *places;
    bool more;
    const int n = pons__relocate_places(l->search, &places, &more);
    const sym3 cov = l->cov;
    l->n_points = l->n_kept;
    memcpy(l->px, l->kx, sizeof l->px);
    memcpy(l->py, l->ky, sizeof l->py);
    l->cov = (sym3){.xx = LOST_STD_M * LOST_STD_M,
                    .yy = LOST_STD_M * LOST_STD_M,
                    .tt = LOST_STD_RAD * LOST_STD_RAD};
    for (int k = 0; k < MATCHES && l->at < n; k++, l->at++) {
        match_result f = {.pose = places[l->at].pose};
        if (!match(l, &f)) {
            continue;
        }
        const pons__agreement a =
            pons__agreement_of(l->grid, f.pose, l->from, l->px, l->py, l->n_points);
        f.share = a.fit;
        if (!a.contradicts && f.share >= (l->aside ? fmax(FITS_ASIDE, l->fit + BETTER) : FITS)) {
            add_fit(l, &f);
            l->coarse = fmax(l->coarse, places[l->at].share);
        }
    }
    l->cov = cov;
    return l->at >= n;
}

static void say_where(pons__localizer *l, const match_result *f, int n)
{
    pons__pose_watch *w = &l->watch;
    if (n == 0) {
        w->trust = PONS__POSE_LOST;
        snprintf(w->why, sizeof w->why, "no place of the map fits what the lidar sees");
    } else if (n > 1) {
        w->trust = PONS__POSE_AMBIGUOUS;
        snprintf(w->why, sizeof w->why,
                 "%d places fit what the lidar sees, as (%.1f, %.1f) and (%.1f, %.1f)", n,
                 f[0].pose.x, f[0].pose.y, f[1].pose.x, f[1].pose.y);
    } else {
        w->trust = PONS__POSE_DOUBTFUL;
        w->jumps++;
        snprintf(w->why, sizeof w->why, "found at (%.1f, %.1f): scans must agree", f->pose.x,
                 f->pose.y);
        l->map_from_odom = pons_pose_compose(f->pose, pons_pose_inverse(l->searched_at));
        l->cov = (sym3){.xx = LOST_STD_M * LOST_STD_M,
                        .yy = LOST_STD_M * LOST_STD_M,
                        .tt = LOST_STD_RAD * LOST_STD_RAD};
        l->found = true;
        l->against = l->in_favour = 0;
    }
}

// Whether the kept scan bears out the pose that is believed: half of it ends on the walls around there, and
// next to nothing goes through one. The rest ends on what has come to stand there.
static bool stands(const pons__localizer *l, pons_pose2 here)
{
    const pons__agreement a = pons__agreement_of(l->grid, here, l->from, l->kx, l->ky, l->n_kept);
    return a.fit >= STANDS && a.hits >= ALL * (a.hits + a.through);
}

// Whether next to nothing of the kept scan goes through a wall there: it may be that boxes have come around.
static bool is_clear(const pons__localizer *l, pons_pose2 here)
{
    const pons__agreement a = pons__agreement_of(l->grid, here, l->from, l->kx, l->ky, l->n_kept);
    return a.through <= (1.0 - ALL) * a.n;
}

// One place that fits, by so much better than any other, is where the robot is. What stands close by makes
// one room look like another: a pose that is borne out is given up for none that does not explain all
// of the scan, and is one of several beside one that does. A pose that nothing is seen to speak against is not given up on
// suspicion for less than that either.
static void end_pass(pons__localizer *l)
{
    match_result *f = l->fits;
    const double coarse = l->coarse;
    int n = l->n_fits;
    if (n == 0 && l->pass + 1 < N_SHARES) {
        pons__relocate_restart(l->search, SHARES[++l->pass]);
        return;
    }
    // What is left out at this share might be as good after its match.
    if (n > 0 && l->pass < N_SHARES && coarse - RIVAL_COARSE < SHARES[l->pass]) {
        l->pass = N_SHARES;
        pons__relocate_restart(l->search, coarse - RIVAL_COARSE);
        return;
    }
    while (n > 1 && f[n - 1].share < f[0].share - RIVAL) {
        n--;
    }
    pons__relocate_destroy(l->search);
    l->search = NULL;
    const pons_pose2 here = pons_pose_compose(l->map_from_odom, l->searched_at);
    const bool beside = n > 0 && is_within(f->pose, here, BESIDE_M, BESIDE_RAD);
    const bool borne = n == 1 && !beside && stands(l, here);
    const bool hemmed = n == 1 && !beside && is_clear(l, here);
    if (l->aside && (n == 0 || ((borne || hemmed) && f->share < ALL))) {
        l->looked = true; // nowhere better: it is as it was
        return;
    }
    if (l->aside) {
        doubt(l);
        snprintf(l->watch.why, sizeof l->watch.why, "(%.1f, %.1f) fits better than (%.1f, %.1f)",
                 f[0].pose.x, f[0].pose.y, here.x, here.y);
    }
    if (borne) {
        f[n++].pose = here;
    }
    say_where(l, f, n);
}

// ---- public functions ---------------------------------------------------------------------------

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
    if (l) {
        pons__relocate_destroy(l->search);
        free(l);
    }
}

const char *pons__trust_word(pons__trust t)
{
    static const char *const words[] = {[PONS__POSE_SURE] = "sure",
                                        [PONS__POSE_DOUBTFUL] = "doubtful",
                                        [PONS__POSE_AMBIGUOUS] = "ambiguous",
                                        [PONS__POSE_LOST] = "lost"};
    return words[t];
}

void pons__localizer_reset(pons__localizer *l, pons_pose2 pose_in_map, pons_pose2 odom_from_base)
{
    l->odom = odom_from_base;
    l->has_odom = true;
    l->map_from_odom = pons_pose_compose(pose_in_map, pons_pose_inverse(odom_from_base));
    l->cov = (sym3){.xx = STD_START_M * STD_START_M,
                    .yy = STD_START_M * STD_START_M,
                    .tt = STD_START_RAD * STD_START_RAD};
    l->lost = l->against = l->in_favour = l->silent = 0;
    l->corrected = l->found = l->reported = l->blinded = false;
    pons__relocate_destroy(l->search);
    l->search = NULL;
    l->watch = (pons__pose_watch){.agreement = NAN, .jumps = l->watch.jumps};
}

void pons__localizer_reported(pons__localizer *l, pons_pose2 pose_in_map, pons_pose2 odom_from_base)
{
    pons__localizer_reset(l, pose_in_map, odom_from_base);
    l->cov = (sym3){.xx = LOST_STD_M * LOST_STD_M,
                    .yy = LOST_STD_M * LOST_STD_M,
                    .tt = LOST_STD_RAD * LOST_STD_RAD};
    l->watch.trust = PONS__POSE_DOUBTFUL;
    l->watch.jumps++;
    snprintf(l->watch.why, sizeof l->watch.why, "a person said where it is: scans must agree");
    l->reported = l->found = true;
    l->blinded = false;
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
    if (l->given || !isfinite(odom_at_scan.x + odom_at_scan.y + odom_at_scan.yaw)) {
        return;
    }
    if (!l->has_odom) {
        pons__localizer_predict(l, odom_at_scan);
    }
    l->scan_ns = scan->stamp_ns;
    learn_beams(l, scan);
    take_points(l, scan);
    watch_silence(l, scan, odom_at_scan);
    if (l->n_points < BEAMS_MIN || !watch_scan(l, scan, odom_at_scan) ||
        is_no_answer(l, scan, odom_at_scan)) {
        return;
    }
    const pons_pose2 predicted = pons_pose_compose(l->map_from_odom, odom_at_scan);
    match_result f = {.pose = predicted};
    if (!match(l, &f)) {
        return;
    }
    bool jump = false;
    l->lost = f.share < INLIERS_ENOUGH ? l->lost + 1 : 0;
    if (l->lost >= LOST_SCANS || l->reported) {
        match_result near = f;
        const sym3 cov = l->cov;
        if (search_around(l, predicted, !l->reported, &near) &&
            !pons__agreement_of(l->grid, near.pose, l->from, l->px, l->py, l->n_points).weak) {
            f = near;
            jump = true;
        } else {
            l->cov = cov;
        }
        l->lost = 0;
        l->reported = false;
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

void pons__localizer_given(pons__localizer *l, const pons_robot_place *place)
{
    pons__pose_watch *w = &l->watch;
    w->trust = place->known ? PONS__POSE_SURE : PONS__POSE_DOUBTFUL;
    w->why[0] = '\0';
    if (!place->known) {
        snprintf(w->why, sizeof w->why, "the robot's own localisation is silent");
    }
    const pons_pose2 was = pons__localizer_pose(l);
    if (!l->given || place->known) {
        l->map_from_odom = place->map_from_odom;
        l->cov = (sym3){.xx = 0.5 * place->std_m * place->std_m,
                        .yy = 0.5 * place->std_m * place->std_m,
                        .tt = STD_START_RAD * STD_START_RAD};
    }
    const pons_pose2 now = pons__localizer_pose(l);
    if (l->given && (hypot(now.x - was.x, now.y - was.y) > GIVEN_JUMP_M ||
                     fabs(pons_wrap_angle(now.yaw - was.yaw)) > GIVEN_JUMP_RAD)) {
        w->jumps++;
    }
    w->agreement = NAN;
    w->contradicted = w->pending = false;
    l->given = true;
}

void pons__localizer_own(pons__localizer *l, pons_pose2 odom_from_base)
{
    if (l->given) {
        l->given = false;
        pons__localizer_reset(l, pons__localizer_pose(l), odom_from_base);
    }
}

bool pons__localizer_is_given(const pons__localizer *l)
{
    return l->given;
}

void pons__localizer_doubt(pons__localizer *l)
{
    if (l->given) {
        return;
    }
    doubt(l);
    snprintf(l->watch.why, sizeof l->watch.why, "it was asked to look for itself");
}

const pons__pose_watch *pons__localizer_watch(const pons__localizer *l)
{
    return &l->watch;
}

bool pons__localizer_think(pons__localizer *l, int64_t lookups)
{
    if (l->search && !l->matching && pons__relocate_step(l->search, lookups)) {
        l->matching = true;
        l->at = l->n_fits = 0;
        l->coarse = 0.0;
    } else if (l->search && l->matching && match_places(l)) {
        l->matching = false;
        end_pass(l);
    }
    return l->search != NULL;
}

double pons__localizer_std_m(const pons__localizer *l)
{
    return isnan(l->cov.xx) ? NAN : sqrt(fmax(l->cov.xx, 0.0) + fmax(l->cov.yy, 0.0));
}
