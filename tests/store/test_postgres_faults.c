// test_postgres_faults.c - every case of graph/faults.h, reach.h, limits.h, inner.h, compose.h, outside.h
// and remember.h on PostgreSQL, in an emptied store each. Skipped where there is no server.
#include "graph/compose.h"
#include "graph/edits.h"
#include "graph/faults.h"
#include "graph/flows.h"
#include "graph/inner.h"
#include "graph/limits.h"
#include "graph/outside.h"
#include "graph/reach.h"
#include "graph/remember.h"
#include "pons/value.h"
#include "store/cluster.h"

static int open_cluster(const char *path, pons_store *ret, pons_error *err)
{
    (void)path;
    return cluster_lend(ret, err);
}

int main(void)
{
    pons_value_init();
    static const fault_store kind = {"postgres", open_cluster};
    if (!cluster_share()) {
        return 0;
    }
    int failed = faults_run(&kind) + reach_run(&kind) + limits_run(&kind) + inner_run(&kind) +
                 compose_run(&kind) + flows_run(&kind) + outside_run(&kind) + remember_run(&kind) +
                 edits_run(&kind);
    cluster_stop();
    return failed;
}
