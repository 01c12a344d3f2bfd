// repair_separators.c - what stands between the values of the lenient grammar.
#include "plan/repair/repair.h"

#include <ctype.h>
#include <string.h>

// Blanks, and comments, which are told.
int pons__lenient_skip(pons__lenient *r)
{
    static const char *const odd[] = {"\f",           "\v",           "\xc2\xa0",
                                      "\xe3\x80\x80", "\xe2\x80\x8b", "\xef\xbb\xbf",
                                      "\xe2\x80\xa8", "\xe2\x80\xa9", NULL};
    while (r->at < r->end) {
        const char *start = r->at;
        r->at = pons__lenient_pass_blanks(r->at, r->end);
        for (const char *const *o = odd; *o; o++) {
            if (pons__lenient_starts(r->at, r->end, *o)) {
                pons__lenient_tell(r, PONS_REPAIR_SEPARATOR, r->at,
                                   "a blank that JSON does not have");
                r->at += strlen(*o);
            }
        }
        if (pons__lenient_starts(r->at, r->end, "//") || pons__lenient_starts(r->at, r->end, "#")) {
            pons__lenient_tell(r, PONS_REPAIR_COMMENT, r->at, "a comment, left out");
            while (r->at < r->end && *r->at != '\n') {
                r->at++;
            }
        } else if (pons__lenient_starts(r->at, r->end, "/*") ||
                   pons__lenient_starts(r->at, r->end, "<!--")) {
            const char *close = *r->at == '/' ? "*/" : "-->";
            const char *end = memmem(r->at + 2, (size_t)(r->end - r->at) - 2, close, strlen(close));
            if (!end) {
                return pons__lenient_refuse(r, r->at, "this comment has no end");
            }
            pons__lenient_tell(r, PONS_REPAIR_COMMENT, r->at, "a comment, left out");
            r->at = end + strlen(close);
        }
        if (r->at == start) {
            break;
        }
    }
    return PONS_OK;
}

int pons__lenient_push(pons__lenient *r, char closer)
{
    if (r->depth == PONS__LENIENT_DEPTH) {
        return pons__lenient_refuse(r, r->at, "nested deeper than %d", PONS__LENIENT_DEPTH);
    }
    r->closers[r->depth++] = closer;
    r->last = PONS__LAST_OPEN;
    return PONS_OK;
}

// The closer that stands at r->at as its ASCII character, or 0.
char pons__lenient_closer_at(const pons__lenient *r, size_t *ret_len)
{
    *ret_len = 1;
    if (r->at < r->end && (*r->at == '}' || *r->at == ']' || *r->at == ')')) {
        return *r->at;
    }
    *ret_len = 3;
    return pons__lenient_starts(r->at, r->end, "｝")   ? '}'
           : pons__lenient_starts(r->at, r->end, "］") ? ']'
           : pons__lenient_starts(r->at, r->end, "）") ? ')'
                                                       : '\0';
}

// At the end of a container: 1 when it is closed (its closer consumed, or missing and told), 0 when
// not.
int pons__lenient_try_close(pons__lenient *r)
{
    const char closer = r->closers[r->depth - 1];
    size_t len;
    if (r->at == r->end) {
        if (r->last == PONS__LAST_OPEN) {
            return pons__lenient_refuse(r, r->at, "the text ends in the middle of a plan");
        }
        if (r->last != PONS__LAST_CLOSED) { // more may have followed: parameters, a condition
            return pons__lenient_refuse(
                r, r->at, "the text ends inside of an object or a list; it may be cut");
        }
        pons__lenient_tell(r, PONS_REPAIR_MISSING_CLOSER, r->at, "%c is missing at the end",
                           closer);
        r->depth--;
        return 1;
    }
    const char c = pons__lenient_closer_at(r, &len);
    if (!c) {
        return 0;
    }
    if (c == closer) {
        if (len > 1) {
            pons__lenient_tell(r, PONS_REPAIR_SEPARATOR, r->at, "a full-width %c", c);
        }
        r->at += len;
        r->depth--;
        r->last = PONS__LAST_CLOSED;
        return 1;
    }
    for (int i = r->depth - 2; i >= 0; i--) {
        if (r->closers[i] == c && r->last != PONS__LAST_OPEN) {
            pons__lenient_tell(r, PONS_REPAIR_MISSING_CLOSER, r->at, "%c is missing before %c",
                               closer, c);
            r->depth--;
            r->last = PONS__LAST_CLOSED;
            return 1;
        }
    }
    return pons__lenient_refuse(r, r->at, "%c where %c should close", c, closer);
}

