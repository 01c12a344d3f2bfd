// chat_pace.c - "slower", 慢一点, in a chat with the agent: a person's word to the body, told at once, also while a
// turn is under way, and no model hears of it. A model has no way to make the robot faster.
#include "cli/agent/chat.h"

#include <string.h>

// Where a question is open, only what makes it slower is more likely meant for the robot than as the answer. "Go to the
// kitchen at half speed" is for both: the pace is told, and the model has the words.
static bool meant(const cli_chat *s, const pons_value *said, bool *ret_words_too)
{
    const char *word = pons_get_str(said, "word", "");
    const bool before = pons_get(said, "before") != NULL, rest = pons_get(said, "rest") != NULL;
    const bool number = strcmp(word, "percent") == 0 || strcmp(word, "mps") == 0;
    const bool slower =
        strcmp(word, "slower") == 0 || (rest && pons_get_bool(said, "at_most", false));
    *ret_words_too = rest || before;
    return !before &&
           (slower || ((number || !rest) && pons_agent_state_get(s->a) != PONS_AGENT_WAITING));
}

static bool robot_is_there(const cli_chat *s)
{
    pons_autovalue status =
        s->parts.robot ? pons_robot_tools_status(s->parts.robot->self) : json_object();
    return pons_get_bool(status, "connected", false);
}

static void tell(cli_chat *s, const pons_error *err)
{
    cli_agent_view_note(&s->view, "%-s", err->message);
    s->word_failed = true;
}

static void begin(cli_chat *s, const pons_value *said)
{
    pons_error err = PONS_ERROR_INIT;
    s->word_failed = false;
    if (app_pace_begin(&s->c->app, said, &s->pace, &err) < 0) {
        tell(s, &err);
    }
}

bool cli_chat_pace(cli_chat *s, const char *words)
{
    pons_error none = PONS_ERROR_INIT;
    pons_autovalue said = NULL;
    bool words_too = false;
    if (s->pace.link || app_pace_of(&s->policy, words, false, &said, &none) < 0 ||
        !meant(s, said, &words_too) || !robot_is_there(s)) {
        return false;
    }
    if (!words_too && s->prompting) {
        cli_agent_view_said(&s->view, "agent > ", words);
    }
    begin(s, said);
    return !words_too;
}

void cli_chat_pace_asked(cli_chat *s, const char *words)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue said = NULL;
    if (s->pace.link) {
        cli_agent_view_note(&s->view, "the body has not answered the last one yet");
    } else if (*words && (app_pace_of(&s->policy, words, true, &said, &err) < 0 ||
                          pons_get(said, "rest") || pons_get(said, "before"))) {
        cli_agent_view_note(&s->view, "/pace slower, faster, normal speed, half speed, 30%% or "
                                      "0.2 m/s");
    } else {
        begin(s, said);
    }
}

void cli_chat_pace_look(cli_chat *s)
{
    pons_error err = PONS_ERROR_INIT;
    const int rc = s->pace.link ? app_pace_step(&s->pace, &err) : 0;
    if (rc == 0) {
        return;
    }
    char line[128];
    app_pace_line(&s->pace, line, sizeof line);
    if (rc < 0) {
        tell(s, &err);
    } else if (s->c->json) {
        pons_autovalue row = app_pace_row(&s->pace);
        cli_print_json(row);
    } else {
        cli_agent_view_line(&s->view, "", "%s", line);
    }
    app_pace_end(&s->pace);
}
