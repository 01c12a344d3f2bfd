// mcp_session.c - tools for MCP clients: what a session may say, calls, questions to people, answers.
//
// One thread, any number of sessions over the same providers; a transport (stdio_server.c: a line a
// message; an HTTP server: docs/reference/mcp.md) brings messages and takes ours. A call of a tool lives like
// this:
//
//     tools/call --> arguments held against the schema, risk assessed
//        |                     |                         |
//        | safe, warn          | dangerous               | blocked, invalid
//        |                     v                         v
//        |             a person is asked:             told, as an error of the tool
//        |             elicitation/create where the      ^
//        |             client offers it, else a          |
//        |             question that is kept             |
//        v                     |                         |
//     started at its <--yes----+----no, nobody-----------+
//     provider
//        |  progress --> notifications/progress
//        v
//     done or failed --> the result
//
// A session has so many calls at a time; those of tools that stop something have places of their own, which no other
// call can take.
//
// notifications/cancelled ends a call wherever it is, and nothing more is said of it. What a tool
// answers badly to is a result with isError, so that the model sees it; errors of the protocol are
// JSON-RPC's.
#include "mcp/json_rpc.h"
#include "pons/buf.h"
#include "pons/mcp.h"
#include "pons/printable.h"
#include "pons/random.h"
#include "pons/schema.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALLS_MAX     128 // of a session
#define STOPS_MAX     16  // beside them: of tools that stop
#define PROVIDERS_MAX 16
#define ASK_EVERY_MS  250  // a question that is kept is looked at so often
#define SAY_EVERY_MS  5000 // meanwhile the client hears that it goes on
#define APPROVAL_MS   45000
#define KEY_MAX       100
#define IDLE_MS       60000
#define ARGS_SHOWN    1500 // bytes of the arguments in a question

typedef enum phase { ASKED_CLIENT, ASKED_PERSON, RUNNING } phase;

typedef struct call {
    struct call *next;
    uint64_t number; // the provider's, and of our question: "q7"
    phase phase;
    const pons_tools *provider;
    pons_value *id, *token, *args;
    char tool[65], key[KEY_MAX + 1], why[256];
    int64_t until_ms, said_ms;
    double progress; // that was told last
    bool stops;      // it has a place of its own
} call;

struct pons_mcp_session {
    struct pons_mcp_session *next;
    pons_mcp_host *h;
    pons_mcp_say_fn say;
    void *user;
    bool initialized, elicits;
    char version[16];
    char name[17]; // random: keys are made of it
    call *calls;
    size_t n_calls[2]; // of other tools, and of those that stop
    uint64_t generations[PROVIDERS_MAX];
};

struct pons_mcp_host {
    pons_mcp_server_options o;
    pons_mcp_session *sessions;
    uint64_t next; // call
};

typedef pons_mcp_session session;

__attribute__((format(printf, 2, 3))) static void note(const session *s, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text - 1, fmt, ap);
    va_end(ap);
    if (s->h->o.log_fd >= 0) { // a terminal, maybe, and the client's words
        pons_autobuf line = PONS_BUF_INIT;
        pons_plain(&line, text, SIZE_MAX, false);
        dprintf(s->h->o.log_fd, "pons: %s\n", line.data ? line.data : "");
    }
}

// ---- saying -------------------------------------------------------------------------------------

// of: the client's request that m belongs to, or NULL. Takes m.
static void say(session *s, pons_value *m, const pons_value *of)
{
    s->say(s->user, m, of);
    pons_value_unref(m);
}

static void say_text(session *s, const pons_value *id, const char *text, size_t n,
                     const pons_value *data, bool error)
{
    pons_value *content =
        pons_object("type", json_string("text"), "text", json_stringn(text, n), NULL);
    say(s,
        pons__rpc_result(id, pons_object("content", json_pack("[o]", content), "structuredContent",
                                         json_is_object(data) ? pons_value_ref(data) : NULL,
                                         "isError", json_boolean(error), NULL)),
        id);
}

__attribute__((format(printf, 3, 4))) static void tell_failure(session *s, const pons_value *id,
                                                               const char *fmt, ...)
{
    char text[2048];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    say_text(s, id, text, strlen(text), NULL, true);
}

// ---- tools --------------------------------------------------------------------------------------

