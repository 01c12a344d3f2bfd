// prompt_budget.h - the room in a prompt, and what is made smaller to fit (prompt_budget.c).
#pragma once

#include "pons/value.h"

typedef struct pons__room { // what is left
    long bytes, tokens;
} pons__room;

bool pons__room_fits(pons__room r, const char *text);
bool pons__room_add(pons__room *r, const char *text); // to a message, if it fits
void pons__room_take(pons__room *r, const char *text);
pons__room pons__room_part(pons__room r, int parts);

// New: with no text longer than text_max bytes and no list or object longer than list_max.
pons_value *pons__shortened(const pons_value *v, size_t text_max, size_t list_max);
// New: with its numbers to three places, which is more than any decision needs.
pons_value *pons__rounded(const pons_value *v);
