// build.c - mistreevous' AST, checked, with its branches put in place, as a flat definition.
#include "bt/bt_internal.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct builder {
    bt_faults *f;
    const char *file;
    pons_bt *names; // interns the roots' names
    bt_ast **roots; // (n_roots) by interned name
    uint32_t n_roots;
    char *color; // of a name: 0 unseen, 1 on the path, 2 done
    const bt_ast *path[BT_DEPTH_MAX + 1];
    int n_path;
    pons_bt *bt;
    bool nomem, full, deep;
} builder;

static void check_node(builder *b, const bt_ast *n);
static void check_refs(builder *b, const bt_ast *root);
static void emit(builder *b, const bt_ast *n, uint32_t parent, int depth, const bt_guard *guard);
static const bt_ast *find_main(builder *b, bt_ast *roots, const char *tree);

int bt_build_mdsl(bt_ast *roots, const char *file, const pons_bt_load_options *o, bt_faults *f,
                  pons_bt **ret)
{
    uint32_t n_roots = 0;
    for (const bt_ast *r = roots; r; r = r->next) {
        n_roots++;
    }
    builder b = {.f = f,
                 .file = file,
                 .n_roots = n_roots,
                 .names = bt_create(PONS_BT_MDSL, file),
                 .roots = calloc(n_roots + 1, sizeof(bt_ast *)),
                 .color = calloc(n_roots + 2, 1),
                 .bt = bt_create(PONS_BT_MDSL, file)};
    int rc = PONS_ENOMEM;
    if (!b.names || !b.roots || !b.color || !b.bt) {
        goto out;
    }
    const bt_ast *main_root = find_main(&b, roots, o->tree);
    for (const bt_ast *r = roots; r; r = r->next) {
        check_node(&b, r);
    }
    if (main_root) {
        check_refs(&b, main_root);
    }
    for (const bt_ast *r = roots; r; r = r->next) {
        const int32_t id = r->id ? bt_name(b.names, r->id) : -1;
        if (r != main_root && (id < 0 || (b.roots[id] == r && b.color[id] == 0))) {
            check_refs(&b, r);
        }
    }
    rc = PONS_OK;
    if (f->n == 0 && main_root) {
        emit(&b, main_root, 0, 1, NULL);
        if (b.deep) {
            bt_fault(f, main_root->pos, "nodes are nested deeper than %d", BT_DEPTH_MAX);
        } else if (b.full) {
            bt_fault(f, main_root->pos, "the tree has more than %d nodes", BT_NODES_MAX);
        }
        rc = b.nomem ? PONS_ENOMEM : bt_finish(b.bt);
    }
    if (rc == PONS_OK && f->n == 0) {
        *ret = b.bt;
        b.bt = NULL;
    }
out:
    pons_bt_unref(b.names);
    pons_bt_unref(b.bt);
    free(b.roots);
    free(b.color);
    return rc;
}

// Counts of repeat, retry and wait: none, one, or a range; weights are taken by the caller.
void bt_ast_counts(bt_faults *f, bt_ast *n, const int64_t *v, int count, bt_pos pos)
{
    static const char *const what[] = {
        [M_REPEAT] = "iteration count", [M_RETRY] = "attempt count", [M_WAIT] = "duration"};
    const char *type = bt_types[n->type].word;
    for (int i = 0; i < count; i++) {
        if (v[i] < 0) {
            bt_fault(f, pos,
                     n->type == M_LOTTO ? "%s node weight arguments must be positive integer values"
                                        : "a %s node must have a positive %s",
                     type, n->type == M_LOTTO ? "" : what[n->type]);
            return;
        }
    }
    if (n->type == M_LOTTO) {
        return;
    }
    if (count > 2) {
        bt_fault(f, pos, "invalid number of %s node %s arguments defined", type, what[n->type]);
    } else if (count == 2 && v[0] > v[1]) {
        bt_fault(f, pos, "a %s node must not have a minimum %s that exceeds the maximum %s", type,
                 what[n->type], what[n->type]);
    } else if (count > 0) {
        n->low = v[0];
        n->high = v[count - 1];
        n->drawn = count == 2;
    }
}

