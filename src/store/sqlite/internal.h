// internal.h - what the files of the SQLite store share.
//
//   sqlite.c        essay; opening, closing, the table of ops
//   schema.c        connections, statements, the schema and its versions, SQLite's errors
//   bind_columns.c          what is bound to and read from statements; checksums of rows
//   apply.c         one commit inside a transaction
//   commit.c        commits as transactions, alone and in groups; the log; posts, items, notes
//   commit_queue.c  who writes when (shared with postgres)
//   read.c          connections that read; cursors for sql_read.c (shared with postgres); chains, threads
//   lease.c         leases in the database; the end of a thread
//   items.c         items; notes of threads
//   prune.c         copies of threads; pruning and trimming, and space given back
//   lanes.c         sessions in the lanes of their targets
//   damage_check.c         looking for damage
//   wal_check.c           whether the log beside the file is whole
//   repair.c        a sound file from a damaged one
//   backup.c        copies while others write
//   read_only.c     opening what may not be written
//   lock_file.c          lock files
//
// Inside, err is never NULL: each op brings one of its own when the caller gave none.
#pragma once

#include "store/commit_queue.h"
#include "store/sql_read.h"

#include <sqlite3.h>

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>

#define PONS__APPLICATION_ID 0x706f6e73 // "pons", in the file's header

// ---- keys ---------------------------------------------------------------------------------------

// Rows of a namespace (checkpoints) or of a thread (events, messages, effects) have one integer
// key: the owner's number above, the place in the owner's order below. They lie together, in order,
// and the newest is found from the end.
#define KEY_SEQ_BITS 36
#define KEY_SEQ_MAX  (((int64_t)1 << KEY_SEQ_BITS) - 1)
#define SQL_SEQ_MAX  "68719476735" // the same

static inline int64_t key_of(int64_t owner, int64_t seq)
{
    return owner << KEY_SEQ_BITS | seq;
}
static inline int64_t key_seq(int64_t key)
{
    return key & KEY_SEQ_MAX;
}

// ---- statements ---------------------------------------------------------------------------------

#define SQL_ITEM "ns,key,value,words,vectors,created_ms,updated_ms,ttl_ms,expires_ms"
#define SQL_ITEM_WANTED                                                                            \
    "(expires_ms=0 OR expires_ms>?2) AND (?3 IS NULL OR iid IN"                                    \
    " (SELECT rowid FROM item_words WHERE item_words MATCH ?3))"

#define SQL_SESSION "sid,id,lane,priority,order_ms,state,attempt,epoch,owner,due_ms,data,note"
// The checksum of a session of which these columns change.
#define SQL_SESSION_SUM(lane, priority, order_ms, state, attempt, epoch, owner, due, data, note)   \
    "sum=pons_sum('session',id," lane "," priority "," order_ms "," state "," attempt "," epoch    \
    "," owner "," due "," data "," note ")"

