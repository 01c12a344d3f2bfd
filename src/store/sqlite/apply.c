// apply.c - one commit, inside a transaction.
//
// The holder of a thread is the only one who writes its checkpoints, events and effects, so the
// numbers that the next rows get are kept in memory with the holding and read from the end of each
// table once. The epoch, checked in every transaction, is what makes that memory trustworthy. So a
// commit with one checkpoint reads one row (the epoch) and writes one: one page of the file is
// dirtied, as by a plain insert.
#include "store/sqlite/internal.h"

#include <string.h>

#define STEP_SNAPSHOT 1 // meta = step * 2 + snapshot

// ---- helpers ------------------------------------------------------------------------------------

int pons__sql_fence(sq *s, const holding *h, pons_error *err)
{
    int64_t epoch;
    const int rc = pons__sql_number(&s->w, SQL_THREAD_EPOCH, ARGS(arg_int(h->tid)), &epoch, err);
    if (rc || (uint64_t)epoch == h->line.epoch) {
        return rc;
    }
    return pons__store_stale(err, h->line.thread, h->line.epoch, (uint64_t)epoch);
}

// 0 when there is none.
static int last_seq(sq *s, sql_id statement, int64_t owner, int64_t *ret, pons_error *err)
{
    const sql_args all = ARGS(arg_int(key_of(owner, 0)), arg_int(key_of(owner, KEY_SEQ_MAX)));
    const int rc = pons__sql_number(&s->w, statement, all, ret, err);
    *ret = key_seq(*ret);
    return rc;
}

static int learn(sq *s, holding *h, pons_error *err)
{
    int64_t event = 0, effect = 0;
    int rc = last_seq(s, SQL_EVENT_LAST, h->tid, &event, err);
    rc = rc ? rc : last_seq(s, SQL_EFFECT_LAST, h->tid, &effect, err);
    if (rc) {
        return rc;
    }
    h->event_next = event + 1;
    h->effect_next = effect + 1;
    memset(h->spaces, 0, sizeof h->spaces);
    h->known = true;
    return PONS_OK;
}

static int space_get(sq *s, holding *h, const char *ns, space **ret, pons_error *err)
{
    space *sp = &h->spaces[pons__store_hash(ns) & (SPACES_CACHED - 1)];
    *ret = sp;
    if (sp->nid && strcmp(sp->name, ns) == 0) {
        return PONS_OK;
    }
    int64_t nid;
    int rc = pons__ns_id(s, h->tid, ns, &nid, err);
    if (rc) {
        return rc;
    }
    *sp = (space){.nid = nid};
    strcpy(sp->name, ns);
    return PONS_OK;
}

static int space_learn(sq *s, space *sp, pons_error *err)
{
    sqlite3_stmt *st;
    const sql_args all = ARGS(arg_int(key_of(sp->nid, 0)), arg_int(key_of(sp->nid, KEY_SEQ_MAX)));
    int got = pons__sql_first(&s->w, SQL_CP_LAST, all, &st, err);
    sp->last[0] = '\0';
    if (got > 0) {
        pons__id_column(st, 1, sp->last, sizeof sp->last);
    }
    sp->next = got > 0 ? key_seq(sqlite3_column_int64(st, 0)) + 1 : 1;
    sqlite3_reset(st);
    if (got < 0) {
        return got;
    }
    got = pons__sql_first(&s->w, SQL_NS_TOP, ARGS(arg_int(sp->nid)), &st, err);
    if (got > 0) {
        pons__id_column(st, 0, sp->top, sizeof sp->top);
    }
    sqlite3_reset(st);
    return got < 0 ? got : PONS_OK;
}

