// tool_call_fragments.c - the tool calls of a reply, put together from fragments.
//
// A stream's tool calls come as {index, id?, function{name?, arguments?}}, the text of the
// arguments in pieces, and servers differ in what they leave out or say again. A fragment belongs
// to
//
//     the call of its id; else the newest of its index, unless it brings a name and either another id, or
//     none where the arguments are whole already: that begins a call;
//     without an index, or with one that is new: a name or an id begins a call, everything else goes on
//     with the newest one
//
// so that these are all understood: interleaved indexes (OpenAI); whole calls that all have index
// 0, or none (Ollama, gateways to other vendors' models); a new id in each fragment of one call
// (vLLM once); the id and the name in every fragment, or the id alone; indexes that go on within one call;
// arguments as an object, not as its text.
//
// At the end every call must be whole: a name that was offered, arguments that are one JSON object.
// An id that is missing is made; one that is there twice is an error, since the same call may have
// been sent twice. One bad call makes the whole reply an error: the others may depend on it.
#include "llm/chat/chat.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_MAX   64  // bytes of a server's name or id in a message
#define WRITTEN_MAX 400 // bytes of arguments that could not be read

// ---- fragments ----------------------------------------------------------------------------------

static pons__tool_call *newest_of(pons__reply *r, int64_t index)
{
    for (size_t i = r->n_calls; i-- > 0;) {
        if (r->calls[i].index == index) {
            return &r->calls[i];
        }
    }
    return NULL;
}

static bool has_id(const pons__tool_call *c, const char *id)
{
    return c->id.len && strcmp(c->id.data, id) == 0;
}

// Whether nothing can be added to a call's arguments.
static bool is_whole(const pons__tool_call *c)
{
    pons_autovalue v = NULL;
    return c->arguments.len &&
           pons_value_parse(c->arguments.data, c->arguments.len, &v, NULL) == PONS_OK;
}

static pons__tool_call *begin_call(pons__reply *r, int64_t index)
{
    if (r->n_calls == r->cap_calls) {
        size_t cap = r->cap_calls ? 2 * r->cap_calls : 2;
        pons__tool_call *grown = realloc(r->calls, cap * sizeof *grown);
        if (!grown) {
            return NULL;
        }
        r->calls = grown;
        r->cap_calls = cap;
    }
    r->calls[r->n_calls] = (pons__tool_call){.index = index};
    return &r->calls[r->n_calls++];
}

// The call that a fragment goes on with; NULL: it begins one.
static pons__tool_call *going_on(pons__reply *r, int64_t index, const char *id, const char *name,
                                 const pons_value *arguments)
{
    pons__tool_call *last = r->n_calls ? &r->calls[r->n_calls - 1] : NULL;
    pons__tool_call *c = index >= 0 ? newest_of(r, index) : NULL;
    for (size_t i = r->n_calls; *id && i-- > 0;) {
        if (has_id(&r->calls[i], id) && (index < 0 || r->calls[i].index == index)) {
            return &r->calls[i];
        }
    }
    if (!c) {
        return !*name && (!*id || index < 0) ? last : NULL;
    }
    if (!*name || !c->name.len) {
        return c;
    }
    const bool more = json_is_object(arguments) || json_string_length(arguments) > 0;
    return (*id ? c->id.len > 0 : more && is_whole(c)) ? NULL : c;
}

// The call that a fragment belongs to. NULL: r->err says why.
static pons__tool_call *call_of(pons__reply *r, const pons_value *v, bool whole, const char *id,
                                const char *name)
{
    const pons_value *given = pons_get(v, "index");
    const bool has_index = !whole && given && !json_is_null(given);
    int64_t index = json_is_integer(given) ? json_integer_value(given) : -1;
    if (has_index && (index < 0 || index >= PONS__CALLS_MAX)) {
        pons__bad(r, "a tool call's index is not a number from 0 to %d", PONS__CALLS_MAX - 1);
        return NULL;
    }
    const pons_value *arguments = pons_get(pons_get(v, "function"), "arguments");
    pons__tool_call *c = whole ? NULL : going_on(r, has_index ? index : -1, id, name, arguments);
    if (!c && !has_index) {
        index = r->n_calls ? r->calls[r->n_calls - 1].index + 1 : 0;
    }
    if (!c && !whole && !has_index && !*name) {
        pons__bad(r, "a piece of a tool call belongs to no call");
    } else if (!c && r->n_calls >= PONS__CALLS_MAX) {
        pons__bad(r, "the answer has more than %d tool calls", PONS__CALLS_MAX);
    } else if (!c && !(c = begin_call(r, index))) {
        pons__no_memory(r);
    }
    return c;
}

