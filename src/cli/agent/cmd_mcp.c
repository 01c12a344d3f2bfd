// cmd_mcp.c - `pons mcp`: the robot as a server for MCP clients; a look at the servers of mcp.json.
//
//   serve      speaks MCP on standard input and output until the client is gone
//   tools      starts the servers of the workspace's mcp.json and lists what they offer
//   questions  what `serve` waits for a person to answer
//
// A dangerous call asks a person. Where the client can do that (elicitation) it does; else the
// question is a file of run/questions, named by what is to be done: it outlives the client and the
// server, `pons approve mcp-… approve` answers it, and the next call of the same tool with the same
// arguments runs, once, within ten minutes.
#include "cli/agent/agent_cli.h"
#include "pons/buf.h"
#include "pons/mcp.h"
#include "pons/rand.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_NAME       "mcp.json"
#define TOOLS_WAIT_MS   60000
#define ANSWER_GOOD_MS  (10 * 60 * 1000)     // an approval that is not used is void after this
#define QUESTION_OLD_MS (24 * 3600 * 1000LL) // a question that nobody answered is asked anew
#define QUESTION_HEX    12
#define ID_MAX          64
#define PROVIDERS       CLI_AGENT_TOOLS_MAX
#define URI_STATUS      "pons://status"
#define INSTRUCTIONS                                                                               \
    "The tools are a robot's skills. query_world says where the robot is and what it knows of "    \
    "its "                                                                                         \
    "world: look there first. A skill runs until it is done and tells its progress; cancel it to " \
    "stop the robot. What is dangerous asks a person."

static int serve(cli *c, pons_error *err);
static int list_tools(cli *c, pons_error *err);
static int list_questions(cli *c, pons_error *err);

int cmd_mcp(cli *c, pons_error *err)
{
    static const struct {
        const char *name;
        int (*run)(cli *, pons_error *);
    } parts[] = {{"serve", serve}, {"tools", list_tools}, {"questions", list_questions}};
    const char *word = c->argc > 0 ? c->argv[0] : "--help";
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (strcmp(parts[i].name, word) == 0) {
            c->argc--;
            c->argv++;
            return parts[i].run(c, err);
        }
    }
    if (word[0] == '-') {
        char help[] = "--help", *words[] = {help, NULL};
        cli asks = *c;
        if (c->argc == 0) { // no word: what there is
            asks.argc = 1;
            asks.argv = words;
        }
        return cli_parse(&asks, NULL, err);
    }
    return cli_bad(err, "mcp: there is no '%s'; serve, tools or questions", word);
}

// ---- the servers of mcp.json --------------------------------------------------------------------

static void print_servers(const cli *c, const pons_value *status, const pons_value *tools)
{
    size_t i, k;
    json_t *s, *t;
    json_array_foreach(status, i, s)
    {
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
        json_array_foreach(tools, k, t)
        {
            if (strcmp(pons_get_str(t, "server", ""), name) == 0) {
                const char *about = pons_get_str(t, "description", "");
                cli_out("  %-36s %-9s %.*s\n", pons_get_str(t, "name", ""),
                        pons_get_str(t, "risk", ""), (int)strcspn(about, "\n"), about);
            }
        }
    }
    json_array_foreach(tools, k, t)
    {
        if (c->json) {
            pons_autovalue row = json_copy(t);
            json_object_set_new(row, "type", json_string("tool"));
            cli_print_json(row);
        }
    }
}

static int list_tools(cli *c, pons_error *err)
{
    const int parsed = cli_parse(c, NULL, err);
    if (parsed < 0) {
        return parsed;
    }
    pons_tools mcp = {0};
    pons_autovalue status = NULL;
    pons_autovalue tools = NULL;
    const pons_clock clock = pons_clock_real();
    int rc = cli_workspace(c, false, err);
    rc = rc < 0 ? rc : cli_mcp_tools(c, &clock, &mcp, err);
    if (rc == PONS_ENOTFOUND) {
        return cli_bad(err, "there is no " FILE_NAME " in %s; docs/mcp.md shows one", c->workspace);
    }
    rc = rc < 0 ? rc : cli_mcp_wait(&mcp, TOOLS_WAIT_MS, &status, err);
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
    json_array_foreach(status, i, s)
    {
        const char *state = pons_get_str(s, "state", "");
        good = good && (strcmp(state, "ready") == 0 || strcmp(state, "disabled") == 0);
    }
    return good ? PONS_OK : CLI_LACKING;
}

