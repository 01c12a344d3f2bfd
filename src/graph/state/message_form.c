// message_form.c - a message in LangChain's wire form, from any form in which one is written.
//
//   "hi"                ["user", "hi"]       {"role": …, "content": …}       {"lc": 1, …}
//        \                    |                        |                     /
//         +-------------------+--- type, members ------+--------------------+
//                                     |
//          known members to their places, all others to additional_kwargs
//
// What already has the whole form is handed back itself, so a message that goes around stays one.
// The contents (blocks, arguments) are shared, not looked into.
#include "graph/engine.h"
#include "pons/messages.h"

#include <stdlib.h>
#include <string.h>

enum { SHOWN_MAX = 40 }; // bytes of a role in an error

typedef struct role {
    const char *word, *type;
} role;
static const role roles[] = {{"human", "human"},  {"user", "human"},        {"ai", "ai"},
                             {"assistant", "ai"}, {"system", "system"},     {"developer", "system"},
                             {"tool", "tool"},    {"function", "function"}, {"remove", "remove"}};
static const role classes[] = {{"HumanMessage", "human"},
                               {"HumanMessageChunk", "human"},
                               {"AIMessage", "ai"},
                               {"AIMessageChunk", "ai"},
                               {"SystemMessage", "system"},
                               {"SystemMessageChunk", "system"},
                               {"ToolMessage", "tool"},
                               {"ToolMessageChunk", "tool"},
                               {"FunctionMessage", "function"},
                               {"FunctionMessageChunk", "function"},
                               {"RemoveMessage", "remove"}};

// ---- helpers ------------------------------------------------------------------------------------

static int bad(pons_error *err, const char *what)
{
    return pons_error_set(err, PONS_EINVAL, PONS__MODULE, "%s", what);
}

static int nomem(pons_error *err)
{
    return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a message");
}

// ---- members ------------------------------------------------------------------------------------

static bool falsy(const pons_value *v) // what Python takes for no content
{
    return !v || json_is_null(v) || json_is_false(v) ||
           (json_is_array(v) && json_array_size(v) == 0) ||
           (json_is_object(v) && json_object_size(v) == 0) ||
           (json_is_number(v) && json_number_value(v) == 0.0);
}

static int content_of(const char *type, const pons_value *v, pons_value **ret, pons_error *err)
{
    if (falsy(v) || strcmp(type, "remove") == 0) {
        *ret = json_string("");
        return *ret ? PONS_OK : nomem(err);
    }
    if (strcmp(type, "tool") == 0 && json_is_number(v)) { // a tool's result, in words
        char *text = NULL;
        const long n = pons_value_dump(v, &text);
        *ret = n < 0 ? NULL : json_stringn(text, (size_t)n);
        free(text);
        return *ret ? PONS_OK : nomem(err);
    }
    if (!json_is_string(v) && !json_is_array(v)) {
        return bad(err, "a message's content is a text or a list of blocks");
    }
    pons_each(block, v) {
        if (!json_is_string(block) && !json_is_object(block)) {
            return bad(err, "a block of a message's content is a text or an object");
        }
    }
    *ret = pons_value_ref(v);
    return PONS_OK;
}

// A text, or the number that somebody wrote instead; null when there is none.
static int text_of(const pons_value *form, const char *key, pons_value **ret, pons_error *err)
{
    const pons_value *v = pons_get(form, key);
    if (!v || json_is_null(v) || json_is_string(v)) {
        *ret = v ? pons_value_ref(v) : json_null();
        return PONS_OK;
    }
    if (!json_is_number(v)) {
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE, "a message's '%s' is a text", key);
    }
    char *text = NULL;
    const long n = pons_value_dump(v, &text);
    *ret = n < 0 ? NULL : json_stringn(text, (size_t)n);
    free(text);
    return *ret ? PONS_OK : nomem(err);
}

