// cx.c - what a node sees of the engine, and how a task is run.
//
// A pass of a task: rewind (drop what the last pass wrote, keep its awaits, time, seed and inbox
// bound), the node, its routers, its static edges. A router sees the state with the task's own
// writes folded in; the fold is made when a router asks, a channel at a time.
#include "graph/graph_internal.h"

#include "pons/log.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static int run_node(pons_cx *cx, pons_error *err);
static void pass(pons_cx *cx, const pons_value *input);
static int run_routers(pons_cx *cx, pons_error *err);
static const pons_value *own_view(pons_cx *cx, uint32_t ch);
static const pons_value *managed(pons_cx *cx, pons_channel_kind kind);
static int64_t fixed_wall(void *ctx);
static int64_t fixed_ns(void *ctx);
static void rand_ready(pons_cx *cx);

// ---------------------------------------------------------------- state

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
    if (cx->run->g->managed && cx->run->g->channels[ch].kind >= PONS_CHANNEL_IS_LAST_STEP)
        return managed(cx, cx->run->g->channels[ch].kind);
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
    if (st != PONS_OK)
        pons__cx_fault(cx, st, &e);
    return st;
}

void pons__cx_dropped(const pons_cx *cx, const char *channel)
{
    pons_log(PONS_LOG_WARN, PONS__MODULE,
             "thread %s step %lld: node '%s' writes unknown channel '%s': dropped", cx->run->t->id,
             (long long)cx->run->ns->step + 1, cx->node->name, channel);
}

int pons__cx_write(pons_cx *cx, uint32_t ch, pons_value *v, pons_error *err)
{
    if (!v)
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE, "node '%s' writes no value to '%s'",
                              cx->node->name, cx->run->g->channels[ch].name);
    if (cx->run->g->channels[ch].kind >= PONS_CHANNEL_IS_LAST_STEP) {
        pons_value_unref(v);
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                              "node '%s' writes '%s', which the engine manages", cx->node->name,
                              cx->run->g->channels[ch].name);
    }
    if (cx->run->g->channels[ch].kind == PONS_CHANNEL_MESSAGES) {
        int st = pons__messages_prepare(cx, v, &v, err);
        if (st != PONS_OK) {
            pons_value_unref(v);
            return st;
        }
    }
    if (!pons__reserve(&cx->writes, &cx->cap_writes, cx->n_writes + 1, sizeof *cx->writes)) {
        pons_value_unref(v);
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a write");
    }
    cx->writes[cx->n_writes++] = (pons__write){ch, v};
    for (size_t i = 0; i < cx->n_views; i++) // a router that writes sees it from now on
        if (cx->views[i].ch == ch) {
            pons__task_hold(cx, cx->views[i].v);
            cx->views[i] = cx->views[--cx->n_views];
            break;
        }
    return PONS_OK;
}

// What the managed channels say. A step counts as the last one when nothing could run after it.
static const pons_value *managed(pons_cx *cx, pons_channel_kind kind)
{
    int left = cx->run->limit - cx->run->supersteps - 1;
    if (kind == PONS_CHANNEL_IS_LAST_STEP)
        return left <= 1 ? json_true() : json_false();
    pons_value *v = json_integer(left);
    pons__task_hold(cx, v);
    return v;
}

// ---------------------------------------------------------------- time, randomness, ids

int64_t pons_cx_wall_ms(pons_cx *cx)
{
    if (!cx->wall_fixed) {
        cx->wall_ms = pons_wall_ms(&cx->run->t->clock);
        cx->wall_fixed = true;
    }
    return cx->wall_ms;
}

uint64_t pons_cx_random(pons_cx *cx)
{
    rand_ready(cx);
    return pons_rand_u64(&cx->rand);
}

void pons_cx_id(pons_cx *cx, char ret[PONS_ID_MAX])
{
    pons__cx_make_id(cx, ret);
}

void pons__cx_make_id(pons_cx *cx, char ret[PONS_ID_MAX])
{
    rand_ready(cx);
    pons_id_make(&cx->ids, ret);
}

void pons__task_fix(pons_cx *cx)
{
    pons_cx_wall_ms(cx);
    if (!cx->seeded)
        cx->seed = pons_rand_u64(&cx->run->t->rand);
    cx->seeded = true;
}

static void rand_ready(pons_cx *cx)
{
    if (cx->rand_ready)
        return;
    pons__task_fix(cx);
    pons_rand_seed(&cx->rand, cx->seed);
    pons_clock fixed = {fixed_ns, fixed_wall, fixed_ns, cx};
    pons_id_source_init(&cx->ids, fixed, &cx->rand);
    cx->rand_ready = true;
}

