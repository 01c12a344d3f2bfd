// rules.c - the rule policy: what understands goals and decides without a model.
//
// It is the same node as the model's (R2), made of two pure halves over one compiled document:
//
//     config/intents.yaml --> intents.c: patterns
//                                |
//     a person's words ------> parse.c ---> goals        fold.c makes text comparable
//     an observation --------> decide.c --> a decision   by the error map of the skills
//
// The policy is the default, the fallback when the model is lost, and what tests compare a model
// against; so it must be dull: same input, same answer, no clock, no chance. Any thread, one at a
// time.
#include "policy/intents.h"
#include "pons/policy.h"

static const pons_policy_ops rules_ops = {.parse = pons__policy_parse,
                                          .decide = pons__policy_decide};

int pons_rules_open(const pons_value *intents, pons_policy *ret, pons_error *err)
{
    pons__intents *compiled = NULL;
    const int rc = pons__intents_load(intents, &compiled, err);
    if (rc == PONS_OK) {
        *ret = (pons_policy){.ops = &rules_ops, .self = compiled};
    }
    return rc;
}

void pons_rules_close(pons_policy *p)
{
    if (p && p->ops == &rules_ops) {
        pons__intents_destroy(p->self);
        *p = (pons_policy){0};
    }
}
