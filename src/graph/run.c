// run.c - one invocation of a graph: the superstep loop, and what is stored when.
//
//            start / resume                     all done
//                  │        ┌──────────────────────────────────────────┐
//                  ▼        ▼                                          │
//               READY ──► store what is due ──► prepare ──► run tasks ─┤
//                 ▲                                          │         ├─► DONE   nothing is next
//        answer   │                                          │         ├─► INTERRUPTED before/after
//                 └── PARKED, INTERRUPTED ◄── store, start ◄─┤ parked  └─► FAILED  limit, conflict
//                                                            └ failed ──► store ─► FAILED
//
// The state in the namespace and the checkpoint in the store drift apart on purpose: by one step
// whose commit is due, by quiet steps, by a whole run under `exit`. `cp_stored` says whether the
// store has what memory has; every commit first brings the store level, so whatever hangs on a
// checkpoint (records, an effect, an event) finds it there.
#include "graph/graph_internal.h"

#include <stdio.h>
#include <stdlib.h>

static int superstep(pons_run *r, pons_error *err);
static int step_tasks(pons_run *r, pons_error *err);
static int conclude_parked(pons_run *r, bool failed, pons_error *err);
static int conclude_step(pons_run *r, pons_error *err);
static int settle_step(pons_run *r, pons_error *err);
static int finish(pons_run *r, pons_run_state state, pons_error *err);
static bool must_store(const pons_run *r);
static bool stop_due(const pons_run *r);
static int parents_of(const pons_run *r, pons_value **ret, pons_error *err);

// ---------------------------------------------------------------- begin and end

int pons_run_start(pons_thread *t, const pons_graph *g, const char *ns, const pons_value *input,
                   const pons_run_options *opts, pons_run **ret, pons_error *err)
{
    pons_run *r;
    int st = pons__run_open(t, g, ns, opts, &r, err);
    if (st != PONS_OK)
        return st;
    st = pons__run_begin(r, input, "", NULL, err);
    if (st != PONS_OK) {
        r->state = PONS_RUN_DONE; // nothing was begun
        pons_run_destroy(r);
        return st;
    }
    *ret = r;
    return PONS_OK;
}

int pons_run_resume(pons_thread *t, const pons_graph *g, const char *ns,
                    const pons_run_options *opts, pons_run **ret, pons_error *err)
{
    pons_run *r;
    int st = pons__run_open(t, g, ns, opts, &r, err);
    if (st != PONS_OK)
        return st;
    st = pons__run_continue(r, err);
    if (st != PONS_OK) {
        r->state = PONS_RUN_DONE;
        pons_run_destroy(r);
        return st;
    }
    *ret = r;
    return PONS_OK;
}

int pons__run_open(pons_thread *t, const pons_graph *g, const char *name,
                   const pons_run_options *opts, pons_run **ret, pons_error *err)
{
    pons__ns *ns = pons__ns_get(t, name, err);
    if (!ns)
        return PONS_EINVAL;
    pons_run *old = ns->active;
    if (old && old->state != PONS_RUN_DONE && old->state != PONS_RUN_FAILED)
        return pons_error_set(err, PONS_EBUSY, PONS__MODULE,
                              "namespace '%s' of thread %s has a run under way", name, t->id);
    if (old) { // it has ended and keeps nothing but its outcome
        for (size_t i = 0; i < old->n_pool; i++)
            pons__task_clear(old->tasks[i]);
        old->n_tasks = 0;
        pons__run_release(old);
        old->ns = NULL;
    }
    int st = pons__ns_load(t, ns, g, t->store.ops != NULL, err);
    if (st != PONS_OK)
        return st;
    pons_run *r = pons__run_create(t, g, ns, opts);
    if (!r)
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a run");
    r->durable = t->store.ops != NULL;
    snprintf(r->base, sizeof r->base, "%s", ns->exists ? ns->head : "");
    *ret = r;
    return PONS_OK;
}

pons_run *pons__run_create(pons_thread *t, const pons_graph *g, pons__ns *ns,
                           const pons_run_options *opts)
{
    pons_run *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->t = t;
    r->g = pons__graph_ref(g);
    r->ns = ns;
    r->serial = ++t->serial;
    r->opts = opts ? *opts : (pons_run_options)PONS_RUN_OPTIONS_INIT;
    r->limit = r->opts.recursion_limit > 0 ? r->opts.recursion_limit : g->recursion_limit;
    r->state = PONS_RUN_READY;
    ns->active = r;
    return r;
}

