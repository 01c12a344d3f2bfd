// test_postgres_sweep.c - the death of the process at every commit (graph/sweep.h), on a private
// PostgreSQL that it starts: a store that refuses everything from the n-th commit on, and processes
// that end just before or just after it. A killed holder's lease runs out in its time; here that
// time is made to be over, so that nobody has to wait for it. Skipped where there is no server.
#include "graph/inner.h"
#include "store/cluster.h"

#include <stdio.h>

static char url[256];

static int open_cluster(const char *path, pons_store *ret, pons_error *err)
{
    (void)path;
    return cluster_open(url, ret, err);
}

static void lease_is_over(void)
{
    cluster_sql("UPDATE pons.thread SET until=clock_timestamp()-interval '1 second'");
}

static void killed_at_every_commit(void **state)
{
    sweep_stores(*state);
}

static void processes_that_end_at_every_commit(void **state)
{
    sweep_processes(*state);
}

static void what_belongs_together_stays_together(void **state)
{
    sweep_together(*state);
}

static void a_graph_inside_a_node(void **state)
{
    sweep_inner(*state);
}

int main(void)
{
    pons_value_init();
    static sweep_kind kinds[] = {
        {"postgres-sync", open_cluster, lease_is_over, false, PONS_DURABILITY_SYNC},
        {"postgres-async", open_cluster, lease_is_over, false, PONS_DURABILITY_ASYNC},
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(killed_at_every_commit, &kinds[0]),
        cmocka_unit_test_prestate(killed_at_every_commit, &kinds[1]),
        cmocka_unit_test_prestate(processes_that_end_at_every_commit, &kinds[0]),
        cmocka_unit_test_prestate(what_belongs_together_stays_together, &kinds[0]),
        cmocka_unit_test_prestate(a_graph_inside_a_node, &kinds[0]),
    };
    if (!cluster_share()) {
        return 0;
    }
    snprintf(url, sizeof url, "%s", cluster_empty(""));
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    cluster_stop();
    return failed;
}
