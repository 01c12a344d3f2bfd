// repair.c - a sound store from a damaged one.
//
//   1  nobody may hold a thread; all files of the store are copied to NAME.damaged-N, synced
//   2  a new file is made beside it, NAME.repair, with the schema of this program
//   3  each table's rows go over in the order of their keys. Where a page cannot be read, the next
//      readable key is looked for, in growing steps, and then from the other end. A row whose
//      checksum does not fit stays behind: what it says is not what was written
//   4  what is left is made true again: threads and names that are lost get names that say so,
//      checkpoints that stand on a lost one go, numbers get no gaps
//   5  the new file is looked at (damage_check.c), synced, and takes the old one's place
//
// A file whose first page is lost has its rows still: the schema is always made the same way, so its
// pages are taken from a new store.
#include "pons/store.h"
#include "store/sqlite/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE_BYTES 2048
#define COPIES_MAX 1000        // NAME.damaged-N
#define LEAP_MAX   (1LL << 60) // keys, over what cannot be read
#define LEAPS_MAX  500

typedef struct repair {
    const char *path;
    char kept[PATH_MAX], fresh[PATH_MAX];
    sql_conn from, into;
    pons_store_say_fn say;
    void *user;
    pons_error *err;
} repair;

typedef struct table {
    const char *name, *key, *columns; // key: of one integer column, else NULL
    int n;
    const char
        *index; // names once more, for rows that are lost; last: is it an entry of this index?
} table;
static const table tables[] = {
    {"meta", NULL, "key,value", 2, NULL},
    {"thread", "tid", "tid,name,created_ms,touched_ms,epoch,inbox_seq", 6,
     "SELECT tid,name,0,0,0,0,typeof(name)='text' FROM thread INDEXED BY sqlite_autoindex_thread_1 "
     "WHERE ?1=0"
     " ORDER BY name"},
    {"ns", "nid", "nid,tid,name,top", 4,
     "SELECT nid,tid,name,NULL,typeof(tid)='integer' AND typeof(name)='text' FROM ns INDEXED BY "
     "sqlite_autoindex_ns_1 WHERE ?1=0"
     " ORDER BY tid,name"},
    {"word", "wid", "wid,text", 2,
     "SELECT wid,text,typeof(text)='text' FROM word INDEXED BY sqlite_autoindex_word_1 WHERE ?1=0 "
     "ORDER BY text"},
    {"checkpoint", "key", "key,id,parent,meta,data", 5, NULL},
    {"record", NULL, "nid,checkpoint,task,idx,data", 5, NULL},
    {"inbox", "key", "key,nid,kind,value", 4, NULL},
    {"event", "key", "key,nid,ts_ms,type,payload", 5, NULL},
    {"effect", "key", "key,id,nid,state,created_ms,updated_ms,data", 7, NULL},
    {"item", "iid", "iid,ns,key,value,words,vectors,created_ms,updated_ms,ttl_ms,expires_ms", 10,
     NULL},
    {"note", "key", "key,data", 2, NULL},
    {"session", "sid", "sid,id,lane,priority,order_ms,state,attempt,epoch,owner,due_ms,data,note",
     12, NULL},
    {"lane", NULL, "name,head,head_priority,head_order,running,owner,epoch", 7, NULL},
};

#define X(name, text) static const char name[] = text;
#include "store/sqlite/repair.sql.h"
#undef X

// What makes the rest true again, in this order; what is said when rows were changed, or NULL.
static const struct mend {
    const char *sql, *said;
    bool again; // until nothing changes
} mends[] = {
    {MEND_KINDS, "rows that cannot be of their table are left out", false},
    {MEND_EPOCH, NULL, false},
    {MEND_THREADS, "threads whose names are lost are called lost-thread-N", false},
    {MEND_NAMESPACES, "namespaces whose names are lost are called lost-N", false},
    {MEND_WORDS, "types of events and messages that are lost are called lost-N", false},
    {MEND_CHECKPOINTS, "checkpoints of namespaces that are lost are left out", false},
    {MEND_RECORDS, "records of namespaces that are lost are left out", false},
    {MEND_PARENTS, "checkpoints that are read from a lost one are left out", true},
    {MEND_INBOX_SEQ, NULL, false},
    {MEND_EPOCH_MOST, NULL, false},
    {MEND_WORD_LOST, NULL, false},
    {MEND_EVENTS, "events that are lost are events of the type store.lost", false},
    {MEND_EFFECTS, NULL, false},
    {MEND_NOTES, "notes of threads that are lost are left out", false},
    {MEND_LANES, "lanes that are lost are made from their sessions", false},
    {MEND_RUNNING, "sessions of which nobody can say what became of them", false},
    {MEND_LANE_HEADS, NULL, false},
    {MEND_ITEM_WORDS, NULL, false},
    {MEND_EFFECTS_GONE, NULL, false},
};

