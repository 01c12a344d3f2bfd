// fuzz_ros2.c - whatever bytes another node says are its message (CDR), what reads it stays within it. The input is
// records: a byte that says which message, two how long it is (little-endian), the message with its four bytes of
// head. What Cyclone takes for one goes
//
//     of a type that is known by its text     to JSON, which is small and can be written; back, where it fits
//     of the robot's senses                   over a topic to the senses: what they tell is a number, or nothing
//     a map                                   over a topic beside the world's walls, and to the body, whose map grows
//
// All in one process, without a network but its own. The senses go on from one input to the next, as those of a robot
// do: what depends on them is repeated by the inputs before it.
#include "drivers/dds/interface_types.h"
#include "drivers/ros2/map_topic.h"
#include "drivers/ros2/senses.h"
#include "pons/clock.h"
#include "ros2.h"

#include <dds/ddsi/ddsi_serdata.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char own[] = "bool a\nint8 b\nuint16[3] c\nfloat32[] d\nstring<=4 e\nstring[] f\n"
                          "uint64[<=2] g\nOther[] h\ngeometry_msgs/PoseStamped i\nfloat64[2] j\n"
                          "=== fuzz_msgs/msg/Other\nstring x\nint64 y\nbool[] z\n";

static const char *const known[] = {"fuzz_msgs/msg/All",
                                    "nav2_msgs/action/NavigateToPose_FeedbackMessage",
                                    "nav2_msgs/action/NavigateToPose_GetResult_Response",
                                    "nav2_msgs/action/NavigateToPose_SendGoal_Response",
                                    "nav2_msgs/action/ComputePathToPose_GetResult_Response",
                                    "nav2_msgs/action/FollowWaypoints_FeedbackMessage",
                                    "nav2_msgs/action/DockRobot_FeedbackMessage",
                                    "nav2_msgs/srv/ManageLifecycleNodes_Answered"};
enum { KNOWN = sizeof known / sizeof known[0], SENSES = 6, MAP = KNOWN + SENSES, ALL = MAP + 1 };

static ros2_node node;
static ros2_config config;
static ros2_types *types;
static ros2_map *map;
static ros2_senses *senses_of_all;
static int64_t now_ns = 1000 * PONS_NS_PER_S;
static const ros2_shape *shapes[KNOWN];
static const struct ddsi_sertype *forms[ALL]; // how DDS has them
static dds_entity_t writers[ALL];
static size_t sizes[ALL];

static const char world_text[] = "{\"map\":{\"grows\":true,\"boxes\":[{\"kind\":\"wall\",\"x\":1,"
                                 "\"y\":1,\"sx\":4,\"sy\":0.1}]}}";

static void must(int holds)
{
    if (!holds) {
        abort();
    }
}

// A topic of the type, and how DDS has its messages: of one that is written and taken.
static void form(int i, const char *name, const dds_topic_descriptor_t *d)
{
    const ros2_qos kept = {.reliable = true, .depth = 1};
    pons_error err = PONS_ERROR_INIT;
    must(d != NULL);
    sizes[i] = d->m_size;
    writers[i] = ros2_node_writer(&node, "rt", name, NULL, d, kept, &err);
    const dds_entity_t r = ros2_node_reader(&node, "rt", name, NULL, d, kept, &err);
    must(writers[i] > 0 && r > 0);
    void *zero = calloc(1, d->m_size);
    struct ddsi_serdata *one = NULL;
    dds_sample_info_t info;
    for (int k = 0; k < 5000 && !one; k++) {
        must(dds_write(writers[i], zero) == 0);
        if (dds_takecdr(r, &one, 1, &info, DDS_ANY_STATE) < 1) {
            one = NULL;
            dds_sleepfor(DDS_MSECS(1));
        }
    }
    must(one != NULL);
    forms[i] = one->type; // the topic keeps it
    ddsi_serdata_unref(one);
    free(zero);
    dds_delete(r);
}

