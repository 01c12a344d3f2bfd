// shell_completion.c - what bash, zsh and fish complete after `pons`, made from the table of commands.
//
// All three know commands, their words and their options. The names of threads, places, worlds and their like they ask
// pons for (`pons help --values KIND`), in the workspace that the line names; the tables below say what stands where.
// Everything else is completed as a file name.
#include "cli/commands.h"
#include "pons/buf.h"

#include <string.h>

static const char *const always[] = {"--help", "--json", "--workspace"};

// What the first argument names of a command, or of a word of it.
static const struct {
    const char *command, *word; // word NULL: the command itself
    const char *kind;           // of maintenance/completion_values.c
} firsts[] = {
    {"resume", NULL, "threads"},        {"status", NULL, "threads"},
    {"approve", NULL, "threads"},       {"threads", "show", "threads"},
    {"threads", "history", "threads"},  {"threads", "events", "threads"},
    {"threads", "fork", "threads"},     {"threads", "copy", "threads"},
    {"threads", "prune", "threads"},    {"threads", "rm", "threads"},
    {"graph", "show", "graphs"},        {"graph", "run", "graphs"},
    {"graph", "resume", "threads"},     {"graph", "update", "threads"},
    {"graph", "cancel", "threads"},     {"map", "show", "worlds"},
    {"map", "check", "worlds"},         {"map", "zones", "worlds"},
    {"map", "sdf", "worlds"},           {"map", "nav2", "worlds"},
    {"places", "forget", "places"},     {"schedule", "remove", "schedules"},
    {"schedule", "pause", "schedules"}, {"schedule", "continue", "schedules"},
    {"config", "show", "configs"},      {"config", "check", "configs"},
    {"config", "path", "configs"},      {"logs", NULL, "logs"},
    {"scenario", "run", "scenarios"},   {"help", "--completion", "shells"},
};
enum { FIRSTS = sizeof firsts / sizeof firsts[0] };

// What the value of an option names, whichever command has it.
static const struct {
    const char *option, *kind;
} values[] = {{"--thread", "threads"}, {"--world", "worlds"},        {"--driver", "drivers"},
              {"--stream", "modes"},   {"--priority", "priorities"}, {"--dialect", "dialects"}};
enum { VALUES = sizeof values / sizeof values[0] };

static const char *kind_of(const char *option)
{
    for (size_t i = 0; i < VALUES; i++) {
        if (strcmp(values[i].option, option) == 0) {
            return values[i].kind;
        }
    }
    return NULL;
}

// A text in single quotes: none of them inside.
static void quoted(pons_buf *b, const char *s)
{
    pons_buf_str(b, "'");
    for (; *s; s++) {
        if (*s == '\'') {
            pons_buf_str(b, "'\\''");
        } else {
            pons_buf_bytes(b, s, 1);
        }
    }
    pons_buf_str(b, "'");
}

// "[COMMAND [WORD]]": what may follow, as words of one line.
static void row(pons_buf *b, const char *pattern, const cli_command *words, const cli_options *list)
{
    pons_buf_printf(b, "    %s) known='", pattern);
    for (; words && words->name; words++) {
        pons_buf_printf(b, "%s ", words->name);
    }
    for (size_t i = 0; list && i < list->n; i++) {
        pons_buf_printf(b, "%s ", list->at[i].name);
    }
    for (size_t i = 0; i < sizeof always / sizeof always[0]; i++) {
        pons_buf_printf(b, "%s%s", always[i], i + 1 < sizeof always / sizeof always[0] ? " " : "");
    }
    pons_buf_str(b, "' ;;\n");
}

static int rows(pons_buf *b, pons_error *err)
{
    int rc = PONS_OK;
    for (const cli_command *k = cli_commands(); k->name && rc >= 0; k++) {
        cli_options list;
        char pattern[128];
        for (const cli_command *w = k->words; w && w->name && rc >= 0; w++) {
            rc = w->run ? cli_options_of(k, w, &list, err) : PONS_OK;
            snprintf(pattern, sizeof pattern, "'%s %s'", k->name, w->name);
            if (w->run && rc >= 0) {
                row(b, pattern, NULL, &list);
            }
        }
        rc = rc < 0 ? rc : cli_options_of(k, NULL, &list, err);
        snprintf(pattern, sizeof pattern, "'%s '*", k->name);
        if (rc >= 0) {
            row(b, pattern, k->words, &list);
        }
    }
    return rc;
}

static void command_names(pons_buf *b)
{
    for (const cli_command *k = cli_commands(); k->name; k++) {
        pons_buf_printf(b, "%s ", k->name);
    }
    pons_buf_str(b, "help version");
}

// The words of each command, for `help COMMAND`.
static void help_rows(pons_buf *b)
{
    for (const cli_command *k = cli_commands(); k->name; k++) {
        if (k->words) {
            pons_buf_printf(b, "    'help %s') known='", k->name);
            for (const cli_command *w = k->words; w->name; w++) {
                pons_buf_printf(b, "%s%s", w == k->words ? "" : " ", w->name);
            }
            pons_buf_str(b, "' most=2 ;;\n");
        }
    }
}

