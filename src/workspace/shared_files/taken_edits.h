// taken_edits.h - edits that were taken in already.
#pragma once

#include "workspace/shared_files/merge_bases.h"

// Keeps what edits became part of a generation, before the generation itself: they count when it is there.
// text: the edit's; records: as pons_ws_merge's `took`, borrowed.
int pons__ws_take_save(const char *dir, const char *name, uint64_t generation, const pons_buf *next,
                       const pons_buf *text, const pons_value *records, pons_error *err);
// Adds those of generations behind `after`, the oldest first, to a list.
void pons__ws_takes_load(const char *dir, const char *name, uint64_t after, pons_value *list);
// Forgets what no editor can have before it any more.
void pons__ws_takes_prune(pons_value *list, uint64_t generation, int64_t since);
// What an edit of this generation (0: of none that is known) may say again: as pons_ws_merge's `taken`. The
// caller's.
pons_value *pons__ws_takes_since(const pons_value *list, uint64_t stamp);
// Whether this very text has been taken in.
bool pons__ws_takes_has(const pons_value *list, uint64_t stamp, const pons_buf *text);
