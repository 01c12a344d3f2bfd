// world_import.c - a map of nav2_map_server becomes a world, in a folder of worlds.
//
//     NAME.pgm or .png   the picture, copied byte by byte
//     NAME.map.yaml      the map, as it was but for the picture's name
//     NAME.yaml          the world: the map, a robot, where it starts, one zone that is all of it
//
// The world is written last, and read before it gets its name: what is there can be used. Nothing
// that is there already is written over.
#include "app/map/world_files.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Beyond the robot's radius, where it starts: as much as the planner keeps, too; else what the robot needs.
static const double ROOMS_M[] = {0.3, 0.15};
static const double SEARCH_M = 0.1; // from one place that is tried to the next

static int name_it(app_import *j, pons_error *err)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    const char *name = j->named, *base = strrchr(j->file, '/');
    base = base ? base + 1 : j->file;
    const size_t n = name ? strlen(name) : strcspn(base, ".");
    if (n == 0 || n > APP_WORLD_NAME_MAX || strspn(name ? name : base, letters) < n) {
        return app_bad(err, "a world's name has letters, digits, - and _, not '%.*s'", (int)n,
                       name ? name : base);
    }
    snprintf(j->name, sizeof j->name, "%.*s", (int)n, name ? name : base);
    return PONS_OK;
}

static int place_it(app_import *j, const char *dir, pons_error *err)
{
    const char *dot = strrchr(pons_map_about(j->map)->image, '.');
    j->ending = dot && strcasecmp(dot, ".png") == 0 ? "png" : "pgm";
    if (strlen(dir) >= PATH_MAX) {
        return app_bad(err, "the workspace's path is too long");
    }
    snprintf(j->image, sizeof j->image, "%s/%s.%s", dir, j->name, j->ending);
    snprintf(j->map_file, sizeof j->map_file, "%s/%s.map.yaml", dir, j->name);
    snprintf(j->world, sizeof j->world, "%s/%s.yaml", dir, j->name);
    snprintf(j->draft, sizeof j->draft, "%s/.%s.new.yaml", dir, j->name);
    if (mkdir(dir, 0700) < 0 && errno != EEXIST) {
        return app_lacks(err, "cannot make %s: %s", dir, strerror(errno));
    }
    const char *const files[] = {j->world, j->map_file, j->image};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct stat st;
        if (lstat(files[i], &st) == 0) {
            return pons_error_set(err, PONS_EEXIST, "map", "%s is there already; give another NAME",
                                  files[i]);
        }
    }
    return PONS_OK;
}

// ---- where the robot starts ---------------------------------------------------------------------

// A disc of free cells?
static bool has_room(const pons_map *m, double x, double y, double radius_m)
{
    const double step = pons_map_about(m)->resolution_m;
    for (double dy = -radius_m; dy <= radius_m; dy += step) {
        for (double dx = -radius_m; dx <= radius_m; dx += step) {
            if (dx * dx + dy * dy <= radius_m * radius_m && !pons_map_is_free(m, x + dx, y + dy)) {
                return false;
            }
        }
    }
    return true;
}

// The free place nearest to where the map's frame begins: there a robot stood when it began to map.
static bool start_near_origin(app_import *j, double radius)
{
    const double *b = pons_map_about(j->map)->bounds;
    const double cx = fmin(fmax(0.0, b[0]), b[2]), cy = fmin(fmax(0.0, b[1]), b[3]);
    const int rings = (int)ceil(fmax(b[2] - b[0], b[3] - b[1]) / SEARCH_M);
    for (int r = 0; r <= rings; r++) {
        double best = INFINITY;
        for (int i = -r; i <= r; i++) {
            const int side[4][2] = {{i, -r}, {i, r}, {-r, i}, {r, i}};
            for (int k = 0; k < 4; k++) {
                const double x = cx + SEARCH_M * side[k][0], y = cy + SEARCH_M * side[k][1];
                if (hypot(x, y) < best && pons_map_is_free(j->map, x, y) &&
                    has_room(j->map, x, y, radius)) {
                    best = hypot(x, y);
                    j->start = (pons_pose2){x, y, 0.0};
                }
            }
        }
        if (isfinite(best)) {
            return true;
        }
    }
    return false;
}

static int find_start(app_import *j, pons_error *err)
{
    const double radius = pons_get_num(pons_get(j->robot_world, "robot"), "radius_m", 0.0);
    const double least = radius + ROOMS_M[1];
    if (j->start_text) {
        return has_room(j->map, j->start.x, j->start.y, least)
                   ? PONS_OK
                   : app_bad(err, "--start %s has not %.2f m of free floor around it",
                             j->start_text, least);
    }
    if (start_near_origin(j, radius + ROOMS_M[0]) || start_near_origin(j, least)) {
        return PONS_OK;
    }
    return app_bad(err, "nowhere in the map has a robot of %.2f m room", least);
}

// ---- what is written ----------------------------------------------------------------------------

static int create(const char *path, int *ret, pons_error *err)
{
    *ret = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    return *ret >= 0
               ? PONS_OK
               : pons_error_set(err, PONS_EIO, "map", "cannot write %s: %s", path, strerror(errno));
}

static int copy_image(const app_import *j, pons_error *err)
{
    char buf[65536];
    int to = -1;
    FILE *from = fopen(pons_map_about(j->map)->image, "re");
    if (!from) {
        return pons_error_set(err, PONS_EIO, "map", "cannot read %s: %s",
                              pons_map_about(j->map)->image, strerror(errno));
    }
    int rc = create(j->image, &to, err);
    for (size_t n; rc == PONS_OK && (n = fread(buf, 1, sizeof buf, from)) > 0;) {
        if (write(to, buf, n) != (ssize_t)n) {
            rc = pons_error_set(err, PONS_EIO, "map", "cannot write %s: %s", j->image,
                                strerror(errno));
        }
    }
    if (rc == PONS_OK && ferror(from)) {
        rc = pons_error_set(err, PONS_EIO, "map", "cannot read %s", pons_map_about(j->map)->image);
    }
    if (to >= 0) {
        close(to);
    }
    fclose(from);
    return rc;
}

