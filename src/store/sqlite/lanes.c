// lanes.c - sessions in the lanes of their targets.
//
//     session   sid | id lane priority order_ms state attempt epoch owner due_ms data note
//     lane      name | head head_priority head_order   the first session that waits; 0: none
//                    | running owner epoch             the one that runs, whose it is
//     runner    name | beats
//
// A lane's row says all that a claim has to know: the free lane whose head comes first is the first row
// of an index, however many sessions wait, in it or in others. Whatever changes a lane's sessions
// finds its head anew, from another index's end.
#include "store/sqlite/internal.h"

#include <stdlib.h>
#include <string.h>

typedef struct lane {
    char name[PONS_NAME_MAX];
    int64_t head, head_priority, head_order;
    int64_t running; // a session's sid; 0: none
    char owner[PONS_NAME_MAX];
    int64_t epoch;
} lane;

typedef struct place { // of a session
    int64_t sid;
    int32_t state;
    uint64_t epoch;
    char lane[PONS_NAME_MAX];
} place;

// ---- rows; [writing], inside a transaction ------------------------------------------------------

static int no_memory(pons_error *err)
{
    return pons_error_set(err, PONS_ENOMEM, "store", "out of memory");
}

// A session's row, if it is there, is copied. RETURNING would give it at once, by way of a table of its own for each
// row.
static int copy_row(sql_conn *c, int64_t sid, copied_rows *list, pons_error *err)
{
    sqlite3_stmt *st;
    int got = pons__sql_first(c, SQL_SESSION_OF, ARGS(arg_int(sid)), &st, err);
    if (got > 0 && !pons__copy_row(list, st)) {
        got = no_memory(err);
    }
    sqlite3_reset(st);
    return got < 0 ? got : PONS_OK;
}

static void column_word(sqlite3_stmt *st, int at, char ret[PONS_NAME_MAX])
{
    strncpy(ret, pons__text_column(st, at), PONS_NAME_MAX - 1);
    ret[PONS_NAME_MAX - 1] = '\0';
}

static int lane_get(sq *s, const char *name, lane *ret, pons_error *err)
{
    sqlite3_stmt *st;
    const int got = pons__sql_first(&s->w, SQL_LANE_GET, ARGS(arg_text(name)), &st, err);
    if (got > 0) {
        *ret = (lane){.head = sqlite3_column_int64(st, 0),
                      .head_priority = sqlite3_column_int64(st, 1),
                      .head_order = sqlite3_column_int64(st, 2),
                      .running = sqlite3_column_int64(st, 3),
                      .epoch = sqlite3_column_int64(st, 5)};
        column_word(st, 4, ret->owner);
        strncpy(ret->name, name, PONS_NAME_MAX - 1);
    }
    sqlite3_reset(st);
    if (got == 0) {
        return pons_error_set(err, PONS_ECORRUPT, "store", "lane %s is lost", name);
    }
    return got < 0 ? got : PONS_OK;
}

static int lane_make(sq *s, const char *name, lane *ret, pons_error *err)
{
    const int rc = pons__sql_exec(&s->w, SQL_LANE_ADD, ARGS(arg_text(name)), err);
    return rc ? rc : lane_get(s, name, ret, err);
}

static int lane_set(sq *s, const lane *l, pons_error *err)
{
    return pons__sql_exec(&s->w, SQL_LANE_SET,
                          ARGS(arg_text(l->name), arg_int(l->head), arg_int(l->head_priority),
                               arg_int(l->head_order), arg_int(l->running), arg_text(l->owner),
                               arg_int(l->epoch)),
                          err);
}

// Its first session that waits.
static int lane_head(sq *s, lane *l, pons_error *err)
{
    sqlite3_stmt *st;
    const int got = pons__sql_first(&s->w, SQL_SESSION_NEXT, ARGS(arg_text(l->name)), &st, err);
    const bool some = got > 0;
    l->head = some ? sqlite3_column_int64(st, 0) : 0;
    l->head_priority = some ? sqlite3_column_int64(st, 1) : 0;
    l->head_order = some ? sqlite3_column_int64(st, 2) : 0;
    sqlite3_reset(st);
    return got < 0 ? got : PONS_OK;
}

