// styled_text.c - styled text in rows: what is bold or a command's output, and where a row ends.
//
// A paragraph carries an ink for each byte. Wrapping goes through its characters with their columns
// (wcwidth: two for Chinese, none for what combines) and remembers the last place where a row may
// end: behind a space that is not within `a command`, and before and behind a character of two columns. What is written of a row are
// runs of one ink: its command, the text, and the command that ends it. So a row that is cut off by
// whatever happens leaves no colour behind but for the rest of that row.
#include "cli/terminal/styled_text.h"

#include "pons/out_of_memory.h"
#include "pons/printable.h"

#include <locale.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#define TAB_COLUMNS 4

static const struct {
    cli_style style;
    const char *sgr;
} table[] = {{CLI_INK_BOLD, "1"},      {CLI_INK_DIM, "2"},    {CLI_INK_ITALIC, "3"},
             {CLI_INK_UNDERLINE, "4"}, {CLI_INK_STRIKE, "9"}, {CLI_INK_CODE, "36"},
             {CLI_INK_HEAD, "1;35"},   {CLI_INK_ADDED, "32"}, {CLI_INK_TAKEN, "31"},
             {CLI_INK_PLACE, "36"},    {CLI_INK_ASK, "1;33"}, {CLI_INK_BAD, "31"}};

// ---- paragraphs ---------------------------------------------------------------------------------

void cli_rich_fini(cli_rich *r)
{
    pons_buf_fini(&r->text);
    pons_buf_fini(&r->inks);
}

void cli_rich_clear(cli_rich *r)
{
    pons_buf_clear(&r->text);
    pons_buf_clear(&r->inks);
}

void cli_rich_add(cli_rich *r, cli_style style, const char *text, size_t n)
{
    const size_t had = r->text.len;
    pons_autobuf plain = PONS_BUF_INIT;
    pons_plain(&plain, text, n, true);
    for (size_t i = 0; i < plain.len;) {
        const size_t own = strcspn(plain.data + i, "\t");
        pons_buf_bytes(&r->text, plain.data + i, own);
        i += own;
        for (size_t k = 0; i < plain.len && plain.data[i] == '\t' && k < TAB_COLUMNS; k++) {
            pons_buf_byte(&r->text, ' ');
        }
        i += i < plain.len && plain.data[i] == '\t';
    }
    for (size_t i = had; i < r->text.len; i++) {
        pons_buf_bytes(&r->inks, &style, sizeof style);
    }
}

void cli_rich_printf(cli_rich *r, cli_style style, const char *fmt, ...)
{
    pons_autobuf text = PONS_BUF_INIT;
    va_list ap;
    va_start(ap, fmt);
    pons_buf_vprintf(&text, fmt, ap);
    va_end(ap);
    if (text.data) {
        cli_rich_add(r, style, text.data, text.len);
    }
}

static cli_style style_at(const cli_rich *r, size_t i)
{
    cli_style style = 0;
    memcpy(&style, r->inks.data + i * sizeof style, sizeof style);
    return style;
}

// ---- columns ------------------------------------------------------------------------------------

void cli_style_locale(void)
{
    static bool done;
    if (!done) {
        done = true;
        setlocale(LC_CTYPE, "");
        if (MB_CUR_MAX == 1) { // a bare machine's locale has no Chinese
            setlocale(LC_CTYPE, "C.UTF-8");
        }
    }
}

