// zone_compiler.c - a map of zones from a floor: which spots are bays, and which way lanes go.
//
// A bay is a spot that no other spot needs to be reached: without it the lanes still hang together. Those that
// are asked for come first, then dead ends, then the edges of the floor, and of these rather such whose loss makes no
// lane the only way to another. Lanes go by turns east and west, north and south, as streets do; where that
// leaves a spot that cannot be reached or left, a way there and back through it is turned one way round (an ear, as
// Robbins' theorem has it); only what is the one way to somewhere goes both ways.
#include "fleet/map/floor_grid.h"
#include "pons/out_of_memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEP_MAX_M 4.0
#define STEP_LESS  0.8 // of the step before, where that was too wide
#define SPARE      1.05
#define SPOTS_MAX  20000
#define A_ROBOT    8.0 // spots
#define STATIONS   0.8 // a robot, where none are asked for
#define DOCKS      0.22
#define DOCK_WORTH 100 // stations
#define SAMPLE_M   0.25
#define BETWEEN_M  0.25
#define SIDE_MAX_M 5000.0
#define ROBOTS_MAX 5000

typedef struct plan {
    const pons_fleet_floor *floor;
    double step;
    pons__spots s;
    int8_t *kind;                 // (spots) a pons_fleet_kind
    int32_t *bay_of;              // (spots) the caller's bay; -1
    int32_t *order, *low, *stack; // (spots) scratch
    uint8_t *next;
    size_t bridges;
    size_t made[PONS_FLEET_KINDS];
    size_t asked, worth; // bays of the caller's that are made
} plan;

// ---- bays ---------------------------------------------------------------------------------------

static bool is_lane(const plan *p, int32_t spot, int32_t without)
{
    return p->kind[spot] == PONS_FLEET_LANE && spot != without;
}

// Goes over the lanes but one; whether they hang together, and how many of the lines between them are the only
// way to somewhere (Tarjan's lowest numbers).
static bool lanes_hang(plan *p, int32_t without, size_t *ret_bridges)
{
    const int32_t n = (int32_t)p->s.n;
    int32_t seen = 0, lanes = 0, deep = 0;
    *ret_bridges = 0;
    memset(p->order, 0xff, p->s.n * sizeof *p->order);
    for (int32_t i = 0; i < n; i++) {
        if (!is_lane(p, i, without)) {
            continue;
        }
        if (lanes++ == 0) {
            p->order[i] = p->low[i] = seen++;
            p->next[i] = 0;
            p->stack[deep++] = i;
        }
        while (deep > 0) {
            const int32_t at = p->stack[deep - 1];
            const pons__spot *s = &p->s.at[at];
            const int32_t from = deep > 1 ? p->stack[deep - 2] : -1;
            if (p->next[at] == s->n) {
                deep--;
                if (from >= 0) {
                    p->low[from] = p->low[at] < p->low[from] ? p->low[at] : p->low[from];
                    *ret_bridges += p->low[at] > p->order[from];
                }
                continue;
            }
            const int32_t to = s->to[p->next[at]++];
            if (!is_lane(p, to, without) || to == from) {
                continue;
            }
            if (p->order[to] < 0) {
                p->order[to] = p->low[to] = seen++;
                p->next[to] = 0;
                p->stack[deep++] = to;
            } else if (p->order[to] < p->low[at]) {
                p->low[at] = p->order[to];
            }
        }
    }
    return lanes > 0 && seen == lanes;
}

static int lanes_beside(const plan *p, int32_t spot, int32_t without)
{
    int n = 0;
    for (int k = 0; k < p->s.at[spot].n; k++) {
        n += is_lane(p, p->s.at[spot].to[k], without);
    }
    return n;
}

static bool take_bay(plan *p, int32_t spot, pons_fleet_kind kind, bool keeps_ways)
{
    size_t bridges = 0;
    if (!is_lane(p, spot, -1) || lanes_beside(p, spot, -1) == 0) {
        return false;
    }
    for (int k = 0; k < p->s.at[spot].n; k++) { // a bay that hangs on nothing else
        const int32_t bay = p->s.at[spot].to[k];
        if (!is_lane(p, bay, -1) && lanes_beside(p, bay, spot) == 0) {
            return false;
        }
    }
    if (!lanes_hang(p, spot, &bridges) || (keeps_ways && bridges > p->bridges)) {
        return false;
    }
    p->kind[spot] = (int8_t)kind;
    p->bridges = bridges;
    p->made[kind]++;
    return true;
}

