// direct_path.c - the direct way of a robot that plans none, and what ENVIRONMENT.md has standing on it.
#include "workspace/request_checks/critic_facts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ROBOT_M    0.25 // half of the width of a robot that does not say
#define OBSTACLE_M 0.30 // the same of a thing
#define ARRIVED_M  0.30 // what is so near the end is what it goes to

static double distance_to(const double a[2], const double b[2], const double p[2])
{
    const double dx = b[0] - a[0], dy = b[1] - a[1], length2 = dx * dx + dy * dy;
    const double along = length2 > 0 ? ((p[0] - a[0]) * dx + (p[1] - a[1]) * dy) / length2 : 0;
    const double s = fmin(fmax(along, 0), 1);
    return hypot(p[0] - a[0] - s * dx, p[1] - a[1] - s * dy);
}

// Zones, rooms and waypoints are places; what lies on something is where that stands.
static bool stands(const pons_ws_doc *d, const pons_ws_record *r)
{
    static const char *const kinds[] = {"furniture", "obstacle", "wall", "person", "chair"};
    const char *type = pons_get_str(r->value, "type", pons_get_str(r->value, "category", ""));
    bool is = pons_get_bool(r->value, "blocking", false);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        is = is || strcmp(type, kinds[i]) == 0;
    }
    return is && (strcmp(r->kind, "node") == 0 ||
                  (strcmp(r->kind, "object") == 0 && !pons_ws_find(d, "node", r->id)));
}

static double half_width(const pons_value *v)
{
    double size[3];
    const size_t n = pons__ws_numbers(pons_get(v, "size"), size, 3);
    const double of_size = n >= 2 ? fmax(size[0], size[1]) / 2 : OBSTACLE_M;
    return pons_get_num(v, "radius_m", pons_get_num(v, "radius", of_size));
}

static bool blocks(const pons_ws_doc *d, const pons_ws_record *r, const double a[2],
                   const double b[2], const char *to, double *gap, double *need)
{
    double p[3];
    if (!stands(d, r) || (to && strcmp(r->id, to) == 0) ||
        pons__ws_numbers(pons_get(r->value, "position"), p, 3) < 2 ||
        hypot(p[0] - b[0], p[1] - b[1]) < ARRIVED_M) {
        return false;
    }
    *gap = distance_to(a, b, p);
    *need = ROBOT_M + half_width(r->value);
    // What it stands at already is no reason to stay there.
    const bool leaves = hypot(p[0] - a[0], p[1] - a[1]) <= *gap + 1e-9;
    return *gap < *need && !leaves;
}

static const pons_ws_record *blocker(const pons_ws_doc *d, const double a[2], const double b[2],
                                     const char *to, double *ret_gap, double *ret_need)
{
    size_t n = 0;
    const pons_ws_record *all = pons_ws_records(d, &n), *worst = NULL;
    double least = INFINITY, gap = 0, need = 0;
    for (size_t i = 0; i < n; i++) {
        if (blocks(d, &all[i], a, b, to, &gap, &need) && gap - need < least) {
            least = gap - need;
            worst = &all[i];
            *ret_gap = gap;
            *ret_need = need;
        }
    }
    return worst;
}

// The one that is most in the way, then the others.
static void name_all(const pons_ws_doc *d, const double from[2], const ws_target *to,
                     const pons_ws_record *first, char *ret, size_t cap)
{
    size_t n = 0, len;
    double gap, need;
    const pons_ws_record *all = pons_ws_records(d, &n);
    snprintf(ret, cap, "%.48s", first->id);
    for (size_t i = 0; i < n; i++) {
        len = strlen(ret);
        if (&all[i] != first && len + strlen(all[i].id) + 3 < cap &&
            blocks(d, &all[i], from, to->at, to->id, &gap, &need)) {
            snprintf(ret + len, cap - len, ", %s", all[i].id);
        }
    }
}

// A point beside what stands there, on either side, that has a free way to it and on.
static void pass_beside(const pons_ws_doc *d, const ws_robot *from, const ws_target *to,
                        const pons_ws_record *by, double need_m, char *via, size_t cap)
{
    double at[3] = {0}, gap, need;
    const double dx = to->at[0] - from->at[0], dy = to->at[1] - from->at[1], length = hypot(dx, dy);
    if (pons__ws_numbers(pons_get(by->value, "position"), at, 3) < 2) {
        return;
    }
    for (int side = -1; side <= 1 && !*via && length > 0; side += 2) {
        const double p[2] = {at[0] - side * dy / length * 2 * need_m,
                             at[1] + side * dx / length * 2 * need_m};
        if (!blocker(d, from->at, p, NULL, &gap, &need) &&
            !blocker(d, p, to->at, to->id, &gap, &need)) {
            snprintf(via, cap, "[%.2f, %.2f]", p[0], p[1]);
        }
    }
}

bool pons__ws_path_blocked(const pons_ws_doc *d, const ws_robot *from, const ws_target *to,
                           char *ret_by, size_t by_cap, double *ret_gap, double *ret_need,
                           char *via, size_t cap)
{
    via[0] = '\0';
    if (!d || !from->known || !to->known) {
        return false;
    }
    const pons_ws_record *by = blocker(d, from->at, to->at, to->id, ret_gap, ret_need);
    if (!by) {
        return false;
    }
    name_all(d, from->at, to, by, ret_by, by_cap);
    size_t n = 0;
    const pons_ws_record *all = pons_ws_records(d, &n);
    double best = INFINITY, gap, need;
    for (size_t i = 0; i < n; i++) { // the shortest way by a place that is known
        double p[3];
        if (strcmp(all[i].kind, "node") != 0 || stands(d, &all[i]) ||
            pons__ws_numbers(pons_get(all[i].value, "position"), p, 3) < 2 ||
            (to->id && strcmp(all[i].id, to->id) == 0) ||
            blocker(d, from->at, p, all[i].id, &gap, &need) ||
            blocker(d, p, to->at, to->id, &gap, &need)) {
            continue;
        }
        const double way = hypot(p[0] - from->at[0], p[1] - from->at[1]) +
                           hypot(p[0] - to->at[0], p[1] - to->at[1]);
        if (way < best) {
            best = way;
            snprintf(via, cap, "%.64s", all[i].id);
        }
    }
    if (!*via) {
        pass_beside(d, from, to, by, *ret_need, via, cap);
    }
    return true;
}
