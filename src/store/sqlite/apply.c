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
    sqlite3_stmt *st = pons__sql(&s->w, SQL_THREAD_EPOCH, err);
    if (!st) {
        return err->status;
    }
    sqlite3_bind_int64(st, 1, h->tid);
    int code = pons__sql_step(&s->w, st, err);
    uint64_t epoch = code == SQLITE_ROW ? (uint64_t)sqlite3_column_int64(st, 0) : 0;
    sqlite3_reset(st);
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        return err->status;
    }
    return epoch == h->line.epoch ? PONS_OK
                                  : pons__store_stale(err, h->line.thread, h->line.epoch, epoch);
}

// 0 when there is none.
static int last_seq(sq *s, sql_id statement, int64_t owner, int64_t *ret, pons_error *err)
{
    sqlite3_stmt *st = pons__sql(&s->w, statement, err);
    if (!st) {
        return err->status;
    }
    sqlite3_bind_int64(st, 1, key_of(owner, 0));
    sqlite3_bind_int64(st, 2, key_of(owner, KEY_SEQ_MAX));
    int code = pons__sql_step(&s->w, st, err);
    *ret = code == SQLITE_ROW ? key_seq(sqlite3_column_int64(st, 0)) : 0;
    sqlite3_reset(st);
    return code == SQLITE_ROW || code == SQLITE_DONE ? PONS_OK : err->status;
}

static int learn(sq *s, holding *h, pons_error *err)
{
    int64_t event = 0, effect = 0;
    int rc = last_seq(s, SQL_EVENT_LAST, h->tid, &event, err);
    if (!rc) {
        rc = last_seq(s, SQL_EFFECT_LAST, h->tid, &effect, err);
    }
    if (rc) {
        return rc;
    }
    h->event_next = event + 1;
    h->effect_next = effect + 1;
    memset(h->spaces, 0, sizeof h->spaces);
    h->known = true;
    return PONS_OK;
}

// FNV-1a.
static uint32_t hash_of(const char *text)
{
    uint32_t h = 2166136261u;
    for (; *text; text++) {
        h = (h ^ (uint8_t)*text) * 16777619u;
    }
    return h;
}

static int space_get(sq *s, holding *h, const char *ns, space **ret, pons_error *err)
{
    space *sp = &h->spaces[hash_of(ns) & (SPACES_CACHED - 1)];
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
    sqlite3_stmt *st = pons__sql(&s->w, SQL_CP_LAST, err);
    if (!st) {
        return err->status;
    }
    sqlite3_bind_int64(st, 1, key_of(sp->nid, 0));
    sqlite3_bind_int64(st, 2, key_of(sp->nid, KEY_SEQ_MAX));
    int code = pons__sql_step(&s->w, st, err);
    sp->last[0] = '\0';
    if (code == SQLITE_ROW) {
        pons__id_column(st, 1, sp->last, sizeof sp->last);
    }
    sp->next = code == SQLITE_ROW ? key_seq(sqlite3_column_int64(st, 0)) + 1 : 1;
    sqlite3_reset(st);
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        return err->status;
    }
    st = pons__sql(&s->w, SQL_NS_TOP, err);
    if (!st) {
        return err->status;
    }
    sqlite3_bind_int64(st, 1, sp->nid);
    code = pons__sql_step(&s->w, st, err);
    if (code == SQLITE_ROW) {
        pons__id_column(st, 0, sp->top, sizeof sp->top);
    }
    sqlite3_reset(st);
    return code == SQLITE_ROW || code == SQLITE_DONE ? PONS_OK : err->status;
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
    sqlite3_stmt *st = pons__sql(&s->w, SQL_NS_TOP_SET, err);
    if (!st) {
        return err->status;
    }
    sqlite3_bind_int64(st, 1, sp->nid);
    pons__id_bind(st, 2, sp->top);
    return pons__sql_run(&s->w, st, err);
}