// An id after all others is new; any other is looked for. Ids fall when the clock was set back: the
// greatest one before that is then kept with the namespace, or a later twin would not be noticed.
static int check_new(sq *s, holding *h, space *sp, const char *id, pons_error *err)
{
    const char *top = strcmp(sp->top, sp->last) > 0 ? sp->top : sp->last;
    if (strcmp(id, top) > 0) {
        return PONS_OK;
    }
    int64_t twin;
    int rc = pons__checkpoint_key(&s->w, sp->nid, id, &twin, err);
    if (rc == PONS_OK) {
        return pons_error_set(err, PONS_EEXIST, "store", "thread %s already has a checkpoint %s",
                              h->line.thread, id);
    }
    if (rc != PONS_ENOTFOUND) {
        return rc;
    }
    if (top == sp->top) {
        return PONS_OK; // kept already
    }
    memcpy(sp->top, sp->last, sizeof sp->top);
    return pons__sql_exec(&s->w, SQL_NS_TOP_SET, ARGS(arg_int(sp->nid), arg_id(sp->top)), err);
}

// A distance, which is short. A snapshot from afar (a fork) has the id, which stays true when what
// it came from is trimmed.
static int parent_arg(sq *s, const space *sp, const pons_checkpoint_row *row, sql_arg *ret,
                      pons_error *err)
{
    const char *parent = row->parent;
    *ret = arg_text(NULL);
    if (!parent[0]) {
        return PONS_OK;
    }
    int64_t key = key_of(sp->nid, sp->next - 1);
    int rc = PONS_OK;
    if (strcmp(parent, sp->last) != 0) {
        rc = pons__checkpoint_key(&s->w, sp->nid, parent, &key, err);
    }
    const int64_t back = key_of(sp->nid, sp->next) - key;
    const bool near = !rc && (back <= PONS__PARENT_NEAR || !row->snapshot);
    *ret = near ? arg_int(back) : arg_id(parent); // one that is not here is kept as it is named
    return rc == PONS_ENOTFOUND ? PONS_OK : rc;
}

static int put_checkpoint(sq *s, holding *h, space *sp, const pons_checkpoint_row *row,
                          pons_error *err)
{
    if (!sp->next) {
        int rc = space_learn(s, sp, err);
        if (rc) {
            return rc;
        }
    }
    int rc = check_new(s, h, sp, row->id, err);
    if (rc) {
        return rc;
    }
    sql_arg parent;
    rc = parent_arg(s, sp, row, &parent, err);
    rc = rc ? rc
            : pons__sql_put(&s->w, SQL_CP_ADD, "checkpoint",
                            ARGS(arg_int(key_of(sp->nid, sp->next)), arg_id(row->id), parent,
                                 arg_int(row->step * 2 + (row->snapshot ? STEP_SNAPSHOT : 0)),
                                 arg_bytes(row->data)),
                            err);
    if (rc) {
        return rc;
    }
    sp->next++;
    memcpy(sp->last, row->id, sizeof sp->last);
    return PONS_OK;
}

static int put_record(sq *s, int64_t nid, const pons_record_row *row, pons_error *err)
{
    return pons__sql_put(&s->w, SQL_RECORD_PUT, "record",
                         ARGS(arg_int(nid), arg_id(row->checkpoint), arg_text(row->task),
                              arg_int(row->idx), arg_bytes(row->data)),
                         err);
}

static int put_posts(sq *s, holding *h, const pons_commit *c, pons_error *err)
{
    int64_t seq;
    int rc = pons__inbox_seq(s, h->tid, (int64_t)c->n_posts, &seq, err);
    for (size_t i = 0; !rc && i < c->n_posts; i++) {
        const pons_inbox_row *row = &c->posts[i];
        space *sp;
        int64_t kind;
        rc = space_get(s, h, row->ns, &sp, err);
        rc = rc ? rc : pons__word_id(s, row->kind, &kind, err);
        rc = rc ? rc : pons__inbox_put(s, h->tid, seq++, sp->nid, kind, row->value, err);
    }
    return rc;
}