static void open_all(void)
{
    static const struct {
        const char *of;
        const dds_topic_descriptor_t *d;
        ros2_stream *t;
    } senses[SENSES] = {
        {"odom", &nav_msgs_msg_dds__Odometry__desc, &config.t_odom},
        {"scan", &sensor_msgs_msg_dds__LaserScan__desc, &config.t_scan},
        {"battery", &sensor_msgs_msg_dds__BatteryState__desc, &config.t_battery},
        {"tf", &tf2_msgs_msg_dds__TFMessage__desc, &config.t_tf},
        {"clock", &rosgraph_msgs_msg_dds__Clock__desc, &config.t_clock},
        {"amcl", &geometry_msgs_msg_dds__PoseWithCovarianceStamped__desc, &config.t_amcl_pose}};
    pons_error err = PONS_ERROR_INIT;
    pons_value_init();
    setenv("PONS_SHARE", PONS_SOURCE_DIR, 1);
    setenv("CYCLONEDDS_URI",
           "<CycloneDDS><Domain><General><Interfaces><NetworkInterface name=\"lo\"/></Interfaces>"
           "<AllowMulticast>false</AllowMulticast></General></Domain></CycloneDDS>",
           1);
    unsetenv("ROS_DOMAIN_ID");
    must(ros2_config_load(NULL, &config, &err) >= 0);
    config.sim_time = config.place = true;
    must(ros2_node_open(&node, 1 + (uint32_t)getpid() % 200, &err) >= 0);
    types = ros2_types_create();
    ros2_texts *t = ros2_types_texts(types);
    must(ros2_texts_define(t, "fuzz_msgs/msg/All", own, "fuzz", &err) >= 0);
    must(ros2_texts_add_file(t, PONS_SOURCE_DIR "/config/ros2/jazzy.msgs", &err) >= 0);
    must(ros2_texts_add_file(t, PONS_SOURCE_DIR "/config/ros2/common.msgs", &err) >= 0);
    for (int i = 0; i < KNOWN; i++) {
        char name[32];
        snprintf(name, sizeof name, "/known%d", i);
        must(ros2_types_get(types, known[i], &shapes[i], &err) >= 0);
        form(i, name, ros2_types_topic(types, shapes[i], &err));
    }
    for (int i = 0; i < SENSES; i++) {
        form(KNOWN + i, senses[i].t->name, senses[i].d);
    }
    form(MAP, config.t_map.name, &nav_msgs_msg_dds__OccupancyGrid__desc);
    pons_value *world = NULL;
    must(pons_value_parse(world_text, sizeof world_text - 1, &world, &err) >= 0);
    must(ros2_map_open(&node, &config, world, &map, &err) >= 0 && map);
    pons_value_unref(world);
    must(ros2_senses_open(&node, &config, &senses_of_all, &err) >= 0);
}

static void to_json(int which, const void *mem)
{
    char *text = NULL;
    pons_autovalue v = ros2_value_to(shapes[which], mem);
    must(v != NULL && pons_value_line(v, &text) > 0);
    free(text);
    void *again = calloc(1, sizes[which]);
    if (ros2_value_from(shapes[which], v, "map", again, NULL) >= 0) {
        pons_autovalue w = ros2_value_to(shapes[which], again);
        must(json_equal(v, w));
        ros2_value_fini(shapes[which], again);
    }
    free(again);
}

static void look(ros2_senses *s)
{
    pons_robot_state state;
    static pons_scan scan;
    pons_robot_place place;
    char why[PONS_OUTSIDE_TEXT_MAX];
    ros2_senses_state(s, &state);
    const pons_pose2 at = state.odom_from_base;
    must(isfinite(at.x) && isfinite(at.y) && isfinite(at.yaw));
    must(isfinite(state.twist.v) && isfinite(state.twist.w) && !isinf(state.battery_pct));
    if (ros2_senses_scan(s, &scan)) {
        for (uint32_t i = 0; i < (uint32_t)scan.n; i++) {
            must(!(scan.ranges[i] < 0.0f));
        }
    }
    if (ros2_senses_place(s, &place) && place.known) {
        must(isfinite(place.map_from_odom.x) && isfinite(place.map_from_odom.y) &&
             isfinite(place.map_from_odom.yaw));
    }
    ros2_senses_lack(s, now_ns, why);
}

static void sensed(int which, struct ddsi_serdata *d)
{
    ddsi_serdata_ref(d);
    (void)dds_forwardcdr(writers[which], d); // takes the reference
    ros2_senses_take(senses_of_all, now_ns += 20 * PONS_NS_PER_MS);
    look(senses_of_all);
}

static void mapped(struct ddsi_serdata *d)
{
    static uint64_t seen;
    char why[PONS_OUTSIDE_TEXT_MAX];
    pons_robot_map m;
    ddsi_serdata_ref(d);
    (void)dds_forwardcdr(writers[MAP], d);
    ros2_map_take(map, now_ns, now_ns);
    must(strlen(ros2_map_bad(map)) < PONS_OUTSIDE_TEXT_MAX);
    if (ros2_map_newest(map, seen, &m, why)) {
        must(m.number != seen && m.w > 0 && m.h > 0);
        volatile int8_t cell; // every one is there
        for (size_t i = 0; i < (size_t)m.w * (size_t)m.h; i++) {
            cell = m.cells[i];
        }
        (void)cell;
        seen = m.number;
        free(m.cells);
    }
}

static void one(int which, const uint8_t *data, size_t n)
{
    if (n < 4) {
        return;
    }
    void *bytes = malloc(n);
    memcpy(bytes, data, n); // not a byte more
    const ddsrt_iovec_t all = {.iov_base = bytes, .iov_len = n};
    struct ddsi_serdata *d = ddsi_serdata_from_ser_iov(forms[which], SDK_DATA, 1, &all, n);
    if (d && which == MAP) {
        mapped(d);
    } else if (d && which >= KNOWN) {
        sensed(which, d);
    } else if (d) {
        void *mem = calloc(1, sizes[which]);
        must(ddsi_serdata_to_sample(d, mem, NULL, NULL));
        to_json(which, mem);
        ros2_value_fini(shapes[which], mem);
        free(mem);
    }
    if (d) {
        ddsi_serdata_unref(d);
    }
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!types) {
        open_all();
    }
    for (size_t at = 0; at + 3 <= size;) {
        size_t n = data[at + 1] | (size_t)data[at + 2] << 8;
        n = n > size - at - 3 ? size - at - 3 : n;
        one(data[at] % ALL, data + at + 3, n);
        at += 3 + n;
    }
    return 0;
}
