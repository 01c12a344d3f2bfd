// lease.c - who may write a thread; and the end of a thread.
//
// A lease is two things. The lock file (lock_file.c) says who holds the thread now: the kernel frees it
// the moment the holder dies. The epoch says whose commits count: a number that rises with each
// acquisition in the whole file, written into the thread's row when it is taken and checked inside
// every commit. So a holder that lost the lock without knowing - a copied directory, a restored
// file - is refused with PONS_ESTALE and harms nothing. The epoch counts for the file, not the
// thread, so that it goes on rising when a thread is deleted and made again: others (the body) keep
// the highest one they have seen.
#include "store/sqlite/internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- helpers ------------------------------------------------------------------------------------

static int next_epoch(sq *s, uint64_t *ret, pons_error *err)
{
    sqlite3_stmt *st = pons__sql(&s->w, SQL_EPOCH_NEXT, err);
    if (!st) {
        return err->status;
    }
    int code = pons__sql_step(&s->w, st, err);
    if (code == SQLITE_ROW) {
        *ret = (uint64_t)sqlite3_column_int64(st, 0);
    }
    sqlite3_reset(st);
    if (code == SQLITE_DONE) {
        return pons_error_set(err, PONS_ECORRUPT, "store", "the store has lost its epoch");
    }
    return code == SQLITE_ROW ? PONS_OK : err->status;
}

// Normal sync is enough: the log is written in order, so an epoch that a synced commit was made
// under is on the disk with it.
static int take_epoch(sq *s, holding *h, pons_error *err)
{
    pons__writer_enter(s);
    int rc = pons__sync_set(s, PONS_SYNC_NORMAL, err);
    if (!rc) {
        rc = pons__sql_do(&s->w, SQL_BEGIN_WRITE, err);
    }
    if (!rc) {
        rc = pons__thread_id(s, h->line.thread, &h->tid, err);
        if (!rc) {
            rc = next_epoch(s, &h->line.epoch, err);
        }
        sqlite3_stmt *st = rc ? NULL : pons__sql(&s->w, SQL_THREAD_HOLD, err);
        if (!rc && !st) {
            rc = err->status;
        }
        if (!rc) {
            sqlite3_bind_int64(st, 1, h->tid);
            sqlite3_bind_int64(st, 2, (int64_t)h->line.epoch);
            sqlite3_bind_int64(st, 3, pons__store_wall_ms());
            rc = pons__sql_run(&s->w, st, err);
        }
        if (!rc) {
            rc = pons__sql_do(&s->w, SQL_COMMIT, err);
        }
        pons_error ignored;
        if (rc && !sqlite3_get_autocommit(s->w.db)) {
            pons__sql_do(&s->w, SQL_ROLLBACK, &ignored);
        }
    }
    pons__sq_note(s, rc);
    pons__writer_leave(s);
    return rc;
}

static int delete_rows(sq *s, const char *thread, pons_error *err)
{
    int64_t tid;
    int code, rc = pons__thread_find(s, thread, &tid, err);
    if (rc) {
        return rc;
    }
    sqlite3_stmt *list = pons__sql(&s->w, SQL_NS_OF, err);
    if (!list) {
        return err->status;
    }
    sqlite3_bind_int64(list, 1, tid);
    while (!rc && (code = pons__sql_step(&s->w, list, err)) == SQLITE_ROW) {
        int64_t nid = sqlite3_column_int64(list, 0);
        rc = pons__del_range(s, SQL_DEL_CP, nid, err);
        if (!rc) {
            rc = pons__del_one(s, SQL_DEL_RECORD, nid, err);
        }
    }
    sqlite3_reset(list);
    if (!rc && code != SQLITE_DONE) {
        rc = err->status;
    }
    static const sql_id ranges[] = {SQL_DEL_INBOX, SQL_DEL_EVENT, SQL_DEL_EFFECT};
    for (size_t i = 0; !rc && i < sizeof ranges / sizeof *ranges; i++) {
        rc = pons__del_range(s, ranges[i], tid, err);
    }
    if (!rc) {
        rc = pons__del_one(s, SQL_EFFECTS_FORGET, tid, err);
    }
    if (!rc) {
        rc = pons__del_one(s, SQL_DEL_NS, tid, err);
    }
    rc = rc ? rc : pons__del_one(s, SQL_NOTE_DEL, tid, err);
    return rc ? rc : pons__del_one(s, SQL_DEL_THREAD, tid, err);
}

int pons__del_range(sq *s, sql_id statement, int64_t owner, pons_error *err)
{
    sqlite3_stmt *st = pons__sql(&s->w, statement, err);
    if (!st) {
        return err->status;
    }
    sqlite3_bind_int64(st, 1, key_of(owner, 0));
    sqlite3_bind_int64(st, 2, key_of(owner, KEY_SEQ_MAX));
    return pons__sql_run(&s->w, st, err);
}