// Where it was asked for, or where that is needed as a way, beside it.
static void choose_asked(plan *p)
{
    lanes_hang(p, -1, &p->bridges);
    for (int32_t i = 0; (size_t)i < p->s.n; i++) {
        const int32_t bay = p->s.at[i].bay;
        if (bay < 0) {
            continue;
        }
        const pons__spot *s = &p->s.at[i];
        const pons_fleet_kind kind = p->floor->bays[bay].kind;
        int32_t at = take_bay(p, i, kind, false) ? i : -1;
        bool tried[PONS__NEIGHBOURS] = {false};
        for (int n = 0; at < 0 && n < s->n && kind != PONS_FLEET_DOCK;
             n++) { // a pad stays where it is
            int least = -1;
            double m = INFINITY;
            for (int k = 0; k < s->n; k++) {
                const pons__spot *o = &p->s.at[s->to[k]];
                const double far = hypot(o->x - s->x, o->y - s->y);
                if (!tried[k] && o->bay < 0 && far < m) {
                    least = k;
                    m = far;
                }
            }
            if (least < 0) {
                break;
            }
            tried[least] = true;
            at = take_bay(p, s->to[least], kind, false) ? s->to[least] : -1;
        }
        if (at >= 0) {
            p->bay_of[at] = bay;
            p->asked++;
            p->worth += kind == PONS_FLEET_DOCK ? DOCK_WORTH : 1;
        }
    }
}

static int most_due(const double *due, const double *wish, double all)
{
    int kind = PONS_FLEET_PARK;
    for (int k = PONS_FLEET_PARK; k < PONS_FLEET_KINDS; k++) {
        kind = due[k] + wish[k] / all > due[kind] + wish[kind] / all ? k : kind;
    }
    return kind;
}

static void choose_found(plan *p)
{
    const double robots = (double)p->floor->robots;
    double wish[PONS_FLEET_KINDS] = {0.0, robots, ceil(STATIONS * robots), ceil(DOCKS * robots)};
    for (size_t i = 0; i < p->floor->n_bays; i++) {
        wish[p->floor->bays[i].kind] = p->floor->bays[i].kind == PONS_FLEET_PARK ? robots : 0.0;
    }
    double due[PONS_FLEET_KINDS] = {0}, all = 0.0;
    for (int k = PONS_FLEET_PARK; k < PONS_FLEET_KINDS; k++) {
        wish[k] = fmax(wish[k] - (double)p->made[k], 0.0);
        all += wish[k];
    }
    double left = all;
    for (int pass = 0; pass < 2; pass++) { // without loss to the ways; then with
        for (int beside = 1; beside <= PONS__NEIGHBOURS; beside++) {
            for (int32_t i = 0; (size_t)i < p->s.n && left > 0.5; i++) {
                const int kind = most_due(due, wish, all);
                if (p->s.at[i].bay >= 0 || !is_lane(p, i, -1) || lanes_beside(p, i, -1) != beside ||
                    !take_bay(p, i, (pons_fleet_kind)kind, pass == 0)) {
                    continue;
                }
                for (int k = PONS_FLEET_PARK; k < PONS_FLEET_KINDS; k++) {
                    due[k] += wish[k] / all - (k == kind ? 1.0 : 0.0);
                }
                left -= 1.0;
            }
        }
    }
    for (bool more = true; more;) { // a lane that leads to nothing is room to stand
        more = false;
        for (int32_t i = 0; (size_t)i < p->s.n; i++) {
            more |= is_lane(p, i, -1) && p->s.at[i].bay < 0 && lanes_beside(p, i, -1) == 1 &&
                    take_bay(p, i, PONS_FLEET_PARK, false);
        }
    }
}

// ---- which way ----------------------------------------------------------------------------------

static void let(plan *p, int32_t from, int32_t to, bool go)
{
    pons__spot *s = &p->s.at[from];
    for (int k = 0; k < s->n; k++) {
        if (s->to[k] == to) {
            s->out = (uint16_t)(go ? s->out | 1U << k : s->out & ~(1U << k));
        }
    }
}

// As streets: each second row the other way.
static bool as_streets(const plan *p, int32_t from, int32_t to)
{
    const pons__spot *a = &p->s.at[from], *b = &p->s.at[to];
    const bool along_x = fabs(b->x - a->x) >= fabs(b->y - a->y);
    const double at =
        along_x ? 0.5 * (a->y + b->y) - p->floor->ymin : 0.5 * (a->x + b->x) - p->floor->xmin;
    const bool even = ((long)floor(at / p->step) & 1) == 0;
    return along_x ? (b->x > a->x) == even : (b->y > a->y) != even;
}

