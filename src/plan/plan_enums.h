// plan_enums.h - the protocol's enumerations as lists of words.
#pragma once

#include <stddef.h>

typedef struct pons__words {
    const char *const *words;
    int n;
} pons__words;
extern const pons__words pons__risk_words, pons__step_words, pons__plan_words, pons__tool_words;
int pons__words_find(const pons__words *w, const char *word, size_t len);
