// tab_completion.h - what Tab makes of the words before the cursor.
#pragma once

#include "pons/value.h"

#include <stddef.h>

typedef struct cli_completion {
    size_t typed;        // bytes before the cursor that are the beginning of every match
    size_t common;       // bytes that all matches have in common
    pons_value *matches; // an array of strings, the caller's; empty: there is none
} cli_completion;

// words: an array of strings. text: n bytes up to the cursor.
cli_completion cli_complete(const pons_value *words, const char *text, size_t n);
