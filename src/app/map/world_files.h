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

// How long an edit waits for other edits in the same folder. It is short on a loop thread, which must send heartbeats.
enum { APP_EDIT_MS = 10000, APP_EDIT_IN_LOOP_MS = 200 };

// Adds or replaces a zone. All other lines of the file, comments included, stay as a person wrote them. PONS_EINVAL: the file
// would no longer be a valid world. PONS_EAGAIN: another edit in the folder took longer than wait_ms.
int app_zone_put(const char *path, app_zone_kind kind, const pons_value *zone, int wait_ms,
                 pons_error *err);
// Replaces the names of a zone and keeps its other fields. *ret: the zone.
int app_zone_rename(const char *path, const char *id, const pons_value *names, int wait_ms,
                    pons_value **ret, pons_error *err);
int app_zone_remove(const char *path, const char *id, app_zone_kind *ret_kind, pons_error *err);
// Writes the pose at which the robot charges, whether the world has a charger already or not.
int app_charger_put(const char *path, pons_pose2 at, int wait_ms, pons_error *err);

// ---- world_changes.c ----------------------------------------------------------------------------

// The file of a world that a person may change: in the workspace, or given by its path. PONS_EINVAL: pons ships this world.
int app_world_file(const char *name, char ret[PATH_MAX], pons_error *err);
bool app_body_in(const app_context *c,
                 const char *path); // whether a body runs in the world of this file
// Sends the world's zones and charger to the body that runs in this world. *ret_known: there is one, and it has them.
int app_places_tell(const app_context *c, const char *path, bool *ret_known, pons_error *err);
// Writes the charger into the world's file, unless it would lie in a keep-out area. *ret: the charger as the file has it.
int app_charger_set(const char *world, pons_pose2 at, pons_value **ret, pons_error *err);

// ---- room_names.c -------------------------------------------------------------------------------

// Names of a zone, {en: [kitchen, …], zh: […]}, from texts with commas between the names; NULL, "": none in that language.
pons_value *app_zone_names(const char *en, const char *zh);
// The rooms of a world's map, the largest first, in the same order each time: [{number, area_m2, x, y, polygon, zone?}].
// x, y: its middle; zone: the id of the zone that gives it its name. PONS_EINVAL: the world has no map.
int app_rooms(const char *world, pons_value **ret, pons_error *err);
// The room of that list at this point of the map; NULL: none is there.
const pons_value *app_room_at(const pons_value *rooms, double x, double y);
// Makes a zone with these names of a room of that list. If the room has such a zone already, its names in the given languages
// are replaced. *ret: the zone. PONS_EINVAL: a name is not allowed (pons_place_name_refused).
int app_room_name(const app_context *c, const char *world, const pons_value *room, const char *en,
                  const char *zh, int wait_ms, pons_value **ret, pons_error *err);
// Names the room at this point of a map that grows, in the language of the name. *ret_zones: the world's zones. PONS_ENOTFOUND:
// no such map or room, or the room has a name in that language. A loop thread may call it: it loads the map and divides it into
// rooms, which takes 0.2 s for a hall of 1,100 m2.
int app_room_call(const app_context *c, const char *world, double x, double y, const char *name,
                  pons_value **ret_zones, pons_error *err);

// ---- nav2_files.c -------------------------------------------------------------------------------

// A world as Nav2 loads it, into this folder, which is made when it is not there; nothing in it is written over.
int app_world_nav2(const pons_value *world, const char *dir, pons_error *err);