static int lane_mend(sq *s, const char *name, pons_error *err)
{
    lane l;
    int rc = lane_make(s, name, &l, err);
    rc = rc ? rc : lane_head(s, &l, err);
    return rc ? rc : lane_set(s, &l, err);
}

// Its head runs now.
static int lane_take(sq *s, lane *l, const char *runner, copied_rows *ret, pons_error *err)
{
    const int64_t sid = l->head;
    l->epoch++;
    l->running = sid;
    strncpy(l->owner, runner, sizeof l->owner - 1);
    int rc = pons__sql_exec(&s->w, SQL_SESSION_CLAIM,
                            ARGS(arg_int(sid), arg_int(l->epoch), arg_text(runner)), err);
    rc = rc ? rc : copy_row(&s->w, sid, ret, err);
    if (!rc && !ret->first) {
        rc = pons_error_set(err, PONS_ECORRUPT, "store", "the first session of lane %s is lost",
                            l->name);
    }
    rc = rc ? rc : lane_head(s, l, err);
    return rc ? rc : lane_set(s, l, err);
}

static int find(sq *s, const char *id, place *ret, pons_error *err)
{
    sqlite3_stmt *st;
    const int got = pons__sql_first(&s->w, SQL_SESSION_PLACE, ARGS(arg_text(id)), &st, err);
    if (got > 0) {
        ret->sid = sqlite3_column_int64(st, 0);
        ret->state = sqlite3_column_int(st, 1);
        ret->epoch = (uint64_t)sqlite3_column_int64(st, 2);
        column_word(st, 3, ret->lane);
    }
    sqlite3_reset(st);
    if (got == 0) {
        return pons__session_not_found(err, id);
    }
    return got < 0 ? got : PONS_OK;
}

static int find_own(sq *s, const char *id, uint64_t epoch, place *ret, pons_error *err)
{
    const int rc = find(s, id, ret, err);
    const bool other = !rc && (ret->state != PONS_SESSION_RUNNING || ret->epoch != epoch);
    return other || rc == PONS_ENOTFOUND ? pons__session_stale(err, id) : rc;
}

static int find_waiting(sq *s, const char *id, place *ret, pons_error *err)
{
    const int rc = find(s, id, ret, err);
    return !rc && ret->state > PONS_SESSION_WAITING ? pons__session_fixed(err, id, ret->state) : rc;
}

static int set_end(sq *s, int64_t sid, int32_t state, int64_t due_ms, pons_bytes note,
                   pons_error *err)
{
    return pons__sql_exec(&s->w, SQL_SESSION_END,
                          ARGS(arg_int(sid), arg_int(state), arg_int(due_ms), arg_bytes(note)),
                          err);
}

// ---- what is waiting ----------------------------------------------------------------------------

static int add(sq *s, const pons_session_row *row, pons_error *err)
{
    const int rc = pons__sql_put(
        &s->w, SQL_SESSION_ADD, "session",
        ARGS(arg_text(row->id), arg_text(row->lane), arg_int(row->priority), arg_int(row->order_ms),
             arg_int(PONS_SESSION_PENDING), arg_int(0), arg_int(0), arg_text(""), arg_int(0),
             arg_bytes(row->data), arg_bytes((pons_bytes){0})),
        err);
    return rc == PONS_EEXIST ? pons__session_exists(err, row->id) : rc;
}

static bool before(const pons_session_row *row, const lane *l)
{
    if (l->head == 0 || row->priority != l->head_priority) {
        return l->head == 0 || row->priority < l->head_priority;
    }
    return row->order_ms < l->head_order; // a newer sid is later
}

