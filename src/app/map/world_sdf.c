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

#define LIDAR_Z_M   0.18
#define BODY_M      0.12 // high: below the lidar, above the clearance
#define CLEARANCE_M 0.03
#define WALL_M      1.0 // high, where the world does not say
#define FURNITURE_M 0.75
#define MASS_KG     12.0
#define WHEEL_KG    0.5
#define VOLTAGE     12.0
#define CAPACITY_AH 1.2
#define ITERATION_S "0.001"
#define ODOM_HZ     100

static pons_pose2 pose_of(const pons_value *v)
{
    return (pons_pose2){pons_get_num(v, "x", 0), pons_get_num(v, "y", 0),
                        pons_get_num(v, "yaw", 0)};
}

static void write_systems(pons_buf *b)
{
    static const char *const systems[][2] = {{"physics", "Physics"},
                                             {"user-commands", "UserCommands"},
                                             {"scene-broadcaster", "SceneBroadcaster"},
                                             {"contact", "Contact"}};
    pons_buf_printf(
        b, "    <physics name=\"1ms\" type=\"ignored\">\n      <max_step_size>" ITERATION_S
           "</max_step_size>\n      <real_time_factor>1.0</real_time_factor>\n    </physics>\n");
    for (size_t i = 0; i < sizeof systems / sizeof systems[0]; i++) {
        pons_buf_printf(b,
                        "    <plugin filename=\"ignition-gazebo-%s-system\" "
                        "name=\"ignition::gazebo::systems::%s\"/>\n",
                        systems[i][0], systems[i][1]);
    }
    pons_buf_printf(
        b, "    <plugin filename=\"ignition-gazebo-sensors-system\" "
           "name=\"ignition::gazebo::systems::Sensors\">\n"
           "      <render_engine>ogre2</render_engine>\n    </plugin>\n"
           "    <light type=\"directional\" name=\"sun\">\n      <pose>0 0 10 0 0 0</pose>\n"
           "      <diffuse>0.8 0.8 0.8 1</diffuse>\n      <direction>-0.5 0.1 -0.9</direction>\n"
           "    </light>\n"
           "    <model name=\"ground\">\n      <static>true</static>\n      <link name=\"link\">\n"
           "        <collision name=\"collision\"><geometry><plane><normal>0 0 1</normal></plane>"
           "</geometry></collision>\n"
           "        <visual name=\"visual\"><geometry><plane><normal>0 0 1</normal>"
           "<size>100 100</size></plane></geometry></visual>\n"
           "      </link>\n    </model>\n");
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

static void write_inertia(pons_buf *b, double mass, double xx, double yy, double zz)
{
    pons_buf_printf(
        b,
        "        <inertial><mass>%.4f</mass><inertia><ixx>%.6f</ixx><iyy>%.6f</iyy><izz>%.6f</izz>"
        "</inertia></inertial>\n",
        mass, xx, yy, zz);
}

static void write_wheel(pons_buf *b, const char *side, double y, double radius)
{
    const double round = 0.5 * WHEEL_KG * radius * radius, across = 0.5 * round;
    pons_buf_printf(
        b, "      <link name=\"%s_wheel\">\n        <pose>0 %.4f %.4f -1.570796 0 0</pose>\n", side,
        y, radius);
    write_inertia(b, WHEEL_KG, across, across, round);
    for (int i = 0; i < 2; i++) {
        const char *what = i ? "visual" : "collision";
        pons_buf_printf(
            b,
            "        <%s name=\"%s\"><geometry><cylinder><radius>%.4f</radius><length>0.04</length>"
            "</cylinder></geometry></%s>\n",
            what, what, radius, what);
    }
    pons_buf_printf(
        b,
        "      </link>\n      <joint name=\"%s_joint\" type=\"revolute\"><parent>base_link</parent>"
        "<child>%s_wheel</child><axis><xyz>0 0 1</xyz></axis></joint>\n",
        side, side);
}

static void write_caster(pons_buf *b, const char *end, double x, double radius)
{
    pons_buf_printf(b, "      <link name=\"%s_caster\">\n        <pose>%.4f 0 %.4f 0 0 0</pose>\n",
                    end, x, radius);
    write_inertia(b, 0.2, 0.0001, 0.0001, 0.0001);
    pons_buf_printf(
        b,
        "        <collision name=\"collision\"><geometry><sphere><radius>%.4f</radius></sphere>"
        "</geometry><surface><friction><ode><mu>0</mu><mu2>0</mu2></ode></friction></surface>"
        "</collision>\n      </link>\n"
        "      <joint name=\"%s_caster_joint\" type=\"ball\"><parent>base_link</parent>"
        "<child>%s_caster</child></joint>\n",
        radius, end, end);
}

static void write_sensors(pons_buf *b, const pons_value *lidar)
{
    const int64_t n = pons_get_int(lidar, "beams", 120);
    const pons_pose2 at = pose_of(pons_get(lidar, "pose"));
    const double from = pons_get_num(lidar, "angle_min", -M_PI),
                 to = pons_get_num(lidar, "angle_max", M_PI);
    pons_buf_printf(
        b,
        "        <sensor name=\"lidar\" type=\"gpu_lidar\">\n          <pose>%g %g %.3f 0 0 "
        "%g</pose>\n"
        "          <topic>/model/robot/scan</topic>\n          <update_rate>%g</update_rate>\n"
        "          <lidar><scan><horizontal><samples>%lld</samples><resolution>1</resolution>"
        "<min_angle>%.6f</min_angle><max_angle>%.6f</max_angle></horizontal></scan>"
        "<range><min>%g</min><max>%g</max></range>"
        "<noise><type>gaussian</type><mean>0</mean><stddev>%g</stddev></noise></lidar>\n"
        "          <always_on>true</always_on>\n        </sensor>\n",
        at.x, at.y, LIDAR_Z_M, at.yaw, pons_get_num(lidar, "hz", 10), (long long)n, from,
        to - (to - from) / (double)n, pons_get_num(lidar, "range_min", 0.05),
        pons_get_num(lidar, "range_max", 10), pons_get_num(lidar, "noise_m", 0));
    pons_buf_printf(b, "        <sensor name=\"bumper\" type=\"contact\">\n"
                       "          <contact><collision>collision</collision>"
                       "<topic>/model/robot/contacts</topic></contact>\n"
                       "          <always_on>true</always_on>\n        </sensor>\n");
}

static void write_plugins(pons_buf *b, const pons_value *robot, const pons_value *battery)
{
    const double ws = CAPACITY_AH * VOLTAGE * 3600.0; // in a full battery
    const double charge = pons_get_num(battery, "charge_pct_per_s", 1.0);
    pons_buf_printf(
        b,
        "      <plugin filename=\"ignition-gazebo-diff-drive-system\" "
        "name=\"ignition::gazebo::systems::DiffDrive\">\n"
        "        <left_joint>left_joint</left_joint><right_joint>right_joint</right_joint>\n"
        "        <wheel_separation>%.4f</wheel_separation><wheel_radius>%.4f</wheel_radius>\n"
        "        <odom_publish_frequency>%d</odom_publish_frequency>\n",
        pons_get_num(robot, "track_m", 0.3), pons_get_num(robot, "wheel_radius_m", 0.1), ODOM_HZ);
    const struct {
        const char *what;
        double value;
    } limits[] = {{"max_linear_velocity", pons_get_num(robot, "speed_max_mps", 0)},
                  {"min_linear_velocity", -pons_get_num(robot, "reverse_max_mps", 0)},
                  {"max_angular_velocity", pons_get_num(robot, "yaw_rate_max_radps", 0)},
                  {"min_angular_velocity", -pons_get_num(robot, "yaw_rate_max_radps", 0)},
                  {"max_linear_acceleration", pons_get_num(robot, "accel_max_mps2", 0)},
                  {"min_linear_acceleration", -pons_get_num(robot, "brake_max_mps2", 0)},
                  {"max_angular_acceleration", pons_get_num(robot, "yaw_accel_max_radps2", 0)},
                  {"min_angular_acceleration", -pons_get_num(robot, "yaw_accel_max_radps2", 0)}};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        pons_buf_printf(b, "        <%s>%g</%s>\n", limits[i].what, limits[i].value,
                        limits[i].what);
    }
    pons_buf_printf(
        b,
        "        <frame_id>odom</frame_id><child_frame_id>base_link</child_frame_id>\n"
        "      </plugin>\n"
        "      <plugin filename=\"ignition-gazebo-linearbatteryplugin-system\" "
        "name=\"ignition::gazebo::systems::LinearBatteryPlugin\">\n"
        "        <battery_name>battery</battery_name><voltage>%g</voltage>\n"
        "        <open_circuit_voltage_constant_coef>%g</open_circuit_voltage_constant_coef>"
        "<open_circuit_voltage_linear_coef>0</open_circuit_voltage_linear_coef>\n"
        "        <initial_charge>%g</initial_charge><capacity>%g</capacity>"
        "<resistance>0.05</resistance><smooth_current_tau>1.0</smooth_current_tau>\n"
        "        <power_load>%.4f</power_load><fix_issue_225>true</fix_issue_225>\n"
        "        <enable_recharge>true</enable_recharge><charging_time>%.6f</charging_time>\n"
        "      </plugin>\n",
        VOLTAGE, VOLTAGE, CAPACITY_AH * pons_get_num(battery, "initial_pct", 100) / 100.0,
        CAPACITY_AH,
        ws / 100.0 *
            (pons_get_num(battery, "idle_pct_per_s", 0) +
             0.3 * pons_get_num(battery, "motion_pct_per_m", 0)), // it drains only while it drives
        100.0 / fmax(charge, 1e-6) / 3600.0);
}

