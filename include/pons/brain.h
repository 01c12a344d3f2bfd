// brain.h - the robot brain: the kernel graph K1–K6 and the react graph R1–R8 on one
// thread of a store, joined to a body by a link.
//
// The caller owns the loop: it polls the descriptors that pons_brain_fds() names until
// pons_brain_next_due_ns(), then calls pons_brain_poll(), which never blocks. Under the virtual
// clock it just calls poll after each step of the world.
#pragma once

#include "pons/clock.h"
#include "pons/ext/llm.h"
#include "pons/ext/policy.h"
#include "pons/ext/store.h"
#include "pons/ext/tool.h"
#include "pons/graph.h"
#include "pons/link.h"
#include "pons/linkage.h"
#include "pons/plan.h"

#include <poll.h>

PONS_C_BEGIN

typedef struct pons_brain pons_brain;

// The skill that a question shows in `ops` when it asks whether pictures may go to the model's server: no body has it, and
// nothing waits for the answer (pictures_to below).
#define PONS_SEND_PICTURES "send_pictures"

typedef struct pons_brain_options {
    pons_store store;         // borrowed
    const char *thread;       // id
    pons_clock clock;         // host
    uint64_t seed;            // 0: from the system
    const pons_value *config; // config/kernel.yaml as a value, already checked; referenced
    pons_policy policy;       // the rules
    const pons_llm *llm;      // NULL: the rules decide
    // Opens a controller link to the body; called from poll whenever there is none (with back-off).
    // PONS_EAGAIN: not there yet.
    int (*connect)(void *user, pons_link **ret, pons_error *err);
    // Opens the provider of `search_knowledge`, for plans that ask the workspace's documents
    // (query_knowledge); called when the first one does, closed with the brain. NULL: such a step
    // fails.
    int (*knowledge)(void *user, pons_tools *ret, pons_error *err);
    // A judge beside the critic, asked of each skill that is to be done, and again before it is sent: appends
    // what it holds against it to rules ([{rule, skill, message, lasts, …}]; lasts: it would be so again, so
    // that the rules give up). asked false: nobody wants it yet, it is
    // only looked at what could be offered. NULL: none.
    void (*judge)(void *user, const char *skill, const pons_value *args, bool asked,
                  pons_value *rules);
    // What a model should know beside the observation, by title: {title: [items]}; new reference. NULL: nothing.
    pons_value *(*context)(void *user);
    // A picture for the decision that a model is about to be asked for: *ret a new reference, as `pictures` of a message
    // has it (ext/llm.h). PONS_EAGAIN: it is being taken, and is asked for again at each poll; anything else: there is
    // none. Does not block. NULL: no pictures.
    int (*picture)(void *user, pons_value **ret);
    // The server that gets these pictures once a person has said yes, which is asked once a thread and server while decisions
    // go on without a picture (pons_llm_pictures_need_consent); borrowed. NULL: no yes is needed.
    const char *pictures_to;
    // Every event of the thread, durable and live, in the order in which they happened.
    void (*on_event)(void *user, const pons_event *ev);
    void *user;
    const pons_value *about; // added to run.started as "options"; may be NULL
    bool keep_running;       // serve or prompt: being out of tasks is not the end
    // A person typed resume: tasks that wait after a stop go on when the body is not latched at the
    // first look.
    bool resumed;
    bool stop_body; // at its close, a body that a run had started ends too, unless it stays
    // What the inner loop streams, PONS_STREAM_…; with stream_kernel the kernel's ticks as well,
    // which are ten commits a second then. Model tokens are messages.
    uint32_t stream;
    bool stream_kernel;
    // Holds the inner loop before each of its supersteps until pons_brain_step. The kernel, the
    // heartbeat and what the robot is doing go on.
    bool step;
    // For how long a latched stop or a pause may keep everything waiting [host ms]; then the run is
    // over as WAITING. 0: for ever.
    int64_t wait_ms;
    // Of the tasks that pons_brain_add_goals and pons_brain_add_plan make. priority: a number, or user, urgent or background
    // as config/kernel.yaml has them; NULL: as usual. deadline_ms: Unix time; 0: none.
    const char *priority;
    int64_t deadline_ms;
    // Where the goals of a time are kept (pons/brain_schedule.h), a namespace of items; NULL: no such goals. keep:
    // makes sure that nobody else looks after them meanwhile (true), and lets others (false); called from poll, does
    // not block. False: somebody else does. NULL: there is nobody else.
    const char *schedules;
    const char *
        places; // where named places are kept (pons/brain_places.h), a namespace of items; NULL: none
    // Writes the charger's pose (x, y, yaw in the map) into the world's file. Called from poll; it writes and syncs one file.
    // *ret: the charger as the file has it now; a new reference. PONS_EINVAL: a person may not change this file. NULL: the
    // file cannot be changed.
    int (*charger_keep)(void *user, double x, double y, double yaw, pons_value **ret,
                        pons_error *err);
    // Names the room at this point of the map, in the world's file. *ret_zones: all zones of the file; a new reference.
    // PONS_ENOTFOUND: no room is at this point, or it has a name in that language; the brain then names the place instead of
    // the room. NULL: rooms are not known here.
    int (*room_keep)(void *user, double x, double y, const char *name, pons_value **ret_zones,
                     pons_error *err);
    // What was seen (pons/object_memory.h), a namespace of items: then the robot says where things are, and can be sent to
    // find one. NULL: no memory. object_words: [[word…]…] of things that may be asked for, the kind's own first; referenced.
    const char *objects;
    const pons_value *object_words;
    // The world's file (schemas/world.json) with its map, for what can be seen from where; NULL: nobody knows. Referenced.
    const pons_value *map;
    bool (*schedules_keep)(void *user, bool take);
} pons_brain_options;

