// fleet_map.c - `pons fleet map`: zones to begin a map with, of a world's floor, a map's of nav2_map_server's kind,
// or a hall.
//
// Stations are the world's zones, with their names, where going there ends; docks half a metre and a bit before its
// chargers' pads. What there is no room for is said on stderr, and is not in the map.
#include "cli/map/map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BEFORE_PAD_M 0.6
#define BAYS_MAX     1000
#define HEAD_LINES   2

static double room(void *user, double x, double y)
{
    const pons_ground *g = user;
    const pons_ground_kind kind = pons_ground_at(g, x, y);
    return kind == PONS_GROUND_FREE || kind == PONS_GROUND_SLOW ? pons_ground_room(g, x, y) : 0.0;
}

// NULL: it has none of that name.
static const pons_value *zone_of(const pons_value *world, const char *id)
{
    return pons_find(pons_get(world, "zones"), "id", id);
}

static void add_dock(pons_fleet_bay *bays, size_t *n, const pons_value *world)
{
    const pons_value *pose = pons_get(pons_get(world, "charger"), "pose");
    if (!json_is_object(pose) || *n == BAYS_MAX) {
        return;
    }
    const double x = pons_get_num(pose, "x", 0.0), y = pons_get_num(pose, "y", 0.0),
                 yaw = pons_get_num(pose, "yaw", 0.0);
    pons_fleet_bay *b = &bays[*n];
    *b = (pons_fleet_bay){.kind = PONS_FLEET_DOCK,
                          .x = x - BEFORE_PAD_M * cos(yaw),
                          .y = y - BEFORE_PAD_M * sin(yaw),
                          .pad_x = x,
                          .pad_y = y};
    for (size_t number = 1; number == 1 || zone_of(world, b->id); number++) {
        snprintf(b->id, sizeof b->id, "dock-%zu", number);
    }
    ++*n;
}

static size_t bays_of(const pons_value *world, pons_fleet_bay *bays)
{
    size_t n = 0;
    add_dock(bays, &n, world);
    pons_each(zone, pons_get(world, "zones")) {
        const char *id = pons_get_str(zone, "id", "");
        const pons_value *at = pons_get(zone, "target");
        pons_fleet_bay *b = &bays[n];
        if (n == BAYS_MAX || !*id || strlen(id) >= sizeof b->id || !json_is_object(at)) {
            continue;
        }
        *b = (pons_fleet_bay){.kind = PONS_FLEET_STATION,
                              .x = pons_get_num(at, "x", 0.0),
                              .y = pons_get_num(at, "y", 0.0)};
        b->pad_x = b->x;
        b->pad_y = b->y;
        snprintf(b->id, sizeof b->id, "%s", id);
        n++;
    }
    return n;
}

// radius_m 0: of the world's robot.
static int compile(const char *name, const pons_value *world, size_t robots, double step_m,
                   double radius_m, pons_fleet_map **ret, pons_error *err)
{
    static pons_fleet_bay bays[BAYS_MAX];
    const pons_value *bounds = pons_get(world, "bounds");
    pons_ground *g = NULL;
    int rc = pons_ground_open(world, &g, err);
    char own[128]; // of a map alone: its file's
    const char *slash = strrchr(name, '/');
    snprintf(own, sizeof own, "%s", slash ? slash + 1 : name);
    char *dot = strrchr(own, '.');
    if (dot && dot != own) {
        *dot = '\0';
    }
    pons_fleet_floor floor = {
        .xmin = json_number_value(json_array_get(bounds, 0)),
        .ymin = json_number_value(json_array_get(bounds, 1)),
        .xmax = json_number_value(json_array_get(bounds, 2)),
        .ymax = json_number_value(json_array_get(bounds, 3)),
        .radius_m =
            radius_m > 0.0 ? radius_m : pons_get_num(pons_get(world, "robot"), "radius_m", 0.0),
        .step_m = step_m,
        .robots = robots,
        .bays = bays,
        .n_bays = bays_of(world, bays),
        .room = room,
        .user = g};
    rc = rc < 0 ? rc : pons_fleet_map_compile(pons_get_str(world, "name", own), &floor, ret, err);
    for (size_t i = 0; i < floor.n_bays && rc >= 0; i++) {
        if (!bays[i].made) {
            cli_err("%s: no room for '%s' beside a way: it is not in the map\n", name, bays[i].id);
        }
    }
    pons_ground_close(g);
    return rc;
}

// A line each zone, behind two; a station of the world's with the names that its zone has there.
static int print_map(const pons_fleet_map *map, const pons_value *world)
{
    pons_autobuf text = PONS_BUF_INIT;
    const int rc = pons_fleet_map_write(map, &text);
    char *save = NULL;
    char *line = rc >= 0 ? strtok_r(text.data, "\n", &save) : NULL;
    for (size_t i = 0; line; line = strtok_r(NULL, "\n", &save), i++) {
        const pons_fleet_zone *zone =
            i >= HEAD_LINES ? pons_fleet_map_zone(map, i - HEAD_LINES) : NULL;
        const pons_value *names = zone && zone->kind == PONS_FLEET_STATION
                                      ? pons_get(zone_of(world, zone->id), "names")
                                      : NULL;
        char *said = NULL;
        if (names && pons_value_dump(names, &said) >= 0) {
            cli_out("%.*s, names: %s}\n", (int)strlen(line) - 1, line, said);
        } else {
            cli_out("%s\n", line);
        }
        free(said);
    }
    return rc;
}

int cmd_fleet_map(cli *c, pons_error *err)
{
    double n = 10, step_m = 0, radius_m = 0;
    const cli_option options[] = {
        {"--robots", "N", "that it has room for; default 10", CLI_NUMBER(&n, 1, 5000)},
        {"--step", "M", "metres between two zones of a floor; default: by the room",
         CLI_NUMBER(&step_m, 0.1, 100)},
        {"--radius", "M", "of a robot; default: the world's robot, of a map alone the house's",
         CLI_NUMBER(&radius_m, 0.01, 100)},
        {NULL, NULL, NULL, NULL}};
    pons_fleet_map *map = NULL;
    pons_autovalue bare = NULL;
    map_subject s = {0};
    int rc = cli_parse(c, options, err);
    if (rc >= 0 && c->argc > 1) {
        return app_bad(err, "fleet map: what is '%s'?", c->argv[1]);
    }
    const char *of_floor = step_m > 0 ? "--step" : "--radius";
    if (rc >= 0 && (step_m > 0 || radius_m > 0) && c->argc == 0) {
        return app_bad(err, "fleet map: %s is of a world's floor: `pons fleet map WORLD %s M`",
                       of_floor, of_floor);
    }
    if (rc >= 0 && c->argc == 1) {
        const char *name = c->argv[0];
        rc = map_subject_load(name, &s, err);
        rc = rc < 0 || s.world ? rc : map_bare_world(name, &bare, err);
        rc = rc < 0
                 ? rc
                 : compile(name, s.world ? s.world : bare, (size_t)n, step_m, radius_m, &map, err);
    } else if (rc >= 0) {
        rc = pons_fleet_map_hall((size_t)n, &map, err);
    }
    rc = rc < 0 ? rc : print_map(map, s.world);
    pons_fleet_map_destroy(map);
    map_subject_clear(&s);
    return rc;
}
