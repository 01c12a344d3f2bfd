// distance_field.c - the signed distance to the boxes' faces, where somebody looks.
//
// Scan matching wants the distance to the boxes themselves, not to cells, and its slope; 4 bytes a
// cell of that for a whole building is more than all the rest of a map. But the lidar sees ten
// metres: so the field is cut into patches, each worked out from the boxes near it when a cell of
// it is asked for first, and only the newest PATCHES_MAX are kept.
//
//     boxes --bucketed once--> of each patch --asked for--> 65 × 65 floats --oldest goes--> free
//
// A patch has the first row and column of the next ones as well, so that whoever interpolates
// between four cells finds them in one. A house has fewer patches than are kept.
#include "body/costmap/costmap.h"

#include <stdlib.h>
#include <string.h>

enum { PATCHES_MAX = 256 };

struct pons__surface {
    double x0, y0, res;
    int w, h; // in patches
    pons__box *boxes;
    int32_t *first;            // (w·h + 1) where a patch's boxes begin in `of`
    int32_t *of;               // their numbers
    float **patch;             // (w·h) NULL: not worked out
    int32_t kept[PATCHES_MAX]; // which are, in turn
    int n_kept, oldest;
    float far[PONS__PATCH_STRIDE * PONS__PATCH_STRIDE]; // of a patch without boxes
};

typedef struct area { // both ends in it
    int x0, y0, x1, y1;
} area;

static int clamp_to(double v, int n)
{
    return v < 0.0 ? 0 : v > n - 1 ? n - 1 : (int)v;
}

// The box with all that is in reach of it, in units of `size` from (x0, y0), of w × h.
static area reached(const pons__box *b, double x0, double y0, double size, int w, int h)
{
    const double reach = (double)PONS__SURFACE_MAX_M;
    const double ex = fabs(b->c) * b->hx + fabs(b->s) * b->hy + reach;
    const double ey = fabs(b->s) * b->hx + fabs(b->c) * b->hy + reach;
    return (area){clamp_to((b->x - ex - x0) / size, w), clamp_to((b->y - ey - y0) / size, h),
                  clamp_to((b->x + ex - x0) / size, w), clamp_to((b->y + ey - y0) / size, h)};
}

// A patch reaches a cell further than its side, so its boxes are looked for from a cell earlier.
static area patches_of(const pons__surface *f, const pons__box *b)
{
    const double size = PONS__PATCH * f->res;
    area a = reached(b, f->x0, f->y0, size, f->w, f->h);
    const area before = reached(b, f->x0 + f->res, f->y0 + f->res, size, f->w, f->h);
    a.x0 = before.x0 < a.x0 ? before.x0 : a.x0;
    a.y0 = before.y0 < a.y0 ? before.y0 : a.y0;
    return a;
}

pons__surface *pons__surface_create(const pons__costmap *g, const pons__box *boxes, int n)
{
    pons__surface *f = calloc(1, sizeof *f);
    if (!f) {
        return NULL;
    }
    *f = (pons__surface){.x0 = g->x0,
                         .y0 = g->y0,
                         .res = g->res,
                         .w = (g->w - 1) / PONS__PATCH + 1,
                         .h = (g->h - 1) / PONS__PATCH + 1};
    const size_t patches = (size_t)f->w * (size_t)f->h;
    f->boxes = calloc((size_t)n + 1, sizeof *f->boxes);
    f->first = calloc(patches + 1, sizeof *f->first);
    f->patch = calloc(patches, sizeof *f->patch);
    for (int pass = 0; f->boxes && f->first && f->patch && pass < 2; pass++) {
        // First how many each patch has, then which: from the back, so that `first` ends up right.
        for (int i = n - 1; i >= 0; i--) {
            const area a = patches_of(f, &boxes[i]);
            for (int y = a.y0; y <= a.y1; y++) {
                for (int x = a.x0; x <= a.x1; x++) {
                    int32_t *at = &f->first[y * f->w + x];
                    *at += pass == 0 ? 1 : -1;
                    if (pass == 1) {
                        f->of[*at] = i;
                    }
                }
            }
        }
        for (size_t k = 1; pass == 0 && k <= patches; k++) {
            f->first[k] += f->first[k - 1];
        }
        if (pass == 0 && !(f->of = calloc((size_t)f->first[patches] + 1, sizeof *f->of))) {
            break;
        }
    }
    if (!f->of) {
        pons__surface_destroy(f);
        return NULL;
    }
    memcpy(f->boxes, boxes, sizeof *boxes * (size_t)n);
    for (size_t i = 0; i < sizeof f->far / sizeof *f->far; i++) {
        f->far[i] = PONS__SURFACE_MAX_M;
    }
    return f;
}

