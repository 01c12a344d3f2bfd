// global_localizer.c - where in the whole map does a scan fit? For a robot that was carried away, nothing
// near its last pose says anything.
//
// Branch and bound over scan matches (Hess, Kohler, Rapp, Andor: "Real-Time Loop Closure in 2D
// LIDAR SLAM", ICRA 2016, section V), with a threshold in place of the best so far, for all places
// that fit are wanted: two that fit alike are no answer.
//
// A candidate is a cell and one of ANGLES headings. Its score is the share of the scan's ends that
// fall on a cell near a mapped face. A block of 2^h × 2^h candidates of one heading is bounded by a
// coarser map: an end of theirs falls into a window of 2^h × 2^h cells, which lies in 2 × 2 blocks,
// and the coarse map has one bit for "some cell of these 2 × 2 blocks is near a face":
//
//     level 0   a bit a cell: within NEAR_M of a face
//     level h   a bit a block of 2^h × 2^h cells, the OR of its 2 × 2 blocks
//
// So no candidate of a block scores more than the block does, and a block below the threshold is
// dropped whole. The others are cut in four, down to LEAF_M. A second pyramid says in which blocks
// the robot has room to stand.
//
//     angle 0 … ANGLES − 1, each block of the top level:  bound -> four -> … -> leaf -> places
//
// Leaves within APART_M and APART_RAD of each other are one place, the best of them. A block of the
// top level is the smallest slice, before that a row of the finest maps; how many lookups one costs
// is bounded. The order depends on nothing but the map and the scan.
#include "body/localization/global_localizer.h"

#include <stdlib.h>

enum { ANGLES = 144, LEVELS_MAX = 12, ENDS_MAX = 60 };
static const double NEAR_M = 0.10;
static const double LEAF_M = 0.10, TOP_M = 1.6;
static const double ROOM_M = 0.15;
static const double APART_M = 0.6, APART_RAD = 0.45;

typedef struct bitmap {
    int w, h, stride; // stride: words a row
    uint64_t *bits;
} bitmap;

struct pons__relocate {
    const pons__costmap *grid; // borrowed
    int top, leaf;             // levels
    bitmap near[LEVELS_MAX], room[LEVELS_MAX];
    int marked; // rows of the finest maps that are made
    int n;      // ends
    float px[ENDS_MAX], py[ENDS_MAX];
    int16_t ex[ENDS_MAX], ey[ENDS_MAX]; // at the present angle, in cells
    int angle;                          // being searched
    int bx, by;                         // the next block of the top level
    int need;                           // ends that must be explained
    int64_t lookups;
    pons__place places[PONS__PLACES_MAX];
    int n_places;
    bool more;
};

// ---- bitmaps ------------------------------------------------------------------------------------

static bool bitmap_init(bitmap *b, int w, int h)
{
    *b = (bitmap){.w = w, .h = h, .stride = (w + 63) / 64};
    b->bits = calloc((size_t)b->stride * (size_t)h, sizeof *b->bits);
    return b->bits != NULL;
}

// The bit of a block; false outside. What begins one block before the map reaches into it.
static inline bool bit(const bitmap *b, int x, int y)
{
    x = x == -1 ? 0 : x;
    y = y == -1 ? 0 : y;
    if (x < 0 || y < 0 || x >= b->w || y >= b->h) {
        return false;
    }
    return b->bits[(size_t)y * (size_t)b->stride + (size_t)(x >> 6)] >> (x & 63) & 1;
}

static void set_bit(bitmap *b, int x, int y)
{
    b->bits[(size_t)y * (size_t)b->stride + (size_t)(x >> 6)] |= (uint64_t)1 << (x & 63);
}

// A cell of the map's boxes that has a free one beside it.
static bool is_face(const pons__costmap *g, int x, int y)
{
    return pons__costmap_is_static(g, x, y) &&
           !(x > 0 && y > 0 && x < g->w - 1 && y < g->h - 1 &&
             pons__costmap_is_static(g, x - 1, y) && pons__costmap_is_static(g, x + 1, y) &&
             pons__costmap_is_static(g, x, y - 1) && pons__costmap_is_static(g, x, y + 1));
}

