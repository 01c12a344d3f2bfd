// published_senses.c - what the body senses, as ROS has it: transforms, odometry, scans, battery, clock, pose, map.
//
//     map --(localisation)--> odom --(odometry)--> base_link --(static)--> laser
//
// base_link -> laser is where the scans' beams begin, told with the first scan and when that changes. map -> odom and the pose are told only while the robot knows where it is: a frame that ages tells
// others so, a wrong one does not.
#include "drivers/ros2_bridge/published_senses.h"

#include "drivers/ros2_bridge/bridge_common.h"
#include "pons/map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ANCHOR_NS    (50 * PONS_NS_PER_MS)  // the robot's clock may wander so far from the wall's
#define AMCL_NS      (200 * PONS_NS_PER_MS) // between poses
#define BATTERY_NS   PONS_NS_PER_S
#define CELLS_MAX    (64 * 1024 * 1024)
#define RESOLUTION_M 0.05 // of a map of boxes

typedef struct out {
    dds_entity_t *w;
    const ros2_stream *t;
    const dds_topic_descriptor_t *desc;
} out;

int bridge_shown_open(bridge *b, pons_error *err)
{
    const out all[] = {
        {&b->odom_w, &b->c.shown.odom, &nav_msgs_msg_dds__Odometry__desc},
        {&b->scan_w, &b->c.shown.scan, &sensor_msgs_msg_dds__LaserScan__desc},
        {&b->battery_w, &b->c.shown.battery, &sensor_msgs_msg_dds__BatteryState__desc},
        {&b->tf_w, &b->c.shown.tf, &tf2_msgs_msg_dds__TFMessage__desc},
        {&b->tf_static_w, &b->c.shown.tf_static, &tf2_msgs_msg_dds__TFMessage__desc},
        {&b->clock_w, &b->c.shown.clock, &rosgraph_msgs_msg_dds__Clock__desc},
        {&b->map_w, &b->c.shown.map, &nav_msgs_msg_dds__OccupancyGrid__desc},
        {&b->amcl_w, &b->c.shown.amcl_pose,
         &geometry_msgs_msg_dds__PoseWithCovarianceStamped__desc},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (*all[i].t->name) {
            *all[i].w = ros2_node_writer(&b->node, "rt", all[i].t->name, NULL, all[i].desc,
                                         all[i].t->qos, err);
            if (!*all[i].w) {
                return PONS_EENV;
            }
        }
    }
    return PONS_OK;
}

static geometry_msgs_msg_dds__Quaternion_ turned(double yaw)
{
    return (geometry_msgs_msg_dds__Quaternion_){0, 0, sin(0.5 * yaw), cos(0.5 * yaw)};
}

static geometry_msgs_msg_dds__TransformStamped_ frame(char *parent, char *child, pons_pose2 p,
                                                      builtin_interfaces_msg_dds__Time_ stamp)
{
    return (geometry_msgs_msg_dds__TransformStamped_){
        .header = {.stamp = stamp, .frame_id = parent},
        .child_frame_id = child,
        .transform = {{p.x, p.y, 0.0}, turned(p.yaw)}};
}

// ROS's time of a robot time. A robot's clock that lags behind the wall's is anchored anew.
static int64_t ros_ns(bridge *b, int64_t robot_ns)
{
    return bridge_sim_time(b) ? robot_ns : robot_ns + b->offset_ns;
}

static void anchor(bridge *b, int64_t robot_ns)
{
    const int64_t offset_ns = pons_wall_ms(&b->clock) * PONS_NS_PER_MS - robot_ns;
    if (!b->has_offset || llabs(offset_ns - b->offset_ns) > ANCHOR_NS) {
        b->offset_ns = offset_ns;
        b->has_offset = true;
    }
}

static void show_pose(bridge *b, builtin_interfaces_msg_dds__Time_ stamp)
{
    if (!b->placed || b->amcl_w <= 0 || b->host_ns < b->amcl_due_ns) {
        return;
    }
    b->amcl_due_ns = b->host_ns + AMCL_NS;
    const pons_pose2 at = pons_pose_compose(b->map_from_odom, b->odom_from_base);
    const double var = isfinite(b->std_m) ? b->std_m * b->std_m : 0.25;
    geometry_msgs_msg_dds__PoseWithCovarianceStamped_ m = {
        .header = {.stamp = stamp, .frame_id = b->c.map},
        .pose.pose = {{at.x, at.y, 0.0}, turned(at.yaw)}};
    m.pose.covariance[0] = m.pose.covariance[7] = var;
    m.pose.covariance[35] = fmin(var, 0.0685);
    dds_write(b->amcl_w, &m);
}

