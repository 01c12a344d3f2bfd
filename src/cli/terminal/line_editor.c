// line_editor.c - the line that a person types in while events go by above it.
//
// key_input.c makes keys of what the terminal sends, libedit edits the line (keys of emacs, history, undo), and
// status_area.c draws it with all the rows that it needs: libedit's own drawing goes nowhere, as it knows
// neither what is printed above the line nor that a line may have several rows. The label before the line
// carries what a person wants to see all the time. Tab completes the words that the prompt was given
// (tab_completion.c).
#include "app/workspace/shown_language.h"
#include "cli/cli.h"
#include "cli/terminal/key_input.h"
#include "cli/terminal/status_area.h"
#include "cli/terminal/tab_completion.h"

#include <histedit.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#define HISTORY_LINES 200
#define ECHO_ROWS     24 // of a long line that was said
#define READ_BYTES    4096
#define LINE_MAX_SAID (1024 * 1024) // bytes

static struct {
    EditLine *edit; // NULL: not started
    History *history;
    FILE *nowhere;
    int in; // the terminal once more, for reads that do not wait: a Ctrl-C takes away what poll(2) has seen
    void (*said)(void *user, const char *line);
    void *user;
    char text[256];
    bool lines;        // a line may have several rows
    pons_value *words; // for Tab, or NULL
    cli_keys keys;
    struct termios before, own; // the terminal as it was, and as the prompt has it
    const char *feed;           // what libedit reads
    size_t feed_n;
} prompt; // libedit asks without a user pointer, and there is one terminal

// ---- what is shown ------------------------------------------------------------------------------

static void edit(const pons_buf *bytes)
{
    prompt.feed = bytes->data;
    prompt.feed_n = bytes->len;
    int n = 0;
    for (size_t left = prompt.feed_n + 1; prompt.feed_n > 0 && prompt.feed_n < left;) {
        left = prompt.feed_n;
        el_gets(prompt.edit, &n);
    }
    prompt.feed_n = 0;
}

static void show_line(void)
{
    const LineInfo *typed = el_line(prompt.edit);
    cli_screen_input(prompt.text, typed->buffer, (size_t)(typed->lastchar - typed->buffer),
                     (size_t)(typed->cursor - typed->buffer));
    cli_screen_show();
}

void cli_prompt_hide(void)
{
    cli_screen_hide();
}

static void set_text(const char *text)
{
    snprintf(prompt.text, sizeof prompt.text, "%.*s" CLI_PROMPT_END,
             (int)cli_cut(text, sizeof prompt.text - sizeof CLI_PROMPT_END), text);
}

void cli_prompt_show(const char *text)
{
    if (!prompt.edit) {
        return;
    }
    if (text) {
        set_text(text);
    }
    if (text || !cli_screen_has_input()) {
        show_line();
    } else {
        cli_screen_show();
    }
}

static char *no_text(EditLine *e)
{
    static char none[] = "";
    return none;
}

// ---- keys ---------------------------------------------------------------------------------------

static void insert(const char *text, size_t n)
{
    const LineInfo *typed = el_line(prompt.edit);
    if ((size_t)(typed->lastchar - typed->buffer) + n > LINE_MAX_SAID) {
        cli_screen_hide();
        cli_err("pons: a line has %d bytes at most\n", LINE_MAX_SAID);
        return;
    }
    el_insertstr(prompt.edit, text);
}

// Enter and Ctrl-J are two keys when a line may have several rows.
static void raw(void)
{
    struct termios t;
    if (prompt.lines && tcgetattr(STDIN_FILENO, &t) == 0) {
        t.c_iflag &= ~(tcflag_t)(ICRNL | INLCR | IGNCR);
        tcsetattr(STDIN_FILENO, TCSANOW, &t);
    }
}

static void fresh_line(void)
{
    el_set(prompt.edit, EL_UNBUFFERED, 0);
    el_set(prompt.edit, EL_UNBUFFERED, 1);
    raw();
}

static void enter(void)
{
    const LineInfo *typed = el_line(prompt.edit);
    const size_t n = (size_t)(typed->lastchar - typed->buffer);
    if (prompt.lines && typed->cursor == typed->lastchar && n > 0 && typed->buffer[n - 1] == '\\') {
        el_deletestr(prompt.edit, 1); // a backslash at the end: the line goes on
        el_insertstr(prompt.edit, "\n");
        return;
    }
    char *line = strndup(typed->buffer, n);
    HistEvent ignored;
    if (line && *line) {
        history(prompt.history, &ignored, H_ENTER, line);
    }
    if (!prompt.lines) {
        cli_prompt_echo("> ", line ? line : "");
    }
    fresh_line();
    app_language_of(line);
    prompt.said(prompt.user, line ? line : "");
    free(line);
}

static int characters(const char *from, const char *to)
{
    int n = 0;
    for (; from < to; from++) {
        n += ((unsigned char)*from & 0xC0U) != 0x80U;
    }
    return n;
}