static int sq_enqueue(void *self, const pons_session_row *rows, size_t n, pons_error *err)
{
    sq *s = self;
    err = err ? err : &(pons_error)PONS_ERROR_INIT;
    int rc = pons__session_check_rows(rows, n, err);
    if (rc || n == 0) {
        return rc;
    }
    rc = pons__transact(s, PONS_SYNC_NORMAL, err) ? PONS_OK : err->status;
    lane l = {0};
    for (size_t i = 0; i < n && !rc; i++) {
        if (strcmp(l.name, rows[i].lane) != 0) {
            rc = lane_make(s, rows[i].lane, &l, err);
        }
        rc = rc ? rc : add(s, &rows[i], err);
        if (!rc && before(&rows[i], &l)) {
            l.head = sqlite3_last_insert_rowid(s->w.db);
            l.head_priority = rows[i].priority;
            l.head_order = rows[i].order_ms;
            rc = lane_set(s, &l, err);
        }
    }
    return pons__transacted(s, rc, err);
}

static int move(sq *s, const pons_session_row *row, pons_error *err)
{
    place was;
    int rc = find_waiting(s, row->id, &was, err);
    rc = rc ? rc
            : pons__sql_exec(&s->w, SQL_SESSION_MOVE,
                             ARGS(arg_int(was.sid), arg_text(row->lane), arg_int(row->priority),
                                  arg_int(row->order_ms), arg_bytes(row->data)),
                             err);
    rc = rc ? rc : lane_mend(s, row->lane, err);
    return rc || strcmp(was.lane, row->lane) == 0 ? rc : lane_mend(s, was.lane, err);
}

static int sq_change(void *self, const pons_session_row *row, pons_error *err)
{
    sq *s = self;
    err = err ? err : &(pons_error)PONS_ERROR_INIT;
    int rc = pons__session_check(row, err);
    if (rc) {
        return rc;
    }
    rc = pons__transact(s, PONS_SYNC_NORMAL, err) ? move(s, row, err) : err->status;
    return pons__transacted(s, rc, err);
}

static int sq_cancel(void *self, const char *id, pons_bytes note, pons_error *err)
{
    sq *s = self;
    err = err ? err : &(pons_error)PONS_ERROR_INIT;
    place at;
    int rc = pons__transact(s, PONS_SYNC_NORMAL, err) ? find_waiting(s, id, &at, err) : err->status;
    rc = rc ? rc : set_end(s, at.sid, PONS_SESSION_CANCELLED, 0, note, err);
    rc = rc ? rc : lane_mend(s, at.lane, err);
    return pons__transacted(s, rc, err);
}

// The one that is due first, woken when its time has come; *more: it was.
static int wake_one(sq *s, int64_t now_ms, int64_t *ret_due_ms, bool *more, pons_error *err)
{
    char name[PONS_NAME_MAX];
    sqlite3_stmt *st;
    const int got = pons__sql_first(&s->w, SQL_SESSION_DUE, NO_ARGS, &st, err);
    const int64_t sid = got > 0 ? sqlite3_column_int64(st, 0) : 0;
    const int64_t due = got > 0 ? sqlite3_column_int64(st, 2) : 0;
    *more = got > 0 && due <= now_ms;
    *ret_due_ms = due;
    if (*more) {
        column_word(st, 1, name);
    }
    sqlite3_reset(st);
    if (!*more) {
        return got < 0 ? got : PONS_OK;
    }
    const int rc = pons__sql_exec(&s->w, SQL_SESSION_WAKE, ARGS(arg_int(sid)), err);
    return rc ? rc : lane_mend(s, name, err);
}

