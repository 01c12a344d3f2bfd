// test_inner.c - every case of inner.h in memory and in an SQLite file, and processes that end at
// every commit of a graph inside a node.
#include "graph/inner.h"

static int open_memory(const char *path, pons_store *ret, pons_error *err)
{
    (void)path;
    return pons_store_memory_open(ret, err);
}

static void processes_that_end_at_every_commit(void **state)
{
    sweep_inner(*state);
}

int main(void)
{
    pons_value_init();
    static const fault_store kinds[] = {{"memory", open_memory},
                                        {"sqlite", pons_store_sqlite_open}};
    static sweep_kind deaths[] = {
        {"sqlite-sync", pons_store_sqlite_open, NULL, false, PONS_DURABILITY_SYNC},
        {"sqlite-async", pons_store_sqlite_open, NULL, false, PONS_DURABILITY_ASYNC},
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(processes_that_end_at_every_commit, &deaths[0]),
        cmocka_unit_test_prestate(processes_that_end_at_every_commit, &deaths[1]),
    };
    int failed = 0;
    for (int i = 0; i < 2; i++) {
        failed += inner_run(&kinds[i]);
    }
    return failed + cmocka_run_group_tests(tests, NULL, NULL);
}
