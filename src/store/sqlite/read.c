// read.c - everything that only reads.
//
// A read takes an idle connection, or opens one, and gives it back at the end: readers never wait
// for the writer nor for each other, and a callback that reads or commits again uses another
// connection. Rows are handed out as they are found, from one snapshot of the file.
#include "store/sqlite/internal.h"

#include <stdlib.h>
#include <string.h>

#define READERS_IDLE 4 // connections kept

// A read under way: its connection and statement. What may fail has filled err.
typedef struct reading {
    sq *s;
    sql_conn *c;
    sqlite3_stmt *st;
    pons_error *err;
    pons_error own; // when the caller gave none
} reading;

// ---- helpers ------------------------------------------------------------------------------------

// Counts and lengths of one thread. `bytes` is the rows' own plus ROW_OVERHEAD each: about what the
// file spends on them.
#define ROW_OVERHEAD 40

static int abandon(reading *r, int status)
{
    if (r->st) {
        sqlite3_reset(r->st);
    }
    pons__reader_give(r->s, r->c);
    return status;
}

static int open_reading(reading *r, sq *s, sql_id statement, pons_error *err)
{
    *r = (reading){.s = s};
    r->err = err ? err : &r->own;
    r->c = pons__reader_take(s, r->err);
    if (!r->c) {
        return r->err->status;
    }
    r->st = pons__sql(r->c, statement, r->err);
    return r->st ? PONS_OK : abandon(r, r->err->status);
}

static int next(reading *r)
{
    return pons__sql_step(r->c, r->st, r->err);
}

// code: SQLITE_DONE, SQLITE_ROW when it was stopped early, else an error that r->err tells.
static int finish(reading *r, int code)
{
    return abandon(r, code == SQLITE_DONE || code == SQLITE_ROW ? PONS_OK : r->err->status);
}

// A column may need memory to be given: without it, the row has a hole.
static bool lost(reading *r, int *code)
{
    if ((sqlite3_errcode(r->c->db) & 0xff) != SQLITE_NOMEM) {
        return false;
    }
    *code = SQLITE_NOMEM;
    pons__sql_fail(r->c, SQLITE_NOMEM, r->err, "cannot read the store");
    return true;
}

// PONS_ENOTFOUND without touching err.
static int find_ns(reading *r, const char *thread, const char *ns, int64_t *ret)
{
    sqlite3_stmt *st = pons__sql(r->c, SQL_NS_FIND, r->err);
    if (!st) {
        return r->err->status;
    }
    sqlite3_bind_text(st, 1, thread, -1, SQLITE_STATIC);
    sqlite3_bind_text(st, 2, ns, -1, SQLITE_STATIC);
    int code = pons__sql_step(r->c, st, r->err);
    if (code == SQLITE_ROW) {
        *ret = sqlite3_column_int64(st, 0);
    }
    sqlite3_reset(st);
    return code == SQLITE_ROW ? PONS_OK : code == SQLITE_DONE ? PONS_ENOTFOUND : r->err->status;
}

static int lost_parent(reading *r, int64_t key)
{
    return pons_error_set(r->err, PONS_ECORRUPT, "store",
                          "the parent of checkpoint %lld is not in the store",
                          (long long)key_seq(key));
}

// One link of the chain: the key of the parent, or 0 when the chain ends at `key`.
static int parent_of(reading *r, int64_t key, int64_t *ret)
{
    sqlite3_stmt *st = pons__sql(r->c, SQL_CP_STEP, r->err);
    if (!st) {
        return r->err->status;
    }
    sqlite3_bind_int64(st, 1, key);
    int code = pons__sql_step(r->c, st, r->err);
    char id[32] = "";
    *ret = 0;
    if (code == SQLITE_ROW && !(sqlite3_column_int64(st, 2) & 1)) {
        if (sqlite3_column_type(st, 1) == SQLITE_INTEGER) {
            *ret = key - sqlite3_column_int64(st, 1);
        } else {
            pons__id_column(st, 1, id, sizeof id);
        }
    }
    sqlite3_reset(st);
    if (code != SQLITE_ROW) {
        return code == SQLITE_DONE ? lost_parent(r, key) : r->err->status;
    }
    if (!id[0]) {
        return PONS_OK;
    }
    int rc = pons__checkpoint_key(r->c, key >> KEY_SEQ_BITS, id, ret, r->err);
    return rc == PONS_ENOTFOUND ? lost_parent(r, key) : rc;
}

