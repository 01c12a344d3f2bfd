// place.c - place: puts what the hand holds into a thing, onto a surface, or somewhere free.
//
//     PLAN --> GO (above, straight down) --> OPEN --> AWAY (straight up) --> SHOW --> done
//               | not between the fingers any more                            |
//             SLIPPED                                                   PLACE_FAILED
//
// Into an open thing it lets go at the rim, above the middle; onto a surface where there is room,
// nearest to the hand.
#include "body/skills/arm_common.h"

#include <stdarg.h>
#include <stdio.h>

enum { PHASE_PLAN, PHASE_GO, PHASE_OPEN, PHASE_AWAY, PHASE_SHOW };

#define ABOVE_M    0.12
#define DOWN_MPS   0.12
#define AWAY_M     0.12
#define BELOW_M    0.035 // of what is held, below the rim
#define RIM_M      0.006 // of the tool, above it
#define ON_M       0.003 // above a surface, when it lets go
#define EDGE_M     0.05
#define GRID_M     0.05
#define APART_M    0.03 // between things that lie on a surface
#define OPEN_S     0.6
#define OPEN_MAX_S 3.0
#define OPENED_M   0.012
#define SHOW_S     0.7
#define SHOW_MAX_S 2.5
#define AT_M       0.05
#define SPOTS_MAX  24 // that inverse kinematics is asked about

typedef struct spot {
    double x, y, z, far;
    int surface;
} spot;

static bool find_target(const pons__limb *h, const pons_value *args, int *ret_object,
                        int *ret_surface)
{
    const char *name = pons_get_str(args, "target", NULL);
    *ret_object = *ret_surface = -1;
    if (!name) {
        return true;
    }
    *ret_object = pons__limb_find(h, name);
    if (*ret_object < 0) {
        *ret_surface = pons__limb_surface(h, name);
    }
    return *ret_object >= 0 || *ret_surface >= 0;
}

__attribute__((format(printf, 3, 4))) static bool refuse(pons__skill_refusal *ret, int code,
                                                         const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(ret->text, sizeof ret->text, fmt, ap);
    va_end(ap);
    ret->error_code = code;
    return false;
}

static bool check(const pons__skill *k, const pons_value *args, const pons__skill_env *env,
                  pons__skill_refusal *ret)
{
    const pons__limb *h = env->hand;
    const char *name = pons_get_str(args, "object", NULL),
               *target = pons_get_str(args, "target", "");
    int object = -1, to = -1, surface = -1;
    if (name && !pons__arm_names(args, "object", env, &object, ret)) {
        return false;
    }
    if (h->held < 0 || (name && h->held != object)) {
        return refuse(ret, PONS__ARM_NOT_HOLDING, "NOT_HOLDING: the hand does not hold %.60s",
                      name ? name : "anything");
    }
    if (!find_target(h, args, &to, &surface)) {
        return refuse(ret, PONS__ARM_OBJECT_UNKNOWN, "OBJECT_UNKNOWN: no %.60s is here", target);
    }
    if (to == h->held) {
        return refuse(ret, PONS__ARM_OBJECT_UNKNOWN, "OBJECT_UNKNOWN: %.60s is in the hand",
                      target);
    }
    if (to >= 0 && h->objects[to].shape != PONS_SHAPE_BASKET &&
        h->objects[to].shape != PONS_SHAPE_CUP) {
        return refuse(ret, PONS__ARM_UNREACHABLE, "UNREACHABLE: nothing can be put into %.60s",
                      target);
    }
    if (to >= 0) {
        const double *a = h->objects[h->held].half, *b = h->objects[to].half;
        if (fmin(a[0], a[1]) > fmin(b[0], b[1]) - 0.01) {
            return refuse(ret, PONS__ARM_UNREACHABLE, "UNREACHABLE: it is too large for %.60s",
                          target);
        }
    }
    return true;
}

static void start(pons__skill_run *r, const pons__skill_env *env)
{
    const int held = env->hand->held;
    snprintf(r->arm.object, sizeof r->arm.object, "%s",
             held >= 0 ? env->hand->objects[held].id : "");
    r->phase = PHASE_PLAN;
}

// Is the spot on a surface free of other things, for one of that size?
static bool is_free(const pons__limb *h, const pons__surface *on, double x, double y, double size)
{
    const double top = on->box.z + on->box.half[2];
    for (int i = 0; i < h->n_objects; i++) {
        const pons_robot_object *o = &h->objects[i];
        const double away = size + hypot(o->half[0], o->half[1]) + APART_M;
        if (i != h->held && hypot(o->pose.p[0] - x, o->pose.p[1] - y) < away) {
            return false;
        }
    }
    for (int i = 0; i < h->n_surfaces; i++) { // what stands on it
        const pons_arm_box *b = &h->surfaces[i].box;
        const double c = cos(b->yaw), s = sin(b->yaw), dx = x - b->x, dy = y - b->y;
        if (&h->surfaces[i] != on && b->z + b->half[2] > top + ON_M &&
            fabs(c * dx + s * dy) < b->half[0] + size + APART_M &&
            fabs(c * dy - s * dx) < b->half[1] + size + APART_M) {
            return false;
        }
    }
    return true;
}

