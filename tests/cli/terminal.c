// terminal.c - enough of a terminal to see what a person would: characters with their columns, the
// moves and erasures that pons uses, rows that break at the right edge, and, when the terminal becomes
// narrower, rows that are broken anew, as most terminals do. Any other command is noted as bad.
#include "terminal.h"

#include "cli_bench.h"
#include "unit.h"

#include <locale.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

void terminal_open(terminal *t, const char *folder, int columns, int rows, const char *const *argv,
                   const char *const *env)
{
    const struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)columns};
    memset(t, 0, sizeof *t);
    t->columns = columns;
    t->rows = rows;
    setlocale(LC_CTYPE, "C.UTF-8");
    t->pid = forkpty(&t->tty, NULL, NULL, &size);
    assert_true(t->pid >= 0);
    if (t->pid == 0) {
        setenv("TERM", "xterm", 1);
        setenv("LC_ALL", "C.UTF-8", 1);
        setenv("PONS_LANGUAGE", "en", 1);
        unsetenv("NO_COLOR");
        unsetenv("PONS_LLM_MODEL");
        for (; env && *env; env++) {
            putenv((char *)(uintptr_t)*env);
        }
        if (folder && chdir(folder) != 0) {
            _exit(126);
        }
        execv(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
}

void terminal_type(terminal *t, const char *keys)
{
    assert_int_equal(write(t->tty, keys, strlen(keys)), (int)strlen(keys));
}

// ---- what the program sends ---------------------------------------------------------------------

static void put_row(const terminal *t, const terminal_cell *row, char *buf)
{
    size_t n = 0, end = 0;
    for (int i = 0; i < t->columns; i++) {
        const unsigned p = row[i].point;
        if (p == 1) {
            continue;
        }
        if (p > 1 && p != ' ') {
            end = SIZE_MAX;
        }
        const unsigned c = p ? p : ' ';
        if (c < 0x80) {
            buf[n++] = (char)c;
        } else if (c < 0x800) {
            buf[n++] = (char)(0xC0 | c >> 6);
            buf[n++] = (char)(0x80 | (c & 0x3F));
        } else if (c < 0x10000) {
            buf[n++] = (char)(0xE0 | c >> 12);
            buf[n++] = (char)(0x80 | (c >> 6 & 0x3F));
            buf[n++] = (char)(0x80 | (c & 0x3F));
        } else {
            buf[n++] = (char)(0xF0 | c >> 18);
            buf[n++] = (char)(0x80 | (c >> 12 & 0x3F));
            buf[n++] = (char)(0x80 | (c >> 6 & 0x3F));
            buf[n++] = (char)(0x80 | (c & 0x3F));
        }
    }
    (void)end;
    while (n > 0 && buf[n - 1] == ' ') {
        n--;
    }
    buf[n] = '\0';
}

static void line_feed(terminal *t, bool joined)
{
    t->joined[t->y] = joined;
    if (t->y + 1 < t->rows) {
        t->y++;
        return;
    }
    if (t->n_past < TERMINAL_PAST) {
        put_row(t, t->at[0], t->past[t->n_past++]);
    }
    memmove(t->at[0], t->at[1], sizeof t->at[0] * (size_t)(t->rows - 1));
    memmove(t->joined, t->joined + 1, sizeof t->joined[0] * (size_t)(t->rows - 1));
    memset(t->at[t->rows - 1], 0, sizeof t->at[0]);
    t->joined[t->rows - 1] = false;
}

static void put_point(terminal *t, unsigned p)
{
    const int width = wcwidth((wchar_t)p);
    if (width <= 0) {
        if (width < 0) {
            snprintf(t->bad, sizeof t->bad, "U+%04X", p);
        }
        return;
    }
    if (t->wraps || t->x + width > t->columns) {
        t->breaks++;
        line_feed(t, true);
        t->x = 0;
        t->wraps = false;
    }
    t->at[t->y][t->x++].point = p;
    if (width == 2) {
        t->at[t->y][t->x++].point = 1;
    }
    if (t->x >= t->columns) {
        t->x = t->columns - 1;
        t->wraps = true;
    }
}

static void erase(terminal *t, int y, int from)
{
    memset(&t->at[y][from], 0, sizeof t->at[0][0] * (size_t)(TERMINAL_COLUMNS - from));
    t->joined[y] = false;
}

static void sequence(terminal *t, const char *s, size_t n)
{
    const int number = n > 3 ? atoi(s + 2) : 1;
    switch (s[n - 1]) {
    case 'A':
        t->y = t->y > number ? t->y - number : 0;
        t->wraps = false;
        return;
    case 'C':
        t->x = t->x + number < t->columns ? t->x + number : t->columns - 1;
        t->wraps = false;
        return;
    case 'H':
        t->x = t->y = 0;
        t->wraps = false;
        return;
    case 'J':
        if (n > 3) { // all of it
            for (int y = 0; y < t->rows; y++) {
                erase(t, y, 0);
            }
            return;
        }
        erase(t, t->y, t->x);
        for (int y = t->y + 1; y < t->rows; y++) {
            erase(t, y, 0);
        }
        return;
    case 'K':
        erase(t, t->y, t->x);
        return;
    case 'm':
        return;
    case 'h':
    case 'l':
        if (n == 8 && memcmp(s + 2, "?2004", 5) == 0) {
            t->pastes = s[7] == 'h';
            return;
        }
        break;
    default:
        break;
    }
    snprintf(t->bad, sizeof t->bad, "ESC %.*s", (int)n - 1, s + 1);
}

static void byte(terminal *t, char c)
{
    t->part[t->n_part++] = c;
    const unsigned char first = (unsigned char)t->part[0];
    if (first == 0x1B) {
        const bool csi = t->n_part > 2 && t->part[1] == '[';
        if (t->n_part == 2 && c != '[') {
            snprintf(t->bad, sizeof t->bad, "ESC %c", c);
            t->n_part = 0;
        } else if (csi && c >= 0x40 && c <= 0x7E) {
            sequence(t, t->part, t->n_part);
            t->n_part = 0;
        } else if (t->n_part >= sizeof t->part) {
            snprintf(t->bad, sizeof t->bad, "a sequence without end");
            t->n_part = 0;
        }
        return;
    }
    const size_t wants = first < 0x80 ? 1 : first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (t->n_part < wants) {
        return;
    }
    unsigned p = wants == 1 ? first : first & (0xFFU >> (wants + 1));
    for (size_t i = 1; i < wants; i++) {
        p = p << 6 | ((unsigned char)t->part[i] & 0x3F);
    }
    t->n_part = 0;
    if (p == '\r') {
        t->x = 0;
        t->wraps = false;
    } else if (p == '\n') {
        line_feed(t, false);
        t->wraps = false;
    } else if (p < ' ' || (p >= 0x7F && p < 0xA0)) {
        snprintf(t->bad, sizeof t->bad, "U+%04X", p);
    } else {
        put_point(t, p);
    }
}

// Takes what has come within this time; false at the end.
static bool take(terminal *t, int ms)
{
    char piece[4096];
    struct pollfd fd = {.fd = t->tty, .events = POLLIN};
    if (poll(&fd, 1, ms) <= 0) {
        return true;
    }
    const ssize_t n = read(t->tty, piece, sizeof piece);
    if (n <= 0) {
        return false;
    }
    if (t->n_raw + (size_t)n > t->room_raw) {
        t->room_raw = 2 * (t->n_raw + (size_t)n);
        t->raw = realloc(t->raw, t->room_raw);
        assert_non_null(t->raw);
    }
    memcpy(t->raw + t->n_raw, piece, (size_t)n);
    t->n_raw += (size_t)n;
    for (ssize_t i = 0; i < n; i++) {
        byte(t, piece[i]);
    }
    return true;
}

void terminal_paste(terminal *t, const char *text, size_t n)
{
    terminal_type(t, "\033[200~");
    for (size_t at = 0; at < n;) { // the program's screen must not fill the other way meanwhile
        const size_t piece = n - at < 1024 ? n - at : 1024;
        struct pollfd fd = {.fd = t->tty, .events = POLLOUT};
        poll(&fd, 1, 1000);
        if (fd.revents & POLLOUT) {
            const ssize_t put = write(t->tty, text + at, piece);
            at += put > 0 ? (size_t)put : 0;
        }
        take(t, 0);
    }
    terminal_type(t, "\033[201~");
}

const char *terminal_screen(terminal *t)
{
    size_t n = 0;
    for (int y = 0; y < t->rows; y++) {
        put_row(t, t->at[y], t->shown + n);
        n += strlen(t->shown + n);
        t->shown[n++] = '\n';
    }
    t->shown[n] = '\0';
    return t->shown;
}

bool terminal_ever(terminal *t, const char *what)
{
    bool found = strstr(terminal_screen(t), what) != NULL;
    for (size_t i = 0; i < t->n_past && !found; i++) {
        found = strstr(t->past[i], what) != NULL;
    }
    return found;
}

static void await(terminal *t, const char *what, bool past)
{
    const time_t end = time(NULL) + BENCH_LIMIT_S;
    bool more = true;
    while (more && time(NULL) < end) {
        if (past ? terminal_ever(t, what) : strstr(terminal_screen(t), what) != NULL) {
            return;
        }
        more = take(t, 1000);
    }
    fail_msg("“%s” is not shown:\n%s", what, terminal_screen(t));
}

void terminal_await(terminal *t, const char *what)
{
    await(t, what, false);
}

void terminal_await_past(terminal *t, const char *what)
{
    await(t, what, true);
}

// The rows are broken anew, from the cursor's line on upwards as far as there are any.
void terminal_resize(terminal *t, int columns, int rows)
{
    static terminal_cell lines[TERMINAL_ROWS * 4][TERMINAL_COLUMNS];
    int n = 0, cursor = 0;
    const int before = t->columns, x = t->x;
    memset(lines, 0, sizeof lines);
    int last = t->rows - 1;
    for (; last > t->y && t->at[last][0].point == 0 && t->at[last][1].point == 0; last--) {
    }
    for (int y = 0; y <= last; y++) {
        int used = before;
        while (used > 0 && t->at[y][used - 1].point == 0) {
            used--;
        }
        used = y == t->y && x > used ? x : used;
        int from = 0;
        do {
            int to = from + columns < used ? from + columns : used;
            if (to < used && t->at[y][to].point == 1) {
                to--;
            }
            if (y == t->y && x >= from && (x < to || to >= used)) {
                cursor = n;
                t->x = x - from < columns ? x - from : columns - 1;
            }
            memcpy(lines[n++], &t->at[y][from], sizeof lines[0][0] * (size_t)(to - from));
            from = to;
        } while (from < used && n < TERMINAL_ROWS * 4);
    }
    const int first = n > rows ? n - rows : 0;
    for (int i = 0; i < first && t->n_past < TERMINAL_PAST; i++) {
        t->columns = columns;
        put_row(t, lines[i], t->past[t->n_past++]);
    }
    memset(t->at, 0, sizeof t->at);
    memset(t->joined, 0, sizeof t->joined);
    for (int i = first; i < n; i++) {
        memcpy(t->at[i - first], lines[i], sizeof lines[0]);
    }
    t->y = cursor - first > 0 ? cursor - first : 0;
    t->wraps = false;
    t->columns = columns;
    t->rows = rows;
    const struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)columns};
    assert_int_equal(ioctl(t->tty, TIOCSWINSZ, &size), 0);
}

int terminal_end(terminal *t)
{
    int status = -1;
    const time_t end = time(NULL) + BENCH_LIMIT_S;
    while (take(t, 1000)) {
        if (time(NULL) > end) {
            kill(t->pid, SIGKILL);
            fail_msg("it does not end:\n%s", terminal_screen(t));
        }
    }
    assert_int_equal(waitpid(t->pid, &status, 0), t->pid);
    t->pid = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void terminal_close(terminal *t)
{
    if (t->pid > 0) {
        kill(t->pid, SIGKILL);
        waitpid(t->pid, NULL, 0);
    }
    close(t->tty);
    free(t->raw);
    t->raw = NULL;
}