// Gives the namespace back. Memory that is ahead of the store for good is read again.
void pons__run_release(pons_run *r)
{
    if (!r->ns || r->ns->active != r)
        return;
    r->ns->active = NULL;
    if (r->ns->queue)
        pons__queue_wake(r->ns);
    if (r->durable && (r->spoiled || r->ns->ahead || r->commit_due ||
                       (!r->cp_stored && r->state != PONS_RUN_DONE)))
        pons__ns_forget(r->ns);
}

void pons_run_destroy(pons_run *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->n_pool; i++)
        pons__task_destroy(r->tasks[i]);
    pons__queue_leave(r);
    pons_value_unref(r->queued_input);
    pons_value_unref(r->ran);
    pons__run_release(r);
    if (r->parent_task && r->parent_task->node->mode != PONS_SUBGRAPH_OWN)
        pons__ns_drop(r->t, r->ns); // nobody asks for it by this name again in this process
    pons__graph_unref(r->g);
    pons__out_fini(&r->out);
    free(r->tasks);
    free(r->flat);
    free(r->stage);
    free(r->updates);
    free(r);
}

// The start's superstep: the input is written, START's routers run. Stored by the first advance.
int pons__run_begin(pons_run *r, const pons_value *input, const char *owner,
                    const pons_command *cmd, pons_error *err)
{
    pons__ns *ns = r->ns;
    pons_cx *cx = pons__task_add(r, PONS__END, err);
    if (!cx)
        return PONS_ENOMEM;
    int st = PONS_OK;
    pons_value *before = r->opts.stream ? pons__stream_snapshot(r) : NULL;
    uint64_t run_was = ns->run_id;
    ns->run_id = pons_rand_u64(&r->t->rand);
    cx->bare = cmd != NULL;
    pons__task_start(cx, input);
    if (cmd && cx->state == PONS__TASK_DONE)
        st = pons__command_routes(cx, cmd, err);
    if (cx->state == PONS__TASK_PARKED)
        st = pons_error_set(err, PONS_EINVAL, PONS__MODULE, "a router of START can't wait");
    if (cx->state == PONS__TASK_FAILED || cx->broken) {
        st = cx->broken ? cx->fault : cx->error.status;
        if (err)
            *err = cx->broken ? cx->fault_error : cx->error;
    }
    r->starting = true;
    if (st == PONS_OK)
        st = pons__apply(r, err);
    r->starting = false;
    pons_value *parents = NULL;
    if (st == PONS_OK && r->parent)
        st = parents_of(r, &parents, err);
    if (st != PONS_OK) {
        ns->run_id = run_was;
        pons_value_unref(before);
        return st;
    }
    pons_value_unref(ns->parents);
    ns->parents = parents;
    enum { INPUT_AND_START = 2 };
    ns->step += INPUT_AND_START;
    ns->run_id_stored = false;
    snprintf(ns->owner, sizeof ns->owner, "%s", owner);
    ns->forked = false;
    r->stopped = r->g->stops && stop_due(r);
    r->n_tasks = 0;
    r->source = 'l';
    r->input_row = !r->g->quiet && r->opts.durability != PONS_DURABILITY_EXIT;
    r->commit_due = true;
    r->input_id[0] = '\0';
    r->gap = r->durable && !r->input_row && pons__run_note(r, PONS_START);
    if (before && r->input_row)
        pons__stream_input(r, before);
    else
        pons_value_unref(before);
    if (r->opts.stream)
        pons__stream_state(r, true, true);
    return PONS_OK;
}

// The checkpoints that the graphs around this one stand on: {namespace: id}.
static int parents_of(const pons_run *r, pons_value **ret, pons_error *err)
{
    pons_value *parents = json_object();
    bool ok = parents != NULL;
    for (pons_run *p = r->parent; p && ok; p = p->parent)
        ok = json_object_set_new(parents, p->ns->name, json_string(pons__run_cp(p))) == 0;
    if (!ok) {
        pons_value_unref(parents);
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a subgraph's run");
    }
    *ret = parents;
    return PONS_OK;
}

