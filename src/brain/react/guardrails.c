// guardrails.c - R4: what the decision wants is held against the rules, the world, the plan and the queue;
// what passes is intended.
//
// Refused as a whole, its patch of the goals with it: the refusal is the next observation's last result,
// and the decision becomes a REPLAN, which is told like every other decision. FINISH is held against the world: an unmet goal, or
// a claim that is not so, refuses it. SWITCH_TASK is held against the priorities; the kernel asks them
// again before it switches.
#include "brain/critic/critic_check.h"
#include "brain/goals/goal_skills.h"
#include "brain/plan/task_plan.h"
#include "brain/react/approval.h"
#include "brain/react/goals_patch.h"
#include "brain/react/nodes.h"
#include "brain/react/observe.h"
#include "brain/react/outcome_unknown.h"
#include "brain/react/results.h"
#include "brain/records/effect_fields.h"
#include "brain/records/event_fields.h"
#include "brain/recovery/recovery.h"
#include "brain/tasks/tasks.h"

#include <math.h>
#include <string.h>

typedef struct judgement {
    pons_value *rules; // owned: what is broken
    bool asks;         // a person must agree first
    bool unmet;        // it would end a task with a goal that is not met
} judgement;

// ---- what is refused ----------------------------------------------------------------------------

static void rule(pons_value *rules, const char *name, pons_value *message)
{
    pons__broken_add(rules, &(pons__broken){.rule = name, .message = json_string_value(message)});
    pons_value_unref(message);
}

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
    pons__list list = {0};
    bool any = false;
    pons__list_read(&pons__broken_record, rules, &list);
    for (size_t i = 0; i < list.n; i++) {
        any = any || lasts(list.at[i]);
    }
    pons__list_clear(&pons__broken_record, &list);
    return any;
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
        PONS__EMIT(t->b, t->cx, decision_told, .decision = &replan, .source = "guard",
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

// Whose own motion it is: of the goal that it is for, where a person has given that; else of another that a person has
// given, of one that is open before one that is met; else of the goal that it is for. NULL: of none, it is a way to
// something else.
static const pons__goal *moved_for(const pons__turn *t, const pons__op *op)
{
    const pons__list *goals = &t->react->task->goals;
    const pons__goal *named =
        op->goal_index >= 0 && (size_t)op->goal_index < goals->n ? goals->at[op->goal_index] : NULL;
    const pons__goal *open = NULL, *met = NULL;
    named = named && pons__means_own(t->b, named, op->skill, op->args) ? named : NULL;
    for (size_t i = 0; i < goals->n; i++) {
        const pons__goal *goal = goals->at[i];
        const bool own = !goal->added && pons__means_own(t->b, goal, op->skill, op->args);
        open = own && !goal->done && !open ? goal : open;
        met = own && goal->done ? goal : met;
    }
    return named && !named->added ? named : open ? open : met ? met : named;
}

// Whether something else that a person has wished comes first; words may be said meanwhile.
static bool has_turn(const pons__turn *t, int64_t at)
{
    const pons__list *goals = &t->react->task->goals;
    bool turn = true;
    for (int64_t i = 0; i < at; i++) {
        const pons__goal *goal = goals->at[i];
        turn = turn && (goal->done || goal->added || pons__means_words(t->b, goal));
    }
    return turn;
}

// A relative move is as long as was said, in how many calls soever: no more than what is left of it is sent, and that
// when its turn has come. A person's edit is that person's.
static void judge_rest(const pons__turn *t, const pons__op *op, pons_value *rules)
{
    const pons__task *task = t->react->task;
    const bool moves =
        task && t->react->stage != PONS_STAGE_EDITED && pons__means_moves(t->b, op->skill);
    const pons__goal *goal = moves ? moved_for(t, op) : NULL;
    if (!goal) {
        return;
    }
    const int64_t at = op->goal_index;
    const bool at_hand =
        at >= 0 && (size_t)at < task->goals.n && goal == task->goals.at[at] && has_turn(t, at);
    const double more = pons__means_beyond(t->b, goal, op->skill, op->args);
    if (goal->done) {
        rule(rules, "rest",
             json_sprintf("%s is met: %s has no more to do for it", goal->text, op->skill));
    } else if (!at_hand) {
        rule(rules, "rest",
             json_sprintf("%s is what a goal is for (%s) whose turn has not come, or that is not "
                          "named: do it for that one, in its turn",
                          op->skill, goal->text));
    } else if (more > 0.0) {
        rule(rules, "rest",
             json_sprintf("%s would do %.3g more than what is %s of the goal", op->skill, more,
                          goal->left > 0.0 ? "left" : "asked for"));
    }
    // What is canceled by the same decision has not said yet how far it came.
    for (size_t i = 0; i < t->skills->running.n; i++) {
        const pons__running *running = t->skills->running.at[i];
        const bool same = running->goal_index == op->goal_index &&
                          strcmp(running->skill, op->skill) == 0 && running->task_id &&
                          strcmp(running->task_id, task->id) == 0;
        if (same && pons__has(t->react->proposed_ops->to_cancel, running->goal_id)) {
            rule(rules, "rest",
                 json_sprintf("%s is under way for this goal: cancel it, and when it has ended ask "
                              "for what is left of it",
                              op->skill));
        }
    }
}

// A model's own goals are ways to a person's, and no more of the same move.
static void judge_added(const pons__turn *t, pons_value *rules)
{
    const pons__task *task = t->react->task;
    const bool patched = task && t->react->decision && t->react->decision->plan_patch;
    for (size_t i = 0; patched && i < task->goals.n; i++) {
        const pons__goal *goal = task->goals.at[i];
        PONS__AUTO_MEANS ways = {0};
        if (goal->added && !goal->done) {
            ways = pons__means_of(t->b, goal, (int64_t)i);
        }
        const pons__means *way = ways.n ? ways.at[ways.n - 1] : NULL;
        for (size_t k = 0; way && pons__means_moves(t->b, way->skill) && k < task->goals.n; k++) {
            const pons__goal *own = task->goals.at[k];
            if (!own->added && pons__means_own(t->b, own, way->skill, way->args)) {
                rule(rules, "rest",
                     json_sprintf("the new goal %zu would be more of what a goal is for (%s)", i,
                                  own->text));
                break;
            }
        }
    }
}

// A cancel of what is not under way would do nothing, and say nothing.
static void judge_cancels(const pons__turn *t, pons_value *rules)
{
    size_t i;
    json_t *id;
    json_array_foreach(t->react->proposed_ops->to_cancel, i, id)
    {
        const char *goal_id = json_string_value(id);
        if (!pons__running_find(t->skills, goal_id)) {
            rule(rules, "cancel",
                 json_sprintf("there is no running skill with the goal_id %s",
                              *goal_id ? goal_id : "\"\""));
        }
    }
}

// ---- FINISH -------------------------------------------------------------------------------------

static const char *whereabouts(const pons_brain *b)
{
    return !pons__place_sure(b)       ? "a place that it does not know"
           : b->seen && b->seen->zone ? b->seen->zone
                                      : "no zone";
}

// The last one that a person has given and for which the base moves: what a model adds behind it, or does, takes
// the robot on its way, and not away from where it was sent. The number of goals where there is none.
static size_t last_own(const pons_brain *b, const pons__task *task)
{
    for (size_t i = task->goals.n; i > 0; i--) {
        const pons__goal *goal = task->goals.at[i - 1];
        if (!goal->added && !pons__means_stays(b, goal)) {
            return i - 1;
        }
    }
    return task->goals.n;
}

pons_value *pons__guard_finish(const pons_brain *b, const pons__task *task,
                               const pons__skills *skills)
{
    const size_t n = task ? task->goals.n : 0, own = task ? last_own(b, task) : 0;
    for (size_t i = 0; i < n; i++) {
        const pons__goal *goal = task->goals.at[i];
        const bool place = pons__means_of_place(b, goal);
        const bool last = i == own;
        if (goal->done && !(place && last)) {
            continue;
        }
        if (!pons__goal_met(b, goal, pons__goal_running(skills, i))) {
            return json_sprintf("goal %zu (%s) is not met: the robot is in %s", i,
                                *goal->text ? goal->text : goal->intent, whereabouts(b));
        }
    }
    return NULL;
}

static void judge_finish(const pons__turn *t, judgement *j)
{
    const bool ends = pons__decided(t->react) == PONS_FINISH;
    pons_value *unmet = ends ? pons__guard_finish(t->b, t->react->task, t->skills) : NULL;
    if (unmet) {
        j->unmet = true;
        rule(j->rules, "goal_met", unmet);
    }
}

// Whether it is done only a person can say, where nothing of the task can be looked up.
static void judge_unsettled(const pons__turn *t, pons_value *rules)
{
    const pons__unsettled *u = pons__unsettled_bars(t->react, t->skills);
    if (u) {
        rule(rules, "unsettled",
             json_sprintf("nobody knows what came of %s (%s): ask a person, in a decision of its "
                          "own, and end the task as done after a plain yes",
                          u->skill, u->why));
    }
}

// A yes from before an outcome became unknown was said without it in view.
static void judge_yes(const pons__turn *t, pons_value *rules)
{
    const pons__unsettled *u = pons__unsettled_of(t->react, t->skills);
    if (u && !pons__unsettled_shown(t->react->asking.question, u)) {
        rule(
            rules, "unsettled",
            json_sprintf("since it was asked nobody knows what came of %s (%s)", u->skill, u->why));
    }
}

// A place that was reached and left since is a goal again: whoever decides sees it, and goes there.
static void reopen_last(const pons__turn *t)
{
    pons__task *task = t->react->task;
    const size_t own = last_own(t->b, task);
    pons__goal *last = own < task->goals.n ? task->goals.at[own] : NULL;
    if (last) {
        last->done = last->done && !pons__means_of_place(t->b, last);
    }
}

// What a model says is true now, in terms that can be looked up: in_zone, holding, battery (at least).
static void judge_claims(const pons__turn *t, pons_value *rules)
{
    const pons__react *r = t->react;
    const pons__robot *seen = t->b->seen;
    pons__list claims = {0};
    pons__list_read(&pons__claim_record,
                    pons__decided(r) == PONS_FINISH ? r->decision->claims : NULL, &claims);
    for (size_t i = 0; i < claims.n; i++) {
        const pons__claim *claim = claims.at[i];
        const char *zone = claim->in_zone, *holding = claim->holding;
        const pons__zone *here =
            pons__place_sure(t->b) && seen && seen->zone ? pons__zone_find(t->b, seen->zone) : NULL;
        const char *held = seen && seen->holding ? seen->holding : "";
        const double pct = seen && isfinite(seen->battery_pct) ? seen->battery_pct : 0.0;
        if (zone && (!here || pons__zone_find(t->b, zone) != here)) {
            rule(rules, "claim",
                 json_sprintf("the robot is not in %s: it is in %s", zone, whereabouts(t->b)));
        }
        if (holding && strcmp(holding, held) != 0) {
            rule(rules, "claim",
                 json_sprintf("the robot does not hold %s: it holds %s", holding,
                              *held ? held : "nothing"));
        }
        if (pct < claim->battery) {
            rule(rules, "claim",
                 json_sprintf("the battery is at %.0f %%, not at %.0f %%", pct, claim->battery));
        }
    }
    pons__list_clear(&pons__claim_record, &claims);
}

// What ends a task, or leaves it, starts nothing: it would go on without one. Words may be said. The kernel's own
// decision to let go stops the base.
static void judge_end(const pons__turn *t, pons_value *rules)
{
    const pons__react *r = t->react;
    const pons__proposed *p = r->proposed_ops;
    const int type = pons__decided(r);
    const bool leaves = type == PONS_SWITCH_TASK && !r->preempt;
    const bool ends = type == PONS_FINISH || type == PONS_ABORT;
    for (size_t i = 0; (ends || leaves) && i < p->to_dispatch.n; i++) {
        const pons__op *op = p->to_dispatch.at[i];
        if (!pons__means_beside(t->b, op->skill)) {
            rule(rules, "ends",
                 json_sprintf("%s %s the task: %s cannot be started with it",
                              pons__decision_words[type], ends ? "ends" : "leaves", op->skill));
        }
    }
}

// ---- SWITCH_TASK --------------------------------------------------------------------------------

// The kernel's own decision to let go has no task to switch to.
static void judge_switch(const pons__turn *t, pons_value *rules)
{
    pons__react *r = t->react;
    const pons__task *to = NULL;
    char why[160];
    if (pons__decided(r) != PONS_SWITCH_TASK || r->preempt) {
        return;
    }
    const char *refused =
        pons__tasks_switch(t->b->tasks, r->decision->task_id, &to, why, sizeof why);
    if (refused) {
        rule(rules, "switch_task", json_string(refused));
    } else {
        pons__set_text(&r->decision->task_id, to->id);
    }
}

// ---- what passes --------------------------------------------------------------------------------

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

// ---- public functions ---------------------------------------------------------------------------

static int mode_of(const pons__react *r)
{
    return r->preempt ? r->preempt->mode : r->mode;
}

static void judge(pons__turn *t, judgement *j)
{
    pons__react *r = t->react;
    pons__proposed *p = r->proposed_ops;
    if (!p) {
        return;
    }
    judge_finish(t, j);
    judge_claims(t, j->rules);
    judge_unsettled(t, j->rules);
    judge_end(t, j->rules);
    judge_switch(t, j->rules);
    judge_cancels(t, j->rules);
    judge_added(t, j->rules);
    j->asks = p->need_approval;
    pons_autovalue running = pons__list_write(&pons__running_record, &t->skills->running);
    pons_autovalue batch = pons__list_write(&pons__op_record, &p->to_dispatch);
    for (size_t i = 0; i < p->to_dispatch.n; i++) {
        const pons__op *op = p->to_dispatch.at[i];
        pons_autovalue broken =
            pons__guard_check(t->b, mode_of(r), op->skill, op->args, running, p->to_cancel, batch);
        json_array_extend(j->rules, broken);
        judge_rest(t, op, j->rules);
        char hash[33];
        pons_value_hash(json_array_get(batch, i), hash);
        pons_autovalue wants = pons__guard_approvals(t->b, op->skill, op->args);
        pons__unsettled_asks(t->b, r, t->skills, op->skill, wants);
        j->asks = j->asks || (!pons__has(r->approved, hash) && json_array_size(wants) > 0);
    }
    if (p->plan) {
        pons__task_plan_judge(t->b, mode_of(r), p->plan, t->skills, j->rules);
    } else if (*p->plan_fault) {
        rule(j->rules, "plan_patch", json_string(p->plan_fault));
    }
}

int pons__guardrails_and_resource_check(pons_cx *cx, void *user, pons_error *err)
{
    pons__turn t;
    judgement j = {.rules = json_array()};
    pons__turn_begin(&t, cx, user, PONS_R4, err);
    judge_edit(&t);
    const bool reopened = pons__approval_reopen(t.react);
    pons__patched was = pons__goals_patch(&t);
    if (!reopened ||
        !pons__approval_no(t.react)) { // of what nobody wants there is nothing to judge
        judge(&t, &j);
        if (reopened) {
            judge_yes(&t, j.rules);
        }
    }
    pons__react *r = t.react;
    if (reopened || j.asks || json_array_size(j.rules) > 0) {
        pons__goals_put_back(&t, &was);
    }
    if (j.unmet) {
        reopen_last(&t);
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
