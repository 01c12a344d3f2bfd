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

// Those of statements.sql.
typedef enum sql_id {
#define X(name, text) SQL_##name,
#include "store/sqlite/statements.sql.h"
#undef X
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
