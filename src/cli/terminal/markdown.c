// markdown.c - a model's Markdown as rows: md4c parses whole blocks, and this file finds where a block
// that is still being written ends.
//
//   pieces --> open: "| a | b |\n|---|" ---- a blank line, and a line at the margin behind it ----> md4c
//                                       \--- a fence's line has an end by itself ----------------> code
//
// A fence's lines are shown as they end, as code may be long. Another block is whole when a blank line
// and the beginning of a line that is not indented have come (an indented one may go on with a list's
// item). A block that grows beyond OPEN_MAX is cut where its last line ends. Up to there it is drawn
// again with each piece, below what is done (status_area.c).
#include "cli/terminal/markdown.h"

#include <stdio.h>
#include <string.h>

#define OPEN_MAX   16384 // bytes of a block that has no end
#define FENCE_RULE "  "  // before code

void cli_markdown_fini(cli_markdown *m)
{
    pons_buf_fini(&m->open);
    *m = (cli_markdown){0};
}

// The opening line of a fence, at the margin: how many characters, or 0.
static size_t fence_of(const char *line, size_t n)
{
    size_t k = 0;
    while (k < n && (line[k] == '`' || line[k] == '~') && line[k] == line[0]) {
        k++;
    }
    if (k < 3 || (line[0] == '`' && memchr(line + k, '`', n - k))) {
        return 0;
    }
    return k;
}

static void code_line(const char *line, size_t n, bool diff, size_t width, bool style,
                      cli_rows *rows)
{
    cli_autorich text = {0}, rule = {0};
    cli_rich_add(&rule, 0, FENCE_RULE, SIZE_MAX);
    cli_rich_add(&text, diff ? cli_diff_style(line) : CLI_INK_CODE, line, n);
    cli_rows_wrap(rows, &text, width, &rule, &rule, style);
}

static void gap_above(cli_markdown *m, cli_rows *rows)
{
    if (m->gap) {
        const cli_rich nothing = {0};
        cli_rows_wrap(rows, &nothing, 1, NULL, NULL, false);
    }
    m->gap = true;
}

// A whole block, or what is taken for one.
static void block(cli_markdown *m, const char *text, size_t n, size_t width, bool style,
                  cli_rows *rows)
{
    if (strspn(text, " \t\r\n") < n) {
        gap_above(m, rows);
        cli_markdown_rows(text, n, width, style, rows);
    }
}

static void drop(cli_markdown *m, size_t n)
{
    memmove(m->open.data, m->open.data + n, m->open.len - n);
    m->open.len -= n;
    m->open.data[m->open.len] = '\0';
}

// A line inside of a fence has ended.
static void fenced_line(cli_markdown *m, size_t n, size_t width, bool style, cli_rows *done)
{
    const char *line = m->open.data;
    const size_t marks = strlen(m->fence);
    const size_t blanks = strspn(line, " ");
    const bool closes = blanks < 4 && strncmp(line + blanks, m->fence, marks) == 0 &&
                        strspn(line + blanks, "`~") + blanks +
                                strspn(line + blanks + strspn(line + blanks, "`~"), " \t\r") >=
                            n;
    if (closes) {
        m->fenced = false;
    } else {
        code_line(line, n, m->diff, width, style, done);
    }
    drop(m, n + 1);
}

// Takes out what has an end; false: nothing has.
static bool step(cli_markdown *m, size_t width, bool style, cli_rows *done)
{
    const char *text = m->open.data ? m->open.data : "";
    const size_t len = m->open.len;
    if (m->fenced) {
        const char *end = memchr(text, '\n', len);
        if (end) {
            fenced_line(m, (size_t)(end - text), width, style, done);
        }
        return end != NULL;
    }
    bool blank_above = false;
    for (size_t i = 0; i < len;) {
        const char *end = memchr(text + i, '\n', len - i);
        const bool whole = end != NULL;
        const size_t n = whole ? (size_t)(end - text) - i : len - i;
        const bool is_blank = strspn(text + i, " \t\r") >= n;
        const size_t fence = whole ? fence_of(text + i, n) : 0;
        if (fence > 0 && fence < sizeof m->fence) {
            block(m, text, i, width, style, done);
            gap_above(m, done);
            m->fenced = true;
            snprintf(m->fence, sizeof m->fence, "%.*s", (int)fence, text + i);
            m->diff = strncmp(text + i + fence + strspn(text + i + fence, " "), "diff", 4) == 0;
            drop(m, i + n + 1);
            return true;
        }
        if (blank_above && !is_blank && text[i] != ' ' && text[i] != '\t') {
            block(m, text, i, width, style, done);
            drop(m, i);
            return true;
        }
        blank_above = whole && is_blank;
        i += n + 1;
    }
    if (len > OPEN_MAX) { // a block that never ends: up to its last line, else a character's end
        size_t cut = OPEN_MAX;
        while (cut > OPEN_MAX / 2 && text[cut - 1] != '\n') {
            cut--;
        }
        if (cut == OPEN_MAX / 2) {
            for (cut = OPEN_MAX; ((unsigned char)text[cut] & 0xC0U) == 0x80U && cut > 0;) {
                cut--;
            }
        }
        block(m, text, cut, width, style, done);
        drop(m, cut);
        m->gap = false;
        return true;
    }
    return false;
}

void cli_markdown_add(cli_markdown *m, const char *text, size_t n, size_t width, bool style,
                      cli_rows *done)
{
    pons_buf_bytes(&m->open, text, strnlen(text, n));
    while (step(m, width, style, done)) {
    }
}

void cli_markdown_end(cli_markdown *m, size_t width, bool style, cli_rows *done)
{
    if (m->open.len > 0) {
        if (m->fenced) {
            const char newline = '\n';
            pons_buf_bytes(&m->open, &newline, 1);
            while (m->open.len > 0 && step(m, width, style, done)) {
            }
        }
        if (m->open.len > 0) {
            block(m, m->open.data, m->open.len, width, style, done);
        }
    }
    cli_markdown_fini(m);
}

void cli_markdown_open(const cli_markdown *m, size_t width, bool style, cli_rows *rows)
{
    if (m->open.len == 0) {
        return;
    }
    if (m->fenced) {
        code_line(m->open.data, m->open.len, m->diff, width, style, rows);
        return;
    }
    cli_markdown now = {.gap = m->gap};
    block(&now, m->open.data, m->open.len, width, style, rows);
    cli_markdown_fini(&now);
}
