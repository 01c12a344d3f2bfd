-- statements.sql - every statement, prepared once a connection, on first use.
--
-- A line "-- name:" begins one, a line "-- part:" begins what stands as @PART@ in those behind it.

-- part: SQL_SPACE
(SELECT n.nid FROM pons.thread t JOIN pons.ns n ON n.tid=t.tid
 WHERE t.name=$1::text AND n.name=$2::text)

-- part: SQL_THREAD
(SELECT t.tid FROM pons.thread t WHERE t.name=$1::text)

-- part: SQL_CHAIN
-- The chain of the checkpoint that is selected between this and the next part, oldest first.
WITH RECURSIVE s AS (SELECT @SQL_SPACE@ AS nid), c AS ((SELECT n, id, parent, snapshot
 FROM pons.checkpoint WHERE nid=(SELECT nid FROM s)

-- part: SQL_OF_CHAIN
)
 UNION ALL SELECT p.n, p.id, p.parent, p.snapshot FROM c, pons.checkpoint p
 WHERE NOT c.snapshot AND p.nid=(SELECT nid FROM s) AND p.id=c.parent AND p.n<c.n)
 SELECT d.id, d.parent, d.step, d.snapshot, d.data FROM c JOIN pons.checkpoint d
 ON d.nid=(SELECT nid FROM s) AND d.n=c.n ORDER BY d.n

-- part: SQL_ITEM
ns,key,value,words,vectors,created_ms,updated_ms,ttl_ms,expires_ms

-- part: SQL_ITEMS
-- Of a namespace and those below it, "": of all. '/' comes behind '.'.
SELECT @SQL_ITEM@ FROM pons.item WHERE ns>=$1::text
 AND ns<CASE $1::text WHEN '' THEN U&'\+10FFFF' ELSE $1::text||'/' END
 AND ($1::text='' OR ns=$1::text OR ns>=$1::text||'.')
 AND (expires_ms=0 OR expires_ms>$2::int8)

-- part: SQL_SESSION
seq,id,lane,priority,order_ms,state,attempt,epoch,owner,due_ms,data,note

-- name: BEGIN
BEGIN

-- name: COMMIT
COMMIT

-- name: SYNC
SELECT set_config('synchronous_commit','on',true)

-- name: FLUSH
SELECT set_config('synchronous_commit','on',true),
 pg_logical_emit_message(true,'pons','')

-- name: FENCE
SELECT pons.fence($1::int8,$2::int8)

-- name: SPACE
SELECT pons.space($1::int8,$2::text)

-- name: CP_ADD
INSERT INTO pons.checkpoint(nid,n,id,parent,step,snapshot,data)
 VALUES($1::int8,(SELECT coalesce(max(n),0)+1 FROM pons.checkpoint
 WHERE nid=$1::int8),$2::bytea,$3::bytea,$4::int8,$5::int8<>0,$6::bytea)

-- name: RECORD_PUT
INSERT INTO pons.record(nid,checkpoint,task,idx,data)
 VALUES($1::int8,$2::bytea,$3::text,$4::int8,$5::bytea)
 ON CONFLICT (nid,checkpoint,task,idx) DO UPDATE SET data=excluded.data

-- name: INBOX_DEL
DELETE FROM pons.inbox WHERE tid=$1::int8 AND seq=$2::int8

-- name: POST_TO
SELECT pons.post_to($1::int8,$2::text,$3::text,$4::bytea,$5::int8)

-- name: POST
SELECT pons.post($1::text,$2::text,$3::text,$4::bytea,$5::int8)

-- name: EFFECT_PUT
INSERT INTO pons.effect(tid,n,id,nid,state,created_ms,updated_ms,data)
 VALUES($1::int8,(SELECT coalesce(max(n),0)+1 FROM pons.effect
 WHERE tid=$1::int8),$2::bytea,$3::int8,$4::int8,$5::int8,$6::int8,$7::bytea)
 ON CONFLICT (tid,id) DO UPDATE SET nid=excluded.nid, state=excluded.state,
 created_ms=excluded.created_ms, updated_ms=excluded.updated_ms,
 data=excluded.data

-- name: EVENT_ADD
INSERT INTO pons.event(tid,seq,nid,ts_ms,type,payload)
 VALUES($1::int8,(SELECT coalesce(max(seq),0)+1 FROM pons.event
 WHERE tid=$1::int8),$2::int8,$3::int8,$4::text,$5::bytea) RETURNING seq

-- name: NOTIFY
SELECT pg_notify('pons','e '||$1::text)

-- name: HEAD
@SQL_CHAIN@ ORDER BY n DESC LIMIT 1 @SQL_OF_CHAIN@