// Takes the thread's lease (PONS_EBUSY with the holder) and loads what is there. Does no I/O on the
// link yet.
int pons_brain_open(const pons_brain_options *opts, pons_brain **ret, pons_error *err);
// What config/kernel.yaml says beyond its schema: levels of the battery, and priorities, in their order. PONS_EINVAL with
// the place of the first that is out of it.
int pons_brain_config_check(const pons_value *config, pons_error *err);
// Commits goals (as said by a person; already checked where zones are known) to the kernel's inbox
// and emits run.started. PONS_EINVAL for an empty one.
int pons_brain_add_goals(pons_brain *b, const char *const *goals, size_t n, pons_error *err);
// The same with a plan (pons/plan.h) as the task: its steps run one after the other, each through
// the critic, approvals and the effect ledger; its end is the task's. Copied.
int pons_brain_add_plan(pons_brain *b, const pons_plan *plan, pons_error *err);
// What a person says: goals or control words; the same as pons_inbox_post(…, "kernel", "say",
// {text}).
int pons_brain_say(pons_brain *b, const char *text, pons_error *err);
// The same of words that a model has written, or might have ("kernel", "wish"): goals, and stop, pause and cancel.
// They answer no question, and set nothing free: a task of nothing but such words fails.
int pons_brain_wish(pons_brain *b, const char *text, pons_error *err);

// A person's answer to the open question: {action: approve|edit|reject, reason?, op? and args, or
// ops (edit), by?, at_ms?}. The first one posted counts.
// PONS_ENOTPENDING when nothing is asked.
int pons_brain_answer(pons_brain *b, const pons_value *answer, pons_error *err);
// What became of an answer that was posted to the kernel's inbox with a nonce of its own ({id, nonce,
// action, by, at_ms, …}), from any process and whether a brain lives or not: {verdict, heard, first}.
// verdict: bound (it counts), late (first counts: {action, by, at_ms}), overrides (a reject of what
// had not started), closed (nothing is asked any more). heard: a brain has taken it; until then only
// a kernel that closes the question can change the verdict. *ret is the caller's.
int pons_answer_read(pons_store store, const char *thread, const char *question, const char *nonce,
                     pons_value **ret, pons_error *err);
// The option of a question that a text names: by its very words, by its words in whatever case, or, where
// it is none's words, by its number, from 1. NULL: none. Borrowed from options (a list of texts, or NULL).
const char *pons_answer_option(const pons_value *options, const char *text);
// Nothing more will be said: with keep_running, the run now ends when its tasks do.
void pons_brain_finish(pons_brain *b);