// Names the roots; the unnamed one, or the one that the options name.
static const bt_ast *find_main(builder *b, bt_ast *roots, const char *tree)
{
    const bt_ast *found = NULL, *unnamed = NULL;
    for (bt_ast *r = roots; r; r = r->next) {
        if (!r->id) {
            if (unnamed) {
                bt_fault(b->f, r->pos, "expected a single unnamed root node, this is another one");
            }
            unnamed = unnamed ? unnamed : r;
            continue;
        }
        const int32_t id = bt_name(b->names, r->id);
        if (id < 0) {
            b->nomem = true;
            return NULL;
        }
        if (b->roots[id]) {
            bt_fault(b->f, r->pos, "duplicate root name '%.60s', first at line %u", r->id,
                     b->roots[id]->pos.line);
        } else {
            b->roots[id] = r;
            found = tree && strcmp(tree, r->id) == 0 ? r : found;
        }
    }
    const bt_pos top = {b->file, 1, 1};
    if (!unnamed && b->f->n == 0) {
        bt_fault(b->f, roots ? roots->pos : top,
                 "expected a single unnamed root node, there is none");
    }
    if (tree && !found && strcmp(tree, "root") != 0) {
        bt_fault(b->f, top, "there is no root named '%.60s'", tree);
    }
    return found ? found : unnamed;
}

static void check_node(builder *b, const bt_ast *n)
{
    const bt_type_info *t = &bt_types[n->type];
    if (n->n_kids < 0) {
        return; // said already
    }
    if (t->most == 1 && n->n_kids != 1) {
        bt_fault(b->f, n->n_kids > 1 ? n->first->next->pos : n->pos,
                 "single child expected: a %s node must have a single child node, not %d", t->word,
                 n->n_kids);
    } else if (n->n_kids < t->least) {
        bt_fault(b->f, n->pos, "%s %s node must have at least a single child node",
                 n->type == M_ALL ? "an" : "a", t->word);
    }
    if (n->type == M_LOTTO && n->n_weights > 0 && n->n_weights != n->n_kids) {
        bt_fault(b->f, n->args_pos,
                 "expected a number of weight arguments matching the number of child nodes for "
                 "lotto node: %d for %d",
                 n->n_weights, n->n_kids);
    }
    for (const bt_ast *k = n->first; k; k = k->next) {
        check_node(b, k);
    }
}

static void cycle(builder *b, const bt_ast *ref, const bt_ast *target)
{
    char text[300];
    int at = 0;
    bool on = false;
    for (int i = 0; i < b->n_path && at < (int)sizeof text - 80; i++) {
        on |= b->path[i] == target;
        if (on) {
            at += snprintf(text + at, sizeof text - (size_t)at, "%.60s => ", b->path[i]->id);
        }
    }
    snprintf(text + at, sizeof text - (size_t)at, "%.60s", target->id);
    bt_fault(b->f, ref->pos, "circular branch reference: %s", text);
}

static void check_branch(builder *b, const bt_ast *n)
{
    const int32_t id = n->id && *n->id ? bt_name(b->names, n->id) : -1;
    // A name that no root has was interned just now, behind those of the roots.
    if (!n->id || !*n->id) {
        return; // its fault is known
    }
    bt_ast *target = id >= 0 && (uint32_t)id < b->n_roots ? b->roots[id] : NULL;
    if (!target) {
        bt_fault(b->f, n->pos, "missing branch: there is no root named '%.60s'", n->id);
    } else if (b->color[id] == 1) {
        cycle(b, n, target);
    } else if (b->color[id] == 0) {
        check_refs(b, target);
    }
}

static void walk_refs(builder *b, const bt_ast *n)
{
    if (n->type == M_BRANCH) {
        check_branch(b, n);
    }
    for (const bt_ast *k = n->first; k; k = k->next) {
        walk_refs(b, k);
    }
}

// Follows the branches from one root; each root once.
static void check_refs(builder *b, const bt_ast *root)
{
    const int32_t id = root->id ? bt_name(b->names, root->id) : -1;
    if (b->n_path >= BT_DEPTH_MAX) {
        bt_fault(b->f, root->pos, "branches are nested deeper than %d", BT_DEPTH_MAX);
        return;
    }
    if (id >= 0) {
        b->color[id] = 1;
    }
    b->path[b->n_path++] = root;
    walk_refs(b, root);
    b->n_path--;
    if (id >= 0) {
        b->color[id] = 2;
    }
}

