// field_records.h - structs that are described by one table of fields each: what is read from JSON, written
// to it, checked, copied, freed and documented is said there, once.
//
// A member that is lacking in JSON, null, or of another kind has its preset. A text is never NULL: one
// that is lacking is "". Members that JSON has and the table has not are dropped.
#pragma once

#include "pons/value.h"

typedef enum pons__kind {
    PONS_KIND_TEXT,   // const char *, see pons__set_text
    PONS_KIND_NAME,   // the same, and NULL: lacking, which is not the same as empty
    PONS_KIND_WORD,   // int: the place in .words, which ends with NULL
    PONS_KIND_INT,    // int64_t
    PONS_KIND_NUM,    // double
    PONS_KIND_BOOL,   // bool
    PONS_KIND_JSON,   // const pons_value *, a reference; NULL: lacking
    PONS_KIND_RECORD, // a struct's pointer; NULL: lacking
    PONS_KIND_LIST,   // pons__list
} pons__kind;

// How a member is written that is lacking: an empty text, a number or a word that is the preset, false,
// no value, no record, an empty list; for a double also what is not finite.
typedef enum pons__lacks {
    PONS_LACKS_NEVER, // as it is
    PONS_LACKS_NULL,  // null
    PONS_LACKS_KEY,   // not at all
} pons__lacks;

struct pons__record;

typedef struct pons__field {
    const char *name;
    pons__kind kind;
    pons__lacks lacks;
    size_t at;
    const char *const *words;
    const struct pons__record *of; // of a record, or of the items of a list
    double preset;
    const char *means;
} pons__field;

typedef struct pons__record {
    const char *name, *means;
    size_t size;
    const pons__field *fields;
    size_t n;
} pons__record;

typedef struct pons__list {
    void **at; // (n) records of one table
    size_t n;
} pons__list;

// New records, the caller's; there is no failure but the process's end.
void *pons__record_new(const pons__record *r);
void *pons__record_read(const pons__record *r, const pons_value *v);
void *pons__record_copy(const pons__record *r, const void *s);
void pons__record_free(const pons__record *r, void *s);               // NULL-safe
pons_value *pons__record_write(const pons__record *r, const void *s); // new; null for NULL

// Declares the table of a struct pons__NOUN, and what ends one that is of a scope:
//
//     PONS__AUTO(reply) reply = pons__reply_read(answer);
#define PONS__RECORD_OF(noun)                                                                      \
    extern const pons__record pons__##noun##_record;                                               \
    static inline void pons__##noun##_drop(pons__##noun **at)                                      \
    {                                                                                              \
        pons__record_free(&pons__##noun##_record, *at);                                            \
    }                                                                                              \
    static inline void pons__##noun##_drop_all(pons__list *list)                                   \
    {                                                                                              \
        pons__list_clear(&pons__##noun##_record, list);                                            \
    }                                                                                              \
    struct pons__##noun
// What a new one with these members is written as: PONS__WRITE(reply, .id = id, .action = "approve")
#define PONS__WRITE(noun, ...)                                                                     \
    pons__record_write(&pons__##noun##_record, &(pons__##noun){__VA_ARGS__})
#define PONS__AUTO_LIST(noun) __attribute__((cleanup(pons__##noun##_drop_all))) pons__list
#define PONS__AUTO(noun)      __attribute__((cleanup(pons__##noun##_drop))) pons__##noun *

// The place of a word, or fallback.
int pons__word_find(const char *const *words, const char *word, int fallback);

// *at becomes a copy of the text (NULL: "").
void pons__set_text(const char **at, const char *text);
void pons__set_textf(const char **at, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
// *at becomes the value (taken; NULL: lacking).
void pons__json(const pons_value **at, const pons_value *value);

void pons__list_add(pons__list *l, void *record); // takes it
void *pons__list_take(pons__list *l, size_t i);   // out of the list, the caller's
// The first one with this text in the member at this offset; its place: the list's length where there is none.
void *pons__list_find(const pons__list *l, size_t at, const char *text);
size_t pons__list_place(const pons__list *l, size_t at, const char *text);
void pons__list_clear(const pons__record *r, pons__list *l);
void pons__list_copy(const pons__record *r, pons__list *to,
                     const pons__list *from); // to is cleared
bool pons__list_equal(const pons__record *r, const pons__list *a, const pons__list *b);
pons_value *pons__list_write(const pons__record *r, const pons__list *l);          // new
void pons__list_read(const pons__record *r, const pons_value *v, pons__list *ret); // ret is cleared
