// surrogates.h - halves of characters in a JSON text.
#pragma once

#include "pons/buf.h"
#include "pons/linkage.h"
#include "pons/value.h"

PONS_C_BEGIN

// Whether a text has the beginning of such an escape: without one nothing is to be done.
bool pons_surrogates_any(const char *text, size_t n);
// Finds a low half at the head of a string, and a high one at the end of one (or NULL); all others become
// U+FFFD, as _replace makes it of one that stays alone (NULL-safe).
void pons_surrogates_find(char *text, size_t n, char **ret_head, char **ret_tail);
void pons_surrogates_replace(char *at);
// Moves the low one out of `text` behind the high one of `held`. PONS_OK or PONS_ENOMEM.
int pons_surrogates_join(pons_buf *held, size_t high, pons_buf *text, char *low);

// As pons_value_parse, but that a half which stays alone is U+FFFD and no fault.
int pons_surrogates_parse(const char *text, size_t n, pons_value **ret, pons_error *err);

PONS_C_END
