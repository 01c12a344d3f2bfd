// shell_process.h - a shell command with everything that it starts, ended as one.
#pragma once

#include <stdbool.h>
#include <sys/types.h>

typedef struct pons__shell_run {
    const char *command;     // for /bin/sh -c
    char *const *env;        // NAME=value, ends with NULL
    int cwd, in, out;        // descriptors: a folder, its standard input, its output and errors
    long file_mb, memory_mb; // of a file it writes, of its memory; 0 for memory: no limit
} pons__shell_run;

typedef struct pons__shell {
    pid_t pid;   // of the subreaper: over means that nothing of the command is left
    int control; // closed by pons__shell_end
} pons__shell;

// Starts it. Returns false with errno when nothing was started. Any thread; does not block.
bool pons__shell_start(const pons__shell_run *run, pons__shell *ret);

// Sends SIGTERM to the command's process group.
void pons__shell_terminate(const pons__shell *s);

// Kills what is left, waits for it, and returns the shell's wait status.
int pons__shell_end(pons__shell *s);
