// test_world_map.c - worlds made of a map: walls, what is unknown, keep-out and slow zones, masks, and
// robots that drive in them.
//
// Maps are drawn by the test, with the ragged edges that scans leave. With PONS_NAV2_MAPS=DIR, a folder
// with the maps of nav2_bringup (maps/*.yaml, *.pgm), forty goals are driven to in its warehouse too.
#include "body/body_bench.h"
#include "body/core/body.h"
#include "pons/drivers.h"
#include "pons/map.h"
#include "pons/map_preview.h"
#include "pons/random.h"
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64];
static bench t;

static int set_up(void **state)
{
    (void)state;
    setenv("PONS_SHARE", PONS_SOURCE_DIR, 1);
    snprintf(dir, sizeof dir, "/tmp/pons-map-world-XXXXXX");
    assert_non_null(mkdtemp(dir));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    char command[100];
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    assert_int_equal(system(command), 0);
    return 0;
}

static const char *in_dir(const char *name)
{
    static char paths[4][400];
    static int turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", dir, name);
    return path;
}

static void write_text(const char *name, const char *text)
{
    FILE *f = fopen(in_dir(name), "we");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

// ---- drawing maps -------------------------------------------------------------------------------

enum { WIDE = 400, HIGH = 240 };
#define RES 0.05 // 20 × 12 m, from (-2, -1)
static unsigned char grey[HIGH][WIDE];

static void fill(double x0, double y0, double x1, double y1, unsigned char what)
{
    for (int y = 0; y < HIGH; y++) {
        for (int x = 0; x < WIDE; x++) {
            const double mx = -2.0 + RES * (x + 0.5), my = -1.0 + RES * (HIGH - 1 - y + 0.5);
            if (mx > x0 && mx < x1 && my > y0 && my < y1) {
                grey[y][x] = what;
            }
        }
    }
}

static void room(void)
{
    memset(grey, 0, sizeof grey);
    fill(-1.9, -0.9, 17.9, 10.9, 254);
}

// What a mapper leaves: one cell in three beside a wall is a wall too.
static void roughen(uint64_t seed)
{
    pons_rand r;
    pons_rand_seed(&r, seed);
    static unsigned char was[HIGH][WIDE];
    memcpy(was, grey, sizeof was);
    for (int y = 1; y + 1 < HIGH; y++) {
        for (int x = 1; x + 1 < WIDE; x++) {
            const bool beside = was[y - 1][x] == 0 || was[y + 1][x] == 0 || was[y][x - 1] == 0 ||
                                was[y][x + 1] == 0;
            if (was[y][x] == 254 && beside && pons_rand_unit(&r) < 0.33) {
                grey[y][x] = 0;
            }
        }
    }
}

static void save(const char *name, const char *more)
{
    char text[300];
    snprintf(text, sizeof text, "%s.pgm", name);
    FILE *f = fopen(in_dir(text), "we");
    assert_non_null(f);
    fprintf(f, "P5\n%d %d\n255\n", WIDE, HIGH);
    assert_int_equal(fwrite(grey, 1, sizeof grey, f), sizeof grey);
    assert_int_equal(fclose(f), 0);
    snprintf(text, sizeof text,
             "image: %s.pgm\nresolution: 0.05\norigin: [-2.0, -1.0, 0.0]\nnegate: 0\n%s", name,
             *more ? more : "occupied_thresh: 0.65\nfree_thresh: 0.196\n");
    char file[100];
    snprintf(file, sizeof file, "%s.yaml", name);
    write_text(file, text);
}

static void write_world(const char *start, const char *more)
{
    char text[4000];
    snprintf(text, sizeof text,
             "name: drawn\nstart: %s\n"
             "robot: {id: r, radius_m: 0.22, wheel_radius_m: 0.08, track_m: 0.34, "
             "speed_max_mps: 0.6, reverse_max_mps: 0.3, yaw_rate_max_radps: 1.5, "
             "accel_max_mps2: 1.0, brake_max_mps2: 2.0, yaw_accel_max_radps2: 4.0}\n"
             "battery: {initial_pct: 90, idle_pct_per_s: 0, motion_pct_per_m: 0, "
             "charge_pct_per_s: 1}\n"
             "lidar: {beams: 120, angle_min: -3.141592653589793, angle_max: 3.141592653589793, "
             "range_min: 0.05, range_max: 10, hz: 10, noise_m: 0.01}\n"
             "charger: {pose: %s, contact_m: 0.1}\n"
             "zones: [{id: all, names: {zh: [全部], en: [all]}, "
             "polygon: [[-1.5, -0.9], [15, -0.9], [15, 10.9], [-1.5, 10.9]], target: %s}]\n%s",
             start, start, start, more);
    write_text("w.yaml", text);
}

static pons_value *load(void)
{
    pons_error err = PONS_ERROR_INIT;
    pons_value *world = NULL;
    char line[1200];
    if (pons_world_load(in_dir("w.yaml"), &world, &err) != PONS_OK) {
        fail_msg("%s", pons_error_line(&err, line, sizeof line));
    }
    return world;
}

static pons_ground *ground_of(const pons_value *world)
{
    pons_ground *g = NULL;
    pons_error err = PONS_ERROR_INIT;
    char line[1200];
    if (pons_ground_open(world, &g, &err) != PONS_OK) {
        fail_msg("%s", pons_error_line(&err, line, sizeof line));
    }
    return g;
}

// The way's length; -1: there is none.
static double way(pons_ground *g, double x0, double y0, double x1, double y1)
{
    pons_ground_way w = {0};
    const int rc =
        pons_ground_plan(g, (pons_pose2){x0, y0, 0.0}, (pons_pose2){x1, y1, 0.0}, &w, NULL);
    const double length = rc == PONS_OK ? w.length_m : -1.0;
    for (int i = 0; i < w.n; i++) { // whatever it was: never where one may not be
        assert_int_not_equal(pons_ground_at(g, w.x[i], w.y[i]), PONS_GROUND_WALL);
        assert_int_not_equal(pons_ground_at(g, w.x[i], w.y[i]), PONS_GROUND_KEEP_OUT);
    }
    pons_ground_way_clear(&w);
    return length;
}

// ---- what a world says of its map ---------------------------------------------------------------

static void walls_and_what_is_unknown(void **state)
{
    (void)state;
    room();
    fill(7.0, -1.0, 7.2, 9.0, 0);   // a wall with a door of 1.9 m at its upper end
    fill(7.0, 9.0, 7.2, 11.0, 205); // which nobody has looked into
    save("m", "");
    write_world("{x: 1, y: 1, yaw: 0}", "map: {file: m.yaml}\n");
    pons_value *world = load();
    assert_true(json_array_size(pons_get(pons_get(world, "map"), "boxes")) < 20);
    assert_true(fabs(json_real_value(json_array_get(pons_get(world, "bounds"), 2)) - 18.0) < 1e-9);
    pons_ground *g = ground_of(world);
    assert_int_equal(pons_ground_at(g, 7.1, 5.0), PONS_GROUND_WALL);
    assert_int_equal(pons_ground_at(g, 7.1, 10.0), PONS_GROUND_UNKNOWN);
    assert_int_equal(pons_ground_at(g, 3.0, 5.0), PONS_GROUND_FREE);
    assert_true(way(g, 1, 1, 12, 1) < 0.0);
    assert_true(way(g, 1, 1, 5, 1) > 3.9);
    pons_ground_close(g);
    pons_value_unref(world);
    write_world("{x: 1, y: 1, yaw: 0}", "map: {file: m.yaml, unknown: free}\n");
    world = load();
    g = ground_of(world);
    assert_true(way(g, 1, 1, 12, 1) > 18.0);
    pons_ground_close(g);
    pons_value_unref(world);
    // Boxes of the world's own stand beside the map's walls, and bounds of its own hold.
    write_world("{x: 1, y: 1, yaw: 0}",
                "bounds: [-2, -1, 18, 11]\nmap: {file: m.yaml, unknown: free, resolution_m: 0.1, "
                "boxes: [{id: crate, x: 7.1, y: 10.0, sx: 0.5, sy: 2, kind: furniture}]}\n");
    world = load();
    g = ground_of(world);
    assert_true(way(g, 1, 1, 12, 1) < 0.0);
    pons_ground_close(g);
    pons_value_unref(world);
}

static void refused(const char *what, const char *where)
{
    pons_error err = PONS_ERROR_INIT;
    pons_value *world = NULL;
    const int rc = pons_world_load(in_dir("w.yaml"), &world, &err);
    if (rc >= 0 || !strstr(err.message, what) || !strstr(err.source, where)) {
        fail_msg("wanted '%s' at '%s', not %d '%s' at '%s'", what, where, rc, err.message,
                 err.source);
    }
    assert_null(world);
}

static void bad_worlds(void **state)
{
    (void)state;
    static const struct {
        const char *start, *more, *what, *where;
    } rows[] = {
        {"{x: 1, y: 1, yaw: 0}", "map: {file: other.yaml}\n", "cannot read the map other.yaml",
         "w.yaml:8:13"},
        {"{x: 1, y: 1, yaw: 0}", "map: {file: ../../../../../../etc/passwd}\n",
         "not in the world's folder", "w.yaml:8:13"},
        {"{x: 1, y: 1, yaw: 0}", "map: {file: /etc/passwd}\n", "not in the world's folder",
         "w.yaml:8:13"},
        {"{x: 1, y: 1, yaw: 0}", "map: {file: broken.yaml}\n", "the map has no resolution",
         "broken.yaml:1:1"},
        {"{x: 1, y: 1, yaw: 0}", "map: {unknown: free}\n", "", "w.yaml:8"},
        {"{x: 1, y: 1, yaw: 0}", "map: {file: pipe.yaml}\n", "the map is no file", "pipe.yaml"},
        {"{x: 1, y: 1, yaw: 0}", "map: {resolution_m: 0.05, boxes: []}\n", "no bounds", "w.yaml:1"},
        {"{x: -1.8, y: 1, yaw: 0}", "map: {file: m.yaml}\n", "from map, and the robot's radius",
         "w.yaml:2:8"},
        {"{x: 1, y: 1, yaw: 0}",
         "map: {file: m.yaml}\nfilters: [{kind: keep_out, file: gone.yaml}]\n",
         "cannot read the map gone.yaml", "w.yaml:9"},
        {"{x: 1, y: 1, yaw: 0}",
         "map: {file: m.yaml}\nfilters: [{kind: speed, file: m.yaml}, {kind: keep_out, file: "
         "far.yaml}]\n",
         "the mask far.yaml lies nowhere in the world: it reaches from (18, -1) to (38, 11)",
         "w.yaml:9:63"},
        {"{x: 1, y: 1, yaw: 0}",
         "map: {resolution_m: 0.05, boxes: []}\nbounds: [-2, -1, 18, 11]\nfilters: [{kind: "
         "keep_out, file: far.yaml}]\n",
         "the mask far.yaml lies nowhere in the world", "w.yaml:10:"},
        {"{x: 1, y: 1, yaw: 0}",
         "map: {file: m.yaml}\nspeed_zones: [{id: a, polygon: [[1, 1], [2, 1], [2, 2]]}]\n", "",
         "w.yaml:9"},
        {"{x: 1, y: 1, yaw: 0}",
         "map: {file: m.yaml}\nspeed_zones: [{id: a, percent: 0, polygon: [[1, 1], [2, 1], [2, "
         "2]]}]\n",
         "", "w.yaml:9"},
        {"{x: 1, y: 1, yaw: 0}",
         "map: {file: m.yaml}\nkeep_out:\n  - {id: a, polygon: [[1, 1], [2, 1], [2, 2]]}\n  - {id: "
         "a, polygon: [[1, 1], [2, 1], [2, 2]]}\n",
         "the id a is already taken", "w.yaml:11"},
        {"{x: 1, y: 1, yaw: 0}",
         "map: {file: m.yaml}\nkeep_out:\n  - {id: a, polygon: [[17, 1], [19, 1], [19, 2]]}\n  - "
         "{id: b, polygon: [[18.5, 1], [19, 1], [19, 2]]}\n",
         "b lies nowhere in the world: it reaches from (18.5, 1) to (19, 2)", "w.yaml:11"},
        {"{x: 1, y: 1, yaw: 0}",
         "map: {file: m.yaml}\nspeed_zones: [{id: a, percent: 9, polygon: [[1, -9], [2, -9], [2, "
         "-2]]}]\n",
         "a lies nowhere in the world", "w.yaml:9"},
    };
    room();
    save("m", "");
    write_text("broken.yaml", "image: m.pgm\n");
    write_text("far.yaml", "image: m.pgm\nresolution: 0.05\norigin: [18.0, -1.0, 0.0]\nnegate: 0\n"
                           "occupied_thresh: 0.65\nfree_thresh: 0.196\n");
    assert_int_equal(mkfifo(in_dir("pipe.yaml"), 0600), 0); // is not waited for
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        write_world(rows[i].start, rows[i].more);
        refused(rows[i].what, rows[i].where);
    }
}

