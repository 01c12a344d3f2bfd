// cmd_mcp.c - `pons mcp`: the robot as a server for MCP clients; a look at the servers of mcp.json.
//
//   serve      speaks MCP on standard input and output until the client is gone
//   tools      starts the servers of the workspace's mcp.json and lists what they offer
//   questions  what `serve` waits for a person to answer
//
// What is offered, and how a person is asked, is mcp_serve_setup.c.
#include "cli/agent/agent_cli.h"
#include "pons/mcp.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define FILE_NAME     "mcp.json"
#define TOOLS_WAIT_MS 60000
#define INSTRUCTIONS                                                                               \
    "The tools are a robot's skills. query_world says where the robot is and what it knows of "    \
    "its "                                                                                         \
    "world: look there first. A skill runs until it is done and tells its progress; cancel it to " \
    "stop the robot. What is dangerous asks a person."

// ---- the servers of mcp.json --------------------------------------------------------------------

static void print_servers(const cli *c, const pons_value *status, const pons_value *tools)
{
    pons_each(s, status) {
        const char *name = pons_get_str(s, "name", "");
        if (c->json) {
            pons_autovalue row = json_copy(s);
            json_object_set_new(row, "type", json_string("server"));
            cli_print_json(row);
            continue;
        }
        const char *error = pons_get_str(s, "error", NULL);
        cli_out("%s (%s): %s%s%s\n", name, pons_get_str(s, "transport", ""),
                pons_get_str(s, "state", ""), error ? ", " : "", error ? error : "");
        pons_each(t, tools) {
            if (strcmp(pons_get_str(t, "server", ""), name) == 0) {
                const char *about = pons_get_str(t, "description", "");
                cli_out("  %-*s %-9s %.*s\n", 36, pons_get_str(t, "name", ""),
                        pons_get_str(t, "risk", ""), (int)strcspn(about, "\n"), about);
            }
        }
    }
    pons_each(t, tools) {
        if (c->json) {
            pons_autovalue row = json_copy(t);
            json_object_set_new(row, "type", json_string("tool"));
            cli_print_json(row);
        }
    }
}

int cmd_mcp_tools(cli *c, pons_error *err)
{
    const int parsed = cli_parse(c, NULL, err);
    if (parsed < 0) {
        return parsed;
    }
    pons_tools mcp = {0};
    pons_autovalue status = NULL;
    pons_autovalue tools = NULL;
    const pons_clock clock = pons_clock_real();
    int rc = app_workspace(&c->app, false, err);
    rc = rc < 0 ? rc : app_mcp_tools(&c->app, &clock, &mcp, err);
    if (rc == PONS_ENOTFOUND) {
        return app_bad(err, "there is no " FILE_NAME " in %s; docs/reference/mcp.md shows one",
                       c->app.workspace);
    }
    rc = rc < 0 ? rc : app_mcp_wait(&mcp, TOOLS_WAIT_MS, &status, err);
    rc = rc < 0 ? rc : mcp.ops->list(mcp.self, &tools, err);
    if (mcp.ops) {
        mcp.ops->close(mcp.self);
    }
    if (rc < 0) {
        return rc;
    }
    print_servers(c, status, tools);
    size_t i;
    json_t *s;
    bool good = true;
    json_array_foreach(status, i, s) {
        const char *state = pons_get_str(s, "state", "");
        good = good && (strcmp(state, "ready") == 0 || strcmp(state, "disabled") == 0);
    }
    return good ? PONS_OK : APP_LACKING;
}

// ---- questions that are kept --------------------------------------------------------------------

static void print_question(const cli *c, const pons_value *q)
{
    if (c->json) {
        cli_print_json(q);
        return;
    }
    char *args = NULL;
    const char *why = pons_get_str(q, "why", "");
    pons_value_line(pons_get(q, "args"), &args);
    cli_out("%s asks: may %s run%s%s?\n  %s\n", pons_get_str(q, "id", ""),
            pons_get_str(q, "tool", ""), *why ? ": " : "", why, args ? args : "");
    free(args);
}

