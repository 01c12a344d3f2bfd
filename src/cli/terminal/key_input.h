// key_input.h - what a person's terminal sends, as keys and pastes.
#pragma once

#include "pons/buf.h"

#include <stdbool.h>

typedef enum cli_key {
    CLI_KEY_NONE,    // not whole yet
    CLI_KEY_OTHER,   // for the line's editor: its bytes
    CLI_KEY_ENTER,   // the line is said
    CLI_KEY_NEWLINE, // it goes on in another row: Alt-Enter, Ctrl-J
    CLI_KEY_PASTE,   // a text that was not typed: its bytes
    CLI_KEY_UP,
    CLI_KEY_DOWN,
    CLI_KEY_CTRL_D,
    CLI_KEY_CTRL_L
} cli_key;

typedef struct cli_keys { // {0}: nothing was sent
    pons_buf in;
    pons_buf paste; // so far
    bool pasting;
    bool too_long;    // the paste has lost its end
    bool raw_newline; // the line feed is a key of its own
} cli_keys;

void cli_keys_fini(cli_keys *k);
void cli_keys_add(cli_keys *k, const char *bytes, size_t n);
// Takes the next one. Its bytes stand in ret until the next call.
cli_key cli_keys_next(cli_keys *k, pons_buf *ret);
// A paste whose end did not come is given up: what is sent next are keys again.
void cli_keys_reset(cli_keys *k);
