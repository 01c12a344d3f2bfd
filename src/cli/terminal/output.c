// output.c - the one door for all that goes to a terminal, standard output and standard error.
//
// What decides on an approval is what the person sees. So nothing else in pons writes to the two
// streams (tools/check-terminal), and what comes through here is of four kinds:
//
//   * a format of pons's own: its line breaks stay; each %s in it is text from outside (pons/printable.h)
//     and stays on its line, so no value can move the cursor or look like a line of pons's;
//   * a text of several lines, as an agent's answer: line breaks and tabs stay;
//   * JSON for programs: what a terminal would act on is spelled as \u escapes, the same value;
//   * rows of styled_text.c, which holds the same and knows colours;
//   * the few commands that redraw a line or the lower end of the terminal, by name.
#include "app/workspace/shown_language.h"
#include "cli/cli.h"
#include "cli/terminal/styled_text.h"
#include "pons/message_catalogue.h"
#include "pons/printable.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define SPEC_MAX   32
#define NARROWEST  12  // of a terminal whose rows are made here
#define NUMBER_MAX 512 // bytes of a number, with a width and a precision of at most 64

typedef struct arguments { // so that a function can take from it, and its caller goes on
    va_list ap;
} arguments;

typedef struct spec {
    char text[SPEC_MAX];  // "%-20" "lld", as printf wants it, stars replaced
    int width, precision; // precision -1: none
    bool left, star;      // its width is an argument
    char length[3], conversion;
} spec;

// ---- a format of our own ------------------------------------------------------------------------

static int star_or_digits(const char **f, arguments *a)
{
    if (**f == '*') {
        ++*f;
        return va_arg(a->ap, int);
    }
    char *end = NULL;
    const long n = strtol(*f, &end, 10);
    *f = end;
    return (int)n;
}

// f is at a '%'; returns what follows the conversion.
static const char *read_spec(const char *f, spec *s, arguments *a)
{
    char flags[8] = "", precision[16] = "";
    *s = (spec){.precision = -1};
    f++;
    for (size_t n = 0; *f && strchr("-+ #0", *f); f++) {
        s->left |= *f == '-';
        if (n + 1 < sizeof flags) {
            flags[n++] = *f;
        }
    }
    s->star = *f == '*';
    if (*f == '*' || (*f >= '1' && *f <= '9')) {
        s->width = star_or_digits(&f, a);
        s->left |= s->width < 0;
        s->width = s->width < 0 ? -s->width : s->width;
    }
    if (*f == '.') {
        f++;
        s->precision = star_or_digits(&f, a);
        if (s->precision >= 0) {
            snprintf(precision, sizeof precision, ".%d", s->precision);
        }
    }
    for (size_t n = 0; *f && strchr("hljzt", *f) && n < 2; f++) {
        s->length[n++] = *f;
    }
    s->conversion = *f ? *f++ : '%';
    snprintf(s->text, sizeof s->text, "%%%s%s%d%s%s%c", s->left && !strchr(flags, '-') ? "-" : "",
             flags, s->width, precision, s->length, s->conversion);
    if (s->width == 0) {
        snprintf(s->text, sizeof s->text, "%%%s%s%s%c", flags, precision, s->length, s->conversion);
    }
    return f;
}

// The formats are the program's own and have been checked by the compiler at the call.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void put_number(pons_buf *b, const spec *s, arguments *a)
{
    char number[NUMBER_MAX];
    number[0] = '\0';
    const bool is_signed = s->conversion == 'd' || s->conversion == 'i';
    if (s->conversion == 'c') {
        const char c = (char)va_arg(a->ap, int);
        pons_plain(b, &c, 1, false);
        return;
    }
    if (strchr("eEfFgGaA", s->conversion)) {
        snprintf(number, sizeof number, s->text, va_arg(a->ap, double));
    } else if (s->conversion == 'p') {
        snprintf(number, sizeof number, s->text, va_arg(a->ap, void *));
    } else if (strcmp(s->length, "ll") == 0) {
        snprintf(number, sizeof number, s->text, va_arg(a->ap, long long));
    } else if (*s->length == 'l' || *s->length == 'j' || *s->length == 'z' || *s->length == 't') {
        snprintf(number, sizeof number, s->text, va_arg(a->ap, long));
    } else if (is_signed) {
        snprintf(number, sizeof number, s->text, va_arg(a->ap, int));
    } else {
        snprintf(number, sizeof number, s->text, va_arg(a->ap, unsigned));
    }
    pons_buf_str(b, number);
}
#pragma GCC diagnostic pop

