// plan.h - what the files of the wall share: the plan of one command, made before its process is.
#pragma once

#include "tools/sandbox/sandbox.h"

#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#define PONS__PLAN_ENV    32
#define PONS__PLAN_MASKS  2048
#define PONS__PLAN_PLACES 32

typedef struct pons__place { // of the machine that a command sees, read-only
    const char *path;
    char link[64]; // what it leads to; "": it is no link
    bool dir, program;
} pons__place;

typedef struct pons__plan {
    const pons__run *run;
    const char *workspace;
    struct stat root; // the workspace's identity
    uid_t uid;
    gid_t gid;
    const void *filter;
    size_t filter_bytes;
    int report_fd;
    bool failed;
    pons__place places[PONS__PLAN_PLACES];
    size_t n_places;
    pons__mask masks[PONS__PLAN_MASKS];
    size_t n_masks;
    char passwd[160], group[160], program[PATH_MAX];
    char env_text[4 * PATH_MAX];
    size_t env_used;
    char *env[PONS__PLAN_ENV + 1];
    size_t n_env;
} pons__plan;

typedef struct pons__wall_report {
    int error;
    char what[60];
} pons__wall_report;

void pons__plan_free(pons__plan *p);
_Noreturn void pons__wall_fail(const pons__plan *p, const char *what);

// namespaces.c, in the child. The namespaces are there already; each ends the process when it can't.
void pons__wall_enter(pons__plan *p);  // users, mounts, the new root
void pons__wall_bolt(pons__plan *p);   // capabilities, new privileges, Landlock
void pons__wall_filter(pons__plan *p); // the last: system calls

// bwrap.c. The same by /usr/bin/bwrap.
int pons__wall_bwrap(pons__plan *p, pid_t *ret_pid, pons_error *err);
