// reply_extras.c - what a model sends beside its words: reasoning_content, reasoning_details, a tool call's
// extra_content with a thought_signature, and whatever comes next. Some servers refuse a conversation from
// which it is missing, so all that pons does not know itself goes back as it came, to the model it came from.
//
// A reply has it as {from, message?: {field: value}, calls?: {ID: {field: value}}}. In a stream it comes in
// pieces: texts are joined, but for those that are said again in each piece (a name, a type) or at once (a
// signature); objects are joined by field, items of a list by their `index` or, without one, with the last item
// of the same type that no signature has closed. The pieces of a text wait in a list beside it, named PIECES and the
// text's name, and are joined once, at the end: a text of n pieces costs n steps.
#include "llm/chat/chat.h"

#include <stdlib.h>
#include <string.h>

#define PIECES "\x01" // no server begins a name with it; one that does loses that field

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

static int join_text(pons_value *into, const char *key, const pons_value *v)
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
    pons_autovalue beside = json_sprintf(PIECES "%s", key);
    pons_value *pieces = json_object_get(into, json_string_value(beside));
    if (!pieces) {
        pieces = json_array();
        if (!beside || json_object_set_new(into, json_string_value(beside), pieces) < 0) {
            return -1;
        }
    }
    return json_array_append_new(pieces, pons_value_ref(v));
}

// Each text that came in pieces is one, at every depth.
static int join_pieces(pons_value *v)
{
    const char *key;
    void *next;
    pons_value *one;
    size_t i;
    int rc = 0;
    json_array_foreach(v, i, one) {
        rc = rc != 0 ? rc : join_pieces(one);
    }
    json_object_foreach_safe(v, next, key, one) {
        pons_value *first = *key == *PIECES ? json_object_get(v, key + 1) : NULL;
        if (!json_is_string(first) || !json_is_array(one)) {
            rc = rc != 0 ? rc : join_pieces(one);
            continue;
        }
        pons_autobuf whole = PONS_BUF_INIT;
        pons_buf_bytes(&whole, json_string_value(first), json_string_length(first));
        pons_each(piece, one) {
            pons_buf_bytes(&whole, json_string_value(piece), json_string_length(piece));
        }
        if (whole.failed || json_string_setn(first, whole.data, whole.len) < 0) {
            rc = -1;
        }
        json_object_del(v, key);
    }
    return rc;
}

static int join(pons_value *into, const pons_value *piece, const char *const *known)
{
    int rc = 0;
    pons_each_member(key, v, piece) {
        pons_value *was = json_object_get(into, key);
        if (rc != 0 || json_is_null(v) || *key == *PIECES || (known && among(key, known))) {
            continue;
        }
        if (json_is_object(was) && json_is_object(v)) {
            rc = join(was, v, NULL);
        } else if (json_is_array(was) && json_is_array(v)) {
            rc = join_list(was, v);
        } else if (json_is_string(was) && json_is_string(v)) {
            rc = join_text(into, key, v);
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
    bool ok = of_calls && join_pieces(r->extra) == 0;
    for (size_t i = 0; ok && i < r->n_calls; i++) {
        const char *id = pons_get_str(json_array_get(calls, i), "id", "");
        pons_value *own = r->calls[i].extra;
        ok = join_pieces(own) == 0 &&
             (json_object_size(own) == 0 || json_object_set(of_calls, id, own) == 0);
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
