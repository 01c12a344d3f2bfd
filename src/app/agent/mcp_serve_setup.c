// mcp_serve_setup.c - what pons offers to MCP clients, by stdio and by HTTP: tools, the robot's status, a
// person's word.
//
// A dangerous call asks a person. Where the client can do that (elicitation) it does; else the
// question is a file of run/questions, named by what is to be done: it outlives the client and the
// server, `pons approve mcp-… approve` answers it, and the next call of the same tool with the same
// arguments runs, once, within ten minutes.
#include "app/agent/agent_setup.h"
#include "app/sight/sight.h"
#include "pons/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ANSWER_GOOD_MS  (10 * 60 * 1000)     // an approval that is not used is void after this
#define QUESTION_OLD_MS (24 * 3600 * 1000LL) // a question that nobody answered is asked anew
#define QUESTION_HEX    12
#define URI_STATUS      "pons://status"

// ---- questions that are kept --------------------------------------------------------------------

void app_mcp_question_path(const app_context *c, const char *id, char *ret, size_t cap)
{
    snprintf(ret, cap, "%s/questions/%s.json", c->run_dir, id);
}

// The same for the same call, and for no other.
static void question_id(const char *tool, const pons_value *args, char ret[APP_MCP_ID_MAX])
{
    char hash[33];
    pons_autovalue both =
        pons_object("tool", json_string(tool), "args", pons_value_ref(args), NULL);
    pons_value_hash(both, hash);
    snprintf(ret, APP_MCP_ID_MAX, APP_MCP_QUESTION "%.*s", QUESTION_HEX, hash);
}

bool app_mcp_question_is(const char *id)
{
    const char *hex = id + strlen(APP_MCP_QUESTION);
    return strncmp(id, APP_MCP_QUESTION, strlen(APP_MCP_QUESTION)) == 0 &&
           strlen(hex) == QUESTION_HEX && strspn(hex, "0123456789abcdef") == QUESTION_HEX;
}

// Whole or not at all.
int app_mcp_question_write(const app_context *c, const char *id, const pons_value *question,
                           pons_error *err)
{
    char path[PATH_MAX + 128];
    char *text = NULL;
    snprintf(path, sizeof path, "%s/questions", c->run_dir);
    mkdir(path, 0700);
    app_mcp_question_path(c, id, path, sizeof path);
    const long n = pons_value_line(question, &text);
    const int why = n < 0 ? -ENOMEM : pons_file_replace(path, text, (size_t)n, 0600);
    free(text);
    return why == 0 ? PONS_OK
                    : pons_error_set(err, PONS_EENV, "mcp", "cannot keep the question %s: %s", path,
                                     strerror(-why));
}

static int ask(void *user, const char *tool, const pons_value *args, const char *why, char *ret_how,
               size_t cap, pons_error *err)
{
    const app_mcp_parts *s = user;
    char id[APP_MCP_ID_MAX], path[PATH_MAX + 128];
    pons_autovalue question = NULL;
    pons_error none = PONS_ERROR_INIT;
    const int64_t now = pons_wall_ms(&s->clock);
    question_id(tool, args, id);
    app_mcp_question_path(s->c, id, path, sizeof path);
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
    const int rc = app_mcp_question_write(s->c, id, fresh, err);
    if (rc >= 0) {
        app_tell(s->c, "pons: %s waits for a person: %s", tool, ret_how);
    }
    return rc;
}

// ---- serving ------------------------------------------------------------------------------------

static int check(void *user, const pons_value *tool, const pons_value *args, pons_error *err)
{
    const app_mcp_parts *s = user;
    if (!s->robot || strcmp(pons_get_str(tool, "category", ""), "robot") != 0 ||
        pons_get_bool(tool, "read_only", false)) {
        return PONS_OK;
    }
    pons_autoverdict verdict = NULL;
    const int rc = app_workspace_tools_judge(
        (void *)(uintptr_t)&s->files, pons_get_str(tool, "name", ""), args, NULL, &verdict, err);
    if (rc == PONS_ENOTFOUND) {
        return PONS_OK;
    }
    return rc < 0 ? rc : pons_verdict_error(verdict, err);
}

