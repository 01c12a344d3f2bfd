// postgres.h - what the files of the PostgreSQL store share.
//
//   postgres.c         essay; opening, closing, the table of ops, the module
//   conn.c    connections, statements, PostgreSQL's errors
//   schema.c  the schema, its functions and its versions
//   commit.c  commits as pipelines; posts
//   commit_queue.c     who writes when (shared with sqlite)
//   read.c    cursors for sql_read.c (shared with sqlite); chains, threads
//   items.c   items; notes of threads
//   lanes.c   sessions in the lanes of their targets
//   lease.c   leases and their keeper; copies, pruning, the end of a thread
//
// Inside, err is never NULL: each op brings one of its own when the caller gave none.
#pragma once

#include "store/commit_queue.h"
#include "store/sql_read.h"

#include <libpq-fe.h>

#include <pthread.h>
#include <stdatomic.h>

// ---- statements ---------------------------------------------------------------------------------

#define SQL_SPACE                                                                                  \
    "(SELECT n.nid FROM pons.thread t JOIN pons.ns n ON n.tid=t.tid"                               \
    " WHERE t.name=$1::text AND n.name=$2::text)"
#define SQL_THREAD "(SELECT t.tid FROM pons.thread t WHERE t.name=$1::text)"
// The chain of the checkpoint that `first` selects, oldest first.
#define SQL_CHAIN(first)                                                                           \
    "WITH RECURSIVE s AS (SELECT " SQL_SPACE " AS nid), c AS ((SELECT n, id, parent, snapshot"     \
    " FROM pons.checkpoint WHERE nid=(SELECT nid FROM s) " first ")"                               \
    " UNION ALL SELECT p.n, p.id, p.parent, p.snapshot FROM c, pons.checkpoint p"                  \
    " WHERE NOT c.snapshot AND p.nid=(SELECT nid FROM s) AND p.id=c.parent AND p.n<c.n)"           \
    " SELECT d.id, d.parent, d.step, d.snapshot, d.data FROM c JOIN pons.checkpoint d"             \
    " ON d.nid=(SELECT nid FROM s) AND d.n=c.n ORDER BY d.n"

#define SQL_ITEM "ns,key,value,words,vectors,created_ms,updated_ms,ttl_ms,expires_ms"

// Of a namespace and those below it, "": of all. '/' comes behind '.'.
#define SQL_ITEMS                                                                                  \
    "SELECT " SQL_ITEM " FROM pons.item WHERE ns>=$1::text"                                        \
    " AND ns<CASE $1::text WHEN '' THEN U&'\\+10FFFF' ELSE $1::text||'/' END"                      \
    " AND ($1::text='' OR ns=$1::text OR ns>=$1::text||'.')"                                       \
    " AND (expires_ms=0 OR expires_ms>$2::int8)"

#define SQL_SESSION "seq,id,lane,priority,order_ms,state,attempt,epoch,owner,due_ms,data,note"

