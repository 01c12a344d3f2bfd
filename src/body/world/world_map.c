// world_map.c - a map of nav2_map_server becomes walls.
//
// What is occupied in the map is merged to few boxes (src/map/rects.c), which join those of the world's
// file: planner, localisation, lidar, both simulators and the page read boxes already, and need to
// know no pictures. What is unknown, and filters' masks, is for the planner alone, which reads it
// itself (area/zone_grid.c); it is told where the map lies.
#include "body/world/world_map.h"

#include "pons/map.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MODULE "world"

enum { WALLS_MAX = 65536 };
static const double WALL_HEIGHT_M = 1.0, RESOLUTION_M = 0.05;
static const double NEW_M = 25.0,
                    MORE_M = 10.0; // around the start of a new map; around one that is there

static int fault(const pons_yaml *yaml, const char *pointer, pons_error *err)
{
    char where[PONS_ERROR_SOURCE_MAX];
    return pons_error_source(err, "%s", pons_yaml_position(yaml, pointer, where, sizeof where));
}

// A name of the world's file, from where that lies.
static void join(const pons_value *world, const char *name, char *ret, size_t cap)
{
    if (*name == '/') {
        snprintf(ret, cap, "%s", name);
    } else {
        snprintf(ret, cap, "%s/%s", pons_get_str(world, "dir", "."), name);
    }
}

// A map that is still to be made: nothing stands anywhere, as far as anybody knows.
static int take_new_map(pons_value *world, const pons_yaml *yaml, const char *name, pons_error *err)
{
    char path[2 * PATH_MAX];
    pons_autovalue all = json_copy((json_t *)(uintptr_t)pons_get(world, "map"));
    if (*name == '/' || strstr(name, "..")) {
        pons_error_set(err, PONS_EINVAL, MODULE, "the map %s is not in the world's folder", name);
        return fault(yaml, "/map/file", err);
    }
    join(world, name, path, sizeof path);
    if (!all || json_object_set_new(all, "path", json_string(path)) ||
        (!pons_get(all, "boxes") && json_object_set_new(all, "boxes", json_array())) ||
        (!pons_get(all, "resolution_m") &&
         json_object_set_new(all, "resolution_m", json_real(RESOLUTION_M))) ||
        json_object_set(world, "map", all)) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for the map %s", name);
    }
    return PONS_OK;
}

// How far a map may grow: as far as `bounds` says, else a good way around what is known. In whole cells, as mappers have them.
static int take_room(pons_value *world, const double *known, pons_error *err)
{
    const double res = pons_get_num(pons_get(world, "map"), "resolution_m", RESOLUTION_M);
    const pons_value *start = pons_get(world, "start"), *given = pons_get(world, "bounds");
    const double x = pons_get_num(start, "x", 0.0), y = pons_get_num(start, "y", 0.0);
    const double around[4] = {x - NEW_M, y - NEW_M, x + NEW_M, y + NEW_M};
    pons_autovalue bounds = json_array();
    bool whole = bounds != NULL;
    for (size_t i = 0; i < 4; i++) {
        const double more = i < 2 ? -MORE_M : MORE_M;
        double v = known ? known[i] + more : around[i];
        v = given ? json_number_value(json_array_get(given, i)) : v;
        v = res * (i < 2 ? floor(v / res + 1e-6) : ceil(v / res - 1e-6));
        whole = whole && !json_array_append_new(bounds, json_real(v));
    }
    if (!whole || json_object_set(world, "bounds", bounds)) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for the world's bounds");
    }
    return PONS_OK;
}

static int world_file(const pons_value *world, const pons_yaml *yaml, const char *pointer,
                      const char *name, char ret[PATH_MAX], pons_error *err)
{
    char path[2 * PATH_MAX];
    const char *dir = pons_get_str(world, "dir", ".");
    const size_t n = strlen(dir);
    join(world, name, path, sizeof path);
    if (!realpath(path, ret)) {
        pons_error_set(err, PONS_EINVAL, MODULE, "cannot read the map %s: %s", name,
                       strerror(errno));
        return fault(yaml, pointer, err);
    }
    if (strncmp(ret, dir, n) != 0 || (n > 1 && ret[n] != '/')) {
        pons_error_set(err, PONS_EINVAL, MODULE,
                       "the map %s is not in the world's folder: `pons map import` copies it",
                       name);
        return fault(yaml, pointer, err);
    }
    return PONS_OK;
}

// The walls behind the boxes of the world's own; what is alike in all of them is shared.
static bool add_walls(pons_value *boxes, const pons_box2 *walls, size_t n)
{
    pons_autovalue id = json_string("map");
    pons_autovalue kind = json_string("wall");
    pons_autovalue height = json_real(WALL_HEIGHT_M);
    for (size_t i = 0; id && kind && height && i < n; i++) {
        pons_value *box = pons_object("id", json_incref(id), "x", json_real(walls[i].x), "y",
                                      json_real(walls[i].y), "sx", json_real(walls[i].sx), "sy",
                                      json_real(walls[i].sy), "kind", json_incref(kind), "height_m",
                                      json_incref(height), "yaw",
                                      walls[i].yaw != 0.0 ? json_real(walls[i].yaw) : NULL, NULL);
        if (!box || json_array_append_new(boxes, box)) {
            return false;
        }
    }
    return id && kind && height;
}

