// object_relations.c - what lies where: relations between the things that are seen.
//
//     held   between the fingers, by what the gripper feels (arm_state.c)
//     in     its middle is within an open thing's walls, and not above its rim
//     on     its underside is at the top of a surface or of another thing, and its middle above that
//     near   within 0.15 m of another, across the floor
//
// Each is reckoned from poses and sizes alone, at every look: a relation is what is there, not what
// somebody did.
#include "body/arm/arm_state.h"

#include <math.h>
#include <string.h>

#define ON_M   0.015 // so far above or below a top still lies on it
#define RIM_M  0.02  // and so far above a rim is still in
#define NEAR_M 0.15
#define NEARS  4 // that are told of one
#define MILLI  1e-3

static bool holds_things(pons_robot_shape s)
{
    return s == PONS_SHAPE_BASKET || s == PONS_SHAPE_CUP;
}

static bool above(const pons_arm_box *b, const double p[3])
{
    const double c = cos(b->yaw), s = sin(b->yaw), dx = p[0] - b->x, dy = p[1] - b->y;
    return fabs(c * dx + s * dy) <= b->half[0] && fabs(c * dy - s * dx) <= b->half[1];
}

static bool is_in(const pons_robot_object *a, const pons_robot_object *b)
{
    const pons_pose3 back = pons_pose3_inverse(&b->pose);
    double p[3];
    pons_pose3_point(&back, a->pose.p, p);
    return holds_things(b->shape) && fabs(p[0]) < b->half[0] && fabs(p[1]) < b->half[1] &&
           p[2] > -b->half[2] && p[2] < b->half[2] + RIM_M;
}

static bool is_on(const pons_robot_object *a, const pons_robot_object *b)
{
    const pons_arm_box top = {b->pose.p[0],
                              b->pose.p[1],
                              b->pose.p[2],
                              atan2(b->pose.r[3], b->pose.r[0]),
                              {b->half[0], b->half[1], b->half[2]}};
    const double gap = a->pose.p[2] - a->half[2] - (b->pose.p[2] + b->half[2]);
    return !holds_things(b->shape) && fabs(gap) < ON_M && above(&top, a->pose.p);
}

void pons__scene_relate(pons__limb *h)
{
    for (int i = 0; i < h->n_objects; i++) {
        const pons_robot_object *o = &h->objects[i];
        h->in[i] = h->on[i] = -1;
        h->relation[i] = PONS__NOWHERE;
        if (i == h->held) {
            h->relation[i] = PONS__HELD;
            continue;
        }
        for (int k = 0; k < h->n_objects; k++) {
            if (k != i && k != h->held && h->relation[i] != PONS__IN) {
                const bool in = is_in(o, &h->objects[k]);
                if (in || (h->relation[i] == PONS__NOWHERE && is_on(o, &h->objects[k]))) {
                    h->in[i] = k;
                    h->relation[i] = in ? PONS__IN : PONS__ON;
                }
            }
        }
        double best = -INFINITY; // the highest top that it is on
        for (int k = 0; k < h->n_surfaces && h->relation[i] != PONS__IN; k++) {
            const pons_arm_box *b = &h->surfaces[k].box;
            const double top = b->z + b->half[2];
            if (fabs(o->pose.p[2] - o->half[2] - top) < ON_M && above(b, o->pose.p) && top > best) {
                best = top;
                h->on[i] = k;
                h->in[i] = -1;
                h->relation[i] = PONS__ON;
            }
        }
    }
}

static pons_value *rounded(double x)
{
    return json_real(round(x / MILLI) * MILLI);
}

static pons_value *near_to(const pons__limb *h, int i)
{
    pons_value *list = json_array();
    for (int k = 0; list && k < h->n_objects && json_array_size(list) < NEARS; k++) {
        const double *a = h->objects[i].pose.p, *b = h->objects[k].pose.p;
        if (k != i && hypot(a[0] - b[0], a[1] - b[1]) < NEAR_M) {
            json_array_append_new(list, json_string(h->objects[k].id));
        }
    }
    return list;
}

static const char *class_of(const pons__limb *h, const char *id)
{
    const pons_value *all = pons_get(h->world, "objects");
    for (size_t i = 0; i < json_array_size(all); i++) {
        if (strcmp(pons_get_str(json_array_get(all, i), "id", ""), id) == 0) {
            return pons_get_str(json_array_get(all, i), "class", "");
        }
    }
    return "";
}