// ---- helpers ------------------------------------------------------------------------------------

static int fail(repair *r, const char *what, int code)
{
    pons_error_set(r->err, code ? PONS_EENV : PONS_EIO, "store", "%s", what);
    pons_error_source(r->err, "%s", r->path);
    pons_error_cause(r->err, "%s",
                     code         ? strerror(code)
                     : r->into.db ? sqlite3_errmsg(r->into.db)
                                  : "");
    return r->err->status;
}

static bool copy_file(const char *from, const char *to)
{
    char chunk[65536];
    ssize_t n = 0;
    const int in = open(from, O_RDONLY | O_CLOEXEC);
    const int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool good = in >= 0 && out >= 0;
    while (good && (n = read(in, chunk, sizeof chunk)) > 0) {
        good = write(out, chunk, (size_t)n) == n;
    }
    good = good && n == 0 && fsync(out) == 0;
    if (in >= 0) {
        close(in);
    }
    if (out >= 0) {
        close(out);
    }
    return good;
}

__attribute__((format(printf, 2, 3))) static void say(repair *r, const char *fmt, ...)
{
    char line[PATH_MAX + 200];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    if (r->say) {
        r->say(r->user, false, line);
    }
}

static void drop(const char *path)
{
    static const char *const more[] = {"", "-wal", "-shm", "-journal"};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        char name[PATH_MAX + 24];
        snprintf(name, sizeof name, "%s%s", path, more[i]);
        unlink(name);
    }
}

// ---- before -------------------------------------------------------------------------------------

static int nobody_there(const char *path, pons_error *err)
{
    char dir[PATH_MAX + 8];
    snprintf(dir, sizeof dir, "%s-locks", path);
    DIR *d = opendir(dir);
    int rc = PONS_OK;
    for (struct dirent *e = d ? readdir(d) : NULL; e && !rc; e = readdir(d)) {
        struct flock probe = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        const int fd = openat(dirfd(d), e->d_name, O_RDONLY | O_CLOEXEC);
        if (fd >= 0 && fcntl(fd, F_OFD_GETLK, &probe) == 0 && probe.l_type != F_UNLCK) {
            rc = pons_error_set(err, PONS_EBUSY, "store",
                                "a thread of the store is being run (%s); end that first",
                                e->d_name);
        }
        if (fd >= 0) {
            close(fd);
        }
    }
    if (d) {
        closedir(d);
    }
    return rc;
}

static int keep_copy(repair *r)
{
    static const char *const parts[] = {"", "-wal", "-shm"};
    struct stat st;
    int n = 1;
    do {
        snprintf(r->kept, sizeof r->kept, "%.*s.damaged-%d", PATH_MAX - 32, r->path, n++);
    } while (n < COPIES_MAX && lstat(r->kept, &st) == 0);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char from[PATH_MAX + 8], to[PATH_MAX + 8];
        snprintf(from, sizeof from, "%s%s", r->path, parts[i]);
        snprintf(to, sizeof to, "%s%s", r->kept, parts[i]);
        if (lstat(from, &st) == 0 && !copy_file(from, to)) {
            const int why = errno;
            if (why != EEXIST) { // half a copy is none
                drop(r->kept);
            }
            return fail(r, "cannot keep a copy of the store", why);
        }
    }
    say(r, "the damaged store is kept as %s", r->kept);
    return PONS_OK;
}

// ---- rows ---------------------------------------------------------------------------------------