static int64_t fixed_wall(void *ctx)
{
    return ((pons_cx *)ctx)->wall_ms;
}

static int64_t fixed_ns(void *ctx)
{
    return ((pons_cx *)ctx)->wall_ms * PONS_NS_PER_MS;
}

// ---------------------------------------------------------------- what a task is

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

// ---------------------------------------------------------------- events, inbox

int pons_cx_emit(pons_cx *cx, const char *type, pons_value *payload)
{
    int st = pons__out_emit(&cx->out, type, payload, pons_wall_ms(&cx->run->t->clock));
    if (st != PONS_OK)
        pons__cx_fault(cx, st, NULL);
    return st;
}

void pons_cx_emit_live(pons_cx *cx, const char *type, pons_value *payload)
{
    pons_thread_emit_live(cx->run->t, cx->run->ns->name, type, payload);
}

int pons_cx_post(pons_cx *cx, const char *ns, const char *kind, pons_value *value)
{
    int st = pons__out_post(&cx->out, ns, kind, value);
    if (st != PONS_OK)
        pons__cx_fault(cx, st, NULL);
    return st;
}

typedef struct inbox_read {
    pons_value *list;
    int64_t bound; // the newest that may be taken; INT64_MAX: all
    int st;
} inbox_read;

static int inbox_row(void *user, const pons_inbox_row *row)
{
    inbox_read *r = user;
    if (row->seq > r->bound)
        return 1;
    pons_value *v = NULL;
    r->st = pons_value_parse(row->value.data, row->value.len, &v, NULL);
    if (r->st == PONS_OK &&
        json_array_append_new(r->list, json_pack("{sIssso}", "seq", (json_int_t)row->seq, "kind",
                                                 row->kind, "value", v)) != 0)
        r->st = PONS_ENOMEM;
    return r->st;
}

static void inbox_memory(const pons_thread *t, const pons__ns *ns, inbox_read *r)
{
    size_t i;
    pons_value *m;
    json_array_foreach(t->mem_inbox, i, m)
    {
        int64_t seq = pons_get_int(m, "seq", 0);
        if (strcmp(pons_get_str(m, "ns", ""), ns->name) == 0 && seq > ns->inbox_after &&
            seq <= r->bound)
            json_array_append(r->list, m);
    }
}

const pons_value *pons_cx_inbox(pons_cx *cx, pons_error *err)
{
    if (cx->inbox)
        return cx->inbox;
    pons_thread *t = cx->run->t;
    pons__ns *ns = cx->run->ns;
    int st = PONS_OK;
    inbox_read r = {.list = json_array(), .bound = cx->inbox_fixed ? cx->inbox_bound : INT64_MAX};
    if (!t->store.ops)
        inbox_memory(t, ns, &r);
    else
        st = t->store.ops->inbox_read(t->store.self, t->id, ns->name, ns->inbox_after, inbox_row,
                                      &r, err);
    st = st == PONS_OK ? r.st : st;
    if (st != PONS_OK || !r.list) {
        pons_value_unref(r.list);
        pons__cx_break(cx, st, err);
        return NULL;
    }
    size_t n = json_array_size(r.list);
    if (!cx->inbox_fixed)
        cx->inbox_bound =
            n > 0 ? pons_get_int(json_array_get(r.list, n - 1), "seq", 0) : ns->inbox_after;
    cx->inbox_fixed = true;
    cx->inbox = r.list;
    return r.list;
}

// ---------------------------------------------------------------- a task's life

void pons__task_run(pons_cx *cx)
{
    do { // again for an attempt that is due at once
        pons__task_rewind(cx);
        pass(cx, NULL);
    } while (cx->state == PONS__TASK_TODO && !cx->broken);
}

void pons__task_start(pons_cx *cx, const pons_value *input)
{
    pass(cx, input);
}

