// conversation_match.h - which session a list of messages goes on with.
#pragma once

#include "pons/buf.h"
#include "serve/access/server.h"

#define PONS__OPENAI_MARK "/do "

typedef struct pons__conversation {
    char session[PONS_NAME_MAX];
    pons_buf words;       // what is said to the agent
    pons_value *pictures; // that go with them
    bool acts;            // they are marked as meant
    pons_value *said;     // what was said before and now, for the key of what comes next
} pons__conversation;

// Reads the messages of a request. PONS_EINVAL with what is wrong.
int pons__conversation_read(const pons_serve *s, const pons_value *body, pons__conversation *ret,
                            pons_error *err);
void pons__conversation_fini(pons__conversation *c); // zeroed is fine
// Marked words, before they are said: durable when it returns, so that they are meant once.
// PONS_EEXIST: they were said already, in this very place.
int pons__conversation_begin(const pons_serve *s, const pons__conversation *c, pons_error *err);
// The answer came: the next request that has it goes on in this session.
void pons__conversation_end(const pons_serve *s, const pons__conversation *c, const char *answer);
