// build.c - mistreevous' AST, checked, with its branches put in place, as a flat definition.
#include "bt/mdsl/build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct builder {
    pons__bt_faults *f;
    const char *file;
    pons_bt *names;       // interns the roots' names
    pons__bt_ast **roots; // (n_roots) by interned name
    uint32_t n_roots;
    char *color; // of a name: 0 unseen, 1 on the path, 2 done
    const pons__bt_ast *path[PONS__BT_DEPTH_MAX + 1];
    int n_path;
    pons_bt *bt;
    bool nomem, full, deep;
} builder;

// ---- the flat form ------------------------------------------------------------------------------

static bool has_props(const pons_value *args)
{
    pons_each(v, args) {
        if (json_is_object(v)) {
            return true;
        }
    }
    return false;
}

static const pons__bt_call_def *call_of(builder *b, const char *name, const pons_value *args)
{
    pons__bt_call_def *c = pons_pool_take(&b->bt->arena, sizeof *c);
    const int32_t fn = pons__bt_name(b->bt, name);
    if (!c || fn < 0 || pons__bt_keep(b->bt, pons_value_ref(args)) < 0) {
        b->nomem = true;
        return NULL;
    }
    *c = (pons__bt_call_def){b->bt->names[fn], fn, args, has_props(args)};
    return c;
}

static const pons__bt_call_def *attr_of(builder *b, const pons__bt_ast *n, int which)
{
    return n->at && n->at[which].name ? call_of(b, n->at[which].name, n->at[which].args) : NULL;
}

static const pons__bt_guard *guard_of(builder *b, const pons__bt_ast *n, uint32_t at,
                                      const pons__bt_guard *outer)
{
    if (!n->at || (!n->at[AT_WHILE].name && !n->at[AT_UNTIL].name)) {
        return outer;
    }
    pons__bt_guard *g = pons_pool_take(&b->bt->arena, sizeof *g);
    if (!g) {
        b->nomem = true;
        return outer;
    }
    g->outer = (pons__bt_guard *)outer;
    g->node = at;
    for (int i = AT_WHILE; i <= AT_UNTIL; i++) {
        g->on[i] = attr_of(b, n, i);
        g->succeed[i] = n->at[i].succeed;
    }
    return g;
}

static const pons__bt_attrs *attrs_of(builder *b, const pons__bt_ast *n)
{
    if (!n->at || (!n->at[AT_ENTRY].name && !n->at[AT_STEP].name && !n->at[AT_EXIT].name)) {
        return NULL;
    }
    pons__bt_attrs *a = pons_pool_take(&b->bt->arena, sizeof *a);
    if (!a) {
        b->nomem = true;
        return NULL;
    }
    a->entry = attr_of(b, n, AT_ENTRY);
    a->step = attr_of(b, n, AT_STEP);
    a->exit = attr_of(b, n, AT_EXIT);
    return a;
}

static void emit(builder *b, const pons__bt_ast *n, uint32_t parent, int depth,
                 const pons__bt_guard *guard)
{
    if (n->type == M_BRANCH) {
        emit(b, b->roots[pons__bt_name(b->names, n->id)]->first, parent, depth, guard);
        return;
    }
    b->deep |= depth > PONS__BT_DEPTH_MAX;
    if (b->deep || b->full || b->nomem) {
        return;
    }
    pons__bt_pos pos = n->pos;
    pos.file = b->bt->file;
    if (!pons__bt_push(b->bt, n->type, pos)) {
        b->full = b->bt->n_nodes >= PONS__BT_NODES_MAX;
        b->nomem |= !b->full;
        return;
    }
    const uint32_t at = b->bt->n_nodes - 1;
    const pons__bt_guard *g = guard_of(b, n, at, guard);
    pons__bt_node *x = &b->bt->nodes[at];
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
        int64_t *w = pons_pool_take(&b->bt->arena, (size_t)n->n_weights * sizeof *w);
        b->nomem |= !w;
        if (w) {
            memcpy(w, n->weights, (size_t)n->n_weights * sizeof *w);
        }
        x->weights = w;
    }
    for (const pons__bt_ast *k = n->first; k; k = k->next) {
        emit(b, k, at, depth + 1, g);
    }
}

// ---- public functions ---------------------------------------------------------------------------

// Names the roots; the unnamed one, or the one that the options name.
static const pons__bt_ast *find_main(builder *b, pons__bt_ast *roots, const char *tree)
{
    const pons__bt_ast *found = NULL, *unnamed = NULL;
    for (pons__bt_ast *r = roots; r; r = r->next) {
        if (!r->id) {
            if (unnamed) {
                pons__bt_fault(b->f, r->pos,
                               "expected a single unnamed root node, this is another one");
            }
            unnamed = unnamed ? unnamed : r;
            continue;
        }
        const int32_t id = pons__bt_name(b->names, r->id);
        if (id < 0) {
            b->nomem = true;
            return NULL;
        }
        if (b->roots[id]) {
            pons__bt_fault(b->f, r->pos, "duplicate root name '%.60s', first at line %u", r->id,
                           b->roots[id]->pos.line);
        } else {
            b->roots[id] = r;
            found = tree && strcmp(tree, r->id) == 0 ? r : found;
        }
    }
    const pons__bt_pos top = {b->file, 1, 1};
    if (!unnamed && b->f->n == 0) {
        pons__bt_fault(b->f, roots ? roots->pos : top,
                       "expected a single unnamed root node, there is none");
    }
    if (tree && !found && strcmp(tree, "root") != 0) {
        pons__bt_fault(b->f, top, "there is no root named '%.60s'", tree);
    }
    return found ? found : unnamed;
}

