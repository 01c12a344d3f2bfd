// decide.c - R2: who decides, and what.
//
//     the kernel wants it back ........ let go of everything (and stop the base)
//     a person has answered meanwhile . what was decided before the task was put aside (approval.c)
//     recovery wants something ...... it decides (recovery_steps.c)
//     a plan drives ................... its engine decides (task_plan.c)
//     a model is there ................ it is asked, unless recovery or the budget says the rules
//     else ............................ the rules
//
// A model is asked when something has happened: a task begins, a skill has ended or gets nowhere, the
// kernel or a person has said something, or the time has come that the model itself had set (wake_s).
// It is never asked by the clock: R7 sees to that (results.c).
#include "brain/goals/goal_skills.h"
#include "brain/model/answer_check.h"
#include "brain/plan/task_plan.h"
#include "brain/react/nodes.h"
#include "brain/records/await_fields.h"
#include "brain/records/event_fields.h"
#include "brain/recovery/recovery.h"
#include "brain/state/effect_history.h"
#include "brain/tasks/tasks.h"

#include <math.h>

#define CUTS_MAX   3    // lives of the brain that may end with the same decision's call under way
#define PACE_BURST 20   // decisions of a model without a rest
#define PACE_MS    1000 // host time that each one takes from then on

typedef struct verdict {      // what R2 comes to
    pons__decision *decision; // owned
    int source;
    const pons_value *fallback; // owned: why the rules decide and not the model; NULL: no reason
    bool detached;              // what it waited for was taken away: look again first
    bool taken_up;              // decided before the task was put aside
    int calls;                  // of the model
    int64_t tokens;             // of those
} verdict;

// ---- the model ----------------------------------------------------------------------------------

typedef enum turned { TURNED_DONE, TURNED_CUT, TURNED_BAD } turned;

// Nobody can carry on a task that only the model understands, once the model that has worked on it is lost. A
// model that was never heard in it leaves nothing to carry on.
static bool only_the_model_can(const pons__turn *t, const verdict *v)
{
    const pons__react *r = t->react;
    return v->fallback && r->task && r->task->recovery && !pons__rules_understand(r->task) &&
           r->task->spent && r->task->spent->calls > v->calls;
}

// Whether a model is asked; where there is one and it is not, *v may say why.
static bool wants_model(pons__turn *t, verdict *v)
{
    const pons__react *r = t->react;
    const int64_t rest_ms = r->model_retry_ms - pons_cx_wall_ms(t->cx);
    if (r->model_tries == 0 && r->task && r->task->spent && !pons__rules_understand(r->task)) {
        v->fallback = json_string("no model answers");
    }
    if (r->model_tries == 0 || // further away than it ever was: the wall clock went back
        (rest_ms > 0 && (double)rest_ms <= t->b->rules.model_retry_s * 1e3 &&
         pons__rules_understand(r->task))) {
        return false;
    }
    if (pons__recovery_takes_over(r) && pons__rules_understand(r->task)) {
        v->fallback = json_string("the model's decisions led nowhere");
        return false;
    }
    return true;
}

// A model is asked as often as the world changes, and not more: PACE_BURST decisions as fast as
// they come, then one each PACE_MS of host time. So one that decides without end costs neither the
// loop nor the store more than that.
static int keep_pace(pons__turn *t, bool *ret_detached, pons_error *err)
{
    pons__react *r = t->react;
    const pons_value *rested = NULL;
    const int64_t now_ms = pons_cx_wall_ms(t->cx);
    const int64_t since_ms = r->pace ? r->pace->ms : now_ms;
    const int64_t passed_ms = now_ms > since_ms ? now_ms - since_ms : 0; // wall clocks go back
    int64_t debt_ms = (r->pace ? r->pace->debt_ms : 0) - passed_ms;
    debt_ms = debt_ms > 0 ? debt_ms : 0;
    const int64_t rest_ms = debt_ms + PACE_MS - PACE_BURST * PACE_MS;
    if (rest_ms > 0) {
        const pons__wait wait = {.wait = PONS_WAIT_REST, .ms = rest_ms, .look_s = NAN};
        pons_value *request = pons__record_write(&pons__wait_record, &wait);
        const int rc = pons_await(t->cx, "body", request, 0, &rested, err);
        if (rc < 0) {
            return rc;
        }
        *ret_detached = pons__await_detached(rested);
        debt_ms -= rest_ms;
    }
    if (!r->pace) {
        r->pace = pons__record_new(&pons__pace_record);
    }
    r->pace->ms = now_ms + (rest_ms > 0 ? rest_ms : 0);
    r->pace->debt_ms = debt_ms + PACE_MS;
    return PONS_OK;
}

// What a call that has ended costs, however it ended.
static void pay(const pons__turn *t, verdict *v, const pons__model_answer *answer)
{
    v->calls++;
    v->tokens += answer->tokens;
    pons__budget_spend(t->b, t->react, answer->tokens);
}

