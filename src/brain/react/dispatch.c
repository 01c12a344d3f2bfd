// dispatch.c - R6: the one node that sends.
//
// Cancels go first and together, then each one's end is awaited: what follows may need what they hold.
// Then each operation: the link is awaited, the robot is looked at once more (a recorded verdict),
// DISPATCHED is made durable, the goal is sent, and the body's word on it awaited. Running this node
// again does no harm: a cancel may be repeated, verdicts and answers are recorded, and the ledger of
// effects sends nothing twice.
#include "brain/body_link/body_port.h"
#include "brain/critic/critic_check.h"
#include "brain/goals/goal_skills.h"
#include "brain/plan/task_plan.h"
#include "brain/react/goals_patch.h"
#include "brain/react/nodes.h"
#include "brain/react/outcome_unknown.h"
#include "brain/react/results.h"
#include "brain/records/await_fields.h"
#include "brain/records/effect_fields.h"
#include "brain/recovery/recovery.h"
#include "brain/state/effect_history.h"

#include <math.h>
#include <string.h>

#define CANCEL_WAIT_MS 10000 // host time for a body to confirm a cancel

// ---- one operation ------------------------------------------------------------------------------

static void now_running(pons__turn *t, const pons__op *op)
{
    const pons__registered *skill = pons__skill(t->b, op->skill);
    pons__running *r = pons__record_new(&pons__running_record);
    pons__set_text(&r->goal_id, op->goal_id);
    pons__set_text(&r->skill, op->skill);
    pons__set_text(&r->task_id, t->react->task ? t->react->task->id : NULL);
    pons__json(&r->args, pons_value_ref(op->args));
    pons__json(&r->resources,
               skill && skill->resources ? pons_value_ref(skill->resources) : json_array());
    pons__json(&r->step_id, pons_value_ref(op->step_id));
    pons__json(&r->fallback, pons_value_ref(op->fallback));
    r->goal_index = op->goal_index;
    r->started_ms = pons__wall_ms(t->b);
    r->started_robot_ms = pons__port_robot_ms(&t->b->port);
    r->timeout_s = pons_get_num(op->args, "timeout_s", skill ? skill->timeout_s : 0.0);
    pons__list_add(&t->skills->running, r);
    pons__unsettled_begun(t, op);
}

// Of this moment, not of the recorded answer: a brain that died before DISPATCHED was durable sends
// under its next life's epoch, perhaps to another boot.
static pons_value *dispatch_details(pons_brain *b)
{
    const pons_report_hello *hello = &b->port.greeting.as.hello;
    const int64_t boot_ms = b->opts.clock.boot_ns(b->opts.clock.ctx) / PONS_NS_PER_MS;
    return PONS__WRITE(sent, .epoch = hello->epoch, .boot_id = hello->boot_id,
                       .robot_id = hello->robot_id,
                       .expires_ms = boot_ms + (int64_t)b->rules.goal_expires_ms);
}

// A recorded task: {refused: why} or {ok}. Approvals are bound to the arguments that R4
// saw, so what remains to be asked again is the state of the robot.
static int rearbitrate(void *user, const pons_value *args, pons_value **ret, pons_error *err)
{
    pons_brain *b = user;
    PONS__AUTO(rearbitrate) q = pons__record_read(&pons__rearbitrate_record, args);
    PONS__AUTO(linked) linked = pons__record_read(&pons__linked_record, q->link);
    pons_autovalue broken = NULL;
    pons_autovalue why = NULL;
    pons_autovalue ended = pons__unsettled_ended(b, q->op->skill);
    const bool lost = pons__unsettled_lost(b, q->lost, q->op->skill);
    if (!linked->ready) {
        why = json_string(linked->detached ? "the kernel took over" : "no body answers");
    } else if (lost) {
        why = json_string("nobody knows what came of what was canceled for it");
    } else if (ended) {
        why = json_sprintf("nobody knows what came of goal %s, beside which it was to run",
                           json_string_value(ended));
    } else if (!(broken = pons__guard_kernel(b, q->op->skill))) {
        pons_autovalue none = json_array();
        broken = pons__guard_check(b, q->mode, q->op->skill, q->op->args, none, none, none);
    }
    if (json_array_size(broken) > 0) {
        why = pons__guard_says(broken);
    }
    *ret = PONS__WRITE(rearbitrated, .refused = json_string_value(why), .ok = !why);
    return PONS_OK;
}

