// inbox_fields.h - what the kernel's inbox brings: people, other processes and the inner loop to the kernel (inbox_fields.c).
#pragma once

#include "brain/records/kernel_fields.h"

typedef enum pons__inbox_message_kind {
    PONS_LETTER_OTHER, // of a later program, or nobody's
    PONS_LETTER_SAY,
    PONS_LETTER_GOAL,
    PONS_LETTER_WISH,
    PONS_LETTER_RUN,
    PONS_LETTER_CONTROL,
    PONS_LETTER_ANSWER,
    PONS_LETTER_STOPPED,
    PONS_LETTER_RESULT,
} pons__inbox_message_kind;
extern const char *const pons__inbox_message_words[];

typedef struct pons__inbox_message {
    int kind; // pons__inbox_message_kind
    const pons_value *value;
} pons__inbox_message;
PONS__RECORD_OF(inbox_message);

typedef struct pons__said { // of say, goal, wish, run, control
    const char *text, *word, *by;
    const char *task; // NULL: none is named
    const pons_value *goals, *plan, *priority;
    int64_t deadline_ms;
    const char *stop_boot; // the stop of the body by then: of this boot, "": nobody could look;
    int64_t stop_number;   // with this number,
    bool stop_latched;     // in force
    bool stop_sent;        // of stop: whoever posted it has stopped the body first
    int64_t at_ms;         // wall: when it was said; 0: not told
    const char *nonce;     // NULL: nobody waits to hear what became of it
} pons__said;
PONS__RECORD_OF(said);

typedef struct pons__reply { // of answer, and the recorded answer of R5's wait
    const char *id, *answer; // of the question; in words. NULL: not said
    const char *action, *reason, *by, *nonce;
    int64_t at_ms;          // 0: not said
    int64_t op;             // of an edit: which operation, from 1; 0: none is named
    const pons_value *args; // of an edit: its arguments
    const pons_value *ops;  // of an edit: all operations anew
    bool detached, aside;   // the kernel took the wait back; and the question stays open
} pons__reply;
PONS__RECORD_OF(reply);

typedef struct pons__stopping { // of stopped
    int64_t activation;
    const char *reason;
} pons__stopping;
PONS__RECORD_OF(stopping);

// New: with what it means that a member is lacking. An answer without an action is a no.
pons__said *pons__said_read(const pons_value *value);
pons__reply *pons__reply_read(const pons_value *value);
pons__stopping *pons__stopping_read(const pons_value *value);
// The text that a letter says; of a run its last goal. NULL: none. Borrowed from the letter.
const char *pons__inbox_message_says(const pons__inbox_message *l);
