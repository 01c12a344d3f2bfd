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
    pons__each_goal(g, b) {
        if (!g->ending && g->state == PONS_GOAL_HELD) {
            return true;
        }
    }
    return false;
}

// One that is ending has nothing any more.
const pons__goal *pons__goal_base(const pons_body *b)
{
    pons__each_goal(g, b) {
        if (!g->ending && g->skill->needs_base) {
            return g;
        }
    }
    return NULL;
}

const pons__goal *pons__goal_arm(const pons_body *b)
{
    pons__each_goal(g, b) {
        if (!g->ending && g->skill->needs_arm) {
            return g;
        }
    }
    return NULL;
}

const pons__goal *pons__goal_shown(const pons_body *b)
{
    const pons__goal *shown = pons__goal_base(b) ? pons__goal_base(b) : pons__goal_arm(b);
    pons__each_goal(g, b) {
        shown = shown ? shown : g;
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
    pons__each_goal(g, b) {
        if (g != but) {
            taken += pons__skills_counted(&b->skills, g->skill, resource);
        }
    }
    return taken;
}