-- name: CHECKPOINT
@SQL_CHAIN@ AND id=$3::bytea @SQL_OF_CHAIN@

-- name: CP_FIND
SELECT n FROM pons.checkpoint WHERE nid=@SQL_SPACE@ AND id=$3::bytea

-- name: HISTORY
SELECT id, parent, step, snapshot, data FROM pons.checkpoint
 WHERE nid=@SQL_SPACE@ AND n<$3::int8 ORDER BY n DESC LIMIT $4::int8

-- name: RECORDS
SELECT task, idx, data FROM pons.record WHERE nid=@SQL_SPACE@ AND checkpoint=$3::bytea ORDER BY task, idx

-- name: SPACES
SELECT n.name FROM pons.ns n WHERE n.tid=@SQL_THREAD@ AND EXISTS(SELECT 1 FROM pons.checkpoint c WHERE c.nid=n.nid)
 ORDER BY n.name COLLATE "C"

-- name: INBOX
SELECT i.seq, n.name, i.kind, i.value FROM pons.inbox i
 JOIN pons.ns n ON n.nid=i.nid WHERE i.tid=@SQL_THREAD@ AND i.seq>$2::int8
 AND ($3::text IS NULL OR n.name=$3::text) ORDER BY i.seq

-- name: EFFECT
SELECT e.id, n.name, e.state, e.created_ms, e.updated_ms, e.data
 FROM pons.effect e JOIN pons.ns n ON n.nid=e.nid WHERE e.tid=@SQL_THREAD@ AND e.id=$2::bytea

-- name: EFFECTS
SELECT e.id, n.name, e.state, e.created_ms, e.updated_ms, e.data
 FROM pons.effect e JOIN pons.ns n ON n.nid=e.nid WHERE e.tid=@SQL_THREAD@ AND ($2::int8>>e.state)&1=1 ORDER BY e.n

-- name: EVENTS
SELECT e.seq, n.name, e.ts_ms, e.type, e.payload FROM pons.event e
 JOIN pons.ns n ON n.nid=e.nid WHERE e.tid=@SQL_THREAD@ AND e.seq>$2::int8
 ORDER BY e.seq LIMIT $3::int8

-- name: EVENT_LAST
SELECT coalesce(max(seq),0) FROM pons.event WHERE tid=@SQL_THREAD@

-- name: THREADS
SELECT s.*, n.data FROM pons.thread_sizes() s
 JOIN pons.thread t ON t.name=s.o_name LEFT JOIN pons.note n ON n.tid=t.tid
 WHERE $1::text IS NULL OR t.name=$1::text ORDER BY t.tid

-- name: THREAD_LIST
SELECT t.name, t.created_ms, t.touched_ms, 0::int8, 0::int8, 0::int8,
 CASE WHEN t.until>clock_timestamp() THEN t.pid ELSE 0 END, t.host, n.data
 FROM pons.thread t LEFT JOIN pons.note n ON n.tid=t.tid
 WHERE $1::text IS NULL OR t.name=$1::text ORDER BY t.tid

-- name: NOTE
SELECT pons.note_put($1::text,$2::bytea,$3::bytea,$4::int8)

-- name: ITEM_PUT
INSERT INTO pons.item AS i(@SQL_ITEM@,found)
 VALUES($1::text,$2::text,$3::bytea,$4::text,$5::bytea,$6::int8,$6::int8,
 $7::int8,$8::int8,array_to_tsvector(string_to_array($4::text,' ')))
 ON CONFLICT (ns,key) DO UPDATE SET value=excluded.value, words=excluded.words,
 found=excluded.found, vectors=excluded.vectors, created_ms=CASE WHEN
 i.expires_ms=0 OR i.expires_ms>excluded.updated_ms THEN i.created_ms
 ELSE excluded.created_ms END, updated_ms=excluded.updated_ms,
 ttl_ms=excluded.ttl_ms, expires_ms=excluded.expires_ms

-- name: ITEM_TOUCH
UPDATE pons.item SET expires_ms=$3::int8 WHERE ns=$1::text AND key=$2::text
 AND (expires_ms=0 OR expires_ms>$4::int8)

-- name: ITEM_DEL
DELETE FROM pons.item WHERE ns=$1::text AND key=$2::text

-- name: ITEM_SWEEP
DELETE FROM pons.item WHERE (ns,key) IN (SELECT ns,key FROM pons.item
 WHERE expires_ms<>0 AND expires_ms<=$1::int8 FOR UPDATE SKIP LOCKED)

-- name: ITEM_GET
SELECT @SQL_ITEM@ FROM pons.item WHERE ns=$1::text AND key=$2::text
 AND (expires_ms=0 OR expires_ms>$3::int8)

