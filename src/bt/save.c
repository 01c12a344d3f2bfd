// save.c - a tree's state as a value, and back; another definition under a tree.
//
// Saved form: {format, bt: hash of the structure, epoch, next_run, nodes:[[i, state, index, count,
// t, x, defer, run]...] of those that differ from new ones, slots:{"key" or "board:key": [value,
// kind, exists, seq]}}. Moments are saved relative to now, so they mean the same in another
// process.
#include "bt/core/node_states.h"
#include "bt/mdsl/tick.h"
#include "bt/xml/halt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Whether mem[].t_ns is a moment of the clock, or a count.
static bool is_moment(uint8_t type)
{
    return type == M_WAIT || type == X_DELAY || type == X_TIMEOUT || type == X_SLEEP;
}

// Whether mem[].x is a moment [s].
static bool is_moment_s(uint8_t type)
{
    return type == X_RATE || type == X_SPEED || type == X_TIME_EXPIRED || type == X_PATH_EXPIRING;
}

static pons_value *slot_value(const pons__bt_slot *s)
{
    pons_value *v = s->v.kind == PONS__BT_EMPTY ? json_null() : pons__bt_value_json(&s->v);
    return v ? json_pack("[o,i,b,I]", v, (int)s->kind, (int)s->exists, (json_int_t)s->seq) : NULL;
}

int pons_bt_save(const pons_bt_tree *t, pons_value **ret, pons_error *err)
{
    const double now_s = (double)pons__bt_now_ns(t) / (double)PONS_NS_PER_S;
    pons_value *nodes = json_array(), *slots = json_object();
    int lost = 0;
    for (uint32_t i = 0; i < t->bt->n_nodes; i++) {
        const pons__bt_mem *m = &t->mem[i];
        const uint8_t type = t->nodes[i].type;
        if (!t->state[i] && !t->defer[i] && !m->index && !m->count && !m->t_ns && m->x == 0.0) {
            continue;
        }
        const int64_t at = is_moment(type) ? pons__bt_now_ns(t) - m->t_ns : m->t_ns;
        const double x = is_moment_s(type) ? now_s - m->x : m->x;
        lost |=
            json_array_append_new(nodes, json_pack("[i,i,i,i,I,f,i,I]", (int)i, (int)t->state[i],
                                                   (int)m->index, (int)m->count, (json_int_t)at, x,
                                                   (int)t->defer[i], (json_int_t)t->run[i]));
    }
    char name[300];
    for (uint32_t i = 0; i < t->n_slots; i++) {
        const pons__bt_slot_def *d = &t->bt->slots[i];
        snprintf(name, sizeof name, "%u:%.280s", d->board, d->key);
        lost |= json_object_set_new(slots, name, slot_value(&t->slots[i]));
    }
    for (uint32_t i = 0; i < t->n_extra; i++) {
        snprintf(name, sizeof name, "0:%.280s", t->extra[i].key);
        lost |= json_object_set_new(slots, name, slot_value(&t->extra[i].slot));
    }
    pons_value *v = pons_object_whole(
        "bt", json_string(t->bt->hash), "epoch", json_integer((json_int_t)t->epoch), "next_run",
        json_integer((json_int_t)t->next_run), "rand",
        json_pack("[I,I,I,I]", (json_int_t)t->rand.s[0], (json_int_t)t->rand.s[1],
                  (json_int_t)t->rand.s[2], (json_int_t)t->rand.s[3]),
        "paused", json_boolean(t->paused), "nodes", nodes, "slots", slots, NULL);
    if (!v || lost) {
        pons_value_unref(v);
        return pons_error_set(err, PONS_ENOMEM, "bt", "no memory to save a tree");
    }
    *ret = v;
    return PONS_OK;
}

static int bad(pons_error *err, const char *what)
{
    return pons_error_set(err, PONS_EINVAL, "bt", "a saved tree cannot be restored: %s", what);
}

