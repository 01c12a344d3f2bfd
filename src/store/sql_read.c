// sql_read.c - what the stores of SQL share: everything that only reads rows.
//
// A read is one statement on a connection of its own, so it sees one state of the store. Rows are handed
// out as they are found: a long history takes no more memory than a row, and a callback that uses the store
// gets another connection.
#include "store/sql_read.h"

#include "pons/buf.h"
#include "store/commit_queue.h"

#include <stdlib.h>
#include <string.h>

// ---- the cursor ---------------------------------------------------------------------------------

void pons__cursor_init(sql_cursor *c, void *store, pons_error *err)
{
    const commit_queue *q = store;
    *c = (sql_cursor){.reads = q->ops->reads, .store = store};
    c->err = err ? err : &c->own;
}

static void open_query(sql_cursor *c, void *store, sql_query q, sql_args args, pons_error *err)
{
    pons__cursor_init(c, store, err);
    c->reads->open(c, q, args);
}

static bool next(sql_cursor *c)
{
    return !c->status && c->reads->next(c);
}

static int finish(sql_cursor *c)
{
    c->reads->close(c);
    return c->status;
}

static int64_t number(const sql_cursor *c, int col)
{
    return c->reads->number(c, col);
}

static const char *text(const sql_cursor *c, int col)
{
    return c->reads->text(c, col);
}

static pons_bytes bytes(const sql_cursor *c, int col)
{
    return c->reads->bytes(c, col);
}

// Whether a row's columns could all be had.
static bool whole(sql_cursor *c)
{
    return c->reads->whole(c);
}

static int64_t limit_of(int64_t limit)
{
    return limit > 0 ? limit : INT64_MAX;
}

// Hands out the only column of all rows.
static int give_names(sql_cursor *c, int (*fn)(void *user, const char *name), void *user)
{
    while (next(c)) {
        const char *name = text(c, 0);
        if (!whole(c) || fn(user, name)) {
            break;
        }
    }
    return finish(c);
}

// ---- checkpoints --------------------------------------------------------------------------------

void pons__cursor_checkpoint(const sql_cursor *c, pons_checkpoint_row *ret)
{
    *ret =
        (pons_checkpoint_row){.step = number(c, 2), .snapshot = number(c, 3), .data = bytes(c, 4)};
    c->reads->id(c, 0, ret->id, sizeof ret->id);
    c->reads->id(c, 1, ret->parent, sizeof ret->parent);
}

int pons__read_history(void *self, const char *thread, const char *ns, const char *before,
                       int64_t limit, pons_checkpoint_fn fn, void *user, pons_error *err)
{
    sql_cursor c;
    int64_t below = INT64_MAX;
    pons__cursor_init(&c, self, err);
    if (before && before[0]) {
        int rc = c.reads->place(self, thread, ns, before, &below, c.err);
        rc = rc == PONS_ENOTFOUND ? pons__store_no_checkpoint(c.err, thread, ns, before) : rc;
        if (rc) {
            return rc;
        }
    }
    c.reads->open(&c, QUERY_HISTORY,
                  ARGS(arg_text(thread), arg_text(ns), arg_int(below), arg_int(limit_of(limit))));
    while (next(&c)) {
        pons_checkpoint_row row;
        pons__cursor_checkpoint(&c, &row);
        if (!whole(&c) || fn(user, &row)) {
            break;
        }
    }
    return finish(&c);
}

int pons__read_records(void *self, const char *thread, const char *ns, const char *checkpoint,
                       pons_record_fn fn, void *user, pons_error *err)
{
    sql_cursor c;
    pons_record_row row = {0};
    strncpy(row.checkpoint, checkpoint, sizeof row.checkpoint - 1);
    open_query(&c, self, QUERY_RECORDS, ARGS(arg_text(thread), arg_text(ns), arg_id(checkpoint)),
               err);
    while (next(&c)) {
        memset(row.task, 0, sizeof row.task);
        strncpy(row.task, text(&c, 0), sizeof row.task - 1);
        row.idx = (int32_t)number(&c, 1);
        row.data = bytes(&c, 2);
        if (!whole(&c) || fn(user, &row)) {
            break;
        }
    }
    return finish(&c);
}

int pons__read_namespaces(void *self, const char *thread, int (*fn)(void *user, const char *ns),
                          void *user, pons_error *err)
{
    sql_cursor c;
    open_query(&c, self, QUERY_NAMESPACES, ARGS(arg_text(thread)), err);
    return give_names(&c, fn, user);
}

