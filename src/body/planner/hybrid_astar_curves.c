// hybrid_astar_curves.c - the rest of a way at once, which ends exactly at the goal: the shortest curve of three arcs and
// lines (Dubins, "On Curves of Minimal Length with a Constraint on Average Curvature", 1957), or, for a robot that
// turns where it stands, a turn, a line and a turn.
#include "body/planner/heading_search.h"

#include <string.h>

static const double SHOT_DEARER = 1.15; // than the estimate: not taken
static const double CHECK_RAD = 0.12;

// Goes on to a pose; false when it is not free, or there are too many.
static bool shoot(pons__heading *h, pons_pose2 to, bool turns)
{
    if (h->n_shot == SHOT_MAX || !pons__heading_free(h, to, turns)) {
        return false;
    }
    h->shot[h->n_shot++] = to;
    return true;
}

static bool shoot_turn(pons__heading *h, pons_pose2 at, double to_yaw)
{
    const double by = pons_wrap_angle(to_yaw - at.yaw);
    const int n = (int)ceil(fabs(by) / CHECK_RAD);
    for (int i = 1; i <= n; i++) {
        if (!shoot(h, (pons_pose2){at.x, at.y, pons_wrap_angle(at.yaw + by * i / n)}, true)) {
            return false;
        }
    }
    return true;
}

// Along an arc; *at moves on, *cost grows.
static bool shoot_arc(pons__heading *h, pons_pose2 *at, double arc_m, double curvature,
                      double *cost)
{
    const int n = (int)ceil(arc_m / SPACING_M);
    const pons_pose2 from = *at;
    for (int i = 1; i <= n; i++) {
        *at = pons__heading_along(from, arc_m * i / n, curvature);
        if (!shoot(h, *at, false)) {
            return false;
        }
        *cost += arc_m / n * COST_M * pons__heading_metre(h, at->x, at->y) *
                 (curvature != 0.0 ? BEND_COST : 1.0);
    }
    return true;
}

static bool shot_by_turns(pons__heading *h, pons_pose2 at, double most)
{
    const pons_pose2 to = h->task.to;
    const double len = hypot(to.x - at.x, to.y - at.y);
    const double yaw = len > 1e-3 ? atan2(to.y - at.y, to.x - at.x) : at.yaw;
    double cost = fabs(pons_wrap_angle(yaw - at.yaw)) / M_PI * TURN_COST_M * COST_M;
    if (cost > most || !shoot_turn(h, at, yaw)) {
        return false;
    }
    at.yaw = yaw;
    return shoot_arc(h, &at, len, 0.0, &cost) && cost <= most &&
           (isnan(to.yaw) || shoot_turn(h, at, to.yaw));
}

static double turn_of(double a) // to [0, 2π)
{
    a = fmod(a, 2.0 * M_PI);
    return a < -1e-9 ? a + 2.0 * M_PI : fmax(a, 0.0);
}

