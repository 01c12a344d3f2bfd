// match.c - pons_fleet_match for compare.py: matrices on standard input (int32 rows, int32 columns, the costs
// as doubles, row by row), for each a line with its cost on standard output.
#include "pons/fleet.h"
#include "pons/out_of_memory.h"

#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    int32_t size[2];
    pons_memory_of_a_process();
    while (fread(size, sizeof *size, 2, stdin) == 2) {
        const size_t n = (size_t)size[0] * (size_t)size[1];
        double *cost = pons_need((n + 1) * sizeof *cost);
        int32_t *column = pons_need(((size_t)size[0] + 1) * sizeof *column);
        if (fread(cost, sizeof *cost, n, stdin) != n) {
            return 1;
        }
        printf("%.17g\n", pons_fleet_match(cost, (size_t)size[0], (size_t)size[1], column));
        fflush(stdout);
        free(cost);
        free(column);
    }
    return 0;
}