// The keys from a checkpoint back to the nearest snapshot, newest first. *ret_keys is freed by the
// caller, also on failure.
static int walk(reading *r, int64_t key, int64_t **ret_keys, size_t *ret_n)
{
    size_t cap = 0;
    *ret_n = 0;
    while (key) {
        if (*ret_n == cap) {
            cap = cap ? cap * 2 : 64;
            int64_t *bigger = realloc(*ret_keys, cap * sizeof *bigger);
            if (!bigger) {
                return pons_error_set(r->err, PONS_ENOMEM, "store", "out of memory");
            }
            *ret_keys = bigger;
        }
        (*ret_keys)[(*ret_n)++] = key;
        int64_t parent;
        int rc = parent_of(r, key, &parent);
        if (rc) {
            return rc;
        }
        if (parent >= key) { // parents are older: a circle is damage
            return lost_parent(r, key);
        }
        key = parent;
    }
    return PONS_OK;
}

static void column_checkpoint(reading *r, pons_checkpoint_row *ret)
{
    int64_t meta = sqlite3_column_int64(r->st, 3);
    *ret = (pons_checkpoint_row){.step = meta >> 1, .snapshot = meta & 1};
    pons__id_column(r->st, 1, ret->id, sizeof ret->id);
    pons__id_column(r->st, 2, ret->parent, sizeof ret->parent);
    ret->data = pons__bytes_column(r->st, 4);
}

static int give_chain(reading *r, const int64_t *keys, size_t n, pons_checkpoint_fn fn, void *user)
{
    r->st = pons__sql(r->c, SQL_CP_GET, r->err);
    if (!r->st) {
        return r->err->status;
    }
    for (size_t i = n; i-- > 0;) {
        sqlite3_bind_int64(r->st, 1, keys[i]);
        int code = next(r);
        if (code != SQLITE_ROW) {
            return code == SQLITE_DONE ? lost_parent(r, keys[i]) : r->err->status;
        }
        pons_checkpoint_row row;
        column_checkpoint(r, &row);
        if (lost(r, &code)) {
            return r->err->status;
        }
        int stop = fn(user, &row);
        sqlite3_reset(r->st);
        if (stop) {
            break;
        }
    }
    return PONS_OK;
}

static int column_effect(reading *r, pons_effect_fn fn, void *user, int *code)
{
    pons_effect_row row = {
        .ns = pons__text_column(r->st, 1),
        .state = sqlite3_column_int(r->st, 2),
        .created = sqlite3_column_int64(r->st, 3),
        .updated = sqlite3_column_int64(r->st, 4),
        .data = pons__bytes_column(r->st, 5),
    };
    pons__id_column(r->st, 0, row.id, sizeof row.id);
    return lost(r, code) || fn(user, &row);
}

static int describe(sq *s, sql_conn *c, pons_thread_info *info, int64_t tid, pons_error *err)
{
    (void)s;
    static const sql_id sizes[] = {SQL_SIZE_CP, SQL_SIZE_RECORD, SQL_SIZE_EVENT, SQL_SIZE_EFFECT,
                                   SQL_SIZE_INBOX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        sqlite3_stmt *st = pons__sql(c, sizes[i], err);
        if (!st) {
            return err->status;
        }
        sqlite3_bind_int64(st, 1, tid);
        if (sizes[i] != SQL_SIZE_RECORD) {
            sqlite3_bind_int64(st, 2, KEY_SEQ_MAX);
        }
        int code = pons__sql_step(c, st, err);
        if (code != SQLITE_ROW) {
            return code == SQLITE_DONE ? PONS_EIO : err->status;
        }
        int64_t rows = sqlite3_column_int64(st, 0);
        info->bytes += sqlite3_column_int64(st, 1) + rows * ROW_OVERHEAD;
        if (sizes[i] == SQL_SIZE_CP) {
            info->checkpoints = rows;
        }
        if (sizes[i] == SQL_SIZE_EVENT) {
            info->events = rows;
        }
        // The thread's row is not touched by a commit; its newest rows tell the time.
        int64_t newest = sqlite3_column_count(st) > 2 ? sqlite3_column_int64(st, 2) : 0;
        if (newest > info->updated_ms) {
            info->updated_ms = newest;
        }
        sqlite3_reset(st);
    }
    return PONS_OK;
}