// ---------------------------------------------------------------- the flat form

static bool has_props(const pons_value *args)
{
    size_t i;
    pons_value *v;
    json_array_foreach((pons_value *)args, i, v)
    {
        if (json_is_object(v)) {
            return true;
        }
    }
    return false;
}

static const bt_call_def *call_of(builder *b, const char *name, const pons_value *args)
{
    bt_call_def *c = bt_alloc(&b->bt->arena, sizeof *c);
    const int32_t fn = bt_name(b->bt, name);
    if (!c || fn < 0 || bt_keep(b->bt, pons_value_ref(args)) < 0) {
        b->nomem = true;
        return NULL;
    }
    *c = (bt_call_def){b->bt->names[fn], fn, args, has_props(args)};
    return c;
}

static const bt_call_def *attr_of(builder *b, const bt_ast *n, int which)
{
    return n->at && n->at[which].name ? call_of(b, n->at[which].name, n->at[which].args) : NULL;
}

static const bt_guard *guard_of(builder *b, const bt_ast *n, uint32_t at, const bt_guard *outer)
{
    if (!n->at || (!n->at[AT_WHILE].name && !n->at[AT_UNTIL].name)) {
        return outer;
    }
    bt_guard *g = bt_alloc(&b->bt->arena, sizeof *g);
    if (!g) {
        b->nomem = true;
        return outer;
    }
    g->outer = (bt_guard *)outer;
    g->node = at;
    for (int i = AT_WHILE; i <= AT_UNTIL; i++) {
        g->on[i] = attr_of(b, n, i);
        g->succeed[i] = n->at[i].succeed;
    }
    return g;
}

static const bt_attrs *attrs_of(builder *b, const bt_ast *n)
{
    if (!n->at || (!n->at[AT_ENTRY].name && !n->at[AT_STEP].name && !n->at[AT_EXIT].name)) {
        return NULL;
    }
    bt_attrs *a = bt_alloc(&b->bt->arena, sizeof *a);
    if (!a) {
        b->nomem = true;
        return NULL;
    }
    a->entry = attr_of(b, n, AT_ENTRY);
    a->step = attr_of(b, n, AT_STEP);
    a->exit = attr_of(b, n, AT_EXIT);
    return a;
}

static void emit(builder *b, const bt_ast *n, uint32_t parent, int depth, const bt_guard *guard)
{
    if (n->type == M_BRANCH) {
        emit(b, b->roots[bt_name(b->names, n->id)]->first, parent, depth, guard);
        return;
    }
    b->deep |= depth > BT_DEPTH_MAX;
    if (b->deep || b->full || b->nomem) {
        return;
    }
    bt_pos pos = n->pos;
    pos.file = b->bt->file;
    if (!bt_push(b->bt, n->type, pos)) {
        b->full = true;
        return;
    }
    const uint32_t at = b->bt->n_nodes - 1;
    const bt_guard *g = guard_of(b, n, at, guard);
    bt_node *x = &b->bt->nodes[at];
    x->parent = parent;
    x->depth = (uint16_t)depth;
    x->guard = g;
    x->low = n->low;
    x->high = n->high;
    x->drawn = n->drawn;
    x->attrs = attrs_of(b, n);
    if (at != 0) {
        b->bt->nodes[parent].n_kids++;
    }
    if (n->type == M_ACTION || n->type == M_CONDITION) {
        x->call = call_of(b, n->id, n->args);
        x->name = x->call ? x->call->name : "";
    } else if (n->type == M_LOTTO && n->n_weights > 0) {
        int64_t *w = bt_alloc(&b->bt->arena, (size_t)n->n_weights * sizeof *w);
        b->nomem |= !w;
        if (w) {
            memcpy(w, n->weights, (size_t)n->n_weights * sizeof *w);
        }
        x->weights = w;
    }
    for (const bt_ast *k = n->first; k; k = k->next) {
        emit(b, k, at, depth + 1, g);
    }
}