// X(name, text): every statement, prepared once a connection, on first use.
#define PG_TABLE(X)                                                                                \
    X(BEGIN, "BEGIN")                                                                              \
    X(COMMIT, "COMMIT")                                                                            \
    X(SYNC, "SELECT set_config('synchronous_commit','on',true)")                                   \
    X(FLUSH, "SELECT set_config('synchronous_commit','on',true),"                                  \
             " pg_logical_emit_message(true,'pons','')")                                           \
    X(FENCE, "SELECT pons.fence($1::int8,$2::int8)")                                               \
    X(SPACE, "SELECT pons.space($1::int8,$2::text)")                                               \
    X(CP_ADD, "INSERT INTO pons.checkpoint(nid,n,id,parent,step,snapshot,data)"                    \
              " VALUES($1::int8,(SELECT coalesce(max(n),0)+1 FROM pons.checkpoint"                 \
              " WHERE nid=$1::int8),$2::bytea,$3::bytea,$4::int8,$5::int8<>0,$6::bytea)")          \
    X(RECORD_PUT, "INSERT INTO pons.record(nid,checkpoint,task,idx,data)"                          \
                  " VALUES($1::int8,$2::bytea,$3::text,$4::int8,$5::bytea)"                        \
                  " ON CONFLICT (nid,checkpoint,task,idx) DO UPDATE SET data=excluded.data")       \
    X(INBOX_DEL, "DELETE FROM pons.inbox WHERE tid=$1::int8 AND seq=$2::int8")                     \
    X(POST_TO, "SELECT pons.post_to($1::int8,$2::text,$3::text,$4::bytea,$5::int8)")               \
    X(POST, "SELECT pons.post($1::text,$2::text,$3::text,$4::bytea,$5::int8)")                     \
    X(EFFECT_PUT, "INSERT INTO pons.effect(tid,n,id,nid,state,created_ms,updated_ms,data)"         \
                  " VALUES($1::int8,(SELECT coalesce(max(n),0)+1 FROM pons.effect"                 \
                  " WHERE tid=$1::int8),$2::bytea,$3::int8,$4::int8,$5::int8,$6::int8,$7::bytea)"  \
                  " ON CONFLICT (tid,id) DO UPDATE SET nid=excluded.nid, state=excluded.state,"    \
                  " created_ms=excluded.created_ms, updated_ms=excluded.updated_ms,"               \
                  " data=excluded.data")                                                           \
    X(EVENT_ADD, "INSERT INTO pons.event(tid,seq,nid,ts_ms,type,payload)"                          \
                 " VALUES($1::int8,(SELECT coalesce(max(seq),0)+1 FROM pons.event"                 \
                 " WHERE tid=$1::int8),$2::int8,$3::int8,$4::text,$5::bytea) RETURNING seq")       \
    X(NOTIFY, "SELECT pg_notify('pons','e '||$1::text)")                                           \
    X(HEAD, SQL_CHAIN("ORDER BY n DESC LIMIT 1"))                                                  \
    X(CHECKPOINT, SQL_CHAIN("AND id=$3::bytea"))                                                   \
    X(CP_FIND, "SELECT n FROM pons.checkpoint WHERE nid=" SQL_SPACE " AND id=$3::bytea")           \
    X(HISTORY, "SELECT id, parent, step, snapshot, data FROM pons.checkpoint"                      \
               " WHERE nid=" SQL_SPACE " AND n<$3::int8 ORDER BY n DESC LIMIT $4::int8")           \
    X(RECORDS, "SELECT task, idx, data FROM pons.record WHERE nid=" SQL_SPACE                      \
               " AND checkpoint=$3::bytea ORDER BY task, idx")                                     \
    X(SPACES, "SELECT n.name FROM pons.ns n WHERE n.tid=" SQL_THREAD                               \
              " AND EXISTS(SELECT 1 FROM pons.checkpoint c WHERE c.nid=n.nid)"                     \
              " ORDER BY n.name COLLATE \"C\"")                                                    \
    X(INBOX, "SELECT i.seq, n.name, i.kind, i.value FROM pons.inbox i"                             \
             " JOIN pons.ns n ON n.nid=i.nid WHERE i.tid=" SQL_THREAD " AND i.seq>$2::int8"        \
             " AND ($3::text IS NULL OR n.name=$3::text) ORDER BY i.seq")                          \
    X(EFFECT, "SELECT e.id, n.name, e.state, e.created_ms, e.updated_ms, e.data"                   \
              " FROM pons.effect e JOIN pons.ns n ON n.nid=e.nid WHERE e.tid=" SQL_THREAD          \
              " AND e.id=$2::bytea")                                                               \
    X(EFFECTS, "SELECT e.id, n.name, e.state, e.created_ms, e.updated_ms, e.data"                  \
               " FROM pons.effect e JOIN pons.ns n ON n.nid=e.nid WHERE e.tid=" SQL_THREAD         \
               " AND ($2::int8>>e.state)&1=1 ORDER BY e.n")                                        \
    X(EVENTS, "SELECT e.seq, n.name, e.ts_ms, e.type, e.payload FROM pons.event e"                 \
              " JOIN pons.ns n ON n.nid=e.nid WHERE e.tid=" SQL_THREAD " AND e.seq>$2::int8"       \
              " ORDER BY e.seq LIMIT $3::int8")                                                    \
    X(EVENT_LAST, "SELECT coalesce(max(seq),0) FROM pons.event WHERE tid=" SQL_THREAD)             \
    X(THREADS, "SELECT s.*, n.data FROM pons.thread_sizes() s"                                     \
               " JOIN pons.thread t ON t.name=s.o_name LEFT JOIN pons.note n ON n.tid=t.tid"       \
               " WHERE $1::text IS NULL OR t.name=$1::text ORDER BY t.tid")                        \
    X(THREAD_LIST, "SELECT t.name, t.created_ms, t.touched_ms, 0::int8, 0::int8, 0::int8,"         \
                   " CASE WHEN t.until>clock_timestamp() THEN t.pid ELSE 0 END, t.host, n.data"    \
                   " FROM pons.thread t LEFT JOIN pons.note n ON n.tid=t.tid"                      \
                   " WHERE $1::text IS NULL OR t.name=$1::text ORDER BY t.tid")                    \
    X(NOTE, "SELECT pons.note_put($1::text,$2::bytea,$3::bytea,$4::int8)")                         \
    X(ITEM_PUT, "INSERT INTO pons.item AS i(" SQL_ITEM ",found)"                                   \
                " VALUES($1::text,$2::text,$3::bytea,$4::text,$5::bytea,$6::int8,$6::int8,"        \
                "$7::int8,$8::int8,array_to_tsvector(string_to_array($4::text,' ')))"              \
                " ON CONFLICT (ns,key) DO UPDATE SET value=excluded.value, words=excluded.words,"  \
                " found=excluded.found, vectors=excluded.vectors, created_ms=CASE WHEN"            \
                " i.expires_ms=0 OR i.expires_ms>excluded.updated_ms THEN i.created_ms"            \
                " ELSE excluded.created_ms END, updated_ms=excluded.updated_ms,"                   \
                " ttl_ms=excluded.ttl_ms, expires_ms=excluded.expires_ms")                         \
    X(ITEM_TOUCH, "UPDATE pons.item SET expires_ms=$3::int8 WHERE ns=$1::text AND key=$2::text"    \
                  " AND (expires_ms=0 OR expires_ms>$4::int8)")                                    \
    X(ITEM_DEL, "DELETE FROM pons.item WHERE ns=$1::text AND key=$2::text")                        \
    X(ITEM_SWEEP, "DELETE FROM pons.item WHERE (ns,key) IN (SELECT ns,key FROM pons.item"          \
                  " WHERE expires_ms<>0 AND expires_ms<=$1::int8 FOR UPDATE SKIP LOCKED)")         \
    X(ITEM_GET, "SELECT " SQL_ITEM " FROM pons.item WHERE ns=$1::text AND key=$2::text"            \
                " AND (expires_ms=0 OR expires_ms>$3::int8)")                                      \
    X(ITEMS, SQL_ITEMS " AND $3::text IS NULL ORDER BY updated_ms DESC, ns, key")                  \
    X(ITEMS_FOUND, SQL_ITEMS " AND found @@ $3::text::tsquery ORDER BY updated_ms DESC, ns, key")  \
    X(ITEM_SPACES, "SELECT DISTINCT ns FROM pons.item"                                             \
                   " WHERE expires_ms=0 OR expires_ms>$1::int8 ORDER BY ns")                       \
    X(SESSION_ADD, "SELECT pons.session_add($1::text,$2::text,$3::int8,$4::int8,$5::bytea)")       \
    X(SESSION_CHANGE, "SELECT pons.session_change($1::text,$2::text,$3::int8,$4::int8,"            \
                      "$5::bytea)")                                                                \
    X(SESSION_CANCEL, "SELECT pons.session_cancel($1::text,$2::bytea)")                            \
    X(SESSION_CLAIM, "SELECT " SQL_SESSION " FROM pons.session_take($1::text,$2::text[])")         \
    X(SESSION_NOTE, "SELECT pons.session_note($1::text,$2::int8,$3::bytea)")                       \
    X(SESSION_FINISH, "SELECT " SQL_SESSION " FROM pons.session_end($1::text,$2::int8,"            \
                      "$3::int8,$4::int8,$5::bytea,$6::text)")                                     \
    X(SESSION_WAKE, "SELECT pons.session_wake($1::int8)")                                          \
    X(SESSION_OWN, "SELECT " SQL_SESSION " FROM pons.session_inherit($1::text,$2::int8,$3::text)") \
    X(SESSION_GET, "SELECT " SQL_SESSION " FROM pons.session_now WHERE id=$1::text")               \
    X(SESSION_LIST, "SELECT " SQL_SESSION " FROM pons.session_now WHERE seq>$1::int8"              \
                    " AND ($2::int8>>state)&1=1 AND ($3::text IS NULL OR lane=$3::text)"           \
                    " ORDER BY seq LIMIT $4::int8")                                                \
    X(SESSION_LIVE, "SELECT " SQL_SESSION " FROM pons.session_now WHERE seq IN"                    \
                    " (SELECT seq FROM pons.session WHERE state=0 UNION ALL"                       \
                    " SELECT seq FROM pons.session WHERE state=1) AND seq>$1::int8"                \
                    " AND ($2::int8>>state)&1=1 AND ($3::text IS NULL OR lane=$3::text)"           \
                    " ORDER BY seq LIMIT $4::int8")                                                \
    X(SESSION_LAST, "SELECT coalesce(max(seq),0) FROM pons.session")                               \
    X(SESSION_TRIM, "WITH w AS (SELECT seq, state FROM pons.session WHERE seq>$1::int8"            \
                    " AND seq<=greatest($2::int8,$3::int8) ORDER BY seq LIMIT $4::int8+1),"        \
                    " t AS (SELECT seq, state FROM w ORDER BY seq LIMIT $4::int8),"                \
                    " d AS (DELETE FROM pons.session WHERE seq IN (SELECT seq FROM t WHERE"        \
                    " (state IN (3,6) AND seq<=$2::int8) OR (state IN (4,5) AND seq<=$3::int8))"   \
                    " RETURNING state) SELECT (SELECT coalesce(max(seq),$1::int8) FROM t),"        \
                    " count(*) FILTER (WHERE state IN (3,6)),"                                     \
                    " count(*) FILTER (WHERE state IN (4,5)),"                                     \
                    " (SELECT count(*) FROM w)>$4::int8 FROM d")                                   \
    X(RUNNER_BEAT, "INSERT INTO pons.runner(name,beats) VALUES($1::text,1)"                        \
                   " ON CONFLICT (name) DO UPDATE SET beats=runner.beats+1")                       \
    X(RUNNER_DEL, "DELETE FROM pons.runner WHERE name=$1::text")                                   \
    X(RUNNERS, "SELECT name, beats FROM pons.runner UNION ALL SELECT DISTINCT owner, 0::int8"      \
               " FROM pons.lane WHERE running<>0"                                                  \
               " AND owner NOT IN (SELECT name FROM pons.runner) ORDER BY 1")                      \
    X(TAKE, "SELECT * FROM pons.lease_take($1::text,$2::int8,$3::text,$4::int8,$5::int8,"          \
            "$6::text,$7::int8)")                                                                  \
    X(RELEASE, "UPDATE pons.thread SET until=NULL, pid=0, host=''"                                 \
               " WHERE tid=$1::int8 AND epoch=$2::int8")                                           \
    X(RENEW, "UPDATE pons.thread t SET until=clock_timestamp()+$3::int8*interval '1 millisecond'"  \
             " FROM unnest($1::text::int8[],$2::text::int8[]) AS h(tid,epoch)"                     \
             " WHERE t.tid=h.tid AND t.epoch=h.epoch AND t.until IS NOT NULL")                     \
    X(PEEK, "SELECT epoch, pid, host FROM pons.thread"                                             \
            " WHERE name=$1::text AND until>clock_timestamp()")                                    \
    X(EXISTS, "SELECT 1 FROM pons.thread WHERE name=$1::text")                                     \
    X(DROP, "SELECT * FROM pons.thread_drop($1::text)")                                            \
    X(COPY, "SELECT pons.thread_copy($1::text,$2::text,$3::int8)")                                 \
    X(PRUNE_SPACES, "SELECT nid FROM pons.ns WHERE tid=$1::int8"                                   \
                    " AND ($2::text IS NULL OR name=$2::text) ORDER BY nid")                       \
    X(PRUNE_LIST, "SELECT c.n, c.id, c.snapshot, p.n FROM pons.checkpoint c"                       \
                  " LEFT JOIN pons.checkpoint p ON p.nid=c.nid AND p.id=c.parent"                  \
                  " WHERE c.nid=$1::int8 ORDER BY c.n")                                            \
    X(PRUNE, "SELECT pons.prune($1::int8,$2::int8,$3::int8,$4::text::int8[])")                     \
    X(PRUNE_EVENTS, "SELECT pons.prune_events($1::int8,$2::int8,$3::int8)")                        \
    X(TRIM_CP, "WITH s AS (SELECT nid FROM pons.ns WHERE tid=$1::int8 AND name=$2::text),"         \
               " b AS (SELECT c.nid, c.n FROM pons.checkpoint c JOIN s USING(nid)"                 \
               "  WHERE c.id=$3::bytea),"                                                          \
               " f AS (SELECT c.n FROM pons.checkpoint c JOIN b ON c.nid=b.nid AND c.n<=b.n"       \
               "  WHERE c.snapshot ORDER BY c.n DESC LIMIT 1),"                                    \
               " o AS (SELECT min(c.n) n FROM pons.checkpoint c JOIN b USING(nid)),"               \
               " e AS (SELECT c.n FROM pons.checkpoint c, b, o, f WHERE c.nid=b.nid"               \
               "  AND c.n>o.n AND c.n<=f.n AND c.snapshot ORDER BY c.n LIMIT 1),"                  \
               " d AS (SELECT c.n, c.id FROM pons.checkpoint c, b, e WHERE c.nid=b.nid"            \
               "  AND c.n<e.n ORDER BY c.n DESC LIMIT $4::int8),"                                  \
               " r AS (DELETE FROM pons.record r USING b, d WHERE r.nid=b.nid"                     \
               "  AND r.checkpoint=d.id),"                                                         \
               " x AS (DELETE FROM pons.checkpoint c USING b, d WHERE c.nid=b.nid AND c.n=d.n"     \
               "  RETURNING c.n)"                                                                  \
               " SELECT (SELECT count(*) FROM b), (SELECT count(*) FROM x),"                       \
               " (SELECT count(*) FROM (SELECT 1 FROM pons.checkpoint c, b, f WHERE c.nid=b.nid"   \
               "  AND c.n<f.n LIMIT (SELECT count(*)+1 FROM x)) y)")                               \
    X(THIN, "WITH w AS (SELECT seq, type, length(payload) AS size FROM pons.event"                 \
            "  WHERE tid=$1::int8 AND seq>$2::int8 AND seq<$3::int8 ORDER BY seq"                  \
            "  LIMIT $4::int8)"                                                                    \
            " SELECT seq, type, size FROM w ORDER BY seq")                                         \
    X(THIN_EVENT, "UPDATE pons.event SET payload=$3::bytea WHERE tid=$1::int8 AND seq=$2::int8")   \
    X(TRIM_EVENTS, "WITH d AS (SELECT seq FROM pons.event WHERE tid=$1::int8 AND seq<$2::int8"     \
                   "  AND seq<(SELECT max(seq) FROM pons.event WHERE tid=$1::int8)"                \
                   "  ORDER BY seq LIMIT $3::int8+1),"                                             \
                   " x AS (DELETE FROM pons.event e USING (SELECT seq FROM d ORDER BY seq"         \
                   "  LIMIT $3::int8) k WHERE e.tid=$1::int8 AND e.seq=k.seq RETURNING 1)"         \
                   " SELECT (SELECT count(*) FROM x), (SELECT count(*) FROM d)")                   \
    X(TRIM_EFFECTS, "WITH y AS (SELECT n FROM pons.effect WHERE tid=$1::int8"                      \
                    "  AND ($4::int8>>state)&1=1 AND created_ms>=$2::int8 ORDER BY n LIMIT 1),"    \
                    " g AS (SELECT n FROM pons.effect WHERE tid=$1::int8"                          \
                    "  AND ($4::int8>>state)&1=1 AND updated_ms<$2::int8"                          \
                    "  AND n<coalesce((SELECT n FROM y),9223372036854775807)"                      \
                    "  AND n<(SELECT max(n) FROM pons.effect WHERE tid=$1::int8)"                  \
                    "  ORDER BY n LIMIT $3::int8+1),"                                              \
                    " x AS (DELETE FROM pons.effect e USING (SELECT n FROM g ORDER BY n"           \
                    "  LIMIT $3::int8) k WHERE e.tid=$1::int8 AND e.n=k.n RETURNING 1)"            \
                    " SELECT (SELECT count(*) FROM x), (SELECT count(*) FROM g)")                  \
    X(BYTES, "SELECT sum(pg_total_relation_size(c.oid))::int8 FROM pg_class c"                     \
             " JOIN pg_namespace n ON n.oid=c.relnamespace"                                        \
             " WHERE n.nspname='pons' AND c.relkind='r'")

