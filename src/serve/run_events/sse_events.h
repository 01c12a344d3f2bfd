// sse_events.h - the log of a run as LangGraph's server-sent events.
#pragma once

#include "pons/buf.h"
#include "pons/graph.h"
#include "serve/run_events/astream_events.h"

typedef struct pons__speaker { // the caller's storage; made zero
    const char *root;          // the graph's namespace; NULL: any
    char run[40];              // only this run's events; "": of every run
    uint32_t modes;            // PONS_STREAM_…
    bool tuple, full;          // of messages: as `messages`, as `messages/partial` and its kin
    bool events;               // as LangChain's callbacks tell it
    bool subgraphs;
    pons_value *input; // of the run, for `events`; taken, may be NULL
    int64_t skip_seq;  // what has been said: nothing up to there is said again
    int skip_sub;
    // its own
    bool inside; // between a start and an end that are wanted
    char run_now[40];
    char *values; // the newest, as text
    pons__callbacks callbacks;
    pons_buf *out;     // while an event is said
    pons_value *whole; // {message id: what came of it so far}
    int sub;           // of the event that is being said
    int64_t seq;
} pons__speaker;

void pons__speaker_fini(pons__speaker *s);
// The words of `stream_mode`, a mode, a list of them, or a list as text; NULL: values.
void pons__speaker_modes(pons__speaker *s, const pons_value *modes);
// "12" or "12-1": the last event that a client has. False: it is none. "-1": all.
bool pons__speaker_place(pons__speaker *s, const char *last_event_id);
// Appends what this event of the log says. True: it was the end of the run that is spoken of.
bool pons__speak(pons__speaker *s, const pons_event_row *row, pons_buf *out);