// What is noted of a thread: borrowed from *ret_st until that is reset.
static int read_note(const sq *s, sql_conn *c, int64_t tid, pons_bytes *ret, sqlite3_stmt **ret_st,
                     pons_error *err)
{
    if (!pons__sq_has_items(s)) {
        return PONS_OK;
    }
    sqlite3_stmt *st = pons__sql(c, SQL_NOTE_GET, err);
    if (!st) {
        return err->status;
    }
    sqlite3_bind_int64(st, 1, tid);
    const int code = pons__sql_step(c, st, err);
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        return err->status;
    }
    *ret = code == SQLITE_ROW ? pons__bytes_column(st, 0) : (pons_bytes){0};
    *ret_st = st;
    return PONS_OK;
}

// ---- public functions ---------------------------------------------------------------------------

sql_conn *pons__reader_take(sq *s, pons_error *err)
{
    pthread_mutex_lock(&s->readers_mtx);
    sql_conn *c = s->idle;
    if (c) {
        s->idle = c->next;
        s->n_idle--;
    }
    pthread_mutex_unlock(&s->readers_mtx);
    if (c) {
        return c;
    }
    c = malloc(sizeof *c);
    if (!c) {
        pons_error_set(err, PONS_ENOMEM, "store", "out of memory");
        return NULL;
    }
    if (pons__sql_open(c, s->where.path ? s->where.path : s->path, s->name,
                       s->where.path ? s->where.flags : SQLITE_OPEN_READWRITE, err)) {
        free(c);
        return NULL;
    }
    if (s->where.path && !s->where.copy) {
        pons__sql_only_reads(c);
    }
    return c;
}

void pons__reader_give(sq *s, sql_conn *c)
{
    if (!c) {
        return;
    }
    // One that could not end its transaction would keep the log from starting anew.
    const bool sound = sqlite3_get_autocommit(c->db);
    pthread_mutex_lock(&s->readers_mtx);
    bool keep = sound && s->n_idle < READERS_IDLE;
    if (keep) {
        c->next = s->idle;
        s->idle = c;
        s->n_idle++;
    }
    pthread_mutex_unlock(&s->readers_mtx);
    if (keep) {
        return;
    }
    pons__sql_close(c);
    free(c);
}

void pons__readers_close(sq *s)
{
    while (s->idle) {
        sql_conn *c = s->idle;
        s->idle = c->next;
        pons__sql_close(c);
        free(c);
    }
    s->n_idle = 0;
}

// ---- checkpoints --------------------------------------------------------------------------------

int pons__sq_head(void *self, const char *thread, const char *ns, pons_checkpoint_fn fn, void *user,
                  pons_error *err)
{
    return pons__sq_checkpoint(self, thread, ns, NULL, fn, user, err);
}

