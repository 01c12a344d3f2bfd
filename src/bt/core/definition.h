// definition.h - a tree as it was loaded: the flat model, immutable once a loader has finished it.
//
// A loader makes nodes in pre-order: node 0 is the root, a node's descendants are [i + 1, end), so
// that resetting a subtree is one memset of the states. Everything that does not change at work is
// in the definition's arena; a tree has arrays of the same length beside it. What each tick looks
// at is once more in an array of its own (pons__bt_hot), so that a tick of a big tree stays in the
// cache.
#pragma once

#include "bt/core/blackboard_value.h"
#include "bt/core/load_faults.h"
#include "bt/core/node_types.h"
#include "pons/bt.h"
#include "pons/memory_pool.h"

typedef struct pons__bt_script pons__bt_script; // xml/script.h

typedef struct pons__bt_call_def { // a named function with arguments, or an XML leaf
    const char *name;
    int32_t fn;             // index in bt->names; shared by all calls of that name
    const pons_value *args; // list or NULL
    bool has_props;
} pons__bt_call_def;

typedef struct pons__bt_guard { // MDSL: a node with while or until, linked to the next one outwards
    struct pons__bt_guard *outer;
    uint32_t node;
    const pons__bt_call_def *on[2]; // while, until
    bool succeed[2];
} pons__bt_guard;

typedef struct pons__bt_attrs { // MDSL callbacks
    const pons__bt_call_def *entry, *step, *exit;
} pons__bt_attrs;

enum {
    PONS__BT_FAILURE_IF,
    PONS__BT_SUCCESS_IF,
    PONS__BT_SKIP_IF,
    PONS__BT_WHILE,
    PONS__BT_PRE_COUNT
};
enum {
    PONS__BT_ON_SUCCESS,
    PONS__BT_ON_FAILURE,
    PONS__BT_POST,
    PONS__BT_ON_HALTED,
    PONS__BT_POST_COUNT
};
typedef struct pons__bt_conds { // XML pre- and post-conditions
    const pons__bt_script *pre[PONS__BT_PRE_COUNT];
    const pons__bt_script *post[PONS__BT_POST_COUNT];
} pons__bt_conds;

typedef struct pons__bt_port {
    const char *name;
    const char *text; // raw
    int32_t slot;     // PONS__BT_NONE: a literal
    char type;
    pons__bt_value literal; // parsed; PONS__BT_STRING borrows text
    double number;          // type e: what the enum of that name stands for
} pons__bt_port;

typedef struct
    pons__bt_node { // what only one family of nodes has shares its place with the other's
    uint8_t type;
    bool drawn;     // MDSL: the range was given as two numbers
    bool autoremap; // XML: of a SubTree
    uint16_t depth;
    uint32_t n_kids;
    uint32_t kids; // into bt->kids
    uint32_t end;
    uint32_t parent;
    int32_t fn; // of call
    const pons__bt_call_def *call;
    union {
        const pons__bt_guard *guard; // MDSL: nearest, this node's own or an ancestor's
        const pons__bt_conds *conds; // XML
    };
    union {
        const pons__bt_attrs *attrs; // MDSL
        const pons__bt_port *ports;  // XML
    };
    uint32_t n_ports; // XML
    union {
        const int64_t *weights;        // MDSL: lotto
        const pons__bt_script *script; // XML
    };
    int64_t low, high; // repeat, retry, wait: range; low < 0: none
    const char *name;  // the node's own ("name" in XML), or the function's
    const char *id;    // XML: registration id; SubTree: the tree's
    pons__bt_pos pos;
} pons__bt_node;

typedef struct pons__bt_hot { // 32 bytes of a node
    uint8_t type;
    uint8_t plain; // a called leaf without guards, callbacks or conditions: the least it may
                   // answer (an action RUNNING, a condition SUCCESS); 0: anything else
    bool has_more; // guards, callbacks or conditions
    uint8_t all;   // of the children: PONS__BT_LEAVES, PONS__BT_PLAIN
    int32_t fn;    // of call
    uint32_t n_kids;
    uint32_t kids; // into bt->kids
    const pons__bt_call_def *call;
    const char *name; // of call
} pons__bt_hot;

enum { PONS__BT_LEAVES = 1, PONS__BT_PLAIN = 2 }; // none has children; each is plain

struct pons_bt {
    int refs;
    pons_pool arena;
    pons_bt_format format;
    const char *file;
    const char *main_id; // XML: the tree's ID; NULL: it has none
    pons__bt_node *nodes;
    pons__bt_hot *hot; // (n_nodes)
    uint32_t n_nodes, cap_nodes;
    uint32_t *kids;
    uint32_t n_kids;
    const char **names; // of functions
    uint32_t n_names, cap_names;
    uint32_t *name_hash; // open addressing, index + 1
    uint32_t name_mask;
    pons__bt_slot_def *slots;
    uint32_t n_slots, cap_slots;
    pons_value **values; // to unref
    size_t n_values, cap_values;
    char hash[33]; // of the structure, for restore
};

pons_bt *pons__bt_create(pons_bt_format format, const char *file);
pons__bt_node *pons__bt_push(pons_bt *bt, pons__bt_type type,
                             pons__bt_pos pos);             // NULL: no memory or too many
int32_t pons__bt_name(pons_bt *bt, const char *name);       // interned index, < 0: no memory
int pons__bt_keep(pons_bt *bt, pons_value *v);              // takes
int pons__bt_finish(pons_bt *bt);                           // kids, guards, hash; the last call
int pons__bt_root_slot(const pons_bt *bt, const char *key); // PONS__BT_NONE
