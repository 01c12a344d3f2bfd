// plan.h - the plan protocol: Plan, PlanStep and ExecutionResult, their JSON, and the engine that
// runs a plan step by step.
//
// A planner (a model, a rule engine, a person) makes a plan; an executor runs it. The protocol only
// says what a plan is: it knows no robot and no scene. Its texts are JSON with the fields below.
//
// A field that is a free object (parameters, preconditions, metadata, output) is held as its
// canonical JSON text: keys sorted, no blanks, numbers as they were given. Two such objects are
// equal when their texts are; pons_plan_object makes a value of one.
//
// The structs are open for reading. A plan that a function returned owns all its texts: change it
// through the functions here. One thread at a time uses a plan.
#pragma once

#include "pons/error.h"
#include "pons/linkage.h"
#include "pons/machine.h"
#include "pons/random.h"
#include "pons/value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

PONS_C_BEGIN

// ---- enumerations: X(symbol, value in JSON); the first of each is the default -------------------

#define PONS_RISK_LEVEL_TABLE(X)                                                                   \
    X(PONS_RISK_LOW, "low")                                                                        \
    X(PONS_RISK_MEDIUM, "medium")                                                                  \
    X(PONS_RISK_HIGH, "high")

#define PONS_STEP_STATUS_TABLE(X)                                                                  \
    X(PONS_STEP_PENDING, "pending")                                                                \
    X(PONS_STEP_RUNNING, "running")                                                                \
    X(PONS_STEP_SUCCESS, "success")                                                                \
    X(PONS_STEP_FAILED, "failed")                                                                  \
    X(PONS_STEP_SKIPPED, "skipped")                                                                \
    X(PONS_STEP_WAIT_CONFIRMATION, "wait_confirmation")

#define PONS_PLAN_STATUS_TABLE(X)                                                                  \
    X(PONS_PLAN_CREATED, "created")                                                                \
    X(PONS_PLAN_APPROVED, "approved")                                                              \
    X(PONS_PLAN_EXECUTING, "executing")                                                            \
    X(PONS_PLAN_COMPLETED, "completed")                                                            \
    X(PONS_PLAN_FAILED, "failed")                                                                  \
    X(PONS_PLAN_CANCELLED, "cancelled")                                                            \
    X(PONS_PLAN_WAIT_CONFIRMATION, "wait_confirmation")

#define PONS_TOOL_CALL_TABLE(X)                                                                    \
    X(PONS_TOOL_EXECUTE, "execute")                                                                \
    X(PONS_TOOL_ASK_USER, "ask_user")                                                              \
    X(PONS_TOOL_SPEAK, "speak")                                                                    \
    X(PONS_TOOL_QUERY_WORLD, "query_world")                                                        \
    X(PONS_TOOL_QUERY_KNOWLEDGE, "query_knowledge")                                                \
    X(PONS_TOOL_NOOP, "noop")

#define PONS_PLAN_SYMBOL(symbol, word) symbol,
typedef enum pons_risk_level {
    PONS_RISK_LEVEL_TABLE(PONS_PLAN_SYMBOL) PONS_RISK_LEVELS
} pons_risk_level;
typedef enum pons_step_status {
    PONS_STEP_STATUS_TABLE(PONS_PLAN_SYMBOL) PONS_STEP_STATUSES
} pons_step_status;
typedef enum pons_plan_status {
    PONS_PLAN_STATUS_TABLE(PONS_PLAN_SYMBOL) PONS_PLAN_STATUSES
} pons_plan_status;
typedef enum pons_tool_call_type {
    PONS_TOOL_CALL_TABLE(PONS_PLAN_SYMBOL) PONS_TOOL_CALL_TYPES
} pons_tool_call_type;
#undef PONS_PLAN_SYMBOL

// The value in JSON, "?" for a number that names none; and the number of a value, or -1.
const char *pons_risk_level_word(int level);
const char *pons_step_status_word(int status);
const char *pons_plan_status_word(int status);
const char *pons_tool_call_word(int type);
int pons_risk_level_find(const char *word);
int pons_step_status_find(const char *word);
int pons_plan_status_find(const char *word);
int pons_tool_call_find(const char *word);

