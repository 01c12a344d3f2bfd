// test_outside.c - every case of outside.h in memory and in an SQLite file.
#include "graph/outside.h"
#include "graph/place.h"

int main(void)
{
    return place_kinds(outside_run);
}
