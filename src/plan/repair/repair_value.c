// repair_value.c - the lenient grammar: objects, lists, calls, words. It is committed: it writes strict JSON, or it
// refuses with the position.
#include "plan/json_tokens.h"
#include "plan/repair/repair.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static int key(pons__lenient *r)
{
    const char *start = r->at;
    pons__lenient_mark(r, start);
    if (pons__lenient_quote_at(r->at, r->end)) {
        return pons__lenient_string(r, true, false);
    }
    while (r->at < r->end && (pons__lenient_word_byte(*r->at) || (*r->at == '-' && r->at > start) ||
                              pons__lenient_escaped_underscore(r->at, r->end))) {
        r->at += *r->at == '\\' ? 2 : 1;
    }
    if (r->at == start) {
        return pons__lenient_refuse(r, r->at, "a key should stand here");
    }
    if (r->closers[r->depth - 1] != ')') { // named arguments have no quotes
        pons__lenient_tell(r, PONS_REPAIR_UNQUOTED_KEY, start, "the key %.*s without quotes",
                           (int)(r->at - start), start);
    }
    pons__lenient_emit_name(r, start, (size_t)(r->at - start));
    return PONS_OK;
}

// The members of an object; r->at is behind the opener. With colon "=": named arguments.
int pons__lenient_object(pons__lenient *r, const char *opener, char closer,
                         const char *wanted_colon)
{
    int rc = pons__lenient_push(r, closer);
    if (*opener == '\0' || *opener == '(') { // of a { its value is marked already
        pons__lenient_mark(r, r->at);
    }
    pons__lenient_emit(r, "{");
    for (bool first = true;; first = false) {
        rc = rc < 0 ? rc : pons__lenient_before_member(r, closer, first);
        if (rc < 0) {
            return rc;
        }
        if (rc > 0) {
            pons__lenient_emit(r, "}");
            return rc == 2 ? 2 : PONS_OK;
        }
        if (!first) {
            pons__lenient_emit(r, ",");
        }
        rc = key(r);
        rc = rc < 0 ? rc : pons__lenient_skip(r);
        rc = rc < 0 ? rc : pons__lenient_colon(r, wanted_colon);
        r->last = PONS__LAST_OPEN;
        rc = rc < 0 ? rc : pons__lenient_skip(r);
        pons__lenient_emit(r, ":");
        rc = rc < 0 ? rc : pons__lenient_value(r, false);
        const int ended = rc;
        rc = rc < 0 ? rc : pons__lenient_skip(r);
        rc = rc < 0 ? rc : pons__lenient_after_member(r, closer, ended);
        if (rc < 0) {
            return rc;
        }
        if (rc > 0) {
            pons__lenient_emit(r, "}");
            return PONS_OK;
        }
    }
}

// Passes commas before which an element is missing; container: an object or a list stands before them.
static int extra_commas(pons__lenient *r, bool container)
{
    for (;;) {
        const int rc = pons__lenient_skip(r);
        const char *before = r->at;
        if (rc < 0) {
            return rc;
        }
        if (r->last != PONS__LAST_OPEN || r->at >= r->end || pons__lenient_comma(r) <= 0) {
            return PONS_OK;
        }
        if (!container) {
            return pons__lenient_refuse(r, before, "a comma with nothing before it in a list");
        }
        pons__lenient_tell(r, PONS_REPAIR_EXTRA_COMMA, before, "a comma with nothing before it");
    }
}

// The closer of a list that has just begun, or behind a comma.
static void trailing_comma(pons__lenient *r, char closer, bool empty)
{
    size_t len;
    const char found = r->last == PONS__LAST_OPEN ? pons__lenient_closer_at(r, &len) : '\0';
    if (found && !empty) {
        pons__lenient_tell(r, PONS_REPAIR_TRAILING_COMMA, r->at, "a comma before the end");
    }
    if (found && (!empty || found == closer)) {
        r->last = PONS__LAST_WHOLE;
    }
}