int cli_mcp_approve(cli *c, const char *id, const pons_value *answer, pons_error *err)
{
    char path[PATH_MAX + 128];
    pons_autovalue question = NULL;
    if (!app_mcp_question_is(id)) {
        return app_bad(err, "approve: %s is no question of `pons mcp serve`", id);
    }
    app_mcp_question_path(&c->app, id, path, sizeof path);
    const int rc = pons_value_load(path, &question, err);
    if (rc < 0) {
        return rc == PONS_ENOTFOUND ? app_bad(err, "approve: %s waits for nobody", id) : rc;
    }
    if (pons_get(question, "answer")) {
        return app_bad(err, "approve: %s has an answer already; the next call uses it", id);
    }
    if (!answer) {
        print_question(c, question);
        return APP_WAITING;
    }
    const char *action = pons_get_str(answer, "action", "");
    const bool plain = strcmp(action, "approve") == 0 || strcmp(action, "reject") == 0;
    if (!plain || pons_get(answer, "answer")) { // "answer no" would be a yes
        return app_bad(err, "approve: a call of a client is approved or rejected as it is");
    }
    const pons_clock clock = pons_clock_real();
    pons_autovalue answered = json_copy(question);
    json_object_set_new(answered, "answer", pons_value_ref(answer));
    json_object_set_new(answered, "answered_ms", json_integer(pons_wall_ms(&clock)));
    return app_mcp_question_write(&c->app, id, answered, err);
}

int cmd_mcp_questions(cli *c, pons_error *err)
{
    char path[PATH_MAX + 128];
    const int parsed = cli_parse(c, NULL, err);
    if (parsed < 0) {
        return parsed;
    }
    snprintf(path, sizeof path, "%s/questions", c->app.run_dir);
    DIR *dir = opendir(path);
    size_t open = 0;
    for (const struct dirent *d = dir ? readdir(dir) : NULL; d; d = readdir(dir)) {
        char id[APP_MCP_ID_MAX];
        pons_autovalue question = NULL;
        pons_error none = PONS_ERROR_INIT;
        const size_t n = strcspn(d->d_name, ".");
        snprintf(id, sizeof id, "%.*s", (int)n, d->d_name);
        if (strcmp(d->d_name + n, ".json") != 0 || !app_mcp_question_is(id)) {
            continue;
        }
        app_mcp_question_path(&c->app, id, path, sizeof path);
        if (pons_value_load(path, &question, &none) >= 0 && !pons_get(question, "answer")) {
            print_question(c, question);
            open++;
        }
    }
    if (dir) {
        closedir(dir);
    }
    if (open == 0 && !c->json) {
        cli_out("no client waits for a person\n");
    }
    return open ? APP_WAITING : PONS_OK;
}

// ---- serving ------------------------------------------------------------------------------------

static int signals_fd(void)
{
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGHUP);
    sigprocmask(SIG_BLOCK, &ends, NULL);
    return signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
}

int cmd_mcp_serve(cli *c, pons_error *err)
{
    const char *list = "robot";
    double seconds = 0.0;
    const cli_option options[] = {
        {"--tools", "LIST", "robot (default), core, modules, mcp; several with commas", &list},
        CLI_ROBOT_OPTIONS(c),
        {"--approval-wait", "S", "a call waits so long for a person (default 45)",
         CLI_NUMBER(&seconds, 0.001, 86400)},
        {NULL, NULL, NULL, NULL}};
    const int parsed = cli_parse(c, options, err);
    if (parsed < 0) {
        return parsed;
    }
    if (!app_mcp_wants(list, "robot") && !app_mcp_wants(list, "core") &&
        !app_mcp_wants(list, "modules") && !app_mcp_wants(list, "mcp")) {
        return app_bad(err, "mcp serve: --tools takes robot, core, modules and mcp, not '%s'",
                       list);
    }
    app_mcp_parts s = {.c = &c->app, .clock = pons_clock_real()};
    const int stop = signals_fd(); // before any thread, so that no thread takes them
    int rc = app_workspace(&c->app, true, err);
    rc = rc < 0 ? rc : app_mcp_parts_open(&s, list, "pons mcp serve", err);
    if (rc >= 0) {
        s.instructions = s.robot ? INSTRUCTIONS : NULL;
        pons_mcp_server_options o = app_mcp_options(&s);
        o.in_fd = STDIN_FILENO;
        o.out_fd = STDOUT_FILENO;
        o.stop_fd = stop;
        o.approval_wait_ms = (int64_t)(seconds * 1000.0);
        o.log_fd = STDERR_FILENO;
        rc = pons_mcp_serve(&o, err);
    }
    app_mcp_parts_close(&s);
    close(stop);
    return rc;
}
