// thread.c - the right to write one thread of a store: its lease, the heads of its namespaces, its
// events.
//
// A namespace's head is read from the store once and then kept, so that starting a run at 10 Hz
// reads nothing. It is dropped (pons__ns_forget) when a run ends with a commit that had failed, as
// memory is then ahead of the store.
//
// Randomness: a thread's ids come from its seed mixed with the lease's epoch, so that a thread
// which is opened again with the same seed makes new ids.
#include "graph/graph_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static int shape(pons__ns *ns, const pons_graph *g, pons__image *im, pons_error *err);
static bool shape_next(pons__ns *ns, const pons__image *im);
static void unshape(pons__ns *ns);
static void ns_destroy(pons__ns *ns);
static pons__image image_of(const pons__ns *ns);
static int commit_event(pons_thread *t, const char *ns, const pons_inbox_row *post,
                        const char *type, pons_value *payload, pons_error *err);
static void event_show(pons_thread *t, const char *ns, int64_t seq, int64_t ts_ms, const char *type,
                       const pons_value *payload);

// ---------------------------------------------------------------- open and close

int pons_thread_open(pons_store store, const char *id, const pons_thread_options *opts,
                     pons_thread **ret, pons_error *err)
{
    if (!id || !id[0] || strlen(id) >= PONS_NAME_MAX || !opts || !opts->clock.now_ns)
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                              "a thread needs a name of 1 to %d bytes and a clock",
                              PONS_NAME_MAX - 1);
    pons_thread *t = calloc(1, sizeof *t);
    pons_await_handler *handlers = calloc(opts->n_handlers + 1, sizeof *handlers);
    if (!t || !handlers) {
        free(t);
        free(handlers);
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory to open a thread");
    }
    t->store = store;
    t->clock = opts->clock;
    t->on_event = opts->on_event;
    t->user = opts->user;
    t->handlers = handlers;
    t->n_handlers = opts->n_handlers;
    if (opts->n_handlers > 0)
        memcpy(handlers, opts->handlers, opts->n_handlers * sizeof *handlers);
    snprintf(t->id, sizeof t->id, "%s", id);
    if (store.ops) {
        int st = store.ops->lease_acquire(store.self, id, &t->lease, err);
        if (st != PONS_OK) {
            free(handlers);
            free(t);
            return st;
        }
    }
    if (opts->seed) {
        const uint64_t golden = 0x9e3779b97f4a7c15ULL;
        pons_rand_seed(&t->rand, opts->seed ^ (t->lease.epoch * golden));
    } else {
        pons_rand_seed_os(&t->rand);
    }
    pons_id_source_init(&t->ids, t->clock, &t->rand);
    pons_buf_init(&t->buf);
    *ret = t;
    return PONS_OK;
}

void pons_thread_close(pons_thread *t)
{
    if (!t)
        return;
    pons__pool_close(t);
    if (t->store.ops) {
        pons_error ignored = PONS_ERROR_INIT; // what was queued and failed has been reported
        pons__thread_flush(t, &ignored);
        t->store.ops->lease_release(t->store.self, &t->lease);
    }
    while (t->namespaces) {
        pons__ns *ns = t->namespaces;
        t->namespaces = ns->next_ns;
        ns_destroy(ns);
    }
    pons_value_unref(t->mem_inbox);
    pons_value_unref(t->mem_effects);
    pons_buf_fini(&t->buf);
    free(t->handlers);
    free(t);
}

const char *pons_thread_id(const pons_thread *t)
{
    return t->id;
}

const pons_await_handler *pons__handler(const pons_thread *t, const char *kind)
{
    for (size_t i = 0; i < t->n_handlers; i++)
        if (strcmp(t->handlers[i].kind, kind) == 0)
            return &t->handlers[i];
    return NULL;
}

// ---------------------------------------------------------------- inbox

static int count_row(void *user, const pons_inbox_row *row)
{
    (void)row;
    ++*(int64_t *)user;
    return 0;
}

int pons_thread_inbox_count(pons_thread *t, const char *name, int64_t *ret, pons_error *err)
{
    pons__ns *ns = pons__ns_get(t, name, err);
    if (!ns)
        return PONS_EINVAL;
    int64_t n = 0;
    if (!t->store.ops) {
        size_t i;
        pons_value *m;
        json_array_foreach(t->mem_inbox, i, m)
        {
            n += strcmp(pons_get_str(m, "ns", ""), name) == 0 &&
                 pons_get_int(m, "seq", 0) > ns->inbox_after;
        }
        *ret = n;
        return PONS_OK;
    }
    int st =
        t->store.ops->inbox_read(t->store.self, t->id, name, ns->inbox_after, count_row, &n, err);
    if (st == PONS_OK)
        *ret = n;
    return st;
}

