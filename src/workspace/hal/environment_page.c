// environment_page.c - ENVIRONMENT.md as a body sees it.
//
//     robot   -> robots[robot_id]: pose, battery_pct, holding, gripper, joint_state. A base's pose is
//                [x, y, yaw], an arm's [x, y, z, roll, pitch, yaw] of what it stands on
//     zones   -> nodes of type "zone"     objects -> objects, and nodes of type "object"
//     map     -> {name, bounds}
//
// Zones, objects and the map are written where they are absent: what is there somebody may know better. An
// object's place that the body measures (`seen`) is the body's, and when it was seen last (`last_seen`) is the memory's.
#include "workspace/hal/environment_page.h"

#include "pons/clock.h"
#include "pons/out_of_memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOVED_M    0.005 // less than this is noise
#define TURNED_RAD 0.005
#define SHUT_M     0.005 // between the fingers
#define MINUTE_MS  60000

typedef struct changes {
    pons_ws_change *all;
    size_t n;
    pons_value *made; // holds their values
} changes;

static void add(changes *c, const char *kind, const char *id, pons_value *take)
{
    c->all = pons_need_more(c->all, (c->n + 1) * sizeof *c->all);
    json_array_append_new(c->made, take);
    c->all[c->n++] = (pons_ws_change){kind, id, take};
}

// [x, y, z] from {x, y, z?}, from a list, or from the member that has one; NULL: it has none.
static pons_value *position_of(const pons_value *v)
{
    static const char *const members[] = {"position", "pose", "target"};
    if (json_is_array(v) && json_array_size(v) >= 2) {
        return json_incref((json_t *)v);
    }
    if (json_is_number(pons_get(v, "x")) && json_is_number(pons_get(v, "y"))) {
        return json_pack("[f,f,f]", pons_get_num(v, "x", 0), pons_get_num(v, "y", 0),
                         pons_get_num(v, "z", 0));
    }
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        pons_value *p = pons_get(v, members[i]) ? position_of(pons_get(v, members[i])) : NULL;
        if (p) {
            return p;
        }
    }
    return NULL;
}

static bool moved(const pons_value *is, const pons_value *was)
{
    for (size_t i = 0; i < json_array_size(is); i++) {
        const pons_value *a = json_array_get(is, i), *b = json_array_get(was, i);
        if (!json_is_number(b) || fabs(json_number_value(a) - json_number_value(b)) > MOVED_M) {
            return true;
        }
    }
    return json_array_size(is) != json_array_size(was);
}

// What the file says of an object that it has not had.
static void name_object(pons_value *v, const pons_value *thing)
{
    const char *class = pons_get_str(thing, "class", pons_get_str(thing, "category", NULL));
    const pons_value *names = pons_get(thing, "names");
    const pons_value *zh = pons_get(names, "zh"), *own = zh ? zh : pons_get(names, "en");
    const pons_value *any = json_is_array(names) ? names : own;
    const char *name = pons_get_str(thing, "name", json_string_value(json_array_get(any, 0)));
    json_object_set_new(v, "name", json_string(name ? name : pons_get_str(thing, "id", "")));
    if (class) {
        json_object_set_new(v, "category", json_string(class));
    }
    if (pons_get(thing, "mass_kg")) {
        json_object_set(v, "mass_kg", (json_t *)pons_get(thing, "mass_kg"));
    }
}

// When an object was seen last: whole minutes are enough for people. "": it does not say.
static void when_seen(const pons_value *thing, const char *kind, char ret[PONS_UTC_TEXT])
{
    const int64_t last_ms = pons_get_int(thing, "last_seen_ms", 0);
    *ret = '\0';
    if (last_ms > 0 && strcmp(kind, "object") == 0) {
        pons_utc_text(last_ms - last_ms % MINUTE_MS, ret);
    }
}

// A zone or an object as `kind`, when the file lacks it or the body has seen it elsewhere.
static void put_thing(changes *c, const pons_ws_doc *d, const char *kind, const char *type,
                      const pons_value *thing)
{
    const char *id = pons_get_str(thing, "id", NULL);
    const pons_ws_record *r = id && d ? pons_ws_find(d, kind, id) : NULL;
    const bool seen = pons_get_bool(thing, "seen", false);
    char when[PONS_UTC_TEXT];
    const char *had = pons_get_str(r ? r->value : NULL, "last_seen", "");
    when_seen(thing, kind, when);
    const bool later = *when && strcmp(when, had) != 0;
    pons_value *at = id && (!r || seen || later) ? position_of(thing) : NULL;
    if (!at || (r && !later && !moved(at, pons_get(r->value, "position")))) {
        json_decref(at);
        return;
    }
    pons_value *v = r ? json_copy(r->value) : pons_object("id", json_string(id), NULL);
    if (!r && strcmp(kind, "node") == 0) {
        json_object_set_new(v, "type", json_string(type));
    } else if (!r) {
        name_object(v, thing);
    }
    if (!r || seen) { // else somebody may know better
        json_object_set(v, "position", at);
    }
    json_decref(at);
    if (*when) {
        json_object_set_new(v, "last_seen", json_string(when));
    }
    add(c, kind, id, v);
}