typedef enum pg_sql {
#define PG_ENUM(name, text) PG_##name,
    PG_TABLE(PG_ENUM)
#undef PG_ENUM
        PG_COUNT
} pg_sql;

// ---- connections --------------------------------------------------------------------------------

typedef struct pg_conn { // one thread at a time
    PGconn *c;           // NULL: not open; never blocks in a send
    int64_t answer_ms;   // without a byte from the server: it is as good as dead; 0: for ever
    bool late;           // which has come to pass
    atomic_bool *away;   // the store's: it is told when this is lost
    bool prepared[PG_COUNT];
    struct pg_conn *next; // in the list of idle ones
} pg_conn;

#define PG_ARGS_MAX 8 // of a statement

typedef struct pg pg;

int pons__pg_open(pg *s, pg_conn *c, pons_error *err);
void pons__pg_close(pg_conn *c);
// Is it there, and has the server nothing to say, such as good-bye?
bool pons__pg_alive(const pg_conn *c);
int pons__pg_prepare(pg_conn *c, pg_sql id, pons_error *err);
bool pons__pg_send(pg_conn *c, pg_sql id, sql_args args); // prepared; in or out of a pipeline
// Runs a statement: *ret, when not NULL, is cleared by the caller, also NULL on failure.
int pons__pg_run(pg_conn *c, pg_sql id, sql_args args, PGresult **ret, pons_error *err);
// The next result of what was sent, as PQgetResult, but of a server that is silent for answer_ms the
// connection is ended, and then the result is that.
PGresult *pons__pg_result(pg_conn *c);
PGresult *pons__pg_query(pg_conn *c, const char *sql);           // the last result; the caller's
int pons__pg_exec(pg_conn *c, const char *sql, pons_error *err); // text, several statements
// Fills err from a result, or from the connection when there is none. Returns the status.
int pons__pg_fail(const pg_conn *c, const PGresult *r, pons_error *err);

