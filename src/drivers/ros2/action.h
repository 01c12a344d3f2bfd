// action.h - the client of one action of ROS 2, whatever its type: several goals at once, each sent once,
// ever. The essay is in action.c.
#ifndef PONS_DRIVERS_ROS2_ACTION_H
#define PONS_DRIVERS_ROS2_ACTION_H

#include "drivers/ros2/node.h"
#include "drivers/ros2/types.h"
#include "pons/ext/outside.h"

enum { ROS2_GOALS_MAX = 8 }; // of one action, that nobody has ended

typedef enum ros2_end { // how a goal ended
    ROS2_END_NONE,      // it has not
    ROS2_END_SUCCEEDED,
    ROS2_END_ABORTED,
    ROS2_END_CANCELED,  // by somebody else
    ROS2_END_REFUSED,   // the server did not take it
    ROS2_END_NO_SERVER, // nothing was sent
    ROS2_END_BAD_GOAL,  // nothing was sent
    ROS2_END_UNKNOWN
} ros2_end;

typedef struct ros2_progress {
    ros2_end end;
    char text[PONS_OUTSIDE_TEXT_MAX]; // what is known of it
    pons_value *feedback, *result;    // the newest, the caller's to unref; NULL: none
} ros2_progress;

typedef struct ros2_action ros2_action;

// name: "/robot1/spin", type: "nav2_msgs/action/Spin". server_s: how long a server is waited for.
int ros2_action_open(ros2_node *n, ros2_types *t, const char *name, const char *type,
                     double server_s, ros2_action **ret, pons_error *err);
void ros2_action_close(ros2_action *a); // NULL-safe; its endpoints end with the node
// The loop thread; they do not wait. `goal` as ros2_value_from has it.
void ros2_action_begin(ros2_action *a, const char *goal_id, const pons_value *goal,
                       const char *map_frame);
bool ros2_action_look(ros2_action *a, const char *goal_id,
                      ros2_progress *ret);                 // false: no such goal
void ros2_action_end(ros2_action *a, const char *goal_id); // it is no longer wanted
// The reader thread: takes what has come, sends what is to be sent.
void ros2_action_poll(ros2_action *a, int64_t host_ns);
const ros2_shape *ros2_action_goal(const ros2_action *a);

#endif
