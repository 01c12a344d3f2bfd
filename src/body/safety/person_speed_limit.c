// person_speed_limit.c - a person's share of the robot's speed limits.
//
// A person who says "slower" takes a part of every limit away: ahead, back, turning, and of the
// joints of an arm. It is the last that lowers a wish, so nothing that comes after it can raise one,
// and whoever drives (a brain, a tree, a hand at a page) drives below it. It lowers v and w together,
// so the robot goes along the same arc. Less than PONS__PACE_LEAST_PCT of a limit is never left: that
// is what a stop is for. What is taken holds at once; what is given back, when the disk says so (velocity_filter.c, go_on).
#include "body/safety/velocity_filter.h"

#include <math.h>

double pons__pace_share(int taken_pct)
{
    const int most = 100 - PONS__PACE_LEAST_PCT;
    const int taken = taken_pct < 0 ? 0 : taken_pct > most ? most : taken_pct;
    return (100 - taken) / 100.0;
}

pons_twist2 pons__safety_pace(pons__safety *s, pons_twist2 want)
{
    const pons__safety_params *p = &s->p;
    const double share = pons__pace_share(s->status.taken_pct);
    const double v_max = share * (want.v < 0.0 ? p->reverse_max_mps : p->speed_max_mps);
    const double w_max = share * p->yaw_rate_max_radps;
    double left = 1.0;
    if (fabs(want.v) > v_max) {
        left = v_max / fabs(want.v);
    }
    if (fabs(want.w) > w_max) {
        left = fmin(left, w_max / fabs(want.w));
    }
    if (left >= 1.0) {
        return want;
    }
    if (s->status.zone < PONS__ZONE_LIMIT) {
        s->status.zone = PONS__ZONE_LIMIT;
    }
    return (pons_twist2){want.v * left, want.w * left};
}