int pons__del_one(sq *s, sql_id statement, int64_t id, pons_error *err)
{
    sqlite3_stmt *st = pons__sql(&s->w, statement, err);
    if (!st) {
        return err->status;
    }
    sqlite3_bind_int64(st, 1, id);
    return pons__sql_run(&s->w, st, err);
}

// ---- public functions ---------------------------------------------------------------------------

int pons__sq_lease_acquire(void *self, const char *thread, pons_lease *ret, pons_error *err)
{
    sq *s = self;
    pons_error own;
    err = err ? err : &own;
    int rc = pons__store_check_thread(thread, err);
    if (rc) {
        return rc;
    }
    holding *h = calloc(1, sizeof *h);
    if (!h) {
        return pons_error_set(err, PONS_ENOMEM, "store", "out of memory");
    }
    h->lock_fd = -1;
    strcpy(h->line.thread, thread);
    lock_holder who = {0};
    rc = pons__lock_take(s->locks, thread, s->host, &h->lock_fd, &who, err);
    if (rc == PONS_EBUSY) {
        pons__store_held(err, thread, who.pid, who.host);
    }
    if (!rc) {
        who = (lock_holder){.pid = (int64_t)getpid()};
        memcpy(who.host, s->host, sizeof who.host);
        pons__lock_write(h->lock_fd, &who); // who it is, before the slow part
        rc = take_epoch(s, h, err);
    }
    if (rc) {
        pons__holding_destroy(h);
        return rc;
    }
    who.epoch = h->line.epoch;
    pons__lock_write(h->lock_fd, &who);
    *ret = (pons_lease){.epoch = h->line.epoch, .pid = who.pid, .impl = h};
    strcpy(ret->thread, thread);
    memcpy(ret->host, s->host, sizeof ret->host);
    pons__commitq_add(&s->q, &h->line);
    return PONS_OK;
}

void pons__sq_lease_release(void *self, pons_lease *lease)
{
    sq *s = self;
    pons__holding_destroy((holding *)pons__commitq_remove(&s->q, lease));
    *lease = (pons_lease){0};
}

int pons__sq_lease_peek(void *self, const char *thread, pons_lease *ret, pons_error *err)
{
    sq *s = self;
    int rc = pons__store_check_thread(thread, err);
    if (rc) {
        return rc;
    }
    lock_holder who = {0};
    if (!pons__lock_peek(s->locks, thread, &who)) {
        return pons_error_set(err, PONS_ENOTFOUND, "store", "nobody holds thread %s", thread);
    }
    *ret = (pons_lease){.epoch = who.epoch, .pid = who.pid};
    strcpy(ret->thread, thread);
    memcpy(ret->host, who.host, sizeof ret->host);
    return PONS_OK;
}

int pons__sq_thread_delete(void *self, const char *thread, pons_error *err)
{
    sq *s = self;
    pons_error own;
    err = err ? err : &own;
    int rc = pons__store_check_thread(thread, err);
    if (rc) {
        return rc;
    }
    int fd = -1;
    lock_holder who = {0};
    rc = pons__lock_take(s->locks, thread, s->host, &fd, &who, err);
    if (rc == PONS_EBUSY) {
        return pons__store_held(err, thread, who.pid, who.host);
    }
    if (rc) {
        return rc;
    }
    pons__writer_enter(s);
    rc = pons__sync_set(s, PONS_SYNC_NORMAL, err);
    if (!rc) {
        rc = pons__sql_do(&s->w, SQL_BEGIN_WRITE, err);
    }
    if (!rc) {
        rc = delete_rows(s, thread, err);
        if (!rc) {
            rc = pons__sql_do(&s->w, SQL_COMMIT, err);
        }
        pons_error ignored;
        if (rc && !sqlite3_get_autocommit(s->w.db)) {
            pons__sql_do(&s->w, SQL_ROLLBACK, &ignored);
        }
    }
    pons__writer_leave(s);
    if (rc && rc != PONS_ENOTFOUND) {
        pons__lock_drop(fd);
    } else {
        pons__lock_remove(s->locks, thread, fd);
    }
    return rc;
}

int pons__thread_find(sq *s, const char *thread, int64_t *ret, pons_error *err)
{
    sqlite3_stmt *st = pons__sql(&s->w, SQL_THREAD_GET, err);
    if (!st) {
        return err->status;
    }
    sqlite3_bind_text(st, 1, thread, -1, SQLITE_STATIC);
    int code = pons__sql_step(&s->w, st, err);
    if (code == SQLITE_ROW) {
        *ret = sqlite3_column_int64(st, 0);
    }
    sqlite3_reset(st);
    if (code == SQLITE_DONE) {
        return pons_error_set(err, PONS_ENOTFOUND, "store", "there is no thread %s", thread);
    }
    return code == SQLITE_ROW ? PONS_OK : err->status;
}

void pons__holding_destroy(holding *h)
{
    if (!h) {
        return;
    }
    pons__lock_drop(h->lock_fd);
    free(h);
}
