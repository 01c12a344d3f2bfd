// json_repair.c - JSON out of what a model wrote, with every repair told.
//
// The reader walks over prose until it meets what looks like a plan: `{` and a key, `[` and such an
// object or a call, or a call with named arguments that has its lines to itself. From there on it
// is committed: it parses a lenient grammar and writes strict JSON, or it refuses with the
// position. It never goes back to look for a smaller plan inside a broken one.
//
// A repair changes how something is written, never what is said: quotes, commas, brackets, Python's
// words. What could be meant in two ways is refused: text that was cut (a plan that ends behind a
// comma, a colon, a value, or in a string), 1,000, 007, unescaped quotes, two different plans.
//
//     text -- find --> candidates -- value() --> JSON, and marks: byte of JSON → byte of the text
//
// When there are fenced blocks that hold candidates, only those count. Several calls in a row are a
// list of calls.
#include "plan/json_repair.h"

#include "plan/enums.h"
#include "plan/tape.h"
#include "pons/buf.h"
#include "pons/plan.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { DEPTH_MAX = 200, WORD_MAX = 200, PIECES_MAX = 4096, COMMENTS_AHEAD_MAX = 64 };

typedef enum last { // what the text would be cut behind
    LAST_CLOSED,    // a closer
    LAST_WHOLE,     // a quote, a word of JSON
    LAST_OPEN,      // an opener, a comma, a colon: more was to come
    LAST_NUMBER     // a number or a bare word, which may be half
} last;

// Where the next of some mark is, seen from `from`: asked again from before `at`, it is the same.
// So looking ahead from every byte of a text costs no more than reading it twice.
typedef struct ahead {
    const char *from, *at; // at: the mark, or the end of the text
} ahead;

typedef struct reader {
    const char *text, *at, *end; // end: of the fenced block or the text
    const char *text_end;
    ahead newline, comment_end;
    const char *lost; // the run of [ that ends here begins no plan, from none of them
    pons__repaired *out;
    pons__places places;
    pons_plan_repair_fn fn;
    void *user;
    pons_error *err;
    char closers[DEPTH_MAX + 2];
    int depth;
    last last;
    pons_buf word; // a string being decoded
} reader;

typedef struct piece { // one candidate: where it was, where its JSON is
    const char *from, *to;
    size_t out, out_end;
} piece;

typedef struct quote { // how a string may be opened and closed
    const char *open, *close, *close_too;
} quote;
static const quote quotes[] = {
    {"\"\"\"", "\"\"\"", NULL}, {"'''", "'''", NULL}, {"\"", "\"", NULL}, {"'", "'", NULL},
    {"`", "`", NULL},           {"“", "”", "“"},      {"”", "”", "“"},    {"„", "“", "”"},
    {"‘", "’", NULL},           {"＂", "＂", NULL},   {"「", "」", NULL}, {"«", "»", NULL}};

static int find_pieces(reader *r, piece *pieces, size_t cap, size_t *ret_n);
static int join(reader *r, const piece *pieces, size_t n);
static bool looks(reader *r, const char *s, bool line_start);
static int value(reader *r, bool calls);
static int object(reader *r, const char *opener, char closer, const char *colon);
static int array(reader *r, char closer, bool calls);
static int parenthesis(reader *r);
static int string(reader *r, bool key);
static int number(reader *r);
static int word(reader *r, bool calls);
static int call(reader *r, const char *name, size_t len, bool calls);
static int skip(reader *r);
static int key(reader *r);

// ---- messages -----------------------------------------------------------------------------------