// Polygons and masks say the same, also for a mask of another resolution, turned.
static void keep_out_and_slow(void **state)
{
    (void)state;
    room();
    save("m", "");
    write_world("{x: 1, y: 1, yaw: 0}",
                "map: {file: m.yaml}\n"
                "keep_out:\n  - {id: wet, polygon: [[5, -2], [6, -2], [6, 9], [5, 9]]}\n"
                "speed_zones:\n"
                "  - {id: calm, percent: 50, polygon: [[8, 0], [10, 0], [10, 5], [8, 5]]}\n"
                "  - {id: calmer, speed_max_mps: 0.12, polygon: [[9, 0], [10, 0], [10, 5]]}\n");
    pons_value *world = load();
    pons_ground *g = ground_of(world);
    assert_int_equal(pons_ground_at(g, 5.5, 5.0), PONS_GROUND_KEEP_OUT);
    assert_int_equal(pons_ground_at(g, 5.5, 9.5), PONS_GROUND_FREE);
    assert_int_equal(pons_ground_at(g, 8.5, 4.5), PONS_GROUND_SLOW);
    assert_true(fabs(pons_ground_speed(g, 8.5, 4.5) - 0.3) < 1e-9);
    assert_true(fabs(pons_ground_speed(g, 9.9, 2.0) - 0.12) < 1e-9); // the lowest of two
    assert_true(isinf(pons_ground_speed(g, 12.0, 2.0)));
    assert_true(way(g, 1, 1, 12, 1) > 20.0); // around it
    assert_true(way(g, 1, 1, 5.5, 5) < 0.0);
    pons_ground_close(g);
    pons_value_unref(world);

    memset(grey, 255, sizeof grey);
    fill(5.0, -2.0, 6.0, 9.0, 0);
    fill(1.0, 5.0, 2.0, 6.0, 128); // neither: says nothing
    save("k", "");
    memset(grey, 255, sizeof grey);
    fill(8.0, 0.0, 10.0, 5.0, 128); // 50 in scale mode
    fill(12.0, 0.0, 13.0, 5.0, 0);  // 100: a limit of 0 % is none
    save("s", "mode: scale\noccupied_thresh: 1.0\nfree_thresh: 0.0\n");
    write_world(
        "{x: 1, y: 1, yaw: 0}",
        "map: {file: m.yaml}\nfilters:\n  - {kind: keep_out, file: k.yaml}\n"
        "  - {kind: speed, file: s.yaml}\n"
        "  - {kind: speed, file: s.yaml, base: 0.55, multiplier: -0.005, absolute: true}\n");
    world = load();
    g = ground_of(world);
    assert_int_equal(pons_ground_at(g, 5.5, 5.0), PONS_GROUND_KEEP_OUT);
    assert_int_equal(pons_ground_at(g, 1.5, 5.5), PONS_GROUND_FREE);
    assert_true(way(g, 1, 1, 12, 1) > 20.0);
    assert_true(fabs(pons_ground_speed(g, 9.0, 4.5) - 0.3) < 1e-9); // 50 %, and 0.55 − 0.25 m/s
    assert_true(fabs(pons_ground_speed(g, 12.5, 2.0) - 0.05) < 0.011); // 0.55 − 0.5 m/s
    assert_true(isinf(pons_ground_speed(g, 15.0, 2.0)));
    pons_ground_close(g);
    pons_value_unref(world);
}

