// items.h - long-term memory: documents that belong to no thread, so that what one run has learnt
// another one knows.
//
// An item is a JSON object under a namespace and a key. A namespace is a path of labels, written with
// '.' between them ("users.mara.memories"): a label is not empty and has no '.', and the first one is
// not "langgraph". Items are found by their namespace, by members of their value, by words, and,
// where an embedding function is given, by meaning.
//
// They are kept by a store (pons/ext/store.h: memory, SQLite, PostgreSQL), beside its threads. A node
// writes them with its superstep (pons_cx_item_put in pons/graph.h); everybody else with the
// functions here, which are durable when they return.
//
// Threads: any, at once, as the store; the embedding function is called by the calling thread.
#pragma once

#include "pons/clock.h"
#include "pons/ext/store.h"
#include "pons/linkage.h"
#include "pons/value.h"

PONS_C_BEGIN

// ret: (n, dims) numbers, a row a text. May block. Anything but PONS_OK ends the call with it.
typedef int (*pons_embed_fn)(void *user, const char *const *texts, size_t n, float *ret,
                             pons_error *err);

typedef struct pons_items_options {
    int64_t ttl_ms;      // of an item that is put without one; 0: for ever
    bool keep_read;      // reading an item that has a time to live gives it that time anew
    pons_embed_fn embed; // NULL: a search is by words
    void *embed_user;
    size_t dims;
    // What of a value is searched, NULL-terminated paths: "$" (all of it), "a", "a.b", "a[0]",
    // "a[-1]", "a[*].b". NULL: "$". Each text of a path has a vector of its own.
    const char *const *fields;
} pons_items_options;

typedef struct pons_items { // the caller's; copied by value
    pons_store store;
    pons_clock clock; // the wall clock of created_ms, updated_ms and times to live
    pons_items_options opts;
} pons_items;

typedef struct pons_item_put {
    int64_t ttl_ms;            // 0: the options'; < 0: for ever
    bool unsearched;           // found by namespace, key and members only
    const char *const *fields; // NULL: the options'
} pons_item_put;

// ---- one item -----------------------------------------------------------------------------------

// A new one, or in the place of an old one, whose created_ms it keeps. opts may be NULL. PONS_EINVAL:
// the namespace or the key can't be one, or the value is no object.
int pons_items_put(const pons_items *it, const char *ns, const char *key, const pons_value *value,
                   const pons_item_put *opts, pons_error *err);
// *ret: {namespace: [labels], key, value, created_ms, updated_ms, expires_ms?}, the caller's.
// PONS_ENOTFOUND.
int pons_items_get(const pons_items *it, const char *ns, const char *key, pons_value **ret,
                   pons_error *err);
// One that is not there is gone already.
int pons_items_delete(const pons_items *it, const char *ns, const char *key, pons_error *err);

// ---- many ---------------------------------------------------------------------------------------

typedef enum pons_items_by {
    PONS_ITEMS_BY_BEST,
    PONS_ITEMS_BY_WORDS,
    PONS_ITEMS_BY_MEANING
} pons_items_by;

typedef struct pons_items_query {
    const char *prefix; // labels that the namespaces begin with; NULL or "": any
    // {member: value} of the item's value, all of which must fit. A value that is an object with
    // operators, {"$gt": 3, "$lte": 9}, compares: $eq $ne $gt $gte $lt $lte (numbers with numbers,
    // texts with texts by their bytes; whatever can't be compared does not fit), and $has of a list
    // with an item that fits. A member that is not there is null. Another operator is PONS_EINVAL.
    const pons_value *filter;
    // Items with at least one of its words, best first; or, by meaning, all, nearest first. NULL:
    // newest put first.
    const char *query;
    pons_items_by by; // BEST: by meaning where there is an embedding function, else by words
    int64_t limit;    // 0: 10; < 0: none
    int64_t offset;
    // Writes that the store does not have yet but that count: a superstep's.
    const pons_item_write *const *over;
    size_t n_over;
} pons_items_query;

// *ret: a list of items as above, with a score when there was a query: the share of the query's words
// that an item has (0…1], or the cosine of the vectors [-1…1]; those without a vector come last, with
// null. Ties: newest put first, then by namespace and key.
int pons_items_search(const pons_items *it, const pons_items_query *q, pons_value **ret,
                      pons_error *err);

typedef struct pons_items_spaces {
    const char *prefix, *suffix; // labels, "*" is any one; NULL or "": any
    int64_t max_depth;           // longer ones are cut to so many labels; 0: none
    int64_t limit;               // 0: 100; < 0: none
    int64_t offset;
} pons_items_spaces;
// *ret: a list of lists of labels, each once, in order: the namespaces that have items.
int pons_items_namespaces(const pons_items *it, const pons_items_spaces *q, pons_value **ret,
                          pons_error *err);
// Removes what has expired, which nobody sees any more. ret may be NULL.
int pons_items_sweep(const pons_items *it, int64_t *ret_removed, pons_error *err);

// ---- for who commits writes himself -------------------------------------------------------------

// A write as a store takes it, in one block that is freed with free(). now_ms: wall.
int pons_items_write_put(const pons_items_options *opts, int64_t now_ms, const char *ns,
                         const char *key, const pons_value *value, const pons_item_put *put,
                         pons_item_write **ret, pons_error *err);
int pons_items_write_delete(const char *ns, const char *key, pons_item_write **ret,
                            pons_error *err);
// A write as JSON and back, for who keeps it until it is committed.
pons_value *pons_items_write_json(const pons_item_write *w); // a new reference; NULL: no memory
int pons_items_write_parse(const pons_value *v, pons_item_write **ret, pons_error *err);
// Whether a value is what a filter (as that of a query) asks for. An operator that there is not fits
// nothing.
bool pons_items_fits(const pons_value *value, const pons_value *filter);
// An item as pons_items_get gives it.
int pons_items_row_json(const pons_item_row *row, pons_value **ret, pons_error *err);
// A list of labels as a namespace, as people and protocols give it. PONS_EINVAL.
int pons_items_ns(const pons_value *labels, char *ret, size_t cap, pons_error *err);
// The words of a text, a space between two, each once, in order of their first place: runs of letters
// and digits in small letters; of scripts that put no space between words, each character. *ret is
// freed with free().
int pons_items_words(const char *text, char **ret, pons_error *err);

PONS_C_END
