-- damage_check.sql - what is wrong with a store: one column each, a row a line.
--
-- A line "-- name:" begins a question, a line "-- part:" begins what stands as @PART@ in those behind it.

-- part: THREAD
ifnull((SELECT name FROM thread WHERE tid=key>>36),'?')

-- part: UNFIT
', whose checksum does not fit'

-- Checksums.

-- name: SETTING_SUMS
SELECT 'setting '||key||@UNFIT@ FROM meta WHERE sum IS NOT pons_sum('meta',key,value)

-- name: THREAD_SUMS
SELECT 'thread '||name||@UNFIT@ FROM thread WHERE sum IS NOT
 pons_sum('thread',name,created_ms,touched_ms,epoch,inbox_seq)

-- name: NAMESPACE_SUMS
SELECT 'namespace '||nid||@UNFIT@ FROM ns WHERE sum IS NOT pons_sum('ns',tid,name,top)

-- name: NAME_SUMS
SELECT 'name '||wid||@UNFIT@ FROM word WHERE sum IS NOT pons_sum('word',text)

-- name: CHECKPOINT_SUMS
SELECT 'checkpoint '||(key&68719476735)||' of namespace '||(key>>36)||@UNFIT@ FROM checkpoint WHERE sum IS NOT
 pons_sum('checkpoint',key,id,parent,meta,data)

-- name: RECORD_SUMS
SELECT 'record '||task||' '||idx||' of namespace '||nid||@UNFIT@ FROM record WHERE sum IS NOT
 pons_sum('record',nid,checkpoint,task,idx,data)

-- name: MESSAGE_SUMS
SELECT 'message '||(key&68719476735)||' of thread '||@THREAD@||@UNFIT@ FROM inbox WHERE sum IS NOT
 pons_sum('inbox',key,nid,kind,value)

-- name: EVENT_SUMS
SELECT 'event '||(key&68719476735)||' of thread '||@THREAD@||@UNFIT@ FROM event WHERE sum IS NOT
 pons_sum('event',key,nid,ts_ms,type,payload)

-- name: EFFECT_SUMS
SELECT 'effect '||(key&68719476735)||' of thread '||@THREAD@||@UNFIT@ FROM effect WHERE sum IS NOT
 pons_sum('effect',key,id,nid,state,created_ms,updated_ms,data)

-- name: ITEM_SUMS
SELECT 'item '||key||' in '||ns||@UNFIT@ FROM item WHERE sum IS NOT pons_sum('item',
 ns,key,value,words,vectors,created_ms,updated_ms,ttl_ms,expires_ms)

-- name: NOTE_SUMS
SELECT 'what is noted of thread '||ifnull((SELECT name FROM thread WHERE tid=key),'?')||@UNFIT@ FROM note WHERE
 sum IS NOT pons_sum('note',key,data)

-- name: SESSION_SUMS
SELECT 'session '||id||@UNFIT@ FROM session WHERE sum IS NOT pons_sum('session',
 id,lane,priority,order_ms,state,attempt,epoch,owner,due_ms,data,note)

-- name: LANE_SUMS
SELECT 'lane '||name||@UNFIT@ FROM lane WHERE sum IS NOT pons_sum('lane',
 name,head,head_priority,head_order,running,owner,epoch)

-- Tables that are lost cannot be read, which is said.

-- name: EFFECT_INDEX
SELECT 'the index of effects is lost' WHERE NOT EXISTS(SELECT 1 FROM sqlite_master
 WHERE type='index' AND name='effect_id')

-- name: ITEM_INDEX
SELECT 'the index of the items'' ends is lost' WHERE NOT EXISTS(SELECT 1 FROM sqlite_master
 WHERE type='index' AND name='item_expires')

-- name: LANE_INDEXES
WITH w(name) AS (VALUES('session_next'),('session_due'),('lane_ready'))
 SELECT 'the index '||name||' of lanes is lost' FROM w WHERE name NOT IN
 (SELECT name FROM sqlite_master WHERE type='index')

-- name: ITEM_WORDS
SELECT 'the full-text index of items does not fit them' WHERE
 (SELECT sum(pons_words(doc,term)) FROM temp.item_vocab) IS NOT
 (SELECT sum(pons_words(iid,words)) FROM item WHERE words<>'')

-- Owners.

-- name: LEASES
SELECT 'the counter of leases is lost' WHERE NOT EXISTS(SELECT 1 FROM meta WHERE
 key='epoch' AND typeof(value)='integer')

-- name: LEASE_OF_THREAD
SELECT 'thread '||name||' has a lease that was never given' FROM thread WHERE epoch >
 (SELECT value FROM meta WHERE key='epoch')

