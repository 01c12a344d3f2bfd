// tick_xml.c - one tick of a BehaviorTree.CPP v4 tree.
//
// bt_tick_xml is "execute": preconditions, the node's own tick, the state, postconditions. A node's
// own tick returns a status; SKIPPED goes to the parent and is not stored, so a composite that was
// skipped half-way stays RUNNING until its parent resets it, as there. Parents reset the children
// of what completes: a RUNNING one is halted on the way.
#include "bt/bt_internal.h"

#include <stdio.h>
#include <stdlib.h>

static int x_tick(pons_bt_tree *t, uint32_t i, pons_error *err);

static bool completed(int s)
{
    return s == PONS_BT_SUCCESS || s == PONS_BT_FAILURE;
}

static uint32_t kid(const pons_bt_tree *t, uint32_t i, uint32_t k)
{
    return t->kids[t->nodes[i].kids + k];
}

// ---------------------------------------------------------------- conditions and scripts of a node

static int run_script(pons_bt_tree *t, uint32_t i, const bt_script *s, pons_error *err)
{
    const int rc = s ? bt_script_run(s, t, NULL, err) : PONS_OK;
    if (rc < 0) {
        t->failed = i;
    }
    return rc;
}

static int ask_script(pons_bt_tree *t, uint32_t i, const bt_script *s, pons_error *err)
{
    const int rc = bt_script_bool(s, t, err);
    if (rc < 0) {
        t->failed = i;
    }
    return rc;
}

// READY when there is nothing against a tick.
static int before(pons_bt_tree *t, uint32_t i, const bt_conds *c, pons_error *err)
{
    static const pons_bt_status gives[] = {PONS_BT_FAILURE, PONS_BT_SUCCESS, PONS_BT_SKIPPED};
    const bool idle = t->state[i] == PONS_BT_READY;
    for (int k = 0; k < BT_WHILE && idle; k++) {
        const int yes = c->pre[k] ? ask_script(t, i, c->pre[k], err) : 0;
        if (yes != 0) {
            return yes < 0 ? yes : (int)gives[k];
        }
    }
    if (!c->pre[BT_WHILE] || (!idle && t->state[i] != PONS_BT_RUNNING)) {
        return PONS_BT_READY;
    }
    const int yes = ask_script(t, i, c->pre[BT_WHILE], err);
    if (yes != 0) {
        return yes < 0 ? yes : PONS_BT_READY;
    }
    const int rc = idle ? PONS_OK : bt_halt_xml(t, i, err);
    return rc < 0 ? rc : PONS_BT_SKIPPED;
}

static int with_conditions(pons_bt_tree *t, uint32_t i, const bt_conds *c, pons_error *err)
{
    int s = before(t, i, c, err);
    s = s == PONS_BT_READY ? x_tick(t, i, err) : s;
    if (completed(s)) {
        int rc =
            run_script(t, i, c->post[s == PONS_BT_SUCCESS ? BT_ON_SUCCESS : BT_ON_FAILURE], err);
        rc = rc < 0 ? rc : run_script(t, i, c->post[BT_POST], err);
        return rc < 0 ? rc : s;
    }
    return s;
}

int bt_tick_xml(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    const int s = __builtin_expect(t->hot[i].has_more, 0)
                      ? with_conditions(t, i, t->nodes[i].conds, err)
                      : x_tick(t, i, err);
    if (s > 0 && s != PONS_BT_SKIPPED) {
        bt_set(t, i, (pons_bt_status)s);
    }
    return s;
}

// ---------------------------------------------------------------- halting

static int halt_leaf(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    const bt_node *n = &t->nodes[i];
    if (n->type != X_ACTION || t->state[i] != PONS_BT_RUNNING) {
        return PONS_OK;
    }
    t->defer[i] = BT_DEFER_NONE;
    pons_bt_call call = {.reason = PONS_BT_HALT, .node = i};
    const int rc = bt_call_leaf(t, i, &call, err);
    return rc < 0 ? rc : PONS_OK;
}

// What a node forgets when it is halted; counters that survive are not here.
static int forget(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    bt_mem *m = &t->mem[i];
    const bt_node *n = &t->nodes[i];
    switch ((bt_type)n->type) {
    case X_TRY_CATCH:
        if (m->count == 0 && t->state[i] == PONS_BT_RUNNING &&
            bt_input_int(t, i, "catch_on_halt", 0)) {
            const uint32_t last = kid(t, i, n->n_kids - 1);
            for (uint32_t k = 0; k + 1 < n->n_kids; k++) {
                const int rc = bt_halt_child(t, kid(t, i, k), err);
                if (rc < 0) {
                    return rc;
                }
            }
            const int rc = bt_tick_xml(t, last, err);
            if (rc < 0) {
                return rc;
            }
        }
        m->index = m->count = 0;
        m->t_ns = 0;
        break;
    case X_SEQUENCE_MEMORY: // the index survives
    case X_PERSISTENT:
    case X_RUN_ONCE:
    case X_SINGLE_TRIGGER:
    case X_ROUND_ROBIN:
        break;
    case X_SKIP_UNLESS_UPDATED:
    case X_WAIT_VALUE_UPDATE:
        m->index = 0; // not what was seen
        break;
    case X_GOAL_UPDATED:
    case X_GLOBAL_UPDATED_GOAL:
    case X_TIME_EXPIRED:
    case X_DISTANCE_TRAVELED:
    case X_PATH_EXPIRING:
    case X_WAS_ENTRY_UPDATED:
    case X_RATE:
    case X_DISTANCE:
    case X_SPEED:
    case X_GOAL_UPDATED_CONTROLLER:
    case X_PATH_LONGER:
        break; // they look at the state, or at the run of the tree
    default:
        m->index = 0;
        m->count = 0;
        break;
    }
    return PONS_OK;
}

