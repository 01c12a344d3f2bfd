// floor_plan.c - generates floor plans of places, for tests of exploring (floor_plan.h).
#include "floor_plan.h"

#include "body/body_bench.h"
#include "pons/body.h"
#include "pons/random.h"
#include "unit.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { VIEWS_MAX = 64, ACROSS = 7, STRAIGHT = 5 };
static const double T = 0.1; // of a wall

typedef struct plan {
    FILE *f;
    pons_rand rand;
    int boxes;
} plan;

static double between(plan *p, double low, double high)
{
    return low + (high - low) * pons_rand_unit(&p->rand);
}

static void box(plan *p, double x0, double y0, double x1, double y1, double yaw, bool wall)
{
    if (x1 - x0 < 0.01 || y1 - y0 < 0.01) {
        return;
    }
    fprintf(p->f, "    - {id: b%d, x: %.3f, y: %.3f, sx: %.3f, sy: %.3f, yaw: %.3f, kind: %s}\n",
            p->boxes++, 0.5 * (x0 + x1), 0.5 * (y0 + y1), x1 - x0, y1 - y0, yaw,
            wall ? "wall" : "furniture");
}

// A wall along x or y through a line, with a door of some width, or none at 0.
static void wall(plan *p, double x0, double y0, double x1, double y1, double door)
{
    const bool along_x = x1 - x0 > y1 - y0;
    const double h = 0.5 * T, low = along_x ? x0 : y0, high = along_x ? x1 : y1;
    if (door <= 0.0) {
        box(p, x0 - h, y0 - h, x1 + h, y1 + h, 0.0, true);
        return;
    }
    const double a = between(p, low + 0.35, high - 0.35 - door), b = a + door;
    if (along_x) {
        box(p, x0 - h, y0 - h, a, y1 + h, 0.0, true);
        box(p, b, y0 - h, x1 + h, y1 + h, 0.0, true);
    } else {
        box(p, x0 - h, y0 - h, x1 + h, a, 0.0, true);
        box(p, x0 - h, b, x1 + h, y1 + h, 0.0, true);
    }
}

// A piece in a corner, and at times a table in the middle, turned as it likes.
static void furnish(plan *p, double x0, double y0, double w, double d, bool start)
{
    const uint64_t corner = pons_rand_below(&p->rand, 4);
    const double sx = between(p, 0.4, 0.9), sy = between(p, 0.4, 0.7);
    const double x = corner & 1 ? x0 + w - sx : x0, y = corner & 2 ? y0 + d - sy : y0;
    box(p, x, y, x + sx, y + sy, 0.0, false);
    if (!start && w > 3.2 && d > 3.2 && pons_rand_below(&p->rand, 2)) {
        const double cx = x0 + 0.5 * w, cy = y0 + 0.5 * d, a = between(p, 0.3, 0.5),
                     b = between(p, 0.25, 0.4);
        box(p, cx - a, cy - b, cx + a, cy + b, between(p, -0.7, 0.7), false);
    }
}

// Rooms in a grid: each has a door to the one before it, below or left, and some more doors make rounds.
static void rooms(plan *p, int columns, int rows, double *ret_w, double *ret_d)
{
    const double w = between(p, 3.2, 4.4), d = between(p, 3.2, 4.2);
    for (int c = 0; c <= columns; c++) {
        for (int r = 0; r < rows; r++) {
            const bool outer = c == 0 || c == columns,
                       tied = r == 0 || pons_rand_below(&p->rand, 3) == 0;
            wall(p, c * w, r * d, c * w, (r + 1) * d, outer || !tied ? 0.0 : between(p, 0.8, 1.2));
        }
    }
    for (int r = 0; r <= rows; r++) {
        for (int c = 0; c < columns; c++) {
            const bool outer = r == 0 || r == rows;
            wall(p, c * w, r * d, (c + 1) * w, r * d, outer ? 0.0 : between(p, 0.8, 1.2));
        }
    }
    for (int i = 0; i < columns * rows; i++) {
        furnish(p, (i % columns) * w + 0.5 * T, (double)(i / columns) * d + 0.5 * T, w - T, d - T,
                i == 0);
    }
    *ret_w = columns * w;
    *ret_d = rows * d;
}

