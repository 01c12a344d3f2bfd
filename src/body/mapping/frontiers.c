// frontiers.c - finds the frontiers, where the known floor ends, and orders them by the shortest round through them.
//
// A frontier (Yamauchi, "A Frontier-Based Approach for Autonomous Exploration", 1997) is a run of free cells beside unknown
// ones. Three floods, each from what the last one has found:
//
//     the robot --> cells where its middle can be, with the way to each      (room_m from walls and from the unknown)
//               --> free cells near those, which it sees from there          (LOOK_M further; never through a wall)
//               --> runs of them that are beside unknown cells               (a frontier each, if it is long enough)
//
// There are such cells behind a chair as well, in a corner where no robot can stand. So a cell counts only if the robot's
// middle could reach a new pose near the cell if all unknown cells were free.
//
// The first flood goes by rings of equal way, in fifths of a cell: 5 straight, 7 across a corner. So a frontier behind a wall
// is as far as its way, and one that nobody can reach is none.
//
// The robot visits all frontiers in the end, so the length of the whole round counts: from the robot through the nearest
// STOPS_MAX frontiers and home. A robot that drives to the largest or the nearest first must come back later for a small one in
// a far corner. A flood from each frontier gives the ways between them. The algorithm of Held and Karp ("A Dynamic Programming
// Approach to Sequencing Problems", 1962) gives the shortest round that begins with each.
#include "body/mapping/frontiers.h"

#include "pons/growing_list.h"

#include <stdlib.h>
#include <string.h>

enum { STRAIGHT = 5, ACROSS = 7, RINGS = ACROSS + 1, STOPS_MAX = 10 };
static const double MORE_M = 0.05; // a wall is drawn as rough as this
static const double LOOK_M = 0.8, SNAP_M = 0.6, NO_ROUND_M = 1e6;

typedef struct list {
    int32_t *at;
    int n;
    size_t cap;
} list;

typedef struct field {
    const pons__costmap *g;
    const pons__static_layer *l;
    double room_m;
    int32_t *way;    // (h, w) fifths of a cell from the robot; -1: not reached
    int32_t *source; // (h, w) the reached cell that sees it; -1: none
    list ring[RINGS], seen;
} field;

static bool push(list *l, int32_t cell)
{
    if (!pons_list_reserve(&l->at, &l->cap, (size_t)l->n + 1, sizeof *l->at)) {
        return false;
    }
    l->at[l->n++] = cell;
    return true;
}

static bool has_room(const field *f, int32_t cell)
{
    return (double)f->g->metres[f->l->fixed[cell]] >= f->room_m;
}

// The nearest cell that has enough clearance, for the robot may stand closer to a wall than it would drive; -1: none is near.
static int32_t first_cell(const field *f, pons_pose2 robot)
{
    const pons__costmap *g = f->g;
    const int cx = pons__costmap_col(g, robot.x), cy = pons__costmap_row(g, robot.y),
              r = (int)(SNAP_M * g->inv_res);
    int32_t best = -1;
    int best_d = r * r + 1;
    for (int y = cy - r; y <= cy + r; y++) {
        for (int x = cx - r; x <= cx + r; x++) {
            const int d = (x - cx) * (x - cx) + (y - cy) * (y - cy);
            if (d < best_d && pons__costmap_inside(g, x, y) && has_room(f, y * g->w + x)) {
                best = y * g->w + x;
                best_d = d;
            }
        }
    }
    return best;
}

// Calls visit for each neighbour; false: it has.
static bool around(field *f, int32_t cell,
                   bool (*visit)(field *f, int32_t from, int32_t to, bool across))
{
    const int w = f->g->w, cx = cell % w, cy = cell / w;
    for (int y = cy - 1; y <= cy + 1; y++) {
        for (int x = cx - 1; x <= cx + 1; x++) {
            if ((x != cx || y != cy) && pons__costmap_inside(f->g, x, y) &&
                !visit(f, cell, y * w + x, x != cx && y != cy)) {
                return false;
            }
        }
    }
    return true;
}

static bool reach(field *f, int32_t from, int32_t to, bool across)
{
    const int32_t way = f->way[from] + (across ? ACROSS : STRAIGHT);
    if (!has_room(f, to) || (f->way[to] >= 0 && f->way[to] <= way)) {
        return true;
    }
    f->way[to] = way;
    return push(&f->ring[way % RINGS], to);
}

// Floods all cells that can be reached from `first`, by rings of equal way. A ring is empty before its slot is used again.
static bool reach_all(field *f, int32_t first)
{
    memset(f->way, 0xff, sizeof *f->way * (size_t)f->g->w * (size_t)f->g->h);
    f->seen.n = 0;
    f->way[first] = 0;
    bool good = push(&f->ring[0], first);
    for (int32_t way = 0, empty = 0; good && empty < RINGS; way++) {
        list *r = &f->ring[way % RINGS];
        empty = r->n > 0 ? 0 : empty + 1;
        for (int i = 0; good && i < r->n; i++) {
            const int32_t cell = r->at[i];
            if (f->way[cell] == way) { // else a shorter way to it was found later
                good = push(&f->seen, cell) && around(f, cell, reach);
            }
        }
        r->n = 0;
    }
    return good;
}