// A comma or what stands for one: 1 when consumed.
int pons__lenient_comma(pons__lenient *r)
{
    if (r->at == r->end) {
        return 0;
    }
    if (*r->at == ',') {
        r->at++;
    } else if (*r->at == ';') {
        pons__lenient_tell(r, PONS_REPAIR_SEPARATOR, r->at, "; for a comma");
        r->at++;
    } else if (pons__lenient_starts(r->at, r->end, "，") ||
               pons__lenient_starts(r->at, r->end, "、") ||
               pons__lenient_starts(r->at, r->end, "；")) {
        pons__lenient_tell(r, PONS_REPAIR_SEPARATOR, r->at, "a full-width comma");
        r->at += 3;
    } else {
        return 0;
    }
    r->last = PONS__LAST_OPEN;
    return 1;
}

static bool value_start(const pons__lenient *r)
{
    return r->at < r->end && (pons__lenient_quote_at(r->at, r->end) || *r->at == '{' ||
                              *r->at == '[' || isdigit((unsigned char)*r->at) || *r->at == '-');
}

int pons__lenient_colon(pons__lenient *r, const char *wanted)
{
    const char *at = r->at;
    const size_t n = pons__lenient_colon_length(r->at, r->end);
    if (n == 0) {
        if (r->at == r->end) {
            return pons__lenient_refuse(r, r->at, "the text ends behind a key");
        }
        if (*wanted == '=' || !value_start(r)) {
            return pons__lenient_refuse(r, r->at, "%s should stand here",
                                        *wanted == '=' ? "=" : "a colon");
        }
        pons__lenient_tell(r, PONS_REPAIR_MISSING_COLON, r->at, "a colon is missing");
        return PONS_OK;
    }
    r->at += n;
    if (n > 1 || *at != *wanted) {
        pons__lenient_tell(r, PONS_REPAIR_SEPARATOR, at, "%.*s for %s", (int)n, at, wanted);
    }
    if (r->at < r->end && *at == ':' && (*r->at == ':' || *r->at == '=')) {
        pons__lenient_tell(r, PONS_REPAIR_SEPARATOR, r->at, "%c once more", *r->at);
        r->at++;
    }
    return PONS_OK;
}

// Before a member: commas with nothing before them, and one before the end. 1: the object is closed,
// 2: it is closed by the { that follows, 0: a member follows.
int pons__lenient_before_member(pons__lenient *r, char closer, bool first)
{
    int rc = pons__lenient_skip(r);
    const char *before = r->at;
    while (rc >= 0 && pons__lenient_comma(r) > 0) { // with nothing before it
        pons__lenient_tell(r, PONS_REPAIR_EXTRA_COMMA, before, "a comma with nothing before it");
        rc = pons__lenient_skip(r);
        before = r->at;
    }
    if (rc < 0) {
        return rc;
    }
    size_t closer_len;
    if (!first && r->last == PONS__LAST_OPEN && pons__lenient_closer_at(r, &closer_len)) {
        pons__lenient_tell(r, PONS_REPAIR_TRAILING_COMMA, r->at, "a comma before the end");
        r->last = PONS__LAST_WHOLE;
    }
    if (first && pons__lenient_closer_at(r, &closer_len) == closer) {
        r->last = PONS__LAST_WHOLE;
    }
    rc = pons__lenient_try_close(r);
    if (rc != 0) {
        return rc < 0 ? rc : 1;
    }
    if (!first && *r->at == '{' && closer == '}' && r->depth >= 2 &&
        r->closers[r->depth - 2] == ']') {
        pons__lenient_tell(r, PONS_REPAIR_MISSING_CLOSER, r->at, "} is missing before {");
        r->depth--;
        r->last = PONS__LAST_WHOLE;
        return 2; // the comma that belongs to the array is consumed already
    }
    return 0;
}

// Behind a member. 1: the object is closed, 0: another member follows.
int pons__lenient_after_member(pons__lenient *r, char closer, int ended)
{
    if (pons__lenient_comma(r) > 0) {
        return 0;
    }
    if (ended == 2) { // a list that this object's next key has ended
        r->last = PONS__LAST_OPEN;
        return 0;
    }
    if (r->at < r->end && pons__lenient_key_at(r->at, r->end)) {
        pons__lenient_tell(r, PONS_REPAIR_MISSING_COMMA, r->at, "a comma is missing");
        return 0;
    }
    const int rc = pons__lenient_try_close(r);
    return rc != 0 ? rc : pons__lenient_refuse(r, r->at, "a comma or %c should stand here", closer);
}
