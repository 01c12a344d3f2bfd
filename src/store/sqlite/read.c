// read.c - everything that only reads.
//
// A read takes an idle connection, or opens one, and gives it back at the end: readers never wait
// for the writer nor for each other, and a callback that reads or commits again uses another
// connection. Rows are handed out as they are found, from one snapshot of the file.
//
// A store in memory has one connection, which a callback may need. There all rows are copied first.
#include "pons/growing_list.h"
#include "store/sqlite/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READERS_IDLE 4  // connections kept
#define ROW_OVERHEAD 40 // bytes that the file spends on a row, about

// Since which schema there are

// ---- the cursor ---------------------------------------------------------------------------------

static bool open_at(sql_cursor *c, sql_id id, sql_args args)
{
    c->conn = pons__reader_take(c->store, c->err);
    c->row = c->conn ? pons__sql_bound(c->conn, id, args, c->err) : NULL;
    c->status = c->row ? PONS_OK : c->err->status;
    return c->row;
}

static void cursor_open(sql_cursor *c, sql_query q, sql_args args)
{
    static const sql_id of[QUERY_COUNT] = {
        [QUERY_HISTORY] = SQL_CP_HISTORY,
        [QUERY_RECORDS] = SQL_RECORD_LIST,
        [QUERY_NAMESPACES] = SQL_NS_LIST,
        [QUERY_INBOX] = SQL_INBOX_LIST,
        [QUERY_EFFECT] = SQL_EFFECT_GET,
        [QUERY_EFFECTS] = SQL_EFFECT_LIST,
        [QUERY_EVENTS] = SQL_EVENT_LIST,
        [QUERY_EVENT_LAST] = SQL_EVENT_NEWEST,
        [QUERY_ITEM] = SQL_ITEM_GET,
        [QUERY_ITEMS] = SQL_ITEM_ALL,
        [QUERY_ITEMS_UNDER] = SQL_ITEM_UNDER,
        [QUERY_ITEM_SPACES] = SQL_ITEM_SPACES,
        [QUERY_SESSION] = SQL_SESSION_GET,
        [QUERY_SESSIONS] = SQL_SESSION_LIST,
        [QUERY_SESSIONS_LIVE] = SQL_SESSION_LIVE,
        [QUERY_RUNNERS] = SQL_RUNNERS,
    };
    open_at(c, of[q], args);
}

static bool cursor_next(sql_cursor *c)
{
    const int code = c->row ? pons__sql_step(c->conn, c->row, c->err) : SQLITE_DONE;
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        c->status = c->err->status;
    }
    return code == SQLITE_ROW;
}

static void cursor_close(sql_cursor *c)
{
    sqlite3_reset(c->row);
    pons__reader_give(c->store, c->conn);
}

static int64_t cursor_number(const sql_cursor *c, int col)
{
    return sqlite3_column_int64(c->row, col);
}

static const char *cursor_text(const sql_cursor *c, int col)
{
    return pons__text_column(c->row, col);
}

static pons_bytes cursor_bytes(const sql_cursor *c, int col)
{
    return pons__bytes_column(c->row, col);
}

static void cursor_id(const sql_cursor *c, int col, char *ret, size_t cap)
{
    pons__id_column(c->row, col, ret, cap);
}

// A column may need memory to be given: without it, the row has a hole.
static bool cursor_whole(sql_cursor *c)
{
    if (pons__sql_lost(c->conn)) {
        c->status = pons__sql_fail(c->conn, SQLITE_NOMEM, c->err, "cannot read the store");
    }
    return !c->status;
}

// ---- the cursor of copied rows ------------------------------------------------------------------

typedef struct cell {
    const char *at; // what a text or a blob has, and a zero
    size_t n;
    int64_t number;
    bool text;
} cell;

typedef struct copied_row {
    struct copied_row *next;
    cell cells[];
} copied_row;

static bool copied_next(sql_cursor *c)
{
    copied_row *row = c->rest;
    free(c->row);
    c->row = row;
    c->rest = row ? row->next : NULL;
    return row;
}

static void copied_close(sql_cursor *c)
{
    while (copied_next(c)) {
    }
}

static void keep_row(sql_cursor *c, copied_rows *to)
{
    if (!pons__copy_row(to, c->row)) {
        c->status = pons_error_set(c->err, PONS_ENOMEM, "store", "out of memory");
    }
}

