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

// Those of statements.sql.
typedef enum pg_sql {
#define X(name, text) PG_##name,
#include "store/postgres/statements.sql.h"
#undef X
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
