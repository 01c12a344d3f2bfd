// task_plan.c - a task's plan: pons/plan.h's engine as a decision maker of the inner loop.
//
// A task may carry a plan, in `react.plan` while it is worked on and in its place in the queue
// while it is not:
//
//     {kind, plan, cursor, pend}
//
//     kind   given   the task is the plan (`pons run --plan FILE`): its end is the task's end
//            patch   a model made it (plan_patch.steps): at its end the model is asked again
//            goals   a view of a task with several goals, moved along as they are met; others
//                    decide
//     plan   the protocol's JSON (schemas/plan.json), its statuses as they are
//     pend   what was last asked for the step in hand, and what came of it:
//            {kind: skill|confirm|ask|unknown, step_id, fallback, tries, result?, answer?}
//
// R2 runs the engine as far as it goes. An executor that needs the world asks for it once, as an
// operation of the decision, writes `pend`, and parks:
//
//     execute, speak --> dispatch --> R3 … R6: critic, approval, effect ledger --> R7: pend.result
//     ask_user, requires_confirmation --> approval --> R5: interrupt --> pend.answer
//     query_world, noop --> at once        query_knowledge --> an await of R2: the host searches
//
// So a plan's step is held against the critic, approved and sent exactly as everything else, and
// survives what everything else survives: statuses, cursor and `pend` are committed with the
// decision that they belong to. What became of a skill is noted in `pend` with the very step that
// settles its effect; a step is asked for again only when that says that it did not happen.
#include "brain/task_plan.h"

#include "brain/event.h"
#include "brain/goals/means.h"
#include "brain/guard.h"
#include "brain/ladder.h"
#include "brain/news.h"
#include "brain/observed.h"
#include "pons/plan.h"

#include <stdlib.h>
#include <string.h>

enum { REASON_MAX = 384, ID_HEX = 8, SEARCH_MS = 20000 };

typedef struct pursuit { // one run of the engine, inside R2
    pons_brain *b;
    pons_cx *cx;
    const pons__skills *skills;
    pons_value *facts;
    bool no_progress;
    pons__pend *pend; // owned; NULL: nothing was asked
    pons_value *ops;  // what the decision asks for
    const char *type;
    char reason[REASON_MAX];
    int moved;     // statuses that changed
    bool searches; // R2 is parked: the host searches
} pursuit;

static int run_skill(void *user, const pons_plan_call *call, pons_plan_outcome *out,
                     pons_error *err);
static int run_speak(void *user, const pons_plan_call *call, pons_plan_outcome *out,
                     pons_error *err);
static int run_ask(void *user, const pons_plan_call *call, pons_plan_outcome *out, pons_error *err);
static int run_query(void *user, const pons_plan_call *call, pons_plan_outcome *out,
                     pons_error *err);
static int run_search(void *user, const pons_plan_call *call, pons_plan_outcome *out,
                      pons_error *err);
static int look(void *user, const char *name, pons_value **ret, pons_error *err);
static int confirm(void *user, const pons_plan *p, const pons_plan_step *step, const char *question,
                   bool *ret, pons_error *err);
static void changed(void *user, const pons_plan *p, const pons_plan_step *step);
static void result(void *user, const pons_execution_result *r);
static double now_s(void *user);
static pons_value *facts_of(const pons_brain *b);

// ---- state --------------------------------------------------------------------------------------

pons__task_plan *pons__task_plan_new(const char *kind, const pons_value *plan)
{
    pons__task_plan *state = pons__record_new(&pons__task_plan_record);
    pons__set_text(&state->kind, kind);
    pons__json(&state->plan, pons_value_ref(plan));
    return state;
}

// For a new activation: what was asked and has no outcome will be asked again.
pons__task_plan *pons__task_plan_reopen(const pons__task_plan *state)
{
    pons__task_plan *fresh = pons__record_copy(&pons__task_plan_record, state);
    const pons__pend *pend = fresh ? fresh->pend : NULL;
    const char *status = pons_get_str(pend ? pend->result : NULL, "status", "canceled");
    const bool told = pend && (pend->answer || (pend->result && strcmp(status, "canceled") != 0));
    if (pend && !told) {
        pons__record_free(&pons__pend_record, fresh->pend);
        fresh->pend = NULL;
    }
    return fresh;
}

