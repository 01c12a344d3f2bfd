// chat_commands.c - what begins with '/' in a chat: about the session, never for the model.
//
// A first word that is a command's name is that command; one that looks like a command and is none is
// told, and goes nowhere, as a slip must not cost a turn. Words that begin with a path ("/etc/hosts
// is …") are words.
#include "app/pictures/pictures.h"
#include "cli/agent/chat.h"
#include "cli/agent/undo.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct command {
    const char *name, *args, *help;
    enum { ANY_TIME, ARGS_IDLE, IDLE } when; // whether while a turn is under way; its arguments
    void (*run)(cli_chat *s, const char *rest);
} command;

static void tell(cli_chat *s, const pons_error *err)
{
    char text[1024];
    cli_agent_view_note(&s->view, "%-s", pons_error_line(err, text, sizeof text));
}

static void quit(cli_chat *s, const char *rest)
{
    s->quit = true;
}

static void sessions(cli_chat *s, const char *rest)
{
    pons_error err = PONS_ERROR_INIT;
    if (!*rest) {
        if (cli_sessions_print(s, &err) < 0) {
            tell(s, &err);
        }
        return;
    }
    if (strcmp(rest, s->thread) == 0) {
        cli_agent_view_note(&s->view, "%s is this session", rest);
    } else if (strlen(rest) >= sizeof s->next || !pons_agent_thread_is(s->store, rest)) {
        cli_agent_view_note(&s->view, "there is no session %s; /sessions shows them", rest);
    } else {
        snprintf(s->next, sizeof s->next, "%s", rest);
        s->quit = true;
    }
}

static void clear(cli_chat *s, const char *rest)
{
    app_new_thread(s->next);
    s->quit = true;
}

static void model(cli_chat *s, const char *rest)
{
    if (!*rest) {
        const char *named = getenv("PONS_LLM_MODEL");
        cli_agent_view_line(&s->view, "", "%s",
                            s->view.model[0]  ? s->view.model
                            : named && *named ? named
                                              : "what the server takes when nothing is said");
        return;
    }
    if (setenv("PONS_LLM_MODEL", rest, 1) == 0) {
        s->model_chosen = s->again = s->quit = true;
    }
}

static void models(cli_chat *s, const char *rest)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue names = NULL;
    if (app_model_list(s->llm_spec, &names, &err) < 0) {
        tell(s, &err);
        return;
    }
    pons_each(name, names) {
        cli_agent_view_line(&s->view, "", "%s", json_string_value(name));
    }
}

static int add_usage(void *user, const pons_event_row *row)
{
    pons_value *payload = NULL;
    if (strcmp(row->type, "llm_end") == 0 &&
        pons_value_read(row->payload.data, row->payload.len, &payload, NULL) >= 0) {
        cli_agent_usage_add(user, payload);
        pons_value_unref(payload);
    }
    return 0;
}

static void cost(cli_chat *s, const char *rest)
{
    cli_agent_usage all = {0};
    pons_error err = PONS_ERROR_INIT;
    if (s->store.ops->events(s->store.self, s->thread, 0, 0, add_usage, &all, &err) < 0) {
        tell(s, &err);
        return;
    }
    cli_agent_view_line(&s->view, "", "%lld calls, %lld tokens in, %lld out", (long long)all.calls,
                        (long long)all.prompt, (long long)all.completion);
    if (all.priced) {
        cli_agent_view_line(&s->view, "", "$%.4f by the prices of graph_config.yaml", all.cost);
    } else {
        cli_agent_view_line(&s->view, "", "%s",
                            "no price is known for this model: `prices` of graph_config.yaml");
    }
}

static void tools(cli_chat *s, const char *rest)
{
    for (size_t i = 0; i < s->parts.n_tools; i++) {
        pons_autovalue list = NULL;
        pons_error err = PONS_ERROR_INIT;
        if (s->parts.tools[i].ops->list(s->parts.tools[i].self, &list, &err) < 0) {
            tell(s, &err);
            continue;
        }
        pons_each(tool, list) {
            const char *says = pons_get_str(tool, "description", "");
            const char *end = strpbrk(says, ".;\n");
            cli_agent_view_line(&s->view, "", "%-*s %-9s %.*s", 18, pons_get_str(tool, "name", ""),
                                pons_get_str(tool, "risk", ""),
                                (int)(end ? end - says : (long)cli_cut(says, 100)), says);
        }
    }
}

