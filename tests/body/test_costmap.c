// test_costmap.c - the occupancy grid: what the map covers, what scans add and take away, the distance
// field. Scans are made by hand, so every range is known. The distance field is compared with a
// search over all occupied cells, after every change, on seeded maps.
#include "body/costmap/costmap.h"
#include "body/mini_sim.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const double RES_M = 0.05;
static const int64_t SCAN_NS = 100 * PONS_NS_PER_MS;

static pons_value *world_of(const char *text)
{
    pons_value *v = NULL;
    pons_error err = PONS_ERROR_INIT;
    if (pons_value_parse(text, strlen(text), &v, &err) != PONS_OK) {
        fail_msg("%s", err.message);
    }
    return v;
}

static pons__costmap *grid_of(const char *text)
{
    pons_autovalue world = world_of(text);
    pons__costmap *g = NULL;
    pons_error err = PONS_ERROR_INIT;
    if (pons__costmap_from_world(world, &g, &err) != PONS_OK) {
        fail_msg("%s", err.message);
    }
    return g;
}

#define OPEN_6X6 "{\"bounds\":[0,0,6,6],\"map\":{\"resolution_m\":0.05,\"boxes\":[]}}"
#define WALLED                                                                                     \
    "{\"bounds\":[0,0,6,6],\"map\":{\"resolution_m\":0.05,\"boxes\":["                             \
    "{\"id\":\"w\",\"x\":5.0,\"y\":3.0,\"sx\":0.1,\"sy\":6.0,\"kind\":\"wall\"}]}}"

static void close_to(double a, double b, double within)
{
    if (!(fabs(a - b) <= within)) {
        fail_msg("%g is not within %g of %g", a, within, b);
    }
}

static void boxes_become_cells(void **state)
{
    (void)state;
    pons__costmap *g = grid_of(
        "{\"bounds\":[0,0,6,6],\"map\":{\"resolution_m\":0.05,\"boxes\":["
        "{\"id\":\"block\",\"x\":1.0,\"y\":1.0,\"sx\":1.0,\"sy\":0.5},"
        "{\"id\":\"thin\",\"x\":3.01,\"y\":3.0,\"sx\":0.01,\"sy\":2.0},"
        "{\"id\":\"turned\",\"x\":5.0,\"y\":1.0,\"yaw\":0.785398,\"sx\":1.0,\"sy\":0.1}]}}");
    close_to(pons__costmap_clearance(g, 1.0, 1.0), 0.0, 0.0);
    close_to(pons__costmap_clearance(g, 1.48, 1.23), 0.0, 0.0);
    close_to(pons__costmap_clearance(g, 2.0, 1.0), 0.5, RES_M);
    close_to(pons__costmap_clearance(g, 2.0, 1.25 + 0.4), hypot(0.5, 0.4), RES_M);
    close_to(pons__costmap_clearance(g, 5.3, 1.3), 0.0, 0.0); // along the turned box
    close_to(pons__costmap_clearance(g, 5.3, 0.7), hypot(0.3, 0.3) - 0.05, RES_M);
    // A box thinner than a cell has no gap.
    for (double y = 2.02; y < 3.98; y += 0.01) {
        double least = 1.0;
        for (double x = 2.9; x < 3.1; x += 0.01) {
            least = fmin(least, pons__costmap_clearance(g, x, y));
        }
        close_to(least, 0.0, 0.0);
    }
    pons__costmap_destroy(g);

    g = grid_of(OPEN_6X6);
    close_to(pons__costmap_clearance(g, 3.0, 3.0), 2.0, 1e-6); // the cap
    close_to(pons__costmap_clearance(g, -0.1, 3.0), 0.0, 0.0); // outside
    close_to(pons__costmap_clearance(g, NAN, 3.0), 0.0, 0.0);
    pons__costmap_destroy(g);
    pons__costmap_destroy(NULL);
}

static void bad_worlds_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *world, *says;
    } rows[] = {
        {"{}", "bounds"},
        {"{\"bounds\":[0,0,6]}", "bounds"},
        {"{\"bounds\":[0,0,0,6],\"map\":{}}", "cells"},
        {"{\"bounds\":[6,0,0,6],\"map\":{}}", "cells"},
        {"{\"bounds\":[0,0,1e6,1e6],\"map\":{}}", "cells"},
        {"{\"bounds\":[0,0,6,6],\"map\":{\"resolution_m\":0}}", "resolution_m"},
        {"{\"bounds\":[0,0,6,6],\"map\":{\"resolution_m\":-1}}", "resolution_m"},
        {"{\"bounds\":[0,0,6,6],\"map\":{\"boxes\":[{\"x\":1,\"y\":1,\"sx\":1}]}}", "boxes[0]"},
        {"{\"bounds\":[0,0,6,6],\"map\":{\"boxes\":[{\"x\":1,\"y\":1,\"sx\":1,\"sy\":0}]}}",
         "boxes[0]"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pons_autovalue world = world_of(rows[i].world);
        pons__costmap *g = (pons__costmap *)state;
        pons_error err = PONS_ERROR_INIT;
        assert_int_equal(pons__costmap_from_world(world, &g, &err), PONS_EINVAL);
        assert_ptr_equal(g, state); // untouched
        assert_string_equal(err.module, "grid");
        if (!strstr(err.message, rows[i].says)) {
            fail_msg("\"%s\" does not name %s", err.message, rows[i].says);
        }
    }
    // A box far outside is no harm.
    pons__costmap *g = grid_of("{\"bounds\":[0,0,6,6],\"map\":{\"boxes\":["
                               "{\"x\":1e12,\"y\":-1e12,\"sx\":1,\"sy\":1}]}}");
    close_to(pons__costmap_clearance(g, 3.0, 3.0), 2.0, 1e-6);
    pons__costmap_destroy(g);
}

