// conformance.c - the conformance suite of SLAM modules. A lidar of 180 beams moves through places with a few walls, and its
// odometry is wrong by some percent. The suite compares the module's map and pose with the true ones.
#include "slam/conformance.h"

#include "pons/file.h"
#include "pons/module.h"
#include "pons/random.h"
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BEAMS = 180 };
static const uint64_t SEED = 11;
static const double RANGE_M = 10.0, RES = 0.05, RADIUS_M = 0.2;
static const double SCALE = 1.01, YAW_SCALE = 0.98; // odometry's error: of distance, of turning

// ---- a lidar in a place -------------------------------------------------------------------------

typedef struct wall {
    double x0, y0, x1, y1;
} wall;

// A room with a block in its middle, around which one can drive, and a niche.
static const wall room[] = {{-1, -1, 7, -1},    {7, -1, 7, 5},        {7, 5, 3, 5},
                            {3, 5, 3, 5.6},     {3, 5.6, 2, 5.6},     {2, 5.6, 2, 5},
                            {2, 5, -1, 5},      {-1, 5, -1, -1},      {1.2, 1.0, 4.8, 1.0},
                            {4.8, 1.0, 4.8, 3}, {4.8, 3.0, 1.2, 3.0}, {1.2, 3.0, 1.2, 1.0}};
enum { ROOM_WALLS = sizeof room / sizeof *room };
static const pons_pose2 round_trip[] = {{0, 0, 0}, {6, 0, 0}, {6, 4, 0},
                                        {0, 4, 0}, {0, 0, 0}, {2, 0, 0}};
enum { ROUND_POINTS = sizeof round_trip / sizeof *round_trip };

// A corridor: its ends are out of sight from the middle, and its walls have no features.
static const wall corridor[] = {{-2, -1, 32, -1}, {32, -1, 32, 1}, {32, 1, -2, 1}, {-2, 1, -2, -1}};
static const pons_pose2 along_it[] = {{0, 0, 0}, {30, 0, 0}};

typedef struct lidar {
    const wall *walls;
    int n_walls;
    pons_pose2 at, odom;
    int64_t now_ns;
    pons_rand rand;
} lidar;

static lidar lidar_in(const wall *walls, int n, pons_pose2 at)
{
    lidar l = {.walls = walls, .n_walls = n, .at = at, .odom = {3.0, -2.0, 1.0}};
    pons_rand_seed(&l.rand, SEED);
    return l;
}

static double range_to(const wall *w, pons_pose2 eye, double bearing)
{
    const double dx = cos(bearing), dy = sin(bearing), ex = w->x1 - w->x0, ey = w->y1 - w->y0;
    const double cross = dx * ey - dy * ex, ax = w->x0 - eye.x, ay = w->y0 - eye.y;
    const double r = (ax * ey - ay * ex) / cross, along = (ax * dy - ay * dx) / cross;
    return r > 0.0 && along >= 0.0 && along <= 1.0 ? r : INFINITY; // a parallel one is no number
}

static pons_scan look(lidar *l)
{
    pons_scan s = {.stamp_ns = l->now_ns,
                   .n = BEAMS,
                   .angle_min = (float)-M_PI,
                   .angle_increment = (float)(2.0 * M_PI / BEAMS),
                   .range_min = 0.05f,
                   .range_max = (float)RANGE_M};
    for (int i = 0; i < BEAMS; i++) {
        double r = INFINITY;
        for (int k = 0; k < l->n_walls; k++) {
            r = fmin(r, range_to(&l->walls[k], l->at, l->at.yaw - M_PI + i * 2.0 * M_PI / BEAMS));
        }
        s.ranges[i] = r < RANGE_M ? (float)pons_rand_normal(&l->rand, r, 0.01) : INFINITY;
    }
    return s;
}