// A corridor along y = 0 … 1.4, rooms above and below it.
static void corridor(plan *p, int columns, double *ret_w, double *ret_d)
{
    const double w = between(p, 3.0, 4.0), d = between(p, 3.0, 3.8), wide = 1.4;
    wall(p, 0.0, d, 0.0, d + wide, 0.0);
    wall(p, columns * w, d, columns * w, d + wide, 0.0);
    for (int side = 0; side < 2; side++) {
        const double low = side ? d + wide : 0.0, near = side ? low : d, far = side ? low + d : 0.0;
        wall(p, 0.0, far, columns * w, far, 0.0);
        for (int c = 0; c <= columns; c++) {
            wall(p, c * w, low, c * w, low + d, 0.0);
        }
        for (int c = 0; c < columns; c++) {
            wall(p, c * w, near, (c + 1) * w, near, between(p, 0.8, 1.1));
            furnish(p, c * w + 0.5 * T, low + 0.5 * T, w - T, d - T, side == 0 && c == 0);
        }
    }
    *ret_w = columns * w;
    *ret_d = 2.0 * d + wide;
}

static void outer_walls(plan *p, double w, double d)
{
    wall(p, 0.0, 0.0, w, 0.0, 0.0);
    wall(p, 0.0, d, w, d, 0.0);
    wall(p, 0.0, 0.0, 0.0, d, 0.0);
    wall(p, w, 0.0, w, d, 0.0);
}

// A room, a passage of 0.8 m, another room; two dead ends branch off.
static void passage(plan *p, double *ret_w, double *ret_d)
{
    const double w = 11.0, d = 6.0, x0 = 3.6, x1 = between(p, 7.0, 7.6), y = between(p, 2.4, 3.2),
                 g = 0.8;
    outer_walls(p, w, d);
    const double dead = between(p, x0 + 0.6, x1 - 0.6 - g),
                 end = between(p, x0 + 0.6, x1 - 0.6 - g);
    box(p, x0, 0.0, dead, y, 0.0, true);
    box(p, dead + g, 0.0, x1, y, 0.0, true);
    box(p, dead, 0.0, dead + g, 0.6, 0.0, true);
    box(p, x0, y + g, end, d, 0.0, true);
    box(p, end + g, y + g, x1, d, 0.0, true);
    box(p, end, d - 0.6, end + g, d, 0.0, true);
    furnish(p, 0.05, 0.05, x0 - 0.1, d - 0.1, true);
    furnish(p, x1 + 0.05, 0.05, w - x1 - 0.1, d - 0.1, false);
    *ret_w = w;
    *ret_d = d;
}

static void hall(plan *p, double *ret_w, double *ret_d)
{
    const double w = between(p, 11.0, 15.0), d = between(p, 9.0, 12.0);
    outer_walls(p, w, d);
    for (int i = 0; i < 9; i++) {
        const double cx = (0.5 + i % 3) * w / 3.0 + between(p, -0.5, 0.5) + 0.9,
                     cy = (0.5 + (double)(i / 3)) * d / 3.0 + between(p, -0.4, 0.4),
                     s = between(p, 0.2, 0.5);
        box(p, cx - s, cy - s, cx + s, cy + s, between(p, -0.7, 0.7), false);
    }
    *ret_w = w;
    *ret_d = d;
}

// Racks with bays between them, each entered around the end of a rack.
static void bays(plan *p, double *ret_w, double *ret_d)
{
    const double w = 10.4, d = 6.0, thick = 0.6, length = 3.6;
    outer_walls(p, w, d);
    for (int i = 0; i < 3; i++) {
        const double x = 3.0 + 2.6 * i, y = i % 2 ? d - length : 0.0;
        box(p, x, y, x + thick, y + length, 0.0, false);
    }
    *ret_w = w;
    *ret_d = d;
}

static const char robot[] =
    "robot: {id: pons-1, radius_m: 0.2, wheel_radius_m: 0.08, track_m: 0.3, speed_max_mps: 0.6, "
    "reverse_max_mps: 0.3,"
    " yaw_rate_max_radps: 1.5, accel_max_mps2: 1, brake_max_mps2: 2, yaw_accel_max_radps2: 4}\n"
    "battery: {initial_pct: 100, idle_pct_per_s: 0, motion_pct_per_m: 0, charge_pct_per_s: 1}\n"
    "lidar: {beams: 180, angle_min: -3.141592653589793, angle_max: 3.141592653589793, range_min: "
    "0.05, range_max: 10,"
    " hz: 10, noise_m: 0.01}\n"
    "odometry: {scale_std: 0.01, yaw_scale_std: 0.02, noise_m: 0.01, noise_rad: 0.02}\n";

