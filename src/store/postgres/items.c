// items.c - items, and what is noted of threads.
//
// pons.item has the words of an item twice: as they were given, and as a tsvector whose lexemes they
// are (no parser and no dictionary of the server's, so a word here is what it is in the other
// stores). Several writes go in the order of names, so that two who write the same items never wait
// for each other in a circle; a sweep passes over what somebody is writing.
#include "store/postgres/postgres.h"

#include <stdlib.h>
#include <string.h>

// The statement that writes an item, and its parameters: *ret_n of them.
static pg_sql item_args(const pons_item_write *w, sql_arg ret[PG_ARGS_MAX], size_t *ret_n)
{
    const pons_item_row *row = &w->row;
    ret[0] = arg_text(row->ns);
    ret[1] = arg_text(row->key);
    *ret_n = 2;
    if (w->what == PONS_ITEM_DELETE) {
        return PG_ITEM_DEL;
    }
    if (w->what == PONS_ITEM_TOUCH) {
        ret[2] = arg_int(row->expires_ms);
        ret[3] = arg_int(row->updated_ms);
        *ret_n = 4;
        return PG_ITEM_TOUCH;
    }
    ret[2] = arg_bytes(row->value);
    ret[3] = arg_text(row->words);
    ret[4] = arg_bytes(row->vectors);
    ret[5] = arg_int(row->updated_ms);
    ret[6] = arg_int(row->ttl_ms);
    ret[7] = arg_int(row->expires_ms);
    *ret_n = 8;
    return PG_ITEM_PUT;
}

bool pons__pg_item_send(pg_conn *c, const pons_item_write *w)
{
    sql_arg args[PG_ARGS_MAX];
    size_t n;
    const pg_sql id = item_args(w, args, &n);
    return pons__pg_send(c, id, (sql_args){args, n});
}

static int write_all(pg_conn *c, const pons_item_write *items, size_t n, pons_sync sync,
                     pons_error *err)
{
    size_t *order = pons__items_order(items, n);
    if (!order) {
        return pons_error_set(err, PONS_ENOMEM, "store", "out of memory");
    }
    int rc = pons__pg_run(c, PG_BEGIN, NO_ARGS, NULL, err);
    if (!rc && sync == PONS_SYNC_FULL) {
        rc = pons__pg_run(c, PG_SYNC, NO_ARGS, NULL, err);
    }
    for (size_t i = 0; i < n && !rc; i++) {
        sql_arg args[PG_ARGS_MAX];
        size_t n_args;
        const pg_sql id = item_args(&items[order[i]], args, &n_args);
        rc = pons__pg_run(c, id, (sql_args){args, n_args}, NULL, err);
    }
    free(order);
    rc = rc ? rc : pons__pg_run(c, PG_COMMIT, NO_ARGS, NULL, err);
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
    err = err ? err : &(pons_error)PONS_ERROR_INIT;
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
    err = err ? err : &(pons_error)PONS_ERROR_INIT;
    PGresult *r;
    int rc = pons__pg_once(self, PG_ITEM_SWEEP, ARGS(arg_int(now_ms)), &r, err);
    if (!rc && ret_removed) {
        *ret_removed = strtoll(PQcmdTuples(r), NULL, 10);
    }
    PQclear(r);
    return rc;
}

int pons__pg_thread_note(void *self, const char *thread, pons_bytes note, const pons_bytes *was,
                         pons_error *err)
{
    err = err ? err : &(pons_error)PONS_ERROR_INIT;
    int rc = pons__store_check_thread(thread, err);
    if (rc) {
        return rc;
    }
    int64_t noted;
    rc = pons__pg_number(self, PG_NOTE,
                         ARGS(arg_text(thread), arg_bytes(note),
                              was ? arg_bytes(*was) : arg_text(NULL),
                              arg_int(pons__store_wall_ms())),
                         &noted, err);
    return rc || noted ? rc : pons__note_changed(err, thread);
}
