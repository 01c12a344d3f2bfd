// schema.c - connections, statements, the schema and its versions, SQLite's errors.
//
// The version of the schema is the file's user_version; application_id says that the file is ours.
// Opening reads both and, for a current file, nothing else. Another schema is refused by its number: a program
// must not write what it does not understand.
#include "store/sqlite/internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define WAIT_STEP_US 500   // between two tries for a lock of the file
#define WAIT_MAX_MS  30000 // then another process is stuck

#define PAGES "PRAGMA page_size=2048; PRAGMA auto_vacuum=INCREMENTAL;" // of a new database

static const char schema[] = {
#include "store/sqlite/schema.sql.h"
};
#define SCHEMA_VERSION 5

typedef struct cause { // what people call SQLite's codes
    int code;
    int status;
    const char *symbol;
    const char *text;
} cause;

static const cause causes[] = {
    {SQLITE_FULL, PONS_EIO, "SQLITE_FULL", "disk full"},
    {SQLITE_IOERR, PONS_EIO, "SQLITE_IOERR", "input/output error"},
    {SQLITE_CORRUPT, PONS_ECORRUPT, "SQLITE_CORRUPT", "the file is damaged"},
    {SQLITE_NOTADB, PONS_EENV, "SQLITE_NOTADB", "not a database"},
    {SQLITE_CANTOPEN, PONS_EENV, "SQLITE_CANTOPEN", "cannot open the file"},
    {SQLITE_READONLY, PONS_EENV, "SQLITE_READONLY", "the file may not be written"},
    {SQLITE_PERM, PONS_EENV, "SQLITE_PERM", "no permission"},
    {SQLITE_AUTH, PONS_EENV, "SQLITE_AUTH", "no permission"},
    {SQLITE_BUSY, PONS_EBUSY, "SQLITE_BUSY", "another process keeps the file locked"},
    {SQLITE_LOCKED, PONS_EBUSY, "SQLITE_LOCKED", "another process keeps the file locked"},
    {SQLITE_PROTOCOL, PONS_EBUSY, "SQLITE_PROTOCOL", "another process keeps the file locked"},
    {SQLITE_NOMEM, PONS_ENOMEM, "SQLITE_NOMEM", "out of memory"},
    {SQLITE_TOOBIG, PONS_EINVAL, "SQLITE_TOOBIG", "a value is too big"},
    {SQLITE_CONSTRAINT, PONS_EEXIST, "SQLITE_CONSTRAINT", "already there"},
};

static const char *const sql_text[SQL_COUNT] = {
#define X(name, text) [SQL_##name] = (text),
#include "store/sqlite/statements.sql.h"
#undef X
};

// ---- helpers ------------------------------------------------------------------------------------

// Other processes hold a lock of the file for the length of one transaction: short, steady naps
// keep the wait fair and short. Gives up after WAIT_MAX_MS: somebody is stopped in the middle.
static int wait_for_lock(void *user, int tries)
{
    if ((int64_t)tries * WAIT_STEP_US > (int64_t)WAIT_MAX_MS * 1000) {
        return 0;
    }
    // The first naps are shorter: most transactions take some tens of microseconds.
    long us = tries < 10 ? 50 : WAIT_STEP_US;
    nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
    return 1;
}

static int number(sql_conn *c, const char *sql, int *ret)
{
    sqlite3_stmt *st = NULL;
    int code = sqlite3_prepare_v2(c->db, sql, -1, &st, NULL);
    if (code == SQLITE_OK) {
        code = sqlite3_step(st);
        if (code == SQLITE_ROW) {
            *ret = sqlite3_column_int(st, 0);
            code = SQLITE_OK;
        }
    }
    sqlite3_finalize(st);
    return code & 0xff;
}

// Two processes that do this to one file at once get SQLITE_BUSY without the handler being asked.
static int enter_wal(sql_conn *c)
{
    int code = SQLITE_BUSY;
    for (int i = 0; (code & 0xff) == SQLITE_BUSY && wait_for_lock(NULL, i); i++) {
        code = sqlite3_exec(c->db, PAGES "PRAGMA journal_mode=WAL", NULL, NULL, NULL);
    }
    return code;
}

