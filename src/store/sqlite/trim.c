// trim.c - a little of what is old, taken away in one small transaction.
//
// Everything that is looked at lies at the old end of its table, so a call costs what it takes away:
// the first snapshot behind the oldest row, a window of events, the first effects that have ended. A
// row that stays and names a parent that goes by its distance gets the parent's id instead.
//
// Pages that got free are used by the next rows. Where more of them are free than those need, calls
// that find nothing else to do give some back to the file system.
#include "store/sqlite/internal.h"

#include <string.h>

typedef struct thin_row {
    int64_t key, nid, ts_ms, type;
} thin_row;

#define FREE_PAGES 512 // 1 MiB may stay free for the next rows

// ---- space --------------------------------------------------------------------------------------

static int give_pages(sq *s, pons_trim_result *ret, pons_error *err)
{
    sqlite3_stmt *st = pons__sql(&s->w, SQL_PAGES_FREE, err);
    if (!st || pons__sql_step(&s->w, st, err) != SQLITE_ROW) {
        return err->status;
    }
    const int64_t unused = sqlite3_column_int64(st, 0), all = sqlite3_column_int64(st, 1),
                  size = sqlite3_column_int64(st, 2);
    sqlite3_reset(st);
    ret->bytes = (all - unused) * size;
    if (ret->checkpoints + ret->events + ret->effects + ret->thinned > 0 || unused <= FREE_PAGES) {
        return PONS_OK;
    }
    st = pons__sql(&s->w, SQL_PAGES_GIVE_FEW, err);
    int code = st ? SQLITE_ROW : SQLITE_ERROR;
    while (code == SQLITE_ROW) { // a row a page
        code = pons__sql_step(&s->w, st, err);
    }
    if (st) {
        sqlite3_reset(st);
    }
    ret->more = true;
    return code == SQLITE_DONE ? PONS_OK : err->status;
}

// One number of a range; 0: there is none.
static int look(sq *s, sql_id id, int64_t a, int64_t b, int64_t *ret, pons_error *err)
{
    sqlite3_stmt *st = pons__sql(&s->w, id, err);
    if (!st) {
        return err->status;
    }
    sqlite3_bind_int64(st, 1, a);
    sqlite3_bind_int64(st, 2, b);
    const int code = pons__sql_step(&s->w, st, err);
    *ret = code == SQLITE_ROW ? sqlite3_column_int64(st, 0) : 0; // NULL is 0
    sqlite3_reset(st);
    return code == SQLITE_ROW || code == SQLITE_DONE ? PONS_OK : err->status;
}

// ---- checkpoints --------------------------------------------------------------------------------

// The namespace's number; 0: there is none.
static int find_space(sq *s, int64_t tid, const char *ns, int64_t *ret, pons_error *err)
{
    sqlite3_stmt *st = pons__sql(&s->w, SQL_NS_GET, err);
    if (!st) {
        return err->status;
    }
    sqlite3_bind_int64(st, 1, tid);
    sqlite3_bind_text(st, 2, ns, -1, SQLITE_STATIC);
    const int code = pons__sql_step(&s->w, st, err);
    *ret = code == SQLITE_ROW ? sqlite3_column_int64(st, 0) : 0;
    sqlite3_reset(st);
    return code == SQLITE_ROW || code == SQLITE_DONE ? PONS_OK : err->status;
}

static int drop_checkpoint(sq *s, int64_t nid, int64_t key, pons_error *err)
{
    sqlite3_stmt *st = pons__sql(&s->w, SQL_TRIM_PARENT, err);
    if (!st) {
        return err->status;
    }
    sqlite3_bind_int64(st, 1, key);
    int rc = pons__sql_run(&s->w, st, err);
    st = rc ? NULL : pons__sql(&s->w, SQL_PRUNE_RECORDS, err);
    if (!rc && !st) {
        return err->status;
    }
    if (!rc) {
        sqlite3_bind_int64(st, 1, nid);
        sqlite3_bind_int64(st, 2, key);
        rc = pons__sql_run(&s->w, st, err);
    }
    return rc ? rc : pons__del_one(s, SQL_PRUNE_CP, key, err);
}

static int trim_checkpoints(sq *s, int64_t tid, const pons_trim *what, int32_t *left,
                            pons_trim_result *ret, pons_error *err)
{
    int64_t nid = 0, key = 0, floor = 0, first = 0, end = 0;
    int rc = find_space(s, tid, what->ns, &nid, err);
    if (!rc) {
        rc = nid ? pons__checkpoint_key(&s->w, nid, what->before, &key, err) : PONS_ENOTFOUND;
        rc = rc == PONS_ENOTFOUND ? pons__trim_lost(what, err) : rc;
    }
    rc = rc ? rc : look(s, SQL_TRIM_FLOOR, key_of(nid, 0), key, &floor, err);
    rc = rc ? rc : look(s, SQL_TRIM_FIRST, key_of(nid, 0), key, &first, err);
    if (rc || !floor || first >= floor) {
        return rc;
    }
    rc = look(s, SQL_TRIM_END, first, floor, &end, err);
    // From the end of the oldest stretch: what is left of it can be read.
    for (int64_t at = end; !rc && *left > 0;) {
        rc = look(s, SQL_TRIM_LAST, first, at - 1, &at, err);
        if (rc || !at) {
            break;
        }
        rc = drop_checkpoint(s, nid, at, err);
        (*left)--;
        ret->checkpoints++;
    }
    rc = rc ? rc : look(s, SQL_TRIM_FIRST, key_of(nid, 0), key, &first, err);
    ret->more = ret->more || first < floor;
    return rc;
}