// A provider whose list never changes may leave the number out.
static uint64_t generation(const pons_tools *p)
{
    return p->ops->generation ? p->ops->generation(p->self) : 0;
}

static const pons_tools *find_tool(const session *s, const char *name, pons_value **ret)
{
    for (size_t i = 0; i < s->h->o.n_tools; i++) {
        pons_error ignored = PONS_ERROR_INIT;
        pons_autovalue list = NULL;
        const pons_tools *p = &s->h->o.tools[i];
        if (p->ops->list(p->self, &list, &ignored) < 0) {
            continue;
        }
        const pons_value *t = pons_find(list, "name", name);
        if (t) {
            *ret = pons_value_ref(t);
            return p;
        }
    }
    return NULL;
}

static bool is_word(const pons_value *tool, const char *word)
{
    return strcmp(pons_get_str(tool, "risk", ""), word) == 0;
}

static pons_value *described(const pons_value *t)
{
    const bool read_only = pons_get_bool(t, "read_only", false);
    return pons_object("name", json_string(pons_get_str(t, "name", "")), "description",
                       json_string(pons_get_str(t, "description", "")), "inputSchema",
                       pons_value_ref(pons_get(t, "parameters")), "annotations",
                       pons_object("readOnlyHint", json_boolean(read_only), "destructiveHint",
                                   json_boolean(!read_only && is_word(t, "dangerous")), NULL),
                       NULL);
}

static void list_tools(session *s, const pons_value *id)
{
    pons_value *all = json_array();
    pons_autovalue names = json_object(); // a name belongs to the first provider that has it
    for (size_t i = 0; i < s->h->o.n_tools; i++) {
        pons_error ignored = PONS_ERROR_INIT;
        pons_autovalue list = NULL;
        const pons_tools *p = &s->h->o.tools[i];
        s->generations[i] = generation(p);
        if (p->ops->list(p->self, &list, &ignored) < 0) {
            continue;
        }
        pons_each(t, list) {
            const char *name = pons_get_str(t, "name", "");
            if (!pons_get(names, name) && !is_word(t, "blocked")) {
                json_object_set_new(names, name, json_true());
                json_array_append_new(all, described(t));
            }
        }
    }
    say(s, pons__rpc_result(id, pons_object("tools", all, NULL)), id);
}

static void look_at_generations(session *s)
{
    bool changed = false;
    for (size_t i = 0; i < s->h->o.n_tools; i++) {
        const uint64_t now = generation(&s->h->o.tools[i]);
        changed |= now != s->generations[i];
        s->generations[i] = now;
    }
    if (changed && s->initialized) {
        say(s, pons__rpc_notification("notifications/tools/list_changed", NULL), NULL);
    }
}

// ---- calls --------------------------------------------------------------------------------------

static void call_free(session *s, call *c)
{
    call **at = &s->calls;
    while (*at != c) {
        at = &(*at)->next;
    }
    *at = c->next;
    s->n_calls[c->stops]--;
    pons_value_unref(c->id);
    pons_value_unref(c->token);
    pons_value_unref(c->args);
    free(c);
}

static call *find_call(const session *s, uint64_t number)
{
    for (call *c = s->calls; c; c = c->next) {
        if (c->number == number) {
            return c;
        }
    }
    return NULL;
}

static void run_call(session *s, call *c)
{
    pons_error err = PONS_ERROR_INIT;
    c->phase = RUNNING;
    if (c->provider->ops->start(c->provider->self, c->number, c->tool, c->args, c->key, &err) < 0) {
        tell_failure(s, c->id, "%s", err.message);
        call_free(s, c);
    }
}

static void ask_client(session *s, call *c)
{
    pons_autobuf text = PONS_BUF_INIT;
    char *args = NULL, id[32];
    pons_value_line(c->args, &args);
    const size_t n = args ? strlen(args) : 0;
    pons_buf_printf(&text, "May %s run%s%s? Its arguments: %.*s%s", c->tool, c->why[0] ? ": " : "",
                    c->why, (int)(n < ARGS_SHOWN ? n : ARGS_SHOWN), args ? args : "",
                    n > ARGS_SHOWN ? "…" : "");
    free(args);
    snprintf(id, sizeof id, "q%" PRIu64, c->number);
    pons_value *allow =
        pons_object("type", json_string("boolean"), "title", json_string("Allow it"), "description",
                    json_string("the call runs once, with these arguments"), NULL);
    pons_value *schema =
        pons_object("type", json_string("object"), "properties", pons_object("allow", allow, NULL),
                    "required", json_pack("[s]", "allow"), NULL);
    pons_value *m = pons__rpc_request(
        0, "elicitation/create",
        pons_object("message", pons_string(text.data), "requestedSchema", schema, NULL));
    json_object_set_new(m, "id", json_string(id));
    c->phase = ASKED_CLIENT;
    say(s, m, c->id);
}

