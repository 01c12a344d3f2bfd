// schema.h - JSON Schema 2020-12, the part that pons's own formats and skill arguments need:
// type enum const properties required additionalProperties items prefixItems minItems maxItems
// uniqueItems minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum multipleOf
// minProperties maxProperties pattern (ECMAScript as PCRE2 reads it, unanchored) anyOf oneOf allOf not
// if/then/else $ref (local: "#", "#/$defs/…") and $defs; booleans as schemas. Annotations are
// accepted; a keyword that is neither is refused at compile, so that a typo can't switch a check
// off.
#pragma once

#include "pons/linkage.h"
#include "pons/value.h"
#include "pons/yaml.h"

PONS_C_BEGIN

typedef struct pons_schema pons_schema; // immutable once compiled; any thread may check with it

// Compiles; takes its own reference to `schema`. PONS_EINVAL names the pointer of the bad keyword.
int pons_schema_compile(const pons_value *schema, pons_schema **ret, pons_error *err);
// The same of a schema that pons ships ("schemas/scenario.json"; pons_share_path finds it). PONS_ENOTFOUND:
// it is not there, which is a broken installation.
int pons_schema_shipped(const char *relative, pons_schema **ret, pons_error *err);
void pons_schema_destroy(pons_schema *s); // NULL-safe

// PONS_OK, or PONS_EINVAL whose message starts with the path of the first offending value and says
// what was found and what was expected: "/ops/0/args/zone: expected string, found integer 3".
// Bounded, whatever schema and value are: recursion depth 128, and an amount of work that grows with
// their sizes; what takes more fails with "too much to check".
int pons_schema_check(const pons_schema *s, const pons_value *v, pons_error *err);

// As check, but hands each fault (up to 32) to a callback: (user, json pointer, message).
typedef void (*pons_schema_fault_fn)(void *user, const char *pointer, const char *message);
int pons_schema_faults(const pons_schema *s, const pons_value *v, pons_schema_fault_fn fn,
                       void *user);

// Checks a YAML document; the error's source is name:line:col of the offending node.
int pons_schema_check_yaml(const pons_schema *s, const pons_yaml *y, pons_error *err);

PONS_C_END
