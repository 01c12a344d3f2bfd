// nav2_files.c - a world as Nav2 loads it (docs/reference/maps.md).
//
//     map.yaml, map.pgm            what stands there, and what nobody has seen: map_server's, trinary
//     keepout.yaml, keepout.pgm    where nobody goes: KeepoutFilter's mask; only of a world that has such areas
//     speed.yaml, speed.pgm        100 less the percent of the robot's speed: SpeedFilter's mask; the same
//     nav2_params.yaml             the robot, the map, the masks, and a last stage that publishes cmd_vel_nav2
//
// The cells are those in which the body itself plans (pons/map_preview.h), so both robots see the same walls. Masks are raw:
// a pixel is the cell's value. Nothing that is there already is written over.
#include "app/map/world_files.h"
#include "pons/map_preview.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { OCCUPIED = 0, UNKNOWN = 205, FREE = 254, CELLS_EDGE_MAX = 20000 };

typedef enum layer { MAP, KEEP_OUT, SPEED } layer;

typedef struct sheet {
    const pons_value *world;
    const pons_ground *ground;
    const char *dir;
    double x0, y0, step, speed_max;
    int w, h;
    bool keep_out, slow; // there are such cells
} sheet;

static uint8_t pixel(const sheet *s, layer what, int column, int row)
{
    const double x = s->x0 + s->step * (column + 0.5), y = s->y0 + s->step * (row + 0.5);
    const pons_ground_kind k = pons_ground_at(s->ground, x, y);
    switch (what) {
    case KEEP_OUT:
        return k == PONS_GROUND_KEEP_OUT ? 100 : 0;
    case SPEED: {
        const double most = pons_ground_speed(s->ground, x, y);
        const double percent = 100.0 * most / s->speed_max;
        // 0 is no limit to Nav2, and a limit is never rounded up.
        return percent < 100.0 ? (uint8_t)fmin(99.0, ceil(100.0 - percent)) : 0;
    }
    case MAP:
        break;
    }
    return k == PONS_GROUND_WALL ? OCCUPIED : k == PONS_GROUND_UNKNOWN ? UNKNOWN : FREE;
}

// A double as ROS's parameters know one: never without its point.
static const char *real(double v, char ret[32])
{
    snprintf(ret, 32, "%.9g", v);
    if (!strpbrk(ret, ".en")) {
        strncat(ret, ".0", 3);
    }
    return ret;
}
#define REAL(v) real(v, (char[32]){""})

static FILE *begin(const sheet *s, const char *name, pons_error *err)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s", s->dir, name) >= (int)sizeof path) {
        app_bad(err, "the path %s is too long", s->dir);
        return NULL;
    }
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!f) {
        if (errno == EEXIST) {
            app_bad(err, "%s is there already", path);
        } else {
            app_lacks(err, "cannot write %s: %s", path, strerror(errno));
        }
    }
    return f;
}

static int end(const sheet *s, FILE *f, const char *name, pons_error *err)
{
    const bool good = !ferror(f);
    return fclose(f) == 0 && good ? PONS_OK : app_lacks(err, "cannot write %s/%s", s->dir, name);
}

static int write_picture(const sheet *s, layer what, const char *name, pons_error *err)
{
    char file[32];
    snprintf(file, sizeof file, "%s.pgm", name);
    FILE *f = begin(s, file, err);
    if (!f) {
        return err->status;
    }
    fprintf(f, "P5\n%d %d\n255\n", s->w, s->h);
    for (int row = s->h; row-- > 0;) {
        for (int column = 0; column < s->w; column++) {
            putc(pixel(s, what, column, row), f);
        }
    }
    int rc = end(s, f, file, err);
    snprintf(file, sizeof file, "%s.yaml", name);
    f = rc < 0 ? NULL : begin(s, file, err);
    if (!f) {
        return rc < 0 ? rc : err->status;
    }
    fprintf(f,
            "image: %s.pgm\nmode: %s\nresolution: %s\norigin: [%s, %s, 0.0]\nnegate: 0\n"
            "occupied_thresh: 0.65\nfree_thresh: 0.196\n",
            name, what == MAP ? "trinary" : "raw", REAL(s->step), REAL(s->x0), REAL(s->y0));
    return end(s, f, file, err);
}

