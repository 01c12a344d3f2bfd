// loader.h - an XML definition while it is being loaded: elements of all files, trees, models, the
// blackboards of subtrees. One arena has it all, and goes when the loading ends.
//
//   includes.c      read the file and all that it includes, through xml_reader.c (expat)
//   build.c      the main tree node by node, each SubTree in place
//   subtree_boards.c     where a key ends; ports.c: what a node takes; conditions.c: its scripts
#pragma once

#include "bt/core/definition.h"
#include "bt/xml/builtin_nodes.h"

enum {
    PONS__BT_INCLUDES_MAX = 64,
    PONS__BT_KINDS_CACHED = 64,  // a power of two
    PONS__BT_ATTRIBUTES_MAX = 72 // of an element: those of its ports, and of the format
};

typedef struct pons__bt_attribute {
    const char *name, *value;
    struct pons__bt_attribute *next;
} pons__bt_attribute;

typedef struct pons__bt_element {
    const char *tag;
    pons__bt_attribute *attrs;
    pons__bt_pos pos;
    struct pons__bt_element *first, *last, *next, *parent;
    int n;
    bool said; // its faults have been reported
    bool free; // of a model: text, and elements that nobody knows, are passed over
} pons__bt_element;

typedef struct pons__bt_subtree {
    const char *id;
    pons__bt_element *e;
    bool open, seen; // being built; built once
    bool top;        // of the file itself, not of an included one
    struct pons__bt_subtree *next;
} pons__bt_subtree;

typedef struct pons__bt_node_model { // of TreeNodesModel
    const char *id;
    pons__bt_element *e;
    bool subtree, condition, composite;
} pons__bt_node_model;

typedef struct pons__bt_remap {
    const char *key;
    int32_t slot;
    struct pons__bt_remap *next;
} pons__bt_remap;

typedef struct pons__bt_board {
    int32_t parent;
    bool autoremap;
    pons__bt_remap *remaps;
} pons__bt_board;

typedef struct pons__bt_node_kind {
    int type; // pons__bt_type, or PONS__BT_NONE: unknown
    const pons__bt_manifest *m;
    const pons_bt_leaf *leaf;
    const pons__bt_node_model *model;
} pons__bt_node_kind;

typedef struct pons__bt_loader {
    pons_pool *arena; // of the loading
    pons__bt_faults *f;
    const pons_bt_load_options *o;
    pons_bt *bt;
    pons__bt_subtree *trees, *last_tree;
    int n_top, n_anonymous;
    pons_value *tree_of,
        *model_of[2]; // by id, the model of a subtree or of another node: where it is
    const char *main_tree;
    size_t bytes; // of all files
    char *files[PONS__BT_INCLUDES_MAX];
    int n_files;
    pons__bt_board *boards;
    uint32_t n_boards;
    size_t cap_boards;
    uint32_t *slot_hash; // slot + 1
    uint32_t slot_mask;
    const char *way[PONS__BT_DEPTH_MAX + 1]; // trees that are open
    int n_way;
    bool nomem, full;
    bool dollar; // no BTCPP_format: "${key}" is a pointer too, as when Nav2 began
    struct {     // what kind_of found last for a name
        const char *tag, *id;
        pons__bt_node_kind k;
    } kinds[PONS__BT_KINDS_CACHED];
} pons__bt_loader;

// A copy that lives as long as the loading; empty when there is no memory.
char *pons__bt_loader_keep(pons__bt_loader *l, const char *s);
// A fault of an element, unless it was said that the element is bad.
void pons__bt_loader_fault(pons__bt_loader *l, pons__bt_element *e, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
