// program.c - `pons` but for its main(): the options that go with every command, and exit statuses.
//
// commands.c has the table of commands, each lives in cmd_*.c; setup.c is the only place that knows
// adapters by name; brain_session.c
// runs a brain for `run` and `resume`; event_lines.c shows its events.
#include "cli/commands.h"
#include "cli/service.h"
#include "pons/config_file.h"
#include "pons/log.h"
#include "pons/module.h"
#include "pons/out_of_memory.h"
#include "pons/proc_stat.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
        {CLI_NO_SUCCESS, EXIT_NO_SUCCESS},
        {CLI_WAITING, EXIT_WAITING},
        {CLI_FAULTY, EXIT_BAD_INPUT},
        {CLI_LACKING, EXIT_ENVIRONMENT},
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
        cli_err("pons: standard output: %s\n", why);
    }
    return why && code == EXIT_DONE && !(c->self && c->self->moves) ? EXIT_ENVIRONMENT : code;
}

// --json and --workspace go with every command, in any position; "--" ends options.
static int take_globals(cli *c, int argc, char **argv, pons_error *err)
{
    const char *workspace = getenv("PONS_WORKSPACE");
    static char **kept; // as long as the process; static, so that it is reachable to the end
    kept = calloc((size_t)argc + 1, sizeof *kept);
    int n = 0;
    bool options = true;
    if (!kept) {
        return pons_error_set(err, PONS_ENOMEM, "", "out of memory");
    }
    for (int i = 1; i < argc; i++) {
        options = options && strcmp(argv[i], "--") != 0;
        if (options && strcmp(argv[i], "--json") == 0) {
            c->json = true;
        } else if (options && strcmp(argv[i], "--workspace") == 0) {
            if (i + 1 >= argc || !*argv[i + 1]) { // "$DIR" that is not set is not the usual place
                return cli_bad(err, "--workspace needs a directory");
            }
            workspace = argv[++i];
        } else if (options && strncmp(argv[i], "--workspace=", strlen("--workspace=")) == 0) {
            workspace = argv[i] + strlen("--workspace=");
            if (!*workspace) {
                return cli_bad(err, "--workspace needs a directory");
            }
        } else {
            kept[n++] = argv[i];
        }
    }
    char fallback[PATH_MAX], cwd[PATH_MAX] = ".";
    if (!workspace || !*workspace) {
        const int rc = pons_workspace_default(fallback, sizeof fallback, err);
        if (rc < 0) {
            return rc;
        }
        workspace = fallback;
    }
    const bool absolute = workspace[0] == '/';
    if (!absolute && !getcwd(cwd, sizeof cwd)) {
        cwd[0] = '.';
    }
    const int w = absolute ? snprintf(c->workspace, sizeof c->workspace, "%s", workspace)
                           : snprintf(c->workspace, sizeof c->workspace, "%s/%s", cwd, workspace);
    const int r = snprintf(c->run_dir, sizeof c->run_dir, "%s/run", c->workspace);
    const int d = snprintf(c->db, sizeof c->db, "%s/pons.db", c->workspace);
    if (w >= PATH_MAX || r >= PATH_MAX || d >= PATH_MAX) {
        return cli_bad(err, "the workspace's path is too long");
    }
    c->argc = n;
    c->argv = kept;
    return PONS_OK;
}

// A closed 0, 1 or 2 would be reused by the store's file, and a message would go into it.
static void hold_standard_fds(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) < 0) {
            const int null = open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY);
            if (null >= 0 && null != fd) {
                dup2(null, fd);
                close(null);
            }
        }
    }
}

int cli_main(int argc, char **argv)
{
    cli c = {0};
    pons_error err = PONS_ERROR_INIT;
    hold_standard_fds();
    pons_process_seal(); // before anything is read from the environment
    cli_service_open();
    umask(077); // what pons writes is its user's
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); // a file that may not grow is an error, not an end
    pons_value_init();
    pons_memory_of_a_process();
    pons_log_configure(NULL);
    int rc = take_globals(&c, argc, argv, &err);
    rc = rc < 0 ? rc : pons_module_workspace(c.workspace, &err);
    cli_worlds_of(c.workspace);
    rc = rc < 0 ? rc : said(&c, &err);
    return all_shown(&c, exit_code(rc, &err));
}
