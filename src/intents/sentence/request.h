// request.h - one verb of a sentence and what stands around it, and the reader that has got so far.
#pragma once

#include "intents/sentence/tokens.h"

#define PONS__ALSO_MAX 4

// One verb and what stands around it.
typedef struct pons__request {
    pons__word_class verb;
    pons__capture c;
    const pons__name *also[PONS__ALSO_MAX]; // more things
    size_t also_n, times;
    pons__word_class before; // the place that comes next: to it, in it, from it
    bool zone_is_source, thing_first, cancels, denied, me, kin, it, there, all, tasks, light, went,
        list, via, returns, total, more, drops, away, kept, excepts;
} pons__request;

typedef struct pons__clause {
    size_t first, goals; // its first token, and what there was before it
    bool others, asks, tag, polite, denied, past, due, you, verb, any, reason, addressed, unsure,
        acts;
    size_t words, unknown, unknown_bytes;
} pons__clause;

typedef struct pons__reader {
    pons__parse_state *s;
    pons__token t[PONS__TOKENS_MAX];
    size_t n, at;
    pons__request q;
    pons__clause c;
    bool thing;                                   // a clause named a thing and no more
    int64_t nth;                                  // a clause named a task and no more
    const pons__name *stated_zone, *stated_thing; // of a statement
    pons__capture stated_zones;
    bool waits;  // a wait was said, and not yet how long
    bool stated; // a clause stated what others do, and the next one may go on with it
    bool polite; // the last wish
    bool joined; // to the clause before it by a word
    bool wished;
    bool tells; // nothing but what others do
} pons__reader;

// What a request has, a bit each.
enum {
    SLOT_BIT_ZONES = 1,
    SLOT_BIT_THING = 2,
    SLOT_BIT_PLACE = 4,
    SLOT_BIT_NTH = 8,
    SLOT_BIT_SPAN = 16,
    SLOT_BIT_ME = 32
};
unsigned pons__request_slots(const pons__request *q);

// Makes goals of the reader's request, or of what is not wanted. 1; 0: it is none that can be done; or an error.
int pons__request_add(pons__reader *r);
int pons__request_add_unwanted(pons__reader *r);