static void show_battery(bridge *b, const pons_report_senses *s,
                         builtin_interfaces_msg_dds__Time_ stamp)
{
    static const char *const words[] = {"unknown", "charging", "discharging", "not_charging",
                                        "full"};
    if (b->battery_w <= 0 || b->host_ns < b->battery_due_ns) {
        return;
    }
    b->battery_due_ns = b->host_ns + BATTERY_NS;
    uint8_t status = 0;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        status = strcmp(words[i], s->battery_state) == 0 ? (uint8_t)i : status;
    }
    const sensor_msgs_msg_dds__BatteryState_ m = {.header = {.stamp = stamp, .frame_id = b->c.base},
                                                  .voltage = NAN,
                                                  .temperature = NAN,
                                                  .current = NAN,
                                                  .charge = NAN,
                                                  .capacity = NAN,
                                                  .design_capacity = NAN,
                                                  .percentage = (float)(s->battery_pct / 100.0),
                                                  .power_supply_status = status,
                                                  .present = true,
                                                  .location = WORDS(""),
                                                  .serial_number = WORDS("")};
    dds_write(b->battery_w, &m);
}

// Where the laser is. False: it has the base's frame, which is not there.
static bool show_laser(bridge *b, const pons_value *scan)
{
    const pons_pose2 at = {pons_get_num(scan, "x", 0.0), pons_get_num(scan, "y", 0.0),
                           pons_get_num(scan, "yaw", 0.0)};
    const pons_pose2 was = b->base_from_laser;
    const bool reported = b->has_laser && at.x == was.x && at.y == was.y && at.yaw == was.yaw;
    const bool base = strcmp(b->c.base, b->c.shown.laser) == 0;
    const bool off = base && (at.x != 0.0 || at.y != 0.0 || at.yaw != 0.0);
    b->has_laser = true;
    b->base_from_laser = at;
    if (!reported && off) {
        bridge_say(
            b, BRIDGE_WARN,
            "frames.laser is the base's frame, and the lidar is not there: no scan is shown");
    } else if (!reported && !base && b->tf_static_w > 0) {
        geometry_msgs_msg_dds__TransformStamped_ t =
            frame(b->c.base, b->c.shown.laser, at, (builtin_interfaces_msg_dds__Time_){0});
        const tf2_msgs_msg_dds__TFMessage_ m = {.transforms = {1, 1, &t, false}};
        dds_write(b->tf_static_w, &m);
    }
    return !off;
}

static void show_scan(bridge *b, const pons_value *scan)
{
    if (!show_laser(b, scan)) {
        return;
    }
    float ranges[PONS_SCAN_MAX];
    const pons_value *list = pons_get(scan, "ranges");
    const size_t n = json_array_size(list) < PONS_SCAN_MAX ? json_array_size(list) : PONS_SCAN_MAX;
    for (size_t i = 0; i < n; i++) { // no return is infinite in ROS, and 0 on the link
        const double r = json_number_value(json_array_get(list, i));
        ranges[i] = r > 0.0 ? (float)r : INFINITY;
    }
    const double inc = pons_get_num(scan, "angle_increment", 0.0),
                 from = pons_get_num(scan, "angle_min", 0.0);
    const sensor_msgs_msg_dds__LaserScan_ m = {
        .header = {.stamp = bridge_stamp(ros_ns(b, pons_get_int(scan, "stamp_ns", 0))),
                   .frame_id = b->c.shown.laser},
        .angle_min = (float)from,
        .angle_max = (float)(from + inc * (double)(n > 0 ? n - 1 : 0)),
        .angle_increment = (float)inc,
        .range_min = (float)pons_get_num(scan, "range_min", 0.0),
        .range_max = (float)pons_get_num(scan, "range_max", 0.0),
        .ranges = {(uint32_t)n, (uint32_t)n, ranges, false}};
    dds_write(b->scan_w, &m);
}