// A key of the object around an open list closes the list.
static bool key_closes(pons__lenient *r, char closer)
{
    if (!pons__lenient_key_at(r->at, r->end) || r->depth < 2 || r->closers[r->depth - 2] != '}') {
        return false;
    }
    pons__lenient_tell(r, PONS_REPAIR_MISSING_CLOSER, r->at, "%c is missing before a key", closer);
    r->depth--;
    pons__lenient_emit(r, "]");
    return true;
}

static int array(pons__lenient *r, char closer, bool calls)
{
    int rc = pons__lenient_push(r, closer), n = 0;
    bool container = false; // the element before is an object or a list
    pons__lenient_emit(r, "[");
    while (rc >= 0) {
        rc = extra_commas(r, container);
        if (rc < 0) {
            return rc;
        }
        trailing_comma(r, closer, n == 0);
        rc = pons__lenient_try_close(r);
        if (rc != 0) {
            break;
        }
        if (n > 0 && !pons__lenient_call_at(r->at, r->end) && key_closes(r, closer)) {
            r->last = PONS__LAST_WHOLE;
            return 2;
        }
        if (n++ > 0) {
            pons__lenient_emit(r, ",");
        }
        container = *r->at == '{' || *r->at == '[';
        rc = pons__lenient_value(r, calls);
        if (rc == 2) { // an object that the next one has closed
            r->last = PONS__LAST_OPEN;
            continue;
        }
        rc = rc < 0 ? rc : pons__lenient_skip(r);
        if (rc < 0) {
            return rc;
        }
        if (pons__lenient_comma(r) > 0) {
            continue;
        }
        if (container && r->at < r->end && (*r->at == '{' || *r->at == '[')) {
            pons__lenient_tell(r, PONS_REPAIR_MISSING_COMMA, r->at, "a comma is missing");
            continue;
        }
        rc = pons__lenient_try_close(r);
        if (rc != 0) {
            break;
        }
        return key_closes(r, closer) // and a comma is missing too
                   ? 3
                   : pons__lenient_refuse(r, r->at, "a comma or %c should stand here", closer);
    }
    if (rc < 0) {
        return rc;
    }
    pons__lenient_emit(r, "]");
    return PONS_OK;
}

// (1, 2) is a tuple; (1) is 1.
static int parenthesis(pons__lenient *r)
{
    const char *start = r->at++;
    const size_t open = r->out->text.len;
    const int rc = array(r, ')', false);
    if (rc != PONS_OK) {
        return rc < 0 ? rc : pons__lenient_refuse(r, start, "this parenthesis has no end");
    }
    pons_buf *b = &r->out->text;
    bool one = false;
    pons__tokens t = {0};
    if (!b->failed && pons__tokens_parse(&t, b->data + open, b->len - open, NULL) >= 0) {
        one = t.nodes[0].len == 1;
    }
    pons__tokens_fini(&t);
    const char *before = r->at - 1; // the ) itself; look for a comma in front of it
    while (before > start && (pons__lenient_blank(before[-1]))) {
        before--;
    }
    if (one && before > start && before[-1] != ',') {
        pons__lenient_tell(r, PONS_REPAIR_TUPLE, start, "parentheses around a value");
        memmove(b->data + open, b->data + open + 1, b->len - open - 2);
        b->len -= 2;
        b->data[b->len] = '\0';
    } else {
        pons__lenient_tell(r, PONS_REPAIR_TUPLE, start, "a tuple made a list");
    }
    return PONS_OK;
}

static bool is_word_of(const char *const *words, const char *s, size_t len)
{
    for (; *words; words++) {
        if (strlen(*words) == len && memcmp(s, *words, len) == 0) {
            return true;
        }
    }
    return false;
}

