// lanes.c - sessions in the lanes of their targets.
//
// The tables are those of the file's store (sqlite/lanes.c). Each call is one statement, mostly one
// function of the schema, so it costs one round trip. A claim takes the row of the first lane that is
// free and that nobody else is just taking (FOR UPDATE SKIP LOCKED), however many sessions wait; whatever
// changes a lane's sessions locks the lane's row first. Only a change of a lane's first session notifies
// the channel `pons_lane`, which the keeper's connection hears: a notice costs a lock of the whole server.
#include "store/postgres/postgres.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int give(const PGresult *r, int row, pons_session_fn fn, void *user)
{
    const pons_session_row x = {
        .seq = pons__pg_col_int(r, row, 0),
        .id = pons__pg_col_text(r, row, 1),
        .lane = pons__pg_col_text(r, row, 2),
        .priority = (int32_t)pons__pg_col_int(r, row, 3),
        .order_ms = pons__pg_col_int(r, row, 4),
        .state = (int32_t)pons__pg_col_int(r, row, 5),
        .attempt = (int32_t)pons__pg_col_int(r, row, 6),
        .epoch = (uint64_t)pons__pg_col_int(r, row, 7),
        .owner = pons__pg_col_text(r, row, 8),
        .due_ms = pons__pg_col_int(r, row, 9),
        .data = pons__pg_col_bytes(r, row, 10),
        .note = pons__pg_col_bytes(r, row, 11),
    };
    return fn(user, &x);
}

// Runs a statement whose rows are sessions, and gives them. *ret_rows may be NULL.
static int sessions(pg *s, pg_sql id, const pg_params *p, pons_session_fn fn, void *user,
                    int *ret_rows, pons_error *err)
{
    PGresult *r = NULL;
    const int rc = pons__pg_once(s, id, p, &r, err);
    const int n = rc ? 0 : PQntuples(r);
    for (int i = 0; i < n; i++) {
        if (give(r, i, fn, user)) {
            break;
        }
    }
    PQclear(r);
    if (ret_rows) {
        *ret_rows = n;
    }
    return rc;
}

// ---- what is waiting ----------------------------------------------------------------------------

static int by_lane(const void *a, const void *b)
{
    const pons_session_row *const *x = a, *const *y = b;
    const int order = strcmp((*x)->lane, (*y)->lane);
    return order ? order : (*x > *y) - (*x < *y);
}

static int add_all(pg_conn *c, const pons_session_row *const *rows, size_t n, pons_error *err)
{
    int rc = n > 1 ? pons__pg_run(c, PG_BEGIN, NULL, NULL, err) : PONS_OK;
    for (size_t i = 0; i < n && !rc; i++) {
        pg_params p = {0};
        pons__pg_text(&p, rows[i]->id);
        pons__pg_text(&p, rows[i]->lane);
        pons__pg_int(&p, rows[i]->priority);
        pons__pg_int(&p, rows[i]->order_ms);
        pons__pg_bytes(&p, rows[i]->data);
        rc = pons__pg_run(c, PG_SESSION_ADD, &p, NULL, err);
        rc = rc == PONS_EEXIST ? pons__session_exists(err, rows[i]->id) : rc;
    }
    rc = rc || n == 1 ? rc : pons__pg_run(c, PG_COMMIT, NULL, NULL, err);
    pons_error ignored;
    if (rc && PQstatus(c->c) == CONNECTION_OK && PQtransactionStatus(c->c) != PQTRANS_IDLE) {
        pons__pg_exec(c, "ROLLBACK", &ignored);
    }
    return rc;
}

// In the order of lanes, so that two who enqueue never wait for each other in a circle; those of a
// lane stay in theirs.
static int pg_enqueue(void *self, const pons_session_row *rows, size_t n, pons_error *err)
{
    pg *s = self;
    pons_error own;
    err = err ? err : &own;
    int rc = pons__session_check_rows(rows, n, err);
    if (rc || n == 0) {
        return rc;
    }
    const pons_session_row **order = malloc(n * sizeof *order);
    pg_conn *c = order ? pons__pg_take(s, err) : NULL;
    if (!order) {
        return pons_error_set(err, PONS_ENOMEM, "store", "out of memory");
    }
    for (size_t i = 0; i < n; i++) {
        order[i] = &rows[i];
    }
    qsort(order, n, sizeof *order, by_lane);
    rc = c ? add_all(c, order, n, err) : err->status;
    pons__pg_give(s, c);
    free(order);
    return rc;
}

