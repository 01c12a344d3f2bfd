// thread_stream.c - the newer stream protocol of `client.threads.stream`: commands, and events by channels.
//
//     POST /threads/T/commands {id, method, params}
//         run.start {assistant_id, input, config, metadata}        input.respond {interrupt_id, response}
//     POST /threads/T/stream/events {channels, namespaces, depth, since} -> server-sent events
//
// An event is {type: "event", event_id, seq, method, params: {namespace, timestamp, data}}, made of the
// thread's log as the classic streams are: seq is the row's number, so `since` is a place in the log. A
// stream without one begins where the thread's newest run does. A row may say several events, so that with
// the number `since` comes again; who has seen it knows it by its event_id.
#include "pons/buf.h"
#include "pons/out_of_memory.h"
#include "serve/langgraph/langgraph_json.h"
#include "serve/langgraph/run_request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STREAM "stream."

enum { NAMESPACES_MAX = 16 };

static const char *const channels[] = {"values", "updates",     "messages",  "custom", "tasks",
                                       "tools",  "checkpoints", "lifecycle", "input"};

// The channel of a method, "input.requested" being of input; 0: none.
static unsigned bit_of(const char *method)
{
    for (size_t i = 0; i < sizeof channels / sizeof channels[0]; i++) {
        const size_t n = strlen(channels[i]);
        if (strncmp(channels[i], method, n) == 0 && (method[n] == '\0' || method[n] == '.')) {
            return 1U << i;
        }
    }
    return 0;
}

// ---- commands -----------------------------------------------------------------------------------

static int failed(pons__request *r, const char *code, const char *message)
{
    return pons__reply_json(r, 200,
                            pons_object("type", json_string("error"), "id",
                                        pons__lg_or_null(pons_get(r->body, "id")), "error",
                                        json_string(code), "message", pons_string(message), NULL));
}

static int submit(pons__request *r, const pons_value *body)
{
    pons_autovalue run = NULL;
    if (pons__lg_submit(r->s, r->args[0], body, NULL, NULL, &run, &r->err) < 0) {
        const bool absent = r->err.status == PONS_ENOTFOUND;
        return r->err.status == PONS_EIO // no fault of the command's
                   ? r->err.status
                   : failed(r, absent ? "no_such_run" : "invalid_argument", r->err.message);
    }
    return pons__reply_json(
        r, 200,
        pons_object(
            "type", json_string("success"), "id", pons__lg_or_null(pons_get(r->body, "id")),
            "result", pons_object("run_id", pons_value_ref(pons_get(run, "run_id")), NULL), "meta",
            pons_object("applied_through_seq", pons_value_ref(pons_get(run, "after")), NULL),
            NULL));
}

static pons_value *all_modes(void)
{
    return json_pack("[ssssss]", "values", "updates", "messages", "custom", "tasks", "checkpoints");
}

static int run_start(pons__request *r, const pons_value *params)
{
    static const char *const taken[] = {"assistant_id", "input",   "config",     "context",
                                        "metadata",     "command", "checkpoint", NULL};
    const char *strategy = pons_get_str(params, "multitask_strategy",
                                        pons_get_str(params, "multitaskStrategy", "enqueue"));
    pons_autovalue body =
        pons_object("stream_mode", all_modes(), "stream_subgraphs", json_true(), "if_not_exists",
                    json_string("create"), "multitask_strategy", json_string(strategy), NULL);
    return submit(r, pons__lg_put_some(body, params, taken));
}