// ---- driving ------------------------------------------------------------------------------------

static void boot(void)
{
    bench_open(&t, in_dir("w.yaml"));
    bench_hello(&t);
    bench_step(&t, 0.5);
}

static pons_pose2 truth(void)
{
    pons_pose2 p;
    assert_int_equal(pons_body_truth(t.body, &p, NULL), PONS_OK);
    return p;
}

typedef struct watched {   // along a drive
    double keep_out_min_m; // how near the robot's middle came to a keep-out polygon
    double slow_max_mps;   // the highest speed in a slow zone
    double slow_limit_mps; // beyond what it was told
    int steps;
} watched;

// Steps to the goal's result, and looks at every tenth of a second where the robot truly is.
static const char *drive(const pons_ground *g, const char *args, double seconds, watched *w)
{
    const char *id = bench_goal(&t, NULL, "navigate_to_pose", args);
    char own[80];
    snprintf(own, sizeof own, "%s", id);
    const char *result = "";
    for (double s = 0.0; s < seconds && !*result; s += 0.1) {
        result = bench_until_result(&t, own, 0.1);
        const pons_pose2 p = truth();
        for (int i = 0; w && i < 24; i++) {
            const double a = i * M_PI / 12.0;
            if (pons_ground_at(g, p.x + 0.2 * cos(a), p.y + 0.2 * sin(a)) == PONS_GROUND_KEEP_OUT) {
                fail_msg("inside a keep-out zone at %.2f %.2f", p.x, p.y);
            }
        }
        const double limit = pons_ground_speed(g, p.x, p.y), v = fabs(bench_speed(&t));
        if (w && isfinite(limit)) {
            w->slow_max_mps = fmax(w->slow_max_mps, v);
            w->slow_limit_mps = fmax(w->slow_limit_mps, v - limit);
            w->steps++;
        }
    }
    return result;
}

