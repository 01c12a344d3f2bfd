// guardrails.c - R4: what was decided is judged (decision_judge.c); then it is refused, a person is asked
// (approval_question.c), or its effects are intended and R6 sends them.
//
// Refused as a whole, its patch of the goals with it: the refusal is the next observation's last result, and the
// decision becomes a REPLAN, which is told like every other decision.
#include "brain/critic/critic_check.h"
#include "brain/plan/task_plan.h"
#include "brain/react/approval.h"
#include "brain/react/decision_judge.h"
#include "brain/react/goals_patch.h"
#include "brain/react/nodes.h"
#include "brain/react/results.h"
#include "brain/records/effect_fields.h"
#include "brain/records/event_fields.h"
#include "brain/recovery/recovery.h"

static bool lasts(const pons__broken *broken)
{
    // Of the body, its map and the policy, which stay as they are while it is tried again.
    static const char *const rules[] = {
        "known_skill", "args_schema", "supported_action", "zone",        "object",
        "map_bounds",  "keep_out",    "speed_limit",      "joint_limit", NULL};
    return broken->lasts || pons__word_find(rules, broken->rule, -1) >= 0;
}

// Arguments that fit no schema, or lead off the map, do so however often they are tried, and what a judge says
// lasts does so.
static bool lasting(const pons_value *rules)
{
    pons_each(rule, rules) {
        PONS__AUTO(broken) broken = pons__record_read(&pons__broken_record, rule);
        if (lasts(broken)) {
            return true;
        }
    }
    return false;
}

static void refuse(pons__turn *t, const pons__patched *was, const pons_value *rules)
{
    pons__react *r = t->react;
    const pons__op *first = r->proposed_ops && r->proposed_ops->to_dispatch.n
                                ? r->proposed_ops->to_dispatch.at[0]
                                : NULL;
    pons_autovalue says = pons__guard_says(rules);
    pons__result *last = pons__record_new(&pons__result_record);
    pons__set_text(&last->skill, first ? first->skill : "");
    pons__json(&last->args, first ? pons_value_ref(first->args) : json_object());
    pons__json(&last->metrics, json_object());
    last->goal_index = first ? pons__goals_place_before(t, was, first->goal_index) : -1;
    last->status = PONS_END_REFUSED;
    const bool never = lasting(rules) && r->source == PONS_SOURCE_RULES; // which have no others
    last->recovery = never ? PONS_RECOVER_ABORT : PONS_RECOVER_REPLAN;
    pons__set_text(&last->error_msg, json_string_value(says));
    pons__result_note(t, last);
    PONS__EMIT(t->b, t->cx, guard_refused, .rules = rules);
    pons_cx_custom(t->cx, pons_object("node", json_string("guardrails_and_resource_check"), "rules",
                                      pons_value_ref(rules), NULL));
    if (r->decision) {
        r->decision->type = PONS_REPLAN;
        r->replans++;
        const pons__decision replan = {
            .type = PONS_REPLAN, .reason = json_string_value(says), .task_id = ""};
        PONS__EMIT(t->b, t->cx, decision_reported, .decision = &replan, .source = "guard",
                   .iter = r->iter);
    }
    r->answered.settles = false; // the yes was to what is refused
    pons__recovery_refused(r, json_string_value(says));
    pons__json(&r->answered.edit_before, NULL);
    pons__task_plan_note_result(r, first ? first->step_id : NULL, first ? first->fallback : NULL,
                                last, rules);
    pons__decision_move(t, PONS_ON_REFUSES);
}

// A person's edit is held against the rules first: one that breaks them is no answer, and the inner
// loop is where it was when it asked.
static void judge_edit(pons__turn *t)
{
    pons__react *r = t->react;
    const pons__proposed *p = r->proposed_ops;
    if (r->stage != PONS_STAGE_EDITED || !p) {
        return;
    }
    pons_autovalue rules = json_array();
    pons_autovalue running = pons__list_write(&pons__running_record, &t->skills->running);
    pons_autovalue batch = pons__list_write(&pons__op_record, &p->to_dispatch);
    for (size_t i = 0; i < p->to_dispatch.n; i++) {
        const pons__op *op = p->to_dispatch.at[i];
        pons_autovalue broken =
            pons__guard_check(t->b, r->mode, op->skill, op->args, running, p->to_cancel, batch);
        json_array_extend(rules, broken);
    }
    if (json_array_size(rules) > 0) {
        PONS__EMIT(t->b, t->cx, guard_refused, .rules = rules);
        pons__edit_undo(t, rules);
    }
}

