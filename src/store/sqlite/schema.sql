-- schema.sql - the tables of a store. Each but the index's and the runners' has a last column for the row's
-- checksum (docs/internals/store.md).

CREATE TABLE meta(key TEXT PRIMARY KEY, value, sum) WITHOUT ROWID;
CREATE TABLE thread(tid INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
 created_ms INTEGER NOT NULL, touched_ms INTEGER NOT NULL, epoch INTEGER NOT NULL,
 inbox_seq INTEGER NOT NULL, sum);
CREATE TABLE ns(nid INTEGER PRIMARY KEY, tid INTEGER NOT NULL, name TEXT NOT NULL, top, sum, UNIQUE(tid, name));
CREATE TABLE word(wid INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE, sum);
CREATE TABLE checkpoint(key INTEGER PRIMARY KEY, id NOT NULL, parent,
 meta INTEGER NOT NULL, data BLOB NOT NULL, sum);
CREATE TABLE record(nid INTEGER NOT NULL, checkpoint NOT NULL, task TEXT NOT NULL,
 idx INTEGER NOT NULL, data BLOB NOT NULL, sum, PRIMARY KEY(nid, checkpoint, task, idx)) WITHOUT ROWID;
CREATE TABLE inbox(key INTEGER PRIMARY KEY, nid INTEGER NOT NULL, kind INTEGER NOT NULL,
 value BLOB NOT NULL, sum);
CREATE TABLE event(key INTEGER PRIMARY KEY, nid INTEGER NOT NULL, ts_ms INTEGER NOT NULL,
 type INTEGER NOT NULL, payload BLOB NOT NULL, sum);
CREATE TABLE effect(key INTEGER PRIMARY KEY, id NOT NULL, nid INTEGER NOT NULL,
 state INTEGER NOT NULL, created_ms INTEGER NOT NULL, updated_ms INTEGER NOT NULL,
 data BLOB NOT NULL, sum);
CREATE INDEX effect_id ON effect(id);

-- Items, their full-text index, and what is noted of threads.
CREATE TABLE item(iid INTEGER PRIMARY KEY, ns TEXT NOT NULL, key TEXT NOT NULL,
 value BLOB NOT NULL, words TEXT NOT NULL, vectors BLOB NOT NULL,
 created_ms INTEGER NOT NULL, updated_ms INTEGER NOT NULL, ttl_ms INTEGER NOT NULL,
 expires_ms INTEGER NOT NULL, sum, UNIQUE(ns, key));
CREATE INDEX item_expires ON item(expires_ms) WHERE expires_ms<>0;
CREATE VIRTUAL TABLE item_words USING fts5(words, content='item', content_rowid='iid',
 tokenize='ascii', detail=none, columnsize=0);
CREATE TABLE note(key INTEGER PRIMARY KEY, data BLOB NOT NULL, sum);

-- Lanes. What may be claimed, and what a lane has next, is found from an index's end. What runs is found by the
-- lanes, which are few: another index would be written with each claim.
CREATE TABLE session(sid INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, lane TEXT NOT NULL,
 priority INTEGER NOT NULL, order_ms INTEGER NOT NULL, state INTEGER NOT NULL,
 attempt INTEGER NOT NULL, epoch INTEGER NOT NULL, owner TEXT NOT NULL,
 due_ms INTEGER NOT NULL, data BLOB NOT NULL, note BLOB NOT NULL, sum);
CREATE INDEX session_next ON session(lane, priority, order_ms, sid) WHERE state=0;
CREATE INDEX session_due ON session(due_ms) WHERE state=1;
CREATE TABLE lane(name TEXT PRIMARY KEY, head INTEGER NOT NULL,
 head_priority INTEGER NOT NULL, head_order INTEGER NOT NULL, running INTEGER NOT NULL,
 owner TEXT NOT NULL, epoch INTEGER NOT NULL, sum) WITHOUT ROWID;
CREATE INDEX lane_ready ON lane(head_priority, head_order, head) WHERE head<>0 AND running=0;
CREATE TABLE runner(name TEXT PRIMARY KEY, beats INTEGER NOT NULL) WITHOUT ROWID;

INSERT INTO meta VALUES('epoch',0,pons_sum('meta','epoch',0));
