// named_places.c - places that a person names: kept where the robot stands, and gone to as to a zone.
//
//     "remember this place as X" --K5--> is the robot sure where it is, and still? --> item {X, pose, world}
//     "go to X"                  --K5--> zones of the world and X --policy--> go_to zone X --> go_to pose
//
//     "this is your place"       --K5--> the same  --> `charger` of the world's file --> the body
//
// From there on it is a goal with a pose, which the critic, the body and a model know without knowing the name. Names
// that the world has, and words that control, are none that a place can have.
#include "brain/goals/named_places.h"

#include "brain/records/event_fields.h"
#include "brain/records/intent_fields.h"
#include "brain/records/item_fields.h"
#include "pons/brain_places.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#define WHERE     "places"
#define ID        "place "
#define STILL_MPS 0.02
#define STILL_RPS 0.05
#define DOCK_M    0.15 // largest uncertainty of a pose that is kept as the charger

enum { NAME_LONGEST = 64, NAME_MAX_BYTES = 96, KEY_MAX = 256 };

static pons_items items_of(const pons_brain *b)
{
    return (pons_items){.store = b->opts.store, .clock = b->opts.clock};
}

static const char *world_name(const pons_value *world)
{
    return pons_get_str(world, "name", "");
}

// A name without the article that it was said with: who names "the corner" may go to "corner", or "my corner".
static const char *bare(const char *name)
{
    static const char *const articles[] = {"the ", "a ",    "an ",   "my ",
                                           "our ", "your ", "this ", "that "};
    for (size_t i = 0; i < sizeof articles / sizeof articles[0]; i++) {
        const size_t n = strlen(articles[i]);
        if (strncasecmp(name, articles[i], n) == 0 && name[n]) {
            return name + n;
        }
    }
    return name;
}

// The place as a zone of the world.
static pons_value *zone_of(const pons__named *p)
{
    char id[256];
    snprintf(id, sizeof id, ID "%s", p->name);
    pons_autovalue names = bare(p->name) == p->name ? json_pack("[s]", p->name)
                                                    : json_pack("[ss]", p->name, bare(p->name));
    pons_autovalue target = pons__pose_write(&(pons__pose){true, p->x, p->y, p->yaw});
    pons_value *zone = PONS__WRITE(zone, .id = id, .names = names, .target = target);
    json_object_set_new(zone, "named", json_true()); // a patrol of all zones leaves it out
    return zone;
}

// ---- going there --------------------------------------------------------------------------------

