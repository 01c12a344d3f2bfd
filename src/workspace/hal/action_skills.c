// action_skills.c - types of actions as skills of a body.
//
//     move_to            a pose; on a base its x, y and yaw          navigate_to_pose
//                        the tool's, where there is an arm           move_to
//     target_navigation  a zone, or an object that is somewhere      navigate_to_pose, to before it
//     stop               stop_base        localize  look         check_connection  nothing to do
//     pick_up            pick{object}     place, put_down  place{object?, target}
//     strategy           {skill, args}: that skill; {tree}: strategy_tree.c
//     real_execute       {nl_task}: somebody's who plans
//     any skill that the body has, by its name: params are its arguments
#include "workspace/hal/action_skills.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define NAVIGATE       "navigate_to_pose"
#define NEAREST_M      0.1 // success_distance_m is at least this
#define NEAR_DEFAULT_M 0.6
#define PI             3.14159265358979323846

__attribute__((format(printf, 3, 4))) static void refuse(pons__ws_call *c, const char *code,
                                                         const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(c->what, sizeof c->what, fmt, ap);
    va_end(ap);
    c->code = code;
}

static bool has_tool(const pons_value *tools, const char *name)
{
    return pons_find(tools, "name", name) != NULL;
}

static bool has_text(const pons_value *names,
                     const char *name) // a text, a list of them, or a map of lists
{
    bool has = json_is_string(names) && strcasecmp(json_string_value(names), name) == 0;
    pons_each(one, names) {
        has = has || has_text(one, name);
    }
    pons_each_member(key, one, names) {
        has = has || has_text(one, name);
    }
    return has;
}

// A zone or a thing, by its id or what people call it in any language.
static const pons_value *named(const pons_value *list, const char *name)
{
    const pons_value *called = NULL;
    pons_each(v, list) {
        if (strcmp(pons_get_str(v, "id", ""), name) == 0) {
            return v;
        }
        called = !called && has_text(pons_get(v, "names"), name) ? v : called;
    }
    return called;
}

// A list of numbers, or two or three of a map {x, y, z}; false: it is none of n.
static bool numbers(const pons_value *list, size_t n, double *ret)
{
    static const char *const axes[] = {"x", "y", "z"};
    if (json_is_object(list) && n <= 3) {
        for (size_t i = 0; i < n; i++) {
            ret[i] = pons_get_num(list, axes[i], NAN);
        }
        return isfinite(ret[0]) && (n < 2 || isfinite(ret[1])) && (n < 3 || isfinite(ret[2]));
    }
    if (json_array_size(list) < n) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        const pons_value *v = json_array_get(list, i);
        if (!json_is_number(v)) {
            return false;
        }
        ret[i] = json_number_value(v);
    }
    return true;
}

static pons_value *pose_args(double x, double y, double yaw)
{
    return pons_object(
        "pose", pons_object("x", json_real(x), "y", json_real(y), "yaw", json_real(yaw), NULL),
        NULL);
}

// {x, y, z, roll, pitch, yaw} of a list of at least three numbers, or of a map that has them; NULL: it is none.
static pons_value *pose3_args(const pons_value *list)
{
    static const char *const names[] = {"x", "y", "z", "roll", "pitch", "yaw"};
    double p[6];
    if (json_is_object(list)) {
        return numbers(list, 3, p) ? json_deep_copy(list) : NULL;
    }
    const size_t n = json_array_size(list);
    if ((n != 3 && n != 6) || !numbers(list, n, p)) {
        return NULL;
    }
    pons_value *pose = json_object();
    for (size_t i = 0; i < n; i++) {
        json_object_set_new(pose, names[i], json_real(p[i]));
    }
    return pose;
}

// An arm's: the tool goes to [x, y, z] looking down, or to [x, y, z, roll, pitch, yaw].
static void move_tool(const pons_value *params, pons__ws_call *c)
{
    pons_value *pose = pose3_args(pons_get(params, "target_pose"));
    c->skill = "move_to";
    if (!pose) {
        refuse(c, "BAD_PARAMS", "move_to needs target_pose: [x, y, z] or [x, y, z, r, p, y]");
        return;
    }
    c->args = json_copy((json_t *)params);
    json_object_del(c->args, "target_pose");
    json_object_set_new(c->args, "pose", pose);
}

