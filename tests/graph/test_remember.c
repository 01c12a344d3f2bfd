// test_remember.c - every case of remember.h in memory and in an SQLite file.
#include "graph/place.h"
#include "graph/remember.h"

int main(void)
{
    return place_kinds(remember_run);
}
