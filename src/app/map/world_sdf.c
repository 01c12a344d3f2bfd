// world_sdf.c - a world as SDF, for Gazebo (docs/reference/gazebo.md).
//
// Boxes stand as static models of their ids; zones, their targets and the charger lie on the floor and can be
// looked at, and nothing touches them. The robot is a model `robot` with DiffDrive, a lidar, a contact
// sensor and a LinearBattery, on the topics that config/gazebo.yaml has. The same world gives the same
// bytes: worlds/house.sdf is what this writes of worlds/house.yaml.
#include "app/map/world_files.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define BODY_M      0.12 // high: below the lidar, above the clearance
#define WALL_M      1.0  // high, where the world does not say
#define FURNITURE_M 0.75
#define MASS_KG     12.0
#define WHEEL_KG    0.5
#define VOLTAGE     12.0
#define CAPACITY_AH 1.2

static pons_pose2 pose_of(const pons_value *v)
{
    return (pons_pose2){pons_get_num(v, "x", 0), pons_get_num(v, "y", 0),
                        pons_get_num(v, "yaw", 0)};
}

static bool is_wall_of_a_map(const pons_value *box)
{
    return strcmp(pons_get_str(box, "id", ""), "map") == 0;
}

// A box's id, unless a model of ours is called so: a world with a name twice is none to Gazebo.
static void box_name(const char *id, char *ret, size_t cap)
{
    static const char *const ours[] = {"robot", "ground", "sun", "charger_pad", "walls"};
    bool taken = strncmp(id, "zone_", 5) == 0 || strncmp(id, "target_", 7) == 0 ||
                 strncmp(id, "box_", 4) == 0;
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++) {
        taken = taken || strcmp(id, ours[i]) == 0;
    }
    snprintf(ret, cap, "%s%s", taken ? "box_" : "", id);
}

static void write_box(pons_buf *b, const pons_value *box)
{
    char name[128];
    box_name(pons_get_str(box, "id", ""), name, sizeof name);
    const pons_pose2 at = pose_of(box);
    const bool wall = strcmp(pons_get_str(box, "kind", "wall"), "wall") == 0;
    const double sx = pons_get_num(box, "sx", 0), sy = pons_get_num(box, "sy", 0),
                 high = pons_get_num(box, "height_m", wall ? WALL_M : FURNITURE_M);
    pons_buf_printf(b,
                    "    <model name=\"%s\">\n      <static>true</static>\n"
                    "      <pose>%.4f %.4f %.4f 0 0 %.6f</pose>\n      <link name=\"link\">\n",
                    name, at.x, at.y, 0.5 * high, at.yaw);
    for (int i = 0; i < 2; i++) {
        const char *what = i ? "visual" : "collision";
        pons_buf_printf(
            b,
            "        <%s name=\"%s\"><geometry><box><size>%.4f %.4f %.4f</size></box></geometry>"
            "</%s>\n",
            what, what, sx, sy, high, what);
    }
    pons_buf_printf(b, "      </link>\n    </model>\n");
}

// What a robot's map has: many boxes without names of their own, in one model.
static void write_walls(pons_buf *b, const pons_value *boxes)
{
    bool any = false;
    pons_each(box, boxes) {
        const pons_pose2 at = pose_of(box);
        const double high = pons_get_num(box, "height_m", WALL_M);
        if (!is_wall_of_a_map(box)) {
            continue;
        }
        if (!any) {
            pons_buf_printf(b, "    <model name=\"walls\">\n      <static>true</static>\n"
                               "      <link name=\"link\">\n");
        }
        any = true;
        for (int k = 0; k < 2; k++) {
            const char *what = k ? "visual" : "collision";
            pons_buf_printf(
                b,
                "        <%s name=\"%s_%zu\"><pose>%.4f %.4f %.4f 0 0 %.6f</pose><geometry><box>"
                "<size>%.4f %.4f %.4f</size></box></geometry></%s>\n",
                what, what, box_at, at.x, at.y, 0.5 * high, at.yaw, pons_get_num(box, "sx", 0),
                pons_get_num(box, "sy", 0), high, what);
        }
    }
    if (any) {
        pons_buf_printf(b, "      </link>\n    </model>\n");
    }
}

