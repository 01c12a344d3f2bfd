// mjcf_world.h - between the MuJoCo robot's motion (mujoco.c) and its model (mjcf_world.c).
#pragma once

#include "pons/arm.h"
#include "pons/value.h"

#include <mujoco/mujoco.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
    PONS__MJ_ERROR_BYTES = 512, // of MuJoCo's explanation of a bad model
    PONS__MJ_PATH_BYTES = 4096,
    PONS__MJ_POOL = 16 // obstacles that wait
};
#define PONS__MJ_FINGER_KP 800.0 // [N/m]

// Where a world's model comes from: its own MJCF file, or one that is made of its boxes.
typedef struct pons__mj_source {
    char path[PONS__MJ_PATH_BYTES]; // of the file; for a made one, what errors should call it
    mjVFS *vfs;                     // the made one and what it includes; NULL: from the disk
} pons__mj_source;

// With an arm (NULL: none) the robot stands; only robot.xml's own robot needs that file; seed: of where objects begin.
// PONS_ENOMEM; PONS_EENV when robot.xml, which a made model includes, is not installed.
int pons__mj_source_init(pons__mj_source *s, const pons_value *world, uint64_t seed,
                         const pons_arm *arm, const pons_pose3 *mount, pons_error *err);
void pons__mj_source_fini(pons__mj_source *s); // after a zeroing too

// Loads; NULL with an explanation in `why`. May leave by MuJoCo's error handler.
mjModel *pons__mj_source_load(const pons__mj_source *s, char why[PONS__MJ_ERROR_BYTES]);

// arm_model.c: the model of a robot that stands and has an arm, up to the world's own bodies; the rest.
void pons__mj_arm_head(FILE *out, const pons_value *world, const pons_arm *a,
                       const pons_pose3 *mount);
void pons__mj_arm_tail(FILE *out, const pons_arm *a);

// mjcf_cameras.c: whether simulated cameras are on this link ("": the room), and these in the model; lift: how far the
// link's frame in the model is above the world's [m].
bool pons__mj_camera_on(const pons_value *world, const char *on);
void pons__mj_cameras_write(FILE *out, const pons_value *world, const char *on, double lift);

// robot_model.c: is the world's robot the one of robot.xml; and a model of any other differential drive.
bool pons__mj_robot_is_usual(const pons_value *world);
void pons__mj_robot_write(FILE *out, const pons_value *world);

// loose_objects.c: object `index` of a world: its body, where it begins with this seed, its shape.
void pons__mj_object_write(FILE *out, const pons_value *world, size_t index, uint64_t seed);
// Its texture's name in the model; "": it has none.
void pons__mj_object_texture(const pons_value *world, size_t index, char ret[32]);
void pons__mj_object_place(const pons_value *world, size_t index, uint64_t seed, double ret[3]);
pons_robot_shape pons__mj_object_shape(const pons_value *object, double ret_half[3]);
