// heading_search.h - what the files of the search with headings share (hybrid_astar.c).
#pragma once

#include "body/planner/heading_task.h"

enum {
    RING = 1024, // buckets of the flood
    CURVES = 5,
    SHOT_MAX = 4000
};
#define SPACING_M   0.05  // of the poses of a way
#define TURN_COST_M 0.6   // half a turn where it stands costs so many metres
#define BEND_COST   1.05  // a curve is dearer than a line of its length
#define COST_M      200.0 // what a metre in the open costs, in the flood's units

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
    size_t n, cap;
} bucket;

typedef struct pons__heading {
    const pons__costmap *g;
    pons__heading_task task;
    double curvature[CURVES], step_m;
    double margin_from, margin_to;
    int w, h; // of the window

    uint32_t *left; // (h,w) cost to the goal
    uint8_t *tiles; // (tiles of the window) is looked at; NULL: all are
    int tiles_w;
    uint32_t step[2][PONS__LEVELS]; // of the flood, straight and to a corner, by level; 0: occupied
    bucket ring[RING];
    uint32_t at;
    int n_open;
    bool flooded;

    state *states;
    int n, cap;
    int32_t *bins; // open addressing: a state, or -1
    uint32_t mask;
    entry *heap;
    int n_heap;
    size_t cap_heap;
    int32_t best, nearest; // best: the last state of the way; -1
    float nearest_left;
    int searched;
    bool starved;
    pons_pose2 shot[SHOT_MAX]; // from best on
    int n_shot;
} pons__heading;

// hybrid_astar_grid.c: the cells of the window, what a metre there costs, and what is left to the goal from there.
uint32_t pons__heading_left(const pons__heading *h, double x, double y); // UINT32_MAX: no way
double pons__heading_metre(const pons__heading *h, double x, double y);
bool pons__heading_free(const pons__heading *h, pons_pose2 at, bool turns); // where it stands
double pons__heading_margin(const pons__heading *h, pons_pose2 at);         // -1: it touches
bool pons__heading_ground(pons__heading *h); // before a flood; false: no memory
void pons__heading_pour(pons__heading *h, uint32_t cost, int32_t cell);
bool pons__heading_flood(pons__heading *h, int *cells); // true: it is over

// hybrid_astar_curves.c: the rest of the way at once, from a state to the goal. False: not so.
bool pons__heading_shot(pons__heading *h, int32_t i);

static inline pons_pose2 pons__heading_along(pons_pose2 from, double arc_m, double curvature)
{
    const double turn = arc_m * curvature, half = 0.5 * turn;
    const double chord = fabs(half) < 1e-9 ? arc_m : arc_m * sin(half) / half;
    return (pons_pose2){from.x + chord * cos(from.yaw + half),
                        from.y + chord * sin(from.yaw + half), pons_wrap_angle(from.yaw + turn)};
}

static inline pons_pose2 pons__heading_pose(const state *s)
{
    return (pons_pose2){(double)s->x, (double)s->y, (double)s->yaw};
}
