// floor_grid.c - from a floor to spots where a robot may stand, and straight lines between them.
//
// Narrow places come first: along the middle of passages, narrowest first, so that each door has its spot; then
// a grid over what is wide, then what is left. Of the lines between neighbours the short ones come first, and one
// that would bring two robots too near to each other is left out: two may be on the floor at the same time when each
// is on its own spots and lines, so a line keeps away from every spot but its ends, and from every line with which it
// has no end in common.
#include "fleet/map/floor_grid.h"

#include "pons/growing_list.h"
#include "pons/out_of_memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CELL_M      0.1
#define WALL_M      0.1  // beside a robot
#define BETWEEN_M   0.25 // two robots: each is not quite where it thinks it is
#define LINE_STEPS  1.9  // the longest
#define RIDGE_STEPS 0.85 // between two spots along a passage
#define GRID_STEPS  0.7
#define ASIDE_M     1.0 // that a bay may be from where it was asked for

typedef struct line {
    int32_t a, b;
    double m;
} line;

typedef struct making {
    const pons_fleet_floor *floor;
    pons__spots *spots;
    double step, cell, apart; // apart: two robots' middles
    int w, h;                 // cells
    float *room;              // (h, w); < what a robot needs: 0
    int cols, rows;           // of buckets, of one step
    int32_t *first, *after;   // the spots of a bucket: a list
    line *lines;
    size_t n_lines, cap_lines;
    int32_t *first_line, *after_line; // (lines) accepted ones, by the bucket of their middle
} making;

// ---- the floor ----------------------------------------------------------------------------------

static double cell_x(const making *m, int i)
{
    return m->floor->xmin + ((double)i + 0.5) * m->cell;
}

static double cell_y(const making *m, int k)
{
    return m->floor->ymin + ((double)k + 0.5) * m->cell;
}

static float room_at(const making *m, int i, int k)
{
    return i >= 0 && k >= 0 && i < m->w && k < m->h ? m->room[(size_t)k * (size_t)m->w + (size_t)i]
                                                    : 0.0F;
}

// Free of walls, and of chargers and who stands on one.
static double room_of(const making *m, double x, double y, int32_t own)
{
    double room = m->floor->room(m->floor->user, x, y) - WALL_M;
    for (size_t i = 0; i < m->floor->n_bays; i++) {
        const pons_fleet_bay *b = &m->floor->bays[i];
        if (b->kind == PONS_FLEET_DOCK && (int32_t)i != own) {
            room = fmin(room, hypot(b->pad_x - x, b->pad_y - y) - m->apart + m->floor->radius_m);
        }
    }
    return room >= m->floor->radius_m ? room : 0.0;
}

static void measure(making *m)
{
    m->room = pons_need((size_t)m->w * (size_t)m->h * sizeof *m->room);
    for (int k = 0; k < m->h; k++) {
        for (int i = 0; i < m->w; i++) {
            m->room[(size_t)k * (size_t)m->w + (size_t)i] =
                (float)room_of(m, cell_x(m, i), cell_y(m, k), -1);
        }
    }
}

// ---- spots --------------------------------------------------------------------------------------

typedef struct ridge {
    int i, k;
    bool passage;
    float room;
} ridge;

static int bucket_col(const making *m, double x)
{
    return (int)fmin(fmax((x - m->floor->xmin) / m->step, 0.0), m->cols - 1);
}

static int bucket_row(const making *m, double y)
{
    return (int)fmin(fmax((y - m->floor->ymin) / m->step, 0.0), m->rows - 1);
}

static void add_spot(making *m, double x, double y, int32_t bay)
{
    pons__spots *s = m->spots;
    if (s->n == s->cap) {
        s->cap = s->cap ? s->cap * 2 : 64;
        s->at = pons_need_more(s->at, s->cap * sizeof *s->at);
        m->after = pons_need_more(m->after, s->cap * sizeof *m->after);
    }
    int32_t *first = &m->first[bucket_row(m, y) * m->cols + bucket_col(m, x)];
    s->at[s->n] = (pons__spot){.x = x, .y = y, .bay = bay};
    m->after[s->n] = *first;
    *first = (int32_t)s->n++;
}

// Calls fn for each spot in reach; ends when it returns true, which is returned.
static bool each_spot(const making *m, double x, double y, double reach,
                      bool (*fn)(const making *m, int32_t spot, void *user), void *user)
{
    for (int k = bucket_row(m, y - reach); k <= bucket_row(m, y + reach); k++) {
        for (int i = bucket_col(m, x - reach); i <= bucket_col(m, x + reach); i++) {
            for (int32_t s = m->first[k * m->cols + i]; s >= 0; s = m->after[s]) {
                if (hypot(m->spots->at[s].x - x, m->spots->at[s].y - y) < reach && fn(m, s, user)) {
                    return true;
                }
            }
        }
    }
    return false;
}