static void tell(pons_brain *b, pons_cx *cx, const pons_plan *p, const pons_plan_step *step)
{
    if (step) {
        pons__event_emit(b, cx, &pons__plan_step_told_record,
                         &(pons__plan_step_told){.plan_id = p->plan_id,
                                                 .step_id = step->step_id,
                                                 .action = step->action,
                                                 .status = pons_step_status_word(step->status)});
    } else {
        pons__event_emit(b, cx, &pons__plan_status_told_record,
                         &(pons__plan_status_told){.plan_id = p->plan_id,
                                                   .status = pons_plan_status_word(p->status)});
    }
}

void pons__task_plan_created(pons_brain *b, pons_cx *cx, const pons__task_plan *s)
{
    pons__event_emit(b, cx, &pons__plan_created_record,
                     &(pons__plan_created){.kind = s->kind, .plan = s->plan});
}

// ---- R2: the plan decides -----------------------------------------------------------------------

// What the engine came to: the decision; NULL where a model's plan has ended.
static pons__decision *decision_of(const pursuit *p, const pons_plan *plan, bool given)
{
    if (!given && pons_machine_final(&pons_plan_machine, plan->status)) {
        return NULL;
    }
    pons__decision *d = pons__record_new(&pons__decision_record);
    d->type = pons__word_find(pons__decision_words, p->type, PONS_CONTINUE);
    pons__set_text(&d->reason, *p->reason ? p->reason : "the plan goes on");
    pons__json(&d->ops, pons_value_ref(p->ops));
    return d;
}

static void plan_over(pursuit *p, const pons_plan *plan)
{
    char last[REASON_MAX];
    p->type = plan->status == PONS_PLAN_COMPLETED ? "FINISH" : "ABORT";
    snprintf(last, sizeof last, "plan %.64s is %s%s%.200s", plan->plan_id,
             pons_plan_status_word(plan->status), *p->reason ? ": " : "", p->reason);
    memcpy(p->reason, last, sizeof last);
}

int pons__task_plan_decide(pons_brain *b, pons_cx *cx, pons__react *r, const pons__skills *skills,
                           pons__decision **ret, pons_error *err)
{
    pons__task_plan *state = r->plan;
    pons_plan *plan = NULL;
    pons_plan_cursor cursor;
    pons_autovalue facts = facts_of(b);
    pons__observation *seen = pons__observation_read(r->observation);
    pons_autovalue ops = json_array();
    pursuit p = {.b = b,
                 .cx = cx,
                 .skills = skills,
                 .facts = facts,
                 .no_progress = seen->no_progress,
                 .pend = pons__record_copy(&pons__pend_record, state->pend),
                 .ops = ops,
                 .type = "CONTINUE"};
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
    pons__record_free(&pons__observation_record, seen);
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
        // A model's plan that has ended is the model's to judge; it is also no progress, as models
        // can make plans for ever. A person's plan that goes on is, whatever the wheels do.
        const bool given = strcmp(state->kind, "given") == 0;
        if (given && p.moved > 0) {
            pons__ladder_progress(b, r);
        }
        *ret = decision_of(&p, plan, given);
    }
    pons__record_free(&pons__pend_record, p.pend);
    pons_plan_destroy(plan);
    return rc;
}

