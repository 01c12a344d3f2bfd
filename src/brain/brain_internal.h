// brain_internal.h - what the files of src/brain share: the brain, its port to the body, its
// graphs.
//
// One loop thread owns everything here. State that must survive lives in the two namespaces'
// channels and in the effect ledger; what is in these structs can be thrown away at any
// instruction.
#ifndef PONS_BRAIN_INTERNAL_H
#define PONS_BRAIN_INTERNAL_H

#include "brain/doors.h"
#include "brain/heart.h"
#include "brain/port.h"
#include "brain/rules.h"
#include "pons/brain.h"
#include "pons/critic.h"

#define PONS_NS_KERNEL "kernel"
#define PONS_NS_REACT  "react"

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
