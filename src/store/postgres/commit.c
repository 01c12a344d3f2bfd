// commit.c - commits as pipelines, and posts.
//
// Who writes when is commit_queue.c's. A batch is sent in one pipeline, a transaction a member, so
// that it costs one round trip; the first member that fails ends the pipeline, and those behind it
// are sent again.
#include "store/postgres/postgres.h"

#include <stdlib.h>
#include <string.h>

// ---- writing; `writing` is held -----------------------------------------------------------------

// What was not synced may be gone with the server, and a commit upon it would stand on nothing.
static void writer_lost(pg *s)
{
    pons__pg_close(&s->w);
    atomic_store(&s->away, true);
    pthread_mutex_lock(&s->q.mtx);
    for (commit_line *line = s->q.lines; line; line = line->next) {
        pg_holding *h = (pg_holding *)line;
        h->lost = h->lost || h->unsynced;
    }
    pthread_mutex_unlock(&s->q.mtx);
}

static int writer_ready(pg *s, pons_error *err)
{
    static const pg_sql used[] = {PG_BEGIN,    PG_COMMIT,     PG_SYNC,       PG_FLUSH,
                                  PG_FENCE,    PG_CP_ADD,     PG_RECORD_PUT, PG_INBOX_DEL,
                                  PG_POST_TO,  PG_EFFECT_PUT, PG_EVENT_ADD,  PG_NOTIFY,
                                  PG_ITEM_PUT, PG_ITEM_TOUCH, PG_ITEM_DEL};
    int rc = PONS_OK;
    if (!pons__pg_alive(&s->w)) {
        writer_lost(s);
        rc = pons__pg_open(s, &s->w, err);
        pthread_mutex_lock(&s->keeper_mtx);
        s->writer_pid = rc ? 0 : PQbackendPID(s->w.c);
        pthread_mutex_unlock(&s->keeper_mtx);
        if (rc) {
            pons__pg_close(&s->w);
        }
    }
    for (size_t i = 0; !rc && i < sizeof used / sizeof *used; i++) {
        rc = pons__pg_prepare(&s->w, used[i], err);
    }
    return rc;
}

static int check_lost(const commit_request *r, pons_error *err)
{
    if (!((const pg_holding *)r->line)->lost) {
        return PONS_OK;
    }
    return pons_error_set(err, PONS_EIO, "store",
                          "the connection to the store was lost, perhaps with commits of thread "
                          "%s: it must be taken again",
                          r->line->thread);
}

static int space_id(pg *s, pg_holding *h, const char *ns, int64_t *ret, pons_error *err)
{
    pg_space *slot = &h->spaces[pons__store_hash(ns) & (PG_SPACES_CACHED - 1)];
    if (!slot->nid || strcmp(slot->name, ns) != 0) {
        PGresult *r;
        int rc = pons__pg_run(&s->w, PG_SPACE, ARGS(arg_int(h->tid), arg_text(ns)), &r, err);
        if (rc) {
            return rc;
        }
        slot->nid = pons__pg_col_int(r, 0, 0);
        strcpy(slot->name, ns);
        PQclear(r);
    }
    *ret = slot->nid;
    return PONS_OK;
}

// The numbers of the namespaces: asked for once, before the pipeline.
static int resolve(pg *s, commit_request *r, pons_error *err)
{
    const pons_commit *c = r->c;
    if (r->nids) {
        return PONS_OK;
    }
    r->nids = calloc(1 + c->n_effects + c->n_events + c->n_checkpoints, sizeof *r->nids);
    r->order = r->nids && c->n_items ? pons__items_order(c->items, c->n_items) : NULL;
    if (!r->nids || (c->n_items && !r->order)) {
        return pons_error_set(err, PONS_ENOMEM, "store", "out of memory");
    }
    int64_t *to = r->nids;
    int rc = PONS_OK;
    if (c->n_checkpoints || c->n_records) {
        rc = space_id(s, (pg_holding *)r->line, c->ns, to, err);
    }
    to++;
    for (size_t i = 0; !rc && i < c->n_effects; i++) {
        rc = space_id(s, (pg_holding *)r->line, c->effects[i].ns, to++, err);
    }
    for (size_t i = 0; !rc && i < c->n_events; i++) {
        rc = space_id(s, (pg_holding *)r->line, c->events[i].ns, to++, err);
    }
    for (size_t i = 0; !rc && i < c->n_checkpoints; i++, to++) {
        *to = r->nids[0];
        if (c->checkpoints[i].ns) {
            rc = space_id(s, (pg_holding *)r->line, c->checkpoints[i].ns, to, err);
        }
    }
    return rc;
}