static char dir[64]; // folder of the place's files

static void make_dir(void)
{
    snprintf(dir, sizeof dir, "%s/pons-place-XXXXXX", bench_disk());
    assert_non_null(mkdtemp(dir));
}

const char *in_place(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

void place_remove(const char *folder)
{
    folder = folder ? folder : dir;
    DIR *d = opendir(folder);
    char path[512];
    const struct dirent *e;
    while (d && (e = readdir(d))) {
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        unlink(path);
    }
    if (d) {
        closedir(d);
    }
    rmdir(folder);
}

static FILE *create(const char *name)
{
    FILE *f = fopen(in_place(name), "w");
    assert_non_null(f);
    return f;
}

// The robot's map has its own frame: it begins at 0, 0, whatever the place calls that.
static void write_new(double half_m)
{
    FILE *f = create("new.yaml");
    fprintf(f,
            "name: new\nsimulated: real.yaml\nstart: {x: 0, y: 0, yaw: 0}\n%s"
            "bounds: [-%g, -%g, %g, %g]\nmap: {file: new.map.yaml, grows: true}\n",
            robot, half_m, half_m, half_m, half_m);
    fclose(f);
}

void place_write(int number)
{
    double w = 0.0, d = 0.0;
    make_dir();
    plan p = {.f = create("real.yaml")};
    pons_rand_seed(&p.rand, (uint64_t)number + 1);
    fprintf(
        p.f,
        "name: real\nstart: {x: 1.5, y: 1.6, yaw: 0.3}\n%smap:\n  resolution_m: 0.05\n  boxes:\n",
        robot);
    switch (number >= PLACE_BAYS ? number : number % PLACE_KINDS) {
    case PLACE_BAYS:
        bays(&p, &w, &d);
        break;
    case PLACE_SMALL:
        rooms(&p, 1, 2, &w, &d);
        break;
    case 0:
        rooms(&p, 2 + number / 4 % 2, 2, &w, &d);
        break;
    case 1:
        corridor(&p, 2 + number / 4 % 2, &w, &d);
        break;
    case 2:
        passage(&p, &w, &d);
        break;
    default:
        hall(&p, &w, &d);
    }
    fprintf(p.f, "bounds: [-0.5, -0.5, %.3f, %.3f]\n", w + 0.5, d + 0.5);
    fprintf(p.f,
            "zones:\n  - {id: all, names: {en: [everywhere]}, polygon: [[0, 0], [%.3f, 0], [%.3f, "
            "%.3f], [0, %.3f]], "
            "target: {x: 1.5, y: 1.6, yaw: 0}}\n",
            w, w, d, d);
    fclose(p.f);
    write_new(hypot(w, d) + 1.0);
}

// The edge of the map's picture is the place's end, so a wall is added wherever the edge has none.
static void copy_map(const char *from, const char *name)
{
    char path[512];
    pons_map *m = NULL;
    snprintf(path, sizeof path, "%s/%s.yaml", from, name);
    assert_int_equal(pons_map_load(path, &m, NULL), PONS_OK);
    const pons_map_info *i = pons_map_about(m);
    int8_t *cells = malloc((size_t)i->w * (size_t)i->h);
    assert_non_null(cells);
    memcpy(cells, pons_map_cells(m), (size_t)i->w * (size_t)i->h);
    for (int at = 0; at < i->w * i->h; at++) {
        const int x = at % i->w, y = at / i->w;
        const bool edge = x == 0 || y == 0 || x == i->w - 1 || y == i->h - 1;
        cells[at] = edge ? 100 : cells[at];
    }
    assert_int_equal(pons_map_save(in_place("real.map.yaml"), cells, i->w, i->h, i->resolution_m,
                                   i->origin, NULL),
                     PONS_OK);
    free(cells);
    pons_map_destroy(m);
}

void place_write_of_map(const char *from, const char *name, pons_pose2 start)
{
    make_dir();
    copy_map(from, name);
    FILE *f = create("real.yaml");
    fprintf(f,
            "name: real\nstart: {x: %g, y: %g, yaw: %g}\n%szones:\n  - {id: all, names: {en: "
            "[everywhere]}, polygon: "
            "[[%g, %g], [%g, %g], [%g, %g]], target: {x: %g, y: %g, yaw: 0}}\nmap: {file: "
            "real.map.yaml}\n",
            start.x, start.y, start.yaw, robot, start.x - 0.5, start.y - 0.5, start.x + 0.5,
            start.y - 0.5, start.x, start.y + 0.5, start.x, start.y);
    fclose(f);
    write_new(55.0);
}

// ---- the judge ----------------------------------------------------------------------------------

typedef struct truth {
    pons__costmap *g;
    double room_m;
    uint8_t *reach; // where the robot's middle can be
    int32_t *way;   // fifths of a cell from the last source
    int32_t *queue;
} truth;

static bool has_room(const truth *t, int32_t cell)
{
    return (double)t->g->metres[t->g->walls[cell]] >= t->room_m;
}

// Ways from a cell to all that it reaches: a queue in which a cell may stand again when a shorter way is found.
static void ways_from(truth *t, int32_t from)
{
    const int w = t->g->w, n = w * t->g->h;
    memset(t->way, 0xff, sizeof *t->way * (size_t)n);
    int32_t head = 0, tail = 0;
    t->way[from] = 0;
    t->queue[tail++ % n] = from;
    while (head != tail) {
        const int32_t cell = t->queue[head++ % n];
        for (int k = 0; k < 9; k++) {
            const int x = cell % w + k % 3 - 1, y = cell / w + k / 3 - 1;
            const int32_t to = y * w + x, way = t->way[cell] + (k % 2 ? STRAIGHT : ACROSS);
            if (k != 4 && pons__costmap_inside(t->g, x, y) && has_room(t, to) &&
                (t->way[to] < 0 || t->way[to] > way)) {
                t->way[to] = way;
                t->queue[tail++ % n] = to;
            }
        }
    }
}

// Does a straight line between the middles of two cells meet no wall?
static bool sees(const truth *t, int32_t a, int32_t b, double range_m)
{
    const int w = t->g->w, ax = a % w, ay = a / w, dx = b % w - ax, dy = b / w - ay;
    const double far = hypot(dx, dy);
    if (far * t->g->res > range_m) {
        return false;
    }
    for (double s = 0.0; s < far;) {
        const int x = ax + (int)lround(dx * s / far), y = ay + (int)lround(dy * s / far);
        if (pons__costmap_is_static(t->g, x, y)) {
            return false;
        }
        // No wall is nearer than this, and what is rounded.
        s += fmax(0.7, (double)t->g->metres[t->g->walls[y * w + x]] * t->g->inv_res - 1.0);
    }
    return true;
}

// The best of the candidates, again and again, until all marks are seen; the start is the first.
static int choose_views(const truth *t, const int32_t *marks, int n_marks, const int32_t *all,
                        int n_all, int32_t start, double range_m, int32_t views[VIEWS_MAX])
{
    bool *seen = calloc((size_t)n_marks, sizeof *seen);
    int *bound = malloc(sizeof *bound * (size_t)n_all); // what it would add, at most
    int n = 0, left = n_marks;
    int32_t next = start;
    for (int c = 0; c < n_all; c++) {
        bound[c] = n_marks;
    }
    while (n < VIEWS_MAX && left > 0) {
        views[n++] = next;
        for (int i = 0; i < n_marks; i++) {
            if (!seen[i] && sees(t, next, marks[i], range_m)) {
                seen[i] = true;
                left--;
            }
        }
        int best = -1, most = 0;
        for (int c = 0; c < n_all && left > 0; c++) {
            int sum = 0;
            for (int i = 0; i < n_marks && bound[c] > most; i++) {
                sum += !seen[i] && sees(t, all[c], marks[i], range_m);
            }
            bound[c] = bound[c] > most ? sum : bound[c];
            if (sum > most) {
                most = sum;
                best = c;
            }
        }
        if (best < 0) {
            break;
        }
        next = all[best];
    }
    free(bound);
    free(seen);
    return n;
}

// A round through all views, shortened by turning parts of it round (2-opt).
static double round_m(truth *t, const int32_t *views, int n)
{
    static double d[VIEWS_MAX][VIEWS_MAX];
    int order[VIEWS_MAX + 1];
    for (int i = 0; i < n; i++) {
        ways_from(t, views[i]);
        order[i] = i;
        for (int j = 0; j < n; j++) {
            d[i][j] = t->way[views[j]] * t->g->res / STRAIGHT;
        }
    }
    order[n] = 0;
    bool better = n > 2;
    while (better) {
        better = false;
        for (int i = 1; i < n - 1; i++) {
            for (int j = i + 1; j < n; j++) {
                const double was = d[order[i - 1]][order[i]] + d[order[j]][order[j + 1]];
                const double is = d[order[i - 1]][order[j]] + d[order[i]][order[j + 1]];
                if (is < was - 1e-9) {
                    for (int a = i, b = j; a < b; a++, b--) {
                        const int swap = order[a];
                        order[a] = order[b];
                        order[b] = swap;
                    }
                    better = true;
                }
            }
        }
    }
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        sum += d[order[i]][order[i + 1]];
    }
    return sum;
}

