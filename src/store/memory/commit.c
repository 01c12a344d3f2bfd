// commit.c - a commit is staged (every row and all the room), then applied by steps that cannot fail.
#include "store/memory/memory.h"

#include <stdlib.h>
#include <string.h>

// What a commit has made and not yet shown.
typedef struct staged {
    rows checkpoints, records, posts, events, effects;
    mem_ns *space;    // of the records, and of checkpoints that name none; NULL without any
    mem_item **items; // NULL without any
    size_t n_items;
} staged;

// ---- commits ------------------------------------------------------------------------------------

// That of the commit, or the one that a checkpoint names. NULL: no memory.
static mem_ns *space_of(mem_thread *t, const staged *s, const char *ns)
{
    mem_ns *there = ns ? pons__mem_space_find(t, ns) : s->space;
    return there ? there : pons__mem_space_make(t, ns);
}

// The room that apply needs. Empty namespaces may stay behind on failure: nobody can see them.
static int stage_room(mem_thread *t, const pons_commit *c, staged *ret, pons_error *err)
{
    if (c->n_checkpoints || c->n_records) {
        ret->space = pons__mem_space_find(t, c->ns);
        if (!ret->space) {
            ret->space = pons__mem_space_make(t, c->ns);
        }
        if (!ret->space) {
            return pons__mem_no_memory(err);
        }
    }
    if (!pons__mem_rows_reserve(&ret->checkpoints, c->n_checkpoints) ||
        !pons__mem_rows_reserve(&ret->records, c->n_records) ||
        !pons__mem_rows_reserve(&ret->posts, c->n_posts) ||
        !pons__mem_rows_reserve(&ret->events, c->n_events) ||
        !pons__mem_rows_reserve(&ret->effects, c->n_effects) ||
        !pons__mem_rows_reserve(&t->inbox, c->n_posts) ||
        !pons__mem_rows_reserve(&t->events, c->n_events) ||
        !pons__mem_rows_reserve(&t->effects, c->n_effects) ||
        !pons__mem_map_reserve(&t->effect_by_id, c->n_effects)) {
        return pons__mem_no_memory(err);
    }
    for (size_t i = 0; i < c->n_checkpoints; i++) {
        mem_ns *s = space_of(t, ret, c->checkpoints[i].ns);
        if (!s || !pons__mem_rows_reserve(&s->checkpoints, c->n_checkpoints) ||
            !pons__mem_map_reserve(&s->by_id, c->n_checkpoints)) {
            return pons__mem_no_memory(err);
        }
    }
    return PONS_OK;
}

static int stage_checkpoints(mem_thread *t, const pons_commit *c, staged *ret, pons_error *err)
{
    for (size_t i = 0; i < c->n_checkpoints; i++) {
        const pons_checkpoint_row *in = &c->checkpoints[i];
        const mem_ns *s = space_of(t, ret, in->ns);
        bool twice = pons__mem_map_get(&s->by_id, in->id, NULL);
        for (size_t j = 0; j < i && !twice; j++) {
            twice = strcmp(c->checkpoints[j].id, in->id) == 0 &&
                    space_of(t, ret, c->checkpoints[j].ns) == s;
        }
        if (twice) {
            return pons_error_set(err, PONS_EEXIST, "store",
                                  "thread %s already has a checkpoint %s", t->name, in->id);
        }
        row *x = pons__mem_row_make(ROW_CHECKPOINT, in->ns, NULL, in->data);
        if (!x) {
            return pons__mem_no_memory(err);
        }
        const void *data = x->u.checkpoint.data.data;
        x->u.checkpoint = *in;
        x->u.checkpoint.data.data = data;
        x->u.checkpoint.ns = NULL;
        pons__mem_rows_push(&ret->checkpoints, x);
    }
    return PONS_OK;
}

