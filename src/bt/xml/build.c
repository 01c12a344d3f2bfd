// build.c - from elements to nodes in pre-order, each SubTree in place with its blackboard.
#include "bt/xml/build.h"

#include "bt/core/registry.h"
#include "bt/xml/conditions.h"
#include "bt/xml/includes.h"
#include "bt/xml/ports.h"
#include "bt/xml/subtree_boards.h"
#include "bt/xml/xml_reader.h"

#include <stdio.h>
#include <string.h>

// ---- kinds --------------------------------------------------------------------------------------

static pons__bt_node_kind kind_of(const pons__bt_loader *l, const pons__bt_element *e,
                                  const char *id)
{
    static const char *const old[][2] = {
        {"SequenceStar", "SequenceWithMemory"},
        {"FallbackStar", "Fallback"},
        {"RetryUntilSuccesful", "RetryUntilSuccessful"},
        {"initialPoseReceived", "InitialPoseReceived"}, // these are Nav2's first releases'
        {"clearEntirelyCostmapServiceRequest", "ClearEntireCostmap"},
        {"globalLocalizationServiceRequest", "ReinitializeGlobalLocalization"}};
    for (size_t i = 0; i < sizeof old / sizeof *old; i++) {
        id = strcmp(id, old[i][0]) == 0 ? old[i][1] : id;
    }
    pons__bt_node_kind k = {.type = PONS__BT_NONE,
                            .m = pons__bt_manifest_of(id),
                            .leaf = pons__bt_leaf_of(l->o->leaves, id),
                            .model = pons__bt_files_model(l, id, false)};
    const bool may = !k.m || pons__bt_types[k.m->type].most == 0; // what has children is ours
    if (may && k.leaf) {
        k.type = k.leaf->condition ? X_CONDITION : X_ACTION;
    } else if (k.m) {
        k.type = k.m->type;
        k.leaf = NULL;
    } else if (k.model && !k.model->composite) {
        k.type = k.model->condition ? X_CONDITION : X_ACTION;
    } else if (strcmp(e->tag, "Condition") == 0) {
        k.type = X_CONDITION;
    } else if (strcmp(e->tag, "Action") == 0 || (l->o->any_leaf && e->n == 0)) {
        k.type = X_ACTION;
    }
    return k;
}

// A file names the same few nodes over and over.
static pons__bt_node_kind cached_kind(pons__bt_loader *l, const pons__bt_element *e, const char *id)
{
    uint32_t h = 5381;
    for (const char *c = id; *c; c++) {
        h = h * 33 + (uint8_t)*c;
    }
    const uint32_t at = h & (PONS__BT_KINDS_CACHED - 1);
    if (l->o->any_leaf) {
        return kind_of(l, e, id); // it depends on the children, too
    }
    if (!l->kinds[at].id || strcmp(l->kinds[at].id, id) != 0 ||
        strcmp(l->kinds[at].tag, e->tag) != 0) {
        l->kinds[at].id = id;
        l->kinds[at].tag = e->tag;
        l->kinds[at].k = kind_of(l, e, id);
    }
    return l->kinds[at].k;
}

// ---- nodes --------------------------------------------------------------------------------------

static bool truth(const char *s)
{
    return s && (strcmp(s, "true") == 0 || strcmp(s, "1") == 0);
}

