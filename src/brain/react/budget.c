// budget.c - what asking a model costs a task: counted, kept with it, and limited (config/kernel.yaml, `model`).
//
// Nothing resets it; when it is used up recovery asks a person, who grants as much again. Where the rules decide
// for the task it is no matter, as long as they can.
#include "brain/recovery/recovery.h"
#include "brain/tasks/tasks.h"

void pons__budget_spend(pons_brain *b, pons__react *r, int64_t tokens)
{
    if (!r->task) {
        return;
    }
    if (!r->task->spent) {
        r->task->spent = pons__record_new(&pons__spent_record);
        r->task->spent->calls_max = b->rules.model_calls_max;
        r->task->spent->tokens_max = b->rules.model_tokens_max;
    }
    r->task->spent->calls++;
    r->task->spent->tokens += tokens;
}

bool pons__budget_over(const pons__react *r)
{
    const pons__spent *s = r->task ? r->task->spent : NULL;
    const bool rules = r->task && r->task->recovery && r->task->recovery->rules_decide;
    return r->model_tries > 0 && s && !(rules && pons__rules_understand(r->task)) &&
           ((s->calls_max > 0 && s->calls >= s->calls_max) ||
            (s->tokens_max > 0 && s->tokens >= s->tokens_max));
}