// OpenAI's arguments are a text.
static int args_of(const pons_value *given, pons_value **ret, pons_error *err)
{
    if (json_is_object(given)) {
        *ret = pons_value_ref(given);
        return PONS_OK;
    }
    pons_value *v = NULL;
    if (!json_is_string(given) ||
        pons_value_parse(json_string_value(given), json_string_length(given), &v, NULL) !=
            PONS_OK ||
        !json_is_object(v)) {
        pons_value_unref(v);
        return bad(err, "the arguments of a tool call are an object, or one as JSON text");
    }
    *ret = v;
    return PONS_OK;
}

static int call_of(const pons_value *c, pons_value **ret, pons_error *err)
{
    const pons_value *fn = pons_get(c, "function");
    const pons_value *name = pons_get(fn ? fn : c, "name"), *id = pons_get(c, "id");
    pons_value *args = NULL;
    if (!json_is_object(c) || !json_is_string(name) ||
        (id && !json_is_null(id) && !json_is_string(id))) {
        return bad(err, "a tool call is {name, args, id}, or {id, function: {name, arguments}}");
    }
    int st = args_of(pons_get(fn ? fn : c, fn ? "arguments" : "args"), &args, err);
    if (st != PONS_OK) {
        return st;
    }
    *ret = pons_object_whole("name", pons_value_ref(name), "args", args, "id",
                             id ? pons_value_ref(id) : json_null(), "type",
                             json_string("tool_call"), NULL);
    return *ret ? PONS_OK : nomem(err);
}

static int calls_of(const pons_value *given, pons_value **ret, pons_error *err)
{
    if (given && !json_is_null(given) && !json_is_array(given)) {
        return bad(err, "a message's 'tool_calls' is a list");
    }
    pons_value *list = json_array();
    int st = list ? PONS_OK : nomem(err);
    for (size_t i = 0; i < json_array_size(given) && st == PONS_OK; i++) {
        pons_value *one = NULL;
        st = call_of(json_array_get(given, i), &one, err);
        if (st == PONS_OK && json_array_append_new(list, one) != 0) {
            st = nomem(err);
        }
    }
    if (st != PONS_OK) {
        pons_value_unref(list);
        return st;
    }
    *ret = list;
    return PONS_OK;
}

// ---- the whole ----------------------------------------------------------------------------------

static bool known(const char *type, const char *key)
{
    static const char *const
        all[] = {"role", "content", "id", "name", "additional_kwargs", "response_metadata", NULL},
        *const ai[] = {"tool_calls", "invalid_tool_calls", "usage_metadata", NULL},
        *const tool[] = {"tool_call_id", "artifact", "status", NULL}, *const none[] = {NULL};
    const char *const *own = strcmp(type, "ai") == 0 ? ai : strcmp(type, "tool") == 0 ? tool : none;
    for (const char *const *k = all; *k; k++) {
        if (strcmp(*k, key) == 0) {
            return true;
        }
    }
    while (*own && strcmp(*own, key) != 0) {
        own++;
    }
    return *own != NULL;
}

// What is no member of a message's, and the additional_kwargs it came with, which win.
static int others_of(const char *word, const char *type, const pons_value *form, pons_value **ret,
                     pons_error *err)
{
    const pons_value *given = pons_get(form, "additional_kwargs");
    const bool by_role = pons_get(form, "role") != NULL;
    pons_value *kw = json_object();
    bool ok = kw != NULL;
    if (given && !json_is_object(given) && !json_is_null(given)) {
        pons_value_unref(kw);
        return bad(err, "a message's 'additional_kwargs' is an object");
    }
    pons_each_member(key, v, form) {
        const bool its_type = !by_role && strcmp(key, "type") == 0;
        const bool plain = strcmp(key, "example") == 0 && !json_is_true(v);
        if (ok && !its_type && !plain && !known(type, key)) {
            ok = json_object_set_new(kw, key, pons_value_ref(v)) == 0;
        }
    }
    pons_each_member(key, v, given) {
        ok = ok && json_object_set_new(kw, key, pons_value_ref(v)) == 0;
    }
    if (ok && strcmp(word, "developer") == 0) {
        ok = json_object_set_new(kw, "__openai_role__", json_string(word)) == 0;
    }
    if (!ok) {
        pons_value_unref(kw);
        return nomem(err);
    }
    *ret = kw;
    return PONS_OK;
}

