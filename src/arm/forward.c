// forward.c - where the links are, and how fast the tool moves with the joints.
#include "pons/arm.h"

#include <math.h>
#include <string.h>

const pons_arm_joint *pons_arm_joint_of(const pons_arm *a, int place)
{
    return &a->joints[a->chain[place]];
}

int pons_arm_find_link(const pons_arm *a, const char *name)
{
    for (int i = 0; i < a->n_links; i++) {
        if (strcmp(a->links[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

int pons_arm_find_joint(const pons_arm *a, const char *name)
{
    for (int i = 0; i < a->n_joints; i++) {
        if (strcmp(a->joints[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

bool pons_arm_within(const pons_arm *a, const double *q, double margin)
{
    for (int i = 0; i < a->n; i++) {
        const pons_arm_joint *j = pons_arm_joint_of(a, i);
        if (!isfinite(q[i]) || q[i] < j->lower - margin || q[i] > j->upper + margin) {
            return false;
        }
    }
    return true;
}

void pons_arm_clamp(const pons_arm *a, double *q)
{
    for (int i = 0; i < a->n; i++) {
        const pons_arm_joint *j = pons_arm_joint_of(a, i);
        q[i] = fmin(fmax(q[i], j->lower), j->upper);
    }
}

// The child's frame in the parent's, with the joint at q.
static pons_pose3 carried(const pons_arm_joint *j, double q)
{
    if (j->kind == PONS_ARM_FIXED) {
        return j->at;
    }
    pons_pose3 turn = pons_pose3_identity();
    if (j->kind == PONS_ARM_PRISMATIC) {
        for (int i = 0; i < 3; i++) {
            turn.p[i] = q * j->axis[i];
        }
    } else {
        const double c = cos(q), s = sin(q), t = 1.0 - c;
        const double x = j->axis[0], y = j->axis[1], z = j->axis[2];
        const double r[9] = {t * x * x + c,     t * x * y - s * z, t * x * z + s * y,
                             t * x * y + s * z, t * y * y + c,     t * y * z - s * x,
                             t * x * z - s * y, t * y * z + s * x, t * z * z + c};
        memcpy(turn.r, r, sizeof r);
    }
    return pons_pose3_compose(&j->at, &turn);
}

void pons_arm_forward(const pons_arm *a, const double *q, pons_pose3 *ret_tool)
{
    pons_pose3 at = pons_pose3_identity();
    for (int i = 0; i < a->n_path; i++) {
        const pons_arm_joint *j = &a->joints[a->path[i]];
        const pons_pose3 step = carried(j, j->place >= 0 ? q[j->place] : 0.0);
        at = pons_pose3_compose(&at, &step);
    }
    *ret_tool = at;
}

void pons_arm_frames(const pons_arm *a, const double *q, double others, pons_pose3 *ret)
{
    // From the root first, then as seen from `base`: links beside the chain are there too.
    for (int i = 0; i < a->n_links; i++) {
        if (a->links[i].joint < 0) {
            ret[i] = pons_pose3_identity();
        }
    }
    for (int i = 0; i < a->n_joints; i++) {
        const pons_arm_joint *j = &a->joints[i];
        const double at = j->place >= 0 ? q[j->place] : fmin(fmax(others, j->lower), j->upper);
        const pons_pose3 step = carried(j, at);
        ret[j->child] = pons_pose3_compose(&ret[j->parent], &step);
    }
    const pons_pose3 back = pons_pose3_inverse(&ret[a->base]);
    for (int i = 0; i < a->n_links; i++) {
        ret[i] = pons_pose3_compose(&back, &ret[i]);
    }
}

void pons_arm_jacobian(const pons_arm *a, const double *q, double *ret)
{
    double axes[PONS_ARM_JOINTS][3], from[PONS_ARM_JOINTS][3];
    pons_pose3 at = pons_pose3_identity();
    for (int i = 0; i < a->n_path; i++) {
        const pons_arm_joint *j = &a->joints[a->path[i]];
        const pons_pose3 step = carried(j, j->place >= 0 ? q[j->place] : 0.0);
        at = pons_pose3_compose(&at, &step);
        if (j->place >= 0) { // the axis is the same before and after the turn about it
            const pons_pose3 turn = {.r = {at.r[0], at.r[1], at.r[2], at.r[3], at.r[4], at.r[5],
                                           at.r[6], at.r[7], at.r[8]}};
            pons_pose3_point(&turn, j->axis, axes[j->place]);
            memcpy(from[j->place], at.p, sizeof at.p);
        }
    }
    const int n = a->n;
    for (int i = 0; i < n; i++) {
        const double *w = axes[i];
        const double d[3] = {at.p[0] - from[i][0], at.p[1] - from[i][1], at.p[2] - from[i][2]};
        const bool turns = pons_arm_joint_of(a, i)->kind == PONS_ARM_REVOLUTE;
        const double v[3] = {w[1] * d[2] - w[2] * d[1], w[2] * d[0] - w[0] * d[2],
                             w[0] * d[1] - w[1] * d[0]};
        for (int k = 0; k < 3; k++) {
            ret[k * n + i] = turns ? v[k] : w[k];
            ret[(3 + k) * n + i] = turns ? w[k] : 0.0;
        }
    }
}
