// arm.h - what an arm is made of, where its hand is, and how it gets somewhere.
//
// One description, a URDF file, is the truth about an arm: the body plans with it, the safety gate
// keeps its links off the table with it, and the simulated robot's model is made of it. So a real arm
// of which there is a URDF is driven by the same code; nothing here asks a simulator anything.
//
// Read of URDF: links (inertial, collision), joints (fixed, revolute, continuous, prismatic) with
// origin, axis, limit, mimic. Collision shapes are spheres, boxes and cylinders; a cylinder counts as
// a capsule of its length and radius. What else a file has (visual, transmission, …) is passed over.
//
// The *chain* is the joints that move between the links `base` and `tool`, in that order: a
// configuration q has one number for each. Other joints that move (fingers) belong to the gripper.
//
// Metres, radians, newtons; frames of links as in URDF. Immutable after the load: any thread.
#pragma once

#include "pons/error.h"
#include "pons/ext/arm.h"
#include "pons/linkage.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

PONS_C_BEGIN

enum {                   // and PONS_ARM_NAME, PONS_ARM_JOINTS
    PONS_ARM_LINKS = 24, // and joints: one less
    PONS_ARM_SHAPES = 6, // of a link
    PONS_ARM_SAMPLES = 160
};

pons_pose3 pons_pose3_identity(void);
pons_pose3 pons_pose3_of(double x, double y, double z, double roll, double pitch, double yaw);
pons_pose3 pons_pose3_compose(const pons_pose3 *a, const pons_pose3 *b); // a∘b
pons_pose3 pons_pose3_inverse(const pons_pose3 *a);
void pons_pose3_point(const pons_pose3 *a, const double p[3], double ret[3]); // of a's frame
void pons_pose3_rpy(const pons_pose3 *a, double ret[3]);                      // roll, pitch, yaw
// The rotation that leads from a to b, as axis times angle, in the common parent.
void pons_pose3_turn(const pons_pose3 *a, const pons_pose3 *b, double ret[3]);

typedef enum pons_arm_shape_kind {
    PONS_ARM_SPHERE,  // size: radius
    PONS_ARM_CAPSULE, // size: radius, length of the straight part, along z
    PONS_ARM_BOX      // size: full lengths
} pons_arm_shape_kind;

typedef struct pons_arm_shape {
    pons_arm_shape_kind kind;
    double size[3];
    pons_pose3 at; // in its link
} pons_arm_shape;

typedef struct pons_arm_link {
    char name[PONS_ARM_NAME];
    int joint;                 // that carries it; -1: the root
    double mass;               // 0: no inertial
    double com[3], inertia[3]; // centre; diagonal, along the link's axes
    int n_shapes;
    pons_arm_shape shapes[PONS_ARM_SHAPES];
} pons_arm_link;

typedef enum pons_arm_joint_kind {
    PONS_ARM_FIXED,
    PONS_ARM_REVOLUTE,
    PONS_ARM_PRISMATIC
} pons_arm_joint_kind;

typedef struct pons_arm_joint {
    char name[PONS_ARM_NAME];
    pons_arm_joint_kind kind;
    int parent, child;   // links
    pons_pose3 at;       // of the child's frame at 0, in the parent
    double axis[3];      // in the child's frame; of length 1
    double lower, upper; // [rad or m]; a continuous joint: ±∞
    double speed_max;    // [rad/s or m/s]
    double effort_max;   // [Nm or N]
    int mimic;           // the joint that it follows; -1: none
    double multiplier;   // times that one's position
    int place;           // in the chain; -1: none
} pons_arm_joint;

typedef struct pons_arm_sample { // a ball that stands for a part of a link
    int link;
    double p[3], r; // in the link
} pons_arm_sample;

