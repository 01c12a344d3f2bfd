// yaml_scalar.h - what a plain scalar is, and what libfyaml is not given: shared by the two readers of YAML.
#pragma once

#include "pons/value.h"

typedef struct pons__span {
    const char *s;
    size_t len;
} pons__span;

// What in a text would take libfyaml 0.7.12 time by its square: directives that are long or many, and blank lines one
// after another, which within a scalar it looks through again for each. NULL: nothing; else what, and in which line.
const char *pons__yaml_slow(const char *text, size_t len, uint32_t *ret_line);

bool pons__span_same(pons__span t, const char *word);
bool pons__span_one_of(pons__span t, const char *const *words); // that end with NULL

bool pons__yaml_is_null(pons__span t);
bool pons__yaml_is_true(pons__span t);
bool pons__yaml_is_false(pons__span t);
bool pons__yaml_is_float(pons__span t);
bool pons__yaml_is_not_finite(pons__span t);
// The base of an integer of the core schema, or 0. 0o17 and 0x1f take no sign.
int pons__yaml_int_base(pons__span t);
// false: out of range. *ret is NULL without memory.
bool pons__yaml_int(pons__span t, int base, json_t **ret);
bool pons__yaml_float(pons__span t, json_t **ret);
