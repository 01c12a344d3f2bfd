// definition.c - how a definition is held: made by a loader, counted, freed.
#include "bt/core/definition.h"

#include "pons/growing_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- life ---------------------------------------------------------------------------------------

pons_bt *pons__bt_create(pons_bt_format format, const char *file)
{
    pons_bt *bt = calloc(1, sizeof *bt);
    if (!bt) {
        return NULL;
    }
    bt->refs = 1;
    bt->format = format;
    bt->file = pons_pool_text(&bt->arena, file, strlen(file));
    if (!bt->file) {
        pons_bt_unref(bt);
        return NULL;
    }
    return bt;
}

pons_bt *pons_bt_ref(pons_bt *bt)
{
    __atomic_add_fetch(&bt->refs, 1, __ATOMIC_RELAXED);
    return bt;
}

void pons_bt_unref(pons_bt *bt)
{
    if (!bt || __atomic_sub_fetch(&bt->refs, 1, __ATOMIC_ACQ_REL) > 0) {
        return;
    }
    for (uint32_t i = 0; i < bt->n_values; i++) {
        pons_value_unref(bt->values[i]);
    }
    free(bt->values);
    free(bt->nodes);
    free(bt->hot);
    free(bt->kids);
    free(bt->names);
    free(bt->name_hash);
    free(bt->slots);
    pons_pool_fini(&bt->arena);
    free(bt);
}

// ---- for loaders --------------------------------------------------------------------------------

pons__bt_node *pons__bt_push(pons_bt *bt, pons__bt_type type, pons__bt_pos pos)
{
    if (bt->n_nodes == bt->cap_nodes) {
        const uint32_t cap = bt->cap_nodes ? bt->cap_nodes * 2 : 64;
        pons__bt_node *grown =
            bt->n_nodes < PONS__BT_NODES_MAX ? realloc(bt->nodes, cap * sizeof *grown) : NULL;
        if (!grown) {
            return NULL;
        }
        bt->nodes = grown;
        bt->cap_nodes = cap;
    }
    pons__bt_node *n = &bt->nodes[bt->n_nodes++];
    *n = (pons__bt_node){.type = (uint8_t)type, .pos = pos, .low = -1, .high = -1};
    return n;
}

static uint32_t hash_of(const char *s)
{
    uint32_t h = 2166136261u; // FNV-1a
    for (; *s; s++) {
        h = (h ^ (uint8_t)*s) * 16777619u;
    }
    return h;
}

static int names_grow(pons_bt *bt)
{
    const uint32_t cap = bt->cap_names ? bt->cap_names * 2 : 32;
    const char **names = realloc(bt->names, cap * sizeof *names);
    if (!names) {
        return PONS_ENOMEM;
    }
    bt->names = names;
    uint32_t *table = calloc((size_t)cap * 2, sizeof *table);
    if (!table) {
        return PONS_ENOMEM;
    }
    free(bt->name_hash);
    bt->name_hash = table;
    bt->cap_names = cap;
    bt->name_mask = cap * 2 - 1;
    for (uint32_t i = 0; i < bt->n_names; i++) {
        uint32_t at = hash_of(bt->names[i]) & bt->name_mask;
        while (table[at]) {
            at = (at + 1) & bt->name_mask;
        }
        table[at] = i + 1;
    }
    return PONS_OK;
}

int32_t pons__bt_name(pons_bt *bt, const char *name)
{
    const uint32_t hash = hash_of(name);
    uint32_t at = hash & bt->name_mask;
    for (; bt->name_hash && bt->name_hash[at]; at = (at + 1) & bt->name_mask) {
        if (strcmp(bt->names[bt->name_hash[at] - 1], name) == 0) {
            return (int32_t)bt->name_hash[at] - 1;
        }
    }
    if (bt->n_names == bt->cap_names) {
        if (names_grow(bt) < 0) {
            return PONS_ENOMEM;
        }
        for (at = hash & bt->name_mask; bt->name_hash[at];) {
            at = (at + 1) & bt->name_mask;
        }
    }
    const char *copy = pons_pool_text(&bt->arena, name, strlen(name));
    if (!copy) {
        return PONS_ENOMEM;
    }
    bt->names[bt->n_names] = copy;
    bt->name_hash[at] = ++bt->n_names;
    return (int32_t)bt->n_names - 1;
}

int pons__bt_keep(pons_bt *bt, pons_value *v)
{
    if (v &&
        !pons_list_reserve(&bt->values, &bt->cap_values, bt->n_values + 1, sizeof *bt->values)) {
        pons_value_unref(v);
        return PONS_ENOMEM;
    }
    if (v) {
        bt->values[bt->n_values++] = v;
    }
    return PONS_OK;
}

static pons__bt_hot hot_of(const pons_bt *bt, uint32_t i)
{
    const pons__bt_node *n = &bt->nodes[i];
    const bool action = n->type == M_ACTION || n->type == X_ACTION;
    const bool condition = n->type == M_CONDITION || n->type == X_CONDITION;
    pons__bt_hot h = {.type = n->type,
                      .has_more =
                          bt->format == PONS_BT_XML ? n->conds != NULL : n->guard || n->attrs,
                      .all = n->end == i + 1 + n->n_kids ? PONS__BT_LEAVES : 0,
                      .fn = n->fn,
                      .n_kids = n->n_kids,
                      .kids = n->kids,
                      .call = n->call,
                      .name = n->call ? n->call->name : NULL};
    if ((action || condition) && n->call && !h.has_more) {
        h.plain = action ? PONS_BT_RUNNING : PONS_BT_SUCCESS;
    }
    return h;
}

