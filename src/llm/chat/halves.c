// halves.c - a character beyond U+FFFF is two escapes in JSON, "\ud83d\ude00", and servers that cut a text
// between them send one half at the end of an event's string and the other at the head of the next one's.
#include "llm/chat/chat.h"

#include <string.h>

#define ESCAPE 6 // bytes of \uXXXX

typedef enum half { NONE, HIGH, LOW } half;

static half half_at(const char *at, const char *end)
{
    if (end - at < ESCAPE || at[0] != '\\' || at[1] != 'u' || (at[2] != 'd' && at[2] != 'D')) {
        return NONE;
    }
    return strchr("89abAB", at[3]) ? HIGH : strchr("cdefCDEF", at[3]) ? LOW : NONE;
}

void pons__halves_replace(char *at)
{
    if (at) {
        static const char unknown[ESCAPE] = {'\\', 'u', 'f', 'f', 'f', 'd'};
        memcpy(at, unknown, ESCAPE);
    }
}

void pons__halves_find(char *text, size_t n, char **ret_head, char **ret_tail)
{
    const char *start = NULL, *end = text + n; // start: of the string that is being read
    *ret_head = *ret_tail = NULL;
    for (char *at = text; at < end; at++) {
        if (*at == '"') {
            start = start ? NULL : at + 1;
        }
        if (*at != '\\') {
            continue;
        }
        const half h = half_at(at, end);
        if (h == HIGH && half_at(at + ESCAPE, end) == LOW) {
            at += 2 * ESCAPE - 1;
            continue;
        }
        const bool tail = h == HIGH && at + ESCAPE < end && at[ESCAPE] == '"';
        if (tail) {
            pons__halves_replace(*ret_tail);
            *ret_tail = at;
        } else if (h == LOW && at == start && !*ret_head) {
            *ret_head = at;
        } else if (h != NONE) {
            pons__halves_replace(at);
        }
        at += h == NONE ? 1 : ESCAPE - 1;
    }
}

int pons__halves_join(pons_buf *held, size_t high, pons_buf *text, char *low)
{
    char *end = text->data + text->len;
    if (pons_buf_bytes(held, low, ESCAPE) != PONS_OK) { // as room
        return PONS_ENOMEM;
    }
    char *behind = held->data + high + ESCAPE;
    memmove(behind + ESCAPE, behind, (size_t)(held->data + held->len - behind) - ESCAPE);
    memcpy(behind, low, ESCAPE);
    memmove(low, low + ESCAPE, (size_t)(end - low) - ESCAPE + 1);
    text->len -= ESCAPE;
    return PONS_OK;
}