int pons__run_continue(pons_run *r, pons_error *err)
{
    pons__ns *ns = r->ns;
    if (ns->step == PONS__STEP_NONE || (!pons__ns_more(ns) && !ns->lost[0]))
        return pons_error_set(err, PONS_ENOTFOUND, PONS__MODULE,
                              "namespace '%s' of thread %s has nothing unfinished", ns->name,
                              r->t->id);
    if (ns->lost[0])
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                              "checkpoint %s goes on at node '%s', which graph %s does not have",
                              ns->head, ns->lost, r->g->name);
    snprintf(r->cp_id, sizeof r->cp_id, "%s", ns->head);
    r->cp_stored = true;
    r->source = 'l';
    int st = pons__run_prepare(r, err);
    if (st == PONS_OK && r->durable)
        st = pons__records_load(r, err);
    for (size_t i = 0; i < r->n_tasks && st == PONS_OK; i++) {
        pons_cx *cx = r->tasks[i];
        if (!cx->node->sub || cx->state == PONS__TASK_DONE)
            continue;
        st = pons__subgraph_open(cx, false, err);
    }
    return st;
}

// ---------------------------------------------------------------- the loop

int pons_run_advance(pons_run *r, pons_error *err)
{
    int st = PONS_OK;
    while (st == PONS_OK && r->state == PONS_RUN_READY)
        st = pons_run_step(r, err);
    return st;
}

int pons_run_step(pons_run *r, pons_error *err)
{
    if (r->state != PONS_RUN_READY)
        return PONS_OK;
    if (r->queued_ns) {
        int st = pons__queue_begin(r, err);
        if (st != PONS_OK || r->queued_ns || r->state != PONS_RUN_READY)
            return st;
    }
    r->stepping++;
    int st = superstep(r, err);
    r->stepping--;
    if (st != PONS_OK)
        pons__run_lost(r, err);
    if (r->ns && r->ns->queue)
        pons__queue_wake(r->ns);
    return st;
}

static int superstep(pons_run *r, pons_error *err)
{
    if (!r->prepared) {
        int st = settle_step(r, err);
        if (st != PONS_OK || r->state != PONS_RUN_READY)
            return st;
        st = pons__run_prepare(r, err);
        if (st != PONS_OK)
            return st;
    }
    return step_tasks(r, err);
}

// After an applied step: store it when it is due, and end the run when nothing is next.
static int settle_step(pons_run *r, pons_error *err)
{
    bool more = pons__ns_more(r->ns);
    if (r->commit_due && (must_store(r) || !r->durable)) {
        int st = pons__run_commit(r, &(pons__extra){.may_wait = true}, err);
        if (st != PONS_OK)
            return st;
    }
    r->commit_due = false;
    if (more && pons__run_root(r)->drain && (r->durable || !r->parent))
        r->stopped = r->drained = true;
    if (r->stopped)
        return finish(r, PONS_RUN_INTERRUPTED, err);
    if (r->supersteps >= r->limit) {
        pons_error e = PONS_ERROR_INIT;
        pons_error_set(&e, PONS_ERECURSION, PONS__MODULE,
                       "%d supersteps did not end graph %s (its recursion limit)", r->limit,
                       r->g->name);
        pons_error_source(&e, "thread %s step %lld", r->t->id, (long long)r->ns->step);
        r->error = e;
        return finish(r, PONS_RUN_FAILED, err);
    }
    return more ? PONS_OK : finish(r, PONS_RUN_DONE, err);
}

// Whether the state in memory may not stay out of the store any longer.
static bool must_store(const pons_run *r)
{
    if (r->cp_stored)
        return false;
    if (r->opts.durability == PONS_DURABILITY_EXIT)
        return false; // finish does
    return !r->g->quiet || r->ns->n_dirty > 0 || !pons__out_empty(&r->out);
}

// Brings the store level with the run's end. Wholly quiet runs leave no trace.
static int finish(pons_run *r, pons_run_state state, pons_error *err)
{
    bool trace = !r->g->quiet || r->ns->n_dirty > 0 || !pons__out_empty(&r->out) ||
                 r->ns->head_unfinished || state != PONS_RUN_DONE;
    int st = PONS_OK;
    if (r->ns->ahead || (!r->cp_stored && trace) || !pons__out_empty(&r->out))
        st = pons__run_commit(r, &(pons__extra){.may_wait = true}, err);
    if (st == PONS_OK && r->durable && r->opts.durability == PONS_DURABILITY_ASYNC)
        st = pons__thread_flush(r->t, err);
    if (st == PONS_OK)
        r->state = state;
    return st;
}

