// message_trim.c - conversations cut to what a model can take, and how many tokens they have.
//
// What fits of the end is what fits of the beginning of the conversation turned around, so there is
// one search: the largest number of messages, from the front, whose count is not over the limit. It
// halves, and so does the search for the lines of the message that does not fit whole; the counter
// is the caller's and may be slow.
//
// Counting approximates as LangChain's does, down to the length of Python's notation of what is no
// text (tool calls, blocks of other kinds), so that limits taken from there mean the same here.
#include "graph/engine.h"
#include "pons/messages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHARS_A_TOKEN = 4, TOKENS_A_MESSAGE = 3, TOKENS_AN_IMAGE = 85, REPR_DEPTH_MAX = 512 };

// ---- counting -----------------------------------------------------------------------------------

// Characters of a string; 0 of what is none.
static int64_t chars_of(const pons_value *string)
{
    const char *s = json_string_value(string);
    const size_t len = json_string_length(string);
    int64_t n = 0;
    for (size_t i = 0; i < len; i++) {
        n += ((unsigned char)s[i] & 0xc0) != 0x80;
    }
    return n;
}

// A text in quotes: single ones, unless only single ones are inside.
static int64_t quoted(const char *s, size_t len)
{
    int64_t n = 2, single = 0, twice = 0;
    for (size_t i = 0; i < len; i++) {
        const unsigned char c = (unsigned char)s[i];
        single += c == '\'';
        twice += c == '"';
        if (c == '\n' || c == '\r' || c == '\t' || c == '\\') {
            n += 2;
        } else if (c < 0x20 || c == 0x7f) {
            n += 4; // \x1f
        } else {
            n += (c & 0xc0) != 0x80;
        }
    }
    return n + (single > 0 && twice > 0 ? single : 0);
}

// How long a value is as Python writes it: {'a': [1, True, None]}.
static int64_t notation(const pons_value *v, int depth)
{
    char text[64];
    int64_t n = 2;
    if (depth > REPR_DEPTH_MAX) {
        return n;
    }
    switch (json_typeof(v)) {
    case JSON_OBJECT:
        pons_each_member(key, member, v) {
            n += (n > 2 ? 4 : 2) + quoted(key, strlen(key)) + notation(member, depth + 1);
        }
        return n;
    case JSON_ARRAY:
        for (size_t i = 0; i < json_array_size(v); i++) {
            n += (i ? 2 : 0) + notation(json_array_get(v, i), depth + 1);
        }
        return n;
    case JSON_STRING:
        return quoted(json_string_value(v), json_string_length(v));
    case JSON_INTEGER:
        return snprintf(text, sizeof text, "%lld", (long long)json_integer_value(v));
    case JSON_REAL: {
        char *shortest = NULL;
        n = pons_value_dump(v, &shortest);
        free(shortest);
        return n < 0 ? 0 : n;
    }
    case JSON_FALSE:
        return 5;
    case JSON_TRUE:
    case JSON_NULL:
        break;
    }
    return 4;
}

static int64_t tokens_of(const pons_value *m)
{
    const pons_value *content = pons_get(m, "content"), *calls = pons_get(m, "tool_calls");
    const char *type = pons_get_str(m, "type", "");
    int64_t chars = json_is_string(content) ? chars_of(content) : 0, tokens = 0;
    pons_each(block, content) {
        const char *kind = pons_get_str(block, "type", "");
        if (json_is_string(block)) {
            chars += chars_of(block);
        } else if (strcmp(kind, "image") == 0 || strcmp(kind, "image_url") == 0) {
            tokens += TOKENS_AN_IMAGE;
        } else if (strcmp(kind, "text") == 0) {
            chars += chars_of(pons_get(block, "text"));
        } else {
            chars += notation(block, 0);
        }
    }
    if (json_is_string(content) && json_array_size(calls) > 0) { // else the blocks have them
        chars += notation(calls, 0);
    }
    static const char *const roles[][2] = {{"ai", "assistant"}, {"human", "user"}};
    const char *role = pons_get_str(pons_get(m, "additional_kwargs"), "__openai_role__",
                                    strcmp(type, "ai") == 0      ? roles[0][1]
                                    : strcmp(type, "human") == 0 ? roles[1][1]
                                                                 : type);
    chars += (int64_t)strlen(role) + chars_of(pons_get(m, "tool_call_id")) +
             chars_of(pons_get(m, "name"));
    return tokens + (chars + CHARS_A_TOKEN - 1) / CHARS_A_TOKEN + TOKENS_A_MESSAGE;
}

