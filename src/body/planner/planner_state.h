// planner_state.h - what the files of the planner share: planner.c the plan's stages and the cells, planner_headings.c the
// search with headings along them, path_smoothing.c from cells to a path.
#pragma once

#include "body/planner/astar.h"
#include "body/planner/hybrid_astar.h"
#include "body/planner/nav_errors.h"
#include "body/planner/path_smoothing.h"

#include <math.h>
#include <stdio.h>

enum { SPOTS = 8, DETOURS = 4 };
#define GATE_M       0.05 // what the gate keeps free
#define MARGIN_M     0.10 // and 0.05 for tracking
#define SPOT_M       0.5  // around a place where progress failed
#define NEAR_COST    5.0
#define START_MOVE_M 0.4

typedef struct place {
    int cx, cy;
    double x, y;
    bool moved;
} place;

typedef enum stage { IDLE, REGIONS, SEARCH, HEADING, SHAPE } stage;

typedef struct headed { // the search by heading, along the cells' way
    pons__heading *search;
    const pons__shape *shape; // borrowed
    pons__shape round;        // what it is of a circle
    double turning_radius_m;
    pons__plan_kind asked, kind;
    double *rx, *ry; // (n_route) the cells' way
    int n_route, route_at, route_to;
    pons_pose2 at; // where the next stretch begins
    bool wide;     // this stretch has failed once, and looks further about
    int searched, detours, n_shut;
    struct {
        double x, y, r;
    } shut[DETOURS];
} headed;

struct pons__planner {
    pons__costmap *grid; // borrowed
    double radius, forbidden;
    double margin_m;             // beside the robot, of a cell's middle
    uint16_t cost[PONS__LEVELS]; // by level of distance; 0: forbidden
    float metre[PONS__LEVELS];   // the same as a factor, for smoothing
    pons__regions *regions;      // NULL: the map is searched whole
    pons__search *search;
    headed by;

    // the search that is under way
    stage stage;
    pons_pose2 start, goal;
    bool shut_by_map; // the goal lies in a wall or an unknown cell
    place from, to;
    int leg_from; // of the regions' way, where this leg begins
    int n_lattice, cap_lattice;
    double *px, *py; // (n_lattice) the cells of the path, as points
    double *qx, *qy; // (PONS__PATH_MAX) scratch
    int expanded;    // cells, by this search
    struct {
        double x, y;
        int64_t until_ns;
    } spots[SPOTS]; // places where progress failed, the newest last
    int n_spots;
};

static inline int pons__planner_no_memory(char *msg, size_t cap)
{
    snprintf(msg, cap, "no memory for a search");
    return PONS_PLAN_UNKNOWN;
}

// planner_headings.c: the cells' way becomes what is followed; its next stretch begins, and is gone on with. ELSEWHERE:
// the cells' way must lead elsewhere.
#define PLANNER_ELSEWHERE (-2)
bool pons__planner_take_route(pons__planner *p);
bool pons__planner_next_stretch(pons__planner *p);
int pons__planner_step_heading(pons__planner *p, int cells, char *ret_msg, size_t msg_cap);
