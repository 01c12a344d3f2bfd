// heading.c - hybrid A*: a way for a robot whose heading matters (Dolgov, Thrun, Montemerlo, Diebel, "Path
// Planning for Autonomous Vehicles in Unknown Semi-structured Environments", 2010).
//
// A state is a place and a heading, both continuous; of the states that fall into one bin, 10 cm by 10 cm by
// 1/32 of a turn, the cheapest is kept. From a state the robot may go a step straight on or along curves of the
// tightest radius and of twice that, and, where it can, turn by a bin where it stands. A step is STEP_M, and more
// for one that turns widely: on the tightest curve it leaves its bin of headings, or a state that has begun to turn
// would lose its bin to one that has not. Poses on the way are checked with the whole shape (shape.c).
//
// The estimate of what is left is exact for a robot of the inscribed size: before the search the cost to the
// goal floods the window, cell by cell. Cells that are too near to something are flooded too, dearly, for the
// robot may stand there, or its goal may lie there.
//
// Every so often, and always near the goal, the search looks whether the rest can be done at once: by the
// shortest curve of three arcs and lines (Dubins 1957), or, for one that turns where it stands, by a turn, a
// line and a turn. That ends exactly at the goal, which bins alone never do.
//
//     begin: flood … flood --> search … search --> found: states back to the first, and the last shot
//
// Near its start and its goal the robot may be nearer to things than the margin: as near as it stands there.
#include "body/nav/heading.h"

#include <stdlib.h>
#include <string.h>

enum {
    BINS = 32, // of a turn
    STATES_MAX = 200000,
    RING = 1024,   // buckets of the flood
    STRAIGHT = 10, // of the flood: a step to a side, and
    DIAGONAL = 14, // to a corner
    UNIT = 16,
    TOO_NEAR = 30,    // times what the open costs
    STATE_CELLS = 12, // cells that a state counts as, in a step
    SHOTS_EVERY = 12, // states from one look at the goal to the next
    CURVES = 5,
    SHOT_MAX = 4000
};
static const double BIN_M = 0.10, STEP_M = 0.15, CHECK_M = 0.075, SPACING_M = 0.05;
static const double STEP_BINS = 1.1;    // that a step along the tightest curve turns by at least
static const double CURVE_M = 0.4;      // of one that turns where it stands: a smooth curve
static const double TURN_COST_M = 0.6;  // half a turn where it stands costs so many metres
static const double BEND_COST = 1.05;   // a curve is dearer than a line of its length
static const double OWN_GROUND_M = 0.7; // around start and goal
static const double SHOT_NEAR_M = 2.5;  // nearer than that to the goal each state looks
static const double SHOT_DEARER = 1.15; // than the estimate: not taken
static const double COST_M = 200.0;     // what a metre in the open costs, in the flood's units
static const double CHECK_RAD = 0.12;
static const double DEAREST = 6.0; // a metre beside something

typedef struct state {
    float x, y, yaw, g;
    int32_t from;
    int8_t by; // index of a curve; TURN_LEFT, TURN_RIGHT; FIRST
} state;
enum { TURN_LEFT = CURVES, TURN_RIGHT, FIRST };

typedef struct entry {
    float f;
    int32_t state;
} entry;

typedef struct bucket {
    int32_t *cell;
    int n, cap;
} bucket;

struct pons__heading {
    const pons__costmap *g;
    pons__heading_task task;
    double curvature[CURVES], step_m;
    double margin_from, margin_to;
    int w, h; // of the window

    uint32_t *left; // (h,w) cost to the goal
    bucket ring[RING];
    uint32_t at;
    int n_open;
    bool flooded;

    state *states;
    int n, cap;
    int32_t *bins; // open addressing: a state, or -1
    uint32_t mask;
    entry *heap;
    int n_heap, cap_heap;
    int32_t best, nearest; // best: the last state of the way; -1
    float nearest_left;
    int searched;
    bool starved;
    pons_pose2 shot[SHOT_MAX]; // from best on
    int n_shot;
};

pons__heading *pons__heading_create(const pons__costmap *g)
{
    pons__heading *h = calloc(1, sizeof *h);
    if (h) {
        h->g = g;
    }
    return h;
}

