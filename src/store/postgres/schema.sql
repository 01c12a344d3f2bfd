-- schema.sql - the schema `pons` of a database: its tables, and the functions that need a commit's logic.
-- schema.c runs it in one transaction, and says what the functions are for.

CREATE SCHEMA pons;
CREATE TABLE pons.meta(key text PRIMARY KEY, value int8 NOT NULL);
INSERT INTO pons.meta VALUES('version',7);
CREATE SEQUENCE pons.epoch;

-- There is room in the pages of threads, so that renewing a lease touches no index. life: which process of its
-- host a holder is (holder_alive.c), so that a dead one is known at once.
CREATE TABLE pons.thread(tid bigserial PRIMARY KEY, name text NOT NULL UNIQUE,
 created_ms int8 NOT NULL, touched_ms int8 NOT NULL, epoch int8 NOT NULL DEFAULT 0,
 inbox_seq int8 NOT NULL DEFAULT 0, pid int8 NOT NULL DEFAULT 0,
 host text NOT NULL DEFAULT '', until timestamptz, life text NOT NULL DEFAULT '') WITH (fillfactor=50);
CREATE TABLE pons.ns(nid bigserial PRIMARY KEY, tid int8 NOT NULL, name text NOT NULL,
 UNIQUE(tid,name));
CREATE TABLE pons.checkpoint(nid int8, n int8, step int8 NOT NULL, snapshot bool NOT NULL,
 id bytea NOT NULL, parent bytea, data bytea NOT NULL, PRIMARY KEY(nid,n), UNIQUE(nid,id));
CREATE TABLE pons.record(nid int8, checkpoint bytea, task text COLLATE "C", idx int8,
 data bytea NOT NULL, PRIMARY KEY(nid,checkpoint,task,idx));
CREATE TABLE pons.inbox(tid int8, seq int8, nid int8 NOT NULL, kind text NOT NULL,
 value bytea NOT NULL, PRIMARY KEY(tid,seq));
CREATE TABLE pons.event(tid int8, seq int8, nid int8 NOT NULL, ts_ms int8 NOT NULL,
 type text NOT NULL, payload bytea NOT NULL, PRIMARY KEY(tid,seq));
CREATE TABLE pons.effect(tid int8, n int8, nid int8 NOT NULL, state int4 NOT NULL,
 created_ms int8 NOT NULL, updated_ms int8 NOT NULL, id bytea NOT NULL, data bytea NOT NULL,
 PRIMARY KEY(tid,n), UNIQUE(tid,id));

-- Items, and what is noted of threads.
CREATE TABLE pons.item(ns text COLLATE "C", key text COLLATE "C", value bytea NOT NULL,
 words text NOT NULL, vectors bytea NOT NULL, created_ms int8 NOT NULL,
 updated_ms int8 NOT NULL, ttl_ms int8 NOT NULL, expires_ms int8 NOT NULL,
 found tsvector NOT NULL, PRIMARY KEY(ns,key));
CREATE INDEX item_found ON pons.item USING gin(found);
CREATE INDEX item_expires ON pons.item(expires_ms) WHERE expires_ms<>0;
CREATE TABLE pons.note(tid int8 PRIMARY KEY, data bytea NOT NULL);

-- Lanes. What may be claimed, and what a lane has next, is found from an index's end. That a session runs stands
-- in its lane alone. While one follows the other no index of lanes changes, and a session's row changes once, at
-- its end.
CREATE TABLE pons.session(seq bigserial PRIMARY KEY, id text COLLATE "C" NOT NULL UNIQUE,
 lane text COLLATE "C" NOT NULL, priority int8 NOT NULL, order_ms int8 NOT NULL,
 state int4 NOT NULL DEFAULT 0, attempt int8 NOT NULL DEFAULT 0, epoch int8 NOT NULL DEFAULT 0,
 due_ms int8 NOT NULL DEFAULT 0, data bytea NOT NULL, note bytea NOT NULL DEFAULT '');
CREATE INDEX session_next ON pons.session(lane,priority,order_ms,seq) WHERE state=0;
CREATE INDEX session_due ON pons.session(due_ms) WHERE state=1;
CREATE TABLE pons.lane(name text COLLATE "C" PRIMARY KEY, head int8 NOT NULL DEFAULT 0,
 head_priority int8 NOT NULL DEFAULT 0, head_order int8 NOT NULL DEFAULT 0,
 running int8 NOT NULL DEFAULT 0, owner text COLLATE "C" NOT NULL DEFAULT '',
 epoch int8 NOT NULL DEFAULT 0, free bool NOT NULL DEFAULT false) WITH (fillfactor=50,
 autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000);
