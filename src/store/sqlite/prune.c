// prune.c - copies of threads; pruning, and space given back.
//
// A copy is four statements: rows go over with their owner's number exchanged in the key, and
// parents, which are distances, stay true.
//
// Pruning deletes in small transactions, so that others commit in between, from the newest row to
// the oldest: what is still there always has its parents, wherever it is stopped. A snapshot that
// stays while its parent goes keeps the parent's id instead of the distance to it.
//
// Free pages go back to the file system by an incremental vacuum, also in small steps. Unlike a
// VACUUM it needs no room for a second file: who prunes may have a full disk.
#include "store/sqlite/internal.h"

#include <stdlib.h>

#define PRUNE_CHUNK 200 // rows of a transaction
#define GIVE_PAGES  64  // free pages (128 KiB) that may stay for the next rows

typedef struct space_list {
    int64_t *nids;
    size_t n;
} space_list;

// ---- copies -------------------------------------------------------------------------------------

static int copy_rows(sq *s, const char *from, const char *to, pons_error *err)
{
    int64_t source, target;
    int rc = pons__thread_find(s, from, &source, err);
    if (rc) {
        return rc;
    }
    rc = pons__thread_find(s, to, &target, err);
    if (rc == PONS_OK) {
        return pons__store_exists(err, to);
    }
    if (rc == PONS_ENOTFOUND) {
        rc = pons__thread_id(s, to, &target, err);
    }
    if (!rc) {
        rc = pons__sql_run2(s, SQL_COPY_NS, source, target, err);
    }
    static const sql_id tables[] = {SQL_COPY_CP, SQL_COPY_EVENT, SQL_COPY_EFFECT};
    for (size_t i = 0; !rc && i < sizeof tables / sizeof *tables; i++) {
        sqlite3_stmt *st = pons__sql(&s->w, tables[i], err);
        if (!st) {
            return err->status;
        }
        sqlite3_bind_int64(st, 1, source);
        sqlite3_bind_int64(st, 2, target);
        sqlite3_bind_int64(st, 3, KEY_SEQ_MAX);
        rc = pons__sql_run(&s->w, st, err);
    }
    rc = rc ? rc : pons__sql_run2(s, SQL_EFFECTS_COPY, source, target, err);
    rc = rc ? rc : pons__sql_run2(s, SQL_COPY_RECORD, source, target, err);
    return rc ? rc : pons__sql_run2(s, SQL_COPY_NOTE, source, target, err);
}

// ---- pruning ------------------------------------------------------------------------------------

static int find_space(sq *s, int64_t tid, const char *ns, space_list *ret, pons_error *err)
{
    sqlite3_stmt *st = pons__sql(&s->w, SQL_NS_GET, err);
    if (!st) {
        return err->status;
    }
    int rc = PONS_OK;
    sqlite3_bind_int64(st, 1, tid);
    sqlite3_bind_text(st, 2, ns, -1, SQLITE_STATIC);
    const int code = pons__sql_step(&s->w, st, err);
    ret->nids = code == SQLITE_ROW ? malloc(sizeof *ret->nids) : NULL;
    if (ret->nids) {
        ret->nids[ret->n++] = sqlite3_column_int64(st, 0);
    } else if (code == SQLITE_ROW) {
        rc = pons_error_set(err, PONS_ENOMEM, "store", "out of memory");
    } else if (code != SQLITE_DONE) {
        rc = err->status;
    }
    sqlite3_reset(st);
    return rc;
}

