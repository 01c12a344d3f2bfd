// rounds.h - how often the tests that try seeds, kills, faults or random inputs do so: the one table. `./dev test`
// takes the first number, `./dev test --full` the second; PONS_ROUNDS=kills=100,faults=9 takes those instead.
#ifndef PONS_TESTS_ROUNDS_H
#define PONS_TESTS_ROUNDS_H

// X(NAME, every time, before a release, what one round is)
#define ROUNDS(X)                                                                                  \
    X(brain_arbiter, 90, 1344, "a state of the arbiter, what the body says, and a word")           \
    X(brain_deaths, 5, 120, "a commit at which the brain is killed, in each story")                \
    X(brain_keep, 3, 14, "a write of a pass of store.keep at which it is killed")                  \
    X(brain_quiet, 3, 60, "seconds without a commit after which nothing more is waited for")       \
    X(brain_reads, 12, 100000, "a checkpoint of a namespace that is read with its values")         \
    X(kills, 3, 20, "a run that is killed and resumed until it is done")

typedef enum rounds_of {
#define X(name, usual, full, what) ROUNDS_##name,
    ROUNDS(X)
#undef X
} rounds_of;

// How many rounds of this are asked for, at least 1.
long rounds(rounds_of of);

#endif
