// read.c - everything that only reads.
//
// A read is one statement on a connection of its own, so one snapshot of the database. Rows come in
// one by one and are handed out as they come: a long history takes no more memory than a row. A
// callback may use the store: it gets another connection.
#include "store/postgres/postgres.h"

#include <stdlib.h>
#include <string.h>

// ---- helpers ------------------------------------------------------------------------------------

bool pons__pg_read_begin(pg_reading *r, pg *s, pg_sql id, const pg_params *p, pons_error *err)
{
    *r = (pg_reading){.s = s};
    r->err = err ? err : &r->own;
    r->c = pons__pg_take(s, r->err);
    if (!r->c) {
        r->status = r->err->status;
    }
    if (!r->status) {
        r->status = pons__pg_prepare(r->c, id, r->err);
    }
    if (!r->status && !pons__pg_send(r->c, id, p)) {
        r->status = pons__pg_fail(r->c, NULL, r->err);
    }
    if (!r->status) {
        PQsetSingleRowMode(r->c->c);
    }
    return !r->status;
}

bool pons__pg_read_next(pg_reading *r)
{
    PQclear(r->r);
    r->r = NULL;
    if (r->status) {
        return false;
    }
    PGresult *res = pons__pg_result(r->c);
    ExecStatusType status = PQresultStatus(res);
    if (res && status == PGRES_SINGLE_TUPLE) {
        r->r = res;
        return true;
    }
    if (!res || status != PGRES_TUPLES_OK) { // which ends them
        r->status = pons__pg_fail(r->c, res, r->err);
    }
    PQclear(res);
    return false;
}

// Rows that nobody wants any more are read and dropped.
int pons__pg_read_finish(pg_reading *r)
{
    PQclear(r->r);
    for (PGresult *res; r->c && (res = pons__pg_result(r->c));) {
        PQclear(res);
    }
    pons__pg_give(r->s, r->c);
    return r->status;
}

static void column_checkpoint(const pg_reading *r, pons_checkpoint_row *ret)
{
    *ret = (pons_checkpoint_row){.step = pons__pg_col_int(r->r, 0, 2),
                                 .snapshot = pons__pg_col_int(r->r, 0, 3),
                                 .data = pons__pg_col_bytes(r->r, 0, 4)};
    pons__pg_col_id(r->r, 0, 0, ret->id, sizeof ret->id);
    pons__pg_col_id(r->r, 0, 1, ret->parent, sizeof ret->parent);
}

// A chain is whole when its first row is a snapshot or has no parent.
static int give_chain(pg_reading *r, pons_checkpoint_fn fn, void *user, bool *ret_any)
{
    while (pons__pg_read_next(r)) {
        pons_checkpoint_row row;
        column_checkpoint(r, &row);
        if (!*ret_any && !row.snapshot && row.parent[0]) {
            return pons_error_set(r->err, PONS_ECORRUPT, "store",
                                  "checkpoint %s has lost its parent %s", row.id, row.parent);
        }
        *ret_any = true;
        if (fn(user, &row)) {
            break;
        }
    }
    return r->status;
}

static int column_effect(const pg_reading *r, pons_effect_fn fn, void *user)
{
    pons_effect_row row = {
        .ns = pons__pg_col_text(r->r, 0, 1),
        .state = (int32_t)pons__pg_col_int(r->r, 0, 2),
        .created = pons__pg_col_int(r->r, 0, 3),
        .updated = pons__pg_col_int(r->r, 0, 4),
        .data = pons__pg_col_bytes(r->r, 0, 5),
    };
    pons__pg_col_id(r->r, 0, 0, row.id, sizeof row.id);
    return fn(user, &row);
}

// ---- public functions ---------------------------------------------------------------------------

int pons__pg_head(void *self, const char *thread, const char *ns, pons_checkpoint_fn fn, void *user,
                  pons_error *err)
{
    pg_params p = {0};
    pons__pg_text(&p, thread);
    pons__pg_text(&p, ns);
    pg_reading r;
    bool any = false;
    if (pons__pg_read_begin(&r, self, PG_HEAD, &p, err)) {
        r.status = give_chain(&r, fn, user, &any);
    }
    if (!r.status && !any) {
        r.status = pons_error_set(r.err, PONS_ENOTFOUND, "store",
                                  "thread %s has no checkpoint in '%s'", thread, ns);
    }
    return pons__pg_read_finish(&r);
}

