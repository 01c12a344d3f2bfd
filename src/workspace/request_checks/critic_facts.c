// critic_facts.c - EMBODIED.md and ENVIRONMENT.md read for the critic.
#include "workspace/request_checks/critic_facts.h"

#include "pons/buf.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define SEEING      "camera rgb depth lidar laser vision 相机 摄像 激光 深度"
#define UNBOUNDED_M 1e9 // along an axis that no box bounds

void pons__ws_copy_text(char *ret, size_t cap, const char *text, size_t len)
{
    size_t n = 0;
    while (n < len) {
        const size_t k = pons_utf8_sequence(text + n, len - n);
        if (n + (k ? k : 1) >= cap) {
            break;
        }
        n += k ? k : 1;
    }
    memcpy(ret, n ? text : "", n);
    ret[n] = '\0';
}

// ---- EMBODIED -----------------------------------------------------------------------------------

static bool has_word(const char *text, const char *words)
{
    char word[32];
    while (*words) {
        const size_t n = strcspn(words, " ");
        snprintf(word, sizeof word, "%.*s", (int)n, words);
        if (strcasestr(text, word)) {
            return true;
        }
        words += n + strspn(words + n, " ");
    }
    return false;
}

static bool says_yes(const char *text)
{
    static const char *const no[] = {"no", "none", "false", "off", "无", "否", "-", ""};
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++) {
        if (strcasecmp(text, no[i]) == 0) {
            return false;
        }
    }
    return true;
}

// The lower one of two numbers, either of which may be unknown.
static double lower(double a, const pons_value *v, const char *key)
{
    return fmin(a, pons_get_num(v, key, NAN));
}

// Whose sections of a page about several robots count: the robot's, else the first one's; "": it is about one.
static const char *target_of(const pons_ws_record *all, size_t n, const char *robot)
{
    const char *first = "";
    for (size_t i = 0; i < n; i++) {
        const char *is = pons_get_str(all[i].value, "target", "");
        if (*is && robot && strcmp(is, robot) == 0) {
            return is;
        }
        first = *first ? first : is;
    }
    return first;
}

// The numbers of "[a, b]" behind an axis of "x ∈ [-50, 50], y ∈ [-50, 50], z ∈ [0, 30] (centimetres)".
static bool axis_of(const char *text, char axis, double ret[2])
{
    for (const char *p = text; *p; p++) {
        const bool word = p > text && isalnum((unsigned char)p[-1]);
        if (tolower((unsigned char)*p) == axis && !word && !isalnum((unsigned char)p[1])) {
            const char *open = strpbrk(p + 1, "[xyzXYZ");
            return open && *open == '[' && sscanf(open, "[%lf ,%lf ]", &ret[0], &ret[1]) == 2 &&
                   isfinite(ret[0]) && isfinite(ret[1]) && ret[0] <= ret[1];
        }
    }
    return false;
}

// A box, as words have it. What is none ("default", "the table") is for people.
static void read_bounds(const char *text, ws_body *ret)
{
    const double unit = has_word(text, "centimet cm 厘米")   ? 1e-2
                        : has_word(text, "millimet mm 毫米") ? 1e-3
                                                             : 1;
    for (int i = 0; i < 3; i++) {
        double axis[2] = {-UNBOUNDED_M / unit, UNBOUNDED_M / unit};
        ret->has_bounds = axis_of(text, "xyz"[i], axis) || ret->has_bounds;
        ret->low[i] = axis[0] * unit;
        ret->high[i] = axis[1] * unit;
    }
}

// The length of what stands between two names there: " / ", ", " or "、"; 0: nothing of that.
static size_t between_names(const char *s)
{
    static const char *const marks[] = {" / ", ", ", "、"};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        if (strncmp(s, marks[i], strlen(marks[i])) == 0) {
            return strlen(marks[i]);
        }
    }
    return 0;
}

// A row may name an action in several words: "pose / momo_pose".
static void add_actions(const char *names, pons_value *ret)
{
    for (const char *at = names;; at++) {
        const size_t n = *at ? between_names(at) : 0;
        if (*at && !n) {
            continue;
        }
        if (at > names) {
            json_array_append_new(ret, json_stringn(names, (size_t)(at - names)));
        }
        if (!*at) {
            return;
        }
        names = at + n;
        at = names - 1;
    }
}