static void copied_open(sql_cursor *c, sql_query q, sql_args args)
{
    copied_rows all = {0};
    cursor_open(c, q, args);
    while (!c->status && cursor_next(c)) {
        keep_row(c, &all);
    }
    cursor_close(c);
    c->row = NULL;
    c->rest = all.first;
}

static const cell *cell_of(const sql_cursor *c, int col)
{
    return &((const copied_row *)c->row)->cells[col];
}

static int64_t copied_number(const sql_cursor *c, int col)
{
    return cell_of(c, col)->number;
}

static const char *copied_text(const sql_cursor *c, int col)
{
    return cell_of(c, col)->at;
}

static pons_bytes copied_bytes(const sql_cursor *c, int col)
{
    return (pons_bytes){cell_of(c, col)->at, cell_of(c, col)->n};
}

static void copied_id(const sql_cursor *c, int col, char *ret, size_t cap)
{
    const cell *id = cell_of(c, col);
    if (id->text) {
        snprintf(ret, cap, "%s", id->at);
    } else {
        pons__id_unpack((const uint8_t *)id->at, id->n, ret, cap);
    }
}

static bool copied_whole(sql_cursor *c)
{
    return !c->status;
}

// ---- helpers ------------------------------------------------------------------------------------

// PONS_ENOTFOUND without touching err.
static int find_ns(sql_conn *c, const char *thread, const char *ns, int64_t *ret, pons_error *err)
{
    const int rc = pons__sql_number(c, SQL_NS_FIND, ARGS(arg_text(thread), arg_text(ns)), ret, err);
    return rc || *ret ? rc : PONS_ENOTFOUND;
}

static int lost_parent(sql_cursor *r, int64_t key)
{
    return pons_error_set(r->err, PONS_ECORRUPT, "store",
                          "the parent of checkpoint %lld is not in the store",
                          (long long)key_seq(key));
}

// One link of the chain: the key of the parent, or 0 when the chain ends at `key`.
static int parent_of(sql_cursor *r, int64_t key, int64_t *ret)
{
    sqlite3_stmt *st;
    const int got = pons__sql_first(r->conn, SQL_CP_STEP, ARGS(arg_int(key)), &st, r->err);
    char id[32] = "";
    *ret = 0;
    if (got > 0 && !(sqlite3_column_int64(st, 2) & 1)) {
        if (sqlite3_column_type(st, 1) == SQLITE_INTEGER) {
            *ret = key - sqlite3_column_int64(st, 1);
        } else {
            pons__id_column(st, 1, id, sizeof id);
        }
    }
    sqlite3_reset(st);
    if (got <= 0) {
        return got < 0 ? got : lost_parent(r, key);
    }
    if (!id[0]) {
        return PONS_OK;
    }
    int rc = pons__checkpoint_key(r->conn, key >> KEY_SEQ_BITS, id, ret, r->err);
    return rc == PONS_ENOTFOUND ? lost_parent(r, key) : rc;
}

