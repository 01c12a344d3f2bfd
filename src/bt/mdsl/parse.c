// parse.c - mistreevous' textual form into an AST.
//
//     root { sequence while(IsNight) { action [Sleep, 8] wait [100, 200] } }
//
// Words, strings and the punctuation `(){}[],` are the tokens; `[]` and `()` mean the same. After a
// fault in a node's arguments or attributes the reader goes on at that node's brace; a fault in the
// structure ends the reading, as everything behind it would be reported too.
#include "bt/mdsl/ast.h"
#include "bt/mdsl/build.h"
#include "bt/mdsl/read.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// What a word means where the language has words of its own; a pons__bt_type is a node.
enum { WORD_OTHER = -1, WORD_ATTR = PONS__BT_TYPE_COUNT, WORD_THEN = WORD_ATTR + AT_COUNT };

typedef struct token {
    const char *at;
    uint32_t len; // 0: the end
    int word;
    pons__bt_pos pos;
} token;

typedef struct argument {
    char type; // n null, b boolean, i integer, d number, s string, $ property, w word
    const char *word;
    pons_value *value; // of all but w
    pons__bt_pos pos;
    double number;
} argument;

enum { ARGS_MAX = 256 };
typedef struct arguments {
    argument a[ARGS_MAX];
    int n;
    bool there; // brackets were there
    pons__bt_pos pos;
} arguments;

typedef struct reader {
    const char *at, *end, *line_start;
    uint32_t line;
    const char *file;
    pons_pool *arena;
    pons__bt_faults *faults;
    bool nomem, stop;
    token next;
    arguments as; // of the node that is being read; empty while its children are
} reader;

// ---- tokens -------------------------------------------------------------------------------------

// Of a byte: 1 space, 2 punctuation, 4 a quote; 0: part of a word.
static const uint8_t classes[256] = {
    [' '] = 1, ['\t'] = 1, ['\n'] = 1, ['\v'] = 1, ['\f'] = 1, ['\r'] = 1, ['('] = 2,
    [')'] = 2, ['{'] = 2,  ['}'] = 2,  ['['] = 2,  [']'] = 2,  [','] = 2,  ['"'] = 4};

static const struct keyword {
    const char *word;
    uint8_t len;
    int means;
} keywords[] = {{"root", 4, M_ROOT},
                {"sequence", 8, M_SEQUENCE},
                {"selector", 8, M_SELECTOR},
                {"parallel", 8, M_PARALLEL},
                {"race", 4, M_RACE},
                {"all", 3, M_ALL},
                {"lotto", 5, M_LOTTO},
                {"repeat", 6, M_REPEAT},
                {"retry", 5, M_RETRY},
                {"flip", 4, M_FLIP},
                {"succeed", 7, M_SUCCEED},
                {"fail", 4, M_FAIL},
                {"action", 6, M_ACTION},
                {"condition", 9, M_CONDITION},
                {"wait", 4, M_WAIT},
                {"branch", 6, M_BRANCH},
                {"while", 5, WORD_ATTR},
                {"until", 5, WORD_ATTR + AT_UNTIL},
                {"entry", 5, WORD_ATTR + AT_ENTRY},
                {"step", 4, WORD_ATTR + AT_STEP},
                {"exit", 4, WORD_ATTR + AT_EXIT},
                {"then", 4, WORD_THEN}};

static int meaning(const char *at, size_t len)
{
    char word[10];
    if (len < 3 || len >= sizeof word) {
        return WORD_OTHER;
    }
    for (size_t i = 0; i < len; i++) {
        word[i] = (char)(at[i] | 0x20); // all of them are letters
    }
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++) {
        if (keywords[i].len == len && keywords[i].word[0] == word[0] &&
            memcmp(keywords[i].word, word, len) == 0) {
            return keywords[i].means;
        }
    }
    return WORD_OTHER;
}

static pons__bt_pos here(const reader *r)
{
    return (pons__bt_pos){r->file, r->line, (uint32_t)(r->at - r->line_start) + 1};
}

static bool skip_comment(reader *r)
{
    if (r->end - r->at < 2 || r->at[0] != '/' || r->at[1] != '*') {
        return false;
    }
    const pons__bt_pos pos = here(r);
    for (r->at += 2; r->end - r->at >= 2 && !(r->at[0] == '*' && r->at[1] == '/'); r->at++) {
        if (*r->at == '\n') {
            r->line++;
            r->line_start = r->at + 1;
        }
    }
    if (r->end - r->at < 2) {
        pons__bt_fault(r->faults, pos, "unexpected token '/*': the comment does not end");
        r->at = r->end;
        return true;
    }
    r->at += 2;
    return true;
}