// Called once, after DISPATCHED is on disk.
static int send_goal(void *user, const pons_effect *e, pons_error *err)
{
    pons_brain *b = user;
    pons__body_goal *g = pons__port_track(&b->port, e->id);
    pons__effect effect = {.id = e->id,
                           .skill = json_string_value(e->skill),
                           .args = e->args,
                           .args_hash = e->args_hash,
                           .attempt = e->attempt,
                           .details = pons__record_read(&pons__sent_record, e->details),
                           .tag = pons__record_read(&pons__tag_record, e->tag)};
    const pons_message_goal goal = pons__effect_goal(&effect, b->opts.thread);
    pons__port_keep(g, &goal, effect.details->boot_id);
    pons__record_free(&pons__sent_record, effect.details);
    pons__record_free(&pons__tag_record, effect.tag);
    // The recorded verdict may be of a life before this one: the robot is looked at once more.
    pons_autovalue broken = pons__guard_now(b, &g->message.as.goal);
    if (json_array_size(broken) > 0) {
        pons_autovalue why = pons__guard_says(broken);
        pons__port_refuse(g, json_string_value(why));
        return PONS_OK;
    }
    // A link that breaks now leaves DISPATCHED; the next hello asks about the goal.
    pons__port_send(&b->port, &g->message);
    g->recovering = b->port.link == NULL;
    return PONS_OK;
}

// *ret_outcome: what the body said of it, or {rejected, code, message}; the caller's.
static int send(pons__turn *t, const pons__op *op, const pons_value **ret_outcome, pons_error *err)
{
    pons_cx *cx = t->cx;
    pons_brain *b = t->b;
    const char *id = op->goal_id;
    const pons_value *link = NULL, *verdict = NULL, *word = NULL;
    int rc = pons_await(cx, "body",
                        PONS__WRITE(wait, .wait = PONS_WAIT_LINK, .for_id = id, .look_s = NAN),
                        (int64_t)b->rules.link_wait_ms, &link, err);
    if (rc < 0) {
        return rc;
    }
    // Much may have happened since R4: the verdict is taken once, and recorded.
    const int mode = t->react->preempt ? t->react->preempt->mode : t->react->mode;
    pons_autovalue question =
        PONS__WRITE(rearbitrate, .link = link, .op = op, .mode = mode, .lost = t->lost);
    rc = pons_task(cx, "rearbitrate", question, rearbitrate, b, &verdict, err);
    if (rc < 0) {
        return rc;
    }
    PONS__AUTO(rearbitrated) said = pons__record_read(&pons__rearbitrated_record, verdict);
    *ret_outcome = said->refused ? pons__word_rejected(PONS__REARBITRATED, said->refused) : NULL;
    if (*ret_outcome) {
        return PONS_OK;
    }
    pons_effect_state found = PONS_EFFECT_INTENDED;
    rc = pons_effect_dispatch(cx, id, dispatch_details(b), send_goal, b, &found, err);
    if (rc < 0) {
        return rc;
    }
    if (found == PONS_EFFECT_REFUSED) { // of a fork, and a person said no
        *ret_outcome = pons__word_rejected("not_confirmed", "a person did not confirm it");
        return PONS_OK;
    }
    rc = pons_await(cx, "body",
                    PONS__WRITE(wait, .wait = PONS_WAIT_ACCEPT, .goal_id = id, .look_s = NAN), 0,
                    &word, err);
    if (rc >= 0) {
        pons__effect_event(b, cx, id, op->skill, op->args, "dispatched", NULL);
        *ret_outcome = pons_value_ref(word);
    }
    return rc;
}

static int rejected(pons__turn *t, const pons__op *op, const pons__word *word,
                    const pons_value *outcome, pons_error *err)
{
    const char *message = word->message ? word->message : "";
    const bool no = pons__answer_veto(t->b); // a person's, after all
    pons__result *last = pons__record_new(&pons__result_record);
    pons__set_text(&last->skill, op->skill);
    pons__set_text(&last->goal_id, op->goal_id);
    pons__json(&last->args, pons_value_ref(op->args));
    pons__json(&last->metrics, json_object());
    last->goal_index = op->goal_index;
    last->status = no ? PONS_END_REFUSED : PONS_END_REJECTED;
    last->recovery = no ? PONS_RECOVER_ASK : PONS_RECOVER_RETRY;
    pons__set_textf(&last->error_msg, "%s: %s", word->code ? word->code : "", message);
    pons__result_note(t, last);
    t->held_back = true;
    pons__task_plan_note_result(t->react, op->step_id, op->fallback, last, NULL);
    pons__effect_event(t->b, t->cx, op->goal_id, op->skill, op->args, "refused", message);
    return pons__settle(t->cx, op->goal_id, PONS_EFFECT_REFUSED, pons_value_ref(outcome), err);
}

