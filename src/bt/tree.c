// tree.c - trees at work: their arrays, the tick's frame, pause, blackboard of the root.
#include "bt/bt_internal.h"

#include <stdio.h>
#include <stdlib.h>

enum { TICKS_MAX = 100000 };

static int bind_leaves(pons_bt *bt, const pons_bt_registry *r, bt_fn **ret, pons_error *err);
static int tick_once(pons_bt_tree *t, pons_bt_status *ret, pons_error *err);
static int fail_at(pons_bt_tree *t, int rc, pons_error *err);

int pons_bt_tree_create(pons_bt *bt, const pons_bt_tree_options *opts, pons_bt_tree **ret,
                        pons_error *err)
{
    pons_bt_tree *t = calloc(1, sizeof *t);
    if (!t) {
        return pons_error_set(err, PONS_ENOMEM, "bt", "no memory for a tree");
    }
    t->bt = pons_bt_ref(bt);
    t->o = *opts;
    t->nodes = bt->nodes;
    t->hot = bt->hot;
    t->kids = bt->kids;
    t->watch = t->slow = opts->on_change != NULL;
    t->next_run = 1;
    pons_rand_seed(&t->rand, opts->seed);
    int rc = bind_leaves(bt, opts->leaves, &t->fns, err);
    if (rc == PONS_OK && bt_arrays(t) < 0) {
        rc =
            pons_error_set(err, PONS_ENOMEM, "bt", "no memory for a tree of %u nodes", bt->n_nodes);
    }
    if (rc < 0) {
        pons_bt_tree_destroy(t);
        return rc;
    }
    *ret = t;
    return PONS_OK;
}

void pons_bt_tree_destroy(pons_bt_tree *t)
{
    if (!t) {
        return;
    }
    bt_free_state(t);
    for (uint32_t i = 0; i < t->n_extra; i++) {
        bt_value_fini(&t->extra[i].slot.v);
        free(t->extra[i].key);
    }
    free(t->extra);
    free(t->fns);
    pons_bt_unref(t->bt);
    free(t);
}

int bt_arrays(pons_bt_tree *t)
{
    const pons_bt *bt = t->bt;
    const size_t n = bt->n_nodes;
    t->state = calloc(n, 1);
    t->mem = calloc(n, sizeof *t->mem);
    t->defer = calloc(n, 1);
    t->run = calloc(n, sizeof *t->run);
    t->slots = calloc(bt->n_slots + 1, sizeof *t->slots);
    t->n_slots = t->slots ? bt->n_slots : 0;
    if (!t->state || !t->mem || !t->defer || !t->run || !t->slots) {
        return PONS_ENOMEM;
    }
    for (uint32_t i = 0; i < t->n_slots; i++) {
        const bt_slot_def *d = &bt->slots[i];
        bt_slot *s = &t->slots[i];
        s->exists = d->declared || d->initial;
        s->kind = (uint8_t)bt_type_kind(d->type);
        if (d->initial) {
            bt_value v = {.kind = BT_STRING, .s = (char *)d->initial};
            if (d->type && !bt_parse(d->initial, d->type, &v)) {
                v = (bt_value){.kind = BT_STRING, .s = (char *)d->initial};
            }
            if (bt_value_dup(&s->v, &v) < 0) {
                return PONS_ENOMEM;
            }
            s->kind = s->v.kind;
            s->seq = 1;
        }
    }
    return PONS_OK;
}

void bt_free_state(pons_bt_tree *t)
{
    for (uint32_t i = 0; i < t->n_slots; i++) {
        bt_value_fini(&t->slots[i].v);
    }
    free(t->state);
    free(t->mem);
    free(t->defer);
    free(t->run);
    free(t->slots);
}

size_t pons_bt_tree_bytes(const pons_bt_tree *t)
{
    return sizeof *t + t->bt->n_nodes * (2 + sizeof *t->mem + sizeof *t->run) +
           t->bt->n_names * sizeof *t->fns + (t->n_slots + 1) * sizeof *t->slots;
}

