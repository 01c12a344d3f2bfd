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

#include <stdlib.h>

static const pons_policy_ops rules_ops = {.parse = pons__policy_parse,
                                          .decide = pons__policy_decide};

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
        pons__intents_destroy(own->with);
        pons_value_unref(own->skills);
        free(own);
        *p = (pons_policy){0};
    }
}

// ---- the registry's words -----------------------------------------------------------------------

// The phrases of one skill as entries of the document.
static void add_phrases(pons_value *entries, const pons_value *skill)
{
    size_t i;
    pons_value *phrase;
    json_array_foreach((pons_value *)pons_get(skill, "phrases"), i, phrase)
    {
        const pons_value *args = pons_get(phrase, "args"), *say = pons_get(phrase, "say");
        if (json_is_array(say)) {
            json_array_append_new(entries,
                                  pons_object("intent", json_string("do"), "skill",
                                              pons_value_ref(pons_get(skill, "name")), "args",
                                              args ? pons_value_ref(args) : json_object(),
                                              "patterns", pons_value_ref(say), NULL));
        }
    }
}

const pons__intents *pons__rules_for(pons__rules *p, const pons_value *world)
{
    const pons_value *skills = pons_get(world, "skills");
    if (!skills || (p->skills && json_equal((pons_value *)skills, (pons_value *)p->skills))) {
        return skills && p->with ? p->with : p->base;
    }
    pons__intents_destroy(p->with);
    pons_value_unref(p->skills);
    p->with = NULL;
    p->skills = pons_value_ref(skills);
    pons_value *doc = json_copy(p->base->doc);
    pons_value *entries = json_copy((pons_value *)pons_get(doc, "intents"));
    size_t i;
    pons_value *skill;
    json_array_foreach((pons_value *)skills, i, skill)
    {
        add_phrases(entries, skill);
    }
    pons_error ignored = PONS_ERROR_INIT; // a body whose words are none: its skills have names
    if (doc && entries && json_object_set_new(doc, "intents", entries) == 0) {
        pons__intents_load(doc, &p->with, &ignored);
    }
    pons_value_unref(doc);
    return p->with ? p->with : p->base;
}
