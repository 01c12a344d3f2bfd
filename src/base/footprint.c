// footprint.c - what of the floor a robot covers: a convex polygon in its base frame.
//
// Corners come as a list [[x, y], …], or as the text that Nav2's configurations have for it. Their convex
// hull is what counts: a robot with a notch keeps out of the notch's reach too, and no order of corners is
// wrong. The base must lie inside, for it is what the robot turns about.
//
//     inscribed      nearer than this an obstacle is touched whichever way the robot is turned
//     circumscribed  further than this none is; between them it is a matter of the heading
#include "pons/footprint.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

enum { GIVEN_MAX = 256 };               // corners that a description may have, before the hull
static const double FAR_M = 100.0;      // a corner further off is a slip of units
static const double CLOSE_M = 0.3;      // further off the circle says enough
static const double THIN_M = 1e-3;      // the base is at least this far inside
static const double STRAIGHT_M2 = 1e-9; // corners on a line are none

typedef struct corner {
    double x, y;
} corner;

// ---- reading ------------------------------------------------------------------------------------

static const char *read_list(const pons_value *v, corner *ret, int *ret_n)
{
    const size_t n = json_array_size(v);
    if (n < 3) {
        return "a footprint is a list of three corners or more, [[x, y], …]";
    }
    if (n > GIVEN_MAX) {
        return "a footprint has at most 256 corners";
    }
    for (size_t i = 0; i < n; i++) {
        const pons_value *p = json_array_get(v, i);
        if (json_array_size(p) != 2 || !json_is_number(json_array_get(p, 0)) ||
            !json_is_number(json_array_get(p, 1))) {
            return "a footprint's corner is two numbers, [x, y]";
        }
        ret[i] = (corner){json_number_value(json_array_get(p, 0)),
                          json_number_value(json_array_get(p, 1))};
    }
    *ret_n = (int)n;
    return NULL;
}

static const char MALFORMED[] = "a footprint's text is [[x, y], [x, y], …]";

// At the end of a corner, or of all of them.
static const char *end_bracket(int depth, const double v[2], bool whole, corner *ret, int *n)
{
    if (depth == 1) {
        return NULL;
    }
    if (!whole) {
        return "a footprint's corner is two numbers, [x, y]";
    }
    if (*n == GIVEN_MAX) {
        return "a footprint has at most 256 corners";
    }
    ret[(*n)++] = (corner){v[0], v[1]};
    return NULL;
}

// "[[0.3, 0.2], [0.3, -0.2], …]": JSON, but with what else people write for numbers (+.3, 1.).
static const char *read_text(const char *text, corner *ret, int *ret_n)
{
    static const char GAPS[] = " \t\r\n";
    int depth = 0, n = 0, have = 0;
    double v[2] = {0};
    bool ended = false, comma = true; // comma: a member may come
    for (const char *at = text + strspn(text, GAPS); *at; at += strspn(at, GAPS)) {
        if (*at == '[' && (depth == 2 || !comma)) {
            return MALFORMED;
        }
        if (*at == '[') {
            depth++;
            have = 0;
            at++;
        } else if (*at == ']' && depth > 0) {
            const char *why = end_bracket(depth, v, have == 2 && !comma, ret, &n);
            if (why) {
                return why;
            }
            ended = --depth == 0;
            comma = false;
            at++;
        } else if (*at == ',' && depth > 0 && !comma) {
            comma = true;
            at++;
        } else {
            char *end;
            const double x = strtod(at, &end);
            if (end == at || depth != 2 || have == 2 || !comma || !isfinite(x)) {
                return MALFORMED;
            }
            v[have++] = x;
            comma = false;
            at = end;
        }
    }
    *ret_n = n;
    if (!ended) {
        return MALFORMED;
    }
    return n < 3 ? "a footprint is a list of three corners or more, [[x, y], …]" : NULL;
}

static int by_place(const void *a, const void *b)
{
    const corner *p = a, *q = b;
    return p->x != q->x ? (p->x < q->x ? -1 : 1) : (p->y > q->y) - (p->y < q->y);
}

