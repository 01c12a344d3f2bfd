// sandbox.h - where a command runs that nobody was asked about.
#pragma once

#include "tools/core/core.h"
#include "tools/core/read_write_guards.h"

#include <sys/types.h>

#define PONS__ARGV_MAX 256 // words of a command

typedef struct pons__run { // what a started command is made of
    const char *const *argv;
    const char *cwd; // normal
    const pons__masks *masks;
    bool git;
    const char *git_dir, *git_top; // normal, of the repository that git looks at; "": none
    int null, out;                 // descriptors
    int64_t memory_mb, file_mb;
} pons__run;
int pons__wall_create(const pons__core *c, pons__wall **ret);
void pons__wall_destroy(pons__wall *w); // NULL-safe
// Whether there is a wall on this machine: tried at the first question. PONS_EENV says why not.
int pons__wall_ready(const pons__core *c, pons_error *err);
void pons__wall_lost(const pons__core *c, const char *why); // what is hidden cannot be masked
// Starts a command behind it. *ret_pid is the caller's child.
int pons__wall_start(const pons__core *c, const pons__run *run, pid_t *ret_pid, pons_error *err);
// For tests only, which are linked with it: what the next walls may use. There is no other way.
enum { PONS__WALL_OWN = 1, PONS__WALL_BWRAP = 2 };
void pons__wall_permit(unsigned ways);
