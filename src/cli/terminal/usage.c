// usage.c - what --help shows of a command: how it is called, its words, its options, in 80 columns, or those of a
// narrower terminal.
#include "app/workspace/shown_language.h"
#include "cli/commands.h"
#include "cli/terminal/styled_text.h"

#include <stdlib.h>
#include <string.h>

enum { PLAIN = 0, WIDTH = 80, NARROWEST = 20, WORD_COLUMNS = 34, OPTION_COLUMNS = 26, STEP = 4 };

static int width(void)
{
    const int columns = (int)cli_width(false);
    return columns >= NARROWEST && columns < WIDTH ? columns : WIDTH;
}

void cli_beside(const char *left, int column, const char *text)
{
    if (!*text) {
        cli_out("%s\n", left);
        return;
    }
    cli_autorich paragraph = {0}, first = {0}, rest = {0};
    cli_autorows rows = {0};
    const int used = (int)cli_columns(left, strlen(left)), wide = width();
    column = column > STEP && wide - column < NARROWEST ? STEP : column; // a narrow terminal
    cli_rich_printf(&rest, PLAIN, "%*s", column, "");
    if (used > column ||
        (used == column && used > 0 && left[strlen(left) - 1] != ' ')) { // no room beside it: below
        cli_out("%s\n", left);
        cli_rich_printf(&first, PLAIN, "%*s", column, "");
    } else {
        cli_rich_printf(&first, PLAIN, "%s%*s", left, column - used, "");
    }
    char *translated = app_translated(text, false);
    cli_rich_add(&paragraph, PLAIN, translated ? translated : text, SIZE_MAX);
    free(translated);
    cli_rows_wrap(&rows, &paragraph, wide, &first, &rest, false);
    cli_out_rows(&rows, true);
}

// The arguments of a command, or of a word of it, behind its name.
static void signature(const char *before, const char *name, const char *args)
{
    char left[256];
    snprintf(left, sizeof left, "%s%s%s", before, name, *args ? " " : "");
    cli_beside(left, (int)cli_columns(left, strlen(left)), args);
}

int cli_usage(const cli *c, const cli_option *options)
{
    if (c->describer) {
        c->describer->take(c->describer->user, options);
        return CLI_HELPED;
    }
    cli_style_locale();
    const cli_command *self = c->self, *what = c->word ? c->word : self;
    char before[128];
    snprintf(before, sizeof before, c->word ? "pons %s " : "pons ", self->name);
    if (what->args) {
        signature(before, what->name, what->args);
        cli_beside("  ", 2, what->help);
    } else {
        snprintf(before, sizeof before, "pons %s: ", self->name);
        cli_beside(before, (int)strlen(before), self->help);
    }
    cli_out(!c->word && self->words ? "\n" : "");
    for (const cli_command *w = c->word ? NULL : self->words; w && w->name; w++) {
        char left[256];
        snprintf(left, sizeof left, "  pons %s %s%s%s", self->name, w->name, *w->args ? " " : "",
                 w->args);
        cli_beside(left, WORD_COLUMNS, w->help);
        if (w->run && !w[1].name) {
            cli_out("\n`pons help %s WORD` shows the options of each.\n", self->name);
        }
    }
    cli_out(options && options->name ? "\n" : "");
    for (const cli_option *o = options; o && o->name; o++) {
        char left[96];
        snprintf(left, sizeof left, "  %s%s%s", o->name, o->metavar ? " " : "",
                 o->metavar ? o->metavar : "");
        cli_beside(left, OPTION_COLUMNS, o->help);
    }
    return CLI_HELPED;
}