// Moves for 0.1 s at these speeds.
static void move(lidar *l, double v, double w)
{
    const pons_pose2 step = {0.1 * v, 0.0, 0.1 * w},
                     said = {SCALE * step.x, 0.0, YAW_SCALE * step.yaw};
    l->at = pons_pose_compose(l->at, step);
    l->odom = pons_pose_compose(l->odom, said);
    l->now_ns += PONS_NS_PER_S / 10;
}

static pons_pose2 give(const pons_slam_ops *ops, void *self, lidar *l)
{
    pons_pose2 map_from_odom;
    bool changed;
    pons_error err = PONS_ERROR_INIT;
    const pons_scan s = look(l);
    if (ops->add(self, &s, l->odom, &map_from_odom, &changed, &err) < 0) {
        fail_msg("%s", err.message);
    }
    return pons_pose_compose(map_from_odom, l->odom);
}

// Turns and drives to each point, and gives the module every scan. Returns the last estimate.
static pons_pose2 drive(const pons_slam_ops *ops, void *self, lidar *l, const pons_pose2 *to, int n)
{
    pons_pose2 estimate = give(ops, self, l);
    for (int i = 0; i < n; i++) {
        for (;;) {
            const double dx = to[i].x - l->at.x, dy = to[i].y - l->at.y;
            const double off = pons_wrap_angle(atan2(dy, dx) - l->at.yaw);
            if (hypot(dx, dy) < 0.04) {
                break;
            }
            const bool turns = fabs(off) > 0.1;
            move(l, turns ? 0.0 : fmin(0.5, 10.0 * hypot(dx, dy)),
                 turns ? copysign(1.0, off) : 5.0 * off);
            estimate = give(ops, self, l);
        }
    }
    return estimate;
}

static void near_to(const char *what, pons_pose2 is, pons_pose2 must, double m, double rad)
{
    if (hypot(is.x - must.x, is.y - must.y) > m || fabs(pons_wrap_angle(is.yaw - must.yaw)) > rad) {
        fail_msg("%s: %.3f, %.3f, %.3f, and is at %.3f, %.3f, %.3f", what, is.x, is.y, is.yaw,
                 must.x, must.y, must.yaw);
    }
}

// ---- a SLAM module ------------------------------------------------------------------------------

static char folder[32]; // of the present test

static const char *graph_path(void)
{
    static char path[64];
    snprintf(folder, sizeof folder, "/tmp/pons-slam-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/graph.g2o", folder);
    return path;
}

static void remove_graph(const char *path)
{
    unlink(path);
    assert_int_equal(rmdir(folder), 0);
}

const pons_slam_ops *slam_ops(const char *kind)
{
    const void *ops = NULL;
    pons_error err = PONS_ERROR_INIT;
    const int rc = pons_module_load("slam", kind, &ops, &err);
    if (rc == PONS_ENOTFOUND) {
        printf("left out: %s\n", err.message);
        skip();
    }
    assert_int_equal(rc, PONS_OK);
    assert_int_equal(((const pons_slam_ops *)ops)->abi, PONS_SLAM_ABI);
    return ops;
}

static void *opened(const pons_slam_ops *ops)
{
    void *self = NULL;
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue config = json_pack("{s:f,s:f}", "resolution_m", RES, "radius_m", RADIUS_M);
    if (ops->open(config, &self, &err) < 0) {
        fail_msg("%s", err.message);
    }
    return self;
}

// A module after a drive round the room.
static void *with_room(const pons_slam_ops *ops, lidar *l)
{
    void *self = opened(ops);
    *l = lidar_in(room, ROOM_WALLS, round_trip[0]);
    assert_int_equal(ops->place(self, l->at, l->odom), PONS_OK);
    const pons_pose2 estimate = drive(ops, self, l, round_trip + 1, ROUND_POINTS - 1);
    near_to("after a round", estimate, l->at, 0.05, 0.02);
    return self;
}

