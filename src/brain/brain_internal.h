// brain_internal.h - what the files of src/brain share: the brain, its port to the body, its
// graphs.
//
// One loop thread owns everything here. State that must survive lives in the two namespaces'
// channels and in the effect ledger; what is in these structs can be thrown away at any
// instruction.
#ifndef PONS_BRAIN_INTERNAL_H
#define PONS_BRAIN_INTERNAL_H

#include "pons/brain.h"
#include "pons/critic.h"
#include "pons/link_message.h"
#include "pons/schema.h"

#include <pthread.h>
#include <stdatomic.h>

#define PONS_NS_KERNEL "kernel"
#define PONS_NS_REACT  "react"

// ---- rules (config/kernel.yaml) -----------------------------------------------------------------

typedef struct pons__rules_kernel {
    double tick_hz;
    double battery_charge_pct, battery_safe_pct, battery_charged_pct;
    double collision_clear_s; // host time without risk before SAFE is left
    double telemetry_age_max_ms;
    int iterations_max;                              // decisions without progress
    int failures_max;                                // consecutive, of one skill
    double no_progress_m, no_progress_s, check_in_s; // robot time
    double goal_expires_ms, link_wait_ms, model_retry_s;
    int ladder_other_ways, ladder_waits; // rungs before a person is asked (ladder.c)
    double ladder_wait_s, ladder_progress_m;
    int recursion_limit, model_attempts;
    int prompt_bytes_max, prompt_tokens_max;
    int priority_user, priority_urgent, priority_charge;
    bool auto_reset_sim, after_reset_continue;
    const pons_value *approval_skills; // names that need a person; borrowed from the config
    const pons_value *unknown_ask;     // names whose unknown outcome a person must settle
} pons__rules_kernel;

void pons__rules_read(const pons_value *config, pons__rules_kernel *ret);

// ---- schemas (doors.c) --------------------------------------------------------------------------

typedef enum pons__door {
    PONS_DOOR_DECISION,
    PONS_DOOR_OBSERVATION,
    PONS_DOOR_TASK,
    PONS_DOOR_SKILL,
    PONS_DOOR_PLAN,
    PONS_DOOR_RESULT,
    PONS_DOOR_POLICY,
    PONS_DOOR_EMBODIMENT,
    PONS_DOORS
} pons__door;

typedef struct pons__doors {
    pons_value *values[PONS_DOORS];
    pons_schema *schemas[PONS_DOORS];
} pons__doors;

int pons__doors_open(pons__doors *d, pons_error *err);
void pons__doors_close(pons__doors *d);
// PONS_EINVAL with the schema's words.
int pons__door_check(const pons_brain *b, pons__door door, const pons_value *v, pons_error *err);
// For what the brain made itself: a fault is an event and a line in the log, nothing else.
void pons__door_own(pons_brain *b, pons_cx *cx, pons__door door, const pons_value *v);
pons_value *pons__door_skills(pons_brain *b, const pons_value *skills); // the valid ones; new

// ---- heartbeat (heart.c) ------------------------------------------------------------------------

typedef struct pons__heart {
    pons_clock clock; // const
    pthread_mutex_t mtx;
    pthread_cond_t stopped;
    pons_link *link;           // [mtx] who hears it; NULL: nobody
    bool stop;                 // [mtx]
    _Atomic int64_t ticked_ns; // of the loop's last round; 0: none
    bool threaded;             // loop: there is a thread; else a tick beats
    pthread_t thread;          // loop
    int64_t next_ns;           // loop: without a thread, when the next beat is due
} pons__heart;

void pons__heart_init(pons__heart *h, const pons_clock *clock);
void pons__heart_fini(pons__heart *h);
// The body is ours: it is told from now on that the loop lives. A link with a descriptor gets a
// thread, and then the clock is read by two.
void pons__heart_attach(pons__heart *h, pons_link *link);
void pons__heart_detach(pons__heart *h); // before the link is closed; never waits for long
void pons__heart_tick(pons__heart *h);   // the loop has come round

// ---- port to the body ---------------------------------------------------------------------------

// A goal that went out and is not settled yet, as the port follows it. The durable truth is the
// effect.
typedef struct pons__body_goal {
    struct pons__body_goal *next;
    char id[40];
    pons_message message; // the goal message as it was or would be sent; of no type: none yet
    char boot_id[40];     // of the body that it was made for
    pons_value *accept; // answer for "accept": {state} | {rejected,code,message} | terminal result
    pons_value *result; // terminal: {status,error_code,error_msg,metrics}
    pons_value *feedback; // the newest
    bool recovering;      // asked with status, no answer yet
    bool accepted;        // known to be at the body (or to have been)
    bool old;             // of a life before this one
    int64_t started_robot_ms;
    double window_distance; // distance at the window's start [m]; < 0: none
    int64_t window_robot_ms;
    bool no_progress;
} pons__body_goal;

