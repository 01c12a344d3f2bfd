// hybrid_astar_grid.c - the ground of a search with headings: what may be stood on, and the flood that tells what is
// left to the goal (hybrid_astar.c).
#include "body/planner/heading_search.h"
#include "pons/growing_list.h"

#include <stdlib.h>

enum {
    STRAIGHT = 10, // of the flood: a step to a side, and
    DIAGONAL = 14, // to a corner
    UNIT = 16,
    TOO_NEAR = 30, // times what the open costs
    TILE = 8       // cells of a side of what is looked at or not
};
static const double OWN_GROUND_M = 0.7;   // around start and goal
static const double TURN_MARGIN_M = 0.02; // and there, of a turn where it stands: the gate's
static const double DEAREST = 6.0;        // a metre beside something

double pons__heading_metre(const pons__heading *h, double x, double y)
{
    const float m = h->task.metre[pons__costmap_level_at(h->g, x, y)];
    return (isinf(m) ? DEAREST : (double)m) +
           (h->task.extra ? h->task.extra(h->task.user, x, y) : 0.0);
}

uint32_t pons__heading_left(const pons__heading *h, double x, double y)
{
    const int cx = pons__costmap_col(h->g, x) - h->task.x0,
              cy = pons__costmap_row(h->g, y) - h->task.y0;
    return cx >= 0 && cy >= 0 && cx < h->w && cy < h->h
               ? h->left[(size_t)cy * (size_t)h->w + (size_t)cx]
               : UINT32_MAX;
}

bool pons__heading_free(const pons__heading *h, pons_pose2 at, bool turns)
{
    const pons__heading_task *t = &h->task;
    const double most = turns ? TURN_MARGIN_M : t->margin_m;
    double margin = t->margin_m;
    if (hypot(at.x - t->from.x, at.y - t->from.y) < OWN_GROUND_M) {
        margin = fmin(margin, fmin(h->margin_from, most));
    }
    if (hypot(at.x - t->to.x, at.y - t->to.y) < OWN_GROUND_M) {
        margin = fmin(margin, fmin(h->margin_to, most));
    }
    return pons__shape_free(t->shape, h->g, at, margin);
}

// The most of the margin that a pose leaves; -1: it touches.
double pons__heading_margin(const pons__heading *h, pons_pose2 at)
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

void pons__heading_pour(pons__heading *h, uint32_t cost, int32_t cell)
{
    bucket *b = &h->ring[cost % RING];
    if (b->n == b->cap && !pons_list_reserve(&b->cell, &b->cap, b->n + 1, sizeof *b->cell)) {
        h->starved = true;
        return;
    }
    h->left[cell] = cost;
    b->cell[b->n++] = cell;
    h->n_open++;
}

static bool looked_at(const pons__heading *h, int cx, int cy)
{
    return !h->tiles || h->tiles[cy / TILE * h->tiles_w + cx / TILE];
}

static void allow(pons__heading *h, double x, double y)
{
    const pons__costmap *g = h->g;
    const int about = (int)(h->task.about_m * g->inv_res),
              cx = pons__costmap_col(g, x) - h->task.x0, cy = pons__costmap_row(g, y) - h->task.y0;
    for (int ty = (cy > about ? cy - about : 0) / TILE; ty * TILE < h->h && ty * TILE <= cy + about;
         ty++) {
        for (int tx = (cx > about ? cx - about : 0) / TILE;
             tx * TILE < h->w && tx * TILE <= cx + about; tx++) {
            h->tiles[ty * h->tiles_w + tx] = 1;
        }
    }
}

bool pons__heading_ground(pons__heading *h)
{
    const pons__heading_task *t = &h->task;
    for (int k = 0; k < PONS__LEVELS; k++) {
        const uint32_t m = isinf(t->metre[k]) ? UNIT * TOO_NEAR : (uint32_t)(UNIT * t->metre[k]);
        h->step[0][k] = k == 0 ? 0 : STRAIGHT * m / UNIT;
        h->step[1][k] = k == 0 ? 0 : DIAGONAL * m / UNIT;
    }
    if (t->n_way == 0) {
        return true;
    }
    h->tiles_w = (h->w - 1) / TILE + 1;
    h->tiles = calloc((size_t)h->tiles_w * (size_t)((h->h - 1) / TILE + 1), 1);
    for (int i = 0; h->tiles && i < t->n_way; i += TILE) {
        allow(h, t->way_x[i], t->way_y[i]);
    }
    if (h->tiles) {
        allow(h, t->from.x, t->from.y);
        allow(h, t->to.x, t->to.y);
    }
    return h->tiles != NULL;
}

// What a step from there costs, straight and to a corner.
static void dues(const pons__heading *h, size_t at, int x, int y, uint32_t ret[2])
{
    const uint8_t level = pons__costmap_level(h->g, at);
    ret[0] = h->step[0][level];
    ret[1] = h->step[1][level];
    if (h->task.extra) {
        const double more =
            h->task.extra(h->task.user, pons__costmap_x(h->g, x), pons__costmap_y(h->g, y));
        ret[0] += (uint32_t)(STRAIGHT * more);
        ret[1] += (uint32_t)(DIAGONAL * more);
    }
}

// True: it is over.
bool pons__heading_flood(pons__heading *h, int *cells)
{
    const pons__costmap *g = h->g;
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
        const int cx = cell % h->w, cy = cell / h->w, x = cx + h->task.x0, y = cy + h->task.y0;
        const size_t at = (size_t)y * (size_t)g->w + (size_t)x;
        uint32_t due[2];
        dues(h, at, x, y, due);
        for (int dy = cy > 0 ? -1 : 0; dy <= (cy + 1 < h->h ? 1 : 0); dy++) {
            for (int dx = cx > 0 ? -1 : 0; dx <= (cx + 1 < h->w ? 1 : 0); dx++) {
                const int32_t next = cell + dy * h->w + dx;
                const uint32_t cost = h->at + due[dx != 0 && dy != 0];
                if (cost < h->left[next] && looked_at(h, cx + dx, cy + dy) &&
                    pons__costmap_level(g, at + (size_t)((ptrdiff_t)dy * g->w + dx)) > 0) {
                    pons__heading_pour(h, cost, next);
                }
            }
        }
    }
    return true;
}