static void say_progress(session *s, call *c, double progress, const pons_value *total,
                         const char *text)
{
    if (!c->token) {
        return;
    }
    c->progress = progress > c->progress ? progress : c->progress + 1e-3; // it must increase
    say(s,
        pons__rpc_notification("notifications/progress",
                               pons_object("progressToken", pons_value_ref(c->token), "progress",
                                           json_real(c->progress), "total",
                                           json_is_number(total) ? pons_value_ref(total) : NULL,
                                           "message", text && *text ? json_string(text) : NULL,
                                           NULL)),
        c->id);
}

// Looks whether a person has answered.
static void ask_person(session *s, call *c)
{
    const pons_mcp_server_ops *ops = s->h->o.ops;
    char how[512] = "";
    pons_error err = PONS_ERROR_INIT;
    const int64_t now = pons_now_ms(&s->h->o.clock);
    const int rc = !ops || !ops->ask
                       ? pons_error_set(&err, PONS_EREFUSED, PONS__MCP,
                                        "%s is dangerous, and there is nobody to ask", c->tool)
                       : ops->ask(s->h->o.user, c->tool, c->args, c->why, how, sizeof how, &err);
    c->phase = ASKED_PERSON;
    if (rc > 0) {
        run_call(s, c);
    } else if (rc < 0) {
        tell_failure(s, c->id, "%s", err.message);
        call_free(s, c);
    } else if (now >= c->until_ms) {
        tell_failure(s, c->id,
                     "%s waits for a person's approval (%s). The question stays: once it is "
                     "answered, call the tool again with the same arguments. To answer it: %s",
                     c->tool, c->why, how);
        call_free(s, c);
    } else if (now - c->said_ms >= SAY_EVERY_MS) {
        c->said_ms = now;
        say_progress(s, c, 0, NULL, how);
    }
}

static int check_arguments(const pons_value *tool, const pons_value *args, pons_error *err)
{
    pons_schema *schema = NULL;
    pons_error ignored = PONS_ERROR_INIT;
    if (pons_schema_compile(pons_get(tool, "parameters"), &schema, &ignored) < 0) {
        return PONS_OK; // the provider's own check has to do
    }
    const int rc = pons_schema_check(schema, args, err);
    pons_schema_destroy(schema);
    return rc;
}

static pons_tool_risk risk_of(const pons_value *tool)
{
#define RISK_IF(symbol, word)                                                                      \
    if (is_word(tool, word)) {                                                                     \
        return symbol;                                                                             \
    }
    PONS_TOOL_RISK_TABLE(RISK_IF)
#undef RISK_IF
    return PONS_TOOL_DANGEROUS;
}

static call *add_call(session *s, const pons_tools *p, const pons_value *id,
                      const pons_value *params, const pons_value *args, bool stops)
{
    call *c = calloc(1, sizeof *c);
    if (!c) {
        return NULL;
    }
    const pons_value *meta = pons_get(params, "_meta");
    const char *key = pons_get_str(meta, "pons/key", "");
    *c = (call){.next = s->calls,
                .number = s->h->next++,
                .provider = p,
                .id = pons_value_ref(id),
                .args = pons_value_ref(args),
                .stops = stops,
                .token = pons_value_ref(pons_get(meta, "progressToken"))};
    c->until_ms = pons_now_ms(&s->h->o.clock) +
                  (s->h->o.approval_wait_ms ? s->h->o.approval_wait_ms : APPROVAL_MS);
    snprintf(c->tool, sizeof c->tool, "%s", pons_get_str(params, "name", ""));
    if (*key && strlen(key) <= KEY_MAX) { // the client keeps account of its calls
        snprintf(c->key, sizeof c->key, "%s", key);
    } else {
        snprintf(c->key, sizeof c->key, "mcp-%s-%" PRIu64, s->name, c->number);
    }
    s->calls = c;
    s->n_calls[stops]++;
    return c;
}

