// intent_fields.h - what the policy makes of words (ext/policy.h), as structs; nothing stores them (intent_fields.c).
#pragma once

#include "brain/records/kernel_fields.h"

typedef struct pons__understood { // parse
    const char *control;          // a word of control; NULL: none
    pons__list goals;             // pons__goal
    const pons_value *cancel;     // of `cancel`: which tasks, {nth | number | goals}; NULL: all
    bool urgent, guessed;         // guessed: what is asked, by its words; a model may know better
} pons__understood;
PONS__RECORD_OF(understood);

typedef struct pons__timed { // when
    const char *schedule, *text;
} pons__timed;
PONS__RECORD_OF(timed);

typedef struct pons__naming { // place
    const char *word, *name;
} pons__naming;
PONS__RECORD_OF(naming);

typedef struct pons__hurry { // pace
    const char *word;
    double number;
    bool at_most;
    const char *before, *rest; // NULL: nothing else was said
} pons__hurry;
PONS__RECORD_OF(hurry);
