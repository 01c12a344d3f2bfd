// test_reach.c - every case of reach.h in memory and in an SQLite file.
#include "graph/place.h"
#include "graph/reach.h"

int main(void)
{
    return place_kinds(reach_run);
}
