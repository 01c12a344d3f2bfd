// session_lookup.h - what the store says of sessions: which one asks, and where its turn began.
#pragma once

#include "pons/agent.h"
#include "pons/buf.h"

// Whether a question of pons_agent_questions has this plan_id or request_id.
bool pons__chat_is(const pons_value *question, const char *id);
// The session whose newest events ask this. PONS_ENOTFOUND.
int pons__chat_find(pons_store store, const char *question, char ret[PONS_NAME_MAX],
                    pons_error *err);
typedef struct pons__ends { // of a session's turns
    int64_t newest,
        before; // the number of the newest end (0: none), and that of the event before it
    int64_t n;  // ends after a number
} pons__ends;
int pons__chat_ends(pons_store store, const char *session, int64_t after, pons__ends *ret,
                    pons_error *err);
// What was said before, [{role, content}], as words for a session that was not there. Nothing when nothing was said.
void pons__chat_past(const pons_value *said, pons_buf *ret);
