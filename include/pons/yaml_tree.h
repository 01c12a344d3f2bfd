// yaml_tree.h - a JSON or YAML text that somebody edits: its nodes, where their bytes are, what is wrong.
//
// pons_yaml (yaml.h) reads configuration, and its first fault refuses the whole. A file that several
// write wants more: a fault belongs to the node it is in, so that its neighbours are read all the
// same; and each node knows its bytes, so that one of them is replaced and the rest stays as it was.
//
//     queue:                 node 0  a map            bytes of the whole
//       - id: a              node 1  /queue           "- id: a … n: .nan"
//         n: .nan            node 2  /queue/0
//       - id: b              node 3  /queue/0/id
//                            node 4  /queue/0/n       fault: ".nan is not a number …"
//                            node 5  /queue/1 …
//
// Nodes lie in pre-order; a node's children are its subtree's entries: the first at n + 1, each next
// one `size` further. Only what is no JSON or YAML at all fails: then there are no nodes.
// Faults: numbers that JSON cannot hold, a key given twice, anchors, aliases, tags, keys that are no
// scalars; in a text that begins with a brace or a bracket also words that are no JSON.
#pragma once

#include "pons/linkage.h"
#include "pons/value.h"

PONS_C_BEGIN

typedef enum pons_node_kind { PONS_NODE_SCALAR, PONS_NODE_LIST, PONS_NODE_MAP } pons_node_kind;

typedef struct pons_node {
    pons_node_kind kind;
    bool flow;             // a list or map in brackets
    size_t start, end;     // its bytes, quotes and brackets with them, what follows it without
    size_t key_start;      // of a map's member: where its key begins; else start
    uint32_t line, column; // of the key, or of itself; from 1
    uint32_t size;         // entries of the subtree, itself included
    const char *key;       // of a map's member, else NULL
    pons_value *scalar;    // NULL: a list or a map
    const char *fault;     // NULL: none of its own
} pons_node;

typedef struct pons_tree {
    pons_node *nodes; // [0] is the root
    size_t n;
    bool json; // the text begins with a brace or a bracket
    struct pons_tree_texts *texts;
} pons_tree;

// PONS_EINVAL with "line:col" in the error's source: the text is neither JSON nor YAML, more than one
// document, not UTF-8, larger than 16 MiB, nested deeper than 64. PONS_ENOMEM. *ret is filled only
// on success.
int pons_tree_parse(const char *text, size_t len, pons_tree *ret, pons_error *err);
void pons_tree_fini(pons_tree *t); // NULL-safe; idempotent

// The member of a map, or 0: none (the root is nobody's member).
size_t pons_tree_member(const pons_tree *t, size_t map, const char *key);
// The subtree as a value without what is faulty in it; the caller's. NULL: no memory.
pons_value *pons_tree_value(const pons_tree *t, size_t node);
// The first node of the subtree with a fault, or 0 when there is none (*ret_any says which 0).
size_t pons_tree_fault(const pons_tree *t, size_t node, bool *ret_any);

PONS_C_END
