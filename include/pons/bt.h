// bt.h - behaviour trees: definitions in mistreevous MDSL (text, JSON) and BehaviorTree.CPP v4 XML,
// and trees at work made from them.
//
// A pons_bt is a definition: loaded once, immutable, shared by any number of trees. A
// pons_bt_registry names the leaves: the actions, conditions and callbacks that the program brings.
// A pons_bt_tree is one tree at work: states, counters, blackboard. Nothing in it asks the
// operating system for the time or for randomness, and a tick allocates nothing once the tree is
// warm.
//
//     static int open_door(pons_bt_call *call, void *user, pons_error *err)
//     {
//         return call->reason == PONS_BT_HALT ? PONS_BT_READY : PONS_BT_SUCCESS;
//     }
//     pons_bt_register(leaves, &(pons_bt_leaf){.name = "OpenDoor", .fn = open_door}, &err);
//     pons_bt_load_file("door.xml", &(pons_bt_load_options){.leaves = leaves}, &bt, NULL, &err);
//     pons_bt_tree_create(bt, &(pons_bt_tree_options){.leaves = leaves, .clock = clock}, &tree,
//     &err); pons_bt_tick(tree, PONS_BT_EXACTLY_ONCE, &status, &err);
//
// Threads: a definition and a registry that is not written any more are read by any thread; a tree
// belongs to one thread at a time.
#pragma once

#include "pons/clock.h"
#include "pons/linkage.h"
#include "pons/value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

PONS_C_BEGIN

typedef struct pons_bt pons_bt;
typedef struct pons_bt_registry pons_bt_registry;
typedef struct pons_bt_tree pons_bt_tree;

// The states of a node. In XML trees READY is called IDLE; SKIPPED is returned, never stored.
typedef enum pons_bt_status {
    PONS_BT_READY,
    PONS_BT_RUNNING,
    PONS_BT_SUCCESS,
    PONS_BT_FAILURE,
    PONS_BT_SKIPPED
} pons_bt_status;

typedef enum pons_bt_format {
    PONS_BT_AUTO, // by the file's extension: .mdsl, .json, .xml
    PONS_BT_MDSL,
    PONS_BT_JSON, // mistreevous' JSON form
    PONS_BT_XML   // BehaviorTree.CPP v4
} pons_bt_format;

// The word of a status as the format's own documentation has it: "SUCCEEDED" or "SUCCESS".
const char *pons_bt_status_word(pons_bt_format format, pons_bt_status status);

// ---- leaves -------------------------------------------------------------------------------------

typedef enum pons_bt_reason { // why a leaf is called
    PONS_BT_START,            // the node is entered; a condition is always started
    PONS_BT_CONTINUE,         // it was RUNNING
    PONS_BT_HALT,             // it was RUNNING and is halted or aborted; the result is ignored
    PONS_BT_GUARD,            // MDSL while and until: answer SUCCESS (true) or FAILURE
    PONS_BT_ENTRY,            // MDSL callbacks; the result is ignored unless it is an error
    PONS_BT_STEP,
    PONS_BT_EXIT
} pons_bt_reason;

typedef struct pons_bt_call { // valid during the call
    pons_bt_tree *tree;
    uint32_t node; // index in the tree, outermost first
    uint8_t reason;
    bool succeeded, aborted; // EXIT only
    bool deferred;           // set it and return RUNNING: the result comes by pons_bt_resolve
    uint64_t run;            // id of this run of the node, when deferred: for pons_bt_resolve
    const char *name;        // of the leaf
    const void *priv;
} pons_bt_call;

// A leaf. Returns a pons_bt_status (a condition or guard: SUCCESS or FAILURE), or an error with err
// filled. Called on the tree's thread; must not tick or destroy the tree.
typedef int (*pons_bt_leaf_fn)(pons_bt_call *call, void *user, pons_error *err);

typedef struct pons_bt_port { // of an XML leaf
    const char *name;
    char direction;       // 'i' input, 'o' output, 'b' both
    const char *type;     // "int", "unsigned", "double", "bool", "string", "any", "status"
    const char *fallback; // default, as XML would have it, or NULL
    bool mandatory;
} pons_bt_port;

typedef struct pons_bt_leaf { // copied; strings too
    const char *name;
    bool condition; // no RUNNING, no halt, and always ticked anew
    pons_bt_leaf_fn fn;
    void *user;
    const pons_bt_port *ports; // NULL: any port is accepted
    size_t n_ports;
} pons_bt_leaf;

pons_bt_registry *pons_bt_registry_create(void);
void pons_bt_registry_destroy(
    pons_bt_registry *r); // NULL-safe; definitions and trees may outlive it
