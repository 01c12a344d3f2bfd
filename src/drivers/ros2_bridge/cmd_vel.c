// cmd_vel.c - what people's programs say to a robot beside actions: cmd_vel, goal_pose, initialpose.
//
// **cmd_vel** is a hand on the robot. The first velocity that is not zero takes control and begins a goal
// of drive_by_hand, which is in the ledger as any; each next one is a `steer`, and goes through the gate.
// What the hand said counts for 300 ms in the body, so silence stands still. A second of it, or two of
// zeros, let go. Velocities are for nobody while the robot is latched or a goal has the base.
//
//     off --not zero--> wanted --in control--> sent --accepted--> on --silence: let_go--> ends --> off
//
// Twist and TwistStamped cannot share a topic in one participant, so the other type has one of its own,
// made when somebody publishes it. A stamp that is not of now is a command from the past.
#include "drivers/ros2_bridge/cmd_vel.h"

#include "drivers/ros2_bridge/action_server.h"
#include "drivers/ros2_bridge/body_commands.h"
#include "drivers/ros2_bridge/bridge_common.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUIET_NS  PONS_NS_PER_S         // of cmd_vel: the hand has gone
#define STILL_NS  (2 * PONS_NS_PER_S)   // of zeros
#define OLD_NS    PONS_NS_PER_S         // of a TwistStamped
#define STEER_NS  (10 * PONS_NS_PER_MS) // between two words to the body
#define YIELD_NS  (300 * PONS_NS_PER_MS)
#define ANSWER_NS (3 * PONS_NS_PER_S)
#define LOOK_NS   (500 * PONS_NS_PER_MS)
#define MOST      100.0 // m/s, rad/s: beyond it, it is no velocity

// ---- cmd_vel ------------------------------------------------------------------------------------

typedef struct wanted {
    char name[ROS2_NAME_MAX + 4];
    const char *type;
    bool there;
} wanted;

static void set_phase(bridge *b, int phase)
{
    b->drive.phase = phase;
    b->drive.since_host_ns = b->host_ns;
}

static void velocity(bridge *b, const geometry_msgs_msg_dds__Twist_ *t)
{
    bridge_drive *d = &b->drive;
    const double v = t->linear.x, w = t->angular.z;
    const bool moves = v != 0.0 || w != 0.0;
    if (!(fabs(v) <= MOST && fabs(w) <= MOST)) {
        bridge_say(b, BRIDGE_WARN, "cmd_vel: it is no velocity: left out");
        return; // the last one grows old
    }
    if (d->phase == DRIVE_OFF && !moves) {
        return; // a joystick that lies on the table takes no control
    }
    if (b->latched) {
        if (moves) {
            bridge_say(b, BRIDGE_WARN, "cmd_vel: a protective stop is in force: %.120s",
                       b->latch_reason);
        }
        return;
    }
    if (bridge_goals_active(b) || (b->base_busy && !bridge_drive_owns(b, b->busy_goal))) {
        if (moves) {
            bridge_say(b, BRIDGE_WARN, "cmd_vel: a goal has the base");
        }
        return;
    }
    d->v = v;
    d->w = w;
    d->received_host_ns = b->host_ns;
    d->moved_host_ns = moves ? b->host_ns : d->moved_host_ns;
    if (d->phase == DRIVE_OFF) {
        set_phase(b, DRIVE_WANTED);
    }
    d->fresh = true;
}

static void take_plain(bridge *b, dds_entity_t reader)
{
    ROS2_TAKE(reader, geometry_msgs_msg_dds__Twist_, m)
    {
        velocity(b, m);
    }
}

static void take_stamped(bridge *b, dds_entity_t reader)
{
    ROS2_TAKE(reader, geometry_msgs_msg_dds__TwistStamped_, m)
    {
        const int64_t stamp =
            (int64_t)m->header.stamp.sec * PONS_NS_PER_S + (int64_t)m->header.stamp.nanosec;
        if (stamp != 0 && llabs(bridge_ros_ns(b) - stamp) > OLD_NS) {
            bridge_say(b, BRIDGE_WARN, "cmd_vel: its stamp is not of now (%.0f s off): left out",
                       (double)(bridge_ros_ns(b) - stamp) * 1e-9);
            continue;
        }
        velocity(b, &m->twist);
    }
}

