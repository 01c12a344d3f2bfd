// test_compose.c - every case of compose.h in memory and in an SQLite file.
#include "graph/compose.h"
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
        failed += compose_run(&kinds[i]);
    }
    return failed;
}
