// clearance.c - how far the arm is from what stands, and from itself.
//
// Links are balls (urdf.c): a capsule is a row of them, a box its corners. What stands is boxes and a
// floor. A ball's distance to a box is exact; so the answer is right to within the gaps between the
// balls of a row, which their radius all but fills. It allocates nothing and takes some ten
// microseconds: the safety gate asks it a hundred times a second.
#include "pons/arm.h"

#include <math.h>

#define APART 3 // links with fewer joints that move between them are neighbours

static double larger(double a, double b)
{
    return a > b ? a : b;
}

// c, s: cosine and sine of the box's yaw.
static double to_box(const pons_arm_box *b, double c, double s, const double p[3])
{
    const double dx = p[0] - b->x, dy = p[1] - b->y;
    const double d[3] = {fabs(c * dx + s * dy) - b->half[0], fabs(c * dy - s * dx) - b->half[1],
                         fabs(p[2] - b->z) - b->half[2]};
    const double out[3] = {larger(d[0], 0.0), larger(d[1], 0.0), larger(d[2], 0.0)};
    const double far2 = out[0] * out[0] + out[1] * out[1] + out[2] * out[2];
    return far2 > 0.0 ? sqrt(far2) : larger(d[0], larger(d[1], d[2]));
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
        up[i] = i > 0 && s->link == s[-1].link ? up[i - 1] : height(a, s->link);
        if (up[i] == 0) {
            continue; // what does not move cannot get nearer
        }
        const double to_floor = p[i][2] - room->floor - s->r;
        best = to_floor < best ? to_floor : best;
    }
    for (int b = 0; b < room->n; b++) {
        const double cosine = cos(room->boxes[b].yaw), sine = sin(room->boxes[b].yaw);
        for (int i = 0; i < a->n_samples; i++) {
            const double d =
                up[i] ? to_box(&room->boxes[b], cosine, sine, p[i]) - a->samples[i].r : INFINITY;
            best = d < best ? d : best;
        }
    }
    for (int i = 0; i < a->n_samples; i++) {
        for (int k = 0; k < i; k++) {
            if (up[i] - up[k] < APART && up[k] - up[i] < APART) {
                continue;
            }
            const double dx = p[i][0] - p[k][0], dy = p[i][1] - p[k][1], dz = p[i][2] - p[k][2];
            const double d2 = dx * dx + dy * dy + dz * dz;
            const double reach = best + a->samples[i].r + a->samples[k].r;
            if (reach > 0.0 && d2 < reach * reach) {
                best = sqrt(d2) - a->samples[i].r - a->samples[k].r;
                self = true;
            }
        }
    }
    if (ret_self) {
        *ret_self = self;
    }
    return best;
}