// X(name, text): every statement, prepared once a connection, on first use.
#define SQL_TABLE(X)                                                                               \
    X(BEGIN_READ, "BEGIN")                                                                         \
    X(BEGIN_WRITE, "BEGIN IMMEDIATE")                                                              \
    X(COMMIT, "COMMIT")                                                                            \
    X(ROLLBACK, "ROLLBACK")                                                                        \
    X(SAVEPOINT, "SAVEPOINT member")                                                               \
    X(RELEASE, "RELEASE member")                                                                   \
    X(ROLLBACK_TO, "ROLLBACK TO member")                                                           \
    X(THREAD_GET, "SELECT tid, epoch FROM thread WHERE name=?1")                                   \
    X(THREAD_EPOCH, "SELECT epoch FROM thread WHERE tid=?1")                                       \
    X(THREAD_ADD, "INSERT INTO thread(name,created_ms,touched_ms,epoch,inbox_seq,sum)"             \
                  " VALUES(?1,?2,?2,0,0,pons_sum('thread',?1,?2,?2,0,0))")                         \
    X(THREAD_HOLD, "UPDATE thread SET epoch=?2, touched_ms=?3,"                                    \
                   " sum=pons_sum('thread',name,created_ms,?3,?2,inbox_seq) WHERE tid=?1")         \
    X(THREAD_SEQ, "UPDATE thread SET inbox_seq=inbox_seq+?2, touched_ms=?3,"                       \
                  " sum=pons_sum('thread',name,created_ms,?3,epoch,inbox_seq+?2) WHERE tid=?1"     \
                  " RETURNING inbox_seq")                                                          \
    X(EPOCH_NEXT, "UPDATE meta SET value=value+1, sum=pons_sum('meta',key,value+1)"                \
                  " WHERE key='epoch' RETURNING value")                                            \
    X(NS_GET, "SELECT nid FROM ns WHERE tid=?1 AND name=?2")                                       \
    X(NS_FIND, "SELECT n.nid FROM thread t JOIN ns n ON n.tid=t.tid"                               \
               " WHERE t.name=?1 AND n.name=?2")                                                   \
    X(NS_ADD, "INSERT INTO ns(tid,name,sum) VALUES(?1,?2,pons_sum('ns',?1,?2,NULL))")              \
    X(NS_LIST,                                                                                     \
      "SELECT n.name FROM thread t JOIN ns n ON n.tid=t.tid WHERE t.name=?1 AND EXISTS("           \
      "SELECT 1 FROM checkpoint c WHERE c.key BETWEEN n.nid<<36 AND (n.nid<<36)+" SQL_SEQ_MAX ")"  \
      " ORDER BY n.name")                                                                          \
    X(NS_TOP, "SELECT top FROM ns WHERE nid=?1")                                                   \
    X(NS_TOP_SET, "UPDATE ns SET top=?2, sum=pons_sum('ns',tid,name,?2) WHERE nid=?1")             \
    X(WORD_GET, "SELECT wid FROM word WHERE text=?1")                                              \
    X(WORD_ADD, "INSERT INTO word(text,sum) VALUES(?1,pons_sum('word',?1))")                       \
    X(CP_ADD, "INSERT INTO checkpoint(key,id,parent,meta,data,sum)"                                \
              " VALUES(?1,?2,?3,?4,?5,?6)")                                                        \
    X(CP_LAST, "SELECT key, id FROM checkpoint WHERE key BETWEEN ?1 AND ?2"                        \
               " ORDER BY key DESC LIMIT 1")                                                       \
    X(CP_FROM, "SELECT key, id FROM checkpoint WHERE key BETWEEN ?1 AND ?2 ORDER BY key LIMIT 1")  \
    X(CP_SCAN, "SELECT key FROM checkpoint WHERE key BETWEEN ?1 AND ?2 AND id=?3")                 \
    X(CP_STEP, "SELECT id, parent, meta FROM checkpoint WHERE key=?1")                             \
    X(CP_GET, "SELECT " SQL_CHECKPOINT " FROM checkpoint c"                                        \
              " WHERE c.key=?1")                                                                   \
    X(CP_HISTORY,                                                                                  \
      "SELECT " SQL_CHECKPOINT " FROM thread t"                                                    \
      " CROSS JOIN ns n ON n.tid=t.tid AND n.name=?2 CROSS JOIN checkpoint c ON c.key BETWEEN"     \
      " n.nid<<36 AND min(?3-1,(n.nid<<36)+" SQL_SEQ_MAX ") WHERE t.name=?1"                       \
      " ORDER BY c.key DESC LIMIT ?4")                                                             \
    X(RECORD_PUT, "INSERT OR REPLACE INTO record(nid,checkpoint,task,idx,data,sum)"                \
                  " VALUES(?1,?2,?3,?4,?5,?6)")                                                    \
    X(RECORD_LIST, "SELECT r.task, r.idx, r.data FROM thread t"                                    \
                   " CROSS JOIN ns n ON n.tid=t.tid AND n.name=?2"                                 \
                   " CROSS JOIN record r ON r.nid=n.nid AND r.checkpoint=?3 WHERE t.name=?1"       \
                   " ORDER BY r.task, r.idx")                                                      \
    X(INBOX_ADD, "INSERT INTO inbox(key,nid,kind,value,sum)"                                       \
                 " VALUES(?1,?2,?3,?4,?5)")                                                        \
    X(INBOX_DEL, "DELETE FROM inbox WHERE key=?1")                                                 \
    X(INBOX_LIST,                                                                                  \
      "SELECT i.key&" SQL_SEQ_MAX ", n.name, w.text, i.value FROM thread t"                        \
      " CROSS JOIN inbox i ON i.key > (t.tid<<36)+?2 AND i.key <= (t.tid<<36)+" SQL_SEQ_MAX        \
      " CROSS JOIN ns n ON n.nid=i.nid CROSS JOIN word w ON w.wid=i.kind"                          \
      " WHERE t.name=?1 AND (?3 IS NULL OR n.name=?3) ORDER BY i.key")                             \
    X(EVENT_ADD, "INSERT INTO event(key,nid,ts_ms,type,payload,sum)"                               \
                 " VALUES(?1,?2,?3,?4,?5,?6)")                                                     \
    X(EVENT_LAST, "SELECT key FROM event WHERE key BETWEEN ?1 AND ?2 ORDER BY key DESC LIMIT 1")   \
    X(EVENT_NEWEST, "SELECT ifnull((SELECT key&" SQL_SEQ_MAX " FROM event WHERE key BETWEEN"       \
                    " t.tid<<36 AND (t.tid<<36)+" SQL_SEQ_MAX " ORDER BY key DESC LIMIT 1),0)"     \
                    " FROM thread t WHERE t.name=?1")                                              \
    X(EVENT_LIST,                                                                                  \
      "SELECT e.key&" SQL_SEQ_MAX ", n.name, e.ts_ms, w.text, e.payload FROM thread t"             \
      " CROSS JOIN event e ON e.key > (t.tid<<36)+?2 AND e.key <= (t.tid<<36)+" SQL_SEQ_MAX        \
      " CROSS JOIN ns n ON n.nid=e.nid CROSS JOIN word w ON w.wid=e.type"                          \
      " WHERE t.name=?1 ORDER BY e.key LIMIT ?3")                                                  \
    X(EFFECT_FIND, "SELECT key FROM effect WHERE id=?1 AND key BETWEEN ?2 AND ?3")                 \
    X(EFFECT_LAST, "SELECT key FROM effect WHERE key BETWEEN ?1 AND ?2 ORDER BY key DESC LIMIT 1") \
    X(EFFECT_ADD, "INSERT INTO effect(key,id,nid,state,created_ms,updated_ms,data,sum)"            \
                  " VALUES(?1,?2,?3,?4,?5,?6,?7,?8)")                                              \
    X(EFFECT_SET, "UPDATE effect SET nid=?3, state=?4, created_ms=?5, updated_ms=?6, data=?7,"     \
                  " sum=?8"                                                                        \
                  " WHERE key=?1 AND id=?2")                                                       \
    X(EFFECT_GET, "SELECT e.id, n.name, e.state, e.created_ms, e.updated_ms, e.data"               \
                  " FROM thread t CROSS JOIN effect e ON e.id=?2"                                  \
                  " AND e.key BETWEEN t.tid<<36 AND (t.tid<<36)+" SQL_SEQ_MAX                      \
                  " CROSS JOIN ns n ON n.nid=e.nid WHERE t.name=?1")                               \
    X(EFFECT_LIST,                                                                                 \
      "SELECT e.id, n.name, e.state, e.created_ms, e.updated_ms, e.data"                           \
      " FROM thread t CROSS JOIN effect e"                                                         \
      " ON e.key BETWEEN t.tid<<36 AND (t.tid<<36)+" SQL_SEQ_MAX " CROSS JOIN ns n ON n.nid=e.nid" \
      " WHERE t.name=?1 AND (?2>>e.state)&1 ORDER BY e.key")                                       \
    X(THREAD_LIST, "SELECT tid, name, created_ms, touched_ms FROM thread ORDER BY tid")            \
    X(SIZE_CP, "SELECT count(*), ifnull(sum(length(c.data)),0) FROM ns n"                          \
               " CROSS JOIN checkpoint c ON c.key BETWEEN n.nid<<36 AND (n.nid<<36)+" SQL_SEQ_MAX  \
               " WHERE n.tid=?1")                                                                  \
    X(SIZE_RECORD, "SELECT count(*), ifnull(sum(length(r.data)),0) FROM ns n"                      \
                   " CROSS JOIN record r ON r.nid=n.nid WHERE n.tid=?1")                           \
    X(SIZE_EVENT, "SELECT count(*), ifnull(sum(length(payload)),0), max(ts_ms) FROM event"         \
                  " WHERE key BETWEEN ?1<<36 AND (?1<<36)+" SQL_SEQ_MAX)                           \
    X(SIZE_EFFECT, "SELECT count(*), ifnull(sum(length(data)),0), max(updated_ms) FROM effect"     \
                   " WHERE key BETWEEN ?1<<36 AND (?1<<36)+" SQL_SEQ_MAX)                          \
    X(SIZE_INBOX, "SELECT count(*), ifnull(sum(length(value)),0) FROM inbox"                       \
                  " WHERE key BETWEEN ?1<<36 AND (?1<<36)+" SQL_SEQ_MAX)                           \
    X(DEL_CP, "DELETE FROM checkpoint WHERE key BETWEEN ?1 AND ?2")                                \
    X(DEL_RECORD, "DELETE FROM record WHERE nid=?1")                                               \
    X(DEL_INBOX, "DELETE FROM inbox WHERE key BETWEEN ?1 AND ?2")                                  \
    X(DEL_EVENT, "DELETE FROM event WHERE key BETWEEN ?1 AND ?2")                                  \
    X(DEL_EFFECT, "DELETE FROM effect WHERE key BETWEEN ?1 AND ?2")                                \
    X(DEL_NS, "DELETE FROM ns WHERE tid=?1")                                                       \
    X(DEL_THREAD, "DELETE FROM thread WHERE tid=?1")                                               \
    X(COPY_NOTE, "INSERT INTO note(key,data,sum)"                                                  \
                 " SELECT ?2, data, pons_sum('note',?2,data) FROM note WHERE key=?1")              \
    X(NOTE_GET, "SELECT data FROM note WHERE key=?1")                                              \
    X(NOTE_SET, "INSERT OR REPLACE INTO note(key,data,sum) VALUES(?1,?2,?3)")                      \
    X(NOTE_DEL, "DELETE FROM note WHERE key=?1")                                                   \
    X(ITEM_OLD, "SELECT iid, words, created_ms, expires_ms FROM item WHERE ns=?1 AND key=?2")      \
    X(ITEM_ADD, "INSERT INTO item(" SQL_ITEM ",sum) VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10)")       \
    X(ITEM_SET, "UPDATE item SET value=?3, words=?4, vectors=?5, created_ms=?6, updated_ms=?7,"    \
                " ttl_ms=?8, expires_ms=?9, sum=?10 WHERE ns=?1 AND key=?2")                       \
    X(ITEM_TOUCH, "UPDATE item SET expires_ms=?3, sum=pons_sum('item',ns,key,value,words,vectors," \
                  "created_ms,updated_ms,ttl_ms,?3)"                                               \
                  " WHERE ns=?1 AND key=?2 AND (expires_ms=0 OR expires_ms>?4)")                   \
    X(ITEM_DEL, "DELETE FROM item WHERE iid=?1")                                                   \
    X(ITEM_OVER, "SELECT iid, words FROM item WHERE expires_ms<>0 AND expires_ms<=?1 LIMIT 1")     \
    X(ITEM_GET, "SELECT " SQL_ITEM " FROM item"                                                    \
                " WHERE ns=?1 AND key=?2 AND (expires_ms=0 OR expires_ms>?3)")                     \
    X(ITEM_ALL,                                                                                    \
      "SELECT " SQL_ITEM " FROM item WHERE " SQL_ITEM_WANTED " ORDER BY updated_ms DESC, ns, key") \
    X(ITEM_UNDER, "SELECT " SQL_ITEM " FROM item WHERE (ns=?1 OR (ns>=?1||'.' AND ns<?1||'/'))"    \
                  " AND " SQL_ITEM_WANTED " ORDER BY updated_ms DESC, ns, key")                    \
    X(ITEM_SPACES, "SELECT DISTINCT ns FROM item WHERE expires_ms=0 OR expires_ms>?1 ORDER BY ns") \
    X(WORDS_ADD, "INSERT INTO item_words(rowid,words) VALUES(?1,?2)")                              \
    X(WORDS_DEL, "INSERT INTO item_words(item_words,rowid,words) VALUES('delete',?1,?2)")          \
    X(WORDS_ANEW, "INSERT INTO item_words(item_words) VALUES('rebuild')")                          \
    X(SESSION_ADD, "INSERT INTO session(id,lane,priority,order_ms,state,attempt,epoch,owner,"      \
                   "due_ms,data,note,sum) VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12)")         \
    X(SESSION_PLACE, "SELECT sid, state, epoch, lane FROM session WHERE id=?1")                    \
    X(SESSION_GET, "SELECT " SQL_SESSION " FROM session WHERE id=?1")                              \
    X(SESSION_LIST, "SELECT " SQL_SESSION " FROM session WHERE sid>?1 AND (?2>>state)&1"           \
                    " AND (?3 IS NULL OR lane=?3) ORDER BY sid LIMIT ?4")                          \
    X(SESSION_LIVE, "SELECT " SQL_SESSION " FROM session WHERE sid IN"                             \
                    " (SELECT sid FROM session INDEXED BY session_next WHERE state=0 UNION ALL"    \
                    " SELECT sid FROM session INDEXED BY session_due WHERE state=1 UNION ALL"      \
                    " SELECT running FROM lane WHERE running<>0)"                                  \
                    " AND sid>?1 AND (?2>>state)&1 AND (?3 IS NULL OR lane=?3)"                    \
                    " ORDER BY sid LIMIT ?4")                                                      \
    X(SESSION_NEXT, "SELECT sid, priority, order_ms FROM session WHERE lane=?1 AND state=0"        \
                    " ORDER BY priority, order_ms, sid LIMIT 1")                                   \
    X(SESSION_OF, "SELECT " SQL_SESSION " FROM session WHERE sid=?1")                              \
    X(SESSION_CLAIM, "UPDATE session SET state=2, attempt=attempt+1, epoch=?2, owner=?3, "         \
                     "due_ms=0," SQL_SESSION_SUM("lane", "priority", "order_ms", "2", "attempt+1", \
                                                 "?2", "?3", "0", "data", "note") " WHERE sid=?1") \
    X(SESSION_OWN, "UPDATE session SET epoch=?2, owner=?3," SQL_SESSION_SUM(                       \
                       "lane", "priority", "order_ms", "state", "attempt", "?2", "?3", "due_ms",   \
                       "data", "note") " WHERE sid=?1")                                            \
    X(SESSION_END, "UPDATE session SET state=?2, owner='', due_ms=?3, note=?4," SQL_SESSION_SUM(   \
                       "lane", "priority", "order_ms", "?2", "attempt", "epoch", "''", "?3",       \
                       "data", "?4") " WHERE sid=?1")                                              \
    X(SESSION_NOTE, "UPDATE session SET note=?2," SQL_SESSION_SUM(                                 \
                        "lane", "priority", "order_ms", "state", "attempt", "epoch", "owner",      \
                        "due_ms", "data", "?2") " WHERE sid=?1")                                   \
    X(SESSION_MOVE,                                                                                \
      "UPDATE session SET lane=?2, priority=?3, order_ms=?4, data=?5," SQL_SESSION_SUM(            \
          "?2", "?3", "?4", "state", "attempt", "epoch", "owner", "due_ms", "?5",                  \
          "note") " WHERE sid=?1")                                                                 \
    X(SESSION_WAKE, "UPDATE session SET state=0, due_ms=0," SQL_SESSION_SUM(                       \
                        "lane", "priority", "order_ms", "0", "attempt", "epoch", "owner", "0",     \
                        "data", "note") " WHERE sid=?1")                                           \
    X(SESSION_LAST, "SELECT ifnull(max(sid),0) FROM session")                                      \
    X(SESSION_OLD,                                                                                 \
      "SELECT sid, state FROM session WHERE sid>?1 AND sid<=?2 ORDER BY sid LIMIT ?3")             \
    X(SESSION_DEL, "DELETE FROM session WHERE sid=?1 AND state>2")                                 \
    X(SESSION_DUE, "SELECT sid, lane, due_ms FROM session WHERE state=1 ORDER BY due_ms LIMIT 1")  \
    X(LANE_ADD, "INSERT OR IGNORE INTO lane(name,head,head_priority,head_order,running,owner,"     \
                "epoch,sum) VALUES(?1,0,0,0,0,'',0,pons_sum('lane',?1,0,0,0,0,'',0))")             \
    X(LANE_GET, "SELECT head, head_priority, head_order, running, owner, epoch FROM lane"          \
                " WHERE name=?1")                                                                  \
    X(LANE_SET, "UPDATE lane SET head=?2, head_priority=?3, head_order=?4, running=?5, owner=?6,"  \
                " epoch=?7, sum=pons_sum('lane',?1,?2,?3,?4,?5,?6,?7) WHERE name=?1")              \
    X(LANE_READY, "SELECT name FROM lane WHERE head<>0 AND running=0"                              \
                  " ORDER BY head_priority, head_order, head")                                     \
    X(LANE_OF, "SELECT name FROM lane WHERE owner=?1 AND running<>0 LIMIT 1")                      \
    X(RUNNER_BEAT, "INSERT INTO runner(name,beats) VALUES(?1,1)"                                   \
                   " ON CONFLICT(name) DO UPDATE SET beats=beats+1")                               \
    X(RUNNER_GET, "SELECT beats FROM runner WHERE name=?1")                                        \
    X(RUNNER_DEL, "DELETE FROM runner WHERE name=?1")                                              \
    X(RUNNERS, "SELECT name, beats FROM runner UNION ALL SELECT DISTINCT owner, 0 FROM lane"       \
               " WHERE running<>0 AND owner NOT IN (SELECT name FROM runner) ORDER BY 1")          \
    X(THREAD_ONE, "SELECT tid, name, created_ms, touched_ms FROM thread WHERE name=?1")            \
    X(NS_OF, "SELECT nid FROM ns WHERE tid=?1")                                                    \
    X(NS_NAMED, "SELECT nid FROM ns WHERE tid=?1 AND (?2 IS NULL OR name=?2) ORDER BY nid")        \
    X(COPY_NS, "INSERT INTO ns(tid,name,top,sum)"                                                  \
               " SELECT ?2, name, top, pons_sum('ns',?2,name,top) FROM ns WHERE tid=?1")           \
    X(COPY_CP,                                                                                     \
      "INSERT INTO checkpoint(key,id,parent,meta,data,sum)"                                        \
      " SELECT c.key-(a.nid<<36)+(b.nid<<36), c.id, c.parent, c.meta, c.data,"                     \
      " pons_sum('checkpoint',c.key-(a.nid<<36)+(b.nid<<36), c.id, c.parent, c.meta, c.data)"      \
      " FROM ns a CROSS JOIN ns b ON b.tid=?2 AND b.name=a.name"                                   \
      " CROSS JOIN checkpoint c ON c.key BETWEEN a.nid<<36 AND (a.nid<<36)+" SQL_SEQ_MAX           \
      " WHERE a.tid=?1")                                                                           \
    X(COPY_RECORD, "INSERT INTO record(nid,checkpoint,task,idx,data,sum)"                          \
                   " SELECT b.nid, r.checkpoint, r.task, r.idx, r.data,"                           \
                   " pons_sum('record',b.nid, r.checkpoint, r.task, r.idx, r.data)"                \
                   " FROM ns a CROSS JOIN ns b ON b.tid=?2 AND b.name=a.name"                      \
                   " CROSS JOIN record r ON r.nid=a.nid WHERE a.tid=?1")                           \
    X(COPY_EVENT, "INSERT INTO event(key,nid,ts_ms,type,payload,sum)"                              \
                  " SELECT e.key-(?1<<36)+(?2<<36), b.nid, e.ts_ms, e.type, e.payload,"            \
                  " pons_sum('event',e.key-(?1<<36)+(?2<<36), b.nid, e.ts_ms, e.type, e.payload)"  \
                  " FROM event e CROSS JOIN ns a ON a.nid=e.nid"                                   \
                  " CROSS JOIN ns b ON b.tid=?2 AND b.name=a.name"                                 \
                  " WHERE e.key BETWEEN ?1<<36 AND (?1<<36)+" SQL_SEQ_MAX)                         \
    X(COPY_EFFECT, "INSERT INTO effect(key,id,nid,state,created_ms,updated_ms,data,sum)"           \
                   " SELECT e.key-(?1<<36)+(?2<<36), e.id, b.nid, e.state,"                        \
                   " e.created_ms, e.updated_ms, e.data,"                                          \
                   " pons_sum('effect',e.key-(?1<<36)+(?2<<36), e.id, b.nid, e.state,"             \
                   " e.created_ms, e.updated_ms, e.data)"                                          \
                   " FROM effect e CROSS JOIN ns a ON a.nid=e.nid"                                 \
                   " CROSS JOIN ns b ON b.tid=?2 AND b.name=a.name"                                \
                   " WHERE e.key BETWEEN ?1<<36 AND (?1<<36)+" SQL_SEQ_MAX)                        \
    X(PRUNE_LIST, "SELECT key, id, parent, meta FROM checkpoint WHERE key BETWEEN ?1 AND ?2"       \
                  " ORDER BY key")                                                                 \
    X(PRUNE_PARENT, "UPDATE checkpoint AS c SET parent=p.id, "                                     \
                    "sum=pons_sum('checkpoint',c.key,c.id,p.id,c.meta,c.data)"                     \
                    " FROM checkpoint p WHERE c.key=?1 AND p.key=?2")                              \
    X(PRUNE_RECORDS, "DELETE FROM record WHERE nid=?1"                                             \
                     " AND checkpoint=(SELECT id FROM checkpoint WHERE key=?2)")                   \
    X(PRUNE_CP, "DELETE FROM checkpoint WHERE key=?1")                                             \
    X(EVENT_SINCE, "SELECT min(key) FROM event WHERE key BETWEEN ?1 AND ?2 AND ts_ms>=?3")         \
    X(PAGES_FREE, "SELECT freelist_count, page_count, page_size FROM pragma_freelist_count,"       \
                  " pragma_page_count, pragma_page_size")                                          \
    X(PAGES_GIVE, "PRAGMA incremental_vacuum(256)")                                                \
    X(PAGES_GIVE_FEW, "PRAGMA incremental_vacuum(32)")                                             \
    X(TRIM_FLOOR, "SELECT key FROM checkpoint WHERE key BETWEEN ?1 AND ?2 AND meta&1"              \
                  " ORDER BY key DESC LIMIT 1")                                                    \
    X(TRIM_FIRST, "SELECT min(key) FROM checkpoint WHERE key BETWEEN ?1 AND ?2")                   \
    X(TRIM_LAST, "SELECT max(key) FROM checkpoint WHERE key BETWEEN ?1 AND ?2")                    \
    X(TRIM_END, "SELECT key FROM checkpoint WHERE key>?1 AND key<=?2 AND meta&1"                   \
                " ORDER BY key LIMIT 1")                                                           \
    X(TRIM_PARENT, "UPDATE checkpoint AS c SET parent=p.id,"                                       \
                   " sum=pons_sum('checkpoint',c.key,c.id,p.id,c.meta,c.data)"                     \
                   " FROM checkpoint p WHERE p.key=?1 AND c.key BETWEEN ?1+1 AND ?1+2"             \
                   " AND typeof(c.parent)='integer' AND c.key-c.parent=?1")                        \
    X(THIN_NEXT, "SELECT e.key, w.text, length(e.payload), e.nid, e.ts_ms, e.type FROM event e"    \
                 " JOIN word w ON w.wid=e.type WHERE e.key BETWEEN ?1 AND ?2"                      \
                 " ORDER BY e.key LIMIT 1")                                                        \
    X(THIN_PUT, "INSERT INTO event(key,nid,ts_ms,type,payload,sum)"                                \
                " VALUES(?1,?2,?3,?4,?5,pons_sum('event',?1,?2,?3,?4,?5))")                        \
    X(EVENT_FIRST, "SELECT min(key) FROM event WHERE key BETWEEN ?1 AND ?2")                       \
    X(TRIM_EVENT, "DELETE FROM event WHERE key=?1")                                                \
    X(TRIM_EFFECT_NEXT, "SELECT key, created_ms, updated_ms FROM effect"                           \
                        " WHERE key BETWEEN ?1 AND ?2 AND (?3>>state)&1 ORDER BY key LIMIT 1")     \
    X(EFFECTS_GONE, "INSERT INTO meta(key,value,sum) VALUES('effects.'||?1,?2,"                    \
                    " pons_sum('meta','effects.'||?1,?2)) ON CONFLICT(key) DO UPDATE SET"          \
                    " value=value+?2, sum=pons_sum('meta',key,value+?2)")                          \
    X(EFFECTS_FORGET, "DELETE FROM meta WHERE key='effects.'||?1")                                 \
    X(EFFECTS_COPY, "INSERT INTO meta(key,value,sum) SELECT 'effects.'||?2, value,"                \
                    " pons_sum('meta','effects.'||?2,value) FROM meta WHERE key='effects.'||?1")   \
    X(TRIM_EFFECT, "DELETE FROM effect WHERE key=?1")

