// session_events.h - what a session with the agent does, told to the run that waits for it.
#pragma once

#include "serve/chat/session_threads.h"

typedef struct pons__reported { // what the client's thread has been shown of a session before
    int64_t seq;                // up to which of its events
    pons_value *ids;            // of whole messages, {id: true}
} pons__reported;

// Hears a turn of a session, to its end or to a question: the answer of the await. request: {thread,
// session, after}. Takes what was told.
pons__listener *pons__event_listener_create(pons_serve *s, const char *await,
                                            const pons_value *request, pons__reported reported);
