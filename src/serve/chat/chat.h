// chat.h - the agent's chat: words in, events out, and a person's answers.
#pragma once

#include "serve/access/route.h"

extern const pons__route pons__chat_routes[];         // chat, approvals
extern const pons__route pons__graph_config_routes[]; // its configuration

// Whether words to the agent are a person's stop of the robot: it is told, or, where no body answers, the brain
// keeps it for the one that comes. *ret is what came of it, *ret_says what a person is told of that.
bool pons__chat_stops(const pons_serve *s, const char *text, int *ret, const char **ret_says,
                      pons_error *err);