-- name: ITEMS
@SQL_ITEMS@ AND $3::text IS NULL ORDER BY updated_ms DESC, ns, key

-- name: ITEMS_FOUND
@SQL_ITEMS@ AND found @@ $3::text::tsquery ORDER BY updated_ms DESC, ns, key

-- name: ITEM_SPACES
SELECT DISTINCT ns FROM pons.item
 WHERE expires_ms=0 OR expires_ms>$1::int8 ORDER BY ns

-- name: SESSION_ADD
SELECT pons.session_add($1::text,$2::text,$3::int8,$4::int8,$5::bytea)

-- name: SESSION_CHANGE
SELECT pons.session_change($1::text,$2::text,$3::int8,$4::int8,
 $5::bytea)

-- name: SESSION_CANCEL
SELECT pons.session_cancel($1::text,$2::bytea)

-- name: SESSION_CLAIM
SELECT @SQL_SESSION@ FROM pons.session_take($1::text,$2::text[])

-- name: SESSION_NOTE
SELECT pons.session_note($1::text,$2::int8,$3::bytea)

-- name: SESSION_FINISH
SELECT @SQL_SESSION@ FROM pons.session_end($1::text,$2::int8,
 $3::int8,$4::int8,$5::bytea,$6::text)

-- name: SESSION_WAKE
SELECT pons.session_wake($1::int8)

-- name: SESSION_OWN
SELECT @SQL_SESSION@ FROM pons.session_inherit($1::text,$2::int8,$3::text)

-- name: SESSION_GET
SELECT @SQL_SESSION@ FROM pons.session_now WHERE id=$1::text

-- name: SESSION_LIST
SELECT @SQL_SESSION@ FROM pons.session_now WHERE seq>$1::int8
 AND ($2::int8>>state)&1=1 AND ($3::text IS NULL OR lane=$3::text)
 ORDER BY seq LIMIT $4::int8

-- name: SESSION_LIVE
SELECT @SQL_SESSION@ FROM pons.session_now WHERE seq IN
 (SELECT seq FROM pons.session WHERE state=0 UNION ALL
 SELECT seq FROM pons.session WHERE state=1) AND seq>$1::int8
 AND ($2::int8>>state)&1=1 AND ($3::text IS NULL OR lane=$3::text)
 ORDER BY seq LIMIT $4::int8

-- name: SESSION_LAST
SELECT coalesce(max(seq),0) FROM pons.session

-- name: SESSION_TRIM
WITH w AS (SELECT seq, state FROM pons.session WHERE seq>$1::int8
 AND seq<=greatest($2::int8,$3::int8) ORDER BY seq LIMIT $4::int8+1),
 t AS (SELECT seq, state FROM w ORDER BY seq LIMIT $4::int8),
 d AS (DELETE FROM pons.session WHERE seq IN (SELECT seq FROM t WHERE
 (state IN (3,6) AND seq<=$2::int8) OR (state IN (4,5) AND seq<=$3::int8))
 RETURNING state) SELECT (SELECT coalesce(max(seq),$1::int8) FROM t),
 count(*) FILTER (WHERE state IN (3,6)),
 count(*) FILTER (WHERE state IN (4,5)),
 (SELECT count(*) FROM w)>$4::int8 FROM d

-- name: RUNNER_BEAT
INSERT INTO pons.runner(name,beats) VALUES($1::text,1)
 ON CONFLICT (name) DO UPDATE SET beats=runner.beats+1

-- name: RUNNER_DEL
DELETE FROM pons.runner WHERE name=$1::text

-- name: RUNNERS
SELECT name, beats FROM pons.runner UNION ALL SELECT DISTINCT owner, 0::int8
 FROM pons.lane WHERE running<>0
 AND owner NOT IN (SELECT name FROM pons.runner) ORDER BY 1

-- name: TAKE
SELECT * FROM pons.lease_take($1::text,$2::int8,$3::text,$4::int8,$5::int8,
 $6::text,$7::int8)

-- name: RELEASE
UPDATE pons.thread SET until=NULL, pid=0, host=''
 WHERE tid=$1::int8 AND epoch=$2::int8

-- name: RENEW
UPDATE pons.thread t SET until=clock_timestamp()+$3::int8*interval '1 millisecond'
 FROM unnest($1::text::int8[],$2::text::int8[]) AS h(tid,epoch)
 WHERE t.tid=h.tid AND t.epoch=h.epoch AND t.until IS NOT NULL

-- name: PEEK
SELECT epoch, pid, host FROM pons.thread
 WHERE name=$1::text AND until>clock_timestamp()

-- name: EXISTS
SELECT 1 FROM pons.thread WHERE name=$1::text

