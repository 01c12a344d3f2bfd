// rounds.h - how often the tests that try seeds, kills, faults or random inputs do so: the one table. `./dev test`
// takes the first number, `./dev test --full` the second; PONS_ROUNDS=kills=100,faults=9 takes those instead.
#ifndef PONS_TESTS_ROUNDS_H
#define PONS_TESTS_ROUNDS_H

// X(NAME, every time, before a release, what one round is)
#define ROUNDS(X)                                                                                  \
    X(kills, 2, 20, "a run that is killed and resumed until it is done")                           \
    X(latched_kills, 6, 24, "a stop, and brain and body killed up to 50 ms after its answer")        \
    X(arm_tables, 1, 20, "the six steps of an arm, at a table that is laid by its seed")             \
    X(errand_dog_kills, 4, 20, "a watchdog that dies at a writing call while a task is at work")     \
    X(errand_run_kills, 3, 20, "the run of that task dies at one")                                   \
    X(watchdog_kills, 3, 40, "a watchdog that dies at a writing call, each kind on each store")

typedef enum rounds_of {
#define X(name, usual, full, what) ROUNDS_##name,
    ROUNDS(X)
#undef X
} rounds_of;

// How many rounds of this are asked for, at least 1.
long rounds(rounds_of of);

#endif
