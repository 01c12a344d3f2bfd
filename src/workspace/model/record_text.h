// record_text.h - a record as a file has it, and as the model has it.
#pragma once

#include "workspace/model/record_kinds.h"

#define WS_WHAT_MAX 200

// Members of EMBODIED's records that their place in the page says, and no bullet: whose they are where the page is about
// several robots, and the heading that they stand under where it is not the kind's own.
#define WS_TARGET_KEY  "target"
#define WS_SECTION_KEY "section"

// What a record says, by the model: its fields under the seed's names in the table's order, then what
// nobody here knows, as it is. NULL: it is wrong, `what` says how and `path` which of raw's members.
pons_value *pons__ws_record_read(ws_kind kind, const pons_value *raw, char what[WS_WHAT_MAX],
                                 char path[64]);
// Checks a value that has the model's names already, and puts its fields in order.
pons_value *pons__ws_record_check(ws_kind kind, const pons_value *value, char what[WS_WHAT_MAX],
                                  char path[64]);
// As a file of this dialect has it.
pons_value *pons__ws_record_write(ws_kind kind, pons_ws_dialect d, const pons_value *value);
// raw as it is when `before` has become `after`: names, order and all that did not change stay.
pons_value *pons__ws_record_patch(ws_kind kind, pons_ws_dialect d, const pons_value *raw,
                                  const pons_value *before, const pons_value *after);
// Puts what `from` has into `into`, which has the word where both do. from may be NULL.
void pons__ws_record_fill(pons_value *into, const pons_value *from);
// The id; the caller's. NULL: it has none.
char *pons__ws_record_id(ws_kind kind, const pons_value *value);
// How many of raw's members are written so in this dialect and not in the seed's.
int pons__ws_record_resembles(ws_kind kind, pons_ws_dialect d, const pons_value *raw);

// Members of members: "timeouts.session". *ret is borrowed.
const pons_value *pons__ws_path_get(const pons_value *v, const char *path);
void pons__ws_path_set(pons_value *v, const char *path,
                       pons_value *take); // makes what lies between
// Without it, and without what it leaves empty.
void pons__ws_path_remove(pons_value *v, const char *path);
