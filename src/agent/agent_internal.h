// agent_internal.h - what the files of src/agent share.
//
//   config.c      graph_config.yaml: defaults, faults with positions
//   graph.c       the graph of the seed; plan_gate, approval, replanner, summarizer
//   loop.c        the ReAct loop of agent and executor: a subgraph of its own
//   calls.c       one tool call: vetted, asked about, run, settled
//   plans.c       plan_data: what the nodes do to a plan
//   registry.c    the tools of all providers, who may use which
//   host.c        the awaits' other end: model and tool calls under way, middleware around them
//   agent.c       a session: turns, answers, stopping, the loop
//   middleware.c  debug, timing, rate_limit, redact
//   robot_tools.c the body's skills as tools
//
// One loop thread owns everything. What must survive is in channels, awaits and the effect ledger;
// what is in these structs can be thrown away at any instruction.
#ifndef PONS_AGENT_INTERNAL_H
#define PONS_AGENT_INTERNAL_H

#include "pons/agent.h"
#include "pons/buf.h"
#include "pons/schema.h"

#define PONS__AGENT          "agent" // this module in errors
#define PONS__PLAN_CREATE    "plan_create"
#define PONS__STEP_FAILED    "step_failed"
#define PONS__SHOWN_MAX      2000 // characters of a tool's output in tool_end
#define PONS__MODEL_CALL     "llm"
#define PONS__TOOL_CALL      "tool"
#define PONS__PARALLEL_MAX   8   // read-only calls at once
#define PONS__CALLS_MAX      64  // tool calls of one reply
#define PONS__PLAN_STEPS_MAX 100 // steps of one plan
#define PONS__CALL_ID_MAX    96

// ---------------------------------------------------------------- configuration (config.c)

struct pons_agent_config {
    pons_yaml *yaml; // NULL: the defaults
    pons_value *value;
};
// A member by a path of keys with dots below "graph": "nodes.agent.tools"; NULL: not set.
const pons_value *pons__cfg(const pons_agent_config *c, const char *path);
int64_t pons__cfg_int(const pons_agent_config *c, const char *path);
bool pons__cfg_bool(const pons_agent_config *c, const char *path);
// Adds the position of a pointer to an error, when the configuration came from a text.
int pons__cfg_blame(const pons_agent_config *c, const char *pointer, pons_error *err);

// ---------------------------------------------------------------- tools (registry.c)

typedef struct pons__tool {
    const pons_value *item; // borrowed from the registry's lists
    const char *name;
    const pons_tools *provider; // NULL: the agent's own (plan_create, step_failed)
    pons_schema *schema;        // of its arguments; NULL: none that can be held against them
} pons__tool;

typedef struct pons__registry {
    const pons_tools *providers; // (n)
    size_t n_providers;
    uint64_t *generations; // (n_providers) of the lists
    pons_value **lists;    // (n_providers)
    pons__tool *tools;     // (n_tools)
    size_t n_tools;
    pons_value *own; // the agent's own tools
} pons__registry;

int pons__registry_init(pons__registry *r, const pons_tools *providers, size_t n, pons_error *err);
void pons__registry_fini(pons__registry *r);
// Asks providers whose generation changed for their lists again.
int pons__registry_refresh(pons__registry *r, pons_error *err);
const pons__tool *pons__registry_find(const pons__registry *r, const char *name); // NULL: none
// Whether a list of specs ("all", a category, a name) has the tool.
bool pons__specs_have(const pons_value *specs, const pons__tool *t);
// Every spec names something; else PONS_EINVAL with the position of the bad one.
int pons__specs_check(const pons__registry *r, const pons_agent_config *c, const char *pointer,
                      const pons_value *specs, pons_error *err);
// The same for tools.approve and tools.risk (key), which name tools alone.
int pons__names_check(const pons__registry *r, const pons_agent_config *c, const char *key,
                      pons_error *err);

// ---------------------------------------------------------------- calls under way (host.c)

typedef struct pons__flight {
    struct pons__flight *next;
    bool model, effect;
    bool waiting;                  // put off by a middleware: starts at due_ns
    bool adopted;                  // found again after a crash
    bool finished;                 // `answer` is there, its await was not yet
    uint64_t call;                 // the provider's number; 0: not started
    char key[PONS__CALL_ID_MAX];   // of a tool: the effect's id or the await's; of a model: call_id
    char await[PONS__CALL_ID_MAX]; // whom it answers; empty: the await is not there yet
    char node[16], name[80];       // who asked; the tool
    const pons_tools *provider;    // of a tool
    pons_value *request;           // model: the whole request; tool: the arguments as sent
    pons_value *shown;             // {input, motivation, …} for the events
    pons_value *answer;
    int64_t due_ns, started_ns; // host
    pons_buf said;              // tokens so far, to keep when it is stopped
} pons__flight;

// ---------------------------------------------------------------- the agent

typedef struct pons__role { // one of the two ReAct loops
    pons_agent *a;
    bool executor;
} pons__role;

typedef struct pons__mw { // a middleware, and whether it is ours to close
    pons_agent_middleware m;
    bool own;
} pons__mw;

