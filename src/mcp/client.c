// client.c - the servers of mcp.json as one provider of tools.
//
// One thread has all servers: it starts them, speaks with them, and starts them again. The host and
// it meet in two queues under one lock.
//
//     host                       [mtx]                    the thread
//     start, cancel ----------> commands ---------------> servers <--wire--> processes, HTTP
//     event_fd, next <--------- events   <--------------- answers, progress, faults
//     list, generation <------- the published list <----- what tools/list said
//
// A server lives like this (`machine`):
//
//     WAITING --due--> STARTING --initialize, tools/list--> READY
//        ^                | refused, silent, dead             | dead
//        +-- back-off 0.5 s … 60 s <--------------------------+
//
// While it is started again its tools stay listed, and calls wait for it; after several failures in
// a row they are taken off the list. A call that was on the wire when its server died is answered
// with PONS_ECLOSED: what it did is not known. Nothing is sent twice.
#include "mcp/json_rpc.h"
#include "mcp/remote_tools.h"
#include "mcp/wire.h"
#include "pons/event_queue.h"
#include "pons/machine.h"
#include "pons/mcp.h"
#include "pons/out_of_memory.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#define SERVERS_MAX     128
#define CALLS_MAX       256  // of one server, at a time
#define TOOLS_MAX       1000 // of one server
#define PAGES_MAX       100
#define CALL_S          120
#define CALL_HARD       10 // times the time-out: a call that only makes progress ends too
#define START_S         30
#define BACKOFF_MS      500
#define BACKOFF_MAX     60000
#define STABLE_S        10 // of being ready, and a death is the first one again
#define DROP_AFTER      4  // failed starts in a row, and the tools are taken off the list
#define IDLE_MS         60000
#define PATIENCE        "no answer in time"
#define DESCRIPTION_MAX 4000 // bytes of a tool's description that a model gets

enum { WAITING, STARTING, READY, DISABLED, REFUSED };
static const pons_machine machine = {
    .name = "server",
    .n = 5,
    .states = (const char *const[]){"waiting", "starting", "ready", "disabled", "refused"},
    .may = (const uint64_t[]){[WAITING] = PONS_TO(STARTING),
                              [STARTING] = PONS_TO(READY) | PONS_TO(WAITING),
                              [READY] = PONS_TO(WAITING),
                              [DISABLED] = 0,
                              [REFUSED] = 0}};

typedef enum ask_kind { ASK_START, ASK_LIST, ASK_CALL } ask_kind;

typedef struct ask { // a request that waits for its answer
    struct ask *next;
    ask_kind kind;
    int64_t id; // 0: not sent yet
    uint64_t call;
    char *tool; // the server's own name
    pons_value *args;
    char *key;
    bool read_only;
    int64_t due_ns, hard_ns, patience_ns;
} ask;

typedef struct server {
    struct provider *p;
    char name[64];
    const pons_value *spec;
    const pons__wire_ops *ops;
    void *wire;
    pons__mcp_log log;
    int state;
    int64_t next_id, due_ns, ready_ns;
    unsigned failures, starts, pages;
    bool relist;
    ask *asks;
    size_t n_asks;
    pons_value *tools;   // as the server describes them; NULL: none known
    pons_value *listing; // pages so far
    char version[16];
    pons_value *info;
    char error[PONS_ERROR_MESSAGE_MAX];
} server;

typedef struct command {
    struct command *next;
    uint64_t call;
    char *tool; // NULL: cancel
    char *key;
    pons_value *args;
} command;

typedef struct provider {
    // const after open
    pons_clock clock;
    pons_value *config;
    char workspace[4096];
    int wake_fd;
    pons_event_queue events;
    double call_s, start_s;
    pthread_t thread;
    // [mtx]
    pthread_mutex_t mtx;
    command *commands, **commands_end;
    pons_value *list;   // published
    pons_value *status; // published
    uint64_t generation;
    bool quit;
    // the thread's
    server servers[SERVERS_MAX];
    size_t n_servers;
} provider;

static void command_free(command *c)
{
    free(c->tool);
    free(c->key);
    pons_value_unref(c->args);
    free(c);
}

static int64_t seconds(double s)
{
    return (int64_t)(s * 1e9);
}

// ---- events and the list ------------------------------------------------------------------------

// An event of a call that was canceled meanwhile is dropped.
static void emit(provider *p, uint64_t call, pons_tool_event ev, bool last)
{
    ev.call = call;
    pons_event_queue_push(&p->events, call, &ev, last);
}

static void clear_event(void *event)
{
    pons_tool_event_clear(event);
}