// The rows, then what follows `help`, then what is first. What goes with every command has been left out
// of the words `w`, as it may stand anywhere.
static int all_rows(pons_buf *b, pons_error *err)
{
    const int rc = rows(b, err);
    help_rows(b);
    pons_buf_str(b, "    'help '*) known='");
    command_names(b);
    pons_buf_str(b, " --man --completion' ;;\n    ' ') known='");
    command_names(b);
    pons_buf_str(b, " --help --version --json --workspace' ;;\n  esac\n");
    return rc;
}

// Which kind of name is wanted: by the option before, else by the words.
static void kind_rows(pons_buf *b)
{
    pons_buf_str(b, "  case $prev in\n");
    for (size_t i = 0; i < VALUES; i++) {
        pons_buf_printf(b, "    %s) kind=%s ;;\n", values[i].option, values[i].kind);
    }
    pons_buf_str(b, "    --completion | [!-]*)\n      case \"$line\" in\n");
    for (size_t i = 0; i < FIRSTS; i++) {
        pons_buf_printf(b, "        '%s%s%s') kind=%s ;;\n", firsts[i].command,
                        firsts[i].word ? " " : "", firsts[i].word ? firsts[i].word : "",
                        firsts[i].kind);
    }
    pons_buf_str(b, "      esac ;;\n  esac\n");
}

// A script for a shell, with its rows where the script has this line.
static int script(pons_buf *b, const char *text, pons_error *err)
{
    static const char line[] = "    # what pons has\n";
    const char *at = strstr(text, line);
    pons_buf_bytes(b, text, (size_t)(at - text));
    const int rc = all_rows(b, err);
    kind_rows(b);
    pons_buf_printf(b, "%s\n", at + strlen(line));
    return rc;
}

static int bash(pons_buf *b, pons_error *err)
{
    static const char text[] = {
#include "cli/terminal/completion.bash.h"
    };
    return script(b, text, err);
}

static int zsh(pons_buf *b, pons_error *err)
{
    static const char text[] = {
#include "cli/terminal/completion.zsh.h"
    };
    return script(b, text, err);
}

static void fish_options(pons_buf *b, const char *command, const char *word, const cli_options *l)
{
    for (size_t i = 0; i < l->n; i++) {
        const cli_option *o = &l->at[i];
        const char *kind = kind_of(o->name);
        pons_buf_printf(b, "complete -c pons -n '__pons_in %s%s%s' -l %s", command, word ? " " : "",
                        word ? word : "", o->name + 2);
        if (kind) {
            pons_buf_printf(b, " -x -a '(__pons_values %s)'", kind);
        } else if (o->metavar && *o->metavar != '[') {
            pons_buf_str(b, " -r");
        }
        pons_buf_str(b, " -d ");
        quoted(b, o->help);
        pons_buf_str(b, "\n");
    }
}

// The words before the cursor that are no options; those that begin with the arguments; just these.
static const char fish_functions[] = {
#include "cli/terminal/completion.fish.h"
};

static int fish(pons_buf *b, pons_error *err)
{
    int rc = PONS_OK;
    pons_buf_str(b, fish_functions);
    pons_buf_str(b, "\ncomplete -c pons -f -n '__pons_at help' -a '");
    command_names(b);
    pons_buf_str(b, "'\n");
    for (const cli_command *k = cli_commands(); k->name && rc >= 0; k++) {
        cli_options list;
        pons_buf_printf(b, "complete -c pons -f -n __pons_at -a %s -d ", k->name);
        quoted(b, k->help);
        pons_buf_str(b, "\n");
        rc = cli_options_of(k, NULL, &list, err);
        fish_options(b, k->name, NULL, &list);
        for (const cli_command *w = k->words; w && w->name && rc >= 0; w++) {
            pons_buf_printf(b,
                            "complete -c pons -f -n '__pons_at %s; or __pons_at help %s' -a %s -d ",
                            k->name, k->name, w->name);
            quoted(b, w->help);
            pons_buf_str(b, "\n");
            rc = cli_options_of(k, w, &list, err);
            fish_options(b, k->name, w->name, &list);
        }
    }
    for (size_t i = 0; i < FIRSTS; i++) {
        pons_buf_printf(b, "complete -c pons -f -n '__pons_at %s%s%s' -a '(__pons_values %s)'\n",
                        firsts[i].command, firsts[i].word ? " " : "",
                        firsts[i].word ? firsts[i].word : "", firsts[i].kind);
    }
    return rc;
}

int cli_help_completion(const char *shell, pons_error *err)
{
    static const struct {
        const char *name;
        int (*write)(pons_buf *b, pons_error *err);
    } shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
    for (size_t i = 0; i < sizeof shells / sizeof shells[0]; i++) {
        if (strcmp(shells[i].name, shell) == 0) {
            pons_autobuf b = PONS_BUF_INIT;
            const int rc = shells[i].write(&b, err);
            if (b.failed) {
                return pons_error_set(err, PONS_ENOMEM, "", "out of memory");
            }
            if (rc >= 0) {
                cli_out_text(b.data, b.len);
            }
            return rc;
        }
    }
    return app_bad(err, "help --completion takes bash, zsh or fish, not '%s'", shell);
}
