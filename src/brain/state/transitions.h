// transitions.h - machines that are moved by events: one table each, (state, event) -> (state, what comes next).
//
//     static const pons__transition rows[] = {{ASKED, YES, APPROVED, "guardrails"}, …};
//
// What is not in the table cannot happen: a move says so and changes nothing. docs/internals/brain.md has them as drawings,
// which tests/brain/test_machines.c makes of the tables. Any thread.
#pragma once

#include "pons/error.h"

#include <stddef.h>

typedef struct pons__transition {
    int from, event, to;
    const char *next; // what comes next, or what is told: a word of the machine's; NULL: nothing
} pons__transition;

typedef struct pons__machine {
    const char *name, *means;
    const char *const *states; // each in the order of its enum, then NULL
    const char *const *events;
    const pons__transition *rows;
    size_t n;
} pons__machine;

// Of a file with `rows` and `event_words`.
#define PONS__MACHINE(noun, words, names)                                                          \
    const pons__machine pons__##noun##_machine = {.name = #noun,                                   \
                                                  .means = (words),                                \
                                                  .states = (names),                               \
                                                  .events = event_words,                           \
                                                  .rows = rows,                                    \
                                                  .n = sizeof rows / sizeof rows[0]}

// Moves *state by it. PONS_EPROTOCOL names the pair that is in no row; with err NULL it goes to the log.
int pons__machine_move(const pons__machine *m, int *state, int event, const char **ret_next,
                       pons_error *err);
