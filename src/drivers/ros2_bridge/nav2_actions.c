// nav2_actions.c - NavigateToPose, Spin, BackUp and DriveOnHeading: between their messages and the body's skills.
//
// The requests and responses of all actions begin alike; only what differs is here. Humble's results have
// no error numbers, under the same names of types.
#include "drivers/ros2_bridge/nav2_actions.h"

#include "drivers/ros2_bridge/bridge_common.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define DDS(x) nav2_msgs_action_dds__##x

double bridge_seconds(const builtin_interfaces_msg_dds__Duration_ *d)
{
    return (double)d->sec + 1e-9 * (double)d->nanosec;
}

builtin_interfaces_msg_dds__Duration_ bridge_duration(double s)
{
    s = isfinite(s) && s > 0.0 ? fmin(s, 1e9) : 0.0;
    return (builtin_interfaces_msg_dds__Duration_){(int32_t)s, (uint32_t)((s - floor(s)) * 1e9)};
}

static bool allowance(pons_value *args, const builtin_interfaces_msg_dds__Duration_ *d)
{
    const double s = bridge_seconds(d);
    return s > 0.0 ? json_object_set_new(args, "time_allowance_s", json_real(s)) == 0 : true;
}

static pons_value *no(char why[BRIDGE_TEXT], const char *text)
{
    snprintf(why, BRIDGE_TEXT, "%s", text);
    return NULL;
}

// ---- NavigateToPose -----------------------------------------------------------------------------

static pons_value *read_navigate(const bridge *b, const void *request, const char **ret_skill,
                                 char why[BRIDGE_TEXT])
{
    const DDS(NavigateToPose_SendGoal_Request_) *r = request;
    const char *tree = r->goal.behavior_tree;
    pons_pose2 at;
    if (!bridge_pose(b, r->goal.pose.header.frame_id, &r->goal.pose.pose, &at, why)) {
        return NULL;
    }
    pons_value *file = *tree ? json_string(tree) : NULL;
    if (*tree && !file) {
        return no(why, "behavior_tree is no text");
    }
    *ret_skill = "navigate_to_pose";
    return pons_object(
        "pose",
        pons_object("x", json_real(at.x), "y", json_real(at.y), "yaw", json_real(at.yaw), NULL),
        "behavior_tree", file, NULL);
}

static void result_navigate(const bridge *b, ros2_rpc *to, uint64_t guid, int64_t seq,
                            const bridge_end *end)
{
    if (b->c.jazzy) {
        const DDS(NavigateToPose_GetResult_Response_)
            m = {guid, seq, end->status, {end->error_code, WORDS(end->text)}};
        ros2_rpc_write(to, &m);
    } else {
        const humble_NavigateToPose_GetResult_Response_ m = {guid, seq, end->status, 0};
        ros2_rpc_write(to, &m);
    }
}

static void feedback_navigate(const bridge *b, dds_entity_t w, const uint8_t uuid[16],
                              const bridge_way *way)
{
    const pons_report_feedback *f = way->f;
    DDS(NavigateToPose_FeedbackMessage_)
    m = {.feedback = {
             .current_pose = {.header = {.stamp = way->stamp, .frame_id = WORDS(b->c.map)},
                              .pose = {{f->pose.x, f->pose.y, 0.0},
                                       {0, 0, sin(0.5 * f->pose.yaw), cos(0.5 * f->pose.yaw)}}},
             .navigation_time = bridge_duration(f->elapsed_s),
             .estimated_time_remaining = bridge_duration(f->eta_s),
             .number_of_recoveries = (int16_t)f->recoveries,
             .distance_remaining =
                 isfinite(f->distance_remaining_m) ? (float)f->distance_remaining_m : 0.0F}};
    memcpy(m.goal_id.uuid, uuid, 16);
    dds_write(w, &m);
}

// ---- motions ------------------------------------------------------------------------------------

static pons_value *read_spin(const bridge *b, const void *request, const char **ret_skill,
                             char why[BRIDGE_TEXT])
{
    const DDS(Spin_SendGoal_Request_) *r = request;
    if (!isfinite(r->goal.target_yaw)) {
        return no(why, "target_yaw is no number");
    }
    *ret_skill = "spin";
    pons_value *args = pons_object("angle_rad", json_real((double)r->goal.target_yaw), NULL);
    if (args && !allowance(args, &r->goal.time_allowance)) {
        pons_value_unref(args);
        args = NULL;
    }
    return args ? args : *why ? NULL : no(why, "no memory");
}

