// clearance.c - how far the arm is from what stands, and from itself.
//
// Links are balls (urdf.c): a capsule is a row of them, a box its corners. What stands is boxes and a
// floor. A ball's distance to a box is exact; so the answer is right to within the gaps between the
// balls of a row, which their radius all but fills. It allocates nothing and takes some ten
// microseconds: the safety gate asks it a hundred times a second.
#include "pons/arm.h"

#include <math.h>

#define APART 3 // links with fewer joints that move between them are neighbours

// c, s: of the box's yaw.
static double to_box(const pons_arm_box *b, double c, double s, const double p[3])
{
    const double dx = p[0] - b->x, dy = p[1] - b->y;
    const double d[3] = {fabs(c * dx + s * dy) - b->half[0], fabs(c * dy - s * dx) - b->half[1],
                         fabs(p[2] - b->z) - b->half[2]};
    const double out[3] = {fmax(d[0], 0.0), fmax(d[1], 0.0), fmax(d[2], 0.0)};
    const double far = sqrt(out[0] * out[0] + out[1] * out[1] + out[2] * out[2]);
    return far > 0.0 ? far : fmax(d[0], fmax(d[1], d[2]));
}

// How many joints that move lie between the root and a link.
static int height(const pons_arm *a, int link)
{
    int n = 0;
    while (a->links[link].joint >= 0) {
        const pons_arm_joint *j = &a->joints[a->links[link].joint];
        n += j->place >= 0;
        link = j->parent;
    }
    return n;
}

double pons_arm_clearance(const pons_arm *a, const double *q, const pons_arm_room *room,
                          bool *ret_self)
{
    pons_pose3 frames[PONS_ARM_LINKS];
    double p[PONS_ARM_SAMPLES][3];
    int up[PONS_ARM_SAMPLES];
    pons_arm_frames(a, q, room->others, frames);
    double best = INFINITY;
    bool self = false;
    for (int i = 0; i < a->n_samples; i++) {
        const pons_arm_sample *s = &a->samples[i];
        pons_pose3_point(&frames[s->link], s->p, p[i]);
        up[i] = height(a, s->link);
        if (up[i] > 0) { // what does not move cannot get nearer
            best = fmin(best, p[i][2] - room->floor - s->r);
        }
    }
    for (int b = 0; b < room->n; b++) {
        const double cos_yaw = cos(room->boxes[b].yaw), sin_yaw = sin(room->boxes[b].yaw);
        for (int i = 0; i < a->n_samples; i++) {
            if (up[i] > 0) {
                best =
                    fmin(best, to_box(&room->boxes[b], cos_yaw, sin_yaw, p[i]) - a->samples[i].r);
            }
        }
    }
    for (int i = 0; i < a->n_samples; i++) {
        for (int k = 0; k < i; k++) {
            if (up[i] - up[k] < APART && up[k] - up[i] < APART) {
                continue;
            }
            const double dx = p[i][0] - p[k][0], dy = p[i][1] - p[k][1], dz = p[i][2] - p[k][2];
            const double d = sqrt(dx * dx + dy * dy + dz * dz) - a->samples[i].r - a->samples[k].r;
            if (d < best) {
                best = d;
                self = true;
            }
        }
    }
    if (ret_self) {
        *ret_self = self;
    }
    return best;
}
