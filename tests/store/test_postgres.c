// test_postgres.c - the store in PostgreSQL passes the suite of all stores (conformance.c), on a
// private server that it starts; skipped where there is none.

#include "cluster.h"
#include "conformance.h"

#include <stddef.h>
#include <stdlib.h>

static int open_empty(pons_store *ret, pons_error *err)
{
    return cluster_open(cluster_empty(""), ret, err);
}

int main(void)
{
    const conformance_backend postgres = {.name = "postgres", .open = open_empty};
    if (!cluster_start()) {
        return 0;
    }
    int failed = conformance_run(&postgres);
    cluster_stop();
    return failed;
}