static bool put(pons_value *m, const char *key, pons_value *v)
{
    return json_object_set_new_nocheck(m, key, v) == 0;
}

static int ai_members(pons_value *m, const pons_value *form, pons_error *err)
{
    const pons_value *bad_calls = pons_get(form, "invalid_tool_calls");
    const pons_value *usage = pons_get(form, "usage_metadata");
    pons_value *calls = NULL;
    int st = calls_of(pons_get(form, "tool_calls"), &calls, err);
    if (st == PONS_OK &&
        (!put(m, "tool_calls", calls) ||
         !put(m, "invalid_tool_calls",
              json_is_array(bad_calls) ? pons_value_ref(bad_calls) : json_array()) ||
         !put(m, "usage_metadata", json_is_object(usage) ? pons_value_ref(usage) : json_null()))) {
        st = nomem(err);
    }
    return st;
}

static int tool_members(pons_value *m, const pons_value *form, pons_error *err)
{
    const pons_value *artifact = pons_get(form, "artifact"), *status = pons_get(form, "status");
    const char *word = status && !json_is_null(status) ? json_string_value(status) : "success";
    pons_value *id = NULL;
    if (!word || (strcmp(word, "success") != 0 && strcmp(word, "error") != 0)) {
        return bad(err, "a tool message's 'status' is success or error");
    }
    int st = text_of(form, "tool_call_id", &id, err);
    if (st == PONS_OK && json_is_null(id)) {
        return bad(err, "a tool message needs the 'tool_call_id' that it answers");
    }
    if (st == PONS_OK && (!put(m, "tool_call_id", id) ||
                          !put(m, "artifact", artifact ? pons_value_ref(artifact) : json_null()) ||
                          !put(m, "status", json_string(word)))) {
        st = nomem(err);
    }
    return st;
}

static const char *type_of(const role *table, size_t n, const char *word)
{
    for (size_t i = 0; word && i < n; i++) {
        if (strcmp(table[i].word, word) == 0) {
            return table[i].type;
        }
    }
    return NULL;
}
#define TYPE_OF(table, word) type_of(table, sizeof(table) / sizeof *(table), word)

static int of_parts(const char *word, const pons_value *content, const pons_value *form,
                    pons_value **ret, pons_error *err)
{
    const char *type = TYPE_OF(roles, word);
    if (!type) {
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                              "unknown role '%.*s' of a message (human, user, ai, assistant, "
                              "system, developer, tool, function)",
                              SHOWN_MAX, word);
    }
    const pons_value *meta = pons_get(form, "response_metadata");
    pons_autovalue text = NULL, *kw = NULL, *id = NULL, *name = NULL;
    int st = content_of(type, content, &text, err);
    st = st == PONS_OK ? text_of(form, "id", &id, err) : st;
    st = st == PONS_OK ? text_of(form, "name", &name, err) : st;
    st = st == PONS_OK ? others_of(word, type, form, &kw, err) : st;
    if (st == PONS_OK && strcmp(type, "function") == 0 && json_is_null(name)) {
        st = bad(err, "a function message needs a 'name'");
    }
    if (st == PONS_OK && !falsy(meta) && !json_is_object(meta)) {
        st = bad(err, "a message's 'response_metadata' is an object");
    }
    if (st != PONS_OK) {
        return st;
    }
    pons_value *m = pons_object_whole(
        "content", pons_value_ref(text), "additional_kwargs", pons_value_ref(kw),
        "response_metadata", falsy(meta) ? json_object() : pons_value_ref(meta), "type",
        json_string(type), "name", pons_value_ref(name), "id", pons_value_ref(id), NULL);
    st = m ? PONS_OK : nomem(err);
    if (st == PONS_OK && strcmp(type, "ai") == 0) {
        st = ai_members(m, form, err);
    } else if (st == PONS_OK && strcmp(type, "tool") == 0) {
        st = tool_members(m, form, err);
    }
    if (st != PONS_OK) {
        pons_value_unref(m);
        return st;
    }
    *ret = m;
    return PONS_OK;
}