// Where a status may go. Drawn in src/plan/plan_enums.c.
extern const pons_machine pons_step_machine; // of pons_step_status
extern const pons_machine pons_plan_machine; // of pons_plan_status

// ---- steps and plans ----------------------------------------------------------------------------

typedef struct pons_plan_step {
    int64_t step_id;                    // unique in its plan, ≥ 0
    const char *action;                 // not blank
    pons_tool_call_type tool_call_type; // what kind of executor it is for
    const char *parameters;             // object; NULL when given to a function: {}
    const char *preconditions;          // object; what must hold before the step
    const char *fallback;               // action to run when the step has failed, or NULL
    pons_step_status status;
    const char *description; // NULL when given to a function: ""
    bool requires_confirmation;
    const char *confirmation_message; // or NULL
    const char *metadata;             // object
} pons_plan_step;

typedef struct pons_plan {
    const char *plan_id;   // not blank
    const char *goal;      // not blank
    const char *reasoning; // NULL when given to a function: ""
    pons_risk_level risk_level;
    bool requires_confirmation;
    const char *confirmation_message; // or NULL
    pons_plan_step *steps;            // (n_steps), in the order they run
    size_t n_steps;
    pons_plan_status status;
    double created_at;           // Unix time [s]
    const char *created_at_text; // the number as it was given, or NULL: created_at decides
    const char *source;          // "llm", "rule_engine", …; NULL when given to a function: "llm"
    const char *metadata;        // object
    struct pons__plan_own *own;  // NULL in a struct that the caller filled
} pons_plan;

typedef struct pons_execution_result {
    const char *plan_id;
    int64_t step_id;
    bool success; // true with PONS_STEP_SUCCESS, false with PONS_STEP_FAILED
    pons_step_status status;
    const char *message;
    const char *output;         // object
    double timestamp;           // Unix time [s]
    const char *timestamp_text; // as created_at_text
    struct pons__plan_own *own;
} pons_execution_result;

// Where the time and the ids of new plans come from.
typedef struct pons_plan_origin {
    double now_s;    // Unix time [s]: created_at, timestamp
    pons_rand *rand; // plan_id is "plan_" and 8 hex digits from here
} pons_plan_origin;

// A copy of `fields`, steps included, checked: PONS_EINVAL "goal: must not be empty". Like the
// seed's constructor it does not look for step ids that are there twice. *ret is the caller's.
int pons_plan_create(const pons_plan *fields, pons_plan **ret, pons_error *err);
// A new plan with a new id, without steps. NULL for reasoning or source: "" and "llm".
int pons_plan_create_new(const char *goal, const char *reasoning, pons_risk_level risk,
                         const char *source, const pons_plan_origin *from, pons_plan **ret,
                         pons_error *err);
void pons_plan_destroy(pons_plan *p); // NULL-safe

// Appends a copy. PONS_EEXIST "steps[2].step_id: 3 already exists, use a unique id", PONS_EINVAL
// for a blank action or a negative id. Moves p->steps: a pointer to a step ends here.
int pons_plan_add_step(pons_plan *p, const pons_plan_step *step, pons_error *err);
// Only for a step whose strings are the caller's: what the constructor would say.
int pons_plan_step_check(const pons_plan_step *step, pons_error *err);

// Status changes along the machines above; PONS_EPROTOCOL "plan step: success may not become
// running", and nothing has changed.
int pons_plan_step_move(pons_plan_step *step, pons_step_status to, pons_error *err);
int pons_plan_move(pons_plan *p, pons_plan_status to, pons_error *err);

// The steps of a status in order: writes up to cap of them, returns how many there are. ret may be
// NULL when cap is 0. Borrowed until the next pons_plan_add_step.
size_t pons_plan_select(const pons_plan *p, pons_step_status status, pons_plan_step **ret,
                        size_t cap);
