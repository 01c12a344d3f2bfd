// schema.c - the schema `pons` of a database, its functions and its versions.
//
// The version stands in pons.meta. An older schema is brought up step by step in one transaction, a
// newer one is refused by its number. Several processes may come here at once: an advisory lock of
// the transaction lets them in one by one.
//
// What a commit needs of logic is in functions, so that it costs no round trip: `fence` ends the
// transaction (SQLSTATE PN001, the message is the epoch) unless the epoch is the thread's. It takes
// the thread's advisory lock, shared; whoever takes over, deletes or copies a thread takes it
// alone, so that it waits for a commit under way and none begins meanwhile. That lock comes before
// any lock of the thread's row: that is the order everywhere.

#include "store/postgres/postgres.h"

#include <stdio.h>
#include <stdlib.h>

#define LOCK "1886351987" // "pons": the first half of our advisory locks, the second is the thread

// steps[v] turns version v into v + 1.
static const char *const steps[] = {
    "CREATE SCHEMA pons;"
    "CREATE TABLE pons.meta(key text PRIMARY KEY, value int8 NOT NULL);"
    "CREATE SEQUENCE pons.epoch;"
    "CREATE TABLE pons.thread(tid bigserial PRIMARY KEY, name text NOT NULL UNIQUE,"
    " created_ms int8 NOT NULL, touched_ms int8 NOT NULL, epoch int8 NOT NULL DEFAULT 0,"
    " inbox_seq int8 NOT NULL DEFAULT 0, pid int8 NOT NULL DEFAULT 0,"
    " host text NOT NULL DEFAULT '', until timestamptz);"
    "CREATE TABLE pons.ns(nid bigserial PRIMARY KEY, tid int8 NOT NULL, name text NOT NULL,"
    " UNIQUE(tid,name));"
    "CREATE TABLE pons.checkpoint(nid int8, n int8, step int8 NOT NULL, snapshot bool NOT NULL,"
    " id bytea NOT NULL, parent bytea, data bytea NOT NULL, PRIMARY KEY(nid,n), UNIQUE(nid,id));"
    "CREATE TABLE pons.record(nid int8, checkpoint bytea, task text COLLATE \"C\", idx int8,"
    " data bytea NOT NULL, PRIMARY KEY(nid,checkpoint,task,idx));"
    "CREATE TABLE pons.inbox(tid int8, seq int8, nid int8 NOT NULL, kind text NOT NULL,"
    " value bytea NOT NULL, PRIMARY KEY(tid,seq));"
    "CREATE TABLE pons.event(tid int8, seq int8, nid int8 NOT NULL, ts_ms int8 NOT NULL,"
    " type text NOT NULL, payload bytea NOT NULL, PRIMARY KEY(tid,seq));"
    "CREATE TABLE pons.effect(tid int8, n int8, nid int8 NOT NULL, state int4 NOT NULL,"
    " created_ms int8 NOT NULL, updated_ms int8 NOT NULL, id bytea NOT NULL, data bytea NOT NULL,"
    " PRIMARY KEY(tid,n), UNIQUE(tid,id));",
    // 2: room in the pages of threads, so that renewing a lease touches no index.
    "ALTER TABLE pons.thread SET (fillfactor=50);",
    // 3: which process of its host a holder is (life.c), so that a dead one is known at once.
    "ALTER TABLE pons.thread ADD COLUMN IF NOT EXISTS life text NOT NULL DEFAULT '';"
    "DROP FUNCTION IF EXISTS pons.lease_take(text,int8,text,int8,int8);",
    // 4: items, and what is noted of threads.
    "CREATE TABLE pons.item(ns text COLLATE \"C\", key text COLLATE \"C\", value bytea NOT NULL,"
    " words text NOT NULL, vectors bytea NOT NULL, created_ms int8 NOT NULL,"
    " updated_ms int8 NOT NULL, ttl_ms int8 NOT NULL, expires_ms int8 NOT NULL,"
    " found tsvector NOT NULL, PRIMARY KEY(ns,key));"
    "CREATE INDEX item_found ON pons.item USING gin(found);"
    "CREATE INDEX item_expires ON pons.item(expires_ms) WHERE expires_ms<>0;"
    "CREATE TABLE pons.note(tid int8 PRIMARY KEY, data bytea NOT NULL);",
};
#define SCHEMA_VERSION ((int)(sizeof steps / sizeof *steps))