void bridge_show(bridge *b, const pons_report_senses *s)
{
    anchor(b, s->stamp_ns);
    const int64_t now_ns = ros_ns(b, s->stamp_ns);
    b->robot_ns = s->stamp_ns;
    const builtin_interfaces_msg_dds__Time_ stamp = bridge_stamp(now_ns);
    if (bridge_sim_time(b) && b->clock_w > 0) {
        const rosgraph_msgs_msg_dds__Clock_ m = {stamp};
        dds_write(b->clock_w, &m);
    }
    const pons_pose2 odom = {s->odom_from_base.x, s->odom_from_base.y, s->odom_from_base.yaw},
                     map = {s->map_from_odom.x, s->map_from_odom.y, s->map_from_odom.yaw};
    if (!isfinite(odom.x + odom.y + odom.yaw)) {
        return;
    }
    b->seen = true;
    b->odom_from_base = odom;
    b->placed = s->placed && isfinite(map.x + map.y + map.yaw);
    b->map_from_odom = b->placed ? map : b->map_from_odom;
    b->std_m = s->pose_std_m;
    if (now_ns > b->last_ros_ns && b->tf_w > 0) { // time that goes back is no time to tell
        geometry_msgs_msg_dds__TransformStamped_ t[2] = {frame(b->c.odom, b->c.base, odom, stamp),
                                                         frame(b->c.map, b->c.odom, map, stamp)};
        const uint32_t n = b->placed ? 2 : 1;
        const tf2_msgs_msg_dds__TFMessage_ m = {.transforms = {n, n, t, false}};
        dds_write(b->tf_w, &m);
    }
    b->last_ros_ns = now_ns;
    nav_msgs_msg_dds__Odometry_ o = {
        .header = {.stamp = stamp, .frame_id = b->c.odom},
        .child_frame_id = b->c.base,
        .pose.pose = {{odom.x, odom.y, 0.0}, turned(odom.yaw)},
        .twist.twist = {.linear.x = s->twist.v, .angular.z = s->twist.w}};
    for (int i = 0; i < 3 && json_array_size(s->covariance) == 9; i++) {
        for (int j = 0; j < 3; j++) { // x, y, yaw of six
            o.pose.covariance[(i == 2 ? 30 : 6 * i) + (j == 2 ? 5 : j)] =
                json_number_value(json_array_get(s->covariance, (size_t)(3 * i + j)));
        }
    }
    dds_write(b->odom_w, &o);
    show_pose(b, stamp);
    show_battery(b, s, stamp);
    if (s->scan) {
        show_scan(b, s->scan);
    }
}

// ---- the map ------------------------------------------------------------------------------------

static void publish_map(bridge *b, const pons_pose2 *origin, double resolution_m, int w, int h,
                        int8_t *cells)
{
    const uint32_t n = (uint32_t)w * (uint32_t)h;
    const builtin_interfaces_msg_dds__Time_ stamp = bridge_stamp(bridge_ros_ns(b));
    const nav_msgs_msg_dds__OccupancyGrid_ m = {
        .header = {.stamp = stamp, .frame_id = b->c.map},
        .info = {.map_load_time = stamp,
                 .resolution = (float)resolution_m,
                 .width = (uint32_t)w,
                 .height = (uint32_t)h,
                 .origin = {{origin->x, origin->y, 0.0}, turned(origin->yaw)}},
        .data = {n, n, cells, false}};
    dds_write(b->map_w, &m);
}

static void show_boxes(bridge *b, const pons_value *world, const pons_value *map)
{
    const pons_value *bounds = pons_get(world, "bounds"), *boxes = pons_get(map, "boxes");
    const double res = pons_get_num(map, "resolution_m", RESOLUTION_M);
    double at[4];
    for (size_t i = 0; i < 4; i++) {
        at[i] = json_number_value(json_array_get(bounds, i));
    }
    const pons_pose2 origin = {at[0], at[1], 0.0};
    const double cells_x = ceil((at[2] - at[0]) / res), cells_y = ceil((at[3] - at[1]) / res);
    if (!(cells_x >= 1.0 && cells_y >= 1.0 && cells_x * cells_y <= CELLS_MAX)) {
        bridge_say(b, BRIDGE_WARN, "the world has no bounds that a map could have");
        return;
    }
    const int w = (int)cells_x, h = (int)cells_y;
    int8_t *cells = calloc((size_t)w * (size_t)h, 1);
    if (cells) {
        pons_boxes_draw(boxes, at, res, w, h, cells);
        publish_map(b, &origin, res, w, h, cells);
    }
    free(cells);
}

// A map of nav2_map_server as it is; else the world's boxes.
void bridge_show_map(bridge *b, const pons_value *world)
{
    const pons_value *map = pons_get(world, "map");
    const char *path = pons_get_str(map, "path", NULL);
    pons_map *m = NULL;
    if (b->map_w <= 0) {
        return;
    }
    if (path && pons_map_load(path, &m, NULL) >= 0) {
        const pons_map_info *about = pons_map_about(m);
        publish_map(b, &about->origin, about->resolution_m, about->w, about->h,
                    (int8_t *)(uintptr_t)pons_map_cells(m));
        pons_map_destroy(m);
        return;
    }
    show_boxes(b, world, map);
}
