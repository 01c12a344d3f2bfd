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

static const char *past_quote_marks(const char *s, const char *end)
{
    while (s < end && (*s == ' ' || *s == '\t' || *s == '>')) {
        s++;
    }
    return s;
}

// The first line with the fence from `body` on, else the last fence behind the text on its line, else the end.
static void find_fence_end(const pons__lenient *r, const char *body, const char *fence,
                           const char **ret_end, const char **ret_after)
{
    for (const char *l = body, *next; l < r->text_end; l = next) {
        const char *nl = memchr(l, '\n', (size_t)(r->text_end - l));
        next = nl ? nl + 1 : r->text_end;
        if (pons__lenient_starts(past_quote_marks(l, r->text_end), r->text_end, fence)) {
            *ret_end = l;
            *ret_after = next;
            return;
        }
    }
    const char *hit = NULL;
    for (const char *tail = body;
         (tail = memmem(tail, (size_t)(r->text_end - tail), fence, 3)) != NULL; tail += 3) {
        hit = tail;
    }
    *ret_end = hit ? hit : r->text_end;
    *ret_after = hit ? hit + 3 : r->text_end;
}

// The next fenced block from `from` on: its body. false: none.
bool pons__lenient_next_fence(pons__lenient *r, const char *from, const char **ret_body,
                              const char **ret_end, const char **ret_after)
{
    for (const char *line = from, *next; line < r->text_end; line = next) {
        const char *newline = pons__lenient_look_ahead(r, &r->newline, line, "\n");
        const char *line_end = newline < r->text_end ? newline : r->text_end;
        next = newline < r->text_end ? newline + 1 : r->text_end;
        const char *s = past_quote_marks(line, next);
        if (!pons__lenient_starts(s, next, "```") && !pons__lenient_starts(s, next, "~~~")) {
            continue;
        }
        const char fence[4] = {*s, *s, *s, '\0'};
        const char *inner = s + 3; // a one-line block: ```{"goal": …}```
        const char *closed = memmem(inner, (size_t)(line_end - inner), fence, 3);
        *ret_body = closed ? inner : next;
        *ret_end = closed;
        *ret_after = closed ? closed + 3 : NULL;
        if (!closed) {
            find_fence_end(r, next, fence, ret_end, ret_after);
        }
        return true;
    }
    return false;
}

// The bytes of a list's mark, a prompt, or a word that may stand before a call.
static size_t mark_length(const char *s, const char *end)
{
    static const char *const marks[] = {"- ", "* ", "> ", ">>> ", "await ", "yield ", "return "};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        if (pons__lenient_starts(s, end, marks[i])) {
            return strlen(marks[i]);
        }
    }
    const char *digits = s;
    while (digits < end && isdigit((unsigned char)*digits)) {
        digits++;
    }
    return digits > s && (pons__lenient_starts(digits, end, ". ") ||
                          pons__lenient_starts(digits, end, ") "))
               ? (size_t)(digits - s) + 2
               : 0;
}

// Where the line of s begins to say something: list marks, await, an assignment are passed over.
const char *pons__lenient_line_text(const char *s, const char *end)
{
    for (size_t n = 1; n > 0; s += n) {
        s = pons__lenient_pass_blanks(s, end);
        n = mark_length(s, end);
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

static bool all_closers(const char *s, const char *to)
{
    while (s < to && (*s == ']' || *s == '}' || *s == ')')) {
        s++;
    }
    return s == to;
}

// Whether there is text beyond the lines of fences and the tags.
static bool has_prose(const char *s, const char *to)
{
    bool in_tag = false, in_fence = false;
    for (; s < to; s++) {
        if (pons__lenient_starts(s, to, "```") || pons__lenient_starts(s, to, "~~~")) {
            in_fence = true;
        }
        if (*s == '\n') {
            in_fence = false;
        }
        if (*s == '<' || pons__lenient_starts(s, to, "[TOOL_CALLS]")) {
            in_tag = true;
        }
        if (!in_tag && !in_fence && pons__lenient_pass_separators(s, s + 1) == s) {
            return true;
        }
        if (*s == '>' || *s == ']') {
            in_tag = false;
        }
    }
    return false;
}

// Tells what stood between the pieces.
void pons__lenient_tell_gap(pons__lenient *r, const char *from, const char *to)
{
    const char *s = pons__lenient_pass_separators(from, to);
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
    if (all_closers(s, to)) {
        pons__lenient_tell(r, PONS_REPAIR_EXTRA_CLOSER, s, "%.*s closes nothing, left out", (int)n,
                           s);
    } else if (has_prose(s, to)) {
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

// Back from s over bytes of a set.
static const char *back_over(const char *from, const char *s, const char *set)
{
    while (s > from && s[-1] && strchr(set, s[-1])) {
        s--;
    }
    return s;
}

static bool is_function_name(const char *from, const char *to)
{
    for (const char *c = from + 1; c < to; c++) {
        if ((c + 1 < to && (*c == '_' || *c == '.')) ||
            (isupper((unsigned char)*c) && islower((unsigned char)c[-1]))) {
            return true;
        }
    }
    return false;
}

// A name on a line of its own right before an object that is only arguments, as GLM-4 calls: the
// name must look like a function's (f_g, f.g, fG), for a word may be a headline.
bool pons__lenient_name_line(const pons__lenient *r, const char *s, const char **ret_name,
                             size_t *ret_len)
{
    const char *object_at = s;
    s = back_over(r->text, s, " \t\r");
    if (s == r->text || s[-1] != '\n') {
        return false;
    }
    const char *to = back_over(r->text, s - 1, " \r"), *from = to;
    while (from > r->text && !pons__lenient_blank(from[-1])) {
        from--;
    }
    const char *before = back_over(r->text, from, " \t");
    const bool alone = before == r->text || before[-1] == '\n';
    *ret_name = from;
    *ret_len = (size_t)(to - from);
    return alone && is_function_name(from, to) && pons__lenient_word_start(*from) &&
           pons__lenient_word_end(from, to) == to && *ret_len < PONS__LENIENT_WORD &&
           !says_what_it_is(r, object_at);
}