// One row of the finest maps: where there is room, and what is near a face of this row.
static void mark_row(pons__relocate *r, int y)
{
    const pons__costmap *g = r->grid;
    const int reach = (int)lround(NEAR_M / g->res) > 1 ? (int)lround(NEAR_M / g->res) : 1;
    for (int x = 0; x < g->w; x++) {
        const float d = pons__costmap_static_m(g, x, y);
        if (d >= (float)ROOM_M) {
            set_bit(&r->room[0], x, y);
        }
        if (d > 0.0f || !is_face(g, x, y)) {
            continue;
        }
        for (int ny = y - reach; ny <= y + reach; ny++) {
            for (int nx = x - reach; nx <= x + reach; nx++) {
                if (pons__costmap_inside(g, nx, ny)) {
                    set_bit(&r->near[0], nx, ny);
                }
            }
        }
    }
}

// Blocks of 2 × 2.
static void halve(const bitmap *from, bitmap *to)
{
    for (int y = 0; y < from->h; y++) {
        for (int k = 0; k < from->stride; k++) {
            uint64_t word = from->bits[(size_t)y * (size_t)from->stride + (size_t)k];
            while (word) {
                const int x = 64 * k + __builtin_ctzll(word);
                set_bit(to, x / 2, y / 2);
                word &= word - 1;
            }
        }
    }
}

// Each block takes over what the next one has, to the right and above, and both.
static void join_next(bitmap *b)
{
    for (int y = 0; y < b->h; y++) {
        uint64_t *row = b->bits + (size_t)y * (size_t)b->stride;
        const uint64_t *next = y + 1 < b->h ? row + b->stride : NULL;
        for (int k = 0; k < b->stride; k++) {
            row[k] |= next ? next[k] : 0; // the one above is as it was: rows go upwards
        }
        for (int k = 0; k < b->stride; k++) {
            row[k] |= row[k] >> 1 | (k + 1 < b->stride ? row[k + 1] << 63 : 0);
        }
    }
}

static bool make_room(pons__relocate *r)
{
    bool good = true;
    for (int i = 0; i <= r->top; i++) {
        const int w = ((r->grid->w - 1) >> i) + 1, h = ((r->grid->h - 1) >> i) + 1;
        good = good && bitmap_init(&r->near[i], w, h) && bitmap_init(&r->room[i], w, h);
    }
    return good;
}

// The coarser maps, from the finest.
static void make_pyramids(pons__relocate *r)
{
    for (int i = 1; i <= r->top; i++) {
        halve(&r->near[i - 1], &r->near[i]);
        halve(&r->room[i - 1], &r->room[i]);
    }
    for (int i = 1; i <= r->top; i++) {
        join_next(&r->near[i]);
    }
}

// ---- search -------------------------------------------------------------------------------------

static void turn(pons__relocate *r)
{
    const double a = 2.0 * M_PI * r->angle / ANGLES, c = cos(a), s = sin(a);
    for (int i = 0; i < r->n; i++) {
        const double x = (double)r->px[i], y = (double)r->py[i];
        r->ex[i] = (int16_t)lround((c * x - s * y) * r->grid->inv_res);
        r->ey[i] = (int16_t)lround((s * x + c * y) * r->grid->inv_res);
    }
}

// How many ends may be explained from somewhere in a block; fewer than needed: when it is known.
static int bound(pons__relocate *r, int level, int bx, int by)
{
    const bitmap b = r->near[level]; // a copy: most of a search's time is spent here
    const int x0 = bx << level, y0 = by << level, n = r->n;
    int misses = n - r->need, i = 0;
    for (; i < n && misses >= 0; i++) {
        misses -= !bit(&b, (x0 + r->ex[i]) >> level, (y0 + r->ey[i]) >> level);
    }
    r->lookups += i;
    return misses < 0 ? -1 : r->need + misses;
}

