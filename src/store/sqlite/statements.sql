-- statements.sql - every statement, prepared once a connection, on first use.
--
-- A line "-- name:" begins one, a line "-- part:" begins what stands as @PART@ in those behind it.

-- part: SQL_ITEM
ns,key,value,words,vectors,created_ms,updated_ms,ttl_ms,expires_ms

-- part: SQL_ITEM_WANTED
(expires_ms=0 OR expires_ms>?2) AND (?3 IS NULL OR iid IN
 (SELECT rowid FROM item_words WHERE item_words MATCH ?3))

-- part: SQL_SESSION
sid,id,lane,priority,order_ms,state,attempt,epoch,owner,due_ms,data,note

-- part: SQL_CHECKPOINT
-- A checkpoint; its parent, stored as a distance back or as the id itself, as an id.
c.id, CASE typeof(c.parent) WHEN 'integer'
 THEN (SELECT p.id FROM checkpoint p WHERE p.key=c.key-c.parent) ELSE c.parent END,
 c.meta>>1, c.meta&1, c.data

-- name: BEGIN_READ
BEGIN

-- name: BEGIN_WRITE
BEGIN IMMEDIATE

-- name: COMMIT
COMMIT

-- name: ROLLBACK
ROLLBACK

-- name: SAVEPOINT
SAVEPOINT member

-- name: RELEASE
RELEASE member

-- name: ROLLBACK_TO
ROLLBACK TO member

-- name: THREAD_GET
SELECT tid, epoch FROM thread WHERE name=?1

-- name: THREAD_EPOCH
SELECT epoch FROM thread WHERE tid=?1

-- name: THREAD_ADD
INSERT INTO thread(name,created_ms,touched_ms,epoch,inbox_seq,sum)
 VALUES(?1,?2,?2,0,0,pons_sum('thread',?1,?2,?2,0,0))

-- name: THREAD_HOLD
UPDATE thread SET epoch=?2, touched_ms=?3,
 sum=pons_sum('thread',name,created_ms,?3,?2,inbox_seq) WHERE tid=?1

-- name: THREAD_SEQ
UPDATE thread SET inbox_seq=inbox_seq+?2, touched_ms=?3,
 sum=pons_sum('thread',name,created_ms,?3,epoch,inbox_seq+?2) WHERE tid=?1
 RETURNING inbox_seq

-- name: EPOCH_NEXT
UPDATE meta SET value=value+1, sum=pons_sum('meta',key,value+1)
 WHERE key='epoch' RETURNING value

-- name: NS_GET
SELECT nid FROM ns WHERE tid=?1 AND name=?2

-- name: NS_FIND
SELECT n.nid FROM thread t JOIN ns n ON n.tid=t.tid
 WHERE t.name=?1 AND n.name=?2

-- name: NS_ADD
INSERT INTO ns(tid,name,sum) VALUES(?1,?2,pons_sum('ns',?1,?2,NULL))

-- name: NS_LIST
SELECT n.name FROM thread t JOIN ns n ON n.tid=t.tid WHERE t.name=?1 AND EXISTS(
 SELECT 1 FROM checkpoint c WHERE c.key BETWEEN n.nid<<36 AND (n.nid<<36)+68719476735)
 ORDER BY n.name

-- name: NS_TOP
SELECT top FROM ns WHERE nid=?1

-- name: NS_TOP_SET
UPDATE ns SET top=?2, sum=pons_sum('ns',tid,name,?2) WHERE nid=?1

-- name: WORD_GET
SELECT wid FROM word WHERE text=?1

-- name: WORD_ADD
INSERT INTO word(text,sum) VALUES(?1,pons_sum('word',?1))

-- name: CP_ADD
INSERT INTO checkpoint(key,id,parent,meta,data,sum)
 VALUES(?1,?2,?3,?4,?5,?6)

-- name: CP_LAST
SELECT key, id FROM checkpoint WHERE key BETWEEN ?1 AND ?2
 ORDER BY key DESC LIMIT 1

-- name: CP_FROM
SELECT key, id FROM checkpoint WHERE key BETWEEN ?1 AND ?2 ORDER BY key LIMIT 1