// f(a=1): a call to a tool, where calls may stand; one of the protocol's classes and dict
// elsewhere.
static int call(pons__lenient *r, const char *name, size_t len, bool calls)
{
    static const char *const classes[] = {"Plan", "PlanStep", "dict", "OrderedDict", NULL},
                             *const factories[] = {"Plan.create_new", NULL};
    const char *base = name + len;
    while (base > name && base[-1] != '.') {
        base--;
    }
    const size_t base_len = (size_t)(name + len - base);
    const bool plain = is_word_of(classes, base, base_len) || is_word_of(factories, name, len);
    r->at = name + len + 1;
    char member[PONS__LENIENT_WORD];
    const char *quote_start = pons__lenient_pass_blanks(r->at, r->end);
    const char *quote_end = pons__lenient_quoted_end(quote_start, r->end);
    const char *close = quote_end ? pons__lenient_pass_blanks(quote_end, r->end) : NULL;
    if (close && close < r->end && *close == ')') { // RiskLevel("low")
        snprintf(member, sizeof member, "%.*s.%.*s", (int)base_len, base,
                 (int)(quote_end - quote_start - 2), quote_start + 1);
        const char *v = pons__lenient_enum_value(member, strlen(member));
        if (v) {
            pons__lenient_tell(r, PONS_REPAIR_PYTHON_ENUM, name, "%s is \"%s\"", member, v);
            pons__lenient_emit_string(r, v, strlen(v));
            r->at = close + 1;
            r->last = PONS__LAST_WHOLE;
            return PONS_OK;
        }
    }
    if (!plain && !calls) {
        return pons__lenient_refuse(r, name, "%.*s(…) cannot be worked out", (int)len, name);
    }
    const char *first = pons__lenient_pass_comments(r, r->at);
    if (first < r->end && *first != ')' &&
        !(pons__lenient_word_start(*first) && pons__lenient_key_at(first, r->end))) {
        return pons__lenient_refuse(r, first, "an argument of %.*s without a name", (int)len, name);
    }
    pons__lenient_tell(r, PONS_REPAIR_PYTHON_CALL, name, "the call %.*s(…)", (int)len, name);
    if (!plain) {
        pons__lenient_emit(r, "{\"name\":");
        pons__lenient_emit_name(r, name, len);
        pons__lenient_emit(r, ",\"arguments\":");
    }
    const int rc = pons__lenient_object(r, "(", ')', "=");
    if (!plain) {
        pons__lenient_emit(r, "}");
    }
    return rc;
}

// What true, false and null are called, in JSON; NULL for another word.
static const char *literal_of(const char *word, size_t len)
{
    static const char *const literals[][2] = {
        {"true", "true"}, {"false", "false"}, {"null", "null"}, {"none", "null"}, {"nil", "null"}};
    for (size_t i = 0; i < sizeof literals / sizeof literals[0]; i++) {
        if (pons__lenient_is_word(word, len, literals[i][0])) {
            return literals[i][1];
        }
    }
    return NULL;
}

// A word that stands for itself, where a comma or the end of a container follows it.
static int unquoted(pons__lenient *r, const char *start, size_t word_len)
{
    while (r->at < r->end && (pons__lenient_word_byte(*r->at) || *r->at == '-')) {
        r->at++;
    }
    size_t closer_len;
    const char *after = pons__lenient_pass_comments(r, r->at);
    const bool ends = after < r->end && (*after == ',' || *after == ';');
    const char *keep = r->at;
    r->at = after;
    const bool closes = pons__lenient_closer_at(r, &closer_len) != '\0';
    r->at = keep;
    const size_t len = (size_t)(r->at - start);
    if (memchr(start, '.', word_len) || !(ends || closes)) {
        return pons__lenient_refuse(r, start, "%.*s is not a value", (int)len, start);
    }
    pons__lenient_tell(r, PONS_REPAIR_UNQUOTED_VALUE, start, "the text %.*s without quotes",
                       (int)len, start);
    pons__lenient_emit_string(r, start, len);
    r->last = PONS__LAST_NUMBER;
    return PONS_OK;
}