static int put_effect(sq *s, holding *h, const pons_effect_row *row, pons_error *err)
{
    space *sp;
    int rc = space_get(s, h, row->ns, &sp, err);
    if (rc) {
        return rc;
    }
    int64_t key;
    rc = pons__sql_number(
        &s->w, SQL_EFFECT_FIND,
        ARGS(arg_id(row->id), arg_int(key_of(h->tid, 0)), arg_int(key_of(h->tid, KEY_SEQ_MAX))),
        &key, err);
    if (rc) {
        return rc;
    }
    const bool there = key != 0;
    key = there ? key : key_of(h->tid, h->effect_next);
    rc = pons__sql_put(&s->w, there ? SQL_EFFECT_SET : SQL_EFFECT_ADD, "effect",
                       ARGS(arg_int(key), arg_id(row->id), arg_int(sp->nid), arg_int(row->state),
                            arg_int(row->created), arg_int(row->updated), arg_bytes(row->data)),
                       err);
    if (!rc && !there) {
        h->effect_next++;
    }
    return rc;
}

static int put_event(sq *s, holding *h, const pons_event_row *row, pons_error *err)
{
    space *sp;
    int64_t type;
    int rc = space_get(s, h, row->ns, &sp, err);
    rc = rc ? rc : pons__word_id(s, row->type, &type, err);
    if (!rc) {
        rc = pons__sql_put(&s->w, SQL_EVENT_ADD, "event",
                           ARGS(arg_int(key_of(h->tid, h->event_next)), arg_int(sp->nid),
                                arg_int(row->ts_ms), arg_int(type), arg_bytes(row->payload)),
                           err);
    }
    if (!rc) {
        h->event_next++;
    }
    return rc;
}

// ---- public functions ---------------------------------------------------------------------------

int pons__sql_apply(sq *s, commit_request *r, pons_error *err)
{
    const pons_commit *c = r->c;
    holding *h = (holding *)r->line;
    int rc = pons__sql_fence(s, h, err);
    if (!rc && !h->known) {
        rc = learn(s, h, err);
    }
    if (rc) {
        return rc;
    }
    r->event_first = h->event_next;

    for (size_t i = 0; !rc && i < c->n_checkpoints; i++) {
        const pons_checkpoint_row *row = &c->checkpoints[i];
        space *sp; // looked for each time: two may have one place among the cached
        rc = space_get(s, h, row->ns ? row->ns : c->ns, &sp, err);
        rc = rc ? rc : put_checkpoint(s, h, sp, row, err);
    }
    if (!rc && c->n_records) {
        space *sp;
        rc = space_get(s, h, c->ns, &sp, err);
        for (size_t i = 0; !rc && i < c->n_records; i++) {
            rc = put_record(s, sp->nid, &c->records[i], err);
        }
    }
    for (size_t i = 0; !rc && i < c->n_inbox_taken; i++) {
        rc = pons__sql_exec(&s->w, SQL_INBOX_DEL, ARGS(arg_int(key_of(h->tid, c->inbox_taken[i]))),
                            err);
    }
    if (!rc && c->n_posts) {
        rc = put_posts(s, h, c, err);
    }
    for (size_t i = 0; !rc && i < c->n_effects; i++) {
        rc = put_effect(s, h, &c->effects[i], err);
    }
    for (size_t i = 0; !rc && i < c->n_events; i++) {
        rc = put_event(s, h, &c->events[i], err);
    }
    return rc;
}

int pons__thread_id(sq *s, const char *name, int64_t *ret, pons_error *err)
{
    int rc = pons__sql_number(&s->w, SQL_THREAD_GET, ARGS(arg_text(name)), ret, err);
    if (rc || *ret) {
        return rc;
    }
    rc = pons__sql_exec(&s->w, SQL_THREAD_ADD, ARGS(arg_text(name), arg_int(pons__store_wall_ms())),
                        err);
    *ret = rc ? 0 : sqlite3_last_insert_rowid(s->w.db);
    return rc;
}

