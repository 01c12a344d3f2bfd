// node_states.c - states of nodes, time and chance of a tree, and calls of its leaves.
#include "bt/core/node_states.h"

#include <string.h>

// ---- time and chance ----------------------------------------------------------------------------

int64_t pons__bt_now_ns(const pons_bt_tree *t)
{
    const int64_t now = t->paused ? t->paused_at_ns : pons_now_ns(&t->o.clock);
    return now - t->paused_total_ns + t->offset_ns;
}

double pons__bt_random(pons_bt_tree *t)
{
    const double r = t->o.random ? t->o.random(t->o.user) : pons_rand_unit(&t->rand);
    return r < 0 ? 0 : r >= 1 ? 0x1.fffffffffffffp-1 : r;
}

// ---- states -------------------------------------------------------------------------------------

const char *pons__bt_node_name(const pons__bt_node *n)
{
    return n->name ? n->name : n->id ? n->id : "";
}

void pons__bt_set_watched(pons_bt_tree *t, uint32_t i, pons_bt_status s)
{
    const pons_bt_status from = (pons_bt_status)t->state[i];
    t->state[i] = (uint8_t)s;
    if (from != s) {
        const pons_bt_change change = {i, pons__bt_node_name(&t->nodes[i]), from, s,
                                       pons__bt_now_ns(t)};
        t->o.on_change(t->o.user, &change);
    }
}

// Tells every action in [i, end) that runs.
static int halt_running(pons_bt_tree *t, uint32_t i, uint32_t end, pons_error *err)
{
    int rc = PONS_OK;
    while (i < end && rc >= 0) {
        const uint8_t *at = memchr(t->state + i, PONS_BT_RUNNING, end - i);
        if (!at) {
            break;
        }
        i = (uint32_t)(at - t->state);
        if (t->nodes[i].type == M_ACTION) {
            pons_bt_call call = {.reason = PONS_BT_HALT, .node = i};
            pons__bt_set(t, i, PONS_BT_READY);
            rc = pons__bt_call_leaf(t, i, &call, err);
        }
        i++;
    }
    return rc < 0 ? rc : PONS_OK;
}

int pons__bt_reset(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    const uint32_t end = t->nodes[i].end;
    const int rc = halt_running(t, i, end, err);
    if (t->watch) {
        for (uint32_t k = i; k < end; k++) {
            pons__bt_set_watched(t, k, PONS_BT_READY);
        }
    } else {
        memset(t->state + i, PONS_BT_READY, end - i);
    }
    if (t->any_deferred) {
        memset(t->defer + i, PONS__BT_DEFER_NONE, end - i);
    }
    return rc;
}

// ---- calls --------------------------------------------------------------------------------------

int pons__bt_call_failed(pons_bt_tree *t, uint32_t i, const pons__bt_call_def *def, int rc,
                         pons_error *err)
{
    t->failed = i;
    if (err && err->status == PONS_OK) {
        pons_error_set(err, rc, "bt", "function '%s' failed", def->name);
    }
    return rc;
}

int pons__bt_call(pons_bt_tree *t, uint32_t i, const pons__bt_call_def *def, pons_bt_call *call,
                  pons_error *err)
{
    const pons__bt_fn *f = &t->fns[def->fn];
    call->tree = t;
    call->name = def->name;
    call->priv = def;
    if (f->fn) {
        const int rc = f->fn(call, f->user, err);
        if (rc >= 0) {
            return rc;
        }
        return pons__bt_call_failed(t, i, def, rc, err);
    }
    if (call->reason == PONS_BT_HALT) {
        return PONS_OK;
    }
    static const char *const what[] = {[PONS_BT_GUARD] =
                                           "cannot evaluate node guard as the condition",
                                       [PONS_BT_ENTRY] = "cannot call entry function",
                                       [PONS_BT_STEP] = "cannot call step function",
                                       [PONS_BT_EXIT] = "cannot call exit function"};
    t->failed = i;
    return pons_error_set(
        err, PONS_ENOTFOUND, "bt", "%s '%s' function is not defined and has not been registered",
        what[call->reason]                ? what[call->reason]
        : t->nodes[i].type == M_CONDITION ? "cannot update condition node as the condition"
                                          : "cannot update action node as the action",
        def->name);
}
