// world_files.h - worlds as files: a map that becomes one, zones drawn on one, one as SDF and as Nav2 loads it.
#pragma once

#include "app/workspace/context.h"
#include "pons/buf.h"
#include "pons/map.h"

#include <limits.h>

// ---- world_sdf.c --------------------------------------------------------------------------------

// A world with a robot on wheels as SDF, for Gazebo. PONS_EINVAL: the robot has none.
int app_world_sdf(const pons_value *world, pons_buf *ret, pons_error *err);

// ---- world_import.c: a map of nav2_map_server becomes a world -----------------------------------

enum { APP_WORLD_NAME_MAX = 63 };

typedef struct app_import {
    const char *file, *named;      // the map's YAML; named NULL: as the file
    const pons_value *robot_world; // whose robot it gets; borrowed
    const char *start_text;        // where the robot starts, as it was typed; NULL: found
    pons_pose2 start;
    // What came of it.
    char name[APP_WORLD_NAME_MAX + 1];
    char world[PATH_MAX + 96]; // its file
    pons_map *map;
    // Of the files beside it.
    char image[PATH_MAX + 96], map_file[PATH_MAX + 96], draft[PATH_MAX + 96];
    const char *ending; // of the picture
} app_import;

// Its map and where the robot starts; nothing is written. The map is the caller's to destroy, also after an error.
int app_import_read(app_import *i, pons_error *err);
// Into this folder of worlds, which is made when it is not there. PONS_EEXIST: there is such a world.
int app_import_write(app_import *i, const char *worlds, pons_error *err);

// The world NAME of a place without a map, for this robot, at a path that is free: its map grows. simulated: the file of the
// world that it is really in; NULL: a real robot's. PONS_EEXIST.
int app_world_unmapped(const char *path, const char *name, const pons_value *robot_world,
                       const char *simulated, pons_error *err);

// ---- zone_edit.c: zones in the file of a world --------------------------------------------------

typedef enum app_zone_kind {
    APP_ZONE,
    APP_ZONE_KEEP_OUT,
    APP_ZONE_SLOW,
    APP_ZONE_KINDS
} app_zone_kind;

extern const char *const app_zone_lists[APP_ZONE_KINDS]; // their keys in a world

// How long an edit waits for others in the same folder. On a loop thread, which has a heartbeat to keep, that is short.
enum { APP_EDIT_MS = 10000, APP_EDIT_IN_LOOP_MS = 200 };

// The file stays its writer's: only the zone's own lines change. PONS_EINVAL: the file would be no world. PONS_EAGAIN: others
// have edited in its folder for longer than wait_ms.
int app_zone_put(const char *path, app_zone_kind kind, const pons_value *zone, int wait_ms,
                 pons_error *err);
// Its names alone, whatever else a person has written there. *ret: the zone.
int app_zone_rename(const char *path, const char *id, const pons_value *names, int wait_ms,
                    pons_value **ret, pons_error *err);
int app_zone_remove(const char *path, const char *id, app_zone_kind *ret_kind, pons_error *err);
// Where the robot stands when it charges, of a world that has a charger already or has none.
int app_charger_put(const char *path, pons_pose2 at, int wait_ms, pons_error *err);

// ---- world_changes.c ----------------------------------------------------------------------------

// The file of a world that a person may change: one of the workspace, or of a path. PONS_EINVAL: it is one that pons ships.
int app_world_file(const char *name, char ret[PATH_MAX], pons_error *err);
bool app_body_in(const app_context *c,
                 const char *path); // whether one runs in the world of that file
// Tells the body that is in that world, if one is, its zones and its charger.
int app_places_tell(const app_context *c, const char *path, bool *ret_known, pons_error *err);
// Writes the charger into the world's file, unless that place lies in a keep-out area. *ret: as the file has it.
int app_charger_set(const char *world, pons_pose2 at, pons_value **ret, pons_error *err);

// ---- room_names.c -------------------------------------------------------------------------------

// Names of a zone, {en: [kitchen, …], zh: […]}, of words with commas between; NULL, "": none of that language.
pons_value *app_zone_names(const char *en, const char *zh);
// The rooms of a world's map, the largest first, in the same order each time: [{number, area_m2, x, y, polygon, zone?}].
// x, y: its middle; zone: the id of the zone that gives it its name. PONS_EINVAL: the world has no map.
int app_rooms(const char *world, pons_value **ret, pons_error *err);
// Of that list the one at this place of the map; NULL: none is there.
const pons_value *app_room_at(const pons_value *rooms, double x, double y);
// A room, one of that list, becomes a zone of these names; one that has been named so before is named anew, in the languages
// that are given. *ret: the zone. PONS_EINVAL: that name is not allowed (pons_place_name_refused).
int app_room_name(const app_context *c, const char *world, const pons_value *room, const char *en,
                  const char *zh, int wait_ms, pons_value **ret, pons_error *err);
// Names the room at this place of a map that grows, in the language of the name. *ret_zones: the world's. PONS_ENOTFOUND: there
// is no such map or no room, or it has a name in that language. For a loop thread: it loads the map and divides it into rooms,
// 0.2 s for a hall of 1,100 m2.
int app_room_call(const app_context *c, const char *world, double x, double y, const char *name,
                  pons_value **ret_zones, pons_error *err);

// ---- nav2_files.c -------------------------------------------------------------------------------

// A world as Nav2 loads it, into this folder, which is made when it is not there; nothing in it is written over.
int app_world_nav2(const pons_value *world, const char *dir, pons_error *err);