// A checkpoint; its parent, stored as a distance back or as the id itself, as an id.
#define SQL_CHECKPOINT "c.id, " SQL_PARENT ", c.meta>>1, c.meta&1, c.data"
#define SQL_PARENT                                                                                 \
    "CASE typeof(c.parent) WHEN 'integer'"                                                         \
    " THEN (SELECT p.id FROM checkpoint p WHERE p.key=c.key-c.parent) ELSE c.parent END"

typedef enum sql_id {
#define SQL_ENUM(name, text) SQL_##name,
    SQL_TABLE(SQL_ENUM)
#undef SQL_ENUM
        SQL_COUNT
} sql_id;

// One connection; one thread at a time.
typedef struct sql_conn {
    sqlite3 *db;
    const char *name; // of the file, for messages; the store's
    sqlite3_stmt *st[SQL_COUNT];
    struct sql_conn *next; // in the list of idle readers
    bool reads;            // and leaves the log as it is
} sql_conn;

// Opens the file and waits patiently for other processes; checks nothing.
int pons__sql_open(sql_conn *c, const char *path, const char *name, int flags, pons_error *err);
void pons__sql_close(sql_conn *c);
void pons__sql_only_reads(sql_conn *c); // a log that another left is not moved when it is closed
// A statement, reset, its bindings free; NULL with err filled.
sqlite3_stmt *pons__sql(sql_conn *c, sql_id id, pons_error *err);
// SQLITE_ROW or SQLITE_DONE; anything else is a failure, and err says what could not be done.
int pons__sql_step(sql_conn *c, sqlite3_stmt *st, pons_error *err);
// How long it waits for other processes: 0 for as long as is usual.
void pons__sql_patience(sql_conn *c, int wait_ms);
// The column that was read last, or one before it, was lost for want of memory.
static inline bool pons__sql_lost(const sql_conn *c)
{
    return (sqlite3_errcode(c->db) & 0xff) == SQLITE_NOMEM;
}
// Runs a statement without rows and resets it.
int pons__sql_run(sql_conn *c, sqlite3_stmt *st, pons_error *err);
int pons__sql_do(sql_conn *c, sql_id id, pons_error *err); // one without parameters
// A statement with its parameters bound; NULL with err filled.
sqlite3_stmt *pons__sql_bound(sql_conn *c, sql_id id, sql_args args, pons_error *err);
int pons__sql_exec(sql_conn *c, sql_id id, sql_args args, pons_error *err); // one without rows
// Writes a row of a table: its columns in their order, and behind them their checksum.
int pons__sql_put(sql_conn *c, sql_id id, const char *table, sql_args args, pons_error *err);
// The first row of one: 1, 0 when there is none, or the status. The caller resets *ret, which may be NULL.
int pons__sql_first(sql_conn *c, sql_id id, sql_args args, sqlite3_stmt **ret, pons_error *err);
// The number in the first column of that; 0: there is no row, or null.
int pons__sql_number(sql_conn *c, sql_id id, sql_args args, int64_t *ret, pons_error *err);
// Fills err from a result code of SQLite: status, file, cause. `what` reads "cannot …".
int pons__sql_fail(sql_conn *c, int code, pons_error *err, const char *what);
// Opens for reading: as usual where files may be made, else without making any. *ret: how, for
// further connections; the caller's, also after it closed c (pons__where_drop).
typedef struct sql_where {
    char *path; // or a URI
    int flags;
    char *copy; // directory of a private copy, else NULL
} sql_where;
int pons__sql_open_read(sql_conn *c, const char *path, const char *name, sql_where *ret,
                        pons_error *err);
