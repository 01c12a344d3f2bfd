// test_geometry.c - shows which points a polygon contains: inside and outside of a square, in the
// notch of an L, and nothing at all for what has fewer than three corners; and that no box is lost in a grid.
#include "pons/geometry.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <string.h>

static void a_polygon_contains_what_is_inside(void **state)
{
    (void)state;
    static const struct {
        const char *polygon;
        double x, y;
        bool inside;
    } cases[] = {
        {"[[0,0],[2,0],[2,2],[0,2]]", 1.0, 1.0, true},
        {"[[0,0],[2,0],[2,2],[0,2]]", 2.5, 1.0, false},
        {"[[0,0],[2,0],[2,2],[0,2]]", 1.0, -0.1, false},
        {"[[0,2],[2,2],[2,0],[0,0]]", 1.9, 0.1, true}, // the other way round
        {"[[0,0],[3,0],[3,1],[1,1],[1,3],[0,3]]", 0.5, 2.5, true},
        {"[[0,0],[3,0],[3,1],[1,1],[1,3],[0,3]]", 2.0, 2.0, false}, // the notch of the L
        {"[[0,0],[2,0]]", 1.0, 0.0, false},
        {"[]", 0.0, 0.0, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pons_autovalue polygon = json_loads(cases[i].polygon, 0, NULL);
        assert_int_equal(pons_polygon_contains(polygon, cases[i].x, cases[i].y), cases[i].inside);
    }
    assert_false(pons_polygon_contains(NULL, 0.0, 0.0));
}

// However coarse the grid: a pole in a cell's corner, a thin wall between two cells, one aslant; and nothing outside.
static void no_box_is_lost_in_a_grid(void **state)
{
    (void)state;
    static const struct {
        const char *box;
        int least, most; // cells of 10 × 10
        int cell;        // one of them, row by row; -1: none
    } rows[] = {
        {"{\"x\":2.01,\"y\":3.01,\"sx\":0.02,\"sy\":0.02}", 1, 1, 32},
        {"{\"x\":2.99,\"y\":3.99,\"sx\":0.002,\"sy\":0.002}", 1, 1, 32},
        {"{\"x\":5,\"y\":5,\"sx\":10,\"sy\":0.01}", 10, 20, 52},
        {"{\"x\":5,\"y\":5,\"yaw\":0.7853981634,\"sx\":12,\"sy\":0.01}", 9, 28, 77},
        {"{\"x\":4.5,\"y\":4.5,\"sx\":3,\"sy\":2}", 6, 9, 44},
        {"{\"x\":-40,\"y\":1e300,\"sx\":3,\"sy\":2}", 0, 0, -1},
        {"{\"x\":5,\"y\":5,\"sx\":1e12,\"sy\":1e12}", 100, 100, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int8_t cells[100] = {0};
        pons_value *box = NULL;
        assert_int_equal(pons_value_parse(rows[i].box, strlen(rows[i].box), &box, NULL), PONS_OK);
        pons_autovalue boxes = json_pack("[o]", box);
        pons_boxes_draw(boxes, (const double[2]){0.0, 0.0}, 1.0, 10, 10, cells);
        int n = 0;
        for (int k = 0; k < 100; k++) {
            n += cells[k] == 100;
        }
        const bool there = rows[i].cell < 0 || cells[rows[i].cell] == 100;
        if (!there || n < rows[i].least || n > rows[i].most) {
            fail_msg("%s: %d cells", rows[i].box, n);
        }
    }
}

static void what_hides_a_point(void **state)
{
    (void)state;
    const pons_box2 boxes[] = {{2.0, 0.0, 0.3, 0.4, 2.0}, {5.0, 0.0, 0.0, 1.0, 1.0}};
    const double wall[] = {INFINITY, INFINITY}, table[] = {0.75, 0.75};
    const double eye[3] = {0.0, 0.0, 1.1};
    static const struct {
        double to[3];
        size_t n;
        bool behind_walls, over_tables;
    } rows[] = {
        {{1.0, 0.0, 0.5}, 1, true, true},   // before it
        {{4.0, 0.0, 0.9}, 1, false, true},  // behind it: seen over what is lower than the line
        {{4.0, 0.0, 0.1}, 1, false, false}, // and not where the line dips below it
        {{4.0, 3.0, 0.1}, 1, true, true},   // past its end
        {{2.0, 0.0, 0.8}, 1, true, true},   // on it
        {{5.0, 0.2, 0.8}, 1, false, true},
        {{5.0, 0.2, 0.8}, 2, false, true}, // on the second, with the first between
        {{0.0, 0.0, 0.1}, 2, true, true},  // straight down
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(pons_boxes_clear(boxes, wall, rows[i].n, eye, rows[i].to),
                         rows[i].behind_walls);
        assert_int_equal(pons_boxes_clear(boxes, table, rows[i].n, eye, rows[i].to),
                         rows[i].over_tables);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_polygon_contains_what_is_inside),
                                       cmocka_unit_test(what_hides_a_point),
                                       cmocka_unit_test(no_box_is_lost_in_a_grid)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
