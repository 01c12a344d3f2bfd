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

// Runs a statement whose rows are sessions, and gives them. *ret_rows may be NULL.
static int sessions(pg *s, pg_sql id, sql_args args, pons_session_fn fn, void *user, int *ret_rows,
                    pons_error *err)
{
    PGresult *r = NULL;
    const int rc = pons__pg_once(s, id, args, &r, err);
    const int n = rc ? 0 : PQntuples(r);
    for (int i = 0; i < n; i++) {
        pons_session_row row;
        pons__cursor_session(&(sql_cursor){.reads = &pons__pg_reads, .row = r, .at = i}, &row);
        if (fn(user, &row)) {
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
    int rc = n > 1 ? pons__pg_run(c, PG_BEGIN, NO_ARGS, NULL, err) : PONS_OK;
    for (size_t i = 0; i < n && !rc; i++) {
        rc = pons__pg_run(c, PG_SESSION_ADD,
                          ARGS(arg_text(rows[i]->id), arg_text(rows[i]->lane),
                               arg_int(rows[i]->priority), arg_int(rows[i]->order_ms),
                               arg_bytes(rows[i]->data)),
                          NULL, err);
        rc = rc == PONS_EEXIST ? pons__session_exists(err, rows[i]->id) : rc;
    }
    rc = rc || n == 1 ? rc : pons__pg_run(c, PG_COMMIT, NO_ARGS, NULL, err);
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
    err = err ? err : &(pons_error)PONS_ERROR_INIT;
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
static int changed(pg *s, pg_sql id, sql_args args, const char *session, pons_error *err)
{
    PGresult *r = NULL;
    int rc = pons__pg_once(s, id, args, &r, err);
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
    err = err ? err : &(pons_error)PONS_ERROR_INIT;
    const int rc = pons__session_check(row, err);
    if (rc) {
        return rc;
    }
    return changed(self, PG_SESSION_CHANGE,
                   ARGS(arg_text(row->id), arg_text(row->lane), arg_int(row->priority),
                        arg_int(row->order_ms), arg_bytes(row->data)),
                   row->id, err);
}

static int pg_cancel(void *self, const char *id, pons_bytes note, pons_error *err)
{
    pons_error own;
    return changed(self, PG_SESSION_CANCEL, ARGS(arg_text(id), arg_bytes(note)), id,
                   err ? err : &own);
}

static int pg_wake(void *self, int64_t now_ms, int64_t *ret_due_ms, pons_error *err)
{
    pons_error own;
    int64_t due;
    const int rc =
        pons__pg_number(self, PG_SESSION_WAKE, ARGS(arg_int(now_ms)), &due, err ? err : &own);
    if (!rc && ret_due_ms) {
        *ret_due_ms = due;
    }
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
    err = err ? err : &(pons_error)PONS_ERROR_INIT;
    int rc = pons__session_check_word(how->runner, "runner", err);
    if (rc) {
        return rc;
    }
    char *lanes = how->lanes ? array_of(how->lanes, how->n_lanes) : NULL;
    if (how->lanes && !lanes) {
        return pons_error_set(err, PONS_ENOMEM, "store", "out of memory");
    }
    int rows = 0;
    rc = sessions(self, PG_SESSION_CLAIM, ARGS(arg_text(how->runner), arg_text(lanes)), fn, user,
                  &rows, err);
    free(lanes);
    return rc || rows ? rc : pons__session_none(err);
}

static int pg_note(void *self, const char *id, uint64_t epoch, pons_bytes note, pons_error *err)
{
    int64_t noted;
    err = err ? err : &(pons_error)PONS_ERROR_INIT;
    const int rc =
        pons__pg_number(self, PG_SESSION_NOTE,
                        ARGS(arg_text(id), arg_int((int64_t)epoch), arg_bytes(note)), &noted, err);
    return rc || noted ? rc : pons__session_stale(err, id);
}

static int pg_finish(void *self, const pons_session_end *end, pons_session_fn fn, void *user,
                     pons_error *err)
{
    err = err ? err : &(pons_error)PONS_ERROR_INIT;
    int rc = pons__session_check_end(end, err);
    if (rc) {
        return rc;
    }
    rc = sessions(self, PG_SESSION_FINISH,
                  ARGS(arg_text(end->id), arg_int((int64_t)end->epoch), arg_int(end->state),
                       arg_int(end->due_ms), arg_bytes(end->note), arg_text(end->next_for)),
                  fn, user, NULL, err);
    return rc == PONS_ESTALE ? pons__session_stale(err, end->id) : rc;
}

// ---- runners ------------------------------------------------------------------------------------

static int of_runner(void *self, pg_sql id, const char *runner, pons_error *err)
{
    err = err ? err : &(pons_error)PONS_ERROR_INIT;
    const int rc = pons__session_check_word(runner, "runner", err);
    if (rc) {
        return rc;
    }
    return pons__pg_once(self, id, ARGS(arg_text(runner)), NULL, err);
}

static int pg_beat(void *self, const char *runner, pons_error *err)
{
    return of_runner(self, PG_RUNNER_BEAT, runner, err);
}

static int pg_leave(void *self, const char *runner, pons_error *err)
{
    return of_runner(self, PG_RUNNER_DEL, runner, err);
}

static int pg_reclaim(void *self, const char *gone, int64_t beats, const char *runner,
                      pons_session_fn fn, void *user, pons_error *err)
{
    err = err ? err : &(pons_error)PONS_ERROR_INIT;
    int rc = pons__session_check_reclaim(gone, runner, err);
    if (rc) {
        return rc;
    }
    rc = sessions(self, PG_SESSION_OWN, ARGS(arg_text(gone), arg_int(beats), arg_text(runner)), fn,
                  user, NULL, err);
    return rc == PONS_ESTALE ? pons__session_alive(err, gone) : rc;
}

// ---- what is old --------------------------------------------------------------------------------

static int pg_trim(void *self, pons_session_trim *what, pons_session_trimmed *ret, pons_error *err)
{
    PGresult *r = NULL;
    int64_t last, cut = 0, cut_failed = 0;
    err = err ? err : &(pons_error)PONS_ERROR_INIT;
    int rc = pons__session_check_trim(what, err);
    rc = rc ? rc : pons__pg_number(self, PG_SESSION_LAST, NO_ARGS, &last, err);
    if (rc) {
        return rc;
    }
    pons__session_cuts(what, last, &cut, &cut_failed);
    rc = pons__pg_once(
        self, PG_SESSION_TRIM,
        ARGS(arg_int(what->after), arg_int(cut), arg_int(cut_failed), arg_int(what->limit)), &r,
        err);
    if (!rc) {
        what->after = pons__pg_col_int(r, 0, 0);
        *ret = (pons_session_trimmed){.sessions = pons__pg_col_int(r, 0, 1),
                                      .failed = pons__pg_col_int(r, 0, 2),
                                      .more = pons__pg_col_int(r, 0, 3) != 0};
    }
    PQclear(r);
    return rc;
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
    .runners = pons__read_runners,
    .reclaim = pg_reclaim,
    .get = pons__read_session,
    .list = pons__read_sessions,
    .event_fd = pg_event_fd,
    .trim = pg_trim,
};

void pons__pg_lanes(void *self, pons_lanes *ret)
{
    *ret = (pons_lanes){&ops, self};
}
