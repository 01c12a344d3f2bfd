// ext/detector.h - the contract of a detector: what a picture shows, and where in it.
//
// A detector is a module `detector-KIND.so` (pons/module.h). `pons sight detect NAME` loads it in a process of its own, one
// a detector of config/sight.yaml, and gives it one picture after the other:
//
//     open --> detect, detect, … --> close
//
// It may take its time, its memory and its threads: nobody else waits for that process. One that takes longer than
// `limit_s` is killed and started again, as is one that dies. Standard output is taken: what a library prints there goes
// to standard error, which is run/detect-NAME.log.
//
// Threads: all members are called by one thread, one call at a time. They may block and do I/O.
#pragma once

#include "pons/error.h"
#include "pons/ext/arm.h"
#include "pons/linkage.h"
#include "pons/value.h"

#include <stddef.h>

PONS_C_BEGIN

#define PONS_DETECTOR_ABI 1u

enum {
    PONS_DETECTED_MAX = 256,                // of one picture
    PONS_DETECTED_TEXT = 64,                // bytes of a label or an identity, with the zero
    PONS_DETECTOR_PIXELS = 16 * 1024 * 1024 // of a picture; a larger one is not given to a detector
};

// A pinhole camera as OpenCV and sensor_msgs/CameraInfo (plumb_bob) have it; pixels of the picture it comes with.
typedef struct pons_lens {
    double fx, fy, cx, cy; // [px]; fx, fy > 0. The middle of the first pixel is 0.5, 0.5
    double distortion[5];  // k1, k2, p1, p2, k3; zeroes: none
} pons_lens;

// Through a pixel, without the distortion: x and y at z = 1 of the optical frame. The model's inverse has no formula; ten
// rounds find its fixed point for any lens that is not a fish-eye.
static inline void pons_lens_ray(const pons_lens *lens, double u, double v, double ret[2])
{
    const double *k = lens->distortion, x = (u - lens->cx) / lens->fx,
                 y = (v - lens->cy) / lens->fy;
    double a = x, b = y;
    for (int i = 0; i < 10; i++) {
        const double r2 = a * a + b * b, radial = 1.0 + r2 * (k[0] + r2 * (k[1] + r2 * k[4]));
        const double da = 2.0 * k[2] * a * b + k[3] * (r2 + 2.0 * a * a);
        const double db = k[2] * (r2 + 2.0 * b * b) + 2.0 * k[3] * a * b;
        a = (x - da) / radial;
        b = (y - db) / radial;
    }
    ret[0] = a;
    ret[1] = b;
}

typedef struct pons_detected {
    char label[PONS_DETECTED_TEXT];    // what it is, UTF-8: "cup"; not empty
    char identity[PONS_DETECTED_TEXT]; // which one of its kind: "tag36h11:7"; "": not known
    double score;                      // 0 … 1
    double box[4]; // left, top, width, height [px]; may reach beyond the picture
    bool posed;    // the rest is known
    // Of the thing in the camera's optical frame (x right, y down, z ahead): its middle [m], the rotation of its own axes as
    // a unit quaternion x, y, z, w; and 1 sigma, of the distance and of the rotation.
    double position[3], quaternion[4];
    double sd_m, sd_rad;
} pons_detected;

typedef struct pons_detector_ops {
    uint32_t abi; // PONS_DETECTOR_ABI
    // config: the detector's entry of config/sight.yaml, valid during the call; relative paths in it are the workspace's,
    // which is the working directory. *ret_self is given back to close. PONS_EINVAL: a value in it, named; PONS_ENOTFOUND: a file;
    // PONS_EENV: a library cannot be used here.
    int (*open)(const pons_value *config, void **ret_self, pons_error *err);
    // What is in the picture, best first where there are more than PONS_DETECTED_MAX, which ret has room for. *ret_n: how
    // many it wrote. The picture is the caller's, at least 1 × 1 and at most PONS_DETECTOR_PIXELS; depth may be NULL. What it
    // writes is checked: a number that is not finite, or a box outside, is dropped with a line. An error is of this
    // picture; the next one is tried. PONS_EIO: what it asks did not answer; PONS_ENOMEM.
    int (*detect)(void *self, const pons_picture_raw *picture, const pons_lens *lens,
                  pons_detected ret[PONS_DETECTED_MAX], size_t *ret_n, pons_error *err);
    void (*close)(void *self); // NULL-safe
    // Optional. What a thing of this identity looks like, for printing and for simulated worlds; ret->rgb is the
    // caller's to free. Needs no open. PONS_ENOTFOUND: there is none.
    int (*draw)(const char *identity, pons_picture_raw *ret, pons_error *err);
} pons_detector_ops;

PONS_C_END
