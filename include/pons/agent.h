// agent.h - the planning agent: a graph that answers, plans, asks, acts and sums up.
//
//              +----------------------------------------+
//              v                                        |
//   START -> agent -respond-> END                       |
//              | plan_create                            |
//              v                                        |
//          plan_gate --approval on--> approval -reject->+ (told why)
//              | off                     | approve, edit|
//              v                         v              |
//           executor <------------------+               |
//              |  ^ continue, revise                    |
//              v  |                                     |
//          replanner -finish-> summarizer --------------+
//
// agent and executor are ReAct loops: a model call, its tool calls, another model call. Each call
// is an await; a tool that changes something goes through the effect ledger, so it is started once
// whatever dies when. One pons_agent is one thread of the store (a session); one turn is one run of
// the graph in the namespace PONS_AGENT_NS. The caller drives it: pons_agent_poll, never blocks.
//
// Events: token llm_start llm_end tool_start tool_end plan_created plan_updated plan_revised
// plan_approval_request plan_approval_resolved approval_request phase error done (docs/reference/agent.md has
// their payloads). Threads: all functions on one pons_agent belong to one loop thread.
#pragma once

#include "pons/critic.h"
#include "pons/ext/llm.h"
#include "pons/ext/tool.h"
#include "pons/graph.h"
#include "pons/items.h"
#include "pons/link.h"
#include "pons/linkage.h"
#include "pons/yaml.h"

#include <poll.h>

PONS_C_BEGIN

#define PONS_AGENT_NS "agent"

// ---- configuration ------------------------------------------------------------------------------

// graph_config.yaml with the defaults merged in. Immutable; outlives the agents made with it.
typedef struct pons_agent_config pons_agent_config;

// path NULL: the defaults. Faults (bad YAML, an unknown key, a wrong type) are PONS_EINVAL with
// file:line:col as the source.
int pons_agent_config_load(const char *path, pons_agent_config **ret, pons_error *err);
// The same from a text; name is what messages call it.
int pons_agent_config_parse(const char *text, size_t len, const char *name, pons_agent_config **ret,
                            pons_error *err);
void pons_agent_config_destroy(pons_agent_config *c);                  // NULL-safe
const pons_value *pons_agent_config_value(const pons_agent_config *c); // every key; borrowed
// Whether each tool that it names is one of these providers': as pons_agent_open does it. PONS_EINVAL with the position
// of the name. tools: (n) as in pons_agent_options.
int pons_agent_config_check(const pons_agent_config *c, const pons_tools *tools, size_t n,
                            pons_error *err);
// The graph that a configuration gives, for drawings; its nodes never run. NULL: the defaults.
int pons_agent_graph(const pons_agent_config *c, pons_graph **ret, pons_error *err);

// ---- middleware ---------------------------------------------------------------------------------

// A model or tool call on its way. Middlewares stand around it in order: `before` of the first is
// called first, its `after` last. Loop thread; never blocks.
typedef struct pons_agent_call {
    bool model;             // else a tool
    const char *node;       // "agent", "executor", "replanner"
    const char *name;       // the tool's, or the model's
    const char *id;         // of this call, the same after a restart
    int64_t now_ms;         // host clock
    const pons_value *tool; // a tool's registry item (ext/tool.h), or NULL
} pons_agent_call;

typedef struct pons_agent_middleware {
    const char *name;
    // May replace *request (a model's request, or a tool's arguments) by a new value of its own
    // (the old one is unreferenced), and may put the call off: *ret_wait_ms > 0 and `before` of all
    // is asked again then. PONS_OK, or an error, which is the call's answer. May be NULL.
    int (*before)(void *user, const pons_agent_call *call, pons_value **request,
                  int64_t *ret_wait_ms, pons_error *err);
    // May replace *answer: a model's reply, or {output, …} of a tool; {error: line} of either. May
    // be NULL.
    void (*after)(void *user, const pons_agent_call *call, pons_value **answer);
    // May replace a text on its way into an event; NULL: it stays. The caller frees what it
    // returns.
    char *(*shown)(void *user, const char *text);
    void (*close)(void *user); // or NULL
    void *user;
} pons_agent_middleware;