void pons__heading_end(pons__heading *h)
{
    for (int i = 0; i < RING; i++) {
        free(h->ring[i].cell);
        h->ring[i] = (bucket){0};
    }
    free(h->left);
    free(h->states);
    free(h->bins);
    free(h->heap);
    h->left = NULL;
    h->states = NULL;
    h->bins = NULL;
    h->heap = NULL;
    h->n = h->cap = h->n_heap = h->cap_heap = h->n_open = h->n_shot = 0;
}

void pons__heading_destroy(pons__heading *h)
{
    if (h) {
        pons__heading_end(h);
        free(h);
    }
}

int pons__heading_searched(const pons__heading *h)
{
    return h->searched;
}

// ---- the ground ---------------------------------------------------------------------------------

static uint8_t level_at(const pons__costmap *g, double x, double y)
{
    const int cx = pons__costmap_col(g, x), cy = pons__costmap_row(g, y);
    return pons__costmap_inside(g, cx, cy)
               ? pons__costmap_level(g, (size_t)cy * (size_t)g->w + (size_t)cx)
               : 0;
}

static double metre_at(const pons__heading *h, double x, double y)
{
    const float m = h->task.metre[level_at(h->g, x, y)];
    return (isinf(m) ? DEAREST : (double)m) +
           (h->task.extra ? h->task.extra(h->task.user, x, y) : 0.0);
}

static uint32_t left_at(const pons__heading *h, double x, double y)
{
    const int cx = pons__costmap_col(h->g, x) - h->task.x0,
              cy = pons__costmap_row(h->g, y) - h->task.y0;
    return cx >= 0 && cy >= 0 && cx < h->w && cy < h->h
               ? h->left[(size_t)cy * (size_t)h->w + (size_t)cx]
               : UINT32_MAX;
}

static bool is_free(const pons__heading *h, pons_pose2 at)
{
    const pons__heading_task *t = &h->task;
    double margin = t->margin_m;
    if (hypot(at.x - t->from.x, at.y - t->from.y) < OWN_GROUND_M) {
        margin = fmin(margin, h->margin_from);
    }
    if (hypot(at.x - t->to.x, at.y - t->to.y) < OWN_GROUND_M) {
        margin = fmin(margin, h->margin_to);
    }
    return pons__shape_free(t->shape, h->g, at, margin);
}

// The most of the margin that a pose leaves; -1: it touches.
static double margin_of(const pons__heading *h, pons_pose2 at)
{
    static const double shares[] = {1.0, 0.5, 0.2, 0.0};
    for (int i = 0; i < 4; i++) {
        if (pons__shape_free(h->task.shape, h->g, at, shares[i] * h->task.margin_m)) {
            return shares[i] * h->task.margin_m;
        }
    }
    return -1.0;
}

// ---- the flood ----------------------------------------------------------------------------------

static void pour(pons__heading *h, uint32_t cost, int32_t cell)
{
    bucket *b = &h->ring[cost % RING];
    if (b->n == b->cap) {
        const int more = b->cap ? 2 * b->cap : 64;
        int32_t *grown = realloc(b->cell, sizeof *grown * (size_t)more);
        if (!grown) {
            h->starved = true;
            return;
        }
        b->cell = grown;
        b->cap = more;
    }
    h->left[cell] = cost;
    b->cell[b->n++] = cell;
    h->n_open++;
}

static uint32_t ground(const pons__heading *h, int cx, int cy)
{
    const pons__costmap *g = h->g;
    const int x = cx + h->task.x0, y = cy + h->task.y0;
    const uint8_t level = pons__costmap_level(g, (size_t)y * (size_t)g->w + (size_t)x);
    if (level == 0) {
        return 0; // occupied
    }
    double m = (double)h->task.metre[level];
    m = isinf(m) ? TOO_NEAR : m;
    if (h->task.extra) {
        m += h->task.extra(h->task.user, pons__costmap_x(g, x), pons__costmap_y(g, y));
    }
    return (uint32_t)(UNIT * m);
}