// What a function that gives the session's state has said.
static int changed(pg *s, pg_sql id, const pg_params *p, const char *session, pons_error *err)
{
    PGresult *r = NULL;
    int rc = pons__pg_once(s, id, p, &r, err);
    if (!rc && PQgetisnull(r, 0, 0)) {
        rc = pons__session_not_found(err, session);
    } else if (!rc && pons__pg_col_int(r, 0, 0) > PONS_SESSION_WAITING) {
        rc = pons__session_fixed(err, session, (int32_t)pons__pg_col_int(r, 0, 0));
    }
    PQclear(r);
    return rc;
}

static int pg_change(void *self, const pons_session_row *row, pons_error *err)
{
    pons_error own;
    err = err ? err : &own;
    const int rc = pons__session_check(row, err);
    if (rc) {
        return rc;
    }
    pg_params p = {0};
    pons__pg_text(&p, row->id);
    pons__pg_text(&p, row->lane);
    pons__pg_int(&p, row->priority);
    pons__pg_int(&p, row->order_ms);
    pons__pg_bytes(&p, row->data);
    return changed(self, PG_SESSION_CHANGE, &p, row->id, err);
}

static int pg_cancel(void *self, const char *id, pons_bytes note, pons_error *err)
{
    pons_error own;
    pg_params p = {0};
    pons__pg_text(&p, id);
    pons__pg_bytes(&p, note);
    return changed(self, PG_SESSION_CANCEL, &p, id, err ? err : &own);
}

static int pg_wake(void *self, int64_t now_ms, int64_t *ret_due_ms, pons_error *err)
{
    pons_error own;
    PGresult *r = NULL;
    pg_params p = {0};
    pons__pg_int(&p, now_ms);
    const int rc = pons__pg_once(self, PG_SESSION_WAKE, &p, &r, err ? err : &own);
    if (!rc && ret_due_ms) {
        *ret_due_ms = pons__pg_col_int(r, 0, 0);
    }
    PQclear(r);
    return rc;
}

// ---- what runs ----------------------------------------------------------------------------------

// Names as an array of PostgreSQL; NULL: out of memory. The caller frees it.
static char *array_of(const char *const *names, size_t n)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) {
        return NULL;
    }
    fputc('{', out);
    for (size_t i = 0; i < n; i++) {
        fputs(i ? ",\"" : "\"", out);
        for (const char *c = names[i]; *c; c++) {
            if (*c == '"' || *c == '\\') {
                fputc('\\', out);
            }
            fputc(*c, out);
        }
        fputc('"', out);
    }
    fputc('}', out);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

static int pg_claim(void *self, const pons_session_claim *how, pons_session_fn fn, void *user,
                    pons_error *err)
{
    pons_error own;
    err = err ? err : &own;
    int rc = pons__session_check_word(how->runner, "runner", err);
    if (rc) {
        return rc;
    }
    char *lanes = how->lanes ? array_of(how->lanes, how->n_lanes) : NULL;
    if (how->lanes && !lanes) {
        return pons_error_set(err, PONS_ENOMEM, "store", "out of memory");
    }
    int rows = 0;
    pg_params p = {0};
    pons__pg_text(&p, how->runner);
    pons__pg_text(&p, lanes);
    rc = sessions(self, PG_SESSION_CLAIM, &p, fn, user, &rows, err);
    free(lanes);
    return rc || rows ? rc : pons__session_none(err);
}

static int pg_note(void *self, const char *id, uint64_t epoch, pons_bytes note, pons_error *err)
{
    pons_error own;
    PGresult *r = NULL;
    pg_params p = {0};
    err = err ? err : &own;
    pons__pg_text(&p, id);
    pons__pg_int(&p, (int64_t)epoch);
    pons__pg_bytes(&p, note);
    int rc = pons__pg_once(self, PG_SESSION_NOTE, &p, &r, err);
    if (!rc && pons__pg_col_int(r, 0, 0) == 0) {
        rc = pons__session_stale(err, id);
    }
    PQclear(r);
    return rc;
}

static int pg_finish(void *self, const pons_session_end *end, pons_session_fn fn, void *user,
                     pons_error *err)
{
    pons_error own;
    err = err ? err : &own;
    int rc = pons__session_check_end(end, err);
    if (rc) {
        return rc;
    }
    pg_params p = {0};
    pons__pg_text(&p, end->id);
    pons__pg_int(&p, (int64_t)end->epoch);
    pons__pg_int(&p, end->state);
    pons__pg_int(&p, end->due_ms);
    pons__pg_bytes(&p, end->note);
    pons__pg_text(&p, end->next_for);
    rc = sessions(self, PG_SESSION_FINISH, &p, fn, user, NULL, err);
    return rc == PONS_ESTALE ? pons__session_stale(err, end->id) : rc;
}

// ---- runners ------------------------------------------------------------------------------------

static int of_runner(void *self, pg_sql id, const char *runner, pons_error *err)
{
    pons_error own;
    err = err ? err : &own;
    const int rc = pons__session_check_word(runner, "runner", err);
    if (rc) {
        return rc;
    }
    pg_params p = {0};
    pons__pg_text(&p, runner);
    return pons__pg_once(self, id, &p, NULL, err);
}

