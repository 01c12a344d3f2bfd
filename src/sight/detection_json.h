// detection_json.h - what a detector's process prints, a line a picture.
//
//     {"stamp_ns", "wall", "width", "height", "took_ms", "found": [{"label", "identity", "score", "box": [left, top,
//      width, height], "depth_m"?, "depth_sd_m"?, "pose"?: [x, y, z, qx, qy, qz, qw, sd_m, sd_rad]}], "picture": its name in run/seen or "", "refused": why some
//      are left out, "view"?: {"eye": [3], "axes": [9], "lens": [fx, fy, cx, cy, k1, k2, p1, p2, k3]}, of a camera that says where it was}
//     {"error": why there is no picture, or nothing was found out about it}      {"waits": true}: no newer picture yet
#pragma once

#include "pons/ext/camera.h"
#include "pons/picture.h"

typedef struct pons__boxed { // a detection, with what the picture's depth says of it
    pons_detected what;
    double depth_m, depth_sd_m; // along the view; NAN: not known
} pons__boxed;

typedef struct pons__detector_line {
    int64_t stamp_ns; // 0: no picture
    bool wall;        // the stamp is the wall clock's [ns since 1970]; else the robot's
    int width, height;
    double took_ms;
    size_t n;
    pons__boxed found[PONS_DETECTED_MAX];
    char picture[PONS_PICTURE_NAME]; // of the picture that was kept; "": none
    pons_camera_view view;           // its lens is read with its place alone
    char error[160];                 // or what is left out of found; "": nothing to say
} pons__detector_line;

// Why it is no detection in a picture of that size; NULL: it is one. Static storage.
const char *pons__detected_wrong(const pons_detected *d, int width, int height);
// What the depth of the picture says of its middle: the median and its spread.
void pons__boxed_depth(pons__boxed *b, const pons_picture_raw *picture);
// The line as JSON without its end, to be freed; NULL: no memory.
char *pons__detector_line_text(const pons__detector_line *line);
// Reads one, and checks all of it. PONS_EPROTOCOL: it is none.
int pons__detector_line_read(const char *text, size_t n, pons__detector_line *ret, pons_error *err);
