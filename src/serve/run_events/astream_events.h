// astream_events.h - the log of a run as LangChain's callbacks tell it (stream_mode `events`).
#pragma once

#include "pons/value.h"

// What is made into them, beside the newest values.
#define PONS__CALLBACK_MODES (PONS_STREAM_TASKS | PONS_STREAM_MESSAGES | PONS_STREAM_CUSTOM)

typedef struct pons__callbacks { // the caller's storage; made zero
    // Takes an event's value: {event, name, run_id, parent_ids, tags, metadata, data}.
    void (*say)(void *user, pons_value *event);
    void *user;
    pons_value *input; // the run's, taken; may be NULL
    // its own
    char run[40], graph[64];
    pons_value *tasks;  // {task's id: its own start}
    pons_value *tools;  // {name: [id]} of tools at work, oldest first
    pons_value *models; // {message's id: {start, whole, task}} of models that speak
} pons__callbacks;

void pons__callbacks_fini(pons__callbacks *c);
void pons__callbacks_started(pons__callbacks *c, const pons_value *started);
// mode: the word of an event stream.MODE; ns: below the graph's own.
void pons__callbacks_streamed(pons__callbacks *c, const char *mode, const char *ns,
                              const pons_value *payload);
// values: the newest, NULL: none were told. failed: then nothing ends, as in LangChain.
void pons__callbacks_ended(pons__callbacks *c, const pons_value *values, bool failed);
