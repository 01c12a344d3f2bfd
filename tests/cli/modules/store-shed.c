// store-shed.c - a store of somebody else's: "shed:FILE", which is an SQLite store.
#include "pons/ext/store.h"
#include "pons/module.h"

#include <string.h>

static int open_shed(const char *url, pons_store *ret, pons_error *err)
{
    return pons_store_sqlite_open(url + strlen("shed:"), ret, err);
}

static const pons_store_driver driver = {PONS_STORE_DRIVER_ABI, "shed", open_shed};
PONS_MODULE_EXPORT("store", "shed", &driver);
