// rule_policy.c - the rule policy: what understands goals and decides without a model.
//
// It is the same node as the model's (R2), made of two pure halves over one compiled document:
//
//     config/intents.yaml --> intent_file.c ----.
//     the skills' registry -> skill_phrases.c ----+--> phrase_patterns.c: flat lists
//                                |
//     a person's words ------> intent_parse.c ---> goals        normalize.c makes text comparable
//     an observation --------> decide_rules.c --> a decision   by the error map of the skills
//
// The policy is the default, the fallback when the model is lost, and what tests compare a model
// against; so it must be dull: same input, same answer, no clock, no chance. Any thread, one at a
// time.
#include "pons/rule_policy.h"

#include "intents/intent_file.h"

#include <stdlib.h>

static const pons_policy_ops rules_ops = {.parse = pons__policy_parse,
                                          .decide = pons__policy_decide,
                                          .when = pons__policy_when,
                                          .place = pons__policy_place,
                                          .pace = pons__policy_pace};

int pons_rules_open(const pons_value *intents, pons_policy *ret, pons_error *err)
{
    pons__rules *p = calloc(1, sizeof *p);
    if (!p) {
        return pons_error_set(err, PONS_ENOMEM, "rules", "no memory for the rules");
    }
    const int rc = pons__intents_load(intents, &p->base, err);
    if (rc != PONS_OK) {
        free(p);
        return rc;
    }
    *ret = (pons_policy){.ops = &rules_ops, .self = p};
    return PONS_OK;
}

void pons_rules_close(pons_policy *p)
{
    if (p && p->ops == &rules_ops) {
        pons__rules *own = p->self;
        pons__intents_destroy(own->base);
        pons__patterns_fini(&own->phrases);
        pons_value_unref(own->skills);
        free(own);
        *p = (pons_policy){0};
    }
}
