// scripted_provider.c - a model that says what a script tells it to: for tests, scenarios and demonstrations.
//
//     replies:
//       - decision: { type: CONTINUE, reason: go,
//                     ops: [{ op: dispatch, skill: wait, args: {s: 1} }] }
//         delay_ms: 800         # of the injected clock, from the request to the end of the answer
//         tokens: 5             # pieces it comes in (default 4), or the pieces themselves
//       - when: { last_result.status: failed }      # used where the observation has this
//         content: "not JSON at all"
//         repeat: true          # may be used again; without it a reply is used once
//       - error: { status: 503, message: overloaded }
//       - tool_calls: [{ name: read_file, arguments: { path: a.txt } }]   # id: made when absent
//         content: let me look  # said before the calls; may be left out
//         reasoning: hm         # comes as reasoning, before anything else
//         usage: { prompt_tokens: 12, completion_tokens: 3 }
//       - when: { messages.-1.role: tool, messages.0.content: { contains: summary } }
//         refusal: I had rather not
//
// A request takes the first reply that is unused and whose `when`, if any, fits: dotted paths into
// the request's observation, or into the request where it has none. Time is the
// injected clock's alone: an event is there once the clock has passed its due time, so the same
// script under the same clock gives the same events, whatever the machine does.
#include "llm/replay/scripted_provider.h"

#include "llm/replay/event_timer.h"
#include "pons/yaml.h"

#include <stdlib.h>
#include <string.h>

#define WHERE          "script"
#define PIECES_DEFAULT 4
#define PIECES_MAX     1000
#define PATH_LEN_MAX   128

typedef struct script {
    pons__timed said;
    pons_value *replies; // borrowed from doc
    pons_value *doc;
    bool *used; // (replies)
} script;

// ---- reading a script ---------------------------------------------------------------------------

static int bad(const pons_yaml *y, size_t index, const char *key, const char *why, pons_error *err)
{
    char pointer[PATH_LEN_MAX], position[PONS_ERROR_SOURCE_MAX];
    bool list = y && json_is_array(pons_yaml_value(y));
    snprintf(pointer, sizeof pointer, "%s/%zu%s%s", list ? "" : "/replies", index, *key ? "/" : "",
             key);
    pons_error_set(err, PONS_EINVAL, WHERE, "%s: %s", pointer, why);
    return y ? pons_error_source(err, "%s",
                                 pons_yaml_position(y, pointer, position, sizeof position))
             : PONS_EINVAL;
}

static int check_keys(const pons_value *reply, size_t i, const pons_yaml *y, pons_error *err)
{
    static const char *const keys[] = {"content",   "decision", "tool_calls", "refusal",
                                       "reasoning", "error",    "delay_ms",   "tokens",
                                       "usage",     "when",     "repeat",     NULL};
    if (!json_is_object(reply)) {
        return bad(y, i, "", "expected a mapping", err);
    }
    pons_each_member(key, v, reply) {
        size_t k = 0;
        while (keys[k] && strcmp(keys[k], key) != 0) {
            k++;
        }
        if (!keys[k]) {
            return bad(y, i, key, "unknown key", err);
        }
    }
    return PONS_OK;
}

static int check_calls(const pons_value *calls, size_t i, const pons_yaml *y, pons_error *err)
{
    bool good = !calls || (json_is_array(calls) && json_array_size(calls) > 0);
    for (size_t k = 0; good && k < json_array_size(calls); k++) {
        const pons_value *call = json_array_get(calls, k), *arguments = pons_get(call, "arguments");
        const pons_value *id = pons_get(call, "id");
        good = *pons_get_str(call, "name", "") && (!arguments || json_is_object(arguments)) &&
               (!id || json_is_string(id));
    }
    return good
               ? PONS_OK
               : bad(y, i, "tool_calls", "expected a list of {name, arguments: mapping, id?}", err);
}

static int check_said(const pons_value *reply, size_t i, const pons_yaml *y, pons_error *err)
{
    const pons_value *content = pons_get(reply, "content"), *error = pons_get(reply, "error");
    const pons_value *calls = pons_get(reply, "tool_calls"), *refusal = pons_get(reply, "refusal");
    const pons_value *reasoning = pons_get(reply, "reasoning");
    int n = (content || calls) + (pons_get(reply, "decision") != NULL) + (error != NULL) +
            (refusal != NULL);
    if (n != 1) {
        return bad(y, i, "",
                   "expected exactly one of content (with or without tool_calls), tool_calls, "
                   "decision, refusal and error",
                   err);
    }
    if (content && !json_is_string(content)) {
        return bad(y, i, "content", "expected a string", err);
    }
    if (refusal && !json_is_string(refusal)) {
        return bad(y, i, "refusal", "expected a string", err);
    }
    if (reasoning && !json_is_string(reasoning)) {
        return bad(y, i, "reasoning", "expected a string", err);
    }
    if (error && (!json_is_object(error) || !pons_get_str(error, "message", NULL))) {
        return bad(y, i, "error", "expected {status, message}", err);
    }
    return check_calls(calls, i, y, err);
}

