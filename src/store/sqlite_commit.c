// sqlite_commit.c - who writes, and when.
//
// There is one connection that writes, and a right to use it, `writing`, that is handed round:
//
//     commit        ──► queue ──► whoever finds nobody writing leads: takes what is queued,
//     commit_async  ──► (copy)    writes it in one transaction, tells the others
//     inbox_post, lease, delete ──► take `writing` for a transaction of their own
//
// Alone, a caller leads its own commit: no other thread is woken, nothing is copied. Under
// contention, and while a synced commit waits for the disk, others gather in the queue and the next
// leader takes them all: one transaction, one sync. Each member has a savepoint, so that one that
// is refused (a stale lease, a checkpoint that is already there) takes nobody with it; when the
// transaction itself fails, each member is tried again alone.
//
// The pipeline (commit_async) is the same queue with copies and a thread that leads when nobody
// else does. It is bounded: a caller that is too fast leads or waits. When an async commit fails,
// those queued behind it on the same thread would stand on nothing and are dropped, until the
// failure was reported once.
//
// That thread has a second office. A log that has grown is moved into the file, which syncs the
// disk: nobody who commits should wait for that, so it happens on the side, while commits go on.
// Only a log that grows faster than it is moved is moved by the committer, who thereby slows down.

#include "sqlite_internal.h"

#include <stdlib.h>
#include <string.h>

#define BATCH_MAX          64                   // members of one transaction
#define QUEUE_COUNT_MAX    1024                 // async commits waiting
#define QUEUE_BYTES_MAX    ((size_t)8 << 20)    // and their bytes
#define WAL_FORCE_PAGES    (4 * PONS__WAL_TEND) // 16 MiB: moved by the committer
#define WAL_LONG_PAGES     32000                // 64 MiB: readers have kept it from starting anew
#define WAL_READER_WAIT_MS 20

static void lead(sq *s);
static void write_batch(sq *s, request **batch, size_t n);
static bool write_together(sq *s, request **batch, size_t n);
static void write_alone(sq *s, request *r);
static bool refused(sq *s, request *r);
static void settle(sq *s, request *r, int status);
static void say_what(request *r);
static void enqueue(sq *s, request *r);
static void lead_or_wait(sq *s);
static bool report(holding *h, pons_error *err);
static request *request_copy(const pons_commit *c, holding *h);
static int post(sq *s, const char *thread, const pons_inbox_row *row, int64_t *ret_seq,
                pons_error *err);
static void *writer_main(void *arg);
static bool writer_start(sq *s);
static bool wal_tend_aside(sq *s);
static void move_log(sq *s);

int pons__sq_commit(void *self, const pons_commit *c, pons_error *err)
{
    sq *s = self;
    pons_error own;
    err = err ? err : &own;
    int rc = pons__store_check_commit(c, err);
    if (rc)
        return rc;
    request r = {.c = c};
    pthread_mutex_lock(&s->mtx);
    r.h = pons__holding_find(s, c->lease);
    if (!r.h) {
        pthread_mutex_unlock(&s->mtx);
        return pons__store_stale(err, c->lease->thread, c->lease->epoch, 0);
    }
    enqueue(s, &r);
    while (!r.done)
        lead_or_wait(s);
    pthread_mutex_unlock(&s->mtx);
    if (r.status) {
        *err = r.err;
        return r.status;
    }
    for (size_t i = 0; i < c->n_events; i++)
        c->events[i].seq = r.event_base + 1 + (int64_t)i;
    return PONS_OK;
}

int pons__sq_commit_async(void *self, const pons_commit *c, pons_error *err)
{
    sq *s = self;
    pons_error own;
    err = err ? err : &own;
    int rc = pons__store_check_commit(c, err);
    if (rc)
        return rc;
    pthread_mutex_lock(&s->mtx);
    holding *h = pons__holding_find(s, c->lease);
    request *r = NULL;
    if (!h) {
        rc = pons__store_stale(err, c->lease->thread, c->lease->epoch, 0);
    } else if (report(h, err)) {
        rc = err->status;
    } else {
        r = request_copy(c, h);
        if (!r)
            rc = pons_error_set(err, PONS_ENOMEM, "store", "out of memory");
    }
    if (!rc) {
        h->queued++;
        while (s->queued_bytes > QUEUE_BYTES_MAX || s->enqueued - s->completed > QUEUE_COUNT_MAX)
            lead_or_wait(s);
        enqueue(s, r);
        if (writer_start(s))
            pthread_cond_broadcast(&s->changed);
        else if (!s->writing)
            lead(s); // no thread to be had: slower, not wrong
    }
    pthread_mutex_unlock(&s->mtx);
    return rc;
}

