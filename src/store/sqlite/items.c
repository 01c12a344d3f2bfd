// items.c - items, and what is noted of threads.
//
//     item         iid | ns key value words vectors created_ms updated_ms ttl_ms expires_ms
//     item_words   full-text index (FTS5) over item.words, which it does not store again
//     note         one row a thread: key is the thread's number
//
// An index of FTS5 whose text lies in another table must be told the old words when a row goes, so
// each write reads the row that it replaces first. Words come made (a space between two; letters,
// digits, and whatever is beyond ASCII), which is just what FTS5's tokenizer `ascii` splits, so this
// store, the others and who asks mean the same by a word.
//
// A read takes a connection of its own, as all reads do (read.c). A file that may only be read and is
// of an older schema has no items.
#include "store/sqlite/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct old_item { // the row in the way of a write
    int64_t iid;          // 0: none
    char *words;
    int64_t created_ms, expires_ms;
} old_item;

typedef struct item_reading {
    sq *s;
    sql_conn *c;
    sqlite3_stmt *st;
    pons_error *err;
    pons_error own;
} item_reading;

// ---- helpers ------------------------------------------------------------------------------------

static int find_old(sq *s, const char *ns, const char *key, old_item *ret, pons_error *err)
{
    *ret = (old_item){0};
    sqlite3_stmt *st = pons__sql(&s->w, SQL_ITEM_OLD, err);
    if (!st) {
        return err->status;
    }
    sqlite3_bind_text(st, 1, ns, -1, SQLITE_STATIC);
    sqlite3_bind_text(st, 2, key, -1, SQLITE_STATIC);
    const int code = pons__sql_step(&s->w, st, err);
    int rc = code == SQLITE_ROW || code == SQLITE_DONE ? PONS_OK : err->status;
    if (code == SQLITE_ROW) {
        ret->iid = sqlite3_column_int64(st, 0);
        const char *words = (const char *)sqlite3_column_text(st, 1); // NULL: no memory
        ret->words = words ? strdup(words) : NULL;
        ret->created_ms = sqlite3_column_int64(st, 2);
        ret->expires_ms = sqlite3_column_int64(st, 3);
        if (!ret->words) {
            rc = pons_error_set(err, PONS_ENOMEM, "store", "out of memory");
        }
    }
    sqlite3_reset(st);
    return rc;
}

static int run_words(sq *s, sql_id id, int64_t iid, const char *words, pons_error *err)
{
    sqlite3_stmt *st = pons__sql(&s->w, id, err);
    if (!st) {
        return err->status;
    }
    sqlite3_bind_int64(st, 1, iid);
    sqlite3_bind_text(st, 2, words, -1, SQLITE_STATIC);
    return pons__sql_run(&s->w, st, err);
}

// The index that FTS5 keeps can be wrong while the items are right: it is damaged, or FTS5 has lost
// count, as it may where it once found no memory. It is made anew from the items, and holds what they
// hold at that moment.
static bool mend_words(sq *s, pons_error *err)
{
    return sqlite3_extended_errcode(s->w.db) == SQLITE_CORRUPT_VTAB &&
           !sqlite3_get_autocommit(s->w.db) && !pons__sql_do(&s->w, SQL_WORDS_ANEW, err);
}

static int drop_words(sq *s, int64_t iid, const char *words, pons_error *err)
{
    int rc = run_words(s, SQL_WORDS_DEL, iid, words, err);
    return rc && mend_words(s, err) ? run_words(s, SQL_WORDS_DEL, iid, words, err) : rc;
}

static int drop_item(sq *s, int64_t iid, const char *words, pons_error *err)
{
    int rc = drop_words(s, iid, words, err);
    sqlite3_stmt *st = rc ? NULL : pons__sql(&s->w, SQL_ITEM_DEL, err);
    if (!st) {
        return err->status;
    }
    sqlite3_bind_int64(st, 1, iid);
    return pons__sql_run(&s->w, st, err);
}