void pons__where_drop(sql_where *w); // frees; removes the copy
// The same of a private copy of the file and its log: what SQLite makes of them stays there.
int pons__sql_open_copy(sql_conn *c, const char *path, const char *name, sql_where *ret,
                        pons_error *err);
bool pons__copy_file(const char *from, const char *to); // to a new one; errno
// Asked before SQLite opens a file: PONS_ECORRUPT when the log beside it has lost what was committed;
// err says what. After PONS_OK pons__log_done is called, with the connection, or NULL: there is none.
int pons__log_begin(const char *path, pons_error *err);
void pons__log_done(sql_conn *c);
void pons__log_sign(const char *locks); // by who may write: in which boot of the host
// How many of SQLite's steps a reading of a damaged file may take, and who counts them (a progress
// handler, each PONS__SQL_STEPS): far more than a sound file of its size takes.
#define PONS__SQL_STEPS 1000
int64_t pons__sql_budget(sqlite3 *db);
int pons__sql_spend(void *left);
// Fills a new database in memory with the tables.
int pons__schema_memory(sql_conn *c, pons_error *err);
// Makes or refuses what is in the file.
int pons__schema_check(sql_conn *c, const char *path, pons_error *err);
int pons__schema_readable(sql_conn *c, const char *path,
                          pons_error *err); // the same, makes nothing