// [x, y, z, roll, pitch, yaw], or [x, y, yaw].
static void move_to(const pons_value *params, pons__ws_call *c)
{
    const pons_value *pose = pons_get(params, "target_pose");
    double p[6];
    c->skill = NAVIGATE;
    if (json_is_object(pose) && numbers(pose, 2, p)) {
        c->args = pose_args(p[0], p[1], pons_get_num(pose, "yaw", 0));
    } else if (numbers(pose, 6, p)) {
        c->args = pose_args(p[0], p[1], p[5]);
    } else if (json_array_size(pose) == 3 && numbers(pose, 3, p)) {
        c->args = pose_args(p[0], p[1], p[2]);
    } else {
        refuse(c, "BAD_PARAMS", "move_to needs target_pose: [x, y, z, roll, pitch, yaw]");
    }
}

static bool position_of(const char *label, const pons_value *world, const pons_ws_doc *environment,
                        double ret[2])
{
    static const char *const kinds[] = {"object", "node"};
    for (size_t i = 0; environment && i < 2; i++) {
        const pons_ws_record *r = pons_ws_find(environment, kinds[i], label);
        if (r && numbers(pons_get(r->value, "position"), 2, ret)) {
            return true;
        }
    }
    const pons_value *object = named(pons_get(world, "objects"), label);
    const pons_value *pose = pons_get(object, "pose");
    if (object && json_is_number(pons_get(pose ? pose : object, "x"))) {
        ret[0] = pons_get_num(pose ? pose : object, "x", 0);
        ret[1] = pons_get_num(pose ? pose : object, "y", 0);
        return true;
    }
    return false;
}

static void navigate(const pons_value *params, const pons_value *world,
                     const pons_ws_doc *environment, pons__ws_call *c)
{
    const char *label = pons_get_str(params, "target_label", NULL);
    const double near = pons_get_num(params, "success_distance_m", NEAR_DEFAULT_M);
    const double heading = pons_get_num(params, "success_heading_deg", 0);
    const pons_value *zone = label ? named(pons_get(world, "zones"), label) : NULL;
    double at[2];
    c->skill = NAVIGATE;
    if (!label) {
        refuse(c, "BAD_PARAMS", "target_navigation needs target_label");
    } else if (near < NEAREST_M) {
        refuse(c, "BAD_PARAMS", "success_distance_m is %g m: at least %g", near, NEAREST_M);
    } else if (pons_get(params, "success_heading_deg") && !(heading > 0 && heading <= 180)) {
        refuse(c, "BAD_PARAMS", "success_heading_deg goes from above 0 to 180");
    } else if (zone) {
        c->args = pons_object("zone", json_string(pons_get_str(zone, "id", label)), NULL);
    } else if (position_of(label, world, environment, at)) {
        // Before it, looking at it, on the side of the map's origin.
        const double yaw = atan2(at[1], at[0]);
        c->args = pose_args(at[0] - near * cos(yaw), at[1] - near * sin(yaw), yaw);
    } else {
        refuse(c, "TARGET_UNKNOWN", "nothing is called '%.60s'", label);
    }
    const double timeout = pons_get_num(params, "timeout_s", 0);
    if (c->args && timeout > 0) {
        json_object_set_new(c->args, "timeout_s", json_real(timeout));
    }
}

bool pons__ws_heading(const pons_value *action, const pons_value *robot, const pons_value *world,
                      const pons_ws_doc *environment, double *ret_off_deg, double *ret_most_deg)
{
    const pons_value *params = pons_get(action, "params"), *pose = pons_get(robot, "pose");
    const char *label = pons_get_str(params, "target_label", "");
    const pons_value *zone = named(pons_get(world, "zones"), label);
    const pons_value *target = pons_get(zone, "target");
    double at[2], wanted = 0;
    if (strcmp(pons_get_str(action, "action_type", ""), "target_navigation") != 0 ||
        !pons_get(params, "success_heading_deg") || !pose) {
        return false;
    }
    if (pons_get(target, "yaw")) { // a zone says itself how one stands in it
        wanted = pons_get_num(target, "yaw", 0);
    } else if (!zone && position_of(label, world, environment, at)) {
        wanted = atan2(at[1] - pons_get_num(pose, "y", 0), at[0] - pons_get_num(pose, "x", 0));
    } else {
        return false;
    }
    const double off = remainder(pons_get_num(pose, "yaw", 0) - wanted, 2 * PI);
    *ret_off_deg = fabs(off) * 180 / PI;
    *ret_most_deg = pons_get_num(params, "success_heading_deg", 180);
    return true;
}