static double turn(corner a, corner b, corner c)
{
    return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

// Counter-clockwise (Andrew 1979); ret has room for twice as many.
static int hull(corner *c, int n, corner *ret)
{
    int k = 0;
    qsort(c, (size_t)n, sizeof *c, by_place);
    for (int i = 0; i < n; i++) {
        while (k >= 2 && turn(ret[k - 2], ret[k - 1], c[i]) <= STRAIGHT_M2) {
            k--;
        }
        ret[k++] = c[i];
    }
    for (int i = n - 2, low = k + 1; i >= 0; i--) {
        while (k >= low && turn(ret[k - 2], ret[k - 1], c[i]) <= STRAIGHT_M2) {
            k--;
        }
        ret[k++] = c[i];
    }
    return k - 1;
}

const char *pons_footprint_read(const pons_value *v, pons_footprint *ret)
{
    corner given[GIVEN_MAX], h[2 * GIVEN_MAX];
    int n = 0;
    const char *bad =
        json_is_string(v) ? read_text(json_string_value(v), given, &n) : read_list(v, given, &n);
    for (int i = 0; !bad && i < n; i++) {
        if (!(fabs(given[i].x) <= FAR_M && fabs(given[i].y) <= FAR_M)) {
            bad = "a footprint's corners are metres from its base, at most 100";
        }
    }
    if (bad) {
        return bad;
    }
    n = hull(given, n, h);
    if (n < 3) {
        return "a footprint needs three corners that are not on a line";
    }
    if (n > PONS_FOOTPRINT_MAX) {
        return "a footprint has at most 32 corners";
    }
    pons_footprint f = {.n = n, .inscribed_m = INFINITY};
    for (int i = 0; i < n; i++) {
        const corner a = h[i], b = h[(i + 1) % n];
        f.x[i] = a.x;
        f.y[i] = a.y;
        f.circumscribed_m = fmax(f.circumscribed_m, hypot(a.x, a.y));
        f.inscribed_m = fmin(f.inscribed_m, (a.x * b.y - a.y * b.x) / hypot(b.x - a.x, b.y - a.y));
    }
    if (!(f.inscribed_m >= THIN_M)) {
        return "the base, (0, 0), must lie inside the footprint";
    }
    *ret = f;
    return NULL;
}

pons_footprint pons_footprint_circle(double radius_m)
{
    return (pons_footprint){.inscribed_m = radius_m, .circumscribed_m = radius_m};
}

pons_value *pons_footprint_value(const pons_footprint *f)
{
    pons_value *list = json_array();
    for (int i = 0; list && i < f->n; i++) {
        json_array_append_new(list, json_pack("[f,f]", f->x[i], f->y[i]));
    }
    return list;
}

double pons_footprint_distance(const pons_footprint *f, double x, double y)
{
    if (f->n == 0) {
        return hypot(x, y) - f->circumscribed_m;
    }
    double inside = -INFINITY, outside2 = INFINITY;
    for (int i = 0; i < f->n; i++) {
        const int k = i + 1 < f->n ? i + 1 : 0;
        const double ex = f->x[k] - f->x[i], ey = f->y[k] - f->y[i];
        const double px = x - f->x[i], py = y - f->y[i];
        const double len2 = ex * ex + ey * ey;
        inside = fmax(inside, (px * ey - py * ex) / sqrt(len2)); // right of an edge is outside
        const double t = fmin(fmax((px * ex + py * ey) / len2, 0.0), 1.0);
        const double dx = px - t * ex, dy = py - t * ey;
        outside2 = fmin(outside2, dx * dx + dy * dy);
    }
    return inside <= 0.0 ? inside : sqrt(outside2);
}

// By how much two convex figures are apart along a direction; negative: they overlap in it.
static double apart(const double *ax, const double *ay, int na, const double *bx, const double *by,
                    int nb, double ux, double uy)
{
    double a_low = DBL_MAX, a_high = -DBL_MAX, b_low = DBL_MAX, b_high = -DBL_MAX;
    for (int i = 0; i < na; i++) {
        const double s = ux * ax[i] + uy * ay[i];
        a_low = fmin(a_low, s);
        a_high = fmax(a_high, s);
    }
    for (int i = 0; i < nb; i++) {
        const double s = ux * bx[i] + uy * by[i];
        b_low = fmin(b_low, s);
        b_high = fmax(b_high, s);
    }
    return fmax(b_low - a_high, a_low - b_high);
}

double pons_footprint_gap(const pons_footprint *f, pons_pose2 at, const pons_box2 *box)
{
    const double round = pons_box2_distance(box, at.x, at.y) - f->circumscribed_m;
    if (f->n == 0 || round >= CLOSE_M) {
        return round;
    }
    // The box in the robot's frame; the axes are the edges' normals and the box's own (Gottschalk 1996).
    const pons_pose2 b = pons_pose_between(at, (pons_pose2){box->x, box->y, box->yaw});
    const double c = cos(b.yaw), s = sin(b.yaw), hx = 0.5 * box->sx, hy = 0.5 * box->sy;
    double bx[4], by[4];
    for (int i = 0; i < 4; i++) {
        const double u = i & 1 ? hx : -hx, v = i & 2 ? hy : -hy;
        bx[i] = b.x + c * u - s * v;
        by[i] = b.y + s * u + c * v;
    }
    double gap = fmax(round, apart(f->x, f->y, f->n, bx, by, 4, c, s));
    gap = fmax(gap, apart(f->x, f->y, f->n, bx, by, 4, -s, c));
    for (int i = 0; i < f->n; i++) {
        const int k = i + 1 < f->n ? i + 1 : 0;
        const double ex = f->x[k] - f->x[i], ey = f->y[k] - f->y[i], len = hypot(ex, ey);
        gap = fmax(gap, apart(f->x, f->y, f->n, bx, by, 4, ey / len, -ex / len));
    }
    return gap;
}
