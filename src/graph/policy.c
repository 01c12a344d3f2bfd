// policy.c - what a node's options ask for when it fails, is slow, or has been run before.
//
//   failed ─► attempts left, and the predicate agrees ─► parked until the wait is over ─► run again
//          └► a handler is named ─► done: no writes, one Send to the handler, no edges
//          └► failed
//
// A wait and a time-out are times that pons_run_deadlines looks at; nothing sleeps and no thread is
// started. The attempt and when the next one is due are in the task's header record, so a crash in
// the middle of a wait goes on waiting. Time-outs begin again after a crash.
//
// The cache hangs on the compiled node and keeps at most CACHE_MAX tasks, the oldest leaves first.
#include "graph/graph_internal.h"

#include <stdio.h>
#include <stdlib.h>

enum { CACHE_MAX = 256 };

static bool may_retry(const pons_cx *cx, const pons_retry *r, const pons_error *err);
static int64_t wait_ms(pons_cx *cx, const pons_retry *r);
static bool to_handler(pons_cx *cx, uint32_t handler, const pons_error *err);
static bool cache_key(const pons_cx *cx, char ret[33]);
static bool take_routes(pons_cx *cx, const pons_value *task);

// ---------------------------------------------------------------- failures

bool pons__policy_failed(pons_cx *cx, const pons_error *err)
{
    const pons__policy *p = cx->node->policy;
    bool again = may_retry(cx, &p->retry, err);
    if (!again && p->handler == PONS__NONE)
        return false;
    pons__task_cancel(cx);
    pons_run_destroy(cx->child);
    cx->child = NULL;
    pons__task_drop(cx);
    if (!again)
        return to_handler(cx, p->handler, err);
    cx->attempt++;
    pons__task_trim(cx);
    cx->started_ns = cx->moved_ns = cx->limit_ns = 0;
    int64_t ms = wait_ms(cx, &p->retry);
    if (ms <= 0) {
        cx->state = PONS__TASK_TODO;
        return true;
    }
    cx->wake_ns = pons_now_ns(&cx->run->t->clock) + ms * PONS_NS_PER_MS;
    cx->wake_wall_ms = pons_wall_ms(&cx->run->t->clock) + ms;
    cx->state = PONS__TASK_PARKED;
    return true;
}

static bool may_retry(const pons_cx *cx, const pons_retry *r, const pons_error *err)
{
    if (cx->attempt + 1 >= r->attempts || err->status == PONS_ENONDETERMINISM)
        return false;
    return !r->retry_on || r->retry_on(r->user, err);
}

static int64_t wait_ms(pons_cx *cx, const pons_retry *r)
{
    double ms = (double)r->initial_ms;
    double most = r->max_ms > 0 ? (double)r->max_ms : (double)INT32_MAX;
    for (int i = 1; i < cx->attempt && ms < most; i++)
        ms *= r->factor > 1 ? r->factor : 1;
    ms = ms < most ? ms : most;
    const double unit = 1.0 / 9007199254740992.0; // 2^-53: a uniform number below 1
    const int drop_bits = 11;
    if (r->jitter > 0)
        ms *= 1 + r->jitter * (double)(pons_rand_u64(&cx->run->t->rand) >> drop_bits) * unit;
    return (int64_t)ms;
}

static bool to_handler(pons_cx *cx, uint32_t handler, const pons_error *err)
{
    pons_value *arg =
        pons_object("node", json_string(cx->node->name), "status", json_integer(err->status),
                    "word", json_string(pons_status_word(err->status)), "message",
                    json_string(err->message), "source", json_string(err->source), NULL);
    if (!arg || pons__cx_route(cx, handler, arg) != PONS_OK)
        return false;
    cx->bare = true;
    cx->fault = PONS_OK;
    cx->state = PONS__TASK_DONE;
    return true;
}

int pons_cx_attempt(const pons_cx *cx)
{
    return cx->attempt + 1;
}

// ---------------------------------------------------------------- time-outs

void pons__policy_park(pons_cx *cx)
{
    const pons__policy *p = cx->node->policy;
    cx->limit_ns = 0;
    if (p->run_timeout_ms <= 0 && p->idle_timeout_ms <= 0)
        return;
    if (pons__task_waits_for_people(cx)) {
        cx->started_ns = cx->moved_ns = 0;
        return;
    }
    int64_t now_ns = pons_now_ns(&cx->run->t->clock);
    cx->started_ns = cx->started_ns ? cx->started_ns : now_ns;
    cx->moved_ns = cx->moved_ns ? cx->moved_ns : now_ns;
    cx->limit_ns = pons__policy_limit(cx);
}

int64_t pons__policy_limit(pons_cx *cx)
{
    const pons__policy *p = cx->node->policy;
    int64_t moved = pons__work_moved_ns(cx);
    cx->moved_ns = moved > cx->moved_ns ? moved : cx->moved_ns;
    int64_t run = INT64_MAX, idle = INT64_MAX;
    if (p->run_timeout_ms > 0)
        run = cx->started_ns + p->run_timeout_ms * PONS_NS_PER_MS;
    if (p->idle_timeout_ms > 0)
        idle = cx->moved_ns + p->idle_timeout_ms * PONS_NS_PER_MS;
    return run < idle ? run : idle;
}

void pons__policy_expire(pons_cx *cx)
{
    cx->expired = true;
    cx->limit_ns = 0;
    pons__task_cancel(cx);
}

