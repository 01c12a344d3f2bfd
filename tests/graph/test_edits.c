// test_edits.c - every row of edits.c in memory and in an SQLite file.
#include "graph/edits.h"
#include "graph/place.h"

int main(void)
{
    return place_kinds(edits_run);
}
