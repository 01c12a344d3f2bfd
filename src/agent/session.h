// session.h - the agent's one object. One loop thread owns everything. What must survive is in
// channels, awaits and the effect ledger; what is here can be thrown away at any instruction.
#pragma once

#include "agent/config.h"
#include "agent/tool_registry.h"
#include "pons/agent.h"

#define PONS__AGENT "agent" // this module in errors

struct pons__flight;

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
    char *place; // of calls, or NULL
    char
        *pictures_to; // the server that pictures go to after a person's yes; NULL: no yes is needed
    char *cameras;    // whose pictures a middleware adds, for that question; or NULL
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
    struct pons__flight *flights;
    int64_t window;         // tokens that the model takes, as its server says; 0: not known
    uint64_t window_call;   // the question that asks for it; 0: none is out
    bool window_asked;      // once a life
    int64_t prompt_tokens;  // of the newest request that was counted
    double bytes_per_token; // of the same; 0: not known
    // What the loop's node has just made, for the handler that follows it: {ns, turn}. After a
    // restart the handler reads it from the store.
    char draft_ns[PONS_NAME_MAX];
    pons_value *draft;
    pons_value *state;  // between turns: the channels as they are in the store
    bool inbox_due;     // another process may have answered
    int64_t inbox_seen; // the newest answer looked at
    pons_agent_outcome outcome;
};

const char *pons__agent_prompt(const pons_agent *a, const char *which); // prompts.c
// The same with what is known of the surroundings behind it; the caller's to free.
char *pons__agent_system(const pons_agent *a, const char *which);