// Topics of another type or with a QoS that does not fit never match; whoever waits for the robot to move is
// told why, once.
static void look_for_misfits(bridge *b)
{
    const dds_entity_t all[] = {b->c.stamped ? b->stamped_r : b->twist_r, b->goal_pose_r,
                                b->initialpose_r};
    for (int i = 0; i < 3; i++) {
        char why[BRIDGE_TEXT] = "";
        const bool fits = all[i] <= 0 || ros2_node_matched(all[i]) ||
                          (i == 0 && b->other.participant > 0) ||
                          !ros2_node_why(&b->node, all[i], why, sizeof why);
        if (!fits && strcmp(why, b->misfit[i]) != 0) {
            bridge_say(b, BRIDGE_WARN, "%s", why);
        }
        snprintf(b->misfit[i], sizeof b->misfit[i], "%s", fits ? "" : why);
    }
}

static bool is_wanted(const dds_builtintopic_endpoint_t *e, void *user)
{
    wanted *w = user;
    w->there = strcmp(e->topic_name, w->name) == 0 && strcmp(e->type_name, w->type) == 0;
    return !w->there;
}

// Somebody publishes cmd_vel of the type that is not read yet.
static void look_for_other_type(bridge *b)
{
    const dds_topic_descriptor_t *desc = b->c.stamped ? &geometry_msgs_msg_dds__Twist__desc
                                                      : &geometry_msgs_msg_dds__TwistStamped__desc;
    wanted w = {.type = desc->m_typename};
    snprintf(w.name, sizeof w.name, "rt%s", b->c.t_cmd_vel.name);
    ros2_node_each(&b->node, true, is_wanted, &w);
    pons_error err = PONS_ERROR_INIT;
    if (!w.there) {
        return;
    }
    b->other.hashed = b->node.hashed;
    if (ros2_node_open(&b->other, b->c.domain, &err) < 0) {
        bridge_say(b, BRIDGE_WARN, "%.200s", err.message);
        b->other.participant = 0;
        b->look_due_ns = b->host_ns + 20 * LOOK_NS;
        return;
    }
    *(b->c.stamped ? &b->twist_r : &b->stamped_r) = bridge_reader(
        b, &b->other, "rt", b->c.t_cmd_vel.name, NULL, desc, b->c.t_cmd_vel.qos, &err);
}

static void steer(bridge *b, double v, double w, bool let_go)
{
    const pons_message m = {.type = PONS_MESSAGE_STEER,
                            .as.steer = {.v = v, .w = w, .let_go = let_go}};
    bridge_send(b->hand.link, &m);
}

// Who publishes a thousand times a second is not a thousand lines for the body.
static void tell_newest(bridge *b)
{
    bridge_drive *d = &b->drive;
    if (d->phase == DRIVE_ON && d->fresh && b->host_ns - d->reported_host_ns >= STEER_NS) {
        steer(b, d->v, d->w, false);
        d->reported_host_ns = b->host_ns;
        d->fresh = false;
    }
}

void bridge_drive_step(bridge *b)
{
    bridge_drive *d = &b->drive;
    tell_newest(b);
    const int64_t silent_ns = b->host_ns - d->received_host_ns;
    const bool old = b->host_ns - d->since_host_ns > ANSWER_NS;
    if (d->phase == DRIVE_WANTED && (silent_ns > YIELD_NS || old)) {
        d->phase = DRIVE_OFF; // it has changed its mind, or nobody gives control
    } else if (d->phase == DRIVE_WANTED && bridge_in_control(b)) {
        pons_autovalue args = json_object();
        bridge_new_id(b, d->id);
        if (args && bridge_goal_send(b, d->id, "drive_by_hand", args, false)) {
            set_phase(b, DRIVE_SENT);
        }
    } else if (d->phase == DRIVE_ON &&
               (silent_ns > QUIET_NS || b->host_ns - d->moved_host_ns > STILL_NS ||
                (bridge_goals_want(b) && silent_ns > YIELD_NS))) {
        steer(b, 0.0, 0.0, true);
        set_phase(b, DRIVE_ENDS);
    } else if ((d->phase == DRIVE_SENT || d->phase == DRIVE_ENDS) && old) {
        bridge_goal_cancel(b, d->id);
        d->phase = DRIVE_OFF;
    }
}

