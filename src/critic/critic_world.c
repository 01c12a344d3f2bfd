// critic_world.c - what a critic is given of the world: zones, objects, and where nothing may be sent.
#include "critic/critic_input.h"

#include <math.h>
#include <stdlib.h>
#include <strings.h>

critic_point pons__critic_point(const pons_value *v)
{
    static const char *const axes[] = {"x", "y", "z"};
    critic_point p = {.yaw = pons_get_num(v, "yaw", 0)};
    bool has[3] = {false};
    for (size_t i = 0; i < 3; i++) {
        const pons_value *n = json_is_array(v) ? json_array_get(v, i) : pons_get(v, axes[i]);
        has[i] = json_is_number(n) && isfinite(json_number_value(n));
        p.at[i] = has[i] ? json_number_value(n) : 0;
    }
    p.known = has[0] && has[1];
    p.has_z = has[2];
    return p;
}

static critic_zone zone_of(const pons_value *v)
{
    return (critic_zone){.id = pons_get_str(v, "id", ""),
                         .reason = pons_get_str(v, "reason", ""),
                         .names = pons_get(v, "names"),
                         .polygon = pons_get(v, "polygon"),
                         .target = pons__critic_point(pons_get(v, "target")),
                         .keep_out = pons_get_bool(v, "keep_out", false)};
}

static critic_object object_of(const pons_value *v)
{
    return (critic_object){.id = pons_get_str(v, "id", ""),
                           .class_name = pons_get_str(v, "class", ""),
                           .names = pons_get(v, "names"),
                           .position = pons__critic_point(pons_get(v, "position")),
                           .mass_kg = pons_get_num(v, "mass_kg", NAN)};
}

static bool named(const pons_value *names, const char *name)
{
    pons_each_member(language, list, names) {
        pons_each(word, list) {
            if (json_is_string(word) && strcasecmp(json_string_value(word), name) == 0) {
                return true;
            }
        }
    }
    return false;
}

static bool is_called(const char *id, const pons_value *names, const char *name)
{
    return strcasecmp(id, name) == 0 || named(names, name);
}

const critic_zone *pons__critic_zone(const pons_critic *c, const char *name)
{
    for (size_t i = 0; i < c->world.n_zones; i++) {
        if (is_called(c->world.zones[i].id, c->world.zones[i].names, name)) {
            return &c->world.zones[i];
        }
    }
    return NULL;
}

const critic_object *pons__critic_object(const pons_critic *c, const char *name)
{
    const critic_world *w = &c->world;
    const critic_object *of_class = NULL;
    for (size_t i = 0; i < w->n_objects; i++) {
        if (is_called(w->objects[i].id, w->objects[i].names, name)) {
            return &w->objects[i];
        }
        if (!of_class && strcasecmp(w->objects[i].class_name, name) == 0) {
            of_class = &w->objects[i];
        }
    }
    return of_class;
}

// An entry of the policy's is an area, or a zone's name.
static void read_areas(pons_critic *c, const pons_value *own, const pons_value *more)
{
    critic_world *w = &c->world;
    size_t i;
    pons_each(area, own) {
        w->areas[w->n_areas++] = zone_of(area);
    }
    for (i = 0; i < w->n_zones; i++) {
        if (w->zones[i].keep_out) {
            w->areas[w->n_areas++] = w->zones[i];
        }
    }
    pons_each(area, more) {
        const critic_zone *zone =
            json_is_string(area) ? pons__critic_zone(c, json_string_value(area)) : NULL;
        if (zone || !json_is_string(area)) {
            w->areas[w->n_areas++] = zone ? *zone : zone_of(area);
        } else {
            w->lacks = json_string_value(area);
        }
    }
}

int pons__critic_world_read(pons_critic *c, pons_error *err)
{
    critic_world *w = &c->world;
    const pons_value *zones = pons_get(c->world_value, "zones");
    const pons_value *objects = pons_get(c->world_value, "objects");
    const pons_value *bounds = pons_get(c->world_value, "bounds");
    const pons_value *own = pons_get(c->world_value, "keep_out");
    const pons_value *more = pons_get(c->policy_value, "keep_out");
    const size_t n_zones = json_array_size(zones), n_objects = json_array_size(objects);
    const size_t n_areas = json_array_size(own) + n_zones + json_array_size(more);
    w->zones = calloc(n_zones + 1, sizeof *w->zones);
    w->objects = calloc(n_objects + 1, sizeof *w->objects);
    w->areas = calloc(n_areas + 1, sizeof *w->areas);
    if (!w->zones || !w->objects || !w->areas) {
        return pons_error_set(err, PONS_ENOMEM, "critic", "out of memory");
    }
    w->has_zones = zones;
    w->has_objects = objects;
    w->has_areas = c->world_value || more;
    w->has_bounds = json_array_size(bounds) == 4;
    for (size_t i = 0; w->has_bounds && i < 4; i++) {
        w->bounds[i] = json_number_value(json_array_get(bounds, i));
    }
    for (; w->n_zones < n_zones; w->n_zones++) {
        w->zones[w->n_zones] = zone_of(json_array_get(zones, w->n_zones));
    }
    for (; w->n_objects < n_objects; w->n_objects++) {
        w->objects[w->n_objects] = object_of(json_array_get(objects, w->n_objects));
    }
    read_areas(c, own, more);
    return PONS_OK;
}

void pons__critic_world_fini(critic_world *w)
{
    free(w->zones);
    free(w->objects);
    free(w->areas);
}