// The keys from a checkpoint back to the nearest snapshot, newest first. *ret_keys is freed by the
// caller, also on failure.
static int walk(sql_cursor *r, int64_t key, int64_t **ret_keys, size_t *ret_n)
{
    size_t cap = 0;
    *ret_n = 0;
    while (key) {
        if (!pons_list_reserve(ret_keys, &cap, *ret_n + 1, sizeof **ret_keys)) {
            return pons_error_set(r->err, PONS_ENOMEM, "store", "out of memory");
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

// The checkpoints of these keys, the last first.
static int copy_chain(sql_cursor *c, const int64_t *keys, size_t n, copied_rows *ret)
{
    for (size_t i = n; i-- > 0 && !c->status;) {
        c->row = pons__sql_bound(c->conn, SQL_CP_GET, ARGS(arg_int(keys[i])), c->err);
        if (!c->row || !cursor_next(c)) {
            return !c->row || c->status ? c->err->status : lost_parent(c, keys[i]);
        }
        keep_row(c, ret);
        sqlite3_reset(c->row);
    }
    return c->status;
}

static void give_chain(sql_cursor c, pons_checkpoint_fn fn, void *user) // fn NULL: only frees
{
    while (fn && copied_next(&c)) {
        pons_checkpoint_row row;
        pons__cursor_checkpoint(&c, &row);
        if (fn(user, &row)) {
            break;
        }
    }
    copied_close(&c);
}

// Counts and lengths of one thread. `bytes` is the rows' own plus ROW_OVERHEAD each: about what the
// file spends on them.
static int describe(sql_conn *c, pons_thread_info *info, int64_t tid, pons_error *err)
{
    static const sql_id sizes[] = {SQL_SIZE_CP, SQL_SIZE_RECORD, SQL_SIZE_EVENT, SQL_SIZE_EFFECT,
                                   SQL_SIZE_INBOX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        sqlite3_stmt *st;
        const int got = pons__sql_first(c, sizes[i], ARGS(arg_int(tid)), &st, err);
        if (got <= 0) {
            return got < 0 ? got : PONS_EIO;
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
    const int got = pons__sql_first(c, SQL_NOTE_GET, ARGS(arg_int(tid)), ret_st, err);
    *ret = got > 0 ? pons__bytes_column(*ret_st, 0) : (pons_bytes){0};
    return got < 0 ? got : PONS_OK;
}

// ---- public functions ---------------------------------------------------------------------------

bool pons__copy_row(copied_rows *to, sqlite3_stmt *st)
{
    const int width = sqlite3_column_count(st);
    size_t bytes = 0;
    for (int i = 0; i < width; i++) {
        const bool number = sqlite3_column_type(st, i) == SQLITE_INTEGER;
        bytes += number ? 0 : pons__bytes_column(st, i).len + 1;
    }
    copied_row *row = malloc(sizeof *row + (size_t)width * sizeof *row->cells + bytes);
    if (!row) {
        return false;
    }
    char *at = (char *)&row->cells[width];
    for (int i = 0; i < width; i++) {
        const int type = sqlite3_column_type(st, i);
        row->cells[i] = (cell){.at = type == SQLITE_INTEGER ? "" : at, .text = type == SQLITE_TEXT};
        if (type == SQLITE_INTEGER) {
            row->cells[i].number = sqlite3_column_int64(st, i);
            continue;
        }
        const pons_bytes data = pons__bytes_column(st, i);
        memcpy(at, data.data, data.len);
        at[data.len] = '\0';
        row->cells[i].n = data.len;
        at += data.len + 1;
    }
    row->next = NULL;
    if (to->last) {
        to->last->next = row;
    } else {
        to->first = row;
    }
    to->last = row;
    return (sqlite3_errcode(sqlite3_db_handle(st)) & 0xff) != SQLITE_NOMEM;
}

sql_cursor pons__copied_cursor(const copied_rows *rows)
{
    return (sql_cursor){.reads = &pons__sq_copied_reads, .rest = rows->first};
}

sql_conn *pons__reader_take(sq *s, pons_error *err)
{
    if (s->in_memory) {
        pons__writer_enter(s);
        return &s->w;
    }
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
    if (s->in_memory) {
        if (!sqlite3_get_autocommit(c->db)) {
            pons__tx_rollback(s);
        }
        pons__writer_leave(s);
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
    sql_cursor c;
    pons__cursor_init(&c, self, err);
    c.conn = pons__reader_take(self, c.err);
    int rc = c.conn ? pons__sql_do(c.conn, SQL_BEGIN_READ, c.err) : c.err->status;
    if (rc) { // one snapshot for all that follows
        pons__reader_give(self, c.conn);
        return rc;
    }
    int64_t nid = 0, key = 0, *keys = NULL;
    copied_rows chain = {0};
    size_t n = 0;
    rc = find_ns(c.conn, thread, ns, &nid, c.err);
    if (!rc && id) {
        rc = pons__checkpoint_key(c.conn, nid, id, &key, c.err);
    } else if (!rc) {
        const sql_args all = ARGS(arg_int(key_of(nid, 0)), arg_int(key_of(nid, KEY_SEQ_MAX)));
        rc = pons__sql_number(c.conn, SQL_CP_LAST, all, &key, c.err);
        rc = rc || key ? rc : PONS_ENOTFOUND;
    }
    if (!rc) {
        rc = walk(&c, key, &keys, &n);
        rc = rc ? rc : copy_chain(&c, keys, n, &chain);
    } else if (rc == PONS_ENOTFOUND) {
        pons__store_no_checkpoint(c.err, thread, ns, id);
    }
    free(keys);
    pons_error ignored;
    sqlite3_reset(c.row);
    pons__sql_do(c.conn, SQL_COMMIT, &ignored);
    pons__reader_give(self, c.conn);
    give_chain(pons__copied_cursor(&chain), rc ? NULL : fn, user);
    return rc;
}

static int place_of(void *self, const char *thread, const char *ns, const char *id, int64_t *ret,
                    pons_error *err)
{
    int64_t nid = 0;
    sql_conn *c = pons__reader_take(self, err);
    int rc = c ? find_ns(c, thread, ns, &nid, err) : err->status;
    rc = rc ? rc : pons__checkpoint_key(c, nid, id, ret, err);
    pons__reader_give(self, c);
    return rc;
}

#define OF_SQLITE .place = place_of, .quote = '"', .joint = " OR ", .never = "\""

const sql_reads pons__sq_copied_reads = {
    .open = copied_open,
    .next = copied_next,
    .close = copied_close,
    .number = copied_number,
    .text = copied_text,
    .bytes = copied_bytes,
    .id = copied_id,
    .whole = copied_whole,
    OF_SQLITE,
};

const sql_reads pons__sq_reads = {
    .open = cursor_open,
    .next = cursor_next,
    .close = cursor_close,
    .number = cursor_number,
    .text = cursor_text,
    .bytes = cursor_bytes,
    .id = cursor_id,
    .whole = cursor_whole,
    OF_SQLITE,
};

// ---- threads ------------------------------------------------------------------------------------

int pons__sq_threads(void *self, pons_thread_fn fn, void *user, pons_error *err)
{
    return pons__sq_thread_list(self, NULL, true, fn, user, err);
}

typedef struct listed {
    struct listed *next;
    pons_thread_info info;
    lock_holder holder;
    char text[]; // the name, a zero, the note
} listed;

// The thread that a cursor is at, as it will be told.
static int list_one(sql_cursor *c, bool sizes, listed **ret)
{
    sq *s = c->store;
    const int64_t tid = cursor_number(c, 0);
    pons_thread_info info = {
        .thread = cursor_text(c, 1),
        .created_ms = cursor_number(c, 2),
        .updated_ms = cursor_number(c, 3),
    };
    sqlite3_stmt *note = NULL;
    int rc = sizes ? describe(c->conn, &info, tid, c->err) : PONS_OK;
    rc = rc ? rc : read_note(s, c->conn, tid, &info.note, &note, c->err);
    if (!rc && !cursor_whole(c)) {
        rc = c->status;
    }
    const size_t name = strlen(info.thread) + 1;
    listed *t = rc ? NULL : malloc(sizeof *t + name + info.note.len);
    if (!rc && !t) {
        rc = pons_error_set(c->err, PONS_ENOMEM, "store", "out of memory");
    }
    if (t) {
        *t = (listed){.info = info};
        t->info.thread = memcpy(t->text, info.thread, name);
        if (info.note.len) {
            t->info.note.data = memcpy(t->text + name, info.note.data, info.note.len);
        }
        if (pons__lease_holder(s, info.thread, &t->holder)) {
            t->info.holder_pid = t->holder.pid ? t->holder.pid : -1;
        }
        t->info.holder_host = t->info.holder_pid ? t->holder.host : "";
    }
    sqlite3_reset(note);
    *ret = t;
    return rc;
}

static void give_list(listed *first, pons_thread_fn fn, void *user) // fn NULL: only frees
{
    while (first) {
        listed *t = first;
        first = t->next;
        fn = fn && fn(user, &t->info) ? NULL : fn;
        free(t);
    }
}

int pons__sq_thread_list(void *self, const char *thread, bool sizes, pons_thread_fn fn, void *user,
                         pons_error *err)
{
    sql_cursor c;
    listed *first = NULL, **end = &first;
    pons__cursor_init(&c, self, err);
    const int rc = thread ? pons__store_check_thread(thread, c.err) : PONS_OK;
    if (rc) {
        return rc;
    }
    open_at(&c, thread ? SQL_THREAD_ONE : SQL_THREAD_LIST,
            (sql_args){&(sql_arg){.type = ARG_TEXT, .text = thread}, thread != NULL});
    while (!c.status && cursor_next(&c)) {
        c.status = list_one(&c, sizes, end);
        end = c.status ? end : &(*end)->next;
    }
    cursor_close(&c);
    if (thread && !first && !c.status) {
        c.status = pons_error_set(c.err, PONS_ENOTFOUND, "store", "there is no thread %s", thread);
    }
    give_list(first, c.status ? NULL : fn, user);
    return c.status;
}
