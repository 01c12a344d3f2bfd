// astar.c - A* over the cells of a map's tiles.
//
// Eight neighbours, with the octile distance as the heuristic. Costs are integers (16ths), and a
// step raises f by a bounded amount, so the open list is a ring of buckets (Dial 1969): push and pop
// in constant time. A cell that becomes cheaper is pushed again, and what it was before is passed
// over when it comes up. Last in first out inside a bucket: the search goes deep among equals, and
// its order depends on nothing but the map.
//
// A cell's state is 5 bytes: what it cost so far, the step by which it was reached, whether it is
// done. They lie by tiles, which get their memory when the search comes there: in a house all of it
// is kept, in a large building most goes back when a search has ended. Tiles that are not allowed
// are walls; connected_regions.c says which are worth searching.
#include "body/planner/astar.h"

#include "pons/growing_list.h"

#include <stdlib.h>
#include <string.h>

enum {
    SIDE = PONS__TILE,
    STRAIGHT = 10, // length of a step to a side, and
    DIAGONAL = 14, // to a corner
    BUCKETS = 512,
    KEPT_MAX = 256 // tiles whose memory stays
};
enum { OPEN = 0x10, CLOSED = 0x20, FIRST = 0x40, STEP = 0x07 }; // of a cell's meta

typedef struct cells {
    uint32_t g[SIDE * SIDE];   // cost so far
    uint8_t meta[SIDE * SIDE]; // the step by which it was reached, and what it is
} cells;

typedef struct bucket {
    int32_t *cell;
    size_t n, cap;
} bucket;

struct pons__search {
    const pons__costmap *g;
    const uint16_t *cost;
    uint32_t unit;
    int w, h; // in tiles
    cells **tiles;
    uint8_t *allowed; // (w·h)
    int32_t *used;    // (n_used) tiles that this search has come to
    int n_used;
    cells *kept[KEPT_MAX];
    int n_kept;

    bucket ring[BUCKETS];
    uint32_t f; // the bucket being emptied
    int n_open; // entries of all buckets
    int from_x, from_y, to_x, to_y;
    int32_t last;
    pons__extra_cost *extra;
    const void *user;
    int searched;
    bool starved; // there was no memory
};

static const int8_t steps[8][2] = {{1, 0}, {-1, 0}, {0, 1},  {0, -1},
                                   {1, 1}, {1, -1}, {-1, 1}, {-1, -1}};

// ---- helpers ------------------------------------------------------------------------------------

// The states of the tile that a cell lies in; NULL: it is not allowed.
static cells *tile_of(pons__search *s, int cx, int cy)
{
    const int at = cy / SIDE * s->w + cx / SIDE;
    if (s->tiles[at] || !s->allowed[at]) {
        return s->tiles[at];
    }
    cells *t = s->n_kept > 0 ? s->kept[--s->n_kept] : malloc(sizeof *t);
    if (!t) {
        s->starved = true;
        return NULL;
    }
    memset(t->meta, 0, sizeof t->meta);
    s->used[s->n_used++] = at;
    return s->tiles[at] = t;
}

static void push(pons__search *s, uint32_t f, int32_t cell)
{
    bucket *b = &s->ring[f % BUCKETS];
    if (b->n == b->cap && !pons_list_reserve(&b->cell, &b->cap, b->n + 1, sizeof *b->cell)) {
        s->starved = true;
        return;
    }
    b->cell[b->n++] = cell;
    s->n_open++;
}

static inline int place_of(int cx, int cy)
{
    return cy % SIDE * SIDE + cx % SIDE;
}

static uint32_t octile(int dx, int dy)
{
    dx = abs(dx);
    dy = abs(dy);
    const int lo = dx < dy ? dx : dy, hi = dx < dy ? dy : dx;
    return (uint32_t)(STRAIGHT * (hi - lo) + DIAGONAL * lo);
}

static void expand(pons__search *s, int32_t cell)
{
    const pons__costmap *g = s->g;
    const int cx = cell % g->w, cy = cell / g->w;
    const uint32_t g_here = s->tiles[cy / SIDE * s->w + cx / SIDE]->g[place_of(cx, cy)];
    for (int k = 0; k < 8; k++) {
        const int nx = cx + steps[k][0], ny = cy + steps[k][1];
        cells *t = pons__costmap_inside(g, nx, ny) ? tile_of(s, nx, ny) : NULL;
        if (!t) {
            continue;
        }
        const int at = place_of(nx, ny);
        if (t->meta[at] & CLOSED) {
            continue;
        }
        const int32_t next = ny * g->w + nx;
        uint32_t m = s->cost[pons__costmap_level(g, (size_t)next)];
        if (m == 0) {
            t->meta[at] |= CLOSED;
            continue;
        }
        if (s->extra) {
            m += (uint32_t)(s->unit *
                            s->extra(s->user, pons__costmap_x(g, nx), pons__costmap_y(g, ny)));
        }
        const uint32_t g_next = g_here + (k < 4 ? STRAIGHT : DIAGONAL) * m / s->unit;
        if ((t->meta[at] & OPEN) && g_next >= t->g[at]) {
            continue;
        }
        t->g[at] = g_next;
        t->meta[at] = (uint8_t)(OPEN | k);
        push(s, g_next + octile(s->to_x - nx, s->to_y - ny), next);
    }
}

// ---- public functions ---------------------------------------------------------------------------