static pons_slam_map map_of(const pons_slam_ops *ops, void *self)
{
    pons_slam_map m = {.w = -1};
    pons_error err = PONS_ERROR_INIT;
    if (ops->map(self, &m, &err) < 0) {
        fail_msg("%s", err.message);
    }
    assert_true(m.w >= 0 && m.h >= 0);
    assert_true(fabs(m.resolution_m - RES) < 1e-9);
    return m;
}

static int cell_at(const pons_slam_map *m, double x, double y)
{
    const int cx = (int)floor((x - m->x0) / RES), cy = (int)floor((y - m->y0) / RES);
    return cx < 0 || cy < 0 || cx >= m->w || cy >= m->h ? -1 : m->cells[cy * m->w + cx];
}

static bool same_map(const pons_slam_map *a, const pons_slam_map *b)
{
    return a->w == b->w && a->h == b->h && fabs(a->x0 - b->x0) < 1e-9 &&
           fabs(a->y0 - b->y0) < 1e-9 &&
           (a->w == 0 || memcmp(a->cells, b->cells, (size_t)a->w * (size_t)a->h) == 0);
}

static void still_has(const pons_slam_ops *ops, void *self, const pons_slam_map *m)
{
    pons_slam_map now = map_of(ops, self);
    assert_true(same_map(&now, m));
    free(now.cells);
}

// ---- what it must do ----------------------------------------------------------------------------

void slam_refuses_configurations(const pons_slam_ops *ops)
{
    static const struct {
        const char *key;
        double value;
    } bad[] = {{"resolution_m", 0.0}, {"resolution_m", -0.05}, {"resolution_m", 1e-9},
               {"resolution_m", 1e9}, {"radius_m", -0.05},     {"radius_m", 1e9}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        void *self = NULL;
        pons_error err = PONS_ERROR_INIT;
        pons_autovalue config = json_pack("{s:f}", bad[i].key, bad[i].value);
        assert_int_equal(ops->open(config, &self, &err), PONS_EINVAL);
        assert_null(self);
        assert_non_null(strstr(err.message, bad[i].key));
    }
    ops->close(NULL);
}

void slam_knows_nothing_at_first(const pons_slam_ops *ops)
{
    void *self = opened(ops), *other = opened(ops);
    const char *path = graph_path();
    pons_slam_map m = map_of(ops, self);
    assert_int_equal(m.w, 0);
    free(m.cells);
    assert_int_equal(ops->load(self, path, NULL), PONS_ENOTFOUND);
    assert_int_equal(ops->save(self, "/nowhere/graph.g2o", NULL), PONS_EIO);
    assert_int_equal(ops->save(self, path, NULL), PONS_OK);
    assert_int_equal(ops->load(other, path, NULL), PONS_OK);
    m = map_of(ops, other);
    assert_int_equal(m.w, 0);
    free(m.cells);
    ops->close(self);
    ops->close(other);
    remove_graph(path);
}

// The map's frame is that of the first place: after the loop the walls are where they are, to a cell.
void slam_drives_a_round(const pons_slam_ops *ops)
{
    lidar l;
    void *self = with_room(ops, &l);
    pons_slam_map m = map_of(ops, self);
    const double whole = m.x0 / RES, row = m.y0 / RES;
    assert_true(fabs(whole - round(whole)) < 1e-6);
    assert_true(fabs(row - round(row)) < 1e-6);
    for (int i = 0; i < m.w * m.h; i++) {
        assert_true(m.cells[i] >= -1 && m.cells[i] <= 100);
    }
    for (double s = 0.3; s < 5.8; s += RES) { // along the lower wall and the free floor before it
        assert_int_equal(cell_at(&m, s, 0.0), 0);
        assert_int_equal(cell_at(&m, s, -0.85), 0);
        assert_true(cell_at(&m, s, -1.02) > 0 || cell_at(&m, s, -0.98) > 0 ||
                    cell_at(&m, s, -1.07) > 0);
        assert_true(cell_at(&m, s, -1.3) < 0);
    }
    assert_true(cell_at(&m, 3.0, 2.0) < 0); // nobody has looked into the block
    free(m.cells);
    ops->close(self);
}