static int begin(item_reading *r, sq *s, sql_id id, pons_error *err)
{
    *r = (item_reading){.s = s};
    r->err = err ? err : &r->own;
    r->c = pons__reader_take(s, r->err);
    if (!r->c) {
        return r->err->status;
    }
    r->st = pons__sql(r->c, id, r->err);
    if (!r->st) {
        pons__reader_give(s, r->c);
        return r->err->status;
    }
    return PONS_OK;
}

// Hands out the rows, and ends the reading.
static int each(item_reading *r, pons_item_fn fn, void *user, int64_t *ret_rows)
{
    int code, rc = PONS_OK;
    while ((code = pons__sql_step(r->c, r->st, r->err)) == SQLITE_ROW) {
        const pons_item_row row = {
            .ns = pons__text_column(r->st, 0),
            .key = pons__text_column(r->st, 1),
            .value = pons__bytes_column(r->st, 2),
            .words = pons__text_column(r->st, 3),
            .vectors = pons__bytes_column(r->st, 4),
            .created_ms = sqlite3_column_int64(r->st, 5),
            .updated_ms = sqlite3_column_int64(r->st, 6),
            .ttl_ms = sqlite3_column_int64(r->st, 7),
            .expires_ms = sqlite3_column_int64(r->st, 8),
        };
        if ((sqlite3_errcode(r->c->db) & 0xff) == SQLITE_NOMEM) { // a column has a hole
            rc = pons__sql_fail(r->c, SQLITE_NOMEM, r->err, "cannot read the store");
            break;
        }
        if (ret_rows) {
            ++*ret_rows;
        }
        if (fn(user, &row)) {
            break;
        }
    }
    if (!rc && code != SQLITE_ROW && code != SQLITE_DONE) {
        rc = r->err->status;
    }
    sqlite3_reset(r->st);
    pons__reader_give(r->s, r->c);
    return rc;
}

// "a b" as a query of FTS5: "a" OR "b". Words have no quotes; what could not be one is left out.
static char *any_of(const char *words)
{
    char *query = malloc(strlen(words) * 8 + 1), *at = query;
    for (const char *w = words; query && *w;) {
        const size_t n = strcspn(w, " ");
        if (n && !memchr(w, '"', n)) {
            at += sprintf(at, "%s\"%.*s\"", at > query ? " OR " : "", (int)n, w);
        }
        w += n + (w[n] == ' ');
    }
    if (query) {
        *at = '\0';
    }
    return query;
}

// ---- writing; [writing], inside a transaction ---------------------------------------------------

static int put_words(sq *s, int64_t iid, const char *words, pons_error *err)
{
    int rc = run_words(s, SQL_WORDS_ADD, iid, words, err);
    return rc && mend_words(s, err) ? PONS_OK : rc; // the item is there already
}

static int put_item(sq *s, const pons_item_row *row, pons_error *err)
{
    old_item old;
    int rc = find_old(s, row->ns, row->key, &old, err);
    if (!rc && old.iid) {
        rc = drop_words(s, old.iid, old.words, err);
    }
    sqlite3_stmt *st = rc ? NULL : pons__sql(&s->w, old.iid ? SQL_ITEM_SET : SQL_ITEM_ADD, err);
    free(old.words);
    if (!st) {
        return err->status;
    }
    const bool lives = old.iid && (!old.expires_ms || old.expires_ms > row->updated_ms);
    row_sum sum;
    pons__sum_start(&sum, "item");
    pons__sum_text(&sum, st, 1, row->ns);
    pons__sum_text(&sum, st, 2, row->key);
    pons__sum_bytes(&sum, st, 3, row->value);
    pons__sum_text(&sum, st, 4, row->words);
    pons__sum_bytes(&sum, st, 5, row->vectors);
    pons__sum_int(&sum, st, 6, lives ? old.created_ms : row->updated_ms);
    pons__sum_int(&sum, st, 7, row->updated_ms);
    pons__sum_int(&sum, st, 8, row->ttl_ms);
    pons__sum_int(&sum, st, 9, row->expires_ms);
    pons__sum_end(&sum, st, 10);
    if (old.iid) {
        sqlite3_bind_int64(st, 11, old.iid);
    }
    rc = pons__sql_run(&s->w, st, err);
    const int64_t iid = old.iid ? old.iid : sqlite3_last_insert_rowid(s->w.db);
    return rc ? rc : put_words(s, iid, row->words, err);
}