-- name: CP_SCAN
SELECT key FROM checkpoint WHERE key BETWEEN ?1 AND ?2 AND id=?3

-- name: CP_STEP
SELECT id, parent, meta FROM checkpoint WHERE key=?1

-- name: CP_GET
SELECT @SQL_CHECKPOINT@ FROM checkpoint c
 WHERE c.key=?1

-- name: CP_HISTORY
SELECT @SQL_CHECKPOINT@ FROM thread t
 CROSS JOIN ns n ON n.tid=t.tid AND n.name=?2 CROSS JOIN checkpoint c ON c.key BETWEEN
 n.nid<<36 AND min(?3-1,(n.nid<<36)+68719476735) WHERE t.name=?1
 ORDER BY c.key DESC LIMIT ?4

-- name: RECORD_PUT
INSERT OR REPLACE INTO record(nid,checkpoint,task,idx,data,sum)
 VALUES(?1,?2,?3,?4,?5,?6)

-- name: RECORD_LIST
SELECT r.task, r.idx, r.data FROM thread t
 CROSS JOIN ns n ON n.tid=t.tid AND n.name=?2
 CROSS JOIN record r ON r.nid=n.nid AND r.checkpoint=?3 WHERE t.name=?1
 ORDER BY r.task, r.idx

-- name: INBOX_ADD
INSERT INTO inbox(key,nid,kind,value,sum)
 VALUES(?1,?2,?3,?4,?5)

-- name: INBOX_DEL
DELETE FROM inbox WHERE key=?1

-- name: INBOX_LIST
SELECT i.key&68719476735, n.name, w.text, i.value FROM thread t
 CROSS JOIN inbox i ON i.key > (t.tid<<36)+?2 AND i.key <= (t.tid<<36)+68719476735
 CROSS JOIN ns n ON n.nid=i.nid CROSS JOIN word w ON w.wid=i.kind
 WHERE t.name=?1 AND (?3 IS NULL OR n.name=?3) ORDER BY i.key

-- name: EVENT_ADD
INSERT INTO event(key,nid,ts_ms,type,payload,sum)
 VALUES(?1,?2,?3,?4,?5,?6)

-- name: EVENT_LAST
SELECT key FROM event WHERE key BETWEEN ?1 AND ?2 ORDER BY key DESC LIMIT 1

-- name: EVENT_NEWEST
SELECT ifnull((SELECT key&68719476735 FROM event WHERE key BETWEEN
 t.tid<<36 AND (t.tid<<36)+68719476735 ORDER BY key DESC LIMIT 1),0)
 FROM thread t WHERE t.name=?1

-- name: EVENT_LIST
SELECT e.key&68719476735, n.name, e.ts_ms, w.text, e.payload FROM thread t
 CROSS JOIN event e ON e.key > (t.tid<<36)+?2 AND e.key <= (t.tid<<36)+68719476735
 CROSS JOIN ns n ON n.nid=e.nid CROSS JOIN word w ON w.wid=e.type
 WHERE t.name=?1 ORDER BY e.key LIMIT ?3

-- name: EFFECT_FIND
SELECT key FROM effect WHERE id=?1 AND key BETWEEN ?2 AND ?3

-- name: EFFECT_LAST
SELECT key FROM effect WHERE key BETWEEN ?1 AND ?2 ORDER BY key DESC LIMIT 1

-- name: EFFECT_ADD
INSERT INTO effect(key,id,nid,state,created_ms,updated_ms,data,sum)
 VALUES(?1,?2,?3,?4,?5,?6,?7,?8)

-- name: EFFECT_SET
UPDATE effect SET nid=?3, state=?4, created_ms=?5, updated_ms=?6, data=?7,
 sum=?8
 WHERE key=?1 AND id=?2

-- name: EFFECT_GET
SELECT e.id, n.name, e.state, e.created_ms, e.updated_ms, e.data
 FROM thread t CROSS JOIN effect e ON e.id=?2
 AND e.key BETWEEN t.tid<<36 AND (t.tid<<36)+68719476735 CROSS JOIN ns n ON n.nid=e.nid WHERE t.name=?1

