// fleet_text_task.c - a task for a fleet in words: "bring the cup to the desk, and then say it is there".
//
// The rule policy understands it, as it does what is said to one robot (docs/reference/intents.md), with the stations of
// the map as the zones (their ids, and `names` in the map) and the objects of the first robot's world. Each
// wish is a stop, or something to do at the last one:
//
//     go to, patrol       a stop
//     wait, say, a skill  at the stop before it; at the same place again, when something is done there
//     bring, put          `pick` at the station nearest to the thing, `place` at the one that was said, or nearest
//                         to the thing that was said; its robot has to have the capability `manipulation`
//
// What comes of it are the words of --stops, so whatever is checked there is checked here.
#include "app/fleet/fleet.h"
#include "pons/rule_policy.h"
#include "pons/yaml.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct wish {
    const char *text;
    const pons_fleet_map *map;
    const pons_value *objects;
    pons_buf stops;
    char last[PONS_FLEET_NAME_MAX]; // the stop at which nothing is done yet, or something; "": none
    bool busy;                      // something is done there
    bool arm;                       // a thing is to be held
    pons_error *err;
} wish;

// ---- stops --------------------------------------------------------------------------------------

static int stop(wish *w, const char *zone)
{
    pons_buf_printf(&w->stops, "%s%s", w->stops.len > 0 ? "," : "", zone);
    snprintf(w->last, sizeof w->last, "%s", zone);
    w->busy = false;
    return PONS_OK;
}

__attribute__((format(printf, 2, 3))) static int refuse(const wish *w, const char *fmt, ...)
{
    char why[256];
    va_list args;
    va_start(args, fmt);
    vsnprintf(why, sizeof why, fmt, args);
    va_end(args);
    return app_bad(w->err, "fleet assign: \"%.120s\": %s", w->text, why);
}

// At the last stop; it is one more when something is done there already.
static int work(wish *w, const char *skill, const pons_value *parameters)
{
    char *text = NULL;
    if (!*w->last) {
        return refuse(w, "where? say first which station: \"go to … and …\"");
    }
    if (w->busy) {
        char zone[PONS_FLEET_NAME_MAX];
        snprintf(zone, sizeof zone, "%s", w->last);
        stop(w, zone);
    }
    if (pons_value_dump(parameters, &text) < 0) {
        return pons_error_set(w->err, PONS_ENOMEM, "fleet", "out of memory");
    }
    pons_buf_printf(&w->stops, ":%s%s", skill, text);
    free(text);
    w->busy = true;
    return PONS_OK;
}

static bool is_station(const wish *w, const char *id)
{
    const int32_t at = pons_fleet_map_find(w->map, id);
    return at >= 0 && pons_fleet_map_zone(w->map, (size_t)at)->kind == PONS_FLEET_STATION;
}

// The station that is nearest to an object of the world.
static int stop_at_object(wish *w, const char *id)
{
    const pons_value *at = NULL;
    pons_each(o, w->objects) {
        at = strcmp(pons_get_str(o, "id", ""), id) == 0 ? pons_get(o, "position") : at;
    }
    const double x = json_number_value(json_array_get(at, 0)),
                 y = json_number_value(json_array_get(at, 1));
    double least = INFINITY;
    const char *nearest = NULL;
    for (size_t z = 0; z < pons_fleet_map_size(w->map) && at; z++) {
        const pons_fleet_zone *zone = pons_fleet_map_zone(w->map, z);
        const double m = hypot(zone->x - x, zone->y - y);
        if (zone->kind == PONS_FLEET_STATION && m < least) {
            least = m;
            nearest = zone->id;
        }
    }
    return nearest ? stop(w, nearest) : refuse(w, "nobody knows where %s is", id);
}

static int carry(wish *w, const char *object, const char *place)
{
    if (!place) {
        return refuse(w, "to which station is %s to be brought?", object);
    }
    pons_autovalue what = pons_object("object", json_string(object), NULL);
    int rc = stop_at_object(w, object);
    rc = rc < 0 ? rc : work(w, "pick", what);
    rc = rc < 0 ? rc : is_station(w, place) ? stop(w, place) : stop_at_object(w, place);
    pons_autovalue to = is_station(w, place) ? json_object()
                                             : pons_object("object", json_string(object), "target",
                                                           json_string(place), NULL);
    w->arm = true;
    return rc < 0 ? rc : work(w, "place", to);
}

