// bt_internal.h - what the files of src/bt share: the flat model, and a tree at work.
//
// A loader makes nodes in pre-order: node 0 is the root, a node's descendants are [i + 1, end), so
// that resetting a subtree is one memset of the states. Everything that does not change at work is
// in the definition's arena; a tree has arrays of the same length beside it. What each tick looks
// at is once more in an array of its own (bt_hot), so that a tick of a big tree stays in the cache.
#ifndef BT_INTERNAL_H
#define BT_INTERNAL_H

#include <stdio.h>
#include <string.h>

#include "pons/bt.h"
#include "pons/buf.h"
#include "pons/rand.h"

enum {
    BT_DEPTH_MAX = 256,
    BT_FILE_MAX = 8 << 20,
    BT_NODES_MAX = 200000,
    BT_FAULTS_MAX = 100,
    BT_SCRIPT_DEPTH_MAX = 200,
    BT_NONE = -1
};

// X(symbol, word, least children, most children (-1: any)). The M_ ones are mistreevous', the X_
// ones BehaviorTree.CPP's and Nav2's; in each family what has many children, then one, then none.
#define BT_TYPES(X)                                                                                \
    X(M_ROOT, "root", 1, 1)                                                                        \
    X(M_SEQUENCE, "sequence", 1, -1)                                                               \
    X(M_SELECTOR, "selector", 1, -1)                                                               \
    X(M_PARALLEL, "parallel", 1, -1)                                                               \
    X(M_RACE, "race", 1, -1)                                                                       \
    X(M_ALL, "all", 1, -1)                                                                         \
    X(M_LOTTO, "lotto", 1, -1)                                                                     \
    X(M_REPEAT, "repeat", 1, 1)                                                                    \
    X(M_RETRY, "retry", 1, 1)                                                                      \
    X(M_FLIP, "flip", 1, 1)                                                                        \
    X(M_SUCCEED, "succeed", 1, 1)                                                                  \
    X(M_FAIL, "fail", 1, 1)                                                                        \
    X(M_ACTION, "action", 0, 0)                                                                    \
    X(M_CONDITION, "condition", 0, 0)                                                              \
    X(M_WAIT, "wait", 0, 0)                                                                        \
    X(M_BRANCH, "branch", 0, 0)                                                                    \
    X(X_SEQUENCE, "Sequence", 1, -1)                                                               \
    X(X_ASYNC_SEQUENCE, "AsyncSequence", 1, -1)                                                    \
    X(X_SEQUENCE_MEMORY, "SequenceWithMemory", 1, -1)                                              \
    X(X_FALLBACK, "Fallback", 1, -1)                                                               \
    X(X_ASYNC_FALLBACK, "AsyncFallback", 1, -1)                                                    \
    X(X_REACTIVE_SEQUENCE, "ReactiveSequence", 1, -1)                                              \
    X(X_REACTIVE_FALLBACK, "ReactiveFallback", 1, -1)                                              \
    X(X_PARALLEL, "Parallel", 1, -1)                                                               \
    X(X_PARALLEL_ALL, "ParallelAll", 1, -1)                                                        \
    X(X_IF_THEN_ELSE, "IfThenElse", 2, 3)                                                          \
    X(X_WHILE_DO_ELSE, "WhileDoElse", 2, 3)                                                        \
    X(X_SWITCH2, "Switch2", 3, 3)                                                                  \
    X(X_SWITCH3, "Switch3", 4, 4)                                                                  \
    X(X_SWITCH4, "Switch4", 5, 5)                                                                  \
    X(X_SWITCH5, "Switch5", 6, 6)                                                                  \
    X(X_SWITCH6, "Switch6", 7, 7)                                                                  \
    X(X_TRY_CATCH, "TryCatch", 2, -1)                                                              \
    X(X_PIPELINE, "PipelineSequence", 1, -1)                                                       \
    X(X_RECOVERY, "RecoveryNode", 2, 2)                                                            \
    X(X_ROUND_ROBIN, "RoundRobin", 1, -1)                                                          \
    X(X_NONBLOCKING, "NonblockingSequence", 1, -1)                                                 \
    X(X_PERSISTENT, "PersistentSequence", 1, -1)                                                   \
    X(X_PAUSE_RESUME, "PauseResumeController", 1, 4)                                               \
    X(X_RECOVERY_MANAGER, "RecoveryManager", 1, -1)                                                \
    X(X_INVERTER, "Inverter", 1, 1)                                                                \
    X(X_FORCE_SUCCESS, "ForceSuccess", 1, 1)                                                       \
    X(X_FORCE_FAILURE, "ForceFailure", 1, 1)                                                       \
    X(X_REPEAT, "Repeat", 1, 1)                                                                    \
    X(X_RETRY, "RetryUntilSuccessful", 1, 1)                                                       \
    X(X_KEEP_RUNNING, "KeepRunningUntilFailure", 1, 1)                                             \
    X(X_DELAY, "Delay", 1, 1)                                                                      \
    X(X_TIMEOUT, "Timeout", 1, 1)                                                                  \
    X(X_RUN_ONCE, "RunOnce", 1, 1)                                                                 \
    X(X_PRECONDITION, "Precondition", 1, 1)                                                        \
    X(X_LOOP_INT, "LoopInt", 1, 1)                                                                 \
    X(X_LOOP_BOOL, "LoopBool", 1, 1)                                                               \
    X(X_LOOP_DOUBLE, "LoopDouble", 1, 1)                                                           \
    X(X_LOOP_STRING, "LoopString", 1, 1)                                                           \
    X(X_SKIP_UNLESS_UPDATED, "SkipUnlessUpdated", 1, 1)                                            \
    X(X_WAIT_VALUE_UPDATE, "WaitValueUpdate", 1, 1)                                                \
    X(X_SUBTREE, "SubTree", 0, 0)                                                                  \
    X(X_RATE, "RateController", 1, 1)                                                              \
    X(X_DISTANCE, "DistanceController", 1, 1)                                                      \
    X(X_SPEED, "SpeedController", 1, 1)                                                            \
    X(X_GOAL_UPDATED_CONTROLLER, "GoalUpdatedController", 1, 1)                                    \
    X(X_GOAL_UPDATER, "GoalUpdater", 1, 1)                                                         \
    X(X_SINGLE_TRIGGER, "SingleTrigger", 1, 1)                                                     \
    X(X_PATH_LONGER, "PathLongerOnApproach", 1, 1)                                                 \
    X(X_ALWAYS_SUCCESS, "AlwaysSuccess", 0, 0)                                                     \
    X(X_ALWAYS_FAILURE, "AlwaysFailure", 0, 0)                                                     \
    X(X_SCRIPT, "Script", 0, 0)                                                                    \
    X(X_SCRIPT_CONDITION, "ScriptCondition", 0, 0)                                                 \
    X(X_SET_BLACKBOARD, "SetBlackboard", 0, 0)                                                     \
    X(X_UNSET_BLACKBOARD, "UnsetBlackboard", 0, 0)                                                 \
    X(X_SLEEP, "Sleep", 0, 0)                                                                      \
    X(X_WAS_ENTRY_UPDATED, "WasEntryUpdated", 0, 0)                                                \
    X(X_GOAL_UPDATED, "GoalUpdated", 0, 0)                                                         \
    X(X_GLOBAL_UPDATED_GOAL, "GlobalUpdatedGoal", 0, 0)                                            \
    X(X_TIME_EXPIRED, "TimeExpired", 0, 0)                                                         \
    X(X_DISTANCE_TRAVELED, "DistanceTraveled", 0, 0)                                               \
    X(X_PATH_EXPIRING, "PathExpiringTimer", 0, 0)                                                  \
    X(X_ERROR_CODES_PRESENT, "AreErrorCodesPresent", 0, 0)                                         \
    X(X_CONTROLLER_HELP, "WouldAControllerRecoveryHelp", 0, 0)                                     \
    X(X_PLANNER_HELP, "WouldAPlannerRecoveryHelp", 0, 0)                                           \
    X(X_ACTION, "Action", 0, 0)                                                                    \
    X(X_CONDITION, "Condition", 0, 0)

