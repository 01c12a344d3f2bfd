// box_position.h - where the thing in a box of a picture is, and how well that is known.
//
//     its own pose (a tag) | the picture's depth | the lidar in that bearing | the floor under the box's lower edge
//
// Each gives a distance along the box's middle ray with its own uncertainty; across the ray it is that of the box. What
// the last three meet is the thing's front: its middle lies behind, by half of its smaller side.
#pragma once

#include "pons/geometry.h"
#include "sight/camera_view.h"
#include "sight/detection_json.h"

typedef struct pons__placed {
    double position[3]; // in the frame of the camera's eye and axes [m]
    double cov[9];      // [m²], row-major, 1 sigma
    const char *by;     // "pose", "depth", "lidar", "floor"
} pons__placed;

// scan: of the picture's time, NULL: none, or the camera stands in the room. far_m: things are within that. false, and why
// (static): nothing says how far it is.
bool pons__box_place(const pons__camera *camera, const pons_lens *lens, int height,
                     const pons__boxed *box, const pons_scan *scan, double far_m, pons__placed *ret,
                     const char **why);
