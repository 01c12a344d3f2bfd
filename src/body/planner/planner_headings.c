// planner_headings.c - headings along the way of the cells, stretch by stretch (planner.c, 5).
#include "body/planner/planner_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double WHOLE_M = 32.0;   // a map of such sides is planned by heading at once,
static const double STRETCH_M = 20.0; // a larger one in stretches of such sides
static const double AGAIN_M = 3.0;    // of which so much is planned again,
static const double ABOUT_M = 3.0, WIDE_M = 8.0; // with so much around them,
static const double BESIDE_M = 2.0; // and at first with less beside the way of the cells
static const double NEAR_M = 0.4;   // that a stretch's end is met by

// The cells' way becomes what the search by heading follows; px, py are free for its own.
bool pons__planner_take_route(pons__planner *p)
{
    headed *b = &p->by;
    double *rx = malloc(sizeof *rx * (size_t)p->n_lattice),
           *ry = malloc(sizeof *ry * (size_t)p->n_lattice);
    if (!b->search) {
        b->search = pons__heading_create(p->grid);
    }
    if (!rx || !ry || !b->search) {
        free(rx);
        free(ry);
        return false;
    }
    memcpy(rx, p->px, sizeof *rx * (size_t)p->n_lattice);
    memcpy(ry, p->py, sizeof *ry * (size_t)p->n_lattice);
    free(b->rx);
    free(b->ry);
    b->rx = rx;
    b->ry = ry;
    b->n_route = p->n_lattice;
    b->route_at = 0;
    b->wide = false;
    b->at = (pons_pose2){p->from.x, p->from.y, isfinite(p->start.yaw) ? p->start.yaw : 0.0};
    p->n_lattice = 0;
    return true;
}

bool pons__planner_next_stretch(pons__planner *p)
{
    const pons__costmap *g = p->grid;
    headed *b = &p->by;
    double x0 = b->at.x, x1 = x0, y0 = b->at.y, y1 = y0;
    const bool whole = fmax(g->w, g->h) * g->res <= WHOLE_M;
    int to = b->route_at;
    for (; to < b->n_route; to++) {
        const double low_x = fmin(x0, b->rx[to]), high_x = fmax(x1, b->rx[to]),
                     low_y = fmin(y0, b->ry[to]), high_y = fmax(y1, b->ry[to]);
        if (!whole && fmax(high_x - low_x, high_y - low_y) > STRETCH_M) {
            break;
        }
        x0 = low_x;
        x1 = high_x;
        y0 = low_y;
        y1 = high_y;
    }
    b->route_to = to - 1 > b->route_at ? to - 1 : b->route_at;
    const bool last = to == b->n_route;
    const int about = (int)((b->wide ? WIDE_M : ABOUT_M) / g->res);
    pons__heading_task t = {
        .shape = b->shape,
        .metre = p->metre,
        .margin_m = p->margin_m,
        .turning_radius_m = b->turning_radius_m,
        .turns = b->kind == PONS__PLAN_TURNS,
        .extra = p->n_spots > 0 || b->detours > 0 ? pons__planner_spot_cost : NULL,
        .user = p,
        .from = b->at,
        .to = last ? (pons_pose2){p->to.x, p->to.y, p->goal.yaw}
                   : (pons_pose2){b->rx[b->route_to], b->ry[b->route_to], NAN},
        .near_m = last ? 0.0 : NEAR_M,
        .x0 = whole ? 0 : pons__costmap_col(g, x0) - about,
        .y0 = whole ? 0 : pons__costmap_row(g, y0) - about,
        .x1 = whole ? g->w : pons__costmap_col(g, x1) + about,
        .y1 = whole ? g->h : pons__costmap_row(g, y1) + about,
        .way_x = b->rx + b->route_at,
        .way_y = b->ry + b->route_at,
        .n_way = whole || b->wide ? 0 : b->route_to - b->route_at + 1,
        .about_m = fmax(BESIDE_M, 1.0 + b->shape->circumscribed_m + 2.0 * b->turning_radius_m),
    };
    t.x0 = t.x0 < 0 ? 0 : t.x0;
    t.y0 = t.y0 < 0 ? 0 : t.y0;
    t.x1 = t.x1 > g->w ? g->w : t.x1;
    t.y1 = t.y1 > g->h ? g->h : t.y1;
    return pons__heading_begin(b->search, &t);
}