-- name: EFFECT_LIST
SELECT e.id, n.name, e.state, e.created_ms, e.updated_ms, e.data
 FROM thread t CROSS JOIN effect e
 ON e.key BETWEEN t.tid<<36 AND (t.tid<<36)+68719476735 CROSS JOIN ns n ON n.nid=e.nid
 WHERE t.name=?1 AND (?2>>e.state)&1 ORDER BY e.key

-- name: THREAD_LIST
SELECT tid, name, created_ms, touched_ms FROM thread ORDER BY tid

-- name: SIZE_CP
SELECT count(*), ifnull(sum(length(c.data)),0) FROM ns n
 CROSS JOIN checkpoint c ON c.key BETWEEN n.nid<<36 AND (n.nid<<36)+68719476735 WHERE n.tid=?1

-- name: SIZE_RECORD
SELECT count(*), ifnull(sum(length(r.data)),0) FROM ns n
 CROSS JOIN record r ON r.nid=n.nid WHERE n.tid=?1

-- name: SIZE_EVENT
SELECT count(*), ifnull(sum(length(payload)),0), max(ts_ms) FROM event
 WHERE key BETWEEN ?1<<36 AND (?1<<36)+68719476735

-- name: SIZE_EFFECT
SELECT count(*), ifnull(sum(length(data)),0), max(updated_ms) FROM effect
 WHERE key BETWEEN ?1<<36 AND (?1<<36)+68719476735

-- name: SIZE_INBOX
SELECT count(*), ifnull(sum(length(value)),0) FROM inbox
 WHERE key BETWEEN ?1<<36 AND (?1<<36)+68719476735

-- name: DEL_CP
DELETE FROM checkpoint WHERE key BETWEEN ?1 AND ?2

-- name: DEL_RECORD
DELETE FROM record WHERE nid=?1

-- name: DEL_INBOX
DELETE FROM inbox WHERE key BETWEEN ?1 AND ?2

-- name: DEL_EVENT
DELETE FROM event WHERE key BETWEEN ?1 AND ?2

-- name: DEL_EFFECT
DELETE FROM effect WHERE key BETWEEN ?1 AND ?2

-- name: DEL_NS
DELETE FROM ns WHERE tid=?1

-- name: DEL_THREAD
DELETE FROM thread WHERE tid=?1

-- name: COPY_NOTE
INSERT INTO note(key,data,sum)
 SELECT ?2, data, pons_sum('note',?2,data) FROM note WHERE key=?1

-- name: NOTE_GET
SELECT data FROM note WHERE key=?1

-- name: NOTE_SET
INSERT OR REPLACE INTO note(key,data,sum) VALUES(?1,?2,?3)

-- name: NOTE_DEL
DELETE FROM note WHERE key=?1

-- name: ITEM_OLD
SELECT iid, words, created_ms, expires_ms FROM item WHERE ns=?1 AND key=?2

-- name: ITEM_ADD
INSERT INTO item(@SQL_ITEM@,sum) VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10)

-- name: ITEM_SET
UPDATE item SET value=?3, words=?4, vectors=?5, created_ms=?6, updated_ms=?7,
 ttl_ms=?8, expires_ms=?9, sum=?10 WHERE ns=?1 AND key=?2

-- name: ITEM_TOUCH
UPDATE item SET expires_ms=?3, sum=pons_sum('item',ns,key,value,words,vectors,
 created_ms,updated_ms,ttl_ms,?3)
 WHERE ns=?1 AND key=?2 AND (expires_ms=0 OR expires_ms>?4)

-- name: ITEM_DEL
DELETE FROM item WHERE iid=?1

-- name: ITEM_OVER
SELECT iid, words FROM item WHERE expires_ms<>0 AND expires_ms<=?1 LIMIT 1

-- name: ITEM_GET
SELECT @SQL_ITEM@ FROM item
 WHERE ns=?1 AND key=?2 AND (expires_ms=0 OR expires_ms>?3)

-- name: ITEM_ALL
SELECT @SQL_ITEM@ FROM item WHERE @SQL_ITEM_WANTED@ ORDER BY updated_ms DESC, ns, key