// An argument under the first of these names that is there.
static const pons_value *first_of(const pons_value *params, const char *const *names)
{
    for (; *names; names++) {
        if (pons_get(params, *names)) {
            return pons_get(params, *names);
        }
    }
    return NULL;
}

static const char *const object_names[] = {"object_id", "object", "target_object", NULL};
static const char *const picked_names[] = {"object_id", "object", "target_object", "target", NULL};
static const char *const target_names[] = {"target",         "target_id",       "target_label",
                                           "place_position", "target_position", NULL};

static void pick(const pons_value *params, pons__ws_call *c)
{
    const pons_value *object = first_of(params, picked_names);
    c->skill = "pick";
    if (json_is_string(object)) {
        c->args = pons_object("object", json_incref((json_t *)object), NULL);
    } else {
        refuse(c, "BAD_PARAMS", "pick_up needs object_id");
    }
}

static void place(const pons_value *params, pons__ws_call *c)
{
    const pons_value *location =
        pons_get(params, "location"); // with it, target is what is put there
    const pons_value *object = first_of(params, location ? picked_names : object_names);
    const pons_value *target = location ? location : first_of(params, target_names);
    const bool point = json_is_array(target) || json_is_object(target);
    pons_value *at = point ? pose3_args(target) : NULL;
    c->skill = "place";
    if (at && json_object_size(at) == 3) {
        c->args = pons_object("object", pons_optional(object), "at", json_incref(at), NULL);
    } else if (point) {
        refuse(c, "BAD_PARAMS", "target_position is no [x, y, z]");
    } else if (target) {
        c->args = pons_object("object", pons_optional(object), "target",
                              json_incref((json_t *)target), NULL);
    } else {
        refuse(c, "BAD_PARAMS", "place needs target, or target_position: [x, y, z]");
    }
    json_decref(at);
}

static void strategy(const pons_value *params, pons__ws_call *c)
{
    const char *skill = pons_get_str(params, "skill", NULL);
    const pons_value *tree = pons_get(params, "tree");
    const pons_value *args = pons_get(params, "args");
    if (!skill == !tree) {
        refuse(c, "BAD_PARAMS", "strategy needs either skill or tree");
    } else if (args && !json_is_object(args)) {
        refuse(c, "BAD_PARAMS", "args of a strategy are an object");
    } else if (skill) {
        c->skill = skill;
        c->args = args ? json_deep_copy(args) : NULL;
    } else {
        c->skill = "strategy";
        c->errand = c->tree = true;
    }
}

static void real_execute(const pons_value *params, pons__ws_call *c)
{
    const char *task = pons_get_str(params, "nl_task", "");
    if (task[strspn(task, " \t\r\n")] == '\0') {
        refuse(c, "BAD_PARAMS", "real_execute needs nl_task");
    }
    c->errand = true;
}

static const struct {
    const char *type;
    const char *skill; // NULL: read says it
    void (*read)(const pons_value *params, pons__ws_call *ret);
    bool unless_tool; // a body that has a skill of this name gets the action as it is
} action_types[] = {
    {"move_to", NULL, move_to, true},   {"stop", "stop_base", NULL, false},
    {"localize", "look", NULL, true},   {"pick_up", NULL, pick, true},
    {"place", NULL, place, false},      {"put_down", NULL, place, true},
    {"strategy", NULL, strategy, true}, {"real_execute", NULL, real_execute, true},
};