int bt_halt_xml(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    const bt_node *n = &t->nodes[i];
    int rc = n->n_kids > 0 ? forget(t, i, err) : halt_leaf(t, i, err);
    rc = rc < 0 ? rc : bt_reset_kids(t, i, err);
    if (n->n_kids == 0) {
        forget(t, i, err);
    }
    bt_set(t, i, PONS_BT_READY);
    if (rc >= 0 && n->conds) {
        rc = run_script(t, i, n->conds->post[BT_ON_HALTED], err);
    }
    return rc;
}

int bt_halt_child(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    const int rc = t->state[i] == PONS_BT_RUNNING ? bt_halt_xml(t, i, err) : PONS_OK;
    bt_set(t, i, PONS_BT_READY);
    return rc;
}

int bt_reset_kids(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    const bt_hot *n = &t->hot[i];
    const uint32_t *k = &t->kids[n->kids];
    int rc = PONS_OK;
    if (n->all & BT_LEAVES && !t->watch) { // nothing below them, and they are side by side
        uint8_t *first = t->state + i + 1;
        bool runs = false;
        for (uint32_t j = 0; j < n->n_kids; j++) {
            runs |= first[j] == PONS_BT_RUNNING;
        }
        if (!runs) {
            memset(first, PONS_BT_READY, n->n_kids);
            return PONS_OK;
        }
    }
    for (uint32_t j = 0; j < n->n_kids && rc >= 0; j++) {
        if (t->state[k[j]] == PONS_BT_RUNNING) {
            rc = bt_halt_child(t, k[j], err);
        } else if (t->state[k[j]] != PONS_BT_READY) {
            bt_set(t, k[j], PONS_BT_READY);
        }
    }
    return rc;
}

