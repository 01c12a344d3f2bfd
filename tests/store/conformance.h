// conformance.h - the suite that every store passes.
#ifndef PONS_TEST_CONFORMANCE_H
#define PONS_TEST_CONFORMANCE_H

#include "pons/ext/store.h"

// How the suite gets a new, empty store; each test opens one and closes it.
typedef struct conformance_backend {
    const char *name;
    int (*open)(pons_store *ret, pons_error *err);
    void (*clean)(void); // after the store was closed; may be NULL
    bool gives_back;     // pruning makes it smaller at once
} conformance_backend;

// Runs the suite; returns how many tests failed.
int conformance_run(const conformance_backend *backend);
int conformance_items_run(const conformance_backend *backend); // of it, what is of items and notes
int conformance_lanes_run(const conformance_backend *backend); // … of sessions in lanes

// ---- for other tests of stores ------------------------------------------------------------------

// Everything that a store shows of a thread, as text: equal stores give equal texts. The caller
// frees it.
char *store_text(pons_store s, const char *thread);

// Seeded operations on threads "t0".."t3", applied to two stores: both must answer the same.
void store_twins(pons_store a, pons_store b, uint64_t seed, int steps);

pons_bytes bytes_of(const char *text);
// A commit of one checkpoint under a lease.
int commit_one(pons_store s, const pons_lease *lease, const char *ns, const char *id,
               const char *parent, int64_t step, bool snapshot, const char *data, pons_error *err);

#endif