static bool send_rows(pg_conn *w, commit_request *r)
{
    const pons_commit *c = r->c;
    const int64_t tid = ((pg_holding *)r->line)->tid,
                  now_ms = c->n_posts ? pons__store_wall_ms() : 0;
    bool ok = true;
    for (size_t i = 0; ok && i < c->n_checkpoints; i++, r->sent++) {
        const pons_checkpoint_row *row = &c->checkpoints[i];
        ok = pons__pg_send(w, PG_CP_ADD,
                           ARGS(arg_int(r->nids[1 + c->n_effects + c->n_events + i]),
                                arg_id(row->id), arg_id(row->parent), arg_int(row->step),
                                arg_int(row->snapshot), arg_bytes(row->data)));
    }
    for (size_t i = 0; ok && i < c->n_records; i++, r->sent++) {
        const pons_record_row *row = &c->records[i];
        ok = pons__pg_send(w, PG_RECORD_PUT,
                           ARGS(arg_int(r->nids[0]), arg_id(row->checkpoint), arg_text(row->task),
                                arg_int(row->idx), arg_bytes(row->data)));
    }
    for (size_t i = 0; ok && i < c->n_inbox_taken; i++, r->sent++) {
        ok = pons__pg_send(w, PG_INBOX_DEL, ARGS(arg_int(tid), arg_int(c->inbox_taken[i])));
    }
    for (size_t i = 0; ok && i < c->n_posts; i++, r->sent++) {
        const pons_inbox_row *row = &c->posts[i];
        ok = pons__pg_send(w, PG_POST_TO,
                           ARGS(arg_int(tid), arg_text(row->ns), arg_text(row->kind),
                                arg_bytes(row->value), arg_int(now_ms)));
    }
    for (size_t i = 0; ok && i < c->n_effects; i++, r->sent++) {
        const pons_effect_row *row = &c->effects[i];
        ok = pons__pg_send(w, PG_EFFECT_PUT,
                           ARGS(arg_int(tid), arg_id(row->id), arg_int(r->nids[1 + i]),
                                arg_int(row->state), arg_int(row->created), arg_int(row->updated),
                                arg_bytes(row->data)));
    }
    for (size_t i = 0; ok && i < c->n_events; i++, r->sent++) {
        const pons_event_row *row = &c->events[i];
        ok = pons__pg_send(w, PG_EVENT_ADD,
                           ARGS(arg_int(tid), arg_int(r->nids[1 + c->n_effects + i]),
                                arg_int(row->ts_ms), arg_text(row->type), arg_bytes(row->payload)));
    }
    for (size_t i = 0; ok && i < c->n_items; i++, r->sent++) {
        ok = pons__pg_item_send(w, &c->items[r->order[i]]);
    }
    return ok;
}

// All statements of one commit. Alone, the pipeline itself is the transaction.
static bool send_request(pg *s, commit_request *r, bool alone)
{
    pg_conn *w = &s->w;
    r->sent = 0;
    bool ok = true;
    if (!alone) {
        ok = pons__pg_send(w, PG_BEGIN, NO_ARGS);
        r->sent++;
    }
    const int64_t tid = ((pg_holding *)r->line)->tid;
    ok = ok && pons__pg_send(w, PG_FENCE, ARGS(arg_int(tid), arg_int((int64_t)r->line->epoch)));
    r->sent++;
    ok = ok && send_rows(w, r);
    if (ok && r->c->n_events) {
        ok = pons__pg_send(w, PG_NOTIFY, ARGS(arg_text(r->line->thread)));
        r->sent++;
    }
    if (ok && alone && r->c->sync == PONS_SYNC_FULL) {
        ok = pons__pg_send(w, PG_SYNC, NO_ARGS);
        r->sent++;
    }
    if (ok && !alone) {
        ok = pons__pg_send(w, PG_COMMIT, NO_ARGS);
        r->sent++;
    }
    return ok;
}