// What a SubTree is given, for whoever shows the tree: at work a key of it is the slot that it ends at.
static void keep_attributes(pons__bt_loader *l, const pons__bt_element *e, uint32_t at)
{
    uint32_t n = 0;
    for (const pons__bt_attribute *a = e->attrs; a; a = a->next) {
        n += !pons__bt_ports_special(a->name);
    }
    pons__bt_port *ports = n > 0 ? pons_pool_take(&l->bt->arena, n * sizeof *ports) : NULL;
    uint32_t k = 0;
    for (const pons__bt_attribute *a = e->attrs; a && ports; a = a->next) {
        if (!pons__bt_ports_special(a->name)) {
            ports[k] =
                (pons__bt_port){.name = pons_pool_text(&l->bt->arena, a->name, strlen(a->name)),
                                .text = pons_pool_text(&l->bt->arena, a->value, strlen(a->value)),
                                .slot = PONS__BT_NONE,
                                .type = 's'};
            l->nomem |= !ports[k].name || !ports[k].text;
            k++;
        }
    }
    l->nomem |= n > 0 && !ports;
    l->bt->nodes[at].ports = ports;
    l->bt->nodes[at].n_ports = ports ? n : 0;
}

// One key of a subtree: a pointer leads to the parent's slot, a literal is its first value.
static void add_remap(pons__bt_loader *l, int32_t outer, int32_t inner, const char *name,
                      const char *text)
{
    char buf[512];
    const char *key = pons__bt_board_pointer(l, text, name, buf, sizeof buf);
    if (!key) {
        const int32_t slot = pons__bt_board_local(l, (uint32_t)inner, name, true);
        if (slot >= 0) {
            l->bt->slots[slot].initial = pons_pool_text(&l->bt->arena, text, strlen(text));
        }
        return;
    }
    pons__bt_remap *r = pons_pool_take(l->arena, sizeof *r);
    if (!r) {
        l->nomem = true;
        return;
    }
    r->key = pons__bt_loader_keep(l, name);
    r->slot = pons__bt_board_slot(l, outer, key);
    r->next = l->boards[inner].remaps;
    l->boards[inner].remaps = r;
}

static int push(pons__bt_loader *l, pons__bt_element *e, int type, const char *id, uint32_t parent,
                int depth)
{
    if (depth > PONS__BT_DEPTH_MAX || !pons__bt_push(l->bt, (pons__bt_type)type, e->pos)) {
        if (depth <= PONS__BT_DEPTH_MAX && l->bt->n_nodes < PONS__BT_NODES_MAX) {
            l->nomem = true;
        } else if (!l->full) {
            pons__bt_fault(l->f, e->pos,
                           depth > PONS__BT_DEPTH_MAX ? "nodes are nested deeper than %d"
                                                      : "the tree has more than %d nodes",
                           depth > PONS__BT_DEPTH_MAX ? (int)PONS__BT_DEPTH_MAX
                                                      : (int)PONS__BT_NODES_MAX);
        }
        l->full = true;
        return PONS__BT_NONE;
    }
    const uint32_t at = l->bt->n_nodes - 1;
    pons__bt_node *n = &l->bt->nodes[at];
    const char *name = pons__bt_element_attr(e, "name");
    n->parent = parent;
    n->depth = (uint16_t)depth;
    n->id = pons_pool_text(&l->bt->arena, id, strlen(id));
    n->name = name ? pons_pool_text(&l->bt->arena, name, strlen(name)) : n->id;
    l->nomem |= !n->id || !n->name;
    if (depth > 1) {
        l->bt->nodes[parent].n_kids++;
    }
    return (int)at;
}