// A new file is made without waiting for the disk, whose ten syncs would be most of what a first
// start takes: journals make it whole when the process dies, and nothing else is in it yet. The
// file is synced here, once; its log, and the directory with both, by the first commit that wants
// that.
static int sync_new(sql_conn *c)
{
    sqlite3_file *file = NULL;
    int code = sqlite3_file_control(c->db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (code == SQLITE_OK && file && file->pMethods) {
        code = file->pMethods->xSync(file, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY);
    }
    if (code == SQLITE_OK) {
        code = sqlite3_exec(c->db, "PRAGMA synchronous=NORMAL", NULL, NULL, NULL);
    }
    return code;
}

// What a store in memory begins with.
static int copy_empty(sql_conn *c, const sql_conn *empty)
{
    const int code = sqlite3_exec(c->db, PAGES, NULL, NULL, NULL);
    sqlite3_backup *b = code ? NULL : sqlite3_backup_init(c->db, "main", empty->db, "main");
    if (!b) {
        return sqlite3_errcode(c->db);
    }
    sqlite3_backup_step(b, -1);
    return sqlite3_backup_finish(b);
}

static int not_ours(pons_error *err, const char *path, const char *why)
{
    pons_error_set(err, PONS_EENV, "store", "this file is not a pons store");
    pons_error_source(err, "%s", path);
    pons_error_cause(err, "%s", why);
    return PONS_EENV;
}

// A store of ours has this schema, or one that this program does not know.
static int check_version(int version, const char *path, pons_error *err)
{
    if (version == SCHEMA_VERSION) {
        return PONS_OK;
    }
    pons__store_other_schema(err, version, SCHEMA_VERSION);
    return pons_error_source(err, "%s", path);
}

// Makes a new file a store. Several processes may come here at once: what was read before is read again under the
// write lock.
static int make_store(sql_conn *c, const char *path, pons_error *err)
{
    int application = 0, version = 0, tables = 0;
    int code = number(c, "SELECT count(*) FROM sqlite_master", &tables);
    if (code == SQLITE_OK) {
        code = number(c, "PRAGMA application_id", &application);
    }
    if (code == SQLITE_OK && tables && application != PONS__APPLICATION_ID) {
        return not_ours(err, path, "it is another program's database");
    }
    if (code == SQLITE_OK) {
        code = sqlite3_exec(c->db, tables ? "PRAGMA synchronous=NORMAL" : "PRAGMA synchronous=OFF",
                            NULL, NULL, NULL);
    }
    if (code == SQLITE_OK) {
        code = enter_wal(c);
    }
    if (code == SQLITE_OK) {
        code = sqlite3_exec(c->db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    }
    if (code == SQLITE_OK) {
        code = number(c, "PRAGMA user_version", &version);
    }
    if (code == SQLITE_OK && version == 0) {
        code = sqlite3_exec(c->db, schema, NULL, NULL, NULL);
    } else if (code == SQLITE_OK && version != SCHEMA_VERSION) {
        sqlite3_exec(c->db, "ROLLBACK", NULL, NULL, NULL);
        return check_version(version, path, err);
    }
    if (code == SQLITE_OK) {
        char sql[96];
        snprintf(sql, sizeof sql, "PRAGMA application_id=%d; PRAGMA user_version=%d; COMMIT",
                 PONS__APPLICATION_ID, SCHEMA_VERSION);
        code = sqlite3_exec(c->db, sql, NULL, NULL, NULL);
    }
    if (code == SQLITE_OK && !tables) {
        code = sync_new(c);
    }
    if (code == SQLITE_OK) {
        return PONS_OK;
    }
    int status = pons__sql_fail(c, code, err, "cannot make the store");
    pons_error_source(err, "%s", path);
    if (!sqlite3_get_autocommit(c->db)) {
        sqlite3_exec(c->db, "ROLLBACK", NULL, NULL, NULL);
    }
    return status;
}

// ---- public functions ---------------------------------------------------------------------------

int pons__sql_open(sql_conn *c, const char *path, const char *name, int flags, pons_error *err)
{
    *c = (sql_conn){.name = name};
    int code =
        sqlite3_open_v2(path, &c->db, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
    if (code != SQLITE_OK) {
        int errno_below = c->db ? sqlite3_system_errno(c->db) : 0;
        pons__sql_fail(c, code, err, "cannot open the store");
        pons_error_source(err, "%s", path);
        if (errno_below) {
            pons_error_cause(err, "%s", strerror(errno_below));
        }
        pons__sql_close(c);
        return err->status;
    }
    sqlite3_busy_handler(c->db, wait_for_lock, NULL);
    code = pons__sum_register(c->db);
    if (code != SQLITE_OK) {
        pons__sql_fail(c, code, err, "cannot open the store");
        pons__sql_close(c);
        return err->status;
    }
    return PONS_OK;
}

void pons__sql_close(sql_conn *c)
{
    for (int i = 0; i < SQL_COUNT; i++) {
        sqlite3_finalize(c->st[i]);
    }
    if (c->reads && c->db) { // a log that is empty is of nobody
        struct stat st;
        const char *file = sqlite3_db_filename(c->db, "main");
        const char *log = file ? sqlite3_filename_wal(file) : NULL;
        const bool none = log && *log && stat(log, &st) == 0 && st.st_size == 0;
        sqlite3_db_config(c->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !none, NULL);
    }
    sqlite3_close(c->db);
    *c = (sql_conn){0};
}

void pons__sql_only_reads(sql_conn *c)
{
    c->reads = true;
    sqlite3_db_config(c->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
}

void pons__sql_patience(sql_conn *c, int wait_ms)
{
    if (wait_ms) {
        sqlite3_busy_timeout(c->db, wait_ms);
    } else {
        sqlite3_busy_handler(c->db, wait_for_lock, NULL);
    }
}

sqlite3_stmt *pons__sql(sql_conn *c, sql_id id, pons_error *err)
{
    if (c->st[id]) {
        return c->st[id];
    }
    int code =
        sqlite3_prepare_v3(c->db, sql_text[id], -1, SQLITE_PREPARE_PERSISTENT, &c->st[id], NULL);
    if (code != SQLITE_OK) {
        pons__sql_fail(c, code, err, "cannot read the store");
    }
    return c->st[id];
}

int pons__sql_step(sql_conn *c, sqlite3_stmt *st, pons_error *err)
{
    int code = sqlite3_step(st);
    if (code == SQLITE_ROW || code == SQLITE_DONE) {
        return code;
    }
    // A COMMIT is read-only to SQLite: what it failed at says better what it was about.
    const bool wrote =
        (code & 0xff) == SQLITE_FULL || code == SQLITE_IOERR_WRITE || code == SQLITE_IOERR_FSYNC;
    const bool reads = sqlite3_stmt_readonly(st) && !wrote;
    pons__sql_fail(c, code, err, reads ? "cannot read the store" : "cannot write the store");
    sqlite3_reset(st);
    return code;
}

int pons__sql_run(sql_conn *c, sqlite3_stmt *st, pons_error *err)
{
    int code = pons__sql_step(c, st, err);
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        return err->status;
    }
    sqlite3_reset(st);
    return PONS_OK;
}

sqlite3_stmt *pons__sql_bound(sql_conn *c, sql_id id, sql_args args, pons_error *err)
{
    sqlite3_stmt *st = pons__sql(c, id, err);
    if (st) {
        pons__bind(st, args);
    }
    return st;
}

int pons__sql_put(sql_conn *c, sql_id id, const char *table, sql_args args, pons_error *err)
{
    sqlite3_stmt *st = pons__sql(c, id, err);
    if (!st) {
        return err->status;
    }
    pons__bind_row(st, table, args);
    return pons__sql_run(c, st, err);
}

int pons__sql_exec(sql_conn *c, sql_id id, sql_args args, pons_error *err)
{
    sqlite3_stmt *st = pons__sql_bound(c, id, args, err);
    return st ? pons__sql_run(c, st, err) : err->status;
}

int pons__sql_first(sql_conn *c, sql_id id, sql_args args, sqlite3_stmt **ret, pons_error *err)
{
    *ret = pons__sql_bound(c, id, args, err);
    const int code = *ret ? pons__sql_step(c, *ret, err) : SQLITE_ERROR;
    if (code == SQLITE_ROW || code == SQLITE_DONE) {
        return code == SQLITE_ROW;
    }
    return err->status;
}

int pons__sql_do(sql_conn *c, sql_id id, pons_error *err)
{
    return pons__sql_exec(c, id, NO_ARGS, err);
}

int pons__sql_number(sql_conn *c, sql_id id, sql_args args, int64_t *ret, pons_error *err)
{
    sqlite3_stmt *st;
    const int got = pons__sql_first(c, id, args, &st, err);
    *ret = got > 0 ? sqlite3_column_int64(st, 0) : 0;
    sqlite3_reset(st);
    return got < 0 ? got : PONS_OK;
}

// Why a file could not be read, written or made larger. Of a write to the log its file knows: errno itself has seen
// a rollback since.
static int why_errno(sqlite3 *db, int extended)
{
    if (extended != SQLITE_IOERR_WRITE) {
        return (extended & 0xff) == SQLITE_IOERR ? sqlite3_system_errno(db) : 0;
    }
    sqlite3_file *f = NULL;
    int code = 0;
    if (sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &f) == SQLITE_OK && f &&
        f->pMethods) {
        f->pMethods->xFileControl(f, SQLITE_FCNTL_LAST_ERRNO, &code);
    }
    return code;
}

int pons__sql_fail(sql_conn *c, int code, pons_error *err, const char *what)
{
    const cause *found = NULL;
    for (size_t i = 0; i < sizeof causes / sizeof *causes && !found; i++) {
        if (causes[i].code == (code & 0xff)) {
            found = &causes[i];
        }
    }
    int status = found ? found->status : PONS_EIO;
    pons_error_set(err, status, "store", "%s", what);
    pons_error_source(err, "%s", c->name);
    const int below = c->db ? why_errno(c->db, code) : 0;
    if (below == ENOSPC || below == EDQUOT || below == EFBIG) { // all, a user's share, a file's
        pons_error_cause(err, "disk full (%s)", strerror(below));
    } else if (found) {
        pons_error_cause(err, "%s (%s)", found->text, found->symbol);
    } else {
        pons_error_cause(err, "%s", c->db ? sqlite3_errmsg(c->db) : sqlite3_errstr(code));
    }
    return status;
}

int pons__schema_check(sql_conn *c, const char *path, pons_error *err)
{
    int application = 0, version = 0;
    int code = number(c, "PRAGMA application_id", &application);
    if (code == SQLITE_OK) {
        code = number(c, "PRAGMA user_version", &version);
    }
    if (code == SQLITE_NOTADB) {
        return not_ours(err, path, "it is not a database");
    }
    if (code != SQLITE_OK) {
        int status = pons__sql_fail(c, code, err, "cannot open the store");
        pons_error_source(err, "%s", path);
        return status;
    }
    return application == PONS__APPLICATION_ID ? check_version(version, path, err)
                                               : make_store(c, path, err);
}

int pons__schema_memory(sql_conn *c, pons_error *err)
{
    static pthread_mutex_t mtx = PTHREAD_MUTEX_INITIALIZER;
    static sql_conn empty; // [mtx] to copy from: a tenth of the time that making the tables takes
    int rc = PONS_OK, code = SQLITE_OK;
    pthread_mutex_lock(&mtx);
    if (!empty.db) {
        rc = pons__sql_open(&empty, ":memory:", "memory", SQLITE_OPEN_READWRITE, err);
        rc = rc ? rc : pons__schema_check(&empty, "memory", err);
    }
    if (!rc) {
        code = copy_empty(c, &empty);
    }
    if (rc) {
        pons__sql_close(&empty);
    }
    pthread_mutex_unlock(&mtx);
    return code ? pons__sql_fail(c, code, err, "cannot make the store") : rc;
}

int pons__schema_readable(sql_conn *c, const char *path, pons_error *err)
{
    int application = 0, version = 0;
    int code = number(c, "PRAGMA application_id", &application);
    code = code == SQLITE_OK ? number(c, "PRAGMA user_version", &version) : code;
    if (code == SQLITE_NOTADB || (code == SQLITE_OK && application != PONS__APPLICATION_ID)) {
        return not_ours(err, path, "it is not a database of pons");
    }
    if (code != SQLITE_OK) {
        pons__sql_fail(c, code, err, "cannot open the store");
        pons_error_source(err, "%s", path);
        return err->status;
    }
    return check_version(version, path, err);
}

int pons__schema_newest(void)
{
    return SCHEMA_VERSION;
}