// Whether any is due, without the right to write.
static int look_due(sq *s, int64_t *ret_due_ms, pons_error *err)
{
    sqlite3_stmt *st;
    sql_conn *c = pons__reader_take(s, err);
    if (!c) {
        return err->status;
    }
    const int got = pons__sql_first(c, SQL_SESSION_DUE, NO_ARGS, &st, err);
    *ret_due_ms = got > 0 ? sqlite3_column_int64(st, 2) : 0;
    if (got > 0 && *ret_due_ms == 0) {
        *ret_due_ms = 1; // long ago, but there is one
    }
    sqlite3_reset(st);
    pons__reader_give(s, c);
    return got < 0 ? got : PONS_OK;
}

static int sq_wake(void *self, int64_t now_ms, int64_t *ret_due_ms, pons_error *err)
{
    sq *s = self;
    err = err ? err : &(pons_error)PONS_ERROR_INIT;
    int64_t due = 0;
    bool more = true;
    int rc = look_due(s, &due, err);
    if (!rc && due && due <= now_ms) {
        rc = pons__transact(s, PONS_SYNC_NORMAL, err) ? PONS_OK : err->status;
        while (!rc && more) {
            rc = wake_one(s, now_ms, &due, &more, err);
        }
        rc = pons__transacted(s, rc, err);
    }
    if (!rc && ret_due_ms) {
        *ret_due_ms = due;
    }
    return rc;
}

// ---- what runs ----------------------------------------------------------------------------------

// The free lane whose head comes first; "": none.
static int ready(sq *s, const pons_session_claim *how, char ret[PONS_NAME_MAX], pons_error *err)
{
    sqlite3_stmt *st = pons__sql(&s->w, SQL_LANE_READY, err);
    if (!st) {
        return err->status;
    }
    int code;
    ret[0] = '\0';
    while ((code = pons__sql_step(&s->w, st, err)) == SQLITE_ROW) {
        column_word(st, 0, ret);
        if (pons__session_wanted(how, ret)) {
            break;
        }
        ret[0] = '\0';
    }
    sqlite3_reset(st);
    return code == SQLITE_ROW || code == SQLITE_DONE ? PONS_OK : err->status;
}

static int claim(sq *s, const pons_session_claim *how, copied_rows *got, pons_error *err)
{
    char name[PONS_NAME_MAX];
    lane l;
    int rc = ready(s, how, name, err);
    if (!rc && !name[0]) {
        return pons__session_none(err);
    }
    rc = rc ? rc : lane_get(s, name, &l, err);
    return rc ? rc : lane_take(s, &l, how->runner, got, err);
}

static int give(int rc, copied_rows *got, pons_session_fn fn, void *user)
{
    sql_cursor c = pons__copied_cursor(got);
    while (!rc && fn && c.reads->next(&c)) {
        pons_session_row row;
        pons__cursor_session(&c, &row);
        if (fn(user, &row)) {
            break;
        }
    }
    c.reads->close(&c);
    return rc;
}

static int sq_claim(void *self, const pons_session_claim *how, pons_session_fn fn, void *user,
                    pons_error *err)
{
    sq *s = self;
    copied_rows got = {0};
    err = err ? err : &(pons_error)PONS_ERROR_INIT;
    int rc = pons__session_check_word(how->runner, "runner", err);
    if (rc) {
        return rc;
    }
    rc = pons__transact(s, PONS_SYNC_NORMAL, err) ? claim(s, how, &got, err) : err->status;
    return give(pons__transacted(s, rc, err), &got, fn, user);
}

static int sq_note(void *self, const char *id, uint64_t epoch, pons_bytes note, pons_error *err)
{
    sq *s = self;
    place at;
    err = err ? err : &(pons_error)PONS_ERROR_INIT;
    int rc =
        pons__transact(s, PONS_SYNC_NORMAL, err) ? find_own(s, id, epoch, &at, err) : err->status;
    if (!rc) {
        rc = pons__sql_exec(&s->w, SQL_SESSION_NOTE, ARGS(arg_int(at.sid), arg_bytes(note)), err);
    }
    return pons__transacted(s, rc, err);
}

