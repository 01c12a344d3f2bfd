// test_limits.c - every case of limits.h in memory and in an SQLite file.
#include "graph/limits.h"
#include "graph/place.h"

int main(void)
{
    return place_kinds(limits_run);
}