// Which lanes one can go to from one (and, against: from which one can come).
static void go_from(const plan *p, int32_t from, bool against, bool *seen, int32_t *queue)
{
    size_t n = 0;
    memset(seen, 0, p->s.n);
    seen[from] = true;
    queue[n++] = from;
    for (size_t i = 0; i < n; i++) {
        const pons__spot *s = &p->s.at[queue[i]];
        for (int k = 0; k < s->n; k++) {
            const pons__spot *o = &p->s.at[s->to[k]];
            bool go = !against && (s->out >> k & 1U);
            for (int b = 0; against && b < o->n; b++) {
                go = go || (o->to[b] == queue[i] && (o->out >> b & 1U));
            }
            if (go && !seen[s->to[k]]) {
                seen[s->to[k]] = true;
                queue[n++] = s->to[k];
            }
        }
    }
}

// The most lanes of which each leads to each other, as streets; in[] says which.
static void core_of(plan *p, bool *in)
{
    bool *to = pons_need(p->s.n), *from = pons_need(p->s.n), *done = pons_need_zeroed(p->s.n, 1);
    size_t most = 0;
    for (int32_t i = 0; (size_t)i < p->s.n; i++) {
        if (!is_lane(p, i, -1) || done[i]) {
            continue;
        }
        size_t n = 0;
        go_from(p, i, false, to, p->stack);
        go_from(p, i, true, from, p->stack);
        for (size_t z = 0; z < p->s.n; z++) {
            to[z] = to[z] && from[z];
            done[z] = done[z] || to[z];
            n += to[z];
        }
        if (n > most) {
            most = n;
            memcpy(in, to, p->s.n);
        }
    }
    free(to);
    free(from);
    free(done);
}

// Goes out from what is `in`, over what is not, until two ways meet or one comes back: *ret_a and *ret_b are the
// ends of the line that closes it, from_of the way back from each. False: nothing comes back.
static bool find_ear(plan *p, const bool *in, int32_t *from_of, int32_t *ret_a, int32_t *ret_b)
{
    int32_t *branch = p->order, *queue = p->stack;
    size_t n = 0;
    memset(branch, 0xff, p->s.n * sizeof *branch);
    for (int32_t i = 0; (size_t)i < p->s.n; i++) {
        for (int k = 0; in[i] && k < p->s.at[i].n; k++) {
            const int32_t to = p->s.at[i].to[k];
            if (in[to] || !is_lane(p, to, -1)) {
                continue;
            }
            if (branch[to] >= 0) { // from two sides
                *ret_a = to;
                *ret_b = i;
                return true;
            }
            branch[to] = to;
            from_of[to] = i;
            queue[n++] = to;
        }
    }
    for (size_t q = 0; q < n; q++) {
        const int32_t at = queue[q];
        for (int k = 0; k < p->s.at[at].n; k++) {
            const int32_t to = p->s.at[at].to[k];
            if (!is_lane(p, to, -1) || to == from_of[at] || in[to]) {
                continue; // what is in was looked at from there
            }
            if (branch[to] < 0) {
                branch[to] = branch[at];
                from_of[to] = at;
                queue[n++] = to;
            } else if (branch[to] != branch[at]) {
                *ret_a = at;
                *ret_b = to;
                return true;
            }
        }
    }
    return false;
}

// One way round: from the end of a's way, along it, over to b, and back along b's.
static void turn_ear(plan *p, bool *in, const int32_t *from_of, int32_t a, int32_t b)
{
    int32_t *way = p->stack;
    size_t n = 0;
    int agree = 0;
    for (int32_t z = a; !in[z]; z = from_of[z]) {
        way[n++] = z;
    }
    way[n] = from_of[way[n - 1]];
    n++;
    for (size_t i = 0; i < n / 2; i++) {
        const int32_t z = way[i];
        way[i] = way[n - 1 - i];
        way[n - 1 - i] = z;
    }
    for (int32_t z = b;; z = from_of[z]) {
        way[n++] = z;
        if (in[z]) {
            break;
        }
    }
    for (size_t i = 1; i < n; i++) {
        agree += as_streets(p, way[i - 1], way[i]) ? 1 : -1;
    }
    for (size_t i = 1; i < n; i++) {
        let(p, way[i - 1], way[i], agree >= 0);
        let(p, way[i], way[i - 1], agree < 0);
        in[way[i]] = true;
    }
}

