// tick.c - one step of a mistreevous tree.
//
//     READY --entry--> RUNNING --+--> SUCCEEDED --+  exit(true,  false)
//       ^                |       |                |
//       |                |       +--> FAILED -----+  exit(false, false)
//       |                |                        |
//       +--- abort: children first, ---+          |
//       |    then exit(false, true)               |
//       +--- reset of the whole tree <------------+
//
// A resolved node is not updated again before the tree is reset. Before a node's turn every guard
// from the root down to it is asked; a failing one unwinds the recursion (PONS__BT_UNWIND) to the
// node that has it, which is aborted there.
#include "bt/mdsl/tick.h"

#include "bt/core/node_states.h"

#include <math.h>

enum { PONS__BT_UNWIND = 100 }; // of m_update: a guard failed further out

// ---- nodes --------------------------------------------------------------------------------------

// What an action's function returned.
static int m_answered(pons_bt_tree *t, uint32_t i, int rc, bool deferred, pons_error *err)
{
    const char *name = t->nodes[i].call->name;
    if (rc < 0) {
        return pons__bt_call_failed(t, i, t->nodes[i].call, rc, err);
    }
    if (rc < PONS_BT_RUNNING || rc > PONS_BT_FAILURE) {
        t->failed = i;
        return pons_error_set(err, PONS_EINVAL, "bt",
                              "expected action function '%s' to return running, succeeded or "
                              "failed but it returned %d",
                              name, rc);
    }
    if (deferred && rc == PONS_BT_RUNNING) {
        t->any_deferred = t->slow = true;
        t->defer[i] = PONS__BT_DEFER_WAITING;
        t->run[i] = t->next_run++;
    }
    pons__bt_set(t, i, (pons_bt_status)rc);
    return PONS_OK;
}

// What a condition's or a guard's function returned.
static int m_asked(pons_bt_tree *t, uint32_t i, const pons__bt_call_def *def, int said,
                   pons_bt_reason reason, pons_error *err)
{
    if (said == PONS_BT_SUCCESS || said == PONS_BT_FAILURE) {
        return said;
    }
    if (said < 0) {
        return pons__bt_call_failed(t, i, def, said, err);
    }
    t->failed = i;
    return pons_error_set(err, PONS_EINVAL, "bt",
                          "expected %scondition function '%s' to return a boolean",
                          reason == PONS_BT_GUARD ? "guard " : "", def->name);
}

// A leaf that did not simply say how it ended: a later result, an error, a wrong answer.
static int m_odd_answer(pons_bt_tree *t, uint32_t i, int said, pons_bt_call *call, pons_error *err)
{
    const pons__bt_hot *h = &t->hot[i];
    if (h->plain != PONS_BT_RUNNING) {
        return m_asked(t, i, h->call, said, PONS_BT_START, err);
    }
    const int rc = m_answered(t, i, said, call->deferred, err);
    call->deferred = false;
    call->run = t->next_run;
    return rc;
}

// sequence and selector: `go_on` is the state of a child that leads to the next one. All children
// are leaves without guards and callbacks, which is most of what a tree does.
__attribute__((noinline)) static int m_plain_in_order(pons_bt_tree *t, uint32_t i, int go_on,
                                                      pons_error *err)
{
    const uint32_t end = i + 1 + t->hot[i].n_kids;
    const pons__bt_hot *h = &t->hot[i + 1];
    const pons__bt_fn *const fns = t->fns;
    uint8_t *const state = t->state;
    pons_bt_call call = {.tree = t, .run = t->next_run};
    for (uint32_t c = i + 1; c < end; c++, h++) {
        const pons__bt_fn *f = &fns[h->fn];
        int s = state[c];
        if (s < PONS_BT_SUCCESS) {
            call.node = c;
            call.reason = (uint8_t)s; // READY: START, RUNNING: CONTINUE
            call.name = h->name;
            call.priv = h->call;
            s = f->fn ? f->fn(&call, f->user, err) : pons__bt_call(t, c, h->call, &call, err);
            if (__builtin_expect(s < h->plain || s > PONS_BT_FAILURE || call.deferred, 0)) {
                const int rc = m_odd_answer(t, c, s, &call, err);
                if (rc < 0) {
                    return rc;
                }
                s = state[c];
            }
            state[c] = (uint8_t)s;
        }
        if (s != go_on) {
            state[i] = (uint8_t)s;
            return PONS_OK;
        }
    }
    state[i] = (uint8_t)go_on;
    return PONS_OK;
}

