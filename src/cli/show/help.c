// help.c - what `pons help` shows: the commands, one of them with its words and options; and the man
// page and the shells' completions, which are made from the same table.
#include "cli/commands.h"
#include "cli/show/ink.h"

#include <string.h>

enum { PLAIN = 0, WIDTH = 80, NAME_COLUMNS = 13, WORD_COLUMNS = 34, OPTION_COLUMNS = 26 };

// `left`, and `text` beside it from a column on, in lines of at most WIDTH columns.
static void beside(const char *left, int column, const char *text)
{
    cli_autorich paragraph = {0}, first = {0}, rest = {0};
    cli_autorows rows = {0};
    const int used = (int)cli_columns(left, strlen(left));
    cli_rich_printf(&rest, PLAIN, "%*s", column, "");
    if (used > column ||
        (used == column && used > 0 && left[strlen(left) - 1] != ' ')) { // no room beside it: below
        cli_out("%s\n", left);
        cli_rich_printf(&first, PLAIN, "%*s", column, "");
    } else {
        cli_rich_printf(&first, PLAIN, "%s%*s", left, column - used, "");
    }
    cli_rich_add(&paragraph, PLAIN, text, SIZE_MAX);
    cli_rows_wrap(&rows, &paragraph, WIDTH, &first, &rest, false);
    cli_out_rows(&rows, true);
}

// The arguments of a command, or of a word of it, behind its name.
static void signature(const char *before, const char *name, const char *args)
{
    char left[256];
    snprintf(left, sizeof left, "%s%s ", before, name);
    beside(left, (int)cli_columns(left, strlen(left)), args);
}

int cli_usage(const cli *c, const cli_option *options)
{
    if (c->describer) {
        c->describer->take(c->describer->user, options);
        return CLI_HELPED;
    }
    cli_ink_locale();
    const cli_command *self = c->self, *what = c->word ? c->word : self;
    char before[128];
    snprintf(before, sizeof before, c->word ? "pons %s " : "pons ", self->name);
    if (what->args) {
        signature(before, what->name, what->args);
        beside("  ", 2, what->help);
    } else {
        snprintf(before, sizeof before, "pons %s: ", self->name);
        beside(before, (int)strlen(before), self->help);
    }
    cli_out(!c->word && self->words ? "\n" : "");
    for (const cli_command *w = c->word ? NULL : self->words; w && w->name; w++) {
        char left[256];
        snprintf(left, sizeof left, "  pons %s %s%s%s", self->name, w->name, *w->args ? " " : "",
                 w->args);
        beside(left, WORD_COLUMNS, w->help);
        if (w->run && !w[1].name) {
            cli_out("\n`pons help %s WORD` shows the options of each.\n", self->name);
        }
    }
    cli_out(options && options->name ? "\n" : "");
    for (const cli_option *o = options; o && o->name; o++) {
        char left[96];
        snprintf(left, sizeof left, "  %s%s%s", o->name, o->metavar ? " " : "",
                 o->metavar ? o->metavar : "");
        beside(left, OPTION_COLUMNS, o->help);
    }
    return CLI_HELPED;
}

static void all_commands(void)
{
    cli_ink_locale();
    cli_out("pons - the runtime that joins a language model to a robot\n\n");
    for (const cli_command *k = cli_commands(); k->name; k++) {
        char left[64];
        snprintf(left, sizeof left, "  %s", k->name);
        beside(left, NAME_COLUMNS, k->help);
    }
    cli_out("\n");
    beside(
        "", 0,
        "With every command: --json (one object a line on stdout), --workspace DIR (else "
        "$PONS_WORKSPACE, else ~/.pons). `pons help COMMAND` shows its options, `pons help --man` "
        "is the man page, `pons help --completion bash|zsh|fish` what a shell completes.");
    beside("", 0,
           "Exit: 0 done, 1 ended without success, 2 bad input, 3 environment, 4 waiting for a "
           "person.");
}

int cli_help(cli *c, pons_error *err)
{
    const char *topic = c->argc > 1 ? c->argv[1] : NULL;
    if (topic && strcmp(topic, "--man") == 0) {
        return cli_help_man(err);
    }
    if (topic && strcmp(topic, "--completion") == 0) {
        return cli_help_completion(c->argc > 2 ? c->argv[2] : "", err);
    }
    if (!topic) {
        all_commands();
        return PONS_OK;
    }
    static char asked[] = "--help";
    char *word = c->argc > 2 ? c->argv[2] : NULL;
    char *line[] = {c->argv[1], word ? word : asked, word ? asked : NULL, NULL};
    cli of = *c;
    of.argc = word ? 3 : 2;
    of.argv = line;
    return cli_dispatch(&of, err);
}

// ---- for the pages and the shells ---------------------------------------------------------------

static void take(void *user, const cli_option *options)
{
    cli_options *list = user;
    for (; options && options->name && list->n < sizeof list->at / sizeof list->at[0]; options++) {
        list->at[list->n++] = *options;
    }
}

int cli_options_of(const cli_command *command, const cli_command *word, cli_options *ret,
                   pons_error *err)
{
    static char asked[] = "--help";
    char name[64] = "";
    char *own[] = {asked, NULL}, *of_word[] = {name, asked, NULL};
    const cli_describer describer = {take, ret};
    const bool runs = word && word->run;
    ret->n = 0;
    if (word && !runs) { // the command's own
        return PONS_OK;
    }
    snprintf(name, sizeof name, "%s", runs ? word->name : "");
    cli c = {.argc = runs ? 2 : 1, .argv = runs ? of_word : own, .describer = &describer};
    const int rc = cli_run_command(&c, command, err);
    return rc == CLI_HELPED ? PONS_OK : rc;
}
