// rounds.h - how often the tests that try seeds, kills, faults or random inputs do so: the one table. `./dev test`
// takes the first number, `./dev test --full` the second; PONS_ROUNDS=kills=100,faults=9 takes those instead.
#ifndef PONS_TESTS_ROUNDS_H
#define PONS_TESTS_ROUNDS_H

// X(NAME, every time, before a release, what one round is)
#define ROUNDS(X)                                                                                  \
    X(kills, 3, 20, "a run that is killed and resumed until it is done")                           \
    X(agent_kills, 24, 1000, "an agent's turn that is killed at one of its commits")               \
    X(companion_kills, 16, 1000, "a companion's day that is killed at one of its commits")         \
    X(policy_observations, 2000, 40000, "a random observation that the rules decide on")           \
    X(policy_sentences, 1500, 20000, "a random sentence that the rules read")

typedef enum rounds_of {
#define X(name, usual, full, what) ROUNDS_##name,
    ROUNDS(X)
#undef X
} rounds_of;

// How many rounds of this are asked for, at least 1.
long rounds(rounds_of of);

#endif
