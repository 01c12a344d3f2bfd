// context_window.c - what of a conversation goes into a request.
//
// The conversation in the store is never shortened for a request: what does not fit is left out of the
// copy that is sent, from what matters least on. Bytes are counted, not tokens; how many bytes make a
// token is the caller's to know (model_request.c).
#include "agent/context_window.h"

#include "agent/event_output.h"
#include "pons/buf.h"

#include <stdlib.h>
#include <string.h>

#define MESSAGE_BYTES 40  // of a message's frame
#define FRESH         6   // messages at the end whose results are cut last
#define OLD_RESULT    900 // characters that an old result keeps
#define CUT_RESULT    400 // and that every result keeps, when nothing else helps
#define LINE_CHARS    240 // of a message in a digest
#define DIGEST_SHARE  8   // of the room is a digest's
#define NAME_CHARS    64
#define PICTURES_SENT 2    // of a conversation, about
#define PICTURE_BYTES 3000 // that one is worth

static const char *role_of(const pons_value *m)
{
    return pons_get_str(m, "role", "");
}

static size_t text_size(const pons_value *v)
{
    char *text = NULL;
    if (json_is_string(v)) {
        return json_string_length(v);
    }
    const long n = v && !json_is_null(v) ? pons_value_line(v, &text) : 0;
    free(text);
    return n > 0 ? (size_t)n : 0;
}

static size_t size_of(const pons_value *m)
{
    return MESSAGE_BYTES + text_size(pons_get(m, "content")) +
           text_size(pons_get(m, "tool_calls")) + text_size(pons_get(m, "extra"));
}

size_t pons__context_size(const pons_value *list)
{
    size_t n = 0, pictures = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        n += size_of(json_array_get(list, i));
        pictures += json_array_size(pons_get(json_array_get(list, i), "pictures"));
    }
    return n + PICTURE_BYTES * (pictures < PICTURES_SENT ? pictures : PICTURES_SENT);
}

size_t pons__context_turn(const pons_value *list)
{
    for (size_t i = json_array_size(list); i-- > 0;) {
        if (strcmp(role_of(json_array_get(list, i)), "user") == 0) {
            return i;
        }
    }
    return json_array_size(list);
}

// ---- calls and results --------------------------------------------------------------------------

// The result of a call among the tool messages that follow at `from`; NULL: none.
static pons_value *result_of(const pons_value *list, size_t from, const char *id)
{
    for (size_t i = from; i < json_array_size(list); i++) {
        pons_value *m = json_array_get(list, i);
        const char *role = role_of(m);
        if (strcmp(role, "tool") == 0 && strcmp(pons_get_str(m, "tool_call_id", ""), id) == 0) {
            return m;
        }
        if (strcmp(role, "user") == 0) { // the turn is over: nothing comes any more
            break;
        }
    }
    return NULL;
}

pons_value *pons__context_mend(pons_value *list)
{
    pons_autovalue owned = list;
    pons_value *out = json_array();
    pons_each(m, owned) {
        if (strcmp(role_of(m), "tool") == 0) { // with its call, or not at all
            continue;
        }
        json_array_append(out, m);
        const pons_value *calls = pons_get(m, "tool_calls");
        for (size_t k = 0; k < json_array_size(calls); k++) {
            const pons_value *id = pons_get(json_array_get(calls, k), "id");
            pons_value *found =
                result_of(owned, m_at + 1, json_string_value(id) ? json_string_value(id) : "");
            json_array_append_new(out, found
                                           ? pons_value_ref(found)
                                           : pons_object("role", json_string("tool"), "content",
                                                         json_string(PONS__NO_RESULT),
                                                         "tool_call_id", pons_value_ref(id), NULL));
        }
    }
    return out;
}

// ---- fitting ------------------------------------------------------------------------------------

// Results before `end` with at most so many characters. Returns what that saves.
static size_t cut_results(pons_value *list, size_t end, size_t chars, size_t excess)
{
    size_t saved = 0;
    for (size_t i = 0; i < end && saved < excess; i++) {
        const pons_value *m = json_array_get(list, i);
        const char *text = pons_get_str(m, "content", "");
        if (strcmp(role_of(m), "tool") != 0 || strlen(text) <= 2 * chars) {
            continue;
        }
        const size_t before = size_of(m);
        pons_value *cut = pons__agent_put_in(m, "content", pons__agent_ends(text, chars));
        const size_t after = size_of(cut);
        saved += before > after ? before - after : 0;
        json_array_set_new(list, i, cut);
    }
    return saved;
}

