// lexicon.h - what the words of everyday sentences mean: each has one class.
#pragma once

#include "intents/normalize.h"

#include <stdint.h>

// The verbs first. In the order in which a word of two classes is looked for.
typedef enum pons__word_class {
    WORD_GO,
    WORD_COME_BACK,
    WORD_BRING,
    WORD_PUT,
    WORD_PICK,
    WORD_FIND,
    WORD_LOOK,
    WORD_PATROL,
    WORD_CHARGE,
    WORD_WAIT,
    WORD_REPEAT,
    WORD_WISH,   // "I want": a thing is to be brought, and of anything else it is a statement
    WORD_CANCEL, // beside what is cancelled
    WORD_VERBS = WORD_CANCEL,
    WORD_TO, // of places
    WORD_WITHIN,
    WORD_FROM,
    WORD_VIA,     // a way, which cannot be left out
    WORD_RETURNS, // there and back
    WORD_TOTAL,   // how often in all
    WORD_THERE,   // a place that was named before
    WORD_ME,
    WORD_IT,
    WORD_TASKS,
    WORD_EVERYWHERE, // of the list that the patterns use, too
    WORD_ALL,
    WORD_YOU,
    WORD_OTHERS,   // of whom a sentence tells
    WORD_KIN,      // others, who stand for the speaker
    WORD_FOR,      // before those
    WORD_COURTESY, // of "if you don't mind", and of nothing else
    WORD_SUPPOSES, // conditional or reported: nothing in the sentence is a wish
    WORD_HEDGES,   // what is thought, usual, past or to come: a statement, and no wish
    WORD_REASONS,
    WORD_ASKS,
    WORD_TAGS,  // ask at the end of a clause, where it is not polite
    WORD_IS,    // asks at the beginning of a clause, and states behind it
    WORD_LIGHT, // verbs that say nothing without what is behind them: "have a", "do the"
    WORD_DUE,   // it is time to
    WORD_PAST,  // it is done already, where it is not due
    WORD_DENIES,
    WORD_CORRECTS, // from here on the lists that the patterns use, too
    WORD_THEN,
    WORD_AND,
    WORD_EXCEPT,
    WORD_POLITE,
    WORD_URGENT,
    WORD_IGNORED,
    WORD_CLASSES,
    WORD_NAME = WORD_CLASSES, // and what is no word of a list
    WORD_DURATION,
    WORD_NTH,
    WORD_TIMES,
    WORD_MARK, // , ; .
    WORD_UNKNOWN,
    WORD_NONE
} pons__word_class;

typedef struct pons__lexicon {
    struct pons__entry {
        const char *word; // folded; of the lists in `owned`, or of others that outlive it
        pons__word_class is;
    } *v; // (n), by first byte, then the longest first
    size_t n;
    uint32_t first_at[257];
    pons__words owned[WORD_CLASSES];
} pons__lexicon;

// The key of a class under /lexicon; NULL: its words are another list's.
const char *pons__word_class_key(pons__word_class is);
int pons__lexicon_add(pons__lexicon *l, const pons__words *words,
                      pons__word_class is); // PONS_OK or PONS_ENOMEM
void pons__lexicon_sort(pons__lexicon *l);  // once all are added
// The longest word at pos: 0, or the position after it.
size_t pons__lexicon_at(const pons__lexicon *l, const char *s, size_t pos, size_t end,
                        pons__word_class *ret);