// The servers have the names by which Nav2's bringup knows them since Kilted.
static void write_filter(const sheet *s, FILE *f, const char *name, int type)
{
    char whole[PATH_MAX]; // a server's working folder is not ours
    if (!realpath(s->dir, whole)) {
        snprintf(whole, sizeof whole, "%s", s->dir);
    }
    fprintf(f,
            "\n%s_filter_mask_server:\n  ros__parameters:\n    yaml_filename: %s/%s.yaml\n"
            "    topic_name: /%s_mask\n    frame_id: map\n"
            "\n%s_costmap_filter_info_server:\n  ros__parameters:\n    type: %d\n    "
            "filter_info_topic: /%s_info\n"
            "    mask_topic: /%s_mask\n    base: %s\n    multiplier: %s\n",
            name, whole, name, name, name, type, name, name, type ? "100.0" : "0.0",
            type ? "-1.0" : "1.0");
}

// What of the floor it covers, as a costmap is told.
static void write_shape(const pons_value *robot, FILE *f)
{
    const pons_value *corners = pons_get(robot, "footprint");
    if (!corners) {
        fprintf(f, "      robot_radius: %s\n", REAL(pons_get_num(robot, "radius_m", 0.2)));
        return;
    }
    fprintf(f, "      footprint: \"[");
    pons_each(corner, corners) {
        fprintf(f, "%s[%s, %s]", corner_at ? ", " : "",
                REAL(json_number_value(json_array_get(corner, 0))),
                REAL(json_number_value(json_array_get(corner, 1))));
    }
    fprintf(f, "]\"\n");
}

static void write_costmap(const sheet *s, FILE *f, bool local)
{
    const pons_value *robot = pons_get(s->world, "robot");
    const double radius = pons_get_num(robot, "radius_m", 0.2);
    const char *name = local ? "local_costmap" : "global_costmap";
    fprintf(f,
            "\n%s:\n  %s:\n    ros__parameters:\n      global_frame: %s\n"
            "      robot_base_frame: base_link\n      resolution: %s\n",
            name, name, local ? "odom" : "map", REAL(s->step));
    write_shape(robot, f);
    fprintf(f, local ? "      rolling_window: true\n      width: 3\n      height: 3\n"
                       "      plugins: [obstacle_layer, inflation_layer]\n"
                     : "      track_unknown_space: true\n"
                       "      plugins: [static_layer, obstacle_layer, inflation_layer]\n");
    if (s->keep_out || (s->slow && !local)) {
        fprintf(f, "      filters: [%s%s%s]\n", s->keep_out ? "keepout_filter" : "",
                s->keep_out && s->slow && !local ? ", " : "",
                s->slow && !local ? "speed_filter" : "");
    }
    if (s->keep_out) {
        fprintf(f, "      keepout_filter:\n        plugin: \"nav2_costmap_2d::KeepoutFilter\"\n"
                   "        enabled: true\n        filter_info_topic: /keepout_info\n");
    }
    if (s->slow && !local) {
        fprintf(f, "      speed_filter:\n        plugin: \"nav2_costmap_2d::SpeedFilter\"\n"
                   "        enabled: true\n        filter_info_topic: /speed_info\n"
                   "        speed_limit_topic: /speed_limit\n");
    }
    if (!local) {
        fprintf(f, "      static_layer:\n        plugin: \"nav2_costmap_2d::StaticLayer\"\n"
                   "        map_subscribe_transient_local: true\n");
    }
    fprintf(f,
            "      obstacle_layer:\n        plugin: \"nav2_costmap_2d::ObstacleLayer\"\n"
            "        observation_sources: scan\n        scan:\n          topic: scan\n"
            "          data_type: LaserScan\n          marking: true\n          clearing: true\n"
            "      inflation_layer:\n        plugin: \"nav2_costmap_2d::InflationLayer\"\n"
            "        cost_scaling_factor: 3.0\n        inflation_radius: %s\n",
            REAL(radius + 0.35));
}

