// printable.h - text from outside (a model, a file, a server, the store) as a person may be shown it.
//
// What a terminal shows is what a person decides by: such text must not move the cursor, erase a
// line, turn its direction, hide a part of itself or look like a line of pons's own.
#pragma once

#include "pons/buf.h"
#include "pons/linkage.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

PONS_C_BEGIN

// Whether a code point commands a terminal or cannot be seen on it: C0 (all, also \n and \t), DEL,
// C1, surrogates, direction marks, spaces without width, separators of lines and paragraphs, tags,
// variation selectors, fillers, and what lies beyond U+10FFFF.
bool pons_plain_hides(uint32_t code_point);

// Appends up to n bytes of text, ending at a zero. What pons_plain_hides, and each byte that is not
// UTF-8, becomes U+FFFD; the two selectors that only choose how a symbol is drawn (U+FE0E, U+FE0F)
// are left out. lines: \n and \t stay; else \n becomes U+23CE (⏎) and \t a space. PONS_ENOMEM.
int pons_plain(pons_buf *b, const char *text, size_t n, bool lines);

// Appends a JSON text (n bytes) with what pons_plain_hides spelled as \u escapes: the same value,
// safe on a terminal. Line breaks between values stay.
int pons_plain_json(pons_buf *b, const char *text, size_t n);

// Bytes of a text, at most so many, that do not end inside a character.
size_t pons_text_whole(const char *text, size_t most);

PONS_C_END
