// step_hold.c - `pons run --step`: the inner loop is held before each superstep, until a person says a word.
#include "cli/run/brain_session.h"

#include <unistd.h>

static void step_line(step_hold *h, prompt_lines *p, const char *text, bool *ret_quit)
{
    switch (cli_step_parse(text)) {
    case CLI_STEP_CONTINUE:
        h->free_run = true;
        break;
    case CLI_STEP_STATE:
        cli_print_json(h->state);
        break;
    case CLI_STEP_QUIT:
        *ret_quit = true;
        break;
    case CLI_STEP_NEXT:
        if (h->held) {
            h->held = false;
            pons_brain_step(p->brain);
        }
        break;
    default:
        cli_display_note(p->display, CLI_STEP_HELP);
    }
}

bool step_hold_turn(step_hold *h, prompt_lines *p, stdin_lines *in, bool *ret_quit)
{
    pons_autovalue next = pons_brain_held(p->brain);
    if (!next) {
        return false;
    }
    if (!h->held) {
        pons_error none = PONS_ERROR_INIT;
        pons_value *state = NULL;
        pons_state_read(p->store, p->thread, "react", &state, &none); // none before its first
        cli_step_show(p->display, p->c, p->thread, "react", h->next, h->state, state, next);
        if (!p->c->json && !h->free_run && !h->next && isatty(STDIN_FILENO)) {
            cli_display_note(p->display, CLI_STEP_HELP);
        }
        pons_value_unref(h->state);
        pons_value_unref(h->next);
        h->state = state;
        h->next = pons_value_ref(next);
        h->held = true;
    }
    char text[STDIN_LINE_MAX];
    while (h->held && !*ret_quit && stdin_line(in, text)) { // a word a step, in their order
        step_line(h, p, text, ret_quit);
    }
    h->free_run = h->free_run || !in->open; // nobody says anything more
    if (h->held && h->free_run) {
        h->held = false;
        pons_brain_step(p->brain);
    }
    return !h->held || *ret_quit;
}

void step_hold_clear(step_hold *h)
{
    pons_value_unref(h->state);
    pons_value_unref(h->next);
}
