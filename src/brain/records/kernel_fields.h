// kernel_fields.h - what the brain knows, as structs: tasks, results, running skills, operations, decisions,
// questions, the inner loop, the kernel. Their tables of fields are in kernel_fields.c and react_fields.c (field_records.h), and stand in
// docs/internals/brain-state.md.
//
// The channels of both graphs hold these structs written as JSON, and nothing else of pons spells the
// members' names. Stored threads are read by the same tables, so names stay; a new member has a preset
// that means what its absence meant.
//
//     namespace kernel   tasks: pons__tasks (its queue: pons__task)
//     namespace react    react: pons__react     skills: pons__skills
#pragma once

#include "brain/records/field_records.h"
#include "brain/records/operation_fields.h"

// ---- words --------------------------------------------------------------------------------------

typedef enum pons__mode {
    PONS_MODE_IDLE,
    PONS_MODE_SAFE,
    PONS_MODE_CHARGE,
    PONS_MODE_EXEC
} pons__mode;
extern const char *const pons__mode_words[];

typedef enum pons__task_status {
    PONS_TASK_QUEUED,
    PONS_TASK_ACTIVE,
    PONS_TASK_PAUSED, // it has begun, and another one is active
    PONS_TASK_SUCCEEDED,
    PONS_TASK_FAILED,
    PONS_TASK_ABORTED,
    PONS_TASK_CANCELLED,
} pons__task_status;
extern const char *const pons__task_status_words[];

typedef enum pons__decision_type {
    PONS_DECIDE_NONE,
    PONS_CONTINUE,
    PONS_REPLAN,
    PONS_RETRY,
    PONS_SWITCH_TASK,
    PONS_ASK_HUMAN,
    PONS_FINISH,
    PONS_ABORT,
} pons__decision_type;
extern const char *const pons__decision_words[];

typedef enum pons__end { // of an operation
    PONS_END_NONE,
    PONS_END_DONE,
    PONS_END_FAILED,
    PONS_END_CANCELED,
    PONS_END_UNKNOWN,  // outcome_unknown
    PONS_END_REJECTED, // by the body, or between R4 and R6
    PONS_END_REFUSED,  // by R4 or a person
} pons__end;
extern const char *const pons__end_words[];

typedef enum pons__recovery {
    PONS_RECOVER_NONE,
    PONS_RECOVER_RETRY,
    PONS_RECOVER_REPLAN,
    PONS_RECOVER_ASK,
    PONS_RECOVER_ABORT,
} pons__recovery;
extern const char *const pons__recovery_words[];

typedef enum pons__source { // who decided
    PONS_SOURCE_NONE,
    PONS_SOURCE_RULES,
    PONS_SOURCE_LLM,
    PONS_SOURCE_RECOVERY,
    PONS_SOURCE_PLAN,
} pons__source;
extern const char *const pons__source_words[];

typedef enum pons__inner { // what the kernel has told the inner loop
    PONS_INNER_IDLE,
    PONS_INNER_ACTIVE,
    PONS_INNER_STOPPING,
} pons__inner;
extern const char *const pons__inner_words[];

// ---- tasks --------------------------------------------------------------------------------------

// One part of what a person wished. What an intent needs is in the intents' table (policy), or, for a
// skill by its name, in the skill's schema.
typedef struct pons__goal {
    const char *intent, *zone, *object, *place, *text, *skill, *finding;
    double seconds;
    double left; // of what its call is to do, in the unit of its `remains`; 0: all of it
    const pons_value *pose, *zones, *views, *visited, *args;
    int64_t since_ms; // of find: what was seen before does not count
    bool done;
    bool
        reached; // of a pose: a motion to it has ended well; of find: it has turned round in the zone
    bool added; // a model's own, by a plan_patch
    bool asks;  // of find: no is an answer too
} pons__goal;
PONS__RECORD_OF(goal);

// A way to meet a goal: the registry's (skill_registry.h), filled with its members (goals/goal_skills.c).
typedef struct pons__means {
    int64_t goal_index, step;
    const char *skill, *intent, *says, *amount;
    const pons_value *args, *test;
    bool each;
    int64_t order; // not stored: in the registry
} pons__means;
PONS__RECORD_OF(means);