static void fail_call(provider *p, const ask *a, int status, const char *who, const char *why)
{
    pons_tool_event ev = {.kind = PONS_TOOL_FAILED};
    pons_error_set(&ev.error, status, PONS__MCP, "%s: %s", who, why);
    emit(p, a->call, ev, true);
}

// Whether the file keeps a tool from whoever reads it: a list of those that may be called (Gemini's,
// Copilot's), or of those that may not (Gemini's, Windsurf's).
static bool kept_back(const server *s, const char *name)
{
    const pons_value *some = pons_get(s->spec, "includeTools"), *tools = pons_get(s->spec, "tools");
    some = some || !json_is_array(tools) || pons_list_has(tools, "*") ? some : tools;
    return (some && !pons_list_has(some, name)) ||
           pons_list_has(pons_get(s->spec, "excludeTools"), name) ||
           pons_list_has(pons_get(s->spec, "disabledTools"), name);
}

// What the file says; else what the server's hints say, as far as they may be believed: a server
// that is not trusted can make a call worse, not better than "warn".
static const char *risk_of(const server *s, const pons_value *tool)
{
    const char *name = pons_get_str(tool, "name", "");
    const pons_value *risk = pons_get(s->spec, "risk"), *hints = pons_get(tool, "annotations");
    const bool approved = pons_list_has(pons_get(s->spec, "autoApprove"), name) ||
                          pons_list_has(pons_get(s->spec, "alwaysAllow"), name);
    if (kept_back(s, name)) {
        return "blocked";
    }
    if (json_is_string(risk)) {
        return json_string_value(risk);
    }
    if (pons_get(risk, name)) {
        return pons_get_str(risk, name, "dangerous");
    }
    if (pons_get_bool(hints, "readOnlyHint", false)) {
        return pons_get_bool(s->spec, "trust", false) ? "safe" : "warn";
    }
    if (!pons_get_bool(hints, "destructiveHint", true) || approved) {
        return "warn";
    }
    return "dangerous";
}

// The argument that is an address, of a tool that may ask the world; NULL: none.
static pons_value *address_of(const pons_value *tool)
{
    static const char *const usual[] = {"url", "uri", "href", "link", "address"};
    const pons_value *hints = pons_get(tool, "annotations");
    const pons_value *members = pons_get(pons_get(tool, "inputSchema"), "properties");
    if (!pons_get_bool(hints, "openWorldHint", true)) {
        return NULL;
    }
    pons_each_member(name, member, members) {
        if (strncmp(pons_get_str(member, "format", ""), "uri", 3) == 0) {
            return json_string(name);
        }
    }
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++) {
        if (pons_get(members, usual[i])) {
            return json_string(usual[i]);
        }
    }
    return NULL;
}

static pons_value *described(const server *s, const pons_value *tool)
{
    char name[65], about[DESCRIPTION_MAX + 1];
    pons_utf8_copy(about, sizeof about,
                   pons_get_str(tool, "description", pons_get_str(tool, "title", "")));
    pons__mcp_tool_name(s->name, pons_get_str(tool, "name", ""), name);
    return pons_object(
        "name", json_string(name), "category", json_string("mcp"), "description",
        json_string(about), "parameters", pons__mcp_parameters(pons_get(tool, "inputSchema")),
        "risk", json_string(risk_of(s, tool)), "read_only",
        json_boolean(pons_get_bool(pons_get(tool, "annotations"), "readOnlyHint", false)),
        "address", address_of(tool), "server", json_string(s->name), "tool",
        json_string(pons_get_str(tool, "name", "")), NULL);
}

// A server that the thread has not got to yet is as good as starting: who waits for it must wait.
static pons_value *status_of(const server *s)
{
    const int state = s->state == WAITING && s->starts == 0 ? STARTING : s->state;
    return pons_object(
        "name", json_string(s->name), "state", json_string(pons_machine_state(&machine, state)),
        "transport", json_string(pons_get(s->spec, "command") ? "stdio" : "http"), "tools",
        json_integer((json_int_t)json_array_size(s->tools)), "starts", json_integer(s->starts),
        "protocol", s->version[0] ? json_string(s->version) : NULL, "server",
        s->info ? pons_value_ref(s->info) : NULL, "error",
        s->error[0] ? json_string(s->error) : NULL, NULL);
}

