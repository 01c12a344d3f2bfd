// node_states.h - what a node's state is, how it changes, and how a leaf is called.
#pragma once

#include "bt/core/tree.h"

int64_t pons__bt_now_ns(const pons_bt_tree *t); // without the time spent in pauses
double pons__bt_random(pons_bt_tree *t);
void pons__bt_set_watched(pons_bt_tree *t, uint32_t i, pons_bt_status s);
// MDSL: the subtree becomes READY. An action that still runs in it (its parents were resolved by a
// guard in mid-step) is halted, so that nothing goes on which nobody waits for.
int pons__bt_reset(pons_bt_tree *t, uint32_t i, pons_error *err);
int pons__bt_call_failed(pons_bt_tree *t, uint32_t i, const pons__bt_call_def *def, int rc,
                         pons_error *err);
int pons__bt_call(pons_bt_tree *t, uint32_t i, const pons__bt_call_def *def, pons_bt_call *call,
                  pons_error *err);
const char *pons__bt_node_name(const pons__bt_node *n); // borrowed; empty without one

static inline void pons__bt_set(pons_bt_tree *t, uint32_t i, pons_bt_status s)
{
    if (t->watch) {
        pons__bt_set_watched(t, i, s);
    } else {
        t->state[i] = (uint8_t)s;
    }
}

// The hot path of a leaf: pons__bt_call for when something is to be said.
static inline int pons__bt_call_leaf(pons_bt_tree *t, uint32_t i, pons_bt_call *call,
                                     pons_error *err)
{
    const pons__bt_node *n = &t->nodes[i];
    const pons__bt_fn *f = &t->fns[n->fn];
    call->tree = t;
    call->name = n->call->name;
    call->priv = n->call;
    if (__builtin_expect(f->fn != NULL, 1)) {
        const int rc = f->fn(call, f->user, err);
        if (__builtin_expect(rc >= 0, 1)) {
            return rc;
        }
        return pons__bt_call_failed(t, i, n->call, rc, err);
    }
    return pons__bt_call(t, i, n->call, call, err);
}
