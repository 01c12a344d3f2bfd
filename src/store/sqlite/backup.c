// backup.c - a copy of the store at one moment, while others read and write it.
//
// SQLite's own backup reads all pages from one snapshot of the file and its log, so writers go on.
// The copy is made under another name beside the one that was asked for, is looked at as any store
// is (damage_check.c), synced, and gets its name last, by a rename that replaces nothing: whoever
// finds the name finds a whole and sound store, also after a power cut.
#include "pons/store.h"
#include "store/sqlite/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NAP_MS 5 // between two tries of a step that others hold up

typedef struct worst {
    char line[256]; // the first damage
} worst;

static int copy_pages(const char *path, const char *to, pons_error *err)
{
    sql_conn from = {0}, into = {0};
    sql_where where = {0};
    const char *slash = strrchr(path, '/');
    int rc = pons__sql_open_read(&from, path, slash ? slash + 1 : path, &where, err);
    rc = rc ? rc : pons__schema_readable(&from, path, err);
    rc = rc ? rc : pons__sql_open(&into, to, "the backup", SQLITE_OPEN_READWRITE, err);
    if (!rc) {
        sqlite3_backup *b = sqlite3_backup_init(into.db, "main", from.db, "main");
        int code = b ? SQLITE_OK : sqlite3_errcode(into.db);
        while (b && ((code = sqlite3_backup_step(b, -1)) == SQLITE_BUSY || code == SQLITE_LOCKED)) {
            nanosleep(&(struct timespec){.tv_nsec = NAP_MS * 1000000L}, NULL);
        }
        sqlite3_backup_finish(b);
        if (code != SQLITE_DONE) {
            rc = pons__sql_fail(&into, code, err, "cannot copy the store");
        }
    }
    pons__sql_close(&into);
    pons__sql_close(&from);
    pons__where_drop(&where);
    return rc;
}

static int damaged(const char *why, pons_error *err)
{
    pons_error_set(err, PONS_ECORRUPT, "store",
                   "the store is damaged, so there is no backup; `pons doctor` tells more");
    pons_error_cause(err, "%s", why);
    return PONS_ECORRUPT;
}

static void note(void *user, bool damage, const char *line)
{
    worst *w = user;
    if (damage && !w->line[0]) {
        snprintf(w->line, sizeof w->line, "%s", line);
    }
}

static int sound(const char *path, pons_error *err)
{
    worst w = {0};
    int64_t damage = 0;
    const int rc = pons_store_check(path, note, &w, &damage, err);
    if (rc || !damage) {
        return rc;
    }
    return damaged(w.line, err);
}

static int file_error(const char *what, const char *path, int code, pons_error *err)
{
    pons_error_set(err, code ? PONS_EENV : PONS_EEXIST, "store", "%s", what);
    pons_error_source(err, "%s", path);
    if (code) {
        pons_error_cause(err, "%s", strerror(code));
    }
    return err->status;
}

static int give_name(const char *from, const char *to, pons_error *err)
{
    int code = renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0 ? 0 : errno;
    if (code == EINVAL || code == ENOSYS) { // a file system that cannot
        code = link(from, to) == 0 ? 0 : errno;
        if (!code) {
            unlink(from);
        }
    }
    if (code == EEXIST) {
        return pons_error_set(err, PONS_EEXIST, "store",
                              "there is a file %s by now; it is not overwritten", to);
    }
    if (code) {
        return file_error("cannot name the backup", to, code, err);
    }
    char dir[PATH_MAX];
    snprintf(dir, sizeof dir, "%s", to);
    char *slash = strrchr(dir, '/');
    if (slash) {
        slash[slash == dir] = '\0';
    }
    const int fd = open(slash ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    code = fd >= 0 && fsync(fd) == 0 ? 0 : errno;
    if (fd >= 0) {
        close(fd);
    }
    // The file is whole and named; a directory that cannot be synced (EINVAL) is its file system's.
    return code && code != EINVAL ? file_error("cannot sync the directory of", to, code, err)
                                  : PONS_OK;
}

static void drop(const char *path)
{
    static const char *const more[] = {"", "-wal", "-shm", "-journal"};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        char name[PATH_MAX + 16];
        snprintf(name, sizeof name, "%s%s", path, more[i]);
        unlink(name);
    }
}

int pons__store_sqlite_backup(const char *path, const char *file, pons_error *err)
{
    err = err ? err : &(pons_error)PONS_ERROR_INIT;
    struct stat st;
    char fresh[PATH_MAX];
    if (lstat(file, &st) == 0) {
        return file_error("there is such a file, and it is not overwritten", file, 0, err);
    }
    if (snprintf(fresh, sizeof fresh, "%s.%ld.part", file, (long)getpid()) >= (int)sizeof fresh) {
        return pons_error_set(err, PONS_EINVAL, "store", "the backup's path is too long");
    }
    const int fd = open(fresh, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        return file_error("cannot make the backup", fresh, errno, err);
    }
    int rc = copy_pages(path, fresh, err);
    rc = rc ? rc : sound(fresh, err);
    if (!rc && fsync(fd) != 0) {
        rc = file_error("cannot sync the backup", fresh, errno, err);
    }
    close(fd);
    rc = rc ? rc : give_name(fresh, file, err);
    if (rc) {
        drop(fresh);
    }
    return rc;
}