static int add_goal(wish *w, const pons_value *goal)
{
    const char *intent = pons_get_str(goal, "intent", "");
    const char *zone = pons_get_str(goal, "zone", NULL);
    const pons_value *zones = pons_get(goal, "zones");
    if (strcmp(intent, "go_to") == 0 && zone) {
        return stop(w, zone);
    }
    if (strcmp(intent, "patrol") == 0 && json_array_size(zones) > 0) {
        for (size_t i = 0; i < json_array_size(zones); i++) {
            stop(w, json_string_value(json_array_get(zones, i)));
        }
        return PONS_OK;
    }
    if (strcmp(intent, "bring") == 0 || strcmp(intent, "put") == 0) {
        return carry(w, pons_get_str(goal, "object", ""), pons_get_str(goal, "place", NULL));
    }
    if (strcmp(intent, "wait") == 0) {
        pons_autovalue s = pons_object("s", json_real(pons_get_num(goal, "seconds", 1.0)), NULL);
        return work(w, "wait", s);
    }
    if (strcmp(intent, "say") == 0) {
        pons_autovalue text = pons_object("text", pons_value_ref(pons_get(goal, "text")), NULL);
        return work(w, "speak", text);
    }
    if (strcmp(intent, "do") == 0) {
        const pons_value *args = pons_get(goal, "args");
        pons_autovalue none = json_object();
        return work(w, pons_get_str(goal, "skill", ""), args ? args : none);
    }
    return refuse(w,
                  strcmp(intent, "charge") == 0 ? "robots of a fleet go to docks by themselves"
                                                : "'%s' is no work for a fleet",
                  intent);
}

// ---- public functions ---------------------------------------------------------------------------

// The stations as zones, with the names that the map's file has for them.
static int world_of(const app_fleet_file *file, const pons_fleet_map *map, pons_value **ret,
                    pons_error *err)
{
    pons_yaml *yaml = NULL;
    pons_value *world = NULL;
    int rc = pons_yaml_load(file->map, &yaml, err);
    if (rc < 0) {
        return rc;
    }
    const app_fleet_robot *first = NULL;
    for (size_t i = 0; i < file->n && !first; i++) {
        first = file->robots[i].enabled ? &file->robots[i] : NULL;
    }
    pons_value *zones = json_array();
    const pons_value *list = pons_get(pons_yaml_value(yaml), "zones");
    pons_each(row, list) {
        const int32_t at = pons_fleet_map_find(map, pons_get_str(row, "id", ""));
        if (at >= 0 && pons_fleet_map_zone(map, (size_t)at)->kind == PONS_FLEET_STATION) {
            json_array_append_new(zones,
                                  pons_object("id", pons_value_ref(pons_get(row, "id")), "names",
                                              pons_optional(pons_get(row, "names")), NULL));
        }
    }
    pons_yaml_destroy(yaml);
    rc = first ? app_world(first->world, &world, err) : PONS_OK;
    const pons_value *objects = rc < 0 ? NULL : pons_get(world, "objects");
    *ret = pons_object("zones", zones, "objects", objects ? pons_value_ref(objects) : json_array(),
                       NULL);
    pons_value_unref(world);
    return rc;
}

static int wish_of(const app_context *c, const app_fleet_file *file, const pons_fleet_map *map,
                   const char *text, pons_buf *ret_stops, bool *ret_arm, pons_error *err)
{
    pons_policy policy = {0};
    pons_autovalue world = NULL;
    pons_autovalue said = NULL;
    wish w = {.text = text, .map = map, .stops = PONS_BUF_INIT, .err = err};
    int rc = app_policy(c, &policy, err);
    rc = rc < 0 ? rc : world_of(file, map, &world, err);
    rc = rc < 0 ? rc : policy.ops->parse(policy.self, text, world, &said, err);
    pons_rules_close(&policy);
    const pons_value *goals = pons_get(said, "goals");
    w.objects = pons_get(world, "objects");
    if (rc >= 0 && json_is_string(pons_get(said, "control"))) {
        rc = refuse(&w, "'%s' is said to robots, not to a task",
                    json_string_value(pons_get(said, "control")));
    }
    for (size_t i = 0; i < json_array_size(goals) && rc >= 0; i++) {
        rc = add_goal(&w, json_array_get(goals, i));
    }
    if (rc >= 0) {
        pons_buf_bytes(ret_stops, w.stops.data, w.stops.len);
        *ret_arm = w.arm;
    }
    pons_buf_fini(&w.stops);
    return rc;
}