static void plan(cli_chat *s, const char *rest)
{
    const pons_value *now = pons_get(pons_agent_get(s->a, "plan_data"), "plan");
    if (!json_is_object(now)) {
        cli_agent_view_line(&s->view, "", "%s", "no plan is under way");
        return;
    }
    cli_agent_view_plan(&s->view, now);
}

static void pace(cli_chat *s, const char *rest)
{
    cli_chat_pace_asked(s, rest);
}

static void compact(cli_chat *s, const char *rest)
{
    pons_error err = PONS_ERROR_INIT;
    if (pons_agent_compact(s->a, &err) < 0) {
        tell(s, &err);
    }
}

int cli_chat_picture(cli_chat *s, const char *what, bool file, pons_error *err)
{
    static const char name[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    pons_value *picture = NULL;
    int rc = app_workspace(&s->c->app, true, err);
    if (rc >= 0) {
        rc = file || what[strspn(what, name)] || access(what, F_OK) == 0
                 ? app_picture_file(&s->c->app, what, &picture, err)
                 : app_picture_take(&s->c->app, what, &picture, err);
    }
    if (rc >= 0) {
        json_array_append_new(s->pictures, picture);
    }
    return rc;
}

static void picture(cli_chat *s, const char *rest)
{
    pons_error err = PONS_ERROR_INIT;
    if (!*rest) {
        cli_agent_view_note(&s->view,
                            "/picture CAMERA, or /picture FILE: it goes with the next words");
    } else if (cli_chat_picture(s, rest, false, &err) < 0) {
        tell(s, &err);
    } else {
        const pons_value *last = json_array_get(s->pictures, json_array_size(s->pictures) - 1);
        cli_agent_view_line(&s->view, "", "%s: it goes with the next words",
                            pons_get_str(last, "caption", ""));
    }
}

static void undo(cli_chat *s, const char *rest)
{
    pons_error err = PONS_ERROR_INIT;
    const char *word = rest;
    long steps = 1;
    if (isdigit((unsigned char)*word)) {
        char *end = NULL;
        steps = strtol(word, &end, 10);
        word = end + strspn(end, " \t");
    }
    const bool list = word == rest && strcmp(word, "list") == 0, force = strcmp(word, "force") == 0;
    if (steps < 1 || steps > CLI_UNDO_MAX || (*word && !list && !force)) {
        cli_agent_view_note(&s->view, "/undo [N] [force], N from 1 to %d, or /undo list",
                            CLI_UNDO_MAX);
        return;
    }
    const int rc = list ? cli_undo_list(&s->view, s->parts.tools, s->parts.n_tools, &err)
                        : cli_undo_take(&s->view, s->parts.tools, s->parts.n_tools, (size_t)steps,
                                        force, &err);
    if (rc < 0) {
        tell(s, &err);
    }
}

// What was allowed for good, numbered; one number takes that back, from the next call on.
static void always(cli_chat *s, const char *rest)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue list = NULL;
    if (pons_agent_allowed(s->store, s->thread, &list, &err) < 0) {
        tell(s, &err);
        return;
    }
    if (strncmp(rest, "drop", strlen("drop")) == 0) {
        char *end = NULL;
        const char *word = rest + strlen("drop");
        const long n = strtol(word, &end, 10);
        const pons_value *one = n > 0 ? json_array_get(list, (size_t)n - 1) : NULL;
        if (end == word || *end || !one) {
            cli_agent_view_note(&s->view, "/always drop N: a number of /always");
        } else if (pons_agent_revoke(s->store, s->thread, pons_get_str(one, "id", ""), &err) < 0) {
            tell(s, &err);
        } else {
            cli_agent_view_line(&s->view, "", "%s is asked about again",
                                pons_get_str(one, "tool", ""));
        }
        return;
    }
    if (*rest) {
        cli_agent_view_note(&s->view, "/always, or /always drop N");
        return;
    }
    size_t i;
    pons_value *one;
    json_array_foreach(list, i, one) {
        char *text = NULL;
        const pons_value *input = pons_get(one, "input");
        const char *place = pons_get_str(one, "place", NULL);
        const bool here = !place || strcmp(place, s->folder) == 0;
        if (input && pons_value_line(input, &text) < 0) {
            text = NULL;
        }
        cli_agent_view_line(&s->view, "", "%zu  %s %s%s%s", i + 1, pons_get_str(one, "tool", ""),
                            text    ? text
                            : input ? "?"
                                    : "with whatever arguments",
                            here ? "" : "  in ", here ? "" : place);
        free(text);
    }
    if (json_array_size(list) == 0) {
        cli_agent_view_line(&s->view, "", "%s", "nothing is allowed for good");
    }
}