// The list as it is now. A host sees a new generation only when it differs.
static void publish(provider *p)
{
    pons_value *list = json_array(), *status = json_array();
    for (size_t i = 0; i < p->n_servers; i++) {
        json_array_append_new(status, status_of(&p->servers[i]));
        pons_each(tool, p->servers[i].tools) {
            pons_value *t = described(&p->servers[i], tool);
            bool twice = false;
            pons_each(other, list) {
                twice |= json_equal(pons_get(other, "name"), pons_get(t, "name"));
            }
            if (twice) { // two names that differ only in what a tool's name may not have
                pons__mcp_log_note(&p->servers[i].log, "a second tool %s is left out",
                                   pons_get_str(t, "name", ""));
                pons_value_unref(t);
            } else {
                json_array_append_new(list, t);
            }
        }
    }
    pthread_mutex_lock(&p->mtx);
    pons_autovalue old_list = p->list;
    pons_value_unref(p->status);
    if (!json_equal(old_list, list)) {
        p->generation++;
        pons_event_queue_wake(&p->events); // a host that waits for tools looks again
    }
    p->list = list;
    p->status = status;
    pthread_mutex_unlock(&p->mtx);
}

// ---- requests -----------------------------------------------------------------------------------

static void ask_free(ask *a)
{
    free(a->tool);
    free(a->key);
    pons_value_unref(a->args);
    free(a);
}

static int send_message(server *s, pons_value *m, int64_t id, pons_error *err)
{
    char *text = NULL;
    const long n = m ? pons_value_line(m, &text) : PONS_ENOMEM;
    pons_value_unref(m);
    if (n < 0) {
        return pons_error_set(err, (int)n, PONS__MCP, "cannot write a message");
    }
    const int rc = s->ops->send(s->wire, text, (size_t)n, id, err);
    free(text);
    return rc;
}

static ask *add_ask(server *s, ask_kind kind, double patience_s)
{
    ask *a = pons_need_zeroed(1, sizeof *a);
    const int64_t now = pons_now_ns(&s->p->clock);
    a->kind = kind;
    a->patience_ns = seconds(patience_s);
    a->due_ns = now + a->patience_ns;
    a->hard_ns = now + CALL_HARD * a->patience_ns;
    a->next = s->asks;
    s->asks = a;
    s->n_asks++;
    return a;
}

static ask *take_ask(server *s, int64_t id)
{
    for (ask **at = &s->asks; *at; at = &(*at)->next) {
        if ((*at)->id == id) {
            ask *a = *at;
            *at = a->next;
            s->n_asks--;
            return a;
        }
    }
    return NULL;
}

static int request(server *s, ask *a, const char *method, pons_value *params, pons_error *err)
{
    a->id = s->next_id++;
    return send_message(s, pons__rpc_request(a->id, method, params), a->id, err);
}

static int send_call(server *s, ask *a, pons_error *err)
{
    pons_value *meta = pons_object("progressToken", json_integer(s->next_id), NULL);
    if (a->key && *a->key) {
        json_object_set_new(meta, "pons/key", json_string(a->key));
    }
    return request(s, a, "tools/call",
                   pons_object("name", json_string(a->tool), "arguments",
                               a->args ? pons_value_ref(a->args) : json_object(), "_meta", meta,
                               NULL),
                   err);
}

static int ask_list(server *s, const char *cursor, pons_error *err)
{
    return request(s, add_ask(s, ASK_LIST, s->p->start_s), "tools/list",
                   cursor ? pons_object("cursor", json_string(cursor), NULL) : json_object(), err);
}

// ---- a server's life ----------------------------------------------------------------------------

static void fall(server *s, const pons_error *why)
{
    pons_error ignored = PONS_ERROR_INIT;
    provider *p = s->p;
    const bool was_ready = s->state == READY;
    if (s->wire) {
        s->ops->hang_up(s->wire);
        s->ops->close(s->wire);
        s->wire = NULL;
    }
    pons_value_unref(s->listing);
    s->listing = NULL;
    s->relist = false;
    snprintf(s->error, sizeof s->error, "%s", why->message);
    pons__mcp_log_note(&s->log, "%s", why->message);
    const bool stable = was_ready && pons_now_ns(&p->clock) - s->ready_ns > seconds(STABLE_S);
    s->failures = stable ? 1 : s->failures + 1;
    for (ask **at = &s->asks; *at;) {
        ask *a = *at;
        if (a->kind == ASK_CALL && a->id == 0) { // waits for the next start
            at = &a->next;
            continue;
        }
        *at = a->next;
        s->n_asks--;
        if (a->kind == ASK_CALL) {
            fail_call(p, a, a->read_only ? PONS_EIO : PONS_ECLOSED, s->name, why->message);
        }
        ask_free(a);
    }
    if (s->failures >= DROP_AFTER) {
        pons_value_unref(s->tools);
        s->tools = NULL;
    }
    int64_t wait_ms = BACKOFF_MS;
    for (unsigned i = 1; i < s->failures && wait_ms < BACKOFF_MAX; i++) {
        wait_ms *= 2;
    }
    s->due_ns =
        pons_now_ns(&p->clock) + (wait_ms < BACKOFF_MAX ? wait_ms : BACKOFF_MAX) * PONS_NS_PER_MS;
    pons_machine_move(&machine, &s->state, WAITING, &ignored);
    publish(p);
}