size_t pons_plan_pending_steps(const pons_plan *p, pons_plan_step **ret, size_t cap);
size_t pons_plan_waiting_steps(const pons_plan *p, pons_plan_step **ret, size_t cap);
size_t pons_plan_failed_steps(const pons_plan *p, pons_plan_step **ret, size_t cap);
pons_plan_step *pons_plan_step_get(const pons_plan *p, int64_t step_id); // NULL: none
pons_plan_step *pons_plan_current_step(const pons_plan *p); // the first that runs, or NULL
bool pons_plan_is_finished(const pons_plan *p);     // no step is pending, running or waiting
bool pons_plan_is_success(const pons_plan *p);      // at least one step, and all succeeded
int64_t pons_plan_next_step_id(const pons_plan *p); // the greatest and one; 1 without steps

// A free object's text as a value, for the caller to unref. NULL and "" are {}. PONS_EINVAL for a
// number that a value can't hold.
int pons_plan_object(const char *text, pons_value **ret, pons_error *err);

// ---- JSON ---------------------------------------------------------------------------------------
// Texts are canonical: keys sorted, every field present, numbers as they were given. The *_text
// functions return the length of *ret, which the caller frees, or a negative status.

long pons_plan_text(const pons_plan *p, char **ret);
long pons_plan_step_text(const pons_plan_step *step, char **ret);
long pons_execution_result_text(const pons_execution_result *r, char **ret);
int pons_plan_to_value(const pons_plan *p, pons_value **ret, pons_error *err);
int pons_plan_step_to_value(const pons_plan_step *step, pons_value **ret, pons_error *err);
int pons_execution_result_to_value(const pons_execution_result *r, pons_value **ret,
                                   pons_error *err);

// As the seed's from_dict: plan_id and goal must be there, everything else has its default;
// unknown fields are passed over; step ids may be there twice. Types are checked, which the seed
// leaves to Python. Errors start with the path: "steps[2].action: must not be empty".
int pons_plan_from_value(const pons_value *v, double now_s, pons_plan **ret, pons_error *err);
int pons_plan_step_from_value(const pons_value *v, pons_plan_step **ret, pons_error *err);
void pons_plan_step_destroy(pons_plan_step *step); // one made by pons_plan_step_from_value
int pons_execution_result_from_value(const pons_value *v, double now_s, pons_execution_result **ret,
                                     pons_error *err);

// As the seed's create_plan_from_llm_response: a plan_id is made when there is none; goal must be
// there; status, created_at and source of the reply are not taken (source is the argument, NULL:
// "llm"); step ids are unique. A plan with all fields of a reply: pons_plan_read.
int pons_plan_from_llm_response(const pons_value *v, const char *source,
                                const pons_plan_origin *from, pons_plan **ret, pons_error *err);

// ---- the tolerant reader ------------------------------------------------------------------------

