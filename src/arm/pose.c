// pose.c - poses in space.
#include "pons/arm.h"

#include <math.h>
#include <string.h>

static void multiply(const double a[9], const double b[9], double ret[9])
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            ret[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
        }
    }
}

pons_pose3 pons_pose3_identity(void)
{
    return (pons_pose3){.r = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
}

pons_pose3 pons_pose3_of(double x, double y, double z, double roll, double pitch, double yaw)
{
    const double a = cos(roll), b = sin(roll), c = cos(pitch), d = sin(pitch), e = cos(yaw),
                 f = sin(yaw);
    return (pons_pose3){.p = {x, y, z},
                        .r = {e * c, e * d * b - f * a, e * d * a + f * b, //
                              f * c, f * d * b + e * a, f * d * a - e * b, //
                              -d, c * b, c * a}};
}

pons_pose3 pons_pose3_compose(const pons_pose3 *a, const pons_pose3 *b)
{
    pons_pose3 ret;
    pons_pose3_point(a, b->p, ret.p);
    multiply(a->r, b->r, ret.r);
    return ret;
}

pons_pose3 pons_pose3_inverse(const pons_pose3 *a)
{
    pons_pose3 ret;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            ret.r[3 * i + j] = a->r[3 * j + i];
        }
    }
    for (int i = 0; i < 3; i++) {
        ret.p[i] =
            -(ret.r[3 * i] * a->p[0] + ret.r[3 * i + 1] * a->p[1] + ret.r[3 * i + 2] * a->p[2]);
    }
    return ret;
}

void pons_pose3_point(const pons_pose3 *a, const double p[3], double ret[3])
{
    const double v[3] = {p[0], p[1], p[2]};
    for (int i = 0; i < 3; i++) {
        ret[i] = a->p[i] + a->r[3 * i] * v[0] + a->r[3 * i + 1] * v[1] + a->r[3 * i + 2] * v[2];
    }
}

void pons_pose3_rpy(const pons_pose3 *a, double ret[3])
{
    ret[0] = atan2(a->r[7], a->r[8]);
    ret[1] = atan2(-a->r[6], hypot(a->r[0], a->r[3]));
    ret[2] = atan2(a->r[3], a->r[0]);
}

void pons_pose3_turn(const pons_pose3 *a, const pons_pose3 *b, double ret[3])
{
    double back[9], d[9];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            back[3 * i + j] = a->r[3 * j + i];
        }
    }
    multiply(b->r, back, d);
    const double v[3] = {0.5 * (d[7] - d[5]), 0.5 * (d[2] - d[6]), 0.5 * (d[3] - d[1])};
    const double s = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    const double c = 0.5 * (d[0] + d[4] + d[8] - 1.0);
    const double angle = atan2(s, c);
    if (s > 1e-9) {
        for (int i = 0; i < 3; i++) {
            ret[i] = v[i] / s * angle;
        }
        return;
    }
    // No turn, or half of one: then the axis is the column of d + 1 that is longest.
    memset(ret, 0, 3 * sizeof *ret);
    if (c > 0.0) {
        return;
    }
    int k = d[0] > d[4] ? 0 : 1;
    k = d[8] > d[4 * k] ? 2 : k;
    double axis[3], n = 0.0;
    for (int i = 0; i < 3; i++) {
        axis[i] = d[3 * i + k] + (i == k ? 1.0 : 0.0);
        n += axis[i] * axis[i];
    }
    for (int i = 0; i < 3 && n > 0.0; i++) {
        ret[i] = axis[i] / sqrt(n) * angle;
    }
}