static void goal_at(char *ret, size_t cap, double x, double y)
{
    snprintf(ret, cap, "{\"pose\":{\"x\":%.3f,\"y\":%.3f}}", x, y);
}

static void drives_around_and_slowly(void **state)
{
    (void)state;
    room();
    roughen(1);
    save("m", "");
    write_world("{x: 1, y: 1, yaw: 0}",
                "map: {file: m.yaml}\n"
                "keep_out: [{id: wet, polygon: [[5, -1], [6, -1], [6, 6], [5.5, 7], [5, 6]]}]\n"
                "speed_zones: [{id: calm, percent: 40, polygon: [[8, -1], [11, -1], [11, 11], [8, "
                "11]]}]\n");
    boot();
    pons_ground *g = ground_of(t.world);
    watched w = {0};
    assert_string_equal(drive(g, "{\"pose\":{\"x\":14,\"y\":2}}", 120.0, &w), "done 0");
    assert_true(bench_truth_to(&t, 14, 2) < 0.3);
    assert_true(w.steps > 50);
    assert_true(w.slow_limit_mps < 0.03);
    assert_true(w.slow_max_mps > 0.2); // it drove, though
    // And a goal in there is not one.
    char result[80];
    snprintf(result, sizeof result, "%s", drive(g, "{\"pose\":{\"x\":5.5,\"y\":3}}", 120.0, &w));
    assert_int_equal(strncmp(result, "failed", 6), 0);
    pons_ground_close(g);
    bench_close(&t);
}

