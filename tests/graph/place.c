// place.c - see place.h.
#include "graph/place.h"

#include "graph/unsynced.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void open_place(place *p, void **state)
{
    const fault_store *kind = *state;
    char path[96];
    pons_error err = PONS_ERROR_INIT;
    snprintf(p->folder, sizeof p->folder, "/tmp/pons-faults-XXXXXX");
    assert_non_null(mkdtemp(p->folder));
    snprintf(path, sizeof path, "%s/t.db", p->folder);
    if (kind->open(path, &p->store, &err) != PONS_OK) {
        fail_msg("%s: %s", kind->name, err.message);
    }
    bed_open_on(&p->b, p->store);
}

void close_place(place *p)
{
    char command[128];
    bed_close(&p->b);
    pons_store_close(&p->store);
    snprintf(command, sizeof command, "rm -rf %s", p->folder);
    assert_int_equal(system(command), 0);
}

void reopen(place *p)
{
    p->b.time.now_ns += PONS_NS_PER_S;
    bed_thread(&p->b);
}

static int open_memory(const char *path, pons_store *ret, pons_error *err)
{
    (void)path;
    return pons_store_memory_open(ret, err);
}

int place_kinds(int (*suite)(const fault_store *kind))
{
    static const fault_store kinds[] = {{"memory", open_memory},
                                        {"sqlite", pons_store_sqlite_open}};
    int failed = 0;
    unsynced();
    pons_value_init();
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        failed += suite(&kinds[i]);
    }
    return failed;
}