static int m_update(pons_bt_tree *t, uint32_t i, pons_error *err);

static int m_in_order(pons_bt_tree *t, uint32_t i, pons_bt_status go_on, pons_error *err)
{
    const pons__bt_hot *n = &t->hot[i];
    const uint32_t *kid = &t->kids[n->kids];
    if (n->all & PONS__BT_PLAIN && !t->slow) {
        return m_plain_in_order(t, i, (int)go_on, err);
    }
    for (uint32_t k = 0; k < n->n_kids; k++) {
        const uint8_t *state = &t->state[kid[k]];
        const int rc = *state < PONS_BT_SUCCESS ? m_update(t, kid[k], err) : PONS_OK;
        if (rc != PONS_OK) {
            return rc;
        }
        if (*state != go_on) {
            pons__bt_set(t, i, (pons_bt_status)*state);
            return PONS_OK;
        }
    }
    pons__bt_set(t, i, go_on);
    return PONS_OK;
}

// parallel, race, all: every child is updated before anything is decided.
static int m_together(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    const pons__bt_node *n = &t->nodes[i];
    const uint32_t *kid = &t->kids[n->kids];
    uint32_t good = 0, bad = 0;
    for (uint32_t k = 0; k < n->n_kids; k++) {
        const int rc = m_update(t, kid[k], err);
        if (rc != PONS_OK) {
            return rc;
        }
        good += t->state[kid[k]] == PONS_BT_SUCCESS;
        bad += t->state[kid[k]] == PONS_BT_FAILURE;
    }
    pons_bt_status s = PONS_BT_RUNNING;
    if (n->type == M_ALL) {
        s = good + bad < n->n_kids ? s : good > 0 ? PONS_BT_SUCCESS : PONS_BT_FAILURE;
    } else if (n->type == M_PARALLEL) {
        s = bad > 0 ? PONS_BT_FAILURE : good == n->n_kids ? PONS_BT_SUCCESS : s;
    } else {
        s = good > 0 ? PONS_BT_SUCCESS : bad == n->n_kids ? PONS_BT_FAILURE : s;
    }
    pons__bt_set(t, i, s);
    for (uint32_t k = 0; s != PONS_BT_RUNNING && k < n->n_kids; k++) {
        const int rc = pons__bt_abort_mdsl(t, kid[k], err);
        if (rc < 0) {
            return rc;
        }
    }
    return PONS_OK;
}

static int64_t m_draw(pons_bt_tree *t, const pons__bt_node *n)
{
    if (!n->drawn) {
        return n->low;
    }
    return n->low + (int64_t)floor(pons__bt_random(t) * (double)(n->high - n->low + 1));
}

static int m_lotto(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    const pons__bt_node *n = &t->nodes[i];
    if (t->state[i] == PONS_BT_READY) {
        int64_t total = 0;
        for (uint32_t k = 0; k < n->n_kids; k++) {
            total += n->weights && n->weights[k] > 0 ? n->weights[k] : 1;
        }
        int64_t ticket = (int64_t)floor(pons__bt_random(t) * (double)total);
        uint32_t k = 0;
        for (; k + 1 < n->n_kids; k++) {
            const int64_t w = n->weights && n->weights[k] > 0 ? n->weights[k] : 1;
            if (ticket < w) {
                break;
            }
            ticket -= w;
        }
        t->mem[i].index = (int32_t)k;
    }
    const uint32_t c = t->kids[n->kids + (uint32_t)t->mem[i].index];
    const int rc = m_update(t, c, err);
    if (rc != PONS_OK) {
        return rc;
    }
    pons__bt_set(t, i, (pons_bt_status)t->state[c]);
    return PONS_OK;
}

// repeat runs again what succeeded and ends with a failure, retry the other way round.
static int m_again(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    const pons__bt_node *n = &t->nodes[i];
    const uint32_t c = i + 1;
    const pons_bt_status again = n->type == M_REPEAT ? PONS_BT_SUCCESS : PONS_BT_FAILURE;
    const pons_bt_status over = n->type == M_REPEAT ? PONS_BT_FAILURE : PONS_BT_SUCCESS;
    pons__bt_mem *m = &t->mem[i];
    if (t->state[i] == PONS_BT_READY) {
        const int rc = pons__bt_reset(t, c, err);
        if (rc < 0) {
            return rc;
        }
        m->count = 0;
        m->t_ns = m_draw(t, n);
    }
    if (m->t_ns >= 0 && m->count >= m->t_ns) {
        pons__bt_set(t, i, again);
        return PONS_OK;
    }
    pons__bt_set(t, i, PONS_BT_RUNNING);
    int rc = t->state[c] == again ? pons__bt_reset(t, c, err) : PONS_OK;
    rc = rc < 0 ? rc : m_update(t, c, err);
    if (rc != PONS_OK) {
        return rc;
    }
    if (t->state[c] == over) {
        pons__bt_set(t, i, over);
    } else if (t->state[c] == again) {
        m->count += m->t_ns >= 0; // the last one is found out at the next step
    }
    return PONS_OK;
}