// PONS_EEXIST when the name is taken.
int pons_bt_register(pons_bt_registry *r, const pons_bt_leaf *leaf, pons_error *err);
// A number that scripts and Switch cases of XML trees may call by its name. PONS_EEXIST.
int pons_bt_register_enum(pons_bt_registry *r, const char *name, int64_t value, pons_error *err);

// Inside a call. MDSL: the arguments with $properties looked up, a list; XML: an empty list. The
// caller's. NULL on no memory.
pons_value *pons_bt_call_args(const pons_bt_call *call);
// The value of an input port (a new reference): the literal, or what its blackboard entry has.
// PONS_ENOTFOUND when the port is not connected and has no default, or the entry is empty.
int pons_bt_call_input(const pons_bt_call *call, const char *port, pons_value **ret,
                       pons_error *err);
// Writes an output port. Takes value. PONS_EINVAL when the entry has another type.
int pons_bt_call_output(const pons_bt_call *call, const char *port, pons_value *value,
                        pons_error *err);

// ---- definitions --------------------------------------------------------------------------------

typedef struct pons_bt_load_options {
    pons_bt_format format;
    const char *name;               // what messages call a text; files have their path
    const char *tree;               // which tree; NULL: the main one
    const pons_bt_registry *leaves; // XML: the nodes that exist besides the built-in ones, or NULL
    bool any_leaf;                  // XML: an unknown childless node is an action
    bool any_tree;                  // XML: of several, none of them the main one, the first
    size_t
        bytes_max; // of a file and all that it includes, where a loop waits for it; 0: no more bounds
} pons_bt_load_options;

// Loads a definition. PONS_EINVAL: err has the first fault with its file:line:col; *ret_faults (may
// be NULL) gets all of them, up to 100, in the order of the text, as a list of {file, line, col,
// message}, the caller's. Bounded: 8 MiB a file, 256 levels, 200,000 nodes.
int pons_bt_load(const char *text, size_t len, const pons_bt_load_options *opts, pons_bt **ret,
                 pons_value **ret_faults, pons_error *err);
int pons_bt_load_file(const char *path, const pons_bt_load_options *opts, pons_bt **ret,
                      pons_value **ret_faults, pons_error *err);
pons_bt *pons_bt_ref(pons_bt *bt);
void pons_bt_unref(pons_bt *bt); // NULL-safe

pons_bt_format pons_bt_format_of(const pons_bt *bt); // MDSL (also for JSON) or XML
uint32_t pons_bt_nodes(const pons_bt *bt);           // after all branches and subtrees are in place
size_t pons_bt_bytes(const pons_bt *bt);             // of heap memory
// Shows fn every call that the definition makes, of a leaf, a guard or a callback, outermost node
// first: its name, and its arguments as they are written (a list, a property as {"$": name}; NULL:
// none, as in XML). Borrowed. A negative answer ends it, and err names the node's file:line:col. A
// program checks with it at the start what it would otherwise learn at a tick.
typedef int (*pons_bt_calls_fn)(void *user, const char *name, const pons_value *args,
                                pons_error *err);
int pons_bt_calls(const pons_bt *bt, pons_bt_calls_fn fn, void *user, pons_error *err);
// A drawing: "text", "dot", "groot" (XML that Groot2 opens: the trees and the models of their nodes), or
// "groot-live" (the same with the nodes' numbers, as its publisher sends it). The caller frees *ret.
int pons_bt_draw(const pons_bt *bt, const char *format, char **ret, pons_error *err);

// ---- trees at work ------------------------------------------------------------------------------

typedef struct pons_bt_change { // one node's change of state
    uint32_t node;
    const char *name; // borrowed, as path
    pons_bt_status from, to;
    int64_t now_ns;
} pons_bt_change;

typedef struct pons_bt_tree_options {
    pons_clock clock;               // required
    const pons_bt_registry *leaves; // read by create alone
    uint64_t seed;                  // of the draws, unless random is given
    double (*random)(void *user);   // [0, 1); may be NULL
    double (*delta_ms)(void *user); // MDSL wait: time since the last step; NULL: by the clock
    // MDSL: the value of $name, a new reference, or NULL when there is none (an argument of null).
    pons_value *(*property)(void *user, const char *name);
    // For Nav2's nodes that look at the robot; may be NULL (0).
    double (*odometer_m)(void *user);
    double (*speed_mps)(void *user);
    void (*on_change)(void *user, const pons_bt_change *change);
    // XML, may be NULL: asked before a node's own tick, when it has no result yet, and after it; SUCCESS and
    // FAILURE are taken instead, anything else changes nothing. For monitors (groot.h).
    pons_bt_status (*hook)(void *user, uint32_t node, bool after);
    void *user;
} pons_bt_tree_options;

