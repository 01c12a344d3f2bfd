// shells.c - what bash, zsh and fish complete after `pons`, made from the table of commands.
//
// All three know commands, their words and their options; an option's value and everything else is
// completed as a file name.
#include "cli/commands.h"
#include "pons/buf.h"

#include <string.h>

static const char *const always[] = {"--help", "--json", "--workspace"};

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

// The rows, then what follows `help`, then what is first. What goes with every command has been left out
// of the words `w`, as it may stand anywhere.
static int all_rows(pons_buf *b, pons_error *err)
{
    const int rc = rows(b, err);
    pons_buf_str(b, "    'help '*) known='");
    command_names(b);
    pons_buf_str(b, " --man --completion' ;;\n    ' ') known='");
    command_names(b);
    pons_buf_str(b, " --help --version --json --workspace' ;;\n  esac\n");
    return rc;
}

static int bash(pons_buf *b, pons_error *err)
{
    pons_buf_str(b, "# bash completion of pons\n_pons() {\n"
                    "  local now=${COMP_WORDS[COMP_CWORD]} known= i\n"
                    "  local -a w=()\n"
                    "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
                    "    case ${COMP_WORDS[i]} in\n"
                    "      --json) ;;\n"
                    "      --workspace) [ \"${COMP_WORDS[i + 1]}\" = = ] && ((i++)); ((i++)) ;;\n"
                    "      *) w+=(\"${COMP_WORDS[i]}\") ;;\n"
                    "    esac\n"
                    "  done\n"
                    "  case \"${w[0]} ${w[1]}\" in\n");
    const int rc = all_rows(b, err);
    pons_buf_str(
        b, "  COMPREPLY=()\n"
           "  case $now in\n"
           "    -*) COMPREPLY=($(compgen -W \"$known\" -- \"$now\")) ;;\n"
           "    *) [ ${#w[@]} -le 1 ] && [ \"${COMP_WORDS[COMP_CWORD - 1]}\" != --workspace ] &&\n"
           "        COMPREPLY=($(compgen -W \"$known\" -- \"$now\" | grep -v '^-')) ;;\n"
           "  esac\n"
           "}\ncomplete -o default -F _pons pons\n");
    return rc;
}

static int zsh(pons_buf *b, pons_error *err)
{
    pons_buf_str(b, "#compdef pons\n# zsh completion of pons\n_pons() {\n"
                    "  local known= i\n"
                    "  local -a w some\n"
                    "  for ((i = 2; i < CURRENT; i++)); do\n"
                    "    case $words[i] in\n"
                    "      --json | --workspace=*) ;;\n"
                    "      --workspace) ((i++)) ;;\n"
                    "      *) w+=($words[i]) ;;\n"
                    "    esac\n"
                    "  done\n"
                    "  case \"$w[1] $w[2]\" in\n");
    const int rc = all_rows(b, err);
    pons_buf_str(b, "  if [[ $PREFIX == -* ]]; then some=(${(M)${(z)known}:#-*})\n"
                    "  elif (( $#w <= 1 )) && [[ $words[CURRENT-1] != --workspace ]]; then "
                    "some=(${${(z)known}:#-*}); fi\n"
                    "  (( $#some )) && compadd -a some || _files\n"
                    "}\nif [[ $zsh_eval_context[-1] == loadautofunc ]]; then _pons \"$@\"; "
                    "else compdef _pons pons; fi\n");
    return rc;
}

static void fish_options(pons_buf *b, const char *command, const char *word, const cli_options *l)
{
    for (size_t i = 0; i < l->n; i++) {
        const cli_option *o = &l->at[i];
        pons_buf_printf(b, "complete -c pons -n '__fish_seen_subcommand_from %s", command);
        if (word) {
            pons_buf_printf(b, "; and __fish_seen_subcommand_from %s", word);
        }
        pons_buf_printf(b, "' -l %s%s -d ", o->name + 2, o->metavar ? " -r" : "");
        quoted(b, o->help);
        pons_buf_str(b, "\n");
    }
}

static int fish(pons_buf *b, pons_error *err)
{
    int rc = PONS_OK;
    pons_buf_str(b, "# fish completion of pons\n"
                    "complete -c pons -l json -d 'one object a line'\n"
                    "complete -c pons -l workspace -r -d 'where state and configuration are'\n"
                    "complete -c pons -f -n __fish_use_subcommand -a 'help version'\n"
                    "complete -c pons -f -n '__fish_seen_subcommand_from help; and test (count "
                    "(commandline -opc)) -eq 2' -a '");
    command_names(b);
    pons_buf_str(b, "'\n");
    for (const cli_command *k = cli_commands(); k->name && rc >= 0; k++) {
        cli_options list;
        pons_buf_printf(b, "complete -c pons -f -n __fish_use_subcommand -a %s -d ", k->name);
        quoted(b, k->help);
        pons_buf_str(b, "\n");
        rc = cli_options_of(k, NULL, &list, err);
        fish_options(b, k->name, NULL, &list);
        for (const cli_command *w = k->words; w && w->name && rc >= 0; w++) {
            pons_buf_printf(b,
                            "complete -c pons -n '__fish_seen_subcommand_from %s; and test (count "
                            "(commandline -opc)) -eq 2' -a %s -d ",
                            k->name, w->name);
            quoted(b, w->help);
            pons_buf_str(b, "\n");
            rc = cli_options_of(k, w, &list, err);
            fish_options(b, k->name, w->name, &list);
        }
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
    return cli_bad(err, "help --completion takes bash, zsh or fish, not '%s'", shell);
}