// Free places of a surface (-1: of all), the nearest to the tool first; how many.
static int spots(const pons__limb *h, int surface, double size, spot ret[SPOTS_MAX])
{
    int n = 0;
    for (int i = 0; i < h->n_surfaces; i++) {
        const pons__surface *s = &h->surfaces[i];
        if (surface >= 0 && i != surface) {
            continue;
        }
        const double edge = fmin(EDGE_M, 0.3 * fmin(s->box.half[0], s->box.half[1]));
        const double c = cos(s->box.yaw), k = sin(s->box.yaw);
        for (double u = -s->box.half[0] + edge; u <= s->box.half[0] - edge + 1e-9; u += GRID_M) {
            for (double v = -s->box.half[1] + edge; v <= s->box.half[1] - edge + 1e-9;
                 v += GRID_M) {
                spot p = {s->box.x + c * u - k * v, s->box.y + k * u + c * v,
                          s->box.z + s->box.half[2], 0.0, i};
                p.far = hypot(p.x - h->tool.p[0], p.y - h->tool.p[1]) + fabs(p.z - h->tool.p[2]);
                if (p.far > 1.5 || !is_free(h, s, p.x, p.y, size)) {
                    continue;
                }
                int at = n < SPOTS_MAX ? n++ : SPOTS_MAX - 1; // sorted in, the farthest falls out
                if (at == SPOTS_MAX - 1 && n == SPOTS_MAX && ret[at].far < p.far &&
                    ret[at].far > 0.0) {
                    continue;
                }
                for (; at > 0 && ret[at - 1].far > p.far; at--) {
                    ret[at] = ret[at - 1];
                }
                ret[at] = p;
            }
        }
    }
    return n;
}

static int go_to(pons__skill_run *r, const pons__limb *h, double x, double y, double z,
                 pons_error *err)
{
    const pons_pose3 at = pons__arm_down(x, y, z, pons__arm_yaw(h));
    double above[PONS_ARM_JOINTS], q[PONS_ARM_JOINTS];
    pons_pose3 low;
    int rc = pons__reach(h, &at, ABOVE_M, M_PI_4, above, q, err);
    rc = rc < 0 ? rc : pons__way_to(h, above, -1, &r->way, err);
    if (rc == PONS_OK) {
        pons_arm_forward(h->model, q, &low);
        pons__way_line(&r->way, &low, DOWN_MPS);
        r->arm.seen[0] = x;
        r->arm.seen[1] = y;
    }
    return rc;
}

static void plan(pons__skill_run *r, const pons__skill_env *env, pons__skill_output *ret)
{
    pons__limb *h = env->hand;
    const pons_robot_object *o = &h->objects[h->held];
    const pons_value *at = pons_get(r->args, "at");
    const double below = h->tool.p[2] - (o->pose.p[2] - o->half[2]);
    int to, surface, rc = PONS_ENOTFOUND;
    pons_error err = PONS_ERROR_INIT;
    pons_error_set(&err, PONS_ENOTFOUND, "body", "there is no free place within reach");
    find_target(h, r->args, &to, &surface);
    if (to >= 0) {
        const pons_robot_object *into = &h->objects[to];
        const double rim = into->pose.p[2] + into->half[2];
        rc =
            go_to(r, h, into->pose.p[0], into->pose.p[1], rim + fmax(below - BELOW_M, RIM_M), &err);
    } else if (at) {
        const double x = pons_get_num(at, "x", 0.0), y = pons_get_num(at, "y", 0.0);
        const pons_pose3 base =
            pons_pose3_of(env->pose.x, env->pose.y, 0.0, 0.0, 0.0, env->pose.yaw);
        const pons_pose3 arm = pons_pose3_compose(&base, &h->caps.mount);
        const pons_pose3 back = pons_pose3_inverse(&arm);
        const double p[3] = {x, y, pons_get_num(at, "z", 0.0)};
        double q[3];
        pons_pose3_point(&back, p, q); // z: of the thing's underside
        rc = go_to(r, h, q[0], q[1], q[2] + below + ON_M, &err);
    } else {
        spot all[SPOTS_MAX];
        const int n = spots(h, surface, hypot(o->half[0], o->half[1]), all);
        for (int i = 0; i < n && rc < 0; i++) {
            rc = go_to(r, h, all[i].x, all[i].y, all[i].z + below + ON_M, &err);
        }
    }
    if (rc < 0) {
        pons__arm_fail(ret, rc, &err);
        return;
    }
    pons__skill_phase(r, env, PHASE_GO);
}

