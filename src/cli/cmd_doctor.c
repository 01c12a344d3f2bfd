// cmd_doctor.c - `pons doctor`: what is installed, reachable, missing, and what to do about it.
//
// Each line is looked at, not assumed: modules are loaded, files are read, the store is opened, the
// body is asked. Exit 0 when everything that the default run needs is there, else 3.
#include "cli/agent_cli.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "pons/module.h"

#define MCP_WAIT_MS 30000 // for a server to start

typedef struct doctor {
    cli *c;
    bool healthy;
} doctor;

static void report(doctor *d, const char *what, const char *state, const char *detail,
                   const char *advice);
static void check_module(doctor *d, const char *kind, const char *name, bool needed,
                         const char *advice);
static void check_files(doctor *d);
static void check_store(doctor *d);
static void check_body(doctor *d);
static void check_realtime(doctor *d);
static void check_model(doctor *d);
static void check_mcp(doctor *d);

int cmd_doctor(cli *c)
{
    const int parsed = cli_parse(c, cli_find("doctor"), NULL);
    if (parsed >= 0) {
        return parsed;
    }
    doctor d = {.c = c, .healthy = true};
    check_files(&d);
    check_module(&d, "driver", "mujoco", true,
                 "install libmujoco-dev and build again, or use --driver kinematic");
    report(&d, "driver kinematic", "ok", "built in", NULL);
    check_module(&d, "llm", "openai", false,
                 "install libcurl4-openssl-dev and build again to use a model");
    check_model(&d);
    check_module(&d, "store", "postgres", getenv("PONS_STORE") != NULL,
                 "install libpq-dev and build again to use PostgreSQL");
    check_mcp(&d);
    check_store(&d);
    check_body(&d);
    check_realtime(&d);
    return d.healthy ? EXIT_DONE : EXIT_ENVIRONMENT;
}

static void report(doctor *d, const char *what, const char *state, const char *detail,
                   const char *advice)
{
    if (strcmp(state, "missing") == 0) {
        d->healthy = false;
    }
    if (d->c->json) {
        pons_autovalue row =
            pons_object("check", json_string(what), "state", json_string(state), "detail",
                        json_string(detail), "advice", advice ? json_string(advice) : NULL, NULL);
        cli_print_json(row);
        return;
    }
    printf("%-8s %-18s %s%s%s\n", state, what, detail, advice ? "; " : "", advice ? advice : "");
}

static void check_module(doctor *d, const char *kind, const char *name, bool needed,
                         const char *advice)
{
    char what[64];
    const void *ops = NULL;
    pons_error err = PONS_ERROR_INIT;
    snprintf(what, sizeof what, "%s %s", kind, name);
    if (pons_module_load(kind, name, &ops, &err) >= 0) {
        report(d, what, "ok", "loads", NULL);
    } else {
        report(d, what, needed ? "missing" : "absent", err.message, advice);
    }
}

// Each server of mcp.json is started, asked for its tools, and ended.
static void check_mcp(doctor *d)
{
    pons_error err = PONS_ERROR_INIT;
    pons_tools mcp = {0};
    char line[1024];
    const pons_clock clock = pons_clock_real();
    const int rc = cli_mcp_tools(d->c, &clock, &mcp, &err);
    if (rc == PONS_ENOTFOUND) {
        report(d, "mcp servers", "absent", "the workspace has no mcp.json", NULL);
        return;
    }
    if (rc < 0) {
        report(d, "mcp servers", "missing", pons_error_line(&err, line, sizeof line),
               "correct the file");
        return;
    }
    pons_autovalue status = NULL;
    size_t i;
    json_t *s;
    cli_mcp_wait(&mcp, MCP_WAIT_MS, &status, &err);
    json_array_foreach(status, i, s)
    {
        char what[80];
        const char *state = pons_get_str(s, "state", "");
        const bool ready = strcmp(state, "ready") == 0, off = strcmp(state, "disabled") == 0;
        snprintf(what, sizeof what, "mcp %s", pons_get_str(s, "name", ""));
        snprintf(line, sizeof line, "%s %s, protocol %s, %lld tools",
                 pons_get_str(pons_get(s, "server"), "name", ""),
                 pons_get_str(pons_get(s, "server"), "version", ""),
                 pons_get_str(s, "protocol", ""), (long long)pons_get_int(s, "tools", 0));
        report(d, what, ready ? "ok" : "absent",
               ready ? line
               : off ? "disabled"
                     : pons_get_str(s, "error", "no answer yet"),
               ready || off ? NULL : "its log is run/mcp-NAME.log of the workspace");
    }
    mcp.ops->close(mcp.self);
}