// Nobody plans here: a person drives straight at it, forwards and backwards, and turning.
static void the_gate_keeps_out(void **state)
{
    (void)state;
    static const double ways[][2] = {{0.6, 0.0}, {0.6, 0.25}, {-0.3, 0.0}, {0.3, -0.2}};
    room();
    save("m", "");
    for (size_t k = 0; k < sizeof ways / sizeof ways[0]; k++) {
        write_world(ways[k][0] > 0.0 ? "{x: 3, y: 4, yaw: 0}" : "{x: 3, y: 4, yaw: 3.1415926}",
                    "map: {file: m.yaml}\n"
                    "keep_out: [{id: pit, polygon: [[5, -1], [6, -1], [6, 11], [5, 11]]}]\n"
                    "speed_zones: [{id: calm, speed_max_mps: 0.2, polygon: [[4, -1], [5, -1], [5, "
                    "11], [4, 11]]}]\n");
        boot();
        pons_ground *g = ground_of(t.world);
        char args[100];
        snprintf(args, sizeof args, "{}");
        bench_goal(&t, NULL, "drive_by_hand", args);
        for (int i = 0; i < 150; i++) {
            bench_send(&t, pons_object("type", json_string("steer"), "v", json_real(ways[k][0]),
                                       "w", json_real(ways[k][1]), NULL));
            bench_step(&t, 0.1);
            const pons_pose2 p = truth();
            if (p.x + 0.22 > 5.001) {
                fail_msg("way %zu: into the keep-out zone at %.3f %.3f", k, p.x, p.y);
            }
            if (p.x > 4.05 && fabs(bench_speed(&t)) > 0.23) {
                fail_msg("way %zu: %.2f m/s in a zone of 0.2 at %.2f", k, bench_speed(&t), p.x);
            }
        }
        if (ways[k][1] == 0.0) { // it came there, and no further
            assert_true(truth().x > 4.5);
        }
        pons_ground_close(g);
        bench_close(&t);
    }
}