static int finish(sq *s, const pons_session_end *end, copied_rows *got, pons_error *err)
{
    place at;
    lane l;
    int rc = find_own(s, end->id, end->epoch, &at, err);
    rc = rc ? rc : set_end(s, at.sid, end->state, end->due_ms, end->note, err);
    rc = rc ? rc : lane_get(s, at.lane, &l, err);
    if (rc) {
        return rc;
    }
    l.running = 0;
    l.owner[0] = '\0';
    return end->next_for && l.head ? lane_take(s, &l, end->next_for, got, err)
                                   : lane_set(s, &l, err);
}

static int sq_finish(void *self, const pons_session_end *end, pons_session_fn fn, void *user,
                     pons_error *err)
{
    sq *s = self;
    copied_rows got = {0};
    err = err ? err : &(pons_error)PONS_ERROR_INIT;
    int rc = pons__session_check_end(end, err);
    if (rc) {
        return rc;
    }
    rc = pons__transact(s, PONS_SYNC_NORMAL, err) ? finish(s, end, &got, err) : err->status;
    return give(pons__transacted(s, rc, err), &got, fn, user);
}

// ---- runners ------------------------------------------------------------------------------------

static int of_runner(sq *s, sql_id id, const char *runner, pons_error *err)
{
    err = err ? err : &(pons_error)PONS_ERROR_INIT;
    int rc = pons__session_check_word(runner, "runner", err);
    if (rc) {
        return rc;
    }
    rc = pons__transact(s, PONS_SYNC_NORMAL, err)
             ? pons__sql_exec(&s->w, id, ARGS(arg_text(runner)), err)
             : err->status;
    return pons__transacted(s, rc, err);
}

static int sq_beat(void *self, const char *runner, pons_error *err)
{
    return of_runner(self, SQL_RUNNER_BEAT, runner, err);
}

static int sq_leave(void *self, const char *runner, pons_error *err)
{
    return of_runner(self, SQL_RUNNER_DEL, runner, err);
}

// Of a lane that `gone` had; *more: there was one.
static int reclaim_one(sq *s, const char *gone, const char *runner, copied_rows *got, bool *more,
                       pons_error *err)
{
    char name[PONS_NAME_MAX];
    lane l;
    sqlite3_stmt *st;
    const int had = pons__sql_first(&s->w, SQL_LANE_OF, ARGS(arg_text(gone)), &st, err);
    *more = had > 0;
    if (*more) {
        column_word(st, 0, name);
    }
    sqlite3_reset(st);
    int rc = *more ? lane_get(s, name, &l, err) : had;
    if (rc || !*more) {
        return rc;
    }
    l.epoch++;
    strncpy(l.owner, runner, sizeof l.owner - 1);
    l.owner[sizeof l.owner - 1] = '\0';
    rc = pons__sql_exec(&s->w, SQL_SESSION_OWN,
                        ARGS(arg_int(l.running), arg_int(l.epoch), arg_text(runner)), err);
    rc = rc ? rc : copy_row(&s->w, l.running, got, err);
    return rc ? rc : lane_set(s, &l, err);
}

static int reclaim(sq *s, const char *gone, int64_t beats, const char *runner, copied_rows *got,
                   pons_error *err)
{
    int64_t now;
    int rc = pons__sql_number(&s->w, SQL_RUNNER_GET, ARGS(arg_text(gone)), &now, err);
    if (rc) {
        return rc;
    }
    if (now != beats) {
        return pons__session_alive(err, gone);
    }
    rc = pons__sql_exec(&s->w, SQL_RUNNER_DEL, ARGS(arg_text(gone)), err);
    for (bool more = true; !rc && more;) {
        rc = reclaim_one(s, gone, runner, got, &more, err);
    }
    return rc;
}