// Whether an answer is a decision; if not, *why says what is wrong with it.
static bool is_decision(const pons__turn *t, verdict *v, const pons__model_answer *answer,
                        pons_error *why)
{
    if (answer->too_long > 0) {
        pons_error_set(why, PONS_EINVAL, "brain", "an answer of %lld bytes is too long",
                       (long long)answer->too_long);
        return false;
    }
    return pons__decision_parse(t->b, t->react->task, answer->content, &v->decision, why) >= 0;
}

// What comes of one answer: the verdict, or another call. *why: what was wrong with it.
static turned take_answer(const pons__turn *t, verdict *v, const pons__model_answer *answer,
                          pons_error *why)
{
    pay(t, v, answer);
    if (answer->error) {
        v->fallback = json_sprintf("the model is lost (%s)", answer->error);
        return TURNED_DONE;
    }
    if (!answer->cut && !answer->detached && is_decision(t, v, answer, why)) {
        return TURNED_DONE;
    }
    v->detached = answer->detached || pons__budget_over(t->react);
    return v->detached ? TURNED_DONE : answer->cut ? TURNED_CUT : TURNED_BAD;
}

// A valid decision; or the reason why the rules must decide; or detached, also where the budget is used
// up by now: recovery has the next word.
static int model_decision(pons__turn *t, verdict *v, pons_error *err)
{
    pons_error why = PONS_ERROR_INIT;
    pons__model_answer *last = NULL;
    turned how = TURNED_BAD;
    int rc = PONS_OK;
    int64_t attempt = 1, cuts = 0;
    while (rc >= 0 && how != TURNED_DONE && attempt <= t->react->model_tries && cuts < CUTS_MAX) {
        const pons_value *reported = NULL;
        const pons__model_asked asked = {.iter = t->react->iter,
                                         .attempt = attempt,
                                         .complaint = last ? why.message : NULL,
                                         .previous = last ? last->content : NULL};
        rc = pons_await(t->cx, "llm", pons__record_write(&pons__model_asked_record, &asked), 0,
                        &reported, err);
        if (rc < 0) {
            break;
        }
        pons_error wrong = PONS_ERROR_INIT;
        pons__model_answer *answer = pons__record_read(&pons__model_answer_record, reported);
        how = take_answer(t, v, answer, &wrong);
        cuts += how == TURNED_CUT;
        if (how == TURNED_BAD) {
            attempt++;
            pons__record_free(&pons__model_answer_record, last);
            last = answer;
            why = wrong;
        } else {
            pons__record_free(&pons__model_answer_record, answer);
        }
    }
    pons__record_free(&pons__model_answer_record, last);
    if (rc < 0 || how == TURNED_DONE) {
        return rc < 0 ? rc : PONS_OK;
    }
    v->fallback =
        cuts == CUTS_MAX
            ? json_sprintf("the model was asked %d times, and each time the brain ended before it "
                           "had answered",
                           CUTS_MAX)
            : json_sprintf("the model answered badly %lld times (%s)",
                           (long long)t->react->model_tries, why.message);
    return PONS_OK;
}

// ---- the rules ----------------------------------------------------------------------------------

// A sub-goal that a model added and the rules find impossible is dropped; it costs a person
// nothing that the person asked for.
static void spare_task(const pons__task *task, pons__decision *d)
{
    const int at = pons__goal_open(task);
    const pons__goal *goal = at >= 0 ? task->goals.at[at] : NULL;
    if (d->type == PONS_ABORT && goal && goal->added) {
        d->type = PONS_REPLAN;
        pons__set_textf(&d->reason, "The model's sub-goals are dropped: %s", d->reason);
        pons__json(&d->plan_patch, pons_object("goals", json_array(), NULL));
        pons__json(&d->ops, NULL);
    }
}

static int rules_decision(pons__turn *t, verdict *v, pons_error *err)
{
    const pons__react *r = t->react;
    if (!pons__rules_understand(r->task)) {
        v->decision = pons__record_new(&pons__decision_record);
        v->decision->type = PONS_ABORT;
        pons__set_text(&v->decision->reason,
                       "the rules do not understand this task and no model answers");
        return PONS_OK;
    }
    if (!pons_get(r->observation, "means")) { // an earlier program looked, before it asked a model
        v->detached = true;
        return PONS_OK;
    }
    pons_autovalue said = NULL;
    const int rc =
        t->b->opts.policy.ops->decide(t->b->opts.policy.self, r->observation, &said, err);
    if (rc >= 0) {
        v->decision = pons__record_read(&pons__decision_record, said);
        spare_task(r->task, v->decision);
    }
    return rc;
}

// ---- who decides --------------------------------------------------------------------------------

// The kernel's: let go of everything that runs, and stop the base where it asked for it.
static pons__decision *kernel_decision(const pons__turn *t)
{
    const pons__preempt *preempt = t->react->preempt;
    pons_value *ops = json_array();
    for (size_t i = 0; i < t->skills->running.n; i++) {
        const pons__running *r = t->skills->running.at[i];
        pons__ops_add(ops, &(pons__asked){.op = PONS_OP_CANCEL,
                                          .goal_id = r->goal_id,
                                          .goal_index = PONS__GOAL_AT_HAND});
    }
    if (preempt->stop_base && *pons__means_stop(t->b)) {
        pons_autovalue none = json_object();
        pons__ops_add(ops, &(pons__asked){.op = PONS_OP_DISPATCH,
                                          .skill = pons__means_stop(t->b),
                                          .args = none,
                                          .goal_index = PONS__GOAL_AT_HAND});
    }
    pons__decision *d = pons__record_new(&pons__decision_record);
    d->type = PONS_SWITCH_TASK;
    pons__set_textf(&d->reason, "kernel: %s (%s)", preempt->reason,
                    pons__mode_words[preempt->mode]);
    pons__json(&d->ops, ops);
    return d;
}

