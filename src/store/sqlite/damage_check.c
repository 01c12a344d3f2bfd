// damage_check.c - looking for damage: what has been lost or altered in a file, row by row.
//
// Five looks, from the file to its meaning, and none stops the next:
//
//   the log        wal_check.c
//   the header     a store of pons, of a schema that is known, with pages and log of its kind
//   SQLite         integrity_check (each page, each index) and foreign_key_check
//   checksums      each row's, by pons_sum (schema.c)
//   the promises   owners that exist, numbers without gaps, parents that are there (rules below)
//
// What nobody can see here: rows that a person took out with SQL so that every rule still holds,
// such as the newest event of a thread. It changes nothing, and may run beside a brain. Damaged pages
// may lead back to themselves, so once damage was found each further look has a budget of steps.
#include "pons/store.h"
#include "store/sqlite/internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LINES_MAX    20 // of one kind
#define LINE_MAX_LEN 400
#define PAGE_BYTES   2048

typedef struct look {
    sql_conn c;
    pons_store_say_fn say;
    void *user;
    int64_t damage; // lines said
    bool writable;
    char disk[120]; // why the disk lets it be read no further; "": it does
} look;

static const char *const rules[] = {
#define X(name, text) text,
#include "store/sqlite/damage_check.sql.h"
#undef X
};

// What the full-text index has, a row a word of an item.
static const char vocabulary[] = "CREATE VIRTUAL TABLE temp.item_vocab USING"
                                 " fts5vocab('main', 'item_words', 'instance')";

__attribute__((format(printf, 3, 4))) static void say(look *l, bool damage, const char *fmt, ...)
{
    char line[LINE_MAX_LEN];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    l->damage += damage;
    if (l->say) {
        l->say(l->user, damage, line);
    }
}

static int look_at_file(look *l, const char *path, pons_error *err)
{
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode)) {
        pons_error_set(err, PONS_EENV, "store", "there is no store to look at");
        pons_error_source(err, "%s", path);
        return PONS_EENV;
    }
    if (st.st_size == 0) {
        say(l, true, "the file is empty");
    } else if (st.st_size % PAGE_BYTES) {
        say(l, true, "the file ends in the middle of a page, at byte %lld", (long long)st.st_size);
    }
    return PONS_OK;
}

// Damage, unless the disk is full or fails.
static void cannot_read(look *l, const char *what)
{
    const int code = sqlite3_errcode(l->c.db) & 0xff;
    const bool full = code == SQLITE_FULL || sqlite3_system_errno(l->c.db) == ENOSPC;
    if (full || code == SQLITE_IOERR || code == SQLITE_CANTOPEN) {
        snprintf(l->disk, sizeof l->disk, "%s",
                 full ? "the disk is full" : sqlite3_errmsg(l->c.db));
    } else {
        say(l, true, "%s cannot be read: %s", what, sqlite3_errmsg(l->c.db));
    }
}

// The first value of a statement as text; false when it fails.
static bool value_of(look *l, const char *sql, char *ret, size_t cap)
{
    sqlite3_stmt *st = NULL;
    bool got = sqlite3_prepare_v2(l->c.db, sql, -1, &st, NULL) == SQLITE_OK &&
               sqlite3_step(st) == SQLITE_ROW;
    const char *text = got ? (const char *)sqlite3_column_text(st, 0) : NULL;
    snprintf(ret, cap, "%s", text ? text : "");
    sqlite3_finalize(st);
    return got;
}

// A row that is not `fine` is damage; NULL: any row.
static void ask_sqlite(look *l, const char *pragma, const char *fine)
{
    sqlite3_stmt *st = NULL;
    int code = sqlite3_prepare_v2(l->c.db, pragma, -1, &st, NULL);
    while (code == SQLITE_OK && (code = sqlite3_step(st)) == SQLITE_ROW) {
        char line[LINE_MAX_LEN];
        const char *text = (const char *)sqlite3_column_text(st, 0);
        snprintf(line, sizeof line, "%s", text ? text : "?");
        code = SQLITE_OK;
        if (fine && strcmp(line, fine) == 0) {
            continue;
        }
        for (char *save = NULL, *one = strtok_r(line, "\n", &save); one;
             one = strtok_r(NULL, "\n", &save)) {
            if (strncmp(one, "***", 3) != 0) { // only says which database
                say(l, true, "%s", one);
            }
        }
    }
    if (code != SQLITE_OK && code != SQLITE_DONE) {
        cannot_read(l, "the file");
    }
    sqlite3_finalize(st);
}

