-- repair.sql - deletes rows of a repaired store that no longer fit together, in the order in which repair.c does it.

-- Values of a wrong type, from a page that belonged to another table. Only rows without a checksum can have them.
-- name: MEND_KINDS
DELETE FROM meta WHERE typeof(value)<>'integer';
DELETE FROM thread WHERE typeof(name)||typeof(created_ms)||typeof(touched_ms)||typeof(epoch)
 ||typeof(inbox_seq)<>'textintegerintegerintegerinteger';
DELETE FROM ns WHERE typeof(tid)||typeof(name)<>'integertext';
DELETE FROM word WHERE typeof(text)<>'text';
DELETE FROM checkpoint WHERE typeof(meta)||typeof(data)<>'integerblob';
DELETE FROM record WHERE typeof(nid)||typeof(idx)||typeof(data)<>'integerintegerblob';
DELETE FROM inbox WHERE typeof(nid)||typeof(kind)||typeof(value)<>'integerintegerblob';
DELETE FROM event WHERE typeof(nid)||typeof(ts_ms)||typeof(type)||typeof(payload)<>'integerintegerintegerblob';
DELETE FROM effect WHERE typeof(nid)||typeof(state)||typeof(created_ms)||typeof(updated_ms)
 ||typeof(data)<>'integerintegerintegerintegerblob';
DELETE FROM item WHERE typeof(ns)||typeof(key)||typeof(value)||typeof(words)||typeof(vectors)
 ||typeof(created_ms)||typeof(updated_ms)||typeof(ttl_ms)
 ||typeof(expires_ms)<>'texttextblobtextblobintegerintegerintegerinteger';
DELETE FROM note WHERE typeof(data)<>'blob';
DELETE FROM session WHERE typeof(id)||typeof(lane)||typeof(priority)||typeof(order_ms)||typeof(state)
 ||typeof(attempt)||typeof(epoch)||typeof(owner)||typeof(due_ms)||typeof(data)
 ||typeof(note)<>'texttextintegerintegerintegerintegerintegertextintegerblobblob';
DELETE FROM lane WHERE typeof(head)||typeof(head_priority)||typeof(head_order)||typeof(running)||typeof(owner)
 ||typeof(epoch)<>'integerintegerintegerintegertextinteger'

-- name: MEND_EPOCH
INSERT INTO meta(key,value) SELECT 'epoch',0 WHERE NOT EXISTS(SELECT 1 FROM meta WHERE
 key='epoch' AND typeof(value)='integer')

-- name: MEND_THREADS
INSERT INTO thread(tid,name,created_ms,touched_ms,epoch,inbox_seq) SELECT DISTINCT
 tid,'lost-thread-'||tid,0,0,0,0 FROM (SELECT tid FROM ns UNION SELECT key>>36 FROM event UNION
 SELECT key>>36 FROM inbox UNION SELECT key>>36 FROM effect)
 WHERE tid NOT IN (SELECT tid FROM thread)

-- name: MEND_NAMESPACES
INSERT INTO ns(nid,tid,name) SELECT nid,min(tid),'lost-'||nid FROM
 (SELECT nid,key>>36 AS tid FROM event UNION SELECT nid,key>>36 FROM inbox
 UNION SELECT nid,key>>36 FROM effect) WHERE nid NOT IN (SELECT nid FROM ns) GROUP BY nid

-- name: MEND_WORDS
INSERT INTO word(wid,text) SELECT DISTINCT wid,'lost-'||wid FROM (SELECT type AS wid FROM
 event UNION SELECT kind FROM inbox) WHERE wid NOT IN (SELECT wid FROM word)

-- name: MEND_CHECKPOINTS
DELETE FROM checkpoint WHERE key>>36 NOT IN (SELECT nid FROM ns)

-- name: MEND_RECORDS
DELETE FROM record WHERE nid NOT IN (SELECT nid FROM ns)