// As much of the first n bytes as has no character cut in two.
static size_t whole(const char *text, size_t n)
{
    const size_t len = strnlen(text, n);
    size_t at = len;
    if (len < n) {
        return len;
    }
    while (at > 0 && len - at < 4 && ((unsigned char)text[at - 1] & 0xC0) == 0x80) {
        at--;
    }
    return at > 0 && pons_utf8_sequence(text + at - 1, len - at + 1) == 0 ? at - 1 : len;
}

// %-s is a message of pons's, as an error's or a reason: it is translated. %-8s is a label in a column; %-*s is a name in one. Every other
// %s is shown as it is, so that a command that a person approves, a name and an id stay what they are.
static void put_text(pons_buf *b, const spec *s, const char *text)
{
    char *translated =
        text && s->left && !s->star && s->precision < 0 ? app_translated(text, s->width > 0) : NULL;
    if (translated) {
        cli_style_locale(); // a Chinese character has two columns
    }
    text = text ? text : "(none)";
    text = translated ? translated : text;
    pons_autobuf plain = PONS_BUF_INIT;
    pons_plain(&plain, text, s->precision >= 0 ? whole(text, (size_t)s->precision) : SIZE_MAX,
               false);
    free(translated);
    const int columns = plain.data ? (int)cli_columns(plain.data, plain.len) : 0;
    for (int i = columns; i < s->width && !s->left; i++) {
        pons_buf_byte(b, ' ');
    }
    pons_buf_bytes(b, plain.data ? plain.data : "", plain.len);
    for (int i = columns; i < s->width && s->left; i++) {
        pons_buf_byte(b, ' ');
    }
}

enum { ARGS_MAX = 16 };

// The format's own text and each argument to b; with `apart` the arguments alone, each to its own. Returns how many.
static size_t render(pons_buf *b, pons_buf *apart, const char *fmt, arguments *a)
{
    size_t n = 0;
    for (const char *f = fmt; *f;) {
        const size_t own = strcspn(f, "%");
        pons_buf_bytes(b, f, apart ? 0 : own);
        f += own;
        if (*f == '\0') {
            break;
        }
        spec s;
        f = read_spec(f, &s, a);
        pons_buf *to = apart ? &apart[n] : b;
        if (s.conversion == '%') {
            pons_buf_bytes(b, "%", apart ? 0 : 1);
            continue;
        }
        if (s.conversion == 's') {
            put_text(to, &s, va_arg(a->ap, const char *));
        } else {
            put_number(to, &s, a);
        }
        n += n + 1 < ARGS_MAX;
    }
    return n;
}

void cli_buf(pons_buf *b, const char *fmt, va_list ap)
{
    arguments a;
    va_copy(a.ap, ap);
    const char *translation = app_translated_format(fmt);
    if (translation) {
        pons_buf args[ARGS_MAX] = {0};
        const char *texts[ARGS_MAX] = {0};
        const size_t n = render(b, args, fmt, &a);
        for (size_t i = 0; i < n; i++) {
            texts[i] = args[i].data ? args[i].data : "";
        }
        char *filled = pons_catalogue_fill(translation, texts, n);
        pons_buf_str(b, filled ? filled : "");
        free(filled);
        for (size_t i = 0; i < ARGS_MAX; i++) {
            pons_buf_fini(&args[i]);
        }
    } else {
        render(b, NULL, fmt, &a);
    }
    va_end(a.ap);
}

void cli_text(pons_buf *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    cli_buf(b, fmt, ap);
    va_end(ap);
}

// Why standard output has lost something; 0: nothing has been lost that anybody waits for.
static _Atomic int lost;

static void sent(FILE *to, bool all)
{
    if (!all && to == stdout && errno != EPIPE && errno != EBADF) { // who closed it wants no more
        lost = errno;
    }
}

static void send_all(FILE *to, const pons_buf *b)
{
    if (b->len > 0) { // one call, so that lines of several threads do not mix
        sent(to, fwrite(b->data, 1, b->len, to) == b->len);
    }
}

// ---- lines on a terminal ------------------------------------------------------------------------

static struct
{ // on the terminal: where the next byte goes, and where the next row of its line begins
    size_t column, indent, blanks; // blanks that stand before the next byte
    bool below;                    // it is not the line's first row
} place;

