// box_position.c - the geometry of a box's place.
#include "sight/box_position.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double LIDAR_Z_M = 0.18;   // above the floor (docs/reference/worlds.md)
static const double LIDAR_SD_M = 0.03;  // of a range, and of where the beams go
static const double EDGE_SD_PX = 2.0;   // of a box's edge
static const double TILT_SD_RAD = 0.01; // of the camera against the floor
static const double MIDDLE = 0.6;       // of the box's width, in which its beams are
static const double POSE_EDGE_PX = 0.5; // of the middle of what has a pose

static void turn(const pons__camera *c, const double optical[3], double ret[3])
{
    for (int i = 0; i < 3; i++) {
        ret[i] = c->axes[3 * i] * optical[0] + c->axes[3 * i + 1] * optical[1] +
                 c->axes[3 * i + 2] * optical[2];
    }
}

static double length(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static void ray(const pons__camera *c, const pons_lens *lens, double u, double v, double ret[3])
{
    double optical[3] = {0.0, 0.0, 1.0};
    pons_lens_ray(lens, u, v, optical);
    turn(c, optical, ret); // as long as its z in the optical frame is 1
}

// Along the unit vector u with sigma `along`, across with sigma `across`.
static void fill(const pons__camera *c, const double u[3], double distance, double along,
                 double across, const char *by, pons__placed *ret)
{
    ret->by = by;
    for (int i = 0; i < 3; i++) {
        ret->position[i] = c->eye[i] + u[i] * distance;
        for (int k = 0; k < 3; k++) {
            ret->cov[3 * i + k] =
                (along * along - across * across) * u[i] * u[k] + (i == k ? across * across : 0.0);
        }
    }
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double bearing(const double v[3])
{
    return atan2(v[1], v[0]);
}

// The distance on the floor's plane at which beams end between the box's sides; NAN: none, or they pass over or under it.
static double lidar_range(const pons__camera *c, const pons_lens *lens, const double box[4],
                          const pons_scan *s, double far_m, double *ret_sd)
{
    double left[3], right[3], middle[3], all[PONS_SCAN_MAX], pixel[2];
    const double y = box[1] + 0.5 * box[3], x = box[0] + 0.5 * box[2];
    int n = 0;
    ray(c, lens, x - 0.5 * MIDDLE * box[2], y, left);
    ray(c, lens, x + 0.5 * MIDDLE * box[2], y, right);
    ray(c, lens, x, y, middle);
    const double a = bearing(middle),
                 half = 0.5 * fabs(pons_wrap_angle(bearing(left) - bearing(right)));
    for (int i = 0; i < s->n; i++) {
        const double r = (double)s->ranges[i],
                     b = s->from.yaw + (double)s->angle_min + i * (double)s->angle_increment;
        const double dx = s->from.x + r * cos(b) - c->eye[0],
                     dy = s->from.y + r * sin(b) - c->eye[1];
        const double off = fabs(pons_wrap_angle(atan2(dy, dx) - a));
        if (isfinite(r) && r >= (double)s->range_min && r <= (double)s->range_max &&
            off <= fmax(half, 0.6 * fabs((double)s->angle_increment)) && hypot(dx, dy) <= far_m) {
            all[n++] = hypot(dx, dy);
        }
    }
    if (n == 0) {
        return NAN;
    }
    qsort(all, (size_t)n, sizeof *all, by_size);
    const double d = all[n / 2], rel[3] = {d * cos(a), d * sin(a), LIDAR_Z_M - c->eye[2]};
    double optical[3];
    for (int i = 0; i < 3; i++) {
        optical[i] = c->axes[i] * rel[0] + c->axes[3 + i] * rel[1] + c->axes[6 + i] * rel[2];
    }
    if (!pons__lens_pixel(lens, optical, pixel) || pixel[1] < box[1] ||
        pixel[1] > box[1] + box[3]) {
        return NAN;
    }
    *ret_sd = hypot(LIDAR_SD_M, (all[3 * n / 4] - all[n / 4]) / 1.35);
    return d;
}

// The distance on the floor at which the box's lower edge meets it; NAN: it does not, or not in the picture.
static double floor_range(const pons__camera *c, const pons_lens *lens, int height,
                          const double box[4], double *ret_sd)
{
    double down[3];
    if (box[1] + box[3] >= height - 1.0) {
        return NAN;
    }
    ray(c, lens, box[0] + 0.5 * box[2], box[1] + box[3], down);
    const double level = hypot(down[0], down[1]),
                 d = down[2] < 0.0 ? c->eye[2] * level / -down[2] : NAN;
    *ret_sd =
        (d * d + c->eye[2] * c->eye[2]) / c->eye[2] * hypot(EDGE_SD_PX / lens->fy, TILT_SD_RAD);
    return c->eye[2] > 0.0 ? d : NAN;
}

bool pons__box_place(const pons__camera *camera, const pons_lens *lens, int height,
                     const pons__boxed *box, const pons_scan *scan, double far_m, pons__placed *ret,
                     const char **why)
{
    const double *b = box->what.box, f = sqrt(lens->fx * lens->fy);
    double u[3], sd = 0.0, z = NAN; // z: along the view, of the front
    const char *by = "depth";
    if (box->what.posed) {
        const double r = length(box->what.position);
        turn(camera, box->what.position, u);
        for (int i = 0; i < 3; i++) {
            u[i] /= r;
        }
        fill(camera, u, r, box->what.sd_m, r * POSE_EDGE_PX / f, "pose", ret);
        *why = r <= far_m ? NULL : "it is beyond range_m";
        return !*why;
    }
    ray(camera, lens, b[0] + 0.5 * b[2], b[1] + 0.5 * b[3], u);
    const double level = hypot(u[0], u[1]);
    if (isfinite(box->depth_m)) {
        z = box->depth_m;
        sd = isfinite(box->depth_sd_m) ? box->depth_sd_m : 0.05 * z;
    } else if (level > 0.1 && scan) {
        z = lidar_range(camera, lens, b, scan, far_m, &sd) / level;
        by = "lidar";
    }
    if (!isfinite(z) && level > 0.1) {
        z = floor_range(camera, lens, height, b, &sd) / level;
        by = "floor";
    }
    if (!isfinite(z) || z <= 0.0) {
        *why = "no depth, no lidar beam and no floor under it say how far it is";
        return false;
    }
    const double n = length(u), half = 0.5 * fmin(b[2] / lens->fx, b[3] / lens->fy) * z;
    for (int i = 0; i < 3; i++) {
        u[i] /= n;
    }
    fill(camera, u, z * n + half, hypot(sd, 0.5 * half), hypot(EDGE_SD_PX * z / f, 0.1 * half), by,
         ret);
    *why = z * n <= far_m ? NULL : "it is beyond range_m";
    return !*why;
}
