// skill_phrases.c - what the skills' registry says that people call each skill by, as patterns beside those of
// config/intents.yaml.
//
// A body brings its registry in its hello, and it stays the same while the body lives. Its phrases are
// compiled when the first words are held against it, and again when it has changed; the document is
// not compiled again for them, nor is a phrase that is no pattern a reason to lose the others: a skill
// can always be called by its name. One that needs no arguments is called by its name alone ("undock").
//
//     a body's hello: skills[].phrases[].say --> phrase_patterns.c: a set of its own --> intent_parse.c tries the
//     document's set first, and then this one
//
// A registry is what another process says, and a short pattern may stand for many: what is more than
// people could need is left out.
#include "intents/intent_file.h"

#define FLAT_MAX    16384 // patterns of all skills, multiplied out
#define REFUSED_MAX 64    // phrases that are no patterns

typedef struct reading {
    pons__patterns *to;
    size_t refused;
    pons_error *err;
} reading;

// One that is no pattern is not said.
static int add_pattern(reading *in, const pons__meaning *means, const pons_value *say)
{
    pons_error why = PONS_ERROR_INIT;
    if (in->to->n >= FLAT_MAX || in->refused >= REFUSED_MAX) {
        return PONS_OK;
    }
    const int rc = pons__patterns_add(in->to, means, say, "phrases", &why);
    if (rc == PONS_ENOMEM) {
        return pons_error_set(in->err, rc, "rules", "no memory for what skills are called");
    }
    in->refused += rc != PONS_OK;
    return PONS_OK;
}

// Its name alone, where it can be called so.
static int add_name(reading *in, const pons_value *skill)
{
    const pons_value *schema = pons_get(skill, "args_schema"), *name = pons_get(skill, "name");
    if (json_array_size(pons_get(schema, "required")) > 0 || pons_get(schema, "oneOf") ||
        pons_get_int(schema, "minProperties", 0) > 0) {
        return PONS_OK;
    }
    return add_pattern(in, &(pons__meaning){.intent = INTENT_DO, .skill = name}, name);
}

static int add_phrase(reading *in, const pons_value *skill, const pons_value *phrase)
{
    const pons__meaning means = {
        .intent = INTENT_DO, .skill = pons_get(skill, "name"), .args = pons_get(phrase, "args")};
    int rc = PONS_OK;
    size_t i;
    pons_value *say;
    json_array_foreach((pons_value *)pons_get(phrase, "say"), i, say) {
        rc = rc == PONS_OK ? add_pattern(in, &means, say) : rc;
    }
    return rc;
}

static int add_skill(reading *in, const pons_value *skill)
{
    int rc = PONS_OK;
    pons_each(phrase, pons_get(skill, "phrases")) {
        rc = rc == PONS_OK ? add_phrase(in, skill, phrase) : rc;
    }
    return rc == PONS_OK ? add_name(in, skill) : rc;
}

int pons__phrases_for(pons__rules *p, const pons_value *world, const pons__patterns **ret,
                      pons_error *err)
{
    const pons_value *skills = pons_get(world, "skills");
    *ret = NULL;
    if (!skills) {
        return PONS_OK;
    }
    int rc = PONS_OK;
    if (!p->skills || !json_equal((pons_value *)skills, (pons_value *)p->skills)) {
        reading in = {.to = &p->phrases, .err = err};
        pons_value_unref(p->skills);
        pons__patterns_fini(&p->phrases);
        p->skills = pons_value_ref(skills);
        pons_each(skill, skills) {
            rc = rc == PONS_OK ? add_skill(&in, skill) : rc;
        }
        rc = rc == PONS_OK ? pons__patterns_index(&p->phrases, err) : rc;
    }
    if (rc != PONS_OK) { // half a set is none: the next words try again
        pons__patterns_fini(&p->phrases);
        pons_value_unref(p->skills);
        p->skills = NULL;
        return rc;
    }
    *ret = &p->phrases;
    return PONS_OK;
}