int64_t pons__pg_col_int(const PGresult *r, int row, int col);
pons_bytes pons__pg_col_bytes(const PGresult *r, int row, int col);
const char *pons__pg_col_text(const PGresult *r, int row, int col);
void pons__pg_col_id(const PGresult *r, int row, int col, char *ret, size_t cap);

int pons__pg_schema(pg_conn *c, pons_error *err); // makes or refuses

// ---- the store ----------------------------------------------------------------------------------

#define PG_SPACES_CACHED 64 // a power of two

typedef struct pg_space {
    char name[PONS_NAME_MAX];
    int64_t nid; // 0: free slot
} pg_space;

// A thread that this store holds, from acquire to release.
typedef struct pg_holding {
    commit_line line; // first
    int64_t tid;
    bool unsynced;                     // [writing] commits that a server which fails takes with it
    bool lost;                         // [writing] … and it may have: nothing goes in any more
    pg_space spaces[PG_SPACES_CACHED]; // [writing] by hash of the name
} pg_holding;

typedef struct pg_untold {
    struct pg_untold *next;
    int64_t tid, epoch;
} pg_untold;

#define PG_LIFE_MAX 96

struct pg {
    commit_queue q; // first; who has its right to write may use w

    char *url;     // for libpq
    char name[64]; // of the server, for messages
    char host[PONS__HOST_MAX];
    char life[PG_LIFE_MAX]; // which process of this host this is
    int64_t lease_ms, answer_ms;
    atomic_bool away; // the last that was heard of the server is that it is not there