// The lengths of a word of three, in radii: a curve, a line or a curve, a curve. False: it does not exist.
static bool dubins(int word, double d, double a, double b, double ret[3])
{
    const double sa = sin(a), sb = sin(b), ca = cos(a), cb = cos(b), cab = cos(a - b);
    double p2, t;
    switch (word) {
    case 0: // left, straight, left
        p2 = 2.0 + d * d - 2.0 * cab + 2.0 * d * (sa - sb);
        t = atan2(cb - ca, d + sa - sb);
        ret[0] = turn_of(t - a);
        ret[2] = turn_of(b - t);
        break;
    case 1: // right, straight, right
        p2 = 2.0 + d * d - 2.0 * cab + 2.0 * d * (sb - sa);
        t = atan2(ca - cb, d - sa + sb);
        ret[0] = turn_of(a - t);
        ret[2] = turn_of(t - b);
        break;
    case 2: // left, straight, right
        p2 = d * d - 2.0 + 2.0 * cab + 2.0 * d * (sa + sb);
        if (p2 < 0.0) {
            return false;
        }
        t = atan2(-ca - cb, d + sa + sb) - atan2(-2.0, sqrt(p2));
        ret[0] = turn_of(t - a);
        ret[2] = turn_of(t - b);
        break;
    case 3: // right, straight, left
        p2 = d * d - 2.0 + 2.0 * cab - 2.0 * d * (sa + sb);
        if (p2 < 0.0) {
            return false;
        }
        t = atan2(ca + cb, d - sa - sb) - atan2(2.0, sqrt(p2));
        ret[0] = turn_of(a - t);
        ret[2] = turn_of(b - t);
        break;
    case 4: // right, left, right
        p2 = (6.0 - d * d + 2.0 * cab + 2.0 * d * (sa - sb)) / 8.0;
        if (fabs(p2) > 1.0) {
            return false;
        }
        ret[1] = turn_of(2.0 * M_PI - acos(p2));
        ret[0] = turn_of(a - atan2(ca - cb, d - sa + sb) + 0.5 * ret[1]);
        ret[2] = turn_of(a - b - ret[0] + ret[1]);
        return true;
    default: // left, right, left
        p2 = (6.0 - d * d + 2.0 * cab + 2.0 * d * (sb - sa)) / 8.0;
        if (fabs(p2) > 1.0) {
            return false;
        }
        ret[1] = turn_of(2.0 * M_PI - acos(p2));
        ret[0] = turn_of(-a - atan2(ca - cb, d + sa - sb) + 0.5 * ret[1]);
        ret[2] = turn_of(b - a - ret[0] + ret[1]);
        return true;
    }
    if (p2 < 0.0) {
        return false;
    }
    ret[1] = sqrt(p2);
    return true;
}

static bool shot_by_curves(pons__heading *h, pons_pose2 from, pons_pose2 to, double most)
{
    static const int8_t bends[6][3] = {{1, 0, 1},  {-1, 0, -1}, {1, 0, -1},
                                       {-1, 0, 1}, {-1, 1, -1}, {1, -1, 1}};
    const double r = h->task.turning_radius_m, dx = to.x - from.x, dy = to.y - from.y;
    const double line = atan2(dy, dx), d = hypot(dx, dy) / r;
    double best = INFINITY, part[3], lengths[3] = {0};
    int word = -1;
    for (int k = 0; k < 6; k++) {
        if (dubins(k, d, turn_of(from.yaw - line), turn_of(to.yaw - line), part) &&
            part[0] + part[1] + part[2] < best) {
            best = part[0] + part[1] + part[2];
            word = k;
            memcpy(lengths, part, sizeof part);
        }
    }
    double cost = 0.0;
    if (word < 0 || best * r * COST_M > most) {
        return false;
    }
    for (int i = 0; i < 3; i++) {
        if (!shoot_arc(h, &from, lengths[i] * r, bends[word][i] / r, &cost) || cost > most) {
            return false;
        }
    }
    return hypot(from.x - to.x, from.y - to.y) < 0.02; // the word was computed right
}

bool pons__heading_shot(pons__heading *h, int32_t i)
{
    const pons_pose2 at = pons__heading_pose(&h->states[i]), to = h->task.to;
    const double left = (double)pons__heading_left(h, at.x, at.y);
    // The heading at the goal may cost a loop that the estimate knows nothing of.
    const double loop = isnan(to.yaw) ? 0.0 : 2.0 * M_PI * h->task.turning_radius_m;
    const double most = SHOT_DEARER * left + COST_M * (0.3 + (h->task.turns ? TURN_COST_M : loop));
    h->n_shot = 0;
    if (h->task.turns) {
        return shot_by_turns(h, at, most);
    }
    for (int k = 0; k < (isnan(to.yaw) ? 8 : 1); k++) {
        const double yaw = isnan(to.yaw) ? atan2(to.y - at.y, to.x - at.x) + k * M_PI / 4 : to.yaw;
        h->n_shot = 0;
        if (shot_by_curves(h, at, (pons_pose2){to.x, to.y, yaw}, most)) {
            return true;
        }
    }
    return false;
}
