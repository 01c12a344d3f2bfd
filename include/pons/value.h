// value.h - JSON values, as jansson has them, with pons's rules on top.
//
// A pons_value is a json_t. Before it is published (put in a channel, a message, a queue) its one
// owner may change it; afterwards it is immutable and is shared by reference between threads. Use
// pons_value_ref/unref for anything that crosses threads: jansson's own decrement releases but
// never acquires, so a plain json_decref may free what another thread has just written.
// Likewise put a shared value into a container with json_…_new(c, pons_value_ref(v)): jansson's own
// increment reads the count without the care that another thread's change needs.
#pragma once

#include "pons/error.h"
#include "pons/linkage.h"

#include <jansson.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

PONS_C_BEGIN

typedef json_t pons_value;

// Seeds jansson's hash and sets its allocator (unless the program has set one) before the first
// thread exists. Call once at the start of main; idempotent.
void pons_value_init(void);

pons_value *pons_value_ref(const pons_value *v); // NULL-safe; returns v
void pons_value_unref(const pons_value *v);      // NULL-safe

// Parses exactly one JSON text of `len` bytes. PONS_EINVAL with "line:col" in the error's source on
// bad input, a duplicate key, a zero character, more than 256 levels, or trailing garbage. *ret is
// the caller's.
int pons_value_parse(const char *text, size_t len, pons_value **ret, pons_error *err);

// The same of what pons_value_dump wrote, from a place that nobody else writes to: a program's values
// may have zero characters in their texts and more levels than what comes from outside.
int pons_value_read(const char *text, size_t len, pons_value **ret, pons_error *err);

// Reads a file of at most 16 MiB as one JSON text. PONS_ENOTFOUND or PONS_EIO with the path as the
// source when unreadable, PONS_EINVAL with path:line:col.
int pons_value_load(const char *path, pons_value **ret, pons_error *err);

// Compact text with sorted keys: equal values give equal bytes (used for hashes). Doubles are
// written in their shortest round-trip form. The caller frees *ret with free(); returns its length,
// or PONS_ENOMEM, or PONS_EINVAL for a value nested deeper than 2048 (a cycle).
long pons_value_dump(const pons_value *v, char **ret);

// As pons_value_dump but keys in insertion order: for people and event lines.
long pons_value_line(const pons_value *v, char **ret);

// Whether a program's value may be kept: it has at most so many containers in each other.
enum { PONS_VALUE_DEPTH_MAX = 1000 };
bool pons_value_fits(const pons_value *v);

// First 16 bytes of SHA-256 over the canonical dump, as 32 hex digits and a zero.
void pons_value_hash(const pons_value *v, char ret[33]);

// Borrowed members with a default, for reading trusted objects without ladders of checks.
// NULL objects are allowed everywhere.
const char *pons_get_str(const pons_value *obj, const char *key, const char *fallback);
double pons_get_num(const pons_value *obj, const char *key, double fallback);
int64_t pons_get_int(const pons_value *obj, const char *key, int64_t fallback);
bool pons_get_bool(const pons_value *obj, const char *key, bool fallback);
// Loops over the items of a list, and over the members of an object: NULL has none.
#define pons_each(item, list)                                                                      \
    for (size_t item##_at = 0, item##_on = 1; item##_on && item##_at < json_array_size(list);      \
         item##_at++)                                                                              \
        for (json_t *item = (item##_on = 0, json_array_get(list, item##_at)); item;                \
             item = NULL, item##_on = 1) // 0 after a break: the outer loop ends, too
#define PONS__MEMBERS(object) ((json_t *)(uintptr_t)(object))
#define pons_each_member(key, item, object)                                                        \
    for (const char *key = json_object_iter_key(json_object_iter(PONS__MEMBERS(object))),          \
                    *key##_on = "";                                                                \
         key; key = key##_on ? json_object_iter_key(json_object_iter_next(                         \
                                   PONS__MEMBERS(object), json_object_key_to_iter(key)))           \
                             : NULL)                                                               \
        for (json_t *item =                                                                        \
                 (key##_on = NULL, json_object_iter_value(json_object_key_to_iter(key)));          \
             item; item = NULL, key##_on = "")

// Is the text in a list? Not in NULL, nor in what is no list.
bool pons_list_has(const pons_value *list, const char *text);
bool pons_list_has_word(const pons_value *list, const char *word);  // in whatever case
const pons_value *pons_get(const pons_value *obj, const char *key); // NULL when absent
// The first object of an array in which this member is this text; borrowed, NULL: none, or no array.
const pons_value *pons_find(const pons_value *list, const char *key, const char *text);

// {key: value...} from a NULL-terminated list of (const char *key, pons_value *value) pairs; takes
// the values. NULL on no memory (the values are freed).
//
// What a NULL value means: for pons_object it leaves its key out, so it is for processes, which end
// when there is no memory (memory.h). For pons_object_whole, which is for libraries, it is a value
// that was lost, and there is no object; PONS_ABSENT leaves a key out. Both take PONS_ABSENT.
pons_value *pons_object(const char *key, ...) __attribute__((sentinel));
pons_value *pons_object_whole(const char *key, ...) __attribute__((sentinel));
extern pons_value pons__absent;
#define PONS_ABSENT (&pons__absent)
// A string of what may hold anything, cut where a buffer ended: what is not UTF-8 becomes '?', so that
// NULL means no memory.
pons_value *pons_string(const char *text);
// A reference to an optional value: absent when v is NULL.
static inline pons_value *pons_optional(const pons_value *v)
{
    return v ? pons_value_ref(v) : PONS_ABSENT;
}

static inline void pons_value_cleanup(pons_value **v)
{
    pons_value_unref(*v);
}
// pons_autovalue v = …; is unreferenced at the end of its scope.
#define pons_autovalue __attribute__((cleanup(pons_value_cleanup))) pons_value *

PONS_C_END
