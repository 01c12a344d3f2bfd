// action_client.h - the client of one action of ROS 2, whatever its type: several goals at once, each sent once,
// ever. The essay is in action_client.c.
#pragma once

#include "drivers/dds/dds_node.h"
#include "drivers/dds/interface_types.h"
#include "drivers/dds/progress.h"

typedef struct ros2_action ros2_action;

typedef enum ros2_hold {
    ROS2_FREE,          // goals are sent
    ROS2_HELD,          // none is sent, however long
    ROS2_BEHIND_CANCEL, // none is sent, as a cancel before it has no answer; not for long
} ros2_hold;

// name: "/robot1/spin", type: "nav2_msgs/action/Spin". server_s: how long a server is waited for;
// answer_s: how long its answer to what it was sent.
int ros2_action_open(ros2_node *n, ros2_types *t, const char *name, const char *type,
                     double server_s, double answer_s, ros2_action **ret, pons_error *err);
void ros2_action_close(ros2_action *a); // NULL-safe; its endpoints end with the node
// The loop thread; they do not wait. `goal` as ros2_value_from has it.
void ros2_action_begin(ros2_action *a, const char *goal_id, const pons_value *goal,
                       const char *map_frame);
bool ros2_action_look(ros2_action *a, const char *goal_id,
                      ros2_progress *ret); // false: no such goal
// It is no longer wanted: one that was sent is canceled, and `look` says what came of it; one that has ended, and
// whose end was looked at, is forgotten.
void ros2_action_end(ros2_action *a, const char *goal_id);
bool ros2_action_busy(ros2_action *a); // with a goal that has not ended
// The reader thread. Takes what has come, and sends what is to be sent: of the goals those that had been noticed before
// `held` was looked for, so that no goal overtakes a cancel that was asked for before it.
void ros2_action_notice(ros2_action *a);
void ros2_action_poll(ros2_action *a, ros2_hold held, int64_t host_ns);
// Any thread: a cancel has no answer yet.
bool ros2_action_cancels(ros2_action *a);
// Any thread: goals that are not over yet are canceled, and end as given up.
void ros2_action_give_up(ros2_action *a, const char *why);
const ros2_shape *ros2_action_goal(const ros2_action *a);