typedef enum bt_type {
#define BT_TYPE_ENUM(sym, word, least, most) sym,
    BT_TYPES(BT_TYPE_ENUM)
#undef BT_TYPE_ENUM
        BT_TYPE_COUNT
} bt_type;

typedef struct bt_type_info {
    const char *word;
    int least, most;
} bt_type_info;
extern const bt_type_info bt_types[BT_TYPE_COUNT];

// ---------------------------------------------------------------- memory, faults

typedef struct bt_chunk bt_chunk;
typedef struct bt_arena { // one owner; everything is freed at once
    bt_chunk *head;
    size_t left;
    char *at;
    size_t bytes;
} bt_arena;
void *bt_alloc(bt_arena *a, size_t n); // zeroed, aligned to 16; NULL on no memory
char *bt_strndup(bt_arena *a, const char *s, size_t n);
void bt_arena_fini(bt_arena *a);

typedef struct bt_pos {
    const char *file;
    uint32_t line, col; // from 1
} bt_pos;

typedef struct bt_faults {
    bt_pos pos[BT_FAULTS_MAX];
    char *message[BT_FAULTS_MAX];
    int n;
    bool nomem;
} bt_faults;
void bt_fault(bt_faults *f, bt_pos pos, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void bt_faults_fini(bt_faults *f);
FILE *bt_open(const char *path); // a regular file; NULL: none, or not to be read
void bt_keep_utf8(char *text);   // what was cut in a character, or never was one, becomes '?'

// ---------------------------------------------------------------- values and blackboard

typedef enum bt_kind { BT_EMPTY, BT_INT, BT_REAL, BT_BOOL, BT_STRING, BT_JSON } bt_kind;
typedef struct bt_value {
    uint8_t kind;
    bool owned; // of s
    union {
        int64_t i; // INT, BOOL
        double d;
        char *s;
        pons_value *j; // one reference, when owned
    };
} bt_value;
void bt_value_fini(bt_value *v);
int bt_value_dup(bt_value *dst, const bt_value *src);
int bt_value_own(bt_value *v);                // makes a borrowed string its own
pons_value *bt_value_json(const bt_value *v); // new
int bt_value_of_json(const pons_value *j, bt_value *ret);
bool bt_value_number(const bt_value *v, double *ret); // INT, REAL, BOOL
// Text as XML has it into a kind; false when it does not convert.
bool bt_parse(const char *text, char type, bt_value *ret);
const char *bt_kind_word(int kind);

// Types of ports: a letter each.
//   i int  l int64  u unsigned  d double  b bool  s string  t status  a any  k an entry's name
char bt_type_letter(const char *word); // 0: unknown
int bt_type_kind(char letter);         // BT_EMPTY for any

// One entry of a blackboard. Remapping is known when the tree is built, so a key of a subtree is
// the very slot of the board that it ends at.
typedef struct bt_slot_def {
    const char *key;
    uint32_t board;
    bool declared;       // a port points at it: it exists from the start
    char type;           // 0: fixed by its first write
    const char *initial; // of a literal given to a subtree, or NULL
} bt_slot_def;

typedef struct bt_slot {
    bt_value v;
    bool exists;
    bool fixed;   // by a write; before it the kind is what a port has declared
    uint8_t kind; // BT_EMPTY: any
    uint64_t seq; // writes
} bt_slot;

// ---------------------------------------------------------------- scripts

typedef struct bt_script bt_script;
typedef struct bt_expr bt_expr;
struct bt_script {
    const char *text;
    bt_expr **statements;
    int n;
};
// Resolves a name of a script to a slot; called while compiling.
typedef int32_t (*bt_slot_of_fn)(void *cx, const char *key);
typedef bool (*bt_enum_of_fn)(void *cx, const char *name, double *ret);
// NULL and *ret_error (static or in the arena) when the text is no script.
bt_script *bt_script_compile(bt_arena *a, const char *text, bt_slot_of_fn slot_of,
                             bt_enum_of_fn enum_of, void *cx, char *ret_error, size_t cap);
int bt_script_run(const bt_script *s, struct pons_bt_tree *t, bt_value *ret, pons_error *err);
int bt_script_bool(const bt_script *s, struct pons_bt_tree *t, pons_error *err); // 0, 1 or an error
// ':=' (create), or '=' as a port or script writes. Takes nothing; copies v.
// As ':=' (create) and '=' do; key is for the message.
int bt_slot_assign(bt_slot *s, const char *key, const bt_value *v, bool create, pons_error *err);
int bt_slot_write(struct pons_bt_tree *t, int32_t slot, const bt_value *v, pons_error *err);

// ---------------------------------------------------------------- the model

typedef struct bt_call_def { // a named function with arguments, or an XML leaf
    const char *name;
    int32_t fn;             // index in bt->names; shared by all calls of that name
    const pons_value *args; // list or NULL
    bool has_props;
} bt_call_def;

typedef struct bt_guard { // MDSL: a node with while or until, linked to the next one outwards
    struct bt_guard *outer;
    uint32_t node;
    const bt_call_def *on[2]; // while, until
    bool succeed[2];
} bt_guard;

typedef struct bt_attrs { // MDSL callbacks
    const bt_call_def *entry, *step, *exit;
} bt_attrs;

enum { BT_FAILURE_IF, BT_SUCCESS_IF, BT_SKIP_IF, BT_WHILE, BT_PRE_COUNT };
enum { BT_ON_SUCCESS, BT_ON_FAILURE, BT_POST, BT_ON_HALTED, BT_POST_COUNT };
typedef struct bt_conds { // XML pre- and post-conditions
    const bt_script *pre[BT_PRE_COUNT];
    const bt_script *post[BT_POST_COUNT];
} bt_conds;

typedef struct bt_port {
    const char *name;
    const char *text; // raw
    int32_t slot;     // BT_NONE: a literal
    char type;
    bt_value literal; // parsed; BT_STRING borrows text
    double number;    // type e: what the enum of that name stands for
} bt_port;

typedef struct bt_node { // what only one family of nodes has shares its place with the other's
    uint8_t type;
    bool drawn; // MDSL: the range was given as two numbers
    uint16_t depth;
    uint32_t n_kids;
    uint32_t kids; // into bt->kids
    uint32_t end;
    uint32_t parent;
    int32_t fn; // of call
    const bt_call_def *call;
    union {
        const bt_guard *guard; // MDSL: nearest, this node's own or an ancestor's
        const bt_conds *conds; // XML
    };
    union {
        const bt_attrs *attrs; // MDSL
        const bt_port *ports;  // XML
    };
    uint32_t n_ports; // XML
    union {
        const int64_t *weights;  // MDSL: lotto
        const bt_script *script; // XML
    };
    int64_t low, high; // repeat, retry, wait: range; low < 0: none
    const char *name;  // the node's own ("name" in XML), or the function's
    const char *id;    // XML: registration id; SubTree: the tree's
    bt_pos pos;
} bt_node;

typedef struct bt_hot { // 32 bytes of a node
    uint8_t type;
    uint8_t plain; // a called leaf without guards, callbacks or conditions: the least it may
                   // answer (an action RUNNING, a condition SUCCESS); 0: anything else
    bool has_more; // guards, callbacks or conditions
    uint8_t all;   // of the children: BT_LEAVES, BT_PLAIN
    int32_t fn;    // of call
    uint32_t n_kids;
    uint32_t kids; // into bt->kids
    const bt_call_def *call;
    const char *name; // of call
} bt_hot;

enum { BT_LEAVES = 1, BT_PLAIN = 2 }; // none has children; each is plain

struct pons_bt {
    int refs;
    bt_arena arena;
    pons_bt_format format;
    const char *file;
    bt_node *nodes;
    bt_hot *hot; // (n_nodes)
    uint32_t n_nodes, cap_nodes;
    uint32_t *kids;
    uint32_t n_kids;
    const char **names; // of functions
    uint32_t n_names, cap_names;
    uint32_t *name_hash; // open addressing, index + 1
    uint32_t name_mask;
    bt_slot_def *slots;
    uint32_t n_slots, cap_slots;
    pons_value **values; // to unref
    uint32_t n_values, cap_values;
    char hash[33]; // of the structure, for restore
};

const pons_bt_leaf *bt_leaf_of(const pons_bt_registry *r, const char *name); // NULL: none
bool bt_enum_of(const pons_bt_registry *r, const char *name, double *ret);

pons_bt *bt_create(pons_bt_format format, const char *file);
bt_node *bt_push(pons_bt *bt, bt_type type, bt_pos pos); // NULL: no memory or too many
int32_t bt_name(pons_bt *bt, const char *name);          // interned index, < 0: no memory
int bt_keep(pons_bt *bt, pons_value *v);                 // takes
int bt_finish(pons_bt *bt);                              // kids, guards, hash

// Loaders: fill faults; *ret stays NULL when there are any.
int bt_load_mdsl(const char *text, size_t len, const char *file, const pons_bt_load_options *o,
                 bt_faults *faults, pons_bt **ret);
int bt_load_json(const char *text, size_t len, const char *file, const pons_bt_load_options *o,
                 bt_faults *faults, pons_bt **ret);
int bt_load_xml(const char *text, size_t len, const char *file, bool is_file,
                const pons_bt_load_options *o, bt_faults *faults, pons_bt **ret);

// What MDSL and its JSON form are read into, before branches are put in place.
typedef struct bt_ast {
    bt_type type;
    bt_pos pos;
    const char *id; // root's name, branch's target, function
    pons_value *args;
    bt_pos args_pos;
    int64_t low, high;
    bool drawn;
    int64_t *weights;
    int n_weights;
    struct bt_ast_attr {
        const char *name;
        pons_value *args;
        bool succeed;
    } * at; // (AT_COUNT) while until entry step exit; NULL: none
    struct bt_ast *first, *last, *next;
    int n_kids;
} bt_ast;
enum { AT_WHILE, AT_UNTIL, AT_ENTRY, AT_STEP, AT_EXIT, AT_COUNT };
extern const char *const bt_attr_words[AT_COUNT];
// Checks what both forms share, and builds. Takes nothing (args are referenced).
int bt_build_mdsl(bt_ast *roots, const char *file, const pons_bt_load_options *o, bt_faults *faults,
                  pons_bt **ret);
void bt_ast_counts(bt_faults *f, bt_ast *n, const int64_t *v, int count, bt_pos pos);

// ports.c: what a built-in XML node takes. NULL: not a built-in one.
typedef struct bt_manifest {
    const char *id;
    int type;          // bt_type; X_ACTION, X_CONDITION: a leaf that the program brings
    const char *ports; // "name:type=default name:type! …"; ! mandatory, > output, <> both
} bt_manifest;
const bt_manifest *bt_manifest_of(const char *id);

// ---------------------------------------------------------------- a tree at work

typedef struct bt_mem { // of a node; what they mean depends on its type
    int32_t index;
    int32_t count;
    int64_t t_ns; // a moment, or a sequence number
    double x;
} bt_mem;

typedef struct bt_fn {
    pons_bt_leaf_fn fn;
    void *user;
} bt_fn;

enum { BT_DEFER_NONE, BT_DEFER_WAITING, BT_DEFER_SUCCESS, BT_DEFER_FAILURE };

struct pons_bt_tree {
    uint8_t *state; // (n_nodes) pons_bt_status
    const bt_hot *hot;
    const bt_node *nodes;
    const uint32_t *kids;
    bt_fn *fns; // (n_names)
    bt_mem *mem;
    bool watch; // on_change is set
    bool any_deferred;
    bool slow; // one of them: not the short way
    bool wake;
    bool ticking, paused;
    bool unwind_succeed;
    uint32_t failed; // the node whose call or script failed last
    uint32_t unwind; // the guarded node that an unwinding ends at
    uint8_t *defer;  // (n_nodes)
    uint64_t *run;   // (n_nodes) of the deferred run
    uint64_t next_run;
    uint64_t epoch; // runs of the root
    bt_slot *slots;
    uint32_t n_slots, n_extra;
    struct bt_extra { // keys that only the program knows
        char *key;
        bt_slot slot;
    } * extra;
    int64_t paused_at_ns, paused_total_ns, offset_ns;
    pons_rand rand;
    pons_bt *bt;
    pons_bt_tree_options o;
};

enum { BT_UNWIND = 100 }; // of m_update: a guard failed further out

int64_t bt_now_ns(const pons_bt_tree *t); // without the time spent in pauses
double bt_random(pons_bt_tree *t);
void bt_set_watched(pons_bt_tree *t, uint32_t i, pons_bt_status s);
// MDSL: the subtree becomes READY. An action that still runs in it (its parents were resolved by a
// guard in mid-step) is halted, so that nothing goes on which nobody waits for.
int bt_reset(pons_bt_tree *t, uint32_t i, pons_error *err);
int bt_call_failed(pons_bt_tree *t, uint32_t i, const bt_call_def *def, int rc, pons_error *err);
int bt_call(pons_bt_tree *t, uint32_t i, const bt_call_def *def, pons_bt_call *call,
            pons_error *err);
bt_slot *bt_extra_slot(pons_bt_tree *t, const char *key); // made when new; NULL: no memory
int bt_arrays(pons_bt_tree *t);                           // allocates them
void bt_free_state(pons_bt_tree *t);                      // the arrays beside the definition
int bt_root_slot(const pons_bt *bt, const char *key);     // BT_NONE

static inline void bt_set(pons_bt_tree *t, uint32_t i, pons_bt_status s)
{
    if (t->watch) {
        bt_set_watched(t, i, s);
    } else {
        t->state[i] = (uint8_t)s;
    }
}

// The hot path of a leaf: bt_call for when something is to be said.
static inline int bt_call_leaf(pons_bt_tree *t, uint32_t i, pons_bt_call *call, pons_error *err)
{
    const bt_node *n = &t->nodes[i];
    const bt_fn *f = &t->fns[n->fn];
    call->tree = t;
    call->name = n->call->name;
    call->priv = n->call;
    if (__builtin_expect(f->fn != NULL, 1)) {
        const int rc = f->fn(call, f->user, err);
        if (__builtin_expect(rc >= 0, 1)) {
            return rc;
        }
        return bt_call_failed(t, i, n->call, rc, err);
    }
    return bt_call(t, i, n->call, call, err);
}

int bt_step_mdsl(pons_bt_tree *t, pons_error *err);
int bt_abort_mdsl(pons_bt_tree *t, uint32_t i, pons_error *err);
int bt_tick_xml(pons_bt_tree *t, uint32_t i, pons_error *err); // pre, tick, post
int bt_halt_xml(pons_bt_tree *t, uint32_t i, pons_error *err); // the node and what is below
int bt_halt_child(pons_bt_tree *t, uint32_t i, pons_error *err);
int bt_reset_kids(pons_bt_tree *t, uint32_t i, pons_error *err);
int bt_tick_nav2(pons_bt_tree *t, uint32_t i, pons_error *err);
const bt_port *bt_port_of(const bt_node *n, const char *name);
// A port's value, borrowed for as long as nothing is written. PONS_ENOTFOUND.
int bt_input(pons_bt_tree *t, uint32_t i, const char *name, bt_value *ret);
int64_t bt_input_int(pons_bt_tree *t, uint32_t i, const char *name, int64_t fallback);
double bt_input_num(pons_bt_tree *t, uint32_t i, const char *name, double fallback);
// A number that a node cannot do without: PONS_EINVAL when its entry is empty or has none.
int bt_need_int(pons_bt_tree *t, uint32_t i, const char *name, int64_t fallback, int64_t *ret,
                pons_error *err);
int bt_output(pons_bt_tree *t, uint32_t i, const char *name, const bt_value *v, pons_error *err);

#endif
