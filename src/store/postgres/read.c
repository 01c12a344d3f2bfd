// read.c - everything that only reads.
//
// A read is one statement on a connection of its own, so one snapshot of the database. Rows come in
// one by one and are handed out as they come: a long history takes no more memory than a row. A
// callback may use the store: it gets another connection.
#include "store/postgres/postgres.h"

#include <stdlib.h>
#include <string.h>

// ---- the cursor ---------------------------------------------------------------------------------

static void open_at(sql_cursor *c, pg_sql id, sql_args args)
{
    pg_conn *conn = c->conn = pons__pg_take(c->store, c->err);
    c->status = conn ? pons__pg_prepare(conn, id, c->err) : c->err->status;
    if (!c->status && !pons__pg_send(conn, id, args)) {
        c->status = pons__pg_fail(conn, NULL, c->err);
    }
    if (!c->status) {
        PQsetSingleRowMode(conn->c);
    }
}

static void cursor_open(sql_cursor *c, sql_query q, sql_args args)
{
    static const pg_sql of[QUERY_COUNT] = {
        [QUERY_HISTORY] = PG_HISTORY,
        [QUERY_RECORDS] = PG_RECORDS,
        [QUERY_NAMESPACES] = PG_SPACES,
        [QUERY_INBOX] = PG_INBOX,
        [QUERY_EFFECT] = PG_EFFECT,
        [QUERY_EFFECTS] = PG_EFFECTS,
        [QUERY_EVENTS] = PG_EVENTS,
        [QUERY_EVENT_LAST] = PG_EVENT_LAST,
        [QUERY_ITEM] = PG_ITEM_GET,
        [QUERY_ITEMS] = PG_ITEMS,
        [QUERY_ITEMS_UNDER] = PG_ITEMS,
        [QUERY_ITEM_SPACES] = PG_ITEM_SPACES,
        [QUERY_SESSION] = PG_SESSION_GET,
        [QUERY_SESSIONS] = PG_SESSION_LIST,
        [QUERY_SESSIONS_LIVE] = PG_SESSION_LIVE,
        [QUERY_RUNNERS] = PG_RUNNERS,
    };
    const bool found = of[q] == PG_ITEMS && args.at[2].text; // an index of words finds them
    open_at(c, found ? PG_ITEMS_FOUND : of[q], args);
}

static bool cursor_next(sql_cursor *c)
{
    PQclear(c->row);
    c->row = NULL;
    if (c->status) {
        return false;
    }
    PGresult *res = pons__pg_result(c->conn);
    ExecStatusType status = PQresultStatus(res);
    if (res && status == PGRES_SINGLE_TUPLE) {
        c->row = res;
        return true;
    }
    if (!res || status != PGRES_TUPLES_OK) { // which ends them
        c->status = pons__pg_fail(c->conn, res, c->err);
    }
    PQclear(res);
    return false;
}

// Rows that nobody wants any more are read and dropped.
static void cursor_close(sql_cursor *c)
{
    PQclear(c->row);
    for (PGresult *res; c->conn && (res = pons__pg_result(c->conn));) {
        PQclear(res);
    }
    pons__pg_give(c->store, c->conn);
}

static int64_t cursor_number(const sql_cursor *c, int col)
{
    return pons__pg_col_int(c->row, c->at, col);
}

static const char *cursor_text(const sql_cursor *c, int col)
{
    return pons__pg_col_text(c->row, c->at, col);
}

static pons_bytes cursor_bytes(const sql_cursor *c, int col)
{
    return pons__pg_col_bytes(c->row, c->at, col);
}

static void cursor_id(const sql_cursor *c, int col, char *ret, size_t cap)
{
    pons__pg_col_id(c->row, c->at, col, ret, cap);
}

static bool cursor_whole(sql_cursor *c)
{
    return !c->status;
}

static int place_of(void *self, const char *thread, const char *ns, const char *id, int64_t *ret,
                    pons_error *err)
{
    const sql_args args = ARGS(arg_text(thread), arg_text(ns), arg_id(id));
    const int rc = pons__pg_number(self, PG_CP_FIND, args, ret, err);
    return rc || *ret ? rc : PONS_ENOTFOUND;
}

const sql_reads pons__pg_reads = {
    .open = cursor_open,
    .next = cursor_next,
    .close = cursor_close,
    .number = cursor_number,
    .text = cursor_text,
    .bytes = cursor_bytes,
    .id = cursor_id,
    .whole = cursor_whole,
    .place = place_of,
    .quote = '\'',
    .joint = " | ",
    .never = "'\\",
};

// ---- chains -------------------------------------------------------------------------------------

// A chain is whole when its first row is a snapshot or has no parent. id NULL: the newest.
int pons__pg_checkpoint(void *self, const char *thread, const char *ns, const char *id,
                        pons_checkpoint_fn fn, void *user, pons_error *err)
{
    sql_cursor c;
    bool any = false;
    pons__cursor_init(&c, self, err);
    const sql_arg args[] = {arg_text(thread), arg_text(ns), arg_id(id)};
    open_at(&c, id ? PG_CHECKPOINT : PG_HEAD, (sql_args){args, id ? 3 : 2});
    while (cursor_next(&c)) {
        pons_checkpoint_row row;
        pons__cursor_checkpoint(&c, &row);
        if (!any && !row.snapshot && row.parent[0]) {
            c.status = pons_error_set(c.err, PONS_ECORRUPT, "store",
                                      "checkpoint %s has lost its parent %s", row.id, row.parent);
            break;
        }
        any = true;
        if (fn(user, &row)) {
            break;
        }
    }
    if (!c.status && !any) {
        c.status = pons__store_no_checkpoint(c.err, thread, ns, id);
    }
    cursor_close(&c);
    return c.status;
}

int pons__pg_head(void *self, const char *thread, const char *ns, pons_checkpoint_fn fn, void *user,
                  pons_error *err)
{
    return pons__pg_checkpoint(self, thread, ns, NULL, fn, user, err);
}

// ---- threads ------------------------------------------------------------------------------------

int pons__pg_threads(void *self, pons_thread_fn fn, void *user, pons_error *err)
{
    return pons__pg_thread_list(self, NULL, true, fn, user, err);
}

int pons__pg_thread_list(void *self, const char *thread, bool sizes, pons_thread_fn fn, void *user,
                         pons_error *err)
{
    int rc = thread ? pons__store_check_thread(thread, err) : PONS_OK;
    if (rc) {
        return rc;
    }
    sql_cursor c;
    bool any = false;
    pons__cursor_init(&c, self, err);
    open_at(&c, sizes ? PG_THREADS : PG_THREAD_LIST, ARGS(arg_text(thread)));
    while (cursor_next(&c)) {
        pons_thread_info info = {
            .thread = cursor_text(&c, 0),
            .created_ms = cursor_number(&c, 1),
            .updated_ms = cursor_number(&c, 2),
            .checkpoints = cursor_number(&c, 3),
            .events = cursor_number(&c, 4),
            .bytes = cursor_number(&c, 5),
            .holder_pid = cursor_number(&c, 6),
        };
        info.holder_host = info.holder_pid ? cursor_text(&c, 7) : "";
        if (!PQgetisnull(c.row, 0, 8)) {
            info.note = cursor_bytes(&c, 8);
        }
        any = true;
        if (fn(user, &info)) {
            break;
        }
    }
    if (thread && !any && !c.status) {
        c.status = pons_error_set(c.err, PONS_ENOTFOUND, "store", "there is no thread %s", thread);
    }
    cursor_close(&c);
    return c.status;
}
