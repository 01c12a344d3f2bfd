// model_await.h - awaits of kind "llm": the model is asked (model_await.c).
#pragma once

#include "brain/state/self.h"

void pons__model_start(void *user, pons_run *run, const char *id, const pons_value *request,
                       bool restarted);
void pons__model_cancel(void *user, pons_run *run, const char *id);
// What the call under way has cost so far, as estimated; 0: there is none.
int64_t pons__call_tokens(const pons_brain *b);
int pons__model_poll(pons_brain *b, pons_error *err); // > 0: something came
