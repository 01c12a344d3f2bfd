// brain_session.h - the terminal of a brain at work, in its parts.
#pragma once

#include "cli/cli.h"

#define STDIN_LINE_MAX 4096

// ---- prompt_lines.c: what a person types, to the brain ------------------------------------------

typedef struct prompt_lines {
    cli *c;
    const char *thread;
    const pons_policy *policy;
    const cli_prompt_owner *owner; // or NULL
    pons_store store;
    pons_brain *brain;
    cli_display *display;
} prompt_lines;

void prompt_commands(pons_value *words); // with a slash, for Tab: added to this list of texts
// False: it says that the session is to be left.
bool prompt_line(prompt_lines *p, char *text);

typedef struct stdin_lines { // what was read, and not taken yet
    bool open;
    size_t length;
    char text[STDIN_LINE_MAX];
} stdin_lines;

bool stdin_read(stdin_lines *in); // false: its end
// The first of the lines that were read; false when there is no whole one.
bool stdin_line(stdin_lines *in, char ret[STDIN_LINE_MAX]);

// ---- step_hold.c: --step ------------------------------------------------------------------------

typedef struct step_hold {
    bool held, free_run; // announced and waiting for a word; not held any more
    pons_value *state, *next;
} step_hold;

// A superstep is due and held. What the last one did is shown once; then it waits for a word, or goes on at once when
// nobody can say one. True: the brain is to be polled again at once. *ret_quit: a word said so.
bool step_hold_turn(step_hold *h, prompt_lines *p, stdin_lines *in, bool *ret_quit);
void step_hold_clear(step_hold *h);
