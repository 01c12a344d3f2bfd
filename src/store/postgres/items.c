// items.c - items, and what is noted of threads.
//
// pons.item has the words of an item twice: as they were given, and as a tsvector whose lexemes they
// are (no parser and no dictionary of the server's, so a word here is what it is in the other
// stores). Several writes go in the order of names, so that two who write the same items never wait
// for each other in a circle; a sweep passes over what somebody is writing.
#include "store/postgres/postgres.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- writing ------------------------------------------------------------------------------------

pg_sql pons__pg_item_params(const pons_item_write *w, pg_params *p)
{
    pons__pg_text(p, w->row.ns);
    pons__pg_text(p, w->row.key);
    if (w->what == PONS_ITEM_DELETE) {
        return PG_ITEM_DEL;
    }
    if (w->what == PONS_ITEM_TOUCH) {
        pons__pg_int(p, w->row.expires_ms);
        pons__pg_int(p, w->row.updated_ms);
        return PG_ITEM_TOUCH;
    }
    pons__pg_bytes(p, w->row.value);
    pons__pg_text(p, w->row.words);
    pons__pg_bytes(p, w->row.vectors);
    pons__pg_int(p, w->row.updated_ms);
    pons__pg_int(p, w->row.ttl_ms);
    pons__pg_int(p, w->row.expires_ms);
    return PG_ITEM_PUT;
}

static int write_all(pg_conn *c, const pons_item_write *items, size_t n, pons_sync sync,
                     pons_error *err)
{
    size_t *order = pons__items_order(items, n);
    if (!order) {
        return pons_error_set(err, PONS_ENOMEM, "store", "out of memory");
    }
    int rc = pons__pg_run(c, PG_BEGIN, NULL, NULL, err);
    if (!rc && sync == PONS_SYNC_FULL) {
        rc = pons__pg_run(c, PG_SYNC, NULL, NULL, err);
    }
    for (size_t i = 0; i < n && !rc; i++) {
        pg_params p = {0};
        const pg_sql id = pons__pg_item_params(&items[order[i]], &p);
        rc = pons__pg_run(c, id, &p, NULL, err);
    }
    free(order);
    rc = rc ? rc : pons__pg_run(c, PG_COMMIT, NULL, NULL, err);
    pons_error ignored;
    if (rc && PQstatus(c->c) == CONNECTION_OK && PQtransactionStatus(c->c) != PQTRANS_IDLE) {
        pons__pg_exec(c, "ROLLBACK", &ignored);
    }
    return rc;
}

int pons__pg_items_write(void *self, const pons_item_write *items, size_t n, pons_sync sync,
                         pons_error *err)
{
    pg *s = self;
    pons_error own;
    err = err ? err : &own;
    int rc = pons__store_check_items(items, n, err);
    if (rc) {
        return rc;
    }
    pg_conn *c = pons__pg_take(s, err);
    if (!c) {
        return err->status;
    }
    rc = write_all(c, items, n, sync, err);
    pons__pg_give(s, c);
    return rc;
}

int pons__pg_items_sweep(void *self, int64_t now_ms, int64_t *ret_removed, pons_error *err)
{
    pons_error own;
    err = err ? err : &own;
    pg_params p = {0};
    pons__pg_int(&p, now_ms);
    PGresult *r;
    int rc = pons__pg_once(self, PG_ITEM_SWEEP, &p, &r, err);
    if (!rc && ret_removed) {
        *ret_removed = strtoll(PQcmdTuples(r), NULL, 10);
    }
    PQclear(r);
    return rc;
}

int pons__pg_thread_note(void *self, const char *thread, pons_bytes note, const pons_bytes *was,
                         pons_error *err)
{
    pons_error own;
    err = err ? err : &own;
    int rc = pons__store_check_thread(thread, err);
    if (rc) {
        return rc;
    }
    pg_params p = {0};
    pons__pg_text(&p, thread);
    pons__pg_bytes(&p, note);
    if (was) {
        pons__pg_bytes(&p, *was);
    } else {
        pons__pg_null(&p);
    }
    pons__pg_int(&p, pons__store_wall_ms());
    PGresult *r;
    rc = pons__pg_once(self, PG_NOTE, &p, &r, err);
    if (!rc && !pons__pg_col_int(r, 0, 0)) {
        rc = pons__note_changed(err, thread);
    }
    PQclear(r);
    return rc;
}

