// map.h - between the verbs of `pons map`.
#pragma once

#include "app/map/world_files.h"
#include "cli/cli.h"
#include "pons/map_preview.h"

// map_argument.c: what `pons map show` and `check` are given: a world by its name or file, or a map's YAML.
typedef struct map_subject {
    pons_value *world; // NULL: a map alone
    struct pons_map *map;
} map_subject;
int map_subject_load(const char *name, map_subject *ret, pons_error *err);
void map_subject_clear(map_subject *s); // after a zeroing too
// Of a map alone a world of nothing but it, with the house's robot.
int map_bare_world(const char *name, pons_value **ret, pons_error *err);

// text_map.c: the ground as text, `columns` wide, with a way over it (NULL: none).
void map_draw(const pons_value *world, const pons_ground *g, const pons_ground_way *way,
              int columns);

// zones.c: `pons map zones WORLD [add ID … | remove ID]`.
typedef struct map_zone {
    const char *polygon, *zh, *en, *target, *percent, *speed, *reason;
    bool keep_out;
} map_zone;
int map_zones(cli *c, const char *world, const char *verb, const char *id, const map_zone *zone,
              pons_error *err);

// Prints a zone that was written into the world's file, and tells the body that runs in this world.
int map_tell_zone(const cli *c, const char *path, const pons_value *zone, app_zone_kind kind,
                  pons_error *err);

// rooms.c: `pons map rooms WORLD [name N]`; number NULL: all are listed.
int map_rooms(cli *c, const char *world, const char *number, const map_zone *zone, pons_error *err);

// "X,Y" or "X,Y,YAW"; what: how the error calls it.
int map_pose(const char *text, const char *what, pons_pose2 *ret, pons_error *err);
