// json_text.h - JSON text into a buffer.
#pragma once

#include "pons/buf.h"
#include "pons/value.h"

void pons__json_quoted(pons_buf *b, const char *s); // as a JSON string
void pons__json_int(pons_buf *b, int64_t n);
void pons__json_value(pons_buf *b, const pons_value *v); // canonical JSON text
