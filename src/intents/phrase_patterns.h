// phrase_patterns.h - sets of flat patterns: what is meant when words and slots stand in a text.
#pragma once

#include "intents/normalize.h"
#include "pons/value.h"

typedef enum pons__intent {
    INTENT_GO_TO,
    INTENT_BRING,
    INTENT_PUT,
    INTENT_PICK,     // takes a thing, and keeps it in hand
    INTENT_PUT_DOWN, // lets go of what is in hand
    INTENT_CHARGE,
    INTENT_WAIT,
    INTENT_SAY,
    INTENT_PATROL,
    INTENT_DO,      // a skill by its name, or in the words of its registry entry
    INTENT_SEE,     // says what things are in view, here or in a zone
    INTENT_LOOK_AT, // turns, or drives, so that a place or a thing is in view
    INTENT_FIND, // goes through the zones until it is seen, where the robot remembers what it sees
    INTENT_COME_BACK, // to where the robot stood before its last task
    INTENT_REPEAT,    // what the last task was
    INTENT_CANCEL,    // one of the tasks, by its place
    INTENT_WHERE,     // where are you: from here on, what is answered and moves nothing
    INTENT_BATTERY,   // how full it is
    INTENT_LOOK_FOR,  // whether a thing is there: said, in the zone where it has one
    INTENT_STATE,     // whether a thing is off, open, empty
    INTENT_HELP,      // what it can do here
    INTENT_DID,       // what was done last
    INTENT_NEXT,      // what is still to be done
    INTENT_DOING,     // what goes on
    INTENT_WHY,       // why it stands still
    INTENT_COUNT,
    INTENT_NONE = -1
} pons__intent;
const char *pons__intent_word(pons__intent intent);
pons__intent pons__intent_of(const char *word); // INTENT_NONE: there is no such intent

typedef enum pons__slot {
    SLOT_LITERAL,
    SLOT_ZONE,
    SLOT_ZONES,
    SLOT_OBJECT,
    SLOT_PLACE,
    SLOT_DURATION,
    SLOT_NUMBER, // 1.5, -2, one and a half is two words too many
    SLOT_NTH,    // "the second task", "task 3", 第二个, "the last one"
    SLOT_COORDS, // "1.5 2.0", "(1.5, 2)": in the map, and perhaps a yaw
    SLOT_TEXT
} pons__slot;

typedef struct pons__item {
    pons__slot slot;
    const char *literal; // SLOT_LITERAL, folded; of pons__literals
} pons__item;

// The pieces of a set's patterns: a hash table with open addressing, by what stands in the source.
typedef struct pons__literal {
    char *source; // (len), then its folded form with a zero
    size_t len;
} pons__literal;
typedef struct pons__literals {
    pons__literal *slot; // (room), a power of two
    size_t room, n;
} pons__literals;

// What is meant by saying it. The values are borrowed from where the pattern is from.
typedef struct pons__meaning {
    pons__intent intent;
    const pons_value *skill, *args; // of INTENT_DO
} pons__meaning;

#define PONS__PATTERN_ITEMS_MAX 8
typedef struct pons__pattern {
    pons__meaning means;
    bool known_only; // written with "=": matches known names alone
    size_t n;
    pons__item item[PONS__PATTERN_ITEMS_MAX];
} pons__pattern;

#define PONS__BUCKETS 256
typedef struct pons__patterns {
    pons__literals literals;
    pons__pattern *v; // (n)
    size_t n;
    // An index: the patterns that begin with a literal are by_first[first_at[k]..first_at[k + 1])
    // for the bucket k of its first character, those that begin with a slot are in the last one;
    // each in the order in which they were added.
    uint32_t *by_first; // (n)
    uint32_t first_at[PONS__BUCKETS + 2];
} pons__patterns;

// Adds all that a source says, multiplied out; path is its own, for messages. PONS_EINVAL: it is no
// pattern, and nothing of it is added.
int pons__patterns_add(pons__patterns *p, const pons__meaning *means, const pons_value *text,
                       const char *path, pons_error *err);
int pons__patterns_index(pons__patterns *p, pons_error *err); // once all are added
void pons__patterns_fini(pons__patterns *p);                  // leaves an empty set

// Which patterns may match at a place: a walk through one set and then another (NULL: none), each
// along two buckets in the order of the set.
typedef struct pons__candidates {
    const pons__patterns *in, *then;
    unsigned bucket;
    uint32_t a, a_end, b, b_end; // of by_first
} pons__candidates;
pons__candidates pons__candidates_at(const pons__patterns *p, const pons__patterns *then,
                                     const char *s, size_t pos, size_t end);
const pons__pattern *pons__candidates_next(pons__candidates *c); // NULL at the end