-- name: ITEM_UNDER
SELECT @SQL_ITEM@ FROM item WHERE (ns=?1 OR (ns>=?1||'.' AND ns<?1||'/'))
 AND @SQL_ITEM_WANTED@ ORDER BY updated_ms DESC, ns, key

-- name: ITEM_SPACES
SELECT DISTINCT ns FROM item WHERE expires_ms=0 OR expires_ms>?1 ORDER BY ns

-- name: WORDS_ADD
INSERT INTO item_words(rowid,words) VALUES(?1,?2)

-- name: WORDS_DEL
INSERT INTO item_words(item_words,rowid,words) VALUES('delete',?1,?2)

-- name: WORDS_ANEW
INSERT INTO item_words(item_words) VALUES('rebuild')

-- name: SESSION_ADD
INSERT INTO session(id,lane,priority,order_ms,state,attempt,epoch,owner,
 due_ms,data,note,sum) VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12)

-- name: SESSION_PLACE
SELECT sid, state, epoch, lane FROM session WHERE id=?1

-- name: SESSION_GET
SELECT @SQL_SESSION@ FROM session WHERE id=?1

-- name: SESSION_LIST
SELECT @SQL_SESSION@ FROM session WHERE sid>?1 AND (?2>>state)&1
 AND (?3 IS NULL OR lane=?3) ORDER BY sid LIMIT ?4

-- name: SESSION_LIVE
SELECT @SQL_SESSION@ FROM session WHERE sid IN
 (SELECT sid FROM session INDEXED BY session_next WHERE state=0 UNION ALL
 SELECT sid FROM session INDEXED BY session_due WHERE state=1 UNION ALL
 SELECT running FROM lane WHERE running<>0)
 AND sid>?1 AND (?2>>state)&1 AND (?3 IS NULL OR lane=?3)
 ORDER BY sid LIMIT ?4

-- name: SESSION_NEXT
SELECT sid, priority, order_ms FROM session WHERE lane=?1 AND state=0
 ORDER BY priority, order_ms, sid LIMIT 1

-- name: SESSION_OF
SELECT @SQL_SESSION@ FROM session WHERE sid=?1

-- name: SESSION_CLAIM
UPDATE session SET state=2, attempt=attempt+1, epoch=?2, owner=?3,
 due_ms=0,sum=pons_sum('session',id,lane,priority,order_ms,2,attempt+1,?2,?3,0,data,note) WHERE sid=?1

-- name: SESSION_OWN
UPDATE session SET epoch=?2, owner=?3,
 sum=pons_sum('session',id,lane,priority,order_ms,state,attempt,?2,?3,due_ms,data,note) WHERE sid=?1

-- name: SESSION_END
UPDATE session SET state=?2, owner='', due_ms=?3, note=?4,
 sum=pons_sum('session',id,lane,priority,order_ms,?2,attempt,epoch,'',?3,data,?4) WHERE sid=?1

-- name: SESSION_NOTE
UPDATE session SET note=?2,
 sum=pons_sum('session',id,lane,priority,order_ms,state,attempt,epoch,owner,due_ms,data,?2) WHERE sid=?1

-- name: SESSION_MOVE
UPDATE session SET lane=?2, priority=?3, order_ms=?4, data=?5,
 sum=pons_sum('session',id,?2,?3,?4,state,attempt,epoch,owner,due_ms,?5,note) WHERE sid=?1

-- name: SESSION_WAKE
UPDATE session SET state=0, due_ms=0,
 sum=pons_sum('session',id,lane,priority,order_ms,0,attempt,epoch,owner,0,data,note) WHERE sid=?1

-- name: SESSION_LAST
SELECT ifnull(max(sid),0) FROM session

-- name: SESSION_OLD
SELECT sid, state FROM session WHERE sid>?1 AND sid<=?2 ORDER BY sid LIMIT ?3

-- name: SESSION_DEL
DELETE FROM session WHERE sid=?1 AND state>2

-- name: SESSION_DUE
SELECT sid, lane, due_ms FROM session WHERE state=1 ORDER BY due_ms LIMIT 1