static int list_spaces(sq *s, int64_t tid, space_list *ret, pons_error *err)
{
    sqlite3_stmt *st = pons__sql(&s->w, SQL_NS_NAMED, err);
    if (!st) {
        return err->status;
    }
    sqlite3_bind_int64(st, 1, tid);
    int code, rc = PONS_OK;
    size_t cap = 0;
    while (!rc && (code = pons__sql_step(&s->w, st, err)) == SQLITE_ROW) {
        if (ret->n == cap) {
            cap = cap ? cap * 2 : 16;
            int64_t *bigger = realloc(ret->nids, cap * sizeof *bigger);
            if (!bigger) {
                rc = pons_error_set(err, PONS_ENOMEM, "store", "out of memory");
            } else {
                ret->nids = bigger;
            }
        }
        if (!rc) {
            ret->nids[ret->n++] = sqlite3_column_int64(st, 0);
        }
    }
    if (!rc && code != SQLITE_DONE) {
        rc = err->status;
    }
    sqlite3_reset(st);
    return rc;
}

static int list_rows(sq *s, int64_t nid, prune_rows *ret, pons_error *err)
{
    sqlite3_stmt *st = pons__sql(&s->w, SQL_PRUNE_LIST, err);
    if (!st) {
        return err->status;
    }
    sqlite3_bind_int64(st, 1, key_of(nid, 0));
    sqlite3_bind_int64(st, 2, key_of(nid, KEY_SEQ_MAX));
    int code, rc = PONS_OK;
    while (!rc && (code = pons__sql_step(&s->w, st, err)) == SQLITE_ROW) {
        char id[32];
        pons__id_column(st, 1, id, sizeof id);
        prune_row row = {
            .key = sqlite3_column_int64(st, 0),
            .wall_ms = pons__id_wall_ms(id),
            .snapshot = sqlite3_column_int64(st, 3) & 1,
        };
        if (sqlite3_column_type(st, 2) == SQLITE_INTEGER) {
            row.parent = row.key - sqlite3_column_int64(st, 2);
        }
        if (!pons__prune_push(ret, &row)) {
            rc = pons_error_set(err, PONS_ENOMEM, "store", "out of memory");
        }
    }
    if (!rc && code != SQLITE_DONE) {
        rc = err->status;
    }
    sqlite3_reset(st);
    return rc;
}

static int keep_parents(sq *s, const prune_rows *plan, pons_error *err)
{
    int rc = PONS_OK;
    for (size_t i = 0; !rc && i < plan->n; i++) {
        const prune_row *row = &plan->at[i];
        const prune_row *parent =
            row->keep && row->parent ? pons__prune_find(plan, row->parent) : NULL;
        if (parent && !parent->keep) {
            rc = pons__sql_run2(s, SQL_PRUNE_PARENT, row->key, parent->key, err);
        }
    }
    return rc;
}

// One chunk, going down from *at.
static int delete_rows(sq *s, int64_t nid, const prune_rows *plan, size_t *at, pons_error *err)
{
    int rc = PONS_OK;
    for (int n = 0; !rc && *at > 0 && n < PRUNE_CHUNK;) {
        const prune_row *row = &plan->at[--*at];
        if (row->keep) {
            continue;
        }
        n++;
        rc = pons__sql_run2(s, SQL_PRUNE_RECORDS, nid, row->key, err);
        if (!rc) {
            rc = pons__del_one(s, SQL_PRUNE_CP, row->key, err);
        }
    }
    return rc;
}

static int prune_space(sq *s, int64_t nid, const pons_prune *what, pons_prune_result *done,
                       pons_error *err)
{
    prune_rows plan = {0};
    pons__writer_enter(s);
    int rc = list_rows(s, nid, &plan, err);
    size_t gone = rc ? 0 : pons__prune_plan(&plan, what);
    if (!rc && gone) {
        rc = pons__tx_begin(s, err);
        if (!rc) {
            rc = keep_parents(s, &plan, err);
            if (!rc) {
                rc = pons__tx_commit(s, err);
            }
            if (rc) {
                pons__tx_rollback(s);
            }
        }
    }
    pons__writer_leave(s);
    for (size_t at = gone ? plan.n : 0; !rc && at > 0;) {
        pons__writer_enter(s); // others go on between two chunks
        rc = pons__sync_set(s, PONS_SYNC_NORMAL, err);
        if (!rc) {
            rc = pons__tx_begin(s, err);
        }
        if (!rc) {
            rc = delete_rows(s, nid, &plan, &at, err);
            if (!rc) {
                rc = pons__tx_commit(s, err);
            }
            if (rc) {
                pons__tx_rollback(s);
            }
        }
        pons__writer_leave(s);
    }
    free(plan.at);
    if (!rc) {
        done->checkpoints += (int64_t)gone;
    }
    return rc;
}

