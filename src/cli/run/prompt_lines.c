// prompt_lines.c - what a person types at the prompt of a brain: goals, answers, words of the prompt's own.
#include "app/notify/secret_filter.h"
#include "app/session/keyed_task.h"
#include "cli/run/brain_session.h"

#include <string.h>
#include <unistd.h>

static void tell(const prompt_lines *p, const pons_error *err)
{
    char line[1024];
    cli_display_note(p->display, "%-s", pons_error_line(err, line, sizeof line));
}

// Whether they were a stop that has latched.
static bool speak_line(prompt_lines *p, const char *text)
{
    pons_error err = PONS_ERROR_INIT;
    const bool latched = app_stop_words(&p->c->app, p->policy, text);
    if (pons_brain_say(p->brain, text, &err) < 0) {
        tell(p, &err);
    }
    return latched;
}

// The question that is answered: of several that are open one must be named, as with `pons approve`. NULL, and that
// is said: it is not clear which, or there is none of that id. An object: no question is open.
static pons_value *question_meant(prompt_lines *p, const char *id, bool no)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue status = pons_brain_status(p->brain);
    const pons_value *open = pons_get(status, "approvals"),
                     *one = id ? app_question_named(open, id) : json_array_get(open, 0);
    if (id && !one && no) { // a no takes back a yes of which nothing has begun
        one = app_question_named(pons_get(status, "answered"), id);
    }
    if (id && !one) {
        app_question_unknown(p->thread, id, open, &err);
    } else if (!id && json_array_size(open) > 1) {
        app_question_which(p->thread, open, &err);
    }
    if (err.status < 0) {
        tell(p, &err);
        return NULL;
    }
    return one ? pons_value_ref(one) : json_object();
}

// "--id ID" or "--id=ID" at the front of what is left, taken off; *ret_id stays where there is none. An --id without
// ID names no question, and is no reason either.
static int take_id(char **rest, const char **ret_id, pons_error *err)
{
    const size_t n = strlen("--id");
    *rest += *rest ? strspn(*rest, " ") : 0;
    if (!*rest || strncmp(*rest, "--id", n) != 0 || !strchr(" =", (*rest)[n])) {
        return PONS_OK;
    }
    const char *word = strtok_r(NULL, " ", rest);
    const char *id = word[n] ? word + n + 1 : strtok_r(NULL, " ", rest);
    if (!id || !*id) {
        return app_bad(err, "--id needs the ID of an open question; `status` shows them");
    }
    *ret_id = id;
    return PONS_OK;
}

// "approve", "approve edit JSON", "approve reject WHY", or the same without "approve"; --id ID behind the first word
// where several questions are open.
static void answer_line(prompt_lines *p, char *text)
{
    pons_error err = PONS_ERROR_INIT;
    char *save = NULL;
    char *action = strtok_r(text, " ", &save);
    const char *id = NULL;
    int rc = take_id(&save, &id, &err);
    if (rc >= 0 && strcmp(action, "approve") == 0 && save && *save) {
        action = strtok_r(NULL, " ", &save);
        rc = take_id(&save, &id, &err);
    }
    pons_autovalue answer = NULL;
    if (rc < 0 ||
        app_answer(action ? action : "approve", save && *save ? save : NULL, &answer, &err) < 0) {
        cli_tell(&err);
        return;
    }
    const char *words = pons_get_str(answer, "answer", NULL);
    if (words && app_words_stop_or_pause(p->policy, words)) {
        speak_line(p, words);
        return;
    }
    const bool no = strcmp(pons_get_str(answer, "action", ""), "reject") == 0;
    pons_autovalue meant = question_meant(p, id, no);
    if (!meant) {
        return;
    }
    app_answer_sign(answer, "the prompt");
    const char *asked = pons_get_str(meant, "id", NULL);
    if (asked) {
        json_object_set_new(answer, "id", json_string(asked));
    }
    if ((asked && app_question_fits(meant, answer, &err) < 0) ||
        pons_brain_answer(p->brain, answer, &err) < 0) {
        tell(p, &err);
    }
}

static bool says_yes_or_no(const prompt_lines *p, const char *text)
{
    pons_error none = PONS_ERROR_INIT;
    pons_autovalue parsed = NULL;
    pons_autovalue world = json_object();
    const int rc = p->policy->ops->parse(p->policy->self, text, world, &parsed, &none);
    const char *word = rc < 0 ? "" : pons_get_str(parsed, "control", "");
    return json_array_size(pons_get(parsed, "goals")) == 0 &&
           (strcmp(word, "yes") == 0 || strcmp(word, "no") == 0);
}

// ---- help ---------------------------------------------------------------------------------------