static int touch_item(sq *s, const pons_item_row *row, pons_error *err)
{
    sqlite3_stmt *st = pons__sql(&s->w, SQL_ITEM_TOUCH, err);
    if (!st) {
        return err->status;
    }
    sqlite3_bind_text(st, 1, row->ns, -1, SQLITE_STATIC);
    sqlite3_bind_text(st, 2, row->key, -1, SQLITE_STATIC);
    sqlite3_bind_int64(st, 3, row->expires_ms);
    sqlite3_bind_int64(st, 4, row->updated_ms);
    return pons__sql_run(&s->w, st, err);
}

int pons__sql_items(sq *s, const pons_item_write *items, size_t n, pons_error *err)
{
    int rc = PONS_OK;
    for (size_t i = 0; i < n && !rc; i++) {
        const pons_item_row *row = &items[i].row;
        if (items[i].what == PONS_ITEM_PUT) {
            rc = put_item(s, row, err);
        } else if (items[i].what == PONS_ITEM_TOUCH) {
            rc = touch_item(s, row, err);
        } else {
            old_item old;
            rc = find_old(s, row->ns, row->key, &old, err);
            rc = rc || !old.iid ? rc : drop_item(s, old.iid, old.words, err);
            free(old.words);
        }
    }
    return rc;
}

int pons__sql_sweep(sq *s, int64_t now_ms, int64_t *removed, pons_error *err)
{
    for (int i = 0; i < PONS__SWEEP_BATCH; i++) {
        sqlite3_stmt *st = pons__sql(&s->w, SQL_ITEM_OVER, err);
        if (!st) {
            return err->status;
        }
        sqlite3_bind_int64(st, 1, now_ms);
        const int code = pons__sql_step(&s->w, st, err);
        const int64_t iid = code == SQLITE_ROW ? sqlite3_column_int64(st, 0) : 0;
        char *words = code == SQLITE_ROW ? strdup(pons__text_column(st, 1)) : NULL;
        sqlite3_reset(st);
        if (code != SQLITE_ROW) {
            return code == SQLITE_DONE ? PONS_OK : err->status;
        }
        int rc = words ? drop_item(s, iid, words, err)
                       : pons_error_set(err, PONS_ENOMEM, "store", "out of memory");
        free(words);
        if (rc) {
            return rc;
        }
        ++*removed;
    }
    return PONS_OK;
}

// ---- notes --------------------------------------------------------------------------------------

// Whether the note is what it was; *ret_rc when that can't be told.
static bool note_is(sq *s, int64_t tid, const pons_bytes *was, int *ret_rc, pons_error *err)
{
    sqlite3_stmt *st = pons__sql(&s->w, SQL_NOTE_GET, err);
    if (!st) {
        *ret_rc = err->status;
        return false;
    }
    sqlite3_bind_int64(st, 1, tid);
    const int code = pons__sql_step(&s->w, st, err);
    const pons_bytes have = code == SQLITE_ROW ? pons__bytes_column(st, 0) : (pons_bytes){0};
    const bool same =
        have.len == was->len && (have.len == 0 || memcmp(have.data, was->data, have.len) == 0);
    sqlite3_reset(st);
    *ret_rc = code == SQLITE_ROW || code == SQLITE_DONE ? PONS_OK : err->status;
    return same;
}

