// test_inner.c - every case of inner.h in memory and in an SQLite file, and processes that end at
// every commit of a graph inside a node.
#include "graph/inner.h"
#include "graph/place.h"

static void processes_that_end_at_every_commit(void **state)
{
    sweep_inner(*state);
}

int main(void)
{
    static sweep_kind deaths[] = {
        {"sqlite-sync", pons_store_sqlite_open, NULL, false, PONS_DURABILITY_SYNC},
        {"sqlite-async", pons_store_sqlite_open, NULL, false, PONS_DURABILITY_ASYNC},
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(processes_that_end_at_every_commit, &deaths[0]),
        cmocka_unit_test_prestate(processes_that_end_at_every_commit, &deaths[1]),
    };
    const int failed = place_kinds(inner_run);
    return failed + cmocka_run_group_tests(tests, NULL, NULL);
}