// A distance, which is short. A snapshot from afar (a fork) has the id, which stays true when what
// it came from is trimmed.
static int bind_parent(sq *s, sqlite3_stmt *st, row_sum *sum, const space *sp,
                       const pons_checkpoint_row *row, pons_error *err)
{
    const char *parent = row->parent;
    if (!parent[0]) {
        pons__sum_null(sum, st, 3);
        return PONS_OK;
    }
    int64_t key = key_of(sp->nid, sp->next - 1);
    int rc = PONS_OK;
    if (strcmp(parent, sp->last) != 0) {
        rc = pons__checkpoint_key(&s->w, sp->nid, parent, &key, err);
    }
    const int64_t back = key_of(sp->nid, sp->next) - key;
    if (!rc && (back <= PONS__PARENT_NEAR || !row->snapshot)) {
        pons__sum_int(sum, st, 3, back);
    } else if (!rc) {
        pons__sum_id(sum, st, 3, parent);
    } else if (rc == PONS_ENOTFOUND) {
        pons__sum_id(sum, st, 3, parent); // not here: kept as it is named
    }
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
    sqlite3_stmt *st = pons__sql(&s->w, SQL_CP_ADD, err);
    if (!st) {
        return err->status;
    }
    row_sum sum;
    pons__sum_start(&sum, "checkpoint");
    pons__sum_int(&sum, st, 1, key_of(sp->nid, sp->next));
    pons__sum_id(&sum, st, 2, row->id);
    rc = bind_parent(s, st, &sum, sp, row, err);
    if (rc) {
        return rc;
    }
    pons__sum_int(&sum, st, 4, row->step * 2 + (row->snapshot ? STEP_SNAPSHOT : 0));
    pons__sum_bytes(&sum, st, 5, row->data);
    pons__sum_end(&sum, st, 6);
    rc = pons__sql_run(&s->w, st, err);
    if (rc) {
        return rc;
    }
    sp->next++;
    memcpy(sp->last, row->id, sizeof sp->last);
    return PONS_OK;
}

static int put_record(sq *s, int64_t nid, const pons_record_row *row, pons_error *err)
{
    sqlite3_stmt *st = pons__sql(&s->w, SQL_RECORD_PUT, err);
    if (!st) {
        return err->status;
    }
    row_sum sum;
    pons__sum_start(&sum, "record");
    pons__sum_int(&sum, st, 1, nid);
    pons__sum_id(&sum, st, 2, row->checkpoint);
    pons__sum_text(&sum, st, 3, row->task);
    pons__sum_int(&sum, st, 4, row->idx);
    pons__sum_bytes(&sum, st, 5, row->data);
    pons__sum_end(&sum, st, 6);
    return pons__sql_run(&s->w, st, err);
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
        if (!rc) {
            rc = pons__word_id(s, row->kind, &kind, err);
        }
        if (!rc) {
            rc = pons__inbox_put(s, h->tid, seq++, sp->nid, kind, row->value, err);
        }
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
    sqlite3_stmt *st = pons__sql(&s->w, SQL_EFFECT_FIND, err);
    if (!st) {
        return err->status;
    }
    pons__id_bind(st, 1, row->id);
    sqlite3_bind_int64(st, 2, key_of(h->tid, 0));
    sqlite3_bind_int64(st, 3, key_of(h->tid, KEY_SEQ_MAX));
    int code = pons__sql_step(&s->w, st, err);
    bool there = code == SQLITE_ROW;
    int64_t key = there ? sqlite3_column_int64(st, 0) : key_of(h->tid, h->effect_next);
    sqlite3_reset(st);
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        return err->status;
    }
    st = pons__sql(&s->w, there ? SQL_EFFECT_SET : SQL_EFFECT_ADD, err);
    if (!st) {
        return err->status;
    }
    row_sum sum;
    pons__sum_start(&sum, "effect");
    pons__sum_int(&sum, st, 1, key);
    pons__sum_id(&sum, st, 2, row->id);
    pons__sum_int(&sum, st, 3, sp->nid);
    pons__sum_int(&sum, st, 4, row->state);
    pons__sum_int(&sum, st, 5, row->created);
    pons__sum_int(&sum, st, 6, row->updated);
    pons__sum_bytes(&sum, st, 7, row->data);
    pons__sum_end(&sum, st, 8);
    rc = pons__sql_run(&s->w, st, err);
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
    if (!rc) {
        rc = pons__word_id(s, row->type, &type, err);
    }
    if (rc) {
        return rc;
    }
    sqlite3_stmt *st = pons__sql(&s->w, SQL_EVENT_ADD, err);
    if (!st) {
        return err->status;
    }
    row_sum sum;
    pons__sum_start(&sum, "event");
    pons__sum_int(&sum, st, 1, key_of(h->tid, h->event_next));
    pons__sum_int(&sum, st, 2, sp->nid);
    pons__sum_int(&sum, st, 3, row->ts_ms);
    pons__sum_int(&sum, st, 4, type);
    pons__sum_bytes(&sum, st, 5, row->payload);
    pons__sum_end(&sum, st, 6);
    rc = pons__sql_run(&s->w, st, err);
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
        sqlite3_stmt *st = pons__sql(&s->w, SQL_INBOX_DEL, err);
        if (!st) {
            return err->status;
        }
        sqlite3_bind_int64(st, 1, key_of(h->tid, c->inbox_taken[i]));
        rc = pons__sql_run(&s->w, st, err);
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
    sqlite3_stmt *st = pons__sql(&s->w, SQL_THREAD_GET, err);
    if (!st) {
        return err->status;
    }
    sqlite3_bind_text(st, 1, name, -1, SQLITE_STATIC);
    int code = pons__sql_step(&s->w, st, err);
    if (code == SQLITE_ROW) {
        *ret = sqlite3_column_int64(st, 0);
    }
    sqlite3_reset(st);
    if (code == SQLITE_ROW) {
        return PONS_OK;
    }
    if (code != SQLITE_DONE) {
        return err->status;
    }
    st = pons__sql(&s->w, SQL_THREAD_ADD, err);
    if (!st) {
        return err->status;
    }
    sqlite3_bind_text(st, 1, name, -1, SQLITE_STATIC);
    sqlite3_bind_int64(st, 2, pons__store_wall_ms());
    int rc = pons__sql_run(&s->w, st, err);
    if (!rc) {
        *ret = sqlite3_last_insert_rowid(s->w.db);
    }
    return rc;
}