// ---------------------------------------------------------------- events

int pons_thread_emit(pons_thread *t, const char *ns, const char *type, pons_value *payload,
                     pons_error *err)
{
    return commit_event(t, ns, NULL, type, payload, err);
}

int pons_thread_post(pons_thread *t, const char *ns, const char *kind, const pons_value *value,
                     const char *type, pons_value *payload, pons_error *err)
{
    char *text = NULL;
    long n = t->store.ops ? pons_value_dump(value, &text) : PONS_EUNSUPPORTED;
    if (n < 0) {
        pons_value_unref(payload);
        return pons_error_set(err, (int)n, PONS__MODULE, "cannot post '%s' to %s", kind, ns);
    }
    pons_inbox_row post = {.ns = ns, .kind = kind, .value = {text, (size_t)n}};
    int st = commit_event(t, ns, &post, type, payload, err);
    free(text);
    return st;
}

// An event, and a message when there is one, in one commit. Takes payload.
static int commit_event(pons_thread *t, const char *ns, const pons_inbox_row *post,
                        const char *type, pons_value *payload, pons_error *err)
{
    pons_autovalue owned = payload;
    int64_t now_ms = pons_wall_ms(&t->clock);
    if (!owned)
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE, "an event needs a payload");
    if (!t->store.ops) {
        event_show(t, ns, 0, now_ms, type, owned);
        return PONS_OK;
    }
    char *text = NULL;
    long n = pons_value_line(owned, &text);
    if (n < 0)
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for an event");
    pons_event_row row = {.ns = ns, .ts_ms = now_ms, .type = type, .payload = {text, (size_t)n}};
    pons_commit c = {.lease = &t->lease,
                     .ns = ns,
                     .posts = post,
                     .n_posts = post ? 1 : 0,
                     .events = &row,
                     .n_events = 1};
    int st = pons__thread_commit(t, NULL, &c, false, err);
    free(text);
    if (st == PONS_OK)
        event_show(t, ns, row.seq, now_ms, type, owned);
    return st;
}

void pons_thread_emit_live(pons_thread *t, const char *ns, const char *type, pons_value *payload)
{
    event_show(t, ns, 0, pons_wall_ms(&t->clock), type, payload);
    pons_value_unref(payload);
}

static void event_show(pons_thread *t, const char *ns, int64_t seq, int64_t ts_ms, const char *type,
                       const pons_value *payload)
{
    if (!t->on_event)
        return;
    pons_event ev = {
        .seq = seq, .thread = t->id, .ns = ns, .ts_ms = ts_ms, .type = type, .payload = payload};
    t->on_event(t->user, &ev);
}

// ---------------------------------------------------------------- namespaces

pons__ns *pons__ns_get(pons_thread *t, const char *name, pons_error *err)
{
    for (pons__ns *ns = t->namespaces; ns; ns = ns->next_ns)
        if (strcmp(ns->name, name) == 0)
            return ns;
    pons__ns *ns = strlen(name) < PONS_NAME_MAX ? calloc(1, sizeof *ns) : NULL;
    if (!ns) {
        pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                       "namespace '%s' is longer than %d bytes (or there is no memory)", name,
                       PONS_NAME_MAX - 1);
        return NULL;
    }
    snprintf(ns->name, sizeof ns->name, "%s", name);
    ns->step = PONS__STEP_NONE;
    ns->next_ns = t->namespaces;
    t->namespaces = ns;
    return ns;
}

int pons__ns_load(pons_thread *t, pons__ns *ns, const pons_graph *g, bool stored, pons_error *err)
{
    if (ns->ahead)
        pons__ns_forget(ns);
    if (ns->loaded && ns->g == g)
        return PONS_OK;
    pons__image im = {0};
    if (ns->loaded) { // the same state for another graph
        im = image_of(ns);
        int st = shape(ns, g, &im, err);
        pons__image_fini(&im);
        return st;
    }
    int st = PONS_ENOTFOUND;
    if (stored) {
        st = pons__thread_flush(t, err); // what is queued belongs to it
        if (st != PONS_OK)
            return st;
        st = pons__image_head(t->store, t->id, ns->name, &im, err);
    }
    if (st != PONS_OK && st != PONS_ENOTFOUND)
        return st;
    if (st == PONS_ENOTFOUND && err)
        *err = (pons_error)PONS_ERROR_INIT;
    st = shape(ns, g, &im, err);
    if (st == PONS_OK) {
        ns->loaded = true;
        ns->exists = im.found;
        ns->step = im.found ? im.step : PONS__STEP_NONE;
        ns->run_id = im.run_id;
        ns->forked = im.forked;
        ns->run_id_stored = im.found;
        ns->head_unfinished = json_array_size(im.next) + json_array_size(im.sends) > 0;
        ns->snapshot_bytes = im.snapshot_bytes;
        ns->tail_bytes = im.tail_bytes;
        ns->tail_rows = im.tail_rows;
        snprintf(ns->head, sizeof ns->head, "%s", im.id);
        snprintf(ns->owner, sizeof ns->owner, "%s", im.owner);
        pons_value_unref(ns->parents);
        ns->parents = pons_value_ref(im.parents);
    }
    pons__image_fini(&im);
    return st;
}

