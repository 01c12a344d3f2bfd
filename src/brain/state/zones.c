// zones.c - the world's zones and poses. The world is the body's hello's; any thread.
#include "brain/state/zones.h"

#include "brain/records/record_table.h"
#include "brain/state/self.h"
#include "pons/geometry.h"

#include <string.h>
#include <strings.h>

// clang-format off
static const pons__field zone_fields[] = {
    {"id",         TEXT, NEVER, offsetof(pons__zone, id), .means = "of the world"},
    {"names",      JSON, KEY,   offsetof(pons__zone, names), .means = "{language: texts} by which it is called"},
    {"polygon",    JSON, KEY,   offsetof(pons__zone, polygon), .means = "corners, [x, y]"},
    {"target",     JSON, KEY,   offsetof(pons__zone, target), .means = "{x, y, yaw?}: where one goes"},
    {"approaches", JSON, KEY,   offsetof(pons__zone, approaches), .means = "poses: where one goes when there is no way there"},
};
TABLE(zone, "a zone of the body's world, as the brain reads it");
// clang-format on

pons__pose pons__pose_of(const pons_value *v)
{
    return (pons__pose){.known =
                            json_is_number(pons_get(v, "x")) && json_is_number(pons_get(v, "y")),
                        .x = pons_get_num(v, "x", 0.0),
                        .y = pons_get_num(v, "y", 0.0),
                        .yaw = pons_get_num(v, "yaw", 0.0)};
}

pons_value *pons__pose_write(const pons__pose *at)
{
    return pons_object("x", json_real(at->x), "y", json_real(at->y), "yaw", json_real(at->yaw),
                       NULL);
}

static bool is_called(const pons__zone *zone, const char *name)
{
    if (strcasecmp(zone->id, name) == 0) {
        return true;
    }
    pons_each_member(language, names, zone->names) {
        pons_each(spoken, names) {
            if (json_is_string(spoken) && strcasecmp(json_string_value(spoken), name) == 0) {
                return true;
            }
        }
    }
    return false;
}

const pons__zone *pons__zone_find(const pons_brain *b, const char *name)
{
    for (size_t i = 0; i < b->port.zones.n; i++) {
        if (is_called(b->port.zones.at[i], name)) {
            return b->port.zones.at[i];
        }
    }
    return NULL;
}

bool pons__zone_contains(const pons__zone *zone, const pons__pose *at)
{
    return pons_polygon_contains(zone->polygon, at->x, at->y);
}

const pons__zone *pons__zone_at(const pons__list *zones, const pons__pose *at)
{
    for (size_t i = 0; i < zones->n; i++) {
        if (pons__zone_contains(zones->at[i], at)) {
            return zones->at[i];
        }
    }
    return NULL;
}