static int write_params(const sheet *s, pons_error *err)
{
    const pons_value *robot = pons_get(s->world, "robot"), *start = pons_get(s->world, "start");
    FILE *f = begin(s, "nav2_params.yaml", err);
    if (!f) {
        return err->status;
    }
    fprintf(f,
            "# Made by `pons map nav2`: what of Nav2's parameters follows from the world %s. Merge "
            "it over\n"
            "# those of the robot; the masks' servers belong to a lifecycle manager's node_names.\n"
            "map_server:\n  ros__parameters:\n    yaml_filename: \"\" # the launch file's map\n"
            "\namcl:\n  ros__parameters:\n    global_frame_id: map\n    odom_frame_id: odom\n"
            "    base_frame_id: base_link\n    set_initial_pose: true\n"
            "    initial_pose: {x: %s, y: %s, z: 0.0, yaw: %s}\n",
            pons_get_str(s->world, "name", ""), REAL(pons_get_num(start, "x", 0)),
            REAL(pons_get_num(start, "y", 0)), REAL(pons_get_num(start, "yaw", 0)));
    const double v = s->speed_max, w = pons_get_num(robot, "yaw_rate_max_radps", 1.0),
                 a = pons_get_num(robot, "accel_max_mps2", 1.0),
                 aw = pons_get_num(robot, "yaw_accel_max_radps2", 2.0),
                 back = pons_get_num(robot, "reverse_max_mps", v);
    fprintf(f,
            "\nvelocity_smoother:\n  ros__parameters:\n    max_velocity: [%s, 0.0, %s]\n"
            "    min_velocity: [%s, 0.0, %s]\n    max_accel: [%s, 0.0, %s]\n"
            "    max_decel: [%s, 0.0, %s]\n"
            "\ncollision_monitor:\n  ros__parameters:\n    cmd_vel_out_topic: cmd_vel_nav2\n",
            REAL(v), REAL(w), REAL(-back), REAL(-w), REAL(a), REAL(aw),
            REAL(-pons_get_num(robot, "brake_max_mps2", a)), REAL(-aw));
    write_costmap(s, f, true);
    write_costmap(s, f, false);
    if (s->keep_out) {
        write_filter(s, f, "keepout", 0);
    }
    if (s->slow) {
        write_filter(s, f, "speed", 1);
    }
    return end(s, f, "nav2_params.yaml", err);
}

static void look(sheet *s)
{
    for (int row = 0; row < s->h; row++) {
        for (int column = 0; column < s->w; column++) {
            s->keep_out = s->keep_out || pixel(s, KEEP_OUT, column, row);
            s->slow = s->slow || pixel(s, SPEED, column, row);
        }
    }
}

static int write_all(sheet *s, pons_error *err)
{
    double b[4];
    for (size_t i = 0; i < 4; i++) {
        b[i] = json_number_value(json_array_get(pons_get(s->world, "bounds"), i));
    }
    s->x0 = b[0];
    s->y0 = b[1];
    s->step = pons_ground_resolution(s->ground);
    s->speed_max = pons_get_num(pons_get(s->world, "robot"), "speed_max_mps", 1.0);
    s->w = (int)ceil((b[2] - b[0]) / s->step - 1e-6);
    s->h = (int)ceil((b[3] - b[1]) / s->step - 1e-6);
    if (s->w < 1 || s->h < 1 || s->w > CELLS_EDGE_MAX || s->h > CELLS_EDGE_MAX) {
        return app_bad(err, "map: the world has no size that a map could have");
    }
    look(s);
    int rc = write_picture(s, MAP, "map", err);
    rc = rc < 0 || !s->keep_out ? rc : write_picture(s, KEEP_OUT, "keepout", err);
    rc = rc < 0 || !s->slow ? rc : write_picture(s, SPEED, "speed", err);
    return rc < 0 ? rc : write_params(s, err);
}

int app_world_nav2(const pons_value *world, const char *dir, pons_error *err)
{
    pons_ground *ground = NULL;
    if (mkdir(dir, 0755) < 0 && errno != EEXIST) {
        return app_lacks(err, "cannot make %s: %s", dir, strerror(errno));
    }
    int rc = pons_ground_open(world, &ground, err);
    if (rc == PONS_OK) {
        sheet s = {.world = world, .ground = ground, .dir = dir};
        rc = write_all(&s, err);
    }
    pons_ground_close(ground);
    return rc;
}
