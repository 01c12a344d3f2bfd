// import.c - `pons map import FILE.yaml [NAME]`: a map of nav2_map_server becomes a world of the
// workspace.
//
//     worlds/NAME.pgm or .png   the picture, copied byte by byte
//     worlds/NAME.map.yaml      the map, as it was but for the picture's name
//     worlds/NAME.yaml          the world: the map, a robot, where it starts, one zone that is all of it
//
// The world is written last, and read before it gets its name: what is there can be used. Nothing
// that is there already is written over.
#include "cli/map/map.h"
#include "pons/buf.h"
#include "pons/map.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_MAX_BYTES = 63 };
// Beyond the robot's radius, where it starts: as much as the planner keeps, too; else what the robot needs.
static const double ROOMS_M[] = {0.3, 0.15};
static const double SEARCH_M = 0.1; // from one place that is tried to the next

typedef struct job {
    const map_import *what;
    char name[NAME_MAX_BYTES + 1];
    char dir[PATH_MAX]; // of worlds
    char image[PATH_MAX + 96], map[PATH_MAX + 96], world[PATH_MAX + 96], draft[PATH_MAX + 96];
    const char *ending; // of the picture
    pons_map *m;
    pons_value *robot_world; // whose robot it gets
    pons_pose2 start;
} job;

static int name_it(job *j, pons_error *err)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    const char *name = j->what->name, *base = strrchr(j->what->file, '/');
    base = base ? base + 1 : j->what->file;
    const size_t n = name ? strlen(name) : strcspn(base, ".");
    if (n == 0 || n > NAME_MAX_BYTES || strspn(name ? name : base, letters) < n) {
        return app_bad(err, "a world's name has letters, digits, - and _, not '%.*s'", (int)n,
                       name ? name : base);
    }
    snprintf(j->name, sizeof j->name, "%.*s", (int)n, name ? name : base);
    return PONS_OK;
}