// One pass: START's node is the writing of the input.
static void pass(pons_cx *cx, const pons_value *input)
{
    pons_error err = PONS_ERROR_INIT;
    int st = cx->expired ? pons__policy_timed_out(cx, &err)
             : input     ? pons__cx_input(cx, input, &err)
                         : run_node(cx, &err);
    if (st == PONS_OK && cx->fault == PONS_OK && !cx->cached && !cx->escape && !cx->bare)
        st = run_routers(cx, &err);
    if (cx->broken) { // the store failed under it: the engine's error, not the node's
        pons__awaits_unasked(cx);
        return;
    }
    if (cx->fault != PONS_OK && st != PONS_EPARKED) {
        st = cx->fault;
        err = cx->fault_error;
    }
    if (st == PONS_OK && cx->inbox)
        for (size_t i = 0; i < json_array_size(cx->inbox) && st == PONS_OK; i++)
            st = pons__out_take(&cx->out, pons_get_int(json_array_get(cx->inbox, i), "seq", 0));
    if (st == PONS_EPARKED && (pons__task_pending(cx) || cx->child || cx->work)) {
        cx->state = PONS__TASK_PARKED;
        if (cx->node->policy)
            pons__policy_park(cx);
        return;
    }
    if (st == PONS_OK) {
        cx->state = PONS__TASK_DONE;
        pons__awaits_drop(cx);
        if (cx->node->policy && cx->node->policy->cache && !cx->cached && !input)
            pons__policy_store(cx);
        return;
    }
    if (st == PONS_EPARKED)
        pons_error_set(&err, PONS_EINVAL, PONS__MODULE,
                       "node '%s' returned parked, but nothing it asked for is pending",
                       cx->node->name);
    if (err.status == PONS_OK)
        pons_error_set(&err, st, PONS__MODULE, "node '%s' failed: %s", cx->node->name,
                       pons_status_word(st));
    if (!err.source[0])
        pons_error_source(&err, "thread %s node %s", cx->run->t->id, cx->node->name);
    pons__awaits_unasked(cx);
    if (cx->node->policy && !input && pons__policy_failed(cx, &err))
        return;
    cx->error = err;
    cx->state = PONS__TASK_FAILED;
}

int pons__cx_input(pons_cx *cx, const pons_value *input, pons_error *err)
{
    const char *name;
    pons_value *v;
    int st = PONS_OK;
    if (!json_is_object(input))
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                              "an input or an update is an object {channel: value}");
    json_object_foreach((pons_value *)(uintptr_t)input, name, v)
    {
        uint32_t ch = pons__run_channel(cx->run, name);
        if (ch == PONS__NONE && cx->node_ix != PONS__END && !cx->outside)
            pons__cx_dropped(cx, name);
        else if (ch == PONS__NONE)
            st = pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                                "an input or an update names unknown channel '%s'", name);
        else
            st = pons__cx_write(cx, ch, pons_value_ref(v), err);
        if (st != PONS_OK)
            break;
    }
    return st;
}

static int run_node(pons_cx *cx, pons_error *err)
{
    if (cx->node->policy && cx->node->policy->cache && pons__policy_recall(cx))
        return PONS_OK;
    if (cx->node->blocking)
        return pons__work_run(cx, err);
    if (cx->node->sub)
        return pons__subgraph_run(cx, err);
    return cx->node->fn ? cx->node->fn(cx, cx->node->user, err) : PONS_OK;
}

static int run_routers(pons_cx *cx, pons_error *err)
{
    int st = PONS_OK;
    for (size_t i = 0; i < cx->node->n_routers && st == PONS_OK && cx->fault == PONS_OK; i++) {
        cx->router = &cx->node->routers[i];
        st = cx->router->fn(cx, cx->router->user, err);
    }
    cx->router = NULL;
    return st;
}

// A channel with this task's own writes folded in.
static const pons_value *own_view(pons_cx *cx, uint32_t ch)
{
    const pons__channel *channel = &cx->run->g->channels[ch];
    size_t n = 0, keep;
    if (!channel->folds) { // the newest write is the value
        for (size_t i = cx->n_writes; i-- > 0;)
            if (cx->writes[i].ch == ch)
                return cx->writes[i].v;
        return cx->run->ns->slots[ch].v;
    }
    for (size_t i = 0; i < cx->n_views; i++)
        if (cx->views[i].ch == ch)
            return cx->views[i].v;
    for (size_t i = 0; i < cx->n_writes; i++)
        n += cx->writes[i].ch == ch;
    if (n == 0)
        return cx->run->ns->slots[ch].v;
    pons_error e = PONS_ERROR_INIT;
    pons_value *v = NULL, **mine = calloc(n, sizeof(pons_value *));
    int st = mine ? PONS_OK : PONS_ENOMEM;
    n = 0;
    for (size_t i = 0; i < cx->n_writes && mine; i++)
        if (cx->writes[i].ch == ch)
            mine[n++] = cx->writes[i].v;
    if (mine)
        st = pons__channel_fold(channel, cx->run->ns->slots[ch].v, mine, n, &v, &keep, &e);
    free(mine);
    if (st == PONS_OK &&
        !pons__reserve(&cx->views, &cx->cap_views, cx->n_views + 1, sizeof *cx->views))
        st = PONS_ENOMEM;
    if (st != PONS_OK) {
        pons_value_unref(v);
        pons__cx_fault(cx, st, &e);
        return NULL;
    }
    cx->views[cx->n_views++] = (pons__view){ch, v};
    return v;
}

