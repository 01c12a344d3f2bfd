// telemetry_sync.c - K2 and K3: what the body tells becomes the channels `robot` and `world`.
//
//     telemetry --K2--> robot    as the table `robot` has it, and where the robot is by the map's zones
//     hello, telemetry --K3--> world    the map's zones and objects, what was seen of them, and a sentence
//
// Both are untracked: the newest counts, and nothing of it is stored. The brain keeps both, also as structs
// (self.h), for everything that asks how it stands. The brain's loop thread.
#include "brain/body_link/telemetry_sync.h"

#include "brain/goals/seen_objects.h"
#include "pons/buf.h"

#include <math.h>

bool pons__latched(const pons_brain *b)
{
    return b->seen && b->seen->stop && b->seen->stop->latched;
}

static void forget_robot(pons_brain *b)
{
    pons_value_unref(b->robot);
    pons__record_free(&pons__robot_record, b->seen);
    b->robot = NULL;
    b->seen = NULL;
}

static void forget_world(pons_brain *b)
{
    pons_value_unref(b->world);
    pons__record_free(&pons__world_record, b->around);
    b->world = NULL;
    b->around = NULL;
}

void pons__senses_forget(pons_brain *b)
{
    forget_robot(b);
    forget_world(b);
}

// ---- K2 sim_telemetry_sync ----------------------------------------------------------------------

int pons__sim_telemetry_sync(pons_cx *cx, void *user, pons_error *err)
{
    pons_brain *b = user;
    const pons_value *t = b->port.telemetry;
    if (!t) {
        return PONS_OK;
    }
    pons_value *robot = json_object();
    for (size_t i = 0; i < pons__robot_record.n; i++) {
        const char *name = pons__robot_record.fields[i].name;
        const pons_value *v = pons_get(t, name);
        if (v) {
            json_object_set(robot, name, (json_t *)v);
        }
    }
    const pons__pose at = pons__pose_of(pons_get(t, "pose"));
    const pons__zone *zone = pons__zone_at(&b->port.zones, &at);
    json_object_set_new(robot, "zone", zone && *zone->id ? json_string(zone->id) : json_null());
    const pons_value *distance = pons_get(t, "distance_remaining_m");
    json_object_set_new(robot, "distance_to_target",
                        distance ? pons_value_ref(distance) : json_null());
    forget_robot(b);
    b->robot = pons_value_ref(robot);
    b->seen = pons__record_read(&pons__robot_record, robot);
    return pons_cx_put(cx, "robot", robot);
}

// ---- K3 world_model_update ----------------------------------------------------------------------

// A zone's state as far as it is seen: whether unmapped obstacles stand in it, and whether the last way
// there was none.
static pons_value *state_of(const pons_brain *b, const pons__zone *zone,
                            const pons_value *obstacles)
{
    const char *shut = pons_get_str(b->unreachable, zone->id, NULL);
    size_t inside = 0;
    pons_each(o, obstacles) {
        const pons__pose at = pons__pose_of(o);
        inside += at.known && pons__zone_contains(zone, &at);
    }
    return shut         ? json_sprintf("unreachable: %s", shut)
           : inside > 0 ? json_sprintf("%zu obstacles in it", inside)
                        : json_string("clear");
}

// The map's zones as they came, each with its state.
static pons_value *zones_seen(const pons_brain *b, const pons_value *zones,
                              const pons_value *obstacles)
{
    pons_value *seen = json_array();
    for (size_t i = 0; i < b->port.zones.n; i++) {
        json_array_append_new(seen, pons__with(json_array_get(zones, i), "state",
                                               state_of(b, b->port.zones.at[i], obstacles)));
    }
    return seen;
}

// "robot in corridor; 1 unmapped obstacle; on the way to kitchen (clear, 3.2 m); off the charger"
static pons_value *summary_of(const pons_brain *b, const pons_value *seen)
{
    const size_t obstacles = json_array_size(seen);
    const pons__task *active = pons__queue_active(b->tasks);
    const char *zone = b->seen->zone, *target = "";
    for (size_t i = 0; active && i < active->goals.n && !*target; i++) {
        const pons__goal *goal = active->goals.at[i];
        target = goal->done ? "" : goal->zone;
    }
    pons_autobuf text = PONS_BUF_INIT;
    pons_buf_printf(&text, "robot in %s; %zu unmapped obstacle%s; ", zone ? zone : "no zone",
                    obstacles, obstacles == 1 ? "" : "s");
    if (*target) {
        const pons__zone *to = pons__zone_find(b, target);
        pons_autovalue state = to ? state_of(b, to, seen) : json_string("unknown");
        pons_buf_printf(&text, "the goal is %s (%s", target, json_string_value(state));
        if (isfinite(b->seen->distance_to_target)) {
            pons_buf_printf(&text, ", %.1f m left", b->seen->distance_to_target);
        }
        pons_buf_printf(&text, "); ");
    }
    pons_buf_printf(&text, "%s the charger", b->seen->docked ? "on" : "off");
    return json_string(text.data);
}

int pons__world_model_update(pons_cx *cx, void *user, pons_error *err)
{
    pons_brain *b = user;
    const pons_value *map = b->port.greeting.as.hello.world;
    if (!map || !b->seen) {
        return PONS_OK;
    }
    const pons_value *obstacles = pons_get(b->port.telemetry, "obstacles");
    const pons_value *objects = pons_get(map, "objects");
    pons_value *zones = zones_seen(b, pons_get(map, "zones"), obstacles);
    pons__world *w = pons__record_new(&pons__world_record);
    pons_autovalue summary = summary_of(b, obstacles);
    pons__set_text(&w->summary, json_string_value(summary));
    pons__json(&w->zones, zones);
    pons__json(&w->objects, pons__seen_objects(b, objects));
    pons__json(&w->obstacles, obstacles ? pons_value_ref(obstacles) : json_array());
    forget_world(b);
    b->around = w;
    b->world = pons__record_write(&pons__world_record, w);
    return pons_cx_put(cx, "world", pons_value_ref(b->world));
}
