// open.c - which store a person meant.

#include <string.h>

#include "pons/module.h"
#include "store_internal.h"

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static int open_loaded(const char *name, const char *url, pons_store *ret, pons_error *err)
{
    const void *ops = NULL;
    int rc = pons_module_load("store", name, &ops, err);
    if (rc)
        return rc;
    const pons_store_driver *driver = ops;
    if (driver->abi != PONS_STORE_DRIVER_ABI)
        return pons_error_set(err, PONS_EUNSUPPORTED, "store",
                              "store %s speaks version %u of the contract, this program %u", name,
                              driver->abi, PONS_STORE_DRIVER_ABI);
    return driver->open(url, ret, err);
}

int pons_store_open(const char *url, pons_store *ret, pons_error *err)
{
    if (!url || !url[0])
        return pons_error_set(err, PONS_EINVAL, "store", "a store needs a path or a URL");
    if (strcmp(url, "memory:") == 0)
        return pons_store_memory_open(ret, err);
    if (begins(url, "postgresql://") || begins(url, "postgres://"))
        return open_loaded("postgres", url, ret, err);
    static const char file[] = "sqlite:";
    return pons_store_sqlite_open(begins(url, file) ? url + strlen(file) : url, ret, err);
}