// A configured one: "debug", "timing", "rate_limit", "redact" (docs/reference/agent.md has their options).
// PONS_ENOTFOUND for another name, PONS_EINVAL for a bad option.
int pons_agent_middleware_open(const char *name, const pons_value *options, const pons_clock *clock,
                               pons_agent_middleware *ret, pons_error *err);

// ---- the agent ----------------------------------------------------------------------------------

// Holds a call of a robot's tool (step NULL), or a step of a plan, against the critic. The verdict
// is the caller's. PONS_ENOTFOUND: there is nothing to judge it by (no such skill).
typedef int (*pons_agent_judge_fn)(void *user, const char *tool, const pons_value *args,
                                   const pons_plan_step *step, pons_verdict **ret, pons_error *err);

typedef struct pons_agent_options {
    pons_store store;
    const char *thread; // the session
    pons_clock clock;
    uint64_t seed;                   // of ids; 0: from the system
    const pons_agent_config *config; // NULL: the defaults
    const pons_llm *llm;             // NULL: a turn ends with an error that says so
    const char *model;               // its name in events; NULL: what the provider says
    bool model_first;        // a person chose it: it stands before those of the configuration
    const pons_tools *tools; // (n_tools) providers, in order; a name belongs to the first
    size_t n_tools;
    const pons_value *prompts; // {agent, executor, replanner}: texts in place of the built-in ones
    const pons_agent_middleware *middleware; // (n_middleware), outside of the configured ones
    size_t n_middleware;
    pons_agent_judge_fn judge; // NULL: no critic
    void *judge_user;
    // The value of a name in a step's precondition or query_world (pons_plan_look_in has the form);
    // PONS_ENOTFOUND. NULL: nothing is known, and a precondition refuses its step.
    int (*look)(void *user, const char *name, pons_value **ret, pons_error *err);
    void *look_user;
    // What a model should know of here and now (the date, the place, the folder), a text that is put
    // behind each prompt: the agent's once a turn, the others' at each request. Malloced; NULL: nothing.
    // Loop thread; never blocks. May be NULL.
    char *(*about)(void *user);
    void *about_user;
    // Where its calls act (the working folder): what a person allows for good holds there alone, and in a
    // session without a place only there. NULL: none.
    const char *place;
    // The server that gets this thread's pictures once a person has said yes (pons_llm_pictures_need_consent); copied. NULL: no
    // yes is needed.
    const char *pictures_to;
    // What a middleware will show of the robot's surroundings, for the question whether pictures may go: "camera front";
    // copied. NULL or "": nothing.
    const char *cameras;
    pons_event_cb on_event; // of all namespaces of the thread; may be NULL
    void *user;
    // Only to look at the questions and to answer them: no model, no tools, nothing is polled.
    bool offline;
} pons_agent_options;

typedef struct pons_agent pons_agent;

typedef enum pons_agent_state {
    PONS_AGENT_IDLE,    // no turn is under way
    PONS_AGENT_WORKING, // waits for models and tools, or has something to do
    PONS_AGENT_WAITING  // waits for a person
} pons_agent_state;

typedef enum pons_agent_outcome { // of the newest turn
    PONS_AGENT_NONE,
    PONS_AGENT_SUCCEEDED,
    PONS_AGENT_FAILED,
    PONS_AGENT_STOPPED
} pons_agent_outcome;

// Takes the thread's lease (PONS_EBUSY) and goes on with a turn that was cut short. Options'
// pointers but store, llm and tools are copied; a tool that the configuration names and nobody has
// is PONS_EINVAL with its position.
int pons_agent_open(const pons_agent_options *opts, pons_agent **ret, pons_error *err);
// Releases everything; an unfinished turn can be gone on with later. NULL-safe.
void pons_agent_close(pons_agent *a);