-- name: LANE_ADD
INSERT OR IGNORE INTO lane(name,head,head_priority,head_order,running,owner,
 epoch,sum) VALUES(?1,0,0,0,0,'',0,pons_sum('lane',?1,0,0,0,0,'',0))

-- name: LANE_GET
SELECT head, head_priority, head_order, running, owner, epoch FROM lane
 WHERE name=?1

-- name: LANE_SET
UPDATE lane SET head=?2, head_priority=?3, head_order=?4, running=?5, owner=?6,
 epoch=?7, sum=pons_sum('lane',?1,?2,?3,?4,?5,?6,?7) WHERE name=?1

-- name: LANE_READY
SELECT name FROM lane WHERE head<>0 AND running=0
 ORDER BY head_priority, head_order, head

-- name: LANE_OF
SELECT name FROM lane WHERE owner=?1 AND running<>0 LIMIT 1

-- name: RUNNER_BEAT
INSERT INTO runner(name,beats) VALUES(?1,1)
 ON CONFLICT(name) DO UPDATE SET beats=beats+1

-- name: RUNNER_GET
SELECT beats FROM runner WHERE name=?1

-- name: RUNNER_DEL
DELETE FROM runner WHERE name=?1

-- name: RUNNERS
SELECT name, beats FROM runner UNION ALL SELECT DISTINCT owner, 0 FROM lane
 WHERE running<>0 AND owner NOT IN (SELECT name FROM runner) ORDER BY 1

-- name: THREAD_ONE
SELECT tid, name, created_ms, touched_ms FROM thread WHERE name=?1

-- name: NS_OF
SELECT nid FROM ns WHERE tid=?1

-- name: NS_NAMED
SELECT nid FROM ns WHERE tid=?1 AND (?2 IS NULL OR name=?2) ORDER BY nid

-- name: COPY_NS
INSERT INTO ns(tid,name,top,sum)
 SELECT ?2, name, top, pons_sum('ns',?2,name,top) FROM ns WHERE tid=?1

-- name: COPY_CP
INSERT INTO checkpoint(key,id,parent,meta,data,sum)
 SELECT c.key-(a.nid<<36)+(b.nid<<36), c.id, c.parent, c.meta, c.data,
 pons_sum('checkpoint',c.key-(a.nid<<36)+(b.nid<<36), c.id, c.parent, c.meta, c.data)
 FROM ns a CROSS JOIN ns b ON b.tid=?2 AND b.name=a.name
 CROSS JOIN checkpoint c ON c.key BETWEEN a.nid<<36 AND (a.nid<<36)+68719476735 WHERE a.tid=?1

-- name: COPY_RECORD
INSERT INTO record(nid,checkpoint,task,idx,data,sum)
 SELECT b.nid, r.checkpoint, r.task, r.idx, r.data,
 pons_sum('record',b.nid, r.checkpoint, r.task, r.idx, r.data)
 FROM ns a CROSS JOIN ns b ON b.tid=?2 AND b.name=a.name
 CROSS JOIN record r ON r.nid=a.nid WHERE a.tid=?1

-- name: COPY_EVENT
INSERT INTO event(key,nid,ts_ms,type,payload,sum)
 SELECT e.key-(?1<<36)+(?2<<36), b.nid, e.ts_ms, e.type, e.payload,
 pons_sum('event',e.key-(?1<<36)+(?2<<36), b.nid, e.ts_ms, e.type, e.payload)
 FROM event e CROSS JOIN ns a ON a.nid=e.nid
 CROSS JOIN ns b ON b.tid=?2 AND b.name=a.name
 WHERE e.key BETWEEN ?1<<36 AND (?1<<36)+68719476735

-- name: COPY_EFFECT
INSERT INTO effect(key,id,nid,state,created_ms,updated_ms,data,sum)
 SELECT e.key-(?1<<36)+(?2<<36), e.id, b.nid, e.state,
 e.created_ms, e.updated_ms, e.data,
 pons_sum('effect',e.key-(?1<<36)+(?2<<36), e.id, b.nid, e.state,
 e.created_ms, e.updated_ms, e.data)
 FROM effect e CROSS JOIN ns a ON a.nid=e.nid
 CROSS JOIN ns b ON b.tid=?2 AND b.name=a.name
 WHERE e.key BETWEEN ?1<<36 AND (?1<<36)+68719476735