int pons__ns_restore(pons__ns *ns, const pons_graph *g, pons__image *im, pons_error *err)
{
    ns->n_dirty = 0;
    int st = shape(ns, g, im, err);
    if (st != PONS_OK) {
        pons__ns_forget(ns);
        return st;
    }
    ns->step = im->found ? im->step : PONS__STEP_NONE;
    ns->run_id = im->run_id;
    ns->forked = im->forked;
    ns->run_id_stored = false;
    ns->snapshot_bytes = 0; // a snapshot is due
    snprintf(ns->head, sizeof ns->head, "%s", im->id);
    snprintf(ns->owner, sizeof ns->owner, "%s", im->owner);
    pons_value_unref(ns->parents);
    ns->parents = pons_value_ref(im->parents);
    return PONS_OK;
}

void pons__ns_forget(pons__ns *ns)
{
    unshape(ns);
    ns->loaded = false;
    ns->exists = false;
    ns->inbox_after = 0;
    ns->step = PONS__STEP_NONE;
    ns->queued = ns->ahead = false;
}

void pons__ns_drop(pons_thread *t, pons__ns *ns)
{
    for (pons__ns **at = &t->namespaces; *at; at = &(*at)->next_ns)
        if (*at == ns) {
            *at = ns->next_ns;
            ns_destroy(ns);
            return;
        }
}

void pons__ns_mark_dirty(pons__ns *ns, uint32_t ch)
{
    pons__slot *s = &ns->slots[ch];
    if (s->dirty || !ns->g->channels[ch].tracked)
        return;
    s->dirty = true;
    ns->dirty[ns->n_dirty++] = ch;
}

bool pons__ns_more(const pons__ns *ns)
{
    return ns->n_sends > 0 || pons__bits_any(ns->next, ns->g->n_words);
}

void pons__ns_sends_clear(pons__ns *ns)
{
    for (size_t i = 0; i < ns->n_sends; i++)
        pons_value_unref(ns->sends[i].arg);
    ns->n_sends = 0;
}

bool pons__ns_send(pons__ns *ns, uint32_t node, pons_value *arg)
{
    if (!pons__reserve(&ns->sends, &ns->cap_sends, ns->n_sends + 1, sizeof *ns->sends)) {
        pons_value_unref(arg);
        return false;
    }
    ns->sends[ns->n_sends++] = (pons__sent){node, arg};
    return true;
}

// Lays the image's values out for g. Clears what was there.
static int shape(pons__ns *ns, const pons_graph *g, pons__image *im, pons_error *err)
{
    bool was_dirty = ns->n_dirty > 0;
    unshape(ns);
    ns->lost[0] = '\0';
    ns->slots = calloc(g->n_channels + 1, sizeof *ns->slots);
    ns->dirty = calloc(g->n_channels + 1, sizeof *ns->dirty);
    ns->live = calloc(g->n_channels + 1, sizeof *ns->live);
    ns->next = calloc(g->n_words, sizeof *ns->next);
    ns->arrived = calloc(g->n_joins + 1, sizeof *ns->arrived);
    ns->waiting = g->deferred ? calloc(g->n_words, sizeof *ns->waiting) : NULL;
    ns->g = pons__graph_ref(g);
    if ((g->deferred && !ns->waiting) || !ns->slots || !ns->dirty || !ns->live || !ns->next ||
        !ns->arrived) {
        unshape(ns);
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a namespace");
    }
    for (uint32_t i = 0; i < g->n_channels; i++) {
        const pons__channel *ch = &g->channels[i];
        pons__slot *s = &ns->slots[i];
        s->v = pons_value_ref(json_object_get(im->state, ch->name));
        if (s->v) {
            s->keep = json_array_size(s->v);
            json_object_del(im->state, ch->name);
            s->live = ch->transient;
            if (ch->transient)
                ns->live[ns->n_live++] = i;
            if (was_dirty)
                pons__ns_mark_dirty(ns, i);
            s->keep = was_dirty ? 0 : s->keep;
        } else if (ch->initial && !ch->transient) {
            s->v = pons_value_ref(ch->initial); // in the first snapshot; until then, in the graph
        }
    }
    if (json_object_size(im->state) > 0)
        ns->extra = pons_value_ref(im->state);
    if (!shape_next(ns, im)) {
        unshape(ns);
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a namespace");
    }
    return PONS_OK;
}