// Of the current version; made anew by each migration.
static const char *const functions[] = {
    "CREATE OR REPLACE FUNCTION pons.fence(t int8, e int8) RETURNS void LANGUAGE plpgsql AS $$"
    " DECLARE now_e int8; BEGIN"
    " PERFORM pg_advisory_xact_lock_shared(" LOCK ", t::int4);"
    " SELECT epoch INTO now_e FROM pons.thread WHERE tid=t;"
    " IF now_e IS DISTINCT FROM e THEN"
    "  RAISE EXCEPTION USING ERRCODE='PN001', MESSAGE=coalesce(now_e,0)::text; END IF;"
    " END $$;",

    "CREATE OR REPLACE FUNCTION pons.space(t int8, s text) RETURNS int8 LANGUAGE plpgsql AS $$"
    " DECLARE id int8; BEGIN LOOP"
    "  SELECT nid INTO id FROM pons.ns WHERE tid=t AND name=s;"
    "  IF FOUND THEN RETURN id; END IF;"
    "  INSERT INTO pons.ns(tid,name) VALUES(t,s) ON CONFLICT DO NOTHING RETURNING nid INTO id;"
    "  IF FOUND THEN RETURN id; END IF;"
    " END LOOP; END $$;",

    // NULL: there is no such thread.
    "CREATE OR REPLACE FUNCTION pons.post_to(t int8, s text, k text, v bytea, ms int8)"
    " RETURNS int8 LANGUAGE plpgsql AS $$"
    " DECLARE q int8; who text; BEGIN"
    " UPDATE pons.thread SET inbox_seq=inbox_seq+1, touched_ms=ms WHERE tid=t"
    "  RETURNING inbox_seq, name INTO q, who;"
    " IF NOT FOUND THEN RETURN NULL; END IF;"
    " INSERT INTO pons.inbox(tid,seq,nid,kind,value) VALUES(t,q,pons.space(t,s),k,v);"
    " PERFORM pg_notify('pons','i '||who);"
    " RETURN q; END $$;",

    "CREATE OR REPLACE FUNCTION pons.thread_of(who text, ms int8) RETURNS int8"
    " LANGUAGE plpgsql AS $$"
    " DECLARE id int8; BEGIN LOOP"
    "  SELECT tid INTO id FROM pons.thread WHERE name=who;"
    "  IF FOUND THEN RETURN id; END IF;"
    "  INSERT INTO pons.thread(name,created_ms,touched_ms) VALUES(who,ms,ms)"
    "   ON CONFLICT DO NOTHING RETURNING tid INTO id;"
    "  IF FOUND THEN RETURN id; END IF;"
    " END LOOP; END $$;",

    "CREATE OR REPLACE FUNCTION pons.post(who text, s text, k text, v bytea, ms int8)"
    " RETURNS int8 LANGUAGE plpgsql AS $$"
    " DECLARE q int8; BEGIN LOOP"
    "  q := pons.post_to(pons.thread_of(who,ms),s,k,v,ms);"
    "  IF q IS NOT NULL THEN RETURN q; END IF;"
    " END LOOP; END $$;",

    // gone: an epoch whose holder is dead, so that its time does not count.
    "CREATE OR REPLACE FUNCTION pons.lease_take(who text, p int8, h text, ttl int8, ms int8,"
    " l text, gone int8) RETURNS TABLE(o_taken bool, o_tid int8, o_epoch int8, o_pid int8,"
    " o_host text, o_life text) LANGUAGE plpgsql AS $$"
    " DECLARE r pons.thread%ROWTYPE; id int8; BEGIN"
    " PERFORM set_config('synchronous_commit','on',true);"
    " LOOP"
    "  id := pons.thread_of(who,ms);"
    "  SELECT * INTO r FROM pons.thread WHERE tid=id;"
    "  IF r.until>clock_timestamp() AND r.epoch<>gone THEN"
    "   RETURN QUERY SELECT false, id, r.epoch, r.pid, r.host, r.life; RETURN; END IF;"
    "  PERFORM pg_advisory_xact_lock(" LOCK ", id::int4);"
    "  SELECT * INTO r FROM pons.thread WHERE tid=id FOR UPDATE;"
    "  CONTINUE WHEN NOT FOUND;"
    "  IF r.until>clock_timestamp() AND r.epoch<>gone THEN"
    "   RETURN QUERY SELECT false, id, r.epoch, r.pid, r.host, r.life; RETURN; END IF;"
    "  UPDATE pons.thread SET epoch=nextval('pons.epoch'), pid=p, host=h, life=l, touched_ms=ms,"
    "   until=clock_timestamp()+ttl*interval '1 millisecond' WHERE tid=id RETURNING * INTO r;"
    "  RETURN QUERY SELECT true, id, r.epoch, r.pid, r.host, r.life; RETURN;"
    " END LOOP; END $$;",

    "CREATE OR REPLACE FUNCTION pons.thread_drop(who text)"
    " RETURNS TABLE(o_status int8, o_pid int8, o_host text) LANGUAGE plpgsql AS $$"
    " DECLARE r pons.thread%ROWTYPE; me int8; BEGIN"
    " SELECT tid INTO me FROM pons.thread WHERE name=who;"
    " IF FOUND THEN"
    "  PERFORM pg_advisory_xact_lock(" LOCK ", me::int4);"
    "  SELECT * INTO r FROM pons.thread WHERE tid=me FOR UPDATE; END IF;"
    " IF NOT FOUND THEN RETURN QUERY SELECT 1::int8, 0::int8, ''; RETURN; END IF;"
    " IF r.until>clock_timestamp() THEN"
    "  RETURN QUERY SELECT 2::int8, r.pid, r.host; RETURN; END IF;"
    " DELETE FROM pons.checkpoint WHERE nid IN (SELECT nid FROM pons.ns WHERE tid=me);"
    " DELETE FROM pons.record WHERE nid IN (SELECT nid FROM pons.ns WHERE tid=me);"
    " DELETE FROM pons.inbox WHERE tid=me; DELETE FROM pons.event WHERE tid=me;"
    " DELETE FROM pons.effect WHERE tid=me; DELETE FROM pons.ns WHERE tid=me;"
    " DELETE FROM pons.note WHERE tid=me;"
    " DELETE FROM pons.thread WHERE tid=me;"
    " RETURN QUERY SELECT 0::int8, 0::int8, ''; END $$;",

    // 0: done; 1: no such thread; 2: the other one is there.
    "CREATE OR REPLACE FUNCTION pons.thread_copy(a text, b text, ms int8) RETURNS int8"
    " LANGUAGE plpgsql AS $$"
    " DECLARE f int8; t int8; BEGIN"
    " SELECT tid INTO f FROM pons.thread WHERE name=a;"
    " IF NOT FOUND THEN RETURN 1; END IF;"
    " PERFORM pg_advisory_xact_lock(" LOCK ", f::int4);"
    " PERFORM 1 FROM pons.thread WHERE tid=f;"
    " IF NOT FOUND THEN RETURN 1; END IF;"
    " INSERT INTO pons.thread(name,created_ms,touched_ms) VALUES(b,ms,ms)"
    "  ON CONFLICT DO NOTHING RETURNING tid INTO t;"
    " IF NOT FOUND THEN RETURN 2; END IF;"
    " INSERT INTO pons.ns(tid,name) SELECT t, name FROM pons.ns WHERE tid=f;"
    " INSERT INTO pons.checkpoint(nid,n,step,snapshot,id,parent,data)"
    "  SELECT y.nid,c.n,c.step,c.snapshot,c.id,c.parent,c.data FROM pons.ns x"
    "  JOIN pons.ns y ON y.tid=t AND y.name=x.name JOIN pons.checkpoint c ON c.nid=x.nid"
    "  WHERE x.tid=f;"
    " INSERT INTO pons.record(nid,checkpoint,task,idx,data)"
    "  SELECT y.nid,r.checkpoint,r.task,r.idx,r.data FROM pons.ns x"
    "  JOIN pons.ns y ON y.tid=t AND y.name=x.name JOIN pons.record r ON r.nid=x.nid"
    "  WHERE x.tid=f;"
    " INSERT INTO pons.event(tid,seq,nid,ts_ms,type,payload)"
    "  SELECT t,e.seq,y.nid,e.ts_ms,e.type,e.payload FROM pons.event e"
    "  JOIN pons.ns x ON x.nid=e.nid JOIN pons.ns y ON y.tid=t AND y.name=x.name WHERE e.tid=f;"
    " INSERT INTO pons.effect(tid,n,nid,state,created_ms,updated_ms,id,data)"
    "  SELECT t,e.n,y.nid,e.state,e.created_ms,e.updated_ms,e.id,e.data FROM pons.effect e"
    "  JOIN pons.ns x ON x.nid=e.nid JOIN pons.ns y ON y.tid=t AND y.name=x.name WHERE e.tid=f;"
    " INSERT INTO pons.note(tid,data) SELECT t,data FROM pons.note WHERE tid=f;"
    " RETURN 0; END $$;",

    // 0: it was not what it should have been. was NULL: whatever it was.
    "CREATE OR REPLACE FUNCTION pons.note_put(who text, v bytea, was bytea, ms int8) RETURNS int8"
    " LANGUAGE plpgsql AS $$"
    " DECLARE id int8; have bytea; BEGIN LOOP"
    "  SELECT tid INTO id FROM pons.thread WHERE name=who FOR UPDATE;"
    "  IF NOT FOUND THEN"
    "   IF was<>'' THEN RETURN 0; END IF;"
    "   PERFORM pons.thread_of(who,ms); CONTINUE; END IF;"
    "  SELECT data INTO have FROM pons.note WHERE tid=id;"
    "  IF was<>coalesce(have,'') THEN RETURN 0; END IF;"
    "  DELETE FROM pons.note WHERE tid=id;"
    "  IF v<>'' THEN INSERT INTO pons.note(tid,data) VALUES(id,v); END IF;"
    "  UPDATE pons.thread SET touched_ms=ms WHERE tid=id;"
    "  RETURN 1;"
    " END LOOP; END $$;",

    "CREATE OR REPLACE FUNCTION pons.prune(t int8, e int8, s int8, gone int8[]) RETURNS void"
    " LANGUAGE plpgsql AS $$ BEGIN"
    " PERFORM pons.fence(t,e);"
    " WITH d AS (DELETE FROM pons.checkpoint WHERE nid=s AND n=ANY(gone) RETURNING id)"
    "  DELETE FROM pons.record r USING d WHERE r.nid=s AND r.checkpoint=d.id;"
    " END $$;",

    "CREATE OR REPLACE FUNCTION pons.prune_events(t int8, e int8, since int8) RETURNS int8"
    " LANGUAGE plpgsql AS $$ DECLARE first int8; removed int8; BEGIN"
    " PERFORM pons.fence(t,e);"
    " SELECT least((SELECT min(seq) FROM pons.event WHERE tid=t AND ts_ms>=since),"
    "  (SELECT max(seq) FROM pons.event WHERE tid=t)) INTO first;"
    " DELETE FROM pons.event WHERE tid=t AND seq<first;"
    " GET DIAGNOSTICS removed=ROW_COUNT; RETURN removed; END $$;",

    "CREATE OR REPLACE FUNCTION pons.thread_sizes() RETURNS TABLE(o_name text, o_created int8,"
    " o_updated int8, o_checkpoints int8, o_events int8, o_bytes int8, o_pid int8, o_host text)"
    " LANGUAGE sql AS $$"
    " SELECT t.name, t.created_ms, greatest(t.touched_ms, v.ts, f.ts), c.n, v.n,"
    "  c.b+r.b+v.b+f.b+i.b, CASE WHEN t.until>clock_timestamp() THEN t.pid ELSE 0 END, t.host"
    " FROM pons.thread t,"
    " LATERAL (SELECT count(*) n, coalesce(sum(length(data)+60),0)::int8 b FROM pons.ns s"
    "  JOIN pons.checkpoint x ON x.nid=s.nid WHERE s.tid=t.tid) c,"
    " LATERAL (SELECT coalesce(sum(length(data)+60),0)::int8 b FROM pons.ns s"
    "  JOIN pons.record x ON x.nid=s.nid WHERE s.tid=t.tid) r,"
    " LATERAL (SELECT count(*) n, coalesce(sum(length(payload)+60),0)::int8 b, max(ts_ms) ts"
    "  FROM pons.event x WHERE x.tid=t.tid) v,"
    " LATERAL (SELECT coalesce(sum(length(data)+60),0)::int8 b, max(updated_ms) ts"
    "  FROM pons.effect x WHERE x.tid=t.tid) f,"
    " LATERAL (SELECT coalesce(sum(length(value)+60),0)::int8 b"
    "  FROM pons.inbox x WHERE x.tid=t.tid) i"
    " ORDER BY t.tid $$;",
};