CREATE INDEX lane_ready ON pons.lane(head_priority,head_order,head) WHERE free;
CREATE TABLE pons.runner(name text COLLATE "C" PRIMARY KEY, beats int8 NOT NULL)
 WITH (fillfactor=50);
CREATE VIEW pons.session_now AS SELECT s.seq, s.id, s.lane, s.priority, s.order_ms,
 CASE WHEN l.running IS NULL THEN s.state ELSE 2 END AS state,
 CASE WHEN l.running IS NULL THEN s.attempt ELSE s.attempt+1 END AS attempt,
 coalesce(l.epoch,s.epoch) AS epoch, coalesce(l.owner,'') AS owner, s.due_ms, s.data, s.note
 FROM pons.session s LEFT JOIN pons.lane l ON l.name=s.lane AND l.running=s.seq;

-- The lane, locked; it is made when it is new. Its row is locked before any of its sessions'.
CREATE FUNCTION pons.lane_lock(l text) RETURNS pons.lane LANGUAGE plpgsql AS $$
 DECLARE r pons.lane%ROWTYPE; BEGIN LOOP
  SELECT * INTO r FROM pons.lane WHERE name=l FOR UPDATE;
  IF FOUND THEN RETURN r; END IF;
  INSERT INTO pons.lane(name) VALUES(l) ON CONFLICT DO NOTHING;
 END LOOP; END $$;

-- Its first session that waits is found anew; who listens is told when that is another one.
CREATE FUNCTION pons.lane_mend(r pons.lane) RETURNS void LANGUAGE plpgsql AS $$
 DECLARE h record; BEGIN
 IF r.running<>0 THEN RETURN; END IF;
 SELECT seq, priority, order_ms INTO h FROM pons.session WHERE lane=r.name AND state=0
  ORDER BY priority, order_ms, seq LIMIT 1;
 UPDATE pons.lane SET head=coalesce(h.seq,0), head_priority=coalesce(h.priority,0),
  head_order=coalesce(h.order_ms,0), free=h.seq IS NOT NULL WHERE name=r.name;
 IF h.seq IS NOT NULL AND (NOT r.free OR h.seq<>r.head) THEN
  PERFORM pg_notify('pons_lane',''); END IF;
 END $$;

CREATE FUNCTION pons.session_add(i text, l text, p int8, o int8, d bytea)
 RETURNS void LANGUAGE plpgsql AS $$
 DECLARE r pons.lane%ROWTYPE; s int8; BEGIN
 r := pons.lane_lock(l);
 INSERT INTO pons.session(id,lane,priority,order_ms,data) VALUES(i,l,p,o,d)
  RETURNING seq INTO s;
 IF r.running=0 AND (NOT r.free OR (p,o,s)<(r.head_priority,r.head_order,r.head)) THEN
  UPDATE pons.lane SET head=s, head_priority=p, head_order=o, free=true WHERE name=l;
  PERFORM pg_notify('pons_lane',''); END IF;
 END $$;

-- NULL: there is none; else the state that it has (above 1: nothing has changed).
CREATE FUNCTION pons.session_change(i text, l text, p int8, o int8, d bytea)
 RETURNS int8 LANGUAGE plpgsql AS $$
 DECLARE was text; s pons.session%ROWTYPE; a pons.lane%ROWTYPE; b pons.lane%ROWTYPE;
 BEGIN LOOP
  SELECT lane INTO was FROM pons.session WHERE id=i;
  IF NOT FOUND THEN RETURN NULL; END IF;
  a := pons.lane_lock(least(was,l)); b := pons.lane_lock(greatest(was,l));
  SELECT * INTO s FROM pons.session WHERE id=i FOR UPDATE;
  IF s.state>1 THEN RETURN s.state; END IF;
  CONTINUE WHEN s.lane<>was;
  IF s.seq IN (a.running,b.running) THEN RETURN 2; END IF;
  UPDATE pons.session SET lane=l, priority=p, order_ms=o, data=d WHERE id=i;
  PERFORM pons.lane_mend(a);
  IF was<>l THEN PERFORM pons.lane_mend(b); END IF;
  RETURN s.state;
 END LOOP; END $$;