static void advance(reader *r)
{
    for (;;) {
        if (r->at < r->end && classes[(uint8_t)*r->at] == 1) {
            if (*r->at++ == '\n') {
                r->line++;
                r->line_start = r->at;
            }
        } else if (!skip_comment(r)) {
            break;
        }
    }
    r->next = (token){.at = r->at, .len = 0, .word = WORD_OTHER, .pos = here(r)};
    if (r->at == r->end) {
        return;
    }
    const char *p = r->at;
    if (*p == '"') {
        for (p++; p < r->end && *p != '"' && *p != '\n'; p++) {
            p += *p == '\\' && p + 1 < r->end;
        }
        if (p >= r->end || *p != '"') {
            pons__bt_fault(r->faults, r->next.pos,
                           "unexpected token '\"': the string does not end");
            r->stop = true;
            r->at = r->end;
            return;
        }
        p++;
    } else if (classes[(uint8_t)*p] == 2) {
        p++;
    } else {
        while (p < r->end && classes[(uint8_t)*p] == 0 &&
               !(p[0] == '/' && p + 1 < r->end && p[1] == '*')) {
            p++;
        }
        r->next.word = meaning(r->at, (size_t)(p - r->at));
    }
    r->next.len = (uint32_t)(p - r->at);
    r->at = p;
}

static bool is(const token *t, char punctuation)
{
    return t->len == 1 && *t->at == punctuation;
}

static int shown(const token *t)
{
    return t->len > 60 ? 60 : (int)t->len;
}

static void unexpected(reader *r, const char *wanted)
{
    if (r->stop) {
        return;
    }
    if (r->next.len == 0) {
        pons__bt_fault(r->faults, r->next.pos, "unexpected end of definition: expected %s", wanted);
    } else {
        pons__bt_fault(r->faults, r->next.pos, "unexpected token '%.*s': expected %s",
                       shown(&r->next), r->next.at, wanted);
    }
    r->stop = true;
}

static char *copy(reader *r, const char *s, size_t n)
{
    char *c = pons_pool_text(r->arena, s, n);
    r->nomem |= !c;
    r->stop |= !c;
    return c ? c : (char *)"";
}

// ---- arguments ----------------------------------------------------------------------------------

// The text between the quotes, with its escapes.
static pons_value *string_of(reader *r, const token *t)
{
    char *s = copy(r, t->at + 1, t->len - 2);
    char *w = s;
    for (const char *p = s; *p; p++) {
        if (*p == '\\' && p[1]) {
            p++;
            *w++ = *p == 'n' ? '\n' : *p == 't' ? '\t' : *p == 'r' ? '\r' : *p;
        } else {
            *w++ = *p;
        }
    }
    pons_value *v = json_stringn(s, (size_t)(w - s));
    if (!v) {
        r->nomem = true; // the text is UTF-8: that was looked at first
        v = json_string("");
    }
    return v;
}

static bool number_of(const char *s, double *ret)
{
    char *end;
    if (!isdigit((unsigned char)*s) && *s != '-' && *s != '+' && *s != '.') {
        return false;
    }
    *ret = strtod(s, &end);
    return *end == '\0' && end != s && isfinite(*ret);
}

static void argument_of(reader *r, const token *t, argument *a)
{
    *a = (argument){.type = 'w', .pos = t->pos};
    if (*t->at == '"') {
        a->type = 's';
        a->value = string_of(r, t);
        return;
    }
    a->word = copy(r, t->at, t->len);
    const bool short_word = t->len == 4 || t->len == 5;
    if (short_word && strcmp(a->word, "null") == 0) {
        a->type = 'n';
        a->value = json_null();
    } else if (short_word && (strcmp(a->word, "true") == 0 || strcmp(a->word, "false") == 0)) {
        a->type = 'b';
        a->value = json_boolean(*a->word == 't');
    } else if (number_of(a->word, &a->number)) {
        const bool whole = floor(a->number) == a->number && fabs(a->number) < 9e15;
        a->type = whole ? 'i' : 'd';
        a->value = whole ? json_integer((json_int_t)a->number) : json_real(a->number);
    } else if (a->word[0] == '$' && (isalpha((unsigned char)a->word[1]) || a->word[1] == '_')) {
        a->type = '$';
        a->value = pons_object_whole("$", json_string(a->word + 1), NULL);
    }
    r->nomem |= a->type != 'w' && !a->value;
}

