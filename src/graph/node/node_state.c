// node_state.c - what a node reads and writes, and what it may ask about itself.
//
// A router sees the state with the task's own writes folded in; the fold is made when a router
// asks, a channel at a time.
#include "graph/core/faults.h"
#include "graph/core/run_accessors.h"
#include "graph/core/task_writes.h"
#include "graph/engine.h"
#include "graph/state/channel_update.h"
#include "pons/growing_list.h"

#include <stdlib.h>

// ---- state --------------------------------------------------------------------------------------

// What the managed channels say. A step counts as the last one when nothing could run after it.
static const pons_value *managed(pons_cx *cx, pons_channel_kind kind)
{
    int left = cx->run->limit - cx->run->supersteps - 1;
    if (kind == PONS_CHANNEL_IS_LAST_STEP) {
        return left <= 1 ? json_true() : json_false();
    }
    pons_value *v = json_integer(left);
    pons__task_hold(cx, v);
    return v;
}

// A channel with this task's own writes folded in.
static const pons_value *own_view(pons_cx *cx, uint32_t ch)
{
    const pons__channel *channel = &cx->run->g->channels[ch];
    size_t n = 0, keep;
    if (!channel->folds) { // the newest write is the value
        for (size_t i = cx->n_writes; i-- > 0;) {
            if (cx->writes[i].ch == ch) {
                return cx->writes[i].v;
            }
        }
        return cx->run->ns->slots[ch].v;
    }
    for (size_t i = 0; i < cx->n_views; i++) {
        if (cx->views[i].ch == ch) {
            return cx->views[i].v;
        }
    }
    for (size_t i = 0; i < cx->n_writes; i++) {
        n += cx->writes[i].ch == ch;
    }
    if (n == 0) {
        return cx->run->ns->slots[ch].v;
    }
    pons_error e = PONS_ERROR_INIT;
    pons_value *v = NULL, **mine = calloc(n, sizeof(pons_value *));
    int st = mine ? PONS_OK : PONS_ENOMEM;
    n = 0;
    for (size_t i = 0; i < cx->n_writes && mine; i++) {
        if (cx->writes[i].ch == ch) {
            mine[n++] = cx->writes[i].v;
        }
    }
    if (mine) {
        st = pons__channel_fold(channel, cx->run->ns->slots[ch].v, mine, n, &v, &keep, &e);
    }
    free(mine);
    if (st == PONS_OK &&
        !pons_list_reserve(&cx->views, &cx->cap_views, cx->n_views + 1, sizeof *cx->views)) {
        st = PONS_ENOMEM;
    }
    if (st != PONS_OK) {
        pons_value_unref(v);
        pons__cx_fault(cx, st, &e);
        return NULL;
    }
    cx->views[cx->n_views++] = (pons__view){ch, v};
    return v;
}

const pons_value *pons_cx_get(pons_cx *cx, const char *channel)
{
    uint32_t ch = pons__run_channel(cx->run, channel);
    if (ch == PONS__NONE) {
        pons_error e = PONS_ERROR_INIT;
        pons_error_set(&e, PONS_EINVAL, PONS__MODULE, "node '%s' reads unknown channel '%s'",
                       cx->node->name, channel);
        pons__cx_fault(cx, PONS_EINVAL, &e);
        return NULL;
    }
    if (cx->run->g->managed && cx->run->g->channels[ch].kind >= PONS_CHANNEL_IS_LAST_STEP) {
        return managed(cx, cx->run->g->channels[ch].kind);
    }
    return cx->router && cx->n_writes > 0 ? own_view(cx, ch) : cx->run->ns->slots[ch].v;
}

int pons_cx_put(pons_cx *cx, const char *channel, pons_value *v)
{
    pons_error e = PONS_ERROR_INIT;
    uint32_t ch = pons__run_channel(cx->run, channel);
    if (ch == PONS__NONE) {
        pons__cx_dropped(cx, channel);
        pons_value_unref(v);
        return PONS_OK;
    }
    int st = pons__cx_write(cx, ch, v, &e);
    if (st != PONS_OK) {
        pons__cx_fault(cx, st, &e);
    }
    return st;
}

// ---- what a task is -----------------------------------------------------------------------------

int pons_cx_superstep(const pons_cx *cx)
{
    return (int)(cx->run->ns->step + 1);
}

int pons_cx_remaining_steps(const pons_cx *cx)
{
    return cx->run->limit - cx->run->supersteps;
}

const char *pons_cx_node(const pons_cx *cx)
{
    return cx->node->name;
}

const char *pons_cx_ns(const pons_cx *cx)
{
    return cx->run->ns->name;
}

pons_thread *pons_cx_thread(pons_cx *cx)
{
    return cx->run->t;
}

bool pons_cx_canceled(const pons_cx *cx)
{
    return pons__run_cancel_how(cx->run) != PONS_CANCEL_NONE;
}

const pons_value *pons_cx_context(const pons_cx *cx)
{
    return cx->run->opts.context;
}

void *pons_cx_context_user(const pons_cx *cx)
{
    return cx->run->opts.context_user;
}

const pons_value *pons_cx_arg(const pons_cx *cx)
{
    return cx->arg;
}

int pons_cx_attempt(const pons_cx *cx)
{
    return cx->attempt + 1;
}
