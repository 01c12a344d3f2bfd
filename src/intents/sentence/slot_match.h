// slot_match.h - whether words and slots of a pattern stand at a place of the sentence.
#pragma once

#include "intents/sentence/parse_state.h"

size_t pons__skip_punctuation(const pons__parse_state *s, size_t pos, size_t end);
// Whether nothing but punctuation and trailing fillers is left.
bool pons__only_fillers(const pons__parse_state *s, size_t pos, size_t end);
// One of a list of literals: 0, or the position after it.
size_t pons__literal_of_list(const char *t, size_t pos, size_t end, const char *const *list,
                             size_t n, size_t *ret_which);
pons__candidates pons__wish_patterns(const pons__parse_state *s, size_t pos, size_t end);
// Matches item i and all that follow at pos; leaves *c as it was when they do not.
bool pons__slots_match(const pons__parse_state *s, const pons__pattern *p, size_t i, size_t pos,
                       size_t end, unsigned m, pons__capture *c);
// "The second task", "number two", "task 3", "the last one", 第二个任务, 最后一个. 0, or the position after it.
size_t pons__nth_at(const pons__parse_state *s, size_t pos, size_t end, int64_t *ret,
                    bool *ret_numbered);
// The places where a wish may begin: at lo, and after each filler.
size_t pons__wish_starts(const pons__parse_state *s, size_t lo, size_t hi, size_t ret[STARTS_MAX]);
// "5 seconds", "1 minute 30 seconds", "一个半小时": 0, or the position after it. A bare number is in seconds.
size_t pons__duration_at(const pons__parse_state *s, size_t pos, size_t end, double *ret);
// "Twice", "three times", 两遍: 0, or the position after it.
size_t pons__times_at(const pons__parse_state *s, size_t pos, size_t end, double *ret);