// ---- inbox, effects, events ---------------------------------------------------------------------

int pons__read_inbox(void *self, const char *thread, const char *ns, int64_t after,
                     pons_inbox_fn fn, void *user, pons_error *err)
{
    sql_cursor c;
    open_query(&c, self, QUERY_INBOX,
               ARGS(arg_text(thread), arg_int(after > 0 ? after : 0), arg_text(ns)), err);
    while (next(&c)) {
        const pons_inbox_row row = {
            .seq = number(&c, 0), .ns = text(&c, 1), .kind = text(&c, 2), .value = bytes(&c, 3)};
        if (!whole(&c) || fn(user, &row)) {
            break;
        }
    }
    return finish(&c);
}

static int give_effect(sql_cursor *c, pons_effect_fn fn, void *user)
{
    pons_effect_row row = {.ns = text(c, 1),
                           .state = (int32_t)number(c, 2),
                           .created = number(c, 3),
                           .updated = number(c, 4),
                           .data = bytes(c, 5)};
    c->reads->id(c, 0, row.id, sizeof row.id);
    return !whole(c) || fn(user, &row);
}

int pons__read_effect(void *self, const char *thread, const char *id, pons_effect_fn fn, void *user,
                      pons_error *err)
{
    sql_cursor c;
    open_query(&c, self, QUERY_EFFECT, ARGS(arg_text(thread), arg_id(id)), err);
    if (next(&c)) {
        give_effect(&c, fn, user);
    } else if (!c.status) {
        c.status = pons_error_set(c.err, PONS_ENOTFOUND, "store", "thread %s has no effect %s",
                                  thread, id);
    }
    return finish(&c);
}

int pons__read_effects(void *self, const char *thread, uint32_t state_mask, pons_effect_fn fn,
                       void *user, pons_error *err)
{
    sql_cursor c;
    open_query(&c, self, QUERY_EFFECTS, ARGS(arg_text(thread), arg_int(state_mask)), err);
    while (next(&c)) {
        if (give_effect(&c, fn, user)) {
            break;
        }
    }
    return finish(&c);
}

int pons__read_events(void *self, const char *thread, int64_t after, int64_t limit,
                      pons_event_fn fn, void *user, pons_error *err)
{
    sql_cursor c;
    open_query(&c, self, QUERY_EVENTS,
               ARGS(arg_text(thread), arg_int(after > 0 ? after : 0), arg_int(limit_of(limit))),
               err);
    while (next(&c)) {
        const pons_event_row row = {.seq = number(&c, 0),
                                    .ns = text(&c, 1),
                                    .ts_ms = number(&c, 2),
                                    .type = text(&c, 3),
                                    .payload = bytes(&c, 4)};
        if (!whole(&c) || fn(user, &row)) {
            break;
        }
    }
    return finish(&c);
}

int pons__read_event_last(void *self, const char *thread, int64_t *ret_seq, pons_error *err)
{
    sql_cursor c;
    open_query(&c, self, QUERY_EVENT_LAST, ARGS(arg_text(thread)), err);
    const int64_t seq = next(&c) ? number(&c, 0) : 0;
    const int rc = finish(&c);
    *ret_seq = rc ? *ret_seq : seq;
    return rc;
}

// ---- items --------------------------------------------------------------------------------------

// Hands out all rows, and counts them.
static int give_items(sql_cursor *c, pons_item_fn fn, void *user, int64_t *ret_rows)
{
    while (next(c)) {
        const pons_item_row row = {
            .ns = text(c, 0),
            .key = text(c, 1),
            .value = bytes(c, 2),
            .words = text(c, 3),
            .vectors = bytes(c, 4),
            .created_ms = number(c, 5),
            .updated_ms = number(c, 6),
            .ttl_ms = number(c, 7),
            .expires_ms = number(c, 8),
        };
        if (!whole(c)) {
            break;
        }
        ++*ret_rows;
        if (fn(user, &row)) {
            break;
        }
    }
    return finish(c);
}

int pons__read_item(void *self, const char *ns, const char *key, int64_t now_ms, pons_item_fn fn,
                    void *user, pons_error *err)
{
    sql_cursor c;
    int64_t rows = 0;
    int rc = pons__store_check_item(ns, key, err);
    if (!rc) {
        open_query(&c, self, QUERY_ITEM, ARGS(arg_text(ns), arg_text(key), arg_int(now_ms)), err);
        rc = give_items(&c, fn, user, &rows);
    }
    return rc || rows ? rc : pons__item_not_found(err, ns, key);
}