// Begins a turn: the words are committed before this returns. PONS_EBUSY while one is WORKING; one
// that waits for a person is given up (its plan is cancelled) and the new words take its place.
int pons_agent_say(pons_agent *a, const char *text, pons_error *err);
// The same with pictures: [{sha256, caption}] as ext/llm.h has them, or NULL; referenced.
int pons_agent_say_with_pictures(pons_agent *a, const char *text, const pons_value *pictures,
                                 pons_error *err);
// Begins a turn that carries out a plan of a person's, as a model's is carried out: a step that names a tool is its call,
// with its risk, a person's yes and the ledger. No model is asked, and none is needed: a failed step ends the plan, and
// `done` says what it came to. A plan that wants to be confirmed asks before its first step. The plan is copied. PONS_EENV:
// a step names a tool that is not here; PONS_EINVAL: a step is under way; PONS_EUNSUPPORTED: the planner is switched off
// (graph.nodes.planner.enabled); PONS_EBUSY as pons_agent_say.
int pons_agent_plan(pons_agent *a, const pons_plan *plan, pons_error *err);
// Whether such a turn is under way in a thread of a store, without opening it.
bool pons_agent_plan_is_given(pons_store store, const char *thread);
// Ends the turn here and now, and keeps what was said: unfinished calls are canceled and noted so.
int pons_agent_stop(pons_agent *a, pons_error *err);
// A turn without words: what was said so far gives way to notes that the model makes of it (`done` has
// them as its content). pons_agent_say does that by itself when a conversation fills three quarters of
// the model's window. PONS_EBUSY while a turn is under way, PONS_ENOTFOUND: nothing was said yet.
int pons_agent_compact(pons_agent *a, pons_error *err);
// How much room there is: {context_tokens, prompt_tokens, conversation_tokens, model_calls,
// model_calls_max}. context_tokens: the model's window (settings.context_tokens, or what its server
// says), null: not known; prompt_tokens: of the newest request, as the server counted, null: it did
// not; conversation_tokens: an estimate; model_calls: of this turn. New reference.
pons_value *pons_agent_budget(const pons_agent *a);
// A dangerous call whose arguments or preview have more bytes is refused: what is asked can be shown
// whole.
#define PONS_AGENT_QUESTION_MAX 16384
// A person's answer: {action: "approve" | "edit" | "reject", reason?, args?, steps?, title?,
// always?, answer?}. always, with approve: this is not asked again in this session and place, for these
// arguments ("call", true) or whatever they are ("tool", not of commands). id NULL: to the one question
// that is open. PONS_ENOTPENDING; PONS_EINVAL for an edit that pons_agent_answer_check refuses and
// PONS_ETIMEOUT for a yes that comes too late: the question stays as it was.
int pons_agent_answer(pons_agent *a, const char *id, const pons_value *answer, pons_error *err);
// Whether answer is one that question (of pons_agent_questions) can have: an edit of a plan has
// steps or a title and nothing else, one of a call has the arguments as an object, and a
// confirmation has nothing to edit. PONS_EINVAL with what is wrong. Any thread.
int pons_agent_answer_check(const pons_value *question, const pons_value *answer, pons_error *err);
// The open questions: [{id, request_id, type: "plan_approval" | "tool_approval" |
// "step_confirmation" | "question", …}]; of a call also preview? {kind: "command" | "diff" | …, text}.
// New reference.
pons_value *pons_agent_questions(const pons_agent *a);

// What a session has been allowed for good: [{id, tool, input?, place?, at_ms}], input: for these
// arguments alone. The caller's. Whether the session runs or not; any thread.
int pons_agent_allowed(pons_store store, const char *thread, pons_value **ret, pons_error *err);
// Takes one of them back: from the next call on it is asked about. PONS_ENOTFOUND.
int pons_agent_revoke(pons_store store, const char *thread, const char *id, pons_error *err);

