// run_begin.h - how a run begins, or goes on after its server's death.
#pragma once

#include "serve/runs/internal.h"

// In a run's own checkpoints: which run of the host's they are of. The engine has numbers of its own.
#define PONS__RUN_MEMBER "api_run"
// In a thread's metadata: the config of its newest run.
#define PONS__THREAD_CONFIG "api_config"

typedef struct pons__past { // what a thread's log says of a run
    int started;            // how often it was begun
    bool ended;
    pons__job_state state; // of an ended one
    pons_value *error;     // the caller's; or NULL
} pons__past;

int pons__job_past(pons_store store, const pons__job *j, pons__past *ret, pons_error *err);
// *ret stays NULL for a run that has nothing left to do. again: its log says that it was begun.
int pons__job_begin(const pons_serve_options *o, const pons__job *j, const pons_serve_graph *g,
                    pons_thread *t, bool again, pons_cancel *cancel, pons_run **ret,
                    pons_error *err);
