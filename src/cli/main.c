// main.c - `pons`: the command table, the options that go with every command, and the dispatch.
//
// Each command lives in cmd_*.c; setup.c is the only place that knows adapters by name; session.c
// runs a brain for `run` and `resume`; display.c shows its events.
#include "cli/cli.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pons/log.h"

const cli_command cli_commands[] = {
    {"run", "pons run [GOAL…|--plan FILE]",
     "start or join a body and pursue the goals; without GOAL: a prompt", cmd_run},
    {"resume", "pons resume [THREAD] [--step]", "go on with what was cut short", cmd_resume},
    {"threads", "pons threads [list | show|history|events|prune|rm THREAD | fork|copy THREAD NEW]",
     "list threads, look into one, replay its events, fork it, make it smaller", cmd_threads},
    {"status", "pons status [THREAD]", "mode, battery, pose, tasks, skills, decision", cmd_status},
    {"say", "pons say TEXT [--thread ID]", "say something to a running brain", cmd_say},
    {"stop", "pons stop [REASON]", "latch a protective stop", cmd_stop},
    {"reset", "pons reset", "lift the latch", cmd_reset},
    {"pause", "pons pause [--thread ID]", "pause the task; it keeps its place", cmd_pause},
    {"continue", "pons continue [--thread ID]", "go on after a pause", cmd_continue},
    {"approve", "pons approve [THREAD] [approve | edit JSON | reject REASON]",
     "show or answer what a run waits for", cmd_approve},
    {"body", "pons body [--driver mujoco|kinematic] [--world NAME]", "own a robot and serve it",
     cmd_body},
    {"scenario", "pons scenario run NAME|FILE…|all", "run scenarios: what each must show",
     cmd_scenario},
    {"plan", "pons plan check|show|run FILE [--goal TEXT] [--world NAME] [--embodiment FILE]",
     "check, show or run a plan; FILE may be -", cmd_plan},
    {"graph", "pons graph list | show NAME | run NAME|FILE.so | resume THREAD | update THREAD",
     "draw graphs; run one of your own, a step at a time, and resume it", cmd_graph},
    {"agent", "pons agent [MESSAGE…] [--session ID]",
     "talk with the planning agent; without MESSAGE: a chat", cmd_agent},
    {"bt",
     "pons bt check FILE… | show FILE [--format text|dot|svg] | run FILE --script S.json | watch",
     "check, draw and try behaviour trees; watch the robot's", cmd_bt},
    {"companion", "pons companion run|status|log|why TIME|message TEXT",
     "a digital partner that lives by its world view", cmd_companion},
    {"mcp", "pons mcp serve | tools | questions",
     "offer the robot to MCP clients, or look at servers", cmd_mcp},
    {"doctor", "pons doctor", "what is installed, reachable, missing, and what to do", cmd_doctor},
    {NULL, NULL, NULL, NULL},
};

static int take_globals(cli *c, int argc, char **argv);
static int print_help(const char *topic);
static void hold_standard_fds(void);

int main(int argc, char **argv)
{
    cli c = {0};
    hold_standard_fds();
    signal(SIGPIPE, SIG_IGN);
    pons_value_init();
    pons_log_configure(NULL);
    const int rc = take_globals(&c, argc, argv);
    if (rc >= 0) {
        return rc;
    }
    if (c.argc == 0 || strcmp(c.argv[0], "help") == 0 || strcmp(c.argv[0], "--help") == 0 ||
        strcmp(c.argv[0], "-h") == 0) {
        return print_help(c.argc > 1 ? c.argv[1] : NULL);
    }
    if (strcmp(c.argv[0], "--version") == 0 || strcmp(c.argv[0], "version") == 0) {
        puts("pons " PONS_VERSION);
        return EXIT_DONE;
    }
    const cli_command *command = cli_find(c.argv[0]);
    if (!command) {
        return cli_bad("there is no command '%s'; `pons help` lists them", c.argv[0]);
    }
    c.argc--;
    c.argv++;
    return command->run(&c);
}

// --json and --workspace go with every command, in any position; "--" ends options.
static int take_globals(cli *c, int argc, char **argv)
{
    const char *workspace = getenv("PONS_WORKSPACE");
    static char **kept; // as long as the process; static, so that it is reachable to the end
    kept = calloc((size_t)argc + 1, sizeof *kept);
    int n = 0;
    bool options = true;
    if (!kept) {
        return EXIT_ENVIRONMENT;
    }
    for (int i = 1; i < argc; i++) {
        options = options && strcmp(argv[i], "--") != 0;
        if (options && strcmp(argv[i], "--json") == 0) {
            c->json = true;
        } else if (options && strcmp(argv[i], "--workspace") == 0) {
            if (i + 1 >= argc) {
                return cli_bad("--workspace needs a directory");
            }
            workspace = argv[++i];
        } else if (options && strncmp(argv[i], "--workspace=", strlen("--workspace=")) == 0) {
            workspace = argv[i] + strlen("--workspace=");
        } else {
            kept[n++] = argv[i];
        }
    }
    char fallback[PATH_MAX], cwd[PATH_MAX] = ".";
    if (!workspace || !*workspace) {
        const char *home = getenv("HOME");
        snprintf(fallback, sizeof fallback, "%s/.pons", home && *home ? home : ".");
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
        return cli_bad("the workspace's path is too long");
    }
    c->argc = n;
    c->argv = kept;
    return -1;
}

static int print_help(const char *topic)
{
    const cli_command *command = topic ? cli_find(topic) : NULL;
    if (topic && !command) {
        return cli_bad("there is no command '%s'; `pons help` lists them", topic);
    }
    if (command) {
        cli c = {.argc = 1, .argv = (char *[]){(char *)"--help", NULL}};
        return command->run(&c);
    }
    puts("pons - the runtime that joins a language model to a robot\n");
    for (const cli_command *k = cli_commands; k->name; k++) {
        printf("  pons %-9s %s\n", k->name, k->help);
    }
    puts("\nWith every command: --json (one object a line on stdout), --workspace DIR (else\n"
         "$PONS_WORKSPACE, else ~/.pons). `pons help COMMAND` shows its options.\n"
         "Exit: 0 done, 1 ended without success, 2 bad input, 3 environment, 4 waiting for a "
         "person.");
    return EXIT_DONE;
}

const cli_command *cli_find(const char *name)
{
    for (const cli_command *k = cli_commands; k->name; k++) {
        if (strcmp(k->name, name) == 0) {
            return k;
        }
    }
    return NULL;
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