struct pons_agent {
    pons_agent_options opts;
    char thread_id[PONS_NAME_MAX];
    pons_agent_config *own_config;
    const pons_agent_config *config;
    pons_llm llm;
    pons_tools *providers;
    pons__registry registry;
    pons__mw *mw;
    size_t n_mw;
    pons_value *prompts;
    pons_thread *thread;
    pons_graph *graph, *loops[2]; // loops: agent, executor
    pons__role roles[2];
    pons_run *run;  // NULL between turns
    uint64_t turns; // begun in this life: the provider counts the calls of each
    pons__flight *flights;
    uint64_t next_call;
    // What the loop's node has just made, for the handler that follows it: {ns, turn}. After a
    // restart the handler reads it from the store.
    char draft_ns[PONS_NAME_MAX];
    pons_value *draft;
    pons_value *state;  // between turns: the channels as they are in the store
    bool inbox_due;     // another process may have answered
    int64_t inbox_seen; // the newest answer looked at
    bool busy_inside;   // an engine call is on the stack: handlers may not advance
    pons_agent_outcome outcome;
};

// Graphs. a NULL: for a drawing.
int pons__agent_graph(pons_agent *a, const pons_agent_config *c, pons_graph *loops[2],
                      pons_graph **ret, pons_error *err);
int pons__loop_graph(pons__role *role, pons_graph **ret, pons_error *err);

// host.c
void pons__host_model_start(void *user, pons_run *run, const char *id, const pons_value *request,
                            bool restarted);
void pons__host_tool_start(void *user, pons_run *run, const char *id, const pons_value *request,
                           bool restarted);
void pons__host_cancel(void *user, pons_run *run, const char *id);
// Starts an effect's call under its id; the flight waits for its await. A pons_effect_send_fn with
// the agent as user.
int pons__host_send(void *user, const pons_effect *e, pons_error *err);
int pons__host_poll(pons_agent *a, pons_error *err); // 1: something came
int64_t pons__host_next_due_ns(const pons_agent *a);
void pons__host_drop(pons_agent *a); // cancels and forgets every flight
// A text as middlewares let it be shown. New string; NULL: no memory.
char *pons__host_shown(pons_agent *a, const char *text);
pons_value *pons__host_shown_value(pons_agent *a, const pons_value *v); // every string of it

// calls.c: one tool call of a reply: {id, name, arguments, motivation, state, …}.
// Vets the next batch: what may run, what is refused and why, what a person is asked. Returns the
// list, a new reference; takes calls.
int pons__calls_vet(pons__role *role, pons_cx *cx, pons_value *calls, pons_value **ret,
                    pons_error *err);
// Runs the batch that was vetted. PONS_OK: *ret_calls is the list after it, *ret_messages the tool
// messages. PONS_EPARKED.
int pons__calls_run(pons__role *role, pons_cx *cx, const pons_value *calls, pons_value **ret_calls,
                    pons_value **ret_messages, pons_error *err);
bool pons__calls_pending(const pons_value *calls);

// plans.c
// A plan from what plan_create was given. PONS_EINVAL with the path: told to the model.
int pons__agent_plan_make(const pons_value *args, const char *plan_id, double now_s,
                          pons_plan **ret, pons_error *err);
int pons__agent_plan_parse_steps(const pons_value *steps, int64_t first_id, const char *where,
                                 pons_plan *into, pons_error *err);
// Whether a person's {action: edit, args: {steps?, title?}}, or the same without args, is one.
int pons__agent_plan_edit_check(const pons_value *answer, pons_error *err);
int pons__agent_plan_load(const pons_value *plan_data, pons_plan **ret, pons_error *err);
// plan_data with the plan as it is now; new reference.
pons_value *pons__agent_plan_store(const pons_value *plan_data, const pons_plan *p);
pons_value *pons__agent_plan_shown(const pons_plan *p); // [{id, title, status}]
void pons__agent_step_title(const pons_plan_step *s, char *buf, size_t cap);
const char *pons__agent_step_word(pons_step_status s); // as events have it: completed for success
long pons__agent_plan_running(const pons_plan *p);     // index of the step that runs; -1: none
// Marks the next pending step running and says so; false: none is pending.
bool pons__agent_plan_begin_next(pons_agent *a, pons_cx *cx, pons_value *pending, pons_plan *p,
                                 long *ret_index);
// Ends a plan: what has not run is skipped, the plan is completed or failed.
void pons__agent_plan_end(pons_agent *a, pons_cx *cx, pons_value *pending, pons_plan *p);
// The tool message that stands for the plan in the conversation: how it stands, step by step.
pons_value *pons__agent_plan_message(const pons_value *plan_data, const pons_plan *p,
                                     const pons_value *past_steps, const char *last_line);
int64_t pons__agent_plan_executed(const pons_plan *p); // steps that ran
// After a step: the next one begins, or the plan ends (why: the replanner's reason, or NULL to go
// on as long as there are steps). Adds plan_data, messages, current_step_index and replan_action to
// an update of the outer graph.
void pons__agent_plan_go_on(pons_agent *a, pons_cx *cx, pons_value *pending,
                            const pons_value *plan_data, pons_plan *p, const pons_value *past_steps,
                            const char *finish_why, pons_value *update);

// Small things (plans.c, agent.c).
pons_value *pons__agent_put_in(const pons_value *old, const char *key,
                               pons_value *v); // a copy; takes v
pons_value *pons__agent_cut(const char *text,
                            size_t chars); // a string value of at most so many characters
// Emits an event with the step, and notes it in a list for pending_events (may be NULL). Takes
// payload.
void pons__agent_emit(pons_agent *a, pons_cx *cx, pons_value *pending, const char *type,
                      pons_value *payload);
const char *pons__agent_prompt(const pons_agent *a, const char *which);
extern const char pons__prompt_agent[], pons__prompt_executor[], pons__prompt_replanner[];

#endif
