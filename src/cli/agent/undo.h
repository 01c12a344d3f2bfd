// undo.h - what tools wrote, listed and taken back: `pons agent undo`, and /undo in a chat.
#pragma once

#include "cli/agent/agent_cli.h"

#define CLI_UNDO_MAX 500 // versions that are kept

typedef struct cli_undo_words { // as they were typed, or NULL
    const char *list, *steps, *force, *thread, *folder;
} cli_undo_words;

// `pons agent undo [THREAD]`: the arguments are c's, "undo" the first.
int cli_agent_undo(cli *c, const cli_undo_words *words, pons_error *err);

// app_folder_find, with a person at this terminal.
int cli_folder_find(cli *c, const char *wanted, app_folder_ask ask, char ret[PATH_MAX],
                    pons_error *err);

// Of the providers the one that keeps versions; at: where its paths are said.
int cli_undo_list(cli_agent_view *v, const pons_tools *tools, size_t n, pons_error *err);
int cli_undo_take(cli_agent_view *v, const pons_tools *tools, size_t n, size_t steps, bool force,
                  pons_error *err);