// Children by index and guards by chain, from parents; the hash of the structure.
int pons__bt_finish(pons_bt *bt)
{
    const uint32_t n = bt->n_nodes;
    uint64_t h = 14695981039346656037ULL;
    bt->n_kids = n > 0 ? n - 1 : 0;
    const size_t room = n ? n : 1;
    bt->kids = calloc(room, sizeof *bt->kids);
    bt->hot = calloc(room, sizeof *bt->hot);
    pons__bt_node *fitting = realloc(bt->nodes, room * sizeof *fitting); // only what is needed
    bt->nodes = fitting ? fitting : bt->nodes;
    bt->cap_nodes = fitting ? n : bt->cap_nodes;
    if (!bt->kids || !bt->hot) {
        return PONS_ENOMEM;
    }
    uint32_t at = 0;
    for (uint32_t i = 0; i < n; i++) { // room for each node's children
        bt->nodes[i].kids = at;
        at += bt->nodes[i].n_kids;
        bt->nodes[i].n_kids = 0;
        bt->nodes[i].end = i + 1;
    }
    for (uint32_t i = 1; i < n; i++) {
        pons__bt_node *p = &bt->nodes[bt->nodes[i].parent];
        bt->kids[p->kids + p->n_kids++] = i;
    }
    for (uint32_t i = n; i-- > 1;) {
        pons__bt_node *p = &bt->nodes[bt->nodes[i].parent];
        p->end = p->end > bt->nodes[i].end ? p->end : bt->nodes[i].end;
    }
    for (uint32_t i = 0; i < n; i++) {
        const pons__bt_node *x = &bt->nodes[i];
        const char *name = x->call ? x->call->name : x->id ? x->id : "";
        bt->nodes[i].fn = x->call ? x->call->fn : 0;
        h = (h ^ x->type) * 1099511628211ULL;
        h = (h ^ x->n_kids) * 1099511628211ULL;
        h = (h ^ hash_of(name)) * 1099511628211ULL;
    }
    for (uint32_t i = n; i-- > 0;) { // the children before their parent
        pons__bt_hot *x = &bt->hot[i];
        *x = hot_of(bt, i);
        bool plain = x->all == PONS__BT_LEAVES;
        for (uint32_t k = 1; k <= x->n_kids && plain; k++) {
            plain = x[k].plain != 0;
        }
        x->all |= plain ? PONS__BT_PLAIN : 0;
    }
    snprintf(bt->hash, sizeof bt->hash, "%u-%016llx", n, (unsigned long long)h);
    return PONS_OK;
}

// ---- what is in it ------------------------------------------------------------------------------

pons_bt_format pons_bt_format_of(const pons_bt *bt)
{
    return bt->format;
}

uint32_t pons_bt_nodes(const pons_bt *bt)
{
    return bt->n_nodes;
}

size_t pons_bt_bytes(const pons_bt *bt)
{
    return sizeof *bt + bt->arena.bytes + bt->cap_nodes * sizeof *bt->nodes +
           bt->n_nodes * sizeof *bt->hot + bt->n_kids * sizeof *bt->kids +
           bt->cap_names * sizeof *bt->names + ((size_t)bt->name_mask + 1) * sizeof *bt->name_hash +
           bt->cap_slots * sizeof *bt->slots + bt->cap_values * sizeof *bt->values;
}

static int calls_of(const pons_bt *bt, uint32_t i, pons_bt_calls_fn fn, void *user, pons_error *err)
{
    const pons__bt_node *n = &bt->nodes[i];
    const bool mdsl = bt->format != PONS_BT_XML;
    const pons__bt_guard *g = mdsl && n->guard && n->guard->node == i ? n->guard : NULL; // its own
    const pons__bt_attrs *a = mdsl ? n->attrs : NULL;
    const pons__bt_call_def *all[] = {g ? g->on[0] : NULL, g ? g->on[1] : NULL, a ? a->entry : NULL,
                                      a ? a->step : NULL,  a ? a->exit : NULL,  n->call};
    int rc = PONS_OK;
    for (size_t k = 0; k < sizeof all / sizeof *all && rc >= 0; k++) {
        rc = all[k] ? fn(user, all[k]->name, all[k]->args, err) : rc;
    }
    if (rc < 0) {
        pons_error_source(err, "%s:%u:%u", n->pos.file, n->pos.line, n->pos.col);
    }
    return rc;
}

int pons_bt_calls(const pons_bt *bt, pons_bt_calls_fn fn, void *user, pons_error *err)
{
    int rc = PONS_OK;
    for (uint32_t i = 0; i < bt->n_nodes && rc >= 0; i++) {
        rc = calls_of(bt, i, fn, user, err);
    }
    return rc;
}

int pons__bt_root_slot(const pons_bt *bt, const char *key)
{
    for (uint32_t i = 0; i < bt->n_slots; i++) {
        if (bt->slots[i].board == 0 && strcmp(bt->slots[i].key, key) == 0) {
            return (int)i;
        }
    }
    return PONS__BT_NONE;
}