static bool look(field *f, int32_t from, int32_t to, bool across)
{
    (void)across;
    if (f->source[to] >= 0 || f->l->known[to] != PONS__FREE) {
        return true;
    }
    const int32_t source = f->source[from], w = f->g->w;
    const int32_t dx = to % w - source % w, dy = to / w - source / w;
    if (hypot(dx, dy) * f->g->res > f->room_m + LOOK_M) {
        return true;
    }
    f->source[to] = source;
    return push(&f->seen, to);
}

static bool look_all(field *f)
{
    bool good = true;
    for (int i = 0; i < f->seen.n; i++) {
        f->source[f->seen.at[i]] = f->seen.at[i];
    }
    for (int i = 0; good && i < f->seen.n; i++) {
        good = around(f, f->seen.at[i], look);
    }
    return good;
}

static bool is_edge(const field *f, int32_t cell)
{
    const int w = f->g->w, h = f->g->h, x = cell % w, y = cell / w;
    const uint8_t *known = f->l->known;
    return (x > 0 && known[cell - 1] == PONS__UNKNOWN) ||
           (x + 1 < w && known[cell + 1] == PONS__UNKNOWN) ||
           (y > 0 && known[cell - w] == PONS__UNKNOWN) ||
           (y + 1 < h && known[cell + w] == PONS__UNKNOWN);
}

// Whether the robot could stand within room_m of this cell, on a cell that it cannot reach yet, if all unknown cells were free.
// No wall is between the two, because no wall is within room_m of a cell where the robot can stand.
static bool opens(const field *f, int32_t cell)
{
    const pons__costmap *g = f->g;
    const int cx = cell % g->w, cy = cell / g->w, r = (int)ceil(f->room_m * g->inv_res);
    for (int y = cy - r; y <= cy + r; y++) {
        for (int x = cx - r; x <= cx + r; x++) {
            const int32_t at = y * g->w + x;
            if ((x - cx) * (x - cx) + (y - cy) * (y - cy) <= r * r &&
                pons__costmap_inside(g, x, y) && f->way[at] < 0 &&
                (double)g->metres[f->l->walls[at]] >= f->room_m + MORE_M) {
                return true;
            }
        }
    }
    return false;
}

static pons_pose2 facing(const field *f, int32_t cell, double x, double y)
{
    const double px = pons__costmap_x(f->g, cell % f->g->w),
                 py = pons__costmap_y(f->g, cell / f->g->w);
    return (pons_pose2){px, py, atan2(y - py, x - px)};
}

// The cell of a run that is nearest to the run's middle, x, y.
static int32_t middle_of(const field *f, const list *run, double x, double y)
{
    int32_t best = run->at[0];
    double best_m = INFINITY;
    for (int i = 0; i < run->n; i++) {
        const double m = hypot(pons__costmap_x(f->g, run->at[i] % f->g->w) - x,
                               pons__costmap_y(f->g, run->at[i] / f->g->w) - y);
        best = m < best_m ? run->at[i] : best;
        best_m = fmin(m, best_m);
    }
    return best;
}

// Makes a frontier of the run of edge cells from `first`. It marks their sources (-2 - source), so no other run takes them.
static bool of_run(field *f, int32_t first, list *run, pons__frontier *ret, bool *ret_long)
{
    const pons__costmap *g = f->g;
    const int w = g->w;
    double sx = 0.0, sy = 0.0;
    int32_t stand = -1;
    run->n = 0;
    bool good = push(run, first);
    f->source[first] = -2 - f->source[first];
    for (int i = 0; good && i < run->n; i++) {
        const int cx = run->at[i] % w, cy = run->at[i] / w, source = -2 - f->source[run->at[i]];
        sx += pons__costmap_x(g, cx);
        sy += pons__costmap_y(g, cy);
        stand = stand < 0 || f->way[source] < f->way[stand] ? source : stand;
        for (int k = 0; good && k < 9; k++) {
            const int x = cx + k % 3 - 1, y = cy + k / 3 - 1;
            const int32_t to = y * w + x;
            if (pons__costmap_inside(g, x, y) && f->source[to] >= 0 && is_edge(f, to) &&
                opens(f, to)) {
                f->source[to] = -2 - f->source[to];
                good = push(run, to);
            }
        }
    }
    const double length_m = run->n * g->res;
    *ret = (pons__frontier){.x = sx / run->n, .y = sy / run->n};
    ret->stand = facing(f, stand, ret->x, ret->y);
    ret->front = facing(f, -2 - f->source[middle_of(f, run, ret->x, ret->y)], ret->x, ret->y);
    ret->round_m = f->way[stand] * g->res / STRAIGHT; // `order` replaces it by the round's length
    *ret_long = length_m >= 2.0 * (f->room_m - MORE_M) - 1e-9; // the robot fits through
    return good;
}