// Reads the results of one statement: its status, PONS_ECANCELED when the server skipped it.
static int read_one(pg *s, commit_request *r, pons_error *err)
{
    PGresult *res = pons__pg_result(&s->w);
    ExecStatusType status = PQresultStatus(res);
    int rc = PONS_OK;
    if (!res || (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)) {
        rc = status == PGRES_PIPELINE_ABORTED ? PONS_ECANCELED : pons__pg_fail(&s->w, res, err);
    }
    const char *state = rc && res ? PQresultErrorField(res, PG_DIAG_SQLSTATE) : NULL;
    if (state && strcmp(state, "PN001") == 0) {
        const char *epoch = PQresultErrorField(res, PG_DIAG_MESSAGE_PRIMARY);
        rc = pons__store_stale(err, r->line->thread, r->line->epoch, strtoull(epoch, NULL, 10));
    }
    const char *table = rc == PONS_EEXIST ? PQresultErrorField(res, PG_DIAG_TABLE_NAME) : NULL;
    if (table && strcmp(table, "checkpoint") == 0) {
        const pons_commit *c = r->c;
        rc = pons_error_set(err, PONS_EEXIST, "store", "thread %s already has a checkpoint %s",
                            r->line->thread,
                            c->n_checkpoints == 1 ? c->checkpoints[0].id : "of these");
    }
    if (!rc && status == PGRES_TUPLES_OK && !r->event_first &&
        strcmp(PQfname(res, 0) ? PQfname(res, 0) : "", "seq") == 0) {
        r->event_first = pons__pg_col_int(res, 0, 0);
    }
    PQclear(res);
    while (res && (res = pons__pg_result(&s->w))) {
        PQclear(res);
    }
    return rc;
}

static int read_request(pg *s, commit_request *r)
{
    int rc = PONS_OK;
    r->event_first = 0;
    for (int i = 0; i < r->sent; i++) {
        pons_error err = PONS_ERROR_INIT;
        int one = read_one(s, r, &err);
        if (one && !rc) {
            rc = one;
            r->err = err;
        }
    }
    return rc;
}

// The mark that ends a part of a pipeline; a failure at the very end (of the implicit commit) comes
// in front of it.
static int read_sync(pg *s, pons_error *err)
{
    int rc = PONS_OK;
    for (;;) {
        PGresult *res = pons__pg_result(&s->w);
        ExecStatusType status = PQresultStatus(res);
        bool end = !res || status == PGRES_PIPELINE_SYNC;
        if (!res && PQstatus(s->w.c) != CONNECTION_OK && !rc) {
            rc = pons__pg_fail(&s->w, NULL, err);
        } else if (res && !end && status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && !rc) {
            rc = pons__pg_fail(&s->w, res, err);
        }
        PQclear(res);
        if (end) {
            return rc;
        }
    }
}

// A synced transaction: with it, all before it are on the disk.
static int flush_log(pg *s, pons_error *err)
{
    return pons__pg_run(&s->w, PG_FLUSH, NO_ARGS, NULL, err);
}

static void settle(pg *s, commit_request *r, int status)
{
    const pons_commit *c = r->c;
    if (!status) {
        ((pg_holding *)r->line)->unsynced = c->sync != PONS_SYNC_FULL;
    }
    if (status && r->err.cause[0] && !r->err.source[0]) {
        pons_error_source(&r->err, "%s", s->name);
    }
    if (status && r->err.cause[0] && c->n_checkpoints) {
        pons_error_context(&r->err, "cannot commit step %lld of thread %s",
                           (long long)c->checkpoints[c->n_checkpoints - 1].step, r->line->thread);
    }
    pons__commitq_settle(&s->q, r, status);
}

