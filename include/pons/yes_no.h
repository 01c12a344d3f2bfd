// yes_no.h - what a person's words say to a question that wants a yes or a no, in English and Chinese.
//
//   switch (pons_yes_no_of(line, NULL, &reason)) { case PONS_SAID_YES: … }
//
// Whoever asks a person reads the answer with this: prompts, plans, approvals, the API, the rules. A yes is nothing
// but a yes: "ok?", 可以吗, 好像不行, "is that ok" and "yes, but slowly" are neither, and what is neither approves
// nothing. Nothing is allocated. From any thread.
#pragma once

#include "pons/linkage.h"

#include <stddef.h>

PONS_C_BEGIN

typedef enum pons_yes_no { PONS_SAID_NEITHER = 0, PONS_SAID_YES, PONS_SAID_NO } pons_yes_no;

// Words that count beside the program's own: small letters, of another language or a house.
typedef struct pons_yes_no_words {
    const char *const *yes, *const *no,
                                *const *beside; // beside: may stand at a yes without changing it
    size_t n_yes, n_no, n_beside;
} pons_yes_no_words;

// UTF-8; NULL says neither. more may be NULL. A no may have its reason behind it ("no, it is hot"): *ret_reason, which
// may be NULL, then points into the text, and at its end for every other answer.
pons_yes_no pons_yes_no_of(const char *text, const pons_yes_no_words *more,
                           const char **ret_reason);

// The program's own words, from 0; NULL: no more. *ret_says is neither for those that may stand beside a yes.
const char *pons_yes_no_word(size_t i, pons_yes_no *ret_says);

PONS_C_END