// What an action's function returned.
static int answered(pons_bt_tree *t, uint32_t i, int s, bool deferred, pons_error *err)
{
    const char *name = t->nodes[i].call->name;
    if (s < 0) {
        return bt_call_failed(t, i, t->nodes[i].call, s, err);
    }
    if (s == PONS_BT_RUNNING && deferred) {
        t->any_deferred = t->slow = true;
        t->defer[i] = BT_DEFER_WAITING;
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
    if (s < 0 || completed(s) || s == PONS_BT_SKIPPED) {
        return s;
    }
    t->failed = i;
    return pons_error_set(err, PONS_EINVAL, "bt",
                          "condition '%s' returned neither SUCCESS nor FAILURE",
                          t->nodes[i].call->name);
}

// The two of a leaf that was called without bt_tick_xml.
static int entered(pons_bt_tree *t, uint32_t i, int s, bool deferred, pons_error *err)
{
    s = answered(t, i, s, deferred, err);
    if (s > 0 && s != PONS_BT_SKIPPED) {
        bt_set(t, i, (pons_bt_status)s);
    }
    return s;
}

static int x_asked(pons_bt_tree *t, uint32_t i, int s, pons_error *err)
{
    s = s < 0 ? bt_call_failed(t, i, t->nodes[i].call, s, err) : x_said(t, i, s, err);
    if (s > 0 && s != PONS_BT_SKIPPED) {
        bt_set(t, i, (pons_bt_status)s);
    }
    return s;
}

// ---------------------------------------------------------------- sequences and fallbacks

static bool asynchronous(uint8_t type)
{
    return type == X_ASYNC_SEQUENCE || type == X_ASYNC_FALLBACK || type == X_SEQUENCE_MEMORY;
}

static int end_with(pons_bt_tree *t, uint32_t i, int s, pons_error *err)
{
    const int rc = bt_reset_kids(t, i, err);
    t->mem[i].index = t->mem[i].count = 0;
    return rc < 0 ? rc : s;
}

// A failure leaves the index; only the children from there on are reset.
static int memory_failed(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    int rc = PONS_OK;
    for (uint32_t k = (uint32_t)t->mem[i].index; k < t->nodes[i].n_kids && rc >= 0; k++) {
        rc = bt_halt_child(t, kid(t, i, k), err);
    }
    return rc < 0 ? rc : PONS_BT_FAILURE;
}

// Children from m->index on, all of them leaves without conditions, as long as they are entered and
// answer with go_on: most of what a tree does. What comes next is for the general way. READY, or an
// error.
__attribute__((noinline)) static int plain_in_order(pons_bt_tree *t, uint32_t i, int go_on,
                                                    pons_error *err)
{
    bt_mem *m = &t->mem[i];
    const uint32_t end = i + 1 + t->hot[i].n_kids;
    uint32_t c = i + 1 + (uint32_t)m->index;
    const bt_hot *h = &t->hot[c];
    const bt_fn *const fns = t->fns;
    uint8_t *const state = t->state;
    pons_bt_call call = {.tree = t, .run = t->next_run};
    for (; c < end && state[c] == PONS_BT_READY; c++, h++) {
        const bt_fn *f = &fns[h->fn];
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
    const bt_hot *n = &t->hot[i];
    const uint32_t *kids = &t->kids[n->kids];
    const bool pauses = asynchronous(n->type);
    bt_mem *m = &t->mem[i];
    if (t->state[i] != PONS_BT_RUNNING) {
        m->count = 0;
    }
    bt_set(t, i, PONS_BT_RUNNING);
    while ((uint32_t)m->index < n->n_kids) {
        const uint8_t was = t->state[kids[m->index]];
        int s = PONS_BT_READY;
        if (n->all & BT_PLAIN && was == PONS_BT_READY && !t->slow && !pauses) {
            s = plain_in_order(t, i, go_on, err);
            if ((uint32_t)m->index == n->n_kids) { // none of them runs, nothing is below them
                memset(t->state + i + 1, PONS_BT_READY, n->n_kids);
                m->index = m->count = 0;
                return go_on;
            }
        }
        s = s == PONS_BT_READY ? bt_tick_xml(t, kids[m->index], err) : s;
        if (s < 0 || s == PONS_BT_RUNNING) {
            return s;
        }
        if (s == PONS_BT_SKIPPED) {
            m->count++;
        } else if (s != go_on) {
            return n->type == X_SEQUENCE_MEMORY ? memory_failed(t, i, err) : end_with(t, i, s, err);
        }
        m->index++;
        if (s == go_on && pauses && was == PONS_BT_READY && (uint32_t)m->index < n->n_kids) {
            t->wake = true;
            return PONS_BT_RUNNING;
        }
    }
    return end_with(t, i, (uint32_t)m->count == n->n_kids ? PONS_BT_SKIPPED : go_on, err);
}

static int x_reactive(pons_bt_tree *t, uint32_t i, int go_on, pons_error *err)
{
    const bt_node *n = &t->nodes[i];
    bool all_skipped = true;
    bt_set(t, i, PONS_BT_RUNNING);
    for (uint32_t k = 0; k < n->n_kids; k++) {
        const int s = bt_tick_xml(t, kid(t, i, k), err);
        int rc = PONS_OK;
        if (s < 0) {
            return s;
        }
        all_skipped &= s == PONS_BT_SKIPPED;
        if (s == PONS_BT_RUNNING) {
            for (uint32_t j = 0; j < n->n_kids && rc >= 0; j++) {
                rc = j != k ? bt_halt_child(t, kid(t, i, j), err) : PONS_OK;
            }
            return rc < 0 ? rc : s;
        }
        if (s == PONS_BT_SKIPPED) {
            rc = bt_halt_child(t, kid(t, i, k), err);
        } else if (s != go_on) {
            return end_with(t, i, s, err);
        }
        if (rc < 0) {
            return rc;
        }
    }
    return end_with(t, i, all_skipped ? PONS_BT_SKIPPED : go_on, err);
}

// ---------------------------------------------------------------- parallel

static int64_t threshold(const bt_node *n, int64_t x)
{
    const int64_t v = x < 0 ? (int64_t)n->n_kids + x + 1 : x;
    return v < 0 ? 0 : v;
}

static int too_few(pons_bt_tree *t, uint32_t i, const char *never, pons_error *err)
{
    t->failed = i;
    return pons_error_set(err, PONS_EINVAL, "bt",
                          "the number of children is less than the threshold: it can never %s",
                          never);
}

// index: successes, count: failures, of the children that are done and not ticked again.
static int x_parallel(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    const bt_node *n = &t->nodes[i];
    bt_mem *m = &t->mem[i];
    int64_t asked, allowed;
    int rc = bt_need_int(t, i, "success_count", -1, &asked, err);
    rc = rc < 0 ? rc : bt_need_int(t, i, "failure_count", 1, &allowed, err);
    if (rc < 0) {
        return rc;
    }
    const int64_t wins = threshold(n, asked), losses = threshold(n, allowed);
    if (wins > n->n_kids || losses > n->n_kids) {
        return too_few(t, i, wins > n->n_kids ? "succeed" : "fail", err);
    }
    uint32_t skipped = 0;
    bt_set(t, i, PONS_BT_RUNNING);
    for (uint32_t k = 0; k < n->n_kids; k++) {
        const uint32_t c = kid(t, i, k);
        if (!completed(t->state[c])) {
            const int s = bt_tick_xml(t, c, err);
            if (s < 0) {
                return s;
            }
            skipped += s == PONS_BT_SKIPPED;
            m->index += s == PONS_BT_SUCCESS;
            m->count += s == PONS_BT_FAILURE;
        }
        if (m->index >= wins || (asked < 0 && m->index + (int64_t)skipped >= wins)) {
            return end_with(t, i, PONS_BT_SUCCESS, err);
        }
        if ((int64_t)n->n_kids - m->count < wins || m->count == losses) {
            return end_with(t, i, PONS_BT_FAILURE, err);
        }
    }
    return skipped == n->n_kids ? PONS_BT_SKIPPED : PONS_BT_RUNNING;
}

static int x_parallel_all(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    const bt_node *n = &t->nodes[i];
    int64_t allowed;
    const int rc = bt_need_int(t, i, "max_failures", 1, &allowed, err);
    if (rc < 0) {
        return rc;
    }
    const int64_t limit = threshold(n, allowed);
    uint32_t skipped = 0, done = 0, failed = 0;
    if (limit > n->n_kids) {
        return too_few(t, i, "fail", err);
    }
    bt_set(t, i, PONS_BT_RUNNING);
    for (uint32_t k = 0; k < n->n_kids; k++) {
        const uint32_t c = kid(t, i, k);
        const int s = completed(t->state[c]) ? t->state[c] : bt_tick_xml(t, c, err);
        if (s < 0) {
            return s;
        }
        skipped += s == PONS_BT_SKIPPED;
        done += completed(s);
        failed += s == PONS_BT_FAILURE;
    }
    if (skipped == n->n_kids) {
        return PONS_BT_SKIPPED;
    }
    if (skipped + done < n->n_kids) {
        return PONS_BT_RUNNING;
    }
    return end_with(t, i, (int64_t)failed >= limit ? PONS_BT_FAILURE : PONS_BT_SUCCESS, err);
}

// ---------------------------------------------------------------- conditionals

static int x_if_then_else(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    const bt_node *n = &t->nodes[i];
    bt_mem *m = &t->mem[i];
    bt_set(t, i, PONS_BT_RUNNING);
    if (m->index == 0) {
        const int s = bt_tick_xml(t, kid(t, i, 0), err);
        if (s < 0 || s == PONS_BT_RUNNING) {
            return s;
        }
        if (s == PONS_BT_SKIPPED || (s == PONS_BT_FAILURE && n->n_kids == 2)) {
            return s;
        }
        m->index = s == PONS_BT_SUCCESS ? 1 : 2;
    }
    const int s = bt_tick_xml(t, kid(t, i, (uint32_t)m->index), err);
    return s < 0 || s == PONS_BT_RUNNING ? s : end_with(t, i, s, err);
}

static int x_while_do_else(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    const bt_node *n = &t->nodes[i];
    bt_set(t, i, PONS_BT_RUNNING);
    int s = bt_tick_xml(t, kid(t, i, 0), err);
    if (s < 0 || s == PONS_BT_RUNNING) {
        return s;
    }
    if (s != PONS_BT_SKIPPED) {
        const bool yes = s == PONS_BT_SUCCESS;
        int rc = PONS_OK;
        if (n->n_kids == 3) {
            rc = bt_halt_child(t, kid(t, i, yes ? 2 : 1), err);
        }
        if (rc < 0) {
            return rc;
        }
        s = yes || n->n_kids == 3 ? bt_tick_xml(t, kid(t, i, yes ? 1 : 2), err) : PONS_BT_FAILURE;
    }
    return s < 0 || s == PONS_BT_RUNNING ? s : end_with(t, i, s, err);
}

// A value as text, in buf or borrowed.
static const char *as_text(const bt_value *v, char *buf, size_t cap)
{
    if (v->kind == BT_STRING) {
        return v->s;
    }
    if (v->kind == BT_REAL) {
        snprintf(buf, cap, "%.17g", v->d);
    } else {
        snprintf(buf, cap, "%lld", (long long)v->i);
    }
    return buf;
}

static bool same_case(const bt_port *p, const bt_value *var, const bt_value *value)
{
    char a[40], b[40];
    bt_value x, y;
    const char *s = as_text(var, a, sizeof a), *w = as_text(value, b, sizeof b);
    if (strcmp(s, w) == 0) {
        return true;
    }
    // An enum's name has its number beside it.
    const bool whole = bt_parse(s, 'l', &x);
    if (whole &&
        ((p->type == 'e' && p->number == (double)x.i) || (bt_parse(w, 'l', &y) && x.i == y.i))) {
        return true;
    }
    return bt_parse(s, 'd', &x) &&
           ((p->type == 'e' && p->number == x.d) || (bt_parse(w, 'd', &y) && x.d == y.d));
}

static int x_switch(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    const bt_node *n = &t->nodes[i];
    bt_mem *m = &t->mem[i]; // index: the running child + 1
    uint32_t match = n->n_kids - 1;
    bt_value var, value;
    char name[16];
    if (bt_input(t, i, "variable", &var) >= 0) {
        for (uint32_t k = 0; k + 1 < n->n_kids; k++) {
            snprintf(name, sizeof name, "case_%u", k + 1);
            if (bt_input(t, i, name, &value) >= 0 && same_case(bt_port_of(n, name), &var, &value)) {
                match = k;
                break;
            }
        }
    }
    if (m->index != 0 && (uint32_t)m->index != match + 1) {
        const int rc = bt_halt_child(t, kid(t, i, (uint32_t)m->index - 1), err);
        if (rc < 0) {
            return rc;
        }
    }
    const int s = bt_tick_xml(t, kid(t, i, match), err);
    if (s == PONS_BT_RUNNING) {
        m->index = (int32_t)match + 1;
    } else if (s == PONS_BT_SKIPPED) {
        m->index = 0;
    }
    return completed(s) ? end_with(t, i, s, err) : s;
}

// index: the child; count: 1 in the catch; t_ns: skipped.
static int x_try_catch(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    const bt_node *n = &t->nodes[i];
    bt_mem *m = &t->mem[i];
    const int32_t tries = (int32_t)n->n_kids - 1;
    if (t->state[i] != PONS_BT_RUNNING) {
        m->count = 0;
        m->t_ns = 0;
    }
    bt_set(t, i, PONS_BT_RUNNING);
    while (m->count == 0 && m->index < tries) {
        const int s = bt_tick_xml(t, kid(t, i, (uint32_t)m->index), err);
        if (s < 0 || s == PONS_BT_RUNNING) {
            return s;
        }
        if (s == PONS_BT_FAILURE) {
            const int rc = end_with(t, i, s, err);
            if (rc < 0) {
                return rc;
            }
            m->count = 1;
        } else {
            m->index++;
            m->t_ns += s == PONS_BT_SKIPPED;
        }
    }
    if (m->count == 0) {
        const bool skipped = m->t_ns == tries;
        m->t_ns = 0;
        return end_with(t, i, skipped ? PONS_BT_SKIPPED : PONS_BT_SUCCESS, err);
    }
    const int s = bt_tick_xml(t, kid(t, i, (uint32_t)tries), err);
    return s < 0 || s == PONS_BT_RUNNING ? s : end_with(t, i, PONS_BT_FAILURE, err);
}

// ---------------------------------------------------------------- decorators

static int x_simple(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    const uint8_t type = t->nodes[i].type;
    bt_set(t, i, PONS_BT_RUNNING);
    const int s = bt_tick_xml(t, i + 1, err);
    if (!completed(s)) {
        return s == PONS_BT_SKIPPED && type == X_KEEP_RUNNING ? PONS_BT_RUNNING : s;
    }
    const int rc = bt_reset_kids(t, i, err);
    if (rc < 0) {
        return rc;
    }
    const int other = s == PONS_BT_SUCCESS ? PONS_BT_FAILURE : PONS_BT_SUCCESS;
    return type == X_INVERTER        ? other
           : type == X_FORCE_SUCCESS ? PONS_BT_SUCCESS
           : type == X_FORCE_FAILURE ? PONS_BT_FAILURE
           : type == X_KEEP_RUNNING  ? (s == PONS_BT_FAILURE ? s : PONS_BT_RUNNING)
                                     : s;
}

static int x_again(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    const bool repeat = t->nodes[i].type == X_REPEAT;
    const char *port = repeat ? "num_cycles" : "num_attempts";
    const int again = repeat ? PONS_BT_SUCCESS : PONS_BT_FAILURE;
    const int over = repeat ? PONS_BT_FAILURE : PONS_BT_SUCCESS;
    const uint32_t c = i + 1;
    bt_mem *m = &t->mem[i];
    int64_t limit;
    int rc = bt_need_int(t, i, port, -1, &limit, err);
    if (rc < 0) {
        return rc;
    }
    bool loop = limit == -1 || m->count < limit;
    bt_set(t, i, PONS_BT_RUNNING);
    while (loop) {
        const uint8_t was = t->state[c];
        const int s = bt_tick_xml(t, c, err);
        if (s < 0 || s == PONS_BT_RUNNING) {
            return s;
        }
        rc = bt_halt_child(t, c, err);
        if (rc < 0 || s == PONS_BT_SKIPPED) {
            return rc < 0 ? rc : s;
        }
        if (s == over) {
            m->count = 0;
            return s;
        }
        m->count += m->count < INT32_MAX;
        rc = repeat ? PONS_OK : bt_need_int(t, i, port, -1, &limit, err);
        if (rc < 0) {
            return rc;
        }
        loop = limit == -1 || m->count < limit;
        if (was == PONS_BT_READY && loop) {
            t->wake = true;
            return PONS_BT_RUNNING;
        }
    }
    m->count = 0;
    return again;
}

static int64_t since_ms(const pons_bt_tree *t, int64_t then_ns)
{
    return (bt_now_ns(t) - then_ns) / PONS_NS_PER_MS;
}

// index: started.
static int x_delay(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    bt_mem *m = &t->mem[i];
    int64_t wait_ms;
    const int rc = bt_need_int(t, i, "delay_msec", 0, &wait_ms, err);
    if (rc < 0) {
        return rc;
    }
    if (m->index == 0) {
        m->index = 1;
        m->t_ns = bt_now_ns(t);
        bt_set(t, i, PONS_BT_RUNNING);
    }
    if (since_ms(t, m->t_ns) < wait_ms) {
        return PONS_BT_RUNNING;
    }
    const int s = bt_tick_xml(t, i + 1, err);
    return completed(s) ? end_with(t, i, s, err) : s;
}

static int x_timeout(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    bt_mem *m = &t->mem[i];
    int64_t limit_ms;
    const int rc = bt_need_int(t, i, "msec", 0, &limit_ms, err);
    if (rc < 0) {
        return rc;
    }
    if (m->index == 0) {
        m->index = 1;
        m->t_ns = bt_now_ns(t);
        bt_set(t, i, PONS_BT_RUNNING);
    } else if (limit_ms > 0 && t->state[i + 1] == PONS_BT_RUNNING &&
               since_ms(t, m->t_ns) >= limit_ms) {
        return end_with(t, i, PONS_BT_FAILURE, err);
    }
    const int s = bt_tick_xml(t, i + 1, err);
    return completed(s) ? end_with(t, i, s, err) : s;
}

static int x_sleep(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    bt_mem *m = &t->mem[i];
    int64_t wait_ms;
    const int rc = bt_need_int(t, i, "msec", 0, &wait_ms, err);
    if (rc < 0 || wait_ms <= 0) {
        return rc < 0 ? rc : PONS_BT_SUCCESS;
    }
    if (m->index == 0) {
        m->index = 1;
        m->t_ns = bt_now_ns(t);
        bt_set(t, i, PONS_BT_RUNNING);
    }
    if (since_ms(t, m->t_ns) < wait_ms) {
        return PONS_BT_RUNNING;
    }
    m->index = 0;
    return PONS_BT_SUCCESS;
}

// count: the status that the one run ended with.
static int x_run_once(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    bt_mem *m = &t->mem[i];
    if (m->count != 0) {
        return bt_input_int(t, i, "then_skip", 1) ? PONS_BT_SKIPPED : m->count;
    }
    bt_set(t, i, PONS_BT_RUNNING);
    const int s = bt_tick_xml(t, i + 1, err);
    if (!completed(s)) {
        return s;
    }
    const int rc = bt_reset_kids(t, i, err);
    m->count = s;
    return rc < 0 ? rc : s;
}

static int status_input(pons_bt_tree *t, uint32_t i, const char *port, int fallback)
{
    static const char *const words[] = {"IDLE", "RUNNING", "SUCCESS", "FAILURE", "SKIPPED"};
    bt_value v;
    if (bt_input(t, i, port, &v) >= 0 && v.kind == BT_STRING) {
        for (int s = PONS_BT_RUNNING; s <= PONS_BT_SKIPPED; s++) {
            if (strcmp(words[s], v.s) == 0) {
                return s;
            }
        }
    }
    return fallback;
}

// index: the child runs, so the condition is not asked.
static int x_precondition(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    bt_mem *m = &t->mem[i];
    if (m->index == 0) {
        const int yes = ask_script(t, i, t->nodes[i].script, err);
        if (yes < 0) {
            return yes;
        }
        m->index = yes;
    }
    if (m->index == 0) {
        return status_input(t, i, "else", PONS_BT_FAILURE);
    }
    const int s = bt_tick_xml(t, i + 1, err);
    return completed(s) ? end_with(t, i, s, err) : s;
}

// ---------------------------------------------------------------- loops over a queue

// The next element, by value; false when there is none. index: how many were taken from text.
static int pop(pons_bt_tree *t, uint32_t i, bt_value *ret, pons_error *err)
{
    const bt_node *n = &t->nodes[i];
    static const char letters[] = {'i', 'b', 'd', 's'};
    const char letter = letters[n->type - X_LOOP_INT];
    const bt_port *port = bt_port_of(n, "queue");
    bt_value q;
    if (bt_input(t, i, "queue", &q) < 0) {
        return 0;
    }
    if (q.kind == BT_JSON && json_is_array(q.j)) { // shared: what is taken is gone for everyone
        if (json_array_size(q.j) == 0) {
            return 0;
        }
        const int rc = bt_value_of_json(json_array_get(q.j, 0), ret);
        pons_value *rest = json_array();
        for (size_t k = 1; k < json_array_size(q.j); k++) {
            json_array_append_new(rest, pons_value_ref(json_array_get(q.j, k)));
        }
        bt_slot *s = &t->slots[port->slot];
        bt_value_fini(&s->v);
        s->v = (bt_value){.kind = BT_JSON, .owned = true, .j = rest};
        return rc < 0 ? pons_error_set(err, rc, "bt", "no memory for a queue") : 1;
    }
    char number[40];
    const char *at = q.kind == BT_JSON ? "" : as_text(&q, number, sizeof number);
    for (int32_t skip = t->mem[i].index; skip > 0 && at; skip--) {
        at = strchr(at, ';');
        at += at != NULL;
    }
    if (!at || !*at) {
        return 0;
    }
    const char *end = strchr(at, ';');
    char *item = strndup(at, end ? (size_t)(end - at) : strlen(at));
    bt_value v;
    int rc = !item ? PONS_ENOMEM : bt_parse(item, letter, &v) ? bt_value_dup(ret, &v) : PONS_EINVAL;
    if (rc < 0) {
        t->failed = i;
        rc = pons_error_set(err, rc, "bt", "the queue's element '%.60s' does not convert to %s",
                            item ? item : "", bt_kind_word(bt_type_kind(letter)));
    }
    free(item);
    t->mem[i].index++;
    return rc < 0 ? rc : 1;
}

// count: the child runs.
static int x_loop(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    bt_mem *m = &t->mem[i];
    if (t->state[i] == PONS_BT_READY) {
        m->count = 0;
        const bt_port *port = bt_port_of(&t->nodes[i], "queue");
        if (port && port->slot == BT_NONE) {
            m->index = 0;
        }
    }
    if (m->count == 0) {
        bt_value v = {.kind = BT_EMPTY};
        int rc = pop(t, i, &v, err);
        if (rc > 0) {
            rc = bt_output(t, i, "value", &v, err);
            rc = rc < 0 ? rc : 1;
        }
        bt_value_fini(&v);
        if (rc <= 0) {
            return rc < 0 ? rc : status_input(t, i, "if_empty", PONS_BT_SUCCESS);
        }
    }
    if (t->state[i] == PONS_BT_READY) {
        bt_set(t, i, PONS_BT_RUNNING);
    }
    const int s = bt_tick_xml(t, i + 1, err);
    if (s < 0) {
        return s;
    }
    m->count = s == PONS_BT_RUNNING;
    const int rc = completed(s) ? bt_reset_kids(t, i, err) : PONS_OK;
    return rc < 0 ? rc : s == PONS_BT_FAILURE ? s : PONS_BT_RUNNING;
}

// ---------------------------------------------------------------- entries that were written

static const bt_slot *entry_slot(const pons_bt_tree *t, uint32_t i)
{
    const bt_port *p = bt_port_of(&t->nodes[i], "entry");
    return p && p->slot != BT_NONE ? &t->slots[p->slot] : NULL;
}

// index: the child is still executing; t_ns: the last write seen.
static int x_if_updated(pons_bt_tree *t, uint32_t i, int otherwise, pons_error *err)
{
    bt_mem *m = &t->mem[i];
    if (m->index == 0) {
        const bt_slot *s = entry_slot(t, i);
        if (!s || (int64_t)s->seq == m->t_ns) {
            return otherwise;
        }
        m->t_ns = (int64_t)s->seq;
    }
    const int s = bt_tick_xml(t, i + 1, err);
    m->index = s == PONS_BT_RUNNING;
    if (completed(s)) {
        const int rc = bt_reset_kids(t, i, err);
        return rc < 0 ? rc : s;
    }
    return s;
}

static int x_was_updated(pons_bt_tree *t, uint32_t i)
{
    bt_mem *m = &t->mem[i];
    const bt_slot *s = entry_slot(t, i);
    if (!s || (int64_t)s->seq == m->t_ns) {
        return PONS_BT_FAILURE;
    }
    m->t_ns = (int64_t)s->seq;
    return PONS_BT_SUCCESS;
}

// ---------------------------------------------------------------- leaves

static int x_set_blackboard(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    bt_value v;
    if (bt_input(t, i, "value", &v) < 0) {
        return PONS_BT_FAILURE; // from an entry that is empty
    }
    int rc = bt_value_own(&v);
    rc = rc < 0 ? rc : bt_output(t, i, "output_key", &v, err);
    bt_value_fini(&v);
    return rc < 0 ? rc : PONS_BT_SUCCESS;
}

static int x_unset_blackboard(pons_bt_tree *t, uint32_t i)
{
    const bt_port *p = bt_port_of(&t->nodes[i], "key");
    if (p && p->slot != BT_NONE) {
        bt_slot *s = &t->slots[p->slot];
        bt_value_fini(&s->v);
        s->exists = s->fixed = false;
        s->kind = BT_EMPTY;
        s->seq++;
    }
    return PONS_BT_SUCCESS;
}

static int x_action(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    if (completed(t->state[i])) {
        return t->state[i];
    }
    if (t->defer[i] != BT_DEFER_NONE && t->state[i] == PONS_BT_RUNNING) {
        const int s = t->defer[i] == BT_DEFER_WAITING   ? PONS_BT_RUNNING
                      : t->defer[i] == BT_DEFER_SUCCESS ? PONS_BT_SUCCESS
                                                        : PONS_BT_FAILURE;
        t->defer[i] = s == PONS_BT_RUNNING ? BT_DEFER_WAITING : BT_DEFER_NONE;
        return s;
    }
    pons_bt_call call = {.node = i,
                         .reason = t->state[i] == PONS_BT_READY ? PONS_BT_START : PONS_BT_CONTINUE,
                         .run = t->next_run};
    const int s = bt_call_leaf(t, i, &call, err);
    return s < 0 ? s : answered(t, i, s, call.deferred, err);
}

static int x_condition(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    pons_bt_call call = {.node = i, .reason = PONS_BT_START};
    return x_said(t, i, bt_call_leaf(t, i, &call, err), err);
}

static int x_script(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    const int rc = run_script(t, i, t->nodes[i].script, err);
    return rc < 0 ? rc : PONS_BT_SUCCESS;
}

static int x_script_condition(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    const int yes = ask_script(t, i, t->nodes[i].script, err);
    return yes < 0 ? yes : yes ? PONS_BT_SUCCESS : PONS_BT_FAILURE;
}

static int x_subtree(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    if (t->state[i] == PONS_BT_READY) {
        bt_set(t, i, PONS_BT_RUNNING);
    }
    const int s = bt_tick_xml(t, i + 1, err);
    return completed(s) ? end_with(t, i, s, err) : s;
}

static int x_tick(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    switch ((bt_type)t->hot[i].type) {
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
    case X_PARALLEL:
        return x_parallel(t, i, err);
    case X_PARALLEL_ALL:
        return x_parallel_all(t, i, err);
    case X_IF_THEN_ELSE:
        return x_if_then_else(t, i, err);
    case X_WHILE_DO_ELSE:
        return x_while_do_else(t, i, err);
    case X_SWITCH2:
    case X_SWITCH3:
    case X_SWITCH4:
    case X_SWITCH5:
    case X_SWITCH6:
        return x_switch(t, i, err);
    case X_TRY_CATCH:
        return x_try_catch(t, i, err);
    case X_INVERTER:
    case X_FORCE_SUCCESS:
    case X_FORCE_FAILURE:
    case X_KEEP_RUNNING:
        return x_simple(t, i, err);
    case X_REPEAT:
    case X_RETRY:
        return x_again(t, i, err);
    case X_DELAY:
        return x_delay(t, i, err);
    case X_TIMEOUT:
        return x_timeout(t, i, err);
    case X_RUN_ONCE:
        return x_run_once(t, i, err);
    case X_PRECONDITION:
        return x_precondition(t, i, err);
    case X_LOOP_INT:
    case X_LOOP_BOOL:
    case X_LOOP_DOUBLE:
    case X_LOOP_STRING:
        return x_loop(t, i, err);
    case X_SKIP_UNLESS_UPDATED:
        return x_if_updated(t, i, PONS_BT_SKIPPED, err);
    case X_WAIT_VALUE_UPDATE:
        return x_if_updated(t, i, PONS_BT_RUNNING, err);
    case X_WAS_ENTRY_UPDATED:
        return x_was_updated(t, i);
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
    case X_SLEEP:
        return x_sleep(t, i, err);
    default:
        return bt_tick_nav2(t, i, err);
    }
}

// ---------------------------------------------------------------- ports

const bt_port *bt_port_of(const bt_node *n, const char *name)
{
    for (uint32_t p = 0; p < n->n_ports; p++) {
        if (strcmp(n->ports[p].name, name) == 0) {
            return &n->ports[p];
        }
    }
    return NULL;
}

int bt_input(pons_bt_tree *t, uint32_t i, const char *name, bt_value *ret)
{
    const bt_port *p = bt_port_of(&t->nodes[i], name);
    if (!p) {
        return PONS_ENOTFOUND;
    }
    if (p->slot == BT_NONE) {
        *ret = p->literal;
        return PONS_OK;
    }
    const bt_slot *s = &t->slots[p->slot];
    if (!s->exists || s->v.kind == BT_EMPTY) {
        return PONS_ENOTFOUND;
    }
    *ret = s->v;
    ret->owned = false;
    return PONS_OK;
}

int bt_need_int(pons_bt_tree *t, uint32_t i, const char *name, int64_t fallback, int64_t *ret,
                pons_error *err)
{
    bt_value v, parsed = {.kind = BT_EMPTY};
    double d = 0;
    const bt_port *p = bt_port_of(&t->nodes[i], name);
    if (!p) {
        *ret = fallback;
        return PONS_OK;
    }
    int rc = bt_input(t, i, name, &v);
    const bool text = rc >= 0 && v.kind == BT_STRING;
    if (text && (bt_parse(v.s, 'd', &parsed) || bt_parse(v.s, 'b', &parsed))) {
        v = parsed;
    }
    if (rc < 0 || !bt_value_number(&v, &d) || !(d >= -9e15 && d <= 9e15)) {
        t->failed = i;
        return pons_error_set(err, PONS_EINVAL, "bt",
                              rc < 0 ? "port '%s' has no value: %s is empty"
                                     : "port '%s' is no number: %s",
                              name, p->text);
    }
    *ret = (int64_t)d;
    return PONS_OK;
}

double bt_input_num(pons_bt_tree *t, uint32_t i, const char *name, double fallback)
{
    bt_value v, parsed;
    double d;
    if (bt_input(t, i, name, &v) < 0) {
        return fallback;
    }
    if (v.kind == BT_STRING && bt_parse(v.s, 'd', &parsed)) {
        return parsed.d;
    }
    if (v.kind == BT_STRING && bt_parse(v.s, 'b', &parsed)) {
        return (double)parsed.i;
    }
    return bt_value_number(&v, &d) ? d : fallback;
}

int64_t bt_input_int(pons_bt_tree *t, uint32_t i, const char *name, int64_t fallback)
{
    const double d = bt_input_num(t, i, name, (double)fallback);
    return d >= -9e15 && d <= 9e15 ? (int64_t)d : fallback;
}

int bt_output(pons_bt_tree *t, uint32_t i, const char *name, const bt_value *v, pons_error *err)
{
    const bt_port *p = bt_port_of(&t->nodes[i], name);
    if (!p || p->slot == BT_NONE) {
        // An output that leads nowhere is allowed.
        return PONS_OK;
    }
    const int rc = bt_slot_write(t, p->slot, v, err);
    if (rc < 0) {
        t->failed = i;
    }
    return rc;
}