// "kitchen:pick{\"object\": \"cup\"},desk": zones, and what is done there.
static int read_stops(const char *text, pons_value *zones, pons_value *work, pons_error *err)
{
    for (const char *at = text; *at;) {
        const char *stop = at;
        const size_t n_zone = strcspn(at, ",:");
        pons_value *what = json_null();
        json_array_append_new(zones, json_stringn(stop, n_zone));
        at += n_zone;
        if (*at == ':') {
            const size_t n_skill = strcspn(++at, ",{");
            const char *skill = at;
            pons_value *parameters = NULL;
            at += n_skill;
            if (*at == '{') {
                json_error_t wrong;
                parameters =
                    json_loads(at, JSON_DISABLE_EOF_CHECK | JSON_REJECT_DUPLICATES, &wrong);
                if (!parameters) {
                    return app_bad(err,
                                   "fleet assign: --stops: what '%.*s' is given is no JSON: %s",
                                   (int)n_skill, skill, wrong.text);
                }
                at += wrong.position;
            }
            what = pons_object("skill", json_stringn(skill, n_skill), "parameters",
                               parameters ? parameters : json_object(), NULL);
            if (n_skill == 0 || !json_is_string(pons_get(what, "skill"))) {
                pons_value_unref(what);
                return app_bad(err, "fleet assign: --stops: which skill at '%.*s'?", (int)n_zone,
                               stop);
            }
        }
        json_array_append_new(work, what);
        if (*at == ',') {
            at++;
        } else if (*at) {
            return app_bad(err, "fleet assign: --stops: what is '%s'?", at);
        }
    }
    return PONS_OK;
}

// {id, name, stops, needs?, payload_kg?, priority?, deadline_s?} as the orchestrator has it.
static int task_of(const app_context *c, const app_fleet_file *file, const pons_fleet_map *map,
                   const pons_value *wanted, pons_value **ret, pons_error *err)
{
    const pons_clock clock = pons_clock_real();
    const int64_t now = pons_wall_ms(&clock);
    const char *stops = pons_get_str(wanted, "stops", "");
    char needs[256];
    pons_autobuf said = PONS_BUF_INIT;
    bool arm = false;
    int rc = PONS_OK;
    if (!*stops) {
        rc = wish_of(c, file, map, pons_get_str(wanted, "name", ""), &said, &arm, err);
        stops = rc < 0 || pons_buf_byte(&said, 0) < 0 ? "" : said.data;
    }
    snprintf(needs, sizeof needs, "%.200s%s", pons_get_str(wanted, "needs", ""),
             arm ? "+manipulation" : "");
    const double s = json_number_value(pons_get(wanted, "deadline_s"));
    pons_autovalue zones = json_array();
    pons_autovalue work = json_array();
    pons_fleet_task t;
    uint32_t bits = 0;
    rc = rc < 0 ? rc : app_fleet_needs(file, needs, &bits, err);
    rc = rc < 0 ? rc : read_stops(stops, zones, work, err);
    if (rc < 0) {
        return rc;
    }
    pons_autovalue v =
        pons_object("id", pons_value_ref(pons_get(wanted, "id")), "name",
                    pons_value_ref(pons_get(wanted, "name")), "stops", pons_value_ref(zones), "do",
                    pons_value_ref(work), "requirements", json_string(needs), "payload_kg",
                    json_real(json_number_value(pons_get(wanted, "payload_kg"))), "priority",
                    json_string(pons_get_str(wanted, "priority", "normal")), "deadline_ms",
                    json_integer(s > 0.0 ? now + (int64_t)(s * 1000.0) : 0), "created_ms",
                    json_integer(now), NULL);
    rc = app_fleet_task_read(file, map, NULL, 0, v, &t, err);
    *ret = rc < 0 ? NULL : pons_value_ref(v);
    return rc;
}

int app_fleet_task_of(const app_context *c, const pons_value *wanted, pons_value **ret,
                      pons_error *err)
{
    app_fleet_file file = {0};
    pons_fleet_map *map = NULL;
    *ret = NULL;
    int rc = app_fleet_load(c, &file, err);
    rc = rc < 0 ? rc : pons_fleet_map_load(file.map, &map, err);
    rc = rc < 0 ? rc : task_of(c, &file, map, wanted, ret, err);
    pons_fleet_map_destroy(map);
    app_fleet_free(&file);
    return rc;
}