static int sq_reclaim(void *self, const char *gone, int64_t beats, const char *runner,
                      pons_session_fn fn, void *user, pons_error *err)
{
    sq *s = self;
    copied_rows got = {0};
    err = err ? err : &(pons_error)PONS_ERROR_INIT;
    int rc = pons__session_check_reclaim(gone, runner, err);
    if (rc) {
        return rc;
    }
    rc = pons__transact(s, PONS_SYNC_NORMAL, err) ? reclaim(s, gone, beats, runner, &got, err)
                                                  : err->status;
    return give(pons__transacted(s, rc, err), &got, fn, user);
}

// ---- what is old --------------------------------------------------------------------------------

typedef struct old { // what a trim has looked at
    int64_t *sid;    // of those that go
    size_t n, failed;
    int64_t at;
    bool more;
} old;

// Without the right to write: mostly there is nothing.
static int look_old(sq *s, const pons_session_trim *what, old *ret, pons_error *err)
{
    int64_t last, cut = 0, cut_failed = 0;
    int32_t seen = 0;
    sql_conn *c = pons__reader_take(s, err);
    int rc = c ? pons__sql_number(c, SQL_SESSION_LAST, NO_ARGS, &last, err) : err->status;
    if (rc) {
        pons__reader_give(s, c);
        return rc;
    }
    pons__session_cuts(what, last, &cut, &cut_failed);
    sqlite3_stmt *st =
        pons__sql_bound(c, SQL_SESSION_OLD,
                        ARGS(arg_int(what->after), arg_int(cut > cut_failed ? cut : cut_failed),
                             arg_int((int64_t)what->limit + 1)),
                        err);
    int code = st ? SQLITE_DONE : SQLITE_ERROR;
    while (st && (code = pons__sql_step(c, st, err)) == SQLITE_ROW && seen++ < what->limit) {
        const int state = sqlite3_column_int(st, 1);
        const bool bad = state == PONS_SESSION_FAILED || state == PONS_SESSION_UNKNOWN;
        ret->at = sqlite3_column_int64(st, 0);
        if (state > PONS_SESSION_RUNNING && ret->at <= (bad ? cut_failed : cut)) {
            ret->sid[ret->n++] = ret->at;
            ret->failed += bad;
        }
    }
    ret->more = code == SQLITE_ROW;
    sqlite3_reset(st);
    pons__reader_give(s, c);
    return code == SQLITE_ROW || code == SQLITE_DONE ? PONS_OK : err->status;
}

static int sq_trim(void *self, pons_session_trim *what, pons_session_trimmed *ret, pons_error *err)
{
    sq *s = self;
    err = err ? err : &(pons_error)PONS_ERROR_INIT;
    int rc = pons__session_check_trim(what, err);
    if (rc) {
        return rc;
    }
    old o = {.sid = malloc((size_t)what->limit * sizeof *o.sid), .at = what->after};
    rc = !o.sid ? no_memory(err) : look_old(s, what, &o, err);
    if (!rc && o.n) {
        rc = pons__transact(s, PONS_SYNC_NORMAL, err) ? PONS_OK : err->status;
        for (size_t i = 0; i < o.n && !rc; i++) {
            rc = pons__sql_exec(&s->w, SQL_SESSION_DEL, ARGS(arg_int(o.sid[i])), err);
        }
        rc = pons__transacted(s, rc, err);
    }
    free(o.sid);
    if (!rc) {
        what->after = o.at;
        *ret = (pons_session_trimmed){(int64_t)(o.n - o.failed), (int64_t)o.failed, o.more};
    }
    return rc;
}

static const pons_lane_ops ops = {
    .enqueue = sq_enqueue,
    .change = sq_change,
    .cancel = sq_cancel,
    .claim = sq_claim,
    .note = sq_note,
    .finish = sq_finish,
    .wake = sq_wake,
    .beat = sq_beat,
    .leave = sq_leave,
    .runners = pons__read_runners,
    .reclaim = sq_reclaim,
    .get = pons__read_session,
    .list = pons__read_sessions,
    .trim = sq_trim,
};

void pons__sq_lanes(void *self, pons_lanes *ret)
{
    *ret = (pons_lanes){&ops, self};
}
