// fleet_task.c - a task of the fleet as its item in the store has it: by names, so that a map or a list
// of robots that was edited since is noticed.
#include "app/fleet/fleet.h"
#include "pons/printable.h"

#include <string.h>

static int find_word(const char *const *words, const char *word)
{
    for (int i = 0; words[i]; i++) {
        if (strcmp(words[i], word) == 0) {
            return i;
        }
    }
    return -1;
}

pons_value *app_fleet_task_value(const app_fleet_file *f, const pons_fleet_map *map,
                                 const pons_fleet_robot *robots, const pons_fleet_task *t)
{
    char needs[256];
    pons_value *stops = json_array();
    for (size_t i = 0; i < t->n_stops; i++) {
        json_array_append_new(stops,
                              json_string(pons_fleet_map_zone(map, (size_t)t->stops[i])->id));
    }
    app_fleet_needs_text(f, t->capabilities, needs, sizeof needs);
    return pons_object("id", json_string(t->id), "name", pons_string(*t->name ? t->name : t->id),
                       "stops", stops, "requirements", json_string(needs), "payload_kg",
                       json_real(t->payload_kg), "priority",
                       json_string(pons_fleet_priorities[t->priority]), "deadline_ms",
                       json_integer(t->deadline_ms), "created_ms", json_integer(t->created_ms),
                       "state", json_string(pons_fleet_task_states[t->state]), "robot",
                       t->robot >= 0 ? json_string(robots[t->robot].id) : json_null(), "stop",
                       json_integer((json_int_t)t->stop), "working", json_boolean(t->working),
                       "cancelling", json_boolean(t->cancelling), NULL);
}

int app_fleet_task_read(const app_fleet_file *f, const pons_fleet_map *map,
                        const pons_fleet_robot *robots, size_t n, const pons_value *v,
                        pons_fleet_task *ret, pons_error *err)
{
    const pons_value *stops = pons_get(v, "stops");
    pons_fleet_task t = {.robot = -1,
                         .n_stops = json_array_size(stops),
                         .payload_kg = pons_get_num(v, "payload_kg", 0.0),
                         .deadline_ms = pons_get_int(v, "deadline_ms", 0),
                         .created_ms = pons_get_int(v, "created_ms", 0),
                         .stop = (size_t)pons_get_int(v, "stop", 0),
                         .working = pons_get_bool(v, "working", false),
                         .cancelling = pons_get_bool(v, "cancelling", false)};
    const char *id = pons_get_str(v, "id", ""), *robot = pons_get_str(v, "robot", NULL);
    const int priority = find_word(pons_fleet_priorities, pons_get_str(v, "priority", "normal"));
    const int state = find_word(pons_fleet_task_states, pons_get_str(v, "state", "waiting"));
    const char *name = pons_get_str(v, "name", id);
    snprintf(t.id, sizeof t.id, "%s", id);
    snprintf(t.name, sizeof t.name, "%.*s", (int)pons_text_whole(name, sizeof t.name - 1), name);
    if (!*id || strlen(id) >= sizeof t.id || priority < 0 || state < 0 || t.n_stops < 1 ||
        t.n_stops > PONS_FLEET_STOPS_MAX || t.stop > t.n_stops) {
        return pons_error_set(err, PONS_EINVAL, "fleet", "task '%s' is none", id);
    }
    t.priority = (pons_fleet_priority)priority;
    t.state = (pons_fleet_task_state)state;
    for (size_t i = 0; i < t.n_stops; i++) {
        const char *zone = json_string_value(json_array_get(stops, i));
        t.stops[i] = zone ? pons_fleet_map_find(map, zone) : -1;
        if (t.stops[i] < 0) {
            return pons_error_set(err, PONS_EINVAL, "fleet", "task %s: the map has no zone '%s'",
                                  id, zone ? zone : "?");
        }
    }
    for (size_t i = 0; i < n && robot; i++) {
        t.robot = strcmp(robots[i].id, robot) == 0 ? (int32_t)i : t.robot;
    }
    if (robot && t.robot < 0) {
        return pons_error_set(err, PONS_EINVAL, "fleet", "task %s: the fleet has no robot '%s'", id,
                              robot);
    }
    const int rc = app_fleet_needs(f, pons_get_str(v, "requirements", ""), &t.capabilities, err);
    if (rc >= 0) {
        *ret = t;
    }
    return rc;
}
