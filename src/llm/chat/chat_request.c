// chat_request.c - what is said to a chat completions server, and what to say instead when it
// does not take that.
//
// The contract's request (ext/llm.h) and the wire differ in small things: arguments of a tool call
// are an object here and its text there; a tool's name may have dots here ("files.read", as MCP
// servers have them) and may not there; an assistant that only calls tools said null here, and ""
// there, because some templates fail on null. Keys of a message that the wire does not have
// are left out: servers refuse what they do not know. What the model that is asked has itself sent beside
// its words (`extra`) stands in its place again, until its server refuses that.
#include "llm/chat/chat.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define WHERE     "llm"
#define FIELD_MIN 8 // bytes: a shorter word stands in refusals of other things

// ---- names of tools -----------------------------------------------------------------------------

static bool is_wire_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-';
}

static bool is_wire_name(const char *name)
{
    size_t n = 0;
    while (is_wire_char(name[n])) {
        n++;
    }
    return n > 0 && name[n] == '\0' && n < PONS__WIRE_NAME;
}

static bool is_taken(const pons_value *names, const char *wire)
{
    pons_each_member(name, v, names) {
        if (strcmp(json_string_value(v), wire) == 0) {
            return true;
        }
    }
    return false;
}

// "files.read" → "files_read"; where that is another tool's name, "files_read_2".
static void make_wire_name(const pons_value *names, const char *name, char wire[PONS__WIRE_NAME])
{
    char plain[PONS__WIRE_NAME - 8];
    size_t n = 0;
    for (; name[n] && n + 1 < sizeof plain; n++) {
        plain[n] = is_wire_char(name[n]) ? name[n] : '_';
    }
    plain[n] = '\0';
    snprintf(wire, PONS__WIRE_NAME, "%s", plain);
    for (unsigned i = 2; is_taken(names, wire); i++) {
        snprintf(wire, PONS__WIRE_NAME, "%s_%u", plain, i);
    }
}

pons_value *pons__tool_names(const pons_value *tools)
{
    pons_value *names = json_object();
    int rc = names ? 0 : -1;
    for (size_t i = 0; rc == 0 && i < json_array_size(tools); i++) {
        const char *name = pons_get_str(json_array_get(tools, i), "name", "");
        if (is_wire_name(name)) {
            rc = json_object_set_new(names, name, json_string(name));
        }
    }
    for (size_t i = 0; rc == 0 && i < json_array_size(tools); i++) {
        const char *name = pons_get_str(json_array_get(tools, i), "name", "");
        if (!pons_get(names, name)) {
            char wire[PONS__WIRE_NAME];
            make_wire_name(names, name, wire);
            rc = json_object_set_new(names, name, json_string(wire));
        }
    }
    if (rc != 0) {
        json_decref(names);
        return NULL;
    }
    return names;
}

// The name on the wire; of a tool that is no longer offered, what it would be.
static void wire_name(const pons_value *names, const char *name, char wire[PONS__WIRE_NAME])
{
    const char *known = pons_get_str(names, name, NULL);
    if (known) {
        snprintf(wire, PONS__WIRE_NAME, "%s", known);
    } else {
        make_wire_name(NULL, name, wire);
    }
}

// ---- what may be asked --------------------------------------------------------------------------

static int check_tools(const pons_value *tools, pons_error *err)
{
    if (tools && !json_is_array(tools)) {
        return pons_error_set(err, PONS_EINVAL, WHERE, "the request's tools are not a list");
    }
    pons_each(t, tools) {
        const char *name = pons_get_str(t, "name", "");
        if (!*name || !json_is_object(pons_get(t, "parameters"))) {
            return pons_error_set(err, PONS_EINVAL, WHERE,
                                  "tools/%zu is not {name, description, parameters}", t_at);
        }
        for (size_t k = 0; k < t_at; k++) {
            if (strcmp(pons_get_str(json_array_get(tools, k), "name", ""), name) == 0) {
                return pons_error_set(err, PONS_EINVAL, WHERE, "tools/%zu: a second '%s'", t_at,
                                      name);
            }
        }
    }
    return PONS_OK;
}

int pons__openai_check(const pons_value *request, pons_error *err)
{
    const pons_value *messages = pons_get(request, "messages");
    if (!json_is_array(messages)) {
        return pons_error_set(err, PONS_EINVAL, WHERE, "the request has no messages");
    }
    for (size_t i = 0; i < json_array_size(messages); i++) {
        if (!pons_get_str(json_array_get(messages, i), "role", NULL)) {
            return pons_error_set(err, PONS_EINVAL, WHERE, "messages/%zu has no role", i);
        }
    }
    return check_tools(pons_get(request, "tools"), err);
}

