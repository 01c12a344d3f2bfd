// picture_consent.c - asks a person, once per thread and server, before pictures of a decision leave this machine.
//
// A decision does not wait for it: until a yes it goes without a picture. So the question is no task's. It stands in the
// kernel's own `asks`, with its answer for as long as the thread lives; a later no takes the yes back.
#include "brain/tasks/picture_consent.h"

#include "brain/records/event_fields.h"
#include "brain/records/inbox_fields.h"
#include "pons/language.h"

#include <string.h>

static const pons__question *question_of(const pons__tasks *t, const char *server)
{
    for (size_t i = 0; i < t->asks.n; i++) {
        const pons__question *q = t->asks.at[i];
        const pons_value *args = pons_get(json_array_get(q->ops, 0), "args");
        if (strcmp(pons_get_str(args, "server", ""), server) == 0) {
            return q;
        }
    }
    return NULL;
}

bool pons__picture_consent_given(pons_brain *b)
{
    const char *server = b->opts.pictures_to;
    const pons__question *q = server ? question_of(b->tasks, server) : NULL;
    b->asks_pictures = server && !q;
    b->tick_now = b->tick_now || b->asks_pictures;
    return !server || (q && strcmp(pons_get_str(q->answer, "action", ""), "approve") == 0);
}

void pons__picture_consent_ask(pons_brain *b, pons_cx *cx, pons__tasks *t)
{
    char id[PONS_ID_MAX];
    const char *server = b->opts.pictures_to;
    const pons__task *active = pons__queue_active(t);
    if (!b->asks_pictures || question_of(t, server)) {
        return;
    }
    b->asks_pictures = false;
    pons__question *q = pons__record_new(&pons__question_record);
    pons_cx_id(cx, id);
    pons__set_text(&q->id, id);
    pons__set_textf(&q->question,
                    pons_translate(active && pons_language_chinese(active->text),
                                   "may pictures of the robot's cameras go to %s?"),
                    server);
    pons__json(&q->ops,
               json_pack("[{ss s{ss}}]", "skill", PONS_SEND_PICTURES, "args", "server", server));
    pons__json(&q->cancels, json_array());
    pons__list_add(&t->asks, q);
    t->changed = true;
    pons__question reported = *q;
    reported.task_id = "";
    pons__event_emit(b, cx, &pons__approval_requested_record, &reported);
}