static double tour(truth *t, int32_t start, double range_m)
{
    const int w = t->g->w, h = t->g->h, coarse = (int)lround(0.5 / t->g->res),
              fine = (int)lround(0.2 / t->g->res);
    int32_t *marks = malloc(sizeof *marks * (size_t)(w * h)),
            *all = malloc(sizeof *all * (size_t)(w * h));
    int n_marks = 0, n_all = 0;
    for (int32_t cell = 0; cell < w * h; cell++) {
        const int x = cell % w, y = cell / w;
        if (t->reach[cell] && x % fine == 0 && y % fine == 0) {
            marks[n_marks++] = cell;
        }
        if (t->reach[cell] && x % coarse == 0 && y % coarse == 0) {
            all[n_all++] = cell;
        }
    }
    int32_t views[VIEWS_MAX];
    const int n = choose_views(t, marks, n_marks, all, n_all, start, range_m, views);
    free(marks);
    free(all);
    return round_m(t, views, n);
}

// What the robot sees closely: floor within its reach and a little more.
static bool is_near(const truth *t, int32_t cell)
{
    const int w = t->g->w, cx = cell % w, cy = cell / w, r = (int)lround(t->room_m * t->g->inv_res);
    for (int y = cy - r; y <= cy + r; y++) {
        for (int x = cx - r; x <= cx + r; x++) {
            if ((x - cx) * (x - cx) + (y - cy) * (y - cy) <= r * r &&
                pons__costmap_inside(t->g, x, y) && t->reach[y * w + x]) {
                return true;
            }
        }
    }
    return false;
}

