// killer.h - a process that dies at its nth writing call of the system: what is durable by then is tried out
// by dying there. By ptrace, so any program; its children are left alone, its threads die with it.
#ifndef PONS_TEST_KILLER_H
#define PONS_TEST_KILLER_H

#include <stdbool.h>
#include <sys/types.h>

typedef struct killer {
    long
        at; // the process dies as it is about to make this writing call, from 1; 0: it goes on to its end
    long calls;                            // filled: how many it was about to make
    int status;                            // filled, as of waitpid
    void (*before)(void *user, long call); // while it stands before one; may be NULL
    void *user;
} killer;

// Attaches to a child that was just started, and waits for its end. False: this machine lets nobody.
bool killer_run(killer *k, pid_t pid);
// In a child made by fork: waits until killer_run has it.
void killer_wait(void);

#endif
