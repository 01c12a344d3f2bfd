// event_output.c - what leaves the agent as an event: every text goes through the middlewares' `shown`
// first, so that what one of them takes out (a key, a name) is in no event. Loop thread.
#include "agent/event_output.h"

#include "agent/session.h"
#include "pons/buf.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void pons__agent_emit(pons_agent *a, pons_cx *cx, pons_value *pending, const char *type,
                      pons_value *payload)
{
    pons_value *shown = pons__agent_shown_value(a, payload);
    pons_value_unref(payload);
    if (pending) {
        json_array_append_new(pending, pons__agent_put_in(shown, "type", json_string(type)));
    }
    pons_cx_emit(cx, type, shown);
}

char *pons__agent_shown(pons_agent *a, const char *text)
{
    char *now = strdup(text ? text : "");
    for (size_t i = 0; a && now && i < a->n_mw; i++) {
        const pons_agent_middleware *m = &a->mw[i].m;
        char *next = m->shown ? m->shown(m->user, now) : NULL;
        if (next) {
            free(now);
            now = next;
        }
    }
    return now;
}

pons_value *pons__agent_texts(const pons_value *v, char *(*fn)(void *, const char *), void *user)
{
    if (json_is_string(v)) {
        char *text = fn(user, json_string_value(v));
        pons_value *s = text ? json_string(text) : pons_value_ref(v);
        free(text);
        return s ? s : json_string("");
    }
    if (json_is_array(v)) {
        pons_value *list = json_array();
        for (size_t i = 0; i < json_array_size(v); i++) {
            json_array_append_new(list, pons__agent_texts(json_array_get(v, i), fn, user));
        }
        return list;
    }
    if (json_is_object(v)) {
        pons_value *o = json_object();
        pons_each_member(key, member, v) {
            json_object_set_new(o, key, pons__agent_texts(member, fn, user));
        }
        return o;
    }
    return pons_value_ref(v);
}

static char *as_shown(void *agent, const char *text)
{
    char *now = pons__agent_shown(agent, text);
    return now ? now : strdup("");
}

pons_value *pons__agent_shown_value(pons_agent *a, const pons_value *v)
{
    bool any = false;
    for (size_t i = 0; a && i < a->n_mw; i++) {
        any = any || a->mw[i].m.shown;
    }
    return any ? pons__agent_texts(v, as_shown, a) : pons_value_ref(v);
}

pons_value *pons__agent_put_in(const pons_value *old, const char *key, pons_value *v)
{
    pons_value *copy =
        json_is_object(old) ? json_copy((pons_value *)(uintptr_t)old) : json_object();
    if (!v || json_object_set_new(copy, key, v) < 0) {
        pons_value_unref(copy);
        return NULL;
    }
    return copy;
}

pons_value *pons__agent_cut(const char *text, size_t chars)
{
    size_t n = 0, len = text ? strlen(text) : 0;
    for (size_t i = 0; i < chars && n < len; i++) {
        const size_t k = pons_utf8_sequence(text + n, len - n);
        n += k > 0 ? k : 1;
    }
    return json_stringn(text ? text : "", n);
}

pons_value *pons__agent_ends(const char *text, size_t chars)
{
    const size_t len = text ? strlen(text) : 0;
    size_t head = 0, tail = len;
    for (size_t i = 0; i < chars - chars / 3 && head < len; i++) {
        const size_t k = pons_utf8_sequence(text + head, len - head);
        head += k > 0 ? k : 1;
    }
    for (size_t i = 0; i < chars / 3 && tail > head; i++) {
        tail--;
        while (tail > head && ((unsigned char)text[tail] & 0xC0U) == 0x80U) {
            tail--;
        }
    }
    if (tail <= head) {
        return json_stringn(text ? text : "", len);
    }
    // Whole lines, where that costs little.
    const char *line = memrchr(text, '\n', head);
    head = line && (size_t)(line - text) > head - head / 4 ? (size_t)(line - text) : head;
    line = memchr(text + tail, '\n', len - tail);
    tail =
        line && (size_t)(line - text) < tail + (len - tail) / 4 ? (size_t)(line - text) + 1 : tail;
    size_t lines = 0, all = 1;
    for (size_t i = 0; i < len; i++) {
        all += text[i] == '\n' && i + 1 < len;
        lines += text[i] == '\n' && i >= head && i < tail;
    }
    return json_sprintf(
        "%.*s\n[… %zu of %zu bytes are left out here, about %zu of %zu lines …]\n%s", (int)head,
        text, tail - head, len, lines, all, text + tail);
}
