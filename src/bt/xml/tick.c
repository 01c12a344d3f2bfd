// tick.c - one tick of a BehaviorTree.CPP v4 tree.
//
// pons__bt_tick_xml is "execute": preconditions, the node's own tick, postconditions, the state. A
// node's own tick returns a status; SKIPPED goes to the parent and is not stored, so a composite
// that was skipped half-way stays RUNNING until its parent resets it, as there. Parents reset the
// children of what completes: a RUNNING one is halted on the way.
//
// What a tree does most (sequences, fallbacks, leaves) is here; control_nodes.c, decorator_nodes.c and nav2_nodes.c
// have the other nodes, and tick their children through the tree's `tick`, which is
// pons__bt_tick_xml.
#include "bt/xml/tick.h"

#include "bt/core/node_states.h"
#include "bt/xml/halt.h"
#include "bt/xml/nodes.h"
#include "bt/xml/port_values.h"

#include <string.h>

// ---- leaves -------------------------------------------------------------------------------------

// What an action's function returned.
static int answered(pons_bt_tree *t, uint32_t i, int s, bool deferred, pons_error *err)
{
    const char *name = t->nodes[i].call->name;
    if (s < 0) {
        return pons__bt_call_failed(t, i, t->nodes[i].call, s, err);
    }
    if (s == PONS_BT_RUNNING && deferred) {
        t->any_deferred = t->slow = true;
        t->defer[i] = PONS__BT_DEFER_WAITING;
        t->run[i] = t->next_run++;
    }
    if (s == PONS_BT_READY || s > PONS_BT_SKIPPED) {
        t->failed = i;
        return pons_error_set(err, PONS_EINVAL, "bt", "action '%s' returned IDLE", name);
    }
    return s;
}

// What a condition's function returned.
static int x_said(pons_bt_tree *t, uint32_t i, int s, pons_error *err)
{
    if (s < 0 || pons__bt_completed(s) || s == PONS_BT_SKIPPED) {
        return s;
    }
    t->failed = i;
    return pons_error_set(err, PONS_EINVAL, "bt",
                          "condition '%s' returned neither SUCCESS nor FAILURE",
                          t->nodes[i].call->name);
}

// The two of a leaf that was called without pons__bt_tick_xml.
static int entered(pons_bt_tree *t, uint32_t i, int s, bool deferred, pons_error *err)
{
    s = answered(t, i, s, deferred, err);
    if (s > 0 && s != PONS_BT_SKIPPED) {
        pons__bt_set(t, i, (pons_bt_status)s);
    }
    return s;
}

static int x_asked(pons_bt_tree *t, uint32_t i, int s, pons_error *err)
{
    s = s < 0 ? pons__bt_call_failed(t, i, t->nodes[i].call, s, err) : x_said(t, i, s, err);
    if (s > 0 && s != PONS_BT_SKIPPED) {
        pons__bt_set(t, i, (pons_bt_status)s);
    }
    return s;
}

static int x_action(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    if (pons__bt_completed(t->state[i])) {
        return t->state[i];
    }
    if (t->defer[i] != PONS__BT_DEFER_NONE && t->state[i] == PONS_BT_RUNNING) {
        const int s = t->defer[i] == PONS__BT_DEFER_WAITING   ? PONS_BT_RUNNING
                      : t->defer[i] == PONS__BT_DEFER_SUCCESS ? PONS_BT_SUCCESS
                                                              : PONS_BT_FAILURE;
        t->defer[i] = s == PONS_BT_RUNNING ? PONS__BT_DEFER_WAITING : PONS__BT_DEFER_NONE;
        return s;
    }
    pons_bt_call call = {.node = i,
                         .reason = t->state[i] == PONS_BT_READY ? PONS_BT_START : PONS_BT_CONTINUE,
                         .run = t->next_run};
    const int s = pons__bt_call_leaf(t, i, &call, err);
    return s < 0 ? s : answered(t, i, s, call.deferred, err);
}

