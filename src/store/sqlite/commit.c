// commit.c - commits as transactions, and the log.
//
// Who writes when is commit_queue.c's. A batch is one transaction. Each member has a savepoint, so
// that one that is refused (a stale lease, a checkpoint that is already there) takes nobody with
// it; when the transaction itself fails, each member is tried again alone.
//
// A log that has grown is moved into the file, which syncs the disk: nobody who commits should wait
// for that, so it happens on the queue's thread, while commits go on. Only a log that grows faster
// than it is moved is moved by the committer, who thereby slows down.
#include "store/sqlite/internal.h"

#include <stdlib.h>
#include <string.h>

#define WAL_FORCE_PAGES    (4 * PONS__WAL_TEND) // 16 MiB: moved by the committer
#define WAL_LONG_PAGES     32000                // 64 MiB: readers have kept it from starting anew
#define WAL_READER_WAIT_MS 20

// ---- the log ------------------------------------------------------------------------------------

// Asks the queue's thread; `writing` is held. False when there is no thread to be had.
static bool wal_tend_aside(sq *s)
{
    if (!pons__commitq_aside(&s->q)) {
        return false;
    }
    s->wal_next = s->wal_pages + PONS__WAL_TEND;
    return true;
}

// ---- writing; `writing` is held -----------------------------------------------------------------

static int apply(sq *s, commit_request *r, pons_error *err)
{
    int rc = pons__sql_apply(s, r, err);
    return rc || !r->c->n_items ? rc : pons__sql_items(s, r->c->items, r->c->n_items, err);
}

// What SQLite could not do, in terms of the caller: "cannot commit step 41 of thread t1".
static void say_what(commit_request *r)
{
    if (!r->err.cause[0]) {
        return; // it says so already
    }
    pons_error was = r->err;
    const pons_commit *c = r->c;
    if (c->n_checkpoints) {
        pons_error_set(&r->err, was.status, "store", "cannot commit step %lld of thread %s",
                       (long long)c->checkpoints[c->n_checkpoints - 1].step, r->line->thread);
    } else {
        pons_error_set(&r->err, was.status, "store", "cannot commit to thread %s", r->line->thread);
    }
    pons_error_source(&r->err, "%s", was.source);
    pons_error_cause(&r->err, "%s", was.cause);
}

static void settle(sq *s, commit_request *r, int status)
{
    if (status) {
        say_what(r);
    }
    pons__sq_note(s, status);
    pons__commitq_settle(&s->q, r, status);
}

// False when the transaction failed as a whole: nothing is applied, and whoever is not settled is
// to be tried again.
static bool write_together(sq *s, commit_request **batch, size_t n)
{
    pons_error err;
    if (pons__sql_do(&s->w, SQL_BEGIN_WRITE, &err)) {
        return false;
    }
    int rc = PONS_OK;
    for (size_t i = 0; i < n && !rc; i++) {
        commit_request *r = batch[i];
        if (pons__commitq_refused(&s->q, r)) {
            continue;
        }
        rc = pons__sql_do(&s->w, SQL_SAVEPOINT, &err);
        if (rc) {
            break;
        }
        int mine = apply(s, r, &r->err);
        r->status = mine;
        if (mine && sqlite3_get_autocommit(s->w.db)) {
            rc = mine; // SQLite gave up the whole transaction
            break;
        }
        if (mine) {
            rc = pons__sql_do(&s->w, SQL_ROLLBACK_TO, &err);
            pons__forget(s, (holding *)r->line);
        }
        rc = rc ? rc : pons__sql_do(&s->w, SQL_RELEASE, &err);
        if (mine && !rc) {
            settle(s, r, mine);
        }
    }
    rc = rc ? rc : pons__sql_do(&s->w, SQL_COMMIT, &err);
    for (size_t i = 0; i < n; i++) {
        if (rc) {
            pons__forget(s, (holding *)batch[i]->line);
        } else if (!batch[i]->settled) {
            settle(s, batch[i], PONS_OK);
        }
    }
    if (rc) {
        pons__tx_rollback(s);
    }
    return rc == PONS_OK;
}

