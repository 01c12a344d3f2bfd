// calm_end.c - the end of a story in which anything may have happened: from `peace_s` on all is well.
//
// What stands in the way goes, wheels turn, the battery is full, the model is there, and somebody
// takes care: resets a stop, says continue where that is what is waited for, and answers what is
// asked - yes to the first few questions, no from then on. So whatever has gone before, every task
// must come to an end. A system that still hangs then, hangs by itself.
#include "pons/link_message.h"
#include "scenario/runner.h"

#define CARE_NS     (5 * PONS_NS_PER_S) // between two looks of the person
#define AGREES_MAX  3
#define BATTERY_PCT 95.0

static void clear_world(pons__runner *r)
{
    pons_error none = PONS_ERROR_INIT;
    for (size_t i = 0; i < r->n_events; i++) {
        const pons_value *what = pons_get(r->events[i].value, "do");
        const pons_value *box =
            pons_get(what, "spawn") ? pons_get(what, "spawn") : pons_get(what, "move");
        r->events[i].done = true;
        if (box) {
            pons_autovalue gone = pons_object("id", json_string(pons_get_str(box, "id", "")),
                                              "remove", json_true(), NULL);
            r->wheels.ops.spawn(r->wheels.self, gone, &none); // it may never have been there
        }
    }
    for (size_t i = 0; i < PONS__MOVERS_MAX; i++) {
        pons_value_unref(r->movers[i].box);
        r->movers[i].box = NULL;
    }
    r->wheels.left_stuck = r->wheels.right_stuck = false;
    r->wheels.ops.set_battery(r->wheels.self, BATTERY_PCT);
    r->model.state = PONS__MODEL_THERE;
    r->steer_until_ns = 0;
    r->paused_until_ns = r->body_frozen_until_ns = 0;
    pons_message_send(r->control.link,
                      &(pons_message){.type = PONS_MESSAGE_PACE, .as.pace = {.percent = 100}},
                      &none);
}

static int care(pons__runner *r, pons_error *err)
{
    if (!r->brain) {
        return PONS_OK;
    }
    if (r->control.latched) {
        pons__watch_received(&r->watch, "reset");
        pons__post(r, "control", pons_object("word", json_string("reset"), NULL));
        return pons_message_send(r->control.link, &(pons_message){.type = PONS_MESSAGE_RESET}, err);
    }
    pons_autovalue status = pons_brain_status(r->brain);
    if (pons_get_bool(status, "paused", false) || json_is_object(pons_get(status, "stopped"))) {
        pons__watch_received(&r->watch, "continue");
        pons__post(r, "control", pons_object("word", json_string("continue"), NULL));
    }
    if (json_array_size(pons_get(status, "approvals")) > 0 ||
        json_object_size(r->watch.questions) > 0) {
        const bool yes = r->agreed < AGREES_MAX;
        r->agreed++;
        r->answered_ns = r->manual.now_ns;
        pons__post(r, "answer",
                   pons_object("action", json_string(yes ? "approve" : "reject"), "by",
                               json_string("who cares"), NULL));
    }
    return PONS_OK;
}

int pons__calm_end_step(pons__runner *r, pons_error *err)
{
    const pons_value *from = pons_get(r->s->value, "peace_s");
    if (!from || (double)r->robot_ns < json_number_value(from) * 1e9 || !r->body) {
        return PONS_OK;
    }
    if (!r->peace) {
        r->peace = true;
        clear_world(r);
    }
    if (r->brainless || r->manual.now_ns < r->care_ns) {
        return PONS_OK;
    }
    r->care_ns = r->manual.now_ns + CARE_NS;
    return care(r, err);
}
