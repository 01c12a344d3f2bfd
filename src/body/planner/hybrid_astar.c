// hybrid_astar.c - hybrid A*: a way for a robot whose heading matters (Dolgov, Thrun, Montemerlo, Diebel, "Path
// Planning for Autonomous Vehicles in Unknown Semi-structured Environments", 2010).
//
// A state is a place and a heading, both continuous; of the states that fall into one bin, 10 cm by 10 cm by
// 1/32 of a turn, the cheapest is kept. From a state the robot may go a step straight on or along curves of the
// tightest radius and of twice that, and, where it can, turn by a bin where it stands. A step is STEP_M, and more
// for one that turns widely: on the tightest curve it leaves its bin of headings, or a state that has begun to turn
// would lose its bin to one that has not. Poses on the way are checked with the whole shape (footprint_discs.c).
//
// The estimate of what is left is exact for a robot of the inscribed size: before the search the cost to the
// goal floods the window, cell by cell. Cells that are too near to something are flooded too, dearly, for the
// robot may stand there, or its goal may lie there. It counts a tenth more than it is, which saves up to half of the
// time. That is no bound, for a bin that is closed stays so and the first shot that fits is taken: beside slower
// searches ways were 1 to 3 % dearer, the worst of 240 by 11 %.
//
// Every so often, and always near the goal, the search looks whether the rest can be done at once: by the
// shortest curve of three arcs and lines (Dubins 1957), or, for one that turns where it stands, by a turn, a
// line and a turn. That ends exactly at the goal, which bins alone never do.
//
//     begin: flood … flood --> search … search --> found: states back to the first, and the last shot
//
// Near its start and its goal the robot may be nearer to things than the margin: as near as it stands there, and where
// it turns, as near as a turn may bring a corner. One that faces a wall turns first.
#include "body/planner/hybrid_astar.h"

#include "body/planner/heading_search.h"
#include "pons/growing_list.h"

#include <stdlib.h>
#include <string.h>

enum {
    BINS = 32, // of a turn
    STATES_MAX = 200000,
    STATE_CELLS = 12, // cells that a state counts as, in a step
    SHOTS_EVERY = 12  // states from one look at the goal to the next
};
static const double BIN_M = 0.10, STEP_M = 0.15, CHECK_M = 0.075;
static const double STEP_BINS = 1.1;   // that a step along the tightest curve turns by at least
static const double CURVE_M = 0.4;     // of one that turns where it stands: a smooth curve
static const double SHOT_NEAR_M = 2.5; // nearer than that to the goal each state looks
static const float GREED = 1.1F;       // so much the estimate counts

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
    free(h->tiles);
    free(h->states);
    free(h->bins);
    free(h->heap);
    h->left = NULL;
    h->tiles = NULL;
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
    if ((size_t)h->n_heap == h->cap_heap &&
        !pons_list_reserve(&h->heap, &h->cap_heap, h->cap_heap + 1, sizeof *h->heap)) {
        h->starved = true;
        return;
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
    const uint32_t left = pons__heading_left(h, (double)s.x, (double)s.y);
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
    push(h, (entry){s.g + GREED * (float)left, i});
}

// What a step costs; INFINITY: it touches something.
static double step_cost(const pons__heading *h, pons_pose2 from, double curvature, pons_pose2 *to)
{
    const int n = (int)ceil(h->step_m / CHECK_M - 1e-9);
    double metres = 0.0;
    for (int i = 1; i <= n; i++) {
        *to = pons__heading_along(from, h->step_m * i / n, curvature);
        if (!pons__heading_free(h, *to, false)) {
            return INFINITY;
        }
        metres += pons__heading_metre(h, to->x, to->y) / n;
    }
    return h->step_m * COST_M * metres * (curvature != 0.0 ? BEND_COST : 1.0);
}

static void expand(pons__heading *h, int32_t i)
{
    const state s = h->states[i];
    const pons_pose2 here = pons__heading_pose(&s);
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
        if (pons__heading_free(h, to, true)) {
            const double cost = fabs(by) / M_PI * TURN_COST_M * COST_M;
            offer(h, (state){s.x, s.y, (float)to.yaw, s.g + (float)cost, i, (int8_t)k});
        }
    }
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
    h->margin_from = pons__heading_margin(h, task->from);
    h->margin_to =
        isnan(task->to.yaw) ? task->margin_m : fmax(pons__heading_margin(h, task->to), 0.0);
    const size_t cells = (size_t)h->w * (size_t)h->h;
    h->left = malloc(sizeof *h->left * cells);
    if (!h->left || !grow_states(h) || !pons__heading_ground(h)) {
        return false;
    }
    memset(h->left, 0xff, sizeof *h->left * cells);
    const int cx = pons__costmap_col(h->g, task->to.x) - task->x0,
              cy = pons__costmap_row(h->g, task->to.y) - task->y0;
    if (cx >= 0 && cy >= 0 && cx < h->w && cy < h->h) {
        pons__heading_pour(h, 0, cy * h->w + cx);
    }
    return !h->starved;
}

static bool arrived(pons__heading *h, int32_t i)
{
    const pons_pose2 at = pons__heading_pose(&h->states[i]), to = h->task.to;
    const double far = hypot(to.x - at.x, to.y - at.y);
    h->n_shot = 0;
    if (h->task.near_m > 0.0) {
        return far <= fmax(h->task.near_m, 0.5 * h->step_m); // no step passes it by
    }
    return (far < SHOT_NEAR_M || h->searched % SHOTS_EVERY == 0) && pons__heading_shot(h, i);
}

int pons__heading_step(pons__heading *h, int cells)
{
    if (!h->flooded) {
        if (!pons__heading_flood(h, &cells)) {
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
        const float left = (float)pons__heading_left(h, (double)s->x, (double)s->y);
        if (s->from < -1 || e.f != s->g + GREED * left) {
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
    return h->nearest >= 0 ? pons__heading_pose(&h->states[h->nearest]) : h->task.from;
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
        const pons_pose2 from = pons__heading_pose(&h->states[parent(s)]);
        for (int k = pieces; k > 0; k--) {
            way[--at] = s->by < CURVES
                            ? pons__heading_along(from, h->step_m * k / pieces, h->curvature[s->by])
                            : pons__heading_pose(s);
        }
    }
    *ret_n = total - at;
    memmove(way, way + at, sizeof *way * (size_t)*ret_n);
    return way;
}
