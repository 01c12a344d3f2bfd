// commit.c - what goes into the store at once.
//
// Every commit of a run goes through pons__run_commit: the state when the store does not have it
// yet, what has gathered since the last commit (posts, events, effects, taken messages), and what
// the caller adds (records, an effect on its way out). When it fails nothing has changed, and the
// same commit can be tried again.
#include "graph/persist/commit.h"

#include "graph/core/run_accessors.h"
#include "graph/core/thread_lease.h"
#include "graph/engine.h"
#include "graph/state/checkpoint_pack.h"
#include "graph/util/ids.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct packed_with { // a checkpoint of another namespace
    pons_run *run;
    pons_buf buf;
    bool snapshot;
} packed_with;

typedef struct commit_parts { // a commit's rows, which borrow from the run and own their texts
    pons_checkpoint_row *cps; // those below, or with others of other namespaces
    pons_checkpoint_row own[2];
    size_t n_cps;
    bool snapshot;
    packed_with *with;
    size_t n_with;
    pons_inbox_row *posts;
    pons_effect_row *effects;
    pons_event_row *events;
    pons_item_write *items;
    char **texts;
    size_t n_texts;
    char first[192]; // the input checkpoint's text; the only member that is not zeroed
} commit_parts;

// ---- rows ---------------------------------------------------------------------------------------

static bool text_of(commit_parts *p, const pons_value *v, bool line, pons_bytes *ret)
{
    char *text = NULL;
    long n = line ? pons_value_line(v, &text) : pons_value_dump(v, &text);
    if (n < 0) {
        return false;
    }
    p->texts[p->n_texts++] = text;
    *ret = (pons_bytes){text, (size_t)n};
    return true;
}

static void pack_one(pons_run *r, pons_buf *b, const char *parent, pons_checkpoint_row *row,
                     bool *ret_snapshot)
{
    pons__ns *ns = r->ns;
    *row = (pons_checkpoint_row){.step = ns->step};
    bool tell = r->gap && r->source == 'l' && !ns->wrote;
    if (tell && !r->prepared && r->n_tasks > 0 && !pons__run_note(r, NULL)) {
        tell = false; // a default as_node will then be a tie
    }
    ns->wrote = tell ? r->ran : ns->wrote;
    *ret_snapshot = row->snapshot = pons__pack(ns, r->source, b);
    ns->wrote = tell ? NULL : ns->wrote;
    row->data = (pons_bytes){b->data, b->len};
    pons__id_copy(row->id, pons__run_cp(r));
    pons__id_copy(row->parent, parent);
}

static void put_checkpoints(pons_run *r, commit_parts *p)
{
    pons__ns *ns = r->ns;
    const char *parent = ns->exists ? ns->head : "";
    if (r->input_row) {
        int n = snprintf(p->first, sizeof p->first, "{\"k\":\"i\",\"n\":[\"%s\"]}", PONS_START);
        pons_checkpoint_row *row = &p->cps[p->n_cps++];
        *row = (pons_checkpoint_row){
            .step = ns->step - 1, .snapshot = !ns->exists, .data = {p->first, (size_t)n}};
        pons__id_copy(row->id, pons__run_input_id(r));
        pons__id_copy(row->parent, parent);
        parent = row->id;
    }
    pack_one(r, &r->t->buf, parent, &p->cps[p->n_cps++], &p->snapshot);
}

static bool put_others(const pons__extra *x, commit_parts *p)
{
    p->with = calloc(x->n_with, sizeof *p->with);
    p->cps = calloc(p->n_cps + x->n_with, sizeof *p->cps);
    if (!p->with || !p->cps) {
        return false;
    }
    memcpy(p->cps, p->own, p->n_cps * sizeof *p->cps);
    for (size_t i = 0; i < x->n_with; i++) {
        packed_with *w = &p->with[p->n_with++];
        pons_checkpoint_row *row = &p->cps[p->n_cps++];
        const pons__ns *ns = x->with[i].run->ns;
        w->run = x->with[i].run;
        pons_buf_init(&w->buf);
        pack_one(w->run, &w->buf, ns->exists ? ns->head : "", row, &w->snapshot);
        row->ns = ns->name;
        if (w->buf.failed) {
            return false;
        }
    }
    return true;
}