static int decide(pons__turn *t, verdict *v, pons_error *err)
{
    pons__react *r = t->react;
    v->source = PONS_SOURCE_RULES;
    if (r->preempt) {
        v->decision = kernel_decision(t);
        return PONS_OK;
    }
    if (r->task && r->task->asks.n > 0) { // it was put aside, and people have answered
        const pons__question *q = r->task->asks.at[0];
        v->decision = pons__record_read(&pons__decision_record, q->decision);
        v->source = q->source;
        v->taken_up = true;
        return PONS_OK;
    }
    if ((v->decision = pons__recovery_decide(t->b, r, t->skills))) {
        v->source = PONS_SOURCE_RECOVERY;
        return PONS_OK;
    }
    if (pons__task_plan_drives(r->plan)) {
        const int rc = pons__task_plan_decide(t->b, t->cx, r, t->skills, &v->decision, err);
        if (rc < 0 || v->decision) {
            v->source = PONS_SOURCE_PLAN;
            return rc;
        }
    }
    if (wants_model(t, v)) {
        int rc = keep_pace(t, &v->detached, err);
        if (rc >= 0 && !v->detached) {
            rc = model_decision(t, v, err);
        }
        if (rc < 0 || v->detached || v->decision) {
            v->source = PONS_SOURCE_LLM;
            return rc;
        }
        if (v->fallback) {
            r->model_retry_ms = pons__wall_ms(t->b) + (int64_t)(t->b->rules.model_retry_s * 1e3);
        }
    }
    if (only_the_model_can(t, v)) {
        pons__recovery_lost(r, json_string_value(v->fallback));
        pons__json(&v->fallback, NULL);
        v->decision = pons__recovery_decide(t->b, r, t->skills);
        v->source = PONS_SOURCE_RECOVERY;
        return PONS_OK;
    }
    if (v->fallback) {
        pons__json(&v->fallback,
                   json_sprintf("%s: the rules decide", json_string_value(v->fallback)));
    }
    return rules_decision(t, v, err);
}

// What is decided, for people, the trace and the stream; with a fallback the output says that the model
// was lost, and why the rules decided.
static void show(pons__turn *t, verdict *v)
{
    const char *source = pons__source_words[v->source];
    const pons__model_cost cost = {.calls = v->calls, .tokens = v->tokens};
    PONS__EMIT(t->b, t->cx, decision_reported, .decision = v->decision, .source = source,
               .iter = t->react->iter, .fallback = json_string_value(v->fallback),
               .model = v->calls ? &cost : NULL);
    pons_cx_custom(t->cx, pons_object("node", json_string("react_decide"), "decision",
                                      json_string(pons__decision_words[v->decision->type]),
                                      "reason", json_string(v->decision->reason), "source",
                                      json_string(source), NULL));
    pons__trace_put(t->b, t->cx,
                    (pons__entry){.decision = pons__decision_words[v->decision->type],
                                  .reason = v->decision->reason,
                                  .source = source});
}

int pons__react_decide(pons_cx *cx, void *user, pons_error *err)
{
    pons__turn t;
    verdict v = {0};
    pons__turn_begin(&t, cx, user, PONS_R2, err);
    pons__react *r = t.react;
    const int rc = decide(&t, &v, err);
    if (rc < 0 || v.detached) {
        if (rc >= 0) {
            pons__decision_move(&t, PONS_ON_DETACHED);
        }
        pons__record_free(&pons__decision_record, v.decision);
        pons_value_unref(v.fallback);
        return pons__turn_end(&t, rc);
    }
    pons_autovalue said = pons__record_write(&pons__decision_record, v.decision);
    if (v.source == PONS_SOURCE_RULES || v.source == PONS_SOURCE_RECOVERY) {
        pons__door_own(t.b, cx, PONS_DOOR_DECISION, said);
    }
    const int type = v.decision->type;
    r->replans += !v.taken_up && (type == PONS_REPLAN || type == PONS_RETRY);
    if (v.source != PONS_SOURCE_RECOVERY && !r->preempt && !v.taken_up) {
        pons__recovery_decided(t.b, r, v.decision, v.source);
    }
    r->wake = PONS_WAKE_NONE;
    show(&t, &v);
    pons__say_message(cx, "assistant", said);
    pons__record_free(&pons__decision_record, r->decision);
    r->decision = v.decision;
    r->decided_ms = pons__wall_ms(t.b);
    r->source = v.source;
    pons_value_unref(v.fallback);
    pons__decision_move(&t, PONS_ON_DECIDES);
    return pons__turn_end(&t, PONS_OK);
}
