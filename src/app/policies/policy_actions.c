// policy_actions.c - a server's rows of numbers as actions in our units.
//
//     joints     each number times `scale`; where `gripper` is given, the last is the gripper
//     deltas     x, y, z, roll, pitch, yaw by the units of `delta`, then the gripper
//
// What the body can do with them it judges itself: limits are its skills' and its gate's.
#include "app/policies/policies.h"

#include <math.h>
#include <stdlib.h>

#define WHERE    "policy"
#define DELTA    6
#define POSITION 3 // of them

static double in_our_units(const policy_meaning *m, size_t i, size_t width, double v)
{
    const policy_gripper *g = &m->gripper;
    if (g->known && i + 1 == width) {
        const double share = (v - g->closed) / (g->open - g->closed);
        return fmin(fmax(share, 0.0), 1.0) * g->width_m;
    }
    if (m->delta) {
        return v * (i < POSITION ? m->position_m : m->rotation_rad);
    }
    return v * m->scale;
}

int app_policy_actions(const policy_meaning *m, const pons_policy_rows *rows, pons_value **ret,
                       pons_error *err)
{
    if (m->delta && rows->width != DELTA + 1) {
        return pons_error_set(err, PONS_EPROTOCOL, WHERE,
                              "an action has %zu numbers: a delta has 6, and the gripper's",
                              rows->width);
    }
    const size_t n = rows->n < (size_t)m->chunk ? rows->n : (size_t)m->chunk;
    pons_value *actions = json_array();
    for (size_t i = 0; i < n * rows->width; i++) {
        if (!isfinite(rows->at[i])) {
            pons_value_unref(actions);
            return pons_error_set(err, PONS_EPROTOCOL, WHERE, "action %zu has %g", i / rows->width,
                                  rows->at[i]);
        }
        if (i % rows->width == 0) {
            json_array_append_new(actions, json_array());
        }
        json_array_append_new(
            json_array_get(actions, i / rows->width),
            json_real(in_our_units(m, i % rows->width, rows->width, rows->at[i])));
    }
    const char *frame = m->in_tool ? "tool" : "base";
    *ret =
        pons_object("actions", actions, "frame", m->delta ? json_string(frame) : PONS_ABSENT, NULL);
    return PONS_OK;
}
