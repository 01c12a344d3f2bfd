// approval_prompt.c - what an agent asks a person, with all that a yes is for, and what a line answers.
#include "cli/agent/agent_cli.h"
#include "cli/agent/agent_events.h"
#include "pons/language.h"
#include "pons/yes_no.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define ASKED_SHOWN 16384 // bytes of what a person is asked about

// As much of a text as is shown, whole characters.
static size_t shown_of(const char *text, size_t n)
{
    size_t shown = 0;
    while (shown < n) {
        const size_t k = pons_utf8_sequence(text + shown, n - shown);
        if (k == 0 || shown + k > ASKED_SHOWN) {
            break;
        }
        shown += k;
    }
    return shown;
}

// The reason why it asks, in the person's language as far as pons knows it: what is behind is a place or a host.
static const char *lead_of(const cli_agent_view *v, const char **why)
{
    static const char *const texts[] = PONS_TOOL_WHY_TEXTS;
    for (size_t kind = 0; kind < sizeof texts / sizeof texts[0]; kind++) {
        if (strncmp(*why, texts[kind], strlen(texts[kind])) == 0) {
            *why += strlen(texts[kind]);
            return pons_translate(v->chinese, texts[kind]);
        }
    }
    return "";
}

// A yes is for all of it, so all of it is shown: what a line has no room for may be what matters. A
// provider's preview says what the arguments come to: a diff, a command.
static void ask_call(cli_agent_view *v, const pons_value *q)
{
    char *text = NULL;
    const char *why = pons_get_str(q, "why", ""), *lead = lead_of(v, &why);
    const pons_value *preview = pons_get(q, "preview");
    const char *would = pons_get_str(preview, "text", NULL);
    if (would) {
        text = strdup(would);
    } else if (pons_value_line(pons_get(q, "input"), &text) < 0) {
        text = NULL;
    }
    const size_t n = text ? strlen(text) : 0, shown = shown_of(text ? text : "", n);
    const bool beside = !would || shown == 0;
    cli_agent_view_line(
        v, "ask",
        pons_translate(v->chinese,
                       "may it call %s%s%.*s ? %s%s  y, n REASON, always, or edit {arguments}"),
        pons_get_str(q, "tool", ""), beside ? " " : "", beside ? (int)shown : 0, text ? text : "",
        lead, why);
    if (!beside) {
        text[shown] = '\0';
        cli_agent_view_diff(v, text);
    }
    if (shown < n) {
        cli_agent_view_line(v, "!",
                            pons_translate(v->chinese,
                                           "NOT ALL OF IT IS SHOWN: %zu bytes more; `pons approve "
                                           "THREAD` shows them"),
                            n - shown);
    }
    free(text);
}

// A step's title is the model's to choose; what the step does is said beside it.
static void ask_plan(cli_agent_view *v, const pons_value *q)
{
    pons_each(step, pons_get(q, "steps")) {
        pons_autovalue rest = json_copy(step);
        char *does = NULL;
        json_object_del(rest, "id");
        json_object_del(rest, "title");
        json_object_del(rest, "status");
        if (json_object_size(rest) > 0 && pons_value_line(rest, &does) >= 0) {
            cli_agent_view_line(v, "", "%lld. %s: %s", (long long)pons_get_int(step, "id", 0),
                                pons_get_str(step, "title", ""), does);
        } else if (v->live) { // the list above has cut it
            cli_agent_view_line(v, "", "%lld. %s", (long long)pons_get_int(step, "id", 0),
                                pons_get_str(step, "title", ""));
        }
        free(does);
    }
    cli_agent_view_line(
        v, "ask",
        pons_translate(v->chinese, "carry out this plan? y, n REASON, or edit {\"steps\": […]}"));
}

void cli_agent_view_question(cli_agent_view *v, const pons_value *q)
{
    const char *type = pons_get_str(q, "type", "");
    const pons_value *input = pons_get(q, "input");
    if (v->json) {
        return; // approval_request and plan_approval_request have said it
    }
    if (strcmp(type, "plan_approval") == 0) {
        ask_plan(v, q);
    } else if (strcmp(type, "question") == 0) {
        cli_agent_view_line(v, "ask", "%s", pons_get_str(input, "question", ""));
    } else if (strcmp(type, "step_confirmation") == 0) {
        cli_agent_view_line(v, "ask", pons_translate(v->chinese, "%s  y, or n REASON"),
                            pons_get_str(input, "question", ""));
    } else {
        ask_call(v, q);
    }
    if (v->prompting) {
        cli_prompt_show("answer");
    }
}

// ---- answers ------------------------------------------------------------------------------------

static bool word_is(const char *line, const char *word, const char **rest)
{
    const size_t n = strlen(word);
    if (strncasecmp(line, word, n) != 0 || (line[n] != '\0' && !isspace((unsigned char)line[n]))) {
        return false;
    }
    *rest = line + n + strspn(line + n, " \t");
    return true;
}

bool cli_agent_answer(const pons_value *question, const char *line, pons_value **ret,
                      pons_error *err)
{
    static const char *const always[] = {"always", "总是"};
    const char *rest = "";
    if (strcmp(pons_get_str(question, "type", ""), "question") == 0) {
        *ret = pons_object("action", json_string("approve"), "answer", json_string(line), NULL);
        return *ret != NULL;
    }
    const pons_yes_no said = pons_yes_no_of(line, NULL, &rest);
    if (said != PONS_SAID_NEITHER) {
        const bool yes = said == PONS_SAID_YES;
        *ret = pons_object("action", json_string(yes ? "approve" : "reject"), "reason",
                           yes ? NULL : json_string(rest), NULL);
        return true;
    }
    for (size_t i = 0; i < sizeof always / sizeof *always; i++) {
        if (word_is(line, always[i], &rest)) {
            const bool tool = strcasecmp(rest, "tool") == 0;
            if (*rest && !tool) {
                pons_error_set(err, PONS_EINVAL, "agent",
                               "always: these very arguments; always tool: whatever they are");
                return false;
            }
            *ret = pons_object("action", json_string("approve"), "always",
                               json_string(tool ? "tool" : "call"), NULL);
            return true;
        }
    }
    if (word_is(line, "edit", &rest)) {
        pons_value *edit = NULL;
        if (pons_value_parse(rest, strlen(rest), &edit, err) < 0) {
            pons_error_context(err, "edit needs JSON");
            return false;
        }
        *ret = pons_object("action", json_string("edit"), "args", edit, NULL);
        return true;
    }
    pons_error_set(err, PONS_EINVAL, "agent",
                   "a question is open: y, n REASON, of a call always, or edit JSON (Ctrl-C stops "
                   "the turn)");
    return false;
}