static int place_it(const cli *c, job *j, pons_error *err)
{
    const char *dot = strrchr(pons_map_about(j->m)->image, '.');
    j->ending = dot && strcasecmp(dot, ".png") == 0 ? "png" : "pgm";
    if (snprintf(j->dir, sizeof j->dir, "%s/worlds", c->app.workspace) >= (int)sizeof j->dir ||
        snprintf(j->image, sizeof j->image, "%s/%s.%s", j->dir, j->name, j->ending) >=
            (int)sizeof j->image) {
        return app_bad(err, "the workspace's path is too long");
    }
    snprintf(j->map, sizeof j->map, "%s/%s.map.yaml", j->dir, j->name);
    snprintf(j->world, sizeof j->world, "%s/%s.yaml", j->dir, j->name);
    snprintf(j->draft, sizeof j->draft, "%s/.%s.new.yaml", j->dir, j->name);
    if (mkdir(j->dir, 0700) < 0 && errno != EEXIST) {
        return app_lacks(err, "cannot make %s: %s", j->dir, strerror(errno));
    }
    const char *const files[] = {j->world, j->map, j->image};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct stat st;
        if (lstat(files[i], &st) == 0) {
            pons_error_set(err, PONS_EEXIST, "map", "%s is there already; give another NAME",
                           files[i]);
            return PONS_EEXIST;
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
static bool start_near_origin(job *j, double radius)
{
    const double *b = pons_map_about(j->m)->bounds;
    const double cx = fmin(fmax(0.0, b[0]), b[2]), cy = fmin(fmax(0.0, b[1]), b[3]);
    const int rings = (int)ceil(fmax(b[2] - b[0], b[3] - b[1]) / SEARCH_M);
    for (int r = 0; r <= rings; r++) {
        double best = INFINITY;
        for (int i = -r; i <= r; i++) {
            const int side[4][2] = {{i, -r}, {i, r}, {-r, i}, {r, i}};
            for (int k = 0; k < 4; k++) {
                const double x = cx + SEARCH_M * side[k][0], y = cy + SEARCH_M * side[k][1];
                if (hypot(x, y) < best && pons_map_is_free(j->m, x, y) &&
                    has_room(j->m, x, y, radius)) {
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

static int find_start(job *j, pons_error *err)
{
    const double radius = pons_get_num(pons_get(j->robot_world, "robot"), "radius_m", 0.0);
    const double least = radius + ROOMS_M[1];
    if (j->what->start) {
        const int rc = map_pose(j->what->start, "--start", &j->start, err);
        if (rc == PONS_OK && !has_room(j->m, j->start.x, j->start.y, least)) {
            return app_bad(err, "--start %s has not %.2f m of free floor around it", j->what->start,
                           least);
        }
        return rc;
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

static int copy_image(const job *j, pons_error *err)
{
    char buf[65536];
    int to = -1;
    FILE *from = fopen(pons_map_about(j->m)->image, "re");
    if (!from) {
        return pons_error_set(err, PONS_EIO, "map", "cannot read %s: %s",
                              pons_map_about(j->m)->image, strerror(errno));
    }
    int rc = create(j->image, &to, err);
    for (size_t n; rc == PONS_OK && (n = fread(buf, 1, sizeof buf, from)) > 0;) {
        if (write(to, buf, n) != (ssize_t)n) {
            rc = pons_error_set(err, PONS_EIO, "map", "cannot write %s: %s", j->image,
                                strerror(errno));
        }
    }
    if (rc == PONS_OK && ferror(from)) {
        rc = pons_error_set(err, PONS_EIO, "map", "cannot read %s", pons_map_about(j->m)->image);
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

static int write_map(const job *j, pons_error *err)
{
    char text[512];
    const pons_map_info *i = pons_map_about(j->m);
    snprintf(text, sizeof text,
             "image: %s.%s\nmode: %s\nresolution: %s\norigin: [%s, %s, %s]\n"
             "negate: %d\noccupied_thresh: %s\nfree_thresh: %s\n",
             j->name, j->ending, pons_map_mode_word(i->mode), EXACT(i->resolution_m),
             EXACT(i->origin.x), EXACT(i->origin.y), EXACT(i->origin.yaw), i->negate,
             EXACT(i->occupied_thresh), EXACT(i->free_thresh));
    return write_file(j->map, text, err);
}

// A part of the robot's world, as one line: JSON is YAML.
static void add_part(pons_buf *out, const pons_value *world, const char *key)
{
    const pons_value *part = pons_get(world, key);
    char *text = part ? json_dumps(part, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
    if (text) {
        pons_buf_printf(out, "%s: %s\n", key, text);
    }
    free(text);
}

// The robot by its own numbers: what was worked out of its footprint or its URDF is worked out again, or said.
static void add_robot(pons_buf *out, const pons_value *robot)
{
    pons_autovalue own = json_copy((json_t *)(uintptr_t)robot);
    if (pons_get(own, "footprint")) {
        json_object_del(own, "radius_m");
    }
    json_object_del(own, "urdf");
    json_object_del(own, "base_link");
    json_object_del(own, "lidar_at");
    pons_autovalue world = pons_object("robot", pons_value_ref(own), NULL);
    add_part(out, world, "robot");
}

static int write_world(const job *j, pons_error *err)
{
    pons_autobuf out = PONS_BUF_INIT;
    const double *b = pons_map_about(j->m)->bounds;
    pons_buf_printf(&out,
                    "# Made by `pons map import`. docs/worlds.md describes every key, docs/maps.md "
                    "the map's.\nname: %s\nmap: {file: %s.map.yaml}\n"
                    "start: {x: %.10g, y: %.10g, yaw: %.10g}\n",
                    j->name, j->name, j->start.x, j->start.y, j->start.yaw);
    add_robot(&out, pons_get(j->robot_world, "robot"));
    add_part(&out, j->robot_world, "battery");
    add_part(&out, j->robot_world, "lidar");
    add_part(&out, j->robot_world, "odometry");
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

static int write_all(const job *j, pons_error *err)
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
        unlink(j->map);
        unlink(j->image);
    }
    return rc;
}

static void tell(const cli *c, const job *j)
{
    const pons_map_info *i = pons_map_about(j->m);
    if (c->json) {
        pons_autovalue row =
            pons_object("type", json_string("imported"), "world", json_string(j->name), "file",
                        json_string(j->world), "start",
                        json_pack("[f,f,f]", j->start.x, j->start.y, j->start.yaw), "occupied",
                        json_integer(i->occupied), "free", json_integer(i->free), "unknown",
                        json_integer(i->unknown), NULL);
        cli_print_json(row);
        return;
    }
    cli_out(
        "%s: %d × %d cells of %g m, %lld occupied, %lld unknown; the robot starts at %.2f %.2f\n"
        "`pons run --world %s` drives in it, `pons map zones %s add …` gives places names; no "
        "charger is known: docs/worlds.md says how the file names one\n",
        j->world, i->w, i->h, i->resolution_m, (long long)i->occupied, (long long)i->unknown,
        j->start.x, j->start.y, j->name, j->name);
}

int map_import_file(cli *c, const map_import *what, pons_error *err)
{
    job *j = calloc(1, sizeof *j);
    if (!j) {
        return pons_error_set(err, PONS_ENOMEM, "map", "no memory");
    }
    j->what = what;
    int rc = name_it(j, err);
    rc = rc < 0 ? rc : pons_map_load(what->file, &j->m, err);
    rc = rc < 0 ? rc : app_world(what->robot ? what->robot : "house", &j->robot_world, err);
    rc = rc < 0 ? rc : find_start(j, err);
    rc = rc < 0 ? rc : app_workspace(&c->app, true, err);
    rc = rc < 0 ? rc : place_it(c, j, err);
    rc = rc < 0 ? rc : write_all(j, err);
    if (rc == PONS_OK) {
        tell(c, j);
    }
    pons_map_destroy(j->m);
    pons_value_unref(j->robot_world);
    free(j);
    return rc;
}