int pons__sq_checkpoint(void *self, const char *thread, const char *ns, const char *id,
                        pons_checkpoint_fn fn, void *user, pons_error *err)
{
    reading r;
    int rc = open_reading(&r, self, SQL_CP_LAST, err);
    if (rc) {
        return rc;
    }
    int64_t nid = 0, key = 0, *keys = NULL;
    size_t n = 0;
    rc = pons__sql_do(r.c, SQL_BEGIN_READ, r.err); // one snapshot for all that follows
    if (rc) {
        return abandon(&r, rc);
    }
    rc = find_ns(&r, thread, ns, &nid);
    if (!rc && id) {
        rc = pons__checkpoint_key(r.c, nid, id, &key, r.err);
    } else if (!rc) {
        sqlite3_bind_int64(r.st, 1, key_of(nid, 0));
        sqlite3_bind_int64(r.st, 2, key_of(nid, KEY_SEQ_MAX));
        int code = next(&r);
        key = code == SQLITE_ROW ? sqlite3_column_int64(r.st, 0) : 0;
        sqlite3_reset(r.st);
        rc = code == SQLITE_ROW ? PONS_OK : code == SQLITE_DONE ? PONS_ENOTFOUND : r.err->status;
    }
    if (!rc) {
        rc = walk(&r, key, &keys, &n);
    } else if (rc == PONS_ENOTFOUND && id) {
        pons_error_set(r.err, rc, "store", "thread %s has no checkpoint %s", thread, id);
    } else if (rc == PONS_ENOTFOUND) {
        pons_error_set(r.err, rc, "store", "thread %s has no checkpoint in '%s'", thread, ns);
    }
    if (!rc) {
        rc = give_chain(&r, keys, n, fn, user);
    }
    free(keys);
    pons_error ignored;
    pons__sql_do(r.c, SQL_COMMIT, &ignored);
    return abandon(&r, rc);
}

int pons__sq_history(void *self, const char *thread, const char *ns, const char *before,
                     int64_t limit, pons_checkpoint_fn fn, void *user, pons_error *err)
{
    reading r;
    int rc = open_reading(&r, self, SQL_CP_HISTORY, err);
    if (rc) {
        return rc;
    }
    int64_t nid, key = 0;
    rc = find_ns(&r, thread, ns, &nid);
    const bool some = before && before[0];
    if (!rc && some) {
        rc = pons__checkpoint_key(r.c, nid, before, &key, r.err);
    }
    if (rc == PONS_ENOTFOUND && some) {
        pons_error_set(r.err, rc, "store", "thread %s has no checkpoint %s", thread, before);
    } else if (rc == PONS_ENOTFOUND) {
        return abandon(&r, PONS_OK);
    }
    if (rc) {
        return abandon(&r, rc);
    }
    sqlite3_bind_int64(r.st, 1, key_of(nid, 0));
    sqlite3_bind_int64(r.st, 2, some ? key - 1 : key_of(nid, KEY_SEQ_MAX));
    sqlite3_bind_int64(r.st, 3, limit > 0 ? limit : -1);
    int code;
    while ((code = next(&r)) == SQLITE_ROW) {
        pons_checkpoint_row row;
        column_checkpoint(&r, &row);
        if (lost(&r, &code) || fn(user, &row)) {
            break;
        }
    }
    return finish(&r, code);
}

int pons__sq_records(void *self, const char *thread, const char *ns, const char *checkpoint,
                     pons_record_fn fn, void *user, pons_error *err)
{
    reading r;
    int rc = open_reading(&r, self, SQL_RECORD_LIST, err);
    if (rc) {
        return rc;
    }
    int64_t nid;
    rc = find_ns(&r, thread, ns, &nid);
    if (rc) {
        return abandon(&r, rc == PONS_ENOTFOUND ? PONS_OK : rc);
    }
    sqlite3_bind_int64(r.st, 1, nid);
    pons__id_bind(r.st, 2, checkpoint);
    pons_record_row row = {0};
    strncpy(row.checkpoint, checkpoint, sizeof row.checkpoint - 1);
    int code;
    while ((code = next(&r)) == SQLITE_ROW) {
        memset(row.task, 0, sizeof row.task);
        strncpy(row.task, pons__text_column(r.st, 0), sizeof row.task - 1);
        row.idx = sqlite3_column_int(r.st, 1);
        row.data = pons__bytes_column(r.st, 2);
        if (lost(&r, &code) || fn(user, &row)) {
            break;
        }
    }
    return finish(&r, code);
}

