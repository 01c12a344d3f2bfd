// decision_judge.h - what is held against a decision (decision_judge.c).
#pragma once

#include "brain/react/nodes.h"

typedef struct pons__judgement {
    pons_value *rules; // owned: what is broken
    bool asks;         // a person must agree first
    bool unmet;        // it would end a task with a goal that is not met
} pons__judgement;

void pons__judge(pons__turn *t, pons__judgement *j);
// A yes from before an outcome became unknown was said without it in view: a rule.
void pons__judge_yes(const pons__turn *t, pons_value *rules);
// A place that was reached and left since is a goal again.
void pons__judge_reopen_last(const pons__turn *t);
