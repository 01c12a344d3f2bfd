// word_tokens.h - the words of a text for searching: lower-case runs of letters and digits; Chinese,
// Japanese and Korean runs as overlapping pairs and the last character alone.
#pragma once

#include "pons/buf.h"

typedef int (*pons__token_fn)(void *user, const char *word, size_t n, bool joined);
int pons__tokens(const char *text, size_t n, pons__token_fn fn, void *user);
int pons__tokens_index(pons_buf *b, const char *text, size_t n);           // space-separated
int pons__tokens_query(pons_buf *b, const char *text, size_t n, bool any); // for FTS5's MATCH
