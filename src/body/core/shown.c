// shown.c - what others see of the body's goals, and poses as they see them.
#include "body/core/shown.h"

pons_report_pose pons__pose_shown(pons_pose2 p)
{
    return (pons_report_pose){p.x, p.y, p.yaw};
}

bool pons__goal_active(const pons__goal *g)
{
    return g->msg.type != PONS_MESSAGE_NONE;
}

bool pons__goals_held(const pons_body *b)
{
    for (size_t i = 0; i < PONS__GOALS_MAX; i++) {
        if (pons__goal_active(&b->goals[i]) && b->goals[i].state == PONS_GOAL_HELD) {
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
