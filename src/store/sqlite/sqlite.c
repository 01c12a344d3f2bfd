// sqlite.c - the store in one SQLite file, or in the process's memory.
//
// The file is in write-ahead-log mode: one connection writes, any number read, none waits for the
// other. A commit is one transaction; under synchronous=NORMAL it is in the log when the call
// returns, so it survives the death of the process; under FULL (PONS_SYNC_FULL) the log is synced
// too. SQLite refuses to change that setting inside a transaction, so it is set before one begins,
// and only when it differs.
//
// What a step costs decides everything here: the log is written in whole pages, so a commit is as
// dear as the pages that it touches. Checkpoints of a namespace lie together in the order of their
// commits under one integer key, and nothing else is updated when one is added: no counter, no
// index, no time stamp of the thread. What would be counted is known to the holder of the lease,
// who is the only one to add; ids are 16 bytes, parents a distance, namespaces and words numbers.
// A checkpoint row costs about 30 bytes beyond its data.
//
//     checkpoint   key = namespace << 36 | place      event, effect, inbox   key = thread << 36 | n
//     record       (namespace, checkpoint, task, idx)
//     thread, ns, word   names to numbers             meta   the epoch
//     session, lane, runner   work for targets, one row a target, and who takes it
//     item, item_words   documents of no thread       note   what is known of a thread
//
// In memory (pons_store_memory_open) there is one connection and no log. Who reads takes the right to write,
// copies what was found, and gives the right back before anybody is called. The queue's list says who
// holds a thread. All else is the same.
//
// docs/internals/store.md has the tables, the bytes and the protocol of leases; internal.h says which
// file does what.
//
// Locks: lease_mtx comes first; `writing` (a right, not a mutex; commit_queue.c) second; then one of the queue's mtx,
// readers_mtx and log_mtx, never two of them. No callback runs under any.
#include "store/sqlite/internal.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const commit_queue_ops file_queue = {
    .write = pons__write_batch, .aside = pons__move_log, .reads = &pons__sq_reads};
static const commit_queue_ops memory_queue = {.write = pons__write_batch,
                                              .reads = &pons__sq_copied_reads};

_Static_assert(offsetof(sq, q) == 0, "the ops of its queue take the store");

static int open_to_write(sq *s, const char *path, pons_error *err)
{
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    if (s->in_memory) {
        const int rc = pons__sql_open(&s->w, path, s->name, flags, err);
        return rc ? rc : pons__schema_memory(&s->w, err);
    }
    int rc = pons__log_begin(path, err);
    if (!rc) {
        rc = pons__sql_open(&s->w, path, s->name, flags, err);
        pons__log_done(&s->w);
    }
    return rc;
}

static void sq_close(void *self)
{
    sq *s = self;
    if (!s) {
        return;
    }
    pons__commitq_stop(&s->q);
    while (s->q.lines) {
        holding *h = (holding *)s->q.lines;
        s->q.lines = h->line.next;
        pons__holding_destroy(h);
    }
    pons__readers_close(s);
    pons__sql_close(&s->tender);
    pons__sql_close(&s->w);
    pthread_mutex_destroy(&s->log_mtx);
    pthread_mutex_destroy(&s->lease_mtx);
    pthread_mutex_destroy(&s->readers_mtx);
    pons__commitq_fini(&s->q);
    pons__where_drop(&s->where);
    free(s->locks);
    free(s->path);
    free(s);
}

// Called by SQLite after each commit, with the length of the log.
static int note_wal(void *user, sqlite3 *db, const char *schema, int pages)
{
    sq *s = user;
    s->wal_pages = pages;
    if (pages < PONS__WAL_TEND) { // started anew
        s->wal_next = PONS__WAL_TEND;
    }
    return SQLITE_OK;
}

// Which files a store has, and where its threads are locked.
static int find_files(sq *s, const char *path, pons_error *err)
{
    // The path as SQLite resolved it: all who open this file must meet at the same locks.
    s->path = s->where.copy ? realpath(path, NULL) : strdup(sqlite3_db_filename(s->w.db, "main"));
    if (!s->path || asprintf(&s->locks, "%s-locks", s->path) < 0) {
        s->locks = NULL;
        return pons_error_set(err, PONS_ENOMEM, "store", "out of memory");
    }
    return PONS_OK;
}

