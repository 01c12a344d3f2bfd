// task_output.c - what a task brings out besides channel writes: posts, events, effects, taken messages.
//
// A task gathers them; when its superstep is applied they move to the run, in task order; the run's
// next commit carries them. Whether an effect may move so is checked when they are applied
// (run/apply_writes.c).
#include "graph/state/task_output.h"

#include "pons/growing_list.h"

#include <stdlib.h>
#include <string.h>

bool pons__out_empty(const pons__out *o)
{
    return o->n_posts + o->n_emits + o->n_changes + o->n_taken + o->n_items == 0;
}

void pons__out_clear(pons__out *o)
{
    for (size_t i = 0; i < o->n_posts; i++) {
        free(o->posts[i].ns);
        free(o->posts[i].kind);
        pons_value_unref(o->posts[i].value);
    }
    for (size_t i = 0; i < o->n_emits; i++) {
        free(o->emits[i].type);
        pons_value_unref(o->emits[i].payload);
    }
    for (size_t i = 0; i < o->n_changes; i++) {
        pons_value_unref(o->changes[i].data);
    }
    for (size_t i = 0; i < o->n_items; i++) {
        free(o->items[i]);
    }
    o->n_posts = o->n_emits = o->n_changes = o->n_taken = o->n_items = 0;
}

void pons__out_committed(pons__out *o)
{
    pons__emit *emits = o->emits;
    size_t n = o->n_emits;
    o->n_emits = 0;
    pons__out_clear(o);
    o->emits = emits;
    o->n_emits = n;
}

void pons__out_fini(pons__out *o)
{
    pons__out_clear(o);
    free(o->posts);
    free(o->emits);
    free(o->changes);
    free(o->taken);
    free(o->items);
    *o = (pons__out){0};
}

// ---- one more -----------------------------------------------------------------------------------

int pons__out_post(pons__out *o, const char *ns, const char *kind, pons_value *value)
{
    pons__post p = {strdup(ns), strdup(kind), value};
    if (!p.ns || !p.kind || !value ||
        !pons_list_reserve(&o->posts, &o->cap_posts, o->n_posts + 1, sizeof *o->posts)) {
        free(p.ns);
        free(p.kind);
        pons_value_unref(value);
        return PONS_ENOMEM;
    }
    o->posts[o->n_posts++] = p;
    return PONS_OK;
}

int pons__out_emit(pons__out *o, const char *type, pons_value *payload, int64_t ts_ms)
{
    pons__emit e = {strdup(type), payload, ts_ms};
    if (!e.type || !payload ||
        !pons_list_reserve(&o->emits, &o->cap_emits, o->n_emits + 1, sizeof *o->emits)) {
        free(e.type);
        pons_value_unref(payload);
        return PONS_ENOMEM;
    }
    o->emits[o->n_emits++] = e;
    return PONS_OK;
}

int pons__out_take(pons__out *o, int64_t seq)
{
    for (size_t i = 0; i < o->n_taken; i++) {
        if (o->taken[i] == seq) {
            return PONS_OK;
        }
    }
    if (!pons_list_reserve(&o->taken, &o->cap_taken, o->n_taken + 1, sizeof *o->taken)) {
        return PONS_ENOMEM;
    }
    o->taken[o->n_taken++] = seq;
    return PONS_OK;
}

int pons__out_item(pons__out *o, pons_item_write *w)
{
    if (!pons_list_reserve(&o->items, &o->cap_items, o->n_items + 1, sizeof(pons_item_write *))) {
        free(w);
        return PONS_ENOMEM;
    }
    o->items[o->n_items++] = w;
    return PONS_OK;
}

// ---- effects ------------------------------------------------------------------------------------

pons__change *pons__out_change(pons__out *o, const char *id)
{
    for (size_t i = 0; i < o->n_changes; i++) {
        if (strcmp(o->changes[i].id, id) == 0) {
            return &o->changes[i];
        }
    }
    return NULL;
}

int pons__out_change_put(pons__out *o, const pons__change *c)
{
    pons__change *have = pons__out_change(o, c->id);
    if (have) {
        pons_value_unref(have->data);
        *have = *c;
        return PONS_OK;
    }
    if (!pons_list_reserve(&o->changes, &o->cap_changes, o->n_changes + 1, sizeof *o->changes)) {
        pons_value_unref(c->data);
        return PONS_ENOMEM;
    }
    o->changes[o->n_changes++] = *c;
    return PONS_OK;
}

void pons__out_change_drop(pons__out *o, const char *id)
{
    pons__change *have = pons__out_change(o, id);
    if (!have) {
        return;
    }
    pons_value_unref(have->data);
    size_t at = (size_t)(have - o->changes);
    memmove(have, have + 1, (o->n_changes - at - 1) * sizeof *have);
    o->n_changes--;
}

// ---- from a task to its run ---------------------------------------------------------------------

int pons__out_move(pons__out *dst, pons__out *src)
{
    if (!pons_list_reserve(&dst->posts, &dst->cap_posts, dst->n_posts + src->n_posts,
                           sizeof *dst->posts) ||
        !pons_list_reserve(&dst->emits, &dst->cap_emits, dst->n_emits + src->n_emits,
                           sizeof *dst->emits) ||
        !pons_list_reserve(&dst->changes, &dst->cap_changes, dst->n_changes + src->n_changes,
                           sizeof *dst->changes) ||
        !pons_list_reserve(&dst->taken, &dst->cap_taken, dst->n_taken + src->n_taken,
                           sizeof *dst->taken) ||
        !pons_list_reserve(&dst->items, &dst->cap_items, dst->n_items + src->n_items,
                           sizeof(pons_item_write *))) {
        return PONS_ENOMEM;
    }
    for (size_t i = 0; i < src->n_posts; i++) {
        dst->posts[dst->n_posts++] = src->posts[i];
    }
    for (size_t i = 0; i < src->n_emits; i++) {
        dst->emits[dst->n_emits++] = src->emits[i];
    }
    for (size_t i = 0; i < src->n_changes; i++) {
        pons__out_change_put(dst, &src->changes[i]);
    }
    for (size_t i = 0; i < src->n_taken; i++) {
        pons__out_take(dst, src->taken[i]);
    }
    for (size_t i = 0; i < src->n_items; i++) {
        dst->items[dst->n_items++] = src->items[i];
    }
    src->n_posts = src->n_emits = src->n_changes = src->n_taken = src->n_items = 0;
    return PONS_OK;
}
