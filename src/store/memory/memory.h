// memory.h - the rows of the store that lives in the process, and the functions that the contract's
// table is made of.
//
//   memory.c   essay; opening, closing, leases, the table of ops
//   rows.c     counted rows, arrays and indexes of them, threads and namespaces
//   commit.c   commits: staged, then applied
//   read.c     everything that only reads; posts to the inbox
//   thread.c   threads listed, copied, deleted, pruned
//   trim.c     a little of what is old, taken away at once
//   items.c    items, which belong to no thread
//   lanes.c    sessions, by their targets
#pragma once

#include "store/store.h"

#include <pthread.h>

// ---- rows ---------------------------------------------------------------------------------------

typedef enum row_kind { ROW_CHECKPOINT, ROW_RECORD, ROW_INBOX, ROW_EVENT, ROW_EFFECT } row_kind;

// A counted row; strings and bytes that u points to lie in data.
typedef struct row {
    int refs; // [mtx]
    row_kind kind;
    const char *ns; // inbox, event, effect
    union {
        pons_checkpoint_row checkpoint;
        pons_record_row record;
        pons_inbox_row inbox;
        pons_event_row event;
        pons_effect_row effect;
    } u;
    char data[];
} row;

typedef struct rows { // an array of references
    row **at;
    size_t n, cap;
} rows;

// Open addressing, string → place in an array. Keys are borrowed from the rows that they name.
typedef struct map_slot {
    const char *key; // NULL: free
    uint32_t hash;
    uint32_t place;
} map_slot;

typedef struct map {
    map_slot *slots;
    size_t cap; // a power of two, or 0
    size_t n;
} map;

// ---- threads ------------------------------------------------------------------------------------

typedef struct group { // the records of one checkpoint
    char checkpoint[32];
    rows records;
} group;

typedef struct mem_ns {
    char name[PONS_NAME_MAX];
    rows checkpoints;
    map by_id;
    group **groups;
    size_t n_groups, cap_groups;
    map group_by_id;
} mem_ns;

typedef struct mem_thread {
    char name[PONS_NAME_MAX];
    int64_t created_ms, updated_ms;
    int64_t bytes;
    uint64_t epoch; // of the newest lease
    bool held;
    int64_t inbox_seq;
    mem_ns **spaces;
    size_t n_spaces, cap_spaces;
    map space_by_name;
    rows inbox;
    rows events;
    int64_t events_gone; // pruned, from the front
    rows effects;
    map effect_by_id;
    row *note; // as a record; NULL: none
} mem_thread;

typedef struct mem_item { // counted; what the row points to lies in data
    int refs;             // [mtx]
    pons_item_row row;    // [mtx] expires_ms, which a touch changes; the rest is const
    char data[];
} mem_item;

typedef struct mem_session {
    pons_session_row row; // its strings are these:
    char id[PONS_NAME_MAX], owner[PONS_NAME_MAX];
    char *data, *note;
    struct mem_lane *lane;
} mem_session;

typedef struct mem_lane {
    char name[PONS_NAME_MAX];
    mem_session **waiting; // what is pending, the last is the first to run
    size_t n, cap;
    mem_session *running;
    uint64_t epoch;
} mem_lane;

typedef struct mem_runner {
    char name[PONS_NAME_MAX];
    int64_t beats;
} mem_runner;

typedef struct mem {
    pthread_mutex_t mtx;
    uint64_t epoch;       // [mtx] of all threads: rises with each acquisition
    mem_thread **threads; // [mtx]
    size_t n_threads, cap_threads;
    mem_item **items; // [mtx] by namespace and key
    size_t n_items, cap_items;
    mem_session **sessions; // [mtx] in the order they came, which is that of seq
    size_t n_sessions, cap_sessions;
    int64_t last_seq;  // [mtx]
    map session_by_id; // [mtx]
    mem_lane **lanes;  // [mtx]
    size_t n_lanes, cap_lanes;
    mem_runner *runners; // [mtx]
    size_t n_runners, cap_runners;
} mem;

// ---- rows.c -------------------------------------------------------------------------------------

bool pons__mem_grow(void *array, size_t *cap, size_t need, size_t item); // *(T **)array
bool pons__mem_rows_reserve(rows *r, size_t more);
void pons__mem_rows_push(rows *r, row *x);
void pons__mem_rows_clear(rows *r);
void pons__mem_row_unref(row *x);
row *pons__mem_row_make(row_kind kind, const char *ns, const char *word, pons_bytes bytes);
int64_t pons__mem_row_bytes(const row *x);
bool pons__mem_map_reserve(map *m, size_t more);
bool pons__mem_map_get(const map *m, const char *key, size_t *ret);
void pons__mem_map_put(map *m, const char *key, size_t place);
void pons__mem_map_clear(map *m);
mem_thread *pons__mem_thread_find(mem *m, const char *name);
mem_thread *pons__mem_thread_make(mem *m, const char *name);
void pons__mem_thread_free(mem_thread *t);
void pons__mem_thread_remove(mem *m, mem_thread *t);
mem_ns *pons__mem_space_find(const mem_thread *t, const char *name);
mem_ns *pons__mem_space_make(mem_thread *t, const char *name);
group *pons__mem_group_find(const mem_ns *s, const char *checkpoint);
group *pons__mem_group_make(mem_ns *s, const char *checkpoint);
int pons__mem_no_memory(pons_error *err);