pons__search *pons__search_create(const pons__costmap *g, const uint16_t cost[PONS__LEVELS],
                                  int unit)
{
    pons__search *s = calloc(1, sizeof *s);
    if (!s) {
        return NULL;
    }
    s->g = g;
    s->cost = cost;
    s->unit = (uint32_t)unit;
    s->w = (g->w - 1) / SIDE + 1;
    s->h = (g->h - 1) / SIDE + 1;
    const size_t n = (size_t)s->w * (size_t)s->h;
    s->tiles = calloc(n, sizeof *s->tiles);
    s->allowed = calloc(n, 1);
    s->used = calloc(n, sizeof *s->used);
    if (!s->tiles || !s->allowed || !s->used) {
        pons__search_destroy(s);
        return NULL;
    }
    return s;
}

void pons__search_destroy(pons__search *s)
{
    if (!s) {
        return;
    }
    if (s->tiles && s->used) {
        pons__search_end(s);
    }
    for (int i = 0; i < s->n_kept; i++) {
        free(s->kept[i]);
    }
    for (int i = 0; i < BUCKETS; i++) {
        free(s->ring[i].cell);
    }
    free(s->tiles);
    free(s->allowed);
    free(s->used);
    free(s);
}

void pons__search_allow_all(pons__search *s)
{
    memset(s->allowed, 1, (size_t)s->w * (size_t)s->h);
}

void pons__search_allow_none(pons__search *s)
{
    memset(s->allowed, 0, (size_t)s->w * (size_t)s->h);
}

void pons__search_allow(pons__search *s, int tile)
{
    const int tx = tile % s->w, ty = tile / s->w;
    for (int y = ty > 0 ? ty - 1 : 0; y <= ty + 1 && y < s->h; y++) {
        for (int x = tx > 0 ? tx - 1 : 0; x <= tx + 1 && x < s->w; x++) {
            s->allowed[y * s->w + x] = 1;
        }
    }
}

bool pons__search_begin(pons__search *s, int from_x, int from_y, int to_x, int to_y,
                        pons__extra_cost *extra, const void *user)
{
    pons__search_end(s);
    s->from_x = from_x;
    s->from_y = from_y;
    s->to_x = to_x;
    s->to_y = to_y;
    s->last = to_y * s->g->w + to_x;
    s->extra = extra;
    s->user = user;
    s->searched = s->n_open = 0;
    s->starved = false;
    cells *t = tile_of(s, from_x, from_y);
    if (!t) {
        return false;
    }
    t->g[place_of(from_x, from_y)] = 0;
    t->meta[place_of(from_x, from_y)] = OPEN | FIRST;
    s->f = octile(to_x - from_x, to_y - from_y);
    push(s, s->f, from_y * s->g->w + from_x);
    return !s->starved;
}

int pons__search_step(pons__search *s, int left)
{
    // The dearest step costs DIAGONAL·(1 + NEAR_COST + SPOT_COST) and may go straight away from the
    // goal: f rises by less than a turn of the ring, so a bucket holds one value of f at a time.
    while (s->n_open > 0 && !s->starved) {
        bucket *b = &s->ring[s->f % BUCKETS];
        if (b->n == 0) {
            s->f++;
            continue;
        }
        if (left-- <= 0) {
            return 0;
        }
        const int32_t cell = b->cell[--b->n];
        s->n_open--;
        const int cx = cell % s->g->w, cy = cell / s->g->w, at = place_of(cx, cy);
        cells *t = s->tiles[cy / SIDE * s->w + cx / SIDE];
        if ((t->meta[at] & CLOSED) || t->g[at] + octile(s->to_x - cx, s->to_y - cy) != s->f) {
            continue;
        }
        t->meta[at] |= CLOSED;
        if (cell == s->last) {
            return 1;
        }
        s->searched++;
        expand(s, cell);
    }
    return -1;
}

int pons__search_searched(const pons__search *s)
{
    return s->searched;
}

int32_t *pons__search_way(const pons__search *s, int *ret_n)
{
    int n = 0;
    int32_t *way = NULL;
    for (int pass = 0; pass < 2; pass++) {
        int cx = s->to_x, cy = s->to_y, at = n;
        for (;;) {
            const uint8_t meta = s->tiles[cy / SIDE * s->w + cx / SIDE]->meta[place_of(cx, cy)];
            if (pass == 1) {
                way[--at] = cy * s->g->w + cx;
            } else {
                n++;
            }
            if (meta & FIRST) {
                break;
            }
            cx -= steps[meta & STEP][0];
            cy -= steps[meta & STEP][1];
        }
        if (pass == 0 && !(way = malloc(sizeof *way * (size_t)n))) {
            return NULL;
        }
    }
    *ret_n = n;
    return way;
}

void pons__search_end(pons__search *s)
{
    for (int i = 0; i < s->n_used; i++) {
        cells **t = &s->tiles[s->used[i]];
        if (s->n_kept < KEPT_MAX) {
            s->kept[s->n_kept++] = *t;
        } else {
            free(*t);
        }
        *t = NULL;
    }
    s->n_used = 0;
    for (int i = 0; i < BUCKETS; i++) {
        s->ring[i].n = 0;
        if (s->ring[i].cap > KEPT_MAX) {
            free(s->ring[i].cell);
            s->ring[i] = (bucket){0};
        }
    }
}
