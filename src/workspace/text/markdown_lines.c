// markdown_lines.c - Markdown by lines, with the bytes of everything.
//
// What is wanted of Markdown is little: fences, headings, rows of tables, bullets, comments; and where
// in the text each of them begins and ends, as all else is somebody's text and stays as it is. The
// rules are CommonMark's for these blocks: a fence is closed by at least as many of its own marks, an
// open one goes to the end, nothing in a fence or a comment is Markdown.
#include "workspace/text/markdown_lines.h"

#include "pons/growing_list.h"

#include <stdlib.h>
#include <string.h>

#define STAMP_MARKDOWN "<!-- pons generation="
#define STAMP_YAML     "# pons generation="
#define KEPT           "<!-- pons kept: "
#define COMMENT_END    "-->"

typedef struct scan {
    const char *text;
    size_t len;
    ws_page *p;
    size_t line_cap, fence_cap;
    bool in_fence, in_comment;
    char mark; // of the fence that is open
    size_t marks;
} scan;

static bool begins(const char *text, size_t len, size_t at, const char *word)
{
    const size_t n = strlen(word);
    return at + n <= len && memcmp(text + at, word, n) == 0;
}

static size_t run(const char *text, size_t at, size_t end, char c)
{
    size_t n = 0;
    while (at + n < end && text[at + n] == c) {
        n++;
    }
    return n;
}

static void trim(const char *text, size_t *start, size_t *end)
{
    while (*start < *end && (text[*start] == ' ' || text[*start] == '\t')) {
        ++*start;
    }
    while (*end > *start && (text[*end - 1] == ' ' || text[*end - 1] == '\t')) {
        --*end;
    }
}

static void open_fence(scan *s, const ws_line *l, size_t at, size_t marks)
{
    ws_page *p = s->p;
    pons_need_room(&p->fences, &s->fence_cap, p->n_fences + 1, sizeof *p->fences);
    ws_fence *f = &p->fences[p->n_fences++];
    *f = (ws_fence){.start = l->start,
                    .end = s->len,
                    .body = l->next,
                    .body_end = s->len,
                    .body_line = (uint32_t)p->n + 2, // this line is not in p->lines yet
                    .info = at + marks,
                    .info_end = l->end};
    trim(s->text, &f->info, &f->info_end);
    s->in_fence = true;
    s->mark = s->text[at];
    s->marks = marks;
}

// Whether the line opens a fence, or closes the one that is open.
static bool take_fence(scan *s, const ws_line *l)
{
    const size_t indent = run(s->text, l->start, l->end, ' ');
    const size_t at = l->start + indent;
    const char c = at < l->end ? s->text[at] : '\0';
    if (indent > 3 || (c != '`' && c != '~')) {
        return false;
    }
    const size_t marks = run(s->text, at, l->end, c);
    if (!s->in_fence) {
        if (marks < 3 || (c == '`' && memchr(s->text + at + marks, '`', l->end - at - marks))) {
            return false;
        }
        open_fence(s, l, at, marks);
        return true;
    }
    size_t rest = at + marks, end = l->end;
    trim(s->text, &rest, &end);
    if (c == s->mark && marks >= s->marks && rest == end) {
        ws_fence *f = &s->p->fences[s->p->n_fences - 1];
        f->body_end = l->start;
        f->end = l->next;
        f->closed = true;
        s->in_fence = false;
    }
    return true;
}

static uint64_t number(const char *text, size_t at, size_t end)
{
    uint64_t n = 0;
    for (; at < end && text[at] >= '0' && text[at] <= '9' && n < UINT64_MAX / 10 - 1; at++) {
        n = 10 * n + (uint64_t)(text[at] - '0');
    }
    return n;
}

static void take_stamp(scan *s, const ws_line *l, const char *word)
{
    if (begins(s->text, l->end, l->start, word) && !s->p->generation) {
        s->p->generation = number(s->text, l->start + strlen(word), l->end);
        s->p->stamp = l->start;
        s->p->stamp_end = l->end;
    }
}