static void put_relation(changes *c, const pons_ws_doc *d, const char *from, const char *relation,
                         const char *to)
{
    pons_value *says = json_sprintf("%s %s %s", from, relation, to); // the id of an edge
    json_array_append_new(c->made, says);
    if (!d || !pons_ws_find(d, "edge", json_string_value(says))) {
        add(c, "edge", json_string_value(says),
            pons_object("from", json_string(from), "to", json_string(to), "relation",
                        json_string(relation), NULL));
    }
}

// What is seen is in, on and near what it is seen in, on and near; what the file says otherwise goes.
static void put_seen_edges(changes *c, const pons_ws_doc *d, const pons_value *thing,
                           const char *id)
{
    const char *on = pons_get_str(thing, "on", ""), *how = pons_get_str(thing, "relation", "on");
    size_t n = 0;
    const pons_ws_record *all = d ? pons_ws_records(d, &n) : NULL;
    for (size_t k = 0; k < n; k++) {
        const char *relation = pons_get_str(all[k].value, "relation", "");
        const char *to = pons_get_str(all[k].value, "to", "");
        if (strcmp(all[k].kind, "edge") != 0 ||
            strcmp(pons_get_str(all[k].value, "from", ""), id) != 0) {
            continue;
        }
        const bool place = strcmp(relation, "in") == 0 || strcmp(relation, "on") == 0;
        const bool still = strcmp(relation, "near") == 0
                               ? pons_list_has(pons_get(thing, "near"), to)
                               : strcmp(relation, how) == 0 && strcmp(to, on) == 0;
        if ((place || strcmp(relation, "near") == 0) && !still) {
            c->all = pons_need_more(c->all, (c->n + 1) * sizeof *c->all);
            c->all[c->n++] = (pons_ws_change){"edge", all[k].id, NULL};
        }
    }
    if (*on) {
        put_relation(c, d, id, how, on);
    }
    pons_each(other, pons_get(thing, "near")) {
        put_relation(c, d, id, "near", json_string_value(other));
    }
}

// Once: what a body measures says where it is, and a person where it was put.
static void put_edge(changes *c, const pons_ws_doc *d, const pons_value *thing)
{
    const char *id = pons_get_str(thing, "id", NULL), *on = pons_get_str(thing, "on", NULL);
    if (id && pons_get_bool(thing, "seen", false)) {
        put_seen_edges(c, d, thing, id);
        return;
    }
    if (!id || !on || (d && pons_ws_find(d, "node", id))) {
        return;
    }
    pons_value *v = pons_object("from", json_string(id), "to", json_string(on), "relation",
                                json_string("on"), NULL);
    // The id of an edge is what it says.
    pons_value *says = json_sprintf("%s on %s", id, on);
    json_array_append_new(c->made, says);
    add(c, "edge", json_string_value(says), v);
}

static void put_world(changes *c, const pons_ws_doc *d, const pons_value *world)
{
    pons_each(thing, pons_get(world, "zones")) {
        put_thing(c, d, "node", "zone", thing);
    }
    pons_each(thing, pons_get(world, "objects")) {
        put_edge(c, d, thing);
        put_thing(c, d, "object", "", thing);
        put_thing(c, d, "node", "object", thing);
    }
}

// An arm's joints and fingers. What moved less than anybody sees stays as it was written.
static void put_arm(pons_value *state, const pons_value *robot)
{
    const pons_value *arm = pons_get(robot, "arm"), *joints = pons_get(arm, "joints");
    const pons_value *was = pons_get(state, "joint_state");
    pons_value *now = json_object();
    bool differs = json_object_size(was) != json_array_size(joints);
    char name[32];
    if (!arm) {
        json_decref(now);
        return;
    }
    pons_each(q, joints) {
        snprintf(name, sizeof name, "joint_%zu", q_at + 1);
        const double is = json_number_value(q);
        differs = differs || fabs(is - pons_get_num(was, name, INFINITY)) > TURNED_RAD;
        json_object_set_new(now, name, json_real(round(is * 1000) / 1000));
    }
    if (differs) {
        json_object_set(state, "joint_state", now);
    }
    json_decref(now);
    const bool holds = json_is_string(pons_get(robot, "holding"));
    const bool open = !holds && pons_get_num(arm, "gripper_m", 0) > SHUT_M;
    json_object_set_new(state, "gripper", json_string(open ? "open" : "closed"));
}

