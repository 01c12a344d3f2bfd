// commands.h - the table of commands, and what is made from it.
#pragma once

#include "cli/cli.h"

const cli_command *cli_commands(void); // ends with a NULL name
// NULL: there is none in the list, which ends with a NULL name or is NULL.
const cli_command *cli_command_find(const cli_command *list, const char *name);

// program.c: what main() does.
int cli_main(int argc, char **argv);
// What c->argv says: the command's name first.
int cli_dispatch(cli *c, pons_error *err);
// The same, without the name.
int cli_run_command(cli *c, const cli_command *command, pons_error *err);

// terminal/usage.c: `left`, and `text` beside it from a column on, in lines of at most 80 columns.
void cli_beside(const char *left, int column, const char *text);
// terminal/help.c: `pons help [COMMAND [WORD] | --man | --completion SHELL | --values KIND]`.
int cli_help(cli *c, pons_error *err);
int cli_help_man(pons_error *err);                           // terminal/man_page.c
int cli_help_completion(const char *shell, pons_error *err); // terminal/shell_completion.c
// maintenance/completion_values.c: `pons help --values KIND`, for the shells: the names of a kind, one a line.
int cli_help_values(cli *c, const char *kind, pons_error *err);

typedef struct cli_options {
    cli_option at[48]; // without where their values would go
    size_t n;
} cli_options;
// commands.c: what a command, or a word of it that has options of its own, takes.
int cli_options_of(const cli_command *command, const cli_command *word, cli_options *ret,
                   pons_error *err);
