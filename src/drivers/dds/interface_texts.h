// interface_texts.h - the texts of ROS 2 interfaces, by their names: "my_msgs/action/Wave". The essay is in interface_types.c.
#pragma once

#include "pons/error.h"
#include "pons/value.h"

enum { ROS2_TYPE_MAX = 128, ROS2_INTERFACES_MAX = 512, ROS2_FOLDERS_MAX = 16 };

typedef struct ros2_text {
    char name[ROS2_TYPE_MAX]; // as in "==="
    char *text;
    char where[160];
    int line; // of its first one
} ros2_text;

typedef struct ros2_texts {
    int n, n_folders;
    ros2_text at[ROS2_INTERFACES_MAX];
    char *folders[ROS2_FOLDERS_MAX];
} ros2_texts;

void ros2_texts_fini(ros2_texts *t);
// A folder as ROS has it, in which PACKAGE/msg/X.msg is looked for; those that were named first come first.
int ros2_texts_folder(ros2_texts *t, const char *path, pons_error *err);
// Those of a list (`interfaces` in config/ros2.yaml; NULL: none), then those of $AMENT_PREFIX_PATH.
int ros2_texts_folders(ros2_texts *t, const pons_value *list, pons_error *err);
// Definitions, each after a line "=== package/msg/X". What is defined already stays as it is. `where` is
// for errors: "config/ros2/jazzy.msgs".
int ros2_texts_add(ros2_texts *t, const char *text, const char *where, pons_error *err);
int ros2_texts_add_file(ros2_texts *t, const char *path, pons_error *err);
// One definition, and others that it needs, each after such a line.
int ros2_texts_define(ros2_texts *t, const char *name, const char *text, const char *where,
                      pons_error *err);
// The text of a shape: a message's, a part of an action's or a service's, or that of a message around one. Its text
// is the caller's to free. PONS_ENOTFOUND, PONS_EINVAL.
int ros2_texts_find(ros2_texts *t, const char *name, ros2_text *ret, pons_error *err);
