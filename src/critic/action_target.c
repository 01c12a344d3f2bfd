// action_target.c - what the arguments of an action name.
//
// Arguments say where by convention (docs/reference/plans.md, "What the critic reads"):
//
//     zone                                      a zone of the world; the robot goes to its target
//     pose {x, y, z?}                           in map, for the base where there is no z
//     zones poses                               lists of these
//     target_pose target_position position      [x, y, z, …] or {x, y, z?}, in map
//     place_position target
//     object object_id target_object            an object of the world, by id, class or name
//     target_label
//     place target (a text)                     a zone or an object
#include "critic/action_target.h"

#include "critic/critic_input.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const object_keys[] = {"object", "object_id", "target_object", "target_label"};
static const char *const position_keys[] = {"target_pose", "target_position", "position",
                                            "place_position", "target"};

// One that is not known is left out: false.
static bool add(targets *t, const char *kind, const char *name, const critic_point *at)
{
    if (t->n == CRITIC_TARGETS_MAX || !at->known) {
        return at->known;
    }
    target *fresh = &t->all[t->n++];
    *fresh = (target){.has_z = at->has_z};
    memcpy(fresh->at, at->at, sizeof at->at);
    snprintf(fresh->what, sizeof fresh->what, "%s%s%.64s", kind, *name ? " " : "", name);
    return true;
}

static void add_zone(judgement *j, targets *t, const critic_zone *zone)
{
    if (!add(t, "zone", zone->id, &zone->target)) { // nothing to measure
        pons__unjudged(j, "keep_out");
    }
}

static void add_object(judgement *j, targets *t, const critic_object *object)
{
    if (!add(t, "object", object->id, &object->position)) {
        pons__unjudged(j, "reach");
    }
}

static void add_zone_named(judgement *j, targets *t, const char *name)
{
    const critic_zone *zone = name ? pons__critic_zone(j->critic, name) : NULL;
    if (name && !j->critic->world.has_zones) {
        pons__unjudged(j, "zone");
    } else if (name && !zone) {
        pons__violated(j, "zone", NAN, NAN, NULL, "unknown zone %s", name);
    } else if (name) {
        add_zone(j, t, zone);
    }
}

// A name that may be of a zone or of an object. Where nothing moves it may be of anything.
static void add_name(judgement *j, targets *t, const char *key, const char *name)
{
    const critic_zone *zone = pons__critic_zone(j->critic, name);
    const critic_object *object = zone ? NULL : pons__critic_object(j->critic, name);
    if (zone) {
        add_zone(j, t, zone);
    } else if (object) {
        add_object(j, t, object);
    } else if (!j->critic->world.has_zones) {
        pons__unjudged(j, "zone");
    } else if (j->skill && j->skill->moves) {
        pons__violated(j, "zone", NAN, NAN, NULL, "%s %s is neither a zone nor an object", key,
                       name);
    }
}

static void add_pose(targets *t, const pons_value *pose)
{
    critic_point at = pons__critic_point(pose);
    if (json_is_array(pose)) {
        at.has_z = false; // [x, y, yaw]
    }
    add(t, "target", "", &at); // its schema says what is wrong with one that is none
}

void pons__critic_targets(judgement *j, targets *ret)
{
    const critic_world *world = &j->critic->world;
    add_zone_named(j, ret, pons_get_str(j->args, "zone", NULL));
    add_pose(ret, pons_get(j->args, "pose"));
    pons_each(name, pons_get(j->args, "zones")) {
        add_zone_named(j, ret, json_string_value(name));
    }
    pons_each(pose, pons_get(j->args, "poses")) {
        add_pose(ret, pose);
    }
    for (size_t i = 0; i < sizeof position_keys / sizeof *position_keys; i++) {
        const pons_value *v = pons_get(j->args, position_keys[i]);
        const critic_point at = pons__critic_point(v);
        if (json_is_string(v)) {
            add_name(j, ret, position_keys[i], json_string_value(v));
        } else {
            add(ret, "target", "", &at);
        }
    }
    for (size_t i = 0; i < sizeof object_keys / sizeof *object_keys; i++) {
        const char *name = pons_get_str(j->args, object_keys[i], NULL);
        const critic_object *object = name ? pons__critic_object(j->critic, name) : NULL;
        if (name && !world->has_objects) {
            pons__unjudged(j, "object");
        } else if (name && !object) {
            pons__violated(j, "object", NAN, NAN, NULL, "unknown object %s", name);
        } else if (name) {
            add_object(j, ret, object);
        }
    }
    const char *place = pons_get_str(j->args, "place", NULL);
    if (place) {
        add_name(j, ret, "place", place);
    }
}

bool pons__critic_drives(const judgement *j)
{
    return j->skill ? j->skill->drives
                    : !j->critic->skills_value &&
                          (pons_get(j->args, "zone") || pons_get(j->args, "pose"));
}

const char *pons__critic_taken(const judgement *j)
{
    const critic_skill *k = j->skill;
    if (!k || !k->holds_arg) {
        return NULL;
    }
    const char *name = *k->holds_arg ? pons_get_str(j->args, k->holds_arg, NULL) : NULL;
    for (size_t i = 0; !name && i < sizeof object_keys / sizeof *object_keys; i++) {
        name = pons_get_str(j->args, object_keys[i], NULL);
    }
    return name ? name : "something";
}

const char *pons__critic_named(const judgement *j, size_t i)
{
    return i < sizeof object_keys / sizeof *object_keys
               ? pons_get_str(j->args, object_keys[i], NULL)
               : NULL;
}