// One answer, or `responses`, a list of them.
static int input_respond(pons__request *r, const pons_value *params)
{
    const pons_serve_graph *g = pons__lg_graph_of(r->s, r->args[0]);
    const pons_value *list = pons_get(params, "responses"), *update = pons_get(params, "update");
    pons_autovalue one = json_pack("[O]", params);
    pons_autovalue resume = json_object();
    list = json_is_array(list) ? list : one;
    pons_each(answer, list) {
        const char *id = pons_get_str(answer, "interrupt_id", "");
        json_object_set_new(resume, id, pons_value_ref(pons_get(answer, "response")));
    }
    if (!g) {
        return failed(r, "no_such_run", "this thread has no run that asks");
    }
    pons_autovalue body =
        pons_object("assistant_id", json_string(g->id), "stream_mode", all_modes(),
                    "stream_subgraphs", json_true(), "command",
                    pons_object("resume", pons_value_ref(resume), "update",
                                json_is_object(update) ? pons_value_ref(update) : NULL, NULL),
                    NULL);
    return submit(r, body);
}

static int command(pons__request *r)
{
    const char *method = pons_get_str(r->body, "method", "");
    const pons_value *params = pons_get(r->body, "params");
    char message[128];
    if (!pons__thread_name(r->args[0])) {
        return pons__reply_error(r, 422, "that is no name of a thread");
    }
    if (strcmp(method, "run.start") == 0) {
        return run_start(r, params);
    }
    if (strcmp(method, "input.respond") == 0) {
        return input_respond(r, params);
    }
    snprintf(message, sizeof message, "Unknown protocol command: %.80s", method);
    return failed(r, "unknown_command", message);
}

// ---- events -------------------------------------------------------------------------------------

typedef struct follower {
    pons__watch w; // first
    unsigned channels;
    int64_t since;
    int64_t depth; // < 0: any
    char spaces[NAMESPACES_MAX][PONS_NAME_MAX];
    size_t n_spaces; // 0: any
    char graph[PONS_NAME_MAX];
    char message[64]; // the one that is being said; "": none
    char *said;       // of it so far
    int sub;
} follower;

// "a:1|b:2" as a list.
static pons_value *list_of(const char *ns)
{
    pons_value *list = json_array();
    while (*ns) {
        const size_t n = strcspn(ns, "|");
        json_array_append_new(list, json_stringn(ns, n));
        ns += n + (ns[n] == '|');
    }
    return list;
}

static bool wanted(const follower *f, const char *ns)
{
    int64_t deep = *ns ? 1 : 0;
    for (const char *p = ns; *p; p++) {
        deep += *p == '|';
    }
    if (f->n_spaces == 0) {
        return f->depth < 0 || deep <= f->depth;
    }
    for (size_t i = 0; i < f->n_spaces; i++) {
        const size_t n = strlen(f->spaces[i]);
        if (strncmp(ns, f->spaces[i], n) == 0 && (n == 0 || ns[n] == '\0' || ns[n] == '|')) {
            return true;
        }
    }
    return false;
}

// Takes data.
static void say(follower *f, const pons_event_row *row, const char *method, const char *ns,
                pons_value *data)
{
    char id[48];
    const int sub = f->sub++;
    if (!(f->channels & bit_of(method)) || row->seq < f->since || !wanted(f, ns)) {
        pons_value_unref(data);
        return;
    }
    snprintf(id, sizeof id, sub ? "%lld-%d" : "%lld", (long long)row->seq, sub);
    pons_autovalue event =
        pons_object("type", json_string("event"), "event_id", json_string(id), "seq",
                    json_integer(row->seq), "method", json_string(method), "params",
                    pons_object("namespace", list_of(ns), "timestamp", json_integer(row->ts_ms),
                                "data", data, NULL),
                    NULL);
    pons_autobuf out = PONS_BUF_INIT;
    pons_buf_printf(&out, "id: %s\nevent: %s\ndata: ", id, method);
    pons__buf_value(&out, event);
    pons_buf_str(&out, "\n\n");
    if (!out.failed) {
        pons__watch_write(&f->w, out.data, out.len);
    }
}

static void lifecycle(follower *f, const pons_event_row *row, const char *event,
                      const pons_value *error)
{
    const pons_value *why = pons_get(error, "message");
    say(f, row, "lifecycle", "",
        pons_object("event", json_string(event), "graph_name", json_string(f->graph), "error",
                    why ? pons_value_ref(why) : NULL, NULL));
}