int pons__sql_note(sq *s, const char *thread, pons_bytes note, const pons_bytes *was,
                   pons_error *err)
{
    int64_t tid = 0;
    int rc = pons__thread_id(s, thread, &tid, err);
    if (!rc && was && !note_is(s, tid, was, &rc, err) && !rc) {
        rc = pons__note_changed(err, thread);
    }
    sqlite3_stmt *st = rc ? NULL : pons__sql(&s->w, note.len ? SQL_NOTE_SET : SQL_NOTE_DEL, err);
    if (!st) {
        return err->status;
    }
    row_sum sum;
    pons__sum_start(&sum, "note");
    pons__sum_int(&sum, st, 1, tid);
    if (note.len) {
        pons__sum_bytes(&sum, st, 2, note);
        pons__sum_end(&sum, st, 3);
    }
    return pons__sql_run(&s->w, st, err);
}

// ---- reading ------------------------------------------------------------------------------------

int pons__sq_item_get(void *self, const char *ns, const char *key, int64_t now_ms, pons_item_fn fn,
                      void *user, pons_error *err)
{
    item_reading r;
    int64_t rows = 0;
    int rc = pons__store_check_item(ns, key, err);
    if (!rc && pons__sq_has_items(self)) {
        rc = begin(&r, self, SQL_ITEM_GET, err);
        if (rc) {
            return rc;
        }
        sqlite3_bind_text(r.st, 1, ns, -1, SQLITE_STATIC);
        sqlite3_bind_text(r.st, 2, key, -1, SQLITE_STATIC);
        sqlite3_bind_int64(r.st, 3, now_ms);
        rc = each(&r, fn, user, &rows);
    }
    return rc || rows ? rc : pons__item_not_found(err, ns, key);
}

int pons__sq_items(void *self, const pons_item_find *find, pons_item_fn fn, void *user,
                   pons_error *err)
{
    if (!pons__sq_has_items(self)) {
        return PONS_OK;
    }
    const bool under = find->prefix && find->prefix[0];
    char *match = find->words ? any_of(find->words) : NULL;
    if (find->words && !match) {
        return pons_error_set(err, PONS_ENOMEM, "store", "out of memory");
    }
    item_reading r;
    int rc = find->words && !match[0] ? PONS_ENOTFOUND // no word: nothing has it
                                      : begin(&r, self, under ? SQL_ITEM_UNDER : SQL_ITEM_ALL, err);
    if (!rc) {
        sqlite3_bind_int64(r.st, 1, find->now_ms);
        if (match) {
            sqlite3_bind_text(r.st, 2, match, -1, SQLITE_STATIC);
        } else {
            sqlite3_bind_null(r.st, 2);
        }
        if (under) {
            sqlite3_bind_text(r.st, 3, find->prefix, -1, SQLITE_STATIC);
        }
        rc = each(&r, fn, user, NULL);
    }
    const bool nothing = match && !match[0];
    free(match);
    return nothing ? PONS_OK : rc;
}

int pons__sq_item_spaces(void *self, int64_t now_ms, int (*fn)(void *user, const char *ns),
                         void *user, pons_error *err)
{
    if (!pons__sq_has_items(self)) {
        return PONS_OK;
    }
    item_reading r;
    int rc = begin(&r, self, SQL_ITEM_SPACES, err);
    if (rc) {
        return rc;
    }
    sqlite3_bind_int64(r.st, 1, now_ms);
    int code;
    while ((code = pons__sql_step(r.c, r.st, r.err)) == SQLITE_ROW) {
        const char *ns = (const char *)sqlite3_column_text(r.st, 0);
        if (!ns) {
            rc = pons__sql_fail(r.c, SQLITE_NOMEM, r.err, "cannot read the store");
        }
        if (!ns || fn(user, ns)) {
            break;
        }
    }
    rc = rc || code == SQLITE_ROW || code == SQLITE_DONE ? rc : r.err->status;
    sqlite3_reset(r.st);
    pons__reader_give(r.s, r.c);
    return rc;
}