static void add_place(pons__relocate *r, int bx, int by, int score)
{
    const double half = 0.5 * (1 << r->leaf);
    const pons__place p = {{r->grid->x0 + ((bx << r->leaf) + half) * r->grid->res,
                            r->grid->y0 + ((by << r->leaf) + half) * r->grid->res,
                            pons_wrap_angle(2.0 * M_PI * r->angle / ANGLES)},
                           (double)score / r->n};
    int at = -1;
    for (int i = 0; i < r->n_places; i++) {
        const pons_pose2 *q = &r->places[i].pose;
        if (hypot(q->x - p.pose.x, q->y - p.pose.y) < APART_M &&
            fabs(pons_wrap_angle(q->yaw - p.pose.yaw)) < APART_RAD) {
            if (r->places[i].share >= p.share) {
                return;
            }
            at = i;
            break;
        }
    }
    if (at < 0 && r->n_places == PONS__PLACES_MAX) {
        r->more = true;
        at = PONS__PLACES_MAX - 1; // the worst: they are in order
        if (r->places[at].share >= p.share) {
            return;
        }
    }
    at = at < 0 ? r->n_places++ : at;
    for (; at > 0 && r->places[at - 1].share < p.share; at--) {
        r->places[at] = r->places[at - 1];
    }
    r->places[at] = p;
}

static void search(pons__relocate *r, int level, int bx, int by)
{
    r->lookups++;
    if (!bit(&r->room[level], bx, by)) {
        return;
    }
    const int score = bound(r, level, bx, by);
    if (score < 0) {
        return;
    }
    if (level == r->leaf) {
        add_place(r, bx, by, score);
        return;
    }
    for (int k = 0; k < 4; k++) {
        search(r, level - 1, 2 * bx + (k & 1), 2 * by + (k >> 1));
    }
}

// ---- public functions ---------------------------------------------------------------------------

pons__relocate *pons__relocate_create(const pons__costmap *grid, const float *px, const float *py,
                                      int n, double share)
{
    pons__relocate *r = calloc(1, sizeof *r);
    if (!r) {
        return NULL;
    }
    r->grid = grid;
    while (r->leaf < LEVELS_MAX - 1 && (2 << r->leaf) * grid->res <= LEAF_M + 1e-9) {
        r->leaf++;
    }
    r->top = r->leaf;
    while (r->top < LEVELS_MAX - 1 && (2 << r->top) * grid->res <= TOP_M + 1e-9) {
        r->top++;
    }
    // Every k-th end, so that they come from all around.
    r->n = n < ENDS_MAX ? n : ENDS_MAX;
    for (int i = 0; i < r->n; i++) {
        const int k = (int)((int64_t)i * n / r->n);
        r->px[i] = px[k];
        r->py[i] = py[k];
    }
    if (!make_room(r)) {
        pons__relocate_destroy(r);
        return NULL;
    }
    pons__relocate_restart(r, share);
    return r;
}

void pons__relocate_destroy(pons__relocate *r)
{
    if (!r) {
        return;
    }
    for (int i = 0; i < LEVELS_MAX; i++) {
        free(r->near[i].bits);
        free(r->room[i].bits);
    }
    free(r);
}

void pons__relocate_restart(pons__relocate *r, double share)
{
    r->need = (int)ceil(share * r->n);
    r->angle = r->bx = r->by = 0;
    r->n_places = 0;
    r->more = false;
    turn(r);
}

bool pons__relocate_step(pons__relocate *r, int64_t lookups)
{
    const int64_t until = r->lookups + lookups;
    const bitmap *top = &r->near[r->top];
    while (r->marked < r->grid->h && r->lookups < until) {
        mark_row(r, r->marked++);
        r->lookups += r->grid->w;
        if (r->marked == r->grid->h) {
            make_pyramids(r);
        }
    }
    while (r->angle < ANGLES && r->lookups < until) {
        search(r, r->top, r->bx, r->by);
        if (++r->bx == top->w) {
            r->bx = 0;
            r->by++;
        }
        if (r->by == top->h) {
            r->by = 0;
            r->angle++;
            turn(r);
        }
    }
    return r->angle >= ANGLES;
}

int pons__relocate_places(const pons__relocate *r, const pons__place **ret, bool *ret_more)
{
    *ret = r->places;
    *ret_more = r->more;
    return r->n_places;
}
