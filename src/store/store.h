// store.h - what the stores of this folder share: checks of what a caller passes, time and
// the holder's name.
#pragma once

#include "pons/ext/store.h"

#define PONS__HOST_MAX 64 // pons_lease.host

// PONS_EINVAL, with the reason, for a name that is NULL, empty (threads only) or too long.
int pons__store_check_thread(const char *thread, pons_error *err);
int pons__store_check_ns(const char *ns, pons_error *err);
int pons__store_check_post(const char *thread, const pons_inbox_row *row, pons_error *err);
// The rows of a commit: terminated ids, names present, sane counts.
int pons__store_check_commit(const pons_commit *c, pons_error *err);

int64_t pons__store_wall_ms(void);
uint32_t pons__store_hash(const char *text); // FNV-1a: where a name is among those that are cached
void pons__store_host(char ret[PONS__HOST_MAX]);

// "PONS_ESTALE": the lease is not, or no longer, the one that may write.
int pons__store_stale(pons_error *err, const char *thread, uint64_t have, uint64_t now);
// "PONS_EBUSY": somebody holds the thread. pid 0: not known.
int pons__store_held(pons_error *err, const char *thread, int64_t pid, const char *host);

// "PONS_ENOTFOUND": a thread has no such checkpoint; id NULL: none in a namespace.
int pons__store_no_checkpoint(pons_error *err, const char *thread, const char *ns, const char *id);
// "PONS_EUNSUPPORTED": the store's schema is not the program's.
int pons__store_other_schema(pons_error *err, int version, int known);

// "PONS_EEXIST": there is such a thread.
int pons__store_exists(pons_error *err, const char *thread);

// The file's part of pons/store.h.
int pons__store_sqlite_backup(const char *path, const char *file, pons_error *err);
int pons__store_sqlite_open_read(const char *path, pons_store *ret, pons_error *err);

// ---- ids as bytes (id_bytes.c) ------------------------------------------------------------------

#define PONS__ID_PACKED_MAX 17

// 26 digits of Crockford's base 32 are 16 bytes, 32 hex digits 17 (a zero first). Returns how many,
// 0 for an id of another form.
size_t pons__id_pack(const char *id, uint8_t ret[PONS__ID_PACKED_MAX]);
// The id that n bytes stand for; "" when they stand for none or cap is too small.
void pons__id_unpack(const uint8_t *bytes, size_t n, char *ret, size_t cap);
// Wall clock of a time-sortable id in ms; 0 when it is none.
int64_t pons__id_wall_ms(const char *id);

// ---- items (items.c) ----------------------------------------------------------------------------

// PONS_EINVAL for a namespace or key that can't be one.
int pons__store_check_item(const char *ns, const char *key, pons_error *err);
int pons__store_check_items(const pons_item_write *items, size_t n, pons_error *err);
// Places of n writes by namespace and key; writes of one item stay in their order. The caller frees
// it; NULL: out of memory. So two that write the same items never wait for each other in a circle.
size_t *pons__items_order(const pons_item_write *items, size_t n);
int pons__item_not_found(pons_error *err, const char *ns, const char *key);
int pons__note_changed(pons_error *err, const char *thread);

// ---- lanes (session_lanes.c) --------------------------------------------------------------------

int pons__session_check(const pons_session_row *row, pons_error *err);
int pons__session_check_rows(const pons_session_row *rows, size_t n, pons_error *err);
int pons__session_check_end(const pons_session_end *end, pons_error *err);
int pons__session_check_reclaim(const char *gone, const char *runner, pons_error *err);
int pons__session_check_word(const char *word, const char *what, pons_error *err); // an id, a name
int pons__session_not_found(pons_error *err, const char *id);
int pons__session_exists(pons_error *err, const char *id);
int pons__session_stale(pons_error *err, const char *id);
int pons__session_fixed(pons_error *err, const char *id, int32_t state); // PONS_EREFUSED
int pons__session_none(pons_error *err);                                 // nothing to claim
int pons__session_alive(pons_error *err, const char *runner);
int pons__session_check_trim(const pons_session_trim *what, pons_error *err);
// Sessions up to these have come so early that they go: *ret_failed if they failed, *ret if not.
void pons__session_cuts(const pons_session_trim *what, int64_t newest, int64_t *ret,
                        int64_t *ret_failed);
bool pons__session_wanted(const pons_session_claim *how, const char *lane);

// ---- copies (commit_copy.c) ---------------------------------------------------------------------

// A commit and all that it refers to, in one block that begins with `head` bytes of zeros for the
// caller; without the lease. NULL: out of memory. Free it with free().
void *pons__commit_copy(const pons_commit *c, size_t head, pons_commit **ret, size_t *ret_bytes);

// ---- pruning (prune.c) --------------------------------------------------------------------------

// A checkpoint of one namespace as the plan sees it; in the order of commits.
typedef struct prune_row {
    int64_t key;    // rising
    int64_t parent; // key, or 0: none, or not there
    int64_t wall_ms;
    bool snapshot;
    bool keep; // the plan
} prune_row;

typedef struct prune_rows {
    prune_row *at;
    size_t n, cap;
} prune_rows;

int pons__prune_check(const char *thread, const pons_prune *what, pons_error *err);
bool pons__prune_push(prune_rows *rows, const prune_row *row); // false: out of memory
// Marks what stays; returns how many go.
size_t pons__prune_plan(prune_rows *rows, const pons_prune *what);
// The row of a key, or NULL.
prune_row *pons__prune_find(const prune_rows *rows, int64_t key);

#define PONS__PRUNED_JSON "{\"pruned\":true}" // the payload of an event that lost its own

int pons__trim_check(const pons_trim *what, pons_error *err);
// Whether a name is among those, where a '*' stands for the rest. NULL: none.
bool pons__trim_names(const char *const *names, const char *name);
int pons__trim_lost(const pons_trim *what, pons_error *err); // there is no checkpoint `before`
