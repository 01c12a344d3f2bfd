// label_words.h - the words of a page: labels of columns and bullets, and what stands behind them.
#pragma once

#include "workspace/model/record_kinds.h"

#define WS_EXTRA "+" // the label of a JSON map of what has no label of its own

// The field of a kind that a label means, or -1.
int pons__ws_label_field(ws_kind kind, const char *text, size_t len);
const char *pons__ws_label(const ws_field *f, pons_ws_dialect d);
// Whether a key may be a label as it is.
bool pons__ws_label_is_plain(const char *key);

// What a cell or a bullet says, for a field (NULL: nobody knows it). NULL: it is empty.
pons_value *pons__ws_said(const ws_field *f, const char *text, size_t len);
// The reverse. icons: a word gets the picture of the seed's tables.
void pons__ws_say(pons_buf *out, const ws_field *f, const pons_value *v, bool cell, bool icons);
// "0.855 m", "~1.5 m³", "3000 g", "85 cm from base" as a number in the unit that the field's name ends with.
bool pons__ws_quantity(const char *field, const char *text, size_t len, double *ret);