// Empty groups may stay behind on failure, too.
static int stage_records(const pons_commit *c, staged *ret, pons_error *err)
{
    for (size_t i = 0; i < c->n_records; i++) {
        const pons_record_row *in = &c->records[i];
        group *g = pons__mem_group_find(ret->space, in->checkpoint);
        if (!g) {
            g = pons__mem_group_make(ret->space, in->checkpoint);
        }
        if (!g || !pons__mem_rows_reserve(&g->records, c->n_records)) {
            return pons__mem_no_memory(err);
        }
        row *x = pons__mem_row_make(ROW_RECORD, NULL, NULL, in->data);
        if (!x) {
            return pons__mem_no_memory(err);
        }
        const void *data = x->u.record.data.data;
        x->u.record = *in;
        x->u.record.data.data = data;
        pons__mem_rows_push(&ret->records, x);
    }
    return PONS_OK;
}

static int stage_rest(const pons_commit *c, staged *ret, pons_error *err)
{
    for (size_t i = 0; i < c->n_posts; i++) {
        row *x = pons__mem_row_make(ROW_INBOX, c->posts[i].ns, c->posts[i].kind, c->posts[i].value);
        if (!x) {
            return pons__mem_no_memory(err);
        }
        pons__mem_rows_push(&ret->posts, x);
    }
    for (size_t i = 0; i < c->n_events; i++) {
        row *x =
            pons__mem_row_make(ROW_EVENT, c->events[i].ns, c->events[i].type, c->events[i].payload);
        if (!x) {
            return pons__mem_no_memory(err);
        }
        x->u.event.ts_ms = c->events[i].ts_ms;
        pons__mem_rows_push(&ret->events, x);
    }
    for (size_t i = 0; i < c->n_effects; i++) {
        const pons_effect_row *in = &c->effects[i];
        row *x = pons__mem_row_make(ROW_EFFECT, in->ns, NULL, in->data);
        if (!x) {
            return pons__mem_no_memory(err);
        }
        memcpy(x->u.effect.id, in->id, sizeof in->id);
        x->u.effect.state = in->state;
        x->u.effect.created = in->created;
        x->u.effect.updated = in->updated;
        pons__mem_rows_push(&ret->effects, x);
    }
    return PONS_OK;
}

// Makes every row and all the room that apply needs.
static int stage(mem_thread *t, const pons_commit *c, staged *ret, pons_error *err)
{
    int rc = stage_room(t, c, ret, err);
    rc = rc ? rc : stage_checkpoints(t, c, ret, err);
    rc = rc ? rc : stage_records(c, ret, err);
    return rc ? rc : stage_rest(c, ret, err);
}

static int record_order(const pons_record_row *a, const pons_record_row *b)
{
    int order = strcmp(a->task, b->task);
    return order ? order : (a->idx > b->idx) - (a->idx < b->idx);
}

static void apply_record(mem_thread *t, mem_ns *space, row *x)
{
    group *g = pons__mem_group_find(space, x->u.record.checkpoint);
    size_t at = g->records.n;
    while (at > 0 && record_order(&g->records.at[at - 1]->u.record, &x->u.record) > 0) {
        at--;
    }
    t->bytes += pons__mem_row_bytes(x);
    if (at > 0 && record_order(&g->records.at[at - 1]->u.record, &x->u.record) == 0) {
        t->bytes -= pons__mem_row_bytes(g->records.at[at - 1]);
        pons__mem_row_unref(g->records.at[at - 1]);
        g->records.at[at - 1] = x;
        return;
    }
    memmove(&g->records.at[at + 1], &g->records.at[at], (g->records.n - at) * sizeof(row *));
    g->records.at[at] = x;
    g->records.n++;
}

static void apply_effect(mem_thread *t, row *x)
{
    size_t at;
    t->bytes += pons__mem_row_bytes(x);
    if (pons__mem_map_get(&t->effect_by_id, x->u.effect.id, &at)) {
        row *old = t->effects.at[at];
        // The key of the index lies in the row that goes: let it lie in the new one.
        t->bytes -= pons__mem_row_bytes(old);
        t->effects.at[at] = x;
        pons__mem_map_put(&t->effect_by_id, x->u.effect.id, at);
        pons__mem_row_unref(old);
        return;
    }
    pons__mem_rows_push(&t->effects, x);
    pons__mem_map_put(&t->effect_by_id, x->u.effect.id, t->effects.n - 1);
}