-- name: PRUNE_LIST
SELECT key, id, parent, meta FROM checkpoint WHERE key BETWEEN ?1 AND ?2
 ORDER BY key

-- name: PRUNE_PARENT
UPDATE checkpoint AS c SET parent=p.id,
 sum=pons_sum('checkpoint',c.key,c.id,p.id,c.meta,c.data)
 FROM checkpoint p WHERE c.key=?1 AND p.key=?2

-- name: PRUNE_RECORDS
DELETE FROM record WHERE nid=?1
 AND checkpoint=(SELECT id FROM checkpoint WHERE key=?2)

-- name: PRUNE_CP
DELETE FROM checkpoint WHERE key=?1

-- name: EVENT_SINCE
SELECT min(key) FROM event WHERE key BETWEEN ?1 AND ?2 AND ts_ms>=?3

-- name: PAGES_FREE
SELECT freelist_count, page_count, page_size FROM pragma_freelist_count,
 pragma_page_count, pragma_page_size

-- name: PAGES_GIVE
PRAGMA incremental_vacuum(256)

-- name: PAGES_GIVE_FEW
PRAGMA incremental_vacuum(32)

-- name: TRIM_FLOOR
SELECT key FROM checkpoint WHERE key BETWEEN ?1 AND ?2 AND meta&1
 ORDER BY key DESC LIMIT 1

-- name: TRIM_FIRST
SELECT min(key) FROM checkpoint WHERE key BETWEEN ?1 AND ?2

-- name: TRIM_LAST
SELECT max(key) FROM checkpoint WHERE key BETWEEN ?1 AND ?2

-- name: TRIM_END
SELECT key FROM checkpoint WHERE key>?1 AND key<=?2 AND meta&1
 ORDER BY key LIMIT 1

-- name: TRIM_PARENT
UPDATE checkpoint AS c SET parent=p.id,
 sum=pons_sum('checkpoint',c.key,c.id,p.id,c.meta,c.data)
 FROM checkpoint p WHERE p.key=?1 AND c.key BETWEEN ?1+1 AND ?1+2
 AND typeof(c.parent)='integer' AND c.key-c.parent=?1

-- name: THIN_NEXT
SELECT e.key, w.text, length(e.payload), e.nid, e.ts_ms, e.type FROM event e
 JOIN word w ON w.wid=e.type WHERE e.key BETWEEN ?1 AND ?2
 ORDER BY e.key LIMIT 1

-- name: THIN_PUT
INSERT INTO event(key,nid,ts_ms,type,payload,sum)
 VALUES(?1,?2,?3,?4,?5,pons_sum('event',?1,?2,?3,?4,?5))

-- name: EVENT_FIRST
SELECT min(key) FROM event WHERE key BETWEEN ?1 AND ?2

-- name: TRIM_EVENT
DELETE FROM event WHERE key=?1

-- name: TRIM_EFFECT_NEXT
SELECT key, created_ms, updated_ms FROM effect
 WHERE key BETWEEN ?1 AND ?2 AND (?3>>state)&1 ORDER BY key LIMIT 1

-- name: EFFECTS_GONE
INSERT INTO meta(key,value,sum) VALUES('effects.'||?1,?2,
 pons_sum('meta','effects.'||?1,?2)) ON CONFLICT(key) DO UPDATE SET
 value=value+?2, sum=pons_sum('meta',key,value+?2)

-- name: EFFECTS_FORGET
DELETE FROM meta WHERE key='effects.'||?1

-- name: EFFECTS_COPY
INSERT INTO meta(key,value,sum) SELECT 'effects.'||?2, value,
 pons_sum('meta','effects.'||?2,value) FROM meta WHERE key='effects.'||?1

-- name: TRIM_EFFECT
DELETE FROM effect WHERE key=?1