static void turn_lanes(plan *p)
{
    bool *in = pons_need_zeroed(p->s.n + 1, 1);
    int32_t *from_of = pons_need((p->s.n + 1) * sizeof *from_of);
    for (int32_t i = 0; (size_t)i < p->s.n; i++) {
        for (int k = 0; k < p->s.at[i].n && is_lane(p, i, -1); k++) {
            const int32_t to = p->s.at[i].to[k];
            let(p, i, to, is_lane(p, to, -1) && as_streets(p, i, to));
        }
    }
    core_of(p, in);
    for (bool more = true; more;) {
        int32_t a = -1, b = -1;
        more = find_ear(p, in, from_of, &a, &b);
        if (more) {
            turn_ear(p, in, from_of, a, b);
            continue;
        }
        for (int32_t i = 0; (size_t)i < p->s.n && !more; i++) { // the only way to somewhere
            for (int k = 0; k < p->s.at[i].n && in[i] && !more; k++) {
                const int32_t to = p->s.at[i].to[k];
                if (is_lane(p, to, -1) && !in[to]) {
                    let(p, i, to, true);
                    let(p, to, i, true);
                    in[to] = more = true;
                }
            }
        }
    }
    free(in);
    free(from_of);
}

// ---- the map ------------------------------------------------------------------------------------

// "p7", or a later number where the caller has a bay of that name.
static void name_zone(const plan *p, pons_fleet_kind kind, size_t *number,
                      char ret[PONS_FLEET_NAME_MAX])
{
    for (bool there = true; there;) {
        there = false;
        snprintf(ret, PONS_FLEET_NAME_MAX, "%c%zu", "zpsd"[kind], ++*number);
        for (size_t i = 0; i < p->floor->n_bays; i++) {
            there = there || strcmp(p->floor->bays[i].id, ret) == 0;
        }
    }
}

static int32_t nearest_lane(const plan *p, int32_t bay)
{
    const pons__spot *s = &p->s.at[bay];
    double least = INFINITY;
    int32_t at = -1;
    for (int k = 0; k < s->n; k++) {
        const pons__spot *o = &p->s.at[s->to[k]];
        const double m = hypot(o->x - s->x, o->y - s->y);
        if (is_lane(p, s->to[k], -1) && m < least) {
            least = m;
            at = s->to[k];
        }
    }
    return at;
}

static int take_plan(plan *p, const char *name, pons_fleet_map **ret, pons_error *err)
{
    const size_t n = p->s.n;
    for (size_t i = 0; i < p->floor->n_bays; i++) {
        p->floor->bays[i].made = false;
    }
    if (p->made[PONS_FLEET_PARK] < p->floor->robots) {
        return pons_error_set(
            err, PONS_EINVAL, "fleet",
            "there is room on this floor for %zu robots that let each other pass, "
            "not for %zu",
            p->made[PONS_FLEET_PARK], p->floor->robots);
    }
    turn_lanes(p);
    pons_fleet_zone *zones = pons_need_zeroed(n, sizeof *zones);
    pons__arc *arcs = pons_need(n * (PONS__NEIGHBOURS + 2) * sizeof *arcs);
    size_t n_arcs = 0, numbers[PONS_FLEET_KINDS] = {0};
    for (int32_t i = 0; (size_t)i < n; i++) {
        const pons__spot *s = &p->s.at[i];
        const pons_fleet_kind kind = (pons_fleet_kind)p->kind[i];
        zones[i] = (pons_fleet_zone){
            .kind = kind, .x = round(s->x * 1000.0) / 1000.0, .y = round(s->y * 1000.0) / 1000.0};
        if (p->bay_of[i] >= 0) {
            pons_fleet_bay *bay = &p->floor->bays[p->bay_of[i]];
            snprintf(zones[i].id, sizeof zones[i].id, "%s", bay->id);
            bay->made = true;
        } else {
            name_zone(p, kind, &numbers[kind], zones[i].id);
        }
        if (kind != PONS_FLEET_LANE) {
            const int32_t at = nearest_lane(p, i);
            arcs[n_arcs++] = (pons__arc){at, i};
            arcs[n_arcs++] = (pons__arc){i, at};
        }
        for (int k = 0; k < s->n && kind == PONS_FLEET_LANE; k++) {
            if (s->out >> k & 1U) {
                arcs[n_arcs++] = (pons__arc){i, s->to[k]};
            }
        }
    }
    return pons__map_make(name, zones, n, arcs, n_arcs, NULL, NULL, ret, err);
}

// ---- public functions ---------------------------------------------------------------------------