static void write_robot(pons_buf *b, const pons_value *world)
{
    const pons_value *robot = pons_get(world, "robot");
    const pons_pose2 at = pose_of(pons_get(world, "start"));
    const double radius = pons_get_num(robot, "radius_m", 0.2),
                 wheel = pons_get_num(robot, "wheel_radius_m", 0.08),
                 track = pons_get_num(robot, "track_m", 0.34), middle = CLEARANCE_M + 0.5 * BODY_M;
    const double across = MASS_KG * (3 * radius * radius + BODY_M * BODY_M) / 12.0;
    pons_buf_printf(b,
                    "    <model name=\"robot\">\n      <pose>%.4f %.4f 0 0 0 %.6f</pose>\n"
                    "      <link name=\"base_link\">\n",
                    at.x, at.y, at.yaw);
    pons_buf_printf(
        b,
        "        <inertial><pose>0 0 %.4f 0 0 0</pose><mass>%g</mass><inertia><ixx>%.6f</ixx>"
        "<iyy>%.6f</iyy><izz>%.6f</izz></inertia></inertial>\n",
        middle, MASS_KG, across, across, 0.5 * MASS_KG * radius * radius);
    for (int i = 0; i < 2; i++) {
        const char *what = i ? "visual" : "collision";
        pons_buf_printf(b,
                        "        <%s name=\"%s\"><pose>0 0 %.4f 0 0 0</pose><geometry><cylinder>"
                        "<radius>%.4f</radius><length>%.4f</length></cylinder></geometry></%s>\n",
                        what, what, middle, radius, BODY_M, what);
    }
    write_sensors(b, pons_get(world, "lidar"));
    pons_buf_printf(b, "      </link>\n");
    write_wheel(b, "left", 0.5 * track, wheel);
    write_wheel(b, "right", -0.5 * track, wheel);
    write_caster(b, "front", 0.7 * radius, 0.5 * CLEARANCE_M);
    write_caster(b, "back", -0.7 * radius, 0.5 * CLEARANCE_M);
    write_plugins(b, robot, pons_get(world, "battery"));
    pons_buf_printf(b, "    </model>\n");
}

// A name in SDF: ids have nothing in them that XML would mind (schemas/world.json).
int app_world_sdf(const pons_value *world, pons_buf *b, pons_error *err)
{
    const char *name = pons_get_str(world, "name", "");
    if (pons_get(pons_get(world, "robot"), "arm")) {
        return pons_error_set(err, PONS_EINVAL, "map", "the robot of %s has no wheels", name);
    }
    pons_buf_printf(b,
                    "<?xml version=\"1.0\"?>\n<!-- Made by `pons map sdf %s`. -->\n"
                    "<sdf version=\"1.8\">\n  <world name=\"%s\">\n",
                    name, name);
    write_systems(b);
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
    write_robot(b, world);
    pons_buf_str(b, "  </world>\n</sdf>\n");
    return b->failed ? pons_error_set(err, PONS_ENOMEM, "map", "no memory for a world") : PONS_OK;
}
