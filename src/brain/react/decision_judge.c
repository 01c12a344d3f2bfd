// decision_judge.c - what is held against a decision: the rules of the critic, the world, the plan and the queue.
//
// FINISH is held against the world: an unmet goal, or a claim that is not so, refuses it. SWITCH_TASK is held against
// the priorities; the kernel asks them again before it switches.
#include "brain/react/decision_judge.h"

#include "brain/critic/critic_check.h"
#include "brain/goals/goal_skills.h"
#include "brain/plan/task_plan.h"
#include "brain/react/observe.h"
#include "brain/react/outcome_unknown.h"
#include "brain/tasks/tasks.h"

#include <math.h>
#include <string.h>

static void rule(pons_value *rules, const char *name, pons_value *message)
{
    pons__broken_add(rules, &(pons__broken){.rule = name, .message = json_string_value(message)});
    pons_value_unref(message);
}

// A cancel of what is not under way would do nothing, and say nothing.
static void judge_cancels(const pons__turn *t, pons_value *rules)
{
    pons_each(id, t->react->proposed_ops->to_cancel) {
        const char *goal_id = json_string_value(id);
        if (!pons__running_find(t->skills, goal_id)) {
            rule(rules, "cancel",
                 json_sprintf("there is no running skill with the goal_id %s",
                              *goal_id ? goal_id : "\"\""));
        }
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

// ---- its end ------------------------------------------------------------------------------------

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

static void judge_finish(const pons__turn *t, pons__judgement *j)
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
void pons__judge_yes(const pons__turn *t, pons_value *rules)
{
    const pons__unsettled *u = pons__unsettled_of(t->react, t->skills);
    if (u && !pons__unsettled_shown(t->react->asking.question, u)) {
        rule(
            rules, "unsettled",
            json_sprintf("since it was asked nobody knows what came of %s (%s)", u->skill, u->why));
    }
}

// A place that was reached and left since is a goal again: whoever decides sees it, and goes there.
void pons__judge_reopen_last(const pons__turn *t)
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
    PONS__AUTO_LIST(claim) claims = {0};
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

// ---- all of it ----------------------------------------------------------------------------------

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

static int mode_of(const pons__react *r)
{
    return r->preempt ? r->preempt->mode : r->mode;
}

void pons__judge(pons__turn *t, pons__judgement *j)
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
