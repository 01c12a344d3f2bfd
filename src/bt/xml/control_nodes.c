// control_nodes.c - BehaviorTree.CPP's less common control nodes: parallels, conditionals, switches,
// TryCatch.
#include "bt/xml/halt.h"
#include "bt/xml/nodes.h"
#include "bt/xml/port_values.h"

#include <stdio.h>
#include <string.h>

// ---- parallels ----------------------------------------------------------------------------------

static int64_t threshold(const pons__bt_node *n, int64_t x)
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
    const pons__bt_node *n = &t->nodes[i];
    pons__bt_mem *m = &t->mem[i];
    int64_t asked, allowed;
    int rc = pons__bt_need_int(t, i, "success_count", -1, &asked, err);
    rc = rc < 0 ? rc : pons__bt_need_int(t, i, "failure_count", 1, &allowed, err);
    if (rc < 0) {
        return rc;
    }
    const int64_t wins = threshold(n, asked), losses = threshold(n, allowed);
    if (wins > n->n_kids || losses > n->n_kids) {
        return too_few(t, i, wins > n->n_kids ? "succeed" : "fail", err);
    }
    uint32_t skipped = 0;
    pons__bt_set(t, i, PONS_BT_RUNNING);
    for (uint32_t k = 0; k < n->n_kids; k++) {
        const uint32_t c = pons__bt_kid(t, i, k);
        if (!pons__bt_completed(t->state[c])) {
            const int s = t->tick(t, c, err);
            if (s < 0) {
                return s;
            }
            skipped += s == PONS_BT_SKIPPED;
            m->index += s == PONS_BT_SUCCESS;
            m->count += s == PONS_BT_FAILURE;
        }
        if (m->index >= wins || (asked < 0 && m->index + (int64_t)skipped >= wins)) {
            return pons__bt_end_with(t, i, PONS_BT_SUCCESS, err);
        }
        if ((int64_t)n->n_kids - m->count < wins || m->count == losses) {
            return pons__bt_end_with(t, i, PONS_BT_FAILURE, err);
        }
    }
    return skipped == n->n_kids ? PONS_BT_SKIPPED : PONS_BT_RUNNING;
}

static int x_parallel_all(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    const pons__bt_node *n = &t->nodes[i];
    int64_t allowed;
    const int rc = pons__bt_need_int(t, i, "max_failures", 1, &allowed, err);
    if (rc < 0) {
        return rc;
    }
    const int64_t limit = threshold(n, allowed);
    uint32_t skipped = 0, done = 0, failed = 0;
    if (limit > n->n_kids) {
        return too_few(t, i, "fail", err);
    }
    pons__bt_set(t, i, PONS_BT_RUNNING);
    for (uint32_t k = 0; k < n->n_kids; k++) {
        const uint32_t c = pons__bt_kid(t, i, k);
        const int s = pons__bt_completed(t->state[c]) ? t->state[c] : t->tick(t, c, err);
        if (s < 0) {
            return s;
        }
        skipped += s == PONS_BT_SKIPPED;
        done += pons__bt_completed(s);
        failed += s == PONS_BT_FAILURE;
    }
    if (skipped == n->n_kids) {
        return PONS_BT_SKIPPED;
    }
    if (skipped + done < n->n_kids) {
        return PONS_BT_RUNNING;
    }
    return pons__bt_end_with(t, i, (int64_t)failed >= limit ? PONS_BT_FAILURE : PONS_BT_SUCCESS,
                             err);
}

// ---- conditionals -------------------------------------------------------------------------------

static int x_if_then_else(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    const pons__bt_node *n = &t->nodes[i];
    pons__bt_mem *m = &t->mem[i];
    pons__bt_set(t, i, PONS_BT_RUNNING);
    if (m->index == 0) {
        const int s = t->tick(t, pons__bt_kid(t, i, 0), err);
        if (s < 0 || s == PONS_BT_RUNNING) {
            return s;
        }
        if (s == PONS_BT_SKIPPED || (s == PONS_BT_FAILURE && n->n_kids == 2)) {
            return s;
        }
        m->index = s == PONS_BT_SUCCESS ? 1 : 2;
    }
    const int s = t->tick(t, pons__bt_kid(t, i, (uint32_t)m->index), err);
    return s < 0 || s == PONS_BT_RUNNING ? s : pons__bt_end_with(t, i, s, err);
}

