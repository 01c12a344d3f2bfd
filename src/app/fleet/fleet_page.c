// fleet_page.c - what the orchestrator lets others see of a fleet that runs: how it stands, and its map.
//
// Two items of the store, fleet.now/now and fleet.now/map: other processes (`pons fleet status`, the
// page) read these and never the orchestrator itself.
#include "app/fleet/robot_unit.h"

#include <math.h>
#include <string.h>

#define BLOCKED (-2) // of pons_fleet_holder

static pons_value *zone(const pons_fleet_map *map, int32_t at)
{
    return at >= 0 ? json_string(pons_fleet_map_zone(map, (size_t)at)->id) : json_null();
}

// To a decimetre: who stands does not change by the noise of a localiser.
static pons_value *metres(double m)
{
    return isfinite(m) ? json_real(round(m * 10.0) / 10.0) : json_null();
}

static pons_value *robot(const pons_fleet *fleet, const pons_fleet_map *map, const app_unit *units,
                         size_t i)
{
    pons_fleet_view v;
    char why[512];
    const app_unit *u = &units[i];
    pons_fleet_look(fleet, (int32_t)i, &v);
    pons_fleet_why(fleet, (int32_t)i, why, sizeof why);
    if (!u->connected && app_unit_fails(u)) {
        snprintf(why, sizeof why, "%s: its body does not start: see %.160s/body.log",
                 u->robot->is.id, u->own.run_dir);
    } else if (u->connected && *u->barred) {
        snprintf(why, sizeof why, "%s may not drive by its EMBODIED.md: %s", u->robot->is.id,
                 u->barred);
    } else if (*u->asks && !u->doubts) {
        snprintf(why, sizeof why, "%s waits for a person (pons approve %s): %s", u->robot->is.id,
                 u->thread, u->asks);
    } else if (v.hindered && *u->why) {
        const size_t n = strlen(why);
        snprintf(why + n, sizeof why - n, ": %s", u->why);
    } else if (v.state == PONS_FLEET_CHARGING && u->open && u->tried && *u->why) {
        snprintf(why, sizeof why, "%s does not charge: %s", u->robot->is.id, u->why);
    } else if (!*why && *u->unread) {
        snprintf(why, sizeof why, "%s: %s", u->robot->is.id, u->unread);
    }
    return pons_object(
        "id", json_string(u->robot->is.id), "state", json_string(pons_fleet_robot_states[v.state]),
        "zone", zone(map, v.zone), "next", zone(map, v.next), "to", zone(map, v.to), "waits_for",
        zone(map, v.waits_for), "held_by",
        v.held_by >= 0 ? json_string(pons_fleet_robot_at(fleet, (size_t)v.held_by)->id)
                       : json_null(),
        "waits_since_ms", v.waits_for >= 0 ? json_integer(v.waits_since_ms) : json_null(), "stuck",
        json_boolean(v.stuck), "x", metres(u->connected ? u->x : NAN), "y",
        metres(u->connected ? u->y : NAN), "connected", json_boolean(u->connected), "latched",
        json_boolean(u->latched), "task", v.task ? json_string(v.task->id) : json_null(),
        "battery_pct",
        isfinite(v.battery_pct) ? json_integer((json_int_t)v.battery_pct) : json_null(), "thread",
        json_string(u->thread), "why", pons_string(why), NULL);
}

pons_value *app_fleet_now(const pons_fleet *fleet, const pons_fleet_map *map, const app_unit *units,
                          size_t n, int64_t pid)
{
    pons_value *robots = json_array(), *held = json_array();
    for (size_t i = 0; i < n; i++) {
        json_array_append_new(robots, robot(fleet, map, units, i));
    }
    for (size_t z = 0; z < pons_fleet_map_size(map); z++) {
        const int32_t by = pons_fleet_holder(fleet, (int32_t)z);
        if (by >= 0 && (size_t)by < n) {
            json_array_append_new(held, json_pack("[os]", zone(map, (int32_t)z),
                                                  pons_fleet_robot_at(fleet, (size_t)by)->id));
        } else if (by == BLOCKED) {
            json_array_append_new(held, json_pack("[on]", zone(map, (int32_t)z)));
        }
    }
    return pons_object("pid", json_integer(pid), "map", pons_string(pons_fleet_map_name(map)),
                       "robots", robots, "held", held, NULL);
}

pons_value *app_fleet_now_map(const pons_fleet_map *map)
{
    pons_value *zones = json_array();
    for (size_t z = 0; z < pons_fleet_map_size(map); z++) {
        const pons_fleet_zone *is = pons_fleet_map_zone(map, z);
        size_t n = 0;
        const int32_t *exits = pons_fleet_map_exits(map, z, &n);
        pons_value *to = json_array();
        for (size_t i = 0; i < n; i++) {
            json_array_append_new(to, zone(map, exits[i]));
        }
        json_array_append_new(zones,
                              pons_object("id", json_string(is->id), "kind",
                                          json_string(pons_fleet_kinds[is->kind]), "x",
                                          json_real(is->x), "y", json_real(is->y), "to", to, NULL));
    }
    return pons_object("name", pons_string(pons_fleet_map_name(map)), "zones", zones, NULL);
}
