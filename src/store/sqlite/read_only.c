// read_only.c - a store in a place where nothing may be written: another user's directory, a
// mount without writing, a copy on a disc.
//
// A file in write-ahead-log mode wants its log and the log's index beside it, and SQLite makes them
// even to read. Where they may not be made there are three cases:
//
//   no log (-wal)           the file is all there is: it is opened as one that nobody changes
//   a log and its index     SQLite reads both as they are (mode=ro)
//   a log without an index  all three are copied to a private directory, and read there
//
// A full disk is such a place, which shows when SQLite has made an index and cannot write it.
//
// Where they may be made, a reader changes as little: a log that another process left stays where it
// is, and only its index is made.
//
// A brain that is at work has both beside its store, so its reader sees what it commits.
#include "store/sqlite/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int64_t size_of(const char *path, const char *suffix)
{
    char name[PATH_MAX];
    struct stat st;
    snprintf(name, sizeof name, "%s%s", path, suffix);
    return stat(name, &st) == 0 ? (int64_t)st.st_size : -1;
}

// "file:" and the path, in which what a URI would read otherwise is written as %XX.
static char *uri_of(const char *path, const char *how)
{
    char *uri = malloc(strlen(path) * 3 + strlen(how) + sizeof "file:?");
    char *at = uri;
    if (!uri) {
        return NULL;
    }
    at += sprintf(at, "file:");
    for (; *path; path++) {
        at += sprintf(at, strchr("?#%", *path) ? "%%%02X" : "%c", (unsigned char)*path);
    }
    sprintf(at, "?%s", how);
    return uri;
}

static int open_read(sql_conn *c, const char *path, const char *name, bool free_to_write,
                     sql_where *ret, pons_error *err)
{
    const bool log = size_of(path, "-wal") > 0, index = size_of(path, "-shm") > 0;
    *ret = (sql_where){.flags = free_to_write ? SQLITE_OPEN_READWRITE
                                              : SQLITE_OPEN_READONLY | SQLITE_OPEN_URI};
    if (!free_to_write && log && !index) {
        return pons__sql_open_copy(c, path, name, ret, err);
    }
    ret->path = free_to_write ? strdup(path) : uri_of(path, log ? "mode=ro" : "immutable=1");
    if (!ret->path) {
        return pons_error_set(err, PONS_ENOMEM, "store", "out of memory");
    }
    int rc = pons__sql_open(c, ret->path, name, ret->flags, err);
    const int read =
        rc ? SQLITE_OK
           : sqlite3_exec(c->db, "SELECT count(*) FROM sqlite_master", NULL, NULL, NULL) & 0xff;
    const bool full = free_to_write && (read == SQLITE_FULL || read == SQLITE_IOERR);
    if (full || (!free_to_write && log && read == SQLITE_CANTOPEN)) {
        pons__sql_close(c); // the index is there and may not be read, or cannot be made
        pons__where_drop(ret);
        return full && !log ? open_read(c, path, name, false, ret, err)
                            : pons__sql_open_copy(c, path, name, ret, err);
    }
    if (rc) {
        pons__where_drop(ret);
    } else {
        pons__sql_only_reads(c);
    }
    return rc;
}

static bool writable(const char *path)
{
    char dir[PATH_MAX];
    snprintf(dir, sizeof dir, "%s", path);
    char *slash = strrchr(dir, '/');
    if (slash) {
        slash[slash == dir] = '\0';
    }
    return access(path, W_OK) == 0 && access(slash ? dir : ".", W_OK | X_OK) == 0;
}

int pons__sql_open_read(sql_conn *c, const char *path, const char *name, sql_where *ret,
                        pons_error *err)
{
    int rc = pons__log_begin(path, err);
    if (!rc) {
        rc = open_read(c, path, name, writable(path), ret, err);
        pons__log_done(c);
    }
    return rc;
}

static void drop_copy(char *dir)
{
    static const char *const files[] = {"/pons.db", "/pons.db-wal", "/pons.db-shm"};
    for (size_t i = 0; dir && i < sizeof files / sizeof *files; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s%s", dir, files[i]);
        unlink(path);
    }
    if (dir) {
        rmdir(dir);
    }
    free(dir);
}

void pons__where_drop(sql_where *w)
{
    drop_copy(w->copy);
    free(w->path);
    *w = (sql_where){0};
}

int pons__sql_open_copy(sql_conn *c, const char *path, const char *name, sql_where *ret,
                        pons_error *err)
{
    const char *tmp = getenv("TMPDIR");
    char *dir = NULL, to[PATH_MAX], from[PATH_MAX];
    if (asprintf(&dir, "%s/pons-read-XXXXXX", tmp && *tmp ? tmp : "/tmp") < 0) {
        return pons_error_set(err, PONS_ENOMEM, "store", "out of memory");
    }
    if (!mkdtemp(dir)) {
        const int code = errno;
        pons_error_set(err, PONS_EENV, "store", "cannot make a copy of the log to read");
        pons_error_source(err, "%s", dir);
        pons_error_cause(err, "%s", strerror(code));
        free(dir);
        return PONS_EENV;
    }
    bool copied = true;
    for (size_t i = 0; i < 2; i++) {
        snprintf(from, sizeof from, "%s%s", path, i ? "-wal" : "");
        snprintf(to, sizeof to, "%s/pons.db%s", dir, i ? "-wal" : "");
        copied = copied && pons__copy_file(from, to);
    }
    int rc;
    if (copied) {
        snprintf(to, sizeof to, "%s/pons.db", dir);
        *ret = (sql_where){.path = strdup(to), .flags = SQLITE_OPEN_READWRITE};
        rc = ret->path ? pons__sql_open(c, to, name, ret->flags, err)
                       : pons_error_set(err, PONS_ENOMEM, "store", "out of memory");
    } else {
        rc = pons_error_set(err, PONS_EENV, "store", "cannot make a copy of the log to read");
        pons_error_source(err, "%s", path);
        pons_error_cause(err, "%s", strerror(errno));
    }
    if (rc) {
        drop_copy(dir);
    } else {
        ret->copy = dir;
    }
    return rc;
}