size_t cli_columns_at(const char *s, size_t n, size_t *ret_n)
{
    const size_t k = pons_utf8_sequence(s, n);
    static const unsigned char masks[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    *ret_n = k ? k : 1;
    if (k <= 1) {
        return 1;
    }
    wchar_t c = (wchar_t)((unsigned char)s[0] & masks[k]);
    for (size_t i = 1; i < k; i++) {
        c = (wchar_t)((unsigned)c << 6 | ((unsigned char)s[i] & 0x3FU));
    }
    const int width = wcwidth(c);
    return width < 0 ? 1 : (size_t)width;
}

size_t cli_columns(const char *text, size_t n)
{
    size_t columns = 0, k = 1;
    for (size_t i = 0; i < n && text[i]; i += k) {
        columns += cli_columns_at(text + i, n - i, &k);
    }
    return columns;
}

bool cli_moves(void)
{
    const char *term = getenv("TERM");
    return isatty(STDOUT_FILENO) && term && *term && strcmp(term, "dumb") != 0;
}

bool cli_style_wanted(void)
{
    const char *no = getenv("NO_COLOR");
    return cli_moves() && !(no && *no);
}

// ---- rows ---------------------------------------------------------------------------------------

void cli_rows_fini(cli_rows *rows)
{
    pons_buf_fini(&rows->bytes);
    free(rows->at);
    *rows = (cli_rows){0};
}

void cli_rows_clear(cli_rows *rows)
{
    pons_buf_clear(&rows->bytes);
    rows->n = 0;
}

static cli_row *begin_row(cli_rows *rows)
{
    if (rows->n == rows->room) {
        rows->room = rows->room ? 2 * rows->room : 16;
        rows->at = pons_need_more(rows->at, rows->room * sizeof *rows->at);
    }
    rows->at[rows->n] = (cli_row){.from = rows->bytes.len};
    return &rows->at[rows->n++];
}

// Of a row of which bytes [from, to) of the text are.
static void put(cli_rows *rows, const cli_rich *r, size_t from, size_t to, bool style)
{
    cli_row *row = &rows->at[rows->n - 1];
    while (from < to) {
        const cli_style is = style_at(r, from);
        size_t end = from;
        while (end < to && style_at(r, end) == is) {
            end++;
        }
        bool any = false;
        for (size_t i = 0; style && i < sizeof table / sizeof table[0]; i++) {
            if (is & table[i].style) {
                pons_buf_printf(&rows->bytes, "%s%s", any ? ";" : "\033[", table[i].sgr);
                any = true;
            }
        }
        pons_buf_str(&rows->bytes, any ? "m" : "");
        pons_buf_bytes(&rows->bytes, r->text.data + from, end - from);
        pons_buf_str(&rows->bytes, any ? "\033[0m" : "");
        row->columns += cli_columns(r->text.data + from, end - from);
        from = end;
    }
    row->n = rows->bytes.len - row->from;
}

static size_t prefix_columns(const cli_rich *prefix)
{
    return prefix && prefix->text.data ? cli_columns(prefix->text.data, prefix->text.len) : 0;
}

static bool is_one_of(const char *marks, const char *s, size_t n)
{
    size_t k = 0;
    for (; *marks; marks += k) {
        k = pons_utf8_sequence(marks, 3);
        if (k == n && memcmp(s, marks, n) == 0) {
            return true;
        }
    }
    return false;
}

// No row begins with a mark that closes, none ends with one that opens.
static bool may_part(const char *text, size_t at, size_t k)
{
    static const char opening[] = "（「『《“‘([{";
    return !is_one_of("，。、！？：；）」』》”’,.;:!?)]}", text + at, k) &&
           !is_one_of(opening, text + at - 1, 1) &&
           (at < 3 || !is_one_of(opening, text + at - 3, 3));
}

typedef struct ends { // of a row, so far
    size_t end, next; // its last one, and where the next row would begin
    size_t inner;     // the last space within `a command`, which is better than no end at all
    bool command;
} ends;

static void note_end(ends *e, const char *text, size_t i, size_t at, size_t k, bool wide)
{
    e->command ^= text[at] == '`';
    if (text[at] == ' ' && e->command) {
        e->inner = at;
    } else if (text[at] == ' ') {
        e->end = e->next == at && at > i ? e->end : at; // the first of several
        e->next = at + 1;
    } else if (at > i && e->next != at && wide && may_part(text, at, k)) {
        e->end = e->next = at;
    }
}

size_t cli_row_end(const char *text, size_t n, size_t i, size_t most, size_t *ret_next)
{
    ends e = {i, i, i, false};
    size_t at = i, columns = 0, before = 0, k = 1;
    for (; at < n && text[at] != '\n'; at += k) {
        const size_t c = cli_columns_at(text + at, n - at, &k);
        note_end(&e, text, i, at, k, c > 1 || before > 1);
        columns += c;
        if (columns > most && text[at] != ' ' && at > i) {
            e = e.end > i ? e : (ends){e.inner, e.inner > i ? e.inner + 1 : at};
            *ret_next = e.next;
            return e.end;
        }
        before = c > 0 ? c : before;
    }
    *ret_next = at + 1;
    return columns > most && e.end > i && e.next == at ? e.end
                                                       : at; // blanks at the end need no room
}

void cli_rows_wrap(cli_rows *rows, const cli_rich *r, size_t width, const cli_rich *first,
                   const cli_rich *rest, bool style)
{
    const char *text = r->text.data ? r->text.data : "";
    size_t i = 0;
    do {
        const cli_rich *prefix = i == 0 ? first : rest;
        const size_t before = prefix_columns(prefix);
        size_t next = 0;
        size_t end =
            cli_row_end(text, r->text.len, i, before + 1 < width ? width - before : 1, &next);
        end = end == i && next <= r->text.len && text[i] != '\n' ? next : end; // within a word
        begin_row(rows);
        if (before > 0) {
            put(rows, prefix, 0, prefix->text.len, style);
        }
        put(rows, r, i, end, style);
        i = next;
    } while (i < r->text.len);
}

void cli_rows_cut(cli_rows *rows, const cli_rich *r, size_t width, bool style)
{
    const char *text = r->text.data ? r->text.data : "";
    size_t at = 0, columns = 0, fits = 0;
    while (at < r->text.len && text[at] != '\n') {
        size_t k = 1;
        columns += cli_columns_at(text + at, r->text.len - at, &k);
        fits = columns < width ? at + k : fits;
        at += k;
        if (columns > width) {
            break;
        }
    }
    begin_row(rows);
    const bool whole = columns <= width && at >= r->text.len;
    put(rows, r, 0, whole ? at : fits, style);
    if (!whole) {
        cli_autorich dots = {0};
        cli_rich_add(&dots, 0, "…", SIZE_MAX);
        put(rows, &dots, 0, dots.text.len, style);
    }
}

void cli_rows_grid(cli_rows *rows, const cli_rich *r, size_t width, size_t indent, size_t mark,
                   bool style, size_t *ret_row, size_t *ret_column)
{
    cli_autorich blanks = {0};
    indent = indent < width / 2 ? indent : 0;
    for (size_t i = 0; i < indent; i++) {
        cli_rich_add(&blanks, 0, " ", 1);
    }
    for (size_t i = 0, row = 0;; row++) {
        const size_t before = row > 0 ? indent : 0;
        size_t at = i, columns = before, k = 1, c = 0;
        begin_row(rows);
        put(rows, &blanks, 0, before, style);
        for (; at < r->text.len && r->text.data[at] != '\n'; at += k, columns += c) {
            c = cli_columns_at(r->text.data + at, r->text.len - at, &k);
            if (columns + c > width && at > i) {
                break;
            }
            if (at <= mark) {
                *ret_row = rows->n - 1;
                *ret_column = columns;
            }
        }
        put(rows, r, i, at, style);
        const bool full = at < r->text.len && r->text.data[at] != '\n';
        if (mark >= i && (mark < at || (mark == at && !full))) {
            *ret_row = rows->n - 1;
            *ret_column = mark == at ? columns : *ret_column;
        }
        if (!full && at >= r->text.len) {
            return;
        }
        i = full ? at : at + 1;
    }
}

void cli_rows_copy(cli_rows *rows, const cli_rows *from, size_t first, size_t n)
{
    for (size_t i = first; i < from->n && i < first + n; i++) {
        cli_row *row = begin_row(rows);
        row->columns = from->at[i].columns;
        row->n = from->at[i].n;
        pons_buf_bytes(&rows->bytes, from->bytes.data + from->at[i].from, from->at[i].n);
    }
}
