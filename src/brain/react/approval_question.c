// approval_question.c - what a decision asks a person, for R4.
//
// A question is an object in `react.approval`, stored with the step that asks, and has an id of its
// own:
//
//     {id, question, reason, ops: [{skill, args, goal_index, reason, asks: [{rule, message}]}…],
//      cancels: [skill…], options?: [text…], deadline_ms?, refused?}
//
// ops are all that would be sent, in their order, numbered from 1 by whoever shows them; asks says
// which rule wants a person's word for that one. refused: why the edit before was none. A question with
// options, or of a model that wants to know something, is answered with words: they reach the decision
// maker as observation.human. One with a deadline is answered with no when that has passed.
//
// What a decision asks beside stands in `react.also`: each question is an interrupt of its own, answered
// in any order, and R5 goes on when the last of them is. A no to any of them sends nothing, and neither do words: whoever asked
// decides again with them at hand.
#include "brain/critic/critic_check.h"
#include "brain/plan/task_plan.h"
#include "brain/react/approval.h"
#include "brain/react/outcome_unknown.h"
#include "brain/records/event_fields.h"
#include "pons/language.h"

#include <stdlib.h>
#include <string.h>

// The first question, which has the operations, then the others.
pons__question *pons__approval_question(const pons__react *r, size_t i)
{
    return i ? r->asking.also.at[i - 1] : r->asking.question;
}

void pons__approval_resolve(pons__turn *t, const char *id, const char *action,
                            const pons__reply *reply)
{
    PONS__EMIT(t->b, t->cx, approval_resolved, .id = id, .action = action, .reason = reply->reason,
               .by = reply->detached ? "the kernel" : reply->by,
               .at_ms = reply->at_ms ? reply->at_ms : pons__wall_ms(t->b), .answer = reply->answer);
}

// What would be sent, and which rules want a word for it.
static pons_value *shown_op(pons_brain *b, const pons__react *react, const pons__skills *skills,
                            const pons__op *op)
{
    const char *reason = react->decision ? react->decision->reason : "";
    const bool wanted = react->proposed_ops->need_approval;
    pons_value *asks = pons__guard_approvals(b, op->skill, op->args);
    pons__unsettled_asks(b, react, skills, op->skill, asks);
    if (wanted) {
        pons__broken_add(
            asks, &(pons__broken){.rule = "decision",
                                  .message = "the decision itself asks for a person's word"});
    }
    pons_value *shown = pons__record_write(&pons__op_record, op);
    json_object_set_new(shown, "reason", json_string(reason));
    json_object_set_new(shown, "asks", asks);
    return shown;
}

static pons__question *blank(pons_brain *b, pons_cx *cx, const char *text)
{
    char id[PONS_ID_MAX];
    pons__question *q = pons__record_new(&pons__question_record);
    pons_cx_id(cx, id);
    pons__set_text(&q->id, id);
    pons__set_text(&q->question, text);
    pons__json(&q->ops, json_array());
    pons__json(&q->cancels, json_array());
    if (b->rules.approval_deadline_s > 0.0) {
        q->asked_ms = pons_cx_wall_ms(cx);
        q->deadline_ms = q->asked_ms + (int64_t)(b->rules.approval_deadline_s * 1e3);
    }
    return q;
}

static pons__question *first_question(pons_brain *b, pons_cx *cx, const pons__react *react,
                                      const pons__skills *skills)
{
    const pons__proposed *p = react->proposed_ops;
    const pons__payload *payload = p->approval_payload;
    const char *reason = react->decision ? react->decision->reason : "";
    pons_value *ops = json_array(), *cancels = json_array();
    for (size_t i = 0; i < p->to_dispatch.n; i++) {
        json_array_append_new(ops, shown_op(b, react, skills, p->to_dispatch.at[i]));
    }
    pons_each(goal, p->to_cancel) {
        const pons__running *running = pons__running_find(skills, json_string_value(goal));
        json_array_append_new(cancels, json_string(running ? running->skill : ""));
    }
    const bool zh = react->task && pons_language_chinese(react->task->text);
    pons__question *q =
        blank(b, cx, payload ? payload->question : pons_translate(zh, "may I do this?"));
    const pons__unsettled *u = pons__unsettled_of(react, skills);
    pons__set_text(&q->unsettled, u ? pons__unsettled_mark(u) : NULL);
    if (u && p->to_dispatch.n == 0) { // operations show it themselves
        char *asks = NULL;
        if (asprintf(&asks, pons_translate(zh, "%s (nobody knows what came of %s: %s)"),
                     q->question, u->skill, u->why) >= 0) {
            pons__set_text(&q->question, asks);
            free(asks);
        }
    }
    // A decision that asks has its question as its reason: it is said once.
    pons__set_text(&q->reason, strncmp(q->question, reason, strlen(reason)) == 0 ? "" : reason);
    pons__set_text(&q->refused, react->answered.again);
    pons__json(&q->ops, ops);
    pons__json(&q->cancels, cancels);
    pons__json(&q->options, payload ? pons_value_ref(payload->options) : NULL);
    pons__json(&q->beside, pons_value_ref(react->answered.also));
    // A model that asks, and nothing waits to be sent, wants to know something; a plan's step that asks, too.
    q->words = payload && p->to_dispatch.n == 0 &&
               (react->source == PONS_SOURCE_LLM || pons__task_plan_asks(react));
    return q;
}

void pons__approval_ask(pons_brain *b, pons_cx *cx, pons__react *react, const pons__skills *skills)
{
    react->asking.question = first_question(b, cx, react, skills);
    const bool again =
        *react->answered.again; // the others have their answers, and the edit is none
    for (size_t i = 0; !again && i < react->proposed_ops->more.n; i++) {
        const pons__payload *payload = react->proposed_ops->more.at[i];
        pons__question *q = blank(b, cx, payload->question);
        pons__set_text(&q->reason, react->asking.question->reason);
        pons__json(&q->options, pons_value_ref(payload->options));
        q->words = react->source == PONS_SOURCE_LLM;
        pons__list_add(&react->asking.also, q);
    }
    for (size_t i = 0; i <= react->asking.also.n; i++) {
        pons__question reported = *pons__approval_question(react, i);
        reported.task_id = react->task ? react->task->id : "";
        pons__event_emit(b, cx, &pons__approval_requested_record, &reported);
    }
}

bool pons__approval_reopen(pons__react *react)
{
    pons__list *asks = react->task && !react->preempt ? &react->task->asks : NULL;
    if (!asks || asks->n == 0) {
        return false;
    }
    react->asking.question = pons__list_take(asks, 0);
    react->asking.also = *asks;
    *asks = (pons__list){0};
    return true;
}

bool pons__approval_no(const pons__react *react)
{
    for (size_t i = 0; react->asking.question && i <= react->asking.also.n; i++) {
        const pons_value *answer = pons__approval_question(react, i)->answer;
        PONS__AUTO(reply) reply = answer ? pons__reply_read(answer) : NULL;
        const bool no = reply && strcmp(reply->action, "reject") == 0;
        if (no) {
            return true;
        }
    }
    return false;
}

void pons__approval_drop(pons__turn *t, const pons_value *rules)
{
    pons_autovalue says = pons__guard_says(rules);
    pons__reply no = {.by = "the kernel"};
    pons__set_textf(&no.reason, "not any more: %s", json_string_value(says));
    for (size_t i = 0; t->react->asking.question && i <= t->react->asking.also.n; i++) {
        pons__approval_resolve(t, pons__approval_question(t->react, i)->id, "reject", &no);
    }
    pons__set_text(&no.reason, NULL);
}