// ---- questions that are kept --------------------------------------------------------------------

static void question_path(const cli *c, const char *id, char *ret, size_t cap)
{
    snprintf(ret, cap, "%s/questions/%s.json", c->run_dir, id);
}

// The same for the same call, and for no other.
static void question_id(const char *tool, const pons_value *args, char ret[ID_MAX])
{
    char hash[33];
    pons_autovalue both =
        pons_object("tool", json_string(tool), "args", pons_value_ref(args), NULL);
    pons_value_hash(both, hash);
    snprintf(ret, ID_MAX, CLI_MCP_QUESTION "%.*s", QUESTION_HEX, hash);
}

static bool is_question_id(const char *id)
{
    const char *hex = id + strlen(CLI_MCP_QUESTION);
    return strncmp(id, CLI_MCP_QUESTION, strlen(CLI_MCP_QUESTION)) == 0 &&
           strlen(hex) == QUESTION_HEX && strspn(hex, "0123456789abcdef") == QUESTION_HEX;
}

// Whole or not at all.
static int write_question(const cli *c, const char *id, const pons_value *question, pons_error *err)
{
    char path[PATH_MAX + 128], fresh[PATH_MAX + 160];
    char *text = NULL;
    snprintf(path, sizeof path, "%s/questions", c->run_dir);
    mkdir(path, 0700);
    question_path(c, id, path, sizeof path);
    snprintf(fresh, sizeof fresh, "%s.%ld.new", path, (long)getpid());
    const long n = pons_value_line(question, &text);
    const int fd = n < 0 ? -1 : open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const bool ok =
        fd >= 0 && write(fd, text, (size_t)n) == n && fsync(fd) == 0 && rename(fresh, path) == 0;
    const int saved = errno;
    if (fd >= 0) {
        close(fd);
    }
    free(text);
    return ok ? PONS_OK
              : pons_error_set(err, PONS_EENV, "mcp", "cannot keep the question %s: %s", path,
                               strerror(saved));
}

typedef struct server_parts {
    cli *c;
    pons_clock clock;
    pons_tools tools[PROVIDERS];
    size_t n_tools;
    void *robot; // of the robot's provider, or NULL
    char body_sock[PATH_MAX + 16];
} server_parts;