#define PONS_PLAN_REPAIR_TABLE(X)                                                                  \
    X(PONS_REPAIR_BOM, "bom")                       /* a byte order mark */                        \
    X(PONS_REPAIR_THINKING, "thinking")             /* <think>…</think> */                       \
    X(PONS_REPAIR_PROSE, "prose")                   /* text around the plan */                     \
    X(PONS_REPAIR_FENCE, "fence")                   /* ``` or ~~~ around it */                     \
    X(PONS_REPAIR_TAG, "tag")                       /* <tool_call> and its like */                 \
    X(PONS_REPAIR_ENCODED, "encoded")               /* JSON inside a JSON string */                \
    X(PONS_REPAIR_UNWRAPPED, "unwrapped")           /* {"plan": {…}}, [{…}] */                 \
    X(PONS_REPAIR_CALLS, "calls")                   /* tool calls made steps */                    \
    X(PONS_REPAIR_STEP_ID, "step-id")               /* of a call, from its place */                \
    X(PONS_REPAIR_GOAL, "goal")                     /* from the caller */                          \
    X(PONS_REPAIR_MARKDOWN, "markdown")             /* solve\_quadratic */                         \
    X(PONS_REPAIR_PYTHON_CALL, "python-call")       /* f(x=1) */                                   \
    X(PONS_REPAIR_PYTHON_LITERAL, "python-literal") /* True, None */                               \
    X(PONS_REPAIR_PYTHON_ENUM, "python-enum")       /* RiskLevel.LOW */                            \
    X(PONS_REPAIR_TUPLE, "tuple")                   /* (1, 2) */                                   \
    X(PONS_REPAIR_LITERAL, "literal")               /* TRUE, nil */                                \
    X(PONS_REPAIR_QUOTES, "quotes")                 /* 'a', `a`, “a” */                        \
    X(PONS_REPAIR_RAW_STRING, "raw-string")         /* r"a", u"a" */                               \
    X(PONS_REPAIR_CONCATENATION, "concatenation")   /* "a" + "b" */                                \
    X(PONS_REPAIR_ESCAPE, "escape")                 /* \x41, \' */                                 \
    X(PONS_REPAIR_RAW_CONTROL, "raw-control")       /* a line break in a string */                 \
    X(PONS_REPAIR_UNQUOTED_KEY, "unquoted-key")     /* {goal: …} */                              \
    X(PONS_REPAIR_UNQUOTED_VALUE, "unquoted-value") /* {…: move_to} */                           \
    X(PONS_REPAIR_NUMBER, "number")                 /* +1, .5, 0x1F, 1_000 */                      \
    X(PONS_REPAIR_COMMENT, "comment")               /* // # and the C kind */                      \
    X(PONS_REPAIR_TRAILING_COMMA, "trailing-comma") /* [1,] */                                     \
    X(PONS_REPAIR_EXTRA_COMMA, "extra-comma")       /* {…,,…} */                               \
    X(PONS_REPAIR_MISSING_COMMA, "missing-comma")   /* {…} {…} */                              \
    X(PONS_REPAIR_SEPARATOR, "separator")           /* ; = => and full-width marks */              \
    X(PONS_REPAIR_MISSING_COLON, "missing-colon")   /* {"goal" "x"} */                             \
    X(PONS_REPAIR_MISSING_OPENER, "missing-opener") /* "goal": …} */                             \
    X(PONS_REPAIR_MISSING_CLOSER, "missing-closer") /* [{…] */                                   \
    X(PONS_REPAIR_EXTRA_CLOSER, "extra-closer")     /* {…}} */                                   \
    X(PONS_REPAIR_DEFAULT, "default")               /* an absent field's default */                \
    X(PONS_REPAIR_LEFT_OUT, "left-out")             /* a field that plans do not have */           \
    X(PONS_REPAIR_NEW_ID, "new-id")                 /* plan_id was absent */                       \
    X(PONS_REPAIR_NEW_TIME, "new-time")             /* created_at was absent */

#define PONS_PLAN_REPAIR_SYMBOL(symbol, word) symbol,
typedef enum pons_repair_kind {
    PONS_PLAN_REPAIR_TABLE(PONS_PLAN_REPAIR_SYMBOL) PONS_REPAIR_KINDS
} pons_repair_kind;
#undef PONS_PLAN_REPAIR_SYMBOL

const char *pons_repair_word(int kind); // "trailing-comma"; static storage

typedef struct pons_plan_repair {
    pons_repair_kind kind;
    int line, column; // of the text as it was given, from 1; column in bytes
    const char *what; // "steps[0].fallback: absent, the default null"; ends with the call
} pons_plan_repair;
typedef void (*pons_plan_repair_fn)(void *user, const pons_plan_repair *repair);

typedef struct pons_plan_read_options {
    const char *goal;       // for a list of calls, or a plan without a goal; NULL: there is none
    pons_plan_origin from;  // of an absent plan_id and created_at; rand is needed
    pons_plan_repair_fn fn; // hears of every repair in the order they are made; may be NULL
    void *user;
} pons_plan_read_options;

enum { PONS_PLAN_TEXT_MAX = 16 << 20 }; // bytes of a text that the reader takes

