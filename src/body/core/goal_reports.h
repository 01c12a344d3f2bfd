// goal_reports.h - what others see of the body's goals, and poses as they see them.
#pragma once

#include "body/core/body.h"

// Goals, as others see them.
bool pons__goal_active(const pons__goal *g); // false: a free place
// Loops over the active ones; g is const as b is.
#define pons__each_goal(g, b)                                                                      \
    for (__typeof__(&(b)->goals[0]) g = (b)->goals; g < (b)->goals + PONS__GOALS_MAX; g++)         \
        if (pons__goal_active(g))
bool pons__goals_held(const pons_body *b);
const pons__goal *pons__goal_base(const pons_body *b);  // the goal that has the base, or NULL
const pons__goal *pons__goal_arm(const pons_body *b);   // the arm, or NULL
const pons__goal *pons__goal_shown(const pons_body *b); // the one that telemetry shows, or NULL

// Resources that are counted: how much the world's robot has of each, {name: amount}, borrowed, NULL: none
// is; and how much of one the active goals take, without `but` (NULL: all of them).
const pons_value *pons__body_resources(const pons_body *b);
int64_t pons__goals_counted(const pons_body *b, const char *resource, const pons__goal *but);

pons_report_pose pons__pose_shown(pons_pose2 p);