// Sends them all and settles the first ones: all, or those up to one that failed.
static size_t write_pipeline(pg *s, commit_request **batch, size_t n)
{
    const bool alone = n == 1;
    bool ok = PQenterPipelineMode(s->w.c) == 1, full = false;
    for (size_t i = 0; ok && i < n; i++) {
        ok = send_request(s, batch[i], alone);
    }
    ok = ok && PQpipelineSync(s->w.c) == 1;
    size_t done = 0;
    int rc = PONS_OK;
    pons_error err = PONS_ERROR_INIT;
    if (!ok) { // what was sent of it ends with the connection, and with it the transaction
        rc = pons__pg_fail(&s->w, NULL, &err);
        batch[0]->err = err;
    }
    int status[PONS__BATCH_MAX] = {rc};
    for (; ok && done < n; done++) {
        status[done] = read_request(s, batch[done]);
        if (status[done]) {
            break;
        }
        full = full || (batch[done]->c->sync == PONS_SYNC_FULL && !alone);
    }
    bool failed = done < n;
    for (size_t i = done + 1; ok && i < n; i++) {
        read_request(s, batch[i]); // skipped by the server
    }
    if (ok) {
        rc = read_sync(s, &err);
    }
    if (ok && rc && !failed && alone) { // the commit itself failed
        batch[0]->err = err;
        status[0] = rc;
        failed = true;
        done = 0;
    }
    pons_error lost = PONS_ERROR_INIT;
    bool gone = !ok || PQstatus(s->w.c) != CONNECTION_OK || !PQexitPipelineMode(s->w.c);
    if (gone) {
        writer_lost(s); // opened anew by whoever comes next
    } else if (PQtransactionStatus(s->w.c) != PQTRANS_IDLE) {
        pons__pg_exec(&s->w, "ROLLBACK", &lost);
    }
    int flushed = PONS_OK;
    if (full) {
        flushed = s->w.c ? flush_log(s, &lost) : PONS_EIO;
    }
    for (size_t i = 0; i < done; i++) {
        if (flushed && batch[i]->c->sync == PONS_SYNC_FULL) {
            batch[i]->err = lost;
            if (!lost.status) {
                pons_error_set(&batch[i]->err, PONS_EIO, "store",
                               "the connection to the store was lost");
            }
        }
        settle(s, batch[i], batch[i]->err.status);
    }
    if (failed) {
        settle(s, batch[done], status[done]);
    }
    if (!gone || !failed) {
        return done + failed;
    }
    // What became of those behind it nobody knows: sent again, they might be there twice.
    for (size_t i = done + 1; i < n; i++) {
        batch[i]->err = batch[done]->err;
        pons_error_set(&batch[i]->err, PONS_EIO, "store", "the connection to the store was lost");
        settle(s, batch[i], PONS_EIO);
    }
    return n;
}

static void write_batch(void *self, commit_request **batch, size_t n)
{
    pg *s = self;
    for (size_t at = 0; at < n;) {
        commit_request *ready[PONS__BATCH_MAX];
        size_t m = 0;
        for (size_t i = at; i < n; i++) {
            pons_error err;
            if (pons__commitq_refused(&s->q, batch[i])) {
                continue;
            }
            int rc = writer_ready(s, &err);
            rc = rc ? rc : check_lost(batch[i], &err);
            rc = rc ? rc : resolve(s, batch[i], &err);
            if (rc) {
                batch[i]->err = err;
                settle(s, batch[i], rc);
            } else {
                ready[m++] = batch[i];
            }
        }
        size_t settled = m ? write_pipeline(s, ready, m) : 0;
        if (settled == m) {
            break;
        }
        while (batch[at] != ready[settled]) {
            at++;
        }
    }
    for (size_t i = 0; i < n; i++) {
        free(batch[i]->nids);
        free(batch[i]->order);
    }
}

// ---- public functions ---------------------------------------------------------------------------

const commit_queue_ops pons__pg_queue_ops = {.write = write_batch, .reads = &pons__pg_reads};

int pons__pg_inbox_post(void *self, const char *thread, const pons_inbox_row *row, int64_t *ret_seq,
                        pons_error *err)
{
    pg *s = self;
    err = err ? err : &(pons_error)PONS_ERROR_INIT;
    int rc = pons__store_check_post(thread, row, err);
    if (rc) {
        return rc;
    }
    int64_t seq;
    rc = pons__pg_number(s, PG_POST,
                         ARGS(arg_text(thread), arg_text(row->ns), arg_text(row->kind),
                              arg_bytes(row->value), arg_int(pons__store_wall_ms())),
                         &seq, err);
    if (!rc && ret_seq) {
        *ret_seq = seq;
    }
    return rc;
}