// The robot at (2, 3) looks at things 1 m away; a full circle of 120 beams.
static void hits_make_obstacles_and_beams_clear_them(void **state)
{
    (void)state;
    pons__costmap *g = grid_of(OPEN_6X6);
    const pons_pose2 pose = {2.02, 3.02, 0.7};
    int64_t t = SCAN_NS;
    pons_scan scan = mini_scan(120, INFINITY, t);
    const int beam = 60; // straight ahead
    scan.ranges[beam] = 1.0f;
    const double x = 2.02 + cos(0.7), y = 3.02 + sin(0.7);

    pons__costmap_observe(g, pose, &scan);
    close_to(pons__costmap_clearance(g, x, y), 2.0, 1e-6); // one hit proves nothing
    pons__costmap_observe(g, pose, &scan);                 // the same scan neither
    close_to(pons__costmap_clearance(g, x, y), 2.0, 1e-6);
    for (int i = 0; i < 3; i++) {
        scan.stamp_ns = t += SCAN_NS;
        pons__costmap_observe(g, pose, &scan);
    }
    close_to(pons__costmap_clearance(g, x, y), 0.0, 0.0);
    close_to(pons__costmap_clearance(g, x + 0.5, y), 0.5, RES_M);

    pons__blob blob;
    assert_int_equal(pons__costmap_blobs(g, &blob, 1), 1);
    close_to(blob.x, x, RES_M);
    close_to(blob.y, y, RES_M);

    // A beam that ends before it says nothing about it.
    scan.ranges[beam] = 0.5f;
    for (int i = 0; i < 20; i++) {
        scan.stamp_ns = t += SCAN_NS;
        pons__costmap_observe(g, pose, &scan);
    }
    close_to(pons__costmap_clearance(g, x, y), 0.0, 0.0);

    // Nothing there any more: both go within two seconds, and the field is as it was.
    scan.ranges[beam] = INFINITY;
    for (int i = 0; i < 20; i++) {
        scan.stamp_ns = t += SCAN_NS;
        pons__costmap_observe(g, pose, &scan);
    }
    close_to(pons__costmap_clearance(g, x, y), 2.0, 1e-6);
    assert_int_equal(pons__costmap_blobs(g, &blob, 1), 0);
    pons__costmap_destroy(g);
}

static void mapped_faces_are_no_obstacles_and_stay(void **state)
{
    (void)state;
    pons__costmap *g = grid_of(WALLED);
    const pons_pose2 pose = {4.0, 3.0, 0.0};
    pons_scan scan = mini_scan(120, INFINITY, 0);
    pons__blob blob;
    for (int i = 1; i <= 20; i++) {
        scan.stamp_ns = i * SCAN_NS;
        scan.ranges[60] = 0.95f + 0.03f * (float)(i % 3 - 1); // the wall, with noise
        pons__costmap_observe(g, pose, &scan);
    }
    assert_int_equal(pons__costmap_blobs(g, &blob, 1), 0);
    for (int i = 21; i <= 60; i++) { // as if there were no wall
        scan.stamp_ns = i * SCAN_NS;
        scan.ranges[60] = INFINITY;
        pons__costmap_observe(g, pose, &scan);
    }
    pons__costmap_clear_obstacles(g);
    close_to(pons__costmap_clearance(g, 5.0, 3.0), 0.0, 0.0);
    pons__costmap_destroy(g);
}

static void odd_scans_do_no_harm(void **state)
{
    (void)state;
    pons__costmap *g = grid_of(OPEN_6X6);
    const float odd[] = {NAN, -1.0f, -INFINITY, INFINITY, 0.0f, 1e30f, 0.01f};
    pons__blob blob;
    for (int i = 0; i < 40; i++) {
        pons_scan scan = mini_scan(i % 3 == 0 ? 0 : 120, odd[i % 7], i * SCAN_NS);
        scan.angle_increment = i % 5 == 0 ? 0.0f : scan.angle_increment;
        const pons_pose2 poses[] = {{3, 3, 0}, {-50, 3, 1}, {NAN, 0, 0}, {3, 3, 1e9}};
        pons__costmap_observe(g, poses[i % 4], &scan);
    }
    assert_int_equal(pons__costmap_blobs(g, &blob, 1), 0);
    // Hits outside the map, and seen from outside it.
    for (int i = 50; i < 60; i++) {
        const pons_scan scan = mini_scan(120, 3.0f, i * SCAN_NS);
        pons__costmap_observe(g, (pons_pose2){i % 2 ? -1.0 : 5.9, 0.1, 0.3}, &scan);
    }
    pons__costmap_clear_obstacles(g);
    assert_int_equal(pons__costmap_blobs(g, &blob, 1), 0);
    pons__costmap_destroy(g);
}