CREATE FUNCTION pons.session_cancel(i text, t bytea) RETURNS int8
 LANGUAGE plpgsql AS $$
 DECLARE was text; s pons.session%ROWTYPE; a pons.lane%ROWTYPE; BEGIN LOOP
  SELECT lane INTO was FROM pons.session WHERE id=i;
  IF NOT FOUND THEN RETURN NULL; END IF;
  a := pons.lane_lock(was);
  SELECT * INTO s FROM pons.session WHERE id=i FOR UPDATE;
  IF s.state>1 THEN RETURN s.state; END IF;
  CONTINUE WHEN s.lane<>was;
  IF s.seq=a.running THEN RETURN 2; END IF;
  UPDATE pons.session SET state=6, due_ms=0, note=t WHERE id=i;
  PERFORM pons.lane_mend(a);
  RETURN s.state;
 END LOOP; END $$;

CREATE FUNCTION pons.session_take(who text, names text[])
 RETURNS SETOF pons.session_now LANGUAGE plpgsql AS $$
 DECLARE r record; BEGIN
 SELECT name, head, epoch INTO r FROM pons.lane
  WHERE free AND (names IS NULL OR name=ANY(names))
  ORDER BY head_priority, head_order, head LIMIT 1 FOR UPDATE SKIP LOCKED;
 IF NOT FOUND THEN RETURN; END IF;
 RETURN QUERY WITH u AS (UPDATE pons.lane SET free=false, running=r.head, owner=who,
   epoch=r.epoch+1 WHERE name=r.name)
  SELECT s.seq, s.id, s.lane, s.priority, s.order_ms, 2, s.attempt+1, r.epoch+1, who, 0::int8,
   s.data, s.note FROM pons.session s WHERE s.seq=r.head;
 END $$;

-- PN002: the session is not this runner's any more.
CREATE FUNCTION pons.session_end(i text, e int8, st int8, due int8, t bytea,
 who text) RETURNS SETOF pons.session_now LANGUAGE plpgsql AS $$
 DECLARE r record; BEGIN
 SELECT l.name, l.running INTO r FROM pons.lane l WHERE (l.name,l.running)=
  (SELECT s.lane, s.seq FROM pons.session s WHERE s.id=i) AND l.epoch=e FOR UPDATE;
 IF NOT FOUND THEN RAISE EXCEPTION USING ERRCODE='PN002', MESSAGE='stale'; END IF;
 IF who IS NOT NULL THEN
  RETURN QUERY WITH n AS MATERIALIZED (SELECT s.* FROM pons.session s WHERE s.lane=r.name
    AND s.state=0 AND s.seq<>r.running ORDER BY s.priority, s.order_ms, s.seq LIMIT 1),
   u AS (UPDATE pons.session s SET state=st::int4, attempt=s.attempt+1, epoch=e, due_ms=due,
    note=t WHERE s.seq=r.running),
   v AS (UPDATE pons.lane l SET running=n.seq, owner=who, epoch=e+1 FROM n
    WHERE l.name=r.name)
   SELECT n.seq, n.id, n.lane, n.priority, n.order_ms, 2, n.attempt+1, e+1, who, 0::int8,
    n.data, n.note FROM n;
  IF FOUND THEN RETURN; END IF;
 ELSE
  UPDATE pons.session SET state=st::int4, attempt=attempt+1, epoch=e, due_ms=due, note=t
   WHERE seq=r.running;
 END IF;
 UPDATE pons.lane SET running=0, owner='', (head,head_priority,head_order,free)=
  (SELECT seq, priority, order_ms, true FROM (SELECT seq, priority, order_ms
   FROM pons.session WHERE lane=r.name AND state=0 ORDER BY priority, order_ms, seq LIMIT 1) n
   UNION ALL SELECT 0, 0, 0, false LIMIT 1) WHERE name=r.name;
 END $$;

-- How many rows were written: 0, it is not this runner's any more.
CREATE FUNCTION pons.session_note(i text, e int8, t bytea) RETURNS int8
 LANGUAGE plpgsql AS $$
 DECLARE s int8; BEGIN
 SELECT l.running INTO s FROM pons.lane l WHERE (l.name,l.running)=
  (SELECT s.lane, s.seq FROM pons.session s WHERE s.id=i) AND l.epoch=e FOR UPDATE;
 IF NOT FOUND THEN RETURN 0; END IF;
 UPDATE pons.session SET note=t WHERE seq=s; RETURN 1;
 END $$;

