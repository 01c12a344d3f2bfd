// diff.h - what a change of a text is, as people read it.
#pragma once

#include "pons/buf.h"

// Appends a unified diff of two texts; nothing when they are the same. what is said of bytes that a
// terminal would obey or not show is pons__escape's.
void pons__diff(pons_buf *b, const char *path, const char *old, size_t n_old, bool existed,
                const char *text, size_t n);
// Appends n bytes; what pons_plain_hides, and bytes that are not UTF-8, as \x1b or \u{202e}. lines: \n
// and \t stay.
void pons__escape(pons_buf *b, const char *text, size_t n, bool lines);
