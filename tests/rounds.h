// rounds.h - how often the tests that try seeds, kills, faults or random inputs do so: the one table. `./dev test`
// takes the first number, `./dev test --full` the second; PONS_ROUNDS=kills=100,faults=9 takes those instead.
#ifndef PONS_TESTS_ROUNDS_H
#define PONS_TESTS_ROUNDS_H

// X(NAME, every time, before a release, what one round is)
#define ROUNDS(X)                                                                                  \
    X(kills, 3, 20, "a run that is killed and resumed until it is done")                           \
    X(sweep_deaths, 9, 1000, "of a graph's life, a process that ends before or after a commit")    \
    X(sweep_deaths_server, 4, 1000, "the same on PostgreSQL")

typedef enum rounds_of {
#define X(name, usual, full, what) ROUNDS_##name,
    ROUNDS(X)
#undef X
} rounds_of;

// How many rounds of this are asked for, at least 1.
long rounds(rounds_of of);

#endif
