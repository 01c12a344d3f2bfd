// rooms.c - rooms of a map: parts of its free floor that doors divide.
//
//     free cells, furniture filled in --> how far each is from a wall --> cores: what is farther than half a door
//                                                                          | they grow over the free floor, all at the same pace
//                                                                          v
//                                                     rooms, which meet in the doors --> outlines of few corners
//
// Furniture that stands free is no wall: what is an island, and ISLAND_M long at most, counts as floor. Distances are by chamfers of 3 and 4
// thirds of a cell (Borgefors, "Distance transformations in digital images", 1986), which is a twentieth wrong at the most.
#include "pons/growing_list.h"
#include "pons/map_rooms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MODULE "map"

enum { STRAIGHT = 3, ACROSS = 4, NOBODY = -1, ROOMS_MAX = 256 };
static const double ISLAND_M = 1.8, CORE_M2 = 0.2, ROOM_M2 = 1.5, OUTLINE_M = 0.12;

typedef struct floor_plan {
    const pons_map_info *info;
    int w, h;
    bool *floor;       // (h, w)
    int32_t *distance; // (h, w) thirds of a cell to the nearest that is no floor
    int16_t *room;     // (h, w)
    int32_t *queue;    // (h · w)
} floor_plan;

static size_t cells_of(const floor_plan *p, double m2)
{
    return (size_t)(m2 / (p->info->resolution_m * p->info->resolution_m));
}