int pons__ns_id(sq *s, int64_t tid, const char *name, int64_t *ret, pons_error *err)
{
    for (sql_id id = SQL_NS_GET;; id = SQL_NS_ADD) {
        sqlite3_stmt *st = pons__sql(&s->w, id, err);
        if (!st) {
            return err->status;
        }
        sqlite3_bind_int64(st, 1, tid);
        sqlite3_bind_text(st, 2, name, -1, SQLITE_STATIC);
        int code = pons__sql_step(&s->w, st, err);
        if (code == SQLITE_ROW) {
            *ret = sqlite3_column_int64(st, 0);
        }
        sqlite3_reset(st);
        if (code == SQLITE_ROW) {
            return PONS_OK;
        }
        if (code != SQLITE_DONE) {
            return err->status;
        }
        if (id == SQL_NS_ADD) {
            *ret = sqlite3_last_insert_rowid(s->w.db);
            return PONS_OK;
        }
    }
}

int pons__word_id(sq *s, const char *text, int64_t *ret, pons_error *err)
{
    word *slot = &s->words[hash_of(text) & (WORDS_CACHED - 1)];
    if (slot->wid && strcmp(slot->text, text) == 0) {
        *ret = slot->wid;
        return PONS_OK;
    }
    int64_t wid = 0;
    for (sql_id id = SQL_WORD_GET; !wid; id = SQL_WORD_ADD) {
        sqlite3_stmt *st = pons__sql(&s->w, id, err);
        if (!st) {
            return err->status;
        }
        sqlite3_bind_text(st, 1, text, -1, SQLITE_STATIC);
        int code = pons__sql_step(&s->w, st, err);
        if (code == SQLITE_ROW) {
            wid = sqlite3_column_int64(st, 0);
        }
        sqlite3_reset(st);
        if (code != SQLITE_ROW && code != SQLITE_DONE) {
            return err->status;
        }
        if (id == SQL_WORD_ADD) {
            wid = sqlite3_last_insert_rowid(s->w.db);
        }
    }
    *ret = wid;
    if (strlen(text) < sizeof slot->text) {
        strcpy(slot->text, text);
        slot->wid = wid;
    }
    return PONS_OK;
}