pons_value *pons__scene_value(const pons__limb *h, pons_pose2 base)
{
    static const char *const words[] = {NULL, "on", "in", "held"};
    pons_value *all = json_array();
    const pons_pose3 map_from_base = pons_pose3_of(base.x, base.y, 0.0, 0.0, 0.0, base.yaw);
    const pons_pose3 map_from_arm = pons_pose3_compose(&map_from_base, &h->caps.mount);
    for (int i = 0; all && i < h->n_objects; i++) {
        const pons_robot_object *o = &h->objects[i];
        const char *word = words[h->relation[i]];
        const char *at = h->on[i] >= 0   ? h->surfaces[h->on[i]].id
                         : h->in[i] >= 0 ? h->objects[h->in[i]].id
                                         : NULL;
        double p[3];
        pons_pose3_point(&map_from_arm, o->pose.p, p);
        pons_value *position = json_array();
        for (int k = 0; position && k < 3; k++) {
            json_array_append_new(position, rounded(p[k]));
        }
        json_array_append_new(
            all,
            pons_object("id", json_string(o->id), "class", json_string(class_of(h, o->id)),
                        "position", position, "relation", word ? json_string(word) : json_null(),
                        "at", at ? json_string(at) : json_null(), "near", near_to(h, i), NULL));
    }
    return all;
}

pons_value *pons__limb_value(const pons__limb *h, const char *zone, const double *out)
{
    pons_value *joints = json_array(), *tool = json_array();
    double rpy[3];
    bool moves = false;
    const pons_pose3 in_base = pons_pose3_compose(&h->caps.mount, &h->tool);
    pons_pose3_rpy(&in_base, rpy);
    for (int i = 0; joints && i < h->state.n; i++) {
        json_array_append_new(joints, json_real(round(h->state.q[i] * 1e4) * 1e-4));
        moves = moves || out[i] != 0.0;
    }
    for (int i = 0; tool && i < 6; i++) {
        json_array_append_new(tool,
                              json_real(round((i < 3 ? in_base.p[i] : rpy[i - 3]) * 1e4) * 1e-4));
    }
    return pons_object("joints", joints, "tool", tool, "gripper_m", rounded(h->state.width_m),
                       "force_n", json_real(round(h->state.force_n * 10.0) * 0.1), "moving",
                       json_boolean(moves), "zone", json_string(zone), NULL);
}

static pons_value *point(const double p[3])
{
    pons_value *list = json_array();
    for (int i = 0; list && i < 3; i++) {
        json_array_append_new(list, json_real(p[i]));
    }
    return list;
}

// From the first joint's axis to the tool, stretched: each link at its length.
static double reach_of(const pons__limb *h)
{
    double sum = 0.0;
    bool turned = false;
    for (int i = 0; i < h->model->n_path; i++) {
        const pons_arm_joint *j = &h->model->joints[h->model->path[i]];
        if (turned) {
            sum +=
                sqrt(j->at.p[0] * j->at.p[0] + j->at.p[1] * j->at.p[1] + j->at.p[2] * j->at.p[2]);
        }
        turned = turned || j->kind != PONS_ARM_FIXED;
    }
    return sum;
}

pons_value *pons__limb_embodiment(const pons__limb *h, const char *robot_id, double radius_m)
{
    const pons_value *arm = pons_get(pons_get(h->world, "robot"), "arm");
    const pons_value *payload = pons_get(arm, "payload_kg");
    const pons_arm_joint *first = pons_arm_joint_of(h->model, 0);
    const pons_value *start = pons_get(h->world, "start");
    const double base[3] = {pons_get_num(start, "x", 0.0), pons_get_num(start, "y", 0.0), 0.0};
    pons_value *joints = json_array();
    double from[3];
    pons_pose3_point(&h->caps.mount, first->at.p, from);
    for (int i = 0; joints && i < h->model->n; i++) {
        const pons_arm_joint *j = pons_arm_joint_of(h->model, i);
        json_array_append_new(joints,
                              pons_object("name", json_string(j->name), "min",
                                          isfinite(j->lower) ? json_real(j->lower) : NULL, "max",
                                          isfinite(j->upper) ? json_real(j->upper) : NULL,
                                          "speed_max", json_real(j->speed_max), NULL));
    }
    pons_value *box =
        isfinite(h->caps.workspace_min[0])
            ? pons_object("frame", json_string("base"), "min", point(h->caps.workspace_min), "max",
                          point(h->caps.workspace_max), NULL)
            : NULL;
    return pons_object("name", json_string(robot_id), "model", json_string(h->model->name), "dof",
                       json_integer(h->model->n), "max_reach_m", json_real(reach_of(h)),
                       "reach_from", point(from), "base", point(base), "payload_kg",
                       payload ? pons_value_ref(payload) : NULL, "radius_m", json_real(radius_m),
                       "workspace", box, "joints", joints, NULL);
}