void cli_screen_size(size_t *columns, size_t *rows)
{
    enum { COLUMNS_USUAL = 80, ROWS_USUAL = 24 };
    struct winsize w = {0};
    const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0;
    *columns = known && w.ws_col > 0 ? w.ws_col : COLUMNS_USUAL;
    *rows = known && w.ws_row > 0 ? w.ws_row : ROWS_USUAL;
}

size_t cli_screen_width(void)
{
    size_t columns, rows;
    cli_screen_size(&columns, &rows);
    return columns > 1 ? columns - 1 : 1;
}

size_t cli_width(bool of_errors)
{
    const int fd = of_errors ? STDERR_FILENO : STDOUT_FILENO;
    struct winsize w = {0};
    return isatty(fd) && ioctl(fd, TIOCGWINSZ, &w) == 0 ? w.ws_col : 0;
}

// Rows below begin behind the labels in the first half of a line ("  task    go to …"), else below its first letter.
static void note_labels(const char *text, size_t n, size_t width)
{
    size_t column = place.column, k = 1;
    place.below = place.below && column > 0;
    place.indent = column == 0 ? 0 : place.indent;
    place.blanks = column == 0 ? 2 : place.blanks;
    for (size_t i = 0; i < n && !place.below && column < width / 2; i += k) {
        if (text[i] != ' ' && (place.blanks > 1 || place.indent + place.blanks == column)) {
            place.indent = column;
        }
        place.blanks = text[i] == ' ' ? place.blanks + 1 : 0;
        column += cli_columns_at(text + i, n - i, &k);
    }
}

// A word of characters of one column, as an address, that no row has room for; *ret_end: its end.
static bool is_too_long(const char *text, size_t n, size_t i, size_t most, size_t *ret_end)
{
    size_t columns = 0, k = 1;
    for (i += strspn(text + i, " "); i < n && text[i] != ' '; i += k, columns++) {
        if (cli_columns_at(text + i, n - i, &k) > 1) {
            break;
        }
    }
    *ret_end = i;
    return columns > most;
}

// One line, or the rest of one. The terminal breaks what is longer than a row: so it can be copied.
static void put_rows(pons_buf *out, const char *text, size_t n, size_t width)
{
    note_labels(text, n, width);
    for (size_t i = 0, next = 0, long_end = 0, k = 0; i < n; i = next) {
        const size_t room = width > place.column ? width - place.column : 0;
        const size_t blank = strspn(text + i, " ");
        size_t end = cli_row_end(text, n, i, room, &next);
        const bool none = i + blank < n && (end == i || cli_columns_at(text + i, n - i, &k) > room);
        const size_t from = none ? i : next;
        bool full = next < n;
        if (full && is_too_long(text, n, from, width - place.indent, &long_end)) {
            end = next = long_end;
            full = false;
        } else if (none && place.column > place.indent) { // the next row has room for it
            end = i;
            next = i + blank;
            full = true;
        } else if (none) {
            end = next;
        }
        pons_buf_bytes(out, text + i, end - i);
        place.column += cli_columns(text + i, end - i);
        place.column -= place.column > width ? (place.column - 1) / width * width : 0;
        if (full) {
            pons_buf_printf(out, "\n%*s", (int)place.indent, "");
            place.column = place.indent;
            place.below = true;
        }
    }
}

bool cli_err_seen(void)
{
    return isatty(STDERR_FILENO);
}

void cli_err_live(const char *text, bool redraw)
{
    static pthread_mutex_t mtx = PTHREAD_MUTEX_INITIALIZER;
    static bool drawn; // [mtx]
    pthread_mutex_lock(&mtx);
    if (drawn) {
        fputs("\r\033[K", stderr);
    }
    drawn = text && redraw;
    if (text) {
        pons_autobuf b = PONS_BUF_INIT;
        pons_buf_printf(&b, "pons: %s%s", text, redraw ? "" : "\n");
        send_all(stderr, &b);
    }
    pthread_mutex_unlock(&mtx);
}

// A terminal breaks a line wherever it ends: what is shown to a person ends its rows between words.
static void send_rows(FILE *to, const pons_buf *b)
{
    static pthread_mutex_t mtx = PTHREAD_MUTEX_INITIALIZER; // of place too
    pthread_mutex_lock(&mtx);
    const size_t width = cli_width(to == stderr);
    pons_autobuf out = PONS_BUF_INIT;
    cli_err_live(NULL, true);
    cli_style_locale();
    for (size_t i = 0, n; width >= NARROWEST && i < b->len; i += n + 1) {
        n = strcspn(b->data + i, "\n");
        put_rows(&out, b->data + i, n, width);
        if (i + n < b->len) {
            pons_buf_byte(&out, '\n');
            place.column = 0;
        }
    }
    send_all(to, width < NARROWEST ? b : &out);
    pthread_mutex_unlock(&mtx);
}