static void write_mark(pons_buf *b, const char *name, const char *geometry, pons_pose2 at,
                       const char *colour)
{
    pons_buf_printf(b,
                    "    <model name=\"%s\">\n      <static>true</static>\n"
                    "      <pose>%.4f %.4f 0.002 0 0 %.6f</pose>\n      <link name=\"link\">\n"
                    "        <visual name=\"visual\"><geometry>%s</geometry>"
                    "<material><diffuse>%s</diffuse></material></visual>\n"
                    "      </link>\n    </model>\n",
                    name, at.x, at.y, at.yaw, geometry, colour);
}

static void write_zone(pons_buf *b, const pons_value *zone)
{
    char name[128];
    const char *id = pons_get_str(zone, "id", "");
    pons_buf_printf(
        b,
        "    <model name=\"zone_%s\">\n      <static>true</static>\n      <link name=\"link\">\n"
        "        <visual name=\"visual\"><geometry><polyline>",
        id);
    pons_each(corner, pons_get(zone, "polygon")) {
        pons_buf_printf(b, "<point>%.4f %.4f</point>", json_number_value(json_array_get(corner, 0)),
                        json_number_value(json_array_get(corner, 1)));
    }
    pons_buf_printf(b,
                    "<height>0.001</height></polyline></geometry><transparency>0.7</transparency>"
                    "</visual>\n      </link>\n    </model>\n");
    snprintf(name, sizeof name, "target_%s", id);
    write_mark(b, name, "<box><size>0.2 0.05 0.004</size></box>", pose_of(pons_get(zone, "target")),
               "0.1 0.3 0.8 1");
}

typedef struct value { // of a text, where it stands as @NAME@
    const char *name;
    double is;
    int digits; // behind the point; -1: as many as it needs
} value;

static void fill(pons_buf *b, const char *text, const value *values, size_t n)
{
    for (size_t i = 0; *text; i = 0) {
        const size_t before = strcspn(text, "@");
        pons_buf_bytes(b, text, before);
        text += before;
        const size_t name = *text ? strcspn(text + 1, "@") : 0;
        while (name && i < n &&
               (strlen(values[i].name) != name || strncmp(values[i].name, text + 1, name) != 0)) {
            i++;
        }
        if (name && i < n && values[i].digits < 0) {
            pons_buf_printf(b, "%g", values[i].is);
        } else if (name && i < n) {
            pons_buf_printf(b, "%.*f", values[i].digits, values[i].is);
        }
        text += name ? name + 2 : 0;
    }
    pons_buf_str(b, "\n");
}

static void write_links(pons_buf *b, const pons_value *world)
{
    static const char links[] = {
#include "app/map/world_robot.sdf.h"
    };
    const pons_value *robot = pons_get(world, "robot"), *lidar = pons_get(world, "lidar");
    const pons_pose2 at = pose_of(pons_get(world, "start")),
                     seen = pose_of(pons_get(lidar, "pose"));
    const double radius = pons_get_num(robot, "radius_m", 0.2),
                 wheel = pons_get_num(robot, "wheel_radius_m", 0.08),
                 wheel_round = 0.5 * WHEEL_KG * wheel * wheel,
                 track = pons_get_num(robot, "track_m", 0.34),
                 beams = (double)pons_get_int(lidar, "beams", 120),
                 from = pons_get_num(lidar, "angle_min", -M_PI),
                 to = pons_get_num(lidar, "angle_max", M_PI);
    const value values[] = {
        {"X", at.x, 4},
        {"Y", at.y, 4},
        {"YAW", at.yaw, 6},
        {"RADIUS", radius, 4},
        {"INERTIA_ACROSS", MASS_KG * (3 * radius * radius + BODY_M * BODY_M) / 12.0, 6},
        {"INERTIA_ROUND", 0.5 * MASS_KG * radius * radius, 6},
        {"LIDAR_X", seen.x, -1},
        {"LIDAR_Y", seen.y, -1},
        {"LIDAR_YAW", seen.yaw, -1},
        {"LIDAR_HZ", pons_get_num(lidar, "hz", 10), -1},
        {"BEAMS", beams, 0},
        {"ANGLE_MIN", from, 6},
        {"ANGLE_MAX", to - (to - from) / beams, 6},
        {"RANGE_MIN", pons_get_num(lidar, "range_min", 0.05), -1},
        {"RANGE_MAX", pons_get_num(lidar, "range_max", 10), -1},
        {"NOISE", pons_get_num(lidar, "noise_m", 0), -1},
        {"WHEEL", wheel, 4},
        {"WHEEL_ACROSS", 0.5 * wheel_round, 6},
        {"WHEEL_ROUND", wheel_round, 6},
        {"LEFT_Y", 0.5 * track, 4},
        {"RIGHT_Y", -0.5 * track, 4},
        {"FRONT_X", 0.7 * radius, 4},
        {"BACK_X", -0.7 * radius, 4},
    };
    fill(b, links, values, sizeof values / sizeof values[0]);
}