static void begin(server *s)
{
    pons_error err = PONS_ERROR_INIT;
    pons_machine_move(&machine, &s->state, STARTING, &err);
    s->starts++;
    s->pages = 0;
    s->version[0] = '\0';
    s->ops = pons_get(s->spec, "command") ? &pons__wire_stdio : &pons__wire_http;
    int rc = s->ops->open(s->spec, s->p->workspace, &s->log, &s->wire, &err);
    if (rc >= 0) {
        pons_value *params = pons_object(
            "protocolVersion", json_string(pons__mcp_newest), "capabilities", json_object(),
            "clientInfo",
            pons_object("name", json_string("pons"), "version", json_string(PONS_VERSION), NULL),
            NULL);
        rc = request(s, add_ask(s, ASK_START, s->p->start_s), "initialize", params, &err);
    }
    if (rc < 0) {
        fall(s, &err);
    }
}

static int initialized(server *s, const pons_value *result, pons_error *err)
{
    const char *version = pons_get_str(result, "protocolVersion", "none");
    const char *known = pons__mcp_version(version);
    if (!known) {
        return pons_error_set(err, PONS_EUNSUPPORTED, PONS__MCP,
                              "the server speaks version %s, pons up to %s", version,
                              pons__mcp_newest);
    }
    snprintf(s->version, sizeof s->version, "%s", known);
    pons_value_unref(s->info);
    s->info = pons_value_ref(pons_get(result, "serverInfo"));
    s->ops->begun(s->wire, known);
    int rc = send_message(s, pons__rpc_notification("notifications/initialized", NULL), 0, err);
    if (rc >= 0 && !pons_get(pons_get(result, "capabilities"), "tools")) {
        pons_value_unref(s->tools);
        s->tools = json_array();
        s->ready_ns = pons_now_ns(&s->p->clock);
        s->error[0] = '\0';
        rc = pons_machine_move(&machine, &s->state, READY, err);
        publish(s->p);
        return rc;
    }
    return rc < 0 ? rc : ask_list(s, NULL, err);
}

static int listed(server *s, const pons_value *result, pons_error *err)
{
    const pons_value *tools = pons_get(result, "tools");
    const char *cursor = pons_get_str(result, "nextCursor", NULL);
    if (!json_is_array(tools)) {
        return pons_error_set(err, PONS_EPROTOCOL, PONS__MCP, "tools/list gave no list of tools");
    }
    s->listing = s->listing ? s->listing : json_array();
    pons_each(tool, tools) {
        if (*pons_get_str(tool, "name", "") && json_array_size(s->listing) < TOOLS_MAX) {
            json_array_append(s->listing, tool);
        }
    }
    if (cursor && *cursor && ++s->pages < PAGES_MAX) {
        return ask_list(s, cursor, err);
    }
    pons_value_unref(s->tools);
    s->tools = s->listing;
    s->listing = NULL;
    s->pages = 0;
    s->error[0] = '\0';
    int rc = PONS_OK;
    if (s->state == STARTING) {
        s->ready_ns = pons_now_ns(&s->p->clock);
        rc = pons_machine_move(&machine, &s->state, READY, err);
        for (ask *a = s->asks; a && rc >= 0; a = a->next) { // what waited for it
            rc = a->kind == ASK_CALL && a->id == 0 ? send_call(s, a, err) : rc;
        }
    }
    publish(s->p);
    if (rc >= 0 && s->relist) { // it changed while it was read
        s->relist = false;
        rc = ask_list(s, NULL, err);
    }
    return rc;
}

static void called(server *s, const ask *a, const pons_value *result)
{
    pons_autobuf text = PONS_BUF_INIT;
    pons_tool_event ev = {.kind = PONS_TOOL_DONE};
    bool cut = false;
    const pons_value *content = pons_get(result, "content");
    if (content && !json_is_array(content)) {
        fail_call(s->p, a, PONS_EPROTOCOL, s->name, "a result whose content is no list");
        return;
    }
    pons__mcp_text(result, &text, &cut);
    if (pons_get_bool(result, "isError", false)) {
        fail_call(s->p, a, PONS_EIO, a->tool, text.data ? text.data : "the tool failed");
        return;
    }
    const pons_value *data = pons_get(result, "structuredContent");
    ev.value = pons_object("output", json_stringn(text.data ? text.data : "", text.len), "data",
                           data ? pons_value_ref(data) : NULL, "truncated",
                           cut ? json_true() : NULL, NULL);
    emit(s->p, a->call, ev, true);
}