typedef struct pons__port {
    pons_brain *brain;
    pons_link *link;  // NULL: none
    bool ready;       // hello was answered
    int64_t retry_ns; // host time of the next attempt
    int retries;
    pons_value *hello;     // of the body; kept over a reconnect
    pons_value *telemetry; // the newest, or NULL
    int64_t telemetry_ns;  // host time of its arrival
    int64_t looked_ns;     // host time up to which all that the body said has been read
    int64_t telemetry_shown_ns;
    int64_t feedback_shown_ms; // host
    int64_t busy_since_ms;     // host; another controller has the body since then; 0: no
    char busy[160];            // what the body said of it
    bool latched;              // last shown
    bool reset_sent;
    pons__body_goal *goals;
    struct pons__port_wait { // outstanding awaits that the port serves
        struct pons__port_wait *next;
        char kind[16]; // link, accept, end, rest, skill
        char await[64];
        pons_value *request;
        int64_t since_robot_ms, since_host_ms;
    } *waits;
} pons__port;

void pons__port_init(pons__port *p, pons_brain *b);
void pons__port_fini(pons__port *p);
// Rebuilds what was under way from the ledger, before the first poll.
int pons__port_load(pons__port *p, pons_error *err);
int pons__port_poll(pons__port *p, pons_error *err); // connect, receive, answer awaits
// The first tick has heard what was said: now the body is asked about what is out.
void pons__port_heard(pons__port *p);
void pons__port_bye(pons__port *p, bool stop_body);
int64_t pons__port_robot_ms(const pons__port *p);
int pons__port_send(pons__port *p, const pons_message *m);  // errors close the link
void pons__port_cancel(pons__port *p, const char *goal_id); // asks the body, in the epoch in force
void pons__port_keep(pons__body_goal *g, const pons_message_goal *goal, const char *boot_id);
pons__body_goal *pons__port_goal(pons__port *p, const char *id); // NULL when not followed
pons__body_goal *pons__port_track(pons__port *p, const char *id);
// Ends a goal that was not sent, or whose sending the kernel would not allow any more.
void pons__port_refuse(pons__body_goal *g, const char *why);
// Awaits of kind "body"; request.wait says which: link, accept, end, rest, skill.
void pons__port_await_start(void *user, pons_run *run, const char *id, const pons_value *request,
                            bool restarted);
void pons__port_await_cancel(void *user, pons_run *run, const char *id);
int64_t pons__port_next_due_ns(const pons__port *p);

// documents.c: awaits of kind "knowledge"
void pons__documents_start(void *user, pons_run *run, const char *id, const pons_value *request,
                           bool restarted);
void pons__documents_cancel(void *user, pons_run *run, const char *id);
int pons__documents_poll(pons_brain *b);
void pons__documents_close(pons_brain *b);

// ---- the brain ----------------------------------------------------------------------------------

struct pons_brain {
    pons_brain_options opts;
    pons__rules_kernel rules;
    pons_value *config;
    pons_thread *thread;
    pons_graph *kernel, *react;
    pons_run *kernel_run, *react_run; // NULL between runs
    pons__port port;
    pons__heart heart;
    pons__doors doors;
    pons_critic *critic;    // of the hello in critic_of; NULL: not made yet, or critic_fault
    pons_value *critic_of;  // the hello that it was made from
    char critic_fault[256]; // why there is none

    pons_value *robot, *world; // K2's and K3's newest, for R1 and the status
    pons_value *tasks, *hci;   // the kernel's channels after its last tick
    bool kernel_unfinished;    // a tick was cut short by a crash: it is resumed, not begun anew
    char confirm_id[64];       // the await of a forked effect that a person was asked about
    char approval_id[64];      // of the question that the inner loop waits with; empty: none
    int64_t next_tick_ns;
    bool tick_now;             // an event asks for a tick before its time
    int64_t collision_seen_ns; // host; 0: never
    bool wake;
    bool reset_wanted;    // a person asked to lift the latch
    int64_t stop_sent_ms; // host; 0: the stop that was said is still to be sent
    bool heard;           // a tick has taken what was said while nobody was here

    long prompt_tokens;  // of the newest request, as estimated
    double prompt_ratio; // what a server counts for each token that is estimated
    uint64_t llm_call;   // the newest call's number
    char llm_await[64];  // whom it answers; empty: none
    pons_run *llm_run;

