// plan_run.c - R2: the engine of a task's plan, as far as it goes (task_plan.c has the state).
//
// An executor that needs the world asks for it once, as an operation of the decision, notes that in `pend`, and
// parks; when the note has what became of it, the engine comes to the same step again and goes on.
#include "brain/critic/critic_check.h"
#include "brain/goals/goal_skills.h"
#include "brain/plan/task_plan.h"
#include "brain/records/await_fields.h"
#include "brain/records/inbox_fields.h"
#include "brain/records/observation_fields.h"
#include "brain/recovery/recovery.h"
#include "brain/tasks/tasks.h"
#include "pons/language.h"

#include <string.h>

enum { REASON_MAX = 384, SEARCH_MS = 20000 };

typedef struct pursuit { // one run of the engine, inside R2
    pons_brain *b;
    pons_cx *cx;
    const pons__skills *skills;
    pons_value *facts;
    bool no_progress;
    pons__pend *pend;            // owned; NULL: nothing was asked
    const pons__step_rest *rest; // of the step in hand; NULL: none, or its step has ended
    pons_value *ops;             // what the decision asks for
    pons__react *react;          // whose plan it is
    int64_t goal_index;          // that its steps serve: a model's plan is for the goal at hand
    pons__decision_type type;
    char reason[REASON_MAX];
    int moved;     // statuses that changed
    bool searches; // R2 is parked: the host searches
} pursuit;

// What the engine came to: the decision; NULL where a model's plan has ended.
static pons__decision *decision_of(const pursuit *p, const pons_plan *plan, bool given)
{
    if (!given && pons_machine_final(&pons_plan_machine, plan->status)) {
        return NULL;
    }
    pons__decision *d = pons__record_new(&pons__decision_record);
    d->type = p->type;
    pons__set_text(&d->reason, *p->reason ? p->reason : "the plan goes on");
    pons__json(&d->ops, pons_value_ref(p->ops));
    return d;
}

static void plan_over(pursuit *p, const pons_plan *plan)
{
    char last[REASON_MAX];
    p->type = plan->status == PONS_PLAN_COMPLETED ? PONS_FINISH : PONS_ABORT;
    const bool zh = pons_language_chinese(plan->goal);
    snprintf(last, sizeof last, pons_translate(zh, "plan %.64s is %s%s%.200s"), plan->plan_id,
             pons_translate(zh, pons_plan_status_word(plan->status)),
             *p->reason ? pons_translate(zh, ": ") : "", p->reason);
    memcpy(p->reason, last, sizeof last);
}

// Whether `pend` is about this step, asked in this way.
static bool asked(const pursuit *p, const char *kind, int64_t step_id, bool fallback)
{
    return p->pend && strcmp(p->pend->kind, kind) == 0 && p->pend->step_id == step_id &&
           p->pend->fallback == fallback;
}

static void because(pursuit *p, const pons_plan_call *call, const char *what)
{
    size_t place = 0;
    while (place < call->plan->n_steps && &call->plan->steps[place] != call->step) {
        place++;
    }
    snprintf(p->reason, sizeof p->reason, "step %zu of %zu%s, %.96s: %.200s", place + 1,
             call->plan->n_steps, call->is_fallback ? " (fallback)" : "", call->action, what);
}

static bool says_no(const pons__reply *reply)
{
    return strcmp(reply->action, "reject") == 0;
}

static void set_pend(pursuit *p, const char *kind, int64_t step_id, bool fallback, int64_t tries)
{
    pons__record_free(&pons__pend_record, p->pend);
    p->pend = pons__record_new(&pons__pend_record);
    pons__set_text(&p->pend->kind, kind);
    p->pend->step_id = step_id;
    p->pend->fallback = fallback;
    p->pend->tries = tries;
}

static int dispatch(pursuit *p, const pons_plan_call *call, const char *skill,
                    const pons_value *args, int64_t tries, const char *why)
{
    pons_autovalue id = json_integer(call->step->step_id);
    const bool rests = p->rest && p->rest->step_id == call->step->step_id &&
                       p->rest->fallback == call->is_fallback;
    skill = rests ? p->rest->skill : skill;
    args = rests ? p->rest->args : args;
    pons__ops_add(p->ops, &(pons__asked){.op = PONS_OP_DISPATCH,
                                         .skill = skill,
                                         .args = args,
                                         .goal_index = p->goal_index,
                                         .step_id = id,
                                         .fallback = json_boolean(call->is_fallback)});
    set_pend(p, "skill", call->step->step_id, call->is_fallback, tries);
    p->type = tries > 1 ? PONS_RETRY : PONS_CONTINUE;
    because(p, call, why);
    return PONS_EPARKED;
}

