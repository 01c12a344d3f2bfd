// planner.h - a path over the costmap: searched, measured, smoothed (planner.c, path_geometry.c, path_smoothing.c).
#pragma once

#include "body/costmap/costmap.h"
#include "body/planner/nav_errors.h"

// ---- path ---------------------------------------------------------------------------------------

#define PONS__PATH_MAX 4096

typedef struct pons__path {
    int n;                    // 0: none
    double x[PONS__PATH_MAX]; // [m] in map
    double y[PONS__PATH_MAX];
    double s[PONS__PATH_MAX];    // [m] from the start, along the path
    double left[PONS__PATH_MAX]; // [m] to the end, weighted by nearness to obstacles, as planned
    bool moved_goal;             // the goal was occupied: the path ends at the nearest free place
} pons__path;

static inline double pons__path_length(const pons__path *p)
{
    return p->n > 0 ? p->s[p->n - 1] : 0.0;
}
// The point s metres along; clamped to the ends.
void pons__path_at(const pons__path *p, double s, double *ret_x, double *ret_y);
// Where along the path a pose is [m]: the nearest point from from_s on, no more than ahead_m
// further. *ret_off: how far beside it.
double pons__path_project(const pons__path *path, double from_s, double ahead_m, pons_pose2 pose,
                          double *ret_off);

// ---- planner ------------------------------------------------------------------------------------

typedef struct pons__planner pons__planner; // working memory; borrows the grid
pons__planner *pons__planner_create(pons__costmap *grid, double radius_m); // NULL: no memory
// For a shape that is not a circle, or a base that cannot turn where it stands; shape is borrowed.
pons__planner *pons__planner_create_for(pons__costmap *grid, const pons__shape *shape,
                                        double turning_radius_m);
void pons__planner_destroy(pons__planner *p); // NULL-safe
// What the next plan is made by. A robot that is not round is never planned for by cells alone: then CELLS
// is TURNS; nor one that cannot turn where it stands: then both are CURVES.
typedef enum pons__plan_kind {
    PONS__PLAN_CELLS, // places; the robot turns where it must
    PONS__PLAN_TURNS, // headings too: curves, and turns where it stands
    PONS__PLAN_CURVES // headings too: no curve tighter than its turning radius; ends at the goal's heading
} pons__plan_kind;
void pons__planner_use(pons__planner *p, pons__plan_kind kind);
// A place where progress failed: ways through it are dear for some minutes of robot time. And what
// time it is, before planning.
void pons__planner_avoid(pons__planner *p, double x, double y, int64_t now_ns);
void pons__planner_now(pons__planner *p, int64_t now_ns);
// A goal whose yaw is NAN may be reached in any heading. A plan in steps of about so many cells. PONS__PLAN_GOES_ON, and then: PONS_NAV_OK and *ret_path,
// or a number of 200–208 and a message; *ret_path untouched then. Memory that a search needs goes back
// at its end, and when it is dropped. What changes in the grid meanwhile may be seen or not.
#define PONS__PLAN_GOES_ON (-1)
int pons__planner_begin(pons__planner *p, pons_pose2 start, pons_pose2 goal, char *ret_msg,
                        size_t msg_cap);
int pons__planner_step(pons__planner *p, int cells, pons__path *ret_path, char *ret_msg,
                       size_t msg_cap);
void pons__planner_drop(pons__planner *p);
int pons__planner_searched(const pons__planner *p);     // cells, since it began
bool pons__planner_shut_by_map(const pons__planner *p); // the newest goal is, whatever goes away
bool pons__planner_is_large(const pons__planner *p);    // the map: more than a step may be needed
// All of it at once.
int pons__planner_plan(pons__planner *p, pons_pose2 start, pons_pose2 goal, pons__path *ret_path,
                       char *ret_msg, size_t msg_cap);
// Rounds a path towards the middle of its neighbours where that costs no clearance that matters.
// A path with curves stays as it is.
void pons__planner_smooth(pons__planner *p, pons__path *path);
// Fills s and left from x and y.
void pons__planner_measure(const pons__planner *p, pons__path *path);
// Cost of what is left from s on, or INFINITY when some of it has become too close to an obstacle;
// and what it was when planned.
double pons__planner_cost_from(const pons__planner *p, const pons__path *path, double s,
                               double *ret_planned);
