// lidar_beams.c - see lidar_beams.h.
#include "drivers/sim/lidar_beams.h"

#include <math.h>

static const double STEP_MIN = 1e-6;

// Directions grow to the left.
static bool to_the_right(const pons__beams *b)
{
    return (b->step < 0.0) != b->upside_down;
}

bool pons__beams_begin(const pons__beams *b, pons_scan *ret)
{
    const double inc = fabs(b->step), side = b->upside_down ? -1.0 : 1.0;
    if (b->n == 0 || !isfinite(b->angle_min) || !(inc > STEP_MIN && inc <= 2.0 * M_PI) ||
        isnan(b->range_min) || !(b->range_max > 0.0) || b->range_max <= b->range_min ||
        !isfinite(b->from.x + b->from.y + b->from.yaw)) {
        return false;
    }
    const int n = b->n < PONS_SCAN_MAX ? (int)b->n : PONS_SCAN_MAX;
    const double each = inc * (double)b->n / n; // of a direction; its beams lie around its middle
    const double first =
        side * (to_the_right(b) ? b->angle_min + (double)(b->n - 1) * b->step : b->angle_min);
    *ret = (pons_scan){.n = n,
                       .angle_min = (float)(first + 0.5 * (each - inc)),
                       .angle_increment = (float)each,
                       .range_min = (float)fmax(b->range_min, 0.0),
                       .range_max = (float)b->range_max,
                       .from = b->from};
    for (int i = 0; i < n; i++) {
        ret->ranges[i] = NAN;
    }
    return true;
}

bool pons__beams_add(const pons__beams *b, size_t i, double range, pons_scan *scan)
{
    if (range == -INFINITY && isfinite(b->range_min) && b->range_min > 0.0) {
        range = b->range_min; // something is there, too near to be measured
    }
    if (!(range >= 0.0 && range >= b->range_min)) {
        return false;
    }
    const size_t at = to_the_right(b) ? b->n - 1 - i : i;
    float *r = &scan->ranges[(2 * at + 1) * (size_t)scan->n / (2 * b->n)]; // by the beam's middle
    const float seen = range <= b->range_max ? (float)range : INFINITY;
    *r = isnan(*r) ? seen : fminf(seen, *r);
    return true;
}
