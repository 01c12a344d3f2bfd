// test_viewpoints.c - where to stand to see a place or all of a zone: by random homes with walls, furniture and zones, what is
// called seen is seen, from places where the robot has room; and by hand what must come out.
#include "pons/random.h"
#include "pons/viewpoints.h"
#include "sight/line_of_sight.h"
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double RADIUS_M = 0.25;

static pons_value *world_of(const char *boxes)
{
    pons_value *all = NULL;
    pons_error err = PONS_ERROR_INIT;
    char text[4096];
    snprintf(text, sizeof text,
             "{\"bounds\":[0,0,8,6],\"sight\":{\"height_m\":1.1,\"range_m\":5},\"map\":{\"boxes\":["
             "%s]}}",
             boxes);
    assert_int_equal(pons_value_parse(text, strlen(text), &all, &err), PONS_OK);
    return all;
}

static pons_value *zone_of(double x0, double y0, double x1, double y1)
{
    return json_pack("[[ff][ff][ff][ff]]", x0, y0, x1, y0, x1, y1, x0, y1);
}

static bool sees(const pons__walls *w, const pons_pose2 *from, double x, double y, double z)
{
    const double a[3] = {from->x, from->y, 1.1}, b[3] = {x, y, z};
    return hypot(x - from->x, y - from->y) <= 5.0 && pons__walls_clear((void *)(uintptr_t)w, a, b);
}

static bool has_room(const pons__walls *w, const pons_pose2 *at)
{
    bool room = true;
    for (size_t i = 0; i < w->n; i++) {
        room = room && pons_box2_distance(&w->boxes[i], at->x, at->y) >= RADIUS_M;
    }
    return room && at->x > RADIUS_M && at->y > RADIUS_M && at->x < 8.0 - RADIUS_M &&
           at->y < 6.0 - RADIUS_M;
}

static void one_is_enough(void **state)
{
    (void)state;
    pons_autovalue world = world_of("");
    pons_autovalue zone = zone_of(1, 1, 5, 5);
    const pons_pose2 first = {.x = 3, .y = 3};
    pons_pose2 at[4];
    size_t n = 9;
    assert_int_equal(pons_zone_viewpoints(world, RADIUS_M, zone, &first, at, 4, &n, NULL), PONS_OK);
    assert_int_equal(n, 1);
    assert_true(at[0].x == 3.0 && at[0].y == 3.0);
    pons_autovalue none = json_array();
    assert_int_equal(pons_zone_viewpoints(world, RADIUS_M, none, NULL, at, 4, &n, NULL), PONS_OK);
    assert_int_equal(n, 0);
}

static void around_a_corner(void **state)
{
    (void)state;
    pons_autovalue world =
        world_of("{\"x\":4,\"y\":2,\"sx\":0.1,\"sy\":4,\"kind\":\"wall\"}"); // a gap at the top
    pons_autovalue zone = zone_of(0, 0, 8, 6);
    const pons_pose2 first = {.x = 1, .y = 1};
    pons_pose2 at[6];
    size_t n = 0;
    assert_int_equal(pons_zone_viewpoints(world, RADIUS_M, zone, &first, at, 6, &n, NULL), PONS_OK);
    assert_in_range(n, 2, 6);
    bool behind = false;
    for (size_t i = 0; i < n; i++) {
        behind = behind || (at[i].x > 4.0 && at[i].y < 4.0) || at[i].y > 4.0;
    }
    assert_true(behind);
}

static void turns_or_drives(void **state)
{
    (void)state;
    pons_autovalue world = world_of("{\"x\":4,\"y\":2,\"sx\":0.1,\"sy\":4,\"kind\":\"wall\"}");
    const pons_pose2 from = {.x = 2, .y = 2, .yaw = 1};
    const double here[3] = {1, 2, 0.5}, there[3] = {6, 2, 0.5}, nowhere[3] = {60, 2, 0.5};
    pons_pose2 at;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_viewpoint_of(world, RADIUS_M, &from, here, &at, &err), PONS_OK);
    assert_true(at.x == 2.0 && at.y == 2.0 && fabs(fabs(at.yaw) - M_PI) < 1e-9);
    assert_int_equal(pons_viewpoint_of(world, RADIUS_M, &from, there, &at, &err), PONS_OK);
    assert_true(hypot(at.x - 6, at.y - 2) <= 5.0 && hypot(at.x - 2, at.y - 2) > 1.0);
    assert_int_equal(pons_viewpoint_of(world, RADIUS_M, &from, nowhere, &at, &err), PONS_ENOTFOUND);
    assert_non_null(strstr(err.message, "(60.00, 2.00) is in view"));
}

static void random_homes(void **state)
{
    (void)state;
    pons_rand r;
    size_t worst = 100;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        pons_rand_seed(&r, seed);
        char boxes[2048] = "";
        for (int i = 0, k = 0; i < 8; i++) {
            k += snprintf(
                boxes + k, sizeof boxes - (size_t)k,
                "%s{\"x\":%.2f,\"y\":%.2f,\"yaw\":%.2f,\"sx\":%.2f,\"sy\":%.2f,\"kind\":\"%s\"}",
                i ? "," : "", 8 * pons_rand_unit(&r), 6 * pons_rand_unit(&r),
                3 * pons_rand_unit(&r), 0.1 + 1.5 * pons_rand_unit(&r),
                0.1 + 0.5 * pons_rand_unit(&r), i % 2 ? "wall" : "furniture");
        }
        pons_autovalue world = world_of(boxes);
        pons_autovalue zone = zone_of(0.5, 0.5, 7.5, 5.5);
        pons__walls walls;
        pons_pose2 at[8];
        size_t n = 0, seen = 0, all = 0;
        assert_int_equal(pons__walls_init(&walls, world, NULL), PONS_OK);
        assert_int_equal(pons_zone_viewpoints(world, RADIUS_M, zone, NULL, at, 8, &n, NULL),
                         PONS_OK);
        for (size_t i = 0; i < n; i++) {
            if (!has_room(&walls, &at[i])) {
                fail_msg("seed %d: no room at (%.2f, %.2f)", (int)seed, at[i].x, at[i].y);
            }
        }
        for (int k = 0; k < 400; k++) { // what lies on the free floor somewhere
            const pons_pose2 p = {.x = 0.5 + 7 * pons_rand_unit(&r),
                                  .y = 0.5 + 5 * pons_rand_unit(&r)};
            bool any = false;
            for (size_t i = 0; i < n; i++) {
                any = any || sees(&walls, &at[i], p.x, p.y, 0.1);
            }
            if (has_room(&walls, &p)) {
                all++;
                seen += any;
            }
        }
        const size_t share = 100 * seen / all;
        worst = share < worst ? share : worst;
        if (share < 80) {
            fail_msg("seed %d: %d %% seen from %d places", (int)seed, (int)share, (int)n);
        }
        pons__walls_fini(&walls);
    }
    printf("least of what is free that was seen: %zu %%\n", worst);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_is_enough),
        cmocka_unit_test(around_a_corner),
        cmocka_unit_test(turns_or_drives),
        cmocka_unit_test(random_homes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