// ---- items.c; the lock is held ------------------------------------------------------------------

int pons__mem_items_stage(mem *m, const pons_item_write *items, size_t n, mem_item ***ret,
                          pons_error *err);
void pons__mem_items_apply(mem *m, const pons_item_write *items, size_t n, mem_item **list);
void pons__mem_items_unstage(mem_item **list, size_t n); // frees it; NULL-safe
void pons__mem_items_free(mem *m);

void pons__mem_lanes(void *self, pons_lanes *ret); // lanes.c
void pons__mem_lanes_free(mem *m);

// ---- the contract -------------------------------------------------------------------------------

void pons__mem_close(void *self);
int pons__mem_lease_acquire(void *self, const char *thread, pons_lease *ret, pons_error *err);
void pons__mem_lease_release(void *self, pons_lease *lease);
int pons__mem_lease_peek(void *self, const char *thread, pons_lease *ret, pons_error *err);
int pons__mem_commit(void *self, const pons_commit *c, pons_error *err);
int pons__mem_commit_async(void *self, const pons_commit *c, pons_error *err);
int pons__mem_drain(void *self, pons_error *err);
int pons__mem_head(void *self, const char *thread, const char *ns, pons_checkpoint_fn fn,
                   void *user, pons_error *err);
int pons__mem_checkpoint(void *self, const char *thread, const char *ns, const char *id,
                         pons_checkpoint_fn fn, void *user, pons_error *err);
int pons__mem_history(void *self, const char *thread, const char *ns, const char *before,
                      int64_t limit, pons_checkpoint_fn fn, void *user, pons_error *err);
int pons__mem_records(void *self, const char *thread, const char *ns, const char *checkpoint,
                      pons_record_fn fn, void *user, pons_error *err);
int pons__mem_namespaces(void *self, const char *thread, int (*fn)(void *user, const char *ns),
                         void *user, pons_error *err);
int pons__mem_inbox_post(void *self, const char *thread, const pons_inbox_row *in, int64_t *ret_seq,
                         pons_error *err);
int pons__mem_inbox_read(void *self, const char *thread, const char *ns, int64_t after,
                         pons_inbox_fn fn, void *user, pons_error *err);
int pons__mem_effect_get(void *self, const char *thread, const char *id, pons_effect_fn fn,
                         void *user, pons_error *err);
int pons__mem_effects(void *self, const char *thread, uint32_t state_mask, pons_effect_fn fn,
                      void *user, pons_error *err);
int pons__mem_events(void *self, const char *thread, int64_t after, int64_t limit, pons_event_fn fn,
                     void *user, pons_error *err);
int pons__mem_event_last(void *self, const char *thread, int64_t *ret_seq, pons_error *err);
int pons__mem_threads(void *self, pons_thread_fn fn, void *user, pons_error *err);
int pons__mem_thread_delete(void *self, const char *thread, pons_error *err);
int pons__mem_thread_copy(void *self, const char *from, const char *to, pons_error *err);
int pons__mem_prune(void *self, const char *thread, const pons_prune *what, pons_prune_result *ret,
                    pons_error *err);
int pons__mem_trim(void *self, pons_trim *what, pons_trim_result *ret, pons_error *err);
int pons__mem_thread_note(void *self, const char *thread, pons_bytes note, const pons_bytes *was,
                          pons_error *err);
int pons__mem_thread_list(void *self, const char *thread, bool sizes, pons_thread_fn fn, void *user,
                          pons_error *err);
int pons__mem_items_write(void *self, const pons_item_write *items, size_t n, pons_sync sync,
                          pons_error *err);
int pons__mem_item_get(void *self, const char *ns, const char *key, int64_t now_ms, pons_item_fn fn,
                       void *user, pons_error *err);
int pons__mem_items(void *self, const pons_item_find *find, pons_item_fn fn, void *user,
                    pons_error *err);
int pons__mem_item_spaces(void *self, int64_t now_ms, int (*fn)(void *user, const char *ns),
                          void *user, pons_error *err);
int pons__mem_items_sweep(void *self, int64_t now_ms, int64_t *ret_removed, pons_error *err);
int pons__mem_flush(void *self, const pons_lease *lease, pons_error *err);
