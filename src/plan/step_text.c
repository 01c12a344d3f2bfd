// step_text.c - what a step says: to a person, into the world, to the documents; and what came of it.
//
// Who performs differs (a terminal, a brain, an agent), so each has executors of its own; that they read a
// step alike, and tell the same result alike, is here.
#include "pons/buf.h"
#include "pons/plan.h"

#include <string.h>

static const char *first_text(const pons_value *parameters, const char *const *keys)
{
    const char *text = NULL;
    for (; !text && *keys; keys++) {
        text = pons_get_str(parameters, *keys, NULL);
    }
    return text;
}

const char *pons_plan_call_words(const pons_plan_call *c)
{
    static const char *const keys[PONS_TOOL_CALL_TYPES][4] = {
        [PONS_TOOL_ASK_USER] = {"prompt", "question", "text"},
        [PONS_TOOL_SPEAK] = {"text", "message", "content"},
        [PONS_TOOL_QUERY_WORLD] = {"query"},
        [PONS_TOOL_QUERY_KNOWLEDGE] = {"query", "question", "text"}};
    const pons_plan_step *s = c->step;
    const char *text = first_text(c->parameters, keys[s->tool_call_type]);
    if (text || (s->tool_call_type != PONS_TOOL_ASK_USER &&
                 s->tool_call_type != PONS_TOOL_QUERY_KNOWLEDGE)) {
        return text;
    }
    return s->tool_call_type == PONS_TOOL_ASK_USER && s->confirmation_message
               ? s->confirmation_message
           : s->description && *s->description ? s->description
                                               : s->action;
}

bool pons_plan_speech(const pons_plan_call *c, const char **ret, pons_plan_outcome *out)
{
    *ret = pons_plan_call_words(c);
    if (!*ret) {
        pons_utf8_copy(out->message, sizeof out->message,
                       "nothing to say: no text, message or content");
    }
    return *ret != NULL;
}

void pons_plan_spoken(const char *text, pons_plan_outcome *out)
{
    out->success = true;
    out->output = pons_object("text", json_string(text), NULL);
}

void pons_plan_query(const pons_plan_call *c,
                     int (*look)(void *user, const char *name, pons_value **ret, pons_error *err),
                     void *user, pons_plan_outcome *out)
{
    static const char not_known[] = " is not known";
    const char *query = pons_plan_call_words(c);
    pons_value *found = NULL;
    pons_error ignored = PONS_ERROR_INIT;
    out->success = query && look && look(user, query, &found, &ignored) >= 0;
    if (out->success) {
        out->output = pons_object(query, found, NULL);
    } else {
        pons_utf8_copy(out->message, sizeof out->message - sizeof not_known,
                       query ? query : "a query_world without query");
        strcat(out->message, not_known);
    }
}

void pons_plan_found(const pons_plan_call *c, const pons_value *result, const char *why,
                     pons_plan_outcome *out)
{
    const pons_value *passages = pons_get(pons_get(result, "data"), "passages");
    out->success = !why;
    pons_utf8_copy(out->message, sizeof out->message, why ? why : "");
    if (!why) {
        out->output = pons_object("query", json_string(pons_plan_call_words(c)), "text",
                                  json_string(pons_get_str(result, "output", "")), "passages",
                                  passages ? pons_value_ref(passages) : json_array(), NULL);
    }
}

void pons_plan_answered(bool yes, const char *answer, const char *reason, pons_plan_outcome *out)
{
    out->success = yes;
    pons_utf8_copy(out->message, sizeof out->message,
                   yes                 ? ""
                   : reason && *reason ? reason
                                       : "a person said no");
    out->output = pons_object("answer",
                              json_string(!yes                ? "no"
                                          : answer && *answer ? answer
                                                              : "yes"),
                              NULL);
}