static double free_area(const pons_fleet_floor *floor)
{
    const double d =
        fmax(SAMPLE_M, fmax(floor->xmax - floor->xmin, floor->ymax - floor->ymin) / 1000.0);
    size_t n = 0;
    for (double y = floor->ymin; y < floor->ymax; y += d) {
        for (double x = floor->xmin; x < floor->xmax; x += d) {
            n += floor->room(floor->user, x, y) > floor->radius_m;
        }
    }
    return (double)n * d * d;
}

static bool better(const plan *a, const plan *b)
{
    const bool room_a = a->made[PONS_FLEET_PARK] >= a->floor->robots;
    const bool room_b = b->made[PONS_FLEET_PARK] >= b->floor->robots;
    return room_a != room_b       ? room_a
           : a->worth != b->worth ? a->worth > b->worth
                                  : a->made[PONS_FLEET_PARK] > b->made[PONS_FLEET_PARK] && !room_b;
}

static void plan_make(plan *p, const pons_fleet_floor *floor, double step)
{
    *p = (plan){.floor = floor, .step = step};
    pons__floor_spots(floor, step, &p->s);
    const size_t n = p->s.n + 1;
    p->kind = pons_need_zeroed(n, sizeof *p->kind);
    p->bay_of = pons_need(n * sizeof *p->bay_of);
    p->order = pons_need(n * sizeof *p->order);
    p->low = pons_need(n * sizeof *p->low);
    p->stack = pons_need(n * sizeof *p->stack);
    p->next = pons_need(n);
    memset(p->bay_of, 0xff, n * sizeof *p->bay_of);
    choose_asked(p);
    choose_found(p);
}

static void plan_free(plan *p)
{
    free(p->s.at);
    free(p->kind);
    free(p->bay_of);
    free(p->order);
    free(p->low);
    free(p->stack);
    free(p->next);
    *p = (plan){0};
}

static int check_floor(const pons_fleet_floor *floor, double wide, double high, double least,
                       pons_error *err)
{
    if (!(wide > 0.0 && high > 0.0 && wide <= SIDE_MAX_M && high <= SIDE_MAX_M)) {
        return pons_error_set(err, PONS_EINVAL, "fleet",
                              "a floor has sides of more than 0 and at most %g m", SIDE_MAX_M);
    }
    if (!(floor->radius_m > 0.0) || floor->robots < 1 || floor->robots > ROBOTS_MAX) {
        return pons_error_set(err, PONS_EINVAL, "fleet",
                              "a map is for 1 to %d robots that have a radius", ROBOTS_MAX);
    }
    if (floor->step_m != 0.0 && !(floor->step_m >= least && floor->step_m <= 100.0)) {
        return pons_error_set(err, PONS_EINVAL, "fleet",
                              "zones are %.2f to 100 m apart for robots of this size, not %g",
                              least, floor->step_m);
    }
    return PONS_OK;
}

int pons_fleet_map_compile(const char *name, const pons_fleet_floor *floor, pons_fleet_map **ret,
                           pons_error *err)
{
    const double wide = floor->xmax - floor->xmin, high = floor->ymax - floor->ymin;
    const double least = SPARE * (2.0 * floor->radius_m + BETWEEN_M);
    const int bad = check_floor(floor, wide, high, least, err);
    if (bad < 0) {
        return bad;
    }
    const double area = free_area(floor);
    const double by_room = sqrt(area / (A_ROBOT * (double)floor->robots));
    const double finest =
        fmax(least, sqrt(fmax(area / SPOTS_MAX, wide * high / PONS__FLOOR_CELLS_MAX)));
    if (floor->step_m > 0.0 && floor->step_m < finest) {
        return pons_error_set(err, PONS_EINVAL, "fleet",
                              "zones are %.2f to 100 m apart on a floor of this size, not %g",
                              finest, floor->step_m);
    }
    double step = floor->step_m > 0.0 ? floor->step_m : fmax(fmin(by_room, STEP_MAX_M), finest);
    plan best = {.floor = floor};
    for (;;) {
        plan p = {0};
        plan_make(&p, floor, step);
        if (!best.kind || better(&p, &best)) {
            plan_free(&best);
            best = p;
        } else {
            plan_free(&p);
        }
        if (floor->step_m > 0.0 || step <= finest ||
            (best.asked == floor->n_bays && best.made[PONS_FLEET_PARK] >= floor->robots)) {
            break;
        }
        step = fmax(step * STEP_LESS, finest);
    }
    const int rc = take_plan(&best, name, ret, err);
    plan_free(&best);
    return rc;
}