// A world's map with the walls of `m`; NULL: no memory.
static pons_value *with_walls(const pons_value *map, const pons_map_info *m, const char *path,
                              const pons_box2 *walls, size_t n)
{
    pons_value *all = json_copy((json_t *)(uintptr_t)map);
    pons_value *boxes = json_array();
    bool whole = all && boxes;
    if (whole && pons_get(map, "boxes")) {
        whole = !json_array_extend(boxes, (json_t *)(uintptr_t)pons_get(map, "boxes"));
    }
    whole = whole && add_walls(boxes, walls, n);
    whole = whole && !json_object_set(all, "boxes", boxes) &&
            !json_object_set_new(all, "path", json_string(path)) &&
            (pons_get(map, "resolution_m") ||
             !json_object_set_new(all, "resolution_m", json_real(m->resolution_m)));
    pons_value_unref(boxes);
    if (!whole) {
        pons_value_unref(all);
        all = NULL;
    }
    return all;
}

static int take_map(pons_value *world, const pons_map *m, const char *path, pons_error *err)
{
    const pons_map_info *info = pons_map_about(m);
    pons_box2 *walls = NULL;
    size_t n = 0;
    int rc = pons_map_rects(m, PONS_MAP_OCCUPIED, WALLS_MAX, &walls, &n, err);
    if (rc < 0) {
        return rc == PONS_EINVAL ? pons_error_source(err, "%s", info->image) : rc;
    }
    pons_value *map = with_walls(pons_get(world, "map"), info, path, walls, n);
    free(walls);
    if (!map || json_object_set_new(world, "map", map) ||
        (!pons_get(world, "bounds") &&
         json_object_set_new(world, "bounds",
                             json_pack("[f,f,f,f]", info->bounds[0], info->bounds[1],
                                       info->bounds[2], info->bounds[3])))) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for the walls of %s", path);
    }
    return PONS_OK;
}

// Reads each mask once, so that what is wrong with one is said before anything starts.
// A mask whose origin is mistaken would keep nobody out of anything.
static bool beside(const pons_value *world, const pons_map *mask)
{
    const pons_value *b = pons_get(world, "bounds");
    const double *m = pons_map_about(mask)->bounds;
    double w[4];
    for (size_t i = 0; i < 4; i++) {
        w[i] = json_number_value(json_array_get(b, i));
    }
    return m[2] <= w[0] || m[0] >= w[2] || m[3] <= w[1] || m[1] >= w[3];
}

static int take_filters(pons_value *world, const pons_yaml *yaml, pons_error *err)
{
    const pons_value *filters = pons_get(world, "filters");
    pons_autovalue all = json_array();
    int rc = all ? PONS_OK : PONS_ENOMEM;
    for (size_t i = 0; rc == PONS_OK && i < json_array_size(filters); i++) {
        char path[PATH_MAX], pointer[40];
        pons_map *m = NULL;
        const pons_value *f = json_array_get(filters, i);
        snprintf(pointer, sizeof pointer, "/filters/%zu/file", i);
        rc = world_file(world, yaml, pointer, pons_get_str(f, "file", ""), path, err);
        rc = rc < 0 ? rc : pons_map_load(path, &m, err);
        if (rc == PONS_OK && beside(world, m)) {
            const double *b = pons_map_about(m)->bounds;
            pons_error_set(
                err, PONS_EINVAL, MODULE,
                "the mask %s lies nowhere in the world: it reaches from (%g, %g) to (%g, %g)",
                pons_get_str(f, "file", ""), b[0], b[1], b[2], b[3]);
            rc = fault(yaml, pointer, err);
        }
        pons_map_destroy(m);
        pons_value *with = rc < 0 ? NULL : json_copy((json_t *)(uintptr_t)f);
        if (rc == PONS_OK && (!with || json_object_set_new(with, "path", json_string(path)) ||
                              json_array_append(all, with))) {
            rc = PONS_ENOMEM;
        }
        pons_value_unref(with);
    }
    if (rc == PONS_OK && filters && json_object_set(world, "filters", all)) {
        rc = PONS_ENOMEM;
    }
    return rc == PONS_ENOMEM ? pons_error_set(err, rc, MODULE, "no memory for the filters") : rc;
}

static bool is_there(const pons_value *world, const char *name)
{
    char path[2 * PATH_MAX];
    join(world, name, path, sizeof path);
    return access(path, F_OK) == 0;
}

int pons__world_map(pons_value *world, const pons_yaml *yaml, pons_error *err)
{
    const char *name = pons_get_str(pons_get(world, "map"), "file", NULL);
    if (!name) {
        if (pons_get(world, "bounds")) {
            return take_filters(world, yaml, err);
        }
        pons_error_set(err, PONS_EINVAL, MODULE, "the world has no bounds, and no map.file");
        return fault(yaml, "", err);
    }
    char path[PATH_MAX];
    pons_map *m = NULL;
    int rc;
    const bool grows = pons_get_bool(pons_get(world, "map"), "grows", false);
    if (grows && !is_there(world, name)) {
        rc = take_new_map(world, yaml, name, err);
        rc = rc < 0 ? rc : take_room(world, NULL, err);
        return rc < 0 ? rc : take_filters(world, yaml, err);
    }
    rc = world_file(world, yaml, "/map/file", name, path, err);
    rc = rc < 0 ? rc : pons_map_load(path, &m, err);
    rc = rc < 0 || !grows ? rc : take_room(world, pons_map_about(m)->bounds, err);
    rc = rc < 0 ? rc : take_map(world, m, path, err);
    pons_map_destroy(m);
    return rc < 0 ? rc : take_filters(world, yaml, err);
}