static int check_reply(const pons_value *reply, size_t i, const pons_yaml *y, pons_error *err)
{
    int rc = check_keys(reply, i, y, err);
    rc = rc == PONS_OK ? check_said(reply, i, y, err) : rc;
    if (rc != PONS_OK) {
        return rc;
    }
    const pons_value *tokens = pons_get(reply, "tokens"), *when = pons_get(reply, "when");
    const pons_value *usage = pons_get(reply, "usage");
    if (!(pons_get_num(reply, "delay_ms", 0) >= 0)) {
        return bad(y, i, "delay_ms", "expected a number, 0 or more", err);
    }
    int64_t pieces = json_is_integer(tokens) ? json_integer_value(tokens) : 0;
    if (tokens && !json_is_array(tokens) &&
        (!json_is_integer(tokens) || pieces < 0 || pieces > PIECES_MAX)) {
        return bad(y, i, "tokens", "expected a number of pieces, or the pieces", err);
    }
    if (usage && !json_is_object(usage)) {
        return bad(y, i, "usage", "expected {prompt_tokens, completion_tokens}", err);
    }
    return when && !json_is_object(when) ? bad(y, i, "when", "expected a mapping", err) : PONS_OK;
}

static int check_replies(const pons_value *replies, const pons_yaml *y, pons_error *err)
{
    if (!json_is_array(replies)) {
        pons_error_set(err, PONS_EINVAL, WHERE, "expected a list of replies");
        char position[PONS_ERROR_SOURCE_MAX];
        return y ? pons_error_source(err, "%s",
                                     pons_yaml_position(y, "/replies", position, sizeof position))
                 : PONS_EINVAL;
    }
    int rc = PONS_OK;
    for (size_t i = 0; rc == PONS_OK && i < json_array_size(replies); i++) {
        rc = check_reply(json_array_get(replies, i), i, y, err);
    }
    return rc;
}

static int load(script *s, const pons_value *config, pons_error *err)
{
    const char *path = pons_get_str(config, "path", NULL);
    const pons_value *replies;
    int rc;
    if (path) {
        pons_yaml *y;
        if ((rc = pons_yaml_load(path, &y, err)) != PONS_OK) {
            return rc;
        }
        s->doc = pons_value_ref(pons_yaml_value(y));
        replies = json_is_array(s->doc) ? s->doc : pons_get(s->doc, "replies");
        rc = check_replies(replies, y, err);
        pons_yaml_destroy(y);
    } else {
        s->doc = pons_value_ref(config);
        replies = pons_get(config, "replies");
        rc = check_replies(replies, NULL, err);
    }
    if (rc != PONS_OK) {
        return rc;
    }
    s->replies = (pons_value *)replies;
    s->used = calloc(json_array_size(replies) + 1, sizeof *s->used);
    return s->used ? PONS_OK : pons_error_set(err, PONS_ENOMEM, WHERE, "cannot open the script");
}

// ---- choosing a reply ---------------------------------------------------------------------------

// The value at a dotted path: "task.goals.0.zone", "messages.-1.role"; NULL when there is none.
static const pons_value *at_path(const pons_value *v, const char *path)
{
    char key[PATH_LEN_MAX];
    while (v && *path) {
        size_t n = strcspn(path, ".");
        if (n >= sizeof key) {
            return NULL;
        }
        memcpy(key, path, n);
        key[n] = '\0';
        if (json_is_array(v)) {
            long at = strtol(key, NULL, 10);
            at += at < 0 ? (long)json_array_size(v) : 0;
            v = at < 0 ? NULL : json_array_get(v, (size_t)at);
        } else {
            v = pons_get(v, key);
        }
        path += n + (path[n] == '.');
    }
    return v;
}

static bool is_wanted(const pons_value *want, const pons_value *got)
{
    const char *part = pons_get_str(want, "contains", NULL);
    if (part && json_object_size(want) == 1) {
        return json_is_string(got) && strstr(json_string_value(got), part);
    }
    return json_is_number(want) && json_is_number(got)
               ? json_number_value(want) == json_number_value(got)
               : json_equal(want, got) || (json_is_null(want) && !got);
}

bool pons__script_fits(const pons_value *when, const pons_value *request)
{
    const pons_value *observation = pons_get(request, "observation");
    pons_each_member(path, want, when) {
        if (!is_wanted(want, at_path(observation ? observation : request, path))) {
            return false;
        }
    }
    return true;
}

