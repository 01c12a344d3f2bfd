// test_faults.c - every case of faults.h in memory and in an SQLite file.
#include "graph/faults.h"
#include "graph/place.h"

int main(void)
{
    return place_kinds(faults_run);
}
