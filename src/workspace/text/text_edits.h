// text_edits.h - pieces of a text replaced: collected in any order, applied at once.
#pragma once

#include "pons/buf.h"

#include <stdbool.h>

typedef struct ws_edit {
    size_t start, end; // bytes of the text that go
    char *by;          // what comes; owned
    size_t len;
    size_t order; // of two at one place, the one that came first stands first
} ws_edit;

typedef struct ws_edits {
    ws_edit *at;
    size_t n, cap;
} ws_edits;

void pons__ws_edits_add(ws_edits *e, size_t start, size_t end, const char *by, size_t len);
// false: two of them overlap.
bool pons__ws_edits_apply(ws_edits *e, const char *text, size_t len, pons_buf *out);
void pons__ws_edits_fini(ws_edits *e);
