// fields.h - a struct and its JSON object, by one table.
//
// What crosses a door (a message on a link, a line of a file) is JSON there and a typed struct
// behind it. One table says for each member of the object its name, kind, limits and meaning, and
// which member of the struct it is; by it the object is read, checked, written and documented.
//
//   struct  --encode-->  {"goal_id":"g","pose":{"x":1.5}}  --decode-->  struct, and what is wrong
//
// Members that the table does not have are ignored, and a member that is null counts as absent: so
// older and newer ends understand each other. Any thread.
#pragma once

#include "pons/buf.h"
#include "pons/linkage.h"
#include "pons/value.h"

PONS_C_BEGIN

typedef enum pons_field_kind { // and what the struct has for it
    PONS_FIELD_STRING,         // const char *
    PONS_FIELD_WORD,           // int: the index of one of `choices`
    PONS_FIELD_INTEGER,        // int64_t; 2.0 is one
    PONS_FIELD_NUMBER,         // double
    PONS_FIELD_BOOLEAN,        // bool
    PONS_FIELD_OBJECT,         // const pons_value *, borrowed
    PONS_FIELD_LIST,           // const pons_value *, borrowed; `fields` are those of its items
    PONS_FIELD_GROUP           // bool: whether it is there; `fields` lie in the same struct
} pons_field_kind;

typedef enum pons_field_use {
    PONS_FIELD_REQUIRED,
    PONS_FIELD_USUAL,    // has a default, but is always written
    PONS_FIELD_NULLABLE, // is always written: null when it is its default
    PONS_FIELD_OPTIONAL  // is written when it is not its default
} pons_field_use;

#define PONS_FIELD_ALWAYS SIZE_MAX // offset of a group that is always there: it has no bool

// A group without a name is no object of its own: its members lie among the others, all or none,
// and it is there when the first of them is.
typedef struct pons_field {
    const char *name;
    pons_field_kind kind;
    pons_field_use use;
    size_t offset;     // in the struct
    int64_t min, max;  // bytes of a string, items of a list, value of a number; both 0: any
    int64_t preset;    // default of an integer or a word; of a number it is NAN, of a boolean false
    const char *words; // default of a string; NULL: ""
    const char *const *choices;      // of a word: by index, ending with NULL; "": nothing is said
    const struct pons_field *fields; // of a group, of an object's members or of a list's items
    size_t n_fields;
    bool any_bytes;    // what is no UTF-8 in a string is written as '?', not left out
    const char *code;  // of a fault; NULL: "bad_args"
    const char *means; // for the documentation
} pons_field;

// The first field that is wrong, and what is; text "": none.
typedef struct pons_field_fault {
    char text[160];
    const char *code; // NULL: none
} pons_field_fault;

// Reads json into the struct `into`, which borrows from it; into is filled in any case: what is of
// its kind as it came, the others with their defaults. Strings are never NULL. ret is filled only
// where it has no fault yet.
void pons_fields_decode(const pons_field *fields, size_t n, const pons_value *json, void *into,
                        pons_field_fault *ret);
// Writes the members of the struct `from` into an object. A NULL string stands for its default; one
// that is no UTF-8 is left out (see any_bytes), and so are an object and a list that are NULL, but
// usual ones, which are empty then. PONS_ENOMEM: some are written.
int pons_fields_encode(const pons_field *fields, size_t n, const void *from, pons_value *object);
// A new object of them; NULL: no memory.
pons_value *pons_fields_object(const pons_field *fields, size_t n, const void *from);
// Appends a row of a table for each of them: | `word` | `name` | kind | required | meaning |.
int pons_fields_describe(const pons_field *fields, size_t n, const char *word, pons_buf *out);

// A string of any bytes: what is no UTF-8 is '?', a character that is cut at the end is left out.
// NULL: no memory.
pons_value *pons_text(const char *text);

PONS_C_END