// ---- what a server says -------------------------------------------------------------------------

static int answered(server *s, const pons_value *m, pons_error *err)
{
    const pons_value *id = pons_get(m, "id"), *error = pons_get(m, "error");
    const pons_value *result = pons_get(m, "result");
    ask *a = json_is_integer(id) ? take_ask(s, json_integer_value(id)) : NULL;
    int rc = PONS_OK;
    if (!a || json_integer_value(id) == 0) {
        pons__mcp_log_note(&s->log, "an answer to no request of ours is ignored");
        return PONS_OK;
    }
    char why[PONS_ERROR_MESSAGE_MAX];
    snprintf(why, sizeof why, "%s",
             pons_get_str(error, "message", error || !json_is_object(result) ? "no result" : ""));
    const bool lost = pons_get_int(error, "code", 0) == PONS__RPC_WIRE;
    if (a->kind == ASK_CALL && why[0]) {
        fail_call(s->p, a, lost && !a->read_only ? PONS_ECLOSED : PONS_EIO, s->name, why);
    } else if (a->kind == ASK_CALL) {
        called(s, a, result);
    } else if (why[0]) {
        rc = pons_error_set(err, PONS_EPROTOCOL, PONS__MCP, "%s: %s",
                            a->kind == ASK_START ? "initialize" : "tools/list", why);
    } else {
        rc = a->kind == ASK_START ? initialized(s, result, err) : listed(s, result, err);
    }
    ask_free(a);
    return rc;
}

static int asked(server *s, const pons_value *m, pons_error *err)
{
    const pons_value *id = pons_get(m, "id");
    const char *method = pons_get_str(m, "method", "");
    pons_value *reply = strcmp(method, "ping") == 0
                            ? pons__rpc_result(id, NULL)
                            : pons__rpc_error(id, PONS__RPC_METHOD, "pons offers no such thing");
    return send_message(s, reply, 0, err);
}

static void progressed(server *s, const pons_value *params)
{
    const int64_t id = pons_get_int(params, "progressToken", 0);
    for (ask *a = s->asks; a; a = a->next) {
        if (a->id != id || a->kind != ASK_CALL) {
            continue;
        }
        pons_tool_event ev = {.kind = PONS_TOOL_PROGRESS};
        const pons_value *total = pons_get(params, "total"), *done = pons_get(params, "progress");
        ev.text = strdup(pons_get_str(params, "message", ""));
        ev.value = pons_object("progress", done ? pons_value_ref(done) : json_integer(0), "total",
                               total ? pons_value_ref(total) : NULL, NULL);
        a->due_ns = pons_now_ns(&s->p->clock) + a->patience_ns;
        emit(s->p, a->call, ev, false);
    }
}

static int noticed(server *s, const pons_value *m, pons_error *err)
{
    const char *method = pons_get_str(m, "method", "");
    const pons_value *params = pons_get(m, "params");
    if (strcmp(method, "notifications/progress") == 0) {
        progressed(s, params);
    } else if (strcmp(method, "notifications/message") == 0) {
        char *text = NULL;
        pons_value_line(pons_get(params, "data"), &text);
        pons__mcp_log_note(&s->log, "%s: %.800s", pons_get_str(params, "level", "info"),
                           text ? text : "");
        free(text);
    } else if (strcmp(method, "notifications/tools/list_changed") == 0) {
        if (s->listing || s->relist) {
            s->relist = true;
            return PONS_OK;
        }
        for (const ask *a = s->asks; a; a = a->next) {
            if (a->kind == ASK_LIST) {
                s->relist = true;
                return PONS_OK;
            }
        }
        // Before the first list is asked for, there is nothing that could be old.
        return s->state == READY ? ask_list(s, NULL, err) : PONS_OK;
    }
    return PONS_OK;
}

static int received(server *s, const pons_value *m, pons_error *err)
{
    int rc = PONS_OK;
    pons_each(one, m) // a batch, of 2025-03-26
    {
        rc = rc < 0 || json_is_array(one) ? rc : received(s, one, err);
    }
    if (!json_is_object(m)) {
        return rc;
    }
    const bool request_like = json_is_string(pons_get(m, "method"));
    return !request_like       ? answered(s, m, err)
           : pons_get(m, "id") ? asked(s, m, err)
                               : noticed(s, m, err);
}

// ---- the thread ---------------------------------------------------------------------------------