int pons__policy_timed_out(const pons_cx *cx, pons_error *err)
{
    const pons__policy *p = cx->node->policy;
    int64_t now_ns = pons_now_ns(&cx->run->t->clock);
    bool whole =
        p->run_timeout_ms > 0 && now_ns >= cx->started_ns + p->run_timeout_ms * PONS_NS_PER_MS;
    ((pons_cx *)(uintptr_t)cx)->expired = false;
    return pons_error_set(
        err, PONS_ETIMEOUT, PONS__MODULE,
        whole ? "node '%s' took longer than %lld ms" : "node '%s' made no progress for %lld ms",
        cx->node->name, (long long)(whole ? p->run_timeout_ms : p->idle_timeout_ms));
}

// ---------------------------------------------------------------- cache

bool pons__policy_recall(pons_cx *cx)
{
    pons__policy *p = cx->node->policy;
    char key[33];
    if (!cache_key(cx, key))
        return false;
    int64_t now_ns = pons_now_ns(&cx->run->t->clock);
    pons_autovalue task = NULL;
    pthread_mutex_lock(&p->lock);
    for (size_t i = 0; i < p->n_entries && !task; i++)
        if (strcmp(p->entries[i].key, key) == 0 && p->entries[i].until_ns > now_ns)
            task = pons_value_ref(p->entries[i].task);
    pthread_mutex_unlock(&p->lock);
    if (!task || !take_routes(cx, task))
        return false;
    cx->cached = true;
    return true;
}

static bool take_routes(pons_cx *cx, const pons_value *task)
{
    size_t i;
    pons_value *w;
    int st = PONS_OK;
    json_array_foreach(pons_get(task, "w"), i, w)
    {
        st = st ? st
                : pons__cx_write(cx, (uint32_t)json_integer_value(json_array_get(w, 0)),
                                 pons_value_ref(json_array_get(w, 1)), NULL);
    }
    json_array_foreach(pons_get(task, "g"), i, w)
    {
        st = st ? st : pons__cx_route(cx, (uint32_t)json_integer_value(w), NULL);
    }
    json_array_foreach(pons_get(task, "s"), i, w)
    {
        st = st ? st
                : pons__cx_route(cx, (uint32_t)json_integer_value(json_array_get(w, 0)),
                                 pons_value_ref(json_array_get(w, 1)));
    }
    if (st != PONS_OK)
        pons__task_drop(cx);
    return st == PONS_OK;
}

// Channels and nodes go by their numbers: the cache lives no longer than the graph.
void pons__policy_store(pons_cx *cx)
{
    pons__policy *p = cx->node->policy;
    char key[33];
    if (cx->n_calls > 0 || !pons__out_empty(&cx->out) || cx->escape || cx->bare ||
        cx->inbox_fixed || !cache_key(cx, key))
        return;
    pons_value *w = json_array(), *g = json_array(), *s = json_array();
    int bad = 0;
    for (size_t i = 0; i < cx->n_writes; i++)
        bad |= json_array_append_new(
            w, json_pack("[IO]", (json_int_t)cx->writes[i].ch, cx->writes[i].v));
    for (size_t i = 0; i < cx->n_gotos; i++)
        bad |= json_array_append_new(g, json_integer((json_int_t)cx->gotos[i]));
    for (size_t i = 0; i < cx->n_sends; i++)
        bad |= json_array_append_new(
            s, json_pack("[IO]", (json_int_t)cx->sends[i].node, cx->sends[i].arg));
    pons_value *task = pons_object("w", w, "g", g, "s", s, NULL);
    if (bad || !task) {
        pons_value_unref(task);
        return;
    }
    int64_t now_ns = pons_now_ns(&cx->run->t->clock);
    pthread_mutex_lock(&p->lock);
    size_t at = 0;
    while (at < p->n_entries && strcmp(p->entries[at].key, key) != 0)
        at++;
    if (at == p->n_entries && at == CACHE_MAX) {
        at = p->oldest;
        p->oldest = (p->oldest + 1) % CACHE_MAX;
    }
    if (at == p->n_entries &&
        pons__reserve(&p->entries, &p->cap_entries, at + 1, sizeof *p->entries))
        p->entries[p->n_entries++] = (pons__cache_entry){.task = NULL};
    if (at < p->n_entries) {
        pons_value_unref(p->entries[at].task);
        p->entries[at].task = task;
        p->entries[at].until_ns =
            p->cache_ttl_ms > 0 ? now_ns + p->cache_ttl_ms * PONS_NS_PER_MS : INT64_MAX;
        snprintf(p->entries[at].key, sizeof p->entries[at].key, "%s", key);
        task = NULL;
    }
    pthread_mutex_unlock(&p->lock);
    pons_value_unref(task);
}

static bool cache_key(const pons_cx *cx, char ret[33])
{
    const pons__policy *p = cx->node->policy;
    const pons_graph *g = cx->run->g;
    pons_autovalue state = json_object();
    bool ok = state != NULL;
    size_t n = p->n_cache_on > 0 ? p->n_cache_on : g->n_channels;
    for (size_t i = 0; i < n && ok; i++) {
        size_t ch = p->n_cache_on > 0 ? p->cache_on[i] : i;
        const pons_value *v = cx->run->ns->slots[ch].v;
        ok = !v || json_object_set_new(state, g->channels[ch].name, pons_value_ref(v)) == 0;
    }
    pons_autovalue key = pons_object("arg", cx->arg ? pons_value_ref(cx->arg) : json_null(), "in",
                                     pons_value_ref(state), NULL);
    if (!ok || json_object_size(key) != 2)
        return false;
    pons_value_hash(key, ret);
    return true;
}

void pons__policy_destroy(pons__policy *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->n_entries; i++)
        pons_value_unref(p->entries[i].task);
    free(p->entries);
    free(p->cache_on);
    pthread_mutex_destroy(&p->lock);
    free(p);
}