// Calls that take the place of one that found no way (goals/alternate_places.c): those before `next` were tried.
typedef struct pons__others {
    const char *skill;
    int64_t goal_index, next;
    const pons_value *from; // the arguments that found no way
    const pons_value *args; // a list
} pons__others;
PONS__RECORD_OF(others);

// How far the task is from asking a person (recovery/recovery_count.c).
typedef enum pons__recovery_next { // what it does next (recovery/recovery_steps.c)
    PONS_NEXT_NOTHING,
    PONS_NEXT_OTHER, // another approach to the place
    PONS_NEXT_WAIT,  // a pause
    PONS_NEXT_PAUSE, // it waits
    PONS_NEXT_ASK,
    PONS_NEXT_ABORT,
} pons__recovery_next;
extern const char *const pons__recovery_next_words[];

typedef struct pons__recovery_state {
    const char *step; // as people see it: go, another_way, wait, ask
    const char *why;  // the last failure
    int next;         // pons__recovery_next
    int64_t failures, tries, granted, decisions, decisions_max, met;
    double best_m;     // INFINITY: not measured yet
    bool rules_decide; // and not the model, whose decisions led nowhere
    double battery_pct;
    const pons_value *been; // [{x, y}] in the map
    int64_t swings;
    pons__others *others; // NULL: there was a way so far
} pons__recovery_state;
PONS__RECORD_OF(recovery_state);

// What asking a model has cost the task (recovery/recovery_steps.c). Nothing resets it; a person grants more.
typedef struct pons__spent {
    int64_t calls, tokens, calls_max, tokens_max;
    bool over;  // the rules decide, or a person is asked
    bool asked; // and was
} pons__spent;
PONS__RECORD_OF(spent);

// What a plan's step in hand was last asked for, and what came of it.
typedef struct pons__pend {
    const char *kind; // skill, confirm, ask, unknown
    int64_t step_id, tries;
    bool fallback;
    struct pons__result *result; // NULL: none yet
    const pons_value *answer;    // as R5 has it; NULL: none yet
} pons__pend;
PONS__RECORD_OF(pend);

// The call that does what is left of a step, as a person may have edited it, where one was cut short.
typedef struct pons__step_rest {
    int64_t step_id;
    bool fallback;
    const char *skill;
    const pons_value *args;
} pons__step_rest;
PONS__RECORD_OF(step_rest);

typedef struct pons__task_plan {
    const char *kind; // given, patch, goals
    const pons_value *plan, *cursor;
    pons__pend *pend;
    pons__step_rest *rest; // NULL: none
} pons__task_plan;
PONS__RECORD_OF(task_plan);

// A question to a person (react/approval.c).
typedef struct pons__question {
    const char *id, *question, *reason, *refused;
    const pons_value *ops, *cancels, *options;
    bool words;               // any words answer it
    const char *unsettled;    // it shows that nobody knows what came of this goal; NULL: of none
    int64_t deadline_ms;      // wall; then it is refused. 0: none
    int64_t asked_ms;         // wall; with a deadline
    const pons_value *beside; // ids of those that were asked beside it before; NULL: none
    // Of one that its task was put aside with: what was decided, and what a person has said since.
    const pons_value *decision, *answer;
    int source;          // pons__source
    const char *task_id; // as it is told: whose it is
} pons__question;
PONS__RECORD_OF(question);

typedef struct pons__task {
    const char *id, *text, *source;
    const char *schedule; // whose time had come; NULL: none's
    pons__list goals;     // pons__goal
    int64_t priority, deadline_ms, created_ms, attempt;
    const pons_value *resources;
    bool preemptible;
    int status;      // pons__task_status
    bool unverified; // nothing that can be checked says when it is done
    int64_t said;    // how often it was said
    bool overdue;    // its deadline has passed, and that was told
    pons__task_plan *plan;
    pons__recovery_state *recovery;
    pons__spent *spent;
    pons__list asks; // pons__question: it was put aside with them
} pons__task;
PONS__RECORD_OF(task);

extern const pons__record
    pons__waiting_record; // the same struct, as who decides sees one that waits

typedef struct pons__finished {
    const char *id, *text, *status, *reason, *source;
    const pons_value *verified; // false where nothing could be checked; else lacking
} pons__finished;
PONS__RECORD_OF(finished);