// [mtx]
static const pons_value *find_tool(const provider *p, const char *name)
{
    return pons_find(p->list, "name", name);
}

static void call_tool(provider *p, command *c)
{
    ask none = {.call = c->call};
    pthread_mutex_lock(&p->mtx);
    pons_autovalue tool = pons_value_ref(find_tool(p, c->tool));
    pthread_mutex_unlock(&p->mtx);
    server *s = NULL;
    for (size_t i = 0; tool && i < p->n_servers; i++) {
        if (strcmp(p->servers[i].name, pons_get_str(tool, "server", "")) == 0) {
            s = &p->servers[i];
        }
    }
    if (!s || s->n_asks >= CALLS_MAX) {
        fail_call(p, &none, s ? PONS_EBUSY : PONS_ENOTFOUND, c->tool,
                  s ? "too many calls at a time" : "the tool is gone");
        return;
    }
    ask *a = add_ask(s, ASK_CALL, pons_get_num(s->spec, "timeout_s", p->call_s));
    a->call = c->call;
    a->tool = strdup(pons_get_str(tool, "tool", ""));
    a->args = pons_value_ref(c->args);
    a->key = c->key;
    a->read_only = pons_get_bool(tool, "read_only", false);
    c->key = NULL;
    pons_error err = PONS_ERROR_INIT;
    if (s->state == READY && send_call(s, a, &err) < 0) {
        take_ask(s, a->id);
        fail_call(p, a, err.status, s->name, err.message);
        ask_free(a);
    }
}

static void give_up(server *s, ask *a, const char *why)
{
    pons_error ignored = PONS_ERROR_INIT;
    if (a->id > 0 && s->wire) {
        send_message(s,
                     pons__rpc_notification("notifications/cancelled",
                                            pons_object("requestId", json_integer(a->id), "reason",
                                                        json_string(why), NULL)),
                     0, &ignored);
    }
}

static void cancel_call(provider *p, uint64_t call)
{
    for (size_t i = 0; i < p->n_servers; i++) {
        server *s = &p->servers[i];
        for (ask **at = &s->asks; *at; at = &(*at)->next) {
            ask *a = *at;
            if (a->kind == ASK_CALL && a->call == call) {
                *at = a->next;
                s->n_asks--;
                give_up(s, a, "canceled");
                ask_free(a);
                return;
            }
        }
    }
}

static bool take_commands(provider *p)
{
    eventfd_t ignored;
    eventfd_read(p->wake_fd, &ignored);
    for (;;) {
        pthread_mutex_lock(&p->mtx);
        const bool quit = p->quit;
        command *c = p->commands;
        if (c) {
            p->commands = c->next;
            p->commands_end = p->commands ? p->commands_end : &p->commands;
        }
        pthread_mutex_unlock(&p->mtx);
        if (!c) {
            return !quit;
        }
        if (!quit && c->tool) {
            call_tool(p, c);
        } else if (!quit) {
            cancel_call(p, c->call);
        }
        command_free(c);
    }
}

static void pump(server *s)
{
    for (;;) {
        pons_error err = PONS_ERROR_INIT;
        pons_autovalue m = NULL;
        int rc = s->ops->next(s->wire, &m, &err);
        if (rc == 0) {
            return;
        }
        rc = rc < 0 ? rc : received(s, m, &err);
        if (rc < 0) {
            fall(s, &err);
            return;
        }
    }
}

// What has waited too long.
static void look_at_clock(server *s, int64_t now)
{
    for (ask **at = &s->asks; *at;) {
        ask *a = *at;
        if (now < a->due_ns && now < a->hard_ns) {
            at = &a->next;
            continue;
        }
        if (a->kind != ASK_CALL) {
            pons_error err = PONS_ERROR_INIT;
            pons_error_set(&err, PONS_ETIMEOUT, PONS__MCP, "%s: " PATIENCE,
                           a->kind == ASK_START ? "initialize" : "tools/list");
            fall(s, &err);
            return;
        }
        *at = a->next;
        s->n_asks--;
        give_up(s, a, "timed out");
        fail_call(s->p, a, PONS_ETIMEOUT, s->name, a->id ? PATIENCE : s->error);
        ask_free(a);
    }
}

static int64_t next_due(const provider *p)
{
    int64_t due = INT64_MAX;
    for (size_t i = 0; i < p->n_servers; i++) {
        const server *s = &p->servers[i];
        due = s->state == WAITING && s->due_ns < due ? s->due_ns : due;
        for (const ask *a = s->asks; a; a = a->next) {
            const int64_t mine = a->due_ns < a->hard_ns ? a->due_ns : a->hard_ns;
            due = mine < due ? mine : due;
        }
    }
    return due;
}