static void open_up(pons__skill_run *r, const pons__skill_env *env, pons__skill_output *ret)
{
    const pons__limb *h = env->hand;
    const double s = pons__skill_in_phase_s(r, env);
    pons__arm_step_s(r, env);
    if (s > OPEN_MAX_S) {
        pons__skill_fail(ret, PONS__ARM_GRIPPER_STUCK, "GRIPPER_STUCK: it does not open (%.3f m)",
                         h->state.width_m);
    } else if (s > OPEN_S && (h->state.width_m > r->arm.width + OPENED_M ||
                              h->state.width_m > h->caps.width_max_m - OPENED_M)) {
        pons__arm_up(r, env, AWAY_M);
        pons__skill_phase(r, env, PHASE_AWAY);
    }
}

// Is it where it belongs, by what is seen?
static bool lies_there(const pons__skill_run *r, const pons__limb *h, int object)
{
    int to, surface;
    find_target(h, r->args, &to, &surface);
    const double *p = h->objects[object].pose.p;
    if (h->held == object) {
        return false;
    }
    if (to >= 0) {
        return h->relation[object] == PONS__IN && h->in[object] == to;
    }
    if (pons_get(r->args, "at")) {
        return hypot(p[0] - r->arm.seen[0], p[1] - r->arm.seen[1]) < AT_M;
    }
    return h->relation[object] == PONS__ON && (surface < 0 || h->on[object] == surface);
}

static void show(pons__skill_run *r, const pons__skill_env *env, int object,
                 pons__skill_output *ret)
{
    const double s = pons__skill_in_phase_s(r, env);
    if (s > SHOW_S && lies_there(r, env->hand, object)) {
        ret->status = PONS__SKILL_DONE;
    } else if (s > SHOW_MAX_S) {
        pons__skill_fail(ret, PONS__ARM_PLACE_FAILED, "PLACE_FAILED: %s is not where it belongs",
                         r->arm.object);
    }
}

static void step(pons__skill_run *r, const pons__skill_env *env, pons__skill_output *ret)
{
    pons__limb *h = env->hand;
    const int object = pons__limb_find(h, r->arm.object);
    if (object < 0) {
        pons__skill_fail(ret, PONS__ARM_OBJECT_LOST, "OBJECT_LOST: %s is not seen any more",
                         r->arm.object);
        return;
    }
    if (r->phase <= PHASE_GO && pons__arm_lost(r, env, object)) {
        pons__skill_fail(ret, PONS__ARM_SLIPPED, "SLIPPED: %s fell on the way", r->arm.object);
        return;
    }
    switch (r->phase) {
    case PHASE_PLAN:
        if (h->held == object) { // not while it is in doubt
            plan(r, env, ret);
        }
        break;
    case PHASE_GO:
        if (pons__arm_go(r, env, ret)) {
            r->arm.width = h->state.width_m;
            pons__limb_grip(h, fmin(h->caps.width_max_m, h->state.width_m + 0.03),
                            h->caps.force_max_n);
            pons__skill_phase(r, env, PHASE_OPEN);
        }
        break;
    case PHASE_OPEN:
        open_up(r, env, ret);
        break;
    case PHASE_AWAY:
        if (pons__arm_go(r, env, ret)) {
            pons__skill_phase(r, env, PHASE_SHOW);
        }
        break;
    default:
        show(r, env, object, ret);
    }
}

const pons__skill pons__skill_place = {
    .name = "place",
    .description = "Put what the gripper holds into a thing, onto a surface, or at a free place.",
    .args_schema = "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
                   "\"object\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":63},"
                   "\"target\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":63},"
                   "\"at\":{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"x\","
                   "\"y\",\"z\"],"
                   "\"properties\":{\"x\":{\"type\":\"number\"},\"y\":{\"type\":\"number\"},"
                   "\"z\":{\"type\":\"number\"}}}}}",
    .needs_arm = true,
    .moves = true,
    .cancel_supported = true,
    .timeout_s = 60.0,
    .success = "the thing is seen where it belongs, and not between the fingers",
    .error_map = PONS__ARM_ERROR_MAP,
    .reported =
        "{\"releases\":true,\"meets\":["
        "{\"intent\":\"put\",\"step\":2,\"args\":{\"object\":\"$object\",\"target\":\"$place\"},"
        "\"test\":{\"scene\":{\"id\":\"$object\",\"at\":\"$place\"}},"
        "\"says\":\"put $object into $place\"},"
        "{\"intent\":\"bring\",\"step\":2,\"args\":{\"object\":\"$object\",\"target\":\"$place\"},"
        "\"test\":{\"scene\":{\"id\":\"$object\",\"at\":\"$place\"}},"
        "\"says\":\"put $object into $place\"},"
        "{\"intent\":\"put_down\",\"args\":{},\"test\":{\"holding\":null},"
        "\"says\":\"put down what it holds\"}]}",
    .check = check,
    .start = start,
    .step = step,
    .hold = pons__arm_resume,
    .resume = pons__arm_resume,
};
