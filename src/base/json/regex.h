// regex.h - a regular expression that somebody else wrote, matched in bounded time and memory.
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct pons__pattern pons__pattern; // immutable: any thread may match with it

enum { PONS__PATTERN_WHY_MAX = 160 };

// PONS_EINVAL with the reason in why; PONS_ENOMEM.
int pons__pattern_compile(const char *text, pons__pattern **ret, char why[PONS__PATTERN_WHY_MAX]);
void pons__pattern_destroy(pons__pattern *p); // NULL-safe

typedef enum pons__match {
    PONS__MATCH_NO,
    PONS__MATCH_YES,
    PONS__MATCH_TOO_MUCH, // it can't be said within the bounds
    PONS__MATCH_NOMEM
} pons__match;
// Whether it matches anywhere in text. *patience: how many matches may still take long; what many
// texts take together is then bounded as well.
pons__match pons__pattern_match(const pons__pattern *p, const char *text, size_t len,
                                int *patience);