static int x_condition(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    pons_bt_call call = {.node = i, .reason = PONS_BT_START};
    return x_said(t, i, pons__bt_call_leaf(t, i, &call, err), err);
}

static int x_set_blackboard(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    pons__bt_value v;
    if (pons__bt_input(t, i, "value", &v) < 0) {
        return PONS_BT_FAILURE; // from an entry that is empty
    }
    int rc = pons__bt_value_own(&v);
    rc = rc < 0 ? rc : pons__bt_output(t, i, "output_key", &v, err);
    pons__bt_value_fini(&v);
    return rc < 0 ? rc : PONS_BT_SUCCESS;
}

static int x_unset_blackboard(pons_bt_tree *t, uint32_t i)
{
    const pons__bt_port *p = pons__bt_port_of(&t->nodes[i], "key");
    if (p && p->slot != PONS__BT_NONE) {
        pons__bt_slot *s = &t->slots[p->slot];
        pons__bt_value_fini(&s->v);
        s->exists = s->fixed = false;
        s->kind = PONS__BT_EMPTY;
        s->seq++;
    }
    return PONS_BT_SUCCESS;
}

static int x_script(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    const int rc = pons__bt_run_script(t, i, t->nodes[i].script, err);
    return rc < 0 ? rc : PONS_BT_SUCCESS;
}

static int x_script_condition(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    const int yes = pons__bt_ask_script(t, i, t->nodes[i].script, err);
    return yes < 0 ? yes : yes ? PONS_BT_SUCCESS : PONS_BT_FAILURE;
}

// ---- sequences and fallbacks --------------------------------------------------------------------

static bool asynchronous(uint8_t type)
{
    return type == X_ASYNC_SEQUENCE || type == X_ASYNC_FALLBACK || type == X_SEQUENCE_MEMORY;
}

// A failure leaves the index; only the children from there on are reset.
static int memory_failed(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    int rc = PONS_OK;
    for (uint32_t k = (uint32_t)t->mem[i].index; k < t->nodes[i].n_kids && rc >= 0; k++) {
        rc = pons__bt_halt_child(t, pons__bt_kid(t, i, k), err);
    }
    return rc < 0 ? rc : PONS_BT_FAILURE;
}

// Children from m->index on, all of them leaves without conditions, as long as they are entered and
// answer with go_on: most of what a tree does. What comes next is for the general way. READY, or an
// error.
__attribute__((noinline)) static int plain_in_order(pons_bt_tree *t, uint32_t i, int go_on,
                                                    pons_error *err)
{
    pons__bt_mem *m = &t->mem[i];
    const uint32_t end = i + 1 + t->hot[i].n_kids;
    uint32_t c = i + 1 + (uint32_t)m->index;
    const pons__bt_hot *h = &t->hot[c];
    const pons__bt_fn *const fns = t->fns;
    uint8_t *const state = t->state;
    pons_bt_call call = {.tree = t, .run = t->next_run};
    for (; c < end && state[c] == PONS_BT_READY; c++, h++) {
        const pons__bt_fn *f = &fns[h->fn];
        call.node = c;
        call.name = h->name;
        call.priv = h->call;
        const int s = f->fn(&call, f->user, err);
        if (__builtin_expect(s != go_on || call.deferred, 0)) {
            m->index = (int32_t)(c - i - 1);
            return h->type == X_ACTION ? entered(t, c, s, call.deferred, err)
                                       : x_asked(t, c, s, err);
        }
        state[c] = (uint8_t)s;
    }
    m->index = (int32_t)(c - i - 1);
    return PONS_BT_READY;
}

