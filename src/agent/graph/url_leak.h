// url_leak.h - whether an address of the web can carry out what a model has read.
#pragma once

#include "agent/tool_registry.h"
#include "pons/value.h"

// Whether a call's address is one that a model made after it had read something: neither a person's words nor
// what was read have it. conversation, turn: lists of messages, the loop's own last; NULL: none.
bool pons__address_made(const pons__registry *tools, bool executor, const pons_value *conversation,
                        const pons_value *turn, const char *call_id, const char *url);