-- When the next one is due; 0: none waits.
CREATE FUNCTION pons.session_wake(ms int8) RETURNS int8 LANGUAGE plpgsql AS $$
 DECLARE s record; a pons.lane%ROWTYPE; BEGIN LOOP
  SELECT seq, lane, due_ms INTO s FROM pons.session WHERE state=1 ORDER BY due_ms LIMIT 1;
  IF NOT FOUND THEN RETURN 0; END IF;
  IF s.due_ms>ms THEN RETURN s.due_ms; END IF;
  a := pons.lane_lock(s.lane);
  UPDATE pons.session SET state=0, due_ms=0 WHERE seq=s.seq AND state=1 AND lane=s.lane;
  PERFORM pons.lane_mend(a);
 END LOOP; END $$;

-- PN003: it has beaten. What it beat last is locked, so that it cannot beat meanwhile.
CREATE FUNCTION pons.session_inherit(gone text, seen int8, who text)
 RETURNS SETOF pons.session_now LANGUAGE plpgsql AS $$
 DECLARE b int8; l record; BEGIN
 SELECT beats INTO b FROM pons.runner WHERE name=gone FOR UPDATE;
 IF coalesce(b,0)<>seen THEN RAISE EXCEPTION USING ERRCODE='PN003', MESSAGE='alive'; END IF;
 DELETE FROM pons.runner WHERE name=gone;
 FOR l IN SELECT name, running, epoch FROM pons.lane WHERE owner=gone AND running<>0
  ORDER BY name FOR UPDATE LOOP
  UPDATE pons.lane SET owner=who, epoch=l.epoch+1 WHERE name=l.name;
  RETURN QUERY SELECT * FROM pons.session_now WHERE seq=l.running;
 END LOOP; END $$;

CREATE FUNCTION pons.fence(t int8, e int8) RETURNS void LANGUAGE plpgsql AS $$
 DECLARE now_e int8; BEGIN
 PERFORM pg_advisory_xact_lock_shared(1886351987, t::int4);
 SELECT epoch INTO now_e FROM pons.thread WHERE tid=t;
 IF now_e IS DISTINCT FROM e THEN
  RAISE EXCEPTION USING ERRCODE='PN001', MESSAGE=coalesce(now_e,0)::text; END IF;
 END $$;

CREATE FUNCTION pons.space(t int8, s text) RETURNS int8 LANGUAGE plpgsql AS $$
 DECLARE id int8; BEGIN LOOP
  SELECT nid INTO id FROM pons.ns WHERE tid=t AND name=s;
  IF FOUND THEN RETURN id; END IF;
  INSERT INTO pons.ns(tid,name) VALUES(t,s) ON CONFLICT DO NOTHING RETURNING nid INTO id;
  IF FOUND THEN RETURN id; END IF;
 END LOOP; END $$;

-- NULL: there is no such thread.
CREATE FUNCTION pons.post_to(t int8, s text, k text, v bytea, ms int8)
 RETURNS int8 LANGUAGE plpgsql AS $$
 DECLARE q int8; who text; BEGIN
 UPDATE pons.thread SET inbox_seq=inbox_seq+1, touched_ms=ms WHERE tid=t
  RETURNING inbox_seq, name INTO q, who;
 IF NOT FOUND THEN RETURN NULL; END IF;
 INSERT INTO pons.inbox(tid,seq,nid,kind,value) VALUES(t,q,pons.space(t,s),k,v);
 PERFORM pg_notify('pons','i '||who);
 RETURN q; END $$;

CREATE FUNCTION pons.thread_of(who text, ms int8) RETURNS int8
 LANGUAGE plpgsql AS $$
 DECLARE id int8; BEGIN LOOP
  SELECT tid INTO id FROM pons.thread WHERE name=who;
  IF FOUND THEN RETURN id; END IF;
  INSERT INTO pons.thread(name,created_ms,touched_ms) VALUES(who,ms,ms)
   ON CONFLICT DO NOTHING RETURNING tid INTO id;
  IF FOUND THEN RETURN id; END IF;
 END LOOP; END $$;

CREATE FUNCTION pons.post(who text, s text, k text, v bytea, ms int8)
 RETURNS int8 LANGUAGE plpgsql AS $$
 DECLARE q int8; BEGIN LOOP
  q := pons.post_to(pons.thread_of(who,ms),s,k,v,ms);
  IF q IS NOT NULL THEN RETURN q; END IF;
 END LOOP; END $$;

