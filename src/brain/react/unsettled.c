// unsettled.c - what a person must settle: an end of which nobody knows what came of it, of a skill that
// `approval.ask_on_unknown` or the registry names (a cup is on the shelf, or on the floor).
//
//     R7 notes it --> R4 asks a person before anything of that task is sent --> R5: a yes settles it
//
// It stands in the channel `skills`, not in the activation: the body that died latches, the kernel takes over, and the
// task comes back in an activation that knows no result. Words and a stop go past it, and so does every other task.
#include "brain/react/unsettled.h"

#include "brain/goals/means.h"
#include "brain/guard.h"
#include "brain/self.h"

#include <string.h>

void pons__unsettled_note(pons__skills *skills, const pons__running *running,
                          const pons__result *last)
{
    pons__unsettled *u = pons__record_new(&pons__unsettled_record);
    pons__set_text(&u->task_id, running->task_id ? running->task_id : "");
    pons__set_text(&u->skill, last->skill);
    pons__set_text(&u->why, last->error_msg);
    pons__record_free(&pons__unsettled_record, skills->unsettled);
    skills->unsettled = u;
}

static bool waits(const pons_brain *b, const pons__react *react, const pons__skills *skills,
                  const char *skill)
{
    const pons__unsettled *u = skills->unsettled;
    return u && !react->preempt && react->task && strcmp(u->task_id, react->task->id) == 0 &&
           !pons__means_beside(b, skill) && strcmp(skill, pons__means_stop(b)) != 0;
}

void pons__unsettled_asks(const pons_brain *b, const pons__react *react, const pons__skills *skills,
                          const char *skill, pons_value *asks)
{
    if (waits(b, react, skills, skill)) {
        pons_autovalue says =
            json_sprintf("nobody knows what came of %s (%s): a person must say whether to go on",
                         skills->unsettled->skill, skills->unsettled->why);
        pons__broken_add(asks,
                         &(pons__broken){.rule = "unsettled", .message = json_string_value(says)});
    }
}

// Of operations the question has shown it; the rules, the ladder and a plan ask about it. What a model asks of its
// own has not.
void pons__unsettled_allowed(pons__turn *t)
{
    const pons__react *r = t->react;
    const pons__unsettled *u = t->skills->unsettled;
    const pons__list *ops = &r->proposed_ops->to_dispatch;
    bool shown = ops->n == 0 && r->source != PONS_SOURCE_LLM && u && r->task &&
                 strcmp(u->task_id, r->task->id) == 0;
    for (size_t i = 0; i < ops->n; i++) {
        const pons__op *op = ops->at[i];
        shown = shown || waits(t->b, r, t->skills, op->skill);
    }
    if (shown) {
        pons__record_free(&pons__unsettled_record, t->skills->unsettled);
        t->skills->unsettled = NULL;
        t->skills_changed = true;
    }
}