static int intend(pons__turn *t, pons__op *op, pons_error *err)
{
    char id[40];
    const pons__task *task = t->react->task;
    pons_value *tag = PONS__WRITE(tag, .task_id = task ? task->id : "",
                                  .goal_index = op->goal_index, .step_id = op->step_id);
    const int rc = pons_effect_intend(t->cx, op->skill, pons_value_ref(op->args),
                                      task ? (int)task->attempt : 1, tag, id, err);
    if (rc >= 0) {
        pons__set_text(&op->goal_id, id);
        pons__effect_event(t->b, t->cx, id, op->skill, op->args, "intended", NULL);
    }
    return rc;
}

static int intend_all(pons__turn *t, pons_error *err)
{
    pons__react *r = t->react;
    pons__proposed *p = r->proposed_ops;
    if (!p) {
        return PONS_OK;
    }
    pons__list_copy(&pons__op_record, &t->skills->to_dispatch, &p->to_dispatch);
    const bool vetoed = pons__answer_veto(t->b); // R6 refuses the rest
    pons__json(&t->skills->to_cancel, vetoed ? json_array() : pons_value_ref(p->to_cancel));
    for (size_t i = 0; i < t->skills->to_dispatch.n; i++) {
        const int rc = intend(t, t->skills->to_dispatch.at[i], err);
        if (rc < 0) {
            return rc;
        }
    }
    pons__edit_keep(t->b, t->cx, r);
    if (p->plan) { // it drives from the next decision on
        pons__record_free(&pons__task_plan_record, r->plan);
        r->plan = pons__record_copy(&pons__task_plan_record, p->plan);
        pons__task_plan_created(t->b, t->cx, p->plan);
    }
    return PONS_OK;
}

int pons__guardrails_and_resource_check(pons_cx *cx, void *user, pons_error *err)
{
    pons__turn t;
    pons__judgement j = {.rules = json_array()};
    pons__turn_begin(&t, cx, user, PONS_R4, err);
    judge_edit(&t);
    const bool reopened = pons__approval_reopen(t.react);
    pons__patched was = pons__goals_patch(&t);
    if (!reopened ||
        !pons__approval_no(t.react)) { // of what nobody wants there is nothing to judge
        pons__judge(&t, &j);
        if (reopened) {
            pons__judge_yes(&t, j.rules);
        }
    }
    pons__react *r = t.react;
    if (reopened || j.asks || json_array_size(j.rules) > 0) {
        pons__goals_put_back(&t, &was);
    }
    if (j.unmet) {
        pons__judge_reopen_last(&t);
    }
    if (reopened && json_array_size(j.rules) > 0) {
        pons__approval_drop(&t, j.rules);
    }
    pons__list_clear(&pons__op_record, &t.skills->to_dispatch);
    pons__json(&t.skills->to_cancel, json_array());
    t.skills_changed = true;
    int rc = PONS_OK;
    if (json_array_size(j.rules) > 0) {
        refuse(&t, &was, j.rules);
    } else if (reopened || j.asks) {
        if (!reopened) {
            pons__approval_ask(t.b, cx, r, t.skills);
        }
        pons__decision_move(&t, PONS_ON_ASKS);
    } else {
        if ((*r->answered.question || r->answered.also) && r->proposed_ops) {
            pons__unsent_keep(r, &was);
        }
        rc = intend_all(&t, err);
        pons__decision_move(&t, PONS_ON_PASSES);
    }
    pons__patched_free(&was);
    pons_value_unref(j.rules);
    return pons__turn_end(&t, rc);
}
