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
    int64_t epoch;
    const int rc = pons__sql_number(&s->w, SQL_EPOCH_NEXT, NO_ARGS, &epoch, err);
    if (!rc && !epoch) {
        return pons_error_set(err, PONS_ECORRUPT, "store", "the store has lost its epoch");
    }
    *ret = (uint64_t)epoch;
    return rc;
}

// Normal sync is enough: the log is written in order, so an epoch that a synced commit was made
// under is on the disk with it.
static int take_epoch(sq *s, holding *h, pons_error *err)
{
    int rc = pons__transact(s, PONS_SYNC_NORMAL, err)
                 ? pons__thread_id(s, h->line.thread, &h->tid, err)
                 : err->status;
    rc = rc ? rc : next_epoch(s, &h->line.epoch, err);
    rc = rc ? rc
            : pons__sql_exec(&s->w, SQL_THREAD_HOLD,
                             ARGS(arg_int(h->tid), arg_int((int64_t)h->line.epoch),
                                  arg_int(pons__store_wall_ms())),
                             err);
    rc = pons__transacted(s, rc, err);
    pons__sq_note(s, rc);
    return rc;
}

// Takes the lock of a thread; [lease_mtx]. *ret_fd: -1 where there are no files.
static int take_lock(sq *s, const char *thread, int *ret_fd, pons_error *err)
{
    lock_holder who = {0};
    int rc = PONS_OK;
    *ret_fd = -1;
    if (!s->in_memory) {
        rc = pons__lock_take(s->locks, thread, s->host, ret_fd, &who, err);
    } else if (pons__lease_holder(s, thread, &who)) {
        rc = PONS_EBUSY;
    }
    return rc == PONS_EBUSY ? pons__store_held(err, thread, who.pid, who.host) : rc;
}

static int take_thread(sq *s, holding *h, pons_lease *ret, pons_error *err) // [lease_mtx]
{
    int rc = take_lock(s, h->line.thread, &h->lock_fd, err);
    lock_holder who = {.pid = (int64_t)getpid()};
    memcpy(who.host, s->host, sizeof who.host);
    if (!rc) {
        pons__lock_write(h->lock_fd, &who); // who it is, before the slow part
        rc = take_epoch(s, h, err);
    }
    if (rc) {
        return rc;
    }
    who.epoch = h->line.epoch;
    pons__lock_write(h->lock_fd, &who);
    *ret = (pons_lease){.epoch = h->line.epoch, .pid = who.pid, .impl = h};
    strcpy(ret->thread, h->line.thread);
    memcpy(ret->host, s->host, sizeof ret->host);
    pons__commitq_add(&s->q, &h->line);
    return PONS_OK;
}

static int delete_range(sq *s, sql_id id, int64_t owner, pons_error *err)
{
    const sql_args all = ARGS(arg_int(key_of(owner, 0)), arg_int(key_of(owner, KEY_SEQ_MAX)));
    return pons__sql_exec(&s->w, id, all, err);
}

static int delete_rows(sq *s, const char *thread, pons_error *err)
{
    static const sql_id ranges[] = {SQL_DEL_INBOX, SQL_DEL_EVENT, SQL_DEL_EFFECT};
    static const sql_id rest[] = {SQL_EFFECTS_FORGET, SQL_DEL_NS, SQL_NOTE_DEL, SQL_DEL_THREAD};
    int64_t tid;
    int code = SQLITE_DONE, rc = pons__thread_find(s, thread, &tid, err);
    sqlite3_stmt *list = rc ? NULL : pons__sql_bound(&s->w, SQL_NS_OF, ARGS(arg_int(tid)), err);
    if (!list) {
        return err->status;
    }
    while (!rc && (code = pons__sql_step(&s->w, list, err)) == SQLITE_ROW) {
        const int64_t nid = sqlite3_column_int64(list, 0);
        rc = delete_range(s, SQL_DEL_CP, nid, err);
        rc = rc ? rc : pons__sql_exec(&s->w, SQL_DEL_RECORD, ARGS(arg_int(nid)), err);
    }
    sqlite3_reset(list);
    if (!rc && code != SQLITE_DONE) {
        rc = err->status;
    }
    for (size_t i = 0; !rc && i < sizeof ranges / sizeof *ranges; i++) {
        rc = delete_range(s, ranges[i], tid, err);
    }
    for (size_t i = 0; !rc && i < sizeof rest / sizeof *rest; i++) {
        rc = pons__sql_exec(&s->w, rest[i], ARGS(arg_int(tid)), err);
    }
    return rc;
}

int pons__sq_lease_acquire(void *self, const char *thread, pons_lease *ret, pons_error *err)
{
    sq *s = self;
    err = err ? err : &(pons_error)PONS_ERROR_INIT;
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
    pthread_mutex_lock(&s->lease_mtx);
    rc = take_thread(s, h, ret, err);
    pthread_mutex_unlock(&s->lease_mtx);
    if (rc) {
        pons__holding_destroy(h);
    }
    return rc;
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
    if (!pons__lease_holder(s, thread, &who)) {
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
    err = err ? err : &(pons_error)PONS_ERROR_INIT;
    int rc = pons__store_check_thread(thread, err);
    if (rc) {
        return rc;
    }
    int fd;
    pthread_mutex_lock(&s->lease_mtx);
    rc = take_lock(s, thread, &fd, err);
    if (!rc) {
        rc = pons__transact(s, PONS_SYNC_NORMAL, err) ? delete_rows(s, thread, err) : err->status;
        rc = pons__transacted(s, rc, err);
    }
    if (fd >= 0 && (!rc || rc == PONS_ENOTFOUND)) {
        pons__lock_remove(s->locks, thread, fd);
    } else {
        pons__lock_drop(fd);
    }
    pthread_mutex_unlock(&s->lease_mtx);
    return rc;
}

bool pons__lease_holder(sq *s, const char *thread, lock_holder *ret)
{
    if (!s->in_memory) {
        return pons__lock_peek(s->locks, thread, ret);
    }
    *ret = (lock_holder){.pid = (int64_t)getpid()};
    memcpy(ret->host, s->host, sizeof ret->host);
    ret->epoch = pons__commitq_epoch(&s->q, thread);
    return ret->epoch;
}

int pons__thread_find(sq *s, const char *thread, int64_t *ret, pons_error *err)
{
    const int rc = pons__sql_number(&s->w, SQL_THREAD_GET, ARGS(arg_text(thread)), ret, err);
    if (!rc && !*ret) {
        return pons_error_set(err, PONS_ENOTFOUND, "store", "there is no thread %s", thread);
    }
    return rc;
}

void pons__holding_destroy(holding *h)
{
    if (!h) {
        return;
    }
    pons__lock_drop(h->lock_fd);
    free(h);
}
