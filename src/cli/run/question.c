// question.c - what a run asks a person: which of several, and how it is shown.
#include "cli/cli.h"
#include "pons/buf.h"

#include <stdlib.h>
#include <string.h>

const pons_value *cli_question_named(const pons_value *open, const char *id)
{
    for (size_t i = 0; i < json_array_size(open); i++) {
        const pons_value *q = json_array_get(open, i);
        if (strcmp(pons_get_str(q, "id", ""), id) == 0 ||
            strcmp(pons_get_str(q, "request_id", ""), id) == 0) { // an agent's
            return q;
        }
    }
    return NULL;
}

int cli_question_which(const char *thread, const pons_value *open, pons_error *err)
{
    char list[512] = "";
    size_t used = 0;
    for (size_t i = 0; i < json_array_size(open) && used < sizeof list; i++) {
        const pons_value *q = json_array_get(open, i);
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s (%.60s)", i ? ", " : "",
                                 pons_get_str(q, "id", ""), pons_get_str(q, "question", ""));
    }
    return cli_bad(err, "approve: %s has %zu open questions; --id says which: %s", thread,
                   json_array_size(open), list);
}

// Every operation with its number, skill and arguments, and which rule asks.
void cli_question_show(const pons_value *question, void (*show)(void *user, const char *text),
                       void *user)
{
    const char *const lines[] = {"refused", "reason"};
    const char *const says[] = {"the edit was no answer: ", ""};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        const char *text = pons_get_str(question, lines[i], "");
        pons_autobuf b = PONS_BUF_INIT;
        if (*text) {
            pons_buf_printf(&b, "%s%s", says[i], text);
            show(user, b.data);
        }
    }
    size_t i, k;
    json_t *op, *rule;
    json_array_foreach(pons_get(question, "ops"), i, op)
    {
        char *args = NULL;
        pons_autobuf b = PONS_BUF_INIT;
        pons_buf_printf(&b, "%zu. %s %s", i + 1, pons_get_str(op, "skill", ""),
                        pons_value_line(pons_get(op, "args"), &args) >= 0 ? args : "{}");
        free(args);
        json_array_foreach(pons_get(op, "asks"), k, rule)
        {
            pons_buf_printf(&b, "%s%s: %s", k ? "; " : "   <- ", pons_get_str(rule, "rule", ""),
                            pons_get_str(rule, "message", ""));
        }
        show(user, b.data);
    }
    json_array_foreach(pons_get(question, "options"), i, op)
    {
        pons_autobuf b = PONS_BUF_INIT;
        pons_buf_printf(&b, "%zu) %s", i + 1, json_string_value(op));
        show(user, b.data);
    }
    json_array_foreach(pons_get(question, "cancels"), i, op)
    {
        pons_autobuf b = PONS_BUF_INIT;
        pons_buf_printf(&b, "and what runs now is cancelled: %s", json_string_value(op));
        show(user, b.data);
    }
}