// ---- helpers ------------------------------------------------------------------------------------

static int give(void *user, const PGresult *r, pons_item_fn fn)
{
    const pons_item_row row = {
        .ns = pons__pg_col_text(r, 0, 0),
        .key = pons__pg_col_text(r, 0, 1),
        .value = pons__pg_col_bytes(r, 0, 2),
        .words = pons__pg_col_text(r, 0, 3),
        .vectors = pons__pg_col_bytes(r, 0, 4),
        .created_ms = pons__pg_col_int(r, 0, 5),
        .updated_ms = pons__pg_col_int(r, 0, 6),
        .ttl_ms = pons__pg_col_int(r, 0, 7),
        .expires_ms = pons__pg_col_int(r, 0, 8),
    };
    return fn(user, &row);
}

// "a b" as a tsquery: 'a' | 'b'. Words have no quotes; what could not be one is left out.
static char *any_of(const char *words)
{
    char *query = malloc(strlen(words) * 6 + 1), *at = query;
    for (const char *w = words; query && *w;) {
        const size_t n = strcspn(w, " ");
        if (n && !memchr(w, '\'', n) && !memchr(w, '\\', n)) {
            at += sprintf(at, "%s'%.*s'", at > query ? " | " : "", (int)n, w);
        }
        w += n + (w[n] == ' ');
    }
    if (query) {
        *at = '\0';
    }
    return query;
}

// ---- reading ------------------------------------------------------------------------------------

int pons__pg_item_get(void *self, const char *ns, const char *key, int64_t now_ms, pons_item_fn fn,
                      void *user, pons_error *err)
{
    pons_error own;
    err = err ? err : &own;
    int rc = pons__store_check_item(ns, key, err);
    if (rc) {
        return rc;
    }
    pg_params p = {0};
    pons__pg_text(&p, ns);
    pons__pg_text(&p, key);
    pons__pg_int(&p, now_ms);
    PGresult *r;
    rc = pons__pg_once(self, PG_ITEM_GET, &p, &r, err);
    if (!rc && PQntuples(r) == 0) {
        rc = pons__item_not_found(err, ns, key);
    } else if (!rc) {
        give(user, r, fn);
    }
    PQclear(r);
    return rc;
}

int pons__pg_items(void *self, const pons_item_find *find, pons_item_fn fn, void *user,
                   pons_error *err)
{
    pons_error own;
    char *match = find->words ? any_of(find->words) : NULL;
    if (find->words && !match) {
        return pons_error_set(err ? err : &own, PONS_ENOMEM, "store", "out of memory");
    }
    if (match && !match[0]) { // no word: nothing has it
        free(match);
        return PONS_OK;
    }
    pg_params p = {0};
    pons__pg_text(&p, find->prefix ? find->prefix : "");
    pons__pg_int(&p, find->now_ms);
    if (match) {
        pons__pg_text(&p, match);
    }
    pg_reading r;
    pons__pg_read_begin(&r, self, match ? PG_ITEMS_FOUND : PG_ITEMS, &p, err);
    while (pons__pg_read_next(&r)) {
        if (give(user, r.r, fn)) {
            break;
        }
    }
    free(match);
    return pons__pg_read_finish(&r);
}

int pons__pg_item_spaces(void *self, int64_t now_ms, int (*fn)(void *user, const char *ns),
                         void *user, pons_error *err)
{
    pg_params p = {0};
    pons__pg_int(&p, now_ms);
    pg_reading r;
    pons__pg_read_begin(&r, self, PG_ITEM_SPACES, &p, err);
    while (pons__pg_read_next(&r)) {
        if (fn(user, pons__pg_col_text(r.r, 0, 0))) {
            break;
        }
    }
    return pons__pg_read_finish(&r);
}
