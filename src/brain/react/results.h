// results.h - what a goal's end does to the state (results.c).
#pragma once

#include "brain/react/nodes.h"

// What has ended stays as it ended: in a fork the effect may have gone on in the branch that it comes
// from, and a person may have refused it. Takes result.
int pons__settle(pons_cx *cx, const char *id, pons_effect_state to, pons_value *result,
                 pons_error *err);
// An end, or a refusal, of an operation of this step (taken): all of them are told in the next observation, and the one
// that matters most is its last_result.
void pons__result_note(pons__turn *t, pons__result *last);
// One goal has ended: the ledger, what runs, the last result, the task's goals, the counters.
int pons__settle_result(pons__turn *t, const pons_value *result, pons_error *err);