int64_t pons_messages_tokens(const pons_value *list)
{
    int64_t n = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        pons_autovalue m = NULL;
        if (pons_message_of(json_array_get(list, i), &m, NULL) == PONS_OK) {
            n += tokens_of(m);
        }
    }
    return n;
}

// ---- trimming -----------------------------------------------------------------------------------

typedef struct trimming {
    const pons_messages_trim_options *o;
    pons_value *list; // in the order in which it is kept from the front
    int64_t limit;    // tokens
    bool backwards;   // the list is turned around: of a message, too, the end is kept
    const char *const *end_on;
} trimming;

static int64_t count_of(const trimming *t, const pons_value *list)
{
    return t->o->count ? t->o->count(t->o->user, list) : pons_messages_tokens(list);
}

static bool is_type(const pons_value *m, const char *const *types)
{
    const char *type = pons_get_str(m, "type", "");
    while (*types && strcmp(*types, type) != 0) {
        types++;
    }
    return *types != NULL;
}

static void end_at(pons_value *list, const char *const *types)
{
    while (types && types[0] && json_array_size(list) > 0 &&
           !is_type(json_array_get(list, json_array_size(list) - 1), types)) {
        json_array_remove(list, json_array_size(list) - 1);
    }
}

static pons_value *first_of(const pons_value *list, size_t n)
{
    pons_value *part = json_array();
    bool ok = part != NULL;
    for (size_t i = 0; i < n && ok; i++) {
        ok = json_array_append_new(part, pons_value_ref(json_array_get(list, i))) == 0;
    }
    if (!ok) {
        pons_value_unref(part);
        return NULL;
    }
    return part;
}

static bool turn_around(pons_value *list)
{
    const size_t n = json_array_size(list);
    for (size_t i = 0; i < n / 2; i++) {
        pons_value *a = pons_value_ref(json_array_get(list, i));
        pons_value *b = pons_value_ref(json_array_get(list, n - 1 - i));
        if (json_array_set_new(list, i, b) != 0 || json_array_set_new(list, n - 1 - i, a) != 0) {
            return false;
        }
    }
    return true;
}

static bool fits(const trimming *t, size_t at, const pons_value *m)
{
    pons_autovalue list = first_of(t->list, at);
    return list && json_array_append_new(list, pons_value_ref(m)) == 0 &&
           count_of(t, list) <= t->limit;
}

// The blocks of m, from the front or the end, that fit; *m has at last one of them in any case.
static bool some_blocks(trimming *t, size_t at, pons_value *m, bool *ret_kept)
{
    pons_value *blocks = json_copy((pons_value *)(uintptr_t)pons_get(m, "content"));
    if (!blocks || json_object_set_new(m, "content", blocks) != 0) {
        return false;
    }
    // Turned around for the search, as the list is: what is cut is always the last.
    bool ok = !t->backwards || turn_around(blocks);
    for (size_t n = json_array_size(blocks); ok && n > 1 && !*ret_kept; n--) {
        ok = json_array_remove(blocks, n - 1) == 0;
        *ret_kept = ok && fits(t, at, m);
    }
    return ok && (!*ret_kept || !t->backwards || turn_around(blocks));
}

static const pons_value *text_of(const pons_value *content)
{
    if (json_is_string(content)) {
        return content;
    }
    pons_each(block, content) {
        if (json_is_string(block)) {
            return block;
        }
        if (strcmp(pons_get_str(block, "type", ""), "text") == 0) {
            return pons_get(block, "text");
        }
    }
    return NULL;
}