static bool put_out(commit_parts *p, const pons__out *o, const pons__change *extra, const char *ns)
{
    p->posts = calloc(o->n_posts + 1, sizeof *p->posts);
    p->effects = calloc(o->n_changes + 1, sizeof *p->effects);
    p->events = calloc(o->n_emits + 1, sizeof *p->events);
    p->texts = calloc(o->n_posts + o->n_changes + o->n_emits + 1, sizeof *p->texts);
    p->items = calloc(o->n_items + 1, sizeof *p->items);
    if (!p->posts || !p->effects || !p->events || !p->texts || !p->items) {
        return false;
    }
    for (size_t i = 0; i < o->n_items; i++) { // what they point to is the run's
        p->items[i] = *o->items[i];
    }
    for (size_t i = 0; i < o->n_posts; i++) {
        p->posts[i] = (pons_inbox_row){.ns = o->posts[i].ns, .kind = o->posts[i].kind};
        if (!text_of(p, o->posts[i].value, false, &p->posts[i].value)) {
            return false;
        }
    }
    for (size_t i = 0; i < o->n_changes + (extra ? 1 : 0); i++) {
        const pons__change *c = i < o->n_changes ? &o->changes[i] : extra;
        pons_effect_row *row = &p->effects[i];
        *row = (pons_effect_row){
            .ns = c->ns, .state = (int32_t)c->state, .created = c->created, .updated = c->updated};
        snprintf(row->id, sizeof row->id, "%s", c->id);
        if (!text_of(p, c->data, false, &row->data)) {
            return false;
        }
    }
    for (size_t i = 0; i < o->n_emits; i++) {
        p->events[i] =
            (pons_event_row){.ns = ns, .ts_ms = o->emits[i].ts_ms, .type = o->emits[i].type};
        if (!text_of(p, o->emits[i].payload, true, &p->events[i].payload)) {
            return false;
        }
    }
    return true;
}

static void parts_fini(commit_parts *p)
{
    for (size_t i = 0; i < p->n_texts; i++) {
        free(p->texts[i]);
    }
    for (size_t i = 0; i < p->n_with; i++) {
        pons_buf_fini(&p->with[i].buf);
    }
    if (p->cps != p->own) {
        free(p->cps);
    }
    free(p->with);
    free(p->texts);
    free(p->posts);
    free(p->effects);
    free(p->events);
    free(p->items);
}

// ---- afterwards ---------------------------------------------------------------------------------

// Shows what was committed. The events are taken out first: a callback may commit more. What is only
// queued nobody is shown: the store's readers will find it.
static void show_events(pons_run *r, const pons_event_row *rows, const char *ns, bool there)
{
    pons__out shown = {.emits = r->out.emits, .n_emits = r->out.n_emits};
    r->out.emits = NULL;
    r->out.n_emits = r->out.cap_emits = 0;
    for (size_t i = 0; i < shown.n_emits && r->t->on_event && there; i++) {
        pons_event ev = {.seq = rows ? rows[i].seq : 0,
                         .thread = r->t->id,
                         .ns = ns,
                         .ts_ms = shown.emits[i].ts_ms,
                         .type = shown.emits[i].type,
                         .payload = shown.emits[i].payload};
        r->t->on_event(r->t->user, &ev);
    }
    pons__out_fini(&shown);
}

// What has been committed is no longer due. Events are shown last: their callbacks may commit more.
static void committed(pons_run *r, const commit_parts *p, bool queued)
{
    if (!r->cp_stored) {
        snprintf(r->ns->head_parent, sizeof r->ns->head_parent, "%s", p->cps[p->n_cps - 1].parent);
        pons__packed(r->ns, r->source, r->cp_id, p->snapshot, r->t->buf.len);
        r->cp_stored = true;
        r->input_row = r->gap = false;
    }
    for (size_t i = 0; i < p->n_with; i++) {
        const packed_with *w = &p->with[i];
        pons__packed(w->run->ns, w->run->source, w->run->cp_id, w->snapshot, w->buf.len);
        w->run->cp_stored = true;
    }
    pons__out_committed(&r->out);
    if (r->out.n_emits > 0) {
        show_events(r, p->events, r->ns->name, !queued);
    }
}

// ---- without a store ----------------------------------------------------------------------------

