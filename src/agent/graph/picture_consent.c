// picture_consent.c - a person's yes before pictures leave this machine.
//
// Where the model's server is another machine, the loop asks before the first request that has a picture of this turn.
// The question is one of a call, so it is shown, answered, timed and listed as others are; a yes is a standing approval
// of the thread (standing_approvals.c) for that server, a no holds for the loop, and the model is told that the picture
// was left out (llm/pictures.c).
#include "agent/graph/picture_consent.h"

#include "agent/context_window.h"
#include "agent/standing_approvals.h"
#include "pons/buf.h"

#include <string.h>

// What the pictures from a message on are of, each after a comma.
static void captions(const pons_value *messages, size_t from, pons_buf *ret)
{
    for (size_t i = from; i < json_array_size(messages); i++) {
        pons_each(p, pons_get(json_array_get(messages, i), "pictures")) {
            pons_buf_printf(ret, "%s%s", ret->len ? ", " : "", pons_get_str(p, "caption", "?"));
        }
    }
}

pons_value *pons__pictures_question(pons__role *role, pons_cx *cx)
{
    const pons_agent *a = role->a;
    pons_autobuf of = PONS_BUF_INIT;
    if (!a->pictures_to || json_is_true(pons_cx_get(cx, "consent"))) {
        return NULL;
    }
    if (!role->executor) {
        pons_buf_str(&of, a->cameras ? a->cameras : "");
        const pons_value *said = pons_run_get(a->run, "messages");
        captions(said, pons__context_turn(said), &of);
    }
    captions(pons_cx_get(cx, "turn"), 0, &of);
    if (of.len == 0 || pons__pictures_allowed(a)) {
        return NULL;
    }
    return json_pack(
        "[o]",
        pons_object("name", json_string(PONS__SEND_PICTURES), "arguments", pons__pictures_server(a),
                    "kind", json_string(PONS__PICTURES_KIND), "state", json_string("pending"),
                    "why", json_sprintf("pictures would leave this machine: %s", of.data), NULL));
}