void slam_takes_odometry_where_scans_show_nothing(const pons_slam_ops *ops)
{
    void *self = opened(ops);
    lidar l = lidar_in(corridor, 4, along_it[0]);
    assert_int_equal(ops->place(self, l.at, l.odom), PONS_OK);
    const pons_pose2 estimate = drive(ops, self, &l, along_it + 1, 1);
    near_to("at the corridor's end", estimate, l.at, 0.02 * 30.0, 0.02);
    ops->close(self);
}

// An obstacle appears on the driven path. The path stays free in the map; the obstacle's parts beside it are drawn.
void slam_keeps_its_way_free(const pons_slam_ops *ops)
{
    static const wall hall[] = {{-1, -1, 7, -1},       {7, -1, 7, 5},       {7, 5, -1, 5},
                                {-1, 5, -1, -1},       {1, -0.6, 1, 0.6},   {1, 0.6, 1.3, 0.6},
                                {1.3, 0.6, 1.3, -0.6}, {1.3, -0.6, 1, -0.6}};
    static const pons_pose2 way[] = {{4, 0, 0}, {4, 1, 0}, {3, 0.5, 0}};
    enum { WITHOUT = 4, WITH = sizeof hall / sizeof *hall };
    void *self = opened(ops);
    lidar l = lidar_in(hall, WITHOUT, round_trip[0]);
    assert_int_equal(ops->place(self, l.at, l.odom), PONS_OK);
    drive(ops, self, &l, way, 1);
    l.n_walls = WITH;
    drive(ops, self, &l, way + 1, 2);
    pons_slam_map m = map_of(ops, self);
    assert_true(cell_at(&m, 1.32, 0.45) > 0 || cell_at(&m, 1.28, 0.45) > 0);
    for (double x = 0.0; x < 4.0; x += RES) {
        for (double y = -RADIUS_M; y <= RADIUS_M; y += RES) {
            assert_int_equal(cell_at(&m, x, y), 0);
        }
    }
    free(m.cells);
    ops->close(self);
}

// How many cells of two maps differ; the maps may have different origins.
static int differing(const pons_slam_map *a, const pons_slam_map *b)
{
    int n = 0;
    for (int i = 0; i < a->w * a->h; i++) {
        const int row = i / a->w;
        const double x = a->x0 + (i % a->w + 0.5) * RES, y = a->y0 + (row + 0.5) * RES;
        n += cell_at(b, x, y) != a->cells[i];
    }
    return n;
}

// A saved and loaded map is the same, up to the digits in the file. A loaded map is saved again unchanged.
void slam_makes_the_same_map_again(const pons_slam_ops *ops)
{
    lidar l;
    void *self = with_room(ops, &l), *other = opened(ops), *third = opened(ops);
    const char *path = graph_path();
    pons_slam_map m = map_of(ops, self);
    assert_true(m.w > 0);
    assert_int_equal(ops->save(self, path, NULL), PONS_OK);
    still_has(ops, self, &m);
    assert_int_equal(ops->load(other, path, NULL), PONS_OK);
    pons_slam_map again = map_of(ops, other);
    assert_true(differing(&m, &again) <= m.w * m.h / 200);
    assert_true(differing(&again, &m) <= m.w * m.h / 200);
    assert_int_equal(ops->save(other, path, NULL), PONS_OK);
    assert_int_equal(ops->load(third, path, NULL), PONS_OK);
    still_has(ops, third, &again);
    assert_int_equal(ops->load(self, path, NULL), PONS_OK); // replaces the map that it has
    still_has(ops, self, &again);
    free(m.cells);
    free(again.cells);
    ops->close(self);
    ops->close(other);
    ops->close(third);
    remove_graph(path);
}