// Functions by name; an XML leaf must have one, or the tree could not do what it says.
static int bind_leaves(pons_bt *bt, const pons_bt_registry *r, bt_fn **ret, pons_error *err)
{
    bt_fn *fns = calloc(bt->n_names + 1, sizeof *fns);
    pons_autobuf missing = PONS_BUF_INIT;
    if (!fns) {
        return pons_error_set(err, PONS_ENOMEM, "bt", "no memory for a tree");
    }
    for (uint32_t i = 0; i < bt->n_names; i++) {
        const pons_bt_leaf *l = bt_leaf_of(r, bt->names[i]);
        if (l) {
            fns[i] = (bt_fn){l->fn, l->user};
        } else if (bt->format == PONS_BT_XML) {
            pons_buf_printf(&missing, "%s%s", missing.len ? ", " : "", bt->names[i]);
        }
    }
    if (missing.len > 0) {
        free(fns);
        pons_error_set(err, PONS_ENOTFOUND, "bt", "nothing here serves the node%s %s",
                       strchr(missing.data, ',') ? "s" : "", missing.data);
        for (uint32_t i = 0; i < bt->n_nodes; i++) { // where the first of them stands
            const bt_node *n = &bt->nodes[i];
            if (n->call && !bt_leaf_of(r, n->call->name)) {
                pons_error_source(err, "%s:%u:%u", n->pos.file, n->pos.line, n->pos.col);
                break;
            }
        }
        return PONS_ENOTFOUND;
    }
    *ret = fns;
    return PONS_OK;
}

// ---------------------------------------------------------------- ticking

int pons_bt_tick(pons_bt_tree *t, pons_bt_tick_mode mode, pons_bt_status *ret, pons_error *err)
{
    if (t->ticking) {
        return pons_error_set(err, PONS_EBUSY, "bt", "a leaf may not tick its own tree");
    }
    if (t->paused) {
        *ret = pons_bt_root(t);
        return PONS_OK;
    }
    t->ticking = true;
    pons_bt_status s = PONS_BT_READY;
    int rc = tick_once(t, &s, err);
    if (t->bt->format != PONS_BT_XML) {
        mode = PONS_BT_EXACTLY_ONCE;
    }
    for (int n = 1; rc >= 0 && s == PONS_BT_RUNNING && mode != PONS_BT_EXACTLY_ONCE; n++) {
        if (mode == PONS_BT_ONCE && !t->wake) {
            break;
        }
        t->wake = false; // a signal stays until somebody waits for it, over ticks, too
        if (n == TICKS_MAX) {
            rc = pons_error_set(err, PONS_ERECURSION, "bt", "still RUNNING after %d ticks",
                                TICKS_MAX);
            break;
        }
        rc = tick_once(t, &s, err);
    }
    t->ticking = false;
    if (rc >= 0) {
        *ret = s;
    }
    return rc < 0 ? rc : PONS_OK;
}

static int tick_once(pons_bt_tree *t, pons_bt_status *ret, pons_error *err)
{
    t->failed = 0;
    if (t->bt->format != PONS_BT_XML) {
        const int rc = bt_step_mdsl(t, err);
        *ret = pons_bt_root(t);
        return rc < 0 ? fail_at(t, rc, err) : rc;
    }
    t->epoch += t->state[0] == PONS_BT_READY;
    const int rc = bt_tick_xml(t, 0, err);
    if (rc < 0) {
        return fail_at(t, rc, err);
    }
    if (rc == PONS_BT_SUCCESS || rc == PONS_BT_FAILURE) {
        bt_set(t, 0, PONS_BT_READY);
    }
    *ret = (pons_bt_status)rc;
    return PONS_OK;
}

static int fail_at(pons_bt_tree *t, int rc, pons_error *err)
{
    char path[PONS_ERROR_SOURCE_MAX - 80];
    if (err) {
        const bt_pos pos = t->nodes[t->failed].pos;
        const char *slash = strrchr(pos.file, '/');
        pons_bt_path(t, t->failed, path, sizeof path);
        pons_error_source(err, "%.50s:%u:%u, %s", slash ? slash + 1 : pos.file, pos.line, pos.col,
                          path);
    }
    return rc;
}