// ---- the body -----------------------------------------------------------------------------------

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

// What one request has to know of its messages.
typedef struct asked {
    const pons_value *names; // of tools
    const char *from;        // whose extra is sent; NULL: nobody's
    pons_value *ids;         // {id here: id there}, where they differ
    const pons__dialect *d;
} asked;

// {id, name, arguments} as the wire has it; extra: what came beside it, or NULL.
static pons_value *wire_call(const pons_value *call, const pons_value *extra, const asked *q)
{
    char name[PONS__WIRE_NAME];
    wire_name(q->names, pons_get_str(call, "name", ""), name);
    const pons_value *arguments = pons_get(call, "arguments");
    const char *id = pons_get_str(call, "id", "");
    char *text = NULL;
    if (arguments && pons_value_line(arguments, &text) < 0) {
        return NULL;
    }
    pons_value *function =
        pons_object("name", json_string(name), "arguments", json_string(text ? text : "{}"), NULL);
    free(text);
    pons_value *all = pons_object("id", json_string(id), "type", json_string("function"),
                                  "function", function, NULL);
    if (all && extra && json_object_update_recursive(all, (pons_value *)extra) != 0) {
        json_decref(all);
        return NULL;
    }
    if (pons_get(extra, "id")) {
        json_object_set(q->ids, id, json_object_get(extra, "id"));
    }
    if (all && q->d->wants_signature && !pons_get(all, "extra_content")) { // Google's word for none
        json_object_set_new(all, "extra_content",
                            json_pack("{s{ss}}", "google", "thought_signature",
                                      "skip_thought_signature_validator"));
    }
    return all;
}

