// summarize.c - notes in the place of a long conversation.
//
// A turn that begins with a conversation of more than three quarters of the model's window, and one
// that is nothing but `pons_agent_compact`, first asks the model to sum up what was said before the
// turn. Its notes go into the turn's requests at once and into the store with the turn's end: killed
// before that, the conversation is as it was. A model that can't gives way to a digest of first lines.
#include "agent/summarize.h"

#include "agent/context_window.h"
#include "agent/event_output.h"
#include "agent/model_request.h"
#include "agent/pending_calls.h"
#include "pons/agent.h"

#include <stdlib.h>
#include <string.h>

#define DIGEST_BYTES 6000

int pons__loop_compact(pons__role *role, pons_cx *cx, pons_value **ret_summary, bool *ret_over,
                       pons_error *err)
{
    pons_agent *a = role->a;
    const char *how = json_string_value(pons_run_get(a->run, "compact"));
    const pons_value *messages = pons_run_get(a->run, "messages"), *answer = NULL;
    const bool only = how && strcmp(how, PONS__COMPACT_ONLY) == 0;
    const size_t upto = only ? json_array_size(messages) : pons__context_turn(messages);
    if (!how || upto == 0) {
        return PONS_OK;
    }
    char call_id[PONS_ID_MAX];
    pons_cx_id(cx, call_id);
    const int rc = pons_await(
        cx, PONS__MODEL_CALL,
        pons_object("node", json_string("compact"), "ns", json_string(pons_cx_ns(cx)), "call_id",
                    json_string(call_id), "upto", json_integer((json_int_t)upto), NULL),
        0, &answer, err);
    if (rc < 0) {
        return rc;
    }
    if (pons_get(answer, "shown")) {
        pons__agent_emit(a, cx, NULL, "llm_end", pons_value_ref(pons_get(answer, "shown")));
    }
    if (pons_get_bool(answer, "stopped", false)) {
        pons_cx_put(cx, "ended", pons_object("status", json_string("stopped"), NULL));
        *ret_over = true;
        return PONS_OK;
    }
    const pons_value *reply = pons_get(answer, "reply");
    const char *said = pons_get(reply, "fault") ? "" : pons_get_str(reply, "content", "");
    char *digest = *said ? NULL : pons__context_digest(messages, 0, upto, DIGEST_BYTES);
    *ret_summary = pons_object("text", json_string(digest ? digest : said), "upto",
                               json_integer((json_int_t)upto), NULL);
    if (only) {
        pons_cx_put(cx, "iterations", json_integer(1));
        pons_cx_put(cx, "summary", pons_value_ref(*ret_summary));
        pons_cx_put(cx, "ended",
                    pons_object("status", json_string("answer"), "content",
                                json_string(digest ? digest : said), NULL));
        pons_value_unref(*ret_summary);
        *ret_summary = NULL;
        *ret_over = true;
    }
    free(digest);
    return PONS_OK;
}

pons_value *pons__compacted(pons__role *role, pons_cx *cx, pons_value *messages)
{
    const pons_value *summary = pons_cx_get(cx, "summary");
    if (!json_is_object(summary)) {
        return messages;
    }
    const pons_value *all = pons_run_get(role->a->run, "messages");
    pons_autovalue reported = pons__summary_messages(pons_get_str(summary, "text", ""));
    pons_value *list = json_array();
    size_t i;
    pons_value *m;
    json_array_foreach(reported, i, m) {
        char id[PONS_ID_MAX];
        pons_cx_id(cx, id);
        json_array_append_new(list, pons__agent_put_in(m, "id", json_string(id)));
    }
    for (i = (size_t)pons_get_int(summary, "upto", 0); i < json_array_size(all); i++) {
        json_array_append(list, json_array_get(all, i));
    }
    json_array_extend(list, messages);
    pons_value_unref(messages);
    return pons_object("__overwrite__", list, NULL);
}

int64_t pons__calls_before(const pons__role *role)
{
    return json_integer_value(pons_run_get(role->a->run, "turn_calls"));
}