static bool any(const making *m, int32_t spot, void *user)
{
    return true;
}

static bool alone(const making *m, double x, double y, double m_apart)
{
    return !each_spot(m, x, y, fmax(m_apart, m->apart), any, NULL);
}

// Each where it was asked for, or a little beside.
static void place_bays(making *m)
{
    for (size_t i = 0; i < m->floor->n_bays; i++) {
        const pons_fleet_bay *b = &m->floor->bays[i];
        double x = b->x, y = b->y, least = INFINITY;
        const int reach = (int)(ASIDE_M / m->cell);
        const int ci = (int)((b->x - m->floor->xmin) / m->cell);
        const int ck = (int)((b->y - m->floor->ymin) / m->cell);
        if (room_of(m, x, y, (int32_t)i) > 0.0 && alone(m, x, y, 0.0)) {
            least = 0.0;
        }
        for (int k = ck - reach; k <= ck + reach && least > 0.0; k++) {
            for (int c = ci - reach; c <= ci + reach; c++) {
                const double far = hypot(cell_x(m, c) - b->x, cell_y(m, k) - b->y);
                if (room_at(m, c, k) > 0.0F && far < least && far <= ASIDE_M &&
                    alone(m, cell_x(m, c), cell_y(m, k), 0.0)) {
                    least = far;
                    x = cell_x(m, c);
                    y = cell_y(m, k);
                }
            }
        }
        if (isfinite(least)) {
            add_spot(m, x, y, (int32_t)i);
        }
    }
}

// In the middle between what is on two sides of it; and a passage, where it is no narrower to both other sides.
static bool is_ridge(const making *m, ridge *r)
{
    const float here = r->room = room_at(m, r->i, r->k);
    bool is = false;
    for (int d = 0; d < 4 && here > 0.0F && (double)here < m->step; d++) {
        const int di = d == 1 ? 0 : 1, dk = d == 0 ? 0 : d == 3 ? -1 : 1;
        const float a = room_at(m, r->i - di, r->k - dk), b = room_at(m, r->i + di, r->k + dk);
        if (here >= a && here >= b && (here > a || here > b)) {
            is = true;
            r->passage = r->passage || (room_at(m, r->i - dk, r->k + di) >= here &&
                                        room_at(m, r->i + dk, r->k - di) >= here);
        }
    }
    return is;
}

// Passages, the narrowest first; then the widest of what ends in corners.
static int as_placed(const void *a, const void *b)
{
    const ridge *x = a, *y = b;
    const int wider = (x->room > y->room) - (x->room < y->room);
    return x->passage != y->passage ? y->passage - x->passage
           : wider != 0             ? (x->passage ? wider : -wider)
           : x->k != y->k           ? (x->k > y->k) - (x->k < y->k)
                                    : (x->i > y->i) - (x->i < y->i);
}

static void place_ridges(making *m)
{
    ridge *all = NULL;
    size_t n = 0, cap = 0;
    for (int k = 0; k < m->h; k++) {
        for (int i = 0; i < m->w; i++) {
            ridge r = {.i = i, .k = k};
            if (is_ridge(m, &r)) {
                pons_need_room(&all, &cap, n + 1, sizeof *all);
                all[n++] = r;
            }
        }
    }
    if (n > 0) {
        qsort(all, n, sizeof *all, as_placed);
    }
    for (size_t r = 0; r < n; r++) {
        const double x = cell_x(m, all[r].i), y = cell_y(m, all[r].k);
        if (alone(m, x, y, RIDGE_STEPS * m->step)) {
            add_spot(m, x, y, -1);
        }
    }
    free(all);
}

static void place_grid(making *m)
{
    const int each = (int)fmax(m->step / m->cell, 1.0);
    for (int pass = 0; pass < 2; pass++) { // the grid, and then what is left
        for (int k = pass ? 0 : each / 2; k < m->h; k += pass ? 1 : each) {
            for (int i = pass ? 0 : each / 2; i < m->w; i += pass ? 1 : each) {
                const double x = cell_x(m, i), y = cell_y(m, k);
                if (room_at(m, i, k) > 0.0F &&
                    alone(m, x, y, (pass ? 1.0 : GRID_STEPS) * m->step)) {
                    add_spot(m, x, y, -1);
                }
            }
        }
    }
}