static int pg_beat(void *self, const char *runner, pons_error *err)
{
    return of_runner(self, PG_RUNNER_BEAT, runner, err);
}

static int pg_leave(void *self, const char *runner, pons_error *err)
{
    return of_runner(self, PG_RUNNER_DEL, runner, err);
}

static int pg_runners(void *self, pons_runner_fn fn, void *user, pons_error *err)
{
    pons_error own;
    PGresult *r = NULL;
    const int rc = pons__pg_once(self, PG_RUNNERS, NULL, &r, err ? err : &own);
    for (int i = 0; !rc && i < PQntuples(r); i++) {
        if (fn(user, pons__pg_col_text(r, i, 0), pons__pg_col_int(r, i, 1))) {
            break;
        }
    }
    PQclear(r);
    return rc;
}

static int pg_reclaim(void *self, const char *gone, int64_t beats, const char *runner,
                      pons_session_fn fn, void *user, pons_error *err)
{
    pons_error own;
    err = err ? err : &own;
    int rc = pons__session_check_reclaim(gone, runner, err);
    if (rc) {
        return rc;
    }
    pg_params p = {0};
    pons__pg_text(&p, gone);
    pons__pg_int(&p, beats);
    pons__pg_text(&p, runner);
    rc = sessions(self, PG_SESSION_OWN, &p, fn, user, NULL, err);
    return rc == PONS_ESTALE ? pons__session_alive(err, gone) : rc;
}

// ---- what is old --------------------------------------------------------------------------------

static int pg_trim(void *self, pons_session_trim *what, pons_session_trimmed *ret, pons_error *err)
{
    pons_error own;
    PGresult *r = NULL;
    pg_params p = {0};
    int64_t cut = 0, cut_failed = 0;
    err = err ? err : &own;
    int rc = pons__session_check_trim(what, err);
    rc = rc ? rc : pons__pg_once(self, PG_SESSION_LAST, NULL, &r, err);
    if (rc) {
        return rc;
    }
    pons__session_cuts(what, pons__pg_col_int(r, 0, 0), &cut, &cut_failed);
    PQclear(r);
    r = NULL;
    pons__pg_int(&p, what->after);
    pons__pg_int(&p, cut);
    pons__pg_int(&p, cut_failed);
    pons__pg_int(&p, what->limit);
    rc = pons__pg_once(self, PG_SESSION_TRIM, &p, &r, err);
    if (!rc) {
        what->after = pons__pg_col_int(r, 0, 0);
        *ret = (pons_session_trimmed){.sessions = pons__pg_col_int(r, 0, 1),
                                      .failed = pons__pg_col_int(r, 0, 2),
                                      .more = pons__pg_col_int(r, 0, 3) != 0};
    }
    PQclear(r);
    return rc;
}

// ---- reading ------------------------------------------------------------------------------------

static int pg_get(void *self, const char *id, pons_session_fn fn, void *user, pons_error *err)
{
    pons_error own;
    int rows = 0;
    pg_params p = {0};
    err = err ? err : &own;
    pons__pg_text(&p, id);
    const int rc = sessions(self, PG_SESSION_GET, &p, fn, user, &rows, err);
    return rc || rows ? rc : pons__session_not_found(err, id);
}

static int pg_list(void *self, const pons_session_find *find, pons_session_fn fn, void *user,
                   pons_error *err)
{
    pons_error own;
    const bool live = (find->states >> PONS_SESSION_SUCCEEDED) == 0;
    pg_params p = {0};
    pons__pg_int(&p, find->after);
    pons__pg_int(&p, find->states);
    pons__pg_text(&p, find->lane);
    pons__pg_int(&p, find->limit > 0 ? find->limit : INT64_MAX);
    return sessions(self, live ? PG_SESSION_LIVE : PG_SESSION_LIST, &p, fn, user, NULL,
                    err ? err : &own);
}

static int pg_event_fd(void *self)
{
    pg *s = self;
    return pons__pg_keeper_start(s) ? s->lanes_fd : PONS_EENV;
}

static const pons_lane_ops ops = {
    .enqueue = pg_enqueue,
    .change = pg_change,
    .cancel = pg_cancel,
    .claim = pg_claim,
    .note = pg_note,
    .finish = pg_finish,
    .wake = pg_wake,
    .beat = pg_beat,
    .leave = pg_leave,
    .runners = pg_runners,
    .reclaim = pg_reclaim,
    .get = pg_get,
    .list = pg_list,
    .event_fd = pg_event_fd,
    .trim = pg_trim,
};

void pons__pg_lanes(void *self, pons_lanes *ret)
{
    *ret = (pons_lanes){&ops, self};
}