void pons__ws_body_read(const pons_ws_doc *d, const char *robot, ws_body *ret)
{
    size_t n = 0;
    *ret = (ws_body){.name = "this robot", .actions = json_array(), .unticked = json_array()};
    const pons_ws_record *all = d ? pons_ws_records(d, &n) : NULL;
    const char *target = target_of(all, n, robot);
    ret->reach_m = ret->payload_kg = ret->volume_m3 = ret->speed_mps = NAN;
    for (size_t i = 0; i < n; i++) {
        const pons_value *v = all[i].value;
        const char *of = pons_get_str(v, "target", "");
        if (*of && strcmp(of, target) != 0) {
            continue;
        }
        if (strcmp(all[i].kind, "limits") == 0) {
            ret->reach_m = lower(ret->reach_m, v, "max_reach_m");
            ret->payload_kg = lower(ret->payload_kg, v, "max_payload_kg");
            ret->volume_m3 = lower(ret->volume_m3, v, "workspace_volume_m3");
            ret->speed_mps = lower(ret->speed_mps, v, "max_speed_mps");
            ret->shoulder_m = pons_get_num(v, "reach_from_m", ret->shoulder_m);
        } else if (strcmp(all[i].kind, "action_type") == 0) {
            ret->has_actions = true;
            add_actions(pons_get_str(v, "action_type", ""), ret->actions);
        } else if (strcmp(all[i].kind, "sensor") == 0) {
            const bool there = pons_get_bool(v, "present", true);
            ret->has_sensors = true;
            ret->sees =
                ret->sees || (there && (has_word(pons_get_str(v, "name", ""), SEEING) ||
                                        has_word(pons_get_str(v, "description", ""), SEEING)));
            if (!there) {
                json_array_append_new(ret->unticked, json_string(all[i].id));
            }
        } else if (strcmp(all[i].kind, "identity") == 0) {
            ret->name = pons_get_str(v, "model", ret->name);
        }
        pons_each_member(key, member, v) {
            if (strcasecmp(key, "Workspace Bounds") == 0 && json_is_string(member)) {
                read_bounds(json_string_value(member), ret);
            }
            if (has_word(key, "path_planning 路径规划") || strcasecmp(key, "Path Planning") == 0) {
                ret->plans_paths = says_yes(json_is_string(member) ? json_string_value(member)
                                            : json_is_true(member) ? "yes"
                                                                   : "no");
            }
        }
    }
}

void pons__ws_body_clear(ws_body *b)
{
    pons_value_unref(b->actions);
    pons_value_unref(b->unticked);
    *b = (ws_body){0};
}

bool pons__ws_drives(const ws_body *b, const char *type)
{
    // An arm's move_to is the tool's; a robot that has no arm, or wheels too, goes there itself.
    const bool wheels = isnan(b->reach_m) || (!isnan(b->speed_mps) && b->speed_mps > 0) ||
                        pons_list_has(b->actions, "target_navigation") ||
                        pons_list_has(b->actions, "navigate_to_pose");
    return strcmp(type, "target_navigation") == 0 || strcmp(type, "navigate_to_pose") == 0 ||
           (strcmp(type, "move_to") == 0 && wheels);
}

// ---- ENVIRONMENT --------------------------------------------------------------------------------

size_t pons__ws_numbers(const pons_value *list, double *ret, size_t cap)
{
    static const char *const axes[] = {"x", "y", "z"};
    size_t n = 0;
    while (json_is_object(list) && n < cap && n < 3 && json_is_number(pons_get(list, axes[n]))) {
        ret[n] = pons_get_num(list, axes[n], 0);
        n++;
    }
    for (; n < cap && n < json_array_size(list); n++) {
        const pons_value *v = json_array_get(list, n);
        if (!json_is_number(v)) {
            break;
        }
        ret[n] = json_number_value(v);
    }
    return n;
}

// The robot of that id; any other only where there is no more than one.
static const pons_ws_record *robot_of(const pons_ws_doc *d, const char *id)
{
    size_t n = 0, robots = 0;
    const pons_ws_record *all = d ? pons_ws_records(d, &n) : NULL, *r = NULL;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(all[i].kind, "robot_state") == 0) {
            robots++;
            r = !r || (id && strcmp(all[i].id, id) == 0) ? &all[i] : r;
        }
    }
    return r && id && strcmp(r->id, id) != 0 && robots > 1 ? NULL : r;
}

