// chat_stop_words.c - "stop", 停, in a chat with the agent: a person's word to the wheels, before the model and whatever is
// asked. Where no body runs it is only the turn that it ends, and words like others where none is under way.
#include "cli/agent/chat.h"

#define STOP_TIMEOUT_MS 1000
#define REASON          "a person said stop to the agent"

bool cli_chat_stop(cli_chat *s, const char *words)
{
    pons_error err = PONS_ERROR_INIT;
    if (!app_words_stop(&s->policy, words)) {
        return false;
    }
    const int rc = app_stop_robots(&s->c->app, REASON, STOP_TIMEOUT_MS, &err);
    const bool none = app_no_body(rc);
    if (none && !(s->a && pons_agent_state_get(s->a) != PONS_AGENT_IDLE)) {
        return false;
    }
    if (s->prompting) {
        cli_agent_view_said(&s->view, "agent > ", words);
    }
    s->word_failed = rc < 0 && !none;
    if (rc < 0 && !none) {
        cli_agent_view_note(&s->view, "%-s", err.message);
    } else if (rc >= 0 && s->c->json) {
        pons_autovalue row = app_stopped_value(REASON);
        cli_print_json(row);
    } else if (rc >= 0) {
        cli_agent_view_line(&s->view, "", APP_STOPPED);
    }
    return true;
}