bool bridge_drive_owns(const bridge *b, const char *goal_id)
{
    return b->drive.phase >= DRIVE_SENT && strcmp(b->drive.id, goal_id) == 0;
}

void bridge_drive_answered(bridge *b, bool accepted, const char *why)
{
    bridge_drive *d = &b->drive;
    if (accepted && d->phase == DRIVE_SENT) {
        set_phase(b, DRIVE_ON);
        d->fresh = b->host_ns - d->received_host_ns < YIELD_NS;
    } else if (!accepted && d->phase != DRIVE_OFF) {
        bridge_say(b, BRIDGE_WARN, "cmd_vel: %.200s", why);
        d->phase = DRIVE_OFF;
    }
}

void bridge_drive_over(bridge *b)
{
    b->drive.phase = DRIVE_OFF;
}

// ---- public functions ---------------------------------------------------------------------------

int bridge_drive_open(bridge *b, pons_error *err)
{
    const ros2_stream *vel = &b->c.t_cmd_vel;
    if (b->c.stamped) {
        b->stamped_r = bridge_reader(b, &b->node, "rt", vel->name, NULL,
                                     &geometry_msgs_msg_dds__TwistStamped__desc, vel->qos, err);
    } else {
        b->twist_r = bridge_reader(b, &b->node, "rt", vel->name, NULL,
                                   &geometry_msgs_msg_dds__Twist__desc, vel->qos, err);
    }
    if (!b->stamped_r && !b->twist_r) {
        return PONS_EENV;
    }
    if (*b->c.shown.goal_pose.name) {
        b->goal_pose_r =
            bridge_reader(b, &b->node, "rt", b->c.shown.goal_pose.name, NULL,
                          &geometry_msgs_msg_dds__PoseStamped__desc, b->c.shown.goal_pose.qos, err);
        if (!b->goal_pose_r) {
            return PONS_EENV;
        }
    }
    if (*b->c.t_initialpose.name) {
        b->initialpose_r = bridge_reader(b, &b->node, "rt", b->c.t_initialpose.name, NULL,
                                         &geometry_msgs_msg_dds__PoseWithCovarianceStamped__desc,
                                         b->c.t_initialpose.qos, err);
        if (!b->initialpose_r) {
            return PONS_EENV;
        }
    }
    return PONS_OK;
}

void bridge_drive_take(bridge *b)
{
    pons_pose2 at;
    char why[BRIDGE_TEXT];
    if (b->host_ns >= b->look_due_ns) {
        b->look_due_ns = b->host_ns + LOOK_NS;
        if (b->other.participant <= 0) {
            look_for_other_type(b);
        }
        look_for_misfits(b);
    }
    if (b->twist_r > 0) {
        take_plain(b, b->twist_r);
    }
    if (b->stamped_r > 0) {
        take_stamped(b, b->stamped_r);
    }
    if (b->goal_pose_r > 0) {
        ROS2_TAKE(b->goal_pose_r, geometry_msgs_msg_dds__PoseStamped_, m)
        {
            if (bridge_pose(b, m->header.frame_id, &m->pose, &at, why)) {
                bridge_goal_pose(b, at);
            } else {
                bridge_say(b, BRIDGE_WARN, "goal_pose: %.180s", why);
            }
        }
    }
    if (b->initialpose_r > 0) {
        ROS2_TAKE(b->initialpose_r, geometry_msgs_msg_dds__PoseWithCovarianceStamped_, m)
        {
            if (!bridge_same_frame(m->header.frame_id, b->c.map)) {
                bridge_say(b, BRIDGE_WARN, "initialpose: it is in the frame '%.40s', not '%.40s'",
                           m->header.frame_id, b->c.map);
            } else if (!bridge_pose(b, b->c.map, &m->pose.pose, &at, why)) {
                bridge_say(b, BRIDGE_WARN, "initialpose: %.180s", why);
            } else {
                const pons_message reported = {.type = PONS_MESSAGE_SET_POSE,
                                               .as.set_pose = {at.x, at.y, at.yaw}};
                bridge_send(b->eye, &reported);
            }
        }
    }
}
