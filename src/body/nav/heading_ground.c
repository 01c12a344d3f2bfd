// heading_ground.c - the ground of a search with headings: what may be stood on, and the flood that tells what is
// left to the goal (heading.c).
#include "body/nav/heading_parts.h"

#include <stdlib.h>

enum {
    STRAIGHT = 10, // of the flood: a step to a side, and
    DIAGONAL = 14, // to a corner
    UNIT = 16,
    TOO_NEAR = 30 // times what the open costs
};
static const double OWN_GROUND_M = 0.7; // around start and goal
static const double DEAREST = 6.0;      // a metre beside something

static uint8_t level_at(const pons__costmap *g, double x, double y)
{
    const int cx = pons__costmap_col(g, x), cy = pons__costmap_row(g, y);
    return pons__costmap_inside(g, cx, cy)
               ? pons__costmap_level(g, (size_t)cy * (size_t)g->w + (size_t)cx)
               : 0;
}

double pons__heading_metre(const pons__heading *h, double x, double y)
{
    const float m = h->task.metre[level_at(h->g, x, y)];
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

bool pons__heading_free(const pons__heading *h, pons_pose2 at)
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
bool pons__heading_flood(pons__heading *h, int *cells)
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
                pons__heading_pour(h, cost, next);
            }
        }
    }
    return true;
}