static int ask(void *user, const char *tool, const pons_value *args, const char *why, char *ret_how,
               size_t cap, pons_error *err)
{
    const server_parts *s = user;
    char id[ID_MAX], path[PATH_MAX + 128];
    pons_autovalue question = NULL;
    pons_error none = PONS_ERROR_INIT;
    const int64_t now = pons_wall_ms(&s->clock);
    question_id(tool, args, id);
    question_path(s->c, id, path, sizeof path);
    snprintf(ret_how, cap, "pons approve %s approve (or: reject REASON) --workspace %s", id,
             s->c->workspace);
    pons_value_load(path, &question, &none);
    const pons_value *answer = pons_get(question, "answer");
    const int64_t answered = pons_get_int(question, "answered_ms", 0);
    if (answer && now - answered < ANSWER_GOOD_MS) {
        unlink(path); // an answer is used once
        if (strcmp(pons_get_str(answer, "action", ""), "approve") == 0) {
            return 1;
        }
        const char *reason = pons_get_str(answer, "reason", "");
        return pons_error_set(err, PONS_EREFUSED, "mcp", "a person rejected %s%s%s", tool,
                              *reason ? ": " : "", reason);
    }
    if (!answer && question && now - pons_get_int(question, "asked_ms", 0) < QUESTION_OLD_MS) {
        return 0;
    }
    pons_autovalue fresh =
        pons_object("id", json_string(id), "tool", json_string(tool), "args", pons_value_ref(args),
                    "why", json_string(why), "asked_ms", json_integer(now), NULL);
    const int rc = write_question(s->c, id, fresh, err);
    if (rc >= 0) {
        cli_err("pons: %s waits for a person: %s\n", tool, ret_how);
    }
    return rc;
}

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
    if (!is_question_id(id)) {
        return cli_bad(err, "approve: %s is no question of `pons mcp serve`", id);
    }
    question_path(c, id, path, sizeof path);
    const int rc = pons_value_load(path, &question, err);
    if (rc < 0) {
        return rc == PONS_ENOTFOUND ? cli_bad(err, "approve: %s waits for nobody", id) : rc;
    }
    if (pons_get(question, "answer")) {
        return cli_bad(err, "approve: %s has an answer already; the next call uses it", id);
    }
    if (!answer) {
        print_question(c, question);
        return CLI_WAITING;
    }
    const char *action = pons_get_str(answer, "action", "");
    if (strcmp(action, "approve") != 0 && strcmp(action, "reject") != 0) {
        return cli_bad(err, "approve: a call of a client is approved or rejected as it is");
    }
    const pons_clock clock = pons_clock_real();
    pons_autovalue answered = json_copy(question);
    json_object_set_new(answered, "answer", pons_value_ref(answer));
    json_object_set_new(answered, "answered_ms", json_integer(pons_wall_ms(&clock)));
    return write_question(c, id, answered, err);
}

static int list_questions(cli *c, pons_error *err)
{
    char path[PATH_MAX + 128];
    const int parsed = cli_parse(c, NULL, err);
    if (parsed < 0) {
        return parsed;
    }
    snprintf(path, sizeof path, "%s/questions", c->run_dir);
    DIR *dir = opendir(path);
    size_t open = 0;
    for (const struct dirent *d = dir ? readdir(dir) : NULL; d; d = readdir(dir)) {
        char id[ID_MAX];
        pons_autovalue question = NULL;
        pons_error none = PONS_ERROR_INIT;
        const size_t n = strcspn(d->d_name, ".");
        snprintf(id, sizeof id, "%.*s", (int)n, d->d_name);
        if (strcmp(d->d_name + n, ".json") != 0 || !is_question_id(id)) {
            continue;
        }
        question_path(c, id, path, sizeof path);
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
    return open ? CLI_WAITING : PONS_OK;
}

// ---- serving ------------------------------------------------------------------------------------

static int check(void *user, const pons_value *tool, const pons_value *args, pons_error *err)
{
    const server_parts *s = user;
    if (!s->robot || strcmp(pons_get_str(tool, "category", ""), "robot") != 0 ||
        pons_get_bool(tool, "read_only", false)) {
        return PONS_OK;
    }
    pons_autoverdict verdict = NULL;
    const int rc =
        pons_robot_tools_judge(s->robot, pons_get_str(tool, "name", ""), args, NULL, &verdict, err);
    if (rc == PONS_ENOTFOUND) {
        return PONS_OK;
    }
    return rc < 0 ? rc : pons_verdict_error(verdict, err);
}

static pons_value *resources(void *user)
{
    const server_parts *s = user;
    pons_value *list = json_array();
    if (s->robot) {
        json_array_append_new(
            list,
            pons_object("uri", json_string(URI_STATUS), "name", json_string("status"),
                        "description", json_string("where the robot is, how it is, and its world"),
                        "mimeType", json_string("application/json"), NULL));
    }
    return list;
}

static int read_resource(void *user, const char *uri, char **ret_text, pons_error *err)
{
    const server_parts *s = user;
    if (!s->robot || strcmp(uri, URI_STATUS) != 0) {
        return pons_error_set(err, PONS_ENOTFOUND, "mcp", "there is no resource %s", uri);
    }
    pons_autovalue status = pons_robot_tools_status(s->robot);
    const long n = pons_value_line(status, ret_text);
    return n < 0 ? pons_error_set(err, (int)n, "mcp", "cannot write the status") : PONS_OK;
}

static int connect_body(void *user, pons_link **ret, pons_error *err)
{
    return pons_link_connect(user, ret, err);
}

static bool wants(const char *list, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = list; *at; at += strspn(at, ", ")) {
        const size_t len = strcspn(at, ", ");
        if (len == n && strncmp(at, word, n) == 0) {
            return true;
        }
        at += len;
    }
    return false;
}