// A name comes whole, again and again, or in pieces.
static int add_name(pons__reply *r, pons__tool_call *c, const char *name)
{
    if (!*name || (c->name.len && (c->arguments.len || strcmp(c->name.data, name) == 0))) {
        return PONS_OK;
    }
    if (c->name.len + strlen(name) >= PONS__TOOL_NAME_MAX) {
        return pons__bad(r, "a tool call's name is longer than %d bytes", PONS__TOOL_NAME_MAX - 1);
    }
    return pons_buf_str(&c->name, name) == PONS_OK ? PONS_OK : pons__no_memory(r);
}

static int add_arguments(pons__reply *r, pons__tool_call *c, const pons_value *arguments)
{
    if (!arguments || json_is_null(arguments)) {
        return PONS_OK;
    }
    if (json_is_string(arguments) && !c->is_object) {
        return pons_buf_str(&c->arguments, json_string_value(arguments)) == PONS_OK
                   ? PONS_OK
                   : pons__no_memory(r);
    }
    char *text;
    if (!json_is_object(arguments) || c->arguments.len || c->is_object) {
        return pons__bad(r, "a tool call's arguments are neither text nor one object");
    }
    if (pons_value_line(arguments, &text) < 0) {
        return pons__no_memory(r);
    }
    c->is_object = true;
    int rc = pons_buf_str(&c->arguments, text);
    free(text);
    return rc == PONS_OK ? rc : pons__no_memory(r);
}

static bool is_text_or_absent(const pons_value *v)
{
    return !v || json_is_null(v) || json_is_string(v);
}

static int take_call(pons__reply *r, const pons_value *v, bool whole)
{
    static const char *const known[] = {"index", "id", "type", "function", NULL};
    const pons_value *function = pons_get(v, "function");
    const char *id = pons_get_str(v, "id", ""), *name = pons_get_str(function, "name", "");
    const char *type = pons_get_str(v, "type", "");
    if (!json_is_object(v) || !(!function || json_is_null(function) || json_is_object(function)) ||
        !is_text_or_absent(pons_get(v, "id")) || !is_text_or_absent(pons_get(function, "name"))) {
        return pons__bad(r, "a tool call is not {index, id, function{name, arguments}}");
    }
    if (*type && strcmp(type, "function") != 0) {
        return pons__bad(r, "a tool call is of a kind that was not offered");
    }
    if (strlen(id) >= PONS__CALL_ID_MAX) {
        return pons__bad(r, "a tool call's id is longer than %d bytes", PONS__CALL_ID_MAX - 1);
    }
    pons__tool_call *c = call_of(r, v, whole, id, name);
    if (!c) {
        return r->err->status;
    }
    if (c->id.len == 0 && *id && pons_buf_str(&c->id, id) != PONS_OK) {
        return pons__no_memory(r);
    }
    int rc = add_name(r, c, name);
    rc = rc == PONS_OK ? pons__extra_take(r, &c->extra, v, known) : rc;
    return rc == PONS_OK ? add_arguments(r, c, pons_get(function, "arguments")) : rc;
}

// ---- the end ------------------------------------------------------------------------------------

// The tool that the wire's name stands for; NULL when none does.
static const pons_value *tool_of(const pons__reply *r, const pons_value *names, const char *wire)
{
    const pons_value *tools = pons_get(r->request, "tools");
    pons_each(tool, tools) {
        const char *name = pons_get_str(tool, "name", "");
        if (strcmp(pons_get_str(names, name, ""), wire) == 0) {
            return tool;
        }
    }
    for (size_t i = 0; i < json_array_size(tools); i++) { // as it stood in the conversation
        const pons_value *tool = json_array_get(tools, i);
        if (strcmp(pons_get_str(tool, "name", ""), wire) == 0) {
            return tool;
        }
    }
    return NULL;
}

