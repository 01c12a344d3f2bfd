// ext/camera.h - the contract of cameras that come with a robot's own software: the module `camera-DRIVER.so` has those
// of the driver of that name.
//
// It is loaded by the processes that want pictures (`pons body camera`, `pons sight detect`), never by the body: a
// picture may take long. The module only listens. The world lists the cameras; the driver's configuration says where
// their pictures come from.
//
// Threads: all members are called by one thread, one call at a time. They may block and do I/O.
#pragma once

#include "pons/error.h"
#include "pons/ext/detector.h"
#include "pons/linkage.h"

PONS_C_BEGIN

#define PONS_CAMERA_ABI 1u

typedef struct pons_camera_options { // strings are borrowed for the call of open
    const char *workspace;           // whose config/ comes before the installed one
    const char *camera;              // its name in the world
    bool depth;                      // pictures are wanted with their depth alone
    bool view;                       // and with their view alone
} pons_camera_options;

typedef struct pons_camera_view { // of the picture's time, not of now
    bool placed;                  // where it was is known: the rest but lens is set
    double eye[3], axes[9]; // in the robot's base: eye [m]; row-major, columns right, down, ahead
    bool calibrated;        // lens is set
    pons_lens lens;         // for pictures of this size
    char why[128];          // what of the calibration cannot be used; "": nothing
} pons_camera_view;

typedef struct pons_camera_picture {
    pons_picture_raw
        raw; // stamp_ns: robot time as the body has it, > 0; the caller frees rgb and depth
    pons_camera_view view; // where `view` was asked for
} pons_camera_picture;

typedef struct pons_camera_ops {
    uint32_t abi; // PONS_CAMERA_ABI
    const char *name;
    // PONS_EINVAL: the configuration, with file:line:col; PONS_ENOTFOUND: it has no such camera, or that has no depth;
    // PONS_EENV: others cannot be reached.
    int (*open)(const pons_camera_options *o, void **ret, pons_error *err);
    void (*close)(void *self); // NULL-safe
    // The newest picture that is newer than the last one, waited for: some seconds for the first, a second for others.
    // 1: *ret is one; 0: none came. An error says why there is none or why one was left out, each kind at once, then
    // no more than once a minute, with how many there were; between that is 0.
    int (*next)(void *self, pons_camera_picture *ret, pons_error *err);
} pons_camera_ops;

PONS_C_END
