// prompts.h - the built-in prompts.
#pragma once

#include "pons/buf.h"
#include "pons/value.h"

// "The user said: …": the newest words of a conversation, for whoever does not see it; long ones are cut.
void pons__agent_users_words(pons_buf *into, const pons_value *messages);

extern const char pons__prompt_agent[], pons__prompt_executor[], pons__prompt_replanner[];
