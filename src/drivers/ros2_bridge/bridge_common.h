// bridge_common.h - what all files of the bridge use: endpoints, time, words, poses in its frames.
#pragma once

#include "drivers/ros2_bridge/internal.h"

bool bridge_same_frame(const char *a, const char *b);
// A pose of ROS in the map; false, with a line: no numbers, no rotation, or a frame that does not connect.
bool bridge_pose(const bridge *b, const char *frame, const geometry_msgs_msg_dds__Pose_ *p,
                 pons_pose2 *ret, char why[BRIDGE_TEXT]);
void bridge_say(bridge *b, bridge_level level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
dds_entity_t bridge_reader(bridge *b, ros2_node *n, const char *prefix, const char *name,
                           const char *type, const dds_topic_descriptor_t *desc, ros2_qos qos,
                           pons_error *err);
// A service NAME, to be looked after by bridge_reader's listener. response_type NULL: the descriptor's.
bool bridge_service_open(bridge *b, bridge_service *s, const char *name,
                         const dds_topic_descriptor_t *request,
                         const dds_topic_descriptor_t *response, const char *response_type,
                         pons_error *err);
// Its requests may be taken: who has asked can hear the answer.
bool bridge_service_ready(bridge *b, bridge_service *s);
int64_t bridge_ros_ns(const bridge *b); // now, by the robot's newest word
builtin_interfaces_msg_dds__Time_ bridge_stamp(int64_t ns);
void bridge_new_id(bridge *b, char ret[BRIDGE_ID]);
bool bridge_sim_time(const bridge *b);
