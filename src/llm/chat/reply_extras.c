// reply_extras.c - what a model sends beside its words: reasoning_content, reasoning_details, a tool call's
// extra_content with a thought_signature, and whatever comes next. Some servers refuse a conversation from
// which it is missing, so all that pons does not know itself goes back as it came, to the model it came from.
//
// A reply has it as {from, message?: {field: value}, calls?: {ID: {field: value}}}. In a stream it comes in
// pieces: texts are joined, but for those that are said again in each piece (a name, a type) or at once (a
// signature); objects are joined by field, items of a list by their `index` or, without one, with the last item
// of the same type that no signature has closed.
#include "llm/chat/chat.h"

#include <stdlib.h>
#include <string.h>

static bool among(const char *key, const char *const list[])
{
    for (; *list && strcmp(*list, key) != 0; list++) {
    }
    return *list;
}

static bool equal(const pons_value *a, const pons_value *b, const char *key)
{
    const pons_value *one = pons_get(a, key), *other = pons_get(b, key);
    return !one || !other || json_is_null(one) || json_is_null(other) ||
           json_equal((json_t *)one, (json_t *)other);
}

// The item of a list that a piece goes on with; NULL: it begins one.
static pons_value *item_of(const pons_value *list, const pons_value *piece)
{
    const bool indexed = json_is_integer(pons_get(piece, "index"));
    for (size_t i = json_array_size(list); i-- > 0;) {
        pons_value *item = json_array_get(list, i);
        const bool same = equal(item, piece, "index") && equal(item, piece, "type") &&
                          equal(item, piece, "id") && json_is_object(item);
        if (same && (indexed || !(pons_get(item, "signature") || pons_get(item, "data")))) {
            return item;
        }
        if (!indexed) {
            break;
        }
    }
    return NULL;
}

static int join(pons_value *into, const pons_value *piece, const char *const *known);

static int join_list(pons_value *into, const pons_value *pieces)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < json_array_size(pieces); i++) {
        const pons_value *piece = json_array_get(pieces, i);
        pons_value *item = json_is_object(piece) ? item_of(into, piece) : NULL;
        rc = item ? join(item, piece, NULL) : json_array_append_new(into, json_deep_copy(piece));
    }
    return rc;
}

static int join_text(pons_value *into, const char *key, const pons_value *was, const pons_value *v)
{
    static const char *const whole[] = {"id",
                                        "type",
                                        "format",
                                        "name",
                                        "role",
                                        "status",
                                        "channel",
                                        "model",
                                        "object",
                                        "signature",
                                        "thought_signature",
                                        NULL};
    if (among(key, whole)) {
        return json_string_length(v) ? json_object_set_new(into, key, json_deep_copy(v)) : 0;
    }
    return json_object_set_new(into, key,
                               json_sprintf("%s%s", json_string_value(was), json_string_value(v)));
}

static int join(pons_value *into, const pons_value *piece, const char *const *known)
{
    int rc = 0;
    pons_each_member(key, v, piece) {
        pons_value *was = json_object_get(into, key);
        if (rc != 0 || json_is_null(v) || (known && among(key, known))) {
            continue;
        }
        if (json_is_object(was) && json_is_object(v)) {
            rc = join(was, v, NULL);
        } else if (json_is_array(was) && json_is_array(v)) {
            rc = join_list(was, v);
        } else if (json_is_string(was) && json_is_string(v)) {
            rc = join_text(into, key, was, v);
        } else {
            rc = json_object_set_new(into, key, json_deep_copy(v));
        }
    }
    return rc;
}

int pons__extra_take(pons__reply *r, pons_value **extra, const pons_value *from,
                     const char *const *known)
{
    if (!r->from || !json_is_object(from)) {
        return PONS_OK;
    }
    *extra = *extra ? *extra : json_object();
    return *extra && join(*extra, from, known) == 0 ? PONS_OK : pons__no_memory(r);
}

// Without the key that a server may have quoted.
static pons_value *redacted(const pons_value *v, const char *secret)
{
    char *text = NULL;
    pons_value *out = NULL;
    if (!secret || pons_value_line(v, &text) < 0) {
        return secret ? NULL : pons_value_ref(v);
    }
    pons__redact(text, secret);
    pons_value_parse(text, strlen(text), &out, NULL);
    free(text);
    return out;
}

int pons__extra_finish(pons__reply *r, const pons_value *calls, pons_value **ret)
{
    pons_autovalue of_calls = json_object();
    bool ok = of_calls;
    for (size_t i = 0; ok && i < r->n_calls; i++) {
        const char *id = pons_get_str(json_array_get(calls, i), "id", "");
        ok = json_object_size(r->calls[i].extra) == 0 ||
             json_object_set(of_calls, id, r->calls[i].extra) == 0;
    }
    if (ok && pons_get(r->extra, "content") && r->content.len) { // parts: the words are one of them
        ok = json_array_append_new(json_object_get(r->extra, "content"),
                                   pons_object("type", json_string("text"), "text",
                                               json_string(r->content.data), NULL)) == 0;
    }
    const bool message = json_object_size(r->extra) > 0, any = json_object_size(of_calls) > 0;
    if (!ok || (!message && !any)) {
        return ok ? PONS_OK : pons__no_memory(r);
    }
    pons_autovalue all = pons_object("from", json_string(r->from), "message",
                                     message ? pons_value_ref(r->extra) : NULL, "calls",
                                     any ? pons_value_ref(of_calls) : NULL, NULL);
    *ret = all ? redacted(all, r->secret) : NULL;
    return *ret ? PONS_OK : pons__no_memory(r);
}
