// pending_calls.h - the awaits' other end: calls of models and tools under way.
#pragma once

#include "agent/session.h"
#include "pons/buf.h"

#define PONS__SHOWN_MAX   2000 // characters of a tool's output in tool_end
#define PONS__MODEL_CALL  "llm"
#define PONS__TOOL_CALL   "tool"
#define PONS__CALL_ID_MAX 96

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
