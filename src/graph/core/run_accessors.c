// run_accessors.c - small verbs on a run: its ids, its outermost run, who waits for it, and what it tells.
#include "graph/core/run_accessors.h"

#include "graph/util/bits.h"

#include <string.h>

// ---- inside -------------------------------------------------------------------------------------

const char *pons__run_cp(pons_run *r)
{
    if (!r->cp_id[0]) {
        pons_id_make(&r->t->ids, r->cp_id);
    }
    return r->cp_id;
}

const char *pons__run_input_id(pons_run *r)
{
    if (!r->input_id[0]) {
        pons_id_make(&r->t->ids, r->input_id);
    }
    return r->input_id;
}

pons_run *pons__run_root(pons_run *r)
{
    while (r->parent) {
        r = r->parent;
    }
    return r;
}

void pons__run_wake(pons_run *r)
{
    for (; r; r = r->parent) {
        if (r->state == PONS_RUN_PARKED || r->state == PONS_RUN_INTERRUPTED) {
            r->state = PONS_RUN_READY;
        }
        if (!r->parent_task || r->parent_task->state != PONS__TASK_PARKED) {
            continue;
        }
        r->parent_task->moved_ns = 0;
        r->parent_task->state = PONS__TASK_TODO;
    }
}

pons_cancel_how pons__run_cancel_asked(const pons_run *r)
{
    while (r->parent) {
        r = r->parent;
    }
    if (r->cancel == PONS_CANCEL_NONE && r->opts.cancel) {
        return pons_cancel_requested(r->opts.cancel);
    }
    return r->cancel;
}

bool pons__run_at_work(const pons_run *r)
{
    return r && (r->state == PONS_RUN_READY || r->state == PONS_RUN_PARKED);
}

// Under `exit`, and after quiet steps, the state is stored without the checkpoint before it, which
// would tell who ran.
bool pons__run_note(pons_run *r, const char *only)
{
    pons_value_unref(r->ran);
    r->ran = json_array();
    bool ok = r->ran && (!only || json_array_append_new(r->ran, json_string(only)) == 0);
    for (size_t i = 0; i < r->n_tasks && ok && !only; i++) {
        const pons_cx *cx = r->tasks[i];
        ok = cx->caller || cx->retired ||
             json_array_append_new(r->ran, json_string(cx->node->name)) == 0;
    }
    return ok;
}

// Nodes name channels by literals: the same pointer comes again, so its place is looked at first.
uint32_t pons__run_channel(pons_run *r, const char *name)
{
    if (!name) {
        return PONS__NONE;
    }
    size_t at = ((uintptr_t)name >> 3 ^ (uintptr_t)name >> 8) % PONS__LOOKUP_SLOTS;
    if (r->lookup[at].name == name && strcmp(r->g->channels[r->lookup[at].ch].name, name) == 0) {
        return r->lookup[at].ch;
    }
    uint32_t ch = pons__graph_channel_find(r->g, name);
    if (ch != PONS__NONE) {
        r->lookup[at].name = name;
        r->lookup[at].ch = ch;
    }
    return ch;
}

void pons__run_lost(pons_run *r, const pons_error *err)
{
    if (!r->ns || !r->ns->ahead) {
        return;
    }
    if (err && err->status != PONS_OK) {
        r->error = *err;
    }
    r->state = PONS_RUN_FAILED;
}

// ---- what a run is ------------------------------------------------------------------------------

pons_run_state pons_run_state_get(const pons_run *r)
{
    return r->state;
}

const pons_error *pons_run_error(const pons_run *r)
{
    return &r->error;
}

const pons_value *pons_run_get(const pons_run *r, const char *channel)
{
    if (!r->ns) {
        return NULL;
    }
    uint32_t ch = pons__graph_channel_find(r->g, channel);
    return ch == PONS__NONE ? NULL : r->ns->slots[ch].v;
}

int pons_run_supersteps(const pons_run *r)
{
    return r->supersteps;
}

pons_value *pons_run_next(const pons_run *r)
{
    pons_value *list = json_array();
    for (size_t i = 0; r->ns && i < r->g->n_nodes; i++) {
        if (pons__bit_get(r->ns->next, i)) {
            json_array_append_new(list, json_string(r->g->nodes[i].name));
        }
    }
    for (size_t i = 0; r->ns && i < r->ns->n_sends; i++) {
        json_array_append_new(list, json_string(r->g->nodes[r->ns->sends[i].node].name));
    }
    return list;
}
