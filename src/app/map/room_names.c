// room_names.c - names the rooms of a world's map: each becomes a zone in the world's file.
//
//     the map --segmentation--> rooms, numbered --a person's name--> a zone in the world's file (zone_edit.c)
#include "app/map/world_files.h"
#include "pons/body.h"
#include "pons/brain_places.h"
#include "pons/language.h"
#include "pons/map_rooms.h"
#include "pons/rule_policy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double AS_LARGE = 2.5; // rooms: a larger zone does not name the room it contains

static double area_of(const pons_value *polygon)
{
    double twice = 0.0;
    const size_t n = json_array_size(polygon);
    for (size_t i = 0; i < n; i++) {
        const pons_value *a = json_array_get(polygon, i), *b = json_array_get(polygon, (i + 1) % n);
        twice += json_number_value(json_array_get(a, 0)) * json_number_value(json_array_get(b, 1)) -
                 json_number_value(json_array_get(b, 0)) * json_number_value(json_array_get(a, 1));
    }
    return 0.5 * fabs(twice);
}

// The zone that names a room; NULL: the room has no name yet.
static const char *zone_of(const pons_value *zones, const pons_room *r)
{
    pons_each(zone, zones) {
        const pons_value *polygon = pons_get(zone, "polygon");
        if (pons_polygon_contains(polygon, r->x, r->y) &&
            area_of(polygon) < AS_LARGE * r->area_m2) {
            return pons_get_str(zone, "id", NULL);
        }
    }
    return NULL;
}

static double cm(double m)
{
    return round(m * 100.0) / 100.0;
}

static pons_value *room_value(const pons_room *r, size_t number, const pons_value *zones)
{
    const char *zone = zone_of(zones, r);
    pons_value *polygon = json_array();
    for (int i = 0; i < r->n; i++) {
        json_array_append_new(polygon,
                              json_pack("[f,f]", cm(r->corners[i][0]), cm(r->corners[i][1])));
    }
    return pons_object("number", json_integer((json_int_t)number), "area_m2",
                       json_real(round(r->area_m2 * 10.0) / 10.0), "x", json_real(cm(r->x)), "y",
                       json_real(cm(r->y)), "polygon", polygon, "zone",
                       zone ? json_string(zone) : NULL, NULL);
}

int app_rooms(const char *name, pons_value **ret, pons_error *err)
{
    pons_autovalue world = NULL;
    pons_map *m = NULL;
    pons_room *all = NULL;
    size_t n = 0;
    int rc = app_world(name, &world, err);
    const char *path = pons_get_str(pons_get(world, "map"), "path", NULL);
    if (rc == PONS_OK && !path) {
        rc = app_bad(err, "map rooms: the world %s has no map.file", name);
    }
    rc = rc < 0 ? rc : pons_map_load(path, &m, err);
    rc = rc < 0 ? rc : pons_map_rooms(m, PONS_ROOM_DOOR_M, &all, &n, err);
    if (rc == PONS_OK) {
        *ret = json_array();
        for (size_t i = 0; i < n; i++) {
            json_array_append_new(*ret, room_value(&all[i], i + 1, pons_get(world, "zones")));
        }
    }
    free(all);
    pons_map_destroy(m);
    return rc;
}

static void add_words(pons_value *names, const char *language, const char *words)
{
    pons_autovalue all = json_array();
    for (const char *at = words ? words : ""; *at;) {
        const size_t n = strcspn(at, ",");
        if (n > 0) {
            const size_t lead = strspn(at, " ") < n ? strspn(at, " ") : n;
            size_t end = n;
            while (end > lead && at[end - 1] == ' ') {
                end--;
            }
            json_array_append_new(all, json_stringn(at + lead, end - lead));
        }
        at += n + (at[n] != '\0');
    }
    if (json_array_size(all) > 0) {
        json_object_set(names, language, all);
    }
}

pons_value *app_zone_names(const char *en, const char *zh)
{
    pons_value *names = json_object();
    add_words(names, "zh", zh);
    add_words(names, "en", en);
    return names;
}

#define ROOM_ID "room_"

static bool is_room(const char *zone)
{
    return strncmp(zone, ROOM_ID, strlen(ROOM_ID)) == 0;
}

static const pons_value *names_of(const pons_value *zones, const char *id)
{
    pons_each(zone, zones) {
        if (strcmp(pons_get_str(zone, "id", ""), id) == 0) {
            return pons_get(zone, "names");
        }
    }
    return NULL;
}

// The id with the room's number, or with the next free one: numbers of rooms change when a map grows.
static const char *free_room_id(const pons_value *zones, const pons_value *room, char ret[40])
{
    int i = (int)pons_get_int(room, "number", 1);
    snprintf(ret, 40, ROOM_ID "%d", i);
    while (names_of(zones, ret)) {
        snprintf(ret, 40, ROOM_ID "%d", ++i);
    }
    return ret;
}

