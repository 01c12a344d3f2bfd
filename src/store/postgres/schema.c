// schema.c - the schema `pons` of a database, its functions and its versions.
//
// The tables and functions are in schema.sql. The version stands in pons.meta: another one is refused by its
// number. Several processes may make the schema at once: an advisory lock of the transaction lets them in one by
// one.
//
// What a commit needs of logic is in functions, so that it costs no round trip: `fence` ends the
// transaction (SQLSTATE PN001, the message is the epoch) unless the epoch is the thread's. It takes
// the thread's advisory lock, shared; whoever takes over, deletes or copies a thread takes it
// alone, so that it waits for a commit under way and none begins meanwhile. That lock comes before
// any lock of the thread's row: that is the order everywhere.
//
// A lane's row says which of its sessions runs, whose it is and under which epoch. The session's own row
// keeps the state 0 and its earlier attempts until it ends; `session_now` shows both as one. `free` is a
// lane whose head may be claimed: only then head and what it is sorted by are kept. Whoever changes a
// lane's sessions locks its row first, by a statement of its own: what comes behind it sees what was
// committed until then.
#include "store/postgres/postgres.h"

#include <stdlib.h>

#define LOCK "1886351987" // "pons": the first half of our advisory locks, the second is the thread

static const char schema[] = {
#include "store/postgres/schema.sql.h"
};
#define SCHEMA_VERSION 7

// ---- helpers ------------------------------------------------------------------------------------

static int version_of(pg_conn *c, int *ret, pons_error *err)
{
    *ret = 0;
    // A scan of the catalogue: a look-up by name may remember what was before we waited.
    PGresult *r = pons__pg_query(c, "SELECT count(*)>0 FROM pg_class c JOIN pg_namespace n"
                                    " ON n.oid=c.relnamespace"
                                    " WHERE n.nspname='pons' AND c.relname='meta'");
    bool there = PQresultStatus(r) == PGRES_TUPLES_OK && PQgetvalue(r, 0, 0)[0] == 't';
    int rc = PQresultStatus(r) == PGRES_TUPLES_OK ? PONS_OK : pons__pg_fail(c, r, err);
    PQclear(r);
    if (rc || !there) {
        return rc;
    }
    r = pons__pg_query(c, "SELECT value FROM pons.meta WHERE key='version'");
    if (PQresultStatus(r) != PGRES_TUPLES_OK) {
        rc = pons__pg_fail(c, r, err);
    } else if (PQntuples(r) == 1) {
        *ret = atoi(PQgetvalue(r, 0, 0));
    }
    PQclear(r);
    return rc;
}

static int make_schema(pg_conn *c, pons_error *err)
{
    int version; // read again: somebody may have been faster
    int rc = version_of(c, &version, err);
    if (!rc && version && version != SCHEMA_VERSION) {
        rc = pons__store_other_schema(err, version, SCHEMA_VERSION);
    }
    return rc || version ? rc : pons__pg_exec(c, schema, err);
}

// ---- public functions ---------------------------------------------------------------------------

int pons__pg_schema(pg_conn *c, pons_error *err)
{
    int version;
    int rc = version_of(c, &version, err);
    if (rc || version == SCHEMA_VERSION) {
        return rc;
    }
    rc = pons__pg_exec(c, "BEGIN; SELECT pg_advisory_xact_lock(" LOCK ", 0)", err);
    rc = rc ? rc : make_schema(c, err);
    if (!rc) {
        return pons__pg_exec(c, "COMMIT", err);
    }
    pons_error ignored;
    pons__pg_exec(c, "ROLLBACK", &ignored);
    return rc;
}