// A passage of 0.85 m with two corners, whose walls scans have frayed.
static void the_bent_gap(void **state)
{
    (void)state;
    room();
    fill(6.0, -1.0, 10.0, 11.0, 0);
    fill(5.9, 3.00, 8.0, 3.95, 254);
    fill(7.05, 3.00, 8.0, 7.0, 254);
    fill(7.05, 6.05, 10.1, 7.0, 254);
    roughen(2);
    save("m", "");
    write_world("{x: 1, y: 1, yaw: 0}", "map: {file: m.yaml}\n");
    boot();
    pons_ground *g = ground_of(t.world);
    assert_string_equal(drive(g, "{\"pose\":{\"x\":14,\"y\":9}}", 150.0, NULL), "done 0");
    assert_string_equal(drive(g, "{\"pose\":{\"x\":1,\"y\":1}}", 150.0, NULL), "done 0");
    assert_true(bench_truth_to(&t, 1, 1) < 0.3);
    pons_ground_close(g);
    bench_close(&t);
}

// Goals drawn from a seed, where there is room; none may be missed.
static int goals(int n, uint64_t seed)
{
    pons_rand r;
    pons_rand_seed(&r, seed);
    boot();
    pons_ground *g = ground_of(t.world);
    const pons_value *b = pons_get(t.world, "bounds");
    double at[4];
    int missed = 0, tried = 0;
    for (size_t i = 0; i < 4; i++) {
        at[i] = json_number_value(json_array_get(b, i));
    }
    for (int i = 0; i < n;) {
        char args[100];
        const double x = at[0] + (at[2] - at[0]) * pons_rand_unit(&r);
        const double y = at[1] + (at[3] - at[1]) * pons_rand_unit(&r);
        const pons_pose2 p = truth();
        if (pons_ground_room(g, x, y) < 0.4 || way(g, p.x, p.y, x, y) < 0.0) {
            assert_true(++tried < 20000); // else the robot starts where there is no way out
            continue;
        }
        i++;
        goal_at(args, sizeof args, x, y);
        watched w = {0};
        const char *result = drive(g, args, 600.0, &w);
        if (strcmp(result, "done 0") != 0 || bench_truth_to(&t, x, y) > 0.35) {
            print_message("goal %d (%.2f, %.2f): %s, %.2f m from there\n", i, x, y, result,
                          bench_truth_to(&t, x, y));
            missed++;
        }
    }
    pons_ground_close(g);
    bench_close(&t);
    return missed;
}