static void finish_message(follower *f, const pons_event_row *row, const char *ns)
{
    if (!f->message[0]) {
        return;
    }
    say(f, row, "messages", ns,
        pons_object("event", json_string("content-block-finish"), "index", json_integer(0),
                    "content",
                    pons_object("type", json_string("text"), "text",
                                json_string(f->said ? f->said : ""), NULL),
                    NULL));
    say(f, row, "messages", ns, pons_object("event", json_string("message-finish"), NULL));
    f->message[0] = '\0';
    free(f->said);
    f->said = NULL;
}

static void message(follower *f, const pons_event_row *row, const char *ns, const pons_value *chunk)
{
    const char *id = pons_get_str(chunk, "id", ""), *text = pons_get_str(chunk, "content", "");
    const char *type = pons_get_str(chunk, "type", "ai");
    if (strcmp(id, f->message) != 0 || !*id) {
        finish_message(f, row, ns);
        snprintf(f->message, sizeof f->message, "%s", *id ? id : "message");
        const char *other = strcmp(type, "tool") == 0 ? "tool" : "ai";
        say(f, row, "messages", ns,
            pons_object("event", json_string("message-start"), "role",
                        json_string(strncmp(type, "human", 5) == 0 ? "human" : other), "id",
                        json_string(f->message), NULL));
        say(f, row, "messages", ns,
            pons_object(
                "event", json_string("content-block-start"), "index", json_integer(0), "content",
                pons_object("type", json_string("text"), "text", json_string(""), NULL), NULL));
    }
    pons_autobuf whole = PONS_BUF_INIT;
    pons_buf_printf(&whole, "%s%s", f->said ? f->said : "", text);
    pons_buf_byte(&whole, 0);
    free(f->said);
    f->said = pons_buf_take(&whole, NULL);
    say(f, row, "messages", ns,
        pons_object("event", json_string("content-block-delta"), "index", json_integer(0), "delta",
                    pons_object("type", json_string("text-delta"), "text", json_string(text), NULL),
                    NULL));
}

static void updates(follower *f, const pons_event_row *row, const char *ns, const pons_value *v)
{
    pons_each_member(node, values, v) {
        if (strncmp(node, "__", 2) != 0) {
            say(f, row, "updates", ns,
                pons_object("node", json_string(node), "values",
                            json_is_null(values) ? json_object() : pons_value_ref(values), NULL));
        }
    }
}

static void streamed(follower *f, const pons_event_row *row, const pons_value *v)
{
    const char *mode = row->type + strlen(STREAM), *ns = row->ns ? row->ns : "";
    if (strcmp(mode, "values") == 0) {
        pons_value *values = json_copy((pons_value *)(uintptr_t)v);
        json_object_del(values, "__interrupt__");
        say(f, row, "values", ns, values);
    } else if (strcmp(mode, "updates") == 0) {
        updates(f, row, ns, v);
    } else if (strcmp(mode, "messages") == 0) {
        message(f, row, ns, json_array_get(v, 0));
    } else if (strcmp(mode, "custom") == 0) {
        const pons_value *name = pons_get(v, "name");
        say(f, row, "custom", ns,
            pons_object("name", json_is_string(name) ? pons_value_ref(name) : NULL, "payload",
                        pons_value_ref(v), NULL));
    } else if (strcmp(mode, "tasks") == 0 || strcmp(mode, "checkpoints") == 0) {
        say(f, row, mode, ns, pons_value_ref(v));
    }
}