// Whether it is worth going on; *ret: a status when the store is none of ours to judge.
static bool look_at_header(look *l, pons_error *err, int *ret)
{
    static const struct {
        const char *pragma, *want, *what;
    } wants[] = {
        {"PRAGMA page_size", "2048", "pages of another size"},
        {"PRAGMA journal_mode", "wal", "no log"},
        {"PRAGMA encoding", "UTF-8", "another encoding"},
    };
    char value[64];
    if (!value_of(l, "PRAGMA application_id", value, sizeof value) ||
        !value_of(l, "SELECT count(*) FROM sqlite_master", value, sizeof value)) {
        cannot_read(l, "the file's first page");
        return false;
    }
    value_of(l, "PRAGMA application_id", value, sizeof value);
    const long long application = strtoll(value, NULL, 10);
    value_of(l, "PRAGMA user_version", value, sizeof value);
    const long long version = strtoll(value, NULL, 10);
    if (application != PONS__APPLICATION_ID) {
        say(l, true, "the file does not say that it is a store of pons");
    }
    const int newest = pons__schema_newest();
    if (version >= 1 && version != newest && version <= newest + 100) {
        *ret = pons__store_other_schema(err, (int)version, newest);
        return false;
    }
    if (version < 1 || version > newest) {
        say(l, true, "the file says that it has schema %lld, which there never was", version);
    }
    for (size_t i = 0; i < sizeof wants / sizeof *wants; i++) {
        // A read without the right to write shows no log, even where there is one.
        if ((i != 1 || l->writable) && value_of(l, wants[i].pragma, value, sizeof value) &&
            strcmp(value, wants[i].want)) {
            say(l, true, "the file says that it has %s (%s)", wants[i].what, value);
        }
    }
    return true;
}

static void ask(look *l, const char *sql)
{
    sqlite3_stmt *st = NULL;
    int64_t rows = 0, left = pons__sql_budget(l->c.db);
    int code = sqlite3_prepare_v2(l->c.db, sql, -1, &st, NULL);
    if (l->damage) { // damaged pages may lead back to themselves
        sqlite3_progress_handler(l->c.db, PONS__SQL_STEPS, pons__sql_spend, &left);
    }
    while (code == SQLITE_OK && (code = sqlite3_step(st)) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(st, 0);
        code = SQLITE_OK;
        if (rows++ < LINES_MAX) {
            say(l, true, "%s", text ? text : "a row whose place cannot be read");
        }
    }
    if (rows > LINES_MAX) {
        say(l, true, "and %lld more of them", (long long)(rows - LINES_MAX));
    }
    if (code != SQLITE_OK && code != SQLITE_DONE) {
        cannot_read(l, "the file");
    }
    sqlite3_finalize(st);
    sqlite3_progress_handler(l->c.db, 0, NULL, NULL);
}

int pons_store_check(const char *path, pons_store_say_fn say_fn, void *user, int64_t *ret,
                     pons_error *err)
{
    err = err ? err : &(pons_error)PONS_ERROR_INIT;
    look l = {.say = say_fn, .user = user};
    sql_where where = {0};
    const char *slash = strrchr(path, '/');
    int rc = look_at_file(&l, path, err);
    if (rc) {
        return rc;
    }
    rc = pons__sql_open_read(&l.c, path, slash ? slash + 1 : path, &where, err);
    if (rc == PONS_ECORRUPT) { // the log; what is left is looked at where SQLite may drop the rest
        say(&l, true, "%s: %s", err->message, err->cause);
        rc = pons__sql_open_copy(&l.c, path, slash ? slash + 1 : path, &where, err);
    }
    if (!rc) {
        l.writable = where.flags & SQLITE_OPEN_READWRITE;
        if (look_at_header(&l, err, &rc)) {
            ask_sqlite(&l, "PRAGMA integrity_check(20)", "ok");
            ask_sqlite(&l, "PRAGMA foreign_key_check", NULL);
            sqlite3_exec(l.c.db, vocabulary, NULL, NULL, NULL); // without it, its rule fails
            for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
                ask(&l, rules[i]);
            }
        }
        pons__sql_close(&l.c);
    } else if (rc == PONS_ECORRUPT || err->status == PONS_ECORRUPT) {
        say(&l, true, "the file cannot be opened: %s", err->cause);
        rc = PONS_OK;
    }
    pons__where_drop(&where);
    if (!rc && *l.disk) {
        rc = pons_error_set(err, PONS_EIO, "store", "the store cannot be checked: %s", l.disk);
    }
    if (!rc) {
        *ret = l.damage;
    }
    return rc;
}

// ---- budgets ------------------------------------------------------------------------------------

int64_t pons__sql_budget(sqlite3 *db)
{
    sqlite3_stmt *st = NULL;
    int64_t pages = 0;
    if (sqlite3_prepare_v2(db, "PRAGMA page_count", -1, &st, NULL) == SQLITE_OK &&
        sqlite3_step(st) == SQLITE_ROW) {
        pages = sqlite3_column_int64(st, 0);
    }
    sqlite3_finalize(st);
    return 2000000 + pages * 5000;
}

int pons__sql_spend(void *left)
{
    return (*(int64_t *)left -= PONS__SQL_STEPS) < 0;
}
