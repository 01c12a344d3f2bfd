// planner.h - searches a path over the costmap (planner.c), then smooths and measures it (path_smoothing.h).
#pragma once

#include "body/planner/nav_errors.h"
#include "body/planner/path_smoothing.h"

// Borrows the grid.
pons__planner *pons__planner_create(pons__costmap *grid, double radius_m); // NULL: no memory
// For a shape that is not a circle, or a base that cannot turn where it stands; shape is borrowed.
pons__planner *pons__planner_create_for(pons__costmap *grid, const pons__shape *shape,
                                        double turning_radius_m);
void pons__planner_destroy(pons__planner *p); // NULL-safe
void pons__planner_use(pons__planner *p, pons__plan_kind kind);
// A place where progress failed: ways through it are dear for some minutes of robot time. And what
// time it is, before planning.
void pons__planner_avoid(pons__planner *p, double x, double y, int64_t now_ns);
void pons__planner_now(pons__planner *p, int64_t now_ns);
// A goal whose yaw is NAN may be reached in any heading. A plan in steps of about so many cells. PONS__PLAN_GOES_ON, and then: PONS_NAV_OK and *ret_path,
// or a number of 200–208 and a message; *ret_path untouched then. Memory that a search needs goes back
// at its end, and when it is dropped. What changes in the grid meanwhile may be seen or not.
int pons__planner_begin(pons__planner *p, pons_pose2 start, pons_pose2 goal, char *ret_msg,
                        size_t msg_cap);
int pons__planner_step(pons__planner *p, int cells, pons__path *ret_path, char *ret_msg,
                       size_t msg_cap);
void pons__planner_drop(pons__planner *p);
int pons__planner_searched(const pons__planner *p);     // cells searched since it began
bool pons__planner_shut_by_map(const pons__planner *p); // the map blocks the newest goal for good
bool pons__planner_is_large(const pons__planner *p);    // a plan may need more than one step
// All of it at once.
int pons__planner_plan(pons__planner *p, pons_pose2 start, pons_pose2 goal, pons__path *ret_path,
                       char *ret_msg, size_t msg_cap);