    pons_tools knowledge;    // ops NULL: not opened yet
    uint64_t knowledge_call; // the newest
    char knowledge_await[64];
    pons_run *knowledge_run;

    bool step_granted; // options.step: the superstep at hand may run
    int64_t
        people_since_ns; // host: a latched stop or a pause holds all up since then; 0: none does

    pons_brain_outcome outcome;
    bool done_emitted;
    int away_tries; // to take the thread again, since the store is away (thread is NULL then)
};

typedef int pons__take_fn(pons_brain *b,
                          pons_error *err); // takes the thread; after a failure: let go
typedef void pons__let_go_fn(pons_brain *b);
// away.c. A poll has failed: rc, or PONS_OK when it failed because the store is away, and everything
// has been let go of.
int pons__away_or(pons_brain *b, int rc, const pons_error *err, pons__let_go_fn *let_go);
// Tries to take the thread again.
int pons__away_poll(pons_brain *b, pons__let_go_fn *let_go, pons__take_fn *take, pons_error *err);

// The status object, from channels that may each be NULL.
pons_value *pons__status_build(const char *thread, const pons_value *tasks, const pons_value *react,
                               const pons_value *skills, const pons_value *telemetry,
                               const pons_value *hello);

// Graphs; user is the brain (NULL for a drawing: nodes then never run).
int pons__kernel_graph(pons_brain *b, pons_graph **ret, pons_error *err);
int pons__react_graph(pons_brain *b, pons_graph **ret, pons_error *err);

// ---- helpers (tasks.c, observe.c) ---------------------------------------------------------------

// A new object: a shallow copy of old (NULL: empty) in which key is value (taken).
pons_value *pons__with(const pons_value *old, const char *key, pons_value *value);
pons_value *pons__event(pons_brain *b, pons_value *payload); // adds robot_ms; takes and returns
const pons_value *pons__find(const pons_value *list, const char *key, const char *value);
const pons_value *pons__skill(const pons_brain *b, const char *name);   // registry item or NULL
const pons_value *pons__zone(const pons_brain *b, const char *name);    // by id or any name
const char *pons__zone_at(const pons_value *world, double x, double y); // id or NULL

// The reducer of `trace`: the newest entries.
int pons__trace_reduce(void *user, const pons_value *old, const pons_value *update,
                       pons_value **ret, pons_error *err);

// tasks: pure functions on the tasks channel.
pons_value *pons__tasks_initial(void);
const pons_value *pons__tasks_active(const pons_value *tasks);
const pons_value *pons__tasks_pick(const pons_value *tasks,
                                   const char *mode); // who should be active
pons_value *pons__tasks_replace(const pons_value *tasks, const pons_value *task); // by id
pons_value *pons__tasks_remove(const pons_value *tasks, const char *id);

// approve (approve.c): R5, its question, and which answer counts.
pons_value *pons__approval_question(pons_brain *b, pons_cx *cx, const pons_value *react,
                                    const pons_value *running);
int pons__human_approval_interrupt(pons_cx *cx, void *user, pons_error *err);
int pons__after_approval(pons_cx *cx, void *user, pons_error *err);
pons_value *pons__edit_undo(const pons_value *react, const pons_value *rules);
pons_value *pons__edit_keep(pons_brain *b, pons_cx *cx, pons_value *react); // takes react
void pons__answer_hear(pons_brain *b, pons_cx *cx, pons_value *hci, const pons_value *answer);
bool pons__answer_started(pons_store store, const char *thread, const pons_value *react,
                          const pons_value *skills, const char *question, pons_error *err);
const pons_value *pons__answer_veto(const pons_brain *b);

// stopped (stopped.c): what a protective stop leaves behind. They take tasks and return the next.
pons_value *pons__stopped_say(pons_brain *b, pons_value *tasks, const char *reason);
pons_value *pons__stopped_hear(pons_value *tasks, const pons_value *message);
pons_value *pons__stopped_look(pons_brain *b, pons_cx *cx, pons_value *tasks, bool battery_low);
pons_value *pons__stopped_release(pons_brain *b, pons_cx *cx, pons_value *tasks, bool seen_free,
                                  const char **ret_ignored); // static text, or NULL
pons_value *pons__stopped_reset(pons_brain *b, pons_value *tasks);
void pons__stopped_send(pons_brain *b);
// A person said stop or pause, and nobody has said continue: nothing is taken up.
bool pons__stands(const pons_value *tasks);
bool pons__latch_lifts_itself(const pons_brain *b);

// observation: the structured view of everything for R2.
pons_value *pons__observation_build(pons_brain *b, const pons_value *react,
                                    const pons_value *skills);