// To the same column of the row above or below; false: there is none.
static bool another_row(bool up)
{
    const LineInfo *l = el_line(prompt.edit);
    const char *row = l->cursor, *to = NULL;
    while (row > l->buffer && row[-1] != '\n') {
        row--;
    }
    if (up) {
        if (row == l->buffer) {
            return false;
        }
        for (to = row - 1; to > l->buffer && to[-1] != '\n'; to--) {
        }
    } else {
        to = memchr(l->cursor, '\n', (size_t)(l->lastchar - l->cursor));
        if (!to) {
            return false;
        }
        to++;
    }
    for (int column = characters(row, l->cursor); column > 0 && to < l->lastchar && *to != '\n';
         column--) {
        do {
            to++;
        } while (to < l->lastchar && ((unsigned char)*to & 0xC0U) == 0x80U);
    }
    el_cursor(prompt.edit, to < l->cursor ? -characters(to, l->cursor) : characters(l->cursor, to));
    return true;
}

static void take(cli_key key, const pons_buf *bytes)
{
    const LineInfo *typed = el_line(prompt.edit);
    switch (key) {
    case CLI_KEY_ENTER:
        enter();
        break;
    case CLI_KEY_NEWLINE:
        if (prompt.lines) {
            insert("\n", 1);
        } else {
            enter();
        }
        break;
    case CLI_KEY_PASTE:
        if (!prompt.lines) { // one line of it is one line that is said
            for (char *c = bytes->data; c && *c; c++) {
                *c = *c == '\n' ? ' ' : *c;
            }
        }
        if (bytes->len > 0) {
            insert(bytes->data, bytes->len);
        }
        if (prompt.keys.too_long) {
            cli_screen_hide();
            cli_err("pons: the end of what was pasted was not taken: it is too long\n");
        }
        break;
    case CLI_KEY_CTRL_D: // on an empty line the end, as in a shell
        if (typed->lastchar == typed->buffer) {
            prompt.said(prompt.user, NULL);
            return;
        }
        edit(bytes);
        break;
    case CLI_KEY_CTRL_L:
        cli_screen_hide();
        cli_clear_screen();
        break;
    case CLI_KEY_UP:
    case CLI_KEY_DOWN:
        if (!another_row(key == CLI_KEY_UP)) {
            edit(bytes);
        }
        break;
    default:
        edit(bytes);
        break;
    }
}

void cli_prompt_read(void)
{
    char bytes[READ_BYTES];
    const ssize_t n = read(prompt.in > 0 ? prompt.in : STDIN_FILENO, bytes, sizeof bytes);
    if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN)) { // a terminal that is gone
        prompt.said(prompt.user, NULL);
        return;
    }
    if (n < 0) {
        return;
    }
    cli_keys_add(&prompt.keys, bytes, (size_t)n);
    pons_autobuf key = PONS_BUF_INIT;
    for (cli_key is; prompt.edit && (is = cli_keys_next(&prompt.keys, &key)) != CLI_KEY_NONE;) {
        take(is, &key);
    }
    if (prompt.edit) {
        show_line();
    }
}

void cli_prompt_echo(const char *label, const char *line)
{
    cli_autorich text = {0};
    cli_autorows rows = {0}, shown = {0};
    size_t row, column;
    cli_rich_add(&text, CLI_INK_BOLD, label, SIZE_MAX);
    const size_t indent = cli_columns(label, strlen(label));
    cli_rich_add(&text, 0, line, SIZE_MAX);
    cli_rows_grid(&rows, &text, cli_screen_width(), indent, 0, cli_screen_style(), &row, &column);
    cli_rows_copy(&shown, &rows, 0, ECHO_ROWS);
    if (rows.n > ECHO_ROWS) {
        cli_rich_clear(&text);
        cli_rich_printf(&text, CLI_INK_DIM, "… %zu rows more", rows.n - ECHO_ROWS);
        cli_rows_cut(&shown, &text, cli_screen_width(), cli_screen_style());
    }
    cli_screen_print(&shown);
}

void cli_prompt_give_up(void)
{
    if (prompt.edit) {
        cli_keys_reset(&prompt.keys);
        fresh_line();
        show_line();
    }
}

void cli_prompt_pause(bool on)
{
    if (!prompt.edit) {
        return;
    }
    if (on) {
        cli_screen_hide();
        cli_screen_paste(false);
        cli_flush();
        tcgetattr(STDIN_FILENO, &prompt.own);
        tcsetattr(STDIN_FILENO, TCSADRAIN, &prompt.before);
    } else {
        tcsetattr(STDIN_FILENO, TCSADRAIN, &prompt.own);
        cli_screen_paste(true);
        show_line();
    }
}

bool cli_prompt_typed(void)
{
    const LineInfo *typed = prompt.edit ? el_line(prompt.edit) : NULL;
    return typed && typed->lastchar > typed->buffer;
}