static void write_alone(sq *s, commit_request *r)
{
    if (r->settled || pons__commitq_refused(&s->q, r)) {
        return;
    }
    int rc = pons__sql_do(&s->w, SQL_BEGIN_WRITE, &r->err);
    if (!rc) {
        rc = apply(s, r, &r->err);
        rc = rc ? rc : pons__sql_do(&s->w, SQL_COMMIT, &r->err);
        if (rc) {
            pons__tx_rollback(s);
            pons__forget(s, (holding *)r->line);
        }
    }
    settle(s, r, rc);
}

void pons__tx_rollback(sq *s)
{
    pons_error ignored;
    if (!sqlite3_get_autocommit(s->w.db)) {
        pons__sql_do(&s->w, SQL_ROLLBACK, &ignored);
    }
    pons__forget(s, NULL);
}

static int post(sq *s, const char *thread, const pons_inbox_row *row, int64_t *ret_seq,
                pons_error *err)
{
    int64_t tid, nid, kind;
    int rc = pons__thread_id(s, thread, &tid, err);
    rc = rc ? rc : pons__ns_id(s, tid, row->ns, &nid, err);
    rc = rc ? rc : pons__word_id(s, row->kind, &kind, err);
    rc = rc ? rc : pons__inbox_seq(s, tid, 1, ret_seq, err);
    return rc ? rc : pons__inbox_put(s, tid, *ret_seq, nid, kind, row->value, err);
}

// Takes the right to write and begins; pons__transacted gives it back in any case.
bool pons__transact(sq *s, pons_sync sync, pons_error *err)
{
    pons__writer_enter(s);
    return !pons__sync_set(s, sync, err) && !pons__sql_do(&s->w, SQL_BEGIN_WRITE, err);
}

int pons__transacted(sq *s, int rc, pons_error *err)
{
    rc = rc ? rc : pons__sql_do(&s->w, SQL_COMMIT, err);
    if (rc) {
        pons__tx_rollback(s);
    }
    pons__writer_leave(s);
    return rc;
}

// ---- public functions ---------------------------------------------------------------------------

void pons__write_batch(void *self, commit_request **batch, size_t n)
{
    sq *s = self;
    pons_sync sync = PONS_SYNC_NORMAL;
    for (size_t i = 0; i < n; i++) {
        if (batch[i]->c->sync == PONS_SYNC_FULL) {
            sync = PONS_SYNC_FULL;
        }
    }
    pons_error err = PONS_ERROR_INIT;
    if (pons__sync_set(s, sync, &err)) {
        for (size_t i = 0; i < n; i++) {
            batch[i]->err = err;
            settle(s, batch[i], err.status);
        }
        return;
    }
    if (n == 1 || !write_together(s, batch, n)) {
        for (size_t i = 0; i < n; i++) {
            write_alone(s, batch[i]);
        }
    }
    pons__wal_tend(s);
}