// Does what there is to do and returns: 1 when something was done, 0, or an error of the engine
// (the store, the lease). A turn that fails is an outcome, not an error.
int pons_agent_poll(pons_agent *a, pons_error *err);
int64_t pons_agent_next_due_ns(pons_agent *a); // host clock; INT64_MAX: nothing is timed
size_t pons_agent_fds(pons_agent *a, struct pollfd *fds, size_t cap);
// Something was posted to the thread's inbox by another process: look now.
void pons_agent_wake(pons_agent *a);

pons_agent_state pons_agent_state_get(const pons_agent *a);
pons_agent_outcome pons_agent_outcome_get(const pons_agent *a);
// The conversation so far: [{id, role, content, tool_calls?, tool_call_id?}]. Borrowed until the
// next poll; NULL: none.
const pons_value *pons_agent_messages(const pons_agent *a);
const pons_value *pons_agent_get(const pons_agent *a,
                                 const char *channel); // of the state; borrowed

// Whether a thread of a store is an agent's, without opening it.
bool pons_agent_thread_is(pons_store store, const char *thread);

// ---- robot tools --------------------------------------------------------------------------------

// One tool for each skill in the body's registry (category "robot"), and query_world. A call is a
// goal on the body's link: its key is the goal's id, so the body's ledger sees to it that it moves
// once. One controller at a time: while another has the body, calls fail and say so.
typedef struct pons_robot_tools_options {
    pons_clock clock;
    // Connects to the body (pons_link_connect); PONS_ENOTFOUND, PONS_ECLOSED: none is there.
    int (*connect)(void *user, pons_link **ret, pons_error *err);
    void *user;
    const char *name;          // of this controller in the body's messages; NULL: "pons agent"
    const char *thread;        // in goals; NULL: ""
    const pons_value *policy;  // the critic's (schemas/critic-policy.json), or NULL
    int64_t accept_timeout_ms; // host time for the body to take a goal; 0: 10 s
    bool look_only;            // query_world alone: somebody else has the body
    // What was seen (pons/object_memory.h): where_is and what_is_in are there with it. objects: the namespace; NULL: none.
    // Both are copied; the store outlives the tools.
    pons_items items;
    const char *objects;
} pons_robot_tools_options;

int pons_robot_tools_open(const pons_robot_tools_options *opts, pons_tools *ret, pons_error *err);
void pons_robot_tools_close(pons_tools *t); // NULL-safe, also for another provider's
// A pons_agent_judge_fn; user is the pons_tools' self.
int pons_robot_tools_judge(void *self, const char *tool, const pons_value *args,
                           const pons_plan_step *step, pons_verdict **ret, pons_error *err);
// {connected, robot, world}: what query_world says; new reference.
pons_value *pons_robot_tools_status(void *self);
// An agent's look; user is the pons_tools' self. robot's members, bare and under "robot"; the world's
// under "world": as the brain has them.
int pons_robot_tools_look(void *self, const char *name, pons_value **ret, pons_error *err);

// ---- memory tools -------------------------------------------------------------------------------

// save_memory, search_memory and forget_memory over the items of a store (pons/items.h): what one
// session keeps, every other one finds. A call is done once whatever dies when; calls that changed
// something are in the log for 30 days, with what stood there before.
#define PONS_AGENT_MEMORIES   "agent.memories"
#define PONS_AGENT_MEMORY_LOG "agent.memory_log"

typedef struct pons_memory_tools_options {
    pons_store store; // outlives the tools
    pons_clock clock;
    const char *session; // said in memories; NULL: ""
} pons_memory_tools_options;

// Closed by its ops, as every provider. Blocks no longer than the store's reads and writes do.
int pons_memory_tools_open(const pons_memory_tools_options *opts, pons_tools *ret, pons_error *err);

PONS_C_END
