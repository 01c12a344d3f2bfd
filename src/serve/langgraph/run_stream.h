// run_stream.h - a reply that follows a run: its events as they come, or what it leaves at its end.
#pragma once

#include "serve/access/route.h"

typedef struct pons__lg_follow {
    const pons_value *run;     // as pons__runhost_run
    const pons_value *modes;   // NULL: those that the run was asked with
    const char *last_event_id; // NULL: everything
    bool cancel;               // a client that goes takes the run with it
} pons__lg_follow;

// Each ends the request.
int pons__lg_stream(pons__request *r, const pons__lg_follow *f);         // its events
int pons__lg_wait(pons__request *r, const pons_value *run, bool cancel); // its last values
// The events of whatever runs on the thread of the path, from now on or after the last one that the client has.
int pons__lg_stream_thread(pons__request *r, const pons_value *modes);
