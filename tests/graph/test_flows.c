// test_flows.c - every case of flows.h in memory and in an SQLite file.
#include "graph/flows.h"
#include "pons/value.h"

static int open_memory(const char *path, pons_store *ret, pons_error *err)
{
    (void)path;
    return pons_store_memory_open(ret, err);
}

int main(void)
{
    pons_value_init();
    static const fault_store kinds[] = {{"memory", open_memory},
                                        {"sqlite", pons_store_sqlite_open}};
    int failed = 0;
    for (int i = 0; i < 2; i++) {
        failed += flows_run(&kinds[i]);
    }
    return failed;
}