-- gone: an epoch whose holder is dead, so that its time does not count.
CREATE FUNCTION pons.lease_take(who text, p int8, h text, ttl int8, ms int8,
 l text, gone int8) RETURNS TABLE(o_taken bool, o_tid int8, o_epoch int8, o_pid int8,
 o_host text, o_life text) LANGUAGE plpgsql AS $$
 DECLARE r pons.thread%ROWTYPE; id int8; BEGIN
 PERFORM set_config('synchronous_commit','on',true);
 LOOP
  id := pons.thread_of(who,ms);
  SELECT * INTO r FROM pons.thread WHERE tid=id;
  IF r.until>clock_timestamp() AND r.epoch<>gone THEN
   RETURN QUERY SELECT false, id, r.epoch, r.pid, r.host, r.life; RETURN; END IF;
  PERFORM pg_advisory_xact_lock(1886351987, id::int4);
  SELECT * INTO r FROM pons.thread WHERE tid=id FOR UPDATE;
  CONTINUE WHEN NOT FOUND;
  IF r.until>clock_timestamp() AND r.epoch<>gone THEN
   RETURN QUERY SELECT false, id, r.epoch, r.pid, r.host, r.life; RETURN; END IF;
  UPDATE pons.thread SET epoch=nextval('pons.epoch'), pid=p, host=h, life=l, touched_ms=ms,
   until=clock_timestamp()+ttl*interval '1 millisecond' WHERE tid=id RETURNING * INTO r;
  RETURN QUERY SELECT true, id, r.epoch, r.pid, r.host, r.life; RETURN;
 END LOOP; END $$;

CREATE FUNCTION pons.thread_drop(who text)
 RETURNS TABLE(o_status int8, o_pid int8, o_host text) LANGUAGE plpgsql AS $$
 DECLARE r pons.thread%ROWTYPE; me int8; BEGIN
 SELECT tid INTO me FROM pons.thread WHERE name=who;
 IF FOUND THEN
  PERFORM pg_advisory_xact_lock(1886351987, me::int4);
  SELECT * INTO r FROM pons.thread WHERE tid=me FOR UPDATE; END IF;
 IF NOT FOUND THEN RETURN QUERY SELECT 1::int8, 0::int8, ''; RETURN; END IF;
 IF r.until>clock_timestamp() THEN
  RETURN QUERY SELECT 2::int8, r.pid, r.host; RETURN; END IF;
 DELETE FROM pons.checkpoint WHERE nid IN (SELECT nid FROM pons.ns WHERE tid=me);
 DELETE FROM pons.record WHERE nid IN (SELECT nid FROM pons.ns WHERE tid=me);
 DELETE FROM pons.inbox WHERE tid=me; DELETE FROM pons.event WHERE tid=me;
 DELETE FROM pons.effect WHERE tid=me; DELETE FROM pons.ns WHERE tid=me;
 DELETE FROM pons.note WHERE tid=me;
 DELETE FROM pons.thread WHERE tid=me;
 RETURN QUERY SELECT 0::int8, 0::int8, ''; END $$;

-- 0: done; 1: no such thread; 2: the other one is there.
CREATE FUNCTION pons.thread_copy(a text, b text, ms int8) RETURNS int8
 LANGUAGE plpgsql AS $$
 DECLARE f int8; t int8; BEGIN
 SELECT tid INTO f FROM pons.thread WHERE name=a;
 IF NOT FOUND THEN RETURN 1; END IF;
 PERFORM pg_advisory_xact_lock(1886351987, f::int4);
 PERFORM 1 FROM pons.thread WHERE tid=f;
 IF NOT FOUND THEN RETURN 1; END IF;
 INSERT INTO pons.thread(name,created_ms,touched_ms) VALUES(b,ms,ms)
  ON CONFLICT DO NOTHING RETURNING tid INTO t;
 IF NOT FOUND THEN RETURN 2; END IF;
 INSERT INTO pons.ns(tid,name) SELECT t, name FROM pons.ns WHERE tid=f;
 INSERT INTO pons.checkpoint(nid,n,step,snapshot,id,parent,data)
  SELECT y.nid,c.n,c.step,c.snapshot,c.id,c.parent,c.data FROM pons.ns x
  JOIN pons.ns y ON y.tid=t AND y.name=x.name JOIN pons.checkpoint c ON c.nid=x.nid
  WHERE x.tid=f;
 INSERT INTO pons.record(nid,checkpoint,task,idx,data)
  SELECT y.nid,r.checkpoint,r.task,r.idx,r.data FROM pons.ns x
  JOIN pons.ns y ON y.tid=t AND y.name=x.name JOIN pons.record r ON r.nid=x.nid
  WHERE x.tid=f;
 INSERT INTO pons.event(tid,seq,nid,ts_ms,type,payload)
  SELECT t,e.seq,y.nid,e.ts_ms,e.type,e.payload FROM pons.event e
  JOIN pons.ns x ON x.nid=e.nid JOIN pons.ns y ON y.tid=t AND y.name=x.name WHERE e.tid=f;
 INSERT INTO pons.effect(tid,n,nid,state,created_ms,updated_ms,id,data)
  SELECT t,e.n,y.nid,e.state,e.created_ms,e.updated_ms,e.id,e.data FROM pons.effect e
  JOIN pons.ns x ON x.nid=e.nid JOIN pons.ns y ON y.tid=t AND y.name=x.name WHERE e.tid=f;
 INSERT INTO pons.note(tid,data) SELECT t,data FROM pons.note WHERE tid=f;
 RETURN 0; END $$;

