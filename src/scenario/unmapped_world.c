// unmapped_world.c - the world of a story whose robot has no map of it, and makes one (`unmapped: true`).
//
// The robot is simulated in the story's world. It knows another one, which begins where it stands and has nothing in it: a file
// beside the map that it makes. A body that starts again after a death reads both.
#include "scenario/unmapped_world.h"

#include "pons/body.h"
#include "pons/file.h"
#include "pons/map.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WORLD "unmapped/world.yaml"
#define MAP   "unmapped/world.map.yaml"

void pons__unmapped_remove(const char *dir)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/unmapped", dir);
    DIR *d = opendir(path);
    for (const struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        unlinkat(dirfd(d), e->d_name, 0);
    }
    if (d) {
        closedir(d);
    }
    rmdir(path);
}

int pons__unmapped_create(const char *dir, const pons_value *real, pons_error *err)
{
    char path[PATH_MAX];
    pons_autovalue world = pons_world_robot(real);
    pons_autovalue place =
        json_pack("{s:s, s:s, s:{s:s, s:b}, s:{s:i, s:i, s:i}}", "name", "unmapped", "simulated",
                  pons_get_str(real, "path", ""), "map", "file", "world.map.yaml", "grows", true,
                  "start", "x", 0, "y", 0, "yaw", 0);
    json_object_update(world, place);
    pons__unmapped_remove(dir);
    snprintf(path, sizeof path, "%s/unmapped", dir);
    char *text = json_dumps(world, JSON_REAL_PRECISION(15));
    int rc = text && mkdir(path, 0700) == 0 ? 0 : -1;
    snprintf(path, sizeof path, "%s/" WORLD, dir);
    rc = rc < 0 ? rc : pons_file_replace(path, text, strlen(text), 0600);
    free(text);
    return rc < 0 ? pons_error_set(err, PONS_EIO, "scenario", "cannot write %s", path) : PONS_OK;
}

int pons__unmapped_load(const char *dir, pons_value **ret, pons_error *err)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/" WORLD, dir);
    return pons_world_load(path, ret, err);
}

double pons__unmapped_floor_m2(const char *dir)
{
    char path[PATH_MAX];
    pons_map *m = NULL;
    snprintf(path, sizeof path, "%s/" MAP, dir);
    if (pons_map_load(path, &m, NULL) < 0) {
        return 0.0;
    }
    const pons_map_info *i = pons_map_about(m);
    const double area_m2 = (double)i->free * i->resolution_m * i->resolution_m;
    pons_map_destroy(m);
    return area_m2;
}