static void help(cli_chat *s, const char *rest);

static const command table[] = {
    {"/help", "", "what there is to say here", ARGS_IDLE, help},
    {"/sessions", "[ID]", "the sessions with their first and last words; go on with one", ARGS_IDLE,
     sessions},
    {"/clear", "", "a new session; this one stays", IDLE, clear},
    {"/model", "[NAME]", "which model answers; take another", ARGS_IDLE, model},
    {"/models", "", "which models the server has", ARGS_IDLE, models},
    {"/compact", "", "notes in place of what was said so far", IDLE, compact},
    {"/undo", "[N]", "take the newest change of a file back, or the newest N; `list`, `force`",
     IDLE, undo},
    {"/always", "", "what was allowed for good; `drop N` has it asked about again", ARGS_IDLE,
     always},
    {"/picture", "CAMERA", "a picture of a camera, or of a file, for the next words", IDLE,
     picture},
    {"/cost", "", "tokens and cost of this session", ARGS_IDLE, cost},
    {"/tools", "", "what the model may call, and what it asks about", ARGS_IDLE, tools},
    {"/plan", "", "the plan that is under way", ARGS_IDLE, plan},
    {"/pace", "[PACE]", "how fast the robot may be: slower, 30%, normal speed", ANY_TIME, pace},
    {"/quit", "", "leave; also Ctrl-D", ARGS_IDLE, quit},
    {"/exit", "", "the same", ARGS_IDLE, quit},
};
#define COMMANDS (sizeof table / sizeof table[0])

pons_value *cli_chat_words(void)
{
    pons_value *words = json_array();
    for (size_t i = 0; i < COMMANDS; i++) {
        json_array_append_new(words, json_string(table[i].name));
    }
    return words;
}

bool cli_chat_command(cli_chat *s, const char *line)
{
    const size_t n = strcspn(line, " \t\r\n");
    if (line[0] != '/') {
        return false;
    }
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strlen(table[i].name) != n || strncmp(line, table[i].name, n) != 0) {
            continue;
        }
        char rest[512]; // no name is longer
        const char *from = line + n + strspn(line + n, " \t\r\n");
        size_t len = strlen(from);
        while (len > 0 && isspace((unsigned char)from[len - 1])) {
            len--;
        }
        snprintf(rest, sizeof rest, "%.*s", (int)(len < sizeof rest ? len : sizeof rest - 1), from);
        if (s->prompting) {
            cli_agent_view_said(&s->view, "agent > ", line);
        }
        const bool busy = pons_agent_state_get(s->a) != PONS_AGENT_IDLE;
        if (busy && (table[i].when == IDLE ||
                     (table[i].when == ARGS_IDLE && rest[0] && table[i].args[0]))) {
            cli_agent_view_note(&s->view, "%s: a turn is under way; Ctrl-C stops it",
                                table[i].name);
        } else {
            table[i].run(s, rest);
        }
        return true;
    }
    const bool looks = n > 1 && strspn(line + 1, "abcdefghijklmnopqrstuvwxyz_-") == n - 1;
    if (looks) {
        cli_agent_view_note(&s->view, "there is no %.*s; /help says what there is", (int)n, line);
    }
    return looks;
}

static void help(cli_chat *s, const char *rest)
{
    for (size_t i = 0; i < COMMANDS; i++) {
        cli_agent_view_line(&s->view, "", "%-10s %-6s %s", table[i].name, table[i].args,
                            table[i].help);
    }
    cli_agent_view_line(&s->view, "", "%s",
                        "Alt-Enter, Ctrl-J or a backslash at the end: another row. What is typed "
                        "while the agent works waits. Ctrl-C stops the turn.");
}
