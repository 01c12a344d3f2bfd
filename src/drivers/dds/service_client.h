// service_client.h - the client of one service of ROS 2, whatever its type: several calls at once, each made once,
// ever. The essay is in service_client.c.
#pragma once

#include "drivers/dds/dds_node.h"
#include "drivers/dds/interface_types.h"
#include "drivers/dds/progress.h"

typedef struct ros2_service ros2_service;

// name: "/robot1/local_costmap/clear_entirely_local_costmap", type: "nav2_msgs/srv/ClearEntireCostmap". server_s: how
// long a server is waited for; answer_s: how long its answer is.
int ros2_service_open(ros2_node *n, ros2_types *t, const char *name, const char *type,
                      double server_s, double answer_s, ros2_service **ret, pons_error *err);
void ros2_service_close(ros2_service *s); // NULL-safe; its endpoints end with the node
// Any thread; they do not wait. `request` as ros2_value_from has it, the answer is `result`. NO_SERVER,
// BAD_GOAL, SUCCEEDED (it has answered, whatever) and UNKNOWN are its ends.
void ros2_service_begin(ros2_service *s, const char *id, const pons_value *request,
                        const char *map_frame);
bool ros2_service_look(ros2_service *s, const char *id, ros2_progress *ret); // false: no such call
bool ros2_service_knows(ros2_service *s, const char *id);
void ros2_service_end(ros2_service *s, const char *id); // nobody waits for it any more: forgotten
// It is no longer wanted: forgotten when it was not sent, or when its end was looked at; else `look` has it until then.
void ros2_service_leave(ros2_service *s, const char *id);
bool ros2_service_comes(ros2_service *s); // a server was discovered, and can be asked now or soon
// The reader thread: takes what has come, sends what is to be sent.
void ros2_service_poll(ros2_service *s, int64_t host_ns);
const ros2_shape *ros2_service_request(const ros2_service *s);
