// chat_reply.c - what the words of a chat completions server mean.
//
// Only a whole and valid message is ever handed on: it is UTF-8, the server said why it ended
// (finish_reason), that was not "it was cut" or "it was filtered", and it has content or tool
// calls. A call has an id of its own, a name that was offered, and arguments that are one
// JSON object without a key twice. Everything else is one clear line of error; where a host asked for
// `faults`, what the model did wrong is that line in a reply (ext/llm.h).
#include "llm/chat/chat.h"

#include <stdlib.h>
#include <string.h>

#define WHERE          "llm"
#define ERROR_TEXT_MAX 240 // bytes of a server's own words in a message

// ---- what is shown as it comes ------------------------------------------------------------------

static int show(pons__reply *r, pons__redactor *veil, pons_llm_event_kind kind, const char *piece)
{
    pons_autobuf b = PONS_BUF_INIT;
    r->any_token = true;
    if (pons__redactor_pass(veil, piece, &b) != PONS_OK) {
        return pons__no_memory(r);
    }
    if (b.len) {
        r->on_piece(r->user, kind, b.data);
    }
    return PONS_OK;
}

static int add(pons__reply *r, pons_buf *into, const char *text)
{
    return pons_buf_str(into, text) == PONS_OK ? PONS_OK : pons__no_memory(r);
}

static int add_content(pons__reply *r, const char *text)
{
    if (!*text) {
        return PONS_OK;
    }
    int rc = add(r, &r->content, text);
    return rc == PONS_OK ? show(r, &r->tokens, PONS_LLM_TOKEN, text) : rc;
}

static int add_reasoning(pons__reply *r, const char *text)
{
    if (!*text) {
        return PONS_OK;
    }
    int rc = add(r, &r->reasoning, text);
    return rc == PONS_OK ? show(r, &r->thoughts, PONS_LLM_REASONING, text) : rc;
}

// ---- a server's words ---------------------------------------------------------------------------

static bool is_utf8(const char *s, size_t n)
{
    while (n > 0) {
        size_t k = pons_utf8_sequence(s, n);
        if (k == 0) {
            return false;
        }
        s += k;
        n -= k;
    }
    return true;
}

// Copies a server's words as one printable line.
static void one_line(const char *s, size_t n, char *buf, size_t cap)
{
    size_t at = 0;
    for (size_t i = 0; i < n && at + 1 < cap; i++) {
        unsigned char c = (unsigned char)s[i];
        buf[at++] = c < ' ' || c == 0x7F ? ' ' : (char)c;
    }
    buf[at] = '\0';
    while (at > 0 && (!is_utf8(buf, at) || buf[at - 1] == ' ')) { // a cut inside a character
        buf[--at] = '\0';
    }
}

// The words of an error object, whatever shape servers give it.
static const char *error_words(const pons_value *v)
{
    v = json_is_array(v) ? json_array_get(v, 0) : v;
    const pons_value *error = pons_get(v, "error");
    const char *s = json_string_value(error);
    s = s ? s : pons_get_str(error, "message", NULL);
    s = s ? s : pons_get_str(v, "message", NULL);
    return s ? s : pons_get_str(v, "detail", NULL);
}

// A server's words as one printable line, without the key that it may have quoted.
static void quote_words(const char *words, const char *secret, char *buf, size_t cap)
{
    char *copy = strdup(words ? words : "");
    buf[0] = '\0';
    if (copy) {
        pons__redact(copy, secret); // before it is cut: half a key is too much
        one_line(copy, strlen(copy), buf, cap);
    }
    free(copy);
}

void pons__openai_http_error(pons_error *err, long status, const char *body, size_t len,
                             const char *secret)
{
    pons_error ignored = PONS_ERROR_INIT;
    pons_value *v = NULL;
    char text[ERROR_TEXT_MAX];
    const char *words = NULL;
    if (body && pons_value_parse(body, len, &v, &ignored) == PONS_OK) {
        words = error_words(v);
    }
    bool page = body && body[strspn(body, " \t\r\n")] == '<';
    if (!words && !page) {
        words = body;
    }
    quote_words(words, secret, text, sizeof text);
    pons_error_set(err, status == 401 || status == 403 ? PONS_EREFUSED : PONS_EIO, WHERE,
                   *text ? "the server answered HTTP %ld: %s" : "the server answered HTTP %ld",
                   status, text);
    pons_value_unref(v);
}

// ---- one choice: "delta" of a stream, "message" of a whole reply --------------------------------

