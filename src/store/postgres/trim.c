// trim.c - a little of what is old, taken away in one small transaction.
//
// One transaction on a connection of its own: the fence first, then a statement for each kind of
// row. Pages that got free are the server's to use again (autovacuum); how much it uses is asked
// only when there was nothing else to do, as that takes it longer.
#include "store/postgres/postgres.h"

static int trim_checkpoints(pg_conn *c, const pg_holding *h, const pons_trim *what, int32_t *left,
                            pons_trim_result *ret, pons_error *err)
{
    PGresult *r = NULL;
    int rc = pons__pg_run(
        c, PG_TRIM_CP,
        ARGS(arg_int(h->tid), arg_text(what->ns), arg_id(what->before), arg_int(*left)), &r, err);
    if (!rc && pons__pg_col_int(r, 0, 0) == 0) {
        rc = pons__trim_lost(what, err);
    } else if (!rc) { // the last column counts as it was before, and no further than one more
        ret->checkpoints = pons__pg_col_int(r, 0, 1);
        ret->more = pons__pg_col_int(r, 0, 2) > ret->checkpoints;
        *left -= (int32_t)ret->checkpoints;
    }
    PQclear(r);
    return rc;
}

static int thin_events(pg_conn *c, const pg_holding *h, pons_trim *what, int32_t *left,
                       pons_trim_result *ret, pons_error *err)
{
    static const pons_bytes pruned = {PONS__PRUNED_JSON, sizeof PONS__PRUNED_JSON - 1};
    PGresult *r = NULL;
    int rc = pons__pg_run(c, PG_THIN,
                          ARGS(arg_int(h->tid), arg_int(what->thin_at), arg_int(what->thin_before),
                               arg_int((int64_t)*left + 1)),
                          &r, err);
    const int n = rc ? 0 : PQntuples(r);
    ret->more = ret->more || n > *left;
    for (int i = 0; !rc && i<n && * left> 0; i++, (*left)--) {
        what->thin_at = pons__pg_col_int(r, i, 0);
        if (!pons__trim_names(what->thin_types, pons__pg_col_text(r, i, 1)) ||
            pons__pg_col_int(r, i, 2) <= (int64_t)pruned.len) {
            continue;
        }
        rc = pons__pg_run(c, PG_THIN_EVENT,
                          ARGS(arg_int(h->tid), arg_int(what->thin_at), arg_bytes(pruned)), NULL,
                          err);
        ret->thinned++;
    }
    PQclear(r);
    return rc;
}

// A statement whose row says how many went and how many would.
static int counts(pg_conn *c, pg_sql id, sql_args args, int64_t *ret_gone, int64_t *ret_all,
                  pons_error *err)
{
    PGresult *r = NULL;
    const int rc = pons__pg_run(c, id, args, &r, err);
    if (!rc) {
        *ret_gone = pons__pg_col_int(r, 0, 0);
        *ret_all = pons__pg_col_int(r, 0, 1);
    }
    PQclear(r);
    return rc;
}

static int trim_events(pg_conn *c, const pg_holding *h, const pons_trim *what, int32_t *left,
                       pons_trim_result *ret, pons_error *err)
{
    int64_t all = 0;
    const int rc = counts(c, PG_TRIM_EVENTS,
                          ARGS(arg_int(h->tid), arg_int(what->events_before), arg_int(*left)),
                          &ret->events, &all, err);
    ret->more = ret->more || all > ret->events;
    *left -= (int32_t)ret->events;
    return rc;
}

static int trim_effects(pg_conn *c, const pg_holding *h, const pons_trim *what, int32_t *left,
                        pons_trim_result *ret, pons_error *err)
{
    int64_t all = 0;
    const int rc = counts(c, PG_TRIM_EFFECTS,
                          ARGS(arg_int(h->tid), arg_int(what->effects_before_ms), arg_int(*left),
                               arg_int(what->effect_states)),
                          &ret->effects, &all, err);
    ret->more = ret->more || all > ret->effects;
    *left -= (int32_t)ret->effects;
    return rc;
}

static int trim_all(pg_conn *c, const pg_holding *h, pons_trim *what, pons_trim_result *ret,
                    pons_error *err)
{
    int32_t left = what->limit;
    int rc = pons__pg_run(c, PG_FENCE, ARGS(arg_int(h->tid), arg_int((int64_t)h->line.epoch)), NULL,
                          err);
    rc = rc || !what->before ? rc : trim_checkpoints(c, h, what, &left, ret, err);
    rc = rc || !what->thin_before ? rc : thin_events(c, h, what, &left, ret, err);
    rc = rc || !what->events_before ? rc : trim_events(c, h, what, &left, ret, err);
    return rc || !what->effects_before_ms ? rc : trim_effects(c, h, what, &left, ret, err);
}

int pons__pg_trim(void *self, pons_trim *what, pons_trim_result *ret, pons_error *err)
{
    pg *s = self;
    err = err ? err : &(pons_error)PONS_ERROR_INIT;
    int rc = pons__trim_check(what, err);
    if (rc) {
        return rc;
    }
    const pg_holding *h = (const pg_holding *)pons__commitq_find(&s->q, what->lease);
    if (!h) {
        return pons__store_stale(err, what->lease->thread, what->lease->epoch, 0);
    }
    pons_trim_result done = {0};
    pons_trim wish = *what; // the cursor moves when it is committed
    pg_conn *c = pons__pg_take(s, err);
    if (!c) {
        return err->status;
    }
    rc = pons__pg_exec(c, "BEGIN; SET LOCAL synchronous_commit=off", err);
    if (!rc) {
        rc = trim_all(c, h, &wish, &done, err);
        pons_error ignored;
        rc = rc ? rc : pons__pg_exec(c, "COMMIT", err);
        if (rc) {
            pons__pg_exec(c, "ROLLBACK", &ignored);
        }
    }
    PGresult *r = NULL;
    if (!rc && !done.more && !pons__pg_run(c, PG_BYTES, NO_ARGS, &r, err)) {
        done.bytes = pons__pg_col_int(r, 0, 0);
    }
    PQclear(r);
    pons__pg_give(s, c);
    if (!rc) {
        what->thin_at = wish.thin_at;
    }
    if (!rc && ret) {
        *ret = done;
    }
    return rc;
}