static int version_of(pg_conn *c, int *ret, pons_error *err);
static int migrate(pg_conn *c, pons_error *err);

int pons__pg_schema(pg_conn *c, pons_error *err)
{
    int version;
    int rc = version_of(c, &version, err);
    if (rc || version == SCHEMA_VERSION) {
        return rc;
    }
    rc = pons__pg_exec(c, "BEGIN; SELECT pg_advisory_xact_lock(" LOCK ", 0)", err);
    if (!rc) {
        rc = migrate(c, err);
    }
    if (!rc) {
        return pons__pg_exec(c, "COMMIT", err);
    }
    pons_error ignored;
    pons__pg_exec(c, "ROLLBACK", &ignored);
    return rc;
}

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

static int migrate(pg_conn *c, pons_error *err)
{
    int version; // read again: somebody may have been faster
    int rc = version_of(c, &version, err);
    if (!rc && version > SCHEMA_VERSION) {
        rc = pons_error_set(err, PONS_EUNSUPPORTED, "store",
                            "the store has schema %d, this program knows up to %d", version,
                            SCHEMA_VERSION);
    }
    if (rc || version == SCHEMA_VERSION) {
        return rc;
    }
    for (; !rc && version < SCHEMA_VERSION; version++) {
        rc = pons__pg_exec(c, steps[version], err);
    }
    for (size_t i = 0; !rc && i < sizeof functions / sizeof *functions; i++) {
        rc = pons__pg_exec(c, functions[i], err);
    }
    char sql[128];
    snprintf(sql, sizeof sql,
             "INSERT INTO pons.meta VALUES('version',%d)"
             " ON CONFLICT (key) DO UPDATE SET value=excluded.value",
             SCHEMA_VERSION);
    return rc ? rc : pons__pg_exec(c, sql, err);
}
