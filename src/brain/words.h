// words.h - what the policy makes of words (ext/policy.h), as structs; nothing stores them (words.c).
#ifndef PONS_BRAIN_WORDS_H
#define PONS_BRAIN_WORDS_H

#include "brain/state.h"

typedef struct pons__understood { // parse
    const char *control;          // a word of control; NULL: none
    pons__list goals;             // pons__goal
    bool urgent;
} pons__understood;
extern const pons__record pons__understood_record;

typedef struct pons__timed { // when
    const char *schedule, *text;
} pons__timed;
extern const pons__record pons__timed_record;

typedef struct pons__naming { // place
    const char *word, *name;
} pons__naming;
extern const pons__record pons__naming_record;

typedef struct pons__hurry { // pace
    const char *word;
    double number;
    bool at_most;
    const char *before, *rest; // NULL: nothing else was said
} pons__hurry;
extern const pons__record pons__hurry_record;

#endif
