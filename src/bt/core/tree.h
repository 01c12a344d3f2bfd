// tree.h - a tree at work: arrays beside its definition. One thread at a time may use it.
#pragma once

#include "bt/core/definition.h"
#include "pons/random.h"

typedef struct pons__bt_mem { // of a node; what they mean depends on its type
    int32_t index;
    int32_t count;
    int64_t t_ns; // a moment, or a sequence number
    double x;
} pons__bt_mem;

typedef struct pons__bt_fn {
    pons_bt_leaf_fn fn;
    void *user;
} pons__bt_fn;

enum {
    PONS__BT_DEFER_NONE,
    PONS__BT_DEFER_WAITING,
    PONS__BT_DEFER_SUCCESS,
    PONS__BT_DEFER_FAILURE
};

struct pons_bt_tree {
    uint8_t *state; // (n_nodes) pons_bt_status
    const pons__bt_hot *hot;
    const pons__bt_node *nodes;
    const uint32_t *kids;
    pons__bt_fn *fns; // (n_names)
    // XML: ticks a node, for the nodes that tick their children (xml/tick.c has the function).
    int (*tick)(struct pons_bt_tree *t, uint32_t i, pons_error *err);
    pons__bt_mem *mem;
    bool watch;  // on_change is set
    bool hooked; // hook is
    bool any_deferred;
    bool slow; // one of them: not the short way
    bool wake;
    bool ticking, paused;
    bool unwind_succeed;
    uint32_t failed; // the node whose call or script failed last
    uint32_t unwind; // the guarded node that an unwinding ends at
    uint8_t *defer;  // (n_nodes)
    uint64_t *run;   // (n_nodes) of the deferred run
    uint64_t next_run;
    uint64_t epoch; // runs of the root
    pons__bt_slot *slots;
    uint32_t n_slots, n_extra;
    struct pons__bt_extra { // keys that only the program knows
        char *key;
        pons__bt_slot slot;
    } *extra;
    int64_t paused_at_ns, paused_total_ns, offset_ns;
    pons_rand rand;
    pons_bt *bt;
    pons_bt_tree_options o;
};

int pons__bt_arrays(pons_bt_tree *t);      // allocates them
void pons__bt_free_state(pons_bt_tree *t); // the arrays beside the definition
pons__bt_slot *pons__bt_extra_slot(pons_bt_tree *t,
                                   const char *key); // made when new; NULL: no memory
int pons__bt_slot_write(pons_bt_tree *t, int32_t slot, const pons__bt_value *v,
                        pons_error *err); // copies v
