// interface_types.h - ROS 2 interfaces that are known only when the driver runs: from the text of .msg, .srv and
// .action files to what DDS writes, and from and to JSON. One thread at a time. The essay is in interface_types.c.
#pragma once

#include "drivers/dds/interface_texts.h"
#include "pons/error.h"
#include "pons/value.h"

#include <dds/dds.h>
#include <stdbool.h>
#include <stdint.h>

enum { ROS2_MEMBER_MAX = 64 };

typedef enum ros2_kind {
    ROS2_BOOL,
    ROS2_INT8,
    ROS2_UINT8,
    ROS2_INT16,
    ROS2_UINT16,
    ROS2_INT32,
    ROS2_UINT32,
    ROS2_INT64,
    ROS2_UINT64,
    ROS2_FLOAT32,
    ROS2_FLOAT64,
    ROS2_STRING,
    ROS2_STRUCT
} ros2_kind;

typedef struct ros2_shape ros2_shape;

typedef struct ros2_member {
    char name[ROS2_MEMBER_MAX];
    ros2_kind kind;
    const ros2_shape *of; // of STRUCT
    bool array, sequence; // neither: one
    uint32_t n;           // of an array: how many; of a sequence: at most, 0: any number
    uint32_t longest;     // of a string: bytes; 0: any number
    uint32_t at;          // where it is in memory
    pons_value *usual;    // its value when none is said; NULL: zero
} ros2_member;

struct ros2_shape { // in memory as a C compiler lays it out, with dds_sequence_t and char *
    char name[ROS2_TYPE_MAX]; // geometry_msgs/msg/Pose, nav2_msgs/action/Spin_Goal
    uint32_t size, align;
    int n;
    ros2_member *members;
};

typedef struct ros2_types ros2_types;

ros2_types *ros2_types_create(void);    // NULL: no memory
void ros2_types_destroy(ros2_types *t); // NULL-safe
// Where its definitions come from; t's.
ros2_texts *ros2_types_texts(ros2_types *t);
// Of an action or a service the parts are shapes: X_Goal, X_Result, X_Feedback; X_Request, X_Response. And
// so are the messages in which DDS has them: X_SendGoal_Request, …. Valid as long as t. PONS_ENOTFOUND,
// PONS_EINVAL, PONS_EUNSUPPORTED, with file and line.
int ros2_types_get(ros2_types *t, const char *name, const ros2_shape **ret, pons_error *err);
// For topics of that shape; valid as long as t. NULL: no memory.
const dds_topic_descriptor_t *ros2_types_topic(ros2_types *t, const ros2_shape *s, pons_error *err);

// message_json.c

// mem has the shape's size; it is filled whole, or nothing is left in it. A member that is not said has its
// usual value, else zero. A pose of the map may be said as {x, y, yaw}, a time or a duration as seconds.
// PONS_EINVAL: "target_yaw: a number is needed".
int ros2_value_from(const ros2_shape *s, const pons_value *v, const char *map_frame, void *mem,
                    pons_error *err);
// A number that is none is null; of a nav_msgs/msg/Path its length and its end are said; of an array longer than ROS2_SHOWN_MAX only the length is said. NULL: no memory.
enum { ROS2_SHOWN_MAX = 64 };
pons_value *ros2_value_to(const ros2_shape *s, const void *mem);
void ros2_value_fini(const ros2_shape *s, void *mem);
// A member of mem by its name; NULL: there is none of that kind.
const void *ros2_value_at(const ros2_shape *s, const void *mem, const char *name, ros2_kind kind);
// The JSON Schema of an object that ros2_value_from takes. NULL: no memory.
pons_value *ros2_shape_schema(const ros2_shape *s);