static void goals_in_a_drawn_warehouse(void **state)
{
    (void)state;
    room();
    for (int row = 0; row < 3; row++) {
        for (int rack = 0; rack < 3; rack++) {
            fill(2.0 + 5.0 * rack, 1.5 + 3.0 * row, 5.0 + 5.0 * rack, 2.4 + 3.0 * row, 0);
            fill(2.2 + 5.0 * rack, 1.7 + 3.0 * row, 4.8 + 5.0 * rack, 2.2 + 3.0 * row, 205);
        }
    }
    roughen(3);
    save("m", "");
    write_world(
        "{x: 0, y: 0, yaw: 0}",
        "map: {file: m.yaml}\n"
        "keep_out: [{id: aisle, polygon: [[5.5, 3.4], [6.5, 3.4], [6.5, 6.5], [5.5, 6.5]]}]\n");
    assert_int_equal(goals(8, 17), 0);
}

static void goals_in_nav2s_warehouse(void **state)
{
    (void)state;
    const char *maps = getenv("PONS_NAV2_MAPS");
    if (!maps) {
        skip();
    }
    char command[400];
    snprintf(command, sizeof command, "cp '%s'/warehouse*.yaml '%s'/warehouse*.pgm '%s'/", maps,
             maps, dir);
    assert_int_equal(system(command), 0);
    write_world("{x: 12.5, y: 3, yaw: 0}",
                "map: {file: warehouse.yaml}\n"
                "filters: [{kind: keep_out, file: warehouse_keepout.yaml}, {kind: speed, file: "
                "warehouse_speed.yaml}]\n");
    assert_int_equal(goals(40, 17), 0);
}

// A fleet writes a world for each robot in another folder. Its map and other files are those of the world that it refers to.
static void a_world_of_another_one(void **state)
{
    (void)state;
    static const struct {
        const char *text, *what, *where;
    } bad[] = {
        {"of: ../w.yaml\nstart: {x: 7.1, y: 5, yaw: 0}\nrobot_id: r7\n", "the start", "of.yaml:2"},
        {"of: ../w.yaml\nstart: {x: 1, y: 2}\n", "has exactly start and robot_id", "of.yaml:1"},
        {"of: ../none.yaml\nstart: {x: 1, y: 2}\nrobot_id: r7\n", "", "none.yaml"},
        {"of: of.yaml\nstart: {x: 1, y: 2}\nrobot_id: r7\n", "missing property 'name'", "of.yaml"}};
    char text[600];
    pons_error err = PONS_ERROR_INIT;
    pons_value *world = NULL;
    room();
    fill(7.0, -1.0, 7.2, 9.0, 0);
    save("m", "");
    write_world("{x: 1, y: 1, yaw: 0}", "map: {file: m.yaml}\n");
    assert_int_equal(mkdir(in_dir("run"), 0700), 0);
    snprintf(text, sizeof text, "of: %s\nstart: {x: 12, y: 2, yaw: 1}\nrobot_id: r7\n",
             in_dir("w.yaml"));
    write_text("run/of.yaml", text);
    assert_int_equal(pons_world_load(in_dir("run/of.yaml"), &world, &err), PONS_OK);
    assert_string_equal(pons_get_str(pons_get(world, "robot"), "id", ""), "r7");
    assert_true(pons_get_num(pons_get(world, "start"), "x", 0.0) == 12.0);
    assert_string_equal(pons_get_str(world, "path", ""), in_dir("run/of.yaml"));
    pons_ground *g = ground_of(world);
    assert_int_equal(pons_ground_at(g, 7.1, 5.0), PONS_GROUND_WALL);
    pons_ground_close(g);
    pons_value_unref(world);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        err = (pons_error)PONS_ERROR_INIT;
        world = NULL;
        snprintf(text, sizeof text, "of: %s/run/%s", dir, bad[i].text + strlen("of: "));
        write_text("run/of.yaml", text);
        assert_true(pons_world_load(in_dir("run/of.yaml"), &world, &err) < 0);
        assert_null(world);
        if (!strstr(err.message, bad[i].what) ||
            !(strstr(err.source, bad[i].where) || strstr(err.message, bad[i].where))) {
            fail_msg("%s [%s]", err.message, err.source);
        }
    }
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(walls_and_what_is_unknown), CASE(bad_worlds),
        CASE(keep_out_and_slow),         CASE(drives_around_and_slowly),
        CASE(the_gate_keeps_out),        CASE(the_bent_gap),
        CASE(a_world_of_another_one),    CASE(goals_in_a_drawn_warehouse),
        CASE(goals_in_nav2s_warehouse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