static void wait_for_something(provider *p)
{
    struct pollfd fds[1 + SERVERS_MAX * PONS__MCP_FDS];
    int n = 0;
    fds[n++] = (struct pollfd){.fd = p->wake_fd, .events = POLLIN};
    for (size_t i = 0; i < p->n_servers; i++) {
        if (p->servers[i].wire) {
            n += p->servers[i].ops->fds(p->servers[i].wire, fds + n);
        }
    }
    const int64_t due = next_due(p), now = pons_now_ns(&p->clock);
    const int64_t left = due == INT64_MAX ? IDLE_MS : (due - now) / PONS_NS_PER_MS + 1;
    poll(fds, (nfds_t)n, due <= now ? 0 : left < IDLE_MS ? (int)left : IDLE_MS);
}

static void *run(void *arg)
{
    provider *p = arg;
    while (take_commands(p)) {
        const int64_t now = pons_now_ns(&p->clock);
        for (size_t i = 0; i < p->n_servers; i++) {
            server *s = &p->servers[i];
            if (s->state == WAITING && now >= s->due_ns) {
                begin(s);
                publish(p);
            }
            if (s->wire) {
                pump(s);
            }
            look_at_clock(s, now);
        }
        wait_for_something(p);
    }
    for (size_t i = 0; i < p->n_servers; i++) { // all at once, then one by one
        if (p->servers[i].wire) {
            p->servers[i].ops->hang_up(p->servers[i].wire);
        }
    }
    for (size_t i = 0; i < p->n_servers; i++) {
        server *s = &p->servers[i];
        if (s->wire) {
            s->ops->close(s->wire);
        }
        while (s->asks) {
            ask *a = s->asks;
            s->asks = a->next;
            ask_free(a);
        }
    }
    return NULL;
}

// ---- opening ------------------------------------------------------------------------------------

static void add_server(provider *p, const char *name, const pons_value *spec)
{
    char path[sizeof p->workspace + 96], file[64];
    server *s = &p->servers[p->n_servers++];
    *s = (server){.p = p, .spec = spec, .log = {.fd = -1}, .next_id = 1, .state = WAITING};
    snprintf(s->name, sizeof s->name, "%s", name);
    const char *fault = pons_get_str(spec, "fault", NULL);
    if (fault || pons_get_bool(spec, "disabled", false)) {
        s->state = fault ? REFUSED : DISABLED;
        snprintf(s->error, sizeof s->error, "%s", fault ? fault : "");
        return;
    }
    snprintf(file, sizeof file, "%s", name);
    for (char *c = file; *c; c++) {
        *c = *c == ' ' || *c == '/' ? '_' : *c;
    }
    snprintf(path, sizeof path, "%s/run", p->workspace);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/run/mcp-%s.log", p->workspace, file);
    pons__mcp_log_open(&s->log, path);
}

static void provider_free(provider *p)
{
    for (command *c = p->commands; c;) {
        command *next = c->next;
        command_free(c);
        c = next;
    }
    pons_event_queue_fini(&p->events);
    for (size_t i = 0; i < p->n_servers; i++) {
        pons_value_unref(p->servers[i].tools);
        pons_value_unref(p->servers[i].listing);
        pons_value_unref(p->servers[i].info);
        pons__mcp_log_close(&p->servers[i].log);
    }
    pons_value_unref(p->list);
    pons_value_unref(p->status);
    pons_value_unref(p->config);
    if (p->wake_fd >= 0) {
        close(p->wake_fd);
    }
    pthread_mutex_destroy(&p->mtx);
    free(p);
}

static void client_close(void *self)
{
    provider *p = self;
    if (!p) {
        return;
    }
    pthread_mutex_lock(&p->mtx);
    p->quit = true;
    pthread_mutex_unlock(&p->mtx);
    eventfd_write(p->wake_fd, 1);
    pthread_join(p->thread, NULL);
    provider_free(p);
}

static int client_list(void *self, pons_value **ret, pons_error *err)
{
    provider *p = self;
    pthread_mutex_lock(&p->mtx);
    *ret = pons_value_ref(p->list);
    pthread_mutex_unlock(&p->mtx);
    return PONS_OK;
}

static uint64_t client_generation(void *self)
{
    provider *p = self;
    pthread_mutex_lock(&p->mtx);
    const uint64_t g = p->generation;
    pthread_mutex_unlock(&p->mtx);
    return g;
}