// A server's word in a message: short, printable, never the key.
static void shown(const pons__reply *r, const char *text, char buf[SHOWN_MAX])
{
    char *copy = strdup(text);
    buf[0] = '\0';
    if (copy) {
        pons__redact(copy, r->secret);
        size_t at = 0;
        for (size_t i = 0, k; copy[i] && at + 5 < SHOWN_MAX; i += k) {
            k = pons_utf8_sequence(copy + i, strlen(copy + i));
            k = k ? k : 1;
            memcpy(buf + at, (unsigned char)copy[i] < ' ' ? " " : copy + i, k);
            at += k;
        }
        buf[at] = '\0';
    }
    free(copy);
}

static int parse_arguments(pons__reply *r, pons__tool_call *c, const pons_value *tool,
                           pons_value **ret)
{
    char name[SHOWN_MAX];
    shown(r, c->name.data, name);
    // Nothing, for a tool that needs nothing.
    const pons_value *required = pons_get(pons_get(tool, "parameters"), "required");
    const char *text = c->arguments.data ? c->arguments.data : "";
    const size_t blank = strspn(text, " \t\r\n");
    if (text[blank] == '\0' && json_array_size(required) == 0) {
        text = "{}";
    }
    pons__redact(c->arguments.data, r->secret);
    pons_error why = PONS_ERROR_INIT;
    pons_value *v = NULL;
    if (pons_surrogates_parse(text, strlen(text), &v, &why) != PONS_OK) {
        return pons__faulty(r, "the arguments of the call of %s are not JSON: %.200s", name,
                            why.message);
    }
    if (!json_is_object(v)) {
        pons_value_unref(v);
        return pons__faulty(r, "the arguments of the call of %s are not an object", name);
    }
    *ret = v;
    return PONS_OK;
}

static bool has_call(const pons_value *list, const char *id)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (strcmp(pons_get_str(json_array_get(list, i), "id", ""), id) == 0) {
            return true;
        }
    }
    return false;
}

static int make_id(pons__reply *r, pons__tool_call *c, uint64_t seed, const pons_value *list)
{
    do {
        pons_buf_clear(&c->id);
        // A step of splitmix64: neighbours in seed give ids that have nothing in common.
        uint64_t x = seed += 0x9E3779B97F4A7C15u;
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
        x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
        if (pons_buf_printf(&c->id, "call_%016" PRIx64, x ^ (x >> 31)) != PONS_OK) {
            return pons__no_memory(r);
        }
    } while (has_call(list, c->id.data));
    return PONS_OK;
}

// The call itself: its tool and its arguments; or why it can't be made.
static int whole_call(pons__reply *r, pons__tool_call *c, const pons_value *names,
                      const pons_value **ret_tool, pons_value **ret_arguments)
{
    char text[SHOWN_MAX];
    if (c->name.len == 0) {
        return pons__faulty(r, "a tool call has no name");
    }
    *ret_tool = tool_of(r, names, c->name.data);
    if (!*ret_tool) {
        shown(r, c->name.data, text);
        return pons__faulty(r, "the model called a tool that was not offered: %s", text);
    }
    return parse_arguments(r, c, *ret_tool, ret_arguments);
}

// What was written as arguments, as far as it helps to see what is wrong.
static pons_value *written(const pons__tool_call *c)
{
    const char *text = c->arguments.data ? c->arguments.data : "";
    size_t n = 0;
    for (size_t k; n < c->arguments.len && n < WRITTEN_MAX; n += k) {
        k = pons_utf8_sequence(text + n, c->arguments.len - n);
        k = k ? k : 1;
    }
    return n == c->arguments.len ? json_stringn(text, n) : json_sprintf("%.*s …", (int)n, text);
}

