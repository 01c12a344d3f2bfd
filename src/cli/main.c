// main.c - `pons`: the command table, the options that go with every command, and the dispatch.
//
// Each command lives in cmd_*.c; setup.c is the only place that knows adapters by name; session.c
// runs a brain for `run` and `resume`; display.c shows its events.
#include "cli/cli.h"
#include "pons/log.h"
#include "pons/memory.h"
#include "pons/module.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const cli_command commands[] = {
    {"onboard", "pons onboard [DIR] [--dialect seed|paos1|paos2]",
     "make a workspace's protocol files: ENVIRONMENT.md, ACTION.md and their like", cmd_onboard},
    {"run", "pons run [GOAL…|--plan FILE] [--serve [ADDR:PORT]]",
     "start or join a body and pursue the goals; without GOAL: a prompt", cmd_run},
    {"do", "pons do SKILL [NAME=VALUE…|JSON]",
     "one skill by its name, said to the brain that runs or as a run of its own", cmd_do},
    {"serve", "pons serve [--listen ADDR:PORT] [--open]",
     "the page and the API: a browser, LangGraph's clients", cmd_serve},
    {"resume", "pons resume [THREAD] [--step]", "go on with what was cut short", cmd_resume},
    {"threads", "pons threads [list | show|history|events|prune|rm THREAD | fork|copy THREAD NEW]",
     "list threads, look into one, replay its events, fork it, make it smaller", cmd_threads},
    {"status", "pons status [THREAD]", "mode, battery, pose, tasks, skills, decision", cmd_status},
    {"say", "pons say TEXT [--thread ID]", "say something to a running brain", cmd_say},
    {"stop", "pons stop [REASON]", "latch a protective stop", cmd_stop},
    {"reset", "pons reset", "lift the latch", cmd_reset},
    {"pause", "pons pause [--thread ID]", "pause the task; it keeps its place", cmd_pause},
    {"continue", "pons continue [--thread ID]", "go on after a pause, or after stop and reset",
     cmd_continue},
    {"cancel", "pons cancel [TASK] [--thread ID]", "end a task, or all of them", cmd_cancel},
    {"raise", "pons raise TASK [PRIORITY] [--thread ID]",
     "give one task another priority; without PRIORITY: before all that wait", cmd_raise},
    {"approve", "pons approve [THREAD] [approve | answer WORDS | edit [N] JSON | reject REASON]",
     "show or answer what a run waits for", cmd_approve},
    {"body", "pons body [--driver NAME] [--skills NAME,…] [--world NAME] | pose X Y YAW",
     "own a robot and serve it; or tell it where it is", cmd_body},
    {"map", "pons map import FILE.yaml [NAME] | show|check WORLD | zones WORLD [add|remove ID]",
     "maps of nav2_map_server as worlds: take one in, look at it, draw zones on it", cmd_map},
    {"scenario", "pons scenario run NAME|FILE…|all", "run scenarios: what each must show",
     cmd_scenario},
    {"plan", "pons plan check|show|run FILE [--goal TEXT] [--world NAME] [--embodiment FILE]",
     "check, show or run a plan; FILE may be -", cmd_plan},
    {"graph", "pons graph list | show NAME | run NAME|FILE.so | resume THREAD | update THREAD",
     "draw graphs; run one of your own, a step at a time, and resume it", cmd_graph},
    {"agent",
     "pons agent [MESSAGE…] [--session ID | --continue] [--folder DIR] [--model NAME] [--serve "
     "[ADDR:PORT]] | undo [--list] [SESSION]",
     "talk with the planning agent; without MESSAGE: a chat", cmd_agent},
    {"bt",
     "pons bt check FILE… | show FILE [--format text|dot|svg|groot] | run FILE --script S.json | "
     "watch",
     "check, draw and try behaviour trees; watch the robot's", cmd_bt},
    {"companion",
     "pons companion run [--serve [ADDR:PORT]] | status | log | why TIME | message TEXT",
     "a digital partner that lives by its world view", cmd_companion},
    {"mcp", "pons mcp serve | tools | questions",
     "offer the robot to MCP clients, or look at servers", cmd_mcp},
    {"watchdog", "pons watchdog hal | runtime [--once] [--robot ID]",
     "do what ACTION.md, or SESSIONS.md, has pending", cmd_watchdog},
    {"fleet", "pons fleet run|status|assign|cancel|settle|clear|block|unblock|simulate|map",
     "many robots, one orchestrator; or a fleet on a virtual clock", cmd_fleet},
    {"vda5050", "pons vda5050 [--broker mqtt[s]://HOST[:PORT]] [--serial NAME]",
     "a robot under a master control that speaks VDA 5050 2.1, over MQTT", cmd_vda5050},
    {"workspace", "pons workspace check [DIR] | show [FILE] | convert [DIR] --to DIALECT",
     "check, show and convert a workspace's protocol files", cmd_workspace},
    {"lessons", "pons lessons search WORDS", "what LESSONS.md has about it, best first; 1: nothing",
     cmd_lessons},
    {"doctor", "pons doctor [--repair]",
     "what is installed, reachable, missing, damaged, and what to do", cmd_doctor},
    {"items", "pons items [list|search|namespaces|get|put|delete|sweep …]",
     "what the store keeps beside threads: long-term memory", cmd_items},
    {"backup", "pons backup FILE", "copy the store at one moment, also while a run writes it",
     cmd_backup},
    {NULL, NULL, NULL, NULL},
};

