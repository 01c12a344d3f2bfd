// motion_rules.c - the rules that measure how an action moves: joints, speeds and forces.
#include "critic/judgement.h"

#include <math.h>
#include <string.h>

static void check_range(judgement *j, const char *joint, const char *what, double value, double low,
                        double high)
{
    if (value < low || value > high) {
        pons__violated(j, "joint_limit", value, value < low ? low : high, "rad",
                       "%s of %s is %.4g; it goes from %.4g to %.4g", what, joint, value, low,
                       high);
    }
}

static void check_joint(judgement *j, const critic_joint *joint, const pons_value *value,
                        bool speeds)
{
    if (json_is_number(value)) {
        check_range(j, joint->name, speeds ? "the speed" : "the position", json_number_value(value),
                    speeds ? -joint->speed_max : joint->min,
                    speeds ? joint->speed_max : joint->max);
    }
}

// {name: value} or [value…] in the order of the profile.
static void check_joints(judgement *j, const pons_value *asked, bool speeds)
{
    const critic_body *body = &j->critic->body;
    size_t i;
    if (!asked) {
        return;
    }
    if (!body->has_joints) {
        pons__unjudged(j, "joint_limit");
        return;
    }
    for (i = 0; i < json_array_size(asked) && i < body->n_joints; i++) {
        check_joint(j, &body->joints[i], json_array_get(asked, i), speeds);
    }
    if (json_array_size(asked) > body->n_joints) {
        pons__violated(j, "joint_limit", (double)json_array_size(asked), (double)body->n_joints,
                       "joints", "%zu joints; the robot has %zu", json_array_size(asked),
                       body->n_joints);
    }
    pons_each_member(name, value, asked) {
        for (i = 0; i < body->n_joints && strcmp(body->joints[i].name, name) != 0; i++) {
        }
        if (i < body->n_joints) {
            check_joint(j, &body->joints[i], value, speeds);
        } else {
            pons__violated(j, "joint_limit", NAN, NAN, NULL, "no joint %s on this robot", name);
        }
    }
}

// What may be asked for that has a limit, and the arguments that ask for it.
static const struct quantity {
    const char *says, *unit;
    enum { SPEED, YAW_RATE, ACCEL, FORCE } of;
    const char *keys[6]; // NULL ends them
} quantities[] = {
    {"speed", "m/s", SPEED, {"speed", "speed_mps", "max_speed", "speed_max_mps", "velocity", NULL}},
    {"yaw rate", "rad/s", YAW_RATE, {"yaw_rate", "yaw_rate_radps", "angular_speed", NULL}},
    {"acceleration", "m/s²", ACCEL, {"accel_mps2", "acceleration", NULL}},
    {"force", "N", FORCE, {"force", "force_n", NULL}},
    {"grip force", "N", FORCE, {"grip_force_n", NULL}},
};

static void check_quantity(judgement *j, const struct quantity *q, const char *key)
{
    const critic_body *l = &j->critic->body;
    const double asked = pons_get_num(j->args, key, NAN);
    const double limits[] = {[SPEED] = asked < 0 && !isnan(l->reverse_mps) ? l->reverse_mps
                                                                           : l->speed_mps,
                             [YAW_RATE] = l->yaw_rate_radps,
                             [ACCEL] = l->accel_mps2,
                             [FORCE] = l->force_n};
    const double limit = limits[q->of];
    if (isnan(asked)) {
        return;
    }
    if (isnan(limit)) {
        pons__unjudged(j, "speed_limit");
    } else if (fabs(asked) > limit) {
        pons__violated(j, "speed_limit", fabs(asked), limit, q->unit, "%s %.4g %s; max %s%.4g %s",
                       q->says, fabs(asked), q->unit, asked < 0 ? "backwards " : "", limit,
                       q->unit);
    }
}

void pons__critic_motion(judgement *j)
{
    check_joints(j, pons_get(j->args, "joints"), false);
    check_joints(j, pons_get(j->args, "joint_positions"), false);
    check_joints(j, pons_get(j->args, "joint_velocities"), true);
    if (j->critic->skills_value && !(j->skill && j->skill->moves)) {
        return; // a fan's speed is no robot's
    }
    for (size_t i = 0; i < sizeof quantities / sizeof *quantities; i++) {
        for (const char *const *key = quantities[i].keys; *key; key++) {
            check_quantity(j, &quantities[i], *key);
        }
    }
}