static void build_subtree(pons__bt_loader *l, pons__bt_element *e, const char *id, uint32_t parent,
                          int depth, int32_t on)
{
    pons__bt_subtree *tr = pons__bt_files_tree(l, id);
    if (e->n > 0) {
        pons__bt_loader_fault(l, e, "<%s ID=\"%.60s\"> may not have children", e->tag, id);
    }
    if (!tr) {
        pons__bt_loader_fault(l, e, "missing tree: there is no <BehaviorTree ID=\"%.60s\">", id);
        e->said = true;
        return;
    }
    const int at = push(l, e, X_SUBTREE, id, parent, depth);
    if (at < 0) {
        return;
    }
    const bool autoremap = truth(pons__bt_element_attr(e, "_autoremap")) ||
                           truth(pons__bt_element_attr(e, "__autoremap")) ||
                           truth(pons__bt_element_attr(e, "__shared_blackboard"));
    const int32_t inner = pons__bt_board_add(l, on, autoremap);
    l->bt->nodes[at].autoremap = autoremap;
    keep_attributes(l, e, (uint32_t)at);
    for (const pons__bt_attribute *a = e->attrs; a && !l->nomem; a = a->next) {
        if (!pons__bt_ports_special(a->name)) {
            add_remap(l, on, inner, a->name, a->value);
        }
    }
    const pons__bt_node_model *m = pons__bt_files_model(l, id, true);
    for (const pons__bt_element *p = m ? m->e->first : NULL; p && !l->nomem; p = p->next) {
        const char *name = pons__bt_element_attr(p, "name"),
                   *fallback = pons__bt_element_attr(p, "default");
        if (!name || pons__bt_element_attr(e, name) || !strstr(p->tag, "_port")) {
            continue;
        }
        if (fallback) {
            add_remap(l, on, inner, name, fallback);
        } else if (!autoremap) {
            pons__bt_loader_fault(l, e, "missing port [%.60s] of the subtree '%.60s'", name, id);
        }
    }
    pons__bt_conds_set(l, e, (uint32_t)at, on);
    e->said = true;
    pons__bt_build_xml(l, tr, (uint32_t)at, depth + 1, inner, e->pos);
}

static void build_known(pons__bt_loader *l, pons__bt_element *e, const pons__bt_node_kind *k,
                        const char *id, uint32_t parent, int depth, int32_t on);

static void build_node(pons__bt_loader *l, pons__bt_element *e, uint32_t parent, int depth,
                       int32_t on)
{
    static const char *const generic[] = {"Action",    "Condition", "Control",
                                          "Decorator", "SubTree",   "SubTreePlus"};
    const char *id = e->tag;
    bool subtree = false;
    for (size_t i = 0; i < sizeof generic / sizeof *generic; i++) {
        if (e->tag[0] == generic[i][0] && strcmp(e->tag, generic[i]) == 0) {
            id = pons__bt_element_attr(e, "ID");
            subtree = i >= 4;
        }
    }
    if (!id || !*id) {
        pons__bt_loader_fault(l, e, "<%.60s> needs an ID", e->tag);
        e->said = true;
        return;
    }
    const pons__bt_node_kind k = cached_kind(l, e, id);
    if (subtree || (k.type == PONS__BT_NONE && pons__bt_files_tree(l, id)) ||
        (e->tag == id && !k.m && !k.leaf && !k.model && pons__bt_files_tree(l, id))) {
        build_subtree(l, e, id, parent, depth, on);
        return;
    }
    if (k.type != PONS__BT_NONE) {
        build_known(l, e, &k, id, parent, depth, on);
        return;
    }
    pons__bt_loader_fault(l, e, "unknown node <%.60s>%s", id,
                          strncmp(id, "BlackboardCheck", 15) != 0
                              ? ""
                              : ": it is of BehaviorTree.CPP 3; Precondition does the same");
    e->said = true;
    for (pons__bt_element *c = e->first; c && !l->full; c = c->next) {
        build_node(l, c, parent, depth + 1, on);
    }
}

static void check_children(pons__bt_loader *l, pons__bt_element *e, int type, const char *id)
{
    const pons__bt_type_info *t = &pons__bt_types[type];
    if (e->said || (e->n >= t->least && (t->most < 0 || e->n <= t->most))) {
        return;
    }
    if (t->most == 0) {
        pons__bt_fault(l->f, e->pos, "<%.60s> may not have children, it has %d", id, e->n);
    } else if (t->most == t->least) {
        pons__bt_fault(l->f, e->pos, "<%.60s> must have exactly %d child%s, not %d", id, t->most,
                       t->most == 1 ? "" : "ren", e->n);
    } else if (t->most > 0) {
        pons__bt_fault(l->f, e->pos, "<%.60s> must have %d or %d children, not %d", id, t->least,
                       t->most, e->n);
    } else {
        pons__bt_fault(l->f, e->pos, "<%.60s> must have at least %d child%s, not %d", id, t->least,
                       t->least == 1 ? "" : "ren", e->n);
    }
}

