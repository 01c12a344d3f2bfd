// line_merge.h - three texts of lines made one.
#pragma once

#include <stddef.h>

typedef struct ws_text_line { // with its end, borrowed
    const char *s;
    size_t len;
} ws_text_line;

typedef struct ws_lines {
    ws_text_line *at;
    size_t n, cap;
} ws_lines;

void pons__ws_lines_add(ws_lines *l, const char *s, size_t len);
void pons__ws_lines_fini(ws_lines *l);
// What ours and theirs made of base. Where both changed a place, theirs stands first and what ours has
// beyond it behind; *ret_clashes counts those places.
void pons__ws_lines_merge(const ws_lines *base, const ws_lines *ours, const ws_lines *theirs,
                          ws_lines *ret, size_t *ret_clashes);

// The lines that both have, in order: as base, it makes what either has beyond it an addition.
void pons__ws_lines_common(const ws_lines *a, const ws_lines *b, ws_lines *ret);
