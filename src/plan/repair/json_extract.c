// json_extract.c - where a plan may begin in what a model wrote, and what stands around it.
#include "plan/repair/repair.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

// Behind the thoughts; one without its end leaves nothing.
int pons__lenient_pass_thinking(pons__lenient *r)
{
    const char *start = pons__lenient_pass_blanks(r->at, r->end);
    const char *behind = pons_reply_behind_thoughts(r->at, (size_t)(r->end - r->at));
    if (!behind) {
        return pons__lenient_refuse(r, start,
                                    "the thinking has no end, so there is no plan behind it");
    }
    if (behind > r->at) {
        pons__lenient_tell(r, PONS_REPAIR_THINKING, start, "thinking before the plan, left out");
        r->at = behind;
    }
    return PONS_OK;
}

// The next fenced block from `from` on: its body. false: none.
bool pons__lenient_next_fence(pons__lenient *r, const char *from, const char **ret_body,
                              const char **ret_end, const char **ret_after)
{
    for (const char *line = from; line < r->text_end;) {
        const char *ahead_at = pons__lenient_look_ahead(r, &r->newline, line, "\n");
        const char *newline = ahead_at < r->text_end ? ahead_at : NULL;
        const char *next = newline ? newline + 1 : r->text_end;
        const char *s = line;
        while (s < next && (*s == ' ' || *s == '\t' || *s == '>')) {
            s++;
        }
        if (!pons__lenient_starts(s, next, "```") && !pons__lenient_starts(s, next, "~~~")) {
            line = next;
            continue;
        }
        const char fence[4] = {*s, *s, *s, '\0'};
        *ret_body = next;
        // A one-line block: ```{"goal": …}```
        const char *inner = s + 3;
        const char *closed = newline ? memmem(inner, (size_t)(newline - inner), fence, 3)
                                     : memmem(inner, (size_t)(next - inner), fence, 3);
        if (closed) {
            *ret_body = inner;
            *ret_end = closed;
            *ret_after = closed + 3;
            return true;
        }
        for (const char *l = next; l < r->text_end;) {
            const char *nl = memchr(l, '\n', (size_t)(r->text_end - l));
            const char *c = l;
            while (c < r->text_end && (*c == ' ' || *c == '\t' || *c == '>')) {
                c++;
            }
            if (pons__lenient_starts(c, r->text_end, fence)) {
                *ret_end = l;
                *ret_after = nl ? nl + 1 : r->text_end;
                return true;
            }
            l = nl ? nl + 1 : r->text_end;
        }
        // The last fence behind the text on its line, or none at all.
        const char *tail = next;
        const char *hit = NULL;
        while ((tail = memmem(tail, (size_t)(r->text_end - tail), fence, 3)) != NULL) {
            hit = tail;
            tail += 3;
        }
        *ret_end = hit ? hit : r->text_end;
        *ret_after = hit ? hit + 3 : r->text_end;
        return true;
    }
    return false;
}

// Where the line of s begins to say something: list marks, await, an assignment are passed over.
const char *pons__lenient_line_text(const char *s, const char *end)
{
    for (;;) {
        s = pons__lenient_pass_blanks(s, end);
        const char *digits = s;
        while (digits < end && isdigit((unsigned char)*digits)) {
            digits++;
        }
        if (pons__lenient_starts(s, end, "- ") || pons__lenient_starts(s, end, "* ") ||
            pons__lenient_starts(s, end, "> ")) {
            s += 2;
        } else if (pons__lenient_starts(s, end, ">>> ")) {
            s += 4;
        } else if (digits > s && (pons__lenient_starts(digits, end, ". ") ||
                                  pons__lenient_starts(digits, end, ") "))) {
            s = digits + 2;
        } else if (pons__lenient_starts(s, end, "await ") ||
                   pons__lenient_starts(s, end, "yield ")) {
            s += 6;
        } else if (pons__lenient_starts(s, end, "return ")) {
            s += 7;
        } else {
            break;
        }
    }
    const char *name = pons__lenient_word_end(s, end);
    const char *after = pons__lenient_pass_blanks(name, end);
    if (name > s && pons__lenient_word_start(*s) && after + 1 < end && *after == '=' &&
        after[1] != '=') {
        after = pons__lenient_pass_blanks(after + 1, end);
        if (pons__lenient_starts(after, end, "await ")) {
            after += 6;
        }
        if (pons__lenient_call_at(after, end)) {
            return after;
        }
    }
    return s;
}