static const pons_store_ops sqlite_ops = {
    .abi = PONS_STORE_ABI,
    .name = "sqlite",
    .close = sq_close,
    .lease_acquire = pons__sq_lease_acquire,
    .lease_release = pons__sq_lease_release,
    .lease_peek = pons__sq_lease_peek,
    .commit = pons__commitq_commit,
    .commit_async = pons__commitq_commit_async,
    .drain = pons__commitq_drain,
    .flush = pons__commitq_flush,
    .away = pons__sq_away,
    .head = pons__sq_head,
    .checkpoint = pons__sq_checkpoint,
    .history = pons__read_history,
    .records = pons__read_records,
    .namespaces = pons__read_namespaces,
    .inbox_post = pons__sq_inbox_post,
    .inbox_read = pons__read_inbox,
    .effect_get = pons__read_effect,
    .effects = pons__read_effects,
    .events = pons__read_events,
    .event_last = pons__read_event_last,
    .threads = pons__sq_threads,
    .thread_delete = pons__sq_thread_delete,
    .thread_copy = pons__sq_thread_copy,
    .prune = pons__sq_prune,
    .trim = pons__sq_trim,
    .items_write = pons__sq_items_write,
    .item_get = pons__read_item,
    .items = pons__read_items,
    .item_spaces = pons__read_item_spaces,
    .items_sweep = pons__sq_items_sweep,
    .lanes = pons__sq_lanes,
    .thread_note = pons__sq_thread_note,
    .thread_list = pons__sq_thread_list,
};

typedef enum open_how { TO_WRITE, TO_READ, IN_MEMORY } open_how;

static int open_store(const char *path, open_how how, pons_store *ret, pons_error *err)
{
    const bool reads = how == TO_READ;
    err = err ? err : &(pons_error)PONS_ERROR_INIT;
    sq *s = calloc(1, sizeof *s);
    if (!s) {
        return pons_error_set(err, PONS_ENOMEM, "store", "out of memory");
    }
    s->ops = sqlite_ops;
    s->in_memory = how == IN_MEMORY;
    if (s->in_memory) {
        s->ops.name = "memory";
        s->ops.commit_async = pons__commitq_commit_now;
    }
    pons__commitq_init(&s->q, s->in_memory ? &memory_queue : &file_queue, s);
    pthread_mutex_init(&s->lease_mtx, NULL);
    pthread_mutex_init(&s->readers_mtx, NULL);
    pthread_mutex_init(&s->log_mtx, NULL);
    s->sync = -1;
    s->wal_next = PONS__WAL_TEND;
    pons__store_host(s->host);
    const char *slash = strrchr(path, '/');
    snprintf(s->name, sizeof s->name, "%s", slash ? slash + 1 : path);

    int rc = reads ? pons__sql_open_read(&s->w, path, s->name, &s->where, err)
                   : open_to_write(s, path, err);
    if (!rc) {
        rc = reads && !(s->where.flags & SQLITE_OPEN_READWRITE)
                 ? pons__schema_readable(&s->w, path, err)
                 : pons__schema_check(&s->w, path, err);
    }
    if (!rc && !s->in_memory) {
        sqlite3_wal_hook(s->w.db, note_wal, s);
        rc = find_files(s, path, err);
    }
    if (!rc && how == TO_WRITE) {
        pons__log_sign(s->locks);
    }
    if (rc) {
        sq_close(s);
        return rc;
    }
    *ret = (pons_store){.ops = &s->ops, .self = s};
    return PONS_OK;
}

int pons_store_sqlite_open(const char *path, pons_store *ret, pons_error *err)
{
    return open_store(path, TO_WRITE, ret, err);
}

int pons_store_memory_open(pons_store *ret, pons_error *err)
{
    return open_store(":memory:", IN_MEMORY, ret, err);
}

int pons__store_sqlite_open_read(const char *path, pons_store *ret, pons_error *err)
{
    return open_store(path, TO_READ, ret, err);
}
