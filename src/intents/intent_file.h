// intent_file.h - what the files of the rule policy share.
#pragma once

#include "intents/lexicon.h"
#include "intents/normalize.h"
#include "intents/phrase_patterns.h"
#include "pons/ext/policy.h"

// ---- the compiled intents document (intent_file.c) ----------------------------------------------

// In the order of precedence when a sentence holds several.
typedef enum pons__control {
    CONTROL_STOP,
    CONTROL_CANCEL,
    CONTROL_PAUSE,
    CONTROL_RESET,
    CONTROL_CONTINUE,
    CONTROL_NO,
    CONTROL_YES,
    CONTROL_COUNT,
    CONTROL_NONE = -1
} pons__control;
const char *pons__control_word(pons__control control);

typedef struct pons__intents {
    pons_value *doc; // referenced
    pons__words leading, trailing, articles, hard, soft, joins, urgent, urgent_alone, anywhere;
    pons__lexicon lexicon;                    // of what no pattern has whole
    pons__words polite;                       // in `leading` and `trailing`, too
    pons__words negation, undone;             // before what is not wanted, and behind it
    pons__words corrections;                  // take back what was said before them
    pons__words everywhere, except, excepted; // all zones, and what stands around those left out
    pons__words beside_yes;                   // the document's: leave a yes what it is
    pons__words control[CONTROL_COUNT];
    pons__words units, moments;
    double *unit_s;   // (units.n)
    double *moment_s; // (moments.n)
    double wait_max_s;
    size_t goals_max;
    pons__patterns patterns;
    pons__words asking; // of a question
    struct pons__topic {
        pons__intent intent;
        pons__words words, with; // with: empty, or one of them too
        bool named;              // and a name, which it is about
    } *topics;
    size_t topics_n;
} pons__intents;

// PONS_EINVAL with the path of what is bad.
int pons__intents_load(const pons_value *doc, pons__intents **ret, pons_error *err);
void pons__intents_destroy(pons__intents *r); // NULL-safe

// ---- the policy (rule_policy.c) -----------------------------------------------------------------

// What people may say is the document's, and beside it what the skills' registry says for each skill
// (its `phrases`): a set of its own, compiled when words are first held against that registry.
typedef struct pons__rules {
    pons__intents *base;      // owned
    const pons_value *skills; // referenced; what `phrases` was compiled from
    pons__patterns phrases;
} pons__rules;
// skill_phrases.c. The phrases of this world's `skills`, which may be a registry: *ret is NULL when there
// are none. PONS_ENOMEM.
int pons__phrases_for(pons__rules *p, const pons_value *world, const pons__patterns **ret,
                      pons_error *err);

// ---- the two halves of the policy ---------------------------------------------------------------

int pons__policy_parse(void *self, const char *text, const pons_value *world, pons_value **ret,
                       pons_error *err); // intent_parse.c
// The same; *ret_unknown (may be NULL): bytes of a name that nobody knows, where that was the fault.
int pons__parse(pons__rules *rules, const char *text, const pons_value *world, pons_value **ret,
                size_t *ret_unknown, pons_error *err);
// Whether a text only tells of somebody, whatever the names in it are, and nothing in it is a wish (clause_reader.c).
bool pons__only_tells(const pons__intents *r, const char *text);
int pons__policy_decide(void *self, const pons_value *observation, pons_value **ret,
                        pons_error *err); // decide_rules.c
// watch_phrases.c: what is to be done when something is seen, as pons__policy_when has it; PONS_ENOTFOUND: nothing is.
int pons__watch_said(const char *text, pons_value **ret, pons_error *err);
int pons__policy_when(void *self, const char *text, pons_value **ret,
                      pons_error *err); // time_phrases.c
int pons__policy_place(void *self, const char *text, pons_value **ret,
                       pons_error *err); // place_phrases.c
int pons__policy_pace(void *self, const char *text, pons_value **ret,
                      pons_error *err); // speed_change.c
// Whether it is a statement of how fast it goes, which makes nothing faster or slower.
bool pons__pace_stated(const pons__intents *r, const pons__fold *f);
// "do SKILL {…}" as a goal. PONS_ENOTFOUND: it is not that; PONS_EINVAL: it is, and wrong (skill_call.c).
int pons__call_parse(const char *text, const pons_value *world, pons_value **ret, pons_error *err);
// The control word that a text is or holds as a wish, or CONTROL_NONE: how decide reads a person's
// answer.
pons__control pons__policy_control(const pons__intents *r, const char *text);
