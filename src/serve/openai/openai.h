// openai.h - the agent for programs that speak OpenAI's chat protocol.
#ifndef PONS_SERVE_OPENAI_OPENAI_H
#define PONS_SERVE_OPENAI_OPENAI_H

#include "serve/access/route.h"

extern const pons__route pons__openai_routes[];

#endif