// On the queue's thread, with its own connection, while others read and commit. What fails here is
// tried again when the log has grown further.
void pons__move_log(void *self)
{
    sq *s = self;
    pons_error ignored;
    pthread_mutex_lock(&s->log_mtx);
    // A connection finds the log when it first reads.
    if (!s->tender.db &&
        !pons__sql_open(&s->tender, s->path, s->name, SQLITE_OPEN_READWRITE, &ignored)) {
        sqlite3_exec(s->tender.db, "SELECT count(*) FROM meta", NULL, NULL, NULL);
    }
    if (s->tender.db) {
        sqlite3_wal_checkpoint_v2(s->tender.db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    }
    pthread_mutex_unlock(&s->log_mtx);
}

int pons__sq_inbox_post(void *self, const char *thread, const pons_inbox_row *row, int64_t *ret_seq,
                        pons_error *err)
{
    sq *s = self;
    err = err ? err : &(pons_error)PONS_ERROR_INIT;
    int rc = pons__store_check_post(thread, row, err);
    if (rc) {
        return rc;
    }
    int64_t seq = 0;
    rc = pons__transact(s, PONS_SYNC_NORMAL, err) ? post(s, thread, row, &seq, err) : err->status;
    rc = pons__transacted(s, rc, err);
    if (!rc && ret_seq) {
        *ret_seq = seq;
    }
    return rc;
}

int pons__sq_items_write(void *self, const pons_item_write *items, size_t n, pons_sync sync,
                         pons_error *err)
{
    sq *s = self;
    err = err ? err : &(pons_error)PONS_ERROR_INIT;
    int rc = pons__store_check_items(items, n, err);
    if (rc) {
        return rc;
    }
    rc = pons__transact(s, sync, err) ? pons__sql_items(s, items, n, err) : err->status;
    return pons__transacted(s, rc, err);
}

// In small transactions: others write in between.
int pons__sq_items_sweep(void *self, int64_t now_ms, int64_t *ret_removed, pons_error *err)
{
    sq *s = self;
    err = err ? err : &(pons_error)PONS_ERROR_INIT;
    int64_t removed = 0, before;
    int rc;
    do {
        before = removed;
        rc = pons__transact(s, PONS_SYNC_NORMAL, err) ? pons__sql_sweep(s, now_ms, &removed, err)
                                                      : err->status;
        rc = pons__transacted(s, rc, err);
    } while (!rc && removed - before == PONS__SWEEP_BATCH);
    if (!rc && ret_removed) {
        *ret_removed = removed;
    }
    return rc;
}

int pons__sq_thread_note(void *self, const char *thread, pons_bytes note, const pons_bytes *was,
                         pons_error *err)
{
    sq *s = self;
    err = err ? err : &(pons_error)PONS_ERROR_INIT;
    int rc = pons__store_check_thread(thread, err);
    if (rc) {
        return rc;
    }
    rc = pons__transact(s, PONS_SYNC_NORMAL, err) ? pons__sql_note(s, thread, note, was, err)
                                                  : err->status;
    return pons__transacted(s, rc, err);
}

void pons__writer_enter(sq *s)
{
    pons__commitq_enter(&s->q);
}

// A disk that is full, or fails, may be better soon: then the same commit is taken.
void pons__sq_note(sq *s, int status)
{
    if (status == PONS_OK || status == PONS_EIO) {
        atomic_store(&s->away, status == PONS_EIO);
    }
}

bool pons__sq_away(void *self)
{
    sq *s = self;
    return atomic_load(&s->away);
}

void pons__writer_leave(sq *s)
{
    pons__wal_tend(s);
    pons__commitq_leave(&s->q);
}

int pons__sync_set(sq *s, pons_sync sync, pons_error *err)
{
    if (s->sync == (int)sync || s->in_memory) {
        return PONS_OK;
    }
    int code = sqlite3_exec(
        s->w.db, sync == PONS_SYNC_FULL ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL",
        NULL, NULL, NULL);
    if (code != SQLITE_OK) {
        return pons__sql_fail(&s->w, code, err, "cannot write the store");
    }
    s->sync = (int)sync;
    return PONS_OK;
}

void pons__forget(sq *s, holding *h)
{
    memset(s->words, 0, sizeof s->words);
    if (h) {
        h->known = false;
    }
}

// A log that was moved whole is started anew by the next commit that finds no reader in it. When
// readers have been in it for very long, they are waited for, a little.
void pons__wal_tend(sq *s)
{
    if (s->wal_pages < s->wal_next) {
        return;
    }
    if (s->wal_pages < WAL_FORCE_PAGES && wal_tend_aside(s)) {
        return;
    }
    int all = 0, moved = 0;
    int mode = SQLITE_CHECKPOINT_PASSIVE;
    if (s->wal_pages >= WAL_LONG_PAGES) {
        mode = SQLITE_CHECKPOINT_RESTART;
        pons__sql_patience(&s->w, WAL_READER_WAIT_MS);
    }
    pthread_mutex_lock(&s->log_mtx); // the queue's thread may be at it
    int code = sqlite3_wal_checkpoint_v2(s->w.db, NULL, mode, &all, &moved);
    pthread_mutex_unlock(&s->log_mtx);
    pons__sql_patience(&s->w, 0);
    bool whole = code == SQLITE_OK && all == moved;
    s->wal_next = whole ? PONS__WAL_TEND : s->wal_pages + PONS__WAL_TEND;
    s->wal_pages = 0;
}

void pons__wal_move(sq *s)
{
    pthread_mutex_lock(&s->log_mtx);
    pons__sql_patience(&s->w, WAL_READER_WAIT_MS);
    sqlite3_wal_checkpoint_v2(s->w.db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    pons__sql_patience(&s->w, 0);
    pthread_mutex_unlock(&s->log_mtx);
}