-- 0: it was not what it should have been. was NULL: whatever it was.
CREATE FUNCTION pons.note_put(who text, v bytea, was bytea, ms int8) RETURNS int8
 LANGUAGE plpgsql AS $$
 DECLARE id int8; have bytea; BEGIN LOOP
  SELECT tid INTO id FROM pons.thread WHERE name=who FOR UPDATE;
  IF NOT FOUND THEN
   IF was<>'' THEN RETURN 0; END IF;
   PERFORM pons.thread_of(who,ms); CONTINUE; END IF;
  SELECT data INTO have FROM pons.note WHERE tid=id;
  IF was<>coalesce(have,'') THEN RETURN 0; END IF;
  DELETE FROM pons.note WHERE tid=id;
  IF v<>'' THEN INSERT INTO pons.note(tid,data) VALUES(id,v); END IF;
  UPDATE pons.thread SET touched_ms=ms WHERE tid=id;
  RETURN 1;
 END LOOP; END $$;

CREATE FUNCTION pons.prune(t int8, e int8, s int8, gone int8[]) RETURNS void
 LANGUAGE plpgsql AS $$ BEGIN
 PERFORM pons.fence(t,e);
 WITH d AS (DELETE FROM pons.checkpoint WHERE nid=s AND n=ANY(gone) RETURNING id)
  DELETE FROM pons.record r USING d WHERE r.nid=s AND r.checkpoint=d.id;
 END $$;

CREATE FUNCTION pons.prune_events(t int8, e int8, since int8) RETURNS int8
 LANGUAGE plpgsql AS $$ DECLARE first int8; removed int8; BEGIN
 PERFORM pons.fence(t,e);
 SELECT least((SELECT min(seq) FROM pons.event WHERE tid=t AND ts_ms>=since),
  (SELECT max(seq) FROM pons.event WHERE tid=t)) INTO first;
 DELETE FROM pons.event WHERE tid=t AND seq<first;
 GET DIAGNOSTICS removed=ROW_COUNT; RETURN removed; END $$;

CREATE FUNCTION pons.thread_sizes() RETURNS TABLE(o_name text, o_created int8,
 o_updated int8, o_checkpoints int8, o_events int8, o_bytes int8, o_pid int8, o_host text)
 LANGUAGE sql AS $$
 SELECT t.name, t.created_ms, greatest(t.touched_ms, v.ts, f.ts), c.n, v.n,
  c.b+r.b+v.b+f.b+i.b, CASE WHEN t.until>clock_timestamp() THEN t.pid ELSE 0 END, t.host
 FROM pons.thread t,
 LATERAL (SELECT count(*) n, coalesce(sum(length(data)+60),0)::int8 b FROM pons.ns s
  JOIN pons.checkpoint x ON x.nid=s.nid WHERE s.tid=t.tid) c,
 LATERAL (SELECT coalesce(sum(length(data)+60),0)::int8 b FROM pons.ns s
  JOIN pons.record x ON x.nid=s.nid WHERE s.tid=t.tid) r,
 LATERAL (SELECT count(*) n, coalesce(sum(length(payload)+60),0)::int8 b, max(ts_ms) ts
  FROM pons.event x WHERE x.tid=t.tid) v,
 LATERAL (SELECT coalesce(sum(length(data)+60),0)::int8 b, max(updated_ms) ts
  FROM pons.effect x WHERE x.tid=t.tid) f,
 LATERAL (SELECT coalesce(sum(length(value)+60),0)::int8 b
  FROM pons.inbox x WHERE x.tid=t.tid) i
 ORDER BY t.tid $$;
