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
#include "store/sqlite/internal.h"

#include <stdlib.h>
#include <string.h>

typedef struct old_item { // the row in the way of a write
    int64_t iid;          // 0: none
    char *words;
    int64_t created_ms, expires_ms;
} old_item;

// ---- helpers ------------------------------------------------------------------------------------

static int find_old(sq *s, const char *ns, const char *key, old_item *ret, pons_error *err)
{
    *ret = (old_item){0};
    sqlite3_stmt *st;
    int got = pons__sql_first(&s->w, SQL_ITEM_OLD, ARGS(arg_text(ns), arg_text(key)), &st, err);
    if (got > 0) {
        ret->iid = sqlite3_column_int64(st, 0);
        const char *words = (const char *)sqlite3_column_text(st, 1); // NULL: no memory
        ret->words = words ? strdup(words) : NULL;
        ret->created_ms = sqlite3_column_int64(st, 2);
        ret->expires_ms = sqlite3_column_int64(st, 3);
        if (!ret->words) {
            got = pons_error_set(err, PONS_ENOMEM, "store", "out of memory");
        }
    }
    sqlite3_reset(st);
    return got < 0 ? got : PONS_OK;
}

static int run_words(sq *s, sql_id id, int64_t iid, const char *words, pons_error *err)
{
    return pons__sql_exec(&s->w, id, ARGS(arg_int(iid), arg_text(words)), err);
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
    const int rc = drop_words(s, iid, words, err);
    return rc ? rc : pons__sql_exec(&s->w, SQL_ITEM_DEL, ARGS(arg_int(iid)), err);
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
    const bool same_words = !rc && old.iid && strcmp(old.words, row->words) == 0;
    if (!rc && old.iid && !same_words) {
        rc = drop_words(s, old.iid, old.words, err);
    }
    free(old.words);
    const bool lives = old.iid && (!old.expires_ms || old.expires_ms > row->updated_ms);
    rc = rc ? rc
            : pons__sql_put(&s->w, old.iid ? SQL_ITEM_SET : SQL_ITEM_ADD, "item",
                            ARGS(arg_text(row->ns), arg_text(row->key), arg_bytes(row->value),
                                 arg_text(row->words), arg_bytes(row->vectors),
                                 arg_int(lives ? old.created_ms : row->updated_ms),
                                 arg_int(row->updated_ms), arg_int(row->ttl_ms),
                                 arg_int(row->expires_ms)),
                            err);
    const int64_t iid = old.iid ? old.iid : sqlite3_last_insert_rowid(s->w.db);
    return rc || same_words ? rc : put_words(s, iid, row->words, err);
}

static int touch_item(sq *s, const pons_item_row *row, pons_error *err)
{
    return pons__sql_exec(&s->w, SQL_ITEM_TOUCH,
                          ARGS(arg_text(row->ns), arg_text(row->key), arg_int(row->expires_ms),
                               arg_int(row->updated_ms)),
                          err);
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
        sqlite3_stmt *st;
        const int got = pons__sql_first(&s->w, SQL_ITEM_OVER, ARGS(arg_int(now_ms)), &st, err);
        const int64_t iid = got > 0 ? sqlite3_column_int64(st, 0) : 0;
        char *words = got > 0 ? strdup(pons__text_column(st, 1)) : NULL;
        sqlite3_reset(st);
        if (got <= 0) {
            return got;
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
    sqlite3_stmt *st;
    const int got = pons__sql_first(&s->w, SQL_NOTE_GET, ARGS(arg_int(tid)), &st, err);
    const pons_bytes have = got > 0 ? pons__bytes_column(st, 0) : (pons_bytes){0};
    const bool same =
        have.len == was->len && (have.len == 0 || memcmp(have.data, was->data, have.len) == 0);
    sqlite3_reset(st);
    *ret_rc = got < 0 ? got : PONS_OK;
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
    if (rc) {
        return rc;
    }
    return note.len ? pons__sql_put(&s->w, SQL_NOTE_SET, "note",
                                    ARGS(arg_int(tid), arg_bytes(note)), err)
                    : pons__sql_exec(&s->w, SQL_NOTE_DEL, ARGS(arg_int(tid)), err);
}
