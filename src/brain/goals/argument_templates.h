// argument_templates.h - templates of arguments, filled with what a goal says (argument_templates.c).
#pragma once

#include "pons/value.h"

// The template with each text "$name" in it replaced by that member of `from`; "$a.b" is a member of a
// member, "$name|1" has what to take where there is none. NULL: a member is lacking.
pons_value *pons__fill(const pons_value *template, const pons_value *from);
// A sentence in which $names stand among the words, "$name|1" with a word to take where there is none. NULL:
// a member is lacking, and the sentence would have a hole.
pons_value *pons__fill_text(const char *template, const pons_value *from);