int pons__run_prepare(pons_run *r, pons_error *err)
{
    if (r->gap && !r->cp_stored && r->supersteps > 0 && !pons__run_note(r, NULL))
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a superstep");
    r->n_tasks = 0;
    for (size_t w = 0; w < r->g->n_words; w++) {
        for (uint64_t bits = r->ns->next[w]; bits; bits &= bits - 1) {
            uint32_t ix = (uint32_t)(w * PONS__WORD_BITS) + (uint32_t)__builtin_ctzll(bits);
            if (!pons__task_add(r, ix, err))
                return PONS_ENOMEM;
        }
    }
    for (size_t i = 0; i < r->ns->n_sends; i++) {
        pons_cx *cx = pons__task_add(r, r->ns->sends[i].node, err);
        if (!cx)
            return PONS_ENOMEM;
        cx->arg = pons_value_ref(r->ns->sends[i].arg);
        cx->send_ix = (uint32_t)i + 1;
    }
    r->prepared = true;
    return PONS_OK;
}

// Under `exit`, and after quiet steps, the state is stored without the checkpoint before it, which
// would tell who ran.
bool pons__run_note(pons_run *r, const char *only)
{
    pons_value_unref(r->ran);
    r->ran = json_array();
    bool ok = r->ran && (!only || json_array_append_new(r->ran, json_string(only)) == 0);
    for (size_t i = 0; i < r->n_tasks && ok && !only; i++)
        ok = json_array_append_new(r->ran, json_string(r->tasks[i]->node->name)) == 0;
    return ok;
}

pons_cx *pons__task_add(pons_run *r, uint32_t node_ix, pons_error *err)
{
    if (r->n_tasks == r->n_pool) {
        pons_cx *fresh = calloc(1, sizeof *fresh);
        if (!fresh || !pons__reserve(&r->tasks, &r->cap_tasks, r->n_pool + 1, sizeof(void *))) {
            free(fresh);
            pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a task");
            return NULL;
        }
        r->tasks[r->n_pool++] = fresh;
    }
    pons_cx *cx = r->tasks[r->n_tasks++];
    pons__task_clear(cx);
    cx->run = r;
    cx->node_ix = node_ix;
    cx->node = node_ix == PONS__END ? &r->g->start : &r->g->nodes[node_ix];
    cx->node_special = cx->node->policy || cx->node->blocking;
    return cx;
}

static int step_tasks(pons_run *r, pons_error *err)
{
    bool failed = false, parked = false;
    pons__awaits_start(r); // those of a resumed run
    for (size_t i = 0; i < r->n_tasks; i++) {
        pons_cx *cx = r->tasks[i];
        if (cx->state == PONS__TASK_TODO) {
            if (r->opts.stream)
                pons__stream_task(cx, true);
            pons__task_run(cx);
            if (cx->broken) {
                if (err)
                    *err = cx->fault_error;
                return cx->fault;
            }
        }
        if (r->opts.stream && !cx->streamed && !cx->escape)
            pons__stream_task(cx, false);
        if (cx->escape) {
            r->escaped = cx;
            r->state = PONS_RUN_DONE;
            for (size_t k = 0; k < r->n_tasks; k++)
                pons__task_cancel(r->tasks[k]);
            return r->durable && !pons__out_empty(&r->out)
                       ? pons__run_commit(r, &(pons__extra){0}, err)
                       : PONS_OK;
        }
        failed = failed || cx->state == PONS__TASK_FAILED;
        parked = parked || cx->state == PONS__TASK_PARKED;
    }
    return failed || parked ? conclude_parked(r, failed, err) : conclude_step(r, err);
}

// Some wait or have failed: what is done and what was asked is kept, then the handlers are called.
static int conclude_parked(pons_run *r, bool failed, pons_error *err)
{
    pons__rows rows = {0};
    int st = PONS_OK;
    if (r->opts.stream)
        pons__stream_interrupts(r);
    for (size_t i = 0; i < r->n_tasks && st == PONS_OK && r->durable; i++)
        st = pons__rows_task(&rows, r->tasks[i], err);
    if (st == PONS_OK)
        st = pons__run_commit(r, &(pons__extra){.rows = &rows}, err);
    pons__rows_fini(&rows);
    if (st != PONS_OK)
        return st;
    for (size_t i = 0; i < r->n_tasks; i++)
        pons__rows_saved(r->tasks[i]);
    if (failed) {
        for (size_t i = r->n_tasks; i-- > 0;)
            if (r->tasks[i]->state == PONS__TASK_FAILED)
                r->error = r->tasks[i]->error; // the first in task order stays
        r->state = PONS_RUN_FAILED;
        return PONS_OK;
    }
    pons__awaits_start(r);
    r->state = pons__awaits_state(r);
    return PONS_OK;
}