static bool shape_next(pons__ns *ns, const pons__image *im)
{
    size_t i;
    pons_value *v;
    json_array_foreach(im->next, i, v)
    {
        uint32_t ix = pons__graph_node_find(ns->g, json_string_value(v));
        if (ix < ns->g->n_nodes)
            pons__bit_set(ns->next, ix);
        else // a resume says so; a new run does not care
            snprintf(ns->lost, sizeof ns->lost, "%s", json_string_value(v));
    }
    json_array_foreach(im->waiting, i, v)
    {
        uint32_t ix = pons__graph_node_find(ns->g, json_string_value(v));
        if (ix < ns->g->n_nodes) // of a node that is not deferred any more: it is next
            pons__bit_set(ns->waiting ? ns->waiting : ns->next, ix);
        else
            snprintf(ns->lost, sizeof ns->lost, "%s", json_string_value(v));
    }
    json_array_foreach(im->sends, i, v)
    {
        const char *name = json_string_value(json_array_get(v, 0));
        uint32_t ix = pons__graph_node_find(ns->g, name ? name : "");
        if (ix >= ns->g->n_nodes)
            snprintf(ns->lost, sizeof ns->lost, "%s", name ? name : "");
        else if (!pons__ns_send(ns, ix, pons_value_ref(json_array_get(v, 1))))
            return false;
    }
    for (size_t j = 0; j < ns->g->n_joins; j++) {
        const pons__join *join = &ns->g->joins[j];
        json_array_foreach(json_object_get(im->joins, join->label), i, v)
        {
            for (size_t k = 0; k < join->n_from; k++)
                if (strcmp(ns->g->nodes[join->from[k]].name, json_string_value(v)) == 0)
                    ns->arrived[j] |= 1ULL << k;
        }
    }
    return true;
}

static void unshape(pons__ns *ns)
{
    for (size_t i = 0; ns->slots && i < ns->g->n_channels; i++) {
        pons_value_unref(ns->slots[i].v);
        pons_value_unref(ns->slots[i].merged);
        pons__ids_reset(&ns->slots[i].ids);
    }
    free(ns->slots);
    free(ns->dirty);
    free(ns->live);
    free(ns->next);
    free(ns->arrived);
    free(ns->waiting);
    pons__ns_sends_clear(ns);
    free(ns->sends);
    pons_value_unref(ns->extra);
    pons__graph_unref(ns->g);
    ns->slots = NULL;
    ns->dirty = ns->live = NULL;
    ns->next = ns->arrived = NULL;
    ns->waiting = NULL;
    ns->sends = NULL;
    ns->cap_sends = 0;
    ns->extra = NULL;
    ns->g = NULL;
    ns->n_dirty = ns->n_live = 0;
}

static void ns_destroy(pons__ns *ns)
{
    unshape(ns);
    pons_value_unref(ns->parents);
    free(ns);
}

static pons__image image_of(const pons__ns *ns)
{
    pons__image im = {.state = json_object(), .next = json_array(), .joins = json_object()};
    if (ns->extra)
        json_object_update(im.state, ns->extra);
    for (size_t i = 0; i < ns->g->n_channels; i++)
        if (ns->slots[i].v)
            json_object_set_new(im.state, ns->g->channels[i].name, pons_value_ref(ns->slots[i].v));
    for (size_t i = 0; i < ns->g->n_nodes; i++)
        if (pons__bit_get(ns->next, i))
            json_array_append_new(im.next, json_string(ns->g->nodes[i].name));
    im.waiting = json_array();
    im.sends = json_array();
    for (size_t i = 0; i < ns->g->n_nodes; i++)
        if (ns->waiting && pons__bit_get(ns->waiting, i))
            json_array_append_new(im.waiting, json_string(ns->g->nodes[i].name));
    for (size_t i = 0; i < ns->n_sends; i++)
        json_array_append_new(
            im.sends, json_pack("[sO]", ns->g->nodes[ns->sends[i].node].name, ns->sends[i].arg));
    snprintf(im.id, sizeof im.id, "%s", ns->head);
    return im;
}
