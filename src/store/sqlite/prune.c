// prune.c - copies of threads; pruning; trimming, a little of what is old in one small transaction; space
// given back.
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
//
// What a trim looks at lies at the old end of its table, so a call costs what it takes away:
// the first snapshot behind the oldest row, a window of events, the first effects that have ended. A
// row that stays and names a parent that goes by its distance gets the parent's id instead.
//
// Pages that got free are used by the next rows. Where more of them are free than those need, calls
// that find nothing else to do give some back to the file system.
#include "pons/growing_list.h"
#include "store/sqlite/internal.h"

#include <stdlib.h>

#define PRUNE_CHUNK 200 // rows of a transaction
#define FREE_PAGES  512 // 1 MiB may stay free for the next rows
#define GIVE_PAGES  64  // free pages (128 KiB) that may stay for the next rows

typedef struct thin_row {
    int64_t key, nid, ts_ms, type;
} thin_row;

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
    static const sql_id tables[] = {SQL_COPY_NS,     SQL_COPY_CP,      SQL_COPY_EVENT,
                                    SQL_COPY_EFFECT, SQL_EFFECTS_COPY, SQL_COPY_RECORD,
                                    SQL_COPY_NOTE};
    for (size_t i = 0; !rc && i < sizeof tables / sizeof *tables; i++) {
        rc = pons__sql_exec(&s->w, tables[i], ARGS(arg_int(source), arg_int(target)), err);
    }
    return rc;
}

// ---- pruning ------------------------------------------------------------------------------------

// All of them, or the one of this name.
static int list_spaces(sq *s, int64_t tid, const char *ns, space_list *ret, pons_error *err)
{
    sqlite3_stmt *st = pons__sql_bound(&s->w, SQL_NS_NAMED, ARGS(arg_int(tid), arg_text(ns)), err);
    int code = SQLITE_ERROR, rc = st ? PONS_OK : err->status;
    size_t cap = 0;
    while (!rc && (code = pons__sql_step(&s->w, st, err)) == SQLITE_ROW) {
        if (!pons_list_reserve(&ret->nids, &cap, ret->n + 1, sizeof *ret->nids)) {
            rc = pons_error_set(err, PONS_ENOMEM, "store", "out of memory");
            break;
        }
        ret->nids[ret->n++] = sqlite3_column_int64(st, 0);
    }
    sqlite3_reset(st);
    return !rc && code != SQLITE_DONE ? err->status : rc;
}

static int list_rows(sq *s, int64_t nid, prune_rows *ret, pons_error *err)
{
    sqlite3_stmt *st =
        pons__sql_bound(&s->w, SQL_PRUNE_LIST,
                        ARGS(arg_int(key_of(nid, 0)), arg_int(key_of(nid, KEY_SEQ_MAX))), err);
    if (!st) {
        return err->status;
    }
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
            rc = pons__sql_exec(&s->w, SQL_PRUNE_PARENT,
                                ARGS(arg_int(row->key), arg_int(parent->key)), err);
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
        rc = pons__sql_exec(&s->w, SQL_PRUNE_RECORDS, ARGS(arg_int(nid), arg_int(row->key)), err);
        rc = rc ? rc : pons__sql_exec(&s->w, SQL_PRUNE_CP, ARGS(arg_int(row->key)), err);
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
        rc = pons__sql_do(&s->w, SQL_BEGIN_WRITE, err) ? err->status : keep_parents(s, &plan, err);
        rc = pons__transacted(s, rc, err);
    } else {
        pons__writer_leave(s);
    }
    for (size_t at = gone ? plan.n : 0; !rc && at > 0;) {
        rc = pons__transact(s, PONS_SYNC_NORMAL, err) ? delete_rows(s, nid, &plan, &at, err)
                                                      : err->status;
        rc = pons__transacted(s, rc, err); // others go on between two chunks
    }
    free(plan.at);
    if (!rc) {
        done->checkpoints += (int64_t)gone;
    }
    return rc;
}