// What a protective stop leaves (stop_state.c).
typedef struct pons__stopped {
    const char *reason;
    bool wanted, reset;
    const char
        *reset_boot;      // the latch that the reset means to lift, until it is free: of this body,
    int64_t reset_number; // with this number; "": none
    int64_t released_ms;
} pons__stopped;
PONS__RECORD_OF(stopped);

// How fast a person wants it, until the body has it (speed_request.c).
typedef struct pons__speed_request {
    int64_t percent; // of every speed limit; 0: no body was heard yet, to hold `said` against
    int64_t from;    // in force when it was said
    const char *by;
    // Letters, of words that were said with it and are heard when it is in force; NULL: none.
    const pons_value *then;
} pons__speed_request;
PONS__RECORD_OF(speed_request);

typedef struct pons__reported { // the inner loop, as the kernel knows it
    int state;                  // pons__inner
    int64_t activation;
    const char *task_id;
    int mode;
    pons__list asks; // pons__question: of that task, until the inner loop has taken them up
} pons__reported;
PONS__RECORD_OF(reported);

typedef struct pons__totals {
    int64_t iterations, replans;
    double distance_m;
} pons__totals;
PONS__RECORD_OF(totals);

typedef struct pons__tasks {
    const pons_value *inbox;
    pons__list queue; // pons__task
    const char *active_task_id, *mode_reason, *preempt_flag;
    int mode; // pons__mode
    bool paused, safe_handled;
    pons__list finished; // pons__finished
    int64_t next;        // number of the next task
    pons__reported *react;
    pons__stopped *stopped;             // NULL: no stop is in force
    pons__speed_request *speed_request; // NULL: the body has it
    pons__totals *totals;
    const char *seen_boot;     // of the newest telemetry: the body's boot,
    int64_t seen_number;       // and how many stops it has had, about
    int64_t let_go;            // the activation at which a stop was let go of
    int64_t run_first;         // the first task of the run; 0: there was no run
    const pons_value *left_at; // {x, y, yaw} where the robot stood when the last task began
    pons__list asks;           // pons__question: those of no task, with their answers
    const char *switch_to;     // a task that the active one let go for, until it is over
    int64_t charge_again_ms; // wall: no charging begins before, since one was in vain; 0: none was
    bool changed;            // not stored: there is something to write
    char asking[40]; // not stored: the task whose question the inner loop waits with; "": none
} pons__tasks;
PONS__RECORD_OF(tasks);

// ---- people -------------------------------------------------------------------------------------

typedef enum pons__interrupt_type {
    PONS_SAID_NOTHING,
    PONS_SAID_PAUSE,
    PONS_SAID_STOP,
    PONS_SAID_GOAL,
} pons__interrupt_type;
extern const char *const pons__interrupt_words[];

typedef struct pons__interrupt { // what the newest words are
    int type;                    // pons__interrupt_type
    const char *payload;
} pons__interrupt;
PONS__RECORD_OF(interrupt);

typedef struct pons__answer { // the one that counts (questions.c)
    const char *question, *action, *reason, *by;
    int64_t at_ms;
    const pons_value *said; // the whole of it
} pons__answer;
PONS__RECORD_OF(answer);

typedef struct pons__received { // what became of a message
    const char *nonce, *question, *verdict;
} pons__received;
PONS__RECORD_OF(received);

typedef struct pons__hci {
    const char *user_utterance;
    pons__interrupt *user_interrupt;
    const pons_value *approval_response; // the newest answer, whole; NULL: none yet
    pons__list answers, received;        // pons__answer, pons__received; the newest last
    const pons_value *pending;           // messages that K1 has taken and K5 has not heard
    bool changed;                        // not stored: there is something to write
} pons__hci;
PONS__RECORD_OF(hci);

// ---- the inner loop -----------------------------------------------------------------------------

// One that is under way at the body.
typedef struct pons__running {
    const char *goal_id, *skill, *task_id;
    const pons_value *args, *resources;
    int64_t goal_index, started_ms, started_robot_ms;
    double timeout_s;
    const pons_value *step_id, *fallback;
} pons__running;
PONS__RECORD_OF(running);