// Where n lines of a text end, from the front, or begin, from the end. Lines keep their ends, and
// the last one is what follows the last end, nothing perhaps.
static size_t lines_end(const char *s, size_t len, size_t n, bool from_end)
{
    size_t at = from_end ? len : 0;
    for (size_t i = 0; i < n; i++) {
        if (from_end) {
            at -= i > 0 && at > 0; // the end of the line before
            while (at > 0 && s[at - 1] != '\n') {
                at--;
            }
        } else {
            while (at < len && s[at] != '\n') {
                at++;
            }
            at += at < len;
        }
    }
    return at;
}

static bool set_lines(pons_value *m, const char *s, size_t len, size_t n, bool from_end)
{
    const size_t at = lines_end(s, len, n, from_end);
    pons_value *text = from_end ? json_stringn(s + at, len - at) : json_stringn(s, at);
    return text && json_object_set_new(m, "content", text) == 0;
}

// The most lines of m's text with which it fits, counted by itself.
static bool some_lines(trimming *t, size_t at, pons_value *m, bool *ret_kept)
{
    pons_autovalue held = pons_value_ref(text_of(pons_get(m, "content")));
    const char *s = json_string_value(held);
    const size_t len = json_string_length(held);
    if (len == 0) {
        return true;
    }
    pons_autovalue before = first_of(t->list, at), *alone = json_array();
    bool ok = before && json_array_append_new(alone, pons_value_ref(m)) == 0;
    int64_t room = 0;
    if (ok && __builtin_sub_overflow(t->limit, count_of(t, before), &room)) {
        room = 0; // a counter that says anything
    }
    size_t left = 0, right = 1;
    for (size_t i = 0; i < len; i++) {
        right += s[i] == '\n';
    }
    while (left < right && ok) {
        const size_t mid = left + (right - left + 1) / 2;
        ok = set_lines(m, s, len, mid, t->backwards);
        if (ok && count_of(t, alone) <= room) {
            left = mid;
        } else {
            right = mid - 1;
        }
    }
    *ret_kept = ok && left > 0;
    return ok && (left == 0 || set_lines(m, s, len, left, t->backwards));
}

// Puts what fits of the message at `at` in its place.
static bool part_of(trimming *t, size_t at, bool *ret_kept)
{
    pons_value *m = json_copy(json_array_get(t->list, at));
    bool ok = m != NULL;
    if (ok && json_is_array(pons_get(m, "content"))) {
        ok = some_blocks(t, at, m, ret_kept);
    }
    if (ok && !*ret_kept) {
        ok = some_lines(t, at, m, ret_kept);
    }
    if (!ok || !*ret_kept) {
        pons_value_unref(m);
        return ok;
    }
    return json_array_set_new(t->list, at, m) == 0;
}

// What fits of the front of t->list, which becomes it.
static bool trim_front(trimming *t)
{
    if (json_array_size(t->list) == 0) {
        return true;
    }
    if (count_of(t, t->list) > t->limit) {
        size_t left = 0, right = json_array_size(t->list);
        while (left < right) {
            const size_t mid = left + (right - left + 1) / 2;
            pons_autovalue part = first_of(t->list, mid);
            if (!part) {
                return false;
            }
            if (count_of(t, part) <= t->limit) {
                left = mid;
            } else {
                right = mid - 1;
            }
        }
        bool kept = false;
        if (t->o->allow_partial && left < json_array_size(t->list) && !part_of(t, left, &kept)) {
            return false;
        }
        pons_value *part = first_of(t->list, left + kept);
        if (!part) {
            return false;
        }
        pons_value_unref(t->list);
        t->list = part;
    }
    end_at(t->list, t->end_on);
    return true;
}

// ---- the whole ----------------------------------------------------------------------------------