    pg_conn w; // [writing]

    pthread_mutex_t keeper_mtx;
    bool keeper_on; // [keeper_mtx] the keeper's thread exists
    int writer_pid; // [keeper_mtx] server process of w: its own notices wake nobody
    pthread_t keeper;
    int stop_fd;   // tells the keeper to end
    int notify_fd; // what notify_fd gives
    int lanes_fd;  // what the lanes' event_fd gives

    pthread_mutex_t idle_mtx;
    pg_conn *idle;     // [idle_mtx]
    int n_idle;        // [idle_mtx]
    pg_untold *untold; // [idle_mtx] leases let go of while the server was away
};

// A connection for one call; give it back. NULL with err filled.
pg_conn *pons__pg_take(pg *s, pons_error *err);
void pons__pg_give(pg *s, pg_conn *c); // NULL-safe; a broken one is thrown away
void pons__pg_idle_close(pg *s);
// One statement on a connection of its own.
int pons__pg_once(pg *s, pg_sql id, sql_args args, PGresult **ret, pons_error *err);
// The number that it gives; 0: none, or null.
int pons__pg_number(pg *s, pg_sql id, sql_args args, int64_t *ret, pons_error *err);

// commit.c
extern const commit_queue_ops pons__pg_queue_ops;
int pons__pg_inbox_post(void *self, const char *thread, const pons_inbox_row *row, int64_t *ret_seq,
                        pons_error *err);