-- name: NAMESPACES
SELECT 'namespace '||name||' of a thread that is lost' FROM ns
 WHERE tid NOT IN (SELECT tid FROM thread)

-- name: CHECKPOINTS
SELECT count(*)||' checkpoints of a namespace that is lost' FROM checkpoint
 WHERE key>>36 NOT IN (SELECT nid FROM ns) HAVING count(*)

-- name: RECORDS
SELECT count(*)||' records of a namespace that is lost' FROM record
 WHERE nid NOT IN (SELECT nid FROM ns) HAVING count(*)

-- name: MESSAGES
SELECT count(*)||' messages whose thread, namespace or kind is lost' FROM inbox
 WHERE key>>36 NOT IN (SELECT tid FROM thread) OR nid NOT IN (SELECT nid FROM ns)
 OR kind NOT IN (SELECT wid FROM word) HAVING count(*)

-- name: EVENTS
SELECT count(*)||' events whose thread, namespace or type is lost' FROM event
 WHERE key>>36 NOT IN (SELECT tid FROM thread) OR nid NOT IN (SELECT nid FROM ns)
 OR type NOT IN (SELECT wid FROM word) HAVING count(*)

-- name: EFFECTS
SELECT count(*)||' effects whose thread or namespace is lost' FROM effect
 WHERE key>>36 NOT IN (SELECT tid FROM thread) OR nid NOT IN (SELECT nid FROM ns)
 HAVING count(*)

-- name: MESSAGE_NUMBERS
SELECT 'message '||(i.key&68719476735)||' of thread '||t.name||' was never numbered'
 FROM inbox i JOIN thread t ON t.tid=i.key>>36 WHERE i.key&68719476735>t.inbox_seq

-- name: NOTES
SELECT count(*)||' notes of a thread that is lost' FROM note
 WHERE key NOT IN (SELECT tid FROM thread) HAVING count(*)

-- name: SESSIONS
SELECT count(*)||' sessions of a lane that is lost' FROM session
 WHERE lane NOT IN (SELECT name FROM lane) HAVING count(*)

-- name: LANE_HEADS
SELECT 'lane '||name||' does not have its first session in front' FROM lane WHERE head IS NOT
 ifnull((SELECT sid FROM session WHERE lane=name AND state=0
 ORDER BY priority, order_ms, sid LIMIT 1),0)

-- name: LANE_RUNS
SELECT 'lane '||name||' does not have what runs' FROM lane WHERE running IS NOT
 ifnull((SELECT min(sid) FROM session WHERE lane=name AND state=2 AND state<3),0) OR
 (SELECT count(*) FROM session WHERE lane=name AND state=2 AND state<3)>1

-- Numbers without gaps.

-- name: EVENT_GAPS
SELECT (max(key)-min(key)+1-count(*))||' events of thread '||@THREAD@||' are lost' FROM event
 GROUP BY key>>36 HAVING max(key)-min(key)+1<>count(*)

-- name: EFFECT_GAPS
SELECT ((max(key)&68719476735)-count(*)-ifnull((SELECT value FROM meta
 WHERE meta.key='effects.'||(effect.key>>36)),0))||' effects of thread '||@THREAD@||' are lost' FROM effect
 GROUP BY key>>36 HAVING (max(key)&68719476735)-count(*)>ifnull((SELECT value FROM meta
 WHERE meta.key='effects.'||(effect.key>>36)),0)

-- What is read as text or by its parents.

-- name: PARENTS
SELECT 'checkpoint '||(key&68719476735)||' of namespace '||(key>>36)||' has lost its parent'
 FROM checkpoint c WHERE NOT meta&1 AND parent IS NOT NULL AND NOT CASE typeof(parent)
 WHEN 'integer' THEN EXISTS(SELECT 1 FROM checkpoint p WHERE p.key=c.key-c.parent
 AND p.key<c.key AND p.key>>36=c.key>>36)
 ELSE EXISTS(SELECT 1 FROM checkpoint p WHERE p.key BETWEEN (c.key>>36)<<36 AND c.key-1
 AND p.id=c.parent) END

-- name: EVENT_JSON
SELECT 'event '||(key&68719476735)||' of thread '||@THREAD@||' is no JSON'
 FROM event WHERE NOT json_valid(CAST(payload AS TEXT))

-- name: EFFECT_JSON
SELECT 'effect '||(key&68719476735)||' of thread '||@THREAD@||' is no JSON'
 FROM effect WHERE NOT json_valid(CAST(data AS TEXT))
