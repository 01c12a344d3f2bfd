// arm_state.c - the arm as the body knows it: sensed twenty times a second.
//
// What is held is seen, not remembered: the fingers are apart and press, and something that is seen
// lies between them. Whatever becomes of it (it slips, somebody takes it, the body dies and comes back)
// the next look says so.
#include "body/arm/arm_state.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define APART_M   0.004 // fingers that are closer hold nothing
#define PRESS_N   4.0   // what moving fingers feel of themselves is less
#define BETWEEN_M 0.035 // of a thing's box from the tool's point, across and along the fingers

int pons__limb_open(pons__limb *h, const pons_robot_ops *robot, void *self, const pons_value *world,
                    pons_error *err)
{
    const pons_robot_arm_ops *ops = pons_robot_arm(robot);
    memset(h, 0, sizeof *h);
    h->held = -1;
    if (!ops || !ops->caps(self, &h->caps)) {
        return PONS_OK;
    }
    if (ops->abi != PONS_ROBOT_ARM_ABI) {
        return pons_error_set(err, PONS_EUNSUPPORTED, "body",
                              "the driver's arm has ABI %u, this body's is %u", ops->abi,
                              PONS_ROBOT_ARM_ABI);
    }
    const int rc =
        pons_arm_load(h->caps.urdf, h->caps.base_link, h->caps.tool_link, &h->model, err);
    if (rc < 0) {
        return rc;
    }
    h->ops = ops;
    h->self = self;
    h->world = world;
    h->grip_width = h->caps.width_max_m;
    h->grip_force = h->caps.force_max_n;
    pons_pose2 start = {pons_get_num(pons_get(world, "start"), "x", 0.0),
                        pons_get_num(pons_get(world, "start"), "y", 0.0),
                        pons_get_num(pons_get(world, "start"), "yaw", 0.0)};
    const pons_value *boxes = pons_get(pons_get(world, "map"), "boxes");
    for (size_t i = 0; i < json_array_size(boxes) && h->n_surfaces < PONS__LIMB_BOXES; i++) {
        const pons_value *b = json_array_get(boxes, i);
        const bool wall = strcmp(pons_get_str(b, "kind", ""), "wall") == 0;
        const double high = pons_get_num(b, "height_m", wall ? 1.0 : 0.75);
        const pons_pose2 at = {pons_get_num(b, "x", 0.0), pons_get_num(b, "y", 0.0),
                               pons_get_num(b, "yaw", 0.0)};
        const pons_pose2 here = pons_pose_between(start, at);
        pons__surface *s = &h->surfaces[h->n_surfaces++];
        snprintf(s->id, sizeof s->id, "%s", pons_get_str(b, "id", ""));
        s->box = (pons_arm_box){
            here.x,
            here.y,
            0.5 * high,
            here.yaw,
            {0.5 * pons_get_num(b, "sx", 0.0), 0.5 * pons_get_num(b, "sy", 0.0), 0.5 * high}};
        s->box.x -= h->caps.mount.p[0]; // of base_link, which is mounted upright
        s->box.y -= h->caps.mount.p[1];
        s->box.z -= h->caps.mount.p[2];
    }
    pons__limb_sense(h);
    return PONS_OK;
}

void pons__limb_close(pons__limb *h)
{
    pons_arm_destroy(h->model);
    memset(h, 0, sizeof *h);
}

// The thing between the fingers; -1: none that is seen.
static int between(const pons__limb *h)
{
    const pons_pose3 back = pons_pose3_inverse(&h->tool);
    int best = -1;
    double best_m = INFINITY;
    for (int i = 0; i < h->n_objects; i++) {
        const pons_robot_object *o = &h->objects[i];
        double p[3];
        pons_pose3_point(&back, o->pose.p, p);
        const double wide = fmin(o->half[0], o->half[1]);
        const double off = sqrt(p[0] * p[0] + p[1] * p[1]);
        const bool there = off < BETWEEN_M && fabs(p[2]) < o->half[2] + BETWEEN_M &&
                           2.0 * wide < h->caps.width_max_m + APART_M;
        if (there && off < best_m) {
            best = i;
            best_m = off;
        }
    }
    return best;
}

bool pons__limb_full(const pons__limb *h)
{
    return h->state.width_m > APART_M && h->state.force_n > PRESS_N;
}

void pons__limb_sense(pons__limb *h)
{
    if (!h->ops) {
        return;
    }
    h->ops->state(h->self, &h->state);
    pons_arm_forward(h->model, h->state.q, &h->tool);
    h->n_objects = h->ops->objects ? h->ops->objects(h->self, h->objects, PONS_ROBOT_OBJECTS) : 0;
    const pons_pose3 back = pons_pose3_inverse(&h->caps.mount);
    for (int i = 0; i < h->n_objects; i++) {
        h->objects[i].pose = pons_pose3_compose(&back, &h->objects[i].pose);
    }
    h->held = pons__limb_full(h) ? between(h) : -1;
    pons__scene_relate(h);
}

void pons__limb_grip(pons__limb *h, double width_m, double force_n)
{
    h->grip_width = width_m;
    h->grip_force = force_n;
    h->grips++;
}

// Is that one of its names, by the world's list of such things?
static bool called(const pons_value *list, const char *id, const char *name)
{
    pons_each(o, list) {
        if (strcmp(pons_get_str(o, "id", ""), id) != 0) {
            continue;
        }
        pons_each_member(language, words, pons_get(o, "names")) {
            for (size_t w = 0; w < json_array_size(words); w++) {
                const char *word = json_string_value(json_array_get(words, w));
                if (word && strcasecmp(word, name) == 0) {
                    return true;
                }
            }
        }
    }
    return false;
}

int pons__limb_find(const pons__limb *h, const char *name)
{
    for (int i = 0; i < h->n_objects; i++) {
        if (strcasecmp(h->objects[i].id, name) == 0) {
            return i;
        }
    }
    for (int i = 0; i < h->n_objects; i++) {
        if (called(pons_get(h->world, "objects"), h->objects[i].id, name)) {
            return i;
        }
    }
    return -1;
}

int pons__limb_surface(const pons__limb *h, const char *name)
{
    for (int i = 0; i < h->n_surfaces; i++) {
        if (strcasecmp(h->surfaces[i].id, name) == 0 ||
            called(pons_get(pons_get(h->world, "map"), "boxes"), h->surfaces[i].id, name)) {
            return i;
        }
    }
    return -1;
}