static void set_leaf(pons__bt_loader *l, uint32_t at, const char *id)
{
    pons__bt_call_def *c = pons_pool_take(&l->bt->arena, sizeof *c);
    const int32_t fn = pons__bt_name(l->bt, id);
    if (!c || fn < 0) {
        l->nomem = true;
        return;
    }
    *c = (pons__bt_call_def){.name = l->bt->names[fn], .fn = fn};
    l->bt->nodes[at].call = c;
}

static void build_known(pons__bt_loader *l, pons__bt_element *e, const pons__bt_node_kind *k,
                        const char *id, uint32_t parent, int depth, int32_t on)
{
    pons__bt_port_defs d; // 3 KiB that need no zeros
    d.n = 0;
    d.open = false;
    if (k->leaf && k->leaf->ports) {
        for (size_t i = 0; i < k->leaf->n_ports; i++) {
            const pons_bt_port *p = &k->leaf->ports[i];
            pons__bt_ports_add(&d, p->name, p->type, p->fallback, p->mandatory);
        }
    } else if (k->m) {
        pons__bt_ports_of_line(&d, k->m->ports);
        d.open |= k->leaf != NULL;
    } else if (k->model) {
        pons__bt_ports_of_model(&d, k->model);
    } else {
        d.open = true;
    }
    check_children(l, e, k->type, id);
    const int at = push(l, e, k->type, id, parent, depth);
    if (at < 0) {
        return;
    }
    pons__bt_ports_set(l, e, (uint32_t)at, &d, on);
    pons__bt_conds_set(l, e, (uint32_t)at, on);
    if (k->type == X_SCRIPT || k->type == X_SCRIPT_CONDITION || k->type == X_PRECONDITION) {
        const char *port = k->type == X_PRECONDITION ? "if" : "code";
        const char *text = pons__bt_element_attr(e, port);
        l->bt->nodes[at].script = text ? pons__bt_conds_compile(l, e, port, text, on) : NULL;
    } else if (k->type == X_ACTION || k->type == X_CONDITION || k->type == X_PAUSE_RESUME ||
               k->type == X_RECOVERY_MANAGER) { // the last two: refused by name, as a leaf is
        set_leaf(l, (uint32_t)at, k->m ? k->m->id : id);
    }
    e->said = true;
    for (pons__bt_element *c = e->first; c && !l->full && !l->nomem; c = c->next) {
        build_node(l, c, (uint32_t)at, depth + 1, on);
    }
}

// ---- trees --------------------------------------------------------------------------------------

void pons__bt_build_xml(pons__bt_loader *l, pons__bt_subtree *tr, uint32_t parent, int depth,
                        int32_t on, pons__bt_pos from)
{
    if (tr->open) {
        char text[300];
        size_t at = 0;
        bool in = false;
        for (int i = 0; i < l->n_way && at + 70 < sizeof text; i++) {
            in |= strcmp(l->way[i], tr->id) == 0;
            at += in ? (size_t)snprintf(text + at, sizeof text - at, "%.60s => ", l->way[i]) : 0;
        }
        snprintf(text + at, sizeof text - at, "%.60s", tr->id);
        if (!tr->e->said) {
            pons__bt_fault(l->f, from, "recursive trees: %s", text);
        }
        tr->e->said = true;
        return;
    }
    tr->seen = true;
    if (!tr->e->first || l->n_way >= PONS__BT_DEPTH_MAX || l->full) {
        return;
    }
    tr->open = true;
    l->way[l->n_way++] = tr->id;
    build_node(l, tr->e->first, parent, depth, on);
    l->n_way--;
    tr->open = false;
}
