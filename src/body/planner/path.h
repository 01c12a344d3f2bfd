// path.h - a path over the costmap, and how one is planned (path_geometry.c).
#pragma once

#include "body/costmap/costmap.h"

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
// further. *ret_off: distance of the pose from the path.
double pons__path_project(const pons__path *path, double from_s, double ahead_m, pons_pose2 pose,
                          double *ret_off);

// How the next plan is searched. For a robot that is not round, CELLS means TURNS. For one that cannot turn
// in place, CELLS and TURNS mean CURVES.
typedef enum pons__plan_kind {
    PONS__PLAN_CELLS, // positions only; the robot turns in place where it must
    PONS__PLAN_TURNS, // headings too: curves, and turns in place
    PONS__PLAN_CURVES // headings too: no curve tighter than its turning radius; ends at the goal's heading
} pons__plan_kind;
#define PONS__PLAN_GOES_ON (-1) // a plan made in steps is not done yet