static const pons__running *running_step(const pursuit *p, const pons_plan_call *call)
{
    for (size_t i = 0; i < p->skills->running.n; i++) {
        const pons__running *r = p->skills->running.at[i];
        if (json_is_integer(r->step_id) && json_integer_value(r->step_id) == call->step->step_id) {
            return r;
        }
    }
    return NULL;
}

static void ask_op(pursuit *p, const char *question)
{
    pons__ops_add(p->ops, &(pons__asked){.op = PONS_OP_APPROVAL,
                                         .question = question,
                                         .goal_index = PONS__GOAL_AT_HAND});
}

// What a refusal names passes by itself: a latch, old telemetry, somebody else's use of the base.
static bool transient(const pons_value *rules)
{
    static const char *const words[] = {"telemetry_age", "stop_latched", "mode",
                                        "resource",      "battery",      NULL};
    bool all = json_array_size(rules) > 0;
    pons_each(rule, rules) {
        PONS__AUTO(broken) broken = pons__record_read(&pons__broken_record, rule);
        all = all && pons__word_find(words, broken->rule, -1) >= 0;
    }
    return all;
}

// What may be tried again after this end: rejected by the body, refused for the moment, or failed
// where the skill's own map says so.
static bool may_retry(const pons__result *ended)
{
    switch ((pons__end)ended->status) {
    case PONS_END_REJECTED:
    case PONS_END_CANCELED:
    case PONS_END_UNKNOWN:
        return true;
    case PONS_END_REFUSED:
        return transient(ended->rules);
    default:
        return ended->recovery == PONS_RECOVER_RETRY;
    }
}

static int ended_skill(pursuit *p, const pons_plan_call *call, const char *skill,
                       const pons_value *args, const pons__result *ended, pons_plan_outcome *out)
{
    const char *status = pons__end_words[ended->status];
    const char *message = ended->error_msg;
    const int64_t tries = (p->pend ? p->pend->tries : 1);
    if (ended->status == PONS_END_DONE) {
        out->success = true;
        out->output =
            pons_object("goal_id", json_string(ended->goal_id), "metrics",
                        ended->metrics ? pons_value_ref(ended->metrics) : json_object(), NULL);
        return PONS_OK;
    }
    if (ended->status == PONS_END_UNKNOWN && ended->recovery == PONS_RECOVER_ASK) {
        char question[REASON_MAX];
        const bool zh = p->react->task && pons_language_chinese(p->react->task->text);
        snprintf(question, sizeof question,
                 pons_translate(zh, "Nobody can say whether %.96s of step %lld was done. Was it?"),
                 skill, (long long)call->step->step_id);
        ask_op(p, question);
        set_pend(p, "unknown", call->step->step_id, call->is_fallback, tries);
        p->type = PONS_ASK_HUMAN;
        because(p, call, "its outcome is unknown");
        return PONS_EPARKED;
    }
    if (may_retry(ended) && tries < p->b->rules.failures_max) {
        char why[REASON_MAX];
        snprintf(why, sizeof why, "again, it was %s%s%.200s", status, *message ? ": " : "",
                 message);
        return dispatch(p, call, skill, args, tries + 1, why);
    }
    char tried[32] = "";
    if (tries > 1) {
        snprintf(tried, sizeof tried, " (%lld tries)", (long long)tries);
    }
    snprintf(out->message, sizeof out->message, "%.64s %s%s%.320s%s", skill, status,
             *message ? ": " : "", message, tried);
    return PONS_OK;
}

// A person says that a call was done whose end nobody knew: so it has done what it is for.
static void was_done(pursuit *p, const char *skill, const pons_value *args)
{
    pons__task *task = p->react->task;
    const int64_t at = p->goal_index == PONS__GOAL_AT_HAND ? pons__goal_open(task) : -1;
    if (at >= 0) {
        pons__means_ended(p->b, task->goals.at[at], skill, args);
    }
}

static void result(void *user, const pons_execution_result *r)
{
    pursuit *p = user;
    pons_value *v = NULL;
    pons_error ignored = PONS_ERROR_INIT;
    pons__record_free(&pons__pend_record, p->pend); // settled: whatever was asked for it is history
    p->pend = NULL;
    p->rest = NULL;
    if (r->status == PONS_STEP_FAILED) {
        snprintf(p->reason, sizeof p->reason, "step %lld failed: %.300s", (long long)r->step_id,
                 r->message);
    }
    if (pons_execution_result_to_value(r, &v, &ignored) >= 0) {
        pons__door_own(p->b, p->cx, PONS_DOOR_RESULT, v);
        pons_cx_emit(p->cx, "plan.result", pons__event(p->b, v));
    }
}