int pons_bt_halt(pons_bt_tree *t, pons_error *err)
{
    if (t->ticking) {
        return pons_error_set(err, PONS_EBUSY, "bt", "a leaf may not halt its own tree");
    }
    t->ticking = true;
    t->failed = 0;
    int rc = PONS_OK;
    if (t->bt->format == PONS_BT_XML) {
        // What has completed under a parent that did not reset it becomes IDLE, too.
        for (uint32_t i = 0; i < t->bt->n_nodes && rc >= 0; i++) {
            rc = t->state[i] != PONS_BT_READY ? bt_halt_child(t, i, err) : PONS_OK;
        }
    } else {
        rc = bt_abort_mdsl(t, 0, err);
        rc = rc < 0 ? rc : bt_reset(t, 0, err);
    }
    t->ticking = false;
    return rc < 0 ? fail_at(t, rc, err) : PONS_OK;
}

void pons_bt_pause(pons_bt_tree *t, bool paused)
{
    if (paused == t->paused) {
        return;
    }
    const int64_t now = pons_now_ns(&t->o.clock);
    if (paused) {
        t->paused_at_ns = now;
    } else {
        t->paused_total_ns += now - t->paused_at_ns;
    }
    t->paused = paused;
}

bool pons_bt_paused(const pons_bt_tree *t)
{
    return t->paused;
}

int64_t bt_now_ns(const pons_bt_tree *t)
{
    const int64_t now = t->paused ? t->paused_at_ns : pons_now_ns(&t->o.clock);
    return now - t->paused_total_ns + t->offset_ns;
}

double bt_random(pons_bt_tree *t)
{
    const double r = t->o.random ? t->o.random(t->o.user) : pons_rand_unit(&t->rand);
    return r < 0 ? 0 : r >= 1 ? 0x1.fffffffffffffp-1 : r;
}

int pons_bt_resolve(pons_bt_tree *t, uint32_t node, uint64_t run, pons_bt_status status)
{
    if (node >= t->bt->n_nodes || t->defer[node] != BT_DEFER_WAITING || t->run[node] != run ||
        (status != PONS_BT_SUCCESS && status != PONS_BT_FAILURE)) {
        return PONS_ENOTPENDING;
    }
    t->defer[node] = status == PONS_BT_SUCCESS ? BT_DEFER_SUCCESS : BT_DEFER_FAILURE;
    return PONS_OK;
}

// ---------------------------------------------------------------- states

static const char *node_name(const bt_node *n)
{
    return n->name ? n->name : n->id ? n->id : "";
}

void bt_set_watched(pons_bt_tree *t, uint32_t i, pons_bt_status s)
{
    const pons_bt_status from = (pons_bt_status)t->state[i];
    t->state[i] = (uint8_t)s;
    if (from != s) {
        const pons_bt_change change = {i, node_name(&t->nodes[i]), from, s, bt_now_ns(t)};
        t->o.on_change(t->o.user, &change);
    }
}

// Tells every action in [i, end) that runs.
static int halt_running(pons_bt_tree *t, uint32_t i, uint32_t end, pons_error *err)
{
    int rc = PONS_OK;
    while (i < end && rc >= 0) {
        const uint8_t *at = memchr(t->state + i, PONS_BT_RUNNING, end - i);
        if (!at) {
            break;
        }
        i = (uint32_t)(at - t->state);
        if (t->nodes[i].type == M_ACTION) {
            pons_bt_call call = {.reason = PONS_BT_HALT, .node = i};
            bt_set(t, i, PONS_BT_READY);
            rc = bt_call_leaf(t, i, &call, err);
        }
        i++;
    }
    return rc < 0 ? rc : PONS_OK;
}

int bt_reset(pons_bt_tree *t, uint32_t i, pons_error *err)
{
    const uint32_t end = t->nodes[i].end;
    const int rc = halt_running(t, i, end, err);
    if (t->watch) {
        for (uint32_t k = i; k < end; k++) {
            bt_set_watched(t, k, PONS_BT_READY);
        }
    } else {
        memset(t->state + i, PONS_BT_READY, end - i);
    }
    if (t->any_deferred) {
        memset(t->defer + i, BT_DEFER_NONE, end - i);
    }
    return rc;
}

pons_bt_status pons_bt_root(const pons_bt_tree *t)
{
    return (pons_bt_status)t->state[0];
}

pons_bt_status pons_bt_state(const pons_bt_tree *t, uint32_t node)
{
    return node < t->bt->n_nodes ? (pons_bt_status)t->state[node] : PONS_BT_READY;
}

