// arm_policy - a policy for tests that really computes: from where it is told that a thing lies, and from the joints as
// they are, it finds by inverse kinematics of the arm's URDF where the joints must go, and answers with a chunk of joint
// velocities, or positions, that leads there; near it says done. With params.mode stages it answers with the way above
// the thing, the grasp, and the way to where it is put (ReKep). It answers with an error when a camera of the question
// has no JPEG, or when nobody says where the thing is.
//
//     arm_policy --checkpoint URDF     questions are lines of standard input
#include "pons/arm.h"

#include <jansson.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK    12
#define PERIOD_S 0.1
#define RADPS    0.8
#define ABOVE_M  0.15
#define MOUNT_M  0.4 // worlds/tabletop.yaml
#define NEAR_RAD 0.02

static const double home[] = {0, -M_PI / 4, 0, -3 * M_PI / 4, 0, M_PI / 2, M_PI / 4};

static double at(const json_t *list, size_t i)
{
    return json_number_value(json_array_get(list, i));
}

static json_t *error(const char *code, const char *message)
{
    return json_pack("{s{ss ss}}", "error", "code", code, "message", message);
}

static const json_t *position_of(const json_t *seen, const char *id)
{
    size_t i;
    json_t *o;
    json_array_foreach(json_object_get(json_object_get(seen, "environment"), "objects"), i, o) {
        const char *name = json_string_value(json_object_get(o, "id"));
        if (name && strcmp(name, id) == 0) {
            return json_object_get(o, "position");
        }
    }
    return NULL;
}

static bool sees(const json_t *seen)
{
    const char *name;
    json_t *image;
    bool all = json_object_size(json_object_get(seen, "images")) > 0;
    json_object_foreach(json_object_get(seen, "images"), name, image) {
        const char *data = json_string_value(json_object_get(image, "data"));
        all = all && data && strncmp(data, "/9j/", 4) == 0; // FF D8 FF
    }
    return all;
}

static json_t *reach(const pons_arm *arm, const json_t *seen, const json_t *to)
{
    const json_t *state = json_object_get(seen, "state");
    const char *mode = json_string_value(json_object_get(seen, "control_mode"));
    const bool positions = mode && strcmp(mode, "joint_position") == 0;
    const pons_pose3 base = pons_pose3_of(at(state, 0), at(state, 1), MOUNT_M, 0, 0, at(state, 2));
    const pons_pose3 back = pons_pose3_inverse(&base);
    const pons_pose3 there = pons_pose3_of(at(to, 0), at(to, 1), at(to, 2) + ABOVE_M, M_PI, 0, 0);
    const pons_pose3 target = pons_pose3_compose(&back, &there);
    pons_arm_ik_options o = PONS_ARM_IK_OPTIONS_INIT;
    pons_error err = PONS_ERROR_INIT;
    double q[PONS_ARM_JOINTS], wanted[PONS_ARM_JOINTS], off = 0;
    o.rest = home;
    o.any_yaw = true;
    for (int i = 0; i < arm->n; i++) {
        q[i] = at(state, 7 + (size_t)i);
    }
    if (pons_arm_inverse(arm, &target, q, &o, wanted, &err) < 0) {
        return error("NO_REACH", err.message);
    }
    json_t *actions = json_array();
    for (int k = 0; k < CHUNK; k++) {
        json_t *action = json_array();
        for (int i = 0; i < arm->n; i++) {
            const double v = fmax(fmin((wanted[i] - q[i]) / PERIOD_S, RADPS), -RADPS);
            off = k == 0 ? fmax(off, fabs(wanted[i] - q[i])) : off;
            q[i] += v * PERIOD_S;
            json_array_append_new(action, json_real(positions ? q[i] : v));
        }
        json_array_append_new(action, json_real(0.06)); // the gripper's opening
        json_array_append_new(actions, action);
    }
    if (off < NEAR_RAD) {
        json_array_clear(actions);
    }
    return json_pack("{so sb}", "actions", actions, "done", off < NEAR_RAD);
}

static json_t *stages(const json_t *thing, const char *object, const json_t *into,
                      const char *target)
{
    return json_pack("{s[{s[[f,f,f]] s[f,f,f] ss} {s[f,f,f] s{ss}}]}", "stages", "path",
                     at(thing, 0), at(thing, 1), at(thing, 2) + 2 * ABOVE_M, "subgoal",
                     at(thing, 0), at(thing, 1), at(thing, 2) + ABOVE_M, "grasp", object, "subgoal",
                     at(into, 0), at(into, 1), at(into, 2) + 2 * ABOVE_M, "release", "target",
                     target);
}

static json_t *answer(const pons_arm *arm, const json_t *question)
{
    const json_t *seen = json_object_get(question, "observation"),
                 *params = json_object_get(question, "params");
    const char *object = json_string_value(json_object_get(params, "object_id")),
               *target = json_string_value(json_object_get(params, "target"));
    const json_t *thing = object ? position_of(seen, object) : NULL;
    if (!sees(seen)) {
        return error("BLIND", "no JPEG of a camera");
    }
    const char *format = json_string_value(json_object_get(seen, "format"));
    if (!format || strcmp(format, "mujoco_standard") != 0) {
        return error("NO_FORMAT", "the target's obs_format is not said");
    }
    if (!thing) {
        return error("NOT_THERE", "nobody says where the thing is");
    }
    if (!target) {
        return reach(arm, seen, thing);
    }
    const json_t *into = position_of(seen, target);
    return into ? stages(thing, object, into, target) : error("NOT_THERE", "no place to put it");
}

int main(int argc, char **argv)
{
    pons_arm *arm = NULL;
    pons_error err = PONS_ERROR_INIT;
    char *line = NULL;
    size_t cap = 0;
    if (argc != 3 || pons_arm_load(argv[2], "link0", "tool", &arm, &err) < 0) {
        fprintf(stderr, "arm_policy: %s\n", argc == 3 ? err.message : "--checkpoint URDF");
        return 1;
    }
    while (getline(&line, &cap, stdin) > 0) {
        json_t *question = json_loads(line, 0, NULL), *said = answer(arm, question);
        char *text = json_dumps(said, JSON_COMPACT);
        printf("%s\n", text);
        fflush(stdout);
        free(text);
        json_decref(said);
        json_decref(question);
    }
    free(line);
    pons_arm_destroy(arm);
    return 0;
}