static bool trim_end(trimming *t)
{
    pons_autovalue system = NULL;
    end_at(t->list, t->o->end_on);
    const pons_value *head = json_array_get(t->list, 0);
    if (t->o->include_system && strcmp(pons_get_str(head, "type", ""), "system") == 0) {
        pons_autovalue alone = first_of(t->list, 1);
        if (!alone) {
            return false;
        }
        system = pons_value_ref(head);
        const int64_t own = count_of(t, alone);
        t->limit = own < 0 ? t->limit : own < t->limit ? t->limit - own : 0;
        json_array_remove(t->list, 0);
    }
    t->end_on = t->o->start_on;
    t->backwards = true;
    return turn_around(t->list) && trim_front(t) && turn_around(t->list) &&
           (!system || json_array_insert_new(t->list, 0, pons_value_ref(system)) == 0);
}

int pons_messages_trim(const pons_value *list, const pons_messages_trim_options *opts,
                       pons_value **ret, pons_error *err)
{
    if (opts->first && (opts->start_on || opts->include_system)) {
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                              "what is kept from the beginning has no start_on or include_system");
    }
    if (!json_is_array(list)) {
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE, "only a list of messages is trimmed");
    }
    trimming t = {
        .o = opts, .list = json_array(), .limit = opts->max_tokens < 0 ? -1 : opts->max_tokens};
    int st = t.list ? PONS_OK : PONS_ENOMEM;
    for (size_t i = 0; i < json_array_size(list) && st == PONS_OK; i++) {
        pons_value *m = NULL;
        st = pons_message_of(json_array_get(list, i), &m, err);
        if (st == PONS_OK && json_array_append_new(t.list, m) != 0) {
            st = PONS_ENOMEM;
        }
    }
    if (st == PONS_OK && opts->first) {
        t.end_on = opts->end_on;
        st = trim_front(&t) ? PONS_OK : PONS_ENOMEM;
    } else if (st == PONS_OK) {
        st = trim_end(&t) ? PONS_OK : PONS_ENOMEM;
    }
    if (st == PONS_ENOMEM) {
        pons_error_set(err, st, PONS__MODULE, "no memory to trim messages");
    }
    if (st != PONS_OK) {
        pons_value_unref(t.list);
        return st;
    }
    *ret = t.list;
    return PONS_OK;
}

// ---- a change -----------------------------------------------------------------------------------

// {id: message}; one without an id is left out.
static pons_value *by_id(const pons_value *list)
{
    pons_value *map = json_object();
    bool ok = map != NULL;
    for (size_t i = 0; i < json_array_size(list) && ok; i++) {
        pons_value *m = json_array_get(list, i);
        const char *id = pons_get_str(m, "id", NULL);
        ok = !id || json_object_set_new(map, id, pons_value_ref(m)) == 0;
    }
    if (!ok) {
        pons_value_unref(map);
        return NULL;
    }
    return map;
}

int pons_messages_change(const pons_value *from, const pons_value *to, pons_value **ret,
                         pons_error *err)
{
    pons_autovalue had = by_id(from), *have = by_id(to);
    pons_value *update = json_array();
    bool ok = had && have && update;
    for (size_t i = 0; i < json_array_size(from) && ok; i++) {
        const char *id = pons_get_str(json_array_get(from, i), "id", NULL);
        if (id && !pons_get(have, id)) {
            ok = json_array_append_new(update, pons_object_whole("type", json_string("remove"),
                                                                 "id", json_string(id), NULL)) == 0;
        }
    }
    for (size_t i = 0; i < json_array_size(to) && ok; i++) {
        pons_value *m = json_array_get(to, i);
        const char *id = pons_get_str(m, "id", NULL);
        const pons_value *was = id ? pons_get(had, id) : NULL;
        if (!was || !json_equal(was, m)) {
            ok = json_array_append_new(update, pons_value_ref(m)) == 0;
        }
    }
    if (!ok) {
        pons_value_unref(update);
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for messages");
    }
    *ret = update;
    return PONS_OK;
}
