// session_lookup.h - what the store says of sessions: which one asks, and where its turn began.
#pragma once

#include "pons/agent.h"

// Whether a question of pons_agent_questions has this plan_id or request_id.
bool pons__chat_is(const pons_value *question, const char *id);
// The session whose newest events ask this. PONS_ENOTFOUND.
int pons__chat_find(pons_store store, const char *question, char ret[PONS_NAME_MAX],
                    pons_error *err);
// The number of the last event before the turn that is under way began; over: of the last one's end,
// so that only that end comes behind it.
int pons__chat_turn(pons_store store, const char *session, bool over, int64_t *ret,
                    pons_error *err);
// The number of a session's newest end of a turn (0: none), and how many there are after a number.
int pons__chat_ends(pons_store store, const char *session, int64_t after, int64_t *ret_newest,
                    int64_t *ret_n, pons_error *err);
