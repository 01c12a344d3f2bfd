// clause_split.h - cutting a sentence into wishes.
#pragma once

#include "intents/sentence/parse_state.h"

// Cuts such words out of a wish, a hurry for one; its end moves.
bool pons__cut_words(pons__parse_state *s, pons__span *w, const pons__words *words);
bool pons__stop_anywhere(const pons__parse_state *s);
size_t pons__separator_at(const pons__parse_state *s, size_t pos, size_t end, bool *ret_hard);
// The intent of the wish that begins at pos, or INTENT_NONE. known: only where its names are known.
pons__intent pons__wish_begins(const pons__parse_state *s, size_t pos, size_t end, bool known,
                               bool *control);
// Finds the end of the wish at pos and the start of the next.
void pons__next_cut(const pons__parse_state *s, size_t pos, size_t *ret_end, size_t *ret_next);
pons__control pons__wish_control(const pons__parse_state *s, pons__span w);
bool pons__wish_is_blank(const pons__parse_state *s, pons__span w);
bool pons__has_word(const pons__parse_state *s, const pons__words *words, pons__span w);
