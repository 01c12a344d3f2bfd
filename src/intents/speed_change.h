// speed_change.h - what speed_change.c hears, for where it is said within a wish (speed_adverbs.c).
#pragma once

#include "intents/intent_file.h"

typedef enum pons__pace_kind {
    PACE_SLOWER,
    PACE_FASTER,
    PACE_NORMAL,
    PACE_PERCENT,
    PACE_MPS,
    PACE_TOO_FAST,
    PACE_TOO_SLOW
} pons__pace_kind;

typedef struct pons__speed_phrase {
    pons__pace_kind kind;
    double number;
    bool limits; // the number is a limit, of which nothing is raised
    size_t rest; // where what else was said begins
} pons__speed_phrase;

// Between what is said first and the rest.
static inline bool pons__pace_separates(char c)
{
    return c == ',' || c == ';';
}

// A question: "… 吗" between lo and hi.
bool pons__pace_asks(const pons__fold *f, size_t lo, size_t hi);
// An order, or a complaint, that begins at pos and ends at a separator or with the text.
bool pons__pace_find(const pons__intents *r, const pons__fold *f, size_t pos,
                     pons__speed_phrase *ret);
// The longest phrase at pos, whatever follows: 0, or the position after it.
size_t pons__pace_phrase(const pons__fold *f, size_t pos, pons__speed_phrase *ret);
// What may stand before one and changes nothing: 0, or the position after it.
size_t pons__pace_filler(const pons__intents *r, const pons__fold *f, size_t pos);

// How fast a wish to move is to be done ("go slowly to the kitchen", 慢慢去厨房). *ret_rest: the wish without it; the
// caller's to free. PONS_ENOTFOUND, PONS_ENOMEM.
int pons__speed_adverb(pons__rules *rules, const char *text, const pons__fold *f,
                       pons__speed_phrase *ret, char **ret_rest);
