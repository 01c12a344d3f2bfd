// camera_view.h - a camera of a world: where it is, how it looks, and which way a pixel of its picture lies.
#pragma once

#include "pons/ext/detector.h"

typedef struct pons__camera {
    bool on_base;            // eye and axes are in the robot's base; else in the map
    double eye[3];           // [m]
    double axes[9];          // row-major; columns: right, down, ahead
    const pons_value *entry; // of the world, borrowed
} pons__camera;

// The camera of this name. PONS_ENOTFOUND: the world has none; PONS_EINVAL: it has no `at` and `look_at`, or is on a link
// that moves against the base.
int pons__camera_of(const pons_value *world, const char *name, pons__camera *ret, pons_error *err);
// What draws its pictures: the entry's `lens`, scaled to a picture of this size, else that of `fovy_deg`.
pons_lens pons__camera_lens(const pons_value *entry, int width, int height);
// The pixel of a point of the optical frame, distortion left out; false: it is behind.
bool pons__lens_pixel(const pons_lens *lens, const double p[3], double ret[2]);