int pons__pg_checkpoint(void *self, const char *thread, const char *ns, const char *id,
                        pons_checkpoint_fn fn, void *user, pons_error *err)
{
    pg_params p = {0};
    pons__pg_text(&p, thread);
    pons__pg_text(&p, ns);
    pons__pg_id(&p, id);
    pg_reading r;
    bool any = false;
    if (pons__pg_read_begin(&r, self, PG_CHECKPOINT, &p, err)) {
        r.status = give_chain(&r, fn, user, &any);
    }
    if (!r.status && !any) {
        r.status = pons_error_set(r.err, PONS_ENOTFOUND, "store", "thread %s has no checkpoint %s",
                                  thread, id);
    }
    return pons__pg_read_finish(&r);
}

// The place of a checkpoint in its namespace.
static int place_of(pg *s, const char *thread, const char *ns, const char *id, int64_t *ret,
                    pons_error *err)
{
    pons_error own;
    err = err ? err : &own;
    pg_params p = {0};
    pons__pg_text(&p, thread);
    pons__pg_text(&p, ns);
    pons__pg_id(&p, id);
    PGresult *r;
    int rc = pons__pg_once(s, PG_CP_FIND, &p, &r, err);
    if (!rc && PQntuples(r) == 0) {
        rc = pons_error_set(err, PONS_ENOTFOUND, "store", "thread %s has no checkpoint %s", thread,
                            id);
    } else if (!rc) {
        *ret = pons__pg_col_int(r, 0, 0);
    }
    PQclear(r);
    return rc;
}

int pons__pg_history(void *self, const char *thread, const char *ns, const char *before,
                     int64_t limit, pons_checkpoint_fn fn, void *user, pons_error *err)
{
    int64_t below = INT64_MAX;
    int rc = before && before[0] ? place_of(self, thread, ns, before, &below, err) : PONS_OK;
    if (rc) {
        return rc;
    }
    pg_params p = {0};
    pons__pg_text(&p, thread);
    pons__pg_text(&p, ns);
    pons__pg_int(&p, below);
    if (limit > 0) {
        pons__pg_int(&p, limit);
    } else {
        pons__pg_null(&p);
    }
    pg_reading r;
    pons__pg_read_begin(&r, self, PG_HISTORY, &p, err);
    while (pons__pg_read_next(&r)) {
        pons_checkpoint_row row;
        column_checkpoint(&r, &row);
        if (fn(user, &row)) {
            break;
        }
    }
    return pons__pg_read_finish(&r);
}

int pons__pg_records(void *self, const char *thread, const char *ns, const char *checkpoint,
                     pons_record_fn fn, void *user, pons_error *err)
{
    pg_params p = {0};
    pons__pg_text(&p, thread);
    pons__pg_text(&p, ns);
    pons__pg_id(&p, checkpoint);
    pg_reading r;
    pons__pg_read_begin(&r, self, PG_RECORDS, &p, err);
    pons_record_row row = {0};
    strncpy(row.checkpoint, checkpoint, sizeof row.checkpoint - 1);
    while (pons__pg_read_next(&r)) {
        memset(row.task, 0, sizeof row.task);
        strncpy(row.task, pons__pg_col_text(r.r, 0, 0), sizeof row.task - 1);
        row.idx = (int32_t)pons__pg_col_int(r.r, 0, 1);
        row.data = pons__pg_col_bytes(r.r, 0, 2);
        if (fn(user, &row)) {
            break;
        }
    }
    return pons__pg_read_finish(&r);
}

int pons__pg_namespaces(void *self, const char *thread, int (*fn)(void *user, const char *ns),
                        void *user, pons_error *err)
{
    pg_params p = {0};
    pons__pg_text(&p, thread);
    pg_reading r;
    pons__pg_read_begin(&r, self, PG_SPACES, &p, err);
    while (pons__pg_read_next(&r)) {
        if (fn(user, pons__pg_col_text(r.r, 0, 0))) {
            break;
        }
    }
    return pons__pg_read_finish(&r);
}

int pons__pg_inbox_read(void *self, const char *thread, const char *ns, int64_t after,
                        pons_inbox_fn fn, void *user, pons_error *err)
{
    pg_params p = {0};
    pons__pg_text(&p, thread);
    pons__pg_int(&p, after);
    pons__pg_text(&p, ns);
    pg_reading r;
    pons__pg_read_begin(&r, self, PG_INBOX, &p, err);
    while (pons__pg_read_next(&r)) {
        pons_inbox_row row = {
            .seq = pons__pg_col_int(r.r, 0, 0),
            .ns = pons__pg_col_text(r.r, 0, 1),
            .kind = pons__pg_col_text(r.r, 0, 2),
            .value = pons__pg_col_bytes(r.r, 0, 3),
        };
        if (fn(user, &row)) {
            break;
        }
    }
    return pons__pg_read_finish(&r);
}

