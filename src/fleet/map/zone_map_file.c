// zone_map_file.c - a map as people write it, in YAML, and back.
//
//     name: yard
//     zones:
//       - {id: a1, x: 0, y: 0, to: [a2]}                      # a lane, one way
//       - {id: a2, x: 3, y: 0, to: [a1]}
//       - {id: p1, kind: park, x: 0, y: 2, at: a1}            # a bay: in from a1, out to a1
//       - {id: s1, kind: station, x: 3, y: 2, at: a2, to: [a1]} # in from a2, out to a1
//
// Distances between zones are those of their middles.
#include "fleet/map/zone_graph.h"
#include "pons/growing_list.h"
#include "pons/out_of_memory.h"
#include "pons/yaml.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct reading {
    const pons_yaml *yaml;
    const pons_value *list;
    pons_fleet_zone *zones;
    pons__arc *arcs;
    size_t n, n_arcs, cap_arcs;
    pons_value *numbers; // id to number
    pons_error *err;
} reading;

__attribute__((format(printf, 4, 5))) static int wrong(reading *r, size_t i, const char *key,
                                                       const char *fmt, ...)
{
    char pointer[64];
    va_list args;
    snprintf(pointer, sizeof pointer, "/zones/%zu/%s", i, key);
    va_start(args, fmt);
    const int rc = pons_yaml_vfault(r->yaml, pointer, "fleet", r->err, fmt, args);
    va_end(args);
    return rc;
}

static int read_zone(reading *r, size_t i)
{
    const pons_value *row = json_array_get(r->list, i);
    const char *id = pons_get_str(row, "id", "");
    const char *kind = pons_get_str(row, "kind", "lane");
    pons_fleet_zone *z = &r->zones[i];
    pons_each_member(key, v, row) {
        static const char *const known[] = {"id", "kind", "x", "y", "to", "at", "two_way", "names"};
        bool is = false;
        for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
            is = is || strcmp(known[k], key) == 0;
        }
        if (!is) {
            return wrong(r, i, key, "a zone has no `%.40s`", key);
        }
        if (strcmp(key, "two_way") == 0 && !json_is_boolean(v)) {
            return wrong(r, i, key, "`two_way` is true or false");
        }
    }
    if (!*id || strlen(id) >= sizeof z->id) {
        return wrong(r, i, "id", "a zone has an `id` of 1 to %d bytes", PONS_FLEET_NAME_MAX - 1);
    }
    if (json_object_get(r->numbers, id)) {
        return wrong(r, i, "id", "zone %s is there twice", id);
    }
    json_object_set_new(r->numbers, id, json_integer((json_int_t)i));
    snprintf(z->id, sizeof z->id, "%s", id);
    int k = 0;
    while (pons_fleet_kinds[k] && strcmp(pons_fleet_kinds[k], kind) != 0) {
        k++;
    }
    if (!pons_fleet_kinds[k]) {
        return wrong(r, i, "kind", "zone %s: a kind is lane, park, station or dock, not '%s'", id,
                     kind);
    }
    z->kind = (pons_fleet_kind)k;
    z->x = pons_get_num(row, "x", NAN);
    z->y = pons_get_num(row, "y", NAN);
    if (!isfinite(z->x) || !isfinite(z->y) || fabs(z->x) > 1e6 || fabs(z->y) > 1e6) {
        return wrong(r, i, "x", "zone %s: `x` and `y` are numbers, in metres", id);
    }
    return PONS_OK;
}

static int add_arc(reading *r, size_t from, size_t to)
{
    for (size_t k = 0; k < r->n_arcs && r->n_arcs < 4096; k++) { // said from both sides
        if (r->arcs[k].from == (int32_t)from && r->arcs[k].to == (int32_t)to) {
            return PONS_OK;
        }
    }
    pons_need_room(&r->arcs, &r->cap_arcs, r->n_arcs + 1, sizeof *r->arcs);
    r->arcs[r->n_arcs++] = (pons__arc){(int32_t)from, (int32_t)to};
    return PONS_OK;
}

#define NO_ZONE SIZE_MAX

// The zone of a name, if it is another than zone i.
static size_t other_zone(const reading *r, const pons_value *name, size_t i)
{
    const pons_value *number =
        json_is_string(name) ? json_object_get(r->numbers, json_string_value(name)) : NULL;
    const size_t zone = (size_t)json_integer_value(number);
    return number && zone != i ? zone : NO_ZONE;
}

static int read_exits(reading *r, size_t i)
{
    const pons_value *row = json_array_get(r->list, i);
    const pons_value *to = pons_get(row, "to"), *at = pons_get(row, "at");
    const bool both = pons_get_bool(row, "two_way", false);
    const bool bay = r->zones[i].kind != PONS_FLEET_LANE;
    if (to && !json_is_array(to)) {
        return wrong(r, i, "to", "zone %s: `to` is a list of zones", r->zones[i].id);
    }
    if (bay != (at != NULL)) {
        return wrong(r, i, bay ? "kind" : "at",
                     bay ? "zone %s: a bay says `at` which lane it is"
                         : "zone %s: a lane has `to`, only bays have `at`",
                     r->zones[i].id);
    }
    const size_t n = json_array_size(to) + (bay ? 1 : 0);
    for (size_t k = 0; k < n; k++) {
        const bool is_at = k == json_array_size(to);
        const pons_value *name = is_at ? at : json_array_get(to, k);
        const size_t other = other_zone(r, name, i);
        if (other == NO_ZONE) {
            return wrong(r, i, is_at ? "at" : "to", "zone %s leads to '%s', which is no other zone",
                         r->zones[i].id, json_is_string(name) ? json_string_value(name) : "?");
        }
        if (is_at && r->zones[other].kind != PONS_FLEET_LANE) {
            return wrong(r, i, "at", "zone %s: bays are at lanes, and %s is none", r->zones[i].id,
                         r->zones[other].id);
        }
        if (is_at) {
            add_arc(r, other, i);
        }
        if (!is_at || json_array_size(to) == 0) { // without `to` it is left where it was entered
            add_arc(r, i, other);
        }
        if (both && !is_at) {
            add_arc(r, other, i);
        }
    }
    return PONS_OK;
}