// [x, y, z], [x, y, yaw] of what drives, [x, y, z, roll, pitch, yaw], or {x, y, z?, yaw?}.
void pons__ws_robot_read(const pons_ws_doc *d, const char *id, const ws_body *body, ws_robot *ret)
{
    const pons_ws_record *r = robot_of(d, id);
    *ret = (ws_robot){.known = false};
    if (!r) {
        return;
    }
    double p[6];
    const pons_value *pose = pons_get(r->value, "pose");
    const bool drives = !isnan(body->speed_mps) && body->speed_mps > 0;
    const size_t k = json_is_array(pose) ? pons__ws_numbers(pose, p, 6) : 0;
    ret->holding = pons_get(r->value, "holding");
    if (k >= 2) {
        ret->known = true;
        ret->at[0] = p[0];
        ret->at[1] = p[1];
        ret->at[2] = k >= 6 || (k >= 3 && !drives) ? p[2] : 0;
        ret->yaw = k >= 6 ? p[5] : k == 3 && drives ? p[2] : 0;
    } else if (json_is_number(pons_get(pose, "x")) && json_is_number(pons_get(pose, "y"))) {
        ret->known = true;
        ret->at[0] = pons_get_num(pose, "x", 0);
        ret->at[1] = pons_get_num(pose, "y", 0);
        ret->at[2] = pons_get_num(pose, "z", 0);
        ret->yaw = pons_get_num(pose, "yaw", 0);
    }
}

void pons__ws_robot_hear(const pons_value *says, ws_robot *r)
{
    const pons_value *pose = pons_get(says, "pose"), *holding = pons_get(says, "holding");
    r->holding = holding ? holding : r->holding;
    if (json_is_number(pons_get(pose, "x")) && json_is_number(pons_get(pose, "y"))) {
        const double z = r->known ? r->at[2] : 0; // what it stands on is the file's to say
        *r = (ws_robot){.known = true,
                        .at = {pons_get_num(pose, "x", 0), pons_get_num(pose, "y", 0), z},
                        .yaw = pons_get_num(pose, "yaw", 0),
                        .holding = r->holding};
    }
}

static bool put_target(const pons_value *position, ws_target *ret)
{
    const size_t n = pons__ws_numbers(position, ret->at, 3);
    ret->has_z = n == 3;
    return n >= 2;
}

static void find_named(const pons_ws_doc *d, const char *name, ws_target *ret)
{
    static const char *const kinds[] = {"object", "node"};
    for (size_t i = 0; d && i < 2 && !ret->known; i++) {
        const pons_ws_record *r = pons_ws_find(d, kinds[i], name);
        if (r) {
            ret->id = r->id;
            ret->known = put_target(pons_get(r->value, "position"), ret);
        }
    }
}

void pons__ws_target_read(const pons_ws_doc *d, const pons_value *params, ws_target *ret)
{
    static const char *const places[] = {"target_pose",    "target_position", "position",
                                         "place_position", "target",          "pose"};
    static const char *const names[] = {"target_label", "zone",   "target",
                                        "object_id",    "object", "target_object"};
    *ret = (ws_target){.known = false};
    for (size_t i = 0; i < sizeof places / sizeof places[0] && !ret->known; i++) {
        ret->known = put_target(pons_get(params, places[i]), ret);
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !ret->known; i++) {
        const char *name = pons_get_str(params, names[i], NULL);
        if (name) {
            find_named(d, name, ret);
            ret->id = ret->id ? ret->id : name;
        }
    }
}

static pons_value *as_object(const pons_ws_record *r)
{
    const pons_value *v = r->value, *mass = pons_get(v, "mass_kg");
    const char *name = pons_get_str(v, "name", NULL), *class = pons_get_str(v, "category", NULL);
    return pons_object("id", json_string(r->id), "class", class ? json_string(class) : PONS_ABSENT,
                       "names",
                       name ? pons_object("any", json_pack("[s]", name), NULL) : PONS_ABSENT,
                       "position", pons_optional(pons_get(v, "position")), "mass_kg",
                       json_is_number(mass) ? json_incref((json_t *)mass) : PONS_ABSENT, NULL);
}

pons_value *pons__ws_world(const pons_ws_doc *d)
{
    size_t n = 0;
    const pons_ws_record *all = d ? pons_ws_records(d, &n) : NULL;
    const pons_ws_record *scene = d ? pons_ws_find(d, "scene", "scene") : NULL;
    const pons_value *bounds = pons_get(pons_get(scene ? scene->value : NULL, "map"), "bounds");
    double b[4];
    pons_value *objects = json_array();
    for (size_t i = 0; i < n; i++) {
        const bool node = strcmp(all[i].kind, "node") == 0;
        if (strcmp(all[i].kind, "object") == 0 || (node && !pons_ws_find(d, "object", all[i].id))) {
            json_array_append_new(objects, as_object(&all[i]));
        }
    }
    pons_value *world = json_object();
    if (json_array_size(objects)) {
        json_object_set_new(world, "objects", objects);
    } else {
        json_decref(objects); // nothing is known: the critic does not judge what is not there
    }
    if (pons__ws_numbers(bounds, b, 4) == 4) {
        json_object_set(world, "bounds", (json_t *)bounds);
    }
    return world;
}