static int run_named(pursuit *p, const pons_plan_call *call, const char *skill,
                     const pons_value *args, pons_plan_outcome *out)
{
    const int64_t id = call->step->step_id;
    if (asked(p, "unknown", id, call->is_fallback) && p->pend->answer) {
        PONS__AUTO(reply) reply = pons__reply_read(p->pend->answer);
        out->success = !says_no(reply);
        snprintf(out->message, sizeof out->message, "%s",
                 out->success ? "a person says that it was done"
                              : "a person says that it was not done");
        if (out->success) {
            was_done(p, skill, args);
        }
        return PONS_OK;
    }
    if (!asked(p, "skill", id, call->is_fallback)) {
        return dispatch(p, call, skill, args, 1, "begins");
    }
    const pons__result *ended = p->pend->result;
    if (ended) {
        return ended_skill(p, call, skill, args, ended, out);
    }
    const pons__running *running = running_step(p, call);
    const int64_t tries = (p->pend ? p->pend->tries : 1);
    if (!running) { // it never left: what it needed was not free
        if (tries >= p->b->rules.failures_max) {
            snprintf(out->message, sizeof out->message, "%s could not be sent", skill);
            return PONS_OK;
        }
        return dispatch(p, call, skill, args, tries + 1, "again, it was not sent");
    }
    because(p, call, "is at work");
    if (p->no_progress) {
        pons__ops_add(p->ops, &(pons__asked){.op = PONS_OP_CANCEL,
                                             .goal_id = running->goal_id,
                                             .goal_index = PONS__GOAL_AT_HAND});
        p->type = PONS_REPLAN;
        because(p, call, "makes no progress");
    }
    return PONS_EPARKED;
}

static int run_skill(void *user, const pons_plan_call *call, pons_plan_outcome *out,
                     pons_error *err)
{
    pursuit *p = user;
    const pons_critic *critic = pons__guard_critic(p->b);
    pons_autovalue none = json_object();
    const pons_value *args = call->parameters;
    if (call->is_fallback) {
        args = critic ? pons_critic_fallback_args(critic, call->action, args) : NULL;
    }
    return run_named(p, call, call->action, args ? args : none, out);
}

static int run_speak(void *user, const pons_plan_call *call, pons_plan_outcome *out,
                     pons_error *err)
{
    if (call->is_fallback) {
        return run_skill(user, call, out, err);
    }
    const char *text = NULL;
    if (!pons_plan_speech(call, &text, out)) {
        return PONS_OK;
    }
    pursuit *p = user;
    PONS__AUTO(means) say = pons__means_for(p->b, "say", "text", json_string(text));
    pons_autovalue args = pons_object("text", json_string(text), NULL);
    return run_named(p, call, say ? say->skill : "say", say ? say->args : args, out);
}

// The one question of a step or a plan: PONS_EPARKED until a person has answered.
static int ask(pursuit *p, const char *kind, int64_t step_id, const char *question,
               pons__reply **ret)
{
    if (asked(p, kind, step_id, false) && p->pend->answer) {
        *ret = pons__reply_read(p->pend->answer);
        return PONS_OK;
    }
    ask_op(p, question);
    set_pend(p, kind, step_id, false, 1);
    p->type = PONS_ASK_HUMAN;
    const bool zh = p->react->task && pons_language_chinese(p->react->task->text);
    if (step_id < 0) {
        snprintf(p->reason, sizeof p->reason, "%s", pons_translate(zh, "the plan asks first"));
    } else {
        snprintf(p->reason, sizeof p->reason, pons_translate(zh, "step %lld asks"),
                 (long long)step_id);
    }
    return PONS_EPARKED;
}

static int run_ask(void *user, const pons_plan_call *call, pons_plan_outcome *out, pons_error *err)
{
    pons__reply *answer = NULL;
    if (call->is_fallback) {
        return run_skill(user, call, out, err);
    }
    const int rc = ask(user, "ask", call->step->step_id, pons_plan_call_words(call), &answer);
    if (rc < 0) {
        return rc;
    }
    pons_plan_answered(!says_no(answer), answer->answer, *answer->reason ? answer->reason : NULL,
                       out);
    pons__record_free(&pons__reply_record, answer);
    return PONS_OK;
}

static int run_query(void *user, const pons_plan_call *call, pons_plan_outcome *out,
                     pons_error *err)
{
    if (call->is_fallback) {
        return run_skill(user, call, out, err);
    }
    pons_plan_query(call, pons_plan_look_in, ((pursuit *)user)->facts, out);
    return PONS_OK;
}