static void keep(pons__frontiers *all, const pons__frontier *one)
{
    if (all->n == PONS__FRONTIERS_MAX) {
        if (all->at[all->n - 1].round_m <= one->round_m) {
            return;
        }
        all->n--;
    }
    int i = all->n++;
    for (; i > 0 && all->at[i - 1].round_m > one->round_m; i--) {
        all->at[i] = all->at[i - 1];
    }
    all->at[i] = *one;
}

static bool find_all(field *f, pons__frontiers *ret)
{
    const int w = f->g->w, h = f->g->h;
    list run = {0};
    bool good = true;
    for (int i = 0; good && i < f->seen.n; i++) {
        const int32_t cell = f->seen.at[i];
        const int x = cell % w, y = cell / w;
        ret->at_edge = ret->at_edge || x == 0 || y == 0 || x == w - 1 || y == h - 1;
        ret->reachable_m2 += f->way[cell] >= 0 ? f->g->res * f->g->res : 0.0;
        if (f->source[cell] >= 0 && is_edge(f, cell) && opens(f, cell)) {
            pons__frontier one;
            bool is_long;
            good = of_run(f, cell, &run, &one, &is_long);
            if (good && is_long) {
                keep(ret, &one);
            }
        }
    }
    free(run.at);
    return good;
}

// [set][stop]: the shortest way from this stop through the stops of the set and home.
typedef int32_t rest_of[1 << STOPS_MAX][STOPS_MAX];

static void find_rests(int32_t ways[][STOPS_MAX], int n, rest_of rest)
{
    for (int set = 0; set < 1 << n; set++) {
        for (int k = 0; k < n; k++) {
            rest[set][k] = set == 0 ? ways[n][k] : INT32_MAX;
            for (int next = 0; next < n; next++) {
                if (set & 1 << next) {
                    const int32_t way = ways[k][next] + rest[set & ~(1 << next)][next];
                    rest[set][k] = way < rest[set][k] ? way : rest[set][k];
                }
            }
        }
    }
}

// Lengths of the ways from this pose to the first n frontiers; 0: no way is known.
static bool ways_between(field *f, pons_pose2 from, const pons__frontier *to, int n, int32_t *ret)
{
    const pons__costmap *g = f->g;
    const int32_t first = first_cell(f, from);
    bool good = first < 0 || reach_all(f, first);
    for (int k = 0; good && first >= 0 && k < n; k++) {
        const int x = pons__costmap_col(g, to[k].stand.x), y = pons__costmap_row(g, to[k].stand.y);
        const int32_t way = f->way[y * g->w + x];
        ret[k] = way > 0 ? way : 0;
    }
    return good;
}

// Orders the frontiers by the rounds that begin with them. Frontiers beyond STOPS_MAX are in no round, and come last.
static bool order(field *f, pons_pose2 home, pons__frontiers *all)
{
    const int n = all->n < STOPS_MAX ? all->n : STOPS_MAX;
    int32_t ways[STOPS_MAX + 1][STOPS_MAX] = {{0}};
    pons__frontiers sorted = *all;
    rest_of *rest = malloc(sizeof *rest);
    bool good = rest && ways_between(f, home, all->at, n, ways[n]);
    for (int i = 0; good && i < n; i++) {
        good = ways_between(f, all->at[i].stand, all->at, n, ways[i]);
    }
    if (good) {
        find_rests(ways, n, *rest);
        sorted.n = 0;
        for (int i = 0; i < all->n; i++) {
            if (i < n) {
                const int32_t left = (*rest)[((1 << n) - 1) & ~(1 << i)][i];
                all->at[i].round_m += left * f->g->res / STRAIGHT;
            } else {
                all->at[i].round_m += NO_ROUND_M;
            }
            keep(&sorted, &all->at[i]);
        }
        *all = sorted;
    }
    free(rest);
    return good;
}

int pons__frontiers_find(const pons__costmap *g, const pons__static_layer *l, pons_pose2 robot,
                         pons_pose2 home, double room_m, pons__frontiers *ret, pons_error *err)
{
    const size_t cells = (size_t)g->w * (size_t)g->h;
    field f = {.g = g, .l = l, .room_m = room_m};
    f.way = malloc(sizeof *f.way * cells);
    f.source = malloc(sizeof *f.source * cells);
    *ret = (pons__frontiers){0};
    bool good = f.way && f.source;
    if (good) {
        memset(f.source, 0xff, sizeof *f.source * cells);
        const int32_t first = first_cell(&f, robot);
        good = first < 0 ||
               (reach_all(&f, first) && look_all(&f) && find_all(&f, ret) && order(&f, home, ret));
    }
    for (int i = 0; i < RINGS; i++) {
        free(f.ring[i].at);
    }
    free(f.seen.at);
    free(f.way);
    free(f.source);
    return good ? PONS_OK
                : pons_error_set(err, PONS_ENOMEM, "mapper", "no memory to look for frontiers");
}