// Messages are numbered by the thread's row, because any process may post and a number must not
// come back when its message is gone.
int pons__inbox_seq(sq *s, int64_t tid, int64_t n, int64_t *ret_first, pons_error *err)
{
    sqlite3_stmt *st = pons__sql(&s->w, SQL_THREAD_SEQ, err);
    if (!st) {
        return err->status;
    }
    sqlite3_bind_int64(st, 1, tid);
    sqlite3_bind_int64(st, 2, n);
    sqlite3_bind_int64(st, 3, pons__store_wall_ms());
    int code = pons__sql_step(&s->w, st, err);
    if (code == SQLITE_ROW) {
        *ret_first = sqlite3_column_int64(st, 0) - n + 1;
    }
    sqlite3_reset(st);
    if (code == SQLITE_DONE) {
        return pons_error_set(err, PONS_ECORRUPT, "store", "a thread's row is missing");
    }
    return code == SQLITE_ROW ? PONS_OK : err->status;
}

int pons__inbox_put(sq *s, int64_t tid, int64_t seq, int64_t nid, int64_t kind, pons_bytes value,
                    pons_error *err)
{
    sqlite3_stmt *st = pons__sql(&s->w, SQL_INBOX_ADD, err);
    if (!st) {
        return err->status;
    }
    row_sum sum;
    pons__sum_start(&sum, "inbox");
    pons__sum_int(&sum, st, 1, key_of(tid, seq));
    pons__sum_int(&sum, st, 2, nid);
    pons__sum_int(&sum, st, 3, kind);
    pons__sum_bytes(&sum, st, 4, value);
    pons__sum_end(&sum, st, 5);
    return pons__sql_run(&s->w, st, err);
}

// Ids are sortable by time and rows lie in the order of commits, so a binary search finds nearly
// every one; where the clock was set back, the order is broken, and a scan finds the rest.
int pons__checkpoint_key(sql_conn *c, int64_t nid, const char *id, int64_t *ret, pons_error *err)
{
    sqlite3_stmt *st = pons__sql(c, SQL_CP_LAST, err);
    if (!st) {
        return err->status;
    }
    sqlite3_bind_int64(st, 1, key_of(nid, 0));
    sqlite3_bind_int64(st, 2, key_of(nid, KEY_SEQ_MAX));
    int code = pons__sql_step(c, st, err);
    int64_t low = key_of(nid, 0), high = code == SQLITE_ROW ? sqlite3_column_int64(st, 0) : low - 1;
    sqlite3_reset(st);
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        return err->status;
    }
    const int64_t last = high;

    st = pons__sql(c, SQL_CP_FROM, err);
    if (!st) {
        return err->status;
    }
    while (low <= high) {
        int64_t middle = low + (high - low) / 2;
        sqlite3_bind_int64(st, 1, middle);
        sqlite3_bind_int64(st, 2, high);
        code = pons__sql_step(c, st, err);
        char there[32] = "";
        int64_t key = 0;
        if (code == SQLITE_ROW) {
            key = sqlite3_column_int64(st, 0);
            pons__id_column(st, 1, there, sizeof there);
        }
        sqlite3_reset(st);
        if (code != SQLITE_ROW && code != SQLITE_DONE) {
            return err->status;
        }
        int order = code == SQLITE_ROW ? strcmp(there, id) : 1;
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

    st = pons__sql(c, SQL_CP_SCAN, err);
    if (!st) {
        return err->status;
    }
    sqlite3_bind_int64(st, 1, key_of(nid, 0));
    sqlite3_bind_int64(st, 2, last);
    pons__id_bind(st, 3, id);
    code = pons__sql_step(c, st, err);
    if (code == SQLITE_ROW) {
        *ret = sqlite3_column_int64(st, 0);
    }
    sqlite3_reset(st);
    if (code == SQLITE_ROW) {
        return PONS_OK;
    }
    return code == SQLITE_DONE ? PONS_ENOTFOUND : err->status;
}
