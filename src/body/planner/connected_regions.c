// connected_regions.c - which parts of a map hang together.
//
// A building has millions of cells, and a search that visits them all is seconds long. So the map is
// cut into tiles of 32 × 32 cells, and each tile's free cells into regions: those that can reach each
// other inside the tile. Most tiles have one or two. Two regions of neighbouring tiles hang together
// when a cell of one is beside a cell of the other, across their common edge or corner:
//
//     +--------+--------+
//     |  1     |    1   |     of each tile are kept: which region each cell of its four edges is of,
//     |####    |        |     and for each region the free cell nearest to its middle, and what a
//     |    2   |  1     |     metre costs in it
//     +--------+--------+
//
// This graph is exact about whether there is a way (the hierarchical search of Botea, Müller and
// Schaeffer, "Near Optimal Hierarchical Path-Finding", 2004, with regions in place of entrances) and
// rough about how long it is. A* over it gives the tiles that the fine search may use.
//
// Tiles in which the costmap has changed since (costmap.c counts generations by patch) are cut anew
// before a search.
#include "body/planner/connected_regions.h"

#include "pons/growing_list.h"

#include <stdlib.h>
#include <string.h>

enum { SIDE = PONS__TILE, CELLS = SIDE * SIDE, MOST = 15 }; // regions of a tile: 1 … MOST
enum { EAST, NORTH, WEST, SOUTH, EDGES };
_Static_assert(PONS__PATCH % PONS__TILE == 0, "a tile lies in one patch");

typedef struct tile {
    uint8_t edge[EDGES][SIDE]; // region of each cell there, from the left or from below; 0: none
    uint8_t mid_x[MOST], mid_y[MOST]; // a free cell near the middle, in the tile
    uint16_t metre[MOST];             // what one costs, in units
    uint8_t n;
    uint32_t generation; // of the costmap, when it was cut
} tile;

typedef struct entry { // of the heap
    float f;
    int32_t node;
} entry;

struct pons__regions {
    const pons__costmap *g; // borrowed
    const uint16_t *cost;   // borrowed
    int unit;
    int w, h; // in tiles
    tile *tiles;

    // a search: a node is 16 · tile + region
    float *cost_to;  // (16·w·h)
    int32_t *parent; // (16·w·h) -1: the first
    entry *heap;
    int n_heap;
    size_t cap_heap;
    int32_t first, last;
    double last_x, last_y;
    pons__extra_cost *extra;
    const void *user;
    int32_t *way; // (n_way) nodes, the first first
    int n_way;
    int searched;
    bool starved; // there was no memory
};

// ---- tiles --------------------------------------------------------------------------------------

static uint16_t metre_at(const pons__regions *r, int cx, int cy)
{
    return pons__costmap_inside(r->g, cx, cy)
               ? r->cost[pons__costmap_level(r->g, (size_t)cy * (size_t)r->g->w + (size_t)cx)]
               : 0;
}

// Floods a region from a cell of its own. Returns how many cells it has; *ret_sum: what a metre in
// each costs, added up.
static int flood(const uint16_t metre[CELLS], uint8_t label[CELLS], int from, uint8_t name,
                 int16_t list[CELLS], uint32_t *ret_sum)
{
    int n = 0;
    list[n++] = (int16_t)from;
    label[from] = name;
    *ret_sum = 0;
    for (int i = 0; i < n; i++) {
        const int x = list[i] % SIDE, y = list[i] / SIDE;
        *ret_sum += metre[list[i]];
        for (int ny = y > 0 ? y - 1 : 0; ny <= y + 1 && ny < SIDE; ny++) {
            for (int nx = x > 0 ? x - 1 : 0; nx <= x + 1 && nx < SIDE; nx++) {
                const int c = ny * SIDE + nx;
                if (metre[c] && !label[c]) {
                    label[c] = name;
                    list[n++] = (int16_t)c;
                }
            }
        }
    }
    return n;
}

static void find_middle(tile *t, int k, const int16_t *list, int n)
{
    long sum_x = 0, sum_y = 0, best = -1;
    for (int i = 0; i < n; i++) {
        sum_x += list[i] % SIDE;
        sum_y += list[i] / SIDE;
    }
    for (int i = 0; i < n; i++) {
        const long dx = list[i] % SIDE - sum_x / n, dy = list[i] / SIDE - sum_y / n;
        if (best < 0 || dx * dx + dy * dy < best) {
            best = dx * dx + dy * dy;
            t->mid_x[k] = (uint8_t)(list[i] % SIDE);
            t->mid_y[k] = (uint8_t)(list[i] / SIDE);
        }
    }
}