typedef struct mover {
    repair *r;
    const table *t;
    sqlite3_stmt *put;
    int64_t moved, unfit;
    int64_t last; // key of the row that was read last
    bool stuck;   // a page could not be read
} mover;

static bool readable(sql_conn *c)
{
    sqlite3_db_config(c->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    return sqlite3_exec(c->db,
                        "PRAGMA writable_schema=ON; SELECT count(*) FROM sqlite_master;"
                        "SELECT 1 FROM checkpoint LIMIT 0; SELECT 1 FROM thread LIMIT 0",
                        NULL, NULL, NULL) == SQLITE_OK;
}

// The pages of the schema, which in a new store are all but the map (2) and the roots of its tables,
// from the new file into a copy of the damaged one.
static int graft_schema(repair *r)
{
    char work[PATH_MAX + 8];
    snprintf(work, sizeof work, "%s.pages", r->fresh);
    pons__sql_close(&r->from);
    sqlite3_exec(r->into.db, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL);
    bool roots[256] = {[2] = true};
    sqlite3_stmt *st = NULL;
    sqlite3_prepare_v2(r->into.db, "SELECT rootpage FROM sqlite_master WHERE rootpage>0", -1, &st,
                       NULL);
    while (sqlite3_step(st) == SQLITE_ROW) {
        const int page = sqlite3_column_int(st, 0);
        if (page < 256) {
            roots[page] = true;
        }
    }
    sqlite3_finalize(st);
    struct stat old = {0}, fresh = {0};
    uint8_t page[PAGE_BYTES];
    drop(work);
    bool good = copy_file(r->path, work);
    const int from = open(r->fresh, O_RDONLY | O_CLOEXEC), to = open(work, O_RDWR | O_CLOEXEC);
    good = good && from >= 0 && to >= 0 && fstat(to, &old) == 0 && old.st_size >= PAGE_BYTES &&
           fstat(from, &fresh) == 0;
    for (int i = 1; good && i < 256; i++) {
        const off_t at = (off_t)(i - 1) * PAGE_BYTES;
        if (pread(from, page, sizeof page, at) != (ssize_t)sizeof page) {
            break;
        }
        if (i == 1) { // as many pages as there are, the schema's own among them, none of them free
            const off_t most = old.st_size > fresh.st_size ? old.st_size : fresh.st_size;
            const uint32_t pages = (uint32_t)(most / PAGE_BYTES);
            const uint8_t n[4] = {(uint8_t)(pages >> 24), (uint8_t)(pages >> 16),
                                  (uint8_t)(pages >> 8), (uint8_t)pages};
            memcpy(page + 28, n, sizeof n);
            memcpy(page + 92, page + 24, sizeof n);
            memset(page + 32, 0, 8);
        }
        good = roots[i] || pwrite(to, page, sizeof page, at) == (ssize_t)sizeof page;
    }
    if (from >= 0) {
        close(from);
    }
    if (to >= 0) {
        close(to);
    }
    int rc = good ? pons__sql_open(&r->from, work, "pons.db", SQLITE_OPEN_READWRITE, r->err)
                  : PONS_ECORRUPT;
    if (rc || !readable(&r->from)) {
        return pons_error_set(r->err, PONS_ECORRUPT, "store", "nothing of the store can be read");
    }
    say(r,
        "the file's first pages cannot be read: its tables are looked for where they always are");
    return PONS_OK;
}

static int open_both(repair *r)
{
    int rc = pons__sql_open(&r->into, r->fresh, "the repaired store",
                            SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, r->err);
    rc = rc ? rc : pons__schema_check(&r->into, r->fresh, r->err);
    if (!rc) {
        chmod(r->fresh, 0600);
        rc = pons__sql_open(&r->from, r->path, "pons.db", SQLITE_OPEN_READWRITE, r->err);
    }
    if (rc) {
        return rc;
    }
    if (!readable(&r->from)) {
        rc = graft_schema(r);
    }
    if (!rc) {
        sqlite3_exec(r->into.db, "DELETE FROM meta; BEGIN IMMEDIATE", NULL, NULL, NULL);
    }
    return rc;
}

// Rows of one reading, until its end or to what cannot be read.
static bool read_rows(mover *m, const char *sql, int64_t from)
{
    sqlite3_stmt *st = NULL;
    int64_t left = pons__sql_budget(m->r->from.db); // pages may lead back to themselves
    int code = sqlite3_prepare_v2(m->r->from.db, sql, -1, &st, NULL);
    bool some = false;
    sqlite3_progress_handler(m->r->from.db, PONS__SQL_STEPS, pons__sql_spend, &left);
    sqlite3_bind_int64(st, 1, from);
    while (code == SQLITE_OK && (code = sqlite3_step(st)) == SQLITE_ROW) {
        code = SQLITE_OK;
        some = true;
        m->last = sqlite3_column_int64(st, 0);
        if (!sqlite3_column_int(st, m->t->n)) {
            m->unfit++;
            continue;
        }
        for (int i = 0; i < m->t->n; i++) {
            sqlite3_bind_value(m->put, i + 1, sqlite3_column_value(st, i));
        }
        code = sqlite3_step(m->put) == SQLITE_DONE ? SQLITE_OK : sqlite3_errcode(m->r->into.db);
        m->moved += code == SQLITE_OK ? sqlite3_changes(m->r->into.db) : 0;
        sqlite3_reset(m->put);
        if ((code & 0xff) == SQLITE_CONSTRAINT || (code & 0xff) == SQLITE_MISMATCH) {
            code = SQLITE_OK; // a row that cannot be
        }
    }
    sqlite3_finalize(st);
    sqlite3_progress_handler(m->r->from.db, 0, NULL, NULL);
    m->stuck = code != SQLITE_DONE;
    return some;
}

static int move_rows(repair *r, const table *t)
{
    char up[600], down[600], put[300];
    const char *summed = t->key && strcmp(t->key, "key") != 0 ? strchr(t->columns, ',') + 1
                                                              : t->columns; // no tid, nid, wid
    const char *key = t->key ? t->key : "1"; // else by the first column
    snprintf(up, sizeof up, "SELECT %s, sum IS pons_sum('%s',%s) FROM %s WHERE %s>=?1 ORDER BY %s",
             t->columns, t->name, summed, t->name, key, key);
    snprintf(down, sizeof down,
             "SELECT %s, sum IS pons_sum('%s',%s) FROM %s WHERE ?1=0 ORDER BY %s DESC", t->columns,
             t->name, summed, t->name, key);
    snprintf(put, sizeof put, "INSERT OR IGNORE INTO %s(%s) VALUES(%.*s)", t->name, t->columns,
             t->n * 2 - 1, "?,?,?,?,?,?,?,?,?,?,?,?");
    mover m = {.r = r, .t = t, .last = INT64_MIN};
    if (sqlite3_prepare_v2(r->into.db, put, -1, &m.put, NULL) != SQLITE_OK) {
        return fail(r, "cannot write the repaired store", 0);
    }
    read_rows(&m, up, INT64_MIN);
    const bool stuck = m.stuck;
    int64_t at = m.last == INT64_MIN ? 0 : m.last, leap = 1;
    for (int i = 0; m.stuck && t->key && i < LEAPS_MAX && at <= INT64_MAX - leap; i++) {
        at += leap;
        const bool some = read_rows(&m, up, at);
        leap = some && m.last >= at ? 1 : leap <= LEAP_MAX ? leap * 4 : leap;
        at = m.last > at ? m.last : at; // on, also where keys lead back
    }
    if (stuck) {
        read_rows(&m, down, 0);
        say(r, "%s: a part of the table cannot be read; %lld rows are saved", t->name,
            (long long)m.moved);
    }
    if (t->index && (stuck || m.unfit)) {
        const int64_t before = m.moved;
        read_rows(&m, t->index, 0);
        if (m.moved > before) {
            say(r, "%s: %lld names are taken from the index", t->name,
                (long long)(m.moved - before));
        }
    }
    if (m.unfit) {
        say(r, "%s: %lld rows with a wrong checksum are left out", t->name, (long long)m.unfit);
    }
    sqlite3_finalize(m.put);
    return PONS_OK;
}

// ---- what is left -------------------------------------------------------------------------------

typedef struct first {
    char line[200];
} first;

static int mend_all(repair *r)
{
    for (size_t i = 0; i < sizeof mends / sizeof *mends; i++) {
        int64_t changed = 0, before;
        do {
            before = sqlite3_total_changes64(r->into.db);
            if (sqlite3_exec(r->into.db, mends[i].sql, NULL, NULL, NULL) != SQLITE_OK) {
                return fail(r, "cannot write the repaired store", 0);
            }
            changed += sqlite3_total_changes64(r->into.db) - before;
        } while (mends[i].again && sqlite3_total_changes64(r->into.db) > before);
        if (changed && mends[i].said) {
            say(r, "%s (%lld)", mends[i].said, (long long)changed);
        }
    }
    return PONS_OK;
}

static int sum_all(repair *r)
{
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        const table *t = &tables[i];
        const bool named = t->key && strcmp(t->key, "key") != 0;
        char sql[300];
        snprintf(sql, sizeof sql, "UPDATE %s SET sum=pons_sum('%s',%s)", t->name, t->name,
                 named ? strchr(t->columns, ',') + 1 : t->columns);
        if (sqlite3_exec(r->into.db, sql, NULL, NULL, NULL) != SQLITE_OK) {
            return fail(r, "cannot write the repaired store", 0);
        }
    }
    return sqlite3_exec(r->into.db, "COMMIT; PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL) ==
                   SQLITE_OK
               ? PONS_OK
               : fail(r, "cannot write the repaired store", 0);
}

static void hear(void *user, bool damage, const char *line)
{
    first *f = user;
    if (damage && !f->line[0]) {
        snprintf(f->line, sizeof f->line, "%s", line);
    }
}

// The old log must not be read into the new file, so it goes first; a copy of it is kept.
static int take_place(repair *r)
{
    first f = {0};
    int64_t damage = 0;
    int rc = pons_store_check(r->fresh, hear, &f, &damage, r->err);
    if (!rc && damage) {
        pons_error_set(r->err, PONS_ECORRUPT, "store", "the store could not be repaired");
        pons_error_cause(r->err, "%s", f.line);
        return PONS_ECORRUPT;
    }
    char name[PATH_MAX + 8];
    const int fd = rc ? -1 : open(r->fresh, O_RDONLY | O_CLOEXEC);
    if (!rc && (fd < 0 || fsync(fd) != 0)) {
        rc = fail(r, "cannot sync the repaired store", errno);
    }
    if (fd >= 0) {
        close(fd);
    }
    for (int i = 0; !rc && i < 2; i++) {
        snprintf(name, sizeof name, "%s%s", r->path, i ? "-shm" : "-wal");
        if (unlink(name) != 0 && errno != ENOENT) {
            rc = fail(r, "cannot replace the log", errno);
        }
    }
    if (!rc && rename(r->fresh, r->path) != 0) {
        rc = fail(r, "cannot replace the store", errno);
    }
    return rc;
}

// ---- public functions ---------------------------------------------------------------------------

int pons_store_repair(const char *path, char *kept, size_t cap, pons_store_say_fn say_fn,
                      void *user, pons_error *err)
{
    pons_error own;
    repair r = {.path = path, .say = say_fn, .user = user, .err = err ? err : &own};
    if (snprintf(r.fresh, sizeof r.fresh, "%s.repair", path) >= (int)sizeof r.fresh) {
        return pons_error_set(r.err, PONS_EINVAL, "store", "the store's path is too long");
    }
    drop(r.fresh);
    int rc = nobody_there(path, r.err);
    rc = rc ? rc : keep_copy(&r);
    rc = rc ? rc : open_both(&r);
    for (size_t i = 0; !rc && i < sizeof tables / sizeof *tables; i++) {
        rc = move_rows(&r, &tables[i]);
    }
    rc = rc ? rc : mend_all(&r);
    rc = rc ? rc : sum_all(&r);
    pons__sql_close(&r.from);
    pons__sql_close(&r.into);
    rc = rc ? rc : take_place(&r);
    if (rc) {
        drop(r.fresh);
    }
    snprintf(kept, cap, "%s", r.kept);
    char work[PATH_MAX + 8];
    snprintf(work, sizeof work, "%s.pages", r.fresh);
    drop(work);
    return rc;
}
