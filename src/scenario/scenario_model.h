// scenario_model.h - the model of a story, as the brain sees it: it can be lost, and come back.
#pragma once

#include "pons/ext/llm.h"
#include "pons/ext/policy.h"

#define PONS__MODEL_CALLS 8 // that may wait for their time

typedef enum pons__model_state {
    PONS__MODEL_THERE,
    PONS__MODEL_AWAY,  // refuses each call, as a server that is down
    PONS__MODEL_SILENT // takes calls and never answers: they end by a time-out
} pons__model_state;

typedef struct pons__model { // the caller's storage; one thread
    pons_llm inner; // the script; ops NULL: the rules' decisions, told as a model tells them
    pons_policy policy;
    pons_clock clock;
    pons__model_state state;
    struct {
        bool used;
        int64_t due_ns;
        pons_llm_event event;
    } waiting[PONS__MODEL_CALLS];
    pons_llm_ops ops;
} pons__model;

// script NULL: what the rules would decide comes over a model's wire, after a while.
int pons__model_open(pons__model *m, const pons_llm_ops *script, const pons_value *replies,
                     pons_policy policy, pons_clock clock, pons_error *err);
void pons__model_close(pons__model *m); // also one that was never opened
pons_llm pons__model_llm(pons__model *m);
