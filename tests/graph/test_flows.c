// test_flows.c - every case of flows.h in memory and in an SQLite file.
#include "graph/flows.h"
#include "graph/place.h"

int main(void)
{
    return place_kinds(flows_run);
}
