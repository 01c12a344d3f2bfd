// surrogates.c - a character beyond U+FFFF is two escapes in JSON, "\ud83d\ude00". Programs that cut a text between
// them send one half, and where they send it in pieces, the other at the head of the next one's string.
#include "pons/surrogates.h"

#include <ctype.h>
#include <string.h>

#define ESCAPE 6 // bytes of \uXXXX

typedef enum half { NONE, HIGH, LOW } half;

static half half_at(const char *at, const char *end)
{
    if (end - at < ESCAPE || at[0] != '\\' || at[1] != 'u' || (at[2] != 'd' && at[2] != 'D')) {
        return NONE;
    }
    for (int i = 3; i < ESCAPE; i++) {
        if (!isxdigit((unsigned char)at[i])) {
            return NONE;
        }
    }
    if (strchr("01234567", at[3])) {
        return NONE;
    }
    return strchr("89abAB", at[3]) ? HIGH : LOW;
}

void pons_surrogates_replace(char *at)
{
    if (at) {
        static const char unknown[ESCAPE] = {'\\', 'u', 'f', 'f', 'f', 'd'};
        memcpy(at, unknown, ESCAPE);
    }
}

void pons_surrogates_find(char *text, size_t n, char **ret_head, char **ret_tail)
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
            pons_surrogates_replace(*ret_tail);
            *ret_tail = at;
        } else if (h == LOW && at == start && !*ret_head) {
            *ret_head = at;
        } else if (h != NONE) {
            pons_surrogates_replace(at);
        }
        at += h == NONE ? 1 : ESCAPE - 1;
    }
}

int pons_surrogates_join(pons_buf *held, size_t high, pons_buf *text, char *low)
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

bool pons_surrogates_any(const char *text, size_t n)
{
    return memmem(text, n, "\\ud", 3) || memmem(text, n, "\\uD", 3);
}

int pons_surrogates_parse(const char *text, size_t n, pons_value **ret, pons_error *err)
{
    const int rc = pons_value_parse(text, n, ret, err);
    char *head = NULL, *tail = NULL;
    pons_autobuf own = PONS_BUF_INIT;
    if (rc != PONS_EINVAL || !pons_surrogates_any(text, n) ||
        pons_buf_bytes(&own, text, n) != PONS_OK) {
        return rc;
    }
    pons_surrogates_find(own.data, own.len, &head, &tail);
    pons_surrogates_replace(head);
    pons_surrogates_replace(tail);
    return pons_value_parse(own.data, own.len, ret, &(pons_error)PONS_ERROR_INIT) < 0 ? rc
                                                                                      : PONS_OK;
}
