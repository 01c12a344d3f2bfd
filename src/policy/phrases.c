// phrases.c - what the skills' registry says that people call each skill by, as intents beside those of
// config/intents.yaml.
//
// A body brings its registry in its hello, and it stays the same while the body lives: document and
// phrases are compiled together when it is first seen, and again when it has changed.
#include "policy/intents.h"

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