int pons__ns_id(sq *s, int64_t tid, const char *name, int64_t *ret, pons_error *err)
{
    const sql_args named = ARGS(arg_int(tid), arg_text(name));
    int rc = pons__sql_number(&s->w, SQL_NS_GET, named, ret, err);
    if (!rc && !*ret) {
        rc = pons__sql_exec(&s->w, SQL_NS_ADD, named, err);
        *ret = sqlite3_last_insert_rowid(s->w.db);
    }
    return rc;
}

int pons__word_id(sq *s, const char *text, int64_t *ret, pons_error *err)
{
    word *slot = &s->words[pons__store_hash(text) & (WORDS_CACHED - 1)];
    if (slot->wid && strcmp(slot->text, text) == 0) {
        *ret = slot->wid;
        return PONS_OK;
    }
    int rc = pons__sql_number(&s->w, SQL_WORD_GET, ARGS(arg_text(text)), ret, err);
    if (!rc && !*ret) {
        rc = pons__sql_exec(&s->w, SQL_WORD_ADD, ARGS(arg_text(text)), err);
        *ret = sqlite3_last_insert_rowid(s->w.db);
    }
    if (!rc && strlen(text) < sizeof slot->text) {
        strcpy(slot->text, text);
        slot->wid = *ret;
    }
    return rc;
}

// Messages are numbered by the thread's row, because any process may post and a number must not
// come back when its message is gone.
int pons__inbox_seq(sq *s, int64_t tid, int64_t n, int64_t *ret_first, pons_error *err)
{
    int64_t last;
    const int rc = pons__sql_number(&s->w, SQL_THREAD_SEQ,
                                    ARGS(arg_int(tid), arg_int(n), arg_int(pons__store_wall_ms())),
                                    &last, err);
    if (!rc && !last) {
        return pons_error_set(err, PONS_ECORRUPT, "store", "a thread's row is missing");
    }
    *ret_first = last - n + 1;
    return rc;
}

int pons__inbox_put(sq *s, int64_t tid, int64_t seq, int64_t nid, int64_t kind, pons_bytes value,
                    pons_error *err)
{
    return pons__sql_put(
        &s->w, SQL_INBOX_ADD, "inbox",
        ARGS(arg_int(key_of(tid, seq)), arg_int(nid), arg_int(kind), arg_bytes(value)), err);
}

// Ids are sortable by time and rows lie in the order of commits, so a binary search finds nearly
// every one; where the clock was set back, the order is broken, and a scan finds the rest.
int pons__checkpoint_key(sql_conn *c, int64_t nid, const char *id, int64_t *ret, pons_error *err)
{
    const int64_t first = key_of(nid, 0);
    int64_t last;
    int rc = pons__sql_number(c, SQL_CP_LAST,
                              ARGS(arg_int(first), arg_int(key_of(nid, KEY_SEQ_MAX))), &last, err);
    for (int64_t low = first, high = last; !rc && low <= high;) {
        const int64_t middle = low + (high - low) / 2;
        sqlite3_stmt *st;
        const int got =
            pons__sql_first(c, SQL_CP_FROM, ARGS(arg_int(middle), arg_int(high)), &st, err);
        char there[32] = "";
        int64_t key = 0;
        if (got > 0) {
            key = sqlite3_column_int64(st, 0);
            pons__id_column(st, 1, there, sizeof there);
        }
        sqlite3_reset(st);
        rc = got < 0 ? got : PONS_OK;
        const int order = got > 0 ? strcmp(there, id) : 1;
        if (order == 0) {
            *ret = key;
            return PONS_OK;
        }
        if (order < 0) {
            low = key + 1;
        } else {
            high = middle - 1;
        }
    }
    rc = rc ? rc
            : pons__sql_number(c, SQL_CP_SCAN, ARGS(arg_int(first), arg_int(last), arg_id(id)), ret,
                               err);
    return rc || *ret ? rc : PONS_ENOTFOUND;
}