int pons__sq_namespaces(void *self, const char *thread, int (*fn)(void *user, const char *ns),
                        void *user, pons_error *err)
{
    reading r;
    int rc = open_reading(&r, self, SQL_NS_LIST, err);
    if (rc) {
        return rc;
    }
    sqlite3_bind_text(r.st, 1, thread, -1, SQLITE_STATIC);
    sqlite3_bind_int64(r.st, 2, KEY_SEQ_MAX);
    int code;
    while ((code = next(&r)) == SQLITE_ROW) {
        const char *name = pons__text_column(r.st, 0);
        if (lost(&r, &code) || fn(user, name)) {
            break;
        }
    }
    return finish(&r, code);
}

// ---- inbox, effects, events ---------------------------------------------------------------------

int pons__sq_inbox_read(void *self, const char *thread, const char *ns, int64_t after,
                        pons_inbox_fn fn, void *user, pons_error *err)
{
    reading r;
    int rc = open_reading(&r, self, SQL_INBOX_LIST, err);
    if (rc) {
        return rc;
    }
    sqlite3_bind_text(r.st, 1, thread, -1, SQLITE_STATIC);
    sqlite3_bind_int64(r.st, 2, after > 0 ? after : 0);
    sqlite3_bind_int64(r.st, 3, KEY_SEQ_MAX);
    sqlite3_bind_text(r.st, 4, ns, -1, SQLITE_STATIC); // NULL: all
    int code;
    while ((code = next(&r)) == SQLITE_ROW) {
        pons_inbox_row row = {
            .seq = key_seq(sqlite3_column_int64(r.st, 0)),
            .ns = pons__text_column(r.st, 1),
            .kind = pons__text_column(r.st, 2),
            .value = pons__bytes_column(r.st, 3),
        };
        if (lost(&r, &code) || fn(user, &row)) {
            break;
        }
    }
    return finish(&r, code);
}

int pons__sq_effect_get(void *self, const char *thread, const char *id, pons_effect_fn fn,
                        void *user, pons_error *err)
{
    reading r;
    int rc = open_reading(&r, self, SQL_EFFECT_GET, err);
    if (rc) {
        return rc;
    }
    sqlite3_bind_text(r.st, 1, thread, -1, SQLITE_STATIC);
    pons__id_bind(r.st, 2, id);
    sqlite3_bind_int64(r.st, 3, KEY_SEQ_MAX);
    int code = next(&r);
    if (code == SQLITE_DONE) {
        pons_error_set(r.err, PONS_ENOTFOUND, "store", "thread %s has no effect %s", thread, id);
        return abandon(&r, PONS_ENOTFOUND);
    }
    if (code == SQLITE_ROW) {
        column_effect(&r, fn, user, &code);
    }
    return finish(&r, code);
}

int pons__sq_effects(void *self, const char *thread, uint32_t state_mask, pons_effect_fn fn,
                     void *user, pons_error *err)
{
    reading r;
    int rc = open_reading(&r, self, SQL_EFFECT_LIST, err);
    if (rc) {
        return rc;
    }
    sqlite3_bind_text(r.st, 1, thread, -1, SQLITE_STATIC);
    sqlite3_bind_int64(r.st, 2, state_mask);
    sqlite3_bind_int64(r.st, 3, KEY_SEQ_MAX);
    int code;
    while ((code = next(&r)) == SQLITE_ROW) {
        if (column_effect(&r, fn, user, &code)) {
            break;
        }
    }
    return finish(&r, code);
}

