// bytes_to_text.h - bytes of files, programs and pages as text that a model may read.
#pragma once

#include "pons/buf.h"

// What bytes are when they are not text ("a PNG image"), or NULL.
const char *pons__binary_kind(const void *bytes, size_t n);
// Appends bytes as valid UTF-8 without control characters but tab, CR and newline; what had to be
// replaced by U+FFFD is counted in *ret_bad (may be NULL).
int pons__text_append(pons_buf *b, const char *bytes, size_t n, size_t *ret_bad);
size_t pons__text_cut(const char *s, size_t n); // ≤ n, not inside a UTF-8 sequence
// A web page as text: no tags, scripts or styles; blocks on lines of their own.
int pons__html_text(pons_buf *b, const char *html, size_t n);
