// arm_common.h - what the skills of an arm have in common: arm_common.c.
#pragma once

#include "body/skills/skills.h"

// Where the tool is when it takes a thing from above, and by how much it may turn about its axis: a
// step of the turns that are as good, 0: none is. false: the gripper is too small for it.
bool pons__arm_grasp(const pons__limb *h, int object, pons_pose3 *ret, double *ret_turn);
pons_pose3 pons__arm_down(double x, double y, double z, double yaw); // the tool looks down
double pons__arm_yaw(const pons__limb *h);                           // of the tool that looks down

// One step of the way: writes the velocities; DONE of the way is true. Fails the skill where the arm
// is blocked or a line has no configuration.
bool pons__arm_go(pons__skill_run *r, const pons__skill_env *env, pons__skill_output *ret);
void pons__arm_up(pons__skill_run *r, const pons__skill_env *env, double m); // the way: straight up
double pons__arm_step_s(pons__skill_run *r, const pons__skill_env *env);     // since the last step
bool pons__arm_lost(pons__skill_run *r, const pons__skill_env *env, int object); // no longer held
void pons__arm_fail(pons__skill_output *ret, int rc, const pons_error *err);
void pons__arm_resume(pons__skill_run *r, const pons__skill_env *env);
// The thing that the argument names: a refusal, where none is seen.
bool pons__arm_names(const pons_value *args, const char *key, const pons__skill_env *env,
                     int *ret_object, pons__skill_refusal *ret);

#define PONS__ARM_ERROR_MAP                                                                        \
    "{\"1001\":\"abort\",\"1002\":\"retry\",\"1003\":\"retry\",\"1004\":\"abort\","                \
    "\"1005\":\"replan\",\"1006\":\"ask_human\",\"1007\":\"retry\",\"1008\":\"retry\","            \
    "\"1009\":\"retry\",\"1010\":\"ask_human\",\"9901\":\"retry\",\"9902\":\"ask_human\","         \
    "\"9903\":\"replan\",\"default\":\"retry\"}"