// Does all that is due: messages, model events, inbox, kernel tick, supersteps, heartbeat.
int pons_brain_poll(pons_brain *b, pons_error *err);
// Host time at which poll wants to be called again at the latest.
int64_t pons_brain_next_due_ns(pons_brain *b);
// Fills up to cap entries; returns how many.
size_t pons_brain_fds(pons_brain *b, struct pollfd *fds, size_t cap);
// Something was posted to an inbox by another process (a byte on run/brain.sock): poll will look.
void pons_brain_wake(pons_brain *b);

// With options.step: the nodes that the held inner loop would run next, a list of names (a new
// reference), or NULL when it is not held. pons_brain_step lets that superstep through, to its end.
pons_value *pons_brain_held(pons_brain *b);
void pons_brain_step(pons_brain *b);

// For how long another controller has had the body (host ms; 0: it has not), and what the body says
// of it (borrowed until the next poll).
int64_t pons_brain_busy_ms(const pons_brain *b, const char **ret_why);

typedef enum pons_brain_outcome {
    PONS_BRAIN_RUNNING,
    PONS_BRAIN_SUCCEEDED,
    PONS_BRAIN_FAILED,
    PONS_BRAIN_ABORTED,
    PONS_BRAIN_CANCELLED,
    PONS_BRAIN_WAITING // for a person, and nothing else is left to do
} pons_brain_outcome;
pons_brain_outcome pons_brain_outcome_get(const pons_brain *b); // after run.done was emitted
// `pons status`, as brain.md shapes it; new reference. Reads memory only.
pons_value *pons_brain_status(pons_brain *b);
// What the body has said of itself (hello) and lately (telemetry): messages of the link, borrowed until the
// next poll, NULL: none yet. How old the latter is [host ms]; -1: no body is linked.
int64_t pons_brain_body(const pons_brain *b, const pons_value **ret_hello,
                        const pons_value **ret_telemetry);
// The same from a store, for a thread that may be running elsewhere, or (NULL) of the body alone;
// telemetry (a message of the link) may be NULL. PONS_ENOTFOUND for an unknown thread.
int pons_status_read(pons_store store, const char *thread, const pons_value *telemetry,
                     const pons_value *hello, pons_value **ret, pons_error *err);
// Makes thread `to` as `from` was at one of its checkpoints, of either graph: the other one is
// taken at the same moment. checkpoint NULL: a copy as it stands now. A resume of `to` goes on from
// there; each effect of its first run waits for a person. PONS_ENOTFOUND, PONS_EEXIST; on failure
// there is no thread `to`.
int pons_brain_fork(pons_store store, const pons_clock *clock, const char *from,
                    const char *checkpoint, const char *to, pons_error *err);
// What store.keep has taken away of a thread so far: {tasks (whose details are gone), tasks_kept,
// checkpoints, events (gone or without their payload), effects, at_ms (the last time)}.
// PONS_ENOTFOUND: nothing. *ret is the caller's.
int pons_brain_pruned(pons_store store, const char *thread, pons_value **ret, pons_error *err);
// Whether a brain tells of events of this type (docs/reference/events.md has them all). Any thread.
bool pons_brain_tells(const char *type);
// The critic's policy (schemas/critic-policy.json) that config/kernel.yaml says; new reference.
pons_value *pons_brain_critic_policy(const pons_value *config);
// The registry of graphs for `pons graph show kernel|react`. *ret is the caller's to destroy.
int pons_brain_graph(const char *name, pons_graph **ret, pons_error *err);

// Why a body that a run had started outlives this close, for people: "it holds an object", "a question is open", "a
// stop or a pause is in force"; NULL: it ends with it, where stop_body is set.
const char *pons_brain_body_stays(pons_brain *b);
// A good end: bye to the body, everything drained, the lease released. NULL-safe.
void pons_brain_close(pons_brain *b);
// What kill -9 leaves, for simulation: nothing is said, drained or written; the lease is dropped.
void pons_brain_kill(pons_brain *b);

PONS_C_END
