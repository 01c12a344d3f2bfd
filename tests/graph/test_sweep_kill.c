// test_sweep_kill.c - processes that really end, just before or just after each of their commits
// (sweep.h), and a second process that finds what they left in the SQLite file.
#include "graph/sweep.h"

static void processes_that_end_at_every_commit(void **state)
{
    sweep_processes(*state);
}

static void what_belongs_together_stays_together(void **state)
{
    sweep_together(*state);
}

int main(void)
{
    pons_value_init();
    static sweep_kind kinds[] = {
        {"sqlite-sync", pons_store_sqlite_open, NULL, false, PONS_DURABILITY_SYNC},
        {"sqlite-async", pons_store_sqlite_open, NULL, false, PONS_DURABILITY_ASYNC},
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(processes_that_end_at_every_commit, &kinds[0]),
        cmocka_unit_test_prestate(processes_that_end_at_every_commit, &kinds[1]),
        cmocka_unit_test_prestate(what_belongs_together_stays_together, &kinds[0]),
        cmocka_unit_test_prestate(what_belongs_together_stays_together, &kinds[1]),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
