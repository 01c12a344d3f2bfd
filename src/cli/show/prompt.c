// prompt.c - the line that a person types in while events go by above it.
//
// libedit edits the line, a key at a time; events are printed over it and the line is drawn again
// below them. The prompt itself carries what a person wants to see all the time: mode, battery,
// zone, distance, decision. Tab completes the words that the prompt was given (complete.c).
#include "cli/cli.h"
#include "cli/show/complete.h"
#include "pons/plain.h"

#include <histedit.h>

#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#define HISTORY_LINES 200

static struct {
    EditLine *edit; // NULL: not started
    History *history;
    void (*said)(void *user, const char *line);
    void *user;
    char text[256];
    bool ended;        // by Ctrl-D
    pons_value *words; // for Tab, or NULL
} prompt; // libedit asks for the prompt's text without a user pointer, and there is one terminal

static char *prompt_text(EditLine *e);
static int read_key(EditLine *e, wchar_t *ret);
static unsigned char complete(EditLine *e, int key);

// libedit writes it as it is.
static void set_text(const char *text)
{
    pons_autobuf plain = PONS_BUF_INIT;
    pons_plain(&plain, text, SIZE_MAX, false);
    const char *shown = plain.data ? plain.data : "";
    snprintf(prompt.text, sizeof prompt.text, "%.*s > ",
             (int)cli_cut(shown, sizeof prompt.text - sizeof " > "), shown);
}

void cli_prompt_start(const char *text, void (*said)(void *user, const char *line), void *user)
{
    HistEvent ignored;
    setlocale(LC_CTYPE, "");
    if (MB_CUR_MAX == 1) { // a bare machine's locale has no Chinese
        setlocale(LC_CTYPE, "C.UTF-8");
    }
    prompt.said = said;
    prompt.user = user;
    set_text(text);
    prompt.history = history_init();
    prompt.edit = el_init("pons", stdin, stdout, stderr);
    if (!prompt.edit || !prompt.history) {
        cli_prompt_stop();
        return;
    }
    history(prompt.history, &ignored, H_SETSIZE, HISTORY_LINES);
    el_set(prompt.edit, EL_EDITOR, "emacs");
    el_set(prompt.edit, EL_SIGNAL, 0);
    el_set(prompt.edit, EL_HIST, history, prompt.history);
    el_set(prompt.edit, EL_PROMPT, prompt_text);
    el_set(prompt.edit, EL_GETCFN, read_key);
    // Wide, because of narrow names libedit keeps copies that it never frees.
    el_wset(prompt.edit, EL_ADDFN, L"pons-complete", L"Complete a word", complete);
    el_set(prompt.edit, EL_BIND, "\t", "pons-complete", NULL);
    el_set(prompt.edit, EL_UNBUFFERED, 1); // el_gets returns after each key
    cli_prompt_show(NULL);
}

void cli_prompt_stop(void)
{
    if (prompt.edit) {
        el_set(prompt.edit, EL_UNBUFFERED, 0); // gives the terminal back as it was
        el_end(prompt.edit);
        cli_erase_line();
        cli_flush();
    }
    if (prompt.history) {
        history_end(prompt.history);
    }
    prompt.edit = NULL;
    prompt.history = NULL;
    cli_prompt_words(NULL);
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

void cli_prompt_read(void)
{
    int n = 0;
    const char *text = el_gets(prompt.edit, &n);
    // A line that has become empty gives nothing too; the end is Ctrl-D, or a terminal that is
    // gone.
    if (prompt.ended || (n < 0 && errno != EINTR && errno != EAGAIN)) {
        prompt.said(prompt.user, NULL);
        return;
    }
    if (!text || n <= 0 || text[n - 1] != '\n') {
        return;
    }
    char *line = strndup(text, (size_t)n - 1);
    HistEvent ignored;
    if (line && *line) {
        history(prompt.history, &ignored, H_ENTER, line);
    }
    el_set(prompt.edit, EL_UNBUFFERED, 0); // a fresh line
    el_set(prompt.edit, EL_UNBUFFERED, 1);
    prompt.said(prompt.user, line ? line : "");
    free(line);
    cli_prompt_show(NULL);
}

// The next character, in libedit's terms: 1, 0 at the end, -1 with errno. Ctrl-D on an empty line
// is the end, as in a shell; elsewhere it deletes.
static int read_key(EditLine *e, wchar_t *ret)
{
    enum { CTRL_D = 4 };
    mbstate_t part = {0};
    for (;;) {
        char byte;
        const ssize_t got = read(STDIN_FILENO, &byte, 1);
        if (got <= 0) {
            return (int)got;
        }
        const LineInfo *typed = el_line(e);
        if (byte == CTRL_D && typed->lastchar == typed->buffer) {
            prompt.ended = true;
            return 0;
        }
        const size_t length = mbrtowc(ret, &byte, 1, &part);
        if (length == (size_t)-1) { // no character: passed over
            part = (mbstate_t){0};
        } else if (length != (size_t)-2) {
            return 1;
        }
    }
}

// Puts in what all matches have in common; where that is nothing more, shows them above the line.
static unsigned char complete(EditLine *e, int key)
{
    (void)key;
    const LineInfo *typed = el_line(e);
    const size_t n = (size_t)(typed->cursor - typed->buffer);
    const cli_completion c = cli_complete(prompt.words, typed->buffer, n);
    const size_t found = json_array_size(c.matches);
    unsigned char after = CC_ERROR; // the bell
    if (found == 1 || c.common > c.typed) {
        const char *word = json_string_value(json_array_get(c.matches, 0));
        char text[256]; // a word of letters is followed by another
        snprintf(text, sizeof text, "%.*s%s", (int)cli_cut(word, c.common), word,
                 found == 1 && !((unsigned char)word[c.common - 1] & 0x80u) ? " " : "");
        int characters = 0;
        for (size_t i = n - c.typed; i < n; i++) {
            characters += ((unsigned char)typed->buffer[i] & 0xc0u) != 0x80u;
        }
        el_deletestr(e, characters);
        after = el_insertstr(e, text) < 0 ? CC_ERROR : CC_REFRESH;
    } else if (found > 1) {
        cli_erase_line();
        for (size_t i = 0; i < found; i++) {
            cli_out("%s%s", i ? "  " : "", json_string_value(json_array_get(c.matches, i)));
        }
        cli_out("\n");
        cli_flush();
        after = CC_REDISPLAY;
    }
    pons_value_unref(c.matches);
    return after;
}

void cli_prompt_hide(void)
{
    if (prompt.edit) {
        cli_erase_line();
    }
}

void cli_prompt_show(const char *text)
{
    if (!prompt.edit) {
        return;
    }
    if (text) {
        set_text(text);
    }
    const LineInfo *typed = el_line(prompt.edit);
    const int n = (int)(typed->lastchar - typed->buffer);
    cli_erase_line();
    cli_out("%s%.*s", prompt.text, n, typed->buffer);
    cli_flush();
}

static char *prompt_text(EditLine *e)
{
    (void)e;
    return prompt.text;
}