// Sequence goes on after SUCCESS and ends with FAILURE; Fallback the other way round. index: the
// child whose turn it is; count: how many were skipped.
static int x_in_order(pons_bt_tree *t, uint32_t i, int go_on, pons_error *err)
{
    const pons__bt_hot *n = &t->hot[i];
    const uint32_t *kids = &t->kids[n->kids];
    const bool pauses = asynchronous(n->type);
    pons__bt_mem *m = &t->mem[i];
    if (t->state[i] != PONS_BT_RUNNING) {
        m->count = 0;
    }
    pons__bt_set(t, i, PONS_BT_RUNNING);
    while ((uint32_t)m->index < n->n_kids) {
        const uint8_t was = t->state[kids[m->index]];
        int s = PONS_BT_READY;
        if (n->all & PONS__BT_PLAIN && was == PONS_BT_READY && !t->slow && !pauses) {
            s = plain_in_order(t, i, go_on, err);
            if ((uint32_t)m->index == n->n_kids) { // none of them runs, nothing is below them
                memset(t->state + i + 1, PONS_BT_READY, n->n_kids);
                m->index = m->count = 0;
                return go_on;
            }
        }
        s = s == PONS_BT_READY ? pons__bt_tick_xml(t, kids[m->index], err) : s;
        if (s < 0 || s == PONS_BT_RUNNING) {
            return s;
        }
        if (s == PONS_BT_SKIPPED) {
            m->count++;
        } else if (s != go_on) {
            return n->type == X_SEQUENCE_MEMORY ? memory_failed(t, i, err)
                                                : pons__bt_end_with(t, i, s, err);
        }
        m->index++;
        if (s == go_on && pauses && was == PONS_BT_READY && (uint32_t)m->index < n->n_kids) {
            t->wake = true;
            return PONS_BT_RUNNING;
        }
    }
    return pons__bt_end_with(t, i, (uint32_t)m->count == n->n_kids ? PONS_BT_SKIPPED : go_on, err);
}

static int x_reactive(pons_bt_tree *t, uint32_t i, int go_on, pons_error *err)
{
    const pons__bt_node *n = &t->nodes[i];
    bool all_skipped = true;
    pons__bt_set(t, i, PONS_BT_RUNNING);
    for (uint32_t k = 0; k < n->n_kids; k++) {
        const int s = pons__bt_tick_xml(t, pons__bt_kid(t, i, k), err);
        int rc = PONS_OK;
        if (s < 0) {
            return s;
        }
        all_skipped &= s == PONS_BT_SKIPPED;
        if (s == PONS_BT_RUNNING) {
            for (uint32_t j = 0; j < n->n_kids && rc >= 0; j++) {
                rc = j != k ? pons__bt_halt_child(t, pons__bt_kid(t, i, j), err) : PONS_OK;
            }
            return rc < 0 ? rc : s;
        }
        if (s == PONS_BT_SKIPPED) {
            rc = pons__bt_halt_child(t, pons__bt_kid(t, i, k), err);
        } else if (s != go_on) {
            return pons__bt_end_with(t, i, s, err);
        }
        if (rc < 0) {
            return rc;
        }
    }
    return pons__bt_end_with(t, i, all_skipped ? PONS_BT_SKIPPED : go_on, err);
}

static int x_subtree(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    if (t->state[i] == PONS_BT_READY) {
        pons__bt_set(t, i, PONS_BT_RUNNING);
    }
    const int s = pons__bt_tick_xml(t, i + 1, err);
    return pons__bt_completed(s) ? pons__bt_end_with(t, i, s, err) : s;
}

// ---- which --------------------------------------------------------------------------------------

static int x_other(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    const pons__bt_type type = (pons__bt_type)t->hot[i].type;
    if (type >= X_PARALLEL && type <= X_TRY_CATCH) {
        return pons__bt_tick_control(t, i, err);
    }
    if ((type >= X_INVERTER && type <= X_WAIT_VALUE_UPDATE) || type == X_SLEEP ||
        type == X_WAS_ENTRY_UPDATED) {
        return pons__bt_tick_decorator(t, i, err);
    }
    return pons__bt_tick_nav2(t, i, err);
}