bool pons__goal_met(const pons_brain *b, const pons_value *goal, bool running);

// decision: the model's request (prompt.c), and the check of what came back (decide.c).
pons_value *pons__decision_request(pons_brain *b, const pons_value *messages,
                                   const pons_value *observation, const char *complaint,
                                   const char *previous);
// What a server says that the last request was, in tokens: the next estimate is better.
void pons__prompt_learn(pons_brain *b, const pons_value *usage);
int pons__decision_parse(pons_brain *b, const pons_value *task, const char *content,
                         pons_value **ret, pons_error *err);
// A model's answer as it is kept: what is used of it, and no more than a decision may have.
pons_value *pons__decision_answer(const pons_value *answer);

// ladder (ladder.c): the budget of a task that gets nowhere. What takes react returns the next one.
// R1: what has been gained since.
pons_value *pons__ladder_observe(pons_brain *b, pons_value *react, const pons_value *skills);
pons_value *pons__ladder_progress(pons_brain *b, pons_value *react); // something else was gained
// R2: what must be done before anybody is asked; NULL: nothing.
pons_value *pons__ladder_decide(pons_brain *b, pons_value **react, const pons_value *skills);
pons_value *pons__ladder_decided(pons_brain *b, pons_value *react, const pons_value *decision);
// R5: a person's word. R6, R7: a goal has ended; running: what ran, result: how it ended.
pons_value *pons__ladder_answered(pons_brain *b, pons_value *react, const pons_value *answer);
pons_value *pons__ladder_ended(pons_brain *b, pons_value *react, const pons_value *running,
                               const pons_value *result);
// {step, failures, tries_left, decisions_left, best_m, why}, or null.
pons_value *pons__ladder_brief(const pons_value *task);

// plans (plans.c): a task's plan, as pons/plan.h runs it. A state is what react.plan and a task's
// plan hold. Functions that take react return it, or the next one.
pons_value *pons__task_plan_state(const char *kind,
                                  const pons_value *plan);   // kind: given, patch, goals
pons_value *pons__task_plan_reopen(const pons_value *state); // for a new activation; NULL: null
bool pons__task_plan_drives(const pons_value *state);        // R2 asks it, not a model or the rules
pons_value *
pons__task_plan_brief(const pons_value *state); // for observations and the status, or null
void pons__task_plan_created(pons_brain *b, pons_cx *cx, const pons_value *state); // the event
// R2. *ret stays NULL when a model's plan has ended: others decide.
int pons__task_plan_decide(pons_brain *b, pons_cx *cx, pons_value **react, const pons_value *skills,
                           pons_value **ret, pons_error *err);
// What became of an operation that a plan's step asked for; rules: why it was refused, or NULL.
pons_value *pons__task_plan_note_result(pons_value *react, const pons_value *op,
                                        const pons_value *last, const pons_value *rules);
pons_value *pons__task_plan_note_answer(pons_value *react, const pons_value *answer);
int pons__task_plan_of_patch(pons_brain *b, pons_cx *cx, const pons_value *task,
                             const pons_value *patch, pons_value **ret, pons_error *err);
void pons__task_plan_judge(pons_brain *b, const char *mode, const pons_value *state,
                           const pons_value *running, pons_value *rules);
pons_value *pons__task_plan_mirror(pons_brain *b, pons_cx *cx, pons_value *react);
pons_value *pons__task_plan_end(pons_brain *b, pons_cx *cx, pons_value *react, const char *status);

// guard (guard.c): the critic with the brain's facts. Returns a list of violated rules, empty when
// all is well: [{rule, skill, message, …numbers}].
const pons_critic *pons__guard_critic(pons_brain *b); // NULL: it could not be made
pons_critic_situation pons__guard_situation(pons_brain *b, const char *mode);
pons_value *pons__guard_check(pons_brain *b, const char *mode, const pons_value *op,
                              const pons_value *running, const pons_value *to_cancel,
                              const pons_value *batch);
// Why the kernel lets no goal of this skill out now, whatever was decided: one rule, or NULL.
pons_value *pons__guard_kernel(const pons_brain *b, const char *skill);
// The same for a goal message that is about to be sent, by the kernel's mode as it is now.
pons_value *pons__guard_now(pons_brain *b, const pons_message_goal *goal);
pons_value *pons__guard_says(const pons_value *rules); // all their messages, on one line
pons_value *pons__guard_approvals(pons_brain *b, const pons_value *op);

// look.c: looks at what is stored or was told; functions of their arguments.
const pons_value *pons__last_of(const pons_value *list, const char *key, const char *value);

#endif