static const struct {
    const char *name, *does;
} commands[] = {
    {"help", "this"},
    {"status", "how it stands, and what waits"},
    {"stop", "latches a protective stop, at once"},
    {"reset", "lifts the latch"},
    {"pause", "the task waits, and keeps its place"},
    {"continue", "goes on after a pause, or after stop and reset"},
    {"cancel", "ends all tasks; one: /cancel task-2"},
    {"approve", "says yes to the open question; also reject WHY, edit JSON, answer WORDS"},
    {"quit", "leaves; what waits is kept for `pons resume`"}};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

void prompt_commands(pons_value *words)
{
    for (size_t i = 0; i < COMMANDS; i++) {
        json_array_append_new(words, json_sprintf("/%s", commands[i].name));
    }
}

static void show_help(const prompt_lines *p)
{
    cli_display_line(
        p->display, "help",
        "say what it shall do, in English or Chinese: go to the kitchen; bring the cup "
        "to the study; where are you? \"What can you do?\" tells what it can do here");
    for (size_t i = 0; i < COMMANDS; i++) {
        const char *name = commands[i].name;
        cli_display_line(p->display, i ? "" : "also", "/%s%*s %-s", name, 9 - (int)strlen(name), "",
                         commands[i].does);
    }
}

// A word of the prompt's own has a slash before it, or `pons`, or nothing; behind a slash there is no other. NULL: it
// was one that is done with.
static char *own_word(const prompt_lines *p, char *text)
{
    if (strncmp(text, "pons ", strlen("pons ")) == 0) { // as it is typed elsewhere
        return text + strlen("pons ");
    }
    const size_t n = strcspn(text + 1, " ");
    for (size_t i = 0; *text == '/' && i < COMMANDS; i++) {
        if (strlen(commands[i].name) == n && strncmp(text + 1, commands[i].name, n) == 0 && i > 0) {
            return text + 1;
        }
    }
    if (strcmp(text, "/help") == 0) {
        show_help(p);
    } else if (*text == '/') {
        cli_display_note(p->display, "there is no %.*s; /help shows what there is", (int)n + 1,
                         text);
    }
    return *text == '/' ? NULL : text;
}

bool prompt_line(prompt_lines *p, char *text)
{
    pons_error err = PONS_ERROR_INIT;
    text += strspn(text, " \t\r");
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t\r", text[length - 1])) { // Tab puts a space behind a word
        text[--length] = '\0';
    }
    if (!*text) {
        return true;
    }
    text = p->owner ? text : own_word(p, text);
    if (!text) {
        return true;
    }
    if (strcmp(text, "quit") == 0 || strcmp(text, "exit") == 0) {
        return false;
    }
    if (p->owner) {
        if (!app_words_stop(p->policy, text)) {
            p->owner->said(p->owner->user, text);
            return true;
        }
        // The robot's, whatever the owner is asked or at work on.
        p->owner->stopped(p->owner->user, speak_line(p, text));
        return true;
    }
    static const char *const answers[] = {"approve", "answer", "reject", "edit"};
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        const size_t n = strlen(answers[i]);
        if (strncmp(text, answers[i], n) == 0 && (text[n] == '\0' || text[n] == ' ')) {
            answer_line(p, text);
            return true;
        }
    }
    if (strncmp(text, "cancel task-", strlen("cancel task-")) == 0) {
        if (app_task_cancel(p->store, p->thread, text + strlen("cancel "), NULL, &err) >= 0) {
            pons_brain_wake(p->brain);
            return true;
        }
    }
    if (strcmp(text, "status") == 0) {
        pons_autovalue status = pons_brain_status(p->brain);
        if (p->c->json) {
            cli_print_json(status);
        } else {
            pons_autovalue clean = app_value_without_secrets(status);
            cli_status_show(clean);
        }
        return true;
    }
    if (says_yes_or_no(p, text)) { // to which?
        pons_autovalue meant = question_meant(p, NULL, false);
        if (!meant) {
            return true;
        }
    }
    speak_line(p, text);
    return true;
}

bool stdin_read(stdin_lines *in)
{
    const size_t had = in->length < sizeof in->text ? in->length : sizeof in->text - 1;
    const ssize_t n = read(STDIN_FILENO, in->text + had, sizeof in->text - had - 1);
    in->open = n > 0;
    in->length += n > 0 ? (size_t)n : 0;
    in->text[in->length] = '\0';
    return in->open;
}

bool stdin_line(stdin_lines *in, char ret[STDIN_LINE_MAX])
{
    char *end = strchr(in->text, '\n');
    if (!end) {
        return false;
    }
    snprintf(ret, STDIN_LINE_MAX, "%.*s", (int)(end - in->text), in->text);
    in->length = strlen(end + 1);
    memmove(in->text, end + 1, in->length + 1);
    return true;
}