static int conclude_step(pons_run *r, pons_error *err)
{
    pons_error e = PONS_ERROR_INIT;
    int st = pons__apply(r, &e);
    if (st != PONS_OK) { // nothing has changed; a resume runs the whole step again
        pons_error_source(&e, "thread %s step %lld", r->t->id, (long long)r->ns->step + 1);
        r->error = e;
        if (r->spoiled) {
            r->state = PONS_RUN_FAILED;
            return PONS_OK;
        }
        return finish(r, PONS_RUN_FAILED, err);
    }
    r->stopped = r->g->stops && stop_due(r);
    r->prepared = false;
    r->gap = r->durable && !r->cp_stored;
    r->ns->step++;
    r->supersteps++;
    r->cp_id[0] = '\0';
    r->cp_stored = false;
    r->commit_due = true;
    r->source = 'l';
    if (r->opts.stream)
        pons__stream_state(r, r->wrote, true);
    return settle_step(r, err);
}

// Whether interrupt_before or interrupt_after holds the run here.
static bool stop_due(const pons_run *r)
{
    bool due = false, more = false;
    for (size_t i = 0; i < r->n_tasks; i++)
        due = due || r->tasks[i]->node->after;
    for (size_t i = 0; i < r->g->n_nodes; i++) {
        bool next = pons__bit_get(r->ns->next, i);
        more = more || next;
        due = due || (next && r->g->nodes[i].before);
    }
    for (size_t i = 0; i < r->ns->n_sends; i++)
        due = due || r->g->nodes[r->ns->sends[i].node].before;
    return (more || r->ns->n_sends > 0) && due;
}

void pons__run_wake(pons_run *r)
{
    for (; r; r = r->parent) {
        if (r->state == PONS_RUN_PARKED || r->state == PONS_RUN_INTERRUPTED)
            r->state = PONS_RUN_READY;
        if (!r->parent_task || r->parent_task->state != PONS__TASK_PARKED)
            continue;
        r->parent_task->moved_ns = 0;
        r->parent_task->state = PONS__TASK_TODO;
    }
}

// ---------------------------------------------------------------- what a run is

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
    if (!r->ns)
        return NULL;
    uint32_t ch = pons__graph_channel_find(r->g, channel);
    return ch == PONS__NONE ? NULL : r->ns->slots[ch].v;
}

const char *pons_run_ns(const pons_run *r)
{
    return r->ns ? r->ns->name : "";
}

int pons_run_supersteps(const pons_run *r)
{
    return r->supersteps;
}

pons_value *pons_run_next(const pons_run *r)
{
    pons_value *list = json_array();
    for (size_t i = 0; r->ns && i < r->g->n_nodes; i++)
        if (pons__bit_get(r->ns->next, i))
            json_array_append_new(list, json_string(r->g->nodes[i].name));
    for (size_t i = 0; r->ns && i < r->ns->n_sends; i++)
        json_array_append_new(list, json_string(r->g->nodes[r->ns->sends[i].node].name));
    return list;
}

pons_run *pons__run_root(pons_run *r)
{
    while (r->parent)
        r = r->parent;
    return r;
}

// Nodes name channels by literals: the same pointer comes again, so its place is looked at first.
uint32_t pons__run_channel(pons_run *r, const char *name)
{
    size_t at = ((uintptr_t)name >> 3 ^ (uintptr_t)name >> 8) % PONS__LOOKUP_SLOTS;
    if (r->lookup[at].name == name && strcmp(r->g->channels[r->lookup[at].ch].name, name) == 0)
        return r->lookup[at].ch;
    uint32_t ch = pons__graph_channel_find(r->g, name);
    if (ch != PONS__NONE) {
        r->lookup[at].name = name;
        r->lookup[at].ch = ch;
    }
    return ch;
}
