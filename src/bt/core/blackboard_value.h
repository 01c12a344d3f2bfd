// blackboard_value.h - typed values of blackboards and ports, and the slots that hold them.
#pragma once

#include "pons/error.h"
#include "pons/value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum pons__bt_kind {
    PONS__BT_EMPTY,
    PONS__BT_INT,
    PONS__BT_REAL,
    PONS__BT_BOOL,
    PONS__BT_STRING,
    PONS__BT_JSON
} pons__bt_kind;
typedef struct pons__bt_value {
    uint8_t kind;
    bool owned; // of s
    union {
        int64_t i; // INT, BOOL
        double d;
        char *s;
        pons_value *j; // one reference, when owned
    };
} pons__bt_value;
void pons__bt_value_fini(pons__bt_value *v);
int pons__bt_value_dup(pons__bt_value *dst, const pons__bt_value *src);
int pons__bt_value_own(pons__bt_value *v);                // makes a borrowed string its own
pons_value *pons__bt_value_json(const pons__bt_value *v); // new
int pons__bt_value_of_json(const pons_value *j, pons__bt_value *ret);
bool pons__bt_value_number(const pons__bt_value *v, double *ret); // INT, REAL, BOOL
// Whether a double holds this integer; beyond 2^53 not each one has its own.
bool pons__bt_exact(int64_t i);
// Text as XML has it into a kind; false when it does not convert.
bool pons__bt_parse(const char *text, char type, pons__bt_value *ret);
const char *pons__bt_kind_word(int kind);
// A value as text, in buf or borrowed.
const char *pons__bt_value_text(const pons__bt_value *v, char *buf, size_t cap);

// Types of ports: a letter each.
//   i int  l int64  u unsigned  d double  b bool  s string  t status  a any  k an entry's name
char pons__bt_type_letter(const char *word); // 0: unknown
int pons__bt_type_kind(char letter);         // PONS__BT_EMPTY for any

// One entry of a blackboard. Remapping is known when the tree is built, so a key of a subtree is
// the very slot of the board that it ends at.
typedef struct pons__bt_slot_def {
    const char *key;
    uint32_t board;
    bool declared;       // a port points at it: it exists from the start
    char type;           // 0: fixed by its first write
    const char *initial; // of a literal given to a subtree, or NULL
} pons__bt_slot_def;

typedef struct pons__bt_slot {
    pons__bt_value v;
    bool exists;
    bool fixed;   // by a write; before it the kind is what a port has declared
    uint8_t kind; // PONS__BT_EMPTY: any
    uint64_t seq; // writes
} pons__bt_slot;

// As ':=' (create) and '=' do; key is for the message. Copies v.
int pons__bt_slot_assign(pons__bt_slot *s, const char *key, const pons__bt_value *v, bool create,
                         pons_error *err);
