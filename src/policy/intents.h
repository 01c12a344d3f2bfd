// intents.h - what the files of the rule policy share.
#ifndef PONS_POLICY_INTENTS_H
#define PONS_POLICY_INTENTS_H

#include "pons/ext/policy.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// ---- folded text (fold.c) -----------------------------------------------------------------------

// Text made comparable: ASCII lower case, full-width forms narrowed, every white space and
// underscore one space, no space next to a CJK character, the quotes of all scripts '"', and
// sentence ends ';'. at[i] is the offset in the source of folded byte i; at[n] is the source's
// length.
typedef struct pons__fold {
    char *s;      // (n + 1) with a zero
    uint32_t *at; // (n + 1); owns the block that all three are in
    bool *quoted; // (n) inside a pair of quotes
    size_t n;
} pons__fold;

int pons__fold_init(pons__fold *f, const char *text, size_t len); // PONS_OK or PONS_ENOMEM
void pons__fold_fini(pons__fold *f);                              // NULL-safe parts
// Takes the bytes [lo, hi) out of the folded text.
void pons__fold_cut(pons__fold *f, size_t lo, size_t hi);

// Folded words, longest first.
typedef struct pons__words {
    char **v;
    size_t n;
} pons__words;

// Whether the folded literal stands at s[pos..end), as a word of its own where it is ASCII: 0, or
// the position after it. Spaces before it are skipped.
size_t pons__literal_at(const char *s, size_t pos, size_t end, const char *literal);
// The longest of the words at pos: 0, or the position after it. *ret_index may be NULL.
size_t pons__word_at(const pons__words *w, const char *s, size_t pos, size_t end,
                     size_t *ret_index);
// A number in digits, Chinese numerals or English words: 0, or the position after it.
size_t pons__number_at(const char *s, size_t pos, size_t end, double *ret);
size_t pons__skip_spaces(const char *s, size_t pos, size_t end);
size_t pons__char_len(const char *s, size_t pos); // bytes of the UTF-8 character at pos, ≥ 1

// ---- the compiled intents document (intents.c) --------------------------------------------------

typedef enum pons__intent {
    INTENT_GO_TO,
    INTENT_BRING,
    INTENT_PUT,
    INTENT_CHARGE,
    INTENT_WAIT,
    INTENT_SAY,
    INTENT_PATROL,
    INTENT_DO,        // a skill by its name, or in the words of its registry entry
    INTENT_WHERE,     // where are you
    INTENT_COME_BACK, // to where the robot stood before its last task
    INTENT_COUNT,
    INTENT_NONE = -1
} pons__intent;
const char *pons__intent_word(pons__intent intent);

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

typedef enum pons__slot {
    SLOT_LITERAL,
    SLOT_ZONE,
    SLOT_ZONES,
    SLOT_OBJECT,
    SLOT_PLACE,
    SLOT_DURATION,
    SLOT_NUMBER, // 1.5, -2, one and a half is two words too many
    SLOT_COORDS, // "1.5 2.0", "(1.5, 2)": in the map, and perhaps a yaw
    SLOT_TEXT
} pons__slot;

typedef struct pons__item {
    pons__slot slot;
    const char *literal; // SLOT_LITERAL, folded; of pons__literals
} pons__item;

// The pieces of all patterns: a hash table with open addressing, by what stands in the document.
typedef struct pons__literal {
    char *source; // (len), then its folded form with a zero
    size_t len;
} pons__literal;
typedef struct pons__literals {
    pons__literal *slot; // (room), a power of two
    size_t room, n;
} pons__literals;

#define PONS__PATTERN_ITEMS_MAX 8
typedef struct pons__pattern {
    pons__intent intent;
    const pons_value *about; // of INTENT_DO: {skill, args}; borrowed from the document
    bool known_only;         // written with "=": matches known names alone
    size_t n;
    pons__item item[PONS__PATTERN_ITEMS_MAX];
} pons__pattern;

#define PONS__BUCKETS 256
typedef struct pons__intents {
    pons_value *doc; // referenced
    pons__words leading, trailing, articles, hard, soft, joins, urgent, urgent_alone, anywhere;
    pons__words control[CONTROL_COUNT];
    pons__words units, moments;
    double *unit_s;   // (units.n)
    double *moment_s; // (moments.n)
    double wait_max_s;
    size_t goals_max;
    pons__literals literals;
    pons__pattern *pattern; // (patterns_n)
    size_t patterns_n;
    // An index: the patterns that begin with a literal are by_first[first_at[k]..first_at[k + 1])
    // for the bucket k of its first character, those that begin with a slot are in the last one;
    // each in the order of the document.
    uint32_t *by_first; // (patterns_n)
    uint32_t first_at[PONS__BUCKETS + 2];
} pons__intents;

// Which patterns may match at a place: a walk along two buckets in the order of the document.
typedef struct pons__candidates {
    const pons__intents *r;
    uint32_t a, a_end, b, b_end; // of by_first
} pons__candidates;
pons__candidates pons__candidates_at(const pons__intents *r, const char *s, size_t pos, size_t end);
const pons__pattern *pons__candidates_next(pons__candidates *c); // NULL at the end

// PONS_EINVAL with the path of what is bad.
int pons__intents_load(const pons_value *doc, pons__intents **ret, pons_error *err);
void pons__intents_destroy(pons__intents *r); // NULL-safe

// ---- the policy (rules.c) -----------------------------------------------------------------------

// What people may say is the document's, and beside it what the skills' registry says for each skill
// (its `phrases`). The two are compiled once for as long as the registry is the same.
typedef struct pons__rules {
    pons__intents *base;      // owned
    const pons_value *skills; // referenced; what `with` was compiled for
    pons__intents *with;      // owned; NULL: none
} pons__rules;
// phrases.c. For this world, whose `skills` may be a registry. Never NULL.
const pons__intents *pons__rules_for(pons__rules *p, const pons_value *world);

// ---- the two halves of the policy ---------------------------------------------------------------

int pons__policy_parse(void *self, const char *text, const pons_value *world, pons_value **ret,
                       pons_error *err); // parse.c
int pons__policy_decide(void *self, const pons_value *observation, pons_value **ret,
                        pons_error *err); // decide.c
// "do SKILL {…}" as a goal. PONS_ENOTFOUND: it is not that; PONS_EINVAL: it is, and wrong (call.c).
int pons__call_parse(const char *text, const pons_value *world, pons_value **ret, pons_error *err);
// The control word that a text is or holds as a wish, or CONTROL_NONE: how decide reads a person's
// answer.
pons__control pons__policy_control(const pons__intents *r, const char *text);

#endif