-- name: MEND_PARENTS
DELETE FROM checkpoint WHERE NOT meta&1 AND parent IS NOT NULL AND NOT CASE typeof(parent)
 WHEN 'integer' THEN EXISTS(SELECT 1 FROM checkpoint p WHERE p.key=checkpoint.key-checkpoint.parent AND
 p.key<checkpoint.key AND p.key>>36=checkpoint.key>>36)
 ELSE EXISTS(SELECT 1 FROM checkpoint p WHERE p.key BETWEEN (checkpoint.key>>36)<<36 AND
 checkpoint.key-1 AND p.id=checkpoint.parent) END

-- name: MEND_INBOX_SEQ
UPDATE thread SET inbox_seq=max(inbox_seq,ifnull((SELECT max(key)&68719476735 FROM inbox
 WHERE key>>36=tid),0))

-- name: MEND_EPOCH_MOST
UPDATE meta SET value=max(value,ifnull((SELECT max(epoch) FROM thread),0)) WHERE key='epoch'

-- name: MEND_WORD_LOST
INSERT INTO word(text) SELECT 'store.lost' WHERE NOT EXISTS(SELECT 1 FROM word WHERE
 text='store.lost')

-- One event in the place of each that is lost: numbers that were given stay what they are.
-- name: MEND_EVENTS
WITH RECURSIVE gap(key,until,nid,ts) AS (SELECT e.key+1,(SELECT min(n.key) FROM event n WHERE
 n.key BETWEEN e.key+1 AND e.key|68719476735),e.nid,e.ts_ms FROM event e WHERE NOT EXISTS(SELECT 1 FROM event n
 WHERE n.key=e.key+1) AND EXISTS(SELECT 1 FROM event n WHERE
 n.key BETWEEN e.key+1 AND e.key|68719476735)
 UNION ALL SELECT key+1,until,nid,ts FROM gap WHERE key+1<until LIMIT 100000)
 INSERT INTO event(key,nid,ts_ms,type,payload) SELECT key,nid,ts,(SELECT wid FROM word WHERE
 text='store.lost'),CAST('{}' AS BLOB) FROM gap

-- name: MEND_EFFECTS
CREATE TEMP TABLE place(key INTEGER PRIMARY KEY, at); INSERT INTO place SELECT key,((key>>36)<<36)+row_number()
 OVER (PARTITION BY key>>36 ORDER BY key) FROM effect;
UPDATE effect SET key=(SELECT at FROM place p WHERE p.key=effect.key) WHERE key IN
 (SELECT key FROM place WHERE at<>key); DROP TABLE place

-- name: MEND_NOTES
DELETE FROM note WHERE key NOT IN (SELECT tid FROM thread)

-- name: MEND_LANES
INSERT INTO lane(name,head,head_priority,head_order,running,owner,epoch) SELECT lane,0,0,0,0,'',0 FROM session
 WHERE lane NOT IN (SELECT name FROM lane) GROUP BY lane

-- Of two that run in a lane, which cannot be, nobody knows which one did.
-- name: MEND_RUNNING
UPDATE session SET state=5, owner='' WHERE state=2 AND sid<>(SELECT min(sid) FROM session o
 WHERE o.lane=session.lane AND o.state=2 AND o.state<3)

-- name: MEND_LANE_HEADS
UPDATE lane SET running=ifnull((SELECT sid FROM session WHERE lane=name AND state=2 AND state<3),0),
 owner=ifnull((SELECT owner FROM session WHERE lane=name AND state=2 AND state<3),''),
 epoch=max(epoch,ifnull((SELECT max(epoch) FROM session WHERE lane=name),0)),
 (head,head_priority,head_order)=(SELECT ifnull(max(sid),0), ifnull(max(priority),0),
 ifnull(max(order_ms),0) FROM (SELECT sid, priority, order_ms FROM session WHERE lane=name
 AND state=0 ORDER BY priority, order_ms, sid LIMIT 1))

-- name: MEND_ITEM_WORDS
INSERT INTO item_words(item_words) VALUES('rebuild')

-- name: MEND_EFFECTS_GONE
DELETE FROM meta WHERE key LIKE 'effects.%'
