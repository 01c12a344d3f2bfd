// prompt_budget.c - how much a text takes of a prompt, and values made smaller until they fit. Any thread.
//
// Tokens are estimated, on the high side: a third of the bytes of ASCII, half of the others (a
// Chinese character has three). A server that tells its count of a prompt corrects the estimate of
// the next.
#include "brain/model/prompt_budget.h"

#include "pons/printable.h"

#include <math.h>

#define PLACES         1e3 // to which a number is rounded
#define MESSAGE_TOKENS 8   // that a server adds to each message

// Bytes as JSON has them on the wire.
static pons__room size_of(const char *text)
{
    long ascii = 0, other = 0, escaped = 0;
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        ascii += *c < 0x80;
        other += *c >= 0x80;
        escaped += *c == '"' || *c == '\\' || *c == '\n' ? 1 : *c < 0x20 ? 5 : 0;
    }
    return (pons__room){.bytes = ascii + other + escaped,
                        .tokens = ascii / 3 + other / 2 + MESSAGE_TOKENS};
}

bool pons__room_fits(pons__room r, const char *text)
{
    const pons__room size = size_of(text);
    return size.bytes <= r.bytes && size.tokens <= r.tokens;
}

void pons__room_take(pons__room *r, const char *text)
{
    const pons__room size = size_of(text);
    r->bytes -= size.bytes;
    r->tokens -= size.tokens;
}

bool pons__room_add(pons__room *r, const char *text)
{
    pons__room size = size_of(text);
    size.tokens -= MESSAGE_TOKENS;
    const bool fits = size.bytes <= r->bytes && size.tokens <= r->tokens;
    r->bytes -= fits ? size.bytes : 0;
    r->tokens -= fits ? size.tokens : 0;
    return fits;
}

pons__room pons__room_part(pons__room r, int parts)
{
    return (pons__room){.bytes = r.bytes / parts, .tokens = r.tokens / parts};
}

// A copy with no text longer than text_max bytes and no list or object longer than list_max.
pons_value *pons__shortened(const pons_value *v, size_t text_max, size_t list_max)
{
    size_t i;
    json_t *item;
    const char *key;
    if (json_is_string(v) && json_string_length(v) > text_max) {
        const char *text = json_string_value(v);
        return json_sprintf("%.*s…", (int)pons_text_whole(text, text_max), text);
    }
    if (json_is_array(v)) {
        pons_value *list = json_array();
        json_array_foreach(v, i, item) {
            if (i < list_max) {
                json_array_append_new(list, pons__shortened(item, text_max, list_max));
            }
        }
        return list;
    }
    if (json_is_object(v)) {
        pons_value *object = json_object();
        i = 0;
        json_object_foreach((json_t *)v, key, item) {
            if (i++ < list_max + 16) { // the observation's own members are fewer
                json_object_set_new(object, key, pons__shortened(item, text_max, list_max));
            }
        }
        return object;
    }
    return pons_value_ref(v);
}

// A copy with its numbers to three places, which is more than any decision needs.
pons_value *pons__rounded(const pons_value *v)
{
    if (json_is_real(v)) {
        const double x = json_real_value(v);
        return json_real(isfinite(x) ? round(x * PLACES) / PLACES : 0.0);
    }
    if (json_is_array(v)) {
        pons_value *list = json_array();
        pons_each(item, v) {
            json_array_append_new(list, pons__rounded(item));
        }
        return list;
    }
    if (json_is_object(v)) {
        pons_value *object = json_object();
        pons_each_member(key, item, v) {
            json_object_set_new(object, key, pons__rounded(item));
        }
        return object;
    }
    return pons_value_ref(v);
}
