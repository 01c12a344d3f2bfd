// tool_delta_ik.c - a policy's small motion of the tool, as joints: the tool's pose moved by the delta, and its inverse
// kinematics, which begin at the present joints. Redundant joints stay near their values.
#include "body/arm/arm_state.h"

#include <math.h>
#include <stdio.h>

#define STARTS 1 // near by or not at all: another posture would be a leap

bool pons__tool_delta(const pons_arm *model, const double delta[6], bool in_tool, double period_s,
                      pons_pose3 *tool, double *q, char *why, size_t cap)
{
    const pons_pose3 d = pons_pose3_of(delta[0], delta[1], delta[2], delta[3], delta[4], delta[5]);
    pons_pose3 to = in_tool ? pons_pose3_compose(tool, &d) : pons_pose3_compose(&d, tool);
    for (int i = 0; i < 3 && !in_tool; i++) { // it turns where it is, not about the base
        to.p[i] = tool->p[i] + delta[i];
    }
    double reached[PONS_ARM_JOINTS];
    pons_error err = PONS_ERROR_INIT;
    pons_arm_ik_options o = PONS_ARM_IK_OPTIONS_INIT;
    o.starts = STARTS;
    o.rest = q;
    if (pons_arm_inverse(model, &to, q, &o, reached, &err) < 0) {
        snprintf(why, cap, "is out of reach: %.160s", err.message);
        return false;
    }
    for (int i = 0; i < model->n; i++) {
        const pons_arm_joint *j = pons_arm_joint_of(model, i);
        const double radps = (reached[i] - q[i]) / period_s;
        if (fabs(radps) > j->speed_max) {
            snprintf(why, cap, "needs %g rad/s of %.40s: it goes up to %g", radps, j->name,
                     j->speed_max);
            return false;
        }
    }
    *tool = to;
    for (int i = 0; i < model->n; i++) {
        q[i] = reached[i];
    }
    return true;
}