// The robot was carried, and `place` gives its pose approximately.
void slam_goes_on_from_elsewhere(const pons_slam_ops *ops)
{
    static const pons_pose2 there = {5.8, 3.6, 1.0}, said = {5.85, 3.55, 1.03},
                            way[] = {{6, 4, 0}, {3, 4, 0}};
    lidar l;
    void *self = with_room(ops, &l);
    l.at = there;
    assert_int_equal(ops->place(self, said, l.odom), PONS_OK);
    near_to("carried off", drive(ops, self, &l, way, 2), l.at, 0.05, 0.02);
    ops->close(self);
}

typedef struct damage {
    const char *text;
    int line;
} damage;

static void refuses(const pons_slam_ops *ops, void *self, const char *path, const damage *d)
{
    char place[128];
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_file_replace(path, d->text, strlen(d->text), 0600), 0);
    if (ops->load(self, path, &err) != PONS_EINVAL) {
        fail_msg("taken: %.200s", d->text);
    }
    snprintf(place, sizeof place, "%s:%d", path, d->line);
    if (strcmp(err.source, place) != 0) {
        fail_msg("%s, not %s: %.200s", err.source, place, d->text);
    }
}

void slam_refuses_damaged_files(const pons_slam_ops *ops)
{
#define VERTEX     "VERTEX_SE2 0 0 0 0\n"
#define SCAN(head) VERTEX "ROBOTLASER1 0 " head "\n"
#define TAIL       " 0 0 0 0 0 0 0 0 0 0 0 0 0 x 0"
    static const damage all[] = {
        {"nonsense\n", 1},
        {"\x01\x02\xff\n", 1},
        {VERTEX "VERTEX_SE2 2 0 0 0\n", 2},
        {"VERTEX_SE2 0 0 0\n", 1},
        {"VERTEX_SE2 0 nan 0 0\n", 1},
        {"VERTEX_SE2 0 1e300 0 0\nROBOTLASER1 0 -1 2 1 10 0.05 0 3 1 2 3" TAIL "\n", 2},
        {"VERTEX_SE2 0 1e6 0 0\nROBOTLASER1 0 -1 2 1 10 0.05 0 3 1 2 3" TAIL "\n", 2},
        {VERTEX "VERTEX_SE2 1 0 0 0\n", 2},
        {VERTEX, 2},
        {SCAN("-3.14 6.28"), 2},
        {SCAN("-1 2 1 10 0.05 0 3 1 2"), 2},
        {SCAN("-1 2 1 10 0.05 0 3 1 2 3"), 2},
        {SCAN("-1 2 1 10 0.05 0 1e300 1 2 3" TAIL), 2},
        {SCAN("-1 2 1 10 0.05 0 -3 1 2 3" TAIL), 2},
        {SCAN("-1 2 0 10 0.05 0 3 1 2 3" TAIL), 2},
        {SCAN("-1 2 1 1e30 0.05 0 3 1 2 3" TAIL), 2},
        {SCAN("-1 2 1 10 0.05 0 3 1 inf 3" TAIL), 2},
        {SCAN("-1 2 1 10 0.05 0 3 1 2 3 0 0 1e30 0 0 0 0 0 0 0 0 0 0 0 x 0"), 2},
        {SCAN("-1 2 1 10 0.05 0 3 1 2 3" TAIL) "EDGE_SE2 0 1 0 0 0\n", 3},
        {SCAN("-1 2 1 10 0.05 0 3 1 2 3" TAIL) "EDGE_SE2 0 1e300 0 0 0\n", 3},
        {SCAN("-1 2 1 10 0.05 0 3 1 2 3" TAIL) "EDGE_SE2 0 0 0 0 0\n", 3},
        {SCAN("-1 2 1 10 0.05 0 3 1 2 3" TAIL) "EDGE_SE2 -1 0 0 0 0\n", 3},
        {"ROBOTLASER1 0 -1 2 1 10 0.05 0 3 1 2 3" TAIL "\n", 1},
    };
    lidar l;
    void *self = with_room(ops, &l);
    const char *path = graph_path();
    pons_slam_map m = map_of(ops, self);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        refuses(ops, self, path, &all[i]);
        still_has(ops, self, &m);
    }
    // A file that is cut off anywhere is refused, or its complete part is loaded. That part can be saved and loaded again.
    assert_int_equal(ops->save(self, path, NULL), PONS_OK);
    size_t n = 0;
    char *text = pons_file_text(path, 1u << 24, &n);
    assert_non_null(text);
    for (size_t cut = 1; cut < 12; cut++) {
        void *other = opened(ops);
        pons_error err = PONS_ERROR_INIT;
        assert_int_equal(pons_file_replace(path, text, n * cut / 12, 0600), 0);
        const int rc = ops->load(other, path, &err);
        assert_true(rc == PONS_OK || (rc == PONS_EINVAL && strstr(err.source, "graph.g2o:")));
        pons_slam_map part = map_of(ops, other);
        assert_true((rc == PONS_OK) == (part.w > 0));
        free(part.cells);
        ops->close(other);
    }
    // After the errors the module works as before.
    near_to("after all that", drive(ops, self, &l, round_trip, 2), l.at, 0.05, 0.02);
    free(text);
    free(m.cells);
    ops->close(self);
    remove_graph(path);
}