// Whether `pend` is about this step, asked in this way.
static bool asked(const pursuit *p, const char *kind, int64_t step_id, bool fallback)
{
    return p->pend && strcmp(p->pend->kind, kind) == 0 && p->pend->step_id == step_id &&
           p->pend->fallback == fallback;
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

static void because(pursuit *p, const pons_plan_call *call, const char *what)
{
    size_t place = 0;
    while (place < call->plan->n_steps && &call->plan->steps[place] != call->step) {
        place++;
    }
    snprintf(p->reason, sizeof p->reason, "step %zu of %zu%s, %.96s: %.200s", place + 1,
             call->plan->n_steps, call->is_fallback ? " (fallback)" : "", call->action, what);
}

// ---- executors ----------------------------------------------------------------------------------

static int dispatch(pursuit *p, const pons_plan_call *call, const char *skill,
                    const pons_value *args, int64_t tries, const char *why)
{
    json_array_append_new(p->ops,
                          pons_object("op", json_string("dispatch"), "skill", json_string(skill),
                                      "args", pons_value_ref(args), "goal_index", json_integer(-1),
                                      "step_id", json_integer(call->step->step_id), "fallback",
                                      json_boolean(call->is_fallback), NULL));
    set_pend(p, "skill", call->step->step_id, call->is_fallback, tries);
    p->type = tries > 1 ? "RETRY" : "CONTINUE";
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

// What a refusal names passes by itself: a latch, old telemetry, somebody else's use of the base.
static bool transient(const pons_value *ended)
{
    static const char *const words[] = {"telemetry_age", "stop_latched", "mode", "resource",
                                        "battery"};
    const pons_value *rules = pons_get(ended, "rules");
    size_t i;
    json_t *rule;
    json_array_foreach(rules, i, rule)
    {
        bool known = false;
        for (size_t k = 0; k < sizeof words / sizeof words[0]; k++) {
            known = known || strcmp(pons_get_str(rule, "rule", ""), words[k]) == 0;
        }
        if (!known) {
            return false;
        }
    }
    return json_array_size(rules) > 0;
}

// What may be tried again after this end: rejected by the body, refused for the moment, or failed
// where the skill's own map says so.
static bool may_retry(const pons_value *ended)
{
    const char *status = pons_get_str(ended, "status", "");
    return strcmp(status, "rejected") == 0 || strcmp(status, "canceled") == 0 ||
           (strcmp(status, "refused") == 0 && transient(ended)) ||
           (strcmp(pons_get_str(ended, "recovery", ""), "retry") == 0 &&
            strcmp(status, "refused") != 0) ||
           strcmp(status, "outcome_unknown") == 0;
}

static int ended_skill(pursuit *p, const pons_plan_call *call, const char *skill,
                       const pons_value *args, const pons_value *ended, pons_plan_outcome *out)
{
    const char *status = pons_get_str(ended, "status", "");
    const char *message = pons_get_str(ended, "error_msg", "");
    const int64_t tries = (p->pend ? p->pend->tries : 1);
    if (strcmp(status, "done") == 0) {
        out->success = true;
        out->output = pons_object(
            "goal_id", json_string(pons_get_str(ended, "goal_id", "")), "metrics",
            pons_get(ended, "metrics") ? pons_value_ref(pons_get(ended, "metrics")) : json_object(),
            NULL);
        return PONS_OK;
    }
    if (strcmp(status, "outcome_unknown") == 0 &&
        strcmp(pons_get_str(ended, "recovery", ""), "ask_human") == 0) {
        char question[REASON_MAX];
        snprintf(question, sizeof question,
                 "Nobody can say whether %.96s of step %lld was done. Was it?", skill,
                 (long long)call->step->step_id);
        json_array_append_new(p->ops, pons_object("op", json_string("approval"), "question",
                                                  json_string(question), NULL));
        set_pend(p, "unknown", call->step->step_id, call->is_fallback, tries);
        p->type = "ASK_HUMAN";
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

static int run_named(pursuit *p, const pons_plan_call *call, const char *skill,
                     const pons_value *args, pons_plan_outcome *out)
{
    const int64_t id = call->step->step_id;
    if (asked(p, "unknown", id, call->is_fallback) && p->pend->answer) {
        const char *action = pons_get_str(p->pend->answer, "action", "reject");
        out->success = strcmp(action, "reject") != 0;
        snprintf(out->message, sizeof out->message, "%s",
                 out->success ? "a person says that it was done"
                              : "a person says that it was not done");
        return PONS_OK;
    }
    if (!asked(p, "skill", id, call->is_fallback)) {
        return dispatch(p, call, skill, args, 1, "begins");
    }
    const pons_value *ended = p->pend->result;
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
        json_array_append_new(p->ops, pons_object("op", json_string("cancel"), "goal_id",
                                                  json_string(running->goal_id), NULL));
        p->type = "REPLAN";
        because(p, call, "makes no progress");
    }
    return PONS_EPARKED;
}

static int run_skill(void *user, const pons_plan_call *call, pons_plan_outcome *out,
                     pons_error *err)
{
    pursuit *p = user;
    (void)err;
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
    pons__means *say = pons__means_for(p->b, "say", "text", json_string(text));
    pons_autovalue args = pons_object("text", json_string(text), NULL);
    const int rc = run_named(p, call, say ? say->skill : "say", say ? say->args : args, out);
    pons__record_free(&pons__means_record, say);
    return rc;
}

// The one question of a step or a plan: PONS_EPARKED until a person has answered.
static int ask(pursuit *p, const char *kind, int64_t step_id, const char *question,
               const pons_value **ret)
{
    if (asked(p, kind, step_id, false) && p->pend->answer) {
        *ret = p->pend->answer;
        return PONS_OK;
    }
    json_array_append_new(p->ops, pons_object("op", json_string("approval"), "question",
                                              json_string(question), NULL));
    set_pend(p, kind, step_id, false, 1);
    p->type = "ASK_HUMAN";
    snprintf(p->reason, sizeof p->reason, "%.300s", question);
    return PONS_EPARKED;
}

static int run_ask(void *user, const pons_plan_call *call, pons_plan_outcome *out, pons_error *err)
{
    const pons_value *answer = NULL;
    if (call->is_fallback) {
        return run_skill(user, call, out, err);
    }
    const int rc = ask(user, "ask", call->step->step_id, pons_plan_call_words(call), &answer);
    if (rc < 0) {
        return rc;
    }
    pons_plan_answered(strcmp(pons_get_str(answer, "action", "reject"), "reject") != 0,
                       pons_get_str(answer, "answer", NULL), pons_get_str(answer, "reason", NULL),
                       out);
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
    const int rc = pons_await(p->cx, "knowledge", pons_object("query", json_string(query), NULL),
                              SEARCH_MS, &found, err);
    if (rc < 0) {
        p->searches = rc == PONS_EPARKED;
        return rc;
    }
    if (pons__await_detached(found)) { // asked again when the task goes on
        because(p, call, "the kernel took over");
        return PONS_EPARKED;
    }
    const char *why = pons_get_bool(found, "timeout", false) ? "the search took too long"
                                                             : pons_get_str(found, "error", NULL);
    pons_plan_found(call, found, why, out);
    return PONS_OK;
}

static int confirm(void *user, const pons_plan *p, const pons_plan_step *step, const char *question,
                   bool *ret, pons_error *err)
{
    const pons_value *answer = NULL;
    (void)p;
    (void)err;
    const int rc = ask(user, "confirm", step ? step->step_id : -1, question, &answer);
    if (rc >= 0) {
        *ret = strcmp(pons_get_str(answer, "action", "reject"), "reject") != 0;
    }
    return rc;
}

static int look(void *user, const char *name, pons_value **ret, pons_error *err)
{
    return pons_plan_look_in(((pursuit *)user)->facts, name, ret, err);
}

// robot's members, bare and under "robot"; the world under "world".
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
    tell(p->b, p->cx, plan, step);
}

static void result(void *user, const pons_execution_result *r)
{
    pursuit *p = user;
    pons_value *v = NULL;
    pons_error ignored = PONS_ERROR_INIT;
    pons__record_free(&pons__pend_record, p->pend); // settled: whatever was asked for it is history
    p->pend = NULL;
    if (r->status == PONS_STEP_FAILED) {
        snprintf(p->reason, sizeof p->reason, "step %lld failed: %.300s", (long long)r->step_id,
                 r->message);
    }
    if (pons_execution_result_to_value(r, &v, &ignored) >= 0) {
        pons__door_own(p->b, p->cx, PONS_DOOR_RESULT, v);
        pons_cx_emit(p->cx, "plan.result", pons__event(p->b, v));
    }
}

static double now_s(void *user)
{
    return (double)pons_cx_wall_ms(((pursuit *)user)->cx) / 1e3;
}

// ---- notes of R4 to R7 --------------------------------------------------------------------------

void pons__task_plan_note_result(pons__react *r, const pons_value *step_id,
                                 const pons_value *fallback, const pons__result *last,
                                 const pons_value *rules)
{
    pons__pend *pend = r->plan ? r->plan->pend : NULL;
    if (!pend || !json_is_integer(step_id) || strcmp(pend->kind, "skill") != 0 ||
        pend->step_id != json_integer_value(step_id) || pend->fallback != json_is_true(fallback)) {
        return;
    }
    pons_value *ended = pons__record_write(&pons__result_record, last);
    if (rules) {
        json_object_set_new(ended, "rules", pons_value_ref(rules));
    }
    pons__json(&pend->result, ended);
}

void pons__task_plan_note_answer(pons__react *r, const pons_value *answer)
{
    pons__pend *pend = r->plan ? r->plan->pend : NULL;
    if (pend && strcmp(pend->kind, "skill") != 0 &&
        !pons__await_detached(answer)) { // the kernel's word is nobody's answer
        pons__json(&pend->answer, pons_value_ref(answer));
    }
}

// ---- R3: a model's plan -------------------------------------------------------------------------

// plan_patch {steps[], goal?, reasoning?, risk_level?, requires_confirmation?, …}: steps without an
// id get their place.
int pons__task_plan_of_patch(pons_brain *b, pons_cx *cx, const pons__task *task,
                             const pons_value *patch, pons__task_plan **ret, pons_error *err)
{
    char id[PONS_ID_MAX], plan_id[PONS_ID_MAX + 8];
    pons_autovalue reply = json_copy((json_t *)patch);
    pons_autovalue steps = json_array();
    size_t i;
    json_t *step;
    json_array_foreach(pons_get(patch, "steps"), i, step)
    {
        pons_value *fresh = json_is_object(step) ? json_copy(step) : pons_value_ref(step);
        if (json_is_object(fresh) && !pons_get(fresh, "step_id")) {
            json_object_set_new(fresh, "step_id", json_integer((json_int_t)i + 1));
        }
        if (json_is_object(fresh)) { // nothing has happened yet, whatever it says
            json_object_set_new(fresh, "status", json_string("pending"));
        }
        json_array_append_new(steps, fresh);
    }
    char hash[33];
    pons_cx_id(cx, id);
    pons_autovalue seed = json_string(id);
    pons_value_hash(seed, hash);
    snprintf(plan_id, sizeof plan_id, "plan_%.*s", ID_HEX, hash);
    json_object_set_new(reply, "plan_id", json_string(plan_id));
    json_object_set_new(reply, "steps", pons_value_ref(steps));
    if (!pons_get(reply, "goal")) {
        json_object_set_new(reply, "goal",
                            json_string(task && *task->text ? task->text : "the task"));
    }
    pons_plan *plan = NULL;
    pons_value *value = NULL;
    const pons_plan_origin from = {.now_s = (double)pons_cx_wall_ms(cx) / 1e3};
    int rc = pons_plan_from_llm_response(reply, "llm", &from, &plan, err);
    rc = rc < 0 ? rc : pons_plan_to_value(plan, &value, err);
    rc = rc < 0 ? rc : pons__door_check(b, PONS_DOOR_PLAN, value, err);
    if (rc >= 0) {
        *ret = pons__task_plan_new("patch", value);
    }
    pons_value_unref(value);
    pons_plan_destroy(plan);
    return rc;
}

// R4: the critic on a whole plan. Rules are appended.
void pons__task_plan_judge(pons_brain *b, int mode, const pons__task_plan *state,
                           const pons__skills *skills, pons_value *rules)
{
    pons_autovalue running = pons__list_write(&pons__running_record, &skills->running);
    pons_error err = PONS_ERROR_INIT;
    pons_autoverdict verdict = NULL;
    pons_plan *plan = NULL;
    pons_critic_situation now = pons__guard_situation(b, mode);
    now.running = running;
    const pons_critic *critic = pons__guard_critic(b);
    int rc = critic ? pons_plan_from_value(state->plan, 0, &plan, &err) : PONS_EINVAL;
    rc = rc < 0 ? rc : pons_critic_judge_plan(critic, plan, &now, &verdict, &err);
    if (rc >= 0) {
        json_array_extend(rules, (json_t *)pons_verdict_rules(verdict));
    } else {
        json_array_append_new(rules, pons_object("rule", json_string("plan_patch"), "message",
                                                 json_string(err.message), NULL));
    }
    pons_plan_destroy(plan);
}

// ---- R1, R8: a view of several goals ------------------------------------------------------------

// One goal as a step of a plan, for people: its skill where one call of one skill meets it, whatever the
// robot does meanwhile; else what is wished, in the goal's words.
static pons_value *step_of_goal(const pons_brain *b, const pons_value *goal, size_t i)
{
    static const char *const members[] = {"zone", "pose", "zones", "object", "place"};
    const char *intent = pons_get_str(goal, "intent", "");
    pons__goal *wish = pons__record_read(&pons__goal_record, goal);
    pons__means *call = pons__means_alone(b, wish);
    pons_value *parameters = call ? json_copy((json_t *)call->args) : json_object();
    for (size_t k = 0; !call && k < sizeof members / sizeof members[0]; k++) {
        if (pons_get(goal, members[k])) {
            json_object_set(parameters, members[k], (json_t *)pons_get(goal, members[k]));
        }
    }
    const bool says = call && pons__means_beside(b, call->skill) && pons_get(call->args, "text");
    pons_value *step = pons_object("step_id", json_integer((json_int_t)i + 1), "action",
                                   json_string(call      ? call->skill
                                               : *intent ? intent
                                                         : "goal"),
                                   "tool_call_type", json_string(says ? "speak" : "execute"),
                                   "parameters", parameters, "description",
                                   json_string(pons_get_str(goal, "text", intent)), NULL);
    pons__record_free(&pons__means_record, call);
    pons__record_free(&pons__goal_record, wish);
    return step;
}

static bool same_steps(const pons_brain *b, const pons_plan *p, const pons_value *goals)
{
    bool same = p->n_steps == json_array_size(goals);
    for (size_t i = 0; same && i < p->n_steps; i++) {
        pons_plan_step *step = NULL;
        pons_error ignored = PONS_ERROR_INIT;
        pons_autovalue v = step_of_goal(b, json_array_get(goals, i), i);
        same = pons_plan_step_from_value(v, &step, &ignored) >= 0 &&
               strcmp(step->action, p->steps[i].action) == 0 &&
               strcmp(step->parameters, p->steps[i].parameters) == 0;
        pons_plan_step_destroy(step);
    }
    return same;
}

static int plan_of_goals(const pons_brain *b, pons_cx *cx, const pons__task *task,
                         const pons_value *goals, pons_plan **ret, pons_error *err)
{
    pons_autovalue steps = json_array();
    size_t i;
    json_t *goal;
    json_array_foreach(goals, i, goal)
    {
        json_array_append_new(steps, step_of_goal(b, goal, i));
    }
    pons_autovalue reply = pons_object("plan_id", json_sprintf("plan_%s", task->id), "goal",
                                       json_string(*task->text ? task->text : "several goals"),
                                       "steps", pons_value_ref(steps), NULL);
    const pons_plan_origin from = {.now_s = (double)pons_cx_wall_ms(cx) / 1e3};
    return pons_plan_from_llm_response(reply, "rule_engine", &from, ret, err);
}

static void move_step(pons_brain *b, pons_cx *cx, pons_plan *p, pons_plan_step *step,
                      pons_step_status to)
{
    pons_error ignored = PONS_ERROR_INIT;
    if (step->status != to && pons_plan_step_move(step, to, &ignored) >= 0) {
        tell(b, cx, p, step);
    }
}

static void move_plan(pons_brain *b, pons_cx *cx, pons_plan *p, pons_plan_status to)
{
    pons_error ignored = PONS_ERROR_INIT;
    if (p->status != to && pons_plan_move(p, to, &ignored) >= 0) {
        tell(b, cx, p, NULL);
    }
}

static void keep(pons__react *r, const pons_plan *p, const char *kind)
{
    pons_autovalue value = NULL;
    pons_error ignored = PONS_ERROR_INIT;
    if (pons_plan_to_value(p, &value, &ignored) >= 0 &&
        !(r->plan && json_equal(value, (json_t *)r->plan->plan))) {
        pons__record_free(&pons__task_plan_record, r->plan);
        r->plan = pons__task_plan_new(kind, value);
    }
}

// The view's plan as it is, or one that is made anew for goals that were patched. NULL: none.
static pons_plan *view_of(pons_brain *b, pons_cx *cx, const pons__react *r, const pons_value *goals)
{
    pons_error ignored = PONS_ERROR_INIT;
    pons_plan *p = NULL;
    if (r->plan && pons_plan_from_value(r->plan->plan, 0, &p, &ignored) >= 0 &&
        same_steps(b, p, goals)) {
        return p;
    }
    pons_plan_destroy(p);
    p = NULL;
    if (plan_of_goals(b, cx, r->task, goals, &p, &ignored) < 0) {
        return NULL;
    }
    pons_autovalue value = NULL;
    if (pons_plan_to_value(p, &value, &ignored) >= 0) {
        pons__task_plan *fresh = pons__task_plan_new("goals", value);
        pons__task_plan_created(b, cx, fresh);
        pons__record_free(&pons__task_plan_record, fresh);
    }
    move_plan(b, cx, p, PONS_PLAN_APPROVED);
    move_plan(b, cx, p, PONS_PLAN_EXECUTING);
    return p;
}

void pons__task_plan_mirror(pons_brain *b, pons_cx *cx, pons__react *r)
{
    const bool mine = !r->plan || strcmp(r->plan->kind, "goals") == 0;
    if (!mine || !r->task || r->task->goals.n < 2) {
        return;
    }
    pons_autovalue goals = pons__list_write(&pons__goal_record, &r->task->goals);
    pons_plan *p = view_of(b, cx, r, goals);
    if (!p) {
        return;
    }
    bool open = false;
    for (size_t i = 0; i < p->n_steps; i++) {
        const bool done = pons_get_bool(json_array_get(goals, i), "done", false);
        if (done || !open) {
            move_step(b, cx, p, &p->steps[i], PONS_STEP_RUNNING);
        }
        if (done) {
            move_step(b, cx, p, &p->steps[i], PONS_STEP_SUCCESS);
        }
        open = open || !done;
    }
    keep(r, p, "goals");
    pons_plan_destroy(p);
}

void pons__task_plan_end(pons_brain *b, pons_cx *cx, pons__react *r, const char *status)
{
    pons_error ignored = PONS_ERROR_INIT;
    pons_plan *p = NULL;
    if (!r->plan || pons_plan_from_value(r->plan->plan, 0, &p, &ignored) < 0) {
        return;
    }
    if (!pons_machine_final(&pons_plan_machine, p->status)) {
        const bool well = strcmp(status, "succeeded") == 0;
        for (size_t i = 0; i < p->n_steps; i++) {
            pons_plan_step *step = &p->steps[i];
            const bool runs = step->status == PONS_STEP_RUNNING;
            if (!pons_machine_final(&pons_step_machine, step->status)) {
                move_step(b, cx, p, step,
                          !runs  ? PONS_STEP_SKIPPED
                          : well ? PONS_STEP_SUCCESS
                                 : PONS_STEP_FAILED);
            }
        }
        move_plan(b, cx, p, well ? PONS_PLAN_COMPLETED : PONS_PLAN_FAILED);
        move_plan(b, cx, p, PONS_PLAN_CANCELLED); // where neither may be
        char kind[32];
        snprintf(kind, sizeof kind, "%s", *r->plan->kind ? r->plan->kind : "goals");
        keep(r, p, kind);
    }
    pons_plan_destroy(p);
}