static int word(pons__lenient *r, bool calls)
{
    static const char *const never[] = {"undefined", "NaN",  "Infinity", "inf",
                                        "self",      "this", "Ellipsis", NULL};
    const char *start = r->at, *end = pons__lenient_word_end(start, r->end);
    const size_t len = (size_t)(end - start);
    if (end < r->end && pons__lenient_quote_at(end, r->end) && (*end == '"' || *end == '\'') &&
        (pons__lenient_is_word(start, len, "r") || pons__lenient_is_word(start, len, "u"))) {
        pons__lenient_tell(r, PONS_REPAIR_RAW_STRING, start, "a prefix of a Python string");
        r->at = end;
        return pons__lenient_string(r, false, tolower((unsigned char)*start) == 'r');
    }
    if (end < r->end && *end == '(') {
        return call(r, start, len, calls);
    }
    const char *json = literal_of(start, len);
    r->at = end;
    r->last = PONS__LAST_WHOLE;
    if (json) {
        const bool python = pons__lenient_starts(start, end, "True") ||
                            pons__lenient_starts(start, end, "False") ||
                            pons__lenient_starts(start, end, "None");
        if (python || len != strlen(json) || memcmp(start, json, len) != 0) {
            pons__lenient_tell(r, python ? PONS_REPAIR_PYTHON_LITERAL : PONS_REPAIR_LITERAL, start,
                               "%.*s is %s", (int)len, start, json);
        }
        pons__lenient_emit(r, json);
        return PONS_OK;
    }
    const char *member = pons__lenient_enum_value(start, len);
    if (member) {
        pons__lenient_tell(r, PONS_REPAIR_PYTHON_ENUM, start, "%.*s is \"%s\"", (int)len, start,
                           member);
        pons__lenient_emit_string(r, member, strlen(member));
        return PONS_OK;
    }
    for (const char *const *n = never; *n; n++) {
        if (pons__lenient_is_word(start, len, *n)) {
            return pons__lenient_refuse(r, start, "%.*s has no value in JSON", (int)len, start);
        }
    }
    return unquoted(r, start, len);
}

int pons__lenient_value(pons__lenient *r, bool calls)
{
    if (r->at == r->end) {
        return pons__lenient_refuse(r, r->at, "the text ends where a value should begin");
    }
    pons__lenient_mark(r, r->at);
    const char c = *r->at;
    if (pons__lenient_starts(r->at, r->end, "｛") || pons__lenient_starts(r->at, r->end, "［")) {
        const bool brace = pons__lenient_starts(r->at, r->end, "｛");
        pons__lenient_tell(r, PONS_REPAIR_SEPARATOR, r->at, "a full-width %c", brace ? '{' : '[');
        r->at += 3;
        return brace ? pons__lenient_object(r, "｛", '}', ":") : array(r, ']', calls);
    }
    if (c == '{' || c == '[') {
        r->at++;
        return c == '{' ? pons__lenient_object(r, "{", '}', ":") : array(r, ']', calls);
    }
    if (c == '(') {
        return parenthesis(r);
    }
    if (pons__lenient_quote_at(r->at, r->end)) {
        return pons__lenient_string(r, false, false);
    }
    if (isdigit((unsigned char)c) || c == '-' || c == '+' ||
        (c == '.' && r->at + 1 < r->end && isdigit((unsigned char)r->at[1]))) {
        return pons__lenient_number(r);
    }
    if (pons__lenient_word_start(c)) {
        return word(r, calls);
    }
    if (pons__lenient_starts(r->at, r->end, "...") || pons__lenient_starts(r->at, r->end, "…")) {
        return pons__lenient_refuse(r, r->at, "something was left out here (…)");
    }
    return pons__lenient_refuse(r, r->at, "not a value");
}