void pons__ws_call_of(const pons_value *action, const pons_value *tools, const pons_value *world,
                      const pons_ws_doc *environment, pons__ws_call *ret)
{
    const char *type = pons_get_str(action, "action_type", "");
    const pons_value *params = pons_get(action, "params");
    const bool is_tool = has_tool(tools, type);
    size_t i = 0;
    while (i < sizeof action_types / sizeof action_types[0] &&
           (strcmp(action_types[i].type, type) != 0 || (action_types[i].unless_tool && is_tool))) {
        i++;
    }
    *ret = (pons__ws_call){.skill = type, .at_once = strcmp(type, "check_connection") == 0};
    if (i < sizeof action_types / sizeof action_types[0]) {
        ret->skill = action_types[i].skill ? action_types[i].skill : type;
        if (action_types[i].read) {
            action_types[i].read(params, ret);
        }
    } else if (strcmp(type, "move_to") == 0 && pons_get(params, "target_pose")) {
        move_tool(params, ret);
    } else if (strcmp(type, "target_navigation") == 0 && !is_tool) {
        navigate(params, world, environment, ret);
    } else if (!ret->at_once) {
        ret->args = params ? json_deep_copy(params) : NULL;
    }
    if (!ret->code && !ret->at_once && !ret->errand && tools && !has_tool(tools, ret->skill)) {
        refuse(ret, "ACTION_NOT_SUPPORTED", "this body cannot do %.60s", type);
    }
    if (!ret->args) {
        ret->args = json_object();
    }
}

void pons__ws_action_of(const char *skill, const pons_value *args, const char **ret_type,
                        pons_value **ret_params)
{
    const pons_value *pose = pons_get(args, "pose");
    const char *zone = pons_get_str(args, "zone", NULL);
    *ret_type = skill;
    *ret_params = args ? json_copy((json_t *)args) : json_object();
    if (strcmp(skill, NAVIGATE) == 0 && zone) {
        *ret_type = "target_navigation";
        json_object_set_new(*ret_params, "target_label", json_string(zone));
        json_object_del(*ret_params, "zone");
    } else if (strcmp(skill, NAVIGATE) == 0 && pose) {
        *ret_type = "move_to";
        json_object_set_new(*ret_params, "target_pose",
                            json_pack("[f,f,f,f,f,f]", pons_get_num(pose, "x", 0),
                                      pons_get_num(pose, "y", 0), 0.0, 0.0, 0.0,
                                      pons_get_num(pose, "yaw", 0)));
        json_object_del(*ret_params, "pose");
    } else if (strcmp(skill, "stop_base") == 0) {
        *ret_type = "stop";
    } else if (strcmp(skill, "look") == 0) {
        *ret_type = "localize";
    } else if (strcmp(skill, "pick") == 0) {
        *ret_type = "pick_up";
        if (pons_get(args, "object")) {
            json_object_set(*ret_params, "object_id", (json_t *)pons_get(args, "object"));
            json_object_del(*ret_params, "object");
        }
    } else if (strcmp(skill, "move_to") == 0 && pose) { // without angles the tool looks down
        json_object_set_new(
            *ret_params, "target_pose",
            json_pack("[f,f,f,f,f,f]", pons_get_num(pose, "x", 0), pons_get_num(pose, "y", 0),
                      pons_get_num(pose, "z", 0), pons_get_num(pose, "roll", PI),
                      pons_get_num(pose, "pitch", 0), pons_get_num(pose, "yaw", 0)));
        json_object_del(*ret_params, "pose");
    } else if (strcmp(skill, "place") == 0 && pons_get(args, "at")) {
        const pons_value *at = pons_get(args, "at");
        json_object_set_new(*ret_params, "target_position",
                            json_pack("[f,f,f]", pons_get_num(at, "x", 0), pons_get_num(at, "y", 0),
                                      pons_get_num(at, "z", 0)));
        json_object_del(*ret_params, "at");
    }
}

void pons__ws_call_key(const pons_value *action, char ret[64])
{
    char hash[33];
    pons_autovalue what = pons_object("action_id", pons_optional(pons_get(action, "action_id")),
                                      "type", pons_optional(pons_get(action, "action_type")),
                                      "params", pons_optional(pons_get(action, "params")), "at",
                                      pons_optional(pons_get(action, "created_at")), NULL);
    pons_value_hash(what, hash);
    snprintf(ret, 64, "hal-%s", hash);
}
