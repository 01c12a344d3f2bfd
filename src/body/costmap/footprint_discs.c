// footprint_discs.c - a footprint over the cells: discs that together cover it.
//
// A costmap knows how far each place is from what is occupied, so a disc is free when its middle is further
// off than its radius. A polygon is covered by discs: small ones along its outline, and inside the largest that
// fit, as few as will do. One more look-up comes first, that of the base: nearer than the inscribed circle
// something is touched however the robot is turned, further than the circumscribed one nothing is.
#include "body/costmap/costmap.h"

#include <string.h>

enum { GRID = 24, FITS_MAX = GRID * GRID };
static const double OUTLINE_M = 0.08; // from one disc of the outline to the next, at most
static const double FIT_MAX_M = 0.30; // the field is exact that far, and the margin further

typedef struct fit {
    double x, y, r;
    bool covered;
} fit;

static void add(pons__shape *s, double x, double y, double r)
{
    if (s->n < PONS__SHAPE_MAX) {
        s->x[s->n] = x;
        s->y[s->n] = y;
        s->r[s->n++] = r;
    }
}

static void outline(pons__shape *s, const pons_footprint *f)
{
    double round = 0.0;
    for (int i = 0; i < f->n; i++) {
        const int k = (i + 1) % f->n;
        round += hypot(f->x[k] - f->x[i], f->y[k] - f->y[i]);
    }
    const double apart = fmax(OUTLINE_M, round / ((double)PONS__SHAPE_MAX / 2 - f->n));
    for (int i = 0; i < f->n; i++) {
        const int k = (i + 1) % f->n;
        const double ex = f->x[k] - f->x[i], ey = f->y[k] - f->y[i];
        const int parts = (int)ceil(hypot(ex, ey) / apart);
        for (int j = 0; j < parts; j++) {
            add(s, f->x[i] + ex * j / parts, f->y[i] + ey * j / parts, 0.0);
        }
    }
}

// The largest disc that fits first, then the largest about what is not covered yet.
static void inside(pons__shape *s, const pons_footprint *f)
{
    fit fits[FITS_MAX];
    int n = 0;
    double low_x = INFINITY, high_x = -INFINITY, low_y = INFINITY, high_y = -INFINITY;
    for (int i = 0; i < f->n; i++) {
        low_x = fmin(low_x, f->x[i]);
        high_x = fmax(high_x, f->x[i]);
        low_y = fmin(low_y, f->y[i]);
        high_y = fmax(high_y, f->y[i]);
    }
    for (int i = 0; i < FITS_MAX; i++) {
        const int row = i / GRID, column = i - row * GRID;
        const double x = low_x + (high_x - low_x) * (column + 0.5) / GRID,
                     y = low_y + (high_y - low_y) * (row + 0.5) / GRID;
        const double r = fmin(-pons_footprint_distance(f, x, y), FIT_MAX_M);
        if (r > 0.5 * OUTLINE_M) { // nearer to the outline its own discs cover
            fits[n++] = (fit){x, y, r, false};
        }
    }
    for (;;) {
        int best = -1;
        for (int i = 0; i < n; i++) {
            if (!fits[i].covered && (best < 0 || fits[i].r > fits[best].r)) {
                best = i;
            }
        }
        if (best < 0 || s->n == PONS__SHAPE_MAX) {
            return;
        }
        add(s, fits[best].x, fits[best].y, fits[best].r);
        for (int i = 0; i < n; i++) {
            fits[i].covered = fits[i].covered || hypot(fits[i].x - fits[best].x,
                                                       fits[i].y - fits[best].y) <= fits[best].r;
        }
    }
}

void pons__shape_of(const pons_footprint *f, pons__shape *ret)
{
    memset(ret, 0, sizeof *ret);
    ret->inscribed_m = f->inscribed_m;
    ret->circumscribed_m = f->circumscribed_m;
    if (f->n > 0) {
        outline(ret, f);
        inside(ret, f);
    }
}

bool pons__shape_free(const pons__shape *s, const pons__costmap *g, pons_pose2 at, double margin_m)
{
    const double d = (double)pons__costmap_dist(g, at.x, at.y);
    if (d <= 0.0 || d < s->inscribed_m + margin_m) {
        return false;
    }
    if (s->n == 0 || d >= s->circumscribed_m + margin_m) {
        return true;
    }
    const double c = cos(at.yaw), sn = sin(at.yaw);
    for (int i = 0; i < s->n; i++) {
        const double x = at.x + c * s->x[i] - sn * s->y[i], y = at.y + sn * s->x[i] + c * s->y[i];
        const double room = (double)pons__costmap_dist(g, x, y);
        if (room <= 0.0 ? margin_m >= 0.0 : room < s->r[i] + margin_m) {
            return false;
        }
    }
    return true;
}
