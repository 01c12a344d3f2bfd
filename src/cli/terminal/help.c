// help.c - what `pons help` shows: the commands, or what --help shows of one; and the man
// page and the shells' completions, which are made from the same table.
#include "cli/commands.h"
#include "cli/terminal/styled_text.h"

#include <string.h>

enum { NAME_COLUMNS = 13 };

static void all_commands(void)
{
    cli_style_locale();
    cli_out("pons - the runtime that joins a language model to a robot\n\n");
    for (const cli_command *k = cli_commands(); k->name; k++) {
        char left[64];
        snprintf(left, sizeof left, "  %s", k->name);
        cli_beside(left, NAME_COLUMNS, k->help);
    }
    cli_out("\n");
    cli_beside("", 0,
               "With every command: --json (one object a line on stdout), --workspace DIR (else "
               "$PONS_WORKSPACE, else ~/.pons where there is one, else ~/.local/share/pons). `pons "
               "help COMMAND` shows its options, `pons help --man` "
               "is the man page, `pons help --completion bash|zsh|fish` what a shell completes.");
    cli_beside("", 0,
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
    if (topic && strcmp(topic, "--values") == 0) {
        return cli_help_values(c, c->argc > 2 ? c->argv[2] : "", err);
    }
    if (topic && (strcmp(topic, "--help") == 0 || strcmp(topic, "-h") == 0)) {
        topic = NULL;
    }
    if (topic && *topic == '-') {
        return app_bad(err, "help takes a command, --man or --completion bash|zsh|fish, not '%s'",
                       topic);
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