place_score place_judge(const pons_value *real, const pons_value *new_, const char *map_path,
                        double room_m, double range_m)
{
    const pons_value *a = pons_get(real, "start"), *b = pons_get(new_, "start");
    const pons_pose2 in_real = {pons_get_num(a, "x", 0.0), pons_get_num(a, "y", 0.0),
                                pons_get_num(a, "yaw", 0.0)};
    const pons_pose2 in_new = {pons_get_num(b, "x", 0.0), pons_get_num(b, "y", 0.0),
                               pons_get_num(b, "yaw", 0.0)};
    const pons_pose2 new_from_real = pons_pose_compose(in_new, pons_pose_inverse(in_real));
    pons_map *m = NULL;
    truth t = {.room_m = room_m};
    place_score s = {0};
    assert_int_equal(pons_map_load(map_path, &m, NULL), PONS_OK);
    assert_int_equal(pons__costmap_from_world(real, &t.g, NULL), PONS_OK);
    const int n = t.g->w * t.g->h;
    t.way = malloc(sizeof *t.way * (size_t)n);
    t.queue = malloc(sizeof *t.queue * (size_t)n);
    t.reach = calloc((size_t)n, 1);
    const int32_t start =
        pons__costmap_row(t.g, in_real.y) * t.g->w + pons__costmap_col(t.g, in_real.x);
    ways_from(&t, start);
    long reached = 0, known = 0, both = 0, either = 0;
    for (int32_t i = 0; i < n; i++) {
        t.reach[i] = t.way[i] >= 0;
    }
    for (int32_t i = 0; i < n; i++) {
        const pons_pose2 at =
            pons_pose_compose(new_from_real, (pons_pose2){pons__costmap_x(t.g, i % t.g->w),
                                                          pons__costmap_y(t.g, i / t.g->w), 0.0});
        const bool in_map = pons_map_is_free(m, at.x, at.y), in_truth = t.g->walls[i] != 0;
        reached += t.reach[i];
        known += t.reach[i] && in_map;
        if ((in_map || in_truth) && is_near(&t, i)) {
            both += in_map && in_truth;
            either++;
        }
    }
    s.known = (double)known / (double)reached;
    s.iou = (double)both / (double)either;
    s.reached_m2 = (double)reached * t.g->res * t.g->res;
    s.tour_m = tour(&t, start, range_m);
    free(t.way);
    free(t.queue);
    free(t.reach);
    pons__costmap_destroy(t.g);
    pons_map_destroy(m);
    return s;
}