// Without a store: messages and effects live in the thread, events are shown as live ones. A
// subgraph that is not checkpointed keeps its own for its parent's step.
static int commit_memory(pons_run *r, const pons__extra *x)
{
    pons_thread *t = r->t;
    r->cp_stored = true;
    r->input_row = false;
    if ((r->parent && t->store.ops) || (pons__out_empty(&r->out) && !x->effect)) {
        return PONS_OK;
    }
    if (!t->mem_inbox) {
        t->mem_inbox = json_array();
    }
    if (!t->mem_effects) {
        t->mem_effects = json_object();
    }
    for (size_t i = json_array_size(t->mem_inbox); i-- > 0;) {
        for (size_t k = 0; k < r->out.n_taken; k++) {
            if (pons_get_int(json_array_get(t->mem_inbox, i), "seq", 0) == r->out.taken[k]) {
                json_array_remove(t->mem_inbox, i);
                break;
            }
        }
    }
    for (size_t i = 0; i < r->out.n_posts; i++) {
        const pons__post *p = &r->out.posts[i];
        json_array_append_new(t->mem_inbox,
                              pons_object_whole("seq", json_integer(++t->mem_seq), "ns",
                                                json_string(p->ns), "kind", json_string(p->kind),
                                                "value", pons_value_ref(p->value), NULL));
    }
    for (size_t i = 0; i < r->out.n_changes + (x->effect ? 1 : 0); i++) {
        const pons__change *c = i < r->out.n_changes ? &r->out.changes[i] : x->effect;
        json_object_set_new(
            t->mem_effects, c->id,
            pons_object_whole("ns", json_string(c->ns), "state", json_integer((json_int_t)c->state),
                              "created", json_integer(c->created), "updated",
                              json_integer(c->updated), "data", pons_value_ref(c->data), NULL));
    }
    pons__out_committed(&r->out);
    if (r->out.n_emits > 0) {
        show_events(r, NULL, r->ns->name, true);
    }
    return PONS_OK;
}

// ---- public functions ---------------------------------------------------------------------------

static bool put_parts(pons_run *r, const pons__extra *x, bool plain, commit_parts *p)
{
    if (!r->cp_stored) {
        put_checkpoints(r, p);
        if (r->t->buf.failed) {
            return false;
        }
    }
    return (plain || put_out(p, &r->out, x->effect, r->ns->name)) &&
           (x->n_with == 0 || put_others(x, p));
}

static bool may_queue(const pons_run *r, const pons__extra *x, const pons_commit *c)
{
    return x->may_wait && r->opts.durability == PONS_DURABILITY_ASYNC &&
           (c->n_events == 0 || r->t->on_stored) && c->n_effects == 0 && c->n_items == 0 &&
           c->n_records == 0;
}

int pons__run_commit(pons_run *r, const pons__extra *x, pons_error *err)
{
    if (!r->durable) {
        return commit_memory(r, x);
    }
    if (r->ns->ahead) {
        return pons_error_set(
            err, PONS_EIO, PONS__MODULE,
            "queued checkpoints of namespace '%s' of thread %s are lost: a resume "
            "goes on from what is stored",
            r->ns->name, r->t->id);
    }
    int st = r->parent && !r->parent->cp_stored // what names this run must be there first
                 ? pons__run_commit(r->parent, &(pons__extra){0}, err)
                 : PONS_OK;
    if (st != PONS_OK) {
        return st;
    }
    bool plain = pons__out_empty(&r->out) && !x->effect && x->n_with == 0;
    if (r->cp_stored && plain && (!x->rows || x->rows->n == 0)) {
        return PONS_OK;
    }
    commit_parts p;
    memset(&p, 0, offsetof(commit_parts, first));
    p.cps = p.own;
    if (!put_parts(r, x, plain, &p)) {
        parts_fini(&p);
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory to commit a step");
    }
    pons_commit c = {
        .lease = &r->t->lease,
        .ns = r->ns->name,
        .sync = x->sync,
        .checkpoints = p.cps,
        .n_checkpoints = p.n_cps,
        .records = x->rows ? x->rows->rows : NULL,
        .n_records = x->rows ? x->rows->n : 0,
        .inbox_taken = r->out.taken,
        .n_inbox_taken = r->out.n_taken,
        .posts = p.posts,
        .n_posts = r->out.n_posts,
        .effects = p.effects,
        .n_effects = r->out.n_changes + (x->effect ? 1 : 0),
        .events = p.events,
        .n_events = r->out.n_emits,
        .items = p.items,
        .n_items = r->out.n_items,
    };
    const bool queued = may_queue(r, x, &c);
    if (queued && c.n_events > 0) {
        c.written = r->t->on_stored;
        c.user = r->t->user;
    }
    st = pons__thread_commit(r->t, r->ns, &c, queued, err);
    if (st == PONS_OK) {
        committed(r, &p, queued);
    }
    parts_fini(&p);
    return st;
}