// The next character of the key in hand, in libedit's terms: 1, or -1 with errno when there is none.
static int read_key(EditLine *e, wchar_t *ret)
{
    const size_t n = pons_utf8_sequence(prompt.feed, prompt.feed_n);
    static const unsigned char masks[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    if (n == 0) {
        errno = EAGAIN;
        prompt.feed_n = 0;
        return -1;
    }
    *ret = (wchar_t)((unsigned char)prompt.feed[0] & masks[n]);
    for (size_t i = 1; i < n; i++) {
        *ret = (wchar_t)((unsigned)*ret << 6 | ((unsigned char)prompt.feed[i] & 0x3FU));
    }
    prompt.feed += n;
    prompt.feed_n -= n;
    return 1;
}

// Puts in what all matches have in common; where that is nothing more, shows them above the line.
static unsigned char complete(EditLine *e, int key)
{
    const LineInfo *typed = el_line(e);
    const size_t n = (size_t)(typed->cursor - typed->buffer);
    const cli_completion c = cli_complete(prompt.words, typed->buffer, n);
    const size_t found = json_array_size(c.matches);
    unsigned char after = CC_ERROR;
    if (found == 1 || c.common > c.typed) {
        const char *word = json_string_value(json_array_get(c.matches, 0));
        char text[256]; // a word of letters is followed by another
        snprintf(text, sizeof text, "%.*s%s", (int)cli_cut(word, c.common), word,
                 found == 1 && !((unsigned char)word[c.common - 1] & 0x80u) ? " " : "");
        el_deletestr(e, characters(typed->buffer + n - c.typed, typed->buffer + n));
        after = el_insertstr(e, text) < 0 ? CC_ERROR : CC_REFRESH;
    } else if (found > 1) {
        cli_autorich text = {0};
        cli_autorows rows = {0};
        for (size_t i = 0; i < found; i++) {
            cli_rich_printf(&text, 0, "%s%s", i ? "  " : "",
                            json_string_value(json_array_get(c.matches, i)));
        }
        cli_rows_wrap(&rows, &text, cli_screen_width(), NULL, NULL, cli_screen_style());
        cli_screen_print(&rows);
        after = CC_REFRESH;
    }
    pons_value_unref(c.matches);
    return after;
}

// ---- public functions ---------------------------------------------------------------------------

void cli_prompt_start(const char *text, void (*said)(void *user, const char *line), void *user)
{
    HistEvent ignored;
    if (!cli_screen_start()) {
        return;
    }
    prompt.said = said;
    prompt.user = user;
    set_text(text);
    tcgetattr(STDIN_FILENO, &prompt.before);
    prompt.in = open("/proc/self/fd/0", O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    prompt.nowhere = fopen("/dev/null", "w");
    prompt.history = history_init();
    prompt.edit = prompt.nowhere ? el_init_fd("pons", stdin, prompt.nowhere, prompt.nowhere,
                                              STDIN_FILENO, STDOUT_FILENO, STDOUT_FILENO)
                                 : NULL;
    if (!prompt.edit || !prompt.history) {
        cli_prompt_stop();
        return;
    }
    history(prompt.history, &ignored, H_SETSIZE, HISTORY_LINES);
    el_set(prompt.edit, EL_EDITOR, "emacs");
    el_set(prompt.edit, EL_SIGNAL, 0);
    el_set(prompt.edit, EL_HIST, history, prompt.history);
    el_set(prompt.edit, EL_PROMPT, no_text);
    el_set(prompt.edit, EL_GETCFN, read_key);
    // Wide, because of narrow names libedit keeps copies that it never frees.
    el_wset(prompt.edit, EL_ADDFN, L"pons-complete", L"Complete a word", complete);
    el_set(prompt.edit, EL_BIND, "\t", "pons-complete", NULL);
    el_set(prompt.edit, EL_BIND, "^R", "ed-search-prev-history",
           NULL); // by what is typed: it asks for
    el_set(prompt.edit, EL_BIND, "^S", "ed-search-next-history", NULL); // no more keys
    el_set(prompt.edit, EL_BIND, "^[x", "ed-unassigned", NULL);
    el_set(prompt.edit, EL_UNBUFFERED, 1); // el_gets returns after each key
    raw();
    cli_screen_paste(true);
    cli_prompt_show(NULL);
}

void cli_prompt_stop(void)
{
    if (prompt.edit) {
        cli_screen_paste(false);
        el_set(prompt.edit, EL_UNBUFFERED, 0); // gives the terminal back as it was
        el_end(prompt.edit);
        cli_screen_stop();
    }
    if (prompt.history) {
        history_end(prompt.history);
    }
    if (prompt.nowhere) {
        fclose(prompt.nowhere);
    }
    if (prompt.in > 0) {
        close(prompt.in);
    }
    prompt.in = 0;
    prompt.edit = NULL;
    prompt.history = NULL;
    prompt.nowhere = NULL;
    cli_keys_fini(&prompt.keys);
    prompt.keys = (cli_keys){0};
    cli_prompt_words(NULL);
}

void cli_prompt_lines(void)
{
    prompt.lines = prompt.keys.raw_newline = true;
    if (prompt.edit) {
        raw();
    }
}

void cli_prompt_words(pons_value *words)
{
    pons_value_unref(prompt.words);
    prompt.words = words;
}

bool cli_prompt_active(void)
{
    return prompt.edit != NULL;
}
