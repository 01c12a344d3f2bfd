// shown.c - what others see of the body's goals, and numbers and poses as they see them.
#include "body/core/shown.h"

#include <math.h>
#include <string.h>

pons_value *pons__pose_value(pons_pose2 p)
{
    return pons_object("x", pons__real(p.x), "y", pons__real(p.y), "yaw", pons__real(p.yaw), NULL);
}

pons_value *pons__real(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

bool pons__goal_active(const pons__goal *g)
{
    return g->msg.type != PONS_MESSAGE_NONE;
}

bool pons__goals_held(const pons_body *b)
{
    for (size_t i = 0; i < PONS__GOALS_MAX; i++) {
        if (pons__goal_active(&b->goals[i]) && strcmp(b->goals[i].state, "held") == 0) {
            return true;
        }
    }
    return false;
}

const pons__goal *pons__goal_base(const pons_body *b)
{
    for (size_t i = 0; i < PONS__GOALS_MAX; i++) {
        if (pons__goal_active(&b->goals[i]) && b->goals[i].skill->needs_base) {
            return &b->goals[i];
        }
    }
    return NULL;
}

const pons__goal *pons__goal_shown(const pons_body *b)
{
    const pons__goal *shown = pons__goal_base(b);
    for (size_t i = 0; !shown && i < PONS__GOALS_MAX; i++) {
        if (pons__goal_active(&b->goals[i])) {
            shown = &b->goals[i];
        }
    }
    return shown;
}