static pons_value *wire_calls(const pons_value *calls, const pons_value *extra, const asked *q)
{
    pons_value *list = json_array();
    for (size_t i = 0; list && i < json_array_size(calls); i++) {
        const pons_value *call = json_array_get(calls, i);
        const pons_value *beside = pons_get(extra, pons_get_str(call, "id", ""));
        if (json_array_append_new(list, wire_call(call, beside, q)) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

// A text with images behind it. Takes both; images NULL: the text alone.
static pons_value *wire_content(pons_value *text, const pons_value *images)
{
    if (json_array_size(images) == 0) {
        return text;
    }
    pons_value *parts = json_array();
    json_array_append_new(parts, pons_object("type", json_string("text"), "text", text, NULL));
    pons_each(url, images) {
        json_array_append_new(parts,
                              pons_object("type", json_string("image_url"), "image_url",
                                          pons_object("url", pons_value_ref(url), NULL), NULL));
    }
    return parts;
}

static bool is_tool(const pons_value *m)
{
    return strcmp(pons_get_str(m, "role", ""), "tool") == 0;
}

static const pons_value *images_of(const pons_value *m, const pons__dialect *d)
{
    return d->no_images || d->not_these_images ? NULL : pons_get(m, "images");
}

static pons_value *wire_message(const pons_value *m, const asked *q)
{
    const pons_value *content = pons_get(m, "content"), *calls = pons_get(m, "tool_calls"),
                     *extra = pons_get(m, "extra");
    extra = q->from && strcmp(pons_get_str(extra, "from", ""), q->from) == 0 ? extra : NULL;
    pons_value *list =
        json_array_size(calls) ? wire_calls(calls, pons_get(extra, "calls"), q) : NULL;
    if (json_array_size(calls) && !list) {
        return NULL;
    }
    const pons_value *id = pons_get(m, "tool_call_id"), *name = pons_get(m, "name");
    const pons_value *there = pons_get(q->ids, json_string_value(id) ? json_string_value(id) : "");
    pons_value *text =
        !content || json_is_null(content) ? json_string("") : pons_value_ref(content);
    if (pons_get(m, "images") && !images_of(m, q->d)) {
        pons_value *without = json_sprintf("%s\n(The server took no pictures: they were left out.)",
                                           pons_get_str(m, "content", ""));
        pons_value_unref(text);
        text = without;
    }
    const pons_value *images = is_tool(m) ? NULL : images_of(m, q->d);
    pons_value *all =
        pons_object("role", pons_value_ref(pons_get(m, "role")), "content",
                    wire_content(text, images), "tool_calls", list, "tool_call_id",
                    pons_value_ref(there ? there : id), "name", pons_value_ref(name), NULL);
    const pons_value *beside = pons_get(extra, "message");
    if (all && beside && json_object_update(all, (pons_value *)beside) != 0) {
        json_decref(all);
        return NULL;
    }
    if (all && list && q->d->wants_thought && !pons_get(all, "reasoning_content")) {
        json_object_set_new(all, "reasoning_content", json_string(""));
    }
    return all;
}

// The messages, and where the server is not given the schema, a message that has it.
static pons_value *messages_of(const pons_value *request, const pons__dialect *d,
                               const pons_value *names, const char *from)
{
    pons_autovalue ids = json_object();
    const asked q = {.names = names, .from = d->no_extra ? NULL : from, .ids = ids, .d = d};
    const pons_value *messages = pons_get(request, "messages"),
                     *schema = pons_get(request, "schema");
    pons_value *list = json_array();
    int rc = list && ids ? 0 : -1;
    if (rc == 0 && schema && d->format != FORMAT_SCHEMA) {
        rc = json_array_append_new(list, schema_message(schema));
    }
    pons_autovalue late = json_array(); // of tools' messages, which are texts on the wire
    const size_t n = json_array_size(messages);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        const pons_value *m = json_array_get(messages, i);
        rc = json_array_append_new(list, wire_message(m, &q));
        json_array_extend(late, is_tool(m) ? (pons_value *)(uintptr_t)images_of(m, d) : NULL);
        if (json_array_size(late) > 0 &&
            (i + 1 == n || !is_tool(json_array_get(messages, i + 1)))) {
            json_array_append_new(
                list,
                pons_object(
                    "role", json_string("user"), "content",
                    wire_content(json_string("(The pictures that the calls above gave.)"), late),
                    NULL));
            json_array_clear(late);
        }
    }
    if (rc != 0) {
        json_decref(list);
        return NULL;
    }
    return list;
}

static pons_value *tools_of(const pons_value *request, const pons_value *names)
{
    const pons_value *tools = pons_get(request, "tools");
    if (json_array_size(tools) == 0) {
        return NULL; // an empty list is refused by some
    }
    pons_value *list = json_array();
    for (size_t i = 0; list && i < json_array_size(tools); i++) {
        const pons_value *t = json_array_get(tools, i);
        char name[PONS__WIRE_NAME];
        wire_name(names, pons_get_str(t, "name", ""), name);
        pons_value *function = pons_object("name", json_string(name), "description",
                                           pons_value_ref(pons_get(t, "description")), "parameters",
                                           pons_value_ref(pons_get(t, "parameters")), NULL);
        pons_value *tool = pons_object("type", json_string("function"), "function", function, NULL);
        if (json_array_append_new(list, tool) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static pons_value *tool_choice_of(const pons_value *request, const pons_value *names)
{
    const pons_value *choice = pons_get(request, "tool_choice");
    if (json_array_size(pons_get(request, "tools")) == 0 || !choice) {
        return NULL;
    }
    const char *name = pons_get_str(choice, "name", NULL);
    if (!name) {
        return pons_value_ref(choice);
    }
    char wire[PONS__WIRE_NAME];
    wire_name(names, name, wire);
    return pons_object("type", json_string("function"), "function",
                       pons_object("name", json_string(wire), NULL), NULL);
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

char *pons__openai_body(const pons_value *request, const char *model, const char *from,
                        const pons__dialect *d)
{
    const pons_value *temperature = pons_get(request, "temperature");
    const pons_value *max_tokens = pons_get(request, "max_tokens");
    pons_autovalue names = pons__tool_names(pons_get(request, "tools"));
    const bool has_tools = json_array_size(pons_get(request, "tools")) > 0;
    const bool stream = !(has_tools && d->no_stream_with_tools);
    pons_value *usage =
        d->no_stream_options || !stream ? NULL : pons_object("include_usage", json_true(), NULL);
    pons_value *messages = names ? messages_of(request, d, names, from) : NULL;
    pons_value *tools = names ? tools_of(request, names) : NULL;
    bool whole = messages && (tools || !has_tools);
    pons_value *body = pons_object(
        "model", json_string(pons_get_str(request, "model", model)), "messages", messages, "tools",
        tools, "tool_choice", d->no_tool_choice ? NULL : tool_choice_of(request, names), "stream",
        json_boolean(stream), "stream_options", usage, "temperature",
        d->no_temperature ? NULL : pons_value_ref(temperature),
        d->max_completion_tokens ? "max_completion_tokens" : "max_tokens",
        pons_value_ref(max_tokens), "response_format", response_format(request, d), NULL);
    char *text = NULL;
    if (!whole || !body || pons_value_line(body, &text) < 0) {
        text = NULL;
    }
    json_decref(body);
    return text;
}

// ---- what a server does not take ----------------------------------------------------------------

static bool mentions(const char *text, const char *const words[])
{
    for (; *words; words++) {
        if (strcasestr(text, *words)) {
            return true;
        }
    }
    return false;
}

// A refusal that names the form of the answer; one that names something else; one that names
// nothing. The last may be about the form, unless an answer of this form has come before.
static pons__adapted adapt_format(pons__dialect *d, const char *text)
{
    static const char *const form[] = {"response_format", "json_schema", "json_object", "schema",
                                       "grammar",         "structured",  "guided",      NULL};
    static const char *const other[] = {"context",   "too long",       "too many", "exceed",
                                        "not found", "does not exist", "api key",  "api_key",
                                        "quota",     "tool",           "role",     "image",
                                        NULL};
    const bool named = mentions(text, form);
    if (d->format == FORMAT_PLAIN || (!named && (d->format_settled || mentions(text, other)))) {
        return ADAPTED_NOT;
    }
    d->format++;
    return named ? ADAPTED_NAMED : ADAPTED_GUESS;
}

static bool names_field(const char *text, const char *field)
{
    return strlen(field) >= FIELD_MIN && strstr(text, field);
}

// Whether a refusal says that something is not there.
static bool says_missing(const char *text)
{
    static const char *const missing[] = {"missing", "required", "must be", "without", NULL};
    return mentions(text, missing);
}

// Whether a refusal names a field that was sent back, and does not say that one is missing.
static bool refuses_extra(const pons_value *request, const char *text)
{
    const pons_value *messages = pons_get(request, "messages");
    bool named = false;
    for (size_t i = 0; i < json_array_size(messages); i++) {
        const pons_value *extra = pons_get(json_array_get(messages, i), "extra");
        pons_each_member(key, v, json_object_get(extra, "message")) {
            named = named || names_field(text, key);
        }
        pons_each_member(key, call, json_object_get(extra, "calls")) {
            pons_each_member(field, v, call) {
                named = named || names_field(text, field);
            }
        }
    }
    return named && !says_missing(text);
}

bool pons__openai_refuses_images(const pons_value *request, const char *body)
{
    // How servers say it: by name, or that a content must be a text.
    static const char *const words[] = {"image",           "vision",           "multimodal",
                                        "mmproj",          "modalit",          "valid string",
                                        "must be string",  "must be a string", "expected a string",
                                        "expected `text`", "str type",         NULL};
    bool any = false;
    pons_each(m, pons_get(request, "messages")) {
        any = any || pons_get(m, "images");
    }
    return any && mentions(body ? body : "", words);
}

// Whether such a refusal holds for these images, and not for all.
static bool refuses_these(const char *text)
{
    static const char *const words[] = {"too large", "too many", "too big",   "exceed",
                                        "at most 1", "decode",   "corrupted", NULL};
    return mentions(text, words);
}

pons__adapted pons__openai_adapt(pons__dialect *d, const pons_value *request, const char *body)
{
    // A server that names what it does not take loses only that.
    const char *text = body ? body : "";
    const bool tools = json_array_size(pons_get(request, "tools")) > 0;
    const struct {
        bool *lost;
        bool was_sent;
        const char *word;
    } named[] = {
        {&d->no_temperature, pons_get(request, "temperature") != NULL, "temperature"},
        {&d->max_completion_tokens, pons_get(request, "max_tokens") != NULL,
         "max_completion_tokens"},
        {&d->no_stream_options, true, "stream_options"},
        {&d->no_tool_choice, tools && pons_get(request, "tool_choice"), "tool_choice"},
        {&d->no_stream_with_tools, tools, "tools with stream"},
        {&d->no_extra, refuses_extra(request, text), ""},
        {refuses_these(text) ? &d->not_these_images : &d->no_images,
         pons__openai_refuses_images(request, text), ""},
        {&d->wants_thought, says_missing(text), "reasoning_content"},
        {&d->wants_signature, says_missing(text), "thought_signature"},
    };
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        if (named[i].was_sent && !*named[i].lost && strstr(text, named[i].word)) {
            *named[i].lost = true;
            return ADAPTED_NAMED;
        }
    }
    return pons_get(request, "schema") ? adapt_format(d, text) : ADAPTED_NOT;
}
