// places.c - places that a person names: kept where the robot stands, and gone to as to a zone.
//
//     "remember this place as X" --K5--> is the robot sure where it is, and still? --> item {X, pose, world}
//     "go to X"                  --K5--> zones of the world and X --policy--> go_to zone X --> go_to pose
//
// From there on it is a goal with a pose, which the critic, the body and a model know without knowing the name. Names
// that the world has, and words that control, are none that a place can have.
#include "brain/places.h"

#include "pons/brain_places.h"

#include <math.h>
#include <string.h>

#define WHERE     "places"
#define ID        "place "
#define STILL_MPS 0.02
#define STILL_RPS 0.05

static pons_items items_of(const pons_brain *b)
{
    return (pons_items){.store = b->opts.store, .clock = b->opts.clock};
}

static const char *world_name(const pons_value *world)
{
    return pons_get_str(world, "name", "");
}

// ---- going there --------------------------------------------------------------------------------

int pons_places_in(const pons_items *it, const char *ns, const pons_value *world, pons_value **ret,
                   pons_error *err)
{
    pons_autovalue all = NULL;
    const pons_value *own = pons_get(world, "zones");
    const int rc = pons_items_search(it, &(pons_items_query){.prefix = ns, .limit = -1}, &all, err);
    size_t i;
    json_t *row;
    if (rc < 0) {
        return rc;
    }
    pons_autovalue zones =
        json_is_array(own) ? json_copy((pons_value *)(uintptr_t)own) : json_array();
    json_array_foreach(all, i, row)
    {
        const pons_value *p = pons_get(row, "value");
        const char *name = pons_get_str(p, "name", "");
        if (*name && strcmp(pons_get_str(p, "world", ""), world_name(world)) == 0) {
            pons_value *pose = pons_object("x", json_real(pons_get_num(p, "x", 0.0)), "y",
                                           json_real(pons_get_num(p, "y", 0.0)), "yaw",
                                           json_real(pons_get_num(p, "yaw", 0.0)), NULL);
            json_array_append_new(zones, pons_object("id", json_sprintf(ID "%s", name), "names",
                                                     json_pack("[s]", name), "target", pose, NULL));
        }
    }
    pons_value *with = json_copy((pons_value *)(uintptr_t)world);
    with = with ? with : json_object();
    json_object_set_new(with, "zones", pons_value_ref(zones));
    *ret = with;
    return PONS_OK;
}

pons_value *pons__places_world(pons_brain *b)
{
    const pons_items it = items_of(b);
    const pons_value *world = b->port.greeting.as.hello.world;
    pons_autovalue with = NULL;
    pons_error none = PONS_ERROR_INIT;
    if (b->opts.places && world && pons_places_in(&it, b->opts.places, world, &with, &none) >= 0) {
        world = with;
    }
    return pons__with(world, "skills", pons__or_null(b->port.greeting.as.hello.skills));
}

static bool is_place(const char *id)
{
    return id && strncmp(id, ID, strlen(ID)) == 0;
}

static const pons_value *target_of(const pons_value *world, const char *id)
{
    return pons_get(pons__find(pons_get(world, "zones"), "id", id), "target");
}

static bool uses_place(const pons__goal *goal)
{
    size_t i;
    json_t *one;
    bool uses = is_place(goal->zone) || is_place(goal->place);
    json_array_foreach(goal->zones, i, one)
    {
        uses = uses || is_place(json_string_value(one));
    }
    return uses;
}

int pons__places_resolve(const pons_value *world, pons__list *goals, pons_error *err)
{
    for (size_t i = 0; i < goals->n; i++) {
        const pons__goal *goal = goals->at[i];
        if (uses_place(goal) &&
            (!target_of(world, goal->zone) || strcmp(goal->intent, "go_to") != 0)) {
            return pons_error_set(err, PONS_EINVAL, WHERE,
                                  "a place that was named can be gone to, and nothing else");
        }
    }
    for (size_t i = 0; i < goals->n; i++) {
        pons__goal *goal = goals->at[i];
        if (uses_place(goal)) {
            pons__json(&goal->pose, pons_value_ref(target_of(world, goal->zone)));
            pons__set_text(&goal->zone, "");
        }
    }
    return PONS_OK;
}

// ---- naming -------------------------------------------------------------------------------------

// Why the robot can't tell where this place is; NULL: it can.
static const char *not_sure(const pons_brain *b, char *ret, size_t cap)
{
    const pons_value *t = b->port.telemetry, *where = pons_get(t, "localization");
    const pons_value *twist = pons_get(t, "twist");
    const char *state = pons_get_str(where, "state", "sure");
    if (!json_is_object(pons_get(t, "pose"))) {
        return "the robot does not know where it is";
    }
    if (strcmp(state, "sure") != 0) {
        snprintf(ret, cap,
                 "the robot is not sure where it is (%s): `pons body pose X Y YAW` tells it",
                 state);
        return ret;
    }
    if (fabs(pons_get_num(twist, "v", 0.0)) > STILL_MPS ||
        fabs(pons_get_num(twist, "w", 0.0)) > STILL_RPS) {
        return "the robot is moving: say it when it stands there";
    }
    return NULL;
}

