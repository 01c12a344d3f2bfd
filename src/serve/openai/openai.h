// openai.h - the agent for programs that speak OpenAI's chat protocol.
#pragma once

#include "serve/access/route.h"

extern const pons__route pons__openai_routes[];