static bool looks_quoted_call(reader *r, const char *s);
static int refuse(reader *r, const char *at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static int refuse(reader *r, const char *at, const char *fmt, ...)
{
    char what[PONS_ERROR_MESSAGE_MAX];
    int line, column;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    pons_error_set(r->err, PONS_EINVAL, "plan", "%s", what);
    pons__places_find(&r->places, (size_t)(at - r->text), &line, &column);
    pons_error_source(r->err, "%d:%d", line, column);
    return PONS_EINVAL;
}

static void tell(reader *r, pons_repair_kind kind, const char *at, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
static void tell(reader *r, pons_repair_kind kind, const char *at, const char *fmt, ...)
{
    char what[PONS_ERROR_MESSAGE_MAX];
    pons_plan_repair repair = {.kind = kind, .what = what};
    if (!r->fn) {
        return;
    }
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    pons__places_find(&r->places, (size_t)(at - r->text), &repair.line, &repair.column);
    r->fn(r->user, &repair);
}

// ---- writing ------------------------------------------------------------------------------------

static void emit(reader *r, const char *s)
{
    pons_buf_str(&r->out->text, s);
}

static void emit_string(reader *r, const char *s, size_t len)
{
    pons_buf *b = &r->out->text;
    if (pons_buf_reserve(b, 6 * len + 2) < 0) {
        return;
    }
    char *end = pons__put_string(b->data + b->len, s, len);
    b->len = (size_t)(end - b->data);
    *end = '\0';
}

void pons__repaired_mark(pons__repaired *o, size_t given)
{
    if (o->n_marks == o->cap_marks) {
        const size_t cap = 2 * o->cap_marks + 64;
        pons__mark *marks = realloc(o->marks, cap * sizeof *marks);
        if (!marks) {
            o->text.failed = true;
            return;
        }
        o->marks = marks;
        o->cap_marks = cap;
    }
    o->marks[o->n_marks++] = (pons__mark){(uint32_t)o->text.len, (uint32_t)given};
}

// What is written next comes from `at`.
// A name without the marks that Markdown wants before its underscores.
static void emit_name(reader *r, const char *s, size_t len)
{
    if (!memchr(s, '\\', len)) {
        emit_string(r, s, len);
        return;
    }
    tell(r, PONS_REPAIR_MARKDOWN, s, "the name %.*s as Markdown has it", (int)len, s);
    pons_buf_clear(&r->word);
    for (size_t i = 0; i < len; i++) {
        if (s[i] != '\\') {
            pons_buf_byte(&r->word, (uint8_t)s[i]);
        }
    }
    if (r->word.failed) {
        r->out->text.failed = true;
        return;
    }
    emit_string(r, r->word.data, r->word.len);
}

static void mark(reader *r, const char *at)
{
    pons__repaired_mark(r->out, (size_t)(at - r->text));
}

void pons__repaired_fini(pons__repaired *r)
{
    pons_buf_fini(&r->text);
    free(r->marks);
    *r = (pons__repaired){0};
}

// ---- looking around -----------------------------------------------------------------------------

static bool starts(const char *s, const char *end, const char *with)
{
    const size_t n = strlen(with);
    return (size_t)(end - s) >= n && memcmp(s, with, n) == 0;
}

static bool blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool word_start(char c)
{
    return isalpha((unsigned char)c) || c == '_' || c == '$';
}

static bool word_byte(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

// An underscore as Markdown has it, which models that write for a page put into names.
static bool escaped_underscore(const char *s, const char *end)
{
    return s + 1 < end && s[0] == '\\' && s[1] == '_';
}

// The end of a word with dots in it: RiskLevel.LOW
static const char *word_end(const char *s, const char *end)
{
    while (s < end) {
        if (escaped_underscore(s, end)) {
            s += 2;
        } else if (word_byte(*s) || (*s == '.' && s + 1 < end && word_start(s[1]))) {
            s++;
        } else {
            break;
        }
    }
    return s;
}

static const char *pass_blanks(const char *s, const char *end)
{
    while (s < end && blank(*s)) {
        s++;
    }
    return s;
}

static const quote *quote_at(const char *s, const char *end)
{
    for (size_t i = 0; i < sizeof quotes / sizeof *quotes; i++) {
        if (starts(s, end, quotes[i].open)) {
            return &quotes[i];
        }
    }
    return NULL;
}

// The end of a quoted string, without a look at what is in it; NULL: not one, or no end.
static const char *quoted_end(const char *s, const char *end)
{
    const quote *q = quote_at(s, end);
    if (!q) {
        return NULL;
    }
    for (s += strlen(q->open); s < end; s++) {
        if (*s == '\\') {
            s++;
        } else if (starts(s, end, q->close)) {
            return s + strlen(q->close);
        } else if (q->close_too && starts(s, end, q->close_too)) {
            return s + strlen(q->close_too);
        }
    }
    return NULL;
}

// A mark that stands for a colon: its length, or 0.
static size_t colon_length(const char *s, const char *end)
{
    return starts(s, end, "：")                  ? strlen("：")
           : starts(s, end, "=>")                ? 2
           : s < end && (*s == ':' || *s == '=') ? 1
                                                 : 0;
}

// Whether a key and its colon stand at s.
static bool key_at(const char *s, const char *end)
{
    const char *after = s < end && (word_byte(*s) || escaped_underscore(s, end))
                            ? word_end(s, end)
                            : quoted_end(s, end);
    if (!after) {
        return false;
    }
    after = pass_blanks(after, end);
    return colon_length(after, end) > 0;
}

// f( or a.b(
static bool call_at(const char *s, const char *end)
{
    if (s == end || !word_start(*s)) {
        return false;
    }
    const char *after = word_end(s, end);
    return after < end && *after == '(';
}

// The next `mark` of the text at or behind s.
static const char *look_ahead(const reader *r, ahead *a, const char *s, const char *mark_text)
{
    const char *end = r->text_end;
    if (!a->at || s < a->from || s > a->at) {
        const char *found = memmem(s, (size_t)(end - s), mark_text, strlen(mark_text));
        *a = (ahead){.from = s, .at = found ? found : end};
    }
    return a->at;
}

// Looks ahead over so many comments at most: each { of a text may have them all in front of it.
static const char *pass_comments(reader *r, const char *s)
{
    for (int n = 0; n < COMMENTS_AHEAD_MAX; n++) {
        s = pass_blanks(s, r->end);
        if (starts(s, r->end, "//") || starts(s, r->end, "#")) {
            s = look_ahead(r, &r->newline, s, "\n");
        } else if (starts(s, r->end, "/*")) {
            const char *close = look_ahead(r, &r->comment_end, s + 2, "*/");
            s = close < r->text_end ? close + 2 : close;
        } else {
            return s;
        }
        if (s >= r->end) {
            return r->end;
        }
    }
    return pass_blanks(s, r->end);
}

static bool looks_call(reader *r, const char *s)
{
    if (!call_at(s, r->end)) {
        return false;
    }
    const char *in = pass_comments(r, word_end(s, r->end) + 1);
    if (in < r->end && *in == ')') {
        return true;
    }
    const char *name = word_end(in, r->end);
    const char *after = pass_blanks(name, r->end);
    if (in < r->end && word_start(*in) && after < r->end && *after == '=') {
        return true;
    }
    return quote_at(in, r->end) || (in < r->end && (*in == '{' || isdigit((unsigned char)*in)));
}

// 'f(x=1)'
static bool looks_quoted_call(reader *r, const char *s)
{
    const quote *q = quote_at(s, r->end);
    return q && looks_call(r, s + strlen(q->open));
}

// Whether s begins what should be a plan: then the reader is committed.
static bool looks(reader *r, const char *s, bool line_start)
{
    if (*s == '[' || starts(s, r->end, "［")) {
        if (s < r->lost) {
            return false;
        }
        while (s < r->end && (*s == '[' || starts(s, r->end, "［"))) {
            s = pass_comments(r, s + (*s == '[' ? 1 : strlen("［")));
        }
        if (s < r->end && (looks(r, s, true) || looks_call(r, s) || looks_quoted_call(r, s))) {
            return true;
        }
        r->lost = s;
        return false;
    }
    if (*s == '{' || starts(s, r->end, "｛")) {
        const char *in = pass_comments(r, s + (*s == '{' ? 1 : strlen("｛")));
        const char *after = quoted_end(in, r->end);
        if (after) {
            after = pass_blanks(after, r->end);
            return after == r->end || colon_length(after, r->end) || quote_at(after, r->end) ||
                   *after == '[' || *after == '{' || isdigit((unsigned char)*after);
        }
        if (quote_at(in, r->end)) {
            return true; // a key without an end
        }
        if (in < r->end && *in == ',' && quote_at(pass_comments(r, in + 1), r->end)) {
            return true;
        }
        return key_at(in, r->end);
    }
    return line_start && looks_call(r, s);
}

// ---- finding ------------------------------------------------------------------------------------

static const char *const thinking[] = {"think", "thinking", "reasoning", "thought", NULL};

// Behind the last </think>; a <think> without its end leaves nothing.
static int pass_thinking(reader *r)
{
    const char *start = pass_blanks(r->at, r->end);
    for (const char *const *name = thinking; *name; name++) {
        char open[32], close[32];
        snprintf(open, sizeof open, "<%s>", *name);
        snprintf(close, sizeof close, "</%s>", *name);
        const char *last_close = NULL, *s = r->at;
        while ((s = memmem(s, (size_t)(r->end - s), close, strlen(close))) != NULL) {
            last_close = s;
            s += strlen(close);
        }
        // Inside a plan's own text the words mean nothing.
        if (start < r->end && (*start == '{' || *start == '[')) {
            return PONS_OK;
        }
        if (last_close) {
            tell(r, PONS_REPAIR_THINKING, start, "thinking before the plan, left out");
            r->at = last_close + strlen(close);
            return PONS_OK;
        }
        if (starts(start, r->end, open)) {
            return refuse(r, start, "the thinking has no end, so there is no plan behind it");
        }
    }
    return PONS_OK;
}

// The next fenced block from `from` on: its body. false: none.
static bool next_fence(reader *r, const char *from, const char **ret_body, const char **ret_end,
                       const char **ret_after)
{
    for (const char *line = from; line < r->text_end;) {
        const char *ahead_at = look_ahead(r, &r->newline, line, "\n");
        const char *newline = ahead_at < r->text_end ? ahead_at : NULL;
        const char *next = newline ? newline + 1 : r->text_end;
        const char *s = line;
        while (s < next && (*s == ' ' || *s == '\t' || *s == '>')) {
            s++;
        }
        if (!starts(s, next, "```") && !starts(s, next, "~~~")) {
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
            if (starts(c, r->text_end, fence)) {
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
static const char *line_text(const char *s, const char *end)
{
    for (;;) {
        s = pass_blanks(s, end);
        const char *digits = s;
        while (digits < end && isdigit((unsigned char)*digits)) {
            digits++;
        }
        if (starts(s, end, "- ") || starts(s, end, "* ") || starts(s, end, "> ")) {
            s += 2;
        } else if (starts(s, end, ">>> ")) {
            s += 4;
        } else if (digits > s && (starts(digits, end, ". ") || starts(digits, end, ") "))) {
            s = digits + 2;
        } else if (starts(s, end, "await ") || starts(s, end, "yield ")) {
            s += 6;
        } else if (starts(s, end, "return ")) {
            s += 7;
        } else {
            break;
        }
    }
    const char *name = word_end(s, end);
    const char *after = pass_blanks(name, end);
    if (name > s && word_start(*s) && after + 1 < end && *after == '=' && after[1] != '=') {
        after = pass_blanks(after + 1, end);
        if (starts(after, end, "await ")) {
            after += 6;
        }
        if (call_at(after, end)) {
            return after;
        }
    }
    return s;
}

// Tells what stood between the pieces.
static void tell_gap(reader *r, const char *from, const char *to)
{
    const char *s = from;
    while (s < to && (blank(*s) || *s == ',' || *s == ';')) {
        s++;
    }
    if (s >= to) {
        s = pass_blanks(from, to);
        if (s < to && to == r->text_end) {
            tell(r, *s == ',' ? PONS_REPAIR_TRAILING_COMMA : PONS_REPAIR_SEPARATOR, s,
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
        tell(r, PONS_REPAIR_FENCE, s, "a code fence, left out");
    }
    if (tag) {
        tell(r, PONS_REPAIR_TAG, s, "a tag around the plan, left out");
    }
    size_t letters = 0; // beyond the fence's line and the tags
    bool in_tag = false, in_fence = false;
    for (const char *c = s; c < to; c++) {
        if (starts(c, to, "```") || starts(c, to, "~~~")) {
            in_fence = true;
        }
        if (*c == '\n') {
            in_fence = false;
        }
        if (*c == '<' || starts(c, to, "[TOOL_CALLS]")) {
            in_tag = true;
        }
        letters += !in_tag && !in_fence && !blank(*c) && *c != ',' && *c != ';';
        if (*c == '>' || *c == ']') {
            in_tag = false;
        }
    }
    bool closers = true;
    for (const char *c = s; c < to; c++) {
        closers = closers && (*c == ']' || *c == '}' || *c == ')');
    }
    if (closers) {
        tell(r, PONS_REPAIR_EXTRA_CLOSER, s, "%.*s closes nothing, left out", (int)n, s);
    } else if (letters > 0) {
        tell(r, PONS_REPAIR_PROSE, s, "text around the plan, left out");
    }
}

// <function=NAME> right before the object: NAME.
static bool function_tag(const reader *r, const char *s, const char **ret_name, size_t *ret_len)
{
    static const char open[] = "<function=";
    while (s > r->text && blank(s[-1])) {
        s--;
    }
    if (s == r->text || s[-1] != '>') {
        return false;
    }
    const char *close = --s;
    while (s > r->text && s[-1] != '<' && s[-1] != '\n' && close - s < WORD_MAX) {
        s--;
    }
    if (s == r->text || !starts(--s, r->end, open)) {
        return false;
    }
    *ret_name = s + sizeof open - 1;
    *ret_len = (size_t)(close - *ret_name);
    return *ret_len > 0 && word_end(*ret_name, close) == close;
}

// Whether an object has a member of a plan or of a call, as far as can be seen before it is read.
static bool says_what_it_is(const reader *r, const char *s)
{
    static const char *const keys[] = {"goal", "steps",     "plan",       "tool_calls",
                                       "name", "arguments", "parameters", "action"};
    int depth = 0;
    while (s < r->end) {
        const char *after = quoted_end(s, r->end);
        if (!after) {
            depth += (*s == '{' || *s == '[') - (*s == '}' || *s == ']');
            if (depth == 0) {
                return false;
            }
            s++;
            continue;
        }
        const char *colon = pass_blanks(after, r->end);
        for (size_t k = 0; k < sizeof keys / sizeof *keys && depth == 1; k++) {
            if (colon_length(colon, r->end) && starts(s + 1, r->end, keys[k]) &&
                quoted_end(s, r->end) == s + 2 + strlen(keys[k])) {
                return true;
            }
        }
        s = after;
    }
    return false;
}

// A name on a line of its own right before an object that is only arguments, as GLM-4 calls: the
// name must look like a function's (f_g, f.g, fG), for a word may be a headline.
static bool name_line(const reader *r, const char *s, const char **ret_name, size_t *ret_len)
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
    while (from > r->text && !blank(from[-1])) {
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
    return alone && function && word_start(*from) && word_end(from, to) == to &&
           *ret_len < WORD_MAX && !says_what_it_is(r, object_at);
}

// Parses one committed piece at r->at.
static int take_piece(reader *r, piece *ret)
{
    const char *name = NULL;
    size_t len = 0;
    const bool tagged =
        *r->at == '{' && (function_tag(r, r->at, &name, &len) || name_line(r, r->at, &name, &len));
    ret->from = r->at;
    ret->out = r->out->text.len;
    if (tagged) {
        emit(r, "{\"name\":");
        emit_name(r, name, len);
        emit(r, ",\"arguments\":");
    }
    r->depth = 0;
    r->last = LAST_OPEN;
    const int rc = value(r, true);
    if (tagged) {
        emit(r, "}");
    }
    ret->to = r->at;
    ret->out_end = r->out->text.len;
    return rc;
}

static int scan(reader *r, const char **gap, piece *pieces, size_t cap, size_t *n)
{
    bool line_start = true;
    const char *opened = NULL; // a bracket in the prose that is still open
    int open = 0;
    while (r->at < r->end) {
        const char *s = line_start ? line_text(r->at, r->end) : r->at;
        if (s == r->end) {
            break;
        }
        if (looks(r, s, line_start || s > r->at)) {
            if (open > 0) { // a plan inside of something broken is not the plan
                return refuse(r, opened, "what this %c begins cannot be read", *opened);
            }
            if (*n == cap) {
                return refuse(r, s, "more than %zu calls", cap);
            }
            tell_gap(r, *gap, s);
            r->at = s;
            const int rc = take_piece(r, &pieces[*n]);
            if (rc < 0) {
                return rc;
            }
            ++*n;
            *gap = r->at;
            line_start = true; // f(a=1); g(b=2)
            while (r->at < r->end && (blank(*r->at) || *r->at == ';' || *r->at == ',')) {
                r->at++;
            }
            continue;
        }
        r->at = s > r->at ? s : r->at;
        line_start = *r->at == '\n' || *r->at == '>' || *r->at == ']';
        if (*r->at == '{' || *r->at == '[') {
            opened = open++ == 0 ? r->at : opened;
        } else if (*r->at == '}' || *r->at == ']') {
            open -= open > 0;
        }
        r->at++;
    }
    return PONS_OK;
}

static int find_pieces(reader *r, piece *pieces, size_t cap, size_t *ret_n)
{
    const char *start = r->at, *gap = start, *body, *end, *after;
    size_t n = 0;
    int rc = PONS_OK;
    const char *first = pass_blanks(r->at, r->end);
    const bool bare = first < r->end && looks(r, first, false);
    if (!bare && first < r->end && quote_at(first, r->end) && key_at(first, r->end)) {
        // The opening brace was given to the model, which went on behind it.
        tell(r, PONS_REPAIR_MISSING_OPENER, first, "{ is missing before the first key");
        pieces[0] = (piece){.from = first, .out = 0};
        r->at = first;
        r->depth = 0;
        rc = object(r, "", '}', ":");
        pieces[0].to = r->at;
        pieces[0].out_end = r->out->text.len;
        if (rc >= 0) {
            tell_gap(r, r->at, r->end);
        }
        *ret_n = 1;
        return rc;
    }
    for (const char *from = start; !bare && rc >= 0 && next_fence(r, from, &body, &end, &after);) {
        r->at = body;
        r->end = end;
        rc = scan(r, &gap, pieces, cap, &n);
        from = after;
        r->end = r->text_end;
    }
    if (rc >= 0 && n == 0) {
        r->at = gap = start;
        r->end = r->text_end;
        rc = scan(r, &gap, pieces, cap, &n);
    }
    if (rc >= 0 && n > 0) {
        tell_gap(r, gap, r->text_end);
    }
    *ret_n = n;
    return rc;
}

// Whether a piece of JSON is a plan by itself, not one call or step of a list.
static bool whole_plan(const char *json, size_t len)
{
    static const char *const marks[] = {"goal", "steps", "plan", "tool_calls", NULL};
    pons__tape t = {0};
    bool whole = true;
    if (pons__tape_parse(&t, json, len, NULL) >= 0 && t.nodes[0].kind == PONS__OBJECT) {
        whole = false;
        for (const char *const *m = marks; *m; m++) {
            whole = whole || pons__tape_get(&t, t.nodes, *m);
        }
    }
    pons__tape_fini(&t);
    return whole;
}

static int join(reader *r, const piece *pieces, size_t n)
{
    pons_buf *b = &r->out->text;
    if (n <= 1) {
        return PONS_OK;
    }
    const size_t first_len = pieces[0].out_end - pieces[0].out;
    bool same = true, whole = false;
    for (size_t i = 0; i < n; i++) {
        const size_t len = pieces[i].out_end - pieces[i].out;
        same = same && len == first_len && memcmp(b->data + pieces[i].out, b->data, len) == 0;
        whole = whole || whole_plan(b->data + pieces[i].out, len);
    }
    if (whole && same) {
        tell(r, PONS_REPAIR_PROSE, pieces[1].from, "the same plan once more, left out");
        b->len = first_len;
        b->data[b->len] = '\0';
        return PONS_OK;
    }
    if (whole) {
        int line, column;
        pons__places_find(&r->places, (size_t)(pieces[0].from - r->text), &line, &column);
        return refuse(r, pieces[1].from, "a second plan; the first is at %d:%d", line, column);
    }
    // A list of calls: [ and commas go in between, and the marks move with them.
    pons_autobuf list = PONS_BUF_INIT;
    size_t m = 0;
    for (size_t i = 0; i < n; i++) {
        pons_buf_str(&list, i ? "," : "[");
        const size_t shift = list.len - pieces[i].out;
        for (; m < r->out->n_marks && r->out->marks[m].out < pieces[i].out_end; m++) {
            r->out->marks[m].out += (uint32_t)shift;
        }
        pons_buf_bytes(&list, b->data + pieces[i].out, pieces[i].out_end - pieces[i].out);
    }
    pons_buf_str(&list, "]");
    if (list.failed) {
        return pons_error_set(r->err, PONS_ENOMEM, "plan", "out of memory");
    }
    const pons_buf old = *b;
    *b = list;
    list = old;
    return PONS_OK;
}

// A program that makes a plan and then adds steps to it, as the protocol's own examples do: only
// the constructor can be read, and a plan without the steps would be another plan.
static int refuse_program(reader *r, const piece *pieces, size_t n)
{
    static const char *const adders[] = {".add_step(", ".steps.append(", ".steps.extend("};
    for (size_t i = 0; i < n; i++) {
        const char *from = pieces[i].to, *to = i + 1 < n ? pieces[i + 1].from : r->text_end;
        for (size_t k = 0; k < sizeof adders / sizeof *adders; k++) {
            const char *added = memmem(from, (size_t)(to - from), adders[k], strlen(adders[k]));
            if (added) {
                return refuse(r, added, "steps that a program adds are not read: list all of them");
            }
        }
    }
    return PONS_OK;
}

int pons__repair(const char *text, size_t len, pons_plan_repair_fn fn, void *user,
                 pons__repaired *ret, pons_error *err)
{
    reader r = {.text = text,
                .at = text,
                .end = text + len,
                .text_end = text + len,
                .out = ret,
                .places = {.text = text, .len = len},
                .fn = fn,
                .user = user,
                .err = err};
    for (size_t i = 0, n; i < len; i += n) {
        n = pons_utf8_sequence(text + i, len - i);
        if (n == 0 || text[i] == '\0') {
            return refuse(&r, text + i, n ? "a zero character in the text" : "not UTF-8");
        }
    }
    if (starts(r.at, r.end, "\xef\xbb\xbf")) {
        tell(&r, PONS_REPAIR_BOM, r.at, "a byte order mark, left out");
        r.at += 3;
    }
    size_t n = 0;
    piece *pieces = malloc(PIECES_MAX * sizeof *pieces);
    int rc = pieces ? pass_thinking(&r) : pons_error_set(err, PONS_ENOMEM, "plan", "out of memory");
    rc = rc < 0 ? rc : find_pieces(&r, pieces, PIECES_MAX, &n);
    if (rc >= 0 && n == 0) {
        rc = refuse(&r, text, "no plan found");
    }
    rc = rc < 0 ? rc : refuse_program(&r, pieces, n);
    rc = rc < 0 ? rc : join(&r, pieces, n);
    if (rc >= 0 && ret->text.failed) {
        rc = pons_error_set(err, PONS_ENOMEM, "plan", "out of memory");
    }
    pons_buf_fini(&r.word);
    free(pieces);
    return rc;
}

// ---- the lenient grammar ------------------------------------------------------------------------

// Blanks, and comments, which are told.
static int skip(reader *r)
{
    static const char *const odd[] = {"\f",           "\v",           "\xc2\xa0",
                                      "\xe3\x80\x80", "\xe2\x80\x8b", "\xef\xbb\xbf",
                                      "\xe2\x80\xa8", "\xe2\x80\xa9", NULL};
    while (r->at < r->end) {
        const char *start = r->at;
        r->at = pass_blanks(r->at, r->end);
        for (const char *const *o = odd; *o; o++) {
            if (starts(r->at, r->end, *o)) {
                tell(r, PONS_REPAIR_SEPARATOR, r->at, "a blank that JSON does not have");
                r->at += strlen(*o);
            }
        }
        if (starts(r->at, r->end, "//") || starts(r->at, r->end, "#")) {
            tell(r, PONS_REPAIR_COMMENT, r->at, "a comment, left out");
            while (r->at < r->end && *r->at != '\n') {
                r->at++;
            }
        } else if (starts(r->at, r->end, "/*") || starts(r->at, r->end, "<!--")) {
            const char *close = *r->at == '/' ? "*/" : "-->";
            const char *end = memmem(r->at + 2, (size_t)(r->end - r->at) - 2, close, strlen(close));
            if (!end) {
                return refuse(r, r->at, "this comment has no end");
            }
            tell(r, PONS_REPAIR_COMMENT, r->at, "a comment, left out");
            r->at = end + strlen(close);
        }
        if (r->at == start) {
            break;
        }
    }
    return PONS_OK;
}

static int push(reader *r, char closer)
{
    if (r->depth == DEPTH_MAX) {
        return refuse(r, r->at, "nested deeper than %d", DEPTH_MAX);
    }
    r->closers[r->depth++] = closer;
    r->last = LAST_OPEN;
    return PONS_OK;
}

// The closer that stands at r->at as its ASCII character, or 0.
static char closer_at(const reader *r, size_t *ret_len)
{
    *ret_len = 1;
    if (r->at < r->end && (*r->at == '}' || *r->at == ']' || *r->at == ')')) {
        return *r->at;
    }
    *ret_len = 3;
    return starts(r->at, r->end, "｝")   ? '}'
           : starts(r->at, r->end, "］") ? ']'
           : starts(r->at, r->end, "）") ? ')'
                                         : '\0';
}

// At the end of a container: 1 when it is closed (its closer consumed, or missing and told), 0 when
// not.
static int try_close(reader *r)
{
    const char closer = r->closers[r->depth - 1];
    size_t len;
    if (r->at == r->end) {
        if (r->last == LAST_OPEN) {
            return refuse(r, r->at, "the text ends in the middle of a plan");
        }
        if (r->last != LAST_CLOSED) { // more may have followed: parameters, a condition
            return refuse(r, r->at, "the text ends inside of an object or a list; it may be cut");
        }
        tell(r, PONS_REPAIR_MISSING_CLOSER, r->at, "%c is missing at the end", closer);
        r->depth--;
        return 1;
    }
    const char c = closer_at(r, &len);
    if (!c) {
        return 0;
    }
    if (c == closer) {
        if (len > 1) {
            tell(r, PONS_REPAIR_SEPARATOR, r->at, "a full-width %c", c);
        }
        r->at += len;
        r->depth--;
        r->last = LAST_CLOSED;
        return 1;
    }
    for (int i = r->depth - 2; i >= 0; i--) {
        if (r->closers[i] == c && r->last != LAST_OPEN) {
            tell(r, PONS_REPAIR_MISSING_CLOSER, r->at, "%c is missing before %c", closer, c);
            r->depth--;
            r->last = LAST_CLOSED;
            return 1;
        }
    }
    return refuse(r, r->at, "%c where %c should close", c, closer);
}

// A comma or what stands for one: 1 when consumed.
static int comma(reader *r)
{
    if (r->at == r->end) {
        return 0;
    }
    if (*r->at == ',') {
        r->at++;
    } else if (*r->at == ';') {
        tell(r, PONS_REPAIR_SEPARATOR, r->at, "; for a comma");
        r->at++;
    } else if (starts(r->at, r->end, "，") || starts(r->at, r->end, "、") ||
               starts(r->at, r->end, "；")) {
        tell(r, PONS_REPAIR_SEPARATOR, r->at, "a full-width comma");
        r->at += 3;
    } else {
        return 0;
    }
    r->last = LAST_OPEN;
    return 1;
}

static bool value_start(const reader *r)
{
    return r->at < r->end && (quote_at(r->at, r->end) || *r->at == '{' || *r->at == '[' ||
                              isdigit((unsigned char)*r->at) || *r->at == '-');
}

static int colon(reader *r, const char *wanted)
{
    const char *at = r->at;
    const size_t n = colon_length(r->at, r->end);
    if (n == 0) {
        if (r->at == r->end) {
            return refuse(r, r->at, "the text ends behind a key");
        }
        if (*wanted == '=' || !value_start(r)) {
            return refuse(r, r->at, "%s should stand here", *wanted == '=' ? "=" : "a colon");
        }
        tell(r, PONS_REPAIR_MISSING_COLON, r->at, "a colon is missing");
        return PONS_OK;
    }
    r->at += n;
    if (n > 1 || *at != *wanted) {
        tell(r, PONS_REPAIR_SEPARATOR, at, "%.*s for %s", (int)n, at, wanted);
    }
    if (r->at < r->end && *at == ':' && (*r->at == ':' || *r->at == '=')) {
        tell(r, PONS_REPAIR_SEPARATOR, r->at, "%c once more", *r->at);
        r->at++;
    }
    return PONS_OK;
}

// The members of an object; r->at is behind the opener. With colon "=": named arguments.
// Before a member: commas with nothing before them, and one before the end. 1: the object is closed,
// 2: it is closed by the { that follows, 0: a member follows.
static int before_member(reader *r, char closer, bool first)
{
    int rc = skip(r);
    const char *before = r->at;
    while (rc >= 0 && comma(r) > 0) { // with nothing before it
        tell(r, PONS_REPAIR_EXTRA_COMMA, before, "a comma with nothing before it");
        rc = skip(r);
        before = r->at;
    }
    if (rc < 0) {
        return rc;
    }
    size_t closer_len;
    if (!first && r->last == LAST_OPEN && closer_at(r, &closer_len)) {
        tell(r, PONS_REPAIR_TRAILING_COMMA, r->at, "a comma before the end");
        r->last = LAST_WHOLE;
    }
    if (first && closer_at(r, &closer_len) == closer) {
        r->last = LAST_WHOLE;
    }
    rc = try_close(r);
    if (rc != 0) {
        return rc < 0 ? rc : 1;
    }
    if (!first && *r->at == '{' && closer == '}' && r->depth >= 2 &&
        r->closers[r->depth - 2] == ']') {
        tell(r, PONS_REPAIR_MISSING_CLOSER, r->at, "} is missing before {");
        r->depth--;
        r->last = LAST_WHOLE;
        return 2; // the comma that belongs to the array is consumed already
    }
    return 0;
}

// Behind a member. 1: the object is closed, 0: another member follows.
static int after_member(reader *r, char closer, int ended)
{
    if (comma(r) > 0) {
        return 0;
    }
    if (ended == 2) { // a list that this object's next key has ended
        r->last = LAST_OPEN;
        return 0;
    }
    if (r->at < r->end && key_at(r->at, r->end)) {
        tell(r, PONS_REPAIR_MISSING_COMMA, r->at, "a comma is missing");
        return 0;
    }
    const int rc = try_close(r);
    return rc != 0 ? rc : refuse(r, r->at, "a comma or %c should stand here", closer);
}

static int object(reader *r, const char *opener, char closer, const char *wanted_colon)
{
    int rc = push(r, closer);
    if (*opener == '\0' || *opener == '(') { // of a { its value is marked already
        mark(r, r->at);
    }
    emit(r, "{");
    for (bool first = true;; first = false) {
        rc = rc < 0 ? rc : before_member(r, closer, first);
        if (rc < 0) {
            return rc;
        }
        if (rc > 0) {
            emit(r, "}");
            return rc == 2 ? 2 : PONS_OK;
        }
        if (!first) {
            emit(r, ",");
        }
        rc = key(r);
        rc = rc < 0 ? rc : skip(r);
        rc = rc < 0 ? rc : colon(r, wanted_colon);
        r->last = LAST_OPEN;
        rc = rc < 0 ? rc : skip(r);
        emit(r, ":");
        rc = rc < 0 ? rc : value(r, false);
        const int ended = rc;
        rc = rc < 0 ? rc : skip(r);
        rc = rc < 0 ? rc : after_member(r, closer, ended);
        if (rc < 0) {
            return rc;
        }
        if (rc > 0) {
            emit(r, "}");
            return PONS_OK;
        }
    }
}

static int key(reader *r)
{
    const char *start = r->at;
    mark(r, start);
    if (quote_at(r->at, r->end)) {
        return string(r, true);
    }
    while (r->at < r->end && (word_byte(*r->at) || (*r->at == '-' && r->at > start) ||
                              escaped_underscore(r->at, r->end))) {
        r->at += *r->at == '\\' ? 2 : 1;
    }
    if (r->at == start) {
        return refuse(r, r->at, "a key should stand here");
    }
    if (r->closers[r->depth - 1] != ')') { // named arguments have no quotes
        tell(r, PONS_REPAIR_UNQUOTED_KEY, start, "the key %.*s without quotes",
             (int)(r->at - start), start);
    }
    emit_name(r, start, (size_t)(r->at - start));
    return PONS_OK;
}

static int array(reader *r, char closer, bool calls)
{
    int rc = push(r, closer), n = 0;
    bool container = false; // the element before is an object or a list
    emit(r, "[");
    while (rc >= 0) {
        size_t len;
        if ((rc = skip(r)) < 0) {
            return rc;
        }
        const char *before = r->at;
        while (r->last == LAST_OPEN && r->at < r->end && comma(r) > 0) {
            if (!container) {
                return refuse(r, before, "a comma with nothing before it in a list");
            }
            tell(r, PONS_REPAIR_EXTRA_COMMA, before, "a comma with nothing before it");
            if ((rc = skip(r)) < 0) {
                return rc;
            }
            before = r->at;
        }
        if (r->last == LAST_OPEN && closer_at(r, &len)) {
            if (n > 0) {
                tell(r, PONS_REPAIR_TRAILING_COMMA, r->at, "a comma before the end");
            }
            if (n > 0 || closer_at(r, &len) == closer) {
                r->last = LAST_WHOLE;
            }
        }
        rc = try_close(r);
        if (rc != 0) {
            break;
        }
        if (n > 0 && key_at(r->at, r->end) && !call_at(r->at, r->end) && r->depth >= 2 &&
            r->closers[r->depth - 2] == '}') {
            tell(r, PONS_REPAIR_MISSING_CLOSER, r->at, "%c is missing before a key", closer);
            r->depth--;
            r->last = LAST_WHOLE;
            emit(r, "]");
            return 2;
        }
        if (n++ > 0) {
            emit(r, ",");
        }
        const char first = *r->at;
        container = first == '{' || first == '[';
        rc = value(r, calls);
        if (rc == 2) { // an object that the next one has closed
            r->last = LAST_OPEN;
            continue;
        }
        rc = rc < 0 ? rc : skip(r);
        if (rc < 0) {
            return rc;
        }
        if (comma(r) > 0) {
            continue;
        }
        if (container && r->at < r->end && (*r->at == '{' || *r->at == '[')) {
            tell(r, PONS_REPAIR_MISSING_COMMA, r->at, "a comma is missing");
            continue;
        }
        rc = try_close(r);
        if (rc != 0) {
            break;
        }
        if (key_at(r->at, r->end) && r->depth >= 2 && r->closers[r->depth - 2] == '}') {
            tell(r, PONS_REPAIR_MISSING_CLOSER, r->at, "%c is missing before a key", closer);
            r->depth--;
            emit(r, "]");
            return 3; // and a comma is missing too
        }
        return refuse(r, r->at, "a comma or %c should stand here", closer);
    }
    if (rc < 0) {
        return rc;
    }
    emit(r, "]");
    return PONS_OK;
}

static int value(reader *r, bool calls)
{
    if (r->at == r->end) {
        return refuse(r, r->at, "the text ends where a value should begin");
    }
    mark(r, r->at);
    const char c = *r->at;
    if (starts(r->at, r->end, "｛") || starts(r->at, r->end, "［")) {
        const bool brace = starts(r->at, r->end, "｛");
        tell(r, PONS_REPAIR_SEPARATOR, r->at, "a full-width %c", brace ? '{' : '[');
        r->at += 3;
        return brace ? object(r, "｛", '}', ":") : array(r, ']', calls);
    }
    if (c == '{' || c == '[') {
        r->at++;
        return c == '{' ? object(r, "{", '}', ":") : array(r, ']', calls);
    }
    if (c == '(') {
        return parenthesis(r);
    }
    if (quote_at(r->at, r->end)) {
        return string(r, false);
    }
    if (isdigit((unsigned char)c) || c == '-' || c == '+' ||
        (c == '.' && r->at + 1 < r->end && isdigit((unsigned char)r->at[1]))) {
        return number(r);
    }
    if (word_start(c)) {
        return word(r, calls);
    }
    if (starts(r->at, r->end, "...") || starts(r->at, r->end, "…")) {
        return refuse(r, r->at, "something was left out here (…)");
    }
    return refuse(r, r->at, "not a value");
}

// (1, 2) is a tuple; (1) is 1.
static int parenthesis(reader *r)
{
    const char *start = r->at++;
    const size_t open = r->out->text.len;
    const int rc = array(r, ')', false);
    if (rc != PONS_OK) {
        return rc < 0 ? rc : refuse(r, start, "this parenthesis has no end");
    }
    pons_buf *b = &r->out->text;
    bool one = false;
    pons__tape t = {0};
    if (!b->failed && pons__tape_parse(&t, b->data + open, b->len - open, NULL) >= 0) {
        one = t.nodes[0].len == 1;
    }
    pons__tape_fini(&t);
    const char *before = r->at - 1; // the ) itself; look for a comma in front of it
    while (before > start && (blank(before[-1]))) {
        before--;
    }
    if (one && before > start && before[-1] != ',') {
        tell(r, PONS_REPAIR_TUPLE, start, "parentheses around a value");
        memmove(b->data + open, b->data + open + 1, b->len - open - 2);
        b->len -= 2;
        b->data[b->len] = '\0';
    } else {
        tell(r, PONS_REPAIR_TUPLE, start, "a tuple made a list");
    }
    return PONS_OK;
}

// ---- strings ------------------------------------------------------------------------------------

static int hex(const char *s, const char *end, int n)
{
    int v = 0;
    if (end - s < n) {
        return -1;
    }
    for (int i = 0; i < n; i++) {
        if (!isxdigit((unsigned char)s[i])) {
            return -1;
        }
        v = v * 16 +
            (isdigit((unsigned char)s[i]) ? s[i] - '0' : tolower((unsigned char)s[i]) - 'a' + 10);
    }
    return v;
}

static int put_code(reader *r, const char *at, int64_t c)
{
    char u[4];
    size_t n = 0;
    if (c < 0) {
        return refuse(r, at, "an escape without its digits");
    }
    if (c == 0) {
        return refuse(r, at, "a zero character in a string");
    }
    if ((c >= 0xd800 && c <= 0xdfff) || c > 0x10ffff) {
        return refuse(r, at, "half of a surrogate pair, or no character at all");
    }
    if (c < 0x80) {
        u[n++] = (char)c;
    } else if (c < 0x800) {
        u[n++] = (char)(0xc0 | c >> 6);
        u[n++] = (char)(0x80 | (c & 63));
    } else if (c < 0x10000) {
        u[n++] = (char)(0xe0 | c >> 12);
        u[n++] = (char)(0x80 | (c >> 6 & 63));
        u[n++] = (char)(0x80 | (c & 63));
    } else {
        u[n++] = (char)(0xf0 | c >> 18);
        u[n++] = (char)(0x80 | (c >> 12 & 63));
        u[n++] = (char)(0x80 | (c >> 6 & 63));
        u[n++] = (char)(0x80 | (c & 63));
    }
    return pons_buf_bytes(&r->word, u, n);
}

// \uXXXX with its other half, \u{…}: r->at is at the backslash.
static int unicode_escape(reader *r, bool *ret_odd)
{
    const char *at = r->at;
    if (at + 2 < r->end && at[2] == '{') {
        int64_t c = 0;
        const char *s = at + 3;
        for (; s < r->end && isxdigit((unsigned char)*s) && c <= 0x10ffff; s++) {
            c = c * 16 + hex(s, r->end, 1);
        }
        if (s == at + 3 || s == r->end || *s != '}') {
            return refuse(r, at, "an escape without its digits");
        }
        *ret_odd = true;
        r->at = s + 1;
        return put_code(r, at, c);
    }
    int64_t c = hex(at + 2, r->end, 4);
    r->at += 6;
    if (c >= 0xd800 && c <= 0xdbff && starts(r->at, r->end, "\\u")) {
        const int low = hex(r->at + 2, r->end, 4);
        if (low >= 0xdc00 && low <= 0xdfff) {
            c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
            r->at += 6;
        }
    }
    return put_code(r, at, c);
}

// One escape. What Python and JavaScript have and JSON has not is told; a backslash before
// anything else stands for itself, as in Python.
static int escape(reader *r, bool *odd)
{
    static const char letters[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
    const char *at = r->at;
    const char c = at + 1 < r->end ? at[1] : '\0';
    const char *letter = c ? strchr(letters, c) : NULL;
    if (letter) {
        r->at += 2;
        return pons_buf_byte(&r->word, (uint8_t)bytes[letter - letters]);
    }
    if (c == 'u') {
        return unicode_escape(r, odd);
    }
    *odd = true;
    if (c == 'x' || c == 'U') {
        const int n = c == 'x' ? 2 : 8;
        r->at += 2 + n;
        return put_code(r, at, hex(at + 2, r->end, n));
    }
    if (c == '\'' || c == '`') {
        r->at += 2;
        return pons_buf_byte(&r->word, (uint8_t)c);
    }
    if (c == '\n') { // the string goes on in the next line
        r->at += 2;
        return PONS_OK;
    }
    if (c == 'a' || c == 'v') {
        r->at += 2;
        return pons_buf_byte(&r->word, c == 'a' ? 7 : 11);
    }
    if (isdigit((unsigned char)c) || c == 'N') {
        return refuse(r, at, "an escape that can be read in two ways");
    }
    r->at++;
    return pons_buf_byte(&r->word, '\\');
}

// Decodes one quoted run into r->word.
static int quoted(reader *r, bool raw)
{
    const char *start = r->at;
    const quote *q = quote_at(r->at, r->end);
    bool odd = false, control = false;
    r->at += strlen(q->open);
    for (;;) {
        if (r->at >= r->end) {
            return refuse(r, start, "this string has no end");
        }
        if (starts(r->at, r->end, q->close)) {
            r->at += strlen(q->close);
            break;
        }
        if (q->close_too && starts(r->at, r->end, q->close_too)) {
            r->at += strlen(q->close_too);
            break;
        }
        int rc = PONS_OK;
        if (*r->at == '\\' && !raw) {
            const bool was = odd;
            const char *at = r->at;
            rc = escape(r, &odd);
            if (odd && !was) {
                tell(r, PONS_REPAIR_ESCAPE, at, "an escape that JSON does not have");
            }
        } else {
            control = control || (unsigned char)*r->at < 0x20;
            pons_buf_byte(&r->word, (uint8_t)*r->at++);
        }
        if (rc < 0) {
            return rc;
        }
    }
    if (control) {
        tell(r, PONS_REPAIR_RAW_CONTROL, start, "a line break or tab as it stands in a string");
    }
    if (strcmp(q->open, "\"") != 0) {
        tell(r, PONS_REPAIR_QUOTES, start, "%s for \"", q->open);
    }
    return PONS_OK;
}

static int string_with(reader *r, bool as_key, bool raw)
{
    pons_buf_clear(&r->word);
    int rc = quoted(r, raw);
    while (rc >= 0 && !as_key) { // "a" + "b"
        const char *after = pass_blanks(r->at, r->end);
        const bool plus = after < r->end && *after == '+';
        const char *next = plus ? pass_blanks(after + 1, r->end) : after;
        if (!plus || !quote_at(next, r->end)) {
            break;
        }
        tell(r, PONS_REPAIR_CONCATENATION, after, "two strings put together");
        r->at = next;
        rc = quoted(r, false);
    }
    if (rc < 0) {
        return rc;
    }
    emit_string(r, r->word.data ? r->word.data : "", r->word.len);
    r->last = LAST_WHOLE;
    return r->word.failed ? pons_error_set(r->err, PONS_ENOMEM, "plan", "out of memory") : PONS_OK;
}

static int string(reader *r, bool as_key)
{
    return string_with(r, as_key, false);
}

// ---- numbers and words --------------------------------------------------------------------------

static int number_end(reader *r, const char *start)
{
    size_t len;
    const char c = r->at < r->end ? *r->at : ' ';
    r->last = LAST_NUMBER;
    if (blank(c) || c == ',' || c == ';' || closer_at(r, &len) || c == '#' ||
        starts(r->at, r->end, "//") || starts(r->at, r->end, "/*") || starts(r->at, r->end, "，") ||
        starts(r->at, r->end, "、")) {
        return PONS_OK;
    }
    return refuse(r, start, "not a number that can be read in one way");
}

static int prefixed(reader *r, const char *start, bool negative, int base)
{
    uint64_t v = 0;
    char text[32];
    const char *digits = r->at;
    for (; r->at < r->end && isxdigit((unsigned char)*r->at); r->at++) {
        const int d = hex(r->at, r->end, 1);
        if (d >= base || __builtin_mul_overflow(v, (uint64_t)base, &v) ||
            __builtin_add_overflow(v, (uint64_t)d, &v)) {
            return refuse(r, start, "not a number that can be read in one way");
        }
    }
    if (r->at == digits) {
        return refuse(r, start, "a number without digits");
    }
    snprintf(text, sizeof text, "%s%llu", negative ? "-" : "", (unsigned long long)v);
    tell(r, PONS_REPAIR_NUMBER, start, "%.*s is %s", (int)(r->at - start), start, text);
    emit(r, text);
    return number_end(r, start);
}

// Digits, with _ between them. Returns how many there are.
static int take_digits(reader *r, pons_buf *b, bool *odd)
{
    int n = 0;
    for (; r->at < r->end; r->at++) {
        const bool between = *r->at == '_' && n > 0 && r->at + 1 < r->end &&
                             isdigit((unsigned char)r->at[1]) && r->at[-1] != '_';
        if (between) {
            *odd = true;
        } else if (isdigit((unsigned char)*r->at)) {
            pons_buf_byte(b, (uint8_t)*r->at);
            n++;
        } else {
            break;
        }
    }
    return n;
}

static int number(reader *r)
{
    const char *start = r->at;
    const bool negative = *start == '-';
    bool odd = *start == '+';
    pons_buf *b = &r->word;
    pons_buf_clear(b);
    if (negative || *start == '+') {
        r->at++;
    }
    if (r->at + 1 < r->end && *r->at == '0') {
        const char x = (char)tolower((unsigned char)r->at[1]);
        const int base = x == 'x' ? 16 : x == 'o' ? 8 : x == 'b' ? 2 : 0;
        r->at += base ? 2 : 0;
        if (base) {
            return prefixed(r, start, negative, base);
        }
    }
    if (negative) {
        pons_buf_byte(b, '-');
    }
    const char *first = r->at;
    int n = take_digits(r, b, &odd);
    if (n > 1 && *first == '0') {
        return refuse(r, start, "a number with zeros in front");
    }
    if (n == 0) {
        odd = true;
        pons_buf_byte(b, '0');
    }
    if (r->at < r->end && *r->at == '.') {
        r->at++;
        pons_buf_byte(b, '.');
        const int m = take_digits(r, b, &odd);
        if (m == 0) { // 5. is 5.0
            odd = true;
            pons_buf_byte(b, '0');
        }
        n += m;
    }
    if (n == 0) {
        return refuse(r, start, "a number without digits");
    }
    if (r->at < r->end && (*r->at == 'e' || *r->at == 'E')) {
        pons_buf_byte(b, (uint8_t)*r->at++);
        if (r->at < r->end && (*r->at == '+' || *r->at == '-')) {
            pons_buf_byte(b, (uint8_t)*r->at++);
        }
        if (take_digits(r, b, &odd) == 0) {
            return refuse(r, start, "a number without its exponent");
        }
    }
    if (odd) {
        tell(r, PONS_REPAIR_NUMBER, start, "%.*s is %.*s", (int)(r->at - start), start, (int)b->len,
             b->data);
    }
    pons_buf_bytes(&r->out->text, b->data, b->len);
    return number_end(r, start);
}

// RiskLevel.LOW, ToolCallType.SPEAK.value: the value of a member of the protocol's enumerations.
static const char *enum_value(const char *s, size_t len)
{
    static const struct {
        const char *name;
        const pons__words *words;
    } enums[] = {{"RiskLevel.", &pons__risk_words},
                 {"StepStatus.", &pons__step_words},
                 {"PlanStatus.", &pons__plan_words},
                 {"ToolCallType.", &pons__tool_words}};
    if (len > 6 && memcmp(s + len - 6, ".value", 6) == 0) {
        len -= 6;
    }
    for (size_t e = 0; e < sizeof enums / sizeof *enums; e++) {
        const size_t n = strlen(enums[e].name);
        const char *hit = memmem(s, len, enums[e].name, n);
        if (!hit || (hit > s && hit[-1] != '.')) {
            continue;
        }
        char member[WORD_MAX];
        const size_t m = len - (size_t)(hit + n - s);
        if (m >= sizeof member) {
            return NULL;
        }
        for (size_t i = 0; i < m; i++) {
            member[i] = (char)tolower((unsigned char)hit[n + i]);
        }
        const int i = pons__words_find(enums[e].words, member, m);
        return i < 0 ? NULL : enums[e].words->words[i];
    }
    return NULL;
}

static bool is_word(const char *s, size_t len, const char *word_)
{
    return strlen(word_) == len && strncasecmp(s, word_, len) == 0;
}

static int word(reader *r, bool calls)
{
    static const char *const never[] = {"undefined", "NaN",  "Infinity", "inf",
                                        "self",      "this", "Ellipsis", NULL};
    const char *start = r->at, *end = word_end(start, r->end);
    const size_t len = (size_t)(end - start);
    if (end < r->end && quote_at(end, r->end) && (*end == '"' || *end == '\'') && len <= 2 &&
        (is_word(start, len, "r") || is_word(start, len, "u"))) {
        tell(r, PONS_REPAIR_RAW_STRING, start, "a prefix of a Python string");
        r->at = end;
        return string_with(r, false, tolower((unsigned char)*start) == 'r');
    }
    if (end < r->end && *end == '(') {
        return call(r, start, len, calls);
    }
    const char *json =
        is_word(start, len, "true")    ? "true"
        : is_word(start, len, "false") ? "false"
        : is_word(start, len, "null") || is_word(start, len, "none") || is_word(start, len, "nil")
            ? "null"
            : NULL;
    r->at = end;
    r->last = LAST_WHOLE;
    if (json) {
        const bool python =
            starts(start, end, "True") || starts(start, end, "False") || starts(start, end, "None");
        if (python) {
            tell(r, PONS_REPAIR_PYTHON_LITERAL, start, "%.*s is %s", (int)len, start, json);
        } else if (len != strlen(json) || memcmp(start, json, len) != 0) {
            tell(r, PONS_REPAIR_LITERAL, start, "%.*s is %s", (int)len, start, json);
        }
        emit(r, json);
        return PONS_OK;
    }
    const char *member = enum_value(start, len);
    if (member) {
        tell(r, PONS_REPAIR_PYTHON_ENUM, start, "%.*s is \"%s\"", (int)len, start, member);
        emit_string(r, member, strlen(member));
        return PONS_OK;
    }
    for (const char *const *n = never; *n; n++) {
        if (is_word(start, len, *n)) {
            return refuse(r, start, "%.*s has no value in JSON", (int)len, start);
        }
    }
    while (r->at < r->end && (word_byte(*r->at) || *r->at == '-')) {
        r->at++;
    }
    size_t closer_len;
    const char *after = pass_comments(r, r->at);
    const bool ends = after < r->end && (*after == ',' || *after == ';');
    const char *keep = r->at;
    r->at = after;
    const bool closes = closer_at(r, &closer_len) != '\0';
    r->at = keep;
    if (memchr(start, '.', len) || !(ends || closes)) {
        return refuse(r, start, "%.*s is not a value", (int)(r->at - start), start);
    }
    tell(r, PONS_REPAIR_UNQUOTED_VALUE, start, "the text %.*s without quotes", (int)(r->at - start),
         start);
    emit_string(r, start, (size_t)(r->at - start));
    r->last = LAST_NUMBER;
    return PONS_OK;
}

// f(a=1): a call to a tool, where calls may stand; one of the protocol's classes and dict
// elsewhere.
static int call(reader *r, const char *name, size_t len, bool calls)
{
    static const char *const classes[] = {"Plan", "PlanStep", "dict", "OrderedDict", NULL};
    const char *base = name + len;
    while (base > name && base[-1] != '.') {
        base--;
    }
    const size_t base_len = (size_t)(name + len - base);
    bool plain = false;
    for (const char *const *c = classes; *c; c++) {
        plain = plain || (strlen(*c) == base_len && memcmp(base, *c, base_len) == 0);
    }
    static const char factory[] = "Plan.create_new";
    plain = plain || (len == strlen(factory) && memcmp(name, factory, len) == 0);
    r->at = name + len + 1;
    char member[WORD_MAX];
    const char *quote_start = pass_blanks(r->at, r->end);
    const char *quote_end = quoted_end(quote_start, r->end);
    const char *close = quote_end ? pass_blanks(quote_end, r->end) : NULL;
    if (close && close < r->end && *close == ')') { // RiskLevel("low")
        snprintf(member, sizeof member, "%.*s.%.*s", (int)base_len, base,
                 (int)(quote_end - quote_start - 2), quote_start + 1);
        const char *v = enum_value(member, strlen(member));
        if (v) {
            tell(r, PONS_REPAIR_PYTHON_ENUM, name, "%s is \"%s\"", member, v);
            emit_string(r, v, strlen(v));
            r->at = close + 1;
            r->last = LAST_WHOLE;
            return PONS_OK;
        }
    }
    if (!plain && !calls) {
        return refuse(r, name, "%.*s(…) cannot be worked out", (int)len, name);
    }
    const char *first = pass_comments(r, r->at);
    if (first < r->end && *first != ')' && !(word_start(*first) && key_at(first, r->end))) {
        return refuse(r, first, "an argument of %.*s without a name", (int)len, name);
    }
    tell(r, PONS_REPAIR_PYTHON_CALL, name, "the call %.*s(…)", (int)len, name);
    if (!plain) {
        emit(r, "{\"name\":");
        emit_name(r, name, len);
        emit(r, ",\"arguments\":");
    }
    const int rc = object(r, "(", ')', "=");
    if (!plain) {
        emit(r, "}");
    }
    return rc;
}