// Content as a list of parts; a part that says nothing in words is passed over.
static int take_parts(pons__reply *r, const pons_value *parts)
{
    int rc = PONS_OK;
    for (size_t i = 0; rc == PONS_OK && i < json_array_size(parts); i++) {
        const pons_value *part = json_array_get(parts, i);
        const char *type = pons_get_str(part, "type", "");
        if (strcmp(type, "thinking") == 0 || strcmp(type, "reasoning") == 0) {
            const pons_value *inner = pons_get(part, "thinking");
            const char *text = json_is_array(inner)
                                   ? pons_get_str(json_array_get(inner, 0), "text", "")
                                   : pons_get_str(part, "thinking", pons_get_str(part, "text", ""));
            pons_autovalue beside = json_pack("{s[O]}", "content", part);
            rc = pons__extra_take(r, &r->extra, beside, NULL);
            rc = rc == PONS_OK ? add_reasoning(r, text) : rc;
        } else if (strcmp(type, "refusal") == 0) {
            rc = add(r, &r->refusal, pons_get_str(part, "refusal", ""));
        } else {
            rc = add_content(r, pons_get_str(part, "text", ""));
        }
    }
    return rc;
}

static int take_content(pons__reply *r, const pons_value *content)
{
    if (!content || json_is_null(content)) {
        return PONS_OK;
    }
    if (json_is_string(content)) {
        return add_content(r, json_string_value(content));
    }
    return json_is_array(content)
               ? take_parts(r, content)
               : pons__bad(r, "the answer's content is neither text nor a list of parts");
}

static int take_choice(pons__reply *r, const pons_value *choice, const char *key)
{
    static const char *const known[] = {"role",       "content",       "refusal",
                                        "tool_calls", "function_call", NULL};
    const pons_value *message = pons_get(choice, key);
    const char *refusal = pons_get_str(message, "refusal", NULL);
    const char *finish = pons_get_str(choice, "finish_reason", NULL);
    // llama.cpp, vLLM and DeepSeek say reasoning_content; Ollama, OpenRouter and newer vLLM
    // reasoning.
    const char *thought = pons_get_str(message, "reasoning_content", NULL);
    thought = thought ? thought : pons_get_str(message, "reasoning", "");
    r->progress = r->progress || finish || json_object_size(message) > 0;
    int rc = add_reasoning(r, thought);
    if (rc == PONS_OK) {
        rc = pons__extra_take(r, &r->extra, message, known);
    }
    if (rc == PONS_OK) {
        rc = take_content(r, pons_get(message, "content"));
    }
    if (rc == PONS_OK && refusal) {
        rc = add(r, &r->refusal, refusal);
    }
    if (rc == PONS_OK) {
        rc = pons__calls_take(r, pons_get(message, "tool_calls"), strcmp(key, "message") == 0);
    }
    if (rc == PONS_OK && finish && *finish) {
        snprintf(r->finish_reason, sizeof r->finish_reason, "%s", finish);
    }
    return rc;
}

static int error_event(pons__reply *r, const pons_value *v)
{
    char text[ERROR_TEXT_MAX];
    const char *words = error_words(v);
    quote_words(words ? words : "no reason given", r->secret, text, sizeof text);
    return pons_error_set(r->err, PONS_EIO, WHERE, "the server reported an error: %s", text);
}

static void take_usage(pons__reply *r, const pons_value *usage)
{
    if (json_is_object(usage)) {
        pons_value_unref(r->usage);
        r->usage = pons_value_ref(usage);
    }
}

static int take_object(pons__reply *r, const pons_value *v, const char *key)
{
    const pons_value *error = pons_get(v, "error");
    if ((error && !json_is_null(error)) || strcmp(pons_get_str(v, "object", ""), "error") == 0) {
        return error_event(r, v);
    }
    take_usage(r, pons_get(v, "usage"));
    const char *model = pons_get_str(v, "model", "");
    if (*model && strlen(model) < sizeof r->model) {
        memcpy(r->model, model, strlen(model) + 1);
    }
    const pons_value *choices = pons_get(v, "choices"); // empty in the chunk that has the usage
    pons_each(choice, choices) {
        if (pons_get_int(choice, "index", 0) == 0) { // one answer was asked for
            take_usage(r, pons_get(choice, "usage"));
            return take_choice(r, choice, key);
        }
    }
    return PONS_OK;
}

static int take_json(pons__reply *r, const char *text, size_t len, const char *key)
{
    pons_value *v = NULL;
    pons_error why = PONS_ERROR_INIT;
    if (pons_value_parse(text, len, &v, &why) != PONS_OK) {
        char words[ERROR_TEXT_MAX]; // it quotes the text
        quote_words(why.message, r->secret, words, sizeof words);
        return pons__bad(r, "the server sent what is not JSON: %s", words);
    }
    int rc = json_is_object(v) ? take_object(r, v, key)
                               : pons__bad(r, "the server sent JSON that is not an object");
    pons_value_unref(v);
    return rc;
}