static void strange(pons_scan *s, int kind)
{
    for (int i = 0; i < s->n; i++) {
        const float ranges[] = {NAN, -INFINITY, 0.0f, -1.0f, INFINITY};
        s->ranges[i] = kind < 5 ? ranges[kind] : s->ranges[i];
    }
    s->n = kind == 5 ? 0 : s->n;
    s->n = kind == 6 ? 1 : s->n;
    s->range_max = kind == 7 ? INFINITY : s->range_max;
    s->range_max = kind == 8 ? NAN : s->range_max;
    s->range_min = kind == 9 ? INFINITY : s->range_min;
    s->angle_increment = kind == 10 ? 0.0f : s->angle_increment;
    s->angle_increment = kind == 11 ? NAN : s->angle_increment;
    s->angle_min = kind == 12 ? INFINITY : s->angle_min;
    s->from.x = kind == 13 ? (double)NAN : s->from.x;
    if (kind == 14) { // a very long range
        s->range_max = 1e9f;
        s->ranges[3] = 9e8f;
    }
}
enum { STRANGE = 15 };

// Each bad scan comes first into an empty map, and then once more into a known one. The mapper may refuse it or ignore
// it; the scans after it must still match.
void slam_takes_any_scan(const pons_slam_ops *ops)
{
    static const pons_pose2 nowhere[] = {{NAN, 0, 0}, {0, 0, NAN}, {INFINITY, 0, 0}, {1e12, 0, 0}};
    void *self = opened(ops);
    lidar l = lidar_in(room, ROOM_WALLS, round_trip[0]);
    assert_int_equal(ops->place(self, l.at, l.odom), PONS_OK);
    for (int life = 0; life < 2; life++) {
        for (int kind = 0; kind < STRANGE + 4; kind++) {
            pons_scan s = look(&l);
            pons_pose2 ret = {7.0, 7.0, 7.0}, odom = l.odom;
            bool changed = false;
            pons_error err = PONS_ERROR_INIT;
            strange(&s, kind);
            odom = kind < STRANGE ? odom : nowhere[kind - STRANGE];
            if (ops->add(self, &s, odom, &ret, &changed, &err) < 0) {
                assert_true(*err.message);
                assert_true(ret.x == 7.0 && ret.yaw == 7.0);
            } else {
                assert_true(isfinite(ret.x) && isfinite(ret.y) && isfinite(ret.yaw));
            }
            move(&l, 0.0, kind % 2 ? -0.7 : 0.7); // far enough that the next scan is matched
        }
        near_to("after strange scans", drive(ops, self, &l, round_trip + 1, 1), l.at, 0.05, 0.02);
    }
    pons_slam_map m = map_of(ops, self);
    assert_true(m.w * RES < 20.0 && m.h * RES < 20.0);
    free(m.cells);
    ops->close(self);
}
