// observe.c - what the inner loop sees: the observation of R1, zones, and whether a goal is met.
//
// The observation is the one structure that policies and models decide from
// (schemas/observation.json). It is a summary: no point clouds, no topics. What it says of the
// world is what the body said last.
#include "brain/brain_internal.h"
#include "pons/geometry.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#define AT_PLACE_M 0.5 // so near a place that was named by its pose is there

static pons_value *observed_robot(pons_brain *b);
static pons_value *observed_task(pons_brain *b, const pons_value *task, const pons_value *running);
static pons_value *observed_running(pons_brain *b, const pons_value *running);
static bool goal_running(const pons_value *running, size_t index);
static pons_value *copy_or_null(const pons_value *v);

const pons_value *pons__skill(const pons_brain *b, const char *name)
{
    return pons__find(pons_get(b->port.hello, "skills"), "name", name);
}

const pons_value *pons__zone(const pons_brain *b, const char *name)
{
    size_t i, j;
    json_t *zone, *spoken;
    const char *language;
    json_array_foreach(pons_get(pons_get(b->port.hello, "world"), "zones"), i, zone)
    {
        if (strcasecmp(pons_get_str(zone, "id", ""), name) == 0) {
            return zone;
        }
        json_t *names;
        json_object_foreach((json_t *)pons_get(zone, "names"), language, names)
        {
            json_array_foreach(names, j, spoken)
            {
                if (json_is_string(spoken) && strcasecmp(json_string_value(spoken), name) == 0) {
                    return zone;
                }
            }
        }
    }
    return NULL;
}

const char *pons__zone_at(const pons_value *world, double x, double y)
{
    size_t i;
    json_t *zone;
    json_array_foreach(pons_get(world, "zones"), i, zone)
    {
        if (pons_polygon_contains(pons_get(zone, "polygon"), x, y)) {
            return pons_get_str(zone, "id", NULL);
        }
    }
    return NULL;
}

// Goals about a place are judged by the world; the others by their skill's own result, which R7 has
// written into `done`.
bool pons__goal_met(const pons_brain *b, const pons_value *goal, bool running)
{
    const char *intent = pons_get_str(goal, "intent", "");
    if (running) {
        return false;
    }
    const pons_value *own = pons_get(goal, "pose");
    if (strcmp(intent, "go_to") == 0 && json_is_object(own)) { // a person named the very place
        const pons_value *pose = pons_get(b->robot, "pose");
        return pose &&
               hypot(pons_get_num(pose, "x", 0.0) - pons_get_num(own, "x", 0.0),
                     pons_get_num(pose, "y", 0.0) - pons_get_num(own, "y", 0.0)) < AT_PLACE_M;
    }
    if (strcmp(intent, "go_to") == 0) {
        const pons_value *zone = pons__zone(b, pons_get_str(goal, "zone", ""));
        const pons_value *pose = pons_get(b->robot, "pose");
        return zone && pose &&
               pons_polygon_contains(pons_get(zone, "polygon"), pons_get_num(pose, "x", 0.0),
                                     pons_get_num(pose, "y", 0.0));
    }
    if (strcmp(intent, "charge") == 0) {
        const char *state = pons_get_str(b->robot, "battery_state", "");
        return strcmp(state, "full") == 0 ||
               (strcmp(state, "charging") == 0 &&
                pons_get_num(b->robot, "battery_pct", 0.0) >= b->rules.battery_charged_pct);
    }
    return pons_get_bool(goal, "done", false);
}