// True: it is over.
static bool flood(pons__heading *h, int *cells)
{
    while (h->n_open > 0 && !h->starved) {
        bucket *b = &h->ring[h->at % RING];
        if (b->n == 0) {
            h->at++;
            continue;
        }
        if ((*cells)-- <= 0) {
            return false;
        }
        const int32_t cell = b->cell[--b->n];
        h->n_open--;
        if (h->left[cell] != h->at) {
            continue; // it has become cheaper since
        }
        const int cx = cell % h->w, cy = cell / h->w;
        const uint32_t here = ground(h, cx, cy);
        for (int k = 0; k < 9; k++) {
            const int nx = cx + k % 3 - 1, ny = cy + k / 3 - 1;
            if (k == 4 || nx < 0 || ny < 0 || nx >= h->w || ny >= h->h || ground(h, nx, ny) == 0) {
                continue;
            }
            const uint32_t cost = h->at + (k % 2 ? STRAIGHT : DIAGONAL) * here / UNIT;
            const int32_t next = ny * h->w + nx;
            if (cost < h->left[next]) {
                pour(h, cost, next);
            }
        }
    }
    return true;
}

// ---- states -------------------------------------------------------------------------------------

static uint64_t bin_of(const pons__heading *h, const state *s)
{
    const double turn = (double)s->yaw / (2.0 * M_PI);
    const uint64_t x = (uint64_t)floor(((double)s->x - h->g->x0) / BIN_M),
                   y = (uint64_t)floor(((double)s->y - h->g->y0) / BIN_M),
                   t = (uint64_t)floor((turn - floor(turn)) * BINS) % BINS;
    return (y << 26 | x) * BINS + t;
}

static bool grow_states(pons__heading *h)
{
    const int more = h->cap ? 2 * h->cap : 8192;
    state *grown = realloc(h->states, sizeof *grown * (size_t)more);
    h->states = grown ? grown : h->states;
    int32_t *bins = grown ? malloc(sizeof *bins * 4 * (size_t)more) : NULL;
    if (!bins) {
        h->starved = true;
        return false;
    }
    free(h->bins);
    h->bins = bins;
    h->cap = more;
    h->mask = 4 * (uint32_t)more - 1;
    memset(bins, 0xff, sizeof *bins * 4 * (size_t)more);
    for (int32_t i = 0; i < h->n; i++) {
        uint32_t at = (uint32_t)(bin_of(h, &h->states[i]) * 0x9E3779B97F4A7C15u >> 32) & h->mask;
        while (bins[at] >= 0) {
            at = (at + 1) & h->mask;
        }
        bins[at] = i;
    }
    return true;
}

static bool before(entry a, entry b)
{
    return a.f < b.f || (a.f == b.f && a.state > b.state);
}

static void push(pons__heading *h, entry e)
{
    if (h->n_heap == h->cap_heap) {
        const int more = h->cap_heap ? 2 * h->cap_heap : 8192;
        entry *grown = realloc(h->heap, sizeof *grown * (size_t)more);
        if (!grown) {
            h->starved = true;
            return;
        }
        h->heap = grown;
        h->cap_heap = more;
    }
    int i = h->n_heap++;
    for (; i > 0 && before(e, h->heap[(i - 1) / 2]); i = (i - 1) / 2) {
        h->heap[i] = h->heap[(i - 1) / 2];
    }
    h->heap[i] = e;
}

static entry pop(pons__heading *h)
{
    const entry top = h->heap[0], last = h->heap[--h->n_heap];
    int i = 0;
    for (int k; (k = 2 * i + 1) < h->n_heap; i = k) {
        k += k + 1 < h->n_heap && before(h->heap[k + 1], h->heap[k]);
        if (!before(h->heap[k], last)) {
            break;
        }
        h->heap[i] = h->heap[k];
    }
    h->heap[i] = last;
    return top;
}

// Takes a state, unless its bin has one that is no dearer. One that becomes cheaper is replaced where it is:
// its old entry in the heap then has another f, by which it is known.
static void offer(pons__heading *h, state s)
{
    const uint32_t left = left_at(h, (double)s.x, (double)s.y);
    if (left == UINT32_MAX || (h->n == h->cap && !grow_states(h))) {
        return;
    }
    const uint64_t bin = bin_of(h, &s);
    uint32_t at = (uint32_t)(bin * 0x9E3779B97F4A7C15u >> 32) & h->mask;
    while (h->bins[at] >= 0 && bin_of(h, &h->states[h->bins[at]]) != bin) {
        at = (at + 1) & h->mask;
    }
    int32_t i = h->bins[at];
    if (i >= 0) {
        state *old = &h->states[i];
        if (old->g <= s.g || old->by == FIRST) {
            return;
        }
        if (old->from < 0) { // closed: others come from it
            return;
        }
        *old = s;
    } else {
        i = h->n++;
        h->states[i] = s;
        h->bins[at] = i;
    }
    if ((float)left < h->nearest_left) {
        h->nearest_left = (float)left;
        h->nearest = i;
    }
    push(h, (entry){s.g + (float)left, i});
}