void pons__surface_destroy(pons__surface *f)
{
    if (!f) {
        return;
    }
    for (int i = 0; i < f->n_kept; i++) {
        free(f->patch[f->kept[i]]);
    }
    free(f->boxes);
    free(f->first);
    free(f->of);
    free(f->patch);
    free(f);
}

// Signed distance from a box's faces, in its own frame (negative inside).
static double box_distance(double px, double py, double hx, double hy)
{
    const double dx = fabs(px) - hx, dy = fabs(py) - hy;
    const double ox = dx > 0.0 ? dx : 0.0, oy = dy > 0.0 ? dy : 0.0;
    const double in = dx > dy ? dx : dy;
    return sqrt(ox * ox + oy * oy) + (in < 0.0 ? in : 0.0);
}

static void work_out(const pons__surface *f, int patch, float *ret)
{
    const int first_x = patch % f->w * PONS__PATCH, first_y = patch / f->w * PONS__PATCH;
    const double x0 = f->x0 + first_x * f->res, y0 = f->y0 + first_y * f->res;
    memcpy(ret, f->far, sizeof f->far);
    for (int32_t i = f->first[patch]; i < f->first[patch + 1]; i++) {
        const pons__box *b = &f->boxes[f->of[i]];
        const area a = reached(b, x0, y0, f->res, PONS__PATCH_STRIDE, PONS__PATCH_STRIDE);
        for (int cy = a.y0; cy <= a.y1; cy++) {
            for (int cx = a.x0; cx <= a.x1; cx++) {
                const double dx = x0 + (cx + 0.5) * f->res - b->x;
                const double dy = y0 + (cy + 0.5) * f->res - b->y;
                const float d = (float)box_distance(b->c * dx + b->s * dy, -b->s * dx + b->c * dy,
                                                    b->hx, b->hy);
                float *at = &ret[cy * PONS__PATCH_STRIDE + cx];
                *at = d < *at ? d : *at;
            }
        }
    }
}

// A patch that is not there yet: in the place of the oldest, when there are enough.
static float *take_patch(pons__surface *f, int patch)
{
    float *at;
    if (f->n_kept < PATCHES_MAX) {
        at = malloc(sizeof f->far);
        if (at) {
            f->kept[f->n_kept++] = patch;
        }
    } else {
        at = f->patch[f->kept[f->oldest]];
        f->patch[f->kept[f->oldest]] = NULL;
        f->kept[f->oldest] = patch;
        f->oldest = (f->oldest + 1) % PATCHES_MAX;
    }
    if (!at) {
        return NULL; // no memory: nothing is near, as far as it is known
    }
    work_out(f, patch, at);
    f->patch[patch] = at;
    return at;
}

const float *pons__surface_at(pons__surface *f, int cx, int cy)
{
    const int patch = cy / PONS__PATCH * f->w + cx / PONS__PATCH;
    const int at = cy % PONS__PATCH * PONS__PATCH_STRIDE + cx % PONS__PATCH;
    const float *field = f->patch[patch];
    if (!field && f->first[patch] < f->first[patch + 1]) {
        field = take_patch(f, patch);
    }
    return (field ? field : f->far) + at;
}