// Adds the way of a stretch; what is before its last metres, unless it is the last one.
static bool take_stretch(pons__planner *p, bool last)
{
    headed *b = &p->by;
    int n = 0;
    pons_pose2 *way = pons__heading_way(b->search, &n);
    if (!way || !pons__planner_grow(p, n)) {
        free(way);
        return false;
    }
    int end = n - 1;
    for (double back = 0.0; !last && end > n / 2 && back < AGAIN_M; end--) {
        back += hypot(way[end].x - way[end - 1].x, way[end].y - way[end - 1].y);
    }
    for (int i = 0; i <= end; i++) {
        const int k = p->n_lattice - 1;
        if (k < 0 || hypot(way[i].x - p->px[k], way[i].y - p->py[k]) > 1e-6) {
            p->px[p->n_lattice] = way[i].x;
            p->py[p->n_lattice++] = way[i].y;
        }
    }
    b->at = way[end];
    free(way);
    double best = INFINITY;
    for (int i = b->route_at, from = i; i <= b->route_to; i++) {
        const double d = hypot(b->rx[i] - b->at.x, b->ry[i] - b->at.y);
        if (d < best) {
            best = d;
            b->route_at = i > from ? i : from + 1;
        }
    }
    if (last && p->n_lattice == 1) { // it has only turned
        p->px[1] = p->px[0];
        p->py[1] = p->py[0];
        p->n_lattice = 2;
    }
    return true;
}

// A place that its shape does not pass: the cells' way must lead elsewhere. Where it came to that place again, what is
// dear around it was too little.
static bool detour(pons__planner *p)
{
    headed *b = &p->by;
    const pons_pose2 at = pons__heading_furthest(b->search);
    if (b->detours == DETOURS || hypot(at.x - p->to.x, at.y - p->to.y) < SPOT_M) {
        return false;
    }
    b->detours++;
    for (int i = 0; i < b->n_shut; i++) {
        if (hypot(at.x - b->shut[i].x, at.y - b->shut[i].y) < b->shut[i].r + SPOT_M) {
            b->shut[i].r *= 2.0;
            return true;
        }
    }
    b->shut[b->n_shut].x = at.x;
    b->shut[b->n_shut].y = at.y;
    b->shut[b->n_shut++].r = SPOT_M;
    return true;
}

int pons__planner_step_heading(pons__planner *p, int cells, char *ret_msg, size_t msg_cap)
{
    headed *b = &p->by;
    const bool whole = fmax(p->grid->w, p->grid->h) * p->grid->res <= WHOLE_M;
    const int found = pons__heading_step(b->search, cells);
    if (found == 0) {
        return PONS__PLAN_GOES_ON;
    }
    b->searched += pons__heading_searched(b->search);
    if (found > 0) {
        const bool last = b->route_to == b->n_route - 1;
        const bool taken = take_stretch(p, last);
        pons__heading_end(b->search);
        if (!taken) {
            return pons__planner_no_memory(ret_msg, msg_cap);
        }
        b->wide = false;
        return last                            ? PONS_NAV_OK
               : pons__planner_next_stretch(p) ? PONS__PLAN_GOES_ON
                                               : pons__planner_no_memory(ret_msg, msg_cap);
    }
    if (!whole && !b->wide) {
        b->wide = true;
        return pons__planner_next_stretch(p) ? PONS__PLAN_GOES_ON
                                             : pons__planner_no_memory(ret_msg, msg_cap);
    }
    if (!whole && detour(p)) {
        pons__heading_end(b->search);
        return PLANNER_ELSEWHERE;
    }
    snprintf(ret_msg, msg_cap,
             "no way from (%.2f, %.2f) to (%.2f, %.2f) for its footprint and curves: %d headings "
             "searched%s",
             p->start.x, p->start.y, p->goal.x, p->goal.y, b->searched,
             found == -2 ? ", and given up" : "");
    return found == -2 ? PONS_PLAN_TIMEOUT : PONS_PLAN_NO_VALID_PATH;
}