int pons__pg_effect_get(void *self, const char *thread, const char *id, pons_effect_fn fn,
                        void *user, pons_error *err)
{
    pg_params p = {0};
    pons__pg_text(&p, thread);
    pons__pg_id(&p, id);
    pg_reading r;
    pons__pg_read_begin(&r, self, PG_EFFECT, &p, err);
    if (pons__pg_read_next(&r)) {
        column_effect(&r, fn, user);
    } else if (!r.status) {
        r.status = pons_error_set(r.err, PONS_ENOTFOUND, "store", "thread %s has no effect %s",
                                  thread, id);
    }
    return pons__pg_read_finish(&r);
}

int pons__pg_effects(void *self, const char *thread, uint32_t state_mask, pons_effect_fn fn,
                     void *user, pons_error *err)
{
    pg_params p = {0};
    pons__pg_text(&p, thread);
    pons__pg_int(&p, state_mask);
    pg_reading r;
    pons__pg_read_begin(&r, self, PG_EFFECTS, &p, err);
    while (pons__pg_read_next(&r)) {
        if (column_effect(&r, fn, user)) {
            break;
        }
    }
    return pons__pg_read_finish(&r);
}

int pons__pg_events(void *self, const char *thread, int64_t after, int64_t limit, pons_event_fn fn,
                    void *user, pons_error *err)
{
    pg_params p = {0};
    pons__pg_text(&p, thread);
    pons__pg_int(&p, after);
    if (limit > 0) {
        pons__pg_int(&p, limit);
    } else {
        pons__pg_null(&p);
    }
    pg_reading r;
    pons__pg_read_begin(&r, self, PG_EVENTS, &p, err);
    while (pons__pg_read_next(&r)) {
        pons_event_row row = {
            .seq = pons__pg_col_int(r.r, 0, 0),
            .ns = pons__pg_col_text(r.r, 0, 1),
            .ts_ms = pons__pg_col_int(r.r, 0, 2),
            .type = pons__pg_col_text(r.r, 0, 3),
            .payload = pons__pg_col_bytes(r.r, 0, 4),
        };
        if (fn(user, &row)) {
            break;
        }
    }
    return pons__pg_read_finish(&r);
}

int pons__pg_event_last(void *self, const char *thread, int64_t *ret_seq, pons_error *err)
{
    pg_params p = {0};
    pons__pg_text(&p, thread);
    pg_reading r;
    pons__pg_read_begin(&r, self, PG_EVENT_LAST, &p, err);
    if (pons__pg_read_next(&r)) {
        *ret_seq = pons__pg_col_int(r.r, 0, 0);
    }
    return pons__pg_read_finish(&r);
}

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
    pg_params p = {0};
    pons__pg_text(&p, thread);
    pg_reading r;
    bool any = false;
    pons__pg_read_begin(&r, self, sizes ? PG_THREADS : PG_THREAD_LIST, &p, err);
    while (pons__pg_read_next(&r)) {
        pons_thread_info info = {
            .thread = pons__pg_col_text(r.r, 0, 0),
            .created_ms = pons__pg_col_int(r.r, 0, 1),
            .updated_ms = pons__pg_col_int(r.r, 0, 2),
            .checkpoints = pons__pg_col_int(r.r, 0, 3),
            .events = pons__pg_col_int(r.r, 0, 4),
            .bytes = pons__pg_col_int(r.r, 0, 5),
            .holder_pid = pons__pg_col_int(r.r, 0, 6),
        };
        info.holder_host = info.holder_pid ? pons__pg_col_text(r.r, 0, 7) : "";
        if (!PQgetisnull(r.r, 0, 8)) {
            info.note = pons__pg_col_bytes(r.r, 0, 8);
        }
        any = true;
        if (fn(user, &info)) {
            break;
        }
    }
    if (thread && !any && !r.status) {
        r.status = pons_error_set(r.err, PONS_ENOTFOUND, "store", "there is no thread %s", thread);
    }
    return pons__pg_read_finish(&r);
}