-- name: DROP
SELECT * FROM pons.thread_drop($1::text)

-- name: COPY
SELECT pons.thread_copy($1::text,$2::text,$3::int8)

-- name: PRUNE_SPACES
SELECT nid FROM pons.ns WHERE tid=$1::int8
 AND ($2::text IS NULL OR name=$2::text) ORDER BY nid

-- name: PRUNE_LIST
SELECT c.n, c.id, c.snapshot, p.n FROM pons.checkpoint c
 LEFT JOIN pons.checkpoint p ON p.nid=c.nid AND p.id=c.parent
 WHERE c.nid=$1::int8 ORDER BY c.n

-- name: PRUNE
SELECT pons.prune($1::int8,$2::int8,$3::int8,$4::text::int8[])

-- name: PRUNE_EVENTS
SELECT pons.prune_events($1::int8,$2::int8,$3::int8)

-- name: TRIM_CP
WITH s AS (SELECT nid FROM pons.ns WHERE tid=$1::int8 AND name=$2::text),
 b AS (SELECT c.nid, c.n FROM pons.checkpoint c JOIN s USING(nid)
 WHERE c.id=$3::bytea),
 f AS (SELECT c.n FROM pons.checkpoint c JOIN b ON c.nid=b.nid AND c.n<=b.n
 WHERE c.snapshot ORDER BY c.n DESC LIMIT 1),
 o AS (SELECT min(c.n) n FROM pons.checkpoint c JOIN b USING(nid)),
 e AS (SELECT c.n FROM pons.checkpoint c, b, o, f WHERE c.nid=b.nid
 AND c.n>o.n AND c.n<=f.n AND c.snapshot ORDER BY c.n LIMIT 1),
 d AS (SELECT c.n, c.id FROM pons.checkpoint c, b, e WHERE c.nid=b.nid
 AND c.n<e.n ORDER BY c.n DESC LIMIT $4::int8),
 r AS (DELETE FROM pons.record r USING b, d WHERE r.nid=b.nid
 AND r.checkpoint=d.id),
 x AS (DELETE FROM pons.checkpoint c USING b, d WHERE c.nid=b.nid AND c.n=d.n
 RETURNING c.n)
 SELECT (SELECT count(*) FROM b), (SELECT count(*) FROM x),
 (SELECT count(*) FROM (SELECT 1 FROM pons.checkpoint c, b, f WHERE c.nid=b.nid
 AND c.n<f.n LIMIT (SELECT count(*)+1 FROM x)) y)

-- name: THIN
WITH w AS (SELECT seq, type, length(payload) AS size FROM pons.event
 WHERE tid=$1::int8 AND seq>$2::int8 AND seq<$3::int8 ORDER BY seq
 LIMIT $4::int8)
 SELECT seq, type, size FROM w ORDER BY seq

-- name: THIN_EVENT
UPDATE pons.event SET payload=$3::bytea WHERE tid=$1::int8 AND seq=$2::int8

-- name: TRIM_EVENTS
WITH d AS (SELECT seq FROM pons.event WHERE tid=$1::int8 AND seq<$2::int8
 AND seq<(SELECT max(seq) FROM pons.event WHERE tid=$1::int8)
 ORDER BY seq LIMIT $3::int8+1),
 x AS (DELETE FROM pons.event e USING (SELECT seq FROM d ORDER BY seq
 LIMIT $3::int8) k WHERE e.tid=$1::int8 AND e.seq=k.seq RETURNING 1)
 SELECT (SELECT count(*) FROM x), (SELECT count(*) FROM d)

-- name: TRIM_EFFECTS
WITH y AS (SELECT n FROM pons.effect WHERE tid=$1::int8
 AND ($4::int8>>state)&1=1 AND created_ms>=$2::int8 ORDER BY n LIMIT 1),
 g AS (SELECT n FROM pons.effect WHERE tid=$1::int8
 AND ($4::int8>>state)&1=1 AND updated_ms<$2::int8
 AND n<coalesce((SELECT n FROM y),9223372036854775807)
 AND n<(SELECT max(n) FROM pons.effect WHERE tid=$1::int8)
 ORDER BY n LIMIT $3::int8+1),
 x AS (DELETE FROM pons.effect e USING (SELECT n FROM g ORDER BY n
 LIMIT $3::int8) k WHERE e.tid=$1::int8 AND e.n=k.n RETURNING 1)
 SELECT (SELECT count(*) FROM x), (SELECT count(*) FROM g)

-- name: BYTES
SELECT sum(pg_total_relation_size(c.oid))::int8 FROM pg_class c
 JOIN pg_namespace n ON n.oid=c.relnamespace
 WHERE n.nspname='pons' AND c.relkind='r'
