// test_postgres.c - the store in PostgreSQL passes the suite of all stores (conformance.c);
// skipped where there is no server.

#include "cluster.h"
#include "conformance.h"

#include <stddef.h>
#include <stdlib.h>

static int open_empty(pons_store *ret, pons_error *err)
{
    static bool made; // the schema: rows go from one test to the next, it stays
    const char *url = made ? cluster_clear("") : cluster_empty("");
    made = true;
    return cluster_open(url, ret, err);
}

int main(void)
{
    const conformance_backend postgres = {.name = "postgres", .open = open_empty};
    if (!cluster_share()) {
        return 0;
    }
    int failed = conformance_run(&postgres);
    cluster_stop();
    return failed;
}