int pons__sq_drain(void *self, pons_error *err)
{
    sq *s = self;
    pons_error own;
    err = err ? err : &own;
    int rc = PONS_OK;
    pthread_mutex_lock(&s->mtx);
    const uint64_t target = s->enqueued;
    while (s->completed < target)
        lead_or_wait(s);
    for (holding *h = s->holdings; h && !rc; h = h->next) {
        if (report(h, err))
            rc = err->status;
    }
    if (!rc && s->orphan.status) {
        *err = s->orphan;
        rc = err->status;
        s->orphan = (pons_error)PONS_ERROR_INIT;
    }
    pthread_mutex_unlock(&s->mtx);
    return rc;
}

int pons__sq_inbox_post(void *self, const char *thread, const pons_inbox_row *row, int64_t *ret_seq,
                        pons_error *err)
{
    sq *s = self;
    pons_error own;
    err = err ? err : &own;
    int rc = pons__store_check_thread(thread, err);
    if (!rc)
        rc = pons__store_check_ns(row->ns, err);
    if (!rc && !row->kind)
        rc = pons_error_set(err, PONS_EINVAL, "store", "an inbox message needs a kind");
    if (rc)
        return rc;
    int64_t seq = 0;
    pons__writer_enter(s);
    rc = pons__sync_set(s, PONS_SYNC_NORMAL, err);
    if (!rc)
        rc = pons__tx_begin(s, err);
    if (!rc) {
        rc = post(s, thread, row, &seq, err);
        if (!rc)
            rc = pons__tx_commit(s, err);
        if (rc)
            pons__tx_rollback(s);
    }
    pons__writer_leave(s);
    if (!rc && ret_seq)
        *ret_seq = seq;
    return rc;
}

void pons__writer_enter(sq *s)
{
    pthread_mutex_lock(&s->mtx);
    while (s->writing)
        pthread_cond_wait(&s->changed, &s->mtx);
    s->writing = true;
    pthread_mutex_unlock(&s->mtx);
}

void pons__writer_leave(sq *s)
{
    pons__wal_tend(s);
    pthread_mutex_lock(&s->mtx);
    s->writing = false;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->mtx);
}

int pons__sync_set(sq *s, pons_sync sync, pons_error *err)
{
    if (s->sync == (int)sync)
        return PONS_OK;
    int code = sqlite3_exec(
        s->w.db, sync == PONS_SYNC_FULL ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL",
        NULL, NULL, NULL);
    if (code != SQLITE_OK)
        return pons__sql_fail(&s->w, code, err, "cannot write the store");
    s->sync = (int)sync;
    return PONS_OK;
}

void pons__holding_flush(sq *s, const holding *h)
{
    while (h->queued > 0)
        lead_or_wait(s);
}

void pons__writer_stop(sq *s)
{
    pthread_mutex_lock(&s->mtx);
    s->closing = true;
    pthread_cond_broadcast(&s->changed);
    bool joins = s->writer_on;
    pthread_mutex_unlock(&s->mtx);
    if (joins)
        pthread_join(s->writer, NULL);
}

void pons__forget(sq *s, holding *h)
{
    memset(s->words, 0, sizeof s->words);
    if (h)
        h->known = false;
}

