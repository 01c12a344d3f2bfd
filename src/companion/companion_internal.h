// companion_internal.h - what the files of the companion share.
#ifndef PONS_COMPANION_INTERNAL_H
#define PONS_COMPANION_INTERNAL_H

#include "pons/buf.h"
#include "pons/companion.h"
#include "pons/rand.h"

#define COMPANION "companion"

enum {
    CO_ID_MAX = 48, // bytes of an id of the world view, with its zero
    CO_MINUTES_A_DAY = 1440,
    CO_NEVER_MIN = 1 << 30, // days ahead of any life, as minutes from now
    CO_DAYS_AHEAD = 16,     // how far the next opening of a window is looked for
    CO_TEXT_MAX = 2000,     // bytes kept of what a model or a message says
    CO_TRACE_MAX = 128,     // leaves and branches that one tick can pass
    CO_REJECTS_MAX = 16,
    CO_SUBSCRIBERS_MAX = 8,
    CO_QUIET_MIN = 60, // simulated minutes without news that are committed together
};

// ---------------------------------------------------------------- calendar.c

int64_t co_day_of_date(int year, int month, int day);  // days since 1970-01-01
bool co_read_date(const char *text, int64_t *ret_day); // "2026-03-02"
int co_read_clock(const char *text);                   // "07:20" → 440
int co_weekday(int64_t day);                           // 0 Monday … 6 Sunday
int64_t co_floor_day(int64_t local_min);

// ---------------------------------------------------------------- worldview.c

typedef enum co_days { CO_DAYS_ANY, CO_DAYS_SCHOOL, CO_DAYS_FREE } co_days;

typedef struct co_span { // of every day of its kind; local minutes of the day
    char id[CO_ID_MAX];  // of the window; empty for opening hours
    co_days days;
    int from, to; // to > from; beyond midnight it is more than a day
    bool follows_sleep;
} co_span;

typedef struct co_place {
    char id[CO_ID_MAX];
    co_span *open; // (n_open); none: always
    size_t n_open;
} co_place;

typedef struct co_device {
    char id[CO_ID_MAX];
    const pons_value *can; // list of strings
} co_device;

typedef struct co_holiday {
    int64_t from, to; // days, both in it
    const char *name; // borrowed from the document
} co_holiday;

typedef struct co_activity {
    char id[CO_ID_MAX], place[CO_ID_MAX], to[CO_ID_MAX], device[CO_ID_MAX], ends[CO_ID_MAX];
    char until_window[CO_ID_MAX];
    const char *needs;         // what the device must be able to do, or NULL
    const pons_value *windows; // list of ids, or NULL
    bool until_closes;
    int minutes; // 0: by commute or until; else over at once
    bool commute, interruptible, ask_model, preemptive, reads_messages, duty;
    double energy_per_h, energy_min;
} co_activity;

struct pons_world_view {
    int refs; // atomic
    pons_value *doc;
    int offset_min;
    char start_place[CO_ID_MAX];
    double start_energy, idle_energy_per_h;
    int sleep_tendency_min, sleep_jitter_min, commute_min, commute_jitter_min;
    co_place *places;
    co_device *devices;
    co_holiday *holidays;
    int64_t *school_days;
    co_span *windows;
    co_activity *activities;
    size_t n_places, n_devices, n_holidays, n_school_days, n_windows, n_activities;
    // policy
    char interrupt; // u urgent, a always, n never
    int window_min, failure_cooldown_min, rejection_cooldown_min, repeat_cooldown_min;
    double timeout_s;
};

const co_place *co_place_of(const pons_world_view *v, const char *id);
const co_device *co_device_of(const pons_world_view *v, const char *id);
const co_activity *co_activity_of(const pons_world_view *v, const char *id);
const char *co_forbidden(const pons_world_view *v, const char *type); // why, or NULL
bool co_is_school_day(const pons_world_view *v, int64_t day, const char **ret_why);
int64_t co_local(const pons_world_view *v, int64_t minute);

// Spans of a seed's life: windows that follow sleep move by its tendency and each day's jitter.
bool co_span_has(const pons_world_view *v, const co_span *s, uint64_t seed, int64_t minute,
                 int64_t *ret_end);
bool co_in_window(const pons_world_view *v, const char *id, uint64_t seed, int64_t minute,
                  int64_t *ret_end);
int64_t co_window_opens(const pons_world_view *v, const char *id, uint64_t seed, int64_t after);
bool co_place_open(const pons_world_view *v, const co_place *p, int64_t minute, int64_t *ret_end);
int co_commute_min(const pons_world_view *v, uint64_t seed, int64_t minute);

// ---------------------------------------------------------------- the life

typedef struct co_proposal { // one action, from the tree or the model
    char type[CO_ID_MAX], place[CO_ID_MAX], device[CO_ID_MAX];
    bool preemptive;
    bool emergency; // the tree's Emergency branch wants it
    bool from_model;
    char rationale[512];
} co_proposal;

typedef struct co_refusal { // what the safety filter says
    const char *rule;       // static; NULL: it passes
    char reason[256];
} co_refusal;

typedef struct co_current {  // the activity that lasts
    const co_activity *what; // NULL: idle
    int64_t since, until;
    char branch[64]; // whose idea it was
} co_current;

typedef struct co_message {
    char *text, *from;
    bool urgent;
    int64_t at;
} co_message;

typedef struct co_world { // WorldState
    char place[CO_ID_MAX];
    double energy;
    co_current current;
    co_message *messages; // (n_messages) not read yet
    size_t n_messages;
    int64_t last_sleep, last_wake, last_school; // minutes; 0: not yet
} co_world;