// A comment that begins in this line may go on in the next ones. One of pons's own is one line.
static bool take_comment(scan *s, const ws_line *l)
{
    const char *line = s->text + l->start;
    const size_t n = l->end - l->start;
    if (!s->in_comment) {
        const char *open = memmem(line, n, "<!--", 4);
        if (!open) {
            return false;
        }
        take_stamp(s, l, STAMP_MARKDOWN);
        const char *close = memmem(open, n - (size_t)(open - line), COMMENT_END, 3);
        if (begins(s->text, l->end, l->start, KEPT) && close && !s->p->kept_end) {
            s->p->kept_start = l->start;
            s->p->kept_after = l->next;
            s->p->kept = l->start + strlen(KEPT);
            s->p->kept_end = (size_t)(close - s->text);
        }
        s->in_comment = !close;
        return open == line;
    }
    s->in_comment = !memmem(line, n, COMMENT_END, 3);
    return true;
}

static bool take_heading(const scan *s, ws_line *l)
{
    const size_t n = run(s->text, l->start, l->end, '#');
    if (n < 1 || n > 6 || (l->start + n < l->end && !strchr(" \t", s->text[l->start + n]))) {
        return false;
    }
    l->kind = WS_HEADING;
    l->level = (int)n;
    l->text = l->start + n;
    l->text_end = l->end;
    trim(s->text, &l->text, &l->text_end);
    return true;
}

static void classify(scan *s, ws_line *l)
{
    size_t at = l->start, end = l->end;
    trim(s->text, &at, &end);
    if (take_fence(s, l) || s->in_fence) {
        l->kind = WS_FENCED;
        take_stamp(s, l, STAMP_YAML);
    } else if (take_comment(s, l)) {
        l->kind = WS_TEXT;
    } else if (at == end) {
        l->kind = WS_BLANK;
    } else if (take_heading(s, l)) {
        take_stamp(s, l, STAMP_YAML); // bare YAML's comment looks like a heading
    } else if (s->text[at] == '|') {
        l->kind = WS_ROW;
    } else if (end - at > 2 && strchr("-*+", s->text[at]) && s->text[at + 1] == ' ') {
        l->kind = WS_BULLET;
        l->text = at + 2;
        l->text_end = end;
        trim(s->text, &l->text, &l->text_end);
    }
}

void pons__ws_page_read(const char *text, size_t len, ws_page *ret)
{
    *ret = (ws_page){.n = 0};
    scan s = {.text = text, .len = len, .p = ret};
    for (size_t at = 0; at < len;) {
        const char *nl = memchr(text + at, '\n', len - at);
        ws_line l = {.start = at, .end = nl ? (size_t)(nl - text) : len};
        l.next = nl ? l.end + 1 : len;
        if (l.end > l.start && text[l.end - 1] == '\r') {
            l.end--;
            ret->crlf = ret->crlf || at == 0;
        }
        classify(&s, &l);
        pons_need_room(&ret->lines, &s.line_cap, ret->n + 1, sizeof *ret->lines);
        ret->lines[ret->n++] = l;
        at = l.next;
    }
}

void pons__ws_page_fini(ws_page *p)
{
    free(p->lines);
    free(p->fences);
    *p = (ws_page){.n = 0};
}

size_t pons__ws_page_cells(const char *text, const ws_line *line, ws_cell *ret, size_t max)
{
    size_t at = line->start, end = line->end, n = 0;
    trim(text, &at, &end);
    at += at < end && text[at] == '|';
    while (at < end && n < max) {
        size_t stop = at;
        while (stop < end && (text[stop] != '|' || text[stop - 1] == '\\')) {
            stop++;
        }
        ws_cell c = {at, stop};
        trim(text, &c.start, &c.end);
        ret[n++] = c;
        at = stop + 1;
    }
    return n;
}

bool pons__ws_page_is_rule(const char *text, const ws_line *line)
{
    bool dash = false;
    for (size_t i = line->start; i < line->end; i++) {
        if (!strchr("|-: \t", text[i])) {
            return false;
        }
        dash = dash || text[i] == '-';
    }
    return line->kind == WS_ROW && dash;
}