// ---- events -------------------------------------------------------------------------------------

// An event without its payload. It is put anew: a row that only shrinks leaves its page as empty as
// it makes it, while pages that lose rows are joined.
static int thin_one(sq *s, const thin_row *row, pons_error *err)
{
    const int rc = pons__del_one(s, SQL_TRIM_EVENT, row->key, err);
    sqlite3_stmt *st = rc ? NULL : pons__sql(&s->w, SQL_THIN_PUT, err);
    if (!st) {
        return err->status;
    }
    sqlite3_bind_int64(st, 1, row->key);
    sqlite3_bind_int64(st, 2, row->nid);
    sqlite3_bind_int64(st, 3, row->ts_ms);
    sqlite3_bind_int64(st, 4, row->type);
    sqlite3_bind_blob(st, 5, PONS__PRUNED_JSON, sizeof PONS__PRUNED_JSON - 1, SQLITE_STATIC);
    return pons__sql_run(&s->w, st, err);
}

static int thin_events(sq *s, int64_t tid, pons_trim *what, int32_t *left, pons_trim_result *ret,
                       pons_error *err)
{
    while (*left > 0 && what->thin_at + 1 < what->thin_before) {
        sqlite3_stmt *st = pons__sql(&s->w, SQL_THIN_NEXT, err);
        if (!st) {
            return err->status;
        }
        sqlite3_bind_int64(st, 1, key_of(tid, what->thin_at + 1));
        sqlite3_bind_int64(st, 2, key_of(tid, what->thin_before) - 1);
        const int code = pons__sql_step(&s->w, st, err);
        thin_row row = {0};
        bool thin = false;
        if (code == SQLITE_ROW) {
            row = (thin_row){sqlite3_column_int64(st, 0), sqlite3_column_int64(st, 3),
                             sqlite3_column_int64(st, 4), sqlite3_column_int64(st, 5)};
            thin = sqlite3_column_int64(st, 2) >= (int64_t)sizeof PONS__PRUNED_JSON &&
                   pons__trim_names(what->thin_types, pons__text_column(st, 1));
        }
        sqlite3_reset(st);
        if (code != SQLITE_ROW && code != SQLITE_DONE) {
            return err->status;
        }
        if (!row.key) {
            return PONS_OK;
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
                       ? look(s, SQL_EVENT_FIRST, key_of(tid, what->thin_at + 1),
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
    int rc = look(s, SQL_EVENT_LAST, key_of(tid, 0), key_of(tid, KEY_SEQ_MAX), &last, err);
    const int64_t before = last < end ? last : end; // the newest stays
    for (rc = rc ? rc : look(s, SQL_EVENT_FIRST, key_of(tid, 0), before - 1, &first, err);
         !rc && first && *left > 0;
         rc = rc ? rc : look(s, SQL_EVENT_FIRST, first, before - 1, &first, err)) {
        rc = pons__del_one(s, SQL_TRIM_EVENT, first, err);
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
    int rc = look(s, SQL_EFFECT_LAST, key_of(tid, 0), key_of(tid, KEY_SEQ_MAX), &last, err);
    while (!rc && last && more) {
        sqlite3_stmt *st = pons__sql(&s->w, SQL_TRIM_EFFECT_NEXT, err);
        if (!st) {
            return err->status;
        }
        sqlite3_bind_int64(st, 1, at);
        sqlite3_bind_int64(st, 2, last - 1); // the newest stays
        sqlite3_bind_int64(st, 3, what->effect_states);
        const int code = pons__sql_step(&s->w, st, err);
        const bool any = code == SQLITE_ROW;
        at = any ? sqlite3_column_int64(st, 0) : at;
        const bool stop = !any || sqlite3_column_int64(st, 1) >= what->effects_before_ms;
        const bool goes = !stop && sqlite3_column_int64(st, 2) < what->effects_before_ms;
        sqlite3_reset(st);
        if (!any && code != SQLITE_DONE) {
            return err->status;
        }
        ret->more = ret->more || (!stop && *left == 0);
        more = !stop && *left > 0;
        if (!more) {
            break;
        }
        rc = goes ? pons__del_one(s, SQL_TRIM_EFFECT, at, err) : PONS_OK;
        ret->effects += goes;
        (*left)--; // those that are passed over count, too
        at++;
    }
    // How many went: what is missing beyond them was lost (damage_check.c).
    return rc || !ret->effects ? rc : pons__sql_run2(s, SQL_EFFECTS_GONE, tid, ret->effects, err);
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
    pons_error own;
    err = err ? err : &own;
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
    pons__writer_enter(s);
    rc = pons__sync_set(s, PONS_SYNC_NORMAL, err);
    rc = rc ? rc : pons__tx_begin(s, err);
    if (!rc) {
        rc = trim_all(s, h, &wish, &done, err);
        rc = rc ? rc : pons__tx_commit(s, err);
        if (rc) {
            pons__tx_rollback(s);
        }
    }
    if (!rc) {
        rc = give_pages(s, &done, err);
    }
    pons__writer_leave(s);
    if (!rc) {
        what->thin_at = wish.thin_at;
    }
    if (!rc && ret) {
        *ret = done;
    }
    return rc;
}