// Checks new names against the world, without the zone that is to get them.
static int check_names(const app_context *c, const pons_value *world, const char *zone_id,
                       const pons_value *names, pons_error *err)
{
    pons_policy policy = {0};
    pons_autovalue others = json_array();
    pons_autovalue rest = json_copy((pons_value *)(uintptr_t)world);
    int rc = app_policy(c, &policy, err);
    if (rc < 0) {
        return rc;
    }
    pons_each(zone, pons_get(world, "zones")) {
        if (!zone_id || strcmp(pons_get_str(zone, "id", ""), zone_id) != 0) {
            json_array_append(others, (pons_value *)(uintptr_t)zone);
        }
    }
    json_object_set(rest, "zones", others);
    pons_each_member(language, words, names) {
        (void)language;
        pons_each(word, words) {
            const char *name = json_string_value(word);
            const char *why = rc < 0 ? NULL : pons_place_name_refused(&policy, rest, name);
            rc = why ? app_bad(err, "map rooms: '%s': %s", name, why) : rc;
        }
    }
    pons_rules_close(&policy);
    return rc;
}

int app_room_name(const app_context *c, const char *world, const pons_value *room, const char *en,
                  const char *zh, int wait_ms, pons_value **ret, pons_error *err)
{
    char path[PATH_MAX], free_id[40];
    pons_autovalue loaded = NULL;
    pons_autovalue said = app_zone_names(en, zh);
    const char *has = pons_get_str(room, "zone", NULL);
    if (json_object_size(said) == 0) {
        return app_bad(err, "map rooms: say its name: --en kitchen, --zh 厨房");
    }
    if (has && !is_room(has)) {
        return app_bad(err, "map rooms: room %d is the zone %s already",
                       (int)pons_get_int(room, "number", 0), has);
    }
    int rc = app_world_file(world, path, err);
    rc = rc < 0 ? rc : app_world(world, &loaded, err);
    rc = rc < 0 ? rc : check_names(c, loaded, has, said, err);
    if (rc < 0) {
        return rc;
    }
    const pons_value *zones = pons_get(loaded, "zones");
    if (has) {
        pons_autovalue names = json_copy((json_t *)(uintptr_t)names_of(zones, has));
        names = names ? names : json_object();
        json_object_update(names, said); // those of another language stay
        return app_zone_rename(path, has, names, wait_ms, ret, err);
    }
    pons_autovalue zone = pons_object("id", json_string(free_room_id(zones, room, free_id)),
                                      "names", pons_value_ref(said), "polygon",
                                      pons_value_ref(pons_get(room, "polygon")), "target",
                                      json_pack("{s:f,s:f,s:f}", "x", pons_get_num(room, "x", 0.0),
                                                "y", pons_get_num(room, "y", 0.0), "yaw", 0.0),
                                      NULL);
    rc = app_zone_put(path, APP_ZONE, zone, wait_ms, err);
    if (rc == PONS_OK) {
        *ret = pons_value_ref(zone);
    }
    return rc;
}

const pons_value *app_room_at(const pons_value *rooms, double x, double y)
{
    pons_each(room, rooms) {
        if (pons_polygon_contains(pons_get(room, "polygon"), x, y)) {
            return room;
        }
    }
    return NULL;
}

int app_room_call(const app_context *c, const char *world, double x, double y, const char *name,
                  pons_value **ret_zones, pons_error *err)
{
    pons_autovalue loaded = NULL;
    pons_autovalue rooms = NULL;
    pons_autovalue zone = NULL;
    pons_autovalue after = NULL;
    const bool chinese = pons_language_chinese(name);
    const char *en = chinese ? NULL : name;
    const char *zh = chinese ? name : NULL;
    int rc = app_world(world, &loaded, err);
    if (rc == PONS_OK && !pons_get_bool(pons_get(loaded, "map"), "grows", false)) {
        return PONS_ENOTFOUND; // a person has drawn its zones
    }
    if (rc < 0 || app_rooms(world, &rooms, NULL) < 0) {
        return rc < 0 ? rc : PONS_ENOTFOUND; // there is no map yet
    }
    const pons_value *room = app_room_at(rooms, x, y);
    const char *has = pons_get_str(room, "zone", NULL);
    const pons_value *names = has ? names_of(pons_get(loaded, "zones"), has) : NULL;
    if (!room || (has && !is_room(has)) || pons_get(names, zh ? "zh" : "en")) {
        return PONS_ENOTFOUND;
    }
    rc = app_room_name(c, world, room, en, zh, APP_EDIT_IN_LOOP_MS, &zone, err);
    rc = rc < 0 ? rc : app_world(world, &after, err);
    if (rc == PONS_OK) {
        *ret_zones = pons_value_ref(pons_get(after, "zones"));
    }
    return rc;
}