typedef enum pons_bt_tick_mode { // MDSL trees have one: a step
    PONS_BT_EXACTLY_ONCE,        // one tick of the root
    PONS_BT_ONCE,                // again while RUNNING and a node asked for it
    PONS_BT_WHILE_RUNNING        // until it is not RUNNING, at most 100,000 ticks
} pons_bt_tick_mode;

// PONS_ENOTFOUND names every XML leaf that no registered function serves. A missing function of an
// MDSL tree is an error of the step that calls it.
int pons_bt_tree_create(pons_bt *bt, const pons_bt_tree_options *opts, pons_bt_tree **ret,
                        pons_error *err);
void pons_bt_tree_destroy(pons_bt_tree *t); // NULL-safe; halts nothing

// One tick. On an error of a leaf or a script, err names the failing node's path as its source and
// the states are as the failure left them. PONS_EBUSY inside a leaf's call. A paused tree answers
// with the status it had and calls nothing.
int pons_bt_tick(pons_bt_tree *t, pons_bt_tick_mode mode, pons_bt_status *ret, pons_error *err);
// Halts what runs, children first (MDSL: aborts), and makes every node READY.
int pons_bt_halt(pons_bt_tree *t, pons_error *err);
// A paused tree halts nothing; time that passes while it is paused does not count for its timers.
void pons_bt_pause(pons_bt_tree *t, bool paused);

// The result of a deferred call: applied at the next tick, dropped (PONS_ENOTPENDING) when that run
// is over.
int pons_bt_resolve(pons_bt_tree *t, uint32_t node, uint64_t run, pons_bt_status status);

pons_bt_status pons_bt_root(const pons_bt_tree *t); // the root's state
pons_bt_status pons_bt_state(const pons_bt_tree *t, uint32_t node);
// "R(R(R-))": outermost first; R S F, - for ready. The caller frees.
char *pons_bt_states(const pons_bt_tree *t);
// "sequence/0 > action:Open": the names from the root down to a node. Returns buf.
char *pons_bt_path(const pons_bt_tree *t, uint32_t node, char *buf, size_t cap);
size_t pons_bt_tree_bytes(const pons_bt_tree *t);

// The root's blackboard. get: a new reference, PONS_ENOTFOUND when absent or empty. set takes
// value; PONS_EINVAL when the key has another type.
int pons_bt_get(const pons_bt_tree *t, const char *key, pons_value **ret);
int pons_bt_set(pons_bt_tree *t, const char *key, pons_value *value, pons_error *err);
pons_value *pons_bt_board(const pons_bt_tree *t); // {key: value} of the root's; the caller's

// Everything a tree is besides its definition: states, counters, timers, blackboard, run ids.
// Timers are saved as elapsed time, so they go on in another process.
int pons_bt_save(const pons_bt_tree *t, pons_value **ret, pons_error *err);
// Into a tree of the same definition. PONS_EINVAL when it is another; the tree is then as before.
int pons_bt_restore(pons_bt_tree *t, const pons_value *saved, pons_error *err);
// Puts another definition under a tree: nodes at the same place with the same kind and name keep
// their state where their parents do, the others are halted first or begin READY; the blackboard
// stays by its keys. PONS_EUNSUPPORTED between formats. On an error the tree is as before.
int pons_bt_reload(pons_bt_tree *t, pons_bt *bt, const pons_bt_registry *leaves, pons_error *err);

// ---- trying a tree ------------------------------------------------------------------------------

// Runs a definition with scripted leaves (docs/reference/behaviour-trees.md): line is called with one object
// a tick, {tick, status, states, calls, blackboard?, error?}, borrowed; with "watch":true in the
// script, before it with {tick, node, path, from, to, at_ms} for each change of a node's state.
// path is read by its extension; text, when not NULL, is its content. Stops after a tick that
// failed, and returns PONS_OK then too.
typedef void (*pons_bt_line_fn)(void *user, const pons_value *line);
int pons_bt_try(const char *path, const char *text, const pons_value *script, pons_bt_line_fn line,
                void *user, pons_value **ret_faults, pons_error *err);

// Whoever looks at the tree while it is tried; each may be NULL.
typedef struct pons_bt_spectator {
    int (*begins)(void *user, pons_bt *bt, const pons_bt_tree *tree, pons_error *err);
    void (*on_change)(void *user, const pons_bt_change *change);
    pons_bt_status (*hook)(void *user, uint32_t node, bool after); // as of pons_bt_tree_options
    // After each tick, with what dt_ms says; a negative answer ends the trial, which is then PONS_OK.
    int (*ticked)(void *user, double dt_ms);
    void (*ends)(void *user);
    void *user;
} pons_bt_spectator;
int pons_bt_try_before(const pons_bt_spectator *spectator, const char *path,
                       const pons_value *script, pons_bt_line_fn line, void *user,
                       pons_value **ret_faults, pons_error *err);

PONS_C_END