int pons__schema_newest(void);

// ---- ids ----------------------------------------------------------------------------------------

// Reads one back; "" for NULL. ret has cap bytes.
void pons__id_column(sqlite3_stmt *st, int at, char *ret, size_t cap);
pons_bytes pons__bytes_column(sqlite3_stmt *st, int at);
const char *pons__text_column(sqlite3_stmt *st, int at); // never NULL

// ---- checksums ----------------------------------------------------------------------------------

int pons__sum_register(sqlite3 *db); // the SQL function; a result code
void pons__bind(sqlite3_stmt *st, sql_args args);
void pons__bind_row(sqlite3_stmt *st, const char *table,
                    sql_args args); // and behind them their checksum

// ---- the store ----------------------------------------------------------------------------------

#define PONS__WAL_TEND 2000 // pages of the log (4 MiB) at which it is moved to the file

#define PONS__PARENT_NEAR                                                                          \
    2 // places: a snapshot whose parent is further back has its id (apply.c, prune.c)

#define SPACES_CACHED 32 // a power of two
#define WORDS_CACHED  64 // a power of two

typedef struct space { // what the holder of a thread knows of a namespace's end
    char name[PONS_NAME_MAX];
    int64_t nid;   // 0: free slot
    int64_t next;  // seq of the next checkpoint; 0: not read yet
    char last[32]; // id of the newest
    char top[32];  // where ids once fell, the greatest before that; else empty
} space;