#define PONS__KEPT_OUT 9912 // an error_code: the goal, or the robot, is in a keep-out area
#define PONS__STOPPED  9902 // an error_code: a protective stop has ended it (docs/reference/link.md)

typedef struct pons__result {
    const char *skill, *goal_id, *error_msg;
    const pons_value *args, *metrics;
    int64_t goal_index, error_code;
    int status;              // pons__end
    int recovery;            // pons__recovery
    const pons_value *rules; // of a plan's step that was refused: pons__broken; NULL: none are told
} pons__result;
PONS__RECORD_OF(result);

typedef struct pons__unsettled { // an end of which nobody but a person knows what came of it
    const char *task_id, *skill, *why;
    const char *goal_id; // the newest one's
} pons__unsettled;
PONS__RECORD_OF(unsettled);

typedef struct pons__skills {
    const pons_value *registry;
    pons__list running; // pons__running
    pons__list results; // pons__result: since the newest observation, in order
    pons__result *last_result;
    pons__list unsettled;        // pons__unsettled
    const pons_value *to_cancel; // ids
    pons__list to_dispatch;      // pons__op
} pons__skills;
PONS__RECORD_OF(skills);

typedef struct pons__payload { // what a decision asks a person
    const char *question;
    const pons_value *options; // what a person may choose
} pons__payload;
PONS__RECORD_OF(payload);

typedef struct pons__proposed {
    const pons_value *to_cancel, *to_speak; // ids; texts
    pons__list to_dispatch;                 // pons__op
    bool need_approval;
    pons__payload *approval_payload;
    pons__list more; // pons__payload: what the decision asks beside
    pons__task_plan *plan;
    const char *plan_fault;
} pons__proposed;
PONS__RECORD_OF(proposed);

typedef struct pons__claim {       // one of `claims`: what a model says is true now
    const char *in_zone, *holding; // NULL: it does not say
    double battery;                // at least, in per cent; NAN: it does not say
} pons__claim;
PONS__RECORD_OF(claim);

typedef struct pons__patch { // plan_patch: one of them; lists as they were said
    const pons_value *goals, *steps;
} pons__patch;
PONS__RECORD_OF(patch);

// A decision, as it passed the door. What it says to do stays as it was said until R3.
typedef struct pons__decision {
    int type; // pons__decision_type
    const char *reason, *task_id;
    const pons_value *plan_patch, *ops, *claims;
    double wake_s;
} pons__decision;
PONS__RECORD_OF(decision);

// ---- mail between the two graphs ----------------------------------------------------------------

typedef enum pons__mail_kind {
    PONS_MAIL_OTHER, // of a later program
    PONS_MAIL_ACTIVATE,
    PONS_MAIL_PREEMPT,
} pons__mail_kind;
extern const char *const pons__mail_words[];

typedef struct pons__mail { // what the inner loop's inbox brings
    int kind;               // pons__mail_kind
    const pons_value *value;
} pons__mail;
PONS__RECORD_OF(mail);

typedef struct pons__activate { // the kernel: start on this task
    int64_t activation;
    int mode;
    const char *reason;
    pons__task *task; // NULL: none, stop the base
} pons__activate;
PONS__RECORD_OF(activate);

typedef struct pons__outcome { // the inner loop: the task is over, or let go of
    int64_t activation, iterations, replans;
    int mode;
    double distance_m;
    const char *task_id, *status, *reason, *switch_to;
    pons__list goals, asks;
    const pons_value *verified; // of a success: whether anything said so
    pons__task_plan *plan;
    pons__recovery_state *recovery;
    pons__spent *spent;
} pons__outcome;
PONS__RECORD_OF(outcome);

// ---- the state of the inner loop ----------------------------------------------------------------

typedef struct pons__preempt { // the kernel: let go of it
    int64_t activation;
    int mode;
    const char *reason;
    bool stop_base;
} pons__preempt;
PONS__RECORD_OF(preempt);

typedef struct pons__pace {
    int64_t ms, debt_ms;
} pons__pace;
PONS__RECORD_OF(pace);

typedef struct pons__human { // what a person said last
    const char *question, *answer, *reason;
    const pons_value *also; // [{question, answer, reason}] to the other questions of that decision
} pons__human;
PONS__RECORD_OF(human);

typedef struct pons__message { // an item of the channel `messages`
    const char *id, *role, *content;
} pons__message;
PONS__RECORD_OF(message);