static int event_key(sq *s, sql_id id, int64_t tid, int64_t since_ms, int64_t *ret, pons_error *err)
{
    sqlite3_stmt *st = pons__sql(&s->w, id, err);
    if (!st) {
        return err->status;
    }
    sqlite3_bind_int64(st, 1, key_of(tid, 0));
    sqlite3_bind_int64(st, 2, key_of(tid, KEY_SEQ_MAX));
    if (id == SQL_EVENT_SINCE) {
        sqlite3_bind_int64(st, 3, since_ms);
    }
    int code = pons__sql_step(&s->w, st, err);
    *ret = code == SQLITE_ROW ? sqlite3_column_int64(st, 0) : 0; // min() of nothing is NULL, so 0
    sqlite3_reset(st);
    return code == SQLITE_ROW || code == SQLITE_DONE ? PONS_OK : err->status;
}

// Events lie by number: what goes is a range, with the newest left so that numbers go on.
static int prune_events(sq *s, int64_t tid, int64_t since_ms, int64_t *ret, pons_error *err)
{
    int64_t last, first;
    pons__writer_enter(s);
    int rc = pons__sync_set(s, PONS_SYNC_NORMAL, err);
    if (!rc) {
        rc = event_key(s, SQL_EVENT_LAST, tid, 0, &last, err);
    }
    if (!rc) {
        rc = event_key(s, SQL_EVENT_SINCE, tid, since_ms, &first, err);
    }
    if (!rc && last) {
        rc = pons__sql_run2(s, SQL_DEL_EVENT, key_of(tid, 0), (first ? first : last) - 1, err);
        *ret = rc ? 0 : sqlite3_changes64(s->w.db);
    }
    pons__writer_leave(s);
    return rc;
}

// The lease is held: what is listed does not change, and what is added is newer.
static int prune_all(sq *s, int64_t tid, const pons_prune *what, pons_prune_result *done,
                     pons_error *err)
{
    space_list spaces = {0};
    pons__writer_enter(s);
    int rc = pons__sync_set(s, PONS_SYNC_NORMAL, err);
    if (!rc) {
        rc = what->ns ? find_space(s, tid, what->ns, &spaces, err)
                      : list_spaces(s, tid, &spaces, err);
    }
    pons__writer_leave(s);
    for (size_t i = 0; !rc && i < spaces.n; i++) {
        rc = prune_space(s, spaces.nids[i], what, done, err);
    }
    free(spaces.nids);
    if (!rc && what->events_since_ms) {
        rc = prune_events(s, tid, what->events_since_ms, &done->events, err);
    }
    return rc;
}

// ---- space --------------------------------------------------------------------------------------

static void pages(sq *s, int64_t *ret_free, int64_t *ret_bytes)
{
    pons_error ignored;
    *ret_free = *ret_bytes = 0;
    sqlite3_stmt *st = pons__sql(&s->w, SQL_PAGES_FREE, &ignored);
    if (!st || pons__sql_step(&s->w, st, &ignored) != SQLITE_ROW) {
        return;
    }
    *ret_free = sqlite3_column_int64(st, 0);
    *ret_bytes = sqlite3_column_int64(st, 1) * sqlite3_column_int64(st, 2);
    sqlite3_reset(st);
}

static int64_t file_bytes(sq *s)
{
    int64_t unused, bytes;
    pons__writer_enter(s);
    pages(s, &unused, &bytes);
    pons__writer_leave(s);
    return bytes;
}