static void call_tool(session *s, const pons_value *id, const pons_value *params)
{
    const char *name = pons_get_str(params, "name", "");
    pons_autovalue tool = NULL;
    pons_autovalue none = json_object();
    pons_error err = PONS_ERROR_INIT;
    const pons_tools *p = find_tool(s, name, &tool);
    const pons_value *args = pons_get(params, "arguments");
    args = args ? args : none;
    if (!p || !json_is_object(args)) {
        char text[256];
        snprintf(text, sizeof text, "%s%.200s",
                 p ? "arguments must be an object of " : "there is no tool ", name);
        say(s, pons__rpc_error(id, PONS__RPC_PARAMS, text), id);
        return;
    }
    const bool stops = pons_get_bool(tool, "stops", false);
    const size_t most = stops ? STOPS_MAX : CALLS_MAX;
    if (s->n_calls[stops] >= most) {
        tell_failure(s, id, "%zu calls run already", most);
        return;
    }
    if (check_arguments(tool, args, &err) < 0) {
        tell_failure(s, id, "the arguments are not right: %s", err.message);
        return;
    }
    if (s->h->o.ops && s->h->o.ops->check &&
        s->h->o.ops->check(s->h->o.user, tool, args, &err) < 0) {
        tell_failure(s, id, "refused: %s", err.message);
        return;
    }
    call *c = add_call(s, p, id, params, args, stops);
    if (!c) {
        tell_failure(s, id, "no room for a call");
        return;
    }
    const pons_tool_risk own = risk_of(tool),
                         here = p->ops->assess
                                    ? p->ops->assess(p->self, name, args, c->why, sizeof c->why)
                                    : own;
    const pons_tool_risk risk = here > own ? here : own;
    if (risk == PONS_TOOL_BLOCKED) {
        tell_failure(s, id, "%s is blocked%s%s", name, c->why[0] ? ": " : "", c->why);
        call_free(s, c);
    } else if (risk != PONS_TOOL_DANGEROUS) {
        run_call(s, c);
    } else if (s->elicits) {
        ask_client(s, c);
    } else {
        ask_person(s, c);
    }
}

static void cancel(session *s, const pons_value *id)
{
    for (call *c = s->calls; c && id; c = c->next) {
        if (json_equal(c->id, id)) {
            if (c->phase == RUNNING) {
                c->provider->ops->cancel(c->provider->self, c->number);
            }
            call_free(s, c);
            return;
        }
    }
}

static void end_call(session *s, call *c, const pons_tool_event *ev)
{
    if (ev->kind == PONS_TOOL_DONE) {
        const pons_value *output = pons_get(ev->value, "output");
        say_text(s, c->id, json_is_string(output) ? json_string_value(output) : "",
                 json_string_length(output), pons_get(ev->value, "data"), false);
    } else {
        tell_failure(s, c->id, "%s%s%s", ev->error.message, ev->error.cause[0] ? ": " : "",
                     ev->error.cause);
    }
    call_free(s, c);
}

static void take_events(pons_mcp_host *h, const pons_tools *p)
{
    pons_tool_event ev;
    while (p->ops->next(p->self, &ev)) {
        for (session *s = h->sessions; s; s = s->next) {
            call *c = find_call(s, ev.call);
            if (c && ev.kind == PONS_TOOL_PROGRESS) {
                say_progress(s, c, pons_get_num(ev.value, "progress", c->progress + 1),
                             pons_get(ev.value, "total"), ev.text);
            } else if (c) {
                end_call(s, c, &ev);
            }
        }
        pons_tool_event_clear(&ev);
    }
}

// ---- the client's messages ----------------------------------------------------------------------