// One node's row into the arrays of a fresh tree.
static int restore_node(pons_bt_tree *t, const pons_value *row, int64_t now_ns, pons_error *err)
{
    int i, state, index, count, defer;
    json_int_t at, run;
    double x;
    if (json_unpack((json_t *)row, "[i,i,i,i,I,F,i,I]", &i, &state, &index, &count, &at, &x, &defer,
                    &run) < 0 ||
        i < 0 || (uint32_t)i >= t->bt->n_nodes || state < 0 || state > PONS_BT_SKIPPED ||
        defer < 0 || defer > PONS__BT_DEFER_FAILURE) {
        return bad(err, "a node's row is damaged");
    }
    const pons__bt_node *n = &t->nodes[i];
    const bool child = n->type == M_LOTTO || n->type == X_IF_THEN_ELSE || n->type == X_RECOVERY;
    if (index < 0 || (child && (uint32_t)index >= n->n_kids) ||
        (n->n_kids > 1 && (uint32_t)index > n->n_kids)) {
        return bad(err, "a node's child is out of range");
    }
    t->state[i] = (uint8_t)state;
    t->mem[i] =
        (pons__bt_mem){.index = index,
                       .count = count,
                       .t_ns = is_moment(n->type) ? now_ns - at : at,
                       .x = is_moment_s(n->type) ? (double)now_ns / (double)PONS_NS_PER_S - x : x};
    t->defer[i] = (uint8_t)defer;
    t->run[i] = (uint64_t)run;
    t->any_deferred |= defer != PONS__BT_DEFER_NONE;
    t->slow |= t->any_deferred;
    return PONS_OK;
}

static int restore_slot(pons__bt_slot *s, const pons_value *row, pons_error *err)
{
    json_t *value;
    json_int_t seq;
    int kind, exists;
    if (json_unpack((json_t *)row, "[o,i,b,I]", &value, &kind, &exists, &seq) < 0 || kind < 0 ||
        kind > PONS__BT_JSON) {
        return bad(err, "a blackboard entry is damaged");
    }
    pons__bt_value v;
    if (pons__bt_value_of_json(value, &v) < 0) {
        return pons_error_set(err, PONS_ENOMEM, "bt", "no memory to restore a tree");
    }
    pons__bt_value_fini(&s->v);
    *s = (pons__bt_slot){.v = v,
                         .exists = exists,
                         .fixed = v.kind != PONS__BT_EMPTY,
                         .kind = (uint8_t)kind,
                         .seq = (uint64_t)seq};
    return PONS_OK;
}

static int restore_slots(pons_bt_tree *t, const pons_value *slots, pons_error *err)
{
    char name[300];
    for (uint32_t i = 0; i < t->n_slots; i++) {
        snprintf(name, sizeof name, "%u:%.280s", t->bt->slots[i].board, t->bt->slots[i].key);
        const pons_value *row = pons_get(slots, name);
        const int rc = row ? restore_slot(&t->slots[i], row, err) : PONS_OK;
        if (rc < 0) {
            return rc;
        }
    }
    const char *key;
    pons_value *row;
    json_object_foreach((pons_value *)slots, key, row) {
        if (strncmp(key, "0:", 2) != 0 || pons__bt_root_slot(t->bt, key + 2) >= 0) {
            continue;
        }
        pons__bt_slot *s = pons__bt_extra_slot(t, key + 2);
        const int rc = s ? restore_slot(s, row, err)
                         : pons_error_set(err, PONS_ENOMEM, "bt", "no memory to restore a tree");
        if (rc < 0) {
            return rc;
        }
    }
    return PONS_OK;
}

static void free_extra(pons_bt_tree *t)
{
    for (uint32_t i = 0; i < t->n_extra; i++) {
        pons__bt_value_fini(&t->extra[i].slot.v);
        free(t->extra[i].key);
    }
    free(t->extra);
    t->extra = NULL;
    t->n_extra = 0;
}