// A thread that this store holds, from acquire to release.
typedef struct holding {
    commit_line line; // first
    int64_t tid;
    int lock_fd;

    bool known;                  // [writing] what follows was read from the database
    int64_t event_next;          // [writing] seq
    int64_t effect_next;         // [writing]
    space spaces[SPACES_CACHED]; // [writing] by hash of the name
} holding;

typedef struct word {
    char text[48]; // longer ones are not cached
    int64_t wid;   // 0: free slot
} word;

typedef struct sq {
    commit_queue q; // first; who has its right to write may use everything marked [writing]

    bool in_memory;  // there is no file: w is the only connection, for readers as well
    char *path;      // as SQLite resolved it
    sql_where where; // how it is read; without a path: as usual
    char *locks;     // "<path>-locks"; NULL: in memory
    char name[64];   // the file's, for messages
    char host[PONS__HOST_MAX];

    pthread_mutex_t log_mtx;  // one at a time moves the log
    sql_conn tender;          // [log_mtx] the queue's thread's: moves the log while others commit
    sql_conn w;               // [writing]
    int sync;                 // [writing] pons_sync that w is set to; -1: not set
    word words[WORDS_CACHED]; // [writing]
    int wal_pages;            // [writing] length of the log after the last commit
    int wal_next;             // [writing] length at which it is looked after
    atomic_bool away;         // the last commit, or taking of a thread, failed for the disk's sake

    pthread_mutex_t lease_mtx; // one at a time takes a thread
    pthread_mutex_t readers_mtx;
    sql_conn *idle; // [readers_mtx]
    int n_idle;     // [readers_mtx]
    pons_store_ops ops;
} sq;