// The workspace's documents. The node is run again from its top when the answer is there, and the
// engine comes to the same step.
static int run_search(void *user, const pons_plan_call *call, pons_plan_outcome *out,
                      pons_error *err)
{
    pursuit *p = user;
    const pons_value *found = NULL;
    const char *query = pons_plan_call_words(call);
    if (call->is_fallback) {
        return run_skill(user, call, out, err);
    }
    const pons__sought sought = {.query = query};
    const int rc = pons_await(p->cx, "knowledge", pons__record_write(&pons__sought_record, &sought),
                              SEARCH_MS, &found, err);
    if (rc < 0) {
        p->searches = rc == PONS_EPARKED;
        return rc;
    }
    if (pons__await_detached(found)) { // asked again when the task goes on
        because(p, call, "the kernel took over");
        return PONS_EPARKED;
    }
    PONS__AUTO(sought_in_vain) vain = pons__record_read(&pons__sought_in_vain_record, found);
    pons_plan_found(call, found, vain->timeout ? "the search took too long" : vain->error, out);
    return PONS_OK;
}

static int confirm(void *user, const pons_plan *p, const pons_plan_step *step, const char *question,
                   bool *ret, pons_error *err)
{
    pons__reply *answer = NULL;
    const int rc = ask(user, "confirm", step ? step->step_id : -1, question, &answer);
    if (rc >= 0) {
        *ret = !says_no(answer);
        pons__record_free(&pons__reply_record, answer);
    }
    return rc;
}

static int look(void *user, const char *name, pons_value **ret, pons_error *err)
{
    return pons_plan_look_in(((pursuit *)user)->facts, name, ret, err);
}

// What a plan's steps may ask for by its name: an open map, as telemetry has it. The robot's members, bare and
// under "robot"; the world under "world".
static pons_value *facts_of(const pons_brain *b)
{
    pons_value *facts = b->robot ? json_copy(b->robot) : json_object();
    json_object_set_new(facts, "robot", b->robot ? pons_value_ref(b->robot) : json_object());
    json_object_set_new(facts, "world", b->world ? pons_value_ref(b->world) : json_object());
    return facts;
}

static void changed(void *user, const pons_plan *plan, const pons_plan_step *step)
{
    pursuit *p = user;
    p->moved++;
    pons__task_plan_tell(p->b, p->cx, plan, step);
}

static double now_s(void *user)
{
    return (double)pons__wall_ms(((pursuit *)user)->b) / 1e3;
}

int pons__task_plan_decide(pons_brain *b, pons_cx *cx, pons__react *r, const pons__skills *skills,
                           pons__decision **ret, pons_error *err)
{
    pons__task_plan *state = r->plan;
    pons_plan *plan = NULL;
    pons_plan_cursor cursor;
    pons_autovalue facts = facts_of(b);
    PONS__AUTO(observation) seen = pons__observation_read(r->observation);
    pons_autovalue ops = json_array();
    pursuit p = {.b = b,
                 .cx = cx,
                 .skills = skills,
                 .facts = facts,
                 .no_progress = seen->no_progress,
                 .pend = pons__record_copy(&pons__pend_record, state->pend),
                 .rest = state->rest,
                 .ops = ops,
                 .react = r,
                 .goal_index = strcmp(state->kind, "patch") == 0 ? PONS__GOAL_AT_HAND : -1,
                 .type = PONS_CONTINUE};
    const pons_plan_ops engine = {.executors = {[PONS_TOOL_EXECUTE] = run_skill,
                                                [PONS_TOOL_SPEAK] = run_speak,
                                                [PONS_TOOL_ASK_USER] = run_ask,
                                                [PONS_TOOL_QUERY_WORLD] = run_query,
                                                [PONS_TOOL_QUERY_KNOWLEDGE] = run_search},
                                  .look = look,
                                  .confirm = confirm,
                                  .changed = changed,
                                  .result = result,
                                  .now_s = now_s,
                                  .user = &p};
    pons_value *next = NULL;
    int rc = pons_plan_from_value(state->plan, 0, &plan, err);
    if (rc >= 0) {
        pons_plan_cursor_from_value(state->cursor, &cursor);
        rc = pons_plan_run(plan, &cursor, &engine, err);
        const bool parked = rc == PONS_EPARKED;
        if (!p.searches && (rc >= 0 || parked)) {
            rc = pons_plan_to_value(plan, &next, err);
            if (rc >= 0 && !parked) {
                plan_over(&p, plan);
            }
        }
    }
    if (rc >= 0) {
        pons__json(&state->plan, next);
        pons__json(&state->cursor, pons_plan_cursor_to_value(&cursor));
        pons__record_free(&pons__pend_record, state->pend);
        state->pend = p.pend;
        p.pend = NULL;
        if (!p.rest) {
            pons__record_free(&pons__step_rest_record, state->rest);
            state->rest = NULL;
        }
        // A model's plan that has ended is the model's to judge; it is also no progress, as models
        // can make plans for ever. A person's plan that goes on is, whatever the wheels do.
        const bool given = strcmp(state->kind, "given") == 0;
        if (given && p.moved > 0) {
            pons__recovery_progress(b, r);
        }
        *ret = decision_of(&p, plan, given);
    }
    pons__record_free(&pons__pend_record, p.pend);
    pons_plan_destroy(plan);
    return rc;
}