int pons_bt_restore(pons_bt_tree *t, const pons_value *saved, pons_error *err)
{
    const char *hash = pons_get_str(saved, "bt", "");
    if (t->ticking) {
        return pons_error_set(err, PONS_EBUSY, "bt", "a leaf may not restore its own tree");
    }
    if (strcmp(hash, t->bt->hash) != 0) {
        return bad(err, "it is of another definition");
    }
    pons_bt_tree fresh = *t; // so that a failure leaves the old one
    const int64_t now_ns = pons__bt_now_ns(t);
    fresh.extra = NULL;
    fresh.n_extra = 0;
    int rc = pons__bt_arrays(&fresh) < 0
                 ? pons_error_set(err, PONS_ENOMEM, "bt", "no memory to restore a tree")
                 : PONS_OK;
    const pons_value *nodes = pons_get(saved, "nodes");
    for (size_t i = 0; rc >= 0 && i < json_array_size(nodes); i++) {
        rc = restore_node(&fresh, json_array_get(nodes, i), now_ns, err);
    }
    rc = rc < 0 ? rc : restore_slots(&fresh, pons_get(saved, "slots"), err);
    pons_bt_tree *unwanted = rc < 0 ? &fresh : t;
    pons__bt_free_state(unwanted);
    free_extra(unwanted);
    if (rc < 0) {
        return rc;
    }
    *t = fresh;
    t->epoch = (uint64_t)pons_get_int(saved, "epoch", 1);
    t->next_run = (uint64_t)pons_get_int(saved, "next_run", 1);
    const pons_value *rand = pons_get(saved, "rand");
    for (size_t i = 0; json_array_size(rand) == 4 && i < 4; i++) {
        t->rand.s[i] = (uint64_t)json_integer_value(json_array_get(rand, i));
    }
    pons_bt_pause(t, pons_get_bool(saved, "paused", false));
    return PONS_OK;
}

// ---- another definition -------------------------------------------------------------------------

static bool same_node(const pons__bt_node *a, const pons__bt_node *b)
{
    const char *x = a->call ? a->call->name : a->id ? a->id : "";
    const char *y = b->call ? b->call->name : b->id ? b->id : "";
    return a->type == b->type && strcmp(x, y) == 0;
}

// Pairs the nodes of two definitions from the root down: same place among the siblings, same kind
// and name. map[old] = new + 1.
static void pair(const pons_bt *a, uint32_t i, const pons_bt *b, uint32_t j, uint32_t *map)
{
    if (!same_node(&a->nodes[i], &b->nodes[j])) {
        return;
    }
    map[i] = j + 1;
    const uint32_t n =
        a->nodes[i].n_kids < b->nodes[j].n_kids ? a->nodes[i].n_kids : b->nodes[j].n_kids;
    for (uint32_t k = 0; k < n; k++) {
        pair(a, a->kids[a->nodes[i].kids + k], b, b->kids[b->nodes[j].kids + k], map);
    }
}

// What runs and has no place in the new definition is halted while the old one is still there.
static int halt_unpaired(pons_bt_tree *t, const uint32_t *map, pons_error *err)
{
    for (uint32_t i = 0; i < t->bt->n_nodes; i++) {
        if (map[i] == 0) {
            const int rc = t->bt->format == PONS_BT_XML ? pons__bt_halt_child(t, i, err)
                                                        : pons__bt_abort_mdsl(t, i, err);
            if (rc < 0) {
                return rc;
            }
            i = t->nodes[i].end - 1;
        }
    }
    return PONS_OK;
}