// commit.c
// Of commit_queue_ops.
void pons__write_batch(void *self, commit_request **batch, size_t n);
void pons__move_log(void *self);
void pons__writer_enter(sq *s); // takes `writing`
void pons__writer_leave(sq *s);
void pons__sq_note(sq *s, int status); // how a commit, or the taking of a thread, ended
bool pons__sq_away(void *self);
int pons__sync_set(sq *s, pons_sync sync, pons_error *err); // [writing], outside a transaction
void pons__tx_rollback(sq *s);
void pons__forget(sq *s, holding *h); // [writing] after a rollback; h may be NULL
void pons__wal_tend(sq *s);           // [writing] after a commit
void pons__wal_move(sq *s);           // [writing] moves the log into the file, as far as may be
int pons__sq_items_write(void *self, const pons_item_write *items, size_t n, pons_sync sync,
                         pons_error *err);
int pons__sq_items_sweep(void *self, int64_t now_ms, int64_t *ret_removed, pons_error *err);
int pons__sq_thread_note(void *self, const char *thread, pons_bytes note, const pons_bytes *was,
                         pons_error *err);
int pons__sq_inbox_post(void *self, const char *thread, const pons_inbox_row *row, int64_t *ret_seq,
                        pons_error *err);

// apply.c; [writing], inside a transaction
int pons__sql_apply(sq *s, commit_request *r, pons_error *err);
int pons__sql_fence(sq *s, const holding *h, pons_error *err); // PONS_ESTALE: the lease is over
int pons__word_id(sq *s, const char *text, int64_t *ret, pons_error *err);
int pons__ns_id(sq *s, int64_t tid, const char *name, int64_t *ret, pons_error *err);
// tid of a thread, making it when it is new. ret_epoch may be NULL.
int pons__thread_id(sq *s, const char *name, int64_t *ret, pons_error *err);
// Numbers n messages: *ret_first is the first of them. Then puts one.
int pons__inbox_seq(sq *s, int64_t tid, int64_t n, int64_t *ret_first, pons_error *err);
int pons__inbox_put(sq *s, int64_t tid, int64_t seq, int64_t nid, int64_t kind, pons_bytes value,
                    pons_error *err);
