// lifecycle.h - whether Nav2 is active: what its lifecycle manager and its nodes say. The essay is in lifecycle.c.
#pragma once

#include "drivers/dds/config.h"
#include "drivers/dds/dds_node.h"
#include "drivers/dds/interface_types.h"

typedef struct ros2_lifecycle ros2_lifecycle;

// The configuration stays as long.
int ros2_lifecycle_open(ros2_node *n, ros2_types *t, const ros2_config *c, ros2_lifecycle **ret,
                        pons_error *err);
void ros2_lifecycle_close(ros2_lifecycle *l); // NULL-safe
// The reader thread. Host time.
void ros2_lifecycle_poll(ros2_lifecycle *l, int64_t host_ns);
// Any thread: it is known that Nav2 is not active, and why: "Nav2 is not active: bt_navigator is inactive".
bool ros2_lifecycle_holds(ros2_lifecycle *l, char *why, size_t cap);
// Any thread: nobody has been asked to the end yet, which takes some seconds at most.
bool ros2_lifecycle_begins(ros2_lifecycle *l);
// Any thread: asks all of them once more, under an id of the caller's; the answer, once there is one, is the caller's:
// {active: true, false or null, nodes: {bt_navigator: "inactive" or null}}.
void ros2_lifecycle_ask(ros2_lifecycle *l, const char *id);
pons_value *ros2_lifecycle_answer(ros2_lifecycle *l, const char *id); // NULL: not yet
void ros2_lifecycle_end(ros2_lifecycle *l, const char *id);
