// ext/arm.h - what a robot driver offers beside wheels: an arm, a gripper, what its perception sees,
// cameras. `pons_robot_ops.arm` and `.cameras` (ext/robot.h) point here; NULL: there is none.
//
// The arm is described by a URDF file (pons/arm.h), which the driver names and the body reads: joints,
// their order, limits and speeds come from there alone, as does every pose that is computed.
//
// A driver takes joint velocities, holds the last ones until the next write, and holds the position
// where they are zero, against gravity: a stop is a write of zeroes. It takes them from the safety
// thread only, after the gate. The gripper's command is an opening and the most force; it holds while
// the arm is stopped, so that a stop drops nothing.
//
// Threads: as ext/robot.h has them. caps, state, write, grip, objects, and list of the cameras are
// called at any time from the safety thread and the loop thread; they never block, lock, allocate or
// do I/O. `take` may block: a thread of its own or the loop calls it, one call at a time.
#pragma once

#include "pons/error.h"
#include "pons/linkage.h"

#include <stdbool.h>
#include <stdint.h>

PONS_C_BEGIN

#define PONS_ROBOT_ARM_ABI    1u
#define PONS_ROBOT_CAMERA_ABI 2u // 1 (no `see`) is understood

enum {
    PONS_ARM_NAME = 48,      // bytes of a link's or joint's name, with its zero
    PONS_ARM_JOINTS = 8,     // of an arm
    PONS_ROBOT_OBJECTS = 32, // that are seen at once
    PONS_ROBOT_CAMERAS = 4
};

typedef struct pons_pose3 { // of a child in its parent
    double p[3];            // [m]
    double r[9];            // rotation, row-major
} pons_pose3;

typedef struct pons_robot_arm_caps { // constant after open
    char urdf[1024];                 // path of the description
    char base_link[PONS_ARM_NAME], tool_link[PONS_ARM_NAME];
    pons_pose3 mount;             // base_link in the robot's base
    double home[PONS_ARM_JOINTS]; // where it rests
    double width_max_m;           // of the gripper; 0: there is none
    double force_max_n;
    double accel_max_radps2;                   // of a joint
    double workspace_min[3], workspace_max[3]; // box that the tool stays in, in base
} pons_robot_arm_caps;

typedef struct pons_robot_arm_state {
    int64_t stamp_ns;               // robot time
    int n;                          // joints, in the chain's order
    double q[PONS_ARM_JOINTS];      // [rad or m], measured
    double qd[PONS_ARM_JOINTS];     // [rad/s or m/s]
    double effort[PONS_ARM_JOINTS]; // [Nm or N], beyond what gravity needs
    double width_m;                 // the gripper's opening, measured
    double force_n;                 // between its fingers
} pons_robot_arm_state;

typedef enum pons_robot_shape { // a word for how an object is best taken
    PONS_SHAPE_BALL,
    PONS_SHAPE_BOX,
    PONS_SHAPE_CUP,   // upright and open: may be taken around
    PONS_SHAPE_BASKET // open: things are put into it
} pons_robot_shape;

typedef struct pons_robot_object { // as perception has it
    char id[64];
    int64_t stamp_ns; // when it was last seen
    pons_pose3 pose;  // of its middle, in the robot's base
    double half[3];   // of the box around it, along its own axes [m]
    double mass_kg;   // 0: not known
    pons_robot_shape shape;
} pons_robot_object;

typedef struct pons_robot_arm_ops {
    uint32_t abi; // PONS_ROBOT_ARM_ABI
    // false: this world's robot has no arm; nothing else is called then.
    bool (*caps)(void *self, pons_robot_arm_caps *ret);
    void (*state)(void *self, pons_robot_arm_state *ret); // the newest
    void (*write)(void *self, const double *qd);          // joint velocities; held until the next
    void (*grip)(void *self, double width_m, double force_n); // held until the next
    // What is seen now, at most cap; the number. NULL: no perception.
    int (*objects)(void *self, pons_robot_object *ret, int cap);
} pons_robot_arm_ops;

typedef struct pons_camera_caps {
    char name[64];
    int width, height; // pixels
    double fps;        // at most
    double fovy_rad;   // 0: not known
    bool depth;
    char frame[64]; // link or "base" that it sits on
    pons_pose3 at;  // in it; z looks forwards, x to the right
} pons_camera_caps;

typedef struct pons_picture_raw { // the caller frees rgb and depth with free()
    int64_t stamp_ns;
    int width, height;
    uint8_t *rgb; // 3 bytes a pixel, rows from the top
    float *depth; // metres along the view; INFINITY: nothing; NULL: not asked for, or none
} pons_picture_raw;

typedef struct pons_robot_detection { // of a simulated detector
    char label[64], identity[64]; // class of an object of the world; which one, "" for not known
    double score;                 // 0 … 1
    double position[3];           // in the robot's base [m]
    double sd_m;                  // 1 sigma, in each direction
} pons_robot_detection;

typedef struct
    pons_robot_sight { // of one moment, as a camera with a detector behind it would have it
    int64_t stamp_ns;  // robot time
    char camera[64];
    double eye[3], yaw; // in the robot's base: where it is, where it looks
    double fov_rad, near_m, far_m;
    double miss; // how often it does not find what is in view
    int n;
    pons_robot_detection found[PONS_ROBOT_OBJECTS]; // (n)
} pons_robot_sight;

typedef struct pons_robot_camera_ops {
    uint32_t abi; // PONS_ROBOT_CAMERA_ABI
    // list and take: NULL, both, where there are no pictures.
    int (*list)(void *self, pons_camera_caps *ret, int cap); // the number
    // PONS_ENOTFOUND: no such camera; PONS_EENV: it cannot be used here; PONS_EIO.
    int (*take)(void *self, const char *name, bool depth, pons_picture_raw *ret, pons_error *err);

    // Since version 2. What the simulated detector has found, the newest; false: this world has none, or it has not
    // looked yet. As `scan`: from any thread, without blocking. NULL: none.
    bool (*see)(void *self, pons_robot_sight *ret);
} pons_robot_camera_ops;

PONS_C_END
