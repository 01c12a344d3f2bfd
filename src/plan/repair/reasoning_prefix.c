// reasoning_prefix.c - where an answer begins behind what its model has thought aloud.
//
// What was only considered is no answer, and there may be whole answers in it. So all up to the end of the last
// thought is passed over, in whatever signs a model puts it; a thought that has no end has no answer behind it.
#include "pons/plan.h"

#include <string.h>
#include <strings.h>

static const struct {
    const char *open, *close;
} signs[] = {
    {"<think>", "</think>"},
    {"<thinking>", "</thinking>"},
    {"<thought>", "</thought>"},
    {"<thoughts>", "</thoughts>"},
    {"<reasoning>", "</reasoning>"},
    {"<reflection>", "</reflection>"},
    {"<analysis>", "</analysis>"},
    {"<scratchpad>", "</scratchpad>"},
    {"[think]", "[/think]"},
    {"◁think▷", "◁/think▷"},
    {"<|begin_of_thought|>", "<|end_of_thought|>"},
    {"<|channel|>analysis", "<|channel|>final"},
};
#define N_SIGNS (sizeof signs / sizeof signs[0])

// Where a sign is, whatever its case; NULL: nowhere.
static const char *find(const char *from, const char *end, const char *sign)
{
    const size_t n = strlen(sign);
    for (const char *at = from; (size_t)(end - at) >= n; at++) {
        at = memchr(at, *sign, (size_t)(end - at));
        if (!at || (size_t)(end - at) < n) {
            return NULL;
        }
        if (strncasecmp(at, sign, n) == 0) {
            return at;
        }
    }
    return NULL;
}

const char *pons_reply_behind_thoughts(const char *text, size_t len)
{
    const char *end = text + len, *behind = text, *start = text;
    while (start < end && strchr(" \t\r\n", *start)) {
        start++;
    }
    const bool thinks = end - start >= 7 && strncasecmp(start, "[think]", 7) == 0;
    if (start < end && (*start == '{' || *start == '[') && !thinks) {
        return text; // inside an answer's own text the signs mean nothing
    }
    for (size_t i = 0; i < N_SIGNS; i++) {
        for (const char *at = start; (at = find(at, end, signs[i].close));
             behind = at > behind ? at : behind) {
            at += strlen(signs[i].close);
        }
    }
    const char *brace = memchr(behind, '{', (size_t)(end - behind));
    for (size_t i = 0; i < N_SIGNS; i++) {
        if (find(behind, brace ? brace : end, signs[i].open)) {
            return NULL;
        }
    }
    return behind;
}