static void initialize(session *s, const pons_value *id, const pons_value *params)
{
    const pons_value *elicitation = pons_get(pons_get(params, "capabilities"), "elicitation");
    const char *version = pons__mcp_version(pons_get_str(params, "protocolVersion", ""));
    snprintf(s->version, sizeof s->version, "%s", version ? version : pons__mcp_newest);
    s->elicits =
        elicitation && (json_object_size(elicitation) == 0 || pons_get(elicitation, "form"));
    s->initialized = true;
    note(s, "%s %s, protocol %s%s",
         pons_get_str(pons_get(params, "clientInfo"), "name", "a client"),
         pons_get_str(pons_get(params, "clientInfo"), "version", ""), s->version,
         s->elicits ? ", can ask its person" : "");
    pons_value *capabilities =
        pons_object("tools", pons_object("listChanged", json_true(), NULL), "resources",
                    s->h->o.ops && s->h->o.ops->resources ? json_object() : NULL, NULL);
    pons_value *info = pons_object("name", json_string(s->h->o.name), "version",
                                   json_string(s->h->o.version), NULL);
    say(s,
        pons__rpc_result(
            id, pons_object("protocolVersion", json_string(s->version), "capabilities",
                            capabilities, "serverInfo", info, "instructions",
                            s->h->o.instructions ? json_string(s->h->o.instructions) : NULL, NULL)),
        id);
}

static void read_resource(session *s, const pons_value *id, const pons_value *params)
{
    char *text = NULL;
    pons_error err = PONS_ERROR_INIT;
    const char *uri = pons_get_str(params, "uri", "");
    if (s->h->o.ops->read(s->h->o.user, uri, &text, &err) < 0) {
        say(s, pons__rpc_error(id, PONS__RPC_PARAMS, err.message), id);
        return;
    }
    pons_value *content =
        pons_object("uri", json_string(uri), "mimeType", json_string("application/json"), "text",
                    json_string(text), NULL);
    free(text);
    say(s, pons__rpc_result(id, pons_object("contents", json_pack("[o]", content), NULL)), id);
}

static void request(session *s, const pons_value *id, const char *method, const pons_value *params)
{
    const bool resources = s->h->o.ops && s->h->o.ops->resources;
    if (strcmp(method, "ping") == 0) {
        say(s, pons__rpc_result(id, NULL), id);
    } else if (strcmp(method, "initialize") == 0) {
        initialize(s, id, params);
    } else if (!s->initialized) {
        say(s, pons__rpc_error(id, PONS__RPC_REQUEST, "initialize comes first"), id);
    } else if (strcmp(method, "tools/list") == 0) {
        list_tools(s, id);
    } else if (strcmp(method, "tools/call") == 0) {
        call_tool(s, id, params);
    } else if (resources && strcmp(method, "resources/list") == 0) {
        say(s,
            pons__rpc_result(id,
                             pons_object("resources", s->h->o.ops->resources(s->h->o.user), NULL)),
            id);
    } else if (resources && strcmp(method, "resources/templates/list") == 0) {
        say(s, pons__rpc_result(id, pons_object("resourceTemplates", json_array(), NULL)), id);
    } else if (resources && strcmp(method, "resources/read") == 0) {
        read_resource(s, id, params);
    } else {
        say(s, pons__rpc_error(id, PONS__RPC_METHOD, "pons offers no such method"), id);
    }
}

// The client's answer to a question of ours.
static void answer(session *s, const pons_value *m)
{
    const char *id = pons_get_str(m, "id", "");
    call *c = id[0] == 'q' ? find_call(s, strtoull(id + 1, NULL, 10)) : NULL;
    if (!c || c->phase != ASKED_CLIENT) {
        return; // of a call that was canceled meanwhile
    }
    const pons_value *result = pons_get(m, "result");
    const char *action = pons_get_str(result, "action", "");
    if (strcmp(action, "accept") == 0 &&
        pons_get_bool(pons_get(result, "content"), "allow", false)) {
        run_call(s, c);
    } else if (!result) { // it cannot ask after all
        note(s, "the client could not ask: %s",
             pons_get_str(pons_get(m, "error"), "message", "no reason"));
        s->elicits = false;
        ask_person(s, c);
    } else {
        tell_failure(s, c->id, "a person %s %s",
                     strcmp(action, "cancel") == 0 ? "did not approve" : "rejected", c->tool);
        call_free(s, c);
    }
}