static void write_drive(pons_buf *b, const pons_value *robot, const pons_value *battery)
{
    static const char plugins[] = {
#include "app/map/world_drive.sdf.h"
    };
    const double ws = CAPACITY_AH * VOLTAGE * 3600.0, // in a full battery
        turns = pons_get_num(robot, "yaw_rate_max_radps", 0),
                 turns_faster = pons_get_num(robot, "yaw_accel_max_radps2", 0),
                 charge = pons_get_num(battery, "charge_pct_per_s", 1.0),
                 drain = pons_get_num(battery, "idle_pct_per_s", 0) +
                         0.3 * pons_get_num(battery, "motion_pct_per_m",
                                            0); // it drains only while it drives
    const value values[] = {
        {"DRIVE_TRACK", pons_get_num(robot, "track_m", 0.3), 4},
        {"DRIVE_WHEEL", pons_get_num(robot, "wheel_radius_m", 0.1), 4},
        {"SPEED_MAX", pons_get_num(robot, "speed_max_mps", 0), -1},
        {"SPEED_MIN", -pons_get_num(robot, "reverse_max_mps", 0), -1},
        {"YAW_RATE_MAX", turns, -1},
        {"YAW_RATE_MIN", -turns, -1},
        {"ACCEL_MAX", pons_get_num(robot, "accel_max_mps2", 0), -1},
        {"ACCEL_MIN", -pons_get_num(robot, "brake_max_mps2", 0), -1},
        {"YAW_ACCEL_MAX", turns_faster, -1},
        {"YAW_ACCEL_MIN", -turns_faster, -1},
        {"CHARGE_AH", CAPACITY_AH * pons_get_num(battery, "initial_pct", 100) / 100.0, -1},
        {"POWER_W", ws / 100.0 * drain, 4},
        {"CHARGING_H", 100.0 / fmax(charge, 1e-6) / 3600.0, 6},
    };
    fill(b, plugins, values, sizeof values / sizeof values[0]);
}

// A name in SDF: ids have nothing in them that XML would mind (schemas/world.json).
int app_world_sdf(const pons_value *world, pons_buf *b, pons_error *err)
{
    static const char systems[] = {
#include "app/map/world_systems.sdf.h"
    };
    const char *name = pons_get_str(world, "name", "");
    if (pons_get(pons_get(world, "robot"), "arm")) {
        return pons_error_set(err, PONS_EINVAL, "map", "the robot of %s has no wheels", name);
    }
    pons_buf_printf(b,
                    "<?xml version=\"1.0\"?>\n<!-- Made by `pons map sdf %s`. -->\n"
                    "<sdf version=\"1.8\">\n  <world name=\"%s\">\n",
                    name, name);
    pons_buf_printf(b, "%s\n", systems);
    const pons_value *boxes = pons_get(pons_get(world, "map"), "boxes");
    pons_each(v, boxes) {
        if (!is_wall_of_a_map(v)) {
            write_box(b, v);
        }
    }
    write_walls(b, boxes);
    pons_each(v, pons_get(world, "zones")) {
        write_zone(b, v);
    }
    const pons_value *charger = pons_get(world, "charger");
    if (charger) {
        write_mark(b, "charger_pad", "<box><size>0.3 0.3 0.004</size></box>",
                   pose_of(pons_get(charger, "pose")), "0.1 0.7 0.2 1");
    }
    write_links(b, world);
    write_drive(b, pons_get(world, "robot"), pons_get(world, "battery"));
    pons_buf_str(b, "  </world>\n</sdf>\n");
    return b->failed ? pons_error_set(err, PONS_ENOMEM, "map", "no memory for a world") : PONS_OK;
}
