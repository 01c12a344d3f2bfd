// tree.c - trees at work: made, ticked, halted, paused.
#include "bt/core/node_states.h"
#include "bt/core/registry.h"
#include "bt/core/source_text.h"
#include "bt/mdsl/tick.h"
#include "bt/xml/halt.h"
#include "bt/xml/tick.h"
#include "pons/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TICKS_MAX = 100000 };

// ---- life ---------------------------------------------------------------------------------------

// Functions by name; an XML leaf must have one, or the tree could not do what it says.
static int bind_leaves(pons_bt *bt, const pons_bt_registry *r, pons__bt_fn **ret, pons_error *err)
{
    pons__bt_fn *fns = calloc(bt->n_names + 1, sizeof *fns);
    pons_autobuf missing = PONS_BUF_INIT;
    if (!fns) {
        return pons_error_set(err, PONS_ENOMEM, "bt", "no memory for a tree");
    }
    for (uint32_t i = 0; i < bt->n_names; i++) {
        const pons_bt_leaf *l = pons__bt_leaf_of(r, bt->names[i]);
        if (l) {
            fns[i] = (pons__bt_fn){l->fn, l->user};
        } else if (bt->format == PONS_BT_XML) {
            pons_buf_printf(&missing, "%s%s", missing.len ? ", " : "", bt->names[i]);
        }
    }
    if (missing.len > 0) {
        free(fns);
        pons_error_set(err, PONS_ENOTFOUND, "bt", "nothing here serves the node%s %s",
                       strchr(missing.data, ',') ? "s" : "", missing.data);
        for (uint32_t i = 0; i < bt->n_nodes; i++) { // where the first of them stands
            const pons__bt_node *n = &bt->nodes[i];
            if (n->call && !pons__bt_leaf_of(r, n->call->name)) {
                pons_error_source(err, "%s:%u:%u", n->pos.file, n->pos.line, n->pos.col);
                break;
            }
        }
        return PONS_ENOTFOUND;
    }
    *ret = fns;
    return PONS_OK;
}

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
    t->watch = opts->on_change != NULL;
    t->hooked = opts->hook != NULL;
    t->slow = t->watch || t->hooked;
    t->tick = pons__bt_tick_xml;
    t->next_run = 1;
    pons_rand_seed(&t->rand, opts->seed);
    int rc = bind_leaves(bt, opts->leaves, &t->fns, err);
    if (rc == PONS_OK && pons__bt_arrays(t) < 0) {
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
    pons__bt_free_state(t);
    for (uint32_t i = 0; i < t->n_extra; i++) {
        pons__bt_value_fini(&t->extra[i].slot.v);
        free(t->extra[i].key);
    }
    free(t->extra);
    free(t->fns);
    pons_bt_unref(t->bt);
    free(t);
}

// ---- ticking ------------------------------------------------------------------------------------

static int fail_at(pons_bt_tree *t, int rc, pons_error *err)
{
    char path[PONS_ERROR_SOURCE_MAX - 80];
    if (err) {
        const pons__bt_pos pos = t->nodes[t->failed].pos;
        const char *slash = strrchr(pos.file, '/');
        pons_bt_path(t, t->failed, path, sizeof path);
        pons_error_source(err, "%.50s:%u:%u, %s", slash ? slash + 1 : pos.file, pos.line, pos.col,
                          path);
    }
    return rc;
}

static int tick_once(pons_bt_tree *t, pons_bt_status *ret, pons_error *err)
{
    t->failed = 0;
    if (t->bt->format != PONS_BT_XML) {
        const int rc = pons__bt_step_mdsl(t, err);
        *ret = pons_bt_root(t);
        return rc < 0 ? fail_at(t, rc, err) : rc;
    }
    t->epoch += t->state[0] == PONS_BT_READY;
    const int rc = pons__bt_tick_xml(t, 0, err);
    if (rc < 0) {
        return fail_at(t, rc, err);
    }
    if (rc == PONS_BT_SUCCESS || rc == PONS_BT_FAILURE) {
        pons__bt_set(t, 0, PONS_BT_READY);
    }
    *ret = (pons_bt_status)rc;
    return PONS_OK;
}

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
            rc = t->state[i] != PONS_BT_READY ? pons__bt_halt_child(t, i, err) : PONS_OK;
        }
    } else {
        rc = pons__bt_abort_mdsl(t, 0, err);
        rc = rc < 0 ? rc : pons__bt_reset(t, 0, err);
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

int pons_bt_resolve(pons_bt_tree *t, uint32_t node, uint64_t run, pons_bt_status status)
{
    if (node >= t->bt->n_nodes || t->defer[node] != PONS__BT_DEFER_WAITING || t->run[node] != run ||
        (status != PONS_BT_SUCCESS && status != PONS_BT_FAILURE)) {
        return PONS_ENOTPENDING;
    }
    t->defer[node] = status == PONS_BT_SUCCESS ? PONS__BT_DEFER_SUCCESS : PONS__BT_DEFER_FAILURE;
    return PONS_OK;
}

// ---- states -------------------------------------------------------------------------------------

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
    uint32_t open[PONS__BT_DEPTH_MAX + 2]; // ends of the subtrees that are not closed yet
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
    uint32_t way[PONS__BT_DEPTH_MAX + 2];
    int n = 0;
    size_t at = 0;
    buf[0] = '\0';
    for (uint32_t i = node < t->bt->n_nodes ? node : 0;; i = t->nodes[i].parent) {
        way[n++] = i;
        if (i == 0 || n > PONS__BT_DEPTH_MAX) {
            break;
        }
    }
    while (n-- > 0 && at < cap) {
        const pons__bt_node *x = &t->nodes[way[n]];
        const char *type = pons__bt_types[x->type].word, *name = pons__bt_node_name(x);
        const int w = snprintf(buf + at, cap - at, "%s%s%s%s", at ? " > " : "", type,
                               *name && strcmp(name, type) != 0 ? ":" : "",
                               strcmp(name, type) != 0 ? name : "");
        at += w > 0 ? (size_t)w : 0;
    }
    pons__bt_keep_utf8(buf);
    return buf;
}
