// test_frontiers.c - the order of frontiers. The map is drawn by hand: a corridor along x, known from 1 to 11 m, with unknown
// ends; a branch of it may be shut.
#include "body/costmap/costmap.h"
#include "body/mapping/frontiers.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

enum { W = 240, H = 80 };
static const double RES = 0.05, ROOM_M = 0.25, NEAR_M = 0.4;

static pons__costmap *grid;
static int8_t cells[W * H];

static void fill(double x0, double y0, double x1, double y1, int8_t v)
{
    for (int i = 0; i < W * H; i++) {
        const int row = i / W;
        const double x = (i % W + 0.5) * RES, y = (row + 0.5) * RES;
        cells[i] = x > x0 && x < x1 && y > y0 && y < y1 ? v : cells[i];
    }
}

static void draw_corridor(void)
{
    memset(cells, -1, sizeof cells);
    fill(1.0, 0.9, 11.0, 2.5, 100);
    fill(1.0, 1.0, 11.0, 2.4, 0);
}

static pons__frontiers find(double robot_x, double home_x)
{
    const pons_slam_map m = {.w = W, .h = H, .resolution_m = RES, .cells = cells};
    pons__static_layer layer;
    pons__frontiers ret;
    assert_int_equal(pons__static_layer_make(grid, &m, &layer, NULL), PONS_OK);
    assert_int_equal(pons__frontiers_find(grid, &layer, (pons_pose2){robot_x, 1.7, 0.0},
                                          (pons_pose2){home_x, 1.7, 0.0}, ROOM_M, &ret, NULL),
                     PONS_OK);
    pons__static_layer_fini(&layer);
    return ret;
}

static void near_to(double is, double must)
{
    if (fabs(is - must) > NEAR_M) {
        fail_msg("%.2f, not %.2f", is, must);
    }
}

static void the_nearer_end_is_first(void **state)
{
    (void)state;
    draw_corridor();
    const pons__frontiers f = find(4.0, 6.0);
    assert_int_equal(f.n, 2);
    near_to(f.at[0].x, 1.0);
    near_to(f.at[1].x, 11.0);
    near_to(f.at[0].round_m, 2.7 + 9.4 + 4.7); // ways between the stands, and home
    near_to(f.at[1].round_m, 6.7 + 9.4 + 4.7);
    near_to(f.at[0].stand.x, 1.3);
    assert_false(f.at_edge);
}

// The round ends at home, so the frontier near home comes last.
static void the_end_beside_home_is_last(void **state)
{
    (void)state;
    draw_corridor();
    const pons__frontiers f = find(4.0, 1.5);
    assert_int_equal(f.n, 2);
    near_to(f.at[0].x, 11.0);
    near_to(f.at[1].x, 1.0);
}

static void an_end_that_is_shut_off_is_none(void **state)
{
    (void)state;
    draw_corridor();
    fill(8.0, 0.9, 8.1, 2.5, 100);
    const pons__frontiers f = find(4.0, 6.0);
    assert_int_equal(f.n, 1);
    near_to(f.at[0].x, 1.0);
    near_to(f.at[0].round_m, 2.7 + 4.7);
    near_to(f.reachable_m2, (7.75 - 1.25) * (1.4 - 2.0 * ROOM_M));
}

// More frontiers than the rounds have: bays along the corridor. All of them are found.
static void many_are_all_there(void **state)
{
    (void)state;
    draw_corridor();
    for (int i = 0; i < 12; i++) {
        const double x = 1.6 + 0.75 * i;
        fill(x, 2.3, x + 0.6, 2.6, 0);
        fill(x, 0.8, x + 0.6, 1.1, 0);
    }
    const pons__frontiers f = find(1.6, 1.6);
    assert_int_equal(f.n, 26);
    for (int i = 1; i < f.n; i++) {
        assert_true(f.at[i - 1].round_m <= f.at[i].round_m);
    }
    assert_true(f.at[0].round_m < 100.0);
}

static void nothing_is_left_where_all_is_known(void **state)
{
    (void)state;
    draw_corridor();
    fill(0.9, 0.9, 1.0, 2.5, 100);
    fill(11.0, 0.9, 11.1, 2.5, 100);
    assert_int_equal(find(4.0, 6.0).n, 0);
}

static int open_grid(void **state)
{
    (void)state;
    static const char world[] =
        "{\"bounds\":[0,0,12,4],\"map\":{\"resolution_m\":0.05,\"boxes\":[]}}";
    pons_value *v = NULL;
    int rc = pons_value_parse(world, strlen(world), &v, NULL);
    rc = rc < 0 ? rc : pons__costmap_from_world(v, &grid, NULL);
    pons_value_unref(v);
    return rc;
}

static int close_grid(void **state)
{
    (void)state;
    pons__costmap_destroy(grid);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nearer_end_is_first),
        cmocka_unit_test(the_end_beside_home_is_last),
        cmocka_unit_test(an_end_that_is_shut_off_is_none),
        cmocka_unit_test(many_are_all_there),
        cmocka_unit_test(nothing_is_left_where_all_is_known),
    };
    return cmocka_run_group_tests(tests, open_grid, close_grid);
}