int pons_places_in(const pons_items *it, const char *ns, const pons_value *world, pons_value **ret,
                   pons_error *err)
{
    pons_autovalue all = NULL;
    const pons_value *own = pons_get(world, "zones");
    const int rc = pons_items_search(it, &(pons_items_query){.prefix = ns, .limit = -1}, &all, err);
    if (rc < 0) {
        return rc;
    }
    pons_autovalue zones =
        json_is_array(own) ? json_copy((pons_value *)(uintptr_t)own) : json_array();
    pons_each(row, all) {
        PONS__AUTO(item) item = pons__record_read(&pons__item_record, row);
        PONS__AUTO(named) p = pons__record_read(&pons__named_record, item->value);
        if (*p->name && strcmp(p->world, world_name(world)) == 0) {
            json_array_append_new(zones, zone_of(p));
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

// Where one goes; a new reference, NULL: there is no such zone.
static const pons_value *target_of(const pons_value *world, const char *id)
{
    PONS__AUTO(zone)
    zone = pons__record_read(&pons__zone_record, pons__find(pons_get(world, "zones"), "id", id));
    return pons_value_ref(zone->target);
}

static bool uses_place(const pons__goal *goal)
{
    bool uses = is_place(goal->zone) || is_place(goal->place);
    pons_each(one, goal->zones) {
        uses = uses || is_place(json_string_value(one));
    }
    return uses;
}

// A patrol by way of a place is a way to each of its stops.
static void patrol_by_stops(pons__list *goals)
{
    pons__list all = *goals;
    *goals = (pons__list){0};
    while (all.n > 0) {
        pons__goal *goal = pons__list_take(&all, 0);
        if (strcmp(goal->intent, "patrol") != 0 || !uses_place(goal)) {
            pons__list_add(goals, goal);
            continue;
        }
        pons_each(one, goal->zones) {
            pons__goal *stop = pons__record_copy(&pons__goal_record, goal);
            pons__set_text(&stop->intent, "go_to");
            pons__set_text(&stop->zone, json_string_value(one));
            pons__json(&stop->zones, NULL);
            pons__list_add(goals, stop);
        }
        pons__record_free(&pons__goal_record, goal);
    }
    free(all.at);
}

int pons__places_resolve(const pons_value *world, pons__list *goals, pons_error *err)
{
    patrol_by_stops(goals);
    for (size_t i = 0; i < goals->n; i++) {
        const pons__goal *goal = goals->at[i];
        const bool uses = uses_place(goal);
        pons_autovalue target = uses ? (pons_value *)(uintptr_t)target_of(world, goal->zone) : NULL;
        if (uses && (!target ||
                     (strcmp(goal->intent, "go_to") != 0 && strcmp(goal->intent, "where") != 0))) {
            return pons_error_set(err, PONS_EINVAL, WHERE,
                                  "a place that was named can be gone to, and nothing else");
        }
    }
    for (size_t i = 0; i < goals->n; i++) {
        pons__goal *goal = goals->at[i];
        if (uses_place(goal)) {
            pons__json(&goal->pose, target_of(world, goal->zone));
            pons__set_text(&goal->zone, "");
        }
    }
    return PONS_OK;
}

// ---- naming -------------------------------------------------------------------------------------

// Why the robot can't tell where this place is; NULL: it can.
static const char *not_sure(const pons_brain *b, char *ret, size_t cap)
{
    const pons_report_telemetry *t = &b->port.newest.as.telemetry;
    const char *state =
        t->localization.state && *t->localization.state ? t->localization.state : "sure";
    if (!b->seen || !pons__pose_of(b->seen->pose).known) {
        return "the robot does not know where it is";
    }
    if (strcmp(state, "sure") != 0) {
        snprintf(ret, cap,
                 "the robot is not sure where it is (%s): `pons body pose X Y YAW` tells it",
                 state);
        return ret;
    }
    if (fabs(t->twist.v) > STILL_MPS || fabs(t->twist.w) > STILL_RPS) {
        return "the robot is moving: say it when it stands there";
    }
    return NULL;
}

static bool is_printable(const char *name)
{
    const unsigned char *at = (const unsigned char *)name;
    for (; *at; at++) {
        if (*at < 0x20 || *at == 0x7f || (*at == 0xc2 && at[1] < 0xa0)) { // C0, DEL and C1
            return false;
        }
    }
    return true;
}

const char *pons_place_name_refused(const pons_policy *policy, const pons_value *world,
                                    const char *name)
{
    const pons_policy_ops *ops = policy->ops;
    pons_autovalue word = NULL;
    pons_autovalue pace = NULL;
    pons_autovalue empty = json_object();
    pons_error none = PONS_ERROR_INIT;
    if (!name[strspn(name, " ")]) {
        return "a name cannot be blank";
    }
    if (!is_printable(name)) {
        return "a name cannot have control characters";
    }
    if (strlen(name) > NAME_LONGEST) {
        return "a name can have at most 64 bytes";
    }
    const bool parsed_well = ops->parse(policy->self, name, empty, &word, &none) >= 0;
    PONS__AUTO(understood)
    u = pons__record_read(&pons__understood_record, parsed_well ? word : NULL);
    const bool controls =
        u->control || (ops->pace && ops->pace(policy->self, name, &pace, &none) >= 0);
    if (controls) {
        return "that is a word that controls the robot";
    }
    static const char *const said_as[] = {"", "go to ", "去", "pick up "};
    for (size_t i = 0; i < sizeof said_as / sizeof said_as[0]; i++) {
        pons_autovalue parsed = NULL;
        char text[256];
        snprintf(text, sizeof text, "%s%s", said_as[i], name);
        if (ops->parse(policy->self, text, world, &parsed, &none) >= 0) {
            return "the world has one of that name, or it says something else";
        }
    }
    return NULL;
}

// How a place of this world is spelled that people call so too ("Corner", "the corner"): who names one anew moves it, and
// does not make a second one that nobody can tell from the first. "": there is none.
static void spelled(pons_brain *b, const char *name, char *ret, size_t cap)
{
    const pons_items it = items_of(b);
    const pons_policy_ops *ops = b->opts.policy.ops;
    pons_autovalue nowhere =
        pons_object("name", json_string(world_name(b->port.greeting.as.hello.world)), NULL);
    pons_autovalue places = NULL;
    pons_autovalue parsed = NULL;
    pons_error none = PONS_ERROR_INIT;
    char text[256];
    snprintf(ret, cap, "%s", "");
    snprintf(text, sizeof text, "go to %s", name);
    if (pons_places_in(&it, b->opts.places, nowhere, &places, &none) < 0) {
        return;
    }
    char id[256];
    snprintf(id, sizeof id, ID "%s", name);
    if (pons__find(pons_get(places, "zones"), "id", id)) { // letter for letter
        snprintf(ret, cap, "%s", name);
        return;
    }
    if (ops->parse(b->opts.policy.self, text, places, &parsed, &none) < 0) {
        return;
    }
    PONS__AUTO(understood) u = pons__record_read(&pons__understood_record, parsed);
    const pons__goal *goal = u->goals.n == 1 ? u->goals.at[0] : NULL;
    if (goal && is_place(goal->zone)) {
        snprintf(ret, cap, "%s", goal->zone + strlen(ID));
    }
}

// Under which key a place of this world is kept, or will be: its name, and the world's where another world's has that.
static void key_of(pons_brain *b, const char *name, char *ret, size_t cap)
{
    const pons_items it = items_of(b);
    const char *world = world_name(b->port.greeting.as.hello.world);
    pons_autovalue all = NULL;
    pons_error none = PONS_ERROR_INIT;
    pons_items_search(&it, &(pons_items_query){.prefix = b->opts.places, .limit = -1}, &all, &none);
    bool found = false, had = false;
    snprintf(ret, cap, "%s", name);
    pons_each(row, all) {
        PONS__AUTO(item) item = pons__record_read(&pons__item_record, row);
        PONS__AUTO(named) p = pons__record_read(&pons__named_record, item->value);
        if (!found && strcmp(p->name, name) == 0 && strcmp(p->world, world) == 0) {
            snprintf(ret, cap, "%s", item->key);
            found = true;
        }
        had = had || strcmp(item->key, name) == 0;
    }
    if (had && !found) {
        snprintf(ret, cap, "%s (%s)", name, world);
    }
}

static int keep(pons_brain *b, pons_cx *cx, const pons__named *place, pons_error *err)
{
    const pons_items it = items_of(b);
    char key[KEY_MAX];
    pons_autovalue all = NULL;
    pons_autovalue had = NULL;
    pons_error none = PONS_ERROR_INIT;
    key_of(b, place->name, key, sizeof key);
    int rc = pons_items_search(&it, &(pons_items_query){.prefix = b->opts.places, .limit = -1},
                               &all, err);
    if (rc >= 0 && json_array_size(all) >= PONS_PLACES_MAX &&
        pons_items_get(&it, b->opts.places, key, &had, &none) < 0) {
        return pons_error_set(err, PONS_EINVAL, WHERE, "there are %d already", PONS_PLACES_MAX);
    }
    pons_autovalue value = pons__record_write(&pons__named_record, place);
    return rc < 0 ? rc
                  : pons_cx_item_put(cx, b->opts.places, key, value,
                                     &(pons_item_put){.unsearched = true, .ttl_ms = -1}, err);
}

static void refused(pons_brain *b, pons_cx *cx, const char *name, const char *why)
{
    pons__event_emit(b, cx, &pons__place_refused_record,
                     &(pons__place_reported){.name = name, .reason = why});
}

// Names the room that the robot is in, if the map has one there that has no name yet.
static bool name_room(pons_brain *b, pons_cx *cx, const char *name, const pons__pose *at,
                      pons_value **ret_places)
{
    pons_error err = PONS_ERROR_INIT;
    pons_value *zones = NULL;
    const int rc = b->opts.room_keep
                       ? b->opts.room_keep(b->opts.user, at->x, at->y, name, &zones, &err)
                       : PONS_ENOTFOUND;
    if (rc == PONS_OK) {
        *ret_places = pons_object("zones", zones, NULL);
        pons__event_emit(b, cx, &pons__room_named_record, &(pons__place_reported){.name = name});
    } else if (rc != PONS_ENOTFOUND) {
        refused(b, cx, name, err.message);
    }
    return rc != PONS_ENOTFOUND;
}

static void remember(pons_brain *b, pons_cx *cx, const pons__naming *said, const char *by,
                     pons_value **ret_places)
{
    const char *name = said->name;
    char line[160], old[NAME_MAX_BYTES];
    pons_error err = PONS_ERROR_INIT;
    const char *why = not_sure(b, line, sizeof line);
    why =
        why ? why : pons_place_name_refused(&b->opts.policy, b->port.greeting.as.hello.world, name);
    const pons__pose at = pons__pose_of(b->seen ? b->seen->pose : NULL);
    spelled(b, name, old, sizeof old);
    if (!why && !*old && strcmp(said->word, "room") == 0 &&
        name_room(b, cx, name, &at, ret_places)) {
        return;
    }
    const pons__named place = {.name = *old ? old : name,
                               .world = world_name(b->port.greeting.as.hello.world),
                               .x = at.x,
                               .y = at.y,
                               .yaw = at.yaw,
                               .made_ms = pons_cx_wall_ms(cx),
                               .by = by};
    if (!why && keep(b, cx, &place, &err) < 0) {
        why = err.message;
    }
    if (why) {
        refused(b, cx, name, why);
        return;
    }
    PONS__EMIT(b, cx, place_kept, .place = &place);
}

// Writes the charger into the world's file first. The caller then tells the body, which sends a new hello with its skills.
static void keep_charger(pons_brain *b, pons_cx *cx, const char *text, pons_value **ret_places)
{
    char line[160];
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue charger = NULL;
    const pons__pose at = pons__pose_of(b->seen ? b->seen->pose : NULL);
    const double std_m = b->port.newest.as.telemetry.pose_std_m;
    const char *why = not_sure(b, line, sizeof line);
    if (!why && std_m > DOCK_M) {
        snprintf(
            line, sizeof line,
            "the uncertainty of the robot's position is %.2f m; a charger needs %.2f m or less",
            std_m, DOCK_M);
        why = line;
    }
    if (!why && !b->opts.charger_keep) {
        why = "the world's file cannot be changed from here";
    }
    if (!why && b->opts.charger_keep(b->opts.user, at.x, at.y, at.yaw, &charger, &err) < 0) {
        why = err.message;
    }
    if (why) {
        refused(b, cx, text, why);
        return;
    }
    *ret_places = pons_object("charger", pons_value_ref(charger), NULL);
    PONS__EMIT(b, cx, charger_kept, .world = world_name(b->port.greeting.as.hello.world), .x = at.x,
               .y = at.y, .yaw = at.yaw, .std_m = std_m);
}

static void forget(pons_brain *b, pons_cx *cx, const char *name)
{
    const pons_items it = items_of(b);
    char old[NAME_MAX_BYTES], key[KEY_MAX];
    pons_autovalue had = NULL;
    pons_error err = PONS_ERROR_INIT;
    spelled(b, name, old, sizeof old);
    if (*old) {
        key_of(b, old, key, sizeof key);
    } else {
        snprintf(key, sizeof key, "%s", name); // of another world
    }
    if (pons_items_get(&it, b->opts.places, key, &had, &err) < 0) {
        refused(b, cx, name, "no place is called so");
    } else if (pons_cx_item_delete(cx, b->opts.places, key, &err) < 0) {
        refused(b, cx, name, err.message);
    } else {
        pons__event_emit(b, cx, &pons__place_forgotten_record,
                         &(pons__place_reported){.name = name});
    }
}

bool pons__places_hear(pons_brain *b, pons_cx *cx, const char *text, const char *by,
                       pons_value **ret_places)
{
    const pons_policy_ops *ops = b->opts.policy.ops;
    pons_autovalue said = NULL;
    pons_error err = PONS_ERROR_INIT;
    const int rc = b->opts.places && ops->place ? ops->place(b->opts.policy.self, text, &said, &err)
                                                : PONS_ENOTFOUND;
    if (rc == PONS_ENOTFOUND) {
        return false;
    }
    PONS__AUTO(naming) naming = pons__record_read(&pons__naming_record, rc >= 0 ? said : NULL);
    if (rc < 0) {
        refused(b, cx, text, err.message);
    } else if (strcmp(naming->word, "charger") == 0) {
        keep_charger(b, cx, text, ret_places);
    } else if (strcmp(naming->word, "forget") == 0) {
        forget(b, cx, naming->name);
    } else {
        remember(b, cx, naming, by, ret_places);
    }
    return true;
}