static int open_parts(server_parts *s, const char *list, pons_error *err)
{
    int rc = PONS_OK;
    pons_autovalue policy = NULL;
    if (wants(list, "robot")) {
        rc = cli_critic_policy(s->c, &policy, err);
    }
    if (rc >= 0 && wants(list, "robot")) {
        snprintf(s->body_sock, sizeof s->body_sock, "%s/body.sock", s->c->run_dir);
        const pons_robot_tools_options robot = {.clock = s->clock,
                                                .connect = connect_body,
                                                .user = s->body_sock,
                                                .name = "pons mcp serve",
                                                .thread = "mcp",
                                                .policy = policy};
        rc = pons_robot_tools_open(&robot, &s->tools[s->n_tools], err);
        if (rc >= 0) {
            s->robot = s->tools[s->n_tools++].self;
        }
    }
    if (rc >= 0 && wants(list, "core")) {
        rc = cli_core_tools(s->c, &s->clock, &s->tools[s->n_tools], err);
        s->n_tools += rc >= 0;
    }
    if (rc >= 0 && wants(list, "modules")) { // room is kept for the servers' provider
        rc = cli_tool_modules(s->c, &s->clock, s->tools, PROVIDERS - 1, &s->n_tools, err);
    }
    if (rc >= 0 && wants(list, "mcp")) {
        rc = cli_mcp_tools(s->c, &s->clock, &s->tools[s->n_tools], err);
        s->n_tools += rc >= 0;
        rc = rc == PONS_ENOTFOUND ? PONS_OK : rc;
    }
    return rc;
}

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

static int serve(cli *c, pons_error *err)
{
    const char *list = "robot", *wait_s = NULL;
    double seconds = 0.0;
    const cli_option options[] = {
        {"--tools", "LIST", "robot (default), core, modules, mcp; several with commas", &list},
        {"--approval-wait", "S", "a call waits so long for a person (default 45)", &wait_s},
        {NULL, NULL, NULL, NULL}};
    const int parsed = cli_parse(c, options, err);
    if (parsed < 0) {
        return parsed;
    }
    int rc = wait_s ? cli_number(wait_s, "--approval-wait", 0.001, 86400, &seconds, err) : PONS_OK;
    if (rc < 0) {
        return rc;
    }
    if (!wants(list, "robot") && !wants(list, "core") && !wants(list, "modules") &&
        !wants(list, "mcp")) {
        return cli_bad(err, "mcp serve: --tools takes robot, core, modules and mcp, not '%s'",
                       list);
    }
    static const pons_mcp_server_ops ops = {
        .resources = resources, .read = read_resource, .check = check, .ask = ask};
    server_parts s = {.c = c, .clock = pons_clock_real()};
    const int stop = signals_fd(); // before any thread, so that no thread takes them
    rc = cli_workspace(c, true, err);
    rc = rc < 0 ? rc : open_parts(&s, list, err);
    if (rc >= 0) {
        const pons_mcp_server_options o = {.in_fd = STDIN_FILENO,
                                           .out_fd = STDOUT_FILENO,
                                           .stop_fd = stop,
                                           .tools = s.tools,
                                           .n_tools = s.n_tools,
                                           .clock = s.clock,
                                           .name = "pons",
                                           .version = PONS_VERSION,
                                           .instructions = s.robot ? INSTRUCTIONS : NULL,
                                           .ops = &ops,
                                           .user = &s,
                                           .approval_wait_ms = (int64_t)(seconds * 1000.0),
                                           .log_fd = STDERR_FILENO};
        rc = pons_mcp_serve(&o, err);
    }
    for (size_t i = 0; i < s.n_tools; i++) {
        s.tools[i].ops->close(s.tools[i].self);
    }
    close(stop);
    return rc;
}