char *pons_bt_states(const pons_bt_tree *t)
{
    pons_autobuf b = PONS_BUF_INIT;
    uint32_t open[BT_DEPTH_MAX + 2]; // ends of the subtrees that are not closed yet
    int n = 0;
    for (uint32_t i = 0; i < t->bt->n_nodes; i++) {
        while (n > 0 && open[n - 1] <= i) {
            pons_buf_byte(&b, ')');
            n--;
        }
        pons_buf_byte(&b, (uint8_t) "-RSFK"[t->state[i]]);
        if (t->nodes[i].n_kids > 0) {
            pons_buf_byte(&b, '(');
            open[n++] = t->nodes[i].end;
        }
    }
    while (n-- > 0) {
        pons_buf_byte(&b, ')');
    }
    return pons_buf_take(&b, NULL);
}

char *pons_bt_path(const pons_bt_tree *t, uint32_t node, char *buf, size_t cap)
{
    uint32_t way[BT_DEPTH_MAX + 2];
    int n = 0;
    size_t at = 0;
    buf[0] = '\0';
    for (uint32_t i = node < t->bt->n_nodes ? node : 0;; i = t->nodes[i].parent) {
        way[n++] = i;
        if (i == 0 || n > BT_DEPTH_MAX) {
            break;
        }
    }
    while (n-- > 0 && at < cap) {
        const bt_node *x = &t->nodes[way[n]];
        const char *type = bt_types[x->type].word, *name = node_name(x);
        const int w = snprintf(buf + at, cap - at, "%s%s%s%s", at ? " > " : "", type,
                               *name && strcmp(name, type) != 0 ? ":" : "",
                               strcmp(name, type) != 0 ? name : "");
        at += w > 0 ? (size_t)w : 0;
    }
    bt_keep_utf8(buf);
    return buf;
}

// ---------------------------------------------------------------- calls

int bt_call_failed(pons_bt_tree *t, uint32_t i, const bt_call_def *def, int rc, pons_error *err)
{
    t->failed = i;
    if (err && err->status == PONS_OK) {
        pons_error_set(err, rc, "bt", "function '%s' failed", def->name);
    }
    return rc;
}

int bt_call(pons_bt_tree *t, uint32_t i, const bt_call_def *def, pons_bt_call *call,
            pons_error *err)
{
    const bt_fn *f = &t->fns[def->fn];
    call->tree = t;
    call->name = def->name;
    call->priv = def;
    if (f->fn) {
        const int rc = f->fn(call, f->user, err);
        if (rc >= 0) {
            return rc;
        }
        return bt_call_failed(t, i, def, rc, err);
    }
    if (call->reason == PONS_BT_HALT) {
        return PONS_OK;
    }
    static const char *const what[] = {[PONS_BT_GUARD] =
                                           "cannot evaluate node guard as the condition",
                                       [PONS_BT_ENTRY] = "cannot call entry function",
                                       [PONS_BT_STEP] = "cannot call step function",
                                       [PONS_BT_EXIT] = "cannot call exit function"};
    t->failed = i;
    return pons_error_set(
        err, PONS_ENOTFOUND, "bt", "%s '%s' function is not defined and has not been registered",
        what[call->reason]                ? what[call->reason]
        : t->nodes[i].type == M_CONDITION ? "cannot update condition node as the condition"
                                          : "cannot update action node as the action",
        def->name);
}

pons_value *pons_bt_call_args(const pons_bt_call *call)
{
    const bt_call_def *def = call->priv;
    if (!def->args) {
        return json_array();
    }
    if (!def->has_props) {
        return pons_value_ref(def->args);
    }
    pons_value *list = json_array();
    size_t i;
    pons_value *v;
    json_array_foreach((pons_value *)def->args, i, v)
    {
        const char *name = json_object_size(v) == 1 ? pons_get_str(v, "$", NULL) : NULL;
        pons_value *found = NULL;
        if (name) {
            const pons_bt_tree *t = call->tree;
            found = t->o.property ? t->o.property(t->o.user, name) : NULL;
        }
        json_array_append_new(list, !name ? pons_value_ref(v) : found ? found : json_null());
    }
    return list;
}