static int post(provider *p, uint64_t call, const char *tool, const pons_value *args,
                const char *key, pons_error *err)
{
    command *c = calloc(1, sizeof *c);
    if (!c) {
        return pons_error_set(err, PONS_ENOMEM, PONS__MCP, "no room for a call");
    }
    *c = (command){.call = call,
                   .tool = tool ? strdup(tool) : NULL,
                   .key = key ? strdup(key) : NULL,
                   .args = pons_value_ref(args)};
    int rc = tool && !c->tool ? PONS_ENOMEM : PONS_OK;
    rc = tool && rc == PONS_OK ? pons_event_queue_begin(&p->events, call) : rc;
    if (rc < 0) {
        command_free(c);
        return pons_error_set(err, rc, PONS__MCP, "no room for a call");
    }
    *p->commands_end = c;
    p->commands_end = &c->next;
    eventfd_write(p->wake_fd, 1);
    return PONS_OK;
}

static int client_start(void *self, uint64_t call, const char *tool, const pons_value *args,
                        const char *key, pons_error *err)
{
    provider *p = self;
    pthread_mutex_lock(&p->mtx);
    const int rc = find_tool(p, tool) ? post(p, call, tool, args, key, err)
                                      : pons_error_set(err, PONS_ENOTFOUND, PONS__MCP,
                                                       "there is no tool %s", tool);
    pthread_mutex_unlock(&p->mtx);
    return rc;
}

static void client_cancel(void *self, uint64_t call)
{
    provider *p = self;
    if (!pons_event_queue_end(&p->events, call)) {
        return;
    }
    pons_error ignored = PONS_ERROR_INIT;
    pthread_mutex_lock(&p->mtx);
    post(p, call, NULL, NULL, NULL, &ignored);
    pthread_mutex_unlock(&p->mtx);
}

static int client_event_fd(void *self)
{
    return ((provider *)self)->events.fd;
}

static bool client_next(void *self, pons_tool_event *ret)
{
    return pons_event_queue_next(&((provider *)self)->events, ret);
}

static const pons_tools_ops client_ops = {
    .abi = PONS_TOOL_ABI,
    .name = "mcp",
    .close = client_close,
    .list = client_list,
    .generation = client_generation,
    .start = client_start,
    .cancel = client_cancel,
    .event_fd = client_event_fd,
    .next = client_next,
};

int pons_mcp_open(const pons_value *config, const pons_clock *clock, pons_tools *ret,
                  pons_error *err)
{
    const pons_value *servers = pons_get(config, "servers");
    const char *workspace = pons_get_str(config, "workspace", "");
    if (workspace[0] != '/' || !json_is_object(servers)) {
        return pons_error_set(err, PONS_EINVAL, PONS__MCP,
                              "the configuration is {workspace, servers}");
    }
    if (json_object_size(servers) > SERVERS_MAX) {
        return pons_error_set(err, PONS_EINVAL, PONS__MCP, "there are more than %d servers",
                              SERVERS_MAX);
    }
    provider *p = calloc(1, sizeof *p);
    if (!p) {
        return pons_error_set(err, PONS_ENOMEM, PONS__MCP, "no room for the servers");
    }
    const int ready = pons_event_queue_init(&p->events, sizeof(pons_tool_event), clear_event, err);
    if (ready < 0) {
        free(p);
        return ready;
    }
    pthread_mutex_init(&p->mtx, NULL);
    p->commands_end = &p->commands;
    p->clock = *clock;
    p->config = json_deep_copy(config);
    p->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    p->call_s = pons_get_num(config, "timeout_s", CALL_S);
    p->start_s = pons_get_num(config, "start_s", START_S);
    p->list = json_array();
    p->status = json_array();
    snprintf(p->workspace, sizeof p->workspace, "%s", workspace);
    pons_each_member(name, spec, pons_get(p->config, "servers")) {
        add_server(p, name, spec);
    }
    publish(p);
    sigset_t all, before;
    sigfillset(&all); // signals are the host's
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int rc = p->wake_fd < 0 ? errno : pthread_create(&p->thread, NULL, run, p);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc != 0) {
        provider_free(p);
        return pons_error_set(err, PONS_EENV, PONS__MCP, "cannot start a thread: %s", strerror(rc));
    }
    *ret = (pons_tools){.ops = &client_ops, .self = p};
    return PONS_OK;
}

// ---- the contract -------------------------------------------------------------------------------

int pons_mcp_status(const pons_tools *mcp, pons_value **ret, pons_error *err)
{
    if (mcp->ops != &client_ops) {
        return pons_error_set(err, PONS_EINVAL, PONS__MCP, "these tools are no MCP servers'");
    }
    provider *p = mcp->self;
    pthread_mutex_lock(&p->mtx);
    *ret = pons_value_ref(p->status);
    pthread_mutex_unlock(&p->mtx);
    return PONS_OK;
}