static void arguments_fini(arguments *as)
{
    for (int i = 0; i < as->n; i++) {
        pons_value_unref(as->a[i].value);
    }
    as->n = 0;
}

// [a, b,]: a trailing comma is accepted.
static void read_arguments(reader *r, arguments *as)
{
    as->n = 0;
    as->there = false;
    as->pos = r->next.pos;
    if (!is(&r->next, '[') && !is(&r->next, '(')) {
        return;
    }
    const char close = is(&r->next, '[') ? ']' : ')';
    as->there = true;
    advance(r);
    while (!r->stop && !is(&r->next, close)) {
        if (r->next.len == 0 || classes[(uint8_t)*r->next.at] == 2) {
            unexpected(r, "an argument");
            return;
        }
        if (as->n == ARGS_MAX) {
            pons__bt_fault(r->faults, r->next.pos, "more than %d arguments", ARGS_MAX);
            r->stop = true;
            return;
        }
        argument_of(r, &r->next, &as->a[as->n++]);
        advance(r);
        if (is(&r->next, ',')) {
            advance(r);
        } else if (!is(&r->next, close)) {
            unexpected(r, close == ']' ? "',' or ']'" : "',' or ')'");
            return;
        }
    }
    if (!r->stop) {
        advance(r);
    }
}

// Function and arguments: what names it must be a word, what follows must not.
static const char *take_call(reader *r, arguments *as, const char *what, pons_value **ret)
{
    if (as->n == 0 || as->a[0].type != 'w') {
        pons__bt_fault(r->faults, as->n ? as->a[0].pos : as->pos,
                       "missing function name: expected %s name identifier argument", what);
        return "";
    }
    for (int i = 1; i < as->n; i++) {
        if (as->a[i].type == 'w') {
            pons__bt_fault(
                r->faults, as->a[i].pos,
                "invalid %s argument value '%.60s', must be string, number, boolean, agent "
                "property reference or null",
                what, as->a[i].word);
        } else {
            *ret = *ret ? *ret : json_array();
            r->nomem |= json_array_append(*ret, as->a[i].value) != 0;
        }
    }
    return as->a[0].word;
}

// ---- nodes --------------------------------------------------------------------------------------

static void take_counts(reader *r, pons__bt_ast *n, arguments *as)
{
    int64_t v[ARGS_MAX];
    static const char *const what[] = {[M_REPEAT] = "repeat node iteration counts",
                                       [M_RETRY] = "retry node attempt counts",
                                       [M_WAIT] = "wait node durations",
                                       [M_LOTTO] = "lotto node weight arguments"};
    for (int i = 0; i < as->n; i++) {
        if (as->a[i].type != 'i') {
            pons__bt_fault(r->faults, as->a[i].pos, "%s must be %sinteger values", what[n->type],
                           n->type == M_LOTTO ? "positive " : "");
            return;
        }
        v[i] = (int64_t)as->a[i].number;
    }
    pons__bt_ast_counts(r->faults, n, v, as->n, as->pos);
    if (n->type == M_LOTTO && as->n > 0) {
        n->weights = pons_pool_take(r->arena, (size_t)as->n * sizeof *v);
        r->nomem |= !n->weights;
        if (n->weights) {
            memcpy(n->weights, v, (size_t)as->n * sizeof *v);
            n->n_weights = as->n;
        }
    }
}

static void take_arguments(reader *r, pons__bt_ast *n, arguments *as)
{
    n->args_pos = as->pos;
    switch (n->type) {
    case M_ROOT:
    case M_BRANCH:
        if (as->n == 1 && as->a[0].type == 'w') {
            n->id = as->a[0].word;
        } else if (n->type == M_BRANCH || as->n > 0) {
            pons__bt_fault(r->faults, as->pos, "expected single %s name argument",
                           n->type == M_ROOT ? "root" : "branch");
        }
        break;
    case M_ACTION:
    case M_CONDITION:
        n->id = take_call(r, as, pons__bt_types[n->type].word, &n->args);
        break;
    case M_REPEAT:
    case M_RETRY:
    case M_WAIT:
    case M_LOTTO:
        take_counts(r, n, as);
        break;
    default:
        if (as->there) {
            pons__bt_fault(r->faults, as->pos,
                           "unexpected token '%s': a %s node takes no arguments", "[",
                           pons__bt_types[n->type].word);
        }
    }
}