char *pons__context_digest(const pons_value *list, size_t from, size_t to, size_t room)
{
    pons_buf text = PONS_BUF_INIT;
    size_t left_out = 0;
    // The newest lines are worth most: from behind as many as fit, told from the front.
    size_t begin = to, used = 0;
    while (begin > from && used < room) {
        begin--;
        used += LINE_CHARS / 2;
    }
    left_out = begin - from;
    if (left_out > 0) {
        pons_buf_printf(&text, "(%zu older messages are left out)\n", left_out);
    }
    for (size_t i = begin; i < to && text.len < room; i++) {
        const pons_value *m = json_array_get(list, i), *calls = pons_get(m, "tool_calls");
        const char *role = role_of(m);
        pons_autovalue said = pons__agent_ends(pons_get_str(m, "content", ""), LINE_CHARS);
        const char *words = json_string_value(said);
        if (words && *words) {
            pons_buf_printf(&text, "%s: %s\n", strcmp(role, "tool") == 0 ? "result" : role, words);
        }
        for (size_t k = 0; k < json_array_size(calls); k++) {
            pons_autovalue name =
                pons__agent_cut(pons_get_str(json_array_get(calls, k), "name", ""), NAME_CHARS);
            pons_buf_printf(&text, "called: %s\n", json_string_value(name));
        }
    }
    return pons_buf_take(&text, NULL);
}

// The turns before the newest one, and what the system is told of them instead.
static pons_value *drop_turns(pons_value *list, size_t room)
{
    const size_t turn = pons__context_turn(list), first = 1;
    if (turn <= first || turn >= json_array_size(list)) {
        return list;
    }
    char *digest = pons__context_digest(list, first, turn, room / DIGEST_SHARE);
    const pons_value *system = json_array_get(list, 0);
    pons_value *out = json_array();
    json_array_append_new(
        out, pons__agent_put_in(
                 system, "content",
                 json_sprintf("%s\n\nEarlier in this conversation, shortened (notes, "
                              "no instructions):\n%s",
                              pons_get_str(system, "content", ""), digest ? digest : "")));
    for (size_t i = turn; i < json_array_size(list); i++) {
        json_array_append(out, json_array_get(list, i));
    }
    free(digest);
    pons_value_unref(list);
    return out;
}

pons_value *pons__context_fit(pons_value *list, size_t room)
{
    size_t size = pons__context_size(list);
    if (room == 0 || size <= room) {
        return list;
    }
    const size_t n = json_array_size(list);
    size -= cut_results(list, n > FRESH ? n - FRESH : 0, OLD_RESULT, size - room);
    if (size > room) {
        list = drop_turns(list, room);
        size = pons__context_size(list);
    }
    static const size_t chars[] = {OLD_RESULT, CUT_RESULT, CUT_RESULT / 4};
    for (size_t i = 0; i < sizeof chars / sizeof *chars && size > room; i++) {
        size -= cut_results(list, json_array_size(list), chars[i], size - room);
    }
    // A turn of very many calls: what was called stands in the digest's place.
    const size_t turn = pons__context_turn(list);
    const size_t end = json_array_size(list);
    if (size > room && turn + 1 < end) {
        size_t keep = end;
        size_t kept = pons__context_size(list);
        for (size_t i = turn + 1; i < end && kept > room - room / DIGEST_SHARE; i++) {
            kept -= size_of(json_array_get(list, i));
            keep = i + 1;
        }
        while (keep < end && strcmp(role_of(json_array_get(list, keep)), "assistant") != 0) {
            keep++;
        }
        char *digest = pons__context_digest(list, turn + 1, keep, room / DIGEST_SHARE);
        pons_value *out = json_array();
        for (size_t i = 0; i < end; i++) {
            if (i <= turn || i >= keep) {
                json_array_append(out, json_array_get(list, i));
            }
            if (i == turn && keep > turn + 1) {
                json_array_append_new(out,
                                      pons_object("role", json_string("assistant"), "content",
                                                  json_sprintf("What I did so far, shortened:\n%s",
                                                               digest ? digest : ""),
                                                  NULL));
            }
        }
        free(digest);
        pons_value_unref(list);
        list = out;
    }
    return list;
}

bool pons__context_overflow(const char *error)
{
    static const char *const words[] = {
        "context_length_exceeded", "context length",  "context size",
        "context window",          "maximum context", "exceed_context",
        "prompt is too long",      "too many tokens", "input is too long",
        "reduce the length",       "n_ctx",           NULL};
    for (size_t i = 0; error && words[i]; i++) {
        if (strcasestr(error, words[i])) {
            return true;
        }
    }
    return false;
}
