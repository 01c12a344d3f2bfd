// program.c - `pons` but for its main(): the options that go with every command, and exit statuses.
//
// commands.c has the table of commands, each lives in cmd_*.c; src/app/ has what they do, and the only place that knows
// adapters by name; event_lines.c shows what happens.
#include "app/workspace/shown_language.h"
#include "cli/commands.h"

#include <stdlib.h>
#include <string.h>

static int said(cli *c, pons_error *err)
{
    const char *first = c->argc > 0 ? c->argv[0] : "help";
    const bool asked =
        strcmp(first, "help") == 0 || strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0;
    return asked ? cli_help(c, err) : cli_dispatch(c, err);
}

// The one place that gives exit codes out. An error is said here, as one line; an outcome has been.
static int exit_code(int status, const pons_error *err)
{
    static const struct {
        int status, code;
    } ends[] = {
        {PONS_OK, EXIT_DONE},
        {CLI_HELPED, EXIT_DONE},
        {APP_NO_SUCCESS, EXIT_NO_SUCCESS},
        {APP_WAITING, EXIT_WAITING},
        {APP_FAULTY, EXIT_BAD_INPUT},
        {APP_LACKING, EXIT_ENVIRONMENT},
        {PONS_ECORRUPT, EXIT_NO_SUCCESS}, // as `pons doctor` ends
        {PONS_EINVAL, EXIT_BAD_INPUT},
        {PONS_EEXIST, EXIT_BAD_INPUT},
        {PONS_ENOTFOUND, EXIT_BAD_INPUT},
        {PONS_EAMBIGUOUS, EXIT_BAD_INPUT},
        {PONS_ENOTPENDING, EXIT_BAD_INPUT},
    };
    if (status < 0 && status > CLI_HELPED) { // an error, which knows its own status
        cli_tell(err);
        status = err->status ? err->status : status;
    }
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        if (ends[i].status == status) {
            return ends[i].code;
        }
    }
    return EXIT_ENVIRONMENT;
}

// What was shown may not have arrived: half a file on a full disk is no success.
static int all_shown(const cli *c, int code)
{
    const char *why = cli_out_lost();
    if (why) {
        cli_err("pons: standard output: %-s\n", why);
    }
    return why && code == EXIT_DONE && !(c->self && c->self->moves) ? EXIT_ENVIRONMENT : code;
}

// --json and --workspace go with every command, in any position; "--" ends options. *ret_workspace: as typed, or NULL.
static int take_globals(cli *c, int argc, char **argv, const char **ret_workspace, pons_error *err)
{
    static char **kept; // as long as the process; static, so that it is reachable to the end
    kept = calloc((size_t)argc + 1, sizeof *kept);
    int n = 0;
    bool options = true;
    if (!kept) {
        return pons_error_set(err, PONS_ENOMEM, "", "out of memory");
    }
    for (int i = 1; i < argc; i++) {
        static const char with[] = "--workspace=";
        const bool apart = strcmp(argv[i], "--workspace") == 0;
        options = options && strcmp(argv[i], "--") != 0;
        if (options && strcmp(argv[i], "--json") == 0) {
            c->json = true;
        } else if (options && (apart || strncmp(argv[i], with, strlen(with)) == 0)) {
            const char *dir = apart ? argv[i + 1] : argv[i] + strlen(with);
            if (!dir || !*dir) { // "$DIR" that is not set is not the usual place
                return app_bad(err, "--workspace needs a directory");
            }
            *ret_workspace = dir;
            i += apart;
        } else {
            kept[n++] = argv[i];
        }
    }
    c->argc = n;
    c->argv = kept;
    return PONS_OK;
}

static void tell(const char *line)
{
    cli_err("%s\n", line);
}

int cli_main(int argc, char **argv)
{
    cli c = {0};
    pons_error err = PONS_ERROR_INIT, no = PONS_ERROR_INIT;
    const char *workspace = NULL;
    app_language_start();
    const int globals = take_globals(&c, argc, argv, &workspace, &no);
    int rc = app_setup(workspace, tell, &c.app, &err);
    if (globals < 0) {
        rc = globals;
        err = no;
    }
    rc = rc < 0 ? rc : said(&c, &err);
    cli_busy_end();
    return all_shown(&c, exit_code(rc, &err));
}