// Why a place can't be called so; NULL: it can.
static const char *taken(pons_brain *b, const char *name)
{
    const pons_policy_ops *ops = b->opts.policy.ops;
    pons_autovalue word = NULL;
    pons_autovalue empty = json_object();
    pons_error none = PONS_ERROR_INIT;
    if (ops->parse(b->opts.policy.self, name, empty, &word, &none) >= 0 &&
        json_is_string(pons_get(word, "control"))) {
        return "that is a word that controls the robot";
    }
    for (size_t i = 0; i < 2; i++) {
        pons_autovalue parsed = NULL;
        char text[256];
        snprintf(text, sizeof text, i ? "去%s" : "go to %s", name);
        if (ops->parse(b->opts.policy.self, text, b->port.greeting.as.hello.world, &parsed,
                       &none) >= 0) {
            return "the world has one of that name, or it says something else";
        }
    }
    return NULL;
}

static int keep(pons_brain *b, pons_cx *cx, const char *name, const char *by, pons_value **ret,
                pons_error *err)
{
    const pons_items it = items_of(b);
    const pons_value *pose = pons_get(b->port.telemetry, "pose");
    pons_autovalue all = NULL;
    pons_autovalue had = NULL;
    pons_error none = PONS_ERROR_INIT;
    int rc = pons_items_search(&it, &(pons_items_query){.prefix = b->opts.places, .limit = -1},
                               &all, err);
    if (rc >= 0 && json_array_size(all) >= PONS_PLACES_MAX &&
        pons_items_get(&it, b->opts.places, name, &had, &none) < 0) {
        return pons_error_set(err, PONS_EINVAL, WHERE, "there are %d already", PONS_PLACES_MAX);
    }
    *ret = pons_object("name", json_string(name), "world",
                       json_string(world_name(b->port.greeting.as.hello.world)), "x",
                       json_real(pons_get_num(pose, "x", 0.0)), "y",
                       json_real(pons_get_num(pose, "y", 0.0)), "yaw",
                       json_real(pons_get_num(pose, "yaw", 0.0)), "made_ms",
                       json_integer(pons_cx_wall_ms(cx)), "by", json_string(by), NULL);
    return rc < 0 ? rc
                  : pons_cx_item_put(cx, b->opts.places, name, *ret,
                                     &(pons_item_put){.unsearched = true, .ttl_ms = -1}, err);
}

static void refused(pons_brain *b, pons_cx *cx, const char *name, const char *why)
{
    pons_cx_emit(
        cx, "place.refused",
        pons__event(b, pons_object("name", json_string(name), "reason", json_string(why), NULL)));
}

static void remember(pons_brain *b, pons_cx *cx, const char *name, const char *by)
{
    char line[160];
    pons_autovalue place = NULL;
    pons_error err = PONS_ERROR_INIT;
    const char *why = not_sure(b, line, sizeof line);
    why = why ? why : taken(b, name);
    if (!why && keep(b, cx, name, by, &place, &err) < 0) {
        why = err.message;
    }
    if (why) {
        refused(b, cx, name, why);
        return;
    }
    pons_cx_emit(cx, "place.kept",
                 pons__event(b, pons_object("place", pons_value_ref(place), NULL)));
}

static void forget(pons_brain *b, pons_cx *cx, const char *name)
{
    const pons_items it = items_of(b);
    pons_autovalue had = NULL;
    pons_error err = PONS_ERROR_INIT;
    if (pons_items_get(&it, b->opts.places, name, &had, &err) < 0) {
        refused(b, cx, name, "no place is called so");
    } else if (pons_cx_item_delete(cx, b->opts.places, name, &err) < 0) {
        refused(b, cx, name, err.message);
    } else {
        pons_cx_emit(cx, "place.forgotten",
                     pons__event(b, pons_object("name", json_string(name), NULL)));
    }
}

bool pons__places_hear(pons_brain *b, pons_cx *cx, const char *text, const char *by)
{
    const pons_policy_ops *ops = b->opts.policy.ops;
    pons_autovalue said = NULL;
    pons_error err = PONS_ERROR_INIT;
    const int rc = b->opts.places && ops->place ? ops->place(b->opts.policy.self, text, &said, &err)
                                                : PONS_ENOTFOUND;
    if (rc == PONS_ENOTFOUND) {
        return false;
    }
    const char *name = pons_get_str(said, "name", "");
    if (rc < 0) {
        refused(b, cx, text, err.message);
    } else if (strcmp(pons_get_str(said, "word", ""), "forget") == 0) {
        forget(b, cx, name);
    } else {
        remember(b, cx, name, by);
    }
    return true;
}