static int m_decorate(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    const uint32_t c = i + 1;
    const int rc = m_update(t, c, err);
    if (rc != PONS_OK) {
        return rc;
    }
    pons_bt_status s = (pons_bt_status)t->state[c];
    const uint8_t type = t->nodes[i].type;
    if (s >= PONS_BT_SUCCESS && type != M_ROOT) {
        s = type == M_SUCCEED      ? PONS_BT_SUCCESS
            : type == M_FAIL       ? PONS_BT_FAILURE
            : s == PONS_BT_SUCCESS ? PONS_BT_FAILURE
                                   : PONS_BT_SUCCESS;
    }
    pons__bt_set(t, i, s);
    return PONS_OK;
}

static int m_wait(pons_bt_tree *t, uint32_t i)
{
    const pons__bt_node *n = &t->nodes[i];
    pons__bt_mem *m = &t->mem[i];
    if (t->state[i] == PONS_BT_READY) {
        m->t_ns = pons__bt_now_ns(t);
        m->x = (double)m_draw(t, n); // [ms] still to wait; with delta_ms it is counted down
        pons__bt_set(t, i, PONS_BT_RUNNING);
    }
    if (n->low < 0) {
        return PONS_OK;
    }
    double waited_ms = (double)(pons__bt_now_ns(t) - m->t_ns) / (double)PONS_NS_PER_MS;
    if (t->o.delta_ms) {
        m->x -= t->o.delta_ms(t->o.user);
        waited_ms = 0;
    }
    if (waited_ms >= m->x) {
        pons__bt_set(t, i, PONS_BT_SUCCESS);
    }
    return PONS_OK;
}

static int m_action(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    if (t->any_deferred && t->defer[i] != PONS__BT_DEFER_NONE) {
        if (t->defer[i] != PONS__BT_DEFER_WAITING) {
            pons__bt_set(t, i,
                         t->defer[i] == PONS__BT_DEFER_SUCCESS ? PONS_BT_SUCCESS : PONS_BT_FAILURE);
        }
        return PONS_OK;
    }
    pons_bt_call call = {.node = i,
                         .reason = t->state[i] == PONS_BT_READY ? PONS_BT_START : PONS_BT_CONTINUE,
                         .run = t->next_run};
    const int rc = pons__bt_call_leaf(t, i, &call, err);
    return rc < 0 ? rc : m_answered(t, i, rc, call.deferred, err);
}

static int m_ask(pons_bt_tree *t, uint32_t i, const pons__bt_call_def *def, pons_bt_reason reason,
                 pons_error *err)
{
    pons_bt_call call = {.node = i, .reason = (uint8_t)reason};
    return m_asked(t, i, def, pons__bt_call(t, i, def, &call, err), reason, err);
}

static int m_condition(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    const int rc = m_ask(t, i, t->nodes[i].call, PONS_BT_START, err);
    if (rc < 0) {
        return rc;
    }
    pons__bt_set(t, i, (pons_bt_status)rc);
    return PONS_OK;
}

static int m_work(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    switch ((pons__bt_type)t->hot[i].type) {
    case M_SEQUENCE:
        return m_in_order(t, i, PONS_BT_SUCCESS, err);
    case M_SELECTOR:
        return m_in_order(t, i, PONS_BT_FAILURE, err);
    case M_PARALLEL:
    case M_RACE:
    case M_ALL:
        return m_together(t, i, err);
    case M_LOTTO:
        return m_lotto(t, i, err);
    case M_REPEAT:
    case M_RETRY:
        return m_again(t, i, err);
    case M_ACTION:
        return m_action(t, i, err);
    case M_CONDITION:
        return m_condition(t, i, err);
    case M_WAIT:
        return m_wait(t, i);
    default:
        return m_decorate(t, i, err);
    }
}