// What was held back: the other half of its last character has come, or never will.
static int take_held(pons__reply *r)
{
    const int rc = r->held.len ? take_json(r, r->held.data, r->held.len, "delta") : PONS_OK;
    pons_buf_clear(&r->held);
    return rc;
}

static int take_text(pons__reply *r, const char *text, size_t len, const char *key)
{
    if (!is_utf8(text, len)) {
        return pons__bad(r, "the answer is not valid UTF-8");
    }
    if (!r->held.len && !pons_surrogates_any(text, len)) {
        return take_json(r, text, len, key);
    }
    pons_autobuf own = PONS_BUF_INIT;
    char *head = NULL, *tail = NULL;
    if (pons_buf_bytes(&own, text, len) != PONS_OK) {
        return pons__no_memory(r);
    }
    pons_surrogates_find(own.data, own.len, &head, &tail);
    int rc = PONS_OK;
    if (r->held.len && head) {
        rc = pons_surrogates_join(&r->held, r->held_at, &own, head);
        pons_surrogates_find(own.data, own.len, &head, &tail);
    } else if (r->held.len) {
        pons_surrogates_replace(r->held.data + r->held_at);
    }
    pons_surrogates_replace(head);
    rc = rc == PONS_OK ? take_held(r) : pons__no_memory(r);
    if (rc == PONS_OK && tail && strcmp(key, "delta") == 0) {
        r->progress = true;
        r->held_at = (size_t)(tail - own.data);
        return pons_buf_bytes(&r->held, own.data, own.len) == PONS_OK ? PONS_OK
                                                                      : pons__no_memory(r);
    }
    pons_surrogates_replace(tail);
    return rc == PONS_OK ? take_json(r, own.data, own.len, key) : rc;
}

// ---- the reply ----------------------------------------------------------------------------------

void pons__reply_init(pons__reply *r, const pons_value *request,
                      void (*on_piece)(void *, pons_llm_event_kind, const char *), void *user,
                      const char *secret, pons_error *err)
{
    *r = (pons__reply){.request = request,
                       .on_piece = on_piece,
                       .user = user,
                       .secret = secret,
                       .tokens = {.secret = secret},
                       .thoughts = {.secret = secret},
                       .err = err};
}

void pons__reply_fini(pons__reply *r)
{
    pons_buf_fini(&r->content);
    pons_buf_fini(&r->refusal);
    pons_buf_fini(&r->reasoning);
    pons__redactor_fini(&r->tokens);
    pons__redactor_fini(&r->thoughts);
    pons__calls_fini(r);
    pons_value_unref(r->usage);
    pons_value_unref(r->extra);
    r->usage = r->extra = NULL;
    pons_buf_fini(&r->held);
}

int pons__reply_event(void *reply, const char *event, const char *data, size_t len)
{
    pons__reply *r = reply;
    if (r->done || strcmp(event, "ping") == 0) {
        return PONS_OK;
    }
    if (len == strlen("[DONE]") && memcmp(data, "[DONE]", len) == 0) {
        r->done = true;
        return take_held(r);
    }
    return take_text(r, data, len, "delta");
}

int pons__reply_object(pons__reply *r, const char *text, size_t len)
{
    size_t skip = strspn(text, " \t\r\n");
    if (skip < len && text[skip] == '<') {
        return pons__bad(r, "the server answered a web page, not a chat completion; the URL should "
                            "be the base of its API, often ending with /v1");
    }
    int rc = take_text(r, text, len, "message");
    r->done = rc == PONS_OK;
    return rc;
}

// Shows what was held back; the text is over.
static int flush(pons__reply *r, pons__redactor *veil, pons_llm_event_kind kind)
{
    pons_autobuf b = PONS_BUF_INIT;
    if (pons__redactor_end(veil, &b) != PONS_OK) {
        return pons__no_memory(r);
    }
    if (b.len) {
        r->on_piece(r->user, kind, b.data);
    }
    return PONS_OK;
}

static pons_value *text_or_null(pons_buf *b, const char *secret, bool or_null)
{
    if (b->len == 0) {
        return or_null ? json_null() : NULL;
    }
    pons__redact(b->data, secret);
    return json_string(b->data);
}

