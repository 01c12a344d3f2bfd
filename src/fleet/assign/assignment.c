// assignment.c - the cheapest matching of rows and columns, by shortest augmenting paths.
//
// R. Jonker, A. Volgenant, "A shortest augmenting path algorithm for dense and sparse linear assignment
// problems", Computing 38 (1987); for more columns than rows as in D. F. Crouse, "On implementing 2D
// rectangular assignment algorithms", IEEE Trans. Aerospace and Electronic Systems 52 (2016).
//
// Each row has a price u, each column a price v, and cost - u - v is nowhere negative and zero where
// they are matched. A row at a time is added: Dijkstra's algorithm over these reduced costs finds the
// cheapest chain of changes that ends in a free column, and the prices follow. O(rows² · columns).
//
// A pair that may not be costs more than all others together could, so that as few as possible are
// taken; those that were are taken out of the result.
#include "pons/fleet.h"
#include "pons/out_of_memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct solver {
    size_t n, m; // rows ≤ columns
    const double *cost;
    size_t row_step, column_step; // of cost: a matrix that lies on its side is not copied
    double low, forbidden;        // costs are counted from low
    double *u, *v, *far;
    int32_t *row_of, *column_of, *from, *left;
    bool *seen_row, *seen_column;
} solver;

static inline double cost_at(const solver *s, size_t row, size_t column)
{
    const double c = s->cost[row * s->row_step + column * s->column_step];
    return c < INFINITY ? c - s->low : s->forbidden; // false for NAN, too
}

// Costs may be negative; what may not be must be dearer than any matching.
static void find_forbidden(solver *s, size_t count)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        if (s->cost[i] < INFINITY) {
            low = fmin(low, s->cost[i]);
            high = fmax(high, s->cost[i]);
        }
    }
    s->low = low < INFINITY ? low : 0.0;
    s->forbidden = high > -INFINITY ? (high - s->low + 1.0) * (double)(s->n + 1) : 1.0;
}

// From a row to the nearest free column, which is returned; `from` says by which row each column is
// reached.
static int32_t shortest_chain(solver *s, size_t row, double *ret_far)
{
    size_t left = s->m;
    for (size_t i = 0; i < s->m; i++) {
        s->left[i] = (int32_t)(s->m - i - 1); // of equal ones the last is taken: the first column
        s->far[i] = INFINITY;
    }
    memset(s->seen_row, 0, s->n);
    memset(s->seen_column, 0, s->m);
    double least = 0.0;
    size_t i = row;
    for (;;) {
        s->seen_row[i] = true;
        const double base = least - s->u[i];
        double next = INFINITY;
        size_t at = 0;
        for (size_t k = 0; k < left; k++) {
            const size_t j = (size_t)s->left[k];
            const double far = base + cost_at(s, i, j) - s->v[j];
            if (far < s->far[j]) {
                s->far[j] = far;
                s->from[j] = (int32_t)i;
            }
            // Of equally near columns a free one ends the search.
            if (s->far[j] < next || (s->far[j] == next && s->row_of[j] < 0)) {
                next = s->far[j];
                at = k;
            }
        }
        least = next;
        const int32_t column = s->left[at];
        s->seen_column[column] = true;
        if (s->row_of[column] < 0) {
            *ret_far = least;
            return column;
        }
        i = (size_t)s->row_of[column];
        s->left[at] = s->left[--left];
    }
}

static void follow_prices(solver *s, size_t row, double far)
{
    s->u[row] += far;
    for (size_t i = 0; i < s->n; i++) {
        if (s->seen_row[i] && i != row) {
            s->u[i] += far - s->far[s->column_of[i]];
        }
    }
    for (size_t j = 0; j < s->m; j++) {
        if (s->seen_column[j]) {
            s->v[j] -= far - s->far[j];
        }
    }
}

double pons_fleet_match(const double *cost, size_t rows, size_t columns, int32_t *ret_column)
{
    for (size_t i = 0; i < rows; i++) {
        ret_column[i] = -1;
    }
    if (rows == 0 || columns == 0) {
        return 0.0;
    }
    const bool lies = rows > columns;
    solver s = {.n = lies ? columns : rows,
                .m = lies ? rows : columns,
                .cost = cost,
                .row_step = lies ? 1 : columns,
                .column_step = lies ? columns : 1};
    find_forbidden(&s, rows * columns);
    s.u = pons_need_zeroed(s.n, sizeof *s.u);
    s.v = pons_need_zeroed(s.m, sizeof *s.v);
    s.far = pons_need(s.m * sizeof *s.far);
    s.row_of = pons_need(s.m * sizeof *s.row_of);
    s.column_of = pons_need(s.n * sizeof *s.column_of);
    s.from = pons_need(s.m * sizeof *s.from);
    s.left = pons_need(s.m * sizeof *s.left);
    s.seen_row = pons_need(s.n);
    s.seen_column = pons_need(s.m);
    memset(s.row_of, 0xff, s.m * sizeof *s.row_of); // -1
    memset(s.column_of, 0xff, s.n * sizeof *s.column_of);
    for (size_t row = 0; row < s.n; row++) {
        double far = 0.0;
        int32_t column = shortest_chain(&s, row, &far);
        follow_prices(&s, row, far);
        for (int32_t at = -1; at != (int32_t)row;) { // the chain, from its end
            at = s.from[column];
            s.row_of[column] = at;
            const int32_t before = s.column_of[at];
            s.column_of[at] = column;
            column = before;
        }
    }
    double total = 0.0;
    for (size_t row = 0; row < s.n; row++) {
        const size_t i = lies ? (size_t)s.column_of[row] : row;
        const size_t j = lies ? row : (size_t)s.column_of[row];
        if (cost[i * columns + j] < INFINITY) {
            ret_column[i] = (int32_t)j;
            total += cost[i * columns + j];
        }
    }
    free(s.u);
    free(s.v);
    free(s.far);
    free(s.row_of);
    free(s.column_of);
    free(s.from);
    free(s.left);
    free(s.seen_row);
    free(s.seen_column);
    return total;
}
