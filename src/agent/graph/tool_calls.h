// tool_calls.h - tool calls of one reply: vetted, asked about, run, settled.
#pragma once

#include "agent/session.h"

#define PONS__PARALLEL_MAX 8  // read-only calls at once
#define PONS__CALLS_MAX    64 // tool calls of one reply

// One tool call of a reply: {id, name, arguments, motivation, state, …}.
// Vets the next batch: what may run, what is refused and why, what a person is asked. Returns the
// list, a new reference; takes calls.
int pons__calls_vet(pons__role *role, pons_cx *cx, pons_value *calls, pons_value **ret,
                    pons_error *err);
// Runs the batch that was vetted. PONS_OK: *ret_calls is the list after it, *ret_messages the tool
// messages. PONS_EPARKED.
int pons__calls_run(pons__role *role, pons_cx *cx, const pons_value *calls, pons_value **ret_calls,
                    pons_value **ret_messages, pons_error *err);
bool pons__calls_pending(const pons_value *calls);

// How the result of a call begins that a person has refused.
#define PONS__REFUSED_BY_PERSON "a person refused this call"