static int write_file(const char *path, const char *text, pons_error *err)
{
    int fd = -1;
    const size_t n = strlen(text);
    int rc = create(path, &fd, err);
    if (rc == PONS_OK && (write(fd, text, n) != (ssize_t)n || fsync(fd) < 0)) {
        rc = pons_error_set(err, PONS_EIO, "map", "cannot write %s: %s", path, strerror(errno));
    }
    if (fd >= 0) {
        close(fd);
    }
    return rc;
}

// As few digits as a person wrote, if they are the number; the map's bounds are worked out of it again.
static const char *exact(double v, char ret[32])
{
    snprintf(ret, 32, "%.10g", v);
    if (strtod(ret, NULL) != v) {
        snprintf(ret, 32, "%.17g", v);
    }
    return ret;
}
#define EXACT(v) exact(v, (char[32]){""})

static int write_map(const app_import *j, pons_error *err)
{
    char text[512];
    const pons_map_info *i = pons_map_about(j->map);
    snprintf(text, sizeof text,
             "image: %s.%s\nmode: %s\nresolution: %s\norigin: [%s, %s, %s]\n"
             "negate: %d\noccupied_thresh: %s\nfree_thresh: %s\n",
             j->name, j->ending, pons_map_mode_word(i->mode), EXACT(i->resolution_m),
             EXACT(i->origin.x), EXACT(i->origin.y), EXACT(i->origin.yaw), i->negate,
             EXACT(i->occupied_thresh), EXACT(i->free_thresh));
    return write_file(j->map_file, text, err);
}

// The members of the robot's world that are the robot's, a line each: JSON is YAML.
static void add_robot(pons_buf *out, const pons_value *world)
{
    pons_autovalue parts = pons_world_robot(world);
    const char *key;
    json_t *part;
    json_object_foreach(parts, key, part) {
        char *text = json_dumps(part, JSON_COMPACT | JSON_REAL_PRECISION(15));
        pons_buf_printf(out, "%s: %s\n", key, text ? text : "");
        free(text);
    }
}

static int write_world(const app_import *j, pons_error *err)
{
    pons_autobuf out = PONS_BUF_INIT;
    const double *b = pons_map_about(j->map)->bounds;
    pons_buf_printf(&out,
                    "# Made by `pons map import`. docs/reference/worlds.md describes every key, "
                    "docs/reference/maps.md "
                    "the map's.\nname: %s\nmap: {file: %s.map.yaml}\n"
                    "start: {x: %.10g, y: %.10g, yaw: %.10g}\n",
                    j->name, j->name, j->start.x, j->start.y, j->start.yaw);
    add_robot(&out, j->robot_world);
    pons_buf_printf(&out,
                    "zones:\n"
                    "  - {id: everywhere, names: {zh: [全图, 起点], en: [the whole map, start]}, "
                    "polygon: [[%s, %s], [%s, %s], [%s, %s], [%s, %s]], "
                    "target: {x: %.10g, y: %.10g, yaw: %.10g}}\n",
                    EXACT(b[0]), EXACT(b[1]), EXACT(b[2]), EXACT(b[1]), EXACT(b[2]), EXACT(b[3]),
                    EXACT(b[0]), EXACT(b[3]), j->start.x, j->start.y, j->start.yaw);
    if (!out.data) {
        return pons_error_set(err, PONS_ENOMEM, "map", "no memory for a world");
    }
    return write_file(j->draft, out.data, err);
}

int app_world_unmapped(const char *path, const char *name, const pons_value *robot_world,
                       const char *simulated, pons_error *err)
{
    pons_autobuf out = PONS_BUF_INIT;
    pons_buf_printf(
        &out,
        "# Made by `pons explore`. docs/reference/worlds.md describes every key.\nname: %s\n"
        "map: {file: %s.map.yaml, grows: true}\nstart: {x: 0, y: 0, yaw: 0}\n",
        name, name);
    if (simulated) {
        pons_buf_printf(&out, "simulated: %s\n", simulated);
    }
    add_robot(&out, robot_world);
    return out.failed ? pons_error_set(err, PONS_ENOMEM, "map", "no memory for a world")
                      : write_file(path, out.data, err);
}

static int write_all(const app_import *j, pons_error *err)
{
    pons_autovalue world = NULL;
    int rc = copy_image(j, err);
    rc = rc < 0 ? rc : write_map(j, err);
    rc = rc < 0 ? rc : write_world(j, err);
    rc = rc < 0 ? rc : pons_world_load(j->draft, &world, err);
    if (rc == PONS_OK && rename(j->draft, j->world) < 0) {
        rc = pons_error_set(err, PONS_EIO, "map", "cannot write %s: %s", j->world, strerror(errno));
    }
    if (rc < 0) { // none of them was there before
        unlink(j->draft);
        unlink(j->map_file);
        unlink(j->image);
    }
    return rc;
}

int app_import_read(app_import *i, pons_error *err)
{
    int rc = name_it(i, err);
    rc = rc < 0 ? rc : pons_map_load(i->file, &i->map, err);
    return rc < 0 ? rc : find_start(i, err);
}

int app_import_write(app_import *i, const char *worlds, pons_error *err)
{
    const int rc = place_it(i, worlds, err);
    return rc < 0 ? rc : write_all(i, err);
}