static int finish_call(pons__reply *r, pons__tool_call *c, const pons_value *names, uint64_t seed,
                       const char *fault, pons_value *list)
{
    char text[SHOWN_MAX], why[PONS_ERROR_MESSAGE_MAX];
    const bool tells = pons_get_bool(r->request, "faults", false);
    const pons_value *tool = NULL;
    pons_value *arguments = NULL;
    int rc = whole_call(r, c, names, &tool, &arguments);
    const bool twice = c->id.len && has_call(list, c->id.data);
    if (rc == PONS_OK && twice) {
        shown(r, c->id.data, text);
        rc = pons__faulty(r, "two tool calls have the id %s", text);
    }
    if (twice) {
        pons_buf_clear(&c->id);
    }
    snprintf(why, sizeof why, "%s", rc == PONS_OK ? fault ? fault : "" : r->err->message);
    if (rc != PONS_OK) {
        if (!tells || !r->faulty) {
            pons_value_unref(arguments);
            return rc;
        }
        *r->err = (pons_error)PONS_ERROR_INIT;
        rc = PONS_OK;
    }
    if (r->from && c->id.len >= PONS__OWN_ID_MAX) { // it stands for itself there alone
        pons_autovalue id = pons_object("id", json_string(c->id.data), NULL);
        rc = pons__extra_take(r, &c->extra, id, NULL);
        pons_buf_clear(&c->id);
    }
    if (c->id.len == 0) {
        rc = make_id(r, c, seed, list);
    }
    if (rc != PONS_OK) {
        pons_value_unref(arguments);
        return rc;
    }
    pons__redact(c->id.data, r->secret);
    pons__redact(c->name.data, r->secret);
    if (*why) {
        pons_value_unref(arguments);
        arguments = json_object();
    }
    const char *name = pons_get_str(tool, "name", c->name.len ? c->name.data : "unnamed");
    pons_value *call = pons_object("id", json_string(c->id.data), "name", json_string(name),
                                   "arguments", arguments, "fault", *why ? json_string(why) : NULL,
                                   "written", *why && c->arguments.len ? written(c) : NULL, NULL);
    return json_array_append_new(list, call) == 0 ? PONS_OK : pons__no_memory(r);
}

// ---- public functions ---------------------------------------------------------------------------

int pons__calls_take(pons__reply *r, const pons_value *calls, bool whole)
{
    if (!calls || json_is_null(calls)) {
        return PONS_OK;
    }
    if (!json_is_array(calls)) {
        return pons__bad(r, "the answer's tool_calls are not a list");
    }
    int rc = PONS_OK;
    for (size_t i = 0; rc == PONS_OK && i < json_array_size(calls); i++) {
        rc = take_call(r, json_array_get(calls, i), whole);
    }
    return rc;
}

// By index; calls of one index stay in the order of their coming.
static void sort_calls(pons__reply *r)
{
    for (size_t i = 1; i < r->n_calls; i++) {
        pons__tool_call c = r->calls[i];
        size_t at = i;
        for (; at > 0 && r->calls[at - 1].index > c.index; at--) {
            r->calls[at] = r->calls[at - 1];
        }
        r->calls[at] = c;
    }
}

int pons__calls_finish(pons__reply *r, uint64_t seed, const char *fault, pons_value **ret)
{
    pons_autovalue names = pons__tool_names(pons_get(r->request, "tools"));
    pons_value *list = json_array();
    int rc = names && list ? PONS_OK : pons__no_memory(r);
    const char *choice = json_string_value(pons_get(r->request, "tool_choice"));
    if (rc == PONS_OK && r->n_calls && choice && strcmp(choice, "none") == 0) {
        rc = pons__bad(r, "the model called a tool where none was to be called");
    }
    sort_calls(r);
    for (size_t i = 0; rc == PONS_OK && i < r->n_calls; i++) {
        rc = finish_call(r, &r->calls[i], names, seed + i, fault, list);
    }
    if (rc != PONS_OK) {
        json_decref(list);
        return rc;
    }
    *ret = list;
    return PONS_OK;
}

void pons__calls_fini(pons__reply *r)
{
    for (size_t i = 0; i < r->n_calls; i++) {
        pons_buf_fini(&r->calls[i].id);
        pons_buf_fini(&r->calls[i].name);
        pons_buf_fini(&r->calls[i].arguments);
        pons_value_unref(r->calls[i].extra);
    }
    free(r->calls);
    r->calls = NULL;
    r->n_calls = r->cap_calls = 0;
}
