// chat.h - the agent's chat: words in, events out, and a person's answers.
#ifndef PONS_SERVE_CHAT_CHAT_H
#define PONS_SERVE_CHAT_CHAT_H

#include "serve/door/route.h"

extern const pons__route pons__chat_routes[];         // chat, approvals
extern const pons__route pons__graph_config_routes[]; // its configuration

#endif
