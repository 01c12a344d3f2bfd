// halt.c - halting: a RUNNING node is told, what is below it first forgets, and every node becomes
// IDLE. Parents reset the children of what completes; a RUNNING one is halted on the way.
#include "bt/xml/halt.h"

#include "bt/xml/port_values.h"
#include "bt/xml/script.h"

#include <string.h>

// ---- one node -----------------------------------------------------------------------------------

static int halt_leaf(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    const pons__bt_node *n = &t->nodes[i];
    if (n->type != X_ACTION || t->state[i] != PONS_BT_RUNNING) {
        return PONS_OK;
    }
    t->defer[i] = PONS__BT_DEFER_NONE;
    pons_bt_call call = {.reason = PONS_BT_HALT, .node = i};
    const int rc = pons__bt_call_leaf(t, i, &call, err);
    return rc < 0 ? rc : PONS_OK;
}

// What a node forgets when it is halted; counters that survive are not here.
static int forget(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    pons__bt_mem *m = &t->mem[i];
    const pons__bt_node *n = &t->nodes[i];
    switch ((pons__bt_type)n->type) {
    case X_TRY_CATCH:
        if (m->count == 0 && t->state[i] == PONS_BT_RUNNING &&
            pons__bt_input_int(t, i, "catch_on_halt", 0)) {
            const uint32_t last = pons__bt_kid(t, i, n->n_kids - 1);
            for (uint32_t k = 0; k + 1 < n->n_kids; k++) {
                const int rc = pons__bt_halt_child(t, pons__bt_kid(t, i, k), err);
                if (rc < 0) {
                    return rc;
                }
            }
            const int rc = t->tick(t, last, err);
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

int pons__bt_halt_xml(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    const pons__bt_node *n = &t->nodes[i];
    int rc = n->n_kids > 0 ? forget(t, i, err) : halt_leaf(t, i, err);
    rc = rc < 0 ? rc : pons__bt_reset_kids(t, i, err);
    if (n->n_kids == 0) {
        forget(t, i, err);
    }
    pons__bt_set(t, i, PONS_BT_READY);
    if (rc >= 0 && n->conds) {
        rc = pons__bt_run_script(t, i, n->conds->post[PONS__BT_ON_HALTED], err);
    }
    return rc;
}

int pons__bt_halt_child(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    const int rc = t->state[i] == PONS_BT_RUNNING ? pons__bt_halt_xml(t, i, err) : PONS_OK;
    pons__bt_set(t, i, PONS_BT_READY);
    return rc;
}

int pons__bt_reset_kids(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    const pons__bt_hot *n = &t->hot[i];
    const uint32_t *k = &t->kids[n->kids];
    int rc = PONS_OK;
    if (n->all & PONS__BT_LEAVES && !t->watch) { // nothing below them, and they are side by side
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
            rc = pons__bt_halt_child(t, k[j], err);
        } else if (t->state[k[j]] != PONS_BT_READY) {
            pons__bt_set(t, k[j], PONS_BT_READY);
        }
    }
    return rc;
}

int pons__bt_end_with(pons_bt_tree *t, uint32_t i, int s, pons_error *err)
{
    const int rc = pons__bt_reset_kids(t, i, err);
    t->mem[i].index = t->mem[i].count = 0;
    return rc < 0 ? rc : s;
}

// ---- scripts ------------------------------------------------------------------------------------

int pons__bt_run_script(pons_bt_tree *t, uint32_t i, const pons__bt_script *s, pons_error *err)
{
    const int rc = s ? pons__bt_script_run(s, t, NULL, err) : PONS_OK;
    if (rc < 0) {
        t->failed = i;
    }
    return rc;
}

int pons__bt_ask_script(pons_bt_tree *t, uint32_t i, const pons__bt_script *s, pons_error *err)
{
    const int rc = pons__bt_script_bool(s, t, err);
    if (rc < 0) {
        t->failed = i;
    }
    return rc;
}
