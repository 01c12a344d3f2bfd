// tokens.h - a sentence as words of the lexicon, names, times and numbers.
#pragma once

#include "intents/sentence/parse_state.h"

#define PONS__TOKENS_MAX 160

typedef struct pons__token {
    pons__word_class is;
    size_t lo, hi;          // of the folded text
    const pons__name *name; // WORD_NAME
    double number;          // WORD_DURATION: seconds; WORD_TIMES: how often
    int64_t nth;            // WORD_NTH: from 1; -1: the last
    bool numbered;          // "task 3", which may be its name
} pons__token;

// All tokens: how many, 0: there are too many. "If you don't mind" and the like are ignored.
size_t pons__tokens_of(const pons__parse_state *s, pons__token ret[PONS__TOKENS_MAX]);