// A tile's regions; of more than MOST the others count to the last.
static void cut(pons__regions *r, int at, uint8_t label[CELLS])
{
    tile *t = &r->tiles[at];
    const int x0 = at % r->w * SIDE, y0 = at / r->w * SIDE;
    uint16_t metre[CELLS];
    int16_t list[CELLS];
    for (int c = 0; c < CELLS; c++) {
        metre[c] = metre_at(r, x0 + c % SIDE, y0 + c / SIDE);
    }
    memset(label, 0, CELLS);
    t->n = 0;
    t->generation = r->g->generation;
    for (int c = 0; c < CELLS; c++) {
        if (!metre[c] || label[c]) {
            continue;
        }
        uint32_t sum;
        const int k = t->n < MOST ? t->n : MOST - 1;
        const int n = flood(metre, label, c, (uint8_t)(k + 1), list, &sum);
        if (t->n < MOST) {
            t->n++;
            t->metre[k] = (uint16_t)(sum / (uint32_t)n);
            find_middle(t, k, list, n);
        }
    }
    for (int i = 0; i < SIDE; i++) {
        t->edge[EAST][i] = label[i * SIDE + SIDE - 1];
        t->edge[WEST][i] = label[i * SIDE];
        t->edge[NORTH][i] = label[(SIDE - 1) * SIDE + i];
        t->edge[SOUTH][i] = label[i];
    }
}

// ---- search -------------------------------------------------------------------------------------

static void push(pons__regions *r, float f, int32_t node)
{
    if ((size_t)r->n_heap == r->cap_heap &&
        !pons_list_reserve(&r->heap, &r->cap_heap, r->cap_heap + 1, sizeof *r->heap)) {
        r->starved = true;
        return;
    }
    int i = r->n_heap++;
    for (; i > 0 && r->heap[(i - 1) / 2].f > f; i = (i - 1) / 2) {
        r->heap[i] = r->heap[(i - 1) / 2];
    }
    r->heap[i] = (entry){f, node};
}

static int32_t pop(pons__regions *r, float *ret_f)
{
    const entry top = r->heap[0], moved = r->heap[--r->n_heap];
    int i = 0;
    for (int child = 1; child < r->n_heap; child = 2 * i + 1) {
        child += child + 1 < r->n_heap && r->heap[child + 1].f < r->heap[child].f;
        if (r->heap[child].f >= moved.f) {
            break;
        }
        r->heap[i] = r->heap[child];
        i = child;
    }
    r->heap[i] = moved;
    *ret_f = top.f;
    return top.node;
}

// The middle of a node's region, as a cell of the map.
static void middle(const pons__regions *r, int32_t node, int *ret_x, int *ret_y)
{
    const int t = node / 16, k = node % 16 - 1;
    *ret_x = t % r->w * SIDE + r->tiles[t].mid_x[k];
    *ret_y = t / r->w * SIDE + r->tiles[t].mid_y[k];
}

static void relax(pons__regions *r, int32_t node, int32_t to)
{
    int ax, ay, bx, by;
    middle(r, node, &ax, &ay);
    middle(r, to, &bx, &by);
    const tile *a = &r->tiles[node / 16], *b = &r->tiles[to / 16];
    const int here = node % 16 - 1, there = to % 16 - 1;
    const double metre = 0.5 * (a->metre[here] + b->metre[there]) / r->unit;
    const int mx = (ax + bx) / 2, my = (ay + by) / 2;
    const double x = pons__costmap_x(r->g, mx), y = pons__costmap_y(r->g, my);
    const double extra = r->extra ? r->extra(r->user, x, y) : 0.0;
    const double way = hypot(ax - bx, ay - by) * r->g->res * (metre + extra);
    const double cost = (double)r->cost_to[node] + way;
    if (cost >= (double)r->cost_to[to]) {
        return;
    }
    r->cost_to[to] = (float)cost;
    r->parent[to] = node;
    push(r, (float)(cost + hypot(bx - r->last_x, by - r->last_y) * r->g->res), to);
}

// The regions of a neighbouring tile that hang together with this one, a bit each.
static unsigned beside(const tile *a, const tile *b, int dx, int dy, uint8_t name)
{
    unsigned all = 0;
    if (dx != 0 && dy != 0) {
        const uint8_t mine = a->edge[dy > 0 ? NORTH : SOUTH][dx > 0 ? SIDE - 1 : 0];
        return mine == name ? 1u << b->edge[dy > 0 ? SOUTH : NORTH][dx > 0 ? 0 : SIDE - 1] : 0;
    }
    const uint8_t *mine = a->edge[dx > 0 ? EAST : dx < 0 ? WEST : dy > 0 ? NORTH : SOUTH];
    const uint8_t *theirs = b->edge[dx > 0 ? WEST : dx < 0 ? EAST : dy > 0 ? SOUTH : NORTH];
    for (int i = 0; i < SIDE; i++) {
        for (int k = i > 0 ? i - 1 : 0; mine[i] == name && k <= i + 1 && k < SIDE; k++) {
            all |= 1u << theirs[k];
        }
    }
    return all;
}

