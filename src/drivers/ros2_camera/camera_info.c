// camera_info.c - see camera_info.h.
//
// ROS's models of a lens bend a ray by a factor f(r) of its distance r from the axis at z = 1, and decenter it by p1, p2:
//
//     plumb_bob            f = 1 + k1 r^2 + k2 r^4 + k3 r^6
//     rational_polynomial  f = (1 + k1 r^2 + k2 r^4 + k3 r^6) / (1 + k4 r^2 + k5 r^4 + k6 r^6)
//
// pons_lens is the first. The second is turned into it by least squares over what the picture shows, in pixels; where
// that is more than a pixel off, and of any other model, the distortion is left out and named.
#include "drivers/ros2_camera/camera_info.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SAMPLES = 64, PLUMB_BOB = 5, RATIONAL = 8 }; // coefficients of the models
static const double FAR_R = 3.0;  // 72 degrees from the axis: no pinhole is near it
static const double OFF_PX = 1.0; // by which a lens may be off

static double factor(const double d[RATIONAL], double r)
{
    const double r2 = r * r;
    return (1.0 + r2 * (d[0] + r2 * (d[1] + r2 * d[4]))) /
           (1.0 + r2 * (d[5] + r2 * (d[6] + r2 * d[7])));
}

static double det3(double m[3][3])
{
    return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
           m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
           m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

// The k of 1 + k1 r^2 + k2 r^4 + k3 r^6 that is nearest to f up to r_max, each error weighed by r as the picture does.
static void fit(const double d[RATIONAL], double r_max, double k[3])
{
    double a[3][3] = {{0.0}}, b[3] = {0.0};
    for (int i = 1; i <= SAMPLES; i++) {
        const double r = r_max * i / SAMPLES, off = r * (factor(d, r) - 1.0);
        const double v[3] = {pow(r, 3.0), pow(r, 5.0), pow(r, 7.0)};
        for (int x = 0; x < 3; x++) {
            b[x] += v[x] * off;
            for (int y = 0; y < 3; y++) {
                a[x][y] += v[x] * v[y];
            }
        }
    }
    for (int x = 0; x < 3; x++) { // Cramer's rule
        double with[3][3];
        memcpy(with, a, sizeof with);
        for (int y = 0; y < 3; y++) {
            with[y][x] = b[y];
        }
        k[x] = det3(with) / det3(a);
    }
}

// Whether the lens's distortion became the model's: a ray through the pixel that the model says leads back, to a pixel.
static bool turn(const double d[RATIONAL], const ros2_calibration *c, double k[3])
{
    const pons_lens *l = &c->lens;
    const double bent = hypot(fmax(l->cx, c->width - l->cx) / l->fx,
                              fmax(l->cy, c->height - l->cy) / l->fy); // in the farthest corner
    double r_max = 0.0;
    for (double f = 1.0; r_max < FAR_R && r_max * f < bent; f = factor(d, r_max)) {
        r_max += bent / SAMPLES;
    }
    fit(d, r_max, k);
    const pons_lens turned = {.fx = l->fx, .fy = l->fy, .distortion = {k[0], k[1], 0.0, 0.0, k[2]}};
    for (int i = 0; i <= SAMPLES; i++) {
        const double r = r_max * i / SAMPLES;
        double ray[2];
        pons_lens_ray(&turned, l->fx * r * factor(d, r), 0.0, ray);
        if (!(fabs(ray[0] - r) * l->fx <= OFF_PX)) {
            return false;
        }
    }
    return r_max < FAR_R;
}

static void take_distortion(const sensor_msgs_msg_dds__CameraInfo_ *m, ros2_calibration *c)
{
    const bool rational = strcmp(m->distortion_model, "rational_polynomial") == 0;
    const uint32_t most = rational ? RATIONAL : PLUMB_BOB;
    double d[RATIONAL] = {0.0}, k[3];
    bool any = false, known = rational || strcmp(m->distortion_model, "plumb_bob") == 0;
    for (uint32_t i = 0; i < m->d._length; i++) {
        const double is = m->d._buffer[i];
        any = any || is != 0.0;
        known = known && isfinite(is) && (i < most || is == 0.0); // such as thin prisms
        if (i < most) {
            d[i] = is;
        }
    }
    memcpy(k, (double[3]){d[0], d[1], d[4]}, sizeof k);
    if (any && known && (!rational || turn(d, c, k))) {
        memcpy(c->lens.distortion, (double[5]){k[0], k[1], d[2], d[3], k[2]},
               sizeof c->lens.distortion);
    } else if (any) {
        snprintf(c->why, sizeof c->why,
                 "its distortion (%.24s, %u numbers) is left out: publish rectified pictures",
                 m->distortion_model, m->d._length);
    }
}

void ros2_calibration_of(const sensor_msgs_msg_dds__CameraInfo_ *m, bool rectified,
                         ros2_calibration *ret)
{
    const double *k = rectified ? m->p : m->k;
    const int row = rectified ? 4 : 3;
    *ret = (ros2_calibration){.lens = {.fx = k[0], .fy = k[row + 1], .cx = k[2], .cy = k[row + 2]},
                              .width = m->width,
                              .height = m->height};
    ret->lens.cx += 0.5; // there the first pixel's middle is 0, 0
    ret->lens.cy += 0.5;
    if (m->roi.width > 0 && m->roi.height > 0) { // of the sensor, which K is of
        ret->lens.cx -= m->roi.x_offset;
        ret->lens.cy -= m->roi.y_offset;
        ret->width = m->roi.width;
        ret->height = m->roi.height;
    }
    const double all = ret->lens.fx + ret->lens.fy + ret->lens.cx + ret->lens.cy;
    ret->known = isfinite(all) && ret->lens.fx > 0.0 && ret->lens.fy > 0.0;
    if (!ret->known) {
        snprintf(ret->why, sizeof ret->why, "the camera is not calibrated: %s has no focal length",
                 rectified ? "P" : "K");
    } else if (!rectified) {
        take_distortion(m, ret);
    }
}

pons_lens ros2_calibration_lens(const ros2_calibration *c, int width, int height)
{
    const double sx = c->width > 0.0 ? width / c->width : 1.0;
    const double sy = c->height > 0.0 ? height / c->height : 1.0;
    pons_lens l = c->lens;
    l.fx *= sx;
    l.cx *= sx;
    l.fy *= sy;
    l.cy *= sy;
    return l;
}