// Events lie by number: what goes is a range, with the newest left so that numbers go on.
static int prune_events(sq *s, int64_t tid, int64_t since_ms, int64_t *ret, pons_error *err)
{
    const sql_arg from = arg_int(key_of(tid, 0)), to = arg_int(key_of(tid, KEY_SEQ_MAX));
    int64_t last = 0, first = 0;
    pons__writer_enter(s);
    int rc = pons__sync_set(s, PONS_SYNC_NORMAL, err);
    rc = rc ? rc : pons__sql_number(&s->w, SQL_EVENT_LAST, ARGS(from, to), &last, err);
    rc = rc ? rc
            : pons__sql_number(&s->w, SQL_EVENT_SINCE, ARGS(from, to, arg_int(since_ms)), &first,
                               err);
    if (!rc && last) {
        const int64_t end = (first ? first : last) - 1;
        rc = pons__sql_exec(&s->w, SQL_DEL_EVENT, ARGS(from, arg_int(end)), err);
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
    rc = rc ? rc : list_spaces(s, tid, what->ns, &spaces, err);
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

typedef struct page_counts {
    int64_t unused, all, bytes; // bytes: of one
} page_counts;

static int count_pages(sq *s, page_counts *ret, pons_error *err)
{
    sqlite3_stmt *st;
    const int got = pons__sql_first(&s->w, SQL_PAGES_FREE, NO_ARGS, &st, err);
    *ret = (page_counts){0};
    if (got > 0) {
        *ret = (page_counts){sqlite3_column_int64(st, 0), sqlite3_column_int64(st, 1),
                             sqlite3_column_int64(st, 2)};
    }
    sqlite3_reset(st);
    return got < 0 ? got : PONS_OK;
}

// Gives some pages back: a row a page.
static int vacuum(sq *s, sql_id id, pons_error *err)
{
    sqlite3_stmt *st = pons__sql(&s->w, id, err);
    int code = st ? SQLITE_ROW : SQLITE_ERROR;
    while (code == SQLITE_ROW) {
        code = pons__sql_step(&s->w, st, err);
    }
    sqlite3_reset(st);
    return code == SQLITE_DONE ? PONS_OK : err->status;
}

static int64_t file_bytes(sq *s)
{
    page_counts n;
    pons_error ignored;
    pons__writer_enter(s);
    count_pages(s, &n, &ignored);
    pons__writer_leave(s);
    return n.all * n.bytes;
}

static int give_back(sq *s, pons_error *err)
{
    int64_t left = INT64_MAX, before = 0;
    pons_error ignored;
    int rc = PONS_OK;
    do {
        page_counts n;
        pons__writer_enter(s);
        before = left;
        rc = pons__sync_set(s, PONS_SYNC_NORMAL, err);
        rc = rc ? rc : vacuum(s, SQL_PAGES_GIVE, err);
        count_pages(s, &n, &ignored);
        left = n.unused;
        pons__writer_leave(s);
    } while (!rc && left > GIVE_PAGES && left < before);
    pons__writer_enter(s);
    if (!rc) { // the file itself shrinks when the log is moved into it
        pons__wal_move(s);
    }
    pons__writer_leave(s);
    return rc;
}

// ---- public functions ---------------------------------------------------------------------------

int pons__sq_thread_copy(void *self, const char *from, const char *to, pons_error *err)
{
    sq *s = self;
    err = err ? err : &(pons_error)PONS_ERROR_INIT;
    int rc = pons__store_check_thread(from, err);
    rc = rc ? rc : pons__store_check_thread(to, err);
    if (rc) {
        return rc;
    }
    pons__commitq_settle_thread(&s->q, from);
    rc = pons__transact(s, PONS_SYNC_NORMAL, err) ? copy_rows(s, from, to, err) : err->status;
    return pons__transacted(s, rc, err);
}

int pons__sq_prune(void *self, const char *thread, const pons_prune *what, pons_prune_result *ret,
                   pons_error *err)
{
    sq *s = self;
    err = err ? err : &(pons_error)PONS_ERROR_INIT;
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
        rc = rc ? rc : pons__sq_lease_acquire(s, thread, &mine, err);
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

// ---- trimming: space ----------------------------------------------------------------------------

static int give_pages(sq *s, pons_trim_result *ret, pons_error *err)
{
    page_counts n;
    const int rc = count_pages(s, &n, err);
    if (rc) {
        return rc;
    }
    ret->bytes = (n.all - n.unused) * n.bytes;
    if (ret->checkpoints + ret->events + ret->effects + ret->thinned > 0 ||
        n.unused <= FREE_PAGES) {
        return PONS_OK;
    }
    ret->more = true;
    return vacuum(s, SQL_PAGES_GIVE_FEW, err);
}

// One number of a range; 0: there is none.
static int number_in(sq *s, sql_id id, int64_t a, int64_t b, int64_t *ret, pons_error *err)
{
    return pons__sql_number(&s->w, id, ARGS(arg_int(a), arg_int(b)), ret, err);
}

// ---- checkpoints --------------------------------------------------------------------------------

static int drop_checkpoint(sq *s, int64_t nid, int64_t key, pons_error *err)
{
    int rc = pons__sql_exec(&s->w, SQL_TRIM_PARENT, ARGS(arg_int(key)), err);
    rc = rc ? rc : pons__sql_exec(&s->w, SQL_PRUNE_RECORDS, ARGS(arg_int(nid), arg_int(key)), err);
    return rc ? rc : pons__sql_exec(&s->w, SQL_PRUNE_CP, ARGS(arg_int(key)), err);
}

static int trim_checkpoints(sq *s, int64_t tid, const pons_trim *what, int32_t *left,
                            pons_trim_result *ret, pons_error *err)
{
    int64_t nid = 0, key = 0, floor = 0, first = 0, end = 0;
    int rc = pons__sql_number(&s->w, SQL_NS_GET, ARGS(arg_int(tid), arg_text(what->ns)), &nid, err);
    if (!rc) {
        rc = nid ? pons__checkpoint_key(&s->w, nid, what->before, &key, err) : PONS_ENOTFOUND;
        rc = rc == PONS_ENOTFOUND ? pons__trim_lost(what, err) : rc;
    }
    rc = rc ? rc : number_in(s, SQL_TRIM_FLOOR, key_of(nid, 0), key, &floor, err);
    rc = rc ? rc : number_in(s, SQL_TRIM_FIRST, key_of(nid, 0), key, &first, err);
    if (rc || !floor || first >= floor) {
        return rc;
    }
    rc = number_in(s, SQL_TRIM_END, first, floor, &end, err);
    // From the end of the oldest stretch: what is left of it can be read.
    for (int64_t at = end; !rc && *left > 0;) {
        rc = number_in(s, SQL_TRIM_LAST, first, at - 1, &at, err);
        if (rc || !at) {
            break;
        }
        rc = drop_checkpoint(s, nid, at, err);
        (*left)--;
        ret->checkpoints++;
    }
    rc = rc ? rc : number_in(s, SQL_TRIM_FIRST, key_of(nid, 0), key, &first, err);
    ret->more = ret->more || first < floor;
    return rc;
}

// ---- events -------------------------------------------------------------------------------------

// An event without its payload. It is put anew: a row that only shrinks leaves its page as empty as
// it makes it, while pages that lose rows are joined.
static int thin_one(sq *s, const thin_row *row, pons_error *err)
{
    static const pons_bytes pruned = {PONS__PRUNED_JSON, sizeof PONS__PRUNED_JSON - 1};
    const int rc = pons__sql_exec(&s->w, SQL_TRIM_EVENT, ARGS(arg_int(row->key)), err);
    return rc ? rc
              : pons__sql_exec(&s->w, SQL_THIN_PUT,
                               ARGS(arg_int(row->key), arg_int(row->nid), arg_int(row->ts_ms),
                                    arg_int(row->type), arg_bytes(pruned)),
                               err);
}

static int thin_events(sq *s, int64_t tid, pons_trim *what, int32_t *left, pons_trim_result *ret,
                       pons_error *err)
{
    while (*left > 0 && what->thin_at + 1 < what->thin_before) {
        sqlite3_stmt *st;
        const int got = pons__sql_first(&s->w, SQL_THIN_NEXT,
                                        ARGS(arg_int(key_of(tid, what->thin_at + 1)),
                                             arg_int(key_of(tid, what->thin_before) - 1)),
                                        &st, err);
        thin_row row = {0};
        bool thin = false;
        if (got > 0) {
            row = (thin_row){sqlite3_column_int64(st, 0), sqlite3_column_int64(st, 3),
                             sqlite3_column_int64(st, 4), sqlite3_column_int64(st, 5)};
            thin = sqlite3_column_int64(st, 2) >= (int64_t)sizeof PONS__PRUNED_JSON &&
                   pons__trim_names(what->thin_types, pons__text_column(st, 1));
        }
        sqlite3_reset(st);
        if (got <= 0) {
            return got;
        }
        const int rc = thin ? thin_one(s, &row, err) : PONS_OK;
        if (rc) {
            return rc;
        }
        ret->thinned += thin;
        what->thin_at = key_seq(row.key);
        (*left)--;
    }
    int64_t next = 0;
    const int rc = what->thin_at + 1 < what->thin_before
                       ? number_in(s, SQL_EVENT_FIRST, key_of(tid, what->thin_at + 1),
                                   key_of(tid, what->thin_before) - 1, &next, err)
                       : PONS_OK;
    ret->more = ret->more || next;
    return rc;
}

static int trim_events(sq *s, int64_t tid, const pons_trim *what, int32_t *left,
                       pons_trim_result *ret, pons_error *err)
{
    int64_t last = 0, first = 0;
    const int64_t end = key_of(tid, what->events_before);
    if (what->events_before <= 0) {
        return PONS_OK;
    }
    int rc = number_in(s, SQL_EVENT_LAST, key_of(tid, 0), key_of(tid, KEY_SEQ_MAX), &last, err);
    const int64_t before = last < end ? last : end; // the newest stays
    for (rc = rc ? rc : number_in(s, SQL_EVENT_FIRST, key_of(tid, 0), before - 1, &first, err);
         !rc && first && *left > 0;
         rc = rc ? rc : number_in(s, SQL_EVENT_FIRST, first, before - 1, &first, err)) {
        rc = pons__sql_exec(&s->w, SQL_TRIM_EVENT, ARGS(arg_int(first)), err);
        ret->events++;
        (*left)--;
    }
    ret->more = ret->more || (!rc && first);
    return rc;
}

// ---- effects ------------------------------------------------------------------------------------

static int trim_effects(sq *s, int64_t tid, const pons_trim *what, int32_t *left,
                        pons_trim_result *ret, pons_error *err)
{
    int64_t at = key_of(tid, 0), last = 0;
    bool more = true;
    int rc = number_in(s, SQL_EFFECT_LAST, key_of(tid, 0), key_of(tid, KEY_SEQ_MAX), &last, err);
    while (!rc && last && more) {
        sqlite3_stmt *st;
        const int got = pons__sql_first(
            &s->w, SQL_TRIM_EFFECT_NEXT, // the newest stays
            ARGS(arg_int(at), arg_int(last - 1), arg_int(what->effect_states)), &st, err);
        const bool any = got > 0;
        at = any ? sqlite3_column_int64(st, 0) : at;
        const bool stop = !any || sqlite3_column_int64(st, 1) >= what->effects_before_ms;
        const bool goes = !stop && sqlite3_column_int64(st, 2) < what->effects_before_ms;
        sqlite3_reset(st);
        if (got < 0) {
            return got;
        }
        ret->more = ret->more || (!stop && *left == 0);
        more = !stop && *left > 0;
        if (!more) {
            break;
        }
        rc = goes ? pons__sql_exec(&s->w, SQL_TRIM_EFFECT, ARGS(arg_int(at)), err) : PONS_OK;
        ret->effects += goes;
        (*left)--; // those that are passed over count, too
        at++;
    }
    // How many went: what is missing beyond them was lost (damage_check.c).
    const sql_args gone = ARGS(arg_int(tid), arg_int(ret->effects));
    return rc || !ret->effects ? rc : pons__sql_exec(&s->w, SQL_EFFECTS_GONE, gone, err);
}

// ---- public functions ---------------------------------------------------------------------------

static int trim_all(sq *s, const holding *h, pons_trim *what, pons_trim_result *ret,
                    pons_error *err)
{
    int32_t left = what->limit;
    int rc = pons__sql_fence(s, h, err);
    rc = rc || !what->before ? rc : trim_checkpoints(s, h->tid, what, &left, ret, err);
    rc = rc ? rc : thin_events(s, h->tid, what, &left, ret, err);
    rc = rc ? rc : trim_events(s, h->tid, what, &left, ret, err);
    return rc || !what->effects_before_ms ? rc : trim_effects(s, h->tid, what, &left, ret, err);
}

int pons__sq_trim(void *self, pons_trim *what, pons_trim_result *ret, pons_error *err)
{
    sq *s = self;
    err = err ? err : &(pons_error)PONS_ERROR_INIT;
    int rc = pons__trim_check(what, err);
    if (rc) {
        return rc;
    }
    holding *h = (holding *)pons__commitq_find(&s->q, what->lease);
    if (!h) {
        return pons__store_stale(err, what->lease->thread, what->lease->epoch, 0);
    }
    pons_trim_result done = {0};
    pons_trim wish = *what; // the cursor moves when it is committed
    wish.thin_before = wish.thin_before < KEY_SEQ_MAX ? wish.thin_before : KEY_SEQ_MAX;
    wish.events_before = wish.events_before < KEY_SEQ_MAX ? wish.events_before : KEY_SEQ_MAX;
    rc = pons__transact(s, PONS_SYNC_NORMAL, err) ? trim_all(s, h, &wish, &done, err) : err->status;
    rc = pons__transacted(s, rc, err);
    if (!rc) {
        pons__writer_enter(s);
        rc = give_pages(s, &done, err);
        pons__writer_leave(s);
    }
    if (!rc) {
        what->thin_at = wish.thin_at;
    }
    if (!rc && ret) {
        *ret = done;
    }
    return rc;
}