static int x_while_do_else(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    const pons__bt_node *n = &t->nodes[i];
    pons__bt_set(t, i, PONS_BT_RUNNING);
    int s = t->tick(t, pons__bt_kid(t, i, 0), err);
    if (s < 0 || s == PONS_BT_RUNNING) {
        return s;
    }
    if (s != PONS_BT_SKIPPED) {
        const bool yes = s == PONS_BT_SUCCESS;
        int rc = PONS_OK;
        if (n->n_kids == 3) {
            rc = pons__bt_halt_child(t, pons__bt_kid(t, i, yes ? 2 : 1), err);
        }
        if (rc < 0) {
            return rc;
        }
        s = yes || n->n_kids == 3 ? t->tick(t, pons__bt_kid(t, i, yes ? 1 : 2), err)
                                  : PONS_BT_FAILURE;
    }
    return s < 0 || s == PONS_BT_RUNNING ? s : pons__bt_end_with(t, i, s, err);
}

static bool same_case(const pons__bt_port *p, const pons__bt_value *var,
                      const pons__bt_value *value)
{
    char a[40], b[40];
    pons__bt_value x, y;
    const char *s = pons__bt_value_text(var, a, sizeof a),
               *w = pons__bt_value_text(value, b, sizeof b);
    if (strcmp(s, w) == 0) {
        return true;
    }
    // An enum's name has its number beside it.
    const bool whole = pons__bt_parse(s, 'l', &x);
    if (whole && ((p->type == 'e' && p->number == (double)x.i) ||
                  (pons__bt_parse(w, 'l', &y) && x.i == y.i))) {
        return true;
    }
    return pons__bt_parse(s, 'd', &x) &&
           ((p->type == 'e' && p->number == x.d) || (pons__bt_parse(w, 'd', &y) && x.d == y.d));
}

static int x_switch(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    const pons__bt_node *n = &t->nodes[i];
    pons__bt_mem *m = &t->mem[i]; // index: the running child + 1
    uint32_t match = n->n_kids - 1;
    pons__bt_value var, value;
    char name[16];
    if (pons__bt_input(t, i, "variable", &var) >= 0) {
        for (uint32_t k = 0; k + 1 < n->n_kids; k++) {
            snprintf(name, sizeof name, "case_%u", k + 1);
            if (pons__bt_input(t, i, name, &value) >= 0 &&
                same_case(pons__bt_port_of(n, name), &var, &value)) {
                match = k;
                break;
            }
        }
    }
    if (m->index != 0 && (uint32_t)m->index != match + 1) {
        const int rc = pons__bt_halt_child(t, pons__bt_kid(t, i, (uint32_t)m->index - 1), err);
        if (rc < 0) {
            return rc;
        }
    }
    const int s = t->tick(t, pons__bt_kid(t, i, match), err);
    if (s == PONS_BT_RUNNING) {
        m->index = (int32_t)match + 1;
    } else if (s == PONS_BT_SKIPPED) {
        m->index = 0;
    }
    return pons__bt_completed(s) ? pons__bt_end_with(t, i, s, err) : s;
}

// index: the child; count: 1 in the catch; t_ns: skipped.
static int x_try_catch(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    const pons__bt_node *n = &t->nodes[i];
    pons__bt_mem *m = &t->mem[i];
    const int32_t tries = (int32_t)n->n_kids - 1;
    if (t->state[i] != PONS_BT_RUNNING) {
        m->count = 0;
        m->t_ns = 0;
    }
    pons__bt_set(t, i, PONS_BT_RUNNING);
    while (m->count == 0 && m->index < tries) {
        const int s = t->tick(t, pons__bt_kid(t, i, (uint32_t)m->index), err);
        if (s < 0 || s == PONS_BT_RUNNING) {
            return s;
        }
        if (s == PONS_BT_FAILURE) {
            const int rc = pons__bt_end_with(t, i, s, err);
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
        return pons__bt_end_with(t, i, skipped ? PONS_BT_SKIPPED : PONS_BT_SUCCESS, err);
    }
    const int s = t->tick(t, pons__bt_kid(t, i, (uint32_t)tries), err);
    return s < 0 || s == PONS_BT_RUNNING ? s : pons__bt_end_with(t, i, PONS_BT_FAILURE, err);
}

int pons__bt_tick_control(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    switch ((pons__bt_type)t->hot[i].type) {
    case X_PARALLEL:
        return x_parallel(t, i, err);
    case X_PARALLEL_ALL:
        return x_parallel_all(t, i, err);
    case X_IF_THEN_ELSE:
        return x_if_then_else(t, i, err);
    case X_WHILE_DO_ELSE:
        return x_while_do_else(t, i, err);
    case X_TRY_CATCH:
        return x_try_catch(t, i, err);
    default:
        return x_switch(t, i, err);
    }
}