static pons_pose2 along(pons_pose2 from, double arc_m, double curvature)
{
    const double turn = arc_m * curvature, half = 0.5 * turn;
    const double chord = fabs(half) < 1e-9 ? arc_m : arc_m * sin(half) / half;
    return (pons_pose2){from.x + chord * cos(from.yaw + half),
                        from.y + chord * sin(from.yaw + half), pons_wrap_angle(from.yaw + turn)};
}

static pons_pose2 pose_of(const state *s)
{
    return (pons_pose2){(double)s->x, (double)s->y, (double)s->yaw};
}

// What a step costs; INFINITY: it touches something.
static double step_cost(const pons__heading *h, pons_pose2 from, double curvature, pons_pose2 *to)
{
    const int n = (int)ceil(h->step_m / CHECK_M - 1e-9);
    double metres = 0.0;
    for (int i = 1; i <= n; i++) {
        *to = along(from, h->step_m * i / n, curvature);
        if (!is_free(h, *to)) {
            return INFINITY;
        }
        metres += metre_at(h, to->x, to->y) / n;
    }
    return h->step_m * COST_M * metres * (curvature != 0.0 ? BEND_COST : 1.0);
}

static void expand(pons__heading *h, int32_t i)
{
    const state s = h->states[i];
    const pons_pose2 here = pose_of(&s);
    for (int k = 0; k < CURVES; k++) {
        pons_pose2 to;
        const double cost = step_cost(h, here, h->curvature[k], &to);
        if (isfinite(cost)) {
            offer(h, (state){(float)to.x, (float)to.y, (float)to.yaw, s.g + (float)cost, i,
                             (int8_t)k});
        }
    }
    for (int k = TURN_LEFT; h->task.turns && k <= TURN_RIGHT; k++) {
        const double by = (k == TURN_LEFT ? 2.0 : -2.0) * M_PI / BINS;
        const pons_pose2 to = {here.x, here.y, pons_wrap_angle(here.yaw + by)};
        if (is_free(h, to)) {
            const double cost = fabs(by) / M_PI * TURN_COST_M * COST_M;
            offer(h, (state){s.x, s.y, (float)to.yaw, s.g + (float)cost, i, (int8_t)k});
        }
    }
}

// ---- the last shot ------------------------------------------------------------------------------

