// test_sweep.c - the death of the process at every commit (sweep.h), on the memory store and on
// SQLite, in every durability. Processes that really end are test_sweep_kill.c's, PostgreSQL is
// tests/store/test_postgres_sweep.c's, beside its server.
#include "graph/sweep.h"

static void killed_at_every_commit(void **state)
{
    sweep_stores(*state);
}

int main(void)
{
    pons_value_init();
    static sweep_kind kinds[] = {
        {"memory-sync", NULL, NULL, false, PONS_DURABILITY_SYNC},
        {"memory-async", NULL, NULL, false, PONS_DURABILITY_ASYNC},
        {"memory-exit", NULL, NULL, false, PONS_DURABILITY_EXIT},
        {"memory-quiet", NULL, NULL, true, PONS_DURABILITY_SYNC},
        {"sqlite-sync", pons_store_sqlite_open, NULL, false, PONS_DURABILITY_SYNC},
        {"sqlite-async", pons_store_sqlite_open, NULL, false, PONS_DURABILITY_ASYNC},
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(killed_at_every_commit, &kinds[0]),
        cmocka_unit_test_prestate(killed_at_every_commit, &kinds[1]),
        cmocka_unit_test_prestate(killed_at_every_commit, &kinds[2]),
        cmocka_unit_test_prestate(killed_at_every_commit, &kinds[3]),
        cmocka_unit_test_prestate(killed_at_every_commit, &kinds[4]),
        cmocka_unit_test_prestate(killed_at_every_commit, &kinds[5]),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
