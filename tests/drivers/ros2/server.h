// server.h - a server of one action of ROS 2, played: the test says what it answers. Its messages are JSON.
#ifndef TESTS_DRIVERS_ROS2_SERVER_H
#define TESTS_DRIVERS_ROS2_SERVER_H

#include "drivers/dds/dds_node.h"
#include "drivers/dds/interface_types.h"

typedef struct server {
    ros2_node *n;
    const ros2_shape *asks[2], *answers[2], *feedback; // send_goal, get_result
    ros2_types *t;
    dds_entity_t r[3], w[3], feedback_w, status_w; // and cancel_goal
} server;

// The form of a part of an interface, "nav2_msgs/action/Spin", "Feedback"; fails the test when there is none.
const ros2_shape *server_shape(ros2_types *t, const char *type, const char *part);

// Fails the test when it cannot be.
void server_open(server *s, ros2_node *n, ros2_types *t, const char *name, const char *type);
void server_close(server *s); // its endpoints go; the node stays
// The next request, waited for: {guid_, seq_, goal_id, goal}; the caller's.
pons_value *server_goal(server *s);
pons_value *server_goal_yet(server *s); // as server_goal, without waiting; NULL: none has come
pons_value *server_asked(server *s);    // for the result
pons_value *server_asked_yet(server *s);
typedef struct server_cancel {
    uint8_t uuid[16];
    uint64_t guid;
    int64_t seq;
} server_cancel;

bool server_cancel_yet(server *s, server_cancel *ret); // without waiting; false: none has come
void server_cancel_answer(server *s, const server_cancel *c, int code);
// The next cancel, waited for, and answered so: 0 it is canceled, 1 it is refused, 2 there is no such goal.
void server_canceled(server *s, uint8_t ret_uuid[16], int code);
bool server_quiet(server *s); // no goal has come that was not taken
void server_answer(server *s, const pons_value *request, bool accepted);
void server_end(server *s, const pons_value *request, int status, const char *result);
void server_tell(server *s, const pons_value *goal, const char *feedback);
void server_list(server *s, const pons_value *goal,
                 int status); // in the status list, with that status

#endif
