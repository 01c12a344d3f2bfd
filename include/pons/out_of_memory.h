// out_of_memory.h - what happens when there is no memory.
//
// A library function returns PONS_ENOMEM and leaves everything as it was. A process (the brain, the
// body outside its safety thread, the agent, MCP, the command line) cannot do anything sensible
// then: it ends here, in one way. The store has everything that was promised, and the body is safe
// alone.
#pragma once

#include "pons/linkage.h"

#include <stddef.h>

PONS_C_BEGIN

// Ends the process with status 3, after one line on stderr that names what the memory was for.
// Allocates nothing. Any thread.
__attribute__((noreturn)) void pons_end_no_memory(const char *what);

// malloc, calloc, realloc and strdup of a process: never NULL; without memory the process ends.
void *pons_need(size_t n);
void *pons_need_zeroed(size_t count, size_t n);
void *pons_need_more(void *old, size_t n);
char *pons_need_text(const char *text); // NULL gives NULL

// For a process, before its first thread: JSON values are allocated by pons_need, so that a value
// that cannot be made ends the process instead of being mistaken for one that was not given.
void pons_memory_of_a_process(void);

PONS_C_END