static void expand(pons__regions *r, int32_t node)
{
    const int t = node / 16, tx = t % r->w, ty = t / r->w;
    for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
            const int nx = tx + dx, ny = ty + dy;
            if ((dx == 0 && dy == 0) || nx < 0 || ny < 0 || nx >= r->w || ny >= r->h) {
                continue;
            }
            const int to = ny * r->w + nx;
            const unsigned all =
                beside(&r->tiles[t], &r->tiles[to], dx, dy, (uint8_t)(node % 16)) & ~1u;
            for (unsigned left = all; left; left &= left - 1) {
                relax(r, node, 16 * to + __builtin_ctz(left));
            }
        }
    }
}

static bool take_way(pons__regions *r)
{
    int n = 0;
    for (int32_t k = r->last; k >= 0; k = r->parent[k]) {
        n++;
    }
    r->way = malloc(sizeof *r->way * (size_t)n);
    if (!r->way) {
        return false;
    }
    r->n_way = n;
    for (int32_t k = r->last; k >= 0; k = r->parent[k]) {
        r->way[--n] = k;
    }
    return true;
}

// ---- public functions ---------------------------------------------------------------------------

pons__regions *pons__regions_create(const pons__costmap *g, const uint16_t cost[PONS__LEVELS],
                                    int unit)
{
    pons__regions *r = calloc(1, sizeof *r);
    if (!r) {
        return NULL;
    }
    *r = (pons__regions){
        .g = g, .cost = cost, .unit = unit, .w = (g->w - 1) / SIDE + 1, .h = (g->h - 1) / SIDE + 1};
    r->tiles = calloc((size_t)r->w * (size_t)r->h, sizeof *r->tiles);
    if (!r->tiles) {
        pons__regions_destroy(r);
        return NULL;
    }
    uint8_t label[CELLS];
    for (int t = 0; t < r->w * r->h; t++) {
        cut(r, t, label);
    }
    return r;
}

void pons__regions_destroy(pons__regions *r)
{
    if (r) {
        pons__regions_end(r);
        free(r->tiles);
        free(r);
    }
}

void pons__regions_end(pons__regions *r)
{
    free(r->cost_to);
    free(r->parent);
    free(r->heap);
    free(r->way);
    r->cost_to = NULL;
    r->parent = NULL;
    r->heap = NULL;
    r->way = NULL;
    r->n_heap = r->cap_heap = r->n_way = 0;
}

static int32_t node_at(pons__regions *r, int cx, int cy)
{
    const int t = cy / SIDE * r->w + cx / SIDE;
    uint8_t label[CELLS];
    cut(r, t, label);
    return 16 * t + label[cy % SIDE * SIDE + cx % SIDE];
}

bool pons__regions_begin(pons__regions *r, int from_x, int from_y, int to_x, int to_y,
                         pons__extra_cost *extra, const void *user)
{
    const size_t nodes = 16 * (size_t)r->w * (size_t)r->h;
    uint8_t label[CELLS];
    pons__regions_end(r);
    for (int t = 0; t < r->w * r->h; t++) {
        const int patch =
            t / r->w * SIDE / PONS__PATCH * r->g->patches_w + t % r->w * SIDE / PONS__PATCH;
        if (r->g->changed[patch] > r->tiles[t].generation) {
            cut(r, t, label);
        }
    }
    r->cost_to = malloc(nodes * sizeof *r->cost_to);
    r->parent = malloc(nodes * sizeof *r->parent);
    if (!r->cost_to || !r->parent) {
        pons__regions_end(r);
        return false;
    }
    for (size_t i = 0; i < nodes; i++) {
        r->cost_to[i] = INFINITY;
    }
    r->first = node_at(r, from_x, from_y);
    r->last = node_at(r, to_x, to_y);
    r->last_x = to_x;
    r->last_y = to_y;
    r->extra = extra;
    r->user = user;
    r->searched = 0;
    r->starved = false;
    r->cost_to[r->first] = 0.0f;
    r->parent[r->first] = -1;
    push(r, 0.0f, r->first);
    return !r->starved;
}

int pons__regions_step(pons__regions *r, int regions)
{
    for (; regions > 0 && r->n_heap > 0 && !r->starved; regions--) {
        float f;
        const int32_t node = pop(r, &f);
        if (node == r->last) {
            return take_way(r) ? 1 : -1;
        }
        int x, y;
        middle(r, node, &x, &y);
        const double left = hypot(x - r->last_x, y - r->last_y) * r->g->res;
        if ((double)f > (double)r->cost_to[node] + left + 1e-3) {
            continue; // a cheaper way there was found since
        }
        r->searched++;
        expand(r, node);
    }
    return r->n_heap > 0 && !r->starved ? 0 : -1;
}

int pons__regions_way(const pons__regions *r)
{
    return r->n_way;
}

int pons__regions_tile(const pons__regions *r, int i)
{
    return r->way[i] / 16;
}

void pons__regions_cell(const pons__regions *r, int i, int *ret_x, int *ret_y)
{
    middle(r, r->way[i], ret_x, ret_y);
}

int pons__regions_searched(const pons__regions *r)
{
    return r->searched;
}