// ---- lines --------------------------------------------------------------------------------------

static bool is_clear(const making *m, int32_t a, int32_t b)
{
    const pons__spot *p = &m->spots->at[a], *q = &m->spots->at[b];
    const double far = hypot(q->x - p->x, q->y - p->y);
    const int n = (int)(far / (0.5 * CELL_M)) + 1; // also on a floor whose cells are wider
    for (int i = 0; i <= n; i++) {
        const double t = (double)i / n;
        const double x = p->x + t * (q->x - p->x), y = p->y + t * (q->y - p->y);
        if (!(room_of(m, x, y, p->bay >= 0 ? p->bay : q->bay) > 0.0)) {
            return false;
        }
    }
    return true;
}

static void find_lines(making *m)
{
    const double reach = LINE_STEPS * m->step;
    for (int32_t a = 0; (size_t)a < m->spots->n; a++) {
        const pons__spot *p = &m->spots->at[a];
        for (int k = bucket_row(m, p->y - reach); k <= bucket_row(m, p->y + reach); k++) {
            for (int i = bucket_col(m, p->x - reach); i <= bucket_col(m, p->x + reach); i++) {
                for (int32_t b = m->first[k * m->cols + i]; b >= 0; b = m->after[b]) {
                    const double far = hypot(m->spots->at[b].x - p->x, m->spots->at[b].y - p->y);
                    if (b <= a || far > reach || !is_clear(m, a, b)) {
                        continue;
                    }
                    pons_need_room(&m->lines, &m->cap_lines, m->n_lines + 1, sizeof *m->lines);
                    m->lines[m->n_lines++] = (line){a, b, far};
                }
            }
        }
    }
}

static int shortest(const void *a, const void *b)
{
    const line *x = a, *y = b;
    return fabs(x->m - y->m) > 1e-9 ? (x->m > y->m) - (x->m < y->m)
           : x->a != y->a           ? (x->a > y->a) - (x->a < y->a)
                                    : (x->b > y->b) - (x->b < y->b);
}

static double from_line(const pons__spot *a, const pons__spot *b, const pons__spot *p)
{
    const double dx = b->x - a->x, dy = b->y - a->y, mm = dx * dx + dy * dy;
    const double t = mm > 0.0 ? ((p->x - a->x) * dx + (p->y - a->y) * dy) / mm : 0.0;
    const double at = fmin(fmax(t, 0.0), 1.0);
    return hypot(a->x + at * dx - p->x, a->y + at * dy - p->y);
}

static bool cross(const pons__spot *a, const pons__spot *b, const pons__spot *c,
                  const pons__spot *d)
{
#define SIDE(p, q, r)                                                                              \
    (((q)->x - (p)->x) * ((r)->y - (p)->y) - ((q)->y - (p)->y) * ((r)->x - (p)->x))
    return SIDE(a, b, c) * SIDE(a, b, d) < 0.0 && SIDE(c, d, a) * SIDE(c, d, b) < 0.0;
#undef SIDE
}

static bool too_near(const making *m, const line *x, const line *y)
{
    if (x->a == y->a || x->a == y->b || x->b == y->a || x->b == y->b) {
        return false;
    }
    const pons__spot *s = m->spots->at;
    const pons__spot *a = &s[x->a], *b = &s[x->b], *c = &s[y->a], *d = &s[y->b];
    const double least = fmin(fmin(from_line(a, b, c), from_line(a, b, d)),
                              fmin(from_line(c, d, a), from_line(c, d, b)));
    return least < m->apart - 1e-9 || cross(a, b, c, d);
}

static bool stands_in_way(const making *m, int32_t spot, void *user)
{
    const line *l = user;
    const pons__spot *s = m->spots->at;
    return spot != l->a && spot != l->b &&
           from_line(&s[l->a], &s[l->b], &s[spot]) < m->apart - 1e-9;
}

static bool accepted(const making *m, const line *l)
{
    const pons__spot *a = &m->spots->at[l->a], *b = &m->spots->at[l->b];
    const double x = 0.5 * (a->x + b->x), y = 0.5 * (a->y + b->y);
    line own = *l;
    if (a->n == PONS__NEIGHBOURS || b->n == PONS__NEIGHBOURS ||
        each_spot(m, x, y, 0.5 * l->m + m->apart, stands_in_way, &own)) {
        return false;
    }
    const double reach = 0.5 * (LINE_STEPS * m->step + l->m) + m->apart;
    for (int k = bucket_row(m, y - reach); k <= bucket_row(m, y + reach); k++) {
        for (int i = bucket_col(m, x - reach); i <= bucket_col(m, x + reach); i++) {
            for (int32_t o = m->first_line[k * m->cols + i]; o >= 0; o = m->after_line[o]) {
                if (too_near(m, l, &m->lines[o])) {
                    return false;
                }
            }
        }
    }
    return true;
}

