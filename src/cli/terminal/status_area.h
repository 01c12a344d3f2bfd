// status_area.h - the lower end of a terminal, which is drawn again while lines are printed above it.
//
//     … what was printed, and stays
//     live rows: an answer that is being written, a plan that ticks off, what tools say
//     agent > the line that a person types in, as many rows as it needs
//     status: model, tokens, cost
//
// There is one terminal. All functions: its thread.
#pragma once

#include "cli/terminal/styled_text.h"

// false: standard output is no terminal, or one that cannot move its cursor; nothing else does anything then.
bool cli_screen_start(void);
void cli_screen_stop(void);  // takes the lower end away; idempotent
bool cli_screen_style(void); // with colours

void cli_screen_live(const cli_rows *rows); // copied; NULL: none
void cli_screen_status(const char *text);   // copied; NULL: none
// What is typed: label, then n bytes of text with the cursor before byte `cursor`. NULL: nothing.
void cli_screen_input(const char *label, const char *text, size_t n, size_t cursor);

#define CLI_PROMPT_END " > " // of a label

bool cli_screen_has_input(void);

void cli_screen_hide(void); // before something is printed
void cli_screen_show(void); // after; draws it anew
// Rows above the lower end, which is drawn anew by the next show.
void cli_screen_print(const cli_rows *rows);
// The terminal tells pasted text from typed one (bracketed paste).
void cli_screen_paste(bool on);