static void blobs_are_told_apart(void **state)
{
    (void)state;
    pons__costmap *g = grid_of(OPEN_6X6);
    // Two things a metre away, each three beams wide, on opposite sides.
    for (int i = 0; i < 5; i++) {
        pons_scan scan = mini_scan(120, INFINITY, i * SCAN_NS);
        for (int k = 29; k <= 31; k++) {
            scan.ranges[k] = scan.ranges[k + 60] = 1.0f;
        }
        pons__costmap_observe(g, (pons_pose2){3.0, 3.0, 0.0}, &scan);
    }
    pons__blob blobs[4];
    assert_int_equal(pons__costmap_blobs(g, blobs, 4), 2);
    close_to(blobs[0].y, 2.0, 0.1);
    close_to(blobs[1].y, 4.0, 0.1);
    for (int i = 0; i < 2; i++) {
        close_to(blobs[i].x, 3.0, 0.1);
        assert_true(blobs[i].r > 0.02 && blobs[i].r < 0.2);
    }
    assert_int_equal(pons__costmap_blobs(g, blobs, 1), 1);
    assert_int_equal(pons__costmap_blobs(g, blobs, 0), 0);
    pons__costmap_destroy(g);
}

// The field says the distance to the nearest cell that it itself calls occupied.
static void check_field(const pons__costmap *g, double w, double h)
{
    enum { CAP = 128 * 128 };
    static double ox[CAP], oy[CAP];
    int n = 0;
    for (double y = 0.5 * RES_M; y < h; y += RES_M) {
        for (double x = 0.5 * RES_M; x < w; x += RES_M) {
            if (pons__costmap_clearance(g, x, y) <= 0.0) {
                ox[n] = x;
                oy[n] = y;
                n++;
            }
        }
    }
    for (double y = 0.5 * RES_M; y < h; y += 3 * RES_M) {
        for (double x = 0.5 * RES_M; x < w; x += 3 * RES_M) {
            double near = INFINITY;
            for (int i = 0; i < n; i++) {
                near = fmin(near, hypot(x - ox[i], y - oy[i]));
            }
            near = near < 1e-9 ? 0.0 : fmin(near - 0.5 * RES_M, 2.0);
            // Exact where it matters; further out never more, and little less.
            const double got = pons__costmap_clearance(g, x, y);
            const double less = 0.03 * fmax(near - 0.45, 0.0) + 1e-5;
            if (got > near + 1e-5 || got < near - less) {
                fail_msg("%.4f, not %.4f at (%.2f, %.2f)", got, near, x, y);
            }
        }
    }
}

static void field_is_exact_after_every_change(void **state)
{
    (void)state;
    const uint64_t seed = 20261;
    print_message("seed %llu\n", (unsigned long long)seed);
    pons_rand r;
    pons_rand_seed(&r, seed);
    pons__costmap *g = grid_of("{\"bounds\":[0,0,4,3],\"map\":{\"resolution_m\":0.05,\"boxes\":["
                               "{\"x\":2.0,\"y\":0.05,\"sx\":4.0,\"sy\":0.1},"
                               "{\"x\":3.2,\"y\":2.1,\"yaw\":0.5,\"sx\":0.5,\"sy\":0.3}]}}");
    check_field(g, 4.0, 3.0);
    pons_pose2 pose = {2.0, 1.5, 0.0};
    for (int i = 1; i <= 120; i++) {
        if (i % 10 == 1) {
            pose = (pons_pose2){0.5 + 3.0 * pons_rand_unit(&r), 0.5 + 2.0 * pons_rand_unit(&r),
                                6.0 * pons_rand_unit(&r)};
        }
        pons_scan scan = mini_scan(60, INFINITY, i * 2 * SCAN_NS);
        for (int k = 0; k < 60; k++) {
            scan.ranges[k] = 0.3f + 1.5f * (float)((k * 7 + i / 10) % 5) / 5.0f;
        }
        pons__costmap_observe(g, pose, &scan);
        if (i % 10 == 0) {
            check_field(g, 4.0, 3.0);
        }
    }
    pons__costmap_clear_obstacles(g);
    check_field(g, 4.0, 3.0);
    pons__costmap_destroy(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_become_cells),
        cmocka_unit_test(bad_worlds_are_refused),
        cmocka_unit_test(hits_make_obstacles_and_beams_clear_them),
        cmocka_unit_test(mapped_faces_are_no_obstacles_and_stay),
        cmocka_unit_test(odd_scans_do_no_harm),
        cmocka_unit_test(blobs_are_told_apart),
        cmocka_unit_test(field_is_exact_after_every_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