pons_value *pons__observation_build(pons_brain *b, const pons_value *react,
                                    const pons_value *skills)
{
    const pons_value *running = pons_get(skills, "running");
    pons_value *names = json_array();
    size_t i;
    json_t *skill;
    json_array_foreach(pons_get(b->port.hello, "skills"), i, skill)
    {
        json_array_append_new(names, json_string(pons_get_str(skill, "name", "")));
    }
    pons_value *zones = json_array();
    json_t *zone;
    json_array_foreach(pons_get(b->world, "zones"), i, zone)
    {
        json_array_append_new(zones, json_string(pons_get_str(zone, "id", "")));
    }
    return pons_object(
        "iter", json_integer(pons_get_int(react, "iter", 0) + 1), "mode",
        json_string(pons_get_str(react, "mode", "EXEC")), "task",
        observed_task(b, pons_get(react, "task"), running), "robot", observed_robot(b), "world",
        pons_object("summary", json_string(pons_get_str(b->world, "summary", "")), "zones", zones,
                    "obstacles",
                    json_integer((json_int_t)json_array_size(pons_get(b->world, "obstacles"))),
                    NULL),
        "skills", names, "running", observed_running(b, running), "last_result",
        copy_or_null(pons_get(skills, "last_result")), "failures",
        json_integer(pons_get_int(react, "failures", 0)), "limits",
        pons_object("failures_max", json_integer(b->rules.failures_max), "iterations_max",
                    json_integer(b->rules.iterations_max), NULL),
        "no_progress", json_boolean(pons_get_bool(react, "no_progress", false)), "human",
        copy_or_null(pons_get(react, "human")), NULL);
}

static pons_value *observed_robot(pons_brain *b)
{
    const pons_value *r = b->robot;
    return pons_object(
        "pose", copy_or_null(pons_get(r, "pose")), "battery_pct",
        json_real(pons_get_num(r, "battery_pct", 0.0)), "battery_state",
        json_string(pons_get_str(r, "battery_state", "unknown")), "zone",
        copy_or_null(pons_get(r, "zone")), "docked",
        json_boolean(pons_get_bool(r, "docked", false)), "resources",
        pons_get(r, "resources") ? pons_value_ref(pons_get(r, "resources")) : json_object(),
        "distance_to_target", copy_or_null(pons_get(r, "distance_to_target")), "stop",
        pons_get(r, "stop") ? pons_value_ref(pons_get(r, "stop"))
                            : pons_object("latched", json_false(), "reason", json_string(""), NULL),
        NULL);
}

static pons_value *observed_task(pons_brain *b, const pons_value *task, const pons_value *running)
{
    if (!json_is_object(task)) {
        return json_null();
    }
    pons_value *goals = json_array();
    int first_open = -1;
    size_t i;
    json_t *goal;
    json_array_foreach(pons_get(task, "goals"), i, goal)
    {
        // Goals are met in their order, and what was met once stays met: a robot that went to the
        // kitchen and then left it has been there.
        const bool met = pons_get_bool(goal, "done", false) ||
                         (first_open < 0 && pons__goal_met(b, goal, goal_running(running, i)));
        json_array_append_new(goals, pons__with(goal, "done", json_boolean(met)));
        if (!met && first_open < 0) {
            first_open = (int)i;
        }
    }
    return pons_object("id", json_string(pons_get_str(task, "id", "")), "text",
                       json_string(pons_get_str(task, "text", "")), "priority",
                       json_integer(pons_get_int(task, "priority", 0)), "goals", goals,
                       "goal_index", json_integer(first_open), NULL);
}

static pons_value *observed_running(pons_brain *b, const pons_value *running)
{
    pons_value *list = json_array();
    size_t i;
    json_t *r;
    json_array_foreach(running, i, r)
    {
        const char *id = pons_get_str(r, "goal_id", "");
        const pons__body_goal *g = pons__port_goal(&b->port, id);
        const double since = pons_get_num(r, "started_robot_ms", 0.0);
        json_array_append_new(
            list,
            pons_object(
                "goal_id", json_string(id), "skill", json_string(pons_get_str(r, "skill", "")),
                "args", copy_or_null(pons_get(r, "args")), "goal_index",
                json_integer(pons_get_int(r, "goal_index", -1)), "elapsed_s",
                json_real(((double)pons__port_robot_ms(&b->port) - since) / 1e3),
                "distance_remaining_m",
                copy_or_null(pons_get(g ? g->feedback : NULL, "distance_remaining_m")), NULL));
    }
    return list;
}

static bool goal_running(const pons_value *running, size_t index)
{
    size_t i;
    json_t *r;
    json_array_foreach(running, i, r)
    {
        if (pons_get_int(r, "goal_index", -1) == (json_int_t)index) {
            return true;
        }
    }
    return false;
}

static pons_value *copy_or_null(const pons_value *v)
{
    return v ? pons_value_ref(v) : json_null();
}