typedef enum pons__stage { // of a decision (react/decision_machine.c)
    PONS_STAGE_NONE,       // there is none yet
    PONS_STAGE_DECIDED,
    PONS_STAGE_PROPOSED, // as operations
    PONS_STAGE_REFUSED,  // by R4
    PONS_STAGE_ASKING,
    PONS_STAGE_UNCLEAR, // the answer is none
    PONS_STAGE_EDITED,
    PONS_STAGE_APPROVED,
    PONS_STAGE_REJECTED,
    PONS_STAGE_PUT_ASIDE, // with its questions
    PONS_STAGE_INTENDED,  // its effects are
    PONS_STAGE_SENT,
    PONS_STAGE_HELD_BACK, // by R6 or the body, of an operation at least
    PONS_STAGE_TAKEN_BACK,
    PONS_STAGE_SETTLED,
    PONS_STAGE_ENDED, // and the task with it
} pons__stage;
extern const char *const pons__stage_words[];

typedef enum pons__wake_kind { // what R7 has heard of what runs, until that is looked at
    PONS_WAKE_NONE,
    PONS_WAKE_LOOK, // nothing: it was time for a look
    PONS_WAKE_NO_PROGRESS,
} pons__wake_kind;
extern const char *const pons__wake_words[];

typedef struct pons__asking { // of the stage `asking`
    pons__question *question; // NULL: nobody is asked
    pons__list also;          // pons__question: the others of the same decision
} pons__asking;

typedef struct pons__answered { // from an answer until R6 has acted on it
    const char *question;       // the one that is acted on; "": none
    const pons_value *also;     // ids of those beside it; NULL: none
    const char *again; // why an answer was none, and the question is asked again; "": it was one
    const pons_value *edit_before; // the inner loop when it asked
    const pons_value *unsent;      // {goals | edited, plan}: before the decision that was approved
    bool settles; // R6: a person's yes settles what nobody knows (react/outcome_unknown.c)
} pons__answered;

typedef struct pons__react {
    int64_t activation;
    int mode;
    pons__task *task;      // NULL: none
    int64_t iter, iter_ms; // rounds, and when this one began; wall
    const pons_value *observation;
    pons__decision *decision;
    int64_t decided_ms; // wall
    int source;         // pons__source
    pons__proposed *proposed_ops;
    const char *stop_reason;
    int64_t failures; // in a row, of failed_skill
    const char *failed_skill;
    pons__human *human;
    const pons_value *approved; // hashes
    int64_t replans, model_retry_ms;
    // As of R1: what is waited for follows from the state alone, so that a life with another config, or
    // without a model, takes up the waits of this one.
    int64_t model_tries;
    double check_in_s;
    double distance_m;
    pons__task_plan *plan;
    pons__preempt *preempt;
    pons__pace *pace;
    int stage;        // pons__stage: of the decision; what belongs to it follows
    int wake;         // pons__wake_kind
    const char *woke; // why R7 woke: result, no_progress, time_out, check_in
    pons__asking asking;
    pons__answered answered;
} pons__react;
PONS__RECORD_OF(react);

// ---- what the body tells, as a prompt tells it --------------------------------------------------

typedef struct pons__place { // a zone, as K3 has it
    const char *id, *state;
    const pons_value *target; // {x, y, yaw?}
} pons__place;
PONS__RECORD_OF(place);

// ---- what is done often -------------------------------------------------------------------------

pons__task *pons__queue_find(const pons__tasks *t, const char *id); // NULL: not there
pons__task *pons__queue_active(const pons__tasks *t);
const pons__running *pons__running_find(const pons__skills *s, const char *goal_id);
// Of the decision at hand; PONS_DECIDE_NONE without one.
pons__decision_type pons__decided(const pons__react *r);
// The one that counts; NULL: none.
const pons__answer *pons__answer_find(const pons__hci *hci, const char *question);
void pons__human_say(pons__react *r, const char *question, const char *answer, const char *reason);
// R6 is about to act on the answer to this question.
bool pons__answered_is(const pons__react *r, const char *question);
// Whether the inner loop (NULL: none is at work) has read what it was told last.
bool pons__reported_taken(const pons__reported *reported, const pons__react *inner);