typedef struct pons_arm {
    char name[PONS_ARM_NAME];
    int n_links, n_joints;
    pons_arm_link links[PONS_ARM_LINKS];
    pons_arm_joint joints[PONS_ARM_LINKS]; // parents before children
    int base, tool;                        // links
    int n;                                 // of the chain
    int chain[PONS_ARM_JOINTS];            // joints
    int path[PONS_ARM_LINKS], n_path;      // all joints from base to tool
    int n_samples;
    pons_arm_sample samples[PONS_ARM_SAMPLES];
} pons_arm;

// PONS_ENOTFOUND and PONS_EINVAL name file:line:col where there is one. To be destroyed.
int pons_arm_load(const char *path, const char *base, const char *tool, pons_arm **ret,
                  pons_error *err);
void pons_arm_destroy(pons_arm *a); // NULL-safe

const pons_arm_joint *pons_arm_joint_of(const pons_arm *a, int place);   // of the chain
int pons_arm_find_link(const pons_arm *a, const char *name);             // -1: none
int pons_arm_find_joint(const pons_arm *a, const char *name);            // -1: none
bool pons_arm_within(const pons_arm *a, const double *q, double margin); // finite, in the limits
void pons_arm_clamp(const pons_arm *a, double *q);

// The tool in the frame of the link `base`.
void pons_arm_forward(const pons_arm *a, const double *q, pons_pose3 *ret_tool);
// All links in the frame of the link `base`: ret[n_links]. Joints beyond the chain are at `others`
// (the gripper's opening, for each finger), clamped to their limits.
void pons_arm_frames(const pons_arm *a, const double *q, double others, pons_pose3 *ret);
// ret[6][n], row-major: linear above angular velocity of the tool, in the frame of `base`.
void pons_arm_jacobian(const pons_arm *a, const double *q, double *ret);

typedef struct pons_arm_ik_options {
    double position_m; // how near is near enough
    double angle_rad;
    int iterations;      // of one start
    int starts;          // the given configuration, rest, and further ones
    const double *rest;  // where spare freedom goes; NULL: the middle of the joints' ranges
    double limit_margin; // kept from the joints' limits [rad or m]
    bool any_yaw;        // the turn about the tool's own z does not matter
} pons_arm_ik_options;
#define PONS_ARM_IK_OPTIONS_INIT                                                                   \
    {                                                                                              \
        .position_m = 2e-4, .angle_rad = 1e-3, .iterations = 120, .starts = 12,                    \
        .limit_margin = 0.01                                                                       \
    }

// A configuration that puts the tool there, from `from`: damped least squares, what is left of the
// freedom towards rest. PONS_ENOTFOUND: none was found, *ret as it was, with how near it came in the
// message; PONS_EINVAL: a number is none.
int pons_arm_inverse(const pons_arm *a, const pons_pose3 *target, const double *from,
                     const pons_arm_ik_options *o, double *ret, pons_error *err);
// One step of that from q towards the target: never further than step_max in any joint. Returns what
// is left, in metres, a radian counting as much.
double pons_arm_towards(const pons_arm *a, const pons_pose3 *target, const pons_arm_ik_options *o,
                        double step_max, double *q);

// ---- clearance ----------------------------------------------------------------------------------

typedef struct pons_arm_box { // in the frame of the link `base`, turned about z
    double x, y, z, yaw;      // its middle
    double half[3];
} pons_arm_box;

typedef struct pons_arm_room {
    const pons_arm_box *boxes; // what stands
    int n;
    double floor;  // the z of the floor; -INFINITY: none
    double others; // the gripper's opening, for pons_arm_frames
} pons_arm_room;

// The smallest distance between the arm and what stands, and between links of the arm that are not
// neighbours; negative: inside. *ret_self, unless NULL: it is the arm's own. No allocation.
double pons_arm_clearance(const pons_arm *a, const double *q, const pons_arm_room *room,
                          bool *ret_self);

static inline void pons_arm_cleanup(pons_arm **a)
{
    pons_arm_destroy(*a);
}
#define pons_autoarm __attribute__((cleanup(pons_arm_cleanup))) pons_arm *

PONS_C_END
