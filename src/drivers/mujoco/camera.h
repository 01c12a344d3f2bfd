// camera.h - pictures of a simulated world, without a screen.
#pragma once

#include "drivers/mujoco/mjcf_world.h"
#include "pons/ext/arm.h"

#include <pthread.h>

typedef struct pons__mj_eyes pons__mj_eyes; // NULL: nothing was drawn yet

// The cameras of the world that are of the simulation.
int pons__mj_cameras(const pons_value *world, pons_camera_caps *ret, int cap);
// Draws what the camera sees; *eyes is made at the first time. The lock is held while the scene is
// read, not while it is drawn. One call at a time; may leave by MuJoCo's error handler.
int pons__mj_take(pons__mj_eyes **eyes, const mjModel *m, mjData *d, pthread_mutex_t *lock,
                  const pons_camera_caps *camera, bool depth, pons_picture_raw *ret,
                  pons_error *err);
void pons__mj_eyes_close(pons__mj_eyes *eyes); // NULL-safe