static void where_zone(void *user, size_t zone, pons_error *err)
{
    const reading *r = user;
    char pointer[64], at[256];
    snprintf(pointer, sizeof pointer, "/zones/%zu/id", zone);
    pons_error_source(err, "%s", pons_yaml_position(r->yaml, pointer, at, sizeof at));
}

static int read_yaml(pons_yaml *yaml, const char *name, pons_fleet_map **ret, pons_error *err)
{
    const pons_value *all = pons_yaml_value(yaml);
    reading r = {.yaml = yaml, .list = pons_get(all, "zones"), .err = err};
    if (!json_is_array(r.list) || json_array_size(r.list) == 0) {
        return pons_yaml_fault(yaml, "/zones", "fleet", err, "a map has `zones`, a list");
    }
    r.n = json_array_size(r.list);
    r.zones = pons_need_zeroed(r.n, sizeof *r.zones);
    r.numbers = json_object();
    int rc = PONS_OK;
    for (size_t i = 0; i < r.n && rc >= 0; i++) {
        rc = read_zone(&r, i);
    }
    for (size_t i = 0; i < r.n && rc >= 0; i++) {
        rc = read_exits(&r, i);
    }
    pons_value_unref(r.numbers);
    if (rc < 0) {
        free(r.zones);
        free(r.arcs);
        return rc;
    }
    return pons__map_make(pons_get_str(all, "name", name), r.zones, r.n, r.arcs, r.n_arcs,
                          where_zone, &r, ret, err);
}

int pons_fleet_map_read(const char *text, size_t len, const char *name, pons_fleet_map **ret,
                        pons_error *err)
{
    pons_yaml *yaml = NULL;
    int rc = pons_yaml_parse(text, len, name, &yaml, err);
    rc = rc < 0 ? rc : read_yaml(yaml, name, ret, err);
    pons_yaml_destroy(yaml);
    return rc;
}

int pons_fleet_map_load(const char *path, pons_fleet_map **ret, pons_error *err)
{
    const char *slash = strrchr(path, '/');
    pons_yaml *yaml = NULL;
    int rc = pons_yaml_load(path, &yaml, err);
    rc = rc < 0 ? rc : read_yaml(yaml, slash ? slash + 1 : path, ret, err);
    pons_yaml_destroy(yaml);
    return rc;
}

// ---- back ---------------------------------------------------------------------------------------

// As it is where YAML takes it for text, else in quotes.
static void put_text(pons_buf *out, const char *text)
{
    static const char *const taken[] = {"y",   "n",    "yes",   "no",  "on",
                                        "off", "true", "false", "null"};
    const size_t n = strlen(text);
    bool plain = n > 0 &&
                 strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-"
                              "0123456789") == n &&
                 !strchr("-0123456789", *text);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        plain = plain && strcasecmp(text, taken[i]) != 0;
    }
    pons_autovalue v = pons_string(text);
    char *quoted = NULL;
    if (plain || pons_value_dump(v, &quoted) < 0) {
        pons_buf_str(out, text);
    } else {
        pons_buf_str(out, quoted);
    }
    free(quoted);
}

int pons_fleet_map_write(const pons_fleet_map *map, pons_buf *out)
{
    pons_buf_str(out, "name: ");
    put_text(out, map->name);
    pons_buf_str(out, "\nzones:\n");
    for (size_t z = 0; z < map->n; z++) {
        const pons_fleet_zone *zone = &map->zones[z];
        const bool bay = pons__map_bay(map, (int32_t)z);
        pons_buf_str(out, "  - {id: ");
        put_text(out, zone->id);
        if (bay) {
            pons_buf_printf(out, ", kind: %s, at: ", pons_fleet_kinds[zone->kind]);
            put_text(out, map->zones[map->in[map->first_in[z]]].id);
        }
        pons_buf_str(out, ", ");
        pons_buf_printf(out, "x: %.10g, y: %.10g", zone->x, zone->y);
        const char *before = ", to: [";
        for (int32_t k = map->first_out[z]; k < map->first_out[z + 1]; k++) {
            if (bay || !pons__map_bay(map, map->out[k])) {
                pons_buf_str(out, before);
                put_text(out, map->zones[map->out[k]].id);
                before = ", ";
            }
        }
        pons_buf_str(out, *before == ',' && before[1] == ' ' && before[2] == '\0' ? "]}\n" : "}\n");
    }
    return out->failed ? PONS_ENOMEM : PONS_OK;
}