void pons_mcp_session_take(pons_mcp_session *s, const pons_value *m)
{
    const pons_value *id = pons_get(m, "id");
    const char *method = pons_get_str(m, "method", NULL);
    if (!json_is_object(m)) {
        say(s, pons__rpc_error(NULL, PONS__RPC_REQUEST, "a message is one object"), NULL);
    } else if (method && id) {
        request(s, id, method, pons_get(m, "params"));
    } else if (method && strcmp(method, "notifications/cancelled") == 0) {
        cancel(s, pons_get(pons_get(m, "params"), "requestId"));
    } else if (!method) {
        answer(s, m);
    }
}

// ---- the host -----------------------------------------------------------------------------------

static void look_at_questions(session *s)
{
    for (call *c = s->calls, *next = NULL; c; c = next) {
        next = c->next;
        if (c->phase == ASKED_PERSON) {
            ask_person(s, c);
        }
    }
}

static bool waits_for_person(const session *s)
{
    for (const call *c = s->calls; c; c = c->next) {
        if (c->phase == ASKED_PERSON) {
            return true;
        }
    }
    return false;
}

int pons_mcp_host_open(const pons_mcp_server_options *o, pons_mcp_host **ret, pons_error *err)
{
    if (o->n_tools > PROVIDERS_MAX) {
        return pons_error_set(err, PONS_EINVAL, PONS__MCP, "more than %d providers", PROVIDERS_MAX);
    }
    pons_mcp_host *h = calloc(1, sizeof *h);
    if (!h) {
        return pons_error_set(err, PONS_ENOMEM, PONS__MCP, "no memory for a server");
    }
    h->o = *o;
    h->next = 1;
    *ret = h;
    return PONS_OK;
}

void pons_mcp_host_close(pons_mcp_host *h)
{
    while (h && h->sessions) {
        pons_mcp_session_close(h->sessions);
    }
    free(h);
}

size_t pons_mcp_host_fds(pons_mcp_host *h, struct pollfd *fds, size_t cap, int *ret_wait_ms)
{
    bool blind = false; // a provider without a descriptor is looked at now and then
    size_t n = 0;
    for (size_t i = 0; i < h->o.n_tools && n < cap; i++) {
        const int fd = h->o.tools[i].ops->event_fd(h->o.tools[i].self);
        blind |= fd < 0;
        fds[n++] = (struct pollfd){.fd = fd, .events = POLLIN};
    }
    for (const session *s = h->sessions; s; s = s->next) {
        blind |= waits_for_person(s);
    }
    *ret_wait_ms = blind ? ASK_EVERY_MS : IDLE_MS;
    return n;
}

void pons_mcp_host_poll(pons_mcp_host *h)
{
    for (size_t i = 0; i < h->o.n_tools; i++) {
        take_events(h, &h->o.tools[i]);
    }
    for (session *s = h->sessions; s; s = s->next) {
        look_at_generations(s);
        look_at_questions(s);
    }
}

int pons_mcp_session_open(pons_mcp_host *h, pons_mcp_say_fn say_fn, void *user,
                          pons_mcp_session **ret, pons_error *err)
{
    pons_rand rand;
    session *s = calloc(1, sizeof *s);
    if (!s) {
        return pons_error_set(err, PONS_ENOMEM, PONS__MCP, "no memory for a session");
    }
    s->h = h;
    s->say = say_fn;
    s->user = user;
    pons_rand_seed_os(&rand);
    snprintf(s->name, sizeof s->name, "%016" PRIx64, pons_rand_u64(&rand));
    for (size_t i = 0; i < h->o.n_tools; i++) {
        s->generations[i] = generation(&h->o.tools[i]);
    }
    s->next = h->sessions;
    h->sessions = s;
    *ret = s;
    return PONS_OK;
}

void pons_mcp_session_close(pons_mcp_session *s)
{
    if (!s) {
        return;
    }
    session **at = &s->h->sessions;
    while (*at != s) {
        at = &(*at)->next;
    }
    *at = s->next;
    while (s->calls) {
        if (s->calls->phase == RUNNING) {
            s->calls->provider->ops->cancel(s->calls->provider->self, s->calls->number);
        }
        call_free(s, s->calls);
    }
    free(s);
}

bool pons_mcp_session_busy(const pons_mcp_session *s)
{
    return s->calls != NULL;
}

const char *pons_mcp_session_version(const pons_mcp_session *s)
{
    return s->version;
}