// Goes on to a pose; false when it is not free, or there are too many.
static bool shoot(pons__heading *h, pons_pose2 to)
{
    if (h->n_shot == SHOT_MAX || !is_free(h, to)) {
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
        if (!shoot(h, (pons_pose2){at.x, at.y, pons_wrap_angle(at.yaw + by * i / n)})) {
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
        *at = along(from, arc_m * i / n, curvature);
        if (!shoot(h, *at)) {
            return false;
        }
        *cost +=
            arc_m / n * COST_M * metre_at(h, at->x, at->y) * (curvature != 0.0 ? BEND_COST : 1.0);
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

static bool shot(pons__heading *h, int32_t i)
{
    const pons_pose2 at = pose_of(&h->states[i]), to = h->task.to;
    const double left = (double)left_at(h, at.x, at.y);
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

// ---- the search ---------------------------------------------------------------------------------

bool pons__heading_begin(pons__heading *h, const pons__heading_task *task)
{
    pons__heading_end(h);
    h->task = *task;
    h->w = task->x1 - task->x0;
    h->h = task->y1 - task->y0;
    const double tightest = task->turning_radius_m > 0.0 ? task->turning_radius_m : CURVE_M;
    h->task.turning_radius_m = tightest;
    h->step_m = fmax(STEP_M, STEP_BINS * 2.0 * M_PI / BINS * tightest);
    const double k = 1.0 / tightest;
    const double all[CURVES] = {0.0, 0.5 * k, -0.5 * k, k, -k};
    memcpy(h->curvature, all, sizeof all);
    h->starved = h->flooded = false;
    h->at = 0;
    h->searched = 0;
    h->best = h->nearest = -1;
    h->nearest_left = INFINITY;
    h->margin_from = margin_of(h, task->from);
    h->margin_to = isnan(task->to.yaw) ? task->margin_m : fmax(margin_of(h, task->to), 0.0);
    const size_t cells = (size_t)h->w * (size_t)h->h;
    h->left = malloc(sizeof *h->left * cells);
    if (!h->left || !grow_states(h)) {
        return false;
    }
    memset(h->left, 0xff, sizeof *h->left * cells);
    const int cx = pons__costmap_col(h->g, task->to.x) - task->x0,
              cy = pons__costmap_row(h->g, task->to.y) - task->y0;
    if (cx >= 0 && cy >= 0 && cx < h->w && cy < h->h) {
        pour(h, 0, cy * h->w + cx);
    }
    return !h->starved;
}

static bool arrived(pons__heading *h, int32_t i)
{
    const pons_pose2 at = pose_of(&h->states[i]), to = h->task.to;
    const double far = hypot(to.x - at.x, to.y - at.y);
    h->n_shot = 0;
    if (h->task.near_m > 0.0) {
        return far <= fmax(h->task.near_m, 0.5 * h->step_m); // no step passes it by
    }
    return (far < SHOT_NEAR_M || h->searched % SHOTS_EVERY == 0) && shot(h, i);
}

int pons__heading_step(pons__heading *h, int cells)
{
    if (!h->flooded) {
        if (!flood(h, &cells)) {
            return 0;
        }
        const pons_pose2 from = h->task.from;
        h->flooded = true;
        offer(h, (state){(float)from.x, (float)from.y, (float)from.yaw, 0.0f, -1, FIRST});
    }
    for (; h->n_heap > 0 && !h->starved; cells -= STATE_CELLS) {
        if (cells <= 0) {
            return 0;
        }
        const entry e = pop(h);
        state *s = &h->states[e.state];
        const float left = (float)left_at(h, (double)s->x, (double)s->y);
        if (s->from < -1 || e.f != s->g + left) {
            continue; // done, or it has become cheaper since
        }
        if (arrived(h, e.state)) {
            h->best = e.state;
            return 1;
        }
        h->searched++;
        if (h->n >= STATES_MAX) {
            return -2;
        }
        expand(h, e.state);
        h->states[e.state].from = -2 - h->states[e.state].from; // closed
    }
    return h->starved ? -2 : -1;
}

pons_pose2 pons__heading_furthest(const pons__heading *h)
{
    return h->nearest >= 0 ? pose_of(&h->states[h->nearest]) : h->task.from;
}

// ---- the way ------------------------------------------------------------------------------------

static int32_t parent(const state *s)
{
    return s->from < -1 ? -2 - s->from : s->from;
}

pons_pose2 *pons__heading_way(const pons__heading *h, int *ret_n)
{
    const int pieces = (int)ceil(h->step_m / SPACING_M - 1e-9); // of a step
    int states = 0;
    for (int32_t i = h->best; i >= 0; i = parent(&h->states[i])) {
        states++;
    }
    const int total = 1 + (states - 1) * pieces + h->n_shot;
    pons_pose2 *way = malloc(sizeof *way * (size_t)(total + 1));
    if (!way) {
        return NULL;
    }
    int at = total - h->n_shot;
    memcpy(way + at, h->shot, sizeof *way * (size_t)h->n_shot);
    for (int32_t i = h->best; i >= 0; i = parent(&h->states[i])) {
        const state *s = &h->states[i];
        if (s->by == FIRST) {
            way[--at] = h->task.from;
            break;
        }
        const pons_pose2 from = pose_of(&h->states[parent(s)]);
        for (int k = pieces; k > 0; k--) {
            way[--at] = s->by < CURVES ? along(from, h->step_m * k / pieces, h->curvature[s->by])
                                       : pose_of(s);
        }
    }
    *ret_n = total - at;
    memmove(way, way + at, sizeof *way * (size_t)*ret_n);
    return way;
}
