// bridge_common.c - what all files of the bridge use: its endpoints, its time, its words, and poses in its frames.
#include "drivers/ros2_bridge/bridge_common.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define AGAIN_NS (2 * PONS_NS_PER_S)    // before the same is said again
#define MEET_NS  (500 * PONS_NS_PER_MS) // in which both halves of a client are discovered

dds_entity_t bridge_reader(bridge *b, ros2_node *n, const char *prefix, const char *name,
                           const char *type, const dds_topic_descriptor_t *desc, ros2_qos qos,
                           pons_error *err)
{
    const dds_entity_t r = ros2_node_reader(n, prefix, name, type, desc, qos, err);
    if (r > 0) {
        dds_set_status_mask(r, DDS_DATA_AVAILABLE_STATUS);
        dds_set_listener(r, b->listener);
    }
    return r;
}

bool bridge_service_open(bridge *b, bridge_service *s, const char *name,
                         const dds_topic_descriptor_t *request,
                         const dds_topic_descriptor_t *response, const char *response_type,
                         pons_error *err)
{
    if (ros2_rpc_open(&s->rpc, &b->node, true, name, request, response, response_type, err) < 0) {
        return false;
    }
    if (s->rpc.r > 0) {
        dds_set_listener(s->rpc.r, b->listener);
    }
    return true;
}

// A client's request may be here before its reader of replies has been discovered, and a reply that is
// written then is lost. Each client has one of both, so their numbers tell; who has no reader at all is
// not waited for.
bool bridge_service_ready(bridge *b, bridge_service *s)
{
    int peers[2];
    ros2_rpc_peers(&s->rpc, peers);
    const int missing = peers[1] > peers[0] ? peers[1] - peers[0] : 0;
    if (s->rpc.misheard) {
        s->rpc.misheard = false;
        bridge_say(b, BRIDGE_WARN, "%.80s is asked by another RMW, and %.100s", s->rpc.name,
                   b->node.fast_why);
    }
    if (missing != s->missing) {
        s->missing = missing;
        s->since_host_ns = b->host_ns;
    }
    return missing == 0 || b->host_ns - s->since_host_ns > MEET_NS;
}

// ---- frames -------------------------------------------------------------------------------------

bool bridge_same_frame(const char *a, const char *b)
{
    return strcmp(a + (*a == '/'), b) == 0;
}

bool bridge_pose(const bridge *b, const char *frame, const geometry_msgs_msg_dds__Pose_ *p,
                 pons_pose2 *ret, char why[BRIDGE_TEXT])
{
    const geometry_msgs_msg_dds__Quaternion_ q = p->orientation;
    const double len = sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
    if (!isfinite(p->position.x + p->position.y + p->position.z)) {
        snprintf(why, BRIDGE_TEXT, "its position is no number");
        return false;
    }
    if (!(fabs(len - 1.0) < 0.1)) {
        snprintf(why, BRIDGE_TEXT, "its orientation is no rotation");
        return false;
    }
    const pons_pose2 at = {p->position.x, p->position.y,
                           atan2(2 * (q.w * q.z + q.x * q.y), 1 - 2 * (q.y * q.y + q.z * q.z))};
    if (bridge_same_frame(frame, b->c.map)) {
        *ret = at;
        return true;
    }
    const bool odom = bridge_same_frame(frame, b->c.odom),
               base = bridge_same_frame(frame, b->c.base),
               laser = !base && b->has_laser && bridge_same_frame(frame, b->c.shown.laser);
    if (!odom && !base && !laser) {
        snprintf(why, BRIDGE_TEXT, "the frames %.40s and %.60s do not connect", b->c.map,
                 *frame ? frame : "(none)");
        return false;
    }
    if (!b->seen || !b->placed) {
        snprintf(why, BRIDGE_TEXT,
                 "the frames %.40s and %.60s do not connect: the robot does not "
                 "know where it is",
                 b->c.map, frame);
        return false;
    }
    const pons_pose2 in_base = laser ? pons_pose_compose(b->base_from_laser, at) : at;
    *ret = pons_pose_compose(b->map_from_odom,
                             odom ? at : pons_pose_compose(b->odom_from_base, in_base));
    return true;
}

// ---- time, words --------------------------------------------------------------------------------

bool bridge_sim_time(const bridge *b)
{
    return b->simulated && (b->c.sim_time || b->speed != 1.0);
}

int64_t bridge_ros_ns(const bridge *b)
{
    const int64_t wall = pons_wall_ms(&b->clock) * PONS_NS_PER_MS;
    return bridge_sim_time(b) ? b->robot_ns : wall;
}

builtin_interfaces_msg_dds__Time_ bridge_stamp(int64_t ns)
{
    ns = ns < 0 ? 0 : ns;
    return (builtin_interfaces_msg_dds__Time_){(int32_t)(ns / PONS_NS_PER_S),
                                               (uint32_t)(ns % PONS_NS_PER_S)};
}

void bridge_new_id(bridge *b, char ret[BRIDGE_ID])
{
    snprintf(ret, BRIDGE_ID, "%016llx%016llx", (unsigned long long)pons_rand_u64(&b->rand),
             (unsigned long long)pons_rand_u64(&b->rand));
}

void bridge_say(bridge *b, bridge_level level, const char *fmt, ...)
{
    char text[BRIDGE_TEXT];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (strcmp(text, b->said) == 0 && b->host_ns - b->said_host_ns < AGAIN_NS) {
        return;
    }
    snprintf(b->said, sizeof b->said, "%s", text);
    b->said_host_ns = b->host_ns;
    rcl_interfaces_msg_dds__Log_ m = {.stamp = bridge_stamp(bridge_ros_ns(b)),
                                      .level = (uint8_t)level,
                                      .name = b->c.shown.node,
                                      .msg = text,
                                      .file = WORDS(""),
                                      .function = WORDS("")};
    if (b->rosout_w > 0) {
        dds_write(b->rosout_w, &m);
    }
    if (level > BRIDGE_INFO) {
        b->o->tell(b->o->user, text);
    }
}
