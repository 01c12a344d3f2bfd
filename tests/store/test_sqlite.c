// test_sqlite.c - the store in a file passes the suite of all stores (conformance.c).

#include "conformance.h"
#include "graph/unsynced.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static char dir[64];

static int open_in_dir(pons_store *ret, pons_error *err)
{
    snprintf(dir, sizeof dir, "/tmp/pons-store-XXXXXX");
    if (!mkdtemp(dir)) {
        return PONS_EENV;
    }
    char path[128];
    snprintf(path, sizeof path, "%s/pons.db", dir);
    return pons_store_sqlite_open(path, ret, err);
}

static void remove_dir(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    if (system(command) != 0) {
        print_error("cannot remove %s\n", dir);
    }
}

int main(void)
{
    unsynced();
    const conformance_backend sqlite = {
        .name = "sqlite", .open = open_in_dir, .clean = remove_dir, .gives_back = true};
    return conformance_run(&sqlite);
}
