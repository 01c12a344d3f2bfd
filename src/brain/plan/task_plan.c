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
// Here is the state itself, what R4 to R7 note in it, and how a model's steps become a plan (R3, R4). The engine
// at work is plan_run.c, the view of several goals plan_view.c.
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
#include "brain/plan/task_plan.h"

#include "brain/critic/critic_check.h"
#include "brain/records/await_fields.h"
#include "brain/records/event_fields.h"

#include <math.h>
#include <string.h>

enum { ID_HEX = 8 };

// ---- state --------------------------------------------------------------------------------------

pons__task_plan *pons__task_plan_new(const char *kind, const pons_value *plan)
{
    pons__task_plan *state = pons__record_new(&pons__task_plan_record);
    pons__set_text(&state->kind, kind);
    pons__json(&state->plan, pons_value_ref(plan));
    return state;
}

// For a new activation: what was asked and has no outcome, or ended by a stop that is over now, will be asked again.
pons__task_plan *pons__task_plan_reopen(const pons__task_plan *state)
{
    pons__task_plan *fresh = pons__record_copy(&pons__task_plan_record, state);
    const pons__pend *pend = fresh ? fresh->pend : NULL;
    const pons__result *ended = pend ? pend->result : NULL;
    const bool reported = pend && (pend->answer || (ended && ended->status != PONS_END_CANCELED &&
                                                    ended->error_code != PONS__STOPPED));
    if (pend && !reported) {
        pons__record_free(&pons__pend_record, fresh->pend);
        fresh->pend = NULL;
    }
    return fresh;
}

void pons__task_plan_tell(pons_brain *b, pons_cx *cx, const pons_plan *p,
                          const pons_plan_step *step)
{
    if (step) {
        PONS__EMIT(b, cx, plan_step_reported, .plan_id = p->plan_id, .step_id = step->step_id,
                   .action = step->action, .status = pons_step_status_word(step->status));
    } else {
        PONS__EMIT(b, cx, plan_status_reported, .plan_id = p->plan_id,
                   .status = pons_plan_status_word(p->status));
    }
}

void pons__task_plan_created(pons_brain *b, pons_cx *cx, const pons__task_plan *s)
{
    PONS__EMIT(b, cx, plan_created, .kind = s->kind, .plan = s->plan);
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
    pons__record_free(&pons__result_record, pend->result);
    pend->result = pons__record_copy(&pons__result_record, last);
    pons__json(&pend->result->rules, pons_value_ref(rules));
}

void pons__task_plan_note_rest(pons__react *r, const pons__running *running, const char *remains,
                               double left)
{
    pons__task_plan *plan = r->plan;
    pons_value *args = json_copy((json_t *)running->args);
    const double all = pons_get_num(args, remains, 0.0);
    json_object_set_new(args, remains, json_real(copysign(fmin(left, fabs(all)), all)));
    pons__record_free(&pons__step_rest_record, plan->rest);
    plan->rest = pons__record_new(&pons__step_rest_record);
    plan->rest->step_id = json_integer_value(running->step_id);
    plan->rest->fallback = json_is_true(running->fallback);
    pons__set_text(&plan->rest->skill, running->skill);
    pons__json(&plan->rest->args, args);
}

void pons__task_plan_note_answer(pons__react *r, const pons_value *answer)
{
    pons__pend *pend = r->plan ? r->plan->pend : NULL;
    if (pend && strcmp(pend->kind, "skill") != 0 && r->source == PONS_SOURCE_PLAN &&
        !pons__await_detached(answer)) { // the kernel's word is nobody's answer
        pons__json(&pend->answer, pons_value_ref(answer));
    }
}

bool pons__task_plan_asks(const pons__react *r)
{
    const pons__pend *pend = r->plan ? r->plan->pend : NULL;
    return pend && r->source == PONS_SOURCE_PLAN && strcmp(pend->kind, "ask") == 0;
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
    pons_each(step, pons_get(patch, "steps")) {
        pons_value *fresh = json_is_object(step) ? json_copy(step) : pons_value_ref(step);
        if (json_is_object(fresh) && !pons_get(fresh, "step_id")) {
            json_object_set_new(fresh, "step_id", json_integer((json_int_t)step_at + 1));
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
    pons_autovalue value = NULL;
    const pons_plan_origin from = {.now_s = (double)pons_cx_wall_ms(cx) / 1e3};
    int rc = pons_plan_from_llm_response(reply, "llm", &from, &plan, err);
    rc = rc < 0 ? rc : pons_plan_to_value(plan, &value, err);
    rc = rc < 0 ? rc : pons__door_check(b, PONS_DOOR_PLAN, value, err);
    if (rc >= 0) {
        *ret = pons__task_plan_new("patch", value);
    }
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
        pons__broken_add(rules, &(pons__broken){.rule = "plan_patch", .message = err.message});
    }
    pons_plan_destroy(plan);
}