// Tells what stood between the pieces.
void pons__lenient_tell_gap(pons__lenient *r, const char *from, const char *to)
{
    const char *s = from;
    while (s < to && (pons__lenient_blank(*s) || *s == ',' || *s == ';')) {
        s++;
    }
    if (s >= to) {
        s = pons__lenient_pass_blanks(from, to);
        if (s < to && to == r->text_end) {
            pons__lenient_tell(r, *s == ',' ? PONS_REPAIR_TRAILING_COMMA : PONS_REPAIR_SEPARATOR, s,
                               "%c behind the plan, left out", *s);
        }
        return;
    }
    const size_t n = (size_t)(to - s);
    const bool fence = memmem(s, n, "```", 3) || memmem(s, n, "~~~", 3);
    const bool mistral = memmem(s, n, "[TOOL_CALLS]", 12);
    const char *angle = memchr(s, '<', n);
    const bool tag = mistral || (angle && memchr(angle, '>', (size_t)(to - angle)));
    if (fence) {
        pons__lenient_tell(r, PONS_REPAIR_FENCE, s, "a code fence, left out");
    }
    if (tag) {
        pons__lenient_tell(r, PONS_REPAIR_TAG, s, "a tag around the plan, left out");
    }
    size_t letters = 0; // beyond the fence's line and the tags
    bool in_tag = false, in_fence = false;
    for (const char *c = s; c < to; c++) {
        if (pons__lenient_starts(c, to, "```") || pons__lenient_starts(c, to, "~~~")) {
            in_fence = true;
        }
        if (*c == '\n') {
            in_fence = false;
        }
        if (*c == '<' || pons__lenient_starts(c, to, "[TOOL_CALLS]")) {
            in_tag = true;
        }
        letters += !in_tag && !in_fence && !pons__lenient_blank(*c) && *c != ',' && *c != ';';
        if (*c == '>' || *c == ']') {
            in_tag = false;
        }
    }
    bool closers = true;
    for (const char *c = s; c < to; c++) {
        closers = closers && (*c == ']' || *c == '}' || *c == ')');
    }
    if (closers) {
        pons__lenient_tell(r, PONS_REPAIR_EXTRA_CLOSER, s, "%.*s closes nothing, left out", (int)n,
                           s);
    } else if (letters > 0) {
        pons__lenient_tell(r, PONS_REPAIR_PROSE, s, "text around the plan, left out");
    }
}

// <function=NAME> right before the object: NAME.
bool pons__lenient_function_tag(const pons__lenient *r, const char *s, const char **ret_name,
                                size_t *ret_len)
{
    static const char open[] = "<function=";
    while (s > r->text && pons__lenient_blank(s[-1])) {
        s--;
    }
    if (s == r->text || s[-1] != '>') {
        return false;
    }
    const char *close = --s;
    while (s > r->text && s[-1] != '<' && s[-1] != '\n' && close - s < PONS__LENIENT_WORD) {
        s--;
    }
    if (s == r->text || !pons__lenient_starts(--s, r->end, open)) {
        return false;
    }
    *ret_name = s + sizeof open - 1;
    *ret_len = (size_t)(close - *ret_name);
    return *ret_len > 0 && pons__lenient_word_end(*ret_name, close) == close;
}

// Whether an object has a member of a plan or of a call, as far as can be seen before it is read.
static bool says_what_it_is(const pons__lenient *r, const char *s)
{
    static const char *const keys[] = {"goal", "steps",     "plan",       "tool_calls",
                                       "name", "arguments", "parameters", "action"};
    int depth = 0;
    while (s < r->end) {
        const char *after = pons__lenient_quoted_end(s, r->end);
        if (!after) {
            depth += (*s == '{' || *s == '[') - (*s == '}' || *s == ']');
            if (depth == 0) {
                return false;
            }
            s++;
            continue;
        }
        const char *colon = pons__lenient_pass_blanks(after, r->end);
        for (size_t k = 0; k < sizeof keys / sizeof *keys && depth == 1; k++) {
            if (pons__lenient_colon_length(colon, r->end) &&
                pons__lenient_starts(s + 1, r->end, keys[k]) &&
                pons__lenient_quoted_end(s, r->end) == s + 2 + strlen(keys[k])) {
                return true;
            }
        }
        s = after;
    }
    return false;
}

// A name on a line of its own right before an object that is only arguments, as GLM-4 calls: the
// name must look like a function's (f_g, f.g, fG), for a word may be a headline.
bool pons__lenient_name_line(const pons__lenient *r, const char *s, const char **ret_name,
                             size_t *ret_len)
{
    const char *object_at = s;
    while (s > r->text && (s[-1] == ' ' || s[-1] == '\t' || s[-1] == '\r')) {
        s--;
    }
    if (s == r->text || s[-1] != '\n') {
        return false;
    }
    const char *to = s - 1;
    while (to > r->text && (to[-1] == ' ' || to[-1] == '\r')) {
        to--;
    }
    const char *from = to;
    while (from > r->text && !pons__lenient_blank(from[-1])) {
        from--;
    }
    const char *before = from;
    while (before > r->text && (before[-1] == ' ' || before[-1] == '\t')) {
        before--;
    }
    const bool alone = before == r->text || before[-1] == '\n';
    bool function = false;
    for (const char *c = from; c < to; c++) {
        function = function || (c > from && c + 1 < to && (*c == '_' || *c == '.')) ||
                   (c > from && isupper((unsigned char)*c) && islower((unsigned char)c[-1]));
    }
    *ret_name = from;
    *ret_len = (size_t)(to - from);
    return alone && function && pons__lenient_word_start(*from) &&
           pons__lenient_word_end(from, to) == to && *ret_len < PONS__LENIENT_WORD &&
           !says_what_it_is(r, object_at);
}
