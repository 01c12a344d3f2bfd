// map_argument.c - what the verbs of `pons map` are given: a world or a map, and places in it.
#include "cli/map/map.h"
#include "pons/map.h"
#include "pons/yaml.h"

#include <stdlib.h>
#include <string.h>

int map_subject_load(const char *name, map_subject *ret, pons_error *err)
{
    pons_yaml *yaml = NULL;
    *ret = (map_subject){0};
    if (app_is_path(name)) {
        const int rc = pons_yaml_load(name, &yaml, err);
        const bool map = rc == PONS_OK && pons_get(pons_yaml_value(yaml), "image");
        pons_yaml_destroy(yaml);
        if (rc < 0) {
            return rc;
        }
        if (map) {
            return pons_map_load(name, &ret->map, err);
        }
    }
    int rc = app_world(name, &ret->world, err);
    const char *path = pons_get_str(pons_get(ret->world, "map"), "path", NULL);
    rc = rc == PONS_OK && path ? pons_map_load(path, &ret->map, err) : rc;
    if (rc < 0) {
        map_subject_clear(ret);
    }
    return rc;
}

void map_subject_clear(map_subject *s)
{
    pons_value_unref(s->world);
    pons_map_destroy(s->map);
    *s = (map_subject){0};
}

int map_bare_world(const char *name, pons_value **ret, pons_error *err)
{
    pons_autovalue house = NULL;
    pons_map *m = NULL;
    int rc = app_world("house", &house, err);
    rc = rc < 0 ? rc : pons_map_load(name, &m, err);
    if (rc < 0) {
        return rc;
    }
    const pons_map_info *i = pons_map_about(m);
    pons_box2 *walls = NULL;
    size_t n = 0;
    rc = pons_map_rects(m, PONS_MAP_OCCUPIED, PONS_MAP_CELLS_MAX, &walls, &n, err);
    pons_autovalue boxes = json_array();
    for (size_t k = 0; rc == PONS_OK && k < n; k++) {
        json_array_append_new(boxes,
                              json_pack("{s:f,s:f,s:f,s:f,s:f}", "x", walls[k].x, "y", walls[k].y,
                                        "yaw", walls[k].yaw, "sx", walls[k].sx, "sy", walls[k].sy));
    }
    char path[PATH_MAX];
    if (rc == PONS_OK && !realpath(name, path)) {
        rc = app_bad(err, "cannot resolve %s", name);
    }
    if (rc == PONS_OK) {
        *ret = pons_object(
            "robot", pons_value_ref(pons_get(house, "robot")), "bounds",
            json_pack("[f,f,f,f]", i->bounds[0], i->bounds[1], i->bounds[2], i->bounds[3]), "map",
            pons_object("resolution_m", json_real(i->resolution_m), "path", json_string(path),
                        "boxes", pons_value_ref(boxes), NULL),
            NULL);
    }
    free(walls);
    pons_map_destroy(m);
    return rc;
}

int map_pose(const char *text, const char *what, pons_pose2 *ret, pons_error *err)
{
    double v[3] = {0};
    int n = 0;
    for (const char *at = text; n < 3; n++) {
        char *end = NULL;
        v[n] = strtod(at, &end);
        if (end == at || !(fabs(v[n]) <= 1e6)) {
            break;
        }
        at = end + (*end == ',');
        if (*end == '\0') {
            n++;
            break;
        }
        if (*end != ',') {
            n = 0;
            break;
        }
    }
    const char *last = strrchr(text, ',');
    if (n < 2 || !last || !last[1]) {
        return app_bad(err, "%s takes X,Y or X,Y,YAW in metres and radians, not '%s'", what, text);
    }
    *ret = (pons_pose2){v[0], v[1], pons_wrap_angle(v[2])};
    return PONS_OK;
}
