// test_footprint.c - a robot's outline: as a list and as Nav2's text, its hull and circles, how far a point and a
// box are from it; and what is no footprint, by a sentence each.
#include "pons/footprint.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <string.h>

static pons_footprint read(const char *text)
{
    pons_autovalue v = json_loads(text, JSON_DECODE_ANY, NULL);
    pons_footprint f;
    const char *why = pons_footprint_read(v, &f);
    if (why) {
        fail_msg("%s: %s", text, why);
    }
    return f;
}

static void near(double a, double b)
{
    if (!(fabs(a - b) < 1e-9)) {
        fail_msg("%.9f, expected %.9f", a, b);
    }
}

static void a_list_and_nav2_s_text_are_the_same(void **state)
{
    (void)state;
    static const char *const same[] = {
        "[[0.5,0.2],[0.5,-0.2],[-0.3,-0.2],[-0.3,0.2]]",
        "[[-0.3,0.2],[0.5,-0.2],[0.5,0.2],[-0.3,-0.2],[0.1,0.1]]", // in any order, and one inside
        "\"[ [0.5, 0.2], [0.5, -0.2], [-0.3, -0.2], [-.3, +.2] ]\"",
        "\"[[.5,.2],[.5,-.2],[-.3,-.2],[-.3,.2]]\"",
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        const pons_footprint f = read(same[i]);
        assert_int_equal(f.n, 4);
        near(f.inscribed_m, 0.2);
        near(f.circumscribed_m, hypot(0.5, 0.2));
        near(pons_footprint_distance(&f, 0.0, 0.0), -0.2);
        near(pons_footprint_distance(&f, 0.8, 0.0), 0.3);
        near(pons_footprint_distance(&f, 0.8, 0.6), 0.5); // from the corner
        pons_autovalue list = pons_footprint_value(&f);
        assert_int_equal(json_array_size(list), 4);
    }
    const pons_footprint round = pons_footprint_circle(0.22);
    near(pons_footprint_distance(&round, 0.0, 1.0), 0.78);
}

static void boxes_touch_by_the_heading(void **state)
{
    (void)state;
    const pons_footprint f = read("[[0.5,0.2],[0.5,-0.2],[-0.3,-0.2],[-0.3,0.2]]");
    const pons_box2 wall = {.x = 0.0, .y = 0.5, .sx = 4.0, .sy = 0.4}; // its face is at 0.3
    near(pons_footprint_gap(&f, (pons_pose2){0, 0, 0}, &wall), 0.1);
    assert_true(pons_footprint_gap(&f, (pons_pose2){0, 0, M_PI / 2}, &wall) < 0.0);
    assert_true(pons_footprint_gap(&f, (pons_pose2){0, 0, -M_PI / 2}, &wall) <= 1e-9);
    const pons_box2 corner = {.x = 0.8, .y = 0.5, .yaw = M_PI / 4, .sx = 0.4, .sy = 0.4};
    assert_true(pons_footprint_gap(&f, (pons_pose2){0, 0, 0}, &corner) > 0.0);
    assert_true(pons_footprint_gap(&f, (pons_pose2){0.3, 0.2, 0}, &corner) < 0.0);
    const pons_footprint round = pons_footprint_circle(0.22);
    near(pons_footprint_gap(&round, (pons_pose2){0, 0, 1.0}, &wall), 0.08);
}

static void what_is_no_footprint_is_told(void **state)
{
    (void)state;
    static const struct {
        const char *text, *why;
    } table[] = {
        {"[[0.5,0.2],[0.5,-0.2]]", "three corners or more"},
        {"[[0,0],[1,0],[2,0]]", "not on a line"},
        {"[[0.1,0.2],[0.5,0.2],[0.5,-0.2],[0.1,-0.2]]", "must lie inside"},
        {"[[1,0],[0,1],[0]]", "two numbers"},
        {"[[1,0],[0,1],[\"a\",1]]", "two numbers"},
        {"[[1000,0],[0,1],[-1,-1]]", "at most 100"},
        {"7", "three corners or more"},
        {"\"\"", "text is"},
        {"\"0.3\"", "text is"},
        {"\"[[1,0],[0,1],[-1,-1]\"", "text is"},
        {"\"[[1,0],[0,1],[-1,-1]]]\"", "text is"},
        {"\"[[1,0],[0,1],[-1,-1]] x\"", "text is"},
        {"\"[[1,0][0,1],[-1,-1]]\"", "text is"},
        {"\"[[1,0,2],[0,1],[-1,-1]]\"", "text is"},
        {"\"[[1,],[0,1],[-1,-1]]\"", "two numbers"},
        {"\"[[nan,0],[0,1],[-1,-1]]\"", "text is"},
        {"\"[[[1,0],[0,1],[-1,-1]]]\"", "text is"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        pons_autovalue v = json_loads(table[i].text, JSON_DECODE_ANY, NULL);
        pons_footprint f = {.n = -7};
        const char *why = pons_footprint_read(v, &f);
        if (!why || !strstr(why, table[i].why)) {
            fail_msg("%s: %s", table[i].text, why ? why : "was taken");
        }
        assert_int_equal(f.n, -7); // untouched
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_and_nav2_s_text_are_the_same),
        cmocka_unit_test(boxes_touch_by_the_heading),
        cmocka_unit_test(what_is_no_footprint_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