// Reads what models emit: a bare object, a fenced block in prose, tool calls in the shapes of the
// usual APIs, Python-style calls, and JSON with small damage. Every repair is told. It never makes
// a field up: where damage can be read in two ways, or text was cut, it refuses with the position.
// It keeps every field of the protocol that is there; absent fields get the seed's defaults, each
// told. Types and unique step ids are enforced. PONS_EINVAL: the message begins with the path where
// there is one, the source is line:col. When the text has no plan at all: "no plan found".
int pons_plan_read(const char *text, size_t len, const pons_plan_read_options *o, pons_plan **ret,
                   pons_error *err);

// The one object with this member in what a model answered (a decision's type, a replanner's action), read
// and repaired as plans are: behind thoughts, in fences and prose, with small damage. What was cut, and two
// such objects that differ, are refused. *ret is the caller's. PONS_EINVAL.
int pons_reply_object(const char *text, size_t len, const char *member, pons_value **ret,
                      pons_error *err);

// Where an answer begins behind what the model has thought aloud: <think>…</think> and the like, in any case.
// NULL: a thought has no end, and so there is no answer behind it. Any thread.
const char *pons_reply_behind_thoughts(const char *text, size_t len);

// ---- execution results --------------------------------------------------------------------------

// A checked copy of `fields`: "success: must be true when status is success".
int pons_execution_result_create(const pons_execution_result *fields, pons_execution_result **ret,
                                 pons_error *err);
// NULL or empty message of a success, NULL message of a skip: the seed's "执行成功" and
// "步骤已跳过". output is an object's text or NULL.
int pons_execution_result_success(const char *plan_id, int64_t step_id, const char *message,
                                  const char *output, double now_s, pons_execution_result **ret,
                                  pons_error *err);
int pons_execution_result_failure(const char *plan_id, int64_t step_id, const char *message,
                                  const char *output, double now_s, pons_execution_result **ret,
                                  pons_error *err);
int pons_execution_result_skipped(const char *plan_id, int64_t step_id, const char *message,
                                  double now_s, pons_execution_result **ret, pons_error *err);
void pons_execution_result_destroy(pons_execution_result *r); // NULL-safe

// ---- running a plan -----------------------------------------------------------------------------
// The engine changes statuses and decides what comes next; what a step does is the caller's, one
// executor for each tool_call_type. It may be run in pieces: whoever must wait returns PONS_EPARKED
// and is called again, with the same step, when the caller runs the plan again. All that a run
// needs to go on is the plan and its cursor, both of which are JSON.

enum { PONS_PLAN_MESSAGE_MAX = 512 };

typedef struct pons_plan_outcome { // filled by an executor
    bool success;
    char message[PONS_PLAN_MESSAGE_MAX]; // may stay empty
    pons_value *output;                  // an object, taken by the engine; NULL: {}
} pons_plan_outcome;

typedef struct pons_plan_call { // what an executor is asked for; borrowed for the call
    const pons_plan *plan;
    const pons_plan_step *step;
    const char *action;           // the step's action, or its fallback
    bool is_fallback;             // the step has failed, this is its fallback
    const pons_value *parameters; // object
} pons_plan_call;

// PONS_OK: *out says how it went. PONS_EPARKED: not yet; call again. Anything else ends the run
// where it stands, the step still running. After a crash a running step is asked for again: an
// executor with effects makes them once under an id of its own (plan_id, step_id, is_fallback).
typedef int pons_plan_execute(void *user, const pons_plan_call *call, pons_plan_outcome *out,
                              pons_error *err);
typedef pons_plan_execute *pons_plan_executor;
// The value of a name in a precondition, for the engine to unref; PONS_ENOTFOUND: not known.
typedef int pons_plan_look(void *user, const char *name, pons_value **ret, pons_error *err);
// Whether a person confirms the step, or the whole plan (step NULL).
typedef int pons_plan_confirm(void *user, const pons_plan *plan, const pons_plan_step *step,
                              const char *question, bool *ret_confirmed, pons_error *err);