// Whether the server said that the message is whole, and it can be one.
static int check_ended_well(pons__reply *r)
{
    static const char *const cut[] = {"length", "max_tokens", "model_length", "max_output_tokens",
                                      NULL};
    static const char *const broken[] = {"error",     "abort",    "aborted",
                                         "cancelled", "canceled", "insufficient_system_resource",
                                         "timed_out", NULL};
    char text[ERROR_TEXT_MAX];
    if (r->done && !r->finish_reason[0]) { // it says that it is whole all the same
        snprintf(r->finish_reason, sizeof r->finish_reason, "stop");
    }
    const char *why = r->finish_reason;
    if (r->refusal.len && (pons_get(r->request, "schema") || !why[0])) {
        quote_words(r->refusal.data, r->secret, text, sizeof text);
        return pons__bad(r, "the model refused: %s", text);
    }
    if (!why[0]) {
        return pons__bad(r, "the answer ended before it was complete: no finish_reason");
    }
    for (size_t i = 0; cut[i]; i++) {
        if (strcasecmp(why, cut[i]) == 0) {
            return pons__faulty(r,
                                "the answer was cut at its longest after %zu bytes%s "
                                "(finish_reason %s)",
                                r->content.len, r->n_calls ? ", inside a tool call" : "", cut[i]);
        }
    }
    for (size_t i = 0; broken[i]; i++) {
        if (strcasecmp(why, broken[i]) == 0) {
            return pons__bad(r, "the server gave up in the middle of the answer (finish_reason %s)",
                             broken[i]);
        }
    }
    if (strcmp(why, "content_filter") == 0) {
        return pons__bad(r, "the server's filter withheld the answer (finish_reason "
                            "content_filter)");
    }
    if (r->n_calls == 0 && strcmp(why, "tool_calls") == 0) {
        return pons__faulty(r, "the answer promises tool calls (finish_reason tool_calls) and has "
                               "none");
    }
    if (r->content.len == 0 && r->n_calls == 0 && r->refusal.len == 0) {
        quote_words(why, r->secret, text, sizeof text);
        return pons__faulty(r, "the answer has no content (finish_reason %s)", text);
    }
    return PONS_OK;
}

// The counts alone: what else a server adds is its own affair.
static pons_value *usage_of(const pons_value *usage)
{
    const pons_value *cached = pons_get(pons_get(usage, "prompt_tokens_details"), "cached_tokens");
    const pons_value *reasoning =
        pons_get(pons_get(usage, "completion_tokens_details"), "reasoning_tokens");
    const struct {
        const char *key;
        const pons_value *count;
    } counts[] = {{"prompt_tokens", pons_get(usage, "prompt_tokens")},
                  {"completion_tokens", pons_get(usage, "completion_tokens")},
                  {"total_tokens", pons_get(usage, "total_tokens")},
                  {"cached_tokens", cached},
                  {"reasoning_tokens", reasoning}};
    pons_value *v = usage ? json_object() : NULL;
    for (size_t i = 0; v && i < sizeof counts / sizeof *counts; i++) {
        int64_t n = json_is_integer(counts[i].count) ? json_integer_value(counts[i].count) : -1;
        if (n >= 0) {
            json_object_set_new(v, counts[i].key, json_integer(n));
        }
    }
    return v;
}

int pons__reply_finish(pons__reply *r, uint64_t seed, pons_value **ret)
{
    int rc = take_held(r);
    rc = rc == PONS_OK ? flush(r, &r->thoughts, PONS_LLM_REASONING) : rc;
    rc = rc == PONS_OK ? flush(r, &r->tokens, PONS_LLM_TOKEN) : rc;
    rc = rc == PONS_OK ? check_ended_well(r) : rc;
    // A host that gives faults back to the model gets them in a reply.
    char fault[PONS_ERROR_MESSAGE_MAX] = "";
    if (rc != PONS_OK && r->faulty && pons_get_bool(r->request, "faults", false)) {
        snprintf(fault, sizeof fault, "%s", r->err->message);
        *r->err = (pons_error)PONS_ERROR_INIT;
        rc = PONS_OK;
    }
    pons_value *calls = NULL, *extra = NULL;
    if (rc == PONS_OK) {
        rc = pons__calls_finish(r, seed, *fault ? fault : NULL, &calls);
    }
    rc = rc == PONS_OK ? pons__extra_finish(r, calls, &extra) : rc;
    if (rc != PONS_OK) {
        pons_value_unref(calls);
        return rc;
    }
    pons__redact(r->model, r->secret);
    // Servers say "stop", "tool", "tool_calls" of the same thing.
    const char *why = json_array_size(calls) ? "tool_calls" : r->finish_reason;
    pons_value *v = pons_object("content", text_or_null(&r->content, r->secret, true), "refusal",
                                text_or_null(&r->refusal, r->secret, false), "reasoning",
                                text_or_null(&r->reasoning, r->secret, false), "tool_calls", calls,
                                "finish_reason", json_string(why), "usage", usage_of(r->usage),
                                "model", r->model[0] ? json_string(r->model) : NULL, "fault",
                                *fault ? json_string(fault) : NULL, "extra", extra, NULL);
    if (!v) {
        return pons__no_memory(r);
    }
    *ret = v;
    return PONS_OK;
}
