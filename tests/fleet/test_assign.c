// test_assign.c - the cheapest matching, against all matchings there are of small random matrices: square
// and not, with pairs that may not be, with negative and with equal costs.
#include "pons/fleet.h"
#include "pons/random.h"
#include "unit.h"

#include <math.h>
#include <string.h>

#define MATRICES  4000
#define SIZE_MAX_ 6

// The most pairs, and of those the least cost, by trying all.
static void best_of_all(const double *cost, size_t rows, size_t columns, size_t row, uint32_t taken,
                        size_t pairs, double sum, size_t *most, double *least)
{
    if (row == rows) {
        if (pairs > *most || (pairs == *most && sum < *least)) {
            *most = pairs;
            *least = sum;
        }
        return;
    }
    best_of_all(cost, rows, columns, row + 1, taken, pairs, sum, most, least);
    for (size_t j = 0; j < columns; j++) {
        const double c = cost[row * columns + j];
        if (!(taken & 1U << j) && c < INFINITY) {
            best_of_all(cost, rows, columns, row + 1, taken | 1U << j, pairs + 1, sum + c, most,
                        least);
        }
    }
}

static void is_the_best_of_all(void **state)
{
    (void)state;
    pons_rand r;
    pons_rand_seed(&r, 7);
    for (int k = 0; k < MATRICES; k++) {
        const size_t rows = 1 + pons_rand_below(&r, SIZE_MAX_);
        const size_t columns = 1 + pons_rand_below(&r, SIZE_MAX_);
        double cost[SIZE_MAX_ * SIZE_MAX_];
        int32_t column[SIZE_MAX_];
        for (size_t i = 0; i < rows * columns; i++) {
            cost[i] = k % 3 == 0 ? (double)pons_rand_below(&r, 4)
                                 : (pons_rand_unit(&r) - (k % 3 == 1 ? 0.5 : 0.0)) * 1000.0;
            if (k % 2 && pons_rand_below(&r, 3) == 0) {
                cost[i] = k % 4 == 1 ? INFINITY : NAN;
            }
        }
        size_t most = 0, pairs = 0;
        double least = INFINITY, sum = 0.0;
        best_of_all(cost, rows, columns, 0, 0, 0, 0.0, &most, &least);
        const double said = pons_fleet_match(cost, rows, columns, column);
        uint32_t taken = 0;
        for (size_t i = 0; i < rows; i++) {
            if (column[i] >= 0) {
                assert_false(taken & 1U << column[i]);
                taken |= 1U << column[i];
                sum += cost[i * columns + (size_t)column[i]];
                pairs++;
            }
        }
        assert_int_equal(pairs, most);
        assert_true(fabs(sum - said) < 1e-9 && fabs(sum - (most ? least : 0.0)) < 1e-6);
    }
}

static void nothing_matches_nothing(void **state)
{
    (void)state;
    const double none[2] = {INFINITY, INFINITY};
    int32_t column[2] = {5, 5};
    assert_true(pons_fleet_match(none, 2, 0, column) == 0.0);
    assert_int_equal(column[0], -1);
    assert_true(pons_fleet_match(none, 2, 1, column) == 0.0);
    assert_int_equal(column[1], -1);
    assert_true(pons_fleet_match(NULL, 0, 3, column) == 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_the_best_of_all),
        cmocka_unit_test(nothing_matches_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