static pons_value *read_way(const char *skill, const geometry_msgs_msg_dds__Point_ *target,
                            double speed, const builtin_interfaces_msg_dds__Duration_ *most,
                            const char **ret_skill, char why[BRIDGE_TEXT])
{
    if (!isfinite(target->x + target->y + target->z + speed)) {
        return no(why, "its target or its speed is no number");
    }
    if (target->y != 0.0 || target->z != 0.0) {
        return no(why, "its target is not straight ahead or behind");
    }
    if (speed == 0.0) {
        return no(why, "its speed is 0");
    }
    *ret_skill = skill;
    pons_value *args = pons_object("distance_m", json_real(fabs(target->x)), "speed_mps",
                                   json_real(fabs(speed)), NULL);
    if (args && !allowance(args, most)) {
        pons_value_unref(args);
        args = NULL;
    }
    return args ? args : no(why, "no memory");
}

// Whatever its signs, it goes back, as in Nav2.
static pons_value *read_back_up(const bridge *b, const void *request, const char **ret_skill,
                                char why[BRIDGE_TEXT])
{
    const DDS(BackUp_SendGoal_Request_) *r = request;
    return read_way("back_up", &r->goal.target, (double)r->goal.speed, &r->goal.time_allowance,
                    ret_skill, why);
}

static pons_value *read_heading(const bridge *b, const void *request, const char **ret_skill,
                                char why[BRIDGE_TEXT])
{
    const DDS(DriveOnHeading_SendGoal_Request_) *r = request;
    const bool back = r->goal.target.x < 0.0;
    if (back != (r->goal.speed < 0.0F)) {
        return no(why, "its target and its speed point different ways");
    }
    return read_way(back ? "back_up" : "drive_on_heading", &r->goal.target, (double)r->goal.speed,
                    &r->goal.time_allowance, ret_skill, why);
}

static void result_motion(const bridge *b, ros2_rpc *to, uint64_t guid, int64_t seq,
                          const bridge_end *end)
{
    if (b->c.jazzy) {
        const DDS(Spin_GetResult_Response_)
            m = {guid,
                 seq,
                 end->status,
                 {bridge_duration(end->duration_s), end->error_code, WORDS(end->text)}};
        ros2_rpc_write(to, &m);
    } else {
        const humble_Spin_GetResult_Response_ m = {guid, seq, end->status,
                                                   bridge_duration(end->duration_s)};
        ros2_rpc_write(to, &m);
    }
}

static void feedback_far(dds_entity_t w, const uint8_t uuid[16], double far)
{
    DDS(BackUp_FeedbackMessage_) m = {.feedback = {(float)far}};
    memcpy(m.goal_id.uuid, uuid, 16);
    dds_write(w, &m);
}

static void feedback_spin(const bridge *b, dds_entity_t w, const uint8_t uuid[16],
                          const bridge_way *way)
{
    feedback_far(w, uuid, way->turned_rad);
}

static void feedback_way(const bridge *b, dds_entity_t w, const uint8_t uuid[16],
                         const bridge_way *way)
{
    feedback_far(w, uuid, isfinite(way->f->distance_m) ? way->f->distance_m : 0.0);
}

// The three motions' messages have the same members, so a writer of one takes the structs of another.
_Static_assert(sizeof(DDS(Spin_GetResult_Response_)) == sizeof(DDS(BackUp_GetResult_Response_)) &&
                   sizeof(DDS(Spin_GetResult_Response_)) ==
                       sizeof(DDS(DriveOnHeading_GetResult_Response_)) &&
                   sizeof(DDS(Spin_FeedbackMessage_)) == sizeof(DDS(BackUp_FeedbackMessage_)) &&
                   sizeof(DDS(Spin_FeedbackMessage_)) ==
                       sizeof(DDS(DriveOnHeading_FeedbackMessage_)),
               "Nav2's motions answer alike");

#define TYPES(X)                                                                                   \
    .send_req = &nav2_msgs_action_dds__##X##_SendGoal_Request__desc,                               \
    .send_res = &nav2_msgs_action_dds__##X##_SendGoal_Response__desc,                              \
    .result_req = &nav2_msgs_action_dds__##X##_GetResult_Request__desc,                            \
    .result_res = &nav2_msgs_action_dds__##X##_GetResult_Response__desc,                           \
    .feedback = &nav2_msgs_action_dds__##X##_FeedbackMessage__desc

const bridge_action bridge_actions[BRIDGE_ACTIONS] = {
    {TYPES(NavigateToPose), .humble_res = &humble_NavigateToPose_GetResult_Response__desc,
     .preempts = true, .read = read_navigate, .write_result = result_navigate,
     .write_feedback = feedback_navigate},
    {TYPES(Spin), .humble_res = &humble_Spin_GetResult_Response__desc, .read = read_spin,
     .write_result = result_motion, .write_feedback = feedback_spin},
    {TYPES(BackUp), .humble_res = &humble_Spin_GetResult_Response__desc, .read = read_back_up,
     .write_result = result_motion, .write_feedback = feedback_way},
    {TYPES(DriveOnHeading), .humble_res = &humble_Spin_GetResult_Response__desc,
     .read = read_heading, .write_result = result_motion, .write_feedback = feedback_way},
};
