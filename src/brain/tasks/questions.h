// questions.h - the questions that are open, and which answer to one counts (questions.c).
#pragma once

#include "brain/records/inbox_fields.h"
#include "brain/records/kernel_fields.h"
#include "brain/state/transitions.h"
#include "pons/brain.h"
#include "pons/graph.h"

// Who says no where nobody has answered in time, and why.
#define PONS__DEADLINE  "the deadline"
#define PONS__NO_ANSWER "nobody answered before the deadline"

typedef struct pons__open { // borrowed, until a channel changes
    struct pons__open_one {
        const char *id;
        const pons__question *about; // NULL: the engine's own, of a fork
        pons__task *task; // that was put aside with it; NULL: the inner loop is parked with it
        bool answered;    // and nobody has acted on it yet
        bool own;         // the kernel's, not a task's: nothing waits for it (picture_consent.c)
    } *at;
    size_t n, unanswered; // the kernel's own count where no other is unanswered
    const char *next;     // the first that nobody has answered; NULL: there is none
} pons__open;

// The kernel's channel `hci` as a struct that stays in step with it (tasks.c says how). A node that changes
// it sets `changed` and puts it.
pons__hci *pons__hci_of(pons_brain *b, const pons_value *channel);
int pons__hci_put(pons_brain *b, pons_cx *cx); // where it was changed
void pons__hci_forget(pons_brain *b);

pons__open pons__questions_open(pons_brain *b); // the caller clears it
void pons__open_clear(pons__open *list);
#define PONS__AUTO_OPEN __attribute__((cleanup(pons__open_clear))) pons__open
// What an answer is: a yes (an edit is one), a no, or words that are neither.
typedef enum pons__meant { PONS_MEANT_YES, PONS_MEANT_NO, PONS_MEANT_WORDS } pons__meant;
pons__meant pons__reply_meant(pons_brain *b, const pons__reply *reply);
extern const pons__machine pons__question_machine;
// Whether questions stand in the kernel's letter, and the inner loop has not taken them up.
bool pons__questions_handed(pons_brain *b);
// Has it a question that nobody has answered?
bool pons__question_waits(const pons__task *task);
// The task whose question the inner loop waits with, while nothing moves; "": none.
const char *pons__question_asking(pons_brain *b);
// Is anything that the inner loop began still to end at the body? While a person is asked nobody takes up
// results, so what has ended there still stands among what runs.
bool pons__under_way(pons_brain *b);
// The kernel takes these questions back.
void pons__questions_close(pons_brain *b, pons_cx *cx, pons__list *asks, const char *why);
// The question whose yes the inner loop acts on; "": none. Borrowed until the next step.
const char *pons__question_acted_on(pons_brain *b);
// The answer that counts, whole; NULL: none. Borrowed.
const pons_value *pons__question_answer(const pons__hci *hci, const char *question);
// K5: a message is heard. Whether it counts: false for one that comes late, or answers nothing.
bool pons__answer_hear(pons_brain *b, pons_cx *cx, const pons_value *answer);