static int move_slots(pons_bt_tree *t, pons_bt_tree *old, pons_error *err)
{
    for (uint32_t i = 0; i < t->n_slots; i++) {
        const pons__bt_slot_def *d = &t->bt->slots[i];
        for (uint32_t k = 0; k < old->n_slots; k++) {
            const pons__bt_slot_def *e = &old->bt->slots[k];
            if (e->board == d->board && strcmp(e->key, d->key) == 0 && old->slots[k].exists) {
                pons__bt_value_fini(&t->slots[i].v);
                t->slots[i] = old->slots[k];
                old->slots[k].v = (pons__bt_value){.kind = PONS__BT_EMPTY};
                old->slots[k].exists = false;
            }
        }
    }
    // Keys of the root's board that the new definition does not have stay, for the program.
    for (uint32_t k = 0; k < old->n_slots; k++) {
        if (old->bt->slots[k].board == 0 && old->slots[k].exists &&
            old->slots[k].v.kind != PONS__BT_EMPTY) {
            pons__bt_slot *s = pons__bt_extra_slot(t, old->bt->slots[k].key);
            if (!s) {
                return pons_error_set(err, PONS_ENOMEM, "bt", "no memory to reload a tree");
            }
            *s = old->slots[k];
            old->slots[k].v = (pons__bt_value){.kind = PONS__BT_EMPTY};
        }
    }
    for (uint32_t k = 0; k < old->n_extra; k++) {
        const int at = pons__bt_root_slot(t->bt, old->extra[k].key);
        pons__bt_slot *s = at >= 0 ? &t->slots[at] : pons__bt_extra_slot(t, old->extra[k].key);
        if (!s) {
            return pons_error_set(err, PONS_ENOMEM, "bt", "no memory to reload a tree");
        }
        pons__bt_value_fini(&s->v);
        *s = old->extra[k].slot;
        old->extra[k].slot.v = (pons__bt_value){.kind = PONS__BT_EMPTY};
    }
    return PONS_OK;
}

// What belongs to a definition; how far the run is and what the program has set stays with each tree.
static void swap_definitions(pons_bt_tree *a, pons_bt_tree *b)
{
    const pons_bt_tree was = *a;
#define SWAP(member) (a->member = b->member, b->member = was.member)
    SWAP(state), SWAP(defer), SWAP(mem), SWAP(run);
    SWAP(slots), SWAP(n_slots), SWAP(extra), SWAP(n_extra);
    SWAP(fns), SWAP(nodes), SWAP(hot), SWAP(kids), SWAP(bt);
#undef SWAP
}

int pons_bt_reload(pons_bt_tree *t, pons_bt *bt, const pons_bt_registry *leaves, pons_error *err)
{
    if (t->ticking) {
        return pons_error_set(err, PONS_EBUSY, "bt", "a leaf may not reload its own tree");
    }
    if (bt->format != t->bt->format) {
        return pons_error_set(err, PONS_EUNSUPPORTED, "bt",
                              "a tree cannot be reloaded in another format");
    }
    // A whole new tree is made first: what can fail, fails while the old one is untouched.
    pons_bt_tree_options o = t->o;
    pons_bt_tree *fresh = NULL;
    o.leaves = leaves;
    uint32_t *map = calloc(t->bt->n_nodes, sizeof *map);
    int rc = map ? pons_bt_tree_create(bt, &o, &fresh, err)
                 : pons_error_set(err, PONS_ENOMEM, "bt", "no memory to reload a tree");
    if (rc >= 0) {
        pair(t->bt, 0, bt, 0, map);
        rc = halt_unpaired(t, map, err);
    }
    if (rc >= 0) {
        for (uint32_t i = 0; i < t->bt->n_nodes; i++) {
            const uint32_t j = map[i] - 1;
            if (map[i] == 0) {
                continue;
            }
            // An index into children that have become fewer would lead nowhere.
            const bool shrunk = bt->nodes[j].n_kids < t->nodes[i].n_kids;
            if (shrunk && (uint32_t)t->mem[i].index >= bt->nodes[j].n_kids) {
                t->mem[i].index = 0;
            }
            fresh->state[j] = t->state[i];
            fresh->mem[j] = t->mem[i];
            fresh->defer[j] = t->defer[i];
            fresh->run[j] = t->run[i];
        }
        rc = move_slots(fresh, t, err);
        swap_definitions(t, fresh);
    }
    pons_bt_tree_destroy(fresh);
    free(map);
    return rc < 0 ? rc : PONS_OK;
}