static void read_attributes(reader *r, pons__bt_ast *n, arguments *as)
{
    for (;;) {
        const int which = r->next.word - WORD_ATTR;
        if (which < 0 || which >= AT_COUNT || r->stop) {
            return;
        }
        const pons__bt_pos pos = r->next.pos;
        advance(r);
        read_arguments(r, as);
        pons_value *args = NULL;
        as->pos = as->there ? as->pos : pos;
        const char *name = r->stop ? "" : take_call(r, as, "attribute function", &args);
        arguments_fini(as);
        bool succeed = false;
        if (which <= AT_UNTIL && r->next.word == WORD_THEN) {
            advance(r);
            succeed = r->next.word == M_SUCCEED;
            if (!succeed && r->next.word != M_FAIL) {
                unexpected(r, "'succeed' or 'fail'");
            } else {
                advance(r);
            }
        }
        n->at = n->at ? n->at : pons_pool_take(r->arena, AT_COUNT * sizeof *n->at);
        if (!n->at) {
            r->nomem = r->stop = true;
            pons_value_unref(args);
            return;
        }
        if (n->at[which].name) {
            pons__bt_fault(r->faults, pos, "duplicate attribute '%s' found for node",
                           pons__bt_attr_words[which]);
            pons_value_unref(args);
        } else {
            n->at[which].name = name;
            n->at[which].args = args;
            n->at[which].succeed = succeed;
        }
    }
}

static pons__bt_ast *read_node(reader *r, int depth, bool base);

static void read_children(reader *r, pons__bt_ast *n, int depth)
{
    const char *wanted = "'{'";
    if (!is(&r->next, '{')) {
        unexpected(r, wanted);
        return;
    }
    if (depth >= PONS__BT_DEPTH_MAX) {
        pons__bt_fault(r->faults, r->next.pos, "nodes are nested deeper than %d",
                       PONS__BT_DEPTH_MAX);
        r->stop = true;
        return;
    }
    advance(r);
    while (!r->stop && !is(&r->next, '}')) {
        if (r->next.len == 0) {
            unexpected(r, "a node or '}'");
            return;
        }
        pons__bt_ast *kid = read_node(r, depth + 1, false);
        if (kid) {
            *(n->last ? &n->last->next : &n->first) = kid;
            n->last = kid;
            n->n_kids++;
        }
    }
    if (!r->stop) {
        advance(r);
    }
}

static pons__bt_ast *read_node(reader *r, int depth, bool base)
{
    const int type = r->next.word;
    if (type < 0 || type > M_BRANCH || (base && type != M_ROOT)) {
        unexpected(r, base ? "'root' (root node expected at base of definition)" : "a node or '}'");
        return NULL;
    }
    pons__bt_ast *n = pons_pool_take(r->arena, sizeof *n);
    arguments *as = &r->as;
    if (!n) {
        r->nomem = r->stop = true;
        return NULL;
    }
    n->type = (pons__bt_type)type;
    n->pos = r->next.pos;
    n->low = n->high = -1;
    if (!base && type == M_ROOT) {
        pons__bt_fault(r->faults, n->pos, "a root node cannot be the child of another node");
    }
    advance(r);
    read_arguments(r, as);
    if (!r->stop) {
        if (!as->there) {
            as->pos = n->pos;
        }
        take_arguments(r, n, as);
    }
    arguments_fini(as);
    if (type != M_BRANCH) {
        read_attributes(r, n, as);
    }
    if (!r->stop && pons__bt_types[type].most != 0) {
        read_children(r, n, depth);
    }
    n->n_kids = r->stop ? -1 : n->n_kids; // not known: the reading ended inside
    return n;
}

// ---- public functions ---------------------------------------------------------------------------

int pons__bt_load_mdsl(const char *text, size_t len, const char *file,
                       const pons_bt_load_options *o, pons__bt_faults *faults, pons_bt **ret)
{
    pons_pool arena = {0};
    static const reader none;
    reader r = none;
    r.at = r.line_start = text;
    r.end = text + len;
    r.line = 1;
    r.file = file;
    r.arena = &arena;
    r.faults = faults;
    pons__bt_ast *first = NULL, **tail = &first;
    advance(&r);
    if (r.next.len == 0) {
        pons__bt_fault(faults, r.next.pos, "root node expected: the definition is empty");
    }
    while (r.next.len > 0 && !r.stop) {
        pons__bt_ast *n = read_node(&r, 1, true);
        if (n) {
            *tail = n;
            tail = &n->next;
        }
    }
    int rc =
        r.nomem || arena.failed ? PONS_ENOMEM : pons__bt_build_mdsl(first, file, o, faults, ret);
    pons__bt_ast_fini(first);
    pons_pool_fini(&arena);
    return rc;
}
