// simulated_arm.h - the arm, the gripper and the loose things of a simulated robot.
#pragma once

#include "drivers/mujoco/mjcf_world.h"
#include "drivers/sim/seqlock.h"
#include "pons/ext/robot.h"

typedef struct pons__mj_arm {
    bool there;               /* const */
    pons_arm *arm;            /* const */
    pons_robot_arm_caps caps; /* const */
    struct {
        int qpos[PONS_ARM_JOINTS], dof[PONS_ARM_JOINTS], motor[PONS_ARM_JOINTS];
        int finger_qpos[2], finger_dof[2], finger_motor[2], n_fingers;
        int body[PONS_ROBOT_OBJECTS], n_objects;
    } at;                                       /* const */
    pons_robot_object seen[PONS_ROBOT_OBJECTS]; // what is constant of them /* const */
    // What was asked, from any thread.
    pons__seqlock velocity, grip;
    // [step_lock]
    double set[PONS_ARM_JOINTS]; // where the motors hold
    double finger_set;
    double grip_width, grip_force;
    // What is seen, for any thread.
    pons__seqlock state, objects;
} pons__mj_arm;

// Reads world.robot.arm; without one nothing is there. PONS_EINVAL names the key.
int pons__mj_arm_read(pons__mj_arm *a, const pons_value *world, pons_error *err);
// Finds its joints, motors and objects in the model, and puts it at home.
int pons__mj_arm_find(pons__mj_arm *a, const mjModel *m, mjData *d, const pons_value *world,
                      pons_error *err);
void pons__mj_arm_fini(pons__mj_arm *a);
void pons__mj_arm_drive(pons__mj_arm *a, const mjModel *m, mjData *d); // before each physics step
void pons__mj_arm_publish(pons__mj_arm *a, const mjModel *m, const mjData *d, int64_t robot_ns,
                          int base_body);
int pons__mj_arm_objects(const pons__mj_arm *a, pons_robot_object *ret, int cap); // any thread
size_t pons__mj_arm_save(const pons__mj_arm *a, double *ret, size_t cap); // numbers of its state
void pons__mj_arm_load(pons__mj_arm *a, const double *from);
enum { PONS__MJ_ARM_SAVED = PONS_ARM_JOINTS + 3 };