static int give_back(sq *s, pons_error *err)
{
    int64_t left = INT64_MAX, before = 0, bytes;
    int rc = PONS_OK;
    do {
        pons__writer_enter(s);
        before = left;
        rc = pons__sync_set(s, PONS_SYNC_NORMAL, err);
        sqlite3_stmt *st = rc ? NULL : pons__sql(&s->w, SQL_PAGES_GIVE, err);
        int code = SQLITE_ROW;
        while (st && code == SQLITE_ROW) { // a row a page
            code = pons__sql_step(&s->w, st, err);
        }
        if (st) {
            sqlite3_reset(st);
        }
        if (!rc && code != SQLITE_DONE) {
            rc = err->status;
        }
        pages(s, &left, &bytes);
        pons__writer_leave(s);
    } while (!rc && left > GIVE_PAGES && left < before);
    pons__writer_enter(s);
    if (!rc) { // the file itself shrinks when the log is moved into it
        pons__wal_move(s);
    }
    pons__writer_leave(s);
    return rc;
}

int pons__sql_run2(sq *s, sql_id id, int64_t a, int64_t b, pons_error *err)
{
    sqlite3_stmt *st = pons__sql(&s->w, id, err);
    if (!st) {
        return err->status;
    }
    sqlite3_bind_int64(st, 1, a);
    sqlite3_bind_int64(st, 2, b);
    return pons__sql_run(&s->w, st, err);
}

// ---- public functions ---------------------------------------------------------------------------

int pons__sq_thread_copy(void *self, const char *from, const char *to, pons_error *err)
{
    sq *s = self;
    pons_error own;
    err = err ? err : &own;
    int rc = pons__store_check_thread(from, err);
    if (!rc) {
        rc = pons__store_check_thread(to, err);
    }
    if (rc) {
        return rc;
    }
    pons__commitq_settle_thread(&s->q, from);
    pons__writer_enter(s);
    rc = pons__sync_set(s, PONS_SYNC_NORMAL, err);
    if (!rc) {
        rc = pons__tx_begin(s, err);
    }
    if (!rc) {
        rc = copy_rows(s, from, to, err);
        if (!rc) {
            rc = pons__tx_commit(s, err);
        }
        if (rc) {
            pons__tx_rollback(s);
        }
    }
    pons__writer_leave(s);
    return rc;
}

int pons__sq_prune(void *self, const char *thread, const pons_prune *what, pons_prune_result *ret,
                   pons_error *err)
{
    sq *s = self;
    pons_error own;
    err = err ? err : &own;
    int rc = pons__prune_check(thread, what, err);
    if (rc) {
        return rc;
    }
    pons_lease mine = {0};
    const pons_lease *lease = what->lease;
    int64_t tid = 0;
    if (!lease) {
        pons__writer_enter(s);
        rc = pons__thread_find(s, thread, &tid, err); // taking a lease would make it
        pons__writer_leave(s);
        if (!rc) {
            rc = pons__sq_lease_acquire(s, thread, &mine, err);
        }
        lease = &mine;
    }
    if (rc) {
        return rc;
    }
    holding *h = (holding *)pons__commitq_find(&s->q, lease);
    if (!h) {
        return pons__store_stale(err, thread, lease->epoch, 0);
    }

    tid = h->tid;
    pons_prune_result done = {0};
    done.bytes_before = file_bytes(s);
    rc = prune_all(s, tid, what, &done, err);
    pons__writer_enter(s);
    pons__forget(s, h);
    pons__writer_leave(s);
    if (!rc && !what->more) {
        rc = give_back(s, err);
    }
    done.bytes_after = file_bytes(s);
    if (mine.impl) {
        pons__sq_lease_release(s, &mine);
    }
    if (!rc && ret) {
        *ret = done;
    }
    return rc;
}