static const pons_value *choose(script *s, const pons_value *request)
{
    pons_each(reply, s->replies) {
        if (!s->used[reply_at] && pons__script_fits(pons_get(reply, "when"), request)) {
            s->used[reply_at] = !pons_get_bool(reply, "repeat", false);
            return reply;
        }
    }
    return NULL;
}

// ---- answering ----------------------------------------------------------------------------------

static int push_text(script *s, uint64_t call, pons_llm_event_kind kind, int64_t due_ns,
                     const char *text, size_t len)
{
    char *copy = strndup(text, len);
    return copy ? pons__timed_push(&s->said, due_ns,
                                   (pons_llm_event){.call = call, .kind = kind, .text = copy})
                : PONS_ENOMEM;
}

static int push_token(script *s, uint64_t call, int64_t due_ns, const char *text, size_t len)
{
    return push_text(s, call, PONS_LLM_TOKEN, due_ns, text, len);
}

// The content in n pieces of whole characters, spread over the delay; the end comes at its end.
static int push_pieces(script *s, uint64_t call, const char *text, size_t n, int64_t start_ns,
                       int64_t delay_ns)
{
    size_t len = strlen(text), at = 0;
    int rc = PONS_OK;
    for (size_t i = 1; rc == PONS_OK && i <= n; i++) {
        size_t end = i == n ? len : len * i / n;
        while (end < len && ((unsigned char)text[end] & 0xC0u) == 0x80u) {
            end++;
        }
        if (end > at) {
            rc = push_token(s, call, start_ns + delay_ns * (int64_t)i / (int64_t)(n + 1), text + at,
                            end - at);
            at = end;
        }
    }
    return rc;
}

static int push_tokens(script *s, uint64_t call, const pons_value *tokens, int64_t start_ns,
                       int64_t delay_ns)
{
    int64_t n = (int64_t)json_array_size(tokens);
    int rc = PONS_OK;
    for (int64_t i = 0; rc == PONS_OK && i < n; i++) {
        const char *text = json_string_value(json_array_get(tokens, (size_t)i));
        text = text ? text : "";
        rc = push_token(s, call, start_ns + delay_ns * (i + 1) / (n + 1), text, strlen(text));
    }
    return rc;
}

static int schedule_error(script *s, uint64_t call, const pons_value *error, int64_t due_ns)
{
    pons_llm_event ev = {.call = call, .kind = PONS_LLM_ERROR};
    int64_t status = pons_get_int(error, "status", 0);
    const char *message = pons_get_str(error, "message", "");
    if (status) {
        pons_error_set(&ev.error, PONS_EIO, "llm", "HTTP %lld: %s", (long long)status, message);
    } else {
        pons_error_set(&ev.error, PONS_EIO, "llm", "%s", message);
    }
    return pons__timed_push(&s->said, due_ns, ev);
}