int pons__sq_events(void *self, const char *thread, int64_t after, int64_t limit, pons_event_fn fn,
                    void *user, pons_error *err)
{
    reading r;
    int rc = open_reading(&r, self, SQL_EVENT_LIST, err);
    if (rc) {
        return rc;
    }
    sqlite3_bind_text(r.st, 1, thread, -1, SQLITE_STATIC);
    sqlite3_bind_int64(r.st, 2, after > 0 ? after : 0);
    sqlite3_bind_int64(r.st, 3, KEY_SEQ_MAX);
    sqlite3_bind_int64(r.st, 4, limit > 0 ? limit : -1);
    int code;
    while ((code = next(&r)) == SQLITE_ROW) {
        pons_event_row row = {
            .seq = key_seq(sqlite3_column_int64(r.st, 0)),
            .ns = pons__text_column(r.st, 1),
            .ts_ms = sqlite3_column_int64(r.st, 2),
            .type = pons__text_column(r.st, 3),
            .payload = pons__bytes_column(r.st, 4),
        };
        if (lost(&r, &code) || fn(user, &row)) {
            break;
        }
    }
    return finish(&r, code);
}

int pons__sq_event_last(void *self, const char *thread, int64_t *ret_seq, pons_error *err)
{
    reading r;
    int rc = open_reading(&r, self, SQL_THREAD_GET, err);
    if (rc) {
        return rc;
    }
    sqlite3_bind_text(r.st, 1, thread, -1, SQLITE_STATIC);
    int code = next(&r);
    int64_t tid = code == SQLITE_ROW ? sqlite3_column_int64(r.st, 0) : 0;
    sqlite3_reset(r.st);
    int64_t seq = 0;
    if (code == SQLITE_ROW) {
        r.st = pons__sql(r.c, SQL_EVENT_LAST, r.err);
        if (!r.st) {
            return abandon(&r, r.err->status);
        }
        sqlite3_bind_int64(r.st, 1, key_of(tid, 0));
        sqlite3_bind_int64(r.st, 2, key_of(tid, KEY_SEQ_MAX));
        code = next(&r);
        if (code == SQLITE_ROW) {
            seq = key_seq(sqlite3_column_int64(r.st, 0));
        }
    }
    rc = finish(&r, code);
    if (!rc) {
        *ret_seq = seq;
    }
    return rc;
}

// ---- threads ------------------------------------------------------------------------------------

int pons__sq_threads(void *self, pons_thread_fn fn, void *user, pons_error *err)
{
    return pons__sq_thread_list(self, NULL, true, fn, user, err);
}

int pons__sq_thread_list(void *self, const char *thread, bool sizes, pons_thread_fn fn, void *user,
                         pons_error *err)
{
    sq *s = self;
    reading r;
    int rc = thread ? pons__store_check_thread(thread, err) : PONS_OK;
    rc = rc ? rc : open_reading(&r, s, thread ? SQL_THREAD_ONE : SQL_THREAD_LIST, err);
    if (rc) {
        return rc;
    }
    if (thread) {
        sqlite3_bind_text(r.st, 1, thread, -1, SQLITE_STATIC);
    }
    int code;
    bool any = false;
    while ((code = next(&r)) == SQLITE_ROW) {
        pons_thread_info info = {
            .thread = pons__text_column(r.st, 1),
            .created_ms = sqlite3_column_int64(r.st, 2),
            .updated_ms = sqlite3_column_int64(r.st, 3),
        };
        lock_holder holder = {0};
        any = true;
        if (pons__lock_peek(s->locks, info.thread, &holder)) {
            info.holder_pid = holder.pid ? holder.pid : -1;
        }
        info.holder_host = holder.host;
        sqlite3_stmt *note = NULL;
        rc = sizes ? describe(s, r.c, &info, sqlite3_column_int64(r.st, 0), r.err) : PONS_OK;
        rc = rc ? rc : read_note(s, r.c, sqlite3_column_int64(r.st, 0), &info.note, &note, r.err);
        if (rc) {
            return abandon(&r, rc);
        }
        const bool over = lost(&r, &code) || fn(user, &info);
        if (note) {
            sqlite3_reset(note);
        }
        if (over) {
            break;
        }
    }
    if (thread && !any && code == SQLITE_DONE) {
        return abandon(
            &r, pons_error_set(r.err, PONS_ENOTFOUND, "store", "there is no thread %s", thread));
    }
    return finish(&r, code);
}