static void check_node(builder *b, const pons__bt_ast *n)
{
    const pons__bt_type_info *t = &pons__bt_types[n->type];
    if (n->n_kids < 0) {
        return; // said already
    }
    if (t->most == 1 && n->n_kids != 1) {
        pons__bt_fault(b->f, n->n_kids > 1 ? n->first->next->pos : n->pos,
                       "single child expected: a %s node must have a single child node, not %d",
                       t->word, n->n_kids);
    } else if (n->n_kids < t->least) {
        pons__bt_fault(b->f, n->pos, "%s %s node must have at least a single child node",
                       n->type == M_ALL ? "an" : "a", t->word);
    }
    if (n->type == M_LOTTO && n->n_weights > 0 && n->n_weights != n->n_kids) {
        pons__bt_fault(
            b->f, n->args_pos,
            "expected a number of weight arguments matching the number of child nodes for "
            "lotto node: %d for %d",
            n->n_weights, n->n_kids);
    }
    for (const pons__bt_ast *k = n->first; k; k = k->next) {
        check_node(b, k);
    }
}

static void cycle(builder *b, const pons__bt_ast *ref, const pons__bt_ast *target)
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
    pons__bt_fault(b->f, ref->pos, "circular branch reference: %s", text);
}

static void check_refs(builder *b, const pons__bt_ast *root);

static void check_branch(builder *b, const pons__bt_ast *n)
{
    const int32_t id = n->id && *n->id ? pons__bt_name(b->names, n->id) : -1;
    // A name that no root has was interned just now, behind those of the roots.
    if (!n->id || !*n->id) {
        return; // its fault is known
    }
    if (id < 0) {
        b->nomem = true;
        return;
    }
    pons__bt_ast *target = id >= 0 && (uint32_t)id < b->n_roots ? b->roots[id] : NULL;
    if (!target) {
        pons__bt_fault(b->f, n->pos, "missing branch: there is no root named '%.60s'", n->id);
    } else if (b->color[id] == 1) {
        cycle(b, n, target);
    } else if (b->color[id] == 0) {
        check_refs(b, target);
    }
}

static void walk_refs(builder *b, const pons__bt_ast *n)
{
    if (n->type == M_BRANCH) {
        check_branch(b, n);
    }
    for (const pons__bt_ast *k = n->first; k; k = k->next) {
        walk_refs(b, k);
    }
}

// Follows the branches from one root; each root once.
static void check_refs(builder *b, const pons__bt_ast *root)
{
    const int32_t id = root->id ? pons__bt_name(b->names, root->id) : -1;
    if (b->n_path >= PONS__BT_DEPTH_MAX) {
        pons__bt_fault(b->f, root->pos, "branches are nested deeper than %d", PONS__BT_DEPTH_MAX);
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

static void check_all(builder *b, const pons__bt_ast *roots, const pons__bt_ast *main_root)
{
    for (const pons__bt_ast *r = roots; r; r = r->next) {
        check_node(b, r);
    }
    if (main_root) {
        check_refs(b, main_root);
    }
    for (const pons__bt_ast *r = roots; r; r = r->next) {
        const int32_t id = r->id ? pons__bt_name(b->names, r->id) : -1;
        b->nomem |= r->id && id < 0;
        if (r != main_root && (id < 0 || (b->roots[id] == r && b->color[id] == 0))) {
            check_refs(b, r);
        }
    }
}

int pons__bt_build_mdsl(pons__bt_ast *roots, const char *file, const pons_bt_load_options *o,
                        pons__bt_faults *f, pons_bt **ret)
{
    uint32_t n_roots = 0;
    for (const pons__bt_ast *r = roots; r; r = r->next) {
        n_roots++;
    }
    builder b = {.f = f,
                 .file = file,
                 .n_roots = n_roots,
                 .names = pons__bt_create(PONS_BT_MDSL, file),
                 .roots = calloc(n_roots + 1, sizeof(pons__bt_ast *)),
                 .color = calloc(n_roots + 2, 1),
                 .bt = pons__bt_create(PONS_BT_MDSL, file)};
    int rc = PONS_ENOMEM;
    if (!b.names || !b.roots || !b.color || !b.bt) {
        goto out;
    }
    const pons__bt_ast *main_root = find_main(&b, roots, o->tree);
    check_all(&b, roots, main_root);
    rc = b.nomem || f->nomem || b.names->arena.failed ? PONS_ENOMEM : PONS_OK;
    if (rc == PONS_OK && f->n == 0 && main_root) {
        emit(&b, main_root, 0, 1, NULL);
        if (b.deep) {
            pons__bt_fault(f, main_root->pos, "nodes are nested deeper than %d",
                           PONS__BT_DEPTH_MAX);
        } else if (b.full) {
            pons__bt_fault(f, main_root->pos, "the tree has more than %d nodes",
                           PONS__BT_NODES_MAX);
        }
        rc = b.nomem || b.bt->arena.failed ? PONS_ENOMEM : pons__bt_finish(b.bt);
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