int pons_bt_call_input(const pons_bt_call *call, const char *port, pons_value **ret,
                       pons_error *err)
{
    bt_value v;
    if (bt_input(call->tree, call->node, port, &v) < 0) {
        return pons_error_set(err, PONS_ENOTFOUND, "bt", "port '%s' of '%s' has no value", port,
                              call->name);
    }
    pons_value *j = bt_value_json(&v);
    if (!j) {
        return pons_error_set(err, PONS_ENOMEM, "bt", "no memory for port '%s'", port);
    }
    *ret = j;
    return PONS_OK;
}

int pons_bt_call_output(const pons_bt_call *call, const char *port, pons_value *value,
                        pons_error *err)
{
    bt_value v;
    int rc = bt_value_of_json(value, &v);
    rc = rc < 0 ? pons_error_set(err, rc, "bt", "no memory for port '%s'", port)
                : bt_output(call->tree, call->node, port, &v, err);
    bt_value_fini(&v);
    pons_value_unref(value);
    return rc;
}

// ---------------------------------------------------------------- the root's blackboard

int bt_root_slot(const pons_bt *bt, const char *key)
{
    for (uint32_t i = 0; i < bt->n_slots; i++) {
        if (bt->slots[i].board == 0 && strcmp(bt->slots[i].key, key) == 0) {
            return (int)i;
        }
    }
    return BT_NONE;
}

static bt_slot *find_slot(const pons_bt_tree *t, const char *key)
{
    const int i = bt_root_slot(t->bt, key);
    if (i >= 0) {
        return &t->slots[i];
    }
    for (uint32_t k = 0; k < t->n_extra; k++) {
        if (strcmp(t->extra[k].key, key) == 0) {
            return &t->extra[k].slot;
        }
    }
    return NULL;
}

int pons_bt_get(const pons_bt_tree *t, const char *key, pons_value **ret)
{
    const bt_slot *s = find_slot(t, key);
    if (!s || !s->exists || s->v.kind == BT_EMPTY) {
        return PONS_ENOTFOUND;
    }
    *ret = bt_value_json(&s->v);
    return *ret ? PONS_OK : PONS_ENOMEM;
}

bt_slot *bt_extra_slot(pons_bt_tree *t, const char *key)
{
    for (uint32_t i = 0; i < t->n_extra; i++) {
        if (strcmp(t->extra[i].key, key) == 0) {
            return &t->extra[i].slot;
        }
    }
    struct bt_extra *grown = realloc(t->extra, (t->n_extra + 1) * sizeof *grown);
    if (!grown) {
        return NULL;
    }
    t->extra = grown;
    t->extra[t->n_extra] = (struct bt_extra){.key = strdup(key)};
    return t->extra[t->n_extra].key ? &t->extra[t->n_extra++].slot : NULL;
}

int pons_bt_set(pons_bt_tree *t, const char *key, pons_value *value, pons_error *err)
{
    bt_slot *s = find_slot(t, key);
    bt_value v = {.kind = BT_EMPTY};
    int rc = PONS_ENOMEM;
    if (!s && !(s = bt_extra_slot(t, key))) {
        pons_error_set(err, rc, "bt", "no memory for key '%s'", key);
    } else if (bt_value_of_json(value, &v) < 0) {
        pons_error_set(err, rc, "bt", "no memory for key '%s'", key);
    } else {
        rc = bt_slot_assign(s, key, &v, true, err);
    }
    bt_value_fini(&v);
    pons_value_unref(value);
    return rc;
}

pons_value *pons_bt_board(const pons_bt_tree *t)
{
    pons_value *o = json_object();
    for (uint32_t i = 0; i < t->n_slots; i++) {
        const bt_slot *s = &t->slots[i];
        if (t->bt->slots[i].board == 0 && s->exists && s->v.kind != BT_EMPTY) {
            json_object_set_new(o, t->bt->slots[i].key, bt_value_json(&s->v));
        }
    }
    for (uint32_t i = 0; i < t->n_extra; i++) {
        if (t->extra[i].slot.v.kind != BT_EMPTY) {
            json_object_set_new(o, t->extra[i].key, bt_value_json(&t->extra[i].slot.v));
        }
    }
    return o;
}
