// prompt.c - the line that a person types in while events go by above it.
//
// libedit edits the line; events are printed over it and the line is drawn again below them. The
// prompt itself carries what a person wants to see all the time: mode, battery, zone, distance,
// decision.
#include "cli/cli.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <editline/readline.h>

static struct {
    void (*said)(void *user, const char *line); // line NULL: end of input
    void *user;
    bool active;
    char text[256];
} prompt; // libedit's callback carries no user pointer, and there is one terminal

static void on_line(char *line);

void cli_prompt_start(const char *text, void (*said)(void *user, const char *line), void *user)
{
    setlocale(LC_CTYPE, "");
    prompt.said = said;
    prompt.user = user;
    prompt.active = true;
    snprintf(prompt.text, sizeof prompt.text, "%s › ", text);
    rl_callback_handler_install(prompt.text, on_line);
}

void cli_prompt_stop(void)
{
    if (prompt.active) {
        prompt.active = false;
        rl_callback_handler_remove();
        fputs("\r\033[K", stdout);
        fflush(stdout);
    }
}

void cli_prompt_read(void)
{
    rl_callback_read_char();
}

void cli_prompt_hide(void)
{
    if (prompt.active) {
        fputs("\r\033[K", stdout);
    }
}

void cli_prompt_show(const char *text)
{
    if (!prompt.active) {
        return;
    }
    if (text) {
        snprintf(prompt.text, sizeof prompt.text, "%s › ", text);
        rl_set_prompt(prompt.text);
    }
    fputs("\r\033[K", stdout);
    fflush(stdout);
    rl_forced_update_display();
}

static void on_line(char *line)
{
    if (line && *line) {
        add_history(line);
    }
    prompt.said(prompt.user, line);
    free(line);
}