static void ended(follower *f, const pons_event_row *row, const pons_value *v)
{
    const pons_value *asked = pons_get(v, "interrupts");
    const char *status = pons_get_str(v, "status", "success");
    finish_message(f, row, "");
    pons_each(one, asked) {
        say(f, row, "input.requested", "",
            pons_object("interrupt_id", pons_value_ref(pons_get(one, "id")), "payload",
                        pons_value_ref(pons_get(one, "value")), NULL));
    }
    const bool waits = json_array_size(asked) > 0 || strcmp(status, "interrupted") == 0;
    lifecycle(f, row,
              waits                            ? "interrupted"
              : strcmp(status, "success") == 0 ? "completed"
                                               : "failed",
              pons_get(v, "error"));
}

static int on_event(pons__watch *w, const pons_event_row *row)
{
    follower *f = (follower *)w;
    pons_autovalue v = NULL;
    const bool start = strcmp(row->type, PONS__RUN_STARTED) == 0;
    const bool end = strcmp(row->type, PONS__RUN_ENDED) == 0;
    f->sub = 0;
    if ((!start && !end && strncmp(row->type, STREAM, strlen(STREAM)) != 0) ||
        pons_value_read(row->payload.data, row->payload.len, &v, NULL) < 0) {
        return 0;
    }
    if (start) {
        snprintf(f->graph, sizeof f->graph, "%s", pons_get_str(v, "graph_id", ""));
        lifecycle(f, row, "running", NULL);
    } else if (end) {
        ended(f, row, v);
    } else {
        streamed(f, row, v);
    }
    return 0;
}

static void on_over(pons__watch *w)
{
    follower *f = (follower *)w;
    w->http->stream_end(w->stream);
    free(f->said);
    free(f);
}

static void read_channels(const pons__request *r, follower *f)
{
    pons_each(one, pons_get(r->body, "channels")) {
        const char *word = json_string_value(one);
        f->channels |= bit_of(strncmp(word, "custom:", 7) == 0 ? "custom" : word);
    }
}

static void read_spaces(const pons__request *r, follower *f)
{
    f->depth = pons_get_int(r->body, "depth", -1);
    pons_each(one, pons_get(r->body, "namespaces")) {
        char *to = f->spaces[f->n_spaces++];
        size_t n = 0;
        pons_each(part, one) {
            const int more = snprintf(to + n, PONS_NAME_MAX - n, "%s%s", part_at ? "|" : "",
                                      json_string_value(part));
            n += more > 0 && (size_t)more < PONS_NAME_MAX - n ? (size_t)more : 0;
        }
    }
}

// Where the thread's newest run begins.
static int64_t newest_run(pons__request *r)
{
    pons_autovalue runs = NULL;
    pons_error none = PONS_ERROR_INIT;
    pons__runhost_runs(r->s->host, r->args[0], NULL, 1, 0, &runs, &none);
    return pons_get_int(json_array_get(runs, 0), "after", 0);
}

static int events(pons__request *r)
{
    if (!pons__thread_name(r->args[0])) {
        return pons__reply_error(r, 422, "that is no name of a thread");
    }
    follower *f = pons_need_zeroed(1, sizeof *f);
    f->w.http = r->s->http;
    read_channels(r, f);
    read_spaces(r, f);
    snprintf(f->w.thread, sizeof f->w.thread, "%s", r->args[0]);
    f->since = pons_get_int(r->body, "since", -1);
    f->w.at = newest_run(r);
    f->w.at = f->since >= 0 && f->since < f->w.at ? f->since : f->w.at;
    f->w.event = on_event;
    f->w.beat = ": heartbeat\n";
    f->w.over = on_over;
    f->w.stream = pons__reply_events(r, NULL);
    if (!f->w.stream) {
        free(f);
    } else if (pons__runhost_watch(r->s->host, &f->w, &r->err) < 0) {
        on_over(&f->w);
    }
    return PONS_OK;
}

const pons__route pons__lg_protocol_routes[] = {
    {"POST", "/threads/*/commands", PONS__OPERATOR, command},
    {"POST", "/threads/*/stream/events", PONS__VIEWER, events},
    {NULL, NULL, PONS__NOBODY, NULL},
};