static pons_value *robot_of(const pons_value *robot, const char *id, const pons_ws_record *was)
{
    static const char *const same[] = {"battery_pct", "holding", "gripper", "joint_state"};
    const pons_value *pose = pons_get(robot, "pose");
    pons_value *state =
        was ? json_copy(was->value) : pons_object("robot_id", json_string(id), NULL);
    if (pose) {
        const double x = pons_get_num(pose, "x", 0), y = pons_get_num(pose, "y", 0),
                     yaw = pons_get_num(pose, "yaw", 0);
        pons_value *at = pons_get(robot, "arm")
                             ? json_pack("[f,f,f,f,f,f]", x, y, 0.0, 0.0, 0.0, yaw)
                             : json_pack("[f,f,f]", x, y, yaw);
        if (!was || moved(at, pons_get(was->value, "pose"))) {
            json_object_set(state, "pose", at);
        }
        json_decref(at);
    }
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        const pons_value *v = pons_get(robot, same[i]);
        if (v && i == 0 && json_is_number(v)) { // a tenth of a percent is enough for people
            json_object_set_new(state, same[i], json_real(round(json_number_value(v) * 10) / 10));
        } else if (v) {
            json_object_set(state, same[i], (json_t *)v);
        }
    }
    put_arm(state, robot);
    return state;
}

int pons__ws_observe(pons_ws_place *place, const char *robot_id, const pons_value *status,
                     pons_error *err)
{
    const pons_ws_doc *d = pons_ws_place_doc(place, PONS_WS_ENVIRONMENT);
    const pons_value *world = pons_get(status, "world");
    const pons_ws_record *was = d ? pons_ws_find(d, "robot_state", robot_id) : NULL;
    const pons_ws_record *scene = d ? pons_ws_find(d, "scene", "scene") : NULL;
    changes c = {.made = json_array()};
    int rc = PONS_OK;
    pons_value *state = robot_of(pons_get(status, "robot"), robot_id, was);
    if (!was || !json_equal(state, was->value)) {
        add(&c, "robot_state", robot_id, state);
    } else {
        json_decref(state);
    }
    put_world(&c, d, world);
    const pons_value *bounds = pons_get(world, "bounds");
    const bool maps = bounds && !pons_get(scene ? scene->value : NULL, "map");
    if (c.n || maps) {
        char when[32];
        pons_utc_text((int64_t)time(NULL) * 1000, when);
        pons_value *head = scene ? json_copy(scene->value) : json_object();
        json_object_set_new(head, "updated_at", json_string(when));
        if (maps) {
            json_object_set_new(head, "map",
                                pons_object("name", json_string(pons_get_str(world, "name", "map")),
                                            "bounds", json_incref((json_t *)bounds), NULL));
        }
        add(&c, "scene", "scene", head);
        rc = pons_ws_place_change_as(place, PONS_WS_BY_HAL, PONS_WS_ENVIRONMENT, c.all, c.n, err);
    }
    json_decref(c.made);
    free(c.all);
    return rc;
}

// The first camera is the seed's one; all of them stand beside it by their names.
int pons__ws_observe_pictures(pons_ws_place *place, const pons_value *pictures, pons_error *err)
{
    const pons_ws_doc *d = pons_ws_place_doc(place, PONS_WS_ENVIRONMENT);
    const pons_ws_record *scene = d ? pons_ws_find(d, "scene", "scene") : NULL;
    const pons_value *was = pons_get(scene ? scene->value : NULL, "perception");
    pons_autovalue perception = json_is_object(was) ? json_copy((json_t *)was) : json_object();
    pons_autovalue cameras = json_object();
    const pons_value *first = NULL;
    char when[32];
    pons_each(p, pictures) {
        if (pons_get(p, "rgb")) {
            first = first ? first : p;
            json_object_set_new(cameras, pons_get_str(p, "name", ""),
                                pons_object("rgb", pons_optional(pons_get(p, "rgb")), "depth",
                                            pons_optional(pons_get(p, "depth")), NULL));
        }
    }
    if (!first) {
        return PONS_ENOTFOUND;
    }
    pons_utc_text((int64_t)time(NULL) * 1000, when);
    json_object_set(perception, "camera_rgb", (json_t *)pons_get(first, "rgb"));
    if (pons_get(first, "depth")) {
        json_object_set(perception, "depth", (json_t *)pons_get(first, "depth"));
    }
    json_object_set(perception, "cameras", cameras);
    json_object_set_new(perception, "updated_at", json_string(when));
    pons_autovalue head = scene ? json_copy(scene->value) : json_object();
    json_object_set_new(head, "updated_at", json_string(when));
    json_object_set(head, "perception", perception);
    const pons_ws_change c = {"scene", "scene", head};
    return pons_ws_place_change_as(place, PONS_WS_BY_HAL, PONS_WS_ENVIRONMENT, &c, 1, err);
}