static int x_tick(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    switch ((pons__bt_type)t->hot[i].type) {
    case X_ACTION:
        return x_action(t, i, err);
    case X_CONDITION:
        return x_condition(t, i, err);
    case X_SEQUENCE:
    case X_ASYNC_SEQUENCE:
    case X_SEQUENCE_MEMORY:
        return x_in_order(t, i, PONS_BT_SUCCESS, err);
    case X_FALLBACK:
    case X_ASYNC_FALLBACK:
        return x_in_order(t, i, PONS_BT_FAILURE, err);
    case X_REACTIVE_SEQUENCE:
        return x_reactive(t, i, PONS_BT_SUCCESS, err);
    case X_REACTIVE_FALLBACK:
        return x_reactive(t, i, PONS_BT_FAILURE, err);
    case X_SUBTREE:
        return x_subtree(t, i, err);
    case X_SCRIPT:
        return x_script(t, i, err);
    case X_SCRIPT_CONDITION:
        return x_script_condition(t, i, err);
    case X_ALWAYS_SUCCESS:
        return PONS_BT_SUCCESS;
    case X_ALWAYS_FAILURE:
        return PONS_BT_FAILURE;
    case X_SET_BLACKBOARD:
        return x_set_blackboard(t, i, err);
    case X_UNSET_BLACKBOARD:
        return x_unset_blackboard(t, i);
    default:
        return x_other(t, i, err);
    }
}

// ---- public functions ---------------------------------------------------------------------------

// READY when there is nothing against a tick.
static int before(pons_bt_tree *t, uint32_t i, const pons__bt_conds *c, pons_error *err)
{
    static const pons_bt_status gives[] = {PONS_BT_FAILURE, PONS_BT_SUCCESS, PONS_BT_SKIPPED};
    const bool idle = t->state[i] == PONS_BT_READY;
    for (int k = 0; k < PONS__BT_WHILE && idle; k++) {
        const int yes = c->pre[k] ? pons__bt_ask_script(t, i, c->pre[k], err) : 0;
        if (yes != 0) {
            return yes < 0 ? yes : (int)gives[k];
        }
    }
    if (!c->pre[PONS__BT_WHILE] || (!idle && t->state[i] != PONS_BT_RUNNING)) {
        return PONS_BT_READY;
    }
    const int yes = pons__bt_ask_script(t, i, c->pre[PONS__BT_WHILE], err);
    if (yes != 0) {
        return yes < 0 ? yes : PONS_BT_READY;
    }
    const int rc = idle ? PONS_OK : pons__bt_halt_xml(t, i, err);
    return rc < 0 ? rc : PONS_BT_SKIPPED;
}

// A node's own tick, or what a monitor wants instead.
static int own_tick(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    if (t->hooked && !pons__bt_completed(t->state[i])) {
        const int s = (int)t->o.hook(t->o.user, i, false);
        if (pons__bt_completed(s)) {
            return s;
        }
    }
    return x_tick(t, i, err);
}

static int with_conditions(pons_bt_tree *t, uint32_t i, const pons__bt_conds *c, pons_error *err)
{
    int s = c ? before(t, i, c, err) : PONS_BT_READY;
    s = s == PONS_BT_READY ? own_tick(t, i, err) : s;
    if (c && pons__bt_completed(s)) {
        int rc = pons__bt_run_script(
            t, i, c->post[s == PONS_BT_SUCCESS ? PONS__BT_ON_SUCCESS : PONS__BT_ON_FAILURE], err);
        rc = rc < 0 ? rc : pons__bt_run_script(t, i, c->post[PONS__BT_POST], err);
        s = rc < 0 ? rc : s;
    }
    if (t->hooked && s >= 0) {
        const int wanted = (int)t->o.hook(t->o.user, i, true);
        s = pons__bt_completed(wanted) ? wanted : s;
    }
    return s;
}

int pons__bt_tick_xml(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    const int s = __builtin_expect(t->hot[i].has_more || t->hooked, 0)
                      ? with_conditions(t, i, t->nodes[i].conds, err)
                      : x_tick(t, i, err);
    if (s > 0 && s != PONS_BT_SKIPPED) {
        pons__bt_set(t, i, (pons_bt_status)s);
    }
    return s;
}