void pons__cx_fault(pons_cx *cx, int st, const pons_error *err)
{
    if (cx->fault != PONS_OK)
        return; // the first one says most
    cx->fault = st;
    if (err && err->status != PONS_OK)
        cx->fault_error = *err;
    else
        pons_error_set(&cx->fault_error, st, PONS__MODULE, "node '%s': %s", cx->node->name,
                       pons_status_word(st));
}

void pons__cx_break(pons_cx *cx, int st, const pons_error *err)
{
    pons__cx_fault(cx, st, err);
    cx->broken = true;
}

void pons__task_hold(pons_cx *cx, pons_value *v)
{
    if (!v)
        return;
    if (!pons__reserve(&cx->held, &cx->cap_held, cx->n_held + 1, sizeof *cx->held)) {
        pons_value_unref(v);
        pons__cx_fault(cx, PONS_ENOMEM, NULL);
        return;
    }
    cx->held[cx->n_held++] = v;
}

static void drop_writes(pons_cx *cx)
{
    for (size_t i = 0; i < cx->n_writes; i++)
        pons_value_unref(cx->writes[i].v);
    for (size_t i = 0; i < cx->n_views; i++)
        pons_value_unref(cx->views[i].v);
    for (size_t i = 0; i < cx->n_held; i++)
        pons_value_unref(cx->held[i]);
    for (size_t i = 0; i < cx->n_sends; i++)
        pons_value_unref(cx->sends[i].arg);
    if (cx->escape) {
        pons_value_unref(cx->escape);
        cx->escape = NULL;
    }
    cx->n_writes = cx->n_gotos = cx->n_views = cx->n_held = cx->n_sends = 0;
}

void pons__task_drop(pons_cx *cx)
{
    drop_writes(cx);
    pons__out_clear(&cx->out);
    cx->router = NULL;
}

void pons__task_rewind(pons_cx *cx)
{
    drop_writes(cx);
    if (!pons__out_empty(&cx->out))
        pons__out_clear(&cx->out);
    cx->call_at = 0;
    cx->effect_at = 0;
    cx->rand_ready = false;
    cx->bare = cx->cached = cx->outside = false;
    cx->router = NULL;
    cx->fault = PONS_OK;
    cx->broken = false;
}

void pons__task_clear(pons_cx *cx)
{
    pons__task_rewind(cx);
    cx->state = PONS__TASK_TODO;
    cx->begun = cx->streamed = false;
    cx->wall_fixed = cx->seeded = cx->header_saved = cx->done_saved = false;
    if (!cx->id[0] && !cx->child && !cx->inbox && !cx->inbox_fixed && cx->n_calls == 0 &&
        !cx->send_ix && !cx->node_special)
        return; // the common task, which asked for nothing
    for (size_t i = 0; i < cx->n_calls; i++) {
        free(cx->calls[i].name);
        pons_value_unref(cx->calls[i].request);
        pons_value_unref(cx->calls[i].answer);
    }
    pons_run_destroy(cx->child);
    pons_value_unref(cx->inbox);
    cx->child = NULL;
    cx->inbox = NULL;
    cx->n_calls = cx->answers_seen = 0;
    cx->inbox_fixed = false;
    cx->id[0] = '\0';
    pons__work_drop(cx);
    pons_value_unref(cx->arg);
    cx->arg = NULL;
    cx->send_ix = 0;
    cx->attempt = cx->round = 0;
    cx->keep = 0;
    cx->wake_ns = cx->wake_wall_ms = cx->started_ns = cx->moved_ns = cx->limit_ns = 0;
    cx->expired = cx->header_due = cx->node_special = false;
}

void pons__task_destroy(pons_cx *cx)
{
    if (!cx)
        return;
    pons__task_clear(cx);
    pons__out_fini(&cx->out);
    free(cx->writes);
    free(cx->gotos);
    free(cx->sends);
    free(cx->calls);
    free(cx->views);
    free(cx->held);
    free(cx);
}

const char *pons__task_id(pons_cx *cx)
{
    if (!cx->id[0]) {
        const char *cp = pons__run_cp(cx->run);
        uint64_t h = pons__hash64(PONS__HASH_SEED, cx->run->ns->name, strlen(cx->run->ns->name));
        h = pons__hash64(h, cp, strlen(cp) + 1);
        h = pons__hash64(h, cx->node->name, strlen(cx->node->name));
        if (cx->send_ix)
            h = pons__hash64(h, &cx->send_ix, sizeof cx->send_ix);
        snprintf(cx->id, sizeof cx->id, "%016" PRIx64, h);
    }
    return cx->id;
}