typedef struct pons_plan_ops {
    pons_plan_executor executors[PONS_TOOL_CALL_TYPES]; // NULL: its steps fail, named; noop needs
                                                        // none
    pons_plan_look *look;                               // NULL: nothing is known
    pons_plan_confirm *confirm; // NULL: nobody is there to ask, and the run parks
    void (*changed)(void *user, const pons_plan *plan,
                    const pons_plan_step *step); // a status changed; step NULL: the plan's; or NULL
    void (*result)(void *user, const pons_execution_result *r); // a step is settled; or NULL
    double (*now_s)(void *user);                                // Unix time [s]; NULL: 0
    bool fallback_recovers; // a fallback that succeeds makes its step a success
    void *user;
} pons_plan_ops;

// Where a run stands inside a step. Zero-initialised for a new run.
typedef struct pons_plan_cursor {
    bool confirmed; // the step in hand has been confirmed
    bool fallback;  // its action has failed, its fallback runs
    char failure[PONS_PLAN_MESSAGE_MAX];
} pons_plan_cursor;
pons_value *pons_plan_cursor_to_value(const pons_plan_cursor *c); // new; NULL: no memory
void pons_plan_cursor_from_value(const pons_value *v, pons_plan_cursor *ret);

// Settles one step. PONS_OK: a step was settled, or the plan has come to its end (see its status).
// PONS_EPARKED: somebody is waited for; plan->status tells whether for a confirmation.
int pons_plan_run_step(pons_plan *p, pons_plan_cursor *c, const pons_plan_ops *ops,
                       pons_error *err);
// One step of a plan that is executed, from where it stands to its end, for who decides himself what
// comes after it: what pons_plan_run_step does with the step in hand. PONS_OK: it is settled, and where
// a person refused it the plan is cancelled. PONS_EPARKED.
int pons_plan_carry_out(pons_plan *p, pons_plan_step *step, pons_plan_cursor *c,
                        const pons_plan_ops *ops, pons_error *err);
// What a step is to ask (prompt, question or text of its parameters, else its confirmation_message, its
// description, its action), to say (text, message, content; NULL: nothing), or to look for (query;
// NULL, but of query_knowledge: question, text, its description, its action). Every runner of plans
// reads a step by this. Borrowed from the call.
const char *pons_plan_call_words(const pons_plan_call *c);
// What executors have in common, so that a step comes to the same whoever carries it out. speech: what is
// to be said; false: nothing, and out says so. spoken: it was said. query: a query_world by look (NULL:
// nothing is known). found: what search_knowledge gave ({output, data?}), or why it gave nothing.
// answered: what a person said to an ask_user; answer, reason: NULL or "": their own words are not known.
bool pons_plan_speech(const pons_plan_call *c, const char **ret, pons_plan_outcome *out);
void pons_plan_spoken(const char *text, pons_plan_outcome *out);
void pons_plan_query(const pons_plan_call *c,
                     int (*look)(void *user, const char *name, pons_value **ret, pons_error *err),
                     void *user, pons_plan_outcome *out);
void pons_plan_found(const pons_plan_call *c, const pons_value *result, const char *why,
                     pons_plan_outcome *out);
void pons_plan_answered(bool yes, const char *answer, const char *reason, pons_plan_outcome *out);
// Until the plan is completed, failed or cancelled, or parks. A failed step ends the plan: the
// steps that did not run become skipped. A step that a person refuses is skipped, and the plan is
// cancelled.
int pons_plan_run(pons_plan *p, pons_plan_cursor *c, const pons_plan_ops *ops, pons_error *err);
// Ends a plan by hand: steps not settled become skipped, the plan cancelled.
int pons_plan_cancel(pons_plan *p, const pons_plan_ops *ops, pons_error *err);

// One precondition against the world. name_above, _below, _at_least, _at_most compare numbers;
// name_in looks for the value in a list; name_not is true for another value; a name alone for an
// equal one. A name that is known as it stands is never taken apart. PONS_EREFUSED: "temperature is
// 25.5, not above 30".
int pons_plan_condition(const char *key, const pons_value *wanted,
                        int (*look)(void *user, const char *name, pons_value **ret,
                                    pons_error *err),
                        void *user, pons_error *err);
// A ready `look`: user is an object (const pons_value *), names are its members, "a.b" a member of
// a member.
int pons_plan_look_in(void *user, const char *name, pons_value **ret, pons_error *err);

PONS_C_END
