// approval_question.c - what a run asks a person: which of several, how it is shown, and what can be an answer to it.
#include "app/operator/operator.h"
#include "pons/brain.h"
#include "pons/buf.h"

#include <stdlib.h>
#include <string.h>

const pons_value *app_question_named(const pons_value *open, const char *id)
{
    pons_each(q, open) {
        if (strcmp(pons_get_str(q, "id", ""), id) == 0 ||
            strcmp(pons_get_str(q, "request_id", ""), id) == 0) { // an agent's
            return q;
        }
    }
    return NULL;
}

int app_question_which(const char *thread, const pons_value *open, pons_error *err)
{
    char list[768] = "";
    size_t used = 0;
    for (size_t i = 0; i < json_array_size(open) && used < sizeof list; i++) {
        const pons_value *q = json_array_get(open, i);
        const pons_value *op = json_array_get(pons_get(q, "ops"), 0);
        char *args = NULL;
        if (op) {
            pons_value_line(pons_get(op, "args"), &args);
        }
        used += (size_t)snprintf(
            list + used, sizeof list - used, "%s%s (%.60s%s%.40s%s%.60s)", i ? ", " : "",
            pons_get_str(q, "id", ""), pons_get_str(q, "question", ""), op ? " " : "",
            op ? pons_get_str(op, "skill", "") : "", args ? " " : "", args ? args : "");
        free(args);
    }
    return app_bad(err, "approve: %s has %zu open questions; --id says which: %s", thread,
                   json_array_size(open), list);
}

int app_question_unknown(const char *thread, const char *id, const pons_value *open,
                         pons_error *err)
{
    const size_t n = json_array_size(open);
    if (n == 0) {
        return app_bad(err, "approve: %s waits for nobody", thread);
    }
    return app_bad(err, "approve: %s has no question %s; `pons approve %s` shows %s", thread, id,
                   thread, n > 1 ? "those that are open" : "the open one");
}

// A fork's effect goes out as it was, or not at all.
static bool of_a_fork(const pons_value *question)
{
    const pons_value *op = json_array_get(pons_get(question, "ops"), 0);
    const pons_value *rule = json_array_get(pons_get(op, "asks"), 0);
    return strcmp(pons_get_str(rule, "rule", ""), "fork") == 0;
}

const char *app_question_takes(const pons_value *question)
{
    const bool words = pons_get_bool(question, "words", false) || pons_get(question, "options");
    const bool ops = json_array_size(pons_get(question, "ops")) > 0 && !of_a_fork(question);
    return words ? "answer WORDS | reject REASON"
           : ops ? "approve | edit [N] JSON | reject REASON"
                 : "approve | reject REASON";
}

// Every operation with its number, skill and arguments, and which rule asks.
void app_question_show(const pons_value *question, void (*show)(void *user, const char *text),
                       void *user)
{
    const char *const lines[] = {"refused", "reason"};
    const char *const says[] = {"that was no answer: ", ""};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        const char *text = pons_get_str(question, lines[i], "");
        pons_autobuf b = PONS_BUF_INIT;
        if (*text) {
            pons_buf_printf(&b, "%s%s", says[i], text);
            show(user, b.data);
        }
    }
    size_t i;
    json_t *op;
    json_array_foreach(pons_get(question, "ops"), i, op) {
        char *args = NULL;
        pons_autobuf b = PONS_BUF_INIT;
        pons_buf_printf(&b, "%zu. %s %s", i + 1, pons_get_str(op, "skill", ""),
                        pons_value_line(pons_get(op, "args"), &args) >= 0 ? args : "{}");
        free(args);
        pons_each(rule, pons_get(op, "asks")) {
            pons_buf_printf(&b, "%s%s: %s", rule_at ? "; " : "   <- ",
                            pons_get_str(rule, "rule", ""), pons_get_str(rule, "message", ""));
        }
        show(user, b.data);
    }
    json_array_foreach(pons_get(question, "options"), i, op) {
        pons_autobuf b = PONS_BUF_INIT;
        pons_buf_printf(&b, "%zu) %s", i + 1, json_string_value(op));
        show(user, b.data);
    }
    json_array_foreach(pons_get(question, "cancels"), i, op) {
        pons_autobuf b = PONS_BUF_INIT;
        pons_buf_printf(&b, "and what runs now is cancelled: %s", json_string_value(op));
        show(user, b.data);
    }
}

// ---- what fits it -------------------------------------------------------------------------------

// Why this edit could not be one.
static int check_edit(const pons_value *question, const pons_value *answer, pons_error *err)
{
    const size_t n = json_array_size(pons_get(question, "ops"));
    const int64_t at = pons_get_int(answer, "op", n == 1 ? 1 : 0);
    if (strcmp(pons_get_str(answer, "action", ""), "edit") != 0) {
        return PONS_OK;
    }
    if (of_a_fork(question)) {
        return app_bad(err, "approve: what a fork asks takes approve or reject, and no edit");
    }
    if (n == 0) {
        return app_bad(err, "approve: the question has no operation to edit");
    }
    if (pons_get(answer, "ops")) {
        return PONS_OK;
    }
    if (at < 1 || at > (int64_t)n) {
        return app_bad(err,
                       at == 0 ? "approve: there are %zu operations: edit N JSON says which"
                               : "approve: there are %zu operations, and none of that number",
                       n);
    }
    return PONS_OK;
}

// A number is an option's: its words, or its place.
static int check_words(const pons_value *question, const pons_value *answer, pons_error *err)
{
    const pons_value *options = pons_get(question, "options");
    const char *words = pons_get_str(answer, "answer", "");
    const bool number = *words && words[strspn(words, "0123456789")] == '\0';
    if (json_array_size(options) > 0 && number && !pons_answer_option(options, words)) {
        return app_bad(err, "approve: there are %zu options, and none of number %s",
                       json_array_size(options), words);
    }
    return PONS_OK;
}

// When nobody has answered in time, that was a no.
static int check_time(const pons_value *question, const pons_value *answer, pons_error *err)
{
    const int64_t until_ms = pons_get_int(question, "deadline_ms", 0);
    const pons_clock clock = pons_clock_real();
    if (until_ms && pons_wall_ms(&clock) >= until_ms &&
        strcmp(pons_get_str(answer, "action", ""), "reject") != 0) {
        return app_bad(err, "approve: nobody answered before the deadline, which is a no");
    }
    return PONS_OK;
}

int app_question_fits(const pons_value *question, const pons_value *answer, pons_error *err)
{
    int rc = check_edit(question, answer, err);
    rc = rc < 0 ? rc : check_words(question, answer, err);
    return rc < 0 ? rc : check_time(question, answer, err);
}