static const cli_command *find(const char *name);
static int take_globals(cli *c, int argc, char **argv, pons_error *err);
static int dispatch(cli *c, pons_error *err);
static int run_command(cli *c, const cli_command *command, pons_error *err);
static int print_help(const char *topic, pons_error *err);
static void hold_standard_fds(void);
static int exit_code(int status, const pons_error *err);

int main(int argc, char **argv)
{
    cli c = {0};
    pons_error err = PONS_ERROR_INIT;
    hold_standard_fds();
    umask(077); // what pons writes is its user's
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); // a file that may not grow is an error, not an end
    pons_value_init();
    pons_memory_of_a_process();
    pons_log_configure(NULL);
    int rc = take_globals(&c, argc, argv, &err);
    rc = rc < 0 ? rc : pons_module_workspace(c.workspace, &err);
    cli_worlds_of(c.workspace);
    rc = rc < 0 ? rc : dispatch(&c, &err);
    return exit_code(rc, &err);
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

static int dispatch(cli *c, pons_error *err)
{
    if (c->argc == 0 || strcmp(c->argv[0], "help") == 0 || strcmp(c->argv[0], "--help") == 0 ||
        strcmp(c->argv[0], "-h") == 0) {
        return print_help(c->argc > 1 ? c->argv[1] : NULL, err);
    }
    if (strcmp(c->argv[0], "--version") == 0 || strcmp(c->argv[0], "version") == 0) {
        cli_out("pons " PONS_VERSION "\n");
        return PONS_OK;
    }
    const cli_command *command = find(c->argv[0]);
    if (!command) {
        return cli_bad(err, "there is no command '%s'; `pons help` lists them", c->argv[0]);
    }
    c->argc--;
    c->argv++;
    return run_command(c, command, err);
}

static int run_command(cli *c, const cli_command *command, pons_error *err)
{
    c->self = command;
    const int rc = command->run(c, err);
    return rc < 0 ? rc : PONS_OK;
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
            if (i + 1 >= argc) {
                return cli_bad(err, "--workspace needs a directory");
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
        return cli_bad(err, "the workspace's path is too long");
    }
    c->argc = n;
    c->argv = kept;
    return PONS_OK;
}

static int print_help(const char *topic, pons_error *err)
{
    const cli_command *command = topic ? find(topic) : NULL;
    if (topic && !command) {
        return cli_bad(err, "there is no command '%s'; `pons help` lists them", topic);
    }
    if (command) {
        cli c = {.argc = 1, .argv = (char *[]){(char *)"--help", NULL}};
        return run_command(&c, command, err);
    }
    cli_out("pons - the runtime that joins a language model to a robot\n\n");
    for (const cli_command *k = commands; k->name; k++) {
        cli_out("  pons %-9s %s\n", k->name, k->help);
    }
    cli_out("\nWith every command: --json (one object a line on stdout), --workspace DIR (else\n"
            "$PONS_WORKSPACE, else ~/.pons). `pons help COMMAND` shows its options.\n"
            "Exit: 0 done, 1 ended without success, 2 bad input, 3 environment, 4 waiting for a "
            "person.\n");
    return PONS_OK;
}

static const cli_command *find(const char *name)
{
    for (const cli_command *k = commands; k->name; k++) {
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
