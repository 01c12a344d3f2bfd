// arm_planner.c - where the arm must be to take something, and ways there that touch nothing.
//
// Inverse kinematics finds many configurations for one pose; one is good when the arm keeps clear of
// what stands there and above it, and the nearest good one is taken. A way is tried as a straight
// line of the joints, looked at in steps; where that would touch something, by way of straight up,
// and of home. Things that are seen are in the way like what stands, but for the one that is meant.
#include "body/arm/arm_state.h"

#include <math.h>
#include <string.h>

#define MODULE   "body"
#define AT_M     0.006 // room at the thing itself: fingers are near a table
#define WAY_M    0.012 // and on the way there
#define SHRINK_M 0.004 // of things: what is sensed is not exact
#define LOOKS    24    // at one straight line
#define TURNS    8
#define UP_M     0.12
#define UP_MPS   0.25

// What stands, and the things; in the frame of the arm's base.
static int room_of(const pons__limb *h, int but, pons_arm_box *boxes, int cap, bool things)
{
    int n = 0;
    for (int i = 0; i < h->n_surfaces && n < cap; i++) {
        boxes[n++] = h->surfaces[i].box;
    }
    for (int i = 0; things && i < h->n_objects && n < cap; i++) {
        const pons_robot_object *o = &h->objects[i];
        if (i != but && i != h->held) {
            boxes[n++] = (pons_arm_box){o->pose.p[0],
                                        o->pose.p[1],
                                        o->pose.p[2],
                                        atan2(o->pose.r[3], o->pose.r[0]),
                                        {o->half[0] - SHRINK_M, o->half[1] - SHRINK_M, o->half[2]}};
        }
    }
    return n;
}

enum { ROOM = PONS__LIMB_BOXES + PONS_ROBOT_OBJECTS };

static double clearance(const pons__limb *h, const double *q, int but, bool things)
{
    pons_arm_box boxes[ROOM];
    const pons_arm_room room = {.boxes = boxes,
                                .n = room_of(h, but, boxes, ROOM, things),
                                .floor = -h->caps.mount.p[2],
                                .others = 0.5 * h->state.width_m};
    return pons_arm_clearance(h->model, q, &room, NULL);
}

int pons__reach(const pons__limb *h, const pons_pose3 *at, double above_m, double turn_rad,
                double *ret_above, double *ret_at, pons_error *err)
{
    pons_arm_ik_options o = PONS_ARM_IK_OPTIONS_INIT;
    double best = INFINITY, nearest = -INFINITY;
    bool reached = false;
    o.rest = h->caps.home;
    o.starts = 4;
    o.limit_margin = 0.03;
    const int turns = turn_rad > 0.0 ? TURNS : 1;
    for (int i = 0; i < turns; i++) {
        // near turns first: 0, +1, −1, +2, …
        const double by = turn_rad * (i % 2 ? i + 1 : -i) * 0.5;
        const pons_pose3 turn = pons_pose3_of(0, 0, 0, 0, 0, by);
        pons_pose3 low = pons_pose3_compose(at, &turn), high = low;
        double up[PONS_ARM_JOINTS], down[PONS_ARM_JOINTS];
        high.p[2] += above_m;
        pons_error why = PONS_ERROR_INIT;
        int rc = pons_arm_inverse(h->model, &high, h->state.q, &o, up, &why);
        if (rc == PONS_EINVAL) {
            return pons_error_set(err, rc, MODULE, "%s", why.message);
        }
        if (rc < 0 || pons_arm_inverse(h->model, &low, up, &o, down, &why) < 0) {
            if (!reached) {
                pons_error_set(err, PONS_ENOTFOUND, MODULE, "%s", why.message);
            }
            continue;
        }
        reached = true;
        const double room = fmin(clearance(h, down, -1, false), clearance(h, up, -1, false));
        double far = 0.0, apart = 0.0;
        for (int k = 0; k < h->model->n; k++) {
            far = fmax(far, fabs(up[k] - h->state.q[k]));
            apart = fmax(apart, fabs(up[k] - down[k]));
        }
        nearest = fmax(nearest, room);
        if (room < AT_M || apart > 1.2 || far >= best) {
            continue;
        }
        best = far;
        memcpy(ret_above, up, sizeof up);
        memcpy(ret_at, down, sizeof down);
    }
    if (isfinite(best)) {
        return PONS_OK;
    }
    return !reached ? PONS_ENOTFOUND
                    : pons_error_set(err, PONS_ENOTFOUND, MODULE,
                                     "there is no room for the arm at (%.2f, %.2f, %.2f): %.3f m",
                                     at->p[0], at->p[1], at->p[2], nearest);
}

// A straight line of the joints keeps clear, or at least comes no nearer than where it begins.
static bool is_free(const pons__limb *h, const double *from, const double *to, int but)
{
    const double begins = clearance(h, from, but, true);
    for (int i = 1; i <= LOOKS; i++) {
        double q[PONS_ARM_JOINTS];
        for (int k = 0; k < h->model->n; k++) {
            q[k] = from[k] + (to[k] - from[k]) * i / LOOKS;
        }
        if (clearance(h, q, but, true) < fmin(WAY_M, begins - 1e-3)) {
            return false;
        }
    }
    return true;
}

int pons__way_to(const pons__limb *h, const double *q, int but, pons__way3 *ret, pons_error *err)
{
    const double *now = h->state.q;
    pons__way_clear(ret);
    if (is_free(h, now, q, but)) {
        pons__way_joints(ret, q);
        return PONS_OK;
    }
    // Straight up first, as far as that goes.
    pons_arm_ik_options o = PONS_ARM_IK_OPTIONS_INIT;
    double up[PONS_ARM_JOINTS];
    pons_pose3 high = h->tool;
    high.p[2] += UP_M;
    o.rest = now;
    o.starts = 1;
    const bool rises = pons_arm_inverse(h->model, &high, now, &o, up, NULL) == PONS_OK;
    if (rises && is_free(h, up, q, but)) {
        pons__way_line(ret, &high, UP_MPS);
        pons__way_joints(ret, q);
        return PONS_OK;
    }
    const double *from = rises ? up : now;
    if (is_free(h, from, h->caps.home, but) && is_free(h, h->caps.home, q, but)) {
        if (rises) {
            pons__way_line(ret, &high, UP_MPS);
        }
        pons__way_joints(ret, h->caps.home);
        pons__way_joints(ret, q);
        return PONS_OK;
    }
    return pons_error_set(err, PONS_ENOTFOUND, MODULE, "every way there would touch something");
}
