// model_request.h - what a model is sent, and how much of it fits.
#pragma once

#include "agent/session.h"

// The whole request (ext/llm.h) for what a node awaits: {node, ns, call_id, complaint?, closing?,
// squeeze?, summary? {text, upto}, upto?, situation?}.
pons_value *pons__model_request(pons_agent *a, pons_run *run, const pons_value *request);
// Learns from an answer how many bytes a token has.
void pons__model_measure(pons_agent *a, const pons_value *request, const pons_value *reply);
// What the server's list of models says of ours.
void pons__model_window(pons_agent *a, const pons_llm_event *ev);
int64_t pons__model_tokens(const pons_agent *a); // of its window; 0: not known
double pons__model_bytes(const pons_agent *a);   // that a token has
uint64_t pons__next_call(void);                  // a number for a provider's call
// Whether a conversation fills so much of the window that it should be summed up.
bool pons__model_crowded(const pons_agent *a, const pons_value *messages);
// The messages that stand for what was summed up.
pons_value *pons__summary_messages(const char *text);
bool pons__summary_is(const pons_value *message); // the first of them
