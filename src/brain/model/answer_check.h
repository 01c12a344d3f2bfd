// answer_check.h - the check of what a model answers (answer_check.c).
#pragma once

#include "brain/records/await_fields.h"
#include "brain/state/self.h"

// PONS_EINVAL with the exact reason.
int pons__decision_parse(pons_brain *b, const pons__task *task, const char *content,
                         pons__decision **ret, pons_error *err);
// A model's answer as it is kept, borrowed from what was said: what is used of it, and no more than a decision may
// have.
pons__model_answer pons__decision_answer(const pons__model_answer *said, int64_t tokens);