// ---- guards and callbacks -----------------------------------------------------------------------

// From the root down; PONS__BT_UNWIND when one says no. An error that a guard ran into is that of
// the node whose turn it was, as i says.
static int m_guards(pons_bt_tree *t, uint32_t i, const pons__bt_guard *g, pons_error *err)
{
    if (g->outer) {
        const int rc = m_guards(t, i, g->outer, err);
        if (rc != PONS_OK) {
            return rc;
        }
    }
    for (int k = AT_WHILE; k <= AT_UNTIL; k++) {
        if (!g->on[k]) {
            continue;
        }
        const int rc = m_ask(t, i, g->on[k], PONS_BT_GUARD, err);
        if (rc < 0) {
            return rc;
        }
        if ((rc == PONS_BT_SUCCESS) != (k == AT_WHILE)) {
            t->unwind = g->node;
            t->unwind_succeed = g->succeed[k];
            return PONS__BT_UNWIND;
        }
    }
    return PONS_OK;
}

static int m_callback(pons_bt_tree *t, uint32_t i, const pons__bt_call_def *def,
                      pons_bt_reason reason, bool succeeded, bool aborted, pons_error *err)
{
    pons_bt_call call = {
        .node = i, .reason = (uint8_t)reason, .succeeded = succeeded, .aborted = aborted};
    const int rc = pons__bt_call(t, i, def, &call, err);
    return rc < 0 ? rc : PONS_OK;
}

// ---- public functions ---------------------------------------------------------------------------

// What a guard's failure does at the node that has it.
static int m_unwound(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    const bool succeed = t->unwind_succeed;
    const int rc = pons__bt_abort_mdsl(t, i, err);
    if (rc < 0) {
        return rc;
    }
    pons__bt_set(t, i, succeed ? PONS_BT_SUCCESS : PONS_BT_FAILURE);
    return PONS_OK;
}

static int m_attributed(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    const pons__bt_attrs *a = t->nodes[i].attrs;
    int rc = PONS_OK;
    if (a->entry && t->state[i] == PONS_BT_READY) {
        rc = m_callback(t, i, a->entry, PONS_BT_ENTRY, false, false, err);
    }
    if (rc == PONS_OK && a->step) {
        rc = m_callback(t, i, a->step, PONS_BT_STEP, false, false, err);
    }
    rc = rc == PONS_OK ? m_work(t, i, err) : rc;
    if (rc == PONS_OK && a->exit && t->state[i] >= PONS_BT_SUCCESS) {
        rc = m_callback(t, i, a->exit, PONS_BT_EXIT, t->state[i] == PONS_BT_SUCCESS, false, err);
    }
    return rc;
}

static int m_update(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    if (t->state[i] >= PONS_BT_SUCCESS) {
        return PONS_OK;
    }
    if (__builtin_expect(!t->hot[i].has_more, 1)) {
        return m_work(t, i, err);
    }
    const pons__bt_node *n = &t->nodes[i];
    int rc = n->guard ? m_guards(t, i, n->guard, err) : PONS_OK;
    if (rc == PONS_OK) {
        rc = n->attrs ? m_attributed(t, i, err) : m_work(t, i, err);
    }
    return rc == PONS__BT_UNWIND && t->unwind == i ? m_unwound(t, i, err) : rc;
}

int pons__bt_step_mdsl(pons_bt_tree *t, pons_error *err)
{
    const int rc = t->state[0] >= PONS_BT_SUCCESS ? pons__bt_reset(t, 0, err) : PONS_OK;
    if (rc < 0) {
        return rc;
    }
    if (t->state[0] == PONS_BT_READY) {
        t->epoch++;
    }
    return m_update(t, 0, err);
}

// The children in order, then this node becomes READY, then its exit.
int pons__bt_abort_mdsl(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    const pons__bt_node *n = &t->nodes[i];
    if (t->state[i] != PONS_BT_RUNNING) {
        return PONS_OK;
    }
    for (uint32_t k = 0; k < n->n_kids; k++) {
        const int rc = pons__bt_abort_mdsl(t, t->kids[n->kids + k], err);
        if (rc < 0) {
            return rc;
        }
    }
    const int rc = pons__bt_reset(t, i, err);
    if (rc < 0) {
        return rc;
    }
    return n->attrs && n->attrs->exit
               ? m_callback(t, i, n->attrs->exit, PONS_BT_EXIT, false, true, err)
               : PONS_OK;
}