// The calls as the contract has them. One that was not offered is an error here as it is on the
// wire: *ret_error says so.
static pons_value *make_calls(uint64_t call, const pons_value *request, const pons_value *calls,
                              pons_error *ret_error)
{
    const pons_value *tools = pons_get(request, "tools");
    pons_value *list = json_array();
    for (size_t i = 0; list && i < json_array_size(calls); i++) {
        const pons_value *c = json_array_get(calls, i), *arguments = pons_get(c, "arguments");
        const char *name = pons_get_str(c, "name", ""), *id = pons_get_str(c, "id", NULL);
        bool offered = false;
        for (size_t k = 0; k < json_array_size(tools); k++) {
            offered |= strcmp(pons_get_str(json_array_get(tools, k), "name", ""), name) == 0;
        }
        const char *fault = pons_get_str(c, "fault", NULL);
        const bool tells = pons_get_bool(request, "faults", false);
        char unknown[128] = "";
        if (!offered && tells && !fault) {
            snprintf(unknown, sizeof unknown, "the model called a tool that was not offered: %.63s",
                     name);
            fault = unknown;
        } else if (!offered && !tells) {
            pons_error_set(ret_error, PONS_EPROTOCOL, "llm",
                           "the model called a tool that was not offered: %.63s", name);
        }
        pons_value *made = pons_object(
            "id", id ? json_string(id) : json_sprintf("call_%llu_%zu", (unsigned long long)call, i),
            "name", json_string(name), "arguments",
            arguments ? pons_value_ref(arguments) : json_object(), "fault",
            fault ? json_string(fault) : NULL, NULL);
        if (json_array_append_new(list, made) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    return list;
}

static int push_done(script *s, uint64_t call, const pons_value *request, const pons_value *reply,
                     const char *content, int64_t due_ns)
{
    pons_llm_event ev = {.call = call, .kind = PONS_LLM_DONE};
    pons_value *calls = make_calls(call, request, pons_get(reply, "tool_calls"), &ev.error);
    if (ev.error.status != PONS_OK) {
        json_decref(calls);
        ev.kind = PONS_LLM_ERROR;
        return pons__timed_push(&s->said, due_ns, ev);
    }
    ev.value =
        pons_object("content", content ? json_string(content) : json_null(), "refusal",
                    pons_value_ref(pons_get(reply, "refusal")), "reasoning",
                    pons_value_ref(pons_get(reply, "reasoning")), "tool_calls", calls,
                    "finish_reason", json_string(json_array_size(calls) ? "tool_calls" : "stop"),
                    "usage", pons_value_ref(pons_get(reply, "usage")), NULL);
    return calls && ev.value ? pons__timed_push(&s->said, due_ns, ev) : PONS_ENOMEM;
}

// Everything of an answer that is not an error: reasoning, tokens, the end.
static int schedule_answer(script *s, uint64_t call, const pons_value *request,
                           const pons_value *reply, int64_t now, int64_t delay)
{
    const pons_value *tokens = pons_get(reply, "tokens");
    const char *content = pons_get_str(reply, "content", NULL);
    const char *reasoning = pons_get_str(reply, "reasoning", NULL);
    char *made = NULL;
    int rc = PONS_OK;
    if (pons_get(reply, "decision")) {
        rc = pons_value_line(pons_get(reply, "decision"), &made) < 0 ? PONS_ENOMEM : PONS_OK;
        content = made;
    }
    if (rc == PONS_OK && reasoning) {
        rc = push_text(s, call, PONS_LLM_REASONING, now, reasoning, strlen(reasoning));
    }
    if (rc == PONS_OK) {
        size_t pieces = (size_t)pons_get_int(reply, "tokens", PIECES_DEFAULT);
        rc = json_is_array(tokens)
                 ? push_tokens(s, call, tokens, now, delay)
                 : push_pieces(s, call, content ? content : "", pieces, now, delay);
    }
    if (rc == PONS_OK) {
        rc = push_done(s, call, request, reply, content, now + delay);
    }
    free(made);
    return rc;
}

static void script_cancel(void *self, uint64_t call)
{
    pons__timed_cancel(&((script *)self)->said, call);
}

static int schedule(script *s, uint64_t call, const pons_value *request, const pons_value *reply,
                    pons_error *err)
{
    int64_t now = pons_now_ns(&s->said.clock);
    int64_t delay = (int64_t)(pons_get_num(reply, "delay_ms", 0) * (double)PONS_NS_PER_MS);
    const pons_value *error = pons_get(reply, "error");
    int rc = error ? schedule_error(s, call, error, now + delay)
                   : schedule_answer(s, call, request, reply, now, delay);
    if (rc != PONS_OK) {
        script_cancel(s, call); // half an answer is none
        return pons_error_set(err, PONS_ENOMEM, WHERE, "cannot answer");
    }
    return PONS_OK;
}

// ---- operations ---------------------------------------------------------------------------------

static void script_close(void *self)
{
    script *s = self;
    if (!s) {
        return;
    }
    pons__timed_fini(&s->said);
    free(s->used);
    pons_value_unref(s->doc);
    free(s);
}

static int script_open(const pons_value *config, const pons_clock *clock, void **ret_self,
                       pons_error *err)
{
    script *s = calloc(1, sizeof *s);
    if (!s) {
        return pons_error_set(err, PONS_ENOMEM, WHERE, "cannot open the script");
    }
    s->said.clock = *clock;
    int rc = load(s, config, err);
    if (rc != PONS_OK) {
        script_close(s);
        return rc;
    }
    *ret_self = s;
    return PONS_OK;
}

static int script_start(void *self, uint64_t call, const pons_value *request, pons_error *err)
{
    if (pons_get_bool(request, "models", false)) {
        return pons_error_set(err, PONS_EUNSUPPORTED, WHERE, "a script has no list of models");
    }
    script *s = self;
    const pons_value *reply = choose(s, request);
    if (reply) {
        return schedule(s, call, request, reply, err);
    }
    pons_llm_event ev = {.call = call, .kind = PONS_LLM_ERROR};
    pons_error_set(&ev.error, PONS_EIO, "llm", "the script has no reply left for this request");
    return pons__timed_push(&s->said, pons_now_ns(&s->said.clock), ev) == PONS_OK
               ? PONS_OK
               : pons_error_set(err, PONS_ENOMEM, WHERE, "cannot answer");
}

static int script_event_fd(void *self)
{
    return -1;
}

static bool script_next(void *self, pons_llm_event *ret)
{
    return pons__timed_next(&((script *)self)->said, ret);
}

const pons_llm_ops pons_llm_script = {.abi = PONS_LLM_ABI,
                                      .name = "script",
                                      .open = script_open,
                                      .close = script_close,
                                      .start = script_start,
                                      .cancel = script_cancel,
                                      .event_fd = script_event_fd,
                                      .next = script_next};
