// which_robot.h - which robot a command means, and whether the body of this workspace is that one.
//
// A command never moves a robot that it does not mean. It means the driver and the world that it names; what it does not
// name is said by `robot` of the workspace's config.json, else it is the simulated robot in the house.
#pragma once

#include "app/workspace/context.h"
#include "pons/body.h"

typedef struct app_robot {
    char driver[PONS_NAME_MAX], world[PATH_MAX]; // as they are typed; a path is absolute
    char world_file[PATH_MAX];                   // absolute
    char world_id[PONS_WORLD_ID_MAX];            // of that file as it is now
    char world_name[PONS_NAME_MAX];              // that it gives itself
    bool charger;                                // there is one in it
    bool kept;     // by a thread or a record, and no option changes it
    bool fallback; // nobody named a driver, and the usual one is not installed
} app_robot;

#define APP_DRIVER_USUAL "mujoco" // where its module is installed, else kinematic
#define APP_WORLD_USUAL  "house"

// The driver of who names none: with physics where that module is installed, else the one that is built in.
const char *app_driver_usual(void);

// driver, world: of a thread or a record that has its own; NULL: as typed. PONS_EINVAL: there is no such world.
int app_robot_meant(const app_context *c, const char *driver, const char *world, app_robot *ret,
                    pons_error *err);

// Which of the driver's robots the workspace means: {robot?, file?, id?, says?}. robot: config.json's robot.id; file:
// config/DRIVER.yaml, id: of what it says, comments aside, with what the environment says instead; says: of that what a
// person knows the robot by, "domain 77, namespace r1".
int app_robot_config(const app_context *c, const char *driver, pons_value **ret, pons_error *err);

// Connects to run/body.sock. PONS_ENOTFOUND, PONS_ECLOSED: no body is there; PONS_EAGAIN: it is not ready yet;
// PONS_EINVAL: it is another robot's, and the error names both and what to type. Never blocks on the body.
int app_robot_connect(const app_context *c, const app_robot *meant, pons_link **ret,
                      pons_error *err);

bool app_no_body(int rc); // of that, and of a stop that is sent: there is no robot

// The same as a look before anything is done: PONS_OK also when no body is there.
int app_robot_check(const app_context *c, const app_robot *meant, pons_error *err);

// The same where the robot is only one of the things that a command works with: another robot than one that was typed is
// an error, any other is told and left alone.
int app_robot_offered(const app_context *c, app_robot *ret, pons_error *err);

// What run/body.json says, also of a body that has died; NULL: nothing. The caller's.
pons_value *app_robot_reported(const app_context *c);
// Of that, what app_world() takes: the world's file, else its name; NULL: neither.
const char *app_robot_world(const pons_value *reported);
// "mujoco pons-1 in house, since 15:04:05": of a hello of the body, of run/body.json, or of `body` in a status.
const char *app_robot_line(const pons_value *reported, char *ret, size_t cap);
