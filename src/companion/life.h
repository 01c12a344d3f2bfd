// life.h - a life: its world, what is on its blackboard, the request that is under way, and the
// events of the minute at hand. One thread at a time may use it.
#pragma once

#include "companion/world_view.h"
#include "pons/buf.h"
#include "pons/random.h"

#define PONS__COMPANION "companion"

enum {
    PONS__CO_TEXT_MAX = 2000, // bytes kept of what a model or a message says
    PONS__CO_TRACE_MAX = 128, // leaves and branches that one tick can pass
    PONS__CO_REJECTS_MAX = 16,
    PONS__CO_DONE_MAX = 8,     // things done that are remembered,
    PONS__CO_UNREAD_SHOWN = 5, // and unread messages that the model sees
    PONS__CO_SUBSCRIBERS_MAX = 8,
    PONS__CO_QUIET_MIN = 60, // simulated minutes without news that are committed together
};

typedef struct pons__co_proposal { // one action, from the tree or the model
    char type[PONS__CO_ID_MAX], place[PONS__CO_ID_MAX], device[PONS__CO_ID_MAX];
    bool preemptive;
    bool emergency; // the tree's Emergency branch wants it
    bool from_model;
    char rationale[512];
} pons__co_proposal;

typedef struct pons__co_refusal { // what the safety filter says
    const char *rule;             // static; NULL: it passes
    char reason[256];
} pons__co_refusal;

typedef struct pons__co_current {  // the activity that lasts
    const pons__co_activity *what; // NULL: idle
    int64_t since, until;
    char branch[64]; // whose idea it was
} pons__co_current;

typedef struct pons__co_message {
    char *text, *from;
    bool urgent;
    int64_t at;
} pons__co_message;

typedef struct pons__co_done { // something that was begun
    char type[PONS__CO_ID_MAX], branch[64], rationale[200];
    int64_t at;
} pons__co_done;

typedef struct pons__co_world { // WorldState
    char place[PONS__CO_ID_MAX];
    double energy;
    pons__co_current current;
    pons__co_message *messages; // (n_messages) not read yet
    size_t n_messages;
    int64_t last_sleep, last_wake, last_school; // minutes; 0: not yet
    pons__co_done done[PONS__CO_DONE_MAX];      // the newest, oldest first
    size_t n_done;
} pons__co_world;

typedef struct pons__co_reject {
    char key[3 * PONS__CO_ID_MAX]; // type|place|device
    int64_t until;
    char reason[256];
    bool done; // it was carried out, and is too fresh to be repeated
} pons__co_reject;

typedef struct pons__co_waits { // what the tree wants minute after minute, and may not: told once
    char key[PONS__CO_ID_MAX + 64]; // type|by|rule
    int64_t at;                     // the newest minute
} pons__co_waits;

typedef struct pons__co_asking { // the request that is under way
    uint64_t call;               // 0: none
    int64_t late_ns;             // on the model's clock
    bool answered;               // said is what it said, or NULL with the reason why not
    char *said;                  // heap
    char why[256];
} pons__co_asking;

typedef struct pons__co_policy { // what LLMPolicyProvider keeps on the blackboard
    int64_t asked_window;        // number of the last window with a request; -1: none yet
    int64_t cool_until;          // no request before
    int64_t requests;
    int64_t pending;              // the minute of a request whose answer has not been used; 0: none
    pons__co_proposal suggestion; // of that window
    bool has, used;
    pons__co_reject rejects[PONS__CO_REJECTS_MAX]; // oldest first
    size_t n_rejects;
    pons__co_waits waits[4];
} pons__co_policy;

typedef struct pons__co_step { // one leaf or branch that the tick passed
    const char *name;          // borrowed from the tree
    const char *arg;           // or NULL
    char result;               // y n, > for a branch
} pons__co_step;

typedef struct pons__co_filtered {
    char type[PONS__CO_ID_MAX];
    const char *rule, *by; // by: "tree", "model", "message"
    char reason[256];
} pons__co_filtered;

typedef struct pons__co_board { // Blackboard: of the tick, and the policy's memory across ticks
    pons__co_step trace[PONS__CO_TRACE_MAX];
    size_t n_trace;
    pons__co_filtered filtered[8];
    size_t n_filtered;
    const char *branch;              // the branch that the tick is in
    const pons__co_activity *action; // what was started
    pons__co_proposal proposal;      // ... and how it was proposed
    bool has_proposal;
    char *said;             // what the model said; heap
    char model_note[256];   // what became of it
    const char *model_from; // "request", "answer" (of an earlier request), "cache" or NULL
    bool ask;               // the model may be asked in this tick
    pons__co_policy policy;
} pons__co_board;

typedef struct pons__co_subscriber {
    char type[32]; // empty: all
    pons_companion_event_fn fn;
    void *user;
} pons__co_subscriber;

typedef struct pons__co_arg { // what a node calls: read once
    const char *text;         // first argument, one of the life's texts; NULL: not read yet
    const void *row;          // of the leaves' table
} pons__co_arg;

struct pons_companion {
    pons_world_view *view;
    pons_bt *bt;
    pons_bt_tree *tree;
    pons__co_arg *args; // (nodes)
    size_t n_args;
    char **texts; // (n_texts) arguments of leaves, each once
    size_t n_texts;
    pons_clock_manual tree_clock; // the life's own time, for a tree that waits
    pons_store store;
    pons_lease lease;
    bool leased, began, failed;
    char thread[PONS_NAME_MAX];
    uint64_t seed;
    bool simulated;
    int64_t minute, first_min, until_min;
    int64_t event_min; // when the events at hand happened
    pons__co_world world;
    pons__co_board board;
    char signature[33]; // of the last recorded decision
    pons__co_step
        passed[PONS__CO_TRACE_MAX]; // ... and what it passed, when it was nothing but that
    size_t n_passed;
    // the model
    const pons_llm *llm;
    const pons_clock *clock;
    int (*wait)(void *user, int fd, int64_t ms);
    void *user;
    uint64_t call; // the last one's number
    pons__co_asking asking;
    // events of the minute at hand, until they are committed
    pons_value **events;
    size_t n_events, cap_events;
    int64_t *taken; // inbox rows
    size_t n_taken, cap_taken;
    pons__co_message *read; // (n_read) messages that were read in the minute, to be remembered
    size_t n_read;
    int quiet; // minutes since the last commit
    pons_id_source ids;
    pons_rand rand;
    pons_clock id_clock;
    pons__co_subscriber subscribers[PONS__CO_SUBSCRIBERS_MAX];
    size_t n_subscribers;
    bool nomem;
};
