// schema_words.h - parts of a JSON schema, for what a model may answer (schema_words.c). Each is new.
#pragma once

#include "pons/value.h"

pons_value *pons__form_constant(const char *text);
pons_value *pons__form_one_of(pons_value *list);        // taken
pons_value *pons__form_text(int max);                   // of 1 to max characters
pons_value *pons__form_exactly(pons_value *properties); // an object with these members (taken)
pons_value *pons__form_list_of_one(pons_value *items);  // a list of exactly one (taken)
pons_value *pons__form_pair(pons_value *first, pons_value *second); // a list of these two (taken)
// A value as a schema: a constant, or, of an object, one that has exactly these members.
pons_value *pons__form_of(const pons_value *value);
// A skill's arguments as one reads them: "zone | pose{x, y, yaw?}; timeout_s?". The caller frees.
char *pons__form_words(const pons_value *schema);
