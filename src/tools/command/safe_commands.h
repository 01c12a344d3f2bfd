// safe_commands.h - the commands that run unasked: one program of the table with options in full, and
// words that mean nothing but themselves. They are run as they were read, without a shell.
#pragma once

#include "tools/core/core.h"
#include "tools/sandbox/sandbox.h"

typedef struct pons__command {
    char *argv[PONS__ARGV_MAX + 1]; // into text
    size_t n;
    char *text; // the caller frees with pons__command_fini
    size_t used, room;
    bool git;
    char git_dir[PATH_MAX], git_top[PATH_MAX]; // from the workspace; "": there is none
} pons__command;
// PONS_EREFUSED and one line on why when it is none. cwd is normal.
int pons__grammar_read(const pons__core *c, const char *command, const char *cwd,
                       pons__command *ret, pons_error *err);
void pons__command_fini(pons__command *cmd);
bool pons__invisible(const char *text); // has a control or an invisible character, or bad UTF-8