// Key of a checkpoint by its id; PONS_ENOTFOUND without touching err.
int pons__checkpoint_key(sql_conn *c, int64_t nid, const char *id, int64_t *ret, pons_error *err);

// read.c
extern const sql_reads pons__sq_reads;
// The same where a cursor copies all rows when it is opened, and gives the connection back at once.
extern const sql_reads pons__sq_copied_reads;
typedef struct copied_rows { // to be told when nothing is locked any more
    struct copied_row *first, *last;
} copied_rows;
bool pons__copy_row(copied_rows *to, sqlite3_stmt *st); // false: out of memory
sql_cursor
pons__copied_cursor(const copied_rows *rows); // has them from now on, to the end or close
sql_conn *pons__reader_take(sq *s, pons_error *err);
void pons__reader_give(sq *s, sql_conn *c); // NULL-safe
void pons__readers_close(sq *s);
int pons__sq_head(void *self, const char *thread, const char *ns, pons_checkpoint_fn fn, void *user,
                  pons_error *err);
int pons__sq_checkpoint(void *self, const char *thread, const char *ns, const char *id,
                        pons_checkpoint_fn fn, void *user, pons_error *err);
int pons__sq_threads(void *self, pons_thread_fn fn, void *user, pons_error *err);
int pons__sq_thread_list(void *self, const char *thread, bool sizes, pons_thread_fn fn, void *user,
                         pons_error *err);

// lease.c
int pons__sq_lease_acquire(void *self, const char *thread, pons_lease *ret, pons_error *err);
void pons__sq_lease_release(void *self, pons_lease *lease);
int pons__sq_lease_peek(void *self, const char *thread, pons_lease *ret, pons_error *err);
int pons__sq_thread_delete(void *self, const char *thread, pons_error *err);
int pons__thread_find(sq *s, const char *thread, int64_t *ret, pons_error *err); // [writing]
void pons__holding_destroy(holding *h);                                          // unlocks

// items.c; what writes: [writing], inside a transaction
#define PONS__SWEEP_BATCH 256 // items removed in one
int pons__sql_items(sq *s, const pons_item_write *items, size_t n, pons_error *err);
int pons__sql_sweep(sq *s, int64_t now_ms, int64_t *removed, pons_error *err); // at most a batch
int pons__sql_note(sq *s, const char *thread, pons_bytes note, const pons_bytes *was,
                   pons_error *err);

// lanes.c
void pons__sq_lanes(void *self, pons_lanes *ret);

// prune.c
int pons__sq_thread_copy(void *self, const char *from, const char *to, pons_error *err);
int pons__sq_prune(void *self, const char *thread, const pons_prune *what, pons_prune_result *ret,
                   pons_error *err);

// commit.c, for what is neither a commit nor a post
bool pons__transact(sq *s, pons_sync sync, pons_error *err); // takes the right to write, begins
int pons__transacted(sq *s, int rc, pons_error *err);        // commits or not; gives it back
int pons__sq_trim(void *self, pons_trim *what, pons_trim_result *ret, pons_error *err);

// ---- lock files ---------------------------------------------------------------------------------

typedef struct lock_holder { // what stands in a lock file
    int64_t pid;
    uint64_t epoch;
    char host[PONS__HOST_MAX];
} lock_holder;

// Takes the lock of a thread: *ret_fd holds it until closed. PONS_EBUSY when another has it, then
// *ret is what it wrote. host: this one, where it can be seen whether that one has ended.
int pons__lock_take(const char *dir, const char *thread, const char *host, int *ret_fd,
                    lock_holder *ret, pons_error *err);
int pons__lock_write(int fd, const lock_holder *h); // 0 or -1
void pons__lock_drop(int fd);                       // forgets the holder, unlocks, closes
void pons__lock_remove(const char *dir, const char *thread, int fd); // unlinks while held, drops
// Who holds it: true and *ret, without taking anything.
bool pons__lock_peek(const char *dir, const char *thread, lock_holder *ret);
// The same of a thread, also where there are no files (lease.c).
bool pons__lease_holder(sq *s, const char *thread, lock_holder *ret);
