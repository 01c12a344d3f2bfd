// geometry.h - planar poses and scans. Frames as in ROS REP 105: map → odom → base; x forward, y
// left, yaw counter-clockwise; metres, radians, seconds.
#pragma once

#include "pons/linkage.h"
#include "pons/value.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

PONS_C_BEGIN

#ifndef M_PI
#define M_PI 3.14159265358979323846
#endif

typedef struct pons_pose2 {
    double x, y; // [m]
    double yaw;  // [rad], (-π, π]
} pons_pose2;

typedef struct pons_twist2 { // in base
    double v;                // forward [m/s]
    double w;                // counter-clockwise [rad/s]
} pons_twist2;

#define PONS_SCAN_MAX 360

typedef struct pons_scan {       // sensor_msgs/LaserScan's meaning
    int64_t stamp_ns;            // robot time
    int n;                       // beams in use, ≤ PONS_SCAN_MAX
    float angle_min;             // of beam 0 [rad]
    float angle_increment;       // [rad]
    float range_min, range_max;  // [m]; a beam with no return reads INFINITY
    float ranges[PONS_SCAN_MAX]; // (n) [m]
    pons_pose2 from; // in base: where the beams begin and angle 0 looks; zero: the middle, ahead
} pons_scan;

static inline double pons_wrap_angle(double a) // to (-π, π]
{
    a = fmod(a + M_PI, 2.0 * M_PI);
    return a <= 0.0 ? a + M_PI : a - M_PI;
}

// a ∘ b: the pose b, given in a's frame, in the frame that a is given in.
static inline pons_pose2 pons_pose_compose(pons_pose2 a, pons_pose2 b)
{
    const double c = cos(a.yaw), s = sin(a.yaw);
    const pons_pose2 sum = {a.x + c * b.x - s * b.y, a.y + s * b.x + c * b.y,
                            pons_wrap_angle(a.yaw + b.yaw)};
    return sum;
}

static inline pons_pose2 pons_pose_inverse(pons_pose2 a)
{
    const double c = cos(a.yaw), s = sin(a.yaw);
    const pons_pose2 back = {-c * a.x - s * a.y, s * a.x - c * a.y, -a.yaw};
    return back;
}

// b in a's frame.
static inline pons_pose2 pons_pose_between(pons_pose2 a, pons_pose2 b)
{
    return pons_pose_compose(pons_pose_inverse(a), b);
}

typedef struct pons_box2 { // a rectangle on the floor
    double x, y, yaw;      // of its centre
    double sx, sy;         // full sizes along its own axes [m]
} pons_box2;

// Distance from a point to the box [m]; zero inside.
static inline double pons_box2_distance(const pons_box2 *b, double x, double y)
{
    const double c = cos(b->yaw), s = sin(b->yaw), dx = x - b->x, dy = y - b->y;
    const double ox = fmax(fabs(c * dx + s * dy) - 0.5 * b->sx, 0.0);
    const double oy = fmax(fabs(c * dy - s * dx) - 0.5 * b->sy, 0.0);
    return hypot(ox, oy);
}

// Whether a straight line between two points meets no box, each as high as heights has it, from the floor up. A box whose
// floor plan holds `to` does not count: it carries it. Any thread.
bool pons_boxes_clear(const pons_box2 *boxes, const double *heights, size_t n, const double from[3],
                      const double to[3]);

// Draws boxes [{x, y, yaw, sx, sy}] into a grid (h, w) from its lower left corner on: 100 where one comes within half a
// cell of a cell's middle, and where its own middle is, so that none is too small to be seen. Any thread.
void pons_boxes_draw(const pons_value *boxes, const double origin[2], double cell, int w, int h,
                     int8_t *cells);

// Whether a point lies in a polygon [[x,y],…] (crossing number; a point on an edge may fall on
// either side). False for fewer than three corners. Any thread.
bool pons_polygon_contains(const pons_value *polygon, double x, double y);
double pons_polygon_distance(const pons_value *polygon, double x,
                             double y); // to its edge [m]; 0 inside. Any thread

PONS_C_END
