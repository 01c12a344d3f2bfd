// openai_message.c - what is said to a chat completions server, and what its words mean.
//
// Only a whole and valid message is ever handed on: it has content, it is UTF-8, and the server
// said why it ended (finish_reason), and that was not "it was cut" or "it was filtered". Everything
// else is one clear line of error.
#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

#include "llm/openai_internal.h"

#define WHERE          "llm"
#define ERROR_TEXT_MAX 240 // bytes of a server's own words in a message

static int bad(pons__reply *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

// ---- the request ----

static pons_value *schema_message(const pons_value *schema)
{
    static const char lead[] = "Answer with one JSON object and nothing else: no prose, no code "
                               "fence. It must be valid against this JSON Schema: ";
    char *text;
    if (pons_value_line(schema, &text) < 0) {
        return NULL;
    }
    pons_autobuf b = PONS_BUF_INIT;
    pons_buf_str(&b, lead);
    pons_buf_str(&b, text);
    free(text);
    return b.failed
               ? NULL
               : pons_object("role", json_string("system"), "content", json_string(b.data), NULL);
}

// The messages, and where the server is not given the schema, a message that has it.
static pons_value *messages_of(const pons_value *request, const pons__dialect *d)
{
    const pons_value *messages = pons_get(request, "messages"),
                     *schema = pons_get(request, "schema");
    if (!schema || d->format == FORMAT_SCHEMA) {
        return pons_value_ref(messages);
    }
    // The messages belong to the host's thread too: shared by pons's own references.
    pons_value *list = json_array();
    int rc = json_array_append_new(list, schema_message(schema));
    for (size_t i = 0; rc == 0 && i < json_array_size(messages); i++) {
        rc = json_array_append_new(list, pons_value_ref(json_array_get(messages, i)));
    }
    if (rc != 0) {
        json_decref(list);
        return NULL;
    }
    return list;
}

static pons_value *response_format(const pons_value *request, const pons__dialect *d)
{
    const pons_value *schema = pons_get(request, "schema");
    if (!schema || d->format == FORMAT_PLAIN) {
        return NULL;
    }
    if (d->format == FORMAT_OBJECT) {
        return pons_object("type", json_string("json_object"), NULL);
    }
    // Not strict: strict allows no free-form object, and a skill's args are one.
    pons_value *named =
        pons_object("name", json_string(pons_get_str(request, "schema_name", "answer")), "schema",
                    pons_value_ref(schema), "strict", json_false(), NULL);
    return pons_object("type", json_string("json_schema"), "json_schema", named, NULL);
}

char *pons__openai_body(const pons_value *request, const char *model, const pons__dialect *d)
{
    const pons_value *temperature = pons_get(request, "temperature");
    const pons_value *max_tokens = pons_get(request, "max_tokens");
    pons_value *usage =
        d->no_stream_options ? NULL : pons_object("include_usage", json_true(), NULL);
    pons_value *messages = messages_of(request, d);
    pons_value *body = pons_object(
        "model", json_string(pons_get_str(request, "model", model)), "messages", messages, "stream",
        json_true(), "stream_options", usage, "temperature",
        d->no_temperature ? NULL : pons_value_ref(temperature),
        d->max_completion_tokens ? "max_completion_tokens" : "max_tokens",
        pons_value_ref(max_tokens), "response_format", response_format(request, d), NULL);
    char *text = NULL;
    if (!messages || !body || pons_value_line(body, &text) < 0) {
        text = NULL;
    }
    json_decref(body);
    return text;
}

bool pons__openai_adapt(pons__dialect *d, const pons_value *request, const char *body)
{
    // A server that names what it does not take loses only that.
    const char *text = body ? body : "";
    if (!d->no_temperature && pons_get(request, "temperature") && strstr(text, "temperature")) {
        return d->no_temperature = true;
    }
    if (!d->max_completion_tokens && pons_get(request, "max_tokens") &&
        strstr(text, "max_completion_tokens")) {
        return d->max_completion_tokens = true;
    }
    if (!d->no_stream_options && strstr(text, "stream_options")) {
        return d->no_stream_options = true;
    }
    if (pons_get(request, "schema") && d->format < FORMAT_PLAIN) {
        d->format++;
        return true;
    }
    return false;
}

// ---- the reply ----

void pons__reply_init(pons__reply *r, void (*on_token)(void *, const char *), void *user,
                      const char *secret, pons_error *err)
{
    *r = (pons__reply){.content = PONS_BUF_INIT,
                       .refusal = PONS_BUF_INIT,
                       .on_token = on_token,
                       .user = user,
                       .secret = secret,
                       .err = err};
}

void pons__reply_fini(pons__reply *r)
{
    pons_buf_fini(&r->content);
    pons_buf_fini(&r->refusal);
    pons_value_unref(r->usage);
    r->usage = NULL;
}

static int bad(pons__reply *r, const char *fmt, ...)
{
    char text[PONS_ERROR_MESSAGE_MAX];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return pons_error_set(r->err, PONS_EPROTOCOL, WHERE, "%s", text);
}

static bool is_utf8(const char *s, size_t n)
{
    pons_value *v = json_stringn(s, n);
    json_decref(v);
    return v != NULL;
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

static int error_event(pons__reply *r, const pons_value *v)
{
    char text[ERROR_TEXT_MAX];
    const char *words = error_words(v);
    quote_words(words ? words : "no reason given", r->secret, text, sizeof text);
    pons_error_set(r->err, PONS_EIO, WHERE, "the server reported an error: %s", text);
    return PONS_EIO;
}

// One choice: its text is in "delta" of a stream, in "message" of a whole reply.
static int take_choice(pons__reply *r, const pons_value *choice, const char *key)
{
    const pons_value *message = pons_get(choice, key);
    const char *content = pons_get_str(message, "content", NULL);
    const char *refusal = pons_get_str(message, "refusal", NULL);
    const char *finish = pons_get_str(choice, "finish_reason", NULL);
    if (content && *content) {
        if (pons_buf_str(&r->content, content) != PONS_OK) {
            return pons_error_set(r->err, PONS_ENOMEM, WHERE, "no memory for the answer");
        }
        r->any_token = true;
        r->on_token(r->user, content);
    }
    if (refusal) {
        pons_buf_str(&r->refusal, refusal);
    }
    if (finish) {
        snprintf(r->finish_reason, sizeof r->finish_reason, "%s", finish);
    }
    return PONS_OK;
}

static int take_object(pons__reply *r, const pons_value *v, const char *key)
{
    const pons_value *error = pons_get(v, "error");
    if (error && !json_is_null(error)) {
        return error_event(r, v);
    }
    const pons_value *usage = pons_get(v, "usage");
    if (json_is_object(usage)) {
        pons_value_unref(r->usage);
        r->usage = pons_value_ref(usage);
    }
    const pons_value *choices = pons_get(v, "choices");
    for (size_t i = 0; i < json_array_size(choices); i++) {
        const pons_value *choice = json_array_get(choices, i);
        if (pons_get_int(choice, "index", 0) == 0) { // one answer was asked for
            return take_choice(r, choice, key);
        }
    }
    return PONS_OK;
}

static int take_text(pons__reply *r, const char *text, size_t len, const char *key)
{
    if (!is_utf8(text, len)) {
        return bad(r, "the answer is not valid UTF-8");
    }
    pons_value *v = NULL;
    pons_error why = PONS_ERROR_INIT;
    if (pons_value_parse(text, len, &v, &why) != PONS_OK) {
        return bad(r, "the server sent what is not JSON: %.200s", why.message);
    }
    int rc = json_is_object(v) ? take_object(r, v, key)
                               : bad(r, "the server sent JSON that is not an object");
    pons_value_unref(v);
    return rc;
}

int pons__reply_event(void *reply, const char *event, const char *data, size_t len)
{
    pons__reply *r = reply;
    if (r->done || strcmp(event, "ping") == 0) {
        return PONS_OK;
    }
    if (len == strlen("[DONE]") && memcmp(data, "[DONE]", len) == 0) {
        r->done = true;
        return PONS_OK;
    }
    return take_text(r, data, len, "delta");
}

int pons__reply_json(pons__reply *r, const char *text, size_t len)
{
    size_t skip = strspn(text, " \t\r\n");
    if (skip < len && text[skip] == '<') {
        return bad(r, "the server answered a web page, not a chat completion; the URL should be "
                      "the base of its API, often ending with /v1");
    }
    int rc = take_text(r, text, len, "message");
    r->done = rc == PONS_OK;
    return rc;
}

int pons__reply_finish(pons__reply *r, pons_value **ret)
{
    char text[ERROR_TEXT_MAX];
    if (r->refusal.len) {
        quote_words(r->refusal.data, r->secret, text, sizeof text);
        return bad(r, "the model refused: %s", text);
    }
    if (!r->finish_reason[0]) {
        return bad(r, "the answer ended before it was complete: no finish_reason");
    }
    if (strcmp(r->finish_reason, "length") == 0) {
        return bad(r, "the answer was cut at its longest after %zu bytes (finish_reason length)",
                   r->content.len);
    }
    if (strcmp(r->finish_reason, "content_filter") == 0) {
        return bad(r, "the server's filter withheld the answer (finish_reason content_filter)");
    }
    if (r->content.len == 0) {
        return bad(r, "the answer has no content (finish_reason %s)", r->finish_reason);
    }
    pons_value *v =
        pons_object("content", json_stringn(r->content.data, r->content.len), "finish_reason",
                    json_string(r->finish_reason), "usage", pons_value_ref(r->usage), NULL);
    if (!v) {
        return pons_error_set(r->err, PONS_ENOMEM, WHERE, "no memory for the answer");
    }
    *ret = v;
    return PONS_OK;
}

// ---- errors ----

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

void pons__redact(char *text, const char *secret)
{
    static const char stars[] = "***";
    size_t n = secret ? strlen(secret) : 0;
    if (n < sizeof stars) {
        return; // nothing that short is a key, and there would be no room
    }
    for (char *at = text; (at = strstr(at, secret));) {
        memcpy(at, stars, sizeof stars - 1);
        memmove(at + sizeof stars - 1, at + n, strlen(at + n) + 1);
    }
}

double pons__retry_after(const char *value, int64_t wall_ms, double max_s)
{
    char *end;
    double s = strtod(value, &end);
    if (end == value) {
        time_t when = curl_getdate(value, NULL);
        s = when < 0 ? 0 : (double)when - (double)wall_ms / 1000.0;
    }
    return !(s > 0) ? 0 : s < max_s ? s : max_s;
}
