// arm_state.h - what the body knows of its arm: where it is, what it holds, what lies around, and how it is
// moved. The essays are in the files.
//
//   arm_state.c    opens, senses; says what is held
//   object_relations.c   relations between things: in, on, near
//   joint_trajectory.c  joint velocities that follow a way
//   tool_delta_ik.c   joints for a small motion of the tool
//   arm_planner.c   where the arm must be to take something, and ways there that touch nothing
#pragma once

#include "pons/arm.h"
#include "pons/ext/robot.h"
#include "pons/value.h"

enum { PONS__LIMB_BOXES = 24 };

typedef struct pons__surface { // a box of the map that something may lie on
    char id[64];
    pons_arm_box box; // in the robot's base
} pons__surface;

typedef enum pons__relation { PONS__NOWHERE, PONS__ON, PONS__IN, PONS__HELD } pons__relation;

typedef struct pons__limb {        // the caller's storage; the loop thread's
    const pons_robot_arm_ops *ops; // NULL: there is no arm
    void *self;
    pons_arm *model;
    pons_robot_arm_caps caps;
    const pons_value *world; // borrowed
    pons__surface surfaces[PONS__LIMB_BOXES];
    int n_surfaces;
    // sensed
    pons_robot_arm_state state;
    pons_pose3 tool;                               // in base_link's frame
    pons_robot_object objects[PONS_ROBOT_OBJECTS]; // in base_link's frame
    int n_objects;
    int held;                   // of objects; -1: none
    int in[PONS_ROBOT_OBJECTS]; // object that it is in or on; -1: none
    int on[PONS_ROBOT_OBJECTS]; // surface that it is on; -1: none
    pons__relation relation[PONS_ROBOT_OBJECTS];
    // what was asked of the gripper last
    double grip_width, grip_force;
    uint64_t grips; // rises with every wish
} pons__limb;

// Without an arm *h stays zero. PONS_EINVAL: its description; PONS_ENOMEM.
int pons__limb_open(pons__limb *h, const pons_robot_ops *robot, void *self, const pons_value *world,
                    pons_error *err);
void pons__limb_close(pons__limb *h);
void pons__limb_sense(pons__limb *h);
void pons__limb_grip(pons__limb *h, double width_m, double force_n); // a wish, for the gate
// By id, or by a name of the world's, whatever its letters' case; -1: none is seen.
int pons__limb_find(const pons__limb *h, const char *name);
// A surface, the same way.
int pons__limb_surface(const pons__limb *h, const char *name);
bool pons__limb_full(const pons__limb *h); // something is between the fingers, known or not

// object_relations.c
void pons__scene_relate(pons__limb *h);
pons_value *pons__scene_value(const pons__limb *h, pons_pose2 base_in_map); // NULL: no memory
pons_value *pons__limb_value(const pons__limb *h, const char *zone, const double *out);
pons_value *pons__limb_embodiment(const pons__limb *h, const char *robot_id, double radius_m);

// joint_trajectory.c: a way, followed at the control rate. At most PONS__LEGS straight pieces.
enum { PONS__LEGS = 6 };
typedef struct pons__leg {
    bool line; // the tool goes straight to `to`; else the joints to q
    double q[PONS_ARM_JOINTS];
    pons_pose3 to;
    double mps; // of a line
} pons__leg;
typedef enum pons__motion3_status {
    PONS__MOVING,
    PONS__MOVED,
    PONS__BLOCKED,
    PONS__NO_REACH
} pons__motion3_status;
typedef struct pons__way3 {
    pons__leg legs[PONS__LEGS];
    int n, at;
    bool begun; // the leg
    double from[PONS_ARM_JOINTS], want[PONS_ARM_JOINTS];
    pons_pose3 from_tool;
    double gone_s, needs_s; // of the leg
    double blocked_s;
} pons__way3;
void pons__way_clear(pons__way3 *w);
bool pons__way_joints(pons__way3 *w, const double *q); // false: no room for a further leg
bool pons__way_line(pons__way3 *w, const pons_pose3 *to, double mps);
void pons__way_again(pons__way3 *w); // from where the arm is now, after a hold
pons__motion3_status pons__way_step(pons__way3 *w, const pons__limb *h, double dt_s,
                                    double *ret_qd);

// tool_delta_ik.c: the tool's pose (in the frame of the link `base`) and the joints that reach it, moved by x, y, z [m], roll,
// pitch, yaw [rad] along the axes of the base, or of the tool. False: no joints near q reach it, or not within the period;
// both stay, and why says so behind "action N ".
bool pons__tool_delta(const pons_arm *model, const double delta[6], bool in_tool, double period_s,
                      pons_pose3 *tool, double *q, char *why, size_t cap);

// arm_planner.c
// Configurations with the tool at `at` and above it by `above_m`, the one over the other. any: also
// turned about z by multiples of that; 0: as it is. margin: to what stands. PONS_ENOTFOUND.
int pons__reach(const pons__limb *h, const pons_pose3 *at, double above_m, double turn_rad,
                double *ret_above, double *ret_at, pons_error *err);
// Legs from here to q that touch nothing: straight, or by way of up and of home. Things but `but`
// (-1: none) are in the way too. PONS_ENOTFOUND.
int pons__way_to(const pons__limb *h, const double *q, int but, pons__way3 *ret, pons_error *err);