// ---- forms --------------------------------------------------------------------------------------

// {"lc":1,"type":"constructor","id":[…, class],"kwargs":{…}}: its kwargs, and the class's type.
static const pons_value *unpacked(const pons_value *form, const char **word)
{
    const pons_value *id = pons_get(form, "id"), *kwargs = pons_get(form, "kwargs");
    const size_t n = json_array_size(id);
    if (pons_get_int(form, "lc", 0) != 1 ||
        strcmp(pons_get_str(form, "type", ""), "constructor") != 0 || n == 0 ||
        !json_is_object(kwargs)) {
        return form;
    }
    *word = TYPE_OF(classes, json_string_value(json_array_get(id, n - 1)));
    return *word ? kwargs : form;
}

static int of_object(const pons_value *form, const char *word, pons_value **ret, pons_error *err)
{
    word = word ? word : pons_get_str(form, "role", NULL);
    word = word ? word : pons_get_str(form, "type", NULL);
    const pons_value *content = pons_get(form, "content");
    if (!word) {
        return bad(err, "a message has a 'role' or a 'type', and 'content'");
    }
    if (!content && strcmp(word, "remove") != 0) {
        return bad(err, "a message has no 'content'");
    }
    return of_parts(word, content, form, ret, err);
}

// ---- public functions ---------------------------------------------------------------------------

int pons_message_of(const pons_value *form, pons_value **ret, pons_error *err)
{
    if (json_is_string(form)) {
        return of_parts("human", form, NULL, ret, err);
    }
    if (json_is_array(form)) {
        const pons_value *word = json_array_get(form, 0);
        if (json_array_size(form) != 2 || !json_is_string(word)) {
            return bad(err, "a message that is a list is [role, content]");
        }
        return of_parts(json_string_value(word), json_array_get(form, 1), NULL, ret, err);
    }
    if (!json_is_object(form)) {
        return bad(err, "a message is an object, a text or [role, text]");
    }
    const char *word = NULL;
    pons_value *made = NULL;
    const pons_value *members = unpacked(form, &word);
    int st = of_object(members, word, &made, err);
    if (st == PONS_OK && json_equal(made, form)) { // it had the whole form
        pons_value_unref(made);
        made = pons_value_ref(form);
    }
    if (st == PONS_OK) {
        *ret = made;
    }
    return st;
}

const char *pons_message_role(const pons_value *form)
{
    const char *word = NULL;
    const pons_value *members = unpacked(form, &word);
    word = word ? word : pons_get_str(members, "role", NULL);
    word = word ? word : pons_get_str(members, "type", NULL);
    return TYPE_OF(roles, word);
}

pons_value *pons_message_text(const pons_value *form)
{
    const char *word = NULL;
    const pons_value *content = pons_get(unpacked(form, &word), "content");
    if (json_is_string(content)) {
        return pons_value_ref(content);
    }
    pons_value *all = json_string("");
    for (size_t i = 0; all && i < json_array_size(content); i++) {
        const pons_value *block = json_array_get(content, i);
        pons_autovalue before = all;
        all = json_sprintf("%s%s", json_string_value(before),
                           json_is_string(block) ? json_string_value(block)
                                                 : pons_get_str(block, "text", ""));
    }
    return all;
}