static void inbox_remove(mem_thread *t, int64_t seq)
{
    for (size_t i = 0; i < t->inbox.n; i++) {
        if (t->inbox.at[i]->u.inbox.seq != seq) {
            continue;
        }
        t->bytes -= pons__mem_row_bytes(t->inbox.at[i]);
        pons__mem_row_unref(t->inbox.at[i]);
        memmove(&t->inbox.at[i], &t->inbox.at[i + 1], (t->inbox.n - i - 1) * sizeof(row *));
        t->inbox.n--;
        return;
    }
}

static void unstage(staged *s)
{
    pons__mem_rows_clear(&s->checkpoints);
    pons__mem_rows_clear(&s->records);
    pons__mem_rows_clear(&s->posts);
    pons__mem_rows_clear(&s->events);
    pons__mem_rows_clear(&s->effects);
}

static void apply(mem_thread *t, const pons_commit *c, staged *s)
{
    for (size_t i = 0; i < s->checkpoints.n; i++) {
        row *x = s->checkpoints.at[i];
        mem_ns *space = space_of(t, s, x->ns); // it is there: its room was made
        pons__mem_rows_push(&space->checkpoints, x);
        pons__mem_map_put(&space->by_id, x->u.checkpoint.id, space->checkpoints.n - 1);
        t->bytes += pons__mem_row_bytes(x);
    }
    for (size_t i = 0; i < s->records.n; i++) {
        apply_record(t, s->space, s->records.at[i]);
    }
    for (size_t i = 0; i < c->n_inbox_taken; i++) {
        inbox_remove(t, c->inbox_taken[i]);
    }
    for (size_t i = 0; i < s->posts.n; i++) {
        s->posts.at[i]->u.inbox.seq = ++t->inbox_seq;
        pons__mem_rows_push(&t->inbox, s->posts.at[i]);
        t->bytes += pons__mem_row_bytes(s->posts.at[i]);
    }
    for (size_t i = 0; i < s->effects.n; i++) {
        apply_effect(t, s->effects.at[i]);
    }
    for (size_t i = 0; i < s->events.n; i++) {
        row *x = s->events.at[i];
        pons__mem_rows_push(&t->events, x);
        x->u.event.seq = c->events[i].seq = t->events_gone + (int64_t)t->events.n;
        t->bytes += pons__mem_row_bytes(x);
    }
    t->updated_ms = pons__store_wall_ms();
    // The references went into the thread.
    s->checkpoints.n = s->records.n = s->posts.n = s->effects.n = s->events.n = 0;
    unstage(s);
}

int pons__mem_commit(void *self, const pons_commit *c, pons_error *err)
{
    mem *m = self;
    int rc = pons__store_check_commit(c, err);
    if (rc) {
        return rc;
    }
    staged s = {0};
    pthread_mutex_lock(&m->mtx);
    mem_thread *t = pons__mem_thread_find(m, c->lease->thread);
    if (!t || !t->held || t->epoch != c->lease->epoch) {
        rc = pons__store_stale(err, c->lease->thread, c->lease->epoch, t ? t->epoch : 0);
    }
    if (!rc) {
        rc = stage(t, c, &s, err);
    }
    if (!rc) {
        s.n_items = c->n_items;
        rc = pons__mem_items_stage(m, c->items, c->n_items, &s.items, err);
    }
    if (!rc) {
        apply(t, c, &s);
        pons__mem_items_apply(m, c->items, c->n_items, s.items);
    } else {
        unstage(&s);
    }
    pthread_mutex_unlock(&m->mtx);
    return rc;
}

// Here nothing is slow, so nothing is queued; but the contract holds: events are the store's copy,
// the caller's seqs are not filled.
int pons__mem_commit_async(void *self, const pons_commit *c, pons_error *err)
{
    pons_commit copy = *c;
    pons_event_row *events = NULL;
    if (c->n_events) {
        events = malloc(c->n_events * sizeof *events);
        if (!events) {
            return pons__mem_no_memory(err);
        }
        memcpy(events, c->events, c->n_events * sizeof *events);
        copy.events = events;
    }
    int rc = pons__mem_commit(self, &copy, err);
    if (!rc && c->written) {
        c->written(c->user);
    }
    free(events);
    return rc;
}

int pons__mem_drain(void *self, pons_error *err)
{
    return PONS_OK;
}

int pons__mem_flush(void *self, const pons_lease *lease, pons_error *err)
{
    return pons__mem_drain(self, err);
}