static void vprint(FILE *to, const char *fmt, va_list ap)
{
    pons_autobuf b = PONS_BUF_INIT;
    cli_buf(&b, fmt, ap);
    send_rows(to, &b);
}

void cli_vout(const char *fmt, va_list ap)
{
    vprint(stdout, fmt, ap);
}

void cli_vnote(const char *fmt, va_list ap)
{
    cli_flush();
    cli_err("pons: ");
    vprint(stderr, fmt, ap);
    cli_err("\n");
}

void cli_out(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vprint(stdout, fmt, ap);
    va_end(ap);
}

void cli_err(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vprint(stderr, fmt, ap);
    va_end(ap);
}

bool cli_line(char *buf, size_t cap)
{
    cli_flush();
    place.column = 0; // Enter ends the row
    if (!fgets(buf, (int)cap, stdin)) {
        return false;
    }
    buf[strcspn(buf, "\r\n")] = '\0';
    return true;
}

// ---- texts of several lines ---------------------------------------------------------------------

void cli_out_text(const char *text, size_t n)
{
    pons_autobuf b = PONS_BUF_INIT;
    pons_plain(&b, text, n, true);
    send_all(stdout, &b);
}

// ---- for programs -------------------------------------------------------------------------------

void cli_out_json(const char *text, size_t n)
{
    pons_autobuf b = PONS_BUF_INIT;
    pons_plain_json(&b, text, n);
    pons_buf_byte(&b, '\n');
    send_all(stdout, &b);
}

void cli_out_canonical(const char *text, size_t n)
{
    if (isatty(STDOUT_FILENO)) {
        cli_out_json(text, n);
    } else {
        sent(stdout, fwrite(text, 1, n, stdout) == n);
        sent(stdout, fputc('\n', stdout) != EOF);
    }
}

void cli_print_json(const pons_value *v)
{
    char *text = NULL;
    const long n = pons_value_line(v, &text);
    if (n >= 0) {
        cli_out_json(text, (size_t)n);
        cli_flush();
    }
    free(text);
}

// ---- the terminal -------------------------------------------------------------------------------

void cli_flush(void)
{
    sent(stdout, fflush(stdout) == 0);
}

const char *cli_out_lost(void)
{
    cli_flush();
    return lost ? strerror(lost) : NULL;
}

bool cli_out_broken(void)
{
    return ferror(stdout) != 0;
}

void cli_erase_line(void)
{
    fputs("\r\033[K", stdout);
}

void cli_erase_below(size_t up)
{
    fputc('\r', stdout);
    if (up > 0) {
        fprintf(stdout, "\033[%zuA", up);
    }
    fputs("\033[J", stdout);
}

void cli_cursor_to(size_t up, size_t column)
{
    fputc('\r', stdout);
    if (up > 0) {
        fprintf(stdout, "\033[%zuA", up);
    }
    if (column > 0) {
        fprintf(stdout, "\033[%zuC", column);
    }
}

void cli_clear_screen(void)
{
    fputs("\033[H\033[2J", stdout);
}

void cli_bracketed_paste(bool on)
{
    fputs(on ? "\033[?2004h" : "\033[?2004l", stdout);
    fflush(stdout);
}

void cli_out_rows(const cli_rows *rows, bool last_ends)
{
    for (size_t i = 0; i < rows->n; i++) {
        if (rows->at[i].n > 0) {
            sent(stdout, fwrite(rows->bytes.data + rows->at[i].from, 1, rows->at[i].n, stdout) ==
                             rows->at[i].n);
        }
        if (last_ends || i + 1 < rows->n) {
            sent(stdout, fputc('\n', stdout) != EOF);
        }
    }
}

void cli_live_line(const char *text)
{
    cli_autorich line = {0};
    cli_autorows row = {0};
    cli_rich_printf(&line, CLI_INK_DIM, "  %s", text);
    cli_rows_cut(&row, &line, cli_screen_width(), cli_style_wanted());
    cli_erase_line();
    cli_out_rows(&row, false);
    fflush(stdout);
}