static void choose_lines(making *m)
{
    m->after_line = pons_need((m->n_lines + 1) * sizeof *m->after_line);
    if (m->n_lines > 0) {
        qsort(m->lines, m->n_lines, sizeof *m->lines, shortest);
    }
    for (size_t i = 0; i < m->n_lines; i++) {
        const line *l = &m->lines[i];
        if (!accepted(m, l)) {
            continue;
        }
        pons__spot *a = &m->spots->at[l->a], *b = &m->spots->at[l->b];
        int32_t *first = &m->first_line[bucket_row(m, 0.5 * (a->y + b->y)) * m->cols +
                                        bucket_col(m, 0.5 * (a->x + b->x))];
        a->to[a->n++] = l->b;
        b->to[b->n++] = l->a;
        m->after_line[i] = *first;
        *first = (int32_t)i;
    }
}

// ---- what hangs together ------------------------------------------------------------------------

static size_t colour(const pons__spots *s, int32_t from, int32_t with, int32_t *part,
                     int32_t *queue, size_t *ret_bays)
{
    size_t n = 0;
    *ret_bays = 0;
    part[from] = with;
    queue[n++] = from;
    for (size_t i = 0; i < n; i++) {
        const pons__spot *p = &s->at[queue[i]];
        *ret_bays += p->bay >= 0;
        for (int k = 0; k < p->n; k++) {
            if (part[p->to[k]] < 0) {
                part[p->to[k]] = with;
                queue[n++] = p->to[k];
            }
        }
    }
    return n;
}

static void keep_whole(making *m)
{
    pons__spots *s = m->spots;
    int32_t *part = pons_need((s->n + 1) * sizeof *part);
    int32_t *queue = pons_need((s->n + 1) * sizeof *queue);
    int32_t best = -1, parts = 0;
    size_t most = 0, most_bays = 0, n = 0;
    memset(part, 0xff, (s->n + 1) * sizeof *part);
    for (int32_t i = 0; (size_t)i < s->n; i++) {
        size_t bays = 0;
        const size_t size = part[i] < 0 ? colour(s, i, parts++, part, queue, &bays) : 0;
        if (size > 0 && (best < 0 || bays > most_bays || (bays == most_bays && size > most))) {
            best = part[i];
            most = size;
            most_bays = bays;
        }
    }
    for (size_t i = 0; i < s->n; i++) { // queue: their new numbers
        queue[i] = part[i] == best ? (int32_t)n++ : -1;
    }
    n = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (queue[i] >= 0) {
            s->at[n] = s->at[i];
            for (int k = 0; k < s->at[n].n; k++) {
                s->at[n].to[k] = queue[s->at[n].to[k]];
            }
            n++;
        }
    }
    s->n = n;
    free(part);
    free(queue);
}

// ---- public functions ---------------------------------------------------------------------------

void pons__floor_spots(const pons_fleet_floor *floor, double step_m, pons__spots *ret)
{
    *ret = (pons__spots){0};
    making m = {
        .floor = floor, .spots = ret, .step = step_m, .apart = 2.0 * floor->radius_m + BETWEEN_M};
    const double wide = floor->xmax - floor->xmin, high = floor->ymax - floor->ymin;
    m.cell = fmax(CELL_M, sqrt(wide * high / PONS__FLOOR_CELLS_MAX));
    m.w = (int)(wide / m.cell) + 1;
    m.h = (int)(high / m.cell) + 1;
    m.cols = (int)(wide / step_m) + 2;
    m.rows = (int)(high / step_m) + 2;
    const size_t buckets = (size_t)m.cols * (size_t)m.rows;
    m.first = pons_need(buckets * sizeof *m.first);
    m.first_line = pons_need(buckets * sizeof *m.first_line);
    memset(m.first, 0xff, buckets * sizeof *m.first);
    memset(m.first_line, 0xff, buckets * sizeof *m.first_line);
    measure(&m);
    place_bays(&m);
    place_ridges(&m);
    place_grid(&m);
    find_lines(&m);
    choose_lines(&m);
    keep_whole(&m);
    free(m.room);
    free(m.first);
    free(m.after);
    free(m.lines);
    free(m.first_line);
    free(m.after_line);
}