// A log that was moved whole is started anew by the next commit that finds no reader in it. When
// readers have been in it for very long, they are waited for, a little.
void pons__wal_tend(sq *s)
{
    if (s->wal_pages < s->wal_next)
        return;
    if (s->wal_pages < WAL_FORCE_PAGES && wal_tend_aside(s))
        return;
    int all = 0, moved = 0;
    int mode = SQLITE_CHECKPOINT_PASSIVE;
    if (s->wal_pages >= WAL_LONG_PAGES) {
        mode = SQLITE_CHECKPOINT_RESTART;
        pons__sql_patience(&s->w, WAL_READER_WAIT_MS);
    }
    pthread_mutex_lock(&s->log_mtx); // the writer thread may be at it
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

// ---------------------------------------------------------------- leading; [mtx] is held

static void enqueue(sq *s, request *r)
{
    r->next = NULL;
    r->generation = r->h->generation;
    *s->tail = r;
    s->tail = &r->next;
    s->enqueued++;
    s->queued_bytes += r->bytes;
}

static void lead_or_wait(sq *s)
{
    if (!s->writing && s->head)
        lead(s);
    else
        pthread_cond_wait(&s->changed, &s->mtx);
}

// Writes a batch from the front of the queue. Somebody is not writing, something is queued.
static void lead(sq *s)
{
    request *batch[BATCH_MAX];
    size_t n = 0;
    s->writing = true;
    for (; n < BATCH_MAX && s->head; n++) {
        batch[n] = s->head;
        s->head = s->head->next;
    }
    if (!s->head)
        s->tail = &s->head;
    pthread_mutex_unlock(&s->mtx);

    write_batch(s, batch, n);

    pthread_mutex_lock(&s->mtx);
    for (size_t i = 0; i < n; i++) {
        s->completed++;
        s->queued_bytes -= batch[i]->bytes;
        batch[i]->done = true; // a sync caller's request may be gone once the lock is
        if (batch[i]->async) {
            batch[i]->h->queued--;
            free(batch[i]);
        }
    }
    s->writing = false;
    pthread_cond_broadcast(&s->changed);
}

static void *writer_main(void *arg)
{
    sq *s = arg;
    pthread_mutex_lock(&s->mtx);
    while (s->head || !s->closing) {
        if (s->tend && !s->closing) {
            s->tend = false;
            pthread_mutex_unlock(&s->mtx);
            move_log(s);
            pthread_mutex_lock(&s->mtx);
        } else {
            lead_or_wait(s);
        }
    }
    pthread_mutex_unlock(&s->mtx);
    return NULL;
}

static bool writer_start(sq *s)
{
    if (!s->writer_on)
        s->writer_on = pthread_create(&s->writer, NULL, writer_main, s) == 0;
    return s->writer_on;
}

// Asks the writer thread; `writing` is held, mtx is not. False when there is no thread to be had.
static bool wal_tend_aside(sq *s)
{
    pthread_mutex_lock(&s->mtx);
    bool asked = writer_start(s);
    if (asked) {
        s->tend = true;
        s->wal_next = s->wal_pages + PONS__WAL_TEND;
        pthread_cond_broadcast(&s->changed);
    }
    pthread_mutex_unlock(&s->mtx);
    return asked;
}

// On the writer thread, with its own connection, while others read and commit. What fails here is
// tried again when the log has grown further.
static void move_log(sq *s)
{
    pons_error ignored;
    pthread_mutex_lock(&s->log_mtx);
    // A connection finds the log when it first reads.
    if (!s->tender.db &&
        !pons__sql_open(&s->tender, s->path, s->name, SQLITE_OPEN_READWRITE, &ignored))
        sqlite3_exec(s->tender.db, "SELECT count(*) FROM meta", NULL, NULL, NULL);
    if (s->tender.db)
        sqlite3_wal_checkpoint_v2(s->tender.db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    pthread_mutex_unlock(&s->log_mtx);
}

// Tells an async failure, once.
static bool report(holding *h, pons_error *err)
{
    if (!h->failed.status)
        return false;
    *err = h->failed;
    h->failed = (pons_error)PONS_ERROR_INIT;
    h->generation++;
    return true;
}

// ---------------------------------------------------------------- writing; `writing` is held

static void write_batch(sq *s, request **batch, size_t n)
{
    pons_sync sync = PONS_SYNC_NORMAL;
    for (size_t i = 0; i < n; i++) {
        if (batch[i]->c->sync == PONS_SYNC_FULL)
            sync = PONS_SYNC_FULL;
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
        for (size_t i = 0; i < n; i++)
            write_alone(s, batch[i]);
    }
    pons__wal_tend(s);
}

// False when the transaction failed as a whole: nothing is applied, and whoever is not settled is
// to be tried again.
static bool write_together(sq *s, request **batch, size_t n)
{
    pons_error err;
    if (pons__tx_begin(s, &err))
        return false;
    int rc = PONS_OK;
    for (size_t i = 0; i < n && !rc; i++) {
        request *r = batch[i];
        if (refused(s, r))
            continue;
        rc = pons__sql_do(&s->w, SQL_SAVEPOINT, &err);
        if (rc)
            break;
        int mine = pons__sql_apply(s, r, &r->err);
        r->status = mine;
        if (mine && sqlite3_get_autocommit(s->w.db)) {
            rc = mine; // SQLite gave up the whole transaction
            break;
        }
        if (mine) {
            rc = pons__sql_do(&s->w, SQL_ROLLBACK_TO, &err);
            pons__forget(s, r->h);
        }
        if (!rc)
            rc = pons__sql_do(&s->w, SQL_RELEASE, &err);
        if (mine && !rc)
            settle(s, r, mine);
    }
    if (!rc)
        rc = pons__tx_commit(s, &err);
    for (size_t i = 0; i < n; i++) {
        if (rc)
            pons__forget(s, batch[i]->h);
        else if (!batch[i]->settled)
            settle(s, batch[i], PONS_OK);
    }
    if (rc)
        pons__tx_rollback(s);
    return rc == PONS_OK;
}

static void write_alone(sq *s, request *r)
{
    if (r->settled || refused(s, r))
        return;
    int rc = pons__tx_begin(s, &r->err);
    if (!rc) {
        rc = pons__sql_apply(s, r, &r->err);
        if (!rc)
            rc = pons__tx_commit(s, &r->err);
        if (rc) {
            pons__tx_rollback(s);
            pons__forget(s, r->h);
        }
    }
    settle(s, r, rc);
}

// An async commit that stands on one that failed is dropped; a sync one is told.
static bool refused(sq *s, request *r)
{
    if (r->settled)
        return true;
    bool no = false;
    pthread_mutex_lock(&s->mtx);
    if (!r->async) {
        no = report(r->h, &r->err);
    } else if (r->h->failed.status || r->generation != r->h->generation) {
        no = true;
        r->err.status = PONS_ECANCELED;
    }
    pthread_mutex_unlock(&s->mtx);
    if (no) {
        r->settled = true;
        r->status = r->err.status;
    }
    return no;
}

static void settle(sq *s, request *r, int status)
{
    r->settled = true;
    r->status = status;
    if (!status)
        return;
    say_what(r);
    if (!r->async)
        return;
    pthread_mutex_lock(&s->mtx);
    if (!r->h->failed.status)
        r->h->failed = r->err;
    pthread_mutex_unlock(&s->mtx);
}

// What SQLite could not do, in terms of the caller: "cannot commit step 41 of thread t1".
static void say_what(request *r)
{
    if (!r->err.cause[0])
        return; // it says so already
    pons_error was = r->err;
    const pons_commit *c = r->c;
    if (c->n_checkpoints)
        pons_error_set(&r->err, was.status, "store", "cannot commit step %lld of thread %s",
                       (long long)c->checkpoints[c->n_checkpoints - 1].step, r->h->thread);
    else
        pons_error_set(&r->err, was.status, "store", "cannot commit to thread %s", r->h->thread);
    pons_error_source(&r->err, "%s", was.source);
    pons_error_cause(&r->err, "%s", was.cause);
}

int pons__tx_begin(sq *s, pons_error *err)
{
    return pons__sql_do(&s->w, SQL_BEGIN_WRITE, err);
}

int pons__tx_commit(sq *s, pons_error *err)
{
    return pons__sql_do(&s->w, SQL_COMMIT, err);
}

void pons__tx_rollback(sq *s)
{
    pons_error ignored;
    if (!sqlite3_get_autocommit(s->w.db))
        pons__sql_do(&s->w, SQL_ROLLBACK, &ignored);
    pons__forget(s, NULL);
}

static int post(sq *s, const char *thread, const pons_inbox_row *row, int64_t *ret_seq,
                pons_error *err)
{
    int64_t tid, nid, kind;
    int rc = pons__thread_id(s, thread, &tid, err);
    if (!rc)
        rc = pons__ns_id(s, tid, row->ns, &nid, err);
    if (!rc)
        rc = pons__word_id(s, row->kind, &kind, err);
    if (!rc)
        rc = pons__inbox_seq(s, tid, 1, ret_seq, err);
    return rc ? rc : pons__inbox_put(s, tid, *ret_seq, nid, kind, row->value, err);
}

static request *request_copy(const pons_commit *c, holding *h)
{
    pons_commit *mine;
    size_t bytes;
    request *r = pons__commit_copy(c, sizeof *r, &mine, &bytes);
    if (!r)
        return NULL;
    r->c = mine;
    r->h = h;
    r->async = true;
    r->bytes = bytes;
    return r;
}
