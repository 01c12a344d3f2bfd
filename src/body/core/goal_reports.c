// goal_reports.c - what others see of the body's goals, and poses as they see them.
#include "body/core/goal_reports.h"

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
        if (pons__goal_active(&b->goals[i]) && !b->goals[i].ending &&
            b->goals[i].state == PONS_GOAL_HELD) {
            return true;
        }
    }
    return false;
}

// One that is ending has nothing any more.
static bool has(const pons__goal *g)
{
    return pons__goal_active(g) && !g->ending;
}

const pons__goal *pons__goal_base(const pons_body *b)
{
    for (size_t i = 0; i < PONS__GOALS_MAX; i++) {
        if (has(&b->goals[i]) && b->goals[i].skill->needs_base) {
            return &b->goals[i];
        }
    }
    return NULL;
}

const pons__goal *pons__goal_arm(const pons_body *b)
{
    for (size_t i = 0; i < PONS__GOALS_MAX; i++) {
        if (has(&b->goals[i]) && b->goals[i].skill->needs_arm) {
            return &b->goals[i];
        }
    }
    return NULL;
}

const pons__goal *pons__goal_shown(const pons_body *b)
{
    const pons__goal *shown = pons__goal_base(b) ? pons__goal_base(b) : pons__goal_arm(b);
    for (size_t i = 0; !shown && i < PONS__GOALS_MAX; i++) {
        if (pons__goal_active(&b->goals[i])) {
            shown = &b->goals[i];
        }
    }
    return shown;
}

const pons_value *pons__body_resources(const pons_body *b)
{
    return pons_get(pons_get(b->world, "robot"), "resources");
}

int64_t pons__goals_counted(const pons_body *b, const char *resource, const pons__goal *but)
{
    int64_t taken = 0;
    for (size_t i = 0; i < PONS__GOALS_MAX; i++) {
        const pons__goal *g = &b->goals[i];
        if (pons__goal_active(g) && g != but) {
            taken += pons__skills_counted(&b->skills, g->skill, resource);
        }
    }
    return taken;
}