// "a b" as a query of the store: 'a' | 'b'. Words have no quotes; what could not be one is left out.
static char *any_of(const sql_reads *reads, const char *words)
{
    pons_autobuf query = PONS_BUF_INIT;
    pons_buf_str(&query, "");
    for (const char *w = words; *w;) {
        const size_t n = strcspn(w, " ");
        if (n && strcspn(w, reads->never) >= n) {
            pons_buf_printf(&query, "%s%c%.*s%c", query.len ? reads->joint : "", reads->quote,
                            (int)n, w, reads->quote);
        }
        w += n + (w[n] == ' ');
    }
    return pons_buf_take(&query, NULL);
}

int pons__read_items(void *self, const pons_item_find *find, pons_item_fn fn, void *user,
                     pons_error *err)
{
    sql_cursor c;
    int64_t rows = 0;
    const char *prefix = find->prefix ? find->prefix : "";
    pons__cursor_init(&c, self, err);
    char *match = find->words ? any_of(c.reads, find->words) : NULL;
    if (find->words && !match) {
        return pons_error_set(c.err, PONS_ENOMEM, "store", "out of memory");
    }
    if (!match || match[0]) { // no word: nothing has it
        c.reads->open(&c, prefix[0] ? QUERY_ITEMS_UNDER : QUERY_ITEMS,
                      ARGS(arg_text(prefix), arg_int(find->now_ms), arg_text(match)));
        give_items(&c, fn, user, &rows);
    }
    free(match);
    return c.status;
}

int pons__read_item_spaces(void *self, int64_t now_ms, int (*fn)(void *user, const char *ns),
                           void *user, pons_error *err)
{
    sql_cursor c;
    open_query(&c, self, QUERY_ITEM_SPACES, ARGS(arg_int(now_ms)), err);
    return give_names(&c, fn, user);
}

// ---- sessions -----------------------------------------------------------------------------------

void pons__cursor_session(const sql_cursor *c, pons_session_row *ret)
{
    *ret = (pons_session_row){
        .seq = number(c, 0),
        .id = text(c, 1),
        .lane = text(c, 2),
        .priority = (int32_t)number(c, 3),
        .order_ms = number(c, 4),
        .state = (int32_t)number(c, 5),
        .attempt = (int32_t)number(c, 6),
        .epoch = (uint64_t)number(c, 7),
        .owner = text(c, 8),
        .due_ms = number(c, 9),
        .data = bytes(c, 10),
        .note = bytes(c, 11),
    };
}

static int give_sessions(sql_cursor *c, pons_session_fn fn, void *user, int64_t *ret_rows)
{
    while (next(c)) {
        pons_session_row row;
        pons__cursor_session(c, &row);
        if (!whole(c)) {
            break;
        }
        ++*ret_rows;
        if (fn(user, &row)) {
            break;
        }
    }
    return finish(c);
}

int pons__read_session(void *self, const char *id, pons_session_fn fn, void *user, pons_error *err)
{
    sql_cursor c;
    int64_t rows = 0;
    open_query(&c, self, QUERY_SESSION, ARGS(arg_text(id)), err);
    const int rc = give_sessions(&c, fn, user, &rows);
    return rc || rows ? rc : pons__session_not_found(err, id);
}

int pons__read_sessions(void *self, const pons_session_find *find, pons_session_fn fn, void *user,
                        pons_error *err)
{
    sql_cursor c;
    int64_t rows = 0;
    const bool live = (find->states >> PONS_SESSION_SUCCEEDED) == 0;
    open_query(&c, self, live ? QUERY_SESSIONS_LIVE : QUERY_SESSIONS,
               ARGS(arg_int(find->after), arg_int(find->states), arg_text(find->lane),
                    arg_int(limit_of(find->limit))),
               err);
    return give_sessions(&c, fn, user, &rows);
}

int pons__read_runners(void *self, pons_runner_fn fn, void *user, pons_error *err)
{
    sql_cursor c;
    open_query(&c, self, QUERY_RUNNERS, NO_ARGS, err);
    while (next(&c)) {
        const char *name = text(&c, 0);
        if (!whole(&c) || fn(user, name, number(&c, 1))) {
            break;
        }
    }
    return finish(&c);
}
