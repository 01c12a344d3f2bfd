// test_compose.c - every case of compose.h in memory and in an SQLite file.
#include "graph/compose.h"
#include "graph/place.h"

int main(void)
{
    return place_kinds(compose_run);
}
