// write_tools.h - write_file and edit_file, and what they would do.
#pragma once

#include "tools/core/core.h"

int pons__write_file(pons__work *w, pons_error *err);
int pons__edit_file(pons__work *w, pons_error *err);
// The diff that a call would make; nothing where it would fail.
void pons__write_preview(pons__core *c, bool edit, const pons_value *args, pons_buf *ret);

// What became of a write that was begun: PONS_OK, it is in its file; PONS_ENOTFOUND, the file is as
// it was before; PONS_ECLOSED, it is neither.
int pons__write_fate(const pons__core *c, const pons_value *what);