static void check_files(doctor *d)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue config = NULL;
    pons_autovalue world = NULL;
    pons_policy policy = {0};
    char line[1024];
    const bool ok = cli_config(d->c, &config, &err) >= 0 && cli_policy(d->c, &policy, &err) >= 0 &&
                    cli_world("house", &world, &err) >= 0;
    pons_rules_close(&policy);
    report(d, "files", ok ? "ok" : "missing",
           ok ? "rules, intents and the house world are read and valid"
              : pons_error_line(&err, line, sizeof line),
           ok ? NULL : "set PONS_SHARE to the folder that has worlds/ and config/");
}

static void check_store(doctor *d)
{
    pons_error err = PONS_ERROR_INIT;
    pons_store store = {0};
    char line[1024], detail[PATH_MAX + 64];
    if (cli_workspace(d->c, false, &err) < 0) {
        report(d, "workspace", "absent", err.message, NULL);
        return;
    }
    if (cli_store(d->c, &store, &err) < 0) {
        report(d, "store", "missing", pons_error_line(&err, line, sizeof line),
               getenv("PONS_STORE") ? "check PONS_STORE" : "check the workspace's rights and disk");
        return;
    }
    pons_store_close(&store);
    snprintf(detail, sizeof detail, "%s opens",
             getenv("PONS_STORE") ? "the one that PONS_STORE names" : d->c->db);
    report(d, "store", "ok", detail, NULL);
}

static void check_body(doctor *d)
{
    pons_autovalue hello = NULL;
    pons_autovalue telemetry = NULL;
    char detail[160];
    if (cli_observe(d->c, 500, &hello, &telemetry) < 0) {
        report(d, "body", "absent", "none answers in this workspace; `pons run` starts one", NULL);
        return;
    }
    snprintf(detail, sizeof detail, "%s, pid %lld, %.2f x real time",
             pons_get_str(hello, "driver", ""), (long long)pons_get_int(hello, "pid", 0),
             pons_get_num(telemetry, "realtime", 0.0));
    report(d, "body", "ok", detail, NULL);
}

// The safety thread asks for SCHED_FIFO; without it, it still runs, with the jitter of any thread.
static void check_realtime(doctor *d)
{
    struct rlimit limit = {0};
    const struct sched_param fifo = {.sched_priority = 1};
    const int policy = sched_getscheduler(0);
    struct sched_param before = {0};
    sched_getparam(0, &before);
    if (sched_setscheduler(0, SCHED_FIFO, &fifo) == 0) {
        sched_setscheduler(0, policy, &before);
        report(d, "realtime", "ok", "SCHED_FIFO is permitted: the safety thread gets it", NULL);
        return;
    }
    getrlimit(RLIMIT_RTPRIO, &limit);
    report(d, "realtime", "absent",
           "SCHED_FIFO is not permitted: stops have an ordinary thread's jitter",
           "give the user an rtprio limit of 80 in /etc/security/limits.conf");
}

static void check_model(doctor *d)
{
    const char *url = getenv("PONS_LLM_URL");
    url = url && *url ? url : getenv("OPENAI_BASE_URL");
    if (!url || !*url) {
        report(d, "model", "absent", "none is configured: the rules decide",
               "set PONS_LLM_URL to use one");
        return;
    }
    report(d, "model", "ok", "configured by the environment; `pons run` says so when it is lost",
           NULL);
}
