// model.h - between the MuJoCo robot's motion (mujoco.c) and its model (model.c).
#ifndef PONS_DRIVERS_MUJOCO_INTERNAL_H
#define PONS_DRIVERS_MUJOCO_INTERNAL_H

#include "pons/value.h"

#include <mujoco/mujoco.h>

enum {
    PONS__MJ_ERROR_BYTES = 512, // of MuJoCo's explanation of a bad model
    PONS__MJ_PATH_BYTES = 4096
};

// Where a world's model comes from: its own MJCF file, or one that is made of its boxes.
typedef struct pons__mj_source {
    char path[PONS__MJ_PATH_BYTES]; // of the file; for a made one, what errors should call it
    mjVFS *vfs;                     // the made one and what it includes; NULL: from the disk
} pons__mj_source;

// PONS_ENOMEM; PONS_EENV when robot.xml, which a made model includes, is not installed.
int pons__mj_source_init(pons__mj_source *s, const pons_value *world, pons_error *err);
void pons__mj_source_fini(pons__mj_source *s); // after a zeroing too

// Loads; NULL with an explanation in `why`. May leave by MuJoCo's error handler.
mjModel *pons__mj_source_load(const pons__mj_source *s, char why[PONS__MJ_ERROR_BYTES]);

#endif