// holder_alive.c: is the holder of a lease, on this host, alive?
void pons__pg_life(char ret[PG_LIFE_MAX], int64_t pid); // "BOOT:NAMESPACE:START"; "" when unknown
bool pons__pg_dead(const char *mine, int64_t pid, const char *life);

// lease.c
int pons__pg_lease_acquire(void *self, const char *thread, pons_lease *ret, pons_error *err);
void pons__pg_lease_release(void *self, pons_lease *lease);
int pons__pg_lease_peek(void *self, const char *thread, pons_lease *ret, pons_error *err);
int pons__pg_thread_delete(void *self, const char *thread, pons_error *err);
int pons__pg_thread_copy(void *self, const char *from, const char *to, pons_error *err);
int pons__pg_prune(void *self, const char *thread, const pons_prune *what, pons_prune_result *ret,
                   pons_error *err);
int pons__pg_notify_fd(void *self);
void pons__pg_keeper_stop(pg *s);
void pons__pg_let_go(pg *s, pg_holding *h); // frees it
bool pons__pg_away(void *self);

// lanes.c
void pons__pg_lanes(void *self, pons_lanes *ret);
bool pons__pg_keeper_start(pg *s); // lease.c: the thread that hears; false: there is none

// trim.c
int pons__pg_trim(void *self, pons_trim *what, pons_trim_result *ret, pons_error *err);
// items.c
bool pons__pg_item_send(pg_conn *c, const pons_item_write *w); // the statement that writes it
int pons__pg_items_write(void *self, const pons_item_write *items, size_t n, pons_sync sync,
                         pons_error *err);
int pons__pg_items_sweep(void *self, int64_t now_ms, int64_t *ret_removed, pons_error *err);
int pons__pg_thread_note(void *self, const char *thread, pons_bytes note, const pons_bytes *was,
                         pons_error *err);

// read.c
extern const sql_reads pons__pg_reads;
int pons__pg_thread_list(void *self, const char *thread, bool sizes, pons_thread_fn fn, void *user,
                         pons_error *err);
int pons__pg_head(void *self, const char *thread, const char *ns, pons_checkpoint_fn fn, void *user,
                  pons_error *err);
int pons__pg_checkpoint(void *self, const char *thread, const char *ns, const char *id,
                        pons_checkpoint_fn fn, void *user, pons_error *err);
int pons__pg_threads(void *self, pons_thread_fn fn, void *user, pons_error *err);
