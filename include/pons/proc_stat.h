// proc_stat.h - another process of this machine, by its number.
#pragma once

#include "pons/linkage.h"

#include <stdbool.h>
#include <stdint.h>

PONS_C_BEGIN

// When it began, in ticks since the boot (proc(5), starttime); 0: there is none, or it has ended and nobody has taken
// its status yet.
uint64_t pons_process_start(int64_t pid);

// A process that is killed may leave the lock of a file, for a moment, to a child of its that is about to be another
// program. pid: who has the lock, by what the file says; *tries: 0 before the first time. True: that one has ended, so
// the lock is worth another try, for which this has waited 10 ms; 500 times at most.
bool pons_process_left_lock(int64_t pid, int *tries);

// Closes this process to the others of its user, who run what a model wrote: the environment, in which keys are, moves to
// where /proc/PID/environ does not show it (getenv finds it as before), and nobody may trace it, read its memory or
// dump it. Of a process that has no thread yet; its children begin as they are. A pointer that getenv gave before is
// no longer one.
void pons_process_seal(void);

PONS_C_END