// The cells that hang together with one, across edges, that are as it is; seen ones are marked. Returns how many there are in queue.
static int flood(floor_plan *p, int32_t from, bool *seen, bool *ret_outside)
{
    int n = 0;
    *ret_outside = false;
    seen[from] = true;
    p->queue[n++] = from;
    for (int i = 0; i < n; i++) {
        const int x = p->queue[i] % p->w, y = p->queue[i] / p->w;
        static const int step[4][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
        for (int k = 0; k < 4; k++) {
            const int nx = x + step[k][0], ny = y + step[k][1];
            if (nx < 0 || ny < 0 || nx >= p->w || ny >= p->h) {
                *ret_outside = true;
                continue;
            }
            const int32_t to = ny * p->w + nx;
            if (!seen[to] && p->floor[to] == p->floor[from]) {
                seen[to] = true;
                p->queue[n++] = to;
            }
        }
    }
    return n;
}

// Of the box around what is in the queue, in cells.
static int longest_side(const floor_plan *p, int n)
{
    int x0 = p->w, x1 = 0, y0 = p->h, y1 = 0;
    for (int i = 0; i < n; i++) {
        const int x = p->queue[i] % p->w, y = p->queue[i] / p->w;
        x0 = x < x0 ? x : x0;
        x1 = x > x1 ? x : x1;
        y0 = y < y0 ? y : y0;
        y1 = y > y1 ? y : y1;
    }
    return (x1 - x0 > y1 - y0 ? x1 - x0 : y1 - y0) + 1;
}

static void fill_islands(floor_plan *p, bool *seen)
{
    for (int32_t cell = 0; cell < p->w * p->h; cell++) {
        bool outside;
        if (p->floor[cell] || seen[cell]) {
            continue;
        }
        const int n = flood(p, cell, seen, &outside);
        const bool island =
            !outside && longest_side(p, n) <= (int)(ISLAND_M / p->info->resolution_m);
        for (int i = 0; island && i < n; i++) {
            p->floor[p->queue[i]] = true;
        }
    }
}

// One sweep of the transform: what a cell has by its four neighbours that were visited before.
static void sweep(floor_plan *p, int sign)
{
    const int n = p->w * p->h;
    for (int k = 0; k < n; k++) {
        const int32_t cell = sign > 0 ? k : n - 1 - k;
        const int x = cell % p->w, y = cell / p->w;
        const int from[4][3] = {{-sign, 0, STRAIGHT},
                                {0, -sign, STRAIGHT},
                                {-sign, -sign, ACROSS},
                                {sign, -sign, ACROSS}};
        for (int i = 0; i < 4; i++) {
            const int nx = x + from[i][0], ny = y + from[i][1];
            const bool in = nx >= 0 && ny >= 0 && nx < p->w && ny < p->h;
            const int32_t by = (in ? p->distance[ny * p->w + nx] : 0) + from[i][2];
            p->distance[cell] = by < p->distance[cell] ? by : p->distance[cell];
        }
    }
}

static void measure(floor_plan *p)
{
    for (int32_t cell = 0; cell < p->w * p->h; cell++) {
        p->distance[cell] = p->floor[cell] ? INT32_MAX / 2 : 0;
    }
    sweep(p, 1);
    sweep(p, -1);
}

// Cores get the numbers of rooms; the queue has all their cells.
static int find_cores(floor_plan *p, double half_door_m, bool *seen, int *ret_rooms)
{
    const int32_t least = (int32_t)(STRAIGHT * half_door_m / p->info->resolution_m);
    int total = 0;
    *ret_rooms = 0;
    for (int32_t cell = 0; cell < p->w * p->h; cell++) {
        p->floor[cell] = p->floor[cell] && p->distance[cell] > least;
        seen[cell] = !p->floor[cell];
    }
    for (int32_t cell = 0; cell < p->w * p->h && *ret_rooms < ROOMS_MAX; cell++) {
        bool outside;
        if (seen[cell]) {
            continue;
        }
        const int n = flood(p, cell, seen, &outside);
        if ((size_t)n >= cells_of(p, CORE_M2)) {
            for (int i = 0; i < n; i++) {
                p->room[p->queue[i]] = (int16_t)*ret_rooms;
            }
            ++*ret_rooms;
        }
    }
    for (int32_t cell = 0; cell < p->w * p->h; cell++) {
        if (p->room[cell] >= 0) {
            p->queue[total++] = cell;
        }
    }
    return total;
}

static void grow(floor_plan *p, int n)
{
    for (int i = 0; i < n; i++) {
        const int x = p->queue[i] % p->w, y = p->queue[i] / p->w;
        for (int k = 1; k < 9; k += 2) { // the four across edges
            const int nx = x + k % 3 - 1, ny = y + k / 3 - 1;
            const int32_t to = ny * p->w + nx;
            if (nx >= 0 && ny >= 0 && nx < p->w && ny < p->h && p->distance[to] > 0 &&
                p->room[to] == NOBODY) {
                p->room[to] = p->room[p->queue[i]];
                p->queue[n++] = to;
            }
        }
    }
}

// ---- outlines -----------------------------------------------------------------------------------

typedef struct corner {
    int x, y; // of the lattice between cells
} corner;

static bool is_of(const floor_plan *p, int room, int x, int y)
{
    return x >= 0 && y >= 0 && x < p->w && y < p->h && p->room[y * p->w + x] == room;
}

// Round the room's outside with its cells on the left, from the lower left corner of its first cell. NULL: no memory.
static corner *walk_round(const floor_plan *p, int room, int32_t first, int *ret_n)
{
    static const int step[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    static const int left[4][2] = {{0, 0}, {-1, 0}, {-1, -1}, {0, -1}},
                     right[4][2] = {{0, -1}, {0, 0}, {-1, 0}, {-1, -1}};
    const corner start = {first % p->w, first / p->w};
    corner at = start;
    int n = 0, way = 0;
    size_t cap = 0;
    corner *all = NULL;
    do {
        if (!pons_list_reserve(&all, &cap, (size_t)n + 1, sizeof *all)) {
            free(all);
            return NULL;
        }
        all[n++] = at;
        at = (corner){at.x + step[way][0], at.y + step[way][1]};
        if (is_of(p, room, at.x + right[way][0], at.y + right[way][1])) {
            way = (way + 3) % 4;
        } else if (!is_of(p, room, at.x + left[way][0], at.y + left[way][1])) {
            way = (way + 1) % 4;
        }
    } while (at.x != start.x || at.y != start.y);
    *ret_n = n;
    return all;
}

static double off_line(corner p, corner a, corner b)
{
    const double dx = b.x - a.x, dy = b.y - a.y, far = hypot(dx, dy);
    return far > 0.0 ? fabs(dx * (p.y - a.y) - dy * (p.x - a.x)) / far
                     : hypot(p.x - a.x, p.y - a.y);
}

// Keeps the corners that are more than `most` cells off (Douglas and Peucker, 1973), between two that are kept.
static void simplify(const corner *all, bool *keep, int a, int b, double most)
{
    int worst = -1;
    double off = most;
    for (int i = a + 1; i < b; i++) {
        const double d = off_line(all[i], all[a], all[b]);
        if (d > off) {
            off = d;
            worst = i;
        }
    }
    if (worst > 0) {
        keep[worst] = true;
        simplify(all, keep, a, worst, most);
        simplify(all, keep, worst, b, most);
    }
}

// As few corners as the tolerance takes, and a greater tolerance where they are too many.
static bool outline(const floor_plan *p, int room, int32_t first, pons_room *ret)
{
    int n = 0;
    corner *all = walk_round(p, room, first, &n);
    bool *keep = all ? calloc((size_t)n, sizeof *keep) : NULL;
    if (!keep) {
        free(all);
        return false;
    }
    for (double most = OUTLINE_M / p->info->resolution_m;; most *= 1.5) {
        memset(keep, 0, (size_t)n * sizeof *keep);
        keep[0] = keep[n / 2] = true;
        simplify(all, keep, 0, n / 2, most);
        simplify(all, keep, n / 2, n - 1, most);
        ret->n = 0;
        int kept = 0;
        for (int i = 0; i < n; i++) {
            kept += keep[i];
        }
        for (int i = 0; kept <= PONS_ROOM_CORNERS_MAX && i < n; i++) {
            if (keep[i]) {
                const double res = p->info->resolution_m;
                const pons_pose2 at = pons_pose_compose(
                    p->info->origin, (pons_pose2){all[i].x * res, all[i].y * res, 0.0});
                ret->corners[ret->n][0] = at.x;
                ret->corners[ret->n++][1] = at.y;
            }
        }
        if (ret->n > 0) {
            break;
        }
    }
    free(keep);
    free(all);
    return true;
}

static int by_area(const void *a, const void *b)
{
    const pons_room *x = a, *y = b;
    return (x->area_m2 < y->area_m2) - (x->area_m2 > y->area_m2);
}

static bool describe(const floor_plan *p, int room, pons_room *ret)
{
    const double res = p->info->resolution_m;
    int32_t first = -1, widest = -1;
    *ret = (pons_room){0};
    for (int32_t cell = 0; cell < p->w * p->h; cell++) {
        if (p->room[cell] == room) {
            first = first < 0 ? cell : first;
            widest = widest < 0 || p->distance[cell] > p->distance[widest] ? cell : widest;
            ret->area_m2 += res * res;
        }
    }
    const int column = (int)(widest % p->w), row = (int)(widest / p->w);
    const pons_pose2 at = pons_pose_compose(
        p->info->origin, (pons_pose2){(column + 0.5) * res, (row + 0.5) * res, 0.0});
    ret->x = at.x;
    ret->y = at.y;
    return outline(p, room, first, ret);
}

static int describe_all(const floor_plan *p, int rooms, pons_room **ret, size_t *ret_n)
{
    pons_room *all = malloc(sizeof *all * ((size_t)rooms + 1));
    size_t n = 0;
    bool good = all != NULL;
    for (int i = 0; good && i < rooms; i++) {
        good = describe(p, i, &all[n]);
        n += good && all[n].area_m2 >= ROOM_M2;
    }
    if (!good) {
        free(all);
        return PONS_ENOMEM;
    }
    qsort(all, n, sizeof *all, by_area);
    *ret = all;
    *ret_n = n;
    return PONS_OK;
}

int pons_map_rooms(const pons_map *m, double door_m, pons_room **ret, size_t *ret_n,
                   pons_error *err)
{
    const pons_map_info *info = pons_map_about(m);
    const size_t n = (size_t)info->w * (size_t)info->h;
    floor_plan p = {.info = info, .w = info->w, .h = info->h};
    p.floor = malloc(n * sizeof *p.floor);
    p.distance = malloc(n * sizeof *p.distance);
    p.room = malloc(n * sizeof *p.room);
    p.queue = malloc(n * sizeof *p.queue);
    bool *seen = calloc(n, sizeof *seen);
    int rc = p.floor && p.distance && p.room && p.queue && seen ? PONS_OK : PONS_ENOMEM;
    if (rc == PONS_OK) {
        int rooms = 0;
        for (size_t i = 0; i < n; i++) {
            p.floor[i] = pons_map_cells(m)[i] >= 0 && pons_map_cells(m)[i] < 50;
            p.room[i] = NOBODY;
        }
        fill_islands(&p, seen);
        measure(&p);
        grow(&p, find_cores(&p, 0.5 * door_m, seen, &rooms));
        for (size_t i = 0; i < n; i++) { // where it is widest, a table may stand
            p.floor[i] = pons_map_cells(m)[i] >= 0 && pons_map_cells(m)[i] < 50;
        }
        measure(&p);
        rc = describe_all(&p, rooms, ret, ret_n);
    }
    free(seen);
    free(p.queue);
    free(p.room);
    free(p.distance);
    free(p.floor);
    return rc < 0 ? pons_error_set(err, rc, MODULE, "no memory to find rooms") : rc;
}
