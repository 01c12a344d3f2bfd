// open.c - which store a person meant.

#include "pons/module.h"
#include "pons/store.h"
#include "store/store.h"

#include <stdio.h>
#include <string.h>

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static int open_loaded(const char *name, const char *url, pons_store *ret, pons_error *err)
{
    const void *ops = NULL;
    const int rc = pons_module_load_of("store", name, PONS_STORE_DRIVER_ABI, &ops, err);
    const pons_store_driver *driver = ops;
    return rc < 0 ? rc : driver->open(url, ret, err);
}

// The module that a person meant: NAME of "NAME:…". false: it is a file, or the memory.
static bool module_of(const char *url, char ret[PONS_NAME_MAX])
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    const size_t n = strspn(url, letters);
    if (n == 0 || url[n] != ':' || n >= PONS_NAME_MAX) {
        return false;
    }
    snprintf(ret, PONS_NAME_MAX, "%.*s", (int)n, url);
    if (strcmp(ret, "postgresql") == 0) {
        strcpy(ret, "postgres");
    }
    return strcmp(ret, "sqlite") != 0 && strcmp(ret, "memory") != 0;
}

// The file that a person meant; NULL: it is no file.
static const char *file_of(const char *url)
{
    static const char file[] = "sqlite:";
    char name[PONS_NAME_MAX];
    if (strcmp(url, "memory:") == 0 || module_of(url, name)) {
        return NULL;
    }
    return begins(url, file) ? url + strlen(file) : url;
}

int pons_store_open_read(const char *url, pons_store *ret, pons_error *err)
{
    const char *path = url && url[0] ? file_of(url) : NULL;
    return path ? pons__store_sqlite_open_read(path, ret, err) : pons_store_open(url, ret, err);
}

int pons_store_backup(const char *url, const char *file, pons_error *err)
{
    const char *path = url && url[0] ? file_of(url) : NULL;
    if (!path) {
        return pons_error_set(err, PONS_EUNSUPPORTED, "store",
                              "only a store in a file is copied by this; a PostgreSQL server has "
                              "pg_dump --schema=pons");
    }
    return pons__store_sqlite_backup(path, file, err);
}

int pons_store_open(const char *url, pons_store *ret, pons_error *err)
{
    if (!url || !url[0]) {
        return pons_error_set(err, PONS_EINVAL, "store", "a store needs a path or a URL");
    }
    if (strcmp(url, "memory:") == 0) {
        return pons_store_memory_open(ret, err);
    }
    char name[PONS_NAME_MAX];
    if (module_of(url, name)) {
        return open_loaded(name, url, ret, err);
    }
    return pons_store_sqlite_open(file_of(url), ret, err);
}
