// test_geometry.c - shows which points a polygon contains: inside and outside of a square, in the
// notch of an L, and nothing at all for what has fewer than three corners.
#include "pons/geometry.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_polygon_contains_what_is_inside)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
