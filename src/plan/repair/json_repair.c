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
//
//     json_extract.c   where a plan may begin: behind thoughts, in fences, after tags and names
//     repair_value.c  the lenient grammar: objects, lists, calls, words
//     repair_separators.c  what stands between its values: blanks, commas, colons, closers
//     repair_scalars.c  strings and numbers
//     repair_peek.c        looking around, without taking anything
//     repair_output.c   what is told, and what is written
#include "plan/repair/json_repair.h"

#include "plan/json_tokens.h"
#include "plan/repair/repair.h"
#include "pons/buf.h"

#include <stdlib.h>
#include <string.h>

enum { PIECES_MAX = 4096 };

typedef struct piece { // one candidate: where it was, where its JSON is
    const char *from, *to;
    size_t out, out_end;
} piece;

// Parses one committed piece at r->at.
static int take_piece(pons__lenient *r, piece *ret)
{
    const char *name = NULL;
    size_t len = 0;
    const bool tagged = *r->at == '{' && (pons__lenient_function_tag(r, r->at, &name, &len) ||
                                          pons__lenient_name_line(r, r->at, &name, &len));
    ret->from = r->at;
    ret->out = r->out->text.len;
    if (tagged) {
        pons__lenient_emit(r, "{\"name\":");
        pons__lenient_emit_name(r, name, len);
        pons__lenient_emit(r, ",\"arguments\":");
    }
    r->depth = 0;
    r->last = PONS__LAST_OPEN;
    const int rc = pons__lenient_value(r, true);
    if (tagged) {
        pons__lenient_emit(r, "}");
    }
    ret->to = r->at;
    ret->out_end = r->out->text.len;
    return rc;
}

static int scan(pons__lenient *r, const char **gap, piece *pieces, size_t cap, size_t *n)
{
    bool line_start = true;
    const char *opened = NULL; // a bracket in the prose that is still open
    int open = 0;
    while (r->at < r->end) {
        const char *s = line_start ? pons__lenient_line_text(r->at, r->end) : r->at;
        if (s == r->end) {
            break;
        }
        if (pons__lenient_looks(r, s, line_start || s > r->at)) {
            if (open > 0) { // a plan inside of something broken is not the plan
                return pons__lenient_refuse(r, opened, "what this %c begins cannot be read",
                                            *opened);
            }
            if (*n == cap) {
                return pons__lenient_refuse(r, s, "more than %zu calls", cap);
            }
            pons__lenient_tell_gap(r, *gap, s);
            r->at = s;
            const int rc = take_piece(r, &pieces[*n]);
            if (rc < 0) {
                return rc;
            }
            ++*n;
            *gap = r->at;
            line_start = true; // f(a=1); g(b=2)
            r->at = pons__lenient_pass_separators(r->at, r->end);
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

static int find_pieces(pons__lenient *r, piece *pieces, size_t cap, size_t *ret_n)
{
    const char *start = r->at, *gap = start, *body, *end, *after;
    size_t n = 0;
    int rc = PONS_OK;
    const char *first = pons__lenient_pass_blanks(r->at, r->end);
    const bool bare = first < r->end && pons__lenient_looks(r, first, false);
    if (!bare && first < r->end && pons__lenient_quote_at(first, r->end) &&
        pons__lenient_key_at(first, r->end)) {
        // The opening brace was given to the model, which went on behind it.
        pons__lenient_tell(r, PONS_REPAIR_MISSING_OPENER, first,
                           "{ is missing before the first key");
        pieces[0] = (piece){.from = first, .out = 0};
        r->at = first;
        r->depth = 0;
        rc = pons__lenient_object(r, "", '}', ":");
        pieces[0].to = r->at;
        pieces[0].out_end = r->out->text.len;
        if (rc >= 0) {
            pons__lenient_tell_gap(r, r->at, r->end);
        }
        *ret_n = 1;
        return rc;
    }
    for (const char *from = start;
         !bare && rc >= 0 && pons__lenient_next_fence(r, from, &body, &end, &after);) {
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
        pons__lenient_tell_gap(r, gap, r->text_end);
    }
    *ret_n = n;
    return rc;
}

// Whether a piece of JSON is a plan by itself, not one call or step of a list.
static bool whole_plan(const char *json, size_t len)
{
    static const char *const marks[] = {"goal", "steps", "plan", "tool_calls", NULL};
    pons__tokens t = {0};
    bool whole = true;
    if (pons__tokens_parse(&t, json, len, NULL) >= 0 && t.nodes[0].kind == PONS__OBJECT) {
        whole = false;
        for (const char *const *m = marks; *m; m++) {
            whole = whole || pons__tokens_get(&t, t.nodes, *m);
        }
    }
    pons__tokens_fini(&t);
    return whole;
}

static int join(pons__lenient *r, const piece *pieces, size_t n)
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
        pons__lenient_tell(r, PONS_REPAIR_PROSE, pieces[1].from,
                           "the same plan once more, left out");
        b->len = first_len;
        b->data[b->len] = '\0';
        return PONS_OK;
    }
    if (whole) {
        int line, column;
        pons__places_find(&r->places, (size_t)(pieces[0].from - r->text), &line, &column);
        return pons__lenient_refuse(r, pieces[1].from, "a second plan; the first is at %d:%d", line,
                                    column);
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
static int refuse_program(pons__lenient *r, const piece *pieces, size_t n)
{
    static const char *const adders[] = {".add_step(", ".steps.append(", ".steps.extend("};
    for (size_t i = 0; i < n; i++) {
        const char *from = pieces[i].to, *to = i + 1 < n ? pieces[i + 1].from : r->text_end;
        for (size_t k = 0; k < sizeof adders / sizeof *adders; k++) {
            const char *added = memmem(from, (size_t)(to - from), adders[k], strlen(adders[k]));
            if (added) {
                return pons__lenient_refuse(
                    r, added, "steps that a program adds are not read: list all of them");
            }
        }
    }
    return PONS_OK;
}

int pons__repair(const char *text, size_t len, pons_plan_repair_fn fn, void *user,
                 pons__repaired *ret, pons_error *err)
{
    pons__lenient r = {.text = text,
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
            return pons__lenient_refuse(&r, text + i,
                                        n ? "a zero character in the text" : "not UTF-8");
        }
    }
    if (pons__lenient_starts(r.at, r.end, "\xef\xbb\xbf")) {
        pons__lenient_tell(&r, PONS_REPAIR_BOM, r.at, "a byte order mark, left out");
        r.at += 3;
    }
    size_t n = 0;
    piece *pieces = malloc(PIECES_MAX * sizeof *pieces);
    int rc = pieces ? pons__lenient_pass_thinking(&r)
                    : pons_error_set(err, PONS_ENOMEM, "plan", "out of memory");
    rc = rc < 0 ? rc : find_pieces(&r, pieces, PIECES_MAX, &n);
    if (rc >= 0 && n == 0) {
        rc = pons__lenient_refuse(&r, text, "no plan found");
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