typedef struct co_reject {
    char key[3 * CO_ID_MAX]; // type|place|device
    int64_t until;
    char reason[256];
    bool done; // it was carried out, and is too fresh to be repeated
} co_reject;

typedef struct co_asking { // the request that is under way
    uint64_t call;         // 0: none
    int64_t late_ns;       // on the model's clock
    bool answered;         // said is what it said, or NULL with the reason why not
    char *said;            // heap
    char why[256];
} co_asking;

typedef struct co_policy { // what LLMPolicyProvider keeps on the blackboard
    int64_t asked_window;  // number of the last window with a request; -1: none yet
    int64_t cool_until;    // no request before
    int64_t requests;
    int64_t pending;        // the minute of a request whose answer has not been used; 0: none
    co_proposal suggestion; // of that window
    bool has, used;
    co_reject rejects[CO_REJECTS_MAX]; // oldest first
    size_t n_rejects;
} co_policy;

typedef struct co_step { // one leaf or branch that the tick passed
    const char *name;    // borrowed from the tree
    const char *arg;     // or NULL
    char result;         // y n, > for a branch
} co_step;

typedef struct co_filtered {
    char type[CO_ID_MAX];
    const char *rule, *by; // by: "tree", "model", "message"
    char reason[256];
} co_filtered;

typedef struct co_board { // Blackboard: of the tick, and the policy's memory across ticks
    co_step trace[CO_TRACE_MAX];
    size_t n_trace;
    co_filtered filtered[8];
    size_t n_filtered;
    const char *branch;        // the branch that the tick is in
    const co_activity *action; // what was started
    co_proposal proposal;      // … and how it was proposed
    bool has_proposal;
    char *said;             // what the model said; heap
    char model_note[256];   // what became of it
    const char *model_from; // "request", "answer" (of an earlier request), "cache" or NULL
    bool ask;               // the model may be asked in this tick
    co_policy policy;
} co_board;

typedef struct co_subscriber {
    char type[32]; // empty: all
    pons_companion_event_fn fn;
    void *user;
} co_subscriber;

typedef struct co_arg { // what a node calls: read once
    const char *text;   // first argument, one of the life's texts; NULL: not read yet
    const void *row;    // of the leaves' table
} co_arg;

struct pons_companion {
    pons_world_view *view;
    pons_bt *bt;
    pons_bt_tree *tree;
    co_arg *args; // (nodes)
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
    co_world world;
    co_board board;
    char signature[33];           // of the last recorded decision
    co_step passed[CO_TRACE_MAX]; // … and what it passed, when it was nothing but that
    size_t n_passed;
    // the model
    const pons_llm *llm;
    const pons_clock *clock;
    int (*wait)(void *user, int fd, int64_t ms);
    void *user;
    uint64_t call; // the last one's number
    co_asking asking;
    // events of the minute at hand, until they are committed
    pons_value **events;
    size_t n_events, cap_events;
    int64_t *taken; // inbox rows
    size_t n_taken, cap_taken;
    int quiet; // minutes since the last commit
    pons_id_source ids;
    pons_rand rand;
    pons_clock id_clock;
    co_subscriber subscribers[CO_SUBSCRIBERS_MAX];
    size_t n_subscribers;
    bool nomem;
};

// leaves.c
bool co_is_urgent(const pons_companion *c, const co_message *m); // by flag, sender or word
int co_check_call(void *user, const char *name, const pons_value *args, pons_error *err);
int co_register_leaves(pons_bt_registry *r, pons_companion *c, pons_error *err);
bool co_sleeping(const pons_companion *c);
bool co_is_morning(const pons_companion *c);
// A waiting message that may interrupt what goes on; NULL with the reason why not.
const co_message *co_message_that_may(const pons_companion *c, char *ret_reason, size_t cap);

// safety.c: every rule, in the order in which they are asked.
co_refusal co_filter(const pons_companion *c, const co_proposal *p);

// executor.c
int64_t co_ends_at(const pons_companion *c, const co_activity *a);
void co_execute(pons_companion *c, const co_activity *a, const co_proposal *p);
void co_apply(pons_companion *c); // carries out what co_execute put on the board
void co_end_what_is_over(pons_companion *c);
void co_end(pons_companion *c, const char *status, const char *why);
void co_live_a_minute(pons_companion *c); // energy

// policy.c
bool co_may_ask(const pons_companion *c);
// Puts a suggestion on the board; false with a note why there is none.
bool co_suggest(pons_companion *c);
// At the beginning of a tick: the answer of an earlier request, if there is one.
void co_hear_model(pons_companion *c);
void co_stop_asking(pons_companion *c);
void co_suggestion_refused(pons_companion *c, const co_refusal *why);
void co_suggestion_used(pons_companion *c);

// events.c
size_t co_whole(const char *text, size_t most); // bytes of it, without half a character
pons_value *co_event(pons_companion *c, const char *type, ...) __attribute__((sentinel));
void co_publish(pons_companion *c, const pons_value *ev);
bool co_wanted(const pons_companion *c, const char *type);
pons_value *co_action_json(const co_activity *a);
void co_note_filtered(pons_companion *c, const char *type, const char *by, const char *rule,
                      const char *reason);
void co_record_decision(pons_companion *c);
void co_board_clear(pons_companion *c);

// keep.c: state ⇄ JSON, commits, the inbox.
pons_value *co_state_json(const pons_companion *c);
int co_state_read(pons_companion *c, const pons_value *state, pons_error *err);
int co_take_messages(pons_companion *c, pons_error *err);
int co_commit(pons_companion *c, pons_error *err);
void co_prune(pons_companion *c);
void co_message_fini(co_message *m);
int co_hear(pons_companion *c, const char *text, const char *from, bool urgent);

#endif