static pons_value *resources(void *user)
{
    const app_mcp_parts *s = user;
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
    const app_mcp_parts *s = user;
    if (!s->robot || strcmp(uri, URI_STATUS) != 0) {
        return pons_error_set(err, PONS_ENOTFOUND, "mcp", "there is no resource %s", uri);
    }
    pons_autovalue status = pons_robot_tools_status(s->robot);
    const long n = pons_value_line(status, ret_text);
    return n < 0 ? pons_error_set(err, (int)n, "mcp", "cannot write the status") : PONS_OK;
}

static int connect_body(void *user, pons_link **ret, pons_error *err)
{
    const app_mcp_parts *s = user;
    return app_robot_connect(s->c, &s->meant, ret, err);
}

bool app_mcp_wants(const char *list, const char *word)
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

static const pons_mcp_server_ops ops = {
    .resources = resources, .read = read_resource, .check = check, .ask = ask};

int app_mcp_parts_open(app_mcp_parts *s, const char *list, const char *name, pons_error *err)
{
    int rc = PONS_OK;
    pons_autovalue policy = NULL;
    if (app_mcp_wants(list, "robot")) {
        rc = app_critic_policy(s->c, &policy, err);
        rc = rc < 0 ? rc : app_robot_offered(s->c, &s->meant, err);
    }
    if (rc >= 0 && app_mcp_wants(list, "robot")) {
        char space[64];
        app_objects_space(s->c, space);
        const bool sees = app_sight_wanted(s->c, s->meant.world) &&
                          app_store_read(s->c, &s->seen, &(pons_error)PONS_ERROR_INIT) >= 0;
        const pons_robot_tools_options robot = {.clock = s->clock,
                                                .items = {.store = s->seen, .clock = s->clock},
                                                .objects = sees ? space : NULL,
                                                .connect = connect_body,
                                                .user = s,
                                                .name = name,
                                                .look_only = s->look_only,
                                                .thread = "mcp",
                                                .policy = policy};
        rc = pons_robot_tools_open(&robot, &s->tools[s->n_tools], err);
        if (rc >= 0) {
            const pons_tools *is = &s->tools[s->n_tools++];
            s->robot = is->self;
            rc = app_workspace_tools_open(s->c, &s->clock, name, is, &s->files, err);
        }
        if (rc >= 0 && s->files.tools.ops) {
            s->tools[s->n_tools++] = s->files.tools;
        }
    }
    if (rc >= 0 && app_mcp_wants(list, "core")) {
        rc = app_core_tools(s->c, &s->clock, NULL, &s->tools[s->n_tools], err);
        s->n_tools += rc >= 0;
    }
    if (rc >= 0 && app_mcp_wants(list, "modules")) { // room is kept for the servers' provider
        rc = app_tool_modules(s->c, &s->clock, s->tools, APP_MCP_PROVIDERS - 1, &s->n_tools, err);
    }
    if (rc >= 0 && app_mcp_wants(list, "mcp")) {
        rc = app_mcp_tools(s->c, &s->clock, &s->tools[s->n_tools], err);
        if (rc >= 0) {
            app_mcp_tell_refused(s->c, &s->tools[s->n_tools++]);
        }
        rc = rc == PONS_ENOTFOUND ? PONS_OK : rc;
    }
    return rc;
}

void app_mcp_parts_close(app_mcp_parts *s)
{
    for (size_t i = s->n_tools; i > 0; i--) { // the workspace's asks the robot's
        s->tools[i - 1].ops->close(s->tools[i - 1].self);
    }
    s->n_tools = 0;
    pons_store_close(&s->files.memory);
    pons_store_close(&s->seen);
}

pons_mcp_server_options app_mcp_options(app_mcp_parts *s)
{
    return (pons_mcp_server_options){.in_fd = -1,
                                     .out_fd = -1,
                                     .stop_fd = -1,
                                     .tools = s->tools,
                                     .n_tools = s->n_tools,
                                     .clock = s->clock,
                                     .name = "pons",
                                     .version = PONS_VERSION,
                                     .instructions = s->instructions,
                                     .ops = &ops,
                                     .user = s,
                                     .log_fd = -1};
}
