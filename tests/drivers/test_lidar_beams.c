// test_lidar_beams.c - what another program says of a lidar: each return is where it was measured, whichever way the beams
// are counted and however many there are; a lidar that is none is refused.
#include "drivers/sim/lidar_beams.h"
#include "unit.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>

static const pons_pose2 FROM = {0.3, -0.2, 0.5};

// A room of no shape in particular: how far it is to the wall, by the direction in the lidar.
static double wall(double a)
{
    return 5.0 + 3.0 * sin(a) + cos(3.0 * a);
}

static pons_scan scan_of(const pons__beams *b)
{
    pons_scan s;
    assert_true(pons__beams_begin(b, &s));
    for (size_t i = 0; i < b->n; i++) {
        const double a = (b->angle_min + (double)i * b->step) * (b->upside_down ? -1.0 : 1.0);
        assert_true(pons__beams_add(b, i, wall(a), &s));
    }
    return s;
}

// How wrong the worst range is: the wall is so far in no direction within that of the scan's own.
static double worst(const pons_scan *s, double within_rad)
{
    double most = 0.0;
    for (int i = 0; i < s->n; i++) {
        const double a = (double)s->angle_min + i * (double)s->angle_increment,
                     r = (double)s->ranges[i];
        double least = INFINITY;
        for (double off = -within_rad; off <= within_rad + 1e-9; off += 1e-4) {
            least = fmin(least, fabs(wall(a + off) - r));
        }
        most = fmax(most, least);
    }
    return most;
}

static void a_return_is_where_it_was_measured(void **state)
{
    (void)state;
    static const struct {
        size_t n;
        double angle_min, step;
        int beams;
    } table[] = {
        {1, 0.3, 0.1, 1},
        {36, -M_PI, 2 * M_PI / 36, 36},
        {360, 0.0, 2 * M_PI / 360, 360},
        {270, -0.75 * M_PI, 1.5 * M_PI / 269, 270},
        {360, M_PI, -2 * M_PI / 360, 360},
        {361, -M_PI, 2 * M_PI / 360, 360},
        {720, -M_PI, 2 * M_PI / 720, 360},
        {1081, -0.75 * M_PI, 1.5 * M_PI / 1080, 360},
        {1440, M_PI, -2 * M_PI / 1440, 360},
        {4000, -M_PI, 2 * M_PI / 4000, 360},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        for (int down = 0; down < 2; down++) {
            const pons__beams b = {.n = table[i].n,
                                   .angle_min = table[i].angle_min,
                                   .step = table[i].step,
                                   .range_min = 0.1,
                                   .range_max = 12.0,
                                   .upside_down = down,
                                   .from = FROM};
            const pons_scan s = scan_of(&b);
            assert_int_equal(s.n, table[i].beams);
            assert_true(s.angle_increment > 0.0F);
            assert_memory_equal(&s.from, &FROM, sizeof FROM);
            // What fits is what it was; else a return is within half a direction, and so is the wall there.
            const double half = 0.5 * (double)s.angle_increment, all = s.n * 2.0 * half;
            const double far = worst(&s, 0.0), near = worst(&s, half);
            if (table[i].n <= PONS_SCAN_MAX ? far > 1e-4 : near > 1e-3) {
                fail_msg("%zu beams by %g, %s: %g m off, %g m", b.n, b.step,
                         down ? "upside down" : "upright", far, near);
            }
            assert_true(fabs(all - (double)b.n * fabs(b.step)) < 1e-3);
            if (s.n == PONS_SCAN_MAX) { // as beams.h says, of a lidar that looks around
                assert_true(half * 10.0 < 0.09);
            }
        }
    }
}

static void what_says_nothing_is_no_number(void **state)
{
    (void)state;
    const pons__beams b = {
        .n = 6, .angle_min = 0.0, .step = 1.0, .range_min = 0.2, .range_max = 5.0, .from = FROM};
    static const double ranges[] = {NAN, -1.0, 0.1, -0.1, 6.0, INFINITY};
    pons_scan s;
    assert_true(pons__beams_begin(&b, &s));
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(pons__beams_add(&b, i, ranges[i], &s), i >= 4);
        assert_true(i < 4 ? isnan(s.ranges[i]) : isinf(s.ranges[i]) && s.ranges[i] > 0.0F);
    }
    // Of two in one direction what says something counts, and of these the nearer.
    const pons__beams many = {
        .n = 2 * PONS_SCAN_MAX, .step = M_PI / PONS_SCAN_MAX, .range_max = 5.0, .from = FROM};
    assert_true(pons__beams_begin(&many, &s));
    static const double pairs[][3] = {{NAN, 2, 2}, {2, NAN, 2},      {3, 1, 1},
                                      {1, 3, 1},   {INFINITY, 4, 4}, {4, INFINITY, 4}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        (void)pons__beams_add(&many, 2 * i, pairs[i][0], &s);
        (void)pons__beams_add(&many, 2 * i + 1, pairs[i][1], &s);
        assert_true(fabs((double)s.ranges[i] - pairs[i][2]) < 1e-6);
    }
}

static void what_is_no_lidar_is_refused(void **state)
{
    (void)state;
    const pons__beams good = {
        .n = 8, .angle_min = -3.0, .step = 0.7, .range_min = 0.1, .range_max = 5.0, .from = FROM};
    pons_scan s;
    assert_true(pons__beams_begin(&good, &s));
    pons__beams bad[12];
    for (size_t i = 0; i < 12; i++) {
        bad[i] = good;
    }
    bad[0].n = 0;
    bad[1].angle_min = NAN;
    bad[2].angle_min = INFINITY;
    bad[3].step = 0.0;
    bad[4].step = NAN;
    bad[5].step = -INFINITY;
    bad[6].step = 1e300;
    bad[7].range_max = 0.0;
    bad[8].range_max = NAN;
    bad[9].range_min = NAN;
    bad[10].range_min = 5.0;
    bad[11].from.yaw = NAN;
    for (size_t i = 0; i < 12; i++) {
        if (pons__beams_begin(&bad[i], &s)) {
            fail_msg("number %zu was taken", i);
        }
    }
}

// REP 117: minus infinity is something that is too near to be measured, which is not the same as nothing.
static void what_is_too_near_is_there(void **state)
{
    (void)state;
    pons__beams b = {
        .n = 8, .angle_min = -3.0, .step = 0.7, .range_min = 0.1, .range_max = 5.0, .from = FROM};
    pons_scan s;
    assert_true(pons__beams_begin(&b, &s));
    assert_true(pons__beams_add(&b, 3, -INFINITY, &s));
    assert_true(s.ranges[3] == 0.1F);
    assert_true(pons__beams_add(&b, 4, INFINITY, &s));
    assert_true(s.ranges[4] == INFINITY);
    b.range_min = 0.0; // nothing is nearer than that
    assert_false(pons__beams_add(&b, 5, -INFINITY, &s));
    assert_true(isnan(s.ranges[5]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_too_near_is_there),
        cmocka_unit_test(a_return_is_where_it_was_measured),
        cmocka_unit_test(what_says_nothing_is_no_number),
        cmocka_unit_test(what_is_no_lidar_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