static int dispatch_one(pons__turn *t, const pons__op *op, pons_error *err)
{
    const pons_value *outcome = NULL;
    int rc = send(t, op, &outcome, err);
    if (rc < 0) {
        return rc;
    }
    PONS__AUTO(word) word = pons__record_read(&pons__word_record, outcome);
    if (word->rejected) {
        rc = rejected(t, op, word, outcome, err);
    } else {
        now_running(t, op);
        // Only the body's own "accepted" is recorded as that; a result or a detachment leaves
        // DISPATCHED.
        if (word->state && !word->status) {
            pons__effect_event(t->b, t->cx, op->goal_id, op->skill, op->args, "accepted", NULL);
            rc = pons__settle(t->cx, op->goal_id, PONS_EFFECT_ACCEPTED, NULL, err);
        }
    }
    pons_value_unref(outcome);
    return rc;
}

// It was approved, and that was taken back: nothing of the decision is left, nor its end.
static bool take_back(pons__turn *t)
{
    const pons__answer *veto = pons__answer_veto(t->b);
    pons__unsettled_agreed(t, veto || t->unsettled); // one that came in this step was not in view
    if (veto) {
        pons__unsent_put_back(t);
        pons__human_say(t->react, "may I do this?", "no", veto->reason);
        pons__recovery_taken_back(t->react);
    }
    return veto;
}

static int cancel_all(pons__turn *t, bool *ret_clear, pons_error *err)
{
    pons_each(id, t->skills->to_cancel) {
        pons__body_goal *g = pons__port_goal(&t->b->port, json_string_value(id));
        if (g && !g->result) {
            pons__port_cancel(&t->b->port, g->id);
        }
    }
    pons_each(id, t->skills->to_cancel) {
        if (!pons__running_find(t->skills, json_string_value(id))) {
            continue;
        }
        const pons_value *end = NULL;
        const int rc = pons_await(t->cx, "body",
                                  PONS__WRITE(wait, .wait = PONS_WAIT_END,
                                              .goal_id = json_string_value(id), .look_s = NAN),
                                  CANCEL_WAIT_MS, &end, err);
        if (rc < 0) {
            return rc;
        }
        PONS__AUTO(ended) reported = pons__record_read(&pons__ended_record, end);
        const bool known = reported->status != NULL;
        if (!known) { // detached, or the body is silent: it stays where it is
            *ret_clear = false;
            continue;
        }
        const int settled = pons__settle_result(t, end, err);
        if (settled < 0) {
            return settled;
        }
    }
    return PONS_OK;
}

int pons__dispatch_skills(pons_cx *cx, void *user, pons_error *err)
{
    pons__turn t;
    pons__turn_begin(&t, cx, user, PONS_R6, err);
    bool clear = true;
    int rc = cancel_all(&t, &clear, err);
    PONS__AUTO_LIST(op) sent = t.skills->to_dispatch;
    t.skills->to_dispatch = (pons__list){0};
    for (size_t i = 0; rc >= 0 && i < sent.n; i++) {
        const pons__op *op = sent.at[i];
        if (!clear && strcmp(op->skill, pons__means_stop(t.b)) != 0) {
            pons__effect_event(t.b, cx, op->goal_id, op->skill, op->args, "refused",
                               "what it needs is not free yet");
            rc = pons__settle(cx, op->goal_id, PONS_EFFECT_REFUSED, NULL, err);
        } else {
            rc = dispatch_one(&t, op, err);
        }
    }
    if (rc >= 0 && sent.n + json_array_size(t.skills->to_cancel) > 0) {
        pons__trace_put(t.b, cx,
                        (pons__entry){.dispatched = sent, .cancelled = t.skills->to_cancel});
    }
    pons__json(&t.skills->to_cancel, json_array());
    t.skills_changed = true;
    pons__json(&t.react->approved, json_array()); // an approval is for one dispatch
    if (rc >= 0) {
        const bool held_back = t.held_back || t.react->stage == PONS_STAGE_REFUSED;
        const pons__decision_event on = held_back ? PONS_ON_HOLDS_BACK : PONS_ON_SENDS;
        pons__decision_move(&t, take_back(&t) ? PONS_ON_TAKES_BACK : on);
    }
    return pons__turn_end(&t, rc);
}
